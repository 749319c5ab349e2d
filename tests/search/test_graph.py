"""The nodes of a search are found by their keys, however many there are; its table grows as they do."""

import threading

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.game import registry
from test_games.inside.parts import Graph


def keys_of(count, seed=1):
    return np.unique(np.random.default_rng(seed).integers(1, 2**63, count, dtype=np.uint64))


@pytest.mark.parametrize(("expected", "levels"), [(1, 3), (10_000, 2), (10**9, 1), (2.0**64, 1)])
def test_every_key_has_one_node(expected, levels):
    graph = Graph(64, expected)
    assert graph.levels == levels
    keys = keys_of(60_000)
    found = graph.add(keys)
    assert sorted(found) == list(range(1, len(keys) + 1))
    assert graph.add(keys) == found
    assert [graph.find(int(key)) for key in keys[::7]] == found[::7]
    assert not any(graph.find(int(key)) for key in keys_of(1000, seed=2))


@pytest.mark.parametrize("expected", [1, 10**9])
def test_a_full_graph_adds_nothing_and_keeps_its_memory(expected):
    graph = Graph(2, expected)
    keys = keys_of(2 * graph.capacity)
    found = graph.add(keys)
    assert found[: graph.capacity - 1] == list(range(1, graph.capacity))
    assert set(found[graph.capacity :]) == {0}
    assert graph.add(keys[:500]) == found[:500]
    assert graph.memory <= 2 << 20


@pytest.mark.slow
def test_threads_give_each_key_one_node_while_the_table_grows():
    keys = keys_of(20_000)
    for seed in range(20):
        graph = Graph(32, 1)
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(len(keys)) for _ in range(4)]
        found = [None] * 4
        start = threading.Barrier(4)

        def work(number, graph=graph, orders=orders, found=found, start=start):
            start.wait()
            found[number] = graph.add(keys[orders[number]])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        nodes = np.zeros((4, len(keys)), int)
        for row, order, result in zip(nodes, orders, found, strict=True):
            row[order] = result
        assert (nodes == nodes[0]).all()
        assert len(np.unique(nodes[0])) == len(keys)


@pytest.mark.parametrize("game", ["nim", "mexica", "coatl", "tzolkin"])
def test_a_small_search_touches_little_of_its_memory(game):
    position = ai.new_game(game, seed=1)
    found = []
    for memory_mb in (2, 1024):
        search = Search(position.state, weights=registry.get(game).weights(), seed=1, memory_mb=memory_mb)
        search.run(iterations=100)
        found.append(search.result(5))
        assert found[-1]["memory_bytes"] < 500_000
    assert found[0]["candidates"] == found[1]["candidates"]


def test_a_search_that_has_not_begun_has_no_nodes():
    search = Search(ai.new_game("nim").state, seed=1)
    assert search.result()["nodes"] == 0
    assert search.tree() == []
    assert search.visits_at(search.state) is None

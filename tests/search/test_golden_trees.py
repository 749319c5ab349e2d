"""The whole trees of small searches: where a change of the search's behaviour begins.

A file of tests/data/trees has one node of a search's graph a line, in the order in which the search found them: how it
was reached first, who moves, visits, values and scores, and for each action tried its visits, its prior and the node
after it. The signature (benchmarks/signature.py) says that play changed; here the first line that differs says where.
The searches have weights of their own, so that new weights change nothing. Write the files again, and read what
changed, with

    PYTHONPATH=tests .venv/bin/python tests/search/test_golden_trees.py [NAME ...]
    git diff tests/data/trees
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from mexica_builder import build

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.game import registry
from test_games.trick.ops import deal

TREES = Path(__file__).parents[1] / "data" / "trees"
WRITE = "PYTHONPATH=tests .venv/bin/python tests/search/test_golden_trees.py"
DIGITS = 9  # of numbers in the files
TOLERANCE = 1e-7


def own_weights(game):
    """Return weights of the test: the hand-made estimate of the outcome, and priors that differ by category."""
    spec = registry.get(game).learning.weights
    arrays = spec.estimate().arrays()
    shape = arrays["priors"].shape
    arrays["priors"] = 1.0 + np.arange(np.prod(shape)).reshape(shape) % 5
    return spec.make(arrays)


def nim():
    return ai.new_game("nim", players=3, piles=[1, 2, 3], plies_per_turn=2).state, {"iterations": 60}


def trick():
    """Hidden hands: two seats hold two of the seven cards that the asking seat does not see."""
    return deal([[7, 11], [1, 3], [5, 6]], [8, 12, 14]), {"iterations": 60}


def mexica():
    """The last two action points of a turn, with priors, history and an evaluation."""
    position = build(2, pillis=["C7", "F9"], canals=["D5-D12", "B5-C5"], temples={"F4": (0, 2)}, points=2)
    return ai.Position.from_json(position).state, {"iterations": 24, "weights": own_weights("mexica")}


def coatl():
    """Hidden cards and random events within a turn."""
    position = ai.load(TREES.parent / "coatl_open.json")
    return position.state, {"iterations": 24, "weights": own_weights("coatl")}


SEARCHES = {search.__name__: search for search in (nim, trick, mexica, coatl)}


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def tree(name):
    """Search, and return the nodes of the graph; each knows the number of its first parent and the action."""
    state, options = SEARCHES[name]()
    iterations = options.pop("iterations")
    search = Search(state, seed=1, threads=1, **options)
    search.run(iterations=iterations)
    search.check_visits()
    has_text = state.game.name in registry.names()
    text_of = registry.get(state.game.name).text.format_action if has_text else str
    nodes = [{"node": number, "from": None} | node for number, node in enumerate(search.tree())]
    for node in nodes:
        for edge in node["edges"]:
            edge["action"] = "event" if edge["action"] is None else text_of(edge["action"])
            child = edge["node"]
            if child is not None and nodes[child]["from"] is None and child > 0:
                nodes[child]["from"] = f"{node['node']} {edge['action']}"
            edge["prior"] = rounded(edge["prior"])
        node["value"], node["expected_scores"] = rounded(node["value"]), rounded(node["expected_scores"])
    return nodes


def write(name):
    """Write a tree, an edge and a node each on a line of its own."""
    lines = []
    for node in tree(name):
        edges = ",\n".join(f"  {json.dumps(edge)}" for edge in node.pop("edges"))
        lines.append(json.dumps(node)[:-1] + ', "edges": [' + (f"\n{edges}\n" if edges else "") + "]}")
    path(name).write_text("[\n" + ",\n".join(lines) + "\n]\n")


def path(name):
    return TREES / f"{name}.json"


def path_to(nodes, number):
    """Return the actions by which a node was reached first, as text."""
    actions = []
    while number and (origin := nodes[number]["from"]):
        parent, _, action = origin.partition(" ")
        number = int(parent)
        actions.append(action)
    return " > ".join(["root", *reversed(actions)])


def differences(nodes, expected):
    """Return what differs: first the nodes and priors themselves, in the order in which they were found, then visits.

    The first node that was found from another one shows when the searches parted; values follow from that.
    """
    found = []

    def compare(where, key, one, other):
        if not same(one, other):
            rank = {"visits": 1, "node": 1, "value": 2, "expected_scores": 2}.get(key.split()[0], 0)
            found.append((rank, f"{where}: {key} {one}, expected {other}"))

    for node, wanted in zip(nodes, expected, strict=False):
        where = f"node {wanted['node']} ({path_to(expected, wanted['node'])})"
        for key in wanted:
            if key != "edges":
                compare(where, key, node[key], wanted[key])
        edges, others = ({edge["action"]: edge for edge in each["edges"]} for each in (node, wanted))
        for action in [*others, *(action for action in edges if action not in others)]:
            one, other = edges.get(action), others.get(action)
            if one is None or other is None:
                compare(where, f"tried {action!r}", one is not None, other is not None)
                continue
            for key in ("prior", "visits", "node"):
                compare(where, f"{key} of {action!r}", one[key], other[key])
    if len(nodes) != len(expected):
        found.append((0, f"{len(nodes)} nodes, expected {len(expected)}"))
    return [text for _, text in sorted(found, key=lambda difference: difference[0])]


def same(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return one == pytest.approx(other, rel=TOLERANCE, abs=TOLERANCE)
    return one == (pytest.approx(other, rel=TOLERANCE) if isinstance(other, float) else other)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_tree_is_the_one_written_down(name):
    found = differences(tree(name), json.loads(path(name).read_text()))
    assert not found, "\n".join([f"the search {name} differs; after a change that is meant, run {WRITE}", *found[:10]])


def test_a_difference_is_told_with_its_place():
    nodes, expected = tree("nim"), tree("nim")
    assert not differences(nodes, expected)
    number = expected[0]["edges"][1]["node"]
    action = expected[0]["edges"][1]["action"]
    nodes[number]["visits"] += 1
    nodes[number]["edges"][0]["prior"] *= 1.01
    # What is found and how likely it looks comes before what follows from it.
    first, second = differences(nodes, expected)
    assert first.startswith(f"node {number} (root > {action}): prior of ")
    assert second.startswith(f"node {number} (root > {action}): visits ")
    del nodes[-1]
    assert differences(nodes, expected)[1] == f"{len(nodes)} nodes, expected {len(expected)}"


if __name__ == "__main__":
    TREES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SEARCHES:
        write(name)

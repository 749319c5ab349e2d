"""Searches that go on from an earlier one, and engines that keep what they have found between their turns."""

import math
import os
import time

import pytest
from searching import root_visits

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis.limits import Limits
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError

GAMES = ("nim", "mexica", "coatl", "tzolkin")


def start_of(game, players=2, seed=3):
    """A position in which a seat is to move."""
    options = {"piles": [5, 6, 7], "plies_per_turn": 2} if game == "nim" else {}
    position = ai.new_game(game, players=players, seed=seed, **options)
    while position.is_chance:
        position.draw(1)
    return position


def search_of(position, **options):
    return Search(position.state, weights=registry.get(position.game).weights(), **({"solve": 0} | options))


def ended(position, iterations=600, **options):
    search = search_of(position, **options)
    search.run(iterations=iterations)
    return search


def likely(search, position):
    """Play the best turn and the answer that the search expects; None if it expects no whole turn."""
    best = search.result()["candidates"][0]
    text, found = registry.get(position.game).text, position.copy()
    for turn in (best["actions"], *best["line"][:1]):
        if found.is_chance or found.is_over:
            return None
        try:
            found.push([text.format_action(action) for action in turn])
        except ai.MexicaAIError:  # not whole
            return None
    return found if len(best["line"]) > 0 and not found.is_chance and not found.is_over else None


def visits_of(search, position):
    """The visits of the node of a position, by its place in the tree."""
    found = search.visits_at(position.state)
    return None if found is None else sum(found.values())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("renumbered", [False, True])
def test_it_goes_on_with_what_was_found_below_the_new_root(threads, renumbered):
    start = start_of("nim")
    for seed in range(1, 9):  # with several threads a seed does not always find a whole line
        first = ended(start, 3000, seed=seed, threads=threads)
        later = likely(first, start)
        if later is not None:
            break
    expected = visits_of(first, later)
    assert expected > 20
    if renumbered:
        later = ai.Position.from_json(later.to_json())  # it counts its turns from 0
    second = search_of(later, seed=2, after=first, threads=threads)
    second.run(iterations=500)
    # One descent, or none, ended in the node.
    assert expected <= second.kept_visits <= expected + 1 + 2 * (threads - 1)
    second.check_visits()
    result = second.result(1000)
    assert result["iterations"] == 500
    root = second.tree()[0]
    assert root["visits"] == second.kept_visits + 500
    assert sum(first["visits"] for first in result["first_actions"]) >= root["visits"] - 1 - 2 * (threads - 1)
    assert result["nodes"] < first.result()["nodes"] + 500 * 2
    again = search_of(later, after=first)
    again.run(iterations=1)
    assert again.kept_visits == second.kept_visits  # the earlier search still has what it found


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", [2, 3])
def test_whole_games_add_up(game, players):
    """Each search goes on from the last one of its seat, as the positions come from outside: as views, counted anew."""
    position = start_of(game, players)
    last, kept = {}, 0
    for ply in range(14):
        while position.is_chance:
            position.draw(ply)
        if position.is_over:
            break
        seat = position.to_move
        asked = position.view(seat)
        search = search_of(asked, seed=ply, after=last.get(seat), memory_mb=16, solve=1)
        search.run(iterations=250)
        search.check_visits()
        result = search.result(5)
        assert result["iterations"] == 250 or result["stop_reason"] in ("forced", "solved")
        for one in result["candidates"]:
            assert math.isclose(sum(one["value"]), 1, abs_tol=1e-6)
            assert all(math.isfinite(error) for error in one["value_error"])
        kept += search.kept_visits
        last[seat] = search
        text = registry.get(game).text
        position.push([text.format_action(action) for action in result["candidates"][0]["actions"]])
    assert kept > 0 or game == "nim" or players > 2


def test_standard_errors_count_all_descents_and_the_spread_of_the_new_ones():
    start = start_of("nim")
    first = ended(start, 4000, seed=1)
    later = likely(first, start)
    few, many = (ended(later, number, seed=2, after=first).result(1000)["candidates"] for number in (1, 4000))
    # Nim has no evaluation: each iteration ends with 0 or 1, so the sum of the squares is the sum.
    kept = {tuple(one["actions"]): one for one in few if one["visits"] > 1 and one["value_error"] == []}
    compared = 0
    for one in many:
        before, n, share = kept.get(tuple(one["actions"])), one["visits"], one["value"][0]
        if before is None or n - before["visits"] < 20:
            continue
        k, old = before["visits"], before["value"][0]
        spread = n * share * (1 - share) - k * old * (1 - old)
        assert one["value_error"][0] == pytest.approx(math.sqrt(spread / (n - k) / n), rel=1e-3, abs=1e-6)
        compared += 1
    assert compared > 3


def test_what_random_events_brought_is_drawn_again():
    """A node goes on with its few different events; it does not begin to draw others."""
    position = start_of("coatl")
    first = ended(position, 3000, seed=1)
    second = search_of(position, seed=2, after=first)
    second.run(iterations=300)
    kept = second.kept_visits
    assert kept == 3000
    checked = 0
    for node in second.tree():
        outcomes = [edge for edge in node["edges"] if edge["action"] is None]
        if outcomes:
            checked += 1
            assert len(outcomes) <= 2 + node["visits"] ** 0.25
    assert checked > 10


OTHERS = {
    "weights": lambda position: {"weights": registry.get("mexica").weights(), "exploration": 0.5},
    "halving": lambda position: {"halving": 4.0},
    "noise": lambda position: {"prior_noise": 1.0},
    "allow": lambda position: {"allow": position.state.legal_actions()[:2]},
    "avoid": lambda position: {"avoid": position.state.legal_actions()[:1]},
}


@pytest.mark.parametrize("case", OTHERS)
def test_it_starts_anew_if_the_searches_differ(case):
    position = start_of("mexica")
    options = OTHERS[case](position)
    options.pop("weights", None)
    first = ended(position, 200, seed=1)
    second = ended(position, 200, seed=2, after=first, **options)
    fresh = ended(position, 200, seed=2, **options)
    assert second.kept_visits == 0
    found, expected = (
        {key: value for key, value in search.result(9).items() if key != "seconds"} for search in (second, fresh)
    )
    assert found == expected
    if case != "weights":
        assert ended(position, 20, after=second).kept_visits == 0


def test_another_game_or_seat_starts_anew():
    nim, mexica = ended(start_of("nim")), start_of("mexica")
    assert ended(mexica, 50, after=nim).kept_visits == 0
    first = ended(mexica, 300)
    text = registry.get("mexica").text
    after = mexica.copy()
    after.push([text.format_action(action) for action in first.result()["candidates"][0]["actions"]])
    assert after.to_move != mexica.to_move
    assert ended(after, 50, after=first).kept_visits == 0


def test_a_search_that_runs_cannot_be_gone_on_from():
    position = start_of("nim")
    with pytest.raises(SearchError, match="not ended"):
        search_of(position, after=search_of(position))


def test_too_much_for_the_memory_is_left():
    position = start_of("mexica")
    first = ended(position, 4000, memory_mb=64)
    small = ended(position, 5, after=first, memory_mb=1)
    assert small.kept_visits == 0
    small.check_visits()


def test_what_takes_longer_to_copy_than_there_is_time_is_left():
    position = start_of("mexica")
    first = ended(position, 400)
    late = search_of(position, after=first)
    late.run(time_s=1e-6)
    assert late.kept_visits == 0
    late.check_visits()


# --- searching while others move


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_that_waits_searches_for_its_next_turn(game):
    position = start_of(game)
    seat = position.to_move
    first = ended(position, 300, seed=1)
    text = registry.get(game).text
    after = position.copy()
    after.push([text.format_action(action) for action in first.result()["candidates"][0]["actions"]])
    waiting = search_of(after, seed=2, viewer=seat, after=first)
    waiting.run(iterations=1500)
    waiting.check_visits()
    with pytest.raises(SearchError, match="no turn to find"):
        waiting.result()
    later = after.copy()
    while later.is_chance:
        later.draw(1)
    other = ended(later, 300, seed=5)
    later.push([text.format_action(action) for action in other.result()["candidates"][0]["actions"]])
    while later.is_chance:
        later.draw(1)
    mine = search_of(later, seed=3, after=waiting)
    mine.run(iterations=200)
    mine.check_visits()
    if game in ("nim", "mexica"):  # without random events the likely answer was searched
        assert mine.kept_visits > 0


def test_a_search_goes_on_after_a_random_event_that_it_has_drawn():
    """A random event ends a turn, so the position after it begins one."""
    position = start_of("coatl")
    for _ in range(position.players):
        position.push("keep")
    first = ended(position, 4000, seed=1)
    kept = []
    for seed in range(20):
        drawn = position.copy()
        drawn.push("draw deck", partial=True)
        drawn.draw(seed)
        if visits_of(first, drawn):
            kept.append(ended(drawn, 1, seed=2, after=first).kept_visits)
    assert kept
    assert all(kept)


@pytest.mark.parametrize("options", [{"viewer": 2}, {"viewer": -1}, {"viewer": 0, "evaluator": lambda rows: rows}])
def test_a_bad_viewer_is_refused(options):
    with pytest.raises(SearchError, match="viewer"):
        search_of(start_of("mexica"), **options)


# --- engines


def play_on(engine, position, turns, iterations=300):
    """Let an engine play all seats of a game in which all think with it; return what each search kept."""
    kept = []
    for number in range(turns):
        while position.is_chance:
            position.draw(number)
        seat = position.to_move
        result = engine.best_turn(position.view(seat), Limits(iterations=iterations), seed=number)
        kept.append(engine._last.kept_visits if engine._last is not None else None)
        position.push(result.turn)
    return kept


def test_an_engine_keeps_nothing_by_default():
    with make_engine("mcts") as engine:
        assert play_on(engine, start_of("mexica"), 3, 50) == [None] * 3


def test_an_engine_goes_on_from_its_last_turn():
    position = start_of("nim")
    with make_engine("mcts,reuse=1") as engine, make_engine("mcts") as other:
        first = engine.best_turn(position, Limits(iterations=3000), seed=1)
        position.push(first.turn)
        position.push(other.best_turn(position, Limits(iterations=3000), seed=2).turn)
        engine.best_turn(position, Limits(iterations=100), seed=3)
        assert engine._last.kept_visits > 0
        engine.best_turn(start_of("mexica"), Limits(iterations=100), seed=3)  # another game
        assert engine._last.kept_visits == 0


@pytest.mark.parametrize("spec", ["mcts,reuse=1,level=3", "mcts,ponder=5,level=9"])
def test_levels_keep_nothing(spec):
    with make_engine(spec) as engine:
        position = start_of("nim")
        turn = engine.best_turn(position, Limits(iterations=50)).turn
        engine.ponder(position, turn)
        assert engine._last is None


def num_threads():
    return len(os.listdir("/proc/self/task"))


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.real("time")
@pytest.mark.parametrize("game", GAMES)
def test_an_engine_thinks_on_until_it_is_asked_or_closed(game):
    position = start_of(game)
    before = num_threads()
    with make_engine("mcts,ponder=600,threads=2,solve=0") as engine:  # a proof of nim's small tree would end it
        turn = engine.best_turn(position.view(position.to_move), Limits(iterations=200), seed=1).turn
        for end in (engine.rest, lambda: engine.best_turn(position, Limits(iterations=50), seed=2), engine.close):
            engine.ponder(position.view(position.to_move), turn)
            assert num_threads() > before
            began = time.monotonic()
            end()
            assert time.monotonic() - began < 20  # a guard: not the 600 s
            wait_until(lambda: num_threads() <= before)  # one may free memory for a while


def answer_in(search, position):
    """The most visited turn of the seat to move."""
    nodes, seat, found = search.tree(), position.to_move, position.copy()
    node, turn = nodes[0], []
    while found.to_move == seat:
        edge = node["edges"][0]
        turn.append(registry.get(position.game).text.format_action(edge["action"]))
        found.push_action(turn[-1])
        if edge["node"] is None:
            break
        node = nodes[edge["node"]]
    return turn


@pytest.mark.real("time")
def test_what_was_thought_in_the_others_time_is_used():
    position = ai.new_game("nim", piles=[20, 21, 22, 23], plies_per_turn=2)
    with make_engine("mcts,ponder=600,solve=0") as engine:
        turn = engine.best_turn(position, Limits(iterations=50), seed=1).turn
        engine.ponder(position, turn)
        position.push(turn)
        wait_until(lambda: root_visits(engine._last) >= 2000)
        engine.rest()
        position.push(answer_in(engine._last, position))
        result = engine.best_turn(position, Limits(iterations=50), seed=2)
        assert engine._last.kept_visits > 5
        assert result.iterations == 50
        assert result.candidates[0].visits > 50


def test_it_does_not_think_on_when_the_game_is_over():
    position = ai.new_game("nim", piles=[1], plies_per_turn=1)
    with make_engine("mcts,ponder=600") as engine:
        turn = engine.best_turn(position, Limits(iterations=5)).turn
        before = engine._last
        engine.ponder(position, turn)
        assert engine._last is before


@pytest.mark.real("time")
def test_it_thinks_no_longer_than_its_time():
    position = start_of("nim")
    before = num_threads()
    with make_engine("mcts,ponder=0.05") as engine:
        turn = engine.best_turn(position, Limits(iterations=50)).turn
        engine.ponder(position, turn)
        wait_until(lambda: num_threads() <= before)

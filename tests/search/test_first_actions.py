"""Searches whose turn may begin only with some actions, and what results tell of the first actions considered."""

from __future__ import annotations

import random
from typing import Any

import pytest

import mexica_ai as ai
from cext.core.contract.game import State
from cext.core.search.search import Search
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun, first_action_arguments
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position

GAMES = ("mexica", "coatl", "tzolkin", "nim")


def positions(game: str, number: int, seed: int = 7) -> list[Position]:
    """Return positions of random games in which the turn can begin with several actions."""
    found: list[Position] = []
    for trial in range(100):
        position = ai.new_game(game, players=2 + trial % 3, seed=seed + trial)
        random_ = random.Random(seed + trial)
        for _ in range(random_.randrange(1, 3 if game == "nim" else 14)):
            while position.is_chance:
                position.draw(1)
            if not position.is_over:
                with make_engine(f"random,seed={random_.randrange(10**6)}") as engine:
                    position.push(engine.best_turn(position).turn)
        while position.is_chance:
            position.draw(1)
        if not position.is_over and len(position.legal_actions()) > 2:
            found.append(position)
        if len(found) == number:
            return found
    raise AssertionError(game)


def searched(position: Position, **options: Any) -> ai.Result:
    settings = {"limits": Limits(iterations=options.pop("iterations", 150), threads=options.pop("threads", 1))}
    return SearchRun(position, SearchSettings(**{**settings, "seed": 3, "candidates": 50, **options})).result()


def begins(result: ai.Result) -> set[str]:
    """Return all the first actions that a result names."""
    return {one.turn[0] for one in result.candidates} | {one.action for one in result.first_actions}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"options": {"halving": 8.0}},
        {"options": {"whole_turns": 0.0}},
        {"options": {"best_reply": 1.0, "widening_base": 50.0}},
        {"level": 2},
        {"threads": 2},
        {"iterations": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("game", GAMES)
def test_no_result_begins_with_what_is_excluded(game: str, options: dict[str, Any]) -> None:
    for position in positions(game, 3):
        free = searched(position)
        avoid = sorted(begins(free))[: max(1, len(position.legal_actions()) // 2)]
        found = searched(position, avoid=avoid, **options)
        assert not begins(found) & set(avoid)
        position.copy().push(found.turn)
        allow = position.legal_actions()[1:4]
        found = searched(position, allow=allow, avoid=allow[1:2], **options)
        assert begins(found) <= {allow[0], *allow[2:]}
        assert all(0 < one.prior <= 1 for one in found.first_actions)
        for one in found.candidates:
            position.copy().push(one.turn)


@pytest.mark.parametrize("game", GAMES)
def test_a_search_that_did_not_begin_plays_nothing_excluded(game: str) -> None:
    for position in positions(game, 3):
        for action in position.legal_actions()[:6]:
            run = SearchRun(position, SearchSettings(Limits(iterations=9), 1, allow=[action]))
            run.stop()
            assert run.result().turn[0] == action
            run = SearchRun(position, SearchSettings(Limits(iterations=9), 1, avoid=[action]))
            run.stop()
            assert run.result().turn[0] != action


@pytest.mark.parametrize("game", GAMES)
def test_to_avoid_all_others_is_to_allow_one(game: str) -> None:
    for position in positions(game, 2):
        legal = position.legal_actions()
        for action in (legal[0], legal[-1]):
            allowed = searched(position, allow=[action], level=9)
            assert begins(allowed) <= {action}
            assert allowed.turn[0] == action
            others = [one for one in legal if one != action]
            assert searched(position, avoid=others, allow=legal, level=9).turn == allowed.turn


@pytest.mark.parametrize("game", GAMES)
def test_to_allow_all_changes_nothing(game: str) -> None:
    (position,) = positions(game, 1)
    free, allowed = (searched(position, allow=allow) for allow in (None, position.legal_actions()))
    assert (free.candidates, free.first_actions) == (allowed.candidates, allowed.first_actions)


def test_the_best_allowed_action_of_a_solved_game_is_found() -> None:
    # With two seats and one action a turn the seat to move wins if the XOR of the piles is not 0.
    position = ai.new_game("nim", piles=[5, 3, 1], plies_per_turn=1)
    winning = [action for action in position.legal_actions() if _is_lost_after(position, action)]
    assert searched(position, iterations=20_000).turn[0] in winning
    others = [action for action in position.legal_actions() if action not in winning]
    lost = searched(position, iterations=20_000, avoid=winning)
    assert lost.turn[0] in others
    assert lost.value[0] < 0.1
    for action in winning:
        won = searched(position, iterations=20_000, allow=[action, *others[:3]])
        assert won.turn == [action]
        assert won.value[0] > 0.9


def _is_lost_after(position: Position, action: str) -> bool:
    after = position.copy()
    after.push([action])
    one, two, three = after.to_json()["piles"]
    return one ^ two ^ three == 0


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_the_value_of_one_allowed_action_is_that_of_a_search_after_it(game: str) -> None:
    # The oracle: the same turn, begun by hand. It searches on from there, so its mean agrees but for noise.
    for position in positions(game, 3):
        seat = position.to_move
        assert seat is not None
        for action in position.legal_actions()[:2]:
            after = position.copy()
            after.push_action(action)
            if after.to_move != seat or not after.is_within_turn:
                continue
            inside = searched(position, iterations=1500, allow=[action])
            outside = searched(after, iterations=1500)
            assert inside.value[seat] == pytest.approx(outside.value[seat], abs=0.12)


def test_one_turn_that_is_left_is_forced() -> None:
    position = ai.new_game("nim", piles=[3, 2], plies_per_turn=1)
    result = searched(position, allow=["take 1 2"])
    assert (result.turn, result.stop_reason, result.iterations) == (["take 1 2"], "forced", 1)
    assert searched(position, avoid=["take 1 2"]).stop_reason == "solved"


@pytest.mark.parametrize(
    ("options", "error", "reason", "text"),
    [
        ({"allow": ["take 1 1", "take 5 1"]}, ai.IllegalActionError, None, r"allow\[1\]: .* is not legal"),
        ({"avoid": ["take 1 1", "take 5 1"]}, ai.IllegalActionError, None, r"avoid\[1\]"),
        ({"avoid": ["eat"]}, ai.NotationError, None, r"avoid\[0\]"),
        ({"allow": []}, ai.SearchError, "NO_FIRST_ACTION", "leave no action"),
        ({"allow": ["take 1 1"], "avoid": ["take 1 1"]}, ai.SearchError, "NO_FIRST_ACTION", "leave no action"),
        ({"allow": "take 1 1"}, ai.SearchError, "BAD_VALUE", "expected a list of actions"),
        ({"avoid": [1]}, ai.SearchError, "BAD_VALUE", "expected a list of actions"),
        ({"avoid": 1}, ai.SearchError, "BAD_VALUE", "avoid: given 1; expected a list of actions"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], error: Any, reason: str | None, text: str) -> None:
    position = ai.new_game("nim", piles=[3, 2])
    with pytest.raises(error, match=text) as caught:
        ai.best_turn(position, iterations=10, **options)
    assert reason in (None, caught.value.reason)


@pytest.mark.parametrize("name", ["allow", "avoid"])
def test_actions_may_come_one_by_one(name: str) -> None:
    position = ai.new_game("nim", piles=[3, 2])
    named = ["take 1 1", "take 1 2", "take 2 1"]
    result = searched(position, **{name: (action for action in named)})
    assert result.first_actions == searched(position, **{name: named}).first_actions


class Counting:
    """A state that counts how often its legal actions are listed; `is_legal` lists them, too."""

    def __init__(self, state: State) -> None:
        self._state, self.num_lists = state, 0

    def legal_actions(self) -> list[int]:
        self.num_lists += 1
        return self._state.legal_actions()

    def is_legal(self, action: int) -> bool:
        self.num_lists += 1
        return self._state.is_legal(action)


def test_legal_actions_are_listed_once_however_many_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    position = ai.new_game("nim", piles=[3, 2])
    state = Counting(position.state)
    monkeypatch.setattr(position, "_state", state)
    settings = SearchSettings(Limits(iterations=1), 1, allow=["take 1 1"] * 100, avoid=["take 1 2"] * 100)
    take, other = map(registry.get("nim").text.parse_action, ("take 1 1", "take 1 2"))
    assert first_action_arguments(position, settings) == {"allow": {take}, "avoid": {other}}
    assert state.num_lists == 1


def test_what_players_would_have_to_agree_on_is_no_first_action() -> None:
    position = positions("mexica", 1)[0]
    size = next(size for size in range(3, 13) if position.state.is_legal(_removal(size)))
    agreed = f"remove {size}"
    assert agreed not in position.legal_actions()
    with pytest.raises(ai.SearchError) as caught:
        searched(position, allow=[agreed])
    assert caught.value.reason == "NO_FIRST_ACTION"
    assert searched(position, avoid=[agreed]).turn == searched(position).turn


def _removal(size: int) -> int:
    return registry.get("mexica").text.parse_action(f"remove {size}")


def test_the_compiled_search_checks_them_too() -> None:
    position = ai.new_game("nim", piles=[3, 2])
    for options in ({"allow": [999]}, {"avoid": [999]}, {"allow": ()}):
        with pytest.raises(ai.SearchError):
            Search(position.state, **options)


def test_every_visit_began_with_one_of_the_first_actions() -> None:
    position = positions("mexica", 1)[0]
    result = searched(position, iterations=300)
    assert sum(one.visits for one in result.first_actions) == result.iterations
    assert [one.visits for one in result.first_actions] == sorted(
        (o.visits for o in result.first_actions), reverse=True
    )
    assert result.turn[0] in {one.action for one in result.first_actions}
    for one in result.first_actions:
        assert sum(one.value) == pytest.approx(1)


def test_visits_add_up_in_a_restricted_search() -> None:
    for game in GAMES:
        position = positions(game, 1)[0]
        parse = registry.get(game).text.parse_action
        avoid = [parse(text) for text in position.legal_actions()[:2]]
        search = Search(position.state, weights=registry.get(game).weights(), seed=1, avoid=avoid)
        search.run(iterations=200)
        search.check_visits()


def test_engines_that_cannot_be_restricted_say_so() -> None:
    position = ai.new_game("nim", piles=[3, 2])
    with make_engine("mcts,iterations=50") as engine:
        engine.restrict(None, ["take 1 1"])
        assert engine.best_turn(position, seed=1).turn[0] != "take 1 1"
        first = [action for action in position.legal_actions() if action != "take 1 2"]
        engine.restrict(None, (action for action in first))  # type: ignore[arg-type]
        assert [engine.best_turn(position, seed=1).turn[0] for _ in range(2)] == ["take 1 2"] * 2
    with make_engine("uct,iterations=50") as engine:
        engine.restrict(None)
        with pytest.raises(ai.SearchError, match="expected one of mcts, grpc") as caught:
            engine.restrict(["take 1 1"])
        assert caught.value.reason == "NOT_RESTRICTABLE"

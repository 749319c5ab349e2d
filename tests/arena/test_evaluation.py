"""How strong policies are: `mexica_ai.evaluate` against the arena's own figures, and what it refuses."""

import math

import numpy as np
import pytest
from here import Here

import mexica_ai as ai
from mexica_ai import SearchError
from mexica_ai.arena import evaluation
from mexica_ai.arena.report import collect
from mexica_ai.arena.report import evaluate as figures
from mexica_ai.arena.runner import run
from mexica_ai.arena.tournament import Tournament, reproducible_key


class Searching:
    def __init__(self, iterations):
        self.iterations = iterations

    def best_turn(self, position, *, seed):
        return ai.best_turn(position, iterations=self.iterations, seed=seed)


def first(observation, mask):
    return int(mask.argmax())


def test_an_evaluation_is_what_the_arena_reports():
    found = ai.evaluate(Searching(60), ["greedy", "random"], 4, game="nim", seed=3)
    for match, name, seed in zip(found.matches, ("greedy", "random"), (3, 4), strict=True):  # other deals in each
        engines = ("mcts,iterations=60", f"{name},iterations=1")
        tournament = Tournament("nim", 2, engines, names=engines, seed=seed, key=reproducible_key(seed))
        records = run(tournament, 4, Here()).records
        engine = figures(collect((tournament, record) for record in records))["engines"][0]
        assert (match.opponent, match.games, match.forfeits, match.failure) == (name, 8, 0, "")
        assert match.share.to_json() == engine["share"]
        assert match.elo.to_json() == engine["elo"]
        assert match.margin.to_json() == engine["margin"]
    assert found.share.mean == np.mean([match.share.mean for match in found.matches])


def test_scalars_are_told_with_their_step():
    told = []
    found = ai.evaluate(
        first, [Searching(5), first], 3, game="nim", seed=1, step=7, scalars=lambda *scalar: told.append(scalar)
    )
    assert [match.opponent for match in found.matches] == ["Searching", "first"]
    assert {step for _, _, step in told} == {7}
    assert {name: number for name, number, _ in told} == found.scalars()
    assert all(math.isfinite(number) for number in found.scalars().values())
    assert found.scalars()["first/share"] == 0.5
    assert str(found).splitlines()[1].startswith("against first: +0 Elo (")


def test_equal_opponents_have_scalars_of_their_own():
    found = ai.evaluate(first, ["random", first, first], 1, game="nim", seed=1)
    assert [match.opponent for match in found.matches] == ["random", "first (1)", "first (2)"]
    assert {"first (1)/share", "first (2)/share"} < found.scalars().keys()


def test_with_more_seats_elo_is_that_of_the_ratings():
    found = ai.evaluate(Searching(60), ["random"], 2, game="nim", players=3, seed=1)
    assert found.matches[0].games == 12
    assert found.elo.low < found.elo.mean < found.elo.high


def test_a_policy_that_fails_at_once_raises_and_later_forfeits():
    class Failing:
        turns = 0

        def act(self, observation, mask):
            self.turns += 1
            if self.turns > 3:
                raise RuntimeError("tired")
            return mask.argmax()

    found = ai.evaluate(Failing(), ["random"], 2, game="nim", seed=1)
    assert found.matches[0].forfeits == 4
    assert found.matches[0].failure.endswith("fails: RuntimeError: tired")
    assert "4 forfeited: engine" in str(found)
    with pytest.raises(SearchError, match="RuntimeError: tired") as caught:
        ai.evaluate(lambda observation, mask: Failing.act(type("", (), {"turns": 5})(), observation, mask), game="nim")
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"against": "level=3"}, 'against: given "level=3"; expected a list of opponents'),
        ({"against": []}, "expected a list of opponents"),
        ({"against": iter(["random"])}, "expected a list of opponents"),  # which one reading would use up
        ({"against": first}, "expected a list of opponents"),
        ({"blocks": 0}, "blocks: given 0; expected a whole number of at least 1"),
        ({"concurrency": 2}, "concurrency: given 2; expected 1 with objects"),
        ({"against": [3]}, "expected a method best_turn"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options, problem):
    with pytest.raises(SearchError, match=problem):
        ai.evaluate(first, **({"game": "nim"} | options))


def test_specs_may_be_played_in_processes(monkeypatch):
    made = []
    monkeypatch.setattr(evaluation, "GamePool", lambda: made.append(Here()) or made[0])
    found = ai.evaluate("random", ["level=1"], 2, game="nim", seed=1, concurrency=2)
    assert made
    assert found.matches[0].games == 4

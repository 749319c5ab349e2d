"""The features of Coatl's evaluation."""

import json
from pathlib import Path

import pytest
from weighed import evaluate

import mexica_ai as ai
from cext.games.coatl.spec import SPEC
from mexica_ai.engines import make_engine

OWN, SHARED = SPEC.own_features, SPEC.shared_features
MIDGAME = json.loads((Path(__file__).parents[2] / "examples/coatl_midgame.json").read_text())


def own(position, name):
    """Return a feature of each seat."""
    return [float(value) for value in SPEC.features(position.state)[:, OWN.index(name)]]


def shared(position, name):
    features = SPEC.features(position.state)[:, 3 * len(OWN) + SHARED.index(name)]
    assert len(set(features.tolist())) == 1
    return float(features[0])


@pytest.fixture
def midgame():
    return ai.Position.from_json(MIDGAME)


def test_features_of_a_new_game():
    position = ai.new_game("coatl", players=3, seed=1)
    for name in ("closed", "played_points", "unfinished", "pieces", "stored_bodies", "temple_points"):
        assert own(position, name) == [0, 0, 0], name
    assert own(position, "heads_missing") == [1, 1, 1]
    assert own(position, "to_move") == [1, 0, 0]
    assert own(position, "waits") == pytest.approx([0, 1 / 3, 2 / 3])
    assert own(position, "seat") == pytest.approx([0, 1 / 3, 2 / 3])
    assert own(position, "temple_cards") == [1, 1, 1]
    assert (shared(position, "three_seats"), shared(position, "four_seats")) == (1, 0)
    assert shared(position, "pairs") == 1


def test_features_of_the_midgame_example(midgame):
    # Seat 0: KKKR with a tail and YY with a tail; two heads, a tail, two bodies stored. Seat 1: KKYY and Y.
    assert own(midgame, "pieces") == pytest.approx([6 / 10, 5 / 10])
    assert own(midgame, "longest") == pytest.approx([4 / 10, 4 / 10])
    assert own(midgame, "tails") == [2, 1]
    assert own(midgame, "heads") == [0, 0]
    assert own(midgame, "stored_bodies") == pytest.approx([2 / 5, 6 / 5])
    assert own(midgame, "stored_heads") == pytest.approx([1, 1 / 2])
    assert own(midgame, "heads_missing") == pytest.approx([1 / 3, 2 / 3])
    assert own(midgame, "tails_missing") == pytest.approx([0, 1 / 3])
    assert own(midgame, "crowded") == [0, 1]
    assert own(midgame, "cards_played") == pytest.approx([2 / 4, 1 / 4])
    # Ready: prophecies on it, and head and tail at hand.
    assert own(midgame, "ready") == [1, 1]
    assert own(midgame, "promise") == [1, 1]
    assert own(midgame, "pick") == [0, 0]
    assert shared(midgame, "round") == pytest.approx(14 / 20)
    assert shared(midgame, "deck") == pytest.approx(19 / 40)


def without_prophecies():
    """Return the example with the prophecies on seat 0's first Coatl back in the deck."""
    fields = json.loads(json.dumps(MIDGAME))
    coatl = fields["seats"][0]["coatls"][0]
    fields["deck"] += len(coatl["prophecies"])
    coatl["prophecies"] = []
    return ai.Position.from_json(fields)


def played_points(position):
    return [round(15 * points) for points in own(position, "played_points")]


def test_a_prophecy_counts_for_what_it_brings_and_what_is_missing_for_more(midgame):
    before = played_points(midgame)
    gains = [f"played_gain_{missing}" for missing in range(5)]
    assert sum(own(midgame, name)[0] for name in gains) > 0
    without = without_prophecies()
    assert before[0] > 0
    assert played_points(without) == [0, before[1]]
    assert sum(own(without, name)[0] for name in gains) == 0


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_last_actions_are_those_that_each_seat_still_gets(players):
    causes = set()
    for seed in range(12):
        position = ai.new_game("coatl", players=players, seed=seed)
        starts = []
        with make_engine("random") as engine:
            while not position.is_over:
                if position.is_chance:
                    position.draw(seed)
                    continue
                fields = position.to_json()
                if fields["phase"] == "turn":
                    ending = fields["ending"] and fields["ending"]["cause"]
                    causes.add(ending)
                    starts.append((position.to_move, ending, own(position, "last_actions")))
                position.push(engine.best_turn(position, seed=seed).turn)
        for number, (_, ending, expected) in enumerate(starts):
            left = [0.0] * players
            for seat, _, _ in starts[number:] if ending else []:
                left[seat] += 0.5
            assert expected == left
    assert causes == {None, "third", "bodies"}


def test_better_cards_played_are_better_all_else_equal(midgame):
    before = evaluate(midgame.state)
    after = evaluate(without_prophecies().state)
    assert after[0][0] < before[0][0]
    assert after[1][0] < before[1][0]

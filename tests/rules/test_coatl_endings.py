"""Last turns and the end, as docs/formats.md and docs/rules_coatl.md say, by the compiled rules too."""

import random

import pytest
from test_coatl_reference import CLOSE_THIRD, build, coatl, hoard, seat

from mexica_ai.games.coatl import notation


class Both:
    """A game by both rules, whose positions must be the same."""

    def __init__(self, reference):
        self.reference = reference
        self.state = notation.parse_position(reference.to_json())

    def play(self, *actions):
        """Play actions, ``event`` for the random event that is due; return the position."""
        for action in actions:
            text = self.reference.random_event(random.Random(1)) if action == "event" else action
            self.reference.apply(text)
            self.state.apply(notation.parse_action(text))
        assert notation.format_position(self.state) == self.reference.to_json()
        return notation.format_position(self.state)


@pytest.fixture(autouse=True)
def _reads_anything(monkeypatch):
    """Lets positions be read in which pieces lie where no game puts them."""
    monkeypatch.setattr(notation, "check_position", lambda *_: None)


def nearly():
    """Return a seat that can complete its third Coatl."""
    closed = [hoard("GKG", "ht", ["P10"]), hoard("BKB", "ht", ["P11"])]
    return seat(tails="Y", hand=["P00"], coatls=[*closed, coatl("YYYY", "h")])


def fields(position, *names):
    return tuple(position[name] for name in names)


def test_the_round_after_an_ending_by_bodies_is_the_last_one():
    bodies = "".join(color * 24 for color in "YRKGB")[:-2]  # on Coatls: all but the last pair
    coatls = [coatl(bodies[:60]), coatl(bodies[60:])]
    game = Both(build(seat(coatls=coatls), seat(), bodies=["BB"]))
    position = game.play("take body BB")
    assert fields(position, "ending", "round") == ({"cause": "bodies", "last_round": 4}, 3)
    assert fields(game.play("draw P30", "end", "event"), "to_move", "round") == (0, 4)
    position = game.play("draw P31", "end", "event", "draw P32", "end")
    assert fields(position, "phase", "pending", "to_move", "round") == ("over", "", 0, 4)


def test_the_display_is_refilled_between_the_two_actions_of_a_last_turn():
    game = Both(build(nearly(), seat()))
    assert fields(game.play(*CLOSE_THIRD, "end"), "to_move", "actions_left") == (1, 2)
    position = game.play("draw P30", "end")
    assert fields(position, "pending", "to_move", "actions_left") == ("reveal", 1, 1)
    position = game.play("event")
    assert len(position["display"]) == 6
    assert fields(position, "phase", "to_move", "actions_left") == ("turn", 1, 1)
    position = game.play("draw P31", "end")  # nothing follows the last turn
    assert fields(position, "phase", "pending", "to_move") == ("over", "", 0)
    assert len(position["display"]) == 5


def test_the_supply_is_refilled_between_the_two_actions_of_a_last_turn():
    game = Both(build(nearly(), seat(), heads="R", tails="K", bodies=["YY"]))
    position = game.play(*CLOSE_THIRD, "end", "take body YY")
    assert fields(position, "pending", "to_move", "actions_left") == ("refill", 1, 1)
    assert len(game.play("event")["supply"]["bodies"]) == 6


def test_one_entry_is_unsure_for_each_face_that_was_shown():
    hand = ["P00", "P00", "P05", "P40"]
    game = Both(build(seat(hand=hand, shown=["P00", "P00", "P05"], tokens=["future"])))
    position = game.play("future", "event", "discard P40")
    assert position["memory"] == ["unsure 0 P00", "unsure 0 P05", "discard 0 P40"]
    assert position["seats"][0]["shown"] == ["P00"]  # of two alike one is in hand still
    position = game.play("discard P00")
    assert position["memory"][3:] == ["unsure 0 P00", "discard 0 P00"]
    assert position["seats"][0]["shown"] == []

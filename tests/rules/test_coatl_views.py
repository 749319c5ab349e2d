"""No position of play lacks a view, and what is dealt for one fits all that its seat has seen."""

import copy
import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from fuzz import coatl_views
from reference.coatl import State as Reference

from mexica_ai import Position
from mexica_ai.games.coatl import facts, notation

TESTS = Path(__file__).parents[1]
REFUSED = json.loads((TESTS / "data" / "coatl_view_refused.json").read_text())["position"]


@pytest.mark.parametrize("seed", [1, 2])
def test_games_from_every_seat(seed):
    count, _ = coatl_views.run(300, seed)
    assert count["positions"] == 300
    assert count["with a memory"] > 100


@pytest.mark.real("processes")
def test_the_command():
    command = [sys.executable, TESTS / "fuzz" / "coatl_views.py", "--positions", "30", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("positions: 30, ")


def test_the_check_finds_worlds_that_cannot_be():
    """Exchange a card that was dealt to a hand, and is there still, for one of the deck."""
    refused = 0
    for state, reference, begin, _ in islice(coatl_views.games(random.Random(1)), 200):
        for viewer in range(reference.players if reference.memory else 0):
            world = state.copy()
            world.determinize(viewer, 1)
            drawn = notation.format_position(world)
            coatl_views.check_world(reference, begin, viewer, Reference.from_json(drawn))
            for number, seat in enumerate(drawn["seats"]):
                dealt = [card for card in seat["hand"] if f"deal {number} {card}" in drawn["memory"]
                         and facts.COPIES[card] == 1 and card not in seat["shown"]]  # fmt: skip
                if number == viewer or not dealt or not drawn["deck"]:
                    continue
                changed = copy.deepcopy(drawn)
                hand = changed["seats"][number]["hand"]
                hand[hand.index(dealt[0])] = Reference.from_json(drawn).deck[0]
                with pytest.raises(coatl_views.ViewError):
                    coatl_views.check_world(reference, begin, viewer, Reference.from_json(changed))
                refused += 1
    assert refused > 200


@pytest.mark.parametrize("viewer", range(4))
def test_a_view_in_which_many_cards_of_two_could_be_either(viewer):
    """Cards of which there are two came and went more often than all readings could be tried."""
    view = notation.view(REFUSED, viewer)
    as_seen, state = Position.from_json(view), Position.from_json(REFUSED).state
    worlds = set()
    for seed in range(30):
        world = state.copy()
        assert world.determinize(viewer, seed)
        drawn = notation.format_position(world)
        assert notation.view(drawn, viewer) == view
        assert notation.parse_position(drawn) == world  # the memory leads there
        for seat in range(4):
            Position.from_json(notation.view(drawn, seat))
        dealt = as_seen.state.copy()
        dealt.determinize(viewer, seed)
        assert all(dealt.view_hash(seat) == world.view_hash(seat) for seat in range(4))
        worlds.add(world.hash)
    assert len(worlds) > 5
    if viewer == as_seen.to_move:
        assert as_seen.legal_actions() == Position.from_json(REFUSED).legal_actions()

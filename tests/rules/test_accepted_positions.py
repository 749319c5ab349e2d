"""What validation accepts is safe to search and to play on; what play leads to is accepted."""

import gzip
import json
from pathlib import Path

import pytest
from fuzz import accepted_positions
from fuzz.material import GAMES, look_at
from weighed import Search

import mexica_ai as ai
from cext.core.contract import game as core_game
from cext.core.contract.playout import random_playout

TESTS = Path(__file__).parents[1]
IS_DEBUG = b"invariant broken after an action" in Path(core_game.__file__).read_bytes()
REWRITTEN = {"nim": 400, "coatl": 120, "mexica": 100, "tzolkin": 100}
OVERFLOW = json.loads((TESTS / "data" / "coatl_overflow.json").read_text())


@pytest.mark.parametrize("game", GAMES)
def test_rewritten_positions_are_searched_and_played_on(game):
    accepted_positions.fuzz(game, REWRITTEN[game] * (10 if IS_DEBUG else 1), seed=1)


@pytest.mark.parametrize("game", GAMES)
def test_positions_of_play_are_accepted(game):
    accepted_positions.play(game, 10_000 if IS_DEBUG or game == "nim" else 300, seed=1)


@pytest.mark.parametrize("file", sorted((TESTS / "data" / "vectors").glob("*.gz")), ids=lambda file: file.name)
def test_vectors_are_accepted(file):
    for line in gzip.decompress(file.read_bytes()).splitlines():
        entry = json.loads(line)
        position = ai.Position.from_json(entry["position" if "position" in entry else "start"])
        for turn in entry.get("turns", ()):
            position.push(turn)
            assert ai.Position.from_json(position.to_json()) == position


@pytest.mark.parametrize("entry", OVERFLOW, ids=lambda entry: str(entry["seed"]))
def test_a_seat_draws_unseen_where_all_was_known(entry):
    """All hands are shown, so there is one world; but in the search the other seat draws what this one does not see."""
    state = ai.Position.from_json(entry["position"]).state
    search = Search(state, seed=entry["seed"], memory_mb=8)
    search.run(iterations=entry["iterations"] // (1 if IS_DEBUG else 4))
    search.check_visits()
    for action in search.result(1)["candidates"][0]["actions"]:
        state.apply(action)


def test_a_view_is_dealt_for_a_seat_other_than_its_viewer():
    """Its memory hides from the viewer what the other seat has seen."""
    position = ai.Position.from_json((TESTS / "data" / "coatl_foreign_view.json").read_bytes())
    look_at(position.state)
    random_playout(position.state, 1)

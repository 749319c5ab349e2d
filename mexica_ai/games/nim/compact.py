"""Nim's compact form: ``3,5,7 2,0,1,1``, the piles, then players, seat to move, plies left and plies per turn."""

from mexica_ai.game.compact import split_fields
from mexica_ai.io.json_types import JsonObject

_FIELDS = {
    "piles": (r"\d{1,2}(,\d{1,2})*", "3,5,7"),
    "turn": (r"\d,\d,\d,\d", "2,0,1,1"),
}
_TURN = ("players", "to_move", "plies_left", "plies_per_turn")


def format_compact(data: JsonObject) -> str:
    """Return the fields of a JSON position."""
    return f"{','.join(map(str, data['piles']))} {','.join(str(data[key]) for key in _TURN)}"


def parse_compact(text: str, path: str = "position") -> JsonObject:
    """Return the JSON position of compact fields, its numbers not checked."""
    piles, turn = split_fields(text, _FIELDS, path)
    numbers = dict(zip(_TURN, map(int, turn), strict=True))
    return {"game": "nim", "version": 1, "piles": list(map(int, piles)), **numbers}

"""The text forms of nim: actions, and the JSON position. The only reader and writer of both.

``take 2 1`` takes two objects from the first pile. A position is ``{"game": "nim", "version": 1, "players":
2, "piles": [3, 4, 5], "to_move": 0, "plies_left": 1, "plies_per_turn": 1}``; when no object is left,
`to_move` is the seat that took the last one and has won.

An action's integer: bits 0-7 the count (1-63), bits 8-15 the pile (from 0); canonical order is ascending.
"""

import re
from collections.abc import Sequence

from cext.core.contract.game import State
from cext.games.nim.ops import state_from_fields, state_to_fields
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, check_shape, check_version, choice, quote

VERSION = 1  # of the JSON form
MAX_PILES, MAX_PILE = 8, 63
MAX_PLAYERS, MAX_PLIES = 4, 3
PILES = (3, 4, 5)  # by default

SHAPE = {
    "game": choice("nim"),
    "version": int,
    "players": int,
    "piles": [int],
    "to_move": int,
    "plies_left": int,
    "plies_per_turn": int,
}
_ACTION = r"take ([1-9]|[1-5][0-9]|6[0-3]) ([1-8])"


def parse_action(text: str, path: str = "action") -> int:
    """Return the integer of an action such as ``take 2 1``; raise NotationError if the text is not one."""
    match = re.fullmatch(_ACTION, text) if isinstance(text, str) else None
    if not match:
        raise NotationError(
            f"{path}: {quote(text)} is not an action; expected the form take COUNT PILE, with COUNT 1-63 "
            'and PILE 1-8, such as "take 2 1"',
            reason="BAD_ACTION",
            path=path,
        )
    return int(match[2]) - 1 << 8 | int(match[1])


def format_action(action: int) -> str:
    """Return the text of an action's integer; raise NotationError if it is not an action."""
    count, pile = action & 255, action >> 8
    if not (1 <= count <= MAX_PILE and 0 <= pile < MAX_PILES):
        raise NotationError(f"{action:#x} is not the integer of an action", reason="BAD_ACTION")
    return f"take {count} {pile + 1}"


def parse_position(data: JsonObject, path: str = "position") -> State:
    """Return the state of a JSON position; see `mexica_ai.game.contract.Text`."""
    check_shape(data, SHAPE, path)
    check_version(data, VERSION, path)
    findings = Findings()
    _check_setup(data["players"], data["piles"], data["plies_per_turn"], path, findings)
    findings.check_range(f"{path}.to_move", data["to_move"], 0, data["players"] - 1)
    findings.check_range(f"{path}.plies_left", data["plies_left"], 1, data["plies_per_turn"])
    findings.raise_as(PositionError)
    return state_from_fields({key: value for key, value in data.items() if key not in ("game", "version")})


def format_position(state: State) -> JsonObject:
    """Return the JSON object of a state; the inverse of `parse_position`."""
    return {"game": "nim", "version": VERSION, **state_to_fields(state)}


def new_state(players: int, seed: int, *, piles: list[int] | None = None, plies_per_turn: int | None = None) -> State:
    """Return the first position of a game.

    Parameters
    ----------
    players : int
        2-4.
    seed : int
        Not used: nim has no chance.
    piles : list of int, optional
        1-8 piles of 0-63 objects, not all empty; by default 3, 4, 5.
    plies_per_turn : int, optional
        How often a seat takes objects in one turn, 1-3; by default once.

    Raises
    ------
    NotationError
        If an argument is of the wrong type.
    PositionError
        If an argument is out of range.
    """
    piles = list(PILES) if piles is None else piles
    plies_per_turn = 1 if plies_per_turn is None else plies_per_turn
    check_shape(
        {"players": players, "piles": piles, "plies_per_turn": plies_per_turn},
        {"players": int, "piles": [int], "plies_per_turn": int},
        "options",
    )
    findings = Findings()
    _check_setup(players, piles, plies_per_turn, "options", findings)
    if piles and not any(piles):
        findings.add("options.piles", "NO_OBJECTS", "all piles are empty; expected an object to take")
    findings.raise_as(PositionError)
    return state_from_fields(
        {
            "players": players,
            "piles": piles,
            "to_move": 0,
            "plies_left": plies_per_turn,
            "plies_per_turn": plies_per_turn,
        }
    )


def _check_setup(players: int, piles: Sequence[int], plies_per_turn: int, path: str, findings: Findings) -> None:
    findings.check_range(f"{path}.players", players, 2, MAX_PLAYERS)
    if not 1 <= len(piles) <= MAX_PILES:
        findings.add(f"{path}.piles", "PILES_COUNT", f"has {len(piles)} entries; expected 1 to {MAX_PILES} piles")
    for index, pile in enumerate(piles):
        findings.check_range(f"{path}.piles[{index}]", pile, 0, MAX_PILE)
    findings.check_range(f"{path}.plies_per_turn", plies_per_turn, 1, MAX_PLIES)

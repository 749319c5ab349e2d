"""Shut the Box as text and JSON; its new games and its rolls.

Actions are ``shut 8`` and ``stop``; the random event between turns is ``roll 8``. A position is
``{"game": "shutbox", "version": 1, "players": 2, "to_move": 1, "open": [1, 2, 9], "rest": 3, "below": 10,
"points": [31], "one_die": false}``: the open tiles of the seat to move, what the tiles to shut in this turn still add
up to (0: a roll is due), the tile below which the next one must be (10: any), and the points of the seats that have
finished.
"""

import re

from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.strict import Findings, check_shape, check_version, choice, quote
from mexica_ai_shutbox.ops import state_from_fields, state_to_fields

VERSION = 1
MAX_PLAYERS, NUM_TILES, MAX_POINTS, MAX_ROLL = 4, 9, 45, 12
STOP, ROLL = 0, 16  # as in ops.pyx
SHAPE = {
    "game": choice("shutbox"),
    "version": int,
    "players": int,
    "to_move": int,
    "open": [int],
    "rest": int,
    "below": int,
    "points": [int],
    "one_die": bool,
}


def parse_action(text, path="action"):
    """Return the integer of an action or a roll."""
    match = re.fullmatch(r"stop|shut ([1-9])|roll ([1-9]|1[0-2])", text) if isinstance(text, str) else None
    if not match:
        raise NotationError(
            f'{path}: {quote(text)} is not an action; expected "stop" or the form shut TILE, such as "shut 8"',
            reason="BAD_ACTION",
            path=path,
        )
    if match[2]:
        return ROLL + int(match[2])
    return int(match[1] or STOP)


def format_action(action):
    """Return the text of an action's integer."""
    if action == STOP:
        return "stop"
    if 1 <= action <= NUM_TILES:
        return f"shut {action}"
    if ROLL < action <= ROLL + MAX_ROLL:
        return f"roll {action - ROLL}"
    raise NotationError(f"{action:#x} is not the integer of an action", reason="BAD_ACTION")


def parse_position(data, path="position"):
    """Return the state of a JSON position."""
    check_shape(data, SHAPE, path)
    check_version(data, VERSION, path)
    findings = Findings()
    findings.check_range(f"{path}.players", data["players"], 2, MAX_PLAYERS)
    for key, high in (("open", NUM_TILES), ("points", MAX_POINTS)):
        for index, number in enumerate(data[key]):
            findings.check_range(f"{path}.{key}[{index}]", number, key == "open", high)
    if data["open"] != sorted(set(data["open"])):
        findings.add(f"{path}.open", "NOT_SORTED", "expected each open tile once, in ascending order")
    findings.check_range(f"{path}.rest", data["rest"], 0, MAX_ROLL)
    findings.check_range(f"{path}.below", data["below"], 1, NUM_TILES + 1)
    if len(data["points"]) > data["players"]:
        expected = "those of the seats that have finished"
        findings.add(f"{path}.points", "POINTS_COUNT", f"has {len(data['points'])} entries; expected {expected}")
    else:
        seat = min(len(data["points"]), data["players"] - 1)
        findings.check_range(f"{path}.to_move", data["to_move"], seat, seat)
    findings.raise_as(PositionError)
    _check_tiles(data, path, findings)
    findings.raise_as(PositionError)
    return state_from_fields(data)


def _check_tiles(data, path, findings):
    tiles, rest, below = data["open"], data["rest"], data["below"]
    is_over = len(data["points"]) == data["players"]
    if bool(tiles) == is_over:
        findings.add(f"{path}.open", "TILES", "expected open tiles until all seats have finished, none afterwards")
    sums = {0}
    for tile in tiles:
        sums |= {tile + other for other in sums} if tile < below else set()
    is_first = below > NUM_TILES  # no tile was shut in this turn, so the roll may be too high for all of them
    if (rest and is_over) or not (is_first or (rest and rest in sums and below not in tiles)):
        findings.add(f"{path}.rest", "REST", f"given {rest}; expected a sum of open tiles lower than {below}")


def format_position(state):
    """Return the JSON object of a state."""
    return {"game": "shutbox", "version": VERSION, **state_to_fields(state)}


def new_state(players, seed, *, one_die=None):
    """Return the first position of a game; its first roll is drawn by the seed."""
    one_die = False if one_die is None else one_die
    check_shape({"players": players, "one_die": one_die}, {"players": int, "one_die": bool}, "options")
    findings = Findings()
    findings.check_range("options.players", players, 2, MAX_PLAYERS)
    findings.raise_as(PositionError)
    tiles = list(range(1, NUM_TILES + 1))
    fields = {"players": players, "open": tiles, "rest": 0, "below": 10, "points": [], "one_die": one_die}
    state = state_from_fields(fields)
    state.resolve_chance(seed)
    return state


def draw_outcome(state, seed):
    """Return the roll that the seed brings."""
    rolled = state.copy()
    rolled.resolve_chance(seed)
    return ROLL + state_to_fields(rolled)["rest"]


def render(state):
    """Return the box of the seat to move and the points."""
    fields = state_to_fields(state)
    seat, rest, finished = fields["to_move"], fields["rest"], fields["points"]
    if len(finished) == fields["players"]:
        head = "the game is over"
    else:
        head = f"seat {seat} to move, {rest} to shut" if rest else f"seat {seat} to roll"
    tiles = " ".join(str(tile) if tile in fields["open"] else "-" for tile in range(1, NUM_TILES + 1))
    rows = [f"  seat {number}  {int(points):2} points" for number, points in enumerate(state.scores())]
    return "\n".join([f"Shut the Box, {fields['players']} players: {head}", "", f"  tiles   {tiles}", *rows])

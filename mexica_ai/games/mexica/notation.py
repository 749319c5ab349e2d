"""The text forms of Mexica: actions and the JSON position. All reading and writing of both is here.

Reading is strict: a position must have the right shape (else `NotationError`) and satisfy every invariant of
`mexica_ai.games.mexica.invariants` (else `PositionError`); both errors list all violations. Lists may be in
any order and are written in the canonical one: spaces in reading order, sizes ascending; the standard pool is
left out. An action's integer has these bits; canonical order is ascending:

======  ===========================================================================================
bits    meaning
======  ===========================================================================================
0-8     second cell: a double canal's other space, a relocated bridge's new space; else 0
9-17    first cell; 0 for actions without a space
18-21   argument: temple level, token size, axis (0 ns, 1 ew), canal (0 single, 1 double); else 0
22-25   verb: the index of its word in `VERBS`, from 1
======  ===========================================================================================
"""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from cext.core.contract.game import State
from cext.games.mexica.ops import state_from_fields, state_to_fields
from mexica_ai.game.text_forms import canonical_text
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.games.mexica.invariants import check_fields, check_num_neutral, check_pool
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import (
    Findings,
    Nullable,
    Text,
    check_shape,
    check_version,
    choice,
    match_action,
    not_an_action,
)

VERSION = 1  # of the JSON form
VERBS = (
    "place",
    "canal",
    "bridge",
    "relocate",
    "found",
    "temple",
    "walk",
    "sail",
    "teleport",
    "token",
    "end",
    "remove",
)
AXES = ("ns", "ew")
MIN_NEUTRAL_DISTANCE, MAX_NEUTRAL_TRIES = 5, 10_000  # D1

_SPACE = r"[A-U](?:1[0-4]|[1-9])"
_SPACE_TEXT = 'a space: column A-U and row 1-14, such as "H6"'
_FIRST, _SECOND, _AXIS = rf"(?P<first>{_SPACE})", rf"(?P<second>{_SPACE})", "(?P<axis>ns|ew)"
_LEVEL, _SIZE = "(?P<number>[1-4])", "(?P<number>1[0-3]|[3-9])"

# Each verb's form, and an example of it for messages.
_FORMS = {
    "place": (f"place {_FIRST}", "place H6"),
    "canal": (f"canal {_FIRST}(?:-{_SECOND})?", "canal C5 or canal C5-D5"),
    "bridge": (f"bridge {_FIRST} {_AXIS}", "bridge O7 ew"),
    "relocate": (f"relocate {_FIRST} {_SECOND} {_AXIS}", "relocate O7 K4 ns"),
    "found": (f"found {_SIZE} {_FIRST}", "found 13 B4"),
    "temple": (f"temple {_LEVEL} {_FIRST}", "temple 3 C5"),
    "walk": (f"walk {_FIRST}", "walk H5"),
    "sail": (f"sail {_FIRST}", "sail K4"),
    "teleport": (f"teleport {_FIRST}", "teleport C9"),
    "token": ("token", "token"),
    "end": ("end", "end"),
    "remove": (f"remove {_SIZE}", "remove 7"),
}

_AT = Text(_SPACE, _SPACE_TEXT, "BAD_SPACE")
SHAPE = {
    "game": choice("mexica"),
    "version": int,
    "players": int,
    "phase": choice("placement", "play", "over"),
    "period": int,
    "round": int,
    "to_move": int,
    "action_points": int,
    "tokens_taken": int,
    "idle_rounds?": int,
    "built_this_round?": bool,
    "seats": [
        {
            "score": int,
            "action_tokens": int,
            "pilli": Text(rf"|{_SPACE}", _SPACE_TEXT + ', or "" if not placed yet', "BAD_SPACE"),
            "temples": [int],
        }
    ],
    "canals": [_AT],
    "canal_tiles": {"single": int, "double": int},
    "bridges": [{"at": _AT, "axis": choice(*AXES)}],
    "temples": [{"at": _AT, "seat": int, "level": int}],
    "calpulli": {
        "pool?": [int],
        "display": [int],
        "placed": [{"at": _AT, "size": int}],
        "removed?": [int],
        "upcoming?": Nullable([int]),
    },
}


def parse_action(text: str, path: str = "action") -> int:
    """Return the integer of an action, such as ``canal C5-D5``; see `mexica_ai.game.contract.Text`."""
    operands = match_action(text, _FORMS, "walk H5", path)
    verb = text.partition(" ")[0]
    first = parse_space(operands["first"]) if "first" in operands else 0
    second = parse_space(operands["second"]) if "second" in operands else 0
    argument = AXES.index(operands["axis"]) if "axis" in operands else int(operands.get("number", 0))
    if verb == "canal" and second:
        argument = 1
        if second <= first:
            expected = "its two spaces in reading order (row by row, left to right)"
            raise not_an_action(text, path, "READING_ORDER", expected)
    return VERBS.index(verb) + 1 << 22 | argument << 18 | first << 9 | second


# An opening has about 1,400 legal actions, most of which are formatted many times.
@functools.lru_cache(maxsize=1 << 16)
def format_action(action: int) -> str:
    """Return the text of an action's integer; the inverse of `parse_action`."""
    number, argument = action >> 22, action >> 18 & 15
    verb = VERBS[number - 1] if 1 <= number <= len(VERBS) else ""
    first, second = (format_space(cell) if cell in board.GRID else "?" for cell in (action >> 9 & 511, action & 511))
    if verb == "canal":
        words = [verb, f"{first}-{second}" if argument else first]
    elif verb == "bridge":
        words = [verb, first, AXES[argument & 1]]
    elif verb == "relocate":
        words = [verb, first, second, AXES[argument & 1]]
    elif verb in ("temple", "found"):
        words = [verb, str(argument), first]
    elif verb == "remove":
        words = [verb, str(argument)]
    elif verb in ("token", "end"):
        words = [verb]
    else:
        words = [verb, first]
    return canonical_text(" ".join(words), action, parse_action)


def parse_position(data: JsonObject, path: str = "position") -> State:
    """Return the state of a JSON position; see `mexica_ai.game.contract.Text`."""
    check_shape(data, SHAPE, path)
    check_version(data, VERSION, path)
    # Values that only the history of a game shows may be missing.
    unknown = {"idle_rounds": 0, "built_this_round": data["phase"] == "play"}
    fields = unknown | {key: value for key, value in data.items() if key not in ("game", "version")}
    fields["seats"] = [seat | {"pilli": parse_space(seat["pilli"]) if seat["pilli"] else 0} for seat in data["seats"]]
    fields["canals"] = [parse_space(name) for name in data["canals"]]
    for key in ("bridges", "temples"):
        fields[key] = [thing | {"at": parse_space(thing["at"])} for thing in data[key]]
    calpulli = {"pool": list(board.STANDARD_POOL), "removed": [], "upcoming": None} | data["calpulli"]
    calpulli["placed"] = [token | {"at": parse_space(token["at"])} for token in calpulli["placed"]]
    fields["calpulli"] = calpulli

    findings = Findings()
    check_fields(fields, path, findings)
    findings.raise_as(PositionError)
    if calpulli["upcoming"] is None:
        calpulli["upcoming"] = _known_upcoming(fields)
    return state_from_fields(_canonical(fields))


def _known_upcoming(fields: JsonObject) -> list[int] | None:
    """Return the second period's tokens if the rest of a valid position determines them, else None."""
    calpulli = fields["calpulli"]
    if fields["period"] == 2:
        return []
    if len(calpulli["pool"]) > board.NUM_DISPLAYED + board.NUM_UPCOMING:
        return None
    shown = calpulli["display"] + [token["size"] for token in calpulli["placed"]] + calpulli["removed"]
    return list((Counter(calpulli["pool"]) - Counter(shown)).elements())


def _canonical(fields: JsonObject) -> JsonObject:
    """Return the fields with spaces in reading order and sizes ascending."""

    def in_reading_order(things: Iterable[JsonObject]) -> list[JsonObject]:
        return sorted(things, key=lambda thing: thing["at"])

    calpulli = {
        key: in_reading_order(value) if key == "placed" else value and sorted(value)
        for key, value in fields["calpulli"].items()
    }
    return fields | {
        "canals": sorted(fields["canals"]),
        "bridges": in_reading_order(fields["bridges"]),
        "temples": in_reading_order(fields["temples"]),
        "calpulli": calpulli,
    }


def format_position(state: State) -> JsonObject:
    """Return the JSON object of a state, in canonical form; the inverse of `parse_position`."""
    fields = state_to_fields(state)
    calpulli = fields["calpulli"]
    pool = {} if tuple(calpulli["pool"]) == board.STANDARD_POOL else {"pool": calpulli["pool"]}
    return {
        "game": "mexica",
        "version": VERSION,
        **{
            key: fields[key]
            for key in (
                "players",
                "phase",
                "period",
                "round",
                "to_move",
                "action_points",
                "tokens_taken",
                "idle_rounds",
                "built_this_round",
            )
        },
        "seats": [
            {
                "score": seat["score"],
                "action_tokens": seat["action_tokens"],
                "pilli": format_space(seat["pilli"]) if seat["pilli"] else "",
                "temples": list(seat["temples"]),
            }
            for seat in fields["seats"]
        ],
        "canals": [format_space(cell) for cell in fields["canals"]],
        "canal_tiles": {key: fields["canal_tiles"][key] for key in ("single", "double")},
        "bridges": [{"at": format_space(bridge["at"]), "axis": bridge["axis"]} for bridge in fields["bridges"]],
        "temples": [
            {"at": format_space(temple["at"]), "seat": temple["seat"], "level": temple["level"]}
            for temple in fields["temples"]
        ],
        "calpulli": pool
        | {
            "display": calpulli["display"],
            "placed": [{"at": format_space(token["at"]), "size": token["size"]} for token in calpulli["placed"]],
            "removed": calpulli["removed"],
            "upcoming": calpulli["upcoming"],
        },
    }


def new_state(
    players: int, seed: int, *, pool: list[int] | None = None, neutral_levels: list[int] | None = None
) -> State:
    """Deal a new game: the position before the first pilli is placed.

    Parameters
    ----------
    players : int
        2-4.
    seed : int
        Determines the deal of the tokens and the spaces of the neutral temples.
    pool : list of int, optional
        Sizes of all tokens, 15-255 of them; the printed 15 by default. Eight are displayed, seven come in
        period 2.
    neutral_levels : list of int, optional
        Levels of the neutral temples of a two-seat game, 40 at most; by default the rulebook's ten.

    Raises
    ------
    NotationError
        If an argument is of the wrong type.
    PositionError
        If an argument is out of range, or the neutral temples do not fit (reason NO_ROOM).
    """
    return state_from_fields(deal(players, seed, pool=pool, neutral_levels=neutral_levels))


def deal(
    players: int, seed: int, *, pool: list[int] | None = None, neutral_levels: list[int] | None = None
) -> JsonObject:
    """Return the fields of a new game; see `new_state`."""
    if pool is None:
        pool = list(board.STANDARD_POOL)
    if neutral_levels is None:
        neutral_levels = list(board.STANDARD_NEUTRAL_LEVELS) if players == 2 else []
    arguments = {"players": players, "pool": pool, "neutral_levels": neutral_levels}
    check_shape(arguments, {"players": int, "pool": [int], "neutral_levels": [int]}, "options")
    check_options(players, pool, neutral_levels)

    rng = np.random.default_rng(seed)
    tokens = rng.permutation(pool).tolist()
    shown = board.NUM_DISPLAYED
    levels = rng.permutation(neutral_levels).tolist()
    return {
        "players": players,
        "phase": "placement",
        "period": 1,
        "round": 0,
        "to_move": 0,
        "action_points": board.ACTION_POINTS,
        "tokens_taken": 0,
        "idle_rounds": 0,
        "built_this_round": False,
        "seats": [
            {"score": 0, "action_tokens": 0, "pilli": 0, "temples": list(board.TEMPLES_BY_PERIOD[1])}
            for _ in range(players)
        ],
        "canals": list(board.PRINTED_CANALS),
        "canal_tiles": {"single": board.NUM_SINGLE_TILES, "double": board.NUM_DOUBLE_TILES - 2},
        "bridges": [],
        "temples": [
            {"at": cell, "seat": board.NEUTRAL, "level": level}
            for cell, level in sorted(zip(draw_neutral_spaces(len(levels), rng), levels, strict=True))
        ],
        "calpulli": {
            "pool": sorted(pool),
            "display": sorted(tokens[:shown]),
            "placed": [],
            "removed": [],
            "upcoming": sorted(tokens[shown : shown + board.NUM_UPCOMING]),
        },
    }


def check_options(players: int, pool: Sequence[int], neutral_levels: Sequence[int]) -> None:
    """Raise PositionError if an option of a new game is out of range; list all that are."""
    findings = Findings()
    findings.check_range("options.players", players, board.MIN_PLAYERS, board.MAX_PLAYERS)
    check_pool(pool, "options.pool", findings)
    for index, level in enumerate(neutral_levels):
        findings.check_range(f"options.neutral_levels[{index}]", level, 1, 4)
    check_num_neutral(players, len(neutral_levels), "options.neutral_levels", findings)
    findings.raise_as(PositionError)


@functools.cache
def _neutral_spaces() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the spaces for neutral temples, and for each a bit set of the spaces that are too close."""
    spaces = [
        cell
        for cell in sorted(board.LAND - board.PALACE)
        if cell not in board.PRINTED_CANALS and board.LAND.issuperset(board.neighbours(cell))
    ]
    near = [
        sum(1 << i for i, other in enumerate(spaces) if board.distance(cell, other) < MIN_NEUTRAL_DISTANCE)
        for cell in spaces
    ]
    return tuple(spaces), tuple(near)


def draw_neutral_spaces(count: int, rng: np.random.Generator) -> list[int]:
    """Draw spaces for neutral temples by D1: in random order, far apart, with new attempts until all fit."""
    spaces, near = _neutral_spaces()
    for _ in range(MAX_NEUTRAL_TRIES):
        chosen: list[int] = []
        taken = 0
        for index in rng.permutation(len(spaces)).tolist():
            if len(chosen) == count:
                break
            if not taken >> index & 1:
                chosen.append(spaces[index])
                taken |= near[index]
        if len(chosen) == count:
            return chosen
    raise PositionError(
        f"options.neutral_levels: {count} neutral temples found no room in {MAX_NEUTRAL_TRIES} tries; expected fewer",
        reason="NO_ROOM",
        path="options.neutral_levels",
    )


def has_one_world(state: State) -> bool:
    """Return whether the second period's tokens are known."""
    return state_to_fields(state)["calpulli"]["upcoming"] is not None

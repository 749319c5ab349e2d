"""The text forms of Tzolk'in: actions, random events, and the JSON position. The only reader and writer of them.

Reading is strict: a position has exactly the right shape (`NotationError` otherwise) and keeps every
invariant of `mexica_ai.games.tzolkin.invariants` (`PositionError` otherwise), or it is refused; both errors
list all faults. Lists may come in any order and are written in data order, that of the facts. An
action's integer has these bits, and canonical order is ascending:

======  ===========================================================================================
bits    meaning
======  ===========================================================================================
56-60   verb, the position of its word in `VERBS` counted from 1
0-29    of `reveal`: buildings ascending, number + 1 in 5 bits each, the first in bits 0-4
46-51   tile + 1 (of `keep` the first one); monuments come after the buildings
40-45   second tile + 1 of `keep`
39      architecture applies
36-38   gear; 5 is the starting player space
32-35   space
28-31   action of the gear, 0 for none
25-27   temple + 1 or track + 1
22-24   second temple + 1
16-21   blocks paid or taken, two bits each: wood, stone, gold; of a trade one of the kind
0-15    number of blocks of a trade; days; of `harvest` 0 corn, 1 wood
======  ===========================================================================================

Bits that are not used are 0.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from cext.core.contract.game import State
from cext.games.tzolkin.ops import is_answerable, state_from_fields, state_to_fields, without_viewer
from mexica_ai.game.text_forms import SPECTATOR, canonical_text, check_viewer, viewer_from_field, viewer_to_field
from mexica_ai.games.tzolkin import facts
from mexica_ai.games.tzolkin.facts import BLOCKS, BUILDINGS, GEARS, MONUMENTS, PLACES, TEMPLES, TRACKS, WEALTH
from mexica_ai.games.tzolkin.invariants import check_position
from mexica_ai.games.tzolkin.shape import BUILDING, SHAPE, TILE, any_of
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, check_shape, check_version, match_action, not_an_action, quote

VERSION = 1  # of the JSON form
VERBS = ("keep", "beg", "place", "pick", "harvest", "burn", "research", "build", "climb", "take", "sell",
         "buy", "use", "done", "end", "advance", "reveal")  # fmt: skip

_LETTERS, _TEMPLES, _TRACKS = list(BLOCKS), list(TEMPLES), list(TRACKS)
_TILES, _WEALTH = [*BUILDINGS, *MONUMENTS], list(WEALTH)
_HARVESTS = ("corn", "wood")

_TEMPLE = any_of(TEMPLES)
_BLOCK = f"[{''.join(BLOCKS)}]"
_FOUR_GEARS = any_of(gear for gear in GEARS if gear != facts.CHICHEN)


def _blocks(most: int) -> str:
    """Return the pattern of one to `most` blocks in their order."""
    return rf"(?P<blocks>(?={_BLOCK}{{1,{most}}}$){''.join(f'{letter}*' for letter in BLOCKS)})"


# Each verb's form, and an example of it for messages.
_FORMS = {
    "keep": (f"keep (?P<tile>{TILE}) (?P<second>{TILE})", "keep w_pal1 w_tik3"),
    "beg": (f"beg (?P<temple>{_TEMPLE})", "beg chaac"),
    "place": (f"place (?P<gear>{any_of(PLACES)})", "place tikal or place start"),
    "pick": (
        rf"pick (?=chichen_itza|{_FOUR_GEARS} [0-7](?: [1-5])?$)(?P<gear>{any_of(GEARS)}) "
        r"(?P<space>[0-9]|10)(?: (?P<used>[1-9]))?",
        "pick tikal 3 2, or pick tikal 3 without an action",
    ),
    "harvest": (f"harvest (?P<harvest>{any_of(_HARVESTS)})", "harvest corn or harvest wood"),
    "burn": (f"burn (?P<temple>{_TEMPLE})", "burn chaac"),
    "research": (
        rf"research (?P<track>{any_of(TRACKS)})(?: {_blocks(3)})?",
        "research agriculture WS, or research agriculture if it is free",
    ),
    "build": (
        rf"build (?:(?P<tile>{BUILDING})(?: (?P<arch>arch)(?: (?P<blocks>{_BLOCK}))?)?"
        rf"|(?P<monument>{any_of(MONUMENTS)}))",
        "build a1_farm_all, build a1_farm_all arch, build a1_farm_all arch W or build m_tombs",
    ),
    "climb": (
        rf"climb (?P<temple>{_TEMPLE})(?:(?: (?P<second_temple>{_TEMPLE}))? (?P<blocks>{_BLOCK}))?",
        "climb chaac, climb chaac W or climb chaac kukulcan W",
    ),
    "take": (f"take {_blocks(2)}", "take G or take WG"),
    "sell": (rf"sell (?P<blocks>{_BLOCK}) (?P<number>[1-9][0-9]{{0,3}})", "sell S 2"),
    "buy": (rf"buy (?P<blocks>{_BLOCK}) (?P<number>[1-9][0-9]{{0,3}})", "buy G 1"),
    "use": (f"use (?P<gear>{_FOUR_GEARS}) (?P<used>[1-5])", "use yaxchilan 5"),
    "done": ("done", "done"),
    "end": ("end", "end"),
    "advance": ("advance (?P<number>[12])", "advance 1 or advance 2"),
    "reveal": (
        rf"reveal(?P<buildings>(?: {BUILDING}){{1,{facts.DISPLAY}}})",
        "reveal a1_farm_one a1_civic_agriculture, with 1 to 6 buildings",
    ),
}

_NUMBERS = ("day", "food_days", "start_player", "to_move", "placed", "reveal", "teeth_corn")


# --- actions


def parse_action(text: str, path: str = "action") -> int:
    """Return the integer of an action or random event (``pick tikal 3 2``); see `mexica_ai.game.contract.Text`."""
    operands = match_action(text, _FORMS, "pick tikal 3 2", path)
    verb = text.partition(" ")[0]
    action = VERBS.index(verb) + 1 << 56
    if verb == "reveal":
        return action | _revealed_bits(text, operands["buildings"].split(), path)
    order = _WEALTH if verb == "keep" else _TEMPLES
    for first, second in (("tile", "second"), ("temple", "second_temple")):
        if second in operands and order.index(operands[first]) >= order.index(operands[second]):
            raise not_an_action(text, path, "NOT_ASCENDING", f"two different ones in the order {', '.join(order)}")
    tiles = _WEALTH if verb == "keep" else _TILES
    for key, names, shift in (
        ("tile", tiles, 46),
        ("monument", tiles, 46),
        ("second", tiles, 40),
        ("temple", _TEMPLES, 25),
        ("track", _TRACKS, 25),
        ("second_temple", _TEMPLES, 22),
    ):
        if key in operands:
            action |= names.index(operands[key]) + 1 << shift
    if "gear" in operands:
        action |= PLACES.index(operands["gear"]) << 36
    if "harvest" in operands:
        action |= _HARVESTS.index(operands["harvest"])
    for letter in operands.get("blocks", ""):
        action += 1 << 16 + 2 * _LETTERS.index(letter)
    for key, shift in (("space", 32), ("used", 28), ("number", 0)):
        action |= int(operands.get(key, 0)) << shift
    return action | ("arch" in operands) << 39


def _revealed_bits(text: str, buildings: list[str], path: str) -> int:
    if buildings != facts.in_order(buildings, BUILDINGS):
        raise not_an_action(text, path, "NOT_ASCENDING", "buildings in data order")
    if any(number > BUILDINGS[name]["copies"] for name, number in Counter(buildings).items()):
        raise not_an_action(text, path, "TOO_MANY_COPIES", "no building more often than it exists")
    return sum(_TILES.index(name) + 1 << 5 * place for place, name in enumerate(buildings))


@functools.lru_cache(maxsize=1 << 16)
def format_action(action: int) -> str:
    """Return the text of an action's integer; the inverse of `parse_action`."""
    number = action >> 56
    verb = VERBS[number - 1] if 1 <= number <= len(VERBS) else ""
    return canonical_text(" ".join([verb, *_operand_words(verb, action)]), action, parse_action)


def _operand_words(verb: str, action: int) -> list[str]:
    """Return the operands of an action; wrong ones, or too few, if the integer is none."""

    def names_at(shift: int, width: int, names: Sequence[str]) -> list[str]:
        number = action >> shift & (1 << width) - 1
        return [names[number - 1]] if 0 < number <= len(names) else []

    gear = [PLACES[action >> 36 & 7]] if action >> 36 & 7 < len(PLACES) else []
    used = [str(action >> 28 & 15)] if action >> 28 & 15 else []
    letters = "".join(letter * (action >> 16 + 2 * kind & 3) for kind, letter in enumerate(BLOCKS))
    blocks = [letters] if letters else []
    number = str(action & 0xFFFF)
    temple = names_at(25, 3, _TEMPLES)
    match verb:
        case "keep":
            return names_at(46, 6, _WEALTH) + names_at(40, 6, _WEALTH)
        case "beg" | "burn":
            return temple
        case "place":
            return gear
        case "pick":
            return [*gear, str(action >> 32 & 15), *used]
        case "harvest":
            return [_HARVESTS[action & 1]]
        case "research":
            return names_at(25, 3, _TRACKS) + blocks
        case "build":
            return names_at(46, 6, _TILES) + ["arch"] * (action >> 39 & 1) + blocks
        case "climb":
            return temple + names_at(22, 3, _TEMPLES) + blocks
        case "take":
            return blocks
        case "sell" | "buy":
            return [*blocks, number]
        case "use":
            return gear + used
        case "advance":
            return [number]
        case "reveal":
            return [name for place in range(facts.DISPLAY) for name in names_at(5 * place, 5, _TILES)]
    return []


# --- positions


def parse_position(data: JsonObject, path: str = "position") -> State:
    """Return the state of a JSON position; see `mexica_ai.game.contract.Text`."""
    state = state_from_fields(parse_fields(data, path))
    if not is_answerable(state):
        where = f"{path}.pending[0]"
        raise PositionError(
            f'{where}: {quote(data["pending"][0])} has no answer but "done"; expected a decision that has one',
            reason="PENDING",
            path=where,
        )
    return state


def format_position(state: State) -> JsonObject:
    """Return the JSON object of a state, in canonical form; the inverse of `parse_position`."""
    return format_fields(state_to_fields(state))


def parse_fields(data: JsonObject, path: str = "position") -> JsonObject:
    """Check a position's JSON object completely and return its fields, as `state_from_fields` takes them.

    Whether the first pending decision has an answer is left to the rules.
    """
    check_shape(data, SHAPE, path)
    check_version(data, VERSION, path)
    findings = Findings()
    check_position(data, path, findings)
    findings.raise_as(PositionError)
    return {
        "num_players": data["players"],
        "whole_points": int(data["options"]["whole_points"]),
        "viewer": viewer_to_field(data["viewer"]),
        "phase": facts.PHASES.index(data["phase"]),
        **{key: data[key] for key in _NUMBERS},
        "last": _parse_last(data["last"]),
        "pending": [facts.NUMBER_OF_DECISION[text] for text in data["pending"]],
        "start_space": _or_none(data["start_space"]),
        "gears": [[_owner(place) for place in data["gears"][gear]] for gear in GEARS],
        "skulls_placed": data["skulls_placed"],
        "corn_fields": data["fields"]["corn"],
        "wood_fields": data["fields"]["wood"],
        "display": _numbers(data["display"]["buildings"], BUILDINGS),
        "monuments": _numbers(data["display"]["monuments"], MONUMENTS),
        "drawn": _numbers(data["drawn"], WEALTH),
        "seats": [
            {
                "score": int(4 * seat["score"]),
                **{key: seat[key] for key in ("corn", "skulls", "workers", "light", "corn_tiles", "wood_tiles")},
                "blocks": [seat[kind] for kind in BLOCKS.values()],
                "temples": [seat["temples"][temple] for temple in TEMPLES],
                "levels": [seat["technologies"][track] for track in TRACKS],
                "buildings": _numbers(seat["buildings"], BUILDINGS),
                "monuments": _numbers(seat["monuments"], MONUMENTS),
                "wealth": _numbers(seat["wealth"], WEALTH),
                "dealt": _numbers(seat["dealt"], WEALTH),
            }
            for seat in data["seats"]
        ],
    }


def format_fields(fields: JsonObject) -> JsonObject:
    """Return the JSON object of checked fields, in canonical form; the inverse of `parse_fields`."""
    return {
        "game": "tzolkin",
        "version": VERSION,
        "players": fields["num_players"],
        "viewer": viewer_from_field(fields["viewer"]),
        "options": {"whole_points": bool(fields["whole_points"])},
        "phase": facts.PHASES[fields["phase"]],
        **{key: fields[key] for key in _NUMBERS[:5]},
        "last": _format_last(fields["last"], facts.PHASES[fields["phase"]]),
        "pending": [facts.TEXT_OF_DECISION[number] for number in fields["pending"]],
        "reveal": fields["reveal"],
        "start_space": None if fields["start_space"] < 0 else fields["start_space"],
        "teeth_corn": fields["teeth_corn"],
        "gears": {gear: "".join(map(_mark, owners)) for gear, owners in zip(GEARS, fields["gears"], strict=True)},
        "skulls_placed": fields["skulls_placed"],
        "fields": {"corn": fields["corn_fields"], "wood": fields["wood_fields"]},
        "display": {
            "buildings": _names(fields["display"], BUILDINGS),
            "monuments": _names(fields["monuments"], MONUMENTS),
        },
        "drawn": _names(fields["drawn"], WEALTH),
        "seats": [
            {
                "score": points_of(seat["score"]),
                "corn": seat["corn"],
                **dict(zip(BLOCKS.values(), seat["blocks"], strict=True)),
                "skulls": seat["skulls"],
                "workers": seat["workers"],
                "light": bool(seat["light"]),
                "corn_tiles": seat["corn_tiles"],
                "wood_tiles": seat["wood_tiles"],
                "temples": dict(zip(TEMPLES, seat["temples"], strict=True)),
                "technologies": dict(zip(TRACKS, seat["levels"], strict=True)),
                "buildings": _names(seat["buildings"], BUILDINGS),
                "monuments": _names(seat["monuments"], MONUMENTS),
                "wealth": _names(seat["wealth"], WEALTH),
                "dealt": _names(seat["dealt"], WEALTH),
            }
            for seat in fields["seats"]
        ],
    }


def points_of(quarters: int) -> float:
    """Return quarters of a point as points: an integer if they are whole."""
    return quarters // 4 if quarters % 4 == 0 else quarters / 4


def _or_none(number: int | None) -> int:
    return -1 if number is None else number


def _owner(place: str) -> int:
    return -1 if place == facts.FREE else facts.MAX_PLAYERS if place == facts.IDLE else int(place)


def _mark(owner: int) -> str:
    return facts.FREE if owner < 0 else facts.IDLE if owner == facts.MAX_PLAYERS else str(owner)


def _parse_last(text: str) -> int:
    gear, _, space = text.partition(" ")
    return PLACES.index(gear) << 4 | int(space or 0) if text else -1


def _format_last(last: int, phase: str) -> str:
    if last < 0:
        return ""
    return PLACES[last >> 4] if phase == "placing" else f"{PLACES[last >> 4]} {last & 15}"


def _numbers(names: Iterable[str], table: Iterable[str]) -> list[int]:
    order = [*table]
    return [-1 if name == facts.HIDDEN else order.index(name) for name in names]


def _names(numbers: Iterable[int], table: Iterable[str]) -> list[str]:
    order = [*table]
    return [order[number] if number >= 0 else facts.HIDDEN for number in numbers]


def view(data: JsonObject, seat: int | None) -> JsonObject:
    """Return a seat's view: in phase keep ``?`` for the tiles of others; see `mexica_ai.game.contract.Views`."""
    data = format_fields(parse_fields(data))
    check_viewer(data, seat)
    if data["phase"] != "keep":
        return data
    for index, other in enumerate(data["seats"]):
        if index != seat:
            for key in ("dealt", "wealth"):
                other[key] = [facts.HIDDEN] * len(other[key])
    return data | {"viewer": SPECTATOR if seat is None else seat}


# --- new games


def new_seat(dealt: Iterable[str] = ()) -> JsonObject:
    """Return the JSON form of a seat at the start, with the wealth tiles that it was dealt."""
    return {
        "score": 0,
        **dict.fromkeys(facts.STOCKS, 0),
        "skulls": 0,
        "workers": facts.MIN_WORKERS,
        "light": True,
        "corn_tiles": 0,
        "wood_tiles": 0,
        "temples": dict.fromkeys(TEMPLES, 0),
        "technologies": dict.fromkeys(TRACKS, 0),
        "buildings": [],
        "monuments": [],
        "wealth": [],
        "dealt": list(dealt),
    }


def new_state(players: int, seed: int, *, whole_points: bool | None = None) -> State:
    """Deal a new game: the position in which seat 0 chooses the wealth tiles that it keeps.

    Parameters
    ----------
    players : int
        2-4.
    seed : int
        Decides the deal: wealth tiles, idle workers, open buildings and monuments.
    whole_points : bool, optional
        Whether the final points for corn are rounded down (D13); by default they are not.

    Raises
    ------
    NotationError
        If an argument is of the wrong type.
    PositionError
        If an argument is out of range.
    """
    whole_points = False if whole_points is None else whole_points
    check_shape({"players": players, "whole_points": whole_points}, {"players": int, "whole_points": bool}, "options")
    findings = Findings()
    findings.check_range("options.players", players, facts.MIN_PLAYERS, facts.MAX_PLAYERS)
    findings.raise_as(PositionError)

    rng = np.random.default_rng(seed)
    setup = facts.SETUP[players]
    tiles = [_WEALTH[number] for number in rng.permutation(len(_WEALTH))]
    drawn = tiles[facts.NUM_DEALT * players :]
    gears, taken = facts.place_idle_workers(drawn, setup["idle_workers"])
    buildings = [name for name, tile in BUILDINGS.items() if tile["age"] == 1 for _ in range(tile["copies"])]
    order = rng.permutation(len(buildings))[: facts.DISPLAY]
    monuments = rng.permutation(len(MONUMENTS))[: setup["monuments"]]
    fields = setup["fields"]
    data = {
        "game": "tzolkin",
        "version": VERSION,
        "players": players,
        "viewer": None,
        "options": {"whole_points": whole_points},
        "phase": "keep",
        "day": 1,
        "food_days": 0,
        "start_player": 0,
        "to_move": 0,
        "placed": 0,
        "last": "",
        "pending": [],
        "reveal": 0,
        "start_space": None,
        "teeth_corn": 0,
        "gears": gears,
        "skulls_placed": [],
        "fields": {"corn": [fields] * facts.NUM_FIELDS, "wood": [0] + [fields] * (facts.NUM_FIELDS - 1)},
        "display": {
            "buildings": [buildings[number] for number in order],
            "monuments": [[*MONUMENTS][number] for number in monuments],
        },
        "drawn": drawn[:taken],
        "seats": [new_seat(tiles[facts.NUM_DEALT * seat : facts.NUM_DEALT * (seat + 1)]) for seat in range(players)],
    }
    return parse_position(data)


def scores(state: State) -> list[float]:
    """Return the points of each seat: integers, but for final ones that are not whole."""
    return [points_of(seat["score"]) for seat in state_to_fields(state)["seats"]]


def viewer(state: State) -> int | None:
    """Return the seat whose view the position is, SPECTATOR for a spectator's, or None if everything is known."""
    return viewer_from_field(state_to_fields(state)["viewer"])


def has_one_world(state: State) -> bool:
    """Return whether everything but the order of the decks is known."""
    return viewer(state) is None


def world_of(state: State, seed: int) -> State:
    """Return a full position that agrees with a view; see `Views.world_of`."""
    world = state.copy()
    world.determinize(state_to_fields(state)["viewer"], seed)
    return without_viewer(world)

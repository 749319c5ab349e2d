"""The text forms of Coatl: actions, random events, and the JSON position. The only reader and writer of them.

Reading is strict: a position has exactly the right shape (`NotationError` otherwise) and keeps every
invariant of `mexica_ai.games.coatl.invariants` (`PositionError` otherwise), or it is refused; both errors
list all faults. Lists of cards, pairs and tokens may come in any order and are written ascending,
hidden cards (``?``) last; strings of colours have one order. An action's integer has these bits, and
canonical order is ascending:

======  ===========================================================================================
bits    meaning
======  ===========================================================================================
36-40   verb, the position of its word in `VERBS` counted from 1
0-35    of `keep` and `reveal`: faces ascending, number + 1 in 6 bits each, the first in bits 0-5
0-5     of `refill`: one or two heads, colour + 1 in 3 bits each, ascending
6-11    of `refill`: tails, alike
12-35   of `refill`: pairs, number of the pair + 1 in 4 bits each, ascending, the first in bits 12-15
0-5     of all others: the card, number + 1; 0 for `draw deck` and where there is none
6-8     colour
9-11    second colour of a pair, else 0
12-13   kind: 0 head, 1 tail, 2 body
14-15   Coatl, number - 1
16      side of a body piece that is added: 0 left, 1 right
======  ===========================================================================================

Bits that are not used are 0.
"""

import functools
from collections.abc import Iterable, Sequence

from cext.core.contract.game import State
from cext.games.coatl.observations import has_world
from cext.games.coatl.ops import state_from_fields, state_to_fields, without_viewer
from mexica_ai.game.text_forms import SPECTATOR, canonical_text, check_viewer, viewer_from_field, viewer_to_field
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.deal import deal
from mexica_ai.games.coatl.facts import COLORS, FACES, KINDS, PAIRS, PARTS, TEMPLE_NAMES, TOKENS
from mexica_ai.games.coatl.invariants import check_position
from mexica_ai.games.coatl.shape import CAUSES, COLOR, FACE, HIDDEN, MEMORIES, PAIR, PENDING, PHASES, SHAPE, TEMPLE
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, check_shape, check_version, match_action, not_an_action

VERSION = 1  # of the JSON form
VERBS = (
    "keep",
    "take",
    "draw",
    "start",
    "add",
    "play",
    "temple",
    "close",
    "perfect",
    "future",
    "discard",
    "promise",
    "end",
    "pass",
    "deal",
    "reveal",
    "refill",
    "uncover",
)
SIDES = ("left", "right")
_PIECE = rf"(?P<kind>head|tail) (?P<color>{COLOR})|(?P<body>body) (?P<pair>{PAIR})"
_ONE_PIECE = rf"(?P<kind>head|tail|body) (?P<color>{COLOR})"
_COATL = r"(?P<coatl>[1-3])"
_CARD = f"(?P<face>{FACE})"
_TEMPLE_CARD = f"(?P<temple>{TEMPLE})"

# Each verb's form, and an example of it for messages.
_FORMS = {
    "keep": (rf"keep(?P<faces>(?: {FACE}){{0,3}})", "keep P01 P04, with 0 to 3 cards"),
    "take": (f"take (?:{_PIECE})", "take head R, take tail K or take body RG"),
    "draw": (f"draw (?:{_CARD}|deck)", "draw P07 or draw deck"),
    "start": (f"start {_ONE_PIECE}", "start head R, start tail B or start body G"),
    "add": (
        rf"add {_COATL} (?P<end>head|tail|left|right) (?P<color>{COLOR})",
        "add 2 head R, add 2 tail B, add 2 left G or add 2 right G",
    ),
    "play": (f"play {_COATL} {_CARD}", "play 2 P07"),
    "temple": (f"temple {_COATL} {_TEMPLE_CARD}", "temple 2 T05"),
    "close": (f"close {_COATL}", "close 2"),
    "perfect": (f"perfect (?:{_PIECE})", "perfect head R, perfect tail K or perfect body RG"),
    "future": ("future", "future"),
    "discard": (f"discard {_CARD}", "discard P07"),
    "promise": (f"promise {_TEMPLE_CARD}", "promise T03"),
    "end": ("end", "end"),
    "pass": ("pass", "pass"),
    "deal": (f"deal {_CARD}", "deal P07"),
    "reveal": (rf"reveal(?P<faces>(?: {FACE}){{1,6}})", "reveal P01 P07, with 1 to 6 cards"),
    "refill": (
        rf"refill(?=.)(?: heads (?P<heads>{COLOR}{{1,2}}))?(?: tails (?P<tails>{COLOR}{{1,2}}))?"
        rf"(?: bodies(?P<bodies>(?: (?:{PAIR})){{1,6}}))?",
        "refill heads RK tails Y bodies RG GG, with one or two heads and tails and up to 6 pairs",
    ),
    "uncover": (f"uncover {_TEMPLE_CARD}", "uncover T03"),
}


# --- actions


def parse_action(text: str, path: str = "action") -> int:
    """Return the integer of an action or random event, such as ``take body RG``; see `mexica_ai.game.contract.Text`."""
    operands = match_action(text, _FORMS, "take body RG", path)
    verb = text.partition(" ")[0]
    if "faces" in operands or verb == "refill":
        _check_lists(text, operands, path)
    return (VERBS.index(verb) + 1) << 36 | (_refill_bits(operands) if verb == "refill" else _operand_bits(operands))


def _check_lists(text: str, operands: dict[str, str], path: str) -> None:
    """Refuse lists that do not ascend, and more copies of a card than there are."""
    faces = operands.get("faces", "").split()
    numbers = [list(map(COLORS.index, operands.get(part, ""))) for part in ("heads", "tails")]
    numbers.append(list(map(PAIRS.index, operands.get("bodies", "").split())))
    if faces != sorted(faces) or any(entries != sorted(entries) for entries in numbers):
        raise not_an_action(text, path, "NOT_ASCENDING", "cards ascending, colours and pairs in the order YRKGB")
    if any(faces.count(face) > facts.COPIES[face] for face in faces):
        raise not_an_action(text, path, "TOO_MANY_COPIES", "P00 to P04 twice at most and all others once")


def _operand_bits(operands: dict[str, str]) -> int:
    """Return the lower bits of any action but a refill."""
    bits = 0
    if "faces" in operands:
        for place, face in enumerate(operands["faces"].split()):
            bits |= FACES.index(face) + 1 << 6 * place
    if "face" in operands:
        bits |= FACES.index(operands["face"]) + 1
    if "temple" in operands:
        bits |= TEMPLE_NAMES.index(operands["temple"]) + 1
    if "coatl" in operands:
        bits |= int(operands["coatl"]) - 1 << 14
    colors = operands.get("pair", operands.get("color", ""))
    for place, color in enumerate(colors):
        bits |= COLORS.index(color) << 6 + 3 * place
    end = operands.get("end")
    kind = "body" if "pair" in operands or end in SIDES else operands.get("kind", end)
    if kind:
        bits |= KINDS.index(kind) << 12
    return bits | (end == "right") << 16


def _refill_bits(operands: dict[str, str]) -> int:
    bits = 0
    for base, part in ((0, "heads"), (6, "tails")):
        for place, color in enumerate(operands.get(part, "")):
            bits |= COLORS.index(color) + 1 << base + 3 * place
    for place, pair in enumerate(operands.get("bodies", "").split()):
        bits |= PAIRS.index(pair) + 1 << 12 + 4 * place
    return bits


@functools.lru_cache(maxsize=1 << 16)
def format_action(action: int) -> str:
    """Return the text of an action's integer; the inverse of `parse_action`."""
    number = action >> 36
    verb = VERBS[number - 1] if 1 <= number <= len(VERBS) else ""
    return canonical_text(" ".join([verb, *_operand_words(verb, action)]), action, parse_action)


def _operand_words(verb: str, action: int) -> list[str]:
    """Return the operands of an action; wrong ones, or too few, if the integer is none."""

    def entries(base: int, width: int, places: int, names: Sequence[str]) -> list[str]:
        numbers = [action >> base + width * place & (1 << width) - 1 for place in range(places)]
        return [names[number - 1] for number in numbers if 0 < number <= len(names)]

    if verb in ("keep", "reveal"):
        return entries(0, 6, 6, FACES)
    if verb == "refill":
        parts = {
            "heads": "".join(entries(0, 3, 2, COLORS)),
            "tails": "".join(entries(6, 3, 2, COLORS)),
            "bodies": " ".join(entries(12, 4, 6, PAIRS)),
        }
        return [f"{part} {words}" for part, words in parts.items() if words]
    first, second = (COLORS[color] if color < len(COLORS) else "" for color in (action >> 6 & 7, action >> 9 & 7))
    kind = KINDS[action >> 12 & 3] if action >> 12 & 3 < len(KINDS) else ""
    coatl = str((action >> 14 & 3) + 1)
    if verb in ("take", "perfect"):
        return [kind, first + second if kind == "body" else first]
    if verb == "start":
        return [kind, first]
    if verb == "add":
        return [coatl, SIDES[action >> 16 & 1] if kind == "body" else kind, first]
    if verb == "draw":
        return entries(0, 6, 1, FACES) or ["deck"]
    if verb in ("discard", "deal"):
        return entries(0, 6, 1, FACES)
    if verb == "play":
        return [coatl, *entries(0, 6, 1, FACES)]
    if verb == "temple":
        return [coatl, *entries(0, 6, 1, TEMPLE_NAMES)]
    if verb in ("promise", "uncover"):
        return entries(0, 6, 1, TEMPLE_NAMES)
    return [coatl] if verb == "close" else []


# --- positions


def parse_position(data: JsonObject, path: str = "position") -> State:
    """Return the state of a JSON position; see `mexica_ai.game.contract.Text`."""
    state = state_from_fields(parse_fields(data, path))
    if "memory" in data and not has_world(state):
        where = f"{path}.memory"
        raise PositionError(
            f"{where}: no deal of the hidden cards fits it; expected one to",
            reason="MEMORY_MISMATCH",
            path=where,
        )
    return state


def format_position(state: State) -> JsonObject:
    """Return the JSON object of a state, in canonical form; the inverse of `parse_position`."""
    return format_fields(state_to_fields(state))


def parse_fields(data: JsonObject, path: str = "position") -> JsonObject:
    """Check a position's JSON object completely and return its fields, as `state_from_fields` takes them."""
    check_shape(data, SHAPE, path)
    _check_version_and_ending(data, path)
    findings = Findings()
    check_position(data, path, findings)
    findings.raise_as(PositionError)

    ending = data["ending"] or {"cause": ""}
    return {
        "num_players": data["players"],
        "sacrifice_tokens": int(data["options"]["sacrifice_tokens"]),
        "strict_ends": int(data["options"]["strict_ends"]),
        "viewer": viewer_to_field(data["viewer"]),
        "phase": PHASES.index(data["phase"]),
        "pending": PENDING.index(data["pending"]),
        **{key: data[key] for key in ("round", "to_move", "actions_left", "passes", "closing")},
        "ending": CAUSES.index(ending["cause"]),
        "ending_seat": ending.get("seat", 0),
        "last_round": ending.get("last_round", 0),
        "supply_heads": _count(data["supply"]["heads"], COLORS),
        "supply_tails": _count(data["supply"]["tails"], COLORS),
        "supply_pairs": _count(data["supply"]["bodies"], PAIRS),
        "display": _numbers(data["display"]),
        "discarded": _numbers(data["discarded"]),
        "piles": [[_number(pile["top"]), pile["below"]] for pile in data["piles"]],
        "deck": data["deck"],
        "seats": [
            {
                **{f"stored_{part}": _count(seat["stored"][part], COLORS) for part in PARTS},
                **{key: _numbers(seat[key]) for key in ("hand", "shown", "discarded", "temples", "shown_temples")},
                "tokens": sum(1 << TOKENS.index(token) for token in seat["tokens"]),
                "coatls": [
                    {
                        "pieces": list(map(COLORS.index, coatl["pieces"])),
                        "head": int(coatl["head"]),
                        "tail": int(coatl["tail"]),
                        "prophecies": _numbers(coatl["prophecies"]),
                        "temple": _number(coatl["temple"]),
                        "closed": int(coatl["closed"]),
                    }
                    for coatl in seat["coatls"]
                ],
            }
            for seat in data["seats"]
        ],
        "memory": list(map(_memory_fields, data.get("memory", []))),
    }


def _memory_fields(entry: str) -> tuple[int, int, int]:
    """Return an entry of the memory as the number of its word, a seat and a face (or another number)."""
    word, *seat, card = entry.split()
    return (
        MEMORIES.index(word),
        int(seat[0]) if seat else 0,
        int(card) if word == "renew" else _number(card),
    )


def _check_version_and_ending(data: JsonObject, path: str) -> None:
    """Check what a shape cannot say."""
    if data.get("memory") == []:
        raise NotationError(
            f"{path}.memory: given []; expected an entry, or the key to be left out",
            reason="BAD_VALUE",
            path=f"{path}.memory",
        )
    check_version(data, VERSION, path)
    if data["ending"] is not None:
        cause = data["ending"]["cause"]
        check_shape(data["ending"], {"cause": str, facts.ENDING_KEYS[cause]: int}, f"{path}.ending")


def format_fields(fields: JsonObject) -> JsonObject:
    """Return the JSON object of checked fields, in canonical form; the inverse of `parse_fields`."""
    cause = CAUSES[fields["ending"]]
    values = {"third": fields["ending_seat"], "bodies": fields["last_round"]}
    return {
        "game": "coatl",
        "version": VERSION,
        "players": fields["num_players"],
        "viewer": viewer_from_field(fields["viewer"]),
        "options": {
            "sacrifice_tokens": bool(fields["sacrifice_tokens"]),
            "strict_ends": bool(fields["strict_ends"]),
        },
        "phase": PHASES[fields["phase"]],
        "pending": PENDING[fields["pending"]],
        **{key: fields[key] for key in ("round", "to_move", "actions_left", "passes")},
        "ending": {"cause": cause, facts.ENDING_KEYS[cause]: values[cause]} if cause else None,
        "closing": fields["closing"],
        "supply": {
            "heads": _spell(fields["supply_heads"]),
            "tails": _spell(fields["supply_tails"]),
            "bodies": [pair for pair, number in zip(PAIRS, fields["supply_pairs"], strict=True) for _ in range(number)],
        },
        "display": _names(fields["display"], FACES),
        "deck": fields["deck"],
        "discarded": _names(fields["discarded"], FACES),
        "piles": [{"top": TEMPLE_NAMES[top] if top >= 0 else "", "below": below} for top, below in fields["piles"]],
        "seats": [
            {
                "stored": {part: _spell(seat[f"stored_{part}"]) for part in PARTS},
                **{key: _names(seat[key], FACES) for key in ("hand", "shown", "discarded")},
                **{key: _names(seat[key], TEMPLE_NAMES) for key in ("temples", "shown_temples")},
                "tokens": [token for bit, token in enumerate(TOKENS) if seat["tokens"] >> bit & 1],
                "coatls": [
                    {
                        "pieces": "".join(COLORS[color] for color in coatl["pieces"]),
                        "head": bool(coatl["head"]),
                        "tail": bool(coatl["tail"]),
                        "prophecies": _names(coatl["prophecies"], FACES),
                        "temple": TEMPLE_NAMES[coatl["temple"]] if coatl["temple"] >= 0 else "",
                        "closed": bool(coatl["closed"]),
                    }
                    for coatl in seat["coatls"]
                ],
            }
            for seat in fields["seats"]
        ],
        **({"memory": list(map(_memory_entry, fields["memory"]))} if fields["memory"] else {}),
    }


def _memory_entry(fields: tuple[int, int, int]) -> str:
    """Return the text of an entry of the memory; the inverse of `_memory_fields`."""
    number, seat, card = fields
    word = MEMORIES[number]
    if word == "renew":
        return f"renew {card}"
    (name,) = _names([card], FACES)
    return f"{word} {name}" if word in ("reveal", "public", "across") else f"{word} {seat} {name}"


def _count(entries: Iterable[str], names: Sequence[str]) -> list[int]:
    return [list(entries).count(name) for name in names]


def _spell(counts: Iterable[int]) -> str:
    return "".join(color * number for color, number in zip(COLORS, counts, strict=True))


def _number(card: str) -> int:
    """Return the number of a face or a temple; -1 for one that is hidden or not there."""
    return -1 if card in ("", HIDDEN) else int(card[1:])


def _numbers(cards: Iterable[str]) -> list[int]:
    """Return the numbers of cards ascending, hidden ones (-1) last."""
    return sorted(map(_number, cards), key=lambda number: (number < 0, number))


def _names(numbers: Iterable[int], names: Sequence[str]) -> list[str]:
    return [names[number] if number >= 0 else HIDDEN for number in numbers]


def view(data: JsonObject, seat: int | None) -> JsonObject:
    """Return a seat's view, with ``?`` for what is hidden from it; see `mexica_ai.game.contract.Views`."""
    data = format_fields(parse_fields(data))
    check_viewer(data, seat)
    for index, other in enumerate(data["seats"]):
        if index != seat:
            other["hand"] = _hidden_but(other["hand"], other["shown"])
            other["discarded"] = _hidden_but(other["discarded"], [])
            other["temples"] = _hidden_but(other["temples"], other["shown_temples"])
    if "memory" in data:
        data["memory"] = [_hide_memory(entry, seat) for entry in data["memory"]]
    return data | {"viewer": SPECTATOR if seat is None else seat}


def _hide_memory(entry: str, viewer: int | None) -> str:
    word, owner, *_ = entry.split()
    is_hidden = word in ("discard", "deal", "private") and int(owner) != viewer
    return f"{word} {owner} {HIDDEN}" if is_hidden else entry


def _hidden_but(cards: list[str], shown: list[str]) -> list[str]:
    return [*shown, *[HIDDEN] * (len(cards) - len(shown))]


# --- new games


def new_state(
    players: int, seed: int, *, sacrifice_tokens: bool | None = None, strict_ends: bool | None = None
) -> State:
    """Deal a new game: the position in which seat 0 chooses the prophecies that it keeps.

    Parameters
    ----------
    players : int
        2-4.
    seed : int
        Decides the deal: the supply, the prophecies and the temples.
    sacrifice_tokens : bool, optional
        Whether every seat has the three sacrifice tokens; by default it has.
    strict_ends : bool, optional
        Whether "not next to" counts as broken at the open end of an unfinished Coatl (D7); by default it does
        not.

    Raises
    ------
    NotationError
        If an argument is of the wrong type.
    PositionError
        If an argument is out of range.
    """
    return state_from_fields(deal(players, seed, sacrifice_tokens=sacrifice_tokens, strict_ends=strict_ends))


def has_one_world(state: State) -> bool:
    """Return whether everything but the order of decks and bags is known."""
    return viewer(state) is None


def viewer(state: State) -> int | None:
    """Return the seat whose view the position is, SPECTATOR for a spectator's, or None if everything is known."""
    return viewer_from_field(state_to_fields(state)["viewer"])


def world_of(state: State, seed: int) -> State:
    """Return a full position that agrees with a view; see `Views.world_of`."""
    world = state.copy()
    world.determinize(state_to_fields(state)["viewer"], seed)
    found = without_viewer(world)
    # A seat that completes a Coatl holds a prophecy for it; no card of some views is one (NO_WORLD).
    if found.current_player < 0 or found.legal_actions():
        return found
    raise PositionError("position: no hand was found with which the seat to move can go on", reason="NO_WORLD")

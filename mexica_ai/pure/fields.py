"""The fields of a record: what a state of a game in Python holds, and how it lies in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cext.core.contract import pyops
from cext.core.contract.pyops import SEEN_BY_ALL, SEEN_BY_NOBODY, SEEN_BY_OWNER
from mexica_ai.game.schema import SEATS as OBSERVED_SEATS
from mexica_ai.game.schema import Field, Schema

SEATS = -1  # the first axis of a field: an entry for each seat
ALL, OWNER, NOBODY = SEEN_BY_ALL, SEEN_BY_OWNER, SEEN_BY_NOBODY

_TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "i8")
_HEAD = ("game", "version", "players", "to_move", "turn", "viewer")  # of records and of their JSON form


class _Shaped:
    """What all kinds of fields have: a shape, whose first axis may be `SEATS`."""

    def __init__(self, *shape: int) -> None:
        if len(shape) > pyops.LIMITS["dims"] or any(length < 1 for length in shape[1:]) or 0 in shape[:1]:
            limit = pyops.LIMITS["dims"]
            raise ValueError(
                f"a field of shape {shape}; expected at most {limit} lengths from 1, the first may be SEATS"
            )
        self.shape = shape

    @property
    def by_seat(self) -> bool:
        """Whether there is an entry for each seat."""
        return self.shape[:1] == (SEATS,)


class Numbers(_Shaped):
    """An integer, or lists of integers of fixed lengths.

    Parameters
    ----------
    *shape : int
        None for one number. The first may be `SEATS`.
    low, high : int
        The smallest and the largest.
    """

    def __init__(self, *shape: int, low: int = 0, high: int = 255) -> None:
        super().__init__(*shape)
        if not -(2**62) <= low < high <= 2**62:
            raise ValueError(f"numbers from {low} to {high}; expected low < high, both of at most 62 bits")
        self.low, self.high = low, high


class Flag(Numbers):
    """True or False, or lists of them of fixed lengths."""

    def __init__(self, *shape: int) -> None:
        super().__init__(*shape, low=0, high=1)


class Cards(_Shaped):
    """Cards, tokens or tiles of known kinds, of which there are always as many as `PureGame.cards` says.

    Parameters
    ----------
    *shape : int
        The last length is the most cards that may lie there: a list that is as long as there are cards.
    seen_by : int
        ALL; OWNER, the seat of the first axis, which is `SEATS` then; or NOBODY. Who does not see the cards sees how
        many there are.
    ordered : bool
        Whether their order matters, as in a pile of which the last card is on top. By default they are kept sorted.
    deck : str
        Which cards, if `PureGame.cards` has several decks.
    """

    def __init__(self, *shape: int, seen_by: int = ALL, ordered: bool = False, deck: str = "") -> None:
        super().__init__(*shape)
        if not shape or shape[-1] == SEATS:
            raise ValueError(f"cards of shape {shape}; expected their largest number as the last length")
        if seen_by not in (ALL, OWNER, NOBODY) or (seen_by == OWNER and not self.by_seat):
            raise ValueError("cards that OWNER sees need SEATS as their first axis")
        self.seen_by, self.ordered, self.deck = seen_by, ordered, deck


AnyField: TypeAlias = Numbers | Cards


@dataclass(frozen=True)
class Layout:
    """The memory of a state.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the whole state.
    fields : list of dict
        As `cext.core.contract.pyops.PythonRules` takes them.
    kinds : list of (str, int, int)
        Name, deck and number of each kind of cards.
    """

    dtype: np.dtype[np.void]
    fields: list[dict[str, Any]]
    kinds: list[tuple[str, int, int]]


def decks_of(cards: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the decks of `PureGame.cards` by name; one that stands for all is named ""."""
    if any(isinstance(value, Mapping) for value in cards.values()):
        return {name: dict(kinds) for name, kinds in cards.items()}
    return {"": dict(cards)} if cards else {}


def lay_out(record: Mapping[str, AnyField], cards: Mapping[str, Any], max_players: int) -> Layout:
    """Return where the fields of a record lie. Raises ValueError if they cannot be laid out."""
    decks = decks_of(cards)
    kinds = [(name, deck, number) for deck, each in enumerate(decks.values()) for name, number in each.items()]
    names = [name for name, _, _ in kinds]
    for name, _, number in kinds:
        if not name or name == "?" or " " in name or not name.isascii() or not name.isprintable():
            raise ValueError(f"cards: a kind is named {name!r}; expected a printable ASCII word")
        if names.count(name) > 1 or not 1 <= number <= 255:
            raise ValueError(f"cards: {number} of {name!r}, named {names.count(name)} times; expected 1 to 255, once")
    for what, given in (("kinds", len(kinds)), ("fields", len(record))):
        if given > pyops.LIMITS[what]:
            raise ValueError(f"{given} {what}; expected at most {pyops.LIMITS[what]}")
    types = [_type_of(field) for field in record.values()]
    shapes = [tuple(max_players if length == SEATS else length for length in field.shape) for field in record.values()]
    head = [("_head", "u1", pyops.HEAD_SIZE)]
    whole = [*head, *((name, *rest) for name, *rest in zip(record, types, shapes, strict=True))]
    dtype = np.dtype(whole, align=True)
    size = -(-dtype.itemsize // 64) * 64
    dtype = np.dtype(
        {
            "names": list(dtype.names or ()),
            "formats": [dtype[name] for name in dtype.names or ()],
            "offsets": [dtype.fields[name][1] for name in dtype.names or ()] if dtype.fields else [],
            "itemsize": size,
        }
    )
    fields = [
        _described(name, field, shape, dtype, list(decks))
        for (name, field), shape in zip(record.items(), shapes, strict=True)
    ]
    hidden = sum(int(np.prod(field["dims"])) for field in fields if field["seen_by"] != ALL)
    if hidden > pyops.LIMITS["hidden"]:
        raise ValueError(f"room for {hidden} hidden cards; expected at most {pyops.LIMITS['hidden']}")
    return Layout(dtype, fields, kinds)


def _type_of(field: AnyField) -> str:
    if isinstance(field, Cards):
        return "u1"
    for name in _TYPES:
        info = np.iinfo(name)
        if info.min <= field.low and field.high <= info.max:
            return name
    raise AssertionError(field)


def _described(
    name: str, field: AnyField, dims: tuple[int, ...], dtype: np.dtype[np.void], decks: Sequence[str]
) -> dict[str, Any]:
    is_cards = isinstance(field, Cards)
    if not name.isidentifier() or name.startswith("_") or name in _HEAD:
        raise ValueError(f"the field {name!r}; expected another name")
    deck = 0
    if isinstance(field, Cards):
        if field.deck not in decks and not (field.deck == "" and len(decks) == 1):
            raise ValueError(f"the field {name!r} holds cards of deck {field.deck!r}; expected one of {list(decks)}")
        deck = decks.index(field.deck) if field.deck in decks else 0
    assert dtype.fields is not None
    base = dtype.fields[name][0].base
    return {
        "name": name,
        "offset": dtype.fields[name][1],
        "size": base.itemsize,
        "is_signed": base.kind == "i",
        "is_flag": isinstance(field, Flag),
        "is_cards": is_cards,
        "is_sorted": isinstance(field, Cards) and not field.ordered,
        "by_seat": field.by_seat,
        "seen_by": field.seen_by if isinstance(field, Cards) else ALL,
        "deck": deck,
        "dims": dims,
        "low": 0 if isinstance(field, Cards) else field.low,
        "high": 255 if isinstance(field, Cards) else field.high,
    }


def schema_of(game: str, version: int, record: Mapping[str, AnyField], kinds: Sequence[str]) -> Schema:
    """Return the layout of observations, as `py_observe` of ``pyops.pyx`` writes them."""
    found = []
    for name, field in record.items():
        shape = (OBSERVED_SEATS, *field.shape[1:]) if field.by_seat else field.shape
        if isinstance(field, Cards):
            per_row = len(kinds) * (2 if field.ordered else 1) + (field.seen_by != ALL)
            said = f"how many of {', '.join(kinds[:3])}{', ...' if len(kinds) > 3 else ''}"
            said += "; then 1 for the last card" if field.ordered else ""
            said += "; then how many are not seen" if field.seen_by != ALL else ""
            found.append(Field(name, (*shape[:-1], per_row), said))
        else:
            scale = float(max(abs(field.low), abs(field.high)))
            found.append(Field(name, shape, f"{name} as it stands", scale))
    return Schema(game, version, found)

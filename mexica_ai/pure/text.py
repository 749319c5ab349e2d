"""The JSON form of a record: strict reading, and writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from mexica_ai.game.text_forms import SPECTATOR
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, Nullable, Shape, check_shape, check_version, choice
from mexica_ai.pure.fields import ALL, NOBODY, AnyField, Cards, Flag, decks_of

HIDDEN = "?"


def shape_of(name: str, record: Mapping[str, AnyField], cards: Mapping[str, Any], has_views: bool) -> dict[str, Shape]:
    """Return the shape of a JSON position."""
    shape: dict[str, Shape] = {"game": choice(name), "version": int, "players": int, "to_move": int}
    if has_views:
        shape["viewer"] = Nullable(int)
    decks = decks_of(cards)
    for key, field in record.items():
        one: Shape = bool if isinstance(field, Flag) else int
        if isinstance(field, Cards):
            kinds = decks[field.deck] if field.deck in decks else next(iter(decks.values()))
            one = choice(*kinds, *(() if field.seen_by == ALL else (HIDDEN,)))
        for _ in field.shape:
            one = [one]
        shape[key] = one
    return shape


def is_hidden(field: AnyField, seat: int, viewer: int | None) -> bool:
    """Return whether a viewer does not see the cards of a field that belong to a seat."""
    if not isinstance(field, Cards) or field.seen_by == ALL or viewer is None:
        return False
    return field.seen_by == NOBODY or seat != viewer


def rows_of(field: AnyField, value: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a field of cards, each with the index on the first axis."""

    def walk(value: Any, depth: int, first: int) -> Iterator[tuple[int, list[Any]]]:
        if depth == len(field.shape) - 1:
            yield first, value
            return
        for index, each in enumerate(value):
            yield from walk(each, depth + 1, index if depth == 0 else first)

    yield from walk(value, 0, 0)


class Reader:
    """Reads JSON positions of one game, and completes what a view hides.

    Parameters
    ----------
    name : str
    version : int
    record : mapping
        The fields.
    cards : mapping
        As `PureGame.cards`.
    max_players : int
    """

    def __init__(
        self, name: str, version: int, record: Mapping[str, AnyField], cards: Mapping[str, Any], max_players: int
    ) -> None:
        self.version, self.record, self.max_players = version, record, max_players
        self.decks = decks_of(cards)
        self.has_views = any(isinstance(field, Cards) and field.seen_by != ALL for field in record.values())
        self._shape = shape_of(name, record, cards, self.has_views)

    def read(self, data: JsonObject, path: str) -> dict[str, Any]:
        """Return the values of the fields, with some cards in place of those that are hidden.

        Raises
        ------
        NotationError, PositionError
            As `mexica_ai.game.contract.Text.parse_position`.
        """
        check_shape(data, self._shape, path)
        check_version(data, self.version, path)
        findings = Findings()
        players, viewer = data["players"], data.get("viewer")
        findings.check_range(f"{path}.players", players, 2, self.max_players)
        findings.raise_as(PositionError)
        findings.check_range(f"{path}.to_move", data["to_move"], 0, players - 1)
        if viewer is not None:
            findings.check_range(f"{path}.viewer", viewer, SPECTATOR, players - 1)
        for key, field in self.record.items():
            self._check(findings, f"{path}.{key}", field, data[key], 0, players)
        findings.raise_as(PositionError)
        values = {key: _copied(data[key]) for key in self.record}
        for deck, kinds in self.decks.items():
            self._complete(findings, path, deck, kinds, values, viewer)
        findings.raise_as(PositionError)
        return values

    def _check(self, findings: Findings, path: str, field: AnyField, value: Any, depth: int, players: int) -> None:
        """Check lengths and ranges from an axis on."""
        if depth == len(field.shape):
            if not isinstance(field, (Cards, Flag)):
                findings.check_range(path, value, field.low, field.high)
            return
        if isinstance(field, Cards) and depth == len(field.shape) - 1:
            if len(value) > field.shape[-1]:
                findings.add(path, "COUNT", f"has {len(value)} cards; expected {field.shape[-1]} at most")
            return
        length = players if depth == 0 and field.by_seat else field.shape[depth]
        if len(value) != length:
            findings.add(path, "COUNT", f"has {len(value)} entries; expected {length}")
            return
        for index, each in enumerate(value):
            self._check(findings, f"{path}[{index}]", field, each, depth + 1, players)

    def _complete(
        self, findings: Findings, path: str, deck: str, kinds: Mapping[str, int], values: dict[str, Any],
        viewer: int | None,
    ) -> None:  # fmt: skip
        """Replace the hidden cards of a deck by those that are missing, in order; check how many there are of each."""
        found: Counter[str] = Counter()
        holes = []
        for key, field in self.record.items():
            if not isinstance(field, Cards) or (field.deck != deck and len(self.decks) > 1):
                continue
            for seat, row in rows_of(field, values[key]):
                should_hide = is_hidden(field, seat, viewer)
                if any((card == HIDDEN) != should_hide for card in row):
                    expected = f'only "{HIDDEN}"' if should_hide else f'no "{HIDDEN}"'
                    whose = "hidden from the viewer" if should_hide else "seen by the viewer"
                    findings.add(f"{path}.{key}", "HIDDEN", f"has cards that are {whose}; expected {expected} there")
                    return
                if should_hide:
                    holes.append(row)
                else:
                    found.update(row)
        missing = [kind for kind, number in kinds.items() for _ in range(number - found[kind])]
        for kind, number in found.items():
            if number > kinds[kind]:
                findings.add(path, "CARDS", f'has the card "{kind}" {number} times; expected {kinds[kind]}')
        num_holes = sum(map(len, holes))
        if len(missing) != num_holes:
            some = ", ".join(dict.fromkeys(missing[:100])) or "none"
            findings.add(path, "CARDS", f"lacks {len(missing)} cards ({some}); expected {num_holes}, those not seen")
        else:
            for row in holes:
                row[:], missing = missing[: len(row)], missing[len(row) :]


def _copied(value: Any) -> Any:
    return [_copied(each) for each in value] if isinstance(value, list) else value


def hide(record: Mapping[str, AnyField], data: JsonObject, viewer: int) -> JsonObject:
    """Return a JSON position with `HIDDEN` for the cards that a seat, or a spectator, does not see."""
    data = {key: _copied(value) for key, value in data.items()}
    for key, field in record.items():
        if isinstance(field, Cards) and field.seen_by != ALL:
            for seat, row in rows_of(field, data[key]):
                if is_hidden(field, seat, viewer):
                    row[:] = [HIDDEN] * len(row)
    return data


def bad_action(said: str, path: str = "action") -> NotationError:
    """Return the error for what is no action."""
    return NotationError(f"{path}: {said}", reason="BAD_ACTION", path=path)

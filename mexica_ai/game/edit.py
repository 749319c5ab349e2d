"""Editing positions on their picture and by controls. A game's part is in ``GAME/edit.py``.

An editor describes its palette as data: *brushes*, which are used on the targets of the picture, and *controls*, each
for a value of the JSON position. It applies commands to a position, which need not be valid. So a page that shows the
palette and sends commands knows no game. A command is one of

- ``{"brush": NAME, "target": TARGET}``: use a brush on a target of the picture;
- ``{"brush": NAME, "targets": [TARGET, ...]}``: draw it over targets, one step for all;
- ``{"from": TARGET, "to": TARGET}``: move what lies there;
- ``{"path": PATH, "value": VALUE}``: set the value of a control;
- ``{"path": PATH, "item": ITEM, "count": N}``: set the number of an item in a bag;
- ``{"path": PATH, "item": ITEM, "at": INDEX}``: put an item into a row;
- ``{"path": PATH, "remove": INDEX}``: take an entry out of a row;
- ``{"path": PATH}``: press a button.
"""

from __future__ import annotations

import contextlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from mexica_ai.draw.svg import document
from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import check_shape, quote, readable

BRUSH = "brush:"
_MAX_STROKE = 512  # targets that a brush is drawn over at a time
_MAX_COUNT = 99  # of one item in a bag
_MAX_ENTRIES = 64  # of a list that are shown as faulty
_ICON = 28  # pixels
_KEY = re.compile(r"`([a-z_]+)`|\b([a-z]+(?:_[a-z]+)+)\b")  # a key of the JSON form in a message
_COMMANDS: tuple[dict[str, Any], ...] = (
    {"brush": str, "target": str},
    {"brush": str, "targets": [str]},
    {"from": str, "to": str},
    {"path": str, "value": object},
    {"path": str, "item": object, "count": int},
    {"path": str, "item": object, "at": int},
    {"path": str, "remove": int},
    {"path": str},
)


@dataclass(frozen=True)
class Brush:
    """A piece or mark that a click puts on the picture, or takes from it.

    Parameters
    ----------
    name : str
        Unique in the palette.
    key : str
        A letter or a digit that chooses it, unique in the palette.
    label : str
        Caption of its button.
    icon : str
        Elements of a picture of 28 x 28, with classes for colours.
    strokes : bool
        Whether a drag draws it over all targets on its way; else a drag moves what lies there.
    """

    name: str
    key: str
    label: str
    icon: str = ""
    strokes: bool = False


@dataclass(frozen=True)
class Control:
    """A field, a menu or a counter for one value of the JSON position.

    Parameters
    ----------
    kind : str
        ``number``, ``flag``, ``choice`` (one of some values), ``bag`` (a list or a string in which each item has a
        number), ``row`` (a list or a string in which the order may count) or ``button``.
    path : str
        Where the value is, such as ``seats[0].score``. Of a button: its action.
    label : str
        Its caption.
    value : object
        The current value; None for a button.
    low, high, step : int or float
        Of a number: what the field offers. Other numbers are faults of the position, not of the command.
    choices : sequence of (value, label)
        The values of a choice, the items of a bag or a row.
    is_ordered : bool
        Whether the order in a row is up to the person.
    """

    kind: str
    path: str
    label: str
    value: Any = None
    low: int = 0
    high: int = 0
    step: float = 1
    choices: Sequence[tuple[Any, str]] = ()
    is_ordered: bool = False


@dataclass(frozen=True)
class Group:
    """Controls under one heading."""

    title: str
    controls: Sequence[Control]


def number(fields: JsonObject, path: str, label: str, low: int, high: int, step: float = 1) -> Control:
    """Return a control for a number of a position."""
    return Control("number", path, label, value_at(fields, path), low, high, step)


def flag(fields: JsonObject, path: str, label: str) -> Control:
    """Return a control for true or false."""
    return Control("flag", path, label, value_at(fields, path))


def choice(fields: JsonObject, path: str, label: str, choices: Iterable[Any]) -> Control:
    """Return a control for one of some values; each is a value, or a value and its label."""
    return Control("choice", path, label, value_at(fields, path), choices=_labelled(choices))


def bag(fields: JsonObject, path: str, label: str, items: Iterable[Any]) -> Control:
    """Return a control that counts each of a few items."""
    return Control("bag", path, label, value_at(fields, path) or [], choices=_labelled(items))


def row(fields: JsonObject, path: str, label: str, items: Iterable[Any], *, is_ordered: bool = False) -> Control:
    """Return a control that shows entries one after another, with a menu for more."""
    value = value_at(fields, path) or []
    return Control("row", path, label, value, choices=_labelled(items), is_ordered=is_ordered)


def button(path: str, label: str) -> Control:
    """Return a button."""
    return Control("button", path, label)


def seats(players: int) -> list[tuple[int, str]]:
    """Return the seats as values of a choice; people count them from 1."""
    return [(seat, f"seat {seat + 1}") for seat in range(players)]


def _labelled(choices: Iterable[Any]) -> tuple[tuple[Any, str], ...]:
    return tuple(entry if isinstance(entry, tuple) else (entry, str(entry)) for entry in choices)


def steps_of(path: str) -> list[str | int]:
    """Return the keys and indices of a path such as ``seats[0].score``; ``$.`` before it is left out."""
    steps = re.findall(r"\[(\d{1,6})\]|([A-Za-z_]\w*)", path.removeprefix("$"))
    return [int(index) if index else key for index, key in steps]


def value_at(fields: Any, path: str) -> Any:
    """Return the value at a path, None if there is none."""
    for step in steps_of(path):
        if isinstance(step, int):
            fields = fields[step] if isinstance(fields, list) and step < len(fields) else None
        else:
            fields = fields.get(step) if isinstance(fields, dict) else None
    return fields


def entries_at(data: Any, path: str, index: Sequence[str | int] = ()) -> list[Any]:
    """Return the first entries of a list or a string of a position, which may be faulty.

    Parameters
    ----------
    data : object
        The position.
    path : str
        Where the list should be.
    index : sequence of (int or str)
        The rest of the path of a fault: if it begins with an index, only that entry is returned.
    """
    found = value_at(data, path)
    if not isinstance(found, (list, str)):
        return []
    first, last = (index[0], index[0] + 1) if index and isinstance(index[0], int) else (0, _MAX_ENTRIES)
    return list(found[first:last])


def set_at(fields: JsonObject, path: str, value: Any) -> None:
    """Replace the value at a path, whose parent exists."""
    *way, last = steps_of(path)
    parent: Any = fields
    for step in way:
        parent = parent[step]
    parent[last] = value


class Editor(Protocol):
    """The editor of a game's positions; ``EDITOR`` of ``GAME/edit.py`` is an instance.

    Attributes
    ----------
    game : str
        The name of the game.
    shape : dict
        The shape of its JSON position (see `mexica_ai.io.strict`). The functions that a game overrides are called
        with positions that have it, but need not be valid.
    """

    game: str
    shape: dict[str, Any]

    @abstractmethod
    def brushes(self, fields: JsonObject) -> list[Brush]:
        """Return what can be put on the picture."""

    @abstractmethod
    def groups(self, fields: JsonObject) -> list[Group]:
        """Return the controls."""

    @abstractmethod
    def targets(self, data: Any, path: str) -> list[str]:
        """Return the targets of the picture that a fault concerns, or ``brush:`` and a name where the piece is missing.

        Parameters
        ----------
        data : object
            The position, perhaps without the right shape.
        path : str
            Of a value of the position, without ``$.``.
        """

    def click(self, fields: JsonObject, brush: str, target: str) -> None:
        """Use a brush on a target; changes `fields`. May raise NotationError (`refuse`)."""
        return None

    def has(self, fields: JsonObject, brush: str, target: str) -> bool:
        """Return whether a target has what a brush draws over it, so that drawing changes nothing there."""
        return False

    def move(self, fields: JsonObject, start: str, end: str) -> None:
        """Move what lies on a target to another one; changes `fields`. May raise NotationError (`refuse`)."""
        return None

    def press(self, fields: JsonObject, path: str) -> None:
        """Do what a button says; changes `fields`."""
        return None

    def set(self, fields: JsonObject, path: str, value: Any) -> None:
        """Set the value of a control; changes `fields`."""
        set_at(fields, path, value)

    def changed(self, fields: JsonObject, path: str) -> None:
        """Adapt what follows from a value that was set; changes `fields`."""

    def tidy(self, fields: JsonObject) -> None:
        """Write lists in their order, and what the rest determines; changes `fields` after each command."""

    def name(self, data: Any, path: str) -> str:
        """Return what a path, without ``$.``, is to people, where neither a control nor its keys tell."""
        return ""

    def say(self, text: str) -> str:
        """Return what a fault says, with words in place of codes that only the JSON form has."""
        return text

    def drawable(self, data: Any) -> JsonObject:
        """Return what is drawn of a position, which may be a faulty one. Default: what has the shape."""
        return readable(data, self.shape)

    # --- for all games

    def palette(self, data: Any) -> JsonObject:
        """Return the brushes and the controls for a position, as JSON: ``brushes`` and ``groups``."""
        fields = readable(data, self.shape)
        brushes = [
            {**asdict(brush), "icon": document(_ICON, _ICON, brush.icon, brush.label)} for brush in self.brushes(fields)
        ]
        return {"brushes": brushes, "groups": [asdict(group) for group in self.groups(fields)]}

    def edit(self, data: Any, command: object) -> JsonObject:
        """Return a position after a command (see the module).

        Unreadable parts of the position are lost. The result has the shape of a position, but need not be valid.

        Raises
        ------
        NotationError
            If it is not a command, or not one of the palette of this position; reason BAD_COMMAND.
        """
        fields = readable(data, self.shape)
        fields |= {"game": self.game, "version": 1}
        self._apply(fields, _checked(command))
        self.tidy(fields)
        return fields

    def places(self, data: Any, paths: Iterable[str]) -> list[dict[str, list[str]]]:
        """Return what faults concern: ``targets`` of the picture, and the paths of ``controls``.

        Parameters
        ----------
        data : object
            The position.
        paths : iterable of str
            Of the faults, such as ``$.seats[0].score``.
        """
        groups = self.groups(readable(data, self.shape))
        controls = [control.path for group in groups for control in group.controls]
        return [self._place(data, path.removeprefix("$").removeprefix("."), controls) for path in paths]

    def words(self, data: Any, path: str, text: str) -> tuple[str, str]:
        """Return the place and the text of a fault as people say them.

        Parameters
        ----------
        data : object
            The position.
        path : str
            Of the fault, without ``$.``.
        text : str
            What it says of the place.
        """
        groups = self.groups(readable(data, self.shape))
        place = self.name(data, path) or _name_of_control(groups, path) or name_of_path(path)
        labels = {str(steps_of(control.path)[-1]): control.label for group in groups for control in group.controls}

        def label(match: re.Match[str]) -> str:
            key = match[1] or match[2]
            return f"“{labels[key]}”" if key in labels else match[0]

        return place, _KEY.sub(label, self.say(text))

    def _place(self, data: Any, path: str, controls: list[str]) -> dict[str, list[str]]:
        found = [control for control in controls if _is_within(path, control)]
        found = found or [control for control in controls if _is_within(control, path)]
        return {"targets": sorted(set(self.targets(data, path)))[:_MAX_ENTRIES], "controls": found}

    def _apply(self, fields: JsonObject, command: JsonObject) -> None:
        if "brush" in command:
            if command["brush"] not in [brush.name for brush in self.brushes(fields)]:
                raise refuse("brush", f"there is no brush {quote(command['brush'])}; expected one of the palette")
            if "target" in command:
                self.click(fields, command["brush"], command["target"])
            else:
                self._draw_over(fields, command["brush"], command["targets"])
        elif "from" in command:
            self.move(fields, command["from"], command["to"])
        else:
            self._set(fields, command)

    def _draw_over(self, fields: JsonObject, brush: str, targets: list[str]) -> None:
        if len(targets) > _MAX_STROKE or not next(one for one in self.brushes(fields) if one.name == brush).strokes:
            raise refuse(
                "targets", f"given {len(targets)}; expected {_MAX_STROKE} at most, of a brush that can be drawn"
            )
        for target in dict.fromkeys(targets):
            if not self.has(fields, brush, target):
                with contextlib.suppress(NotationError):  # the way may lead over targets on which it cannot be used
                    self.click(fields, brush, target)

    def _set(self, fields: JsonObject, command: JsonObject) -> None:
        path = command["path"]
        controls = {control.path: control for group in self.groups(fields) for control in group.controls}
        control = controls.get(path)
        kinds = {
            "value": ("number", "flag", "choice"),
            "count": ("bag",),
            "at": ("row",),
            "remove": ("row",),
            "path": ("button",),
        }
        verb = next(verb for verb in kinds if verb in command)
        if control is None or control.kind not in kinds[verb]:
            raise refuse("path", f"there is no such control at {quote(path)}; expected one of the palette")
        if verb == "path":
            self.press(fields, path)
            return
        if verb == "value":
            value = _checked_value(control, command["value"])
        elif verb == "remove":
            value = control.value[: command["remove"]] + control.value[command["remove"] + 1 :]
        else:
            value = _with_item(control, command)
        self.set(fields, path, value)
        self.changed(fields, path)


def name_of_path(path: str) -> str:
    """Return a path in words: ``temples[2].at`` is temple 3, ``seats[0].action_tokens`` is seat 1, action tokens."""
    names: list[str] = []
    for step in steps_of(path):
        if isinstance(step, str):
            names.append(step.replace("_", " "))
        elif names:
            names[-1] = f"{_singular(names[-1])} {step + 1}"
    return ", ".join(names[:-1] if len(names) > 1 and names[-1] == "at" else names)


def _singular(noun: str) -> str:
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def _name_of_control(groups: Sequence[Group], path: str) -> str:
    """Return the caption of the control at a path, with that of its group if others have the same; "" without one."""
    labels = [control.label for group in groups for control in group.controls]
    for group in groups:
        for control in group.controls:
            if _is_within(path, control.path):
                rest = steps_of(path[len(control.path) :])
                entry = f", entry {rest[0] + 1}" if rest and isinstance(rest[0], int) else ""
                title = f"{group.title}, " if labels.count(control.label) > 1 else ""
                return f"{title}{control.label}{entry}"
    return ""


def refuse(where: str, message: str) -> NotationError:
    """Return the error for a command that cannot be applied."""
    return NotationError(f"command.{where}: {message}", reason="BAD_COMMAND", path=f"command.{where}")


def _is_within(path: str, other: str) -> bool:
    """Return whether a path is another one or leads into it; no path leads into that of the whole position."""
    return bool(other) and (path == other or path.startswith((f"{other}.", f"{other}[")))


def _checked(command: object) -> JsonObject:
    if isinstance(command, dict):
        for form in _COMMANDS:
            if set(command) == set(form):
                check_shape(command, form, "command")
                for key in ("at", "remove"):
                    if command.get(key, 0) < 0:
                        raise refuse(key, f"given {quote(command[key])}; expected 0 or more")
                return command
    raise NotationError(
        f'command: given {quote(command)}; expected an object such as {{"brush": NAME, "target": TARGET}}',
        reason="BAD_COMMAND",
        path="command",
    )


def _checked_value(control: Control, value: Any) -> Any:
    if control.kind == "flag":
        fits, expected = isinstance(value, bool), "true or false"
    elif control.kind == "choice":
        values = [choice for choice, _ in control.choices]
        fits = any(type(value) is type(choice) and value == choice for choice in values)
        expected = "one of its choices"
    else:
        kinds = (int,) if control.step == 1 else (int, float)
        fits = type(value) in kinds and abs(value) <= 10**6 and value % control.step == 0
        expected = "an integer" if control.step == 1 else f"a number in steps of {control.step:g}"
        if fits and float(value).is_integer():
            value = int(value)
    if not fits:
        raise refuse("value", f"given {quote(value)} for {control.label}; expected {expected}")
    return value


def _with_item(control: Control, command: JsonObject) -> Any:
    """Return the value of a bag or a row after a command that puts an item into it."""
    item, value = command["item"], control.value
    if not any(type(item) is type(choice) and item == choice for choice, _ in control.choices):
        raise refuse("item", f"given {quote(item)} for {control.label}; expected one of its choices")
    one = item if isinstance(value, str) else [item]
    if "at" in command:
        return value[: command["at"]] + one + value[command["at"] :]
    count = command["count"]
    if not 0 <= count <= _MAX_COUNT:
        raise refuse("count", f"given {quote(count)}; expected 0 to {_MAX_COUNT}")
    if isinstance(value, str):
        return value.replace(item, "") + item * count
    return [entry for entry in value if entry != item] + [item] * count

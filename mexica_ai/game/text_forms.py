"""Functions that the text forms and boards of several games share."""

import textwrap
from collections.abc import Callable, Iterable, Sequence

from mexica_ai.game.messages import say
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, quote
from mexica_ai.io.terminal import NO_BREAK

COLUMNS = 80  # of a board
SPECTATOR = -1  # the key `viewer` of what every seat may see
_SPECTATOR_FIELD = 254  # the same in the fields of a compiled state


def canonical_text(text: str, action: int, parse_action: Callable[[str], int]) -> str:
    """Return the text written for an action's integer, if it reads back as the same action.

    Raises
    ------
    NotationError
        Reason BAD_ACTION, if it does not: then the integer is not an action.
    """
    try:
        if parse_action(text) == action:
            return text
    except NotationError:
        pass
    raise NotationError(f"{action:#x} is not the integer of an action", reason="BAD_ACTION")


def viewer_name(viewer: int | None) -> str:
    """Return whose view a position is, in words."""
    return "a spectator" if viewer == SPECTATOR else f"seat {viewer}"


def viewer_to_field(viewer: int | None) -> int:
    """Return the field `viewer` of a compiled state for the key `viewer` of a JSON position."""
    return -1 if viewer is None else _SPECTATOR_FIELD if viewer == SPECTATOR else viewer


def viewer_from_field(number: int) -> int | None:
    """Return the key `viewer` for a field; the inverse of `viewer_to_field`."""
    return None if number < 0 else SPECTATOR if number == _SPECTATOR_FIELD else number


def check_viewer(data: JsonObject, seat: object) -> None:
    """Check that a view can be made of a JSON position; that of a spectator (None) can be made of any.

    Raises
    ------
    NotationError
        If `seat` is not an integer.
    PositionError
        If there is no such seat (reason OUT_OF_RANGE), or the position is the view of another one (VIEWER_MISMATCH).
    """
    if seat is None:
        return
    findings = Findings()
    if type(seat) is not int:
        findings.add("seat", "WRONG_TYPE", f"given {quote(seat)}; expected an integer")
        findings.raise_as(NotationError)
    elif findings.check_range("seat", seat, 0, data["players"] - 1) and data["viewer"] not in (None, seat):
        findings.add(
            "position.viewer",
            "VIEWER_MISMATCH",
            f"given {data['viewer']}; expected null or {seat}, since one view does not show another",
        )
    findings.raise_as(PositionError)


def wrap_entries(label: str, entries: Iterable[str]) -> list[str]:
    """Return the lines of a label and entries; an entry is broken only if it is too long for a line."""
    text = "   ".join(entry.replace(" ", NO_BREAK) for entry in entries) or "-"
    indent = " " * len(label)
    lines = textwrap.wrap(text, COLUMNS, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines]


def count(number: float, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as ``1 card`` and ``2 cards``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(things: Sequence[str]) -> str:
    """Return things as a list in words, such as ``one, two and three``."""
    *most, last = things
    return say("{most} and {last}", most=", ".join(most), last=last) if most else last

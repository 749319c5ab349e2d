"""Checks that the text forms of several games share."""

from collections.abc import Callable

from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, quote


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


def check_viewer(data: JsonObject, seat: object) -> None:
    """Check that a seat's view can be made of a JSON position.

    Raises
    ------
    NotationError
        If `seat` is not an integer.
    PositionError
        If there is no such seat (reason OUT_OF_RANGE), or the position is the view of another one (VIEWER_MISMATCH).
    """
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

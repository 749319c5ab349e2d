"""The error of a request to the page, as programs read it and in words for people."""

from __future__ import annotations

import re
from typing import Any

from mexica_ai.game import registry
from mexica_ai.game.edit import name_of_path
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError, Violation

RETRY_S = 5.0  # default time until the next try

_ROOT = re.compile(r"\A(?:\$|command(?:\.\w+)?|request(?:\.position)?(?=[.\[]|\Z))")  # of paths
_TURN = re.compile(r"turns\[(\d{1,6})\](?:\[(\d{1,6})\])?|turn\[(\d{1,6})\]")
_SEAT = re.compile(r"""("(?:[^"\\]|\\.)*")|\b([Ss]eat) (\d)\b""")  # or what is quoted from the input
_PLACE = re.compile(r"line \d+,? column \d+")


class ApiError(Exception):
    """A request that has failed.

    Parameters
    ----------
    status : int
        The HTTP status.
    reason : str
        In capitals, for programs.
    message : str
        Its seats are counted from 0; people are told them from 1, unless `fields` has other `words`.
    retry_after_s : float, optional
        When to try again; by default after 5 s for the statuses 429 and 503.
    **fields
        Further keys of the body.
    """

    def __init__(
        self, status: int, reason: str, message: str, *, retry_after_s: float | None = None, **fields: Any
    ) -> None:
        super().__init__(message)
        self.status, self.reason, self.fields = status, reason, fields
        self.retry_after_s = RETRY_S if retry_after_s is None and status in (429, 503) else retry_after_s

    def to_json(self) -> dict[str, Any]:
        """Return the body of the response."""
        message = str(self)
        return {"reason": self.reason, "message": message, "words": _from_1(message), "violations": [], **self.fields}


def api_error(error: MexicaAIError, given: Any = None) -> ApiError:
    """Return an error of the package as one of a request.

    Parameters
    ----------
    error : MexicaAIError
    given : JSON value
        The position or the record that it is about, if that can be read.
    """
    status, retry_after_s = 422, None
    if isinstance(error, SearchError) and not error.reason.startswith(("INVALID_", "NO_")):
        status, retry_after_s = 503, error.retry_after_s or RETRY_S
    elif isinstance(error, NotationError) and error.path.startswith("request"):
        status = 400
    violations = [{**fault._asdict(), "words": in_words(fault, given)} for fault in error.violations]
    fields: dict[str, Any] = {"violations": violations}
    fields["words"] = in_words(Violation(error.path, error.reason, str(error)), given)
    if error.action_index is not None:
        fields["action_index"] = error.action_index
    return ApiError(status, error.reason, str(error), retry_after_s=retry_after_s, **fields)


def in_words(fault: Violation, given: Any = None) -> str:
    """Return a fault as people say it: with pieces and turns in place of paths, and seats counted from 1.

    Parameters
    ----------
    fault : Violation
    given : JSON value
        The position or the record that it is about, whose game has names for its parts.
    """
    path, text = fault.path, fault.message.removeprefix(f"{fault.path}: ")
    found = _PLACE.search(text)
    if fault.reason == "BAD_JSON" and path in ("$", "request"):
        where = f" ({found[0]})" if found else ""
        return f"This can be read neither as JSON nor as a position in one line nor as a move text{where}."
    if found:  # of a move text, which names its seats itself
        return text
    place, text = _place_in_words(_ROOT.sub("", path, count=1).removeprefix("."), text, given)
    text = _from_1(text)
    words = f"{place}: {text}" if place else text
    return words[:1].upper() + words[1:]


def _from_1(text: str) -> str:
    """Return a text with its seats counted from 1."""
    return _SEAT.sub(lambda match: match[1] or f"{match[2]} {int(match[3]) + 1}", text)


def _place_in_words(path: str, text: str, given: Any) -> tuple[str, str]:
    if match := _TURN.match(path):
        turn, action, alone = match.groups()
        place = f"action {int(alone) + 1}" if turn is None else f"turn {int(turn) + 1}"
        return place if action is None else f"{place}, action {int(action) + 1}", text
    is_start = path == "start" or path.startswith("start.")
    if isinstance(given, dict) and "start" in given:
        given = given["start"] if is_start else None
    rest = path.removeprefix("start").removeprefix(".") if is_start else path
    editor = None
    if isinstance(given, dict) and given.get("game") in registry.names():
        editor = registry.get(given["game"]).editor
    place, text = editor.words(given, rest, text) if editor and rest else (name_of_path(rest), text)
    return ", ".join(filter(None, ["first position" if is_start else "", place])), text

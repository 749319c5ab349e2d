"""The exceptions of mexica-ai, in plain Python so that the compiled layer can raise them.

Users import them from `mexica_ai` (or `mexica_ai.io.errors`). Every message is one line: the value, what was
expected, and where. Programs should read `reason`, `path`, `violations` and the indexes instead.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Violation(NamedTuple):
    """One invalid part of an input: its JSON path, the UPPER_SNAKE name of the requirement, and a message."""

    path: str
    reason: str
    message: str


class MexicaAIError(Exception):
    """Base of all errors that mexica-ai raises on purpose.

    Parameters
    ----------
    message : str
        One line for humans.
    reason : str, optional
        UPPER_SNAKE name for programs; each class has a default.
    path : str, optional
        JSON path of the offending value, such as ``$.seats[0].pilli``; empty if there is none.
    violations : sequence of Violation, optional
        All faults that were found, for inputs that can have more than one.
    turn_index, action_index : int, optional
        Index of the turn in the record, and of the action in the turn; None if not known.
    """

    default_reason = "ERROR"

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        path: str = "",
        violations: Sequence[Violation] = (),
        turn_index: int | None = None,
        action_index: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason or self.default_reason
        self.path = path
        self.violations = tuple(violations)
        self.turn_index = turn_index
        self.action_index = action_index


class NotationError(MexicaAIError, ValueError):
    """The input cannot be read: broken JSON, a wrong type, an unknown key or verb."""

    default_reason = "UNREADABLE"


class PositionError(MexicaAIError, ValueError):
    """The input can be read, but breaks an invariant; `violations` lists all faults that were found."""

    default_reason = "INVALID_POSITION"


class IllegalActionError(MexicaAIError, ValueError):
    """The action or turn can be read, but is not legal in this position."""

    default_reason = "ILLEGAL_ACTION"


class GameOverError(PositionError):
    """A turn was requested, but the game is over."""

    default_reason = "GAME_OVER"


class SearchError(MexicaAIError, RuntimeError):
    """A search could not run, or its arguments are invalid.

    Parameters
    ----------
    message : str
    retry_after_s : float, optional
        Seconds after which to retry, at least 0, as a server says; None if not known.
    **details
        As for `MexicaAIError`.
    """

    default_reason = "SEARCH_FAILED"

    def __init__(self, message: str, *, retry_after_s: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after_s = retry_after_s


class UnknownGameError(MexicaAIError, LookupError):
    """No registered game has this name."""

    default_reason = "UNKNOWN_GAME"

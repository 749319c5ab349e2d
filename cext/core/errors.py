"""The exceptions of mexica-ai, plain Python so that the compiled layer can raise them.

Users import them from `mexica_ai` (or `mexica_ai.errors`). Every message is one line that quotes what was
given and says what was expected and where; programs read `reason`, `path`, `violations` and the indexes
instead.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Violation(NamedTuple):
    """A broken requirement of an input: its JSON path, the requirement's UPPER_SNAKE name, and a message."""

    path: str
    reason: str
    message: str


class MexicaAIError(Exception):
    """Base of all errors that mexica-ai raises on purpose.

    Parameters
    ----------
    message : str
        One line for people.
    reason : str, optional
        UPPER_SNAKE name for programs; each class has a default.
    path : str, optional
        JSON path of the offending value, such as ``$.seats[0].pilli``; empty where there is none.
    violations : sequence of Violation, optional
        Everything that was found wrong, where more than one thing can be.
    turn_index, action_index : int, optional
        Place in a record's turns, and in a turn's actions; None where not known.
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
    """The input can be read, but breaks an invariant; `violations` lists every one that was found."""

    default_reason = "INVALID_POSITION"


class IllegalActionError(MexicaAIError, ValueError):
    """The action or turn can be read, but is not legal in this position."""

    default_reason = "ILLEGAL_ACTION"


class GameOverError(PositionError):
    """A turn was asked of a finished game."""

    default_reason = "GAME_OVER"


class SearchError(MexicaAIError, RuntimeError):
    """A search could not run, or was asked for with limits that make no sense.

    Parameters
    ----------
    message : str
    retry_after_s : float, optional
        Seconds after which a retry makes sense, at least 0; None where not known. A server says so.
    **details
        As for `MexicaAIError`.
    """

    default_reason = "SEARCH_FAILED"

    def __init__(self, message: str, *, retry_after_s: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after_s = retry_after_s


class UnknownGameError(MexicaAIError, LookupError):
    """No game of that name is registered."""

    default_reason = "UNKNOWN_GAME"

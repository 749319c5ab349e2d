"""What a request is refused with."""

from __future__ import annotations

from typing import Any

from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError

AWAY = ("UNAVAILABLE", "SHUTTING_DOWN", "DEADLINE_EXCEEDED")  # reasons of a server that does not answer
RETRY_S = 5.0  # when to ask such a server again, if it does not say


class Refusal(Exception):  # noqa: N818, it is an answer
    """An answer that is no success.

    Parameters
    ----------
    status : int
        Of HTTP.
    reason : str
        In capitals, for programs.
    message : str
        For persons.
    **more
        Other keys of the answer.
    """

    def __init__(self, status: int, reason: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.reason, self.more = status, reason, more

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"reason": self.reason, "message": str(self), "violations": [], **self.more}


def refusal_of(error: MexicaAIError) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return the status, the body and the headers that tell of an error of the package."""
    status = 422
    headers = {}
    if isinstance(error, SearchError) and not error.reason.startswith(("INVALID_", "NO_")):
        status = 503
        headers["Retry-After"] = str(max(1, round(error.retry_after_s or RETRY_S)))
    elif isinstance(error, NotationError) and error.path.startswith("request"):
        status = 400
    body = {
        "reason": error.reason,
        "message": str(error),
        "violations": [violation._asdict() for violation in error.violations],
    }
    if error.action_index is not None:
        body["action_index"] = error.action_index
    return status, body, headers

"""The error of a request to the page."""

from __future__ import annotations

from typing import Any

from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError

RETRY_S = 5.0  # default time until the next try


class ApiError(Exception):
    """A request that has failed.

    Parameters
    ----------
    status : int
        The HTTP status.
    reason : str
        In capitals, for programs.
    message : str
        For persons.
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
        return {"reason": self.reason, "message": str(self), "violations": [], **self.fields}


def api_error(error: MexicaAIError) -> ApiError:
    """Return an error of the package as one of a request."""
    status, retry_after_s = 422, None
    if isinstance(error, SearchError) and not error.reason.startswith(("INVALID_", "NO_")):
        status, retry_after_s = 503, error.retry_after_s or RETRY_S
    elif isinstance(error, NotationError) and error.path.startswith("request"):
        status = 400
    fields: dict[str, Any] = {"violations": [violation._asdict() for violation in error.violations]}
    if error.action_index is not None:
        fields["action_index"] = error.action_index
    return ApiError(status, error.reason, str(error), retry_after_s=retry_after_s, **fields)

"""Errors for arguments of Python's API that do not fit."""

from __future__ import annotations

from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote


def bad_option(path: str, given: object, expected: str) -> SearchError:
    """Return the error for an argument that does not fit, reason INVALID_OPTION."""
    return SearchError(f"{path}: given {quote(given)}; expected {expected}", reason="INVALID_OPTION", path=path)

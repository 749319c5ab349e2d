"""Suggestions for names that are misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: which known name it resembles.

    Parameters
    ----------
    name : object
        The unknown name; a value that is no text gets no suggestion.
    known : iterable of str
        The names that are known.

    Returns
    -------
    str
        Such as ``; did you mean "best"?``, or empty if no name is similar.
    """
    if not isinstance(name, str):
        return ""
    names = {text.lower(): text for text in known}
    similar = difflib.get_close_matches(name.lower()[:100], names, n=1)
    return f'; did you mean "{names[similar[0]]}"?' if similar else ""

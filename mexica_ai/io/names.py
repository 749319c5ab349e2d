"""Names that people give: what may stand in one, and names of several that are told apart."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Sequence

from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

MAX_NAME = 24  # characters
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # categories of characters that a name must not have


def read_name(given: str | None, path: str) -> str | None:
    """Return the name that somebody has given, without needless blanks; None if it is empty.

    Raises
    ------
    NotationError
        It is too long, or has characters that nobody sees.
    """
    name = " ".join(part for part in unicodedata.normalize("NFC", given or "").split(" ") if part)
    expected = ""
    if any(unicodedata.category(character) in _UNSEEN for character in name):
        expected = "a name without control characters and marks of direction"
    elif len(name) > MAX_NAME:
        expected = f"a name of {MAX_NAME} characters at most"
    if expected:
        raise NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="OUT_OF_RANGE", path=path)
    return name or None


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: equal ones are numbered, ``Level 5 (1)`` and ``Level 5 (2)``.

    A number that makes a name which somebody else has is left out.
    """
    keys = [unicodedata.normalize("NFKC", name).casefold() for name in names]
    number_of = Counter(keys)
    taken = {key for key, number in number_of.items() if number == 1}
    found = []
    for name, key in zip(names, keys, strict=True):
        if number_of[key] > 1:
            free = next(number for number in itertools.count(1) if f"{key} ({number})" not in taken)
            taken.add(f"{key} ({free})")
            name = f"{name} ({free})"
        found.append(name)
    return found

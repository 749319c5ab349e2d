"""The bearer token of a client, from a file."""

from __future__ import annotations

import re

from mexica_ai.io import files
from mexica_ai.io.errors import NotationError


def read_token(path: str, *, stdin: bool = False) -> str:
    """Return the bearer token in a file; with `stdin`, ``-`` is standard input."""
    token = files.read_text(path, stdin=stdin).strip()
    if not re.fullmatch("[!-~]+", token):
        raise NotationError(f"{files.name_of(path)}: holds no token; expected one line of visible ASCII characters")
    return token

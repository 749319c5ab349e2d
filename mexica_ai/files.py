"""Writing results to files: checks before long work, and replacing a file as a whole."""

from __future__ import annotations

import os
from pathlib import Path


def problem_of(path: str) -> str:
    """Return why a path cannot be written, in a few words; empty if nothing is known to be in the way."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        return "it is a folder"
    if not os.path.isdir(folder):
        return f"there is no folder {folder!r}"
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        return "no permission"
    return ""


def replace(path: str, content: str | bytes, *, mode: int = 0o666) -> None:
    """Write a file so that it is never half there: it appears, or replaces the one before, as a whole.

    Parameters
    ----------
    path : str
    content : str or bytes
    mode : int
        The permissions of the file, less those that the process's umask takes away.

    Raises
    ------
    OSError
        It cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    target = Path(path).resolve()  # of a link, what it leads to
    if target.exists() and not target.is_file():  # such as /dev/stdout
        target.write_bytes(data)
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.touch(mode)
        draft.write_bytes(data)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)

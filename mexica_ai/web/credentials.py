"""The token and the session of the page, which a restart keeps: both follow from a secret in the folder of games.

Each folder has a secret of its own, and each port another token and session, so that those of one server are worth
nothing at another. The secret is never sent.
"""

from __future__ import annotations

import base64
import hmac
import logging
import os
import re
import secrets
import stat
from pathlib import Path
from typing import NamedTuple

from mexica_ai.io import files
from mexica_ai.io.errors import NotationError

NAME = ".secret"  # of the file

_MODE = 0o600
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # to open a pipe must not wait for its other end
_SECRET = re.compile(rb"[\w-]{43}\n", re.ASCII)  # 32 random bytes

_logger = logging.getLogger("mexica_ai.web")


class Credentials(NamedTuple):
    """What lets a browser in.

    Parameters
    ----------
    token : str
        In the URL.
    session : str
        In the cookie that the browser gets for the token.
    invites : str
        From which the links of seats follow (`guests`); it is never sent.
    """

    token: str
    session: str
    invites: str


def load(folder: Path, port: int, *, is_new: bool = False) -> Credentials:
    """Return the credentials of a server.

    A secret that is not usable is made anew, with a warning that says why: browsers then need the new URL.

    Parameters
    ----------
    folder : path
        The folder of games, which this process has locked.
    port : int
        The port in use.
    is_new : bool
        Whether to make a new secret, so that all tokens and cookies before become worthless.

    Raises
    ------
    NotationError
        The secret cannot be written; reason BAD_USAGE.
    """
    path = folder / NAME
    secret = None if is_new else _read(path)
    if secret is None:
        secret = _write(path)
    return Credentials(*(_derive(secret, f"{purpose}:{port}") for purpose in ("token", "session", "invites")))


def _derive(secret: bytes, purpose: str) -> str:
    digest = hmac.digest(secret, purpose.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _read(path: Path) -> bytes | None:
    """Return the secret of a file, None if there is none that only its owner could know."""
    try:
        with open(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(64) if stat.S_ISREG(status.st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = "it is a link" if path.is_symlink() else error.strerror
    else:
        if not stat.S_ISREG(status.st_mode):
            problem = "it is no file"
        elif status.st_uid != os.geteuid():
            problem = "it belongs to another user"
        elif status.st_mode & 0o077:
            problem = "others may read or write it"
        elif not _SECRET.fullmatch(data):
            problem = "it holds no secret"
        else:
            return data
    _logger.warning("%s is made anew: %s; open the new URL", path, problem)
    return None


def _write(path: Path) -> bytes:
    """Return a new secret, which its file holds as a whole or not at all."""
    secret = secrets.token_urlsafe(32).encode() + b"\n"
    try:
        with files.writing(path, "--games"):
            path.unlink(missing_ok=True)  # of a link the link itself, not what it leads to
        files.replace(str(path), secret, "--games", mode=_MODE)
    except OSError as error:
        raise NotationError(f"{error}; expected a place for the secret of the page", reason="BAD_USAGE") from None
    return secret

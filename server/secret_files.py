"""Concerns about the certificates, the key and the tokens of a server, for its operator."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from mexica_ai.io.files import read_bytes
from mexica_ai.io.strict import quote
from mexica_ai.server.config import ServerConfig

SOON = timedelta(days=14)  # how long before its end a certificate is reported,
SOON_SHARE = 1 / 3  # but not earlier than this share of its lifetime before


class Validity(NamedTuple):
    """When the certificates of a file are valid: all of the server's chain, at least one of the authorities."""

    field: str  # of the configuration
    begin: datetime
    end: datetime


class Concern(NamedTuple):
    """Something that will keep callers out, or that lets others in."""

    message: str
    is_fatal: bool  # the certificates are not valid now


def validities(config: ServerConfig) -> Iterator[Validity]:
    """Yield the validity of each file of certificates that can be read."""
    from cryptography import x509  # only a server with TLS needs it

    for field in ("tls_certificate", "tls_client_ca"):
        path = getattr(config, field)
        if path is None:
            continue
        with contextlib.suppress(ValueError):
            found = x509.load_pem_x509_certificates(read_bytes(path))
            begins = [each.not_valid_before_utc for each in found]
            ends = [each.not_valid_after_utc for each in found]
            if field == "tls_certificate":
                yield Validity(field, max(begins), min(ends))
            else:
                yield Validity(field, min(begins), max(ends))


def concerns(config: ServerConfig, now: datetime | None = None) -> list[Concern]:
    """Return what is to be said of the files of secrets, which exist and can be used.

    Parameters
    ----------
    config : ServerConfig
    now : datetime, optional
        By default the current time.
    """
    now = now or datetime.now(UTC)
    found = []
    for field, begin, end in validities(config):
        given = f"{field}: given {quote(getattr(config, field))}"
        if now >= end:
            found.append(Concern(f"{given}, which expired on {_text(end)}; expected one that is valid now", True))
        elif now < begin:
            problem = f"which is valid from {_text(begin)} on; expected one that is valid now"
            found.append(Concern(f"{given}, {problem}", True))
        elif now >= end - min(SOON, SOON_SHARE * (end - begin)):
            found.append(Concern(f"{given}, which expires on {_text(end)}; expected a renewed one soon", False))
    for field, mode in exposures(config).items():
        if mode is not None:
            path = getattr(config, field)
            given = f"{field}: given {quote(path)}"
            problem = f"which others can read (mode {mode:04o}); expected mode 0600, or 0640 for a file of root"
            found.append(Concern(f"{given}, {problem}", False))
    return found


def exposures(config: ServerConfig) -> dict[str, int | None]:
    """Return, for each file of secrets of the configuration, its mode if others can read it, else None."""
    files = {field: getattr(config, field) for field in ("tls_key", "tokens_file")}
    return {field: _open_mode(path) for field, path in files.items() if path is not None}


def _open_mode(path: str) -> int | None:
    """Return the mode of a file if more than its owner, and the group of a file of root, may use it."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    # Files of root may be for a group: so a service without root's rights gets them.
    allowed = stat.S_IRWXU | (stat.S_IRGRP if status.st_uid == 0 else 0)
    mode = stat.S_IMODE(status.st_mode)
    return mode if mode & ~allowed & 0o777 else None


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"

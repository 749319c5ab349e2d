"""What a client may do about a connection that fails: a server that wants TLS, or does not; a certificate that does not
fit.

gRPC reports one failure of one address. Where that may hide another, such as that of `localhost` by IPv6, the server is
asked whether it speaks TLS.
"""

from __future__ import annotations

import ipaddress
import math
import re
import socket
import ssl
import threading
import time
from typing import Any

from mexica_ai.rpc import targets

ASK_S = 1.0  # for the question, in all; as long again for the first word of a server that says none
AGAIN_S = 10.0  # until the same server is asked again: many calls may fail at the same time

_IS_PLAIN = (
    "the server does not speak TLS there; expected a client without TLS (without root_certificates, --tls, --tls-ca), "
    "or another port"
)
_WANTS_CERTIFICATE = (
    "the server closes connections without a client's certificate, as it seems; expected certificate=FILE and key=FILE "
    "(--tls-certificate FILE, --tls-key FILE)"
)
_PLAIN, _TLS, _CLOSES = range(3)  # what a server does; the last: it ends a connection after the handshake
_WANTS_TLS = "the server wants TLS; expected root_certificates=FILE or True (--tls-ca FILE, or --tls)"
_OTHER_AUTHORITY = (
    "the certificate is signed by none of the authorities that this client trusts; expected root_certificates=FILE "
    "(--tls-ca FILE) with that of the server"
)
_OTHER_NAME = "the certificate is for other names; expected authority=NAME (--authority NAME) with one of its names"
# What gRPC's core says of a connection: a part of its message, and the advice.
_KNOWN = {
    "Hostname Verification Check failed": _OTHER_NAME,
    "WRONG_VERSION_NUMBER": _IS_PLAIN,
    "CERTIFICATE_VERIFY_FAILED": _OTHER_AUTHORITY,
}


class Advisor:
    """Says what to do about calls to a target that fail without an answer of the server; for any number of threads.

    Parameters
    ----------
    target : str
    has_tls : bool
        Whether the client speaks TLS.
    has_certificate : bool
        Whether it shows a certificate.
    is_direct : bool
        Whether no proxy stands before the server. Then the server may be asked, which takes about `ASK_S`, and
        `AGAIN_S` later again.
    """

    def __init__(self, target: str, *, has_tls: bool, is_direct: bool, has_certificate: bool = False) -> None:
        self._has_tls, self._has_certificate = has_tls, has_certificate
        places = targets.places(target) if is_direct else []
        # Not those whose port is a name, such as https.
        self._places = [(host, int(port)) for host, port in places if port and re.fullmatch("[0-9]+", port)]
        self._asking = threading.Lock()
        self._answers: set[int] = set()
        self._next_s = -math.inf

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an Advisor cannot be copied or pickled: it belongs to a connection; make one for each")

    def on_failure(self, message: str) -> str:
        """Return what to do, by what gRPC says; empty if nothing is known."""
        for part, advice in _KNOWN.items():
            if part in message:
                return advice
        if not re.search("failed to connect|failing", message):
            return ""
        if "Socket closed" not in message and all(_is_address(host) for host, _ in self._places):
            return ""  # each has one address, and the message tells enough
        answers = self._ask()
        if not self._has_tls:
            return _WANTS_TLS if answers & {_TLS, _CLOSES} else ""
        if _PLAIN in answers:
            return _IS_PLAIN
        return _WANTS_CERTIFICATE if _CLOSES in answers and not self._has_certificate else ""

    def _ask(self) -> set[int]:
        """Return what those do that can be reached, or could be not long ago."""
        with self._asking:
            if time.monotonic() >= self._next_s:
                self._answers = _ask(self._places)
                self._next_s = time.monotonic() + AGAIN_S
            return self._answers


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _ask(places: list[tuple[str, int]]) -> set[int]:
    """Return what those do that can be reached."""
    end, answers = time.monotonic() + ASK_S, set[int]()
    for host, port in places:
        left_s = end - time.monotonic()
        if left_s <= 0:
            break
        try:
            connection = socket.create_connection((host, port), left_s)
        except OSError:
            continue
        with connection:
            answer = _speaks(connection)
        if answer is not None:
            answers.add(answer)
    return answers


def _speaks(connection: socket.socket) -> int | None:
    """Return what a server does, which one of gRPC says first; None if it does not say so."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent to it
    context.set_alpn_protocols(["h2"])
    try:
        encrypted = context.wrap_socket(connection)
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            return _PLAIN  # what came is no TLS
        return _TLS if "ALERT" in (error.reason or "") else None
    except OSError:
        return None
    with encrypted:
        try:
            return _TLS if encrypted.recv(1) else _CLOSES
        except TimeoutError:
            return _TLS
        except OSError:
            return _CLOSES

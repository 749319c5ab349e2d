"""What a client may do about a connection that fails: a server that wants TLS, or does not; a certificate that does not
fit.

gRPC reports one failure of one address. Where that may hide another, such as that of `localhost` by IPv6, the server is
asked whether it speaks TLS.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time

from mexica_ai.rpc import targets

ASK_S = 1.0  # for the question, in all

_IS_PLAIN = (
    "the server does not speak TLS there; expected a client without TLS (without root_certificates, --tls, --tls-ca), "
    "or another port"
)
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


def on_failure(message: str, target: str, *, has_tls: bool, is_direct: bool) -> str:
    """Return what to do about a call that failed without an answer of the server; empty if nothing is known.

    Parameters
    ----------
    message : str
        What gRPC says.
    target : str
    has_tls : bool
        Whether the client speaks TLS.
    is_direct : bool
        Whether no proxy stands before the server. Then the server may be asked, which takes `ASK_S` at most.
    """
    for part, advice in _KNOWN.items():
        if part in message:
            return advice
    if not is_direct or not re.search("failed to connect|failing", message):
        return ""
    places = [(host, int(port)) for host, port in targets.places(target) if port]
    if "Socket closed" not in message and all(_is_address(host) for host, _ in places):
        return ""  # each has one address, and the message tells enough
    answers = _ask(places)
    if has_tls and False in answers:
        return _IS_PLAIN
    return _WANTS_TLS if not has_tls and True in answers else ""


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _ask(places: list[tuple[str, int]]) -> set[bool]:
    """Return whether those speak TLS that can be reached."""
    end, answers = time.monotonic() + ASK_S, set()
    for host, port in places:
        left_s = end - time.monotonic()
        if left_s <= 0:
            break
        try:
            connection = socket.create_connection((host, port), left_s)
        except OSError:
            continue
        with connection:
            answer = _speaks_tls(connection)
        if answer is not None:
            answers.add(answer)
    return answers


def _speaks_tls(connection: socket.socket) -> bool | None:
    """Return whether a server speaks TLS; None if it does not say so."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent to it
    context.set_alpn_protocols(["h2"])
    try:
        context.wrap_socket(connection).close()
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            return False  # what came is no TLS
        return True if "ALERT" in (error.reason or "") else None
    except OSError:
        return None
    return True

"""Who may call: TLS, client certificates and bearer tokens."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import hmac
import logging
import os
import re
import ssl
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from mexica_ai.errors import SearchError
from mexica_ai.server import handlers
from mexica_ai.server.config import ServerConfig, refuse
from mexica_ai.strict import quote

CALLER: contextvars.ContextVar[str] = contextvars.ContextVar("mexica_ai_caller", default="")
"""Who makes the call that is being answered: a token's name, or else the client certificate's common name."""

OPEN_PREFIX = "/grpc.health.v1.Health/"  # methods that anybody may call
RECHECK_S = 1.0  # how often the file of tokens is looked at, at most
MIN_TOKEN_CHARS = 16
MAX_TOKENS = 1000
MAX_FILE_BYTES = 1 << 20
MAX_NAME_CHARS = 64
DOMAIN = "mexica_ai"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TOKEN = re.compile(rf"[!-~]{{{MIN_TOKEN_CHARS},}}")
_logger = logging.getLogger("mexica_ai.server.auth")


class _Token(NamedTuple):
    name: str
    digest: bytes  # the token itself need not stay in memory


class Tokens:
    """The bearer tokens of a file, which is read again when it changes.

    Each line is ``NAME TOKEN``; empty lines and lines that begin with ``#`` are skipped. A name has 1 to 64
    letters, digits and ``._-``; a token at least 16 visible ASCII characters. A changed file that cannot be
    read leaves the tokens as they are, and logs a warning: write a new file and rename it.

    Parameters
    ----------
    path : str

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG, path ``tokens_file``: the file cannot be read, or breaks a rule.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = _file_state(path)  # taken first: a change while reading is found by the next look
        self._tokens = _read_tokens(path)
        self._looked_at = time.monotonic()

    def name_of(self, token: str) -> str | None:
        """Return the name of a token, None if it is none; in a time that tells nothing about the tokens."""
        self._look()
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        found = None
        for known in self._tokens:
            if hmac.compare_digest(known.digest, digest):
                found = known.name
        return found

    def _look(self) -> None:
        now = time.monotonic()
        if now < self._looked_at + RECHECK_S:
            return
        self._looked_at = now
        state = _file_state(self._path)
        if state == self._state:
            return
        self._state = state
        try:
            self._tokens = _read_tokens(self._path)
        except SearchError as error:
            _logger.warning("the tokens stay as they were: %s", error)
        else:
            _logger.info("read %d tokens again", len(self._tokens))


def _file_state(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_tokens(path: str) -> list[_Token]:
    # Messages name lines and never quote them: they hold secrets, even if these are misplaced.
    where = f"given {quote(path)}"
    content = _read_file("tokens_file", path)
    if not content.isascii():
        refuse("tokens_file", f"{where}, which is not ASCII; expected lines NAME TOKEN")
    tokens: list[_Token] = []
    lines = {}  # name or digest -> the line that has it
    for number, line in enumerate(content.decode("ascii").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        here = f"{where}, line {number}"
        if len(words) != 2:
            refuse("tokens_file", f"{here}: {len(words)} words; expected NAME TOKEN")
        name, token = words
        if not _NAME.fullmatch(name):
            refuse("tokens_file", f"{here}: no such name; expected 1 to 64 letters, digits and ._-")
        if not _TOKEN.fullmatch(token):
            refuse(
                "tokens_file",
                f"{here}: a token of {len(token)} characters; expected {MIN_TOKEN_CHARS} or more, visible",
            )
        digest = hashlib.sha256(token.encode()).digest()
        for what, key in (("name", name), ("token", digest)):
            if key in lines:
                refuse("tokens_file", f"{here}: the {what} of line {lines[key]}; expected another one")
            lines[key] = number
        tokens.append(_Token(name, digest))
    if not 1 <= len(tokens) <= MAX_TOKENS:
        refuse("tokens_file", f"{where}, which has {len(tokens)} tokens; expected 1 to {MAX_TOKENS}")
    return tokens


class Authenticates(grpc.aio.ServerInterceptor):
    """Lets through who may call, and sets `CALLER`; answers others UNAUTHENTICATED.

    Parameters
    ----------
    tokens : Tokens, optional
        With them every method but health checks needs the metadata ``authorization: Bearer TOKEN``. Without
        them all calls are let through, and `CALLER` is the common name of the client's certificate, if it
        has one.
    """

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens

    async def intercept_service(self, continuation, handler_call_details):
        """Return the handler of a call, or one that refuses it."""
        name = None
        if self._tokens and not handler_call_details.method.startswith(OPEN_PREFIX):
            token = _bearer_token(handler_call_details.invocation_metadata)
            if not token:
                return _refusing("NO_TOKEN", "no token is given")
            name = self._tokens.name_of(token)
            if name is None:
                return _refusing("WRONG_TOKEN", "the token is none of this server's")
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(_request, context) -> AsyncIterator[None]:
            CALLER.set(_common_name(context) if name is None else name)
            yield

        return handler and handlers.wrap(handler, around)


def _bearer_token(metadata) -> str:
    """Return the token that metadata hold, "" if there is not exactly one."""
    values = [value for key, value in metadata or () if key == "authorization"]
    if len(values) != 1 or not isinstance(values[0], str):
        return ""
    scheme, _, token = values[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _common_name(context) -> str:
    # Only what TLS has verified gets there.
    names = context.auth_context().get("x509_common_name") or [b""]
    return names[0].decode(errors="replace")[:MAX_NAME_CHARS]


def _refusing(reason: str, problem: str) -> grpc.RpcMethodHandler:
    """Return a handler that answers UNAUTHENTICATED.

    It is a stream_stream handler whatever the method: such a one reads no message of the caller's first, and
    to the caller the answer is the same.
    """

    async def answer(requests, context):
        status = status_pb2.Status(
            code=grpc.StatusCode.UNAUTHENTICATED.value[0],
            message=f"authorization: {problem}; expected the metadata `authorization: Bearer TOKEN`",
        )
        metadata = {"error": SearchError.__name__, "request_id": handlers.REQUEST_ID.get()}
        status.details.add().Pack(
            error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)
        )
        await context.abort_with_status(rpc_status.to_status(status))

    return grpc.stream_stream_rpc_method_handler(answer)


class _Certificates:
    """What a server encrypts with, read again when a file changes: certificates are renewed all the time."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._paths = [config.tls_certificate, config.tls_key, config.tls_client_ca]
        self._states = self._look()
        self._looked_at = time.monotonic()
        self.current = _read_certificates(config)

    def renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """Return what new connections are to use, None if that is as before; called by gRPC's threads."""
        now = time.monotonic()
        if now < self._looked_at + RECHECK_S:
            return None
        self._looked_at = now
        states = self._look()
        if states == self._states:
            return None
        self._states = states
        try:
            self.current = _read_certificates(self._config)
        except SearchError as error:
            _logger.warning("the certificates stay as they were: %s", error)
            return None
        _logger.info("read the certificates again")
        return self.current

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_file_state(path) for path in self._paths if path is not None]


def server_credentials(config: ServerConfig) -> grpc.ServerCredentials | None:
    """Return what a server encrypts with, None if it does not.

    Changed files are used for new connections; while they do not fit together the old ones are, and a warning
    is logged.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG, path the field of a file that cannot be used.
    """
    if config.tls_certificate is None:
        return None
    certificates = _Certificates(config)
    return grpc.dynamic_ssl_server_credentials(
        certificates.current,
        certificates.renewed,
        require_client_authentication=config.tls_client_ca is not None,
    )


def _read_certificates(config: ServerConfig) -> grpc.ServerCertificateConfiguration:
    chain = _read_file("tls_certificate", config.tls_certificate)
    key = _read_file("tls_key", config.tls_key)
    authorities = None
    if config.tls_client_ca is not None:
        authorities = _read_file("tls_client_ca", config.tls_client_ca)
    _check_certificates(config, authorities)
    return grpc.ssl_server_certificate_configuration([(key, chain)], authorities)


def _check_certificates(config: ServerConfig, authorities: bytes | None) -> None:
    """Find out now what gRPC would not tell, or only when the first client connects."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(config.tls_certificate)
    except (OSError, ValueError):
        refuse(
            "tls_certificate",
            f"given {quote(config.tls_certificate)}, which holds no certificate; expected a PEM file",
        )
    try:
        context.load_cert_chain(config.tls_certificate, config.tls_key, password=lambda: "")
    except (OSError, ValueError):
        refuse(
            "tls_key",
            f"given {quote(config.tls_key)}; expected a PEM file, without a password, of the private key of "
            "the first certificate in tls_certificate",
        )
    if authorities is None:
        return
    try:
        context.load_verify_locations(cadata=authorities.decode())
        num_found = context.cert_store_stats()["x509"]
    except (OSError, ValueError):
        num_found = 0
    if not num_found:
        refuse(
            "tls_client_ca",
            f"given {quote(config.tls_client_ca)}, which holds no certificate; expected a PEM file",
        )


def _read_file(field: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "no path"
        refuse(field, f"given {quote(path)}, which cannot be read ({problem}); expected a file")
    if len(content) > MAX_FILE_BYTES:
        refuse(field, f"given {quote(path)}, which has over {MAX_FILE_BYTES} bytes; expected a smaller file")
    return content

"""Authentication: TLS, client certificates and bearer tokens."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import hmac
import logging
import os
import re
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any, NamedTuple, NoReturn

import grpc
from google.rpc import status_pb2

from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.files import read_bytes, read_text
from mexica_ai.io.strict import quote
from mexica_ai.server import handlers, secret_files
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.config import refuse as refuse_field
from mexica_ai.server.handlers import Context, Continuation, Handler
from mexica_ai.server.rejections import UNAUTHENTICATED, end, new_status, reject

CALLER: contextvars.ContextVar[str] = contextvars.ContextVar("mexica_ai_caller", default="")
"""The caller of the current call: the name of its token, or else of its certificate."""

OPEN_PREFIX = "/grpc.health.v1.Health/"  # methods that need no token
RECHECK_S = 1.0  # shortest time between two checks whether a file has changed
MIN_TOKEN_CHARS = 16
MAX_TOKENS = 1000
MAX_NAME_CHARS = 64

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TOKEN = re.compile(rf"[!-~]{{{MIN_TOKEN_CHARS},}}")
_logger = logging.getLogger("mexica_ai.server.auth")


class KnownToken(NamedTuple):
    """A token of the file."""

    name: str
    digest: bytes  # the token itself need not stay in memory


class Tokens:
    """The bearer tokens of a file, which is read again when it changes.

    Each line is ``NAME TOKEN``; empty lines and lines that begin with ``#`` are skipped. A name has 1 to 64
    letters, digits and ``._-``; a token at least 16 visible ASCII characters. If a changed file cannot be
    read, the tokens stay as they are and a warning is logged. To replace the file, write a new one and rename
    it.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    is_usable : bool
        Whether the file could be read when it was last looked at; if not, older tokens are in force.

    Raises
    ------
    SearchError
        The file cannot be read or breaks a rule; reason INVALID_CONFIG, path ``tokens_file``.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = _file_state(path)  # before reading, so that the next check finds a change meanwhile
        self._tokens = _read_tokens(path)
        self.is_usable = True
        self._checked_s = time.monotonic()

    def find(self, token: str) -> KnownToken | None:
        """Return what is known of a token, None if nothing; the time taken reveals nothing about the tokens."""
        self.refresh()
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        found = None
        for known in self._tokens:
            if hmac.compare_digest(known.digest, digest):
                found = known
        return found

    def __contains__(self, token: KnownToken) -> bool:
        """Whether a token that was found is still in the file."""
        return token in self._tokens

    def refresh(self) -> None:
        """Read the file again if it has changed; looks at most once in `RECHECK_S`."""
        now = time.monotonic()
        if now < self._checked_s + RECHECK_S:
            return
        self._checked_s = now
        state = _file_state(self._path)
        if state == self._state:
            return
        self._state = state
        try:
            self._tokens = _read_tokens(self._path)
        except SearchError as error:
            self.is_usable = False
            _logger.warning("the tokens are unchanged: %s", error)
        else:
            self.is_usable = True
            _logger.info("read %d tokens again", len(self._tokens))


def _file_state(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_tokens(path: str) -> list[KnownToken]:
    # Messages name lines but never quote them, since any part of a line may be a secret.
    where = f"given {quote(path)}"
    try:
        content = read_text(path)
    except NotationError as error:
        refuse_field("tokens_file", str(error))
    if not content.isascii():
        refuse_field("tokens_file", f"{where}, which is not ASCII; expected lines NAME TOKEN")
    tokens: list[KnownToken] = []
    lines: dict[str | bytes, int] = {}  # name or digest -> the line that has it
    for number, line in enumerate(content.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        here = f"{where}, line {number}"
        if len(words) != 2:
            refuse_field("tokens_file", f"{here}: {len(words)} words; expected NAME TOKEN")
        name, token = words
        if not _NAME.fullmatch(name):
            refuse_field("tokens_file", f"{here}: invalid name; expected 1 to 64 letters, digits and ._-")
        if not _TOKEN.fullmatch(token):
            refuse_field(
                "tokens_file",
                f"{here}: a token of {len(token)} characters; expected {MIN_TOKEN_CHARS} or more, visible",
            )
        digest = hashlib.sha256(token.encode()).digest()
        keys: tuple[tuple[str, str | bytes], ...] = (("name", name), ("token", digest))
        for what, key in keys:
            if key in lines:
                refuse_field("tokens_file", f"{here}: the {what} of line {lines[key]}; expected another one")
            lines[key] = number
        tokens.append(KnownToken(name, digest))
    if not 1 <= len(tokens) <= MAX_TOKENS:
        refuse_field("tokens_file", f"{where}, which has {len(tokens)} tokens; expected 1 to {MAX_TOKENS}")
    return tokens


class AuthInterceptor(grpc.aio.ServerInterceptor):
    """Rejects unauthenticated calls with UNAUTHENTICATED, and sets `CALLER` for the others.

    Parameters
    ----------
    tokens : Tokens, optional
        If given, every method except health checks needs the metadata ``authorization: Bearer TOKEN``. If
        not, all calls are accepted, and `CALLER` is the name of the client's certificate, if it has one.
    """

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens
        self._running: set[_Call] = set()  # those with tokens

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call, or one that rejects it."""
        token = None
        if self._tokens and not handler_call_details.method.startswith(OPEN_PREFIX):
            given = _bearer_token(handler_call_details.invocation_metadata)
            if not given:
                return _rejecting("NO_TOKEN", "no token is given")
            token = self._tokens.find(given)
            if token is None:
                return _rejecting("WRONG_TOKEN", "this server does not know the token")
            CALLER.set(token.name)  # for the other interceptors
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(_request: Any, context: Context) -> AsyncIterator[_Call | None]:
            if token is None:
                CALLER.set(_name_of_certificate(context))
                yield None
                return
            async with self._ending_if_revoked(_Call(token), context) as call:
                yield call

        return handler and handlers.wrap(handler, around)

    @contextlib.asynccontextmanager
    async def _ending_if_revoked(self, call: _Call, context: Context) -> AsyncIterator[_Call]:
        self._running.add(call)
        try:
            yield call
        except asyncio.CancelledError:
            if not call.is_revoked:
                raise
            while call.task.cancelling():
                call.task.uncancel()
            status = _status("REVOKED_TOKEN", "the token is no longer valid")
            await end(context, status)
        finally:
            self._running.discard(call)

    def end_revoked(self) -> None:
        """Look whether the tokens have changed, and end the running calls of those that are gone."""
        if self._tokens is None:
            return
        self._tokens.refresh()
        for call in self._running:
            if call.token not in self._tokens:
                call.revoke()


class _Call(handlers.Sending):
    """A running call, made in its task."""

    def __init__(self, token: KnownToken) -> None:
        self.token = token
        task = asyncio.current_task()
        assert task is not None  # calls run in tasks
        self.task = task
        self.is_revoked = False
        self._closing: asyncio.Task[None] | None = None

    def revoke(self) -> None:
        """End the call: now, or if a response is being sent, when that has been sent."""
        if self.is_revoked:
            return
        self.is_revoked = True
        if self.responses is None:
            self.task.cancel()
        else:
            # Ends the search even if the client never reads this response.
            self._closing = asyncio.ensure_future(self.responses.aclose())

    def check(self) -> None:
        if self.is_revoked:
            raise asyncio.CancelledError


def _bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """Return the token in the metadata, "" if there is not exactly one."""
    values = [value for key, value in metadata or () if key == "authorization"]
    if len(values) != 1 or not isinstance(values[0], str):
        return ""
    scheme, _, token = values[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _name_of_certificate(context: Context) -> str:
    """Return the common name of the client's certificate, else its first alternative name, else its fingerprint."""
    found = context.auth_context()  # of verified certificates only
    for key in ("x509_common_name", "x509_subject_alternative_name"):
        name = next(iter(found.get(key) or ()), b"").decode(errors="replace")
        if 0 < len(name) <= MAX_NAME_CHARS:
            return name
    pem = next(iter(found.get("x509_pem_cert") or ()), None)
    return "" if pem is None else hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.decode())).hexdigest()


def _rejecting(reason: str, problem: str) -> Handler:
    """Return a handler that answers UNAUTHENTICATED.

    It is a stream_stream handler for every method: this kind answers without reading a message first, and the
    caller sees no difference.
    """

    async def answer(_requests: Any, context: Context) -> NoReturn:
        await reject(context, _status(reason, problem), UNAUTHENTICATED)

    return grpc.stream_stream_rpc_method_handler(answer)


def _status(reason: str, problem: str) -> status_pb2.Status:
    message = f"authorization: {problem}; expected the metadata `authorization: Bearer TOKEN`"
    return new_status(grpc.StatusCode.UNAUTHENTICATED, message, reason)


class Certificates:
    """The certificates and the key of a server, read again when a file changes, as after a renewal.

    New connections use changed files. If the changed files are invalid or do not match each other, new
    connections use the old certificates, and a warning is logged.

    Parameters
    ----------
    config : ServerConfig
        With a `tls_certificate`.

    Attributes
    ----------
    is_usable : bool
        Whether the files could be used when they were last read; if not, older certificates are in force.
    expiries : dict
        Field of the configuration -> when the first certificate of that file expires, as seconds since 1970.
    num_read : int
        How often the files have been read and could be used.

    Raises
    ------
    SearchError
        A file cannot be used; reason INVALID_CONFIG, path the field of that file.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._paths = [config.tls_certificate, config.tls_key, config.tls_client_ca]
        self._lock = threading.Lock()  # gRPC's threads and the event loop look for changes
        self._states = self._file_states()
        self._checked_s = time.monotonic()
        self.num_read = 0
        self._read()
        self._handed_out = self._current

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials of a server; its new connections use changed files."""
        return grpc.dynamic_ssl_server_credentials(
            self._handed_out,
            self._renewed,  # type: ignore[arg-type]  # the stubs leave out None, which gRPC takes for "unchanged"
            require_client_authentication=self._config.tls_client_ca is not None,
        )

    def refresh(self) -> None:
        """Read the files again if one has changed; looks at most once in `RECHECK_S`."""
        with self._lock:
            self._refresh()

    def _renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """Return the configuration for new connections, None if unchanged; called by gRPC's threads."""
        with self._lock:
            self._refresh()
            if self._current is self._handed_out:
                return None
            self._handed_out = self._current
            return self._current

    def _refresh(self) -> None:
        now = time.monotonic()
        if now < self._checked_s + RECHECK_S:
            return
        self._checked_s = now
        states = self._file_states()
        if states == self._states:
            return
        self._states = states
        try:
            self._read()
        except SearchError as error:
            self.is_usable = False
            _logger.warning("the certificates are unchanged: %s", error)
        else:
            _logger.info("read the certificates again")

    def _read(self) -> None:
        self._current = _read_certificates(self._config)
        self.expiries = {found.field: found.end.timestamp() for found in secret_files.validities(self._config)}
        self.is_usable = True
        self.num_read += 1

    def _file_states(self) -> list[tuple[int, int, int] | None]:
        return [_file_state(path) for path in self._paths if path is not None]


def _read_certificates(config: ServerConfig) -> grpc.ServerCertificateConfiguration:
    assert config.tls_certificate is not None  # else there is no TLS
    assert config.tls_key is not None
    chain = read_file("tls_certificate", config.tls_certificate)
    key = read_file("tls_key", config.tls_key)
    authorities = None
    if config.tls_client_ca is not None:
        authorities = read_file("tls_client_ca", config.tls_client_ca)
    _check_certificates(config, authorities)
    return grpc.ssl_server_certificate_configuration([(key, chain)], authorities)


def _check_certificates(config: ServerConfig, authorities: bytes | None) -> None:
    """Check the files now: gRPC would report faults only when a client connects, or not at all."""
    assert config.tls_certificate is not None
    assert config.tls_key is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(config.tls_certificate)
    except (OSError, ValueError):
        refuse_field(
            "tls_certificate",
            f"given {quote(config.tls_certificate)}, which holds no certificate; expected a PEM file",
        )
    try:
        context.load_cert_chain(config.tls_certificate, config.tls_key, password=lambda: "")
    except (OSError, ValueError):
        refuse_field(
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
        refuse_field(
            "tls_client_ca",
            f"given {quote(config.tls_client_ca)}, which holds no certificate; expected a PEM file",
        )


def read_file(field: str, path: str) -> bytes:
    """Return what is in a file that a field of the configuration names; raise SearchError if that fails."""
    try:
        return read_bytes(path)
    except NotationError as error:
        refuse_field(field, str(error))

"""Clients of a running server (`mexica-ai serve`): `Client`, and `AsyncClient` for asyncio.

Both have the calls of `mexica_ai.rpc.calls.Calls`; a `Client` returns answers and iterators, an `AsyncClient`
coroutines and asynchronous iterators. They raise the same exceptions as the package's own functions. Failures that
only a service can have are a SearchError. Its `reason` is the server's, such as TOO_MANY_WAITING; if the server gave
none, it is the name of the gRPC status, such as UNAVAILABLE. Its `retry_after_s` is the server's, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import ssl
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from importlib import resources
from types import ModuleType
from typing import Any, ClassVar, cast

try:
    import grpc
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"mexica_ai.rpc.client needs {error.name}, which is not installed: pip install 'mexica-ai[client]'",
        name=error.name,
    ) from None
import grpc.aio as grpc_aio

from mexica_ai.io.errors import MexicaAIError, SearchError
from mexica_ai.io.files import read_bytes
from mexica_ai.io.strict import quote
from mexica_ai.rpc import advice, failures, targets
from mexica_ai.rpc.calls import WAIT_S, Call, Calls, T
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

_UNREADABLE = "Exception deserializing response!"  # what grpc says of an answer that cannot be parsed
# What grpc.aio says if a request of a stream cannot be sent, since the call has ended: its status is lost.
_LOST = "Internal error from Core"
# A server that vanishes without closing its connection (a power failure) ends its calls, which may have no deadline.
KEEPALIVE = [
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # which gRPC 1.85 goes by, a minute by default
    ("grpc.http2.max_pings_without_data", 0),  # any number: a search may take long to answer
]


class _Connected(Calls):
    """The base of both clients: the server's name, and the opening of a channel to it."""

    _grpc: ClassVar[ModuleType]  # grpc or grpc.aio, whose functions have the same names

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        root_certificates: str | os.PathLike[str] | bool | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        authority: str | None = None,
    ) -> None:
        try:
            self.target = targets.parse(target)
        except ValueError as expected:
            raise SearchError(
                f"target: given {quote(target)}; expected {expected}", reason="INVALID_CONFIG", path="target"
            ) from None
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        proxy = targets.proxy_of(target, os.environ)
        # The server's name in messages.
        self._name = target if proxy is None else f"{target} (by the proxy {proxy[0]}, from {proxy[1]})"
        credentials = _credentials(root_certificates, certificate, key)
        kind = {"has_tls": credentials is not None, "is_direct": proxy is None}
        self._advisor = advice.Advisor(target, has_certificate=certificate is not None, **kind)
        options = _options(target, authority, **kind)
        if credentials is None:
            self._open = functools.partial(self._grpc.insecure_channel, target, options)
        else:
            self._open = functools.partial(self._grpc.secure_channel, target, credentials, options)
        self._opened()

    def _opened(self) -> None:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: it is a connection; make one in each process"
        )

    def _error(self, error: Any) -> MexicaAIError:
        if error.details() == _UNREADABLE:
            return self._bad_answer("no message of the call")
        failure = failures.of_call(error, self._name)
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            return failure
        what_to_do = self._advisor.on_failure(error.details() or "")
        return SearchError(f"{failure}; {what_to_do}", reason=failure.reason) if what_to_do else failure

    def _stopped(self) -> SearchError:
        return SearchError(f"server {self._name}: CANCELLED: the call was stopped", reason="CANCELLED")


class Client(_Connected):
    """A connection to a server, opened with the first call; safe to share between threads.

    Calls that fail because a server is busy or shuts down are retried, with at most five attempts in all, at
    all addresses of the target in turn, as the published `service_config` says.

    Parameters
    ----------
    target : str
        The server's address, `HOST:PORT`; several replicas as gRPC names them, such as
        ``ipv4:10.0.0.1:50051,10.0.0.2:50051`` or ``dns:///engine.example.org:50051``.
    token : str, optional
        Bearer token. Use it only with TLS, or on the same machine.
    root_certificates : path-like or True, optional
        Use TLS, and trust the authorities in this PEM file; True: those of gRPC.
    certificate, key : path-like, optional
        The client's certificate and key, PEM, for a server that requires them.
    authority : str, optional
        The name that the certificates of the servers must have, where it is not that of the target: a target of
        several addresses, such as ``ipv4:10.0.0.1:50051,10.0.0.2:50051``, names none. By default the host of the
        target; of several addresses the host that they share.

    Raises
    ------
    NotationError
        A PEM file cannot be read; reason UNREADABLE_FILE.
    SearchError
        The target or the authority is none, or a certificate is given without `root_certificates`; reason
        INVALID_CONFIG.

    Examples
    --------
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     result = client.best_turn(position, time_s=2.0)
    """

    _grpc: ClassVar[ModuleType] = grpc

    def _opened(self) -> None:
        self._channel = self._open()
        self._service: Any = engine_pb2_grpc.EngineServiceStub(self._channel)

    def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        self._channel.close()

    def _stub(self, call: Call[Any]) -> Any:
        return getattr(self._service, call.method)

    def _ask(self, describe: Callable[[], Call[T]]) -> T:
        call = describe()
        done = threading.Event()
        running = self._stub(call).future(call.request, timeout=call.timeout_s, metadata=self._metadata)
        running.add_done_callback(lambda _: done.set())
        try:
            with contextlib.nullcontext() if call.stop is None else call.stop.calling(running.cancel):
                done.wait()
            return self._value(call, running.result())
        except grpc.FutureCancelledError:
            failure: MexicaAIError = self._stopped()
        except grpc.RpcError as error:
            failure = self._error(error)
        finally:
            running.cancel()  # has no effect on a call that has ended; else we were interrupted
        # Not from within the handler: a cluster pickles an error with its context, and gRPC's cannot be pickled.
        raise failure

    def _stream(self, call: Call[T]) -> Iterator[T]:
        # The call starts now, not with the first step of the iterator.
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        return self._read_stream(running, call)

    def _read_stream(self, running: Any, call: Call[T]) -> Iterator[T]:
        try:
            for answer in running:
                yield self._value(call, answer)
            call.end()
            return
        except grpc.RpcError as error:
            failure = self._error(error)
        finally:
            running.cancel()
        raise failure  # as in `_ask`

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AsyncClient(_Connected):
    """`Client` for asyncio; use and close it in one event loop. Where it is made does not matter.

    It has the same parameters and the same methods, as coroutines; those that yield are used with
    ``async for``. Cancelling a task stops its search.
    """

    _grpc: ClassVar[ModuleType] = grpc_aio

    def _opened(self) -> None:
        self._channel: Any = None
        self._service: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        if self._channel is not None:
            self._check_loop()
            await self._channel.close()

    def _stub(self, call: Call[Any]) -> Any:
        # A channel belongs to the event loop in which it was made, so the first call makes it.
        if self._channel is None:
            self._loop = asyncio.get_running_loop()
            self._channel = self._open()
            self._service = engine_pb2_grpc.EngineServiceStub(self._channel)
        self._check_loop()
        return getattr(self._service, call.method)

    def _check_loop(self) -> None:
        if self._loop is not asyncio.get_running_loop():
            raise SearchError(
                f"AsyncClient of {self._name}: was first used in another event loop; expected one client for each "
                "loop, such as each `asyncio.run`",
                reason="OTHER_LOOP",
            )

    async def _ask(self, describe: Callable[[], Call[T]]) -> T:
        call = describe()
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        cancel = functools.partial(asyncio.get_running_loop().call_soon_threadsafe, running.cancel)
        try:
            with contextlib.nullcontext() if call.stop is None else call.stop.calling(cancel):
                return self._value(call, await running)
        except asyncio.CancelledError:
            if call.stop is not None and call.stop.is_set() and not _is_cancelling():
                raise self._stopped() from None
            raise
        except grpc_aio.AioRpcError as error:
            failure = await self._failure(error)
        finally:
            running.cancel()
        raise failure

    async def _failure(self, error: Any) -> MexicaAIError:
        """Return what `_error` does, which may ask the server what it speaks: not in this thread."""
        if error.code() is grpc.StatusCode.INTERNAL and error.details() == _LOST:
            return await self._why_lost()
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            return self._error(error)
        return await asyncio.to_thread(self._error, error)

    async def _why_lost(self) -> MexicaAIError:
        """Return why a call has ended whose status is lost: what the server says to another one, if it refuses it."""
        request = engine_pb2.ListGamesRequest()
        try:
            await self._service.ListGames(request, timeout=WAIT_S, metadata=self._metadata)
        except grpc_aio.AioRpcError as error:
            return await self._failure(error)
        problem = "the call ended before all requests were sent; send those again that have no answer"
        return SearchError(f"server {self._name}: UNAVAILABLE: {problem}", reason="UNAVAILABLE")

    async def _stream(self, call: Call[T]) -> AsyncGenerator[T, None]:
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        try:
            async for answer in running:
                yield self._value(call, answer)
            call.end()
            return
        except grpc_aio.AioRpcError as error:
            failure = await self._failure(error)
        finally:
            running.cancel()
        raise failure

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


# --- connections


def service_config() -> dict[str, Any]:
    """Return the published service config: retries with backoff and a throttle, and round robin over all replicas."""
    text = (resources.files("mexica_ai.rpc") / "service_config.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _credentials(
    root_certificates: str | os.PathLike[str] | bool | None,
    certificate: str | os.PathLike[str] | None,
    key: str | os.PathLike[str] | None,
) -> Any:
    """Return the credentials of a channel with TLS, or None for one without; files are read now."""
    if root_certificates is None or root_certificates is False:
        if certificate is not None or key is not None:
            problem = (
                "given without root_certificates; expected both, or True for those of gRPC (--tls-ca FILE, or --tls)"
            )
            raise _unusable("certificate", problem)
        return None
    if (certificate is None) != (key is None):
        name, other = ("certificate", "key") if key is None else ("key", "certificate")
        raise _unusable(name, f"given without {other}; expected both (--tls-certificate, --tls-key)")
    roots = None if root_certificates is True else read_bytes(root_certificates)
    pair = [None if path is None else read_bytes(path) for path in (key, certificate)]
    # Now, for gRPC would say of each call only that it has created no handshaker.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")  # how strong a key must be is for gRPC to say
    try:
        if roots is not None:
            context.load_verify_locations(cadata=roots.decode("ascii", "ignore"))
    except (OSError, ValueError):
        given = f"given {quote(os.fsdecode(cast('str', root_certificates)))}"
        problem = f"{given}, which holds no certificate; expected a PEM file"
        raise _unusable("root_certificates", problem) from None
    if certificate is None or key is None or not (os.path.isfile(certificate) and os.path.isfile(key)):
        return grpc.ssl_channel_credentials(roots, *pair)  # a pipe cannot be read twice
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError):
        given = f"given {quote(os.fsdecode(key))} for {quote(os.fsdecode(certificate))}"
        problem = f"{given}; expected PEM files of a certificate and, without a password, of its private key"
        raise _unusable("key", problem) from None
    return grpc.ssl_channel_credentials(roots, *pair)


def _unusable(name: str, problem: str) -> SearchError:
    return SearchError(f"{name}: {problem}", reason="INVALID_CONFIG", path=name)


def _options(target: str, authority: str | None, has_tls: bool, is_direct: bool) -> list[tuple[str, Any]]:
    """Return the options of a channel."""
    if authority is not None and not re.fullmatch(r"[\w.:%\[\]-]+", authority, re.ASCII):
        raise SearchError(
            f"authority: given {quote(authority)}; expected a name of the server's certificate, such as "
            "engine.example.org",
            reason="INVALID_CONFIG",
            path="authority",
        )
    if authority is None and has_tls:
        authority = targets.authority_of(target)
    return [
        ("grpc.service_config", json.dumps(service_config())),
        ("grpc.enable_retries", 1),
        *KEEPALIVE,
        *(targets.DIRECT if is_direct else ()),
        *([] if authority is None else [("grpc.default_authority", authority)]),
    ]

"""The page's process: the service that it calls, start and end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import uvicorn

from mexica_ai.analysis.limits import num_threads
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig, format_address
from mexica_ai.server.http.connections import OPTIONS, Connections
from mexica_ai.web import credentials
from mexica_ai.web.app import Site, make_app
from mexica_ai.web.commands import MAX_TURNS
from mexica_ai.web.engines import Cores
from mexica_ai.web.guard import Guard
from mexica_ai.web.jobs import MAX_ANALYSES, MAX_ANNOTATIONS, MAX_JUDGED
from mexica_ai.web.journal import Folder
from mexica_ai.web.seats import MAX_SECONDS

END_S = 2.0  # for streams and requests when the process ends
SWITCH_INTERVAL_S = 0.001  # longest time that a thread keeps the GIL while others wait for it


@dataclass(frozen=True)
class WebConfig:
    """The options of `mexica-ai web`.

    Parameters
    ----------
    games : path
        The folder of games.
    host, port
        Where browsers connect; port 0: any free port.
    server : str, optional
        Address of an engine service; None: one is started in this process.
    connection : mapping
        Options of `AsyncClient` for `server`.
    engines : mapping of str to EngineSpec
        The named engines.
    threads : int, optional
        Threads of one search in this process. None: searches that run at a time share the processors.
    tls_certificate, tls_key : str, optional
        PEM files.
    origin : str, optional
        Where browsers see the page behind a proxy.
    opens : bool
        Whether to open a browser.
    is_new : bool
        Whether the token and all sessions of the folder before become worthless.
    """

    games: str
    host: str = "127.0.0.1"
    port: int = 8080
    server: str | None = None
    connection: Mapping[str, Any] = field(default_factory=dict)
    engines: Mapping[str, EngineSpec] = field(default_factory=dict)
    threads: int | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    origin: str | None = None
    opens: bool = True
    is_new: bool = False


def serve(config: WebConfig) -> int:
    """Serve the page until SIGTERM or Ctrl-C; return the exit code.

    Prints the URL, which has the token, when ready. Must be called in the main thread.

    Raises
    ------
    NotationError, SearchError
        The configuration cannot be used.
    OSError
        The process cannot listen on the address.
    """
    asyncio.run(_serve(config))
    return 0


async def _serve(config: WebConfig) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(contextlib.closing(Folder(config.games)))
        listener = stack.enter_context(_listen(config.host, config.port))
        port = listener.getsockname()[1]
        own = credentials.load(folder.path, port, is_new=config.is_new)
        private = stack.enter_context(folder.private())
        client = await stack.enter_async_context(_service(config, private))
        cores = Cores(config.threads, serves=config.server is None)
        site = Site(folder, client, config.engines, own.invites, cores)
        guard = Guard(
            make_app(site),
            own,
            site.table_of,
            site.load,
            port=port,
            is_lasting=config.port != 0,
            is_tls=bool(config.tls_certificate),
            origin=config.origin,
        )
        server = _Server(
            uvicorn.Config(
                guard,
                **OPTIONS,
                timeout_graceful_shutdown=int(END_S),
                ssl_certfile=config.tls_certificate,
                ssl_keyfile=config.tls_key,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[]))
        waiting = asyncio.create_task(ended.wait())
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        accepting = asyncio.create_task(Connections(server).accept(listener))
        if not serving.done():
            url = _url(config, port, own.token)
            print(url, flush=True)
            if config.opens:
                threading.Thread(target=_open_browser, args=(url, private), daemon=True).start()
        await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        accepting.cancel()
        site.hub.close()
        site.store.keep_clocks()
        await site.jobs.close()
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """Leaves signals to `_serve`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen on {format_address(host, port)}: {error.strerror}") from None
    return listener


@contextlib.asynccontextmanager
async def _service(config: WebConfig, private: Path) -> AsyncIterator[AsyncClient]:
    """Give the client of the service: of another process, or of a server in this event loop."""
    if config.server is not None:
        async with AsyncClient(config.server, **config.connection) as client:
            yield client
        return
    token = secrets.token_urlsafe(32)
    tokens = private / "tokens"
    tokens.touch(0o600)
    tokens.write_text(f"web {token}\n")
    slots = MAX_ANALYSES + MAX_ANNOTATIONS + MAX_JUDGED + 4  # so that no analysis holds up the turn of an engine
    server = Server(
        ServerConfig(
            port=0,
            tokens_file=str(tokens),
            threads=num_threads() if config.threads is None else config.threads,
            slots=slots,
            max_slots_per_caller=slots,
            max_time_s=MAX_SECONDS,
            max_record_turns=MAX_TURNS,
            grace_s=0.1,
        )
    )
    await server.start()
    try:
        async with AsyncClient(server.address, token=token) as client:
            yield client
    finally:
        await server.drain()


def _url(config: WebConfig, port: int, token: str) -> str:
    if config.origin is not None:
        return f"{config.origin}/?token={token}"
    scheme = "https" if config.tls_certificate else "http"
    default = {"http": 80, "https": 443}[scheme]
    host = "localhost" if config.host in ("0.0.0.0", "::") else config.host
    address = format_address(host, port) if port != default else format_address(host, port).rpartition(":")[0]
    return f"{scheme}://{address}/?token={token}"


def _open_browser(url: str, private: Path) -> None:
    """Open a browser by a file that only this user can read, so that the token is in no list of processes."""
    page = private / "open.html"
    page.touch(0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(url)}">')
    webbrowser.open(page.as_uri())

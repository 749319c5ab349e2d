"""Runs a server until SIGTERM or SIGINT; the function `serve` is what the command line calls."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import sys
from typing import Any

from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig, is_loopback

SWITCH_INTERVAL_S = 0.001  # how long a thread may keep the GIL while others want it; Python's default: 5 ms
END_S = 1.0  # longest wait for the tasks that are left after draining

_logger = logging.getLogger("mexica_ai.server")


def serve(config: ServerConfig | None = None, **fields: Any) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second signal stops the searches that still run.

    SIGHUP reads the files of weights again. The process gets as many descriptors as its hard limit allows.

    Prints ``listening on HOST:PORT`` when ready. Must be called in the main thread. The caller sets up
    logging, for example by `mexica_ai.server.logs.configure`.

    Parameters
    ----------
    config : ServerConfig, optional
        By default `ServerConfig(**fields)`.

    Returns
    -------
    int
        The exit code 0, once drained.

    Raises
    ------
    SearchError
        The configuration cannot be used; reason INVALID_CONFIG.
    OSError
        The server cannot listen on the address.
    """
    config = config or ServerConfig(**fields)
    _raise_descriptors()
    asyncio.run(_serve(config))
    return 0


def _raise_descriptors() -> None:
    """Raise the soft limit of descriptors to the hard one; each connection takes one, and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # a system may refuse: then it stays as it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(config: ServerConfig) -> None:
    server = Server(config)
    signalled = asyncio.Event()

    def handle_signal() -> None:
        if signalled.is_set():
            server.scheduler.stop_searches()
        signalled.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle_signal)
    reloads: set[asyncio.Task[None]] = set()  # a task needs a reference

    def reload() -> None:
        task = loop.create_task(server.reload_weights())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    loop.add_signal_handler(signal.SIGHUP, reload)
    await server.start()
    _tune()
    _log_start(server, config)
    print(f"listening on {server.address}", flush=True)
    if server.http_address:
        print(f"HTTP on {server.http_address}", flush=True)
    await signalled.wait()
    _logger.info("draining")
    await server.drain()
    await _end_tasks()


async def _end_tasks() -> None:
    """Wait until the handlers of the calls that draining ended have finished.

    Otherwise asyncio.run would cancel them at its end, and grpc.aio prints a traceback for that.
    """
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=END_S)


def _tune() -> None:
    """Shorten the times for which a thread or the garbage collector holds the GIL and delays all calls."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # The objects made so far stay alive. Without freeze, each full collection would take about 30 ms for them.
    gc.collect()
    gc.freeze()


def _log_start(server: Server, config: ServerConfig) -> None:
    has_callers = bool(config.tokens_file or config.tls_client_ca)
    fields = {
        "address": server.address,
        "tls": bool(config.tls_certificate),
        "client_certificates": bool(config.tls_client_ca),
        "tokens": bool(config.tokens_file),
        "metrics": server.metrics.address,
        "http": server.http_address,
    }
    _logger.info("listening", extra={"fields": fields})
    if not is_loopback(config.host) and not (config.tls_certificate and has_callers):
        missing = "authentication" if config.tls_certificate else "encryption"
        _logger.warning("insecure: other machines can reach this server, and it has no %s", missing)
    if server.metrics.address and not is_loopback(config.metrics_host):
        _logger.warning("other machines can read the metrics, which have no encryption and no authentication")

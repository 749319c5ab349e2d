"""Runs a server until SIGTERM or SIGINT; the function `serve` is what the command line calls."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from typing import Any

from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig, is_loopback

SWITCH_INTERVAL_S = 0.001  # how long a thread may keep Python's lock while others want it; 5 ms by default
END_S = 1.0  # what the tasks that are left after a drain get, at most

_logger = logging.getLogger("mexica_ai.server")


def serve(config: ServerConfig | None = None, **fields: Any) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second signal stops the searches that still run.

    Prints ``listening on HOST:PORT`` when ready. Call it in the main thread. Logging is the caller's to set
    up, for example by `mexica_ai.server.logs.configure`.

    Parameters
    ----------
    config : ServerConfig, optional
        By default one made of `fields`.

    Returns
    -------
    int
        The exit code 0, once drained.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG.
    OSError
        The address cannot be listened on.
    """
    asyncio.run(_serve(config or ServerConfig(**fields)))
    return 0


async def _serve(config: ServerConfig) -> None:
    server = Server(config)
    signalled = asyncio.Event()

    def handle_signal() -> None:
        if signalled.is_set():
            server.service.stop_searches()
        signalled.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle_signal)
    await server.start()
    _tune()
    _log_start(server, config)
    print(f"listening on {server.address}", flush=True)
    await signalled.wait()
    _logger.info("draining")
    await server.drain()
    await _end_tasks()


async def _end_tasks() -> None:
    """Let the handlers of calls that drain has ended run to their end, some steps of the loop later.

    The end of asyncio.run would cancel those that still run, for which grpc.aio prints a traceback.
    """
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=END_S)


def _tune() -> None:
    """Have this process answer soon: what holds Python's lock for long would keep all calls waiting."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # What was made until now stays. Looking through it again and again would take some 30 ms each time.
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
    }
    _logger.info("listening", extra={"fields": fields})
    if not is_loopback(config.host) and not (config.tls_certificate and has_callers):
        missing = "authentication" if config.tls_certificate else "encryption"
        _logger.warning("insecure: others can reach this server, and there is no %s", missing)

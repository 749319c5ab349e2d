"""Runs a server until SIGTERM or SIGINT; the function `serve` is what the command line calls."""

from __future__ import annotations

import asyncio
import signal
import sys

from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig


def serve(host: str = "127.0.0.1", port: int = 50051, *, threads: int = 1, slots: int | None = None,
          max_time_s: float = 60.0, memory_mb: int = 1024, insecure: bool = False) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second signal stops the searches that still run.

    Prints ``listening on HOST:PORT`` when ready, errors in one line on stderr. Call it in the main thread.

    Parameters
    ----------
    host, port, threads, slots, max_time_s, memory_mb, insecure
        See ServerConfig.

    Returns
    -------
    int
        An exit code: 0 drained, 2 a bad configuration, 1 the address cannot be listened on.
    """
    try:
        config = ServerConfig(host=host, port=port, threads=threads, slots=slots, max_time_s=max_time_s,
                              memory_mb=memory_mb, insecure=insecure)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return asyncio.run(_serve(config))


async def _serve(config: ServerConfig) -> int:
    server = Server(config)
    signalled = asyncio.Event()

    def handle_signal() -> None:
        if signalled.is_set():
            server.service.stop_searches()
        signalled.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle_signal)
    try:
        await server.start()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"listening on {server.address}", flush=True)
    await signalled.wait()
    await server.drain()
    return 0

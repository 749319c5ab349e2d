"""Runs a server until SIGTERM or SIGINT; the function `serve` is what the command line calls."""

from __future__ import annotations

import asyncio
import signal

from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig


def serve(
    host: str = "127.0.0.1",
    port: int = 50051,
    *,
    threads: int = 1,
    slots: int | None = None,
    max_time_s: float = 60.0,
    memory_mb: int = 1024,
    insecure: bool = False,
) -> int:
    """Serve until SIGTERM or SIGINT, then drain; a second signal stops the searches that still run.

    Prints ``listening on HOST:PORT`` when ready. Call it in the main thread.

    Parameters
    ----------
    host, port, threads, slots, max_time_s, memory_mb, insecure
        See ServerConfig.

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
    config = ServerConfig(
        host=host,
        port=port,
        threads=threads,
        slots=slots,
        max_time_s=max_time_s,
        memory_mb=memory_mb,
        insecure=insecure,
    )
    asyncio.run(_serve(config))
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
    print(f"listening on {server.address}", flush=True)
    await signalled.wait()
    await server.drain()

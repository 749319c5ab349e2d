"""What can be configured about a server."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import NoReturn

from mexica_ai.errors import SearchError
from mexica_ai.limits import MAX_CANDIDATES, MAX_INT64, MAX_MEMORY_MB, MAX_THREADS, MAX_TIME_S, is_time
from mexica_ai.strict import quote


@dataclass(frozen=True)
class ServerConfig:
    """The configuration of one server, checked when made.

    Parameters
    ----------
    host : str
        Address to listen on. Only loopback addresses unless `insecure`: whoever can connect can use the
        processor.
    port : int
        0 to 65535; 0 takes a free one.
    threads : int
        Native threads of a search, default and cap; at least 1.
    slots : int, optional
        Searches at the same time, at least 1; by default as many as the processor cores hold. Other calls
        wait.
    max_waiting : int
        Calls that may wait for a slot, at least 0; the next one is rejected at once.
    default_time_s, max_time_s : float
        Time of a search in seconds, where a call asks for none, and cap; above 0.
    max_iterations : int
        Cap of iterations; at least 1.
    memory_mb : int
        Memory for the nodes of each search in MiB, default and cap; at least 1.
    max_candidates : int
        Cap of candidate turns in an answer; at least 1.
    deadline_margin_s : float
        What a search leaves of the caller's remaining deadline for stopping, answering and the way back; at
        least 0.02. (The way back takes under 1 ms on loopback; stopping up to 10 ms, more if the cores are
        overbooked.)
    grace_s : float
        How long a server that shuts down lets searches run before it stops them; they then answer the best so
        far.
    insecure : bool
        Allow addresses other than loopback, without encryption and without authentication.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG, naming the field, what was given and what was expected.
    """

    host: str = "127.0.0.1"
    port: int = 50051
    threads: int = 1
    slots: int | None = None
    max_waiting: int = 64
    default_time_s: float = 1.0
    max_time_s: float = 60.0
    max_iterations: int = 10**12
    memory_mb: int = 1024
    max_candidates: int = 100
    deadline_margin_s: float = 0.03
    grace_s: float = 10.0
    insecure: bool = False

    def __post_init__(self) -> None:
        self._check_integer("port", 0, 65535)
        self._check_integer("threads", 1, MAX_THREADS)
        if self.slots is None:
            object.__setattr__(self, "slots", max(1, (os.cpu_count() or 1) // self.threads))
        self._check_integer("slots", 1, 1024)
        self._check_integer("max_waiting", 0, 10**6)
        self._check_seconds("default_time_s", 0)
        self._check_seconds("max_time_s", 0)
        self._check_integer("max_iterations", 1, MAX_INT64)
        self._check_integer("memory_mb", 1, MAX_MEMORY_MB)
        self._check_integer("max_candidates", 1, MAX_CANDIDATES)
        self._check_seconds("deadline_margin_s", 0.02)
        self._check_seconds("grace_s", 0)
        if not self.insecure and not is_loopback(self.host):
            self._refuse(
                "host",
                "a loopback address (127.0.0.1, ::1 or localhost), because there is neither encryption "
                "nor authentication, or else insecure",
            )

    @property
    def address(self) -> str:
        """`host:port` as gRPC wants it."""
        return format_address(self.host, self.port)

    def _check_integer(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not low <= value <= high:
            self._refuse(name, f"an integer from {low} to {high}")

    def _check_seconds(self, name: str, low: float) -> None:
        value = getattr(self, name)
        if not is_time(value) or value < low:
            expected = f"of at least {low}" if low else "above 0"
            self._refuse(name, f"a number of seconds {expected}, at most {MAX_TIME_S}")

    def _refuse(self, name: str, expected: str) -> NoReturn:
        raise SearchError(
            f"{name}: given {quote(getattr(self, name))}; expected {expected}",
            reason="INVALID_CONFIG",
            path=name,
        )


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def format_address(host: str, port: int) -> str:
    """Return `host:port`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

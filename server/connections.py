"""A cap on the connections of one address. gRPC has none of its own, only one of all connections together.

gRPC accepts connections itself, so this looks through the descriptors of the process from time to time, which
takes Linux's /proc; elsewhere there is no cap.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket
import stat
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

CHECK_S = 0.25  # how often connections are counted
_DESCRIPTORS = "/proc/self/fd"
_logger = logging.getLogger("mexica_ai.server")


class _Connection(NamedTuple):
    inode: int
    peer: tuple[int, str] | None  # the port of the server, and the address; None for what is no connection to it
    number: int  # in the order in which they were noticed


class _Spare:
    """A descriptor that is kept free, if there is one."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self.open()

    def open(self) -> None:
        with contextlib.suppress(OSError):
            self._descriptor = os.open(os.devnull, os.O_RDONLY)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()


class Connections:
    """The connections to some ports of this process.

    Parameters
    ----------
    ports : collection of int
        Those that the server listens on.
    max_per_address : int
        Connections to one port that one address, or network of IPv6, may have.
    """

    def __init__(self, ports: Collection[int], max_per_address: int) -> None:
        self._ports = ports
        self._max_per_address = max_per_address
        self._known: dict[int, _Connection] = {}
        self._num_noticed = 0
        self._reported: set[tuple[int, str]] = set()
        self._spare = _Spare()  # for looking when connections have taken all others

    def enforce(self) -> int:
        """Close the newest connections of each address that has too many; return how many were closed."""
        self._spare.close()
        try:
            return self._enforce()
        except OSError:  # no /proc, or another thread has taken the spare descriptor: the next look may have one
            return 0
        finally:
            self._spare.open()

    def _enforce(self) -> int:
        names = os.listdir(_DESCRIPTORS)
        if len(names) <= self._max_per_address:
            return 0
        self._notice(sorted(map(int, names)))
        of_peer: dict[tuple[int, str], list[int]] = defaultdict(list)
        for descriptor, found in self._known.items():
            if found.peer:
                of_peer[found.peer].append(descriptor)
        num_closed = 0
        for peer, descriptors in of_peer.items():
            descriptors.sort(key=lambda descriptor: self._known[descriptor].number)
            surplus = descriptors[self._max_per_address :]
            num_closed += sum(self._close(descriptor) for descriptor in surplus)
            if surplus and peer not in self._reported:
                self._reported.add(peer)  # once while it lasts
                _logger.warning(
                    "an address has more than %d connections; the newest are closed",
                    self._max_per_address,
                    extra={"fields": {"address": peer[1]}},
                )
            elif not surplus:
                self._reported.discard(peer)
        self._reported &= of_peer.keys()
        return num_closed

    def _notice(self, descriptors: list[int]) -> None:
        """Bring `_known` up to date."""
        known, self._known = self._known, {}
        for descriptor in descriptors:
            with contextlib.suppress(OSError):  # closed meanwhile
                status = os.fstat(descriptor)
                if not stat.S_ISSOCK(status.st_mode):
                    continue
                found = known.get(descriptor)
                if found is None or found.inode != status.st_ino:
                    self._num_noticed += 1
                    found = _Connection(status.st_ino, self._peer_of(descriptor), self._num_noticed)
                self._known[descriptor] = found

    def _peer_of(self, descriptor: int) -> tuple[int, str] | None:
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            if copy.family not in (socket.AF_INET, socket.AF_INET6):
                return None
            port = copy.getsockname()[1]
            try:
                return (port, network_of(copy.getpeername()[0])) if port in self._ports else None
            except OSError:  # it listens, or is closed already
                return None

    def _close(self, descriptor: int) -> bool:
        """Shut down a connection, which gRPC then closes; not another that has its descriptor by now."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as copy:
            if os.fstat(copy.fileno()).st_ino == self._known[descriptor].inode:
                copy.shutdown(socket.SHUT_RDWR)
                return True
        return False


def network_of(address: str) -> str:
    """Return an address, or of IPv6 its network of 64 bits, since one host may use all the addresses of that."""
    with contextlib.suppress(ValueError):  # no address of IPv6
        found = ipaddress.IPv6Address(address)
        if found.ipv4_mapped is None:
            return f"{ipaddress.IPv6Address(found.packed[:8] + bytes(8))}/64"
    return address


def words_of(error: OSError) -> str:
    """Return what an error of a socket says; `socket.create_server` writes the address behind it once more."""
    if isinstance(error, socket.gaierror) or not error.errno:
        return error.strerror or str(error)
    return os.strerror(error.errno)


def why_taken(host: str, port: int) -> str:
    """Return why no server can listen on any address of a host now; empty if one can."""
    fault = ""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                try:
                    listener.bind(address)
                except OSError as error:
                    fault = error.strerror or str(error)
                else:
                    return ""
    except OSError as error:  # no such host
        return error.strerror or ""
    return fault

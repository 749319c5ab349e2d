"""The targets of clients, as gRPC names them: their ports, and whether a proxy stands before them."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

MAX_PORT = 65535

# Options of a channel that uses no proxy, whatever the environment says.
DIRECT: tuple[tuple[str, int | str], ...] = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.address_http_proxy_enabled_addresses", ""),
)

_SOCKETS = ("unix", "unix-abstract", "vsock")
_SCHEMES = ("dns", "ipv4", "ipv6", *_SOCKETS)
_LOOPBACK_NAMES = ("localhost", "ip6-localhost", "ip6-loopback")
_PROXY_VARIABLES = ("grpc_proxy", "https_proxy", "http_proxy")  # the first that is set counts, even if it is empty


def parse(text: str) -> str:
    """Return the target that a text is.

    ValueError, which says what is expected, if it is empty or the number of a port is none.
    """
    if not text.strip():  # gRPC's core would say it in lines of its own
        raise ValueError("HOST:PORT")
    for _, port in places(text):
        if not port or not re.fullmatch(r"-?\d+", port):
            continue  # perhaps a name that gRPC knows
        if not (re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= MAX_PORT):
            raise ValueError(f"HOST:PORT with a port from 1 to {MAX_PORT}")
    return text


def proxy_of(target: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the proxy that connections to a target use, and the variable that names it; None: they use none.

    The variables are those that gRPC reads. But what never leaves the machine never uses a proxy: loopback addresses
    and sockets of files.
    """
    variable = next((name for name in _PROXY_VARIABLES if name in environ), None)
    if variable is None:
        return None
    try:
        proxy = urlsplit(environ[variable])
    except ValueError:
        return None
    if proxy.scheme != "http" or not proxy.netloc:  # gRPC uses no others
        return None
    hosts = [host for host, _ in places(target)]
    exceptions = environ.get("no_grpc_proxy", environ.get("no_proxy", "")).split(",")
    if not hosts or any(map(_is_loopback, hosts)):
        return None
    if any(_is_within(host, entry.strip()) for host in hosts for entry in exceptions if entry.strip()):
        return None
    return proxy.netloc.rpartition("@")[2], variable  # without a password


def places(target: str) -> list[tuple[str, str | None]]:
    """Return the host of each address of a target, and its port if there is one; nothing for a socket."""
    scheme, _, rest = target.partition(":")
    if scheme.lower() not in _SCHEMES:
        rest = target
    elif scheme.lower() in _SOCKETS:
        return []
    elif rest.startswith("//"):
        rest = rest[2:].partition("/")[2]
    found: list[tuple[str, str | None]] = []
    for place in unquote(rest).lstrip("/").split(","):
        match = re.fullmatch(r"(?:\[([^\]]*)\]|([^:]*))(?::(.*))?", place, re.DOTALL)
        # Several colons without brackets are an address of IPv6 without a port.
        if match is None or (match[1] is None and ":" in (match[3] or "")):
            found.append((place, None))
        else:
            found.append((match[1] or match[2] or "", match[3]))
    return found


def authority_of(target: str) -> str | None:
    """Return the host that all of several addresses share, whose certificate is the servers'; None if there is none.

    gRPC itself would expect a certificate for the whole list of addresses. Of one address, and of a name, it knows.
    """
    hosts = [host for host, _ in places(target)]
    if len(hosts) < 2 or len(set(hosts)) > 1:
        return None
    return f"[{hosts[0]}]" if ":" in hosts[0] else hosts[0]


def _is_loopback(host: str) -> bool:
    host = host.lower().rstrip(".")
    if host in _LOOPBACK_NAMES or host.endswith(".localhost"):
        return True
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.IPv4Address(socket.inet_aton(host))  # as some resolvers read it: also 127.1
    except (OSError, ValueError):
        try:
            address = ipaddress.IPv6Address(host)
        except ValueError:
            return False
        address = address.ipv4_mapped or address
    return address.is_loopback or address.is_unspecified  # "all" addresses are reached by loopback


def _is_within(host: str, entry: str) -> bool:
    """Return whether an entry of `no_proxy` is about a host: a name, the end of one, a network, or ``*``."""
    if entry == "*" or host.lower().endswith(entry.lower()):
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False

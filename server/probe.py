"""Asks the server that runs with a configuration, on this machine, for its health."""

from __future__ import annotations

import ipaddress
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mexica_ai.rpc.targets import DIRECT
from mexica_ai.server.config import ServerConfig, format_address, refuse

TIMEOUT_S = 3.0


def health(config: ServerConfig, timeout_s: float = TIMEOUT_S) -> str:
    """Return the status of a running server, such as ``SERVING``, or else why there is none.

    Parameters
    ----------
    config : ServerConfig
        That of the server. With TLS, exactly its certificate is trusted. With `tls_client_ca` the server's own pair
        is shown as a client certificate, so the answer needs a pair of that authority.
    timeout_s : float

    Raises
    ------
    SearchError
        The port is 0, or a file cannot be used; reason INVALID_CONFIG.
    """
    if not config.port:
        refuse("port", "given 0; expected the port of the running server")
    target = format_address(_reachable(config.host), config.port)
    with _channel(config, target) as channel:
        try:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout_s)
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


def _reachable(host: str) -> str:
    """Return an address for that on which a server listens; all interfaces are no address to connect to."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host or "127.0.0.1"
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return host


def _channel(config: ServerConfig, target: str) -> grpc.Channel:
    options = [*DIRECT]
    if config.tls_certificate is None:
        return grpc.insecure_channel(target, options)
    from mexica_ai.server.auth import read_file

    assert config.tls_key  # comes with the certificate
    chain = read_file("tls_certificate", config.tls_certificate)
    pair = (read_file("tls_key", config.tls_key), chain) if config.tls_client_ca else (None, None)
    options.append(("grpc.ssl_target_name_override", _name_in(chain)))
    return grpc.secure_channel(target, grpc.ssl_channel_credentials(chain, *pair), options)


def _name_in(chain: bytes) -> str:
    """Return a name of a server's certificate, which clients compare with the one they called."""
    from cryptography import x509

    try:
        leaf = x509.load_pem_x509_certificates(chain)[0]
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return "localhost"
    found = [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
    return found[0].replace("*", "x", 1) if found else "localhost"

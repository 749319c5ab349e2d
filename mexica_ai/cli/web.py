"""`mexica-ai web`: the page to play, analyse, review and edit in the browser."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mexica_ai.analysis.limits import AUTO
from mexica_ai.cli import common
from mexica_ai.cli.client import TOKEN_VARIABLE, read_token
from mexica_ai.engines.specs import EngineSpec, parse_spec, thread_count, whole_number
from mexica_ai.io import files
from mexica_ai.io.errors import NotationError
from mexica_ai.rpc import targets

DESCRIPTION = """\
Serve a page to play against levels and engines, to analyse and to review games,
and to edit positions, until SIGTERM or Ctrl-C. The command prints the URL when
it is ready, and opens it in the browser. Anyone who has the URL can use the
page: it contains a token, which a restart on the same port keeps (--new-token:
not). Games are kept in a folder after every turn.

The page calls the engine service: that of --server, or one that the command
starts for itself. An address other than a loopback address needs encryption
(--tls-certificate, --tls-key), or --insecure.

Examples:
  mexica-ai web
  mexica-ai web --port 0 --no-open
  mexica-ai web --engine quick=mcts,time=0.2 --engine greedy=greedy
  mexica-ai web --server engine.example.org:443 --server-tls
"""
DEFAULT_PORT = 8080
MAX_THREADS = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--port",
        type=common.argument(whole_number(0, targets.MAX_PORT)),
        default=DEFAULT_PORT,
        metavar="N",
        help=f"the port to listen on; 0: any that is free (default: {DEFAULT_PORT})",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        type=common.argument(_named_engine),
        metavar="NAME=SPEC",
        help="an engine that the page offers besides the levels, such as quick=mcts,time=0.2; may be repeated",
    )
    parser.add_argument("--games", metavar="FOLDER", help=f"where games are kept (default: {_default_folder()})")
    parser.add_argument(
        "--threads",
        type=common.argument(thread_count(MAX_THREADS)),
        default=AUTO,
        metavar="N",
        help="threads of one search of this process, or auto: searches that run at a time share the processors "
        "(default: auto)",
    )
    parser.add_argument(
        "--new-token",
        action="store_true",
        help="make a new URL, so that browsers that have opened the page before must open it",
    )
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--tls-certificate", metavar="FILE", help="PEM file of the page's certificate chain")
    parser.add_argument("--tls-key", metavar="FILE", help="PEM file of its private key")
    parser.add_argument(
        "--insecure", action="store_true", help="allow an address that others can reach without encryption"
    )
    parser.add_argument(
        "--origin",
        type=common.argument(_origin),
        metavar="URL",
        help="where browsers see the page, such as https://play.example.org, if a proxy stands between",
    )
    _add_service(parser.add_argument_group("engine service"))


def _add_service(options: argparse._ArgumentGroup) -> None:
    """Declare the arguments of the engine service."""
    options.add_argument(
        "--server",
        type=common.argument(targets.parse),
        metavar="HOST:PORT",
        help="the address of an engine service, or a gRPC target of several (default: one that this command starts)",
    )
    options.add_argument(
        "--server-token-file",
        metavar="FILE",
        help=f"a file with its bearer token (default: the environment variable {TOKEN_VARIABLE}, if set)",
    )
    options.add_argument("--server-tls", action="store_true", help="use TLS and trust the usual authorities")
    options.add_argument("--server-ca", metavar="FILE", help="use TLS and trust the authorities in this PEM file")
    options.add_argument("--server-certificate", metavar="FILE", help="this client's certificate, PEM")
    options.add_argument("--server-key", metavar="FILE", help="the key of --server-certificate, PEM")
    options.add_argument(
        "--server-authority", metavar="NAME", help="the name in its certificate, if it is not the host of --server"
    )


def _default_folder() -> str:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return f"{base}/mexica-ai/games"


def _named_engine(text: str) -> tuple[str, EngineSpec]:
    name, _, spec = text.partition("=")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) or not spec:
        raise ValueError("a name of letters, digits and ._-, and an engine, such as quick=mcts,time=0.2")
    return name, parse_spec(spec)


def _origin(text: str) -> str:
    expected = "a scheme and a host, such as https://play.example.org"
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError, too
    except ValueError:
        raise ValueError(expected) from None
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query:
        raise ValueError(expected)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("web"):
        from mexica_ai.web.main import WebConfig, serve
    _check_address(args)
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    names = [name for name, _ in args.engine]
    if twice := {name for name in names if names.count(name) > 1}:
        raise NotationError(f"--engine: {min(twice)} is given twice", reason="BAD_USAGE")
    return serve(
        WebConfig(
            games=str(Path(args.games or _default_folder()).expanduser()),
            host=args.host,
            port=args.port,
            server=args.server,
            connection=_connection(args),
            engines=dict(args.engine),
            threads=None if args.threads == AUTO else args.threads,
            tls_certificate=args.tls_certificate,
            tls_key=args.tls_key,
            origin=args.origin,
            opens=not args.no_open,
            is_new=args.new_token,
        )
    )


def _check_address(args: argparse.Namespace) -> None:
    """Raise an error if others could read what goes to and from the page, or if a file of the page is missing."""
    if (args.tls_certificate is None) != (args.tls_key is None):
        raise NotationError("--tls-certificate: expected together with --tls-key", reason="BAD_USAGE")
    for path in (args.tls_certificate, args.tls_key):  # the client reads those of --server
        if path is not None:
            files.read_bytes(path)
    if args.tls_certificate or args.insecure or _is_loopback(args.host):
        return
    raise NotationError(
        f"--host: given {args.host}; expected a loopback address, or --tls-certificate and --tls-key, or --insecure",
        reason="BAD_USAGE",
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _connection(args: argparse.Namespace) -> dict[str, Any]:
    """Return how the client reaches the service of --server."""
    if args.server is None:
        return {}
    return {
        "token": read_token(args.server_token_file),
        "root_certificates": args.server_ca or args.server_tls or None,
        "certificate": args.server_certificate,
        "key": args.server_key,
        "authority": args.server_authority,
    }

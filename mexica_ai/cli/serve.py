"""`mexica-ai serve`: the gRPC server."""

from __future__ import annotations

import argparse

from mexica_ai.cli import common
from mexica_ai.engines.specs import KEYS, seconds, whole_number

SUMMARY = "answer requests over gRPC"
DESCRIPTION = """\
Serve mexica_ai.v1.EngineService over gRPC, with health checking and reflection,
until SIGTERM or Ctrl-C; searches that run are finished first, unless the signal
comes twice. Prints "listening on HOST:PORT" when it is ready. The connection is
not encrypted: an address other than a loopback one needs --insecure.

Examples:
  mexica-ai serve
  mexica-ai serve --port 0 --threads 2 --max-time 10
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port",
        type=common.argument(whole_number(0, 65535)),
        default=50051,
        metavar="N",
        help="the port to listen on; 0: any that is free (default: 50051)",
    )
    parser.add_argument(
        "--threads",
        type=common.argument(KEYS["threads"]),
        default=1,
        metavar="N",
        help="threads of one search at most (default: 1)",
    )
    parser.add_argument(
        "--slots",
        type=common.argument(whole_number(1, 1024)),
        metavar="N",
        help="searches at a time (default: as many as the processors allow with --threads each)",
    )
    parser.add_argument(
        "--max-time",
        type=common.argument(seconds),
        default=60.0,
        metavar="SECONDS",
        help="time of one search at most (default: 60)",
    )
    parser.add_argument(
        "--memory",
        type=common.argument(KEYS["memory"]),
        default=1024,
        metavar="MB",
        help="memory of one search's tree at most (default: 1024)",
    )
    parser.add_argument("--insecure", action="store_true", help="allow an address that others can reach")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("grpcio, grpcio-health-checking, grpcio-reflection, grpcio-status and protobuf"):
        from mexica_ai.server.main import serve
    return serve(
        args.host,
        args.port,
        threads=args.threads,
        slots=args.slots,
        max_time_s=args.max_time,
        memory_mb=args.memory,
        insecure=args.insecure,
    )

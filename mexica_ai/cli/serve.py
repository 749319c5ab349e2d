"""`mexica-ai serve`: the gRPC server."""

from __future__ import annotations

import argparse
import os

from mexica_ai.cli import common
from mexica_ai.io import terminal

DESCRIPTION = """\
Serve mexica_ai.v1.EngineService over gRPC, with health checking and reflection,
until SIGTERM or Ctrl-C. Running searches are finished first; a second signal
cancels them. The server prints "listening on HOST:PORT" when it is ready, and
logs to standard error. An address other than a loopback address needs both
encryption (--tls-certificate, --tls-key) and authentication (--tokens-file or
--tls-client-ca), or --insecure.

Each option can also be set in the environment, such as MEXICA_AI_MAX_TIME_S, or
in a file, such as max_time_s = 60.0; --check-config prints these names. A flag
overrides the environment, which overrides the file.

Examples:
  mexica-ai serve
  mexica-ai serve --port 0 --threads 2 --max-time 10
  mexica-ai serve --config server.toml --check-config
  mexica-ai serve --config server.toml --check-health
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    with common.needing("server"):
        from mexica_ai.server.config import CONFIG_VARIABLE, flags

    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"read a TOML file (default: what {CONFIG_VARIABLE} names, if it is set)",
    )
    parser.add_argument(
        "--check-config",
        action="store_true",
        help="print the resulting configuration as TOML and exit: with 2 if the server would refuse it, with 1 if a "
        "certificate has expired",
    )
    parser.add_argument(
        "--check-health",
        action="store_true",
        help="ask the server that runs here with this configuration whether it serves, and exit: with 0 if it does, "
        "else with 1",
    )
    for field, flag in flags().items():
        if flag.metavar:
            parser.add_argument(
                flag.name,
                dest=field,
                type=common.argument(flag.parse),
                metavar=flag.metavar,
                help=flag.help,
                action="append" if flag.repeats else "store",
            )
        else:
            parser.add_argument(
                flag.name, dest=field, action=argparse.BooleanOptionalAction, default=None, help=flag.help
            )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from mexica_ai.server.config import flags, load_config, to_toml

    config = load_config(args.config, os.environ, {field: getattr(args, field) for field in flags()})
    # gRPC's core would write its own lines to standard error, one for every failed TLS handshake. None of its lines is
    # JSON.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE" if config.log_format == "json" else "ERROR")
    with common.needing("server"):
        from mexica_ai.server import app, logs, main, probe
    if args.check_config:
        concerns = app.check(config)
        print(to_toml(config), end="")
        for concern in concerns:
            terminal.tell(f"warning: {concern.message}")
        return int(any(concern.is_fatal for concern in concerns))
    if args.check_health:
        status = probe.health(config)
        terminal.say(status)
        return int(status != "SERVING")
    logs.configure(config)
    return main.serve(config)

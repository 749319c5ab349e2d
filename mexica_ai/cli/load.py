"""`mexica-ai load`: calls a server as many callers do, and tells what becomes of it."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from mexica_ai.cli import client, common
from mexica_ai.engines.specs import KEYS, whole_number
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io import terminal
from mexica_ai.io.errors import SearchError
from mexica_ai.rpc import targets

T = TypeVar("T")

DESCRIPTION = """\
Ask a server (`mexica-ai serve`) for turns, by callers that ask again when they
have their answer (--callers), or at a rate whatever the server does (--rate).
Print throughput, latencies, refusals and missed deadlines. Ctrl-C ends the
load, and what there is by then is printed.

With --rate, a latency counts from the time when its call was to arrive, so
that no wait is left out. Latencies are those of answers. Refused calls are
retried as the published service config says, and count once.

Examples:
  mexica-ai load localhost:50051 --callers 4 --time 0.3 --duration 20
  mexica-ai load localhost:50051 --rate 10 --time 0.3 --deadline 1
  mexica-ai load dns:///engine.example.org:443 --tls --token-file token --json
"""
DEFAULT_DURATION_S = 10.0
MAX_CALLERS, MAX_RATE = 10_000, 100_000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "target",
        type=common.argument(targets.parse),
        metavar="TARGET",
        help="the server's address, HOST:PORT, or a gRPC target of several servers",
    )
    calls = parser.add_argument_group("calls")
    calls.add_argument(
        "--games",
        nargs="+",
        action="extend",
        metavar="GAME",
        help=f"games that are dealt, or files with a position each (default: {registry.DEFAULT})",
    )
    loop = calls.add_mutually_exclusive_group()
    loop.add_argument(
        "--callers",
        type=common.argument(whole_number(1, MAX_CALLERS)),
        metavar="N",
        help="callers that ask again when they have their answer (default: 1)",
    )
    loop.add_argument(
        "--rate", type=common.argument(_rate), metavar="R", help="calls a second, at times that are drawn (--seed)"
    )
    calls.add_argument(
        "--duration",
        type=common.argument(KEYS["time"]),
        default=DEFAULT_DURATION_S,
        metavar="SECONDS",
        help=f"for how long calls begin (default: {DEFAULT_DURATION_S:g})",
    )
    calls.add_argument(
        "--deadline",
        type=common.argument(KEYS["time"]),
        metavar="SECONDS",
        help="how long each call may take (default: that of the client, 30 s beyond --time)",
    )
    calls.add_argument(
        "--own-channels",
        action="store_true",
        help="let each of the --callers balance its calls by itself, as separate programs do",
    )
    of_server, seed = "the server's", "0; of the deals and of --rate only"
    common.add_search_options(parser, of_server, of_server, of_server, is_remote=True, seed_default=seed)
    client.add_security_options(parser.add_argument_group("server"))
    common.add_json_option(parser, "print one JSON object")


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= MAX_RATE:
        raise ValueError(f"a number above 0, at most {MAX_RATE:,.0f}")
    return rate


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("client"):
        from mexica_ai.rpc import load
        from mexica_ai.rpc.client import AsyncClient
    if args.own_channels and args.rate:
        raise SearchError("--own-channels: given with --rate; expected --callers", reason="INVALID_CONFIG")
    seed = args.seed or 0
    games = args.games or [registry.DEFAULT]
    names = [name for name in games if name in registry.names()]
    positions: list[Position] = load.deal(names, seed)
    positions += [common.read_position(name) for name in games if name not in names]
    search = {
        "time_s": args.time,
        "iterations": args.iterations,
        "memory_mb": args.memory,
        "threads": args.threads,
        "level": args.level,
        "elo": args.elo,
    }
    plan = load.Plan(
        args.duration, args.callers or 1, args.rate, args.deadline, seed, search, has_own_channels=args.own_channels
    )
    make_client = functools.partial(
        AsyncClient,
        args.target,
        token=client.read_token(args.token_file),
        root_certificates=args.tls_ca or args.tls or None,
        certificate=args.tls_certificate,
        key=args.tls_key,
        authority=args.authority,
    )
    with common.stop_on_interrupt() as stop:
        report = _in_loop(load.run(make_client, positions, plan, stop))
    figures = report.to_json()
    if args.json:
        print(json.dumps(figures))
    else:
        terminal.say(*_table(figures))
    return 0 if figures["answered"] else 1


def _in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; unlike `asyncio.run`, leave the thread's own event loop, which gRPC looks for."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _table(figures: dict[str, Any]) -> list[str]:
    """Return the figures as lines."""
    latency = figures["latency_s"]
    rows = [
        ("calls", f"{figures['calls']:,} in {figures['seconds']:.1f} s"),
        ("answered", f"{figures['answered']:,}, {figures['answers_per_s']:.2f} a second"),
    ]
    if figures["answered"]:
        shown = "  ".join(f"{name} {1000 * value:.0f}" for name, value in latency.items())
        rows += [("latency, ms", shown), ("iterations an answer", f"{figures['iterations_per_answer']:,.0f}")]
    refused = sum(figures["refusals"].values())
    reasons = ", ".join(f"{terminal.shorten(reason)} {number:,}" for reason, number in figures["refusals"].items())
    rows += [
        ("without an answer", f"{refused:,}" + (f": {reasons}" if reasons else "")),
        ("deadlines missed", f"{figures['deadlines_missed']:,}"),
        ("answers without a search", f"{figures['without_search']:,}, and {figures['forced']:,} with one legal turn"),
    ]
    if figures["unfinished"]:
        rows.append(("unfinished", f"{figures['unfinished']:,}"))
    return [f"{name:24}  {text}" for name, text in rows]

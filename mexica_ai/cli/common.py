"""Code shared by the subcommands: reading positions, search options, progress, and Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import (
    AUTO,
    DEFAULT_CANDIDATES,
    DEFAULT_MEMORY_MB,
    DEFAULT_THREADS,
    MAX_CANDIDATES,
    MAX_THREADS,
    Limits,
    num_threads,
)
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.specs import KEYS, KINDS, EngineSpec, takes_all_cores, thread_count, whole_number
from mexica_ai.game import compact, registry
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import position_data
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError, UnknownGameError
from mexica_ai.rpc.targets import MAX_PORT

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")

CONNECT_S = 10.0  # to a scheduler
TICK_S = 0.1  # how often progress is shown while something runs
# The default of --threads where a person waits.
PLAY_CORES = "auto; 1 with --elo or a level below full strength"
ALL_CORES = "auto; 1 with --seed, --elo or a level below full strength"
CLUSTER_METAVAR = "ADDRESS"
CLUSTER_HELP = "play on the workers of a dask scheduler, such as tcp://host:8786"
ENGINES_HELP = (
    "Engines (--engine KIND[:TARGET][,KEY=VALUE]...):\n"
    + "\n".join(f"  {kind + ':TARGET' * bool(entry.target):12} {entry.summary}" for kind, entry in KINDS.items())
    + "\nKeys such as time=2 or threads=2 override the options below; name= is a label."
)


def add_position_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument POSITION."""
    parser.add_argument(
        "position",
        metavar="POSITION",
        help="a file with one position, as JSON or in its compact form; or that form itself; or - for standard input",
    )


def add_json_option(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=help_text)


def add_search_options(
    parser: argparse.ArgumentParser,
    time_default: str,
    memory_default: str = str(DEFAULT_MEMORY_MB),
    threads_default: str = str(DEFAULT_THREADS),
    has_level: bool = True,
    is_remote: bool = False,
    seed_default: str = "drawn, and reported",
) -> None:
    """Add the options of a search; those not given are None. `is_remote`: a server searches."""
    options = parser.add_argument_group("search")
    options.add_argument(
        "--time",
        type=argument(KEYS["time"]),
        metavar="SECONDS",
        help=f"limit for the whole turn (default: {time_default})",
    )
    options.add_argument(
        "--iterations",
        type=argument(KEYS["iterations"]),
        metavar="N",
        help="limit for the iterations of the search; with --time, whichever is reached first",
    )
    options.add_argument(
        "--memory",
        type=argument(KEYS["memory"]),
        metavar="MB",
        help=f"limit for the memory of the search tree (default: {memory_default})",
    )
    add_threads_option(options, threads_default, is_remote)
    if has_level:
        add_level_options(options, f"strength of play of mcts, 1 to {levels.HIGHEST}", ", full strength")
    options.add_argument(
        "--seed",
        type=argument(KEYS["seed"]),
        metavar="N",
        help=f"seed of everything random, 0 to 2**63 - 1 (default: {seed_default})",
    )


def add_level_options(parser: argparse._ActionsContainer, what: str, of_default: str = "") -> None:
    """Add `--level` and `--elo`, at most one of which may be given."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--level",
        type=argument(KEYS["level"]),
        metavar="N",
        help=f"{what} (default: {levels.HIGHEST}{of_default})",
    )
    group.add_argument(
        "--elo",
        type=argument(KEYS["elo"]),
        metavar="RATING",
        help="the level whose rating in the game is nearest; greedy has 1000 (see `mexica-ai levels`)",
    )


def add_threads_option(parser: argparse._ActionsContainer, default: str, is_remote: bool = False) -> None:
    """Add `--threads`; None if it is not given. `is_remote`: a server searches."""
    read = thread_count()
    all_of = "as many as the server allows" if is_remote else "as many as there are processors"

    def convert(text: str) -> int | str:
        return read(text) if text != AUTO else MAX_THREADS if is_remote else num_threads()

    parser.add_argument(
        "--threads",
        type=argument(convert),
        metavar="N",
        help=f"threads that search, or {AUTO}: {all_of} (default: {default})",
    )


def add_first_action_options(parser: argparse._ActionsContainer) -> None:
    """Add `--allow` and `--avoid`; None if they are not given."""
    words = {"allow": "the only action with which the turn may begin", "avoid": "an action with which it may not begin"}
    for name, text in words.items():
        parser.add_argument(f"--{name}", action="append", metavar="ACTION", help=f"{text}; may be repeated")


def add_candidates_option(parser: argparse.ArgumentParser) -> None:
    """Add `--candidates`."""
    parser.add_argument(
        "--candidates",
        type=argument(whole_number(1, MAX_CANDIDATES)),
        default=DEFAULT_CANDIDATES,
        metavar="N",
        help=f"list the N best turns at most, 1 to {MAX_CANDIDATES} (default: {DEFAULT_CANDIDATES})",
    )


def add_engine_option(parser: argparse.ArgumentParser, repeats: bool = False) -> None:
    """Add `--engine` and `--weights`; with `repeats`, `--engine` is a list, None if it is not given."""
    if repeats:
        words = "an engine, one of those above (default: mcts); may be repeated, to compare several"
        parser.add_argument("--engine", action="append", metavar="SPEC", help=words)
    else:
        parser.add_argument(
            "--engine", default="mcts", metavar="SPEC", help="the engine, one of those above (default: mcts)"
        )
    parser.add_argument(
        "--weights",
        type=argument(KEYS["weights"]),
        metavar="FILE",
        help="weights of the engine, as `mexica-ai train` writes them; of grpc, the name of weights of the server "
        "(default: those that ship)",
    )


def threads_of(args: argparse.Namespace, spec: EngineSpec, seed: int | None = None) -> int | None:
    """Return `--threads`; without it all cores for an engine that takes them, else None. `seed`: of the engine."""
    if args.threads is None and takes_all_cores(spec, level=args.level, elo=args.elo, seed=seed):
        return num_threads()
    threads: int | None = args.threads
    return threads


def with_threads(limits: Limits, args: argparse.Namespace, spec: EngineSpec) -> Limits:
    """Return limits with the threads of an engine, see `threads_of`."""
    threads = threads_of(args, spec, args.seed)
    return limits if threads is None else dataclasses.replace(limits, threads=threads)


def search_defaults(args: argparse.Namespace, spec: EngineSpec) -> dict[str, Any]:
    """Return the search options and `--weights` as defaults for `make_engine`.

    Raises
    ------
    SearchError
        The engine's kind does not take an option that was given.
    """
    for key, what in (("level", "levels"), ("elo", "levels"), ("weights", "weights")):
        if getattr(args, key) is not None and key not in KINDS[spec.kind].keys:
            raise SearchError(f"--{key}: the engine {spec.kind} has no {what}", reason="INVALID_LIMITS")
    keys = ("time", "iterations", "memory", "threads", "level", "elo", "seed", "weights")
    return {key: getattr(args, key) for key in keys}


def add_cluster_option(parser: argparse._ActionsContainer) -> None:
    """Add `--cluster`."""
    parser.add_argument("--cluster", type=argument(scheduler_address), metavar=CLUSTER_METAVAR, help=CLUSTER_HELP)


def scheduler_address(text: str) -> str:
    """Return the address of a scheduler; dask itself would try a port that is none until its time is over."""
    try:
        _ = urlsplit(text).port
    except ValueError:
        raise ValueError(f"an address such as tcp://host:8786, with a port up to {MAX_PORT}") from None
    return text


def add_workers_options(parser: argparse._ActionsContainer, what: str) -> None:
    """Add `--jobs` and `--cluster`. `what` names the work, in the plural: a job does one of them at a time."""
    parser.add_argument(
        "--jobs",
        type=argument(whole_number(1, 1024)),
        metavar="N",
        help=f"{what} at a time, each in a process of its own (default: 1; with --cluster: its threads)",
    )
    add_cluster_option(parser)


@contextlib.contextmanager
def executor(cluster: str | None, concurrency: int | None) -> Iterator[tuple[Executor, int]]:
    """Give an executor that plays games, and how many at a time.

    Parameters
    ----------
    cluster : str or None
        Address of a dask scheduler; None for processes on this machine.
    concurrency : int or None
        By default 1, or as many threads as the cluster has now.

    Raises
    ------
    SearchError
        No scheduler answers at the address (reason UNAVAILABLE), or distributed is not installed (MISSING_PACKAGE).
    """
    if cluster is None:
        from mexica_ai.arena.pool import GamePool

        with _ended_by_sigterm(), GamePool() as pool:
            yield pool, concurrency or 1
        return
    with needing("cluster"):
        from distributed import Client
    try:
        client = Client(cluster, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SearchError(f"--cluster: no scheduler at {cluster}: {error}", reason="UNAVAILABLE") from None
    with client:
        threads = sum(client.nthreads().values())
        # Not pure: no call may be answered from the memory of an earlier one.
        pool = client.get_executor(pure=False)
        try:
            yield pool, concurrency or max(1, threads)
        finally:
            pool.shutdown(wait=False)


def argument(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return an argparse type that uses a parser of `mexica_ai.engines.specs`."""

    def convert(text: str) -> T:
        try:
            return parse(text)
        except ValueError as expected:
            raise argparse.ArgumentTypeError(f"'{terminal.shorten(text)}' is not {expected}") from None

    return convert


def game(text: str) -> str:
    """Return the name of a game, as an argparse type; if there is none, the error says why."""
    try:
        return registry.get(text).name
    except UnknownGameError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@contextlib.contextmanager
def located(where: str) -> Iterator[None]:
    """Put `where` before the message of any MexicaAIError that is raised inside."""
    try:
        yield
    except MexicaAIError as error:
        error.args = (f"{where}: {error}",)
        raise


def read_position(path: str) -> Position:
    """Read the position that a POSITION argument names; messages name the file."""
    data = read_position_data(path)
    with contextlib.nullcontext() if _is_position(path) else located(files.name_of(path)):
        return Position.from_json(data, path="position")


def _is_position(path: str) -> bool:
    """Return whether a POSITION argument is a compact position itself."""
    return compact.split_header(path) is not None and not os.path.exists(path)


def read_position_data(path: str) -> Any:
    """Read the JSON form of the position that a POSITION argument names; it is not checked."""
    if _is_position(path):
        return position_data(path, "position")
    with files.open_text(path) as file:
        text = files.read_bounded(file, path, files.MAX_JSON)
    with located(files.name_of(path)):
        return position_data(text, "position")


def read_positions(file: BinaryIO | files.Unlocked, path: str) -> Iterator[tuple[int, Position | MexicaAIError]]:
    """Yield for each line of an open file, as they come, its number and its position, or why it holds none."""
    for number, line in enumerate(files.read_lines(file, path, cuts=True), 1):
        try:
            with located(f"line {number}"):
                if len(line) > files.MAX_JSON:
                    raise NotationError(f"position: over {files.MAX_JSON:,} bytes; expected a shorter line")
                found = Position.from_text(line.strip(), path="position")
        except MexicaAIError as error:
            yield number, error
        else:
            yield number, found


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, which `timeout` sends, end the command with its processes, and with their locks."""

    def end(number: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not end the clean-up
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[Stop]:
    """Give an event that the first Ctrl-C sets; the second one raises KeyboardInterrupt."""
    stop = Stop()

    def on_interrupt(_signal: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, previous)


def in_thread(results: Iterator[T], tick: Callable[[], None] = lambda: None) -> Iterator[T]:
    """Run an iterator in another thread and yield its results, so that this thread can handle Ctrl-C.

    Parameters
    ----------
    results : iterator
        After a KeyboardInterrupt its thread is abandoned and ends with the process.
    tick : callable
        Called about every `TICK_S` seconds while waiting.
    """
    outcomes: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def work() -> None:
        try:
            for result in results:
                outcomes.put((True, result))
            outcomes.put((False, None))
        except BaseException as error:  # raised again in the waiting thread
            outcomes.put((False, error))

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            is_result, outcome = outcomes.get(timeout=TICK_S)
        except queue.Empty:
            tick()
            continue
        if is_result:
            yield outcome
        elif outcome is not None:
            raise outcome
        else:
            return


@contextlib.contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn a failed import of a package of an extra into an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SearchError(
            f"this command needs {error.name}, which is not installed: pip install 'mexica-ai[{extra}]'",
            reason="MISSING_PACKAGE",
        ) from None


def check_picture(path: str) -> None:
    """Raise an error now, before the long work, if no picture can be written to a path later."""
    with needing("plot"):
        from mexica_ai import plots
    plots.check_path(path)


class Progress:
    """Progress on standard error: a line that changes on a terminal, else a new line now and then."""

    def __init__(self, text: str) -> None:
        self._live = self._spinner = None
        self._lines, self._pace = terminal.Lines(), terminal.Pace()
        if sys.stderr.isatty():
            from rich.console import Console  # slow to import
            from rich.live import Live
            from rich.spinner import Spinner

            self._spinner = Spinner("dots")
            self.show(text)
            # What is printed goes above the line, but to a file or a pipe if standard output is one.
            is_one = sys.stdout.isatty()
            self._live = Live(self._spinner, console=Console(stderr=True), transient=True, redirect_stdout=is_one)

    def __enter__(self) -> Progress:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, text: str) -> None:
        """Replace the text."""
        if self._spinner:
            from rich.text import Text

            self._spinner.update(text=Text(terminal.escape(text)))
        else:
            self._lines.show(text)

    def count(self, text: str, done: int, total: int, hint: str = "") -> None:
        """Replace the text by one that also says how much is done, and how long the rest will take."""
        self.show(f"{text}, {self._pace.describe(done, total)}{hint}")

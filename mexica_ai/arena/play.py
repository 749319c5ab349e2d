"""One game of a tournament: the engines on their seats, their clocks, and forfeits.

`play_game` runs in a worker process, returns a record, and never raises because of an engine: a crash, a
hang, an unreadable answer and an illegal turn are forfeits. Native code in this process that ignores its stop
flag cannot be stopped, so the watchdog ends the whole process. The runner then plays the game again with
`isolated`, each engine in a process of its own, which shows which engine hangs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import faulthandler
import functools
import hashlib
import importlib.metadata
import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from mexica_ai.analysis.limits import LEAST_TIME_S, Limits, clock_margin, time_from_clock
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.arena.adjudication import Adjudicator
from mexica_ai.arena.log import Log
from mexica_ai.arena.programs import KEPT
from mexica_ai.arena.searches import SearchLog
from mexica_ai.arena.tournament import Game, Tournament, turn_seed
from mexica_ai.engines import Engine, EngineSpec, make_engine, parse_spec
from mexica_ai.engines.base import limits_in, name_turn, seen_by
from mexica_ai.engines.make import weights_id
from mexica_ai.engines.process import ProcessEngine
from mexica_ai.engines.specs import KINDS
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.records import VERSION
from mexica_ai.io.errors import MexicaAIError, SearchError

RETRIES = 2  # further attempts with on_failure="retry"
TICK_S = 0.05  # longest delay between the end of an engine's time and its stop flag
CHECK_S = 0.1  # for the turn that a server must answer before the tournament begins
CHECK_SEED = 0  # of the deal and the search of that turn
KILL_AFTER_S = 10.0  # after an engine's time and margin: code that still ignores its stop flag is killed
STARVED = 0.5  # part of its time that an engine has a processor, at most, if the machine is to blame
LATE = "no answer in time"
# The `reason` of a forfeit, by the reason of the engine's error.
REASONS = {
    "ENGINE_START": "cannot be started",
    "ENGINE_DIED": "crash",
    "ENGINE_TIMEOUT": LATE,
    "ENGINE_PROTOCOL": "unreadable answer",
    "ENGINE_ERROR": "error reported",
    "ILLEGAL_TURN": "illegal turn",
    "DEADLINE_EXCEEDED": LATE,
    "CANCELLED": LATE,
    "UNAVAILABLE": "no connection",
    "RESOURCE_EXHAUSTED": "too busy",
    # what our own server says
    "TOO_MANY_WAITING": "too busy",
    "TOO_MANY_CALLS": "too busy",
    "NO_TIME_LEFT": LATE,
    "DEADLINE_TOO_SHORT": LATE,
    "SHUTTING_DOWN": "no connection",
}
_OUTER_KEYS = ("time", "iterations", "name")  # keys of the outer spec, of the process, if an engine is isolated


@dataclass(frozen=True)
class Task:
    """A game to play.

    Parameters
    ----------
    tournament : Tournament
    game : Game
    isolated : bool
        Put every engine into a process of its own.
    opening : str, optional
        The position from which it begins, in its compact form; by default a new deal.
    log : str, optional
        The file of the log, on the machine that plays.
    """

    tournament: Tournament
    game: Game
    isolated: bool = False
    opening: str | None = None
    log: str | None = None


class _EngineFailure(Exception):  # noqa: N818
    """An engine has failed; the seat forfeits."""

    def __init__(self, seat: int, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.seat, self.reason, self.detail = seat, reason, detail


def play_game(task: Task, *, keeps_searches: bool = True) -> dict[str, Any]:
    """Play one game and return its record.

    The record's `arena` object has the keys `tournament` (see `Tournament.to_json`), `block`, `number`,
    `seating`, `isolated`, `seats` (per seat: turns, iterations, seconds, and by how many seconds its answers
    exceeded the limits, in total and at most), `failures` (of each failure, also in attempts before a
    retry: seat, reason, detail, number of the turn and position) and, unless `keeps_searches` is false, `searches`:
    what each engine expected and used at each turn, see `searches`.
    """
    failures: list[dict[str, Any]] = []
    attempts = 1 + (RETRIES if task.tournament.on_failure == "retry" else 0)
    for _ in range(attempts):
        record = _play_once(task, failures)
        if record["termination"] != "forfeit":
            break
    record["arena"]["failures"] = failures
    if not keeps_searches:
        del record["arena"]["searches"]
    return record


def check_engines(tournament: Tournament, log: str | None = None) -> None:
    """Start each engine once, and end it, to find engines that would forfeit every game; note it in the log.

    A program must answer the greeting and play the game; a server or Python code must answer one turn, of a deal that
    has nothing to do with those of the tournament.

    Raises
    ------
    SearchError, NotationError
        The error of the first engine that cannot play.
    """
    position = new_game(tournament.game, players=tournament.players, seed=CHECK_SEED)
    while position.is_chance:
        position.draw(CHECK_SEED)
    assert position.to_move is not None
    asked = seen_by(position, position.to_move)
    for text in dict.fromkeys(tournament.engines):
        spec = parse_spec(text)
        options = {key: value for key, value in spec.options.items() if key not in ("time", "iterations")}
        name = dict(zip(tournament.engines, tournament.names, strict=True))[text]
        with contextlib.ExitStack() as stack:
            writer = None
            if log and spec.kind == "cmd":
                writer = stack.enter_context(contextlib.closing(Log(log, f"check ({name})")))
            engine = stack.enter_context(_start(dataclasses.replace(spec, options=options), writer))
            if isinstance(engine, ProcessEngine):
                engine.require(tournament.game)
            if spec.kind in ("grpc", "py"):
                engine.best_turn(asked, Limits(CHECK_S, 1), seed=CHECK_SEED, candidates=1)


def _play_once(task: Task, failures: list[dict[str, Any]]) -> dict[str, Any]:
    tournament, game = task.tournament, task.game
    if task.opening is None:
        position = new_game(tournament.game, players=tournament.players, seed=tournament.deal_seed(game.block))
    else:
        position = Position.from_compact(task.opening)
    record = _begun_record(task, position)
    seats = [_Seat(task, seat) for seat in range(tournament.players)]
    adjudicator = Adjudicator(tournament, game, seen_by)
    decision = None
    searches = SearchLog()
    try:
        with contextlib.ExitStack() as stack:
            try:
                for seat in seats:
                    stack.enter_context(seat)
                while not position.is_over:
                    if position.is_chance:
                        # From the block's seed: after the same turns, all its games draw the same outcomes.
                        seed = turn_seed(tournament.deal_seed(game.block), len(record["turns"]))
                        record["turns"].append(position.draw(seed))
                        searches.add_event()
                        continue
                    if decision := adjudicator.decide(position):
                        break
                    mover, before = position.to_move, position.copy()
                    assert mover is not None
                    result = seats[mover].play(position)
                    record["turns"].append(result.turn)
                    searches.add(mover, result, tournament.players, seats[mover].last_s)
                    adjudicator.add(before, mover, result.value)
            finally:
                for seat in seats:  # tell all of them before waiting for the first
                    seat.end_input()
        if decision is None:
            record["scores"], record["winners"] = position.scores, position.winners
        else:
            record["termination"] = "adjudicated"
            record["adjudication"] = decision.to_json()
            record["winners"] = decision.winners
    except _EngineFailure as failure:
        record["termination"] = "forfeit"
        record["forfeit"] = {"seat": failure.seat, "reason": failure.reason, "detail": failure.detail}
        record["winners"] = [seat for seat in range(tournament.players) if seat != failure.seat]
        failures.append({**record["forfeit"], "turn": len(record["turns"]), "position": position.to_json()})
    record["times"] = [round(seat.used["seconds"], 6) for seat in seats]
    record["arena"]["seats"] = [seat.used for seat in seats]
    record["arena"]["searches"] = searches.to_json()
    return record


def _begun_record(task: Task, position: Position) -> dict[str, Any]:
    """Return the record of a game before its first turn."""
    tournament, game = task.tournament, task.game
    return {
        "game": tournament.game,
        "version": VERSION,
        # Early in the record, so that even the beginning of a torn line identifies the tournament.
        "arena": {
            "tournament": tournament.to_json(),
            "block": game.block,
            "number": game.number,
            "seating": list(game.seating),
            "isolated": task.isolated,
        },
        "start": position.to_json(),
        "turns": [],
        "scores": None,
        "winners": None,
        "engines": [tournament.engines[engine] for engine in game.seating],
        **_weights_of_seats(task),
        "seeds": [tournament.engine_seed(game, seat) for seat in range(tournament.players)],
        "times": [],
        "build": describe_build(tournament.game),  # of the worker, perhaps on another machine
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "termination": "finished",
    }


def _weights_of_seats(task: Task) -> dict[str, Any]:
    """Return the key `weights` of a record, the weights of each seat; no key if they are not known."""
    known = task.tournament.weights
    return {} if known is None else {"weights": [known[engine] for engine in task.game.seating]}


@functools.cache
def describe_build(game: str) -> str:
    """Return the version of this package and a digest of the code (compiled and Python) and weights that play a game.

    The digest covers this package, and that of the game if it is another one. Cached, since the process does
    not reload its code.
    """
    digest = hashlib.sha256()
    for name in dict.fromkeys(("cext", "mexica_ai", registry.package_of(game))):
        module = import_module(name)
        if not hasattr(module, "__path__"):  # a single file
            assert module.__file__ is not None
            digest.update(Path(module.__file__).read_bytes())
            continue
        for folder in map(Path, module.__path__):
            for path in sorted(folder.rglob("*")):
                if path.suffix in (".py", ".so", ".json") and path.name != "built.json":  # only a checkout has that
                    digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return f"mexica-ai {importlib.metadata.version('mexica-ai')}, code {digest.hexdigest()[:12]}"


class _Seat:
    """An engine on a seat, with its clock. As a context manager it starts and ends the engine."""

    def __init__(self, task: Task, seat: int) -> None:
        tournament = task.tournament
        self._seat = seat
        self._game = tournament.game
        self._weights = tournament.weights and tournament.weights[task.game.seating[seat]]
        self._patience_s = tournament.patience_s
        self._clock = tournament.clock
        self._remaining_s = tournament.clock[0] if tournament.clock else 0.0  # below 0 within the margin
        self._late = clock_margin()
        self._seed = tournament.engine_seed(task.game, seat)
        spec = parse_spec(tournament.engines[task.game.seating[seat]])
        self._margin_s: float = spec.options.get("margin", tournament.margin_s)  # a program's own deadline has it, too
        self._time_s: float | None = spec.options.get("time")
        self._iterations: int | None = spec.options.get("iterations")
        if KINDS[spec.kind].is_instant and self._time_s is None and not tournament.clock:
            self._iterations = self._iterations or 1  # some limit must be given; it is ignored
        others = limits_in(spec.options)
        self._others = {field: others[field] for field in ("memory_mb", "threads") if field in others}
        self._spec = _prepared(spec, tournament, task.isolated)
        self._hidden = spec if task.isolated and self._spec.kind != spec.kind else None  # in a program of its own
        self._engine: Engine | None = None
        self._restart = None if task.isolated or spec.kind != "cmd" else tournament.restart
        self._log: Log | None = None
        if task.log and self._spec.kind == "cmd":
            name = tournament.names[task.game.seating[seat]]
            self._log = Log(task.log, f"block {task.game.block} game {task.game.number} seat {seat} ({name})")
        self.used: dict[str, Any] = {"turns": 0, "iterations": 0, "seconds": 0.0, "late_s": 0.0, "late_max_s": 0.0}
        self.last_s = 0.0  # of its last turn

    def __enter__(self) -> _Seat:
        try:
            if self._hidden is not None and self._weights is not None:
                self._check_weights(weights_id(self._hidden, self._game))
            self._engine = self._kept() or _start(self._spec, self._log)
        except Exception as error:
            self._close_log()
            if getattr(error, "reason", "") in ("BAD_WEIGHTS", "OTHER_WEIGHTS"):
                raise  # the file is bad, or another one, on this machine: not a fault of the engine
            raise self._failure(error) from error
        self._check_weights(self._engine.weights_id(self._game))
        return self

    def _check_weights(self, found: str | None) -> None:
        if self._weights is not None and found not in (None, self._weights):
            raise SearchError(
                f"engine {self._hidden or self._spec}: plays with weights {found}; expected weights {self._weights}, "
                "as at the tournament's start",
                reason="OTHER_WEIGHTS",
            )

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        has_failed = error is not None and not (isinstance(error, _EngineFailure) and error.seat != self._seat)
        if self._restart and not has_failed and isinstance(self._engine, ProcessEngine):
            KEPT.keep(self._spec, self._engine)
            self._engine = None
        # A failure to close the engine does not change the game.
        with contextlib.suppress(Exception):
            if self._engine is not None:
                self._engine.close()
        self._close_log()

    def _kept(self) -> ProcessEngine | None:
        """Return the program that an earlier game of this process has left, if there is one."""
        if self._restart is None:
            return None
        return KEPT.take(self._spec, self._log, ended=self._restart == "off")

    def _close_log(self) -> None:
        if self._log:
            self._log.close()

    def end_input(self) -> None:
        """Tell a program to end, without waiting for it, unless it is kept; `__exit__` waits."""
        if self._restart is None and isinstance(self._engine, ProcessEngine):
            with contextlib.suppress(Exception):
                self._engine.end_input()

    def play(self, position: Position) -> Result:
        """Ask the engine for its turn and play it; raise `_EngineFailure` if it fails or answers too late."""
        assert self._engine is not None  # since `__enter__`
        limits = self._limits()
        seed = turn_seed(self._seed, self.used["turns"])
        if self._clock and isinstance(self._engine, ProcessEngine):
            self._engine.clock = {"remaining_s": max(0.0, self._remaining_s), "increment_s": self._clock[1]}
        allowed_s = self._allowed_s()
        seen = seen_by(position, self._seat)  # before the engine's time begins
        began, began_cpu = time.perf_counter(), time.process_time()
        try:
            with _watchdog.watch(allowed_s, self._margin_s) as stop:
                result = self._engine.best_turn(seen, limits, seed=seed, candidates=1, stop=stop)
        except Exception as error:
            self._add_usage(time.perf_counter() - began, limits)
            late = self._late_reason()
            raise self._failure(error, late, is_late=stop.is_set()) from error
        elapsed_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
        self._add_usage(elapsed_s, limits, result.iterations)
        if elapsed_s > allowed_s:
            raise _EngineFailure(
                self._seat,
                self._late_reason(),
                f"engine {self._engine.name} answered after {elapsed_s:.3f} s; expected within "
                f"{allowed_s:.6g} s ({self._explain()}){self._starved(elapsed_s, cpu_s)}",
            )
        if self._clock:
            self._remaining_s += self._clock[1] - elapsed_s
            if limits.time_s is not None and elapsed_s >= limits.time_s:
                self._late.note(elapsed_s - limits.time_s)
        try:
            position.push(result.turn)
        except MexicaAIError as error:
            detail = f"engine {self._engine.name} plays {name_turn(result.turn)}: {error}"
            raise _EngineFailure(self._seat, "illegal turn", detail) from error
        return result

    def _limits(self) -> Limits:
        time_s = self._time_s
        if self._clock:
            # A search that has no time left still has a turn to answer.
            bank_s, increment_s = self._clock
            share_s = max(LEAST_TIME_S, time_from_clock(self._remaining_s, increment_s, self._late, bank_s))
            time_s = share_s if time_s is None else min(time_s, share_s)
        return Limits(time_s, self._iterations, **self._others)

    def _allowed_s(self) -> float:
        """Return the time that a turn may take: its own or what is left on the clock, not a share of that."""
        if self._is_clock_first():
            return self._remaining_s + self._margin_s
        return self._patience_s if self._time_s is None else self._time_s + self._margin_s

    def _is_clock_first(self) -> bool:
        """Return whether what is left on the clock ends before the time of this turn, if that has its own."""
        return bool(self._clock) and (self._time_s is None or self._remaining_s < self._time_s)

    def _late_reason(self) -> str:
        return "out of time" if self._is_clock_first() else LATE

    def _starved(self, elapsed_s: float, cpu_s: float) -> str:
        """Return what to add about an engine of this process that waited for a processor for most of its time."""
        if self._spec.kind in ("cmd", "grpc", "py") or cpu_s > STARVED * elapsed_s:
            return ""
        return f"; it had a processor for only {cpu_s:.3f} s of that: the machine is busy"

    def _explain(self) -> str:
        """Return what the time that a turn may take is made of."""
        margin = f"and the margin, {self._margin_s:g} s"
        if self._is_clock_first():
            return f"what is left on its clock, {self._remaining_s:.6g} s, {margin}"
        return "--patience" if self._time_s is None else f"its time, {self._time_s:.6g} s, {margin}"

    def _add_usage(self, elapsed_s: float, limits: Limits, iterations: int = 0) -> None:
        late_s = 0.0 if limits.time_s is None else max(0.0, elapsed_s - limits.time_s)
        self.last_s = elapsed_s
        self.used["turns"] += 1
        self.used["iterations"] += iterations
        self.used["seconds"] = round(self.used["seconds"] + elapsed_s, 6)
        self.used["late_s"] = round(self.used["late_s"] + late_s, 6)
        self.used["late_max_s"] = round(max(self.used["late_max_s"], late_s), 6)

    def _failure(self, error: Exception, late: str = LATE, is_late: bool = False) -> _EngineFailure:
        reason = REASONS.get(getattr(error, "reason", ""), "error")
        if is_late or reason == LATE:
            reason = late
        is_ours = isinstance(error, MexicaAIError)
        detail = str(error) if is_ours else f"engine {self._spec}: {type(error).__name__}: {error}"
        return _EngineFailure(self._seat, reason, " ".join(detail.split()))


def _start(spec: EngineSpec, log: Log | None = None) -> Engine:
    """Make the engine of a seat. Programs are killed if this thread, which plays the game, dies."""
    return ProcessEngine(spec, dies_with_thread=True, log=log) if spec.kind == "cmd" else make_engine(spec)


def _prepared(spec: EngineSpec, tournament: Tournament, isolated: bool) -> EngineSpec:
    """Return the spec from which the engine of a seat is made; its limits come with each request."""
    options = dict(spec.options)
    if tournament.clock:
        options.pop("time", None)  # the clock may leave less time
    if isolated and spec.kind not in ("cmd", "grpc"):
        inner = dataclasses.replace(
            spec, options={key: value for key, value in options.items() if key not in _OUTER_KEYS}
        )
        command = [sys.executable, "-P", "-m", "mexica_ai", "engine", "--engine", str(inner)]
        options = {key: value for key, value in options.items() if key in _OUTER_KEYS}
        options.setdefault("name", str(spec))
        spec = EngineSpec("cmd", shlex.join(command), options)
    if spec.kind == "cmd":
        options.setdefault("margin", tournament.margin_s)
    return dataclasses.replace(spec, options=options)


# Timeouts of engines


class _Watchdog:
    """Watches the running searches of this process: sets their stop flags, and kills the process if needed.

    One thread per process checks every `TICK_S`, since a new thread for each turn would cost too much. The
    process is killed by faulthandler's thread, which does not need the interpreter's lock, so it works even if
    an engine holds that lock. It is set to the earliest time at which a search must have ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By search: when its stop flag is set, when the process is killed (monotonic), and the flag.
        self._turns: dict[int, tuple[float, float, Stop]] = {}
        self._armed_s: float | None = None  # monotonic time that faulthandler is set to
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def watch(self, allowed_s: float, margin_s: float) -> Iterator[Stop]:
        """Give an event that is set after `allowed_s`; after `margin_s` and `KILL_AFTER_S` more, kill the process."""
        stop = Stop()
        stop_s = time.monotonic() + allowed_s
        kill_s = stop_s + margin_s + KILL_AFTER_S
        with self._lock:
            self._turns[id(stop)] = stop_s, kill_s, stop
            if self._armed_s is None or self._armed_s > kill_s:
                self._arm(kill_s)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        try:
            yield stop
        finally:
            with self._lock:
                del self._turns[id(stop)]

    def _run(self) -> None:
        while True:
            time.sleep(TICK_S)
            now = time.monotonic()
            with self._lock:
                for stop_s, _, stop in self._turns.values():
                    if now >= stop_s:
                        stop.set()
                first = min((kill_s for _, kill_s, _ in self._turns.values()), default=None)
                if first is None or self._armed_s is None or first - self._armed_s > 1:
                    self._arm(first)

    def _arm(self, at_s: float | None) -> None:
        """Set faulthandler to kill the process at a monotonic time; None: never."""
        left_s = None if at_s is None else max(0.001, at_s - time.monotonic())
        if left_s is None or left_s > 1e6:  # faulthandler's timeout has a maximum
            at_s = None
            if self._armed_s is not None:
                faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(left_s, exit=True, file=_devnull())
        self._armed_s = at_s


_watchdog = _Watchdog()


@functools.cache
def _devnull() -> IO[str]:
    return open(os.devnull, "w")

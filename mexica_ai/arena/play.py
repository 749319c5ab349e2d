"""One game of a tournament: engines on their seats, their time, and what happens when one of them fails.

`play_game` runs in a worker process, answers with a record, and never raises because of an engine: a crash,
a hang, an answer that cannot be read and an illegal turn are forfeits. What no Python code can stop, native
code of this process that neither answers nor hears its stop flag, ends the process; whoever runs the games
then plays this one again with `isolated`, every engine in a process of its own, and so learns whose fault it
is.
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
from pathlib import Path
from typing import IO, Any

from mexica_ai.arena.tournament import Game, Tournament, turn_seed
from mexica_ai.engines import Engine, EngineSpec, make_engine, parse_spec
from mexica_ai.engines.process import ProcessEngine
from mexica_ai.errors import MexicaAIError, SearchError
from mexica_ai.limits import Limits, time_from_clock
from mexica_ai.position import Position, new_game
from mexica_ai.records import VERSION

RETRIES = 2  # further attempts with on_failure="retry"
TICK_S = 0.05  # how late an engine is told to stop, at most
CHECK_S = 0.1  # for the turn that a server is asked for to see whether it is there
DEAF_S = 10.0  # after its time, the margin and this, code that does not even hear the stop flag is killed
# The `reason` of a forfeit, by the reason of the engine's error.
REASONS = {
    "ENGINE_START": "cannot be started",
    "ENGINE_DIED": "crash",
    "ENGINE_TIMEOUT": "no answer in time",
    "ENGINE_PROTOCOL": "unreadable answer",
    "ENGINE_ERROR": "error reported",
    "ILLEGAL_TURN": "illegal turn",
    "DEADLINE_EXCEEDED": "no answer in time",
    "CANCELLED": "no answer in time",
    "UNAVAILABLE": "no connection",
    "RESOURCE_EXHAUSTED": "too busy",
}
_OUTER_KEYS = ("time", "iterations", "name")  # keys that stay outside when an engine is isolated


@dataclass(frozen=True)
class Task:
    """A game to play; `isolated` puts every engine into a process of its own."""

    tournament: Tournament
    game: Game
    isolated: bool = False


class _EngineFailure(Exception):  # noqa: N818
    """An engine has failed; the seat forfeits."""

    def __init__(self, seat: int, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.seat, self.reason, self.detail = seat, reason, detail


def play_game(task: Task) -> dict[str, Any]:
    """Play one game and return its record.

    The record's `arena` object has the keys `tournament` (see `Tournament.to_json`), `block`, `number`,
    `seating`, `isolated`, `seats` (of each: turns, iterations, seconds, and how late its answers were, in all
    and at most) and `failures`: seat, reason, detail, number of the turn and position of each, also of
    attempts that were begun anew.
    """
    failures: list[dict[str, Any]] = []
    attempts = 1 + (RETRIES if task.tournament.on_failure == "retry" else 0)
    for _ in range(attempts):
        record = _play_once(task, failures)
        if record["termination"] == "finished":
            break
    record["arena"]["failures"] = failures
    return record


def check_engines(tournament: Tournament) -> None:
    """Start each engine once, and end it: one that never can would forfeit every game.

    Programs must greet and know the game; servers must answer, with a turn that they may choose at once.

    Raises
    ------
    SearchError, NotationError
        Of the first engine that cannot play.
    """
    position = new_game(tournament.game, players=tournament.players, seed=tournament.deal_seed(0))
    for text in dict.fromkeys(tournament.engines):
        spec = parse_spec(text)
        options = {key: value for key, value in spec.options.items() if key not in ("time", "iterations")}
        with _start(dataclasses.replace(spec, options=options)) as engine:
            if isinstance(engine, ProcessEngine) and tournament.game not in engine.games:
                raise SearchError(
                    f"engine {engine.name} does not play {tournament.game}; it plays "
                    f"{', '.join(engine.games) or 'nothing'}",
                    reason="UNKNOWN_GAME",
                    path="engine",
                )
            if spec.kind == "grpc":
                engine.best_turn(position, Limits(CHECK_S, 1), seed=0, candidates=1)


def _play_once(task: Task, failures: list[dict[str, Any]]) -> dict[str, Any]:
    tournament, game = task.tournament, task.game
    position = new_game(tournament.game, players=tournament.players, seed=tournament.deal_seed(game.block))
    record: dict[str, Any] = {
        "game": tournament.game,
        "version": VERSION,
        # Early: the beginning of a line, all that is left of a torn one, says whose it is.
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
        "build": describe_build(),  # of whoever plays, on whichever machine,
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "termination": "finished",
    }
    seats = [_Seat(task, seat) for seat in range(tournament.players)]
    try:
        with contextlib.ExitStack() as stack:
            try:
                for seat in seats:
                    stack.enter_context(seat)
                while not position.is_over:
                    if position.is_chance:
                        # The same games by block, whoever plays them, as far as the same turns are played.
                        seed = turn_seed(tournament.deal_seed(game.block), len(record["turns"]))
                        record["turns"].append(position.draw(seed))
                    else:
                        record["turns"].append(seats[position.to_move].play(position))
            finally:
                for seat in seats:  # all are told before the first one is waited for
                    seat.end_input()
        record["scores"], record["winners"] = position.scores, position.winners
    except _EngineFailure as failure:
        record["termination"] = "forfeit"
        record["forfeit"] = {"seat": failure.seat, "reason": failure.reason, "detail": failure.detail}
        record["winners"] = [seat for seat in range(tournament.players) if seat != failure.seat]
        failures.append(
            {**record["forfeit"], "turn": len(record["turns"]), "position": position.to_json()}
        )
    record["times"] = [round(seat.used["seconds"], 6) for seat in seats]
    record["arena"]["seats"] = [seat.used for seat in seats]
    return record


def _weights_of_seats(task: Task) -> dict[str, Any]:
    """Return the key `weights` of a record: with which ones each seat plays, if that is known."""
    known = task.tournament.weights
    return {} if known is None else {"weights": [known[engine] for engine in task.game.seating]}


@functools.cache
def describe_build() -> str:
    """Return the version of this package, and a digest of its code, compiled and not, and weights.

    Of this process: what it has found once stays, since it will not load its code again.
    """
    import cext
    import mexica_ai

    digest = hashlib.sha256()
    for package in (cext, mexica_ai):
        folder = Path(package.__file__).parent
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".so", ".json"):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return f"mexica-ai {importlib.metadata.version('mexica-ai')}, code {digest.hexdigest()[:12]}"


class _Seat:
    """An engine on a seat, with its clock. As a context manager it starts and ends the engine."""

    def __init__(self, task: Task, seat: int) -> None:
        tournament = task.tournament
        self._seat = seat
        self._game = tournament.game
        self._weights = tournament.weights and tournament.weights[task.game.seating[seat]]
        self._margin_s = tournament.margin_s
        self._patience_s = tournament.patience_s
        self._clock = tournament.clock
        self._remaining_s = tournament.clock[0] if tournament.clock else 0.0
        self._seed = tournament.engine_seed(task.game, seat)
        spec = parse_spec(tournament.engines[task.game.seating[seat]])
        self._time_s: float | None = spec.options.get("time")
        self._iterations: int | None = spec.options.get("iterations")
        self._others = {
            field: spec.options[key]
            for key, field in (("memory", "memory_mb"), ("threads", "threads"))
            if key in spec.options
        }
        self._spec = _prepared(spec, tournament, task.isolated)
        self._engine: Engine | None = None
        self.used = {"turns": 0, "iterations": 0, "seconds": 0.0, "late_s": 0.0, "late_max_s": 0.0}

    def __enter__(self) -> _Seat:
        try:
            self._engine = _start(self._spec)
        except Exception as error:
            if getattr(error, "reason", "") == "BAD_WEIGHTS":
                raise  # of this machine: no fault of the engine
            raise self._failure(error) from error
        found = self._engine.weights_id(self._game)
        if self._weights is not None and found not in (None, self._weights):
            raise SearchError(
                f"engine {self._spec}: plays with weights {found}; expected weights {self._weights}, as the "
                "tournament began",
                reason="OTHER_WEIGHTS",
            )
        return self

    def __exit__(self, *exc_info: object) -> None:
        # An engine that cannot even be ended has done its harm; the game is as it is.
        with contextlib.suppress(Exception):
            self._engine.close()

    def end_input(self) -> None:
        """Tell a program to end; closing waits for it."""
        if isinstance(self._engine, ProcessEngine):
            with contextlib.suppress(Exception):
                self._engine.end_input()

    def play(self, position: Position) -> list[str]:
        """Ask the engine for its turn and play it; raise `_EngineFailure` if there is none, or too late."""
        limits = self._limits()
        seed = turn_seed(self._seed, self.used["turns"])
        if self._clock and isinstance(self._engine, ProcessEngine):
            self._engine.clock = {"remaining_s": self._remaining_s, "increment_s": self._clock[1]}
        allowed_s = self._patience_s if limits.time_s is None else limits.time_s + self._margin_s
        if self._clock and self._time_s is None:
            allowed_s = self._remaining_s + self._margin_s
        began = time.perf_counter()
        try:
            with _watchdog.watch(allowed_s, self._margin_s) as stop:
                result = self._engine.best_turn(
                    position.view(self._seat), limits, seed=seed, candidates=1, stop=stop
                )
        except Exception as error:
            self._note(time.perf_counter() - began, limits)
            raise self._failure(error, is_late=stop.is_set()) from error
        elapsed_s = time.perf_counter() - began
        self._note(elapsed_s, limits, result.iterations)
        if elapsed_s > allowed_s:
            raise _EngineFailure(
                self._seat,
                "no answer in time",
                f"engine {self._engine.name} answered after {elapsed_s:.3f} s; expected within "
                f"{allowed_s:g} s",
            )
        self._stop_clock(elapsed_s)
        try:
            position.push(result.turn)
        except MexicaAIError as error:
            detail = f"engine {self._engine.name} plays the turn {'; '.join(result.turn)!r}: {error}"
            raise _EngineFailure(self._seat, "illegal turn", detail) from error
        return result.turn

    def _limits(self) -> Limits:
        time_s = self._time_s
        if self._clock:
            share_s = time_from_clock(self._remaining_s, self._clock[1])
            time_s = share_s if time_s is None else min(time_s, share_s)
        return Limits(time_s, self._iterations, **self._others)

    def _stop_clock(self, elapsed_s: float) -> None:
        if not self._clock:
            return
        self._remaining_s -= elapsed_s
        if self._remaining_s < 0:
            detail = f"engine {self._engine.name} has overdrawn its clock by {-self._remaining_s:.3f} s"
            raise _EngineFailure(self._seat, "out of time", detail)
        self._remaining_s += self._clock[1]

    def _note(self, elapsed_s: float, limits: Limits, iterations: int = 0) -> None:
        late_s = 0.0 if limits.time_s is None else max(0.0, elapsed_s - limits.time_s)
        self.used["turns"] += 1
        self.used["iterations"] += iterations
        self.used["seconds"] = round(self.used["seconds"] + elapsed_s, 6)
        self.used["late_s"] = round(self.used["late_s"] + late_s, 6)
        self.used["late_max_s"] = round(max(self.used["late_max_s"], late_s), 6)

    def _failure(self, error: Exception, is_late: bool = False) -> _EngineFailure:
        reason = "no answer in time" if is_late else REASONS.get(getattr(error, "reason", ""), "error")
        is_ours = isinstance(error, MexicaAIError)
        detail = str(error) if is_ours else f"engine {self._spec}: {type(error).__name__}: {error}"
        return _EngineFailure(self._seat, reason, " ".join(detail.split()))


def _start(spec: EngineSpec) -> Engine:
    """Make the engine of a seat. Programs die with this thread, which plays the game and then ends them."""
    return ProcessEngine(spec, dies_with_thread=True) if spec.kind == "cmd" else make_engine(spec)


def _prepared(spec: EngineSpec, tournament: Tournament, isolated: bool) -> EngineSpec:
    """Return the spec that the engine of a seat is made from; its limits come with each request."""
    options = dict(spec.options)
    if tournament.clock:
        options.pop("time", None)  # what the clock leaves may be less
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


# Waiting for an engine


class _Watchdog:
    """Watches the engines at work in this process: tells them to stop, and ends the process if they are deaf.

    A thread looks every `TICK_S`; one a process, since starting one for each turn would cost more than all
    else here. faulthandler's thread, which needs no lock of the interpreter, is set to the earliest of the
    moments at which an engine counts as deaf; so it also ends a process in which nobody else can run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[int, tuple[float, float, threading.Event]] = {}  # late and deaf from then on; stop
        self._fuse_s: float | None = None  # what faulthandler is set to, on the monotonic clock
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def watch(self, allowed_s: float, margin_s: float) -> Iterator[threading.Event]:
        """Give an event that is set after `allowed_s`; `DEAF_S` and a margin later the process ends."""
        stop = threading.Event()
        late_s = time.monotonic() + allowed_s
        deaf_s = late_s + margin_s + DEAF_S
        with self._lock:
            self._turns[id(stop)] = late_s, deaf_s, stop
            if self._fuse_s is None or self._fuse_s > deaf_s:
                self._set_fuse(deaf_s)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, daemon=True)
                self._thread.start()
        try:
            yield stop
        finally:
            with self._lock:
                del self._turns[id(stop)]

    def _look(self) -> None:
        while True:
            time.sleep(TICK_S)
            now = time.monotonic()
            with self._lock:
                for late_s, _, stop in self._turns.values():
                    if now >= late_s:
                        stop.set()
                first = min((deaf_s for _, deaf_s, _ in self._turns.values()), default=None)
                if first is None or self._fuse_s is None or first - self._fuse_s > 1:
                    self._set_fuse(first)

    def _set_fuse(self, at_s: float | None) -> None:
        left_s = None if at_s is None else max(0.001, at_s - time.monotonic())
        if left_s is None or left_s > 1e6:  # its clock cannot count for years
            at_s = None
            if self._fuse_s is not None:
                faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(left_s, exit=True, file=_nowhere())
        self._fuse_s = at_s


_watchdog = _Watchdog()


@functools.cache
def _nowhere() -> IO[str]:
    return open(os.devnull, "w")

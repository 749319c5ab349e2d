"""`mexica-ai engine`: an engine for other programs, which speaks the stdio protocol (docs/cli.md).

A thread reads the requests and the main thread answers them in order, so that a stop can arrive during a
search.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mexica_ai.analysis.limits import DEFAULT_TIME_S, LEAST_TIME_S, Limits, clock_margin, time_from_clock
from mexica_ai.analysis.stopping import Stop
from mexica_ai.cli import common
from mexica_ai.engines import Engine, make_engine, parse_spec
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.numbers import MAX_TIME_S
from mexica_ai.io.strict import Nullable, check_shape, parse_json, quote
from mexica_ai.io.terminal import shorten

DESCRIPTION = f"""\
Read one JSON request per line from standard input and answer each with one JSON
line on standard output; docs/cli.md describes the protocol. The end of the
input ends the program. A running search is stopped, and its best turn so far is
still answered.

--time and --iterations are for requests with neither limits nor a clock; keys
of the engine's spec override the limits of a request.

{common.ENGINES_HELP}

Example:
  echo '{{"hello": 1}}' | mexica-ai engine --threads 2
"""

PROTOCOL_VERSION = 1
MAX_LINE = 1 << 20  # bytes; a request is a few kilobytes
MAX_UNSEEN_S = 1.0  # largest part of a turn's time on the clock that the process does not see
MAX_WAITING = 64  # queued requests; with more, the reader blocks, and then the program that sends them

_NUMBER = Nullable(float)
_REQUEST_SHAPE = {
    "position": dict,
    "limits?": Nullable({"time_s?": _NUMBER, "iterations?": Nullable(int)}),
    "clock?": Nullable({"remaining_s": float, "increment_s?": float}),
    "seed?": Nullable(int),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_engine_option(parser)
    common.add_search_options(parser, "1, if --iterations is not given either")
    common.add_candidates_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    spec = parse_spec(args.engine)
    with make_engine(spec, **common.search_defaults(args, spec)) as engine:
        server = _Server(engine, args)
        threading.Thread(target=server.read, args=(sys.stdin.fileno(),), daemon=True).start()
        server.answer()
    return 0


@dataclass
class _Request:
    """A request that waits for its answer; `error` is not empty if it is invalid."""

    data: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    stop: Stop = field(default_factory=Stop)
    is_stop: bool = False  # it has no answer: it only ends what the engine does in the others' time
    due_s: float = math.inf  # monotonic time at which its search must end


class _Server:
    def __init__(self, engine: Engine, args: argparse.Namespace) -> None:
        self._engine = engine
        self._args = args
        self._waiting: queue.Queue[_Request | None] = queue.Queue(MAX_WAITING)
        self._unanswered: set[Stop] = set()
        self._late = clock_margin()
        self._bank_s = self._left_s = 0.0  # the most time that was left on the clock of this game, and the last
        self._took_s = 0.0  # what all answers since then took
        self._played: tuple[Position, list[str]] | None = None  # the last position, and the answer to it
        self._table = ("", 0)  # name and number of seats of this game
        self._lock = threading.Lock()  # guards _unanswered
        self._problem: str | None = None  # why the input could not be read on

    def read(self, fd: int) -> None:
        """Queue requests until the input ends. A stop applies to all requests not answered yet."""
        try:
            os.set_blocking(fd, True)  # the parent may have left it otherwise
            self._queue(fd)
        except OSError as error:
            self._problem = error.strerror
        finally:
            self._stop_all()
            self._waiting.put(None)

    def _queue(self, fd: int) -> None:
        for line in _lines(fd):
            if len(line) > MAX_LINE:
                request = _Request(error=f"request: a line of more than {MAX_LINE} bytes")
            else:
                request = _parse_line(line)
            if "stop" in request.data:
                self._stop_all()
                self._waiting.put(_Request(is_stop=True))
                continue
            with self._lock:
                self._unanswered.add(request.stop)
            self._waiting.put(request)

    def _stop_all(self) -> None:
        with self._lock:
            for stop in self._unanswered:
                stop.set()

    def answer(self) -> None:
        """Answer queued requests until the input ends; raise NotationError if it cannot be read, UNREADABLE_FILE."""
        while (request := self._waiting.get()) is not None:
            self._engine.rest()
            if request.is_stop:
                continue
            began_s = time.monotonic()
            print(json.dumps(self._answer(request)), flush=True)
            ended_s = time.monotonic()
            self._took_s += ended_s - began_s
            if (late_s := ended_s - request.due_s) >= 0:
                self._late.note(late_s)
            with self._lock:
                self._unanswered.discard(request.stop)
            self._ponder()
        if self._problem:
            raise NotationError(f"cannot read standard input: {self._problem}", reason="UNREADABLE_FILE")

    def _ponder(self) -> None:
        """Let the engine think on after the turn that was just answered, if nothing waits and its spec says so."""
        played, self._played = self._played, None
        if played is not None and self._waiting.empty():
            with contextlib.suppress(MexicaAIError):  # without memory for it, it does not
                self._engine.ponder(*played)

    def _answer(self, request: _Request) -> dict[str, Any]:
        request_id = request.data.get("id")
        if not _is_id(request_id):
            request_id = None
        try:
            if request.error:
                raise NotationError(request.error)
            if "hello" in request.data:
                return self._greet(request.data)
            return {"id": request_id, **self._search(request)}
        except MexicaAIError as error:
            return {"id": request_id, "error": str(error)}
        except Exception as error:  # a bug must not affect other requests
            traceback.print_exc()
            return {"id": request_id, "error": f"internal error: {error!r}"}

    def _greet(self, data: dict[str, Any]) -> dict[str, Any]:
        if data != {"hello": PROTOCOL_VERSION}:
            raise NotationError(
                f'request: given {shorten(json.dumps(data))}; expected {{"hello": {PROTOCOL_VERSION}}}, '
                "the only version of the protocol"
            )
        return {
            "hello": PROTOCOL_VERSION,
            "name": f"mexica-ai {self._engine.name}",
            "games": list(registry.names()),
        }

    def _search(self, request: _Request) -> dict[str, Any]:
        data = request.data
        if not _is_id(data.get("id")):
            raise NotationError(f"request.id: given {quote(data.get('id'))}; expected an integer or a string")
        check_shape(data, {"id": type(data["id"]), **_REQUEST_SHAPE}, "request")
        began_s = time.monotonic()
        position = Position.from_json(data["position"], path="request.position")
        limits = self._limits(data, position)
        if limits.time_s is not None and "time" not in self._engine.spec.options:
            request.due_s = began_s + limits.time_s
        result = self._engine.best_turn(
            position,
            limits,
            seed=data.get("seed"),
            candidates=self._args.candidates,
            stop=request.stop,
        ).to_json()
        self._played = position, result["turn"]
        for candidate in result["candidates"]:
            for name in ("forecast", "value_error", "expected_scores_error"):  # not part of the protocol
                del candidate[name]
        del result["first_actions"]
        return {"turn": result.pop("turn"), "info": result}

    def _limits(self, data: dict[str, Any], position: Position) -> Limits:
        args = self._args
        given = data.get("limits") or {}
        time_s, iterations = given.get("time_s"), given.get("iterations")
        if time_s is None and data.get("clock"):
            time_s = self._time_from_clock(data["clock"], position)
        if time_s is None and iterations is None:
            time_s, iterations = args.time, args.iterations
        if time_s is None and iterations is None:
            time_s = DEFAULT_TIME_S
        others = {"memory_mb": args.memory, "threads": args.threads}
        return Limits(time_s, iterations, **{key: value for key, value in others.items() if value is not None})

    def _time_from_clock(self, clock: dict[str, Any], position: Position) -> float:
        """Return the seconds for one turn of a game with a clock, by the rule in docs/cli.md."""
        for key, value in clock.items():
            if not 0 <= value <= MAX_TIME_S:
                raise NotationError(
                    f"request.clock.{key}: given {quote(value)}; expected a number of seconds from 0 to {MAX_TIME_S}",
                    reason="OUT_OF_RANGE",
                    path=f"request.clock.{key}",
                )
        remaining_s = clock["remaining_s"]
        increment_s = clock.get("increment_s", 0.0)
        table = (position.game, position.players)
        change_s = remaining_s - self._left_s - increment_s
        is_same_game = table == self._table and -self._took_s - MAX_UNSEEN_S <= change_s <= 0
        self._bank_s = max(self._bank_s, remaining_s) if is_same_game else remaining_s
        self._left_s, self._took_s, self._table = remaining_s, 0.0, table
        share_s = time_from_clock(remaining_s, increment_s, self._late, self._bank_s)
        return max(LEAST_TIME_S, share_s)


def _is_id(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _parse_line(line: bytes) -> _Request:
    try:
        data = parse_json(line, "request")
        if not isinstance(data, dict):
            raise NotationError(f"request: given {quote(data)}; expected an object")
        if "stop" in data and data != {"stop": 1}:
            raise NotationError(f'request: given {shorten(json.dumps(data))}; expected {{"stop": 1}}')
    except NotationError as error:
        return _Request(error=str(error))
    return _Request(data)


def _lines(fd: int) -> Iterator[bytes]:
    """Yield the lines of a file descriptor, without newlines; of a line that is too long only the beginning.

    Does not use `sys.stdin`: a thread that still reads when the program ends would hold its lock for ever.
    """
    buffer = b""
    is_skipping = False
    while chunk := os.read(fd, 65536):
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            if not is_skipping:
                yield line
            is_skipping = False
        if len(buffer) > MAX_LINE:
            if not is_skipping:
                yield buffer
            buffer, is_skipping = b"", True
    if buffer and not is_skipping:
        yield buffer

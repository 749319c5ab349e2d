"""Whether a program keeps to the stdio protocol (docs/cli.md): one check after the other, each with what was found.

Main function: `check_program`. The program is driven line by line, without the class that plays with it, so that a
check also says what that class would only see as silence.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from mexica_ai.engines import EngineSpec, make_engine
from mexica_ai.engines.base import find_fault, seen_by
from mexica_ai.engines.process import (
    DEFAULT_MARGIN_S,
    EXIT_POLL_S,
    EXIT_TIMEOUT_S,
    HELLO_TIMEOUT_S,
    MAX_LINE,
    PROTOCOL_VERSION,
    kill_group,
    name_games,
    split_command,
)
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.strict import parse_json, quote

OK, FAILED, NOTE = "ok", "FAILED", "note"
LONG_S = 60.0  # of a search that is stopped
BEFORE_STOP_S = 0.3
SILENCE_S = 0.2  # after which nothing more is expected
SEED = 1
STDERR_BYTES = 1 << 14
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Parameters
    ----------
    name : str
    status : str
        "ok", "FAILED", or "note": the protocol asks for it, but the arena does without.
    detail : str
    """

    name: str
    status: str
    detail: str


class _Violation(Exception):  # noqa: N818
    """The program violated the protocol."""


def check_program(
    spec: EngineSpec, *, games: list[str] | None = None, time_s: float = 0.2, margin_s: float = DEFAULT_MARGIN_S
) -> Iterator[Finding]:
    """Yield the findings, one by one; stop after a greeting without which nothing else can be checked.

    Parameters
    ----------
    spec : EngineSpec
        Of kind `cmd`; a `margin` in it overrides `margin_s`.
    games : list of str, optional
        The games to play, by default those that the program says it plays.
    time_s : float
        Limit of a turn.
    margin_s : float
        How much later an answer may come.

    Raises
    ------
    NotationError
        The spec is of another kind, or its command cannot be split.
    """
    if spec.kind != "cmd":
        raise NotationError(
            f"engine spec {str(spec)!r}: given the kind {spec.kind}; expected a program, cmd:COMMAND",
            reason="BAD_ENGINE_SPEC",
            path="engine",
        )
    yield from _Checker(spec, games, time_s, spec.options.get("margin", margin_s)).run()


class _Checker:
    def __init__(self, spec: EngineSpec, games: list[str] | None, time_s: float, margin_s: float) -> None:
        self._command = split_command(spec)
        self._time_s, self._margin_s = time_s, margin_s
        self._wanted = games
        self._games: list[str] = []
        self._program: _Program | None = None

    def run(self) -> Iterator[Finding]:
        try:
            finding = self._check("greeting", FAILED, self._greeting)
            yield finding
            if finding.status == FAILED:
                return
            yield self._check("games", FAILED, self._which_games)
            if not self._games:
                return
            for game in self._games:
                yield self._check(f"a game of {game}", FAILED, partial(self._whole_game, game))
                yield self._check(f"seats of {game}", FAILED, partial(self._seats, game))
            for name, status, call in (
                ("ids", FAILED, self._ids),
                ("limit of iterations", FAILED, self._iterations),
                ("clock", FAILED, self._clock),
                ("keys that are missing", NOTE, self._missing_keys),
                ("stop", FAILED, self._stop),
                ("stop without a request", NOTE, self._idle_stop),
                ("a line that is not JSON", NOTE, self._bad_line),
                ("a position that is none", NOTE, self._bad_position),
                ("end of input", FAILED, self._end_of_input),
                ("end of input while searching", NOTE, self._end_while_searching),
            ):
                yield self._check(name, status, call)
        finally:
            self._close()

    def _check(self, name: str, status: str, call: Callable[[], str]) -> Finding:
        """Run a check; after a violation the next one begins with a new process."""
        try:
            return Finding(name, OK, call())
        except _Violation as error:
            program = self._program
            self._close()
            said = program.last_error_line() if program else ""
            return Finding(name, status, f"{error}; its last line on stderr: {quote(said)}" if said else str(error))

    # The checks; each returns what was found, or raises _Violation.

    def _greeting(self) -> str:
        program = self._started()
        return f"answered in {program.greeted_s:.2f} s, name {quote(program.greeting.get('name'))}"

    def _which_games(self) -> str:
        said = [game for game in self._started().greeting["games"] if isinstance(game, str)]
        known = [game for game in said if game in registry.names()]
        missing = [game for game in self._wanted or () if game not in said]
        if missing or not known:
            raise _Violation(f"plays {name_games(said)}; expected {', '.join(missing) or 'a game'}")
        self._games = self._wanted or known
        return name_games(said)

    def _whole_game(self, game: str) -> str:
        """Play one seat against the engine `random`."""
        position = new_game(game, players=2, seed=SEED)
        turns, worst_s = 0, 0.0
        with make_engine("random") as other:
            while not position.is_over:
                if position.is_chance:
                    position.draw(turns)
                elif position.to_move == 0:
                    turn, seconds = self._turn(position, f"turn {turns}")
                    position.push(turn)
                    turns, worst_s = turns + 1, max(worst_s, seconds)
                else:
                    position.push(other.best_turn(position, seed=turns, candidates=1).turn)
        return f"{turns} legal turns, the slowest in {worst_s:.2f} s of {self._time_s:g} s"

    def _seats(self, game: str) -> str:
        """Ask for the first turn of every number of seats."""
        counts = []
        for players in (2, 3, 4):
            try:
                position = new_game(game, players=players, seed=SEED)
            except MexicaAIError:
                continue  # the game does not allow so many
            while position.is_chance:
                position.draw(SEED)
            self._turn(position, f"the first turn with {players} seats")
            counts.append(str(players))
        return f"answers with {', '.join(counts)} seats"

    def _ids(self) -> str:
        for request_id in (2**53 - 1, "a string: \u00e9"):
            self._ask({"id": request_id, "position": self._position(), "limits": {"time_s": self._time_s}})
        return "integers and strings come back"

    def _iterations(self) -> str:
        limits = {"time_s": None, "iterations": 1}
        _, seconds = self._ask({"id": 1, "position": self._position(), "limits": limits}, LONG_S)
        return f"1 iteration in {seconds:.2f} s"

    def _clock(self) -> str:
        clock = {"remaining_s": 10 * self._time_s, "increment_s": 0.0}
        request = {"id": 1, "position": self._position(), "limits": {"time_s": self._time_s}, "clock": clock}
        _, seconds = self._ask(request, clock["remaining_s"])
        return f"{seconds:.2f} s of {clock['remaining_s']:g} s"

    def _missing_keys(self) -> str:
        less: tuple[dict[str, Any], ...] = ({}, {"limits": None, "clock": None, "seed": None}, {"limits": {}})
        for more in less:
            self._ask({"id": 1, "position": self._position(), **more}, LONG_S)
        return "answers without limits, clock and seed"

    def _stop(self) -> str:
        program = self._started()
        program.send({"id": 1, "position": self._position(), "limits": {"time_s": LONG_S}, "seed": SEED})
        line = program.receive(BEFORE_STOP_S)
        began = time.monotonic()
        program.send({"stop": 1})
        early = line is not None
        if line is None:
            line = program.receive(self._margin_s)
            if line is None:
                after = f"{self._margin_s:g} s (the margin) after it was stopped, with a limit of {LONG_S:g} s"
                raise _Violation(program.why_silent(after))
        seconds = time.monotonic() - began
        self._check_answer(line, 1)
        self._expect_silence("the answer")
        # It may take a moment to end.
        self._ask({"id": 2, "position": self._position(), "limits": {"time_s": self._time_s}})
        return "answered before it was stopped" if early else f"answered {seconds:.2f} s after it was stopped"

    def _idle_stop(self) -> str:
        self._started().send({"stop": 1})
        self._expect_silence("a stop without a request")
        self._ask({"id": 1, "position": self._position(), "limits": {"time_s": self._time_s}})
        return "ignored"

    def _bad_line(self) -> str:
        self._started().send_line("what?")
        answer = self._answer(self._time_s + self._margin_s)
        if answer.get("id", 0) is not None or not isinstance(answer.get("error"), str):
            raise _Violation(f'answered {quote(json.dumps(answer))}; expected {{"id": null, "error": "..."}}')
        self._ask({"id": 1, "position": self._position(), "limits": {"time_s": self._time_s}})
        return "answered with an error, and goes on"

    def _bad_position(self) -> str:
        self._started().send({"id": 7, "position": {"game": self._games[0]}, "limits": {"time_s": self._time_s}})
        answer = self._answer(self._time_s + self._margin_s)
        if answer.get("id") != 7 or not isinstance(answer.get("error"), str):
            raise _Violation(f'answered {quote(json.dumps(answer))}; expected {{"id": 7, "error": "..."}}')
        self._ask({"id": 1, "position": self._position(), "limits": {"time_s": self._time_s}})
        return "answered with an error, and goes on"

    def _end_of_input(self) -> str:
        program = self._started()
        seconds, status = program.end(EXIT_TIMEOUT_S + self._margin_s)
        if status is None:
            raise _Violation(f"did not end within {EXIT_TIMEOUT_S + self._margin_s:g} s")
        self._program = None
        if status:
            raise _Violation(f"ended with exit status {status}; expected 0")
        late = f"; the arena kills a program after {EXIT_TIMEOUT_S:g} s" if seconds > EXIT_TIMEOUT_S else ""
        return f"ended in {seconds:.2f} s{late}"

    def _end_while_searching(self) -> str:
        program = self._started()
        program.send({"id": 1, "position": self._position(), "limits": {"time_s": LONG_S}, "seed": SEED})
        program.close_input()
        line = program.receive(self._margin_s)
        if line is None:
            raise _Violation(program.why_silent(f"{self._margin_s:g} s (the margin)"))
        self._check_answer(line, 1)
        _, status = program.end(EXIT_TIMEOUT_S + self._margin_s)
        if status is None:
            raise _Violation(f"answered, but did not end within {EXIT_TIMEOUT_S + self._margin_s:g} s")
        self._program = None
        return "answered, and ended"

    # What the checks share.

    def _started(self) -> _Program:
        """Return the running program, greeted; start it if there is none."""
        if self._program is not None:
            return self._program
        try:
            self._program = program = _Program(self._command)
        except OSError as error:
            raise _Violation(f"cannot be started: {error}") from None
        began = time.monotonic()
        program.send({"hello": PROTOCOL_VERSION})
        line = program.receive(HELLO_TIMEOUT_S)
        program.greeted_s = time.monotonic() - began
        if line is None:
            problem = program.why_silent(f"{HELLO_TIMEOUT_S:g} s of the greeting")
            # A program that does not flush its output does so when it ends.
            program.close_input()
            if not program.is_closed and program.receive(EXIT_TIMEOUT_S) is not None:
                problem += "; the answer came at the end of the input: it does not flush its output after every line"
            raise _Violation(problem)
        answer = _parse(line)
        if answer.get("hello") != PROTOCOL_VERSION or not isinstance(answer.get("games"), list):
            raise _Violation(
                f'answered {quote(line)} to the greeting; expected {{"hello": 1, "name": "...", "games": ["..."]}}'
            )
        program.greeting = answer
        return program

    def _position(self) -> dict[str, Any]:
        first = self._first()
        assert first.to_move is not None
        return seen_by(first, first.to_move).to_json()

    def _first(self) -> Position:
        position = new_game(self._games[0], players=2, seed=SEED)
        while position.is_chance:
            position.draw(SEED)
        return position

    def _turn(self, position: Position, what: str) -> tuple[list[str], float]:
        """Ask for the turn of a position and return it, if it is legal, and the seconds that it took."""
        assert position.to_move is not None
        seen = seen_by(position, position.to_move).to_json()
        request = {"id": what, "position": seen, "limits": {"time_s": self._time_s}, "seed": SEED}
        answer, seconds = self._ask(request)
        turn = answer["turn"]
        if fault := find_fault(position, turn):
            raise _Violation(f"{what}: plays {quote('; '.join(turn))}, which is not legal: {fault}")
        return turn, seconds

    def _ask(self, request: dict[str, Any], allowed_s: float | None = None) -> tuple[dict[str, Any], float]:
        """Send a request and return its answer and how long it took."""
        program = self._started()
        began = time.monotonic()
        program.send(request)
        allowed_s = self._time_s if allowed_s is None else allowed_s
        line = program.receive(allowed_s + self._margin_s)
        if line is None:
            parts = f"its time, {allowed_s:g} s, and the margin, {self._margin_s:g} s"
            raise _Violation(program.why_silent(f"{allowed_s + self._margin_s:g} s ({parts})"))
        return self._check_answer(line, request["id"]), time.monotonic() - began

    def _answer(self, allowed_s: float) -> dict[str, Any]:
        line = self._started().receive(allowed_s)
        if line is None:
            raise _Violation(self._started().why_silent(f"{allowed_s:g} s"))
        return _parse(line)

    def _check_answer(self, line: str, request_id: object) -> dict[str, Any]:
        """Return the answer to a request, which must have its id and a turn."""
        answer = _parse(line)
        if answer.get("id") != request_id:
            raise _Violation(f"answered the id {quote(answer.get('id'))}; expected {quote(request_id)}")
        if "error" in answer:
            raise _Violation(f"answered the error {quote(answer['error'])}; expected a turn")
        turn = answer.get("turn")
        if not (isinstance(turn, list) and turn and all(isinstance(action, str) for action in turn)):
            raise _Violation(f"answered the turn {quote(turn)}; expected a list of actions")
        return answer

    def _expect_silence(self, after: str) -> None:
        program = self._started()
        line = program.receive(SILENCE_S)
        if line is not None:
            raise _Violation(f"wrote {quote(line)} after {after}; expected nothing")
        if program.is_closed:
            raise _Violation(f"{program.how_closed()} after {after}; expected that it goes on")

    def _close(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._program = None


class _Program:
    """A running program. A thread reads its output, so that every wait can have a limit."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # of a buffered pipe, `close` waits for the thread that reads
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input = io.BufferedWriter(cast(io.FileIO, self._process.stdin))
        self._output, self._error_output = self._process.stdout, self._process.stderr
        self._lines: queue.Queue[bytes | _Violation | None] = queue.Queue()
        self._rest = b""  # of its output, after the last newline
        self._errors = b""
        self.is_closed = False  # its output
        self.greeting: dict[str, Any] = {}
        self.greeted_s = 0.0
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, request: dict[str, Any]) -> None:
        self.send_line(json.dumps(request))

    def send_line(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # it has ended: that there is no answer says so
            self._input.write(line.encode() + b"\n")
            self._input.flush()

    def receive(self, timeout_s: float) -> str | None:
        """Return the next line, without its end; None if there is none in time, or the output is closed."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None
        self.is_closed = self.is_closed or line is None
        if line is None:
            return None
        if isinstance(line, _Violation):
            raise line
        try:
            return line.decode()
        except UnicodeDecodeError:
            text = quote(line.decode(errors="replace"))
            raise _Violation(f"answered {text}, which is not UTF-8; expected a JSON object in UTF-8") from None

    def why_silent(self, within: str) -> str:
        """Return what to say if there was no answer in this time."""
        said = f"; it has sent {len(self._rest)} bytes without a newline at the end" if self._rest else ""
        if not self.is_closed:
            return f"did not answer within {within}{said}"
        return f"{self.how_closed()} before it answered{said}"

    def how_closed(self) -> str:
        """Return what became of a program whose output is closed."""
        status = self._exit_status(EXIT_TIMEOUT_S)
        return "closed its output" if status is None else f"ended with exit status {status}"

    def last_error_line(self) -> str:
        lines = [line for line in self._errors.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    def close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()

    def end(self, timeout_s: float) -> tuple[float, int | None]:
        """Close the input; return how long the program took to end and its exit status, None if it did not."""
        began = time.monotonic()
        self.close_input()
        status = self._exit_status(timeout_s)
        seconds = time.monotonic() - began
        if status is not None:
            self.kill()
        return seconds, status

    def _exit_status(self, timeout_s: float) -> int | None:
        """Return the exit status, or minus the signal that ended the program; None if it does not end in time.

        The program is not reaped, so that no other process can have its number before `kill`.
        """
        deadline = time.monotonic() + timeout_s
        while (ended := os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            if time.monotonic() >= deadline:
                return None
            time.sleep(EXIT_POLL_S)
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def kill(self) -> None:
        """End the program with its children, once."""
        may_kill = kill_group(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(None if may_kill else EXIT_TIMEOUT_S)
        self.close_input()
        for thread, pipe in zip(self._threads, (self._output, self._error_output), strict=True):
            thread.join(EXIT_TIMEOUT_S)
            if not thread.is_alive():  # else a child in a session of its own has kept the other end
                pipe.close()

    def _read(self) -> None:
        while chunk := self._output.read(READ_BYTES):
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                self._lines.put(line)
            if len(self._rest) > MAX_LINE:
                self._lines.put(_Violation(f"wrote a line of more than {MAX_LINE} bytes"))
                break
        self._lines.put(None)

    def _read_errors(self) -> None:
        while chunk := self._error_output.read(STDERR_BYTES):
            self._errors = (self._errors + chunk)[-STDERR_BYTES:]


def _parse(line: str) -> dict[str, Any]:
    try:
        answer = parse_json(line, "answer")
    except NotationError as error:
        raise _Violation(f"answered {quote(line)}; expected a JSON object ({error})") from None
    if not isinstance(answer, dict):
        raise _Violation(f"answered {quote(line)}; expected a JSON object")
    return answer

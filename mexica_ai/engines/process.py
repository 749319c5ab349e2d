"""Engine kind `cmd`: an external program that speaks the stdio protocol (docs/cli.md, "The stdio protocol").

One thread does everything. Pipes are non-blocking and every wait has a timeout, so that a program that hangs,
dies or writes without end costs at most its time plus a margin. The program runs in its own session and is
killed together with its children, except those that have begun a session or a group of their own. After a
failure, the next request starts it again. If this process is killed, the program sees the end of its input;
`dies_with_thread` also ends programs that ignore that.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import json
import math
import os
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Candidate, Result, sound
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine, find_fault, name_turn
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.numbers import is_count, is_word
from mexica_ai.io.strict import check_shape, quote
from mexica_ai.io.terminal import shorten

PROTOCOL_VERSION = 1
DEFAULT_MARGIN_S = 2.0  # that a program may exceed its time by before it is killed
HELLO_TIMEOUT_S = 20.0  # enough for an interpreter with heavy imports on a busy machine
EXIT_TIMEOUT_S = 1.0  # that a program may take to exit after the end of its input
EXIT_POLL_S = 0.005  # between looks whether it has exited
LONGEST_WAIT_S = 3600.0  # selectors take no more than some days
MAX_LINE = 1 << 20  # bytes; an answer is a few kilobytes
STDERR_LINES = 20
PR_SET_PDEATHSIG = 1  # of linux/prctl.h

_CANDIDATE_SHAPE = {
    "turn": [str],
    "visits": int,
    "value": [float],
    "expected_scores": [float],
    "prior": float,
    "line": [[str]],
}


class _Pipes(NamedTuple):
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


def name_games(games: list[str]) -> str:
    """Return the games of a program as text for a message."""
    return shorten(", ".join(games)) or "nothing"


def split_command(spec: EngineSpec) -> list[str]:
    """Return the words of a program's command; NotationError if it cannot be split."""
    try:
        return shlex.split(spec.target)
    except ValueError as error:
        raise NotationError(
            f"engine spec {str(spec)!r}: cannot split {spec.target!r} as a shell would: {error}",
            reason="BAD_ENGINE_SPEC",
            path="engine",
        ) from None


def kill_group(leader: int) -> bool:
    """Kill a process with its children; return False if it may not be killed, as one of another user, by sudo."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


class ProcessEngine(Engine):
    """An external program as an engine. The constructor starts it and exchanges the greeting.

    Parameters
    ----------
    spec : EngineSpec
    defaults : mapping, optional
    dies_with_thread : bool
        Let the kernel kill the program (on Linux; not its children) as soon as the thread that makes this
        engine ends, for whatever reason. Use it in a thread that outlives the engine unless it is killed.
    log : callable, optional
        Called with a sign and a text: ``>`` and each line sent to the program, ``<`` and each line it answers, ``!``
        and its output on stderr, ``#`` and each event such as its start.

    Raises
    ------
    SearchError
        The program cannot be started (reason ENGINE_START), died (ENGINE_DIED), did not answer in time
        (ENGINE_TIMEOUT), violated the protocol (ENGINE_PROTOCOL), reported an error (ENGINE_ERROR), does not
        play the game (UNKNOWN_GAME) or answered an illegal turn (ILLEGAL_TURN). The message names the engine
        and ends with the program's last line on stderr, if any.
    """

    def __init__(
        self,
        spec: EngineSpec,
        defaults: Mapping[str, Any] | None = None,
        *,
        dies_with_thread: bool = False,
        log: Callable[[str, str], None] | None = None,
    ) -> None:
        super().__init__(spec, defaults)
        self.log_to(log)
        self._dies_with_thread = dies_with_thread
        self._end_by_s: float | None = None  # monotonic time at which it is killed, once its input is closed
        self._command = split_command(spec)
        self._margin_s: float = spec.options.get("margin", DEFAULT_MARGIN_S)
        self._process: subprocess.Popen[bytes] | None = None
        self._last_id = 0
        self.clock: dict[str, float] | None = None  # sent with each request, if not None
        self.games: list[str] = []
        self._start()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a ProcessEngine cannot be copied or pickled: it owns a running program; make another from its spec"
        )

    def log_to(self, log: Callable[[str, str], None] | None) -> None:
        """Write to another log from now on; None: to none."""
        self._log = log or (lambda sign, text: None)

    @property
    def is_running(self) -> bool:
        """Whether the program has been started and has not exited."""
        return self._process is not None and not _has_exited(self._process)

    def require(self, game: str) -> None:
        """Raise SearchError, reason UNKNOWN_GAME, if the program does not play this game."""
        if game not in self.games:
            raise self._error(f"does not play {game}; it plays {name_games(self.games)}", "UNKNOWN_GAME")

    def end_input(self) -> None:
        """Close the program's input without waiting, so that several programs can end at the same time."""
        if self._process is not None and self._end_by_s is None:
            self._end_by_s = time.monotonic() + EXIT_TIMEOUT_S
            self._log("#", "end of input")
            _pipes(self._process).stdin.close()

    def close(self) -> None:
        """End the program: close its input, and kill it if it does not exit in time."""
        self.end_input()
        self._end(EXIT_TIMEOUT_S if self._end_by_s is None else self._end_by_s - time.monotonic())

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        if self._process is None:
            self._start()
        self.require(position.game)
        self._last_id += 1
        request: dict[str, Any] = {
            "id": self._last_id,
            "position": position.to_json(),
            "limits": {"time_s": limits.time_s, "iterations": limits.iterations},
            "seed": seed,
        }
        if self.clock is not None:
            request["clock"] = self.clock
        started = time.monotonic()
        time_s = math.inf if limits.time_s is None else limits.time_s
        if self.clock is not None:
            time_s = self.clock["remaining_s"]  # the program decides how much of it this turn takes
        name = "its time" if self.clock is None else "the time left on its clock"
        allowed = f"{time_s + self._margin_s:g} s ({name}, {time_s:g} s, and the margin, {self._margin_s:g} s)"
        answer = self._exchange(request, time_s + self._margin_s, stop, f"did not answer within {allowed}")
        seconds = time.monotonic() - started
        if answer.get("id") != self._last_id:
            raise self._failure(f"answered id {quote(answer.get('id'))} to request {self._last_id}", "ENGINE_PROTOCOL")
        if "error" in answer:
            raise self._error(f"reports: {shorten(str(answer['error']))}", "ENGINE_ERROR")
        turn = answer.get("turn")
        if not (isinstance(turn, list) and turn and all(isinstance(action, str) for action in turn)):
            text = shorten(json.dumps(turn))
            raise self._failure(f"answered the turn {text}: expected a list of actions", "ENGINE_PROTOCOL")
        fault = find_fault(position, turn)
        if fault is not None:
            raise self._error(f"plays {name_turn(turn)}: {fault}", "ILLEGAL_TURN") from fault
        result = _result(turn, answer.get("info"), candidates, seconds, "stopped" if stop.is_set() else "settled", seed)
        return sound(result, position.players)  # without figures that cannot be

    def _start(self) -> None:
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        self._buffer = b""
        self._end_by_s = None
        self._has_answered = False  # the greeting
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                preexec_fn=_prepare_to_die_with(os.getpid()) if self._dies_with_thread else None,
            )
        except (OSError, ValueError) as error:
            raise self._error(f"cannot be started: {error}", "ENGINE_START") from None
        self._log("#", f"started as process {process.pid}: {self.spec.target}")
        for pipe in _pipes(process):
            os.set_blocking(pipe.fileno(), False)
        self._process = process
        late = f"did not answer the greeting within {HELLO_TIMEOUT_S:g} s"
        answer = self._exchange({"hello": PROTOCOL_VERSION}, HELLO_TIMEOUT_S, Stop(), late)
        self._has_answered = True
        games = answer.get("games")
        if answer.get("hello") != PROTOCOL_VERSION or not isinstance(games, list):
            raise self._failure(
                f"answered {shorten(json.dumps(answer))} to the greeting: expected "
                '{"hello": 1, "name": ..., "games": [...]}',
                "ENGINE_PROTOCOL",
            )
        self.games = [game for game in games if isinstance(game, str)]

    def _exchange(self, request: dict[str, Any], timeout_s: float, stop: Stop, late: str) -> dict[str, Any]:
        """Send one request and return the answer; if that fails or is interrupted, end the process.

        `late` is what the error says if there is no answer within `timeout_s`.
        """
        self._log(">", json.dumps(request))
        try:
            return self._exchange_lines(json.dumps(request).encode() + b"\n", timeout_s, stop, late)
        except BaseException:
            self._end(0)
            raise

    def _exchange_lines(self, outgoing: bytes, timeout_s: float, stop: Stop, late: str) -> dict[str, Any]:
        assert self._process is not None
        stdin, stdout, stderr = _pipes(self._process)
        began = time.monotonic()
        deadline = began + timeout_s
        is_stopped = False
        with _woken_by(stop) as woken, selectors.DefaultSelector() as selector:
            selector.register(woken, selectors.EVENT_READ)
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                if now >= deadline:
                    raise self._failure(late + self._output_so_far(), "ENGINE_TIMEOUT")
                if stop.is_set() and not is_stopped:
                    is_stopped = True
                    if now + self._margin_s < deadline:
                        deadline = now + self._margin_s
                        late = (
                            f"did not answer within {self._margin_s:g} s (the margin) after it was stopped, "
                            f"{now - began:.1f} s after the request"
                        )
                    if stdin not in selector.get_map():
                        selector.register(stdin, selectors.EVENT_WRITE)
                    outgoing += b'{"stop": 1}\n'
                    self._log(">", '{"stop": 1}')
                for key, _ in selector.select(min(deadline - now, LONGEST_WAIT_S)):
                    if key.fileobj is woken:
                        selector.unregister(woken)  # it is stopped, see above
                    elif key.fileobj is stdin:
                        try:
                            outgoing = outgoing[os.write(key.fd, outgoing) :]
                        except BlockingIOError:
                            continue
                        except BrokenPipeError:
                            outgoing = b""  # it has exited or closed its input: wait for its output to end
                        if not outgoing:
                            selector.unregister(stdin)
                    elif key.fileobj is stderr:
                        if not self._read_stderr(stderr):
                            selector.unregister(stderr)
                    else:
                        line = self._read_line(stdout)
                        if line is not None:
                            return self._parse(line)

    def _output_so_far(self) -> str:
        """Return the end of a message about a program that has not answered in time: its output so far."""
        if self._buffer:
            self._log("<", self._buffer.decode(errors="replace"))
            return f"; it has sent {len(self._buffer)} bytes without a newline at the end"
        # One that has answered the greeting flushes its output.
        return "" if self._has_answered else "; no output at all: does it flush its output after every line?"

    def _read_line(self, stdout: IO[bytes]) -> bytes | None:
        """Read what is available on stdout; return the first complete line, or None if there is none yet."""
        chunk = os.read(stdout.fileno(), 65536)
        if not chunk:
            how = self._end(EXIT_TIMEOUT_S)
            raise self._error(f"closed its output and {how}", "ENGINE_DIED")
        self._buffer += chunk
        line, newline, rest = self._buffer.partition(b"\n")
        if newline:
            self._log("<", line.decode(errors="replace"))
        else:
            if len(line) > MAX_LINE:
                raise self._failure(f"answered a line of more than {MAX_LINE} bytes", "ENGINE_PROTOCOL")
            return None
        if rest:
            self._log("<", rest.decode(errors="replace"))
            raise self._failure(
                f"answered more than one line: '{shorten(rest.decode(errors='replace'))}'",
                "ENGINE_PROTOCOL",
            )
        self._buffer = b""
        return line

    def _read_stderr(self, stderr: IO[bytes]) -> bool:
        """Read what is available on stderr and keep the last lines; return whether it is still open."""
        try:
            chunk = os.read(stderr.fileno(), 65536)
        except BlockingIOError:
            return True
        self._log("!", chunk.decode(errors="replace"))
        self._stderr.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())
        return bool(chunk)

    def _parse(self, line: bytes) -> dict[str, Any]:
        problem = "expected a JSON object"
        try:
            answer = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            answer, problem = None, "it is not UTF-8; expected a JSON object in UTF-8"
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            text = shorten(line.decode(errors="replace"))
            raise self._failure(f"answered '{text}': {problem}", "ENGINE_PROTOCOL")
        return answer

    def _failure(self, problem: str, reason: str) -> SearchError:
        """End the process, which cannot be used any more, and return the error."""
        self._end(0)
        return self._error(problem, reason)

    def _error(self, problem: str, reason: str) -> SearchError:
        self._log("#", f"{reason}: {problem}")
        last = f"; last line on stderr: '{shorten(self._stderr[-1])}'" if self._stderr else ""
        return SearchError(f"engine {self.name} {problem}{last}", reason=reason, path="engine")

    def _end(self, timeout_s: float) -> str:
        """Kill the process and its children unless it exits within `timeout_s`; return how it ended."""
        process = self._process
        if process is None:
            return ""
        pipes = _pipes(process)
        pipes.stdin.close()
        deadline = time.monotonic() + timeout_s
        try:
            while not (has_exited := _has_exited(process)) and time.monotonic() < deadline:
                time.sleep(EXIT_POLL_S)
        finally:
            # Before the leader is reaped, so that no other process can have its number yet.
            may_kill = kill_group(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(None if may_kill else EXIT_TIMEOUT_S)
            self._read_stderr(pipes.stderr)
            self._process = None
            pipes.stdout.close()
            pipes.stderr.close()
        status = process.returncode
        if status is None:  # of another user, such as by sudo
            self._log("#", "did not end by itself and could not be killed")
            return "did not end by itself and could not be killed"
        if not has_exited:
            how = "did not end by itself"
        elif status < 0:
            how = f"was ended by signal {-status} ({signal.strsignal(-status)})"
        else:
            how = f"ended with exit status {status}"
        self._log("#", how if has_exited else f"{how} and was killed")
        return how


@contextlib.contextmanager
def _woken_by(stop: Stop) -> Iterator[socket.socket]:
    """Give a socket that can be read once the event is set."""
    woken, waker = socket.socketpair()

    def wake() -> None:
        with contextlib.suppress(OSError):  # full, or closed meanwhile
            waker.send(b"1")

    with woken, waker:
        waker.setblocking(False)
        with stop.calling(wake):
            yield woken


def _prepare_to_die_with(parent: int) -> Callable[[], None] | None:
    """Return a function that makes a new process die with the thread that starts it; None if unsupported."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up here, to do as little as possible between fork and exec

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before prctl, so no signal will come
            os._exit(1)

    return prepare


def _pipes(process: subprocess.Popen[bytes]) -> _Pipes:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return _Pipes(process.stdin, process.stdout, process.stderr)


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process has ended, without reaping it."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _result(turn: list[str], info: object, num_candidates: int, seconds: float, stop_reason: str, seed: int) -> Result:
    """Return a program's answer as a result; fields of `info` with a wrong shape or range are ignored."""

    fields: dict[str, Any] = info if isinstance(info, dict) else {}

    def field(key: str, shape: object, default: Any) -> Any:
        try:
            check_shape(fields[key], shape, key)
        except (KeyError, NotationError):
            return default
        fits = is_count if shape is int else is_word if shape is str else None
        return fields[key] if fits is None or fits(fields[key]) else default

    value = field("value", [float], [])
    expected_scores = field("expected_scores", [float], [])
    iterations = field("iterations", int, 0)
    candidates = [Candidate(**data) for data in field("candidates", [_CANDIDATE_SHAPE], [])]
    if not candidates or candidates[0].turn != turn:
        candidates = [Candidate(turn, iterations, value, expected_scores, 1.0, [])]
    return Result(
        candidates=candidates[:num_candidates],
        iterations=iterations,
        nodes=field("nodes", int, 0),
        distinct_turns=field("distinct_turns", int, 0),
        seconds=seconds,
        stop_reason=field("stop_reason", str, "") or stop_reason,
        seed=field("seed", int, seed),
        threads=field("threads", int, 1),
        weights=field("weights", str, None),
    )

"""Doors that other programs use: the stdio protocol on both of its sides, and the messages of the service."""

# ruff: noqa: PT017, PT018, what is checked here is no outcome of a test

import contextlib
import functools
import io
import json
import os
import tempfile
import types

import service
from google.protobuf import message_factory
from google.protobuf.message import DecodeError
from mutators import mutated_lines
from searching import run_search
from targets import DOORS, ITERATIONS, MAX_MESSAGE, ROOT, dice_of, door, look_at, positions, views

import mexica_ai as ai
from mexica_ai.analysis.limits import Limits
from mexica_ai.cli import engine as stdio
from mexica_ai.engines import make_engine, parse_spec, process
from mexica_ai.rpc import calls, wire
from mexica_ai.server import answers as light
from mexica_ai.v1 import engine_pb2

__all__ = ["DOORS"]  # with those of `targets`

# The stdio protocol


class Short(type(make_engine(parse_spec("mcts")))):
    """The search, for a few iterations whatever it is asked for."""

    def _best_turn(self, position, limits, **options):
        few = Limits(iterations=min(limits.iterations or ITERATIONS, ITERATIONS), memory_mb=1)
        return super()._best_turn(position, few, **options)


@functools.cache
def short_engine():
    return Short(parse_spec("mcts"))


ARGUMENTS = types.SimpleNamespace(candidates=3, time=None, iterations=1, memory=1, threads=1)
MAX_LINES = stdio.MAX_WAITING - 2


def requests_seeds():
    found = [b'{"hello": 1}\n{"stop": 1}\n']
    for number, each in enumerate(positions()):
        request = {"id": number, "position": each.to_json(), "limits": {"time_s": 0.5, "iterations": 5}, "seed": 3}
        if number % 3 == 0:
            request |= {"id": "a", "limits": None, "clock": {"remaining_s": 60.0, "increment_s": 1.0}}
        found.append(json.dumps(request).encode() + b"\n")
    return found


@door(
    requests_seeds,
    mutated_lines,
    "mexica_ai/cli/engine.py",
    "mexica_ai/analysis/limits.py",
    "mexica_ai/engines/base.py",
)
def requests(data):
    """Requests of another program to `mexica-ai engine`: each line is answered by one line."""
    data = b"\n".join(data.split(b"\n")[:MAX_LINES])
    server = stdio._Server(short_engine(), ARGUMENTS)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        server.read(file.fileno())
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        server.answer()
    assert not errors.getvalue(), errors.getvalue()
    lines = output.getvalue().splitlines()
    assert len(lines) <= data.count(b"\n") + 1
    for line in lines:
        answer = json.loads(line, parse_constant=refuse_constant)
        assert ("turn" in answer) + ("error" in answer) + ("hello" in answer) == 1, line
        assert "\n" not in answer.get("error", ""), line


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


class Program:
    """What stands for the process of an external engine: its output is an input of the fuzzer."""

    pid = 0

    def __init__(self, *args, **options):
        self.stdin = open(os.devnull, "wb", buffering=0)  # noqa: SIM115, as Popen's pipes
        (stdout, self.output), (stderr, self.errors) = os.pipe(), os.pipe()
        self.stdout, self.stderr = open(stdout, "rb", buffering=0), open(stderr, "rb", buffering=0)  # noqa: SIM115

    def say(self, data):
        os.write(self.output, data[: 1 << 15])

    def end(self):
        for fd in (self.output, self.errors):
            with contextlib.suppress(OSError):
                os.close(fd)


class Selector(process.selectors.SelectSelector):
    """Waits for pipes; a file that is no pipe, the program's input, can always be written."""


class Scripted(process.ProcessEngine):
    """An external engine without a process."""

    def __init__(self, program):
        self._program = program
        super().__init__(parse_spec('cmd:"program",margin=0.01'))

    def _end(self, timeout_s):
        if self._process is None:
            return ""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()
        self._process = None
        return "ended with exit status 0"


GREETING = b'{"hello": 1, "name": "x", "games": ["nim", "mexica", "coatl", "tzolkin"]}\n'


def answers_seeds():
    found = [b'{"hello": 1, "games": []}\n', GREETING + b'{"id": 1, "error": "no"}\n']
    for number, position in enumerate(answered_positions()):
        result = run_search(position, Limits(iterations=4, memory_mb=1), seed=1).to_json()
        answer = {"id": 1, "turn": result.pop("turn"), "info": result}
        found.append(bytes([number]) + GREETING + json.dumps(answer).encode() + b"\n")
    return found


@functools.cache
def answered_positions():
    names = ("nim", "mexica_midgame", "coatl_midgame", "tzolkin_midgame")
    return [ai.load(ROOT / f"examples/{name}.json") for name in names]


@door(answers_seeds, mutated_lines, "mexica_ai/engines/process.py", "mexica_ai/engines/base.py")
def answers(data):
    """The answers of an external engine: to the greeting, and to a request about one of four positions."""
    positions = answered_positions()
    position = positions[data[0] % len(positions) if data else 0]
    data = data[data[:1] < b" " :]
    greeting, _, rest = data.partition(b"\n")
    program = Program()
    popen, process.subprocess.Popen = process.subprocess.Popen, lambda *args, **options: program
    selector, process.selectors.DefaultSelector = process.selectors.DefaultSelector, Selector
    program.say(greeting + b"\n")
    try:
        engine = Scripted(program)
        program.say(rest)
        os.close(program.output)
        result = engine._best_turn(position, Limits(time_s=0.05), seed=1, candidates=3, stop=ai.Stop())
    except ai.SearchError as error:
        assert error.reason in ENGINE_REASONS, error
        assert "\n" not in str(error) and len(str(error)) <= MAX_MESSAGE, str(error)[:300]
        return
    finally:
        process.subprocess.Popen, process.selectors.DefaultSelector = popen, selector
        program.end()
    position.copy().push(result.turn)
    json.dumps(result.to_json())


ENGINE_REASONS = ("ENGINE_DIED", "ENGINE_TIMEOUT", "ENGINE_PROTOCOL", "ENGINE_ERROR", "UNKNOWN_GAME", "ILLEGAL_TURN")


# Messages of the service


@functools.cache
def handlers():
    found = service.Handlers()
    found.__enter__()
    return found


@functools.cache
def message_readers():
    """Return (kind of message, reader of bytes), in an order that inputs refer to by their first byte."""
    kinds = [
        (engine_pb2.ValidatePositionRequest, light.validate_position),
        (engine_pb2.LegalActionsRequest, light.legal_actions),
        (engine_pb2.ApplyTurnRequest, light.apply_turn),
        (engine_pb2.ConsiderProposalRequest, light.consider),
        (engine_pb2.NewGameRequest, light.deal),
        (engine_pb2.Position, look_at_message),
    ]
    found = [(kind, service.reader(kind, read)) for kind, read in kinds]
    for kind, name in (
        (engine_pb2.BestTurnRequest, "BestTurn"),
        (engine_pb2.AnalyzeRequest, "Analyze"),
        (engine_pb2.EvaluateRecordRequest, "EvaluateRecord"),
        (engine_pb2.StopAnalysisRequest, "StopAnalysis"),
    ):
        found.append((kind, handlers().reader(kind, name)))
    return found


def look_at_message(message):
    position = wire.position_from_message(message)
    look_at(position, dice_of(message.SerializeToString(deterministic=True)))


def messages_seeds():
    numbers = {kind: number for number, (kind, _) in enumerate(message_readers())}
    found = [(numbers[type(message)], message) for message, _ in service.corpus(handlers())[0]]
    found += [(numbers[engine_pb2.Position], wire.position_to_message(each)) for each in positions() + views()]
    return [bytes([number]) + message.SerializeToString(deterministic=True) for number, message in found]


def mutated_messages(rng, data, others):
    """Return a message of which some fields differ."""
    kind, _ = message_readers()[data[0] % len(message_readers())] if data else (engine_pb2.Position, None)
    try:
        message = kind.FromString(data[1:])
    except DecodeError:
        return None
    return data[:1] + service.mutated_message(rng, message).SerializeToString(deterministic=True)


@door(messages_seeds, mutated_messages, "mexica_ai/rpc/wire.py", "server/answers.py", "server/paths.py",
      "server/service.py")  # fmt: skip
def messages(data):
    """Messages of the service: positions, and all its requests."""
    if not data:
        return
    _, read = message_readers()[data[0] % len(message_readers())]
    with contextlib.suppress(DecodeError):
        read(data[1:])


class Told(calls.Calls):
    """A client that is told what the server answers."""

    _name = "fuzz"

    def __init__(self, data):
        self._data = data

    def _ask(self, describe):
        call = describe()
        method = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].methods_by_name[call.method]
        answer = message_factory.GetMessageClass(method.output_type).FromString(self._data)
        return self._value(call, answer)

    def _stream(self, call):
        return self._ask(lambda: call)


def asked(data):
    """Return the calls of a client, each with the answer of an input."""
    told, position = Told(data), answered_positions()[0]
    turn = position.legal_actions()[:1]
    record = {"game": "nim", "version": 1, "start": position.to_json(), "turns": [turn]}
    return [
        functools.partial(told.best_turn, position),
        functools.partial(told.best_turns, [position]),
        functools.partial(told.analyze, position),
        functools.partial(told.evaluate_record, record),
        functools.partial(told.new_game, "nim"),
        functools.partial(told.apply_turn, position, turn, steps=True),
        functools.partial(told.legal_actions, position),
        functools.partial(told.validate_position, position.to_json()),
        functools.partial(told.consider_proposal, position, ["remove 3"]),
        told.list_games,
        told.engine_info,
    ]


def replies_seeds():
    """Return answers of the service to what the seeds of `messages` ask."""
    found = []
    for position in positions():
        message = wire.position_to_message(position)
        found.append((4, light.deal(engine_pb2.NewGameRequest(seed=1, nim={}))))
        if not position.is_over:
            turn = position.copy().draw(1) if position.is_chance else position.legal_actions()[:1]
            request = engine_pb2.ApplyTurnRequest(position=message, turn={"actions": turn})
            request.with_steps, request.allow_partial = position.game != "mexica", True
            found.append((5, light.apply_turn(request)))
    for position in answered_positions():
        result = run_search(position, Limits(iterations=4, memory_mb=1), seed=1)
        result = wire.result_to_message(result, engine_version="1", rules_version=1)
        found.append((0, engine_pb2.BestTurnResponse(result=result)))
        found.append((1, engine_pb2.BestTurnsResponse(id="0", result=result)))
        found.append((2, engine_pb2.AnalyzeResponse(result=result, is_final=True)))
    failure = engine_pb2.Failure(code=3, message="x")
    found.append((1, engine_pb2.BestTurnsResponse(id="0", failure=failure)))
    found.append((3, engine_pb2.EvaluateRecordResponse(seat=1, value_before=[0.5, 0.5], scores=[1, 2])))
    violation = {"field": "a", "reason": "B", "description": "c"}
    found.append((7, engine_pb2.ValidatePositionResponse(violations=[violation])))
    return [bytes([number]) + message.SerializeToString(deterministic=True) for number, message in found]


def mutated_replies(rng, data, others):
    """Return an answer of which some fields differ."""
    kinds = ("BestTurn", "BestTurns", "Analyze", "EvaluateRecord", "NewGame", "ApplyTurn", "LegalActions",
             "ValidatePosition", "ConsiderProposal", "ListGames", "GetEngineInfo")  # fmt: skip
    if not data or data[0] >= len(kinds):
        return None
    try:
        message = getattr(engine_pb2, kinds[data[0]] + "Response").FromString(data[1:])
    except DecodeError:
        return None
    return data[:1] + service.mutated_message(rng, message).SerializeToString(deterministic=True)


@door(replies_seeds, mutated_replies, "mexica_ai/rpc/calls.py", "mexica_ai/rpc/wire.py")
def replies(data):
    """The answers of another program's service, as the client reads them."""
    calls = asked(data[1:])
    with contextlib.suppress(DecodeError):
        calls[data[0] % len(calls) if data else 0]()

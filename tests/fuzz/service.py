"""Feeds broken requests to everything of the service that reads them: no crash, no hang, no leak.

    python tests/fuzz/service.py [--inputs 1000000] [--seed 1]

Valid messages and JSON forms are mutated: bytes flipped, cut and spliced; fields dropped, repeated, swapped
and given values from the edges of their types. Requests that search go through the service's own methods,
with searches of one iteration. The only answers allowed are a result and the package's own errors, each
within a second of processor time; a hang ends the process with the tracebacks of all threads; resident memory
must not grow. Prints how the inputs ended, and the resident memory on the way.
"""

import argparse
import asyncio
import copy
import dataclasses
import faulthandler
import inspect
import itertools
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from google.protobuf.message import DecodeError, Message

sys.path.insert(0, str(Path(__file__).parents[1]))

from searching import fake_runs, run_search

import mexica_ai as ai
from mexica_ai.analysis.annotate import check_played
from mexica_ai.game import proposals
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.rpc import wire
from mexica_ai.server import answers, service
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.errors import status_of
from mexica_ai.server.rejections import RateLimiter
from mexica_ai.server.scheduler import Scheduler
from mexica_ai.v1 import engine_pb2

SLOW_S = 1.0
HANG_S = 120.0  # for WATCHED inputs, which take a tenth of a second
WATCHED = 100
WARM_INPUTS = 20_000  # or a fourth of all, if that is less: from then on memory is not to grow
GROWTH_MB = 24.0
DEADLINES_S = (None, None, 100.0, 0.1, 0.0)  # what callers have left, in turn
LONG_LISTS = 0.002
INT32 = (0, 1, -1, 2, 3, 14, 22, 127, 255, 256, 65535, 2**31 - 1, -(2**31))
NUMBERS = (*INT32, 2**63 - 1, -(2**63), 2**64, 1e308)
TEXTS = ("", "A1", "U14", "Z99", "end", "walk H5", "temple 9 A1", "\0", "\n", "é" * 50, "{0}%s", "x" * 5000)
TEXTS += ("?", "P00", "P48", "T03", "RG", "deal P07", "add 1 left G", "reveal P01 P02", "closing", "over")
TEXTS += ("tikal 3", "trade wG", "pick tikal 3 2", "keep w_pal1 w_tik3", "reveal a1_farm_one", ".i0.......")
VALUES = (*NUMBERS, *TEXTS, None, True, [], {}, [[]], float("nan"), float("inf"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts, slowest = fuzz(args.inputs, args.seed, report=True)
    for name, count in counts.most_common():
        print(f"{count:>9}  {name}")
    print(f"slowest: {1000 * slowest:.0f} ms; resident memory: {resident_mb():.0f} MB")


def fuzz(num_inputs, seed, report=False):
    """Feed this number of inputs; return the count of each outcome, and the time of the slowest.

    Raises
    ------
    AssertionError
        An input took too long, or resident memory has grown.
    Exception
        Whatever was raised that should not have been; the input is printed.
    """
    random_ = random.Random(seed)
    counts, slowest = Counter(), 0.0
    warm_at, warm_mb = min(WARM_INPUTS, num_inputs // 4), 0.0
    with Handlers() as handlers:
        messages, forms = corpus(handlers)
        try:
            for number in range(num_inputs):
                if number % WATCHED == 0:
                    faulthandler.dump_traceback_later(HANG_S, exit=True)
                if number == warm_at:
                    warm_mb = resident_mb()
                if report and number % 100_000 == 0:
                    print(f"{number} inputs, {resident_mb():.0f} MB", file=sys.stderr, flush=True)
                given, read = an_input(random_, messages, forms)
                begin = time.process_time()
                outcome = outcome_of(read, given, f"input {number} of seed {seed}")
                seconds = time.process_time() - begin
                assert seconds < SLOW_S, f"input {number} of seed {seed} took {seconds:.1f} s: {given!r}"
                slowest = max(slowest, seconds)
                counts[outcome] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()
    grown_mb = resident_mb() - warm_mb
    assert grown_mb < GROWTH_MB, f"{grown_mb:.0f} MB more than after {warm_at} inputs of seed {seed}"
    return counts, slowest


def an_input(random_, messages, forms):
    """Return a mutated message or form, and what reads it."""
    chance = random_.random()
    if chance < 0.7:
        original, read = random_.choice(messages)
        given = (mutated_bytes if chance < 0.2 else mutated_message)(random_, original)
        return given if isinstance(given, bytes) else given.SerializeToString(), read
    original, read = random_.choice(forms)
    return mutated_form(random_, original), read


def outcome_of(read, given, name):
    """Read an input and return how that ended; raise what should not be raised, and print the input."""
    try:
        read(given)
    except DecodeError:
        return "no message"
    except MexicaAIError as error:
        if status_of(error).ByteSize() >= 8192 or "\n" in str(error):
            raise AssertionError(f"{name}: {given!r}") from error
        return f"{type(error).__name__} {error.reason}"
    except BaseException:
        print(f"{name}: {given!r}", file=sys.stderr)
        raise
    return "read"


class Handlers:
    """The service's methods that need an event loop, without gRPC, and with searches of one iteration."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        # The end of a search is noticed somewhat later: a slot is free for the next one all the same.
        config = ServerConfig(slots=4, memory_mb=1)
        self._scheduler = Scheduler(config, make_run=fake_runs(short_search, short_watch))
        limiter = RateLimiter(config.max_call_rate, config.max_call_rate)
        self._service = service.EngineService(config, self._scheduler, limiter)
        self._contexts = itertools.cycle(Context(remaining_s) for remaining_s in DEADLINES_S)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._loop.run_until_complete(self._scheduler.close(0.0))
        self._scheduler.end_workers()
        self._loop.close()

    def reader(self, kind, name):
        """Return what has the bytes of such a request answered by the method of this name."""
        # Without the decorator that makes statuses of exceptions.
        method = getattr(service.EngineService, name).__wrapped__

        async def answer(request):
            answers = method(self._service, request, next(self._contexts))
            if not inspect.isasyncgen(answers):
                await answers
                return
            async for _ in answers:
                pass

        return reader(kind, lambda request: self._loop.run_until_complete(answer(request)))


@dataclasses.dataclass
class Context:
    """A call as the service sees it."""

    remaining_s: float | None

    def time_remaining(self):
        return self.remaining_s

    def peer(self):
        return "peer"

    def invocation_metadata(self):
        return ()


def short_search(position, limits, *, stop=None, **options):
    """Search for one iteration in place of a run's `result`, whatever the limits."""
    return run_search(position, dataclasses.replace(limits, iterations=1, unlimited=False), **options)


def short_watch(position, limits, *, interval_s, stop, **options):
    """Yield a result as a running search would, and the last one; in place of a run's `results`."""
    result = short_search(position, limits, **options)
    yield dataclasses.replace(result, stop_reason="")
    yield result


def corpus(handlers):
    """Return (message, reader of bytes) of valid messages, and (JSON form, reader) of valid forms."""
    positions = [ai.new_game("nim", piles=[3, 2]), ai.new_game("mexica", players=2, seed=1)]
    position = ai.new_game("mexica", players=3, seed=4)
    record = {"game": "mexica", "version": 1, "start": position.to_json(), "turns": [], "scores": None}
    record["winners"] = None
    for number in range(40):
        turn = ai.best_turn(position, iterations=30, seed=number).turn
        if len(record["turns"]) < 12:
            record["turns"].append(turn)
        if number in (4, 20, 39):
            positions.append(position.copy())
        position.push(turn)
    records = [record]
    for game in ("coatl", "tzolkin"):
        more_positions, more_record = game_with_events(game)
        positions += more_positions
        records.append(more_record)
    messages = []
    for position in positions:
        message = wire.position_to_message(position)
        is_chance = position.is_chance
        turn = position.copy().draw(1) if is_chance else ai.best_turn(position, iterations=20, seed=1).turn
        requests = [
            (engine_pb2.ValidatePositionRequest(position=message), answers.validate_position),
            (engine_pb2.LegalActionsRequest(position=message, actions=turn[:1]), answers.legal_actions),
            (
                engine_pb2.ApplyTurnRequest(position=message, turn=engine_pb2.Turn(actions=turn)),
                answers.apply_turn,
            ),
            (engine_pb2.GetViewRequest(position=message, spectator=True), answers.get_view),
            (
                engine_pb2.LegalActionsRequest(
                    position=engine_pb2.Position(compact=position.to_compact()), detail=True, with_views=True
                ),
                answers.legal_actions,
            ),
        ]
        if actions := proposals.offered(position)[:2]:
            proposal = engine_pb2.ConsiderProposalRequest(position=message, actions=actions)
            requests.append((proposal, answers.consider))
        messages += [(request, reader(type(request), read)) for request, read in requests]
        if not (position.is_chance or position.is_over):
            messages += searches(message, handlers)
    new_game = engine_pb2.NewGameRequest(players=3, seed=7)
    new_game.mexica.pool.extend([3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 13])
    messages.append((new_game, reader(engine_pb2.NewGameRequest, answers.deal)))
    new_game = engine_pb2.NewGameRequest(players=4, seed=7)
    new_game.coatl.strict_ends = True
    messages.append((new_game, reader(engine_pb2.NewGameRequest, answers.deal)))
    new_game = engine_pb2.NewGameRequest(players=2, seed=7)
    new_game.tzolkin.whole_points = True
    messages.append((new_game, reader(engine_pb2.NewGameRequest, answers.deal)))
    evaluations = map(request_of, records)
    messages += [(request, handlers.reader(type(request), "EvaluateRecord")) for request in evaluations]
    stop = engine_pb2.StopAnalysisRequest(analysis_id="a")
    messages.append((stop, handlers.reader(type(stop), "StopAnalysis")))
    forms = [(position.to_json(), read_position) for position in positions]
    forms += [(record, read_record) for record in records]
    return messages, forms


def searches(message, handlers):
    """Return (message, reader of bytes) of requests that search this position."""
    limits = engine_pb2.Limits(time_s=0.5, iterations=100, memory_mb=16, threads=1)
    best = engine_pb2.BestTurnRequest(position=message, limits=limits, seed=3, num_candidates=4, level=5)
    analyze = engine_pb2.AnalyzeRequest(
        position=message,
        limits=limits,
        interval_s=0.1,
        seed=3,
        num_candidates=4,
        level=5,
        unlimited=True,
        analysis_id="a",
    )
    return [
        (best, handlers.reader(type(best), "BestTurn")),
        (analyze, handlers.reader(type(analyze), "Analyze")),
    ]


def request_of(record):
    """Return the request that values the end of a record, which takes few searches."""
    return engine_pb2.EvaluateRecordRequest(
        start=wire.position_to_message(ai.Position.from_json(record["start"])),
        turns=[engine_pb2.Turn(actions=turn) for turn in record["turns"]],
        limits=engine_pb2.Limits(iterations=100),
        seed=3,
        first_turn=len(record["turns"]) - 2,
        num_turns=2,
    )


def game_with_events(game):
    """Return positions of a game, some of them views or before a random event, and its beginning."""
    position = ai.new_game(game, players=3, seed=4)
    record = {"game": game, "version": 1, "start": position.to_json(), "turns": [], "scores": None}
    record["winners"] = None
    positions = [position.copy(), position.view(0)]
    for number in range(60):
        before = position.copy()
        if position.is_chance:
            turn = position.draw(number)
        else:
            turn = ai.best_turn(position, iterations=30, seed=number).turn
            position.push(turn)
        if number in (20, 45, 59) or (before.is_chance and not any(place.is_chance for place in positions)):
            positions.append(before)
        elif number in (30, 50) and before.to_move is not None:
            positions.append(before.view(before.to_move))
        if len(record["turns"]) < 12:
            record["turns"].append(turn)
    return positions, record


def reader(kind: type[Message], read):
    """Return what reads the bytes of such a request."""
    return lambda data: read(kind.FromString(data))


def read_position(form):
    ai.Position.from_json(json.dumps(form))


def read_record(form):
    check_played(json.loads(json.dumps(form)))


def mutated_message(random_, message):
    """Return a message that differs from one in one to four fields."""
    message = copy.deepcopy(message)
    for _ in range(random_.choice((1, 1, 2, 4))):
        owner = message
        while True:
            field = random_.choice(owner.DESCRIPTOR.fields)
            if field.message_type is None or random_.random() < 0.1 or field.message_type.GetOptions().map_entry:
                break
            if field.is_repeated:
                entries = getattr(owner, field.name)
                if not entries:
                    break
                owner = random_.choice(entries)
            elif owner.HasField(field.name):
                owner = getattr(owner, field.name)
            else:
                break
        mutate_field(random_, owner, field)
    return message


def mutate_field(random_, owner, field):
    kind = random_.randrange(3)
    if field.message_type and field.message_type.GetOptions().map_entry:
        getattr(owner, field.name)[random_.choice(TEXTS)] = float(random_.choice(INT32))
    elif field.is_repeated:
        entries = getattr(owner, field.name)
        if random_.random() < LONG_LISTS:
            for _ in range(20_000):
                entries.add() if field.message_type else entries.append(random_value(random_, field))
        elif kind == 0 and entries:
            del entries[random_.randrange(len(entries))]
        elif kind == 1 and entries:
            entries.append(copy.deepcopy(random_.choice(entries)))
        elif field.message_type is None:
            entries.append(random_value(random_, field))
        else:
            entries.add()
    elif kind == 0 or field.message_type is not None:
        owner.ClearField(field.name)
    else:
        setattr(owner, field.name, random_value(random_, field))


def random_value(random_, field):
    if field.type == field.TYPE_STRING:
        return random_.choice(TEXTS)
    if field.type == field.TYPE_BOOL:
        return random_.random() < 0.5
    if field.type == field.TYPE_DOUBLE:
        return random_.choice((0.0, -1.0, 1e308, float("nan"), float("inf")))
    if field.type in (field.TYPE_UINT32, field.TYPE_UINT64):
        return random_.choice((0, 1, 7, 2**31, 2**32 - 1))
    return random_.choice(INT32)


def mutated_bytes(random_, message):
    """Return the bytes of a message, but for one to eight places."""
    data = bytearray(message.SerializeToString())
    for _ in range(random_.choice((1, 1, 2, 3, 8))):
        at = random_.randrange(len(data) + 1)
        kind = random_.randrange(5)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << random_.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = random_.randrange(256)
        elif kind == 2:
            del data[at : at + random_.randrange(1, 9)]
        elif kind == 3:
            data[at:at] = random_.randbytes(random_.randrange(1, 9))
        else:
            begin = random_.randrange(len(data) + 1)
            data[at:at] = data[begin : begin + random_.randrange(1, 40)]
    return bytes(data)


def mutated_form(random_, form):
    """Return a JSON form that differs from a valid one in one to four places."""
    form = copy.deepcopy(form)
    for _ in range(random_.choice((1, 1, 2, 4))):
        places = [(form, key) for key in form] if isinstance(form, dict) else []
        # One level deeper, again and again, with some chance to stay.
        while places:
            owner, key = random_.choice(places)
            inner = owner[key]
            keys = list(inner) if isinstance(inner, dict) else ()
            if isinstance(inner, list):
                keys = range(len(inner))
            if not keys or random_.random() < 0.3:
                mutate(random_, owner, key)
                break
            places = [(inner, key) for key in keys]
    return form


def mutate(random_, owner, key):
    kind = random_.randrange(5)
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(random_.choice(owner)))
    elif kind == 2 and isinstance(owner[key], int):
        owner[key] += random_.choice((-1, 1, 1000))
    elif kind == 3:
        other = random_.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
        owner[key] = copy.deepcopy(owner[other])
    else:
        owner[key] = copy.deepcopy(random_.choice(VALUES))


def resident_mb():
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    main()

"""The servicer of `mexica_ai.v1.EngineService`: it translates between messages and the scheduler's values."""

# ruff: noqa: N802, the methods have the names of the service

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from importlib import metadata
from typing import TypeVar

from google.protobuf.message import Message

from mexica_ai.analysis import levels
from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.limits import DEFAULT_CANDIDATES, DEFAULT_INTERVAL_S
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import first_action_arguments
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game import registry
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.io.numbers import is_time
from mexica_ai.io.strict import quote
from mexica_ai.rpc import wire
from mexica_ai.server import answers, batches, handlers, paths, strength, tracing
from mexica_ai.server.auth import CALLER
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.errors import TooLong, answers_errors, failure_of, streams_errors
from mexica_ai.server.handlers import Context
from mexica_ai.server.rejections import RateLimiter
from mexica_ai.server.scheduler import Scheduler
from mexica_ai.server.search_options import check_options, read_ranges
from mexica_ai.server.slots import SHUTTING_DOWN, BusyError, loop_time
from mexica_ai.server.weight_sets import WeightSets
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

SERVICE_NAME = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].full_name
MAX_REQUEST_BYTES = 1 << 20  # a position has less than 4 KiB, the record of a game a few dozen
SMALL_BYTES = 1 << 12  # largest request that the event loop answers itself; positions have about 500 bytes

MAX_CHECKS = 10  # of a turn of a record
MAX_ID_CHARS = 64  # of the id of one of many requests

_ANALYSIS_ID = re.compile(r"[A-Za-z0-9._-]{0,64}")
_REMEMBERING = tuple(  # games
    field.name
    for field in engine_pb2.Position.DESCRIPTOR.fields
    if field.message_type and "memory" in field.message_type.fields_by_name
)

M = TypeVar("M", bound=Message)
T = TypeVar("T")


class EngineService(engine_pb2_grpc.EngineServiceServicer):
    """Answers calls; all methods run in one event loop.

    Parameters
    ----------
    config : ServerConfig
    scheduler : Scheduler
    limiter : RateLimiter
        Rate limit per caller, shared by calls and by requests within a stream.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG: a file of weights cannot be used.
    """

    def __init__(self, config: ServerConfig, scheduler: Scheduler, limiter: RateLimiter) -> None:
        self._config = config
        self._scheduler = scheduler
        self._weights = config.read_weights()
        self._options = read_ranges(config.search_options)
        self._limiter = limiter
        self._analyses: dict[tuple[str, str], set[asyncio.Event]] = {}  # (caller, name) -> what ends them
        self._engine_version = metadata.version("mexica-ai")

    def use_weights(self, weights: WeightSets) -> None:
        """Search with other sets of weights from now on; searches that have begun keep theirs."""
        self._weights = weights

    # --- searches

    @answers_errors
    async def BestTurn(self, request: engine_pb2.BestTurnRequest, context: Context) -> engine_pb2.BestTurnResponse:
        """Search a position; see engine.proto."""
        call = _call(context)
        question = await self._read(request, call)
        result = await self._scheduler.search(question, call)
        return engine_pb2.BestTurnResponse(result=self._message(question, result, request))

    @streams_errors
    async def BestTurns(
        self, requests: AsyncIterator[engine_pb2.BestTurnsRequest | TooLong], context: Context
    ) -> AsyncGenerator[engine_pb2.BestTurnsResponse, None]:
        """Search many positions; see engine.proto."""
        call = _call(context)
        answer = functools.partial(self._answer_one, call, asyncio.Lock())
        async with contextlib.aclosing(batches.answer_each(requests, answer, 2 * self._config.slots)) as answers:
            async for message in answers:
                yield message

    async def _answer_one(
        self, call: Call, reading: asyncio.Lock, request: engine_pb2.BestTurnsRequest | TooLong
    ) -> engine_pb2.BestTurnsResponse:
        """Answer one of many requests, which are read one by one; only if the server shuts down raise an error."""
        answer = engine_pb2.BestTurnsResponse(id=request.id[:MAX_ID_CHARS])
        if call.caller:  # as for calls of their own
            await self._limiter.wait(call.caller)
        try:
            if isinstance(request, TooLong):
                raise request.error
            if len(request.id) > MAX_ID_CHARS:
                raise NotationError(
                    f"id: has {len(request.id)} characters; expected {MAX_ID_CHARS} at most",
                    reason="TOO_LONG",
                    path="id",
                )
            with paths.naming(paths.within("search")):
                async with reading:  # those of one call do not fill the queue for the threads
                    question = await self._read(request.search, call, is_patient=True)
            result = await self._scheduler.search_patiently(question, call)
            answer.result.CopyFrom(self._message(question, result, request.search))
        except Exception as error:
            if isinstance(error, BusyError) and error.reason == SHUTTING_DOWN:
                raise
            answer.failure.CopyFrom(failure_of(error))
        return answer

    @streams_errors
    async def Analyze(
        self, request: engine_pb2.AnalyzeRequest, context: Context
    ) -> AsyncGenerator[engine_pb2.AnalyzeResponse, None]:
        """Search a position, and send the result so far at an interval; see engine.proto."""
        if not _ANALYSIS_ID.fullmatch(request.analysis_id):
            raise NotationError(
                f"analysis_id: given {quote(request.analysis_id)}; expected up to 64 letters, digits and ._-",
                reason="INVALID_NAME",
                path="analysis_id",
            )
        interval_s = request.interval_s or DEFAULT_INTERVAL_S
        if not is_time(interval_s):
            raise SearchError(
                f"interval_s: given {interval_s}; expected a number of seconds above 0, or 0 for {DEFAULT_INTERVAL_S}",
                reason="INVALID_LIMITS",
                path="interval_s",
            )
        interval_s = max(interval_s, self._config.min_interval_s)
        call = _call(context)
        question = await self._read(request, call, unlimited=request.unlimited)
        stopping = asyncio.Event()
        analysis = self._scheduler.analyze(question, call, interval_s, stopping)
        with self._named(call.caller, request.analysis_id, stopping):
            async with contextlib.aclosing(analysis) as results:
                async for result in results:
                    yield engine_pb2.AnalyzeResponse(
                        result=self._message(question, result, request), is_final=bool(result.stop_reason)
                    )

    @answers_errors
    async def StopAnalysis(
        self, request: engine_pb2.StopAnalysisRequest, context: Context
    ) -> engine_pb2.StopAnalysisResponse:
        """End running analyses of this caller; see engine.proto."""
        if not request.analysis_id:
            raise paths.is_empty("analysis_id", "the name of a running analysis")
        stops = self._analyses.get((CALLER.get(), request.analysis_id), ())
        for stop in stops:
            stop.set()
        return engine_pb2.StopAnalysisResponse(num_stopped=len(stops))

    @streams_errors
    async def EvaluateRecord(
        self, request: engine_pb2.EvaluateRecordRequest, context: Context
    ) -> AsyncGenerator[engine_pb2.EvaluateRecordResponse, None]:
        """Evaluate each turn of a game; see engine.proto."""
        if len(request.turns) > self._config.max_record_turns:
            raise NotationError(
                f"turns: has {len(request.turns)} entries; expected {self._config.max_record_turns} at most",
                reason="TOO_MANY_TURNS",
                path="turns",
            )
        if request.checks > MAX_CHECKS:
            raise NotationError(
                f"checks: given {request.checks}; expected 0 to {MAX_CHECKS}", reason="OUT_OF_RANGE", path="checks"
            )
        indices = _turn_indices(request)
        for number, turn in enumerate(request.turns):
            wire.check_size(turn, f"turns[{number}]")
            if not turn.actions:
                raise paths.is_empty(f"turns[{number}].actions", "the actions of a turn or a random event")
        strength.check(request)
        call, seed = _call(context), wire.seed_of(request)
        limits = self._scheduler.admission.clamp(**wire.limits_of(request.limits))
        start = await self._lightly(call, functools.partial(wire.position_from_message, path="start"), request.start)
        weights = self._weights.get(start.game, request.weights)
        evaluations = self._scheduler.evaluate(
            functools.partial(wire.record_of, start, request.turns),
            indices,
            call,
            limits,
            seed=seed,
            weights=weights,
            checks=request.checks,
            explain=request.explain,
            level=strength.level_of(start.game, request),
            candidates=min(request.num_candidates, self._config.max_candidates),
        )
        with paths.naming(paths.RECORD):
            async with contextlib.aclosing(evaluations):
                async for evaluation in evaluations:
                    yield wire.evaluation_to_message(evaluation)

    async def _read(
        self,
        request: engine_pb2.BestTurnRequest | engine_pb2.AnalyzeRequest,
        call: Call,
        *,
        unlimited: bool = False,
        is_patient: bool = False,
    ) -> Question:
        """Read the fields that requests share; the position last, and, if it is not patient, only if it is accepted."""
        settings = SearchSettings(
            self._scheduler.admission.clamp(**wire.limits_of(request.limits), unlimited=unlimited),
            wire.seed_of(request),
            min(request.num_candidates or DEFAULT_CANDIDATES, self._config.max_candidates),
            strength.level_before_reading(request),
            options=check_options(request.options, self._options),
            allow=request.allow or None,
            avoid=request.avoid,
        )
        if not is_patient:
            is_spared = functools.partial(self._is_seen_forced, request.position)
            self._scheduler.admission.check(call, settings, is_spared)

        def read(request: engine_pb2.BestTurnRequest | engine_pb2.AnalyzeRequest) -> Position:
            position = _read_position(request.position)
            first_action_arguments(position, settings)  # before it waits for a slot
            return position

        position = await self._lightly(call, read, request)
        weights = self._weights.get(position.game, request.weights)
        level = strength.level_of(position.game, request)
        return Question(position, dataclasses.replace(settings, weights=weights, level=level), request.HasField("seed"))

    def _is_seen_forced(self, message: engine_pb2.Position) -> bool:
        """Return whether a rejected call, if it is looked at, has only one legal turn, which needs no slot."""
        if message.ByteSize() > SMALL_BYTES or _is_slow_to_read(message) or not self._scheduler.may_look():
            return False
        with contextlib.suppress(MexicaAIError):
            return _read_position(message).is_forced
        return False

    def _message(
        self, question: Question, result: Result, request: engine_pb2.BestTurnRequest | engine_pb2.AnalyzeRequest
    ) -> engine_pb2.SearchResult:
        with tracing.span("answer"):
            message = wire.result_to_message(
                result,
                engine_version=self._engine_version,
                rules_version=registry.get(question.position.game).rules.rules_version,
                with_first_actions=request.with_first_actions,
            )
            if request.explain and result.stop_reason:
                message.explanation.extend(explain(question.position, result).sentences)
            return message

    @contextlib.contextmanager
    def _named(self, caller: str, name: str, stop: asyncio.Event) -> Iterator[None]:
        if not name:
            yield
            return
        stops = self._analyses.setdefault((caller, name), set())
        stops.add(stop)
        try:
            yield
        finally:
            stops.discard(stop)
            if not stops:
                self._analyses.pop((caller, name), None)

    # --- calls that do not search

    @answers_errors
    async def NewGame(self, request: engine_pb2.NewGameRequest, context: Context) -> engine_pb2.NewGameResponse:
        """Deal a new game; see engine.proto."""
        return await self._lightly(_call(context), answers.deal, request, is_quick=not request.with_views)

    @answers_errors
    async def ApplyTurn(self, request: engine_pb2.ApplyTurnRequest, context: Context) -> engine_pb2.ApplyTurnResponse:
        """Play a turn; see engine.proto."""
        is_quick = not (request.with_views or _is_view(request.position))
        return await self._lightly(_call(context), answers.apply_turn, request, is_quick=is_quick)

    @answers_errors
    async def GetView(self, request: engine_pb2.GetViewRequest, context: Context) -> engine_pb2.GetViewResponse:
        """Return a view of a position; see engine.proto."""
        return await self._lightly(_call(context), answers.get_view, request)

    @answers_errors
    async def LegalActions(
        self, request: engine_pb2.LegalActionsRequest, context: Context
    ) -> engine_pb2.LegalActionsResponse:
        """List legal actions; see engine.proto."""
        is_slow = request.detail or request.with_views or (request.actions and _is_view(request.position))
        return await self._lightly(_call(context), answers.legal_actions, request, is_quick=not is_slow)

    @answers_errors
    async def ValidatePosition(
        self, request: engine_pb2.ValidatePositionRequest, context: Context
    ) -> engine_pb2.ValidatePositionResponse:
        """List the faults of a position; see engine.proto."""
        return await self._lightly(_call(context), answers.validate_position, request)

    @answers_errors
    async def ConsiderProposal(
        self, request: engine_pb2.ConsiderProposalRequest, context: Context
    ) -> engine_pb2.ConsiderProposalResponse:
        """Answer whether the engine agrees to a proposal; see engine.proto."""
        return await self._scheduler.light(_call(context), answers.consider, request)

    @answers_errors
    async def ListGames(self, request: engine_pb2.ListGamesRequest, context: Context) -> engine_pb2.ListGamesResponse:
        """List the games; see engine.proto."""
        games = (registry.get(name).rules for name in registry.names())
        return engine_pb2.ListGamesResponse(games=map(wire.game_to_message, games))

    @answers_errors
    async def GetEngineInfo(
        self, request: engine_pb2.GetEngineInfoRequest, context: Context
    ) -> engine_pb2.GetEngineInfoResponse:
        """Describe the engine; see engine.proto."""
        config = self._config
        answer = engine_pb2.GetEngineInfoResponse(
            engine_version=self._engine_version,
            default_time_s=min(config.default_time_s, config.max_time_s),
            lowest_level=min(levels.LEVELS),
            highest_level=levels.HIGHEST,
            slots=config.slots,
            caps=engine_pb2.GetEngineInfoResponse.Caps(
                time_s=config.max_time_s,
                iterations=config.max_iterations,
                memory_mb=self._scheduler.admission.memory_mb,
                threads=config.threads,
                candidates=config.max_candidates,
                record_turns=config.max_record_turns,
                request_bytes=wire.MAX_BYTES,
                record_bytes=MAX_REQUEST_BYTES,
            ),
        )
        for name, weights in self._weights:
            answer.weights.add(game=weights.game, version=weights.version, sha256=weights.sha256, name=name)
        for option, (low, high) in self._options.items():
            answer.search_options.add(name=option, min=low, max=high)
        answer.levels.extend(strength.messages())
        return answer

    async def _lightly(self, call: Call, function: Callable[[M], T], request: M, *, is_quick: bool = True) -> T:
        """Return `function(request)`; small requests are answered here, others in a worker thread.

        If `is_quick` is false, or the position is slow to read, always use a worker. For a typical position,
        switching to a worker and back costs more than the work itself, above all while all cores search.
        """
        position = request if isinstance(request, engine_pb2.Position) else getattr(request, "position", None)
        if is_quick and request.ByteSize() <= SMALL_BYTES and not _is_slow_to_read(position):
            return function(request)
        return await self._scheduler.light(call, function, request)


def _call(context: Context) -> Call:
    remaining_s = handlers.remaining_s(context)
    deadline = None if remaining_s is None else loop_time() + remaining_s
    attempts = handlers.num_attempts(context)
    # What is left to a later attempt says nothing of the deadline that the caller has set.
    allowed_s = None if attempts else handlers.ALLOWED_S.get()
    return Call(CALLER.get(), context.peer(), deadline, allowed_s, attempts, handlers.retries(context))


def _read_position(message: engine_pb2.Position) -> Position:
    """Return a position in which a seat is to move."""
    position = wire.position_from_message(message)
    with paths.naming(paths.position(wire.position_field(message))):
        require_seat_to_move(position)
    return position


def _is_view(message: engine_pb2.Position) -> bool:
    """Whether a position is what one seat sees: there another seat's action is tried with many hands."""
    game = message.WhichOneof("game")
    if game in (wire.JSON, wire.COMPACT):
        return True  # it may be one
    position = message if game is None else getattr(message, game)
    return "viewer" in position.DESCRIPTOR.fields_by_name and position.HasField("viewer")


def _is_slow_to_read(message: engine_pb2.Position | None) -> bool:
    """Whether a position may hold what a seat remembers; looking for a deal that fits it may take 0.1 s."""
    if message is None:
        return False
    text = message.json or message.compact
    found = (getattr(message, game).memory or game in text for game in _REMEMBERING)
    return any(found) or "\\" in text  # an escape may hide the name of the game


def _turn_indices(request: engine_pb2.EvaluateRecordRequest) -> range:
    """Return the indices of the turns that an EvaluateRecordRequest asks for."""
    number, first = len(request.turns), request.first_turn
    last = first + request.num_turns if request.num_turns else number
    for name, end in (("first_turn", first), ("num_turns", last)):
        if end > number:
            raise NotationError(
                f"{name}: asks for turns up to {end}; expected {number} at most",
                reason="OUT_OF_RANGE",
                path=name,
            )
    return range(first, last)

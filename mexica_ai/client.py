"""Clients of a running server (`mexica-ai serve`): `Client`, and `AsyncClient` for asyncio.

Both ask as `mexica_ai.best_turn` does and fail with the same exceptions; what only a service can suffer from
is a SearchError with the name of the gRPC status as its reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from mexica_ai import Removal, TokenRemoval, levels, registry, wire
from mexica_ai.annotate import TurnEvaluation, check_played
from mexica_ai.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)
from mexica_ai.limits import DEFAULT_CANDIDATES, Limits, resolve_seed
from mexica_ai.position import Position, split_turn
from mexica_ai.results import Result
from mexica_ai.strict import parse_json, quote
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

# How long a call waits beyond the time of its search, for a free slot above all; and the time of a search
# whose length only the server knows.
WAIT_S = 30.0
UNKNOWN_TIME_S = 60.0

_STOP_POLL_S = 0.005
_ERROR_CLASSES = {
    error_class.__name__: error_class
    for error_class in (
        GameOverError,
        IllegalActionError,
        NotationError,
        PositionError,
        SearchError,
        UnknownGameError,
    )
}


@dataclass(frozen=True)
class Applied:
    """A turn that was played.

    Parameters
    ----------
    position : Position
        After the turn.
    scores, scored : list of int
        Points of each seat as they stand, and what the turn brought it.
    to_move : int or None
        The seat whose turn it is, None when the game is over.
    is_over : bool
    winners : list of int
        The seats that have won; empty while the game runs.
    events : list of list of str
        The random events that the server drew after the turn, each as `Position.push` takes it.
    """

    position: Position
    scores: list[int]
    scored: list[int]
    to_move: int | None
    is_over: bool
    winners: list[int]
    events: list[list[str]] = field(default_factory=list)


class Client:
    """A connection to a server, opened with the first call; safe to share between threads.

    Calls that fail because a server is busy or goes away are tried again, at most five times in all, and go
    round all the addresses of the target: the published `service_config`.

    Parameters
    ----------
    target : str
        The server's address, `HOST:PORT`; several replicas as gRPC names them, such as
        ``ipv4:10.0.0.1:50051,10.0.0.2:50051`` or ``dns:///engine.example.org:50051``.
    token : str, optional
        Bearer token. Use it with TLS, or on this machine.
    root_certificates : path-like or True, optional
        Speak TLS, and trust the authorities in this PEM file; True: those of gRPC.
    certificate, key : path-like, optional
        The client's own, PEM, for a server that wants one.

    Examples
    --------
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     result = client.best_turn(position, time_s=2.0)
    """

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        root_certificates: str | os.PathLike[str] | bool | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> None:
        self.target = target
        self._metadata = _metadata(token)
        self._channel = _open(grpc, target, root_certificates, certificate, key)
        self._service = engine_pb2_grpc.EngineServiceStub(self._channel)

    def best_turn(
        self,
        position: Position,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        level: int | None = None,
        timeout_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> Result:
        """Have the server search the best turn for the seat to move.

        Parameters
        ----------
        position : Position
            Not changed.
        time_s, iterations, threads, memory_mb
            Limits of the search, as for `mexica_ai.best_turn`; None leaves them to the server, which caps
            them all.
        seed : int, optional
            0 <= seed < 2**63; drawn by the server if None, and reported in the result.
        candidates : int
            How many turns the result lists at most, from 1.
        level : int, optional
            Strength of play, 1-10; None: 10.
        timeout_s : float, optional
            Deadline of the whole call in seconds; the search gets less than that. By default `time_s` (60 if
            the server decides) and 30 more for waiting until a search slot is free.
        stop : threading.Event, optional
            Setting it cancels the call, which ends the search: SearchError with reason CANCELLED.

        Returns
        -------
        Result

        Raises
        ------
        GameOverError
            The game is over.
        NotationError, PositionError
            The server refuses the position; `violations` are in terms of its JSON form.
        SearchError
            A limit makes no sense, or the call failed: then `reason` is the name of the gRPC status.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = _search_request(engine_pb2.BestTurnRequest, position, limits, seed, candidates, level)
        return self._ask("BestTurn", request, _result, _timeout(time_s, timeout_s), stop)

    def analyze(
        self,
        position: Position,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        level: int | None = None,
        interval_s: float | None = None,
        unlimited: bool = False,
        analysis_id: str = "",
        timeout_s: float | None = None,
    ) -> Iterator[Result]:
        """Have the server search, and yield what is known at an interval; see `mexica_ai.analyze`.

        The last result, and only that, has a `stop_reason`. `unlimited` searches on until `stop_analysis` is
        called with the same `analysis_id`; closing the iterator ends any search. Other parameters and errors
        are those of `best_turn`; without `timeout_s` an unlimited call has no deadline.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = _search_request(engine_pb2.AnalyzeRequest, position, limits, seed, candidates, level)
        _set_analysis(request, interval_s, unlimited, analysis_id)
        timeout_s = None if unlimited and timeout_s is None else _timeout(time_s, timeout_s)
        return self._stream("Analyze", request, _result, timeout_s)

    def stop_analysis(self, analysis_id: str, *, timeout_s: float = WAIT_S) -> int:
        """Have running analyses with this name send their last result now; return how many there are."""
        request = engine_pb2.StopAnalysisRequest(analysis_id=analysis_id)
        return self._ask("StopAnalysis", request, lambda answer, _: answer.num_stopped, timeout_s)

    def evaluate_record(
        self,
        record: dict[str, Any] | str | bytes,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        first_turn: int = 0,
        num_turns: int = 0,
        timeout_s: float | None = None,
    ) -> Iterator[TurnEvaluation]:
        """Have the server value each turn of a game; see `mexica_ai.annotate.evaluate_record`.

        The record is replayed here first, so its errors are those of `mexica_ai.replay`. `num_turns` 0: all
        from `first_turn` on. There is no deadline unless `timeout_s` sets one.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request, turns = _record_request(record, limits, seed, first_turn, num_turns)
        return self._stream("EvaluateRecord", request, _evaluations(turns), timeout_s)

    def new_game(
        self,
        game: str = registry.DEFAULT,
        *,
        players: int = 2,
        seed: int | None = None,
        timeout_s: float = WAIT_S,
        **options: Any,
    ) -> Position:
        """Have the server deal a new game; see `mexica_ai.new_game`."""
        request = _new_game_request(game, players, seed, options)
        return self._ask("NewGame", request, _dealt, timeout_s)

    def apply_turn(
        self,
        position: Position,
        turn: str | list[str] | None,
        *,
        draw_events: bool = False,
        seed: int | None = None,
        timeout_s: float = WAIT_S,
    ) -> Applied:
        """Have the server play a whole turn; the errors are those of `Position.push`.

        With `draw_events` it draws the random events that come then, by `seed` if that is given, until a seat
        is to move; where one comes first, the turn may be None.
        """
        request = _turn_request(position, turn, draw_events, seed)
        return self._ask("ApplyTurn", request, _applied, timeout_s)

    def legal_actions(
        self, position: Position, actions: Sequence[str] = (), *, timeout_s: float = WAIT_S
    ) -> list[str]:
        """Have the server list the legal actions after `actions`; see `Position.legal_actions`."""
        request = _actions_request(position, actions)
        return self._ask("LegalActions", request, lambda answer, _: list(answer.actions), timeout_s)

    def validate_position(self, data: dict[str, Any], *, timeout_s: float = WAIT_S) -> list[Violation]:
        """Have the server list all faults of a position's JSON object; empty for a valid one.

        Raises
        ------
        NotationError
            It cannot even be put into a message: an unknown key, or a value of the wrong type.
        """
        request = engine_pb2.ValidatePositionRequest(position=wire.message_from_json(data))
        return self._ask("ValidatePosition", request, _violations, timeout_s)

    def consider_removal(
        self, position: Position, sizes: Sequence[int], *, timeout_s: float = WAIT_S
    ) -> Removal:
        """Ask whether the engine agrees to remove tokens; see `mexica_ai.consider_removal`."""
        request = _removal_request(position, sizes)
        return self._ask("ConsiderRemoval", request, _removal, timeout_s)

    def list_games(self, *, timeout_s: float = WAIT_S) -> list[dict[str, Any]]:
        """Return the server's games: `name`, `rules_version`, `min_players`, `max_players`."""
        return self._ask("ListGames", engine_pb2.ListGamesRequest(), _games, timeout_s)

    def engine_info(self, *, timeout_s: float = WAIT_S) -> dict[str, Any]:
        """Return what GetEngineInfoResponse holds, as a dict with the names of its fields."""
        return self._ask("GetEngineInfo", engine_pb2.GetEngineInfoRequest(), _info, timeout_s)

    def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        self._channel.close()

    def _ask(self, method, request, read, timeout_s, stop=None):
        done = threading.Event()
        call = getattr(self._service, method).future(request, timeout=timeout_s, metadata=self._metadata)
        call.add_done_callback(lambda _: done.set())
        try:
            while not done.wait(_STOP_POLL_S if stop else None):
                if stop.is_set():
                    call.cancel()
                    break
            return read(call.result(), self.target)
        except grpc.FutureCancelledError:
            raise SearchError(
                f"server {self.target}: CANCELLED: the call was stopped", reason="CANCELLED"
            ) from None
        except grpc.RpcError as error:
            raise _error(error, _rich_status(call), self.target) from None
        finally:
            call.cancel()  # does nothing to a call that has ended; else we were interrupted

    def _stream(self, method, request, read, timeout_s):
        call = getattr(self._service, method)(request, timeout=timeout_s, metadata=self._metadata)
        return self._read_stream(call, read)

    def _read_stream(self, call, read):
        try:
            for answer in call:
                yield read(answer, self.target)
        except grpc.RpcError as error:
            raise _error(error, _rich_status(call), self.target) from None
        finally:
            call.cancel()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AsyncClient:
    """`Client` for asyncio: made, used and closed in one event loop. Cancelling a task stops its search."""

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        root_certificates: str | os.PathLike[str] | bool | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> None:
        self.target = target
        self._metadata = _metadata(token)
        self._channel = _open(grpc.aio, target, root_certificates, certificate, key)
        self._service = engine_pb2_grpc.EngineServiceStub(self._channel)

    async def best_turn(
        self,
        position: Position,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        level: int | None = None,
        timeout_s: float | None = None,
    ) -> Result:
        """Have the server search the best turn for the seat to move; see `Client.best_turn`."""
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = _search_request(engine_pb2.BestTurnRequest, position, limits, seed, candidates, level)
        return await self._ask("BestTurn", request, _result, _timeout(time_s, timeout_s))

    def analyze(
        self,
        position: Position,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        level: int | None = None,
        interval_s: float | None = None,
        unlimited: bool = False,
        analysis_id: str = "",
        timeout_s: float | None = None,
    ) -> AsyncIterator[Result]:
        """Have the server search, and yield what is known at an interval; see `Client.analyze`."""
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = _search_request(engine_pb2.AnalyzeRequest, position, limits, seed, candidates, level)
        _set_analysis(request, interval_s, unlimited, analysis_id)
        timeout_s = None if unlimited and timeout_s is None else _timeout(time_s, timeout_s)
        return self._stream("Analyze", request, _result, timeout_s)

    async def stop_analysis(self, analysis_id: str, *, timeout_s: float = WAIT_S) -> int:
        """Have running analyses end; see `Client.stop_analysis`."""
        request = engine_pb2.StopAnalysisRequest(analysis_id=analysis_id)
        return await self._ask("StopAnalysis", request, lambda answer, _: answer.num_stopped, timeout_s)

    def evaluate_record(
        self,
        record: dict[str, Any] | str | bytes,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        first_turn: int = 0,
        num_turns: int = 0,
        timeout_s: float | None = None,
    ) -> AsyncIterator[TurnEvaluation]:
        """Have the server value each turn of a game; see `Client.evaluate_record`."""
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request, turns = _record_request(record, limits, seed, first_turn, num_turns)
        return self._stream("EvaluateRecord", request, _evaluations(turns), timeout_s)

    async def new_game(
        self,
        game: str = registry.DEFAULT,
        *,
        players: int = 2,
        seed: int | None = None,
        timeout_s: float = WAIT_S,
        **options: Any,
    ) -> Position:
        """Have the server deal a new game; see `Client.new_game`."""
        request = _new_game_request(game, players, seed, options)
        return await self._ask("NewGame", request, _dealt, timeout_s)

    async def apply_turn(
        self,
        position: Position,
        turn: str | list[str] | None,
        *,
        draw_events: bool = False,
        seed: int | None = None,
        timeout_s: float = WAIT_S,
    ) -> Applied:
        """Have the server play a whole turn; see `Client.apply_turn`."""
        request = _turn_request(position, turn, draw_events, seed)
        return await self._ask("ApplyTurn", request, _applied, timeout_s)

    async def legal_actions(
        self, position: Position, actions: Sequence[str] = (), *, timeout_s: float = WAIT_S
    ) -> list[str]:
        """Have the server list the legal actions; see `Client.legal_actions`."""
        request = _actions_request(position, actions)
        return await self._ask("LegalActions", request, lambda answer, _: list(answer.actions), timeout_s)

    async def validate_position(self, data: dict[str, Any], *, timeout_s: float = WAIT_S) -> list[Violation]:
        """Have the server list all faults of a position; see `Client.validate_position`."""
        request = engine_pb2.ValidatePositionRequest(position=wire.message_from_json(data))
        return await self._ask("ValidatePosition", request, _violations, timeout_s)

    async def consider_removal(
        self, position: Position, sizes: Sequence[int], *, timeout_s: float = WAIT_S
    ) -> Removal:
        """Ask whether the engine agrees to remove tokens; see `Client.consider_removal`."""
        request = _removal_request(position, sizes)
        return await self._ask("ConsiderRemoval", request, _removal, timeout_s)

    async def list_games(self, *, timeout_s: float = WAIT_S) -> list[dict[str, Any]]:
        """Return the server's games; see `Client.list_games`."""
        return await self._ask("ListGames", engine_pb2.ListGamesRequest(), _games, timeout_s)

    async def engine_info(self, *, timeout_s: float = WAIT_S) -> dict[str, Any]:
        """Describe the engine; see `Client.engine_info`."""
        return await self._ask("GetEngineInfo", engine_pb2.GetEngineInfoRequest(), _info, timeout_s)

    async def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        await self._channel.close()

    async def _ask(self, method, request, read, timeout_s):
        try:
            answer = await getattr(self._service, method)(request, timeout=timeout_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise _error(error, _rich_status(error), self.target) from None
        return read(answer, self.target)

    async def _stream(self, method, request, read, timeout_s):
        call = getattr(self._service, method)(request, timeout=timeout_s, metadata=self._metadata)
        try:
            async for answer in call:
                yield read(answer, self.target)
        except grpc.aio.AioRpcError as error:
            raise _error(error, _rich_status(error), self.target) from None
        finally:
            call.cancel()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


# --- connections


def service_config() -> dict[str, Any]:
    """Return the published service config: retries with backoff, and all replicas in turn."""
    return json.loads((resources.files("mexica_ai") / "service_config.json").read_text(encoding="utf-8"))


def _open(module, target, root_certificates, certificate, key):
    # `module`: grpc or grpc.aio, whose functions have the same names.
    options = [("grpc.service_config", json.dumps(service_config())), ("grpc.enable_retries", 1)]
    if root_certificates is None:
        if certificate is not None or key is not None:
            raise SearchError(
                "certificate: given without root_certificates; expected both, or True for those of gRPC",
                reason="INVALID_CONFIG",
                path="certificate",
            )
        return module.insecure_channel(target, options)
    credentials = grpc.ssl_channel_credentials(
        None if root_certificates is True else Path(root_certificates).read_bytes(),
        None if key is None else Path(key).read_bytes(),
        None if certificate is None else Path(certificate).read_bytes(),
    )
    return module.secure_channel(target, credentials, options)


def _metadata(token):
    return () if token is None else (("authorization", f"Bearer {token}"),)


# --- requests


def _search_request(kind, position, limits, seed, candidates, level):
    """Return the request, checked as a search of our own would check it."""
    if type(candidates) is not int or not 1 <= candidates < 2**31:
        raise SearchError(
            f"candidates: given {quote(candidates)}; expected an integer above 0",
            reason="INVALID_LIMITS",
            path="candidates",
        )
    if level is not None:
        levels.check(level)
    return kind(
        position=wire.position_to_message(position),
        limits=limits,
        seed=None if seed is None else resolve_seed(seed),
        num_candidates=candidates,
        level=level or 0,
    )


def _set_analysis(request, interval_s, unlimited, analysis_id):
    request.interval_s = interval_s or 0
    request.unlimited = unlimited
    request.analysis_id = analysis_id


def _actions_request(position, actions):
    message = wire.position_to_message(position)
    return engine_pb2.LegalActionsRequest(position=message, actions=list(actions))


def _removal_request(position, sizes):
    message = wire.position_to_message(position)
    return engine_pb2.ConsiderRemovalRequest(position=message, sizes=list(sizes))


def _limits(**given) -> engine_pb2.Limits:
    given = {name: value for name, value in given.items() if value is not None}
    Limits(**given, unlimited=True)
    return engine_pb2.Limits(**given)


def _record_request(record, limits, seed, first_turn, num_turns):
    if isinstance(record, (str, bytes)):
        record = parse_json(record, "$")
    check_played(record)
    request = engine_pb2.EvaluateRecordRequest(
        start=wire.position_to_message(Position.from_json(record["start"])),
        turns=[engine_pb2.Turn(actions=turn) for turn in record["turns"]],
        limits=limits,
        seed=None if seed is None else resolve_seed(seed),
        first_turn=first_turn,
        num_turns=num_turns,
    )
    return request, record["turns"]


def _new_game_request(game, players, seed, options):
    request = engine_pb2.NewGameRequest(players=players, seed=None if seed is None else resolve_seed(seed))
    registry.get(game)
    wire.require_carried(game)
    chosen = getattr(request, game)
    chosen.SetInParent()
    try:
        json_format.ParseDict({name: value for name, value in options.items() if value is not None}, chosen)
    except json_format.ParseError as error:
        raise NotationError(f"options: {error}; expected those of {game}", path="options") from None
    return request


def _turn_request(position, turn, draw_events, seed):
    draws_only = turn is None and draw_events and position.is_chance
    return engine_pb2.ApplyTurnRequest(
        position=wire.position_to_message(position),
        turn=engine_pb2.Turn(actions=[] if draws_only else split_turn(turn)),
        draw_events=draw_events,
        seed=None if seed is None else resolve_seed(seed),
    )


# --- answers


def _evaluations(turns):
    return lambda answer, _: wire.evaluation_from_message(answer, turns[answer.turn_index])


def _dealt(response, target) -> Position:
    return wire.position_from_message(response.full_position)


def _applied(response, target) -> Applied:
    return Applied(
        position=wire.position_from_message(response.position),
        scores=list(response.scores),
        scored=list(response.scored),
        to_move=response.to_move if response.HasField("to_move") else None,
        is_over=response.is_over,
        winners=list(response.winners),
        events=[list(event.actions) for event in response.events],
    )


def _violations(response, target) -> list[Violation]:
    return [_violation(fault) for fault in response.violations]


def _removal(response, target) -> Removal:
    return Removal(
        response.agrees,
        [
            TokenRemoval(
                opinion.size,
                opinion.agrees,
                opinion.reason,
                opinion.explanation,
                list(opinion.spaces),
                list(opinion.canals),
            )
            for opinion in response.opinions
        ],
    )


def _games(response, target) -> list[dict[str, Any]]:
    return [
        {name: getattr(game, name) for name in ("name", "rules_version", "min_players", "max_players")}
        for game in response.games
    ]


def _info(response, target) -> dict[str, Any]:
    found = json_format.MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    found["caps"]["iterations"] = response.caps.iterations  # protobuf's JSON has 64-bit integers as strings
    return found


def _timeout(time_s: float | None, timeout_s: float | None) -> float:
    if timeout_s is not None:
        return timeout_s
    return WAIT_S + (UNKNOWN_TIME_S if time_s is None else time_s)


def _result(response, target: str) -> Result:
    if not response.result.turn:
        raise SearchError(
            f"server {target}: answered without a turn; expected at least one action", reason="NO_TURN_FOUND"
        )
    return wire.result_from_message(response.result)


def _rich_status(call) -> status_pb2.Status | None:
    """Return the google.rpc.Status of a failed call, None if it has none or one that contradicts the call."""
    with contextlib.suppress(ValueError):
        return rpc_status.from_call(call)


def _error(error, status: status_pb2.Status | None, target: str) -> MexicaAIError:
    """Return the exception for a failed call."""
    code, message = error.code(), error.details() or ""
    info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details if status else ():
        # Unpack leaves its argument as it is if the detail is of another type.
        detail.Unpack(info)
        detail.Unpack(faults)
    if code is grpc.StatusCode.FAILED_PRECONDITION:
        return GameOverError(message, path="$")
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        violations = [_violation(fault) for fault in faults.field_violations]
        error_class = _ERROR_CLASSES.get(info.metadata.get("error"), NotationError)
        return error_class(
            _local_paths(message),
            reason=info.reason or None,
            path=violations[0].path if violations else "",
            violations=violations,
        )
    return SearchError(f"server {target}: {code.name}: {message}", reason=code.name)


def _violation(fault: error_details_pb2.BadRequest.FieldViolation) -> Violation:
    path = _local_paths(fault.field)
    return Violation(path, fault.reason, f"{path}: {fault.description}")


def _local_paths(text: str) -> str:
    """Rewrite paths in the request to paths in the position's JSON form: that is what the caller has."""
    return re.sub(r"^position(\.[a-z_]+)?(?=[.:\[]|$)", "$", text)

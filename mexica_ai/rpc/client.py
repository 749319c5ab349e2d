"""Clients of a running server (`mexica-ai serve`): `Client`, and `AsyncClient` for asyncio.

Both have the calls of `_Calls`; a `Client` returns answers and iterators, an `AsyncClient` coroutines and
asynchronous iterators. They raise the same exceptions as the package's own functions. What only a service can
suffer from is a SearchError. Its `reason` is the server's, such as TOO_MANY_WAITING; if the server gave none,
it is the name of the gRPC status, such as UNAVAILABLE. Its `retry_after_s` is the server's, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from types import ModuleType
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

try:
    import grpc
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"mexica_ai.rpc.client needs {error.name}, which is not installed: pip install 'mexica-ai[client]'",
        name=error.name,
    ) from None
import grpc.aio as grpc_aio
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from mexica_ai import Removal
from mexica_ai.analysis import levels
from mexica_ai.analysis.annotate import TurnEvaluation, check_played
from mexica_ai.analysis.limits import DEFAULT_CANDIDATES, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game import registry
from mexica_ai.game.position import Position, split_turn
from mexica_ai.game.records import are_figures, parse_record
from mexica_ai.game.steps import Applied
from mexica_ai.io.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)
from mexica_ai.io.figures import resolve_seed
from mexica_ai.io.files import read_bytes
from mexica_ai.io.strict import quote
from mexica_ai.io.terminal import shorten
from mexica_ai.rpc import targets, wire
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

# How long a call may take beyond the time of its search, mainly to wait for a slot; and the assumed time of a
# search whose limits the server sets.
WAIT_S = 30.0
UNKNOWN_TIME_S = 60.0

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_UNREADABLE = "Exception deserializing response!"  # what grpc says of an answer that cannot be parsed
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
class Call(Generic[T]):
    """The description of a call.

    Parameters
    ----------
    method : str
        The method of `mexica_ai.v1.EngineService`.
    request : Message, or an iterator of them
    read : callable
        Turns a message of the answer into a value.
    timeout_s : float or None
        Deadline of the whole call in seconds.
    stop : Stop, optional
        Setting it cancels the call. Only for a method with one answer.
    """

    method: str
    request: Message | Iterator[Message]
    read: Callable[[Any], T]
    timeout_s: float | None
    stop: Stop | None = None


class _Asking(Protocol[P, T_co]):
    """The type of a method with one answer, for type checkers."""

    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, client: AsyncClient, owner: type[AsyncClient]
    ) -> Callable[P, Coroutine[Any, Any, T_co]]: ...


class _Streaming(Protocol[P, T_co]):
    """The type of a method with a stream of answers, for type checkers."""

    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, Iterator[T_co]]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type[AsyncClient]) -> Callable[P, AsyncIterator[T_co]]: ...


def _described(describe: Callable[..., Call[T]], *args: Any, **kwargs: Any) -> Call[T]:
    """Return the description of a call; what does not fit into its request is a NotationError."""
    try:
        return describe(*args, **kwargs)
    except MexicaAIError:
        raise
    except (OverflowError, ValueError) as error:  # protobuf's: a number that is too large, half of a character
        raise NotationError(
            f"{describe.__name__}: {shorten(str(error))}; expected arguments that fit into the request",
            reason="BAD_VALUE",
        ) from None


def _asks(describe: Callable[Concatenate[Any, P], Call[T]]) -> _Asking[P, T]:
    """Turn a method that describes a call into one that makes the call and returns the answer."""

    @functools.wraps(describe)
    def method(client: Any, *args: Any, **kwargs: Any) -> Any:
        return client._ask(functools.partial(_described, describe, client, *args, **kwargs))

    return cast("_Asking[P, T]", method)


def _streams(describe: Callable[Concatenate[Any, P], Call[T]]) -> _Streaming[P, T]:
    """Turn a method that describes a call into one that makes the call and returns an iterator of answers."""

    @functools.wraps(describe)
    def method(client: Any, *args: Any, **kwargs: Any) -> Any:
        return client._stream(_described(describe, client, *args, **kwargs))

    return cast("_Streaming[P, T]", method)


class _Calls:
    """The calls of both clients: a method describes one; by `_asks` or `_streams` the client makes it."""

    _grpc: ClassVar[ModuleType]  # grpc or grpc.aio, whose functions have the same names

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        root_certificates: str | os.PathLike[str] | bool | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> None:
        try:
            self.target = targets.parse(target)
        except ValueError as expected:
            raise SearchError(
                f"target: given {quote(target)}; expected {expected}", reason="INVALID_CONFIG", path="target"
            ) from None
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        proxy = targets.proxy_of(target, os.environ)
        # What messages call the server.
        self._name = target if proxy is None else f"{target} (by the proxy {proxy[0]}, from {proxy[1]})"
        self._open = _opener(self._grpc, target, root_certificates, certificate, key, is_direct=proxy is None)
        self._opened()

    def _opened(self) -> None:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: it is a connection; make one in each process"
        )

    @_asks
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
        weights: str | None = None,
        timeout_s: float | None = None,
        stop: Stop | None = None,
    ) -> Call[Result]:
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
        weights : str, optional
            The name of one of the server's sets of weights for the game (`engine_info` lists them); None:
            those that ship with the server.
        timeout_s : float, optional
            Deadline of the whole call in seconds; the search gets less than that. By default `time_s` (60 if
            the server decides) and 30 more for waiting until a search slot is free.
        stop : Stop, optional
            Setting it cancels the call, which ends the search: SearchError with reason CANCELLED.

        Returns
        -------
        Result

        Raises
        ------
        GameOverError
            The game is over.
        NotationError, PositionError
            The server refuses the position; `violations` are in terms of its JSON form. Or it has no weights of
            this name for the game (NotationError, reason UNKNOWN_WEIGHTS).
        SearchError
            A limit or the name of the weights makes no sense, or the call failed: then `reason` is the server's,
            or the name of the gRPC status where the server gave none, and `retry_after_s` says when a retry
            makes sense, if the server said so.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = engine_pb2.BestTurnRequest(**_search(position, limits, seed, candidates, level, weights))
        return Call("BestTurn", request, self._reader(position), _timeout(time_s, timeout_s), stop)

    @_asks
    def run_search(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        weights: str | None = None,
        timeout_s: float | None = None,
        stop: Stop | None = None,
    ) -> Call[Result]:
        """Do what `best_turn` does, within `limits`: for engines."""
        message = _limits_message(limits)
        request = engine_pb2.BestTurnRequest(**_search(position, message, seed, candidates, None, weights))
        return Call("BestTurn", request, self._reader(position), _timeout(limits.time_s, timeout_s), stop)

    @_streams
    def best_turns(
        self,
        positions: Iterable[Position],
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        level: int | None = None,
        weights: str | None = None,
        timeout_s: float | None = None,
    ) -> Call[tuple[int, Result | MexicaAIError]]:
        """Have the server search many positions, and yield each result as soon as it is there, in any order.

        Parameters
        ----------
        positions : iterable of Position
            Read as the server takes them, in a thread of their own.
        timeout_s : float, optional
            Deadline of the whole call in seconds; None: none.
        time_s, iterations, threads, memory_mb, seed, candidates, level, weights
            Of each search, as for `best_turn`.

        Yields
        ------
        index : int
            Of the position, from 0.
        result : Result or MexicaAIError
            What `best_turn` would return or raise for it.

        Raises
        ------
        SearchError
            The call failed, such as with reason SHUTTING_DOWN; positions without a result can be sent again.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        fields = _search(None, limits, seed, candidates, level, weights)

        seats: dict[str, int] = {}  # of the positions without a result

        def requests() -> Iterator[engine_pb2.BestTurnsRequest]:
            for index, position in enumerate(positions):
                seats[str(index)] = position.players
                search = engine_pb2.BestTurnRequest(**{**fields, "position": wire.position_to_message(position)})
                yield engine_pb2.BestTurnsRequest(id=str(index), search=search)

        def read(answer: Any) -> tuple[int, Result | MexicaAIError]:
            players = seats.pop(answer.id, None)
            if players is None:
                raise ValueError(f"a result of position {quote(answer.id)}, which has none to come")
            index = int(answer.id)
            if answer.HasField("failure"):
                return index, _failure(answer.failure, self._name)
            return index, self._read_result(answer, players)

        return Call("BestTurns", requests(), read, timeout_s)

    @_streams
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
        weights: str | None = None,
        unlimited: bool = False,
        analysis_id: str = "",
        timeout_s: float | None = None,
    ) -> Call[Result]:
        """Have the server search, and yield what is known at an interval; see `mexica_ai.analyze`.

        The last result, and only that, has a `stop_reason`. `unlimited` searches on until `stop_analysis` is
        called with the same `analysis_id`; closing the iterator ends any search. Other parameters and errors
        are those of `best_turn`; without `timeout_s` an unlimited call has no deadline.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = engine_pb2.AnalyzeRequest(
            **_search(position, limits, seed, candidates, level, weights),
            interval_s=interval_s or 0,
            unlimited=unlimited,
            analysis_id=analysis_id,
        )
        deadline_s = None if unlimited and timeout_s is None else _timeout(time_s, timeout_s)
        return Call("Analyze", request, self._reader(position), deadline_s)

    @_asks
    def stop_analysis(self, analysis_id: str, *, timeout_s: float = WAIT_S) -> Call[int]:
        """Make running analyses with this name send their last result now; return their number."""
        request = engine_pb2.StopAnalysisRequest(analysis_id=analysis_id)
        return Call("StopAnalysis", request, lambda answer: int(answer.num_stopped), timeout_s)

    @_streams
    def evaluate_record(
        self,
        record: dict[str, Any] | str | bytes,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        threads: int | None = None,
        memory_mb: int | None = None,
        seed: int | None = None,
        weights: str | None = None,
        first_turn: int = 0,
        num_turns: int = 0,
        timeout_s: float | None = None,
    ) -> Call[TurnEvaluation]:
        """Have the server value each turn of a game; see `mexica_ai.analysis.annotate.evaluate_record`.

        The record is replayed here first, so its errors are those of `mexica_ai.replay`. `num_turns` 0: all
        from `first_turn` on. `weights` is the name of a set, as for `best_turn`. There is no deadline unless
        `timeout_s` sets one.
        """
        limits = _limits(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        data = parse_record(record) if isinstance(record, (str, bytes)) else record
        check_played(data)
        turns, start = data["turns"], Position.from_json(data["start"])
        request = engine_pb2.EvaluateRecordRequest(
            start=wire.position_to_message(start),
            turns=[engine_pb2.Turn(actions=turn) for turn in turns],
            limits=limits,
            seed=_seed(seed),
            first_turn=first_turn,
            num_turns=num_turns,
            weights=_weights(weights),
        )

        def read(answer: Any) -> TurnEvaluation:
            if answer.turn_index < len(turns):
                found = wire.evaluation_from_message(answer, turns[answer.turn_index])
                if are_figures(found.to_json(), start.players):
                    return found
            raise SearchError(
                f"server {self._name}: evaluated turn {answer.turn_index} with figures that cannot be; expected "
                f"shares of the win, scores, iterations and seconds, of turns 0 to {len(turns) - 1}",
                reason="BAD_FIGURES",
            )

        return Call("EvaluateRecord", request, read, timeout_s)

    @_asks
    def new_game(
        self,
        /,
        game: str = registry.DEFAULT,
        *,
        players: int = 2,
        seed: int | None = None,
        timeout_s: float = WAIT_S,
        **options: Any,
    ) -> Call[Position]:
        """Have the server deal a new game; see `mexica_ai.new_game`."""
        request = engine_pb2.NewGameRequest(players=players, seed=_seed(seed))
        registry.get(game)
        wire.options_to_request(request, game, {name: value for name, value in options.items() if value is not None})
        return Call("NewGame", request, lambda answer: wire.position_from_message(answer.full_position), timeout_s)

    @_asks
    def apply_turn(
        self,
        position: Position,
        turn: str | list[str] | None,
        *,
        draw_events: bool = False,
        seed: int | None = None,
        partial: bool = False,
        steps: bool = False,
        timeout_s: float = WAIT_S,
    ) -> Call[Applied]:
        """Have the server play a whole turn; the errors are those of `Position.push`.

        With `draw_events` it draws the random events that come then, by `seed` if that is given, until a seat
        is to move; where one comes first, the turn may be None. With `partial` the turn may stop before its end. With
        `steps` the answer has them, as `mexica_ai.game.steps.play_steps` returns them.
        """
        draws_only = turn is None and draw_events and position.is_chance
        request = engine_pb2.ApplyTurnRequest(
            position=wire.position_to_message(position),
            turn=engine_pb2.Turn(actions=[] if draws_only else split_turn(cast(Any, turn))),
            draw_events=draw_events,
            seed=_seed(seed),
            allow_partial=partial,
            with_steps=steps,
        )
        return Call("ApplyTurn", request, wire.applied_from_message, timeout_s)

    @_asks
    def legal_actions(
        self, position: Position, actions: Sequence[str] = (), *, timeout_s: float = WAIT_S
    ) -> Call[list[str]]:
        """Have the server list the legal actions after `actions`; see `Position.legal_actions`."""
        message = wire.position_to_message(position)
        request = engine_pb2.LegalActionsRequest(position=message, actions=list(actions))
        return Call("LegalActions", request, lambda answer: list(answer.actions), timeout_s)

    @_asks
    def validate_position(self, data: dict[str, Any], *, timeout_s: float = WAIT_S) -> Call[list[Violation]]:
        """Have the server list all faults of a position's JSON object; empty for a valid one.

        Raises
        ------
        NotationError
            The object does not fit into a message: it has an unknown key, or a value of the wrong type.
        """
        request = engine_pb2.ValidatePositionRequest(position=wire.message_from_json(data))
        return Call("ValidatePosition", request, _read_violations, timeout_s)

    @_asks
    def consider_removal(
        self, position: Position, sizes: Sequence[int], *, timeout_s: float = WAIT_S
    ) -> Call[Removal]:
        """Ask whether the engine agrees to remove tokens; see `mexica_ai.consider_removal`."""
        message = wire.position_to_message(position)
        request = engine_pb2.ConsiderRemovalRequest(position=message, sizes=list(sizes))
        return Call("ConsiderRemoval", request, wire.removal_from_message, timeout_s)

    @_asks
    def list_games(self, *, timeout_s: float = WAIT_S) -> Call[list[dict[str, Any]]]:
        """Return the server's games: `name`, `rules_version`, `min_players`, `max_players`."""
        return Call("ListGames", engine_pb2.ListGamesRequest(), wire.games_from_message, timeout_s)

    @_asks
    def engine_info(self, *, timeout_s: float = WAIT_S) -> Call[dict[str, Any]]:
        """Return the fields of GetEngineInfoResponse as a dict."""
        return Call("GetEngineInfo", engine_pb2.GetEngineInfoRequest(), wire.info_from_message, timeout_s)

    def _reader(self, position: Position) -> Callable[[Any], Result]:
        return functools.partial(self._read_result, players=position.players)

    def _read_result(self, answer: Any, players: int) -> Result:
        if not answer.result.turn:
            raise SearchError(
                f"server {self._name}: answered without a turn; expected at least one action",
                reason="NO_TURN_FOUND",
            )
        return wire.result_from_message(answer.result, players)

    def _value(self, call: Call[T], answer: Any) -> T:
        """Return what an answer says; of grpc.aio it is None if it cannot be parsed."""
        try:
            if answer is None:
                raise ValueError(f"no message of {call.method}")
            return call.read(answer)
        except SearchError:
            raise
        except (ArithmeticError, LookupError, MexicaAIError, RecursionError, TypeError, ValueError) as error:
            raise self._bad_answer(str(error)) from None

    def _bad_answer(self, problem: str) -> SearchError:
        return SearchError(
            f"server {self._name}: its answer cannot be read: {problem}; expected a server of this project",
            reason="BAD_ANSWER",
        )

    def _error(self, error: Any) -> MexicaAIError:
        if error.details() == _UNREADABLE:
            return self._bad_answer("no message of the call")
        return _error(error, self._name)

    def _stopped(self) -> SearchError:
        return SearchError(f"server {self._name}: CANCELLED: the call was stopped", reason="CANCELLED")


class Client(_Calls):
    """A connection to a server, opened with the first call; safe to share between threads.

    Calls that fail because a server is busy or shuts down are retried, with at most five attempts in all, at
    all addresses of the target in turn, as the published `service_config` says.

    Parameters
    ----------
    target : str
        The server's address, `HOST:PORT`; several replicas as gRPC names them, such as
        ``ipv4:10.0.0.1:50051,10.0.0.2:50051`` or ``dns:///engine.example.org:50051``.
    token : str, optional
        Bearer token. Use it only with TLS, or on the same machine.
    root_certificates : path-like or True, optional
        Use TLS, and trust the authorities in this PEM file; True: those of gRPC.
    certificate, key : path-like, optional
        The client's certificate and key, PEM, for a server that requires them.

    Raises
    ------
    NotationError
        A PEM file cannot be read; reason UNREADABLE_FILE.
    SearchError
        The target is none, or a certificate is given without `root_certificates`; reason INVALID_CONFIG.

    Examples
    --------
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     result = client.best_turn(position, time_s=2.0)
    """

    _grpc: ClassVar[ModuleType] = grpc

    def _opened(self) -> None:
        self._channel = self._open()
        self._service: Any = engine_pb2_grpc.EngineServiceStub(self._channel)

    def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        self._channel.close()

    def _stub(self, call: Call[Any]) -> Any:
        return getattr(self._service, call.method)

    def _ask(self, describe: Callable[[], Call[T]]) -> T:
        call = describe()
        done = threading.Event()
        running = self._stub(call).future(call.request, timeout=call.timeout_s, metadata=self._metadata)
        running.add_done_callback(lambda _: done.set())
        try:
            with contextlib.nullcontext() if call.stop is None else call.stop.calling(running.cancel):
                done.wait()
            return self._value(call, running.result())
        except grpc.FutureCancelledError:
            failure: MexicaAIError = self._stopped()
        except grpc.RpcError as error:
            failure = self._error(error)
        finally:
            running.cancel()  # has no effect on a call that has ended; else we were interrupted
        # Not from within the handler: a cluster pickles an error with its context, and gRPC's cannot be pickled.
        raise failure

    def _stream(self, call: Call[T]) -> Iterator[T]:
        # The call starts now, not with the first step of the iterator.
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        return self._read_stream(running, call)

    def _read_stream(self, running: Any, call: Call[T]) -> Iterator[T]:
        try:
            for answer in running:
                yield self._value(call, answer)
            return
        except grpc.RpcError as error:
            failure = self._error(error)
        finally:
            running.cancel()
        raise failure  # as in `_ask`

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AsyncClient(_Calls):
    """`Client` for asyncio; use and close it in one event loop. Where it is made does not matter.

    It has the same parameters and the same methods, as coroutines; those that yield are used with
    ``async for``. Cancelling a task stops its search.
    """

    _grpc: ClassVar[ModuleType] = grpc_aio

    def _opened(self) -> None:
        self._channel: Any = None
        self._service: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        if self._channel is not None:
            self._check_loop()
            await self._channel.close()

    def _stub(self, call: Call[Any]) -> Any:
        # A channel belongs to the event loop in which it was made, so the first call makes it.
        if self._channel is None:
            self._loop = asyncio.get_running_loop()
            self._channel = self._open()
            self._service = engine_pb2_grpc.EngineServiceStub(self._channel)
        self._check_loop()
        return getattr(self._service, call.method)

    def _check_loop(self) -> None:
        if self._loop is not asyncio.get_running_loop():
            raise SearchError(
                f"AsyncClient of {self._name}: was first used in another event loop; expected one client for each "
                "loop, such as each `asyncio.run`",
                reason="OTHER_LOOP",
            )

    async def _ask(self, describe: Callable[[], Call[T]]) -> T:
        call = describe()
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        cancel = functools.partial(self._loop.call_soon_threadsafe, running.cancel)
        try:
            with contextlib.nullcontext() if call.stop is None else call.stop.calling(cancel):
                return self._value(call, await running)
        except asyncio.CancelledError:
            if call.stop is not None and call.stop.is_set() and not asyncio.current_task().cancelling():
                raise self._stopped() from None
            raise
        except grpc_aio.AioRpcError as error:
            raise self._error(error) from None
        finally:
            running.cancel()

    async def _stream(self, call: Call[T]) -> AsyncIterator[T]:
        running = self._stub(call)(call.request, timeout=call.timeout_s, metadata=self._metadata)
        try:
            async for answer in running:
                yield self._value(call, answer)
        except grpc_aio.AioRpcError as error:
            raise self._error(error) from None
        finally:
            running.cancel()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


# --- connections


def service_config() -> dict[str, Any]:
    """Return the published service config: retries with backoff, and round robin over all replicas."""
    text = (resources.files("mexica_ai.rpc") / "service_config.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _opener(
    module: Any,
    target: str,
    root_certificates: str | os.PathLike[str] | bool | None,
    certificate: str | os.PathLike[str] | None,
    key: str | os.PathLike[str] | None,
    is_direct: bool,
) -> Callable[[], Any]:
    """Return what makes a channel of `module`, which is grpc or grpc.aio; files are read now."""
    options = [("grpc.service_config", json.dumps(service_config())), ("grpc.enable_retries", 1)]
    if is_direct:
        options += targets.DIRECT
    if root_certificates is None or root_certificates is False:
        if certificate is not None or key is not None:
            raise SearchError(
                "certificate: given without root_certificates; expected both, or True for those of gRPC",
                reason="INVALID_CONFIG",
                path="certificate",
            )
        return functools.partial(module.insecure_channel, target, options)
    credentials = grpc.ssl_channel_credentials(
        None if root_certificates is True else read_bytes(root_certificates),
        None if key is None else read_bytes(key),
        None if certificate is None else read_bytes(certificate),
    )
    return functools.partial(module.secure_channel, target, credentials, options)


# --- requests


def _search(
    position: Position | None,
    limits: engine_pb2.Limits,
    seed: int | None,
    candidates: int,
    level: int | None,
    weights: str | None,
) -> dict[str, Any]:
    """Return the fields that requests to search share, checked as a local search checks them; None: no position."""
    if type(candidates) is not int or not 1 <= candidates < 2**31:
        raise SearchError(
            f"candidates: given {quote(candidates)}; expected an integer above 0",
            reason="INVALID_LIMITS",
            path="candidates",
        )
    if level is not None:
        levels.check(level)
    return {
        "position": None if position is None else wire.position_to_message(position),
        "limits": limits,
        "seed": _seed(seed),
        "num_candidates": candidates,
        "level": level or 0,
        "weights": _weights(weights),
    }


def _weights(name: str | None) -> str:
    if name is None:
        return ""
    if not (isinstance(name, str) and re.fullmatch(wire.WEIGHTS_NAME, name)):
        raise SearchError(
            f"weights: given {quote(name)}; expected the name of a set of the server: 1 to 64 letters, digits "
            "and ._-",
            reason="INVALID_WEIGHTS",
            path="weights",
        )
    return name


def _seed(seed: int | None) -> int | None:
    return None if seed is None else resolve_seed(seed)


def _limits(**limits: Any) -> engine_pb2.Limits:
    given = {name: value for name, value in limits.items() if value is not None}
    Limits(**given, unlimited=True)
    return engine_pb2.Limits(**given)


def _limits_message(limits: Limits) -> engine_pb2.Limits:
    return engine_pb2.Limits(
        time_s=limits.time_s,
        iterations=limits.iterations,
        memory_mb=limits.memory_mb,
        threads=limits.threads,
    )


def _timeout(time_s: float | None, timeout_s: float | None) -> float:
    if timeout_s is not None:
        return timeout_s
    return WAIT_S + (UNKNOWN_TIME_S if time_s is None else time_s)


# --- answers


def _read_violations(response: engine_pb2.ValidatePositionResponse) -> list[Violation]:
    return [_violation(fault) for fault in response.violations]


def _error(error: Any, target: str) -> MexicaAIError:
    """Return the exception for a call that failed with a gRPC error."""
    code, message = error.code(), error.details() or ""
    info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    status = None
    with contextlib.suppress(ValueError):  # a status that contradicts the call's
        status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        # Unpack does not change its argument if the detail is of another type.
        detail.Unpack(info)
        detail.Unpack(faults)
        detail.Unpack(retry)
    return _exception(
        target,
        code,
        message,
        info.reason,
        faults.field_violations,
        retry.retry_delay.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None,
        info.metadata.get("error", ""),
    )


def _failure(failure: engine_pb2.Failure, target: str) -> MexicaAIError:
    """Return the exception for one of many requests of a call, as if it had been a call of its own."""
    code = _CODES.get(failure.code, grpc.StatusCode.UNKNOWN)
    for fault in failure.violations:
        fault.field = fault.field.removeprefix("search.")
    message = failure.message.removeprefix("search.")
    retry_after_s = failure.retry_after_s or None
    return _exception(
        target, code, message, failure.reason, failure.violations, retry_after_s, failure.error
    )


def _exception(
    target: str,
    code: grpc.StatusCode,
    message: str,
    reason: str,
    faults: Iterable[Any],
    retry_after_s: float | None,
    error_class: str,
) -> MexicaAIError:
    if code is grpc.StatusCode.FAILED_PRECONDITION:
        return GameOverError(message, path="$")
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        violations = [_violation(fault) for fault in faults]
        return _ERROR_CLASSES.get(error_class, NotationError)(
            _local_paths(message),
            reason=reason or None,
            path=violations[0].path if violations else "",
            violations=violations,
        )
    return SearchError(
        f"server {target}: {code.name}: {message}", reason=reason or code.name, retry_after_s=retry_after_s
    )


def _violation(fault: Any) -> Violation:
    """Return the violation that a FieldViolation or a message Violation reports."""
    path = _local_paths(fault.field)
    return Violation(path, fault.reason, f"{path}: {fault.description}")


def _local_paths(text: str) -> str:
    """Rewrite paths in the request to paths in the position's JSON form, which the caller knows."""
    return re.sub(r"^position(\.[a-z_]+)?(?=[.:\[]|$)", "$", text)

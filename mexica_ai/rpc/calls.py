"""The calls of `mexica_ai.rpc.client`: what each sends, how long it may take, and how its answer is read.

They open no connection: a client makes the calls that are described here.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from google.protobuf.message import Message

from mexica_ai.analysis.annotate import TurnEvaluation, check_played
from mexica_ai.analysis.limits import DEFAULT_CANDIDATES, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game import registry
from mexica_ai.game.details import ActionDetail
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import split_turn
from mexica_ai.game.proposals import Verdict
from mexica_ai.game.records import are_figures, parse_record
from mexica_ai.game.steps import Applied
from mexica_ai.io.errors import MexicaAIError, NotationError, PositionError, SearchError, Violation
from mexica_ai.io.numbers import MAX_TIME_S, check_interval, check_seed
from mexica_ai.io.strict import quote
from mexica_ai.io.terminal import shorten
from mexica_ai.rpc import failures, fields, wire
from mexica_ai.rpc.details import detail_from_message
from mexica_ai.v1 import engine_pb2

if TYPE_CHECKING:
    from mexica_ai.rpc.client import AsyncClient, Client

# How long a call may take beyond the time of its search, mainly to wait for a slot; and the assumed time of a
# search whose limits the server sets.
WAIT_S = 30.0
UNKNOWN_TIME_S = 60.0

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
    errors : list of Exception
        What the iterator of requests has met, which ended it. It is raised after the answers.
    """

    method: str
    request: Message | Iterator[Message]
    read: Callable[[Any], T]
    timeout_s: float | None
    stop: Stop | None = None
    errors: Sequence[Exception] = ()

    def __post_init__(self) -> None:
        # gRPC takes NaN, and what is beyond its clock, for a deadline that is over.
        given = self.timeout_s
        if given is not None and not (isinstance(given, (int, float)) and -MAX_TIME_S <= given <= MAX_TIME_S):
            raise SearchError(
                f"timeout_s: given {quote(given)}; expected a number of seconds, at most {MAX_TIME_S}, or None",
                reason="INVALID_LIMITS",
                path="timeout_s",
            )

    def end(self) -> None:
        """Raise what ended the requests before their end, once all answers are read."""
        if self.errors:
            raise self.errors[0]


class _Asking(Protocol[P, T_co]):
    """The type of a method with one answer, for type checkers."""

    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type[AsyncClient]) -> Callable[P, Coroutine[Any, Any, T_co]]: ...


class _Streaming(Protocol[P, T_co]):
    """The type of a method with a stream of answers, for type checkers."""

    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, Iterator[T_co]]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type[AsyncClient]) -> Callable[P, AsyncGenerator[T_co, None]]: ...


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


class Calls:
    """The calls of both clients: a method describes one; by `_asks` or `_streams` the client makes it."""

    _name: str  # what messages call the server

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
        elo: int | None = None,
        weights: str | None = None,
        allow: Sequence[str] | None = None,
        avoid: Sequence[str] = (),
        first_actions: bool = False,
        options: Mapping[str, float] | None = None,
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
        elo : int, optional
            Instead of `level`: a rating, 1-5000; the server plays the level whose rating in the game is nearest.
        weights : str, optional
            The name of one of the server's sets of weights for the game (`engine_info` lists them); None:
            those that ship with the server.
        allow, avoid : sequence of str
            The only actions with which the turn may begin, and those with which it may not, as for
            `mexica_ai.best_turn`.
        first_actions : bool
            Whether the result lists the first actions that the search considered.
        options : mapping of str to float, optional
            Options of the search (``docs/search.md``): those that the server allows, within its bounds (`engine_info`).
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
        limits = fields.limits_message(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        request = engine_pb2.BestTurnRequest(
            **fields.search(position, limits, seed, candidates, level, elo, weights),
            **fields.restrictions(allow, avoid, options),
            with_first_actions=first_actions,
        )
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
        allow: Sequence[str] | None = None,
        avoid: Sequence[str] = (),
        timeout_s: float | None = None,
        stop: Stop | None = None,
    ) -> Call[Result]:
        """Do what `best_turn` does, within `limits`: for engines."""
        names = ("time_s", "iterations", "memory_mb", "threads")
        message = fields.limits_message(**{name: getattr(limits, name) for name in names})
        request = engine_pb2.BestTurnRequest(
            **fields.search(position, message, seed, candidates, None, None, weights),
            **fields.restrictions(allow, avoid, None),
        )
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
        elo: int | None = None,
        weights: str | None = None,
        first_actions: bool = False,
        options: Mapping[str, float] | None = None,
        timeout_s: float | None = None,
    ) -> Call[tuple[int, Result | MexicaAIError]]:
        """Have the server search many positions, and yield each result as soon as it is there, in any order.

        Parameters
        ----------
        positions : iterable of Position
            Read as the server takes them: in a thread of their own, with `AsyncClient` in the event loop. What it
            raises is raised here, after the results of the positions before.
        timeout_s : float, optional
            Deadline of the whole call in seconds; None: none.
        time_s, iterations, threads, memory_mb, seed, candidates, level, elo, weights, first_actions, options
            Of each search, as for `best_turn`.

        Yields
        ------
        index : int
            Of the position, from 0.
        result : Result or MexicaAIError
            The result or the error of `best_turn` for it.

        Raises
        ------
        SearchError
            The call failed, such as with reason SHUTTING_DOWN; positions without a result can be sent again.
        """
        limits = fields.limits_message(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        shared = fields.search(None, limits, seed, candidates, level, elo, weights)
        shared |= fields.restrictions(None, (), options)
        shared["with_first_actions"] = first_actions

        seats: dict[str, int] = {}  # of the positions without a result

        errors: list[Exception] = []

        def requests() -> Iterator[engine_pb2.BestTurnsRequest]:
            try:
                for index, position in enumerate(positions):
                    seats[str(index)] = position.players
                    search = engine_pb2.BestTurnRequest(**{**shared, "position": wire.position_to_message(position)})
                    yield engine_pb2.BestTurnsRequest(id=str(index), search=search)
            except Exception as error:  # gRPC would call it a failure of the call
                errors.append(error)

        def read(answer: Any) -> tuple[int, Result | MexicaAIError]:
            players = seats.pop(answer.id, None)
            if players is None:
                raise ValueError(f"a result of position {quote(answer.id)}, which has none to come")
            index = int(answer.id)
            if answer.HasField("failure"):
                return index, failures.of_one(answer.failure, self._name)
            return index, self._read_result(answer, players)

        return Call("BestTurns", requests(), read, timeout_s, errors=errors)

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
        elo: int | None = None,
        interval_s: float | None = None,
        weights: str | None = None,
        unlimited: bool = False,
        analysis_id: str = "",
        allow: Sequence[str] | None = None,
        avoid: Sequence[str] = (),
        first_actions: bool = False,
        options: Mapping[str, float] | None = None,
        timeout_s: float | None = None,
    ) -> Call[Result]:
        """Have the server search, and yield what is known at an interval; see `mexica_ai.analyze`.

        The last result, and only that, has a `stop_reason`. `unlimited` searches on until `stop_analysis` is
        called with the same `analysis_id`; closing the iterator ends any search. Other parameters and errors
        are those of `best_turn`; without `timeout_s` an unlimited call has no deadline.
        """
        limits = fields.limits_message(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        if interval_s is not None:  # in a message 0 is the same as not given
            check_interval(interval_s)
        request = engine_pb2.AnalyzeRequest(
            **fields.search(position, limits, seed, candidates, level, elo, weights),
            **fields.restrictions(allow, avoid, options),
            with_first_actions=first_actions,
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
        explain: bool = False,
        checks: int = 0,
        level: int | None = None,
        elo: int | None = None,
        candidates: int = 0,
        timeout_s: float | None = None,
    ) -> Call[TurnEvaluation]:
        """Have the server value each turn of a game; see `mexica_ai.analysis.annotate.evaluate_record`.

        The record is replayed here first, so its errors are those of `mexica_ai.replay`. `num_turns` 0: all
        from `first_turn` on. `weights` is the name of a set, as for `best_turn`; each evaluation has as many of the
        turns considered as `candidates` says. There is no deadline unless
        `timeout_s` sets one.
        """
        limits = fields.limits_message(time_s=time_s, iterations=iterations, threads=threads, memory_mb=memory_mb)
        data = parse_record(record) if isinstance(record, (str, bytes)) else record
        check_played(data)
        turns, start = data["turns"], Position.from_json(data["start"])
        request = engine_pb2.EvaluateRecordRequest(
            start=wire.position_to_message(start),
            turns=[engine_pb2.Turn(actions=turn) for turn in turns],
            limits=limits,
            seed=check_seed(seed),
            first_turn=first_turn,
            num_turns=num_turns,
            weights=fields.weights_name(weights),
            explain=explain,
            checks=checks,
            num_candidates=candidates,
            **fields.strength(level, elo),
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
        rules = registry.get(game).rules
        if not players:  # in a message 0 is the same as not given
            raise PositionError(
                f"players: {quote(players)} is out of range; expected an integer from 2 to {rules.max_players}",
                reason="OUT_OF_RANGE",
                path="players",
            )
        request = engine_pb2.NewGameRequest(players=players, seed=check_seed(seed))
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
        views: bool = False,
        timeout_s: float = WAIT_S,
    ) -> Call[Applied]:
        """Have the server play a whole turn; the errors are those of `Position.push`.

        With `draw_events` it draws the random events that come then, by `seed` if that is given, until a seat
        is to move; where one comes first, the turn may be None. With `partial` the turn may stop before its end. With
        `steps` the answer has them, as `mexica_ai.game.steps.play_steps` returns them. With `views` it has what each
        seat and a spectator may see.
        """
        draws_only = turn is None and draw_events and position.is_chance
        request = engine_pb2.ApplyTurnRequest(
            position=wire.position_to_message(position),
            turn=engine_pb2.Turn(actions=[] if draws_only else split_turn(cast(Any, turn))),
            draw_events=draw_events,
            seed=check_seed(seed),
            allow_partial=partial,
            with_steps=steps,
            with_views=views,
        )
        return Call("ApplyTurn", request, wire.applied_from_message, timeout_s)

    @_asks
    def view(self, position: Position, seat: int | None, *, timeout_s: float = WAIT_S) -> Call[Position]:
        """Have the server make a seat's view of a position, or that of a spectator (None); see `Position.view`.

        Beside the hands of others it leaves out what is hidden from all seats.
        """
        viewer: dict[str, Any] = {"spectator": True} if seat is None else {"seat": seat}
        request = engine_pb2.GetViewRequest(position=wire.position_to_message(position), **viewer)
        return Call("GetView", request, lambda answer: wire.position_from_message(answer.position), timeout_s)

    @_asks
    def legal_actions(
        self, position: Position, actions: Sequence[str] = (), *, timeout_s: float = WAIT_S
    ) -> Call[list[str]]:
        """Have the server list the legal actions after `actions`; see `Position.legal_actions`."""
        message = wire.position_to_message(position)
        request = engine_pb2.LegalActionsRequest(position=message, actions=list(actions))
        return Call("LegalActions", request, lambda answer: list(answer.actions), timeout_s)

    @_asks
    def legal_details(
        self, position: Position, actions: Sequence[str] = (), *, timeout_s: float = WAIT_S
    ) -> Call[list[ActionDetail]]:
        """Have the server list the legal actions after `actions` as data; see `Position.legal_details`."""
        message = wire.position_to_message(position)
        request = engine_pb2.LegalActionsRequest(position=message, actions=list(actions), detail=True)
        return Call("LegalActions", request, lambda answer: [*map(detail_from_message, answer.details)], timeout_s)

    @_asks
    def validate_position(self, data: dict[str, Any] | str, *, timeout_s: float = WAIT_S) -> Call[list[Violation]]:
        """Have the server list all faults of a position's JSON object, or compact form; empty for a valid one.

        Raises
        ------
        NotationError
            The object does not fit into a message: it has an unknown key, or a value of the wrong type.
        """
        message = engine_pb2.Position(compact=data) if isinstance(data, str) else wire.message_from_json(data)
        request = engine_pb2.ValidatePositionRequest(position=message)
        return Call("ValidatePosition", request, _read_violations, timeout_s)

    @_asks
    def consider_proposal(
        self, position: Position, actions: Sequence[str], *, timeout_s: float = WAIT_S
    ) -> Call[Verdict]:
        """Ask whether the engine agrees to a proposal; see `mexica_ai.consider_proposal`."""
        message = wire.position_to_message(position)
        request = engine_pb2.ConsiderProposalRequest(position=message, actions=list(actions))
        return Call("ConsiderProposal", request, wire.verdict_from_message, timeout_s)

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


def _timeout(time_s: float | None, timeout_s: float | None) -> float:
    if timeout_s is not None:
        return timeout_s
    return min(MAX_TIME_S, WAIT_S + (UNKNOWN_TIME_S if time_s is None else time_s))


def _read_violations(response: engine_pb2.ValidatePositionResponse) -> list[Violation]:
    return [failures.violation(fault) for fault in response.violations]

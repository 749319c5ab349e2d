"""Clients of a running server (`mexica-ai serve`): `Client`, and `AsyncClient` for asyncio.

Both ask as `mexica_ai.best_turn` does and fail with the same exceptions; what only a service can suffer from
is a SearchError with the name of the gRPC status as its reason.
"""

from __future__ import annotations

import contextlib
import re
import threading

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from mexica_ai import wire
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
from mexica_ai.limits import Limits, resolve_seed
from mexica_ai.position import Position
from mexica_ai.results import Result
from mexica_ai.strict import quote
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


class Client:
    """A connection to a server, opened with the first call; safe to share between threads.

    Parameters
    ----------
    target : str
        The server's address, `HOST:PORT`.

    Examples
    --------
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     result = client.best_turn(position, time_s=2.0)
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._channel = grpc.insecure_channel(target)
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
        candidates: int = 5,
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
        request = _request(position, time_s, iterations, threads, memory_mb, seed, candidates)
        done = threading.Event()
        call = self._service.BestTurn.future(request, timeout=_timeout(time_s, timeout_s))
        call.add_done_callback(lambda _: done.set())
        try:
            while not done.wait(_STOP_POLL_S if stop else None):
                if stop.is_set():
                    call.cancel()
                    break
            return _result(call.result(), self.target)
        except grpc.FutureCancelledError:
            raise SearchError(
                f"server {self.target}: CANCELLED: the call was stopped", reason="CANCELLED"
            ) from None
        except grpc.RpcError as error:
            raise _error(error, _rich_status(call), self.target) from None
        finally:
            call.cancel()  # does nothing to a call that has ended; else we were interrupted

    def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AsyncClient:
    """`Client` for asyncio: made, used and closed in one event loop. Cancelling the task stops the search."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._channel = grpc.aio.insecure_channel(target)
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
        candidates: int = 5,
        timeout_s: float | None = None,
    ) -> Result:
        """Have the server search the best turn for the seat to move; see `Client.best_turn`."""
        request = _request(position, time_s, iterations, threads, memory_mb, seed, candidates)
        try:
            response = await self._service.BestTurn(request, timeout=_timeout(time_s, timeout_s))
        except grpc.aio.AioRpcError as error:
            raise _error(error, _rich_status(error), self.target) from None
        return _result(response, self.target)

    async def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        await self._channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()


def _request(
    position, time_s, iterations, threads, memory_mb, seed, candidates
) -> engine_pb2.BestTurnRequest:
    """Return the request, checked as a search of our own would check it."""
    given = {"time_s": time_s, "iterations": iterations, "threads": threads, "memory_mb": memory_mb}
    given = {name: value for name, value in given.items() if value is not None}
    Limits(**given, unlimited=True)
    if type(candidates) is not int or not 1 <= candidates < 2**31:
        raise SearchError(
            f"candidates: given {quote(candidates)}; expected an integer above 0",
            reason="INVALID_LIMITS",
            path="candidates",
        )
    return engine_pb2.BestTurnRequest(
        position=wire.position_to_message(position),
        limits=engine_pb2.Limits(**given),
        seed=None if seed is None else resolve_seed(seed),
        num_candidates=candidates,
    )


def _timeout(time_s: float | None, timeout_s: float | None) -> float:
    if timeout_s is not None:
        return timeout_s
    return WAIT_S + (UNKNOWN_TIME_S if time_s is None else time_s)


def _result(response: engine_pb2.BestTurnResponse, target: str) -> Result:
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

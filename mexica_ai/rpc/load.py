"""Load for a server, and what becomes of it: throughput, latencies, refusals, missed deadlines.

In a closed loop each caller asks again when it has its answer. So a slow server gets fewer calls, and what it does to
callers that come when they like is not seen. In an open loop calls arrive at a rate, whatever the server does (a
Poisson process), and latencies count from the time when a call was to arrive.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.errors import MexicaAIError, SearchError
from mexica_ai.rpc.client import AsyncClient

PERCENTILES = (50, 90, 95, 99)
LATE = "DEADLINE_EXCEEDED"
FORCED = "forced"
POSITIONS = 16  # of each game that is dealt
PAUSE_S = 0.1  # after a refusal that says nothing of a retry

MakeClient = Callable[[], AsyncClient]


@dataclass(frozen=True)
class Plan:
    """The load.

    Parameters
    ----------
    duration_s : float
        For how long calls begin.
    callers : int
        Programs that ask again when they have their answer; of an open loop, those that calls are spread over.
    rate : float, optional
        Calls a second of an open loop; None is a closed one.
    deadline_s : float, optional
        Of each call, from the time when it is to arrive.
    seed : int
        Of the arrivals.
    search : dict
        Arguments of `AsyncClient.best_turn`, such as ``time_s``.
    has_own_channels : bool
        Whether each caller balances its calls by itself, as separate programs do.
    """

    duration_s: float
    callers: int = 1
    rate: float | None = None
    deadline_s: float | None = None
    seed: int = 0
    search: dict[str, Any] = field(default_factory=dict)
    has_own_channels: bool = False


@dataclass
class Report:
    """What became of the calls.

    Attributes
    ----------
    seconds : float
        From the beginning until the last answer.
    latencies_s : list of float
        Of the answers, in any order.
    refusals : Counter
        The number of calls without an answer by reason, those over their deadlines among them.
    late : int
        Answers after the deadline.
    unsearched : int
        Answers of no iteration, to positions with a choice.
    forced : int
        Answers to positions with one legal turn.
    iterations : int
        Of all answers.
    unfinished : int
        Calls that had no answer when the load was interrupted.
    """

    seconds: float = 0.0
    latencies_s: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    late: int = 0
    unsearched: int = 0
    forced: int = 0
    iterations: int = 0
    unfinished: int = 0

    @property
    def calls(self) -> int:
        """The number of calls that began."""
        return len(self.latencies_s) + self.refusals.total() + self.unfinished

    @property
    def missed(self) -> int:
        """The number of calls that were over their deadlines, with an answer or without."""
        return self.late + self.refusals[LATE]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON; latencies in seconds, None without an answer."""
        answered, found = len(self.latencies_s), sorted(self.latencies_s)
        return {
            "seconds": round(self.seconds, 3),
            "calls": self.calls,
            "answered": answered,
            "answers_per_s": round(answered / self.seconds, 3) if self.seconds else 0.0,
            "latency_s": {
                "mean": round(sum(found) / answered, 4) if found else None,
                **{f"p{share}": _rank(found, share) for share in PERCENTILES},
                "max": _rank(found, 100),
            },
            "iterations_per_answer": round(self.iterations / answered, 1) if answered else None,
            "refusals": dict(self.refusals.most_common()),
            "deadlines_missed": self.missed,
            "without_search": self.unsearched,
            "forced": self.forced,
            "unfinished": self.unfinished,
        }

    def note(self, result: Result, latency_s: float, deadline_s: float | None) -> None:
        """Note an answer."""
        self.latencies_s.append(latency_s)
        self.iterations += result.iterations
        self.late += deadline_s is not None and latency_s > deadline_s
        if result.stop_reason == FORCED:
            self.forced += 1
        elif not result.iterations:
            self.unsearched += 1


def _rank(ordered: Sequence[float], share: int) -> float | None:
    """Return a percentile: the least value that so many in a hundred do not exceed."""
    return round(ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)], 4) if ordered else None


def deal(games: Iterable[str], seed: int) -> list[Position]:
    """Return positions of games by name, of the first turns of a quick game each."""
    found = []
    for game in games:
        position = new_game(game, seed=seed)
        for number in range(4 * POSITIONS):
            if position.is_over:
                break
            if position.is_chance:
                position.draw(seed + number)
                continue
            seat = position.to_move
            assert seat is not None
            seen = position.view(seat)
            if number % 4 == 0:
                found.append(seen)
            limits = Limits(iterations=1)
            position.push(SearchRun(seen, SearchSettings(limits, seed + number)).result().turn)
    return found


async def run(make_client: MakeClient, positions: Sequence[Position], plan: Plan, stop: Stop) -> Report:
    """Call a server as planned; return what became of it, or, if the stop is set, what there is by then.

    Raises
    ------
    MexicaAIError
        The first call that the server refuses because of what it asks.
    """
    clients = [make_client() for _ in range(plan.callers if plan.has_own_channels else 1)]
    load = _Load(clients, positions, plan)
    work = asyncio.ensure_future(load.open_loop() if plan.rate else load.closed_loop())
    loop = asyncio.get_running_loop()
    try:
        with stop.calling(lambda: loop.call_soon_threadsafe(work.cancel)):
            await asyncio.wait([work])
        if not work.cancelled():
            work.result()
    except BaseExceptionGroup as errors:
        if failure := _failure_of(errors):
            raise failure from None
        raise
    finally:
        work.cancel()
        for client in clients:
            await client.close()
    return load.report


class _Load:
    def __init__(self, clients: Sequence[AsyncClient], positions: Sequence[Position], plan: Plan) -> None:
        self.report = Report()
        self._clients, self._plan = clients, plan
        self._positions = itertools.cycle(positions)
        self._loop = asyncio.get_running_loop()
        self._begin = self._loop.time()
        self._end = self._begin + plan.duration_s

    async def closed_loop(self) -> None:
        async with asyncio.TaskGroup() as callers:
            for number in range(self._plan.callers):
                callers.create_task(self._caller(self._clients[number % len(self._clients)]))

    async def open_loop(self) -> None:
        clients = itertools.cycle(self._clients)
        async with asyncio.TaskGroup() as calls:
            async for arrival in self._arrivals():
                calls.create_task(self._ask(next(clients), arrival))

    async def _arrivals(self) -> AsyncIterator[float]:
        """Yield the times when calls are to arrive, at these times or, if this machine is too slow, later."""
        assert self._plan.rate is not None
        draws, arrival = random.Random(self._plan.seed), self._begin
        while (arrival := arrival + draws.expovariate(self._plan.rate)) < self._end:
            await asyncio.sleep(max(0.0, arrival - self._loop.time()))
            yield arrival

    async def _caller(self, client: AsyncClient) -> None:
        while (now := self._loop.time()) < self._end:
            pause_s = await self._ask(client, now)
            if pause_s is not None:
                await asyncio.sleep(min(pause_s, max(0.0, self._end - self._loop.time())))

    async def _ask(self, client: AsyncClient, arrival: float) -> float | None:
        """Make a call, and note what becomes of it; return the pause that a refusal asks for."""
        deadline_s = self._plan.deadline_s
        timeout_s = None if deadline_s is None else max(0.001, arrival + deadline_s - self._loop.time())
        try:
            result = await client.best_turn(next(self._positions), timeout_s=timeout_s, **self._plan.search)
        except SearchError as error:
            if error.path:  # a wrong limit, such as 0 seconds
                raise
            self.report.refusals[error.reason] += 1
            return error.retry_after_s or PAUSE_S
        except asyncio.CancelledError:
            self.report.unfinished += 1
            raise
        else:
            self.report.note(result, self._loop.time() - arrival, deadline_s)
            return None
        finally:
            self.report.seconds = self._loop.time() - self._begin


def _failure_of(errors: BaseException) -> MexicaAIError | None:
    """Return the first of the package's own errors among those of a load."""
    if isinstance(errors, BaseExceptionGroup):
        return next(filter(None, map(_failure_of, errors.exceptions)), None)
    return errors if isinstance(errors, MexicaAIError) else None

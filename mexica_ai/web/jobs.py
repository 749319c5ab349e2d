"""What runs in the background: turns of engines, analyses, annotations. All of it are calls of the service.

The named engines of the command line are the exception: they search in this process, in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines import EngineSpec, make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.web import pictures
from mexica_ai.web.errors import ApiError
from mexica_ai.web.events import Hub
from mexica_ai.web.games import NUM_KEPT, Game
from mexica_ai.web.seats import Seat
from mexica_ai.web.snapshots import evaluation_json

MAX_ANALYSES = 4
MAX_ANNOTATIONS = 2
ANALYSIS_S = 0.25  # between two updates
FIRST_S = 0.1  # until the first one
QUEUED_S = 1.0  # a search that is silent for so long waits for a slot
ALONE_S = 5.0  # an analysis that no page watches ends after so long
SHOW_S = 0.35  # for each action of a turn, where engines alone play
WAIT_S = 3600.0  # longest wait for a slot
MAX_LINE = 3  # turns of an expected line that are sent

STOP_WORDS = {
    "time": "the time is over",
    "iterations": "the iterations are done",
    "memory": "the memory is full",
    "stopped": "stopped",
    "forced": "there is only one turn",
    "solved": "solved: the outcome is certain",
    "settled": "settled: the runner-up cannot catch up",
}

_logger = logging.getLogger("mexica_ai.web")


class Jobs:
    """The jobs of all games.

    Parameters
    ----------
    client : AsyncClient
    hub : Hub
    engines : mapping of str to EngineSpec
        The named engines.
    """

    def __init__(self, client: AsyncClient, hub: Hub, engines: Mapping[str, EngineSpec]) -> None:
        self._client, self._hub, self.engines = client, hub, engines
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, Callable[[], Any]] = {}
        self._analyses: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self._annotations: dict[str, asyncio.Task[None]] = {}
        self._made: dict[tuple[str, int], Engine] = {}
        self._serial = 0

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(coroutine)
        task.add_done_callback(_log_failure)
        return task

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}.{id(self):x}.{self._serial}"

    def tell_state(self, game: Game) -> None:
        """Tell all pages of a game its state, each what it may see."""
        for stream in list(self._hub.of(game.id)):
            try:
                snapshot = game.snapshot(stream.viewer)
            except ApiError:  # its viewer is no person any more
                stream.close()
                continue
            stream.put("state", self._event(game, snapshot=snapshot))

    @staticmethod
    def _event(game: Game, **data: Any) -> dict[str, Any]:
        return {"game": game.id, "version": game.version, **data}

    # --- turns of engines

    def go_on(self, game: Game) -> None:
        """Let the engine to move think, and draw random events, until a person is to move."""
        self._draw(game)
        if game.id in self._turns or not self._has_work(game):
            return
        task = self._start(self._play(game))
        self._turns[game.id] = task

        def note_end(ended: asyncio.Task[None]) -> None:
            if self._turns.get(game.id) is ended:
                del self._turns[game.id]

        task.add_done_callback(note_end)

    def _has_work(self, game: Game) -> bool:
        if not game.persons and not self._hub.is_watched(game.id):
            return False  # nobody looks at a game of engines
        return game.waiting == "engine"

    @staticmethod
    def _draw(game: Game) -> None:
        while game.waiting == "event" and game.draws:
            game.draw()

    async def _play(self, game: Game) -> None:
        while self._has_work(game):
            seat = game.mover
            assert seat is not None
            try:
                turn = await self._turn(game, seat)
                game.push(turn)
                self._draw(game)
            except (MexicaAIError, OSError, ApiError) as error:
                _logger.warning("seat %d of game %s: %s", seat, game.id, error)
                self._tell_thinking(game, seat, "failed", str(error))
                return
            self.tell_state(game)
            if not game.persons:
                await asyncio.sleep(SHOW_S * (1 + len(turn)))

    async def _turn(self, game: Game, seat: int) -> list[str]:
        """Return the turn of an engine."""
        player = game.seats[seat]
        position = _for_mover(game, game.now)
        self._tell_thinking(game, seat, "searching")
        try:
            if player.engine is not None:
                return await self._engine_turn(game, seat, player, position)
            return await self._level_turn(game, seat, player, position)
        finally:
            self._stops.pop(game.id, None)

    async def _level_turn(self, game: Game, seat: int, player: Seat, position: Position) -> list[str]:
        name = self._name("turn")
        self._stops[game.id] = lambda: self._client.stop_analysis(name)
        assert player.seconds is not None
        results = self._client.analyze(
            position,
            time_s=player.seconds,
            level=player.level,
            candidates=1,
            interval_s=ANALYSIS_S,
            analysis_id=name,
            timeout_s=player.seconds + WAIT_S,
        )
        waits = asyncio.get_running_loop().call_later(
            max(QUEUED_S, 2 * ANALYSIS_S), self._tell_thinking, game, seat, "queued"
        )
        is_first = True
        try:
            async with contextlib.aclosing(results):
                async for result in results:
                    waits.cancel()
                    if is_first and not result.stop_reason:
                        self._tell_thinking(game, seat, "searching")
                    is_first = False
        finally:
            waits.cancel()
        return result.turn

    async def _engine_turn(self, game: Game, seat: int, player: Seat, position: Position) -> list[str]:
        stop = Stop()

        async def stop_now() -> None:
            stop.set()

        self._stops[game.id] = stop_now
        limits = Limits(time_s=player.seconds)

        def search() -> Result:
            key = (game.id, seat)
            if key not in self._made:
                assert player.engine is not None
                self._made[key] = make_engine(self.engines[player.engine])
            return self._made[key].best_turn(position, limits, stop=stop)

        if player.engine not in self.engines:
            raise _no_engine(player.engine)
        searching = asyncio.ensure_future(asyncio.to_thread(search))
        try:
            return (await asyncio.shield(searching)).turn
        finally:
            stop.set()

    def _tell_thinking(self, game: Game, seat: int, state: str, message: str = "") -> None:
        game.thinking = {
            "seat": seat,
            "since": time.time() if game.thinking is None else game.thinking["since"],
            "state": state,
            "message": message,
        }
        self._hub.broadcast(game.id, "thinking", self._event(game, **game.thinking))

    async def stop_thinking(self, game: Game) -> None:
        """Let the engine that thinks play the best that it has found."""
        stop = self._stops.get(game.id)
        if stop is None:
            raise ApiError(422, "NOT_THINKING", "no engine thinks; expected one that does")
        with contextlib.suppress(MexicaAIError):
            await stop()
        task = self._turns.get(game.id)
        if task is not None:
            await asyncio.wait([task], timeout=2.0)

    async def cancel_thinking(self, game: Game) -> None:
        """End the turn of an engine without playing it."""
        task = self._turns.pop(game.id, None)
        if task is not None:
            await _end(task)
        game.thinking = None

    # --- analyses

    def analyze(
        self,
        game: Game,
        viewer: int | None,
        *,
        at: int,
        line: list[list[str]],
        draft: list[str],
        seconds: float | None,
        candidates: int,
        everybody: bool,
    ) -> str:
        """Start to search a position of a game in place of what was searched before; return its key.

        Parameters
        ----------
        viewer : int or None
            The seat that `Game.viewer_for` returns.
        at, line, draft
            As for `Game.position_of`.
        seconds : float or None
            None: until it is stopped.
        candidates : int
        everybody : bool
            Whether to search the turn of a seat whose hand the viewer does not see, with a guess of it.
        """
        position = seen = pictures.position_of(game, at, viewer, line, draft)
        is_guess = viewer is not None and position.to_move not in (None, viewer)
        if is_guess:
            if not everybody:
                raise ApiError(
                    403,
                    "HIDDEN",
                    f"seat {position.to_move} is to move, whose hand is hidden; `everybody`: search with a guess",
                )
            position = position.guess(0).view(position.to_move)
        require_seat_to_move(position)
        if position.viewer is None:
            position = _for_mover(game, position)
        key = _key(game, viewer, at, line, draft)
        running = self._analyses.pop(game.id, None)
        if running is not None:
            running[1].cancel()
        elif len(self._analyses) >= MAX_ANALYSES:
            raise ApiError(429, "TOO_MANY_ANALYSES", f"{MAX_ANALYSES} analyses run already; expected to end one")
        name = self._name("analysis")
        task = self._start(self._analyze(game, viewer, key, at, seen, position, seconds, candidates, name, is_guess))
        self._analyses[game.id] = (name, task)

        def note_end(ended: asyncio.Task[None]) -> None:
            if self._analyses.get(game.id, ("", None))[1] is ended:
                del self._analyses[game.id]

        task.add_done_callback(note_end)
        if not self._hub.is_watched(game.id):
            asyncio.get_running_loop().call_later(ALONE_S, self._end_alone, game.id, task)
        return key

    def _end_alone(self, game: str, task: asyncio.Task[None]) -> None:
        if not self._hub.is_watched(game):
            task.cancel()

    async def _analyze(
        self,
        game: Game,
        viewer: int | None,
        key: str,
        at: int,
        seen: Position,
        position: Position,
        seconds: float | None,
        candidates: int,
        name: str,
        is_guess: bool,
    ) -> None:
        results = self._client.analyze(
            position,
            time_s=seconds,
            unlimited=seconds is None,
            candidates=candidates,
            interval_s=FIRST_S,
            analysis_id=name,
            timeout_s=None if seconds is None else seconds + WAIT_S,
        )
        last: dict[str, Any] | None = None
        told_s = 0.0
        try:
            async with contextlib.aclosing(results):
                async for result in results:
                    last = {**_analysis(key, at, viewer, position, result), "guessed": is_guess}
                    for candidate in last["candidates"]:
                        turns = [candidate["turn"], *candidate["line"]]
                        candidate["line"] = pictures.playable(game, seen, at, turns)[1:]
                    now = time.monotonic()
                    if result.stop_reason or now - told_s >= ANALYSIS_S - FIRST_S / 2:
                        told_s = now
                        self._tell_analysis(game, last)
        except MexicaAIError as error:
            failed = {"stop_reason": "failed", "stop_text": str(error), "why": []}
            self._tell_analysis(game, {**(last or _empty(key, at, viewer)), **failed})
        except asyncio.CancelledError:
            if last is not None:
                stopped = {"stop_reason": "stopped", "stop_text": STOP_WORDS["stopped"]}
                self._keep_analysis(game, {**last, **stopped})
            raise

    def _keep_analysis(self, game: Game, data: dict[str, Any]) -> dict[str, Any]:
        """Keep a result; one of the position that was searched longer stays."""
        known = game.analyses.get(data["key"])
        if known is not None and known["iterations"] > data["iterations"] and data["stop_reason"]:
            data = {**known, "stop_reason": data["stop_reason"], "stop_text": data["stop_text"]}
        if data["stop_reason"] or known is None or data["iterations"] >= known["iterations"]:
            game.analyses[data["key"]] = data
            game.analyses.move_to_end(data["key"])
            while len(game.analyses) > NUM_KEPT:
                game.analyses.popitem(last=False)
        game.analysis = data
        return data

    def _tell_analysis(self, game: Game, data: dict[str, Any]) -> None:
        data = self._keep_analysis(game, data)
        for stream in list(self._hub.of(game.id)):
            with contextlib.suppress(ApiError):
                if game.require_view(stream.viewer) == data["viewer"]:
                    stream.put("analysis", self._event(game, **data))

    async def end_analysis(self, game: Game) -> None:
        """End the analysis of a game, and keep its result."""
        running = self._analyses.get(game.id)
        if running is None:
            return
        name, task = running
        with contextlib.suppress(MexicaAIError):
            await self._client.stop_analysis(name)
        await asyncio.wait([task], timeout=1.0)
        await _end(task)

    def drop_analysis(self, game: str) -> None:
        """End the analysis of a game whose last page has gone."""
        running = self._analyses.get(game)
        if running is not None:
            running[1].cancel()

    # --- annotations

    def annotate(self, game: Game, seconds: float) -> None:
        """Value the turns of a game that have no value yet."""
        if game.id in self._annotations:
            self._annotations.pop(game.id).cancel()
        elif len(self._annotations) >= MAX_ANNOTATIONS:
            raise ApiError(429, "TOO_MANY_ANNOTATIONS", f"{MAX_ANNOTATIONS} games are being annotated; expected fewer")
        game.start_annotation(seconds)
        task = self._start(self._annotate(game, seconds))
        self._annotations[game.id] = task
        game.annotation |= {"state": "running", "message": ""}
        self._tell_annotation(game)

        def note_end(ended: asyncio.Task[None]) -> None:
            if self._annotations.get(game.id) is ended:
                del self._annotations[game.id]

        task.add_done_callback(note_end)

    async def _annotate(self, game: Game, seconds: float) -> None:
        state, message = "stopped", ""
        try:
            missing = [index for index in game.seat_turns() if index not in game.evaluations]
            record = game.session.record()
            record = {key: record[key] for key in ("game", "version", "start", "turns")}
            if missing:
                found = self._client.evaluate_record(record, time_s=seconds, first_turn=missing[0])
                async with contextlib.aclosing(found):
                    async for evaluation in found:
                        index = evaluation.turn_index
                        if index >= len(game.turns) or game.turns[index] != record["turns"][index]:
                            return  # the game has gone back
                        game.evaluate(evaluation)
                        self._tell_annotation(game, turn=evaluation_json(evaluation))
            state = "done"
        except MexicaAIError as error:
            state, message = "failed", str(error)
        finally:
            if self._annotations.get(game.id) in (None, asyncio.current_task()):
                game.annotation |= {"state": state, "message": message}
                self._tell_annotation(game)

    def _tell_annotation(self, game: Game, turn: dict[str, Any] | None = None) -> None:
        data = game.annotation_json(turns=False)
        if turn is not None and game.is_open:
            data["turn"] = turn
        self._hub.broadcast(game.id, "annotation", self._event(game, **data))

    async def end_annotation(self, game: Game) -> None:
        """Stop the annotation of a game; it can go on later."""
        task = self._annotations.get(game.id)
        if task is not None:
            await _end(task)

    # --- the end

    async def forget(self, game: Game) -> None:
        """End all jobs of a game."""
        await self.cancel_thinking(game)
        self.drop_analysis(game.id)
        await self.end_annotation(game)
        for key in [key for key in self._made if key[0] == game.id]:
            await asyncio.to_thread(self._made.pop(key).close)

    async def close(self) -> None:
        """End all jobs."""
        tasks = [
            *self._turns.values(),
            *(task for _, task in self._analyses.values()),
            *self._annotations.values(),
        ]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        for engine in self._made.values():
            await asyncio.to_thread(engine.close)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task], timeout=1.0)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _logger.error("a job failed", exc_info=task.exception())


def _no_engine(name: str | None) -> MexicaAIError:
    return MexicaAIError(f"no engine {name}: this process was started without it", reason="UNKNOWN_ENGINE")


def _for_mover(game: Game, position: Position) -> Position:
    """Return what may be sent to an engine: the position as the seat to move sees it."""
    if position.to_move is None:
        return position
    return Position.from_json(game.kind.redact(position.to_json()))


def _key(game: Game, viewer: int | None, at: int, line: list[list[str]], draft: list[str]) -> str:
    text = json.dumps([game.id, viewer, at, game.turns[:at], line, draft])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _empty(key: str, at: int, viewer: int | None) -> dict[str, Any]:
    return {
        "key": key,
        "at": at,
        "viewer": viewer,
        "seat": None,
        "guessed": False,
        "candidates": [],
        "iterations": 0,
        "seconds": 0.0,
        "speed": 0,
        "stop_reason": "",
        "stop_text": "",
        "why": [],
    }


def _analysis(key: str, at: int, viewer: int | None, position: Position, result: Result) -> dict[str, Any]:
    """Return a result as pages show it."""
    return {
        **_empty(key, at, viewer),
        "seat": position.to_move,
        "candidates": [
            {
                "turn": candidate.turn,
                "text": TURN_SEPARATOR.join(candidate.turn),
                "visits": candidate.visits,
                "value": [round(share, 3) for share in candidate.value],
                "expected_scores": [round(score, 1) for score in candidate.expected_scores],
                "line": candidate.line[:MAX_LINE],
            }
            for candidate in result.candidates
        ],
        "iterations": result.iterations,
        "seconds": round(result.seconds, 3),
        "speed": round(result.iterations / result.seconds) if result.seconds > 0 else 0,
        "stop_reason": result.stop_reason,
        "stop_text": STOP_WORDS.get(result.stop_reason, result.stop_reason),
        "why": explain(position, result).sentences if result.stop_reason else [],
    }

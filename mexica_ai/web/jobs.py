"""Background jobs: turns of engines, analyses, annotations. They call the service.

Only the named engines of the command line search in this process, in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from mexica_ai.analysis.drill import known_verdict, searched_verdict, trial_record
from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines import EngineSpec, make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.web import pictures
from mexica_ai.web.drills import SEARCH_S, Drill
from mexica_ai.web.errors import ApiError
from mexica_ai.web.events import Hub
from mexica_ai.web.games import Game
from mexica_ai.web.seats import Seat
from mexica_ai.web.snapshots import evaluation_json

MAX_ANALYSES = 4
MAX_ANNOTATIONS = 2
MAX_JUDGED = 2  # turns of drills at a time
ANALYSIS_S = 0.25  # between two updates
FIRST_S = 0.1  # until the first one
QUEUED_S = 1.0  # without a result, until a search is shown as waiting for a slot
UNWATCHED_S = 5.0  # until an analysis that no page watches ends
SHOW_S = 0.35  # pause for each action of a turn in games of engines alone
WAIT_S = 3600.0  # longest wait for a slot
MAX_LINE = 3  # most turns of an expected line

STOP_WORDS = {
    "time": "time limit reached",
    "iterations": "iteration limit reached",
    "memory": "memory full",
    "stopped": "stopped",
    "forced": "only one legal turn",
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
        self._analyses: dict[str, asyncio.Task[None]] = {}
        self._annotations: dict[str, asyncio.Task[None]] = {}
        self._judged: dict[str, asyncio.Task[None]] = {}
        self._engines: dict[tuple[str, int], Engine] = {}
        self._serial = 0

    def _start(
        self, tasks: dict[str, asyncio.Task[None]], game: Game, coroutine: Coroutine[Any, Any, None]
    ) -> asyncio.Task[None]:
        """Start a job of a game; it is one of `tasks` until it ends."""
        task = tasks[game.id] = asyncio.create_task(coroutine)

        def note_end(ended: asyncio.Task[None]) -> None:
            if tasks.get(game.id) is ended:
                del tasks[game.id]

        task.add_done_callback(_log_failure)
        task.add_done_callback(note_end)
        return task

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}.{id(self):x}.{self._serial}"

    def send_state(self, game: Game) -> None:
        """Send the state of a game to all its pages, to each in its view."""
        for stream in list(self._hub.of(game.id)):
            try:
                snapshot = game.snapshot(stream.viewer)
            except ApiError:  # its viewer is no person any more
                stream.close()
                continue
            stream.put("state", self._event(game, snapshot=snapshot))

    @staticmethod
    def _event(game: Game, **data: Any) -> JsonObject:
        return {"game": game.id, "version": game.version, **data}

    # --- turns of engines

    def go_on(self, game: Game) -> None:
        """Let the engine to move think, and draw random events, until a person is to move."""
        self._draw(game)
        if game.id in self._turns or not self._has_work(game):
            return
        self._start(self._turns, game, self._play(game))

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
                self._send_thinking(game, seat, "failed", str(error))
                return
            self.send_state(game)
            if not game.persons:
                await asyncio.sleep(SHOW_S * (1 + len(turn)))

    async def _turn(self, game: Game, seat: int) -> list[str]:
        """Return the turn of an engine."""
        player = game.seats[seat]
        position = _for_mover(game, game.now)
        self._send_thinking(game, seat, "searching")
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
            max(QUEUED_S, 2 * ANALYSIS_S), self._send_thinking, game, seat, "queued"
        )
        is_first = True
        try:
            async with contextlib.aclosing(results):
                async for result in results:
                    waits.cancel()
                    if is_first and not result.stop_reason:
                        self._send_thinking(game, seat, "searching")
                    is_first = False
        finally:
            waits.cancel()
        return result.turn

    async def _engine_turn(self, game: Game, seat: int, player: Seat, position: Position) -> list[str]:
        name, stop = player.engine, Stop()
        if name is None or name not in self.engines:
            raise MexicaAIError(f"no engine {name}: this process was started without it", reason="UNKNOWN_ENGINE")

        async def stop_now() -> None:
            stop.set()

        self._stops[game.id] = stop_now
        limits = Limits(time_s=player.seconds)

        def search() -> Result:
            key = (game.id, seat)
            if key not in self._engines:
                self._engines[key] = make_engine(self.engines[name])
            return self._engines[key].best_turn(position, limits, stop=stop)

        searching = asyncio.ensure_future(asyncio.to_thread(search))
        try:
            return (await asyncio.shield(searching)).turn
        finally:
            stop.set()

    def _send_thinking(self, game: Game, seat: int, state: str, message: str = "") -> None:
        game.thinking = {
            "seat": seat,
            "since": time.time() if game.thinking is None else game.thinking["since"],
            "state": state,
            "message": message,
        }
        self._hub.broadcast(game.id, "thinking", self._event(game, **game.thinking))

    async def stop_thinking(self, game: Game) -> None:
        """Let the engine that thinks play its best turn so far."""
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
        """Start an analysis of a position in place of the running one; return its key.

        Parameters
        ----------
        viewer : int or None
            The seat that `Game.viewer_for` returns.
        at, line, draft
            As for `pictures.position_of`.
        seconds : float or None
            None: until it is stopped.
        candidates : int
        everybody : bool
            Whether to search, with a guess, the turn of a seat whose hand the viewer does not see.
        """
        position = seen = pictures.position_of(game, at, viewer, line, draft)
        is_guess = viewer is not None and position.to_move not in (None, viewer)
        if is_guess:
            if not everybody:
                raise ApiError(
                    403,
                    "HIDDEN",
                    f"the hand of seat {position.to_move} is hidden; expected `everybody` for a search with a guess",
                )
            position = position.guess(0)
            assert position.to_move is not None
            position = position.view(position.to_move)
        require_seat_to_move(position)
        if position.viewer is None:
            position = _for_mover(game, position)
        key = self._name("analysis")
        running = self._analyses.pop(game.id, None)
        if running is not None:
            running.cancel()
        elif len(self._analyses) >= MAX_ANALYSES:
            raise ApiError(429, "TOO_MANY_ANALYSES", f"{MAX_ANALYSES} analyses run already; expected to end one")
        head = {"key": key, "at": at, "viewer": viewer, "guessed": is_guess}
        task = self._start(self._analyses, game, self._analyze(game, head, seen, position, seconds, candidates))
        task.set_name(key)  # by which the service knows it
        if not self._hub.is_watched(game.id):
            asyncio.get_running_loop().call_later(UNWATCHED_S, self._end_unwatched, game.id, task)
        return key

    def _end_unwatched(self, game: str, task: asyncio.Task[None]) -> None:
        if not self._hub.is_watched(game):
            task.cancel()

    async def _analyze(
        self,
        game: Game,
        head: JsonObject,
        seen: Position,
        position: Position,
        seconds: float | None,
        candidates: int,
    ) -> None:
        results = self._client.analyze(
            position,
            time_s=seconds,
            unlimited=seconds is None,
            candidates=candidates,
            interval_s=FIRST_S,
            analysis_id=head["key"],
            timeout_s=None if seconds is None else seconds + WAIT_S,
        )
        last: JsonObject | None = None
        last_sent_s = 0.0
        try:
            async with contextlib.aclosing(results):
                async for result in results:
                    last = {**head, **_analysis(position, result)}
                    for candidate in last["candidates"]:
                        turns = [candidate["turn"], *candidate["line"]]
                        candidate["line"] = pictures.playable(game, seen, head["at"], turns)[1:]
                    now = time.monotonic()
                    if result.stop_reason or now - last_sent_s >= ANALYSIS_S - FIRST_S / 2:
                        last_sent_s = now
                        self._send_analysis(game, last)
        except MexicaAIError as error:
            failed = {"stop_reason": "failed", "stop_text": str(error), "why": []}
            self._send_analysis(game, {**(last or {**head, **_NO_RESULT}), **failed})
        except asyncio.CancelledError:
            if last is not None:
                game.analysis = {**last, "stop_reason": "stopped", "stop_text": STOP_WORDS["stopped"]}
            raise

    def _send_analysis(self, game: Game, data: JsonObject) -> None:
        game.analysis = data
        for stream in list(self._hub.of(game.id)):
            with contextlib.suppress(ApiError):
                if game.require_view(stream.viewer) == data["viewer"]:
                    stream.put("analysis", self._event(game, **data))

    async def end_analysis(self, game: Game) -> None:
        """End the analysis of a game, and keep its result."""
        task = self._analyses.get(game.id)
        if task is None:
            return
        with contextlib.suppress(MexicaAIError):
            await self._client.stop_analysis(task.get_name())
        await asyncio.wait([task], timeout=1.0)
        await _end(task)

    def drop_analysis(self, game: str) -> None:
        """End the analysis of a game whose last page has gone."""
        task = self._analyses.get(game)
        if task is not None:
            task.cancel()

    # --- annotations

    def annotate(self, game: Game, seconds: float) -> None:
        """Evaluate the turns of a game that have no evaluation yet."""
        if game.id in self._annotations:
            self._annotations.pop(game.id).cancel()
        elif len(self._annotations) >= MAX_ANNOTATIONS:
            raise ApiError(429, "TOO_MANY_ANNOTATIONS", f"{MAX_ANNOTATIONS} games are being annotated; expected fewer")
        game.start_annotation(seconds)
        self._start(self._annotations, game, self._annotate(game, seconds))
        game.annotation |= {"state": "running", "message": ""}
        self._send_annotation(game)

    async def _annotate(self, game: Game, seconds: float) -> None:
        state, message = "stopped", ""
        try:
            missing = [index for index in game.seat_turns() if index not in game.evaluations]
            record = game.session.record()
            record = {key: record[key] for key in ("game", "version", "start", "turns")}
            if missing:
                evaluations = self._client.evaluate_record(
                    record, time_s=seconds, first_turn=missing[0], explain=True, checks=1
                )
                async with contextlib.aclosing(evaluations):
                    async for evaluation in evaluations:
                        index = evaluation.turn_index
                        if index >= len(game.turns) or game.turns[index] != record["turns"][index]:
                            return  # the game has gone back
                        game.evaluate(evaluation)
                        self._send_annotation(game, turn=evaluation_json(evaluation))
            state = "done"
        except MexicaAIError as error:
            state, message = "failed", str(error)
        finally:
            if self._annotations.get(game.id) in (None, asyncio.current_task()):
                game.annotation |= {"state": state, "message": message}
                self._send_annotation(game)

    def _send_annotation(self, game: Game, turn: JsonObject | None = None) -> None:
        data = game.annotation_json(turns=False)
        if turn is not None and game.is_open:
            data["turn"] = turn
        self._hub.broadcast(game.id, "annotation", self._event(game, **data))

    async def end_annotation(self, game: Game) -> None:
        """Stop the annotation of a game; it can go on later."""
        task = self._annotations.get(game.id)
        if task is not None:
            await _end(task)

    # --- turns of drills

    def judge(self, game: Game, turn: list[str]) -> None:
        """Judge a turn of the exercise that a game shows: at once if the exercise knows it, else by a search."""
        drill = game.drill
        assert drill is not None
        if verdict := known_verdict(drill.exercise, turn):
            drill.note(verdict)
            game.note_outcome()
            return
        if game.id in self._judged:
            self._judged.pop(game.id).cancel()
        elif len(self._judged) >= MAX_JUDGED:
            raise ApiError(429, "TOO_MANY_SEARCHES", f"{MAX_JUDGED} turns are being judged; expected fewer")
        drill.state, drill.message, drill.verdict = "judging", "", None
        game.changed()
        self._start(self._judged, game, self._judge(game, drill, turn))

    async def drop_judged(self, game: Game) -> None:
        """End the search of a turn that is being judged."""
        if task := self._judged.get(game.id):
            await _end(task)

    async def _judge(self, game: Game, drill: Drill, turn: list[str]) -> None:
        number = drill.number
        try:
            evaluations = self._client.evaluate_record(trial_record(drill.exercise, turn), time_s=SEARCH_S)
            async with contextlib.aclosing(evaluations):
                async for evaluation in evaluations:
                    if drill.number == number:
                        drill.note(searched_verdict(drill.exercise, evaluation))
                        game.note_outcome()
        except (MexicaAIError, OSError) as error:
            drill.message = str(error)
        finally:
            is_last = self._judged.get(game.id) in (None, asyncio.current_task())
            if is_last and drill.number == number and drill.state == "judging":
                drill.state = "enter"
                game.changed()
        self.send_state(game)

    # --- the end

    async def forget(self, game: Game) -> None:
        """End all jobs of a game."""
        await self.cancel_thinking(game)
        self.drop_analysis(game.id)
        await self.end_annotation(game)
        await self.drop_judged(game)
        for key in [key for key in self._engines if key[0] == game.id]:
            await asyncio.to_thread(self._engines.pop(key).close)

    async def close(self) -> None:
        """End all jobs."""
        tasks = [
            *self._turns.values(),
            *self._analyses.values(),
            *self._annotations.values(),
            *self._judged.values(),
        ]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        for engine in self._engines.values():
            await asyncio.to_thread(engine.close)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task], timeout=1.0)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _logger.error("a job failed", exc_info=task.exception())


def _for_mover(game: Game, position: Position) -> Position:
    """Return the position for an engine: the view of the seat to move."""
    if position.to_move is None:
        return position
    return Position.from_json(game.kind.redact(position.to_json()))


_NO_RESULT: JsonObject = {"seat": None, "candidates": [], "iterations": 0, "seconds": 0.0, "speed": 0}


def _analysis(position: Position, result: Result) -> JsonObject:
    """Return a result in the form of pages."""
    return {
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

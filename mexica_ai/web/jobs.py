"""Background jobs: turns of engines, analyses, annotations. They call the service.

Only the named engines of the command line search in this process (`engines`). A result for a game that has changed
meanwhile is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.drill import Verdict, known_verdict, searched_verdict, trial_record
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.messages import speaking
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.table.seats import Seat
from mexica_ai.web import commands, pictures
from mexica_ai.web.analyses import Analysis, Asked
from mexica_ai.web.clocks import Flags
from mexica_ai.web.drills import SEARCH_S, Drill
from mexica_ai.web.engines import Cores, Engines, Specs
from mexica_ai.web.errors import ApiError
from mexica_ai.web.events import Hub
from mexica_ai.web.games import Game
from mexica_ai.web.guests import Guest, may_follow
from mexica_ai.web.snapshots import evaluation_json

MAX_ANALYSES = 4
MAX_ANNOTATIONS = 2
MAX_JUDGED = 2  # turns of drills at a time
ANALYSIS_S = 0.25  # between two updates
FIRST_S = 0.1  # until the first one
STOP_S, STOP_AGAIN_S = 2.0, 0.05  # longest wait for the end of a search that is stopped, and between two tries
QUEUED_S = 1.0  # without a result, until a search is shown as waiting for a slot
UNWATCHED_S = 5.0  # until an analysis that no page watches ends, and the engines of a game that none shows
SHOW_S = 0.35  # pause for each action of a turn in games of engines alone
WAIT_S = 3600.0  # longest wait for a slot

_logger = logging.getLogger("mexica_ai.web")


_Tasks = dict[Game, asyncio.Task[None]]  # not by id: a game that is deleted and put back is another one


class Jobs:
    """The jobs of all games.

    Parameters
    ----------
    client : AsyncClient
    hub : Hub
    engines : mapping of str to EngineSpec
        The named engines.
    cores : Cores, optional
        By default one thread a search.
    """

    def __init__(self, client: AsyncClient, hub: Hub, engines: Specs, cores: Cores | None = None) -> None:
        self.cores = cores or Cores(1)
        self._client, self._hub, self.engines = client, hub, Engines(engines, self.cores)
        self._turns: _Tasks = {}
        self._stops: dict[Game, Callable[[], Any]] = {}
        self._analyses: _Tasks = {}
        self._asked: dict[Game, Asked] = {}  # what the last of them searches
        self._annotations: _Tasks = {}
        self._judged: _Tasks = {}
        self.flags = Flags(self.send_state)
        self._serial = 0

    @staticmethod
    def _start(tasks: _Tasks, game: Game, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a job of a game; it is one of `tasks` until it ends."""
        task = tasks[game] = asyncio.create_task(coroutine)

        def note_end(ended: asyncio.Task[None]) -> None:
            if tasks.get(game) is ended:
                del tasks[game]

        task.add_done_callback(_log_failure)
        task.add_done_callback(note_end)
        return task

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}.{id(self):x}.{self._serial}"

    def send_state(self, game: Game) -> None:
        """Send the state of a game to all its pages, to each in its view."""
        if game.is_deleted:
            return
        self.flags.watch(game)
        for stream in list(self._hub.of(game.id)):
            try:
                with speaking(stream.language):
                    snapshot = game.snapshot(stream.viewer) if may_follow(stream, game.table) else None
            except ApiError:  # its viewer is no person any more
                snapshot = None
            if snapshot is None:
                stream.close()
            else:
                stream.put("state", self._event(game, snapshot=snapshot))

    @staticmethod
    def _event(game: Game, **data: Any) -> JsonObject:
        return {"game": game.id, "version": game.version, **data}

    def _broadcast(self, game: Game, event: str, for_guests: JsonObject | None, **data: Any) -> None:
        """Send an event to all pages of a game; in one for guests other data, or nothing, until the game is over."""
        if game.is_deleted:
            return
        for stream in list(self._hub.of(game.id)):
            if stream.guest is None or game.is_over:
                stream.put(event, self._event(game, **data))
            elif for_guests is not None:
                stream.put(event, self._event(game, **{**data, **for_guests}))

    # --- turns of engines

    def go_on(self, game: Game) -> None:
        """Let the engine to move think, and draw random events, until a person is to move."""
        self._draw(game)
        if game.is_over:
            self.engines.close(game)
        elif game not in self._turns and self._has_work(game):
            self._start(self._turns, game, self._play(game))

    def _has_work(self, game: Game) -> bool:
        if game.is_deleted or (not game.persons and not self._hub.is_watched(game.id)):
            return False  # nobody looks at a game of engines
        return game.waiting == "engine" and game.drill is None

    @staticmethod
    def _draw(game: Game) -> None:
        """Draw the random events that are due; after an error, they are drawn with the next command."""
        try:
            while game.waiting == "event" and game.table.started.draws and not game.is_deleted:
                game.change(commands.happen)
        except (MexicaAIError, OSError, ApiError) as error:
            _logger.warning("random event of game %s: %s", game.id, error)

    async def _play(self, game: Game) -> None:
        while self._has_work(game) and self._turns.get(game) is asyncio.current_task():
            seat, before = game.mover, game.now
            assert seat is not None
            try:
                position = _for_mover(game, game.now)
                turn = await self._turn(game, seat, position)
                if self._is_elsewhere(game, seat, before):
                    continue
                game.change(functools.partial(commands.play, turn=turn))
            except Exception as error:  # an engine is any program: whatever it does, the page says so
                if self._is_elsewhere(game, seat, before):
                    continue
                _logger.warning("seat %d of game %s: %s", seat, game.id, error)
                self._send_thinking(game, seat, "failed", str(error))
                break
            self._draw(game)
            self.send_state(game)
            if not game.is_over:
                self.engines.ponder(game, seat, position, turn)
            if not game.persons:
                await asyncio.sleep(SHOW_S * (1 + len(turn)))
        self.rest(game)

    @staticmethod
    def _is_elsewhere(game: Game, seat: int, before: Position) -> bool:
        """Return whether an engine has thought for nothing; a comment or an invitation leaves its position."""
        return game.now is not before or game.mover != seat or seat in game.persons or game.is_deleted

    def rest(self, game: Game) -> None:
        """Close the engines of a game that is over now, and of one that no page shows soon."""
        if game.is_over:
            self.engines.close(game)
        elif not self._hub.is_watched(game.id):
            asyncio.get_running_loop().call_later(UNWATCHED_S, self._close_unwatched, game)

    def _close_unwatched(self, game: Game) -> None:
        if game not in self._turns and not self._hub.is_watched(game.id):
            self.engines.close(game)

    async def _turn(self, game: Game, seat: int, position: Position) -> list[str]:
        """Return the turn of an engine."""
        player = game.seats[seat]
        self._send_thinking(game, seat, "searching")
        if player.engine is not None:
            return await self._engine_turn(game, seat, player, position)
        with self.cores.of_service(player.level) as threads:
            return await self._level_turn(game, seat, player, position, threads)

    @contextlib.contextmanager
    def _stopped_by(self, game: Game, stop: Callable[[], Any]) -> Iterator[None]:
        """Have `stop_thinking` call a function while the context lasts: again if it finds nothing to stop yet."""
        self._stops[game] = stop
        try:
            yield
        finally:
            if self._stops.get(game) is stop:
                del self._stops[game]

    async def _level_turn(
        self, game: Game, seat: int, player: Seat, position: Position, threads: int | None
    ) -> list[str]:
        name = self._name("turn")
        assert player.seconds is not None
        results = self._client.analyze(
            position,
            time_s=player.seconds,
            threads=threads,
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
        stop = functools.partial(self._client.stop_analysis, name)
        try:
            with self._stopped_by(game, stop):
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
        stop = Stop()

        async def stop_now() -> bool:
            stop.set()
            return True

        with self._stopped_by(game, stop_now):
            limits = Limits(time_s=player.seconds)
            return (await self.engines.best_turn(game, seat, player.engine, position, limits, stop)).turn

    def _send_thinking(self, game: Game, seat: int, state: str, message: str = "") -> None:
        game.thinking = {
            "seat": seat,
            "since": time.monotonic() if game.thinking is None else game.thinking["since"],
            "state": state,
            "message": message,
        }
        thinking = game.thinking_json()
        assert thinking is not None
        self._broadcast(game, "thinking", {"message": ""}, **thinking)

    async def stop_thinking(self, game: Game) -> None:
        """Let the engine that thinks play its best turn so far."""
        stop = self._stops.get(game)
        if stop is None:
            raise ApiError(422, "NOT_THINKING", "no engine thinks; expected one that does")
        end_s = time.monotonic() + STOP_S
        with contextlib.suppress(MexicaAIError):
            # The service may not have heard of the search yet.
            while not await stop() and self._stops.get(game) is stop and time.monotonic() < end_s:
                await asyncio.sleep(STOP_AGAIN_S)
        task = self._turns.get(game)
        if task is not None:
            await asyncio.wait([task], timeout=STOP_S)

    async def cancel_thinking(self, game: Game) -> None:
        """End the turn of an engine without playing it."""
        game.thinking = None
        task = self._turns.pop(game, None)
        if task is not None:
            await _end(task)

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
        guest: Guest | None,
    ) -> str:
        """Start an analysis of a position in place of the running one; return its key.

        Parameters
        ----------
        viewer : int or None
            The seat that `visibility.viewer_for` returns.
        at, line, draft
            As for `pictures.position_of`.
        seconds : float or None
            None: until it is stopped.
        candidates : int
        everybody : bool
            Whether to search, with a guess, the turn of a seat whose hand the viewer does not see.
        guest : Guest or None
            Who asks; a guest ends no search of others.
        """
        self._require_own(game, guest)
        position = seen = pictures.position_of(game, at, viewer, line, draft)
        if line:
            pictures.settle(game, position, at)
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
        running = self._analyses.pop(game, None)
        if running is not None:
            running.cancel()
        elif len(self._analyses) >= MAX_ANALYSES:
            raise ApiError(429, "TOO_MANY_ANALYSES", f"{MAX_ANALYSES} analyses run already; expected to end one")
        base = game.at(at)
        asked = self._asked[game] = Asked(key, at, line, draft, base, viewer, seen, position, is_guess, guest)
        task = self._start(self._analyses, game, self._analyze(game, asked, seconds, candidates))
        if not self._hub.is_watched(game.id):
            asyncio.get_running_loop().call_later(UNWATCHED_S, self._end_unwatched, game, task)
        return key

    def _require_own(self, game: Game, guest: Guest | None) -> None:
        """Raise an ApiError if a search runs that a guest has not asked for."""
        if guest is not None and game in self._analyses and self._asked[game].guest != guest:
            raise ApiError(409, "ANALYSED", "the game is being analysed for somebody else; expected to wait for that")

    def _end_unwatched(self, game: Game, task: asyncio.Task[None]) -> None:
        if not self._hub.is_watched(game.id):
            task.cancel()

    async def _analyze(self, game: Game, asked: Asked, seconds: float | None, candidates: int) -> None:
        analysis = Analysis(game, asked)
        last_sent_s = 0.0
        try:
            with self.cores.of_service() as threads:
                results = self._client.analyze(
                    asked.position,
                    time_s=seconds,
                    threads=threads,
                    unlimited=seconds is None,
                    candidates=candidates,
                    interval_s=FIRST_S,
                    analysis_id=asked.key,
                    timeout_s=None if seconds is None else seconds + WAIT_S,
                )
                async with contextlib.aclosing(results):
                    async for result in results:
                        if not self._is_wanted(game, asked):
                            return
                        analysis.take(result)
                        now = time.monotonic()
                        if result.stop_reason or now - last_sent_s >= ANALYSIS_S - FIRST_S / 2:
                            last_sent_s = now
                            self._send_analysis(game, analysis)
        except MexicaAIError as error:
            if self._is_wanted(game, asked):
                analysis.end("failed", str(error))
                self._send_analysis(game, analysis)
        except asyncio.CancelledError:
            if analysis.has_result and self._is_wanted(game, asked):
                analysis.end("stopped")
                game.analysis = analysis
            raise

    def _is_wanted(self, game: Game, asked: Asked) -> bool:
        """Return whether an analysis is the last of a game that still comes to its position."""
        return self._asked.get(game) is asked and asked.is_of(game)

    def _send_analysis(self, game: Game, analysis: Analysis) -> None:
        game.analysis = analysis
        if game.is_deleted:
            return
        for stream in list(self._hub.of(game.id)):
            with contextlib.suppress(ApiError), speaking(stream.language):
                if stream.guest is not None and not game.is_over:
                    continue
                viewer = stream.viewer if stream.guest is None else None
                if game.require_view(viewer) == analysis.asked.viewer:
                    stream.put("analysis", self._event(game, **analysis.to_json()))

    async def end_analysis(self, game: Game, guest: Guest | None) -> None:
        """End the analysis of a game, and keep its result; a guest ends no search of others."""
        self._require_own(game, guest)
        task = self._analyses.get(game)
        if task is None:
            return
        with contextlib.suppress(MexicaAIError):
            await self._client.stop_analysis(self._asked[game].key)
        await asyncio.wait([task], timeout=1.0)
        await _end(task)

    def leave(self, game: Game) -> None:
        """End what only a page needs of a game whose last page has gone."""
        task = self._analyses.get(game)
        if task is not None:
            task.cancel()
        self.rest(game)

    # --- annotations

    def annotate(self, game: Game, seconds: float) -> None:
        """Evaluate the turns of a game that have no evaluation yet; what runs already, goes on."""
        if game in self._annotations and game.table.seconds == seconds:
            return
        if game in self._annotations:
            self._annotations.pop(game).cancel()
        elif len(self._annotations) >= MAX_ANNOTATIONS:
            raise ApiError(429, "TOO_MANY_ANNOTATIONS", f"{MAX_ANNOTATIONS} games are being annotated; expected fewer")
        game.change(functools.partial(commands.annotate, seconds=seconds))
        self._start(self._annotations, game, self._annotate(game, seconds))
        game.annotation |= {"state": "running", "message": ""}
        self._send_annotation(game)

    async def _annotate(self, game: Game, seconds: float) -> None:
        state, message = "stopped", ""
        try:
            while True:
                positions = game.positions
                await self._evaluate(game, seconds)
                if game.positions is positions or not game.is_over:
                    break
                # Else it has ended meanwhile, perhaps in another way than before: it is judged to this end.
            state = "done"
        except (MexicaAIError, OSError, ApiError) as error:
            state, message = "failed", str(error)
        finally:
            if self._annotations.get(game) in (None, asyncio.current_task()):
                game.annotation |= {"state": state, "message": message}
                self._send_annotation(game)

    async def _evaluate(self, game: Game, seconds: float) -> None:
        """Evaluate the turns that the game has now, from the first one without an evaluation."""
        missing = [index for index in game.table.seat_turns() if index not in game.evaluations]
        if not missing:
            return
        record = game.plain_record()
        record = {key: record[key] for key in ("game", "version", "start", "turns")}
        with self.cores.of_service() as threads:
            evaluations = self._client.evaluate_record(
                record, time_s=seconds, threads=threads, first_turn=missing[0], explain=True, checks=1
            )
            async with contextlib.aclosing(evaluations):
                async for evaluation in evaluations:
                    await self._explain(game, evaluation)
                    index = evaluation.turn_index
                    if game.turns[: index + 1] != record["turns"][: index + 1]:
                        return  # the game has gone back
                    game.change(functools.partial(commands.evaluate, evaluation=evaluation))
                    self._send_annotation(game, evaluation)

    async def _explain(self, game: Game, evaluation: TurnEvaluation) -> None:
        """Have an evaluation explained in the languages of all pages."""
        for language in {stream.language for stream in self._hub.of(game.id)}:
            with speaking(language):
                await asyncio.to_thread(game.telling.explain, game.table, [evaluation])

    def _send_annotation(self, game: Game, one: TurnEvaluation | None = None) -> None:
        """Send the state of an annotation, and an evaluation, to each page in its language."""
        if game.is_deleted:
            return
        for stream in list(self._hub.of(game.id)):
            if stream.guest is not None and not game.is_over:
                continue
            with speaking(stream.language):
                data: JsonObject = {**game.annotation_json(turns=False)}
                if one is not None and game.is_open:
                    data["turn"] = evaluation_json(game, one)
                stream.put("annotation", self._event(game, **data))

    async def end_annotation(self, game: Game) -> None:
        """Stop the annotation of a game; it can go on later."""
        task = self._annotations.get(game)
        if task is not None:
            await _end(task)

    # --- turns of drills

    def judge(self, game: Game, turn: list[str]) -> None:
        """Judge a turn of the exercise that a game shows: at once if the exercise knows it, else by a search."""
        drill = game.drill
        assert drill is not None
        if verdict := known_verdict(drill.exercise, turn):
            self._note(game, drill, verdict)
            return
        if game in self._judged:
            self._judged.pop(game).cancel()
        elif len(self._judged) >= MAX_JUDGED:
            raise ApiError(429, "TOO_MANY_SEARCHES", f"{MAX_JUDGED} turns are being judged; expected fewer")
        drill.state, drill.message, drill.verdict = "judging", "", None
        game.renew()
        self._start(self._judged, game, self._judge(game, drill, turn))

    async def drop_judged(self, game: Game) -> None:
        """End the search of a turn that is being judged."""
        if task := self._judged.get(game):
            await _end(task)

    @staticmethod
    def _note(game: Game, drill: Drill, verdict: Verdict) -> None:
        """Keep what a turn has reached."""
        attempt, outcome = drill.noted(verdict)
        game.change(functools.partial(commands.note_outcome, outcome=outcome))
        drill.go_on(attempt, verdict)

    async def _judge(self, game: Game, drill: Drill, turn: list[str]) -> None:
        number = game.table.number
        try:
            with self.cores.of_service() as threads:
                evaluations = self._client.evaluate_record(
                    trial_record(drill.exercise, turn), time_s=SEARCH_S, threads=threads
                )
                async with contextlib.aclosing(evaluations):
                    async for evaluation in evaluations:
                        if game.table.number == number:
                            self._note(game, drill, searched_verdict(drill.exercise, evaluation))
        except (MexicaAIError, OSError, ApiError) as error:
            drill.message = str(error)
        finally:
            is_last = self._judged.get(game) in (None, asyncio.current_task())
            if is_last and game.table.number == number and drill.state == "judging":
                drill.state = "enter"
                game.renew()
        self.send_state(game)

    # --- the end

    def forget(self, game: Game) -> None:
        """End all jobs of a game that is deleted, at once: put back, it has jobs of its own."""
        for tasks in (self._turns, self._analyses, self._annotations, self._judged):
            if (task := tasks.pop(game, None)) is not None:
                task.cancel()
        self._asked.pop(game, None)
        self.flags.forget(game)
        self.engines.close(game)

    async def close(self) -> None:
        """End all jobs."""
        all_tasks = (self._turns, self._analyses, self._annotations, self._judged)
        running = [task for tasks in all_tasks for task in tasks.values()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=1.0)
        await self.engines.close_all()


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

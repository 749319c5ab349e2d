"""The main loop of a tournament: submits games to an executor and collects their records.

One thread of one process counts each game and writes it to the journal when its record arrives, no matter
which worker played it and how many attempts it took. `run` uses only the executor interface of
`concurrent.futures`.
"""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any

from mexica_ai.arena.journal import JournalWriter
from mexica_ai.arena.play import Task, describe_build, play_game
from mexica_ai.arena.report import outcome_of
from mexica_ai.arena.rounds import Tables, next_tables
from mexica_ai.arena.tournament import Game, Tournament
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote

__all__ = ["Progress", "describe_build", "describe_lost", "run"]

TRIES = 3  # attempts at a game whose worker dies; from the second on, its engines are isolated
TICK_S = 0.1  # interval at which `stop` is checked and `display` called


@dataclass
class Progress:
    """The progress of a tournament.

    Parameters
    ----------
    tournament : Tournament
    num_games : int
        All games to play, including those of earlier sessions.
    records : list of dict
        Records of the finished games, in the order in which they ended.
    session_games : int
        How many of them this session has played.
    lost : list of (Game, str)
        Games given up because their workers died, each with the last error.
    began_s : float
        Start of the session, on the monotonic clock.
    ended_by : str
        "" while it runs; then "finished", "stopped" (by `stop`), "decided" (by `is_decided`) or "failed" (a program
        that is not started again).
    """

    tournament: Tournament
    num_games: int
    records: list[dict[str, Any]] = field(default_factory=list)
    session_games: int = 0
    lost: list[tuple[Game, str]] = field(default_factory=list)
    began_s: float = field(default_factory=time.monotonic)
    ended_by: str = ""

    def keep(self, record: dict[str, Any], journal: JournalWriter | None) -> None:
        """Add the record of a game of this session, to the journal first."""
        if journal:
            journal.append(record)
        self.records.append(record)
        self.session_games += 1

    @property
    def games_per_hour(self) -> float:
        """Average speed of this session."""
        return 3600 * self.session_games / max(1e-9, time.monotonic() - self.began_s)


def run(
    tournament: Tournament,
    num_blocks: int,
    executor: Executor,
    *,
    concurrency: int = 1,
    journal: JournalWriter | None = None,
    is_decided: Callable[[Progress], bool] = lambda progress: False,
    display: Callable[[Progress], None] = lambda progress: None,
    stop: threading.Event | None = None,
    play: Callable[[Task], dict[str, Any]] = play_game,
    openings: Sequence[str] = (),
    log: str | None = None,
) -> Progress:
    """Play the games of a tournament that are not in its journal yet.

    Parameters
    ----------
    tournament : Tournament
    num_blocks : int
    executor : Executor
        Plays the games; not shut down.
    concurrency : int
        Number of games at the same time.
    journal : JournalWriter, optional
        Its games count as played; new ones are appended.
    is_decided : callable
        Called after each completed block. True ends the tournament; running games are dropped.
    display : callable
        Called about every `TICK_S` seconds.
    stop : threading.Event, optional
        Setting it ends the tournament in the same way.
    play : callable
        Plays a `Task` and returns its record; must be picklable.
    openings : sequence of str
        Positions in their compact form, those that `tournament.openings` identifies.
    log : str, optional
        The file to which the playing processes add all lines to and from programs.

    Raises
    ------
    SearchError
        The executor accepts no more games (reason EXECUTOR_FAILED). The journal has all finished games.
    """
    stop = stop or threading.Event()
    if journal:
        tournament = journal.tournament  # the same tournament, in the form that the journal's lines use
    progress = Progress(tournament, num_blocks * tournament.games_per_block)
    played = _count_played(progress, journal.games if journal else (), num_blocks)
    finished = collections.Counter(block for block, _ in played)  # games of each block
    progress.ended_by = "decided" if is_decided(progress) else ""

    waiting = _tasks(progress, num_blocks, played, openings, log)
    again: collections.deque[Task] = collections.deque()  # whose workers died
    deaths: collections.Counter[Game] = collections.Counter()
    running: dict[Future[dict[str, Any]], Task] = {}
    while not progress.ended_by:
        # 1. Submit games until `concurrency` of them run.
        while len(running) < concurrency:
            task = again.popleft() if again else next(waiting, None)
            if task is None:  # no more games, or none before others have ended
                break
            running[_submit(executor, play, task)] = task
        if not running:
            progress.ended_by = "finished"
            break
        # 2. Wait for a game to end.
        done, _ = wait(running, timeout=TICK_S, return_when=FIRST_COMPLETED)
        # 3. Write its record to the journal before anything else.
        for future in done:
            task = running.pop(future)
            error = _error_of(future)
            if error is not None:  # not an engine's: the worker died or was killed, or the cluster gave up
                deaths[task.game] += 1
                again += _tried_again(progress, task, deaths[task.game], error)
                continue
            progress.keep(future.result(), journal)
            finished[task.game.block] += 1
            # 4. Check the test if the block is complete. Other games that have ended are still kept.
            is_complete = finished[task.game.block] == tournament.games_per_block
            progress.ended_by = progress.ended_by or _end_of(progress, is_complete, is_decided)
        if not progress.ended_by and stop.is_set():
            progress.ended_by = "stopped"
        display(progress)
    for future in running:
        future.cancel()
    return progress


def _end_of(progress: Progress, is_complete: bool, is_decided: Callable[[Progress], bool]) -> str:
    """Return what ends the tournament after its last game, "" if nothing does."""
    if progress.tournament.restart == "off" and progress.records[-1]["arena"]["failures"]:
        return "failed"
    return "decided" if is_complete and is_decided(progress) else ""


def _count_played(progress: Progress, records: Sequence[dict[str, Any]], num_blocks: int) -> set[tuple[int, int]]:
    """Add the records of a journal to the progress, each game once; return their blocks and numbers."""
    played = set()
    for record in records:
        key = record["arena"]["block"], record["arena"]["number"]
        if key not in played and key[0] < num_blocks:
            played.add(key)
            progress.records.append(record)
    return played


def _tasks(
    progress: Progress, num_blocks: int, played: set[tuple[int, int]], openings: Sequence[str], log: str | None
) -> Iterator[Task | None]:
    """Yield the games that have not been played, and None while others have to end first."""
    tournament = progress.tournament
    games = _paired_games(progress, num_blocks) if tournament.is_paired else tournament.games(num_blocks)
    for game in games:
        if game is None:
            yield None
        elif (game.block, game.number) not in played:
            opening = openings[tournament.opening(game.block, len(openings))] if openings else None
            yield Task(tournament, game, opening=opening, log=log)


def _tried_again(progress: Progress, task: Task, num_deaths: int, error: BaseException) -> list[Task]:
    """Return the task to play after its worker has died; none, and its game is lost, if that was its last try."""
    if num_deaths < TRIES:
        # A file of weights that is missing or another one is so in a program of its own, too.
        is_of_file = getattr(error, "reason", "") in ("BAD_WEIGHTS", "OTHER_WEIGHTS")
        return [task if is_of_file else dataclasses.replace(task, isolated=True)]
    progress.lost.append((task.game, f"{type(error).__name__}: {error}"))
    return []


def _submit(executor: Executor, play: Callable[[Task], dict[str, Any]], task: Task) -> Future[dict[str, Any]]:
    try:
        return executor.submit(play, task)
    except Exception as error:
        raise SearchError(f"no more games can be started: {error}", reason="EXECUTOR_FAILED") from error


def _paired_games(progress: Progress, num_blocks: int) -> Iterator[Game | None]:
    """Yield the games of a tournament in rounds, and None while those of a round have to end before the next round.

    If a game was given up, there are no further rounds: their line-ups would depend on it.
    """
    tournament = progress.tournament
    rounds: list[Tables] = []
    while (first := tournament.first_block(len(rounds))) < num_blocks:
        while True:
            before = [record for record in progress.records if record["arena"]["block"] < first]
            if len(before) == first * tournament.games_per_block:
                break
            if progress.lost:
                return
            yield None
        arenas = [(record, record["arena"]) for record in before]
        outcomes = [outcome_of(record, arena["block"], tuple(arena["seating"])) for record, arena in arenas]
        rounds.append(next_tables(tournament, outcomes, rounds))
        for block in range(first, tournament.first_block(len(rounds))):
            yield from tournament.block(block, rounds[-1][tournament.table_of(block)[1]])


def _error_of(future: Future[dict[str, Any]]) -> BaseException | None:
    """Return the exception of a finished call, if any; SystemExit if its worker received SIGTERM."""
    return CancelledError() if future.cancelled() else future.exception()


def describe_lost(game: Game, why: str) -> str:
    """Return one line about a game that was given up."""
    return f"block {game.block}, game {game.number} was given up: {quote(why)}"

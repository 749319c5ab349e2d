"""The live table in the terminal while a tournament runs."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mexica_ai.arena import statistics
from mexica_ai.arena.adjust import Luck
from mexica_ai.arena.forfeits import MARK, engine_forfeits, others_late_s
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.policy import COUNT, Policy
from mexica_ai.arena.report import describe_failure, format_sprt, outcome_of, sprt_json
from mexica_ai.arena.runner import Progress
from mexica_ai.arena.sprt import SequentialTest
from mexica_ai.arena.tables import count
from mexica_ai.io.terminal import MAX_MESSAGE, Lines, format_duration, shorten

REFRESH_S = 0.5


class Display:
    """Shows the progress of a tournament on a console; if it is no terminal, a line now and then.

    With more than two engines the table shows openskill's ratings, updated after each game; the final report
    fits strengths to all games. The first failure of each engine is printed at once.
    """

    def __init__(
        self,
        console: Console,
        sprt: SequentialTest | None = None,
        policy: Policy = COUNT,
        luck: Luck | None = None,
    ) -> None:
        self._live: Live | None = None
        self._console = console
        if console.is_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
        self._sprt = sprt
        self._policy = policy
        self._luck = luck  # not None: the test is of shares adjusted for luck
        self._ratings: statistics.LiveRatings | None = None
        self._outcomes: list[Outcome] = []
        self._forfeits = 0
        self._points: list[float] = []
        self._num_noted = 0  # records whose failures have been looked at
        self._failed: set[int] = set()  # engines
        self._next_s = 0.0
        self._lines = Lines()

    def __enter__(self) -> Display:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Add the new games, and redraw if the last redraw was long enough ago."""
        self._note_failures(progress)
        if not self._live:
            self._lines.show(self._line(progress))
            return
        tournament = progress.tournament
        if len(tournament.engines) > 2 and self._ratings is None:
            self._ratings = statistics.LiveRatings(len(tournament.engines))
        for record in progress.records[len(self._outcomes) :]:
            arena = record["arena"]
            outcome = outcome_of(record, arena["block"], tuple(arena["seating"]))
            self._outcomes.append(self._luck.added(outcome, record) if self._luck else outcome)
            self._points = self._points or [0.0] * len(tournament.engines)
            for engine, share in zip(outcome.engines, outcome.shares, strict=True):
                self._points[engine] += share
            self._forfeits += outcome.forfeit is not None
            if self._ratings:
                self._ratings.update(outcome)
        if time.monotonic() < self._next_s and not progress.ended_by:
            return
        began_s = time.monotonic()
        self._live.update(self._draw(progress), refresh=True)
        cost_s = time.monotonic() - began_s
        self._next_s = began_s + max(REFRESH_S, 50 * cost_s)  # drawing takes longer the more games there are

    def _note_failures(self, progress: Progress) -> None:
        """Print the first failure of each engine, so that nobody has to wait for the end to see what is wrong."""
        for record in progress.records[self._num_noted :]:
            arena = record["arena"]
            for failure in arena["failures"]:
                engine = arena["seating"][failure["seat"]]
                if engine not in self._failed:
                    self._failed.add(engine)
                    late_s = others_late_s(progress.tournament, record, failure["seat"])
                    place = {"block": arena["block"], "number": arena["number"], "others_late_s": late_s}
                    text = describe_failure(progress.tournament.names[engine], {**place, **failure})
                    self._console.print(Text(f"mexica-ai: {shorten(text, MAX_MESSAGE)}"), soft_wrap=True)
        self._num_noted = len(progress.records)

    def _draw(self, progress: Progress) -> Group:
        line = self._line(progress)
        if self._forfeits:
            line += f"; {count(self._forfeits, 'forfeit')}"
        parts: list[RenderableType] = [Text(line), self._table(progress)]
        if self._sprt:
            games = progress.tournament.games_per_block
            is_adjusted, outcomes = self._luck is not None, self._policy.kept(self._outcomes)
            state = self._sprt.state(outcomes, games_per_block=games, adjust=is_adjusted)
            name = "SPRT, adjusted" if is_adjusted else "SPRT"
            parts.append(Text(format_sprt(sprt_json(self._sprt, state), name)))
        return Group(*parts)

    def _line(self, progress: Progress) -> str:
        done, total, speed = len(progress.records), progress.num_games, progress.games_per_hour
        line = f"{done:,} of {count(total, 'game')} ({done / max(1, total):.0%}), {speed:,.0f} games an hour"
        if progress.session_games:
            line += f", {format_duration(3600 * (total - done) / speed)} left"
        return line

    def _table(self, progress: Progress) -> Table:
        names = progress.tournament.names
        table = Table(box=None, pad_edge=False)
        for column in ("engine", "games", "share of the win", "mean rank", "forfeits"):
            table.add_column(column, justify="left" if column == "engine" else "right")
        if self._ratings:
            table.add_column("rating", justify="right")
        ratings = self._ratings.table() if self._ratings else None
        games = progress.tournament.games_per_block  # of any block
        kept = self._policy.kept(self._outcomes)
        summaries = statistics.summarize(kept, len(names), games_per_block=games)
        order = list(range(len(names)))
        if ratings:
            order.sort(key=lambda engine: -ratings[engine][0])
        for engine in order:
            summary = summaries[engine]
            share = summary.share
            played = [outcome for outcome in self._outcomes if engine in outcome.engines]  # also those left out
            forfeits = sum(each.forfeit is not None and each.engines[each.forfeit] == engine for each in played)
            row = [shorten(names[engine]), f"{len(played):,}", "-", "-", f"{forfeits}"]
            if share.mean is not None:
                row[2] = f"{share.mean:.1%}"
                row[3] = f"{summary.rank.mean:.2f}"
                if share.low is not None:
                    row[2] += f" [{share.low:.1%}, {share.high:.1%}]"
            elif self._points:
                row[2] = f"{self._points[engine]:.3g} of {len(played)}"
            if ratings:
                mu, sigma = ratings[engine]
                row.append(f"{mu:.1f} ± {2 * sigma:.1f}")
            if engine_forfeits(engine, self._outcomes, kept)["caution"]:
                row[2] += MARK
            table.add_row(*map(Text, row))
        return table

"""How strong a policy is: `evaluate` plays matches of the arena from Python, and returns Elo with its interval."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.play import check_engines
from mexica_ai.arena.pool import GamePool
from mexica_ai.arena.report import Collected, collect
from mexica_ai.arena.runner import describe_lost, run
from mexica_ai.arena.statistics import elo, fit_plackett_luce, summarize
from mexica_ai.arena.tournament import Tournament, complete_spec, draw_key, reproducible_key
from mexica_ai.engines.process import DEFAULT_MARGIN_S
from mexica_ai.engines.python import lending
from mexica_ai.engines.specs import EngineSpec, level_spec
from mexica_ai.game import registry
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import SearchError
from mexica_ai.io.names import distinct
from mexica_ai.io.numbers import resolve_seed

PATIENCE_S = 1e9  # without end: what hangs in this process cannot be ended without ending the process
DEFAULT_BLOCKS = 50

Scalars = Callable[[str, float, int], object]


@dataclass(frozen=True)
class Match:
    """A policy against one opponent. Estimates have a mean and a 95 % interval, from the variance between blocks.

    Attributes
    ----------
    opponent : str
        Its spec as it was given, or the name of a policy; equal ones are numbered.
    games : int
        Games that count.
    share : Estimate
        The policy's share of the win per seat, in [0, 1]; equal engines have one through the number of seats.
    elo : Estimate
        Its Elo less that of the opponent; with two seats infinite if it has won all games, or none.
    margin : Estimate
        Its points less the most of another seat, over the games without a forfeit.
    forfeits : int
        Games that the policy has forfeited; they count as lost.
    failure : str
        Why, of the first one; empty without.
    """

    opponent: str
    games: int
    share: Estimate
    elo: Estimate
    margin: Estimate
    forfeits: int
    failure: str

    def __str__(self) -> str:
        ends = [_signed(number) for number in (self.elo.mean, self.elo.low, self.elo.high)]
        text = f"against {self.opponent}: {ends[0]} Elo ({ends[1]} to {ends[2]}), {_percent(self.share)}"
        text += f" of {self.games} games"
        return text + (f", {self.forfeits} forfeited: {self.failure}" if self.forfeits else "")


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` has found.

    Attributes
    ----------
    matches : tuple of Match
        One against each opponent.
    share : Estimate
        The policy's share of the win per seat over all matches together.
    elo : Estimate
        The Elo of this share: that of the only opponent, or of their mixture.
    """

    matches: tuple[Match, ...]
    share: Estimate
    elo: Estimate

    def __str__(self) -> str:
        return "\n".join(map(str, self.matches))

    def scalars(self) -> dict[str, float]:
        """Return the finite means and ends of intervals by name, such as ``level=3/elo`` and ``level=3/elo_low``."""
        found = {}
        for match in self.matches:
            for name, estimate in (("share", match.share), ("elo", match.elo), ("margin", match.margin)):
                for end, number in (("", estimate.mean), ("_low", estimate.low), ("_high", estimate.high)):
                    if number is not None and math.isfinite(number):
                        found[f"{match.opponent}/{name}{end}"] = number
        return found


class _Here(Executor):
    """Plays each game at once, in the calling thread: objects of this process cannot leave it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))  # an exception ends the evaluation
        return future


def evaluate(
    policy: Any,
    against: Sequence[Any] = ("level=3",),
    blocks: int = DEFAULT_BLOCKS,
    *,
    game: str = registry.DEFAULT,
    players: int = 2,
    time_s: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    concurrency: int = 1,
    scalars: Scalars | None = None,
    step: int = 0,
) -> Evaluation:
    """Play a policy against opponents in the arena, and return how strong it is.

    Parameters
    ----------
    policy : policy or str
        An object or a function as ``docs/python.md`` describes it, or the spec of an engine, such as
        ``py:MODULE:CLASS``.
    against : sequence of (policy or str)
        The opponents, likewise; ``"level=3"`` is short for ``mcts,level=3``. Each has a match of its own.
    blocks : int
        Blocks of each match: one deal on all seatings, so two games with two seats.
    game : str
        The game's name.
    players : int
        Number of seats. With more than two, one seat against the others, and all but one against it.
    time_s, iterations : float, int, optional
        Limits of a turn for all that do not set them; without any, one second.
    seed : int, optional
        The same seed deals the same games; drawn by default.
    concurrency : int
        How many games are played at a time, in processes of their own: only of specs. A script needs
        ``if __name__ == "__main__"`` then.
    scalars : callable, optional
        Called with a name, a number and `step` for each of `Evaluation.scalars`, as `SummaryWriter.add_scalar` of
        tensorboard.
    step : int
        The step of the training, for `scalars`.

    Returns
    -------
    Evaluation

    Raises
    ------
    SearchError
        A policy or an engine cannot be started, or fails at its first turn (later it forfeits the game); an argument is
        out of range (INVALID_OPTION); a process that plays games has died three times (EXECUTOR_FAILED).
    NotationError, UnknownGameError
        A spec cannot be read; there is no such game.
    """
    seed_given = seed is not None
    seed = resolve_seed(seed)
    if isinstance(against, str) or not isinstance(against, Sequence) or not against:
        raise bad_option("against", against, "a list of opponents")
    for path, number in (("blocks", blocks), ("concurrency", concurrency)):
        if type(number) is not int or number < 1:
            raise bad_option(path, number, "a whole number of at least 1")
    if concurrency > 1 and not all(isinstance(one, str) for one in (policy, *against)):
        raise bad_option(
            "concurrency", concurrency, "1 with objects, which play in this process, or specs py:MODULE:CLASS"
        )
    executor = GamePool() if concurrency > 1 else _Here()
    found = []
    try:
        for number, opponent in enumerate(against):
            match_seed = (seed + number) % 2**63  # other deals in each match: they are counted together, too
            with contextlib.ExitStack() as stack:
                texts = [_spec(stack, one) for one in (policy, opponent)]
                specs = tuple(str(_with_margin(complete_spec(text, time_s, iterations, False))) for text in texts)
                tournament = Tournament(
                    game,
                    players,
                    specs,
                    names=("policy", "opponent"),
                    seed=match_seed,
                    patience_s=PATIENCE_S,
                    margin_s=PATIENCE_S,
                    key=reproducible_key(match_seed) if seed_given else draw_key(),
                )
                check_engines(tournament)
                progress = run(tournament, blocks, executor, concurrency=concurrency)
                if progress.lost:
                    raise SearchError(describe_lost(*progress.lost[0]), reason="EXECUTOR_FAILED")
            found.append(collect((tournament, record) for record in progress.records))
    finally:
        executor.shutdown()
    names = distinct([_name(opponent) for opponent in against])
    evaluation = _evaluation(list(zip(names, found, strict=True)), players)
    if scalars is not None:
        for name, value in evaluation.scalars().items():
            scalars(name, value, step)
    return evaluation


def _with_margin(spec: EngineSpec) -> EngineSpec:
    """Return a spec in which a program has the usual margin: unlike code of this process it can be ended."""
    if spec.kind != "cmd" or "margin" in spec.options:
        return spec
    return dataclasses.replace(spec, options=spec.options | {"margin": DEFAULT_MARGIN_S})


def _evaluation(found: list[tuple[str, Collected]], players: int) -> Evaluation:
    matches = []
    every: list[Outcome] = []
    for name, collected in found:
        summary = summarize(collected.outcomes, 2)[0]
        failure = collected.first_failures[0]
        match = Match(
            opponent=name,
            games=len(collected.outcomes),
            share=summary.share,
            elo=_elo(collected.outcomes, players, summary.share),
            margin=summary.margin,
            forfeits=summary.forfeits,
            failure=failure["detail"] if failure else "",
        )
        matches.append(match)
        first = 1 + max((outcome.block for outcome in every), default=-1)
        every += [dataclasses.replace(outcome, block=first + outcome.block) for outcome in collected.outcomes]
    share = summarize(every, 2)[0].share
    return Evaluation(tuple(matches), share, _elo(every, players, share))


def _elo(outcomes: list[Outcome], players: int, share: Estimate) -> Estimate:
    """Return the Elo of engine 0 less that of engine 1: from its share, or with more seats from the ranks."""
    return elo(share) if players == 2 else fit_plackett_luce(outcomes, 2, anchor=(1, 0.0))[0]


def _spec(stack: contextlib.ExitStack, given: Any) -> str:
    return level_spec(given) if isinstance(given, str) else f"py:{stack.enter_context(lending(given))}"


def _name(given: Any) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)


def _signed(number: float | None) -> str:
    return "unknown" if number is None else f"{number:+z.0f}"


def _percent(share: Estimate) -> str:
    return "unknown share" if share.mean is None else f"{100 * share.mean:.1f} %"

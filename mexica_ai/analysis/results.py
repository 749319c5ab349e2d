"""The result of a search."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mexica_ai.io.numbers import MAX_TIME_S, are_scores, are_shares, is_count, is_word

if TYPE_CHECKING:
    from mexica_ai.game.position import Position


@dataclass(frozen=True)
class Forecast:
    """The expectation of the search at a point of a turn; lists have one entry per seat.

    Parameters
    ----------
    visits : int
        Iterations that passed through it.
    value : list of float
        Mean share of the win of each seat, over the iterations from there; empty without any.
    expected_scores : list of float
        Mean final score of each seat; empty without iterations.
    """

    visits: int
    value: list[float]
    expected_scores: list[float]


@dataclass(frozen=True)
class Candidate:
    """A turn that the search considered. All lists of numbers have one entry per seat.

    Parameters
    ----------
    turn : list of str
        Its actions. Of the turns that lead to the same position, always the same one.
    visits : int
        Iterations that passed through the position at the end of the turn.
    value : list of float
        Estimated share of the win of each seat, in [0, 1], summing to 1; empty if nothing was searched (0 visits), or
        if the engine does not tell.
    expected_scores : list of float
        Estimated final score of each seat, in the game's points; empty where `value` is, too.
    prior : float
        Probability that the game's policy gave the turn before the search, in [0, 1].
    line : list of list of str
        The principal variation: the turns that the search expects next.
    forecast : list of Forecast
        Before the turn, and after each of its actions. Without visits where the search came to the end of the turn by
        other ways only; shorter if it found no end; empty if the engine does not tell.
    value_error : list of float
        Standard error of each share in `value`: the spread of what the iterations found, by the square root of their
        number. Iterations depend on each other, so it is no full uncertainty. Empty with less than two, or if the
        engine does not tell.
    expected_scores_error : list of float
        Standard errors of `expected_scores`, likewise.
    """

    turn: list[str]
    visits: int
    value: list[float]
    expected_scores: list[float]
    prior: float
    line: list[list[str]]
    forecast: list[Forecast] = field(default_factory=list)
    value_error: list[float] = field(default_factory=list)
    expected_scores_error: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class FirstAction:
    """An action with which the search considered to begin the turn.

    Parameters
    ----------
    action : str
    visits : int
        Iterations that began the turn with it.
    prior : float
        Its share of the policy's weight in the position, as the search last corrected it, in [0, 1].
    value : list of float
        Mean share of the win of each seat after the action, in [0, 1], summing to 1; empty if it is not known, as where
        the action leads to different positions within the turn by what is hidden.
    """

    action: str
    visits: int
    prior: float
    value: list[float]


@dataclass(frozen=True)
class Result:
    """The best turn, and the statistics of the search.

    Parameters
    ----------
    candidates : list of Candidate
        At least one. They lead to different positions. The most visited comes first, or the best if all of
        them end the game. A level below 10 puts the turn that it plays first.
    iterations : int
        Iterations done: one descent and one back-up each.
    nodes : int
        Nodes in the search's graph.
    distinct_turns : int
        Distinct end-of-turn positions that the search has reached.
    seconds : float
        Wall-clock time used.
    stop_reason : str
        time, iterations, memory, stopped, forced, solved or settled; empty while the search still runs.
    seed : int
        Seed of the search; with one thread and a limit of iterations it reproduces the result.
    threads : int
        Native threads that searched.
    weights : str, optional
        The weights by which positions were valued: the first 12 hexadecimal digits of their SHA-256. None if
        there are none, or they are unknown.
    first_actions : list of FirstAction
        Those that the search considered, the most visited first; empty if the engine does not tell.
    """

    candidates: list[Candidate]
    iterations: int
    nodes: int
    distinct_turns: int
    seconds: float
    stop_reason: str
    seed: int
    threads: int = 1
    weights: str | None = None
    first_actions: list[FirstAction] = field(default_factory=list)

    @property
    def turn(self) -> list[str]:
        """The turn to play: that of the first candidate."""
        return self.candidates[0].turn

    @property
    def value(self) -> list[float]:
        """Estimated share of the win of each seat after `turn`, in [0, 1], summing to 1; empty if it is not known."""
        return self.candidates[0].value

    @property
    def expected_scores(self) -> list[float]:
        """Estimated final score of each seat after `turn`, in the game's points; empty if it is not known."""
        return self.candidates[0].expected_scores

    @property
    def is_fallback(self) -> bool:
        """Whether nothing was searched: `turn` is what the policy prefers, and nothing is known of what it brings."""
        before = self.candidates[0].forecast[:1]
        return bool(before) and not before[0].visits

    def svg(self, position: Position, **options: Any) -> str:
        """Return a picture of the position with `turn` marked, as SVG.

        Parameters
        ----------
        position : Position
            The one that was searched.
        **options
            Those of `Position.svg`.
        """
        return position.svg(turn=self.turn, shares=self.value or None, **options)

    def _repr_svg_(self) -> str:
        from mexica_ai.draw.search import draw_candidates

        return draw_candidates(self)

    def _repr_html_(self) -> str:
        """For notebooks that show no SVG by itself."""
        return self._repr_svg_()

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object whose keys are the attributes' names."""
        best = {"turn": self.turn, "value": self.value, "expected_scores": self.expected_scores}
        return best | asdict(self)


def sound(result: Result, players: int | None = None) -> Result:
    """Return the result of another program without its impossible figures and words.

    Counts outside 0 to 2^63 - 1 become 0, shares of the win that are not within 0 to 1 and together 1, and scores
    that are not finite or above 1,000,000,000, become empty lists, and words that cannot be printed are left out.

    Parameters
    ----------
    result : Result
    players : int, optional
        The number of seats; by default that of the first candidate's shares or scores.
    """
    if players is None:
        players = len(result.value or result.expected_scores)

    def count(number: int) -> int:
        return number if is_count(number) else 0

    def figures(point: Forecast | Candidate) -> dict[str, Any]:
        return {
            "visits": count(point.visits),
            "value": point.value if are_shares(point.value, players) else [],
            "expected_scores": point.expected_scores if are_scores(point.expected_scores, players) else [],
        }

    def errors(numbers: list[float]) -> list[float]:
        return numbers if are_scores(numbers, players) and min(numbers, default=0) >= 0 else []

    def is_whole(point: Forecast) -> bool:
        return not point.visits or bool(point.value and point.expected_scores)

    candidates = []
    for candidate in result.candidates:
        forecast = [dataclasses.replace(point, **figures(point)) for point in candidate.forecast]
        candidates.append(
            dataclasses.replace(
                candidate,
                **figures(candidate),
                prior=candidate.prior if 0 <= candidate.prior <= 1 else 0.0,
                forecast=forecast if all(map(is_whole, forecast)) else [],
                value_error=errors(candidate.value_error),
                expected_scores_error=errors(candidate.expected_scores_error),
            )
        )
    first_actions = [
        FirstAction(
            one.action,
            count(one.visits),
            one.prior if 0 <= one.prior <= 1 else 0.0,
            one.value if are_shares(one.value, players) else [],
        )
        for one in result.first_actions
        if is_word(one.action)
    ]
    return dataclasses.replace(
        result,
        candidates=candidates,
        first_actions=first_actions,
        **{name: count(getattr(result, name)) for name in ("iterations", "nodes", "distinct_turns", "seed", "threads")},
        seconds=result.seconds if 0 <= result.seconds <= MAX_TIME_S else 0.0,
        stop_reason=result.stop_reason if is_word(result.stop_reason) else "unknown",
        weights=result.weights if is_word(result.weights or "") else None,
    )

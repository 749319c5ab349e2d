"""The result of a search."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Forecast:
    """What the search expects at a point of a turn; lists have one entry per seat.

    Parameters
    ----------
    visits : int
        Iterations that passed through it.
    value : list of float
        Mean share of the win of each seat, over all that was tried from there.
    expected_scores : list of float
        Mean final score of each seat.
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
        Estimated share of the win of each seat, in [0, 1], summing to 1.
    expected_scores : list of float
        Estimated final score of each seat, in the game's points.
    prior : float
        Probability that the game's policy gave the turn before the search, in [0, 1].
    line : list of list of str
        The principal variation: the turns that the search expects next.
    forecast : list of Forecast
        Before the turn, and after each of its actions. Without visits where the search came to the end of the turn by
        other ways only; shorter if it found no end; empty if the engine does not tell.
    """

    turn: list[str]
    visits: int
    value: list[float]
    expected_scores: list[float]
    prior: float
    line: list[list[str]]
    forecast: list[Forecast] = field(default_factory=list)


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

    @property
    def turn(self) -> list[str]:
        """The turn to play: that of the first candidate."""
        return self.candidates[0].turn

    @property
    def value(self) -> list[float]:
        """Estimated share of the win of each seat after `turn`, in [0, 1], summing to 1."""
        return self.candidates[0].value

    @property
    def expected_scores(self) -> list[float]:
        """Estimated final score of each seat after `turn`, in the game's points."""
        return self.candidates[0].expected_scores

    def explain(self, position: Any) -> Any:
        """Return what speaks for `turn` in the position that was searched; see `mexica_ai.explain.explain`."""
        from mexica_ai.explain import explain

        return explain(position, self)

    def svg(self, position: Any, **options: Any) -> str:
        """Return a picture of the position with `turn` marked, as SVG.

        Parameters
        ----------
        position : Position
            The one that was searched.
        **options
            Those of `Position.svg`.
        """
        return position.svg(turn=self.turn, shares=self.value, **options)

    def _repr_svg_(self) -> str:
        from mexica_ai.draw.search import draw_candidates

        return draw_candidates(self)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object whose keys are the attributes' names."""
        best = {"turn": self.turn, "value": self.value, "expected_scores": self.expected_scores}
        return best | asdict(self)

    def _repr_html_(self) -> str:
        """For notebooks that show no SVG by itself."""
        return self._repr_svg_()

"""What a search answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """A turn that the search considered. All lists of numbers have one entry a seat.

    Parameters
    ----------
    turn : list of str
        Its actions, in one canonical spelling of the position it leads to.
    visits : int
        Iterations that passed through the position at its end.
    value : list of float
        Estimated share of the win of each seat, in [0, 1], summing to 1.
    expected_scores : list of float
        Estimated final score of each seat, in the game's points.
    prior : float
        What the game's policy thought of the turn before the search.
    line : list of list of str
        The turns that the search expects next.
    """

    turn: list[str]
    visits: int
    value: list[float]
    expected_scores: list[float]
    prior: float
    line: list[list[str]]


@dataclass(frozen=True)
class Result:
    """The best turn, and what the search knows about it.

    Parameters
    ----------
    candidates : list of Candidate
        At least one. Distinct positions at the end of the turn, most visited first, or the best first where
        all of them end the game; of a level below 10 the turn that it plays, then the others.
    iterations : int
        Descents (each with one back-up).
    nodes : int
        Nodes in the search's graph.
    distinct_turns : int
        Distinct positions at the end of the turn that the search has reached.
    seconds : float
        Wall-clock time used.
    stop_reason : str
        time, iterations, memory, stopped, forced, solved or settled; empty while the search still runs.
    seed : int
        What the search ran with; with one thread and a limit of iterations it repeats the result.
    threads : int
        Native threads that searched.
    """

    candidates: list[Candidate]
    iterations: int
    nodes: int
    distinct_turns: int
    seconds: float
    stop_reason: str
    seed: int
    threads: int = 1

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

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, its keys named like the attributes."""
        best = {"turn": self.turn, "value": self.value, "expected_scores": self.expected_scores}
        return best | asdict(self)

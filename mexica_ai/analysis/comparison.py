"""Several engines on one position: where they agree, and what each thinks of the others' turns."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject


@dataclass(frozen=True)
class Opinion:
    """What an engine thinks of a turn.

    Parameters
    ----------
    rank : int
        Place of the turn among its candidates, from 1.
    candidate : Candidate
        The candidate that leads to the same position as the turn.
    """

    rank: int
    candidate: Candidate


@dataclass(frozen=True)
class Comparison:
    """The results of engines for one position.

    Parameters
    ----------
    names : list of str
        Of the engines.
    turns : list of list of str
        The different best turns, in the order of the engines. Turns that lead to the same position are one.
    choices : list of int
        For each engine the index of its best turn in `turns`.
    opinions : list of list of Opinion or None
        For each engine and each of `turns` what it thinks of it; None where its candidates do not hold the turn.
    """

    names: list[str]
    turns: list[list[str]]
    choices: list[int]
    opinions: list[list[Opinion | None]]

    @property
    def agree(self) -> bool:
        """Whether all best turns lead to the same position."""
        return len(self.turns) == 1

    def engines_of(self, turn: int) -> list[str]:
        """Return the engines whose best turn is that of an index."""
        return [name for name, choice in zip(self.names, self.choices, strict=True) if choice == turn]

    def to_json(self) -> JsonObject:
        """Return the comparison as a JSON object."""
        return {
            "agree": self.agree,
            "turns": [
                {
                    "turn": turn,
                    "engines": self.engines_of(index),
                    "opinions": {
                        name: None
                        if (found := opinions[index]) is None
                        else {
                            "rank": found.rank,
                            "visits": found.candidate.visits,
                            "value": found.candidate.value,
                            "expected_scores": found.candidate.expected_scores,
                        }
                        for name, opinions in zip(self.names, self.opinions, strict=True)
                    },
                }
                for index, turn in enumerate(self.turns)
            ],
        }


def compare(position: Position, results: Sequence[tuple[str, Result]]) -> Comparison:
    """Return the comparison of the results of engines.

    Parameters
    ----------
    position : Position
        The one that was searched; in a view what is hidden is guessed, to see where turns lead.
    results : sequence of (str, Result)
        The engines' names and their results, whose turns are legal.
    """
    world = position.guess(0)
    turns: list[list[str]] = []
    ends: dict[Position, int] = {}
    choices = []
    for _, result in results:
        end = _end(world, result.turn)
        if end not in ends:
            ends[end] = len(turns)
            turns.append(result.turn)
        choices.append(ends[end])
    opinions: list[list[Opinion | None]] = []
    for _, result in results:
        found: list[Opinion | None] = [None] * len(turns)
        for rank, candidate in enumerate(result.candidates, 1):
            with contextlib.suppress(MexicaAIError):  # of other programs only the best turn is checked
                index = ends.get(_end(world, candidate.turn))
                if index is not None and found[index] is None:
                    found[index] = Opinion(rank, candidate)
        opinions.append(found)
    return Comparison([name for name, _ in results], turns, choices, opinions)


def _end(position: Position, turn: list[str]) -> Position:
    position = position.copy()
    position.push(turn)
    return position

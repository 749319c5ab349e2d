"""Where the points of a game came from, row by row, and the moves that tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mexica_ai.game.phrases import Phrase
from mexica_ai.io.json_types import JsonObject


class Move(NamedTuple):
    """An action or a random event of a game, with the JSON positions before and after it."""

    action: str
    before: JsonObject
    after: JsonObject


@dataclass(frozen=True)
class ScoreRow:
    """Where points came from.

    Parameters
    ----------
    section : Phrase
        What the row belongs to, such as a period or a Coatl.
    label : Phrase
        What brought the points.
    points : list of float
        Of each seat.
    """

    section: Phrase
    label: Phrase
    points: list[float]

"""An AI opponent for board games with long turns: Mexica first.

    import mexica_ai as ai
    position = ai.load("examples/mexica_midgame.json")
    result = ai.best_turn(position, time_s=2.0)
    position.push(result.turn)
    print(position)

The rules and the search are compiled (`cext`); this package is what users import. Start at `Position` and
`best_turn`.
"""

from mexica_ai.annotate import TurnEvaluation, evaluate_record
from mexica_ai.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)
from mexica_ai.limits import Limits
from mexica_ai.position import Position, load, new_game
from mexica_ai.records import replay
from mexica_ai.removal import Removal, TokenRemoval, consider_removal
from mexica_ai.results import Candidate, Result
from mexica_ai.search import analyze, best_turn

__all__ = [
    "Candidate",
    "GameOverError",
    "IllegalActionError",
    "Limits",
    "MexicaAIError",
    "NotationError",
    "Position",
    "PositionError",
    "Removal",
    "Result",
    "SearchError",
    "TokenRemoval",
    "TurnEvaluation",
    "UnknownGameError",
    "Violation",
    "analyze",
    "best_turn",
    "consider_removal",
    "evaluate_record",
    "load",
    "new_game",
    "replay",
]

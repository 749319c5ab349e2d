"""An AI opponent for board games with long turns: Mexica first.

    import mexica_ai as ai
    position = ai.load("examples/mexica_midgame.json")
    result = ai.best_turn(position, time_s=2.0)
    position.push(result.turn)
    print(position)

The rules and the search are compiled (`cext`); this package is what users import. Start at `Position` and
`best_turn`.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.analysis.search import analyze, best_turn
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game import registry
from mexica_ai.game.position import Position, load, new_game
from mexica_ai.game.records import make_record, position_at, replay
from mexica_ai.io.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)

__all__ = [
    "Candidate",
    "GameOverError",
    "IllegalActionError",
    "Limits",
    "MexicaAIError",
    "NotationError",
    "Position",
    "PositionError",
    "Result",
    "SearchError",
    "Stop",
    "TurnEvaluation",
    "UnknownGameError",
    "Violation",
    "__version__",
    "analyze",
    "best_turn",
    "evaluate_record",
    "load",
    "make_record",
    "new_game",
    "position_at",
    "replay",
    *registry.EXTRAS,
]


def __getattr__(name: str) -> _Any:
    """Return the version, or a name that one game adds (`registry.EXTRAS`); it is imported on first use."""
    if name == "__version__":
        return globals().setdefault(name, _import_module("importlib.metadata").version("mexica-ai"))
    if name not in registry.EXTRAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(registry.EXTRAS[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

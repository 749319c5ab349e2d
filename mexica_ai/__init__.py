"""An AI opponent for board games with long turns: Mexica, Coatl and Tzolk'in.

    import mexica_ai as ai
    position = ai.load("examples/mexica_midgame.json")
    result = ai.best_turn(position, time_s=2.0)
    position.push(result.turn)
    print(position)

The rules and the search are compiled (`cext`); this package is what users import. Start at `Position` and
`best_turn`. A name's module is imported when the name is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than this
if TYPE_CHECKING:
    from typing import Any

    from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record
    from mexica_ai.analysis.explain import explain
    from mexica_ai.analysis.limits import Limits
    from mexica_ai.analysis.results import Candidate, Result
    from mexica_ai.analysis.search import SearchRun, analyze, best_turn
    from mexica_ai.analysis.settings import SearchSettings
    from mexica_ai.analysis.stopping import Stop
    from mexica_ai.arena.evaluation import Evaluation, evaluate
    from mexica_ai.game.contract import Opinion
    from mexica_ai.game.loading import load
    from mexica_ai.game.move_writer import format_moves
    from mexica_ai.game.position import Position, new_game
    from mexica_ai.game.proposals import Verdict, consider_proposal
    from mexica_ai.game.records import make_record, parse_record, position_at, replay
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
    from mexica_ai.train.batched import selfplay

__all__ = [
    "Candidate",
    "Evaluation",
    "GameOverError",
    "IllegalActionError",
    "Limits",
    "MexicaAIError",
    "NotationError",
    "Opinion",
    "Position",
    "PositionError",
    "Result",
    "SearchError",
    "SearchRun",
    "SearchSettings",
    "Stop",
    "TurnEvaluation",
    "UnknownGameError",
    "Verdict",
    "Violation",
    "__version__",
    "analyze",
    "best_turn",
    "consider_proposal",
    "evaluate",
    "evaluate_record",
    "explain",
    "format_moves",
    "load",
    "make_record",
    "new_game",
    "parse_record",
    "position_at",
    "replay",
    "selfplay",
]

_HOMES = {
    "analysis.annotate": {"TurnEvaluation", "evaluate_record"},
    "io.errors": {
        "GameOverError",
        "IllegalActionError",
        "MexicaAIError",
        "NotationError",
        "PositionError",
        "SearchError",
        "UnknownGameError",
        "Violation",
    },
    "analysis.explain": {"explain"},
    "analysis.limits": {"Limits"},
    "game.contract": {"Opinion"},
    "game.move_writer": {"format_moves"},
    "game.loading": {"load"},
    "game.position": {"Position", "new_game"},
    "game.proposals": {"Verdict", "consider_proposal"},
    "game.records": {"make_record", "parse_record", "position_at", "replay"},
    "analysis.results": {"Candidate", "Result"},
    "analysis.search": {"SearchRun", "analyze", "best_turn"},
    "analysis.settings": {"SearchSettings"},
    "analysis.stopping": {"Stop"},
    "arena.evaluation": {"Evaluation", "evaluate"},
    "train.batched": {"selfplay"},
}


def __getattr__(name: str) -> Any:
    """Return a public name, and import its module; called on the first use only."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "__version__":
        value = import_module("importlib.metadata").version("mexica-ai")
    else:
        home = next(module for module, names in _HOMES.items() if name in names)
        try:
            value = getattr(import_module(f"{__name__}.{home}"), name)
        except ModuleNotFoundError as error:
            if home != "arena.evaluation":
                raise
            raise ModuleNotFoundError(
                f"{name} needs {error.name}, which is not installed: pip install 'mexica-ai[arena]'", name=error.name
            ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

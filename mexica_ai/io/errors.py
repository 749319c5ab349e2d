"""The exceptions of mexica-ai; defined in `cext.core.contract.errors`, because the compiled layer raises them too."""

from cext.core.contract.errors import (
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
    "GameOverError",
    "IllegalActionError",
    "MexicaAIError",
    "NotationError",
    "PositionError",
    "SearchError",
    "UnknownGameError",
    "Violation",
]

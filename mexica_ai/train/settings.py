"""The settings of a training run, from which the options of `mexica-ai train` are made."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote

_MOST = {"strength": 10.0, "planners": 1.0, "own_points": 1.0}  # of the settings that are no integers


def _setting(default: Any, least: int, small: Any, text: str) -> Any:
    """Return a field; `small` is its value in `SMALL`, `text` the help of its option."""
    return dataclasses.field(default=default, metadata={"least": least, "small": small, "help": text})


@dataclass(frozen=True)
class Settings:
    """How much of everything a training run has, and its seed. With the same settings it makes the same weights.

    Raises
    ------
    SearchError
        A number is out of range or no integer (reason INVALID_LIMITS).
    """

    games: int = _setting(4000, 10, 10, "games of self-play")
    iterations: int = _setting(64, 2, 4, "iterations of most searches in these games")
    deep: int = _setting(800, 2, 40, "iterations of a quarter of them, from which the policy learns")
    walks: int = _setting(
        2500, 3, 6, "walks along these games, each with up to 8 positions off their paths; none with --networks 0"
    )
    rollouts: int = _setting(1, 1, 1, "rollouts of such a position")
    rollout_iterations: int = _setting(64, 1, 2, "iterations of a search in a rollout")
    networks: int = _setting(3, 0, 2, "seeds of the fit of the value; 0: keep it and fit the policy alone")
    epochs: int = _setting(40, 1, 2, "epochs of a fit, at most")
    strength: float = _setting(1.0, 0, 1.0, "factor of the fitted scores of the policy; below 1 it decides less")
    planners: float = _setting(0.0, 0, 0.0, "share of the games in which the game's planner plays some seats or all")
    states: int = _setting(
        0, 0, 0, "positions of each game and record to which the outputs alone are fitted; 0: fit all to the probes"
    )
    own_points: float = _setting(1.0, 0, 1.0, "weight of the points in own games and probes; records have 1")
    match: int = _setting(200, 1, 2, "games against the weights in use; an odd number is rounded up")
    match_iterations: int = _setting(400, 1, 4, "iterations of a search in that match")
    seed: int = _setting(1, 0, 1, "everything random derives from it")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, least = getattr(self, field.name), field.metadata["least"]
            if field.name not in _MOST and (type(value) is not int or value < least):
                problem = f"{field.name}: given {quote(value)}; expected an integer of at least {least}"
                raise SearchError(problem, reason="INVALID_LIMITS")
        for name, most in _MOST.items():
            given = getattr(self, name)
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if not is_number or not (0 < given <= most or (given == 0 and name != "strength")):
                least = "more than 0" if name == "strength" else "at least 0"
                problem = f"{name}: given {given!r}; expected {least}, at most {most:g}"
                raise SearchError(problem, reason="INVALID_LIMITS")


DEFAULTS = Settings()
SMALL = Settings(**{field.name: field.metadata["small"] for field in dataclasses.fields(Settings)})

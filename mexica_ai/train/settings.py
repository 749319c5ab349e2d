"""The settings of a training run, from which the options of `mexica-ai train` are made."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote
from mexica_ai.train.positions import MAX_SEATS

ALL = "all"  # the numbers of seats that a game has
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
    players: str = _setting(
        ALL, 2, ALL, "numbers of seats of the games, which have equal parts, as 2,4; all: those that the game has"
    )
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
    refine_policy: int = _setting(
        0, 0, 0, "1: the fit of the policy begins with the one in use; 0: anew, which takes many more games"
    )
    planners: float = _setting(0.0, 0, 0.0, "share of the games in which the game's planner plays some seats or all")
    states: int = _setting(
        0, 0, 0, "positions of each game and record to which the outputs alone are fitted; 0: fit all to the probes"
    )
    own_points: float = _setting(1.0, 0, 1.0, "weight of the points in own games and probes; records have 1")
    match: int = _setting(
        200, 1, 2, "games against the weights in use for each number of seats, rounded up to a multiple of it"
    )
    match_iterations: int = _setting(400, 1, 4, "iterations of a search in that match")
    seed: int = _setting(1, 0, 1, "everything random derives from it")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, least = getattr(self, field.name), field.metadata["least"]
            if field.name not in ("players", *_MOST) and (type(value) is not int or value < least):
                problem = f"{field.name}: given {quote(value)}; expected an integer of at least {least}"
                raise SearchError(problem, reason="INVALID_LIMITS")
        for name, most in _MOST.items():
            given = getattr(self, name)
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if not is_number or not (0 < given <= most or (given == 0 and name != "strength")):
                least = "more than 0" if name == "strength" else "at least 0"
                problem = f"{name}: given {given!r}; expected {least}, at most {most:g}"
                raise SearchError(problem, reason="INVALID_LIMITS")
        read_players(self.players)

    def players_of(self, game: str) -> tuple[int, ...]:
        """Return the numbers of seats of the games; raise SearchError if the game has not so many seats."""
        most = min(registry.get(game).rules.max_players, MAX_SEATS)
        given = read_players(self.players) or tuple(range(2, most + 1))
        if given[-1] > most:
            problem = f"players: given {quote(self.players)}; expected numbers from 2 to {most}, the seats of {game}"
            raise SearchError(problem, reason="INVALID_LIMITS")
        return given


def read_players(text: str) -> tuple[int, ...]:
    """Read numbers of seats, as "2,4", in ascending order; none for "all".

    Raises
    ------
    SearchError
        It is neither (reason INVALID_LIMITS).
    """
    if text == ALL:
        return ()
    numbers = sorted(text.split(",")) if isinstance(text, str) else []
    if not numbers or len(set(numbers)) < len(numbers) or not set(numbers) <= set(map(str, range(2, MAX_SEATS + 1))):
        problem = f'players: given {quote(text)}; expected {ALL}, or numbers from 2 to {MAX_SEATS} such as "2,4"'
        raise SearchError(problem, reason="INVALID_LIMITS")
    return tuple(map(int, numbers))


DEFAULTS = Settings()
SMALL = Settings(**{field.name: field.metadata["small"] for field in dataclasses.fields(Settings)})

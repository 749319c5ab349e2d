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


def setting(default: Any, least: int, small: Any, text: str, *, most: float | None = None, above: bool = False) -> Any:
    """Return a field of settings: an integer, or a number if its default is one that is none, or a text.

    Parameters
    ----------
    default : int, float or str
    least : int
    small : int, float or str
        Its value in a try.
    text : str
        The help of its option.
    most : float, optional
        Needed for a number.
    above : bool
        Whether a number must be above `least`.
    """
    metadata = {"least": least, "small": small, "help": text, "most": most, "above": above}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Checked:
    """Settings whose values are checked by what their fields say.

    Raises
    ------
    SearchError
        A number is out of range or no integer (reason INVALID_LIMITS).
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, least, most = getattr(self, field.name), field.metadata["least"], field.metadata["most"]
            if isinstance(field.default, str):
                continue  # checked by whoever declares it
            if isinstance(field.default, float):
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                above = field.metadata["above"]
                if not is_number or not (least < value <= most or (value == least and not above)):
                    expected = f"{'more than' if above else 'at least'} {least}, at most {most:g}"
                    raise _bad_setting(field.name, repr(value), expected)
            elif type(value) is not int or value < least or (most is not None and value > most):
                expected = f"of at least {least}" if most is None else f"from {least} to {most:g}"
                raise _bad_setting(field.name, quote(value), f"an integer {expected}")


def _bad_setting(name: str, given: str, expected: str) -> SearchError:
    return SearchError(f"{name}: given {given}; expected {expected}", reason="INVALID_LIMITS")


@dataclass(frozen=True)
class Settings(Checked):
    """How much of everything a training run has, and its seed. With the same settings it makes the same weights.

    Raises
    ------
    SearchError
        A number is out of range or no integer (reason INVALID_LIMITS).
    """

    games: int = setting(4000, 10, 10, "games of self-play")
    players: str = setting(
        ALL, 2, ALL, "numbers of seats of the games, which have equal parts, as 2,4; all: those that the game has"
    )
    iterations: int = setting(64, 2, 4, "iterations of most searches in these games")
    deep: int = setting(800, 2, 40, "iterations of a quarter of them, from which the policy learns")
    walks: int = setting(
        2500, 3, 6, "walks along these games, each with up to 8 positions off their paths; none with --networks 0"
    )
    rollouts: int = setting(1, 1, 1, "rollouts of such a position")
    rollout_iterations: int = setting(64, 1, 2, "iterations of a search in a rollout")
    networks: int = setting(3, 0, 2, "seeds of the fit of the value; 0: keep it and fit the policy alone")
    epochs: int = setting(40, 1, 2, "epochs of a fit, at most")
    strength: float = setting(
        1.0, 0, 1.0, "factor of the fitted scores of the policy; below 1 it decides less", most=10, above=True
    )
    refine_policy: int = setting(
        0, 0, 0, "1: the fit of the policy begins with the one in use; 0: anew, which takes many more games", most=1
    )
    planners: float = setting(
        0.0, 0, 0.0, "share of the games in which the game's planner plays some seats or all", most=1
    )
    states: int = setting(
        0, 0, 0, "positions of each game and record to which the outputs alone are fitted; 0: fit all to the probes"
    )
    own_points: float = setting(1.0, 0, 1.0, "weight of the points in own games and probes; records have 1", most=1)
    searched: int = setting(
        0, 0, 0, "states of each deep search to whose values in it the network is fitted, besides the probes"
    )
    reanalyse: int = setting(
        0, 0, 0, "games of --records a quarter of whose turns is searched anew by the weights in use, for the fits"
    )
    surprise: float = setting(
        0.0, 0, 0.0, "share of the weight of a decision or searched state that goes by what the search changed", most=1
    )
    match: int = setting(
        200, 1, 2, "games against the weights in use for each number of seats, rounded up to a multiple of it"
    )
    match_iterations: int = setting(400, 1, 4, "iterations of a search in that match")
    seed: int = setting(1, 0, 1, "everything random derives from it")

    def __post_init__(self) -> None:
        super().__post_init__()
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

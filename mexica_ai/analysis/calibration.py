"""Published shares of the win: a fitted map makes those that a search finds as true as it can (docs/search.md).

The share of the seat to move changes in log-odds, to ``temperature * logit(share) + shift``; the others divide the rest
in proportion to their shares to the power of `others`. The three numbers depend on how long the game and the search
have lasted (`corner_weights`), and were fitted to who won (`mexica_ai.train.calibration`). So a larger share stays
larger, 0 and 1 stay, and a seat's number means nothing.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cext.core.contract.game import State
from mexica_ai.analysis.results import Forecast, Result
from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import MAX_JSON, read_text
from mexica_ai.io.strict import check_shape, parse_json

FORMAT = 1
FACTS = ("iterations", "rounds")
CORNERS = ("few_early", "many_early", "few_late", "many_late")  # iterations, rounds
STEP = 1e-6  # of a share, for the slope of a map
LEAST_SLOPE = 0.1  # of temperature and others: a larger share stays larger
MOST_SLOPE, MOST_SHIFT = 10.0, 10.0
NUMBERS = ("temperature", "shift", "others")
_MAP_SHAPE = {
    "ranges": {fact: [float] for fact in FACTS},
    **{name: dict.fromkeys(CORNERS, float) for name in NUMBERS},
}
_PLAYERS = ("2", "3", "4")
_SHAPE = {"format": int, "game": str, "weights": str, "players": dict, "made": dict}


def facts_of(state: State, iterations: int) -> tuple[float, float]:
    """Return the `FACTS` of a search of a state: logarithms, to the base 2, of its iterations and of the rounds.

    In each game with a map `State.round` follows from the position alone, so one that is read is published like one
    that was played.
    """
    return math.log2(max(1, iterations)), math.log2(1 + state.round)


def corner_weights(facts: Sequence[float], ranges: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return how much each of the `CORNERS` of the ranges counts at some facts, or at the nearest within the ranges."""
    first, second = (
        min(1.0, max(0.0, (fact - least) / (most - least))) if most > least else 0.0
        for fact, (least, most) in zip(facts, ranges, strict=True)
    )
    return (1 - first) * (1 - second), first * (1 - second), (1 - first) * second, first * second


@dataclass(frozen=True)
class Calibration:
    """The fitted map of the games with one number of seats.

    Parameters
    ----------
    ranges : sequence of (float, float)
        Of each of the `FACTS`, the least and the most that the map was fitted to; it does not change beyond.
    temperature, shift, others : sequence of float
        At each of the `CORNERS`; in between they change evenly.
    """

    ranges: Sequence[Sequence[float]]
    temperature: Sequence[float]
    shift: Sequence[float]
    others: Sequence[float]

    def numbers(self, facts: Sequence[float]) -> tuple[float, float, float]:
        """Return temperature, shift and the power of the others."""
        parts = corner_weights(facts, self.ranges)
        temperature, shift, others = (
            sum(map(operator.mul, numbers, parts)) for numbers in (self.temperature, self.shift, self.others)
        )
        return temperature, shift, others

    def shares(self, value: Sequence[float], seat: int, facts: Sequence[float]) -> list[float]:
        """Return what is published for the shares that a search by `seat` found."""
        return _moved(value, seat, *self.numbers(facts))

    def published(
        self,
        result: Result,
        state: State,
        seat: int,
        exact: Sequence[bool],
        exact_first: Sequence[bool] = (),
        kept_visits: int = 0,
    ) -> Result:
        """Return a result with the shares that are published.

        Parameters
        ----------
        result : Result
        state : State
            The one searched.
        seat : int
            The seat to move.
        exact : sequence of bool
            Of which candidates the shares are known, and stay: they end the game, or are proved.
        exact_first : sequence of bool
            Of which first actions.
        kept_visits : int
            Iterations of an earlier search on which the shares rest, too.
        """
        if all(exact) and all(exact_first):
            return result
        numbers = self.numbers(facts_of(state, result.iterations + kept_visits))

        def point(one: Forecast) -> Forecast:
            return Forecast(one.visits, _moved(one.value, seat, *numbers), one.expected_scores) if one.visits else one

        first_actions = [
            one if is_exact or not one.value else dataclasses.replace(one, value=_moved(one.value, seat, *numbers))
            for one, is_exact in zip(result.first_actions, exact_first, strict=True)
        ]
        result = dataclasses.replace(result, first_actions=first_actions)
        if all(exact):
            return result
        candidates = []
        for candidate, is_exact in zip(result.candidates, exact, strict=True):
            forecast = list(map(point, candidate.forecast))
            if is_exact:
                forecast[-1:] = candidate.forecast[-1:]
            value = _moved(candidate.value, seat, *numbers) if candidate.value and not is_exact else candidate.value
            errors = candidate.value_error
            if errors and not is_exact:
                slopes = _slopes(candidate.value, seat, *numbers)
                errors = [error * slope for error, slope in zip(errors, slopes, strict=True)]
            candidates.append(dataclasses.replace(candidate, value=value, value_error=errors, forecast=forecast))
        return dataclasses.replace(result, candidates=candidates)


def _moved(value: Sequence[float], seat: int, temperature: float, shift: float, power: float) -> list[float]:
    share = value[seat]
    rest = math.fsum(value) - share
    if share <= 0 or rest <= 0:
        return list(value)
    odds = (share / rest) ** temperature * math.exp(shift)
    powers = [max(0.0, other) ** power for other in value]
    powers[seat] = 0.0
    part = 1 / ((1 + odds) * math.fsum(powers))
    found = [other * part for other in powers]
    found[seat] = odds / (1 + odds)
    return found


def _slopes(value: Sequence[float], seat: int, temperature: float, shift: float, power: float) -> list[float]:
    """Return how much each published share moves with the share found, the others keeping their proportions."""
    moved = _moved(value, seat, temperature, shift, power)
    slopes = []
    for place, share in enumerate(value):
        step = -STEP if share > 1 / 2 else STEP
        near = [other * (1 - share - step) / (1 - share) if share < 1 else -step / (len(value) - 1) for other in value]
        near[place] = share + step
        slopes.append(max(0.0, (_moved(near, seat, temperature, shift, power)[place] - moved[place]) / step))
    return slopes


def read(path: str | os.PathLike[str]) -> tuple[str, Mapping[int, Calibration]]:
    """Read a file of fitted maps; return the weights it was fitted with, and the map of each number of seats.

    Raises
    ------
    NotationError
        The file cannot be read, or a map is not one; reason BAD_CALIBRATION.
    """
    name = os.fspath(path)
    try:
        return parse(parse_json(read_text(path, MAX_JSON), name), name)
    except NotationError as error:
        raise NotationError(f"{error}; expected fitted maps", reason="BAD_CALIBRATION", path=name) from None


def parse(data: object, path: str) -> tuple[str, Mapping[int, Calibration]]:
    """Return what `read` returns, from the content of a file; NotationError if it is not one, with a path."""
    check_shape(data, _SHAPE, path)
    assert isinstance(data, dict)
    check_shape(data["players"], {str(players): _MAP_SHAPE for players in data["players"]}, f"{path}.players")
    if data["format"] != FORMAT or not all(players in _PLAYERS for players in data["players"]):
        raise NotationError(f"{path}: expected format {FORMAT}, and maps for {', '.join(_PLAYERS)} seats")
    maps = {int(players): _checked(entry, f"{path}.players.{players}") for players, entry in data["players"].items()}
    return data["weights"], maps


def _checked(entry: Mapping[str, Any], path: str) -> Calibration:
    ranges = [entry["ranges"][fact] for fact in FACTS]
    if any(len(pair) != 2 or pair[0] > pair[1] for pair in ranges):
        raise NotationError(f"{path}.ranges: given {ranges}; expected the least and the most of each fact")
    made = Calibration(ranges, *([entry[name][corner] for corner in CORNERS] for name in NUMBERS))
    slopes = (*made.temperature, *made.others)
    if min(slopes) < LEAST_SLOPE or max(slopes) > MOST_SLOPE or max(map(abs, made.shift)) > MOST_SHIFT:
        raise NotationError(
            f"{path}: expected temperature and others from {LEAST_SLOPE} to {MOST_SLOPE}, shift from {-MOST_SHIFT} to "
            f"{MOST_SHIFT}"
        )
    return made


def find(path: str | os.PathLike[str] | None, weights: str, players: int) -> Calibration | None:
    """Return the map of a file for searches with these weights; None if there is no file, or it is of other weights."""
    if path is None:
        return None
    fitted, maps = _shipped(os.fspath(path))
    return maps.get(players) if fitted == weights else None


@cache
def _shipped(path: str) -> tuple[str, Mapping[int, Calibration]]:
    """Return what `read` returns; if that fails, warn: a game is playable without its maps."""
    try:
        return read(path)
    except NotationError as error:
        warnings.warn(f"shares of the win are published as searches find them: {error}", RuntimeWarning, stacklevel=5)
        return "", {}

"""Adjudication: games that end before their end, since the engines agree on the winner or the game is too long.

Every turn comes with a *forecast*, the expected share of the win of each seat, from the engine that played it. Where
an engine gives none, or equal shares for all seats, the default engine forecasts in its place.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.tournament import Game, Tournament
from mexica_ai.engines import make_engine
from mexica_ai.game.position import Position
from mexica_ai.io.numbers import are_shares

JUDGE = "mcts,iterations=500,threads=1"  # the default engine, with a limit that does not depend on the machine
TIE = 1e-9  # forecasts that are so close are equal


@dataclass(frozen=True)
class Decision:
    """How a game was adjudicated.

    Parameters
    ----------
    rule : str
        "resign" or "max_turns".
    by : str
        "engines", or "default engine" if it had to decide.
    winners : list of int
        Ascending.
    forecast : list of float
        The shares of the win that decided.
    """

    rule: str
    by: str
    winners: list[int]
    forecast: list[float]

    def to_json(self) -> dict[str, Any]:
        """Return the key `adjudication` of a record."""
        return {"rule": self.rule, "by": self.by, "forecast": [round(share, 6) for share in self.forecast]}


class Adjudicator:
    """Watches one game.

    Parameters
    ----------
    tournament : Tournament
    game : Game
    seen_by : callable
        Returns what a seat knows of a position.
    """

    def __init__(self, tournament: Tournament, game: Game, seen_by: Callable[[Position, int], Position]) -> None:
        self._tournament, self._game, self._seen_by = tournament, game, seen_by
        self._share, kept = tournament.resign or (0.0, 1)
        seats = range(tournament.players)
        self._last: list[collections.deque[_Turn]] = [collections.deque(maxlen=kept) for _ in seats]
        self._turns = 0

    def add(self, before: Position, seat: int, value: list[float]) -> None:
        """Add a turn that a seat has played, with the forecast of its engine, empty if it has none."""
        self._turns += 1
        if self._tournament.resign is None and self._tournament.max_turns is None:
            return
        forecast = value if _is_forecast(value, self._tournament.players) else None
        self._last[seat].append(_Turn(before, self._turns, forecast is None, forecast))

    def decide(self, position: Position) -> Decision | None:
        """Return how the game ends here, where a seat is to move, or None if it goes on."""
        if self._tournament.resign is not None and (decision := self._resign()):
            return decision
        if self._tournament.max_turns is None or self._turns < self._tournament.max_turns:
            return None
        if all(self._last):
            last = [self._forecast(turns[-1]) for turns in self._last]
            first = [_first(forecast) for forecast in last]
            if all(seats == first[0] for seats in first):
                return Decision("max_turns", self._deciders(), first[0], _mean(last))
        forecast = self._judge(position, self._turns)
        return Decision("max_turns", "default engine", _first(forecast), forecast)

    def _resign(self) -> Decision | None:
        if any(turns.maxlen is None or len(turns) < turns.maxlen for turns in self._last):
            return None
        every = [self._forecast(turn) for turns in self._last for turn in turns]
        for seat in range(self._tournament.players):
            if all(1 - forecast[seat] <= self._share + TIE for forecast in every):
                return Decision("resign", self._deciders(), [seat], _mean(every))
        return None

    def _deciders(self) -> str:
        return "default engine" if all(turns[-1].by_default for turns in self._last) else "engines"

    def _forecast(self, turn: _Turn) -> list[float]:
        if turn.forecast is None:
            turn.forecast = self._judge(turn.before, turn.number)
        return turn.forecast

    def _judge(self, position: Position, number: int) -> list[float]:
        """Return the default engine's forecast after a number of turns; the same if the game is played again."""
        assert position.to_move is not None
        with make_engine(JUDGE) as engine:
            seed = self._tournament.judge_seed(self._game, number)
            return engine.best_turn(self._seen_by(position, position.to_move), seed=seed, candidates=1).value


@dataclass
class _Turn:
    """A turn that a seat has played: the position before it, its number in the game from 1, and its forecast.

    The default engine's forecast is made when it is needed, since it takes a search.
    """

    before: Position
    number: int
    by_default: bool
    forecast: list[float] | None


def _is_forecast(value: list[float], players: int) -> bool:
    """Return whether the value of an engine says who will win.

    Equal shares do not: an engine that lives on the game's evaluation answers so where the game has none.
    """
    return are_shares(value, players) and max(value) - min(value) > TIE


def _first(forecast: list[float]) -> list[int]:
    return [seat for seat, share in enumerate(forecast) if share >= max(forecast) - TIE]


def _mean(forecasts: list[list[float]]) -> list[float]:
    return [sum(shares) / len(forecasts) for shares in zip(*forecasts, strict=True)]

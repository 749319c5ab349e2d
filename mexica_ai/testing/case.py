"""A game that the contract tests play: its states on the way, and how a fault is told."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE, State
from mexica_ai.game.contract import Fields, Game

SEED = 2015
STRIDE = 5
SAMPLE = 10  # actions looked at closely in a state
JUNK: tuple[Any, ...] = (None, 3, 1.5, True, "", " ", "no such action", "\N{SNOWMAN}", [], {}, ["a"], "-" * 300)

Check = Callable[..., None]


@dataclass
class Case:
    """A game, a state in which a random game begins, and the checks' tools."""

    game: Game
    start: State
    rng: random.Random
    stride: int

    def walk(self) -> Iterator[tuple[State, int | None]]:
        """Play a game; yield each state and the action that follows it, None at chance and at the end."""
        state, rng = self.start.copy(), self.rng
        planned: list[int] = []
        while not state.is_terminal:
            if state.current_player == CHANCE:
                yield state, None
                state.resolve_chance(rng.getrandbits(63))
                planned = []
                continue
            if not planned and rng.random() < 0.7:
                planned = random_turn(state, rng.getrandbits(63))
            action = planned.pop(0) if planned else rng.choice(state.legal_actions())
            yield state, action
            state.apply(action)
        yield state, None

    def some(self) -> Iterator[tuple[State, int | None]]:
        """Yield every few states of a game, the last one always."""
        for number, (state, action) in enumerate(self.walk()):
            if number % self.stride == 0 or action is None:
                yield state, action

    def positions(self) -> Iterator[State]:
        """Yield every few states that have a JSON form."""
        for state, _ in self.some():
            if state.current_player != CHANCE or self.draws_events:
                yield state

    def turns(self) -> Iterator[State]:
        """Yield every few states in which a seat is to move."""
        return (state for state, action in self.some() if action is not None)

    @property
    def draws_events(self) -> bool:
        """Whether random events are actions of a record; else no position has one that is due."""
        return self.game.events is not None and self.game.events.draw_outcome is not None

    def fields(self, state: State) -> Fields:
        """Return the JSON form of a state, as another process would read it."""
        data: Fields = json.loads(json.dumps(self.game.text.format_position(state)))
        return data

    def expect(self, is_so: bool, fault: str, state: State | None = None) -> None:
        """Raise an AssertionError that names the fault unless it is so."""
        if not is_so:
            where = "" if state is None else f"; in the position {json.dumps(self.game.text.format_position(state))}"
            raise AssertionError(f"{self.game.name}: {fault}{where}")

    def refused(self, call: Callable[[], Any], *errors: type[Exception]) -> bool:
        """Return whether a call raises one of the errors; others go through."""
        try:
            call()
        except errors:
            return True
        return False


def for_each_start(*looks: Callable[[Case], None]) -> Check:
    """Return the check that looks at a game from each start."""

    def check(game: Game, starts: Sequence[State] | None = None, *, seed: int = SEED, stride: int = STRIDE) -> None:
        if starts is None:
            seats = range(2, game.rules.max_players + 1)
            starts = [game.starts.new_state(players, seed + players) for players in seats]
        for look in looks:
            for number, start in enumerate(starts):
                look(Case(game, start, random.Random(seed * 100 + number), stride))

    return check

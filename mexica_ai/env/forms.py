"""How an environment with one learner shows states and numbers actions: by index, by fixed id, or with features."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cext.core.contract.game import State
from cext.core.learning.tensor import observation
from mexica_ai.engines.policy import actions_by_id, mask_of
from mexica_ai.game import registry
from mexica_ai.game.observations import BOUND, bound_of, check_actions, schema

Choices = list[int] | dict[int, int]  # legal actions by index, or by id


class Form:
    """Actions are indexes into the list of legal actions, observations are those of `mexica_ai.env.schema`."""

    def __init__(self, game: str) -> None:
        self.schema = schema(game)
        self.rules = registry.get(game).rules
        self.size: int = self.rules.max_actions
        bound = bound_of(self.schema)
        self.observation_space: spaces.Space[Any] = spaces.Box(-bound, bound, (self.schema.size,), np.float32)
        self.action_space: spaces.Space[Any] = spaces.Discrete(self.size)

    def observe(self, state: State, seat: int | None = None) -> Any:
        """Return what a seat sees, by default the one to move."""
        return observation(state, state.current_player if seat is None else seat)

    def choices(self, state: State) -> Choices:
        """Return the legal actions by their numbers; none when the game is over."""
        return state.legal_actions()

    def mask(self, choices: Choices) -> NDArray[np.int8]:
        """Return a mask over the numbers of actions."""
        return mask_of(self.size, slice(len(choices)))

    def action(self, choices: Choices, chosen: Any) -> int | None:
        """Return the action that was chosen by its number, None if there is none."""
        try:
            number = operator.index(chosen.item() if isinstance(chosen, np.ndarray) else chosen)
        except (TypeError, ValueError):
            return None
        return self._numbered(choices, number)

    def expected(self, choices: Choices) -> str:
        """Return which numbers are legal, for a message."""
        return f"an index from 0 to {len(choices) - 1}"

    def _numbered(self, choices: Choices, number: int) -> int | None:
        return choices[number] if 0 <= number < len(choices) else None


class IdForm(Form):
    """Actions are fixed ids."""

    def __init__(self, game: str) -> None:
        super().__init__(game)
        self.size = self.rules.num_action_ids
        self.action_space = spaces.Discrete(self.size)

    def choices(self, state: State) -> dict[int, int]:
        return actions_by_id(state)

    def mask(self, choices: Choices) -> NDArray[np.int8]:
        return mask_of(self.size, list(choices))

    def expected(self, choices: Choices) -> str:
        return f"the id of a legal action, one of {', '.join(map(str, choices))}"

    def _numbered(self, choices: Choices, number: int) -> int | None:
        assert isinstance(choices, dict)
        return choices.get(number)


class FeatureForm(Form):
    """Actions are indexes; an observation has the features of the legal actions, a row for each index."""

    def __init__(self, game: str) -> None:
        super().__init__(game)
        shape = (self.size, self.rules.action_size)
        features = spaces.Box(-BOUND, BOUND, shape, np.float32)
        self.observation_space = spaces.Dict({"action_features": features, "observation": self.observation_space})

    def observe(self, state: State, seat: int | None = None) -> dict[str, NDArray[np.float32]]:
        rows = np.zeros((self.size, self.rules.action_size), np.float32)
        if state.current_player >= 0 and seat in (None, state.current_player):
            known = state.action_features()
            rows[: len(known)] = known
        return {"action_features": rows, "observation": super().observe(state, seat)}


def form_of(game: str, actions: Any) -> Form:
    """Return the form of a game that the argument `actions` names; SearchError if the game does not have it."""
    check_actions(game, actions)
    return {None: Form, "ids": IdForm, "features": FeatureForm}[actions](game)

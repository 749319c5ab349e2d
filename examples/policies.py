"""Python policies as engines (docs/python.md, "Policies"):

mexica-ai arena --game coatl --engine py:examples.policies:Patient --engine py:examples.policies:Uniform --blocks 2
"""

import numpy as np

import mexica_ai as ai


class Patient:
    """Answers with whole turns: the shortest of those that a small search considers."""

    def best_turn(self, position: ai.Position, *, seed: int) -> list[str]:
        result = ai.best_turn(position, iterations=50, candidates=3, seed=seed)
        return min((candidate.turn for candidate in result.candidates), key=len)


class Uniform:
    """Chooses action by action, as a network does: here each legal one with the same probability."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def act(self, observation: np.ndarray, mask: np.ndarray) -> int:
        return int(self.rng.choice(np.flatnonzero(mask)))

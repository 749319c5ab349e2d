from typing import Self

from cext.core.contract.game import State
from cext.core.learning.weights import Weights
from cext.core.search.turn_search import TurnSearch

class UCT(TurnSearch):
    def __new__(
        cls,
        state: State,
        *,
        weights: Weights | None = None,
        threads: int = 1,
        memory_mb: float = 1024,
        seed: int = 0,
        exploration: float = 0.7071067811865476,
    ) -> Self: ...
    def run(self, time_s: float | None = None, iterations: int | None = None) -> None: ...

from collections.abc import Callable, Collection
from typing import Any, Self, TypedDict, type_check_only

import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import State
from cext.core.learning.weights import Weights
from cext.core.search.turn_search import TurnSearch

@type_check_only
class Edge(TypedDict):
    action: int | None
    visits: int
    prior: float | None
    node: int | None

@type_check_only
class Node(TypedDict):
    seat: int | None
    turn: int
    visits: int
    value: list[float]
    expected_scores: list[float]
    edges: list[Edge]

@type_check_only
class Decision(TypedDict):
    actions: list[int]
    edges: list[tuple[int, int, float]]
    utility: float

class Search(TurnSearch):
    # What an evaluator is called with depends on its attribute `policy`; its answer is checked when the search runs.
    def __new__(
        cls,
        state: State,
        *,
        weights: Weights | None = None,
        threads: int = 1,
        memory_mb: float = 1024,
        seed: int = 0,
        niceness: int = 0,
        evaluator: Callable[..., Any] | None = None,
        batch_size: int = 16,
        batches: int = 2,
        allow: Collection[int] | None = None,
        avoid: Collection[int] | None = None,
        viewer: int | None = None,
        after: Search | None = None,
        **options: float,
    ) -> Self: ...
    def run(
        self, time_s: float | None = None, iterations: int | None = None, *, late_s: float | None = None
    ) -> None: ...
    def start(
        self, time_s: float | None = None, iterations: int | None = None, *, late_s: float | None = None
    ) -> None: ...
    def wait(self, timeout_s: float | None = None) -> bool: ...
    def join(self) -> None: ...
    @property
    def kept_visits(self) -> int: ...
    def tree(self, least: int = 1) -> list[Node]: ...
    def visits_at(self, state: State) -> dict[int, int] | None: ...
    def priors_at(self, state: State) -> NDArray[np.float32] | None: ...
    def decisions(self, least_visits: int) -> list[Decision]: ...
    def check_visits(self) -> None: ...

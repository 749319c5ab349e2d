from typing import Final, Literal, TypedDict, type_check_only

from cext.core.contract.game import State
from cext.core.learning.weights import Weights

DEFAULT_MEMORY_MB: Final = 1024
MAX_MEMORY_MB: Final = 1000000
MAX_THREADS: Final = 256
MAX_TIME_S: Final = 100000000

@type_check_only
class Statistics(TypedDict):
    visits: int
    value: list[float]
    expected_scores: list[float]

@type_check_only
class Candidate(Statistics):
    actions: list[int]
    prior: float
    line: list[list[int]]
    forecast: list[Statistics]
    value_error: list[float]
    expected_scores_error: list[float]
    is_proved: bool

@type_check_only
class FirstAction(TypedDict):
    action: int
    visits: int
    prior: float
    value: list[float]
    is_proved: bool

@type_check_only
class SearchResult(TypedDict):
    candidates: list[Candidate]
    first_actions: list[FirstAction]
    iterations: int
    nodes: int
    distinct_turns: int
    memory_bytes: int
    seconds: float
    stop_reason: Literal["", "time", "iterations", "memory", "stopped", "forced", "settled"]
    threads: int
    seed: int

class TurnSearch:
    @property
    def state(self) -> State: ...
    @property
    def weights(self) -> Weights | None: ...
    @property
    def threads(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def run(self, time_s: float | None = None, iterations: int | None = None) -> None: ...
    def start(self, time_s: float | None = None, iterations: int | None = None) -> None: ...
    def wait(self, timeout_s: float | None = None) -> bool: ...
    def stop(self) -> None: ...
    def join(self) -> None: ...
    def result(self, num_candidates: int = 1) -> SearchResult: ...

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cext.core.contract.game import State

FORMAT: Final = 3
FORMAT_WITH_POLICY: Final = 4
FORMAT_WITH_BELIEF: Final = 5
VERSION_DIGITS: Final = 12
KEYS: tuple[str, ...]
POLICY: tuple[str, ...]
BELIEF: Final = "belief"

_Features = Callable[[State], NDArray[np.float32]]
# The summary, the actions, their categories, their priors and their features.
_PolicyInputs = Callable[
    [State, Weights],
    tuple[NDArray[np.float32], NDArray[np.uint64], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]],
]
# For each kind of card: the inputs of each card, and whether the seat holds it.
_BeliefInputs = Callable[[State, int, int], list[tuple[NDArray[np.float32], NDArray[np.bool_]]]]

class Weights:
    # Only `WeightsSpec.make` and `load_weights` can call it.
    def __new__(cls, maker: object = None) -> Self: ...
    @property
    def game(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def provenance(self) -> dict[str, Any]: ...
    @property
    def has_policy(self) -> bool: ...
    def arrays(self) -> dict[str, NDArray[np.float32]]: ...

class WeightsSpec:
    game: str
    path: Path
    own_features: tuple[str, ...]
    shared_features: tuple[str, ...]
    estimates: tuple[int, ...]
    features: _Features
    categories: tuple[str, ...]
    network: dict[str, tuple[int, ...]]
    shapes: dict[str, tuple[int, ...]]
    policy: dict[str, tuple[int, ...]]
    policy_inputs: _PolicyInputs | None
    summary: tuple[str, ...]
    action_features: tuple[str, ...]
    belief: tuple[str, ...]
    belief_inputs: _BeliefInputs | None
    def __init__(
        self,
        game: str,
        path: str | PathLike[str],
        *,
        own_features: tuple[str, ...],
        shared_features: tuple[str, ...],
        estimates: tuple[int, ...],
        features: _Features,
        categories: tuple[str, ...] = (),
        prior_rows: int = 0,
        summary: tuple[str, ...] = (),
        action_features: tuple[str, ...] = (),
        policy_inputs: _PolicyInputs | None = None,
        belief: tuple[str, ...] = (),
        belief_inputs: _BeliefInputs | None = None,
    ) -> None: ...
    @property
    def inputs(self) -> list[str]: ...
    def make(self, arrays: Mapping[str, ArrayLike], provenance: dict[str, Any] | None = None) -> Weights: ...
    def estimate(self) -> Weights: ...
    def load(self, path: str | PathLike[str] | None = None) -> Weights: ...
    def save(self, path: str | PathLike[str], weights: Weights) -> None: ...

def enum_names(module: ModuleType, prefix: str) -> tuple[str, ...]: ...
def load_weights(path: str | PathLike[str], specs: Sequence[WeightsSpec], content: object = None) -> Weights: ...

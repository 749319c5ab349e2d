from cext.core.contract.game import State
from cext.core.learning.weights import Weights

def policy_of(owner: State, weights: Weights | None) -> tuple[list[int], list[float]]: ...

from typing import Final

import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import State
from cext.core.learning.weights import Weights

NUM_ROWS: Final = 6

def categorize(
    owner: State, weights: Weights
) -> tuple[int, NDArray[np.uint64], NDArray[np.int32], NDArray[np.float32]]: ...
def policy_inputs(
    owner: State, weights: Weights
) -> tuple[NDArray[np.float32], NDArray[np.uint64], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]: ...

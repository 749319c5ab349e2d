from typing import Final

import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import State

FACES_OF_BELIEF: Final = 49
TEMPLES_OF_BELIEF: Final = 15

def belief_inputs(owner: State, viewer: int, seat: int) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]: ...

# The numbers of the features.
def __getattr__(name: str) -> int: ...

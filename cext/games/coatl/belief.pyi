from typing import Final

import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import State

BELIEF_NOW: Final = 0
BELIEF_GAIN_0: Final = 1
BELIEF_GAIN_1: Final = 2
BELIEF_GAIN_2: Final = 3
BELIEF_GAIN_3: Final = 4
BELIEF_GAIN_4: Final = 5
BELIEF_PLAYABLE: Final = 6
BELIEF_REACHABLE: Final = 7
BELIEF_MISSED: Final = 8
BELIEF_COLORS: Final = 9
BELIEF_TEMPLE_MET: Final = 10
BELIEF_TEMPLE_MISSED: Final = 11
FACES_OF_BELIEF: Final = 49
TEMPLES_OF_BELIEF: Final = 15

def belief_inputs(owner: State, viewer: int, seat: int) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]: ...

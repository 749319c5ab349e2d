import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import State

def features(owner: State) -> NDArray[np.float32]: ...

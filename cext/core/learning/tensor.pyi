import numpy as np
from numpy.typing import NDArray

from cext.core.contract.game import Game, State

def require_observations(game: Game) -> None: ...
def observation(state: State, viewer: int) -> NDArray[np.float32]: ...

"""What a seat gets for a game, in the three forms that environments offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mexica_ai.io.arguments import bad_option
from mexica_ai.io.strict import quote

REWARDS = ("share", "sign", "margin")


def check_reward(kind: Any) -> None:
    """Raise SearchError, reason INVALID_OPTION, if there is no such form of rewards."""
    check_choice("reward", kind, REWARDS)


def check_choice(path: str, given: Any, known: Sequence[str]) -> None:
    """Raise SearchError, reason INVALID_OPTION, if an argument is none of its values."""
    if given not in known:
        expected = ", ".join(map(quote, known))
        raise bad_option(path, given, f"one of {expected}")


def rewards_of(kind: str, shares: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Return the rewards of all seats at the end of a game, or of several games.

    Parameters
    ----------
    kind : str
        share: of the win, in [0, 1]. sign: 1 for a win, -1 for a loss, between them for a win that is shared (0 if two
        share it). margin: the points, less the most that another seat has.
    shares, scores : array of float
        The seats' shares of the win, and their points, [..., P].
    """
    found: NDArray[np.float64] = np.asarray(scores if kind == "margin" else shares, float)
    if kind == "margin":
        seats = range(found.shape[-1])
        others: NDArray[np.float64] = np.stack([np.delete(found, seat, -1).max(-1) for seat in seats], -1)
        return found - others
    return 2 * found - 1 if kind == "sign" else found

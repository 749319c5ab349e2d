"""The weights of a game: reading a file of them, those that ship, and the hand-made ones in their place."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache

from cext.core.learning.weights import Weights, WeightsSpec, load_weights
from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import MAX_JSON, read_text
from mexica_ai.io.strict import parse_json


def read_weights(path: str | os.PathLike[str], specs: Sequence[WeightsSpec]) -> Weights:
    """Read a file of weights of one of some games.

    Raises
    ------
    NotationError
        The file cannot be read, does not hold weights of these games, or is damaged; reason BAD_WEIGHTS.
    """
    try:
        content = parse_json(read_text(path, MAX_JSON), os.fspath(path))
    except NotationError as error:
        expected = " or ".join(each.game for each in specs)
        raise NotationError(
            f"{error}; expected a file of weights of {expected}", reason="BAD_WEIGHTS", path=str(path)
        ) from None
    return load_weights(path, specs, content)


@cache
def shipped(spec: WeightsSpec) -> Weights:
    """Return the weights that ship with a game, read once.

    If they cannot be read, issue a RuntimeWarning with the cause and return the hand-made estimate instead: fitting
    new weights needs games, so the game must be playable without them.
    """
    try:
        return read_weights(spec.path, [spec])
    except NotationError as error:
        problem = f"{spec.game.capitalize()} is played with a hand-made estimate alone: {error}"
        warnings.warn(problem, RuntimeWarning, stacklevel=4)
        return spec.estimate()

"""What is fitted of Mexica: the evaluation's network and the weights of the priors, in ``weights.json``.

`mexica-ai train` makes them (`mexica_ai.train`), `load` puts those of the package in place when the game is
imported.
"""

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np

from cext.games.mexica import evaluation, policy
from cext.games.mexica.evaluation import ESTIMATES, NETWORK, OWN_FEATURES, SHARED_FEATURES, features
from cext.games.mexica.policy import CATEGORIES, categorize

__all__ = [
    "CATEGORIES", "ESTIMATES", "FACTORS", "NETWORK", "OWN_FEATURES", "PATH", "SHAPES", "SHARED_FEATURES",
    "categorize", "checksum", "features", "info", "load", "save", "set_weights", "weights",
]  # fmt: skip

PATH = Path(__file__).with_name("weights.json")
FORMAT = 2
# Factors on the fitted weights of the priors (`mexica_ai.train.priors`). A search that sees no further
# passes, and what it passes for is what its successor should look at more.
FACTORS = {"end": 0.3, "end_idle": 0.3}
FACTORS |= dict.fromkeys(("cross_good", "sail_good", "teleport_good", "teleport_fair"), 3.0)
# Arrays by name, in the order of the checksum: those of the network, and the weights of the categories of
# actions.
SHAPES = NETWORK | {"priors": policy.SHAPE}
# Of the weights that were loaded last: "version", "sha256", "provenance".
info = {}


def weights():
    """Return the weights in place, as a dict of float32 arrays by the names of `SHAPES`."""
    return evaluation.network_weights() | {"priors": policy.weights()}


def set_weights(arrays):
    """Put weights in place for the whole process, which `info` does not follow. No search may be running.

    Parameters
    ----------
    arrays : dict of str to array
        Of the shapes in `SHAPES`; the priors > 0.

    Raises
    ------
    ValueError
        They are not; the weights stay as they were.
    """
    _check(arrays)
    evaluation.set_network_weights(arrays)
    policy.set_weights(arrays["priors"])


def _check(arrays):
    for name, shape in SHAPES.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise ValueError(f"weights {name}: expected finite numbers of shape {shape}")
    if not (arrays["priors"] > 0).all():
        raise ValueError("weights priors: expected numbers greater than 0")


def checksum(arrays):
    """Return the SHA-256 of weights, in hexadecimal: over their values as float32, in the order of SHAPES."""
    return hashlib.sha256(b"".join(arrays[name].astype("<f4").tobytes() for name in SHAPES)).hexdigest()


def load(path=PATH):
    """Read weights, and put them in place for the whole process. No search may be running.

    Parameters
    ----------
    path : path-like
        JSON: ``format``, ``version``, ``features`` and ``categories`` (names of the network's inputs and of
        the priors), ``weights`` (by the names of `SHAPES`), ``sha256``, ``provenance``.

    Raises
    ------
    ValueError
        The file is not weights for these names, or its checksum does not fit; the weights stay as they were.
    OSError
        The file cannot be read.
    """
    global info
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r}, expected {FORMAT}")
        if content["features"] != [*OWN_FEATURES, *SHARED_FEATURES]:
            raise ValueError("made for other features than those of this version")
        if content["categories"] != list(CATEGORIES):
            raise ValueError("made for other categories of actions than those of this version")
        arrays = {name: np.array(content["weights"][name], np.float32) for name in SHAPES}
        _check(arrays)
        if checksum(arrays) != content["sha256"]:
            raise ValueError("the checksum does not fit the weights: the file is damaged")
        found = {key: content[key] for key in ("version", "sha256", "provenance")}
        set_weights(arrays)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: not weights of Mexica: {error}") from None
    info = found


def save(path, arrays, provenance):
    """Write weights to a file that `load` reads, and return their checksum.

    Parameters
    ----------
    path : path-like
    arrays : dict of str to array
        Of the shapes in `SHAPES`, float32.
    provenance : dict
        Where they come from; anything that JSON can hold.
    """
    sha256 = checksum(arrays)
    head = {
        "format": FORMAT,
        "version": sha256[:12],
        "sha256": sha256,
        "features": [*OWN_FEATURES, *SHARED_FEATURES],
        "categories": list(CATEGORIES),
        "provenance": provenance,
    }
    # A row of a layer a line.
    layers = [f'"{name}": ' + json.dumps(_digits(arrays[name])).replace("], [", "],\n[") for name in SHAPES]
    text = json.dumps(head, indent=1).removesuffix("\n}") + ',\n "weights": {\n'
    text += ",\n".join(layers) + "\n}}\n"
    # At once or not at all: the file may be the one in use.
    temporary = Path(f"{path}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return sha256


def _digits(array):
    # The shortest digits that give the same float32.
    return [_digits(row) for row in array] if array.ndim else float(str(array))


def _begin():
    # Weights that cannot be used must not keep anybody from fitting new ones.
    global info
    try:
        load()
    except (OSError, ValueError) as error:
        problem = f"Mexica is played with a hand-made estimate alone: {error}"
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
        arrays = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
        arrays["linear"][range(len(ESTIMATES)), ESTIMATES] = 1
        arrays["priors"][:] = 1
        set_weights(arrays)
        info = {"version": "estimate", "sha256": "", "provenance": {}}


_begin()

"""What is fitted of a game: the network of its evaluation, and perhaps the weights of its priors.

`mexica-ai train` makes them (`mexica_ai.train`). They are in a game's ``weights.json``, and are put in place
when the game is imported.
"""

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np

from cext.core.network import network_shapes

FORMAT = 2


class Fitted:
    """The weights of a game, in the process and in files.

    Attributes
    ----------
    game : str
        The game's name.
    path : Path
        The file that the package ships.
    own_features, shared_features : tuple of str
        Names of the network's inputs: features of a seat, features of the position.
    estimates : tuple of int
        The own features that are hand-made answers to the network's two questions, in their order: where a
        fit begins.
    categories : tuple of str
        Of actions; empty if the priors are not fitted.
    factors : dict of str to float
        By category: corrections of fitted weights of the priors (`mexica_ai.train.priors`).
    pull : (dict of str to float, float)
        (w, b): a fitted logit becomes b * (logit + the own features weighted by w), see `pulled`.
    network, shapes : dict of str to tuple of int
        Shapes of the network's arrays, and of all arrays in the order of the checksum.
    features : callable
        From a compiled state to the network's inputs, float32, shape (seats, inputs).
    categorize : callable or None
        From a compiled state to the row of the weights that counts, its legal actions, their categories and
        shares.
    info : dict
        Of the weights that were loaded last: "version", "sha256", "provenance".
    """

    def __init__(
        self,
        game,
        path,
        evaluation,
        *,
        pull=({}, 1.0),
        categories=(),
        factors=None,
        categorize=None,
        prior_rows=0,
        get_priors=None,
        set_priors=None,
    ):
        self.game = game
        self.path = Path(path)
        self.own_features = evaluation.OWN_FEATURES
        self.shared_features = evaluation.SHARED_FEATURES
        self.estimates = evaluation.ESTIMATES
        self.features = evaluation.features
        self.categories = categories
        self.factors = factors or {}
        self.pull = pull
        self.categorize = categorize
        self.network = network_shapes(3 * len(self.own_features) + len(self.shared_features))
        self.shapes = dict(self.network)
        if categories:
            self.shapes["priors"] = (prior_rows, len(categories))
        self.info = {}
        self._evaluation = evaluation
        self._get_priors, self._set_priors = get_priors, set_priors
        self._begin()

    def weights(self):
        """Return the weights in place, as a dict of float32 arrays by the names of `shapes`."""
        arrays = self._evaluation.network_weights()
        if self.categories:
            arrays["priors"] = self._get_priors()
        return arrays

    def set_weights(self, arrays):
        """Put weights in place for the whole process, which `info` does not follow. No search may be running.

        Parameters
        ----------
        arrays : dict of str to array
            Of the shapes in `shapes`; the priors > 0.

        Raises
        ------
        ValueError
            They are not; the weights stay as they were.
        """
        self._check(arrays)
        self._evaluation.set_network_weights(arrays)
        if self.categories:
            self._set_priors(arrays["priors"])

    def _check(self, arrays):
        for name, shape in self.shapes.items():
            if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
                raise ValueError(f"weights {name}: expected finite numbers of shape {shape}")
        if self.categories and not (arrays["priors"] > 0).all():
            raise ValueError("weights priors: expected numbers greater than 0")

    def checksum(self, arrays):
        """Return the SHA-256 of weights, in hexadecimal: of their float32 values in the order of `shapes`."""
        values = [arrays[name].astype("<f4").tobytes() for name in self.shapes]
        return hashlib.sha256(b"".join(values)).hexdigest()

    def load(self, path=None):
        """Read weights, and put them in place for the whole process. No search may be running.

        Parameters
        ----------
        path : path-like, optional
            JSON: ``format``, ``version``, ``features`` and ``categories`` (names of the network's inputs and
            of the priors), ``weights`` (by the names of `shapes`), ``sha256``, ``provenance``. Default: the
            package's.

        Raises
        ------
        ValueError
            The file is not weights for these names, or its checksum does not fit; the weights stay as
            they were.
        OSError
            The file cannot be read.
        """
        path = self.path if path is None else Path(path)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"format {content['format']!r}, expected {FORMAT}")
            if content["features"] != [*self.own_features, *self.shared_features]:
                raise ValueError("made for other features than those of this version")
            if content["categories"] != list(self.categories):
                raise ValueError("made for other categories of actions than those of this version")
            arrays = {name: np.array(content["weights"][name], np.float32) for name in self.shapes}
            self._check(arrays)
            if self.checksum(arrays) != content["sha256"]:
                raise ValueError("the checksum does not fit the weights: the file is damaged")
            found = {key: content[key] for key in ("version", "sha256", "provenance")}
            self.set_weights(arrays)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{path}: not weights of {self.game.capitalize()}: {error}") from None
        self.info = found

    def save(self, path, arrays, provenance):
        """Write weights to a file that `load` reads, and return their checksum.

        Parameters
        ----------
        path : path-like
        arrays : dict of str to array
            Of the shapes in `shapes`, float32.
        provenance : dict
            Where they come from; anything that JSON can hold.
        """
        sha256 = self.checksum(arrays)
        head = {
            "format": FORMAT,
            "version": sha256[:12],
            "sha256": sha256,
            "features": [*self.own_features, *self.shared_features],
            "categories": list(self.categories),
            "provenance": provenance,
        }
        # A row of a layer a line.
        layers = [
            f'"{name}": ' + json.dumps(_digits(arrays[name])).replace("], [", "],\n[") for name in self.shapes
        ]
        text = json.dumps(head, indent=1).removesuffix("\n}") + ',\n "weights": {\n'
        text += ",\n".join(layers) + "\n}}\n"
        # At once or not at all: the file may be the one in use.
        temporary = Path(f"{path}.{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
        return sha256

    def pulled(self, arrays):
        """Return weights with the logit pulled towards a hand-made one, as `pull` says.

        What goes with winning is not always what is worth striving for. Where a fit alone foretells winners
        better and plays worse than a hand-made estimate, their sum plays best.
        """
        return self._with_logit(arrays, 1.0, self.pull[1])

    def unpulled(self, arrays):
        """Return the weights of which `pulled` makes these."""
        return self._with_logit(arrays, -self.pull[1], 1 / self.pull[1])

    def _with_logit(self, arrays, times, scale):
        """Return weights whose logit is scale * (logit + times * what it is pulled towards)."""
        arrays = {name: array.copy() for name, array in arrays.items()}
        for name, weight in self.pull[0].items():
            arrays["linear"][0, self.own_features.index(name)] += times * weight
        arrays["linear"][0] *= scale
        arrays["w3"][:, 0] *= scale
        arrays["b3"][0] *= scale
        return arrays

    def estimate(self):
        """Return weights that answer with the hand-made estimates; all categories alike."""
        arrays = {name: np.zeros(shape, np.float32) for name, shape in self.shapes.items()}
        arrays["linear"][range(len(self.estimates)), self.estimates] = 1
        if self.categories:
            arrays["priors"][:] = 1
        return arrays

    def _begin(self):
        # Weights that cannot be used must not keep anybody from fitting new ones.
        try:
            self.load()
        except (OSError, ValueError) as error:
            problem = f"{self.game.capitalize()} is played with a hand-made estimate alone: {error}"
            warnings.warn(problem, RuntimeWarning, stacklevel=4)
            self.set_weights(self.estimate())
            self.info = {"version": "estimate", "sha256": "", "provenance": {}}


def _digits(array):
    # The shortest digits that give the same float32.
    return [_digits(row) for row in array] if array.ndim else float(str(array))

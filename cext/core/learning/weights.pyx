"""Weights as values, and the description of a game's weights: names, shapes, files; see ``weights.pxd``.

`mexica-ai train` makes weights (`mexica_ai.train`). The package ships one JSON file for each game; a search takes any
`Weights` of its game.
"""

import copy
import hashlib
import json
import os
from pathlib import Path
from reprlib import repr as quote     # of any length, as a few words

import numpy as np

from libc.stdlib cimport free
from libc.string cimport memcpy

from cext.core.contract.types cimport aligned_alloc

from cext.core.contract.errors import NotationError
from cext.core.learning.network import network_shapes
from cext.core.learning.scorer import scorer_features, scorer_shapes

# Of files: 5 with a belief, else 4 with a learnt policy, else 3. Format 2, which lacks the name of the game, can still
# be read.
FORMAT, FORMAT_WITH_POLICY, FORMAT_WITH_BELIEF = 3, 4, 5
VERSION_DIGITS = 12         # of the checksum
KEYS = ("format", "game", "version", "sha256", "features", "categories", "provenance", "weights")     # of files

POLICY = tuple(scorer_shapes(1, 1, 1))      # names of its arrays
BELIEF = "belief"                           # name of its array

# Only this module can pass it: Weights made without it would have no memory.
cdef object _maker = object()


cdef class Weights:
    """One immutable set of weights of a game. `WeightsSpec.make` and `load_weights` make it. It can be pickled.

    Attributes
    ----------
    game : str
        The name of the game.
    sha256 : str
        SHA-256 of the values as little-endian float32, in hexadecimal; a belief of zeros is left out. It identifies the
        weights.
    """

    def __cinit__(self, maker=None):
        if maker is not _maker:
            raise TypeError("Weights are made by a WeightsSpec, see mexica_ai.game.registry")

    def __dealloc__(self):
        free(<void*>self.data)

    @property
    def version(self):
        """The first 12 digits of the checksum, by which records and reports name the weights."""
        return self.sha256[:VERSION_DIGITS]

    @property
    def provenance(self):
        """Where the weights come from, as in their file: a copy."""
        return copy.deepcopy(self._provenance)

    def arrays(self):
        """Return copies of the arrays, float32, by the names of `WeightsSpec.shapes`."""
        cdef float[::1] view
        flat = np.empty(self.size // sizeof(float), np.float32)
        view = flat
        memcpy(&view[0], self.data, self.size)
        parts = np.split(flat, np.cumsum([np.prod(shape, dtype=int) for shape in self._shapes.values()]))
        return {name: part.reshape(shape).copy() for (name, shape), part in zip(self._shapes.items(), parts)}

    @property
    def has_policy(self):
        """Whether a learnt policy is among them."""
        return self._has_policy

    def __reduce__(self):
        return _from_arrays, (self.game, self.arrays(), self._policy_size, self._provenance)

    def __repr__(self):
        return f"<Weights of {self.game}, {self.version}>"


def _checksum(arrays):
    """Return the SHA-256 of arrays by name, in hexadecimal; see `Weights`."""
    hashed = np.concatenate([array.ravel() for name, array in arrays.items() if name != BELIEF or array.any()])
    return hashlib.sha256(hashed.astype("<f4").tobytes()).hexdigest()


def _from_arrays(game, arrays, policy_size, provenance):
    """Return `Weights` with these values, float32 arrays by name, unchecked; pickle calls it.

    In memory there is room for a policy of `policy_size` numbers even if the arrays have none.
    """
    cdef Weights weights
    cdef const float[::1] flat
    has_policy = any(name in arrays for name in POLICY)
    whole = np.concatenate([array.ravel() for array in arrays.values()])
    sha256 = _checksum(arrays)
    if policy_size > 0:
        room = np.zeros(0 if has_policy else policy_size, np.float32)
        whole = np.concatenate([whole, room, np.array([has_policy], np.float32)])
    flat = whole
    weights = Weights.__new__(Weights, _maker)
    weights.game = game
    weights.sha256 = sha256
    weights.size = flat.shape[0] * sizeof(float)
    weights._has_policy = has_policy
    weights._policy_size = policy_size
    weights._shapes = {name: array.shape for name, array in arrays.items()}
    weights._provenance = copy.deepcopy(provenance)
    weights.data = <const float*>aligned_alloc(64, (weights.size + 63) // 64 * 64)
    if weights.data == NULL:
        raise MemoryError
    memcpy(<void*>weights.data, &flat[0], weights.size)
    return weights


cdef const void* weights_data(const GameOps* ops, object weights) except? NULL:
    name = ops.name.decode()
    if weights is None and ops.weights_size == 0:
        return NULL
    if not isinstance(weights, Weights):
        raise TypeError(f"weights: expected Weights of {name}, got {type(weights).__name__}")
    if (<Weights>weights).game != name:
        raise TypeError(f"weights: expected Weights of {name}, got Weights of {weights.game}")
    if (<Weights>weights).size != ops.weights_size:
        raise TypeError(f"weights: {(<Weights>weights).size} bytes, but {name} reads {ops.weights_size}")
    return (<Weights>weights).data


def enum_names(module, prefix):
    """Return the names in a module's enumeration, without their common prefix, in lower case.

    Parameters
    ----------
    module : module
        Has a `cpdef enum` with the values 0, 1, 2, ...
    prefix : str
        Of the enumeration's members only.

    Returns
    -------
    tuple of str
        In the order of the values.
    """
    members = {value: name for name, value in vars(module).items() if name.startswith(prefix)}
    return tuple(members[value].removeprefix(prefix).lower() for value in range(len(members)))


class WeightsSpec:
    """Describes a game's weights: their shapes and what they mean.

    A game's weights are a network over features of a position (`cext.core.learning.network`); if it has categories of
    actions, weights of the categories (`cext.core.learning.priors`); and optionally, if it describes decisions, a
    learnt policy (`cext.core.learning.scorer`). For the checksum they are one array of float32, in the order of
    `shapes` and `policy`. In memory, too, with zeros in the place of a policy that is not there; at the end of the room
    for a policy is a 1 if there is one, else a 0.

    Attributes
    ----------
    game : str
        The game's name.
    path : Path
        The file that the package ships.
    own_features, shared_features : tuple of str
        Names of the network's inputs: features of a seat, features of the position.
    estimates : tuple of int
        Indexes of the own features that are hand-made estimates of the network's two outputs, in that order.
    categories : tuple of str
        Names of the categories of actions; empty if the priors have no weights.
    belief : tuple of str
        Names of the numbers of a belief, see `GameOps.believe`; empty if draws are uniform.
    network, shapes, policy : dict of str to tuple of int
        Shapes of the network's arrays; of all arrays that weights must have, in their order; and of those of a policy,
        of which weights have all or none. `policy` is empty if the game does not describe decisions.
    summary, action_features : tuple of str
        Names of the numbers by which a policy sees a decision, and an action.
    features : callable
        From a compiled state to the network's inputs, float32, shape (seats, inputs).
    policy_inputs : callable or None
        From a compiled state and weights to what a policy reads: the summary, the actions to be scored, their
        categories, their priors without a policy, and their features.
    belief_inputs : callable or None
        From a compiled state with everything known, a seat that looks and one that holds cards, to what a belief reads:
        for each kind of card, the numbers by which its weights are multiplied, float32 [cards, belief], and which cards
        the seat holds.
    """

    def __init__(self, game, path, *, own_features, shared_features, estimates, features, categories=(),
                 prior_rows=0, summary=(), action_features=(), policy_inputs=None, belief=(), belief_inputs=None):
        self.game = game
        self.path = Path(path)
        self.own_features = own_features
        self.shared_features = shared_features
        self.estimates = estimates
        self.features = features
        self.categories = categories
        self.network = network_shapes(3 * len(self.own_features) + len(self.shared_features))
        self.shapes = dict(self.network)
        if categories:
            self.shapes["priors"] = (prior_rows, len(categories))
        self.belief = belief
        self.belief_inputs = belief_inputs
        if belief:
            self.shapes[BELIEF] = (len(belief),)
        self.policy_inputs = policy_inputs
        self.summary = self.action_features = ()
        self.policy = {}
        if policy_inputs is not None:
            self.summary = summary
            self.action_features = (*scorer_features(), *action_features)
            self.policy = scorer_shapes(len(summary), len(categories), len(self.action_features))

    @property
    def inputs(self):
        """Names of the features in the order of a file."""
        return [*self.own_features, *self.shared_features]

    def make(self, arrays, provenance=None):
        """Return `Weights` with these values.

        Parameters
        ----------
        arrays : dict of str to array
            Of the shapes in `shapes` and, with a learnt policy, `policy`; finite; the priors greater than 0. Without a
            belief draws are uniform. Copied, as float32.
        provenance : dict, optional
            Where they come from; values that JSON can hold.

        Raises
        ------
        NotationError
            Reason BAD_WEIGHTS, if the arrays do not meet these requirements.
        """
        values = {}
        has_policy = any(name in arrays for name in self.policy)
        for name, shape in (self.shapes | (self.policy if has_policy else {})).items():
            if name == BELIEF and name not in arrays:
                values[name] = np.zeros(shape, np.float32)
                continue
            if name not in arrays and name in self.policy:
                raise _bad(f"weights {name}: missing; expected all arrays of a policy, or none")
            # A number too large for float32 becomes infinite.
            with np.errstate(over="ignore"):
                array = np.asarray(arrays[name]).astype(np.float32)
            if array.shape != shape or not np.isfinite(array).all():
                raise _bad(f"weights {name}: expected finite numbers of shape {shape}")
            if name == "priors" and not (array > 0).all():
                raise _bad("weights priors: expected numbers greater than 0")
            values[name] = array
        size = sum(int(np.prod(shape)) for shape in self.policy.values())
        return _from_arrays(self.game, values, size, provenance or {})

    def estimate(self):
        """Return `Weights` that answer with the hand-made estimates; all categories have equal weights.

        Their provenance has the key "estimate".
        """
        arrays = {name: np.zeros(shape, np.float32) for name, shape in self.shapes.items()}
        arrays["linear"][range(len(self.estimates)), self.estimates] = 1
        if self.categories:
            arrays["priors"][:] = 1
        return self.make(arrays, {"estimate": True})

    def _policy_names(self):
        """Return the names of a policy's inputs, as a file has them."""
        return {"summary": list(self.summary), "features": list(self.action_features)}

    def load(self, path=None):
        """Read weights of this game from a file, by default the one in the package; see `load_weights`."""
        return load_weights(self.path if path is None else path, [self])

    def save(self, path, weights):
        """Write weights to a file that `load` reads. If writing fails, an existing file stays as it was.

        Parameters
        ----------
        path : path-like
        weights : Weights
            Of this game.

        Raises
        ------
        TypeError
            If the weights are of another game.
        OSError
            If the file cannot be written.
        """
        if weights.game != self.game:
            raise TypeError(f"weights: expected Weights of {self.game}, got Weights of {weights.game}")
        arrays = weights.arrays()
        has_belief = self.belief and arrays[BELIEF].any()
        if self.belief and not has_belief:
            del arrays[BELIEF]
        head = {
            "format": FORMAT_WITH_BELIEF if has_belief else FORMAT_WITH_POLICY if weights.has_policy else FORMAT,
            "game": self.game,
            "version": weights.version,
            "sha256": weights.sha256,
            "features": self.inputs,
            "categories": list(self.categories),
            **({"policy": self._policy_names()} if weights.has_policy else {}),
            **({"belief": list(self.belief)} if has_belief else {}),
            "provenance": weights.provenance,
        }
        # One line for each row of a layer.
        layers = [
            f'"{name}": ' + json.dumps(_digits(array)).replace("], [", "],\n[") for name, array in arrays.items()
        ]
        text = json.dumps(head, indent=1).removesuffix("\n}") + ',\n "weights": {\n'
        text += ",\n".join(layers) + "\n}}\n"
        temporary = Path(f"{path}.{os.getpid()}")
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())     # else a power cut may leave an empty file under the name
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def load_weights(path, specs, content=None):
    """Read a file of weights.

    Parameters
    ----------
    path : path-like
        JSON: ``format``, ``game``, ``version``, ``features`` and ``categories`` (names of the network's inputs and of
        the priors), ``weights`` (by the names of `WeightsSpec.shapes` and, with a policy, `WeightsSpec.policy`),
        ``sha256``, ``provenance``; with a policy also ``policy``, the names of its inputs: ``summary``, ``features``;
        with a belief ``belief``, the names of its numbers. Features of a seat that came later may lack: they are read
        with weights of 0, so such weights answer as before, but get another version.
    specs : sequence of WeightsSpec
        Of the games whose weights are expected.
    content : object, optional
        The JSON value in the file, if the caller has read it.

    Returns
    -------
    Weights

    Raises
    ------
    NotationError
        Reason BAD_WEIGHTS, if the file cannot be read, does not have weights of one of these games for the features
        and categories of this version, or has a wrong checksum.
    """
    expected = " or ".join(spec.game for spec in specs)
    try:
        content = _object(_read(path) if content is None else content, "the file")
        spec = _spec_of(content, specs)
        columns = _columns(spec, content["features"])
        if content["categories"] != list(spec.categories):
            raise _bad("made for other categories of actions than those of this version")
        shapes = {name: shape for name, shape in spec.shapes.items() if name != BELIEF}
        if content["format"] == FORMAT_WITH_BELIEF:
            if not spec.belief:
                raise _bad(f"has a belief, which {spec.game} does not use")
            if content["belief"] != list(spec.belief):
                raise _bad("its belief was made for other features than those of this version")
            shapes[BELIEF] = spec.shapes[BELIEF]
        found = _object(content["weights"], "weights")
        if content["format"] == FORMAT_WITH_POLICY or "policy" in content or any(name in spec.policy for name in found):
            if not spec.policy:
                raise _bad(f"has a policy, which {spec.game} does not use")
            if _object(content["policy"], "policy") != spec._policy_names():
                raise _bad("its policy was made for other summaries or features of actions than those of this version")
            shapes = shapes | spec.policy
        unknown = [name for name in found if name not in shapes]
        if unknown:
            raise _bad(f"unknown weights {quote(unknown[0])}")
        arrays = {name: _array(name, found[name]) for name in shapes}
        weights = spec.make(_widened(arrays, columns), _object(content["provenance"], "provenance"))
        checksum = _checksum({name: array.astype(np.float32) for name, array in arrays.items()})
        if checksum != content["sha256"]:
            raise _bad("the checksum does not fit the weights: the file is damaged")
        if content["version"] != checksum[:VERSION_DIGITS]:
            raise _bad(f"version {quote(content['version'])}, but the weights are {checksum[:VERSION_DIGITS]}")
        return weights
    except KeyError as error:
        problem = f"no {error.args[0]!r}"
    except NotationError as error:
        problem = str(error)
    except OSError as error:
        problem = error.strerror or str(error)
    raise NotationError(f"{path}: {problem}; expected a file of weights of {expected}", reason="BAD_WEIGHTS",
                        path=str(path))


def _bad(problem):
    """Return the NotationError for a problem with weights."""
    return NotationError(problem, reason="BAD_WEIGHTS")


def _read(path):
    """Return the JSON value in a file."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise _bad("not a file")
    try:
        # NaN and Infinity are not JSON. Numbers like 1e999 fail the check of the arrays.
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, NotationError):
            raise
        raise _bad("not JSON") from None


def _no_constant(name):
    """Refuse NaN and Infinity."""
    raise _bad(f"JSON has no {name}")


def _object(value, what):
    """Return a value that must be a JSON object."""
    if not isinstance(value, dict):
        raise _bad(f"{what} is not a JSON object")
    return value


def _spec_of(content, specs):
    """Return the spec of the game that a file is for."""
    if content["format"] not in (2, FORMAT, FORMAT_WITH_POLICY, FORMAT_WITH_BELIEF):
        raise _bad(f"format {quote(content['format'])}, expected {FORMAT} to {FORMAT_WITH_BELIEF}")
    more = {FORMAT_WITH_POLICY: ("policy",), FORMAT_WITH_BELIEF: ("policy", "belief")}
    keys = (*KEYS, *more.get(content["format"], ()))
    unknown = [name for name in content if name not in keys]
    if unknown:
        raise _bad(f"unknown key {quote(unknown[0])}")
    if content["format"] == 2:
        # The game follows from the names of the features.
        found = [spec for spec in specs if spec.inputs == content["features"]]
        if not found:
            raise _bad("made for other features than those of this version")
    else:
        found = [spec for spec in specs if spec.game == content["game"]]
        if not found:
            raise _bad(f"weights of {quote(content['game'])}")
    return found[0]


def _array(name, values):
    """Return a JSON list of numbers as an array."""
    try:
        array = np.array(values)
    except ValueError:      # rows of different lengths
        array = None
    if array is None or array.dtype.kind not in "iuf":
        raise _bad(f"weights {name}: expected finite numbers")
    return array


def _columns(spec, features):
    """Return for each input of the network its number in a file with these features, -1 if they lack it."""
    shared = list(spec.shared_features)
    own = features[:len(features) - len(shared)] if isinstance(features, list) else []
    if features != own + shared or own != [name for name in spec.own_features if name in own]:
        raise _bad("made for other features than those of this version")
    numbers = [own.index(name) if name in own else -1 for name in spec.own_features]
    columns = [number + block * len(own) if number >= 0 else -1 for block in range(3) for number in numbers]
    return np.array(columns + list(range(3 * len(own), 3 * len(own) + len(shared))))


def _widened(arrays, columns):
    """Return a file's arrays with weights of 0 for the inputs that it lacks, so that they answer as before."""
    given = 1 + columns.max()
    for name, shape in network_shapes(given).items():
        if arrays[name].shape != shape:
            raise _bad(f"weights {name}: expected finite numbers of shape {shape}")
    is_given = columns >= 0
    return arrays | {"linear": np.where(is_given, arrays["linear"][:, columns], 0),
                     "w1": np.where(is_given[:, None], arrays["w1"][columns], 0)}


def _digits(array):
    """Return an array as lists of numbers, with the fewest digits that give the same float32."""
    return [_digits(row) for row in array] if array.ndim else float(str(array))

"""Make the engine of a spec; the module of its kind is imported only then."""

from __future__ import annotations

import importlib
from typing import Any

from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import KEYS, KINDS, EngineSpec, parse_spec
from mexica_ai.io.errors import SearchError


def make_engine(spec: str | EngineSpec, **defaults: Any) -> Engine:
    """Make the engine that a spec names.

    Parameters
    ----------
    spec : str or EngineSpec
        See `parse_spec`.
    **defaults
        Values (time, iterations, threads, memory, level, elo, seed, weights) for keys that the spec does not give,
        for example the options of a command line. None counts as not given. `weights` may also be `Weights`.

    Returns
    -------
    Engine
        The caller closes it.

    Raises
    ------
    NotationError
        The spec or its file of weights cannot be read.
    SearchError
        The engine cannot be started.
    """
    if isinstance(spec, str):
        spec = parse_spec(spec)
    unknown = defaults.keys() - KEYS.keys()
    if unknown:
        raise TypeError(f"unknown engine default {min(unknown)!r}; known: {', '.join(KEYS)}")
    path, class_name = KINDS[spec.kind].path.split(":")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        raise SearchError(
            f"the engine {spec.kind} needs {error.name}, which is not installed: "
            f"pip install 'mexica-ai[{KINDS[spec.kind].extra}]'",
            reason="MISSING_PACKAGE",
        ) from None
    engine: Engine = getattr(module, class_name)(spec, defaults)
    return engine


def weights_id(spec: EngineSpec, game: str) -> str | None:
    """Return the identifier of the weights that the engine of a spec uses; see `Engine.weights_id`.

    Raises
    ------
    NotationError
        The file of weights cannot be read.
    SearchError
        The weights belong to another game.
    """
    if "weights" not in KINDS[spec.kind].keys:
        return None
    with make_engine(spec) as engine:
        return engine.weights_id(game)

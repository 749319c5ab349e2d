"""Configuration files of `mexica-ai arena`: the options of a tournament as TOML.

A key is the name of an option without its dashes, such as ``blocks`` or ``max-turns``. ``engine`` is a list; an
entry is a spec, or a table with the key ``spec`` and the keys that the spec takes, such as ``time``.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from typing import Any

from mexica_ai.engines.specs import EngineSpec, parse_spec
from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import read_text
from mexica_ai.io.strict import quote
from mexica_ai.io.suggest import did_you_mean


def read_config(path: str, actions: Mapping[str, argparse.Action]) -> dict[str, Any]:
    """Read a file of options.

    Parameters
    ----------
    path : str
    actions : mapping of str to argparse.Action
        The options by the names of their keys, with dashes.

    Returns
    -------
    dict
        The values by destination, as the command line would have given them.

    Raises
    ------
    NotationError
        The file cannot be read, or a key is unknown or has a bad value; the message names the file and the key.
    """
    try:
        data = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotationError(f"{path}: expected TOML: {error}", reason="BAD_CONFIG") from None
    values = {}
    for key, value in data.items():
        action = actions.get(key.replace("_", "-"))
        if action is None:
            known = ", ".join(sorted(actions))
            raise _error(path, key, f"unknown; expected one of {known}{did_you_mean(key, actions)}")
        if action.dest in values:
            raise _error(path, key, "given twice, with and without dashes")
        try:
            values[action.dest] = _value(action, value)
        except (ValueError, argparse.ArgumentTypeError) as error:
            raise _error(path, key, str(error)) from None
        except NotationError as error:
            raise _error(path, key, str(error), error.reason) from None
    return values


def _value(action: argparse.Action, value: object) -> Any:
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError(f"given {quote(value)}; expected true or false")
        return value
    if action.dest == "engine":
        if not isinstance(value, list):
            raise ValueError(f"given {quote(value)}; expected a list of engines")
        return [_engine(entry, f"[{index}]") for index, entry in enumerate(value)]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"given {quote(value)}; expected text or a number")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)  # such as 2e6
    found = action.type(text) if callable(action.type) else text
    if action.choices is not None and found not in action.choices:
        raise ValueError(f"given {quote(value)}; expected one of {', '.join(map(str, action.choices))}")
    return found


def _engine(entry: object, where: str) -> str:
    """Return the spec of an entry of the list of engines."""
    if isinstance(entry, str):
        return entry
    if not (isinstance(entry, dict) and isinstance(entry.get("spec"), str)):
        raise ValueError(f"{where}: given {quote(entry)}; expected a spec, or a table with the key spec")
    spec = parse_spec(entry["spec"])
    options = dict(spec.options)
    for key, value in entry.items():
        if key == "spec":
            continue
        if key in options:
            raise ValueError(f"{where}.{key}: given in the spec, too")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"{where}.{key}: given {quote(value)}; expected text or a number")
        # Read as in a spec, which checks the key and the value.
        try:
            options |= parse_spec(str(EngineSpec(spec.kind, spec.target, {key: value}))).options
        except NotationError as error:
            raise ValueError(f"{where}.{key}: {error}") from None
    return str(EngineSpec(spec.kind, spec.target, options))


def _error(path: str, key: str, problem: str, reason: str = "BAD_CONFIG") -> NotationError:
    return NotationError(f"{path}: {key}: {problem}", reason=reason, path=key)

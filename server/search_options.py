"""Options of the search that requests may set: names with ranges, from the server's configuration."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from mexica_ai.engines.specs import SEARCH_OPTIONS
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote

EXPECTED = "an option of the search, docs/search.md, and a range within its own, such as exploration=0.5:2.5"

_ENTRY = re.compile(r"([a-z_]{1,64})=([0-9.eE+-]{1,32}):([0-9.eE+-]{1,32})")

Ranges = dict[str, tuple[float, float]]


def check_entry(entry: str) -> str:
    """Return an entry NAME=LOW:HIGH of the configuration; ValueError if it is none."""
    _read(entry)
    return entry


def read_ranges(entries: Iterable[str]) -> Ranges:
    """Return the ranges of the entries of a configuration, by name; of several for one name the last."""
    return dict(sorted(map(_read, entries)))


def _read(entry: str) -> tuple[str, tuple[float, float]]:
    found = _ENTRY.fullmatch(entry)
    if found is None or found[1] not in SEARCH_OPTIONS:
        raise ValueError(EXPECTED)
    low, high = float(found[2]), float(found[3])
    _, least, most = SEARCH_OPTIONS[found[1]]
    if not least <= low <= high <= most:
        raise ValueError(EXPECTED)
    return found[1], (low, high)


def check_options(options: Mapping[str, float], ranges: Ranges) -> dict[str, float]:
    """Return the options of a request.

    Raises
    ------
    SearchError
        One is not allowed, or beyond its range; reason INVALID_OPTION.
    """
    for name, value in options.items():
        if name not in ranges:
            expected = f"one of {', '.join(ranges)}" if ranges else "none: this server lets requests set no option"
            raise SearchError(
                f"options: given {quote(name)}; expected {expected}", reason="INVALID_OPTION", path="options"
            )
        low, high = ranges[name]
        if not (math.isfinite(value) and low <= value <= high):
            raise SearchError(
                f"options.{name}: given {value:g}; expected {low:g} to {high:g}",
                reason="INVALID_OPTION",
                path=f"options.{name}",
            )
    return dict(options)

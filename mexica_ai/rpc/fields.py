"""The fields that requests to search share, checked before they are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.ratings import check_elo
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game.position import Position
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import check_seed
from mexica_ai.io.strict import quote
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2


def search(
    position: Position | None,
    limits: engine_pb2.Limits,
    seed: int | None,
    candidates: int,
    level: int | None,
    elo: int | None,
    weights: str | None,
) -> dict[str, Any]:
    """Return the fields that requests to search share, checked as a local search checks them; None: no position."""
    if type(candidates) is not int or not 1 <= candidates < 2**31:
        raise SearchError(
            f"candidates: given {quote(candidates)}; expected an integer above 0",
            reason="INVALID_LIMITS",
            path="candidates",
        )
    return {
        "position": None if position is None else wire.position_to_message(position),
        "limits": limits,
        "seed": check_seed(seed),
        "num_candidates": candidates,
        **strength(level, elo),
        "weights": weights_name(weights),
    }


def strength(level: int | None, elo: int | None) -> dict[str, int]:
    """Return the fields that say how strongly the engine plays, checked as a local search checks them."""
    if level is not None:
        levels.check(level)
    if elo is None:
        return {"level": level or 0}
    check_elo(elo)
    if level is not None:
        raise bad_option("elo", elo, f"no rating beside level {level}")
    return {"elo": elo}


def restrictions(
    allow: Sequence[str] | None, avoid: Sequence[str], options: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return the fields that restrict a search, checked as a local search checks them."""
    given = SearchSettings(Limits(unlimited=True), 0, options=options or {}, allow=allow, avoid=avoid)
    if given.allow == ():
        raise SearchError(
            "allow: given no action; expected at least one, or None for any", reason="NO_FIRST_ACTION", path="allow"
        )
    return {"allow": given.allow, "avoid": given.avoid, "options": dict(given.options)}


def weights_name(name: str | None) -> str:
    """Return the field that names the server's weights, checked."""
    if name is None:
        return ""
    if not (isinstance(name, str) and re.fullmatch(wire.WEIGHTS_NAME, name)):
        raise SearchError(
            f"weights: given {quote(name)}; expected the name of a set of the server: 1 to 64 letters, digits and ._-",
            reason="INVALID_WEIGHTS",
            path="weights",
        )
    return name


def limits_message(**limits: Any) -> engine_pb2.Limits:
    """Return limits as a message, checked as a local search checks them; None: not given."""
    given = {name: value for name, value in limits.items() if value is not None}
    Limits(**given, unlimited=True)
    return engine_pb2.Limits(**given)

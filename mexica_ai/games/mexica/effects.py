"""The immediate effects of an action of Mexica in words: on districts, on who leads them, on a scoring now."""

from __future__ import annotations

from collections.abc import Iterable

from cext.games.mexica.ops import scoring_now
from mexica_ai.game.contract import try_parse
from mexica_ai.game.text_forms import listed
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import parse_space
from mexica_ai.games.mexica.notation import parse_position
from mexica_ai.io.json_types import JsonObject


def describe(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return clauses; see `Reasons.describe_effects`."""
    if before["phase"] != "play" or after["phase"] != "play" or before["period"] != after["period"]:
        return []
    old, new = (board.districts({parse_space(name) for name in fields["canals"]}) for fields in (before, after))
    clauses = []
    if len(new) > len(old):
        sizes = sorted(len(district) for district in new if district not in old)
        clauses.append(f"makes districts of {listed(list(map(str, sizes)))}")
    clauses += _leads(before, after, new, seat)
    return clauses + _gains(before, after, seat)


def _leads(before: JsonObject, after: JsonObject, districts: Iterable[frozenset[int]], seat: int) -> list[str]:
    """Return the districts that have a new leader."""
    clauses = []
    known = {token["at"] for token in before["calpulli"]["placed"]}
    temples = [board.read_temples(fields["temples"]) for fields in (before, after)]
    for token in after["calpulli"]["placed"]:
        district = next(district for district in districts if parse_space(token["at"]) in district)
        old, new = (board.levels(built, district) for built in temples)
        leads, led = (board.leaders(levels) for levels in (new, old))
        name = f"the district of {token['size']}"
        if leads == led and token["at"] in known:
            continue
        levels = f"{new[seat]} level" + "s" * (new[seat] != 1)
        if leads == [seat]:
            rest = max((level for other, level in new.items() if other != seat), default=0)
            clauses.append(f"leads {name}, {levels} to {rest}")
        elif seat in leads:
            clauses.append(f"shares the lead in {name} with {listed(_owners(leads, seat))}, {levels} each")
        elif leads:
            is_one = len(leads) == 1 and leads != [board.NEUTRAL]
            clauses.append(f"{listed(_owners(leads, seat))} {'leads' if is_one else 'lead'} {name}")
        else:
            clauses.append(f"nobody leads {name}")
    return clauses


def _owners(seats: Iterable[int], but: int) -> list[str]:
    return ["the neutral temples" if seat == board.NEUTRAL else f"seat {seat}" for seat in seats if seat != but]


def _gains(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return the changes in the points of a scoring now."""
    states = [state for fields in (before, after) if (state := try_parse(parse_position, fields))]
    if len(states) < 2:
        return []
    old, new = map(scoring_now, states)
    return [
        f"a scoring now would bring {'it' if other == seat else f'seat {other}'} {new[other]} ({gain:+})"
        for other, gain in enumerate(now - then for now, then in zip(new, old, strict=True))
        if gain
    ]

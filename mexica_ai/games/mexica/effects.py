"""The immediate effects of an action of Mexica in words: on districts, on who leads them, on a scoring now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cext.games.mexica.ops import scoring_now
from mexica_ai.game.contract import try_parse
from mexica_ai.game.messages import say
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
        clauses.append(say("makes districts of {sizes}", sizes=listed(list(map(str, sizes)))))
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
        if leads == led and token["at"] in known:
            continue
        gaps: dict[str, str | float] = {"size": token["size"], "n": new[seat]}
        if leads == [seat]:
            rest = max((level for other, level in new.items() if other != seat), default=0)
            clauses.append(say("leads the district of {size}, {n:level|levels} to {rest}", rest=rest, **gaps))
        elif seat in leads:
            others = listed(_owners(leads, seat))
            clauses.append(
                say(
                    "shares the lead in the district of {size} with {others}, {n:level|levels} each",
                    others=others,
                    **gaps,
                )
            )
        elif leads:
            clauses.append(_led_by(leads, seat, token["size"]))
        else:
            clauses.append(say("nobody leads the district of {size}", size=token["size"]))
    return clauses


def _led_by(leads: Sequence[int], seat: int, size: int) -> str:
    who = listed(_owners(leads, seat))
    if len(leads) == 1 and leads != [board.NEUTRAL]:
        return say("{who} leads the district of {size}", who=who, size=size)
    return say("{who} lead the district of {size}", who=who, size=size)


def _owners(seats: Iterable[int], but: int) -> list[str]:
    return [
        say("the neutral temples") if seat == board.NEUTRAL else say("seat {seat}", seat=seat)
        for seat in seats
        if seat != but
    ]


def _gains(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return the changes in the points of a scoring now."""
    states = [state for fields in (before, after) if (state := try_parse(parse_position, fields))]
    if len(states) < 2:
        return []
    old, new = map(scoring_now, states)
    gains = [now - then for now, then in zip(new, old, strict=True)]
    return [_gain(other, seat, new[other], f"{gain:+}") for other, gain in enumerate(gains) if gain]


def _gain(other: int, seat: int, points: int, gain: str) -> str:
    if other == seat:
        return say("a scoring now would bring it {points} ({gain})", points=points, gain=gain)
    return say("a scoring now would bring seat {seat} {points} ({gain})", seat=other, points=points, gain=gain)

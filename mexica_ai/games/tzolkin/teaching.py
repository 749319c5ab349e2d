"""Learning Tzolk'in: words for calendar, gears, temples, tracks, tiles and seats."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

from mexica_ai.game.contract import Fields, Teaching
from mexica_ai.game.phrases import Phrase, phrase, seat_phrase
from mexica_ai.games.tzolkin import facts, phrases, sheet
from mexica_ai.games.tzolkin.facts import BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS
from mexica_ai.games.tzolkin.render import feeding_cost
from mexica_ai.io.json_types import JsonObject

_LEGEND = (
    "letters", "calendar", "teeth", "start", "gear", "sign", "idle", "left", "any", "tech", "build", "buildc", "step",
    "skull_action", "temple", "leader", "track", "tile", "monument", "stock", "workers", "feeding", "outlook", "light",
)  # fmt: skip


def hints(fields: Fields) -> dict[str, Phrase]:
    """Return words for the whole picture; see `Teaching.hints`."""
    found = _calendar(fields)
    for gear in GEARS:
        found |= _gear(fields, gear)
    for temple, temple_facts in TEMPLES.items():
        first, last = temple_facts["leader"]
        found[f"temple:{temple}"] = phrase("hint.temple", temple=phrases.temple(temple))
        found[f"leader:{temple}"] = phrase("hint.leader", temple=phrases.temple(temple), first=first, last=last)
    found |= {f"track:{track}": phrase(f"hint.track.{track}", track=phrases.track(track)) for track in TRACKS}
    for name in fields["display"]["buildings"]:
        cost = phrases.materials(BUILDINGS[name]["cost"])
        found[f"tile:{name}"] = phrase("hint.building", tile=phrases.building(name), cost=cost)
    for name in fields["display"]["monuments"]:
        cost = phrases.materials(MONUMENTS[name]["cost"])
        found[f"tile:{name}"] = phrase("hint.monument", tile=phrases.monument(name, fields["players"]), cost=cost)
    for seat, own in enumerate(fields["seats"]):
        found |= _seat(seat, own, fields)
    return found


def _calendar(fields: Fields) -> dict[str, Phrase]:
    found = {}
    for day in range(1, facts.LAST_DAY + 1):
        number = bisect_left(facts.FOOD_DAYS, day)  # of the food day that comes next
        if day != facts.FOOD_DAYS[number]:
            found[f"day:{day}"] = phrase("hint.day", day=day, last=facts.LAST_DAY, next=facts.FOOD_DAYS[number])
        else:
            found[f"day:{day}"] = phrase(f"hint.day.{'held' if number < fields['food_days'] else number % 2}", day=day)
    found["deck"] = phrase("hint.deck", number=facts.deck(fields).total(), age=facts.age(fields["food_days"]))
    found["teeth"] = phrase("hint.teeth", number=fields["teeth_corn"])
    found["starts"] = phrase("hint.starts", seat=seat_phrase(fields["start_player"]))
    user = fields["start_space"]
    found["place:start"] = phrase("hint.start") if user is None else phrase("hint.start_taken", seat=seat_phrase(user))
    return found


def _gear(fields: Fields, gear: str) -> dict[str, Phrase]:
    name = phrases.gear(gear)
    found = {f"place:{gear}": phrase("hint.gear", gear=name)}
    last = GEARS[gear]["last_action"]
    for space in range(1, last + 1):
        action = phrases.gear_action(gear, space)
        key = "hint.full" if phrases.is_full(fields, gear, space) else "hint.action"
        if gear == "palenque" and 2 <= space <= facts.NUM_FIELDS + 1:
            corn, wood = (fields["fields"][kind][space - 2] for kind in ("corn", "wood"))
            words_of_field = phrase("hint.field", gear=name, space=space, action=action, corn=corn, wood=wood)
            found[f"use:{gear}:{space}"] = words_of_field
        else:
            found[f"use:{gear}:{space}"] = phrase(key, gear=name, space=space, action=action)
    for space, owner in enumerate(fields["gears"][gear]):
        if owner == facts.IDLE:
            found[f"worker:{gear}:{space}"] = phrase("hint.idle", gear=name, space=space)
        elif owner != facts.FREE and space <= last:
            whose, key = seat_phrase(int(owner)), _worker_key(fields, int(owner), gear, space)
            found[f"worker:{gear}:{space}"] = phrase(key, seat=whose, gear=name, space=space)
    return found


def _worker_key(fields: Fields, seat: int, gear: str, space: int) -> str:
    """Return the key of what a worker can do if it is picked up now; theology reaches one action ahead."""
    theology = fields["seats"][seat]["technologies"]["theology"]
    reach = space + (gear == facts.CHICHEN and theology > 0)
    if reach >= GEARS[gear]["free_choice_from"]:
        return "hint.worker_any"
    if reach > space:
        return "hint.worker_ahead" if space else "hint.worker_first"
    return "hint.worker" if space else "hint.worker_none"


def _seat(seat: int, own: JsonObject, fields: Fields) -> dict[str, Phrase]:
    whose = seat_phrase(seat)
    found = {
        f"points:{seat}": phrase("hint.points", seat=whose, points=own["score"]),
        f"workers:{seat}": phrase(
            "hint.workers", seat=whose, number=own["workers"], out=facts.workers_out(fields, seat)
        ),
    }
    for kind in (*facts.STOCKS, "skull"):
        number = own["skulls"] if kind == "skull" else own[kind]
        amount = phrases.materials({kind: number})
        found[f"stock:{seat}:{kind}"] = phrase(f"hint.stock.{kind}", seat=whose, amount=amount)
    light = phrase("hint.light" if own["light"] else "hint.no_light", seat=whose)
    if fields["phase"] in ("keep", "over"):  # before the tiles are shown, and after the last food day
        found[f"feeding:{seat}"] = light
    else:
        cost = feeding_cost(own)
        short = max(0, cost - own["corn"])
        food = phrase("hint.feeding", seat=whose, cost=cost, short=short)
        found[f"feeding:{seat}"] = phrase("two", one=food, two=light)
    found[f"outlook:{seat}"] = phrase("hint.outlook", seat=whose)
    for key in ("dealt", "wealth"):
        if tiles := [phrases.wealth(name) for name in own[key] if name != facts.HIDDEN]:
            found[f"{key}:{seat}"] = phrase(f"hint.{key}", seat=whose, tiles=tiles)
        elif own[key]:
            found[f"{key}:{seat}"] = phrase("hint.hidden", seat=whose)
    for name in set(own["dealt"]) - {facts.HIDDEN}:
        found[f"dealt:{seat}:{name}"] = phrase("hint.dealt_tile", seat=whose, tile=phrases.wealth(name))
    if built := [*own["buildings"], *own["monuments"]]:
        found[f"built:{seat}"] = phrase("hint.built_number", seat=whose, number=len(built))
    for name in own["buildings"]:
        found[f"built:{seat}:{name}"] = phrase("hint.built", seat=whose, tile=phrases.building(name))
    for name in own["monuments"]:
        tile = phrases.monument(name, fields["players"])
        points = sheet.monument_points(fields, seat, name)
        found[f"built:{seat}:{name}"] = phrase("hint.built_monument", seat=whose, tile=tile, points=points)
    return found


TEACHING = Teaching(Path(__file__).with_name("texts"), _LEGEND, hints, sheet.score_sheet, sheet.projected)

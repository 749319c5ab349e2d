"""Why an action of Tzolk'in is not legal, in words.

A reason is a fact of the position that the rules forbid; the compiled rules alone decide what is legal. Where corn or
blocks are missing, the rules are asked how much would be enough.
"""

from __future__ import annotations

from collections.abc import Callable

from mexica_ai.game.messages import say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.tzolkin import facts
from mexica_ai.games.tzolkin.facts import ANY_FIELD, PLACES, START, STOCKS
from mexica_ai.io.json_types import JsonObject

_MOST = 30  # corn or blocks, in the positions that are tried


def why_illegal(data: JsonObject, action: str, is_legal: Callable[[JsonObject], bool]) -> str:
    """Return why an action is not legal; see `Reasons.why_illegal`."""
    verb, *operands = action.split()
    seat = data["to_move"]
    if verb != "keep" and data["phase"] == "keep":
        return say("the seats choose their wealth tiles first")
    if data["phase"] == "advance":
        return "" if verb == "advance" else say("seat {seat} advances the calendar first", seat=seat)
    if data["phase"] in ("turn", "placing", "picking"):
        if data["pending"]:
            if verb in _CHOICES:
                return say("the choices that the last action offers come first")
        elif verb in _OFFERED:
            return say("only the action of a worker or of a tile offers it")
    rule = _RULES.get(verb)
    return (rule(data, seat, operands) if rule else "") or _stocks(data, seat, is_legal)


def _place(data: JsonObject, seat: int, operands: list[str]) -> str:
    if data["phase"] == "picking":
        return say("this turn picks workers up; a turn places workers or picks them up, never both")
    if facts.workers_out(data, seat) == data["seats"][seat]["workers"]:
        return say("all workers of seat {seat} are placed", seat=seat)
    (place,) = operands
    if data["last"] and PLACES.index(place) < PLACES.index(data["last"]):
        return say("the workers of a turn are placed in the order {places}", places=", ".join(PLACES))
    if place == START:
        return "" if data["start_space"] is None else say("the start space is taken")
    spaces = facts.GEARS[place]["last_action"] + 1
    return "" if facts.FREE in data["gears"][place][:spaces] else say("no space of {place} is free", place=place)


def _pick(data: JsonObject, seat: int, operands: list[str]) -> str:
    if data["phase"] == "placing":
        return say("this turn places workers; a turn places workers or picks them up, never both")
    gear, space = operands[0], int(operands[1])
    if data["gears"][gear][space] != str(seat):
        return say("seat {seat} has no worker on {gear} {space}", seat=seat, gear=gear, space=space)
    if data["last"]:
        if operands[2:]:
            return say("workers taken without an action come last")
        last, number = data["last"].split()
        if (PLACES.index(gear), space) < (PLACES.index(last), int(number)):
            return say(
                "workers taken without an action are taken in the order {places}, the lower first",
                places=", ".join(PLACES[:-1]),
            )
    return _use_of(data, seat, gear, space, int(operands[2])) if operands[2:] else ""


def _use_of(data: JsonObject, seat: int, gear: str, space: int, action: int) -> str:
    """Return why a worker does not reach an action, or why the action has no effect."""
    own, free_from = data["seats"][seat], facts.GEARS[gear]["free_choice_from"]
    reach = space + (gear == facts.CHICHEN and own["technologies"]["theology"] > 0)
    if reach < free_from and action > reach:
        return (
            say("a worker on {gear} {space} reaches actions up to {reach}", gear=gear, space=space, reach=reach)
            if reach
            else say("a worker on {gear} {space} reaches no action", gear=gear, space=space)
        )
    if gear == facts.CHICHEN:
        if action in data["skulls_placed"]:
            return say("{gear} {action} has its skull", gear=gear, action=action)
        return "" if own["skulls"] else say("seat {seat} has no skull", seat=seat)
    return _no_effect(data, seat, gear, action)


def _no_effect(data: JsonObject, seat: int, gear: str, action: int) -> str:
    """Return why an action of one of the first four gears has no effect, whatever a seat pays (D16)."""
    own, found = data["seats"][seat], facts.GEARS[gear]["actions"][action - 1]
    match found["do"]:
        case "harvest" if not data["fields"]["corn"][action - 2] and own["technologies"]["agriculture"] < ANY_FIELD:
            return say("no tile is left at {gear} {action}", gear=gear, action=action)
        case "gain" if "skull" in found["materials"] and not facts.bank(data):
            return say("the bank has no skull left")
        case "worker" if own["workers"] == facts.MAX_WORKERS:
            return say("all workers of seat {seat} are in play", seat=seat)
        case "climb" if not any(facts.can_climb(data, seat, temple) for temple in facts.TEMPLES):
            return say("seat {seat} can step up in no temple", seat=seat)
    return ""


def _build(data: JsonObject, seat: int, operands: list[str]) -> str:
    tile = operands[0]
    kind = "monuments" if tile in facts.MONUMENTS else "buildings"
    return "" if tile in data["display"][kind] else say("{tile} is not on display", tile=tile)


def _keep(data: JsonObject, seat: int, operands: list[str]) -> str:
    if data["phase"] != "keep":
        return say("the seats have chosen their wealth tiles")
    if facts.HIDDEN in data["seats"][seat]["dealt"]:
        return ""
    for tile in operands:
        if tile not in data["seats"][seat]["dealt"]:
            return say("{tile} was not dealt to seat {seat}", tile=tile, seat=seat)
    return ""


def _climb(data: JsonObject, seat: int, operands: list[str]) -> str:
    for temple in operands:
        if temple in facts.TEMPLES and data["seats"][seat]["temples"][temple] == facts.top_step(temple):
            return say("seat {seat} stands at the top of {temple}", seat=seat, temple=temple)
    return ""


def _beg(data: JsonObject, seat: int, operands: list[str]) -> str:
    if data["phase"] != "turn":
        return say("a seat begs at the beginning of its turn")
    corn = data["seats"][seat]["corn"]
    if corn > facts.BEG_AT_MOST:
        return say(
            "seat {seat} has {corn} corn; a seat begs with {most} at most", seat=seat, corn=corn, most=facts.BEG_AT_MOST
        )
    (temple,) = operands
    return (
        ""
        if data["seats"][seat]["temples"][temple] > facts.LOWEST
        else say("seat {seat} is at the bottom of {temple}", seat=seat, temple=temple)
    )


def _end(data: JsonObject, seat: int, operands: list[str]) -> str:
    return say("a turn places workers or picks them up") if data["phase"] == "turn" else ""


def _stocks(data: JsonObject, seat: int, is_legal: Callable[[JsonObject], bool]) -> str:
    """Return what corn or blocks an action lacks, if that is all."""
    if is_legal(data):
        return ""
    own = data["seats"][seat]

    def with_stocks(**stocks: int) -> bool:
        seats = list(data["seats"])
        seats[seat] = {**own, **stocks}
        return is_legal({**data, "seats": seats})

    plenty = {stock: max(own[stock], _MOST) for stock in STOCKS}
    if not with_stocks(**plenty):
        return ""
    needs = []
    for stock in STOCKS:
        enough = range(own[stock], plenty[stock] + 1)
        least = next(number for number in enough if with_stocks(**{**plenty, stock: number}))
        if least > own[stock]:
            needs.append(
                say(
                    "{number} {stock} (seat {seat} has {has})",
                    number=least,
                    stock=say(stock),
                    seat=seat,
                    has=own[stock],
                )
            )
    return (
        say("it needs {what}", what=listed(needs))
        if needs
        else say("seat {seat} has too little corn or too few blocks", seat=seat)
    )


_CHOICES = ("place", "pick", "beg", "end")  # actions that no other action offers
_OFFERED = ("harvest", "burn", "research", "build", "climb", "take", "sell", "buy", "use", "done")
_RULES = {
    "place": _place,
    "pick": _pick,
    "build": _build,
    "keep": _keep,
    "climb": _climb,
    "beg": _beg,
    "end": _end,
    "advance": lambda *_: say("the seat on the start space chooses after the round, where 2 days are possible"),
}

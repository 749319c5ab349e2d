"""Actions and tiles of Tzolk'in in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mexica_ai.game.contract import Words
from mexica_ai.game.messages import add_messages, noted, say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.io.json_types import JsonObject

_PRICE_OF_USE = 1  # of an action of another gear
_CATEGORIES = {
    "farm": noted("a farm"),
    "tomb": noted("a tomb"),
    "civic": noted("a civic building"),
    "shrine": noted("a shrine"),
}
TILES = (noted("farm"), noted("tomb"), noted("civic"), noted("shrine"))  # in what monuments count
_MATERIALS = (noted("corn"), noted("wood"), noted("stone"), noted("gold"))


def name(word: str) -> str:
    """Return the name of a gear, a temple or a technology, such as ``Chichen Itza``."""
    return word.replace("_", " ").title()


def materials(found: Mapping[str, int]) -> str:
    """Return corn, blocks and skulls in words, such as ``2 corn and 1 gold``."""
    kinds = [kind for kind in (*facts.STOCKS, "skull") if found.get(kind)]
    return listed([material(kind, found[kind]) for kind in kinds])


def material(kind: str, number: int) -> str:
    """Return a number of one material in words, such as ``2 corn``."""
    if kind == "skull":
        return say("{n:skull|skulls}", n=number)
    return say("{number} {material}", number=number, material=say(kind))


def blocks(letters: str) -> str:
    """Return the blocks of an action in words, such as ``2 wood and 1 gold``."""
    return materials({kind: letters.count(letter) for letter, kind in facts.BLOCKS.items()})


def effects(found: Iterable[JsonObject]) -> str:
    """Return what a tile brings in words, such as ``6 corn, a step up in Chaac``."""
    return ", ".join(map(_effect, found))


def _effect(effect: JsonObject) -> str:
    match effect["do"]:
        case "gain":
            return materials(effect["materials"])
        case "temple_up":
            return stepped(effect["steps"], name(effect["temple"]))
        case "temple_up_any":
            return _one_or(noted("a step up of choice"), noted("{number} steps up of choice"), effect["steps"])
        case "research":
            return _one_or(
                noted("an advance in {track}"),
                noted("{number} advances in {track}"),
                effect["steps"],
                track=name(effect["track"]),
            )
        case "research_any":
            return _one_or(noted("an advance of choice"), noted("{number} advances of choice"), effect["steps"])
        case "build":
            return say("another building")
        case "trade":
            return say("a visit to the market")
        case "use":
            return say("an action for {corn} corn", corn=effect["corn"])
        case "feed_discount_per_worker":
            return say("feeding costs {corn} corn less a worker", corn=effect["corn"])
    return render.describe_effects([effect])  # points, a worker, feeding


def stepped(steps: int, temple: str) -> str:
    """Return steps in a temple in words, such as ``a step down in Chaac``."""
    if steps > 0:
        return _one_or(noted("a step up in {temple}"), noted("{number} steps up in {temple}"), steps, temple=temple)
    return _one_or(noted("a step down in {temple}"), noted("{number} steps down in {temple}"), -steps, temple=temple)


def _one_or(one: str, many: str, number: int, **gaps: str) -> str:
    return say(one if number == 1 else many, number=number, **gaps)


def building(tile: str) -> str:
    """Return a building in words, such as ``a farm (feeds 1 worker)``."""
    found = facts.BUILDINGS[tile]
    return f"{say(_CATEGORIES[found['category']])} ({effects(found['effects'])})"


def wealth(tile: str) -> str:
    """Return a wealth tile in words, in quotes."""
    return f'"{effects(facts.WEALTH[tile]["effects"])}"'


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case "keep", [first, second]:
            return say("kept {what}", what=listed([wealth(first), wealth(second)]))
        case "keep", _:
            return say("chose wealth tiles")
        case "place", _:
            return _placed(actions, before, after)
        case "pick", [gear, space]:
            return say("took a worker back from {gear} {space}", gear=name(gear), space=space)
        case ("pick", [gear, _, number]) | ("use", [gear, number]):
            return _used(gear, number, price(actions[0]), before, after)
        case "reveal", _:
            return say("new buildings: {what}", what=listed([building(tile) for tile in words]))
        case "advance", [days]:
            return _one_or(
                noted("moved the calendar on by a day"), noted("moved the calendar on by {number} days"), int(days)
            ) + _food_day(before, after)
        case "end", _:
            return _food_day(before, after).removeprefix(", ")
    return _chosen(verb, words, before, after)


def _chosen(verb: str, words: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return what was chosen at an action of a gear or a tile."""
    gained, paid = _flow(before, after)
    cost = " " + say("for {what}", what=paid) if paid else ""
    match verb, words:
        case "beg", [temple]:
            return say("begged for {what}, a step down in {temple}", what=gained or say("corn"), temple=name(temple))
        case "harvest", _:
            return say("harvested {gained}", gained=gained)
        case "burn", [temple]:
            return say("burned the forest for {gained}, a step down in {temple}", gained=gained, temple=name(temple))
        case "research", [track, *_]:
            level = after["seats"][before["to_move"]]["technologies"][track]
            if level == before["seats"][before["to_move"]]["technologies"][track]:
                return say("took the bonus of {track}{cost}", track=name(track), cost=cost)
            return say("advanced {track} to {level}{cost}", track=name(track), level=level, cost=cost)
        case "build", [tile, *_]:
            if tile in facts.BUILDINGS:
                return say("built {building}", building=building(tile))
            scoring = facts.MONUMENTS[tile]["scoring"]
            return say("built a monument ({scoring})", scoring=render.describe_scoring(scoring, before["players"]))
        case "climb", _:
            return say(
                "stepped up in {temples}{cost}",
                temples=listed([name(word) for word in words if word in facts.TEMPLES]),
                cost=cost,
            )
        case "take", [letters]:
            return say("took {blocks}", blocks=blocks(letters))
        case "sell", [letter, number]:
            return say(
                "sold {number} {blocks} for {gained}", number=number, blocks=say(facts.BLOCKS[letter]), gained=gained
            )
        case "buy", [letter, number]:
            return say("bought {number} {blocks}{cost}", number=number, blocks=say(facts.BLOCKS[letter]), cost=cost)
    return ""


def _stock(fields: JsonObject, seat: int) -> dict[str, int]:
    own = fields["seats"][seat]
    return {**{kind: own[kind] for kind in facts.STOCKS}, "skull": own["skulls"]}


def price(action: str) -> int:
    """Return the corn that a worker pays for an action below the one that it stands on."""
    match action.split():
        case ["pick", facts.CHICHEN, *_]:
            return 0  # theology also allows the action above, and says itself what it costs
        case ["pick", gear, space, number] if int(space) < facts.GEARS[gear]["free_choice_from"]:
            return int(space) - int(number)
        case ["use", _, _]:
            return _PRICE_OF_USE
    return 0


def _flow(before: JsonObject, after: JsonObject, price: int = 0) -> tuple[str, str]:
    """Return what the seat to move has gained and what it has paid, in words; "" for nothing.

    `price` is corn that it has paid in any case, even if it has gained more.
    """
    seat = before["to_move"]
    old, new = _stock(before, seat), _stock(after, seat)
    change = {kind: new[kind] - old[kind] for kind in new}
    change["corn"] += price
    gained = {kind: number for kind, number in change.items() if number > 0}
    paid = {kind: -number for kind, number in change.items() if number < 0}
    if price:
        paid["corn"] = paid.get("corn", 0) + price
    return materials(gained) if gained else "", materials(paid) if paid else ""


def _placed(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    seat = str(before["to_move"])
    places = []
    for gear in dict.fromkeys(action.split()[1] for action in actions):
        if gear == facts.START:
            places.append(say("the start space"))
            continue
        pairs = enumerate(zip(before["gears"][gear], after["gears"][gear], strict=True))
        spaces = [str(space) for space, (old, new) in pairs if new == seat != old]
        places.append(f"{name(gear)} {listed(spaces)}")
    _, paid = _flow(before, after)
    cost = " " + say("for {what}", what=paid) if paid else ""
    return say("placed on {places}{cost}", places=listed(places), cost=cost)


def _used(gear: str, number: str, price: int, before: JsonObject, after: JsonObject) -> str:
    """Return the use of an action of a gear, with what it has brought at once."""
    seat = before["to_move"]
    where = f"{name(gear)} {number}"
    gained, paid = _flow(before, after, price)
    if gear == facts.CHICHEN:
        price = before["seats"][seat]["corn"] - after["seats"][seat]["corn"]
        cost = " " + say("for {what}", what=material("corn", price)) if price else ""
        temple = facts.GEARS[gear]["actions"][int(number) - 1]["temple"]
        steps = after["seats"][seat]["temples"][temple] - before["seats"][seat]["temples"][temple]
        placed = say("placed a skull on {where}{cost}", where=where, cost=cost)
        return f"{placed}, {stepped(steps, name(temple))}" if steps else placed  # none where the top step is taken
    cost = " " + say("for {what}", what=paid) if paid else ""
    if after["seats"][seat]["workers"] > before["seats"][seat]["workers"]:
        gained = listed([one for one in (say("a worker"), gained) if one])
    if gained:
        return say("took {what}{cost} from {where}", what=gained, cost=cost, where=where)
    return say("used {where}{cost}", where=where, cost=cost)


def _food_day(before: JsonObject, after: JsonObject) -> str:
    if after["phase"] == "over":
        return ", " + say("the last food day")
    return ", " + say("food day") if after["food_days"] > before["food_days"] else ""


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    return actions[0].split()[0] == following.split()[0] == "place"


def round_of(fields: JsonObject) -> str:
    """Return the caption of a round; see `Words.round_of`."""
    return say("Start") if fields["phase"] == "keep" else say("Day {day}", day=fields["day"])


add_messages(Path(__file__).with_name("messages"))
WORDS = Words(tell, joins, round_of)

"""Actions and tiles of Tzolk'in in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mexica_ai.game.contract import Words
from mexica_ai.game.text_forms import count, listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.io.json_types import JsonObject

_PRICE_OF_USE = 1  # of an action of another gear
_CATEGORIES = {"farm": "a farm", "tomb": "a tomb", "civic": "a civic building", "shrine": "a shrine"}


def name(word: str) -> str:
    """Return the name of a gear, a temple or a technology, such as ``Chichen Itza``."""
    return word.replace("_", " ").title()


def materials(found: Mapping[str, int]) -> str:
    """Return corn, blocks and skulls in words, such as ``2 corn and 1 gold``."""
    kinds = [kind for kind in (*facts.STOCKS, "skull") if found.get(kind)]
    return listed([count(found[kind], kind, "skulls" if kind == "skull" else kind) for kind in kinds])


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
            return f"{_number(effect['steps'], 'step')} up in {name(effect['temple'])}"
        case "temple_up_any":
            return f"{_number(effect['steps'], 'step')} up of choice"
        case "research":
            return f"{_number(effect['steps'], 'advance')} in {name(effect['track'])}"
        case "research_any":
            return f"{_number(effect['steps'], 'advance')} of choice"
        case "build":
            return "another building"
        case "trade":
            return "a visit to the market"
        case "use":
            return f"an action for {effect['corn']} corn"
        case "feed_discount_per_worker":
            return f"feeding costs {effect['corn']} corn less a worker"
    return render.describe_effects([effect])  # points, a worker, feeding


def _number(number: int, noun: str) -> str:
    return f"{'an' if noun[0] == 'a' else 'a'} {noun}" if number == 1 else f"{number} {noun}s"


def building(tile: str) -> str:
    """Return a building in words, such as ``a farm (feeds 1 worker)``."""
    found = facts.BUILDINGS[tile]
    return f"{_CATEGORIES[found['category']]} ({effects(found['effects'])})"


def wealth(tile: str) -> str:
    """Return a wealth tile in words, in quotes."""
    return f'"{effects(facts.WEALTH[tile]["effects"])}"'


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case "keep", [first, second]:
            return f"kept {wealth(first)} and {wealth(second)}"
        case "keep", _:
            return "chose wealth tiles"
        case "place", _:
            return _placed(actions, before, after)
        case "pick", [gear, space]:
            return f"took a worker back from {name(gear)} {space}"
        case ("pick", [gear, _, number]) | ("use", [gear, number]):
            return _used(gear, number, price(actions[0]), before, after)
        case "reveal", _:
            return f"new buildings: {listed([building(tile) for tile in words])}"
        case "advance", [days]:
            return f"moved the calendar on by {'a day' if days == '1' else f'{days} days'}" + _food_day(before, after)
        case "end", _:
            return _food_day(before, after).removeprefix(", ")
    return _chosen(verb, words, before, after)


def _chosen(verb: str, words: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return what was chosen at an action of a gear or a tile."""
    gained, paid = _flow(before, after)
    cost = f" for {paid}" if paid else ""
    match verb, words:
        case "beg", [temple]:
            return f"begged for {gained or 'corn'}, a step down in {name(temple)}"
        case "harvest", _:
            return f"harvested {gained}"
        case "burn", [temple]:
            return f"burned the forest for {gained}, a step down in {name(temple)}"
        case "research", [track, *_]:
            level = after["seats"][before["to_move"]]["technologies"][track]
            return f"advanced {name(track)} to {level}{cost}"
        case "build", [tile, *_]:
            if tile in facts.BUILDINGS:
                return f"built {building(tile)}"
            scoring = facts.MONUMENTS[tile]["scoring"]
            return f"built a monument ({render.describe_scoring(scoring, before['players'])})"
        case "climb", _:
            return f"stepped up in {listed([name(word) for word in words if word in facts.TEMPLES])}{cost}"
        case "take", [letters]:
            return f"took {blocks(letters)}"
        case "sell", [letter, number]:
            return f"sold {number} {facts.BLOCKS[letter]} for {gained}"
        case "buy", [letter, number]:
            return f"bought {number} {facts.BLOCKS[letter]}{cost}"
    return ""


def _stock(fields: JsonObject, seat: int) -> dict[str, int]:
    own = fields["seats"][seat]
    return {**{kind: own[kind] for kind in facts.STOCKS}, "skull": own["skulls"]}


def price(action: str) -> int:
    """Return the corn that a worker pays for an action below the one that it stands on."""
    match action.split():
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
            places.append("the start space")
            continue
        pairs = enumerate(zip(before["gears"][gear], after["gears"][gear], strict=True))
        spaces = [str(space) for space, (old, new) in pairs if new == seat != old]
        places.append(f"{name(gear)} {listed(spaces)}")
    _, paid = _flow(before, after)
    return f"placed on {listed(places)}" + (f" for {paid}" if paid else "")


def _used(gear: str, number: str, price: int, before: JsonObject, after: JsonObject) -> str:
    """Return the use of an action of a gear, with what it has brought at once."""
    seat = before["to_move"]
    where = f"{name(gear)} {number}"
    gained, paid = _flow(before, after, price)
    if gear == facts.CHICHEN:
        cost = f" for {price} corn" if price else ""
        temple = facts.GEARS[gear]["actions"][int(number) - 1]["temple"]
        return f"placed a skull on {where}{cost}, a step up in {name(temple)}"
    cost = f" for {paid}" if paid else ""
    if after["seats"][seat]["workers"] > before["seats"][seat]["workers"]:
        gained = listed([one for one in ("a worker", gained) if one])
    if gained:
        return f"took {gained}{cost} from {where}"
    return f"used {where}{cost}"


def _food_day(before: JsonObject, after: JsonObject) -> str:
    if after["phase"] == "over":
        return ", the last food day"
    return ", food day" if after["food_days"] > before["food_days"] else ""


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    return actions[0].split()[0] == following.split()[0] == "place"


def round_of(fields: JsonObject) -> str:
    """Return the caption of a round; see `Words.round_of`."""
    return "Start" if fields["phase"] == "keep" else f"Day {fields['day']}"


WORDS = Words(tell, joins, round_of)

"""Entering actions of Tzolk'in on its picture."""

from __future__ import annotations

from mexica_ai.game.entry import Entry, Kind, Target, Tool, choice
from mexica_ai.game.messages import say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.io.json_types import JsonObject

TOOLS = (
    Tool("keep", "k", "Keep two tiles", any_order=True),
    Tool("place", "p", "Place a worker"),
    Tool("pick", "u", "Pick up a worker"),
    Tool("beg", "b", "Beg for corn"),
    Tool("harvest", "h", "Harvest"),
    Tool("burn", "f", "Burn the forest"),
    Tool("research", "r", "Advance a technology"),
    Tool("build", "i", "Build"),
    Tool("climb", "c", "Step up in a temple"),
    Tool("take", "t", "Take"),
    Tool("trade", "m", "Trade"),
    Tool("use", "a", "Use an action"),
    Tool("advance", "v", "Advance the calendar"),
    Tool("done", "d", "No more"),
    Tool("end", "e", "End the turn"),
)


def entry(action: str, fields: JsonObject) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    verb, *words = action.split()
    match verb, words:
        case "keep", _:
            return Entry("keep", tuple(_dealt(fields["to_move"], tile) for tile in words))
        case "place", [place]:
            return Entry("place", (Target(f"place:{place}", Kind.GEAR, place),))
        case "pick", [gear, space, number]:
            return Entry("pick", (_worker(gear, space), _gear_action(gear, number)))
        case "pick", [gear, space]:
            return Entry("pick", (_worker(gear, space), choice(say("no action"))))
        case (("beg" | "burn"), [temple]):
            return Entry(verb, (_temple(temple),))
        case "research", [track, *payment]:
            paid = choice(_blocks(payment[0]) if payment else say("without blocks"), " ".join(payment))
            return Entry("research", (Target(f"track:{track}", Kind.TECHNOLOGY, track), paid))
        case "build", [tile, *how]:
            return Entry("build", (Target(f"tile:{tile}", Kind.TILE, tile), choice(_way(how), " ".join(how))))
        case "climb", _:
            temples = [_temple(word) for word in words if word in facts.TEMPLES]
            payment = [word for word in words if word not in facts.TEMPLES]
            terms = say("paid with {blocks}", blocks=_blocks(payment[0])) if payment else say("without blocks")
            terms = terms if len(temples) == 1 else say("both, {terms}", terms=terms)
            return Entry("climb", (*temples, choice(terms, " ".join(payment))))
        case (("take" | "harvest"), [what]):
            return Entry(verb, (choice(what if verb == "harvest" else _blocks(what), what),))
        case (("sell" | "buy"), [block, number]):
            return Entry(
                "trade",
                (
                    choice(
                        say(
                            "sell {number} {block}" if verb == "sell" else "buy {number} {block}",
                            number=number,
                            block=say(facts.BLOCKS[block]),
                        ),
                        f"{block} {number}",
                    ),
                ),
            )
        case "use", [gear, number]:
            return Entry("use", (_gear_action(gear, number),))
        case "advance", [days]:
            return Entry("advance", (choice(say("{n:day|days}", n=int(days)), days),))
    return Entry(verb, tuple(choice(word, word) for word in words))


def _worker(gear: str, space: str) -> Target:
    return Target(f"worker:{gear}:{space}", Kind.TOOTH, f"{gear} {space}")


def _gear_action(gear: str, number: str) -> Target:
    return Target(f"use:{gear}:{number}", Kind.GEAR_ACTION, f"{gear} {number}")


def _temple(name: str) -> Target:
    return Target(f"temple:{name}", Kind.TEMPLE, name)


def _blocks(letters: str) -> str:
    return listed([say(facts.BLOCKS[letter]) for letter in letters])


def _dealt(seat: int, tile: str) -> Target:
    return Target(f"dealt:{seat}:{tile}", Kind.TILE, tile, seat)


def _way(how: list[str]) -> str:
    """Return how a building is paid: architecture, and the block that it saves."""
    match how:
        case ["arch", block]:
            return say("architecture saves {block}", block=say(facts.BLOCKS[block]))
        case ["arch"]:
            return say("with architecture")
        case []:
            return say("as its cost says")
    return say("paid with {blocks}", blocks=" ".join(how))


def describe(fields: JsonObject) -> dict[str, str]:
    """Return what lies on the targets of the picture, in words; see `Picture.describe_targets`."""
    found = {"place:start": say("start space")}
    if fields["start_space"] is not None:
        found["place:start"] += ", " + say("worker of seat {seat}", seat=fields["start_space"])
    for gear, places in fields["gears"].items():
        name = gear.replace("_", " ").title()
        found[f"place:{gear}"] = name
        signs = render.pictures(fields, gear)
        for space, owner in enumerate(places):
            free = say("free") if space <= facts.GEARS[gear]["last_action"] else say("past the last action")
            who = {facts.FREE: free, facts.IDLE: say("an idle worker")}.get(
                owner, say("worker of seat {seat}", seat=owner)
            )
            found[f"worker:{gear}:{space}"] = say("{gear}, space {space}, {who}", gear=name, space=space, who=who)
            if 1 <= space <= facts.GEARS[gear]["last_action"]:
                found[f"use:{gear}:{space}"] = say(
                    "{gear}, action {space}, {sign}", gear=name, space=space, sign=signs[space]
                )
    for kind, names, key in (("temple", facts.TEMPLES, "temples"), ("track", facts.TRACKS, "technologies")):
        for name in names:
            steps = [
                say("seat {seat} at {step}", seat=seat, step=own[key][name]) for seat, own in enumerate(fields["seats"])
            ]
            found[f"{kind}:{name}"] = f"{name.capitalize()}, {', '.join(steps)}"
    for seat, own in enumerate(fields["seats"]):
        for name in own["dealt"] if fields["phase"] == "keep" else ():
            if name != facts.HIDDEN:
                words = render.describe_effects(facts.WEALTH[name]["effects"])
                found[f"dealt:{seat}:{name}"] = say("seat {seat}, wealth tile, {words}", seat=seat, words=words)
    for name in fields["display"]["buildings"]:
        tile = facts.BUILDINGS[name]
        found[f"tile:{name}"] = _tile(say("building"), name, tile, render.describe_effects(tile["effects"]))
    for name in fields["display"]["monuments"]:
        tile = facts.MONUMENTS[name]
        words = render.describe_scoring(tile["scoring"], fields["players"])
        found[f"tile:{name}"] = _tile(say("monument"), name, tile, words)
    return found


def _tile(kind: str, name: str, tile: JsonObject, words: str) -> str:
    title = name.partition("_")[2].replace("_", " ")
    return say(
        "{kind} {title}, costs {cost}, {words}", kind=kind, title=title, cost=render.spell(tile["cost"]), words=words
    )

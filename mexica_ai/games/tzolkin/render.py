"""Tzolk'in as text: calendar, gears, temples, tracks, open tiles, then what each seat has. 80 columns.

`render` is the main function. `describe_effects` and `describe_scoring` say in words what a tile
brings.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from cext.core.contract.game import State
from cext.games.tzolkin.ops import state_to_fields
from mexica_ai.game.messages import noted, say
from mexica_ai.game.text_forms import COLUMNS, count, viewer_name, wrap_entries
from mexica_ai.games.tzolkin import facts
from mexica_ai.games.tzolkin.facts import BLOCKS, BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.games.tzolkin.notation import format_fields
from mexica_ai.io.json_types import JsonObject

LABEL = 14  # columns before the spaces of a gear
SEAT_MARKS = "▲●■◆"
LETTERS = {kind: letter for letter, kind in BLOCKS.items()} | {"corn": "c", "skull": "k"}

LEGEND = (
    "  c corn  W wood  S stone  G gold  k skull    f food day held, F to come\n"
    "  gears: actions, what they bring, workers, i idle | idle ones on their way back\n"
    "  tech an advance  build2 or a monument  buildc for corn  step 2 for a block\n"
    "  4C a skull for 4 points and a step in Chaac, Q, K the others, + a block\n"
    "  temples: step | points and reward | seats; who leads gets 6/2 on day 14/27"
)

FULL = "full"  # an action of Chichen Itza that has its skull
_DOES = {
    "keep": "chooses two of its wealth tiles",
    "turn": "to move",
    "placing": "is placing workers",
    "picking": "is taking workers back",
    "advance": "advances the calendar, by one day or two",
}
# What the actions of gears are called on the board where a picture of the facts is not enough.
_ACTIONS = {"trade": "trade", "worker": "worker", "use": "any 1c"}
_DECISIONS = {
    "harvest": noted("harvest at Palenque {what}"),
    "research one": noted("an advance for blocks"),
    "research two": noted("one or two advances for blocks"),
    "research more": noted("perhaps a second advance for blocks"),
    "research free one": noted("a free advance"),
    "research free two": noted("two free advances"),
    "build one": noted("a building"),
    "build two": noted("one or two buildings, or a monument"),
    "build corn": noted("a building paid with corn"),
    "build second": noted("perhaps a second building, with architecture"),
    "build second plain": noted("perhaps a second building, without architecture"),
    "build more": noted("perhaps a building"),
    "climb one": noted("a step up"),
    "climb two": noted("a step up in two temples for a block"),
    "climb more": noted("perhaps a step up for a block"),
    "take": noted("{what} blocks of choice"),
    "trade": noted("trade at the market"),
    "trade more": noted("perhaps trade at the market"),
    "use one": noted("an action of one of the first four gears for a corn"),
    "use more": noted("perhaps an action of a gear for a corn"),
}
TRACK_WORDS = {
    "agriculture": ("+1c harvest", "+1c fish, any", "+2c harvest", "step"),
    "extraction": ("+1 W", "+1 S", "+1 G", "2 blocks"),
    "architecture": ("+1c a tile", "+2 points", "-1 block", "3 points"),
    "theology": ("one ahead", "block: a step", "+1 k", "skull"),
}


def render(state: State) -> str:
    """Return a state as text that a person can read quickly."""
    data = format_fields(state_to_fields(state))
    winners = [seat for seat, share in enumerate(state.returns()) if share] if state.is_terminal else []
    blocks = [_heading(data, winners), _calendar(data), _gears(data), _ladders(data), _tracks(data), _display(data)]
    blocks += [_seat(data, number, seat) for number, seat in enumerate(data["seats"])]
    return "\n\n".join([*blocks, LEGEND])


# --- words


def _marked(number: int) -> str:
    """Return a seat with its mark."""
    return f"{SEAT_MARKS[number]} seat {number}"


def _marks(numbers: Iterable[int]) -> str:
    return "".join(SEAT_MARKS[number] for number in numbers)


def spell(materials: Mapping[str, int]) -> str:
    """Return materials as letters, corn as a number before its letter: ``2c GS``."""
    corn = [f"{materials['corn']}c"] if materials.get("corn") else []
    blocks = "".join(letter * materials.get(kind, 0) for kind, letter in LETTERS.items() if kind != "corn")
    return " ".join([*corn, *([blocks] if blocks else [])])


def _effect(effect: JsonObject) -> str:
    match effect["do"]:
        case "gain":
            return spell(effect["materials"])
        case "points":
            return say("{n:point|points}", n=effect["points"])
        case "worker":
            return say("a worker")
        case "temple_up":
            return f"{effect['temple'].capitalize()} +{effect['steps']}"
        case "temple_up_any":
            return say("a step of choice")
        case "research":
            return f"{effect['track'].capitalize()} +1"
        case "research_any":
            return say("{n:advance|advances} of choice", n=effect["steps"])
        case "build":
            return say("may build")
        case "trade":
            return say("may trade")
        case "use":
            return say("may use an action for 1c")
        case "feed_free_workers":
            return say("feeds {n:worker|workers}", n=effect["workers"])
        case "feed_discount_per_worker":
            return say("feeding costs {corn}c less a worker", corn=effect["corn"])
    raise ValueError(f"unknown effect {effect}")


def describe_effects(effects: Iterable[JsonObject]) -> str:
    """Return what a tile brings in words, such as ``3c, Quetzalcoatl +1``."""
    return ", ".join(map(_effect, effects))


def describe_scoring(scoring: JsonObject, players: int) -> str:
    """Return what a monument counts in words, such as ``4 points a tomb``."""
    points = say("{n:point|points}", n=scoring.get("points", 0))
    match scoring["kind"]:
        case "tiles_of_category":
            return say("{points} a {category}", points=points, category=say(scoring["category"]))
        case "all_tiles":
            return say("{points} a building or monument", points=points)
        case "harvest_tiles":
            return say("{points} a {tile} tile", points=points, tile=say(scoring["tile"]))
        case "monuments_of_all":
            return say("{n:point|points} a monument of any seat", n=scoring["points_by_players"][str(players)])
        case "full_tracks":
            return say("{points} for 1/2/3/4 full tracks", points="/".join(map(str, scoring["points_by_count"][1:])))
        case "levels":
            return say("{points} a level", points=points)
        case "workers":
            by_count = scoring["points_by_count"]
            return say(
                "{points} for {counts} workers", points="/".join(map(str, by_count.values())), counts="/".join(by_count)
            )
        case "temple_points":
            return say("the points of its steps again")
        case "best_temple":
            return say("{points} a step in its best temple", points=points)
        case "skulls_placed":
            return say("{points} a skull in Chichen Itza", points=points)
    raise ValueError(f"unknown scoring {scoring}")


def decision(text: str) -> str:
    """Return a decision that is owed, in words, such as ``a free advance``."""
    if text in _DECISIONS:
        return say(_DECISIONS[text])
    verb, _, rest = text.partition(" ")
    if verb == "trade":
        return say("perhaps go on trading")
    return say("a block of choice") if text == "take 1" else say(_DECISIONS[verb], what=rest)


def _wrap(label: str, entries: Iterable[str]) -> list[str]:
    return wrap_entries(f"    {label:<9} ", entries)


# --- the table


def _heading(data: JsonObject, winners: Sequence[int]) -> str:
    game = f"Tzolk'in, {data['players']} players"
    if data["options"]["whole_points"]:
        game += ", whole points"
    if data["viewer"] is not None:
        game += f", as {viewer_name(data['viewer'])} sees it"
    if data["phase"] == "over":
        verb = "wins" if len(winners) == 1 else "share the win"
        return f"{game}: over\n{' and '.join(map(_marked, winners))} {verb}"
    lines = [f"{game}, day {data['day']}, age {facts.age(data['food_days'])}"]
    lines.append(f"{_marked(data['to_move'])} {_DOES[data['phase']]}")
    if data["placed"]:
        lines[-1] += f", {data['placed']} so far, the last on {data['last']}"
    elif data["last"]:
        lines[-1] += f", the last one without an action, {data['last']}"
    if data["reveal"]:
        lines.append(f"after {count(data['reveal'], 'building')} have come on display")
    if data["pending"]:
        lines += textwrap.wrap(
            f"due: {'; then '.join(map(decision, data['pending']))}", COLUMNS, subsequent_indent="     "
        )
    return "\n".join(lines)


def _calendar(data: JsonObject) -> str:
    """Return the strip of days: gone, today, to come, and the food days."""
    strip = []
    for day in range(1, facts.LAST_DAY + 1):
        is_food = day in facts.FOOD_DAYS
        held = is_food and facts.FOOD_DAYS.index(day) < data["food_days"]
        mark = "=" if day < data["day"] else "."
        strip.append("f" if held else "F" if is_food else mark)
    pointer = " " * (2 * data["day"] - 2) + "^"
    coming = facts.FOOD_DAYS[data["food_days"] :]
    if not coming:
        following = "all food days held"
    elif coming[0] <= data["day"]:
        following = "food day at the end of this round"
    else:
        following = f"food day in {count(coming[0] - data['day'], 'day')}"
    user = "free" if data["start_space"] is None else _marked(data["start_space"])
    return "\n".join(
        [
            f"calendar      {' '.join(strip)}",
            f"              {pointer} day {data['day']}"
            if data["day"] < 20
            else f"              {pointer[:-8]}day {data['day']} ^",
            f"              {following}; {data['teeth_corn']} corn on the teeth",
            f"start space   {user}; the marker is with {_marked(data['start_player'])}",
        ]
    )


def _picture(action: JsonObject) -> str:
    """Return an action of a gear in at most six characters."""
    match action["do"]:
        case "fish":
            return f"{action['corn']}c"
        case "harvest":
            return f"{action['corn']}c" + (f"/{action['wood']}W" if action["wood"] else "")
        case "gain":
            return spell(action["materials"])
        case "research":
            return "tech" if action["advances"] == 1 else "tech 2"
        case "build":
            if action["pay"] == "corn":
                return "buildc"
            return "build" if action["buildings"] == 1 else "build2"
        case "climb":
            return "step 2" if action["temples"] == 2 else f"step{action['corn']}c"
        case "place_skull":
            return f"{action['points']}{action['temple'][0].upper()}" + ("+" if action["take"] else "")
    return _ACTIONS[action["do"]]


def pictures(data: JsonObject, gear: str) -> list[str]:
    """Return what each action of a gear brings, from action 0 on."""
    gear_facts = GEARS[gear]
    found = [""] + [_picture(action) for action in gear_facts["actions"]]
    if gear == facts.CHICHEN:
        for space in data["skulls_placed"]:
            found[space] = FULL
    return found + ["any"] * (gear_facts["last_action"] + 1 - len(found))


def _gears(data: JsonObject) -> str:
    lines: list[str] = []
    for gear, gear_facts in GEARS.items():
        width = 5 if gear == facts.CHICHEN else 7
        last = gear_facts["last_action"]
        signs = pictures(data, gear)
        numbers = [str(space) for space in range(last + 1)]
        rows = {gear: numbers, "": signs}
        if gear == "palenque":
            corn, wood = data["fields"]["corn"], data["fields"]["wood"]
            tiles = [f"{corn[0]}c", *(f"{c}c {w}W" for c, w in zip(corn[1:], wood[1:], strict=True))]
            rows["  tiles left"] = ["", "", *tiles, "", ""]
        rows["  workers"] = [
            SEAT_MARKS[int(place)] if place.isdigit() else place for place in data["gears"][gear][: last + 1]
        ]
        hidden = data["gears"][gear][last + 1 :]
        if lines:
            lines.append("")
        for label, cells in rows.items():
            line = f"{label:<{LABEL}}" + "".join(f"{cell:<{width}}" for cell in cells)
            if label == "  workers":
                line += f"| {hidden}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def _ladders(data: JsonObject) -> str:
    """Return the temples side by side, step by step from the top."""
    column = 20
    heads = [
        f"{temple.capitalize()} {'/'.join(map(str, temple_facts['leader']))}"
        for temple, temple_facts in TEMPLES.items()
    ]
    lines = ["temples".ljust(LABEL) + "".join(f"{head:<{column}}" for head in heads).rstrip()]
    for step in range(max(map(facts.top_step, TEMPLES)), facts.LOWEST - 1, -1):
        cells = []
        for temple, temple_facts in TEMPLES.items():
            index = step - facts.LOWEST
            if index >= len(temple_facts["points"]):
                cells.append(" " * column)
                continue
            reward = LETTERS.get(temple_facts["rewards"][index], " ")
            seats = _marks(number for number, seat in enumerate(data["seats"]) if seat["temples"][temple] == step)
            cells.append(f"|{temple_facts['points'][index]:>3} {reward} | {seats}".ljust(column))
        lines.append((f"{step:>{LABEL - 2}}  " + "".join(cells)).rstrip())
    return "\n".join(lines)


def _tracks(data: JsonObject) -> str:
    lines = [f"{'tracks':<{LABEL}}{'0':<6}{'1':<17}{'2':<17}{'3':<17}bonus"]
    for track in TRACKS:
        *levels, bonus = TRACK_WORDS[track]
        seats = [
            _marks(number for number, seat in enumerate(data["seats"]) if seat["technologies"][track] == level)
            for level in range(facts.TOP_LEVEL + 1)
        ]
        cells = [f"{seats[0]:<6}"]
        cells += [f"{level + (' ' + held if held else ''):<17}" for level, held in zip(levels, seats[1:], strict=True)]
        lines.append(f"{track:<{LABEL}}{''.join(cells)}{bonus}")
    return "\n".join(lines)


def _tile(name: str, tile: JsonObject, text: str) -> list[str]:
    """Return the line of an open tile: its name, kind, cost, and what it brings."""
    return textwrap.wrap(
        f"  {name:<27} {tile['category']:<6} {spell(tile['cost']):<7} {text}",
        COLUMNS,
        subsequent_indent=" " * 45,
    )


def _display(data: JsonObject) -> str:
    left = facts.deck(data).total()
    lines = [f"buildings     age {facts.age(data['food_days'])}, {left} in the deck"]
    for name in data["display"]["buildings"]:
        lines += _tile(name, BUILDINGS[name], describe_effects(BUILDINGS[name]["effects"]))
    lines.append("monuments")
    for name in data["display"]["monuments"]:
        lines += _tile(name, MONUMENTS[name], describe_scoring(MONUMENTS[name]["scoring"], data["players"]))
    return "\n".join(lines)


# --- seats


def _seat(data: JsonObject, number: int, seat: JsonObject) -> str:
    is_moving = number == data["to_move"] and data["phase"] != "over"
    out = facts.workers_out(data, number)
    stocks = [f"{seat[kind]} {kind}" for kind in facts.STOCKS if seat[kind]]
    stocks += [count(seat["skulls"], "skull")] if seat["skulls"] else []
    lines = [
        f"{'>' if is_moving else ' '} {_marked(number)}: {count(seat['score'], 'point')}, "
        f"{count(seat['workers'], 'worker')} ({out} out), "
        f"{'a' if seat['light'] else 'no'} double advance left"
    ]
    lines += _wrap("has", stocks)
    if out:
        lines += _wrap("out", outlook(data, number))
    if data["phase"] not in ("keep", "over"):
        lines += _wrap("feeding", [feeding(seat)])
    tiles = [count(seat[f"{kind}_tiles"], f"{kind} tile") for kind in ("corn", "wood") if seat[f"{kind}_tiles"]]
    if tiles:
        lines += _wrap("harvested", tiles)
    built = [
        f"{name}: {describe_effects(BUILDINGS[name]['effects'])}" if _is_farm(name) else name
        for name in seat["buildings"]
    ]
    built += [f"{name}: {describe_scoring(MONUMENTS[name]['scoring'], data['players'])}" for name in seat["monuments"]]
    if built:
        lines += _wrap("built", built)
    for key in ("dealt", "wealth"):
        if seat[key]:
            lines += _wealth(key, seat[key], in_full=data["phase"] == "keep")
    return "\n".join(lines)


def _is_farm(name: str) -> bool:
    return bool(BUILDINGS[name]["category"] == "farm")


def _wealth(key: str, tiles: Sequence[str], *, in_full: bool) -> list[str]:
    if not in_full or facts.HIDDEN in tiles:
        return _wrap(key, tiles)
    lines: list[str] = []
    for tile in tiles:
        lines += _wrap("" if lines else key, [f"{tile}: {describe_effects(WEALTH[tile]['effects'])}"])
    return lines


def outlook(data: JsonObject, number: int) -> list[str]:
    """Return where a seat's workers stand, and what they can do after how many days."""
    entries = []
    for gear, gear_facts in GEARS.items():
        signs, free = pictures(data, gear), gear_facts["free_choice_from"]
        if gear == facts.CHICHEN and data["seats"][number]["technologies"]["theology"]:
            free -= 1  # the last space reaches the first of free choice
            signs[:free] = [_either(*signs[space : space + 2]) for space in range(free)]
        for space, place in enumerate(data["gears"][gear]):
            if place != str(number):
                continue
            ahead = range(space + 1, free)
            following = next((each for each in ahead if signs[each] != FULL), free)
            coming = [(signs[each], each) for each in (space, following) if each < free and signs[each]]
            coming += [("any", max(space, free)), ("home", gear_facts["last_action"] + 1)]
            days = [f"{what} in {then - space}" if then > space else f"{what} now" for what, then in coming]
            entries.append(f"{gear} {space}: {', '.join(days)}")
    if data["start_space"] == number:
        entries.append("start space")
    return entries


def _either(own: str, ahead: str) -> str:
    """Return the sign of the actions that a worker reaches by theology: its own and the one ahead."""
    return "/".join(sign for sign in (own, ahead) if sign not in ("", FULL)) or FULL


def feeding_cost(seat: JsonObject) -> int:
    """Return the corn that the next food day would take from the seat as it stands."""
    effects = [effect for name in seat["buildings"] for effect in BUILDINGS[name]["effects"]]
    # An editor may show hidden tiles in any phase.
    effects += [effect for name in seat["wealth"] if name != facts.HIDDEN for effect in WEALTH[name]["effects"]]
    free = sum(effect["workers"] for effect in effects if effect["do"] == "feed_free_workers")
    saved = sum(effect["corn"] for effect in effects if effect["do"] == "feed_discount_per_worker")
    cost: int = max(0, facts.CORN_PER_WORKER - saved) * max(0, seat["workers"] - free)
    return cost


def feeding(seat: JsonObject) -> str:
    """Return what the next food day would cost the seat as it stands."""
    cost = feeding_cost(seat)
    short = cost - seat["corn"]
    return f"{cost} corn" + (f", {short} short" if short > 0 else "")

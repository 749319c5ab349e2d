"""All rules of Tzolk'in, written for reading: the yardstick of the compiled rules.

Works on plain JSON positions and action strings such as ``pick tikal 3 2``. Rules are those of the rulebook;
D1-D20 are the project's decisions where it leaves a choice open. It prefers clarity to speed and imports
nothing of the project. What the tiles, temples and actions pay is read from the facts of the package,
``cext/games/tzolkin/facts.json``. Start at `legal_actions` and `apply`; `check` has every invariant.

Functions whose names begin with an underscore and that return nothing change the position they get;
the public ones leave it as it is.
"""

import functools
import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from pathlib import Path

FACTS = json.loads(
    (Path(__file__).parents[2] / "cext" / "games" / "tzolkin" / "facts.json").read_text(encoding="utf-8")
)


def _named(table):
    return {entry["name"]: entry for entry in table}


GEARS, TEMPLES, TRACKS = (_named(FACTS[table]) for table in ("gears", "temples", "tracks"))
WEALTH, BUILDINGS, MONUMENTS = (_named(FACTS[table]) for table in ("wealth", "buildings", "monuments"))
GEAR_ORDER = [*GEARS, "start"]
BLOCKS = {"W": "wood", "S": "stone", "G": "gold"}  # in their order
MATERIALS = ("corn", "wood", "stone", "gold", "skulls")
FOOD_DAYS = [food_day["day"] for food_day in FACTS["calendar"]["food_days"]]
LAST_DAY = FACTS["calendar"]["days"]
AGE_2 = 2  # food days held before the second age
LOWEST, TOP_LEVEL = -1, 3
SKULLS, DISPLAY_SIZE = FACTS["setup"]["skulls"], FACTS["setup"]["display"]
WORKERS_MIN, WORKERS_MAX = FACTS["setup"]["workers_at_start"], FACTS["setup"]["workers_max"]
SURCHARGE = FACTS["placement"]["surcharge"]
BEG_AT_MOST, BEG_TO = FACTS["placement"]["beg_at_most"], FACTS["placement"]["beg_to"]
PRICES = FACTS["market"]
STOCK_MAX = SCORE_MAX = 999
UNKNOWN = "?"

# Every text of a pending decision but those of a visit to the market that goes on.
PENDING = [
    *(f"harvest {action}" for action in (2, 3, 4, 5)),
    "research one", "research two", "research more", "research free one", "research free two",
    "build one", "build two", "build corn", "build second", "build second plain", "build more",
    "climb one", "climb two", "climb more", "take 1", "take 2", "trade", "trade more", "use one", "use more",
]  # fmt: skip
OPTIONAL = ("research more", "build more", "build second", "build second plain", "climb more", "trade more",
            "use more")  # fmt: skip


class InvalidPositionError(ValueError):
    """An invariant is broken; `name` says which, `path` where."""

    def __init__(self, name, path, message=""):
        super().__init__(f"{name} at {path}: {message}")
        self.name, self.path = name, path


# What follows from a position.


def top_step(temple):
    return len(TEMPLES[temple]["points"]) - 1 + LOWEST


def age(p):
    return 1 if p["food_days"] < AGE_2 else 2


def deck(p):
    """Return how often each building is left in the deck of the age."""
    left = Counter({name: tile["copies"] for name, tile in BUILDINGS.items() if tile["age"] == age(p)})
    left.subtract(name for name in p["display"]["buildings"] if name in left)
    left.subtract(name for seat in p["seats"] for name in seat["buildings"] if name in left)
    return +left


def skulls_in_bank(p):
    return SKULLS - len(p["skulls_placed"]) - sum(seat["skulls"] for seat in p["seats"])


def workers_on_gears(p, seat):
    return sum(gear.count(str(seat)) for gear in p["gears"].values())


def workers_out(p, seat):
    return workers_on_gears(p, seat) + (p["start_space"] == seat)


def lowest_free(p, gear):
    """Return the lowest free action of a gear, None where all are taken."""
    space = p["gears"][gear].find(".", 0, GEARS[gear]["last_action"] + 1)
    return None if space < 0 else space


def space_cost(p, gear):
    """Return what the next worker costs there without the surcharge, None where there is no room."""
    if gear == "start":
        return 0 if p["start_space"] is None else None
    return lowest_free(p, gear)


def can_climb(p, seat, temple):
    """Whether one step up is possible: only one seat may stand on the top step."""
    step = p["seats"][seat]["temples"][temple] + 1
    if step < top_step(temple):
        return True
    return step == top_step(temple) and all(other["temples"][temple] != step for other in p["seats"])


def climbable(p):
    return [temple for temple in TEMPLES if can_climb(p, p["to_move"], temple)]


def steps_down(p):
    return [temple for temple in TEMPLES if p["seats"][p["to_move"]]["temples"][temple] > LOWEST]


def held_blocks(seat):
    return [letter for letter, kind in BLOCKS.items() if seat[kind]]


def payments(seat, number):
    """Return every choice of so many blocks that the seat can pay, as text."""
    choices = ("".join(blocks) for blocks in combinations_with_replacement(BLOCKS, number))
    return [text for text in choices if all(text.count(letter) <= seat[BLOCKS[letter]] for letter in BLOCKS)]


def can_double(p, seat):
    """Whether the seat may advance the calendar by two days (D2)."""
    blocking = (p["gears"][gear][facts["last_action"] - 1] for gear, facts in GEARS.items())
    return p["seats"][seat]["light"] and not any(place.isdigit() for place in blocking)


# Legal actions.


def legal_actions(p):
    """Return all legal actions of a position as sorted texts.

    In phase keep the dealt tiles of the seat to move must be known.
    """
    if p["reveal"] or p["phase"] == "over":
        return []
    if p["phase"] == "keep":
        return sorted(f"keep {one} {two}" for one, two in combinations(p["seats"][p["to_move"]]["dealt"], 2))
    if p["phase"] == "advance":
        return ["advance 1", "advance 2"]
    if p["pending"]:
        return sorted(answers(p))
    legal = [] if p["phase"] == "turn" else ["end"]
    if p["phase"] == "turn" and p["seats"][p["to_move"]]["corn"] <= BEG_AT_MOST:
        legal += [f"beg {temple}" for temple in steps_down(p)]
    if p["phase"] in ("turn", "placing"):
        legal += [f"place {gear}" for gear in _places(p)]
    if p["phase"] in ("turn", "picking"):
        legal += _picks(p)
    return sorted(legal)


def _places(p):
    """Return where the seat may put its next worker, gears in board order (D15)."""
    seat = p["seats"][p["to_move"]]
    if workers_out(p, p["to_move"]) == seat["workers"]:
        return []
    surcharge = SURCHARGE[p["placed"] + 1] - SURCHARGE[p["placed"]]
    costs = {gear: space_cost(p, gear) for gear in GEAR_ORDER}
    costs = {gear: cost + surcharge for gear, cost in costs.items() if cost is not None}
    if _mercy(p):
        return [gear for gear, cost in costs.items() if cost == min(costs.values())]
    first = GEAR_ORDER.index(p["last"]) if p["last"] else 0
    return [gear for gear, cost in costs.items() if cost <= seat["corn"] and GEAR_ORDER.index(gear) >= first]


def _mercy(p):
    """Whether the gods have mercy (D5): nothing is possible, not even begging."""
    if p["phase"] != "turn" or workers_out(p, p["to_move"]) or steps_down(p):
        return False
    costs = [space_cost(p, gear) for gear in GEAR_ORDER]
    return p["seats"][p["to_move"]]["corn"] < min(cost for cost in costs if cost is not None)


def _picks(p):
    picks = []
    for gear in GEARS:
        for space, place in enumerate(p["gears"][gear]):
            if place != str(p["to_move"]):
                continue
            if _comes_after(p["last"], gear, space):
                picks.append(f"pick {gear} {space}")
            if not p["last"]:
                costs = _reachable(p, gear, space)
                picks += [
                    f"pick {gear} {space} {action}"
                    for action, cost in costs.items()
                    if _does_something(p, gear, action, cost)
                ]
    return picks


def _comes_after(last, gear, space):
    """Whether a worker may be taken without an action after the last one that was (D15)."""
    if not last:
        return True
    last_gear, last_space = last.split()
    return (GEAR_ORDER.index(last_gear), int(last_space)) < (GEAR_ORDER.index(gear), space)


def _reachable(p, gear, space):
    """Return the actions that a worker there can use, with what reaching them costs in corn."""
    free_from = GEARS[gear]["free_choice_from"]
    ahead = gear == "chichen_itza" and p["seats"][p["to_move"]]["technologies"]["theology"] >= 1
    if space >= free_from or (ahead and space + 1 == free_from):
        return dict.fromkeys(range(1, free_from), 0)
    reachable = {action: space - action for action in range(1, space + 1)}
    if ahead:
        reachable[space + 1] = 0
    return reachable


def _does_something(p, gear, action, corn):
    """Whether an action is possible and has an effect (D16), after so much corn was paid to reach it."""
    seat = p["seats"][p["to_move"]]
    if corn > seat["corn"]:
        return False
    seat["corn"] -= corn
    try:
        return _possible(p, seat, gear, action)
    finally:
        seat["corn"] += corn


def _possible(p, seat, gear, action):
    facts = GEARS[gear]["actions"][action - 1]
    match facts["do"]:
        case "fish":
            return True
        case "gain":
            return "skull" not in facts["materials"] or skulls_in_bank(p) > 0
        case "worker":
            return seat["workers"] < WORKERS_MAX
        case "place_skull":
            return seat["skulls"] > 0 and action not in p["skulls_placed"]
        case "climb":
            if "corn" in facts:
                return seat["corn"] >= facts["corn"] and bool(climbable(p))
            return bool(held_blocks(seat) and climbable(p))
        case _:
            return bool(answers(p, _decision(action, facts)))


def _decision(action, facts):
    """Return the pending decision that an action brings."""
    match facts["do"]:
        case "harvest":
            return f"harvest {action}"
        case "research":
            return "research one" if facts["advances"] == 1 else "research two"
        case "build":
            if facts["pay"] == "corn":
                return "build corn"
            return "build one" if facts["buildings"] == 1 else "build two"
        case "climb":
            return "climb one" if facts["temples"] == 1 else "climb two"
        case "trade":
            return "trade"
        case "use":
            return "use one"
    raise ValueError(f"no decision: {facts}")


def answers(p, decision=None):
    """Return the answers to a pending decision, the first one of the position if none is named."""
    decision = decision or p["pending"][0]
    verb, *rest = decision.split()
    kind = " ".join(rest)
    found = {
        "harvest": _harvests,
        "research": _researches,
        "build": _builds,
        "climb": _climbs,
        "take": _takes,
        "trade": _trades,
        "use": _uses,
    }[verb](p, p["seats"][p["to_move"]], kind)
    optional = decision in OPTIONAL or (verb == "trade" and kind)
    return [*found, "done"] if optional else found


def _harvests(p, seat, kind):
    field = int(kind) - 2
    corn, wood = p["fields"]["corn"][field], p["fields"]["wood"][field]
    found = []
    if corn > wood or seat["technologies"]["agriculture"] >= 2:
        found.append("harvest corn")
    if wood:
        found += ["harvest wood", *(f"burn {temple}" for temple in steps_down(p))]
    return found


def _bonus_does_something(p, track):
    bonus = TRACKS[track]["bonus"]
    if bonus["do"] == "temple_up_any":
        return bool(climbable(p))
    return bonus["do"] != "gain" or skulls_in_bank(p) > 0


def _researches(p, seat, kind):
    found = []
    for track, level in seat["technologies"].items():
        if level == TOP_LEVEL and not _bonus_does_something(p, track):
            continue
        if kind.startswith("free"):
            found.append(f"research {track}")
        else:
            cost = FACTS["research_cost"][level]
            found += [f"research {track} {blocks}" for blocks in payments(seat, cost)]
    return found


def _can_pay(seat, cost, saved=""):
    return all(seat[_stock(kind)] >= number - (kind == BLOCKS.get(saved)) for kind, number in cost.items())


def _stock(kind):
    return "skulls" if kind == "skull" else kind


def _corn_price(cost, level):
    return 2 * sum(cost.values()) - (2 if level == TOP_LEVEL else 0)


def _builds(p, seat, kind):
    level = seat["technologies"]["architecture"]
    found = []
    for name in dict.fromkeys(p["display"]["buildings"]):
        cost = BUILDINGS[name]["cost"]
        if kind == "corn":
            if seat["corn"] >= _corn_price(cost, level):
                found.append(f"build {name} arch" if level else f"build {name}")
            continue
        if (not level or kind in ("two", "second plain")) and _can_pay(seat, cost):
            found.append(f"build {name}")
        if level == TOP_LEVEL and kind != "second plain":
            found += [
                f"build {name} arch {letter}"
                for letter, block in BLOCKS.items()
                if block in cost and _can_pay(seat, cost, letter)
            ]
        elif level and kind != "second plain" and _can_pay(seat, cost):
            found.append(f"build {name} arch")
    if kind == "two":
        found += [f"build {name}" for name in p["display"]["monuments"] if _can_pay(seat, MONUMENTS[name]["cost"])]
    return found


def _climbs(p, seat, kind):
    temples = climbable(p)
    if kind == "one":
        return [f"climb {temple}" for temple in temples]
    if kind == "two" and len(temples) > 1:
        temples = [f"{one} {two}" for one, two in combinations(temples, 2)]
    return [f"climb {temple} {block}" for temple in temples for block in held_blocks(seat)]


def _takes(p, seat, kind):
    return ["take " + "".join(blocks) for blocks in combinations_with_replacement(BLOCKS, int(kind))]


def _trades(p, seat, kind):
    """Sells, then buys, each in the order of the blocks, each kind once (D12)."""
    done = "" if kind == "more" else kind
    sold, bought = [c for c in done if c.islower()], [c for c in done if c.isupper()]
    letters = list(BLOCKS)
    found = []
    for index, letter in enumerate(letters):
        block = BLOCKS[letter]
        if not bought and all(letters.index(other.upper()) < index for other in sold):
            found += [f"sell {letter} {number}" for number in range(1, seat[block] + 1)]
        if letter.lower() not in sold and all(letters.index(other) < index for other in bought):
            found += [f"buy {letter} {number}" for number in range(1, seat["corn"] // PRICES[block] + 1)]
    return found


def _uses(p, seat, kind):
    """Uxmal 5 and a tile: one corn, then an action; never Uxmal 5 again (D19)."""
    return [
        f"use {gear} {action}"
        for gear, facts in GEARS.items()
        if gear != "chichen_itza"
        for action in range(1, facts["free_choice_from"])
        if (gear, action) != ("uxmal", 5) and _does_something(p, gear, action, 1)
    ]


# Applying actions.


def _copied(value):
    """Return a copy of a JSON value, in a third of the time that `copy.deepcopy` takes."""
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


def apply(p, action):
    """Return the position after an action, or after a random event ``reveal ...``."""
    p = _copied(p)
    words = action.split()
    if words[0] == "reveal":
        _reveal(p, words[1:])
        return _sorted(p)
    if action not in legal_actions(p):
        raise ValueError(f"{action}: not legal")
    seat = p["seats"][p["to_move"]]
    match words:
        case ["keep", *tiles]:
            _keep(p, tiles)
        case ["advance", days]:
            _advance(p, int(days))
        case ["beg", temple]:
            seat["corn"] = BEG_TO
            seat["temples"][temple] -= 1
        case ["place", gear]:
            _place(p, gear)
        case ["pick", gear, space, *used]:
            _pick(p, gear, int(space), *map(int, used))
        case ["end"]:
            _end_turn(p)
        case _:
            _answer(p, p["pending"].pop(0), words)
    while p["pending"] and set(answers(p)) <= {"done"}:  # D16
        p["pending"].pop(0)
    return _sorted(p)


def apply_all(p, actions):
    for action in actions:
        p = apply(p, action)
    return p


def _in_order(names, table):
    order = list(table)
    return sorted(names, key=lambda name: -1 if name == UNKNOWN else order.index(name))


def _sorted(p):
    """Return the position with its lists in data order."""
    p["skulls_placed"].sort()
    p["display"]["buildings"] = _in_order(p["display"]["buildings"], BUILDINGS)
    p["display"]["monuments"] = _in_order(p["display"]["monuments"], MONUMENTS)
    for seat in p["seats"]:
        for key, table in (("buildings", BUILDINGS), ("monuments", MONUMENTS), ("wealth", WEALTH), ("dealt", WEALTH)):
            seat[key] = _in_order(seat[key], table)
    return p


def _keep(p, tiles):
    p["seats"][p["to_move"]]["wealth"] = tiles
    p["to_move"] += 1
    if p["to_move"] < p["players"]:
        return
    for number, seat in enumerate(p["seats"]):
        p["to_move"] = number
        seat["dealt"] = []
        for tile in seat["wealth"]:
            _effects(p, WEALTH[tile]["effects"])
    p["drawn"] = []
    p["phase"], p["to_move"] = "turn", p["start_player"]


def _place(p, gear):
    number = p["to_move"]
    seat = p["seats"][number]
    cost = space_cost(p, gear) + SURCHARGE[p["placed"] + 1] - SURCHARGE[p["placed"]]
    seat["corn"] -= min(cost, seat["corn"])  # less only by mercy, which takes all corn
    if gear == "start":
        p["start_space"] = number
    else:
        _set(p, gear, lowest_free(p, gear), str(number))
    p["phase"], p["placed"], p["last"] = "placing", p["placed"] + 1, gear


def _set(p, gear, space, mark):
    places = p["gears"][gear]
    p["gears"][gear] = places[:space] + mark + places[space + 1 :]


def _pick(p, gear, space, action=None):
    seat = p["seats"][p["to_move"]]
    p["phase"] = "picking"
    if action is None:
        _set(p, gear, space, ".")
        p["last"] = f"{gear} {space}"
        return
    seat["corn"] -= _reachable(p, gear, space)[action]
    _set(p, gear, space, ".")
    _use(p, gear, action)


def _use(p, gear, action):
    """Do an action of a gear, or leave the decisions that it brings pending."""
    seat = p["seats"][p["to_move"]]
    technologies = seat["technologies"]
    facts = GEARS[gear]["actions"][action - 1]
    match facts["do"]:
        case "fish":
            seat["corn"] += facts["corn"] + (technologies["agriculture"] >= 2)
        case "gain":
            level_needed = {"wood": 1, "stone": 2, "gold": 3}
            for kind, number in facts["materials"].items():
                track = "theology" if kind == "skull" else "extraction"
                needed = 3 if kind == "skull" else level_needed.get(kind)
                extra = needed is not None and technologies[track] >= needed
                _gain(p, seat, kind, number + extra)
        case "worker":
            seat["workers"] += 1
        case "place_skull":
            seat["skulls"] -= 1
            p["skulls_placed"].append(action)
            seat["score"] += facts["points"]
            _climb(p, facts["temple"])
            new = ["take 1"] if facts["take"] else []
            if technologies["theology"] >= 2:
                new.append("climb more")
            p["pending"] = new + p["pending"]
        case _:
            seat["corn"] -= facts["corn"] if facts["do"] == "climb" and "corn" in facts else 0
            p["pending"].insert(0, _decision(action, facts))


def _gain(p, seat, kind, number):
    if kind == "skull":
        number = min(number, skulls_in_bank(p))
    seat[_stock(kind)] += number


def _climb(p, temple):
    """One step up for the seat to move; wasted where it is not possible (D11)."""
    seat = p["seats"][p["to_move"]]
    if can_climb(p, p["to_move"], temple):
        seat["temples"][temple] += 1
        if seat["temples"][temple] == top_step(temple):
            seat["light"] = True


def _pay_blocks(seat, blocks):
    for letter in blocks:
        seat[BLOCKS[letter]] -= 1


def _answer(p, decision, words):
    seat = p["seats"][p["to_move"]]
    match words:
        case ["done"]:
            pass
        case ["harvest", kind]:
            _harvest(p, int(decision.split()[1]), kind)
        case ["burn", temple]:
            field = int(decision.split()[1])
            p["fields"]["wood"][field - 2] -= 1
            _harvest(p, field, "corn")
            seat["temples"][temple] -= 1
        case ["research", track, *blocks]:
            _pay_blocks(seat, "".join(blocks))
            follow = {"research two": ["research more"], "research free two": ["research free one"]}
            p["pending"] = _advance_track(p, track) + follow.get(decision, []) + p["pending"]
        case ["build", name, *arch]:
            _build(p, decision, name, *arch)
        case ["climb", *temples]:
            if temples[-1] in BLOCKS:
                _pay_blocks(seat, temples.pop())
            for temple in temples:
                _climb(p, temple)
        case ["take", blocks]:
            for letter in blocks:
                seat[BLOCKS[letter]] += 1
        case ["sell" | "buy" as verb, letter, number]:
            sign = 1 if verb == "buy" else -1
            seat[BLOCKS[letter]] += sign * int(number)
            seat["corn"] -= sign * int(number) * PRICES[BLOCKS[letter]]
            done = decision.removeprefix("trade").removesuffix("more").strip()
            p["pending"].insert(0, f"trade {done}{letter if verb == 'buy' else letter.lower()}")
        case ["use", gear, action]:
            seat["corn"] -= 1
            _use(p, gear, int(action))


def _harvest(p, field, kind):
    seat = p["seats"][p["to_move"]]
    facts = GEARS["palenque"]["actions"][field - 1]
    corn, wood = p["fields"]["corn"], p["fields"]["wood"]
    if kind == "wood":
        wood[field - 2] -= 1
        seat["wood_tiles"] += 1
        seat["wood"] += facts["wood"] + (seat["technologies"]["extraction"] >= 1)
        return
    if corn[field - 2] > wood[field - 2]:  # else by agriculture 2, without a tile (D9)
        corn[field - 2] -= 1
        seat["corn_tiles"] += 1
    level = seat["technologies"]["agriculture"]
    seat["corn"] += facts["corn"] + (level >= 1) + 2 * (level == TOP_LEVEL)


def _advance_track(p, track):
    """One advance of the seat to move; returns the decisions that a bonus brings."""
    seat = p["seats"][p["to_move"]]
    if seat["technologies"][track] < TOP_LEVEL:
        seat["technologies"][track] += 1
        return []
    bonus = TRACKS[track]["bonus"]
    match bonus["do"]:
        case "temple_up_any":
            return ["climb one"]
        case "take":
            return [f"take {bonus['count']}"]
        case "points":
            seat["score"] += bonus["points"]
        case "gain":
            for kind, number in bonus["materials"].items():
                _gain(p, seat, kind, number)
    return []


def _build(p, decision, name, arch="", saved=""):
    seat = p["seats"][p["to_move"]]
    level = seat["technologies"]["architecture"] if arch else 0
    if name in MONUMENTS:
        for kind, number in MONUMENTS[name]["cost"].items():
            seat[_stock(kind)] -= number
        p["display"]["monuments"].remove(name)
        seat["monuments"].append(name)
        return
    tile = BUILDINGS[name]
    if decision == "build corn":
        seat["corn"] -= _corn_price(tile["cost"], level)
    else:
        for kind, number in tile["cost"].items():
            seat[kind] -= number - (kind == BLOCKS.get(saved))
    p["display"]["buildings"].remove(name)
    seat["buildings"].append(name)
    seat["corn"] += level >= 1
    seat["score"] += 2 * (level >= 2)
    if decision == "build two":
        p["pending"].insert(0, "build second plain" if arch else "build second")
    p["pending"] = _effects(p, tile["effects"]) + p["pending"]


def _effects(p, effects):
    """Do what a tile brings to the seat to move; returns its decisions in printed order (D11)."""
    seat = p["seats"][p["to_move"]]
    decisions = []
    for effect in effects:
        match effect["do"]:
            case "gain":
                for kind, number in effect["materials"].items():
                    _gain(p, seat, kind, number)
            case "points":
                seat["score"] += effect["points"]
            case "worker":
                seat["workers"] = min(seat["workers"] + 1, WORKERS_MAX)
            case "temple_up":
                for _ in range(effect["steps"]):
                    _climb(p, effect["temple"])
            case "research":
                decisions += _advance_track(p, effect["track"])
            case "temple_up_any":
                decisions.append("climb one")
            case "research_any":
                decisions.append("research free one" if effect["steps"] == 1 else "research free two")
            case "build" | "trade" | "use":
                decisions.append(f"{effect['do']} more")
            case "feed_free_workers" | "feed_discount_per_worker":
                pass  # on food days
            case other:
                raise ValueError(f"unknown effect {other}")
    return decisions


# Ends of turns and rounds.


def _end_turn(p):
    number = p["to_move"]
    if p["start_space"] == number:
        p["seats"][number]["corn"] += p["teeth_corn"]
        p["teeth_corn"] = 0
    p["phase"], p["placed"], p["last"] = "turn", 0, ""
    p["to_move"] = (number + 1) % p["players"]
    if p["to_move"] == p["start_player"]:
        _end_round(p)
    if p["phase"] != "over":
        p["reveal"] = min(DISPLAY_SIZE - len(p["display"]["buildings"]), deck(p).total())


def _end_round(p):
    held = p["food_days"]
    if held < len(FOOD_DAYS) and FOOD_DAYS[held] <= p["day"]:
        _food_day(p)
    user = p["start_space"]
    if p["day"] < LAST_DAY and user is not None and can_double(p, user):
        p["phase"], p["to_move"] = "advance", user
    else:
        _advance(p, 1)


def _food_day(p):
    facts = FACTS["calendar"]["food_days"][p["food_days"]]
    for seat in p["seats"]:
        _feed(seat)
    p["food_days"] += 1
    if p["food_days"] == AGE_2:
        p["display"]["buildings"] = []
    if facts["kind"] == "mid_age":
        _mid_age_rewards(p)
    else:
        for number, points in enumerate(temple_points(p, facts["age"])):
            p["seats"][number]["score"] += points


def _feed(seat):
    effects = [effect for name in seat["buildings"] for effect in BUILDINGS[name]["effects"]]
    effects += [effect for name in seat["wealth"] for effect in WEALTH[name]["effects"]]
    free = sum(effect["workers"] for effect in effects if effect["do"] == "feed_free_workers")
    saved = sum(effect["corn"] for effect in effects if effect["do"] == "feed_discount_per_worker")
    cost = max(0, FACTS["feeding"]["corn_per_worker"] - saved)
    hungry = max(0, seat["workers"] - free)
    fed = min(hungry, seat["corn"] // cost) if cost else hungry
    seat["corn"] -= cost * fed
    seat["score"] += FACTS["feeding"]["points_per_unfed_worker"] * (hungry - fed)


def _mid_age_rewards(p):
    due = [Counter() for _ in p["seats"]]
    for number, seat in enumerate(p["seats"]):
        for temple, step in seat["temples"].items():
            due[number].update(filter(None, TEMPLES[temple]["rewards"][: step - LOWEST + 1]))
    enough = skulls_in_bank(p) >= sum(rewards["skull"] for rewards in due)  # D8
    for seat, rewards in zip(p["seats"], due, strict=True):
        for kind, number in rewards.items():
            if kind != "skull" or enough:
                seat[_stock(kind)] += number


def temple_points(p, of_age):
    """Return what each seat gets from the temples at the end of an age."""
    points = [0] * p["players"]
    for temple, facts in TEMPLES.items():
        steps = [seat["temples"][temple] for seat in p["seats"]]
        leaders = steps.count(max(steps))
        for number, step in enumerate(steps):
            points[number] += facts["points"][step - LOWEST]
            if step == max(steps):
                points[number] += facts["leader"][of_age - 1] // (1 if leaders == 1 else 2)
    return points


def _advance(p, days):
    user = p["start_space"]
    if user is None:
        p["teeth_corn"] += 1
    else:
        p["start_space"] = None
        p["start_player"] = (user + 1) % p["players"] if p["start_player"] == user else user
        p["seats"][user]["light"] = p["seats"][user]["light"] and days == 1
    for gear, facts in GEARS.items():
        for _ in range(days):
            _rotate(p, gear, facts["last_action"])
    over = p["food_days"] == len(FOOD_DAYS)
    p["day"] = min(p["day"] + days, LAST_DAY)
    p["phase"], p["to_move"] = "turn", p["start_player"]
    if over:
        p["phase"], p["to_move"] = "over", 0
        _final_points(p)


def _rotate(p, gear, last_action):
    """Turn a gear by a tooth; a seat's worker after the last action is pushed off."""
    places = p["gears"][gear]
    p["gears"][gear] = places[-1] + places[:-1]
    if p["gears"][gear][last_action + 1].isdigit():
        _set(p, gear, last_action + 1, ".")


def _final_points(p):
    final = FACTS["final"]
    for number, seat in enumerate(p["seats"]):
        corn = seat["corn"] + sum(seat[kind] * price for kind, price in PRICES.items())
        points = Fraction(final["points_per_corn"]) * corn
        if p["options"]["whole_points"]:
            points = Fraction(points.numerator // points.denominator)
        total = seat["score"] + points + final["points_per_skull"] * seat["skulls"]
        total += sum(monument_points(p, number, name) for name in seat["monuments"])
        seat["score"] = int(total) if total.denominator == 1 else float(total)


def monument_points(p, number, name):
    """Return what a monument brings to a seat that has built it."""
    seat, scoring = p["seats"][number], MONUMENTS[name]["scoring"]
    categories = [BUILDINGS[tile]["category"] for tile in seat["buildings"]]
    categories += [MONUMENTS[tile]["category"] for tile in seat["monuments"]]
    levels = list(seat["technologies"].values())
    match scoring["kind"]:
        case "tiles_of_category":
            return scoring["points"] * categories.count(scoring["category"])
        case "all_tiles":
            return scoring["points"] * len(categories)
        case "harvest_tiles":
            return scoring["points"] * seat[f"{scoring['tile']}_tiles"]
        case "monuments_of_all":
            built = sum(len(other["monuments"]) for other in p["seats"])
            return scoring["points_by_players"][str(p["players"])] * built
        case "full_tracks":
            return scoring["points_by_count"][levels.count(TOP_LEVEL)]
        case "levels":
            return scoring["points"] * sum(levels)
        case "workers":
            return scoring["points_by_count"][str(seat["workers"])]
        case "temple_points":
            return sum(TEMPLES[temple]["points"][step - LOWEST] for temple, step in seat["temples"].items())
        case "best_temple":
            return scoring["points"] * max(0, *seat["temples"].values())
        case "skulls_placed":
            return scoring["points"] * len(p["skulls_placed"])
    raise ValueError(f"unknown scoring {scoring}")


def is_over(p):
    return p["phase"] == "over"


def scores(p):
    return [seat["score"] for seat in p["seats"]]


def winners(p):
    """Return the seats that win: most points, then most workers on gears (D13)."""
    keys = [(seat["score"], workers_on_gears(p, number)) for number, seat in enumerate(p["seats"])]
    return [number for number, key in enumerate(keys) if key == max(keys)]


# Chance, setup, views.


def _reveal(p, tiles):
    if not p["reveal"] or len(tiles) != p["reveal"]:
        raise ValueError(f"{len(tiles)} buildings, but {p['reveal']} come on display")
    if list(tiles) != _in_order(tiles, BUILDINGS) or Counter(tiles) - deck(p):
        raise ValueError(f"reveal {' '.join(tiles)}: not of the deck, or not in data order")
    p["display"]["buildings"] += tiles
    p["reveal"] = 0


def draw(p, rng):
    """Return a random event for a position in which buildings are to be revealed."""
    tiles = rng.sample(list(deck(p).elements()), p["reveal"])
    return " ".join(["reveal", *_in_order(tiles, BUILDINGS)])


def place_idle_workers(drawn, number):
    """Return the gears with the idle workers that the drawn tiles place, and how many tiles that took."""
    gears = {gear: ["."] * facts["teeth"] for gear, facts in GEARS.items()}
    taken = 0
    while number and taken < len(drawn):
        tile = WEALTH[drawn[taken]]
        taken += 1
        gear, action = tile["gear"], tile["action"]
        spaces = [action]
        if "i" not in gears[gear] and gear != "chichen_itza":
            spaces.append((action + 5) % 10)
        for space in spaces[:number]:
            gears[gear][space] = "i"
            number -= 1
    return {gear: "".join(places) for gear, places in gears.items()}, taken


def new_game(players, rng, whole_points=False):
    """Return a game at its start; the random generator is a `random.Random`."""
    setup = FACTS["setup"]["players"][str(players)]
    tiles = list(WEALTH)
    rng.shuffle(tiles)
    dealt = [tiles[4 * seat : 4 * seat + 4] for seat in range(players)]
    gears, taken = place_idle_workers(tiles[4 * players :], setup["idle_workers"])
    buildings = [name for name, tile in BUILDINGS.items() if tile["age"] == 1 for _ in range(tile["copies"])]
    return _sorted(
        {
            "game": "tzolkin",
            "version": 1,
            "players": players,
            "viewer": None,
            "options": {"whole_points": whole_points},
            "phase": "keep",
            "day": 1,
            "food_days": 0,
            "start_player": 0,
            "to_move": 0,
            "placed": 0,
            "last": "",
            "pending": [],
            "reveal": 0,
            "start_space": None,
            "teeth_corn": 0,
            "gears": gears,
            "skulls_placed": [],
            "fields": {"corn": [setup["fields"]] * 4, "wood": [0] + [setup["fields"]] * 3},
            "display": {
                "buildings": rng.sample(buildings, DISPLAY_SIZE),
                "monuments": rng.sample(list(MONUMENTS), setup["monuments"]),
            },
            "drawn": tiles[4 * players : 4 * players + taken],
            "seats": [
                {
                    "score": 0,
                    **dict.fromkeys(MATERIALS, 0),
                    "workers": WORKERS_MIN,
                    "light": True,
                    "corn_tiles": 0,
                    "wood_tiles": 0,
                    "temples": dict.fromkeys(TEMPLES, 0),
                    "technologies": dict.fromkeys(TRACKS, 0),
                    "buildings": [],
                    "monuments": [],
                    "wealth": [],
                    "dealt": dealt[seat],
                }
                for seat in range(players)
            ],
        }
    )


def view(p, seat):
    """Return what a seat sees: in phase keep the tiles of the others are hidden."""
    p = _copied(p)
    if p["phase"] == "keep":
        p["viewer"] = seat
        for number, other in enumerate(p["seats"]):
            if number != seat:
                other["dealt"] = [UNKNOWN] * len(other["dealt"])
                other["wealth"] = [UNKNOWN] * len(other["wealth"])
    return p


def determinize(p, rng):
    """Return a full position that a view allows: each other seat is dealt tiles unseen by the viewer."""
    p = _copied(p)
    if p["viewer"] is None:
        return p
    seen = p["drawn"] + p["seats"][p["viewer"]]["dealt"]
    unseen = [tile for tile in WEALTH if tile not in seen]
    rng.shuffle(unseen)
    for number, seat in enumerate(p["seats"]):
        if number != p["viewer"]:
            seat["dealt"] = [unseen.pop() for _ in seat["dealt"]]
            seat["wealth"] = rng.sample(seat["dealt"], len(seat["wealth"]))
    p["viewer"] = None
    return _sorted(p)


# Invariants.

KEYS = ["game", "version", "players", "viewer", "options", "phase", "day", "food_days", "start_player",
        "to_move", "placed", "last", "pending", "reveal", "start_space", "teeth_corn", "gears",
        "skulls_placed", "fields", "display", "drawn", "seats"]  # fmt: skip
SEAT_KEYS = ["score", *MATERIALS, "workers", "light", "corn_tiles", "wood_tiles", "temples", "technologies",
             "buildings", "monuments", "wealth", "dealt"]  # fmt: skip
PHASES = ("keep", "turn", "placing", "picking", "advance", "over")


def check(p):
    """Raise `InvalidPositionError` where a position breaks an invariant; the first one found."""
    _check_types(p)
    checks = (_check_calendar, _check_gears, _check_turn, _check_tiles, _check_fields, _check_wealth,
              _check_scores, _check_pending)  # fmt: skip
    for one in checks:
        one(p)


def _require(condition, name, path, message=""):
    if not condition:
        raise InvalidPositionError(name, path, message)


def _typed(value, types, path):
    types = types if isinstance(types, tuple) else (types,)
    _require(type(value) in types, "WRONG_TYPE", path, f"{value!r}")


def _keyed(value, keys, path):
    _typed(value, dict, path)
    for key in value:
        _require(key in keys, "UNKNOWN_KEY", f"{path}.{key}")
    for key in keys:
        _require(key in value, "MISSING_KEY", f"{path}.{key}")


def _integer(value, low, high, path):
    _typed(value, int, path)
    _require(low <= value <= high, "OUT_OF_RANGE", path, f"{value} is not in {low} to {high}")


def _listed(value, allowed, path):
    _typed(value, list, path)
    for index, item in enumerate(value):
        _typed(item, str, f"{path}[{index}]")
        _require(item in allowed, "BAD_VALUE", f"{path}[{index}]", f"{item!r}")


def _check_types(p):
    _keyed(p, KEYS, "$")
    _require(p["game"] == "tzolkin", "GAME_MISMATCH", "$.game")
    _require(p["version"] == 1 and type(p["version"]) is int, "UNSUPPORTED_VERSION", "$.version")
    _integer(p["players"], 2, 4, "$.players")
    last_seat = p["players"] - 1
    _typed(p["phase"], str, "$.phase")
    _require(p["phase"] in PHASES, "BAD_VALUE", "$.phase")
    for key in ("viewer", "start_space"):
        if p[key] is not None:
            _integer(p[key], 0, last_seat, f"$.{key}")
    _require(p["viewer"] is None or p["phase"] == "keep", "VIEWER_MISMATCH", "$.viewer")
    _keyed(p["options"], ["whole_points"], "$.options")
    _typed(p["options"]["whole_points"], bool, "$.options.whole_points")
    for key, low, high in (
        ("day", 1, LAST_DAY),
        ("food_days", 0, len(FOOD_DAYS)),
        ("start_player", 0, last_seat),
        ("to_move", 0, last_seat),
        ("placed", 0, WORKERS_MAX),
        ("reveal", 0, DISPLAY_SIZE),
        ("teeth_corn", 0, LAST_DAY),
    ):
        _integer(p[key], low, high, f"$.{key}")
    _typed(p["last"], str, "$.last")
    _typed(p["pending"], list, "$.pending")
    _keyed(p["gears"], list(GEARS), "$.gears")
    for gear, places in p["gears"].items():
        _typed(places, str, f"$.gears.{gear}")
    _typed(p["skulls_placed"], list, "$.skulls_placed")
    for index, action in enumerate(p["skulls_placed"]):
        _integer(action, 1, 9, f"$.skulls_placed[{index}]")
    _keyed(p["fields"], ["corn", "wood"], "$.fields")
    for kind, tiles in p["fields"].items():
        _typed(tiles, list, f"$.fields.{kind}")
        _require(len(tiles) == 4, "FIELDS", f"$.fields.{kind}")
        for index, number in enumerate(tiles):
            _integer(number, 0, STOCK_MAX, f"$.fields.{kind}[{index}]")
    _keyed(p["display"], ["buildings", "monuments"], "$.display")
    _listed(p["display"]["buildings"], BUILDINGS, "$.display.buildings")
    _listed(p["display"]["monuments"], MONUMENTS, "$.display.monuments")
    _listed(p["drawn"], WEALTH, "$.drawn")
    _typed(p["seats"], list, "$.seats")
    _require(len(p["seats"]) == p["players"], "SEATS_COUNT", "$.seats")
    for number, seat in enumerate(p["seats"]):
        _check_seat_types(p, number, seat)


def _check_seat_types(p, number, seat):
    path = f"$.seats[{number}]"
    _keyed(seat, SEAT_KEYS, path)
    for kind in MATERIALS:
        _integer(seat[kind], 0, SKULLS if kind == "skulls" else STOCK_MAX, f"{path}.{kind}")
    for kind in ("corn_tiles", "wood_tiles"):
        _integer(seat[kind], 0, STOCK_MAX, f"{path}.{kind}")
    _typed(seat["workers"], int, f"{path}.workers")
    _typed(seat["light"], bool, f"{path}.light")
    _keyed(seat["temples"], list(TEMPLES), f"{path}.temples")
    for temple, step in seat["temples"].items():
        _integer(step, LOWEST, top_step(temple), f"{path}.temples.{temple}")
    _keyed(seat["technologies"], list(TRACKS), f"{path}.technologies")
    for track, level in seat["technologies"].items():
        _integer(level, 0, TOP_LEVEL, f"{path}.technologies.{track}")
    hidden = p["viewer"] is not None and p["viewer"] != number
    _listed(seat["buildings"], BUILDINGS, f"{path}.buildings")
    _listed(seat["monuments"], MONUMENTS, f"{path}.monuments")
    for key in ("wealth", "dealt"):
        _listed(seat[key], [UNKNOWN] if hidden else WEALTH, f"{path}.{key}")


def _check_calendar(p):
    phase, day = p["phase"], p["day"]
    _require(phase != "keep" or day == 1, "DAY", "$.day")
    _require(phase != "advance" or day < LAST_DAY, "DAY", "$.day")
    _require(phase != "over" or day == LAST_DAY, "DAY", "$.day")
    if phase in ("advance", "over"):
        allowed = {sum(food_day <= day for food_day in FOOD_DAYS)}
    else:
        before = sum(food_day < day for food_day in FOOD_DAYS)
        allowed = {before, before - 1} if day - 1 in FOOD_DAYS else {before}
    _require(p["food_days"] in allowed, "FOOD_DAYS", "$.food_days")
    corn, user = p["teeth_corn"], p["start_space"]
    _require(corn < day or (phase == "over" and corn == day), "TEETH_CORN", "$.teeth_corn")
    taken = user is not None and not (phase == "placing" and user == p["to_move"])
    _require(not taken or corn == 0, "TEETH_CORN", "$.teeth_corn")
    _require(phase != "over" or p["to_move"] == 0, "OUT_OF_RANGE", "$.to_move")


def _check_gears(p):
    setup = FACTS["setup"]["players"][str(p["players"])]
    for gear, facts in GEARS.items():
        places, path = p["gears"][gear], f"$.gears.{gear}"
        _require(len(places) == facts["teeth"], "GEARS", path)
        for space, place in enumerate(places):
            seats = "0123"[: p["players"]] if space <= facts["last_action"] else ""
            _require(place in f".i{seats}", "GEARS", path, f"{place!r} on {space}")
    idle = sum(places.count("i") for places in p["gears"].values())
    _require(idle == setup["idle_workers"], "IDLE_WORKERS", "$.gears")
    if p["phase"] == "keep":
        placed, taken = place_idle_workers(p["drawn"], setup["idle_workers"])
        for gear, places in placed.items():
            spaces = [place == "i" for place in p["gears"][gear]]
            _require(spaces == [place == "i" for place in places], "IDLE_WORKERS", f"$.gears.{gear}")
        _require(taken == len(p["drawn"]), "IDLE_WORKERS", "$.drawn")
    for number, seat in enumerate(p["seats"]):
        path = f"$.seats[{number}].workers"
        _require(WORKERS_MIN <= seat["workers"] <= WORKERS_MAX, "WORKERS", path)
        _require(workers_out(p, number) <= seat["workers"], "WORKERS", path)


def _check_turn(p):
    phase, mover, user = p["phase"], p["to_move"], p["start_space"]
    turns_done = (mover - p["start_player"]) % p["players"]
    had_turn = [(p["start_player"] + turn) % p["players"] for turn in range(turns_done)]
    if phase in ("keep", "over"):
        _require(user is None, "START_SPACE", "$.start_space")
    elif phase == "advance":
        _require(user == mover and can_double(p, mover), "START_SPACE", "$.start_space")
    elif phase == "placing":
        _require((user == mover) == (p["last"] == "start"), "START_SPACE", "$.start_space")
        _require(user is None or user == mover or user in had_turn, "START_SPACE", "$.start_space")
    else:
        _require(user is None or user in had_turn, "START_SPACE", "$.start_space")
    _check_last(p)
    if phase == "placing":
        _require(1 <= p["placed"] <= workers_out(p, mover), "PLACED", "$.placed")
    else:
        _require(p["placed"] == 0, "PLACED", "$.placed")


def _check_last(p):
    last, phase = p["last"], p["phase"]
    if phase == "placing":
        on_gear = last in GEARS and str(p["to_move"]) in p["gears"][last]
        _require(on_gear or (last == "start" and p["start_space"] == p["to_move"]), "LAST", "$.last")
    elif phase == "picking" and last:
        names = [f"{gear} {space}" for gear, facts in GEARS.items() for space in range(facts["last_action"] + 1)]
        _require(last in names, "LAST", "$.last")
        gear, space = last.split()
        _require(p["gears"][gear][int(space)] == ".", "LAST", "$.last")
    else:
        _require(last == "", "LAST", "$.last")


def _check_tiles(p):
    for temple in TEMPLES:
        top = top_step(temple)
        on_top = [number for number, seat in enumerate(p["seats"]) if seat["temples"][temple] == top]
        if len(on_top) > 1:
            raise InvalidPositionError("TOP_STEP", f"$.seats[{on_top[1]}].temples.{temple}")
    _require(len(set(p["skulls_placed"])) == len(p["skulls_placed"]), "SKULLS", "$.skulls_placed")
    _require(skulls_in_bank(p) >= 0, "SKULLS", "$.skulls_placed")
    monuments = p["display"]["monuments"] + [name for seat in p["seats"] for name in seat["monuments"]]
    number = FACTS["setup"]["players"][str(p["players"])]["monuments"]
    _require(len(set(monuments)) == len(monuments) == number, "MONUMENTS", "$.display.monuments")
    counts = Counter(p["display"]["buildings"])
    for index, seat in enumerate(p["seats"]):
        counts.update(seat["buildings"])
        for place, name in enumerate(seat["buildings"]):
            _require(BUILDINGS[name]["age"] <= age(p), "BUILDING_AGE", f"$.seats[{index}].buildings[{place}]")
    for place, name in enumerate(p["display"]["buildings"]):
        _require(BUILDINGS[name]["age"] == age(p), "BUILDING_AGE", f"$.display.buildings[{place}]")
    for name, copies in counts.items():
        _require(copies <= BUILDINGS[name]["copies"], "TILE_COPIES", "$.display.buildings", name)
    free = DISPLAY_SIZE - len(p["display"]["buildings"])
    _require(free >= 0, "DISPLAY", "$.display.buildings")
    missing = min(free, deck(p).total())
    if p["phase"] in ("turn", "advance"):
        _require(p["reveal"] == missing, "DISPLAY", "$.reveal")
    else:
        _require(p["reveal"] == 0, "DISPLAY", "$.reveal")
        _require(missing == 0 or p["phase"] in ("picking", "over"), "DISPLAY", "$.display.buildings")


def _check_fields(p):
    corn, wood = p["fields"]["corn"], p["fields"]["wood"]
    for index in range(4):
        _require(corn[index] <= p["players"], "FIELDS", f"$.fields.corn[{index}]")
        _require(wood[index] <= (corn[index] if index else 0), "FIELDS", f"$.fields.wood[{index}]")
    corn_gone, wood_gone = 4 * p["players"] - sum(corn), 3 * p["players"] - sum(wood)
    _require(sum(seat["corn_tiles"] for seat in p["seats"]) == corn_gone, "HARVEST_TILES", "$.fields.corn")
    _require(sum(seat["wood_tiles"] for seat in p["seats"]) <= wood_gone, "HARVEST_TILES", "$.fields.wood")


def _check_wealth(p):
    keeping = p["phase"] == "keep"
    _require(keeping or not p["drawn"], "WEALTH", "$.drawn")
    seen = list(p["drawn"])
    for number, seat in enumerate(p["seats"]):
        path = f"$.seats[{number}]"
        _require(len(seat["dealt"]) == (4 if keeping else 0), "WEALTH", f"{path}.dealt")
        kept = 0 if keeping and number >= p["to_move"] else 2
        _require(len(seat["wealth"]) == kept, "WEALTH", f"{path}.wealth")
        if UNKNOWN in seat["dealt"]:
            continue
        _require(not keeping or set(seat["wealth"]) <= set(seat["dealt"]), "WEALTH", f"{path}.wealth")
        _require(len(set(seat["wealth"])) == kept, "WEALTH", f"{path}.wealth")
        tiles = seat["dealt"] if keeping else seat["wealth"]
        _require(not set(tiles) & set(seen), "WEALTH", f"{path}.{'dealt' if keeping else 'wealth'}")
        _require(len(set(tiles)) == len(tiles), "WEALTH", f"{path}.{'dealt' if keeping else 'wealth'}")
        seen += tiles
    _require(len(set(p["drawn"])) == len(p["drawn"]), "WEALTH", "$.drawn")


def _is_final(score):
    """Whether final points are written as they must be: whole ones as integers, else in quarters."""
    return type(score) is int or ((score * 4).is_integer() and not score.is_integer())


def _check_scores(p):
    for number, seat in enumerate(p["seats"]):
        path, score = f"$.seats[{number}].score", seat["score"]
        if p["phase"] == "over":
            _typed(score, (int, float), path)
            _require(_is_final(score), "SCORE", path)
        else:
            _require(type(score) is int, "SCORE" if isinstance(score, float) else "WRONG_TYPE", path)
        _require(abs(score) <= SCORE_MAX, "SCORE", path)


@functools.cache
def trade_texts():
    """Return every text of a visit to the market that goes on."""
    texts = set()
    for size in range(1, len(BLOCKS) + 1):
        for kinds in combinations(BLOCKS, size):
            for sold_size in range(size + 1):
                for sold in combinations(kinds, sold_size):
                    bought = [kind for kind in kinds if kind not in sold]
                    texts.add("trade " + "".join(sold).lower() + "".join(bought))
    return texts


def _check_pending(p):
    _require(p["phase"] == "picking" or not p["pending"], "PENDING", "$.pending")
    allowed = {*PENDING, *trade_texts()}
    for index, text in enumerate(p["pending"]):
        _typed(text, str, f"$.pending[{index}]")
        _require(text in allowed, "PENDING", f"$.pending[{index}]", text)
    if p["pending"]:
        _require(set(answers(p)) - {"done"}, "PENDING", "$.pending[0]", "no answer")

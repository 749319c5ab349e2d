"""The tables of gears, temples, tracks and tiles. No code of a tile's own: a tile is a row of effects."""

import json
from importlib.resources import files
from itertools import product

FACTS = json.loads((files("cext.games.tzolkin") / "facts.json").read_text(encoding="utf-8"))

_MATERIALS = ("corn", "wood", "stone", "gold", "skull")
_BLOCKS = _MATERIALS[1:4]
_CATEGORIES = ("farm", "tomb", "civic", "shrine")
_TEMPLES, _TRACKS = ([entry["name"] for entry in FACTS[table]] for table in ("temples", "tracks"))
# What is done with an action of a gear, where it is no decision.
_DEEDS = {"fish": FISH, "gain": GAIN, "worker": WORKER, "place_skull": PLACE_SKULL}
_SCORINGS = {
    "tiles_of_category": OF_CATEGORY, "all_tiles": OF_ALL_TILES, "monuments_of_all": OF_ALL_MONUMENTS,
    "full_tracks": OF_FULL_TRACKS, "levels": OF_LEVELS, "workers": OF_WORKERS, "temple_points": OF_TEMPLE_POINTS,
    "best_temple": OF_BEST_TEMPLE, "skulls_placed": OF_SKULLS_PLACED,
}


def _require(found, expected, what):
    if found != expected:
        raise ValueError(f"facts.json: {what} is {found}; the rules are written for {expected}")


def _load():
    _check_numbers()
    _load_gears()
    _load_temples()
    _load_tiles()
    _load_payments()
    for number, block in enumerate(_BLOCKS):
        PRICES[number] = FACTS["market"][block]
    for number, corn in enumerate(FACTS["placement"]["surcharge"]):
        SURCHARGE[number] = corn
    for number, day in enumerate(FACTS["calendar"]["food_days"]):
        FOOD_DAYS[number] = day["day"]
        IS_MID_AGE[number] = day["kind"] == "mid_age"
        _require(day["age"], 1 + number // AGE_2, "the age of a food day")
    for level, cost in enumerate(FACTS["research_cost"]):
        RESEARCH_COST[level] = cost
    for players, setup in FACTS["setup"]["players"].items():
        FIELD_TILES[int(players)] = setup["fields"]
        IDLE_WORKERS[int(players)] = setup["idle_workers"]
        NUM_MONUMENTS_OPEN[int(players)] = setup["monuments"]


def _check_numbers():
    setup, placement, feeding, final = (FACTS[key] for key in ("setup", "placement", "feeding", "final"))
    _require((setup["display"], setup["dealt"], setup["kept"]), (DISPLAY, NUM_DEALT, NUM_KEPT), "the setup")
    _require((setup["skulls"], setup["workers_at_start"], setup["workers_max"]),
             (SKULLS, MIN_WORKERS, MAX_WORKERS), "the setup")
    _require((placement["step_back_corn"], placement["beg_at_most"], placement["beg_to"]),
             (1, BEG_AT_MOST, BEG_TO), "placement")
    _require((feeding["corn_per_worker"], feeding["points_per_unfed_worker"]),
             (CORN_PER_WORKER, UNFED_POINTS), "feeding")
    _require((final["points_per_corn"], final["points_per_skull"]), (0.25, SKULL_POINTS), "the final points")
    _require(FACTS["calendar"]["days"], LAST_DAY, "the calendar")
    for table, number in (("gears", NUM_GEARS), ("temples", NUM_TEMPLES), ("tracks", NUM_TRACKS),
                          ("buildings", NUM_BUILDINGS), ("monuments", NUM_MONUMENTS), ("wealth", NUM_WEALTH)):
        _require(len(FACTS[table]), number, f"the number of {table}")


def _decision(action, number):
    """Return the decision that an action of a gear brings."""
    match action["do"]:
        case "harvest":
            return HARVEST_2 + number - 2
        case "research":
            return RESEARCH_ONE if action["advances"] == 1 else RESEARCH_TWO
        case "build":
            if action["pay"] == "corn":
                return BUILD_CORN
            return BUILD_ONE if action["buildings"] == 1 else BUILD_TWO
        case "climb":
            return CLIMB_ONE if action["temples"] == 1 else CLIMB_TWO
        case "trade":
            return TRADE
        case "use":
            _require(action["corn"], USE_CORN, "the corn of an action that uses another one")
            return USE_ONE
    raise ValueError(f"facts.json: unknown action {action}")


def _load_gears():
    cdef ActionC* row
    for number, gear in enumerate(FACTS["gears"]):
        GEARS[number].teeth, GEARS[number].last = gear["teeth"], gear["last_action"]
        GEARS[number].free_from = gear["free_choice_from"]
        if number < CHICHEN:
            _require((gear["teeth"], gear["last_action"]), (10, 7), f"the size of {gear['name']}")
        for place, action in enumerate(gear["actions"], start=1):
            row = &ACTIONS[number][place]
            for index, material in enumerate(_MATERIALS):
                row.gains[index] = action.get("materials", {}).get(material, 0)
            row.points = action.get("points", 0)
            row.corn = action.get("corn", 0)
            if action["do"] in _DEEDS:
                row.deed = _DEEDS[action["do"]]
            else:
                row.deed = PAY_CORN if action["do"] == "climb" and "corn" in action else DECIDE
                row.decision = _decision(action, place)
            if action["do"] == "place_skull":
                row.temple, row.take = _TEMPLES.index(action["temple"]), action["take"]
            if action["do"] == "harvest":
                FIELDS[place - 2].corn, FIELDS[place - 2].wood = action["corn"], action["wood"]


def _load_temples():
    global BONUS_POINTS
    for number, temple in enumerate(FACTS["temples"]):
        _require(temple["lowest"], LOWEST, "the lowest step")
        TEMPLES[number].top = len(temple["points"]) - 1 + LOWEST
        for step, points in enumerate(temple["points"]):
            TEMPLES[number].points[step] = points
            for index, material in enumerate(_MATERIALS):
                TEMPLES[number].rewards[step][index] = temple["rewards"][: step + 1].count(material)
        for age in range(2):
            TEMPLES[number].leader[age] = temple["leader"][age]
    bonuses = [track["bonus"] for track in FACTS["tracks"]]
    _require(bonuses[AGRICULTURE], {"do": "temple_up_any", "steps": 1}, "the bonus of agriculture")
    _require(bonuses[EXTRACTION], {"do": "take", "count": 2}, "the bonus of extraction")
    _require(bonuses[ARCHITECTURE]["do"], "points", "the bonus of architecture")
    _require(bonuses[THEOLOGY], {"do": "gain", "materials": {"skull": 1}}, "the bonus of theology")
    BONUS_POINTS = bonuses[ARCHITECTURE]["points"]


cdef int _fill_tile(TileC* tile, dict facts) except -1:
    # What a tile does comes in one order: gains, points, steps, an advance, choices as printed. The rules ask for the
    # printed order of choices only, and no tile has an advance, whose bonus may be a choice, next to another choice.
    for index, material in enumerate(_MATERIALS):
        tile.cost[index] = facts.get("cost", {}).get(material, 0)
    tile.price = BUILDING_CORN * sum(facts.get("cost", {}).values())
    tile.copies, tile.age = facts.get("copies", 1), facts.get("age", 0)
    tile.category = _CATEGORIES.index(facts.get("category", "farm"))
    tile.track = NO_TRACK
    choices = []
    for effect in facts.get("effects", []):
        match effect["do"]:
            case "gain":
                for material, number in effect["materials"].items():
                    tile.gains[_MATERIALS.index(material)] += number
            case "points":
                tile.points += effect["points"]
            case "worker":
                tile.workers += 1
            case "temple_up":
                tile.steps[_TEMPLES.index(effect["temple"])] += effect["steps"]
            case "research":
                _require((tile.track, effect["steps"]), (NO_TRACK, 1), f"the advances of {facts['name']}")
                tile.track = _TRACKS.index(effect["track"])
            case "feed_free_workers":
                tile.free_workers += effect["workers"]
            case "feed_discount_per_worker":
                tile.discount += effect["corn"]
            case "temple_up_any":
                _require(effect["steps"], 1, f"the steps of choice of {facts['name']}")
                choices.append(CLIMB_ONE)
            case "research_any":
                choices.append(FREE_ONE if effect["steps"] == 1 else FREE_TWO)
            case "build":
                choices.append(BUILD_MORE)
            case "trade":
                choices.append(TRADE_MORE)
            case "use":
                choices.append(USE_MORE)
            case other:
                raise ValueError(f"facts.json: {facts['name']} has the unknown effect {other}")
    if len(choices) > MAX_CHOICES or (choices and tile.track != NO_TRACK):
        raise ValueError(f"facts.json: {facts['name']} brings more choices than the rules are written for")
    tile.num_choices = len(choices)
    for index, choice in enumerate(choices):
        tile.choices[index] = choice
    return 0


def _load_tiles():
    for number, facts in enumerate(FACTS["wealth"]):
        _fill_tile(&WEALTH[number], facts)
        _require((WEALTH[number].num_choices, WEALTH[number].points), (0, 0), "the choices of starting wealth")
    for number, facts in enumerate(FACTS["buildings"]):
        _fill_tile(&BUILDINGS[number], facts)
        _require(facts["copies"] <= 3, True, "having at most three copies")
        COPIES[facts["age"]] |= <uint64_t>facts["copies"] << 2 * number
    for number, facts in enumerate(FACTS["monuments"]):
        _fill_tile(&MONUMENTS[number], facts)
        _fill_scoring(&SCORINGS[number], facts["scoring"])


cdef int _fill_scoring(ScoringC* scoring, dict facts) except -1:
    if facts["kind"] == "harvest_tiles":
        scoring.kind = OF_CORN_TILES if facts["tile"] == "corn" else OF_WOOD_TILES
    else:
        scoring.kind = _SCORINGS[facts["kind"]]
    scoring.points = facts.get("points", 0)
    scoring.category = _CATEGORIES.index(facts.get("category", "farm"))
    by_number = facts.get("points_by_players", facts.get("points_by_count", {}))
    for number, points in by_number.items() if isinstance(by_number, dict) else enumerate(by_number):
        scoring.by_number[int(number)] = points
    return 0


def _load_payments():
    for number in range(1, TOP_LEVEL + 1):
        choices = [blocks for blocks in product(range(number + 1), repeat=NUM_BLOCKS) if sum(blocks) == number]
        choices.sort(key=lambda blocks: blocks[::-1])
        for index, blocks in enumerate(choices):
            for kind in range(NUM_BLOCKS):
                PAYMENTS[number][index].blocks[kind] = blocks[kind]
                PAYMENTS[number][index].packed |= blocks[kind] << 2 * kind
        NUM_PAYMENTS[number] = len(choices)


_load()

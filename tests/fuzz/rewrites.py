"""Rewrites of JSON positions: other values that may still make a valid position, often at the ends of their ranges.

`rewrite` changes a few things at random, and then what follows from them, such as the size of the deck. What it
returns need not be valid: validation decides.
"""

import json
from collections import Counter

from fuzz.material import SPACES, mutate

from mexica_ai.games.coatl import facts as coatl_facts
from mexica_ai.games.coatl.shape import MEMORIES
from mexica_ai.games.mexica import board
from mexica_ai.games.tzolkin import facts as tzolkin_facts


def rewrite(form, other, rng):
    """Return a JSON position like `form`, with some things changed.

    Parameters
    ----------
    form, other : dict
        Positions of one game; some values may come from the other one.
    rng : random.Random

    Returns
    -------
    dict
    """
    form = json.loads(json.dumps(form))
    changes, settle = GAMES[form["game"]]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if rng.random() < 0.1:
            _borrow(form, other, rng)
        else:
            rng.choice(changes)(form, rng)
    if rng.random() < 0.95:
        settle(form, rng)
    return mutate(form, rng, SPACES) if rng.random() < 0.1 else form


def _borrow(form, other, rng):
    """Take a value from another position; of lists often a part."""
    while isinstance(form, dict) and isinstance(other, dict) and form:
        key = rng.choice(sorted(form))
        if key not in other or key in ("players", "viewer"):
            return
        value = form[key]
        if isinstance(value, list) and value and isinstance(other[key], list) and other[key]:
            at, there = rng.randrange(len(value)), rng.randrange(len(other[key]))
            if isinstance(value[at], dict) and isinstance(other[key][there], dict) and rng.random() < 0.8:
                form, other = value[at], other[key][there]
                continue
        if key == "seats":
            return
        if not isinstance(value, dict) or rng.random() < 0.2:
            form[key] = json.loads(json.dumps(other[key]))
            return
        form, other = value, other[key]


def _number(rng, low, high):
    """Return a number of a range, often one of its ends."""
    return rng.choice((low, high, rng.randint(low, high), rng.randint(low, high)))


def _seat(form, rng):
    return rng.choice(form["seats"])


# Coatl


def _coatl_number_away(form, seat):
    spent = form["options"]["sacrifice_tokens"] and "future" not in form["seats"][seat]["tokens"]
    return coatl_facts.num_dealt(seat) + coatl_facts.HAND_LIMIT * spent


def coatl_deal(form, rng):
    """Deal all prophecies that are not on Coatls anew, to places of any legal size."""
    full = rng.random()  # how full hands and discards are
    cards = Counter(coatl_facts.COPIES)
    for seat in form["seats"]:
        for coatl in seat["coatls"]:
            cards -= Counter(coatl["prophecies"])
    cards = sorted(cards.elements())
    rng.shuffle(cards)
    spent = sum("future" not in seat["tokens"] for seat in form["seats"]) * form["options"]["sacrifice_tokens"]

    def take(most):
        number = min(len(cards), most if rng.random() < full else rng.randint(0, most) if rng.random() < full else 0)
        return sorted(cards.pop() for _ in range(number))

    form["display"] = sorted(cards.pop() for _ in range(min(len(cards), coatl_facts.NUM_DISPLAYED)))
    form["discarded"] = take(coatl_facts.NUM_DISPLAYED * spent)
    for number, seat in enumerate(form["seats"]):
        seat["discarded"] = take(_coatl_number_away(form, number))
        seat["hand"] = take(coatl_facts.HAND_LIMIT)
        seat["shown"] = []
    form.pop("memory", None)
    coatl_show(form, rng)


def coatl_show(form, rng):
    """Show all, none or some of the cards in hand."""
    for seat in form["seats"]:
        share = rng.choice((0, 1, rng.random()))
        for key, shown in (("hand", "shown"), ("temples", "shown_temples")):
            if rng.random() < 0.6:
                seat[shown] = [card for card in seat[key] if card != "?" and rng.random() < share]
            hidden_from = form["viewer"] not in (None, form["seats"].index(seat))
            if hidden_from:
                seat[key] = seat[shown] + ["?"] * (len(seat[key]) - len(seat[shown]))


def coatl_tokens(form, rng):
    for seat in form["seats"]:
        seat["tokens"] = [token for token in coatl_facts.TOKENS if rng.random() < 0.5]


def coatl_temples(form, rng):
    """Deal all temples anew."""
    temples = list(coatl_facts.TEMPLE_NAMES)
    rng.shuffle(temples)
    for seat in form["seats"]:
        promised = form["options"]["sacrifice_tokens"] and "promise" not in seat["tokens"]
        for coatl in seat["coatls"]:
            fitting = [each for each in temples if coatl_facts.temple_points(each, coatl["pieces"])]
            coatl["temple"] = rng.choice(fitting) if coatl["closed"] and fitting and rng.random() < 0.6 else ""
            if coatl["temple"]:
                temples.remove(coatl["temple"])
        played = sum(bool(coatl["temple"]) for coatl in seat["coatls"])
        seat["temples"] = [temples.pop() for _ in range(rng.randint(max(0, 1 + promised - played), 1 + promised))]
        seat["shown_temples"] = rng.sample(seat["temples"], min(promised, len(seat["temples"])))
    for pile in form["piles"]:
        pile["top"] = temples.pop() if temples else ""
    form["piles"][0]["below"] = rng.randint(0, len(temples)) if form["piles"][0]["top"] else 0
    form["piles"][1]["below"] = len(temples) - form["piles"][0]["below"] if form["piles"][1]["top"] else 0


def coatl_coatls(form, rng):
    """Give a seat other Coatls, from short to as long as they may be, with prophecies that fit."""
    seat = _seat(form, rng)
    cards = Counter(coatl_facts.COPIES)
    for each in form["seats"]:
        for coatl in each["coatls"] if each is not seat else ():
            cards -= Counter(coatl["prophecies"])
    seat["coatls"] = []
    unfinished = rng.randint(0, coatl_facts.MAX_UNFINISHED)
    for number in range(rng.randint(0, coatl_facts.MAX_COATLS)):
        closed = number >= unfinished
        length = _number(rng, 3 if closed else 1, rng.choice((5, 8, 20, coatl_facts.MAX_PIECES)))
        colors = rng.choice(("YRKGB", "YR", rng.choice("YRKGB")))
        pieces = "".join(rng.choice(colors) for _ in range(length))
        head, tail = (True, True) if closed else rng.choice(((False, False), (True, False), (False, True)))
        fitting = [face for face in cards if cards[face] and coatl_facts.prophecy_points(face, pieces)]
        number = min(len(fitting), coatl_facts.MAX_PLAYED, rng.randint(0, 4) + closed)
        played = sorted(rng.sample(fitting, number))
        cards -= Counter(played)
        seat["coatls"].append({"pieces": pieces, "head": head, "tail": tail, "prophecies": played, "temple": "",
                               "closed": closed})  # fmt: skip
    rng.shuffle(seat["coatls"])
    coatl_deal(form, rng)
    coatl_temples(form, rng)


def coatl_pieces(form, rng):
    """Put pieces into a seat's stock, or take them out, from none to as many as it may have."""
    seat = _seat(form, rng)
    most = rng.randint(0, coatl_facts.CAPACITY)
    seat["stored"] = dict.fromkeys(coatl_facts.PARTS, "")
    for _ in range(most):
        part = rng.choice(coatl_facts.PARTS)
        seat["stored"][part] += rng.choice(coatl_facts.COLORS)


def coatl_supply(form, rng):
    """Refill the supply board with other pieces, or empty a part of it."""
    for part, spaces in coatl_facts.SUPPLY_SPACES.items():
        number = _number(rng, 0, spaces)
        if part == "bodies":
            form["supply"][part] = [rng.choice(coatl_facts.PAIRS) for _ in range(number)]
        else:
            form["supply"][part] = "".join(rng.choice(coatl_facts.COLORS) for _ in range(number))


def coatl_phase(form, rng):
    form["phase"] = rng.choice(("turn", "drawing", "future", "building", "closing", "over", "turn"))
    form["pending"] = rng.choice(("", "", "deal", "reveal", "refill", "uncover"))
    form["actions_left"] = rng.choice((1, 1, 2))
    form["passes"] = _number(rng, 0, form["players"] - 1) if form["phase"] == "turn" and not form["pending"] else 0
    form["to_move"] = 0 if form["phase"] == "over" else rng.randrange(form["players"])
    mover = form["seats"][form["to_move"]]
    complete = [n for n, each in enumerate(mover["coatls"], 1) if each["head"] and each["tail"]]
    form["closing"] = rng.choice(complete or [0]) if form["phase"] == "closing" else 0
    if form["closing"]:
        mover["coatls"][form["closing"] - 1] |= {"closed": False, "temple": ""}
    if form["phase"] == "future" and "future" in mover["tokens"]:
        mover["tokens"].remove("future")


def coatl_round(form, rng):
    form["round"] = rng.choice((1, 2, 30, 9_999, 10_000))
    thirds = [n for n, seat in enumerate(form["seats"]) if sum(each["closed"] for each in seat["coatls"]) == 3]
    form["ending"] = rng.choice((None, {"cause": "third", "seat": rng.choice(thirds or [0])},
                                 {"cause": "bodies", "last_round": form["round"] + rng.randint(0, 1)}))  # fmt: skip


def coatl_memory(form, rng):
    """Change what is remembered, or forget a part of it."""
    memory = form.get("memory", [])
    kind = rng.random()
    if kind < 0.3:
        form.pop("memory", None)
    elif kind < 0.6 and memory:
        form["memory"] = memory[rng.randrange(len(memory)) :]
    elif kind < 0.8 and memory:
        del memory[rng.randrange(len(memory))]
    else:
        word, seat = rng.choice(MEMORIES), rng.randrange(form["players"])
        card = rng.choice(("?", *coatl_facts.FACES))
        seated = word in ("unsure", "discard", "deal", "play", "private")
        entry = f"{word} {seat} {card}" if seated else f"{word} {card if word != 'renew' else rng.randint(0, 54)}"
        form["memory"] = [*memory, entry] if rng.random() < 0.5 else [entry, *memory]


def coatl_settle(form, rng):
    """Count the deck, and pair up the body pieces of each seat; name the third Coatl, and keep one kind of each."""
    cards = len(form["display"]) + len(form["discarded"])
    for seat in form["seats"]:
        cards += len(seat["hand"]) + len(seat["discarded"]) + sum(len(each["prophecies"]) for each in seat["coatls"])
        bodies = len(seat["stored"]["bodies"])
        bodies += sum(len(each["pieces"]) - each["head"] - each["tail"] for each in seat["coatls"])
        if bodies % 2:
            held = seat["stored"]["bodies"]
            seat["stored"]["bodies"] = held[1:] if held else rng.choice(coatl_facts.COLORS)
        if not form["options"]["sacrifice_tokens"]:
            seat["tokens"] = []
    form["deck"] = coatl_facts.NUM_PROPHECIES - cards
    thirds = [n for n, seat in enumerate(form["seats"]) if sum(each["closed"] for each in seat["coatls"]) == 3]
    if thirds and form["ending"] is None:
        form["ending"] = {"cause": "third", "seat": rng.choice(thirds)}
        form["passes"] = 0


# Tzolk'in


def tzolkin_stocks(form, rng):
    for seat in form["seats"]:
        for kind in tzolkin_facts.STOCKS:
            if rng.random() < 0.5:
                seat[kind] = _number(rng, 0, rng.choice((3, 12, tzolkin_facts.STOCK_MAX)))
        seat["light"] = rng.random() < 0.5
        seat["score"] = _number(rng, -tzolkin_facts.SCORE_MAX, tzolkin_facts.SCORE_MAX)
        seat["workers"] = _number(rng, tzolkin_facts.MIN_WORKERS, tzolkin_facts.MAX_WORKERS)
        if form["phase"] == "over" and rng.random() < 0.3:
            seat["score"] += rng.choice((0, 0.25, 0.5, 0.75))


def tzolkin_tracks(form, rng):
    for seat in form["seats"]:
        for temple in tzolkin_facts.TEMPLES:
            seat["temples"][temple] = _number(rng, tzolkin_facts.LOWEST, tzolkin_facts.top_step(temple) - 1)
        for track in tzolkin_facts.TRACKS:
            seat["technologies"][track] = _number(rng, 0, tzolkin_facts.TOP_LEVEL)
    if rng.random() < 0.5:
        temple = rng.choice(sorted(tzolkin_facts.TEMPLES))
        _seat(form, rng)["temples"][temple] = tzolkin_facts.top_step(temple)


def tzolkin_skulls(form, rng):
    left = tzolkin_facts.NUM_SKULLS
    form["skulls_placed"] = sorted(rng.sample(range(1, tzolkin_facts.SKULL_ACTIONS + 1),
                                              _number(rng, 0, tzolkin_facts.SKULL_ACTIONS)))  # fmt: skip
    left -= len(form["skulls_placed"])
    for seat in form["seats"]:
        seat["skulls"] = _number(rng, 0, left)
        left -= seat["skulls"]


def tzolkin_gears(form, rng):
    """Put the workers elsewhere."""
    owners = [tzolkin_facts.IDLE] * tzolkin_facts.SETUP[form["players"]]["idle_workers"]
    for number, seat in enumerate(form["seats"]):
        seat["workers"] = _number(rng, tzolkin_facts.MIN_WORKERS, tzolkin_facts.MAX_WORKERS)
        owners += [str(number)] * _number(rng, 0, seat["workers"])
    gears = {gear: [tzolkin_facts.FREE] * facts["teeth"] for gear, facts in tzolkin_facts.GEARS.items()}
    free = [(gear, space) for gear, facts in tzolkin_facts.GEARS.items() for space in range(facts["last_action"] + 1)]
    rng.shuffle(free)
    for owner, (gear, space) in zip(owners, free, strict=False):
        gears[gear][space] = owner
    form["gears"] = {gear: "".join(places) for gear, places in gears.items()}


def tzolkin_tiles(form, rng):
    """Deal the buildings and monuments anew, from nothing built to all."""
    share = rng.choice((0, 1, rng.random()))
    age = tzolkin_facts.age(form["food_days"])
    left = Counter({name: tile["copies"] for name, tile in tzolkin_facts.BUILDINGS.items() if tile["age"] <= age})
    left = sorted(left.elements())
    rng.shuffle(left)
    for seat in form["seats"]:
        seat["buildings"], seat["monuments"] = [], []
    while left and rng.random() < share:
        _seat(form, rng)["buildings"].append(left.pop())
    left = [name for name in left if tzolkin_facts.BUILDINGS[name]["age"] == age]
    form["display"]["buildings"] = sorted(left[: _number(rng, 0, tzolkin_facts.DISPLAY)])
    number = tzolkin_facts.SETUP[form["players"]]["monuments"]
    form["display"]["monuments"] = []
    for name in rng.sample(sorted(tzolkin_facts.MONUMENTS), number):
        where = _seat(form, rng) if rng.random() < share else form["display"]
        where["monuments"].append(name)


def tzolkin_fields(form, rng):
    players = form["players"]
    corn = [_number(rng, 0, players) for _ in range(tzolkin_facts.NUM_FIELDS)]
    wood = [_number(rng, 0, most) if index else 0 for index, most in enumerate(corn)]
    form["fields"] = {"corn": corn, "wood": wood}
    for kind, gone in (("corn", 4 * players - sum(corn)), ("wood", 3 * players - sum(wood))):
        for seat in form["seats"]:
            seat[f"{kind}_tiles"] = 0
        for _ in range(gone if kind == "corn" else _number(rng, 0, max(0, gone))):
            _seat(form, rng)[f"{kind}_tiles"] += 1


def tzolkin_wealth(form, rng):
    tiles = rng.sample(sorted(tzolkin_facts.WEALTH), tzolkin_facts.NUM_DEALT * form["players"])
    for seat in form["seats"]:
        if form["phase"] != "keep":
            seat["wealth"] = [tiles.pop() for _ in range(tzolkin_facts.NUM_KEPT)]


def tzolkin_turn(form, rng):
    """Change the phase, the day and whose turn it is."""
    form["phase"] = rng.choice(("turn", "placing", "picking", "picking", "advance", "over"))
    form["viewer"] = None
    form["drawn"] = []
    for seat in form["seats"]:
        seat["dealt"] = []
        seat["score"] = int(seat["score"])
    tzolkin_wealth(form, rng)
    form["day"] = tzolkin_facts.LAST_DAY if form["phase"] == "over" else rng.randint(1, tzolkin_facts.LAST_DAY)
    before = sum(day < form["day"] for day in tzolkin_facts.FOOD_DAYS)
    now = form["phase"] in ("advance", "over") and form["day"] in tzolkin_facts.FOOD_DAYS
    form["food_days"] = before + now
    form["start_player"] = rng.randrange(form["players"])
    form["to_move"] = 0 if form["phase"] == "over" else rng.randrange(form["players"])
    form["teeth_corn"] = rng.choice((0, 0, max(0, form["day"] - 1), rng.randrange(form["day"])))
    form["start_space"] = rng.choice((None, None, *range(form["players"])))
    if form["phase"] == "advance":
        form["start_space"] = form["to_move"]
        form["teeth_corn"] = 0
    form["last"], form["placed"], form["pending"] = "", 0, []
    tzolkin_tiles(form, rng)
    if form["phase"] == "placing":
        gears = [gear for gear, places in form["gears"].items() if str(form["to_move"]) in places]
        form["last"] = rng.choice(gears or ["start"])
        out = sum(places.count(str(form["to_move"])) for places in form["gears"].values())
        form["placed"] = rng.randint(1, max(1, out))


def tzolkin_pending(form, rng):
    """Let a turn owe decisions, up to as many as a position may have."""
    if form["phase"] in ("turn", "picking"):
        form["phase"], form["reveal"], form["placed"] = "picking", 0, 0
        texts = sorted(tzolkin_facts.NUMBER_OF_DECISION)
        pool = rng.choice((texts, list(tzolkin_facts.DECISIONS), rng.sample(texts, 2)))
        form["pending"] = [rng.choice(pool) for _ in range(_number(rng, 0, 12))]
        gear = rng.choice(sorted(form["gears"]))
        free = [n for n, place in enumerate(form["gears"][gear]) if place == tzolkin_facts.FREE]
        form["last"] = f"{gear} {rng.choice(free)}" if free and rng.random() < 0.3 else ""


def tzolkin_settle(form, rng):
    """Complete the display, and let those who are out be in play."""
    missing = tzolkin_facts.DISPLAY - len(form["display"]["buildings"])
    deck = sorted(tzolkin_facts.deck(form).elements())
    missing = max(0, min(missing, len(deck)))
    form["reveal"] = 0
    if form["phase"] in ("turn", "advance") and rng.random() < 0.5:
        form["reveal"] = missing
    elif form["phase"] not in ("picking", "over") or rng.random() < 0.7:
        form["display"]["buildings"] = sorted(form["display"]["buildings"] + rng.sample(deck, missing))
    for number, seat in enumerate(form["seats"]):
        out = sum(places.count(str(number)) for places in form["gears"].values()) + (form["start_space"] == number)
        seat["workers"] = max(seat["workers"], out)


# Mexica


def mexica_counters(form, rng):
    for seat in form["seats"]:
        seat["score"] = _number(rng, 0, rng.choice((10, 60, 999)))
        seat["action_tokens"] = rng.choice((0, 1, 2, 12))
    form["action_points"] = _number(rng, 0, board.ACTION_POINTS)
    form["tokens_taken"] = _number(rng, 0, board.MAX_TOKENS_PER_TURN)
    form["idle_rounds"] = _number(rng, 0, 3)
    form["built_this_round"] = rng.random() < 0.5
    form["round"] = rng.choice((1, 2, 30, 999_999, 1_000_000)) if form["phase"] == "play" else form["round"]
    form["to_move"] = rng.randrange(form["players"]) if form["phase"] == "play" else form["to_move"]


def mexica_canals(form, rng):
    """Dig other canals: none but the printed ones, a few, or as many as there are tiles, in runs or scattered."""
    free = sorted(board.LAND - board.PALACE - set(board.PRINTED_CANALS))
    singles, doubles = _number(rng, 0, board.NUM_SINGLE_TILES), _number(rng, 0, board.NUM_DOUBLE_TILES - 2)
    dug = set()
    runs = rng.random() < 0.5
    for _ in range(20 * (doubles + singles)):
        placed = (len(dug) - singles) // 2 if len(dug) > singles else 0
        if len(dug) < singles:
            cells = [rng.choice(free)]
        elif placed < doubles:
            first = rng.choice(sorted(dug)) if runs and dug else rng.choice(free)
            first = rng.choice(board.neighbours(first)) if runs and dug else first
            cells = [first, rng.choice(board.neighbours(first))]
        else:
            break
        if all(cell in free and cell not in dug for cell in cells):
            dug.update(cells)
    doubles = max(0, len(dug) - singles) // 2
    form["canals"] = [board.format_space(cell) for cell in sorted(dug | set(board.PRINTED_CANALS))]
    form["canal_tiles"] = {"single": board.NUM_SINGLE_TILES - min(singles, len(dug)),
                           "double": board.NUM_DOUBLE_TILES - 2 - doubles}  # fmt: skip
    form["calpulli"]["removed"] += [token["size"] for token in form["calpulli"]["placed"]]
    form["calpulli"]["placed"] = []
    mexica_bridges(form, rng)
    mexica_temples(form, rng)


def _dry(form):
    return board.LAND - {board.parse_space(name) for name in form["canals"]}


def mexica_bridges(form, rng):
    dry = _dry(form)
    wet = sorted(board.LAND - dry)
    places = [(cell, axis) for cell in wet for axis in ("ns", "ew") if set(board.ramps(cell, axis)) <= dry]
    rng.shuffle(places)
    found = dict(places[: _number(rng, 0, board.NUM_BRIDGES)])
    form["bridges"] = [{"at": board.format_space(cell), "axis": found[cell]} for cell in sorted(found)]


def mexica_temples(form, rng):
    """Build all temples, none or some, and put the pillis on other spaces."""
    share = rng.choice((0, 1, rng.random()))
    tokens = {board.parse_space(token["at"]) for token in form["calpulli"]["placed"]}
    free = sorted(_dry(form) - board.PALACE - tokens)
    rng.shuffle(free)
    form["temples"] = []
    for number, seat in enumerate(form["seats"]):
        seat["temples"] = list(board.TEMPLES_BY_PERIOD[form["period"]])
        for level in range(4):
            while free and seat["temples"][level] and rng.random() < share:
                seat["temples"][level] -= 1
                form["temples"].append({"at": free.pop(), "seat": number, "level": level + 1})
    for _ in range(_number(rng, 0, board.MAX_NEUTRAL_TEMPLES) if form["players"] == 2 else 0):
        if free:
            form["temples"].append({"at": free.pop(), "seat": -1, "level": rng.randint(1, 4)})
    form["temples"].sort(key=lambda temple: temple["at"])
    for temple in form["temples"]:
        temple["at"] = board.format_space(temple["at"])
    if form["phase"] != "placement":
        places = sorted({*free, *board.PALACE, *(board.parse_space(each["at"]) for each in form["bridges"])} - tokens)
        for seat, cell in zip(form["seats"], rng.sample(places, len(form["seats"])), strict=True):
            seat["pilli"] = board.format_space(cell)


def mexica_tokens(form, rng):
    """Change the pool, what is on display, founded and removed."""
    calpulli = form["calpulli"]
    dry, temples = _dry(form), {board.parse_space(temple["at"]) for temple in form["temples"]}
    pillis = {board.parse_space(seat["pilli"]) for seat in form["seats"] if seat["pilli"]}
    calpulli["placed"] = []
    number = board.NUM_DISPLAYED + (board.NUM_UPCOMING if form["period"] == 2 else 0)
    share = rng.choice((0, 1, rng.random()))
    for district in board.districts(board.LAND - dry):
        places = sorted(district - board.PALACE - temples - pillis)
        fits = board.MIN_SIZE <= len(district) <= board.MAX_SIZE and len(calpulli["placed"]) < number
        if places and fits and rng.random() < share:
            calpulli["placed"].append({"at": rng.choice(places), "size": len(district)})
    calpulli["placed"].sort(key=lambda token: token["at"])
    placed = [token["size"] for token in calpulli["placed"]]
    for token in calpulli["placed"]:
        token["at"] = board.format_space(token["at"])
    size = rng.randint(board.MIN_SIZE, board.MAX_SIZE)
    rest = [rng.choice((size, rng.randint(board.MIN_SIZE, board.MAX_SIZE))) for _ in range(number - len(placed))]
    shown = _number(rng, 0, len(rest))
    calpulli["display"], calpulli["removed"] = sorted(rest[:shown]), sorted(rest[shown:])
    more = rng.choice((15, 15, 16, 60, 255)) - len(placed) - len(rest)
    more = [rng.choice((size, rng.randint(board.MIN_SIZE, board.MAX_SIZE))) for _ in range(more)]
    calpulli["pool"] = sorted(placed + rest + more)
    upcoming = sorted(rng.sample(more, board.NUM_UPCOMING)) if form["period"] == 1 else []
    calpulli["upcoming"] = rng.choice((None, upcoming))


def mexica_period(form, rng):
    """Change the period."""
    if form["phase"] == "play":
        form["period"] = 3 - form["period"]
        mexica_temples(form, rng)
        mexica_tokens(form, rng)


def mexica_settle(form, rng):
    """Give the action tokens back that are too many."""
    held = 0
    for seat in form["seats"]:
        seat["action_tokens"] = min(seat["action_tokens"], board.NUM_ACTION_TOKENS - held)
        held += seat["action_tokens"]


# Nim


def nim_numbers(form, rng):
    form["piles"] = [_number(rng, 0, 63) for _ in range(_number(rng, 1, 8))]
    form["players"] = rng.randint(2, 4)
    form["to_move"] = _number(rng, 0, form["players"] - 1)
    form["plies_per_turn"] = rng.randint(1, 3)
    form["plies_left"] = rng.randint(1, form["plies_per_turn"])


GAMES = {
    "coatl": (
        (coatl_deal, coatl_show, coatl_show, coatl_tokens, coatl_temples, coatl_coatls, coatl_pieces, coatl_supply,
         coatl_phase, coatl_round, coatl_memory),
        coatl_settle,
    ),
    "tzolkin": (
        (tzolkin_stocks, tzolkin_tracks, tzolkin_skulls, tzolkin_gears, tzolkin_tiles, tzolkin_fields, tzolkin_wealth,
         tzolkin_turn, tzolkin_pending, tzolkin_pending),
        tzolkin_settle,
    ),
    "mexica": (
        (mexica_counters, mexica_canals, mexica_bridges, mexica_temples, mexica_tokens, mexica_period),
        mexica_settle,
    ),
    "nim": ((nim_numbers,), lambda form, rng: None),
}  # fmt: skip

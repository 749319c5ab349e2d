"""Steered random walks over Mexica positions, and the rare events in their steps.

Purely random play rarely founds a district, never pens anybody in and hardly ever sees a tie. So the walks
start from `scramble`, which throws bridges, temples, tokens and pillis over carved islands, and go on by
`choose`, which has a leaning. `events` names what happened in a step, for tests that count whether all of it
was seen.
"""

from collections import Counter

from mexica_builder import BOTH_TEMPLES, FIRST_TEMPLES, build
from reference.mexica import (
    LAND,
    NEIGHBOURS,
    NEUTRAL,
    PALACE,
    STANDARD_POOL,
    STARTING_SPACES,
    Table,
    legal_actions,
)

# Islands: runs of canals. These use all tiles but two doubles and a single; their districts have 1-10 spaces.
CARVED = (
    "J6-J7 F8-G8 J8-K8 F6-G6 E2-F2 L9-L10 G3-G4 K6-L6 B4-B5 D4-D5 G12-H12 G10-G11 I13-I14 M4-M5 J2-J3 R7-R8 "
    "H9-I9 E9-F9 K4-K5 P6-Q6 K11-K12 I12-J12 D8-E8 C10-D10 D2-D3 E11-F11 D12-D13 C6-C7 S9-T9 M6-N6 H5-I5 "
    "N10-O10 G1-H1 E7 G2 Q8 C13 M10",
    "E13-F13 C7-D7 J7-J8 C12-C13 R7-R8 F2-G2 H12-H13 F8-G8 C8-C9 G9-H9 N10-N11 G4-H4 D2-E2 I11-J11 J6-K6 "
    "L9-M9 K12-K13 F6-F7 J1-J2 N5-N6 E8-E9 B6-B7 D10-E10 S9-T9 I4-I5 L7-M7 J3-J4 J10-K10 K4-L4 I9-I10 P7-Q7 "
    "D11-E11 D3-D4 Q9 F3 C5 F5 F12",
)
OPEN = (
    # the palace square of nine; districts of 5 and 4 on the coast
    "G5-H5 I5 G9-H9 I9 F6-F7 F8 J6-J7 J8 F2-J2 S7 T8-U8",
    # the palace and F7, a district of six; corners where a pilli has a single way out
    "H4-H5 H9-H10 J7-K7 F6-G6 F8-G8 E7 I6 I8 A3-B3 P8-S8",
    # one long canal, one inland, one on the other side of the lake
    "B5-L5 D9-D10 U7 O5 F12-I12",
    "F2-J2 S7 T8-U8",
)
# Kinds of action, and how much each leaning likes them.
LEANINGS = {
    "even": {},
    "builder": {"canal": 12, "temple": 2, "teleport": 2, "end": 0.2},
    "traveller": {
        "walk": 5,
        "sail": 25,
        "bridge": 8,
        "relocate": 8,
        "temple": 0.3,
        "canal": 0.5,
        "teleport": 0.5,
    },
    "mason": {"temple": 10, "canal": 3, "teleport": 2, "end": 0.2},
    "idler": {"end": 6, "token": 3, "canal": 0, "temple": 0, "found": 0, "teleport": 0.2},
    "lurker": {"teleport": 8, "temple": 3, "walk": 5, "canal": 2, "end": 0.1},
}


def kind(action: str) -> str:
    return action.partition(" ")[0]


def choose(rng, leaning: str, position: dict, legal: list[str]) -> str:
    """Return an action for the seat to move: nearly always `found` if there is one, seldom `remove`."""
    display = position["calpulli"]["display"]
    if position["phase"] == "play" and display and rng.random() < 0.01:
        return f"remove {rng.choice(display)}"
    by_kind: dict[str, list[str]] = {}
    for action in legal:
        by_kind.setdefault(kind(action), []).append(action)
    weights = LEANINGS[leaning]
    if "found" in by_kind and weights.get("found", 1) and rng.random() < 0.9:
        return rng.choice(by_kind["found"])
    kinds = sorted(by_kind)
    chosen = rng.choices(kinds, [weights.get(name, 1) + 1e-6 for name in kinds])[0]
    if chosen == "sail" and rng.random() < 0.5:  # the longest way
        sails = Table(position).board.sails(position["to_move"])
        return max(by_kind["sail"], key=lambda action: sails[action.split()[1]])
    if chosen == "teleport" and rng.random() < 0.6:
        useful = _useful_teleports(position, by_kind["teleport"])
        return rng.choice(useful or by_kind["teleport"])
    return rng.choice(by_kind[chosen])


def _useful_teleports(position, teleports):
    """Return those into a district that could be founded, or beside a pilli."""
    table = Table(position)
    board = table.board
    useful = {
        space
        for district in board.districts()
        if len(district) in table.display and not board.is_founded(district)
        for space in district
    }
    for seat in range(table.players):
        if seat != table.to_move:
            useful |= set(board.walks(seat)) | set(board.sails(seat))
    return [action for action in teleports if action.split()[1] in useful]


def scramble(rng, players: int) -> dict:
    """Return a random position of the second half of an imagined game, or of its odd first round.

    One in five is full of boats: all pillis on bridges. Another one in five is crowded: all pillis in one
    district, which can be founded if there is a token of its size.
    """
    mood = rng.choice(["mixed", "mixed", "mixed", "boats", "crowd"])
    if rng.random() < 0.5:
        runs, no_tiles = rng.choice(CARVED).split(), False
        share = rng.choice([1, 1, 1, 0.9, 0.5])
        runs = [run for run in runs if rng.random() < share]
    else:
        runs, no_tiles = rng.choice(OPEN).split(), rng.random() < 0.5
    table = Table(build(players, canals=runs, no_tiles=no_tiles))
    _scramble_time(rng, table)
    _scramble_bridges(rng, table, 11 if mood == "boats" else rng.choice([0, 4, 11]))
    districts = table.board.districts()
    chosen = rng.sample(districts, min(3, len(districts)))
    focus = [space for district in chosen for space in sorted(district)]
    small = [sorted(district) for district in districts if players < len(district) <= 13]
    grounds = [focus, STARTING_SPACES, sorted(table.board.bridges), _lonely(table.board), LAND]
    if mood == "boats":
        grounds = [sorted(table.board.bridges)]
    elif mood == "crowd" and small:
        focus = rng.choice(small)
        grounds = [focus]
    _scramble_pillis(rng, table, grounds)
    _scramble_temples(rng, table, focus)
    _scramble_tokens(rng, table, districts)
    _scramble_counts(rng, table)
    return table.to_position()


def drills(players: int) -> list[dict]:
    """Return positions in which a rare thing is one action away."""
    others = ["B1", "K2", "L3"][: players - 1]
    found_pens_in = build(players, pillis=["C2", *others], canals=["B3-C3", "D2"], display=[3], round_=1)
    walls = dict.fromkeys(["N7", "M8", "N9"], (0, 1))
    sail_pens_in = build(players, pillis=["O6", "N8"], bridges=["O6 ew", "O8 ew"], temples=walls, round_=1)
    boats = ["O6", "O7", "O8"]
    long_sail = build(players, pillis=boats[:players], bridges=[f"{space} ew" for space in [*boats, "O9"]])
    far_bridges = ["O7 ew", "O9 ew", *(f"{column}5 ns" for column in "DEFGHIJKL")]
    relocation_pens_in = build(
        players,
        pillis=["U8", "O7"],
        canals=["D5-L5", "D9"],
        bridges=far_bridges,
        temples=dict.fromkeys(["N7", "P7"], (0, 1)),
        round_=1,
    )
    ends = {"display": [], "idle": 3, "built": False, "to_move": players - 1}
    ties = [
        build(
            players,
            temples={
                f"{column}9": (seat, level) for column, seat, level in zip("CDEF", range(players), levels, strict=False)
            },
            period=2,
            **ends,
        )
        for levels in ([3, 3, 2, 1], [3, 2, 1, 1], [3, 2, 2, 1], [3, 3, 2, 2], [3, 3, 3, 1], [3, 2, 2, 2])
    ]
    return [found_pens_in, sail_pens_in, long_sail, relocation_pens_in, *ties]


def _scramble_time(rng, table):
    table.period = 1 if rng.random() < 0.5 else 2
    table.round = 1 if table.period == 1 and rng.random() < 0.6 else rng.randint(2, 25)
    table.to_move = rng.choice([*range(table.players), table.players - 1])
    table.action_points, table.tokens_taken = rng.choice([0, 1, 2, 5, 6, 6, 6]), rng.choice([0, 0, 1, 2])


def _scramble_bridges(rng, table, number):
    board = table.board
    places = [(space, axis) for space in LAND for axis in ("ns", "ew") if board.can_carry_bridge(space, axis)]
    rng.shuffle(places)
    for space, axis in places:
        if len(board.bridges) < number and space not in board.bridges:
            board.bridges[space] = axis


def _lonely(board):
    """Return the spaces with a single way out, or none."""
    return [space for space in LAND if board.is_dry(space) and sum(map(board.is_dry, NEIGHBOURS[space])) <= 1]


def _scramble_pillis(rng, table, grounds):
    board = table.board
    for seat in range(table.players):
        for ground in (rng.choice(grounds), LAND):
            free = [
                space for space in ground if (board.is_dry(space) or space in board.bridges) and board.is_open(space)
            ]
            if free:
                board.pillis[seat] = rng.choice(free)
                break


def _scramble_temples(rng, table, focus):
    board = table.board
    table.stocks = [list(FIRST_TEMPLES if table.period == 1 else BOTH_TEMPLES) for _ in range(table.players)]
    share, near = rng.choice([0, 0.3, 0.6, 1]), rng.choice([0.5, 1])
    owners = list(range(table.players)) + [NEUTRAL] * (table.players == 2)
    pieces = [
        (owner, level)
        for owner in owners
        for level in (1, 2, 3, 4)
        for _ in range(table.stocks[owner][level - 1] if owner != NEUTRAL else 5 - level)
        if rng.random() < share
    ]
    rng.shuffle(pieces)
    if rng.random() < 0.5:
        pieces.clear()
        _scatter_evenly(rng, table, owners)
    for owner, level in pieces:
        ground = [space for space in (focus if rng.random() < near else LAND) if board.is_building_space(space)]
        if ground:
            board.temples[rng.choice(ground)] = (owner, level)
            if owner != NEUTRAL:
                table.stocks[owner][level - 1] -= 1


def _scatter_evenly(rng, table, owners):
    """Give most owners one low temple in each of some districts: ties of many shapes."""
    districts = table.board.districts()
    for district in rng.sample(districts, min(len(districts), 3)):
        for owner in owners:
            level = rng.choice([1, 1, 2])
            ground = sorted(filter(table.board.is_building_space, district))
            if ground and rng.random() < 0.9 and (owner == NEUTRAL or table.stocks[owner][level - 1]):
                table.board.temples[rng.choice(ground)] = (owner, level)
                if owner != NEUTRAL:
                    table.stocks[owner][level - 1] -= 1


def _scramble_tokens(rng, table, districts):
    board = table.board
    pool = rng.choice(
        [
            STANDARD_POOL,
            STANDARD_POOL,
            STANDARD_POOL,
            [*STANDARD_POOL, 3, 5, 9],
            [rng.randint(3, 13) for _ in range(15)],
        ]
    )
    table.pool = sorted(pool)
    rest = list(pool)
    most = 8 if table.period == 1 else 15
    for district in districts:
        ground = sorted(space for space in district if board.is_building_space(space))
        if len(district) in rest and ground and len(board.tokens) < most and rng.random() < 0.4:
            board.tokens[rng.choice(ground)] = len(district)
            rest.remove(len(district))
    rng.shuffle(rest)
    if rng.random() < 0.6:  # what could be founded comes first
        sizes = [len(district) for district in districts if not board.is_founded(district)]
        rest.sort(key=lambda size: size not in sizes)
    number = most - len(board.tokens)
    shown, rest = rest[:number], rest[number:]
    share = rng.choice([0, 0.5, 1, 1])
    table.display = [size for size in shown if rng.random() < share]
    table.removed = list((Counter(shown) - Counter(table.display)).elements())
    if table.period == 2:
        table.upcoming = []
    elif len(pool) == 15:
        table.upcoming = rest
    else:
        table.upcoming = rng.choice([None, rest[:7]])


def _scramble_counts(rng, table):
    players = table.players
    table.scores = [20] * players if rng.random() < 0.5 else [rng.randint(0, 40) for _ in range(players)]
    table.action_tokens = rng.choice([[0] * players, [3] * players, [rng.randint(0, 3) for _ in range(players)]])
    table.built_this_round = rng.random() < 0.5
    table.idle_rounds = 0 if table.round == 1 else rng.choice([0, 1] if table.display else [0, 1, 2, 3, 3, 3])
    if not table.display and any(not any(stock) for stock in table.stocks):
        table.built_this_round = True  # or else the period might have ended before


# What happened


def events(before: dict, action: str, after: dict) -> list[str]:
    """Return the names of the rare events in a step."""
    verb, *operands = action.split()
    table, later = Table(before), Table(after)
    seat = before["to_move"]
    named = [verb, f"{before['players']} seats"]
    if verb == "canal":
        named.append("double canal" if "-" in operands[0] else "single canal")
    elif verb == "bridge":
        named.append(f"bridge {operands[1]}")
    elif verb == "relocate":
        named.append("relocate on the same place" if operands[0] == operands[1] else f"relocate {operands[2]}")
    elif verb == "temple":
        named.append(f"temple {operands[0]}")
        named.append(
            "temple in a founded district"
            if table.board.is_founded(table.board.district_of_pilli(seat))
            else "temple in an unfounded district"
        )
    elif verb == "walk":
        if operands[0] in table.board.bridges:
            named.append("walk onto a bridge")
        elif before["seats"][seat]["pilli"] in table.board.bridges:
            named.append("walk off a bridge")
    elif verb == "sail":
        named.append(f"sail past {table.board.sails(seat)[operands[0]] - 1}")
    elif verb == "teleport" and operands[0] in table.board.bridges:
        named.append("teleport onto a bridge")
    elif verb == "found":
        district = table.board.district_of_pilli(seat)
        named.append(f"found with {sum(space in district for space in table.board.pillis) - 1} guests")
        if district & PALACE:
            named.append("found a palace district")
    elif verb == "end":
        named += _end_events(table, later)
    if later.action_tokens[seat] < table.action_tokens[seat]:
        named.append("tokens spent")
    if verb not in ("remove", "end") and len(later.removed) > len(table.removed):
        named.append("D5 with tiles left" if later.singles or later.doubles else "D5 without tiles")
        if later.to_move == table.to_move and later.action_points < 6:
            named.append("D5 in the middle of a turn")
    if table.round > 1 and table.phase == "play" and table.pens_in(action):
        named.append("penned in after the first round")
    if len(table.pool) > 15:
        named.append("larger pool")
    if table.pool != STANDARD_POOL:
        named.append("other pool")
    return named


def _end_events(table, later):
    named = []
    if table.to_move == table.players - 1:
        idle = not table.built_this_round
        if idle and table.idle_rounds >= 1 and table.display:
            named.append("D6 removes the display")
        if later.period != table.period or later.phase == "over":
            named.append("first scoring" if later.phase != "over" else "second scoring")
            if idle and table.idle_rounds >= 3:
                named.append("D6 ends the period")
            if any(not any(stock) for stock in table.stocks):
                named.append("period ends with all temples of a seat built")
                if table.display:
                    named.append("D7 display removed and period ended at once")
            named += _scoring_events(table)
            if later.phase != "over" and len(later.display) < 7:
                named.append("D5 when tokens are dealt")
        if later.phase == "over":
            best = [seat for seat, score in enumerate(later.scores) if score == max(later.scores)]
            won = later.winners()
            named.append(f"{len(won)} winners")
            if len(won) < len(best):
                named.append("tie broken by action tokens")
    return named


def _scoring_events(table):
    named = []
    for district in table.board.districts():
        founded = table.board.is_founded(district)
        if founded or table.period == 2:
            grandeur = table.grandeur(district)
            named.append("unfounded district scored" if not founded and grandeur else "district scored")
            groups = Counter(grandeur.values())
            # for example 1-2: one first, two seconds
            named.append("places " + "-".join(str(groups[levels]) for levels in sorted(groups, reverse=True)))
            if groups[grandeur.get(NEUTRAL)] > 1:
                named.append("neutral temples tie with a seat")
            elif NEUTRAL in grandeur and len(grandeur) > 1:
                named.append("neutral temples rank among seats")
    if any(space in STARTING_SPACES for space in table.board.pillis):
        named.append("palace bonus")
    return named


def penned_in(position: dict, legal: list[str]) -> list[str]:
    """Return the actions that D4 alone forbids here."""
    if position["round"] != 1 or position["phase"] != "play":
        return []
    return sorted(set(legal_actions(position | {"round": 2})) - set(legal))


# Neighbours of a position, for tests of the hash


def variants(rng, position: dict):
    """Yield (what was changed, position): each differs in one thing, most of them are valid positions."""
    players, seats, calpulli = position["players"], position["seats"], position["calpulli"]

    def seats_with(seat, **changes):
        return position | {"seats": [*seats[:seat], seats[seat] | changes, *seats[seat + 1 :]]}

    def calpulli_with(**changes):
        return position | {"calpulli": calpulli | changes}

    seat, other = rng.sample(range(players), 2)
    yield "score", seats_with(seat, score=seats[seat]["score"] + 1)
    yield "action_tokens", seats_with(seat, action_tokens=seats[seat]["action_tokens"] + 1)
    yield "action_points", position | {"action_points": (position["action_points"] + 1) % 7}
    yield "tokens_taken", position | {"tokens_taken": (position["tokens_taken"] + 1) % 3}
    yield "idle_rounds", position | {"idle_rounds": (position["idle_rounds"] + 1) % 4}
    yield "built_this_round", position | {"built_this_round": not position["built_this_round"]}
    yield "round", position | {"round": position["round"] + 1}
    yield "to_move", position | {"to_move": (position["to_move"] + 1) % players}
    if seats[seat]["score"] != seats[other]["score"]:
        swapped = [*seats]
        swapped[seat] = seats[seat] | {"score": seats[other]["score"]}
        swapped[other] = seats[other] | {"score": seats[seat]["score"]}
        yield "scores swapped", position | {"seats": swapped}
    swapped = [*seats]
    swapped[seat] = seats[seat] | {"pilli": seats[other]["pilli"]}
    swapped[other] = seats[other] | {"pilli": seats[seat]["pilli"]}
    yield "pillis swapped", position | {"seats": swapped}
    table = Table(position)
    free = [space for space in LAND if table.board.is_building_space(space)]
    if free:
        yield "pilli", seats_with(seat, pilli=rng.choice(free))
    for index, temple in enumerate(position["temples"]):
        temples = position["temples"]
        if free:
            moved = sorted(
                [*temples[:index], temple | {"at": rng.choice(free)}, *temples[index + 1 :]],
                key=lambda temple: LAND.index(temple["at"]),
            )
            yield "temple's space", position | {"temples": moved}
        turned = [*temples[:index], temple | {"seat": NEUTRAL}, *temples[index + 1 :]]
        if temple["seat"] != NEUTRAL and players == 2:
            stock = [*seats[temple["seat"]]["temples"]]
            stock[temple["level"] - 1] += 1
            yield "temple's owner", seats_with(temple["seat"], temples=stock) | {"temples": turned}
        break
    neutral = [index for index, temple in enumerate(position["temples"]) if temple["seat"] == NEUTRAL]
    if neutral:
        index = neutral[0]
        level = position["temples"][index]["level"] % 4 + 1
        changed = [*position["temples"]]
        changed[index] = changed[index] | {"level": level}
        yield "temple's level", position | {"temples": changed}
    for index, bridge in enumerate(position["bridges"]):
        bridges = position["bridges"]
        axis = "ew" if bridge["axis"] == "ns" else "ns"
        yield (
            "bridge's axis",
            position | {"bridges": [*bridges[:index], bridge | {"axis": axis}, *bridges[index + 1 :]]},
        )
        yield "bridge gone", position | {"bridges": [*bridges[:index], *bridges[index + 1 :]]}
    tiles = position["canal_tiles"]
    yield "tiles", position | {"canal_tiles": {"single": tiles["single"] - 2, "double": tiles["double"] + 1}}
    yield "tiles", position | {"canal_tiles": {"single": tiles["single"] + 2, "double": tiles["double"] - 1}}
    display, removed = calpulli["display"], calpulli["removed"]
    if display:
        yield "display", calpulli_with(display=display[1:], removed=sorted([*removed, display[0]]))
    for index, token in enumerate(calpulli["placed"]):
        district = sorted(space for space in table.board.district_of(token["at"]) if space in free)
        if district:
            moved = [*calpulli["placed"]]
            moved[index] = token | {"at": district[0]}
            moved.sort(key=lambda token: LAND.index(token["at"]))
            yield "token's space", calpulli_with(placed=moved)
    if "pool" in calpulli and len(calpulli["pool"]) > 15:
        yield "pool", calpulli_with(pool=sorted([*calpulli["pool"], rng.randint(3, 13)]))
        if calpulli["upcoming"] and position["period"] == 1:
            yield "upcoming", calpulli_with(upcoming=None)

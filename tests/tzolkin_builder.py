"""Hand-made Tzolk'in positions for tests: `build` fills in everything that a test does not care about."""

from reference import tzolkin as reference

WEALTH = [["w_pal7", "w_tik3"], ["w_yax7", "w_tik7"], ["w_uxm7", "w_chi0"], ["w_chi5", "w_chi10"]]
# Where idle workers stand with less than four seats: on spaces that no seat can use, then on last actions.
IDLE = [(gear, facts["last_action"] + beyond) for beyond in (1, 2, 0) for gear, facts in reference.GEARS.items()]


def build(players: int = 4, *, seats=None, gears=None, buildings=None, monuments=None, display=6, **changes) -> dict:
    """Return a JSON position that obeys all invariants: day 2, nothing done yet, no worker out, no corn.

    Parameters
    ----------
    seats
        Seat -> what differs there; `temples` and `technologies` may name some only. Harvest tiles that are
        gone from the fields and with no seat named go to the last seat.
    gears
        Gear -> places from action 0 on; the rest is free.
    buildings, monuments
        Names on display that matter; the display is filled up to `display` buildings in data order, and with
        as many monuments as are in the game.
    changes
        Any other key of the position.
    """
    setup = reference.FACTS["setup"]["players"][str(players)]
    position = {
        "game": "tzolkin", "version": 1, "players": players, "viewer": None,
        "options": {"whole_points": False},
        "phase": "turn", "day": 2, "food_days": 0, "start_player": 0, "to_move": 0,
        "placed": 0, "last": "", "pending": [], "reveal": 0, "start_space": None, "teeth_corn": 0,
        "gears": {}, "skulls_placed": [],
        "fields": {"corn": [setup["fields"]] * 4, "wood": [0] + [setup["fields"]] * 3},
        "display": {"buildings": list(buildings or []), "monuments": list(monuments or [])}, "drawn": [],
        "seats": [],
    }  # fmt: skip
    position |= changes
    if position["pending"]:
        position["phase"] = "picking"
    for number in range(players):
        seat = {
            "score": 0, **dict.fromkeys(reference.MATERIALS, 0), "workers": 3, "light": True,
            "corn_tiles": 0, "wood_tiles": 0,
            "temples": dict.fromkeys(reference.TEMPLES, 0),
            "technologies": dict.fromkeys(reference.TRACKS, 0),
            "buildings": [], "monuments": [], "wealth": list(WEALTH[number]), "dealt": [],
        }  # fmt: skip
        for key, value in (seats or {}).get(number, {}).items():
            seat[key] = seat[key] | value if isinstance(seat[key], dict) else value
        position["seats"].append(seat)
    position["gears"] = _gears(gears or {}, setup["idle_workers"])
    _fill_display(position, setup["monuments"], display)
    gone = 4 * players - sum(position["fields"]["corn"]) - sum(s["corn_tiles"] for s in position["seats"])
    position["seats"][-1]["corn_tiles"] += gone
    reference.check(position)
    return position


def _gears(named, idle):
    gears = {gear: list(named.get(gear, "").ljust(facts["teeth"], ".")) for gear, facts in reference.GEARS.items()}
    idle -= sum(places.count("i") for places in gears.values())
    for gear, space in IDLE:
        if idle > 0 and gears[gear][space] == ".":
            gears[gear][space] = "i"
            idle -= 1
    return {gear: "".join(places) for gear, places in gears.items()}


def _fill_display(position, monuments, size):
    display = position["display"]
    built = [name for seat in position["seats"] for name in seat["monuments"]]
    unused = [name for name in reference.MONUMENTS if name not in built + display["monuments"]]
    missing = monuments - len(built) - len(display["monuments"])
    display["monuments"] = sorted(display["monuments"] + unused[:missing], key=list(reference.MONUMENTS).index)
    while len(display["buildings"]) < size and reference.deck(position):
        display["buildings"].append(next(iter(reference.deck(position))))
    display["buildings"].sort(key=list(reference.BUILDINGS).index)

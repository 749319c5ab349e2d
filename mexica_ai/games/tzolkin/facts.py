"""The names and facts of Tzolk'in that its text forms need; all of them from the facts of the compiled game."""

from collections import Counter
from collections.abc import Iterable, Sequence

from cext.games.tzolkin.tables import FACTS
from mexica_ai.io.json_types import JsonObject


def _named(table: str) -> dict[str, JsonObject]:
    return {entry["name"]: entry for entry in FACTS[table]}


GEARS, TEMPLES, TRACKS = _named("gears"), _named("temples"), _named("tracks")
WEALTH, BUILDINGS, MONUMENTS = _named("wealth"), _named("buildings"), _named("monuments")
CHICHEN, START = "chichen_itza", "start"
PLACES = [*GEARS, START]
BLOCKS = {"W": "wood", "S": "stone", "G": "gold"}  # in their order
STOCKS = ("corn", *BLOCKS.values())
FOOD_DAYS = [day["day"] for day in FACTS["calendar"]["food_days"]]
LAST_DAY = FACTS["calendar"]["days"]
AGE_2 = 2  # food days held before the second age
BEG_AT_MOST = FACTS["placement"]["beg_at_most"]
CORN_PER_WORKER = FACTS["feeding"]["corn_per_worker"]
LOWEST, TOP_LEVEL = -1, 3
ANY_FIELD = 2  # the level of agriculture from which corn is harvested without a tile
NUM_SKULLS, DISPLAY = FACTS["setup"]["skulls"], FACTS["setup"]["display"]
NUM_DEALT, NUM_KEPT = FACTS["setup"]["dealt"], FACTS["setup"]["kept"]
MIN_WORKERS, MAX_WORKERS = FACTS["setup"]["workers_at_start"], FACTS["setup"]["workers_max"]
SETUP = {int(players): setup for players, setup in FACTS["setup"]["players"].items()}
MIN_PLAYERS, MAX_PLAYERS = min(SETUP), max(SETUP)
NUM_FIELDS = 4  # Palenque 2 to 5
SKULL_ACTIONS = len(GEARS[CHICHEN]["actions"])
PHASES = ("keep", "turn", "placing", "picking", "advance", "over")
IDLE, FREE, HIDDEN = "i", ".", "?"
STOCK_MAX = SCORE_MAX = 999

# Decisions that a turn may still have to make; a text's index is its number less 1 (`Decision` in state.pxd).
DECISIONS = (
    "harvest 2", "harvest 3", "harvest 4", "harvest 5", "research one", "research two", "research more",
    "research free one", "research free two", "build one", "build two", "build corn", "build second",
    "build second plain", "build more", "climb one", "climb two", "climb more", "take 1", "take 2", "trade",
    "trade more", "use one", "use more",
)  # fmt: skip
_TRADING = 64  # + a bit for each kind sold, then for each kind bought


def _visits() -> dict[str, int]:
    """Return the texts of a visit to the market that goes on, with their numbers."""
    letters = list(BLOCKS)
    visits = {}
    for sold in range(1 << len(letters)):
        for bought in range(1 << len(letters)):
            if sold & bought or not sold | bought:
                continue
            kinds = [letter.lower() for bit, letter in enumerate(letters) if sold >> bit & 1]
            kinds += [letter for bit, letter in enumerate(letters) if bought >> bit & 1]
            visits["trade " + "".join(kinds)] = _TRADING | sold | bought << len(letters)
    return visits


NUMBER_OF_DECISION = {text: number for number, text in enumerate(DECISIONS, start=1)} | _visits()
TEXT_OF_DECISION = {number: text for text, number in NUMBER_OF_DECISION.items()}


def top_step(temple: str) -> int:
    """Return the highest step of a temple."""
    return len(TEMPLES[temple]["points"]) - 1 + LOWEST


def age(food_days: int) -> int:
    """Return the age after a number of food days."""
    return 1 if food_days < AGE_2 else 2


def in_order(names: Iterable[str], table: Sequence[str] | JsonObject) -> list[str]:
    """Return names in data order, hidden ones first."""
    order = list(table)
    return sorted(names, key=lambda name: -1 if name == HIDDEN else order.index(name))


def deck(data: JsonObject) -> Counter[str]:
    """Return how often each building is left in the deck of the age of a JSON position."""
    of_age = age(data["food_days"])
    left = Counter({name: tile["copies"] for name, tile in BUILDINGS.items() if tile["age"] == of_age})
    left.subtract(name for name in data["display"]["buildings"] if name in left)
    left.subtract(name for seat in data["seats"] for name in seat["buildings"] if name in left)
    return +left


def place_idle_workers(drawn: Sequence[str], number: int) -> tuple[dict[str, str], int]:
    """Return the gears with the idle workers that drawn tiles place, and how many of the tiles that took."""
    gears = {gear: [FREE] * facts["teeth"] for gear, facts in GEARS.items()}
    taken = 0
    while number and taken < len(drawn):
        gear, action = WEALTH[drawn[taken]]["gear"], WEALTH[drawn[taken]]["action"]
        taken += 1
        spaces = [action]
        if IDLE not in gears[gear] and gear != CHICHEN:
            spaces.append((action + 5) % GEARS[gear]["teeth"])
        for space in spaces[:number]:
            gears[gear][space] = IDLE
            number -= 1
    return {gear: "".join(places) for gear, places in gears.items()}, taken


def workers_on_gears(data: JsonObject, seat: int) -> int:
    """Return how many workers of a seat are on the gears."""
    number: int = sum(places.count(str(seat)) for places in data["gears"].values())
    return number


def workers_out(data: JsonObject, seat: int) -> int:
    """Return how many workers of a seat are on the gears and on the start space."""
    return workers_on_gears(data, seat) + int(data["start_space"] == seat)


def can_double(data: JsonObject, seat: int) -> bool:
    """Return whether a seat may advance the calendar by two days (D2)."""
    # A slice, since this is asked of positions with gears too short, too, before they are refused.
    blocking = (data["gears"][gear][facts["last_action"] - 1 :][:1] for gear, facts in GEARS.items())
    return bool(data["seats"][seat]["light"]) and not any(place.isdigit() for place in blocking)


def can_climb(data: JsonObject, seat: int, temple: str) -> bool:
    """Return whether a seat may step up in a temple: only one seat stands on the top step."""
    steps = [own["temples"][temple] for own in data["seats"]]
    return steps[seat] < top_step(temple) and (steps[seat] + 1 < top_step(temple) or top_step(temple) not in steps)


def bank(data: JsonObject) -> int:
    """Return how many skulls the bank has."""
    held = sum(own["skulls"] for own in data["seats"])
    return int(NUM_SKULLS - len(data["skulls_placed"]) - held)

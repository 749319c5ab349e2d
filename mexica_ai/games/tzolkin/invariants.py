"""The invariants of Tzolk'in positions; each violation has a name and a JSON path.

`check_position` is the main function. It works on the JSON object, its shape already checked. It reports all
violations in one pass and repairs nothing; but if a number is out of its range, it checks nothing else.

Not invariants: that a position can be reached in play, and the distances of idle workers after the setup.
That the first pending decision has an answer is asked once the position has become a state.
"""

from collections import Counter

from mexica_ai.game.checker import Checker
from mexica_ai.game.text_forms import SPECTATOR
from mexica_ai.games.tzolkin import facts
from mexica_ai.games.tzolkin.facts import BUILDINGS, GEARS, HIDDEN, TEMPLES, TRACKS
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, quote

MAX_PENDING = 12  # far more than a turn ever has at once; the compiled core has room for three more


def check_position(data: JsonObject, path: str, findings: Findings) -> None:
    """Check a position of the right shape; see `mexica_ai.game.checker.Checker`."""
    _Checker(data, path, findings).check()


class _Checker(Checker):
    def __init__(self, data: JsonObject, path: str, findings: Findings) -> None:
        super().__init__(data, path, findings)
        self.phase = data["phase"]

    def require(self, holds: bool, where: str, reason: str, given: object, expected: str) -> bool:
        if not holds:
            self.findings.add(f"{self.path}.{where}", reason, f"given {quote(given)}; expected {expected}")
        return holds

    def check(self) -> None:
        self._check_ranges()
        if self.findings.violations:
            return
        self.mover, self.user = self.data["to_move"], self.data["start_space"]
        self._check_calendar()
        self._check_gears()
        self._check_turn()
        self._check_temples_and_skulls()
        self._check_tiles()
        self._check_fields()
        self._check_wealth()
        self._check_scores()
        self._check_pending()

    # --- ranges

    def _check_ranges(self) -> None:
        data = self.data
        if not self.check_range("players", data["players"], facts.MIN_PLAYERS, facts.MAX_PLAYERS):
            return
        last_seat = data["players"] - 1
        for key, lowest in (("viewer", SPECTATOR), ("start_space", 0)):
            if data[key] is not None:
                self.check_range(key, data[key], lowest, last_seat)
        self.require(
            data["viewer"] is None or self.phase == "keep",
            "viewer",
            "VIEWER_MISMATCH",
            data["viewer"],
            f"null in phase {self.phase}: nothing is hidden",
        )
        for key, low, high in (
            ("day", 1, facts.LAST_DAY),
            ("food_days", 0, len(facts.FOOD_DAYS)),
            ("start_player", 0, last_seat),
            ("to_move", 0, 0 if self.phase == "over" else last_seat),
            ("placed", 0, facts.MAX_WORKERS),
            ("reveal", 0, facts.DISPLAY),
            ("teeth_corn", 0, facts.LAST_DAY),
        ):
            self.check_range(key, data[key], low, high)
        for index, action in enumerate(data["skulls_placed"]):
            self.check_range(f"skulls_placed[{index}]", action, 1, facts.SKULL_ACTIONS)
        for kind, tiles in data["fields"].items():
            self.require(
                len(tiles) == facts.NUM_FIELDS,
                f"fields.{kind}",
                "FIELDS",
                tiles,
                f"{facts.NUM_FIELDS} numbers",
            )
            for index, number in enumerate(tiles):
                self.check_range(f"fields.{kind}[{index}]", number, 0, facts.STOCK_MAX)
        if self.check_num_seats():
            for number, seat in enumerate(self.seats):
                self._check_seat_ranges(number, seat)

    def _check_seat_ranges(self, number: int, seat: JsonObject) -> None:
        where = f"seats[{number}]"
        for kind in facts.STOCKS:
            self.check_range(f"{where}.{kind}", seat[kind], 0, facts.STOCK_MAX)
        self.check_range(f"{where}.skulls", seat["skulls"], 0, facts.NUM_SKULLS)
        for kind in ("corn_tiles", "wood_tiles"):
            self.check_range(f"{where}.{kind}", seat[kind], 0, facts.STOCK_MAX)
        for temple in TEMPLES:
            low, high = facts.LOWEST, facts.top_step(temple)
            self.check_range(f"{where}.temples.{temple}", seat["temples"][temple], low, high)
        for track in TRACKS:
            self.check_range(f"{where}.technologies.{track}", seat["technologies"][track], 0, facts.TOP_LEVEL)
        is_hidden = self.data["viewer"] not in (None, number)
        for key in ("wealth", "dealt"):
            for index, tile in enumerate(seat[key]):
                self.require(
                    (tile == HIDDEN) == is_hidden,
                    f"{where}.{key}[{index}]",
                    "BAD_VALUE",
                    tile,
                    '"?": the viewer does not see it' if is_hidden else "a tile: it is not hidden here",
                )

    # --- the calendar and the gears

    def _check_calendar(self) -> None:
        phase, day, held = self.phase, self.data["day"], self.data["food_days"]
        if phase == "keep":
            self.require(day == 1, "day", "DAY", day, "day 1 in phase keep")
        elif phase == "advance":
            self.require(day < facts.LAST_DAY, "day", "DAY", day, f"a day before {facts.LAST_DAY} in phase advance")
        elif phase == "over":
            self.require(day == facts.LAST_DAY, "day", "DAY", day, f"day {facts.LAST_DAY} in phase over")
        if phase in ("advance", "over"):
            allowed = {sum(food_day <= day for food_day in facts.FOOD_DAYS)}
        else:
            before = sum(food_day < day for food_day in facts.FOOD_DAYS)
            allowed = {before, before - 1} if day - 1 in facts.FOOD_DAYS else {before}
        self.require(
            held in allowed,
            "food_days",
            "FOOD_DAYS",
            held,
            f"{' or '.join(map(str, sorted(allowed)))} on day {day} in phase {phase}",
        )
        corn = self.data["teeth_corn"]
        self.require(
            corn < day or (phase == "over" and corn == day),
            "teeth_corn",
            "TEETH_CORN",
            corn,
            f"less than the day, {day}",
        )
        is_taken = self.user is not None and not (phase == "placing" and self.user == self.mover)
        self.require(
            not is_taken or corn == 0,
            "teeth_corn",
            "TEETH_CORN",
            corn,
            "0: the seat on the starting player space has taken it",
        )

    def _check_gears(self) -> None:
        setup = facts.SETUP[self.data["players"]]
        is_sound = True
        for gear, gear_facts in GEARS.items():
            places, teeth = self.data["gears"][gear], gear_facts["teeth"]
            fits = len(places) == teeth and all(
                place in (facts.FREE, facts.IDLE)
                or (place in "0123"[: self.data["players"]] and space <= gear_facts["last_action"])
                for space, place in enumerate(places)
            )
            is_sound &= self.require(
                fits,
                f"gears.{gear}",
                "GEARS",
                places,
                f'{teeth} characters, each ".", "i" or, up to action {gear_facts["last_action"]}, a seat',
            )
        idle = sum(places.count(facts.IDLE) for places in self.data["gears"].values())
        self.require(
            idle == setup["idle_workers"],
            "gears",
            "IDLE_WORKERS",
            idle,
            f"{setup['idle_workers']} idle workers",
        )
        if self.phase == "keep" and is_sound:
            self._check_idle_workers(setup["idle_workers"])
        for number, seat in enumerate(self.seats):
            where, low, high = f"seats[{number}].workers", facts.MIN_WORKERS, facts.MAX_WORKERS
            self.require(low <= seat["workers"] <= high, where, "WORKERS", seat["workers"], f"{low} to {high}")
            out = facts.workers_out(self.data, number)
            self.require(
                out <= seat["workers"],
                where,
                "WORKERS",
                seat["workers"],
                f"{out} at least: those on the gears and the start space",
            )

    def _check_idle_workers(self, number: int) -> None:
        drawn = self.data["drawn"]
        placed, taken = facts.place_idle_workers(drawn, number)
        for gear, places in placed.items():
            given = self.data["gears"][gear]
            self.require(
                [place == facts.IDLE for place in given] == [place == facts.IDLE for place in places],
                f"gears.{gear}",
                "IDLE_WORKERS",
                given,
                f"idle workers just where `drawn` puts them, {quote(places)}",
            )
        self.require(taken == len(drawn), "drawn", "IDLE_WORKERS", drawn, f"the {taken} tiles that place idle workers")

    # --- the turn

    def _check_turn(self) -> None:
        phase, mover, user = self.phase, self.mover, self.user
        players, first = self.data["players"], self.data["start_player"]
        had_turn = [(first + turn) % players for turn in range((mover - first) % players)]
        if phase in ("keep", "over"):
            fits, expected = user is None, f"null in phase {phase}"
        elif phase == "advance":
            fits = user == mover and facts.can_double(self.data, mover)
            expected = f"{mover}, the seat to move, able to advance by two days"
        elif phase == "placing" and (user == mover or self.data["last"] == facts.START):
            fits = user == mover and self.data["last"] == facts.START
            expected = f"{mover}, the seat to move, exactly if `last` is start"
        else:
            fits, expected = (
                user is None or user in had_turn,
                "null, or a seat that had its turn in this round",
            )
        self.require(fits, "start_space", "START_SPACE", user, expected)
        self._check_last()
        placed, out = self.data["placed"], facts.workers_out(self.data, mover)
        if phase == "placing":
            self.require(1 <= placed <= out, "placed", "PLACED", placed, f"1 to {out}, the workers of the seat to move")
        else:
            self.require(placed == 0, "placed", "PLACED", placed, f"0 in phase {phase}")

    def _check_last(self) -> None:
        last, gears = self.data["last"], self.data["gears"]
        if self.phase == "placing":
            on_gear = last in GEARS and str(self.mover) in gears[last]
            fits = on_gear or (last == facts.START and self.user == self.mover)
            expected = f"a space on which seat {self.mover} has a worker"
        elif self.phase == "picking" and last:
            gear, _, space = last.partition(" ")
            names = {str(number) for number in range(GEARS[gear]["last_action"] + 1)} if gear in GEARS else ()
            fits = space in names and gears[gear][int(space) : int(space) + 1] == facts.FREE
            expected = 'a free space such as "tikal 3"'
        else:
            fits, expected = last == "", f'"" in phase {self.phase}'
        self.require(fits, "last", "LAST", last, expected)

    # --- temples, skulls and tiles

    def _check_temples_and_skulls(self) -> None:
        for temple in TEMPLES:
            top = facts.top_step(temple)
            on_top = [number for number, seat in enumerate(self.seats) if seat["temples"][temple] == top]
            for number in on_top[1:]:
                self.require(
                    False,
                    f"seats[{number}].temples.{temple}",
                    "TOP_STEP",
                    top,
                    f"less: seat {on_top[0]} stands on the top step",
                )
        placed = self.data["skulls_placed"]
        self.require(len(set(placed)) == len(placed), "skulls_placed", "SKULLS", placed, "each action filled once")
        number = len(placed) + sum(seat["skulls"] for seat in self.seats)
        self.require(
            number <= facts.NUM_SKULLS,
            "skulls_placed",
            "SKULLS",
            number,
            f"{facts.NUM_SKULLS} skulls held and placed at most",
        )

    def _check_tiles(self) -> None:
        display, age = self.data["display"], facts.age(self.data["food_days"])
        monuments = display["monuments"] + [name for seat in self.seats for name in seat["monuments"]]
        number = facts.SETUP[self.data["players"]]["monuments"]
        self.require(
            len(set(monuments)) == len(monuments) == number,
            "display.monuments",
            "MONUMENTS",
            monuments,
            f"{number} different monuments on display and built",
        )
        counts = Counter(display["buildings"])
        for index, seat in enumerate(self.seats):
            counts.update(seat["buildings"])
            for place, name in enumerate(seat["buildings"]):
                self.require(
                    BUILDINGS[name]["age"] <= age,
                    f"seats[{index}].buildings[{place}]",
                    "BUILDING_AGE",
                    name,
                    "a building of age 1 before the second age",
                )
        for place, name in enumerate(display["buildings"]):
            self.require(
                BUILDINGS[name]["age"] == age,
                f"display.buildings[{place}]",
                "BUILDING_AGE",
                name,
                f"a building of age {age}",
            )
        for name, copies in counts.items():
            self.require(
                copies <= BUILDINGS[name]["copies"],
                "display.buildings",
                "TILE_COPIES",
                f"{name} {copies} times",
                f"{BUILDINGS[name]['copies']} times at most",
            )
        self._check_display()

    def _check_display(self) -> None:
        buildings, reveal = self.data["display"]["buildings"], self.data["reveal"]
        free = facts.DISPLAY - len(buildings)
        self.require(free >= 0, "display.buildings", "DISPLAY", buildings, f"{facts.DISPLAY} buildings at most")
        missing = max(0, min(free, facts.deck(self.data).total()))
        if self.phase in ("turn", "advance"):
            self.require(
                reveal == missing,
                "reveal",
                "DISPLAY",
                reveal,
                f"{missing}: those that are missing and in the deck",
            )
            return
        self.require(reveal == 0, "reveal", "DISPLAY", reveal, f"0 in phase {self.phase}")
        self.require(
            missing == 0 or self.phase in ("picking", "over"),
            "display.buildings",
            "DISPLAY",
            buildings,
            f"{missing} more in phase {self.phase}",
        )

    def _check_fields(self) -> None:
        players = self.data["players"]
        corn, wood = self.data["fields"]["corn"], self.data["fields"]["wood"]
        for index in range(facts.NUM_FIELDS):
            most = corn[index] if index else 0
            self.require(
                corn[index] <= players,
                f"fields.corn[{index}]",
                "FIELDS",
                corn[index],
                f"{players} tiles at most",
            )
            self.require(wood[index] <= most, f"fields.wood[{index}]", "FIELDS", wood[index], f"{most} tiles at most")
        gone = {"corn": 4 * players - sum(corn), "wood": 3 * players - sum(wood)}
        taken = {kind: sum(seat[f"{kind}_tiles"] for seat in self.seats) for kind in gone}
        self.require(
            taken["corn"] == gone["corn"],
            "fields.corn",
            "HARVEST_TILES",
            taken["corn"],
            f"{gone['corn']} corn tiles with the seats: those that are gone",
        )
        self.require(
            taken["wood"] <= gone["wood"],
            "fields.wood",
            "HARVEST_TILES",
            taken["wood"],
            f"{gone['wood']} wood tiles with the seats at most: those that are gone",
        )

    def _check_wealth(self) -> None:
        keeping, drawn = self.phase == "keep", self.data["drawn"]
        self.require(keeping or not drawn, "drawn", "WEALTH", drawn, f"no tiles in phase {self.phase}")
        self.require(len(set(drawn)) == len(drawn), "drawn", "WEALTH", drawn, "different tiles")
        seen = set(drawn)
        for number, seat in enumerate(self.seats):
            where, dealt, wealth = f"seats[{number}]", seat["dealt"], seat["wealth"]
            num_dealt = facts.NUM_DEALT if keeping else 0
            num_kept = 0 if keeping and number >= self.mover else facts.NUM_KEPT
            self.require(
                len(dealt) == num_dealt,
                f"{where}.dealt",
                "WEALTH",
                dealt,
                f"{num_dealt} tiles in phase {self.phase}",
            )
            self.require(len(wealth) == num_kept, f"{where}.wealth", "WEALTH", wealth, f"{num_kept} tiles")
            if HIDDEN in dealt or HIDDEN in wealth:
                continue
            self.require(
                (not keeping or set(wealth) <= set(dealt)) and len(set(wealth)) == len(wealth),
                f"{where}.wealth",
                "WEALTH",
                wealth,
                "different tiles of those dealt",
            )
            key, tiles = ("dealt", dealt) if keeping else ("wealth", wealth)
            self.require(
                len(set(tiles)) == len(tiles) and not seen & set(tiles),
                f"{where}.{key}",
                "WEALTH",
                tiles,
                "tiles that are nowhere else",
            )
            seen |= set(tiles)

    def _check_scores(self) -> None:
        for number, seat in enumerate(self.seats):
            score = seat["score"]
            is_whole = type(score) is int
            is_final = is_whole or ((4 * score).is_integer() and not score.is_integer())
            self.require(
                is_whole if self.phase != "over" else is_final,
                f"seats[{number}].score",
                "SCORE",
                score,
                "an integer" if self.phase != "over" else "an integer, or .25, .5 or .75 after one",
            )
            self.require(
                abs(score) <= facts.SCORE_MAX,
                f"seats[{number}].score",
                "SCORE",
                score,
                f"{facts.SCORE_MAX} at most either way",
            )

    def _check_pending(self) -> None:
        pending = self.data["pending"]
        self.require(
            self.phase == "picking" or not pending,
            "pending",
            "PENDING",
            pending,
            f"no decisions in phase {self.phase}",
        )
        self.require(len(pending) <= MAX_PENDING, "pending", "PENDING", pending, f"{MAX_PENDING} decisions at most")
        for index, text in enumerate(pending):
            self.require(
                text in facts.NUMBER_OF_DECISION,
                f"pending[{index}]",
                "PENDING",
                text,
                'a decision such as "climb one"',
            )

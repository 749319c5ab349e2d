"""The invariants of Mexica positions; each violation has a name and a JSON path.

`check_fields` is the main function. It works on *fields*: the JSON object without `game` and `version`, its
shape already checked, spaces as cells (see `board`), an unplaced pilli as 0. It reports all violations in one
pass and repairs nothing.

Not checked, because they vary in real games: whether a token on display can still be founded (D5 removes it
after the next action), and the spacing of neutral temples (D1).
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from itertools import islice

from mexica_ai.game.checker import Checker
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, quote

MAX_ROUND = 1_000_000  # far beyond any game (random play takes 20-35 rounds), well inside the compiled core's counter
MAX_POOL = 255  # the compiled core counts tokens in bytes
MAX_SCORE = 999
MAX_IDLE_ROUNDS = 4  # with the fourth, the period ends


def check_fields(fields: JsonObject, path: str, findings: Findings) -> None:
    """Check a position of the right shape, spaces as cells; see `mexica_ai.game.checker.Checker`."""
    _Checker(fields, path, findings).check()


def check_pool(pool: Sequence[int], path: str, findings: Findings) -> None:
    """Add violations if the number or the sizes of a pool's tokens are out of range."""
    lowest = len(board.STANDARD_POOL)
    if not lowest <= len(pool) <= MAX_POOL:
        findings.add(path, "POOL_SIZE", f"has {len(pool)} tokens; expected from {lowest} to {MAX_POOL}")
    for index, size in enumerate(pool):
        findings.check_range(f"{path}[{index}]", size, board.MIN_SIZE, board.MAX_SIZE)


def check_num_neutral(players: int, count: int, path: str, findings: Findings) -> None:
    """Add a violation if there are neutral temples but not two seats, or too many of them."""
    if count and players != 2:
        findings.add(path, "NEUTRAL_TEMPLES", f"has {count} neutral temples; expected none unless two play")
    elif count > board.MAX_NEUTRAL_TEMPLES:
        findings.add(
            path,
            "NEUTRAL_TEMPLES",
            f"has {count} neutral temples; expected {board.MAX_NEUTRAL_TEMPLES} at most",
        )


class _Checker(Checker):
    def __init__(self, fields: JsonObject, path: str, findings: Findings) -> None:
        super().__init__(fields, path, findings)
        self.canals = set(fields["canals"])
        self.dry = board.LAND - self.canals
        self.bridge_cells = {bridge["at"] for bridge in fields["bridges"]}
        self.temple_cells = {temple["at"] for temple in fields["temples"]}
        self.token_cells = {token["at"] for token in fields["calpulli"]["placed"]}

    def check(self) -> None:
        self._check_counters()
        self._check_phase()
        self._check_seats()
        self._check_canals()
        self._check_bridges()
        self._check_temples()
        self._check_temple_counts()
        self._check_pillis()
        self._check_tokens()
        self._check_founded_districts()
        self._check_period_still_runs()

    def _check_counters(self) -> None:
        fields = self.data
        if self.check_range("players", fields["players"], board.MIN_PLAYERS, board.MAX_PLAYERS):
            self.check_num_seats()
            self.check_range("to_move", fields["to_move"], 0, fields["players"] - 1)
        self.check_range("period", fields["period"], 1, 2)
        self.check_range("round", fields["round"], 0, MAX_ROUND)
        self.check_range("action_points", fields["action_points"], 0, board.ACTION_POINTS)
        self.check_range("tokens_taken", fields["tokens_taken"], 0, board.MAX_TOKENS_PER_TURN)
        highest = MAX_IDLE_ROUNDS if fields["phase"] == "over" else MAX_IDLE_ROUNDS - 1
        self.check_range("idle_rounds", fields["idle_rounds"], 0, highest)

    def _check_phase(self) -> None:
        phase = self.data["phase"]
        if phase == "placement":
            fixed = {
                "period": 1,
                "round": 0,
                "action_points": board.ACTION_POINTS,
                "tokens_taken": 0,
                "idle_rounds": 0,
                "built_this_round": False,
            }
        elif phase == "over":
            fixed = {
                "period": 2,
                "to_move": 0,
                "action_points": board.ACTION_POINTS,
                "tokens_taken": 0,
                "built_this_round": False,
            }
        else:
            fixed = {}
        for key, value in fixed.items():
            if self.data[key] != value:
                self.add(
                    key,
                    "PHASE_MISMATCH",
                    f"given {quote(self.data[key])}; expected {quote(value)} in phase {phase}",
                )
        # A finished game has played at least one round, and its counter is one higher.
        first_round = {"placement": 0, "play": 1, "over": 2}[phase]
        if 0 <= self.data["round"] < first_round:
            self.add(
                "round",
                "PHASE_MISMATCH",
                f"given {self.data['round']}; expected {first_round} or more in phase {phase}",
            )

    def _check_seats(self) -> None:
        held = 0
        for index, seat in enumerate(self.seats):
            self.check_range(f"seats[{index}].score", seat["score"], 0, MAX_SCORE)
            if self.check_range(f"seats[{index}].action_tokens", seat["action_tokens"], 0, board.NUM_ACTION_TOKENS):
                held += seat["action_tokens"]
        if held > board.NUM_ACTION_TOKENS:
            self.add(
                "seats",
                "ACTION_TOKENS_COUNT",
                f"the seats hold {held} action tokens; expected {board.NUM_ACTION_TOKENS} at most in all",
            )

    def _check_spaces(self, where: str, cells: Iterable[int], allowed: Container[int], expected: str) -> None:
        """Add a violation for each cell that is repeated or not in `allowed`; `where` has a {} for the index."""
        seen = set()
        for index, cell in enumerate(cells):
            if cell in seen:
                self.add(
                    where.format(index),
                    "SPACE_OCCUPIED",
                    f"{format_space(cell)} is repeated; expected every space once",
                )
            elif cell not in allowed:
                self.add(
                    where.format(index),
                    "WRONG_SPACE",
                    f"given {format_space(cell)}, which is {self._describe(cell)}; expected {expected}",
                )
            seen.add(cell)

    def _describe(self, cell: int) -> str:
        if cell not in board.LAND:
            return "lake"
        if cell in board.PALACE:
            return "a palace space"
        if cell in self.canals:
            return "a canal"
        return "under a temple" if cell in self.temple_cells else "land"

    def _check_canals(self) -> None:
        self._check_spaces("canals[{}]", self.data["canals"], board.LAND - board.PALACE, "land that is not palace")
        missing = [cell for cell in board.PRINTED_CANALS if cell not in self.canals]
        if missing:
            self.add(
                "canals",
                "PRINTED_CANALS",
                f"lacks {', '.join(map(format_space, missing))}; expected the two tiles of the setup, O6-O7 and O8-O9",
            )
        left = self.data["canal_tiles"]
        doubles = board.NUM_DOUBLE_TILES - 2 - left["double"]
        singles = board.NUM_SINGLE_TILES - left["single"]
        in_range = self.check_range("canal_tiles.double", left["double"], 0, board.NUM_DOUBLE_TILES - 2)
        in_range &= self.check_range("canal_tiles.single", left["single"], 0, board.NUM_SINGLE_TILES)
        if missing or not in_range:
            return
        dug = self.canals.difference(board.PRINTED_CANALS)
        used = f"the {doubles} double and {singles} single tiles used since the setup"
        if len(dug) != 2 * doubles + singles:
            self.add(
                "canals",
                "CANAL_COUNT",
                f"{len(dug)} spaces beside the printed four; expected {2 * doubles + singles}, the spaces of {used}",
            )
        elif count_dominoes(dug) < doubles:
            self.add(
                "canals",
                "CANAL_TILING",
                f"these canals cannot be laid with {used}: at most {count_dominoes(dug)} double tiles fit on them",
            )

    def _check_bridges(self) -> None:
        bridges = self.data["bridges"]
        self._check_spaces("bridges[{}].at", [bridge["at"] for bridge in bridges], self.canals, "a canal space")
        if len(bridges) > board.NUM_BRIDGES:
            self.add(
                "bridges",
                "BRIDGES_COUNT",
                f"has {len(bridges)} entries; expected {board.NUM_BRIDGES} at most",
            )
        for index, bridge in enumerate(bridges):
            wet = [_place(cell) for cell in board.ramps(bridge["at"], bridge["axis"]) if cell not in self.dry]
            if wet:
                self.add(
                    f"bridges[{index}]",
                    "BRIDGE_RAMPS",
                    f"the {bridge['axis']} bridge on {format_space(bridge['at'])} would end at "
                    f"{' and '.join(wet)}; expected dry land at both ends",
                )

    def _check_temples(self) -> None:
        temples = self.data["temples"]
        self._check_spaces(
            "temples[{}].at",
            [temple["at"] for temple in temples],
            self.dry - board.PALACE,
            "dry land that is not palace",
        )
        neutral = 0
        for index, temple in enumerate(temples):
            self.check_range(f"temples[{index}].level", temple["level"], 1, 4)
            self.check_range(f"temples[{index}].seat", temple["seat"], board.NEUTRAL, len(self.seats) - 1)
            neutral += temple["seat"] == board.NEUTRAL
        check_num_neutral(self.data["players"], neutral, f"{self.path}.temples", self.findings)

    def _check_temple_counts(self) -> None:
        built = Counter((temple["seat"], temple["level"]) for temple in self.data["temples"])
        totals = board.TEMPLES_BY_PERIOD.get(self.data["period"])
        for index, seat in enumerate(self.seats):
            where = f"seats[{index}].temples"
            if len(seat["temples"]) != 4:
                self.add(
                    where,
                    "TEMPLES_COUNT",
                    f"has {len(seat['temples'])} entries; expected four, for levels 1-4",
                )
                continue
            for level, stock in enumerate(seat["temples"], start=1):
                on_board = built[index, level]
                if stock < 0:
                    self.check_range(f"{where}[{level - 1}]", stock, 0, 6)
                elif totals and stock + on_board != totals[level - 1]:
                    self.add(
                        f"{where}[{level - 1}]",
                        "TEMPLES_COUNT",
                        f"{quote(stock)} left and {on_board} on the board of level {level}; expected "
                        f"{totals[level - 1]} together in period {self.data['period']}",
                    )

    def _check_pillis(self) -> None:
        placing = self.data["phase"] == "placement"
        stood_on: dict[int, int] = {}  # cell -> seat
        for index, seat in enumerate(self.seats):
            where, cell = f"seats[{index}].pilli", seat["pilli"]
            expected_on_board = not placing or index < self.data["to_move"]
            if bool(cell) != expected_on_board:
                self.add(
                    where,
                    "PILLI_PLACEMENT",
                    f"given {quote(format_space(cell) if cell else '')}; expected "
                    + ("a space" if expected_on_board else '"" until this seat has placed its pilli'),
                )
            if not cell:
                continue
            if cell in stood_on:
                self.add(
                    where,
                    "SPACE_OCCUPIED",
                    f"{format_space(cell)} is taken by seat {stood_on[cell]}'s pilli; "
                    "expected one pilli a space at most",
                )
            stood_on.setdefault(cell, index)
            if cell in self.temple_cells or cell in self.token_cells:
                thing = "temple" if cell in self.temple_cells else "calpulli token"
                self.add(where, "SPACE_OCCUPIED", f"{format_space(cell)} holds a {thing}; expected a free space")
            if placing and cell not in board.STARTING_SPACES:
                self.add(
                    where,
                    "WRONG_SPACE",
                    f"given {format_space(cell)}; expected a starting space "
                    f"({', '.join(map(format_space, board.STARTING_SPACES))}) while placing",
                )
            elif cell not in self.dry and not (cell in self.canals and cell in self.bridge_cells):
                self.add(
                    where,
                    "WRONG_SPACE",
                    f"given {format_space(cell)}, which is {self._describe(cell)}; expected dry land or a bridge",
                )

    def _check_tokens(self) -> None:
        calpulli = self.data["calpulli"]
        placed = calpulli["placed"]
        free = self.dry - board.PALACE - self.temple_cells
        self._check_spaces(
            "calpulli.placed[{}].at",
            [token["at"] for token in placed],
            free,
            "dry land without a temple that is not palace",
        )
        sizes = {
            "display": calpulli["display"],
            "placed": [token["size"] for token in placed],
            "removed": calpulli["removed"],
        }
        check_pool(calpulli["pool"], f"{self.path}.calpulli.pool", self.findings)
        for key in ("display", "placed", "removed", "upcoming"):
            suffix = ".size" if key == "placed" else ""
            for index, size in enumerate(sizes.get(key, calpulli[key]) or ()):
                self.check_range(f"calpulli.{key}[{index}]{suffix}", size, board.MIN_SIZE, board.MAX_SIZE)

        pool = Counter(calpulli["pool"])
        shown: Counter[int] = Counter()
        for part in sizes.values():
            shown.update(part)
        expected = {1: board.NUM_DISPLAYED, 2: board.NUM_DISPLAYED + board.NUM_UPCOMING}.get(self.data["period"])
        if expected and shown.total() != expected:
            counts = ", ".join(f"{len(part)} {key}" for key, part in sizes.items())
            self.add(
                "calpulli",
                "TOKENS_COUNT",
                f"shows {shown.total()} tokens ({counts}); expected {expected} in period {self.data['period']}",
            )
        surplus = shown - pool
        if surplus:
            self.add(
                "calpulli",
                "TOKENS_NOT_IN_POOL",
                f"display, placed and removed have {_sizes(surplus)} more than the pool {_sizes(pool)}",
            )
        elif calpulli["upcoming"] is not None:
            self._check_upcoming(calpulli["upcoming"], pool - shown)

    def _check_upcoming(self, upcoming: Sequence[int], unseen: Counter[int]) -> None:
        expected = board.NUM_UPCOMING if self.data["period"] == 1 else 0
        if len(upcoming) != expected:
            self.add(
                "calpulli.upcoming",
                "UPCOMING_COUNT",
                f"has {len(upcoming)} tokens; expected {expected} in period {self.data['period']}",
            )
        surplus = Counter(upcoming) - unseen
        if surplus:
            self.add(
                "calpulli.upcoming",
                "TOKENS_NOT_IN_POOL",
                f"has more tokens {_sizes(surplus)} than the pool still hides: {_sizes(unseen)}",
            )

    def _check_founded_districts(self) -> None:
        placed = self.data["calpulli"]["placed"]
        for district in board.districts(self.canals):
            inside = [index for index, token in enumerate(placed) if token["at"] in district]
            for index in inside:
                if placed[index]["size"] != len(district):
                    self.add(
                        f"calpulli.placed[{index}].size",
                        "DISTRICT_SIZE",
                        f"given {quote(placed[index]['size'])}; expected {len(district)}, the spaces of "
                        f"the district of {format_space(placed[index]['at'])}",
                    )
            for index in inside[1:]:
                self.add(
                    f"calpulli.placed[{index}].at",
                    "DISTRICT_TOKENS",
                    f"{format_space(placed[index]['at'])} is in the district of the token on "
                    f"{format_space(placed[inside[0]]['at'])}; expected one token a district",
                )

    def _check_period_still_runs(self) -> None:
        """A period ends with a round; within the next one only a token that goes out of play can make its end due."""
        calpulli = self.data["calpulli"]
        if self.data["phase"] != "play" or self.data["built_this_round"] or calpulli["display"] or calpulli["removed"]:
            return
        done = [index for index, seat in enumerate(self.seats) if not any(seat["temples"])]
        if done:
            self.add(
                "period",
                "PERIOD_OVERDUE",
                f"the display is empty and seat {done[0]} has had no temple left since the last round; expected period "
                f"{self.data['period']} to be over",
            )


def count_dominoes(cells: Collection[int]) -> int:
    """Return the maximum number of double tiles that fit on these cells without overlapping.

    It is a maximum matching between the two colours of the chequered grid, found by augmenting paths. Any
    smaller number of doubles fits, too, with singles on the other cells. So canals can be laid with d doubles
    and s singles exactly if there are 2 d + s of them and this number is at least d.
    """
    partner: dict[int, int] = {}

    def augment(cell: int, visited: set[int]) -> bool:
        for other in board.neighbours(cell):
            if other in cells and other not in visited:
                visited.add(other)
                if other not in partner or augment(partner[other], visited):
                    partner[other] = cell
                    return True
        return False

    return sum(augment(cell, set()) for cell in cells if (cell // 32 + cell) % 2)


def _place(cell: int) -> str:
    return format_space(cell) if cell in board.GRID else "the lake"


def _sizes(counter: Counter[int]) -> str:
    shown = [quote(size) for size in islice(sorted(counter.elements()), 20)]
    return " ".join(shown + ["..."] * (counter.total() > 20)) or "none"

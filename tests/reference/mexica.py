"""All rules of Mexica, written for reading: the yardstick of the compiled rules.

Works on the JSON position (a dict) and on action strings such as ``canal C5-D5``. Chapters are those of
the English rulebook, D1-D8 the project's decisions where the rulebook leaves a choice open. It imports
nothing of the project, checks no invariants of the positions given to it, and prefers clarity to speed.
Start at `legal_actions` and `apply`.

Spaces are strings (``H6``); the lake, which is one body of water, is the single node `LAKE`.
"""

from collections import Counter

BOARD = (  # chapter 2; '#' land, 'P' palace, 'C' land under the two printed canals, '.' lake
    ".#...#####...........",
    ".###########.........",
    "############.........",
    "##############.......",
    ".###############.....",
    ".######P######C###.##",
    ".#####PPP#####C######",
    ".######P######C######",
    "..############C#####.",
    ".################....",
    "###############......",
    "#############........",
    "###########..........",
    "..####..##...........",
)
COLUMNS = "ABCDEFGHIJKLMNOPQRSTU"
LAKE = "lake"
NEUTRAL = -1
STANDARD_POOL = [3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13]
FIRST_DISPLAY, SECOND_DISPLAY = 8, 7
FIRST_TEMPLES, SECOND_TEMPLES = [3, 3, 2, 1], [3, 2, 2, 2]  # by level 1-4
NUM_BRIDGES, NUM_ACTION_TOKENS = 11, 12
ACTION_POINTS, TELEPORT_COST, TOKENS_A_TURN = 6, 5, 2
PALACE_BONUS = 5

LAND = [COLUMNS[x] + str(y + 1) for y, row in enumerate(BOARD) for x, kind in enumerate(row) if kind != "."]
READING_ORDER = {space: index for index, space in enumerate(LAND)}
PALACE_CENTRE = "H7"
STARTING_SPACES = ["H6", "G7", "I7", "H8"]
PALACE = {PALACE_CENTRE, *STARTING_SPACES}
PRINTED_CANALS = {"O6", "O7", "O8", "O9"}


def _neighbour(space: str, dx: int, dy: int) -> str:
    """Return the land space next to a space, or LAKE (a cell beyond the grid's edge is lake too)."""
    x, y = COLUMNS.index(space[0]) + dx, int(space[1:]) - 1 + dy
    beside = f"{COLUMNS[x]}{y + 1}" if 0 <= x < len(COLUMNS) and y >= 0 else LAKE
    return beside if beside in READING_ORDER else LAKE


NORTH, SOUTH, WEST, EAST = (
    {space: _neighbour(space, dx, dy) for space in LAND} for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0))
)
NEIGHBOURS = {space: [side[space] for side in (NORTH, WEST, EAST, SOUTH)] for space in LAND}
COAST = [space for space in LAND if LAKE in NEIGHBOURS[space]]


def _half(number: int) -> int:
    """Return half of a number, rounded up: blue of a yellow number, white of a blue one (chapter 2)."""
    return (number + 1) // 2


class Board:
    """What lies on the island: canals, bridges, temples, calpulli tokens and pillis."""

    def __init__(self, canals, bridges, temples, tokens, pillis):
        self.canals = canals  # set of spaces
        self.bridges = bridges  # space -> "ns" or "ew"
        self.temples = temples  # space -> (seat, level)
        self.tokens = tokens  # space -> size
        self.pillis = pillis  # space of each seat, "" while unplaced

    def copy(self):
        return Board(set(self.canals), dict(self.bridges), dict(self.temples), dict(self.tokens), list(self.pillis))

    def is_dry(self, space: str) -> bool:
        """Return whether a space is land without a canal."""
        return space != LAKE and space not in self.canals

    def is_open(self, space: str) -> bool:
        """Return whether a space has no temple, token or pilli."""
        return space not in self.temples and space not in self.tokens and space not in self.pillis

    def is_building_space(self, space: str) -> bool:
        """Return whether the space alone lets a canal, a temple or a token lie there (4A, 4B, 4D)."""
        return self.is_dry(space) and space not in PALACE and self.is_open(space)

    def ramps(self, space: str, axis: str) -> list[str]:
        """Return the two spaces that give access to a bridge."""
        return [NORTH[space], SOUTH[space]] if axis == "ns" else [WEST[space], EAST[space]]

    def district_of(self, space: str) -> set[str]:
        """Return the dry spaces joined orthogonally to a dry space; diagonal contact closes it (4A)."""
        canals, district, frontier = self.canals, {space}, [space]
        while frontier:
            for beside in NEIGHBOURS[frontier.pop()]:
                if beside not in district and beside != LAKE and beside not in canals:
                    district.add(beside)
                    frontier.append(beside)
        return district

    def districts(self) -> list[set[str]]:
        """Return all districts, in the reading order of their first spaces."""
        found, seen = [], set()
        for space in LAND:
            if self.is_dry(space) and space not in seen:
                found.append(self.district_of(space))
                seen |= found[-1]
        return found

    def is_founded(self, district: set[str]) -> bool:
        return any(space in district for space in self.tokens)

    def district_of_pilli(self, seat: int) -> set[str]:
        """Return the district in which a seat's pilli is; none if it stands on a bridge (D3)."""
        space = self.pillis[seat]
        return self.district_of(space) if self.is_dry(space) else set()

    def can_carry_bridge(self, space: str, axis: str) -> bool:
        """Return whether a bridge may be built there: on a canal without one, both ramps dry (4C)."""
        return (
            space in self.canals
            and space not in self.bridges
            and all(self.is_dry(ramp) for ramp in self.ramps(space, axis))
        )

    def walks(self, seat: int) -> list[str]:
        """Return the spaces that the seat's pilli can walk to (4E, on foot)."""
        here = self.pillis[seat]
        if here in self.bridges:
            beside = self.ramps(here, self.bridges[here])
        else:
            beside = [space for space in NEIGHBOURS[here] if self.is_dry(space)]
            beside += [
                space
                for space in NEIGHBOURS[here]
                if space in self.bridges and here in self.ramps(space, self.bridges[space])
            ]
        return [space for space in beside if self.is_open(space)]

    def sails(self, seat: int) -> dict[str, int]:
        """Return the bridges that the seat's pilli can sail to, with the cost in action points (4E; D3).

        Looks first at the water that is reached without passing a bridge, then, under the occupied bridges
        met there, at the water one bridge further, and so on.
        """
        here = self.pillis[seat]
        if here not in self.bridges:
            return {}
        costs, seen, cost, starts = {}, {here}, 0, [here]
        while starts:
            cost += 1
            bridges_met, frontier = [], starts
            while frontier:
                for beside in self._water_beside(frontier.pop()):
                    if beside not in seen:
                        seen.add(beside)
                        (bridges_met if beside in self.bridges else frontier).append(beside)
            costs |= {space: cost for space in bridges_met if self.is_open(space)}
            starts = [space for space in bridges_met if not self.is_open(space)]
        return costs

    def _water_beside(self, space: str) -> list[str]:
        beside = COAST if space == LAKE else NEIGHBOURS[space]
        return [other for other in beside if other == LAKE or other in self.canals]

    def is_mobile(self, seat: int) -> bool:
        """Return whether the seat's pilli could walk or sail, whatever the action points (D4)."""
        return bool(self.walks(seat)) or bool(self.sails(seat))

    def lay(self, seat: int, action: str) -> None:
        """Change the island as an action of a seat does; actions beside the island change nothing here."""
        verb, *operands = action.split()
        if verb == "canal":
            self.canals |= set(operands[0].split("-"))
        elif verb == "bridge":
            self.bridges[operands[0]] = operands[1]
        elif verb == "relocate":
            del self.bridges[operands[0]]
            self.bridges[operands[1]] = operands[2]
        elif verb == "temple":
            self.temples[operands[1]] = (seat, int(operands[0]))
        elif verb == "found":
            self.tokens[operands[1]] = int(operands[0])
        elif verb in ("place", "walk", "sail", "teleport"):
            self.pillis[seat] = operands[0]


class Table:
    """A position, unpacked: the board, and everything beside it."""

    def __init__(self, position: dict):
        self.players = position["players"]
        self.phase = position["phase"]
        self.period = position["period"]
        self.round = position["round"]
        self.to_move = position["to_move"]
        self.action_points = position["action_points"]
        self.tokens_taken = position["tokens_taken"]
        self.idle_rounds = position["idle_rounds"]
        self.built_this_round = position["built_this_round"]
        self.scores = [seat["score"] for seat in position["seats"]]
        self.action_tokens = [seat["action_tokens"] for seat in position["seats"]]
        self.stocks = [list(seat["temples"]) for seat in position["seats"]]
        self.singles = position["canal_tiles"]["single"]
        self.doubles = position["canal_tiles"]["double"]
        calpulli = position["calpulli"]
        self.board = Board(
            canals=set(position["canals"]),
            bridges={bridge["at"]: bridge["axis"] for bridge in position["bridges"]},
            temples={temple["at"]: (temple["seat"], temple["level"]) for temple in position["temples"]},
            tokens={token["at"]: token["size"] for token in calpulli["placed"]},
            pillis=[seat["pilli"] for seat in position["seats"]],
        )
        self.pool = list(calpulli.get("pool") or STANDARD_POOL)
        self.display = list(calpulli["display"])
        self.removed = list(calpulli.get("removed") or [])
        self.upcoming = calpulli.get("upcoming")
        if self.upcoming is None and len(self.pool) == FIRST_DISPLAY + SECOND_DISPLAY:
            self.upcoming = self.hidden_tokens() if self.period == 1 else []

    def hidden_tokens(self) -> list[int]:
        """Return the tokens of the pool that the first period has not shown."""
        shown = Counter(self.display) + Counter(self.removed) + Counter(self.board.tokens.values())
        return sorted((Counter(self.pool) - shown).elements())

    def to_position(self) -> dict:
        """Return the canonical form: spaces in reading order, sizes ascending, no standard pool."""
        board = self.board

        def ordered(spaces):
            return sorted(spaces, key=READING_ORDER.get)

        return {
            "game": "mexica",
            "version": 1,
            "players": self.players,
            "phase": self.phase,
            "period": self.period,
            "round": self.round,
            "to_move": self.to_move,
            "action_points": self.action_points,
            "tokens_taken": self.tokens_taken,
            "idle_rounds": self.idle_rounds,
            "built_this_round": self.built_this_round,
            "seats": [
                {
                    "score": self.scores[seat],
                    "action_tokens": self.action_tokens[seat],
                    "pilli": board.pillis[seat],
                    "temples": list(self.stocks[seat]),
                }
                for seat in range(self.players)
            ],
            "canals": ordered(board.canals),
            "canal_tiles": {"single": self.singles, "double": self.doubles},
            "bridges": [{"at": at, "axis": board.bridges[at]} for at in ordered(board.bridges)],
            "temples": [
                {"at": at, "seat": board.temples[at][0], "level": board.temples[at][1]} for at in ordered(board.temples)
            ],
            "calpulli": {
                **({} if sorted(self.pool) == STANDARD_POOL else {"pool": sorted(self.pool)}),
                "display": sorted(self.display),
                "placed": [{"at": at, "size": board.tokens[at]} for at in ordered(board.tokens)],
                "removed": sorted(self.removed),
                "upcoming": None if self.upcoming is None else sorted(self.upcoming),
            },
        }

    # What the seat to move may do: chapter 4 and the table of actions.

    def legal_actions(self) -> list[str]:
        if self.phase == "over":
            return []
        if self.phase == "placement":
            return sorted(f"place {space}" for space in STARTING_SPACES if self.board.is_open(space))
        means = self.action_points + self.action_tokens[self.to_move]  # D2
        actions = [action for action, cost in self._actions_with_costs() if cost <= means]
        if self.action_points >= 1 and self.tokens_taken < TOKENS_A_TURN and self.tokens_in_supply():
            actions.append("token")  # 4F; paid from the turn's own action points (D2)
        if self.round == 1:
            actions = [action for action in actions if not self.pens_in(action)]
        return sorted([*actions, "end"])

    def tokens_in_supply(self) -> int:
        return NUM_ACTION_TOKENS - sum(self.action_tokens)

    def _actions_with_costs(self):
        board, seat = self.board, self.to_move
        founded = set().union(*(board.district_of(space) for space in board.tokens))
        ramps = {ramp for space, axis in board.bridges.items() for ramp in board.ramps(space, axis)}

        # 4A canals
        sites = [
            space for space in LAND if board.is_building_space(space) and space not in ramps and space not in founded
        ]
        if self.singles:
            yield from ((f"canal {space}", 1) for space in sites)
        if self.doubles:
            found = set(sites)
            for space in sites:
                yield from ((f"canal {space}-{other}", 1) for other in (EAST[space], SOUTH[space]) if other in found)

        # 4C bridges; relocation only when the supply is empty
        bridge_places = [
            (space, axis) for space in board.canals for axis in ("ns", "ew") if board.can_carry_bridge(space, axis)
        ]
        if len(board.bridges) < NUM_BRIDGES:
            yield from ((f"bridge {space} {axis}", 1) for space, axis in bridge_places)
        else:
            for origin, axis_now in board.bridges.items():
                if board.is_open(origin):
                    without = board.copy()
                    del without.bridges[origin]
                    turned = [
                        (origin, axis)
                        for axis in ("ns", "ew")
                        if axis != axis_now and without.can_carry_bridge(origin, axis)
                    ]
                    yield from ((f"relocate {origin} {space} {axis}", 1) for space, axis in bridge_places + turned)

        # 4B founding and 4D temples, in the district of the seat's pilli
        district = board.district_of_pilli(seat)
        free = [space for space in district if board.is_building_space(space)]
        if len(district) in self.display and not board.is_founded(district):
            yield from ((f"found {len(district)} {space}", 0) for space in free)
        for level, left in enumerate(self.stocks[seat], start=1):
            if left:
                yield from ((f"temple {level} {space}", level) for space in free)

        # 4E moves
        yield from ((f"walk {space}", 1) for space in board.walks(seat))
        yield from ((f"sail {space}", cost) for space, cost in board.sails(seat).items())
        yield from (
            (f"teleport {space}", TELEPORT_COST)
            for space in LAND
            if (board.is_dry(space) or space in board.bridges) and board.is_open(space)
        )

    def pens_in(self, action: str) -> bool:
        """Return whether another seat's pilli could walk or sail before the action but not after it (D4)."""
        after = self.board.copy()
        after.lay(self.to_move, action)
        return any(
            not after.is_mobile(seat) and self.board.is_mobile(seat)
            for seat in range(self.players)
            if seat != self.to_move
        )

    # What an action does.

    def apply(self, action: str, draw: list[int] | None) -> None:
        seat = self.to_move
        verb, *operands = action.split()
        cost = self._cost(verb, operands)
        paid_with_tokens = max(0, cost - self.action_points)  # D2
        self.action_points -= cost - paid_with_tokens
        self.action_tokens[seat] -= paid_with_tokens
        self.board.lay(seat, action)
        if verb in ("canal", "temple", "found"):
            self.built_this_round = True  # D6
        if verb == "canal":
            if "-" in operands[0]:
                self.doubles -= 1
            else:
                self.singles -= 1
        elif verb == "temple":
            self.stocks[seat][int(operands[0]) - 1] -= 1
        elif verb == "token":
            self.action_tokens[seat] += 1
            self.tokens_taken += 1
        elif verb == "found":
            self._score_founding(int(operands[0]))
        elif verb == "remove":
            self._remove(int(operands[0]))  # D8
        elif verb == "place":
            self._next_placement()
        elif verb == "end":
            self._end_turn(draw)
        if self.phase != "over":
            self._remove_unfoundable()  # D5, after every action

    def _cost(self, verb: str, operands: list[str]) -> int:
        if verb == "temple":
            return int(operands[0])
        if verb == "sail":
            return self.board.sails(self.to_move)[operands[0]]
        if verb == "teleport":
            return TELEPORT_COST
        return 1 if verb in ("canal", "bridge", "relocate", "walk", "token") else 0

    def _remove(self, size: int) -> None:
        self.display.remove(size)
        self.removed.append(size)

    def _score_founding(self, size: int) -> None:
        """Chapter 5A: blue for the founder, white for every other seat whose pilli is in the district."""
        self.display.remove(size)
        district = self.board.district_of_pilli(self.to_move)
        for seat in range(self.players):
            if seat == self.to_move:
                self.scores[seat] += _half(size)
            elif self.board.pillis[seat] in district:
                self.scores[seat] += _half(_half(size))

    def _next_placement(self) -> None:
        """Chapter 2: in seat order each places its pilli; then round 1 begins."""
        self.to_move += 1
        if self.to_move == self.players:
            self.to_move, self.phase, self.round = 0, "play", 1

    def _remove_unfoundable(self) -> None:
        """D5: remove the tokens on display that provably can no longer be founded."""
        unfounded = [district for district in self.board.districts() if not self.board.is_founded(district)]
        if self.singles or self.doubles:
            largest = max(map(len, unfounded), default=0)
            dead = [size for size in self.display if size > largest]
        else:
            dead = []
            for size, shown in Counter(self.display).items():
                fitting = sum(len(district) == size and self._has_room(district) for district in unfounded)
                dead += [size] * max(0, shown - fitting)
        for size in dead:
            self._remove(size)

    def _has_room(self, district: set[str]) -> bool:
        """Return whether a token and a pilli find room; pawns do not count as obstacles (D5)."""
        free = [space for space in district if space not in PALACE and space not in self.board.temples]
        return len(free) >= 2 or (len(free) == 1 and bool(district & PALACE))

    # The end of turns, rounds, periods: chapter 3, D6, D7.

    def _end_turn(self, draw: list[int] | None) -> None:
        self.action_points, self.tokens_taken = ACTION_POINTS, 0
        self.to_move += 1
        if self.to_move == self.players:
            self.to_move = 0
            self._end_round(draw)

    def _end_round(self, draw: list[int] | None) -> None:
        """D7, in its order."""
        self.idle_rounds = 0 if self.built_this_round else self.idle_rounds + 1
        self.built_this_round = False
        if self.idle_rounds >= 2:  # D6
            for size in list(self.display):
                self._remove(size)
        somebody_built_all = any(sum(stock) == 0 for stock in self.stocks)
        period_ends = (not self.display and somebody_built_all) or self.idle_rounds >= 4
        self.round += 1
        if not period_ends:
            return
        self._score_period()
        if self.period == 2:
            self.phase = "over"
            return
        self.period = 2
        if self.upcoming is None:
            if draw is None:
                raise ValueError("the tokens of the second period are unknown: give a draw")
            self.upcoming = list(draw)
        self.display, self.upcoming = list(self.upcoming), []
        for stock in self.stocks:
            for index, number in enumerate(SECOND_TEMPLES):
                stock[index] += number
        self.idle_rounds = 0  # D5 on the new tokens follows in apply()

    def _score_period(self) -> None:
        """Chapters 5B and 5C: districts, then the palace bonus; unfounded districts after period 2 only."""
        for district in self.board.districts():
            if self.board.is_founded(district) or self.period == 2:
                # A founded district has as many spaces as its token says.
                for seat, points in district_points(self.grandeur(district), len(district)).items():
                    if seat != NEUTRAL:
                        self.scores[seat] += points
        for seat, space in enumerate(self.board.pillis):
            if space in STARTING_SPACES:
                self.scores[seat] += PALACE_BONUS

    def grandeur(self, district: set[str]) -> dict[int, int]:
        """Return the sum of temple levels of each owner, the neutral one included (D1), in a district."""
        sums: Counter[int] = Counter()
        for space, (owner, level) in self.board.temples.items():
            if space in district:
                sums[owner] += level
        return dict(sums)

    def winners(self) -> list[int]:
        """Chapter 6: most points, then most action tokens, then the win is shared."""
        if self.phase != "over":
            return []
        results = list(zip(self.scores, self.action_tokens, strict=True))
        return [seat for seat, result in enumerate(results) if result == max(results)]


def district_points(grandeur: dict[int, int], size: int) -> dict[int, int]:
    """Return the points of each owner in one district (chapter 5B, remarks on ties).

    The place of an owner is one more than the number of owners with a greater sum: ties share the full
    value and use up the places below them. Several seconds leave no third; several thirds each get theirs.
    """
    values = {1: size, 2: _half(size), 3: _half(_half(size))}
    return {
        owner: values.get(1 + sum(other > levels for other in grandeur.values()), 0)
        for owner, levels in grandeur.items()
    }


def canonical(position: dict) -> dict:
    """Return a position in canonical form."""
    return Table(position).to_position()


def legal_actions(position: dict) -> list[str]:
    """Return the legal actions, sorted as strings; `remove` is never among them (D8)."""
    return Table(position).legal_actions()


def is_legal(position: dict, action: str) -> bool:
    """Return whether an action may be played, `remove N` included: free, for a token on display (D8)."""
    if action.startswith("remove "):
        return position["phase"] == "play" and int(action.split()[1]) in position["calpulli"]["display"]
    return action in legal_actions(position)


def apply(position: dict, action: str, draw: list[int] | None = None, *, unchecked: bool = False) -> dict:
    """Return the position after an action, in canonical form; the given one is not changed.

    Parameters
    ----------
    draw
        The tokens of the second period; needed only when the first one ends and they are unknown.
    unchecked
        Trust that the action is legal.

    Raises
    ------
    ValueError
        The action is not legal, or a draw is needed.
    """
    if not unchecked and not is_legal(position, action):
        raise ValueError(f"not legal here: {action!r}")
    table = Table(position)
    table.apply(action, draw)
    return table.to_position()


def scores(position: dict) -> list[int]:
    return [seat["score"] for seat in position["seats"]]


def winners(position: dict) -> list[int]:
    """Return the seats that win; none while the game runs."""
    return Table(position).winners()


def returns(position: dict) -> list[float]:
    """Return each seat's share of the win of a finished game."""
    won = winners(position)
    return [1 / len(won) if seat in won else 0.0 for seat in range(position["players"])]


def pens_in(position: dict, action: str) -> bool:
    """Return whether D4 alone speaks against an action (whatever the round)."""
    return Table(position).pens_in(action)


def neutral_spaces() -> list[str]:
    """Return the spaces for neutral temples at setup: not palace, not canal, not beside the lake (D1)."""
    return [space for space in LAND if space not in {*PALACE, *PRINTED_CANALS, *COAST}]


def distance(one: str, other: str) -> int:
    """Return the Manhattan distance of two spaces."""
    return abs(COLUMNS.index(one[0]) - COLUMNS.index(other[0])) + abs(int(one[1:]) - int(other[1:]))

"""Editing positions of Mexica: pieces on the picture, counters and fields beside it.

An edit also updates the numbers that the rest of a position determines: the canal tiles left, the temples left, and the
tokens of the second period if the pool is the standard one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import NEUTRAL, pawn, seat_mark, seat_shape
from mexica_ai.draw.svg import element
from mexica_ai.game import edit
from mexica_ai.game.edit import Brush, Editor, Group, bag, choice, flag, number, refuse
from mexica_ai.games.mexica import board, invariants
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.games.mexica.notation import AXES, SHAPE
from mexica_ai.io.json_types import JsonObject

_SIZES = range(board.MIN_SIZE, board.MAX_SIZE + 1)
_LEVELS = len(board.TEMPLES_BY_PERIOD[1])
_SPACES = {format_space(cell): cell for cell in board.GRID}
_PAINT = Paint("page")
_SEAT_KEYS = ("1234", "pqrs")  # of temples and of pillis
# The values that these phases determine.
_FIXED = {
    "placement": {"period": 1, "round": 0, "idle_rounds": 0},
    "over": {"period": 2, "to_move": 0},
}
_SHOWN = {1: board.NUM_DISPLAYED, 2: board.NUM_DISPLAYED + board.NUM_UPCOMING}


class MexicaEditor(Editor):
    """Brushes for all pieces on spaces; controls for everything else."""

    game = "mexica"
    shape = SHAPE

    def brushes(self, fields: JsonObject) -> list[Brush]:
        """Return a brush for each kind of piece and each seat."""
        canal = element("path", d="M2 8h24v12h-24ZM14 8v12", **_PAINT("canal", "bank", 1.4))
        planks = element("path", d="M2 8h24v12h-24ZM8 8v12M14 8v12M20 8v12", **_PAINT("wood", "woodrim", 1.4))
        disc = element("circle", cx=14.0, cy=14.0, r=11.0, **_PAINT("calpulli", "calpullirim", 2.0))
        cross = element("path", d="M6 6l16 16M22 6l-16 16", stroke_linecap="round", **_PAINT(None, "ink", 3.0))
        brushes = [
            Brush("canal", "c", "Canal", canal, strokes=True),
            Brush("bridge", "b", "Bridge", planks),
            Brush("calpulli", "f", "Calpulli token", disc),
        ]
        players = _players(fields)
        seats = range(min(players, len(fields["seats"])))
        for seat in seats:
            label = f"Temple of seat {seat + 1}"
            brushes.append(Brush(f"temple {seat}", _SEAT_KEYS[0][seat], label, _temple(seat)))
        if players == board.MIN_PLAYERS:
            brushes.append(Brush("neutral", "n", "Neutral temple", _temple(NEUTRAL)))
        for seat in seats:
            brushes.append(
                Brush(f"pilli {seat}", _SEAT_KEYS[1][seat], f"Pilli of seat {seat + 1}", pawn(_PAINT, seat, 14, 14, 28))
            )
        return [*brushes, Brush("remove", "x", "Remove", cross, strokes=True)]

    def groups(self, fields: JsonObject) -> list[Group]:
        """Return the fields of the game and the seats, and the counters of the supply."""
        players = _players(fields)
        turn = [
            choice(fields, "players", "Players", range(board.MIN_PLAYERS, board.MAX_PLAYERS + 1)),
            choice(fields, "phase", "Phase", ("placement", "play", "over")),
            choice(fields, "period", "Period", (1, 2)),
            number(fields, "round", "Round", 0, invariants.MAX_ROUND),
            choice(fields, "to_move", "To move", edit.seats(players)),
            number(fields, "action_points", "Action points", 0, board.ACTION_POINTS),
            number(fields, "tokens_taken", "Tokens taken this turn", 0, board.MAX_TOKENS_PER_TURN),
            number(fields, "idle_rounds", "Idle rounds in a row", 0, invariants.MAX_IDLE_ROUNDS),
            flag(fields, "built_this_round", "Canal, temple or founding this round"),
        ]
        calpulli = [bag(fields, "calpulli.display", "Tokens on display", _SIZES)]
        if "pool" in fields["calpulli"] and fields["period"] == 1:
            calpulli.append(bag(fields, "calpulli.upcoming", "Tokens of period 2", _SIZES))
        calpulli.append(bag(fields, "calpulli.removed", "Tokens removed", _SIZES))
        tiles = [
            number(fields, "canal_tiles.double", "Double canals left", 0, board.NUM_DOUBLE_TILES - 2),
            number(fields, "canal_tiles.single", "Single canals left", 0, board.NUM_SINGLE_TILES),
        ]
        groups = [Group("Turn", turn)]
        for seat, own in enumerate(fields["seats"][:players]):
            where = f"seats[{seat}]"
            controls = [
                number(fields, f"{where}.score", "Score", 0, invariants.MAX_SCORE),
                number(fields, f"{where}.action_tokens", "Action tokens", 0, board.NUM_ACTION_TOKENS),
            ]
            for level in range(len(own["temples"][:_LEVELS])):
                most = board.TEMPLES_BY_PERIOD[2][level]
                controls.append(number(fields, f"{where}.temples[{level}]", f"Level {level + 1} left", 0, most))
            groups.append(Group(f"Seat {seat + 1}", controls))
        return [*groups, Group("Canals", tiles), Group("Calpulli tokens", calpulli)]

    # --- on the picture

    def click(self, fields: JsonObject, brush: str, target: str) -> None:
        """Put a piece on a space; again: turn it, raise it, or take it away."""
        at = _land(target)
        kind, _, seat = brush.partition(" ")
        if kind == "canal":
            _toggle(fields["canals"], at)
        elif kind == "bridge":
            self._turn_bridge(fields, at)
        elif kind == "calpulli":
            self._toggle_token(fields, at)
        elif kind == "pilli":
            own = fields["seats"][int(seat)]
            own["pilli"] = "" if own["pilli"] == at else at
        elif kind == "remove":
            self._remove(fields, at)
        else:
            self._raise_temple(fields, at, int(seat) if seat else board.NEUTRAL)
        self._count(fields)

    def has(self, fields: JsonObject, brush: str, target: str) -> bool:
        """Return whether a space is a canal, for the brush of canals."""
        return brush == "canal" and target in fields["canals"]

    def move(self, fields: JsonObject, start: str, end: str) -> None:
        """Move the uppermost piece of a space to another one."""
        end = _land(end)
        piece = self._uppermost(fields, _land(start))
        if piece is None:
            raise refuse("from", f"nothing is on {start}; expected a piece to move")
        key, entry = piece
        if key == "pilli":
            entry["pilli"] = end
        elif key == "canals":
            fields["canals"] = [end if name == start else name for name in fields["canals"]]
        elif key == "calpulli":
            self._remove(fields, start)
            self._toggle_token(fields, end)
        else:
            entry["at"] = end
            if key == "bridges" and not _fits(fields, end, entry["axis"]):
                entry["axis"] = _axis(fields, end)
        self._count(fields)

    @staticmethod
    def _turn_bridge(fields: JsonObject, at: str) -> None:
        bridge = _find(fields["bridges"], at)
        first = _axis(fields, at)
        if bridge is None:
            fields["bridges"].append({"at": at, "axis": first})
        elif bridge["axis"] == first:
            bridge["axis"] = next(axis for axis in AXES if axis != first)
        else:
            fields["bridges"].remove(bridge)

    @staticmethod
    def _toggle_token(fields: JsonObject, at: str) -> None:
        """Found the district of a space with a token of its size, from the display if it has one."""
        calpulli = fields["calpulli"]
        token = _find(calpulli["placed"], at)
        if token is not None:
            calpulli["placed"].remove(token)
            if _num_shown(calpulli) < _SHOWN.get(fields["period"], 0):
                calpulli["display"].append(token["size"])
            return
        size = next(
            (len(district) for district in board.districts(_cells(fields["canals"])) if _SPACES[at] in district), 0
        )
        if size not in _SIZES:
            where = f"the district of {at} has {size} spaces" if size else f"{at} is a canal"
            expected = f"a district of {board.MIN_SIZE} to {board.MAX_SIZE}"
            raise refuse("target", f"{where}; expected {expected}")
        calpulli["placed"].append({"at": at, "size": size})
        if size in calpulli["display"]:
            calpulli["display"].remove(size)

    @staticmethod
    def _raise_temple(fields: JsonObject, at: str, seat: int) -> None:
        temple = _find(fields["temples"], at)
        if temple is None:
            fields["temples"].append({"at": at, "seat": seat, "level": 1})
        elif temple["seat"] != seat:
            temple |= {"seat": seat, "level": 1}
        elif temple["level"] < _LEVELS:
            temple["level"] += 1
        else:
            fields["temples"].remove(temple)

    @staticmethod
    def _uppermost(fields: JsonObject, at: str) -> tuple[str, Any] | None:
        """Return the key and the entry of the piece on top of a space, None if it is empty."""
        for own in fields["seats"]:
            if own["pilli"] == at:
                return "pilli", own
        for key, entries in (
            ("temples", fields["temples"]),
            ("calpulli", fields["calpulli"]["placed"]),
            ("bridges", fields["bridges"]),
        ):
            if (entry := _find(entries, at)) is not None:
                return key, entry
        return ("canals", at) if at in fields["canals"] else None

    def _remove(self, fields: JsonObject, at: str) -> None:
        piece = self._uppermost(fields, at)
        if piece is None:
            return
        key, entry = piece
        if key == "pilli":
            entry["pilli"] = ""
        elif key == "calpulli":
            self._toggle_token(fields, at)
        else:
            fields[key].remove(entry)

    # --- consequences of an edit

    def changed(self, fields: JsonObject, path: str) -> None:
        """Adapt the seats to their number, and the turn to the phase."""
        if path == "players":
            players = fields["players"]
            empty = {"score": 0, "action_tokens": 0, "pilli": "", "temples": list(board.TEMPLES_BY_PERIOD[1])}
            fields["seats"] = (fields["seats"] + [dict(empty) for _ in range(players)])[:players]
            fields["to_move"] = min(fields["to_move"], players - 1)
            self._count(fields)
        elif path == "period":
            self._count(fields)
        elif path == "phase":
            if fields["phase"] == "play":
                fields["round"] = max(fields["round"], 1)
                return
            fields |= {"action_points": board.ACTION_POINTS, "tokens_taken": 0, "built_this_round": False}
            fields |= _FIXED[fields["phase"]]
            self._count(fields)

    def tidy(self, fields: JsonObject) -> None:
        """Write lists in reading order, and the tokens of the second period if the others determine them."""
        fields["canals"] = sorted(set(fields["canals"]), key=parse_space)
        calpulli = fields["calpulli"]
        for owner, key in ((fields, "bridges"), (fields, "temples"), (calpulli, "placed")):
            owner[key].sort(key=lambda entry: parse_space(entry["at"]))
        for key in ("display", "removed", "upcoming"):
            if calpulli.get(key) is not None:
                calpulli[key].sort()
        if "pool" not in calpulli:
            shown = Counter([*calpulli["display"], *(token["size"] for token in calpulli["placed"])])
            shown.update(calpulli.get("removed", ()))
            rest = sorted((Counter(board.STANDARD_POOL) - shown).elements())
            calpulli["upcoming"] = rest if fields["period"] == 1 else []
        elif fields["period"] != 1:
            calpulli["upcoming"] = []  # the palette has no control for them here
        elif not calpulli.get("upcoming"):
            calpulli["upcoming"] = None

    def _count(self, fields: JsonObject) -> None:
        """Count the temples and the canal tiles that are left."""
        self._count_temples(fields)
        self._count_tiles(fields)

    @staticmethod
    def _count_temples(fields: JsonObject) -> None:
        totals = board.TEMPLES_BY_PERIOD.get(fields["period"])
        if totals is None:
            return
        built = Counter((temple["seat"], temple["level"]) for temple in fields["temples"])
        for seat, own in enumerate(fields["seats"]):
            own["temples"] = [max(0, total - built[seat, level]) for level, total in enumerate(totals, 1)]

    @staticmethod
    def _count_tiles(fields: JsonObject) -> None:
        """Lay the canals with the same number of single tiles as before if possible, else with the nearest one."""
        dug = _cells(fields["canals"]).difference(board.PRINTED_CANALS)
        doubles, tiles = invariants.count_dominoes(dug), fields["canal_tiles"]
        before = board.NUM_SINGLE_TILES - tiles["single"]
        possible = [
            single
            for single in range(board.NUM_SINGLE_TILES + 1)
            if (len(dug) - single) % 2 == 0 and 0 <= len(dug) - single <= 2 * min(doubles, board.NUM_DOUBLE_TILES - 2)
        ]
        if possible:
            single = min(possible, key=lambda number: (abs(number - before), number))
            tiles["single"] = board.NUM_SINGLE_TILES - single
            tiles["double"] = board.NUM_DOUBLE_TILES - 2 - (len(dug) - single) // 2

    # --- faults

    def name(self, data: Any, path: str) -> str:
        """Return a piece on the board with its space."""
        match edit.steps_of(path):
            case ["temples" | "bridges" as key, int(index), *rest]:
                piece, where = f"{key[:-1]} {index + 1}", f"{key}[{index}].at"
            case ["calpulli", "placed", int(index), *rest]:
                piece, where = f"calpulli token {index + 1}", f"calpulli.placed[{index}].at"
            case ["calpulli"]:
                return "calpulli tokens"
            case ["calpulli", "upcoming", *_]:
                return "tokens of period 2"
            case _:
                return ""
        at = edit.value_at(data, where)
        known = f" ({at})" if isinstance(at, str) and at in _SPACES else ""
        return ", ".join([f"{piece}{known}", *(str(key) for key in rest if key != "at")])

    def targets(self, data: object, path: str) -> list[str]:
        """Return the spaces that a fault concerns."""
        steps = edit.steps_of(path)
        match steps:
            case ["canals"]:
                names = [format_space(cell) for cell in board.PRINTED_CANALS]
            case ["canals", _]:
                names = [edit.value_at(data, path)]
            case ["bridges" | "temples" as key, index, *_]:
                names = [edit.value_at(data, f"{key}[{index}].at")]
            case ["calpulli", "placed", index, *_]:
                names = [edit.value_at(data, f"calpulli.placed[{index}].at")]
            case ["seats", int(index), "pilli"]:
                at = edit.value_at(data, path)
                if at not in tuple(_SPACES):
                    return [f"{edit.BRUSH}pilli {index}"] * (index < board.MAX_PLAYERS)
                names = [at]
            case ["temples" | "bridges" as key]:
                names = [edit.value_at(entry, "at") for entry in edit.entries_at(data, key)]
            case _:
                names = []
        return [name for name in names if isinstance(name, str) and name in _SPACES]


def _temple(seat: int | str) -> str:
    """Return a temple of two terraces."""
    terrace = seat_shape(seat, 14, 14, 5, **_PAINT(None, f"rim{seat}", 1.4))
    return seat_mark(_PAINT, seat, 14, 14, 9) + terrace


def _players(fields: JsonObject) -> int:
    return max(board.MIN_PLAYERS, min(len(fields["seats"]), board.MAX_PLAYERS))


def _land(target: str) -> str:
    """Return the name of a space of the island; raise NotationError for another target."""
    if target not in _SPACES:
        raise refuse("target", f"there is no space {target[:20]!r}; expected one such as H6")
    if _SPACES[target] not in board.LAND:
        raise refuse("target", f"{target} is in the lake; expected a space of the island")
    return target


def _find(entries: Iterable[JsonObject], at: str) -> JsonObject | None:
    return next((entry for entry in entries if entry["at"] == at), None)


def _toggle(names: list[str], at: str) -> None:
    names.remove(at) if at in names else names.append(at)


def _cells(names: Iterable[str]) -> set[int]:
    return {_SPACES[name] for name in names if name in _SPACES}


def _num_shown(calpulli: JsonObject) -> int:
    return sum(len(calpulli.get(key, ())) for key in ("display", "placed", "removed"))


def _fits(fields: JsonObject, at: str, axis: str) -> bool:
    """Return whether a bridge would end on dry land."""
    dry = board.LAND - _cells(fields["canals"])
    return dry.issuperset(board.ramps(_SPACES[at], axis))


def _axis(fields: JsonObject, at: str) -> str:
    """Return the axis of a bridge that fits; of two, west to east."""
    return "ns" if _fits(fields, at, "ns") and not _fits(fields, at, "ew") else "ew"


EDITOR = MexicaEditor()

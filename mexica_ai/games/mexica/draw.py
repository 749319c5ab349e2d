"""Mexica as a picture: the island, the seats, the table, and a turn with its steps marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cext.games.mexica.ops import scoring_now
from mexica_ai.draw import marks
from mexica_ai.draw.outline import outline
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import NEUTRAL, pawn, seat_mark, seat_shape
from mexica_ai.draw.svg import TIMES, document, element, group, text
from mexica_ai.game.contract import try_parse
from mexica_ai.game.text_forms import count
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.games.mexica.notation import SHAPE, parse_position
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import readable

PARTS = ("board", "panel", "steps")
SIZE, X, Y = 40, 46, 46  # of a space, and where space A1 begins
_COLUMNS, _ROWS = len(board.COLUMNS), board.NUM_ROWS
_BOARD_WIDTH, _BOARD_HEIGHT = 2 * X + SIZE * _COLUMNS, 2 * Y + SIZE * _ROWS
_PANEL_X, _PANEL_WIDTH = _BOARD_WIDTH + 14, 300
_MIN_NUMBERED = 3  # spaces of a district with a number: the size of the smallest token
_STRIPE = 7.0
_BOLD = {"text_anchor": "middle", "font_weight": "bold"}


def draw(
    fields: JsonObject,
    *,
    viewer: int | None = None,
    turn: Sequence[tuple[str, JsonObject]] = (),
    theme: str = "light",
    parts: Sequence[str] = PARTS,
    targets: bool = False,
    shares: Sequence[float] | None = None,
) -> str:
    """Return a picture of a position; see `Picture.draw`."""
    picture = _Picture(readable(fields, SHAPE), Paint(theme), turn, targets, shares)
    body, width, height = [], 0.0, 0.0
    if "board" in parts:
        body.append(picture.board())
        width, height = _BOARD_WIDTH, _BOARD_HEIGHT
    if "panel" in parts:
        panel, tall = picture.panel()
        left = _PANEL_X if "board" in parts else 16
        body.append(group([panel], transform=f"translate({left} 0)"))
        width, height = left + _PANEL_WIDTH + 16, max(height, tall)
    if "steps" in parts and turn:
        actions = [action for action, _ in turn]
        if actions[-1] == "end" and len(actions) > 1:
            actions.pop()
        wide = max(width, _BOARD_WIDTH) - 2 * 28
        steps, tall = marks.chips(picture.paint, 28, height + 2, wide, actions)
        body.append(steps)
        width, height = max(width, wide + 56), height + tall + 8
    paper = element("rect", width=float(width), height=float(height), **picture.paint("paper"))
    return document(width, height, paper + "".join(body), picture.title())


def _square(cell: int) -> tuple[int, int]:
    return cell % 32 - 1, cell // 32 - 1


def _center(cell: int) -> tuple[float, float]:
    column, row = _square(cell)
    return X + SIZE * (column + 0.5), Y + SIZE * (row + 0.5)


def _owner(seat: int) -> int | str:
    return NEUTRAL if seat == board.NEUTRAL else seat


class _Picture:
    """Draws one position, which has the right shape but may be invalid, as in an editor."""

    def __init__(
        self,
        fields: JsonObject,
        paint: Paint,
        turn: Sequence[tuple[str, JsonObject]],
        targets: bool,
        shares: Sequence[float] | None,
    ) -> None:
        self.fields, self.paint, self.turn, self.targets, self.shares = fields, paint, turn, targets, shares
        self.now = turn[-1][1] if turn else fields
        now = self.now
        self.canals = {parse_space(name) for name in now["canals"]}
        self.bridges: dict[int, str] = {parse_space(bridge["at"]): bridge["axis"] for bridge in now["bridges"]}
        self.temples = {
            cell: temple
            for cell, temple in board.read_temples(now["temples"]).items()
            if board.NEUTRAL <= temple[0] < board.MAX_PLAYERS
        }
        self.tokens: dict[int, int] = {parse_space(token["at"]): token["size"] for token in now["calpulli"]["placed"]}
        self.pillis = {seat: parse_space(own["pilli"]) for seat, own in enumerate(now["seats"]) if own["pilli"]}
        self.districts = board.districts(self.canals)
        self.gains, self.winners = self._outcome()

    def _outcome(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return what a scoring now would bring each seat, and who has won; nothing of a position that is not valid."""
        phase = self.now["phase"]
        state = try_parse(parse_position, self.now) if phase in ("play", "over") else None
        if state is None:
            return [], []
        if phase == "play":
            return scoring_now(state), []
        return [], [seat for seat, share in enumerate(state.returns()) if share]

    def _hint(self, name: str) -> dict[str, str]:
        """Return the attribute of a mark that `teaching.hints` has words for."""
        return {"data_hint": name} if self.targets else {}

    def _marked(self, name: str, parts: Sequence[str]) -> str:
        """Return elements as a mark that `teaching.hints` has words for."""
        return group(parts, data_hint=name) if self.targets else "".join(parts)

    def title(self) -> str:
        now = self.fields if self.turn else self.now  # a turn belongs to the round in which it began
        place = f"Mexica, {now['players']} players"
        if now["phase"] == "play":
            place += f", period {now['period']}, round {now['round']}"
        if not self.turn:
            return place + (", over" if now["phase"] == "over" else f", seat {now['to_move']} to move")
        return f"{place}, turn of seat {self.fields['to_move']}: " + "; ".join(action for action, _ in self.turn)

    # --- the board

    def board(self) -> str:
        layers = [
            self._coordinates(),
            self._water(),
            *(self._district(district) for district in self.districts),
            self._grid(),
            self._palace(),
            self._numbers(),
            *(self._bridge(cell, axis) for cell, axis in sorted(self.bridges.items())),
            *(
                self._calpulli(*_center(cell), 16.5, size, class_="calpulli")
                for cell, size in sorted(self.tokens.items())
            ),
            *(self._temple(*_center(cell), *temple, 13.5) for cell, temple in sorted(self.temples.items())),
            self._turn_marks(),
            *(self._pilli(seat, cell) for seat, cell in self.pillis.items()),
        ]
        layers.append(group([marks.badge(self.paint, *badge) for badge in self.badges], class_="badges"))
        if self.targets:
            layers.append(self._targets())
        return group(layers, class_="board")

    def _coordinates(self) -> str:
        parts = []
        for column, name in enumerate(board.COLUMNS):
            x = X + SIZE * (column + 0.5)
            parts += [text(x, y, name, 12, text_anchor="middle") for y in (21, _BOARD_HEIGHT - 11)]
        for row in range(_ROWS):
            y = Y + SIZE * (row + 0.5) + 4
            parts += [text(x, y, row + 1, 12, text_anchor="middle") for x in (15, _BOARD_WIDTH - 15)]
        paint = self.paint("soft")
        return group(parts, **paint | {"class_": f"coords {paint.get('class_', '')}".rstrip()})

    def _water(self) -> str:
        lake = element(
            "rect",
            x=28.0,
            y=28.0,
            width=float(_BOARD_WIDTH - 56),
            height=float(_BOARD_HEIGHT - 56),
            rx=16.0,
            **self.paint("lake"),
        )
        island = [_square(cell) for cell in board.LAND]
        waves = []
        for index, cell in enumerate(cell for cell in board.GRID if cell not in board.LAND):
            if index % 4 == 1 and not any(near in board.LAND for near in board.neighbours(cell)):
                waves.append(self._wave(*_center(cell), "shallows"))
        shallows = element("path", d=outline(island, SIZE, X, Y, 13, 16), **self.paint("shallows"))
        canals = [_square(cell) for cell in self.canals]
        ditch = element("path", d=outline(canals, SIZE, X, Y, 2.5, 3), **self.paint("canal")) if canals else ""
        middles = map(_center, sorted(self.canals))
        ripples = [self._wave(x, y + dy, "lake") for x, y in middles for dy in (-5, 9)]
        return group([lake, *waves, shallows, ditch, *ripples], class_="water")

    def _wave(self, x: float, y: float, color: str) -> str:
        data = f"M{x - 9:g} {y:g}q4.5 -5 9 0t9 0"
        return element("path", d=data, stroke_linecap="round", **self.paint(None, color, 1.6))

    def _district(self, district: frozenset[int]) -> str:
        squares = [_square(cell) for cell in district]
        size = next((size for cell, size in self.tokens.items() if cell in district), None)
        leaders = self._leaders(district) if size else []
        paint = self.paint(f"tint{leaders[0]}" if len(leaders) == 1 else "land", "shore", 3.0)
        parts = [element("path", d=outline(squares, SIZE, X, Y, 2.2, 12), **paint)]
        if len(leaders) > 1:
            name = "s" + "-".join(map(str, leaders))
            stripes = {**self.paint(), "fill": f"url(#{name})"}
            parts.insert(0, self._stripes(name, leaders))
            parts.append(element("path", d=outline(squares, SIZE, X, Y, 1, 11), **stripes))
        if size:
            line = self.paint(None, "woodrim", 1.4)
            parts.append(element("path", d=outline(squares, SIZE, X, Y, -2.6, 8), **line))
        return group(parts, class_="district")

    def _stripes(self, name: str, seats: Sequence[int | str]) -> str:
        width = _STRIPE * len(seats)
        stripes = [
            element("rect", x=_STRIPE * index, width=_STRIPE, height=width, **self.paint(f"tint{seat}"))
            for index, seat in enumerate(seats)
        ]
        return element(
            "pattern",
            *stripes,
            id=name,
            patternUnits="userSpaceOnUse",
            width=width,
            height=width,
            patternTransform="rotate(45)",
        )

    def _levels(self, district: frozenset[int]) -> dict[int | str, int]:
        levels = board.levels(self.temples, district)
        return {_owner(seat): level for seat, level in levels.items()}

    def _leaders(self, district: frozenset[int]) -> list[int | str]:
        return sorted(map(_owner, board.leaders(board.levels(self.temples, district))), key=str)

    def _grid(self) -> str:
        steps = []
        for district in self.districts:
            for cell in district:
                column, row = _square(cell)
                x, y = X + SIZE * column, Y + SIZE * row
                if cell + 1 in district:
                    steps.append(f"M{x + SIZE} {y + 4}v{SIZE - 8}")
                if cell + 32 in district:
                    steps.append(f"M{x + 4} {y + SIZE}h{SIZE - 8}")
        line = self.paint(None, "palace", 1.0)
        return element("path", d="".join(sorted(steps)), stroke_dasharray="2 4", **line) if steps else ""

    def _palace(self) -> str:
        parts = []
        for cell in sorted(board.PALACE):
            x, y = _center(cell)
            size = 30.0 if cell != board.PALACE_CENTRE else 36.0
            parts.append(self._box(x, y, size, rx=4.0, **self.paint("palace", "wood", 1.2)))
            if cell == board.PALACE_CENTRE:
                parts += [self._box(x, y, inner, **self.paint(None, "wood", 1.6)) for inner in (24.0, 12.0)]
                for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)):
                    data = f"M{x + 6 * dx:g} {y + 6 * dy:g}L{x + 18 * dx:g} {y + 18 * dy:g}"
                    parts.append(element("path", d=data, **self.paint(None, "shore", 4.0)))
            else:
                data = f"M{x:g} {y - 9:g}l9 9l-9 9l-9 -9Z"
                parts.append(element("path", d=data, **self.paint(None, "wood", 1.2)))
        return group(parts, class_="palace")

    @staticmethod
    def _box(x: float, y: float, size: float, **attributes: object) -> str:
        return element("rect", x=x - size / 2, y=y - size / 2, width=size, height=size, **attributes)

    def _numbers(self) -> str:
        """The sizes of unfounded districts, on a free space near their middle."""
        taken = {*self.temples, *self.tokens, *self.pillis.values(), *board.PALACE}
        parts = []
        for district in self.districts:
            free = sorted(district - taken)
            if len(district) < _MIN_NUMBERED or not free or any(cell in district for cell in self.tokens):
                continue
            middle = [sum(values) / len(district) for values in zip(*map(_center, district), strict=True)]
            cell = min(free, key=lambda cell: sum((a - b) ** 2 for a, b in zip(_center(cell), middle, strict=True)))
            x, y = _center(cell)
            size = 17 if len(district) > 4 else 14
            style = {**_BOLD, **self._hint(f"open:{len(district)}"), **self.paint("landink")}
            parts.append(text(x, y + size * 0.36, len(district), size, **style))
        return group(parts, class_="sizes", opacity="0.75")

    def _bridge(self, cell: int, axis: str) -> str:
        x, y = _center(cell)
        turned = {"transform": f"rotate(90 {x:g} {y:g})"} if axis == "ns" else {}
        planks = [
            element("rect", x=x - 27, y=y - 9.0, width=54.0, height=18.0, rx=2.5, **self.paint("wood", "woodrim", 1.4)),
            *(
                element("path", d=f"M{x + dx:g} {y - 9:g}v18", **self.paint(None, "woodrim", 0.9))
                for dx in range(-21, 22, 7)
            ),
        ]
        return group(planks, class_="bridge", **turned)

    def _calpulli(self, x: float, y: float, radius: float, size: int, **attributes: object) -> str:
        parts = [
            element("circle", cx=float(x), cy=float(y), r=float(radius), **self.paint("calpulli", "calpullirim", 1.8)),
            element("circle", cx=float(x), cy=float(y), r=radius - 3, **self.paint(None, "calpullirim", 0.8)),
            text(x, y + radius * 0.16, size, radius * 0.95, **_BOLD, **self.paint("calpulliink")),
        ]
        second = (size + 1) // 2
        values = f"{second}·{(second + 1) // 2}"
        style = {"text_anchor": "middle", **self.paint("calpulliink")}
        parts.append(text(x, y + radius * 0.68, values, radius * 0.46, **style))
        return group(parts, **attributes)

    def _temple(self, x: float, y: float, seat: int, level: int, radius: float) -> str:
        name = _owner(seat)
        return group(
            [
                seat_mark(self.paint, name, x, y, radius, ""),
                *(
                    seat_shape(name, x, y, radius * (1 - 0.14 * step), **self.paint(None, f"rim{name}", 0.9))
                    for step in range(1, min(level, 4))  # its terraces
                ),
                text(
                    x,
                    y + radius * (0.68 if name == 0 else 0.34),
                    level,
                    radius * 0.95,
                    **_BOLD,
                    **self.paint(f"on{name}"),
                ),
            ],
            class_="temple",
        )

    def _pilli(self, seat: int, cell: int) -> str:
        if seat >= board.MAX_PLAYERS:
            return ""
        return pawn(self.paint, seat, *_center(cell), 40, class_="pilli")

    def _targets(self) -> str:
        parts = []
        mover = self.pillis.get(self.now["to_move"]) if self.now["phase"] == "play" else None
        for cell in board.GRID:
            column, row = _square(cell)
            parts.append(
                element(
                    "rect",
                    x=float(X + SIZE * column),
                    y=float(Y + SIZE * row),
                    width=float(SIZE),
                    height=float(SIZE),
                    fill_opacity="0",
                    data_target=format_space(cell),
                    data_tool="move" if cell == mover else None,
                    data_first="1" if cell == mover else None,
                    class_="target",
                )
            )
        return group(parts, class_="targets")

    # --- a turn

    def _turn_marks(self) -> str:
        shapes = []
        self.badges: list[tuple[float, float, int]] = []  # place and number
        before = self.fields
        corners: Counter[tuple[float, float]] = Counter()
        for number, (action, after) in enumerate(self.turn, 1):
            verb, *operands = action.split()
            if verb in ("walk", "sail", "teleport"):
                seat = before["to_move"]
                start, end = parse_space(before["seats"][seat]["pilli"]), parse_space(operands[0])
                shapes.append(self._way(verb, start, end, seat, number))
            elif verb != "end":
                cells = [parse_space(name) for word in operands for name in word.split("-") if name[0] in board.COLUMNS]
                cells = cells[1:] if verb == "relocate" else cells
                if cells:
                    data = outline([_square(cell) for cell in cells], SIZE, X, Y, -1, 6)
                    shapes.append(marks.frame(self.paint, data))
                    x, y = min((_center(cell) for cell in cells), key=lambda point: (point[1], point[0]))
                    shift = 12 * corners[x, y]
                    corners[x, y] += 1
                    self.badges.append((x - 15 + shift, y - 16, number))
            before = after
        return group(shapes, class_="turn")

    def _way(self, verb: str, start: int, end: int, seat: int, number: int) -> str:
        (x, y), (u, v) = _center(start), _center(end)
        dash = {"walk": None, "sail": "2 5", "teleport": "9 6"}[verb]
        arrow, middle = marks.arrow(self.paint, (x, y), (u, v), dash=dash, bend=28.0 if verb == "teleport" else 4.0)
        above = 15 if abs(y - v) < abs(x - u) else 0
        self.badges.append((middle[0] - (15 - above), middle[1] - above, number))
        return pawn(self.paint, seat, x, y, 40, opacity="0.4") + arrow

    # --- the panel

    def panel(self) -> tuple[str, float]:
        now, paint = self.now, self.paint
        idle = f", {count(now['idle_rounds'], 'idle round')}" if now.get("idle_rounds") else ""
        heading = {"placement": "placement", "over": "over"}.get(
            now["phase"], f"period {now['period']}, round {now['round']}{idle}"
        )
        parts = [
            text(0, 46, "Mexica", 22, font_weight="bold", **paint("ink")),
            text(_PANEL_WIDTH, 46, heading, 13, text_anchor="end", **self._hint("period"), **paint("soft")),
        ]
        y = 60.0
        for seat, own in enumerate(now["seats"][: board.MAX_PLAYERS]):
            parts.append(group([self._seat(seat, own)], transform=f"translate(0 {y:g})", class_="seat"))
            y += 82
        if self.shares:
            parts.append(group([self._share_bar(self.shares)], transform=f"translate(0 {y:g})"))
            y += 52
        else:
            y += 6
        rows = [("display", "on display", now["calpulli"]["display"])]
        if now["period"] == 1 and now["calpulli"].get("upcoming"):
            rows.append(("upcoming", "period 2", now["calpulli"]["upcoming"]))
        for name, label, sizes in rows:
            parts.append(text(0, y + 12, label, 11.5, **paint("soft")))
            if not sizes:
                parts.append(text(62, y + 12, "none", 11.5, **paint("soft")))
            for index, size in enumerate(sizes):
                left, top = 76 + 29.8 * (index % 8), y + 8 + 32 * (index // 8)
                parts.append(self._calpulli(left, top, 14, size, **self._hint(f"{name}:{size}")))
            y += 34 + 32 * (max(len(sizes) - 1, 0) // 8)
        y += 2
        founded = [district for district in self.districts if any(cell in district for cell in self.tokens)]
        if founded:
            parts.append(text(0, y + 10, "districts: levels of temples by rank", 11.5, **paint("soft")))
            y += 18
            for index, district in enumerate(sorted(founded, key=self._token_of, reverse=True)):
                left, top = 152 * (index % 2), y + 30 * (index // 2)
                at = next(format_space(cell) for cell in self.tokens if cell in district)
                hint = self._hint(f"rank:{at}")
                parts.append(group([self._rank(district)], transform=f"translate({left} {top:g})", **hint))
            y += 30 * ((len(founded) + 1) // 2) + 8
        parts.append(group([self._supply()], transform=f"translate(0 {y:g})"))
        return group(parts, class_="panel"), y + 40

    def _token_of(self, district: frozenset[int]) -> int:
        return next(size for cell, size in self.tokens.items() if cell in district)

    def _seat(self, seat: int, own: JsonObject) -> str:
        paint, now = self.paint, self.now
        is_moving = seat == self.fields["to_move"] and self.fields["phase"] != "over"
        is_lit = is_moving or seat in self.winners
        edge = paint("card", f"seat{seat}" if is_lit else "line", 2.4 if is_lit else 1.4)
        score = {**_BOLD, "text_anchor": "end", **self._hint(f"points:{seat}"), **paint("ink")}
        parts = [
            element("rect", width=float(_PANEL_WIDTH), height=74.0, rx=9.0, **edge),
            seat_mark(paint, seat, 24, 24, 12),
            text(44, 24, f"Seat {seat}", 15, font_weight="bold", **paint("ink")),
            text(_PANEL_WIDTH - 12, 31, own["score"], 24, **score),
            self._action_tokens(own["action_tokens"], len(str(own["score"])), **self._hint(f"tokens:{seat}")),
        ]
        if is_moving and seat not in self.winners:
            note = "after this turn" if self.turn else f"to move, {now['action_points']} AP"
            hint = {} if self.turn else self._hint(f"moves:{seat}")
            parts.append(text(44, 40, note, 11.5, **hint, **paint("soft")))
        elif seat in self.winners:
            note = "wins" if len(self.winners) == 1 else "shares the win"
            parts.append(text(44, 40, note, 11.5, font_weight="bold", **paint("ink")))
        if seat < len(self.gains):
            note = f"+{self.gains[seat]} now"
            style = {"text_anchor": "end", **self._hint(f"now:{seat}"), **paint("soft")}
            parts.append(text(_PANEL_WIDTH - 12, 47, note, 11.5, **style))
        for level, number in enumerate(own["temples"][:4], 1):
            x = 24 + 66 * (level - 1)
            label = text(x + 17, 61.5, f"{TIMES}{number}", 13, **paint("ink"))
            parts.append(self._marked(f"stock:{seat}:{level}", [self._temple(x, 57, seat, level, 10.5), label]))
        return "".join(parts)

    def _action_tokens(self, number: int, digits: int, **attributes: str) -> str:
        x = _PANEL_WIDTH - 92.0 - 14 * max(digits - 2, 0)
        label = text(x + 22, 26, f"{TIMES}{number}", 13, **self.paint("ink"))
        return group([self._star(x, 12), label], class_="tokens", **attributes)

    def _star(self, x: float, y: float) -> str:
        """Return an action token."""
        box = {"x": float(x), "y": float(y), "width": 18.0, "height": 18.0, "rx": 4.0}
        star = f"M{x + 9:g} {y + 3.5:g}l1.7 3.7 4 .4-3 2.7.9 4-3.6-2.1-3.6 2.1.9-4-3-2.7 4-.4Z"
        back = element("rect", **box, **self.paint("paper", "soft", 1.4))
        return back + element("path", d=star, **self.paint("soft"))

    def _share_bar(self, shares: Sequence[float]) -> str:
        paint = self.paint
        parts = [text(0, 11, "expected share of the win", 11.5, **paint("soft"))]
        x = 0.0
        for seat, share in enumerate(shares):
            wide = _PANEL_WIDTH * share
            parts.append(element("rect", x=x, y=18.0, width=wide, height=20.0, **paint(f"seat{seat}")))
            if wide > 36:
                label = f"{100 * share:.0f}%"
                parts.append(text(x + wide / 2, 32.5, label, 12.5, **_BOLD, **paint(f"on{seat}")))
            x += wide
        return "".join(parts)

    def _rank(self, district: frozenset[int]) -> str:
        paint = self.paint
        levels = sorted(self._levels(district).items(), key=lambda item: (-item[1], str(item[0])))
        parts = [
            element("rect", width=146.0, height=26.0, rx=6.0, **paint("card", "line", 1.2)),
            self._calpulli(14, 13, 11, self._token_of(district)),
        ]
        for index, (seat, level) in enumerate(levels[:4]):
            x = 38 + 30 * index
            parts += [seat_mark(paint, seat, x, 13, 6), text(x + 8, 17.5, level, 12, **paint("ink"))]
        if not levels:
            parts.append(text(32, 17, "no temples", 11.5, **paint("soft")))
        return "".join(parts)

    def _supply(self) -> str:
        now, paint = self.now, self.paint
        tiles = now["canal_tiles"]
        tokens = board.NUM_ACTION_TOKENS - sum(seat["action_tokens"] for seat in now["seats"])
        double = element("path", d="M0 2h30v16h-30ZM15 2v16", **paint("canal", "bank", 1.2))
        single = element("path", d="M78 2h16v16h-16Z", **paint("canal", "bank", 1.2))
        bridge = element("path", d="M138 4h28v12h-28ZM145 4v12M152 4v12M159 4v12", **paint("wood", "woodrim", 1.2))
        bridges = board.NUM_BRIDGES - len(self.bridges)
        rows = (
            ("double", double, 34, tiles["double"]),
            ("single", single, 98, tiles["single"]),
            ("bridge", bridge, 170, bridges),
            ("token", self._star(210, 1), 232, tokens),
        )
        parts = [
            self._marked(f"supply:{name}", [shape, text(x, 15, f"{TIMES}{count}", 13, **paint("ink"))])
            for name, shape, x, count in rows
        ]
        return group(parts, class_="supply")

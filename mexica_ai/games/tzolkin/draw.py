"""Tzolk'in as a picture: the calendar, the gears with their workers, temples, tracks, open tiles, and the seats."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TypeAlias

from mexica_ai.draw import marks, svg
from mexica_ai.draw.canvas import Box, Canvas
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import document, element, group
from mexica_ai.game.contract import try_parse
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.games.tzolkin.facts import BLOCKS, BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.games.tzolkin.notation import parse_position
from mexica_ai.games.tzolkin.shape import SHAPE
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import readable

Turn: TypeAlias = Sequence[tuple[str, JsonObject]]  # the actions, with the position after each
Glyph: TypeAlias = tuple[str, str]  # the kind of a token or "", and the words on it

PARTS = ("calendar", "gears", "table", "panel", "steps")
_WIDTH, _EDGE = 1260, 20
_GEAR_W, _GEAR_H, _RADIUS = 244, 240, 62
_TILE_W, _TILE_H = 194, 76
_SEAT_W = 604
_PANEL_W = 340  # of the seats alone, one below the other
_BOLD = {"text_anchor": "middle", "font_weight": "bold"}
_TITLES = {"palenque": "Palenque", "yaxchilan": "Yaxchilan", "tikal": "Tikal", "uxmal": "Uxmal"} | {
    facts.CHICHEN: "Chichen Itza"
}
_COLORS = {"corn": "corn", "wood": "wood", "stone": "stone", "gold": "gold", "skull": "skull"}
_LETTERS = {"corn": "c", **{kind: letter for letter, kind in BLOCKS.items()}, "skull": "k"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_MATERIALS = re.compile(r"(\d*[cWSGk]|[ /])+")  # signs of corn, blocks and skulls alone
_LEGEND = (
    "c corn, W wood, S stone, G gold, k crystal skull; below the signs of Palenque the tiles that are left; "
    "small grey discs are idle workers; any: any action of the gear",
    "tech: an advance; build: a building, build2: two of them or a monument, buildc: one paid with corn; step: up in a "
    "temple; 4C: a skull for 4 points and a step in Chaac (Q, K the others, + a block)",
)
_UNSEEN = ("end", "advance")  # what only moves on to the next turn


def draw(
    fields: JsonObject,
    *,
    viewer: int | None = None,
    turn: Turn = (),
    theme: str = "light",
    parts: Sequence[str] = PARTS,
    targets: bool = False,
    shares: Sequence[float] | None = None,
) -> str:
    """Return a picture of a position; see `Picture.draw`.

    A turn is shown before the gears turn, so that its workers stand where it has put them.
    """
    picture = _Picture(drawable(fields), Paint(theme), turn, targets)
    if not {"calendar", "gears", "table", "steps"}.intersection(parts):
        return picture.panel()
    y = picture.heading(shares)
    if "calendar" in parts:
        y += picture.calendar(y)
    if "table" in parts:
        y += picture.dealt(y)
    if "gears" in parts:
        for index, gear in enumerate(GEARS):
            picture.gear(gear, _EDGE + index * _GEAR_W, y)
        picture.legend(y + _GEAR_H + 14)
        y += _GEAR_H + 46
    if "table" in parts:
        y += max(picture.temples(y), picture.tiles(y)) + 10
    if "panel" in parts:
        y += picture.seats(y)
    body = [*picture.parts, group([*picture.marks, *picture.advances()], class_="turn")]
    if "steps" in parts and turn:
        steps, tall = marks.chips(picture.paint, _EDGE, y, _WIDTH - 2 * _EDGE, [action for action, _ in turn])
        body.append(steps)
        y += tall + 4
    if targets:
        body.append(picture.all_targets())
    paper = element("rect", width=float(_WIDTH), height=float(y), **picture.paint("paper"))
    return document(_WIDTH, y, paper + "".join(body), picture.title())


def drawable(fields: JsonObject) -> JsonObject:
    """Return what can be drawn of a position, which may be a faulty one of an editor."""
    data = readable(fields, SHAPE)
    seats = data["seats"] = data["seats"][: facts.MAX_PLAYERS]
    for key in ("start_space", "start_player"):
        if data[key] is not None and not 0 <= data[key] < facts.MAX_PLAYERS:
            data[key] = None
    data["players"] = max(facts.MIN_PLAYERS, min(data["players"], facts.MAX_PLAYERS))
    data["skulls_placed"] = [number for number in data["skulls_placed"] if 1 <= number <= facts.SKULL_ACTIONS]
    for gear, places in data["gears"].items():
        known = (place if place in "0123i" else facts.FREE for place in places)
        data["gears"][gear] = "".join(known).ljust(GEARS[gear]["teeth"], facts.FREE)[: GEARS[gear]["teeth"]]
    for kind, tiles in data["fields"].items():
        data["fields"][kind] = (tiles + [0] * facts.NUM_FIELDS)[: facts.NUM_FIELDS]
    for own in seats:
        own["workers"] = max(0, min(own["workers"], facts.MAX_WORKERS))
    return data


class _Picture(Canvas):
    """Draws one position from top to bottom, and remembers where things are."""

    def __init__(self, fields: JsonObject, paint: Paint, turn: Turn, targets: bool) -> None:
        super().__init__(paint, targets=targets)
        self.fields, self.turn = fields, turn
        seen = [(action, after) for action, after in turn if action.split()[0] not in _UNSEEN]
        self.now = (seen or turn)[-1][1] if turn else fields
        self.marks: list[str] = []
        self.built: dict[int, Box] = {}  # seat -> the line of what it has built
        # By verb, temple or track, and seat.
        self.rings: dict[tuple[str, str, int], tuple[float, float, float]] = {}  # of marks
        state = try_parse(parse_position, self.now) if self.now.get("phase") == "over" else None
        self.winners = [] if state is None else [seat for seat, share in enumerate(state.returns()) if share]
        self.gear_marks = self._find_marks(seen)

    def _find_marks(self, seen: Turn) -> dict[tuple[str, int], list[tuple[int, str | None]]]:
        """Return (gear, space) -> numbers of the actions that placed or picked up a worker there."""
        found: dict[tuple[str, int], list[tuple[int, str | None]]] = {}
        before = self.fields
        turned = self.now["day"] - before["day"]  # if the gears have turned since, marks turn with them
        for number, (action, after) in enumerate(seen, 1):
            for gear, places in after["gears"].items():
                days, teeth = after["day"] - before["day"], len(places)
                for space, old in enumerate(before["gears"][gear]):
                    new = places[(space + days) % teeth]
                    is_own = not days or str(self.fields["to_move"]) in (old, new)  # others may have come home
                    if is_own and old != new and action.split()[0] in ("place", "pick"):
                        found.setdefault((gear, (space + turned) % teeth), []).append(
                            (number, old if new == facts.FREE else None)
                        )
            before = after
        return found

    def title(self) -> str:
        now = self.fields if self.turn else self.now  # a turn belongs to the day on which it began
        title = f"Tzolk'in, {now.get('players')} players, day {now.get('day')}"
        if self.turn:
            turn = "; ".join(action for action, _ in self.turn)
            return f"{title}, turn of seat {self.fields.get('to_move')}: {turn}"
        return title + (", over" if now.get("phase") == "over" else f", seat {now.get('to_move')} to move")

    # --- helpers

    def token(self, x: float, y: float, kind: str, size: float = 8.0, label: object = None) -> None:
        """Draw corn as a disc, a block as a square, a skull as a diamond, with a label or its letter."""
        paint = self.paint(_COLORS[kind], "mark", 1.0)
        if kind == "corn":
            self.parts.append(element("circle", cx=float(x), cy=float(y), r=float(size), **paint))
        elif kind == "skull":
            side, high = size * 1.2, size * 1.25
            data = f"M{x:g} {y - high:g}l{side:g} {high:g}l{-side:g} {high:g}l{-side:g} {-high:g}Z"
            self.parts.append(element("path", d=data, **paint))
        else:
            self.box(x - size, y - size, 2 * size, 2 * size, _COLORS[kind], "mark", 1.0, 2.5)
        self.text(x, y + size * 0.45, label or _LETTERS[kind], size * 1.25, color="mark", **_BOLD)

    def amounts(self, x: float, y: float, materials: dict[str, int], size: float = 7.0) -> float:
        """Draw materials in a row; return where it ends."""
        for kind, number in materials.items():
            self.token(x + size, y, kind, size)
            self.text(x + 2 * size + 3, y + size * 0.6, number, size * 1.7, font_weight="bold")
            x += 2 * size + 9 + size * len(str(number))
        return x

    # --- the table

    def heading(self, shares: Sequence[float] | None) -> float:
        now = self.now
        self.text(24, 42, "Tzolk'in", 22, font_weight="bold")
        note = f"day {now.get('day')}, age {facts.age(now.get('food_days', 0))}"
        if now.get("phase") == "over":
            note = "over"
        if now.get("viewer") is not None:
            note += f", as {viewer_name(now['viewer'])} sees it"
        if now.get("pending"):
            note += f", to decide: {now['pending'][0]}"
        self.text(132, 42, note, 13, color="soft")
        if shares:
            self.shares(shares, 820.0, _WIDTH - _EDGE - 820)
        return 62

    def calendar(self, y: float) -> float:
        now = self.now
        step = (_WIDTH - 2 * _EDGE - 250) / facts.LAST_DAY
        for day in range(1, facts.LAST_DAY + 1):
            x = _EDGE + step * (day - 1)
            is_today, is_food = day == now.get("day"), day in facts.FOOD_DAYS
            is_held = is_food and facts.FOOD_DAYS.index(day) < now.get("food_days", 0)
            gone = day < now.get("day", 0)
            fill = "glow" if is_today else "line" if gone else "card"
            first = len(self.parts)
            self.box(x + 1, y, step - 2, 34, fill, "mark" if is_today else "line", 2.0 if is_today else 1.0, 5)
            self.text(x + step / 2, y + 14, day, 11.5, color="mark" if is_today else "soft", text_anchor="middle")
            if is_food:
                self.token(x + step / 2, y + 25, "corn", 6.5)
                if is_held:
                    slash = f"M{x + 5:g} {y + 31:g}L{x + step - 5:g} {y + 18:g}"
                    self.parts.append(element("path", d=slash, **self.paint(None, "ink", 1.6)))
            self.mark(f"day:{day}", first)
        x = _WIDTH - _EDGE - 240
        self.box(x, y, 112, 34, "card", "line", 1.2, 6)
        self.text(x + 8, y + 21, "start space", 11.5, color="soft")
        self.places["place:start"] = (x, y, 112, 34)
        if now.get("start_space") is not None:
            self.parts.append(seat_mark(self.paint, now["start_space"], x + 95, y + 17, 9))
        self.box(x + 120, y, 120, 34, "card", "line", 1.2, 6)
        with self.hint("starts"):
            self.text(x + 128, y + 21, "starts", 11.5, color="soft")
            if now["start_player"] is not None:
                self.parts.append(seat_mark(self.paint, now["start_player"], x + 178, y + 17, 8))
        with self.hint("teeth"):
            self.token(x + 202, y + 17, "corn", 7)
            self.text(x + 213, y + 21, now.get("teeth_corn"), 12, font_weight="bold")
        return 46

    def gear(self, gear: str, x: float, y: float) -> None:
        now, paint = self.now, self.paint
        teeth = GEARS[gear]["teeth"]
        signs = render.pictures(now, gear)
        middle, center = x + _GEAR_W / 2, y + _GEAR_H / 2 + 22
        radius = _RADIUS + (5 if gear == facts.CHICHEN else 0)
        with self.hint(f"place:{gear}"):
            self.text(middle, y + 10, _TITLES[gear], 13.5, **_BOLD)

        def at(space: float, reach: float) -> tuple[float, float]:
            way = math.radians(112 + 360 * space / teeth)
            return middle + reach * math.cos(way), center + reach * math.sin(way)

        points = []
        for space in range(teeth):
            for turn, reach in ((-0.32, radius - 15), (-0.3, radius + 14), (0.3, radius + 14), (0.32, radius - 15)):
                points.append(at(space + turn, reach))
        data = "".join(f"{'ML'[index > 0]}{a:.2f} {b:.2f}" for index, (a, b) in enumerate(points)) + "Z"
        teeth_path = element("path", d=data, stroke_linejoin="round", **paint("land", "palace", 1.6))
        self.parts.append(self._wheel(gear, middle, center, [teeth_path]))
        self.parts.append(
            element("circle", cx=float(middle), cy=float(center), r=radius - 22.0, **paint("shore", "palace", 1.4))
        )
        bend = radius - 47
        arc = f"M{middle - bend:g} {center:g}A{bend:g} {bend:g} 0 1 1 {middle:g} {center + bend:g}"
        tip = f"M{middle - 1:g} {center + bend + 5:g}l-8 -5l8 -5Z"
        self.parts.append(element("path", d=arc, **paint(None, "palace", 3.0)))
        self.parts.append(element("path", d=tip, **paint("palace")))
        for space, sign in enumerate(signs):
            a, b = at(space, radius - 32)
            self.text(a, b + 3.6, space, 10, color="landink", text_anchor="middle")
            if space:
                left = self._tiles_left(space) if gear == "palenque" else ""
                self._action(gear, space, sign, left, *at(space, radius + (43 if left else 37)))
        workers = []
        for space, owner in enumerate(now["gears"][gear]):
            a, b = at(space, radius - 1)
            if owner.isdigit():
                workers.append(seat_mark(paint, int(owner), a, b, 9.5))
            elif owner == facts.IDLE:
                workers.append(element("circle", cx=a, cy=b, r=6.5, **paint("neutral", "rimneutral", 1.2)))
            self.places[f"worker:{gear}:{space}"] = (a - 13, b - 13, 26, 26)
            for number, gone in self.gear_marks.get((gear, space), ()):
                ring = _ring(a, b, 13)
                ghost = group([seat_mark(paint, int(gone), a, b, 9.5)], opacity="0.35") if gone else ""
                self.marks.append(ghost + marks.frame(paint, ring) + marks.badge(paint, a + 12, b - 12, number, 8))
        self.parts.append(self._wheel(gear, middle, center, workers))
        self.places[f"place:{gear}"] = (middle - radius + 22, center - radius + 22, 2 * radius - 44, 2 * radius - 44)

    def _tiles_left(self, space: int) -> str:
        """Return the tiles at an action of Palenque, "" where there are never any."""
        fields = self.now["fields"]
        if not 2 <= space <= 5:
            return ""
        return f"{fields['corn'][space - 2]}c" + (f" {fields['wood'][space - 2]}W" if space > 2 else "")

    def _action(self, gear: str, space: int, sign: str, left: str, x: float, y: float) -> None:
        """Draw the sign of an action with what is left below it."""
        glyphs = _glyphs(sign)
        wide = max(30, 8 + sum(map(_width, glyphs)))
        tall = 36 if left else 24
        self.box(x - wide / 2, y - tall / 2, wide, tall, "card", "line", 1.1, 5)
        at, middle = x - sum(map(_width, glyphs)) / 2, y - (6 if left else 0)
        for glyph in glyphs:
            kind, word = glyph
            if kind:
                self.token(at + _width(glyph) / 2, middle, kind, 7.0, word)
            else:
                self.text(at + _width(glyph) / 2, middle + 4, word, 11, **_BOLD)
            at += _width(glyph)
        if left:
            self.text(x, y + 13, left, 10, color="soft", text_anchor="middle")
        self.places[f"use:{gear}:{space}"] = (x - wide / 2, y - tall / 2, wide, tall)

    def legend(self, y: float) -> None:
        """Draw what the signs of the gears mean."""
        for row, line in enumerate(_LEGEND):
            self.text(_EDGE, y + 14 * row, line, 10.5, color="soft")

    def _wheel(self, gear: str, x: float, y: float, parts: list[str]) -> str:
        """Return what turns with a gear; a page finds there round what, and how far it has turned so far."""
        if not self.targets:
            return "".join(parts)
        angle = 360 / GEARS[gear]["teeth"] * self.now.get("day", 0)
        about = {"data_wheel": gear, "data_angle": float(angle), "data_center": f"{svg.number(x)} {svg.number(y)}"}
        return group(parts, class_="wheel", **about)

    def temples(self, y: float) -> float:
        """Draw temples and tracks on the left; return the height."""
        now = self.now
        tops = [facts.top_step(temple) for temple in TEMPLES]
        tall = 24
        for column, (temple, temple_facts) in enumerate(TEMPLES.items()):
            x = _EDGE + 132 * column
            six, two = temple_facts["leader"]
            with self.hint(f"temple:{temple}"):
                self.text(x, y + 14, temple.capitalize(), 12.5, font_weight="bold")
            with self.hint(f"leader:{temple}"):
                self.text(x + 122, y + 14, f"{six} / {two}", 11, color="soft", text_anchor="end")
            for step in range(facts.LOWEST, facts.top_step(temple) + 1):
                top = y + 22 + tall * (max(tops) - step)
                index = step - facts.LOWEST
                self.box(x, top, 122, tall - 2, "card" if step else "shore", "line", 1.0, 4)
                points = temple_facts["points"][index]
                self.text(x + 8, top + 15, points, 12, font_weight="bold", color="ink" if step else "mark")
                if temple_facts["rewards"][index]:
                    self.token(x + 40, top + 11, temple_facts["rewards"][index], 6.5)
                for seat, own in enumerate(now["seats"]):
                    if own["temples"][temple] == step:
                        self.parts.append(seat_mark(self.paint, seat, x + 62 + 16 * seat, top + 11, 7))
                        self.rings["climb", temple, seat] = (x + 62 + 16 * seat, top + 11, 9.5)
            self.places[f"temple:{temple}"] = (x, y + 22, 122, tall * (max(tops) + 2))
        bottom = y + 22 + tall * (max(tops) - facts.LOWEST + 1) + 10
        for row, track in enumerate(TRACKS):
            top = bottom + 37 * row
            self.text(_EDGE, top + 21, track.capitalize(), 12, font_weight="bold")
            for level in range(facts.TOP_LEVEL + 1):
                x, wide = (_EDGE + 92, 62) if level == 0 else (_EDGE + 72 + 84 * level, 82)
                self.box(x, top, wide, 34, "card", "line", 1.0, 4)
                label = "" if level == 0 else render.TRACK_WORDS[track][level - 1]
                self.text(x + wide / 2, top + 12, label, 10, color="soft", text_anchor="middle")
                for seat, own in enumerate(now["seats"]):
                    if own["technologies"][track] == level:
                        a, b = x + wide / 2 - 22.5 + 15 * seat, top + 23
                        self.parts.append(seat_mark(self.paint, seat, a, b, 6))
                        self.rings["research", track, seat] = (a, b, 8.5)
            self.places[f"track:{track}"] = (_EDGE, top, 404, 34)
        return bottom + 37 * len(TRACKS) - y

    def tiles(self, y: float) -> float:
        """Draw the open buildings and monuments on the right; return the height."""
        now = self.now
        left = _EDGE + 420
        with self.hint("deck"):
            self.text(left, y + 14, f"buildings, {facts.deck(now).total()} in the deck", 12.5, font_weight="bold")
        rows = 0
        names = list(now["display"]["buildings"])
        for index, name in enumerate(names):
            x, top = left + (_TILE_W + 8) * (index % 4), y + 22 + (_TILE_H + 8) * (index // 4)
            self._tile(x, top, name, BUILDINGS[name], render.describe_effects(BUILDINGS[name]["effects"]))
        rows = -(-len(names) // 4)
        top = y + 22 + (_TILE_H + 8) * max(rows, 1)
        self.text(left, top + 12, "monuments", 12.5, font_weight="bold")
        names = list(now["display"]["monuments"])
        for index, name in enumerate(names):
            x, row = left + (_TILE_W + 8) * (index % 4), top + 20 + (_TILE_H + 8) * (index // 4)
            words = render.describe_scoring(MONUMENTS[name]["scoring"], now["players"])
            self._tile(x, row, name, MONUMENTS[name], words)
        return top + 20 + (_TILE_H + 8) * -(-len(names) // 4) - y

    def _tile(self, x: float, y: float, name: str, tile: JsonObject, words: str) -> None:
        color = {"farm": "tint2", "tomb": "tint1", "civic": "tint0", "shrine": "tint3"}.get(tile["category"], "shore")
        self.box(x, y, _TILE_W, _TILE_H, "card", "palace", 1.4, 7)
        self.box(x, y, _TILE_W, 19, color, None, 1, 7)
        title = name.partition("_")[2].replace("_", " ")
        self.text(x + 7, y + 13.5, title, 10.5, color="mark", font_weight="bold")
        if not title.startswith(tile["category"]):
            self.text(x + _TILE_W - 7, y + 13.5, tile["category"], 10, color="mark", text_anchor="end")
        self.amounts(x + 7, y + 31, tile["cost"], 6.5)
        for row, line in enumerate(textwrap.wrap(words, 30)[:2]):
            self.text(x + 7, y + 53 + 13 * row, line, 10.5)
        self.places[f"tile:{name}"] = (x, y, _TILE_W, _TILE_H)

    def dealt(self, y: float) -> float:
        """Draw the wealth tiles from which seats choose what they keep; return the height."""
        top = y
        for seat, own in enumerate(self.now["seats"]):
            if self.now["phase"] == "keep" and set(own["dealt"]) - {facts.HIDDEN}:
                self.parts.append(seat_mark(self.paint, seat, _EDGE + 12, top + 31, 10))
                self.text(_EDGE + 32, top + 35, "keeps two of", 12.5)
                top = self._dealt(seat, own["dealt"], _EDGE + 122, top)
        return top - y

    def _dealt(self, seat: int, tiles: Sequence[str], x: float, y: float) -> float:
        """Draw the wealth tiles from which a seat chooses; return where they end."""
        wide, tall, most = 138, 62, facts.NUM_DEALT
        for index, name in enumerate(tiles[:most]):
            at = x + (wide + 8) * index
            self.box(at, y, wide, tall, "card", "palace", 1.4, 7)
            if name not in WEALTH:
                self.text(at + wide / 2, y + tall / 2 + 4, "hidden", 11, color="soft", text_anchor="middle")
                continue
            effects = WEALTH[name]["effects"]
            words = render.describe_effects(each for each in effects if each["do"] != "gain")
            for effect in effects:
                if effect["do"] == "gain":
                    self.amounts(at + 8, y + 15, effect["materials"], 7.5)
            for line, part in enumerate(textwrap.wrap(words, 20)[:2]):
                self.text(at + 8, y + 39 + 14 * line, part, 11)
            self.places[f"dealt:{seat}:{name}"] = (at, y, wide, tall)
        return y + tall + 14

    # --- seats

    def seats(self, y: float) -> float:
        """Draw the seats, two in a row; return the height."""
        top, tall = y, 0.0
        for seat, own in enumerate(self.now["seats"]):
            if seat and seat % 2 == 0:
                top, tall = top + tall + 10, 0.0
            tall = max(tall, self._seat(seat, own, _EDGE + (_SEAT_W + 12) * (seat % 2), top))
        return top + tall + 12 - y

    def panel(self) -> str:
        """Return the picture of the seats alone, in one column."""
        y = 4.0
        for seat, own in enumerate(self.now["seats"]):
            y += self._seat(seat, own, 2, y, _PANEL_W - 4) + 8
        body = [element("rect", width=float(_PANEL_W), height=y, **self.paint("paper")), *self.parts, *self.advances()]
        return document(_PANEL_W, y, "".join(body), self.title())

    def _seat(self, seat: int, own: JsonObject, x: float, y: float, width: float = _SEAT_W) -> float:
        first, is_narrow = len(self.parts), width < _SEAT_W
        is_moving = seat == self.fields.get("to_move") and self.fields.get("phase") != "over"
        self.parts.append(seat_mark(self.paint, seat, x + 24, y + 24, 11))
        has_note = is_moving or seat in self.winners
        self.text(x + 44, y + (25 if is_narrow and has_note else 29), f"Seat {seat}", 15, font_weight="bold")
        at = (x + 44, y + 41) if is_narrow else (x + 104, y + 29)  # in one column names may be long
        if is_moving:
            self.text(*at, "after this turn" if self.turn else "to move", 11.5, color="soft")
        elif has_note:
            note = "wins" if len(self.winners) == 1 else "shares the win"
            self.text(*at, note, 11.5, font_weight="bold")
        with self.hint(f"points:{seat}"):
            self.text(x + width - 14, y + 31, _points(own["score"]), 22, text_anchor="end", font_weight="bold")
        row = y + 56 if is_narrow else y + 24
        self._stocks(seat, own, x + (22 if is_narrow else 200), row, 46 if is_narrow else 52)
        row += 29 if is_narrow else 26
        built = [*own["buildings"], *own["monuments"]]
        size, step, chars = (11.5, 15, 52) if is_narrow else (10.5, 14, 98)
        for name, line in self._lines(seat, own):
            parts = textwrap.wrap(line, chars, subsequent_indent="    ")
            if name == "built":
                self.built[seat] = (x + 8, row - 11, width - 16, step * len(parts) + 1)
            with self.hint(f"{name}:{seat}"):
                for part in parts:
                    self.text(x + 14, row, part, size, color="soft" if name == "feeding" else "ink")
                    row += step
        for name in built:
            self.places[f"built:{seat}:{name}"] = (x, y + 40, width, row - y - 40)
        tall = row - y + 2
        is_lit = is_moving or seat in self.winners
        frame = ("card", f"seat{seat}" if is_lit else "line", 2.4 if is_lit else 1.4)
        self.box(x, y, width, tall, *frame, 9)
        self.parts.insert(first, self.parts.pop())
        return tall

    def _lines(self, seat: int, own: JsonObject) -> list[tuple[str, str]]:
        """Return the lines of a seat, with their names."""
        now, notes = self.now, []
        if now["phase"] not in ("keep", "over"):
            notes.append(f"feeding {render.feeding(own)}")
        notes.append("double advance left" if own["light"] else "no double advance")
        for kind in ("corn", "wood"):
            if number := own[f"{kind}_tiles"]:
                notes.append(f"{number} {kind} tile" + "s" * (number > 1))
        lines = [("feeding", "; ".join(notes))]
        if now["phase"] not in ("keep", "over"):
            lines += [("outlook", line) for line in render.outlook(now, seat)]
        if built := [*own["buildings"], *own["monuments"]]:
            lines.append(("built", "built: " + ", ".join(name.partition("_")[2].replace("_", " ") for name in built)))
        for key in ("dealt", "wealth"):
            if own[key]:
                words = [
                    "hidden" if name == facts.HIDDEN else render.describe_effects(WEALTH[name]["effects"])
                    for name in own[key]
                ]
                lines.append((key, f"{key}: " + " | ".join(words)))
        return lines

    def _stocks(self, seat: int, own: JsonObject, x: float, y: float, step: float) -> None:
        """Draw what a seat has in a row: corn, blocks, skulls, workers at home and on the gears."""
        for kind in (*facts.STOCKS, "skull"):
            with self.hint(f"stock:{seat}:{kind}"):
                self.token(x, y, kind, 9)
                self.text(x + 13, y + 5, own["skulls"] if kind == "skull" else own[kind], 14, font_weight="bold")
            x += step
        home = own["workers"] - facts.workers_out(self.now, seat)
        with self.hint(f"workers:{seat}"):
            for worker in range(own["workers"]):
                is_home = worker < home
                paint = self.paint(f"seat{seat}", f"rim{seat}", 1.3) if is_home else self.paint(None, "soft", 1.3)
                self.parts.append(element("circle", cx=x + 4.0 + 13.0 * worker, cy=float(y), r=5.0, **paint))

    def advances(self) -> list[str]:
        """Return marks for steps in temples, advances on tracks, and tiles that a turn has brought."""
        found, built = [], []
        numbers: dict[tuple[float, float, float], list[int]] = {}
        seat = self.fields["to_move"]
        for number, (action, _) in enumerate(self.turn, 1):
            verb, *words = action.split()
            for word in words:
                if verb == "build" and f"built:{seat}:{word}" in self.places:
                    built.append(number)
                elif place := self.rings.get(("climb" if verb in ("beg", "burn") else verb, word, seat)):
                    numbers.setdefault(place, []).append(number)
        if built:
            x, y, width, height = self.built[seat]
            found.append(marks.frame(self.paint, f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}Z"))
            found += [
                marks.badge(self.paint, x + width - 18 * (len(built) - 1 - index), y, number, 8)
                for index, number in enumerate(built)
            ]
        for (x, y, radius), several in numbers.items():
            data = _ring(x, y, radius)
            found.append(marks.frame(self.paint, data))
            found += [
                marks.badge(self.paint, x + radius + 2 + 12 * index, y - radius + 1, number, 7)
                for index, number in enumerate(several)
            ]
        return found


def _points(score: float) -> str:
    return f"{score:g}"


def _glyphs(sign: str) -> list[Glyph]:
    """Return a sign of an action as (kind of a token, words on it) and ("", words): corn has its number on it."""
    if not _MATERIALS.fullmatch(sign):
        return [("", sign)]
    glyphs = []
    for number, letter, other in re.findall(r"(\d*)([cWSGk])|([^ ])", sign):
        if letter == "c":
            glyphs.append(("corn", number))
        elif letter:
            glyphs += [("", number)] * bool(number) + [(_KINDS[letter], letter)]
        else:
            glyphs.append(("", other))
    return glyphs


def _width(glyph: Glyph) -> float:
    kind, words = glyph
    return 16.5 if kind else 7.2 * len(words)


def _ring(x: float, y: float, radius: float) -> str:
    """Return the data of a circle."""
    data = f"M{x - radius:.2f} {y:.2f}"
    return data + "".join(f"a{radius:g} {radius:g} 0 1 0 {way * radius:g} 0" for way in (2, -2)) + "Z"

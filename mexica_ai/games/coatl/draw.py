"""Coatl as a picture: the table, and each seat with its pieces, its cards and its Coatls as serpents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from mexica_ai.draw import marks
from mexica_ai.draw.canvas import Box, Canvas
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import TIMES, document, element, group, text
from mexica_ai.game.contract import try_parse
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.entry import target_of
from mexica_ai.games.coatl.facts import COLORS, PROPHECIES, TEMPLES, TOKENS
from mexica_ai.games.coatl.notation import parse_position
from mexica_ai.games.coatl.shape import HIDDEN, SHAPE
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import readable

Turn: TypeAlias = Sequence[tuple[str, JsonObject]]  # the actions, with the position after each

PARTS = ("table", "seats", "steps")
_WIDTH, _EDGE = 1220, 20
_CARD_W, _CARD_H, _GAP = 114, 62, 8
_PIECE, _TALL = 44, 30  # of a body
_ROW = 22  # pieces of a Coatl in a row
_LETTERS = facts.LETTERS | {"any": ""}
_BOLD = {"text_anchor": "middle", "font_weight": "bold"}


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

    The seat that looks on comes first, the others in turn order.
    """
    picture = _Picture(drawable(fields), Paint(theme), turn, targets)
    body, y = [], 16.0
    if "table" in parts:
        picture.heading(shares)
        y = 62.0
        tall = picture.table(y)
        y += tall + 14
    if "seats" in parts:
        number = len(picture.now.get("seats", ()))
        own = viewer if viewer is not None and viewer in range(number) else 0
        picture.first = f"hand:{picture.fields.get('to_move') if viewer is None else viewer}:"
        for place in range(number):
            y += picture.seat((own + place) % number, y) + 14
    body += picture.parts
    body.append(picture.turn_marks())
    if "steps" in parts and turn:
        actions = [action for action, _ in turn]
        steps, tall = marks.chips(picture.paint, _EDGE, y, _WIDTH - 2 * _EDGE, actions)
        body.append(steps)
        y += tall + 4
    if targets:
        body.append(picture.all_targets())
    paper = element("rect", width=float(_WIDTH), height=y, **picture.paint("paper"))
    return document(_WIDTH, y, paper + "".join(body), picture.title())


def drawable(fields: JsonObject) -> JsonObject:
    """Return what can be drawn of a position, which may be a faulty one of an editor."""
    data = readable(fields, SHAPE)
    data["seats"] = data["seats"][: facts.MAX_PLAYERS]
    for own in data["seats"]:
        own["coatls"] = own["coatls"][: 2 * facts.MAX_COATLS]
        for coatl in own["coatls"]:
            coatl["pieces"] = coatl["pieces"][: facts.MAX_PIECES]
            coatl["prophecies"] = coatl["prophecies"][: 2 * facts.MAX_PLAYED]
    return data


class _Picture(Canvas):
    """Draws one position from top to bottom, and remembers where things are."""

    def __init__(self, fields: JsonObject, paint: Paint, turn: Turn, targets: bool) -> None:
        super().__init__(paint, targets=targets)
        self.fields, self.turn = fields, turn
        self.now = turn[-1][1] if turn else fields
        self.marks: dict[str, Box] = {}  # what a turn may have made new -> where it is
        state = try_parse(parse_position, self.now) if self.now.get("phase") == "over" else None
        self.winners = [] if state is None else [seat for seat, share in enumerate(state.returns()) if share]

    def title(self) -> str:
        now = self.fields if self.turn else self.now  # a turn belongs to the round in which it began
        title = f"Coatl, {now.get('players')} players, round {now.get('round')}"
        if self.turn:
            turn = "; ".join(action for action, _ in self.turn)
            return f"{title}, turn of seat {self.fields.get('to_move')}: {turn}"
        return title + (", over" if now.get("phase") == "over" else f", seat {now.get('to_move')} to move")

    def heading(self, shares: Sequence[float] | None) -> None:
        now = self.now
        is_over = now.get("phase") == "over"
        note = "over" if is_over else f"round {now.get('round')}"
        if now.get("viewer") is not None:
            note += f", as {viewer_name(now['viewer'])} sees it"
        if now.get("ending") and not is_over:
            note += f", {_ending(now['ending'])}"
        self.text(24, 42, "Coatl", 22, font_weight="bold")
        self.text(104, 42, note, 13, color="soft")
        if shares:
            self.shares(shares, 780.0, _WIDTH - _EDGE - 780)

    # --- the table

    def table(self, y: float) -> float:
        """Draw what lies between the seats; return its height."""
        now = self.now
        supply = now.get("supply", {})
        tall = 182.0
        self.box(_EDGE, y, _WIDTH - 2 * _EDGE, tall, "table", "line", 1.6, 10.0)
        self.text(36, y + 20, "supply", 11.5, color="soft")
        for row, (part, kind) in enumerate((("heads", "head"), ("tails", "tail"))):
            for index in range(facts.SUPPLY_SPACES[part]):
                letters = supply.get(part, "")
                letter = letters[index] if index < len(letters) else ""
                self._slot(36 + 77 * index, y + 30 + 72 * row, 71, kind, letter, f"supply:{kind}:{letter}")
        for index in range(facts.SUPPLY_SPACES["bodies"]):
            pairs = supply.get("bodies", ())
            pair = pairs[index] if index < len(pairs) else ""
            x, top = 192 + 101 * (index % 3), y + 30 + 72 * (index // 3)
            self._slot(x, top, 96, "body", pair, f"supply:body:{pair}")
        shown = list(now.get("display", ()))
        with self.hint("deck"):
            self.text(500, y + 20, f"prophecies on display, {now.get('deck')} in the deck", 11.5, color="soft")
        for index, card in enumerate(shown):
            x, top = 500 + (_CARD_W + _GAP) * (index % 3), y + 30 + (_CARD_H + 10) * (index // 3)
            self.prophecy(x, top, card, f"display:{card}")
        self.back(868, y + 30, 78, _CARD_H, "deck")
        with self.hint("deck"):
            self.text(907, y + 108, f"deck {now.get('deck')}", 11.5, color="soft", text_anchor="middle")
        with self.hint("discarded"):
            self.text(868, y + 128, f"{len(now.get('discarded', ()))} discarded", 11.5, color="soft")
        self.text(956, y + 20, "temples", 11.5, color="soft")
        for index, pile in enumerate(now.get("piles", ())):
            x = 956 + (_CARD_W + _GAP) * index
            if pile.get("top"):
                self.temple(x, y + 30, pile["top"], f"pile:{pile['top']}")
            else:
                self.box(x, y + 30, _CARD_W, _CARD_H, None, "line", 1.4, 7.0, stroke_dasharray="4 4")
            with self.hint(f"below:{index}"):
                self.text(x + _CARD_W, y + 108, f"{pile.get('below')} below", 11.5, color="soft", text_anchor="end")
        return tall

    def _slot(self, x: float, y: float, width: float, kind: str, letters: str, target: str) -> None:
        first = len(self.parts)
        self.box(x, y, width, 60, "card", "line", 1.2, 8.0, stroke_dasharray="4 4")
        if not letters:
            self.mark(target, first)
        else:
            wide = _PIECE * len(letters)
            for index, letter in enumerate(letters):
                self.piece(x + (width - wide) / 2 + _PIECE * index, y + 15, kind, letter)
            self.places[target] = (x, y, width, 60)

    # --- pieces

    def piece(self, x: float, y: float, kind: str, letter: str) -> None:
        """Draw a piece whose body is at a place: head to the left, tail to the right."""
        if letter not in COLORS:
            return
        edge, w, h = self.paint(letter, "edge", 1.5), _PIECE, _TALL
        parts = []
        if kind == "head":
            for dx, dy, color in ((20, -9, "R"), (26, -11, "Y"), (32, -8, "G")):
                data = (
                    f"M{x + 24:g} {y + 4:g}Q{x + dx - 8:g} {y + dy + 6:g} {x + dx:g} {y + dy:g}"
                    f"Q{x + dx + 7:g} {y + dy + 6:g} {x + 31:g} {y + 6:g}Z"
                )
                parts.append(element("path", d=data, **self.paint(color, "edge", 1.0)))
            tongue = f"M{x + 2:g} {y + 23:g}l-8 3m3 -1l-5 -3"
            parts.append(element("path", d=tongue, stroke_linecap="round", **self.paint(None, "R", 1.6)))
            data = (
                f"M{x + w:g} {y:g}H{x + 20:g}Q{x + 6:g} {y + 1:g} {x:g} {y + 17:g}L{x + 10:g} {y + 21:g}"
                f"L{x + 1:g} {y + 24:g}Q{x + 6:g} {y + h:g} {x + 18:g} {y + h:g}H{x + w:g}"
                f"Q{x + w + 6:g} {y + h / 2:g} {x + w:g} {y:g}Z"
            )
            parts.append(element("path", d=data, stroke_linejoin="round", **edge))
            parts.append(element("circle", cx=x + 15.0, cy=y + 9.0, r=3.6, **self.paint("on0", "mark", 1.0)))
            parts.append(element("circle", cx=x + 14.0, cy=y + 9.0, r=1.6, **self.paint("mark")))
        elif kind == "tail":
            for dy, color in ((-4, "R"), (15, "Y"), (34, "G")):
                data = (
                    f"M{x + 26:g} {y + 15:g}Q{x + 34:g} {y + dy * 0.6 + 6:g} {x + w + 2:g} {y + dy:g}"
                    f"Q{x + w - 4:g} {y + dy * 0.6 + 8:g} {x + 30:g} {y + 18:g}Z"
                )
                parts.append(element("path", d=data, **self.paint(color, "edge", 1.0)))
            data = (
                f"M{x:g} {y:g}H{x + 10:g}Q{x + 24:g} {y + 3:g} {x + 33:g} {y + h / 2:g}"
                f"Q{x + 24:g} {y + h - 3:g} {x + 10:g} {y + h:g}H{x:g}Q{x + 6:g} {y + h / 2:g} {x:g} {y:g}Z"
            )
            parts.append(element("path", d=data, stroke_linejoin="round", **edge))
        else:
            data = (
                f"M{x:g} {y:g}H{x + w:g}Q{x + w + 6:g} {y + h / 2:g} {x + w:g} {y + h:g}H{x:g}"
                f"Q{x + 6:g} {y + h / 2:g} {x:g} {y:g}Z"
            )
            parts.append(element("path", d=data, stroke_linejoin="round", **edge))
            shine = f"M{x + 9:g} {y + 4:g}q4 5 3 10"
            light = {"stroke_linecap": "round", "stroke_opacity": "0.5", **self.paint(None, "on0", 1.6)}
            parts.append(element("path", d=shine, **light))
        at = {"head": 30, "tail": 15}.get(kind, 25)
        parts.append(text(x + at, y + 20.5, letter, 14, **_BOLD, **self.paint(f"on{letter}")))
        self.parts.append(group(parts, class_="piece"))

    def small(self, x: float, y: float, letter: str, size: float = 17.0, label: str | None = None) -> None:
        """Draw a piece of a pattern, of any colour without a letter."""
        dash = None if letter else "2.5 2"
        self.box(x, y, size, size, letter or "card", "edge", 1.0, 4.0, stroke_dasharray=dash)
        high = size * (0.68 if label is None else 0.6)
        color = f"on{letter}" if letter else "ink"
        words = letter if label is None else label
        self.text(x + size / 2, y + size / 2 + high * 0.36, words, high, color=color, **_BOLD)

    # --- cards

    def back(self, x: float, y: float, width: float, height: float, target: str | None = None) -> None:
        self.box(x, y, width, height, "wood", "woodrim", 1.4, 7.0)
        self.box(x + 5, y + 5, width - 10, height - 10, None, "palace", 1.2, 4.0)
        middle, center = x + width / 2, y + height / 2
        self.parts.append(
            element("path", d=f"M{middle:g} {center - 12:g}l12 12l-12 12l-12 -12Z", **self.paint(None, "palace", 1.4))
        )
        if target:
            self.places[target] = (x, y, width, height)

    def prophecy(
        self, x: float, y: float, card: str, target: str | None = None, reached: int | None = None, note: str = ""
    ) -> None:
        """Draw a prophecy; `reached` is what it gives on a Coatl now."""
        found = PROPHECIES.get(card)
        if found is None:
            return self.back(x, y, 64, _CARD_H, target)
        suit = _LETTERS.get(found["suit"], "K")
        self.box(x, y, _CARD_W, _CARD_H, "card", "edge" if suit == "K" else suit, 1.8, 7.0)
        head = f"M{x:g} {y + 13:g}v-6q0 -7 7 -7h{_CARD_W - 14}q7 0 7 7v6Z"
        self.parts.append(element("path", d=head, **self.paint(suit)))
        self.text(x + 7, y + 10, card, 9.5, color=f"on{suit}", font_weight="bold")
        if note:
            self.text(x + _CARD_W - 7, y + 10, note, 9.5, color=f"on{suit}", text_anchor="end")
        self._pattern(x + _CARD_W / 2, y + 18, found["requirement"])
        levels = found["levels"]
        wide = min(27.0, (_CARD_W - 8) / len(levels))
        left = x + _CARD_W / 2 - wide * len(levels) / 2
        for index, level in enumerate(levels):
            is_reached = reached is not None and level["points"] == reached > 0
            at = left + wide * index
            fill, edge = ("glow", "mark") if is_reached else ("paper", "line")
            self.box(at + 0.5, y + 42, wide - 1.5, 16, fill, edge, 1.0, 4.0)
            color = "mark" if is_reached else "ink"
            self.text(at + 3, y + 53.5, f"{level['times']}{TIMES}", 8, color="mark" if is_reached else "soft")
            bold = {"text_anchor": "end", "font_weight": "bold"}
            self.text(at + wide - 4, y + 54.5, level["points"], 11.5, color=color, **bold)
        if target:
            self.places[target] = (x, y, _CARD_W, _CARD_H)
        return None

    def _pattern(self, middle: float, y: float, requirement: JsonObject) -> None:
        if requirement["type"] == "count":
            letter = _LETTERS[requirement["color"]]
            for index in range(3):
                self.small(middle - 36 + 26 * index, y + (5 if index == 1 else 0), letter)
            return
        sequence = requirement["sequence"]
        wide = 17.0 if len(sequence) <= 5 else 15.0
        left = middle - (wide + 1.5) * len(sequence) / 2
        for index, entry in enumerate(sequence):
            x, letter = left + (wide + 1.5) * index, _LETTERS[entry["color"]]
            if entry["el"] == "run":
                self.box(x + 3, y - 2, wide, wide, letter or "card", "edge", 1.0, 4.0)
                self.small(x, y, letter, wide, f"{letter}+")
            elif entry["el"] == "piece":
                self.small(x, y, letter, wide)
            else:
                self.box(x + 2, y + 2, wide - 4, wide - 4, letter, "edge", 1.0, 4.0, fill_opacity="0.35")
                slash = f"M{x + 1:g} {y + wide:g}L{x + wide - 1:g} {y:g}"
                self.parts.append(element("path", d=slash, **self.paint(None, "R", 2.2)))

    def temple(self, x: float, y: float, card: str, target: str | None = None, reached: int | None = None) -> None:
        """Draw a temple; `reached` is what it gives on a Coatl."""
        found = TEMPLES.get(card)
        if found is None:
            return self.back(x, y, _CARD_W, _CARD_H, target)
        fill, edge = ("glow", "mark") if reached else ("land", "woodrim")
        self.box(x, y, _CARD_W, _CARD_H, fill, edge, 1.8, 7.0)
        roof = f"M{x + 30:g} {y + 14:g}l8 -8h{_CARD_W - 76}l8 8Z"
        self.parts.append(element("path", d=roof, **self.paint("wood", "woodrim", 1.0)))
        self.text(x + 6, y + 11, card, 9.5, color="landink")
        at = x + 8
        for requirement in found["requirements"]:
            if requirement["type"] == "length":
                self.text(at + 2, y + 35, f"{requirement['length']} long", 11.5, color="mark", font_weight="bold")
                at += 52
            elif requirement["type"] == "absent":
                self.small(at, y + 22, _LETTERS[requirement["color"]])
                slash = f"M{at - 2:g} {y + 41:g}L{at + 19:g} {y + 20:g}"
                self.parts.append(element("path", d=slash, **self.paint(None, "R", 2.4)))
                at += 30
            else:
                one, other = (_LETTERS[color] for color in requirement["colors"])
                self.small(at, y + 22, one)
                self.text(at + 24, y + 35, "=", 13, color="mark", **_BOLD)
                self.small(at + 31, y + 22, other)
                at += 52
        one, both = found["points_by_requirements_met"][1:]
        self.text(x + _CARD_W / 2, y + 55, f"one {one}, both {both}", 10.5, color="mark", **_BOLD)
        if target:
            self.places[target] = (x, y, _CARD_W, _CARD_H)
        return None

    # --- a seat

    def seat(self, seat: int, y: float) -> float:
        """Draw a seat; return the height."""
        own, now = self.now["seats"][seat], self.now
        first = len(self.parts)
        is_moving = seat == self.fields.get("to_move") and self.fields.get("phase") != "over"
        self.parts.append(seat_mark(self.paint, seat, 44, y + 27, 11.5))
        self.text(64, y + 26, f"Seat {seat}", 15, font_weight="bold")
        if is_moving and seat not in self.winners:
            left = now.get("actions_left")
            note = "after this turn" if self.turn else "to move" + (f", {left} actions" if (left or 0) > 1 else "")
            self.text(64, y + 41, note, 11.5, color="soft")
        elif seat in self.winners:
            self.text(64, y + 41, "wins" if len(self.winners) == 1 else "shares the win", 11.5, font_weight="bold")
        for index, token in enumerate(TOKENS if now.get("options", {}).get("sacrifice_tokens") else ()):
            x, has = 194.0 + 71 * index, token in own.get("tokens", ())
            fill, edge = ("land", "wood") if has else (None, "line")
            self.box(x, y + 16, 66, 22, fill, edge, 1.4, 11.0)
            faint = {} if has else {"opacity": "0.55"}
            with self.hint(f"{'token' if has else 'used'}:{seat}:{token}"):
                color = "landink" if has else "soft"
                self.text(x + 33, y + 31, token, 11.5, color=color, text_anchor="middle", **faint)
            if has:
                self.places[target := f"token:{seat}:{token}"] = (x, y + 16, 66, 22)
                if seat == now.get("to_move"):
                    self.tools[target] = token
        points = sum(
            sum(facts.coatl_points(coatl, strict_ends=False)) for coatl in own.get("coatls", ()) if coatl["closed"]
        )
        with self.hint(f"points:{seat}"):
            self.text(448, y + 35, points, 22, text_anchor="end", font_weight="bold")
        self._stored(seat, own, y)
        cards_bottom = self._cards(seat, own, y)
        line = max(y + 124, cards_bottom + 8)
        x, row, bottom = 44.0, line + 10, line + 4
        if own.get("coatls"):
            data = f"M36 {line:g}H{_WIDTH - 36}"
            self.parts.append(element("path", d=data, **self.paint(None, "line", 1.2)))
        for number, coatl in enumerate(own.get("coatls", ()), 1):
            width, tall = self._coatl_size(coatl)
            if x > 44 and x + width > _WIDTH - 30:
                x, row = 44.0, bottom + 6
            self._coatl(seat, number, coatl, x, row)
            x += width
            bottom = max(bottom, row + tall)
        tall = bottom - y + 10
        edge, wide = (f"seat{seat}", 2.6) if is_moving or seat in self.winners else ("line", 1.6)
        self.box(_EDGE, y, _WIDTH - 2 * _EDGE, tall, "card", edge, wide, 10.0)
        self.parts.insert(first, self.parts.pop())
        return tall

    def _stored(self, seat: int, own: JsonObject, y: float) -> None:
        stored = own.get("stored", {})
        pieces = [(kind, letter) for part, kind in facts.KIND_OF_PART.items()
                  for letter in stored.get(part, "")]  # fmt: skip
        with self.hint(f"stored:{seat}"):
            self.text(36, y + 58, f"stored {len(pieces)} of {facts.CAPACITY}", 11.5, color="soft")
        step = min(54.0, 400 / max(len(pieces), 1))
        for index, (kind, letter) in enumerate(pieces):
            x = 44 + step * index
            self.piece(x, y + 80, kind, letter)
            self._widen(f"stored:{seat}:{kind}:{letter}", x, y + 74, _PIECE, 42)

    def _cards(self, seat: int, own: JsonObject, y: float) -> float:
        """Draw the hand; return where it ends."""
        hand, shown = list(own.get("hand", ())), list(own.get("shown", ()))
        with self.hint(f"hand:{seat}"):
            self.text(462, y + 20, f"hand {len(hand)}", 11.5, color="soft")
        x, top = 462.0, y + 28
        for index, card in enumerate(hand):
            wide = _CARD_W if card in PROPHECIES else 64
            if x + wide > _WIDTH - 40 - _CARD_W:
                x, top = 462.0, top + _CARD_H + 8
            note = ""
            if card in shown:
                shown.remove(card)
                note = "seen"
            self.prophecy(x, top, card, note=note)
            if card != HIDDEN:
                earlier = hand[:index].count(card) if self.now.get("phase") == "keep" else 0
                self._widen(target_of(seat, card, earlier), x, top, _CARD_W, _CARD_H)
            x += wide + _GAP
        temples, row = own.get("temples", ()), y + 28
        for card in temples:
            self.temple(_WIDTH - 36 - _CARD_W, row, card, f"hand:{seat}:{card}" if card != HIDDEN else None)
            row += _CARD_H + 8
        return max(top + _CARD_H, row - 8 if temples else 0)

    def _widen(self, target: str, x: float, y: float, width: float, height: float) -> None:
        """Note where a target is; pieces and cards that are alike lie side by side, and are one target."""
        left, top, *_ = self.places.get(target, (x, y))
        self.places[target] = (left, y, x + width - left, height) if top == y else (x, y, width, height)

    # --- a Coatl

    @staticmethod
    def _coatl_size(coatl: JsonObject) -> tuple[float, float]:
        rows = -(-len(coatl["pieces"]) // _ROW)
        cards = len(coatl["prophecies"]) + bool(coatl["temple"])
        wide = 24 + _PIECE * (min(len(coatl["pieces"]), _ROW) + 2) + 130
        return max(wide, 34 + (_CARD_W + _GAP) * max(cards, 1)) + 14, 48 * rows + (_CARD_H + 10 if cards else 30)

    def _coatl(self, seat: int, number: int, coatl: JsonObject, x: float, y: float) -> None:
        pieces = coatl["pieces"]
        name = f"coatl:{seat}:{number}"
        with self.hint(name):
            self.parts.append(marks.badge(self.paint, x, y + 24, number))
        left = x + 18
        at, row = left, y + 10
        if not coatl["head"]:
            self._end(at, row, f"{name}:left")
        at += 34 if not coatl["head"] else 6
        start = at
        for index, letter in enumerate(pieces):
            if index and index % _ROW == 0:
                at, row = start, row + 48
            is_head, is_tail = coatl["head"] and index == 0, coatl["tail"] and index == len(pieces) - 1
            self.piece(at, row, "head" if is_head else "tail" if is_tail else "body", letter)
            self.marks[f"{name}:{index}"] = (at + 1, row - 3, _PIECE, _TALL + 6)
            at += _PIECE
        if not coatl["tail"]:
            self._end(at + 6, row, f"{name}:right")
            at += 36
        points = facts.coatl_points(coatl, strict_ends=bool(self.now.get("options", {}).get("strict_ends")))
        status = "complete" if coatl["closed"] else "unfinished"
        with self.hint(name):
            self.text(at + 14, row + 13, f"{sum(points)} points", 13, font_weight="bold")
            self.text(at + 14, row + 28, f"{len(pieces)} long, {status}", 11, color="soft")
        self.places[name] = (left, y, at - left, row + 44 - y)
        top, at = row + 46, left
        for gained, card in zip(points, coatl["prophecies"], strict=False):
            self.prophecy(at, top, card, f"{name}:{card}", reached=gained)
            at += _CARD_W + _GAP
        if coatl["temple"]:
            self.temple(at, top, coatl["temple"], f"{name}:{coatl['temple']}", reached=points[-1])
        if not coatl["prophecies"] and not coatl["temple"]:
            self.text(left, top + 12, "no card yet", 11, color="soft")

    def _end(self, x: float, y: float, target: str) -> None:
        self.box(x, y + 1, 27, 28, None, "soft", 1.5, 7.0, stroke_dasharray="4 3")
        self.text(x + 13.5, y + 20.5, "+", 16, color="soft", **_BOLD)
        self.places[target] = (x, y + 1, 27, 28)

    # --- a turn

    def turn_marks(self) -> str:
        """Return frames round what a turn has made, with its number."""
        frames, badges, seat = [], [], self.fields["to_move"]
        corners = Counter[tuple[float, float]]()
        for number, (action, after) in enumerate(self.turn, 1):
            place = self._place_of(action.split(), seat, after, [later.split() for later, _ in self.turn[number:]])
            if place:
                x, y, width, height = place
                data = f"M{x - 2:g} {y - 2:g}h{width + 4:g}v{height + 4:g}h{-width - 4:g}Z"
                frames.append(marks.frame(self.paint, data))
                badges.append(marks.badge(self.paint, x + 16 * corners[x, y], y, number))
                corners[x, y] += 1
        return group([*frames, *badges], class_="turn")

    def _place_of(self, words: list[str], seat: int, after: JsonObject, later: list[list[str]]) -> Box | None:
        """Return where the picture shows what an action has done, None if nowhere."""
        places = self.places | self.marks
        match words:
            case ["take" | "perfect", kind, letters]:
                return places.get(f"stored:{seat}:{kind}:{letters[-1]}")
            case ["draw" | "deal", card]:
                return places.get(f"hand:{seat}:{card}")
            case ["promise", card]:
                return places.get(f"hand:{seat}:{card}")
            case ["start", _, _]:
                number = str(len(after["seats"][seat]["coatls"]))
                return places.get(f"coatl:{seat}:{number}:{_added_before(number, later)}")
            case ["add", number, end, _]:
                length = len(after["seats"][seat]["coatls"][int(number) - 1]["pieces"])
                index = 0 if end in ("head", "left") else length - 1
                # Later additions at the head's side have moved the piece on.
                index += _added_before(number, later)
                return places.get(f"coatl:{seat}:{number}:{index}")
            case ["play" | "temple", number, card]:
                return places.get(f"coatl:{seat}:{number}:{card}")
            case ["close", number]:
                return places.get(f"coatl:{seat}:{number}")
        return None


def _added_before(number: str, actions: list[list[str]]) -> int:
    """Return how many pieces of actions go to the head's side of a Coatl."""
    return sum(words[:2] == ["add", number] and words[2] in ("head", "left") for words in actions)


def _ending(ending: JsonObject) -> str:
    if ending["cause"] == "third":
        return f"seat {ending.get('seat')} has three Coatls: last turns"
    return f"no bodies left: ends with round {ending.get('last_round')}"

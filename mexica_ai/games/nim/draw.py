"""Nim as a picture: a column of discs for each pile."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.draw.marks import chips
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import document, element, text
from mexica_ai.games.nim.notation import MAX_PILE, MAX_PILES, SHAPE
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import readable

PARTS = ("board", "steps")


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
    paint = Paint(theme)
    fields = readable(fields, SHAPE)
    before = [max(0, min(number, MAX_PILE)) for number in fields["piles"][:MAX_PILES]]
    after = turn[-1][1]["piles"] if turn else before
    width, height = 40 + 70 * max(len(before), 3), 70 + 16 * max([*before, 4])
    body = [element("rect", width=float(width), height=float(height + 40), **paint("paper"))]
    for pile, number in enumerate(before):
        x = 55 + 70 * pile
        for index in range(number):
            is_left = pile < len(after) and index < after[pile]
            body.append(
                element(
                    "ellipse",
                    cx=float(x),
                    cy=height - 40.0 - 16 * index,
                    rx=26.0,
                    ry=10.0,
                    fill_opacity=None if is_left else "0.15",
                    **paint("seat1" if is_left else "soft", "rim1", 1.4),
                )
            )
        words = f"{number} → {after[pile]}" if pile < len(after) and after[pile] != number else str(number)
        body.append(text(x, height - 12, words, 14, text_anchor="middle", **paint("ink")))
        if targets:
            place = {"x": x - 30.0, "y": 4.0, "width": 60.0, "height": height - 8.0}
            target = {"data_target": f"pile:{pile + 1}", "class_": "target"}
            body.append(element("rect", **place, fill_opacity="0", **target))
    if turn and "steps" in parts:
        body.append(chips(paint, 16, height, width - 32, [action for action, _ in turn])[0])
    mover = "over" if not any(before) else f"seat {fields['to_move']} to move"
    return document(width, height + 40, "".join(body), f"Nim, {mover}")

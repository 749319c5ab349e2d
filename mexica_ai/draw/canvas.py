"""A picture that is drawn from top to bottom and remembers where its targets are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import element, group, text

Box: TypeAlias = tuple[float, float, float, float]  # x, y, width, height

_BOLD = {"text_anchor": "middle", "font_weight": "bold"}


class Canvas:
    """Elements of a picture, and the places of what can be clicked.

    Attributes
    ----------
    paint : Paint
    targets : bool
        Whether what is no target, but has words of its own, gets its mark.
    parts : list of str
        The elements, those below first.
    places : dict of str to Box
        The targets.
    tools : dict of str to str
        The tools that a click on a target means, of those that have one.
    first : str
        How the names of the targets begin that a page shows first where it cannot show all.
    """

    def __init__(self, paint: Paint, *, targets: bool = False) -> None:
        self.paint = paint
        self.targets = targets
        self.parts: list[str] = []
        self.places: dict[str, Box] = {}
        self.tools: dict[str, str] = {}
        self.first = ""

    @contextmanager
    def hint(self, name: str) -> Iterator[None]:
        """Mark what is drawn meanwhile with a name, for which the game has words."""
        first = len(self.parts)
        yield
        self.mark(name, first)

    def mark(self, name: str, first: int) -> None:
        """Mark what was drawn from an element on; see `hint`."""
        if self.targets:
            self.parts[first:] = [group(self.parts[first:], data_hint=name)]

    def text(self, x: float, y: float, content: object, size: float, color: str = "ink", **attributes: object) -> None:
        """Draw a text in a named colour; see `mexica_ai.draw.svg.text`."""
        self.parts.append(text(x, y, content, size, **attributes, **self.paint(color)))

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str | None,
        stroke: str | None,
        line: float = 1.4,
        radius: float = 8.0,
        **attributes: object,
    ) -> None:
        """Draw a rectangle with round corners in named colours."""
        size = {"x": float(x), "y": float(y), "width": float(width), "height": float(height), "rx": float(radius)}
        self.parts.append(element("rect", **size, **attributes, **self.paint(fill, stroke, line)))

    def shares(self, shares: Sequence[float], x: float, width: float) -> None:
        """Draw the expected shares of the win as one bar in the heading."""
        self.text(x - 10, 42, "expected share of the win", 11.5, color="soft", text_anchor="end")
        for seat, share in enumerate(shares):
            wide = width * share
            self.parts.append(element("rect", x=x, y=24.0, width=wide, height=24.0, **self.paint(f"seat{seat}")))
            if wide > 36:
                self.text(x + wide / 2, 41, f"{100 * share:.0f}%", 13, color=f"on{seat}", **_BOLD)
            x += wide

    def all_targets(self) -> str:
        """Return the rectangles that can be clicked."""
        parts = []
        # What lies within another target comes after it, so that it can be clicked.
        for target, (x, y, width, height) in sorted(self.places.items(), key=lambda place: -place[1][2] * place[1][3]):
            size = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
            first = "1" if self.first and target.startswith(self.first) else None
            names = {"data_target": target, "data_tool": self.tools.get(target), "data_first": first}
            parts.append(element("rect", **size, fill_opacity="0", **names, class_="target"))
        return group(parts, class_="targets")

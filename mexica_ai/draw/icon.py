"""The icon of the page: a temple by the lake, before the sun."""

from __future__ import annotations

from mexica_ai.draw.palette import COLORS
from mexica_ai.draw.png import to_png
from mexica_ai.draw.svg import document, element, group, path

SIZE = 512
_CORNER = 104.0
_SAFE = 0.75  # of the picture, in which a mask cuts nothing off: a circle of 80 %
_STEPS = ((72.0, 368.0, 56.0), (120.0, 308.0, 60.0), (164.0, 248.0, 60.0), (204.0, 184.0, 64.0))  # left, top, height


def icon(*, is_maskable: bool = False) -> str:
    """Return the icon as SVG, 512 units wide.

    Parameters
    ----------
    is_maskable : bool
        Whether it fills the square to its corners, with room round the temple, for systems that cut it to a form of
        their own. Else it has round corners, and nothing outside of them.
    """
    body = [_box(0, 0, SIZE, SIZE, "lake", 0.0 if is_maskable else _CORNER)]
    parts = [
        element("circle", cx=256.0, cy=142.0, r=70.0, **_fill("gold")),
        *(_box(x, top, SIZE - 2 * x, height, "seat0", 6.0, "rim0") for x, top, height in _STEPS),
        element("path", d=path([(226, 424), (236, 248), (276, 248), (286, 424)]), **_fill("rim0")),
        _box(238, 204, 36, 44, "rim0", 4.0),
        *(_box(x, y, width, 14, "shallows", 7.0) for x, y, width in ((72, 442, 150), (250, 442, 190), (150, 472, 200))),
    ]
    scale = _SAFE if is_maskable else 1.0
    move = SIZE * (1 - scale) / 2
    body.append(group(parts, transform=f"translate({move:g} {move:g}) scale({scale:g})"))
    return document(SIZE, SIZE, "".join(body), "mexica-ai")


def icons() -> dict[str, bytes]:
    """Return the files of the icon by name: SVG, PNG with 192 and 512 pixels, and PNG for systems that cut it.

    Raises
    ------
    ModuleNotFoundError
        resvg-py is not installed; the message says how to install it.
    """
    whole, maskable = icon(), icon(is_maskable=True)
    return {
        "icon.svg": whole.encode(),
        "icon-192.png": to_png(whole, 192 / SIZE),
        "icon-512.png": to_png(whole),
        "maskable-192.png": to_png(maskable, 192 / SIZE),
        "maskable-512.png": to_png(maskable),
    }


def _fill(color: str) -> dict[str, object]:
    return {"fill": COLORS[color][0]}


def _box(
    x: float, y: float, width: float, height: float, color: str, radius: float = 0.0, rim: str | None = None
) -> str:
    size = {"x": float(x), "y": float(y), "width": float(width), "height": float(height), "rx": float(radius)}
    edge = {"stroke": COLORS[rim][0], "stroke_width": 10.0} if rim else {}
    return element("rect", **size, **_fill(color), **edge)

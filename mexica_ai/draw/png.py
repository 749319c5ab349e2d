"""SVG to PNG, by resvg (extra `png`), with fonts of our own: equal pictures have equal bytes on all machines."""

from __future__ import annotations

from contextlib import ExitStack
from importlib import resources

MIN_SCALE, MAX_SCALE = 0.02, 8.0  # with less, the smallest pictures have no pixel
_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")


def to_png(svg: str, scale: float = 1.0) -> bytes:
    """Return the PNG of a picture.

    Parameters
    ----------
    svg : str
        A picture of this package.
    scale : float
        Pixels per unit, 0.02 to 8.

    Raises
    ------
    ModuleNotFoundError
        resvg-py is not installed; the message says how to install it.
    ValueError
        The scale is out of range.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ValueError(f"scale: given {scale}; expected a number from {MIN_SCALE:g} to {MAX_SCALE:g}")
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a PNG needs resvg-py; expected it installed: pip install 'mexica-ai[png]'", name=error.name
        ) from None
    with ExitStack() as stack:
        folder = resources.files("mexica_ai.draw") / "fonts"
        fonts = [str(stack.enter_context(resources.as_file(folder / name))) for name in _FONTS]
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                zoom=scale,
                skip_system_fonts=True,
                font_files=fonts,
                font_family="DejaVu Sans",
                sans_serif_family="DejaVu Sans",
            )
        )

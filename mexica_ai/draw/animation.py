"""Pictures of one after the other as an animated GIF (extra `gif`: Pillow, and resvg, which draws each)."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from mexica_ai.draw.palette import COLORS, THEMES
from mexica_ai.draw.png import MAX_SCALE, to_png

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

MIN_WIDTH, MAX_WIDTH = 100, 1600  # pixels
MIN_SECONDS, MAX_SECONDS = 0.05, 60.0  # of a frame; a GIF counts hundredths
MAX_PIXELS = 10**9  # of all frames, which are in memory together, a byte each
_CAPTION = 30  # height of the line below a picture, in pixels of a picture 1200 pixels wide
_UNCHANGED = 255  # the colour of a pixel that is as in the frame before
_SAMPLES = 6  # frames whose colours are those of the whole
_SIZE = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def to_gif(
    pictures: Sequence[str],
    captions: Sequence[str],
    *,
    width: int,
    seconds: float,
    last_seconds: float,
    theme: str = "light",
    tick: Callable[[int], None] = lambda done: None,
) -> bytes:
    """Return pictures as an animated GIF that repeats without end.

    All frames have one size and one palette; what is equal from a frame to the next is stored once.

    Parameters
    ----------
    pictures : sequence of str
        One or more SVG of this package. Smaller ones stand at the top, on paper of the theme.
    captions : sequence of str
        A short text for each, below it.
    width : int
        Of the widest picture, in pixels, 100 to 1600.
    seconds, last_seconds : float
        How long each frame is shown, and the last one, 0.05 to 60 s.
    theme : str
        light or dark, as the pictures.
    tick : callable
        Called with the number of frames drawn so far.

    Raises
    ------
    ModuleNotFoundError
        Pillow or resvg-py is not installed; the message says how to install it.
    ValueError
        A number is out of range, or the frames have over `MAX_PIXELS` pixels together.
    """
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a GIF needs Pillow; expected it installed: pip install 'mexica-ai[gif]'", name=error.name
        ) from None
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise ValueError(f"width: given {width}; expected {MIN_WIDTH} to {MAX_WIDTH} pixels")
    if not all(MIN_SECONDS <= value <= MAX_SECONDS for value in (seconds, last_seconds)):
        raise ValueError(f"seconds: given {seconds}, {last_seconds}; expected {MIN_SECONDS} to {MAX_SECONDS:g} each")
    size, scale = _size(pictures, width)
    draw = _Frames(
        pictures, captions, size, scale, COLORS["paper"][THEMES.index(theme)], COLORS["ink"][theme == "dark"]
    )
    chosen = sorted({round(step * (len(pictures) - 1) / (_SAMPLES - 1)) for step in range(_SAMPLES)})
    sheet = Image.new("RGB", (size[0], size[1] * len(chosen)))
    for row, index in enumerate(chosen):
        sheet.paste(draw.frame(index), (0, size[1] * row))
    palette = sheet.quantize(_UNCHANGED, dither=Image.Dither.NONE)
    del sheet

    def frames() -> Iterator[PillowImage]:
        before = None
        for index in range(len(pictures)):
            tick(index)
            frame = draw.frame(index).quantize(palette=palette, dither=Image.Dither.NONE)
            colors = np.asarray(frame)
            if before is not None:  # a pixel that stays is left out: so frames are several times smaller
                changed = Image.fromarray(np.where(colors == before, _UNCHANGED, colors).astype(np.uint8), "P")
                changed.putpalette(palette.getpalette() or [])
                frame = changed
            before = colors
            yield frame

    rest = frames()
    first = next(rest)
    milliseconds = [round(seconds * 1000)] * (len(pictures) - 1) + [round(last_seconds * 1000)]
    file = io.BytesIO()
    first.save(
        file,
        "GIF",
        save_all=True,
        append_images=rest,
        duration=milliseconds,
        loop=0,
        optimize=False,
        disposal=1,
        transparency=_UNCHANGED,
    )
    return file.getvalue()


def _size(pictures: Sequence[str], width: int) -> tuple[tuple[int, int], float]:
    """Return the size of all frames in pixels, and how many pixels a unit of the pictures has."""
    sizes = [_SIZE.search(picture[:1000]) for picture in pictures]
    wide = max(float(match[1]) for match in sizes if match)
    tall = max(float(match[2]) for match in sizes if match)
    scale = min(width / wide, MAX_SCALE)
    size = width, round(tall * scale) + _caption_height(width)
    if size[0] * size[1] * len(pictures) > MAX_PIXELS:
        raise ValueError(
            f"width: {len(pictures)} frames of {size[0]} x {size[1]} pixels are over {MAX_PIXELS:,}; expected fewer "
            "frames, or a smaller width"
        )
    return size, scale


def _caption_height(width: int) -> int:
    return max(16, round(_CAPTION * width / 1200))


class _Frames:
    """Draws the frames, each when it is asked for."""

    def __init__(
        self,
        pictures: Sequence[str],
        captions: Sequence[str],
        size: tuple[int, int],
        scale: float,
        paper: str,
        ink: str,
    ) -> None:
        from PIL import ImageFont

        self._pictures, self._captions = pictures, captions
        self._size, self._scale, self._paper, self._ink = size, scale, paper, ink
        font = resources.files("mexica_ai.draw") / "fonts" / "DejaVuSans.ttf"
        self._font = ImageFont.truetype(io.BytesIO(font.read_bytes()), round(_caption_height(size[0]) * 0.6))

    def frame(self, index: int) -> PillowImage:
        """Return a picture, with its caption and a bar that shows how far the whole is."""
        from PIL import Image, ImageDraw

        width, height = self._size
        frame = Image.new("RGB", self._size, self._paper)
        with Image.open(io.BytesIO(to_png(self._pictures[index], self._scale))) as picture:
            frame.paste(picture.convert("RGB"), (0, 0))
        draw = ImageDraw.Draw(frame)
        line = _caption_height(width)
        draw.rectangle((0, height - line, width, height), fill=self._paper)
        caption = self._captions[index]
        while self._font.getlength(caption) > width - line and len(caption) > 4:
            caption = f"{caption[:-4]}..."  # also without the dots of the last time
        draw.text((line // 2, height - line), caption, fill=self._ink, font=self._font)
        draw.rectangle((0, height - 3, width * (index + 1) // len(self._pictures), height), fill=self._ink)
        return frame

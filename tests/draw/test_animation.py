"""Games as animated pictures: the frames are the pictures, one size, and small."""

import io
import re
import sys

import pytest
from PIL import Image, ImageSequence
from played_games import records_of

import mexica_ai as ai
from mexica_ai.draw import animation
from mexica_ai.draw.png import to_png


@pytest.fixture(scope="module")
def pictures():
    """Return the pictures of some turns of Coatl, whose heights differ."""
    record = records_of("coatl")[0]
    position = ai.position_at(record, 8)
    found = []
    for turn in record["turns"][8:13]:
        found.append(position.svg(turn=turn))
        position.push(turn)
    return found


def gif(pictures, **options):
    options = {"width": 300, "seconds": 0.5, "last_seconds": 2.0} | options
    return animation.to_gif(pictures, [f"turn {number}" for number in range(len(pictures))], **options)


def test_the_frames_are_the_pictures(pictures):
    assert len(set(re.findall(r'viewBox="0 0 (\S+ \S+)"', "".join(pictures)))) > 1
    seen = []
    data = gif(pictures, tick=seen.append)
    assert seen == list(range(len(pictures)))
    with Image.open(io.BytesIO(data)) as image:
        assert (image.size[0], image.n_frames, image.info["loop"]) == (300, len(pictures), 0)
        shown = [(frame.info["duration"], frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    assert [duration for duration, _ in shown] == [500] * (len(pictures) - 1) + [2000]
    width = float(re.search(r'viewBox="0 0 (\S+) ', pictures[0])[1])
    for (_, frame), picture in zip(shown, pictures, strict=True):
        with Image.open(io.BytesIO(to_png(picture, 300 / width))) as whole:
            part = frame.crop((0, 0, *whole.size))
            differences = [abs(a - b) for a, b in zip(part.tobytes(), whole.convert("RGB").tobytes(), strict=True)]
        assert sum(differences) / len(differences) < 4  # of 255: 255 colours stand for all
    # Each frame after the first holds little more than what changed.
    assert len(data) < 3 * len(gif(pictures[:1]))


def test_one_picture_is_a_gif_too(pictures):
    with Image.open(io.BytesIO(gif(pictures[:1], theme="dark", width=100))) as image:
        assert (image.n_frames, image.size[0]) == (1, 100)
        assert sum(image.convert("RGB").getpixel((0, image.size[1] - 6))) < 150


def test_long_captions_are_cut(pictures):
    animation.to_gif(pictures[:1], ["canal A1; " * 50], width=100, seconds=1, last_seconds=1)


@pytest.mark.parametrize(
    "options", [{"width": 99}, {"width": 1601}, {"seconds": 0.01}, {"last_seconds": 61}, {"seconds": float("nan")}]
)
def test_numbers_out_of_range(pictures, options):
    with pytest.raises(ValueError, match=f"{next(iter(options)).removeprefix('last_')}: given"):
        gif(pictures, **options)


def test_too_many_pixels(pictures, monkeypatch):
    monkeypatch.setattr(animation, "MAX_PIXELS", 10_000)
    with pytest.raises(ValueError, match="over 10,000; expected fewer frames, or a smaller width"):
        gif(pictures)


def test_without_pillow(pictures, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"mexica-ai\[gif\]"):
        gif(pictures)

"""The icons of the page: the files are what the drawing gives, of the sizes that their names say."""

import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mexica_ai.draw.icon import SIZE, icon, icons

FOLDER = Path(__file__).parents[2] / "mexica_ai" / "web" / "static" / "icons"


def test_the_files_are_what_is_drawn():
    pytest.importorskip("resvg_py")
    drawn = icons()
    assert {path.name for path in FOLDER.iterdir()} == drawn.keys()
    for name, content in drawn.items():
        assert (FOLDER / name).read_bytes() == content, f"{name}: python benchmarks/make_icons.py"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.png")), ids=lambda path: path.name)
def test_a_file_has_the_size_of_its_name_and_is_small(path):
    content = path.read_bytes()
    size = int(path.stem.partition("-")[2])
    assert struct.unpack(">II", content[16:24]) == (size, size)
    assert len(content) < 16_000


def test_a_mask_cuts_nothing_off():
    """All but the ground lies in the circle of 80 % of the width that every mask leaves."""
    root = ET.fromstring(icon(is_maskable=True))
    (ground,) = root.findall("{*}rect")
    assert [float(ground.get(key)) for key in ("x", "y", "width", "height", "rx")] == [0, 0, SIZE, SIZE, 0]
    (group,) = root.findall("{*}g")
    scale = float(group.get("transform").partition("scale(")[2][:-1])
    corners = []
    for box in group.findall("{*}rect"):
        x, y, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        corners += [(x + dx, y + dy) for dx in (0, width) for dy in (0, height)]
    sun = group.find("{*}circle")
    corners.append((float(sun.get("cx")), float(sun.get("cy")) - float(sun.get("r"))))
    for x, y in corners:
        assert scale * ((x - SIZE / 2) ** 2 + (y - SIZE / 2) ** 2) ** 0.5 <= 0.4 * SIZE, (x, y)


def test_the_whole_icon_has_round_corners():
    (ground,) = ET.fromstring(icon()).findall("{*}rect")
    assert float(ground.get("rx")) > 0

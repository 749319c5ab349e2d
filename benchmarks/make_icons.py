"""Draws the icons of the page anew, for its installation on a screen.

python benchmarks/make_icons.py [--folder mexica_ai/web/static/icons]
"""

import argparse
from pathlib import Path

from mexica_ai.draw.icon import icons

FOLDER = Path(__file__).parents[1] / "mexica_ai" / "web" / "static" / "icons"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, content in icons().items():
        (args.folder / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")


if __name__ == "__main__":
    main()

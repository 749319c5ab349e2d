"""Measures pictures: time, size and compressed size of a position, a turn and a PNG of each game.

python benchmarks/bench_draw.py [--repeats 15] [--json]
"""

import argparse
import gzip
import json
import statistics
import time
from pathlib import Path

import mexica_ai as ai
from mexica_ai.draw.png import to_png

EXAMPLES = Path(__file__).parents[1] / "examples"


def measured(function, repeats):
    """Return the median processor time in milliseconds, and the last result."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        result = function()
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times), result


def measure(game, repeats):
    """Return the figures of a game."""
    position = ai.load(EXAMPLES / f"{game}_midgame.json")
    turn = ai.best_turn(position, iterations=200, seed=1).turn
    drawn, picture = measured(position.svg, repeats)
    with_turn, _ = measured(lambda: position.svg(turn=turn), repeats)
    as_png, data = measured(lambda: to_png(picture), 1)
    return {
        "position_ms": round(drawn, 1),
        "turn_ms": round(with_turn, 1),
        "kb": round(len(picture) / 1024, 1),
        "gzip_kb": round(len(gzip.compress(picture.encode())) / 1024, 1),
        "png_ms": round(as_png),
        "png_kb": round(len(data) / 1024),
    }


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="drawings of which the median is taken (default: 15)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    found = {game: measure(game, args.repeats) for game in ("mexica", "coatl", "tzolkin")}
    if args.json:
        print(json.dumps(found))
        return
    print("game      position    turn      SVG    gzip      PNG")
    for game, row in found.items():
        print(
            f"{game:8}{row['position_ms']:7.1f} ms{row['turn_ms']:5.1f} ms{row['kb']:6.1f} KB{row['gzip_kb']:5.1f} KB"
            f"{row['png_ms']:6} ms {row['png_kb']} KB"
        )


if __name__ == "__main__":
    main()

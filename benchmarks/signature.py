"""Prints the signature of the search: one number that tells whether its behaviour changed.

    python benchmarks/signature.py [--game NAME] [--check]

It is a hash of the turns and visit counts that one thread finds with a fixed number of iterations in fixed
positions: those of benchmarks/signature/, and every tenth of the games recorded there. A change of the rules,
the search, the priors, the evaluation or its weights changes it, and a refactoring must not; but so does a
change of those files or of how turns are written, which says nothing about the search. No build lets the
compiler contract or reorder floating-point operations, so that builds for different processors should agree;
exp and pow are the C library's, and another one may round otherwise.

Without options it is one number for the games that lie in the folder itself. A game added later has a folder of
its own there, and a number of its own: --game NAME.

The committed number stands in a file signature.txt beside the positions; a test compares. After a change that is
meant to change what the search does: measure it, and write the new number there.
With --check: exit code 1 if the number is not the committed one.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import mexica_ai as ai

FOLDER = Path(__file__).with_name("signature")
ITERATIONS = 1500
EVERY = 10  # turns of a recorded game


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=later_games(), help="a game that has a number of its own")
    parser.add_argument("--check", action="store_true", help="compare with the committed number")
    args = parser.parse_args()
    folder = FOLDER / (args.game or "")
    committed = int((folder / "signature.txt").read_text())
    found = signature(folder)
    print(found)
    if args.check and found != committed:
        print(f"the committed number is {committed}: the search behaves differently", file=sys.stderr)
        return 1
    return 0


def later_games():
    """Return the games that have a number of their own."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def signature(folder=FOLDER):
    """Return the signature of the installed build in the positions of a folder, at most 16 digits."""
    digest = hashlib.sha256()
    for position in positions(folder):
        result = ai.best_turn(position, iterations=ITERATIONS, threads=1, seed=1, candidates=50)
        for candidate in result.candidates:
            digest.update(json.dumps([candidate.turn, candidate.visits]).encode())
    return int.from_bytes(digest.digest()[:8], "big") % 10**16


def positions(folder=FOLDER):
    """Yield the positions that are searched."""
    for path in sorted(folder.glob("*.json")):
        yield ai.load(path)
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            position = ai.Position.from_json(record["start"])
            for number, turn in enumerate(record["turns"]):
                if number % EVERY == 0 and not position.is_chance:
                    yield position
                position.push(turn)


if __name__ == "__main__":
    sys.exit(main())

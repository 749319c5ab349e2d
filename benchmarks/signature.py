"""Prints the signature of the search: one number that shows whether its behaviour changed.

    python benchmarks/signature.py [--game NAME] [--check]

It is a hash of the turns and visit counts that one thread finds with a fixed number of iterations in fixed
positions: those of benchmarks/signature/, and every tenth position of the games recorded there. A change of
the rules, the search, the priors, the evaluation or the weights changes it; a refactoring must not. A change
of these files or of the notation of turns also changes it, although the search is the same. No build lets the
compiler contract or reorder floating-point operations, so builds for different processors should agree; exp
and pow are from the C library, and another one may round differently.

Without options, it is one number for the games whose positions are in the folder itself. A game added later
has its own folder there, and its own number: --game NAME.

The expected number is in the file signature.txt beside the positions; a test compares it. After a change that
is meant to change the search's behaviour, measure the strength and write the new number there:

    python benchmarks/signature.py --game NAME > benchmarks/signature/NAME/signature.txt

With --check, the exit code is 1 if the number differs from the expected one.
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
    parser.add_argument("--game", choices=later_games(), help="a game with its own number")
    parser.add_argument("--check", action="store_true", help="compare with the expected number")
    args = parser.parse_args()
    folder = FOLDER / (args.game or "")
    found = signature(folder)
    print(found)
    if args.check and found != (expected := int((folder / "signature.txt").read_text())):
        print(f"the expected number is {expected}: the search behaves differently", file=sys.stderr)
        return 1
    return 0


def later_games():
    """Return the games that have their own numbers."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def signature(folder=FOLDER):
    """Return the signature of the installed build for the positions of a folder, at most 16 digits."""
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

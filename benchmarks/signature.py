"""Prints the signature of the search: one number that tells whether its behaviour changed.

    python benchmarks/signature.py [--check]

It is a hash of the turns and visit counts that one thread finds with a fixed number of iterations in fixed
positions: those of examples/, and every tenth of its recorded games. A change of the rules, the search, the
priors, the evaluation or its weights changes it, and a refactoring must not; but so does a change of the
examples or of how turns are written, which says nothing about the search. No build lets the compiler
contract or reorder floating-point operations, so that builds for different processors should agree; exp and
pow are the C library's, and another one may round otherwise.

The committed number stands in benchmarks/signature.txt; a test compares. After a change that is meant to
change what the search does: measure it, and write the new number there.
With --check: exit code 1 if the number is not the committed one.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import mexica_ai as ai

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = Path(__file__).with_name("signature.txt")
ITERATIONS = 1500
EVERY = 10  # turns of a recorded game


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help=f"compare with {COMMITTED.name}")
    args = parser.parse_args()
    found = signature()
    print(found)
    if args.check and found != (committed := int(COMMITTED.read_text())):
        print(f"{COMMITTED.name} has {committed}: the search behaves differently", file=sys.stderr)
        return 1
    return 0


def signature():
    """Return the signature of the installed build, a number of at most 16 digits."""
    digest = hashlib.sha256()
    for position in positions():
        result = ai.best_turn(position, iterations=ITERATIONS, threads=1, seed=1, candidates=50)
        for candidate in result.candidates:
            digest.update(json.dumps([candidate.turn, candidate.visits]).encode())
    return int.from_bytes(digest.digest()[:8], "big") % 10**16


def positions():
    """Yield the positions that are searched."""
    for path in sorted(ROOT.glob("examples/*.json")):
        yield ai.load(path)
    for path in sorted(ROOT.glob("examples/*.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            position = ai.Position.from_json(record["start"])
            for number, turn in enumerate(record["turns"]):
                if number % EVERY == 0 and not position.is_chance:
                    yield position
                position.push(turn)


if __name__ == "__main__":
    sys.exit(main())

"""Fuzzes a door of the package, guided by coverage: what reads positions, records, weights, requests, answers.

    make fuzz DOOR=position SECONDS=3600             with the compiled layer watched, too; needs clang
    python tests/fuzz/doors.py position --seconds 60 on the modules that are installed; after
                                 CEXT_SKIP=1 pip install --no-build-isolation --editable '.[fuzz]'
    python tests/fuzz/doors.py position FILE ...     reads inputs, such as what was found, and ends
    python tests/fuzz/doors.py --table               the coverage of parsers and checks by the kept inputs

What is found is written to --findings and ends the run; the exit code is then not 0. New inputs are added to --corpus;
with --keep the fewest of them that reach the same lines and branches of the door's parsers go to tests/fuzz/corpus,
which the tests read. See tests/fuzz/README.md.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEPT = HERE / "corpus"
sys.path[:0] = [str(HERE), str(HERE.parent)]

TIMEOUT_S = 60  # of a hang; a door notices by itself what takes long on a machine with other work
MEMORY_MB = 2048
MAX_BYTES = 16_384
NAMES = ("position", "view", "compact", "record", "exercise", "weights", "requests", "answers", "messages", "replies",
         "state", "values")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("door", nargs="?", choices=NAMES)
    parser.add_argument("inputs", nargs="*", type=Path, help="only read these files")
    parser.add_argument("--seconds", type=int, default=60, help="how long (60)")
    parser.add_argument("--corpus", type=Path, help="folder of inputs to begin with and of new ones (build/fuzz/DOOR)")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz/findings"), help="folder for what is found")
    parser.add_argument("--keep", action="store_true", help="choose the inputs of --corpus to keep, and end")
    parser.add_argument("--table", action="store_true", help="print the coverage by the kept inputs, and end")
    args = parser.parse_args()
    if args.table:
        import kept

        return kept.print_table()
    if args.door is None:
        parser.error("expected a door")
    args.corpus = args.corpus or ROOT / "build/fuzz" / args.door
    if args.keep:
        import kept

        return kept.choose(args.door, args.corpus)
    if args.inputs:
        return read(args.door, args.inputs)
    return fuzz(args)


def read(name, paths):
    """Read inputs and say what came of each."""
    from programs import DOORS

    from mexica_ai.io.errors import MexicaAIError

    for path in paths:
        begin = time.monotonic()
        try:
            DOORS[name].read(path.read_bytes())
            outcome = "accepted"
        except MexicaAIError as error:
            outcome = f"{type(error).__name__} {error.reason}: {error}"
        print(f"{path}: {1000 * (time.monotonic() - begin):.0f} ms: {outcome}", flush=True)
    return 0


def fuzz(args):
    """Run libFuzzer until the time is over or something is found."""
    import atheris

    with atheris.instrument_imports(include=["mexica_ai", "cext.core.contract.errors"]):
        from programs import DOORS
    door = DOORS[args.door]
    args.corpus.mkdir(parents=True, exist_ok=True)
    args.findings.mkdir(parents=True, exist_ok=True)
    seeds = door.seeds()
    for number, seed in enumerate(seeds):
        (args.corpus / f"seed{number:03}").write_bytes(seed)

    def mutate(data, max_size, seed):
        rng = random.Random(seed)
        changed = door.mutate(rng, data, seeds) if rng.random() < 0.7 else None
        if changed is None or len(changed) > max_size:
            changed = atheris.Mutate(data, max_size)
        return changed

    options = {
        "artifact_prefix": f"{args.findings}/{args.door}-",
        "max_total_time": args.seconds,
        "timeout": TIMEOUT_S,
        "rss_limit_mb": MEMORY_MB,
        "max_len": MAX_BYTES,
        "mutate_depth": 2,  # the mutator makes several changes at once
        "print_final_stats": 1,
    }
    folders = [str(args.corpus), *[str(KEPT / args.door)] * (KEPT / args.door).is_dir()]
    atheris.Setup(
        [sys.argv[0], *folders, *(f"-{name}={value}" for name, value in options.items())], door, custom_mutator=mutate
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # without waiting for threads of the doors

"""The kept inputs: which to keep, and what they cover."""

import contextlib
import importlib.util
import io
import json
import re
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEPT = HERE / "corpus"
PACKAGE = Path(importlib.util.find_spec("mexica_ai").origin).parent  # the checkout's, or where it is installed
MAX_BYTES = 8_192  # of an input; longer ones reach little more


def read_all(paths):
    """Read inputs through their doors; return the measured coverage, with a context for each input.

    Parameters
    ----------
    paths : dict of str to list of Path
        Inputs by the name of their door.
    """
    import coverage

    measured = coverage.Coverage(data_file=None, branch=True, include=[f"{PACKAGE}/*", f"{ROOT}/server/*"])
    measured.start()
    measured.switch_context("import")
    from programs import DOORS

    for name in paths:
        DOORS[name].seeds()
    for name, inputs in paths.items():
        for path in inputs:
            data = path.read_bytes()
            with contextlib.suppress(Exception):
                DOORS[name](data)  # what is cached is made now
            measured.switch_context(f"{name} {path.name}")
            with contextlib.suppress(Exception):
                DOORS[name](data)
            measured.switch_context("import")
    measured.stop()
    return measured, DOORS


def outcome_of(read, data):
    """Return how an input ends, in words without what it holds."""
    try:
        read(data)
    except Exception as error:
        return re.sub(r"\S*/\S*|'.*?'|[^a-z ]", "", str(error))
    return "accepted"


def choose(name, corpus):
    """Keep the fewest inputs of a folder, and of those kept before, that reach all that they reach together."""
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    new = corpus.iterdir() if corpus.is_dir() else ()
    paths = [path for path in [*new, *folder.iterdir()] if path.stat().st_size <= MAX_BYTES]
    paths = {path.read_bytes(): path for path in paths}.values()
    measured, doors = read_all({name: paths})
    data = measured.get_data()
    files = [file for file in data.measured_files() if any(Path(file).match(each) for each in doors[name].covers)]
    reached = {}
    for path in paths:
        data.set_query_context(f"{name} {path.name}")
        reached[path] = {(file, arc) for file in files for arc in data.arcs(file) or ()}
        if not doors[name].covers:  # its reader is compiled
            reached[path] = {outcome_of(doors[name].read, path.read_bytes())}
    keep, missing = [], set().union(*reached.values())
    if not missing:
        raise SystemExit(f"{name}: none of {len(paths)} inputs reaches a parser or check; nothing is changed")
    while missing:
        best = max(reached, key=lambda path: (len(reached[path] & missing), -path.stat().st_size))
        keep.append(best.read_bytes())
        missing -= reached[best]
    before = list(folder.iterdir())
    written = [folder / f"new-{number:03}" for number in range(len(keep))]
    for path, content in zip(written, sorted(sorted(keep), key=len), strict=True):
        path.write_bytes(content)
    for path in before:
        path.unlink()
    for path in written:
        path.rename(path.with_name(path.name.removeprefix("new-")))
    print(f"{name}: kept {len(keep)} of {len(paths)} inputs, {sum(map(len, keep))} bytes")
    return 0


def print_table():
    """Print the coverage of the parsers and checks by the kept inputs of all doors."""
    inputs = {folder.name: sorted(folder.iterdir()) for folder in sorted(KEPT.iterdir())}
    measured, doors = read_all(inputs)
    print("| door | inputs | bytes | lines | branches |\n| --- | --- | --- | --- | --- |")
    for name, paths in inputs.items():
        numbers = totals(measured, [f"^{name} ", "^import$"], doors[name].covers).values()
        size = sum(path.stat().st_size for path in paths)
        print(f"| {name} | {len(paths)} | {size} | {share(numbers, 'lines')} | {share(numbers, 'branches')} |")
    print("\n| parser or check | lines | branches |\n| --- | --- | --- |")
    covers = {each for door in doors.values() for each in door.covers}
    for file, number in sorted(totals(measured, [".*"], covers).items()):
        print(f"| `{file}` | {share([number], 'lines')} | {share([number], 'branches')} |")
    return 0


def totals(measured, contexts, covers):
    """Return by file what has been reached in some contexts: lines and branches, and how many there are."""
    with tempfile.NamedTemporaryFile("r+") as file, contextlib.redirect_stdout(io.StringIO()):
        measured.json_report(outfile=file.name, contexts=contexts)
        report = json.load(file)
    found = {}
    for path, entry in report["files"].items():
        if any(Path(path).match(each) for each in covers):
            summary = entry["summary"]
            place = PACKAGE.parent if PACKAGE in Path(path).resolve().parents else ROOT
            found[str(Path(path).resolve().relative_to(place))] = Counter(
                lines=summary["covered_lines"], all_lines=summary["num_statements"],
                branches=summary["covered_branches"], all_branches=summary["num_branches"],
            )  # fmt: skip
    return found


def share(numbers, what):
    """Return what has been reached, as words; a dash where there is nothing, or it is compiled."""
    total = sum(numbers, Counter())
    if not total["all_" + what]:
        return "-"
    return f"{total[what]} of {total['all_' + what]} ({100 * total[what] / total['all_' + what]:.0f} %)"

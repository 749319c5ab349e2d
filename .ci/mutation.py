"""Mutation testing: cosmic-ray changes a sample of lines one at a time, and the tests of their module must fail.

Each worker mutates a copy of the checkout, which shares its environment, never the checkout itself. The same seed draws
the same sample from the same sources. The sessions stay in build/mutation, for `cr-report` and `cr-html`.
"""

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parents[1]
SESSIONS = ROOT / "build" / "mutation"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "build", "dist", ".hypothesis", ".*_cache")
ANNOTATIONS = "core/ReplaceBinaryOperator_BitOr"  # `int | None`: of nothing that runs

SCHEDULER_TESTS = " ".join(f"tests/server/test_{name}.py" for name in ("slots", "scheduler_calls", "scheduler"))
NUM_MUTANTS = 40  # of a subject
# Subject -> its modules, the tests that must notice, and the seconds after which a mutant is dead.
SUBJECTS = {
    "scheduler": ("server/scheduler.py", SCHEDULER_TESTS, 120),
    "admission": ("server/admission.py", SCHEDULER_TESTS, 120),
    "runner": ("server/runner.py", SCHEDULER_TESTS, 120),
    "slots": ("server/slots.py", SCHEDULER_TESTS, 120),
    "statistics": ("mexica_ai/arena/statistics.py", "tests/arena/test_arena_statistics.py", 60),
    "page": ("mexica_ai/web", "tests/web --ignore-glob *browser*", 600),
}
CONFIG = """\
[cosmic-ray]
module-path = ["{path}"]
timeout = {timeout}
excluded-modules = []
test-command = "{command}"
[cosmic-ray.distributor]
name = "local"
"""


def place_of(item):
    """Return where an item mutates, and how: the many operators that replace one are one way."""
    (mutation,) = item.mutations
    family = mutation.operator_name.partition("Operator_")[0]
    return str(mutation.module_path), mutation.start_pos, family, mutation.operator_name, mutation.occurrence


def sample(items, number, seed):
    """Draw places, then one mutant of each."""
    items = sorted((item for item in items if ANNOTATIONS not in place_of(item)[3]), key=place_of)
    places = [list(group) for _, group in itertools.groupby(items, lambda item: place_of(item)[:3])]
    drawn = random.Random(seed)
    return [drawn.choice(group) for group in drawn.sample(places, min(number, len(places)))]


def copy_checkout(folder):
    """Copy the checkout and return the environment in which its modules are those imported."""
    copy = Path(folder) / "checkout"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
    return copy, {**os.environ, "PYTHONPATH": str(copy)}


def run(name, worker, workers, seed, number, copy, environment):
    """Test a worker's part of the sample of a subject; return the items with their results."""
    path, tests, timeout = SUBJECTS[name]
    command = f"{sys.executable} -P -m pytest -n 0 -x -q -p no:cacheprovider -m 'not slow' {tests}"
    session, config = SESSIONS / f"{name}-{worker}.sqlite", SESSIONS / f"{name}-{worker}.toml"
    config.write_text(CONFIG.format(path=path, timeout=timeout, command=command))
    cosmic_ray = [sys.executable, "-P", "-m", "cosmic_ray.cli"]
    options = {"cwd": copy, "env": environment, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([*cosmic_ray, "init", config, session, "--force"], **options)
    with use_db(session) as database:
        items = database.work_items
        mine = {item.job_id for item in sample(items, number, seed)[worker::workers]}
        others = [item.job_id for item in items if item.job_id not in mine]
        database.set_multiple_results(others, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    subprocess.run([*cosmic_ray, "baseline", config], **options)
    subprocess.run([*cosmic_ray, "exec", config, session], **options)
    with use_db(session) as database:
        return [(item, result) for item, result in database.completed_work_items if item.job_id in mine]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS), help=f"of {', '.join(SUBJECTS)}; default all")
    parser.add_argument("--seed", type=int, default=1, help="draws the sample (default 1)")
    parser.add_argument("--number", type=int, default=NUM_MUTANTS, help="mutants a subject (default %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="mutants at a time (default 2)")
    options = parser.parse_args()
    SESSIONS.mkdir(parents=True, exist_ok=True)

    def work(worker):
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_checkout(folder)
            return {
                name: run(name, worker, options.workers, options.seed, options.number, *copy)
                for name in options.subjects
            }

    with ThreadPoolExecutor(options.workers) as pool:
        parts = list(pool.map(work, range(options.workers)))
    for name in options.subjects:
        found = sorted(itertools.chain(*(part[name] for part in parts)), key=lambda pair: place_of(pair[0]))
        survivors = [(item, result) for item, result in found if not result.is_killed]
        print(f"\n{name}: {len(found)} mutants, {len(survivors)} survive")
        for item, result in survivors:
            print(f"\n{place_of(item)[3]} in {item.mutations[0].definition_name}\n{result.diff}")


if __name__ == "__main__":
    main()

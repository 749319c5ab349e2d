"""`make strength`: its plans are sound, and it goes on where it ended."""

import json
import lzma
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mexica_ai.io.errors import MexicaAIError

pytestmark = pytest.mark.usefixtures("shipped_weights")

ROOT = Path(__file__).parents[2]
PLANS = ROOT / "benchmarks" / "plans"
TINY = """
[[step]]
kind = "match"
games = ["coatl"]
blocks = 6
seed = 5
engines = ["mcts,iterations=2,threads=1", "greedy"]
"""


@pytest.fixture(scope="module")
def measure():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return runpy.run_path(str(ROOT / "benchmarks" / "measure.py"), run_name="measure")


def start(tmp_path, *options):
    plan = tmp_path / "tiny.toml"
    plan.write_text(TINY)
    command = [sys.executable, "benchmarks/measure.py", "--plan", plan, "--results", tmp_path / "results"]
    return subprocess.Popen(
        [*command, "--concurrency", "1", *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process, code=0):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    return output


@pytest.mark.parametrize("name", ["release", "small"])
def test_the_plans_are_sound(measure, name, tmp_path):
    steps = measure["read_plan"](PLANS / f"{name}.toml", tmp_path)
    assert {step.kind for step in steps} == {"match", "levels", "ladder", "shares"}
    assert all(step.num_games > 0 for step in steps)
    seeds = [(step.game, step.plan["seed"]) for step in steps if "seed" in step.plan]
    assert len(set(seeds)) == len(seeds)
    for step in steps:
        assert step.kind in ("levels", "shares") or step.engines
        for commit in step.plan.get("commits", ()):
            assert any(f"build/frozen/{commit}/bin/mexica-ai engine" in engine for engine in step.engines)
    if name == "release":
        played = {step.name: step.num_games for step in steps}
        assert played["mexica-2-doubling-time0.4"] == played["mexica-2-doubling-time0.8"] == 400
        assert {game: played[f"{game}-4-four-cmd-time0.4"] for game in ("mexica", "coatl", "tzolkin")} == dict.fromkeys(
            ("mexica", "coatl", "tzolkin"), 100
        )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[step]]\nkind = 'match'\ngames = ['coatl']\nblocks = 1\nseed = 1\n", "expected the key engines"),
        ("[[step]]\nkind = 'levels'\ngames = ['chess']\nblocks = 2\n", "chess"),
        ("[[step]]\nkind = 'levels'\ngames = ['coatl']\nblocks = 1\n", "blocks 1; expected 2 or more"),
        ("[[step]]\nkind = 'levels'\ngames = ['coatl']\nblokcs = 1\n", 'did you mean "blocks"?'),
        (2 * "[[step]]\nkind = 'levels'\ngames = ['coatl']\nblocks = 2\n", "steps of one name: coatl-levels"),
        ("[[step]", "plan.toml"),
    ],
)
def test_what_is_no_plan_is_refused(measure, tmp_path, text, problem):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(MexicaAIError) as error:
        measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    assert problem in str(error.value)


def test_a_result_counts_by_weights_engines_and_games(measure, tmp_path):
    (tmp_path / "plan.toml").write_text(TINY)
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    result = {"kind": "match", "game": "coatl", "weights": step.weights, "players": 2, "games": 12}
    result["engines"] = ["mcts,iterations=2,name=a,threads=1", "greedy,time=1"]
    assert step.result([result]) is result
    for change in (
        {"weights": "0" * 12},
        {"games": 10},
        {"players": 4},
        {"game": "mexica"},
        {"engines": ["mcts,iterations=3,threads=1", "greedy"]},
    ):
        assert step.result([result | change]) is None


@pytest.mark.real("processes")
def test_a_measurement_that_was_interrupted_goes_on(tmp_path):
    process = start(tmp_path)
    games = tmp_path / "results" / "games"
    deadline = time.monotonic() + 120
    while not (journals := list(games.glob("*.jsonl"))) or journals[0].read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    finish(process, 130)
    (journal,) = journals
    begun = journal.read_bytes().split(b"\n")[:-1]
    assert 2 <= len(begun) < 12
    assert "begun  coatl-2-greedy-iterations2: " in finish(start(tmp_path, "--status"))

    assert "1 of 1 steps are measured" in finish(start(tmp_path))
    (result,) = (tmp_path / "results").glob("*.json")
    found = json.loads(result.read_text())
    assert (found["kind"], found["games"], found["players"]) == ("match", 12, 2)
    assert "--reproducible" in found["command"]
    assert "load" in found["machine"]
    assert not journal.exists()
    lines = lzma.decompress(Path(f"{journal}.xz").read_bytes()).splitlines()
    assert lines[: len(begun)] == begun
    assert len(lines) == 12
    assert "of 12 games at 2 iterations" in (tmp_path / "results" / "pages" / "README.md").read_text()
    assert "`greedy`" in (tmp_path / "results" / "pages" / "strength.md").read_text()

    # Games that are compressed count where a plan asks for more.
    result.write_text(json.dumps(found | {"games": 10}))
    finish(start(tmp_path))
    assert lzma.decompress(Path(f"{journal}.xz").read_bytes()).splitlines() == lines
    assert json.loads(result.read_text())["games"] == 12

    stamp = result.stat().st_mtime_ns
    assert finish(start(tmp_path, "--status")).startswith("done   coatl-2-greedy-iterations2")
    finish(start(tmp_path))
    assert result.stat().st_mtime_ns == stamp

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
from types import SimpleNamespace

import fake_journals
import pytest

import mexica_ai as ai
from mexica_ai.analysis import levels
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


def test_levels_count_by_all_that_decides_how_they_play(measure, tmp_path, monkeypatch):
    def step(top=""):
        (tmp_path / "plan.toml").write_text(f'[[step]]\nkind = "levels"\ngames = ["coatl"]\nblocks = 2\n{top}')
        return measure["read_plan"](tmp_path / "plan.toml", tmp_path)[0]

    journal_name = measure["is_of_levels_now"].__globals__["journal_name"]
    rows = [{"level": level, "games": 4, "journal": journal_name("coatl", level, 8_000)} for level in range(11)]
    result = {"kind": "levels", "game": "coatl", "weights": step().weights, "levels": rows}
    assert step().result([result]) is result
    assert step("top = 400").result([result]) is None
    assert step("top = 400").result([result | {"top": 400}]) is None  # the journal is of another one
    monkeypatch.setitem(levels.NARROW, "exploration", 0.5)
    assert step().result([result]) is None


def test_a_rating_list_counts_by_its_engines(measure, tmp_path):
    (tmp_path / "plan.toml").write_text(TINY.replace('"match"', '"ladder"'))
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    result = {"kind": "ladder", "game": "coatl", "weights": step.weights, "players": 2, "games": 12}
    specs = ["greedy", "mcts,iterations=2,threads=1", "greedy,time=1"]  # by rating; one of two builds
    result["engines"] = [{"spec": spec} for spec in specs]
    assert step.result([result]) is result
    for others in (["greedy"], ["greedy", "mcts,iterations=3,threads=1"], [*specs, "random"]):
        assert step.result([result | {"engines": [{"spec": spec} for spec in others]}]) is None
    for change in ({"games": 10}, {"players": 3}):
        assert step.result([result | change]) is None


def test_a_name_of_no_step_is_refused(measure, tmp_path):
    steps = measure["read_plan"](PLANS / "release.toml", tmp_path)
    assert {step.game for step in measure["chosen"](steps, ["coatl"])} == {"coatl"}
    assert measure["chosen"](steps, [""]) == steps
    assert measure["chosen"]([], [""]) == []
    with pytest.raises(MexicaAIError, match="--only mexcia: no step is named so; expected the beginning of one of mex"):
        measure["chosen"](steps, ["coatl", "mexcia"])


@pytest.mark.real("processes")
def test_a_failure_of_the_arena_is_told_without_a_traceback(measure, tmp_path):
    levels_now = runpy.run_path(str(ROOT / "benchmarks" / "levels.py"), run_name="levels")
    (tmp_path / levels_now["journal_name"]("coatl", 2, 8000)).write_text("remember the milk\n")
    command = [sys.executable, "benchmarks/levels.py", "--game", "coatl", "--journals", tmp_path, "--pairs", "2"]
    done = subprocess.run([*command, "--blocks", "1"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith("levels.py: error: the arena ended with exit code 2\n")


@pytest.mark.real("processes")
def test_only_results_of_before_that_git_has_are_deleted(measure, tmp_path):
    (tmp_path / "plan.toml").write_text(TINY)
    steps = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    old = {"kind": "match", "game": "coatl", "weights": "0" * 12}
    results = {
        "deleted": old,
        "changed": old,
        "levels": old | {"kind": "levels"},
        "mexica": old | {"game": "mexica"},
        "ships": old | {"weights": steps[0].weights},
        "staged": old,
        "unknown": old,
    }

    def write(name):
        (tmp_path / f"{name}.json").write_text(json.dumps(results[name]))

    def git(*words):
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", tmp_path, *author, *words], check=True, capture_output=True)

    for name in sorted(results)[:-2]:
        write(name)
    measure["drop_old"](steps, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.json")} == {*results} - {"staged", "unknown"}  # there is no git
    git("init")
    git("add", ".")
    git("commit", "--message", "results")
    write("staged")
    git("add", "staged.json")
    write("unknown")
    (tmp_path / "changed.json").write_text(json.dumps(old) + "\n")
    measure["drop_old"](steps, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.json")} == {*results} - {"deleted"}


@pytest.mark.parametrize(
    ("only", "fails", "events"),
    [
        ([""], False, ["match", "drop", "pages"]),
        (["coatl"], False, ["match", "pages"]),
        ([""], True, ["match", "pages"]),
    ],
)
def test_results_of_before_are_deleted_when_the_whole_plan_is_measured(
    measure, tmp_path, monkeypatch, only, fails, events
):
    (tmp_path / "plan.toml").write_text(TINY)
    steps = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    names = measure["run"].__globals__
    done = []

    def play(*_):
        done.append("match")
        if fails:
            raise measure["StepError"]("it failed")

    monkeypatch.setitem(names["MEASURE"], "match", play)
    monkeypatch.setitem(names, "drop_old", lambda *_: done.append("drop"))
    monkeypatch.setattr(names["strength"], "write_pages", lambda *_: done.append("pages"))
    args = SimpleNamespace(results=tmp_path, only=only, plan=tmp_path / "plan.toml")
    assert measure["run"](steps, args) == fails
    assert done == events


@pytest.mark.parametrize(
    ("packed", "journal", "expected"),
    [
        (b"a\nb\n", None, b"a\nb\n"),
        (b"a\nb\n", b"c\n", b"a\nb\n"),
        (b"a\n", b"c\nd\n", b"c\nd\n"),
        (None, b"c\n", b"c\n"),
    ],
)
def test_the_longer_games_are_kept(measure, tmp_path, packed, journal, expected):
    path = tmp_path / "games.jsonl"
    pack = tmp_path / "games.jsonl.xz"
    if packed:
        pack.write_bytes(lzma.compress(packed))
    if journal:
        path.write_bytes(journal)
    measure["unpack"]([pack])
    assert path.read_bytes() == expected
    measure["pack"](path)
    assert lzma.decompress(pack.read_bytes()) == expected
    assert list(tmp_path.iterdir()) == [pack]


def test_games_are_never_half_packed(measure, tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    pack = tmp_path / "games.jsonl.xz"
    path.write_bytes(b"a\nb\n")
    pack.write_bytes(lzma.compress(b"a\n"))

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        measure["pack"](path)
    assert lzma.decompress(pack.read_bytes()) == b"a\n"
    assert path.read_bytes() == b"a\nb\n"
    path.unlink()
    with pytest.raises(OSError, match="disk full"):
        measure["unpack"]([pack])
    assert list(tmp_path.iterdir()) == [pack]


def test_the_processors_are_those_that_may_be_used(measure, monkeypatch):
    monkeypatch.setitem(measure["machine"].__globals__, "num_processors", lambda: 1.5)
    assert ", 1.5 cores, load " in measure["machine"]()


def test_the_result_of_shares_has_both_commands(measure, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text("[[step]]\nkind = 'shares'\ngames = ['coatl']\nscale = 0.0125\n")
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    found = {"setting": {"games": 5}, "tenths": [], "weights": {"search - leaf": [1.0, 0.1]}}
    for name, value in (("python", (0, json.dumps([found]))), ("commit_here", "abcdef0"), ("pack", None)):
        monkeypatch.setitem(measure["save"].__globals__, name, lambda *_, value=value: value)
    measure["measure_shares"](step, SimpleNamespace(results=tmp_path, concurrency=1))
    (result,) = measure["strength"].read_results(tmp_path)
    collect, test = result["command"].splitlines()
    assert collect.startswith("python benchmarks/calibration.py collect --game coatl --data coatl.jsonl ")
    assert test == "python benchmarks/calibration.py test --game coatl --data coatl.jsonl"


def test_a_result_names_a_commit_that_has_played(measure, tmp_path):
    (tmp_path / "plan.toml").write_text(TINY)
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    here = measure["describe_build"]("coatl")
    measure["check_builds"](step, ["mexica-ai 0.1.0, code 0123456789ab", here])
    with pytest.raises(measure["StepError"], match=r"played by .*, code 0123456789ab; expected this"):
        measure["check_builds"](step, ["mexica-ai 0.1.0, code 0123456789ab"])


def test_of_several_builds_of_levels_that_of_the_commit_is_named_last(measure, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text("[[step]]\nkind = 'levels'\ngames = ['coatl']\nblocks = 2\n")
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    here, before = measure["describe_build"]("coatl"), "mexica-ai 9.9.9, code 0123456789ab"
    row = {"level": 1, "games": 4, "elo": [0.0, -1.0, 1.0], "journal": "1.jsonl"}
    found = json.dumps([row | {"builds": [here]}, row | {"level": 2, "builds": [before, here]}])
    for name, value in (("python", (0, found)), ("commit_here", "abcdef0")):
        monkeypatch.setitem(measure["save"].__globals__, name, lambda *_, value=value: value)
    measure["measure_levels"](step, SimpleNamespace(results=tmp_path, concurrency=1))
    (result,) = measure["strength"].read_results(tmp_path)
    assert result["build"] == f"{before}; {here}"


@pytest.mark.real("processes")
def test_a_rating_list_has_each_engine_once_though_levels_were_measured_meanwhile(measure, tmp_path, monkeypatch):
    """New ratings of levels make another build, whose engines are the same."""
    plan = TINY.replace('"match"', '"ladder"').replace("6", "2").replace('"greedy"', '"greedy", "random"')
    (tmp_path / "plan.toml").write_text(plan)
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    builds = [f"mexica-ai {ai.__version__}, code {digit * 12}" for digit in "01"]
    of = fake_journals.tournament(*step.engines, game="coatl", weights=(step.weights, step.weights, None))
    games = fake_journals.records(of, 6, lambda game: game.seating[0])
    for game in games:
        game["build"] = builds[game["arena"]["block"] % 2]
    fake_journals.write(step.journal, games)
    monkeypatch.setitem(measure["measure_ladder"].__globals__, "play", lambda *_: None)
    measure["measure_ladder"](step, SimpleNamespace(results=tmp_path))
    (result,) = measure["strength"].read_results(tmp_path)
    assert step.result([result]) is result
    assert result["builds"] == builds
    assert len(result["engines"]) == 3
    assert result["anchor"] == {"engine": f"greedy [{ai.__version__}]", "rating": 1000}


def test_games_of_all_pairs_of_levels_are_counted(measure, tmp_path):
    (tmp_path / "plan.toml").write_text("[[step]]\nkind = 'levels'\ngames = ['coatl']\nblocks = 2\ntop = 400\n")
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    step.journal.mkdir(parents=True)
    names = step.played.__func__.__globals__
    for level in range(11):
        (step.journal / names["journal_name"]("coatl", level, 400)).write_text("{}\n")
    assert step.played() == 11


def test_a_result_is_never_half_written(measure, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text(TINY)
    (step,) = measure["read_plan"](tmp_path / "plan.toml", tmp_path)
    path = tmp_path / f"{step.name}.json"
    path.write_text("of before")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    monkeypatch.setitem(measure["save"].__globals__, "commit_here", lambda: "0" * 12)
    monkeypatch.setitem(measure["save"].__globals__, "machine", lambda: "a machine")
    match = {"game": step.game, "players": step.players, "engines": step.engines}
    for write in (
        lambda: measure["save"](step, SimpleNamespace(results=tmp_path), ["x"], {}),
        lambda: measure["strength"].write_result(match, tmp_path),
    ):
        with pytest.raises(OSError, match="disk full"):
            write()
        assert path.read_text() == "of before"


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
    assert "begun  coatl-2-greedy-iterations2: 12 of 12 games" in finish(start(tmp_path, "--status"))
    finish(start(tmp_path))
    assert lzma.decompress(Path(f"{journal}.xz").read_bytes()).splitlines() == lines
    assert json.loads(result.read_text())["games"] == 12

    stamp = result.stat().st_mtime_ns
    assert finish(start(tmp_path, "--status")).startswith("done   coatl-2-greedy-iterations2")
    finish(start(tmp_path))
    assert result.stat().st_mtime_ns == stamp

"""Each benchmark runs with tiny settings and prints what it promises; the figures mean nothing here."""

import argparse
import dataclasses
import gzip
import importlib.util
import json
import math
import pickle
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from here import Here

import mexica_ai
from mexica_ai.game import registry

# They are about what ships.
pytestmark = pytest.mark.usefixtures("shipped_weights")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(script, *args):
    command = [sys.executable, str(BENCHMARKS / script), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


class Sending(Here):
    """Plays in this process what could be sent to another one, as the workers of a pool need."""

    def submit(self, fn, /, *args, **kwargs):
        return super().submit(*pickle.loads(pickle.dumps((fn, *args))), **kwargs)


@pytest.fixture
def here(monkeypatch, capsys):
    """Return a function that does in this process what `run` does in one of its own."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr("mexica_ai.arena.pool.GamePool", Sending)

    def run_here(script, *args):
        code = 0
        monkeypatch.setattr(sys, "argv", [script, *map(str, args)])
        try:
            runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        return subprocess.CompletedProcess(sys.argv, code, *capsys.readouterr())

    return run_here


def figures(run, script, *args):
    """Return what a script prints with --json."""
    done = run(script, *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_of_the_benchmarks_names_every_script_and_only_options_that_exist():
    text = (BENCHMARKS / "README.md").read_text()
    scripts = {path.name: path.read_text() for path in BENCHMARKS.glob("*.py")}
    rows = {
        name for row in re.findall(r"^\| (`\w+\.py`.*?) \|", text, re.MULTILINE) for name in re.findall(r"\w+\.py", row)
    }
    assert rows == {name for name, code in scripts.items() if 'if __name__ == "__main__":' in code}
    commands = re.findall(r"^    python benchmarks/(\w+\.py)(.*(?:\n {8,}.*)*)", text, re.MULTILINE)
    assert len(commands) >= 12
    shared = scripts["attacks.py"]  # has the options of all attacks
    for name, arguments in commands:
        code = scripts[name] + shared * name.startswith("attack_")
        for option in re.findall(r"--[a-z-]+", arguments):
            assert f'"{option}"' in code, f"{name} {option}"


needs_openspiel = pytest.mark.skipif(not importlib.util.find_spec("pyspiel"), reason="needs open_spiel")


@needs_openspiel
@pytest.mark.real("processes")
def test_bench_spiel():
    rows = figures(run, "bench_spiel.py", "--seconds", 0.01, "--repeats", 1, "--game", "nim", "--game", "coatl")["rows"]
    assert {name.partition(",")[0] for name in rows} == {"tic-tac-toe", "liar's poker", "nim", "coatl"}
    assert all(row["decisions"] > 0 for row in rows.values())
    assert rows["coatl, this bridge"]["ismcts"] > 0
    assert rows["nim, pure Python"]["mcts"] > 0


@needs_openspiel
@pytest.mark.real("processes")
def test_compared():
    done = run("compared.py", "--seconds", 0.01, "--repeats", 1, "--games", 2, "--iterations", 20)
    assert done.returncode == 0, done.stderr
    assert "| OpenSpiel, C++ chess by Python | " in done.stdout
    assert re.search(r"^\| `uct` \| [0-2] of 2 \(\d+ to \d+ %\) \|", done.stdout, re.MULTILINE)


@pytest.mark.real("processes")
def test_bench_http():
    found = figures(run, "bench_http.py", "--calls", 20)
    assert set(found) == {"grpc ListGames", "http /v1/games", "grpc LegalActions", "http /v1/legal-actions"}
    assert all(kind["p95_ms"] >= kind["p50_ms"] > 0 for kind in found.values())


def test_bench_rules(here):
    found = figures(here, "bench_rules.py", "--seconds", 0.01, "--repeats", 1, "--deals", 2)
    for key in ("playouts_per_s", "actions_per_s", "actions_per_playout"):
        assert list(found[key]) == ["2", "3", "4"]
        assert min(found[key].values()) > 0
    assert found["state_size"] > 0
    assert 1360 <= found["legal_actions"] <= 1460
    assert min(found[key] for key in ("copies_per_s", "legal_lists_per_s", "ns_per_legal_action")) > 0
    assert found["processor"]
    assert found["python"]


def test_bench_small(here):
    found = figures(here, "bench_small.py", "--iterations", "1,3", "--calls", 1, "--repeats", 1)
    assert list(found) == ["nim", "mexica", "coatl", "tzolkin"]
    assert all(figure > 0 for row in found.values() for figure in row.values())


@pytest.mark.real("processes")
def test_bench_builds():
    options = ["--games", "nim", "--seconds", 0.01, "--repeats", 1]
    found = figures(run, "bench_builds.py", sys.executable, f"{sys.executable}@portable", *options)
    first, second = found.values()
    assert first["nim"] == {"search": 1.0, "games": 1.0}
    assert min(second["nim"].values()) > 0
    done = run("bench_builds.py", f"{sys.executable}@x86-64-v9", *options)
    assert "given 'x86-64-v9'" in done.stderr


@pytest.mark.real("processes")
def test_uct_openspiel():
    pytest.importorskip("pyspiel")
    (found,) = figures(run, "uct_openspiel.py", "--iterations", 30, "--games", 4).values()
    assert found["games"] == 4
    assert found["interval"][0] <= found["share"] <= found["interval"][1]
    assert min(found["speed"].values()) > 0


@pytest.mark.real("time")
def test_bench_evaluator(here):
    found = figures(here, "bench_evaluator.py", "--seconds", 0.01, "--repeats", 1, "--batches", "1,4", "--game", "nim")
    assert list(found["rows"]) == ["native", "free, 1", "network, 1", "free, 4", "network, 4"]
    assert min(found["rows"].values()) > 0
    args = ("--seconds", 0.05, "--repeats", 1, "--batches", "4", "--game", "nim", "--slow")
    found = figures(here, "bench_evaluator.py", *args)
    iterations_per_s, share = found["rows"]["slow, 4"]
    assert iterations_per_s > 0
    assert 0 < share <= 1


def test_bench_env(here):
    found = figures(here, "bench_env.py", "--seconds", 0.01, "--repeats", 1, "--games", 8, "--game", "nim")
    assert len(found["rows"]) == 6
    assert all(row["actions_per_s"] > 0 for row in found["rows"].values())


@pytest.mark.real("processes")
def test_bench_moves():
    done = run("bench_moves.py", "--servers", 2, "--callers", 2, "--time", 0.01, "--duration", 0.3, "--moves", 0, 4)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["max_moves 0", "max_moves 4"]
    assert all(line.endswith("refused {}") for line in lines)


def test_simulate_replicas(here):
    options = ["--replicas", 10, "--slots", 1, "--calls", 2000, "--load", 0.3, 2.0]
    rows = {(row["choice"], row["load"]): row for row in figures(here, "simulate_replicas.py", *options)["rows"]}
    for (choice, load), row in rows.items():
        served = (1 - row["refused"]) * load
        assert row["busy"] == pytest.approx(served, abs=0.1), choice
        assert row["refused"] > 0.4 if load > 1 else row["refused"] < 0.05
        assert row["wait_p50_s"] <= row["wait_p95_s"] <= row["wait_p99_s"] <= 0.9
    # To ask five servers finds one with a free slot more often than to ask two, or one.
    assert rows["move", 0.3]["wait_p95_s"] <= rows["two", 0.3]["wait_p95_s"] < rows["random", 0.3]["wait_p95_s"]


@pytest.mark.parametrize("folder", ["", "tzolkin"])
def test_the_signature_is_the_committed_one(here, folder):
    done = here("signature.py", *(["--game", folder] if folder else []), "--check")
    assert done.returncode == 0, (
        f"{done.stdout}{done.stderr}: if the search is meant to behave differently, measure it, and write "
        f"this number to {Path('benchmarks/signature', folder, 'signature.txt')}"
    )


def test_every_game_with_a_signature_of_its_own_is_compared():
    folders = [path.name for path in (BENCHMARKS / "signature").iterdir() if path.is_dir()]
    [mark] = [mark for mark in test_the_signature_is_the_committed_one.pytestmark if mark.name == "parametrize"]
    assert sorted(mark.args[1]) == sorted(["", *folders])


def test_match_varied(here):
    done = here("match_varied.py", "ships", "ships", "--pairs", 2, "--iterations", 2)
    assert done.returncode == 0, done.stderr
    games, share, margin = done.stdout.splitlines()
    version = registry.get("tzolkin").weights().version
    assert games == f"4 games, {version} against {version}"
    assert re.fullmatch(r"share of the win [0-9.]+ % \([0-9.]+ to [0-9.]+ %\)", share)
    assert re.fullmatch(r"margin [+-][0-9.]+ \([+-][0-9.]+ to [+-][0-9.]+\)", margin)


def test_regret(tmp_path, here):
    data = tmp_path / "mexica.jsonl"
    sizes = {"play": 2, "search": 30, "top": 2, "iterations": 2, "depth": 2, "rollouts": 2, "finished": 2}
    options = [text for name, value in sizes.items() for text in (f"--{name}", value)]
    done = here("regret.py", "make", "mexica", "--out", data, "--positions", 3, *options)
    assert done.returncode == 0, done.stderr
    made = data.read_bytes()
    assert len(made.splitlines()) == 3
    measure = ("regret.py", "measure", "mexica", "--data", data, "--engine")
    found = figures(here, *measure, "mcts,iterations=10", "random,seed=1")
    assert (found["cases"], list(found["engines"])) == (3, ["mcts,iterations=10", "random,seed=1"])
    search = found["engines"]["mcts,iterations=10"]
    outlook = search["all"]["outlook"]["share"]
    assert outlook["low"] <= outlook["mean"] <= outlook["high"]
    assert outlook["mean"] == pytest.approx(sum(each[1][0] for each in search["regrets"]) / 3, abs=1e-4)
    assert search["less_than_first"]["outcome"]["points"] == {"mean": 0, "low": 0, "high": 0}
    assert len(data.read_bytes()) > len(made)  # the rollouts of new choices are kept
    others = ("random,seed=1", "random,seed=2")
    again = figures(here, *measure, *others)
    first = found["engines"]["random,seed=1"]["regrets"]
    assert again["engines"]["random,seed=1"]["regrets"] == first  # whatever else is measured
    assert "regret in share of the win, by the outlook" in here(*measure, *others).stdout


def test_cases_that_cannot_be_made_or_measured(tmp_path, here):
    path = tmp_path / "x.jsonl"
    done = here("regret.py", "make", "mexica", "--out", path, "--rollouts", 4, "--finished", 1)
    assert done.returncode == 2
    assert "--finished 1: expected 2 to the number of rollouts, 4" in done.stderr
    measure = ("regret.py", "measure", "mexica", "--data", path, "--engine")
    assert re.search(r"cannot read .*x\.jsonl: No such file", str(here(*measure, "greedy").returncode))
    done = here(*measure, "greedy", "greedy")
    assert done.returncode == 2
    assert "greedy is given twice; expected different engines" in done.stderr


@pytest.fixture
def hope(monkeypatch, capsys):
    """Return a function that runs hope.py in this process and returns what it prints."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = runpy.run_path(str(BENCHMARKS / "hope.py"))

    def run_here(*args):
        monkeypatch.setattr(sys, "argv", ["hope.py", *map(str, args)])
        script["main"]()
        return capsys.readouterr().out

    run_here.script = script
    return run_here


def test_hope(hope, tmp_path):
    record = (BENCHMARKS.parent / "examples" / "coatl_game.jsonl").read_bytes()
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(gzip.compress(record + b"no record\n" + record))
    args = (path, "--numbers", 2, "--every", 10, "--iterations", 20, "--set", "exploration=5")
    found = json.loads(hope(*args, "--json"))
    assert found["games"] == 2
    default, other = found["variants"]["default"], found["variants"]["exploration=5"]
    assert default["forecast"] - found["result"] == pytest.approx(default["hope"]["mean"], abs=1e-4)
    assert sum(fifth["decisions"] for fifth in default["fifths"]) == found["decisions"]
    assert default["brier_less_default"] == {"mean": 0, "error": 0}
    assert other["forecast"] != default["forecast"]
    difference = other["log_loss"] - default["log_loss"]
    assert other["log_loss_less_default"]["mean"] == pytest.approx(difference, abs=1e-4)
    opened = json.loads(hope(*args, "--open", "--play", 2, "--json"))
    assert opened["decisions"] <= found["decisions"]  # Coatl has nothing to show before the first turn
    assert opened["variants"]["default"]["forecast"] != default["forecast"]
    text = hope(*args)
    assert f"{found['decisions']} decisions of 2 games" in text
    assert text.count("exploration=5") == 2


def test_hope_shows_hands_to_all(hope):
    position = mexica_ai.Position.from_json(
        json.loads((BENCHMARKS.parent / "examples" / "coatl_midgame.json").read_text())
    )
    opened = hope.script["opened"](position)
    for before, after in zip(position.to_json()["seats"], opened.to_json()["seats"], strict=True):
        assert after["shown"] == after["hand"] == before["hand"]
    with pytest.raises(SystemExit, match="mexica has no hands"):
        hope.script["opened"](mexica_ai.new_game("mexica"))


def test_the_error_of_the_hope_is_by_games(hope):
    values, games = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1])
    # Two games are two numbers, not four: 0.5 is their mean, and the sums of a game are off it by 1.
    assert hope.script["estimate"](values, games) == {"mean": 0.5, "error": pytest.approx(math.sqrt(2) / 4, abs=1e-5)}
    one, half = hope.script["losses"](np.array([1.0, 0.5]), np.array([0.0, 0.5]))[0]
    assert one == pytest.approx(-math.log(1e-4))
    assert half == pytest.approx(math.log(2))


def test_what_hope_cannot_do(hope, capsys, tmp_path):
    for options, text in (
        ("explore=1", "no option 'explore'"),
        ("exploration=x", "expected exploration= and a number"),
    ):
        with pytest.raises(SystemExit):
            hope(tmp_path / "x.jsonl", "--set", options)
        assert text in capsys.readouterr().err
    with pytest.raises(SystemExit, match=r"hope\.py: .*No such file"):
        hope(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").touch()
    with pytest.raises(SystemExit, match="no decisions in these games"):
        hope(tmp_path / "x.jsonl")


def test_what_more_iterations_know(tmp_path, here):
    args = ("--game", "tzolkin", "--data", tmp_path / "d.jsonl", "--iterations", 4, 8, "--games", 5, "--played", 4)
    found = figures(here, "depth.py", *args)
    assert [row["iterations"] for row in found] == [4, 8]
    assert all(row["games"] == 5 and row["decisions"] > 10 and 0 < row["log_loss"] < 5 for row in found)
    # What the first number of iterations adds to the search before is what it adds to the leaf, in another regression.
    assert all(len(row[key]) == 2 for row in found for key in ("leaf", "search - leaf", "search - search before"))
    before = (tmp_path / "d.jsonl").read_bytes()
    assert figures(here, "depth.py", *args) == found
    assert (tmp_path / "d.jsonl").read_bytes() == before


def test_the_weights_of_depths_are_those_that_made_the_games(monkeypatch):
    """What was won is the leaf, all that the first search adds to it, and half of what the second one adds to that."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    depth = importlib.import_module("depth")
    draw = random.Random(1)
    games = []
    for _ in range(50):
        decisions = []
        for _ in range(20):
            leaf, first, second = draw.uniform(0.3, 0.6), draw.gauss(0, 0.1), draw.gauss(0, 0.1)
            won = leaf + first + second / 2 + draw.gauss(0, 0.01)
            decisions.append({"leaf": leaf, "shares": [leaf + first, leaf + first + second], "won": won})
        games.append({"decisions": decisions})
    short, long = depth.measure(games, [64, 256])
    assert short["search - search before"][0] == pytest.approx(1, abs=0.03)
    assert long["search - search before"][0] == pytest.approx(0.5, abs=0.03)
    assert long["search - leaf"][0] == pytest.approx(0.75, abs=0.05)
    assert "| 256 |" in depth.table(argparse.Namespace(game="nim"), [short, long])


@pytest.mark.real("processes")
def test_levels(tmp_path, here):
    args = ("--game", "nim", "--blocks", 2, "--pairs", 1, 2, "--journals", tmp_path)
    greedy, second = figures(here, "levels.py", *args)
    assert [greedy["level"], second["level"]] == [1, 2]
    assert greedy["games"] == second["games"] == 4
    assert 0 <= greedy["share"][1] <= greedy["share"][0] <= greedy["share"][2] <= 1
    # What is in the journals is not played again.
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(before) == 2
    assert figures(here, "levels.py", *args, "--pairs", 2) == [second]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("level", "share", "elo", "fits"),
    [
        (2, [0.65, 0.5, 0.8], [107.5, 0.0, 240.8], True),
        (2, [0.5, 0.4, 0.6], [0.0, -70.4, 70.4], False),
        (2, [0.9, 0.8, 0.95], [381.7, 240.8, 511.5], False),
        (2, [1.0, 0.6, 1.0], [None, 70.4, None], False),  # all games won
        (1, [0.0, 0.0, 0.4], [None, None, -70.4], True),
        (1, [0.5, 0.4, 0.6], [0.0, -70.4, 70.4], False),
        (2, [0.5, None, None], [0.0, None, None], False),  # of one block
    ],
)
def test_levels_fit_or_do_not(monkeypatch, tmp_path, level, share, elo, fits):
    monkeypatch.syspath_prepend(BENCHMARKS)
    levels = importlib.import_module("levels")
    engine = {"share": share, "elo": elo, "iterations_per_turn": 9}
    answer = argparse.Namespace(stdout=json.dumps({"games_counted": 4, "engines": [engine, {}], "builds": {"one": 4}}))
    monkeypatch.setattr(levels.subprocess, "run", lambda *args, **options: answer)
    row = levels.measure(argparse.Namespace(game="nim", journals=tmp_path, blocks=2, top=9, concurrency=1), level)
    known = {"level": level, "games": 4, "share": share, "elo": elo, "iterations": 9, "builds": ["one"]}
    assert row == known | {"fits": fits, "journal": levels.journal_name("nim", level, 9)}
    (line,) = levels.table(argparse.Namespace(game="nim"), [row]).splitlines()[2:]
    assert line.count("|") == 6
    assert "None" not in line
    assert ("out of range" in line) is not fits


def test_calibration(tmp_path, here):
    path, fitted = tmp_path / "games.jsonl", tmp_path / "map.json"
    args = ("--game", "coatl", "--data", path)
    plan = ("--iterations", 64, "--players", 2, "--scale", 0.004)

    for game in ("mexica", "coatl"):
        done = here("calibration.py", "collect", "--game", game, "--data", path, *plan, "--part", "fit")
        assert done.returncode == 0, done.stderr
    assert here("calibration.py", "collect", *args, *plan).returncode == 0
    before = path.read_bytes()
    assert here("calibration.py", "collect", *args, *plan).returncode == 0
    assert path.read_bytes() == before  # complete
    batches = [json.loads(line) for line in before.splitlines()]
    assert [(batch["game"], batch["made"]["part"]) for batch in batches] == [
        ("mexica", "fit"),
        ("coatl", "fit"),
        ("coatl", "test"),
    ]
    for batch in batches:
        assert all((game["number"] % 5 == 0) is (batch["made"]["part"] == "test") for game in batch["games"])
    done = here("calibration.py", "fit", *args, "--map", fitted)
    assert done.returncode == 0, done.stderr
    version = registry.get("coatl").weights().version
    assert json.loads(fitted.read_text())["weights"] == version
    done = here("calibration.py", "test", *args, "--map", fitted, "--json")
    (found,) = json.loads(done.stdout)
    assert done.returncode == (0 if found["passes"] else 1)
    assert found["setting"]["games"] == 5
    assert sum(row["shares"] for row in found["tenths"]) > 100
    assert all(row["from"] <= row["published"] <= row["from"] + 0.1 for row in found["tenths"])
    assert list(found["weights"]) == ["constant", "leaf", "search - leaf"]
    assert found["step"]["turns"] > 100
    assert "| to move | from 0." in here("calibration.py", "test", *args, "--map", fitted).stdout
    fitted.write_text(fitted.read_text().replace(version, "0" * 12))

    def refused(*args):
        done = here("calibration.py", *args)
        assert done.returncode
        return f"{done.returncode} {done.stderr}"

    assert "fitted with weights 000000000000" in refused("test", *args, "--map", fitted)
    path.write_bytes(before.replace(version.encode(), b"0" * 12))
    assert f"by weights {version}" in refused("test", *args)
    assert "nim has no weights to evaluate with" in refused("fit", "--game", "nim", "--data", path)


@pytest.fixture
def calibrating(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return argparse.Namespace(**runpy.run_path(str(BENCHMARKS / "calibration.py")))


def searched(share, **others):
    """Return a search of seat 0 that found this share."""
    one = {"seat": 0, "value": [share, 1 - share], "leaf": 0.5, "facts": [6.0, 0.0], "exact": False, "forced": False}
    return one | {"after": None} | others


def test_calibration_goes_through_the_records_of_others(calibrating):
    record = json.loads((BENCHMARKS.parent / "examples" / "coatl_game.jsonl").read_text().splitlines()[0])
    made = {"seed": 1, "iterations": 8, "players": 2, "every": 10, "source": "others", "part": "test"}
    weights = registry.get("coatl").weights()
    (game,) = calibrating.play("coatl", weights, made, 0, [(7, record)])["games"]
    seat_turns = len(record["turns"])
    assert seat_turns // 20 <= len(game["searched"]) <= seat_turns // 10 + 1
    assert game["number"] == 7
    assert sum(game["won"]) == 1
    for one in game["searched"]:
        assert one["after"] is not None
        assert one["facts"][0] in (0.0, 3.0)  # of one iteration if the turn is forced
    (of_fit,) = calibrating.play("coatl", weights, made | {"part": "fit"}, 0, [(7, record)])["games"]
    assert game["searched"][0] | {"after": None} == of_fit["searched"][0]  # the fit needs no search after it


def test_calibration_finds_what_searching_adds(calibrating):
    random_ = random.Random(1)
    games = []
    for _ in range(4000):
        truth = random_.uniform(0.2, 0.8)
        leaf, share = (truth + random_.uniform(-0.15, 0.15) for _ in range(2))
        won = float(random_.random() < truth)
        games.append({"searched": [searched(share, leaf=leaf)], "won": [won, 1 - won]})
    found = calibrating.weights_of(games)
    weight, error = found["search - leaf"]
    # The errors of both are equal, of variance 0.0075 beside 0.03 of the truth: each has the weight 0.03 / 0.0675.
    assert abs(weight - 0.444) < 4 * error < 0.4
    rows = calibrating.tenths(games)
    for row in rows:
        assert row["to_move"]
        assert row["won"] == pytest.approx(row["published"], abs=0.1 + 4 * row["error"])
    # Positions of the same game tell nothing more, and do not make the errors smaller.
    repeated = [game | {"searched": game["searched"] * 10} for game in games]
    for name, pair in calibrating.weights_of(repeated).items():
        assert pair == pytest.approx(found[name]), name
    for row, again in zip(rows, calibrating.tenths(repeated), strict=True):
        assert again["error"] == pytest.approx(row["error"])
    # The borders of tenths belong to those above.
    edges = [{"searched": [searched(share)], "won": [1.0, 0.0]} for share in (0.0, 0.3, 0.7, 1.0)]
    assert [row["from"] for row in calibrating.tenths(edges)] == [0.0, 0.3, 0.7, 0.9]


@pytest.mark.parametrize(
    ("wins", "count", "passes"),
    [(0.5, 400, True), (0.7, 400, False), (0.7, 99, True), (0.58, 400, True), (0.62, 400, False)],
)
def test_a_tenth_passes_within_the_aim_or_two_errors(calibrating, wins, count, passes):
    games = [
        {"searched": [searched(0.55)], "won": [won, 1 - won]} for won in (float(i < wins * count) for i in range(count))
    ]
    (row,) = calibrating.tenths(games)
    assert row["passes"] is passes


def test_steps_are_of_the_same_seat(calibrating):
    one = calibrating.calibration.Calibration([(6, 6), (0, 0)], [1] * 4, [-1] * 4, [1] * 4)
    after = searched(0.5, seat=1)  # of the other seat's search
    game = {"searched": [searched(0.6, after=after), searched(0.4, after=[0.0, 1.0])], "won": [0.0, 1.0]}
    shown = [calibrating.published(game, one)] * 3
    before, later = one.shares([0.6, 0.4], 0, (6.0, 0.0))[0], one.shares([0.5, 0.5], 1, (6.0, 0.0))[0]
    last = one.shares([0.4, 0.6], 0, (6.0, 0.0))[0]
    found = calibrating.steps(shown)
    assert found["mean"] == pytest.approx((later - before - last) / 2)
    assert not found["passes"]
    assert calibrating.published(game, None)["searched"][0]["value"] == [0.6, 0.4]


def test_bench_rules_prints_the_budgets(here):
    done = here("bench_rules.py", "--seconds", 0.001, "--repeats", 1, "--deals", 1)
    assert done.returncode == 0, done.stderr
    assert "7,500/4,100" in done.stdout


def test_bench_rules_of_a_game_without_budgets(here):
    done = here("bench_rules.py", "--game", "nim", "--seconds", 0.001, "--repeats", 1, "--deals", 1)
    assert done.returncode == 0, done.stderr
    assert [line.split()[2] for line in done.stdout.splitlines()[4:7]] == ["-"] * 3


@pytest.mark.real("processes")
@pytest.mark.slow
def test_bench_search(bench_search, capsys):
    args = ("--seconds", 0.1, "--repeats", 1, "--calls", 2, "--time", 0.02, "--threads", "2", "--memory", 64)
    found = figures(run, "bench_search.py", *args)
    bench_search.print_table(found)
    assert "budget of equal time 1.8" in capsys.readouterr().out
    for key in (
        "iterations_per_s",
        "nodes_per_s",
        "distinct_turns_per_s",
        "ratio_in_equal_time",
        "ratio_for_equal_work",
        "ratio_of_separate_searches",
    ):
        assert list(found[key]) == ["1", "2"]
    assert min(found["iterations_per_s"].values()) > 0
    assert found["work_iterations"] > 0
    for key in ("ratio_in_equal_time", "ratio_for_equal_work", "ratio_of_separate_searches"):
        assert found[key]["1"] == 1
        assert found[key]["2"] > 0
    # With one repeat the median of the ratios is the ratio of the rates, which are rounded.
    rates = found["iterations_per_s"]
    assert found["ratio_in_equal_time"]["2"] == pytest.approx(rates["2"] / rates["1"], rel=1e-3, abs=1e-3)
    assert found["bytes_per_node"] > 0
    for key in ("late_ms", "stop_ms"):
        assert list(found[key]) == ["1", "2"]
        assert all(list(row) == ["min", "p50", "p99", "max"] for row in found[key].values())


@pytest.fixture
def bench_search(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bench_search")


def test_bench_search_compares_threads_in_three_ways(bench_search, monkeypatch):
    """Each way has its own limit and its own runs of one thread to be compared with."""
    rates = {  # by searches at a time, threads, and whether time is the limit
        (1, 1, True): 100,
        (1, 2, True): 170,
        (1, 1, False): 90,
        (1, 2, False): 171,
        (2, 1, True): 97,
    }

    def run_together(state, count, threads, limit, memory_mb, seed):
        rate = rates[count, threads, "time_s" in limit]
        iterations = limit.get("iterations", 7 * rate)
        assert limit == {"time_s": 7} or iterations == 700
        return [
            {
                "iterations": iterations,
                "nodes": 1,
                "distinct_turns": 1,
                "seconds": iterations / rate,
                "stop_reason": "time",
            }
        ] * count

    monkeypatch.setattr(bench_search, "run_together", run_together)
    found = bench_search.measure_speed(None, [1, 2], 7, 3, 64)
    assert found["work_iterations"] == 700
    assert found["iterations_per_s"] == {"1": 100, "2": 170}
    assert found["ratio_in_equal_time"] == {"1": 1, "2": 1.7}
    assert found["ratio_for_equal_work"] == {"1": 1, "2": 1.9}
    assert found["ratio_of_separate_searches"] == {"1": 1, "2": 1.94}


def test_bench_search_takes_the_median_of_ratios_within_repeats(bench_search):
    def run(*rates):
        return [{"iterations": rate, "seconds": 1} for rate in rates]

    runs, ones = [run(10, 8), run(4, 2), run(90, 90)], [run(10), run(2), run(100)]
    assert bench_search.median_ratio(runs, ones) == 1.8


@pytest.mark.real("processes")
@pytest.mark.slow
def test_bench_arena(monkeypatch, capsys):
    args = ("--time", 0.001, "--game", "nim")
    found = figures(run, "bench_arena.py", *args)
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = importlib.import_module("bench_arena")
    monkeypatch.setattr(script, "measure", lambda args: found)
    monkeypatch.setattr(sys, "argv", ["bench_arena.py", *map(str, args)])
    script.main()
    assert "budget 2 %" in capsys.readouterr().out
    assert found["games"] == 2
    assert 0 < found["engines_s"] < found["wall_s"]
    assert min(found["percent"], found["ms_per_turn"], found["start_s"]) > 0


@pytest.mark.real("processes")
@pytest.mark.slow
def test_bench_server():
    args = ("--clients", 4, "--heavy", 3, "--memory", 2)
    found = figures(run, "bench_server.py", "--seconds", 1, *args)
    assert sum(found["outcomes"]["BestTurn"].values()) > 0
    assert found["methods"]["Health.Check"]["calls"] > 0
    assert found["rejected_ms"]["over_50_ms"] <= found["rejected_ms"]["calls"]
    assert found["total_memory_mb"] == 4
    assert found["start_cpu_s"] > 0
    assert found["peak_memory_mb"] >= max(found["memory_mb"])
    assert not any("INTERNAL" in counts or "UNKNOWN" in counts for counts in found["outcomes"].values())
    table = runpy.run_path(str(BENCHMARKS / "bench_server.py"))["table"](found)
    assert "4 MB (total_memory_mb)" in table


@pytest.mark.real("processes")
@pytest.mark.slow
def test_bench_service(capsys):
    found = figures(run, "bench_service.py", "--calls", 8)
    runpy.run_path(str(BENCHMARKS / "bench_service.py"))["print_table"](found)
    assert "connection cut to the end" in capsys.readouterr().out
    for key in ("one_iteration_ms", "cancel_to_idle_ms", "killed_to_idle_ms", "cut_to_idle_ms"):
        assert list(found[key]) == ["min", "p50", "p99", "max"]
        assert 0 < found[key]["min"] < 10_000


@pytest.mark.real("processes")
def test_one_tree_a_thread_answers_with_the_visits_of_both():
    request = {
        "id": 1,
        "position": json.loads((BENCHMARKS.parent / "examples" / "mexica_midgame.json").read_text()),
        "limits": {"iterations": 600},
        "seed": 1,
    }
    command = [sys.executable, str(BENCHMARKS / "one_tree_a_thread.py"), "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        # Its input stays open until it has answered: the end of it would stop the search.
        print(json.dumps(request), file=engine.stdin, flush=True)
        answer = json.loads(engine.stdout.readline())
        engine.stdin.close()
    assert answer["info"]["iterations"] == 600
    assert answer["info"]["threads"] == 2


def test_trees_are_merged_by_visits():
    script = runpy.run_path(str(BENCHMARKS / "one_tree_a_thread.py"))
    position = mexica_ai.new_game("nim", players=2, piles=[2])
    one = mexica_ai.best_turn(position, iterations=100, seed=1)
    first, second = (candidate.turn for candidate in one.candidates)

    def tree(*candidates):
        return dataclasses.replace(
            one,
            candidates=[
                dataclasses.replace(one.candidates[0], turn=turn, visits=visits, value=[value, 1 - value])
                for turn, visits, value in candidates
            ],
        )

    merged = script["_merge"]([tree((first, 60, 0.5), (second, 40, 0.9)), tree((second, 80, 0.6))], 5)
    assert [candidate.visits for candidate in merged.candidates] == [120, 60]
    assert merged.turn == second
    assert merged.value == pytest.approx([0.7, 0.3])
    assert merged.iterations == 2 * one.iterations


@pytest.mark.real("processes")
def test_attack_drain():
    found = figures(run, "attack_drain.py", "--seconds", 2, "--callers", 3, "--grace", 0.5)
    assert found["lost"] == 0
    assert found["calls"] == found["outcomes"]["OK"]["calls"] > 0
    assert (found["long_search"], found["exit_code"]) == ("STOP_REASON_STOPPED", 0)


@pytest.mark.real("processes")
def test_attack_fair():
    found = figures(run, "attack_fair.py", "--seconds", 1, "--programs", 4)
    assert found["one"]["answered"] >= 0.9
    assert found["many"]["OK"]["calls"] > 0


@pytest.mark.real("processes")
@pytest.mark.parametrize("kind", ["none", "wrong-token", "tenant"])
def test_attack_flood(kind):
    sizes = ("--connections", 4, "--streams", 25, "--settle", 0.1)
    asks = 2 if kind == "none" else 6  # beside the flood some may be late
    found = figures(run, "attack_flood.py", "--kind", kind, "--seconds", 20, "--asks", asks, *sizes)
    assert found["good_searches"]["OK"]["calls"] > 0
    assert (found["flood_calls_per_s"] > 0) == (kind != "none")


@pytest.mark.real("processes")
def test_bench_web():
    found = figures(run, "bench_web.py", "--clicks", 4, "--seconds", 0.3, "--rounds", 1)
    for key in ("draft_p95_ms", "first_update_ms", "left_to_ended_ms", "memory_mb", "strength"):
        assert found[key] > 0, key
    assert found["draft_and_picture_p95_ms"] > found["draft_p95_ms"]
    assert found["snapshot_gzip_kb"] < 16
    assert 0 < found["update_kb"] < 16  # the faster the machine is, the longer are the lines


def test_bench_draw(here):
    found = figures(here, "bench_draw.py", "--repeats", 1)
    assert found.keys() == {"mexica", "coatl", "tzolkin"}
    for row in found.values():
        assert row["gzip_kb"] <= 16
        assert row["kb"] <= 120


def test_examples_say_which_engine_made_them():
    """Each recorded example has the version and the signature of its engine; say which are older than what ships."""
    older = []
    for path in sorted((BENCHMARKS.parent / "examples").glob("*.jsonl")):
        game = json.loads(path.read_text().splitlines()[0])["game"]
        folder = BENCHMARKS / "signature"
        expected = ((folder / game if (folder / game).is_dir() else folder) / "signature.txt").read_text().strip()
        for record in map(json.loads, path.read_text().splitlines()):
            build = re.fullmatch(r"mexica-ai (\S+), signature (\d+)", record["build"])
            assert build, f"{path.name}: build {record['build']!r}; expected a version and a signature"
            if build.groups() != (mexica_ai.__version__, expected):
                older.append(path.name)
    if older:
        pytest.skip(f"older than the engine that ships: {', '.join(older)} (benchmarks/make_examples.py plays anew)")


def test_evaluation(tmp_path, here):
    path = tmp_path / "games.jsonl"
    record = json.loads((BENCHMARKS.parent / "examples" / "coatl_game.jsonl").read_text().splitlines()[0])
    path.write_text("".join(json.dumps({"record": record} if number else record) + "\n" for number in range(4)))
    found = figures(here, "evaluation.py", path, "--positions", 12)
    ((version, parts),) = found.items()
    assert version == registry.get("coatl").weights().version
    ((seats, part),) = parts.items()
    assert (seats, part["games"]) == (str(record["start"]["players"]), 4)
    assert 0 < part["log_loss"][0] < 3
    assert len(part["points"]) == len(part["points_of_all_seats"]) == 5
    last = [row for row in part["points_of_all_seats"] if row][-1]
    assert abs(last[0]) < 15
    half = figures(here, "evaluation.py", path, "--positions", 12, "--every", 2)[version][seats]
    assert (half["games"], half["positions"] * 2) == (2, part["positions"])
    assert "has no games of mexica" in here("evaluation.py", path, "--game", "mexica").stderr


def test_evaluation_finds_by_how_much_points_are_wrong(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    script = runpy.run_path(str(BENCHMARKS / "evaluation.py"))
    assert script["mean"]([(1, 2.0), (2, 4.0)]) == [3.0, pytest.approx(0.7071, abs=1e-4)]
    # Figures of the same game tell nothing more.
    assert script["mean"]([(1, 2.0), (1, 2.0), (2, 4.0), (2, 4.0)]) == script["mean"]([(1, 2.0), (2, 4.0)])


def test_solved_counts_the_last_turns_that_are_proved(here):
    sizes = ("--games", 1, "--play", 4, "--iterations", 600, "--last", 2)
    found = figures(here, "solved.py", "--game", "tzolkin", *sizes)
    assert [row["turns"] for row in found["rows"]] == [1, 2]
    assert all(0 <= row["solved"] <= row["positions"] <= 1 for row in found["rows"])

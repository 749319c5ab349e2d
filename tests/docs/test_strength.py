"""docs/strength.md and the README's table are what `make strength` writes, of the weights that ship and no others."""

import json
import runpy
import shlex
from pathlib import Path

import pytest

from mexica_ai.cli.main import main as mexica_ai
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError

pytestmark = pytest.mark.usefixtures("shipped_weights")

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
ENGINES = json.loads((RESULTS / "mexica-2-ladder.json").read_text())["engines"]


@pytest.fixture(scope="module")
def strength():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return runpy.run_path(str(ROOT / "benchmarks" / "strength.py"))


@pytest.fixture
def result(strength):
    return next(data for data in strength["read_results"](RESULTS) if data["kind"] == "match")


def test_the_pages_are_what_the_results_give(strength):
    written = strength["pages"](strength["read_results"](RESULTS), (ROOT / "README.md").read_text())
    assert {path.name for path in written} == {"strength.md", "README.md"}
    for path, text in written.items():
        assert path.read_text() == text, "make strength"


def test_the_ratings_of_levels_are_what_the_results_give(strength):
    text = strength["ratings"](strength["read_results"](RESULTS))
    assert (ROOT / "mexica_ai" / "analysis" / "ratings.json").read_text() == text, "make strength"
    steps = [
        {"level": 1, "games": 2, "elo": [-40, -60, -20]},
        {"level": 2, "games": 2, "elo": [100, 70, 130]},
        {"level": 3, "games": 2, "elo": [50, 10, 90]},
        {"level": 4, "games": 2, "elo": [200, None, None]},
        {"level": 5, "games": 2, "elo": [100, 70, 130]},
    ]
    measured = json.loads((RESULTS / "mexica-levels.json").read_text())
    found = json.loads(strength["ratings"]([measured | {"levels": steps}]))["games"]["mexica"]
    # `greedy` has 1000. The errors 20, 30 and 40 add up to 54; above a level that was not measured nothing is known.
    assert [each["elo"] for each in found["levels"]] == [[960, 940, 980], [1060, 1024, 1096], [1110, 1056, 1164]]
    # Level 3 against `greedy` is the better anchor: level 1 may lose all games.
    anchored = [{"level": 0, "games": 2, "elo": [300, 260, 340]}, steps[0] | {"elo": [None, None, -200]}, *steps[1:]]
    again = json.loads(strength["ratings"]([measured | {"levels": anchored}]))["games"]["mexica"]
    assert [each["elo"] for each in again["levels"]] == [[1150, 1086, 1214], [1250, 1193, 1307], [1300, 1260, 1340]]
    # Levels that err otherwise now were measured in vain; and without `greedy` there is no anchor.
    old = [each | {"settings": [30, 0.5, 5.0]} for each in steps]
    assert json.loads(strength["ratings"]([measured | {"levels": old}]))["games"] == {}
    settings_of = strength["is_of_levels_now"].__globals__["settings_of"]
    now = [each | {"settings": settings_of(each["level"], "mexica")} for each in steps]
    assert json.loads(strength["ratings"]([measured | {"levels": now}]))["games"] == {"mexica": found}
    assert json.loads(strength["ratings"]([measured | {"levels": steps[1:]}]))["games"] == {}
    assert json.loads(strength["ratings"]([measured | {"weights": "0" * 12}]))["games"] == {}


def test_levels_of_which_one_won_all_games_are_read_and_shown(strength, tmp_path):
    measured = json.loads((RESULTS / "mexica-levels.json").read_text())
    steps = [
        {"level": 1, "games": 50, "elo": [None, None, -307]},
        {"level": 2, "games": 50, "elo": [None, 280.4, None]},
    ]
    steps += [{"level": 3, "games": 50, "elo": [-7, None, 40]}, {"level": 4, "games": 50, "elo": [None, None, None]}]
    (tmp_path / "a.json").write_text(json.dumps(measured | {"levels": steps}))
    (read,) = strength["read_results"](tmp_path)
    text = strength["page"]([read], dict.fromkeys(strength["GAMES"], "0" * 12), [])
    for row in ("| 1 | below -307 | 50 |", "| 2 | above +280 | 50 |", "| 3 | -7 | 50 |", "| 4 | | 50 |"):
        assert row in text
    assert json.loads(strength["ratings"]([read]))["games"] == {}


def test_only_what_ships_counts(strength, result):
    readme = (ROOT / "README.md").read_text()
    without = strength["pages"]([], readme)
    old = result | {"weights": "0" * 12}
    assert strength["pages"]([old], readme) == without
    assert strength["pages"]([result], readme) != without
    for text in without.values():
        assert text.count("not measured") >= 12
    for path in RESULTS.glob("*.json"):
        data = json.loads(path.read_text())
        assert data["weights"] == registry.get(data["game"]).weights().version, f"{path.name}: of weights of before"


@pytest.mark.parametrize(
    ("players", "engines", "column"),
    [
        (2, ["mcts,time=0.2", "greedy"], "greedy"),
        (2, ["mcts,iterations=100", "uct,iterations=100,name=u"], "uct"),
        (2, ["mcts,time=0.2,name=a", "mcts,time=0.1,name=b"], "doubling"),
        (2, ["mcts,time=0.3,name=a", "mcts,time=0.1,name=b"], None),
        (2, ["mcts,time=0.2,name=a", "mcts,iterations=50,name=b"], None),
        (2, ["mcts,time=0.2,name=a", "mcts,time=0.1,weights=x.json"], None),
        (2, ["mcts,weights=x.json", "greedy"], None),
        (2, ["mcts,level=3", "greedy"], None),
        (2, ["greedy", "mcts"], None),
        (3, ["mcts", "greedy", "greedy,name=g"], None),
        (4, ["mcts", "beam,name=a", "beam,name=b", "beam,name=c"], "four"),
        (4, ["mcts", "beam,name=a", "beam,name=b", "greedy,name=c"], None),
        (4, ["mcts", "mcts,level=3,name=a", "mcts,level=3,name=b", "mcts,level=3,name=c"], None),
        (2, ["mcts", "greedy,weights=x.json"], None),
    ],
)
def test_the_column_of_a_match(strength, players, engines, column):
    assert strength["column_of"]({"players": players, "engines": engines}) == column


def test_with_four_seats_the_readme_has_the_match_against_uct(strength):
    def match(kind, games):
        engines = ["mcts", *(f"{kind},name={name}" for name in "abc")]
        return {"kind": "match", "game": "nim", "players": 4, "engines": engines, "games": games}

    others, against_uct = [match("beam", 100), match("greedy", 200)], match("uct", 40)
    assert strength["best"]([*others, against_uct], "nim", "four") == against_uct
    assert strength["best"](others, "nim", "four") is None


def test_the_readme_compares_games_by_iterations(strength):
    def match(limit, games):
        engines = [f"mcts,{limit[0]},name=a", f"mcts,{limit[1]},name=b"]
        return {"kind": "match", "game": "nim", "players": 2, "engines": engines, "games": games}

    by_time, short = match(("time=0.4", "time=0.2"), 400), match(("iterations=20", "iterations=10"), 40)
    long = match(("iterations=2000", "iterations=1000"), 100)
    assert strength["best"]([by_time, short, long], "nim", "doubling") == long
    assert strength["best"]([by_time], "nim", "doubling") == by_time


def test_the_builds_of_a_result_are_named(strength, result):
    place = f"commit {result['commit']}, {result['machine']}"
    build = "mexica-ai 0.2.0, code 0123456789ab"
    for builds, release, expected in (
        (build, "0.2.0", build),
        (build, "0.3.0", f"{build} (0.3.0 by its commit)"),
        (f"mexica-ai 0.1.0, code 1; {build}", "0.2.0", f"mexica-ai 0.1.0, code 1; {build}"),
    ):
        assert strength["played_by"](result | {"build": builds, "release": release}) == f"{expected}, {place}"
    unknown = {key: value for key, value in result.items() if key != "build"} | {"release": "0.2.0"}
    assert strength["played_by"](unknown) == f"mexica-ai 0.2.0, {place}"


@pytest.mark.parametrize(
    ("iterations", "shown"),
    [
        ([20.0, 9.6], "20 / 10"),
        ([6266.0, 4885.2, 5786.6, 5422.9], "6,266 / 5,365"),
        ([6266.0, 4885.2, None, 5422.9], "6,266 / ?"),
        ([None, 1.0], "? / 1"),
    ],
)
def test_the_iterations_of_three_others_are_their_mean(strength, result, iterations, shown):
    assert strength["row"](result | {"iterations_per_turn": iterations})[3] == shown


def test_uct_is_no_yardstick_where_it_is_rated_below_random(strength):
    rated = {data["game"]: data for data in strength["read_results"](RESULTS) if data["kind"] == "ladder"}
    below = {game for game, data in rated.items() if strength["is_uct_below_random"](data)}
    assert below == {"mexica"}, "the README says so"
    without = [each for each in rated["mexica"]["engines"] if each["spec"] != "random"]
    assert not strength["is_uct_below_random"](rated["mexica"] | {"engines": without})
    assert strength["page"](list(rated.values()), dict.fromkeys(rated, "0" * 12), []).count("no yardstick") == 1


@pytest.mark.real("processes")
def test_a_result_is_made_of_a_journal(strength, tmp_path):
    journal = str(tmp_path / "j.jsonl")
    engines = ["--engine", "mcts,iterations=5,threads=1", "--engine", "greedy"]
    command = ["arena", "--game", "mexica", "--players", "2", "--blocks", "2", "--seed", "3", *engines]
    assert mexica_ai([*command, "--journal", journal]) == 0
    made = strength["result_of"](journal, "abcdef0")
    mean, low, high = made["share"]
    assert 0 <= low <= mean <= high <= 1
    assert (made["games"], made["players"], made["game"]) == (4, 2, "mexica")
    assert 1 <= made["iterations_per_turn"][0] <= 5
    again = shlex.split(made["command"])
    assert again[:2] == ["mexica-ai", "arena"]
    assert {"--seed", "3", "--blocks", "2"} <= set(again)
    assert "--reproducible" not in again
    first = json.loads(Path(journal).read_text().splitlines()[0])
    assert (made["commit"], made["build"], made["date"]) == ("abcdef0", first["build"], first["started_at"][:10])
    assert made["build"].startswith(f"mexica-ai {made['release']}, ")
    path = strength["write_result"](made, tmp_path)
    assert path.name == "mexica-2-greedy-iterations5.json"
    assert strength["read_results"](tmp_path) == [made]
    readme = "a\n<!-- strength -->\nold\n<!-- /strength -->\nz\n"
    (row,) = [line for line in strength["pages"]([made], readme)[ROOT / "README.md"].splitlines() if "Mexica" in line]
    assert row.startswith(f"| Mexica | {100 * mean:.1f} % (")
    assert row.endswith("4 games at 5 iterations | not measured | not measured | not measured |")


@pytest.mark.real("processes")
def test_a_match_of_other_games_or_weights_is_refused(strength, tmp_path):
    for game, problem in (("nim", "expected one of mexica"), ("mexica", "the first engine has weights None")):
        journal = str(tmp_path / f"{game}.jsonl")
        command = ["arena", "--game", game, "--engine", "random", "--engine", "random,name=r", "--blocks", "1"]
        assert mexica_ai([*command, "--journal", journal]) == 0
        with pytest.raises(MexicaAIError, match=problem):
            strength["result_of"](journal)


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--max-turns", "3"], "max_turns is 3; expected None, as it is by default"),
        (["--clock", "9+1"], r"clock is \(9.0, 1.0\); expected None"),
        ([], "played by a build of before; this is mexica-ai .*: --commit names"),
    ],
)
def test_a_command_or_a_commit_that_is_not_known_is_refused(strength, tmp_path, options, problem):
    journal = tmp_path / "j.jsonl"
    engines = ["--engine", "mcts,iterations=2,threads=1", "--engine", "greedy"]
    assert mexica_ai(["arena", "--game", "coatl", "--blocks", "1", *engines, *options, "--journal", str(journal)]) == 0
    records = [json.loads(line) | {"build": "a build of before"} for line in journal.read_text().splitlines()]
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(MexicaAIError, match=problem):
        strength["result_of"](str(journal))


@pytest.mark.real("processes")
def test_a_repeatable_match_is_repeated_by_its_command(strength, tmp_path):
    """The same command gives the same result."""
    command = "mexica-ai arena --game mexica --blocks 1 --reproducible"
    command += " --engine mcts,iterations=3,threads=1 --engine greedy"
    results = []
    for name in ("a", "b"):
        journal = str(tmp_path / f"{name}.jsonl")
        assert mexica_ai([*shlex.split(command)[1:], "--journal", journal]) == 0
        results.append(strength["result_of"](journal, "abcdef0"))
        command = results[-1]["command"]
    assert "--reproducible" in command
    assert results[0] == results[1]


def test_all_results_are_read_strictly(strength, tmp_path):
    for path in RESULTS.glob("*.json"):
        data = json.loads(path.read_text())
        spoiled = {
            "match": {"elo": [1.0], "iterations_per_turn": [], "players": 5, "engines": ["mcts"]},
            "levels": {"levels": [{"level": 1, "games": 2, "elo": [3.0]}]},
            "shares": {"tenths": [[0.1]], "weight_of_search": [1.0]},
            "ladder": {"players": 5, "engines": [each | {"rating": [3.0]} for each in ENGINES]},
        }[data["kind"]]
        for key, value in spoiled.items():
            (tmp_path / "a.json").write_text(json.dumps(data | {key: value}))
            with pytest.raises(MexicaAIError, match=r"a\.json: .*expected"):
                strength["read_results"](tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"games": "80"}, 'games: given "80"; expected an integer'),
        ({"weights": "w3"}, "expected 12 hexadecimal digits"),
        ({"share": [1.5, 0.1, 0.9]}, "share: expected a mean and its interval"),
        ({"share": [0.5]}, "share: expected a mean and its interval"),
        ({"kind": "luck"}, 'kind "luck"; expected one of match, levels, ladder, shares'),
        ({"engines": ["mtcs", "greedy"]}, 'did you mean "mcts"?'),
        ({"wieghts": "x"}, 'did you mean "weights"?'),
        ({"format": 2}, "format 2; expected 1"),
    ],
)
def test_what_is_no_result_is_refused(strength, result, tmp_path, change, problem):
    (tmp_path / "a.json").write_text(json.dumps(result | change))
    with pytest.raises(MexicaAIError) as error:
        strength["read_results"](tmp_path)
    assert problem in str(error.value)
    assert "a.json" in str(error.value) or "engine spec" in str(error.value)

"""The README and the pages of docs/ are correct: examples run, excerpts and lists agree with the code.

The commands of docs/cli.md, with what they print, are tested by tests/cli/test_cli.py, the benchmarks by
tests/docs/test_benchmarks.py. Searches are cut short here.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import httpx
import pytest
from here import Here

import mexica_ai as ai
from cext.core.search.options import OPTIONS
from mexica_ai.analysis.drill import exercise_of
from mexica_ai.cli.main import main
from mexica_ai.game import registry

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PAGES = ["README.md", "cext/README.md", "mexica_ai/README.md", "benchmarks/README.md"]
PAGES += sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))
# Their links are checked, no more.
LINKING = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/fuzz/README.md", "examples/plugin_game/README.md"]
LINKING += [f"examples/clients/{name}/README.md" for name in ("go", "node", "typescript")]
SEARCH_S = 0.1  # replaces the time limits of the examples
# Commands that are not run, by how they begin: set-up and long runs, tools of others, and the server, which a
# fixture runs.
NOT_RUN = (
    "make ",
    "sudo ",
    "pip ",
    ". .venv/bin/activate",
    "mexica-ai serve",
    "mexica-ai web",
    "grpcurl ",
    "jq ",
)
QUOTED = ("python", "cython", "proto")  # languages of excerpts
TESTED_ELSEWHERE = ("docs/cli.md", "benchmarks/README.md")
SERVER_ADDRESS = re.compile(r"(?:127\.0\.0\.1|localhost):50051")
HTTP_ADDRESS = re.compile(r"(?:127\.0\.0\.1|localhost):8081")


def blocks(page, *languages):
    """Yield (line number, text) of the fenced blocks of a page in one of the languages."""
    text = (ROOT / page).read_text()
    for block in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE):
        if block[2] in languages:
            code = re.sub(f"^{block[1]}", "", block[3], flags=re.MULTILINE)  # in a list it is indented
            yield text[: block.start()].count("\n") + 1, code


def excerpt_of(code):
    """Return the file that a block is an excerpt of, by the comment in its first line; None if it is none."""
    match = re.match(r"(?:#|//) ([\w/]+\.\w+)\n", code)
    return ROOT / match[1] if match else None


def shortened(text, server):
    """Return an example with short time limits, and the address of the running server."""
    text = re.sub(r"time_s=[\d.]+", f"time_s={SEARCH_S}", text)
    text = re.sub(r"--time [\d.]+", f"--time {SEARCH_S}", text)
    text = re.sub(r"(mexica-ai arena .*--time )[\d.]+", r"\g<1>0.01", text)  # for each turn of whole games
    text = re.sub(r"--duration [\d.]+", "--duration 0.5", text)
    few = "__import__('dataclasses').replace(SMALL, players='2', deep=12, walks=3)"
    text = text.replace("settings=SMALL", f"settings={few}")
    return HTTP_ADDRESS.sub(server.http, SERVER_ADDRESS.sub(server, text))


class Address(str):
    """That of a running server, and that of its door for HTTP."""

    http: str


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen(
        [SCRIPTS / "mexica-ai", "serve", "--port", "0", "--http-port", "0", "--max-time", str(SEARCH_S)],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        address = Address(process.stdout.readline().removeprefix("listening on ").strip())
        address.http = process.stdout.readline().removeprefix("HTTP on ").strip()
        yield address
        process.terminate()


@pytest.fixture
def workplace(tmp_path):
    """Return a directory with examples/ at hand, and the environment in which commands are found."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path, {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}


def python_pages():
    return [page for page in PAGES if any(not excerpt_of(code) for _, code in blocks(page, "python"))]


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("page", python_pages())
def test_python_examples_run(page, server, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(registry, "_registered", {})  # games that the page adds
    namespace = {"__name__": page}
    for line, code in blocks(page, "python"):
        if not excerpt_of(code):
            # Leading newlines make a traceback show the page's line numbers.
            exec(compile("\n" * line + shortened(code, server), ROOT / page, "exec"), namespace)


def commands(page):
    """Return the shell commands of a page: lines that begin with `$ ` in blocks of any kind of shell."""
    found = []
    for _, text in blocks(page, "console", "sh", ""):
        found += re.findall(r"^\$ (.*(?:(?<=[|\\])\n.*)*)", text, re.MULTILINE)
    return found


@pytest.fixture(scope="module")
def fonts(tmp_path_factory):
    """Return a folder with matplotlib's list of fonts: where it has none, it says so if making one takes long."""
    folder = tmp_path_factory.mktemp("matplotlib")
    environment = {**os.environ, "MPLCONFIGDIR": str(folder)}
    command = [sys.executable, "-P", "-c", "import matplotlib.font_manager"]
    subprocess.run(command, env=environment, capture_output=True, timeout=120)
    return folder


@pytest.fixture
def run(workplace, fonts, monkeypatch, capfd, shipped_weights):
    """Return a function that runs a command in the workplace and returns its exit code and standard error.

    That is in this process, unless a shell or worker processes (`--concurrency`) take part.
    """
    folder, environment = workplace
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", environment["PATH"])
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))  # where `play` keeps games
    monkeypatch.setenv("MPLCONFIGDIR", str(fonts))
    monkeypatch.setattr(sys, "path", sys.path[:])  # engines in Python may add to it
    monkeypatch.setattr("mexica_ai.arena.pool.GamePool", Here)

    def run_here(command):
        if not command.startswith("mexica-ai ") or set("|&;<>()$`\\*?[") & set(command) or "--concurrency" in command:
            done = subprocess.run(
                ["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
            )
            return done.returncode, done.stderr
        with open(os.devnull) as nothing:
            monkeypatch.setattr(sys, "stdin", nothing)
            code = main(shlex.split(command)[1:])
        return code, capfd.readouterr().err

    return run_here


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page not in TESTED_ELSEWHERE and commands(page)])
def test_commands_run(page, server, run):
    for command in commands(page):
        if command.startswith(NOT_RUN):
            continue
        if command.startswith("curl ") and not shutil.which("curl"):
            continue  # what they ask is tested by test_what_is_asked_by_curl
        assert command.startswith(("mexica-ai ", "python ", "curl ")), f"neither run nor listed in NOT_RUN: {command}"
        script = shortened(command, server)
        if script.startswith("python examples/client.py"):
            script += f" {server}"  # its second argument, 127.0.0.1:50051 if left out
        assert run(script) == (0, ""), f"{page}: $ {command}"


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
def test_what_is_asked_by_reflection(server, workplace):
    folder, environment = workplace
    stand_in = folder / "bin" / "grpcurl"
    stand_in.parent.mkdir()
    stand_in.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "tests" / "grpcurl.py"}" "$@"\n')
    stand_in.chmod(0o755)
    environment["PATH"] = f"{stand_in.parent}:{environment['PATH']}"
    asked = [command for command in commands("docs/clients.md") if "grpcurl " in command]
    answers = []
    for command in asked:
        script = f"set -o pipefail\n{shortened(command, server)}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        answers.append(done.stdout)
    services, best_turn, new_game = answers
    assert "mexica_ai.v1.EngineService" in services.splitlines()
    position = ai.load(ROOT / "examples" / "nim.json")
    position.push(json.loads(best_turn)["result"]["turn"])
    assert json.loads(new_game)["fullPosition"]["mexica"]["players"] == 3


def ask(command, folder):
    """Return the answer to a command of curl as JSON, one value a line; asked without curl."""
    url, *words = [word for word in shlex.split(command)[1:] if word not in ("-s", "-sN")]
    options = dict(zip(words[::2], words[1::2], strict=True))
    body = options.pop("--json", None)
    headers = dict([options.pop("-H").split(": ")]) if "-H" in options else {}
    assert not options, command
    if body and body.startswith("@"):
        body = (folder / body[1:]).read_text()
    if body:
        headers["content-type"] = "application/json"
    answer = httpx.request("POST" if body else "GET", f"http://{url}", content=body, headers=headers, timeout=60)
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.real("processes")
@pytest.mark.slow
def test_what_is_asked_by_curl(server, workplace):
    folder, _ = workplace
    asked = [command for command in commands("docs/clients.md") if command.startswith("curl ")]
    (games,), (new,), (best,), analysis, (problem,) = [ask(shortened(command, server), folder) for command in asked]
    assert "mexica" in [game["name"] for game in games["games"]]
    assert new["fullPosition"]["coatl"]["players"] == 3
    ai.load(ROOT / "examples" / "mexica_midgame.json").push(best["result"]["turn"])
    assert best["result"]["explanation"]
    assert analysis[-1]["isFinal"]
    assert problem["violations"][0]["field"] == "positon"
    of_readme = [command for command in commands("README.md") if command.startswith("curl ")]
    assert all("requestId" not in ask(shortened(command, server), folder)[0] for command in of_readme)
    assert len(of_readme) == 2


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page, "json"))])
def test_json_examples_are_positions_and_records(page):
    for line, text in blocks(page, "json"):
        data = json.loads(text)
        if "turns" in data:
            assert ai.replay(data).is_over, line
        elif "better" in data:
            assert exercise_of(data).to_json() == data, line
        else:
            position = ai.Position.from_json(data)
            assert position.to_json() == data, f"{page}:{line} is not in canonical form"


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page, *QUOTED))])
def test_excerpts_stand_in_their_files(page):
    """Every line of an excerpt, but `...`, stands in the file it names, in this order."""
    for number, code in blocks(page, *QUOTED):
        path = excerpt_of(code)
        if path is None:
            continue
        lines = iter(path.read_text().splitlines())
        for line in code.splitlines()[1:]:
            is_there = line.strip() in ("", "...") or line in lines
            assert is_there, f"{page}:{number}: not in {path.name}: {line}"


@pytest.mark.parametrize("page", PAGES + LINKING)
def test_links_lead_somewhere(page):
    text = re.sub(r"^( *)```.*?^\1```$", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if file.startswith(("http://", "https://")):
            continue
        path = (ROOT / page).parent / file if file else ROOT / page
        assert path.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{page}: {target}"


# Lists that must not fall behind the code


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_a_game_s_page_shows_its_board_as_it_is_drawn(game):
    position = ai.load(ROOT / "examples" / f"{game}_midgame.json")
    board = str(position.view(0) if game == "coatl" else position)
    assert board in (ROOT / "docs" / "games" / f"{game}.md").read_text()


def test_the_map_of_the_rules_is_the_island():
    from mexica_ai.games.mexica.board import ISLAND

    text = (ROOT / "docs" / "games" / "mexica.md").read_text()
    for number, row in enumerate(ISLAND, start=1):
        assert f"\n{number:2}  {' '.join(row)}\n" in text


def test_the_options_of_the_search():
    text = (ROOT / "docs" / "search.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.MULTILINE)
    assert {name: float(default) for name, default in rows} == {
        name: default for name, (default, _, _) in OPTIONS.items()
    }


def test_the_reasons_of_refusals():
    text = (ROOT / "docs" / "formats.md").read_text()
    names = ("io/strict.py", "game/position.py", "game/position_text.py", "game/proposals.py", "game/records.py",
             "game/move_text.py", "game/move_reader.py", "game/move_writer.py")  # fmt: skip
    readers = [ROOT / "mexica_ai" / name for name in names]
    advice = ROOT / "mexica_ai" / "games" / "mexica" / "removal.py"  # its answers have reasons, too
    readers += {*(ROOT / "mexica_ai" / "games").rglob("*.py")} - {advice}
    text_of_advice = (ROOT / "docs" / "python.md").read_text() + (ROOT / "docs" / "formats.md").read_text()
    for files, documented in ((readers, text), ([advice], text_of_advice)):
        # In these files a short string in capitals is a reason, but for the names of values in a help and of constants.
        reason = r'(?<!metavar=)"([A-Z]{3,15}(?:_[A-Z0-9]+)*)"'
        found = re.findall(reason, "".join(path.read_text() for path in files))
        assert {name for name in found if not re.search(rf"\b{name}\b", documented)} == set()


def test_the_tour_of_the_compiled_layer_is_complete():
    """Each file stands in the section of its own folder."""
    text = (ROOT / "cext" / "README.md").read_text()
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^#|^What )", text, re.MULTILINE | re.DOTALL))
    files = [path for path in (ROOT / "cext").rglob("*") if path.suffix in (".pyx", ".py", ".h")]
    of_the_build = "__init__.py", "build.py", "variants.py"
    files = [path for path in files if path.stat().st_size and path.name not in of_the_build]
    missing = [
        path.relative_to(ROOT)
        for path in files
        if f"`{path.name}`" not in sections[path.parent.relative_to(ROOT / "cext").as_posix()]
    ]
    assert not missing
    for folder, section in sections.items():
        for names in re.findall(r"^\| ((?:`[\w.]+`(?:, )?)+) \|", section, re.MULTILINE):
            for name in re.findall(r"`([\w.]+)`", names):
                assert (ROOT / "cext" / folder / name).exists(), f"{folder}/{name}"

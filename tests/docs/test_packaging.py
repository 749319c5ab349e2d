"""What is installed: extras and what is said without them, completion, the manual page, what a source archive holds."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

import pytest
from setuptools.command.egg_info import FileList

from mexica_ai.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DEVELOPMENT = {"fuzz", "mutation", "test", "test-web"}
# Packages of extras, by the names under which they are imported.
OPTIONAL = {
    "arena": ["scipy", "openskill"],
    "client": ["grpc", "grpc_status", "google"],
    "server": ["grpc_health", "grpc_reflection", "cachetools", "cryptography", "pydantic"],
    "completion": ["shtab", "argparse_manpage"],
    "png": ["resvg_py"],
    "play": ["prompt_toolkit"],
    "cluster": ["distributed"],
    "plot": ["matplotlib"],
    "web": ["starlette", "uvicorn", "sse_starlette"],
    "data": ["pyarrow"],
    "rl": ["pettingzoo", "gymnasium"],
    "onnx": ["onnxruntime"],
    "spiel": ["pyspiel", "open_spiel"],
}
POSITION = str(ROOT / "examples" / "nim.json")


# Runs commands, each in a fork and without some packages; none of them is there while the command is imported.
# They share an input, of which only `play` reads.
FORKS = """
import json, os, sys
cases = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(sum((packages for packages, _ in cases), [])))
from mexica_ai.cli.main import main
for number, (packages, args) in enumerate(cases):
    if not os.fork():
        for stream, name in enumerate(("out", "err"), 1):
            os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT), stream)
        for name in [name for name, module in sys.modules.items() if module is None and name not in packages]:
            del sys.modules[name]
        sys.exit(main(args))
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def run_without(cases, folder):
    """Run commands, given with the packages that are not installed; return exit code, output and errors of each."""
    text = json.dumps([[packages, list(map(str, args))] for packages, args in cases])
    command = [sys.executable, "-P", "-c", FORKS, text]
    options = {"cwd": folder, "env": {**os.environ, "XDG_STATE_HOME": str(folder / "state")}}  # for `play`
    done = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, done.stderr
    codes = map(int, done.stdout.split())
    return [(code, *((folder / f"{n}.{name}").read_text() for name in ("out", "err"))) for n, code in enumerate(codes)]


@pytest.mark.real("processes")
def test_numpy_and_rich_are_enough(tmp_path):
    commands = [
        ("best", POSITION, "--iterations", 20, "--explain"),
        ("analyze", POSITION, "--iterations", 20),
        ("show", POSITION, "--svg", "-"),
        ("annotate", ROOT / "examples" / "mexica_game.jsonl", "--turns", "3", "--iterations", 5),
        ("--help",),
        ("play", POSITION),
        ("engine", "--help"),
        ("train", "--help"),
    ]
    packages = [name for names in OPTIONAL.values() for name in names]
    found = run_without([(packages, args) for args in commands], tmp_path)
    assert not [
        (args, code, err) for args, (code, out, err) in zip(commands, found, strict=True) if code != 0 or not out
    ]


@pytest.mark.real("processes")
def test_a_command_says_which_extra_it_needs(tmp_path):
    cases = [
        ("arena", ("arena", "--engine", "random", "--engine", "random", "--blocks", 1)),
        ("client", ("client", "info")),
        ("server", ("serve", "--check-config")),
        ("completion", ("completion", "bash")),
        ("completion", ("man",)),
        ("png", ("show", POSITION, "--png", "x.png")),
        ("cluster", ("arena", "--engine", "random", "--engine", "random", "--cluster", "tcp://127.0.0.1:1")),
        ("client", ("arena", "--engine", "grpc:localhost:1", "--engine", "random", "--blocks", 1)),
        ("arena", ("train", "mexica", "--out", "new")),
        ("plot", ("arena", "--engine", "random", "--engine", "random", "--plot", "x.png")),
        ("web", ("web", "--no-open")),
        ("spiel", ("best", POSITION, "--engine", "spiel:random")),
        ("data", ("export", "games.jsonl", "--out", "data")),
    ]
    found = run_without([(OPTIONAL[extra], args) for extra, args in cases], tmp_path)
    failed = []
    for (extra, args), (code, out, err) in zip(cases, found, strict=True):
        says = err.endswith(f"pip install 'mexica-ai[{extra}]'\n") and err.count("\n") == 1
        if not says or (code, out) != (1, "") or extra not in EXTRAS:
            failed.append((extra, args, code, out, err))
    assert not failed


def test_the_example_of_a_package_asks_for_this_version():
    example = tomllib.loads((ROOT / "examples" / "plugin_game" / "pyproject.toml").read_text())
    needed = [*example["build-system"]["requires"], *example["project"]["dependencies"]]
    first, second, *_ = PROJECT["version"].split(".")
    assert needed.count(f"mexica-ai=={first}.{second}.*") == 2


def test_every_extra_is_in_all():
    (everything,) = EXTRAS["all"]
    large = {"spiel", "train"}
    assert set(re.search(r"\[(.*)\]", everything)[1].split(",")) == EXTRAS.keys() - DEVELOPMENT - {"all"} - large


@pytest.mark.real("processes")
def test_completion_knows_commands_and_options(tmp_path):
    shells = ["bash", "zsh", "fish", "tcsh"]
    found = run_without([([], ("completion", shell)) for shell in shells], tmp_path)
    for shell, (_, out, err) in zip(shells, found, strict=True):
        assert err == "", shell
        words = ["analyze", "annotate"] + ["iterations", "max-slots-per-caller"] * (shell != "tcsh")
        assert [word for word in words if word not in out] == [], shell
        if shell == "bash":
            assert subprocess.run(["bash", "-n"], input=out, text=True, check=True).returncode == 0


@pytest.mark.real("processes")
def test_the_manual_page_has_every_command_and_option(tmp_path):
    ((_, page, _),) = run_without([([], ("man",))], tmp_path)
    page = page.replace("\\-", "-")
    assert page.startswith(".TH MEXICA-AI")
    assert [command for command in COMMANDS if f"mexica-ai {command}" not in page] == []
    assert all(option in page for option in ("--iterations", "--max-slots-per-caller", "--journal"))


@pytest.mark.real("processes")
def test_a_wheel_holds_all_files_of_the_packages():
    tracked = subprocess.run(
        ["git", "ls-files", "mexica_ai", "server", "cext"], cwd=ROOT, capture_output=True, text=True
    )
    if tracked.returncode:
        pytest.skip("not a checkout")
    code = (
        "import setuptools\n"
        "from distutils.core import run_setup\n"
        "command = run_setup('setup.py', ['build_py'], stop_after='commandline').get_command_obj('build_py')\n"
        "command.ensure_finalized()\n"
        "for _, folder, _, names in command.data_files:\n"
        "    print(*(f'{folder}/{name}' for name in names), sep='\\n')\n"
    )
    env = {**os.environ, "CEXT_SKIP": "1"}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env, check=True)
    # The link to server/ stands for files that are listed there.
    files = [path for path in tracked.stdout.split() if (ROOT / path).is_file()]
    files = [f"mexica_ai/{path}" if path.startswith("server/") else path for path in files]
    data = {path for path in files if not path.endswith((".py", "README.md"))}
    assert data
    assert not data - set(done.stdout.split())


@pytest.mark.real("processes")
def test_the_page_has_its_files_and_examples():
    command = Path(sysconfig.get_path("scripts")) / "mexica-ai"
    arguments = [command, ROOT / "mexica_ai" / "web" / "static", ROOT / "examples"]
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "check-page", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.real("processes")
@pytest.mark.slow
def test_the_source_archive_holds_what_its_tests_need(tmp_path):
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a checkout")
    made = subprocess.run(
        [sys.executable, "-P", "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, ROOT],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        held = {name.partition("/")[2] for name in file.getnames()}
    of_the_checkout = {".gitignore", ".gitattributes", ".dockerignore"}
    assert set(tracked.stdout.split()) - held <= of_the_checkout
    assert not [name for name in held if name.endswith((".so", ".c", ".pyc", "built.json"))]


def test_the_source_archive_leaves_out_what_git_ignores(tmp_path, monkeypatch):
    ignored = (
        "benchmarks/results/games/mexica-levels-1/mexica-1.jsonl",
        "benchmarks/results/games/mexica-2-ladder-1.jsonl",
        "examples/clients/go/go.sum",
        "examples/clients/go/v1/game.pb.go",
        "examples/clients/node/node_modules/a/index.js",
        "examples/clients/typescript/gen/game.ts",
        "examples/clients/typescript/node_modules/a/index.js",
        "examples/clients/typescript/out/best_turn.js",
        "examples/deploy/secrets/tokens",
        "examples/plugin_game/build/a.txt",
    )
    for name in ignored:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    files = FileList()
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        files.process_template_line(line)
    assert files.files == []

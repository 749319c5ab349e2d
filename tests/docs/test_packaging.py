"""What is installed: extras and what is said without them, completion, the manual page, what a source archive holds."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
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


def without(packages, *args, **options):
    """Run the command where packages are not installed."""
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({packages}))\n"
        "from mexica_ai.cli.main import main\n"
        f"sys.exit(main({list(map(str, args))}))\n"
    )
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    "args",
    [
        ("best", POSITION, "--iterations", 20, "--explain"),
        ("analyze", POSITION, "--iterations", 20),
        ("show", POSITION, "--svg", "-"),
        ("annotate", ROOT / "examples" / "mexica_game.jsonl", "--turns", "3", "--iterations", 5),
        ("--help",),
        ("play", POSITION),
        ("engine", "--help"),
        ("train", "--help"),
    ],
    ids=lambda args: args[0],
)
def test_numpy_and_rich_are_enough(args, tmp_path):
    done = without([name for names in OPTIONAL.values() for name in names], *args, input="quit\n", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("extra", "args"),
    [
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
    ],
)
def test_a_command_says_which_extra_it_needs(extra, args, tmp_path):
    done = without(OPTIONAL[extra], *args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.endswith(f"pip install 'mexica-ai[{extra}]'\n")
    assert done.stderr.count("\n") == 1
    assert extra in EXTRAS


def test_every_extra_is_in_all():
    (everything,) = EXTRAS["all"]
    large = {"spiel", "train"}
    assert set(re.search(r"\[(.*)\]", everything)[1].split(",")) == EXTRAS.keys() - DEVELOPMENT - {"all"} - large


@pytest.mark.real("processes")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_knows_commands_and_options(shell):
    done = without([], "completion", shell)
    assert done.stderr == ""
    words = ["analyze", "annotate"] + ["iterations", "max-slots-per-caller"] * (shell != "tcsh")
    assert all(word in done.stdout for word in words)
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=True).returncode == 0


@pytest.mark.real("processes")
def test_the_manual_page_has_every_command_and_option():
    page = without([], "man").stdout.replace("\\-", "-")
    assert page.startswith(".TH MEXICA-AI")
    for command in re.findall(r"^mexica-ai (\S+)", without([], "--help").stdout, re.MULTILINE):
        assert command in page
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

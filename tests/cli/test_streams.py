"""Standard streams that are closed or full, and Ctrl-C while modules are imported."""

import builtins
import errno
import io
import os
import signal
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

import mexica_ai
from mexica_ai import __main__ as start
from mexica_ai.cli import main as command_line
from mexica_ai.cli.main import main

ARENA = "arena --game nim --engine greedy --engine random --iterations 1 --blocks 1"


pytestmark = pytest.mark.usefixtures("place")


@pytest.mark.parametrize(
    "command",
    [
        "show nim.json",
        "legal nim.json",
        "best nim.json --iterations 10",
        "best nim.json --iterations 10 --json",
        "replay record.json",
        "annotate record.json --iterations 10",
        "new --game nim",
        "validate nim.json",
        "perft nim.json --depth 1",
        pytest.param(ARENA, marks=pytest.mark.real("processes")),
        "--help",
    ],
)
@pytest.mark.parametrize("closed", [["stdout"], ["stderr"], ["stdin", "stdout", "stderr"]])
def test_outputs_that_are_closed_go_nowhere(monkeypatch, in_process, command, closed):
    for name in closed:
        monkeypatch.setattr(sys, name, None)
    assert main(command.split()) == 0


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("engine", 0),
        ("play --game nim --record kept.json", 0),
        ("legal -", 0),
        ("replay -", 0),
        ("best -", 2),
        ("show -", 2),
        ("show - --turn 1", 2),
    ],
)
def test_an_input_that_is_closed_is_empty(monkeypatch, capsys, command, code):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(command.split()) == code
    err = capsys.readouterr().err
    assert err.count("\n") == (code != 0)
    assert err == "" or err.startswith("mexica-ai: error: standard input: ")


def test_an_input_that_cannot_be_read_ends_the_engine(monkeypatch, capsys):
    with open(os.devnull, "w") as unreadable:
        monkeypatch.setattr(sys, "stdin", unreadable)
        assert main(["engine"]) == 2
    assert capsys.readouterr().err == f"mexica-ai: error: cannot read standard input: {os.strerror(errno.EBADF)}\n"


def test_the_engine_waits_for_an_input_that_does_not_block(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    threading.Timer(0.2, lambda: (os.write(writer, b'{"hello": 1}\n'), os.close(writer))).start()
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["engine"]) == 0
    assert '"hello": 1' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "mentions"), [(b"\xff\n", "standard input: not UTF-8"), (b"x" * 200_000, "a line of over 100,000")]
)
def test_lines_of_play_that_are_none(monkeypatch, capsys, content, mentions):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)), encoding="utf-8"))
    assert main(["play", "nim.json", "--record", "kept.json"]) == 2
    err = capsys.readouterr().err
    assert mentions in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["show nim.json", "--version", "--help", "help best", "best --help"])
def test_an_output_that_is_full_is_named(monkeypatch, capsys, command):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
        assert main(command.split()) == 1
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())
    assert capsys.readouterr().err == f"mexica-ai: error: cannot write standard output: {os.strerror(errno.ENOSPC)}\n"


@pytest.mark.parametrize("is_full", [True, False])
def test_a_message_that_cannot_be_written_changes_no_exit_code(monkeypatch, place, capsys, is_full):
    if is_full:
        stream = open("/dev/full", "w")  # noqa: SIM115, closed below
    else:
        reader, writer = os.pipe()
        os.close(reader)
        stream = os.fdopen(writer, "w")
    with stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(["replay", "nothing.json", "record.json"]) == 2
    assert capsys.readouterr().out.startswith("record.json:1: scores")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("annotate record.json --iterations 10 --record a.json --html a.html --plot a.svg", "a.json a.html a.svg"),
        ("annotate record.json --iterations 10 --json --record a.json", "a.json"),
        ("analyze nim.json --iterations 50 --plot a.svg", "a.svg"),
        ("analyze nim.json --iterations 50 --engine mcts --engine beam --plot a.svg", "a.svg"),
        ("replay record.json --text a.txt --records a.json", "a.txt a.json"),
    ],
)
def test_files_are_written_also_if_nobody_reads_the_output(monkeypatch, place, command, files):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(command.split()) == 0
        monkeypatch.undo()
    assert all(Path(place, name).stat().st_size for name in files.split())


def test_a_search_without_a_limit_ends_with_its_reader(monkeypatch, place):
    outlived = []
    monkeypatch.setattr("mexica_ai.io.terminal.outlive_reader", lambda: outlived.append(True))
    for limit in ([], ["--iterations", "50"]):
        assert main(["analyze", "nim.json", "--plot", "a.svg", *limit]) == 0
    assert outlived == [True]


class Left(BaseException):
    """Instead of the end of the process."""


def interrupted_import(name):
    """Stand for a module during whose import Ctrl-C is pressed."""
    if name == "main":
        signal.raise_signal(signal.SIGINT)
    raise AttributeError(name)


def interrupt(name):
    """Stand for the import of a command's module during which Ctrl-C is pressed."""
    assert name == "mexica_ai.cli.best"
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("in_command", [False, True])
def test_ctrl_c_during_imports_ends_the_command_as_later(monkeypatch, capfd, in_command):
    if in_command:
        monkeypatch.setattr(sys, "argv", ["mexica-ai", "best", "new"])
        monkeypatch.setattr("importlib.import_module", interrupt)
    else:
        module = ModuleType("mexica_ai.cli.main")
        module.__getattr__ = interrupted_import
        monkeypatch.setitem(sys.modules, "mexica_ai.cli.main", module)
    codes = []

    def leave(code):
        codes.append(code)
        raise Left

    monkeypatch.setattr(os, "_exit", leave)
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(Left):
            start.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert codes == [130]
    assert capfd.readouterr().err == "mexica-ai: interrupted\n"


def test_the_command_line_itself_imports_no_command():
    imported = set()

    def note(name, *args):
        imported.update((name, *(f"{name}.{each}" for each in args[2] or ())))
        return __import__(name, *args)

    code = compile(Path(command_line.__file__).read_text(), command_line.__file__, "exec")
    exec(code, {"__name__": command_line.__name__, "__builtins__": {**vars(builtins), "__import__": note}})
    assert imported.isdisjoint(f"mexica_ai.cli.{name.replace('-', '_')}" for name in command_line.COMMANDS)


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_after_the_imports_ctrl_c_is_handled_as_before(monkeypatch, handler):
    module = ModuleType("mexica_ai.cli.main")
    module.main = lambda: signal.getsignal(signal.SIGINT)
    monkeypatch.setitem(sys.modules, "mexica_ai.cli.main", module)
    before = signal.signal(signal.SIGINT, handler)
    try:
        assert start.main() is handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("module", [mexica_ai, start])
def test_the_command_imports_next_to_nothing_before_it_can_be_interrupted(module):
    imported = set()

    def note(name, *args):
        imported.add(name)
        return __import__(name, *args)

    code = compile(Path(module.__file__).read_text(), module.__file__, "exec")
    exec(code, {"__name__": module.__name__, "__builtins__": {**vars(builtins), "__import__": note}})
    assert imported <= {"__future__", "os", "signal", "sys"}

"""Every kind of text file, with byte order marks, other ends of lines, other encodings, too large, or no text."""

import contextlib
import io
import json
import os
import sys
import time
from pathlib import Path

import pytest
from here import Here
from nim_game import NIM, RECORD

import mexica_ai as ai
from mexica_ai.arena.config import read_config
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.openings import read_openings
from mexica_ai.cli.client import read_token
from mexica_ai.cli.main import main
from mexica_ai.cli.records import read_records
from mexica_ai.game import registry
from mexica_ai.io import files
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.server.auth import Tokens, read_file
from mexica_ai.server.config import load_config

LINES = "\n".join([json.dumps(RECORD), "", json.dumps(RECORD)]) + "\n"
PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
WEIGHTS = registry.get("mexica").learning.weights.path
BOM = "\ufeff".encode()


def run(*args):
    """Return a function that runs a command on a file and raises its error."""

    def call(path):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = main([str(path) if arg == "FILE" else arg for arg in args])
        if code:
            raise NotationError(said.getvalue())

    return call


def weights(path):
    registry.load_weights_file(path)


READERS = {
    "position": (run("show", "FILE"), json.dumps(NIM, indent=1)),
    "positions": (run("validate", "FILE"), json.dumps(NIM, indent=1)),
    "record": (run("show", "FILE", "--turn", "1"), json.dumps(RECORD, indent=1)),
    "records": (run("replay", "FILE"), LINES),
    "annotated": (run("annotate", "FILE", "--iterations", "5", "--game", "2"), LINES),
    "openings": (lambda path: read_openings(str(path), "nim", 2), f"{json.dumps(NIM)}\n\n{json.dumps(NIM)}\n"),
    "options of an arena": (lambda path: read_config(str(path), {}), "# none\n\n"),
    "settings of a server": (lambda path: load_config(str(path), {}, {}), "slots = 2\nport = 0\n"),
    "tokens": (lambda path: Tokens(str(path)), f"# callers\nbob {'x' * 32}\nann {'y' * 32}\n"),
    "token": (lambda path: read_token(str(path)), "a-token-of-some-length\n"),
    "certificate of a client": (files.read_bytes, PEM),
    "certificate of a server": (lambda path: read_file("tls_certificate", str(path)), PEM),
    "weights": (weights, WEIGHTS.read_text()),
}
JOURNAL = {"journal": (lambda path: read_journal(str(path)), None)}


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "games.jsonl"
    command = f"arena --game nim --engine greedy --engine random --iterations 1 --blocks 1 --journal {path}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mexica_ai.arena.pool.GamePool", Here)
        assert main(command.split()) == 0
    return path.read_text()


@pytest.fixture(params=[*READERS, "journal"])
def reader(request):
    """A function that reads a file, and the text of a good one."""
    if request.param == "journal":
        return JOURNAL["journal"][0], request.getfixturevalue("journal")
    return READERS[request.param]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode(),
        lambda text: BOM + text.encode(),
        lambda text: BOM + text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.rstrip("\n").encode(),
    ],
    ids=["as it is", "BOM", "BOM and CR LF", "CR", "no end"],
)
def test_marks_and_ends_of_lines_do_not_matter(reader, tmp_path, change):
    read, text = reader
    (tmp_path / "file").write_bytes(change(text))
    read(tmp_path / "file")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(reader, tmp_path, encoding):
    read, text = reader
    (tmp_path / "file").write_bytes(text.encode(encoding))
    if read is JOURNAL["journal"][0] and encoding.endswith("e"):  # may be the zeros of a crash
        pytest.skip("a journal is not looked at")
    with pytest.raises(MexicaAIError, match="given UTF-16 or UTF-32; expected"):
        read(tmp_path / "file")


def huge(path, content=b""):
    """Make a file of 300 MB, most of it a hole."""
    with path.open("wb") as file:
        file.write(content)
        file.truncate(300 << 20)
    return path


@pytest.mark.parametrize(
    "make",
    [
        lambda path: huge(path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 100),
        lambda path: huge(path, b" " * 5000),
        lambda path: path.write_bytes(b"\xff\xfb\x90\x64" * 5000),
        lambda path: path.mkdir(),
        lambda path: None,
    ],
    ids=["zeros", "/dev/zero", "picture", "blanks first", "Latin-1", "folder", "missing"],
)
def test_what_is_no_text_ends_at_once(reader, tmp_path, make, request):
    read, text = reader
    if text == PEM and "Latin-1" in request.node.callspec.id:
        pytest.skip("words around PEM may be in any encoding")
    make(tmp_path / "file")
    began_s = time.process_time()
    with pytest.raises(MexicaAIError) as caught:
        read(tmp_path / "file")
    assert time.process_time() - began_s < 5.0  # of this process: other work does not count
    assert str(tmp_path / "file") in str(caught.value)
    assert len(str(caught.value)) < 600


def test_long_lines_and_long_texts_are_refused(reader, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_JSON", 300_000)
    monkeypatch.setattr("mexica_ai.game.weights.MAX_JSON", 300_000)
    monkeypatch.setattr("mexica_ai.arena.openings.MAX_BYTES", 300_000)
    read, text = reader
    (tmp_path / "file").write_bytes(b" " * (files.MAX_TEXT + 1) + text.encode())
    with pytest.raises(MexicaAIError, match=r"over [0-9,]+ bytes; expected"):
        read(tmp_path / "file")


def test_a_stream_is_answered_line_by_line(monkeypatch, capfd):
    """A line is answered before the next one comes, and one that does not end soon before its end."""
    monkeypatch.setattr(files, "MAX_JSON", 100_000)
    output, entry = os.pipe()
    line = json.dumps(NIM).encode()
    answers = []

    class Slow(io.FileIO):
        parts = iter([BOM + line + b"\n", line + b"\r\n", b"[" * 100_001, b"[" * 300_000, b"[\n", line + b"\n"])

        def readinto(self, buffer):
            answers.append(capfd.readouterr().out)
            part = next(self.parts, b"") if not self.rest else self.rest
            if part == b"[\n":
                assert "".join(answers).count("\n") == 3  # line 3, whose end comes now, has its answer
            self.rest = part[len(buffer) :]
            buffer[: len(part[: len(buffer)])] = part[: len(buffer)]
            return len(part[: len(buffer)])

        rest = b""

    with Slow(output) as raw:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(raw)))
        assert main(["legal", "-"]) == 2
    os.close(entry)
    assert [answer.count("\n") for answer in answers[:3]] == [0, 1, 1]
    first, second, long, last = map(json.loads, "".join(answers).splitlines())
    assert first == second == last == ["take 1 1", "take 1 2"]
    assert long == {"error": "line 3: position: over 100,000 bytes; expected a shorter line"}
    assert not capfd.readouterr().err


@pytest.mark.parametrize("size", [99, 100, 101, 102, 200, 202, 203, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_lines_that_are_too_long_are_cut(monkeypatch, size, end):
    monkeypatch.setattr(files, "MAX_JSON", 101)
    line = b"x" * size
    text = b"a\n" + line + end + (b"b\n" if end else b"")
    first, cut, *rest = files.read_lines(io.BytesIO(text), "file", cuts=True)
    is_long = len(line + end) > 101
    assert (first, cut) == (b"a", (line + end)[:102] if is_long else line)
    assert rest == [b"b"] * bool(end)
    if is_long:
        with pytest.raises(NotationError, match="line 2 has over 101 bytes"):
            list(files.read_lines(io.BytesIO(text), "file"))


@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\n\nb\r\nc", b"x" * 70_000 + b"\ny\n", b"a\n" * 50_000])
def test_lines_are_the_same_without_the_lock_of_the_file(tmp_path, monkeypatch, text, cuts):
    monkeypatch.setattr(files, "MAX_JSON", 1000 if cuts else 100_000)
    path = tmp_path / "lines"
    path.write_bytes(text)
    with files.open_text(path) as file, files.open_text(path) as other:
        found = list(files.read_lines(files.Unlocked(file), path, cuts=cuts))
        assert found == list(files.read_lines(other, path, cuts=cuts))


def test_a_record_over_several_lines_and_bad_lines_among_good_ones(tmp_path):
    path = tmp_path / "file"
    path.write_text(json.dumps(RECORD, indent=1))
    ((number, text),) = read_records(str(path))
    assert (number, json.loads(text)) == (1, RECORD)
    path.write_text("\n{bad\n\n" + json.dumps(RECORD) + "\n{bad\n")
    found = [(number, text[:4]) for number, text in read_records(str(path))]
    assert found == [(2, b"{bad"), (4, b'{"ga'), (5, b"{bad")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be"])
def test_positions_in_other_encodings(tmp_path, encoding):
    (tmp_path / "file").write_text(json.dumps(NIM), encoding=encoding)
    with pytest.raises(NotationError, match="given UTF-16 or UTF-32; expected") as caught:
        ai.load(tmp_path / "file")
    assert caught.value.reason == "BAD_UTF8"


@pytest.mark.parametrize("text", ["\ufeff[1]", "[1]\r\n", "\ufeff"])
def test_decode(text):
    assert files.decode(text.encode()) == text.removeprefix("\ufeff").replace("\r\n", "\n")


# --- files that cannot be written


def no_space(*args, **options):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("command", "mentions"),
    [
        ("annotate record.json --iterations 5 --record out", "--record: cannot write 'out'"),
        ("annotate record.json --iterations 5 --html out", "--html: cannot write 'out'"),
        ("annotate record.json --iterations 5 --plot out.svg", "--plot: cannot write 'out.svg'"),
        ("show nim.json --svg out", "--svg: cannot write 'out'"),
        ("tree nim.json --iterations 50 --visits 1 --out out", "--out: cannot write 'out'"),
        ("play nim.json --seat 0=random --person 1 --record kept.json", "--record: cannot write 'kept.json'"),
        ("export record.json --out data", "--out: cannot write 'data/export.json'"),
    ],
)
def test_a_full_disk_is_told_with_option_and_file(place, monkeypatch, capsys, command, mentions):
    monkeypatch.setattr(Path, "write_bytes", no_space)
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert main(command.split()) == 1
    assert capsys.readouterr().err == f"mexica-ai: error: {mentions}: No space left on device\n"
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("tree nim.json --iterations 50 --out nim.json", "--out"),
        ("show nim.json --svg ./nim.json", "--svg"),
        ("show record.json --gif record.json", "--gif"),
        ("best nim.json --iterations 50 --svg nim.json", "--svg"),
    ],
)
def test_no_input_is_written_over(place, capsys, command, option):
    before = {path: path.read_bytes() for path in Path().glob("*.json")}
    assert main(command.split()) == 2
    assert f"{option}: cannot write" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in Path().glob("*.json")}


def test_a_folder_without_permission_is_named(place, monkeypatch, capsys):
    def mkdir(path, *args, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    (place / "mexica-ai").mkdir()
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert main(["export", "record.json", "--out", "data"]) == 1
    assert capsys.readouterr().err == "mexica-ai: error: --out: cannot write 'data': Permission denied\n"
    assert main(["web", "--games", "mine", "--no-open"]) == 2
    assert "--games: cannot use mine: Permission denied; expected one that you can write" in capsys.readouterr().err
    monkeypatch.setattr(os, "access", lambda *args: False)
    assert main(["play", "--game", "nim"]) == 2
    assert "no permission; expected a folder of yours, or --record FILE" in capsys.readouterr().err


def test_a_file_is_no_better_than_its_folder(place, monkeypatch):
    # A file appears as a whole, from a draft beside it.
    (place / "kept").mkdir()
    (place / "kept" / "a.json").write_text("{}")
    (place / "link.json").symlink_to(place / "kept" / "a.json")
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("kept"))
    for path in ("kept/a.json", "kept/new.json", "link.json"):
        assert files.problem_of(path) == "no permission"
    assert files.problem_of("new.json") == ""


def test_a_file_has_its_name_once_it_is_on_disk(place, monkeypatch):
    done, move = [], Path.replace
    monkeypatch.setattr(os, "fsync", lambda _: done.append("synced"))
    monkeypatch.setattr(Path, "replace", lambda path, to: done.append("named") or move(path, to))
    files.replace("a.json", "{}")
    assert done == ["synced", "named"]


def test_a_file_that_is_written_again_is_read_by_those_who_could_before(place):
    before = os.umask(0o022)
    try:
        Path("own.json").touch(0o600)
        Path("ours.json").touch()
        Path("ours.json").chmod(0o664)
        for name in ("own.json", "ours.json", "new.json"):
            files.replace(name, "{}")
        files.replace("ours.json", "{}", mode=0o600)
        files.replace("secret", "word", mode=0o600)
        found = [Path(name).stat().st_mode & 0o777 for name in ("own.json", "ours.json", "new.json", "secret")]
        assert found == [0o600, 0o600, 0o644, 0o600]
        Path("ours.json").chmod(0o664)
        files.replace("ours.json", "[]")
        assert Path("ours.json").stat().st_mode & 0o777 == 0o664
    finally:
        os.umask(before)


def test_a_pipe_takes_a_result():
    reader, writer = os.pipe()
    try:
        path = f"/dev/fd/{writer}"
        assert files.problem_of(path) == ""
        files.replace(path, "result")
        assert os.read(reader, 100) == b"result"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_name_leaves_room_for_that_of_the_draft(place):
    files.replace("a" * files.MAX_NAME, "{}")
    assert files.problem_of("b" * files.MAX_NAME) == ""
    assert files.problem_of("é" * (files.MAX_NAME // 2) + "b") == "its name is too long"


def test_any_other_error_of_a_file_names_it(monkeypatch, capsys):
    def denied(*args):
        raise PermissionError(13, "Permission denied", "some/file")

    monkeypatch.setattr("mexica_ai.cli.new.run", denied)
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert main(["new", "--game", "nim"]) == 1
    assert capsys.readouterr().err == "mexica-ai: error: cannot use 'some/file': Permission denied\n"

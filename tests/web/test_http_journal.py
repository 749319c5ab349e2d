"""Games on disk: a file that was cut at any byte is the game as it was after its last whole line."""

import asyncio
import json
import os
import stat
from functools import partial
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.io.errors import NotationError
from mexica_ai.web import commands, starts
from mexica_ai.web.app import Site
from mexica_ai.web.journal import Folder
from mexica_ai.web.store import keep

PERSONS = [{"kind": "person"}] * 2


@pytest.fixture
def folder(tmp_path):
    opened = Folder(tmp_path / "deep" / "games")
    yield opened
    opened.close()


def new(folder, **data):
    game = starts.create({"seats": PERSONS, **data}, names=[], examples={}, find=None)
    keep(game, folder)
    return game


def state_of(game):
    return (
        game.turns,
        game.now.to_compact(),
        [seat.to_json() for seat in game.seats],
        game.table.resigned,
        sorted(game.evaluations),
        game.table.seconds,
    )


def play(game, *turns):
    for turn in turns:
        game.change(partial(commands.play, turn=[turn]))


def test_a_game_is_restored_from_any_beginning_of_its_file(folder):
    game = new(folder, game="nim", seats=[PERSONS[0], {"kind": "engine", "level": 3, "seconds": 2.0}])
    path = folder.path / f"{game.id}.jsonl"
    lines, states = [path.read_bytes()], [state_of(game)]

    def note(_result=None):
        data = path.read_bytes()
        if len(data) > sum(map(len, lines)):
            lines.append(data[sum(map(len, lines)) :])
            states.append(state_of(game))

    note(play(game, "take 1 1"))
    note(play(game, "take 2 2"))
    note(game.change(commands.take_back))
    note(game.change(partial(commands.seat_person, seat=1)))
    note(play(game, "take 1 2"))
    note(game.change(partial(commands.annotate, seconds=0.5)))
    record = game.plain_record()
    for evaluation in ai.evaluate_record(record, iterations=5, seed=1):
        note(game.change(partial(commands.evaluate, evaluation=evaluation)))
    note(game.change(partial(commands.resign, viewer=None)))
    assert len(lines) >= 9
    data = b"".join(lines)
    assert data == path.read_bytes()
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        whole = data[:size].count(b"\n")
        entries = folder.read(game.id)
        assert len(entries) == whole
        if whole == 0:
            assert not path.exists()
            continue
        assert path.read_bytes() == b"".join(lines[:whole])  # what was torn is gone
        if size - sum(map(len, lines[:whole])) in (0, 1):
            assert state_of(starts.restore(game.id, entries)) == states[whole - 1]


def test_a_restored_game_goes_on(folder):
    game = new(folder, game="nim")
    play(game, "take 1 1")
    again = starts.restore(game.id, folder.read(game.id))
    again.journal = folder.journal(game.id)
    play(again, "take 1 2")
    assert state_of(starts.restore(game.id, folder.read(game.id))) == state_of(again)
    assert folder.ids() == [game.id]


@pytest.mark.parametrize("name", ["coatl", "mexica", "tzolkin"])
def test_whole_records_come_back(folder, name):
    path = Path(__file__).parents[2] / f"examples/{name}_game.jsonl"
    text = path.read_text().splitlines()[0]
    game = new(folder, text=text, seats=None)
    again = starts.restore(game.id, folder.read(game.id))
    assert state_of(again) == state_of(game)
    assert again.plain_record()["turns"] == json.loads(text)["turns"]
    assert again.table.started.created == game.table.started.created


@pytest.mark.parametrize(
    "line", [b"{", b"7", b'{"turn": ["take 9 9"]}', b'{"what": 1}', b'{"turn": 7}', b'{"back": "x"}', b'{"person": 9}']
)
def test_a_file_that_was_changed_is_refused_and_stays(folder, line):
    game = new(folder, game="nim")
    path = folder.path / f"{game.id}.jsonl"
    with path.open("ab") as file:
        file.write(line + b"\n")
    data = path.read_bytes()
    with pytest.raises(NotationError) as caught:
        starts.restore(game.id, folder.read(game.id))
    assert caught.value.reason == "BAD_JOURNAL"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "x"}, {"loss": "1e999"}, {"before": [0.5]}, {"after": [0.5, None]}, {"turn_index": 7}, {"seat": 2},
        {"turn": ["take 3 1"]}, {"choice": 7}, {"more": 1},
    ],
)  # fmt: skip
def test_an_evaluation_that_cannot_be_shown_is_refused(folder, change):
    game = new(folder, game="nim")
    play(game, "take 1 1")
    (evaluation,) = ai.evaluate_record(game.plain_record(), iterations=5, seed=1)
    game.change(partial(commands.evaluate, evaluation=evaluation))
    path = folder.path / f"{game.id}.jsonl"
    good = path.read_text()
    assert starts.restore(game.id, folder.read(game.id)).evaluations
    bad = json.dumps({"evaluation": {**evaluation.to_json(), **change}}).replace('"1e999"', "1e999")
    path.write_text("".join([*good.splitlines(keepends=True)[:-1], bad, "\n"]))
    with pytest.raises(NotationError) as caught:
        starts.restore(game.id, folder.read(game.id))
    assert caught.value.reason == "BAD_JOURNAL"


@pytest.mark.parametrize(
    "change", [{"seats": []}, {"seats": PERSONS * 2}, {"seats": [7, 7]}, {"created": 7}, {"open": None}, {"draws": "x"}]
)
def test_a_start_that_is_none_is_refused(folder, change):
    game = new(folder, game="nim")
    path = folder.path / f"{game.id}.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    with pytest.raises(NotationError) as caught:
        starts.restore(game.id, folder.read(game.id))
    assert caught.value.reason == "BAD_JOURNAL"


def test_a_folder_is_for_one_process(folder, tmp_path):
    with pytest.raises(NotationError, match="another") as caught:
        Folder(folder.path)
    assert caught.value.reason == "IN_USE"
    (tmp_path / "file").write_text("")
    with pytest.raises(NotationError, match="cannot use"):
        Folder(tmp_path / "file" / "games")


def test_a_turn_that_cannot_be_kept_is_not_played(folder, monkeypatch):
    game = new(folder, game="nim")
    before = state_of(game), game.version

    def fail(*_entries):
        raise OSError("the disk is full")

    monkeypatch.setattr(game.journal, "append", fail)
    with pytest.raises(OSError, match="full"):
        play(game, "take 1 1")
    assert (state_of(game), game.version) == before


# --- whatever lies in the folder


def listed(site):
    """Return the list of games as a page gets it: id -> what is wrong with it."""
    answer = json.loads(asyncio.run(site.list_games(None)).body)
    return {game["id"]: game.get("error", "") for game in answer["games"]}


def _large(path):
    path.touch()
    os.truncate(path, 3 << 30)


BAD = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a dangling link": lambda path: path.symlink_to("nothing"),
    "a loop of links": lambda path: path.symlink_to(path),
    "a large file": _large,
    "nothing": lambda path: None,  # a file that was deleted meanwhile
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_is_no_game_does_not_hide_the_others(folder, bad, when):
    game = new(folder, game="nim")
    path = folder.path / f"{'a' * 32}.jsonl"
    if when == "before":
        BAD[bad](path)
        site = Site(folder, None, {})
    else:
        path.write_bytes((folder.path / f"{game.id}.jsonl").read_bytes())
        site = Site(folder, None, {})
        path.unlink()
        BAD[bad](path)
    found = listed(site)
    assert found.pop(game.id) == ""
    assert set(found) <= {"a" * 32}
    assert all(found.values())
    assert os.path.lexists(path) == (bad != "nothing")


def test_a_file_that_may_not_be_read_does_not_hide_the_others(folder, monkeypatch):
    game, other = new(folder, game="nim"), new(folder, game="nim")
    opened = os.open

    def refuse(path, *args, **options):
        if other.id in str(path):
            raise OSError(24, "Too many open files")
        return opened(path, *args, **options)

    monkeypatch.setattr(os, "open", refuse)
    found = listed(Site(folder, None, {}))
    assert found[game.id] == ""
    assert "Too many open files" in found[other.id]


def test_games_keep_no_files_open(folder):
    for _ in range(20):
        new(folder, game="nim")
    site = Site(folder, None, {})
    before = os.listdir("/proc/self/fd")
    assert len(listed(site)) == 20
    play(site.store.find(folder.ids()[0]), "take 1 1")
    assert len(os.listdir("/proc/self/fd")) == len(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_others_do_not_read_games(tmp_path):
    """Also in a folder that they may enter, and what older versions have left there."""
    tmp_path.chmod(0o755)
    umask = os.umask(0o022)
    try:
        folder = Folder(tmp_path)
        game = new(folder, game="coatl")
        path = tmp_path / f"{game.id}.jsonl"
        assert mode_of(path) == 0o600
        play(game, game.now.legal_actions()[0])
        assert mode_of(path) == 0o600
        path.chmod(0o644)
        assert folder.ids() == [game.id]
        assert mode_of(path) == 0o600
    finally:
        os.umask(umask)
    folder.close()


def test_what_a_killed_process_has_left_goes_with_the_next(folder):
    with folder.private() as private:
        assert mode_of(private) == 0o700
        (private / "tokens").write_text("secret")
        left = private / "deep"
        left.mkdir()
        (left / "open.html").write_text("secret")
        names = os.listdir(folder.path)
        with folder.private() as again:  # as the process that comes after one that was killed
            assert list(again.iterdir()) == []
            assert os.listdir(folder.path) == names
    assert set(os.listdir(folder.path)) == {".lock"}
    assert folder.ids() == []

"""Games on disk: a file that was cut at any byte is the game as it was after its last whole line."""

import json
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.errors import NotationError
from mexica_ai.web import starts
from mexica_ai.web.journal import Folder

PERSONS = [{"kind": "person"}] * 2


@pytest.fixture
def folder(tmp_path):
    opened = Folder(tmp_path / "deep" / "games")
    yield opened
    opened.close()


def new(folder, **data):
    game = starts.create({"seats": PERSONS, **data}, names=[], examples={}, find=None)
    starts.begin_journal(game, folder)
    return game


def state_of(game):
    return (
        game.turns,
        game.now.to_compact(),
        [seat.to_json() for seat in game.seats],
        game.session.resigned,
        sorted(game.evaluations),
        game.annotation["seconds"],
    )


def play(game, *turns):
    for turn in turns:
        game.push([turn])


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
    note(game.take_back())
    note(game.make_person(1))
    note(play(game, "take 1 2"))
    note(game.start_annotation(0.5))
    record = game.session.record()
    for evaluation in ai.evaluate_record(record, iterations=5, seed=1):
        note(game.evaluate(evaluation))
    note(game.resign(None))
    game.journal.close()
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
    game.journal.close()
    again = starts.restore(game.id, folder.read(game.id))
    again.journal = folder.journal(game.id)
    play(again, "take 1 2")
    again.journal.close()
    assert state_of(starts.restore(game.id, folder.read(game.id))) == state_of(again)
    assert folder.ids() == [game.id]


@pytest.mark.parametrize("name", ["coatl", "mexica", "tzolkin"])
def test_whole_records_come_back(folder, name):
    path = Path(__file__).parents[2] / f"examples/{name}_game.jsonl"
    text = path.read_text().splitlines()[0]
    game = new(folder, record=text, seats=None)
    game.journal.close()
    again = starts.restore(game.id, folder.read(game.id))
    assert state_of(again) == state_of(game)
    assert again.session.record()["turns"] == json.loads(text)["turns"]
    assert again.created == game.created


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
    game.journal.close()


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
    (evaluation,) = ai.evaluate_record(game.session.record(), iterations=5, seed=1)
    game.evaluate(evaluation)
    game.journal.close()
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
    game.journal.close()
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
    game.journal.close()

"""Every kept input goes through its door; `tests/fuzz/doors.py` looks for new ones."""

from pathlib import Path

import kept
import pytest
from programs import DOORS, handlers

HERE = Path(__file__).parent
INPUTS = {folder.name: sorted(folder.iterdir()) for folder in sorted((HERE / "corpus").iterdir())}


@pytest.fixture(scope="module", autouse=True)
def _end():
    yield
    if handlers.cache_info().currsize:
        handlers().__exit__()


def test_every_door_has_inputs():
    assert sorted(INPUTS) == sorted(DOORS)


@pytest.mark.parametrize("name", INPUTS)
def test_kept_inputs(name):
    for path in INPUTS[name]:
        try:
            DOORS[name](path.read_bytes())
        except Exception as error:
            raise AssertionError(f"python tests/fuzz/doors.py {name} {path}") from error


def test_a_door_lets_no_other_error_pass(monkeypatch):
    monkeypatch.setattr(DOORS["position"], "read", lambda data: [][0])
    with pytest.raises(IndexError):
        DOORS["position"](b"")


def test_an_accepted_position_must_survive_its_own_form(monkeypatch):
    text = DOORS["position"].seeds()[-1]
    DOORS["position"](text)
    monkeypatch.setattr("mexica_ai.Position.to_compact", lambda position: "nim/1 1,1 2,0,1,1")
    with pytest.raises(AssertionError):
        DOORS["position"](text)


class Measured:
    """Coverage of inputs, given by their names."""

    def __init__(self, reached):
        self.reached = reached

    def get_data(self):
        return self

    def measured_files(self):
        return ["/installed/mexica_ai/games/nim/notation.py"]

    def set_query_context(self, context):
        self.input = context.partition(" ")[2]

    def arcs(self, file):
        return self.reached.get(self.input)


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """Choose what to keep from a folder of two inputs and two that are kept; return what is kept then."""
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    for name in ("kept/position/000", "kept/position/001", "new/a", "new/bb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def call(reached, corpus="new"):
        monkeypatch.setattr(kept, "read_all", lambda paths: (Measured(reached), DOORS))
        try:
            kept.choose("position", tmp_path / corpus)
        finally:
            found = {path.name: path.read_text() for path in (tmp_path / "kept" / "position").iterdir()}
            call.kept = found
        return found

    return call


def test_the_fewest_inputs_that_reach_the_same_are_kept(choose):
    assert choose({"000": {1, 2}, "001": {2}, "a": {2}, "bb": {3}}) == {"000": "new/bb", "001": "kept/position/000"}


def test_nothing_is_deleted_if_nothing_was_reached(choose):
    with pytest.raises(SystemExit, match="none of 4 inputs reaches"):
        choose({})
    assert sorted(choose.kept) == ["000", "001"]


def test_a_missing_folder_of_new_inputs_is_empty(choose):
    assert choose({"000": {1}, "001": {2}}, "nothing") == {"000": "kept/position/000", "001": "kept/position/001"}

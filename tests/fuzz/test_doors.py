"""Every kept input goes through its door; `tests/fuzz/doors.py` looks for new ones."""

from pathlib import Path

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

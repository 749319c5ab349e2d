"""Fixtures of the tests of the command line."""

import json

import pytest
from nim_game import NIM, RECORD


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder in which the test runs, with the position `nim.json` and the record `record.json`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nim.json").write_text(json.dumps(NIM))
    (tmp_path / "record.json").write_text(json.dumps(RECORD))
    return tmp_path

"""Perft: counts of action sequences, compared with data files from independent sources (`source`).

A failure prints the split by first action, only the lines that differ. New counts: ``reference/perft.py``.
"""

import json
from pathlib import Path

import pytest
from reference.perft import nim_count, nim_divide

import mexica_ai
from cext.core.contract.perft import divide, perft
from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError

FILES = sorted((Path(__file__).parents[1] / "data" / "perft").glob("*.json"))
ENTRIES = [
    pytest.param(entry, id=f"{path.stem}: {entry['id']}") for path in FILES for entry in json.loads(path.read_text())
]


def differences(expected, found):
    """Return a line for each first action whose counts differ."""
    return [
        f"{action}: expected {expected.get(action, 'illegal')}, found {found.get(action, 'illegal')}"
        for action in sorted(expected.keys() | found.keys())
        if expected.get(action) != found.get(action)
    ]


def test_every_game_has_a_file():
    assert [path.stem for path in FILES] == sorted(registry.BUILT_IN)


@pytest.mark.parametrize("entry", ENTRIES)
def test_counts(entry):
    state = mexica_ai.Position.from_json(entry["position"]).state
    format_action = registry.get(state.game.name).text.format_action
    found = {format_action(action): count for action, count in divide(state, entry["depth"]).items()}
    lines = differences(entry["divide"], found)
    assert not lines, "\n".join([f"depth {entry['depth']}, {entry['source']}", *lines])
    assert perft(state, entry["depth"]) == entry["count"] == sum(entry["divide"].values())


def test_a_failure_shows_only_what_differs():
    expected, found = {"end": 3, "token": 4, "walk H5": 5}, {"end": 3, "token": 7, "sail H5": 5}
    assert differences(expected, found) == [
        "sail H5: expected illegal, found 5",
        "token: expected 4, found 7",
        "walk H5: expected 5, found illegal",
    ]


@pytest.mark.parametrize("piles", [[4], [2, 3], [1, 2, 3], [2, 2, 2, 2]])
def test_the_formula_of_nim_agrees_with_its_recursion(piles):
    def count(piles, depth):
        if depth == 0:
            return 1
        return sum(
            count([*piles[:index], left, *piles[index + 1 :]], depth - 1)
            for index, pile in enumerate(piles)
            for left in range(pile)
        )

    for depth in range(5):
        assert nim_count(piles, depth) == count(piles, depth)
    assert sum(nim_divide({"piles": piles}, 3).values()) == nim_count(piles, 3)


def test_depths():
    state = mexica_ai.new_game("nim").state
    assert perft(state, 0) == 1
    for depth in (-1, 33):
        with pytest.raises(SearchError) as error:
            perft(state, depth)
        assert error.value.reason == "INVALID_DEPTH"
    with pytest.raises(SearchError) as error:
        divide(state, 0)
    assert error.value.reason == "INVALID_DEPTH"

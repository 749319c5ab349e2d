"""`mexica_ai.testing` finds faults: each game here has one, and the check of its part names it."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from mexica_ai import testing
from mexica_ai.game import registry
from mexica_ai.game.contract import Events, Learning, Reasons, Secrets, Words
from mexica_ai.game.entry import Entry, Kind, Target, choice
from mexica_ai.game.phrases import phrase
from mexica_ai.testing import actions
from mexica_ai.testing.case import for_each_start

NIM, COATL, MEXICA = map(registry.get, ("nim", "coatl", "mexica"))
START = {game: [game.starts.new_state(2, 1)] for game in (NIM, COATL, MEXICA)}


def broken(game, part, **changes):
    """Return a game of which one part has other functions."""
    return dataclasses.replace(game, **{part: dataclasses.replace(getattr(game, part), **changes)})


def swapped(text):
    """Read `take 1 2` as `take 2 1`, and the other way round."""
    verb, *operands = text.split()
    return " ".join([verb, *reversed(operands)])


def lenient(data, path="position"):
    """Raise what is no error of the domain."""
    return NIM.text.parse_position({**data, "piles": data["piles"]}, path)


def careless(text, path="action"):
    return NIM.text.parse_action(text, path) if text else {}[text]


def alike(action, fields):
    return Entry("take", (choice("some"),))


def continued(action, fields):
    _, pile, count = action.split()
    return Entry("take", tuple(choice(word) for word in ((pile,) if count == "1" else (pile, count))))


def beside(action, fields):
    return Entry("take", (Target(action, Kind.PILE, action),))


def new_each_time(players, seed, **options):
    return COATL.starts.new_state(players, next(counter), **options)


counter = iter(range(1_000_000))
SHOWS_ALL = {"view": lambda data, seat: data}
NO_SEAT = {"viewer": lambda state: None}
OTHER_WORLD = {"world_of": lambda state, seed: COATL.starts.new_state(2, seed)}
SEEDLESS = Events(lambda state, seed: COATL.events.draw_outcome(state, next(counter)))
HIDES_PILES = Secrets(redact=lambda data: {**data, "piles": [1]})
CLAIMS = Reasons(lambda fields, action, is_legal: "the pile is empty")
RUDE = Reasons(describe_effects=lambda before, after, seat: "takes some")


def players_unchecked(players, seed, **options):
    return NIM.starts.new_state(2 if isinstance(players, int) else players, seed, **options)


def options_unchecked(players, seed, *, piles=None, plies_per_turn=None):
    return NIM.starts.new_state(players, seed, plies_per_turn=plies_per_turn, piles=piles if piles != "junk" else None)


FAULTS = [
    ("text", broken(NIM, "text", parse_action=lambda text: NIM.text.parse_action(swapped(text))), "is not the action"),
    ("text", broken(NIM, "text", parse_action=careless), "raises KeyError"),
    ("text", broken(NIM, "text", parse_position=lenient), "parse_position raises KeyError"),
    ("text", broken(NIM, "text", format_compact=lambda data: "1 2,0,1,1"), "does not give back"),
    ("text", broken(NIM, "text", format_compact=lambda data: "\n"), "expected one line"),
    ("text", dataclasses.replace(NIM, board=lambda state: " "), "the board is empty"),
    ("starts", broken(NIM, "starts", new_state=players_unchecked), "deals a game for 1"),
    ("starts", broken(NIM, "starts", new_state=options_unchecked), 'takes piles="junk"'),
    ("starts", broken(COATL, "starts", new_state=new_each_time), "the same seed deals two"),
    ("views", broken(COATL, "views", **SHOWS_ALL), "view answers for seat -1"),
    ("views", broken(COATL, "views", **NO_SEAT), "viewer names another seat"),
    ("views", broken(COATL, "views", **OTHER_WORLD), "sees something else in a world of its view"),
    ("secrets", dataclasses.replace(NIM, secrets=HIDES_PILES), "hides what the seat"),
    ("secrets", dataclasses.replace(NIM, secrets=Secrets(lambda state: 1)), "has_one_world is no bool"),
    ("events", dataclasses.replace(COATL, events=None), "the game has no events"),
    ("events", dataclasses.replace(COATL, events=SEEDLESS), "the same seed draws two outcomes"),
    ("picture", broken(NIM, "picture", draw=lambda fields, **options: "<svg"), "is no SVG"),
    ("picture", broken(NIM, "picture", entry=alike), "are entered alike"),
    ("picture", broken(NIM, "picture", entry=continued), "continues that of another action"),
    ("picture", broken(NIM, "picture", entry=lambda action, fields: Entry("none", (choice(action),))), "no tool"),
    ("picture", broken(NIM, "picture", entry=beside), "which the picture lacks"),
    ("reasons", dataclasses.replace(NIM, reasons=CLAIMS), "which is legal: the pile is empty"),
    ("reasons", dataclasses.replace(NIM, reasons=RUDE), "expected clauses"),
    ("reasons", dataclasses.replace(NIM, reasons=Reasons(spends=("gold",))), "gold, which is no number"),
    ("words", dataclasses.replace(NIM, words=Words(lambda actions, before, after: " took")), "expected a clause"),
    ("words", dataclasses.replace(NIM, words=Words(joins=lambda actions, following: None)), "expected a bool"),
    ("learning", dataclasses.replace(NIM, learning=Learning(COATL.learning.schema)), "the schema has"),
    ("learning", broken(NIM, "learning", actions=NIM.learning.schema), "the schema of actions has"),
    ("learning", broken(COATL, "learning", weights=None), "weights lack their layout"),
    ("learning", broken(COATL, "learning", varied=lambda start, rng: {}), "varied gives no valid position"),
    ("proposals", broken(MEXICA, "proposals", judge=lambda state, actions: []), "does not answer"),
    ("teaching", broken(NIM, "teaching", folder=Path("nowhere")), "lack en.json"),
    ("teaching", broken(NIM, "teaching", folder=MEXICA.teaching.folder), "the texts lack legend.disc"),
    ("teaching", broken(NIM, "teaching", legend=("disc", "bell")), "the texts lack legend.bell"),
    ("teaching", broken(NIM, "teaching", score_sheet=lambda start, moves: []), "the score sheet gives seat"),
    ("teaching", broken(NIM, "teaching", projected=lambda fields: [0.0, 0.0]), "are not the scores"),
    ("teaching", broken(MEXICA, "teaching", hints=lambda fields: {}), "marks without words"),
    ("teaching", broken(MEXICA, "teaching", hints=lambda fields: {"A1": phrase("two")}), "no whole text"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "game", "fault"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_fault_is_found_and_named(part, game, fault):
    starts = START[registry.get(game.name)]
    with pytest.raises(AssertionError) as caught:
        testing.CHECKS[part](game, starts)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(f"{game.name}: ")
    assert "\n" not in str(caught.value)


class Liar:
    """A state of which some functions answer something else."""

    def __init__(self, state, lie):
        self._state, self._lie = state, lie

    def copy(self):
        return Liar(self._state.copy(), self._lie)

    def __getattr__(self, name):
        return self._lie(self._state).get(name, getattr(self._state, name))

    def __eq__(self, other):
        return self._state == plain(other)

    __hash__ = None


def plain(state):
    return getattr(state, "_state", state)


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (lambda state: {"legal_actions": lambda: state.legal_actions()[::-1]}, "not ascending and unique"),
        (lambda state: {"legal_actions": lambda: []}, "legal_actions are empty where a seat is to move"),
        (lambda state: {"is_legal": lambda action: False}, "is_legal denies"),
        (lambda state: {"hash": 7}, "another position has the same hash"),
        (lambda state: {"returns": lambda: [0.5, 0.25]}, "returns come before the end"),
        (lambda state: {"scores": lambda: [1.0, 1.0]}, "Game.scores differ from"),
        (lambda state: {"turn": -state.turn}, "turn or round has decreased"),
        (lambda state: {"turn": 1}, "another seat is to move in the same turn"),
        (lambda state: {"resolve_chance": lambda seed: None}, "resolved where none is due"),
        (lambda state: {"action_ids": lambda: [504] * len(state.legal_actions())}, "are not from 0 to 503"),
        (lambda state: {"action_ids": lambda: [5] * len(state.legal_actions())}, "have the same of action_ids"),
        (lambda state: {"action_id": lambda action: (action >> 8) * 63 + (action & 0xFF) - 1}, "action_id answers for"),
        (lambda state: {"action_features": lambda: np.zeros((1, 13))}, "action_features have shape"),
        (lambda state: {"action_features": lambda: state.action_features() * np.inf}, "are not finite"),
        (lambda state: {"action_features": lambda: state.action_features() + random.random()}, "the same state differ"),
    ],
)
def test_a_fault_of_the_rules_is_found(monkeypatch, lie, fault):
    game = broken(NIM, "text", format_position=lambda state: NIM.text.format_position(plain(state)))
    game = dataclasses.replace(game, scores=lambda state: NIM.scores(plain(state)))
    played = testing.Case.walk
    monkeypatch.setattr(
        testing.Case, "walk", lambda case: ((Liar(state, lie), action) for state, action in played(case))
    )
    with pytest.raises(AssertionError, match=fault):
        testing.check_rules(game)


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (lambda state: np.nan, "NaN, or numbers beyond 65536 that no scale"),
        (lambda state: -70_000, "NaN, or numbers beyond 65536 that no scale"),
        (lambda state: state.hash % 1000, "the observation of seat 0 shows what it cannot know"),
    ],
)
def test_a_fault_of_observations_is_found(monkeypatch, number, fault):
    monkeypatch.setattr(actions, "observation", lambda state, viewer: np.float32([number(state)]))
    with pytest.raises(AssertionError, match=fault):
        for_each_start(actions.check_observations)(COATL, START[COATL])


def test_a_whole_game_is_checked_and_errors_of_its_own_go_through():
    testing.check(NIM)
    with pytest.raises(AssertionError, match="no bool"):
        testing.check(dataclasses.replace(NIM, secrets=Secrets(lambda state: 1)))

    def fails(state):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        testing.check(dataclasses.replace(NIM, board=fails))


def test_the_checks_need_no_pytest():
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(testing))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(module.startswith(("pytest", "hypothesis")) for module in modules)

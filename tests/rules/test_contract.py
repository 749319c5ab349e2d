"""What every registered game must keep: the contract of the compiled rules and of the text forms.

`mexica_ai.testing` has the checks. A new game is tested with each number of seats; give it starts with options in
`STARTS`. MEXICA_AI_SEED makes the games of the checks others.
"""

import dataclasses
import functools
import importlib
import os

import pytest

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import Game as Rules
from cext.core.contract.game import State
from cext.core.contract.perft import divide, perft
from cext.core.contract.playout import copies, legal_lists, random_playout, random_playouts
from mexica_ai import testing
from mexica_ai.game import registry
from mexica_ai.game.contract import Game
from mexica_ai.io.errors import SearchError
from test_games.trick.ops import create_for_another_interface, create_with, create_without_functions, deal, lose_seat

SEED = int(os.environ.get("MEXICA_AI_SEED", "2015"))
LARGE_POOL = [3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13]
# Game -> starts: seats and options of a new game; by default each number of seats, without options.
STARTS = {
    name: [(players, {}) for players in range(2, registry.get(name).rules.max_players + 1)] for name in registry.names()
}
STARTS |= {
    "coatl": [
        (2, {}),
        (3, {}),
        (4, {}),
        (2, {"sacrifice_tokens": False}),
        (3, {"strict_ends": True}),
        (4, {"sacrifice_tokens": False, "strict_ends": True}),
    ],
    "mexica": [
        (2, {}),
        (3, {}),
        (4, {}),
        (2, {"neutral_levels": [4, 4, 3, 3, 3, 2, 2, 1, 1, 1]}),
        (2, {"neutral_levels": []}),
        (3, {"pool": LARGE_POOL}),
        (4, {"pool": [3] * 15}),
    ],
    "nim": [
        (2, {}),
        (3, {"piles": [1, 0, 7, 4], "plies_per_turn": 2}),
        (4, {"piles": [5, 5, 5], "plies_per_turn": 3}),
        (2, {"piles": [63] * 8}),
        (4, {"piles": [1]}),
    ],
    "tzolkin": [(2, {}), (3, {}), (4, {}), (2, {"whole_points": True})],
}
# Changes to a start's JSON position: an unknown deal leads to a random event.
EDITS = {("mexica", 5): lambda position: position["calpulli"].update(upcoming=None)}
CASES = [
    pytest.param((name, index), id=f"{name}-{index}-{players}seats")
    for name in registry.names()
    for index, (players, _) in enumerate(STARTS[name])
]
STRIDE = {"coatl": 5, "mexica": 5, "tzolkin": 5}  # states between two looks at what is expensive
# A check of views makes one for each seat, and a world of each; one of texts goes through all legal actions.
STRIDE_OF_PART = {("coatl", "text"): 10, ("coatl", "views"): 20, ("mexica", "text"): 10, ("tzolkin", "views"): 15}
SAMPLE = 10  # actions looked at closely per state


# Looked at in fewer states of starts that have options: those without have the same number of seats.
FEWER_WITH_OPTIONS = ("views", "secrets", "proposals")
# Parts that are looked at from each start; the others, which take longer or do not depend on it, from one.
OF_EACH_START = ("rules", "text", "views", "secrets", "events", "proposals")


def start_of(name, index=0):
    """Return the state in which a start begins."""
    game, (players, options) = registry.get(name), STARTS[name][index]
    start = game.starts.new_state(players, SEED + index, **options)
    if (name, index) in EDITS:
        position = game.text.format_position(start)
        EDITS[name, index](position)
        start = game.text.parse_position(position)
    return start


@pytest.mark.parametrize("part", OF_EACH_START)
@pytest.mark.parametrize("case", CASES)
def test_a_game_keeps_its_contract_from_each_start(case, part):
    name, index = case
    stride = STRIDE_OF_PART.get((name, part), STRIDE.get(name, 1))
    if part in FEWER_WITH_OPTIONS and name in STRIDE and STARTS[name][index][1] and case not in EDITS:
        stride *= 4
    testing.CHECKS[part](registry.get(name), [start_of(name, index)], seed=SEED + index, stride=stride)


@pytest.mark.parametrize("part", sorted(testing.CHECKS.keys() - OF_EACH_START))
@pytest.mark.parametrize("name", registry.names())
def test_a_game_keeps_the_contract_of_its_other_parts(name, part):
    testing.CHECKS[part](registry.get(name), [start_of(name)], seed=SEED)


def test_every_part_of_a_game_has_its_check():
    parts = {field.name for field in dataclasses.fields(Game)}
    said_by_rules = {"name", "title", "scores", "level_errors"}
    assert testing.CHECKS.keys() == parts - said_by_rules - {"board"}  # the board is text


def test_starts_are_of_registered_games():
    assert sorted(STARTS) == sorted(registry.names())


@pytest.mark.parametrize("name", registry.names())
def test_the_rules_of_a_game_say_their_name(name):
    assert name in repr(registry.get(name).rules)


def test_a_table_without_a_function_is_refused():
    with pytest.raises(ValueError, match="'trick': lacks hash, round"):
        create_without_functions()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"state_size": 332}, "state_size is 332; expected a multiple of 64 bytes"),
        ({"state_size": 0}, "state_size is 0; expected a multiple of 64 bytes"),
        ({"max_actions": 65536}, "max_actions is 65536; expected 1 to 65535"),
        ({"max_players": 5}, "max_players is 5; expected 2 to 4"),
    ],
)
def test_a_table_with_a_size_that_cannot_be_says_which(sizes, message):
    with pytest.raises(ValueError, match=f"^game table of 'trick': {message}$"):
        create_with(**sizes)


def test_a_seat_that_there_is_not_is_named():
    state = lose_seat(deal([[1], [2]]))
    with pytest.raises(ValueError, match=r"^trick: current_player returned 255; expected a seat from 0 to 1, CHANCE"):
        _ = state.current_player


def test_a_state_becomes_another_in_place():
    state, other = deal([[1], [2]]), deal([[3], [4]])
    state.assign(other)
    assert (state == other, state is other) == (True, False)
    other.apply(other.legal_actions()[0])
    assert state != other
    with pytest.raises(ValueError, match=r"^a state of nim; expected one of trick$"):
        state.assign(registry.get("nim").starts.new_state(2, 1))


@pytest.mark.parametrize(("abi", "more_bytes"), [(1, 0), (0, 8)])
def test_a_table_that_was_compiled_for_another_interface_is_not_read(abi, more_bytes):
    with pytest.raises(ImportError, match=r"compiled for another version of mexica-ai: interface [0-9a-f]{16},"):
        create_for_another_interface(abi, more_bytes)


@pytest.mark.parametrize("owner", [Rules, State])
def test_owners_are_made_by_the_game_only(owner):
    with pytest.raises(TypeError, match="made by"):
        owner()
    with pytest.raises(TypeError, match="made by"):
        owner.__new__(owner)
    with pytest.raises(TypeError, match="made by"):
        type("Heir", (owner,), {})()


@pytest.mark.parametrize(
    "call",
    [
        lambda: perft(None, 1),
        lambda: divide(None, 1),
        lambda: random_playout(None, 1),
        lambda: random_playouts(None, 1, 1),
        lambda: copies(None, 1),
        lambda: legal_lists(None, 1),
        *(functools.partial(importlib.import_module(f"cext.games.{name}.ops").state_from_fields, None)
          for name in registry.BUILT_IN),
        *(functools.partial(importlib.import_module(f"cext.games.{name}.ops").state_to_fields, None)
          for name in registry.BUILT_IN),
    ],
)  # fmt: skip
def test_nothing_is_no_state(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("depth", [-1, 33, 2**31, 2**200])
@pytest.mark.parametrize("count", [perft, divide])
def test_a_depth_out_of_range_is_refused(count, depth):
    with pytest.raises(SearchError) as error:
        count(start_of("nim"), depth)
    assert error.value.reason == "INVALID_DEPTH"


@pytest.mark.parametrize("seed", [-1, 2**63, 2**200, None, 1.5, "1"])
def test_a_seed_out_of_range_is_refused(seed):
    state = start_of("nim")
    for use in (random_playout, random_turn, lambda state, seed: state.determinize(0, seed)):
        with pytest.raises(SearchError) as error:
            use(state, seed)
        assert error.value.reason == "INVALID_SEED"

"""What every registered game must keep: the contract of the compiled rules and of the text forms.

A new game is tested with each number of seats; give it starts with options in `STARTS`. Every test looks at
the states of a game per start, played by a mixture of the game's reference random player and plain uniform
choice; MEXICA_AI_SEED makes them others.
"""

import functools
import importlib
import itertools
import json
import os
import random

import pytest

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE, TERMINAL, Game, State
from cext.core.contract.perft import divide, perft
from cext.core.contract.playout import copies, legal_lists, random_playout, random_playouts
from cext.core.search.options import OPTIONS
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import IllegalActionError, PositionError, SearchError
from test_games.trick.ops import create_for_another_interface, create_without_functions

SEED = int(os.environ.get("MEXICA_AI_SEED", "2015"))
LARGE_POOL = [3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13]
# Game -> starts: seats and options of a new game; by default each number of seats, without options.
STARTS = {name: [(players, {}) for players in range(2, registry.get(name).rules.max_players + 1)]
          for name in registry.names()}
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
SAMPLE = 10  # actions looked at closely per state


class Case:
    """A game, a start, and the states of one random game from it."""

    def __init__(self, name, index):
        self.game, self.codec = registry.get(name).rules, registry.get(name)
        self.stride = STRIDE.get(name, 1)
        self.has_views = self.codec.views is not None
        # Random events are actions of a record.
        self.has_events = bool(self.codec.events and self.codec.events.draw_outcome)
        self.rng = random.Random(SEED * 100 + index)
        players, options = STARTS[name][index]
        self.start = self.codec.starts.new_state(players, SEED + index, **options)
        if (name, index) in EDITS:
            position = self.codec.text.format_position(self.start)
            EDITS[name, index](position)
            self.start = self.codec.text.parse_position(position)

    def walk(self):
        """Play a game; yield each state and the action that follows it, None at chance and at the end."""
        state, rng, planned = self.start.copy(), self.rng, []
        while not state.is_terminal:
            if state.current_player == CHANCE:
                yield state, None
                state.resolve_chance(rng.getrandbits(63))
                planned = []
                continue
            if not planned and rng.random() < 0.7:
                planned = random_turn(state, rng.getrandbits(63))
            action = planned.pop(0) if planned else rng.choice(state.legal_actions())
            yield state, action
            state.apply(action)
        yield state, None

    def some(self):
        """Yield every few states of a game, the last one always."""
        for number, (state, action) in enumerate(self.walk()):
            if number % self.stride == 0 or action is None:
                yield state, action


@pytest.fixture(params=CASES)
def case(request):
    return Case(*request.param)


def test_starts_are_of_registered_games():
    assert sorted(STARTS) == sorted(registry.names())


@pytest.mark.parametrize("name", registry.names())
def test_facts_of_a_game(name):
    game = registry.get(name).rules
    assert game.name == name
    assert game.rules_version >= 1
    assert game.state_size % 64 == 0
    assert 2 <= game.max_players <= 4
    assert game.max_actions >= 1
    assert game.max_game_length >= 1
    assert name in repr(game)


def test_a_table_without_a_function_is_refused():
    with pytest.raises(ValueError, match="'trick': lacks hash, round"):
        create_without_functions()


@pytest.mark.parametrize(("abi", "more_bytes"), [(1, 0), (0, 8)])
def test_a_table_that_was_compiled_for_another_interface_is_not_read(abi, more_bytes):
    with pytest.raises(ImportError, match=r"compiled for another version of mexica-ai: interface [0-9a-f]{16},"):
        create_for_another_interface(abi, more_bytes)


@pytest.mark.parametrize("owner", [Game, State])
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
        count(Case("nim", 0).start, depth)
    assert error.value.reason == "INVALID_DEPTH"


@pytest.mark.parametrize("seed", [-1, 2**63, 2**200, None, 1.5, "1"])
def test_a_seed_out_of_range_is_refused(seed):
    state = Case("nim", 0).start
    for use in (random_playout, random_turn, lambda state, seed: state.determinize(0, seed)):
        with pytest.raises(SearchError) as error:
            use(state, seed)
        assert error.value.reason == "INVALID_SEED"


def test_legal_actions_are_ascending_unique_and_as_many_as_declared(case):
    for state, _ in case.walk():
        legal = state.legal_actions()
        assert all(one < other for one, other in itertools.pairwise(legal))
        assert len(legal) <= case.game.max_actions
        assert (legal == []) == (state.current_player in (CHANCE, TERMINAL))
        if legal:
            assert 0 <= state.current_player < state.num_players
            assert state.is_legal(legal[0])
            assert state.is_legal(legal[-1])


def test_check_passes_after_every_action(case):
    for state, _ in case.walk():
        state.check()


def test_an_illegal_action_is_refused_and_changes_nothing(case):
    earlier = {0, 1, 2**64 - 1}
    for state, _ in case.some():
        legal = state.legal_actions()
        # Legal at other times, or one bit beside a legal one.
        candidates = case.rng.sample(sorted(earlier), min(SAMPLE, len(earlier)))
        candidates += [action ^ 1 << case.rng.randrange(64) for action in legal[:SAMPLE]]
        before = case.codec.text.format_position(state)
        for action in set(candidates) - set(legal):
            assert not state.is_legal(action)
            with pytest.raises(IllegalActionError):
                state.apply(action)
        assert case.codec.text.format_position(state) == before
        state.check()
        earlier.update(case.rng.sample(legal, min(SAMPLE, len(legal))))


def test_a_copy_is_equal_and_independent(case):
    for state, action in case.some():
        position, hash_ = case.codec.text.format_position(state), state.hash
        copy = state.copy()
        assert copy == state
        assert copy.hash == hash_
        assert hash(copy) == hash(state)
        assert (copy.turn, copy.round) == (state.turn, state.round)
        if action is not None:
            copy.apply(action)
            assert copy != state
            assert case.codec.text.format_position(copy) != position
        assert case.codec.text.format_position(state) == position
        assert state.hash == hash_


def test_hashes_are_equal_exactly_if_the_printed_positions_are(case):
    text_of, hash_of = {}, {}

    def remember(state):
        text, hash_ = json.dumps(case.codec.text.format_position(state)), state.hash
        assert text_of.setdefault(hash_, text) == text
        assert hash_of.setdefault(text, hash_) == hash_

    for state, _ in case.some():
        remember(state)
        legal = state.legal_actions()
        for action in case.rng.sample(legal, min(SAMPLE, len(legal))):
            child = state.copy()
            child.apply(action)
            remember(child)


def test_positions_and_actions_read_back_as_they_were_written(case):
    for state, _ in case.some():
        if state.current_player == CHANCE and not case.has_events:
            continue  # no position for people: the table is about to draw
        position = json.loads(json.dumps(case.codec.text.format_position(state)))
        again = case.codec.text.parse_position(position)
        assert again == state
        assert again.hash == state.hash
        assert again.legal_actions() == state.legal_actions()
        assert case.codec.text.format_position(again) == position
        for action in state.legal_actions():
            assert case.codec.text.parse_action(case.codec.text.format_action(action)) == action


def test_compact_positions_read_back_as_they_were_written(case):
    for state, _ in case.some():
        if state.current_player == CHANCE and not case.has_events:
            continue
        position = Position(case.game.name, state)
        seen = [position.view(seat) for seat in range(state.num_players)] if case.has_views else []
        for one in (position, *seen):
            text = one.to_compact()
            assert text.isascii()
            assert text.isprintable()
            assert len(text) < len(json.dumps(one.to_json()))
            back = Position.from_compact(text)
            assert back == one
            assert back.to_json() == one.to_json()


def test_a_position_that_was_read_plays_on_like_the_original(case):
    for state, action in case.some():
        if action is not None:
            again = case.codec.text.parse_position(case.codec.text.format_position(state))
            expected = state.copy()
            for each in (again, expected):
                each.apply(action)
            assert again == expected


def test_returns_come_at_the_end_only(case):
    for state, _ in case.walk():
        assert len(state.scores()) == state.num_players
        assert case.codec.scores(state) == state.scores()
        if not state.is_terminal:
            with pytest.raises(SearchError) as error:
                state.returns()
            assert error.value.reason == "GAME_NOT_OVER"
    shares = state.returns()
    assert len(shares) == state.num_players
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) == pytest.approx(1)


def test_the_game_ends_within_its_declared_length(case):
    length = sum(action is not None for _, action in case.walk())
    assert length <= case.game.max_game_length


def test_turns_and_rounds_are_counted(case):
    before = None
    for state, _ in case.walk():
        now = (state.turn, state.round, state.current_player)
        if before is not None:
            assert now[0] >= before[0]
            assert now[1] >= before[1]
            if now[2] != before[2] and before[2] != CHANCE:
                assert now[0] > before[0]
            if now[1] > before[1]:
                assert now[0] > before[0]
        before = now
    assert state.is_terminal


def test_random_events_occur_between_turns_only(case):
    before = None
    for state, _ in case.walk():
        if state.current_player == CHANCE:
            assert before is not None
            assert state.turn > before
        before = state.turn


def test_the_same_seed_plays_the_same_game(case):
    end, actions = random_playout(case.start, 7)
    again, actions_again = random_playout(case.start, 7)
    assert end == again
    assert actions == actions_again
    assert end.is_terminal
    assert len(actions) <= case.game.max_game_length
    if len(case.start.legal_actions()) > 1:
        assert any(random_playout(case.start, seed)[1] != actions for seed in range(8, 12))


def test_the_reference_random_player_plays_legal_actions(case):
    for seed in range(3):
        end, actions = random_playout(case.start, seed)
        state = case.start.copy()
        for action in actions:
            if state.current_player == CHANCE:
                break  # what is drawn is not among the actions
            assert action in state.legal_actions()
            state.apply(action)
        else:
            assert state == end


def test_a_drawn_world_leaves_what_the_viewer_sees(case):
    for state, _ in case.some():
        if state.is_terminal:
            continue
        for viewer in range(state.num_players):
            world = state.copy()
            has_several = world.determinize(viewer, case.rng.getrandbits(63))
            world.check()
            assert world.view_hash(viewer) == state.view_hash(viewer)
            if viewer == state.current_player or not case.has_views:
                assert world.legal_actions() == state.legal_actions()  # else the hidden hand is another one
            assert (world.turn, world.round, world.scores()) == (state.turn, state.round, state.scores())
            if not has_several:
                assert world == state
        one, other = state.copy(), state.copy()
        assert one.determinize(0, 5) == other.determinize(0, 5)
        assert one == other


def test_a_view_is_a_position_that_shows_what_the_seat_sees(case):
    for state, _ in case.some():
        for viewer in range(state.num_players) if case.has_views else ():
            full = case.codec.text.format_position(state)
            data = case.codec.views.view(full, viewer)
            view = case.codec.text.parse_position(json.loads(json.dumps(data)))
            view.check()
            assert case.codec.text.format_position(view) == data
            assert case.codec.views.view(data, viewer) == data
            # Where nothing is hidden a view may be the position itself.
            assert case.codec.views.viewer(view) == (None if data == full else viewer)
            assert case.codec.views.viewer(state) is None
            assert view.view_hash(viewer) == state.view_hash(viewer)
            assert (view.current_player, view.scores()) == (state.current_player, state.scores())
            if viewer == state.current_player:
                assert view.legal_actions() == state.legal_actions()
            one, other = view.copy(), state.copy()
            assert one.determinize(viewer, 5) == other.determinize(viewer, 5)
            assert one.view_hash(viewer) == other.view_hash(viewer)
            assert one.hash == view.hash  # in a view that is not among what is known


def test_a_world_of_a_view_is_a_full_position_with_this_view(case):
    found = failed = 0
    for state, _ in case.some():
        for viewer in range(state.num_players) if case.has_views else ():
            data = case.codec.views.view(case.codec.text.format_position(state), viewer)
            view = case.codec.text.parse_position(data)
            if case.codec.views.viewer(view) is None:
                continue
            try:
                world = case.codec.views.world_of(view, case.rng.getrandbits(63))
            except PositionError as error:
                if error.reason != "NO_WORLD":
                    raise
                failed += 1
                continue
            found += 1
            world.check()
            assert case.codec.views.viewer(world) is None
            seen = case.codec.views.view(case.codec.text.format_position(world), viewer)
            for each in (seen, data):
                each.pop("memory", None)  # a drawn world has no past
            assert seen == data
    assert failed <= found / 20


def test_what_is_drawn_is_an_action_of_a_record(case):
    for state, action in case.walk():
        if not case.has_events or (action is not None or state.is_terminal):
            continue
        before = case.codec.text.format_position(state)
        for seed in range(3):
            outcome = case.codec.events.draw_outcome(state, seed)
            assert outcome == case.codec.events.draw_outcome(state, seed)
            assert case.codec.text.parse_action(case.codec.text.format_action(outcome)) == outcome
            assert state.is_legal(outcome)
            applied = state.copy()
            applied.apply(outcome)
            applied.check()
            resolved = state.copy()
            resolved.resolve_chance(seed)
            assert applied == resolved
        assert case.codec.text.format_position(state) == before


def test_what_cannot_be_seen_needs_a_seat(case):
    for seat in (-1, case.start.num_players):
        with pytest.raises(ValueError, match="seat"):
            case.start.view_hash(seat)
        with pytest.raises(ValueError, match="seat"):
            case.start.determinize(seat, 1)


def test_chance_is_resolved_only_where_it_is_pending(case):
    for state, action in case.some():
        if state.current_player == CHANCE:
            one, other = state.copy(), state.copy()
            for each in (one, other):
                each.resolve_chance(3)
            assert one == other
            assert one.current_player >= 0
            one.check()
        elif action is not None:
            with pytest.raises(SearchError):
                state.resolve_chance(3)


def test_search_options_are_options_of_the_search(case):
    options = case.game.search_options
    for name, value in options.items():
        default, low, high = OPTIONS[name]
        assert low <= value <= high
        assert value != default
    before = dict(options)
    options["exploration"] = -1
    assert case.game.search_options == before

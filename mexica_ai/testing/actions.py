"""The contract tests of what rules say for learning: ids and features of actions, and observations."""

from __future__ import annotations

import functools

import numpy as np

from cext.core.contract.game import State
from cext.core.learning.tensor import observation
from mexica_ai.game.observations import bound_of
from mexica_ai.io.errors import IllegalActionError, SearchError
from mexica_ai.testing.case import Case


def check_ids(case: Case) -> None:
    """Check that the ids of the legal actions of a state are distinct and in range."""
    most = case.game.rules.num_action_ids
    if most == 0:
        is_refused = case.refused(case.start.action_ids, SearchError)
        case.expect(is_refused, "action_ids answers, but the game has no ids", case.start)
        return
    for state in case.turns():
        legal = state.legal_actions()
        ids = state.action_ids()
        case.expect(all(0 <= number < most for number in ids), f"action_ids are not from 0 to {most - 1}", state)
        case.expect(len(set(ids)) == len(ids) == len(legal), "two legal actions have the same of action_ids", state)
        case.expect(state.action_id(legal[-1]) == ids[-1], "action_id is not that of action_ids", state)
        illegal = max(legal) + 1
        refused = case.refused(functools.partial(state.action_id, illegal), IllegalActionError)
        case.expect(refused, f"action_id answers for {illegal:#x}, which is not one of legal_actions", state)


def check_features(case: Case) -> None:
    """Check that features are finite, and the same for all states that the seat to move cannot tell apart."""
    size = case.game.rules.action_size
    if size == 0:
        is_refused = case.refused(case.start.action_features, SearchError)
        case.expect(is_refused, "action_features answers, but the game has no features of actions", case.start)
        return
    for state in case.turns():
        before, rows = state.hash, state.action_features()
        shape = (len(state.legal_actions()), size)
        case.expect(rows.shape == shape, f"action_features have shape {rows.shape}; expected {shape}", state)
        case.expect(bool(np.isfinite(rows).all()), "action_features are not finite", state)
        case.expect(_same(rows, state), "action_features of the same state differ", state)
        world = state.copy()
        world.determinize(world.current_player, case.rng.getrandbits(63))
        case.expect(_same(rows, world), "action_features show what the seat to move cannot know", state)
        case.expect(state.hash == before, "action_features changes the state", state)


def check_observations(case: Case) -> None:
    """Check that observations are within their bound, and show no seat what it cannot know."""
    if case.game.rules.observation_size == 0:
        return
    bound = bound_of(case.game.learning.schema)
    for state, _ in case.some():
        before = state.hash
        for viewer in range(state.num_players):
            row = observation(state, viewer)
            is_bounded = bool((np.abs(row) <= bound).all())  # NaN is not
            fault = f"an observation has NaN, or numbers beyond {bound:g} that no scale of its schema allows"
            case.expect(is_bounded, fault, state)
            world = state.copy()
            if not state.is_terminal:
                world.determinize(viewer, case.rng.getrandbits(63))
            is_same = np.array_equal(row, observation(world, viewer))
            case.expect(is_same, f"the observation of seat {viewer} shows what it cannot know", state)
        case.expect(state.hash == before, "observe changes the state", state)


def _same(rows: np.ndarray, state: State) -> bool:
    return bool(np.array_equal(rows, state.action_features()))

"""What the priors of Coatl make of the legal actions."""

import random
from collections import defaultdict

import numpy as np
import pytest
from weighed import Search, categorize, weights_of

from cext.games.coatl.spec import KINDS, SPEC
from mexica_ai import new_game
from mexica_ai.game import registry

NOTATION = registry.get("coatl").text
GAPS = {"best": (0, 0.01), "near": (0.01, 0.75), "behind": (0.75, 2.5), "far": (2.5, np.inf)}


def decisions(num_games=8):
    """Yield the states of random games in which a seat chooses among several actions."""
    for seed in range(num_games):
        random_ = random.Random(seed)
        position = new_game("coatl", players=2 + seed % 3, seed=seed)
        while not position.is_over:
            state = position.state
            if state.current_player < 0:
                position.draw(random_.getrandbits(60))
                continue
            legal = state.legal_actions()
            if len(legal) > 1:
                yield state
            turn, state = [], state.copy()
            while not state.is_terminal and state.current_player >= 0 and state.turn == position.state.turn:
                turn.append(random_.choice(state.legal_actions()))
                state.apply(turn[-1])
            position.push([NOTATION.format_action(action) for action in turn])


def test_kinds_and_gaps():
    seen = defaultdict(set)
    for state in decisions():
        row, actions, categories, shares = categorize(state)
        assert 0 <= row < SPEC.shapes["priors"][0]
        assert list(actions) == list(state.legal_actions())
        assert shares.max() == pytest.approx(1)
        for action, category, share in zip(actions, categories, shares, strict=True):
            kind, gap = SPEC.categories[category].rsplit("_", 1)
            seen[kind].add(NOTATION.format_action(int(action)).split()[0])
            behind = -1.5 * np.log(share)  # of the best action's outlook
            at_least, below = GAPS[gap]
            assert at_least - 1e-5 <= behind < below + 1e-5, (kind, gap)
    # A kind is one verb, and each verb that random games show is one.
    assert all(len(verbs) == 1 for verbs in seen.values())
    often = {"take_bodies", "take_head", "take_tail", "draw", "draw_unseen", "start", "add", "end"}
    assert often <= set(seen)
    assert set(seen) <= set(KINDS)


def test_the_weights_of_a_category_count():
    state = next(decisions())
    row, actions, categories, shares = categorize(state)
    arrays = weights_of(state).arrays()
    arrays["priors"][row, categories[0]] *= 50
    raised = SPEC.make(arrays)
    assert categorize(state, raised)[3] == pytest.approx(shares)  # shares are the game's, not fitted

    def prior(weights):
        """Return that of the turns that begin with the first action."""
        search = Search(state, weights=weights, seed=1, widening_base=1000, first_visits=1000)
        search.run(iterations=2000)
        turns = search.result(10_000)["candidates"]
        return sum(turn["prior"] for turn in turns if turn["actions"][0] == actions[0])

    assert prior(raised) > 1.5 * prior(weights_of(state))


def test_states_of_other_games_are_refused():
    with pytest.raises(TypeError, match="coatl"):
        SPEC.policy_inputs(new_game("mexica", seed=1).state, registry.get("coatl").weights())
    with pytest.raises(TypeError, match="Weights of coatl, got Weights of mexica"):
        SPEC.policy_inputs(new_game("coatl", seed=1).state, registry.get("mexica").weights())

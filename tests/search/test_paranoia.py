"""The option `paranoia`: others who play against the searching seat."""

import pytest
from test_proofs import SMALL, after
from test_search import nim, run


def least_share(state, seat, known):
    """Return the share of the win of a seat if all others play against it."""
    if state.is_terminal:
        return state.returns()[seat]
    key = state.hash
    if key not in known:
        shares = [least_share(after(state, [action]), seat, known) for action in state.legal_actions()]
        known[key] = max(shares) if state.current_player == seat else min(shares)
    return known[key]


def share_of(state, **options):
    return run(state, iterations=3000, **options)["candidates"][0]["value"][0]


def test_the_others_may_play_against_the_searching_seat():
    gaps = []
    for piles in SMALL[-12:]:
        state = nim(piles, players=3)
        least = least_share(state, 0, {})
        shares = [share_of(state, paranoia=paranoia) for paranoia in (0, 0.5, 1)]
        assert shares[2] == pytest.approx(least, abs=0.25), piles
        gaps.append(shares[0] - shares[2])
    assert max(gaps) > 0.3


def test_paranoia_means_nothing_between_two():
    state = nim([2, 3, 4])
    plain, paranoid = (run(state, iterations=2000, paranoia=paranoia, solve=1) for paranoia in (0, 1))
    assert plain | {"seconds": 0} == paranoid | {"seconds": 0}
    assert plain["stop_reason"] == "solved"


def test_nothing_is_proved_with_paranoia():
    state = nim([1, 1, 1], players=3)
    assert run(state, iterations=500, solve=1, paranoia=0.1)["stop_reason"] != "solved"

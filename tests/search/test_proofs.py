"""Outcomes that the search proves, against all that can still happen."""

import itertools

import pytest
from mexica_builder import build
from pure_hold import GAME as HOLD_OR_RISK
from test_search import FORCED_WINS, after, nim, state_of
from test_search import run as run_any
from weighed import Search

import mexica_ai
from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE

EQUAL = 1e-9
MARGIN_WEIGHT, MARGIN_SCALE = 0.03, 20.0  # at the end of the game, by default


class TooManyError(Exception):
    """More positions than a test looks at."""


def run(state, **options):
    return run_any(state, **({"solve": 1} | options))


def utilities(shares, scores):
    leads = [score - max(scores[:seat] + scores[seat + 1 :]) for seat, score in enumerate(scores)]
    parts = [0.5 + 0.5 * lead / (abs(lead) + MARGIN_SCALE) for lead in leads]
    return [(1 - MARGIN_WEIGHT) * share + MARGIN_WEIGHT * part for share, part in zip(shares, parts, strict=True)]


def best_play(state, known, most):
    """Return shares and utilities with best play by all, of all legal actions; None where that is not certain.

    Not certain is what lies behind a random event, and a choice between what is alike to the seat but not to others.
    """
    key = state.hash, state.turn
    if key in known:
        return known[key]
    if len(known) >= most:
        raise TooManyError
    known[key] = None
    if state.is_terminal:
        shares = list(state.returns())
        known[key] = shares, utilities(shares, list(state.scores()))
    elif state.current_player != CHANCE:
        seat = state.current_player
        known[key] = choice([best_play(after(state, [action]), known, most) for action in state.legal_actions()], seat)
    return known[key]


def choice(outcomes, seat):
    wins = [one for one in outcomes if one and one[0][seat] > 1 - EQUAL]
    if not wins and None in outcomes:
        return None
    share = max(one[0][seat] for one in wins or outcomes)
    alike = [one for one in wins or outcomes if one[0][seat] > share - EQUAL]
    best = max(one[1][seat] for one in alike)
    alike = [one for one in alike if one[1][seat] > best - EQUAL]
    return alike[0] if wins or all(one[0] == pytest.approx(alike[0][0]) for one in alike) else None


def assert_keeps(state, result, known):
    """Check that a turn leads to where the outcome is still what it was."""
    end = after(state, result["candidates"][0]["actions"])
    best, then = best_play(state, known, 10**9), best_play(end, known, 10**9)
    assert then is not None
    assert then[0][state.current_player] == pytest.approx(best[0][state.current_player], abs=EQUAL)


SMALL = [piles for size in (1, 2, 3) for piles in itertools.combinations_with_replacement(range(1, 5), size)]


@pytest.mark.parametrize(("plies", "plies_left"), [(1, 1), (2, 2), (2, 1), (3, 3)])
def test_every_small_nim_of_two_seats_is_solved(plies, plies_left):
    won = 0
    for piles in SMALL:
        state, known = nim(piles, plies=plies, plies_left=plies_left), {}
        result = run(state, iterations=20_000)
        best = best_play(state, known, 10**6)
        assert result["candidates"][0]["value"] == best[0], piles
        assert result["candidates"][0]["expected_scores"] == best[0]  # a point for the last object
        assert result["stop_reason"] in ("solved", "forced"), piles
        assert result["stop_reason"] == "forced" or result["iterations"] < 5000
        assert_keeps(state, result, known)
        if plies == 1:
            nim_sum = 0
            for pile in piles:
                nim_sum ^= pile
            assert (best[0] == [1, 0]) == (nim_sum != 0)
        won += best[0] == [1, 0]
    assert won > 5


@pytest.mark.parametrize(("players", "plies"), [(3, 1), (3, 2), (4, 1), (4, 2)])
def test_nim_of_several_seats_is_solved_where_best_play_is_certain(players, plies):
    solved = 0
    for piles in SMALL:
        state, known = nim(piles, players=players, plies=plies), {}
        result = run(state, iterations=3000)
        best = best_play(state, known, 10**6)
        if result["stop_reason"] == "forced":
            continue
        assert (result["stop_reason"] == "solved") == (best is not None), piles
        if best:
            assert result["candidates"][0]["value"] == best[0], piles
            assert_keeps(state, result, known)
            solved += 1
    assert solved > 4


def test_what_is_proved_is_kept_by_a_search_that_goes_on():
    state = nim([2, 3, 4])
    first = Search(state, seed=1)
    first.run(iterations=20_000)
    assert first.result()["stop_reason"] == "solved"
    state = after(state, first.result()["candidates"][0]["actions"])
    state = after(state, state.legal_actions()[:1])
    search = Search(state, seed=1, after=first)
    search.run(iterations=20_000)
    search.check_visits()
    result = search.result()
    assert (search.kept_visits > 0, result["stop_reason"]) == (True, "solved")
    assert result["candidates"][0]["value"] == best_play(state, {}, 10**6)[0] == [1, 0]
    assert_keeps(state, result, {})


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_prove_the_same(threads):
    for piles in SMALL[-8:]:
        state = nim(piles)
        result = run(state, iterations=50_000, threads=threads)
        assert result["stop_reason"] == "solved"
        assert result["candidates"][0]["value"] == best_play(state, {}, 10**6)[0]


def test_an_evaluator_proves_the_same():
    def evaluate(rows):
        return [[0.5, 0.5]] * len(rows)

    for piles in SMALL[-8:]:
        state = nim(piles)
        result = run(state, iterations=20_000, evaluator=evaluate, batch_size=4)
        assert result["stop_reason"] == "solved"
        assert result["candidates"][0]["value"] == best_play(state, {}, 10**6)[0]


def test_actions_out_of_view_are_proved_too():
    # All but one of eighteen actions lose, and the search looks at one at a time.
    state = nim([6, 6, 5, 1])
    result = run(state, iterations=50_000, widening_base=1, widening_factor=0)
    assert result["stop_reason"] == "solved"
    assert result["candidates"][0]["value"] == best_play(state, {}, 10**6)[0]


def test_nothing_is_proved_if_not_wanted():
    result = run(nim([2, 3, 4]), iterations=500, solve=0)
    assert (result["stop_reason"], result["iterations"]) == ("iterations", 500)
    assert 0 < result["candidates"][0]["value"][0] < 1


def test_restricted_first_actions_restrict_the_proof():
    state = nim([1, 2])
    losing = [action for action in state.legal_actions() if best_play(after(state, [action]), {}, 999)[0] == [0, 1]]
    result = run(state, iterations=5000, allow=losing)
    assert (result["stop_reason"], result["candidates"][0]["value"]) == ("solved", [0, 1])


@pytest.mark.parametrize("name", FORCED_WINS)
def test_forced_wins_are_proved(name):
    state = state_of(FORCED_WINS[name])
    seat = state.current_player
    result = run(state, iterations=5000)
    assert result["stop_reason"] == "solved"
    best = result["candidates"][0]
    assert best["value"] == [1.0 if other == seat else 0.0 for other in range(state.num_players)]
    assert after(state, best["actions"]).returns() == best["value"]


def near_the_end(game, players, seed, most):
    """Return the positions of a random game from which all can be looked at, the earliest first, and what is known."""
    state = mexica_ai.new_game(game, players=players, seed=seed).state
    states = []
    number = 0
    while not state.is_terminal:
        number += 1
        if state.current_player == CHANCE:
            state.resolve_chance(seed * 1000 + number)
            continue
        states.append(state.copy())
        for action in random_turn(state, seed * 1000 + number):
            state.apply(action)
    found, known = [], {}
    for state in reversed(states):
        try:
            best_play(state, known, most)
        except TooManyError:
            break
        found.append(state)
    return found[::-1], known


@pytest.mark.parametrize(("players", "seeds"), [(2, (1, 2, 3)), (3, (2, 4)), (4, (2, 4))])
def test_the_last_turns_of_tzolkin_are_proved(players, seeds):
    solved = 0
    for seed in seeds:
        states, known = near_the_end("tzolkin", players, seed, 6000)
        for state in states:
            solved += is_proved_as_played(state, known)
    assert solved >= len(seeds)


def is_proved_as_played(state, known):
    """Search a position; if that proves it, compare with all that can happen, and return True."""
    result = run(state, iterations=3000)
    best = best_play(state, known, 10**6)
    if result["stop_reason"] != "solved":
        return False
    assert best is not None
    assert result["candidates"][0]["value"] == pytest.approx(best[0], abs=EQUAL)
    assert_keeps(state, result, known)
    return True


def test_the_last_turns_of_coatl_are_proved_where_nothing_is_hidden():
    states, known = near_the_end("coatl", 3, 4, 5000)
    shown = [state_of(with_all_hands_shown(state)) for state in states[-2:]]
    assert [is_proved_as_played(state, {}) for state in shown] == [True, True]
    # The same hands, but hidden: what the others hold decides the scores.
    assert not any(is_proved_as_played(state, known) for state in states[-2:])


def with_all_hands_shown(state):
    position = mexica_ai.Position("coatl", state).to_json()
    position.pop("memory", None)  # what was observed of hidden hands
    for seat in position["seats"]:
        seat["shown"] = seat["hand"]
    return position


ENDED = {"display": [], "no_tiles": True, "period": 2, "round_": 20}


@pytest.mark.parametrize(("scores", "share"), [([0, 54], 1.0), ([0, 55], 1.0), ([0, 60], 1.0), ([0, 30], 0.0)])
def test_the_last_turn_of_mexica_is_proved_with_the_best_margin(scores, share):
    state = state_of(build(2, pillis=["B3", "J7"], built_all=[0], to_move=1, points=2, scores=scores, **ENDED))
    result, known = run(state, iterations=5000), {}
    best = best_play(state, known, 50_000)
    # A loss is not proved: Mexica's policy leaves actions out.
    assert result["stop_reason"] == ("solved" if share == 1.0 else "iterations")
    assert list(result["candidates"][0]["value"]) == list(best[0])
    assert_keeps(state, result, known)


def test_published_shares_of_a_solved_position_are_those_proved():
    state = state_of(FORCED_WINS["temple 3"])
    result = mexica_ai.best_turn(mexica_ai.Position("mexica", state), iterations=5000, seed=1)
    assert (result.stop_reason, result.value) == ("solved", [0, 1])
    assert all(point.value == [0, 1] for point in result.candidates[0].forecast)


def test_levels_prove_nothing():
    for level in (1, 5, 9):
        result = mexica_ai.best_turn(mexica_ai.new_game("nim", piles=[1, 2]), level=level, seed=1, iterations=30)
        assert result.stop_reason == "iterations"


@pytest.mark.parametrize("solve", [0, 1])
def test_a_shared_win_that_is_proved_is_played_rather_than_a_likely_loss(solve):
    search = Search(HOLD_OR_RISK.starts.new_state(2, 1), seed=1, solve=solve)
    search.run(iterations=2000)
    hold, risk = search.result(2)["candidates"]
    assert HOLD_OR_RISK.text.format_action(hold["actions"][0]) == "hold"
    assert hold["value"][0] == pytest.approx(0.5)
    assert hold["visits"] > risk["visits"]


def test_of_halving_no_turn_that_is_proved_to_lose_comes_first():
    num_unproved = 0
    for seed, iterations in itertools.product(range(40), (20, 60, 200)):
        found = run_any(nim((2, 3, 4), plies=2, plies_left=2), iterations=iterations, seed=seed, halving=4, solve=1)
        shares = [each["value"][0] for each in found["candidates"]]
        if found["stop_reason"] != "solved" and max(shares) > EQUAL:
            num_unproved += 1
            assert shares[0] > EQUAL
    assert num_unproved > 20

"""The environments: PettingZoo's own tests, the games that are stepped together, OpenSpiel's own test."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from mexica_ai import env
from mexica_ai.game import registry
from mexica_ai.io.errors import IllegalActionError, SearchError

GAMES = registry.names()
ROOT = Path(__file__).parents[2]
needs_pettingzoo = pytest.mark.skipif(not importlib.util.find_spec("pettingzoo"), reason="needs the extra rl")


@needs_pettingzoo
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests(game):
    from pettingzoo.test import api_test, seed_test

    api_test(env.aec(game, players=3, seed=1), num_cycles=100)
    seed_test(lambda: env.aec(game, players=2), num_cycles=50)


@needs_pettingzoo
@pytest.mark.parametrize("mode", ["human", "", 1])
def test_a_render_mode_that_does_not_exist_is_refused(mode):
    with pytest.raises(
        SearchError, match=r'^render_mode: given .*; expected "ansi"(, "rgb_array")?, or None$'
    ) as caught:
        env.aec("nim", render_mode=mode)
    assert (caught.value.reason, caught.value.path) == ("INVALID_OPTION", "render_mode")


@needs_pettingzoo
def test_options_of_a_reset_are_those_of_the_game(recwarn):
    one = env.aec("nim", seed=1, piles=[3])
    one.reset(options={"piles": [1, 1]})
    assert one.unwrapped.legal == ["take 1 1", "take 1 2"]
    one.reset()
    assert len(one.unwrapped.legal) == 3
    with pytest.raises(ai.NotationError, match="piles"):
        one.reset(options={"piles": "many"})
    assert not recwarn
    words = r'"board" means nothing to nim; expected only piles, plies_per_turn$'
    with pytest.warns(UserWarning, match=words) as caught:
        one.reset(options={"board": 1})
    assert caught[0].filename == __file__


@needs_pettingzoo
def test_a_game_by_pettingzoos_interface():
    one = env.aec("nim", players=2, piles=[3], render_mode="ansi")
    one.reset(seed=1)
    assert one.unwrapped.legal == ["take 1 1", "take 2 1", "take 3 1"]
    observation = one.last()[0]
    assert observation["action_mask"].sum() == 3
    assert not one.observe("seat_1")["action_mask"].any()
    assert one.render() == str(ai.new_game("nim", piles=[3]))
    for wrong, given in ((3, "3"), (-1, "-1"), (1.5, "1.5"), ("a", '"a"'), (None, "null")):
        with pytest.raises(IllegalActionError, match=f"given {given}; expected an index from 0 to 2"):
            one.step(wrong)
    one.step(np.int64(1))
    assert one.agent_selection == "seat_1"
    one.step(0)
    assert one.rewards == {"seat_0": 0.0, "seat_1": 1.0}
    assert one.terminations == {"seat_0": True, "seat_1": True}


@pytest.mark.parametrize("game", GAMES)
def test_games_stepped_together_are_games(game):
    games = env.vector(game, 3, players=2, seed=5, masks=True, observations=True, starts=2)
    rng = np.random.default_rng(1)
    states = [games.state(i) for i in range(3)]
    for _ in range(60):
        for i, state in enumerate(states):
            legal = games.legal[i, : games.num_legal[i]].tolist()
            assert legal == state.legal_actions()
            assert games.to_move[i] == state.current_player
            assert games.masks[i].sum() == games.masks[i, : games.num_legal[i]].sum() == len(legal)
            np.testing.assert_array_equal(games.observations[i], env.observe(ai.Position(game, state)))
        chosen = rng.integers(games.num_legal)
        played = [int(games.legal[i, chosen[i]]) for i in range(3)]
        ended = games.step(chosen)
        assert games.actions.tolist() == played
        assert ended == games.done.sum()
        for i, state in enumerate(states):
            state.apply(played[i])
            had_event = state.current_player == CHANCE
            if had_event or state.is_terminal:
                assert games.done[i] or had_event
                if state.is_terminal:
                    assert games.rewards[i].tolist() == [np.float32(share) for share in state.returns()]
                    assert games.scores[i].tolist() == state.scores()
                states[i] = games.state(i)
            else:
                assert games.state(i) == state
                assert not games.done[i]
                assert not games.rewards[i].any()


@pytest.mark.parametrize("game", GAMES)
def test_random_play_ends_and_begins_anew(game):
    games = env.vector(game, 8, players=3, seed=2, legal=False, starts=3)
    assert games.legal is games.masks is games.observations is None
    ended = longest = 0
    for _ in range(40):
        ended += games.step_random(100)
        longest = max(longest, games.lengths.max())
        assert (games.rewards.sum(axis=1) == games.done).all()
    assert ended > 8
    assert longest <= registry.get(game).rules.max_game_length
    again = env.vector(game, 8, players=3, seed=2, legal=False, starts=3)
    for _ in range(40):
        again.step_random(100)
    assert [again.state(i) for i in range(8)] == [games.state(i) for i in range(8)]


@needs_pettingzoo
def test_what_all_seats_see_together_and_rewards_by_points():
    one = env.aec("coatl", players=3, reward="margin", seed=1)
    one.reset()
    state = one.state()
    assert one.unwrapped.state_space.contains(state)
    for seat in range(3):
        np.testing.assert_array_equal(state[seat], one.observe(f"seat_{seat}")["observation"])
    rng = np.random.default_rng(1)
    while not one.unwrapped.position.is_over:
        one.step(rng.choice(np.flatnonzero(one.last()[0]["action_mask"])))
    scores = one.unwrapped.position.scores
    assert one.rewards["seat_0"] == scores[0] - max(scores[1:])
    with pytest.raises(SearchError, match='reward: given "win"'):
        env.aec("nim", reward="win")


def test_arrays_have_docstrings():
    documented = {name for name, value in vars(env.VectorEnv).items() if isinstance(value, property) and value.__doc__}
    arrays = {
        "to_move",
        "num_legal",
        "legal",
        "masks",
        "observations",
        "actions",
        "done",
        "rewards",
        "scores",
        "lengths",
    }
    assert arrays <= documented
    assert env.VectorEnv.to_move.__doc__ == "numpy.ndarray: int32 [N], the seat to move."


def test_games_are_dealt_anew_for_ever():
    def deals(**options):
        games = env.vector("coatl", 4, seed=1, starts=3, **options)
        found = []
        for _ in range(40):
            games.step(np.zeros(4, int))
            found.append([start.hash for start in games.__reduce__()[1][1]])
        return found

    found = deals(redeal=16)
    assert found == deals(redeal=16)
    changes = [sum(map(int.__ne__, *pair)) for pair in itertools.pairwise(found)]
    assert changes == [1 if (step + 2) % 4 == 0 else 0 for step in range(39)]
    assert len({start for starts in found for start in starts}) == 3 + 10
    assert all(starts == found[0] for starts in deals(redeal=0))
    with pytest.raises(SearchError, match="redeal: given -1; expected a number of actions, or 0"):
        env.vector("nim", 1, redeal=-1)


@pytest.mark.parametrize("num_games", [5, 32])
def test_a_deal_follows_each_redeal_actions(num_games):
    games = env.vector("coatl", num_games, seed=1, starts=3, redeal=16)
    for _ in range(7):
        games.step(np.zeros(num_games, int))
    assert games._deals.dealt == 3 + 7 * num_games // 16


def test_the_oldest_deal_goes_first_also_after_other_starts():
    games = env.vector("coatl", 4, seed=1, starts=3, redeal=4)
    games.begin_from(2)
    before = [start.hash for start in games.__reduce__()[1][1]]
    games.step(np.zeros(4, int))
    after = [start.hash for start in games.__reduce__()[1][1]]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


def test_starts_that_are_given_stay():
    games = env.vector("coatl", 3, seed=1, starts=4, redeal=6)
    start = ai.new_game("coatl", seed=5)
    games.set_starts([start.state])
    for _ in range(10):
        games.step(np.zeros(3, int))
    games.reset()
    assert all(games.position(i) == start for i in range(3))


def test_games_are_reset_and_set():
    games = env.vector("coatl", 3, seed=1, starts=4, observations=True)
    fresh = games.observations.copy()
    for _ in range(30):
        games.step(np.zeros(3, int))
    assert games.lengths.all()
    observations, info = games.reset(seed=1)
    np.testing.assert_array_equal(observations, fresh)
    assert info == {}
    assert not games.lengths.any()
    games.reset()
    assert not np.array_equal(games.observations, fresh)
    position = ai.load(ROOT / "examples" / "coatl_midgame.json")
    games.set_position(1, position)
    assert games.position(1) == position
    np.testing.assert_array_equal(games.observations[1], env.observe(position))
    for seat in range(2):
        np.testing.assert_array_equal(games.observe_all()[1, seat], env.observe(position, seat))
    games.begin_from([position])
    games.reset()
    assert all(games.position(i) == position for i in range(3))
    games.reset(options={"starts": [position]})
    with pytest.raises(SearchError, match="starts: given 3; expected positions"):
        games.begin_from(3)
    with pytest.raises(SearchError, match='options: given "deal"; expected only starts'):
        games.reset(options={"deal": 1})
    with pytest.raises(IndexError, match="game 3: expected 0 to 2"):
        games.set_position(3, position)
    over = ai.new_game("nim", piles=[1])
    over.push("take 1 1")
    for wrong in (over, ai.new_game("nim", players=3)):
        with pytest.raises(SearchError):
            env.vector("nim", 1).set_position(0, wrong)


def test_what_games_stepped_together_refuse():
    games = env.vector("nim", 2, seed=1, piles=[2, 2], starts=1)
    before = games.state(0)
    for actions, message in (
        ([0], "expected integers of shape"),
        ([0.0, 0.0], "expected integers of shape"),
        ([0, 4], r"actions\[1\]: given 4; expected 0 to 3"),
        ([-1, 0], r"actions\[0\]: given -1; expected 0 to 3"),
    ):
        with pytest.raises(ValueError, match=message):
            games.step(np.array(actions))
    assert games.state(0) == before
    with pytest.raises(IndexError):
        games.state(2)
    with pytest.raises(ValueError, match="expected 2 seats from 0 to 1"):
        games.observe(np.array([0, 2]))
    with pytest.raises(SearchError, match="expected legal=True"):
        env.vector("nim", 2, legal=False).step([0, 0])
    with pytest.raises(SearchError, match="num_games"):
        env.vector("nim", 0)
    with pytest.raises(SearchError, match=r"num_games: given 2\.5; expected an integer"):
        env.vector("nim", 2.5)
    nim, coatl = ai.new_game("nim"), ai.new_game("coatl", players=2, seed=1)
    for game, starts, options, message in (
        ("nim", [nim, ai.new_game("mexica")], {}, r'starts\[1\]: given "mexica"; expected a position of nim'),
        ("nim", [nim, 1], {}, r"starts\[1\]: given 1; expected a Position"),
        ("nim", 2.5, {}, "starts: given 2.5; expected 1 to 1048576, or positions"),
        ("nim", [nim], {"players": 4}, r'starts\[0\]: given "2 seats"; expected 4 seats'),
        ("nim", [nim, ai.new_game("nim", players=3)], {}, r'starts\[1\]: given "3 seats"; expected 2 seats'),
        ("nim", [nim], {"piles": [5]}, "piles: given a list of 1 entries; expected no options"),
        ("coatl", [coatl, coatl.view(1)], {}, r'starts\[1\]: given "the view of seat 1"; expected a full position'),
    ):
        with pytest.raises(SearchError, match=message):
            env.vector(game, 1, starts=starts, **options)
    assert env.vector("coatl", 1, starts=[ai.new_game("coatl", players=3, seed=1)]).num_players == 3
    over = ai.new_game("nim", piles=[1])
    over.push("take 1 1")
    with pytest.raises(SearchError, match=r"starts\[1\]: is over"):
        env.vector("nim", 1, starts=[ai.new_game("nim"), over])


@pytest.mark.parametrize("game", GAMES)
def test_the_features_of_games_stepped_together(game):
    games = env.vector(game, 5, players=2, seed=5, actions="features", starts=2)
    layout = env.action_schema(game)
    for step in range(30):
        assert games.offsets.dtype == np.int64
        assert games.offsets.tolist() == [0, *np.cumsum(games.num_legal)]
        rows = games.action_features
        assert rows.dtype == np.float32
        assert rows.shape == (games.offsets[-1], layout.size)
        for i, (begin, end) in enumerate(itertools.pairwise(games.offsets)):
            np.testing.assert_array_equal(rows[begin:end], games.state(i).action_features())
        rows[:] = 1  # is written anew
        games.step(games.num_legal // 2) if step % 2 else games.step_random(17)


def test_the_ids_of_games_stepped_together():
    games = env.vector("nim", 4, players=2, seed=5, masks=True, actions="ids", piles=[2, 7, 1])
    assert games.masks.shape == (4, env.num_action_ids("nim"))
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(200):
        for i in range(4):
            ids = games.action_ids[i, : games.num_legal[i]].tolist()
            assert ids == games.state(i).action_ids()
            assert np.flatnonzero(games.masks[i]).tolist() == sorted(ids)
        chosen = rng.integers(games.num_legal)
        played = games.legal[range(4), chosen].tolist()
        ended += games.step(games.action_ids[range(4), chosen])
        assert games.actions.tolist() == played
    assert ended > 10
    before = [games.state(i) for i in range(4)]
    wrong = games.action_ids[:, 0].copy()
    for number in (503, 504, -1, 2**40, int(np.flatnonzero(games.masks[2] == 0)[0])):
        wrong = wrong.astype(np.int64)
        wrong[2] = number
        with pytest.raises(ValueError, match=rf"^actions\[2\]: given {number}; expected the id of a legal action$"):
            games.step(wrong)
    assert [games.state(i) for i in range(4)] == before
    with pytest.raises(ValueError, match="read-only"):
        games.action_ids[:] = 1


@pytest.mark.parametrize("make", [lambda **options: env.vector("mexica", 2, seed=1, starts=1, **options), env.aec])
def test_actions_that_a_game_does_not_have_are_refused(make):
    if make is env.aec:
        pytest.importorskip("pettingzoo")
    with pytest.raises(SearchError, match=r'^actions: given "text"; expected "ids", "features" or None$') as caught:
        make(actions="text")
    assert (caught.value.reason, caught.value.path) == ("INVALID_OPTION", "actions")
    with pytest.raises(SearchError, match="mexica has no ids of actions") as caught:
        make(actions="ids")
    assert caught.value.reason == "NO_ACTION_IDS"


def test_features_need_lists():
    with pytest.raises(SearchError, match="with legal"):
        env.vector("nim", 2, legal=False, actions="features")


@needs_pettingzoo
def test_ids_by_pettingzoos_interface():
    from pettingzoo.test import api_test

    api_test(env.aec("nim", players=3, seed=1, actions="ids"), num_cycles=50)
    one = env.aec("nim", players=2, piles=[3, 1], actions="ids")
    one.reset(seed=1)
    assert one.action_space("seat_0").n == len(one.last()[0]["action_mask"]) == env.num_action_ids("nim")
    assert np.flatnonzero(one.last()[0]["action_mask"]).tolist() == one.unwrapped.position.state.action_ids()
    with pytest.raises(IllegalActionError, match="given 3; expected the id of a legal action"):
        one.step(3)
    one.step(2)
    assert one.unwrapped.legal == ["take 1 2"]


@needs_pettingzoo
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("game", GAMES)
def test_features_by_pettingzoos_interface(game):
    from pettingzoo.test import api_test

    api_test(env.aec(game, players=2, seed=1, actions="features"), num_cycles=50)
    one = env.aec(game, players=2, seed=3, actions="features")
    one.reset()
    for _ in range(20):
        observation, _, termination, _, info = one.last()
        if termination:
            break
        rows = info["action_features"]
        assert len(rows) == observation["action_mask"].sum()
        np.testing.assert_array_equal(rows, one.unwrapped.position.state.action_features())
        assert [bool(one.infos[agent]) for agent in one.agents].count(True) == 1
        one.step(len(rows) // 2)


def test_observations_of_chosen_seats():
    games = env.vector("coatl", 3, players=3, seed=4, starts=3)
    seen = games.observe([0, 1, 2])
    for i in range(3):
        np.testing.assert_array_equal(seen[i], env.observe(games.position(i), i))


def test_the_arrays_are_read_only_but_for_observations():
    games = env.vector("nim", 2, seed=1, piles=[2, 2], masks=True, observations=True, starts=1)
    for name in ("num_legal", "legal", "masks", "to_move", "actions", "done", "rewards", "scores"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(games, name)[:] = 1
    before = games.legal.copy()
    games.observations[:] = 0
    np.from_dlpack(games.observations)
    games.step([0, 1])
    assert (games.legal != before).any()
    np.testing.assert_array_equal(games.observations[1], env.observe(games.position(1)))


def test_a_batch_without_a_seed_is_refused():
    with pytest.raises(SearchError, match="seed: None, expected an integer"):
        env.VectorEnv([ai.new_game("nim").state], 2, seed=None)

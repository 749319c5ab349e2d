"""Environments by gymnasium's interfaces: its own checker, opponents inside, rewards, what is illegal, and copies."""

import copy
import dataclasses
import importlib.util
import pickle
import threading
import warnings
from functools import partial

import numpy as np
import pytest

import mexica_ai as ai
from mexica_ai import env
from mexica_ai.env.rewards import rewards_of
from mexica_ai.game import registry
from mexica_ai.io.errors import GameOverError, IllegalActionError, SearchError

gymnasium = pytest.importorskip("gymnasium")
from mexica_ai.env.gymnasium import GymVectorEnv, SingleEnv  # noqa: E402

GAMES = registry.names()
can_draw = importlib.util.find_spec("resvg_py") and importlib.util.find_spec("PIL")


def first(observation, mask):
    return int(mask.argmax())


def play_out(one, seed=None):
    """Play a game with random actions; return the last step."""
    _, info = one.reset(seed=seed)
    rng = np.random.default_rng(1)
    for _ in range(10_000):
        step = one.step(rng.choice(np.flatnonzero(info["action_mask"])))
        info = step[-1]
        if step[2]:
            return step
    pytest.fail("no end")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasiums_own_checker(game):
    from gymnasium.utils.env_checker import check_env

    one = gymnasium.make(f"mexica_ai/{game}-v1", illegal="random", players=2)
    check_env(one.unwrapped, skip_render_check=game != "coatl" or not can_draw)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_against_opponents_ends(game):
    one = env.single(game, ["random", first, "past", "level=1"], players=3, seed=3, reward="sign")
    seats, opponents = set(), []
    for _ in range(3):
        observation, reward, is_over, truncated, info = play_out(one)
        assert (is_over, truncated, observation.shape) == (True, False, (one.schema.size,))
        assert reward == pytest.approx(2 * info["shares"][one.seat] - 1)
        assert info["shares"].sum() == pytest.approx(1)
        assert info["scores"].tolist() == one.position.scores
        assert not info["action_mask"].any()
        seats.add(info["seat"])
        opponents += one._seats
    assert seats == {0, 1, 2}
    assert len(set(map(id, opponents))) > 1
    with pytest.raises(GameOverError, match="expected reset"):
        one.step(0)
    one.close()


def test_the_same_seed_plays_the_same_game():
    one = env.single("coatl", ["random"], seed=5)
    again = env.single("coatl", ["random"], seed=6)
    for seed in (7, 8):
        for left, right in zip(play_out(one, seed)[:4], play_out(again, seed)[:4], strict=True):
            np.testing.assert_array_equal(left, right)
        assert one.position == again.position


def test_what_the_learner_sees_is_what_its_seat_sees():
    one = env.single("coatl", ["random"], seed=1, seat=1, players=3)
    observation, info = one.reset(seed=1)
    assert info["seat"] == one.position.to_move == 1
    np.testing.assert_array_equal(observation, env.observe(one.position, 1))
    assert one.action_masks().dtype == bool
    assert one.action_masks().sum() == len(one.legal) == info["action_mask"].sum()
    state = one.state()
    for row, seat in enumerate((1, 2, 0)):
        np.testing.assert_array_equal(state[row], env.observe(one.position, seat))


def test_an_illegal_action_is_an_error_or_played_at_random_or_a_loss():
    one = env.single("nim", seat=0, piles=[3, 2])
    one.reset()
    with pytest.raises(IllegalActionError, match="action: given 503; expected an index from 0 to 4"):
        one.step(503)
    assert sum(one.position.to_json()["piles"]) == 5
    one = env.single("nim", seat=0, piles=[3, 2], illegal="random", seed=1)
    one.reset()
    assert one.step(503)[-1]["illegal"]
    assert sum(one.position.to_json()["piles"]) < 5
    for reward, expected in (("share", 0.0), ("sign", -1.0), ("margin", -1.0)):
        one = env.single("nim", seat=0, piles=[3, 2], illegal="lose", reward=reward)
        one.reset()
        assert one.step("x")[1:3] == (expected, True)


def test_rewards():
    shares, scores = [0.5, 0.5, 0.0], [10.0, 10.0, 4.0]
    assert rewards_of("share", shares, scores).tolist() == shares
    assert rewards_of("sign", shares, scores).tolist() == [0, 0, -1]
    assert rewards_of("margin", shares, scores).tolist() == [0, 0, -6]
    assert rewards_of("margin", [shares] * 2, [scores, [1.0, 5.0, 2.0]]).tolist() == [[0, 0, -6], [-4, 3, -3]]


def test_a_past_policy_is_asked_as_the_learner_is():
    asked = []

    def past(observation, mask):
        asked.append((observation.shape, mask.shape))
        return np.flatnonzero(mask)[-1]

    one = env.single("nim", ["past"], seat=0, piles=[1, 1, 1])
    one.unwrapped.set_past(past)
    one.reset()
    one.step(0)
    assert asked == [((env.schema("nim").size,), (one.action_space.n,))]
    assert one.position.to_json()["piles"] == [0, 1, 0]
    one.set_past(lambda observation, mask: -1)
    one.reset()
    with pytest.raises(SearchError, match="past: chooses -1; expected an index from 0 to 1"):
        one.step(0)


def test_a_game_whose_opponent_has_failed_is_over():
    def fails(observation, mask):
        raise RuntimeError("tired")

    one = env.single("nim", [fails], seat=0, seed=1, piles=[3, 4])
    one.reset()
    with pytest.raises(SearchError, match="fails: RuntimeError: tired"):
        one.step(0)
    with pytest.raises(GameOverError, match="expected reset first"):
        one.step(0)
    one.reset()


def test_actions_may_be_fixed_ids_or_have_features():
    ids = env.single("nim", ["past", first], seat=0, piles=[3, 2], actions="ids", seed=1)
    assert ids.action_space.n == env.num_action_ids("nim")
    _, info = ids.reset()
    taken = {}
    for number in np.flatnonzero(info["action_mask"]):
        ids.reset(options={"start": ai.new_game("nim", piles=[3, 2])})
        ids._let_others_play = lambda: None
        ids.step(number)
        taken[int(number)] = ids.position.to_json()["piles"]
    assert sorted(taken.values()) == [[0, 2], [1, 2], [2, 2], [3, 0], [3, 1]]
    ids.reset(options={"piles": [1]})
    with pytest.raises(IllegalActionError, match="expected the id of a legal action"):
        ids.step(env.num_action_ids("nim") - 1)
    featured = env.single("nim", ["past"], actions="features", players=2, seed=1)
    observation, info = featured.reset()
    assert featured.observation_space.contains(observation)
    rows = observation["action_features"]
    np.testing.assert_array_equal(rows[: info["action_mask"].sum()], featured._state.action_features())
    assert not rows[info["action_mask"].sum() :].any()
    play_out(featured)


def test_a_policy_that_asks_for_limits_gets_those_of_a_second():
    class Asking:
        def best_turn(self, position, *, limits, stop, **others):
            asked.append((limits.time_s, stop.is_set(), list(others)))
            return position.legal_actions()[0]

    asked = []
    env.single("nim", [Asking()], seat=1).reset()
    assert asked == [(1.0, False, ["seed"])]


def test_games_begin_from_positions():
    starts = [ai.new_game("nim", piles=[2]), ai.new_game("nim", piles=[3])]
    one = env.single("nim", starts=starts, seat=0, seed=1)
    seen = {str(one.reset() and one.position.to_json()["piles"]) for _ in range(20)}
    assert seen == {"[2]", "[3]"}
    one.reset(options={"start": ai.new_game("nim", piles=[7])})
    assert one.position.to_json()["piles"] == [7]
    for options in ({"piles": [1]}, {"start": ai.new_game("nim", piles=[7]), "pilse": [1]}):
        with pytest.raises(SearchError, match="no options of the game beside positions to start from"):
            one.reset(options=options)
    one = env.single("nim", seat=1, starts=[ai.new_game("nim", piles=[1])])
    with pytest.raises(SearchError, match="20 games have ended before seat 1 was to move"):
        one.reset()
    one = env.single("nim", seat=0)
    one.reset(options={"piles": [5]})
    assert one.position.to_json()["piles"] == [5]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"reward": "win"}, 'reward: given "win"; expected one of "share", "sign", "margin"'),
        ({"illegal": "ignore"}, 'illegal: given "ignore"; expected one of "error", "random", "lose"'),
        ({"actions": "text"}, 'actions: given "text"; expected "ids", "features" or None'),
        ({"seat": 2}, "seat: given 2; expected 0 to 1, or None"),
        ({"opponents": []}, "opponents: given none"),
        ({"opponents": "random"}, r'opponents: given "random"; expected a list, such as \["level=3"\]'),
        ({"opponents": None}, "opponents: given null; expected a list"),
        ({"starts": []}, "starts: given none; expected at least one"),
        ({"opponents": [3]}, r"opponents\[0\]: is \"int\"; expected a method best_turn"),
        ({"render_mode": "human"}, 'given "human"; expected "ansi", "rgb_array", or None'),
        ({"starts": [ai.new_game("coatl")]}, 'given "coatl"; expected a position of nim'),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options, problem):
    with pytest.raises(SearchError, match=problem):
        env.single("nim", **options)


def test_a_number_of_seats_or_a_seed_that_cannot_be_is_refused():
    with pytest.raises(ai.PositionError, match="players"):
        env.single("nim", players=0)
    for one in (env.single("nim"), GymVectorEnv(env.vector("nim", 2, observations=True))):
        with pytest.raises(SearchError, match="seed: given -1; expected"):
            one.reset(seed=-1)


def test_a_missing_layout_of_observations_is_named(monkeypatch):
    game = registry.get("nim")
    without = dataclasses.replace(game, learning=dataclasses.replace(game.learning, schema=None))
    monkeypatch.setattr(registry, "get", lambda name: without)
    with pytest.raises(
        SearchError, match=r"nim has observations, but no layout .* Schema in its Game, `learning\.schema`"
    ):
        env.schema("nim")


@pytest.mark.skipif(not can_draw, reason="needs the extra gif")
def test_a_position_is_drawn_as_an_array():
    for one in (env.single("mexica", render_mode="rgb_array", seed=1), env.aec("mexica", render_mode="rgb_array")):
        one.reset()
        picture = one.render()
        assert picture.dtype == np.uint8
        assert picture.shape[2] == 3
        assert len(np.unique(picture)) > 10


def test_without_what_draws_the_error_says_what_to_install(monkeypatch):
    from mexica_ai.env import rendering

    monkeypatch.setattr(rendering, "_missing", lambda: "resvg_py")
    with pytest.raises(
        ModuleNotFoundError, match=r"needs resvg_py, which is not installed: pip install 'mexica-ai\[gif"
    ):
        env.single("mexica", render_mode="rgb_array")
    assert env.single("mexica").metadata["render_modes"] == ["ansi"]


def test_a_game_without_pictures_is_not_drawn(monkeypatch):
    from mexica_ai.env import rendering

    game = registry.get("nim")
    without = dataclasses.replace(game, picture=dataclasses.replace(game.picture, draw=None))
    monkeypatch.setattr(rendering.registry, "get", lambda name: without)
    with pytest.raises(SearchError, match='given "rgb_array"; expected "ansi", or None'):
        env.single("nim", render_mode="rgb_array")


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
def test_a_copied_environment_goes_on_alike_and_alone(copied):
    one = env.single("coatl", ["random", first, "level=1"], seed=4)
    one.reset()
    twin, before = copied(one), one.position
    one.step(0)
    assert twin.position == before
    twin.step(0)
    assert twin.position == one.position
    for left, right in zip(play_out(one)[:4], play_out(twin)[:4], strict=True):
        np.testing.assert_array_equal(left, right)
    assert one.position == twin.position


class Locked:
    """A policy that cannot be copied."""

    def __init__(self):
        self._lock = threading.Lock()

    def act(self, observation, mask):
        with self._lock:
            return first(observation, mask)


def test_a_copy_shares_policies():
    past = env.single("nim", ["past"], seed=3)
    past.set_past(Locked().act)
    made = gymnasium.make("mexica_ai/nim-v1", opponents=[Locked().act]).unwrapped  # whose spec has it, too
    for one in (past, made):
        twin = copy.copy(one)
        for each in (one, twin):
            play_out(each, seed=1)
        assert one.position == twin.position


@pytest.mark.real("processes")
def test_environments_run_in_processes_of_gymnasium():
    make = partial(env.single, "nim", ["level=1"], illegal="random")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = gymnasium.vector.AsyncVectorEnv([make, make], context="forkserver")
    try:
        envs.reset(seed=1)
        for _ in range(5):
            observations, *_, infos = envs.step(envs.action_space.sample())
        assert observations.shape == (2, env.schema("nim").size)
        assert infos["action_mask"].shape == (2, envs.single_action_space.n)
        envs.call("set_past", None)
    finally:
        envs.close()


# --- many games at once


def test_a_vector_environment_has_gymnasiums_attributes():
    games = env.vector("nim", 4, seed=1, observations=True, masks=True)
    assert (games.num_envs, games.single_action_space.n) == (4, games.max_actions)
    assert games.observation_space.contains(games.observations)
    assert games.action_space.shape == (4,)
    assert games.unwrapped is games
    games.close()
    made = gymnasium.make_vec("mexica_ai/nim-v1", num_envs=3, reward="margin")
    assert isinstance(made.unwrapped, GymVectorEnv)
    assert made.reset(seed=1)[0].shape == (3, games.game.observation_size)


def test_gymnasiums_form_of_a_step():
    envs = GymVectorEnv(env.vector("coatl", 8, players=3, seed=1, observations=True, masks=True), reward="sign")
    observations, info = envs.reset(seed=3)
    games = env.vector("coatl", 8, players=3, seed=3, observations=True, masks=True)
    np.testing.assert_array_equal(observations, games.observations)
    rng = np.random.default_rng(1)
    total = 0
    for _ in range(400):
        chosen = rng.integers(games.num_legal)
        moved = games.to_move.copy()
        games.step(chosen)
        kept = observations
        observations, rewards, ended, truncated, info = envs.step(chosen)
        assert kept is not observations
        np.testing.assert_array_equal(observations, games.observations)
        np.testing.assert_array_equal(info["action_mask"], games.masks)
        np.testing.assert_array_equal(ended, games.done)
        assert not truncated.any()
        for i in np.flatnonzero(ended):
            np.testing.assert_allclose(info["rewards"][i], 2 * games.rewards[i] - 1)
            assert rewards[i] == info["rewards"][i, moved[i]]
        assert not rewards[~ended].any()
        total += ended.sum()
    assert total > 0
    with pytest.raises(SearchError, match="games: keep no observations"):
        GymVectorEnv(env.vector("nim", 2))


def test_copied_games_in_gymnasiums_form_go_on_alone():
    envs = GymVectorEnv(env.vector("nim", 2, seed=1, observations=True))
    twin, before = copy.copy(envs), envs.games.position(0)
    envs.step(np.zeros(2, int))
    assert twin.games.position(0) == before != envs.games.position(0)


def test_single_environments_are_gymnasiums():
    assert isinstance(env.single("nim"), gymnasium.Env)
    assert issubclass(SingleEnv, gymnasium.Env)

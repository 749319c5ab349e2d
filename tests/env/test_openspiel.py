"""The games in OpenSpiel, by its own tests and bots; and its bots as engines. All need open_spiel (extra `spiel`)."""

import pickle

import numpy as np
import pytest

import mexica_ai as ai
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.io.errors import IllegalActionError, NotationError, SearchError

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python.algorithms import ismcts, mcts, minimax  # noqa: E402

from mexica_ai.env import openspiel  # noqa: E402

GAMES = registry.names()
KINDS = pyspiel.GameType


def start(text, steps=0, seed=1):
    """Return a state of a game after the deal and some random actions."""
    rng = np.random.default_rng(seed)
    state = pyspiel.load_game(f"mexica_ai({text})").new_initial_state()
    for _ in range(steps):
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    while state.is_chance_node():
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("chance", [4, 0])
def test_openspiels_own_test(game, chance):
    loaded = pyspiel.load_game(f"mexica_ai(game={game},players=3,chance={chance})")
    is_explicit = loaded.get_type().chance_mode != KINDS.ChanceMode.SAMPLED_STOCHASTIC
    pyspiel.random_sim_test(loaded, num_sims=1, serialize=is_explicit and game == "nim", verbose=False)


@pytest.mark.parametrize("game", GAMES)
def test_a_state_is_serialized_and_pickled(game):
    state = start(f"game={game}", steps=3 if game == "nim" else 12)
    again = [state.get_game().deserialize_state(state.serialize()), pickle.loads(pickle.dumps(state)), state.clone()]
    for one in again:
        assert one.history() == state.history()
        assert str(one) == str(state)
        assert one.legal_actions() == state.legal_actions()
        assert one.information_state_string() == state.information_state_string()
        one.apply_action(one.legal_actions()[0])
        assert str(one) != str(state)


@pytest.mark.parametrize(
    ("text", "chance", "information"),
    [
        ("game=nim", KINDS.ChanceMode.DETERMINISTIC, KINDS.Information.PERFECT_INFORMATION),
        ("game=coatl", KINDS.ChanceMode.EXPLICIT_STOCHASTIC, KINDS.Information.IMPERFECT_INFORMATION),
        ("game=mexica,chance=0", KINDS.ChanceMode.SAMPLED_STOCHASTIC, KINDS.Information.IMPERFECT_INFORMATION),
    ],
)
def test_the_type_says_what_a_game_is(text, chance, information):
    found = pyspiel.load_game(f"mexica_ai({text})").get_type()
    assert (found.chance_mode, found.information) == (chance, information)
    assert found.utility == KINDS.Utility.ZERO_SUM


def test_options_of_the_game_are_parameters():
    assert "[1, 2]" in str(start("game=nim,piles=1;2,plies_per_turn=2").position.to_json())
    plain = ai.new_game("coatl", seed=3, sacrifice_tokens=False)
    assert start("game=coatl,deal=3,sacrifice_tokens=false").position == plain != start("game=coatl,deal=3").position
    wrong = {"game=nim,piles=a;b": "piles", "game=nim,strict_ends=true": "strict_ends", "chance=-1": "chance"}
    for text, name in wrong.items():
        with pytest.raises(SearchError, match=rf"^{name}: given .*; expected") as caught:
            pyspiel.load_game(f"mexica_ai({text})")
        assert caught.value.reason == "INVALID_OPTION"


def test_a_deal_is_that_of_new_game():
    state = start("game=coatl,players=3,deal=7")
    assert state.position == ai.new_game("coatl", players=3, seed=7)
    assert not state.history()
    deals = {str(start("game=coatl", seed=seed)) for seed in range(4)}
    assert len(deals) == 4
    assert str(start("game=coatl,seed=1")) not in deals


def test_a_seed_has_outcomes_of_its_own():
    setups = [openspiel._Setup({"game": "coatl", "seed": seed}) for seed in range(4)]
    for state in (None, ai.new_game("coatl", seed=1).state):
        seeds = {setup.seed_of(state, outcome) for setup in setups for outcome in range(openspiel.DEALS)}
        assert len(seeds) == len(setups) * openspiel.DEALS


def test_utilities_sum_to_0():
    for text in ("game=nim,players=2", "game=nim,players=4"):
        state = start(text, steps=100)
        players = state.num_players()
        assert sorted(state.returns()) == pytest.approx([-1 / (players - 1)] * (players - 1) + [1])
        assert state.get_game().min_utility() == pytest.approx(-1 / (players - 1))
    assert start("game=nim").returns() == [0, 0]


def test_nims_actions_have_the_same_number_in_each_state():
    state = start("game=nim,piles=3;4")
    number = next(one for one in state.legal_actions() if state.action_to_string(one) == "take 2 1")
    state.apply_action(state.legal_actions()[0])
    assert state.action_to_string(number) == "take 2 1"
    with pytest.raises(IllegalActionError, match="expected one of"):
        state.apply_action(state.get_game().num_distinct_actions() - 1)


@pytest.mark.parametrize("game", ["coatl", "tzolkin", "mexica"])
def test_what_a_seat_knows_stays_when_the_rest_is_drawn_anew(game):
    state = start(f"game={game}", steps=25)
    seat = state.current_player()
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    before = str(state)
    worlds = [state.resample_from_infostate(seat, sampler) for _ in range(6)]
    for world in worlds:
        assert world.information_state_string() == state.information_state_string()
        assert world.observation_tensor() == state.observation_tensor()
        assert world.observation_string() == state.observation_string()
        assert world.legal_actions() == state.legal_actions()
        assert world.history() == state.history()
    assert len({world.state.hash for world in worlds}) > (game == "coatl")
    assert str(state) == before


def test_what_a_seat_knows_covers_what_it_has_done():
    keys = set()
    for first in (0, 1):
        state = start("game=nim,piles=1;1;2,players=2")
        taken = ["take 1 1", "take 1 2"]
        for text in taken if first else reversed(taken):
            numbers = {state.action_to_string(number): number for number in state.legal_actions()}
            state.apply_action(numbers[text])
        keys.add(state.information_state_string())
        board = str(state)
    assert len(keys) == 2, board


def test_the_tensors_are_the_observations():
    state = start("game=coatl", steps=10)
    loaded = state.get_game()
    seen = ai.env.observe(state.position, 1)
    assert np.array_equal(np.float32(state.observation_tensor(1)), seen)
    assert np.array_equal(np.float32(state.information_state_tensor(1)), seen)
    assert loaded.observation_tensor_shape() == [seen.size] == loaded.information_state_tensor_shape()
    observer = loaded.make_py_observer()
    observer.set_from(state, 1)
    assert np.array_equal(observer.tensor, seen)
    assert observer.string_from(state, 1) == state.observation_string(1)


def test_events_depend_on_what_is_hidden():
    rng = np.random.default_rng(1)
    state = start("game=coatl,deal=1")
    while not state.is_chance_node():
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert len({str(state.child(outcome)) for outcome in state.legal_actions()}) > 1
    assert str(state.child(3)) == str(state.child(3))


def test_a_position_becomes_a_state():
    position = ai.load("examples/coatl_midgame.json")
    state = openspiel.load(position)
    assert state.position == position
    assert state.current_player() == position.to_move
    seen = openspiel.load(position.view(position.to_move))
    assert seen.observation_string() == state.observation_string()
    text = position.to_compact()
    assert state.get_game().new_initial_state(text).position == position
    with pytest.raises(SearchError, match=r"^position: given .*; expected one of coatl"):
        state.get_game().new_initial_state(ai.new_game("nim").to_compact())


def test_openspiels_own_searches_play():
    rng = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    nim = start("game=nim,piles=1;2;2")
    assert (
        nim.action_to_string(mcts.MCTSBot(nim.get_game(), 2, 300, evaluator, random_state=rng).step(nim)) == "take 1 1"
    )
    value, action = minimax.alpha_beta_search(nim.get_game())
    assert (value, nim.action_to_string(action)) == (1, "take 1 1")
    coatl = start("game=coatl", steps=8)
    bot = ismcts.ISMCTSBot(coatl.get_game(), evaluator, 2, 5, random_state=rng)
    assert bot.step(coatl) in coatl.legal_actions()


@pytest.mark.parametrize("bot", ["mcts,iterations=3", "ismcts,iterations=3", "random", "uniform"])
def test_its_bots_are_engines(bot):
    position = ai.load("examples/coatl_midgame.json")
    with make_engine(f"spiel:{bot}") as engine:
        result = engine.best_turn(position, seed=5)
        assert result.turn == engine.best_turn(position, seed=5).turn
    position.copy().push(result.turn)
    ai.new_game("nim").push(make_engine("spiel:random").best_turn(ai.new_game("nim"), seed=1).turn)


def test_what_its_bots_cannot_do_is_said():
    with pytest.raises(NotationError, match=r"no 'mtcs'; expected one of mcts, ismcts, random, uniform.*mcts"):
        make_engine("spiel:mtcs")
    with pytest.raises(SearchError, match="nim hides nothing; expected spiel:mcts"):
        make_engine("spiel:ismcts").best_turn(ai.new_game("nim"))

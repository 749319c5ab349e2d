"""What leaves the process: every public class by pickle, copy and deepcopy; environments that go on alike."""

import copy
import copyreg
import dataclasses
import importlib
import importlib.util
import inspect
import multiprocessing
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from pure_nim import Nim

import cext
import mexica_ai as ai
from cext.core.baselines.beam import Beam
from cext.core.baselines.uct import UCT
from cext.core.contract.game import CHANCE, State
from cext.core.contract.pyops import PythonRules
from cext.core.contract.rng import Stream
from cext.core.learning.batch import Batch
from cext.core.search.pool import Pool
from cext.core.search.search import Search
from cext.core.search.turn_search import TurnSearch
from cext.variants import Finder
from mexica_ai import env
from mexica_ai.analysis.drill import Progress
from mexica_ai.analysis.evaluators import OnnxEvaluator
from mexica_ai.analysis.limits import clock_margin
from mexica_ai.engines import make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.engines.native import BeamEngine, GreedyEngine, MctsEngine, RandomEngine, UctEngine
from mexica_ai.engines.policy import Policy
from mexica_ai.engines.process import ProcessEngine
from mexica_ai.engines.python import PythonEngine
from mexica_ai.game import registry
from mexica_ai.game.checker import Checker
from mexica_ai.game.edit import Editor
from mexica_ai.game.entry import Kind
from mexica_ai.game.phrases import phrasebook
from mexica_ai.games.coatl.invariants import CoatlChecker
from mexica_ai.io.files import Unlocked
from mexica_ai.io.strict import Findings
from mexica_ai.pure.build import _Parts
from mexica_ai.pure.fields import Cards, Flag, Numbers
from mexica_ai.pure.rules import PureGame
from mexica_ai.pure.text import Reader
from mexica_ai.rpc.advice import Advisor
from mexica_ai.rpc.calls import Calls
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.session import Session

GAMES = registry.names()
LARGE_POOL = [3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13]  # what the second period gets is not known
WAYS = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "copy": copy.copy, "deepcopy": copy.deepcopy}
needs_pettingzoo = pytest.mark.skipif(not importlib.util.find_spec("pettingzoo"), reason="needs the extra rl")

# Packages and modules that are programs, not a library: the command line, the page, the service, the arena, training.
PROGRAMS = ("arena", "cli", "draw", "server", "train", "v1", "web", "__main__")
PROGRAMS += ("mexica_ai.io.terminal", "mexica_ai.env.openspiel", "mexica_ai.env.spiel_bots")
ABSTRACT = (Editor, Engine)
# Classes that cannot be copied; their errors say what to do instead.
REFUSED = (
    Advisor,
    ai.SearchRun,
    ai.Stop,
    AsyncClient,
    Beam,
    Client,
    Pool,
    ProcessEngine,
    PythonRules,
    Search,
    Stream,
    TurnSearch,
    UCT,
    Unlocked,
)


def public_classes():
    """Return the classes of all modules that are a library, by name."""
    found = {}
    for package in (ai, cext):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not {module.name.split(".")[1], module.name}.isdisjoint(PROGRAMS):
                continue
            try:
                names = vars(importlib.import_module(module.name))
            except ModuleNotFoundError as error:  # of an extra that is not installed
                assert error.name.partition(".")[0] not in ("cext", "mexica_ai")  # noqa: PT017
                continue
            for name, value in names.items():
                is_own = inspect.isclass(value) and value.__module__ == module.name and value not in ABSTRACT
                is_protocol = getattr(value, "_is_protocol", False)  # has no instances
                if is_own and not is_protocol and not name.startswith("_"):
                    found[f"{module.name}.{name}"] = value
    return found


CLASSES = public_classes()


def mexica():
    position = ai.new_game("mexica", players=3, seed=5)
    position.push(ai.best_turn(position, iterations=30, seed=1).turn)
    return position


def aec():
    pytest.importorskip("pettingzoo")
    one = env.aec("coatl", seed=3).unwrapped
    one.reset()
    return one


def first(observation, mask):
    return int(mask.argmax())


def single(actions=None):
    pytest.importorskip("gymnasium")
    one = env.single("nim", ["past"], seed=3, actions=actions)
    one.reset()
    return one


def gym_vector():
    pytest.importorskip("gymnasium")
    from mexica_ai.env.gymnasium import GymVectorEnv

    return GymVectorEnv(env.vector("nim", 2, seed=1, observations=True))


def evaluator(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    floats = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["value"])],
        "network",
        [onnx.helper.make_tensor_value_info("x", floats, ["N", 3])],
        [onnx.helper.make_tensor_value_info("value", floats, ["N", 4])],
        [onnx.numpy_helper.from_array(np.eye(3, 4, dtype=np.float32), "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "network.onnx")
    return OnnxEvaluator(tmp_path / "network.onnx")


def run():
    return ai.SearchRun(ai.new_game("nim"), ai.SearchSettings(ai.Limits(iterations=1)))


# How to make one of each class of which `example` cannot, and what of it must be the same afterwards.
EXAMPLES = {
    "mexica_ai.analysis.drill.Progress": (lambda tmp_path: Progress(str(tmp_path / "none.json")), vars),
    "mexica_ai.io.files.Unlocked": (lambda: Unlocked.__new__(Unlocked), None),
    "mexica_ai.rpc.calls.Calls": (Calls, lambda calls: type(calls)),
    "mexica_ai.rpc.advice.Advisor": (lambda: Advisor("127.0.0.1:1", has_tls=False, is_direct=True), None),
    "mexica_ai.rpc.client.Client": (lambda: Client("127.0.0.1:1"), None),
    "mexica_ai.rpc.client.AsyncClient": (lambda: AsyncClient("127.0.0.1:1"), None),
    "mexica_ai.engines.process.ProcessEngine": (lambda: ProcessEngine.__new__(ProcessEngine), None),
    "mexica_ai.env.pettingzoo.GameEnv": (aec, lambda one: (one.position, one.legal, one.agent_selection)),
    "mexica_ai.env.gymnasium.SingleEnv": (single, lambda one: (one.position, one.legal, one.seat, one._opponents)),
    "mexica_ai.env.gymnasium.GymVectorEnv": (gym_vector, lambda envs: envs.games.legal.tolist()),
    "mexica_ai.env.forms.Form": (lambda: single()._form, lambda form: (form.size, form.schema.size)),
    "mexica_ai.env.forms.IdForm": (lambda: single("ids")._form, lambda form: (form.size, form.schema.size)),
    "mexica_ai.env.forms.FeatureForm": (lambda: single("features")._form, lambda form: form.observation_space),
    "mexica_ai.engines.policy.Policy": (lambda: Policy(first, "first"), vars),
    "mexica_ai.env.vector.VectorEnv": (lambda: env.vector("coatl", 3, seed=1), lambda games: games.legal.tolist()),
    "mexica_ai.analysis.evaluators.OnnxEvaluator": (evaluator, lambda one: one(np.ones((2, 3), np.float32)).tolist()),
    "mexica_ai.game.entry.Kind": (lambda: Kind.SPACE, lambda kind: kind),
    "mexica_ai.pure.fields.Numbers": (lambda: Numbers(2, high=3), vars),
    "mexica_ai.pure.fields.Flag": (lambda: Flag(2), vars),
    "mexica_ai.pure.fields.Cards": (lambda: Cards(3), vars),
    "mexica_ai.pure.rules.PureGame": (PureGame, vars),
    "mexica_ai.pure.text.Reader": (lambda: Reader("one", 1, {}, {}, 2), vars),
    "mexica_ai.game.phrases.Phrasebook": (lambda: phrasebook(registry.get("coatl").teaching.folder), vars),
    "mexica_ai.game.schema.Schema": (lambda: env.schema("coatl"), lambda found: (found.size, str(vars(found)))),
    "mexica_ai.analysis.margin.Margin": (clock_margin, lambda margin: (margin.mean_s, margin.of(1.0))),
    "mexica_ai.game.position.Position": (mexica, lambda position: (position, position.history, position.to_json())),
    "mexica_ai.game.contract.Game": (lambda: registry.get("nim"), None),
    "mexica_ai.session.Session": (lambda: Session(mexica(), {}), lambda one: (one.position, one.position.history)),
    "mexica_ai.analysis.search.SearchRun": (run, None),
    "mexica_ai.analysis.stopping.Stop": (lambda: ai.Stop(), None),
    "mexica_ai.io.strict.Findings": (Findings, lambda findings: findings.violations),
    "mexica_ai.game.checker.Checker": (lambda: Checker({"seats": []}, "$", Findings()), lambda one: one.data),
    "mexica_ai.games.coatl.invariants.CoatlChecker": (
        lambda: CoatlChecker(ai.new_game("coatl").to_json(), "$", Findings()),
        lambda one: one.data,
    ),
    "cext.core.learning.batch.Batch": (lambda: Batch([mexica().state], 3, seed=1), lambda games: games.legal.tolist()),
    "cext.core.baselines.beam.Beam": (lambda: Beam(mexica().state, weights=registry.get("mexica").weights()), None),
    "cext.variants.Finder": (lambda: Finder(Path("folder")), vars),
    "cext.core.contract.pyops.PythonRules": (lambda: _Parts(Nim()).rules, None),
    "cext.core.contract.game.Game": (lambda: registry.get("nim").rules, None),
    "cext.core.contract.game.State": (lambda: mexica().state, None),
    "cext.core.contract.rng.Stream": (lambda: Stream(1), None),
    "cext.core.search.pool.Pool": (lambda: Pool(registry.get("nim").rules, 2, None, players=2), None),
    "cext.core.search.search.Search": (lambda: Search(mexica().state, weights=registry.get("mexica").weights()), None),
    "cext.core.search.turn_search.TurnSearch": (lambda: TurnSearch(), None),
    "cext.core.baselines.uct.UCT": (lambda: UCT(ai.new_game("nim").state), None),
    "cext.core.learning.weights.Weights": (
        registry.get("mexica").weights,
        lambda weights: (weights.sha256, weights.game),
    ),
    "cext.core.learning.weights.WeightsSpec": (lambda: registry.get("mexica").learning.weights, None),
}
SPECS = {
    MctsEngine: "mcts,level=3",
    UctEngine: "uct",
    BeamEngine: "beam",
    GreedyEngine: "greedy",
    RandomEngine: "random",
    PythonEngine: "py:examples.policies:Uniform",
}


def example(name, tmp_path):
    """Return an object of a class, and what of it must be the same afterwards."""
    kind = CLASSES[name]
    if name in EXAMPLES:
        make, shown = EXAMPLES[name]
        arguments = [tmp_path] if "tmp_path" in inspect.signature(make).parameters else []
        return make(*arguments), shown or (lambda one: one)
    if issubclass(kind, ai.MexicaAIError):
        error = kind("what", reason="WHY", path="$.a", violations=[ai.Violation("$.a", "WHY", "what")])
        error.action_index = 3
        return error, lambda error: (str(error), vars(error))
    if issubclass(kind, Engine):
        spec = SPECS.get(kind, "grpc:127.0.0.1:1,iterations=3")
        return make_engine(spec, seed=1), lambda engine: (engine.spec, engine._defaults)
    if Editor in kind.__mro__:
        return kind(), vars
    if issubclass(kind, tuple):
        return kind(*kind._fields), lambda one: one
    if dataclasses.is_dataclass(kind):
        one = object.__new__(kind)
        for field in dataclasses.fields(kind):
            object.__setattr__(one, field.name, [field.name])
        return one, lambda one: one
    pytest.fail(f"{name}: new here; expected an example of it in EXAMPLES, which can be copied or says why not")


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class(name, tmp_path):
    for way, copied in WAYS.items():
        original, shown = example(name, tmp_path)
        if isinstance(original, REFUSED):
            words = rf"\b{type(original).__name__} cannot be copied or pickled: .*\bmake\b"
            with pytest.raises(TypeError, match=words):
                copied(original)
            continue
        twin = copied(original)
        assert type(twin) is type(original), way
        assert shown(twin) == shown(original), way


# ---- states and positions


def random_turn(position, rng):
    """Return a legal turn, or the outcome of the random event that is due."""
    twin = position.copy()
    if twin.is_chance:
        return twin.draw(int(rng.integers(2**63)))
    turn, started = [], twin.state.turn
    while not twin.is_over and not twin.is_chance and twin.state.turn == started:
        turn.append(str(rng.choice(twin.legal_actions())))
        twin.push_action(turn[-1])
    return turn


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_positions_with_their_history(game, seed):
    rng = np.random.default_rng(seed)
    full = ai.new_game(game, players=2, seed=seed)
    positions = [full, full.view(seed % 2)]
    for _ in range(12):
        if full.is_over:
            break
        turn = random_turn(full, rng)
        full.push(turn)
        try:
            positions[-1].push(turn)
        except ai.PositionError:  # uncovers what the view does not know
            positions[1:] = [full.view(seed % 2)]
    if full.to_move is not None:
        full.push_action(full.legal_actions()[0])
    for position in positions:
        for way in WAYS.values():
            twin = way(position)
            assert twin == position
            assert way(position.state) == position.state
            assert (twin.to_json(), twin.viewer) == (position.to_json(), position.viewer)
            assert (twin.history, twin.is_within_turn) == (position.history, position.is_within_turn)
            rest = position.copy()
            while twin.history:
                assert twin.pop() == rest.pop()
                assert twin == rest
            assert not rest.history


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_shares_nothing_that_changes(way):
    position = ai.new_game("nim", piles=[3, 4, 5])
    position.push("take 1 1")
    twin = WAYS[way](position)
    twin.pop().append("take 2 2")
    twin.push("take 3 3")
    assert position.history == [["take 1 1"]]
    assert twin.history == [["take 3 3"]]


@pytest.mark.parametrize("game", GAMES)
def test_a_pickled_state_goes_on_alike(game):
    """Random events, redeals and legal actions are the same, so nothing in memory differs that play depends on."""
    rng = np.random.default_rng(7)
    state = ai.new_game(game, players=3, seed=9).state.copy()
    for step in range(300):
        if state.is_terminal:
            break
        twin = WAYS["pickle"](state) if step % 10 == 0 else state.copy()
        seed = int(rng.integers(2**63))
        for each in (state, twin):
            redealt = each.copy()
            redealt.determinize(step % 3, seed)
            hashes = redealt.hash
            if each.current_player == CHANCE:
                each.resolve_chance(seed)
            else:
                legal = each.legal_actions()
                each.apply(legal[seed % len(legal)])
            last = (hashes, each.hash, each.legal_actions())
            if each is state:
                first = last
        assert last == first


def test_a_state_with_an_event_that_no_text_holds_is_refused():
    rng = np.random.default_rng(1)
    state = ai.new_game("mexica", seed=1, pool=LARGE_POOL).state.copy()
    while state.current_player != CHANCE:
        legal = state.legal_actions()
        state.apply(legal[rng.integers(len(legal))])
    with pytest.raises(ai.SearchError, match="no text holds the event that is due; expected") as caught:
        pickle.dumps(state)
    assert caught.value.reason == "CHANCE_PENDING"
    assert copy.copy(state) == copy.deepcopy(state) == state
    state.resolve_chance(1)
    assert pickle.loads(pickle.dumps(state)) == state


def test_a_position_of_another_version_is_refused():
    position = ai.new_game("nim", piles=[3, 4, 5])
    position.push("take 1 1")
    rebuild, (start, played, end) = position.__reduce__()
    with pytest.raises(ai.NotationError, match="pickled position: given version 9") as caught:
        rebuild(start.replace("nim/1", "nim/9"), played, end)
    assert caught.value.reason == "UNSUPPORTED_VERSION"
    with pytest.raises(ai.PositionError, match=r"its turns lead to .*; expected .*, as in the version") as caught:
        rebuild(start, played, start)
    assert caught.value.reason == "OTHER_VERSION"
    with pytest.raises(ai.IllegalActionError):
        rebuild(start, [["take 9 1"]], end)
    read, (text,) = copyreg.dispatch_table[State](position.state)
    with pytest.raises(ai.NotationError, match="pickled state: "):
        read(text + " 1")


# ---- environments


def play(one, turns, rng):
    for _ in range(turns):
        observation, _, termination, _, _ = one.last()
        if termination:
            break
        one.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))


@needs_pettingzoo
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", GAMES)
def test_a_copied_game_goes_on_alike(game, way):
    one = env.aec(game, players=2, seed=7)
    if way == "copy":  # PettingZoo's wrapper shares what it wraps
        one = one.unwrapped
    one.reset()
    play(one, 12, np.random.default_rng(1))
    twin = WAYS[way](one)
    for each in (one, twin):
        play(each, 60, np.random.default_rng(2))
        each.last_position = each.unwrapped.position
        each.reset()  # by the next numbers of the same generator
    assert twin.last_position == one.last_position
    assert twin.unwrapped.position == one.unwrapped.position
    assert WAYS["pickle"](env.aec(game, seed=1)).possible_agents == one.possible_agents  # not reset yet


def arrays_of(games):
    names = ("to_move", "num_legal", "masks", "observations", "actions", "done", "rewards", "scores", "lengths")
    names += ("action_features", "offsets")
    found = {name: None if (array := getattr(games, name)) is None else array.tolist() for name in names}
    if games.legal is not None:
        found["legal"] = [row[:n].tolist() for row, n in zip(games.legal, games.num_legal, strict=True)]
    if games.action_ids is not None:
        found["action_ids"] = [row[:n].tolist() for row, n in zip(games.action_ids, games.num_legal, strict=True)]
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "wanted",
    [{}, {"masks": True, "observations": True}, {"legal": False}, {"actions": "features"},
     {"masks": True, "actions": "ids"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("game", GAMES)
def test_copied_games_go_on_alike(game, wanted, way):
    if wanted.get("actions") == "ids" and not env.num_action_ids(game):
        pytest.skip(f"{game} has no ids of actions")
    games = env.vector(game, 5, players=2, seed=3, starts=4, **wanted)
    games.step_random(61)
    twin = WAYS[way](games)
    for step in range(8):
        assert arrays_of(twin) == arrays_of(games)
        for each in (games, twin):
            if wanted != {"legal": False}:
                indexes = each.num_legal // 2
                each.step(indexes if each.action_ids is None else each.action_ids[range(5), indexes])
            each.step_random(50 * step + 1)  # ends games, and draws new starts
    assert all(not array.flags.writeable for array in (twin.done, twin.rewards, twin.to_move))


def test_games_that_do_not_fit_are_refused():
    rebuild, (kind, starts, number, wanted, states, streams, kept), _ = env.vector("nim", 3, seed=1).__reduce__()
    other = ai.new_game("coatl", seed=1).state
    for wrong in (
        (states[:2], streams, kept),
        ([*states[:2], other], streams, kept),
        (states, streams[:2], kept),
        (states, streams, {**kept, "done": kept["done"][:2]}),
        (states, streams, {**kept, "done": kept["done"].astype(int)}),
        (states, streams, {**kept, "legal": kept["done"]}),
    ):
        with pytest.raises(ai.SearchError, match=r"^pickled games: ") as caught:
            rebuild(kind, starts, number, wanted, *wrong)
        assert caught.value.reason == "INVALID_OPTION"


@pytest.mark.parametrize("starts", [[None], [mexica().state, None], [1]])
def test_games_begin_with_states_only(starts):
    with pytest.raises(TypeError):
        Batch(starts, 2, seed=1)
    games = Batch([mexica().state], 2, seed=1)
    with pytest.raises(TypeError):
        games.set_starts(starts)


# ---- processes


def searched(position, weights):
    return ai.best_turn(position, iterations=30, seed=1, weights=weights).turn


@pytest.mark.real("processes")
def test_a_pool_of_processes():
    positions = [mexica(), ai.new_game("coatl", seed=2).view(0), ai.new_game("nim")]
    weights = [registry.get(each.game).weights() for each in positions]  # a new process has those that ship
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert [pool.submit(ai.Position.copy, each).result() for each in positions] == positions
        assert list(pool.map(searched, positions, weights)) == list(map(searched, positions, weights))
        games = env.vector("nim", 4, seed=1)
        assert pool.submit(games.step_random, 3).result(60) == 0

"""Python code as an engine: what a class may answer, what is refused, and that reading a spec imports nothing."""

import pickle
import sys

import numpy as np
import pytest

from mexica_ai import Limits, NotationError, SearchError, best_turn, new_game
from mexica_ai.arena.ladder_entries import identify
from mexica_ai.arena.play import Task, check_engines, play_game
from mexica_ai.arena.tournament import Tournament
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.engines.python import lending

SOURCE = """
import numpy as np
from mexica_ai import best_turn

class Searching:
    def best_turn(self, position, *, seed, limits):
        return best_turn(position, iterations=limits.iterations, seed=seed)

class Text:
    def best_turn(self, position):
        return best_turn(position, iterations=5).turn[0]

class Learnt:
    def __init__(self, weights="none"):
        self.rng, self.weights = np.random.default_rng(1), weights

    def act(self, observation, mask):
        assert observation.dtype == np.float32 and mask.dtype == np.int8
        return self.rng.choice(np.flatnonzero(mask))

def lowest(observation, mask):
    return np.array(0)

class Raises:
    def best_turn(self, position):
        raise RuntimeError("out of\\nluck")

class Number:
    def best_turn(self, position):
        return 3

class Beyond:
    def act(self, observation, mask):
        return len(mask)

class Word:
    def act(self, observation, mask):
        return "take"

class Illegal:
    best_turn = lambda self, position: ["take 900 1"]

class Needy:
    def __init__(self, size):
        pass

class Nothing:
    pass
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Give the name of a module with policies, in the current folder alone."""
    name = f"policies_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("game", ["coatl", "nim"])
def test_a_class_may_answer_with_turns_or_choose_actions(module, game):
    position = new_game(game, seed=1)
    seen = position.view(position.to_move)
    for name in ("Learnt", "lowest", "Searching"):
        with make_engine(f"py:{module}:{name}", iterations=20) as engine:
            result = engine.best_turn(seen, seed=5)
        position.copy().push(result.turn)
    assert result.turn == best_turn(seen, iterations=20, seed=5).turn
    assert result.iterations == 20


def test_a_turn_may_be_a_text(module):
    with make_engine(f"py:{module}:Text") as engine:
        new_game("nim").push(engine.best_turn(new_game("nim")).turn)


@pytest.mark.parametrize(
    ("name", "reason", "problem"),
    [
        ("Raises", "ENGINE_ERROR", "fails: RuntimeError: out of"),
        ("Number", "ENGINE_PROTOCOL", "answers 3; expected a list of actions"),
        ("Beyond", "ILLEGAL_TURN", "chooses the action 504; expected 0 to "),
        ("Word", "ENGINE_PROTOCOL", 'answers "take"; expected the index of an action'),
        ("Illegal", "ILLEGAL_TURN", "plays the turn 'take 900 1'"),
        ("Needy", "ENGINE_START", "making a Needy fails: TypeError"),
        ("Nothing", "BAD_POLICY", 'is "Nothing"; expected a method best_turn'),
        ("Lerant", "ENGINE_START", 'has no Lerant; expected a class of it; did you mean "Learnt"?'),
        ("np.absent", "ENGINE_START", "has no np.absent"),
    ],
)
def test_what_goes_wrong_is_told(module, name, reason, problem):
    with pytest.raises(SearchError) as caught, make_engine(f"py:{module}:{name}") as engine:
        engine.best_turn(new_game("nim"), Limits(iterations=5))
    assert caught.value.reason == reason
    assert f"engine py:{module}:{name}: " in str(caught.value)
    assert problem in str(caught.value)


def test_a_module_that_cannot_be_imported_is_told(module, tmp_path):
    (tmp_path / f"{module}_broken.py").write_text("1 / 0")
    (tmp_path / f"{module}_poor.py").write_text("import no_such_package")
    for name, problem in (
        ("no_such_module", "there is no module no_such_module; expected one that is installed"),
        (f"{module}.part", f"there is no module {module}.part"),
        (f"{module}_broken", "fails: ZeroDivisionError"),
        (f"{module}_poor", "needs no_such_package, which is not installed"),
    ):
        with pytest.raises(SearchError, match=problem) as caught:
            make_engine(f"py:{name}:Policy")
        assert caught.value.reason == "ENGINE_START"


@pytest.mark.parametrize("target", ["module", "module:", ":Class", "module:Class:x", "../x:Class", "a-b:Class"])
def test_a_target_is_a_module_and_a_class(target):
    with pytest.raises(NotationError, match="is not MODULE:CLASS, such as my_policies:Careful"):
        parse_spec(f"py:{target}")
    with pytest.raises(NotationError, match="py needs MODULE:CLASS"):
        parse_spec("py")


def test_reading_a_spec_imports_nothing(module):
    spec = parse_spec(f"py:{module}:Learnt,weights=net.pt")
    Tournament("nim", 2, (str(spec), "random"), names=("a", "b"), seed=1)
    assert module not in sys.modules
    assert parse_spec(str(spec)) == spec


def test_weights_are_a_file_whose_content_counts(module, tmp_path):
    (tmp_path / "net.pt").write_bytes(b"\x80\x02")
    spec = f"py:{module}:Learnt,weights=net.pt"
    with make_engine(spec) as engine:
        assert engine._policy._act.__self__.weights == "net.pt"
        identifier = engine.weights_id("nim")
        assert pickle.loads(pickle.dumps(engine)).weights_id("nim") == identifier
    (tmp_path / "net.pt").rename(tmp_path / "other.pt")
    with make_engine(spec.replace("net", "other")) as engine:
        assert engine.weights_id("nim") == identifier
    with pytest.raises(NotationError, match=r"cannot read net\.pt: No such file"), make_engine(spec) as engine:
        engine.weights_id("nim")
    with pytest.raises(SearchError, match="weights are given; expected none, since it is no class"):
        make_engine(f"py:{module}:lowest,weights=net.pt")
    same = [
        identify(
            Tournament("nim", 2, (text, "random"), names=("a", "b"), seed=1, weights=(identifier, None)),
            0,
            "",
            False,
            (),
        )
        for text in (spec, spec.replace("net", "other"))
    ]
    assert same[0] == same[1]


def test_the_arena_plays_policies_and_one_that_fails_forfeits(module):
    names = ("Learnt", "lowest", "Raises")
    engines = tuple(f"py:{module}:{name},iterations=1" for name in names)
    tournament = Tournament("coatl", 2, engines[:2], names=names[:2], seed=1)
    check_engines(tournament)
    assert play_game(Task(tournament, tournament.block(0)[0]))["termination"] == "finished"
    tournament = Tournament("coatl", 2, engines[1:], names=names[1:], seed=1)
    with pytest.raises(SearchError, match="out of"):
        check_engines(tournament)
    record = play_game(Task(tournament, tournament.block(0)[0]))
    assert record["forfeit"]["seat"] == 1
    assert record["arena"]["failures"][0]["detail"] == f"engine {engines[2]}: fails: RuntimeError: out of luck"


def test_an_object_of_this_process_is_lent_to_specs():
    def last(observation, mask):
        return np.flatnonzero(mask)[-1]

    with lending(last) as target, make_engine(f"py:{target}") as engine:
        assert engine.best_turn(new_game("nim", piles=[2, 1])).turn
    with pytest.raises(SearchError, match="there is no module __lent__"):
        make_engine(f"py:{target}")

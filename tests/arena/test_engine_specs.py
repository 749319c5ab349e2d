"""Engine specs: parsing, errors, and how keys override the limits of a call."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cext.core.baselines.uct import UCT
from cext.core.search.search import Search
from mexica_ai import GameOverError, Limits, NotationError, Result, SearchError, Stop, new_game
from mexica_ai.engines import KINDS, Engine, EngineSpec, make_engine, parse_spec
from mexica_ai.game.position import Position
from mexica_ai.rpc import calls, wire
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

OVER = Position.from_json(
    {
        "game": "nim",
        "version": 1,
        "players": 2,
        "piles": [0],
        "to_move": 1,
        "plies_left": 1,
        "plies_per_turn": 1,
    }
)


@pytest.mark.parametrize(
    ("text", "kind", "target", "options"),
    [
        ("mcts", "mcts", None, {}),
        ("mcts,time=2,threads=2", "mcts", None, {"time": 2.0, "threads": 2}),
        ("random,seed=0", "random", None, {"seed": 0}),
        (
            "uct,iterations=100,memory=64,name=a b",
            "uct",
            None,
            {"iterations": 100, "memory": 64, "name": "a b"},
        ),
        ("grpc:localhost:50051,time=.5", "grpc", "localhost:50051", {"time": 0.5}),
        ("grpc:[::1]:50051", "grpc", "[::1]:50051", {}),
        ("grpc:localhost:50051,weights=strong", "grpc", "localhost:50051", {"weights": "strong"}),
        ('cmd:"./my-engine --flag",time=1', "cmd", "./my-engine --flag", {"time": 1.0}),
        ("cmd:./my-engine --flag,time=1", "cmd", "./my-engine --flag", {"time": 1.0}),
        ("cmd:'./my-engine --list=1,2',margin=0.5", "cmd", "./my-engine --list=1,2", {"margin": 0.5}),
        (r'cmd:"say \"a, b\" \\ \n"', "cmd", r'say "a, b" \ \n', {}),
        ('greedy,name="x,y=z"', "greedy", None, {"name": "x,y=z"}),
        ("mcts,seed=9223372036854775807", "mcts", None, {"seed": 2**63 - 1}),
    ],
)
def test_a_spec_is_read(text, kind, target, options):
    assert parse_spec(text) == EngineSpec(kind, target, options)
    assert parse_spec(str(parse_spec(text))) == parse_spec(text)


@pytest.mark.parametrize(
    ("text", "reason", "mentions"),
    [
        ("", "UNKNOWN_ENGINE_KIND", ["known kinds: mcts"]),
        ("cmd:./eng\udcff", "BAD_ENGINE_SPEC", ["expected text in UTF-8"]),
        ("alphabeta,time=1", "UNKNOWN_ENGINE_KIND", ["'alphabeta'", *KINDS]),
        ("MCTS", "UNKNOWN_ENGINE_KIND", ["'MCTS'"]),
        (
            "mcts,width=4",
            "UNKNOWN_ENGINE_KEY",
            ["'width'", "known keys: time, iterations, threads, memory, seed"],
        ),
        ("cmd:x,threads=4", "UNKNOWN_ENGINE_KEY", ["'threads'", "margin"]),
        ("uct,threads=2", "UNKNOWN_ENGINE_KEY", ["'threads'", "known keys: time, iterations, memory, seed"]),
        ("beam,threads=1", "UNKNOWN_ENGINE_KEY", ["'threads'", "width"]),
        ("mcts,time=1,time=2", "BAD_ENGINE_SPEC", ["'time' is given twice"]),
        ("mcts,time", "BAD_ENGINE_SPEC", ["expected ,key=value at ',time'"]),
        ("mcts,", "BAD_ENGINE_SPEC", ["expected ,key=value at ','"]),
        ("mcts:x", "BAD_ENGINE_SPEC", ["takes no target"]),
        ("cmd", "BAD_ENGINE_SPEC", ["a command line"]),
        ("cmd:,time=1", "BAD_ENGINE_SPEC", ["a command line"]),
        ("grpc", "BAD_ENGINE_SPEC", ["HOST:PORT"]),
        ('cmd:"./x', "BAD_ENGINE_SPEC", ["is not closed"]),
        ('cmd:"./x"y', "BAD_ENGINE_SPEC", ["expected a comma or the end"]),
        ("mcts,time=1,5", "BAD_ENGINE_SPEC", ["write a number with a point, or without separators"]),
        ("mcts,time='1,5'", "BAD_ENGINE_VALUE", ["time=1,5 is not a number of seconds", "; write 1.5, with a point"]),
        ("mcts,time=2d", "BAD_ENGINE_VALUE", ["units are ms, s, m, min, h"]),
        ("mcts,iterations=2m", "BAD_ENGINE_VALUE", ["a whole number from 1", "; write 2e6"]),
        ("mcts,iterations='20,000'", "BAD_ENGINE_VALUE", ["; write 20000, without separators"]),
        ("mcts,iterations=20_000", "BAD_ENGINE_VALUE", ["; write 20000, without separators"]),
        ("mcts,iterations=1.5e0", "BAD_ENGINE_VALUE", ["=1.5e0 is not a whole number"]),
        ("mcts,threads=2s", "BAD_ENGINE_VALUE", ["; write 2, without a unit"]),
        ("mcts,time=0", "BAD_ENGINE_VALUE", ["time=0 is not a number of seconds above 0, at most 100000000"]),
        ("mcts,time=-1", "BAD_ENGINE_VALUE", ["time=-1"]),
        ("mcts,time=100000001", "BAD_ENGINE_VALUE", ["time=100000001"]),
        ("mcts,time=inf", "BAD_ENGINE_VALUE", ["time=inf"]),
        ("mcts,time=nan", "BAD_ENGINE_VALUE", ["time=nan"]),
        ("mcts,time=1_0", "BAD_ENGINE_VALUE", ["time=1_0"]),
        ("mcts,iterations=1.5", "BAD_ENGINE_VALUE", ["=1.5 is not a whole number from 1 to 2**63 - 1"]),
        ("mcts,threads=257", "BAD_ENGINE_VALUE", ["threads=257 is not a whole number from 1 to 256"]),
        ("mcts,threads=" + "9" * 5000, "BAD_ENGINE_VALUE", ["from 1 to 256"]),
        ("mcts,memory=1000001", "BAD_ENGINE_VALUE", ["from 1 to 1000000"]),
        ("mcts,threads=0", "BAD_ENGINE_VALUE", ["threads=0"]),
        ("mcts,threads=\u0663", "BAD_ENGINE_VALUE", ["threads="]),
        ("mcts,seed=9223372036854775808", "BAD_ENGINE_VALUE", ["2**63 - 1"]),
        ("mcts,seed=-1", "BAD_ENGINE_VALUE", ["seed=-1"]),
        ("mcts,name=", "BAD_ENGINE_VALUE", ["label"]),
    ],
)
def test_a_bad_spec_is_refused_saying_what_is_known(text, reason, mentions):
    with pytest.raises(NotationError) as caught:
        parse_spec(text)
    assert caught.value.reason == reason
    assert repr(text) in str(caught.value)
    for mention in mentions:
        assert mention in str(caught.value)


_LABELS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="\xa0\u3000"), min_size=1)
_LABELS = _LABELS.filter(str.isprintable)


@given(
    target=_LABELS.filter(str.strip),
    options=st.fixed_dictionaries(
        {},
        optional={
            "time": st.floats(0, 1e8, exclude_min=True),
            "margin": st.sampled_from([1e-13, 1e-7, 0.1, 1.0, 20.0, 123456.789012345, 1e8]),
            "iterations": st.integers(1, 10**15),
            "seed": st.integers(0, 2**63 - 1),
            "name": _LABELS,
        },
    ),
)
def test_printing_and_reading_a_spec_are_inverse(target, options):
    spec = EngineSpec("cmd", target, options)
    assert parse_spec(str(spec)) == spec


@given(st.text("mctsgrpd:,=\"'\\ 01.x") | st.text())
def test_nothing_but_our_errors_comes_out_of_any_text(text):
    with contextlib.suppress(NotationError):
        parse_spec(text)


class _Recorder(Engine):
    """Answers nothing, remembers the budget."""

    def _best_turn(self, position, limits, *, seed, candidates, stop):
        self.limits, self.seed = limits, seed


def _budget(spec_text, defaults, *call):
    engine = _Recorder(parse_spec(spec_text), defaults)
    engine.best_turn(new_game("nim"), *call)
    return engine


def test_the_keys_of_a_spec_override_the_defaults():
    assert _budget("mcts,time=2", {"time": 1.0, "threads": 4}).limits == Limits(2.0, threads=4)


def test_the_keys_of_a_spec_override_the_limits_of_a_call():
    assert _budget("mcts,time=2", {}, Limits(1.0, 50)).limits == Limits(2.0, 50)


def test_the_limits_of_a_call_replace_the_defaults():
    assert _budget("mcts", {"time": 1.0, "threads": 4}, Limits(iterations=7)).limits == Limits(iterations=7)


def test_without_any_limit_the_time_is_one_second():
    assert _budget("mcts", {"time": None, "iterations": None, "memory": 64}).limits == Limits(1.0, memory_mb=64)


def test_a_limit_of_iterations_alone_brings_no_limit_of_time():
    assert _budget("mcts,iterations=9", {}).limits == Limits(iterations=9)


def test_the_seed_comes_from_the_spec_or_the_defaults_or_is_drawn():
    assert _budget("mcts,seed=3", {"seed": 4}).seed == 3
    assert _budget("mcts", {"seed": 4}).seed == 4
    assert 0 <= _budget("mcts", {}).seed < 2**63


def test_a_finished_game_has_no_turn_to_play():
    with pytest.raises(GameOverError):
        _Recorder(parse_spec("mcts"), {}).best_turn(OVER)


def test_an_engine_is_called_by_its_name_or_its_spec():
    assert _Recorder(parse_spec("mcts,time=2,name=fast"), {}).name == "fast"
    assert _Recorder(parse_spec("mcts,time=2"), {}).name == "mcts,time=2"


def test_an_unknown_default_is_a_mistake_of_the_caller():
    with pytest.raises(TypeError, match="'tme'"):
        make_engine("mcts", tme=1)


@pytest.mark.parametrize("kind", ["mcts", "uct", "beam", "greedy", "random"])
@pytest.mark.parametrize("game", ["coatl", "mexica", "nim", "tzolkin"])
def test_the_compiled_engines_answer_with_a_legal_turn(kind, game):
    position = new_game(game, seed=1)
    with make_engine(f"{kind},iterations=200,seed=5") as engine:
        result = engine.best_turn(position, candidates=2)
        assert engine.best_turn(position, candidates=2).turn == result.turn
    assert isinstance(result, Result)
    assert result.seed == 5
    assert result.stop_reason
    assert 1 <= len(result.candidates) <= 2
    assert result.candidates[0].turn == result.turn
    assert len(result.value) == len(result.expected_scores) == position.players
    assert sum(result.value) == pytest.approx(1)
    position.push(result.turn)


@pytest.mark.parametrize(("kind", "search_class"), [("mcts", Search), ("uct", UCT)])
def test_each_kind_of_search_is_the_one_it_says(kind, search_class):
    position = new_game("nim", piles=[7, 9])
    search = search_class(position.state.copy(), threads=1, memory_mb=1024, seed=5)
    search.run(iterations=200)
    expected = search.result(5)["candidates"]
    candidates = make_engine(f"{kind},iterations=200,seed=5").best_turn(position).candidates
    assert [(each.visits, each.value) for each in candidates] == [(each["visits"], each["value"]) for each in expected]


@pytest.mark.parametrize(("kind", "time_s"), [("mcts", 60), ("uct", 0.2), ("random", 0.2)])
def test_an_analysis_ends_with_the_one_final_result(kind, time_s):
    stop, results = Stop(), []
    with make_engine(f"{kind},time={time_s}") as engine:
        for result in engine.analyze(new_game(seed=1), interval_s=0.05, stop=stop):
            results.append(result)
            stop.set()  # however late the first one comes
    assert [bool(result.stop_reason) for result in results] == [False] * (len(results) - 1) + [True]
    assert len(results) > 1 or kind != "mcts"


@pytest.mark.real("processes")
def test_an_engine_that_cannot_be_started_is_a_failure():
    with pytest.raises(SearchError) as caught:
        make_engine("cmd:./no-such-program")
    assert caught.value.reason == "ENGINE_START"


def test_options_of_the_search_are_keys_of_its_spec():
    def visits(spec):
        with make_engine(spec, iterations=300, seed=1) as engine:
            return [candidate.visits for candidate in engine.best_turn(new_game("nim")).candidates]

    state = new_game("nim").state
    search = Search(state, seed=1, exploration=3.0, confirming_share=0.0)
    search.run(iterations=300)
    assert visits("mcts,exploration=3.0,confirming_share=0") == [
        candidate["visits"] for candidate in search.result(5)["candidates"]
    ]
    assert visits("mcts,exploration=3.0,confirming_share=0") != visits("mcts")


def test_options_of_the_search_have_their_range():
    with pytest.raises(NotationError, match=r"playout_weight=1\.5 is not a number from 0 to 1"):
        parse_spec("mcts,playout_weight=1.5")


@pytest.mark.real("ports")
def test_a_server_may_take_as_long_as_it_likes_without_a_limit_of_time(monkeypatch):
    monkeypatch.setattr(calls, "WAIT_S", 0.1)
    monkeypatch.setattr(calls, "UNKNOWN_TIME_S", 0.1)
    position = new_game("nim")

    class Slow(engine_pb2_grpc.EngineServiceServicer):
        def BestTurn(self, request, context):  # noqa: N802
            time.sleep(0.5)
            with make_engine("random") as engine:
                result = engine.best_turn(position)
            message = wire.result_to_message(result, engine_version="slow", rules_version=1)
            return engine_pb2.BestTurnResponse(result=message)

    server = grpc.server(ThreadPoolExecutor(1))
    engine_pb2_grpc.add_EngineServiceServicer_to_server(Slow(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with make_engine(f"grpc:127.0.0.1:{port}") as engine:
            assert engine.best_turn(position, Limits(iterations=5)).turn
            with pytest.raises(SearchError) as caught:
                engine.best_turn(position, Limits(time_s=0.1))
            assert caught.value.reason == "DEADLINE_EXCEEDED"
    finally:
        server.stop(None)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("time=1e1", {"time": 10.0}),
        ("time=2m", {"time": 120.0}),
        ("time=1.5min", {"time": 90.0}),
        ("time=250ms", {"time": 0.25}),
        ("time=1h", {"time": 3600.0}),
        ("iterations=1e3", {"iterations": 1000}),
        ("iterations=2.5E+4", {"iterations": 25000}),
        ("seed=9223372036854775807e0", {"seed": 2**63 - 1}),
    ],
)
def test_numbers_in_other_forms_are_understood(text, options):
    spec = parse_spec(f"mcts,{text}")
    assert spec.options == options
    assert parse_spec(str(spec)) == spec


def test_a_batch_without_an_evaluator_is_refused():
    with pytest.raises(NotationError, match="batch is given without evaluator; expected both"):
        parse_spec("mcts,batch=8")
    with pytest.raises(NotationError, match="batches is given without evaluator; expected both"):
        parse_spec("mcts,batches=1")
    assert parse_spec("mcts,batch=8,evaluator=a.onnx").options == {"batch": 8, "evaluator": "a.onnx"}

"""With how many threads searches run that a person waits for: all cores, unless it was said otherwise."""

import asyncio

import pytest

import mexica_ai as ai
from mexica_ai.analysis import resources
from mexica_ai.analysis.limits import Limits, num_threads
from mexica_ai.cli import play
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.engines.grpc import GrpcEngine
from mexica_ai.engines.specs import takes_all_cores
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.server.config import ServerConfig, load_config
from mexica_ai.web import engines
from mexica_ai.web.engines import Cores, Engines

FEW = ("--iterations", "20", "--json")


@pytest.fixture(autouse=True)
def processors(monkeypatch):
    """A machine of three processors."""
    monkeypatch.setattr(resources, "num_processors", lambda: 3.9)


@pytest.fixture
def cli(capfd):
    """Call `mexica-ai`; `out` is what the last call printed."""

    def call(*args):
        code = main(list(args))
        call.out = capfd.readouterr().out
        return code

    return call


@pytest.mark.parametrize(
    ("args", "threads"),
    [
        ((), 3),
        (("--threads", "auto"), 3),
        (("--threads", "2"), 2),
        (("--seed", "1"), 1),
        (("--seed", "1", "--threads", "auto"), 3),
        (("--level", "3"), 1),
        (("--level", "10"), 3),
        (("--elo", "1200"), 1),
        (("--engine", "mcts,elo=1200"), 1),
        (("--engine", "mcts,level=10", "--elo", "1200"), 3),
        (("--engine", "mcts,seed=1"), 1),
        (("--engine", "mcts,level=9"), 1),
        (("--engine", "mcts,threads=2"), 2),
        (("--engine", "mcts,threads=auto,seed=1"), 3),
        (("--engine", "uct"), 1),
        (("--engine", "beam"), 1),
    ],
)
@pytest.mark.parametrize("command", ["best", "analyze"])
def test_best_and_analyze_use_all_cores(cli, place, command, args, threads):
    assert cli(command, "nim.json", *FEW, *args) == 0
    assert f'"threads": {threads},' in cli.out.splitlines()[-1]


def test_engines_that_are_compared_have_the_threads_of_each(cli, place):
    assert cli("analyze", "nim.json", *FEW, "--engine", "mcts", "--engine", "uct", "--engine", "mcts,level=2") == 0
    threads = [line.partition('"threads": ')[2][:1] for line in cli.out.splitlines() if '"comparison"' not in line]
    assert [number for number in threads if number] == ["3", "1", "1"]


@pytest.mark.parametrize(
    "args", [("tree", "nim.json", "--out", "tree.dot", "--visits", "1"), ("annotate", "record.json")]
)
def test_other_commands_have_one_thread(cli, place, args, monkeypatch):
    limits = []
    check = Limits.__post_init__
    monkeypatch.setattr(Limits, "__post_init__", lambda self: limits.append(self.threads) or check(self))
    assert cli(*args, "--iterations", "5") == 0
    assert set(limits) == {1}


@pytest.mark.parametrize(
    ("args", "threads"),
    [((), 3), (("--seed", "1"), 3), (("--threads", "2", "--seed", "1"), 2), (("--threads", "auto"), 3)],
)
def test_play_uses_all_cores(place, monkeypatch, args, threads):
    asked = []

    class Silent:
        def __init__(self, session, adviser, record):
            limits = Limits(iterations=5)
            for engine in (*session.engines.values(), adviser):
                asked.append(engine.best_turn(session.position, limits if engine is adviser else None).threads)

        def play(self):
            pass

    monkeypatch.setattr(play, "Talk", Silent)
    seats = ("--seat", "1=mcts,iterations=5", "--seat", "2=uct,iterations=5")
    assert (
        main(["play", "--game", "nim", "--players", "3", *seats, "--person", "0", "--record", "new.json", *args]) == 0
    )
    assert asked == [threads, 1, threads]


@pytest.mark.parametrize("text", ["mcts", "greedy", "random", "grpc:localhost:1", "mcts,seed=1", "mcts,level=9"])
def test_which_engines_take_all_cores(text):
    assert takes_all_cores(parse_spec(text)) is (text == "mcts")


def test_the_keys_of_a_spec_override_what_the_command_line_says():
    assert takes_all_cores(parse_spec("mcts,level=10"), level=3)
    assert not takes_all_cores(parse_spec("mcts"), level=3)
    assert not takes_all_cores(parse_spec("mcts"), seed=0)


def test_the_word_stays_in_a_spec():
    """It is said where the engine runs how many they are."""
    assert str(parse_spec("mcts,threads=auto")) == "mcts,threads=auto"
    with pytest.raises(NotationError, match="threads=all is not a whole number from 1 to 256, or auto"):
        parse_spec("mcts,threads=all")


@pytest.mark.parametrize(("found", "threads"), [(0.5, 1), (1.9, 1), (2.0, 2), (10_000.0, 256)])
def test_the_number_of_threads(monkeypatch, found, threads):
    monkeypatch.setattr(resources, "num_processors", lambda: found)
    assert num_threads() == threads


def test_a_server_is_asked_for_all_that_it_allows(monkeypatch):
    asked = []
    monkeypatch.setattr(GrpcEngine, "__init__", lambda self, spec: super(GrpcEngine, self).__init__(spec))

    class Client:
        def run_search(self, position, limits, **_):
            asked.append(limits.threads)
            raise SearchError("no server", reason="UNAVAILABLE")

    for text in ("grpc:localhost:1,threads=auto", "grpc:localhost:1"):
        engine = GrpcEngine(parse_spec(text))
        engine._client = Client()
        with pytest.raises(SearchError, match="no server"):
            engine.best_turn(ai.new_game("nim", seed=1), Limits(iterations=1))
    assert asked == [256, 1]


def test_a_server_has_one_thread_a_search_unless_it_is_told_otherwise(tmp_path):
    assert ServerConfig().threads == 1
    assert ServerConfig(threads="auto").threads == 3
    assert load_config(None, {"MEXICA_AI_THREADS": "auto"}).threads == 3
    path = tmp_path / "server.toml"
    path.write_text('threads = "auto"\n')
    assert (load_config(str(path), {}).threads, load_config(str(path), {}, {"threads": 2}).threads) == (3, 2)
    with pytest.raises(SearchError, match="expected an integer from 1 to 256, or auto"):
        load_config(None, {"MEXICA_AI_THREADS": "all"})


# --- the page


def test_searches_of_the_page_share_the_cores(monkeypatch):
    monkeypatch.setattr(resources, "num_processors", lambda: 8.0)
    cores = Cores()
    with cores.share() as first, cores.of_service() as second, cores.of_service(10) as third, cores.share() as fourth:
        assert (first, second, third, fourth) == (8, 4, 2, 2)
        with cores.of_service(9) as level:
            assert level == 1
    with cores.share() as again:
        assert again == 8


def test_the_page_obeys_a_number_and_leaves_another_service_to_itself():
    cores, remote = Cores(2), Cores(serves=False)
    with cores.share() as first, cores.of_service() as second:
        assert (first, second) == (2, 2)
    with remote.share() as own, remote.of_service() as service, remote.of_service(3) as level:
        assert (own, service, level) == (3, None, None)


def test_the_named_engines_of_the_page_share_the_cores(monkeypatch):
    asked = {}

    class Noting:
        def __init__(self, spec):
            self._spec = spec

        def best_turn(self, position, limits, *, stop):
            asked[str(self._spec)] = limits.threads
            return "a result"

        def close(self):
            pass

    monkeypatch.setattr(engines, "make_engine", Noting)
    specs = {text: parse_spec(text) for text in ("mcts", "mcts,seed=1", "mcts,threads=2", "uct")}

    async def test():
        players = Engines(specs, Cores())
        for name in specs:
            await players.best_turn("game", 0, name, None, Limits(iterations=1), engines.Stop())
            players.close("game")
        await players.close_all()

    asyncio.run(test())
    assert asked == {"mcts": 3, "mcts,seed=1": 1, "mcts,threads=2": 3, "uct": 1}
    with make_engine("mcts,threads=2") as engine:  # what the spec says comes first
        assert engine._budget(_nim(), Limits(iterations=1, threads=3), 1)[0].threads == 2


def _nim():

    return ai.new_game("nim", seed=1)

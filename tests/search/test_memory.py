"""Memory that cannot be had is an error of the package, wherever it is missed."""

import subprocess
import sys

import grpc
import pytest

import mexica_ai as ai
from mexica_ai import env
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.tree import search_tree
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.server.errors import status_of

SETTINGS = SearchSettings(ai.Limits(iterations=5))


class Fails:
    """A search that has no memory when it is made, run or asked."""

    def __init__(self, place, *_, **__):
        self.place = place
        self.weights = None
        self.fail_at("made")

    def fail_at(self, place):
        if place == self.place:
            raise MemoryError

    def run(self, **_):
        self.fail_at("run")

    start = run

    def wait(self, _):
        return True

    def stop(self):
        pass

    def result(self, _):
        self.fail_at("asked")


@pytest.mark.parametrize("place", ["made", "run", "asked"])
def test_a_search_without_memory(place):
    def make(*args, **options):
        return Fails(place, *args, **options)

    position = ai.new_game("nim")
    for ask in (
        lambda: SearchRun(position, SETTINGS, search_class=make).result(),
        lambda: list(SearchRun(position, SETTINGS, search_class=make).results()),
    ):
        with pytest.raises(ai.SearchError, match="no memory is left for this") as caught:
            ask()
        assert caught.value.reason == "OUT_OF_MEMORY"


@pytest.mark.parametrize("spec", ["random", "greedy"])
def test_an_engine_without_memory(spec, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    with make_engine(spec) as engine:
        monkeypatch.setattr(engine, "_best_turn", fail)
        for ask in (engine.best_turn, lambda position: list(engine.analyze(position))):
            with pytest.raises(ai.SearchError) as caught:
                ask(ai.new_game("nim"))
            assert caught.value.reason == "OUT_OF_MEMORY"


def test_games_and_trees_without_memory(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(sys.modules["mexica_ai.env.vector"], "VectorEnv", fail)
    monkeypatch.setattr("mexica_ai.analysis.tree.SearchRun", fail)
    for ask in (lambda: env.vector("nim", 2), lambda: search_tree(ai.new_game("nim"), SETTINGS)):
        with pytest.raises(ai.SearchError) as caught:
            ask()
        assert caught.value.reason == "OUT_OF_MEMORY"


def test_a_command_and_a_call_without_memory(monkeypatch, capsys):
    def fail(_):
        raise MemoryError

    monkeypatch.setattr("mexica_ai.cli.new.run", fail)
    assert main(["new"]) == 1
    assert capsys.readouterr().err == "mexica-ai: error: out of memory\n"
    assert status_of(MemoryError()).code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]


SEARCHES = """
import resource, sys
import mexica_ai as ai
from mexica_ai.engines import make_engine
with make_engine("mcts,iterations=2,memory=1") as engine:
    engine.best_turn(ai.new_game(seed=1))                   # loads what is needed
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20),) * 2)
for game in ("coatl", "mexica"):
    position = ai.new_game(game, seed=1)
    for threads in (1, 2, 4, 16, 64):
        for memory in (1, 16, 64, 128, 256):
            for spec in ("mcts", "uct", "beam") if threads == 1 else ("mcts",):
                key = f",threads={threads}" if spec == "mcts" else ""
                try:
                    with make_engine(f"{spec},memory={memory},iterations=20{key}") as engine:
                        engine.best_turn(position, seed=1)
                        for _ in engine.analyze(position, seed=1, interval_s=0.001):
                            pass                            # neither waits for a thread that cannot start
                    found = "ok"
                except ai.SearchError as error:
                    found = error.reason
                print(found)
"""


@pytest.mark.real("processes")
@pytest.mark.parametrize("megabytes", [60, 300])
def test_a_process_whose_memory_is_limited(megabytes):
    """All searches answer, or say what is missing."""
    command = [sys.executable, "-P", "-c", SEARCHES, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    found = done.stdout.split()
    assert len(found) == 70
    assert set(found) <= {"ok", "OUT_OF_MEMORY", "NO_THREADS"}
    assert {"ok", "OUT_OF_MEMORY"} <= set(found)

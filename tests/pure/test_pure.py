"""Games in Python: against the compiled nim, with hidden hands, and when their methods fail."""

import gc
import importlib.util
import math
import sys
import threading
import types
import weakref
from pathlib import Path

import numpy as np
import pytest
from pure_hold import HoldOrRisk
from pure_nim import NIM, Nim

import mexica_ai as ai
from cext.core.baselines.beam import Beam
from cext.core.baselines.simple import greedy_turn, random_turn
from cext.core.baselines.uct import UCT
from cext.core.contract.game import CHANCE
from cext.core.contract.perft import perft
from cext.core.contract.playout import random_playout, random_playouts
from cext.core.learning.batch import Batch
from cext.core.learning.priors import policy_of
from cext.core.learning.tensor import observation
from cext.core.search.pool import Pool
from cext.core.search.search import Search
from mexica_ai import env, pure, testing
from mexica_ai.game import registry

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("eights", ROOT / "examples" / "pure_game" / "eights.py")
eights = importlib.util.module_from_spec(spec)
spec.loader.exec_module(eights)
EIGHTS = eights.GAME
COMPILED = registry.get("nim")


def compiled_starts():
    """Positions that both read: the one in Python has always eight piles."""
    for players, piles, plies in ((2, [3, 4, 5, 0, 1, 0, 2, 6], 1), (3, [7, 1, 1, 2, 0, 0, 0, 9], 3)):
        yield COMPILED.starts.new_state(players, 0, piles=piles, plies_per_turn=plies)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    registry.register(EIGHTS)


def test_nim_plays_as_the_compiled_nim():
    testing.check(COMPILED, list(compiled_starts()), reference=NIM)


def test_the_contract_holds_for_nim():
    testing.check(NIM)


def test_the_contract_holds_with_hidden_hands():
    testing.check(EIGHTS, stride=3)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("apply_action", lambda self, state, action: Nim.apply_action(self, state, ("take", 1, action[2])), "piles is"),
        (
            "legal_actions",
            lambda self, state: Nim.legal_actions(self, state)[1:] or [("take", 1, 8)],
            "the legal actions are",
        ),
        ("scores", lambda self, state: [0] * state.players, "the scores are"),
    ],
)
def test_a_reference_that_differs_is_noticed(name, change, fault):
    other = pure.game(type("Other", (Nim,), {name: change})())
    with pytest.raises(AssertionError, match=f"^nim: {fault}"):
        testing.check_reference(COMPILED, other, list(compiled_starts()))


def nim_state(methods=Nim, **options):
    return pure.game(methods()).starts.new_state(2, 1, **({"piles": [3, 4, 5]} | options))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_search_finds_the_winning_turn(threads):
    search = Search(nim_state(piles=[1, 2, 4]), threads=threads, seed=1)
    search.run(iterations=2000)
    assert search.result()["candidates"][0]["actions"] == [NIM.text.parse_action("take 1 3")]


def test_the_same_seed_gives_the_same_search():
    found = []
    for _ in range(2):
        search = Search(nim_state(), seed=3)
        search.run(iterations=300)
        found.append(search.result()["candidates"][0]["visits"])
    assert found[0] == found[1]


# --- methods that fail


def failing(method, at=1, error=None, answer=None):
    """Return a class whose method fails in a call, once."""
    calls = iter(range(1, 1 << 60))

    def call(self, state, *args):
        if next(calls) != at:
            return getattr(Nim, method)(self, state, *args)
        if answer is None:
            raise error or ValueError("no such\npile")
        return answer(state) if callable(answer) else answer

    return type("Failing", (Nim,), {method: call})


def runs(iterations=200, **options):
    def run(state):
        search = Search(state, **options)
        search.run(iterations=iterations)
        return search.result()

    return run


def pooled(state):
    def evaluator(rows):
        return np.full((len(rows), 2), 0.5)

    pool, ended = Pool(state.game, 2, evaluator, players=2, leaves=4, threads=2), []
    for place in range(2):
        pool.begin(place, state, 60, seed=place)
    while len(ended) < 2:
        asked = pool.gather()
        ended += pool.back_up(evaluator(*asked) if asked else None)


USES = {
    "search": runs(),
    "pool": pooled,
    "threads": runs(threads=3),
    "evaluator": runs(evaluator=lambda rows: np.full((len(rows), 2), 0.5), batch_size=4, threads=2),
    "uct": lambda state: UCT(state).run(iterations=100),
    "beam": lambda state: Beam(state).run(iterations=100),
    "random": lambda state: random_turn(state, 1),
    "greedy": greedy_turn,
    "playout": lambda state: random_playout(state, 1),
    "playouts": lambda state: random_playouts(state, 3, 1),
    "perft": lambda state: perft(state, 2),
    "batch": lambda state: Batch([state], 3, seed=1).step_random(50),
    "legal_actions": lambda state: state.legal_actions(),
    "apply": lambda state: state.apply(state.legal_actions()[0]),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("at", [1, 3, 20])
@pytest.mark.parametrize("method", ["legal_actions", "apply_action", "current_player"])
def test_a_failure_is_an_error_that_names_the_method(use, method, at):
    state = nim_state(failing(method, at + (1 if method == "current_player" else 0)))
    before, found = state.hash, None
    try:
        USES[use](state)
    except ai.SearchError as error:
        found = error
    if found is None:
        assert at > 1 or use == "legal_actions", "nothing is raised"
        return
    name = "apply_action" if method == "current_player" else method
    assert str(found) == f"nim: {name} raised ValueError: no such"
    assert found.reason == "GAME_FAULT"
    assert isinstance(found.__cause__, ValueError)
    assert state.hash == before
    assert len(state.legal_actions()) == 12  # it goes on


def test_a_failure_whose_text_fails_is_not_lost():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    state = nim_state(failing("apply_action", error=MuteError()))
    with pytest.raises(ai.SearchError, match="apply_action raised MuteError"):
        state.apply(state.legal_actions()[0])


def test_a_failure_at_the_end_of_a_game_ends_a_search_with_an_evaluator():
    search = Search(nim_state(failing("scores", 1)), evaluator=lambda rows: np.full((len(rows), 2), 0.5), batch_size=4)
    search.start()
    with pytest.raises(ai.SearchError, match="scores raised ValueError: no such"):
        search.wait(20)


@pytest.mark.parametrize("ends", ["in a thread", "in the evaluator"])
def test_a_second_failure_is_not_raised_by_what_comes_next(ends):
    caller, sizes = threading.get_ident(), []

    class Failing(Nim):
        def apply_action(self, state, action):
            if threading.get_ident() != caller and sizes and ends == "in a thread":
                raise ValueError("in a thread")
            super().apply_action(state, action)

        def scores(self, state):
            if len(sizes) > 1:
                raise ValueError("while leaves are backed up")
            return super().scores(state)

    def evaluator(rows):
        sizes.append(len(rows))
        if len(sizes) == 3:
            raise ArithmeticError("in the evaluator")
        return np.full((len(rows), 2), 0.5)

    search = Search(nim_state(Failing), evaluator=evaluator, batch_size=4, threads=2)
    with pytest.raises((ai.SearchError, ArithmeticError), match=ends):
        search.run(iterations=200)
    assert nim_state().legal_actions()


def test_a_failure_of_a_thread_is_forgotten_with_an_error_of_the_evaluator():
    caller, failures, sizes = threading.get_ident(), [], []

    class Failing(Nim):
        def apply_action(self, state, action):
            if threading.get_ident() != caller and sizes:  # while the second batch is gathered
                failures.append(action)
                raise ValueError("in a thread")
            super().apply_action(state, action)

    def evaluator(rows):
        sizes.append(len(rows))
        if len(sizes) == 2:
            raise ArithmeticError("in the evaluator")
        return np.full((len(rows), 2), 0.5)

    search = Search(nim_state(Failing), evaluator=evaluator, batch_size=4, threads=2)
    with pytest.raises(ArithmeticError, match="in the evaluator"):
        search.run(iterations=200)
    assert failures
    search.join()


def test_a_failure_leaves_nothing_to_other_games_and_threads():
    bad, good = nim_state(failing("legal_actions", 50)), nim_state()
    errors, results = [], []

    def search(state, into):
        run = Search(state, threads=2)
        try:
            run.run(iterations=2000)
            into.append(run.result()["candidates"][0]["actions"])
        except ai.SearchError as error:
            errors.append(error)

    threads = [threading.Thread(target=search, args=(state, results)) for state in (bad, good, nim_state())]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(results) == 2
    assert ["legal_actions" in str(error) for error in errors] == [True]


class LostError(Exception):
    """One of which weak references can be had."""


def test_a_failure_that_nobody_waits_for_is_freed():
    caller, raised, failures = threading.get_ident(), threading.Event(), []

    class Failing(Nim):
        def legal_actions(self, state):
            if threading.get_ident() == caller:
                return super().legal_actions(state)
            error = LostError()
            failures.append(weakref.ref(error))
            raised.set()
            raise error

    search = Search(nim_state(Failing))
    search.start(iterations=1000)
    assert raised.wait(60)
    del search
    gc.collect()
    assert [failure() for failure in failures] == [None]


def test_a_search_that_one_of_its_threads_finds_to_be_garbage_is_freed_by_another_one():
    dropped, collected, freed, threads = threading.Event(), threading.Event(), threading.Event(), []

    class WithArray(Search):
        """Its array is freed with it: the collector knows nothing of arrays."""

    class Collecting(Nim):
        def legal_actions(self, state):
            if dropped.is_set() and not collected.is_set():
                gc.collect()
                threads.append(threading.get_ident())
                collected.set()
            return super().legal_actions(state)

    def note(_):
        threads.append(threading.get_ident())
        freed.set()

    search = WithArray(nim_state(Collecting, piles=[60] * 8), seed=1)
    search.array = np.zeros(1)
    reference = weakref.ref(search.array, note)
    cycle = [search]
    cycle.append(cycle)
    gc.disable()  # in this thread, too
    try:
        search.start(time_s=600)
        del search, cycle
        dropped.set()
        assert collected.wait(60)
        # The search is freed between two steps of the main thread.
        assert any(freed.wait(0.001) for _ in range(60_000))
    finally:
        gc.enable()
    assert reference() is None
    collecting, freeing = threads
    assert collecting != freeing


def test_games_played_together_are_lost_with_a_failure_until_they_begin_anew():
    batch = Batch([nim_state(failing("apply_action", 5))], 4, seed=1)
    batch.step(np.zeros(4, np.int32))
    with pytest.raises(ai.SearchError, match="apply_action raised ValueError"):
        batch.step(np.zeros(4, np.int32))
    for again in (lambda: batch.step(np.zeros(4, np.int32)), batch.step_random):
        with pytest.raises(ai.SearchError, match=r"its games are lost; expected restart\(\) first") as error:
            again()
        assert error.value.reason == "GAME_FAULT"
    batch.restart()
    assert list(batch.lengths) == [0] * 4
    batch.step(np.zeros(4, np.int32))
    assert list(batch.lengths) == [1] * 4


def test_starts_may_change_while_they_are_read():
    starts = []

    class Changing(eights.CrazyEights):
        def outcomes(self, state):
            starts[:] = [None] * 3
            return super().outcomes(state)

    game = pure.game(Changing())
    state = game.starts.new_state(2, 1)
    state.apply(game.text.parse_action("draw"))
    batch = Batch([state], 2, seed=1)
    starts[:] = [state]
    batch.set_starts(starts)
    assert starts == [None] * 3
    batch.restart()
    assert list(batch.lengths) == [0, 0]


def test_a_failure_of_a_policy_is_left_to_nobody():
    state = nim_state(failing("policy", 1))
    with pytest.raises(ai.SearchError, match="policy raised ValueError"):
        policy_of(state, None)
    assert not state.is_terminal


def test_an_interrupt_goes_through():
    with pytest.raises(KeyboardInterrupt):
        runs()(nim_state(failing("legal_actions", 5, KeyboardInterrupt())))


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("legal_actions", ["fold"], "legal_actions gave 'fold'; expected some of `actions`"),
        ("legal_actions", [], "legal_actions gave none, but seat 0 is to move; expected at least one action"),
        (
            "legal_actions",
            [("take", 1, 1)] * 2,
            r"legal_actions gave \('take', 1, 1\) twice; expected each action once",
        ),
        ("legal_actions", 3, "legal_actions raised TypeError: 'int' object is not iterable"),
        ("legal_actions", [[]], "legal_actions raised TypeError: unhashable type: 'list'"),
        ("scores", [1], "scores gave .1.; expected a number for each of 2 seats"),
        ("scores", ["a", "b"], "scores raised TypeError: must be real number, not str"),
        ("scores", [float("nan"), 0], r"scores gave .nan, 0.; expected numbers from -1e\+09 to 1e\+09"),
        ("scores", [0, 1e20], r"scores gave .0, 1e\+20.; expected numbers from -1e\+09 to 1e\+09"),
    ],
)
def test_an_answer_that_cannot_be_is_an_error(method, answer, said):
    state = nim_state(failing(method, 1, answer=answer))
    with pytest.raises(ai.SearchError, match=f"^nim: {said}$"):
        getattr(state, method)()


def changes(change):
    """Return a state whose game changes its record wrongly."""

    def apply(self, state, action):
        change(state)

    return nim_state(type("Changing", (Nim,), {"apply_action": apply}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: setattr(state, "plies_left", -1), "set plies_left to -1; expected an integer from 1 to 3"),
        (lambda state: setattr(state, "plies_left", 1 << 70), "set plies_left to 1180591620717411303424; expected an"),
        (lambda state: setattr(state, "plies_left", "2"), "set plies_left to '2'; expected an integer from 1 to 3"),
        (lambda state: setattr(state, "plies_left", 1.5), "set plies_left to 1.5; expected an integer from 1 to 3"),
        (lambda state: state.piles.append(1), "gave piles 9 entries; expected 8"),
        (lambda state: setattr(state, "piles", 3), "set piles to 3; expected a list"),
        (lambda state: setattr(state, "to_move", 2), "set to_move to 2; expected a seat from 0 to 1"),
        (lambda state: setattr(state, "turn", -1), "set turn to -1; expected 0 or more"),
        (lambda state: setattr(state, "pile", 1), "raised AttributeError: 'State' object has no attribute 'pile'"),
    ],
)
def test_a_change_that_cannot_be_is_an_error(change, said):
    state = changes(change)
    before = state.hash
    with pytest.raises(ai.SearchError) as error:
        state.apply(state.legal_actions()[0])
    assert str(error.value).startswith(f"nim: apply_action {said}")
    assert state.hash == before


def test_a_game_that_does_not_end_is_stopped():
    state = changes(lambda state: setattr(state, "to_move", 1 - state.to_move))
    with pytest.raises(ai.SearchError, match="apply_action is called 504 times in one game; expected an end within"):
        random_playout(state, 1)


def test_cards_do_not_get_lost():
    class Losing(eights.CrazyEights):
        def apply_action(self, state, action):
            state.hands[0].pop()

    state = pure.game(Losing()).starts.new_state(2, 1)
    with pytest.raises(ai.SearchError, match=r"eights: apply_action left \w\w in 0 places; expected 1"):
        state.apply(state.legal_actions()[0])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Nim"}, "name: given 'Nim'; expected a word in lower case"),
        ({"record": {}}, "nim: has no record; expected some"),
        ({"record": {"piles": 3}}, r"nim: record\['piles'\] is 3; expected Numbers, Flag or Cards"),
        ({"record": {"turn": pure.Numbers()}}, "the field 'turn'; expected another name"),
        ({"record": {"version": pure.Numbers()}}, "the field 'version'; expected another name"),
        ({"record": {"game": pure.Numbers()}}, "the field 'game'; expected another name"),
        ({"record": {"deck": pure.Cards(3)}}, "the field 'deck' holds cards of deck ''; expected one of"),
        ({"actions": [("take", 1), "take 1"]}, "have the same text"),
        ({"actions": ["Take"]}, "nim: the action 'Take'; expected a word"),
        ({"actions": {"take 1", "take 2"}}, "nim: actions: given a Python set; expected a list"),
        ({"events": "won"}, 'nim: events: given "won"; expected a list'),
        ({"secret": "take"}, "nim: secret: given 'take'; expected a tuple of first words"),
        ({"secret": ("tkae",)}, r"nim: secret: given \('tkae',\); expected a tuple of first words"),
        ({"max_game_length": 0}, "nim: max_game_length: given 0; expected an integer from 1 to 2147483647"),
        ({"max_legal": 1 << 40}, "nim: max_legal: given 1099511627776; expected an integer from 0 to 2147483647"),
        ({"version": None}, "nim: version: given null; expected an integer from 1 to 2147483647"),
        ({"max_players": 5}, "game table of 'nim': max_players is 5; expected 2 to 4"),
        ({"cards": {"a b": 2}}, "cards: a kind is named 'a b'; expected a printable ASCII word"),
        ({"cards": {"a": 0}}, "cards: 0 of 'a', named 1 times; expected 1 to 255, once"),
        ({"options": (registry.get("nim").starts.options[0].__class__("piles", list, "piles"),)}, "has no default"),
    ],
)
def test_a_wrong_declaration_is_named(changed, said):
    with pytest.raises((ValueError, TypeError), match=said):
        pure.game(type("Wrong", (Nim,), changed)())


# --- records and JSON


def test_a_position_lists_all_its_faults():
    data = ai.new_game("eights", seed=1).to_json()
    wrong = {**data, "to_move": 2, "suit": 4, "drawing": 0, "hands": [*data["hands"], ["1X"]]}
    with pytest.raises(ai.NotationError) as error:
        ai.Position.from_json(wrong)
    assert [each.path for each in error.value.violations] == ["$.hands[2][0]", "$.drawing"]
    with pytest.raises(ai.PositionError) as error:
        ai.Position.from_json({**wrong, "drawing": False, "hands": data["hands"]})
    assert [each.path for each in error.value.violations] == ["$.to_move", "$.suit"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data["stock"].append(data["pile"][0]), "CARDS"),
        (lambda data: data["stock"].pop(), "CARDS"),
        (lambda data: data["stock"].__setitem__(0, "?"), "HIDDEN"),
        (lambda data: data.update(viewer=0), "HIDDEN"),
        (lambda data: data.update(viewer=2), "OUT_OF_RANGE"),
        (lambda data: data.update(hands=data["hands"][:1]), "COUNT"),
        (lambda data: data["stock"].extend(data["pile"]) or data["pile"].clear(), "RULES"),
        (lambda data: data.update(drawing=True, stock=[], pile=[*data["stock"], *data["pile"]]), "RULES"),
    ],
)
def test_a_wrong_position_is_refused(change, reason):
    data = ai.new_game("eights", seed=1).to_json()
    change(data)
    with pytest.raises(ai.PositionError) as error:
        ai.Position.from_json(data)
    found = [each.reason for each in error.value.violations] or [error.value.reason]
    assert reason in found


def test_a_position_with_which_the_methods_cannot_go_on_is_refused():
    class Strict(Nim):
        def legal_actions(self, state):
            return [("take", 1, state.piles.index(4) + 1)]

    game = pure.game(Strict())
    data = game.text.format_position(game.starts.new_state(2, 1))
    with pytest.raises(
        ai.PositionError, match="the rules cannot go on from here: nim: legal_actions raised ValueError"
    ):
        game.text.parse_position({**data, "piles": [1] * 8})


def test_memory_is_as_the_dtype_says():
    class Wide(Nim):
        record = {
            **Nim.record,
            "flags": pure.Flag(pure.SEATS, 2),
            "low": pure.Numbers(low=-3, high=3),
            "wide": pure.Numbers(2, 2, low=-40_000, high=40_000),
            "large": pure.Numbers(pure.SEATS, high=2**40),
            "unsigned": pure.Numbers(high=2**32 - 1),
        }  # fmt: skip

        def start(self, state, rng, **options):
            super().start(state, rng, **options)
            assert state.flags == [[False, False]] * state.players
            assert state.low == 0
            state.flags[-1][1], state.low, state.wide[1][0], state.large[-1] = True, -3, -40_000, 2**40
            state.unsigned = 2**32 - 1

    game = pure.game(Wide())
    state = game.starts.new_state(3, 1)
    data = game.text.format_position(state)
    assert data["flags"] == [[False, False], [False, False], [False, True]]
    assert (data["low"], data["wide"], data["large"]) == (-3, [[0, 0], [-40_000, 0]], [0, 0, 2**40])
    assert data["unsigned"] == 2**32 - 1
    assert game.text.parse_position(data) == state
    testing.check(game)
    seen = game.learning.schema.split(observation(state, 2))
    assert seen["flags"].tolist() == [[0, 1], [0, 0], [0, 0], [0, 0]]
    assert (seen["low"], seen["large"].tolist()) == (-3, [2**40, 0, 0, 0])


def test_a_method_may_keep_what_it_gets():
    kept = []

    class Keeping(Nim):
        def legal_actions(self, state):
            kept.append(state)
            return super().legal_actions(state)

    state = nim_state(Keeping)
    state.legal_actions()
    del state
    gc.collect()
    assert kept[-1].piles == [3, 4, 5, 0, 0, 0, 0, 0]


# --- hidden hands


def test_a_view_hides_hands_and_stock():
    position = ai.new_game("eights", players=3, seed=4)
    data = position.view(1).to_json()
    assert data["hands"] == [["?"] * 5, position.to_json()["hands"][1], ["?"] * 5]
    assert set(data["stock"]) == {"?"}
    assert data["viewer"] == 1
    assert {card for hand in position.view(None).to_json()["hands"] for card in hand} == {"?"}
    assert "?" in str(position.view(1))
    world = position.view(1).guess(3)
    assert world.viewer is None
    assert world.view(1) == position.view(1)


class Duel(pure.PureGame):
    """Each seat holds a card; short hands are one word in a hash."""

    name = "duel"
    max_players = 2
    cards = {"A": 2, "B": 2}
    record = {"hands": pure.Cards(pure.SEATS, 4, seen_by=pure.OWNER), "stock": pure.Cards(4, seen_by=pure.NOBODY)}
    actions = ["play A", "play B"]

    def start(self, state, rng):
        deck = ["A", "A", "B", "B"]
        rng.shuffle(deck)
        state.hands[0], state.hands[1], state.stock = deck[:1], deck[1:2], deck[2:]

    def legal_actions(self, state):
        return [f"play {card}" for card in state.hands[state.to_move]]

    def apply_action(self, state, action):
        card = action.split()[1]
        state.hands[state.to_move].remove(card)
        state.stock += [card]
        state.to_move = 1 - state.to_move

    def current_player(self, state):
        return state.to_move if any(state.hands) else pure.TERMINAL

    def scores(self, state):
        return [0, 0]


def test_a_hidden_card_is_no_known_one():
    """Seats whose views have equal hashes know the same, so a search may let one act on what the other sees."""
    game = pure.game(Duel())
    for seed in range(8):
        state = game.starts.new_state(2, seed)
        state.apply(state.legal_actions()[0])
        assert state.view_hash(0) != state.view_hash(1)
        search = Search(state.copy(), viewer=0, seed=seed)
        search.run(iterations=100)


def test_draws_do_not_depend_on_the_true_cards():
    position = ai.new_game("eights", players=3, seed=4)
    others = [position.view(0).guess(seed).state for seed in (5, 6)]
    drawn = []
    for state in (position.state, *others):
        world = state.copy()
        assert world.determinize(0, 9)
        drawn.append(world.hash)
    assert len(set(drawn)) == 1
    assert len({state.hash for state in others}) == 2


def test_draws_are_uniform():
    state = ai.new_game("eights", seed=4).state
    counts = dict.fromkeys(eights.DECK, 0)
    for seed in range(2000):
        world = state.copy()
        world.determinize(0, seed)
        for card in EIGHTS.text.format_position(world)["hands"][1]:
            counts[card] += 1
    known = set(EIGHTS.text.format_position(state)["hands"][0]) | set(EIGHTS.text.format_position(state)["pile"])
    unseen = [counts[card] for card in eights.DECK if card not in known]
    assert all(counts[card] == 0 for card in known)
    assert len(unseen) == 44
    assert min(unseen) > 230
    assert max(unseen) < 410


def test_a_view_is_played_on():
    """Turns of others are legal in a view if they are for some deal, and their cards are dealt so."""
    for seed in range(5):
        position = ai.new_game("eights", players=3, seed=seed)
        view = position.view(1)
        for _ in range(12):
            if position.is_over:
                break
            turn = position.draw(seed) if position.is_chance else position.copy().legal_actions()[:1]
            if not turn[0].startswith("take"):
                position.push(turn)
            view.push(turn)
            assert view.to_json() == position.view(1).to_json()


@pytest.mark.parametrize("make", [dict, types.MappingProxyType])
def test_events_are_drawn_by_their_weights(make):
    class Coin(pure.PureGame):
        name = "coin"
        max_players = 2
        record = {"heads": pure.Numbers(high=10_000), "left": pure.Numbers(high=2000), "tossing": pure.Flag()}
        actions, events = ["toss"], ["heads", "tails", "edge"]
        max_game_length = 5000

        def start(self, state, rng):
            state.left = 1000

        def current_player(self, state):
            return CHANCE if state.tossing else state.to_move if state.left else pure.TERMINAL

        def legal_actions(self, state):
            return ["toss"]

        def apply_action(self, state, action):
            state.tossing = action == "toss"
            if action != "toss":
                state.heads += action == "heads"
                state.left -= 1

        def outcomes(self, state):
            return make({"tails": 1, "heads": 3, "edge": 0})

        def scores(self, state):
            return [state.heads, 0]

    game = pure.game(Coin())
    end, played = random_playout(game.starts.new_state(2, 1), 5)
    assert len(played) == 1000
    assert 690 < end.scores()[0] < 810
    assert end.returns() == [1, 0]
    start = game.starts.new_state(2, 1)
    start.apply(0)
    assert [start.is_legal(event) for event in range(4)] == [False, True, True, False]
    testing.check(game, stride=200)


def test_evaluate_and_policy_are_used():
    class Clever(Nim):
        def policy(self, state, actions):
            return [1.0 if action == ("take", 2, 1) else 0.0 for action in actions]

        def evaluate(self, state):
            return [0.75, 0.25], [3, 1]

    search = Search(nim_state(Clever))
    search.run(iterations=50)
    (best,) = search.result()["candidates"]
    assert best["actions"] == [NIM.text.parse_action("take 2 1")]
    assert best["value"][0] == pytest.approx(0.75, abs=0.1)

    class Wrong(Clever):
        def evaluate(self, state):
            return [1], [1, 2]

    with pytest.raises(ai.SearchError, match=r"evaluate gave \[1\], \[1, 2\]; expected two lists"):
        runs()(nim_state(Wrong))


@pytest.mark.parametrize(("given", "share"), [([0.9, 0.9], 0.5), ([3, 1], 0.5), ([math.nan, 1], 1 / 3), ([0, 0], 0.5)])
def test_shares_of_evaluate_are_made_to_add_up_to_one(given, share):
    game = type("Sloppy", (Nim,), {"evaluate": lambda self, state: (given, [0, 0])})
    search = Search(nim_state(game))
    search.run(iterations=1)
    value = search.result()["candidates"][0]["value"]
    assert value == pytest.approx([share, 1 - share])


# --- the registry


def test_a_game_is_registered_again():
    state = registry.register(pure.game(eights.CrazyEights())).starts.new_state(2, 1)
    assert ai.Position("eights", state).legal_actions()
    assert registry.names()[-1] == "eights"


def test_what_cannot_be_registered():
    with pytest.raises(ValueError, match='register: a game "nim" is installed; expected another name'):
        registry.register(NIM)
    with pytest.raises(ValueError, match="register: the object is a Python CrazyEights; expected a Game"):
        registry.register(eights.CrazyEights())
    named = type("Other", (Nim,), {"name": "other"})
    with pytest.raises(ValueError, match="register: its option --piles is one of the game nim; expected another name"):
        registry.register(pure.game(named()))


def test_games_of_the_environment(monkeypatch, tmp_path):
    (tmp_path / "broken_game.py").write_text("GAME = 1 / 0")
    named = [f"{ROOT}/examples/pure_game/eights.py:GAME", f"{tmp_path}/broken_game.py:GAME"]
    monkeypatch.setenv("MEXICA_AI_GAMES", ", ".join(named))
    monkeypatch.setattr(registry, "_registered", {})
    registry._plugins.cache_clear()
    registry._load.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="MEXICA_AI_GAMES: .*cannot be used: ZeroDivisionError"):
            assert registry.names()[-1] == "eights"
        assert registry.package_of("eights") == "eights"
    finally:
        monkeypatch.delenv("MEXICA_AI_GAMES")
        registry._plugins.cache_clear()
        registry._load.cache_clear()


def test_what_cannot_be_loaded():
    with pytest.raises(ai.UnknownGameError, match='"no_such_module:GAME" cannot be used: ModuleNotFoundError'):
        registry.load("no_such_module:GAME")
    with pytest.raises(
        ai.UnknownGameError, match="cannot be used: mexica_ai:Position is a Python type; expected a Game"
    ):
        registry.load("mexica_ai:Position")


def test_a_file_is_not_taken_for_another_of_its_name(tmp_path):
    files = [tmp_path / folder / "named_alike.py" for folder in ("one", "other")]
    for file in files:
        file.parent.mkdir()
        file.write_text("from pure_nim import NIM as GAME")
    one, other = (f"{file}:GAME" for file in files)
    try:
        assert registry.load(one) is registry.load(one) is NIM
        for wrong, name in ((other, "named_alike"), (f"{tmp_path}/random.py:GAME", "random")):
            with pytest.raises(ai.UnknownGameError, match=f"there is a module {name} already .*; expected another"):
                registry.load(wrong)
    finally:
        sys.modules.pop("named_alike", None)


def test_no_record_begins_with_a_view():
    position = ai.new_game("eights", players=3, seed=7)
    assert ai.make_record(position)["turns"] == []
    with pytest.raises(ai.PositionError) as caught:
        ai.make_record(position.view(0))
    assert caught.value.reason == "UPCOMING_UNKNOWN"


# --- large numbers


class Rich(HoldOrRisk):
    name = "rich"
    record = HoldOrRisk.record | {"coins": pure.Numbers(high=10**6)}

    def start(self, state, rng):
        state.coins = 70_000


def test_large_numbers_are_in_the_spaces():
    pytest.importorskip("pettingzoo")
    registry.register(pure.game(Rich()))
    testing.check_rules(registry.get("rich"))
    one, games, agents = env.single("rich", seat=0), env.vector("rich", 2, observations=True), env.aec("rich")
    assert one.observation_space.contains(one.reset()[0])
    assert games.observation_space.contains(games.observations)
    agents.reset()
    assert agents.unwrapped.state_space.contains(agents.state())


# --- a game that ends with a random event


class LastRoll(pure.PureGame):
    """Each seat throws a die; the throw of the last one ends the game."""

    name = "last_roll"
    record = {"points": pure.Numbers(pure.SEATS), "thrown": pure.Flag()}
    actions = ["throw"]
    events = [("die", eyes) for eyes in range(1, 7)]
    max_game_length = 8

    def start(self, state, rng):
        pass

    def current_player(self, state):
        if state.thrown:
            return CHANCE
        return pure.TERMINAL if all(state.points) else state.to_move

    def legal_actions(self, state):
        return ["throw"]

    def apply_action(self, state, action):
        if action == "throw":
            state.thrown = True
            return
        state.points[state.to_move] = action[1]
        state.thrown = False
        state.to_move = (state.to_move + 1) % state.players

    def outcomes(self, state):
        return self.events

    def scores(self, state):
        return state.points


def test_a_random_event_may_end_a_game():
    game = pure.game(LastRoll())
    testing.check(game)
    state = game.starts.new_state(3, 1)
    for seed in range(3):
        state.apply(state.legal_actions()[0])
        assert state.current_player == CHANCE
        state.resolve_chance(seed)
    assert state.is_terminal
    assert sum(state.returns()) == pytest.approx(1)


class Pendulum(pure.PureGame):
    """The seat to move may swing to and fro within its turn for ever; from one side it can win."""

    name = "pendulum"
    max_players = 2
    record = {"aside": pure.Flag(), "won": pure.Flag()}
    actions = ["swing", "win"]
    max_game_length = 1_000_000

    def start(self, state, rng):
        pass

    def current_player(self, state):
        return pure.TERMINAL if state.won else state.to_move

    def legal_actions(self, state):
        return ["swing"] if state.aside else ["swing", "win"]

    def apply_action(self, state, action):
        if action == "swing":
            state.aside = not state.aside
        else:
            state.won = True

    def scores(self, state):
        return [int(state.won), 0]

    def evaluate(self, state):
        return [0.5, 0.5], [0, 0]


@pytest.mark.parametrize("halving", [0, 2])
def test_a_turn_that_may_go_round_has_a_result(halving):
    search = Search(pure.game(Pendulum()).starts.new_state(2, 1), seed=1, memory_mb=16, halving=halving)
    search.run(iterations=300)
    assert search.result()["candidates"][0]["visits"] > 0


class Sudden(LastRoll):
    """A six ends the game at once."""

    name = "sudden"

    def current_player(self, state):
        return pure.TERMINAL if 6 in state.points else super().current_player(state)


def test_games_begin_where_an_event_may_end_them():
    data = {"version": 1, "players": 2, "thrown": True}
    last, sudden = pure.game(LastRoll()), pure.game(Sudden())
    start = last.text.parse_position(data | {"game": "last_roll", "to_move": 1, "points": [1, 0]})
    with pytest.raises(ai.SearchError, match=r"^starts\[0\]: the random event that is due ends the game; expected"):
        Batch([start], 2, seed=1)
    start = sudden.text.parse_position(data | {"game": "sudden", "to_move": 0, "points": [0, 0]})
    games = Batch([start], 64, seed=1)
    for _ in range(10):
        assert (games.to_move == 1).all()
        games.step_random()
        games.restart()

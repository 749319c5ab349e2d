"""A game as a fold over events: a random walk through all that can be asked of it, on a disk that may be full."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.game.notes import Note
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.table.events import Started, begin, fold
from mexica_ai.table.journal import read_event, read_started
from mexica_ai.table.seats import Seat
from mexica_ai.web import commands, starts, visibility
from mexica_ai.web.errors import ApiError

JOURNALS = Path(__file__).parent / "journals"
ENGINE = {"kind": "engine", "level": 1, "seconds": 1.0}
PERSON = {"kind": "person"}


class Lines:
    """A journal in memory, on a disk that is full at times."""

    def __init__(self, head):
        self.lines, self.is_full = [json.dumps(head)], False

    def append(self, *entries):
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.lines += map(json.dumps, entries)

    def entries(self):
        return list(map(json.loads, self.lines))


def facts(table):
    """Return what of a table a journal keeps."""
    return {
        "turns": table.turns,
        "positions": [position.to_compact() for position in table.positions],
        "seats": table.seats,
        "resigned": table.resigned,
        "evaluations": table.evaluations,
        "seconds": table.seconds,
        "lines": table.tree,
        "luck": table.started.luck,
    }


def evaluation_of(table, index):
    players = len(table.seats)
    shares = [1.0, *[0.0] * (players - 1)]
    return TurnEvaluation(
        turn_index=index,
        seat=table.positions[index].to_move,
        turn=list(table.turns[index]),
        before=shares,
        after=shares,
        choice=list(table.turns[index]),
        choice_value=shares,
        loss=0.0,
        expected_scores_before=shares,
        expected_scores_after=shares,
        scores=shares,
        iterations=1,
        seconds=1.0,
        points_lost=0.0,
        grade="",
    )


class Play(RuleBasedStateMachine):
    """Pages, engines and tables play one game; each command is done as a whole or not at all."""

    @initialize(game=st.sampled_from(["nim", "coatl"]), persons=st.sampled_from([(0,), (0, 1), (1, 2), (0, 2)]))
    def start(self, game, persons):
        seats = [PERSON if seat in persons else ENGINE for seat in range(3)]
        data = {"game": game, "players": 3, "seed": 1, "seats": seats, "draws": False}
        self.game = starts.create(data, names=[], examples={}, find=None)
        self.journal = self.game.journal = Lines(self.game.table.started.to_json())
        self.versions = [self.game.version]

    @property
    def table(self):
        return self.game.table

    def do(self, command, version=None):
        """Do a command; return whether it was done. Otherwise everything is as it was."""
        before, kept = self.table, len(self.journal.lines)
        try:
            self.game.change(command, version=self.table.version if version is None else version)
        except (ApiError, MexicaAIError, OSError):
            assert self.table is before
            assert len(self.journal.lines) == kept
            self.game.snapshot(self.viewer())
            return False
        return True

    def viewer(self):
        return self.table.mover if self.table.mover in self.table.persons else None

    @rule(choice=st.integers(0, 10**6))
    def enter_an_action(self, choice):
        viewer = self.viewer()
        if viewer is None:
            assert not self.do(partial(commands.enter, viewer=viewer, actions=["end"]))
            return
        self.do(partial(commands.hand_over, viewer=viewer))
        legal = self.game.drafted()
        if not legal.is_ended:
            actions = legal.position.legal_actions()
            assert self.do(
                partial(commands.enter, viewer=viewer, actions=[*self.table.draft, actions[choice % len(actions)]])
            )

    @rule()
    def enter_nonsense(self):
        assert not self.do(partial(commands.enter, viewer=self.viewer(), actions=[*self.table.draft, "nonsense"]))

    @rule(is_full=st.booleans())
    def end_the_turn(self, is_full):
        """A disk that is full for a moment costs nothing."""
        viewer, draft, turns = self.viewer(), self.table.draft, len(self.table.turns)
        command = partial(commands.commit, viewer=viewer)
        if is_full:
            self.journal.is_full = True
            assert not self.do(command)
            self.journal.is_full = False
            assert self.table.draft == draft
        if self.do(command):
            assert self.table.turns[turns][: len(draft)] == draft
            assert self.table.draft == ()

    @rule()
    def play_a_turn_that_does_not_end(self):
        """What is refused is no draft."""
        draft = self.table.draft
        assert not self.do(partial(commands.commit, viewer=self.viewer(), actions=[]))
        assert self.table.draft == draft

    @precondition(lambda self: self.table.waiting == "engine")
    @rule(choice=st.integers(0, 10**6))
    def let_an_engine_play(self, choice):
        position, turn = self.table.now.copy(), []
        started = position.state.turn
        while not position.is_over and not position.is_chance and position.state.turn == started:
            actions = position.legal_actions()
            turn.append(actions[choice % len(actions)])
            position.push_action(turn[-1])
        assert self.do(partial(commands.play, turn=turn))

    @rule()
    def draw(self):
        assert self.do(commands.happen) == (len(self.versions) > 0 and self.was_event)

    @rule()
    def take_back(self):
        limit, version = commands.take_back_limit(self.table), self.table.version
        assert self.do(commands.take_back) == (limit is not None)
        if limit is not None:
            assert len(self.table.turns) == limit
            assert not self.do(commands.take_back, version)  # a second page with the version before

    @rule(choice=st.integers(0, 10**6))
    def add_a_variation(self, choice):
        number = choice % (len(self.table.turns) + 1)
        position = self.table.positions[number].copy()
        if position.is_over or position.is_chance:
            return
        turn = [position.legal_actions()[-1]]
        position.push_action(turn[0])
        while position.is_within_turn:
            turn.append(position.legal_actions()[choice % len(position.legal_actions())])
            position.push_action(turn[-1])
        assert self.do(lambda _: [Note("add", (), number, (tuple(turn),))])
        assert self.do(lambda _: [Note("comment", (), number, text="better")])
        assert self.table.tree.comment_on(number) == "better"

    @precondition(lambda self: len(self.table.turns) > 4)
    @rule()
    def resign(self):
        viewer = self.viewer()
        self.do(partial(commands.hand_over, viewer=viewer))
        if self.do(partial(commands.resign, viewer=viewer)):
            assert self.table.winners == [seat for seat in range(3) if seat != viewer]

    @precondition(lambda self: len(self.table.turns) > 2)
    @rule(seat=st.integers(-1, 3))
    def seat_a_person(self, seat):
        is_engine = seat in range(3) and seat not in self.table.persons
        assert self.do(partial(commands.seat_person, seat=seat)) == is_engine

    @precondition(lambda self: visibility.is_open(self.table) and self.table.turns)
    @rule(seconds=st.sampled_from([0.5, 1.0]))
    def evaluate(self, seconds):
        assert self.do(partial(commands.annotate, seconds=seconds))
        for index in self.table.seat_turns()[-2:]:
            assert self.do(partial(commands.evaluate, evaluation=evaluation_of(self.table, index)))

    @invariant()
    def the_journal_is_the_game(self):
        head, *rest = self.journal.entries()
        again = fold(read_started(head), map(read_event, rest), version=5)
        assert facts(again) == facts(self.table)
        assert facts(fold(self.table.started, self.table.events())) == facts(self.table)

    @invariant()
    def what_is_shown_follows(self):
        self.was_event = self.table.waiting == "event"
        assert self.table.version >= self.versions[-1]
        self.versions.append(self.table.version)
        snapshot = self.game.snapshot(self.viewer())
        assert snapshot["version"] == self.table.version
        assert snapshot["num_turns"] == len(self.table.turns) == len(self.table.positions) - 1
        viewer = snapshot["viewer"]
        if snapshot["handover"] is None and viewer is not None and not visibility.is_open(self.table):
            assert len(snapshot["turns"]) == snapshot["num_turns"]
            assert self.game.seen_turns(viewer) == [turn["actions"] for turn in snapshot["turns"]]


TestPlay = Play.TestCase
TestPlay.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


# --- journals of version 0.1.0


def old(name):
    return [json.loads(line) for line in (JOURNALS / f"{name}.jsonl").read_text().splitlines()]


def test_a_game_of_an_older_version_goes_on():
    """Its lines: turns, back, a person for an engine, evaluations, a resignation that is taken back and made again."""
    game = starts.restore("a" * 32, old("game"))
    table = game.table
    assert table.turns == (("take 1 2",), ("take 2 1",), ("take 2 3",))
    assert table.seats == (Seat(), Seat())
    assert (table.resigned, table.winners, table.seconds) == (1, [0], 0.5)
    assert {index: one.grade for index, one in table.evaluations.items()} == {0: "", 1: "blunder"}
    assert table.started.created == "2026-11-27T06:22:26+00:00"
    assert game.annotation["state"] == "stopped"
    game.change(commands.take_back)
    assert (table.resigned, game.table.resigned) == (1, None)


@pytest.mark.parametrize("name", ["game", "over", "drill"])
def test_the_lines_of_a_journal_are_as_before(name):
    head, *rest = old(name)
    for seat in head["seats"]:
        del seat["title"]  # which followed from the rest
    lines = [read_started(head).to_json(), *(read_event(entry).to_json() for entry in rest)]
    assert lines == [head, *rest]


def test_a_drill_of_an_older_version_goes_on():
    game = starts.restore("a" * 32, old("drill"))
    assert len(game.table.started.exercises) == 2
    assert game.table.number == 1
    assert {number: outcome.tries for number, outcome in game.table.outcomes.items()} == {0: 1, 1: 0}
    assert game.snapshot(None)["drill"]["number"] == 2
    assert facts(fold(game.table.started, game.table.events())) == facts(game.table)


@pytest.mark.parametrize(
    "entry",
    [
        {"back": 9}, {"back": -1}, {"back": True}, {"person": -1}, {"person": 2}, {"resigned": 2}, {"exercise": 0},
        {"outcome": {"solved": True, "points": 1, "tries": 1}}, {"turn": [7]}, {"turn": [], "more": 1}, {},
        {"annotation": "x"}, {"lines": []}, {"lines": {"do": "add", "line": "", "at": 0, "turns": [["take 9 9"]]}},
    ],
)  # fmt: skip
def test_what_no_game_can_have_had_is_refused(entry):
    table = begin(Started(Position.from_compact("nim/1 3,5,7 2,0,1,1"), (Seat(), Seat("engine", 1, None, 1.0))))
    with pytest.raises(MexicaAIError):
        fold(table.started, [read_event(entry)])


def test_luck_is_of_a_journal_and_decides_events():
    data = {"game": "coatl", "players": 2, "seed": 1, "seats": [PERSON] * 2, "draws": False, "open": True}
    game = starts.create(data, names=[], examples={}, find=None)
    while game.waiting != "event":
        position = game.now.copy()
        turn = position.legal_actions()[:1]
        position.push_action(turn[0])
        while position.is_within_turn:
            turn.append(position.legal_actions()[0])
            position.push_action(turn[-1])
        game.change(partial(commands.play, turn=turn))
    again = read_started(game.table.started.to_json())
    assert again.luck == game.table.started.luck is not None
    other = fold(again, game.table.events())
    assert game.table.drawn() == game.table.drawn() == other.drawn()
    head = game.table.started.to_json()
    del head["luck"]
    older = fold(read_started(head), game.table.events())
    assert len({tuple(older.drawn()) for _ in range(20)}) > 1
    for luck in (-1, 2**63):
        with pytest.raises(MexicaAIError):
            read_started({**head, "luck": luck})


def test_versions_do_not_repeat():
    lines = old("game")
    first = starts.restore("a" * 32, lines)
    assert starts.restore("a" * 32, lines).version > first.version

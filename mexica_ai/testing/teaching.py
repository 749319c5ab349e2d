"""The contract test of the part `Teaching`; `mexica_ai.testing` runs it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Protocol

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE, State
from mexica_ai.game.contract import Fields, Game, Teaching
from mexica_ai.game.guide import check_action, read_guide
from mexica_ai.game.phrases import ENGLISH, GAP, Phrasebook, phrasebook
from mexica_ai.game.score_rows import Move
from mexica_ai.game.teaching import rules_path

SECTIONS = ("aim", "turn", "end", "scoring")  # that every page of rules has
_NEAR = 1e-9
_STRIDE = 10  # actions between two looks at hints


class Case(Protocol):
    """A game, the state in which a random game begins, and the tools of the checks."""

    @property
    def game(self) -> Game: ...
    @property
    def start(self) -> State: ...
    @property
    def rng(self) -> random.Random: ...
    @property
    def draws_events(self) -> bool: ...
    @property
    def fields(self) -> Callable[[State], Fields]: ...
    @property
    def expect(self) -> Callable[..., None]: ...


def look(case: Case) -> None:
    """Check the part of a game; nothing if it has none."""
    teaching = case.game.teaching
    if teaching is None:
        return
    book = phrasebook(teaching.folder)
    _texts(case, teaching, book)
    _game(case, teaching, book)
    _guide(case, teaching)


def _texts(case: Case, teaching: Teaching, book: Phrasebook) -> None:
    case.expect((teaching.folder / f"{ENGLISH}.json").is_file(), "the texts lack en.json")
    path = rules_path(teaching.folder, ENGLISH)
    rules = path.read_text(encoding="utf-8") if path.is_file() else ""
    missing = set(SECTIONS) - set(re.findall(r"\{#(\w+)\}", rules))
    case.expect(not missing, f"the rules in words lack the sections {sorted(missing)}")
    for name in teaching.legend:
        for key in (f"legend.{name}", f"legend.{name}.words"):
            case.expect(book.has(key), f"the texts lack {key}")


def _game(case: Case, teaching: Teaching, book: Phrasebook) -> None:
    """Play a random game: look at its hints, add up its score sheet."""
    game, state = case.game, case.start.copy()
    first, moves = case.fields(state), []
    before = first
    while not state.is_terminal:
        for action in _next(case, state):
            state.apply(action)
            if state.current_player == CHANCE and not case.draws_events:
                state.resolve_chance(case.rng.getrandbits(63))
            after = case.fields(state)
            moves.append(Move(game.text.format_action(action), before, after))
            before = after
            if len(moves) % _STRIDE == 0:
                _hints(case, teaching, book, state)
    scores, at_first = game.scores(state), game.scores(case.start)
    rows = teaching.score_sheet(first, moves)
    for seat, score in enumerate(scores):
        total = sum(row.points[seat] for row in rows)
        is_right = abs(total - (score - at_first[seat])) < _NEAR
        case.expect(is_right, f"the score sheet gives seat {seat} {total}, the game {score - at_first[seat]}", state)
    for row in rows:
        for words in (row.section, row.label):
            case.expect(_is_said(book, book.say(words)), f"the row {words.key} has no whole text", state)
    case.expect(teaching.projected(before) == scores, "the projected points at the end are not the scores", state)


def _next(case: Case, state: State) -> list[int]:
    """Return the next actions of a random game, or its random event."""
    events = case.game.events
    if state.current_player == CHANCE:
        assert events is not None
        assert events.draw_outcome is not None
        return [events.draw_outcome(state, case.rng.getrandbits(63))]
    return random_turn(state, case.rng.getrandbits(63))


def _hints(case: Case, teaching: Teaching, book: Phrasebook, state: State) -> None:
    seat = None if state.current_player < 0 else state.current_player
    fields = case.fields(state)
    hints = teaching.hints(fields)
    for key, words in hints.items():
        said = book.say(words)
        case.expect(_is_said(book, said), f"the hint of {key} has no whole text: {said!r}", state)
    if case.game.picture.draw is not None:
        drawn = case.game.picture.draw(fields, theme="page", targets=True, viewer=seat)
        missing = set(re.findall('data-hint="([^"]+)"', drawn)) - hints.keys()
        case.expect(not missing, f"the picture has marks without words: {sorted(missing)}", state)
    projected = teaching.projected(fields)
    case.expect(len(projected) == state.num_players, "there is not one projected number a seat", state)


def _is_said(book: Phrasebook, said: str) -> bool:
    return bool(said) and GAP.search(said) is None and not re.fullmatch(r"[a-z_]+(\.[a-z_0-9]+)+", said)


def _guide(case: Case, teaching: Teaching) -> None:
    """Play the guided first game, the first action that fits each time."""
    guide, text = read_guide(teaching.folder), case.game.text
    if guide is None:
        return
    state = text.parse_position(dict(guide.start))
    for step in guide.steps:
        done: list[str] = []
        while len(done) < step.actions:
            case.expect(state.current_player == guide.seat, f"the step {step.name} is not the learner's", state)
            legal = map(text.format_action, state.legal_actions())
            fitting = [action for action in legal if check_action(step, done, action).fits]
            case.expect(bool(fitting), f"nothing legal fits the step {step.name} after {done}", state)
            state.apply(text.parse_action(fitting[0]))
            done.append(fitting[0])
        for reply in (action for turn in step.replies for action in turn):
            number = text.parse_action(reply)
            case.expect(state.is_legal(number), f"the reply {reply} to the step {step.name} is not legal", state)
            state.apply(number)

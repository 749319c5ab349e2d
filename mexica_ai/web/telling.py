"""The turns of a game in words, for its pages: each is told once, and again only if it has changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.verdict import explain_evaluation
from mexica_ai.game.messages import language
from mexica_ai.game.phrases import ENGLISH
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.variations import Line, Path, Turn, walk
from mexica_ai.game.words import moments_of, tell_steps, tell_turn, words_of_turn
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.table.events import Table
from mexica_ai.table.seats import Seat, names_of
from mexica_ai.web.pictures import play_on

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

_FEW = 50  # turns of variations that are told at once

Words: TypeAlias = list[tuple[int | None, str]]  # of turns, each with its seat
# Of a line: for it and each above it, where it leaves the one above, after what turns of that, and with what turn.
_Place: TypeAlias = tuple[tuple[int, tuple[Turn, ...], Turn], ...]
_Lines: TypeAlias = dict[_Place, tuple[tuple[Turn, ...], Words]]


@dataclass(frozen=True)
class Told:
    """A turn in words.

    Parameters
    ----------
    turn : list of str
        Its actions as the viewer has seen them.
    words : str
        All of it.
    steps : list of str
        Each of its actions; "" for those that only end it.
    round : str
        The caption of its round; "" in games that do not count rounds.
    """

    turn: list[str]
    words: str
    steps: list[str]
    round: str


class Telling:
    """The turns of one game in words, as its viewers have seen them."""

    def __init__(self) -> None:
        self._told: dict[tuple[int | None, str], list[Told]] = {}
        self._choices: dict[tuple[int, tuple[str, ...], str], str] = {}
        self._lines: dict[tuple[str, ...], _Lines] = {}  # by language and names; replaced, for threads read it
        self._explanations: dict[tuple[int, str], tuple[TurnEvaluation, list[str]]] = {}
        self._seats: Sequence[Seat] = ()

    def turns(self, game: Game, viewer: int | None) -> list[Told]:
        """Return the turns so far, as a viewer (of `visibility.viewer_for`) has seen them."""
        self._follow(game)
        seen = game.seen_turns(viewer)
        viewer = None if game.is_open else viewer
        told, names = self._told.setdefault((viewer, language()), []), names_of(game.seats)
        for index in range(len(told), len(seen)):
            position = game.positions[index]
            moments = moments_of(position, game.turns[index], seen=seen[index], viewer=viewer)
            seat = position.to_move
            told.append(
                Told(
                    seen[index],
                    tell_turn(game.kind, moments, seat, names),
                    tell_steps(game.kind, moments, seat, names),
                    game.kind.words.round_of(moments[0].before if moments else position.to_json()),
                )
            )
        return told

    def choice(self, game: Game, index: int, turn: list[str]) -> str:
        """Return a turn that could have been played instead of one, in words, for somebody who sees all."""
        self._follow(game)
        key = index, tuple(turn), language()
        if key not in self._choices:
            self._choices[key] = words_of_turn(game.positions[index], turn, names_of(game.seats))
        return self._choices[key]

    def lines(self, game: Game) -> list[tuple[Path, Line, Words]]:
        """Return the variations beside the game with the words of their turns, each after the one that it leaves.

        Turns that several lines share are played no more often for that. The game may change meanwhile, in another
        thread: what is returned is of the game as it was, and only what is so still is kept.
        """
        table = game.table
        speech = _speech(table.seats)
        known, told, found = self._lines.get(speech, {}), _Lines(), list[tuple[Path, Line, Words]]()
        places: dict[Path, _Place] = {(): ()}
        ways: dict[Path, _Way] = {(): _Way(table.tree, None, table.positions)}
        for path, line in walk(table.tree):
            if path:
                above = path[:-1]
                place = places[path] = (*places[above], (line.at, ways[above].turns(line.at), line.turns[0]))
                ways[path] = _Way(line, ways[above])
                if place in known and known[place][0] == line.turns:
                    told[place] = known[place]
                else:
                    turns = list(map(list, line.turns))
                    told[place] = line.turns, tell_line(game, ways[above].position(line.at), line.at, turns)
                found.append((path, line, told[place][1]))
        with game.lock:  # so that what is forgotten meanwhile does not come back
            common = sum(one is other for one, other in zip(game.positions, table.positions, strict=False))
            if game.seats is table.seats:
                kept = {place: words for place, words in told.items() if place[0][0] < common}
                self._lines = {**self._lines, speech: kept}
        return found

    def is_ready(self, game: Game) -> bool:
        """Return whether the variations beside a game were told in this language before, but for a few."""
        return game.table.tree.size.turns <= _FEW or _speech(game.seats) in self._lines

    def explanation(self, one: TurnEvaluation) -> list[str]:
        """Return why a turn is marked; in English, as records have it, where `explain` has not been."""
        kept = self._explanations.get((one.turn_index, language()))
        return kept[1] if kept is not None and kept[0] is one else one.explanation

    def explain(self, table: Table, evaluations: Iterable[TurnEvaluation]) -> None:
        """Have evaluations explained in the language of now; it takes its time, so it is not for the loop."""
        for one in evaluations if language() != ENGLISH else ():
            key = one.turn_index, language()
            kept = self._explanations.get(key)
            if one.explanation and (kept is None or kept[0] is not one):
                try:
                    self._explanations[key] = one, explain_evaluation(table.positions[one.turn_index], one)
                except (MexicaAIError, IndexError):  # it is not of this game any more
                    continue

    def forget(self, common: int) -> None:
        """Forget what was told in positions from a number on, and the turns to them: the game has others there now."""
        for told in self._told.values():
            del told[max(0, common - 1) :]
        self._choices = {key: words for key, words in self._choices.items() if key[0] < common}
        self._lines = {
            speech: {place: words for place, words in lines.items() if place[0][0] < common}
            for speech, lines in self._lines.items()
        }

    def _follow(self, game: Game) -> None:
        """Forget what was told with other names."""
        if self._seats != game.seats:
            self._seats = game.seats
            self._told.clear()
            self._choices.clear()
            self._lines = {}


def _speech(seats: Sequence[Seat]) -> tuple[str, ...]:
    """Return what words depend on: the language of now, and the names of the players."""
    return language(), *names_of(seats)


class _Way:
    """The positions along a line, each played when it is asked for, and then no one before it.

    Parameters
    ----------
    line : Line
    above : _Way or None
        The line that it leaves.
    played : sequence of Position
        Of the main line, which has no other above it.
    """

    def __init__(self, line: Line, above: _Way | None, played: Sequence[Position] = ()) -> None:
        self._line, self._above, self._played = line, above, played
        self._number = line.at
        self._now: Position | None = None

    def turns(self, number: int) -> tuple[Turn, ...]:
        """Return the turns of the line itself until the game has so many; none of the main line."""
        return () if self._above is None else self._line.turns[: number - self._line.at]

    def position(self, number: int) -> Position:
        """Return a new position, after so many turns of the game along the line."""
        if self._above is None:
            return self._played[number].copy()
        if self._now is None:
            self._now = self._above.position(self._line.at)
        for turn in self._line.turns[self._number - self._line.at : number - self._line.at]:
            self._now.push(list(turn))
        self._number = number
        return self._now.copy()


def tell_line(game: Game, position: Position, number: int, turns: Sequence[list[str]]) -> Words:
    """Return turns one after another, each as its seat and its words.

    Parameters
    ----------
    position : Position
        Before the first one, as whoever is told sees it; random events that the turns leave out are drawn.
    number : int
        Of turns that were played in the game, for `pictures.play_on`.
    turns : sequence of list of str
        Those that are not legal, as a search does not see all hands, are told as text.
    """
    now, names, told = position.copy(), names_of(game.seats), []
    for index, turn in enumerate(turns):
        try:
            before = play_on(game, now, turn, number)
            told.append((before.to_move, words_of_turn(before, turn, names)))
        except MexicaAIError:
            return told + [(None, TURN_SEPARATOR.join(rest)) for rest in turns[index:]]
    return told

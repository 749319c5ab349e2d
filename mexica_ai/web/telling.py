"""The turns of a game in words, for its pages: each is told once, and again only if it has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mexica_ai.game.messages import language
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.words import moments_of, tell_steps, tell_turn, words_of_turn
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.seats import Seat, names_of
from mexica_ai.web.pictures import play_on

if TYPE_CHECKING:
    from mexica_ai.web.games import Game


_LINES_KEPT = 500


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
        self._lines: dict[tuple[tuple[tuple[str, ...], ...], int, str], list[tuple[int | None, str]]] = {}
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

    def line(self, game: Game, turns: tuple[tuple[str, ...], ...], at: int) -> list[tuple[int | None, str]]:
        """Return the turns of a line after its first `at`, from the start of the game, each as its seat and words."""
        self._follow(game)
        key = turns, at, language()
        if key not in self._lines:
            if len(self._lines) >= _LINES_KEPT:
                self._lines.clear()
            position = game.table.position_along(turns[:at])
            self._lines[key] = tell_line(game, position, at, list(map(list, turns[at:])))
        return self._lines[key]

    def forget(self, common: int) -> None:
        """Forget what was told in positions from a number on, and the turns to them: the game has others there now."""
        for told in self._told.values():
            del told[max(0, common - 1) :]
        self._choices = {key: words for key, words in self._choices.items() if key[0] < common}

    def _follow(self, game: Game) -> None:
        """Forget what was told with other names."""
        if self._seats != game.seats:
            self._seats = game.seats
            self._told.clear()
            self._choices.clear()
            self._lines.clear()


def tell_line(game: Game, position: Position, number: int, turns: Sequence[list[str]]) -> list[tuple[int | None, str]]:
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

"""What the analysis of a position has found, said to each page in its language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.game.messages import language, noted, say
from mexica_ai.game.position import Position
from mexica_ai.game.variations import Turn
from mexica_ai.table.seats import names_of
from mexica_ai.web import pictures
from mexica_ai.web.guests import Guest
from mexica_ai.web.snapshot_types import AnalysisJson, CandidateJson
from mexica_ai.web.telling import Words, tell_line

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

MAX_LINE = 3  # most turns of an expected line

STOP_WORDS = {
    "time": noted("time limit reached"),
    "iterations": noted("iteration limit reached"),
    "memory": noted("memory full"),
    "stopped": noted("stopped"),
    "forced": noted("only one legal turn"),
    "solved": noted("solved: the outcome is proved"),
    "settled": noted("settled: the runner-up cannot catch up"),
}

_Key = tuple[str, ...]  # a language, and the names of the seats
_Turns = tuple[Turn, ...]


@dataclass(frozen=True)
class Asked:
    """What is searched.

    Parameters
    ----------
    key : str
        By which the service knows the search.
    at : int
        Number of turns of the game before it.
    line, draft : list
        Turns of a side line from there, and actions of the next one.
    base : Position
        That of the game before the line.
    viewer : int or None
        The seat that `visibility.viewer_for` returns.
    seen : Position
        What the viewer sees.
    position : Position
        What is searched.
    is_guess : bool
        Whether that has a guess for what the viewer does not see.
    guest : Guest or None
        Who asks; None: the owner.
    """

    key: str
    at: int
    line: list[list[str]]
    draft: list[str]
    base: Position
    viewer: int | None
    seen: Position
    position: Position
    is_guess: bool
    guest: Guest | None

    def is_of(self, game: Game) -> bool:
        """Return whether the game still comes to the position: the turns before it were not taken back."""
        return self.at < len(game.positions) and game.positions[self.at] is self.base


class _Found(NamedTuple):
    """A candidate, where on the board it begins, and the line with which the game can go on."""

    candidate: Candidate
    target: str
    line: list[list[str]]


class Analysis:
    """What was found so far; words are told when a page wants them, and again only if they have changed.

    Parameters
    ----------
    game : Game
    asked : Asked
    """

    def __init__(self, game: Game, asked: Asked) -> None:
        self._game, self.asked = game, asked
        self._result: Result | None = None
        self._found: list[_Found] = []
        self._stop_reason = self._message = ""
        self._told: dict[_Key, dict[_Turns, Words]] = {}
        self._why: dict[str, list[str]] = {}

    @property
    def has_result(self) -> bool:
        """Whether the search has found anything yet."""
        return self._result is not None

    def take(self, result: Result) -> None:
        """Go on with a newer result."""
        game, asked = self._game, self.asked
        self._result, self._stop_reason = result, result.stop_reason
        self._found = [
            _Found(
                one,
                _first_target(game, asked.position, one.turn),
                pictures.playable(game, asked.seen, asked.at, [one.turn, *one.line[:MAX_LINE]])[1:],
            )
            for one in result.candidates
        ]
        self._why.clear()

    def end(self, reason: str, message: str = "") -> None:
        """Note that it has ended before the search did; `message` says why it failed."""
        self._stop_reason, self._message = reason, message

    def to_json(self) -> AnalysisJson:
        """Return it in the form of pages, in the language of now."""
        asked, result, reason = self.asked, self._result, self._stop_reason
        seconds = result.seconds if result is not None else 0.0
        iterations = result.iterations if result is not None else 0
        return {
            "key": asked.key,
            "at": asked.at,
            "line": asked.line,
            "draft": asked.draft,
            "viewer": asked.viewer,
            "guessed": asked.is_guess,
            "seat": None if result is None else asked.position.to_move,
            "candidates": self._candidates_json(),
            "iterations": iterations,
            "seconds": round(seconds, 3),
            "speed": round(iterations / seconds) if seconds > 0 else 0,
            "stop_reason": reason,
            "stop_text": self._message or say(STOP_WORDS.get(reason, reason)),
            "why": self._sentences(),
        }

    def _candidates_json(self) -> list[CandidateJson]:
        names = names_of(self._game.seats)
        key = language(), *names
        before = self._told.get(key, {})
        told = self._told[key] = {}  # without those that are candidates no more
        found: list[CandidateJson] = []
        for one, target, line in self._found:
            turns = tuple(map(tuple, [one.turn, *line]))
            if turns not in before:
                before[turns] = tell_line(self._game, self.asked.position, self.asked.at, [one.turn, *line])
            (_, words), *line_words = told[turns] = before[turns]
            found.append(
                {
                    "turn": one.turn,
                    "visits": one.visits,
                    "value": [round(share, 3) for share in one.value],
                    "expected_scores": [round(score, 1) for score in one.expected_scores],
                    "target": target,
                    "line": line,
                    "words": words,
                    "line_words": [{"seat": seat, "words": spoken} for seat, spoken in line_words],
                }
            )
        return found

    def _sentences(self) -> list[str]:
        """Return why the search chose its best turn, once it has ended by itself."""
        if self._result is None or not self._result.stop_reason or self._message:
            return []
        if language() not in self._why:
            self._why[language()] = explain(self.asked.position, self._result).sentences
        return self._why[language()]


def _first_target(game: Game, position: Position, turn: list[str]) -> str:
    """Return where on the board a turn begins; "" if its first action has no place."""
    paths = game.kind.picture.entry(turn[0], position.to_json()).paths if turn else ()
    return paths[0] if paths else ""

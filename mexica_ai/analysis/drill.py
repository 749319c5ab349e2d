"""Drills: positions in which a seat has lost by its turn, to find a better one; made from evaluated games.

A drill is a file of JSON lines, one exercise a line. What a person has solved is kept in a file beside it. The measure
of a turn that a person enters is that of `mexica_ai.analysis.annotate.evaluate_record`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mexica_ai.analysis import grades
from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.blunder import estimate, gain_of
from mexica_ai.analysis.grades import grade_of
from mexica_ai.game import registry
from mexica_ai.game.messages import percent, say
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.records import VERSION as RECORD_VERSION
from mexica_ai.io import files
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import are_shares
from mexica_ai.io.strict import check_shape, check_version, parse_json, quote

VERSION = 1
MAX_EXERCISES = 10_000  # of a file
GRADES = grades.GRADES[1:]  # from the least on
LEAST = GRADES[0]  # that is taken by default, and that solves no exercise
TRY_POINTS = 25  # that a hint, or a turn tried before, costs
MAX_POINTS = 100  # of an exercise
_SOURCE = {"record": str, "game": int, "turn": int}
_SHAPE = {
    "version": int,
    "position": dict,
    "seat": int,
    "turn": [str],
    "loss": float,
    "better": [str],
    "value": [float],
    "source": _SOURCE,
}
_RESULT = {"solved": bool, "points": int, "tries": int}


def is_at_least(grade: str, least: str) -> bool:
    """Return whether a grade is as bad as another one, or worse."""
    return grade in GRADES and GRADES.index(grade) >= GRADES.index(least)


@dataclass(frozen=True)
class Source:
    """Where an exercise comes from.

    Parameters
    ----------
    record : str
        Name of the file, without its folder.
    game : int
        Number of the record in the file, from 1.
    turn : int
        Number of the turn in the record, from 1; random events have numbers, too.
    """

    record: str
    game: int
    turn: int


@dataclass(frozen=True)
class Exercise:
    """A position in which a turn has lost a share of the win.

    Parameters
    ----------
    position : Position
        As the seat to move sees it.
    seat : int
        The seat to move.
    turn : list of str
        The turn that was played.
    loss : float
        The share of the win that it gave away, in [0, 1].
    better : list of str
        The engine's turn.
    value : list of float
        Expected share of the win of each seat after the better turn.
    source : Source
    """

    position: Position
    seat: int
    turn: list[str]
    loss: float
    better: list[str]
    value: list[float]
    source: Source

    @cached_property
    def key(self) -> str:
        """What names the position in a file of results: the first 16 digits of the SHA-256 of its compact form."""
        return hashlib.sha256(self.position.to_compact().encode()).hexdigest()[:16]

    @cached_property
    def world(self) -> Position:
        """A full position that agrees with what the seat sees, always the same one."""
        return self.position.guess(0)

    def after(self, turn: Sequence[str]) -> Position:
        """Return `world` after a turn; raises the errors of `Position.push`."""
        position = self.world.copy()
        position.push(list(turn))
        return position

    def to_json(self) -> JsonObject:
        """Return the line of the exercise as a JSON object."""
        return {
            "version": VERSION,
            "position": self.position.to_json(),
            "seat": self.seat,
            "turn": self.turn,
            "loss": self.loss,
            "better": self.better,
            "value": self.value,
            "source": asdict(self.source),
        }


# --- making


def seen_by_mover(position: Position) -> Position:
    """Return a position as the seat to move sees it."""
    return Position.from_json(registry.get(position.game).redact(position.to_json()))


def exercises_of(
    record: JsonObject,
    evaluations: Iterable[TurnEvaluation],
    *,
    name: str,
    game: int = 1,
    seats: Collection[int] | None = None,
    least: str = LEAST,
) -> Iterator[Exercise]:
    """Yield the exercises of a game: its turns of a grade or worse by their loss of the share, in their order.

    Parameters
    ----------
    record : dict
        A record that `mexica_ai.analysis.annotate.check_played` accepts.
    evaluations : iterable of TurnEvaluation
        Of any of its turns.
    name : str
        Name of the record's file.
    game : int
        Number of the record in the file, from 1.
    seats : collection of int, optional
        Seats whose turns are taken; by default all.
    least : str
        One of `GRADES`.

    Raises
    ------
    NotationError, IllegalActionError
        An evaluation's better turn is not legal.
    """
    wrong = {
        one.turn_index: one
        for one in evaluations
        if (seats is None or one.seat in seats) and is_at_least(grade_of(one.loss), least)
    }
    position = Position.from_json(record["start"])
    for index, turn in enumerate(record["turns"]):
        if one := wrong.get(index):
            source = Source(Path(name).name, game, index + 1)
            exercise = Exercise(seen_by_mover(position), one.seat, turn, one.loss, one.choice, one.choice_value, source)
            exercise.after(one.choice)  # a record may say anything
            yield exercise
        position.push(turn)


def distinct(exercises: Iterable[Exercise]) -> list[Exercise]:
    """Return exercises with each position once, in their order; of several turns the one that lost most."""
    found: dict[str, Exercise] = {}
    for one in exercises:
        if one.key not in found or found[one.key].loss < one.loss:
            found[one.key] = one
    return list(found.values())


def drill_text(exercises: Iterable[Exercise]) -> str:
    """Return the text of a drill."""
    return "".join(json.dumps(one.to_json()) + "\n" for one in exercises)


# --- reading


def read_exercise(text: str | bytes) -> Exercise:
    """Read the line of an exercise.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        It is not that of an exercise: its form, its position, or a turn that is not legal there. NotationError,
        reason RECORD_GIVEN, if it is the record of a game.
    """
    return exercise_of(parse_json(text))


def exercise_of(data: Any, path: str = "$") -> Exercise:
    """Return the exercise of a JSON object; `path` is where it stands. Raises the errors of `read_exercise`."""
    if isinstance(data, dict) and "turns" in data and "better" not in data:
        raise NotationError(
            f'{path}: given the record of a game; expected an exercise, with "position" and "better"',
            reason="RECORD_GIVEN",
            path=path,
        )
    check_shape(data, _SHAPE, path)
    check_version(data, VERSION, path)
    given = Position.from_json(data["position"], path=f"{path}.position")
    require_seat_to_move(given)
    position = seen_by_mover(given)
    source = Source(**data["source"])
    for key, is_so, expected in (
        ("seat", data["seat"] == position.to_move, f"{position.to_move}, the seat to move"),
        ("loss", 0 <= data["loss"] <= 1, "a share of the win, from 0 to 1"),
        ("value", are_shares(data["value"], position.players), f"{position.players} shares that add up to 1"),
        ("source.game", source.game >= 1, "a number from 1"),
        ("source.turn", source.turn >= 1, "a number from 1"),
    ):
        if not is_so:
            found: Any = data
            for name in key.split("."):
                found = found[name]
            where = f"{path}.{key}"
            raise NotationError(f"{where}: given {quote(found)}; expected {expected}", reason="BAD_VALUE", path=where)
    exercise = Exercise(
        position, data["seat"], data["turn"], float(data["loss"]), data["better"], data["value"], source
    )
    for key in ("turn", "better"):
        try:
            exercise.after(data[key])
        except MexicaAIError as error:
            within = error.path.removeprefix("turn") if error.path.startswith("turn") else ""
            where = f"{path}.{key}{within}"
            message = str(error).removeprefix(f"{error.path}: ")
            raise type(error)(f"{where}: {message}", reason=error.reason, path=where) from None
    return exercise


def read_drill(lines: Iterable[bytes | str], name: str) -> list[Exercise]:
    """Return the exercises of a drill; errors begin with the name and the number of the line.

    Parameters
    ----------
    lines : iterable of bytes or str
        Blank ones are skipped.
    name : str
        Of the file, for messages.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        As `read_exercise`; NotationError, reason NO_EXERCISE or TOO_MANY_EXERCISES, if there is none, or too many.
    """
    found: list[Exercise] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(found) == MAX_EXERCISES:
            raise NotationError(
                f"{name}:{number}: expected {MAX_EXERCISES:,} exercises at most", reason="TOO_MANY_EXERCISES"
            )
        try:
            found.append(read_exercise(line))
        except MexicaAIError as error:
            error.args = (f"{name}:{number}: {error}",)
            raise
    if not found:
        raise NotationError(f"{name}: holds no exercises; expected one at least", reason="NO_EXERCISE")
    return distinct(found)


# --- judging


@dataclass(frozen=True)
class Verdict:
    """How good a turn is that a person has entered.

    Parameters
    ----------
    loss : float
        The share of the win that it gives away, in [0, 1].
    by : str
        better: it leads to the same position as the better turn; played: to the same as the turn that was played;
        search: a search has compared it with its own choice.
    is_solved : bool
        Whether it has no grade, and loses less than the turn that was played.
    """

    loss: float
    by: str
    is_solved: bool


def known_verdict(exercise: Exercise, turn: Sequence[str]) -> Verdict | None:
    """Return the verdict on a turn that the exercise knows; None if it must be searched.

    The loss of these turns was found by the longer search of the review.
    """
    following = exercise.after(turn)
    if following == exercise.after(exercise.better):
        return Verdict(0.0, "better", True)
    if following == exercise.after(exercise.turn):
        return Verdict(exercise.loss, "played", False)
    return None


def trial_record(exercise: Exercise, turn: Sequence[str]) -> JsonObject:
    """Return the record of a game of this one turn, for `evaluate_record`; `searched_verdict` reads the evaluation.

    It begins with `Exercise.world`: what the seat does not see is a guess, and each search is from a seat's view.
    """
    position = exercise.world
    return {"game": position.game, "version": RECORD_VERSION, "start": position.to_json(), "turns": [list(turn)]}


def searched_verdict(exercise: Exercise, evaluation: TurnEvaluation) -> Verdict:
    """Return the verdict of the evaluation of a `trial_record`."""
    return Verdict(evaluation.loss, "search", not grade_of(evaluation.loss) and evaluation.loss < exercise.loss)


def points_of(exercise: Exercise, loss: float, spent: int) -> int:
    """Return the points of a turn, 0 to `MAX_POINTS`.

    All for a turn that gives nothing away, none for one that gives away as much as the turn that was played, in between
    in proportion; less `TRY_POINTS` for each turn tried before and each hint, `spent` together.
    """
    share = 1 - loss / exercise.loss if exercise.loss > 0 else float(loss == 0)
    return max(0, round(MAX_POINTS * min(max(share, 0.0), 1.0)) - TRY_POINTS * spent)


@dataclass
class Attempt:
    """A person at an exercise.

    Parameters
    ----------
    exercise : Exercise
    hints : int
        Asked for.
    tries : int
        Turns entered.
    points : int
        Of the best of them.
    solved : bool
        Whether the last one solved it.
    """

    exercise: Exercise
    hints: int = 0
    tries: int = 0
    points: int = 0
    solved: bool = False

    def note(self, verdict: Verdict) -> None:
        """Count a turn."""
        self.points = max(self.points, points_of(self.exercise, verdict.loss, self.tries + self.hints))
        self.tries += 1
        self.solved = verdict.is_solved

    def hint(self) -> str:
        """Return the first action of the better turn, then one more with each call; what is shown again is free."""
        self.hints = min(self.hints + 1, len(self.exercise.better))
        return hint_of(self.exercise, self.hints)

    def give_up(self) -> None:
        """Show the better turn, for no points."""
        self.points, self.solved = 0, False


def describe_verdict(exercise: Exercise, verdict: Verdict) -> str:
    """Return what a turn that was entered is worth against the engine's, and against the turn that was played."""
    played = percent(exercise.loss)
    if verdict.by == "better":
        told = say("that is the better turn")
        other = say("The turn played then gave away {loss} of the win against it.", loss=played)
    elif verdict.by == "played":
        told = say(
            "that is the turn played then, which gives away {loss} of the win against the engine's turn", loss=played
        )
        other = ""
    else:
        told, other = _against_engine(verdict.loss), _against_played(exercise, verdict.loss)
    said = say("Solved: {what}.", what=told) if verdict.is_solved else say("Not solved: {what}.", what=told)
    return f"{said} {other}".rstrip()


def _against_engine(loss: float) -> str:
    if loss == 0:
        return say("it is as good as the engine's turn, as far as the searches tell")
    told = say("it gives away {loss} of the win against the engine's turn", loss=percent(loss))
    return told if estimate(loss).is_sure else say("{what}, which is within the noise of the searches", what=told)


def _against_played(exercise: Exercise, loss: float) -> str:
    gain, is_sure = gain_of(estimate(loss), estimate(exercise.loss))
    if gain == 0:
        return say("It is as good as the turn played then, as far as the searches tell.")
    share = percent(abs(gain))
    if gain > 0:
        told = say("it is better than the turn played then by {gain} of the win", gain=share)
    else:
        told = say("it is worse than the turn played then by {gain} of the win", gain=share)
    if not is_sure:
        told = say("{what}, which is within the noise of the searches", what=told)
    return f"{told[:1].upper()}{told[1:]}."


def hint_of(exercise: Exercise, number: int) -> str:
    """Return the first actions of the better turn; `number` counts the hints, from 1."""
    shown = exercise.better[:number]
    more = "; ..." if len(shown) < len(exercise.better) else ""
    return TURN_SEPARATOR.join(shown) + more


# --- results, kept beside a drill


@dataclass(frozen=True)
class Outcome:
    """What a person has reached in an exercise, over all times.

    Parameters
    ----------
    solved : bool
        The last time.
    points : int
        The last time, 0 to `MAX_POINTS`.
    tries : int
        Turns entered, all times together.
    """

    solved: bool = False
    points: int = 0
    tries: int = 0


class Progress:
    """The file of the outcomes of a drill.

    Parameters
    ----------
    path : str
        The file; one that is not there has none.

    Raises
    ------
    NotationError
        The file is not one of outcomes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.outcomes = self._read()

    def _read(self) -> dict[str, Outcome]:
        path = self.path
        if not Path(path).exists():
            return {}
        try:
            data = parse_json(files.read_text(path, files.MAX_JSON))
            check_shape(data, {"version": int, "outcomes": dict}, "$")
            check_version(data, VERSION, "$")
            for outcome in data["outcomes"].values():
                check_shape(outcome, _RESULT, "$.outcomes")
        except NotationError as error:
            error.args = (f"{path}: {str(error).removeprefix(f'{path}: ')}",)
            raise
        return {key: Outcome(**outcome) for key, outcome in data["outcomes"].items()}

    def ordered(self, exercises: Iterable[Exercise]) -> list[Exercise]:
        """Return exercises with those that are not solved first, else in their order."""
        return sorted(exercises, key=lambda one: self.outcomes.get(one.key, Outcome()).solved)

    def note(self, exercise: Exercise, *, solved: bool, points: int, tries: int) -> None:
        """Keep what was reached in an exercise this time; write the file.

        Raises
        ------
        OSError
            It cannot be written.
        NotationError
            It is no longer one of outcomes.
        """
        self.outcomes |= self._read()  # another one may solve the same drill
        before = self.outcomes.get(exercise.key, Outcome())
        self.outcomes[exercise.key] = Outcome(solved, points, before.tries + tries)
        data = {"version": VERSION, "outcomes": {key: asdict(one) for key, one in self.outcomes.items()}}
        files.replace(self.path, json.dumps(data, indent=1) + "\n")


def progress_path(drill: str) -> str:
    """Return the file of the outcomes of a drill: drill.jsonl has drill.progress.json."""
    return str(Path(drill).with_suffix(".progress.json"))

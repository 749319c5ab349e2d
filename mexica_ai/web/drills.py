"""A drill on the page: its exercises one after the other, each as the position of one game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from mexica_ai.analysis.drill import (
    Attempt,
    Exercise,
    Outcome,
    Verdict,
    describe_verdict,
    distinct,
    exercises_of,
    read_drill,
)
from mexica_ai.game.messages import language, say
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.words import words_of_turn
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import parse_json
from mexica_ai.table.events import Table
from mexica_ai.table.seats import names_of
from mexica_ai.web.errors import ApiError
from mexica_ai.web.snapshot_types import DrillJson, DrillSummaryJson

SEARCH_S = 1.0  # of each search that judges a turn
MAX_EXERCISES = 500  # of a drill on the page


class Drill:
    """A person at the exercises of a drill: what lies between two events of its table.

    Parameters
    ----------
    table : Table
        Its exercises, the one that is shown, and what was reached in them.

    Attributes
    ----------
    attempt : Attempt
        At the exercise that is shown.
    verdict : Verdict or None
        On the last turn that was entered there.
    state : str
        enter, judging, or done: it is solved, or its better turn was shown.
    message : str
        Why the last turn was not judged.
    """

    def __init__(self, table: Table) -> None:
        self._begin(table)

    def _begin(self, table: Table) -> None:
        self.table = table
        self.attempt = Attempt(self.exercise)
        self.verdict: Verdict | None = None
        self.hint = self.message = ""
        self._words: dict[tuple[str, ...], str] = {}  # of turns of the exercise, by language and names
        self.state: Literal["enter", "judging", "done"] = "enter"

    def follow(self, table: Table) -> None:
        """Go on with another table; if it shows an exercise anew, the attempt begins anew."""
        if table.positions is not self.table.positions:
            self._begin(table)
        self.table = table

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """All of them."""
        return self.table.started.exercises

    @property
    def exercise(self) -> Exercise:
        """The one that is shown."""
        return self.exercises[self.table.number]

    def following(self) -> int:
        """Return the index of the next exercise that is not solved, else of the next one."""
        number, count = self.table.number, len(self.exercises)
        others = [(number + step) % count for step in range(1, count + 1)]
        return next((index for index in others if not self._is_solved(index)), others[0])

    def _is_solved(self, index: int) -> bool:
        return self.table.outcomes.get(index, Outcome()).solved

    def noted(self, verdict: Verdict) -> tuple[Attempt, Outcome]:
        """Return the attempt with one turn more, and what is then reached."""
        attempt = replace(self.attempt)
        attempt.note(verdict)
        return attempt, self._outcome(attempt, 1)

    def given_up(self) -> tuple[Attempt, Outcome]:
        """Return the attempt to which the better turn is shown, and what is then reached."""
        attempt = replace(self.attempt)
        attempt.give_up()
        return attempt, self._outcome(attempt, 0)

    def _outcome(self, attempt: Attempt, tries: int) -> Outcome:
        before = self.table.outcomes.get(self.table.number, Outcome())
        return Outcome(attempt.solved, attempt.points, before.tries + tries)

    def go_on(self, attempt: Attempt, verdict: Verdict | None) -> None:
        """Take an attempt whose outcome is kept; without a verdict, the better turn was shown."""
        self.attempt, self.verdict, self.message = attempt, verdict, ""
        self.state = "done" if verdict is None or attempt.solved else "enter"

    def summary(self) -> DrillSummaryJson:
        """Return how much is solved."""
        return {
            "of": len(self.exercises),
            "solved": sum(outcome.solved for outcome in self.table.outcomes.values()),
            "points": sum(outcome.points for outcome in self.table.outcomes.values()),
        }

    def to_json(self) -> DrillJson:
        """Return the state for pages; the better turn only when the exercise is done."""
        exercise, source = self.exercise, self.exercise.source
        is_done = self.state == "done"
        return {
            **self.summary(),
            "number": self.table.number + 1,
            "seat": exercise.seat,
            "source": say(
                "turn {turn} of game {game} of {record}", turn=source.turn, game=source.game, record=source.record
            ),
            "source_turn": source.turn,
            "turn": exercise.turn,
            "text": TURN_SEPARATOR.join(exercise.turn),
            "words": self._told(exercise.turn),
            "loss": exercise.loss,
            "state": self.state,
            "message": self.message,
            "hint": self.hint,
            "hint_words": self._told(exercise.better[: self.attempt.hints]) if self.hint else "",
            "verdict": None
            if self.verdict is None
            else {"loss": self.verdict.loss, "is_solved": self.verdict.is_solved, "text": self._verdict()},
            "better": exercise.better if is_done else None,
            "better_text": TURN_SEPARATOR.join(exercise.better) if is_done else None,
            "better_words": self._told(exercise.better) if is_done else None,
            "better_share": exercise.value[exercise.seat] if is_done else None,
        }

    def _told(self, turn: Sequence[str]) -> str:
        """Return a turn of the exercise, or its beginning, in words."""
        names = names_of(self.table.seats)
        key = (language(), *names, *turn)
        if key not in self._words:
            self._words[key] = words_of_turn(self.exercise.world, turn, names)
        return self._words[key]

    def _verdict(self) -> str:
        return describe_verdict(self.exercise, self.verdict) if self.verdict is not None else ""


def looks_like_drill(text: str) -> bool:
    """Return whether the first line of a text is that of an exercise."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        data = parse_json(line)
    except MexicaAIError:
        return False
    return isinstance(data, dict) and "better" in data and "position" in data


def exercises_of_text(text: str) -> tuple[Exercise, ...]:
    """Return the exercises of a text; raises the errors of `read_drill`."""
    return _bounded(read_drill(text.splitlines(), "line"))


def exercises_of_game(
    record: JsonObject, evaluations: Sequence[Any], name: str, seat: int | None
) -> tuple[Exercise, ...]:
    """Return the mistakes of a game; of one seat, or of all if that is None.

    Raises
    ------
    ApiError
        There are none.
    """
    found = distinct(exercises_of(record, evaluations, name=name, seats=None if seat is None else {seat}))
    if not found:
        raise ApiError(422, "NO_MISTAKES", "the review has no mistakes of this seat; expected some, to practise")
    return _bounded(found)


def _bounded(exercises: list[Exercise]) -> tuple[Exercise, ...]:
    if len(exercises) > MAX_EXERCISES:
        raise NotationError(
            f"given {len(exercises)} exercises; expected {MAX_EXERCISES} at most", reason="TOO_MANY_EXERCISES"
        )
    return tuple(exercises)

"""A drill on the page: its exercises one after the other, each as the position of one game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mexica_ai.analysis.drill import (
    Attempt,
    Exercise,
    Outcome,
    Verdict,
    describe_verdict,
    distinct,
    exercise_of,
    exercises_of,
    read_drill,
)
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.web.errors import ApiError

SEARCH_S = 1.0  # of each search that judges a turn
MAX_EXERCISES = 500  # of a drill on the page
_OUTCOME = {"solved": bool, "points": int, "tries": int}


class Drill:
    """The exercises of a drill, and what was reached in them.

    Parameters
    ----------
    exercises : sequence of Exercise
        At least one.

    Attributes
    ----------
    number : int
        Index of the one that is shown.
    attempt : Attempt
        At that one.
    verdict : Verdict or None
        On the last turn that was entered there.
    state : str
        enter, judging, or done: it is solved, or its better turn was shown.
    message : str
        Why the last turn was not judged.
    """

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.exercises = list(exercises)
        self.outcomes: dict[int, Outcome] = {}
        self.go_to(0)

    @property
    def exercise(self) -> Exercise:
        """The one that is shown."""
        return self.exercises[self.number]

    def go_to(self, number: int) -> None:
        """Show an exercise; IndexError if there is none."""
        if not 0 <= number < len(self.exercises):
            raise IndexError(f"exercise {number} of {len(self.exercises)}")
        self.number = number
        self.attempt = Attempt(self.exercise)
        self.verdict: Verdict | None = None
        self.hint = self.message = ""
        self.state = "enter"

    def following(self) -> int:
        """Return the index of the next exercise that is not solved, else of the next one."""
        others = [(self.number + step) % len(self.exercises) for step in range(1, len(self.exercises) + 1)]
        return next((index for index in others if not self._is_solved(index)), others[0])

    def _is_solved(self, index: int) -> bool:
        return self.outcomes.get(index, Outcome()).solved

    def note(self, verdict: Verdict) -> Outcome:
        """Count a turn at the exercise that is shown; return what is reached there now."""
        self.attempt.note(verdict)
        self.verdict, self.message = verdict, ""
        self.state = "done" if self.attempt.solved else "enter"
        return self._keep(1)

    def give_up(self) -> Outcome:
        """Show the better turn; return what is reached there now."""
        self.attempt.give_up()
        self.verdict, self.state = None, "done"
        return self._keep(0)

    def _keep(self, tries: int) -> Outcome:
        before = self.outcomes.get(self.number, Outcome())
        outcome = Outcome(self.attempt.solved, self.attempt.points, before.tries + tries)
        self.outcomes[self.number] = outcome
        return outcome

    def summary(self) -> JsonObject:
        """Return how much is solved."""
        return {
            "of": len(self.exercises),
            "solved": sum(outcome.solved for outcome in self.outcomes.values()),
            "points": sum(outcome.points for outcome in self.outcomes.values()),
        }

    def to_json(self) -> JsonObject:
        """Return the state for pages; the better turn only when the exercise is done."""
        exercise, source = self.exercise, self.exercise.source
        is_done = self.state == "done"
        return {
            **self.summary(),
            "number": self.number + 1,
            "seat": exercise.seat,
            "source": f"turn {source.turn} of game {source.game} of {source.record}",
            "turn": exercise.turn,
            "text": TURN_SEPARATOR.join(exercise.turn),
            "loss": exercise.loss,
            "state": self.state,
            "message": self.message,
            "hint": self.hint,
            "verdict": None
            if self.verdict is None
            else {"loss": self.verdict.loss, "is_solved": self.verdict.is_solved, "text": self._words()},
            "better": exercise.better if is_done else None,
            "better_text": TURN_SEPARATOR.join(exercise.better) if is_done else None,
            "better_share": exercise.value[exercise.seat] if is_done else None,
        }

    def _words(self) -> str:
        return describe_verdict(self.exercise, self.verdict) if self.verdict is not None else ""

    # --- the journal

    def head(self) -> list[JsonObject]:
        """Return the exercises for the head of a journal."""
        return [exercise.to_json() for exercise in self.exercises]

    def entry(self) -> JsonObject:
        """Return the entry of what is reached in the exercise that is shown."""
        return {"outcome": asdict(self.outcomes[self.number])}

    def restore_outcome(self, data: Any) -> None:
        """Take the outcome of an entry of a journal, for the exercise that is shown."""
        check_shape(data, _OUTCOME, "outcome")
        self.outcomes[self.number] = Outcome(**data)


def looks_like_drill(text: str) -> bool:
    """Return whether the first line of a text is that of an exercise."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        data = parse_json(line)
    except MexicaAIError:
        return False
    return isinstance(data, dict) and "better" in data and "position" in data


def drill_of_text(text: str) -> Drill:
    """Return the drill of a text; raises the errors of `read_drill`."""
    return _bounded(read_drill(text.splitlines(), "line"))


def drill_of_head(data: list[Any]) -> Drill:
    """Return the drill of the head of a journal."""
    return _bounded([exercise_of(entry, f"drill[{index}]") for index, entry in enumerate(data)])


def drill_of_game(record: JsonObject, evaluations: Sequence[Any], name: str, seat: int | None) -> Drill:
    """Return the drill of the mistakes of a game; of one seat, or of all if that is None.

    Raises
    ------
    ApiError
        There are none.
    """
    found = distinct(exercises_of(record, evaluations, name=name, seats=None if seat is None else {seat}))
    if not found:
        raise ApiError(422, "NO_MISTAKES", "the review has no mistakes of this seat; expected some, to practise")
    return _bounded(found)


def _bounded(exercises: list[Exercise]) -> Drill:
    if len(exercises) > MAX_EXERCISES:
        raise NotationError(
            f"given {len(exercises)} exercises; expected {MAX_EXERCISES} at most", reason="TOO_MANY_EXERCISES"
        )
    return Drill(exercises)

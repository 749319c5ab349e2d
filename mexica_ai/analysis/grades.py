"""Grades of turns in words, how accurate a seat played, and the turning points of a game.

The grades are by what a turn gave away. Their bounds of the share of the win are those of lichess
(https://github.com/lichess-org/lila, modules/tree, Advice: 0.1, 0.2 and 0.3 on its scale from -1 to 1). Accuracy has
the form of lichess's (https://lichess.org/page/accuracy): a curve that falls exponentially with the share given away,
and the mean of an arithmetic mean and a harmonic one. The constants of the curve are ours: 100 for a turn without
loss, 50 for the bound of a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from mexica_ai.analysis.annotate import TurnEvaluation

Grade: TypeAlias = Literal["", "inaccuracy", "mistake", "blunder"]
GRADES: tuple[Grade, ...] = ("", "inaccuracy", "mistake", "blunder")
MARKS: dict[str, str] = {"": "", "inaccuracy": "?!", "mistake": "?", "blunder": "??"}
BOUNDS = (0.05, 0.10, 0.15)  # least losses of a share of the win, by grade
DECIDED = 0.05  # distance of a share of the win from 0 or 1 at which a game counts as decided
HALF = 0.10  # loss at which a turn's accuracy is 50
LEAST_ACCURACY = 1.0  # of a turn, so that one blunder does not make a harmonic mean 0
PHASES = ("opening", "middle", "end")  # thirds of a game's turns
MAX_TURNING_POINTS = 3


def grade_of(loss: float, points_lost: float = 0.0, best_score: float = 0.0, share: float = 0.5) -> Grade:
    """Return the grade of a turn.

    Parameters
    ----------
    loss : float
        The share of the win that it gave away, 0 to 1.
    points_lost : float
        The points that it gave away: by how much it worsened the expected score less the best other one.
    best_score : float
        The greatest expected final score of all seats, which says what points are worth.
    share : float
        The share of the win that the seat expected after the better turn, 0 to 1.

    Notes
    -----
    The share decides. Only where the game is decided, `DECIDED` from 0 or 1, so that no turn changes the share much, a
    turn that throws away `BOUNDS[0]` of `best_score` in points is an inaccuracy, never more.
    """
    grade = GRADES[_step(loss)]
    is_decided = not DECIDED < share < 1 - DECIDED
    return "inaccuracy" if not grade and is_decided and 0 < BOUNDS[0] * best_score <= points_lost else grade


def _step(part: float) -> int:
    return sum(part >= bound for bound in BOUNDS)


def turn_accuracy(loss: float) -> float:
    """Return the accuracy of a turn, `LEAST_ACCURACY` to 100: 100 * 2 ** (-loss / HALF)."""
    return max(LEAST_ACCURACY, 100 * math.exp2(-loss / HALF))


def accuracy(losses: Sequence[float]) -> float | None:
    """Return the accuracy of some turns, 0 to 100; None without any.

    The mean of the arithmetic and the harmonic mean of the turns' accuracies: a single blunder counts for more than
    its share of the turns.
    """
    if not losses:
        return None
    turns = [turn_accuracy(loss) for loss in losses]
    return (math.fsum(turns) / len(turns) + len(turns) / math.fsum(1 / one for one in turns)) / 2


def phase_of(turn_index: int, num_turns: int) -> str:
    """Return the phase of a turn: the third of the record's turns in which it lies."""
    return PHASES[min(len(PHASES) - 1, len(PHASES) * turn_index // max(1, num_turns))]


def seat_accuracies(
    evaluations: Sequence[TurnEvaluation], num_turns: int
) -> dict[int, tuple[float | None, dict[str, float | None]]]:
    """Return, for each seat with turns, the accuracy of all its turns and of those of each phase."""
    found = {}
    for seat in sorted({one.seat for one in evaluations}):
        own = [one for one in evaluations if one.seat == seat]
        phases = {
            phase: accuracy([one.loss for one in own if phase_of(one.turn_index, num_turns) == phase])
            for phase in PHASES
        }
        found[seat] = accuracy([one.loss for one in own]), phases
    return found


def turning_points(evaluations: Sequence[TurnEvaluation]) -> list[TurnEvaluation]:
    """Return the graded turns that gave away most, at most `MAX_TURNING_POINTS`, in the order of the game."""
    # Points alone turn no game.
    graded = sorted((one for one in evaluations if grade_of(one.loss)), key=lambda one: -one.loss)[:MAX_TURNING_POINTS]
    return sorted(graded, key=lambda one: one.turn_index)


def describe_turning_points(evaluations: Sequence[TurnEvaluation]) -> str:
    """Return the turning points of a game as one paragraph."""
    points = turning_points(evaluations)
    if not evaluations:
        return "No turn was evaluated."
    if not points:
        return "No turn gave away enough to be called an inaccuracy."
    sentences = []
    for one in points:
        article = "an" if one.grade == "inaccuracy" else "a"
        fell = one.choice_value[one.seat], max(0.0, one.choice_value[one.seat] - one.loss)
        doubt = ", which is not sure," if one.is_unsure else ""
        sentences.append(
            f"Turn {one.turn_index + 1} of seat {one.seat} was {article} {one.grade}{doubt} from {fell[0]:.0%} to "
            f"{fell[1]:.0%} of the win."
        )
    first = "The game turned here: " if len(points) > 1 else ""
    return first + " ".join(sentences)

"""An explanation of a turn in sentences, from facts of the rules and of the search alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mexica_ai.analysis.purposes import purposes
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.steps import Step, play_steps

if TYPE_CHECKING:
    from mexica_ai.analysis.results import Candidate, Forecast, Result

MIN_VISITS = 20  # least visits of a forecast that is mentioned
MIN_COMPARED = 0.02  # of the best turn's visits; the mean of a turn with fewer says little either way
_FIELD_OF_SEAT = re.compile(r"seats\[(\d)\]\.(\w+)")


@dataclass(frozen=True)
class ExplainedStep:
    """One action of a turn, and the forecast after it.

    Attributes
    ----------
    step : Step
        The action and its immediate effects.
    forecast : Forecast or None
        None if the search visited it too seldom, or reached it in another order.
    sentence : str
        Both as text.
    """

    step: Step
    forecast: Forecast | None
    sentence: str


@dataclass(frozen=True)
class Explanation:
    """The explanation of the best turn of a result.

    Attributes
    ----------
    steps : list of ExplainedStep
    gives_away : float or None
        Share of the win that the next best turn gives away; below 0 if its mean is higher, though it was visited less.
        None without another turn.
    reply : list of str or None
        The turn that the search expects next, of whichever seat is then to move.
    sentences : list of str
        All of it as text.
    """

    steps: list[ExplainedStep]
    gives_away: float | None
    reply: list[str] | None
    sentences: list[str]


def explain(position: Position, result: Result) -> Explanation:
    """Explain the best turn of a search.

    Parameters
    ----------
    position : Position
        The one that was searched; not changed.
    result : Result
        Of `position`.

    Raises
    ------
    MexicaAIError
        The turn cannot be played in the position.
    """
    seat = position.to_move
    assert seat is not None
    best = result.candidates[0]
    points = [point if point.visits >= MIN_VISITS else None for point in best.forecast]
    points += [None] * (len(best.turn) + 1 - len(points))
    last = points[0]
    steps, before = [], position.to_json()
    why = purposes(position, best.turn, best.line)
    for step, point, purpose in zip(play_steps(position, best.turn), points[1:], why, strict=False):
        steps.append(ExplainedStep(step, point, _sentence(step, point, last, seat, before, purpose)))
        last, before = point or last, step.position.to_json()
    sentences = [each.sentence for each in steps]
    if result.is_fallback:
        sentences.append("Nothing was searched, so nothing is known of what the turn brings later.")
    gives_away = None
    if len(result.candidates) > 1 and best.value and result.candidates[1].value:  # not every engine reports values
        other = result.candidates[1]
        gives_away = best.value[seat] - other.value[seat]
        sentences.append(_runner_up(best, other, seat, gives_away))
    reply = best.line[0] if best.line else None
    if reply:
        answering = steps[-1].step.position.to_move
        who = "next" if answering is None else f"seat {answering} to answer"
        sentences.append(f"The search expects {who}: {'; '.join(reply)}.")
    return Explanation(steps, gives_away, reply, sentences)


def _sentence(
    step: Step, point: Forecast | None, last: Forecast | None, seat: int, before: dict[str, Any], purpose: str
) -> str:
    facts = effects_of(step, seat, before)
    nothing = "ends the turn" if step.is_turn_over else "changes no count at once"
    text = f"{step.action}: {', '.join([purpose] * bool(purpose) + facts) or nothing}"
    if point is not None:
        share = 100 * point.value[seat]
        text += f"; then seat {seat} expects {share:.1f} % of the win"
        if last is not None:
            text += f" ({share - 100 * last.value[seat]:+.1f} by this action)"
        text += f" and {point.expected_scores[seat]:.1f} points"
    return text + "."


def effects_of(step: Step, seat: int, before: dict[str, Any]) -> list[str]:
    """Return clauses about what a seat's action costs, scores and changes; `before` is the JSON position before it."""
    facts = [f"costs {_count(amount, name.replace('_', ' '))}" for name, amount in step.cost.items()]
    facts += [
        f"seat {other} scores {points:g}" if other != seat else f"scores {points:g}"
        for other, points in enumerate(step.scored)
        if points
    ]
    for path, old, new in step.changes:
        match = _FIELD_OF_SEAT.fullmatch(path)
        if match and match[2] != "score" and match[2] not in step.cost and type(old) is type(new) is int:
            owner = "" if int(match[1]) == seat else f"seat {match[1]}'s "
            facts.append(f"{owner}{match[2].replace('_', ' ')} {old} to {new}")
    return facts + registry.get(step.position.game).reasons.describe_effects(before, step.position.to_json(), seat)


def _runner_up(best: Candidate, other: Candidate, seat: int, gives_away: float) -> str:
    turn = "; ".join(other.turn)
    shares = f"{100 * other.value[seat]:.1f} against {100 * best.value[seat]:.1f} % of the win"
    visits = f"{other.visits:,} iterations against {best.visits:,}"
    if gives_away < 0 or other.visits < MIN_COMPARED * best.visits:
        than = "higher" if gives_away < 0 else "lower"
        return (
            f"The next turn by iterations, {turn}, has a {than} mean ({shares}), but too few iterations to trust it "
            f"({visits})."
        )
    return f"The next turn by iterations, {turn}, gives away {100 * gives_away:.1f} % ({shares}; {visits})."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun.removesuffix('s') if number == 1 else noun}"

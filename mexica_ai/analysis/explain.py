"""An explanation of a turn in sentences, from facts of the rules and of the search alone.

They are in the language of now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mexica_ai.analysis.purposes import purposes
from mexica_ai.game import registry
from mexica_ai.game.details import cost_text
from mexica_ai.game.messages import decimal, grouped, percent, say
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.steps import Step, known_steps

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
        The action and its immediate effects, as the seat to move sees them.
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
        Up to an action that uncovers what the seat to move does not see; that one has only its sentence.
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
    """Explain the best turn of a search, by what the seat to move may see and no more.

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
    seen = position.view(seat)
    best = result.candidates[0]
    points = [point if point.visits >= MIN_VISITS else None for point in best.forecast]
    points += [None] * (len(best.turn) + 1 - len(points))
    last, before = points[0], seen.to_json()
    steps, played = [], _seen_steps(position, seat, best.turn)
    is_whole = len(played) == len(best.turn)
    why = purposes(seen, best.turn[: len(played)], best.line if is_whole else ()) if played else []
    for step, point, purpose in zip(played, points[1:], why, strict=False):
        steps.append(ExplainedStep(step, point, _sentence(step, point, last, seat, before, purpose)))
        last, before = point or last, step.position.to_json()
    sentences = [each.sentence for each in steps]
    if not is_whole:
        text = say("{action}: uncovers what is hidden", action=best.turn[len(played)])
        sentences.append(_with_forecast(text, points[len(played) + 1], last, seat))
    if result.is_fallback:
        sentences.append(say("Nothing was searched, so nothing is known of what the turn brings later."))
    gives_away = None
    if len(result.candidates) > 1 and best.value and result.candidates[1].value:  # not every engine reports values
        other = result.candidates[1]
        gives_away = best.value[seat] - other.value[seat]
        sentences.append(_runner_up(best, other, seat, gives_away))
    reply = best.line[0] if best.line else None
    if reply:
        answering = played[-1].position.to_move if is_whole else None
        turn = TURN_SEPARATOR.join(reply)
        if answering is None:
            sentences.append(say("The search expects next: {turn}.", turn=turn))
        else:
            sentences.append(say("The search expects seat {seat} to answer: {turn}.", seat=answering, turn=turn))
    return Explanation(steps, gives_away, reply, sentences)


def _seen_steps(position: Position, seat: int, turn: list[str]) -> list[Step]:
    """Return the steps of a turn as a seat sees them, up to one that uncovers what it does not see."""
    steps = known_steps(position.view(seat), turn)
    if position.viewer is not None:
        return steps
    # The view of a game in Python uncovers a guess.
    for number, (step, true) in enumerate(zip(steps, known_steps(position, turn), strict=False)):
        if step.position.to_json() != true.position.view(seat).to_json():
            return steps[:number]
    return steps


def _sentence(
    step: Step, point: Forecast | None, last: Forecast | None, seat: int, before: dict[str, Any], purpose: str
) -> str:
    facts = effects_of(step, seat, before)
    nothing = say("ends the turn") if step.is_turn_over else say("changes no count at once")
    text = f"{step.action}: {', '.join([purpose] * bool(purpose) + facts) or nothing}"
    return _with_forecast(text, point, last, seat)


def _with_forecast(text: str, point: Forecast | None, last: Forecast | None, seat: int) -> str:
    if point is None:
        return text + "."
    share = 100 * point.value[seat]
    expects = percent(point.value[seat])
    if last is not None:
        gain = decimal(share - 100 * last.value[seat], is_signed=True)
        expects = say("{share} of the win ({gain} by this action)", share=expects, gain=gain)
    else:
        expects = say("{share} of the win", share=expects)
    points = decimal(point.expected_scores[seat])
    return say(
        "{what}; then seat {seat} expects {share} and {points} points.",
        what=text,
        seat=seat,
        share=expects,
        points=points,
    )


def effects_of(step: Step, seat: int, before: dict[str, Any]) -> list[str]:
    """Return clauses about what a seat's action costs, scores and changes; `before` is the JSON position before it."""
    facts = [say("costs {cost}", cost=cost_text(step.cost))] if step.cost else []
    for other, points in enumerate(step.scored):
        if points and other == seat:
            facts.append(say("scores {points}", points=points))
        elif points:
            facts.append(say("seat {seat} scores {points}", seat=other, points=points))
    return facts + changes_of(step, seat, before)


def changes_of(step: Step, seat: int, before: dict[str, Any]) -> list[str]:
    """Return clauses about what a seat's action changes, in the language of now; see `effects_of`."""
    facts = []
    for path, old, new in step.changes:
        match = _FIELD_OF_SEAT.fullmatch(path)
        if match and match[2] != "score" and match[2] not in step.cost and type(old) is type(new) is int:
            owner, what = int(match[1]), say(match[2].replace("_", " "))
            if owner == seat:
                facts.append(say("{what} {old} to {new}", what=what, old=old, new=new))
            else:
                facts.append(say("seat {seat}'s {what} {old} to {new}", seat=owner, what=what, old=old, new=new))
    return facts + registry.get(step.position.game).reasons.describe_effects(before, step.position.to_json(), seat)


def _runner_up(best: Candidate, other: Candidate, seat: int, gives_away: float) -> str:
    compared = {
        "turn": TURN_SEPARATOR.join(other.turn),
        "share": decimal(100 * other.value[seat]),
        "best": percent(best.value[seat]),
        "visits": grouped(other.visits),
        "most": grouped(best.visits),
    }
    if gives_away >= 0 and other.visits >= MIN_COMPARED * best.visits:
        return say(
            "The next turn by iterations, {turn}, gives away {loss} ({share} against {best} of the win; {visits} "
            "iterations against {most}).",
            loss=percent(gives_away),
            **compared,
        )
    if gives_away < 0 and other.visits > best.visits:
        return say(
            "{turn} is better by this search ({share} against {best} of the win; {visits} iterations against {most}), "
            "but was not chosen: levels below the highest, halving and proofs do not go by iterations alone.",
            **compared,
        )
    if gives_away < 0:
        return say(
            "The next turn by iterations, {turn}, has a higher mean ({share} against {best} of the win), but too few "
            "iterations to trust it ({visits} iterations against {most}).",
            **compared,
        )
    return say(
        "The next turn by iterations, {turn}, has a lower mean ({share} against {best} of the win), but too few "
        "iterations to trust it ({visits} iterations against {most}).",
        **compared,
    )

"""Why a turn was bad, in two or three sentences: what it gave away, the answer that shows it, what was better.

All of it comes from the search and the rules: shares and points that searches expect, and what the rules say that the
turns bring at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mexica_ai.analysis.explain import effects_of
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.steps import Step, play_steps

if TYPE_CHECKING:
    from mexica_ai.analysis.annotate import TurnEvaluation

PLACES = ("first", "second", "third", "fourth")
LEAST_POINTS = 0.5  # points that are worth mentioning
MAX_CLAUSES = 2  # about the turns, so that a sentence stays short


def explain_evaluation(position: Position, one: TurnEvaluation) -> list[str]:
    """Return the sentences about a turn that gave something away.

    Parameters
    ----------
    position : Position
        Before the turn; not changed.
    one : TurnEvaluation
        With its choice, and its answer if there is one.

    Raises
    ------
    MexicaAIError
        Its turns cannot be played in the position.
    """
    sentences = [_what(one)]
    after = position.copy()
    after.push(one.turn)
    if one.answer and after.to_move is not None:
        brings = _brings(play_steps(after, one.answer), after.to_move, after)
        who = "The same seat" if after.to_move == one.seat else f"Seat {after.to_move}"
        verb = "goes on with" if after.to_move == one.seat else "can answer"
        sentences.append(f"{who} {verb} {TURN_SEPARATOR.join(one.answer)}{brings}.")
    better, played = play_steps(position, one.choice), play_steps(position, one.turn)
    brings = _brings(better, one.seat, position)
    at_once = _at_once(better, played, one.seat)
    sentences.append(
        f"Better was {TURN_SEPARATOR.join(one.choice)}{brings}: then it expects "
        f"{_percent(one.choice_value[one.seat])} of the win{at_once}."
    )
    return sentences


def _what(one: TurnEvaluation) -> str:
    text = f"It gives away {_percent(one.loss)} of the win"
    if one.points_lost >= LEAST_POINTS:
        text += f" and {one.points_lost:.1f} points against the best other seat"
    before, after = (_place(scores, one.seat) for scores in (one.expected_scores_before, one.expected_scores_after))
    if before < after:
        text += f", and falls from {PLACES[before]} to {PLACES[after]} place by expected points"
    if one.is_unsure and one.interval is not None:
        low, high = (_percent(end) for end in one.interval)
        text += f"; these searches leave open whether it is {low} or {high}"
    return text + "."


def _place(scores: Sequence[float], seat: int) -> int:
    return sum(score > scores[seat] for score in scores)


def _brings(steps: Sequence[Step], seat: int, position: Position) -> str:
    """Return in brackets what a turn brings its seat at once: the points, and the effects that matter most."""
    scored = sum(step.scored[seat] for step in steps)
    clauses: list[tuple[float, int, str]] = []
    before = position.to_json()
    for step in steps:
        effects = [text for text in effects_of(step, seat, before) if not text.startswith(("costs ", "scores "))]
        if effects:
            action = f"{step.action}: " * (len(steps) > 1)
            clauses.append((-step.scored[seat], -len(effects), action + _joined(effects[:MAX_CLAUSES])))
        before = step.position.to_json()
    most = [text for _, _, text in sorted(clauses)[:1]]
    texts = [f"{scored:g} points"] * bool(scored) + most
    return f" ({'; '.join(texts)})" if texts else ""


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(texts)


def _at_once(better: Sequence[Step], played: Sequence[Step], seat: int) -> str:
    """Return how many points the two turns score at once, if they differ: a difference in tempo."""
    one, other = (sum(step.scored[seat] for step in steps) for steps in (better, played))
    return f" (it scores {one:g} at once, the turn played {other:g})" if one != other else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

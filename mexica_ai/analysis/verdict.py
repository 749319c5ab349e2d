"""Why a turn was bad, in two or three sentences: what it gave away, the answer that shows it, what was better.

All of it comes from the search and the rules: shares and points that searches expect, and what the rules say that the
turns bring at once, as far as their seats see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mexica_ai.analysis.explain import changes_of
from mexica_ai.game.messages import decimal, noted, percent, say, speaking
from mexica_ai.game.phrases import ENGLISH
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.steps import known_steps

if TYPE_CHECKING:
    from mexica_ai.analysis.annotate import TurnEvaluation

PLACES = (noted("first"), noted("second"), noted("third"), noted("fourth"))
LEAST_POINTS = 0.5  # points that are worth mentioning
MAX_CLAUSES = 2  # about the turns, so that a sentence stays short


def explain_evaluation(position: Position, one: TurnEvaluation) -> list[str]:
    """Return the sentences about a turn that gave something away, in the language of now.

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
        brings = _brings(after, one.answer, after.to_move)
        turn = TURN_SEPARATOR.join(one.answer)
        if after.to_move == one.seat:
            sentences.append(say("The same seat goes on with {turn}{brings}.", turn=turn, brings=brings))
        else:
            sentences.append(
                say("Seat {seat} can answer {turn}{brings}.", seat=after.to_move, turn=turn, brings=brings)
            )
    brings = _brings(position, one.choice, one.seat)
    at_once = _at_once(_scored(position, one.choice, one.seat), _scored(position, one.turn, one.seat))
    sentences.append(
        say(
            "Better was {turn}{brings}: then it expects {share} of the win{at_once}.",
            turn=TURN_SEPARATOR.join(one.choice),
            brings=brings,
            share=percent(one.choice_value[one.seat]),
            at_once=at_once,
        )
    )
    return sentences


def recorded_explanation(position: Position, one: TurnEvaluation) -> list[str]:
    """Return the sentences of `explain_evaluation` as records have them, in English."""
    with speaking(ENGLISH):
        return explain_evaluation(position, one)


def _what(one: TurnEvaluation) -> str:
    text = say("It gives away {loss} of the win", loss=percent(one.loss))
    if one.points_lost >= LEAST_POINTS:
        points = decimal(one.points_lost)
        text = say("{what} and {points} points against the best other seat", what=text, points=points)
    before, after = (_place(scores, one.seat) for scores in (one.expected_scores_before, one.expected_scores_after))
    if before < after:
        places = {"before": say(PLACES[before]), "after": say(PLACES[after])}
        text = say("{what}, and falls from {before} to {after} place by expected points", what=text, **places)
    if one.is_unsure and one.interval is not None:
        low, high = map(percent, one.interval)
        text = say("{what}; these searches leave open whether it is {low} or {high}", what=text, low=low, high=high)
    return text + "."


def _place(scores: Sequence[float], seat: int) -> int:
    return sum(score > scores[seat] for score in scores)


def _scored(position: Position, turn: list[str], seat: int) -> float:
    after = position.copy()
    after.push(turn, partial=True)
    return after.scores[seat] - position.scores[seat]


def _brings(position: Position, turn: list[str], seat: int) -> str:
    """Return in brackets what a turn brings its seat at once: the points, and the effects that matter most."""
    seen = position.view(seat)
    scored, steps = _scored(position, turn, seat), known_steps(seen, turn)
    clauses: list[tuple[float, int, str]] = []
    before = seen.to_json()
    for step in steps:
        effects = changes_of(step, seat, before)
        if effects:
            action = f"{step.action}: " * (len(turn) > 1)
            clauses.append((-step.scored[seat], -len(effects), action + _joined(effects[:MAX_CLAUSES])))
        before = step.position.to_json()
    most = [text for _, _, text in sorted(clauses)[:1]]
    texts = [say("{n:point|points}", n=scored)] * bool(scored) + most
    return f" ({'; '.join(texts)})" if texts else ""


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(texts)


def _at_once(better: float, played: float) -> str:
    """Return how many points the two turns score at once, if they differ: a difference in tempo."""
    if better == played:
        return ""
    return f" ({say('it scores {better} at once, the turn played {played}', better=better, played=played)})"

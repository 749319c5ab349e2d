"""Conversion of candidates and first actions between messages and the package's own values; see `wire`."""

from __future__ import annotations

from mexica_ai.analysis.results import Candidate, FirstAction, Forecast
from mexica_ai.v1 import engine_pb2


def candidate_to_message(candidate: Candidate) -> engine_pb2.Candidate:
    """Return the message of a candidate."""
    return engine_pb2.Candidate(
        turn=candidate.turn,
        visits=candidate.visits,
        value=candidate.value,
        expected_scores=candidate.expected_scores,
        prior=candidate.prior,
        line=[engine_pb2.Turn(actions=turn) for turn in candidate.line],
        forecast=[
            engine_pb2.Forecast(visits=point.visits, value=point.value, expected_scores=point.expected_scores)
            for point in candidate.forecast
        ],
        value_error=candidate.value_error,
        expected_scores_error=candidate.expected_scores_error,
    )


def candidate_from_message(message: engine_pb2.Candidate) -> Candidate:
    """Read a candidate from its message."""
    return Candidate(
        turn=list(message.turn),
        visits=message.visits,
        value=list(message.value),
        expected_scores=list(message.expected_scores),
        prior=message.prior,
        line=[list(turn.actions) for turn in message.line],
        forecast=[Forecast(point.visits, list(point.value), list(point.expected_scores)) for point in message.forecast],
        value_error=list(message.value_error),
        expected_scores_error=list(message.expected_scores_error),
    )


def first_action_to_message(first: FirstAction) -> engine_pb2.FirstAction:
    """Return the message of a first action that the search considered."""
    return engine_pb2.FirstAction(action=first.action, visits=first.visits, prior=first.prior, value=first.value)


def first_action_from_message(message: engine_pb2.FirstAction) -> FirstAction:
    """Read a first action from its message."""
    return FirstAction(message.action, message.visits, message.prior, list(message.value))

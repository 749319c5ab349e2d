"""Between protobuf messages and the package's own values; client and server use nothing else.

A position's message has the field names of its JSON form, so the two are converted field by field, and the
strict codec of the JSON form (`Position.from_json`) does all the checking. What the wire cannot say as JSON
does is listed in `_ADJUST`, by game.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format

from mexica_ai.errors import NotationError
from mexica_ai.position import Position
from mexica_ai.results import Candidate, Result
from mexica_ai.v1 import engine_pb2

_STOP_REASON = "STOP_REASON_"


def position_to_message(position: Position) -> engine_pb2.Position:
    """Return the message of a position."""
    data = position.to_json()
    message = engine_pb2.Position()
    game = data.pop("game")
    json_format.ParseDict(data, getattr(message, game))
    getattr(message, game).SetInParent()  # a message of empty lists would leave the game unset
    return message


def position_from_message(message: engine_pb2.Position, path: str = "position") -> Position:
    """Read a position from its message.

    Parameters
    ----------
    message : mexica_ai.v1.Position
        Not trusted.
    path : str
        How errors name the message: the beginning of their paths, such as ``position.mexica.seats[0].pilli``.

    Raises
    ------
    NotationError
        If a field is missing or cannot be read, or no game is set (which a game that this version does not
        know looks like, too).
    PositionError
        If it breaks an invariant; `violations` lists every one.
    """
    game = message.WhichOneof("game")
    if game is None:
        known = ", ".join(field.name for field in message.DESCRIPTOR.fields)
        raise NotationError(
            f"{path}: no position of a known game; expected one of {known}", reason="MISSING_GAME", path=path
        )
    # Lists have no presence on the wire and are always there; a scalar or a message only if it was set, so
    # that the codec notices a forgotten one. All numbers of positions are 32-bit, which stay integers here.
    data = json_format.MessageToDict(
        getattr(message, game), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    if game in _ADJUST:
        _ADJUST[game](data)
    return Position.from_json({"game": game, **data}, path=f"{path}.{game}")


def _adjust_mexica(data: dict[str, Any]) -> None:
    """Leave out the two lists whose emptiness means that they were not given."""
    calpulli = data.get("calpulli", {})
    if not calpulli.get("pool"):
        calpulli.pop("pool", None)
    if data.get("period") == 1 and not calpulli.get("upcoming"):
        calpulli.pop("upcoming", None)


_ADJUST = {"mexica": _adjust_mexica}


def result_to_message(result: Result, *, engine_version: str, rules_version: int) -> engine_pb2.SearchResult:
    """Return the message of a result, final or partial (`stop_reason` empty)."""
    return engine_pb2.SearchResult(
        turn=result.turn,
        value=result.value,
        expected_scores=result.expected_scores,
        candidates=[
            engine_pb2.Candidate(
                turn=candidate.turn,
                visits=candidate.visits,
                value=candidate.value,
                expected_scores=candidate.expected_scores,
                prior=candidate.prior,
                line=[engine_pb2.Turn(actions=turn) for turn in candidate.line],
            )
            for candidate in result.candidates
        ],
        iterations=result.iterations,
        nodes=result.nodes,
        distinct_turns=result.distinct_turns,
        seconds=result.seconds,
        stop_reason=_STOP_REASON + (result.stop_reason.upper() or "UNSPECIFIED"),
        seed=result.seed,
        threads=result.threads,
        engine_version=engine_version,
        rules_version=rules_version,
    )


def result_from_message(message: engine_pb2.SearchResult) -> Result:
    """Read a result from its message. A stop reason that this version does not know reads ``unknown``."""
    known = engine_pb2.StopReason.DESCRIPTOR.values_by_number.get(message.stop_reason)
    stop_reason = known.name.removeprefix(_STOP_REASON).lower() if known else "unknown"
    return Result(
        turn=list(message.turn),
        value=list(message.value),
        expected_scores=list(message.expected_scores),
        candidates=[
            Candidate(
                turn=list(candidate.turn),
                visits=candidate.visits,
                value=list(candidate.value),
                expected_scores=list(candidate.expected_scores),
                prior=candidate.prior,
                line=[list(turn.actions) for turn in candidate.line],
            )
            for candidate in message.candidates
        ],
        iterations=message.iterations,
        nodes=message.nodes,
        distinct_turns=message.distinct_turns,
        seconds=message.seconds,
        stop_reason="" if stop_reason == "unspecified" else stop_reason,
        seed=message.seed,
        threads=message.threads,
    )

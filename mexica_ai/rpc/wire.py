"""Conversion between protobuf messages and the package's own values, for the client and the server.

A position's message has the field names of its JSON form, so the two are converted field by field, and the
strict reader of the JSON form (`Position.from_json`) checks everything. The game corrects what
protobuf cannot express (`Text.from_message`). A game without a message of its own travels as the text of that
form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Literal, Protocol

from google.protobuf import json_format
from google.protobuf.message import Message

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.grades import grade_of
from mexica_ai.analysis.results import Candidate, Result, sound
from mexica_ai.game import registry
from mexica_ai.game.compact import split_header
from mexica_ai.game.contract import Opinion
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import compact_data
from mexica_ai.game.proposals import Verdict
from mexica_ai.game.records import VERSION
from mexica_ai.game.steps import Applied, Change, Step
from mexica_ai.io.errors import NotationError, UnknownGameError, Violation
from mexica_ai.io.json_types import JsonObject, JsonValue
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import check_options, parse_json, quote
from mexica_ai.rpc.candidates import (
    candidate_from_message,
    candidate_to_message,
    first_action_from_message,
    first_action_to_message,
)
from mexica_ai.v1 import engine_pb2

_STOP_REASON = "STOP_REASON_"
_GRADE = "GRADE_"

# Far more than any position needs. Without these limits a small request could take very long to check.
MAX_BYTES = 1 << 16
MAX_ENTRIES = 1024

# Names of sets of weights, and the one that means those that ship.
WEIGHTS_NAME = r"[A-Za-z0-9._-]{1,64}"
SHIPPED = "shipped"

# The fields of any game's position as text, and the field that deals a game without a message of its own.
JSON, COMPACT, OTHER_GAME = "json", "compact", "other_game"
# The games that have a message for positions and one for the options of a new game.
OWN_MESSAGES = frozenset(
    field.name for field in engine_pb2.Position.DESCRIPTOR.oneofs_by_name["game"].fields
) & frozenset(field.name for field in engine_pb2.NewGameRequest.DESCRIPTOR.oneofs_by_name["game"].fields)


class _Seeded(Protocol):
    """A request with an optional seed."""

    @property
    def seed(self) -> int: ...

    def HasField(self, field_name: Literal["seed"], /) -> bool: ...  # noqa: N802


def check_size(message: Message, path: str = "") -> None:
    """Reject a message that is too large, before it is converted.

    Raises
    ------
    NotationError
        It has more than `MAX_BYTES` bytes, or a list in it has more than `MAX_ENTRIES` entries; reason
        TOO_LONG.
    """
    if message.ByteSize() > MAX_BYTES:
        raise NotationError(
            f"{path or 'request'}: has {message.ByteSize()} bytes; expected {MAX_BYTES} at most",
            reason="TOO_LONG",
            path=path,
        )
    if message.ByteSize() > MAX_ENTRIES:  # an entry takes a byte or more
        _check_lists(message, path)


def _check_lists(message: Message, path: str) -> None:
    for field, value in message.ListFields():
        inner = f"{path}.{field.name}" if path else field.name
        if field.is_repeated and len(value) > MAX_ENTRIES:
            raise NotationError(
                f"{inner}: has {len(value)} entries; expected {MAX_ENTRIES} at most",
                reason="TOO_LONG",
                path=inner,
            )
        if field.message_type is not None:
            for entry in value if field.is_repeated else [value]:
                _check_lists(entry, inner)


def _check_entries(value: JsonValue, path: str) -> None:
    """Reject JSON with a list or an object of more than MAX_ENTRIES entries."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, (list, dict)):
            if len(value) > MAX_ENTRIES:
                expected = f"{MAX_ENTRIES} entries at most"
                raise NotationError(f"{path}: given {quote(value)}; expected {expected}", reason="TOO_LONG", path=path)
            left += value.values() if isinstance(value, dict) else value


def position_field(message: engine_pb2.Position) -> str:
    """Return the field that holds the position of a message, which was read."""
    return message.WhichOneof("game") or JSON


def position_to_message(position: Position, *, hides: bool = False) -> engine_pb2.Position:
    """Return the message of a position.

    With `hides`, leave out what is hidden from the seat to move (`Game.redact`).
    """
    data = position.to_json()
    return message_of_data(registry.get(position.game).redact(data) if hides else data)


def message_of_data(data: JsonObject) -> engine_pb2.Position:
    """Return the message of a position's JSON object in canonical form; may change `data`."""
    if data["game"] not in OWN_MESSAGES:
        return engine_pb2.Position(json=json.dumps(data, separators=(",", ":")))
    # Ten times as fast as json_format.ParseDict, whose checks are not needed here.
    fields: dict[str, Any] = {data.pop("game"): data}
    return engine_pb2.Position(**fields)


def message_from_json(data: JsonObject) -> engine_pb2.Position:
    """Return the message of a position's JSON object, which may be invalid.

    Raises
    ------
    NotationError
        If it has keys or types that the message does not have.
    """
    rest = dict(data)
    game = rest.pop("game", None)
    message = engine_pb2.Position()
    if not isinstance(game, str):
        return message
    try:
        json.dumps(data, ensure_ascii=False).encode()  # half of a character cannot be sent
        if game not in OWN_MESSAGES:
            message.json = json.dumps(data)
            return message
    except (TypeError, ValueError) as error:
        raise NotationError(f"$: {error}; expected JSON", reason="WRONG_TYPE", path="$") from None
    try:
        json_format.ParseDict(rest, getattr(message, game))
    except json_format.ParseError as error:
        raise NotationError(f"$: {error}", reason="WRONG_TYPE", path="$") from None
    getattr(message, game).SetInParent()
    return message


def position_from_message(message: engine_pb2.Position, path: str = "position") -> Position:
    """Read a position from its message.

    Parameters
    ----------
    message : mexica_ai.v1.Position
        Untrusted.
    path : str
        Where the message stands; paths in errors begin with it, as ``position.mexica.seats[0].pilli`` does.

    Raises
    ------
    NotationError
        If a field is missing or cannot be read, or no game is set. A game that this version does not know
        counts as not set.
    PositionError
        If it breaks invariants; `violations` lists all of them.
    """
    check_size(message, path)
    game = message.WhichOneof("game")
    if game is None:
        known = ", ".join(field.name for field in message.DESCRIPTOR.fields)
        raise NotationError(
            f"{path}: no position of a known game; expected one of {known}", reason="MISSING_GAME", path=path
        )
    if game in (JSON, COMPACT):
        path = f"{path}.{game}"
        try:
            data = _json_of(message.json, path) if game == JSON else compact_data(message.compact, path)
            _check_entries(data, path)
            return Position.from_json(data, path=path)
        except UnknownGameError as error:
            error.path = error.path or path
            raise
    # Lists have no presence, so they are always in `data`. A scalar or a message is there only if it was set,
    # so that the game notices a missing one. All numbers in positions have 32 bits, which
    # MessageToDict keeps as integers.
    data = json_format.MessageToDict(
        getattr(message, game), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    data = registry.get(game).text.from_message(data)
    return Position.from_json({"game": game, **data}, path=f"{path}.{game}")


def _json_of(text: str, path: str) -> Any:
    if split_header(text):
        raise NotationError(
            f"{path}: given a compact position; expected JSON. The field {COMPACT} takes the compact form",
            reason="WRONG_TYPE",
            path=path,
        )
    return parse_json(text, path)


def record_of(start: Position, turns: Iterable[engine_pb2.Turn]) -> dict[str, Any]:
    """Return the record of a game, finished or not, with this start and these turns."""
    return {
        "game": start.game,
        "version": VERSION,
        "start": start.to_json(),
        "turns": [list(turn.actions) for turn in turns],
        "scores": None,
        "winners": None,
    }


def points_to_message(name: str, points: list[float]) -> dict[str, Any]:
    """Return the fields ``NAME`` and ``exact_NAME`` of a message: points rounded down, and as they are."""
    whole = [math.floor(number) for number in points]
    return {name: whole, f"exact_{name}": [] if whole == points else points}


def points_from_message(message: Message, name: str) -> list[float]:
    """Read the points of `points_to_message`; whole ones are integers."""
    exact = getattr(message, f"exact_{name}") or getattr(message, name)
    return [int(number) if number == math.floor(number) else number for number in exact]


def step_to_message(step: Step) -> engine_pb2.Step:
    """Return the message of one action of a turn."""
    message = engine_pb2.Step(
        action=step.action,
        position=position_to_message(step.position),
        **points_to_message("scored", step.scored),
    )
    for name, amount in step.cost.items():
        message.costs.add(name=name, amount=amount)
    for path, before, after in step.changes:
        values = {"before": before, "after": after}
        texts = {name: json.dumps(value) for name, value in values.items() if value is not None}
        message.changes.add(path=path, **texts)
    return message


def step_from_message(message: engine_pb2.Step, is_turn_over: bool) -> Step:
    """Read one action of a turn from its message."""
    changes = [
        Change(
            change.path,
            *(json.loads(getattr(change, name)) if change.HasField(name) else None for name in ("before", "after")),
        )
        for change in message.changes
    ]
    return Step(
        action=message.action,
        position=position_from_message(message.position),
        scored=points_from_message(message, "scored"),
        cost={cost.name: cost.amount for cost in message.costs},
        changes=changes,
        is_turn_over=is_turn_over,
    )


def applied_to_message(applied: Applied, *, view: Position | None, seed: int | None) -> engine_pb2.ApplyTurnResponse:
    """Return the message of a turn that was played.

    Parameters
    ----------
    applied : Applied
    view : Position, optional
        The view of the seat to move, for the answer.
    seed : int, optional
        That of the random events.
    """
    return engine_pb2.ApplyTurnResponse(
        position=position_to_message(applied.position),
        **points_to_message("scores", applied.scores),
        **points_to_message("scored", applied.scored),
        is_over=applied.is_over,
        to_move=applied.to_move,
        winners=applied.winners,
        events=[engine_pb2.Turn(actions=event) for event in applied.events],
        seed=seed,
        view=None if view is None else position_to_message(view, hides=True),
        steps=map(step_to_message, applied.steps),
        is_turn_over=applied.is_turn_over,
    )


def applied_from_message(message: engine_pb2.ApplyTurnResponse) -> Applied:
    """Read a turn that was played from its message."""
    return Applied(
        position=position_from_message(message.position),
        scores=points_from_message(message, "scores"),
        scored=points_from_message(message, "scored"),
        to_move=message.to_move if message.HasField("to_move") else None,
        is_over=message.is_over,
        winners=list(message.winners),
        events=[list(event.actions) for event in message.events],
        steps=[
            step_from_message(step, message.is_turn_over and number == len(message.steps))
            for number, step in enumerate(message.steps, 1)
        ],
        is_turn_over=message.is_turn_over,
        views=[position_from_message(view.position) for view in message.views],
        spectator_view=position_from_message(message.spectator_view) if message.HasField("spectator_view") else None,
    )


def options_to_request(request: engine_pb2.NewGameRequest, game: str, options: dict[str, Any]) -> None:
    """Write the game and its options into a request for a new game.

    Raises
    ------
    NotationError
        The game has no such option, or not of this type.
    """
    if game not in OWN_MESSAGES:
        try:
            request.other_game.options_json = json.dumps(options) if options else ""
        except (TypeError, ValueError) as error:
            raise NotationError(f"options: {error}; expected those of {game}", path="options") from None
        request.other_game.name = game
        return
    chosen = getattr(request, game)
    chosen.SetInParent()
    check_options(game, options, chosen.DESCRIPTOR.fields_by_name)
    try:
        json_format.ParseDict(options, chosen)
    except json_format.ParseError as error:
        raise NotationError(f"options: {error}; expected those of {game}", path="options") from None


def options_from_request(request: engine_pb2.NewGameRequest) -> tuple[str, dict[str, Any], str]:
    """Return the game that a request asks for, its options by name, and the field that holds the options.

    Raises
    ------
    NotationError
        No game is named, or the options are no JSON object.
    """
    field = request.WhichOneof("game")
    if field is None:
        known = ", ".join(registry.names())
        raise NotationError(
            f"game: is missing; expected the options of one of {known}", reason="MISSING_GAME", path="game"
        )
    message = getattr(request, field)
    if field != OTHER_GAME:
        options = {option.name: list(value) if option.is_repeated else value for option, value in message.ListFields()}
        return field, options, field
    path = f"{OTHER_GAME}.options_json"
    options = parse_json(message.options_json or "{}", path)
    _check_entries(options, path)
    if not isinstance(options, dict):
        raise NotationError(f"{path}: given {quote(options)}; expected an object", reason="WRONG_TYPE", path=path)
    return message.name, options, path


def verdict_to_message(verdict: Verdict) -> engine_pb2.ConsiderProposalResponse:
    """Return the message of the engine's answer about a proposal."""
    message = engine_pb2.ConsiderProposalResponse(agrees=verdict.agrees)
    for opinion in verdict.opinions:
        message.opinions.add(**vars(opinion))
    return message


def verdict_from_message(message: engine_pb2.ConsiderProposalResponse) -> Verdict:
    """Read the engine's answer about a proposal from its message."""
    opinions = [
        Opinion(one.action, one.agrees, one.reason, one.explanation, list(one.places), list(one.evidence))
        for one in message.opinions
    ]
    return Verdict(message.agrees, opinions)


def game_to_message(game: Any) -> engine_pb2.ListGamesResponse.GameInfo:
    """Return the message of a game of the registry."""
    return engine_pb2.ListGamesResponse.GameInfo(
        name=game.name, rules_version=game.rules_version, min_players=2, max_players=game.max_players
    )


def games_from_message(message: engine_pb2.ListGamesResponse) -> list[dict[str, Any]]:
    """Read the games of a server, each as a dict of the fields of its message."""
    return [
        {name: getattr(game, name) for name in ("name", "rules_version", "min_players", "max_players")}
        for game in message.games
    ]


def info_from_message(message: engine_pb2.GetEngineInfoResponse) -> dict[str, Any]:
    """Read the description of an engine, as a dict of the fields of its message."""
    found = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    found["caps"]["iterations"] = message.caps.iterations  # protobuf's JSON has 64-bit integers as strings
    return found


def violations_to_message(violations: Iterable[Violation]) -> engine_pb2.ValidatePositionResponse:
    """Return the message of faults."""
    message = engine_pb2.ValidatePositionResponse()
    for path, reason, text in violations:
        # The package's messages begin with the path, which `field` already states.
        message.violations.add(field=path, reason=reason, description=text.removeprefix(f"{path}: "))
    return message


def evaluation_to_message(evaluation: TurnEvaluation) -> engine_pb2.EvaluateRecordResponse:
    """Return the message of the evaluation of a turn."""
    return engine_pb2.EvaluateRecordResponse(
        turn_index=evaluation.turn_index,
        seat=evaluation.seat,
        value_before=evaluation.before,
        value_after=evaluation.after,
        expected_scores_before=evaluation.expected_scores_before,
        expected_scores_after=evaluation.expected_scores_after,
        choice=engine_pb2.Turn(actions=evaluation.choice),
        choice_value=evaluation.choice_value,
        loss=evaluation.loss,
        **points_to_message("scores", evaluation.scores),
        iterations=evaluation.iterations,
        seconds=evaluation.seconds,
        points_lost=evaluation.points_lost,
        grade=_GRADE + (evaluation.grade.upper() or "UNSPECIFIED"),
        loss_low=None if evaluation.interval is None else evaluation.interval[0],
        loss_high=None if evaluation.interval is None else evaluation.interval[1],
        is_unsure=evaluation.is_unsure,
        answer=engine_pb2.Turn(actions=evaluation.answer) if evaluation.answer else None,
        explanation=evaluation.explanation,
        candidates=map(candidate_to_message, evaluation.candidates),
    )


def evaluation_from_message(message: engine_pb2.EvaluateRecordResponse, turn: list[str]) -> TurnEvaluation:
    """Read the evaluation of a turn from its message, which does not contain the turn itself."""
    return TurnEvaluation(
        turn_index=message.turn_index,
        seat=message.seat,
        turn=turn,
        before=list(message.value_before),
        after=list(message.value_after),
        choice=list(message.choice.actions),
        choice_value=list(message.choice_value),
        loss=message.loss,
        expected_scores_before=list(message.expected_scores_before),
        expected_scores_after=list(message.expected_scores_after),
        scores=points_from_message(message, "scores"),
        iterations=message.iterations,
        seconds=message.seconds,
        points_lost=message.points_lost,
        grade=_grade(message),
        interval=[message.loss_low, message.loss_high] if message.HasField("loss_low") else None,
        is_unsure=message.is_unsure,
        answer=list(message.answer.actions),
        explanation=list(message.explanation),
        candidates=list(map(candidate_from_message, message.candidates)),
    )


def _grade(message: engine_pb2.EvaluateRecordResponse) -> str:
    """Return the grade of an evaluation; that of its loss where the server is too old, or too new, to tell."""
    known = engine_pb2.Grade.DESCRIPTOR.values_by_number.get(message.grade)
    if known is None or not message.grade:
        return grade_of(message.loss)
    return known.name.removeprefix(_GRADE).lower()


def seed_of(request: _Seeded) -> int:
    """Return the seed of a request, drawn if it gives none.

    Raises
    ------
    SearchError
        The seed is above 2^63 - 1; reason INVALID_SEED.
    """
    return resolve_seed(request.seed if request.HasField("seed") else None)


def limits_of(message: engine_pb2.Limits) -> dict[str, Any]:
    """Return the limits that a message gives by field; None for each that it leaves to the server."""
    return {name: getattr(message, name) or None for name in message.DESCRIPTOR.fields_by_name}


def result_to_message(
    result: Result, *, engine_version: str, rules_version: int, with_first_actions: bool = False
) -> engine_pb2.SearchResult:
    """Return the message of a result, final or partial (`stop_reason` empty)."""
    return engine_pb2.SearchResult(
        turn=result.turn,
        value=result.value,
        expected_scores=result.expected_scores,
        candidates=map(candidate_to_message, result.candidates),
        iterations=result.iterations,
        nodes=result.nodes,
        distinct_turns=result.distinct_turns,
        seconds=result.seconds,
        stop_reason=_STOP_REASON + (result.stop_reason.upper() or "UNSPECIFIED"),
        seed=result.seed,
        threads=result.threads,
        engine_version=engine_version,
        rules_version=rules_version,
        weights=result.weights or "",
        first_actions=map(first_action_to_message, result.first_actions if with_first_actions else ()),
    )


def result_from_message(message: engine_pb2.SearchResult, players: int | None = None) -> Result:
    """Read a result from its message. A stop reason that this version does not know becomes ``unknown``.

    Figures that are impossible with this number of seats are left out; see `mexica_ai.analysis.results.sound`.
    """
    known = engine_pb2.StopReason.DESCRIPTOR.values_by_number.get(message.stop_reason)
    stop_reason = known.name.removeprefix(_STOP_REASON).lower() if known else "unknown"
    candidates = list(map(candidate_from_message, message.candidates))
    if not candidates:  # other servers may send only the turn
        candidates = [
            Candidate(
                turn=list(message.turn),
                visits=message.iterations,
                value=list(message.value),
                expected_scores=list(message.expected_scores),
                prior=1.0,
                line=[],
            )
        ]
    result = Result(
        candidates=candidates,
        iterations=message.iterations,
        nodes=message.nodes,
        distinct_turns=message.distinct_turns,
        seconds=message.seconds,
        stop_reason="" if stop_reason == "unspecified" else stop_reason,
        seed=message.seed,
        threads=message.threads,
        weights=message.weights or None,
        first_actions=list(map(first_action_from_message, message.first_actions)),
    )
    return sound(result, players)

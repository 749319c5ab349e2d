"""Answers to the requests that do not search: each function takes a request message and returns its response."""

from __future__ import annotations

from mexica_ai.game.position import Position
from mexica_ai.game.position import deal as deal_game
from mexica_ai.game.proposals import consider_proposal
from mexica_ai.game.steps import Applied, Step, play_steps
from mexica_ai.io.errors import GameOverError, MexicaAIError, NotationError, PositionError, Violation
from mexica_ai.io.numbers import MAX_INT64
from mexica_ai.rpc import details, views, wire
from mexica_ai.server import paths
from mexica_ai.v1 import engine_pb2


def deal(request: engine_pb2.NewGameRequest) -> engine_pb2.NewGameResponse:
    wire.check_size(request)
    game, options, field = wire.options_from_request(request)
    seed = wire.seed_of(request)
    with paths.naming(paths.options(field)):
        position = deal_game(game, request.players or 2, seed, options)
    return engine_pb2.NewGameResponse(
        position=wire.position_to_message(position, hides=True),
        full_position=wire.position_to_message(position),
        seed=seed,
        **views.head_to_message(position),
        **(views.views_to_message(position) if request.with_views else {}),
    )


def apply_turn(request: engine_pb2.ApplyTurnRequest) -> engine_pb2.ApplyTurnResponse:
    wire.check_size(request)
    seed = wire.seed_of(request)
    position = wire.position_from_message(request.position)
    whole = paths.position(wire.position_field(request.position))
    before = position.scores
    steps: list[Step] = []
    is_turn_over = True
    if request.turn.actions or not (request.draw_events and position.is_chance):
        actions, started = list(request.turn.actions), position.state.turn
        _require_turn(position, actions)
        is_event = position.is_chance  # which counts as no turn of the state
        with paths.naming(paths.TURN + whole):
            if request.with_steps:
                steps = play_steps(position, actions)
            position.push(actions, partial=request.allow_partial)
        is_turn_over = is_event or position.state.turn != started or position.is_over
    events: list[list[str]] = []
    while request.draw_events and position.is_chance:
        # Seeds of their own: events alike shall not come alike.
        events.append(position.draw((seed + len(events)) & MAX_INT64))
    to_move = position.to_move
    sees = to_move is not None and position.viewer in (None, to_move)
    applied = Applied(
        position=position,
        scores=position.scores,
        scored=[after - before for after, before in zip(position.scores, before, strict=True)],
        to_move=to_move,
        is_over=position.is_over,
        winners=position.winners,
        events=events,
        steps=steps,
        is_turn_over=is_turn_over,
    )
    message = wire.applied_to_message(applied, view=position if sees else None, seed=seed if events else None)
    if request.with_views:
        with paths.naming(whole):
            _add_views(message, position)
    return message


def _require_turn(position: Position, actions: list[str]) -> None:
    """Check that a request has a turn."""
    if actions:
        return
    if position.is_over:
        raise GameOverError("the game is over; expected no more turns")
    if position.is_chance:
        problem = "the outcome of the random event that comes before the next turn, or `draw_events`"
    else:
        problem = f"the actions of seat {position.to_move}'s turn, which LegalActions and BestTurn name"
    raise paths.is_empty("turn.actions", problem)


def _add_views(message: engine_pb2.ApplyTurnResponse | engine_pb2.LegalActionsResponse, position: Position) -> None:
    fields = views.views_to_message(position)
    message.views.extend(fields["views"])
    message.spectator_view.CopyFrom(fields["spectator_view"])


def get_view(request: engine_pb2.GetViewRequest) -> engine_pb2.GetViewResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    viewer = request.WhichOneof("viewer")
    if viewer is None or (viewer == "spectator" and not request.spectator):
        raise NotationError(
            "viewer: is missing; expected `seat`, or `spectator` set to true", reason="MISSING_FIELD", path="viewer"
        )
    seat = None if viewer == "spectator" else request.seat
    if seat is not None and seat >= position.players:
        raise PositionError(
            f"seat: given {seat}; expected a seat from 0 to {position.players - 1}", reason="OUT_OF_RANGE", path="seat"
        )
    with paths.naming(paths.position(wire.position_field(request.position))):
        return engine_pb2.GetViewResponse(position=views.view_to_message(position, seat))


def legal_actions(request: engine_pb2.LegalActionsRequest) -> engine_pb2.LegalActionsResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    whole = paths.position(wire.position_field(request.position))
    for index, action in enumerate(request.actions):
        with paths.naming(paths.last_of(f"actions[{index}]") + whole):
            position.push_action(action)
    message = engine_pb2.LegalActionsResponse(
        to_move=position.to_move, position=wire.position_to_message(position) if request.actions else None
    )
    with paths.naming(whole):
        if request.detail:
            found = position.legal_details()
            message.details.extend(map(details.detail_to_message, found))
            message.actions.extend(one.action for one in found)
        else:
            message.actions.extend(position.legal_actions())
        if request.with_views:
            _add_views(message, position)
    return message


def validate_position(request: engine_pb2.ValidatePositionRequest) -> engine_pb2.ValidatePositionResponse:
    try:
        wire.position_from_message(request.position)
    except MexicaAIError as error:
        return wire.violations_to_message(error.violations or [Violation(error.path, error.reason, str(error))])
    return engine_pb2.ValidatePositionResponse()


def consider(request: engine_pb2.ConsiderProposalRequest) -> engine_pb2.ConsiderProposalResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    if not request.actions:
        raise paths.is_empty("actions", "what is proposed, an action or more")
    return wire.verdict_to_message(consider_proposal(position, list(request.actions)))

"""Answers to the requests that do not search: each function takes a request message and returns its response."""

from __future__ import annotations

from mexica_ai.game.position import deal as deal_game
from mexica_ai.game.proposals import consider_proposal
from mexica_ai.game.steps import Applied, Step, play_steps
from mexica_ai.io.errors import MexicaAIError, Violation
from mexica_ai.io.figures import MAX_INT64
from mexica_ai.rpc import wire
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
    )


def apply_turn(request: engine_pb2.ApplyTurnRequest) -> engine_pb2.ApplyTurnResponse:
    wire.check_size(request)
    seed = wire.seed_of(request)
    position = wire.position_from_message(request.position)
    before = position.scores
    steps: list[Step] = []
    is_turn_over = True
    if request.turn.actions or not (request.draw_events and position.is_chance):
        actions, started = list(request.turn.actions), position.state.turn
        with paths.naming(paths.TURN + paths.position(wire.position_field(position.game))):
            if request.with_steps:
                steps = play_steps(position, actions)
            position.push(actions, partial=request.allow_partial)
        is_turn_over = position.state.turn != started or position.is_over
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
    return wire.applied_to_message(applied, view=position if sees else None, seed=seed if events else None)


def legal_actions(request: engine_pb2.LegalActionsRequest) -> engine_pb2.LegalActionsResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    whole = paths.position(wire.position_field(position.game))
    for index, action in enumerate(request.actions):
        with paths.naming(paths.last_of(f"actions[{index}]") + whole):
            position.push_action(action)
    with paths.naming(whole):
        actions = position.legal_actions()
    return engine_pb2.LegalActionsResponse(
        actions=actions,
        to_move=position.to_move,
        position=wire.position_to_message(position) if request.actions else None,
    )


def validate_position(request: engine_pb2.ValidatePositionRequest) -> engine_pb2.ValidatePositionResponse:
    try:
        wire.position_from_message(request.position)
    except MexicaAIError as error:
        return wire.violations_to_message(error.violations or [Violation(error.path, error.reason, str(error))])
    return engine_pb2.ValidatePositionResponse()


def consider(request: engine_pb2.ConsiderProposalRequest) -> engine_pb2.ConsiderProposalResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    return wire.verdict_to_message(consider_proposal(position, list(request.actions)))

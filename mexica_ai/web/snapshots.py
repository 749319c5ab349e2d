"""The state of a game as JSON for its pages."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, cast

from mexica_ai import __version__
from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.game.details import cost_text
from mexica_ai.game.messages import say
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.table.seats import names_of, seats_json
from mexica_ai.web.clicks import named
from mexica_ai.web.commands import take_back_limit
from mexica_ai.web.guides import guide_json
from mexica_ai.web.snapshot_types import (
    DraftJson,
    EntryJson,
    EvaluationJson,
    SeatJson,
    ShownJson,
    StateJson,
    TurnJson,
    Waiting,
)
from mexica_ai.web.study import comments_json, lines_json
from mexica_ai.web.turn_entry import Draft, blocked_tools, entries_of, walks_json, why_not_ended
from mexica_ai.web.visibility import is_theirs

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

RUN = secrets.token_hex(8)  # of this process: versions of another one mean nothing here
NUM_STEPS = 12  # newest turns that are told step by step, too: those that a page may still have to show

_NO_DRAFT: DraftJson = {
    "actions": [],
    "steps": [],
    "can_end": False,
    "end": None,
    "is_ended": False,
    "left": "",
    "wasted": "",
    "commit": "End turn",
    "why_not": "",
    "warning": "",
}
_NOTHING: ShownJson = {
    "turns": [],
    "draft": _NO_DRAFT,
    "entries": [],
    "walks": [],
    "blocked": {},
    "targets": {},
    "text": "",
    "compact": "",
    "lines": [],
    "comments": {},
}


def snapshot_of(game: Game, viewer: int | None, handover: int | None, guest: int | None) -> StateJson:
    """Return the part of a snapshot that changes only with the version; a handover leaves out all that is hidden.

    `guest` is the seat of a page that was opened by an invitation.
    """
    now = game.now
    is_mine = (
        game.mover is not None
        and game.mover in game.persons
        and viewer in (None, game.mover)
        and is_theirs(game.table, guest, game.mover)
    )
    has_notes = game.is_open and (guest is None or game.is_over)  # those of the owner are for the owner until then
    shown = _NOTHING if handover is not None else _shown(game, viewer, is_mine, has_notes)
    return {
        "id": game.id,
        "run": RUN,
        "build": __version__,
        "game": game.name,
        "version": game.version,
        "players": now.players,
        "created": game.table.started.created,
        "seats": cast("list[SeatJson]", seats_json(game.seats)),
        "names": names_of(game.seats),
        "viewer": viewer,
        "handover": handover,
        "guest": guest,
        "away": sorted(game.table.invites),
        "is_mine": is_mine,
        "open": game.is_open,
        "scores": now.scores,
        "to_move": game.mover,
        "is_over": game.is_over,
        "resigned": game.table.resigned,
        "winners": game.table.winners,
        "waiting": cast("Waiting", game.waiting),
        "can_take_back": take_back_limit(game.table, guest) is not None,
        "num_turns": len(game.positions) - 1,
        "guide": guide_json(game.table),
        **shown,
    }


def _shown(game: Game, viewer: int | None, is_mine: bool, has_notes: bool) -> ShownJson:
    """Return what a viewer sees of the turns, the position and the turn being entered."""
    draft = game.drafted() if is_mine else Draft(game.view_of(game.now, viewer))
    position = draft.position
    is_entering = is_mine and not draft.is_ended
    entries = entries_of(position) if is_entering else []
    return {
        "turns": _turns(game, viewer),
        "draft": _draft_json(game, draft, position) if is_mine else {**_NO_DRAFT, "commit": say("End turn")},
        "entries": entries,
        "walks": walks_json(position) if entries else [],
        "blocked": _blocked(game, position, entries) if is_entering else {},
        "targets": game.kind.picture.describe_targets(position.to_json()),
        "text": str(position),
        "compact": position.to_compact(),
        "lines": lines_json(game) if has_notes else [],
        "comments": comments_json(game) if has_notes else {},
    }


def _turns(game: Game, viewer: int | None) -> list[TurnJson]:
    turns: list[TurnJson] = []
    told = game.telling.turns(game, viewer)
    for index, actions in enumerate(game.seen_turns(viewer)):
        before, after = game.positions[index], game.positions[index + 1]
        turns.append(
            {
                "index": index,
                "seat": before.to_move,
                "actions": actions,
                "text": TURN_SEPARATOR.join(actions),
                "words": told[index].words,
                "steps": told[index].steps if index >= len(told) - NUM_STEPS else [],
                "round": told[index].round,
                "scores": after.scores,
                "scored": [new - old for new, old in zip(after.scores, before.scores, strict=True)],
            }
        )
    return turns


def _draft_json(game: Game, draft: Draft, position: Position) -> DraftJson:
    end = None if draft.is_ended else game.ending()
    fields = position.to_json()
    spends = () if draft.is_ended else game.kind.reasons.spends
    left = {key: fields[key] for key in spends if isinstance(fields.get(key), int)}
    can_end, names = draft.is_ended or end is not None, names_of(game.seats)
    return {
        "actions": list(game.draft),
        "steps": [
            {"action": action, "text": named(text, names), "words": words}
            for action, text, words in zip(game.draft, draft.effects, draft.words, strict=True)
        ],
        "can_end": can_end,
        "end": end,
        "is_ended": draft.is_ended,
        "left": cost_text({key: value for key, value in left.items() if value}),
        "wasted": "" if draft.is_ended else game.kind.clicks.wasted(fields),
        "commit": _commit_label(game, draft),
        "why_not": "" if can_end else named(why_not_ended(game.kind, position), names),
        "warning": say("This reveals something hidden, so it cannot be undone.") if draft.reveals else "",
    }


def _blocked(game: Game, position: Position, entries: list[EntryJson]) -> dict[str, str]:
    names = names_of(game.seats)
    blocked = blocked_tools(game.kind, position, entries)
    return {tool: named(why, names) for tool, why in blocked.items()}


def _commit_label(game: Game, draft: Draft) -> str:
    """Return the caption of the button that ends the turn: what it uncovers, if the turn goes on afterwards."""
    if not draft.reveals:
        return say("End turn")
    tool = game.kind.picture.entry(game.draft[-1], game.view_of(game.now, game.mover).to_json()).tool
    return say(next((one.label for one in game.kind.picture.tools if one.name == tool), "End turn"))


def evaluation_json(game: Game, one: TurnEvaluation) -> EvaluationJson:
    """Return an evaluation in the form of pages."""
    return {
        "turn_index": one.turn_index,
        "seat": one.seat,
        "loss": one.loss,
        "mark": one.mark,
        "choice": one.choice,
        "choice_text": TURN_SEPARATOR.join(one.choice),
        "choice_words": game.telling.choice(game, one.turn_index, one.choice),
        "is_choice": one.choice == one.turn,
        "grade": say(one.grade),
        "is_unsure": one.is_unsure,
        "explanation": game.telling.explanation(one),
        "answer": one.answer,
        "answer_text": TURN_SEPARATOR.join(one.answer),
        "answer_words": game.telling.choice(game, one.turn_index + 1, one.answer) if one.answer else "",
        "shares": [round(share, 3) for share in one.after],
    }

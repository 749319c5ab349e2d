"""A guided first game on the page: which step the learner is at, what fits it, and what is played after it.

The step follows from the turns and the turn being entered, so nothing else is kept: after a restart, or when a turn is
taken back, the guide goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mexica_ai.game import registry, teaching
from mexica_ai.game.guide import Guide, GuideStep, Verdict
from mexica_ai.game.messages import language, say
from mexica_ai.game.position import Position
from mexica_ai.table.events import Started, Table, begin
from mexica_ai.table.seats import Seat
from mexica_ai.web.errors import ApiError
from mexica_ai.web.snapshot_types import GuideInfo, GuideJson

OTHER = Seat("engine", 2, None, 1.0)  # who goes on for the others after the guide


@dataclass(frozen=True)
class _Progress:
    """How far a guide is.

    Parameters
    ----------
    step : int
        Index of the step to do; the number of steps at the end.
    done : tuple of str
        The actions of this step so far.
    misfit : Verdict or None
        On the first action that does not fit; those after it are not looked at.
    """

    step: int = 0
    done: tuple[str, ...] = ()
    misfit: Verdict | None = None


def require_guide(game: str) -> Guide:
    """Return the guide of a game; ApiError if it has none."""
    guide = teaching.guide(game) if game in registry.names() else None
    if guide is None:
        raise ApiError(404, "NO_GUIDE", f"no guided game of {game[:40]!r}; expected one of {', '.join(_guided())}")
    return guide


def _guided() -> list[str]:
    return [name for name in registry.names() if teaching.guide(name) is not None]


def begin_guide(game: str, created: str, version: int) -> Table:
    """Return the table at which the guide of a game begins."""
    guide = require_guide(game)
    start = Position.from_json(dict(guide.start))
    seats = tuple(Seat() if seat == guide.seat else OTHER for seat in range(start.players))
    return begin(Started(start, seats, created, is_guided=True), version)


def _progress(table: Table, draft: Sequence[str]) -> _Progress:
    guide = require_guide(table.game)
    own = [turn for turn, before in zip(table.turns, table.positions, strict=False) if before.to_move == guide.seat]
    now = _Progress()
    for action in [*(action for turn in own for action in turn), *draft]:
        if now.step == len(guide.steps):
            return replace(now, misfit=Verdict(False))
        verdict = teaching.check_step(table.game, guide.steps[now.step], now.done, action)
        if not verdict.fits:
            return replace(now, misfit=verdict)
        now = _Progress(now.step + 1) if verdict.is_done else replace(now, done=(*now.done, action))
    return now


def require_fit(table: Table, actions: Sequence[str]) -> None:
    """Raise an ApiError with a friendly word if a legal turn, or its beginning, is not what the guide is about."""
    misfit = _progress(table, actions).misfit
    if misfit is not None:
        word = "" if misfit.word is None else teaching.say(table.game, misfit.word, language())
        raise ApiError(422, "NOT_THIS_STEP", word or say("the guided game is at its end; expected to play on"))


def replies(table: Table, turn: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what is played after a turn of the learner, if it completes a step."""
    now = _progress(table, turn)
    if not now.step or now.done or now.misfit is not None:
        return []
    return list(require_guide(table.game).steps[now.step - 1].replies)


def guide_json(table: Table) -> GuideJson | None:
    """Return the step for pages; None if the game is not guided, or no more."""
    if not table.is_guided:
        return None
    now, steps = _progress(table, table.draft), require_guide(table.game).steps
    return {"step": now.step, "of": len(steps), "done": _reached(table, steps[now.step], now.done) if now.done else []}


def _reached(table: Table, step: GuideStep, done: Sequence[str]) -> list[str]:
    """Return the targets of the actions of a step that are done and that the others do not need."""
    picture, fields = registry.get(table.game).picture, table.now.to_json()
    left = step.accepts[len(done) :] if step.in_order else [action for action in step.accepts if action not in done]

    def targets(actions: Sequence[str]) -> set[str]:
        return {
            target for action in actions if "*" not in action for target, *_ in picture.entry(action, fields).targets
        }

    return sorted(targets(done) - targets(left))


def guide_info(game: str) -> GuideInfo:
    """Return the words of a guide."""
    guide = require_guide(game)
    intro, end = teaching.guide_frame(game, language())
    words = [(step, *teaching.guide_words(game, step.name, language())) for step in guide.steps]
    return {
        "intro": intro,
        "end": end,
        "steps": [{"do": do, "why": why, "look": list(step.look)} for step, do, why in words],
    }

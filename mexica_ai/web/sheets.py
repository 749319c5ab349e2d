"""Where the points of a game came from, as a table for its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mexica_ai.game import teaching
from mexica_ai.game.messages import language, say
from mexica_ai.table.seats import names_of
from mexica_ai.web.snapshot_types import ScoreRowJson

if TYPE_CHECKING:
    from mexica_ai.web.games import Game


def sheet_of(game: Game) -> list[ScoreRowJson]:
    """Return the rows of a score sheet, which add up to the scores; by kinds of actions if the game has no sheet."""
    if game.kind.teaching is None:
        return _by_kind(game)
    rows = teaching.score_sheet(game.positions[0], game.turns, language(), names_of(game.seats))
    return [{"section": section, "label": label, "points": points} for section, label, points in rows]


def _by_kind(game: Game) -> list[ScoreRowJson]:
    labels = {tool.name: tool.label for tool in game.kind.picture.tools}
    parts: dict[str, list[float]] = {}
    if any(game.positions[0].scores):
        parts[say("Before this game")] = list(game.positions[0].scores)
    for index, turn in enumerate(game.turns):
        position = game.positions[index].copy()
        for action in turn:
            before, started, can_end = position.scores, position.state.turn, False
            label = say("Random events")
            if not position.is_chance:
                entry = game.kind.picture.entry(action, position.to_json())
                label, can_end = labels.get(entry.tool, entry.tool or action), not entry.targets
            position.push_action(action)
            if can_end and position.state.turn != started:
                label = say("Scored after a turn")
            gained = [new - old for new, old in zip(position.scores, before, strict=True)]
            if any(gained):
                known = parts.get(label, [0.0] * len(gained))
                parts[label] = [old + new for old, new in zip(known, gained, strict=True)]
    return [{"section": "", "label": label, "points": points} for label, points in parts.items()]

"""Turns in words, for people: what was played, step by step or as a whole, with the points that it brought.

The words of the actions are the game's (`mexica_ai.game.contract.Words`); a game without them is told in text forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mexica_ai.game import registry
from mexica_ai.game.messages import noted, say
from mexica_ai.io.json_types import JsonObject

if TYPE_CHECKING:
    from mexica_ai.game.contract import Game
    from mexica_ai.game.position import Position

ENDED = noted("ended the turn")  # a turn of which there is nothing else to tell


@dataclass(frozen=True)
class Moment:
    """An action of a turn, or a random event, as somebody has seen it.

    Parameters
    ----------
    action : str
        As text; its first word alone, if the viewer must not know its operands.
    before, after : dict
        The JSON positions before and after it, as the viewer sees them.
    scored : sequence of float
        What it brought each seat.
    """

    action: str
    before: JsonObject
    after: JsonObject
    scored: Sequence[float]


def moments_of(
    position: Position, turn: Sequence[str], *, seen: Sequence[str] | None = None, viewer: int | None = None
) -> list[Moment]:
    """Return the actions of a turn, or of the beginning of one, as a seat sees them.

    Parameters
    ----------
    position : Position
        Before the turn; it is not changed.
    turn : sequence of str
        The actions.
    seen : sequence of str, optional
        The actions as the viewer has seen them (`mexica_ai.table.events.seen_turn`); by default as they are.
    viewer : int, optional
        The seat that is told; None: somebody who sees what `position` shows.

    Raises
    ------
    MexicaAIError
        Those of `Position.push_action`.
    """
    now, moments = position.copy(), []
    before, scores = _fields(now, viewer), now.scores
    for action, shown in zip(turn, turn if seen is None else seen, strict=True):
        now.push_action(action)
        after = _fields(now, viewer)
        scored = [new - old for new, old in zip(now.scores, scores, strict=True)]
        moments.append(Moment(shown, before, after, scored))
        before, scores = after, now.scores
    return moments


def _fields(position: Position, viewer: int | None) -> JsonObject:
    return (position if viewer is None else position.view(viewer)).to_json()


def tell_steps(game: Game, moments: Sequence[Moment], seat: int | None, names: Sequence[str]) -> list[str]:
    """Return each action of a turn in words; "" for those that only end it.

    Parameters
    ----------
    game : Game
    moments : sequence of Moment
    seat : int or None
        Who played them; None: they are random events.
    names : sequence of str
        Of the seats.
    """
    return [_clause(game, [moment], seat, names) for moment in moments]


def tell_turn(game: Game, moments: Sequence[Moment], seat: int | None, names: Sequence[str]) -> str:
    """Return a turn in words, such as ``founded 12 at B4 (+6), temple 1 at P7``; arguments as for `tell_steps`."""
    groups: list[list[Moment]] = []
    for moment in moments:
        if groups and game.words.joins([one.action for one in groups[-1]], moment.action):
            groups[-1].append(moment)
        else:
            groups.append([moment])
    clauses = [clause for group in groups if (clause := _clause(game, group, seat, names))]
    return ", ".join(clauses) or say(ENDED)


def _clause(game: Game, group: Sequence[Moment], seat: int | None, names: Sequence[str]) -> str:
    actions = [moment.action for moment in group]
    words = game.words.tell(actions, group[0].before, group[-1].after)
    points = [sum(scored) for scored in zip(*(moment.scored for moment in group), strict=True)]
    gains = [f"{points[seat]:+g}"] if seat is not None and points[seat] else []
    gains += [f"{names[other]} {gain:+g}" for other, gain in enumerate(points) if gain and other != seat]
    return " ".join([words or say("scored")] * bool(words or gains) + [f"({', '.join(gains)})"] * bool(gains))


def words_of_turn(position: Position, turn: Sequence[str], names: Sequence[str]) -> str:
    """Return a turn from a position in words, as whoever sees this position is told it; errors as for `moments_of`."""
    moments = moments_of(position, turn)
    return tell_turn(registry.get(position.game), moments, position.to_move, names)

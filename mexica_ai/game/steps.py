"""A turn step by step: the position after each action, what it cost, what it brought, and all that changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mexica_ai.game import registry
from mexica_ai.game.position_text import split_turn
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject

if TYPE_CHECKING:
    from mexica_ai.game.position import Position

UNCOVERS = ("UPCOMING_UNKNOWN", "NOT_UNCOVERED")  # reasons of errors of actions that uncover something hidden


class Change(NamedTuple):
    """A difference between two positions in their JSON form.

    Attributes
    ----------
    path : str
        Such as ``seats[0].pilli``; of a list whose order has no meaning, such as ``canals``, that of the list.
    before, after : JSON value
        None for what was not there before, or is not there after.
    """

    path: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Step:
    """One action of a turn.

    Attributes
    ----------
    action : str
    position : Position
        After the action.
    scored : list of float
        Points that it brought each seat.
    cost : dict
        The resources that the seat to move has spent, by key of the JSON form, such as ``{"action_points": 3}``;
        without those that reset at the end of the turn.
    changes : list of Change
        All that is different after it.
    is_turn_over : bool
        Whether the turn has ended with it.
    """

    action: str
    position: Position
    scored: list[float]
    cost: dict[str, int]
    changes: list[Change]
    is_turn_over: bool


@dataclass(frozen=True)
class Applied:
    """A turn that was played.

    Parameters
    ----------
    position : Position
        After the turn.
    scores, scored : list of float
        Points of each seat as they stand, and what the turn brought it.
    to_move : int or None
        The seat to move; None if the game is over or a random event is due.
    is_over : bool
    winners : list of int
        The seats that have won; empty until the game is over.
    events : list of list of str
        The random events that the server drew after the turn, each in the form that `Position.push` takes.
    steps : list of Step
        The actions one by one, if they were asked for.
    is_turn_over : bool
        Whether the turn has ended.
    views : list of Position
        What each seat may see after it, if that was asked for.
    spectator_view : Position or None
        What a spectator may see, likewise.
    """

    position: Position
    scores: list[float]
    scored: list[float]
    to_move: int | None
    is_over: bool
    winners: list[int]
    events: list[list[str]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    is_turn_over: bool = True
    views: list[Position] = field(default_factory=list)
    spectator_view: Position | None = None


def play_steps(position: Position, turn: str | list[str]) -> list[Step]:
    """Return the steps of a turn, or of the beginning of one; the position is not changed.

    Raises
    ------
    MexicaAIError
        Those of `Position.push`; a turn need not be whole.
    """
    actions = split_turn(turn)
    position.copy().push(actions, partial=True)  # for the errors of the turn as a whole
    steps, now = [], position.copy()
    spends = registry.get(position.game).reasons.spends
    started, is_event, before = now.state.turn, now.is_chance, now.to_json()
    for action in actions:
        seat, scores = now.to_move, now.scores
        now.push_action(action)
        after = now.to_json()
        is_over = is_event or now.state.turn != started
        steps.append(
            Step(
                action,
                now.copy(),
                [new - old for new, old in zip(now.scores, scores, strict=True)],
                {} if seat is None else spent(before, after, seat, spends, is_over),
                changes(before, after),
                is_over,
            )
        )
        before = after
    return steps


def known_steps(position: Position, turn: str | list[str]) -> list[Step]:
    """Return the steps of `play_steps`, without a last one that uncovers what the position does not know.

    Raises
    ------
    MexicaAIError
        Those of `play_steps`, but for that.
    """
    actions = split_turn(turn)
    try:
        return play_steps(position, actions)
    except PositionError as error:
        if error.reason not in UNCOVERS:
            raise
    return play_steps(position, actions[:-1]) if actions[1:] else []


def spent(before: JsonObject, after: JsonObject, seat: int, keys: Sequence[str], is_over: bool) -> dict[str, int]:
    """Return what an action cost a seat, from the JSON form of the positions before and after it.

    Parameters
    ----------
    keys : sequence of str
        Of what is spent, those of `Reasons.spends`.
    is_over : bool
        Whether the turn has ended with it, which resets the resources of a turn.
    """
    cost = {}
    for key in keys:
        if key in before:
            spent = 0 if is_over else before[key] - after[key]
        else:
            spent = before["seats"][seat][key] - after["seats"][seat][key]
        if spent > 0:
            cost[key] = spent
    return cost


def changes(before: JsonObject, after: JsonObject) -> list[Change]:
    """Return the differences between two positions of a game in their JSON form, in the order of its keys."""
    found: list[Change] = []
    _compare("", before, after, found)
    return found


def _compare(path: str, before: Any, after: Any, found: list[Change]) -> None:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            _compare(f"{path}.{key}" if path else key, before.get(key), after.get(key), found)
    elif isinstance(before, list) and isinstance(after, list):
        _compare_lists(path, before, after, found)
    else:
        found.append(Change(path, before, after))


def _compare_lists(path: str, before: list[Any], after: list[Any], found: list[Change]) -> None:
    is_numbered = all(isinstance(entry, dict) and "at" not in entry for entry in before + after)
    if is_numbered or (len(before) == len(after) and all(isinstance(entry, int) for entry in before + after)):
        for index in range(max(len(before), len(after))):
            old, new = (entries[index] if index < len(entries) else None for entries in (before, after))
            _compare(f"{path}[{index}]", old, new, found)
        return
    # The order has no meaning, or says no more than what came and went.
    old, new = (Counter(json.dumps(entry) for entry in entries) for entries in (before, after))
    found += [Change(path, json.loads(entry), None) for entry in (old - new).elements()]
    found += [Change(path, None, json.loads(entry)) for entry in (new - old).elements()]
    if old == new:
        found.append(Change(path, before, after))

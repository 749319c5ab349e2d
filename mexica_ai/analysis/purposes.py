"""What the actions of a turn are for, where the rules or the expected line show it.

An action is *needed for* a later one if that is not legal without it. An action that seems to bring nothing by itself
thus gets its reason from the action that it makes possible, in the same turn or in the seat's next one that the search
expects.
"""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError


def purposes(position: Position, turn: Sequence[str], line: Sequence[Sequence[str]] = ()) -> list[str]:
    """Return a clause about what each action of a turn is for, "" where nothing shows it.

    Parameters
    ----------
    position : Position
        Before the turn; not changed.
    turn : sequence of str
        A legal turn, or the beginning of one.
    line : sequence of sequence of str
        The turns that are expected after it.
    """
    needed = [_needed_for(position, turn, index) for index in range(len(turn))]
    following = _next_own_turn(position, turn, line)
    clauses = []
    for index in range(len(turn)):
        last = index
        while (later := needed[last]) is not None:
            last = later
        if last != index:
            clauses.append(f"needed for {turn[last]}")
        else:
            clauses.append(_needed_next(position, turn, index, following) if following else "")
    if not following:
        return clauses
    serves = registry.get(position.game).reasons.serves
    return [clause or serves(action, following[-1]) for action, clause in zip(turn, clauses, strict=True)]


def _needed_for(position: Position, turn: Sequence[str], index: int) -> int | None:
    """Return the index of the first later action that is not legal without this one; None if there is none."""
    now = position.copy()
    for other, action in enumerate(turn):
        if other == index:
            continue
        if not _play(now, [action], other == len(turn) - 1):
            # The end of a turn that must do something is not what its actions are for.
            return None if _is_end(action) else other
    return None


def _is_end(action: str) -> bool:
    return action.split()[0] == "end"


def _next_own_turn(position: Position, turn: Sequence[str], line: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the turns of the line up to the next one of the seat to move, that one included; none if there is none."""
    now, seat = position.copy(), position.to_move
    if not _play(now, turn, True):
        return []
    between: list[Sequence[str]] = []
    for following in line:
        if now.is_chance or now.is_over:
            return []
        between.append(following)
        if now.to_move == seat:
            return between
        if not _play(now, following, True):
            return []
    return []


def _needed_next(position: Position, turn: Sequence[str], index: int, following: Sequence[Sequence[str]]) -> str:
    """Return a clause if the seat's next expected turn is not legal without an action of this one."""
    without = [action for other, action in enumerate(turn) if other != index]
    now = position.copy()
    if not without or not _play(now, without, True) or now.to_move == position.to_move or now.is_chance:
        return ""
    *between, own = following
    if not all(_play(now, other, True) for other in between):
        return ""
    for number, action in enumerate(own, 1):
        if not _play(now, [action], number == len(own)):
            return "" if _is_end(action) else f"needed for {action}, expected in its next turn"
    return ""


def _play(position: Position, actions: Sequence[str], may_end: bool) -> bool:
    """Play actions; return whether they were legal. An action that ends the turn counts as illegal before its end."""
    started = position.state.turn
    try:
        for action in actions:
            position.push_action(action)
    except MexicaAIError:
        return False
    return may_end or position.state.turn == started

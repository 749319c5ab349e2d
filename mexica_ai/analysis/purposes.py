"""What the actions of a turn are for, where the rules or the expected line show it.

An action is *needed for* a later one if that is not legal without it. An action that seems to bring nothing by itself
thus gets its reason from the action that it makes possible, in the same turn or in the seat's next one that the search
expects.
"""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.game import registry
from mexica_ai.game.messages import say
from mexica_ai.game.position import Position
from mexica_ai.game.steps import Step, play_steps
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject

_MOST_ANSWERS = 40  # of those that a choice has, so many are tried


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
    steps = play_steps(position, list(turn))
    spends = registry.get(position.game).reasons.spends
    is_purpose = [not _only_trades(step, spends) for step in steps]
    needed = [_needed_for(position, turn, index) for index in range(len(turn))]
    following = _next_own_turn(position, turn, line)
    clauses = []
    for index in range(len(turn)):
        last = _purpose(position, turn, index, needed, is_purpose)
        if last is not None:
            clauses.append(say("needed for {action}", action=turn[last]))
        else:
            clauses.append(_needed_next(position, turn, index, following) if following else "")
    if not following:
        return clauses
    serves = registry.get(position.game).reasons.serves
    befores, then = _fields_of(position, turn, following[:-1])
    return [
        clause or serves(action, following[-1], before, then)
        for action, clause, before in zip(turn, clauses, befores, strict=True)
    ]


def _fields_of(
    position: Position, turn: Sequence[str], between: Sequence[Sequence[str]]
) -> tuple[list[JsonObject], JsonObject]:
    """Return the JSON positions before each action of a turn, and that after it and the turns that follow."""
    now, befores = position.copy(), []
    for action in turn:
        befores.append(now.to_json())
        now.push_action(action)
    for other in between:
        for action in other:
            now.push_action(action)
    return befores, now.to_json()


def _only_trades(step: Step, spends: Sequence[str]) -> bool:
    """Return whether an action ends a turn, or changes nothing but what actions cost: that is no purpose."""
    return _is_end(step.action) or all(change.path.rpartition(".")[2] in spends for change in step.changes)


def _purpose(
    position: Position, turn: Sequence[str], index: int, needed: Sequence[int | None], is_purpose: Sequence[bool]
) -> int | None:
    """Return the index of the last action that an action is needed for, through others; None if there is none.

    An action at the end of a chain must be illegal without all before it in the chain, not only without the last one:
    what an action obliges to must not count as what it makes possible.
    """
    chain, found = [index], None
    while (later := needed[chain[-1]]) is not None:
        if _first_illegal(position, turn, chain) != later:
            break
        found = later if is_purpose[later] else found
        chain.append(later)
    return found


def _first_illegal(position: Position, turn: Sequence[str], without: Sequence[int]) -> int | None:
    now = position.copy()
    for other, action in enumerate(turn):
        if other not in without and not _play(now, [action], other == len(turn) - 1):
            return other
    return None


def _needed_for(position: Position, turn: Sequence[str], index: int) -> int | None:
    """Return the index of the first later action that is not legal without this one; None if there is none."""
    later = _first_illegal(position, turn, [index])
    # The end of a turn that must do something is not what its actions are for.
    if later is None or _is_end(turn[later]) or _is_only_owed(position, turn, index, later):
        return None
    return later


def _is_only_owed(position: Position, turn: Sequence[str], index: int, later: int) -> bool:
    """Return whether some answer was owed here, and another one makes the later action legal, too."""
    if index == 0:
        return False
    now = position.copy()
    if not _play(now, turn[:index], False) or any(map(_is_end, now.legal_actions())):
        return False
    for other in now.legal_actions()[:_MOST_ANSWERS]:
        after = now.copy()
        if other != turn[index] and _play(after, [other, *turn[index + 1 : later + 1]], later == len(turn) - 1):
            return True
    return False


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
    now, full = position.copy(), position.copy()
    if not without or not _play(now, without, True) or now.to_move == position.to_move or now.is_chance:
        return ""
    # If it leaves the seat other means, the next turn may fail for want of those.
    if not _play(full, turn, True) or _means(now, position.to_move) != _means(full, position.to_move):
        return ""
    *between, own = following
    if not all(_play(now, other, True) for other in between):
        return ""
    for number, action in enumerate(own, 1):
        if not _play(now, [action], number == len(own)):
            return "" if _is_end(action) else say("needed for {action}, expected in its next turn", action=action)
    return ""


def _means(position: Position, seat: int | None) -> list[object]:
    """Return what a seat has of all that actions cost."""
    own = position.to_json()["seats"][seat] if seat is not None else {}
    return [own.get(key) for key in registry.get(position.game).reasons.spends]


def _play(position: Position, actions: Sequence[str], may_end: bool) -> bool:
    """Play actions; return whether they were legal. An action that ends the turn counts as illegal before its end."""
    started = position.state.turn
    try:
        for action in actions:
            position.push_action(action)
    except MexicaAIError:
        return False
    return may_end or position.state.turn == started

"""What a page says of actions: what each brings, why one that is clicked is not legal, and walks as one click."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cext.core.contract.game import State
from mexica_ai.game import registry
from mexica_ai.game.contract import Fields, Game
from mexica_ai.game.details import cost_text
from mexica_ai.game.entry import Entry, Gain, choice
from mexica_ai.game.messages import say
from mexica_ai.game.position import Position
from mexica_ai.game.steps import spent

_MOST_ASKED = 12  # actions of a tool that are asked for their reasons
_MOST_STEPS = 12  # of a walk


class Refusal(NamedTuple):
    """Why a click has no effect.

    Attributes
    ----------
    tools : list of str
        The labels of the tools of which it is true.
    why : str
        A clause.
    """

    tools: list[str]
    why: str


class Walk(NamedTuple):
    """Actions that move a piece one after another, as one choice.

    Attributes
    ----------
    actions : list of str
        Two or more.
    entry : Entry
        To the place where the last one leads.
    cost : str
        Of all of them, such as ``3 AP``.
    """

    actions: list[str]
    entry: Entry
    cost: str


def gains_of(position: Position) -> Iterator[Gain]:
    """Yield what each legal action brings, in the order of `Position.legal_actions`; see `Clicks.gain`."""
    game, fields, state = registry.get(position.game), position.to_json(), position.state
    numbers = {game.text.format_action(number): number for number in state.legal_actions()}
    for action in position.legal_actions():

        def play(number: int = numbers[action]) -> Fields:
            after = state.copy()
            after.apply(number)
            return game.text.format_position(after)

        yield game.clicks.gain(fields, action, play)


def refusals(position: Position, tool: str, targets: Sequence[str]) -> list[Refusal]:
    """Return why what a person clicks is not possible, the most likely reason first.

    Parameters
    ----------
    position : Position
        As the seat to move sees it.
    tool : str
        The name of a tool; "" for any that has legal actions, or for the others if none of those has a reason.
    targets : sequence of str
        Targets of the picture, among those that `Picture.describe_targets` names.
    """
    game, fields = registry.get(position.game), position.to_json()
    names = [tool]
    if not tool:
        usable = {game.picture.entry(action, fields).tool for action in position.legal_actions()}
        names = [one.name for one in game.picture.tools if one.name in usable]
        if found := _refusals(game, position, fields, names, targets):
            return found
        names = [one.name for one in game.picture.tools if one.name not in usable]
    return _refusals(game, position, fields, names, targets)


def _refusals(
    game: Game, position: Position, fields: Fields, names: Sequence[str], targets: Sequence[str]
) -> list[Refusal]:
    labels = {one.name: say(one.label) for one in game.picture.tools}
    found: dict[str, list[str]] = {}
    for name in names:
        if why := _why(game, position, fields, name, targets):
            found.setdefault(why, []).append(labels[name])
    return [Refusal(tools, why) for why, tools in sorted(found.items(), key=lambda item: -len(item[1]))]


def _why(game: Game, position: Position, fields: Fields, tool: str, targets: Sequence[str]) -> str:
    """Return the reason that most of the actions have that a click may mean; "" if one of them is legal."""
    reasons = Counter[str]()
    legal = set(position.legal_actions())
    for action in game.clicks.meant(fields, tool, targets)[:_MOST_ASKED]:
        if action in legal:
            return ""
        if why := game.why_illegal(position.state, action):
            reasons[game.clicks.plain(why)] += 1
    return reasons.most_common(1)[0][0] if reasons else ""


def walks_of(position: Position) -> list[Walk]:
    """Return the cheapest walk of several actions to each place; of those that cost the same, a shortest one.

    A place that a single action of the same tool reaches at no higher price has none.
    """
    game = registry.get(position.game)
    if not game.clicks.walks or position.to_move is None:
        return []
    found: dict[str, Walk] = {}
    best: dict[str, tuple[int, int]] = {}  # of each place: the least cost, and the number of actions
    order = itertools.count()
    waiting: list[tuple[int, int, int, list[str], State]] = [(0, 0, next(order), [], position.state)]
    before, seat = position.to_json(), position.state.current_player
    start, is_own = _without(before, game.reasons.spends), False  # whether the seat's own part says where the piece is
    while waiting:
        _, number, _, actions, state = heapq.heappop(waiting)
        if actions and found[_goal(game, actions[-1], before)].actions != actions:
            continue  # a cheaper way was found since
        for action, after in _steps(game, state):
            fields = game.text.format_position(after)
            now = _without(fields, game.reasons.spends)
            is_moved = now["seats"][seat : seat + 1] != start["seats"][seat : seat + 1]
            is_own |= is_moved
            if now == start or (is_own and not is_moved):
                continue  # back where it began; the first step may have changed more than the place of the piece
            cost = spent(before, fields, seat, game.reasons.spends, False)
            price, goal = (sum(cost.values()), number + 1), _goal(game, action, before)
            if goal in best and best[goal] <= price:
                continue
            best[goal] = price
            entry = game.picture.entry(action, before)
            words = choice(say("{n:step|steps}", n=number + 1))
            found[goal] = Walk([*actions, action], Entry(entry.tool, (entry.targets[0], words)), cost_text(cost))
            if number + 1 < _MOST_STEPS:
                heapq.heappush(waiting, (*price, next(order), [*actions, action], after))
    walks = {goal: walk for goal, walk in found.items() if len(walk.actions) > 1}
    for number in position.state.legal_actions():
        entry = game.picture.entry(game.text.format_action(number), before)
        goal = entry.paths[0] if entry.paths else ""
        if goal in walks and walks[goal].entry.tool == entry.tool:
            after = position.state.copy()
            after.apply(number)
            fields, ends_turn = game.text.format_position(after), after.turn != position.state.turn
            if sum(spent(before, fields, seat, game.reasons.spends, ends_turn).values()) <= best[goal][0]:
                del walks[goal]
    return list(walks.values())


def _without(fields: Fields, spends: Sequence[str]) -> Fields:
    """Return a position without what actions cost."""

    def kept(part: Fields) -> Fields:
        return {key: value for key, value in part.items() if key not in spends}

    return kept(fields) | {"seats": list(map(kept, fields.get("seats", [])))}


def _goal(game: Game, action: str, fields: Fields) -> str:
    return game.picture.entry(action, fields).paths[0]


def _steps(game: Game, state: State) -> Iterator[tuple[str, State]]:
    """Yield the legal steps of a walk that do not end the turn, each with the state after it."""
    for number in state.legal_actions():
        action = game.text.format_action(number)
        if action.partition(" ")[0] in game.clicks.walks:
            after = state.copy()
            after.apply(number)
            if after.turn == state.turn:
                yield action, after

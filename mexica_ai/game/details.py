"""Legal actions as data: what each names, costs and means, for pages and clients that offer actions to a person.

All of it comes from the game's object: tools and entries (`Picture`), descriptions of targets, and what actions spend
(`Reasons.spends`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mexica_ai.game import registry
from mexica_ai.game.entry import MENU, Entry, Kind, Target, Tool
from mexica_ai.game.messages import say
from mexica_ai.game.steps import spent
from mexica_ai.io.json_types import JsonObject

if TYPE_CHECKING:
    from cext.core.contract.game import State
    from mexica_ai.game.contract import Game
    from mexica_ai.game.position import Position

_NAMED_BY_PLACE = (Kind.SPACE, Kind.BRIDGE)  # their descriptions say what lies there


class TargetDetail(NamedTuple):
    """Something that an action names, in the order in which a person chooses it.

    Attributes
    ----------
    kind : str
        The name of a `mexica_ai.game.entry.Kind`, such as SPACE.
    name : str
        As the JSON form and the text of actions have it, such as ``H5``; of a choice, its part of the action.
    words : str
        It in words.
    seat : int or None
        The seat that it belongs to, if it lies before one.
    element : str
        Its ``data-target`` in pictures; "" for what they do not show.
    """

    kind: str
    name: str
    words: str
    seat: int | None
    element: str


@dataclass(frozen=True)
class ActionDetail:
    """A legal action as data.

    Attributes
    ----------
    action : str
    verb : str
        Its first word.
    targets : list of TargetDetail
        What it names; empty for games that do not say.
    costs : dict
        What it costs the seat to move, by key of the JSON form, such as ``{"action_points": 3}``; without what the end
        of a turn sets anew.
    label : str
        It in words.
    tool, key : str
        The kind of action among which a person chooses first, and the letter that chooses it; "" for games without.
    any_order : bool
        Whether the targets may be chosen in another order, too.
    entry : Entry
        How a person enters it on the page.
    """

    action: str
    verb: str
    targets: list[TargetDetail]
    costs: dict[str, int]
    label: str
    tool: str
    key: str
    any_order: bool
    entry: Entry

    def to_json(self) -> JsonObject:
        """Return it as a JSON object; a target has a seat only if it belongs to one."""
        targets = [{name: value for name, value in one._asdict().items() if value is not None} for one in self.targets]
        return {**{name: value for name, value in vars(self).items() if name != "entry"}, "targets": targets}


def details_of(position: Position) -> list[ActionDetail]:
    """Return the legal actions as data, in the order of `Position.legal_actions`, whose errors this raises."""
    actions = position.legal_actions()
    if not actions:
        return []
    game, fields, state = registry.get(position.game), position.to_json(), position.state
    numbers = {game.text.format_action(number): number for number in state.legal_actions()}
    tools = {tool.name: tool for tool in game.picture.tools}
    described = game.picture.describe_targets(fields)
    return [
        _detail(
            action, game.picture.entry(action, fields), tools, described, _cost(game, state, fields, numbers[action])
        )
        for action in actions
    ]


def _cost(game: Game, state: State, fields: JsonObject, action: int) -> dict[str, int]:
    """Return what a legal action costs the seat to move, from a state and its JSON position."""
    if not game.reasons.spends:
        return {}
    after = state.copy()
    after.apply(action)
    if after.turn != state.turn:
        return {}
    stocks = game.reasons.stocks or game.text.format_position
    return spent(fields, stocks(after), state.current_player, game.reasons.spends, False)


def cost_text(cost: dict[str, int]) -> str:
    """Return the cost of an action as text, such as 3 AP."""
    return ", ".join(f"{amount} {say(_unit(key, amount))}" for key, amount in cost.items())


def _unit(key: str, amount: int) -> str:
    """Return the short unit of a key: AP for action_points, tokens, corn."""
    words = key.removesuffix("_left").split("_")
    if words[-1] == "points":
        return "".join(word[0].upper() for word in words)
    return words[-1].removesuffix("s") if amount == 1 else words[-1]


def _detail(
    action: str, entry: Entry, tools: dict[str, Tool], described: dict[str, str], costs: dict[str, int]
) -> ActionDetail:
    verb = action.partition(" ")[0]
    tool = tools.get(entry.tool)
    if tool is None:
        return ActionDetail(action, verb, [], costs, action, "", "", False, entry)
    targets = [_target(target, described) for target in entry.targets]
    named = [
        target.name if target.kind in _NAMED_BY_PLACE else detail.words
        for target, detail in zip(entry.targets, targets, strict=True)
    ]
    label = f"{tool.label}: {'; '.join(named)}" if named else tool.label
    return ActionDetail(action, verb, targets, costs, label, tool.name, tool.key, tool.any_order, entry)


def _target(target: Target, described: dict[str, str]) -> TargetDetail:
    path, kind, name, seat = target
    if path.startswith(MENU):
        return TargetDetail(kind.name, name, path.removeprefix(MENU), seat, "")
    words = described.get(path) or path.replace(":", " ").replace("_", " ")
    if kind in _NAMED_BY_PLACE and words != name:
        words = f"{name}, {words}"
    return TargetDetail(kind.name, name, words, seat, path)

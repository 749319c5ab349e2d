"""The turn that a person enters: its actions so far, the legal entries with tools, targets and costs, and its end."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.game import registry
from mexica_ai.game.clicks import gains_of, walks_of
from mexica_ai.game.contract import Game
from mexica_ai.game.details import cost_text
from mexica_ai.game.position import Position
from mexica_ai.game.steps import UNCOVERS, spent
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.web.snapshot_types import EntryJson, WalkJson

ENDS = ("end", "pass")  # tools of actions that only end a turn
NUM_SAMPLES = 6  # of a tool; their errors explain why it has no legal action
_SAMPLES: dict[str, dict[str, list[str]]] = {}  # actions of each tool that were legal in some position, by game


@dataclass(frozen=True)
class Draft:
    """The turn that is being entered, as its seat sees it.

    Parameters
    ----------
    position : Position
        After its actions.
    is_ended : bool
        Whether they end the turn.
    reveals : bool
        Whether its last action uncovers something hidden.
    effects : sequence of str
        What each action costs and brings.
    words : sequence of str
        Each action in words.
    """

    position: Position
    is_ended: bool = False
    reveals: bool = False
    effects: Sequence[str] = ()
    words: Sequence[str] = ()


def play_draft(position: Position, actions: list[str], seat: int) -> Draft:
    """Return the turn that a seat enters; `position`, its view before the first action, is changed."""
    kind = registry.get(position.game)
    started, spends = position.state.turn, kind.reasons.spends
    before, scores = position.to_json(), position.scores
    effects: list[str] = []
    words: list[str] = []
    for index, action in enumerate(actions):
        if index and position.state.turn != started:
            raise IllegalActionError(
                f"actions[{index}]: {quote(action)} comes after the end of the turn; expected no more",
                reason="TURN_ALREADY_ENDED",
                path=f"actions[{index}]",
            )
        try:
            position.push_action(action)
        except MexicaAIError as error:
            if error.reason in UNCOVERS and index == len(actions) - 1:
                effects.append(kind.clicks.gain(before, action, functools.partial(dict, before)).words)
                words.append(kind.words.tell([action], before, before) or action)
                return Draft(position, True, True, effects, words)
            error.action_index = index
            raise
        after = position.to_json()
        cost = cost_text(spent(before, after, seat, spends, position.state.turn != started))
        brings = kind.clicks.gain(before, action, functools.partial(dict, after)).words
        scored = [new - old for new, old in zip(position.scores, scores, strict=True)]
        points = [
            f"{points:+g}" if other == seat else f"seat {other} {points:+g}"
            for other, points in enumerate(scored)
            if points and not (brings and other == seat)
        ]
        told = kind.words.tell([action], before, after) or action
        is_told = not brings or brings in told
        effects.append(", ".join([cost] * bool(cost) + [brings] * (not is_told) + points))
        words.append(told)
        before, scores = after, position.scores
    is_ended = bool(actions) and (position.is_over or position.state.turn != started)
    goes_on = position.is_chance and before.get("to_move") == seat
    return Draft(position, is_ended, is_ended and goes_on, effects, words)


def ending_of(kind: Game, draft: Draft) -> str | None:
    """Return the action that only ends a turn, None if there is none."""
    fields, started = draft.position.to_json(), draft.position.state.turn
    for action in draft.position.legal_actions():
        entry = kind.picture.entry(action, fields)
        if entry.tool not in ENDS or entry.targets:
            continue
        trial = draft.position.copy()
        try:
            trial.push_action(action)
        except PositionError as error:
            if error.reason in UNCOVERS:
                return action
            raise
        if trial.state.turn != started or trial.is_over:
            return action
    return None


def entries_of(position: Position) -> list[EntryJson]:
    """Return the legal actions, each with its tool, its targets, its cost and what it brings; the best come first."""
    samples = _samples(position.game)
    found = []
    for detail, gain in zip(position.legal_details(), gains_of(position), strict=True):
        entry = detail.entry
        _keep_sample(samples, entry.tool, detail.action)
        one: EntryJson = {
            "action": detail.action,
            "tool": entry.tool,
            "targets": list(entry.paths),
            "cost": cost_text(detail.costs),
            "brings": gain.words,
        }
        if gain.is_empty:
            one["is_empty"] = True
        found.append((gain.is_empty, -gain.worth, one))
    return [one for *_, one in sorted(found, key=lambda each: each[:2])]


def walks_json(position: Position) -> list[WalkJson]:
    """Return the walks of several actions, in the form of entries with `actions`."""
    return [
        {"actions": walk.actions, "tool": walk.entry.tool, "targets": list(walk.entry.paths), "cost": walk.cost}
        for walk in walks_of(position)
    ]


def why_not_ended(kind: Game, position: Position) -> str:
    """Return why the turn cannot end; "" if there is nothing to say."""
    tools = {tool.name for tool in kind.picture.tools}
    for action in ENDS:
        try:
            why = kind.why_illegal(position.state, action) if action in tools else ""
        except MexicaAIError:
            continue  # the game has another action of this name
        if why:
            return kind.clicks.plain(why)
    return ""


def blocked_tools(kind: Game, position: Position, entries: list[EntryJson]) -> dict[str, str]:
    """Return why tools have no legal action: the reason of all samples of a tool, empty if they differ."""
    usable = {entry["tool"] for entry in entries}
    blocked = {}
    for tool in kind.picture.tools:
        if tool.name not in usable:
            samples = _samples(kind.name).get(tool.name, [])
            if len(samples) == 1 and " " in samples[0]:
                samples = []  # only its place may be wrong
            reasons = {kind.clicks.plain(kind.why_illegal(position.state, action)) for action in samples}
            blocked[tool.name] = reasons.pop() if len(reasons) == 1 else ""
    return blocked


def _samples(game: str) -> dict[str, list[str]]:
    return _SAMPLES.setdefault(game, {})


def _keep_sample(samples: dict[str, list[str]], tool: str, action: str) -> None:
    known = samples.setdefault(tool, [])
    if len(known) < NUM_SAMPLES and action not in known:
        known.append(action)


def learn_samples(record: JsonObject) -> None:
    """Learn actions of each tool from a game that was played, so that the page can say why a tool has none."""
    position = Position.from_json(record["start"])
    kind, samples = registry.get(position.game), _samples(position.game)
    for turn in record["turns"]:
        for action in turn:
            if not position.is_chance:
                _keep_sample(samples, kind.picture.entry(action, position.to_json()).tool, action)
            position.push_action(action)

"""Positions of a game in the view of a seat, also in side lines, and their pictures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from mexica_ai.game.position import Position
from mexica_ai.game.steps import known_steps
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.table.seats import names_of
from mexica_ai.web import boards
from mexica_ai.web.errors import ApiError
from mexica_ai.web.turn_entry import ENDS

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

_TEXT = re.compile(r">[^<>]+<")
_SEAT = re.compile(r"\bseat (\d)\b", re.IGNORECASE)
_LONGEST = 15  # characters of a name in a picture


def position_of(game: Game, number: int, viewer: int | None, line: list[list[str]], draft: list[str]) -> Position:
    """Return the position before a turn, after the turns of a side line and the actions of a draft, in a seat's view.

    Random events that the line leaves out are drawn with a fixed seed.
    """
    position = game.view_of(game.at(number), viewer)
    for turn in line:
        play_on(game, position, turn, number)
    if draft:
        settle(game, position, number)
        position.push(draft, partial=True)
    return position


def playable(game: Game, position: Position, number: int, turns: list[list[str]]) -> list[list[str]]:
    """Return the turns up to the first that is not legal after `position_of`.

    A search does not see the hands of others, so the viewer may know that its expected turns are impossible.
    """
    position = position.copy()
    for index, turn in enumerate(turns):
        try:
            play_on(game, position, turn, number)
        except MexicaAIError:
            return turns[:index]
    return turns


def play_on(game: Game, position: Position, turn: list[str], number: int) -> Position:
    """Play a turn of a side line; random events that it leaves out are drawn first. Return the position before it."""
    _settle_before(game, position, turn, number)
    before = position.copy()
    position.push(turn)
    return before


def with_events(game: Game, position: Position, turns: list[list[str]], number: int) -> list[list[str]]:
    """Return turns from a position on with the random events that they leave out, as `play_on` draws them.

    Raises
    ------
    MexicaAIError
        One of them is not legal.
    """
    position, whole = position.copy(), []
    known = len(position.history)
    for turn in turns:
        play_on(game, position, turn, number)
        whole += [list(one) for one in position.history[known:]]
        known = len(position.history)
    return whole


def settle(game: Game, position: Position, number: int) -> None:
    """Draw the random events that are due on a side line that leaves a game after `number` turns, always the same."""
    seed = int.from_bytes(hashlib.sha256(f"{game.id} {number}".encode()).digest()[:7])
    while position.is_chance:
        position.draw(seed)


def _settle_before(game: Game, position: Position, turn: list[str], number: int) -> None:
    """Draw the random events that are due, unless a turn is the first of them."""
    if position.is_chance:
        try:
            position.copy().push(turn)
        except MexicaAIError:
            settle(game, position, number)


def picture(
    game: Game,
    number: int,
    part: str,
    viewer: int | None,
    *,
    with_turn: bool = False,
    count: int | None = None,
    since: int = 0,
    line: Sequence[list[str]] = (),
    actions: Sequence[str] = (),
    theme: str = "page",
) -> str:
    """Return a picture of the position before a turn.

    Parameters
    ----------
    number : int
        Index of the turn.
    part : str
        One of the game's parts, several joined by ``+``, or all.
    viewer : int or None
        The seat that `visibility.viewer_for` returns.
    with_turn : bool
        Show the position after the turn that was played, with its marks.
    count : int, optional
        After so many of its actions; by default all.
    since : int
        Show the position after so many turns that were played, as it is then, with the marks of the first.
    line, actions : list
        Turns of a side line from there, and actions that are marked.
    theme : str
        page, light or dark.
    """
    parts = list(boards.parts_of(game.kind))
    chosen = parts if part == "all" else part.split("+")
    if not set(chosen) <= set(parts):
        raise ApiError(404, "NO_PART", f"no part {quote(part)}; expected all or some of {'+'.join(parts)}")
    base, steps = steps_of(
        game, number, viewer, with_turn=with_turn, count=count, since=since, line=line, actions=actions
    )
    svg = boards.draw(
        game.kind,
        base.to_json(),
        viewer=base.viewer,
        turn=steps,
        theme=theme,
        targets=theme == "page",
        parts=chosen,
    )
    return with_names(svg, game)


def steps_of(
    game: Game,
    number: int,
    viewer: int | None,
    *,
    with_turn: bool = False,
    count: int | None = None,
    since: int = 0,
    line: Sequence[list[str]] = (),
    actions: Sequence[str] = (),
) -> tuple[Position, list[tuple[str, JsonObject]]]:
    """Return the position at which a picture begins, and the actions that it marks with the position after each.

    The parameters are those of `picture`.
    """
    if since:
        base = game.view_of(game.at(number), viewer)
        now = game.view_of(game.at(number + since), viewer).to_json()
        steps = _played_steps(game, number, viewer)
        while len(steps) > 1 and game.kind.picture.entry(steps[-1][0], steps[-2][1]).tool in ENDS:
            steps.pop()
        steps[-1] = (steps[-1][0], now)
    elif with_turn:
        base = game.view_of(game.at(number), viewer)
        game.at(number + 1)
        steps = _played_steps(game, number, viewer)[:count]
    else:
        base = position_of(game, number, viewer, list(line), [])
        steps = []
        if actions:
            _settle_before(game, base, list(actions), number)
            steps = [(step.action, step.position.to_json()) for step in known_steps(base, list(actions))]
    return base, steps


def with_names(svg: str, game: Game) -> str:
    """Return a picture with the names of a game's seats, which it counts from 0."""
    names = names_of(game.seats)

    def name_of(found: re.Match[str]) -> str:
        name = names[int(found[1])] if int(found[1]) < len(names) else found[0]
        return escape(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")

    return _TEXT.sub(lambda text: _SEAT.sub(name_of, text[0]), svg)


def _played_steps(game: Game, number: int, viewer: int | None) -> list[tuple[str, JsonObject]]:
    position = game.positions[number].copy()
    steps = []
    for action, seen in zip(game.turns[number], game.seen_turns(viewer)[number], strict=True):
        position.push_action(action)
        steps.append((seen, game.view_of(position, viewer).to_json()))
    return steps

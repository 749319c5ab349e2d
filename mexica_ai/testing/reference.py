"""Two implementations of one game in lockstep: a compiled one, and a slow one that is easy to get right."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from cext.core.contract.game import CHANCE, State
from mexica_ai.game.contract import Game
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.testing.case import SEED


def check_reference(
    game: Game, reference: Game, starts: Sequence[State] | None = None, *, seed: int = SEED, games: int = 20
) -> None:
    """Play random games with two implementations at once, and compare all that they say.

    Each game begins in a position that both read from the same JSON; so both have the same form. Compared are the seat
    to move, the legal actions as text, the position, where a turn ends, the scores and the result.

    Parameters
    ----------
    game, reference : Game
        The one that is checked, and the one that is trusted; such as one of `mexica_ai.pure`.
    starts : sequence of State, optional
        Of `game`, as the other checks take them.
    seed : int
    games : int
        Random games from each start.

    Raises
    ------
    AssertionError
        They differ; the message says in what, after which actions.
    """
    if starts is None:
        seats = range(2, min(game.rules.max_players, reference.rules.max_players) + 1)
        starts = [game.starts.new_state(players, seed + players) for players in seats]
    for number, start in enumerate(starts):
        for index in range(games):
            _play(game, reference, start, random.Random(f"{seed} {number} {index}"))


def _play(game: Game, reference: Game, start: State, rng: random.Random) -> None:
    """Play one game."""
    played: list[str] = []
    begin = json.dumps(game.text.format_position(start))
    one = start.copy()
    try:
        other = reference.text.parse_position(json.loads(begin))
    except MexicaAIError as error:
        raise AssertionError(f"{game.name}: the reference does not read {begin}: {error}") from error
    while True:
        for what, mine, expected in _compared(game, reference, one, other):
            if mine != expected:
                after = "; ".join(played) or "no action"
                raise AssertionError(
                    f"{game.name}: {what} {mine}; the reference says {expected}; after {after} from {begin}"
                )
        if one.is_terminal:
            return
        if one.current_player == CHANCE:
            text = game.text.format_action(game.draw_outcome(one, rng.getrandbits(63)))
        else:
            text = game.text.format_action(rng.choice(one.legal_actions()))
        turns = one.turn, other.turn
        for each, state in ((game, one), (reference, other)):
            try:
                state.apply(each.text.parse_action(text))
            except MexicaAIError as error:
                who = "the reference refuses" if each is reference else "refuses its own"
                raise AssertionError(
                    f"{game.name}: {who} {text}: {error}; after {'; '.join(played)} from {begin}"
                ) from error
        played.append(text)
        if (one.turn == turns[0]) != (other.turn == turns[1]):
            ends = "ends" if one.turn != turns[0] else "does not end"
            raise AssertionError(f"{game.name}: {text} {ends} the turn; the reference says otherwise; after {played}")


def _compared(game: Game, reference: Game, one: State, other: State) -> list[tuple[str, Any, Any]]:
    """Return what is compared of two states: what it is, of the game, of the reference."""
    found: list[tuple[str, Any, Any]] = [("the seat to move is", one.current_player, other.current_player)]
    fields = [
        json.loads(json.dumps(each.text.format_position(state))) for each, state in ((game, one), (reference, other))
    ]
    for key in {**fields[0], **fields[1]}:
        if key != "version":
            found.append((f"{key} is", fields[0].get(key, "missing"), fields[1].get(key, "missing")))
    found.append(("the legal actions are", _legal(game, one), _legal(reference, other)))
    found.append(("the scores are", one.scores(), other.scores()))
    if one.is_terminal and other.is_terminal:
        found.append(("the result is", _rounded(one.returns()), _rounded(other.returns())))
    return found


def _rounded(shares: Sequence[float]) -> list[float]:
    return [round(share, 9) for share in shares]


def _legal(game: Game, state: State) -> list[str]:
    return sorted(map(game.text.format_action, state.legal_actions()))

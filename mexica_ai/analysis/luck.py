"""What the random events of a game were worth, and which part of its result is due to them.

An event's worth is the evaluation of the position after it, less the mean evaluation over outcomes drawn anew from the
same position. Before the event nobody can tell the actual outcome from those draws, so the expected worth is 0,
whatever the evaluation says: a better evaluation only makes it tell more. This is the chance part of AIVAT (Burch,
Schmid, Moravcik, Morrill, Bowling, "AIVAT: a new variance reduction technique for agent evaluation in imperfect
information games", AAAI 2018), earlier known as the advantage sum and MIVAT. AIVAT's other part needs the
probabilities with which the players choose; engines do not tell them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from cext.core.baselines.simple import evaluate
from cext.core.contract.game import CHANCE, State
from cext.core.learning.weights import Weights
from mexica_ai.game import registry
from mexica_ai.game.contract import Game
from mexica_ai.game.position import Position
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.io.errors import PositionError

NUM_DRAWS = 64  # outcomes drawn anew for each event; they add 1/64 to the variance of an event's worth
_STREAM = 0x6C75636B  # of seeds, so that no seed of a game is used here


@dataclass(frozen=True)
class EventWorth:
    """What a random event of a game was worth.

    Parameters
    ----------
    turn_index : int
        Index, from 0, of the event in the record's turns; of the turn that led to it, if the record does not contain
        the event.
    event : list of str
        The outcome as in the record; empty if the record does not contain it.
    worth : list of float
        For each seat, the share of the win that the outcome brought it against the mean of all outcomes: above 0 is
        luck. Sums to 0.
    """

    turn_index: int
    event: list[str]
    worth: list[float]

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object whose keys are the attributes' names."""
        return asdict(self)


def events_of(record: dict[str, Any], *, draws: int = NUM_DRAWS) -> list[EventWorth]:
    """Return what each random event of a played game was worth.

    The evaluation is that of the weights that ship with the game, of the full position: it is fixed before any game
    is seen.

    Parameters
    ----------
    record : dict
        A record that `mexica_ai.analysis.annotate.check_played` accepts.
    draws : int
        Number of outcomes drawn anew for each event, at least 1.

    Returns
    -------
    list of EventWorth
        In the order of the game. The same record has the same list.

    Raises
    ------
    PositionError
        The record begins with a seat's view: what the others hold is not known. Reason NOT_FULL.
    """
    position = Position.from_json(record["start"])
    if position.viewer is not None:
        raise PositionError(
            f"start: given the view of {viewer_name(position.viewer)}; expected a full position, since what an event "
            "is worth depends on what all seats hold",
            reason="NOT_FULL",
            path="start",
        )
    game = registry.get(position.game)
    weights = game.weights()
    events = []
    for index, turn in enumerate(record["turns"]):
        is_event = position.is_chance
        before = position.state.copy() if is_event else _state_after(game, position.state, turn)
        position.push(turn)
        if before.current_player == CHANCE and not position.is_chance:
            worth = _worth(before, position.state, weights, not is_event, draws, index)
            events.append(EventWorth(index, list(turn) if is_event else [], worth))
    return events


def events_in(record: dict[str, Any]) -> list[EventWorth]:
    """Return what the random events of a played game were worth: as the record says, else by `events_of`.

    None of a record that begins with a seat's view.
    """
    known = record.get("evaluations", {}).get("events")
    if known:
        return [EventWorth(**entry) for entry in known]
    if Position.from_json(record["start"]).viewer is not None:
        return []
    return events_of(record)


def total_worth(events: Sequence[EventWorth], players: int) -> list[float]:
    """Return, for each seat, what all events together were worth."""
    return [float(sum(event.worth[seat] for event in events)) for seat in range(players)]


def _state_after(game: Game, state: State, turn: Sequence[str]) -> State:
    """Return the state after a legal turn, before the event that may follow it."""
    state = state.copy()
    for action in turn:
        state.apply(game.text.parse_action(action))
    return state


def _worth(before: State, after: State, weights: Weights | None, settled: bool, draws: int, index: int) -> list[float]:
    """Return what an event was worth; `settled`: the position had determined its outcome, hidden from all seats."""
    seeds = SeedSequence([_STREAM, index]).generate_state(draws, np.uint64) >> np.uint64(1)
    mean = np.zeros(before.num_players)
    for seed in map(int, seeds):
        state = before.copy()
        if settled:
            state.determinize(0, seed)  # the same for any seat
        state.resolve_chance(seed)
        mean += np.array(evaluate(state, weights=weights)[0]) / draws
    worth: list[float] = (np.array(evaluate(after, weights=weights)[0]) - mean).tolist()
    return worth

"""The account of a game: how each seat came from its first share of the win to its result, by turns and by luck.

The shares published before the turns are the steps. What lies between two of them belongs to the turn, but for what
the random events in between were worth (`mexica_ai.analysis.luck`). So turns and luck add up to the result exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation, replay_played, seat_turns
from mexica_ai.analysis.luck import EventWorth


@dataclass(frozen=True)
class SeatAccount:
    """How one seat came to its result; all are shares of the win.

    ``start + own_turns + others_turns + luck`` is `result`, but for rounding of the last binary digit.

    Parameters
    ----------
    seat : int
    start : float
        The share published before the first turn, in [0, 1].
    own_turns : float
        What its own turns changed. A turn that is as good as expected changes nothing; what it changes beyond its loss
        is what the search had not seen before.
    others_turns : float
        What the turns of the others changed.
    luck : float
        What the random events after the first turn were worth to it.
    result : float
        Its share of the win; in a game that is not over, the share published after the last turn.
    """

    seat: int
    start: float
    own_turns: float
    others_turns: float
    luck: float
    result: float

    def to_json(self) -> dict[str, Any]:
        """Return the account as a JSON object whose keys are the attributes' names."""
        return asdict(self)


def accounts_of(
    record: dict[str, Any], evaluations: Sequence[TurnEvaluation], events: Sequence[EventWorth]
) -> list[SeatAccount]:
    """Return the account of each seat; none if a turn of the game has no evaluation.

    Parameters
    ----------
    record : dict
        A record that `check_played` accepts.
    evaluations : sequence of TurnEvaluation
        Of its turns, in order.
    events : sequence of EventWorth
        Of all its random events, as `events_of` returns them.
    """
    turns = seat_turns(record)
    if not turns or [one.turn_index for one in evaluations] != turns:
        return []
    gains = turn_gains(record, evaluations, events)
    counted = [event for event in events if event.turn_index >= turns[0]]
    end = _end(record, evaluations)
    accounts = []
    for seat, result in enumerate(end):
        own = sum(gain[seat] for one, gain in zip(evaluations, gains, strict=True) if one.seat == seat)
        others = sum(gain[seat] for one, gain in zip(evaluations, gains, strict=True) if one.seat != seat)
        luck = sum(event.worth[seat] for event in counted)
        accounts.append(SeatAccount(seat, evaluations[0].before[seat], own, others, luck, result))
    return accounts


def turn_gains(
    record: dict[str, Any], evaluations: Sequence[TurnEvaluation], events: Sequence[EventWorth]
) -> list[list[float]]:
    """Return what each turn changed for each seat, without the luck of the events up to the next turn."""
    ends = [*(one.before for one in evaluations[1:]), _end(record, evaluations)]
    lasts = [*(one.turn_index for one in evaluations[1:]), len(record["turns"])]
    gains = []
    for one, end, last in zip(evaluations, ends, lasts, strict=True):
        between = [event.worth for event in events if one.turn_index <= event.turn_index < last]
        gains.append([end[seat] - one.before[seat] - sum(worth[seat] for worth in between) for seat in range(len(end))])
    return gains


def _end(record: dict[str, Any], evaluations: Sequence[TurnEvaluation]) -> list[float]:
    position = replay_played(record)
    return position.state.returns() if position.is_over else evaluations[-1].after


def describe_accounts(accounts: Sequence[SeatAccount]) -> list[str]:
    """Return one line for each seat, in percentage points of the win."""
    return [
        f"seat {one.seat}: from {one.start:.1%} to {one.result:.1%}: own turns {100 * one.own_turns:+.1f}, "
        f"others' turns {100 * one.others_turns:+.1f}, luck {100 * one.luck:+.1f}"
        for one in accounts
    ]


def describe_event(event: EventWorth) -> str:
    """Return what an event was worth to each seat, in percentage points of the win."""
    worths = ", ".join(f"seat {seat} {100 * worth:+.1f}" for seat, worth in enumerate(event.worth))
    return f"luck: {worths}"

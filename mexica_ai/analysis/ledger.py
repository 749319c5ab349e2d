"""The account of a game: how each seat came from its first share of the win to its result, by turns and by luck.

The shares published before the turns are the steps. What lies between two of them belongs to the turn, but for what
the random events in between were worth (`mexica_ai.analysis.luck`). So turns and luck add up to the result exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation, replay_played, seat_turns
from mexica_ai.analysis.luck import EventWorth
from mexica_ai.game.position import Position


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
    """Return the account of each seat; none if a turn has no evaluation, or if the record begins with a seat's view.

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
    has_all = [one.turn_index for one in evaluations] == turns
    if not turns or not has_all or Position.from_json(record["start"]).viewer is not None:
        return []
    final, last_turn = replay_played(record), evaluations[-1]
    # In a game that is not over, the share after its last turn knows no event after it.
    until = len(record["turns"]) if final.is_over else last_turn.turn_index
    counted = [event for event in events if turns[0] <= event.turn_index < until]
    end = final.state.returns() if final.is_over else last_turn.after
    gains = _turn_gains(evaluations, counted, end)
    accounts = []
    for seat, result in enumerate(end):
        own = sum(gain[seat] for one, gain in zip(evaluations, gains, strict=True) if one.seat == seat)
        others = sum(gain[seat] for one, gain in zip(evaluations, gains, strict=True) if one.seat != seat)
        luck = sum(event.worth[seat] for event in counted)
        accounts.append(SeatAccount(seat, evaluations[0].before[seat], own, others, luck, result))
    return accounts


def _turn_gains(
    evaluations: Sequence[TurnEvaluation], events: Sequence[EventWorth], end: Sequence[float]
) -> list[list[float]]:
    """Return what each turn changed for each seat, without the luck of the events up to the next turn."""
    ends = [*(one.before for one in evaluations[1:]), end]
    lasts = [*(one.turn_index for one in evaluations[1:]), math.inf]
    gains = []
    for one, after, last in zip(evaluations, ends, lasts, strict=True):
        between = [event.worth for event in events if one.turn_index <= event.turn_index < last]
        gains.append(
            [after[seat] - one.before[seat] - sum(worth[seat] for worth in between) for seat in range(len(end))]
        )
    return gains


def describe_accounts(accounts: Sequence[SeatAccount]) -> list[str]:
    """Return one line for each seat, in percentage points of the win."""
    return [
        f"seat {one.seat}: from {one.start:.1%} to {one.result:.1%}: own turns {_points(one.own_turns)}, "
        f"others' turns {_points(one.others_turns)}, luck {_points(one.luck)}"
        for one in accounts
    ]


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+.1f}"

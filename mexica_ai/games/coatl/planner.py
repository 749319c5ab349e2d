"""A sparring partner of another style than the search: Coatl's `Learning.planner`.

The search races: it closes small Coatls when that wins. This player hardly minds its rivals. It takes the turn after
which it expects most points for itself at the end, so it builds long and closes for many points. A *temper* adds some
likings: how late it closes, how much it wants a long Coatl, prophecies, and plans for many points, and how much it
minds who wins. Every number is another temper, and 0 is the one in the middle.

A turn is found by a small beam search over its actions with the weights in use.

Main function: `plan_turn`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from cext.core.baselines.simple import evaluate
from cext.core.contract.game import State
from cext.core.learning.weights import Weights
from cext.games.coatl import weights as features
from cext.games.coatl.spec import SPEC

WIDTH = 6  # states within the turn that the beam keeps


@dataclass(frozen=True)
class Temper:
    """What a planner likes besides its own points, in points.

    Attributes
    ----------
    win : float
        A sure win.
    late : float
        Each Coatl that is not closed.
    length : float
        Each piece of its longest unfinished Coatl.
    cards : float
        Each prophecy in hand.
    plan : float
        Each point of its plans (``cext/games/coatl/plans.pxd``).
    """

    win: float = 15.0
    late: float = 0.0
    length: float = 0.1
    cards: float = -0.2
    plan: float = 0.0


def temper_of(number: int) -> Temper:
    """Return the temper with a number; 0 is the one in the middle."""
    if number == 0:
        return Temper()
    random_ = random.Random(f"temper {number}")
    return Temper(
        win=random_.uniform(8, 30),
        late=random_.uniform(0, 2),
        length=random_.uniform(0, 0.4),
        cards=random_.uniform(-0.5, 0.2),
        plan=random_.uniform(0, 0.1),
    )


def plan_turn(state: State, weights: Weights | None, temper: int) -> list[int]:
    """Return the actions of a turn.

    Parameters
    ----------
    state : State
        Of Coatl; a seat must be to move. Not changed. What it hides is used as it is: call `State.determinize` first.
    weights : Weights
        Of Coatl.
    temper : int
        Number of the temper, at least 0.
    """
    liking = temper_of(temper)
    seat, turn = state.current_player, state.turn
    kept: list[tuple[float, list[int], State]] = [(0.0, [], state)]
    ends: list[tuple[float, list[int]]] = []
    while kept:
        found: dict[int, tuple[float, list[int], State]] = {}  # by hash: each state once
        for _, actions, before in kept:
            for action in before.legal_actions():
                after = before.copy()
                after.apply(action)
                worth = _worth(after, seat, weights, liking)
                if after.turn != turn:
                    ends.append((worth, [*actions, action]))
                else:
                    found.setdefault(after.hash, (worth, [*actions, action], after))
        kept = sorted(found.values(), key=lambda entry: -entry[0])[:WIDTH]
    return max(ends, key=lambda end: end[0])[1]


def _worth(state: State, seat: int, weights: Weights | None, liking: Temper) -> float:
    """Return what a position is worth to a seat, in points."""
    shares, points = evaluate(state, weights=weights)
    worth = points[seat] + liking.win * shares[seat]
    if state.is_terminal:
        return worth
    own = SPEC.features(state)[seat]  # scaled; the factors undo that
    likings = (
        liking.length * 10 * own[features.OWN_LONGEST]
        + liking.cards * 5 * own[features.OWN_CARDS]
        + liking.plan * 25 * own[features.OWN_PLAN_CHOSEN]
        - liking.late * 3 * own[features.OWN_CLOSED]
    )
    return worth + float(likings)

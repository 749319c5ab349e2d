"""Cases of recorded games: positions in which a seat can bring about the end, with turns that were rolled out.

They show whether an engine ends a game that it wins, and lets no rival end one that it loses. One case of a record:
the seat to move can end the game with its turn, or only a rival can with its next one; both are alike likely. In the
rollouts seats hold what they held in the record, since uniform deals expect too little of rivals. Greedy turns play
them, to the end. A case keeps the means of its even and of its odd rollouts only, so that files are small.

Main function: `make`. For games whose positions tell that the end has begun (`ending` of Coatl).
"""

import dataclasses
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rollouts
from rollouts import Sizes

from cext.core.contract.game import CHANCE, State
from cext.core.learning.weights import Weights
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import SearchError

TO_THE_END = 1000  # as a depth: no outlook but the outcome
MAX_STATES = 3000  # within a turn, in which an end of the game is looked for


def sizes(*, search: int, top: int, count: int) -> Sizes:
    """Return sizes of cases with `count` rollouts of a turn."""
    return Sizes(
        search=search,
        top=top,
        iterations=0,
        depth=TO_THE_END,
        rollouts=count,
        finished=count,
        dealt=0,
        pooled=1,
    )


def make(
    path: Path,
    records: Sequence[dict[str, Any]],
    *,
    every: int,
    positions: int,
    sizes: Sizes,
    weights: Weights | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Make cases of every `every`th record, one of each, until a file holds enough; see `make_case`.

    Raises
    ------
    SearchError
        The file holds cases of other sizes or by other weights (reason INVALID_RECORDS).
    """
    game = records[0]["game"]
    weights = weights_for(game, weights)
    found = rollouts.read(path, game) if path.exists() else []
    made = {"seed": 0, "weights": weights.version, **dataclasses.asdict(sizes)}
    for case in found:
        if given := [key for key in made if case["case"][key] != made[key]]:
            wrong = ", ".join(f"{key} {case['case'][key]}" for key in given)
            problem = f"{path} holds cases of {wrong}; expected the same settings, or another file"
            raise SearchError(problem, reason="INVALID_RECORDS")
    known = {case["case"]["number"] for case in found}
    for number in range(0, len(records), every):
        if len(found) >= positions:
            break
        if number not in known and (case := make_case(records[number], number, sizes, weights)):
            found.append(case)
            rollouts.write(path, found)
            on_progress(len(found))


def make_case(
    record: dict[str, Any], number: int, sizes: Sizes, weights: Weights | None = None
) -> dict[str, Any] | None:
    """Make one case of a position of a recorded game in which a seat can bring about the end, and roll out its turns.

    The seat to move can end the game with its turn, or only a rival can with its next one; both are alike likely. The
    turns are those of the larger search and the recorded one, and among them the most visited that ends the game and
    the most visited that does not. Other parameters and the result: `rollouts.make_case`.

    Returns
    -------
    dict or None
        None if the record has no such position.
    """
    game = record["game"]
    weights = weights_for(game, weights)
    random_ = random.Random(f"{number}")
    by_itself, by_rival = _before_the_end(record)
    kinds = [kind for kind in (by_itself, by_rival) if kind]
    if not kinds:
        return None
    place = random_.choice(random_.choice(kinds))
    state = position_at(record, place).state
    result = rollouts.search(state, sizes.search, random_.getrandbits(63), weights).result(rollouts.MAX_CANDIDATES)
    found = [candidate["actions"] for candidate in result["candidates"]]
    played = [registry.get(game).text.parse_action(action) for action in record["turns"][place]]
    ending = [actions for actions in found if _is_ending(rollouts.after(state, actions))]
    others = [actions for actions in found if not _is_ending(rollouts.after(state, actions))]
    turns = {}
    for actions in [*found[: sizes.top], played, *ending[:1], *others[:1]]:
        turns.setdefault(rollouts.after(state, actions).hash, actions)
    return rollouts.new_case(state, turns.values(), 0, number, sizes, weights)


def _before_the_end(record: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Return the places in a record at which the seat to move can end the game, and at which only a rival can next."""
    able, by_itself, by_rival = {}, [], []  # whether a seat could end the game at its last turn seen
    for place in range(len(record["turns"]) - 1, -1, -1):
        state = position_at(record, place).state
        if state.current_player == CHANCE or _is_ending(state):
            continue
        seat = state.current_player
        able[seat] = _can_end(state)
        if able[seat]:
            by_itself.append(place)
        elif any(able.values()):
            by_rival.append(place)
        elif len(able) == state.num_players:
            break
    return by_itself, by_rival


def _can_end(state: State) -> bool:
    """Return whether a turn of the seat to move brings about the end, after at most `MAX_STATES` states of the turn."""
    seen, waiting = set(), [state]
    while waiting and len(seen) < MAX_STATES:
        now = waiting.pop()
        for action in now.legal_actions():
            after = now.copy()
            after.apply(action)
            if _is_ending(after):
                return True
            if after.turn == state.turn and after.hash not in seen:
                seen.add(after.hash)
                waiting.append(after)
    return False


def _is_ending(state: State) -> bool:
    """Return whether the last turns are played."""
    return registry.get(state.game.name).text.format_position(state).get("ending") is not None

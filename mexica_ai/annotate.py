"""Going through a played game: what each turn was worth, and what the engine would have played."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mexica_ai.errors import NotationError, PositionError
from mexica_ai.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, DEFAULT_TIME_S, Limits, resolve_seed
from mexica_ai.position import Position
from mexica_ai.records import replay
from mexica_ai.results import Result
from mexica_ai.search import run_search
from mexica_ai.strict import parse_json, quote

NUM_CANDIDATES = 100  # of each search; the turn played is sought among them
FAIR_SHARE = 0.02  # of the choice's visits, from which on the value of a candidate can be compared with it


@dataclass(frozen=True)
class TurnEvaluation:
    """What the engine says of a turn that was played. All lists of numbers have one entry a seat.

    Parameters
    ----------
    turn_index : int
        Index of the turn in the record, from 0.
    seat : int
        Who played it.
    turn : list of str
        The turn, as in the record.
    before : list of float
        Expected share of the win before the turn, if the mover plays the engine's choice.
    after : list of float
        Expected share of the win after the turn, by a search of the position that it led to; the true share
        after a turn that ended the game.
    choice : list of str
        The engine's own turn; spelled as `turn` where both lead to the same position.
    choice_value : list of float
        Expected share of the win after the choice, by the search that chose it.
    loss : float
        The mover's share of the win that the turn gave away, not below 0; exactly 0 where the turn leads to
        the position of the choice. See `evaluate_record` for how it is measured.
    expected_scores_before, expected_scores_after : list of float
        Expected final scores, of the same searches as `before` and `after`.
    scores : list of float
        Points on the table after the turn.
    iterations : int
        Of the searches done for this turn. What was known from the turn before counts there.
    seconds : float
        Time of these searches.
    """

    turn_index: int
    seat: int
    turn: list[str]
    before: list[float]
    after: list[float]
    choice: list[str]
    choice_value: list[float]
    loss: float
    expected_scores_before: list[float]
    expected_scores_after: list[float]
    scores: list[float]
    iterations: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation as a JSON object, its keys named like the attributes."""
        return asdict(self)


def evaluate_record(
    record: dict[str, Any] | str | bytes,
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    threads: int = DEFAULT_THREADS,
    memory_mb: int = DEFAULT_MEMORY_MB,
    seed: int | None = None,
    stop: threading.Event | None = None,
    turns: Iterable[int] | None = None,
    search: Callable[..., Result] = run_search,
) -> Iterator[TurnEvaluation]:
    """Value the turns of a played game, each as soon as its searches are done.

    Every position of the game is searched once, with the same limits and from the seat to move, which is told
    no more than it may know. Everything is checked before the first search. What a turn before a random event
    was worth is measured after another outcome, drawn by chance: a turn is not to blame for its luck.

    A search thinks better of its own choice than the next search does, which looks for the best reply: by
    some 0.05 after a thousand iterations. So the loss is no difference of `choice_value` and `after`. It
    compares what one search says of both turns, where it looked at the turn played often enough
    (`FAIR_SHARE`), or else `after` with what a search of the position after the choice says, which is one
    search more. So n turns take n + 1 searches, and one for each turn that was hardly looked at.

    Parameters
    ----------
    record : dict, str or bytes
        The record of a finished or unfinished game, or its text. Where it says nothing of the outcome (no
        `termination`, `scores` and `winners` null), its turns may end anywhere.
    time_s : float, optional
        Seconds for each search; 1 if neither this nor `iterations` is given.
    iterations : int, optional
        Descents of each search.
    threads, memory_mb : int
        As in `mexica_ai.best_turn`.
    seed : int, optional
        Seed of each of the searches, so that `best_turn` repeats any of them.
    stop : threading.Event, optional
        Ends the evaluation when it is set. The turn being searched is dropped, as half a search says little.
    turns : iterable of int, optional
        Indices, from 0, of the turns to value, in any order; all by default. Random events among them are
        passed over.
    search : callable
        Searches in place of `mexica_ai.search.run_search`, with the same arguments and result.

    Yields
    ------
    TurnEvaluation
        In the order of the turns.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        Those of `mexica_ai.replay`; NotationError, reason OUT_OF_RANGE, for a turn that is not there.
    SearchError
        If a limit makes no sense.
    """
    if time_s is None and iterations is None:
        time_s = DEFAULT_TIME_S
    limits = Limits(time_s, iterations, memory_mb, threads)
    seed = resolve_seed(seed)
    if isinstance(record, (str, bytes)):
        record = parse_json(record, "$")
    check_played(record)
    played = [list(turn) for turn in record["turns"]]
    asked = _checked_indices(range(len(played)) if turns is None else turns, len(played))

    stop = stop or threading.Event()

    def search_position(position: Position) -> Result:
        if stop.is_set():
            raise _Stopped
        found = search(position, limits, seed=seed, candidates=NUM_CANDIDATES, stop=stop)
        if found.stop_reason == "stopped":
            raise _Stopped
        return found

    return _evaluate(Position.from_json(record["start"]), played, asked, search_position)


class _Stopped(Exception):  # noqa: N818
    pass


def check_played(record: object) -> None:
    """Raise the error of `mexica_ai.replay` if a record, as an object, cannot be replayed.

    Where it says nothing of the outcome (no `termination`, `scores` and `winners` null), its turns may end
    anywhere.
    """
    claims_nothing = (
        isinstance(record, dict)
        and "termination" not in record
        and record.get("scores", 0) is None
        and record.get("winners", 0) is None
    )
    if not claims_nothing:
        replay(record)
        return
    try:
        replay({**record, "termination": "unfinished"})
    except PositionError as error:
        if error.reason != "FINISHED":
            raise


def seat_turns(record: dict[str, Any]) -> list[int]:
    """Return the indices of the turns of a record that seats played: all but the random events.

    Parameters
    ----------
    record : dict
        One that `check_played` has passed.
    """
    position = Position.from_json(record["start"])
    played = []
    for index, turn in enumerate(record["turns"]):
        if not position.is_chance:
            played.append(index)
        position.push(turn)
    return played


def _checked_indices(turns, number):
    indices = set()
    for index in turns:
        if type(index) is not int or not 0 <= index < number:
            raise NotationError(
                f"turns: given {quote(index)}; expected indices from 0 to {number - 1}",
                reason="OUT_OF_RANGE",
                path="turns",
            )
        indices.add(index)
    return indices


def _evaluate(position, played, asked, search_position):
    known = None  # what is known of the position, where the turn before has asked for it
    for index, turn in enumerate(played[: max(asked, default=-1) + 1]):
        following = position.copy()
        following.push(turn)
        found = None
        if index in asked and not position.is_chance:
            try:
                evaluation, found = _evaluate_turn(index, turn, position, following, known, search_position)
            except _Stopped:
                return
            yield evaluation
        position, known = following, None if following.is_chance else found


def _evaluate_turn(index, turn, position, following, known, search_position):
    """Return the evaluation of a turn, and what is known now of the position after it."""
    done = []

    def value_of(place):
        """Return what is expected of a position: shares of the win, final scores, and the result if any."""
        place = _settled(place, index)
        if place.is_over:
            return place.state.returns(), place.state.scores(), None
        done.append(search_position(place))
        return done[-1].value, done[-1].expected_scores, done[-1]

    seat = position.to_move
    before = known
    if before is None:
        before = search_position(position)
        done.append(before)
    after, scores_after, found = value_of(following)
    chosen = _after(position, before.turn)
    is_choice = chosen == following
    loss = 0.0
    if not is_choice:
        same = _candidate(position, before, following)
        if same:
            loss = before.value[seat] - same.value[seat]
        elif before.value[seat] > after[seat]:
            loss = value_of(chosen)[0][seat] - after[seat]
    evaluation = TurnEvaluation(
        turn_index=index,
        seat=seat,
        turn=turn,
        before=before.value,
        after=after,
        choice=turn if is_choice else before.turn,
        choice_value=before.value,
        loss=max(0.0, loss),
        expected_scores_before=before.expected_scores,
        expected_scores_after=scores_after,
        scores=following.scores,
        iterations=sum(result.iterations for result in done),
        seconds=sum(result.seconds for result in done),
    )
    return evaluation, found


def _settled(position, seed):
    """Return the position after the random events that come first, if any."""
    position = position.copy()
    while position.is_chance:
        position.draw(seed)
    return position


def _candidate(position, result, following):
    """Return the candidate that leads to a position, if it was visited often enough to be compared."""
    most = max(candidate.visits for candidate in result.candidates)
    for candidate in result.candidates:
        if candidate.visits < FAIR_SHARE * most:
            continue
        if _after(position, candidate.turn) == following:
            return candidate
    return None


def _after(position, turn):
    position = position.copy()
    position.push(turn)
    return position

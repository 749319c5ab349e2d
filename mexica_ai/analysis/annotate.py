"""Evaluation of a played game: the loss of each turn, and the engine's choice in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mexica_ai.analysis.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, DEFAULT_TIME_S, Limits
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record, replay
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.strict import quote

NUM_CANDIDATES = 100  # candidates of each search; the played turn is looked up among them
DUBIOUS, BLUNDER = 0.05, 0.15  # least losses of turns marked ? and ??
NOTE = (
    "before: the mover's published share of the win by a search before its turn; after: that by a new search of the "
    "position after it. After the engine's own turns the two agree on average, but not each time, since the second "
    "search sees more. The loss is not their difference: it compares the turn with the engine's by the same search."
)
MIN_VISIT_SHARE = 0.02  # of the choice's visits; the value of a candidate with fewer is too uncertain to compare


@dataclass(frozen=True)
class TurnEvaluation:
    """The engine's evaluation of one played turn. All lists of numbers have one entry per seat.

    Parameters
    ----------
    turn_index : int
        Index of the turn in the record, from 0.
    seat : int
        The seat that played it.
    turn : list of str
        The turn, as in the record.
    before : list of float
        Published share of the win by the search before the turn, whose seat to move plays the engine's choice.
    after : list of float
        Published share of the win by an independent search of the position that the turn led to; the true share
        if the turn ended the game.
    choice : list of str
        The engine's own turn; spelled like `turn` if both lead to the same position.
    choice_value : list of float
        Expected share of the win after the choice, from the search that chose it.
    loss : float
        The share of the win, in [0, 1], that the seat gave away by the turn; exactly 0 if the turn leads to
        the same position as the choice. See `evaluate_record` for how it is measured.
    expected_scores_before, expected_scores_after : list of float
        Expected final scores, of the same searches as `before` and `after`.
    scores : list of float
        Points on the table after the turn.
    iterations : int
        Iterations of the searches run for this turn. A search that the turn before already ran counts there.
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
        """Return the evaluation as a JSON object whose keys are the attributes' names."""
        return asdict(self)


def mark_of(loss: float) -> str:
    """Return the mark of a turn with a loss: ??, ? or none."""
    return "??" if loss >= BLUNDER else "?" if loss >= DUBIOUS else ""


def recorded_evaluations(record: dict[str, Any]) -> list[TurnEvaluation]:
    """Return the evaluations that a record holds, in the order of the turns; none if it has none.

    Parameters
    ----------
    record : dict
        A record that `check_played` or `mexica_ai.game.records.check_record` accepts.
    """
    return [TurnEvaluation(**entry) for entry in record.get("evaluations", {}).get("turns", ())]


def with_evaluations(
    record: dict[str, Any],
    evaluations: Iterable[TurnEvaluation],
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    build: str | None = None,
) -> dict[str, Any]:
    """Return a copy of a record with evaluations of its turns added; those of other turns stay.

    Parameters
    ----------
    record : dict
    evaluations : iterable of TurnEvaluation
        In the order of the turns.
    time_s, iterations, seed
        Limits and seed of each search, if they are known.
    build : str, optional
        The version of the program that searched.
    """
    settings = {"time_s": time_s, "iterations": iterations, "seed": seed}
    by_turn = {one.turn_index: one for one in [*recorded_evaluations(record), *evaluations]}
    turns = [one.to_json() for _, one in sorted(by_turn.items())]
    return record | {"evaluations": ({"build": build} if build else {}) | settings | {"turns": turns}}


def evaluate_record(
    record: dict[str, Any] | str | bytes,
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    threads: int = DEFAULT_THREADS,
    memory_mb: int = DEFAULT_MEMORY_MB,
    seed: int | None = None,
    stop: Stop | None = None,
    turns: Iterable[int] | None = None,
    search: Callable[[Position, SearchSettings, Stop], Result] | None = None,
) -> Iterator[TurnEvaluation]:
    """Evaluate the turns of a played game; yield each evaluation as soon as its searches are done.

    Each position of the game is searched once, with the same limits, from the view of the seat to move. All
    input is checked before the first search. A turn followed by a random event is evaluated after another,
    newly drawn outcome of that event, so that luck does not count for or against the turn.

    `before` and `after` are one measure, the published shares of two searches: after the engine's own turns they
    agree on average. They differ from turn to turn, since the second search looks at the replies anew. So the loss
    is not `choice_value` minus `after`. If the search visited
    the played turn often enough (`MIN_VISIT_SHARE`), the loss is the difference of the two values that this
    search found. Otherwise one more search values the position after the choice, and the loss is the
    difference to `after`. So n turns take n + 1 searches, and one more for each turn with few visits.

    Parameters
    ----------
    record : dict, str or bytes
        The record of a finished or unfinished game, or its text. If it states no outcome (no `termination`,
        `scores` and `winners` null or missing), its turns may stop anywhere.
    time_s : float, optional
        Seconds for each search; 1 if neither this nor `iterations` is given.
    iterations : int, optional
        Iterations of each search.
    threads, memory_mb : int
        As in `mexica_ai.best_turn`.
    seed : int, optional
        Seed of each search; `best_turn` with the same seed repeats any of them.
    stop : Stop, optional
        Setting it ends the evaluation. The turn that is being searched is dropped.
    turns : iterable of int, optional
        Indices, from 0, of the turns to evaluate, in any order; all by default. Random events among them are
        skipped.
    search : callable, optional
        Replaces `SearchRun`: called with a position, the settings and a `Stop`, it returns the result.

    Yields
    ------
    TurnEvaluation
        In the order of the turns.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        As `mexica_ai.replay`; NotationError, reason OUT_OF_RANGE, if the record has no turn of an index.
    SearchError
        If a limit is invalid.
    """
    if time_s is None and iterations is None:
        time_s = DEFAULT_TIME_S
    settings = SearchSettings(Limits(time_s, iterations, memory_mb, threads), seed, NUM_CANDIDATES)
    data: dict[str, Any] = parse_record(record) if isinstance(record, (str, bytes)) else record
    check_played(data)
    played = [list(turn) for turn in data["turns"]]
    asked = _checked_indices(range(len(played)) if turns is None else turns, len(played))

    stop, search = stop or Stop(), search or _search

    def search_position(position: Position) -> Result:
        if stop.is_set():
            raise _Stopped
        result = search(position, settings, stop)
        if result.stop_reason == "stopped":
            raise _Stopped
        return result

    return _evaluate(Position.from_json(data["start"]), played, asked, search_position)


def _search(position: Position, settings: SearchSettings, stop: Stop) -> Result:
    run = SearchRun(position, settings)
    with stop.calling(run.stop):
        return run.result()


class _Stopped(Exception):  # noqa: N818
    pass


def replay_played(record: Any) -> Position:
    """Return the position at the end of a played game, as `mexica_ai.replay` does.

    If the record states no outcome (no `termination`, `scores` and `winners` null or missing), its turns may stop
    anywhere.
    """
    has_no_outcome = (
        isinstance(record, dict)
        and "termination" not in record
        and record.get("scores") is None
        and record.get("winners") is None
    )
    if not has_no_outcome:
        return replay(record)
    try:
        return replay({**record, "termination": "unfinished"})
    except PositionError as error:
        if error.reason != "FINISHED":
            raise
    position = Position.from_json(record["start"])
    for turn in record["turns"]:
        position.push(turn)
    return position


def check_played(record: object) -> None:
    """Raise the error of `replay_played` if a record, given as an object, cannot be replayed."""
    replay_played(record)


def seat_turns(record: dict[str, Any]) -> list[int]:
    """Return the indices of the turns of a record that a seat played: all but the random events.

    Parameters
    ----------
    record : dict
        A record that `check_played` accepts.
    """
    position = Position.from_json(record["start"])
    played = []
    for index, turn in enumerate(record["turns"]):
        if not position.is_chance:
            played.append(index)
        position.push(turn)
    return played


def _checked_indices(turns: Iterable[object], number: int) -> set[int]:
    indices: set[int] = set()
    for index in turns:
        if type(index) is not int or not 0 <= index < number:
            raise NotationError(
                f"turns: given {quote(index)}; expected indices from 0 to {number - 1}",
                reason="OUT_OF_RANGE",
                path="turns",
            )
        indices.add(index)
    return indices


def _evaluate(
    position: Position, played: list[list[str]], asked: set[int], search_position: Callable[[Position], Result]
) -> Iterator[TurnEvaluation]:
    known: Result | None = None  # result of a search of the position, if the turn before already ran one
    for index, turn in enumerate(played[: max(asked, default=-1) + 1]):
        following = position.copy()
        following.push(turn)
        after: Result | None = None
        if index in asked and not position.is_chance:
            try:
                evaluation, after = _evaluate_turn(index, turn, position, following, known, search_position)
            except _Stopped:
                return
            yield evaluation
        position, known = following, None if following.is_chance else after


def _evaluate_turn(
    index: int,
    turn: list[str],
    position: Position,
    following: Position,
    known: Result | None,
    search_position: Callable[[Position], Result],
) -> tuple[TurnEvaluation, Result | None]:
    """Return the evaluation of a turn, and the result of the search of the position after it, if any."""
    done: list[Result] = []

    def value_of(other: Position) -> tuple[list[float], list[float], Result | None]:
        """Return the expected shares of the win and final scores of a position, and the result, if any."""
        other = _after_events(other, index)
        if other.is_over:
            return other.state.returns(), other.state.scores(), None
        done.append(search_position(other))
        return done[-1].value, done[-1].expected_scores, done[-1]

    seat = position.to_move
    assert seat is not None
    before = known
    if before is None:
        before = search_position(position)
        done.append(before)
    after, scores_after, result_after = value_of(following)
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
    return evaluation, result_after


def _after_events(position: Position, seed: int) -> Position:
    """Return the position after the random events that are due, if any."""
    position = position.copy()
    while position.is_chance:
        position.draw(seed)
    return position


def _candidate(position: Position, result: Result, following: Position) -> Candidate | None:
    """Return the candidate that leads to a position, if it has enough visits to be compared."""
    most = max(candidate.visits for candidate in result.candidates)
    for candidate in result.candidates:
        if candidate.visits < MIN_VISIT_SHARE * most:
            continue
        if _after(position, candidate.turn) == following:
            return candidate
    return None


def _after(position: Position, turn: list[str]) -> Position:
    position = position.copy()
    position.push(turn)
    return position

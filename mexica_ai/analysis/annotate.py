"""Evaluation of a played game: the loss of each turn, and the engine's choice in its place."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.analysis.grades import BOUNDS, MARKS, grade_of
from mexica_ai.analysis.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, DEFAULT_TIME_S, Limits
from mexica_ai.analysis.luck import EventWorth
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.analysis.verdict import recorded_explanation
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record, replay
from mexica_ai.io.errors import MexicaAIError, NotationError, PositionError
from mexica_ai.io.numbers import MAX_INT64, MAX_TIME_S
from mexica_ai.io.strict import quote

NUM_CANDIDATES = 100  # candidates of each search; the played turn is looked up among them
CHECK_SCALE = 3  # by which the limits of a check are longer than those of the first search
NEAR = 0.045  # distance of a loss from a bound of the grades at which it is checked
FALL = 0.05  # of the share from before a turn to after it at which it is checked: the second search saw something
# Standard deviation of the loss by one search. Measured over three seeds at 0.1 s, for losses near a bound: 0.039 in
# Coatl, 0.019 in Mexica, 0.003 in Tzolk'in (2026-11, 200 turns each); so it is cautious in two of them.
SPREAD = 0.035
SPREAD_WEIGHT = 2  # how many estimates it counts for, beside the spread of the estimates of a turn
CONFIDENCE_Z = 1.28  # of the interval: 80 %
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
    points_lost : float
        By how much the turn worsened the seat's expected score less the best other one, from the searches of `loss`.
    grade : str
        inaccuracy, mistake, blunder or "", see `mexica_ai.analysis.grades.grade_of`.
    interval : list of float, optional
        Ends of the 80 % interval of the loss, if it was checked by further searches.
    is_unsure : bool
        Whether a bound of the grades still lies within the interval.
    answer : list of str
        The turn that the search expects after it; empty without a grade, before a random event and at the end.
    explanation : list of str
        Why the turn has its grade, in sentences, if that was asked for.
    candidates : list of Candidate
        Those of the search of the position before the turn, if that was asked for; records do not keep them.
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
    points_lost: float = 0.0
    grade: str = ""
    interval: list[float] | None = None
    is_unsure: bool = False
    answer: list[str] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """?! for an inaccuracy, ? for a mistake, ?? for a blunder, in brackets if it is not sure; or none."""
        mark = MARKS[self.grade or ("inaccuracy" if self.is_unsure else "")]
        return f"({mark})" if mark and self.is_unsure else mark

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation as a JSON object whose keys are the attributes' names, without the candidates."""
        found = asdict(dataclasses.replace(self, candidates=[]))
        del found["candidates"]
        return found


def recorded_evaluations(record: dict[str, Any]) -> list[TurnEvaluation]:
    """Return the evaluations that a record holds, in the order of the turns; none if it has none.

    Parameters
    ----------
    record : dict
        A record that `check_played` or `mexica_ai.game.records.check_record` accepts.
    """
    return [evaluation_of(entry) for entry in record.get("evaluations", {}).get("turns", ())]


def evaluation_of(entry: dict[str, Any]) -> TurnEvaluation:
    """Return the evaluation of a JSON object that has its shape; early versions kept no grade."""
    one = TurnEvaluation(**entry)
    return one if one.grade else dataclasses.replace(one, grade=grade_of(one.loss))


def check_evaluated(record: dict[str, Any], path: str = "$") -> None:
    """Raise NotationError if the evaluations of a record, which can be replayed, are not those of its turns.

    `check_record` has checked their form; this plays the turns: each evaluation is of the seat that played, and its
    choice can be played.
    """
    wanted = {entry["turn_index"]: (number, entry) for number, entry in enumerate(record["evaluations"]["turns"])}
    position = Position.from_json(record["start"])
    for index, turn in enumerate(record["turns"]):
        if index in wanted:
            number, entry = wanted[index]
            where = f"{path}.evaluations.turns[{number}]"
            if entry["seat"] != position.to_move:
                raise NotationError(
                    f"{where}.seat: given {entry['seat']}; expected {position.to_move}, the seat to move",
                    reason="EVALUATIONS_MISMATCH",
                    path=f"{where}.seat",
                )
            _check_plays(position, entry["choice"], f"{where}.choice")
            if entry.get("answer"):
                _check_plays(_after(position, turn), entry["answer"], f"{where}.answer")
        position.push(turn)


def _check_plays(position: Position, turn: list[str], where: str) -> None:
    try:
        position.copy().push(turn)
    except MexicaAIError as error:
        message = str(error).removeprefix(f"{error.path}: ")
        raise NotationError(f"{where}: {message}", reason="EVALUATIONS_MISMATCH", path=where) from None


def with_evaluations(
    record: dict[str, Any],
    evaluations: Iterable[TurnEvaluation],
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    build: str | None = None,
    events: Sequence[EventWorth] = (),
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
    events : sequence of EventWorth
        What the random events of the game were worth; none keeps those that the record has.
    """
    settings = {"time_s": time_s, "iterations": iterations, "seed": seed}
    by_turn = {one.turn_index: one for one in [*recorded_evaluations(record), *evaluations]}
    turns = [one.to_json() for _, one in sorted(by_turn.items())]
    worths = [event.to_json() for event in events] or record.get("evaluations", {}).get("events")
    more = {"events": worths} if worths else {}
    return record | {"evaluations": ({"build": build} if build else {}) | settings | {"turns": turns} | more}


def explained(record: dict[str, Any], evaluations: Iterable[TurnEvaluation]) -> list[TurnEvaluation]:
    """Return evaluations whose graded turns have explanations; those that have none get them, without a search.

    Parameters
    ----------
    record : dict
        A record that `check_played` accepts.
    evaluations : iterable of TurnEvaluation
        Of its turns.
    """
    position = Position.from_json(record["start"])
    positions = []
    for turn in record["turns"]:
        positions.append(position.copy())
        position.push(turn)
    return [
        dataclasses.replace(one, explanation=recorded_explanation(positions[one.turn_index], one))
        if one.grade and not one.explanation
        else one
        for one in evaluations
    ]


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
    checks: int = 0,
    explain: bool = False,
    level: int = levels.HIGHEST,
    candidates: int = 0,
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
    checks : int
        How often a turn is searched again if its loss is near a bound of the grades: each time with three times the
        limits and another seed, until the interval of the loss leaves the bound. A check takes up to three searches.
    explain : bool
        Whether turns with a grade get their `explanation`.
    level : int
        Strength of the searches, 1 to 10.
    candidates : int
        How many candidates of the search before a turn its evaluation holds at most, 0 to 100.

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
    settings = SearchSettings(Limits(time_s, iterations, memory_mb, threads), seed, NUM_CANDIDATES, level)
    data: dict[str, Any] = parse_record(record) if isinstance(record, (str, bytes)) else record
    check_played(data)
    played = [list(turn) for turn in data["turns"]]
    asked = _checked_indices(range(len(played)) if turns is None else turns, len(played))

    stop, search = stop or Stop(), search or _search

    def search_position(position: Position, scale: int, number: int) -> Result:
        if stop.is_set():
            raise _Stopped
        result = search(position, _scaled(settings, scale, number), stop)
        if result.stop_reason == "stopped":
            raise _Stopped
        if not result.iterations:  # it got no processor in its time
            one = dataclasses.replace(settings.limits, time_s=None, iterations=1)
            return search(position, dataclasses.replace(settings, limits=one), stop)
        return result

    plan = _Plan(search_position, checks, explain, candidates)
    return _evaluate(Position.from_json(data["start"]), played, asked, plan)


def _scaled(settings: SearchSettings, scale: int, number: int) -> SearchSettings:
    """Return the settings of a check: limits multiplied by `scale`, and another seed for each number above 0."""
    if number == 0:
        return settings
    limits = settings.limits
    longer: dict[str, Any] = {
        key: min(most, scale * value)
        for key, value, most in (
            ("time_s", limits.time_s, MAX_TIME_S),
            ("iterations", limits.iterations, MAX_INT64),
        )
        if value is not None
    }
    seed = None if settings.seed is None else (settings.seed + number) % (MAX_INT64 + 1)
    return dataclasses.replace(settings, limits=dataclasses.replace(limits, **longer), seed=seed)


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
    return replay({**record, "termination": "finished", "scores": position.scores, "winners": position.winners})


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


@dataclass(frozen=True)
class _Plan:
    """How the turns of a record are evaluated.

    `search(position, scale, number)` searches a position with limits multiplied by `scale`; `number` makes the seed
    another one. Turns whose loss is near a bound of the grades are checked up to `checks` times. Evaluations hold the
    first `candidates` of the search before the turn.
    """

    search: Callable[[Position, int, int], Result]
    checks: int
    explains: bool
    candidates: int


def _evaluate(position: Position, played: list[list[str]], asked: set[int], plan: _Plan) -> Iterator[TurnEvaluation]:
    known: Result | None = None  # result of a search of the position, if the turn before already ran one
    for index, turn in enumerate(played[: max(asked, default=-1) + 1]):
        following = position.copy()
        following.push(turn)
        after: Result | None = None
        if index in asked and not position.is_chance:
            try:
                evaluation, after = _evaluate_turn(index, turn, position, following, known, plan)
            except _Stopped:
                return
            yield evaluation
        position, known = following, None if following.is_chance else after


class _Turn:
    """Compares a turn with what searches choose in its place."""

    def __init__(self, index: int, position: Position, following: Position, plan: _Plan) -> None:
        self._index, self._position, self._following, self._plan = index, position, following, plan
        assert position.to_move is not None
        self._seat = position.to_move
        self.done: list[Result] = []

    def search(self, position: Position, scale: int, number: int) -> Result:
        self.done.append(self._plan.search(position, scale, number))
        return self.done[-1]

    def value_of(self, other: Position, scale: int, number: int) -> tuple[list[float], list[float], Result | None]:
        """Return the expected shares of the win and final scores of a position, and the result, if any."""
        other = _after_events(other, self._index)
        if other.is_over:
            return other.state.returns(), other.state.scores(), None
        result = self.search(other, scale, number)
        return result.value, result.expected_scores, result

    def compare(self, before: Result, after: tuple[list[float], list[float]] | None, scale: int, number: int) -> _Loss:
        """Return what the turn gives away by a search of the position before it, and by others if they are needed."""
        seat = self._seat
        chosen = _after(self._position, before.turn)
        if chosen == self._following:
            return _Loss(0.0, 0.0, scale, None)
        if same := _candidate(self._position, before, self._following):
            points = _lead(before.expected_scores, seat) - _lead(same.expected_scores, seat)
            return _Loss(before.value[seat] - same.value[seat], points, scale, before)
        if after is None:
            after = self.value_of(self._following, scale, number)[:2]
        if before.value[seat] <= after[0][seat]:
            return _Loss(0.0, 0.0, scale, before)
        best = self.value_of(chosen, scale, number)
        return _Loss(best[0][seat] - after[0][seat], _lead(best[1], seat) - _lead(after[1], seat), scale, before)


@dataclass(frozen=True)
class _Loss:
    """An estimate of what a turn gave away: share of the win and points; `scale` is its weight, `before` its search.

    `before` is None if that chose the turn itself.
    """

    share: float
    points: float
    scale: float
    before: Result | None


def _evaluate_turn(
    index: int,
    turn: list[str],
    position: Position,
    following: Position,
    known: Result | None,
    plan: _Plan,
) -> tuple[TurnEvaluation, Result | None]:
    """Return the evaluation of a turn, and the result of the search of the position after it, if any."""
    one = _Turn(index, position, following, plan)
    seat = position.to_move
    assert seat is not None
    before = known or one.search(position, 1, 0)
    after, scores_after, result_after = one.value_of(following, 1, 0)
    losses = [one.compare(before, (after, scores_after), 1, 0)]
    best_score = max(before.expected_scores, default=0.0)
    is_doubtful = is_near_bound(losses[0].share) or before.value[seat] - after[seat] >= FALL
    for number in range(1, plan.checks + 1):
        if not is_doubtful or (number > 1 and not _is_unsure(_interval(losses))):
            break
        again = one.search(position, CHECK_SCALE, number)
        # A cap may have cut it: it weighs no more than it searched.
        scale = min(CHECK_SCALE, max(1.0, again.iterations / max(1, before.iterations)))
        losses.append(dataclasses.replace(one.compare(again, None, CHECK_SCALE, number), scale=scale))
    total = sum(each.scale for each in losses)
    loss = max(0.0, sum(each.scale * each.share for each in losses) / total)
    points_lost = max(0.0, sum(each.scale * each.points for each in losses) / total)
    chosen_by = next((each.before for each in reversed(losses) if each.before is not None), None)
    if chosen_by is None:  # each search chose the turn itself
        loss = points_lost = 0.0
    interval = _interval(losses) if len(losses) > 1 else None
    grade = grade_of(loss, points_lost, best_score, (chosen_by or before).value[seat])
    evaluation = TurnEvaluation(
        turn_index=index,
        seat=seat,
        turn=turn,
        before=before.value,
        after=after,
        choice=turn if chosen_by is None else chosen_by.turn,
        choice_value=(chosen_by or before).value,
        loss=loss,
        expected_scores_before=before.expected_scores,
        expected_scores_after=scores_after,
        scores=following.scores,
        iterations=sum(result.iterations for result in one.done),
        seconds=sum(result.seconds for result in one.done),
        points_lost=points_lost,
        grade=grade,
        interval=interval,
        is_unsure=interval is not None and _is_unsure(interval),
        candidates=before.candidates[: plan.candidates],
        answer=result_after.turn if grade and result_after is not None and not following.is_chance else [],
    )
    if plan.explains and grade and chosen_by is not None:
        evaluation = dataclasses.replace(evaluation, explanation=recorded_explanation(position, evaluation))
    return evaluation, result_after


def _lead(scores: list[float], seat: int) -> float:
    """Return the score of a seat less the best other one."""
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


def is_near_bound(loss: float) -> bool:
    """Return whether a loss, by one search, is so near a bound of the grades that another search may cross it."""
    return any(abs(loss - bound) < NEAR for bound in BOUNDS)


def _interval(losses: list[_Loss]) -> list[float]:
    """Return the ends of the interval of a loss, 0 to 1, from estimates of it.

    The spread of the estimates counts beside `SPREAD`, that of estimates by searches of scale 1.
    """
    weight = sum(each.scale for each in losses)
    mean = sum(each.scale * each.share for each in losses) / weight
    squares = sum(each.scale * (each.share - mean) ** 2 for each in losses)
    variance = (SPREAD_WEIGHT * SPREAD**2 + squares) / (SPREAD_WEIGHT + len(losses) - 1)
    half = CONFIDENCE_Z * math.sqrt(variance / weight)
    return [min(1.0, max(0.0, end)) for end in (mean - half, mean + half)]


def _is_unsure(interval: list[float]) -> bool:
    return any(interval[0] < bound <= interval[1] for bound in BOUNDS)


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

"""Create games of the page (new, from a record, from a position), and restore them from disk."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mexica_ai.analysis.annotate import (
    TurnEvaluation,
    check_evaluated,
    explained,
    recorded_evaluations,
    replay_played,
)
from mexica_ai.analysis.drill import Exercise
from mexica_ai.game import registry
from mexica_ai.game.clock import Clock, new_clock
from mexica_ai.game.notes import notes_of
from mexica_ai.game.position import Position, deal, new_game, require_seat_to_move
from mexica_ai.game.position_text import position_data
from mexica_ai.game.records import parse_record
from mexica_ai.game.variations import Line, lines_of
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import Nullable, check_options, check_shape
from mexica_ai.session import same_deal
from mexica_ai.table.events import Annotated, Evaluated, Event, Posed, Resigned, Started, Table, Turned, begin, fold
from mexica_ai.table.journal import read_event, read_started
from mexica_ai.table.seats import OTHER, SEAT, Seat
from mexica_ai.web.commands import MAX_TURNS, require_room
from mexica_ai.web.drills import exercises_of_game, exercises_of_text, looks_like_drill
from mexica_ai.web.errors import ApiError, api_error
from mexica_ai.web.games import Game
from mexica_ai.web.guides import begin_guide
from mexica_ai.web.seats import DEFAULT_LEVEL, DEFAULT_SECONDS, bad_value, read_seat
from mexica_ai.web.several import choose, records_of
from mexica_ai.web.visibility import require_open

_NEW = {
    "game?": str,
    "players?": int,
    "seed?": Nullable(int),
    "options?": dict,
    "seats?": Nullable([SEAT]),
    "position?": object,
    "text?": str,
    "example?": str,
    "record?": Nullable(int),
    "from?": str,
    "guide?": str,
    "mistakes?": {"seat": Nullable(int), "turn?": int},
    "at?": Nullable(int),
    "open?": Nullable(bool),
    "draws?": bool,
    "clock?": Nullable({"bank_s": float, "increment_s": float}),
    "again?": str,
    "anew?": str,
    "by?": int,
}
_SOURCES = ("game", "position", "text", "example", "from", "guide", "again", "anew")


def create(
    data: Any, *, names: list[str], examples: dict[str, str], find: Callable[[str], Game], path: str = "request"
) -> Game:
    """Create the game of a request.

    Parameters
    ----------
    data : JSON value
        Untrusted.
    names : list of str
        Of the engines that may be chosen.
    examples : dict
        Texts of examples, by name.
    find : callable
        Returns the game with an id.

    Raises
    ------
    ApiError
        It cannot be created.
    """
    try:
        return _create(data, names=names, examples=examples, find=find, path=path)
    except MexicaAIError as error:
        raise api_error(error, _position_given(data)) from None


def _position_given(data: Any) -> Any:
    """Return the position or record of a request as JSON, None if there is none or it cannot be read."""
    if not isinstance(data, dict):
        return None
    if not isinstance(text := data.get("text"), str):
        return data.get("position")
    records = records_of(text)
    number = data.get("record") or 1
    try:
        return parse_record(records[number - 1]) if looks_like_record(text) else position_data(text)
    except (MexicaAIError, IndexError, TypeError):
        return None


def _create(data: Any, *, names: list[str], examples: dict[str, str], find: Callable[[str], Game], path: str) -> Game:
    check_shape(data, _NEW, path)
    sources = [key for key in _SOURCES if key in data]
    if len(sources) != 1:
        raise NotationError(
            f"{path}: given {', '.join(sources) or 'none'}; expected one of {', '.join(_SOURCES)}",
            reason="BAD_REQUEST",
            path=path,
        )
    if "guide" in data:
        check_shape(data, {"guide": str}, path)
        return Game(begin_guide(data["guide"], _now(), _new_version()))
    text = data.get("text")
    if "example" in data:
        if data["example"] not in examples:
            raise bad_value(f"{path}.example", data["example"], f"one of {', '.join(examples)}")
        text = examples[data["example"]]
    if data.get("record") is not None and text is None:
        raise NotationError(
            f"{path}.record: expected with text or example", reason="BAD_REQUEST", path=f"{path}.record"
        )
    if "again" in data or "anew" in data:
        return Game(begin(_again(data, find), _new_version()))
    if (exercises := _exercises(data, text, find, path)) is not None:
        if data.get("clock") is not None:
            raise bad_value(f"{path}.clock", data["clock"], "null, for it is a drill")
        return Game(_drill_table(exercises, data, find))
    if "from" in data:
        start = _from_game(find(data["from"]), data.get("at"))
    elif text is not None:
        start = _from_text(text, data.get("record"), path)
    elif "position" in data:
        start = _Start(Position.from_json(data["position"]))
    else:
        start = _Start(_dealt(data), options=data.get("options", {}))
    position = start.position
    _check_position(position)
    seats = _seats(data.get("seats"), position, start.is_review, names, path)
    is_shared = data.get("open")
    if is_shared is None:
        is_shared = start.is_review and all(seat.kind == "person" for seat in seats)
    started = Started(
        position.start,
        tuple(seats),
        _now(),
        is_shared,
        data.get("draws", True),
        luck=resolve_seed(None),
        clock=_clock(data.get("clock"), seats, path),
        is_dealt="game" in data,
        options=start.options,
    )
    events: list[Event] = [Turned(tuple(turn)) for turn in position.history]
    if start.resigned is not None:
        events.append(Resigned(start.resigned))
    if start.evaluations:
        events += [Annotated(start.seconds), *map(Evaluated, start.evaluations)]
    events += notes_of(start.lines)
    return Game(fold(started, events, _new_version()))


def _clock(data: JsonObject | None, seats: Sequence[Seat], path: str) -> Clock | None:
    """Return the clock of a request."""
    if data is None:
        return None
    if all(seat.kind == "engine" for seat in seats):
        raise bad_value(f"{path}.clock", data, "null, for no person plays")
    try:
        return new_clock(len(seats), data["bank_s"], data["increment_s"])
    except NotationError as error:
        where = f"{path}.clock.{error.path}"
        raise NotationError(f"{path}.clock.{error}", reason=error.reason, path=where) from None


def _again(data: JsonObject, find: Callable[[str], Game]) -> Started:
    """Return the start of a game like one that is over: with the same deal, or dealt anew by the same options."""
    if "again" in data:
        return _same_deal(find(data["again"]).table, data.get("by", 1))
    source = find(data["anew"]).table
    begun = _same_deal(source, data.get("by", 1))
    return replace(
        begun,
        start=deal(source.game, len(begun.seats), None, begun.options),
        is_shared=begun.is_dealt and begun.is_shared,  # a record is, a new game is not
        is_dealt=True,
        luck=resolve_seed(None),
    )


def _same_deal(source: Table, by: int) -> Started:
    """Return the start of a game that is over, in which each player sits some seats further; invitations are gone."""
    if source.exercise is not None or not source.is_over:
        raise ApiError(422, "NOT_OVER", "again: expected a game that is over")
    if not 0 <= by < len(source.seats):
        raise bad_value("request.by", by, f"seats further: 0 to {len(source.seats) - 1}")
    start, seats = same_deal(source.positions[0], source.seats, by)
    begun = source.started
    clock = None if begun.clock is None else new_clock(len(seats), begun.clock.bank_s, begun.clock.increment_s)
    return replace(begun, start=start, seats=tuple(seats), created=_now(), clock=clock, is_guided=False)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _new_version() -> int:
    """Return a version that is higher than all of a process before: a page of that one must not play on blindly.

    Microseconds, which are more than there can be events, and which a browser counts exactly for 200 years.
    """
    return time.time_ns() // 1000


def _exercises(
    data: JsonObject, text: str | None, find: Callable[[str], Game], path: str
) -> tuple[Exercise, ...] | None:
    """Return the exercises of the drill of a request, None if it asks for none."""
    if "mistakes" in data:
        if "from" not in data:
            raise NotationError(f"{path}.mistakes: expected with from", reason="BAD_REQUEST", path=f"{path}.mistakes")
        source = find(data["from"])
        require_open(source.table)
        evaluations = [one for _, one in sorted(source.evaluations.items())]
        name = f"{source.name}-{source.id[:8]}.jsonl"
        return exercises_of_game(source.plain_record(), evaluations, name, data["mistakes"]["seat"])
    return exercises_of_text(text) if text is not None and looks_like_drill(text) else None


def _drill_table(exercises: tuple[Exercise, ...], data: JsonObject, find: Callable[[str], Game]) -> Table:
    """Return the table that shows the first exercise of a drill that comes from the turn of a request, or later.

    The levels of the seats of the game, if it was played here, keep their names.
    """
    position, turn = exercises[0].world, data.get("mistakes", {}).get("turn", 0)
    played = find(data["from"]).seats if "mistakes" in data else ()
    others = tuple(seat if seat.level else OTHER for seat in played) or (OTHER,) * position.players
    started = Started(position, others, _now(), draws=False, exercises=exercises)
    first = next((index for index, one in enumerate(exercises) if one.source.turn >= turn), 0)
    return begin(started, _new_version()).apply(Posed(first))


@dataclass(frozen=True)
class _Start:
    """The first position of a game, with the turns that led there.

    Parameters
    ----------
    position : Position
    is_review : bool
        Whether the game was played elsewhere.
    resigned : int or None
        The seat that gave up.
    evaluations : sequence of TurnEvaluation
        Of its turns.
    seconds : float or None
        Time of the searches of the evaluations.
    lines : Line
        What is kept beside its turns.
    options : mapping
        With which it was dealt.
    """

    position: Position
    is_review: bool = False
    resigned: int | None = None
    evaluations: Sequence[TurnEvaluation] = ()
    seconds: float | None = None
    lines: Line = field(default_factory=Line)
    options: Mapping[str, Any] = field(default_factory=dict)


def _check_position(position: Position) -> None:
    """Refuse more turns than a game may have, and the view of a seat that is not to move."""
    if position.viewer is not None and position.to_move is not None:
        require_seat_to_move(position)
    if len(position.history) > MAX_TURNS:
        raise ApiError(422, "TOO_MANY_TURNS", f"given {len(position.history)} turns; expected {MAX_TURNS} at most")


def _from_game(source: Game, number: int | None) -> _Start:
    """Begin at a turn of another game, by default at its end."""
    table = source.table
    require_open(table)
    if number is None:
        number = len(table.turns)
    source.at(number)
    position = table.positions[0].copy()
    for turn in table.turns[:number]:
        position.push(list(turn))
    return _Start(position, options=table.started.options)


def _from_text(text: str, number: int | None, path: str) -> _Start:
    """Begin at a position, or at the end of a record: of several, the one with a number, from 1."""
    if not looks_like_record(text):
        return _Start(Position.from_text(text))
    record: JsonObject = parse_record(choose(records_of(text), number, path))
    position = replay_played(record)
    if "evaluations" in record:
        check_evaluated(record)  # its turns are told in words
    resigned = record.get("forfeit", {}).get("seat")
    time_s = record.get("evaluations", {}).get("time_s")
    evaluations = explained(record, recorded_evaluations(record))
    lines = lines_of(record)
    require_room(lines)
    return _Start(position, True, resigned, evaluations, time_s, lines)


def _dealt(data: JsonObject) -> Position:
    """Deal the new game of a request."""
    options = data.get("options", {})
    # Not left to `new_game`, which has parameters of its own.
    check_options(data["game"], options, [option.name for option in registry.get(data["game"]).starts.options])
    return new_game(data["game"], players=data.get("players", 2), seed=resolve_seed(data.get("seed")), **options)


def _seats(
    given: list[JsonObject] | None, position: Position, is_review: bool, names: list[str], path: str
) -> list[Seat]:
    """Return the seats of a request; by default persons in a review, else a person to move against engines."""
    if given is None:
        mover = position.to_move if position.to_move is not None else 0
        return [
            Seat() if is_review or seat == mover else Seat("engine", DEFAULT_LEVEL, None, DEFAULT_SECONDS)
            for seat in range(position.players)
        ]
    if len(given) != position.players:
        raise bad_value(f"{path}.seats", given, f"{position.players} seats")
    return [read_seat(seat, names, f"{path}.seats[{number}]") for number, seat in enumerate(given)]


def looks_like_record(text: str) -> bool:
    """Return whether a text is one record or several."""
    try:
        position_data(text)
    except MexicaAIError as error:
        return error.reason == "RECORD_GIVEN"
    return False


def restore(ident: str, entries: list[JsonObject]) -> Game:
    """Return the game of the entries of a journal.

    Raises
    ------
    NotationError
        They are not the entries of a game; reason BAD_JOURNAL.
    """
    head, *rest = entries
    try:
        table = fold(read_started(head), map(read_event, rest), _new_version())
    except (KeyError, TypeError, ValueError, MexicaAIError) as error:
        raise NotationError(f"{ident}: {type(error).__name__}: {error}", reason="BAD_JOURNAL") from None
    return Game(table, ident)

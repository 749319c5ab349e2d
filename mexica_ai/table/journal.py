"""The lines of journals as the events of a table: the other way round, each event has `to_json`."""

from __future__ import annotations

from mexica_ai.analysis.annotate import evaluation_of
from mexica_ai.analysis.drill import Outcome, exercise_of
from mexica_ai.game.clock import read_clock
from mexica_ai.game.notes import read_note
from mexica_ai.game.position import Position
from mexica_ai.game.records import EVALUATION
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import check_seed
from mexica_ai.io.strict import Nullable, check_shape
from mexica_ai.table.events import (
    VERSION,
    Annotated,
    Evaluated,
    Invited,
    Kept,
    PlayedOn,
    Posed,
    Resigned,
    Seated,
    Started,
    Timed,
    TookBack,
    Tried,
    Turned,
    bad_event,
)
from mexica_ai.table.seats import SEAT, seat_of

_HEAD = {
    "journal": int,
    "created": str,
    "start": dict,
    "seats": [{**SEAT, "title?": str}],
    "open": bool,
    "draws": bool,
    "drill?": [dict],
    "clock?": dict,
    "dealt?": bool,
    "guided?": bool,
    "luck?": int,
    "options?": dict,
}
_CLOCK_REST = ("bank_s", "increment_s", "running", "since_s", "fallen")
_OUTCOME = {"solved": bool, "points": int, "tries": int}


def read_started(entry: JsonObject) -> Started:
    """Return the event of the first line of a journal; NotationError if it is none."""
    if entry.get("journal") != VERSION:
        raise bad_event("journal", entry.get("journal"), f"version {VERSION}")
    check_shape(entry, _HEAD, "start")
    seats = [seat_of(one, f"seats[{number}]") for number, one in enumerate(entry["seats"])]
    exercises = [exercise_of(one, f"drill[{index}]") for index, one in enumerate(entry.get("drill", []))]
    start = Position.from_json(entry["start"])
    clock = read_clock(entry["clock"], len(seats), "clock") if "clock" in entry else None
    return Started(
        start,
        tuple(seats),
        entry["created"],
        entry["open"],
        entry["draws"],
        tuple(exercises),
        clock,
        entry.get("dealt", False),
        entry.get("guided", False),
        check_seed(entry.get("luck")),
        entry.get("options", {}),
    )


def read_event(entry: JsonObject) -> Kept:
    """Return the event of another line of a journal; NotationError if it is none."""
    if "invited" in entry:
        check_shape(entry, {"invited": int, "nonce": Nullable(str)}, "entry")
        return Invited(entry["invited"], entry["nonce"])
    if "clock" in entry:
        check_shape(entry, {"clock": {"left_s": [float], **dict.fromkeys(_CLOCK_REST, object)}}, "entry")
        return Timed(read_clock(entry["clock"], len(entry["clock"]["left_s"]), "clock"))
    match entry:
        case {"turn": _}:
            check_shape(entry, {"turn": [str], "over?": bool}, "entry")
            return Turned(tuple(entry["turn"]), entry.get("over", False))
        case {"back": int(limit)}:
            return TookBack(limit)
        case {"resigned": int(seat)}:
            return Resigned(seat)
        case {"person": int(seat)}:
            return Seated(seat)
        case {"guided": False}:
            return PlayedOn()
        case {"exercise": int(number)}:
            return Posed(number)
        case {"outcome": data}:
            check_shape(data, _OUTCOME, "outcome")
            return Tried(Outcome(**data))
        case {"annotation": seconds}:
            check_shape(seconds, Nullable(float), "annotation")
            return Annotated(seconds)
        case {"evaluation": data}:
            check_shape(data, EVALUATION, "evaluation")
            return Evaluated(evaluation_of(data))
        case {"lines": data}:
            return read_note(data, "lines")
    raise bad_event("entry", entry, "one of a game")

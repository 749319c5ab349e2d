"""Game records: played games as JSON, read strictly and replayed."""

from __future__ import annotations

from typing import Any

from mexica_ai.game.compact import split_header
from mexica_ai.game.move_reader import parse_moves
from mexica_ai.game.move_text import TAG_NAME, is_move_text
from mexica_ai.game.position import Position
from mexica_ai.game.variations import Path, check_variations, format_path, lines_of, turns_along
from mexica_ai.io.errors import MexicaAIError, NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import EPSILON, MAX_TIME_S, are_scores, are_shares, is_count
from mexica_ai.io.strict import Nullable, check_shape, check_version, choice, parse_json, quote

VERSION = 1
EVALUATION = {
    "turn_index": int,
    "seat": int,
    "turn": [str],
    "before": [float],
    "after": [float],
    "choice": [str],
    "choice_value": [float],
    "loss": float,
    "expected_scores_before": [float],
    "expected_scores_after": [float],
    "scores": [float],
    "iterations": int,
    "seconds": float,
    "points_lost?": float,
    "grade?": choice("", "inaccuracy", "mistake", "blunder"),
    "interval?": Nullable([float]),
    "is_unsure?": bool,
    "answer?": [str],
    "explanation?": [str],
}
_OF_NO_SEAT = ("turn", "choice", "interval", "answer", "explanation")  # lists of an evaluation that are not by seat
_SHAPE = {
    "game": str,
    "version": int,
    "start": dict,
    "turns": [[str]],
    "scores?": Nullable([float]),
    "winners?": Nullable([int]),
    "engines?": [str],
    "weights?": [Nullable(str)],
    "seeds?": [Nullable(int)],
    "times?": [Nullable(float)],
    "build?": str,
    "started_at?": str,
    "comment?": str,
    "comments?": [str],
    "variations?": [dict],
    "tags?": dict,
    "termination?": choice("finished", "unfinished", "forfeit", "adjudicated"),
    "forfeit?": {"seat": int, "reason": str, "detail": str},
    "adjudication?": {"rule": choice("resign", "max_turns"), "by": str, "forecast": [float]},
    "arena?": dict,
    "evaluations?": {
        "build?": str,
        "time_s": Nullable(float),
        "iterations": Nullable(int),
        "seed": Nullable(int),
        "turns": [EVALUATION],
        "events?": [{"turn_index": int, "event": [str], "worth": [float]}],
    },
    "self_play?": {
        "seed": int,
        "iterations": int,
        "game": int,
        "weights?": str,
        "styles": [float],
        "odd_turns": [int],
        "equal?": bool,
    },
}


def replay(record: JsonObject | str | bytes, *, path: str = "$") -> Position:
    """Replay a record, check its outcome against the rules, and return the position at its end.

    Parameters
    ----------
    record : dict, str or bytes
        The record's JSON object, or its text.
    path : str
        Where the record stands; JSON paths in errors begin with it.

    Raises
    ------
    NotationError, UnknownGameError, PositionError
        If the record or its start cannot be read or is invalid, if `termination` does not fit the replayed
        game (reasons UNFINISHED, FINISHED), or if `scores` or `winners` differ from those of the replayed
        game (SCORES_MISMATCH, WINNERS_MISMATCH).
    IllegalActionError
        If a turn is not legal. This and the other errors of a turn carry `turn_index` and `action_index`; those of a
        turn of a variation only `action_index`.
    """
    data, position = _read(record, path)
    start = position.copy()
    _play(position, data["turns"], path)
    _check_outcome(data, position, path)
    play_variations(start, 0, data, path)
    return position


def position_at(record: JsonObject | str | bytes, turns: int, *, line: Path = (), path: str = "$") -> Position:
    """Return the position of a record after a number of turns; 0 is its start.

    Random events count as turns, as they do in the record. Later turns are not checked, so the positions before a
    bad turn can be had, too.

    Parameters
    ----------
    record : dict, str or bytes
        The record's JSON object, or its text.
    turns : int
        How many, from 0 to the number of the turns of the record, or of the line, from the start of the game.
    line : tuple of int
        The path of a variation, `mexica_ai.game.variations`; by default what was played.
    path : str
        As in `replay`.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        As `replay`, of the start and the turns played; NotationError, reason OUT_OF_RANGE, if the record or the
        line has fewer turns, or NO_LINE, if there is no such line.
    """
    data, position = _read(record, path)
    along = turns_along(lines_of(data), line)
    if type(turns) is not int or not 0 <= turns <= len(along):
        what = "line" if line else "record"
        raise NotationError(
            f"{path}.turns: given turn {quote(turns)}; expected 0 to {len(along)}, the turns of the {what}",
            reason="OUT_OF_RANGE",
            path=f"{path}.turns",
        )
    _play(position, list(map(list, along[:turns])), f"line {format_path(line)}" if line else path)
    return position


def _read(record: JsonObject | str | bytes, path: str) -> tuple[JsonObject, Position]:
    """Return the object of a record, its form checked, and its first position."""
    data: JsonObject = parse_record(record, path) if isinstance(record, (str, bytes)) else record
    return data, _parse_start(data, path)


def _play(position: Position, turns: list[list[str]], path: str) -> None:
    """Push the turns of a record; errors carry their place in it."""
    for turn_index, turn in enumerate(turns):
        try:
            position.push(turn)
        except MexicaAIError as error:
            raise _located(error, f"{path}.turns[{turn_index}]", turn_index) from None


def play_variations(position: Position, first: int, line: JsonObject, path: str) -> None:
    """Raise the error of `replay` if a turn of the variations of a line is not legal.

    `position` is that before the line, after `first` turns of the game; it is changed.
    """
    played = first
    for number, variation in enumerate(line.get("variations", ())):
        where = f"{path}.variations[{number}]"
        for turn in line["turns"][played - first : variation["at"] - first]:
            position.push(turn)
        played = variation["at"]
        trial = position.copy()
        for index, turn in enumerate(variation["turns"]):
            try:
                trial.push(turn)
            except MexicaAIError as error:
                raise _located(error, f"{where}.turns[{index}]", None) from None
        play_variations(position.copy(), played, variation, where)


def parse_record(text: str | bytes, path: str = "$") -> Any:
    """Read a record, as JSON or as a move text.

    What JSON says is not checked. The turns of a move text are played, since only the rules tell where they end.

    Raises
    ------
    NotationError
        If it is neither; reason POSITION_GIVEN, if it is a position in its compact form.
    UnknownGameError, PositionError, IllegalActionError
        As `replay`, of a move text.
    """
    if is_move_text(text):
        return {"version": VERSION, **parse_moves(text, path)}
    try:
        return parse_json(text, path)
    except NotationError:
        line = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if split_header(line.partition("\n")[0]):
            raise _position_given(path) from None
        raise


def _position_given(path: str) -> NotationError:
    return NotationError(
        f'{path}: given a position; expected the record of a game, with "start" and "turns"',
        reason="POSITION_GIVEN",
        path=path,
    )


def make_record(position: Position, **details: Any) -> JsonObject:
    """Return the record of the game that was played with a position: its start, its history, its outcome.

    Parameters
    ----------
    position : Position
        As it is at the end of the game or so far; its history (`Position.history`) are the turns. Nothing may
        be hidden in its start.
    **details
        Optional keys of a record: `engines`, `weights`, `seeds` and `times` (one entry a seat), `build`,
        `started_at`, `comment`, `comments`, `variations`; or `forfeit`,
        ``{"seat": 1, "reason": "...", "detail": "..."}``, if a seat has lost so.

    Returns
    -------
    dict
        A valid record. If the game is not over and none forfeits, it is that of an unfinished game.

    Raises
    ------
    NotationError, PositionError
        If a detail is not one of a record, or the start is a view; PositionError, reason TURN_NOT_ENDED, if
        the last turn has not ended.
    """
    if position.is_within_turn:
        raise PositionError(
            "the last turn has not ended; expected whole turns, for a record has no others", reason="TURN_NOT_ENDED"
        )
    outcome: dict[str, Any] = {"scores": None, "winners": None, "termination": "unfinished"}
    if position.is_over:
        outcome = {"scores": position.scores, "winners": position.winners, "termination": "finished"}
    elif "forfeit" in details:
        seat = details["forfeit"].get("seat") if isinstance(details["forfeit"], dict) else None
        others = [other for other in range(position.players) if other != seat]
        outcome = {"scores": None, "winners": others, "termination": "forfeit"}
    record = {
        "game": position.game,
        "version": VERSION,
        "start": position.start.to_json(),
        "turns": position.history,
        **outcome,
        **details,
    }
    start = _parse_start(record, "record")
    _check_outcome(record, position, "record")
    play_variations(start, 0, record, "record")
    return record


def check_record(record: Any, path: str = "$") -> None:
    """Raise NotationError if this does not have the form of a record. Does not replay it."""
    if isinstance(record, dict) and "to_move" in record and "turns" not in record:
        raise _position_given(path)
    check_shape(record, _SHAPE, path)
    check_version(record, VERSION, path)
    if "variations" in record:
        check_variations(record["variations"], record["turns"], f"{path}.variations")


def _parse_start(record: JsonObject, path: str) -> Position:
    """Check the record's form and return its first position."""
    check_record(record, path)
    position = Position.from_json(record["start"], path=f"{path}.start")
    if record["game"] != position.game:
        raise NotationError(
            f"{path}.game: given {quote(record['game'])}; expected {quote(position.game)}, the game of the start",
            reason="GAME_MISMATCH",
            path=f"{path}.game",
        )
    for key in ("engines", "weights", "seeds", "times"):
        if len(record.get(key, ())) not in (0, position.players):
            raise NotationError(
                f"{path}.{key}: has {len(record[key])} entries; expected one for each of the {position.players} seats",
                reason="SEATS_COUNT",
                path=f"{path}.{key}",
            )
    if len(record.get("comments", ())) not in (0, len(record["turns"])):
        raise NotationError(
            f"{path}.comments: has {len(record['comments'])} entries; expected one for each of the "
            f"{len(record['turns'])} turns",
            reason="COMMENTS_COUNT",
            path=f"{path}.comments",
        )
    for name, value in record.get("tags", {}).items():
        if not (TAG_NAME.fullmatch(name) and isinstance(value, str)):
            raise NotationError(
                f"{path}.tags: given {quote(name)}: {quote(value)}; expected names of letters, digits and _, and texts",
                reason="BAD_TAG",
                path=f"{path}.tags",
            )
    if "evaluations" in record:
        found = record["evaluations"]["turns"]
        check_evaluations(found, record["turns"], position.players, f"{path}.evaluations.turns")
        events = record["evaluations"].get("events", [])
        _check_events(events, record["turns"], position.players, f"{path}.evaluations.events")
    if not position.has_one_world:
        raise PositionError(
            f"{path}.start: leaves open what will be drawn; expected a start with nothing unknown",
            reason="UPCOMING_UNKNOWN",
            path=f"{path}.start",
        )
    return position


def check_evaluations(evaluations: list[JsonObject], turns: list[list[str]], players: int, path: str) -> None:
    """Raise NotationError if evaluations do not belong to the turns of a game; each has the shape `EVALUATION`."""
    last = -1
    for number, entry in enumerate(evaluations):
        where = f"{path}[{number}]"
        index = entry["turn_index"]
        lists = [value for key, value in entry.items() if isinstance(value, list) and key not in _OF_NO_SEAT]
        if not last < index < len(turns) or entry["turn"] != turns[index]:
            problem = f"does not belong to turn {quote(index)} (from 0); expected the record's turns, ascending"
        elif not 0 <= entry["seat"] < players or any(len(values) != players for values in lists):
            problem = f"does not fit {players} seats; expected one number for each"
        elif not are_figures(entry, players):
            problem = "has figures that cannot be; expected shares of the win, scores, iterations and seconds"
        else:
            last = index
            continue
        raise NotationError(f"{where}: {problem}", reason="EVALUATIONS_MISMATCH", path=where)


def _check_events(events: list[JsonObject], turns: list[list[str]], players: int, path: str) -> None:
    """Raise NotationError if the worths of random events do not belong to the turns of a game."""
    for number, entry in enumerate(events):
        index, where = entry["turn_index"], f"{path}[{number}]"
        if not 0 <= index < len(turns) or entry["event"] not in ([], turns[index]):
            problem = f"does not belong to turn {quote(index)} (from 0)"
        elif len(entry["worth"]) != players or not all(-1 <= worth <= 1 for worth in entry["worth"]):
            problem = f"does not fit {players} seats; expected one share of the win, -1 to 1, for each"
        else:
            continue
        raise NotationError(f"{where}: {problem}", reason="EVALUATIONS_MISMATCH", path=where)


def are_figures(entry: JsonObject, players: int) -> bool:
    """Return whether the figures of an evaluation, as in a record, can be those of this number of seats."""
    shares = [entry[key] for key in ("before", "after", "choice_value")]
    scores = [entry[key] for key in ("expected_scores_before", "expected_scores_after", "scores")]
    return (
        all(are_shares(values, players) for values in shares)
        and all(are_scores(values, players) for values in scores)
        and abs(entry["loss"]) <= 1 + EPSILON
        and are_scores([entry.get("points_lost", 0.0)], 1)
        and _is_interval(entry.get("interval"))
        and is_count(entry["iterations"])
        and 0 <= entry["seconds"] <= MAX_TIME_S
    )


def _is_interval(ends: list[float] | None) -> bool:
    return ends is None or (len(ends) == 2 and 0 <= ends[0] <= ends[1] <= 1)


def _located(error: MexicaAIError, path: str, turn_index: int | None) -> MexicaAIError:
    """Return the error of a turn with its place in the record."""
    where = error.path.replace("turn", path, 1) if error.path.startswith("turn") else path
    message = str(error).removeprefix(f"{error.path}: ")
    located = type(error)(f"{where}: {message}", reason=error.reason, path=where, violations=error.violations)
    located.turn_index, located.action_index = turn_index, error.action_index
    return located


def termination_of(record: JsonObject) -> str:
    """Return how the game of a record ended: its `termination`, or what its other keys say.

    A record without `termination`, `scores` and `winners` is that of an unfinished game.
    """
    is_bare = "scores" not in record and "winners" not in record
    termination: str = record.get("termination", "unfinished" if is_bare else "finished")
    return termination


def _check_outcome(record: JsonObject, position: Position, path: str) -> None:
    termination = termination_of(record)
    for key, only in (("forfeit", "forfeit"), ("adjudication", "adjudicated")):
        if (termination == only) != (key in record):
            raise NotationError(
                f"{path}.{key}: expected with the termination {only} and no other; the termination is {termination}",
                reason=f"{key.upper()}_MISMATCH",
                path=f"{path}.{key}",
            )
    if termination != "unfinished":
        for key in ("scores", "winners"):
            if key not in record:
                raise NotationError(
                    f"{path}.{key}: the key {quote(key)} is missing; only the record of an unfinished game needs none",
                    reason="MISSING_KEY",
                    path=f"{path}.{key}",
                )
    if termination == "finished":
        if not position.is_over:
            raise PositionError(
                f"{path}.turns: the game is not over after {len(record['turns'])} turns; expected the whole "
                "game, or the termination unfinished, forfeit or adjudicated",
                reason="UNFINISHED",
                path=f"{path}.turns",
            )
        _check_equal(record["scores"], position.scores, f"{path}.scores", "SCORES_MISMATCH")
        _check_equal(record["winners"], position.winners, f"{path}.winners", "WINNERS_MISMATCH")
        return
    if position.is_over:
        raise PositionError(
            f'{path}.termination: given {quote(termination)}, but the turns finish the game; expected "finished"',
            reason="FINISHED",
            path=f"{path}.termination",
        )
    if termination == "unfinished":
        _check_equal(record.get("scores"), None, f"{path}.scores", "SCORES_MISMATCH")
        _check_equal(record.get("winners"), None, f"{path}.winners", "WINNERS_MISMATCH")
    elif termination == "adjudicated":
        _check_equal(record["scores"], None, f"{path}.scores", "SCORES_MISMATCH")
        winners = record["winners"] or []
        if not winners or winners != sorted(set(winners) & set(range(position.players))):
            raise PositionError(
                f"{path}.winners: given {_list(record['winners'])}; expected the seats that the game was given to",
                reason="WINNERS_MISMATCH",
                path=f"{path}.winners",
            )
    else:
        seat, seats = record["forfeit"]["seat"], range(position.players)
        if seat not in seats:
            raise PositionError(
                f"{path}.forfeit.seat: given {quote(seat)}; expected a seat from 0 to {position.players - 1}",
                reason="OUT_OF_RANGE",
                path=f"{path}.forfeit.seat",
            )
        if record["scores"] is not None:
            _check_equal(record["scores"], position.scores, f"{path}.scores", "SCORES_MISMATCH")
        if record["winners"] is not None:
            others = [other for other in seats if other != seat]
            _check_equal(record["winners"], others, f"{path}.winners", "WINNERS_MISMATCH")


def _check_equal(given: list[Any] | None, expected: list[Any] | None, path: str, reason: str) -> None:
    if given != expected:
        raise PositionError(
            f"{path}: given {_list(given)}; expected {_list(expected)} from the replayed game",
            reason=reason,
            path=path,
        )


def _list(values: list[Any] | None) -> str:
    return "null" if values is None else f"[{', '.join(map(quote, values))}]"

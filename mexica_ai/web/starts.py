"""Create games of the page (new, from a record, from a position), and restore them from disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation, evaluation_of, recorded_evaluations, replay_played
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.position_text import position_data
from mexica_ai.game.records import EVALUATION, check_evaluations, parse_record
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.figures import resolve_seed
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Nullable, check_options, check_shape, choice
from mexica_ai.session import Session
from mexica_ai.web.drills import Drill, drill_of_game, drill_of_head, drill_of_text, looks_like_drill
from mexica_ai.web.errors import ApiError, api_error
from mexica_ai.web.games import MAX_TURNS, Game
from mexica_ai.web.journal import Folder
from mexica_ai.web.seats import DEFAULT_LEVEL, DEFAULT_SECONDS, OTHER, Seat, bad_value
from mexica_ai.web.several import choose, records_of

_SEAT = {
    "kind": choice("person", "engine"),
    "level?": Nullable(int),
    "name?": Nullable(str),
    "seconds?": Nullable(float),
}
_NEW = {
    "game?": str,
    "players?": int,
    "seed?": Nullable(int),
    "options?": dict,
    "seats?": Nullable([_SEAT]),
    "position?": object,
    "text?": str,
    "example?": str,
    "record?": Nullable(int),
    "from?": str,
    "mistakes?": {"seat": Nullable(int)},
    "at?": Nullable(int),
    "open?": Nullable(bool),
    "draws?": bool,
}
_HEAD = {
    "journal": int,
    "created": str,
    "start": dict,
    "seats": [{**_SEAT, "title?": str}],
    "open": bool,
    "draws": bool,
    "drill?": [dict],
}
_SOURCES = ("game", "position", "text", "example", "from")


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
    text = data.get("text")
    if "example" in data:
        if data["example"] not in examples:
            raise bad_value(f"{path}.example", data["example"], f"one of {', '.join(examples)}")
        text = examples[data["example"]]
    if data.get("record") is not None and text is None:
        raise NotationError(
            f"{path}.record: expected with text or example", reason="BAD_REQUEST", path=f"{path}.record"
        )
    if (drill := _drill(data, text, find, path)) is not None:
        return _drill_game(drill)
    if "from" in data:
        start = _from_game(find(data["from"]), data.get("at"))
    elif text is not None:
        start = _from_text(text, data.get("record"), path)
    elif "position" in data:
        start = _Start(Position.from_json(data["position"]))
    else:
        start = _Start(_dealt(data))
    position = start.position
    if len(position.history) > MAX_TURNS:
        raise ApiError(422, "TOO_MANY_TURNS", f"given {len(position.history)} turns; expected {MAX_TURNS} at most")
    seats = _seats(data.get("seats"), position, start.is_review, names, path)
    has_engines = any(seat.kind == "engine" for seat in seats)
    is_shared = data.get("open")
    if is_shared is None:
        is_shared = start.is_review and not has_engines
    game = _make(position, seats, is_shared=is_shared, draws=data.get("draws", True))
    game.session.resigned = start.resigned
    game.evaluations = {one.turn_index: one for one in start.evaluations}
    if start.evaluations:
        game.annotation |= {"state": "done" if len(start.evaluations) == len(game.seat_turns()) else "stopped"}
        game.annotation["seconds"] = start.seconds
    return game


def _drill(data: JsonObject, text: str | None, find: Callable[[str], Game], path: str) -> Drill | None:
    """Return the drill of a request, None if it asks for none."""
    if "mistakes" in data:
        if "from" not in data:
            raise NotationError(f"{path}.mistakes: expected with from", reason="BAD_REQUEST", path=f"{path}.mistakes")
        source = find(data["from"])
        source.require_open()
        evaluations = [one for _, one in sorted(source.evaluations.items())]
        name = f"{source.name}-{source.id[:8]}.jsonl"
        return drill_of_game(source.session.record(), evaluations, name, data["mistakes"]["seat"])
    return drill_of_text(text) if text is not None and looks_like_drill(text) else None


def _drill_game(drill: Drill) -> Game:
    """Return the game that shows the first exercise of a drill."""
    position = drill.exercise.world
    game = _make(position.copy(), [OTHER] * position.players, is_shared=False, draws=False)
    game.drill = drill
    game.put_up(drill.exercise)
    return game


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
    """

    position: Position
    is_review: bool = False
    resigned: int | None = None
    evaluations: Sequence[TurnEvaluation] = ()
    seconds: float | None = None


def _from_game(source: Game, number: int | None) -> _Start:
    """Begin at a turn of another game, by default at its end."""
    source.require_open()
    source.at(len(source.positions) - 1 if number is None else number)
    position = source.positions[0].copy()
    for turn in source.turns if number is None else source.turns[:number]:
        position.push(turn)
    return _Start(position)


def _from_text(text: str, number: int | None, path: str) -> _Start:
    """Begin at a position, or at the end of a record: of several, the one with a number, from 1."""
    if not looks_like_record(text):
        return _Start(Position.from_text(text))
    record: JsonObject = parse_record(choose(records_of(text), number, path))
    position = replay_played(record)
    resigned = record.get("forfeit", {}).get("seat")
    time_s = record.get("evaluations", {}).get("time_s")
    return _Start(position, True, resigned, recorded_evaluations(record), time_s)


def _dealt(data: JsonObject) -> Position:
    """Deal the new game of a request."""
    options = data.get("options", {})
    # Not left to `new_game`, which has parameters of its own.
    check_options(data["game"], options, [option.name for option in registry.get(data["game"]).starts.options])
    return new_game(data["game"], players=data.get("players", 2), seed=resolve_seed(data.get("seed")), **options)


def _make(position: Position, seats: list[Seat], **options: Any) -> Game:
    engines: Any = {number: seat for number, seat in enumerate(seats) if seat.kind == "engine"}
    return Game(Session(position, engines), seats, **options)


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
    return [Seat.read(seat, names, f"{path}.seats[{number}]") for number, seat in enumerate(given)]


def looks_like_record(text: str) -> bool:
    """Return whether a text is one record or several."""
    try:
        position_data(text)
    except MexicaAIError as error:
        return error.reason == "RECORD_GIVEN"
    return False


def begin_journal(game: Game, folder: Folder) -> None:
    """Write the journal of a new game."""
    head = {
        "journal": 1,
        "created": game.created,
        "start": game.positions[0].to_json(),
        "seats": [seat.to_json() for seat in game.seats],
        "open": game.is_shared,
        "draws": game.draws,
    } | ({} if game.drill is None else {"drill": game.drill.head()})
    rest: list[JsonObject] = [{"turn": turn} for turn in game.turns]
    if game.session.resigned is not None:
        rest.append({"resigned": game.session.resigned})
    if game.evaluations:
        rest.append({"annotation": game.annotation["seconds"]})
        rest += [{"evaluation": one.to_json()} for one in game.evaluations.values()]
    game.journal = folder.begin(game.id, [head, *rest])


def restore(ident: str, entries: list[JsonObject]) -> Game:
    """Return the game of the entries of a journal.

    Raises
    ------
    NotationError
        They are not the entries of a game; reason BAD_JOURNAL.
    """
    head, *rest = entries
    try:
        if head["journal"] != 1:
            raise ValueError(f"journal {head['journal']}")
        check_shape(head, _HEAD, "start")
        position = Position.from_json(head["start"])
        seats = [Seat(seat["kind"], seat.get("level"), seat.get("name"), seat.get("seconds")) for seat in head["seats"]]
        if len(seats) != position.players:
            raise ValueError(f"{len(seats)} seats")
        if "drill" in head:
            game = _drill_game(drill_of_head(head["drill"]))
        else:
            game = _make(position, seats, is_shared=head["open"], draws=head["draws"])
        game.id, game.created = ident, head["created"]
        for entry in rest:
            _replay_entry(game, entry)
        found = [one.to_json() for _, one in sorted(game.evaluations.items())]
        check_evaluations(found, game.turns, position.players, "evaluations")
    except (KeyError, TypeError, ValueError, IndexError, MexicaAIError) as error:
        raise NotationError(f"{ident}: {type(error).__name__}: {error}", reason="BAD_JOURNAL") from None
    if game.evaluations or game.annotation["seconds"] is not None:
        is_done = len(game.evaluations) == len(game.seat_turns())
        game.annotation["state"] = "done" if is_done else "stopped"
    return game


def _replay_entry(game: Game, entry: JsonObject) -> None:
    match entry:
        case {"turn": turn}:
            game.session.push(turn)
            position = game.session.position
            game.positions.append(Position(position.game, position.state))
        case {"back": limit}:
            game.go_back(limit)
        case {"resigned": _}:
            game.session.resign()
        case {"exercise": number} if game.drill is not None:
            game.drill.go_to(number)
            game.put_up(game.drill.exercise)
        case {"outcome": data} if game.drill is not None:
            game.drill.restore_outcome(data)
        case {"person": seat}:
            game.seat_person(seat)
        case {"annotation": seconds}:
            if game.annotation["seconds"] not in (None, seconds):
                game.evaluations.clear()
            game.annotation["seconds"] = seconds
        case {"evaluation": data}:
            check_shape(data, EVALUATION, "evaluation")
            evaluation = evaluation_of(data)
            game.evaluations[evaluation.turn_index] = evaluation
        case _:
            raise ValueError(f"unknown entry {json.dumps(entry)[:60]}")

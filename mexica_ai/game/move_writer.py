"""Writes the record of a game as a move text, which people read and `move_reader` reads back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mexica_ai.game.move_text import ACTION, MARKED, OWN_TAGS, TAG_NAME, format_result
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.io.terminal import DEFAULT_WIDTH, escape

_INDENT = "    "
_NO_BRACES = str.maketrans("{}", "()")


def format_moves(
    record: JsonObject,
    *,
    comments: Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
    has_boards: bool = False,
) -> str:
    """Return the move text of a record.

    It has the game, the start, the turns, the outcome, the engines, `started_at`, `build`, `comment`, `comments` and
    `tags` of the record. The other keys are for programs and are left out.

    Parameters
    ----------
    record : dict
        One that `mexica_ai.replay` accepts; its outcome is not checked here.
    comments : sequence of str, optional
        One text for each turn, "" where there is none. They follow those of the record. A comment that begins with
        ``?``, ``??``, ``?!``, ``!?``, ``!`` or ``!!`` and a blank is a mark and a comment.
    tags : mapping of str to str, optional
        More headers, such as ``{"Event": "club championship"}``. Names that the record itself has are left out.
    has_boards : bool
        Whether the boards at the start and at the end are drawn, on lines that begin with ``%`` and that no reader
        reads.

    Raises
    ------
    NotationError
        The record cannot be read; or the game is one whose actions have characters that a move text needs for itself
        (reason NOT_WRITABLE); or a name of `tags` is none.
    PositionError, IllegalActionError
        As `mexica_ai.replay`, of the start and the turns.
    """
    position = Position.from_json(record["start"], path="$.start")
    lines = [f'[{name} "{_value(value)}"]' for name, value in _headers(record, position.players, tags or {}).items()]
    lines.append("")
    if has_boards:
        lines += [*_board(position), ""]
    if record.get("comment"):
        lines += [*_fold(_comment(record["comment"])), ""]
    for index, turn in enumerate(record["turns"]):
        said = [entry[index] for entry in (record.get("comments", ()), comments) if index < len(entry) and entry[index]]
        who = "event" if position.is_chance else f"seat {position.to_move}"
        lines += _fold([f"{index + 1}. {who}:", *_turn(turn), *(word for text in said for word in _comment(text))])
        position.push(turn)
    result = format_result(record.get("winners"), position.players)
    lines.append(result)
    if has_boards:
        lines += ["", *_board(position)]
    return "".join(f"{line}\n" for line in lines)


def _headers(record: JsonObject, players: int, more: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a record in their order."""
    found: dict[str, Any] = {"Game": record["game"]}
    found |= {f"Player{seat}": name for seat, name in enumerate(record.get("engines", ()))}
    found |= {name: record[key] for name, key in (("Date", "started_at"), ("Build", "build")) if key in record}
    found |= _free_tags(record.get("tags", {}) | dict(more), players)
    found["Result"] = format_result(record.get("winners"), players)
    if record.get("scores") is not None:
        found["Scores"] = _numbers(record["scores"])
    if "termination" in record:
        found["Termination"] = record["termination"]
    if forfeit := record.get("forfeit"):
        found |= {f"Forfeit{key.capitalize()}": str(forfeit[key]) for key in ("seat", "reason", "detail")}
    if found_by := record.get("adjudication"):
        found |= {f"Adjudication{key.capitalize()}": found_by[key] for key in ("rule", "by")}
        found["AdjudicationForecast"] = _numbers(found_by["forecast"])
    found["Start"] = Position.from_json(record["start"], path="$.start").to_compact()
    return found


def _free_tags(tags: Mapping[str, str], players: int) -> dict[str, str]:
    """Return the headers that say nothing of what others of a record say."""
    names = set(OWN_TAGS) | {f"player{seat}" for seat in range(players)}
    found = {}
    for name, value in tags.items():
        if not TAG_NAME.fullmatch(name):
            raise NotationError(
                f"tags: given {quote(name)}; expected names of letters, digits and _", reason="BAD_TAG", path="tags"
            )
        if name.lower() not in names:
            names.add(name.lower())
            found[name] = value
    return found


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(json.dumps, values))


def _value(text: str) -> str:
    """Return the value of a header on one line; it may be the text of others."""
    return escape(text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\t", " "))


def _board(position: Position) -> list[str]:
    return [f"% {escape(line)}".rstrip() for line in str(position).splitlines()]


def _turn(actions: Sequence[str]) -> list[str]:
    """Return what stands together on a line: each action if it has room there, with the separator to the next."""
    for action in actions:
        if not ACTION.fullmatch(action):
            raise NotationError(
                f'turns: {quote(action)} cannot stand in a move text; expected words without ; , ! ? $ " and brackets',
                reason="NOT_WRITABLE",
                path="turns",
            )
    parts = [action + TURN_SEPARATOR.rstrip() for action in actions[:-1]] + list(actions[-1:])
    longest = DEFAULT_WIDTH - len(_INDENT)
    return [word for part in parts for word in ([part] if len(part) <= longest else part.split())]


def _comment(text: str) -> list[str]:
    """Return the words of a comment in braces, its mark before them. Braces within it become parentheses."""
    words = [escape(word) for word in text.translate(_NO_BRACES).split()]
    mark = words[:1] if words and MARKED.fullmatch(words[0]) else []
    words = words[len(mark) :]
    if words:
        words[0] = "{" + words[0]
        words[-1] += "}"  # perhaps of the same word
    return mark + words


def _fold(words: Iterable[str]) -> list[str]:
    """Return words on lines of at most 80 columns, where a single word is not longer; `%` begins none of them."""
    lines = [""]
    for word in words:
        if not lines[-1]:
            lines[-1] = word
        elif len(lines[-1]) + 1 + len(word) <= DEFAULT_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(_INDENT + word)
    return lines

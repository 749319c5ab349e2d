"""Changes of the lines beside a game, one at a time: a line is added, a turn commented, a line removed.

A `Note` is data: it can be kept in a journal, and what it does follows from the tree that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass

from mexica_ai.game.variations import (
    Line,
    Path,
    Turn,
    add,
    comment,
    format_path,
    line_at,
    parse_path,
    remove,
    walk,
)
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import check_shape, choice

CHANGES = ("add", "comment", "remove")
SHAPE = {"do": choice(*CHANGES), "line": str, "at": int, "turns?": [[str]], "text?": str}


@dataclass(frozen=True)
class Note:
    """A change of the lines of a game.

    Parameters
    ----------
    change : str
        add: `turns` after the place; comment: `text` on the turn before it; remove: what a line has from there on.
    line : tuple of int
        The path of the line.
    at : int
        How many turns the game has at the place, along the line.
    turns : tuple of tuple of str
        To add.
    text : str
        Of a comment; "" removes it.
    """

    change: str
    line: Path
    at: int
    turns: tuple[Turn, ...] = ()
    text: str = ""

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        data: JsonObject = {"do": self.change, "line": format_path(self.line), "at": self.at}
        if self.change == "add":
            data["turns"] = list(map(list, self.turns))
        elif self.change == "comment":
            data["text"] = self.text
        return {"lines": data}


def read_note(data: JsonObject, path: str) -> Note:
    """Return the note that a JSON object describes, as the value of `lines` in a journal does.

    Raises
    ------
    NotationError
        It is none; `path` is where it stands.
    """
    check_shape(data, SHAPE, path)
    turns = tuple(map(tuple, data.get("turns", ())))
    return Note(data["do"], parse_path(data["line"]), data["at"], turns, data.get("text", ""))


def noted(tree: Line, note: Note) -> tuple[Line, Path]:
    """Return the tree after a note, and the line that it is about then.

    Raises
    ------
    NotationError
        The tree has no such place, or would be too deep or too large. See `mexica_ai.game.variations`.
    """
    match note.change:
        case "add":
            return add(tree, note.line, note.at, note.turns)
        case "comment":
            return comment(tree, note.line, note.at, note.text), note.line
        case _:
            is_whole = note.at <= line_at(tree, note.line).at
            return remove(tree, note.line, note.at), note.line[:-1] if is_whole else note.line


def notes_of(tree: Line) -> list[Note]:
    """Return notes that make the variations and comments of a tree of its main line alone."""
    found: list[Note] = []
    for path, line in walk(tree):
        if path:
            found.append(Note("add", path[:-1], line.at, line.turns))
        for number in range(line.at, line.end + 1):
            if text := line.comment_on(number):
                found.append(Note("comment", path, number, text=text))
    return found

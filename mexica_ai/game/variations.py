"""The lines of a game: what was played, and beside it a tree of variations, with comments.

A `Line` is the turns from a place on. The main line holds the turns of the record; a variation leaves the line above it
after some turns. All of it is frozen: what changes a tree returns another one. Nothing here plays turns; `replay` of
`mexica_ai.game.records` checks that variations are legal.

A place is a line and a number of turns. The line is named by a path: for each variation on the way its index among
those of the line that it leaves, so () is the main line. The number counts from the start of the game, along the line,
random events included: after 12 turns of a variation that leaves after 10 stand 2 turns of its own.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import check_shape, quote

MAX_DEPTH = 16  # of variations within variations
MAX_TURNS = 20_000  # of all variations of a game
MAX_COMMENT = 10_000  # characters of a comment within variations

Turn: TypeAlias = tuple[str, ...]
Path: TypeAlias = tuple[int, ...]

_SHAPE = {"at": int, "turns": [[str]], "comment?": str, "comments?": [str], "variations?": [dict]}
_PATH = re.compile(r"[1-9]\d{0,5}(?:\.[1-9]\d{0,5})*")


class Size(NamedTuple):
    """Of the variations of a line.

    Parameters
    ----------
    lines : int
        How many there are.
    turns : int
        How many they have together.
    """

    lines: int
    turns: int


@dataclass(frozen=True)
class Line:
    """A line, and what leaves it.

    Parameters
    ----------
    at : int
        After how many turns of the game it begins; 0 for the main line.
    turns : tuple of tuple of str
        Its own turns.
    comment : str
        Before its first turn.
    comments : tuple of str
        One for each turn, "" where there is none; () is none at all.
    variations : tuple of Line
        Those that leave it, ascending by `at`. A variation of a variation leaves it within its turns; one of the main
        line may begin anywhere, also where the record ends.
    """

    at: int = 0
    turns: tuple[Turn, ...] = ()
    comment: str = ""
    comments: tuple[str, ...] = ()
    variations: tuple[Line, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.comments:
            object.__setattr__(self, "comments", ("",) * len(self.turns))

    @property
    def end(self) -> int:
        """How many turns the game has at the end of the line."""
        return self.at + len(self.turns)

    @functools.cached_property
    def size(self) -> Size:
        """How large its variations are, and theirs."""
        sizes = [one.size for one in self.variations]
        return Size(
            sum(size.lines + 1 for size in sizes),
            sum(size.turns + len(one.turns) for one, size in zip(self.variations, sizes, strict=True)),
        )

    def comment_on(self, number: int) -> str:
        """Return the comment on the turn that makes it `number` turns, `at` to `end`; at `at` that before the line."""
        return self.comment if number == self.at else self.comments[number - self.at - 1]


# --- reading and writing


def check_variations(variations: list[JsonObject], turns: Sequence[list[str]], path: str) -> None:
    """Raise NotationError unless these are variations of turns, in the form of a record. Does not play them.

    Parameters
    ----------
    variations : list of dict
        Untrusted.
    turns : sequence of list of str
        Those of the record.
    path : str
        Where the variations stand.
    """
    total = _check_level(variations, 0, turns, path, 1)
    if total > MAX_TURNS:
        raise _mismatch(path, f"have {total:,} turns; expected {MAX_TURNS:,} at most", "TOO_MANY_TURNS")


def _check_level(variations: list[JsonObject], first: int, above: Sequence[list[str]], path: str, depth: int) -> int:
    """Check the variations of a line that begins after `first` turns; return how many turns they have."""
    if depth > MAX_DEPTH:
        raise _mismatch(path, f"variations within {MAX_DEPTH} others; expected no more", "TOO_DEEP")
    check_shape(variations, [_SHAPE], path)
    # One of a variation leaves it within: where it begins, it is one of the line above; at its end, it goes on with it.
    lowest, highest = (0, len(above)) if depth == 1 else (first + 1, first + len(above) - 1)
    last, total = lowest, 0
    begun: set[tuple[int, Turn]] = set()
    for number, entry in enumerate(variations):
        where, at, turns = f"{path}[{number}]", entry["at"], entry["turns"]
        if not last <= at <= highest:
            expected = f"{last} to {highest}, ascending" if last <= highest else "no variation of a line of one turn"
            raise _mismatch(f"{where}.at", f"given {at}; expected {expected}")
        if not turns:
            raise _mismatch(f"{where}.turns", "given none; expected one turn at least")
        if at - first < len(above) and turns[0] == above[at - first]:
            raise _mismatch(f"{where}.turns[0]", "given the turn of the line itself; expected another one")
        if (at, tuple(turns[0])) in begun:
            raise _mismatch(f"{where}.turns[0]", "another variation begins so; expected one variation for both")
        _check_comments(entry, where)
        last = at
        begun.add((at, tuple(turns[0])))
        total += len(turns)
        total += _check_level(entry.get("variations", []), at, turns, f"{where}.variations", depth + 1)
    return total


def _check_comments(entry: JsonObject, where: str) -> None:
    comments, num_turns = entry.get("comments", []), len(entry["turns"])
    if len(comments) not in (0, num_turns):
        problem = f"has {len(comments)} entries; expected one for each of the {num_turns} turns"
        raise _mismatch(f"{where}.comments", problem, "COMMENTS_COUNT")
    if max(map(len, [entry.get("comment", ""), *comments])) > MAX_COMMENT:
        raise _mismatch(where, f"has a longer comment; expected {MAX_COMMENT:,} characters at most", "TOO_LONG")


def _mismatch(path: str, problem: str, reason: str = "VARIATIONS_MISMATCH") -> NotationError:
    return NotationError(f"{path}: {problem}", reason=reason, path=path)


def lines_of(record: JsonObject) -> Line:
    """Return the main line of a record, whose form is checked, with its variations and comments."""
    return _read({"at": 0} | record)


def _read(entry: JsonObject) -> Line:
    return Line(
        entry["at"],
        tuple(map(tuple, entry["turns"])),
        entry.get("comment", ""),
        tuple(entry.get("comments", ())),
        tuple(map(_read, entry.get("variations", ()))),
    )


def with_lines(record: JsonObject, tree: Line) -> JsonObject:
    """Return a copy of a record with the comments and variations of a tree, whose main line has the record's turns."""
    kept = {key: value for key, value in record.items() if key not in ("comment", "comments", "variations")}
    return kept | _written(tree)


def _written(line: Line) -> JsonObject:
    """Return the comments and variations of a line as keys of a JSON object; none that would be empty."""
    data: JsonObject = {}
    if line.comment:
        data["comment"] = line.comment
    if any(line.comments):
        data["comments"] = list(line.comments)
    if line.variations:
        data["variations"] = [
            {"at": one.at, "turns": list(map(list, one.turns)), **_written(one)} for one in line.variations
        ]
    return data


def format_path(path: Path) -> str:
    """Return the name of a line: ``2`` is the second variation of the main line, ``2.1`` the first one of that."""
    return ".".join(str(index + 1) for index in path)


def parse_path(text: str) -> Path:
    """Return the path that `format_path` writes; "" is the main line.

    Raises
    ------
    NotationError
        It is none; reason BAD_LINE.
    """
    if text and not _PATH.fullmatch(text):
        raise NotationError(f"line: given {quote(text)}; expected a number such as 2 or 2.1", reason="BAD_LINE")
    return tuple(int(word) - 1 for word in text.split(".") if word)


# --- places


def line_at(tree: Line, path: Path) -> Line:
    """Return the line of a path.

    Raises
    ------
    NotationError
        There is none; reason NO_LINE.
    """
    line = tree
    for depth, index in enumerate(path):
        if not 0 <= index < len(line.variations):
            name = f"line {format_path(path[: depth + 1])}"
            above = f"line {format_path(path[:depth])}" if depth else "the game"
            raise NotationError(
                f"line: there is no {name}; expected one of the {len(line.variations)} variations of {above}",
                reason="NO_LINE",
                path="line",
            )
        line = line.variations[index]
    return line


def walk(tree: Line) -> Iterator[tuple[Path, Line]]:
    """Yield each line with its path, a line before its variations."""
    waiting: list[tuple[Path, Line]] = [((), tree)]
    while waiting:
        path, line = waiting.pop()
        yield path, line
        waiting += [((*path, index), one) for index, one in enumerate(line.variations)][::-1]


def turns_along(tree: Line, path: Path) -> tuple[Turn, ...]:
    """Return all turns from the start of the game to the end of a line."""
    turns = tree.turns
    for depth in range(1, len(path) + 1):
        line = line_at(tree, path[:depth])
        turns = turns[: line.at] + line.turns
    return turns


def climb(tree: Line, path: Path, number: int) -> Path:
    """Return the line that has the turns of a place: one above, where the line has none of its own yet.

    Raises
    ------
    NotationError
        There is no such place; reason NO_LINE or OUT_OF_RANGE.
    """
    end = line_at(tree, path).end
    if not 0 <= number <= end:
        raise NotationError(
            f"turn: given {number}; expected 0 to {end}, the turns of the line", reason="OUT_OF_RANGE", path="turn"
        )
    while path and number <= line_at(tree, path).at:
        path = path[:-1]
    return path


# --- changes


def add(tree: Line, path: Path, number: int, turns: Sequence[Sequence[str]]) -> tuple[Line, Path]:
    """Add turns after a place. What is there already is followed, so that lines with a common beginning share it.

    Turns after the end of a variation go on with it. After the end of the main line they are a variation, for the main
    line is what was played.

    Returns
    -------
    tree, path
        The new tree, and the line on which the turns end, after ``number + len(turns)``.

    Raises
    ------
    NotationError
        There is no such place; reason NO_LINE or OUT_OF_RANGE. Or the tree would be too deep or too large; reason
        TOO_DEEP or TOO_MANY_TURNS.
    """
    changed, found = _joined(tree, path, number, tuple(map(tuple, turns)))
    _check_size(changed)
    return changed, found


def _joined(tree: Line, path: Path, number: int, turns: tuple[Turn, ...]) -> tuple[Line, Path]:
    """Add turns as `add` does, to a tree that may become too large."""
    path = climb(tree, path, number)
    line, below = _added(line_at(tree, path), bool(path), number, turns)
    if len(path) + len(below) > MAX_DEPTH:
        raise NotationError(f"line: within {MAX_DEPTH} others; expected no more", reason="TOO_DEEP", path="line")
    return _replaced(tree, path, line), path + below


def _check_size(tree: Line) -> None:
    if tree.size.turns > MAX_TURNS:
        problem = f"line: more than {MAX_TURNS:,} turns of variations; expected no more"
        raise NotationError(problem, reason="TOO_MANY_TURNS", path="line")


def _added(line: Line, may_grow: bool, number: int, turns: tuple[Turn, ...]) -> tuple[Line, Path]:
    rest = line.turns[number - line.at :]
    common = next(
        (index for index, (a, b) in enumerate(zip(rest, turns, strict=False)) if a != b), min(len(rest), len(turns))
    )
    number, turns = number + common, turns[common:]
    if not turns:
        return line, ()
    first = bisect_left(line.variations, number, key=_at)
    for index, one in enumerate(line.variations[first : bisect_right(line.variations, number, key=_at)], first):
        if one.turns[0] == turns[0]:
            grown, path = _added(one, True, number, turns)
            return _with_variation(line, index, grown), (index, *path)
    if may_grow and number == line.end:
        more = ("",) * len(turns)
        return replace(line, turns=line.turns + turns, comments=line.comments + more), ()
    index = bisect_right(line.variations, number, key=_at)
    new = Line(number, turns)
    return replace(line, variations=(*line.variations[:index], new, *line.variations[index:])), (index,)


def _at(line: Line) -> int:
    return line.at


def _with_variation(line: Line, index: int, *changed: Line) -> Line:
    """Return a line with other lines, or none, in place of one of its variations."""
    return replace(line, variations=(*line.variations[:index], *changed, *line.variations[index + 1 :]))


def _replaced(tree: Line, path: Path, line: Line | None) -> Line:
    """Return a tree with another line, or none, at a path; none stands for the main line only if it is not asked."""
    for depth in range(len(path) - 1, -1, -1):
        above = line_at(tree, path[:depth])
        line = _with_variation(above, path[depth], *([] if line is None else [line]))
    assert line is not None
    return line


def remove(tree: Line, path: Path, number: int = 0) -> Line:
    """Remove the turns of a variation after `number` turns of the game, with all that leaves the line there or later.

    By default the whole variation goes.

    Raises
    ------
    NotationError
        There is no such line, or it is the main line, which was played; reason NO_LINE.
    """
    line = line_at(tree, path)
    if not path:
        raise NotationError("line: the game itself; expected a variation", reason="NO_LINE", path="line")
    kept = number - line.at
    if kept <= 0:
        return _replaced(tree, path, None)
    staying = tuple(one for one in line.variations if one.at < number)
    return _replaced(
        tree, path, replace(line, turns=line.turns[:kept], comments=line.comments[:kept], variations=staying)
    )


def comment(tree: Line, path: Path, number: int, text: str) -> Line:
    """Set the comment on the turn that makes it `number` turns, "" for none; where the line begins, that before it.

    Raises
    ------
    NotationError
        There is no such place; reason NO_LINE or OUT_OF_RANGE. Or the text is too long for a variation; TOO_LONG.
    """
    if number != line_at(tree, path).at:
        path = climb(tree, path, number)
    if path:
        check_comment(text, "comment")
    return _commented(tree, path, number, text)


def check_comment(text: str, path: str) -> None:
    """Raise NotationError if a text is too long for a comment; `path` is where it stands."""
    if len(text) > MAX_COMMENT:
        problem = f"{path}: given {len(text):,} characters; expected {MAX_COMMENT:,} at most"
        raise NotationError(problem, reason="TOO_LONG", path=path)


def _commented(tree: Line, path: Path, number: int, text: str) -> Line:
    """Return a tree with a comment within a line, whose turns `number` counts."""
    line = line_at(tree, path)
    if number == line.at:
        return _replaced(tree, path, replace(line, comment=text))
    index = number - line.at - 1
    texts = (*line.comments[:index], text, *line.comments[index + 1 :])
    return _replaced(tree, path, replace(line, comments=texts))


def merge(tree: Line, other: Line) -> Line:
    """Return a tree with all lines and comments of another tree of the same game.

    Where both have a comment, the other one's follows, unless it is there already. A comment before a line that now
    begins within another one follows the line's first turn.

    Raises
    ------
    NotationError
        It would be too deep or too large; reason TOO_DEEP or TOO_MANY_TURNS.
    """
    for path, line in walk(other):
        tree, own = _joined(tree, (), 0, turns_along(other, path))
        if not path:
            tree = _comment_more(tree, (), 0, line.comment)
        elif line_at(tree, own).at == line.at:
            tree = _comment_more(tree, own, line.at, line.comment)
        else:
            tree = _comment_more(tree, climb(tree, own, line.at + 1), line.at + 1, line.comment)
        for number, text in enumerate(line.comments, line.at + 1):
            tree = _comment_more(tree, climb(tree, own, number) if text else own, number, text)
    _check_size(tree)
    return tree


def _comment_more(tree: Line, path: Path, number: int, text: str) -> Line:
    if not text:
        return tree
    own = line_at(tree, path).comment_on(number)
    both = f"{own} {text}" if own else text
    is_known = text in own or (path != () and len(both) > MAX_COMMENT)
    return tree if is_known else _commented(tree, path, number, both)


def fit(tree: Line, turns: Sequence[Sequence[str]]) -> Line:
    """Return the tree of a game that has other turns now, since some were played or taken back.

    What belongs to turns that are no longer played goes. A variation that begins as the game has gone on stays as far
    as it differs.
    """
    played = tuple(map(tuple, turns))
    common = 0
    while common < min(len(played), len(tree.turns)) and played[common] == tree.turns[common]:
        common += 1
    kept = tuple(one for one in tree.variations if one.at <= common)
    goes_on = common == len(tree.turns) < len(played)
    if goes_on and not any(one.at == common and one.turns[0] == played[common] for one in kept):
        return replace(tree, turns=played, comments=tree.comments + ("",) * (len(played) - common))
    old = replace(tree, turns=tree.turns[:common], comments=tree.comments[:common], variations=kept)
    return merge(Line(0, played), old)

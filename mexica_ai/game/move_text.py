"""The parts of a move text, a game as plain text as PGN is for chess: what its reader and its writer share.

A move text has headers, ``[Name "value"]``, then the turns with numbers, comments in braces and marks, and the
result. docs/formats.md describes it. Here are the patterns of these parts, results, and games in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import MAX_JSON

MAX_GAME = MAX_JSON  # bytes of the text of one game
OPEN_RESULT = "*"  # of a game that is not decided, or nobody knows how
TAG = r'\[\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\]'
COMMENT = r"\{(?P<comment>[^}]*)\}"
RESULT = r"(?:\d+(?:/\d+)?(?:-\d+(?:/\d+)?)+|\*)(?=[\s{]|\Z)"
MARK = r"[!?]{1,2}"
NUMBER = r"\d+\.+"  # of a turn
LABEL = r"(?i:seat\s+(?P<seat>\d{1,9})|(?P<event>event))\s*:"  # who plays a turn
# The words of an action: none begins a number, a label or a result, or has a character that means something here.
_WORD = rf"(?!{NUMBER}|{RESULT}|(?i:seat\s+\d{{1,9}}|event)\s*:)[^\s;,{{}}\[\]!?$\"]+"
WORDS = rf"{_WORD}(?:[^\S\n]+{_WORD})*"
# Headers, in small letters, that are keys of a record.
OUTCOME_TAGS = {
    "result", "scores", "termination", "forfeitseat", "forfeitreason", "forfeitdetail",
    "adjudicationrule", "adjudicationby", "adjudicationforecast",
}  # fmt: skip
TEXT_TAGS = {"date": "started_at", "build": "build"}
OWN_TAGS = {"game", "start"} | OUTCOME_TAGS | TEXT_TAGS.keys()
TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
MARKED = re.compile(rf"({MARK})(?:\s|\Z)")
ACTION = re.compile(rf"(?!%){_WORD}(?: {_WORD})*")  # one that a move text can hold

_BEGINNING = re.compile(r'\ufeff?(?:\s|^%.*+)*+\[\s*[A-Za-z][A-Za-z0-9_]*\s+"', re.MULTILINE)
_HEADER_LINE = re.compile(rb'\s*\[\s*[A-Za-z][A-Za-z0-9_]*\s+"')
_TAG_BYTES = re.compile(TAG.encode())
_HEAD = 1 << 16  # characters in which the first header stands


def is_move_text(text: str | bytes) -> bool:
    """Return whether a text begins as a move text does, with a header; JSON and compact positions never do."""
    head = text[:_HEAD]
    return bool(_BEGINNING.match(head.decode("utf-8", "replace") if isinstance(head, bytes) else head))


def is_header(line: bytes) -> bool:
    """Return whether a line begins with a header."""
    return bool(_HEADER_LINE.match(line.removeprefix(b"\xef\xbb\xbf")))


def split_games(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the move text of each game of a file, with the number of its first line.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        The lines with their numbers, without their ends. A game begins at a header on a line that follows turns.

    Raises
    ------
    NotationError
        A game has over `MAX_GAME` bytes; reason TOO_LONG.
    """
    game: list[bytes] = []
    first, size, has_turns, is_comment = 0, 0, False, False
    for number, line in lines:
        if not game and not line.strip():
            continue
        if has_turns and not is_comment and is_header(line):
            yield first, b"\n".join(game)
            game, size, has_turns = [], 0, False
        if not game:
            first = number
        game.append(line)
        size += len(line) + 1
        if size > MAX_GAME:
            raise NotationError(
                f"line {first}: a game of over {MAX_GAME:,} bytes begins; expected a smaller one", reason="TOO_LONG"
            )
        if not is_comment and line.startswith(b"%"):
            continue
        rest = line if is_comment else _TAG_BYTES.sub(b"", line.removeprefix(b"\xef\xbb\xbf"))
        has_turns = has_turns or bool(rest.strip())
        # The last brace decides: an opening one within a comment means nothing.
        opened, closed = rest.rfind(b"{"), rest.rfind(b"}")
        is_comment = opened > closed or (is_comment and closed < 0)
    if game:
        yield first, b"\n".join(game)


def format_result(winners: Sequence[int] | None, players: int) -> str:
    """Return the share of the win of each seat, such as ``1-0`` or ``1/2-1/2-0``; ``*`` if `winners` is None."""
    if not winners:
        return OPEN_RESULT
    share = "1" if len(winners) == 1 else f"1/{len(winners)}"
    return "-".join(share if seat in winners else "0" for seat in range(players))


def parse_result(text: str, players: int) -> list[int] | None:
    """Return the winners that a result of `format_result` names, None for ``*``.

    Raises
    ------
    ValueError
        It is no such result of this number of seats; the message says what was expected.
    """
    text = text.strip()
    if text == OPEN_RESULT:
        return None
    expected = f"the share of the win of each seat, such as {format_result([0], players)}, or *"
    if not re.fullmatch(RESULT, text):
        raise ValueError(expected)
    try:
        shares = [Fraction(word) for word in text.split("-")]
    except (ZeroDivisionError, ValueError):  # ValueError: of digits without end
        raise ValueError(expected) from None
    winners = [seat for seat, share in enumerate(shares) if share]
    if len(shares) != players or sum(shares) != 1 or len({shares[seat] for seat in winners}) != 1:
        raise ValueError(expected)
    return winners

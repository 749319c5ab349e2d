"""Mexica's compact form: the board row by row, then the turn, the seats, the canal tiles and the tokens.

A row is written like a row of FEN: a number is a run of empty spaces, ``~`` a canal, ``=`` and ``:`` a canal under a
bridge (east-west, north-south), ``b3`` a temple of seat 1 and level 3 (``n`` neutral), ``#9`` a calpulli token. Sizes
are single digits of base 14, so ``#D`` is a 13.
"""

import re
from collections.abc import Iterable

from mexica_ai.game.compact import NONE, bad_compact, or_none, seats_of, split_fields, text_of
from mexica_ai.games.mexica import board
from mexica_ai.io.json_types import JsonObject

_SEATS = "abcdn"  # by seat; the last is of neutral temples, whose seat is -1
_SIZES = "0123456789ABCD"
_BRIDGES = {"=": "ew", ":": "ns"}
_PIECE = rf"\d{{1,2}}|[~=:]|[{_SEATS}][1-4]|#[3-9A-D]"
_ROW = f"(?:{_PIECE})++"  # possessive: trying every way to split digits would take too long
_SEAT = r"\d{1,3},\d{1,2},(?:[A-U]\d{1,2}|-),\d{4}"
_LIST = "(?:[3-9A-D]+|-)"
_FIELDS = {
    "board": (f"{_ROW}(?:/{_ROW}){{{board.NUM_ROWS - 1}}}", "21/4~~15/..., 14 rows"),
    "turn": (r"(?:placement|play|over),[12],\d{1,7},[0-3],[0-6],[0-2],[0-4],[01]", "play,1,4,0,6,0,0,1"),
    "seats": (f"{_SEAT}(?:/{_SEAT}){{0,3}}", "4,1,H5,3221/7,0,-,3321"),
    "canal tiles": (r"\d{1,2},\d{1,2}", "6,35"),
    "tokens": (rf"{_LIST},{_LIST},(?:[3-9A-D]+|[?-]),{_LIST}", "35,-,446,-"),
}
_TURN = ("period", "round", "to_move", "action_points", "tokens_taken", "idle_rounds")


def format_compact(data: JsonObject) -> str:
    """Return the fields of a JSON position in canonical form."""
    marks = dict.fromkeys(data["canals"], "~")
    axes = {axis: mark for mark, axis in _BRIDGES.items()}
    marks |= {bridge["at"]: axes[bridge["axis"]] for bridge in data["bridges"]}
    marks |= {temple["at"]: f"{_SEATS[temple['seat']]}{temple['level']}" for temple in data["temples"]}
    calpulli = data["calpulli"]
    marks |= {token["at"]: f"#{_SIZES[token['size']]}" for token in calpulli["placed"]}
    rows = [
        _format_row([marks.get(f"{column}{row}", "") for column in board.COLUMNS])
        for row in range(1, board.NUM_ROWS + 1)
    ]
    seats = [
        f"{seat['score']},{seat['action_tokens']},{or_none(seat['pilli'])},{''.join(map(str, seat['temples']))}"
        for seat in data["seats"]
    ]
    tiles = data["canal_tiles"]
    upcoming = "?" if calpulli["upcoming"] is None else _format_sizes(calpulli["upcoming"])
    display, removed, pool = (_format_sizes(calpulli.get(key, ())) for key in ("display", "removed", "pool"))
    turn = [data["phase"], *(data[key] for key in _TURN), int(data["built_this_round"])]
    return " ".join(
        [
            "/".join(rows),
            ",".join(map(str, turn)),
            "/".join(seats),
            f"{tiles['single']},{tiles['double']}",
            f"{display},{removed},{upcoming},{pool}",
        ]
    )


def parse_compact(text: str, path: str = "position") -> JsonObject:
    """Return the JSON position of compact fields; whether it is valid is left to the reader of that form."""
    (rows,), turn, of_seats, tiles, tokens = split_fields(text, _FIELDS, path)
    pieces = _read_board(rows, path)
    seats = [
        {
            "score": int(score),
            "action_tokens": int(number),
            "pilli": text_of(pilli),
            "temples": list(map(int, temples)),
        }
        for score, number, pilli, temples in seats_of(of_seats)
    ]
    display, removed, upcoming, pool = map(_read_sizes, tokens)
    return {
        "game": "mexica",
        "version": 1,
        "players": len(seats),
        "phase": turn[0],
        **dict(zip(_TURN, map(int, turn[1:-1]), strict=True)),
        "built_this_round": turn[-1] == "1",
        "seats": seats,
        "canals": [at for at, mark in pieces if mark[0] in "~=:"],
        "canal_tiles": {"single": int(tiles[0]), "double": int(tiles[1])},
        "bridges": [{"at": at, "axis": _BRIDGES[mark]} for at, mark in pieces if mark in _BRIDGES],
        "temples": [
            {"at": at, "seat": board.NEUTRAL if mark[0] == "n" else _SEATS.index(mark[0]), "level": int(mark[1])}
            for at, mark in pieces
            if mark[0] in _SEATS
        ],
        "calpulli": ({"pool": pool} if pool else {})
        | {
            "display": display,
            "placed": [{"at": at, "size": _SIZES.index(mark[1])} for at, mark in pieces if mark[0] == "#"],
            "removed": removed,
            "upcoming": upcoming,
        },
    }


def _format_row(marks: Iterable[str]) -> str:
    row, bare = "", 0
    for mark in marks:
        if mark:
            row += (str(bare) if bare else "") + mark
            bare = 0
        else:
            bare += 1
    return row + (str(bare) if bare else "")


def _read_board(rows: str, path: str) -> list[tuple[str, str]]:
    """Return (name of the space, mark) of everything on the board."""
    pieces = []
    for number, row in enumerate(rows.split("/"), 1):
        column = 0
        for mark in re.findall(_PIECE, row):
            if mark.isdigit():
                column += int(mark)
            else:
                if column < len(board.COLUMNS):
                    pieces.append((f"{board.COLUMNS[column]}{number}", mark))
                column += 1
        if column != len(board.COLUMNS):
            raise bad_compact(path, f"row {number} has {column} spaces; expected {len(board.COLUMNS)}")
    return pieces


def _format_sizes(sizes: Iterable[int]) -> str:
    return "".join(_SIZES[size] for size in sizes) or NONE


def _read_sizes(text: str) -> list[int] | None:
    return None if text == "?" else [_SIZES.index(digit) for digit in text_of(text)]

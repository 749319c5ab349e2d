"""Mexica as text: the island, then the seats and the table. No colours, 80 columns.

The free spaces of a district show its letter, which the list of
districts below the board explains.
"""

import textwrap
from collections.abc import Iterable
from string import ascii_lowercase
from typing import TypeAlias

from cext.core.contract.game import State
from cext.games.mexica.ops import state_to_fields
from mexica_ai.game.text_forms import count
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space
from mexica_ai.io.json_types import JsonObject

SEAT_MARKS = "▲●■◆△"  # one per seat; the last is of neutral temples, whose seat is -1
LAKE, CANAL, PALACE, PALACE_CENTRE = "   ", "≈≈≈", " + ", " * "
BRIDGES = {"ns": "║ ║", "ew": "═══"}
ANY_DISTRICT = "·"  # of the largest unfounded district, of tiny ones, and of those after the letter z
MIN_LETTERED = 3  # spaces of a district with a letter: the size of the smallest token
WIDTH = 80
Lettered: TypeAlias = tuple[str, frozenset[int]]  # a district with its letter
NO_BREAK = "\N{NO-BREAK SPACE}"

LEGEND = "  ".join(
    (
        f"{CANAL} canal",
        f"{BRIDGES['ns']} {BRIDGES['ew']} bridge",
        f"{SEAT_MARKS[0]}3 temple level 3",
        f"({SEAT_MARKS[0]}) pilli",
        "#9 calpulli",
        "+*+ palace",
    )
)


def render(state: State) -> str:
    """Return a state as a text board that a person can read quickly."""
    fields = state_to_fields(state)
    districts = _name_districts(fields)
    blocks = (
        _heading(fields),
        _island(fields, districts),
        LEGEND,
        _seats(fields),
        _table(fields),
        _district_lines(fields, districts),
    )
    return "\n\n".join(blocks)


def _name_districts(fields: JsonObject) -> list[Lettered]:
    """Return (letter, spaces) of each district, the largest first."""
    tokens = {token["at"] for token in fields["calpulli"]["placed"]}
    districts = sorted(board.districts(fields["canals"]), key=len, reverse=True)
    widest_open = next((district for district in districts if not tokens & district), None)
    letters = iter(ascii_lowercase)
    return [
        (
            ANY_DISTRICT if district is widest_open or len(district) < MIN_LETTERED else next(letters, ANY_DISTRICT),
            district,
        )
        for district in districts
    ]


def _heading(fields: JsonObject) -> str:
    game = f"Mexica, {fields['players']} players"
    if fields["phase"] == "over":
        return f"{game}: over after {count(fields['round'] - 1, 'round')}"
    mover = f"{SEAT_MARKS[fields['to_move']]} seat {fields['to_move']}"
    if fields["phase"] == "placement":
        return f"{game}: {mover} places its pilli"
    game += f", period {fields['period']}, round {fields['round']}"
    if fields["idle_rounds"]:
        game += f", after {count(fields['idle_rounds'], 'idle round')}"
    turn = f"{mover} to move, {fields['action_points']} AP left"
    if fields["tokens_taken"]:
        turn += f", {count(fields['tokens_taken'], 'action token')} taken this turn"
    return f"{game}\n{turn}"


def _island(fields: JsonObject, districts: Iterable[Lettered]) -> str:
    cells = dict.fromkeys(board.GRID, LAKE)
    for letter, district in districts:
        cells |= dict.fromkeys(district, f" {letter} ")
    cells |= dict.fromkeys(board.STARTING_SPACES, PALACE)
    cells[board.PALACE_CENTRE] = PALACE_CENTRE
    cells |= dict.fromkeys(fields["canals"], CANAL)
    cells |= {bridge["at"]: BRIDGES[bridge["axis"]] for bridge in fields["bridges"]}
    cells |= {temple["at"]: f" {SEAT_MARKS[temple['seat']]}{temple['level']}" for temple in fields["temples"]}
    cells |= {token["at"]: f"#{token['size']}".rjust(3) for token in fields["calpulli"]["placed"]}
    for mark, seat in zip(SEAT_MARKS, fields["seats"], strict=False):
        if seat["pilli"]:
            sides = {BRIDGES["ns"]: "║║", BRIDGES["ew"]: "══"}.get(cells[seat["pilli"]], "()")
            cells[seat["pilli"]] = sides[0] + mark + sides[1]
    columns = ("   " + "".join(f" {column} " for column in board.COLUMNS)).rstrip()
    rows = []
    for row in range(1, board.NUM_ROWS + 1):
        line = "".join(cells[row * 32 + column] for column in range(1, len(board.COLUMNS) + 1))
        rows.append(f"{row:2} {line} {row}")
    return "\n".join([columns, *rows, columns])


def _seats(fields: JsonObject) -> str:
    lines = ["  seat   score  action tokens  pilli  temples left: level 1  2  3  4"]
    for index, seat in enumerate(fields["seats"]):
        arrow = ">" if index == fields["to_move"] and fields["phase"] != "over" else " "
        pilli = format_space(seat["pilli"]) if seat["pilli"] else "-"
        stock = "".join(f"{number:3}" for number in seat["temples"])
        lines.append(
            f"{arrow} {SEAT_MARKS[index]} {index}{seat['score']:9}{seat['action_tokens']:15}{pilli:>7}{'':17}{stock}"
        )
    return "\n".join(lines)


def _table(fields: JsonObject) -> str:
    calpulli = fields["calpulli"]
    upcoming = "unknown" if calpulli["upcoming"] is None else _sizes_text(calpulli["upcoming"])
    rows = {
        "display": _sizes_text(calpulli["display"]),
        "founded": _sizes_text(sorted(token["size"] for token in calpulli["placed"])),
        "removed": _sizes_text(calpulli["removed"]),
        "period 2": upcoming if fields["period"] == 1 else None,
        "supply": ", ".join(
            (
                count(fields["canal_tiles"]["double"], "double canal"),
                count(fields["canal_tiles"]["single"], "single canal"),
                count(board.NUM_BRIDGES - len(fields["bridges"]), "bridge"),
                count(
                    board.NUM_ACTION_TOKENS - sum(seat["action_tokens"] for seat in fields["seats"]),
                    "action token",
                ),
            )
        ),
    }
    return "\n".join(f"  {name:10}{text}" for name, text in rows.items() if text is not None)


def _district_lines(fields: JsonObject, districts: Iterable[Lettered]) -> str:
    """Return the list of districts: letter, number of spaces, and each seat's sum of temple levels."""
    tokens = {token["at"] for token in fields["calpulli"]["placed"]}
    rows: dict[str, list[str]] = {"founded": [], "open": [], "tiny": []}
    temples = {temple["at"]: (temple["seat"], temple["level"]) for temple in fields["temples"]}
    num_bare = 0
    for letter, district in districts:
        levels = board.levels(temples, district)
        status = "founded" if tokens & district else "open" if len(district) >= MIN_LETTERED else "tiny"
        if status == "tiny" and not levels:
            num_bare += 1
            continue
        ranked = sorted(levels.items(), key=lambda item: (-item[1], item[0]))
        entry = [letter, str(len(district)), *(f"{SEAT_MARKS[seat]}{total}" for seat, total in ranked)]
        rows[status].append(" ".join(entry))
    if num_bare:
        rows["tiny"].append(f"{num_bare} without temples")
    lines = ["  districts: letter, spaces, levels of temples"]
    for name, entries in rows.items():
        # Do not break an entry.
        text = "   ".join(entry.replace(" ", NO_BREAK) for entry in entries) or "-"
        lines += textwrap.wrap(text, WIDTH, initial_indent=f"  {name:10}", subsequent_indent=" " * 12)
    return "\n".join(lines).replace(NO_BREAK, " ")


def _sizes_text(sizes: Iterable[int]) -> str:
    return " ".join(map(str, sizes)) or "-"

"""Facts about the island and the pieces of Mexica.

A *cell* is the integer row * 32 + column (row 1-14, column A = 1 to U = 21), as in the compiled core. Cells
around the grid have numbers, too, and are lake, so neighbours need no bounds check. Reading order is
ascending cell number.

Source: the rulebook's components (chapter 2) and its picture of the board; `ISLAND` is the compiled core's.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from cext.games.mexica.board import ISLAND
from mexica_ai.io.json_types import JsonObject

COLUMNS = "ABCDEFGHIJKLMNOPQRSTU"
NUM_ROWS = 14
NORTH, WEST, EAST, SOUTH = -32, -1, 1, 32

NUM_DOUBLE_TILES, NUM_SINGLE_TILES = 37, 6  # double tiles include the two printed ones
NUM_BRIDGES = 11
NUM_ACTION_TOKENS = 12
MIN_PLAYERS, MAX_PLAYERS = 2, 4
ACTION_POINTS = 6
MAX_TOKENS_PER_TURN = 2
NEUTRAL = -1  # the seat of a neutral temple
MAX_NEUTRAL_TEMPLES = 40

MIN_SIZE, MAX_SIZE = 3, 13  # of a calpulli token
STANDARD_POOL = (3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13)
NUM_DISPLAYED, NUM_UPCOMING = 8, 7

# Temples of level 1-4 that a seat has received by the end of each period, in stock or built.
TEMPLES_BY_PERIOD = {1: (3, 3, 2, 1), 2: (6, 5, 4, 3)}
STANDARD_NEUTRAL_LEVELS = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4)


def _cells(marks: str) -> tuple[int, ...]:
    return tuple(
        row * 32 + column
        for row, line in enumerate(ISLAND, start=1)
        for column, mark in enumerate(line, start=1)
        if mark in marks
    )


GRID = _cells("#PC.")
LAND = frozenset(_cells("#PC"))
PALACE = frozenset(_cells("P"))
PRINTED_CANALS = _cells("C")
PALACE_CENTRE = 7 * 32 + 8
STARTING_SPACES = tuple(cell for cell in sorted(PALACE) if cell != PALACE_CENTRE)


def format_space(cell: int) -> str:
    """Return the name of a cell of the grid, such as ``H6``."""
    return f"{COLUMNS[cell % 32 - 1]}{cell // 32}"


def parse_space(name: str) -> int:
    """Return the cell of a well-formed space name."""
    return int(name[1:]) * 32 + COLUMNS.index(name[0]) + 1


def neighbours(cell: int) -> tuple[int, int, int, int]:
    """Return the four orthogonally adjacent cells."""
    return cell + NORTH, cell + WEST, cell + EAST, cell + SOUTH


def distance(cell: int, other: int) -> int:
    """Return the Manhattan distance of two cells."""
    return abs(cell // 32 - other // 32) + abs(cell % 32 - other % 32)


def ramps(cell: int, axis: str) -> tuple[int, int]:
    """Return the two cells on which a bridge at `cell` ends; `axis` is ``ns`` or ``ew``."""
    return (cell + NORTH, cell + SOUTH) if axis == "ns" else (cell + WEST, cell + EAST)


def read_temples(temples: Iterable[JsonObject]) -> dict[int, tuple[int, int]]:
    """Return cell -> (seat, level) of the temples of a JSON position."""
    return {parse_space(temple["at"]): (temple["seat"], temple["level"]) for temple in temples}


def levels(temples: Mapping[int, tuple[int, int]], district: Container[int]) -> Counter[int]:
    """Return the sum of levels of each seat's temples in a district; `temples`: see `read_temples`."""
    sums: Counter[int] = Counter()
    for cell, (seat, level) in temples.items():
        if cell in district:
            sums[seat] += level
    return sums


def leaders(levels: Mapping[int, int]) -> list[int]:
    """Return the seats with the most levels, ascending; `NEUTRAL` among them."""
    most = max(levels.values(), default=0)
    return sorted(seat for seat in levels if levels[seat] == most)


def districts(canals: Iterable[int]) -> list[frozenset[int]]:
    """Return the districts (sets of connected dry spaces) that canals leave, ordered by their first spaces."""
    rest = set(LAND.difference(canals))
    components = []
    for start in sorted(rest):
        if start not in rest:
            continue
        rest.remove(start)
        district, frontier = {start}, [start]
        while frontier:
            for cell in neighbours(frontier.pop()):
                if cell in rest:
                    rest.remove(cell)
                    district.add(cell)
                    frontier.append(cell)
        components.append(frozenset(district))
    return components

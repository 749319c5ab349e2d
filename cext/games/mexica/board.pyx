"""The printed island (English rulebook, chapter 2): the text below, and the sets of spaces in ``board.pxd``."""

from cext.games.mexica.rows cimport rows_add, rows_beside, rows_count, rows_none

# Row 1 first, columns A to U. '#' land, 'P' palace, 'C' land under the two printed canal tiles, '.' lake.
ISLAND = (
    ".#...#####...........",
    ".###########.........",
    "############.........",
    "##############.......",
    ".###############.....",
    ".######P######C###.##",
    ".#####PPP#####C######",
    ".######P######C######",
    "..############C#####.",
    ".################....",
    "###############......",
    "#############........",
    "###########..........",
    "..####..##...........",
)


cdef void _fill():
    """Fill in the sets of spaces from the text."""
    global LAND, WATER, PALACE, STARTS, BUILDABLE, PRINTED_CANALS
    cdef rows_t land = rows_none(), palace = rows_none(), canals = rows_none(), centre = rows_none()
    cdef int cell
    for row, text in enumerate(ISLAND, start=1):
        for column, mark in enumerate(text, start=1):
            cell = row * 32 + column
            if mark != ".":
                rows_add(&land, cell)
            if mark == "P":
                rows_add(&palace, cell)
            elif mark == "C":
                rows_add(&canals, cell)
    # The neighbours of the centre are all palace. The other four palace spaces are the starting spaces.
    for row in range(1, NUM_ROWS + 1):
        for column in range(1, NUM_COLUMNS + 1):
            cell = row * 32 + column
            if ISLAND[row - 1][column - 1] == "P" and _palace_neighbours(cell, palace) == 4:
                rows_add(&centre, cell)
    LAND = land
    WATER = ~land
    PALACE = palace
    STARTS = palace & ~centre
    BUILDABLE = land & ~palace
    PRINTED_CANALS = canals


cdef int _palace_neighbours(int cell, rows_t palace):
    """Return the number of palace spaces next to a cell."""
    cdef rows_t here = rows_none()
    rows_add(&here, cell)
    return rows_count(rows_beside(here) & palace)


_fill()

"""The printed island: constant sets of spaces, filled in when the module is imported."""

from cext.games.mexica.rows cimport rows_t

cdef enum:
    NUM_ROWS = 14
    NUM_COLUMNS = 21

cdef rows_t LAND            # the 196 land spaces, palace included
cdef rows_t WATER           # everything else, including the rim around the grid: one lake
cdef rows_t PALACE          # H7 and the four starting spaces
cdef rows_t STARTS          # H6, G7, I7, H8
cdef rows_t BUILDABLE       # land except the palace
cdef rows_t PRINTED_CANALS  # O6, O7, O8, O9: two double tiles

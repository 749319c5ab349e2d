"""Declarations of ``rows.h``: sets of spaces as rows of bits. ``& | ^ ~`` work on `rows_t` as on integers."""

from libc.stdint cimport uint64_t

cdef extern from "rows.h" nogil:
    # An integer to Cython, a 64-byte vector to the C compiler: only the operators above and these functions apply.
    ctypedef unsigned int rows_t
    rows_t rows_none()
    rows_t rows_of(int cell)
    bint rows_has(const rows_t* cells, int cell)
    void rows_add(rows_t* cells, int cell)
    void rows_remove(rows_t* cells, int cell)
    bint rows_any(rows_t cells)
    int rows_count(rows_t cells)
    rows_t rows_east(rows_t cells)
    rows_t rows_west(rows_t cells)
    rows_t rows_north(rows_t cells)
    rows_t rows_south(rows_t cells)
    rows_t rows_beside(rows_t cells)
    rows_t rows_flood(rows_t seed, rows_t mask)
    int rows_first(const rows_t* cells)
    int rows_select(const rows_t* cells, int k)
    int rows_list(const rows_t* cells, uint64_t base, uint64_t scale, uint64_t* out)
    uint64_t zobrist(uint64_t kind, uint64_t fact)

"""Integer widths, limits and the allocator that all compiled modules share. No code."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef uint64_t action_t      # one atomic decision; each game documents its layout bit by bit

cdef enum:
    CHANCE = -1                 # current_player: a random event is pending, see GameOps.chance
    TERMINAL = -2               # current_player: the game is over
    ALL_SEEING = -1             # a viewer who knows everything, see GameOps.hash
    MAX_SEATS = 4               # maximum number of seats; the length of every per-seat vector

cdef extern from "<stdlib.h>" nogil:
    void* aligned_alloc(size_t alignment, size_t size)

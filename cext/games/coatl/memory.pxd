"""Worlds that fit what a seat remembers of the prophecies that went out of sight."""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.games.coatl.state cimport CoatlStateC

# Deals the prophecies that `viewer` cannot place anew, each world that fits its memory as likely, and completes
# what the memory hides from it with a course of events that leads there; 0 if no world fits: nothing changes then.
cdef bint memory_deal(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil

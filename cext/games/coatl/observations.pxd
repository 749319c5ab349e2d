"""Worlds that fit what a seat has observed of the prophecies that went out of sight."""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.games.coatl.state cimport CoatlStateC

# Deals the prophecies that `viewer` cannot place anew, each world that fits its observations as likely, and
# completes what they hide from it with a course of events that leads there; 0 if no world fits: nothing changes then.
cdef bint observations_deal(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil

"""Worlds that fit what a seat has observed of the prophecies that went out of sight."""

from libc.stdint cimport uint16_t, uint64_t
from numpy.random cimport bitgen_t

from cext.games.coatl.belief cimport CoatlBeliefC
from cext.games.coatl.state cimport CoatlStateC

cdef enum:              # Place of an unseen card; those with a seat: place + seat
    HANDS = 0
    AWAYS = 4
    DECK = 8
    NUM_UNSEEN_PLACES = 9
    EVERYWHERE = 511            # a set of places

# Deals the prophecies that `viewer` cannot place anew, each world that fits its observations as likely or, with a
# belief, in proportion to its weight among those with as many cards of each class in each place; and completes what
# they hide from it with a course of events that leads there; 0 if none is found, see MAX_STEPS: nothing changes then.
cdef bint observations_deal(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil

# The same, but each unseen card lies in one of the places `allowed` for it (a set for each card; NULL: everywhere);
# 0 if no such world is found. The world is no uniform draw.
cdef bint observations_deal_within(CoatlStateC* state, int viewer, const uint16_t* allowed,
                                   bitgen_t* rng) noexcept nogil

# Lays unseen prophecies in their places.
cdef void observations_lay(CoatlStateC* state, uint64_t unseen, const uint64_t* places) noexcept nogil

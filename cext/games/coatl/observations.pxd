"""Worlds that fit what a seat has observed of the prophecies that went out of sight."""

from libc.stdint cimport uint16_t
from numpy.random cimport bitgen_t

from cext.games.coatl.state cimport CoatlStateC

cdef enum:              # Place of an unseen card; those with a seat: place + seat
    HANDS = 0
    AWAYS = 4
    DECK = 8
    NUM_UNSEEN_PLACES = 9
    EVERYWHERE = 511            # a set of places

# Deals the prophecies that `viewer` cannot place anew, each world that fits its observations as likely, and
# completes what they hide from it with a course of events that leads there; 0 if no world fits: nothing changes then.
cdef bint observations_deal(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil

# The same, but each unseen card lies in one of the places `allowed` for it (a set for each card; NULL: everywhere);
# 0 if no such world fits, exactly. The world is no uniform draw.
cdef bint observations_deal_within(CoatlStateC* state, int viewer, const uint16_t* allowed,
                                   bitgen_t* rng) noexcept nogil

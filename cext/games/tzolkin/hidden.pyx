"""Dealing the unseen wealth tiles of Tzolk'in anew."""

from libc.stdint cimport uint32_t

from cext.core.rng cimport rng_below
from cext.games.tzolkin.state cimport KEEPING, SeatC, set_member, set_size
from cext.games.tzolkin.tables cimport NUM_DEALT, NUM_WEALTH


cdef uint32_t _draw(uint32_t* rest, int number, bitgen_t* rng) noexcept nogil:
    """Draw so many members of a set."""
    cdef uint32_t bit, drawn = 0
    for _ in range(number):
        bit = <uint32_t>1 << set_member(rest[0], rng_below(rng, set_size(rest[0])))
        rest[0] ^= bit
        drawn |= bit
    return drawn


cdef bint hidden_determinize(TzolkinStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef uint32_t dealt, rest = (<uint32_t>1 << NUM_WEALTH) - 1
    cdef SeatC* seat
    cdef int i
    if state.phase != KEEPING:
        return False
    rest &= ~state.seats[viewer].dealt
    for i in range(state.num_drawn):
        rest &= ~(<uint32_t>1 << state.drawn[i])
    for i in range(state.num_players):
        if i == viewer:
            continue
        seat = &state.seats[i]
        seat.dealt = dealt = _draw(&rest, NUM_DEALT, rng)
        seat.wealth = _draw(&dealt, set_size(seat.wealth), rng)
    return True

"""Dealing the unseen wealth tiles of Tzolk'in anew."""

from libc.stdint cimport uint32_t

from cext.core.contract.rng cimport rng_below
from cext.core.contract.sets cimport set_member, set_size
from cext.games.tzolkin.state cimport KEEPING, SeatC
from cext.games.tzolkin.tables cimport NUM_DEALT, NUM_WEALTH


cdef uint32_t _draw(uint32_t* rest, int number, bitgen_t* rng) noexcept nogil:
    """Draw a number of members of a set."""
    cdef uint32_t bit, drawn = 0
    for _ in range(number):
        bit = <uint32_t>1 << set_member(rest[0], rng_below(rng, set_size(rest[0])))
        rest[0] ^= bit
        drawn |= bit
    return drawn


cdef uint32_t _unseen(const TzolkinStateC* state, int viewer) noexcept nogil:
    """Return the wealth tiles that the viewer has not seen, as a set."""
    cdef uint32_t rest = ((<uint32_t>1 << NUM_WEALTH) - 1) & ~state.seats[viewer].dealt
    cdef int i
    for i in range(state.num_drawn):
        rest &= ~(<uint32_t>1 << state.drawn[i])
    return rest


cdef void _deal(TzolkinStateC* state, int viewer, uint32_t pair, bitgen_t* rng) noexcept nogil:
    """Deal the other seats unseen tiles; those in `pair` (0: none) go to the seat to move."""
    cdef uint32_t dealt, rest = _unseen(state, viewer) & ~pair
    cdef SeatC* seat
    cdef int i
    for i in range(state.num_players):
        if i == viewer:
            continue
        seat = &state.seats[i]
        if pair != 0 and i == state.to_move:
            seat.dealt = pair | _draw(&rest, NUM_DEALT - set_size(pair), rng)
            continue
        seat.dealt = dealt = _draw(&rest, NUM_DEALT, rng)
        seat.wealth = _draw(&dealt, set_size(seat.wealth), rng)


cdef bint hidden_determinize(TzolkinStateC* state, int viewer, const void* belief, bitgen_t* rng) noexcept nogil:
    if state.phase != KEEPING:
        return False
    _deal(state, viewer, 0, rng)
    return True


cdef bint hidden_deal_for(TzolkinStateC* state, int viewer, uint32_t pair, bitgen_t* rng) noexcept nogil:
    if pair & ~_unseen(state, viewer):
        return False
    _deal(state, viewer, pair, rng)
    return True

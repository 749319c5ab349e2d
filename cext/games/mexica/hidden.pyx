"""The hidden information of Mexica: the seven tokens of the second period, in period 1."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from cext.core.contract.rng cimport rng_below
from cext.games.mexica.rules cimport rules_deal
from cext.games.mexica.state cimport MAX_SIZE, MIN_SIZE, SECOND_DEAL


cdef int _count_unseen(const MexicaStateC* state, uint8_t* unseen) noexcept nogil:
    """Count by size the tokens of the pool that period 1 has not shown; return their number."""
    cdef int size, total = 0, i
    for size in range(MAX_SIZE + 1):
        unseen[size] = state.pool[size] - state.display[size] - state.removed[size]
    for i in range(state.num_placed):
        unseen[state.placed_size[i]] -= 1
    for size in range(MAX_SIZE + 1):
        total += unseen[size]
    return total


cdef void _draw_upcoming(MexicaStateC* state, uint8_t* unseen, int total, bitgen_t* rng) noexcept nogil:
    """Draw seven tokens without replacement from the unseen ones, and remove them from `unseen`."""
    cdef int size, k, drawn
    memset(state.upcoming, 0, sizeof(state.upcoming))
    for drawn in range(SECOND_DEAL):
        k = rng_below(rng, total - drawn)
        size = MIN_SIZE
        while k >= unseen[size]:
            k -= unseen[size]
            size += 1
        unseen[size] -= 1
        state.upcoming[size] += 1
    state.upcoming_known = 1


cdef bint hidden_determinize(MexicaStateC* state, int viewer, const void* belief, bitgen_t* rng) noexcept nogil:
    cdef uint8_t unseen[14]             # by size
    cdef int total, size, num_sizes = 0
    if state.period == 2 or not state.is_hidden:
        return False
    total = _count_unseen(state, unseen)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        num_sizes += unseen[size] > 0
    if num_sizes <= 1:
        return False
    _draw_upcoming(state, unseen, total, rng)
    return True


cdef void hidden_chance(MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    cdef uint8_t unseen[14]             # by size
    if not state.upcoming_known:
        _draw_upcoming(state, unseen, _count_unseen(state, unseen), rng)
    rules_deal(state)

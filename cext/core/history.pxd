"""What a search has learnt of single actions, wherever in the tree they were taken: how much better the descents
through them came out than the mean of the node where the actions were taken.

History heuristic: Schaeffer, "The history heuristic" (1983); in Monte Carlo trees: Nijssen and Winands, "Enhancements
for multi-player Monte-Carlo tree search" (2010), progressive history. Here it corrects the priors of actions that come
into view, so that the search tries a reply early if it was good after another turn.

All threads share one table. A slot is a single word, so that it is read and added to as a whole. Actions with the same
hash share a slot.
"""

from libc.math cimport rint
from libc.stdint cimport int64_t, uint64_t

from cext.core.atomics cimport atomic_add_u64, atomic_load_u64
from cext.core.rng cimport mix_bits
from cext.core.types cimport action_t

cdef enum:
    HISTORY_SLOTS = 65536           # a power of 2; 512 KiB, committed as they are touched
    HISTORY_UNIT = 16384            # of the sum, a unit of advantage
    HISTORY_VISITS_BITS = 28

# The lowest HISTORY_VISITS_BITS bits: descents. The others: the sum of their advantages, signed, HISTORY_UNIT for 1.
# All zero: nothing is known. The count of descents starts again at zero when it overflows.
ctypedef uint64_t history_t


cdef inline history_t* history_slot(history_t* table, action_t action, int player, int turn) noexcept nogil:
    """The slot of a player's action in a turn, counted from the root's turn: what is good now may not be good later."""
    return table + (mix_bits(action ^ <uint64_t>turn << 56 ^ <uint64_t>player << 50) & (HISTORY_SLOTS - 1))


cdef inline void history_add(history_t* slot, double advantage) noexcept nogil:
    """Count a descent; `advantage` in [-1, 1]."""
    cdef uint64_t units = <uint64_t><int64_t>rint(advantage * HISTORY_UNIT)
    atomic_add_u64(slot, (units << HISTORY_VISITS_BITS) + 1)


cdef inline double history_advantage(const history_t* slot, double doubt) noexcept nogil:
    """The mean advantage in [-1, 1], as if `doubt` more descents had had none."""
    cdef uint64_t word = atomic_load_u64(slot)
    cdef uint64_t visits = word & ((<uint64_t>1 << HISTORY_VISITS_BITS) - 1)
    if visits == 0:
        return 0.0
    return max(-1.0, min(1.0, <double>(<int64_t>word >> HISTORY_VISITS_BITS) / HISTORY_UNIT / (visits + doubt)))

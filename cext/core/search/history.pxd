"""The history table: for each action, anywhere in the tree, how much better the descents through it did than the mean
of the node where it was taken.

History heuristic: Schaeffer, "The history heuristic" (1983); in Monte Carlo trees: Nijssen and Winands, "Enhancements
for multi-player Monte-Carlo tree search" (2010), progressive history. Here it adjusts the priors of actions that come
into view: the search tries a reply early if the reply was good after another turn.

All threads share one table. A slot is a single word, which is read and updated atomically. Actions with the same hash
share a slot.
"""

from libc.math cimport rint
from libc.stdint cimport int64_t, uint64_t

from cext.core.search.atomics cimport atomic_add_u64, atomic_load_u64
from cext.core.contract.rng cimport mix_bits
from cext.core.contract.types cimport action_t

cdef enum:
    HISTORY_SLOTS = 65536           # a power of 2; 512 KiB, committed when first touched
    HISTORY_UNIT = 16384            # an advantage of 1 in units of the sum
    HISTORY_VISITS_BITS = 28
    HISTORY_VISITS_MASK = (1 << 28) - 1
    # Of a slot, at most; then its mean is known well enough. The sum would overflow at 2097152, and all threads may add
    # at a time.
    HISTORY_MOST_VISITS = 2000000

# The lowest HISTORY_VISITS_BITS bits count descents. The others are the signed sum of their advantages, HISTORY_UNIT
# for 1. Zero: nothing is known.
ctypedef uint64_t history_t


# The slot of a player's action in a turn. Turns are counted from the root's: an action that is good now may be bad
# later.
cdef inline history_t* history_slot(history_t* table, action_t action, int player, int turn) noexcept nogil:
    return table + (mix_bits(action ^ <uint64_t>turn << 56 ^ <uint64_t>player << 50) & (HISTORY_SLOTS - 1))


# Adds a descent with this advantage, in [-1, 1], unless there are HISTORY_MOST_VISITS.
cdef inline void history_add(history_t* slot, double advantage) noexcept nogil:
    cdef uint64_t units = <uint64_t><int64_t>rint(advantage * HISTORY_UNIT)
    if atomic_load_u64(slot) & HISTORY_VISITS_MASK < HISTORY_MOST_VISITS:
        atomic_add_u64(slot, (units << HISTORY_VISITS_BITS) + 1)


# The mean advantage, in [-1, 1], with `doubt` more descents of advantage 0 added.
cdef inline double history_advantage(const history_t* slot, double doubt) noexcept nogil:
    cdef uint64_t word = atomic_load_u64(slot)
    cdef uint64_t visits = word & HISTORY_VISITS_MASK
    if visits == 0:
        return 0.0
    return max(-1.0, min(1.0, <double>(<int64_t>word >> HISTORY_VISITS_BITS) / HISTORY_UNIT / (visits + doubt)))

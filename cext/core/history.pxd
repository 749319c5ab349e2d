"""What a search has learnt of single actions, wherever in the tree they were taken: how much better the descents through
them came out than the mean of the node where they began.

History heuristic: Schaeffer, "The history heuristic" (1983); in Monte Carlo trees: Nijssen and Winands, "Enhancements for
multi-player Monte-Carlo tree search" (2010), progressive history. Here it corrects the priors of actions that are not in
view yet, so that a reply that was good after one turn is looked at early after the next.

One table for all threads, which add to its slots atomically; a reader may see a sum without its last visit. Actions
whose hashes meet share a slot.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from cext.core.atomics cimport atomic_add_u32, atomic_add_u64, atomic_load_u32, atomic_load_u64
from cext.core.rng cimport mix_bits
from cext.core.types cimport action_t

cdef enum:
    HISTORY_SLOTS = 65536           # a power of 2; 1 MiB, committed as it is touched


# 16 bytes. All zero: nothing is known.
ctypedef struct HistoryC:
    uint64_t total              # sum of the advantages in units of 2 ** -32, as a signed number
    uint32_t visits             # how many these are


cdef inline HistoryC* history_slot(HistoryC* table, action_t action, int player, int turn) noexcept nogil:
    """The slot of an action of a player's in a turn (counted from that of the root): what is good now is not always
    good later."""
    return table + (mix_bits(action ^ <uint64_t>turn << 56 ^ <uint64_t>player << 50) & (HISTORY_SLOTS - 1))


cdef inline void history_add(HistoryC* slot, double advantage) noexcept nogil:
    """Count a descent; `advantage` in [-1, 1]."""
    atomic_add_u64(&slot.total, <uint64_t><int64_t>(advantage * 4294967296.0))
    atomic_add_u32(&slot.visits, 1)


cdef inline double history_advantage(const HistoryC* slot, double doubt) noexcept nogil:
    """The mean advantage, together with so many visits that had none."""
    cdef uint32_t visits = atomic_load_u32(&slot.visits)
    if visits == 0:
        return 0.0
    return <int64_t>atomic_load_u64(&slot.total) / 4294967296.0 / (visits + doubt)

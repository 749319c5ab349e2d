"""How a search spends its budget of iterations or time; native threads and batches share it."""

from libc.stdint cimport uint64_t

from cext.core.search.atomics cimport atomic_cas_u32, atomic_load_u32, atomic_store_u32
from cext.core.search.halving cimport halving_advance
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_TIME, RUNNING
from cext.core.search.worker cimport SearchC


# Stops exploring in the root's turn. Every thread reads this cache line, so it is written only once.
cdef inline void budget_stop_exploring(SearchC* search) noexcept nogil:
    if not atomic_load_u32(&search.is_confirming):
        atomic_store_u32(&search.is_confirming, 1)


# Before an iteration of a search with a limit of iterations, of which this many have begun. Ends the search and returns
# False if none is left.
cdef inline bint budget_use_iterations(SearchC* search, uint64_t started) noexcept nogil:
    if started >= search.limits.max_iterations:
        atomic_cas_u32(&search.limits.stop, RUNNING, BY_ITERATIONS)
        return False
    if started >= search.confirm_iterations:
        budget_stop_exploring(search)
    halving_advance(search, <double>started / search.limits.max_iterations)
    return True


# After iterations of a search with a time limit. Ends the search and returns False if the time is up.
cdef inline bint budget_use_time(SearchC* search, double now_s) noexcept nogil:
    if now_s >= search.confirm_s:
        budget_stop_exploring(search)
    halving_advance(search, (now_s - search.limits.began_s) / (search.limits.deadline_s - search.limits.began_s))
    if now_s >= search.limits.deadline_s:
        atomic_cas_u32(&search.limits.stop, RUNNING, BY_TIME)
        return False
    return True

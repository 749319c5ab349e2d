"""Priors of the legal actions, their ranking, and progressive widening: which actions of a node are in view."""

from libc.math cimport pow

from cext.core.atomics cimport atomic_load_u32
from cext.core.graph cimport NodeC
from cext.core.options cimport OptionsC
from cext.core.search cimport SearchC, WorkerC
from cext.core.types cimport action_t

# Lists the legal actions of the worker's state with a prior above 0 in worker.actions and their priors, which sum to 1,
# in worker.priors, unsorted; returns how many. `is_corrected`: by what the search has learnt of them.
cdef int ranking_list(WorkerC* worker, bint is_corrected) noexcept nogil

# Moves the k best of the worker's n actions to the front, in descending order of priors, canonical order among equals.
cdef void ranking_sort_best(WorkerC* worker, int n, int k) noexcept nogil

# Brings the actions with the best priors into view. Returns how many count now, or -1 without memory.
cdef int ranking_widen(WorkerC* worker, NodeC* node) noexcept nogil

# Adds an edge to a node, under its lock. Returns 0, or -1 without memory.
cdef int ranking_append_edge(SearchC* search, NodeC* node, action_t action, float prior) noexcept nogil


# Progressive widening: how many of a node's legal actions are in view, by its visits.
cdef inline int ranking_width(SearchC* search, NodeC* node, int num_legal) noexcept nogil:
    cdef OptionsC* options = &search.options
    cdef double width = (options.widening_base
                         + options.widening_factor * pow(atomic_load_u32(&node.visits), options.widening_exponent))
    return num_legal if width >= num_legal else <int>width

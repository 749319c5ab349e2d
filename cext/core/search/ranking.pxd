"""Priors of the legal actions, their ranking, and progressive widening.

An action of a node is *in view* if the search may choose it: the `ranking_width` actions with the best priors are.
"""

from libc.math cimport pow, sqrt
from libc.stdint cimport uint64_t

from cext.core.search.atomics cimport atomic_load_u32
from cext.core.search.graph cimport NO_NODE, NodeC
from cext.core.search.options cimport OptionsC
from cext.core.search.worker cimport SearchC, WorkerC
from cext.core.contract.types cimport action_t

# Writes the legal actions of the worker's state with a prior above 0 to worker.actions, and their priors, which sum to
# 1, to worker.priors. They are not sorted. Returns their number. `key`: of what the seat to move knows, see
# `search_key`. `is_corrected`: adjust the priors by the history table.
cdef int ranking_list(WorkerC* worker, uint64_t key, bint is_corrected) noexcept nogil

# Moves the k best of the worker's n actions to the front, by descending prior; canonical order among equals.
cdef void ranking_sort_best(WorkerC* worker, int n, int k) noexcept nogil

# Brings the actions with the best priors into view. Returns how many are in view now, or -1 if there is no memory.
cdef int ranking_widen(WorkerC* worker, NodeC* node) noexcept nogil

# Adds an edge to a node. The caller holds the lock. Returns 0, or -1 if there is no memory.
cdef int ranking_append_edge(SearchC* search, NodeC* node, action_t action, float prior) noexcept nogil


# A number of visits to the power of an exponent. The usual exponents are roots, which take less time. A root and the
# power may differ in the last bit; what is made of them, whole numbers, is then the same.
cdef inline double ranking_power(double visits, double exponent) noexcept nogil:
    if exponent == 0.5:
        return sqrt(visits)
    return sqrt(sqrt(visits)) if exponent == 0.25 else pow(visits, exponent)


# Progressive widening: the number of a node's legal actions in view, by its visits.
cdef inline int ranking_width(SearchC* search, NodeC* node, int num_legal) noexcept nogil:
    cdef OptionsC* options = &search.options
    cdef double width = (options.widening_base
                         + options.widening_factor * ranking_power(
                             atomic_load_u32(&node.visits), options.widening_exponent))
    if node.parent == NO_NODE:
        width = max(width, options.halving)     # they all need edges
    return num_legal if width >= num_legal else <int>width

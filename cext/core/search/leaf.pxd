"""The outcome of an iteration: shares of the win and scores at its leaf, and the seats' utilities."""

from cext.core.search.worker cimport SearchC, WorkerC

# Writes each seat's expected share of the win and final score in the worker's state, which a playout may change.
# Returns whether the game is over at the leaf, so that they are exact.
cdef bint leaf_evaluate(WorkerC* worker, double* values, double* scores) noexcept nogil

# Writes what each seat maximises, in [0, 1]: its share of the win, blended with its margin over the best other seat;
# of others also what the searching seat does not get (`paranoia`).
cdef void leaf_utilities(SearchC* search, const double* values, const double* scores, bint is_over,
                         double* utilities) noexcept nogil

"""Sequential halving: which of a few first actions of the turn is best, with the iterations that there are.

The candidates are drawn from the priors. The iterations, or the time, are divided into log2(number of candidates) equal
phases. In a phase all remaining candidates get equal numbers of descents; at its end the worse half is dropped.

Sources
* Sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits" (ICML 2013).
* Gumbel-top-k, the score of a candidate: Danihelka et al., "Policy improvement by planning with Gumbel" (ICLR 2022).
"""

from libc.stdint cimport uint32_t

from cext.core.search.worker cimport SearchC, WorkerC
from cext.core.contract.types cimport action_t

# Draws the candidates, at most the number in the option `halving`, with the memory of a worker. Returns 0, or -1 if
# there is no memory for the graph. Without candidates the other functions do nothing.
cdef int halving_begin(WorkerC* worker) noexcept nogil

# Drops candidates if a share of the budget, in [0, 1], has reached the next phase.
cdef void halving_advance(SearchC* search, double used) noexcept nogil

# Writes the next candidate and counts a descent to it. Returns 0 without candidates.
cdef bint halving_next(SearchC* search, action_t* action) noexcept nogil

# The node to which the best candidate with visits so far leads, SEVERAL_NODES if worlds differ in it, NO_NODE without a
# candidate; writes its action.
cdef uint32_t halving_best(SearchC* search, action_t* action) noexcept nogil

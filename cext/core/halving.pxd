"""Sequential halving: which of a few candidates for the turn is best, with the iterations that there are.

The iterations, or the time, are divided into log2(number of candidates) equal phases. In a phase each candidate left
gets as many descents as any other; at its end the worse half is dropped. A candidate is a node within or at the end of
the root's turn: see the option `halving`.

Sources
* Sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits" (ICML 2013).
* Gumbel-top-k, the score of a candidate: Danihelka et al., "Policy improvement by planning with Gumbel" (ICLR 2022).
"""

from libc.stdint cimport uint32_t

from cext.core.search cimport SearchC, WorkerC

# Makes the root's first actions the candidates, if `halving` asks for it: those with the best priors after noise.
# Returns 0, or -1 if there is no memory.
cdef int halving_begin(WorkerC* worker) noexcept nogil

# Starts, and moves on to the phase that a share of the budget, [0, 1], has reached; does nothing without `halving`.
cdef void halving_advance(SearchC* search, double used) noexcept nogil

# Writes the actions that lead to the next candidate to worker.guide, none before the start.
cdef void halving_guide(WorkerC* worker) noexcept nogil

# The best candidate's node, NO_NODE if there are no candidates.
cdef uint32_t halving_best(SearchC* search) noexcept nogil

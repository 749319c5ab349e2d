"""Functions that the baselines share."""

from cext.core.contract.game cimport GameOps

# As GameOps.evaluate, but for any state: exact when the game is over. A game without an evaluation gets equal shares
# and the present scores. `values` and `scores` have one entry for each seat.
cdef void baseline_evaluate(const GameOps* ops, const void* weights, const void* state, double* values,
                            double* scores) noexcept nogil

"""What the baselines share."""

from cext.core.game cimport GameOps

# As GameOps.evaluate, for any state: the true figures when the game is over; without the game's own evaluation
# everybody is as likely to win. `values` and `scores` have one entry a seat.
cdef void baseline_evaluate(const GameOps* ops, const void* weights, const void* state, double* values,
                            double* scores) noexcept nogil

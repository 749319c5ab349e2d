"""Knowledge of Tzolk'in, none of which decides what is legal."""

from numpy.random cimport bitgen_t

from cext.core.types cimport action_t
from cext.games.tzolkin.state cimport TzolkinStateC

# The reference random player: a verb, then an action of that verb, each alike likely.
cdef action_t policy_random_action(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil

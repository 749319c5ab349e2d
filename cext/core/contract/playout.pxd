"""Playouts: games continued from a state by a cheap policy."""

from numpy.random cimport bitgen_t

from cext.core.contract.game cimport GameOps
from cext.core.contract.types cimport action_t


# The game's reference random player (GameOps.random_action), or uniform over the legal actions without one.
# `buffer` is max_actions long.
cdef action_t playout_random_action(const GameOps* ops, const void* state, bitgen_t* rng,
                                    action_t* buffer) noexcept nogil

# Plays the reference random player to the end of the game, in place. Returns the number of actions played.
cdef int playout_random(const GameOps* ops, void* state, bitgen_t* rng, action_t* buffer) noexcept nogil

# Plays GameOps.playout_action until `round` changes or the game is over (to the end of the game if the game has no
# `evaluate`), in place. Returns the number of actions played.
cdef int playout_round(const GameOps* ops, void* state, bitgen_t* rng, action_t* buffer) noexcept nogil

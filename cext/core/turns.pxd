"""Whole turns as sequences of actions: spelling one in the canonical way, finishing one that was cut short."""

from cext.core.game cimport GameOps
from cext.core.types cimport action_t

cdef enum:
    MAX_TURN = 64           # actions of a turn that the search spells out at most


# Scratch memory for these functions, made once per call from Python.
ctypedef struct TurnScratchC:
    char* states            # MAX_TURN + 1 states
    action_t* actions       # max_actions
    float* priors           # max_actions

cdef int turn_scratch_init(TurnScratchC* scratch, const GameOps* ops) noexcept nogil
cdef void turn_scratch_free(TurnScratchC* scratch) noexcept nogil

# Spells a turn of n actions in place: drops single actions and pairs that make no difference to the state in which it
# ends (steps there and back), then takes the first legal order (by ascending actions) that ends in the same state.
# The order is left as it is if the search for it takes too many steps. Returns the turn's length.
cdef int turn_canonical(const GameOps* ops, const void* state, action_t* turn, int n,
                        TurnScratchC* scratch) noexcept nogil

# Appends the policy's best actions (the first of equals) until the turn has ended; returns the turn's length.
# `state` is the state before the turn, whose first n actions are given.
cdef int turn_finish(const GameOps* ops, const void* weights, const void* state, action_t* turn, int n,
                     TurnScratchC* scratch) noexcept nogil

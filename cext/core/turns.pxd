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

# Reorders a turn's n actions in place into the first legal order (by ascending actions) that ends in the same state.
# Left as it is if the search for that order takes too many steps.
cdef void turn_canonical_order(const GameOps* ops, const void* state, action_t* turn, int n,
                               TurnScratchC* scratch) noexcept nogil

# Appends the policy's best actions (the first of equals) until the turn has ended; returns the turn's length.
# `state` is the state before the turn, whose first n actions are given.
cdef int turn_finish(const GameOps* ops, const void* state, action_t* turn, int n,
                     TurnScratchC* scratch) noexcept nogil

"""Whole turns as sequences of actions: putting one into canonical form, completing one."""

from cext.core.contract.game cimport GameOps
from cext.core.contract.types cimport action_t

cdef enum:
    MAX_TURN = 64           # most actions of a turn that the search returns


# Scratch memory of these functions, allocated once for each call from Python.
ctypedef struct TurnScratchC:
    char* states            # MAX_TURN + 1 states
    action_t* actions       # max_actions
    float* priors           # max_actions
    const action_t* first   # the actions with which a turn may begin; the caller owns them
    int num_first           # 0: with any

# Allocates scratch memory. Returns 0, or -1 if there is no memory.
cdef int turn_scratch_init(TurnScratchC* scratch, const GameOps* ops) noexcept nogil

# Frees scratch memory.
cdef void turn_scratch_free(TurnScratchC* scratch) noexcept nogil

# Whether a turn may begin with an action.
cdef bint turn_may_begin(const action_t* first, int num_first, action_t action) noexcept nogil

# Puts a turn of n actions into canonical form, in place. First it drops single actions and pairs that do not change the
# final state (such as a step and the step back). Then it takes the first legal order, by ascending actions, that leads
# to the same final state. If that takes too many steps, the order stays unchanged. A turn that begins with an action of
# `first` still does. Returns the length of the turn.
cdef int turn_canonical(const GameOps* ops, const void* state, action_t* turn, int n,
                        TurnScratchC* scratch) noexcept nogil

# Appends the policy's best action (the first of equals; to begin with, of `first`) until the turn has ended. `state` is
# the state before the turn,
# `turn` its first n actions. Returns the length of the turn.
cdef int turn_finish(const GameOps* ops, const void* weights, const void* state, action_t* turn, int n,
                     TurnScratchC* scratch) noexcept nogil

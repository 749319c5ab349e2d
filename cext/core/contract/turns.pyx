"""Whole turns as sequences of actions; contracts in ``turns.pxd``."""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.contract.game cimport game_action_is_legal, game_apply
from cext.core.contract.heuristics cimport heuristics_policy
from cext.core.contract.types cimport ALL_SEEING, aligned_alloc, uint64_t

cdef enum:
    MAX_ORDER_STEPS = 2000      # actions tried for the canonical order before the search for it ends
    DROP_WITHIN = 4             # a pair that may be dropped has at most two actions in between


cdef int turn_scratch_init(TurnScratchC* scratch, const GameOps* ops) noexcept nogil:
    scratch.states = <char*>aligned_alloc(64, ops.state_size * (MAX_TURN + 1))
    scratch.actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    scratch.priors = <float*>malloc(ops.max_actions * sizeof(float))
    scratch.first = NULL
    scratch.num_first = 0
    if scratch.states == NULL or scratch.actions == NULL or scratch.priors == NULL:
        turn_scratch_free(scratch)
        return -1
    return 0


cdef void turn_scratch_free(TurnScratchC* scratch) noexcept nogil:
    free(scratch.states)
    free(scratch.actions)
    free(scratch.priors)
    scratch.states = NULL
    scratch.actions = NULL
    scratch.priors = NULL


cdef bint turn_may_begin(const action_t* first, int num_first, action_t action) noexcept nogil:
    cdef int i
    for i in range(num_first):
        if first[i] == action:
            return True
    return num_first == 0


cdef void _sort(action_t* actions, int n) noexcept nogil:
    """Sort actions in ascending order."""
    cdef int i, j
    cdef action_t action
    for i in range(1, n):
        action = actions[i]
        j = i - 1
        while j >= 0 and actions[j] > action:
            actions[j + 1] = actions[j]
            j -= 1
        actions[j + 1] = action


cdef bint _order(const GameOps* ops, const action_t* left, int n, int total, uint64_t goal, action_t* out,
                 int* steps, TurnScratchC* scratch) noexcept nogil:
    """Search depth-first for an order of `left` that ends in the goal; return whether there is one.

    `left` is sorted and has the n of `total` actions that are not played yet. Smaller actions are tried first.
    """
    cdef action_t rest[MAX_TURN]        # n - 1 of them; n is at most MAX_TURN, as in all that follows
    cdef char* state = scratch.states + (total - n) * ops.state_size
    cdef int i
    if n == 0:
        return ops.hash(state, ALL_SEEING) == goal
    for i in range(n):
        if i > 0 and left[i] == left[i - 1]:
            continue
        if n == total and not turn_may_begin(scratch.first, scratch.num_first, left[i]):
            continue
        steps[0] += 1
        if steps[0] > MAX_ORDER_STEPS:
            return False
        # The turn may not end early, and the next seat may not play its actions.
        if (ops.turn(state) != ops.turn(scratch.states)
                or not game_action_is_legal(ops, state, left[i], scratch.actions)):
            continue
        memcpy(state + ops.state_size, state, ops.state_size)
        game_apply(ops, state + ops.state_size, left[i])
        memcpy(rest, left, i * sizeof(action_t))
        memcpy(rest + i, left + i + 1, (n - 1 - i) * sizeof(action_t))
        out[0] = left[i]
        if _order(ops, rest, n - 1, total, goal, out + 1, steps, scratch):
            return True
    return False


cdef bint _ends_in(const GameOps* ops, const void* state, const action_t* turn, int n, uint64_t goal,
                   TurnScratchC* scratch) noexcept nogil:
    """Return whether a turn of n actions is legal and ends in a state with this hash."""
    cdef int i, start = ops.turn(state)
    if n > 0 and not turn_may_begin(scratch.first, scratch.num_first, turn[0]):
        return False
    memcpy(scratch.states, state, ops.state_size)
    for i in range(n):
        if ops.turn(scratch.states) != start or not game_action_is_legal(ops, scratch.states, turn[i],
                                                                         scratch.actions):
            return False
        game_apply(ops, scratch.states, turn[i])
    return ops.hash(scratch.states, ALL_SEEING) == goal


cdef int _drop(const GameOps* ops, const void* state, action_t* turn, int n, uint64_t goal,
               TurnScratchC* scratch) noexcept nogil:
    """Drop an action, or two that are close together, if the turn ends in the same state without them."""
    cdef action_t kept[MAX_TURN]
    cdef int i, j, k, m
    for i in range(n):
        for j in range(i, min(n, i + DROP_WITHIN)):
            m = 0
            for k in range(n):
                if k != i and k != j:
                    kept[m] = turn[k]
                    m += 1
            if _ends_in(ops, state, kept, m, goal, scratch):
                memcpy(turn, kept, m * sizeof(action_t))
                return m
    return n


cdef int turn_canonical(const GameOps* ops, const void* state, action_t* turn, int n,
                        TurnScratchC* scratch) noexcept nogil:
    cdef action_t left[MAX_TURN]
    cdef action_t ordered[MAX_TURN]
    cdef int i, shorter, steps = 0
    cdef uint64_t goal
    if n > MAX_TURN:
        return n
    memcpy(scratch.states, state, ops.state_size)
    for i in range(n):
        game_apply(ops, scratch.states, turn[i])
    goal = ops.hash(scratch.states, ALL_SEEING)
    while True:
        shorter = _drop(ops, state, turn, n, goal, scratch)
        if shorter == n:
            break
        n = shorter
    memcpy(scratch.states, state, ops.state_size)
    memcpy(left, turn, n * sizeof(action_t))
    _sort(left, n)
    if _order(ops, left, n, n, goal, ordered, &steps, scratch):
        memcpy(turn, ordered, n * sizeof(action_t))
    return n


cdef int _keep_first(TurnScratchC* scratch, int num_actions) noexcept nogil:
    """Drop the actions with which the turn may not begin, and their priors; return how many are left."""
    cdef int i, n = 0
    for i in range(num_actions):
        if turn_may_begin(scratch.first, scratch.num_first, scratch.actions[i]):
            scratch.actions[n] = scratch.actions[i]
            scratch.priors[n] = scratch.priors[i]
            n += 1
    return n


cdef int turn_finish(const GameOps* ops, const void* weights, const void* state, action_t* turn, int n,
                     TurnScratchC* scratch) noexcept nogil:
    cdef int i, best, num_actions, start = ops.turn(state)
    cdef char* now = scratch.states
    memcpy(now, state, ops.state_size)
    for i in range(n):
        game_apply(ops, now, turn[i])
    while n < MAX_TURN and ops.turn(now) == start and ops.current_player(now) >= 0:
        num_actions = ops.legal_actions(now, scratch.actions)
        if ops.policy != NULL:
            heuristics_policy(ops, weights, NULL, now, scratch.actions, num_actions, scratch.priors)
        if n == 0:
            num_actions = _keep_first(scratch, num_actions)
        best = 0
        if ops.policy != NULL:
            for i in range(1, num_actions):
                if scratch.priors[i] > scratch.priors[best]:
                    best = i
        turn[n] = scratch.actions[best]
        game_apply(ops, now, turn[n])
        n += 1
    return n

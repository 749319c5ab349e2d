"""Perft: counts of action sequences, which pin a game's rules (and split by first action find the bug)."""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.game cimport GameOps, State, game_apply
from cext.core.types cimport action_t, aligned_alloc, uint64_t

from cext.core.errors import SearchError


cdef uint64_t _count(const GameOps* ops, char* states, action_t* buffers, int depth) noexcept nogil:
    # Level k of the recursion owns states[k] and buffers[k]; level 0 is the position counted.
    cdef int n = ops.legal_actions(states, buffers), i
    cdef uint64_t total = 0
    if depth == 1:
        return n
    for i in range(n):
        memcpy(states + ops.state_size, states, ops.state_size)
        game_apply(ops, states + ops.state_size, buffers[i])
        total += _count(ops, states + ops.state_size, buffers + ops.max_actions, depth - 1)
    return total


def perft(State state, int depth):
    """Count the sequences of `depth` legal actions from a state.

    A random event that is pending ends a sequence, as the end of the game does.

    Parameters
    ----------
    state : State
    depth : int
        Plies (actions), 0 to 32.

    Returns
    -------
    int
    """
    cdef const GameOps* ops = state.game.ops
    cdef char* states
    cdef action_t* buffers
    cdef uint64_t total = 1
    if not 0 <= depth <= 32:
        raise SearchError(f"perft depth {depth}: expected 0 to 32", reason="INVALID_DEPTH")
    states = <char*>aligned_alloc(64, ops.state_size * (depth + 1))
    buffers = <action_t*>malloc(ops.max_actions * sizeof(action_t) * (depth + 1))
    try:
        if states == NULL or buffers == NULL:
            raise MemoryError
        memcpy(states, state.data, ops.state_size)
        if depth > 0:
            with nogil:
                total = _count(ops, states, buffers, depth)
        return total
    finally:
        free(states)
        free(buffers)


def divide(State state, int depth):
    """Split `perft(state, depth)` by first action.

    Returns
    -------
    dict of int to int
        First action to the number of sequences that begin with it. `depth` must be at least 1.
    """
    cdef State child
    if depth < 1:
        raise SearchError(f"perft depth {depth}: a split needs at least 1", reason="INVALID_DEPTH")
    counts = {}
    for action in state.legal_actions():
        child = state.copy()
        game_apply(child.game.ops, child.data, action)
        counts[action] = perft(child, depth - 1)
    return counts

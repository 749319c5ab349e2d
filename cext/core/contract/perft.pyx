"""Perft: counts of action sequences. They test a game's rules; split by first action, they locate a bug."""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.contract.failure cimport failure_raise
from cext.core.contract.game cimport GameOps, State, game_apply
from cext.core.contract.types cimport action_t, aligned_alloc, uint64_t

from cext.core.contract.errors import SearchError


cdef uint64_t _count(const GameOps* ops, char* states, action_t* buffers, int depth) noexcept nogil:
    """Count the sequences of `depth` legal actions. Level k of the recursion uses the k-th of `states` and `buffers`;
    the first state is the position to count from.
    """
    cdef int n = ops.legal_actions(states, buffers), i
    cdef uint64_t total = 0
    if depth == 1:
        return n
    for i in range(n):
        memcpy(states + ops.state_size, states, ops.state_size)
        game_apply(ops, states + ops.state_size, buffers[i])
        total += _count(ops, states + ops.state_size, buffers + ops.max_actions, depth - 1)
    return total


def perft(State state not None, depth):
    """Count the sequences of exactly `depth` legal actions from a state.

    Shorter sequences, which stop at the end of the game or at a random event, are not counted.

    Parameters
    ----------
    state : State
    depth : int
        Plies (actions), 0 to 32.

    Returns
    -------
    int

    Raises
    ------
    SearchError
        Reason INVALID_DEPTH, if the depth is out of range.
    """
    cdef const GameOps* ops = state.game.ops
    cdef char* states
    cdef action_t* buffers
    cdef uint64_t total = 1
    cdef int plies
    if not 0 <= depth <= 32:
        raise SearchError(f"perft depth {depth}: expected 0 to 32", reason="INVALID_DEPTH")
    plies = depth
    states = <char*>aligned_alloc(64, ops.state_size * (plies + 1))
    buffers = <action_t*>malloc(ops.max_actions * sizeof(action_t) * (plies + 1))
    try:
        if states == NULL or buffers == NULL:
            raise MemoryError
        memcpy(states, state.data, ops.state_size)
        if plies > 0:
            with nogil:
                total = _count(ops, states, buffers, plies)
        failure_raise()
        return total
    finally:
        free(states)
        free(buffers)


def divide(State state not None, depth):
    """Split `perft(state, depth)` by first action.

    Parameters
    ----------
    state : State
    depth : int
        1 to 32.

    Returns
    -------
    dict of int to int
        Number of sequences by first action.

    Raises
    ------
    SearchError
        Reason INVALID_DEPTH, if the depth is out of range.
    """
    cdef State child
    if not 1 <= depth <= 32:
        raise SearchError(f"perft depth {depth}: a split needs 1 to 32", reason="INVALID_DEPTH")
    counts = {}
    for action in state.legal_actions():
        child = state.copy()
        game_apply(child.game.ops, child.data, action)
        counts[action] = perft(child, depth - 1)
    return counts

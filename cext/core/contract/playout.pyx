"""Playouts without Python objects or allocation; contracts in ``playout.pxd``."""

import time

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.contract.failure cimport failure_raise
from cext.core.contract.game cimport State, game_apply
from cext.core.contract.rng cimport Stream, rng_below
from cext.core.contract.types cimport CHANCE, TERMINAL, aligned_alloc


cdef action_t playout_random_action(const GameOps* ops, const void* state, bitgen_t* rng,
                                    action_t* buffer) noexcept nogil:
    if ops.random_action != NULL:
        return ops.random_action(state, rng)
    return buffer[rng_below(rng, ops.legal_actions(state, buffer))]


cdef int playout_random(const GameOps* ops, void* state, bitgen_t* rng, action_t* buffer) noexcept nogil:
    cdef int n = 0, player
    while True:
        player = ops.current_player(state)
        if player == TERMINAL:
            return n
        if player == CHANCE:
            ops.chance(state, rng)
            continue
        game_apply(ops, state, playout_random_action(ops, state, rng, buffer))
        n += 1


cdef int playout_round(const GameOps* ops, void* state, bitgen_t* rng, action_t* buffer) noexcept nogil:
    cdef int n = 0, player, start = ops.round(state)
    while ops.evaluate == NULL or ops.round(state) == start:
        player = ops.current_player(state)
        if player == TERMINAL:
            break
        if player == CHANCE:
            ops.chance(state, rng)
            continue
        if ops.playout_action != NULL:
            game_apply(ops, state, ops.playout_action(state, rng))
        else:
            game_apply(ops, state, playout_random_action(ops, state, rng, buffer))
        n += 1
    return n


def random_playout(State start not None, seed):
    """Play the game's reference random player from a state to the end of the game.

    Parameters
    ----------
    start : State
        Not changed.
    seed : int
        0 <= seed < 2**63.

    Returns
    -------
    tuple of (State, list of int)
        The final state and the actions played, without the random events.
    """
    cdef Stream stream = Stream(seed)
    cdef State state = start.copy()
    cdef const GameOps* ops = start.game.ops
    cdef action_t* buffer = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    cdef action_t action
    cdef list actions = []
    if buffer == NULL:
        raise MemoryError
    try:
        while ops.current_player(state.data) != TERMINAL:
            if ops.current_player(state.data) == CHANCE:
                ops.chance(state.data, stream.bitgen)
                continue
            action = playout_random_action(ops, state.data, stream.bitgen, buffer)
            game_apply(ops, state.data, action)
            actions.append(action)
        failure_raise()
        return state, actions
    finally:
        free(buffer)


def random_playouts(State start not None, int count, seed):
    """Play random playouts without the GIL and measure the time.

    Parameters
    ----------
    start : State
        Not changed.
    count : int
        Number of playouts.
    seed : int
        0 <= seed < 2**63.

    Returns
    -------
    tuple of (int, float)
        Number of actions in all playouts together, and seconds.
    """
    cdef Stream stream = Stream(seed)
    cdef const GameOps* ops = start.game.ops
    cdef action_t* buffer = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    cdef void* state = aligned_alloc(64, ops.state_size)
    cdef long long actions = 0
    cdef int _
    if buffer == NULL or state == NULL:
        free(buffer)
        free(state)
        raise MemoryError
    began = time.perf_counter()
    with nogil:
        for _ in range(count):
            memcpy(state, start.data, ops.state_size)
            actions += playout_random(ops, state, stream.bitgen, buffer)
    seconds = time.perf_counter() - began
    free(buffer)
    free(state)
    failure_raise()
    return actions, seconds


def copies(State start not None, long long count):
    """Copy a state `count` times between eight slots, without the GIL; return the seconds taken."""
    cdef const GameOps* ops = start.game.ops
    cdef size_t size = ops.state_size
    cdef char* slots = <char*>aligned_alloc(64, size * 8)
    cdef long long i
    if slots == NULL:
        raise MemoryError
    for i in range(8):
        memcpy(slots + i * size, start.data, size)
    began = time.perf_counter()
    with nogil:
        for i in range(count):
            memcpy(slots + ((i + 1) & 7) * size, slots + (i & 7) * size, size)
    seconds = time.perf_counter() - began
    free(slots)
    return seconds


def legal_lists(State start not None, long long count):
    """Generate the legal actions of a state `count` times, without the GIL; return (number of actions, seconds)."""
    cdef const GameOps* ops = start.game.ops
    cdef action_t* buffer = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    cdef long long _
    cdef int n = 0
    if buffer == NULL:
        raise MemoryError
    began = time.perf_counter()
    with nogil:
        for _ in range(count):
            n = ops.legal_actions(start.data, buffer)
    seconds = time.perf_counter() - began
    free(buffer)
    failure_raise()
    return n, seconds

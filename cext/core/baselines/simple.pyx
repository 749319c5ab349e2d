"""The simple players that a search must beat: random and greedy. (`uct` and `beam` have their own modules.)"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.contract.failure cimport failure_raise
from cext.core.contract.game cimport GameOps, State, game_apply, game_require_seat
from cext.core.contract.heuristics cimport heuristics_evaluate
from cext.core.contract.playout cimport playout_random_action
from cext.core.contract.rng cimport Stream
from cext.core.contract.types cimport MAX_SEATS, TERMINAL, action_t, aligned_alloc
from cext.core.learning.weights cimport weights_data


cdef void baseline_evaluate(const GameOps* ops, const void* weights, const void* state, double* values,
                            double* scores) noexcept nogil:
    cdef int seat
    if ops.current_player(state) == TERMINAL:
        ops.returns(state, values)
        ops.scores(state, scores)
    elif ops.evaluate != NULL:
        heuristics_evaluate(ops, weights, NULL, state, values, scores)
    else:
        ops.scores(state, scores)
        for seat in range(ops.num_players(state)):
            values[seat] = 1.0 / ops.num_players(state)


def evaluate(State state not None, *, weights=None):
    """Return the game's static evaluation of a state.

    Parameters
    ----------
    state : State
    weights : Weights, optional
        Of the state's game; required if the game has weights.

    Returns
    -------
    tuple of (list of float, list of float)
        For each seat the expected share of the win (in [0, 1], summing to 1), and the expected final score in points.
        Exact when the game is over.

    Raises
    ------
    TypeError
        If the game has weights and none are given, or they are of another game.
    """
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef int seat
    baseline_evaluate(state.game.ops, weights_data(state.game.ops, weights), state.data, values, scores)
    failure_raise()
    seats = range(state.num_players)
    return [values[seat] for seat in seats], [scores[seat] for seat in seats]


def determinize(State state not None, int viewer, seed, *, weights=None, double belief=1.0):
    """Replace what a seat cannot know by a draw that follows what the others show, in place.

    Parameters
    ----------
    state : State
    viewer : int
        A seat.
    seed : int
        0 <= seed < 2**63.
    weights : Weights, optional
        Of the state's game; required if the game has weights.
    belief : float
        How much the draw follows what they show: 1 as fitted, 0 uniform; see the search's option of that name.

    Returns
    -------
    bool
        Whether more than one state was possible. If not, the state is unchanged.

    Raises
    ------
    ValueError
        If there is no such seat, or `belief` is negative or not finite.
    TypeError
        If the game has weights and none are given, or they are of another game.
    SearchError
        If the seed is out of range.
    """
    cdef const GameOps* ops = state.game.ops
    cdef const void* data = weights_data(ops, weights)
    cdef Stream stream = Stream(seed)
    cdef void* memory
    if ops.believe == NULL or belief == 0:
        return state.determinize(viewer, seed)
    if not 0 <= viewer < state.num_players:
        raise ValueError(f"viewer: given {viewer}; expected a seat from 0 to {state.num_players - 1}")
    if not 0 < belief < 1e6:
        raise ValueError(f"belief: given {belief}; expected a number from 0")
    memory = malloc(ops.belief_size)
    if memory == NULL:
        raise MemoryError
    try:
        if not ops.believe(data, state.data, viewer, belief, memory):
            return state.determinize(viewer, seed)
        return bool(ops.determinize(state.data, viewer, memory, stream.bitgen))
    finally:
        free(memory)


def random_turn(State state not None, seed):
    """Return a whole turn of the game's reference random player.

    Parameters
    ----------
    state : State
        A seat must be to move. Not changed.
    seed : int
        0 <= seed < 2**63.

    Returns
    -------
    list of int
        Actions.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If a random event is pending, or the seed is out of range.
    """
    cdef Stream stream = Stream(seed)
    cdef State now = state.copy()
    cdef const GameOps* ops = state.game.ops
    cdef int start = ops.turn(state.data)
    cdef action_t action
    cdef action_t* buffer
    game_require_seat(state)
    buffer = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    if buffer == NULL:
        raise MemoryError
    turn = []
    while ops.turn(now.data) == start:
        action = playout_random_action(ops, now.data, stream.bitgen, buffer)
        game_apply(ops, now.data, action)
        turn.append(action)
    free(buffer)
    failure_raise()
    return turn


cdef action_t _greedy_action(const GameOps* ops, const void* weights, const void* state, void* after,
                             action_t* actions) noexcept nogil:
    """Return the action with the best evaluation after it.

    At equal values an action that ends the turn comes before one that does not; then the canonical order decides.
    `after` is scratch memory for a state.
    """
    cdef int n = ops.legal_actions(state, actions), i, seat = ops.current_player(state), start = ops.turn(state)
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef double best_end = -1.0, best_other = -1.0
    cdef action_t end = actions[0], other = actions[0]
    for i in range(n):
        memcpy(after, state, ops.state_size)
        game_apply(ops, after, actions[i])
        baseline_evaluate(ops, weights, after, values, scores)
        if ops.turn(after) != start:
            if values[seat] > best_end:
                best_end = values[seat]
                end = actions[i]
        elif values[seat] > best_other:
            best_other = values[seat]
            other = actions[i]
    return end if best_end >= best_other else other


def greedy_turn(State state not None, *, weights=None):
    """Return a turn that takes the action with the best `evaluate` after it, until ending the turn is at least as good.

    Parameters
    ----------
    state : State
        A seat must be to move. Not changed. Hidden information is used as it is in the state: call `State.determinize`
        first if the seat must not know it.
    weights : Weights, optional
        Of the state's game; required if the game has weights.

    Returns
    -------
    list of int
        Actions.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If a random event is pending.
    TypeError
        If the game has weights and none are given, or they are of another game.
    """
    cdef State now = state.copy()
    cdef const GameOps* ops = state.game.ops
    cdef const void* data = weights_data(ops, weights)
    cdef int start = ops.turn(state.data)
    cdef action_t action
    cdef action_t* actions
    cdef void* after
    game_require_seat(state)
    actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    after = aligned_alloc(64, ops.state_size)
    turn = []
    try:
        if actions == NULL or after == NULL:
            raise MemoryError
        while ops.turn(now.data) == start:
            with nogil:
                action = _greedy_action(ops, data, now.data, after, actions)
                game_apply(ops, now.data, action)
            turn.append(action)
        failure_raise()
        return turn
    finally:
        free(actions)
        free(after)

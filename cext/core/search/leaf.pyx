"""The outcome of an iteration; contracts in ``leaf.pxd``."""

from libc.math cimport fabs
from libc.string cimport memcpy

from cext.core.contract.game cimport GameOps, game_apply, game_settle_chance
from cext.core.contract.heuristics cimport heuristics_evaluate, heuristics_policy
from cext.core.search.options cimport OptionsC
from cext.core.contract.playout cimport playout_round
from cext.core.contract.rng cimport rng_uniform
from cext.core.contract.types cimport MAX_SEATS, TERMINAL

# Share of margin_weight that is left at the end of the game: a sure win by a point beats a likely win by many.
cdef double OVER_MARGIN = 0.1


cdef bint leaf_evaluate(WorkerC* worker, double* values, double* scores) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef double leaf_values[MAX_SEATS]
    cdef double leaf_scores[MAX_SEATS]
    cdef double weight = search.options.playout_weight
    cdef int seat
    game_settle_chance(ops, worker.state, &worker.rng)
    if search.options.endgame > 0.0 and ops.is_ending != NULL and ops.policy != NULL and ops.is_ending(worker.state):
        _play_to_the_end(worker)
    if ops.current_player(worker.state) == TERMINAL:
        ops.returns(worker.state, values)
        ops.scores(worker.state, scores)
        return True
    if ops.evaluate == NULL:
        weight = 1.0
    elif weight < 1.0:
        heuristics_evaluate(ops, search.weights, worker.cache, worker.state, leaf_values, leaf_scores)
    if weight > 0.0:
        playout_round(ops, worker.state, &worker.rng, worker.actions)
        if ops.current_player(worker.state) == TERMINAL:
            ops.returns(worker.state, values)
            ops.scores(worker.state, scores)
        else:
            heuristics_evaluate(ops, search.weights, worker.cache, worker.state, values, scores)
    for seat in range(search.num_players):
        if weight == 0.0:
            values[seat] = leaf_values[seat]
            scores[seat] = leaf_scores[seat]
        elif weight < 1.0:
            values[seat] = weight * values[seat] + (1 - weight) * leaf_values[seat]
            scores[seat] = weight * scores[seat] + (1 - weight) * leaf_scores[seat]
    return False


cdef void leaf_utilities(SearchC* search, const double* values, const double* scores, bint is_over,
                         double* utilities) noexcept nogil:
    cdef OptionsC* options = &search.options
    cdef double weight = options.margin_weight * (OVER_MARGIN if is_over else 1.0)
    cdef double margin, best_other
    cdef int seat, other
    for seat in range(search.num_players):
        best_other = -1e300
        for other in range(search.num_players):
            if other != seat and scores[other] > best_other:
                best_other = scores[other]
        margin = scores[seat] - best_other
        margin = 0.5 + 0.5 * margin / (fabs(margin) + options.margin_scale)
        utilities[seat] = (1 - weight) * values[seat] + weight * margin


# --- the end of the game


cdef void _play_to_the_end(WorkerC* worker) noexcept nogil:
    """Play the last turns of the game in the worker's state.

    Each seat considers some turns, the one with the best priors and others drawn from the priors, and plays the one
    that leaves it the greatest utility. It knows its hand in this world, which a node that several worlds share cannot
    take into account.
    """
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef char* best = <char*>worker.state + ops.state_size
    cdef char* trial = best + ops.state_size
    cdef double utility, best_utility
    cdef int seat, i, count = <int>search.options.endgame
    game_settle_chance(ops, worker.state, &worker.rng)
    seat = ops.current_player(worker.state)
    while seat != TERMINAL:
        best_utility = -1.0
        for i in range(count):
            memcpy(trial, worker.state, ops.state_size)
            _play_turn(worker, trial, i > 0)
            utility = _utility(worker, trial, seat) if count > 1 else 0.0
            if utility > best_utility:
                best_utility = utility
                memcpy(best, trial, ops.state_size)
        memcpy(worker.state, best, ops.state_size)
        game_settle_chance(ops, worker.state, &worker.rng)
        seat = ops.current_player(worker.state)


cdef void _play_turn(WorkerC* worker, void* state, bint is_drawn) noexcept nogil:
    """Play a turn by the priors: actions drawn from them, or else the best ones."""
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef int i, n, chosen, start = ops.turn(state)
    cdef double rest
    while ops.turn(state) == start:
        n = ops.legal_actions(state, worker.actions)
        heuristics_policy(ops, search.weights, worker.cache, state, worker.actions, n, worker.priors)
        chosen = 0
        rest = 0.0
        for i in range(n):
            if is_drawn:
                rest += worker.priors[i]
            if worker.priors[i] > worker.priors[chosen]:
                chosen = i
        if is_drawn:
            rest *= rng_uniform(&worker.rng)
            for i in range(n):
                rest -= worker.priors[i]
                if rest < 0.0:
                    chosen = i
                    break
        game_apply(ops, state, worker.actions[chosen])


cdef double _utility(WorkerC* worker, const void* state, int seat) noexcept nogil:
    """Return the utility that a seat expects in a state."""
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef double utilities[MAX_SEATS]
    cdef bint is_over = ops.current_player(state) == TERMINAL
    if is_over:
        ops.returns(state, values)
        ops.scores(state, scores)
    elif ops.evaluate != NULL:
        heuristics_evaluate(ops, search.weights, worker.cache, state, values, scores)
    else:
        return 0.0
    leaf_utilities(search, values, scores, is_over, utilities)
    return utilities[seat]

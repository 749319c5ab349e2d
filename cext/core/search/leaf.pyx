"""The outcome of an iteration; contracts in ``leaf.pxd``."""

from libc.math cimport fabs

from cext.core.contract.game cimport GameOps, game_settle_chance
from cext.core.contract.heuristics cimport heuristics_evaluate
from cext.core.search.options cimport OptionsC
from cext.core.contract.playout cimport playout_round
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
    if options.paranoia > 0 and search.num_players > 2:
        for seat in range(search.num_players):
            if seat != search.viewer:
                utilities[seat] += options.paranoia * (1 - utilities[search.viewer] - utilities[seat])

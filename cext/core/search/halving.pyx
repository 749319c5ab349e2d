"""Sequential halving; contracts in ``halving.pxd``."""

from libc.math cimport ceil, log, log2
from libc.string cimport memcpy

from cext.core.search.atomics cimport atomic_load_f64, atomic_load_u32, atomic_store_u32, spin_lock, spin_unlock
from cext.core.contract.game cimport game_apply
from cext.core.search.graph cimport NO_NODE, EdgeC, NodeC, graph_add_end, graph_edges, graph_find_or_add
from cext.core.search.ranking cimport ranking_widen
from cext.core.search.worker cimport CandidateC, HalvingC, search_key, search_node_utility

# A difference in utility counts (FIRST_VISITS + most visits of a candidate) * `halving_scale` times as much as one in
# the logarithm of the prior: the sigma of Danihelka et al.
cdef double FIRST_VISITS = 50.0


cdef int halving_begin(WorkerC* worker) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef HalvingC* halving = &search.halving
    cdef NodeC* root = search.graph.nodes + search.root
    cdef EdgeC* edges
    cdef CandidateC* candidate
    cdef uint32_t child
    cdef bint is_new
    cdef int i, n
    if search.options.halving < 2:
        return 0
    memcpy(worker.state, search.root_state, search.ops.state_size)
    worker.path_length = 0
    n = ranking_widen(worker, root)     # `ranking_list` adds the Gumbel noise
    if n < 0:
        return -1
    edges = graph_edges(&search.graph, root)
    for i in range(min(n, <int>search.options.halving)):
        memcpy(worker.state, search.root_state, search.ops.state_size)
        game_apply(search.ops, worker.state, edges[i].action)
        child = graph_find_or_add(&search.graph, search_key(search.ops, worker.state, search.viewer),
                                  search.ops.current_player(worker.state), search.ops.turn(worker.state), search.root,
                                  edges[i].action, &is_new)
        if child == NO_NODE:
            return -1
        if not is_new:
            continue        # two actions with the same effect
        if search.graph.nodes[child].turn != search.root_turn:
            graph_add_end(&search.graph, child)
        candidate = &halving.candidates[halving.num_left]
        candidate.node = child
        candidate.edge = i
        candidate.log_prior = log(edges[i].prior)
        halving.num_left += 1
    halving.num_phases = <int>ceil(log2(<double>max(1, halving.num_left)))
    return 0


cdef void halving_advance(SearchC* search, double used) noexcept nogil:
    cdef HalvingC* halving = &search.halving
    cdef uint32_t phase = <uint32_t>(used * halving.num_phases)
    if phase <= atomic_load_u32(&halving.phase) or phase >= <uint32_t>halving.num_phases:
        return
    spin_lock(&halving.lock)
    while halving.phase < phase:
        _sort(search)
        halving.num_left = (halving.num_left + 1) // 2
        atomic_store_u32(&halving.phase, halving.phase + 1)
    spin_unlock(&halving.lock)


cdef const EdgeC* _edge(SearchC* search, const CandidateC* candidate) noexcept nogil:
    return graph_edges(&search.graph, search.graph.nodes + search.root) + candidate.edge


cdef bint _leads_elsewhere(const EdgeC* edge, const CandidateC* candidate) noexcept nogil:
    """Return whether descents have led to another node than in the root's state, or to several."""
    cdef uint32_t child = atomic_load_u32(&edge.child)
    return child != NO_NODE and child != candidate.node


cdef uint32_t _visits(SearchC* search, const CandidateC* candidate) noexcept nogil:
    """Return the descents from which the utility of a candidate is known: to its node, or where worlds differ in it, to
    any of its nodes. Those that are not backed up do not count.
    """
    cdef const EdgeC* edge = _edge(search, candidate)
    if _leads_elsewhere(edge, candidate):
        return atomic_load_u32(&search.halving.finished[candidate.edge])
    return atomic_load_u32(&search.graph.nodes[candidate.node].finished)


cdef double _factor(SearchC* search) noexcept nogil:
    """Return how much the utility counts in a score. The caller holds the lock, also for the next two functions."""
    cdef HalvingC* halving = &search.halving
    cdef uint32_t most = 0
    cdef int i
    for i in range(halving.num_left):
        most = max(most, _visits(search, &halving.candidates[i]))
    return (FIRST_VISITS + most) * search.options.halving_scale


cdef double _score(SearchC* search, const CandidateC* candidate, double factor) noexcept nogil:
    cdef const EdgeC* edge = _edge(search, candidate)
    cdef uint32_t visits = _visits(search, candidate), index = candidate.node
    if visits > 0 and _leads_elsewhere(edge, candidate):
        return candidate.log_prior + factor * atomic_load_f64(&edge.utility_sum) / visits
    if visits == 0:
        index = search.root     # the completed value of an action without visits
    return candidate.log_prior + factor * search_node_utility(search.graph.nodes + index, search.viewer)


cdef void _sort(SearchC* search) noexcept nogil:
    """Sort the candidates left by descending score."""
    cdef HalvingC* halving = &search.halving
    cdef CandidateC candidate
    cdef double factor = _factor(search)
    cdef int i, j
    for i in range(halving.num_left):
        candidate = halving.candidates[i]
        candidate.score = _score(search, &candidate, factor)
        j = i
        while j > 0 and candidate.score > halving.candidates[j - 1].score:
            halving.candidates[j] = halving.candidates[j - 1]
            j -= 1
        halving.candidates[j] = candidate


cdef bint halving_next(SearchC* search, action_t* action) noexcept nogil:
    cdef HalvingC* halving = &search.halving
    cdef int i, least = 0
    if halving.num_phases == 0:
        return False
    spin_lock(&halving.lock)
    for i in range(1, halving.num_left):
        if halving.candidates[i].visits < halving.candidates[least].visits:
            least = i
    halving.candidates[least].visits += 1
    action[0] = search.graph.nodes[halving.candidates[least].node].from_action
    spin_unlock(&halving.lock)
    return True


cdef uint32_t halving_best(SearchC* search, action_t* action) noexcept nogil:
    # Without sorting the candidates: their order decides ties in `halving_next`, and reading must not change a search.
    cdef HalvingC* halving = &search.halving
    cdef const CandidateC* candidate
    cdef const EdgeC* edge
    cdef uint32_t node = NO_NODE, child
    cdef double factor, score, best_score = 0
    cdef int i
    if halving.num_phases == 0:
        return NO_NODE
    spin_lock(&halving.lock)
    factor = _factor(search)
    for i in range(halving.num_left):
        candidate = &halving.candidates[i]
        if _visits(search, candidate) == 0:
            continue
        score = _score(search, candidate, factor)
        if node == NO_NODE or score > best_score:
            edge = _edge(search, candidate)
            child = atomic_load_u32(&edge.child)
            node = candidate.node if child == NO_NODE else child
            action[0] = edge.action
            best_score = score
    spin_unlock(&halving.lock)
    return node

"""Sequential halving; contracts in ``halving.pxd``."""

from libc.math cimport ceil, log, log2
from libc.string cimport memcpy

from cext.core.atomics cimport atomic_load_u32, atomic_store_u32, spin_lock, spin_unlock
from cext.core.game cimport game_apply
from cext.core.graph cimport NO_NODE, EdgeC, NodeC, graph_add_end, graph_edges, graph_find_or_add
from cext.core.ranking cimport ranking_widen
from cext.core.search cimport CandidateC, HalvingC, MAX_HALVING, search_key, search_node_utility
from cext.core.turns cimport MAX_TURN
from cext.core.types cimport action_t

# How much a difference in utility counts against one in the logarithm of the prior: (FIRST_VISITS + most visits of a
# candidate) times `halving_scale`, the sigma of Danihelka et al.
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
    if search.options.halving < 2 or search.options.halving_turns > 0:
        return 0
    memcpy(worker.state, search.root_state, search.ops.state_size)
    worker.path_length = 0
    n = ranking_widen(worker, root)
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
        if is_new:
            if search.graph.nodes[child].turn != search.root_turn:
                graph_add_end(&search.graph, child)
            candidate = &halving.candidates[halving.num_left]
            candidate.node = child
            candidate.log_prior = log(edges[i].prior)
            halving.num_left += 1
    _start(halving)
    return 0


cdef void _start(HalvingC* halving) noexcept nogil:
    """Set the number of phases for the candidates; a single one needs none."""
    halving.num_phases = <int>ceil(log2(<double>max(1, halving.num_left)))
    if halving.num_phases == 0:
        halving.num_left = 0
    atomic_store_u32(&halving.has_started, 1)


cdef void _collect_ends(SearchC* search) noexcept nogil:
    """Make the most visited ends of the root's turn the candidates, of equals those with the best utility."""
    cdef HalvingC* halving = &search.halving
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end)
    cdef int i, most = <int>search.options.halving
    cdef CandidateC candidate
    while index != NO_NODE:
        candidate.node = index
        candidate.visits = atomic_load_u32(&search.graph.nodes[index].finished)
        candidate.log_prior = 0.0
        candidate.score = search_node_utility(&search.graph.nodes[index], search.viewer)
        index = atomic_load_u32(&search.graph.nodes[index].next_end)
        if candidate.visits == 0 or _path(search, candidate.node, NULL) < 0:
            continue
        i = halving.num_left
        if i == most:
            if not _is_more_visited(&candidate, &halving.candidates[i - 1]):
                continue
            i -= 1
        else:
            halving.num_left += 1
        while i > 0 and _is_more_visited(&candidate, &halving.candidates[i - 1]):
            halving.candidates[i] = halving.candidates[i - 1]
            i -= 1
        halving.candidates[i] = candidate
    _start(halving)


cdef inline bint _is_more_visited(const CandidateC* one, const CandidateC* other) noexcept nogil:
    """Return whether a candidate has more visits than another, or as many and a better utility."""
    return one.visits > other.visits or (one.visits == other.visits and one.score > other.score)


cdef int _path(SearchC* search, uint32_t index, action_t* actions) noexcept nogil:
    """Write the actions by which a node was first reached, unless NULL. Return their number, -1 if too many."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t node = index
    cdef int n = 0, i
    while nodes[node].parent != NO_NODE:
        n += 1
        node = nodes[node].parent
        if n > MAX_TURN:
            return -1
    if actions != NULL:
        node = index
        for i in range(n - 1, -1, -1):
            actions[i] = nodes[node].from_action
            node = nodes[node].parent
    return n


cdef void halving_advance(SearchC* search, double used) noexcept nogil:
    cdef HalvingC* halving = &search.halving
    cdef double first
    cdef uint32_t phase
    if search.options.halving < 2:
        return
    first = 1.0 - search.options.confirming_share if search.options.halving_turns > 0 else 0.0
    if used < first or first >= 1.0:
        return
    if not atomic_load_u32(&halving.has_started):
        spin_lock(&halving.lock)
        if not halving.has_started:
            _collect_ends(search)
        spin_unlock(&halving.lock)
    phase = <uint32_t>((used - first) / (1.0 - first) * halving.num_phases)
    if phase <= atomic_load_u32(&halving.phase) or phase >= <uint32_t>halving.num_phases:
        return
    spin_lock(&halving.lock)
    while halving.phase < phase:
        _sort(search)
        halving.num_left = (halving.num_left + 1) // 2
        atomic_store_u32(&halving.phase, halving.phase + 1)
    spin_unlock(&halving.lock)


cdef void _sort(SearchC* search) noexcept nogil:
    """Sort the candidates left by descending score. The caller holds the lock."""
    cdef HalvingC* halving = &search.halving
    cdef CandidateC candidate
    cdef NodeC* node
    cdef double factor, utility
    cdef uint32_t most = 0
    cdef int i, j
    for i in range(halving.num_left):
        most = max(most, atomic_load_u32(&search.graph.nodes[halving.candidates[i].node].finished))
    factor = (FIRST_VISITS + most) * search.options.halving_scale
    for i in range(halving.num_left):
        candidate = halving.candidates[i]
        node = search.graph.nodes + candidate.node
        # The value of a candidate without visits is that of the root ("completed").
        if atomic_load_u32(&node.finished) == 0:
            node = search.graph.nodes + search.root
        utility = search_node_utility(node, search.viewer)
        candidate.score = candidate.log_prior + factor * utility
        j = i
        while j > 0 and candidate.score > halving.candidates[j - 1].score:
            halving.candidates[j] = halving.candidates[j - 1]
            j -= 1
        halving.candidates[j] = candidate


cdef void halving_guide(WorkerC* worker) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef HalvingC* halving = &search.halving
    cdef int i, least = 0
    worker.guide_length = 0
    if not atomic_load_u32(&halving.has_started) or halving.num_phases == 0:
        return
    spin_lock(&halving.lock)
    for i in range(1, halving.num_left):
        if halving.candidates[i].visits < halving.candidates[least].visits:
            least = i
    halving.candidates[least].visits += 1
    worker.guide_length = _path(search, halving.candidates[least].node, worker.guide)
    spin_unlock(&halving.lock)


cdef uint32_t halving_best(SearchC* search) noexcept nogil:
    cdef HalvingC* halving = &search.halving
    cdef uint32_t node = NO_NODE
    spin_lock(&halving.lock)
    if halving.num_left > 0:
        _sort(search)
        node = halving.candidates[0].node
    spin_unlock(&halving.lock)
    return node

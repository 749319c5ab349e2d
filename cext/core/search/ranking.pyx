"""Priors, their ranking, and progressive widening (Coulom 2007); contracts in ``ranking.pxd``."""

from libc.math cimport exp, log
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.search.atomics cimport atomic_store_u16, atomic_store_u32, prefetch, spin_lock, spin_unlock
from cext.core.contract.game cimport GameOps
from cext.core.search.graph cimport EdgeC, graph_edges, graph_grow_edges, graph_num_edges
from cext.core.contract.heuristics cimport heuristics_policy
from cext.core.search.history cimport history_advantage, history_slot, history_t
from cext.core.search.listings cimport listings_find, listings_keep
from cext.core.search.policies cimport policies_find
from cext.core.contract.rng cimport mix_bits
from cext.core.contract.turns cimport turn_may_begin
from cext.core.search.worker cimport SearchC, search_key, search_key_from_root

cdef enum:
    TOGETHER = 16           # actions whose history is read together

# The smallest prior after noise and history.
cdef float LEAST_PRIOR = 1e-30


cdef int _list(WorkerC* worker) noexcept nogil:
    """Write the legal actions with a prior above 0, and their priors, to the worker; return their number."""
    cdef const GameOps* ops = worker.search.ops
    cdef int i, num_legal = ops.legal_actions(worker.state, worker.actions), n = 0
    heuristics_policy(ops, worker.search.weights, worker.cache, worker.state, worker.actions, num_legal, worker.priors)
    for i in range(num_legal):
        if worker.priors[i] > 0:
            worker.actions[n] = worker.actions[i]
            worker.priors[n] = worker.priors[i]
            n += 1
    return n


cdef bint _weigh_as_given(WorkerC* worker, uint64_t key, int num_legal) noexcept nogil:
    """Write the priors that the evaluator has given for all legal actions; return False if it has not."""
    cdef const float* given
    if worker.search.policies == NULL:
        return False
    given = policies_find(worker.search.policies, key, num_legal)
    if given == NULL:
        return False
    memcpy(worker.priors, given, num_legal * sizeof(float))
    return True


cdef int _list_first(WorkerC* worker, uint64_t key) noexcept nogil:
    """Do what `_list` does for the root of a search whose first actions are restricted.

    Actions with the prior 0 are left out of the search. They stay out, unless the caller has named them or no other is
    left; then they have the smallest prior.
    """
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef int i, num_legal = ops.legal_actions(worker.state, worker.actions), n = 0
    cdef float least = 0.0
    cdef bint keeps_all
    for i in range(num_legal):
        worker.priors[i] = 1.0
    if not _weigh_as_given(worker, key, num_legal) and ops.policy != NULL:
        heuristics_policy(ops, search.weights, worker.cache, worker.state, worker.actions, num_legal, worker.priors)
    for i in range(num_legal):
        if turn_may_begin(search.first_actions, search.num_first, worker.actions[i]):
            worker.actions[n] = worker.actions[i]
            worker.priors[n] = worker.priors[i]
            if worker.priors[n] > 0 and (least == 0 or worker.priors[n] < least):
                least = worker.priors[n]
            n += 1
    keeps_all = search.allows_first or least == 0
    num_legal = n
    n = 0
    for i in range(num_legal):
        if worker.priors[i] > 0 or keeps_all:
            worker.actions[n] = worker.actions[i]
            worker.priors[n] = worker.priors[i] if worker.priors[i] > 0 else (least if least > 0 else 1.0)
            n += 1
    return n


cdef int _list_unkept(WorkerC* worker, uint64_t key) noexcept nogil:
    """Do what `_list` does in a game without a policy, or with priors from an evaluator."""
    cdef int i, n = worker.search.ops.legal_actions(worker.state, worker.actions)
    if _weigh_as_given(worker, key, n):
        return n
    if worker.search.ops.policy != NULL:
        return _list(worker)
    for i in range(n):
        worker.priors[i] = 1.0
    return n


cdef int ranking_list(WorkerC* worker, uint64_t key, bint is_corrected) noexcept nogil:
    cdef const GameOps* ops = worker.search.ops
    cdef int i, n
    cdef double total = 0
    if worker.search.num_first > 0 and key == worker.search.graph.nodes[worker.search.root].key:
        n = _list_first(worker, key)
    elif ops.policy == NULL or worker.search.policies != NULL:
        n = _list_unkept(worker, key)
    else:
        n = listings_find(worker.listings, key, worker.actions, worker.priors)
        if n == 0:
            n = _list(worker)
            listings_keep(worker.listings, key, worker.actions, worker.priors, n)
    if worker.path_length == 0 and worker.search.options.halving >= 2:
        _add_noise(worker, n, worker.search.options.gumbel_scale)
    elif worker.search.options.prior_noise > 0 and ops.turn(worker.state) == worker.search.root_turn:
        _add_noise(worker, n, worker.search.options.prior_noise)
    if is_corrected and worker.search.history != NULL:
        _add_history(worker, n)
    for i in range(n):
        total += worker.priors[i]
    for i in range(n):
        worker.priors[i] = max(<float>(worker.priors[i] / total), LEAST_PRIOR)
    return n


cdef void _add_noise(WorkerC* worker, int n, double scale) noexcept nogil:
    """Add Gumbel noise to the logarithm of the priors."""
    # By hashes, because a node's actions are ranked more than once.
    cdef SearchC* search = worker.search
    cdef uint64_t state_key = search_key(search.ops, worker.state, search.viewer), mixed
    cdef uint64_t key = search_key_from_root(search, state_key) ^ search.seed_bits
    cdef double uniform
    cdef float highest = -1e30
    cdef int i
    for i in range(n):
        mixed = mix_bits(key ^ mix_bits(worker.actions[i]))
        uniform = (<double>(mixed >> 12) + 0.5) * (1.0 / (<uint64_t>1 << 52))
        worker.priors[i] = <float>(log(worker.priors[i]) - scale * log(-log(uniform)))
        highest = max(highest, worker.priors[i])
    for i in range(n):
        worker.priors[i] = <float>exp(worker.priors[i] - highest)


cdef void _add_history(WorkerC* worker, int n) noexcept nogil:
    """Adjust the priors by the mean advantage of each action in the history table (`history`)."""
    cdef SearchC* search = worker.search
    cdef history_t* slots[TOGETHER]     # of some actions, which are all on their way before the first one is read
    cdef int i, end, first = 0, player = search.ops.current_player(worker.state)
    cdef int turn = search.ops.turn(worker.state) - search.history_turn
    cdef double advantage
    while first < n:
        end = min(first + TOGETHER, n)
        for i in range(first, end):
            slots[i - first] = history_slot(search.history, worker.actions[i], player, turn)
            prefetch(slots[i - first])
        for i in range(first, end):
            advantage = history_advantage(slots[i - first], search.options.history_doubt)
            if advantage != 0.0:
                worker.priors[i] = <float>(worker.priors[i] * exp(search.options.history * advantage))
        first = end


cdef inline bint _is_before(WorkerC* worker, int i, int j) noexcept nogil:
    """Return whether action i comes before action j: by descending prior, then in canonical order."""
    if worker.priors[i] != worker.priors[j]:
        return worker.priors[i] > worker.priors[j]
    return worker.actions[i] < worker.actions[j]


cdef inline void _swap(WorkerC* worker, int i, int j) noexcept nogil:
    """Swap two actions and their priors."""
    cdef action_t action = worker.actions[i]
    cdef float prior = worker.priors[i]
    worker.actions[i] = worker.actions[j]
    worker.priors[i] = worker.priors[j]
    worker.actions[j] = action
    worker.priors[j] = prior


cdef void _sift_down(WorkerC* worker, int root, int n) noexcept nogil:
    """Restore the heap of n actions below `root`; its top is the action that comes last in the order."""
    cdef int child
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and _is_before(worker, child, child + 1):
            child += 1
        if not _is_before(worker, root, child):
            return
        _swap(worker, root, child)
        root = child


cdef void ranking_sort_best(WorkerC* worker, int n, int k) noexcept nogil:
    cdef int i
    for i in range(k // 2 - 1, -1, -1):
        _sift_down(worker, i, k)
    for i in range(k, n):
        if _is_before(worker, i, 0):
            _swap(worker, i, 0)
            _sift_down(worker, 0, k)
    for i in range(k - 1, 0, -1):
        _swap(worker, 0, i)
        _sift_down(worker, 0, i)


cdef void _rank_first(WorkerC* worker, const EdgeC* edges, int num_edges, int n) noexcept nogil:
    """Set the priors of actions with an edge so that they stay in their places, before all others."""
    cdef int j, low, high, middle
    for j in range(num_edges):
        low, high = 0, n        # the actions ascend
        while low < high:
            middle = (low + high) // 2
            if worker.actions[middle] < edges[j].action:
                low = middle + 1
            else:
                high = middle
        if low < n and worker.actions[low] == edges[j].action:
            worker.priors[low] = <float>(1 + num_edges - j)     # the others are at most 1


cdef int ranking_widen(WorkerC* worker, NodeC* node) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef int i, n, width, target, num_edges = graph_num_edges(node)
    # Rank before taking the lock: other threads may wait for it.
    n = ranking_list(worker, node.key, True)
    width = ranking_width(search, node, n)
    target = min(n, max(width, 2 * num_edges))
    if search.history != NULL:
        _rank_first(worker, graph_edges(&search.graph, node), num_edges, n)
    ranking_sort_best(worker, n, target)
    spin_lock(&node.lock)
    atomic_store_u32(&node.num_legal, <uint32_t>n)
    # Unless another thread has widened the node in the meantime, perhaps in another order.
    if node.num_edges == num_edges and num_edges < target:
        if graph_grow_edges(&search.graph, node, target) < 0:
            spin_unlock(&node.lock)
            return -1
        edges = graph_edges(&search.graph, node)
        for i in range(num_edges, target):
            _fill_edge(&edges[i], worker.actions[i], worker.priors[i])
        atomic_store_u16(&node.num_edges, <uint16_t>target)
    width = min(width, node.num_edges)
    spin_unlock(&node.lock)
    return width


cdef inline void _fill_edge(EdgeC* edge, action_t action, float prior) noexcept nogil:
    """Set an edge to an action without visits."""
    memset(edge, 0, sizeof(EdgeC))
    edge.action = action
    edge.prior = prior


cdef int ranking_append_edge(SearchC* search, NodeC* node, action_t action, float prior) noexcept nogil:
    if node.num_edges == node.max_edges:
        # The count of edges has 16 bits.
        if node.num_edges == 65535 or graph_grow_edges(&search.graph, node,
                                                       min(max(4, 2 * node.num_edges), 65535)) < 0:
            return -1
    _fill_edge(&graph_edges(&search.graph, node)[node.num_edges], action, prior)
    atomic_store_u16(&node.num_edges, <uint16_t>(node.num_edges + 1))
    return 0

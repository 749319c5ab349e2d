"""The search: information-set Monte Carlo tree search over atomic actions, on a graph, by native threads.

It supports games of 2 to MAX_SEATS seats with deterministic actions, chance events and hidden information, whose
seats may move many plies running. The main loop is `_iterate`: select, expand, evaluate, back up.

Sources
* PUCT selection with priors: Rosin, "Multi-armed bandits with episode context" (2011); Silver et al. (2017).
* Back-up of a vector, max^n: Luckhardt and Irani (1986); in Monte Carlo trees: Nijssen and Winands (2012).
* Progressive widening: Coulom, "Computing Elo ratings of move patterns in the game of Go" (2007).
* Random events that happen again: Couetoux et al., "Continuous upper confidence trees" (2011), double progressive
  widening.
* Information sets and availability counts: Cowling, Powley, Whitehouse, "Information Set MCTS" (2012).
* Statistics on a graph, value of the child and visits of the edge: Childs, Brodeur, Kocsis (2008), UCT2.
* What is learnt of actions: Schaeffer, "The history heuristic" (1983); Nijssen and Winands, "Enhancements for multi-player
  Monte-Carlo tree search" (2010), progressive history.
* Virtual loss: Chaslot, Winands, van den Herik, "Parallel Monte-Carlo tree search" (2008).
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint16_t
from libc.math cimport exp, fabs, floor, log, pow, sqrt
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cext.core.atomics cimport (atomic_add_f64_locked, atomic_add_u32, atomic_add_u64, atomic_cas_u32,
                                atomic_load_f64, atomic_load_u32, atomic_load_u64, atomic_store_u16, atomic_store_u32,
                                atomic_store_u64, monotonic_s, prefetch, sem_destroy, sem_init, sem_post,
                                semaphore_wait, spin_lock, spin_unlock, thread_add_niceness)
from cext.core.game cimport State, game_apply, game_require_seat, game_settle_chance
from cext.core.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, NodeC, graph_add_end, graph_edges, graph_find_or_add,
                              graph_free, graph_grow_edges, graph_init, graph_memory, graph_num_edges)
from cext.core.history cimport HISTORY_SLOTS, history_add, history_advantage, history_slot, history_t
from cext.core.playout cimport playout_round
from cext.core.rng cimport MIX_STEP, Stream, bitgen_t, mix_bits, rng_below, rng_following
from cext.core.turns cimport (MAX_TURN, TurnScratchC, turn_canonical, turn_finish, turn_scratch_free,
                              turn_scratch_init)
from cext.core.types cimport CHANCE, MAX_SEATS, TERMINAL, aligned_alloc
from cext.core.weights cimport Weights, weights_data

import threading

from cext.core.errors import SearchError

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t
    int pthread_create(pthread_t* thread, const void* attributes, void* (*start)(void*) noexcept nogil, void* argument)
    int pthread_join(pthread_t thread, void** result)

STOP_REASONS = ("", "time", "iterations", "memory", "stopped", "forced", "settled")

# Name: (default, smallest, largest). All of them are numbers without a unit unless said. A game may set other defaults, see
# `Game.search_options`.
OPTIONS = {
    # PUCT constant at the first decision of a turn.
    "exploration": (0.7, 0.0, 100.0),
    # PUCT constant within a turn: low, since the same seat goes on choosing.
    "exploration_in_turn": (0.4, 0.0, 100.0),
    # How far below its parent's mean an action without visits is assumed to be (utility).
    "first_play_reduction": (0.0, 0.0, 1.0),
    # So many of the best priors, times the square root of the visits, are visited at least once.
    "first_visits": (0.5, 0.0, 1000.0),
    # Actions in view after n visits: base + factor * n ** exponent, best priors first.
    "widening_base": (4.0, 1.0, 10000.0),
    "widening_factor": (1.0, 0.0, 1000.0),
    "widening_exponent": (0.5, 0.0, 1.0),
    # Where a random event is due, after n visits: so many different ones, 1 + factor * n ** exponent, happen again and
    # again, so that what follows them is looked at. Factor 0: each is drawn anew.
    "events_factor": (1.0, 0.0, 1000.0),
    "events_exponent": (0.5, 0.0, 1.0),
    # Above 0: within the root's turn an iteration goes on through new nodes, by the best priors, to the end of the turn;
    # above 1: in every turn. 0, and games without priors: it ends in the first new node.
    "whole_turns": (1.0, 0.0, 2.0),
    # Weight of the evaluation after a playout to the end of the round, against the evaluation of the leaf itself.
    "playout_weight": (0.3, 0.0, 1.0),
    # Weight of the score margin in what is maximised, and the margin in game points that counts for half of it.
    "margin_weight": (0.3, 0.0, 1.0),
    "margin_scale": (20.0, 0.001, 1e6),
    # Scale of a random error on the logarithm of the priors within the root's turn, the same at each visit. Its
    # distribution is Gumbel's, so that with 1 the order of the actions is as if drawn from the priors (Kool, van Hoof and
    # Welling, 2019). 0: none.
    "prior_noise": (0.0, 0.0, 10.0),
    # Scale of what has been learnt of an action, in utility, on the logarithm of its prior; 0, and games without priors:
    # nothing is learnt. And so many visits without any advantage are added to those that it had.
    "history": (30.0, 0.0, 50.0),
    "history_doubt": (16.0, 0.0, 1e6),
    # Last share of the time or iterations that is spent without exploration within the root's turn.
    "confirming_share": (0.25, 0.0, 1.0),
    # Above 0: in the confirming part of a search limited by time alone, it ends when no other turn can have as many
    # visits as the best one in the time left. 0: it uses all of its time.
    "early_stop": (1.0, 0.0, 1.0),
}

cdef enum:
    SETTLED_EVERY = 64          # iterations of a thread, at least, after which it looks whether the turn is settled
    MAX_EVENTS = 1000000000     # of a node
    PREFETCH = 8                # edges that selection asks for ahead

# Noise and history leave no prior below this.
cdef float LEAST_PRIOR = 1e-30

# How often the calling thread wakes to look for signals that another thread received: the main one, which Python has
# handle them. Others would take Python's lock for nothing.
cdef double SIGNALS_S = 0.03
cdef double LONG_S = 3600.0

# Share of margin_weight that is left once the game is over.
cdef double OVER_MARGIN = 0.1


# --- the main loop

cdef int _iterate(WorkerC* worker) noexcept nogil:
    """One iteration. Returns 0, or -1 when memory is used up (nothing is counted then)."""
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef void* state = worker.state
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef uint32_t index = search.root, child
    cdef action_t action
    cdef int edge
    cdef bint is_leaf, is_over

    # Step 1. Draw a world that agrees with what the asking seat knows.
    memcpy(state, search.root_state, ops.state_size)
    if search.several_worlds:
        ops.determinize(state, search.viewer, &worker.rng)
    worker.path_length = 0
    worker.path_nodes[0] = index
    is_leaf = _enter(search, index) and not _goes_on(search, index)

    # Step 2. Select: descend by PUCT until a node is new and no turn is to be finished, or the game is over.
    while not is_leaf and ops.current_player(state) != TERMINAL and worker.path_length < MAX_PATH:
        if ops.current_player(state) == CHANCE:
            edge = NO_EDGE
            action = 0
            _happen(worker, index)
        else:
            edge = _select(worker, index, &action)
            if edge < 0:
                _leave(worker)
                return -1
            game_apply(ops, state, action)
        child = _follow(worker, index, edge, action)
        if child == NO_NODE:
            if edge != NO_EDGE:
                _leave_edge(search, index, edge)
            _leave(worker)
            return -1
        worker.path_edges[worker.path_length] = edge
        worker.path_length += 1
        worker.path_nodes[worker.path_length] = child
        is_leaf = _enter(search, child) and not (
            _goes_on(search, child) and search.graph.nodes[child].turn == search.graph.nodes[index].turn)
        index = child

    # Step 3. Evaluate.
    is_over = _evaluate(worker, values, scores)

    # Step 4. Back up.
    _back_up(worker, values, scores, is_over)
    return 0


cdef bint _enter(SearchC* search, uint32_t index) noexcept nogil:
    # Counts a descent as under way, which is its virtual loss; returns whether it is the first.
    return atomic_add_u32(&search.graph.nodes[index].visits, 1) == 0


cdef inline bint _goes_on(SearchC* search, uint32_t index) noexcept nogil:
    # Whether new nodes of the node's turn are passed: half a turn tells little of what it is good for.
    return search.options.whole_turns > (1 if search.graph.nodes[index].turn != search.root_turn else 0)


cdef void _leave(WorkerC* worker) noexcept nogil:
    # Takes a descent back that could not be finished.
    cdef SearchC* search = worker.search
    cdef int i
    for i in range(worker.path_length + 1):
        atomic_add_u32(&search.graph.nodes[worker.path_nodes[i]].visits, <uint32_t>-1)
        if i < worker.path_length and worker.path_edges[i] != NO_EDGE:
            _leave_edge(search, worker.path_nodes[i], worker.path_edges[i])


cdef void _leave_edge(SearchC* search, uint32_t index, int edge) noexcept nogil:
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* c_edge
    spin_lock(&node.lock)
    c_edge = graph_edges(&search.graph, node) + edge
    atomic_store_u32(&c_edge.visits, c_edge.visits - 1)
    spin_unlock(&node.lock)


# --- select and expand

cdef void _happen(WorkerC* worker, uint32_t index) noexcept nogil:
    """Let the random event of a node happen: one that has happened there, or a new one while they are few."""
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef double most
    cdef uint64_t numbers
    cdef bitgen_t rng
    if search.options.events_factor == 0.0:
        search.ops.chance(worker.state, &worker.rng)
        return
    most = 1 + search.options.events_factor * pow(atomic_load_u32(&node.visits), search.options.events_exponent)
    # An event is known by the random numbers that draw it; in another world they may draw another one.
    numbers = mix_bits(search.seed_bits ^ _from_root(search, node.key)
                       ^ mix_bits(rng_below(&worker.rng, <int>min(most, MAX_EVENTS))))
    rng_following(&rng, &numbers)
    search.ops.chance(worker.state, &rng)


cdef inline bint _shares_view(SearchC* search, const void* state, int player) noexcept nogil:
    # Where the mover sees what the asking seat sees, the legal actions and their priors are the same in every world
    # of a node (a rule of the contract), and need not be listed anew at each visit.
    return (player == search.viewer
            or search.ops.hash(state, player) == search.ops.hash(state, search.viewer))


cdef int _select(WorkerC* worker, uint32_t index, action_t* action) noexcept nogil:
    """Choose an edge of a node and count a descent through it. Returns its index, or -1 without memory."""
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* edge
    cdef int chosen, n, width
    if search.several_worlds and not _shares_view(search, worker.state, node.player):
        # Ranked before the lock is taken, for which others may wait; at each visit anew, so what is in view would not stay
        # there if their priors changed.
        n = _list_by_prior(worker, False)
        width = _width(search, node, n)
        _sort_best(worker, n, width)
        spin_lock(&node.lock)
        chosen = _select_available(worker, node, n, width)
    else:
        chosen = _select_known(worker, node)
        spin_lock(&node.lock)
    if chosen >= 0:
        edge = graph_edges(&search.graph, node) + chosen
        atomic_store_u32(&edge.visits, edge.visits + 1)
        action[0] = edge.action
    spin_unlock(&node.lock)
    return chosen


cdef inline double _exploration(SearchC* search, NodeC* node) noexcept nogil:
    # The end of the budget confirms the best turn found: visits then gather on it, not on its near twins.
    if node.turn == search.root_turn and atomic_load_u32(&search.is_confirming):
        return 0.0
    # The first decision of a turn weighs the seat's plans; the later ones carry one out.
    if node.parent != NO_NODE and search.graph.nodes[node.parent].turn == node.turn:
        return search.options.exploration_in_turn
    return search.options.exploration


cdef inline double _edge_utility(SearchC* search, const EdgeC* edge, uint32_t edge_visits, int player) noexcept nogil:
    # Mean utility beyond an edge with visits. All paths that lead to the child inform it; a descent under way counts
    # as a loss.
    cdef uint32_t index = atomic_load_u32(&edge.child), visits
    cdef NodeC* child
    if index != SEVERAL_NODES and index != NO_NODE:
        child = search.graph.nodes + index
        visits = atomic_load_u32(&child.visits)
        if visits > 0:
            return atomic_load_f64(&child.utility_sum[player]) / visits
    return atomic_load_f64(&edge.utility_sum) / edge_visits


cdef inline double _node_utility(NodeC* node, int player) noexcept nogil:
    cdef uint32_t finished = atomic_load_u32(&node.finished)
    return atomic_load_f64(&node.utility_sum[player]) / finished if finished > 0 else 0.5


cdef int _width(SearchC* search, NodeC* node, int num_legal) noexcept nogil:
    # Progressive widening.
    cdef OptionsC* options = &search.options
    cdef double width = (options.widening_base
                         + options.widening_factor * pow(atomic_load_u32(&node.visits), options.widening_exponent))
    return num_legal if width >= num_legal else <int>width


cdef inline double _num_first_visits(SearchC* search, NodeC* node) noexcept nogil:
    # A prior that is too small by far would keep an action from being looked at even once.
    return search.options.first_visits * sqrt(<double>atomic_load_u32(&node.visits))


cdef int _select_known(WorkerC* worker, NodeC* node) noexcept nogil:
    # The same actions in every world: the edges are those that came into view, in that order, visited ones first.
    # Without the lock: a pass over hundreds of edges would keep the other threads waiting.
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef double factor, utility, first_play, score, best_score = -1e300
    cdef uint32_t visits
    cdef int i, width, num_edges = graph_num_edges(node), player = node.player, best = 0
    # A node without edges has not been expanded, and its num_legal may not be known yet.
    width = _width(search, node, <int>atomic_load_u32(<uint32_t*>&node.num_legal)) if num_edges > 0 else 1
    if width > num_edges:
        width = _widen(worker, node)
        if width < 0:
            return -1
    edges = graph_edges(&search.graph, node)
    factor = _exploration(search, node) * sqrt(<double>atomic_load_u32(&node.visits))
    first_play = _node_utility(node, player) - search.options.first_play_reduction
    for i in range(width):
        if i + PREFETCH < width:
            prefetch(search.graph.nodes + atomic_load_u32(&edges[i + PREFETCH].child))
        visits = atomic_load_u32(&edges[i].visits)
        if visits == 0:
            # Those after it have no visits either: they came with it and ranked lower, or came later.
            if i < _num_first_visits(search, node):
                return i
            score = first_play + factor * edges[i].prior
            if score > best_score:
                best = i
            break
        utility = _edge_utility(search, &edges[i], visits, player)
        score = utility + factor * edges[i].prior / (1 + visits)
        if score > best_score:
            best_score = score
            best = i
    return best


cdef int _select_available(WorkerC* worker, NodeC* node, int n, int width) noexcept nogil:
    # Other actions in other worlds: only edges that are legal in this one count, and each is measured against the
    # descents in which it was (availability). The first `width` of this world's `n` actions are in view.
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef double exploration, utility, score, best_score = -1e300
    cdef int i, j, best = -1, player = node.player
    if node.num_legal < 0:
        atomic_store_u32(<uint32_t*>&node.num_legal, <uint32_t>n)
    exploration = _exploration(search, node)
    for i in range(width):
        edges = graph_edges(&search.graph, node)
        j = 0
        while j < node.num_edges and edges[j].action != worker.actions[i]:
            j += 1
        if j == node.num_edges:
            if _append_edge(search, node, worker.actions[i], worker.priors[i]) < 0:
                return -1
            edges = graph_edges(&search.graph, node)
        edges[j].available += 1
        if edges[j].visits == 0:
            if i < _num_first_visits(search, node):
                return j
            utility = _node_utility(node, player) - search.options.first_play_reduction
        else:
            utility = _edge_utility(search, &edges[j], edges[j].visits, player)
        score = utility + exploration * edges[j].prior * sqrt(<double>edges[j].available) / (1 + edges[j].visits)
        if score > best_score:
            best_score = score
            best = j
    return best


cdef int _list_by_prior(WorkerC* worker, bint is_corrected) noexcept nogil:
    """List the legal actions worth a visit with their priors (summing to 1), unsorted; return how many.

    `is_corrected`: by what has been learnt of them.
    """
    cdef const GameOps* ops = worker.search.ops
    cdef int i, num_legal, n = ops.legal_actions(worker.state, worker.actions)
    cdef double total = 0
    num_legal = n
    if ops.policy == NULL:
        for i in range(n):
            worker.priors[i] = 1.0
    else:
        ops.policy(worker.search.weights, worker.state, worker.actions, n, worker.priors)
    n = 0
    for i in range(num_legal):
        if worker.priors[i] > 0:
            worker.actions[n] = worker.actions[i]
            worker.priors[n] = worker.priors[i]
            n += 1
    if worker.search.options.prior_noise > 0 and ops.turn(worker.state) == worker.search.root_turn:
        _add_noise(worker, n)
    if is_corrected and worker.search.history != NULL:
        _add_history(worker, n)
    for i in range(n):
        total += worker.priors[i]
    for i in range(n):
        worker.priors[i] = max(<float>(worker.priors[i] / total), LEAST_PRIOR)
    return n


cdef void _add_noise(WorkerC* worker, int n) noexcept nogil:
    # By hashes, since the actions of a node are ranked more than once.
    cdef SearchC* search = worker.search
    cdef uint64_t key = _from_root(search, _key(search.ops, worker.state, search.viewer)) ^ search.seed_bits, mixed
    cdef double uniform
    cdef float highest = -1e30
    cdef int i
    for i in range(n):
        mixed = mix_bits(key ^ mix_bits(worker.actions[i]))
        uniform = (<double>(mixed >> 12) + 0.5) * (1.0 / (<uint64_t>1 << 52))
        worker.priors[i] = <float>(log(worker.priors[i]) - search.options.prior_noise * log(-log(uniform)))
        highest = max(highest, worker.priors[i])
    for i in range(n):
        worker.priors[i] = <float>exp(worker.priors[i] - highest)


cdef void _add_history(WorkerC* worker, int n) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef int i, player = search.ops.current_player(worker.state)
    cdef int turn = search.ops.turn(worker.state) - search.root_turn
    cdef double advantage
    for i in range(n):
        advantage = history_advantage(history_slot(search.history, worker.actions[i], player, turn),
                                      search.options.history_doubt)
        if advantage != 0.0:
            worker.priors[i] = <float>(worker.priors[i] * exp(search.options.history * advantage))


cdef inline bint _is_before(WorkerC* worker, int i, int j) noexcept nogil:
    # Descending prior; canonical order among equals.
    if worker.priors[i] != worker.priors[j]:
        return worker.priors[i] > worker.priors[j]
    return worker.actions[i] < worker.actions[j]


cdef inline void _swap(WorkerC* worker, int i, int j) noexcept nogil:
    cdef action_t action = worker.actions[i]
    cdef float prior = worker.priors[i]
    worker.actions[i] = worker.actions[j]
    worker.priors[i] = worker.priors[j]
    worker.actions[j] = action
    worker.priors[j] = prior


cdef void _sift_down(WorkerC* worker, int root, int n) noexcept nogil:
    # Heap whose top comes last of the order.
    cdef int child
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and _is_before(worker, child, child + 1):
            child += 1
        if not _is_before(worker, root, child):
            return
        _swap(worker, root, child)
        root = child


cdef void _sort_best(WorkerC* worker, int n, int k) noexcept nogil:
    """Move the k best of n actions to the front, in order."""
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
    # Those with an edge keep their places, before all others, whatever has been learnt of them since.
    cdef int i, j
    for j in range(num_edges):
        i = 0
        while i < n and worker.actions[i] != edges[j].action:
            i += 1
        if i < n:
            worker.priors[i] = <float>(1 + num_edges - j)     # the others are at most 1


cdef int _widen(WorkerC* worker, NodeC* node) noexcept nogil:
    """Bring the actions with the best priors into view. Returns how many count now, or -1 without memory."""
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef int i, n, width, target, num_edges = graph_num_edges(node)
    # Ranked before the lock is taken, for which others may wait.
    n = _list_by_prior(worker, True)
    width = _width(search, node, n)
    target = min(n, max(width, 2 * num_edges))
    if search.history != NULL:
        _rank_first(worker, graph_edges(&search.graph, node), num_edges, n)
    _sort_best(worker, n, target)
    spin_lock(&node.lock)
    atomic_store_u32(<uint32_t*>&node.num_legal, <uint32_t>n)
    # Unless another thread has widened it meanwhile, perhaps in another order.
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
    memset(edge, 0, sizeof(EdgeC))
    edge.action = action
    edge.prior = prior


cdef int _append_edge(SearchC* search, NodeC* node, action_t action, float prior) noexcept nogil:
    if node.num_edges == node.max_edges:
        # As many as fit the 16 bits of the count.
        if node.num_edges == 65535 or graph_grow_edges(&search.graph, node,
                                                       min(max(4, 2 * node.num_edges), 65535)) < 0:
            return -1
    _fill_edge(&graph_edges(&search.graph, node)[node.num_edges], action, prior)
    atomic_store_u16(&node.num_edges, <uint16_t>(node.num_edges + 1))
    return 0


cdef uint32_t _follow(WorkerC* worker, uint32_t index, int edge, action_t action) noexcept nogil:
    """Find or add the node of the worker's state, reached from a node by an edge or a random event (NO_EDGE).

    Returns NO_NODE without memory.
    """
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* c_edge
    cdef int turn = ops.turn(worker.state)
    cdef uint32_t child
    cdef bint is_new
    # Equal positions of different turns stay apart, so that a node knows whose turn it belongs to.
    child = graph_find_or_add(&search.graph, _key(ops, worker.state, search.viewer), ops.current_player(worker.state),
                              turn, index, action, &is_new)
    if child == NO_NODE:
        return NO_NODE
    if is_new and turn != search.root_turn and node.turn == search.root_turn:
        graph_add_end(&search.graph, child)
    if edge == NO_EDGE or atomic_load_u32(&graph_edges(&search.graph, node)[edge].child) == child:
        return child
    spin_lock(&node.lock)
    c_edge = &graph_edges(&search.graph, node)[edge]
    if c_edge.child == NO_NODE:
        atomic_store_u32(&c_edge.child, child)
    elif c_edge.child != child:
        atomic_store_u32(&c_edge.child, SEVERAL_NODES)
    spin_unlock(&node.lock)
    return child


cdef inline uint64_t _from_root(SearchC* search, uint64_t key) noexcept nogil:
    # Those who ask need not count alike the turns before the root, which are in every key.
    return key - search.graph.nodes[search.root].key


cdef inline uint64_t _key(const GameOps* ops, const void* state, int viewer) noexcept nogil:
    return ops.hash(state, viewer) + <uint64_t>ops.turn(state) * MIX_STEP


# --- evaluate and back up

cdef bint _evaluate(WorkerC* worker, double* values, double* scores) noexcept nogil:
    """Each seat's expected share of the win and final score in the worker's state, which a playout may change.

    Returns whether the game is over there, so that they are certain.
    """
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
        ops.evaluate(search.weights, worker.state, leaf_values, leaf_scores)
    if weight > 0.0:
        playout_round(ops, worker.state, &worker.rng, worker.actions)
        if ops.current_player(worker.state) == TERMINAL:
            ops.returns(worker.state, values)
            ops.scores(worker.state, scores)
        else:
            ops.evaluate(search.weights, worker.state, values, scores)
    for seat in range(search.num_players):
        if weight == 0.0:
            values[seat] = leaf_values[seat]
            scores[seat] = leaf_scores[seat]
        elif weight < 1.0:
            values[seat] = weight * values[seat] + (1 - weight) * leaf_values[seat]
            scores[seat] = weight * scores[seat] + (1 - weight) * leaf_scores[seat]
    return False


cdef void _utilities(SearchC* search, const double* values, const double* scores, bint is_over,
                     double* utilities) noexcept nogil:
    """What each seat maximises, in [0, 1]: its share of the win, blended with its margin over the best other.

    At the end of the game the margin hardly counts: a sure win by a point beats a likely one by many.
    """
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


cdef inline void _learn(SearchC* search, NodeC* node, int edge, double utility) noexcept nogil:
    # Under the node's lock, before the descent counts.
    history_add(history_slot(search.history, graph_edges(&search.graph, node)[edge].action, node.player,
                             node.turn - search.root_turn),
                utility - node.utility_sum[node.player] / node.finished)


cdef void _back_up(WorkerC* worker, const double* values, const double* scores, bint is_over) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef double utilities[MAX_SEATS]
    cdef NodeC* node
    cdef int i, seat
    _utilities(search, values, scores, is_over, utilities)
    for i in range(worker.path_length + 1):
        node = search.graph.nodes + worker.path_nodes[i]
        spin_lock(&node.lock)
        if search.history != NULL and i < worker.path_length and worker.path_edges[i] != NO_EDGE and node.finished > 0:
            _learn(search, node, worker.path_edges[i], utilities[node.player])
        for seat in range(search.num_players):
            atomic_add_f64_locked(&node.utility_sum[seat], utilities[seat])
            atomic_add_f64_locked(&node.value_sum[seat], values[seat])
            atomic_add_f64_locked(&node.score_sum[seat], scores[seat])
        atomic_store_u32(&node.finished, node.finished + 1)
        if i < worker.path_length and worker.path_edges[i] != NO_EDGE:
            atomic_add_f64_locked(&graph_edges(&search.graph, node)[worker.path_edges[i]].utility_sum,
                                  utilities[node.player])
        spin_unlock(&node.lock)


# --- the team of threads

cdef void* _work(void* argument) noexcept nogil:
    cdef WorkerC* worker = <WorkerC*>argument
    cdef SearchC* search = worker.search
    cdef uint64_t started
    cdef double now_s
    thread_add_niceness(search.niceness)
    while atomic_load_u32(&search.stop) == RUNNING:
        if search.max_iterations > 0:
            started = atomic_add_u64(&search.started, 1)
            if started >= search.max_iterations:
                atomic_cas_u32(&search.stop, RUNNING, BY_ITERATIONS)
                break
            if started >= search.confirm_iterations:
                _confirm(search)
        if _iterate(worker) < 0:
            atomic_cas_u32(&search.stop, RUNNING, BY_MEMORY)
            break
        atomic_store_u64(&worker.iterations, worker.iterations + 1)
        if search.deadline_s > 0:
            now_s = monotonic_s()
            if now_s >= search.confirm_s:
                _confirm(search)
            if now_s >= search.deadline_s:
                atomic_cas_u32(&search.stop, RUNNING, BY_TIME)
            elif (worker.iterations % max(<uint32_t>SETTLED_EVERY, atomic_load_u32(&search.graph.num_ends) // 4) == 0
                  and search.max_iterations == 0
                  and search.options.early_stop > 0 and atomic_load_u32(&search.is_confirming)
                  and _is_settled(search, now_s)):
                atomic_cas_u32(&search.stop, RUNNING, BY_LEAD)
    if atomic_add_u32(&search.workers_running, <uint32_t>-1) == 1:
        sem_post(&search.ended)
    return NULL


cdef bint _is_settled(SearchC* search, double now_s) noexcept nogil:
    """Whether the lead in visits of the best end of the turn is more than the iterations that there is time for."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end), visits, most = 0, second = 0
    cdef double left = (atomic_load_u32(&nodes[search.root].finished) * (search.deadline_s - now_s)
                        / (now_s - search.began_s))
    while index != NO_NODE:
        visits = atomic_load_u32(&nodes[index].finished)
        if visits > most:
            second = most
            most = visits
        elif visits > second:
            second = visits
        index = atomic_load_u32(&nodes[index].next_end)
    # A little more, should the search get faster.
    return most > second + 1.2 * left


cdef inline void _confirm(SearchC* search) noexcept nogil:
    # Written once: every thread reads this line.
    if not atomic_load_u32(&search.is_confirming):
        atomic_store_u32(&search.is_confirming, 1)


cdef class Search:
    """One search of one position.

    Parameters
    ----------
    state : State
        Copied. A seat must be to move.
    weights : Weights, optional
        Of the state's game; needed if it has weights.
    threads : int
        Native threads, 1 to 256, on one shared graph.
    memory_mb : float
        Memory for the graph in MiB; the search ends with stop reason ``memory`` when it is used up.
    seed : int
        0 <= seed < 2**63. With one thread and an iteration limit the same seed gives the same result.
    niceness : int
        0 to 19: by how much the native threads come after other threads (Linux only; no effect elsewhere). The calling
        thread, which holds Python's lock now and then, keeps its priority.
    options : float
        Any of the names in `OPTIONS`, whose comments say what they scale. Defaults are those of the game
        (`Game.search_options`), and those of `OPTIONS` where it has none.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If an option is unknown or out of range, or there is no memory for the graph.
    TypeError
        If the game has weights and none are given, or they are of another game.
    """

    cdef SearchC search
    cdef readonly State state
    cdef readonly Weights weights
    cdef readonly int threads
    cdef readonly object seed
    cdef list _streams
    cdef WorkerC* _workers
    cdef double _began_s
    cdef double _seconds
    cdef bint _has_run
    cdef bint _is_late          # `run` did not wait for the threads
    cdef pthread_t* _ids        # threads not joined yet, NULL if none
    cdef int _created

    def __cinit__(self, State state not None, *, weights=None, int threads=1, double memory_mb=256, seed=0,
                  int niceness=0, **options):
        cdef int i
        cdef const GameOps* ops = state.game.ops
        cdef Stream stream
        game_require_seat(state)
        if not 1 <= threads <= 256:
            raise SearchError(f"threads: {threads}, expected 1 to 256", reason="INVALID_LIMITS")
        if not 1 <= memory_mb <= 1e6:
            raise SearchError(f"memory_mb: {memory_mb}, expected 1 to 1000000", reason="INVALID_LIMITS")
        if not 0 <= niceness <= 19:
            raise SearchError(f"niceness: {niceness}, expected 0 to 19", reason="INVALID_OPTION")
        memset(&self.search, 0, sizeof(SearchC))
        sem_init(&self.search.ended, 0, 0)
        self.search.ops = ops
        self.search.weights = weights_data(ops, weights)
        self.weights = weights
        self._set_options(state.game._search_options | options)
        self.state = state.copy()
        if ops.begin_search != NULL:
            ops.begin_search(self.state.data)
        self.threads = threads
        self.seed = seed
        self._streams = [Stream(seed, i) for i in range(threads + 1)]
        self.search.niceness = niceness
        self.search.root_state = self.state.data
        self.search.num_players = ops.num_players(state.data)
        self.search.viewer = ops.current_player(state.data)
        self.search.root_turn = ops.turn(state.data)
        if graph_init(&self.search.graph, memory_mb) < 0:
            raise SearchError(f"no memory for a graph of {memory_mb} MiB", reason="OUT_OF_MEMORY")
        if self.search.options.history > 0:
            self.search.history = <history_t*>calloc(HISTORY_SLOTS, sizeof(history_t))
            if self.search.history == NULL:
                raise MemoryError
        self._workers = <WorkerC*>calloc(threads, sizeof(WorkerC))
        if self._workers == NULL:
            raise MemoryError
        for i in range(threads):
            stream = self._streams[i]
            self._workers[i].search = &self.search
            self._workers[i].rng = stream.bitgen[0]
            self._workers[i].state = aligned_alloc(64, ops.state_size)
            self._workers[i].actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
            self._workers[i].priors = <float*>malloc(ops.max_actions * sizeof(float))
            if (self._workers[i].state == NULL or self._workers[i].actions == NULL
                    or self._workers[i].priors == NULL):
                raise MemoryError
        self.search.seed_bits = mix_bits(<uint64_t>seed)
        self._open_root()

    cdef _set_options(self, dict given):
        values = {name: default for name, (default, _, _) in OPTIONS.items()}
        for name, value in given.items():
            if name not in OPTIONS:
                raise SearchError(f"unknown search option {name!r}, expected one of {', '.join(OPTIONS)}",
                                  reason="UNKNOWN_OPTION")
            _, low, high = OPTIONS[name]
            if not low <= value <= high:
                raise SearchError(f"search option {name}: {value}, expected {low} to {high}", reason="INVALID_OPTION")
            values[name] = float(value)
        self.search.options.exploration = values["exploration"]
        self.search.options.exploration_in_turn = values["exploration_in_turn"]
        self.search.options.first_play_reduction = values["first_play_reduction"]
        self.search.options.first_visits = values["first_visits"]
        self.search.options.widening_base = values["widening_base"]
        self.search.options.widening_factor = values["widening_factor"]
        self.search.options.widening_exponent = values["widening_exponent"]
        self.search.options.events_factor = values["events_factor"]
        self.search.options.events_exponent = values["events_exponent"]
        self.search.options.whole_turns = values["whole_turns"] if self.search.ops.policy != NULL else 0.0
        self.search.options.playout_weight = values["playout_weight"]
        self.search.options.margin_weight = values["margin_weight"]
        self.search.options.margin_scale = values["margin_scale"]
        self.search.options.prior_noise = values["prior_noise"]
        self.search.options.history = values["history"] if self.search.ops.policy != NULL else 0.0
        self.search.options.history_doubt = values["history_doubt"]
        self.search.options.confirming_share = values["confirming_share"]
        self.search.options.early_stop = values["early_stop"]

    cdef _open_root(self):
        # One draw tells whether the asking seat's knowledge leaves several worlds.
        cdef const GameOps* ops = self.search.ops
        cdef Stream stream = self._streams[self.threads]
        cdef bint is_new
        if ops.determinize != NULL:
            self.search.several_worlds = ops.determinize(self.state.data, self.search.viewer, stream.bitgen)
        self.search.root = graph_find_or_add(&self.search.graph, _key(ops, self.state.data, self.search.viewer),
                                             self.search.viewer, self.search.root_turn, NO_NODE, 0, &is_new)

    def __dealloc__(self):
        cdef int i
        self._join()
        if self._workers != NULL:
            for i in range(self.threads):
                free(self._workers[i].state)
                free(self._workers[i].actions)
                free(self._workers[i].priors)
            free(self._workers)
        free(self.search.history)
        graph_free(&self.search.graph)
        sem_destroy(&self.search.ended)

    def run(self, time_s=None, iterations=None, *, late_s=None):
        """Search until a limit is reached or `stop` is called. Releases the GIL; may be called once.

        Parameters
        ----------
        time_s : float, optional
            Seconds for the whole turn, > 0.
        iterations : int, optional
            Iterations of all threads together, >= 1. Without any limit only `stop` or memory ends the search.
        late_s : float, optional
            >= 0: return so many seconds after the time is up at the latest, even if threads that get no processor have
            not noticed it. `join` waits for them; `result` is valid at once. By default their end is awaited.

        Raises
        ------
        SearchError
            If the search has run before or a limit is out of range.
        KeyboardInterrupt
            On Ctrl-C, after the threads have stopped; `result` is valid then.
        """
        cdef int i, error = 0
        cdef double until_s = 0.0
        if self._has_run:
            raise SearchError("a search runs once", reason="SEARCH_REUSED")
        if time_s is not None and not 0 < time_s < 1e9:
            raise SearchError(f"time_s: {time_s}, expected more than 0 and less than 1e9", reason="INVALID_LIMITS")
        if iterations is not None and not 1 <= iterations < 2**63:
            raise SearchError(f"iterations: {iterations}, expected at least 1", reason="INVALID_LIMITS")
        if late_s is not None and not 0 <= late_s < 1e9:
            raise SearchError(f"late_s: {late_s}, expected at least 0 and less than 1e9", reason="INVALID_LIMITS")
        self._has_run = True
        self._began_s = monotonic_s()
        self.search.began_s = self._began_s
        self.search.deadline_s = self._began_s + time_s if time_s is not None else 0.0
        if time_s is not None and late_s is not None:
            until_s = self.search.deadline_s + late_s
        self.search.max_iterations = iterations if iterations is not None else 0
        share = 1.0 - self.search.options.confirming_share
        self.search.confirm_s = self._began_s + share * time_s if time_s is not None else 0.0
        self.search.confirm_iterations = <uint64_t>(share * iterations) if iterations is not None else 0
        if self._is_forced() and atomic_cas_u32(&self.search.stop, RUNNING, BY_FORCE):
            # One iteration, for the values.
            _iterate(&self._workers[0])
            self._workers[0].iterations = 1
        self._ids = <pthread_t*>malloc(self.threads * sizeof(pthread_t))
        if self._ids == NULL:
            raise MemoryError
        self.search.workers_running = self.threads
        with nogil:
            for i in range(self.threads):
                error = pthread_create(&self._ids[i], NULL, _work, &self._workers[i])
                if error != 0:
                    # Those that do not run have ended.
                    atomic_cas_u32(&self.search.stop, RUNNING, BY_STOP)
                    if atomic_add_u32(&self.search.workers_running, <uint32_t>-(self.threads - i)) == <uint32_t>(self.threads - i):
                        sem_post(&self.search.ended)
                    break
                self._created += 1
        try:
            self._is_late = not self._wait(until_s)
        finally:
            atomic_cas_u32(&self.search.stop, RUNNING, BY_TIME if self._is_late else BY_STOP)
            if not self._is_late:
                self._join()
            self._seconds = monotonic_s() - self._began_s
        if error != 0:
            raise SearchError(f"the system refused thread {self._created + 1} of {self.threads} (error {error})",
                              reason="NO_THREADS")

    cdef bint _wait(self, double until_s):
        """Sleep until the threads have ended, or until then (0: without end); return whether they have.

        The main thread wakes for signals, too.
        """
        cdef bint has_ended = False
        cdef double now_s, wait_s, nap_s
        nap_s = SIGNALS_S if threading.get_ident() == threading.main_thread().ident else LONG_S
        while True:
            with nogil:
                now_s = monotonic_s()
                wait_s = nap_s if until_s == 0.0 else min(nap_s, max(0.0, until_s - now_s))
                has_ended = semaphore_wait(&self.search.ended, wait_s)
            if has_ended:
                return True
            PyErr_CheckSignals()
            if until_s > 0.0 and monotonic_s() >= until_s:
                return False

    def join(self):
        """Wait for the end of threads that `run` has left behind; return at once if there are none."""
        self._join()

    cdef _join(self):
        cdef pthread_t* ids = self._ids
        cdef int i
        if ids == NULL:
            return
        self._ids = NULL
        atomic_cas_u32(&self.search.stop, RUNNING, BY_STOP)
        with nogil:
            for i in range(self._created):
                pthread_join(ids[i], NULL)
        free(ids)

    cdef bint _is_forced(self):
        """Whether only one whole turn is legal. (A chain of single actions; branches that meet again do not count.)"""
        cdef const GameOps* ops = self.search.ops
        cdef State state = self.state.copy()
        cdef action_t* actions = self._workers[0].actions
        while ops.turn(state.data) == self.search.root_turn and ops.current_player(state.data) >= 0:
            if ops.legal_actions(state.data, actions) != 1:
                return False
            game_apply(ops, state.data, actions[0])
        return True

    def stop(self):
        """Ask a running search to end, from any thread; a search that has not begun ends at once when run."""
        atomic_cas_u32(&self.search.stop, RUNNING, BY_STOP)

    # --- reading the result

    def result(self, int num_candidates=5):
        """Return what the search has found so far.

        May be called while `run` works in another thread.

        Parameters
        ----------
        num_candidates : int
            Candidate turns at most, >= 1. There may be fewer, and there is always one.

        Returns
        -------
        dict
            ``candidates`` (list of dict: ``actions``, ``visits``, ``value``, ``expected_scores``, ``prior``,
            ``line``), ``iterations``, ``nodes``, ``seconds``, ``stop_reason`` (empty while running),
            ``distinct_turns`` (distinct end-of-turn states reached), ``memory_bytes``, ``threads``, ``seed``.
        """
        cdef GraphC* graph = &self.search.graph
        cdef TurnScratchC scratch
        cdef int stop = atomic_load_u32(&self.search.stop)
        if num_candidates < 1:
            raise SearchError(f"candidates: {num_candidates}, expected at least 1", reason="INVALID_LIMITS")
        if turn_scratch_init(&scratch, self.search.ops) < 0:
            raise MemoryError
        try:
            candidates = [self._describe(index, &scratch) for index in self._best_ends(num_candidates)]
            if not candidates:
                candidates = [self._describe_unfinished(&scratch)]
        finally:
            turn_scratch_free(&scratch)
        running = not self._has_run or (not self._is_late and atomic_load_u32(&self.search.workers_running) > 0)
        return {
            "candidates": candidates,
            "iterations": self._iterations(),
            "nodes": atomic_load_u32(&graph.nodes_used) - 1 - atomic_load_u32(&graph.nodes_spare),
            "seconds": monotonic_s() - self._began_s if running and self._has_run else self._seconds,
            "stop_reason": STOP_REASONS[RUNNING if running and self._has_run else stop],
            "distinct_turns": atomic_load_u32(&graph.num_ends),
            "memory_bytes": graph_memory(graph),
            "threads": self.threads,
            "seed": self.seed,
        }

    cdef uint64_t _iterations(self):
        cdef uint64_t iterations = 0
        cdef int i
        for i in range(self.threads):
            iterations += atomic_load_u64(&self._workers[i].iterations)
        return iterations

    cdef bint _ends_are_exact(self):
        """Whether every end of the root's turn that was found is the end of the game, with one outcome."""
        cdef GraphC* graph = &self.search.graph
        cdef uint32_t index = atomic_load_u32(&graph.first_end)
        while index != NO_NODE:
            if graph.nodes[index].player != TERMINAL:
                return False
            index = atomic_load_u32(&graph.nodes[index].next_end)
        return not self.search.several_worlds

    cdef list _best_ends(self, int count):
        """The most visited ends of the root's turn, best first; equal visits by value, then by order of discovery.

        Where all of them end the game, one visit tells all, and the value comes before the visits.
        """
        cdef GraphC* graph = &self.search.graph
        cdef uint32_t index = atomic_load_u32(&graph.first_end), visits
        cdef uint32_t least = 0
        cdef bint is_exact = self._ends_are_exact()
        cdef double utility, lowest = -1
        # No more than there are: four times a larger count might not fit.
        count = min(count, <int>atomic_load_u32(&graph.num_ends))
        best = []
        if count == 0:
            return best
        while index != NO_NODE:
            visits = atomic_load_u32(&graph.nodes[index].finished)
            if visits > 0 and is_exact:
                utility = self._settled_utility(index)
                if utility >= lowest:
                    best.append((-utility, -<double>visits, index))
            elif visits > 0 and (len(best) < count or visits >= least):
                utility = _node_utility(&graph.nodes[index], self.search.viewer)
                best.append((-<double>visits, -utility, index))
            if len(best) >= 4 * count:
                best = sorted(best)[:count]
                if is_exact:
                    lowest = -best[count - 1][0]
                else:
                    least = <uint32_t>-best[count - 1][0]
            index = atomic_load_u32(&graph.nodes[index].next_end)
        return [entry[2] for entry in sorted(best)[:count]]

    cdef double _settled_utility(self, uint32_t index):
        """The mean utility of a node, of as many back-ups as are counted; equal for nodes with equal outcomes."""
        cdef NodeC* node = &self.search.graph.nodes[index]
        cdef double utility
        with nogil:
            spin_lock(&node.lock)
            utility = _node_utility(node, self.search.viewer)
            spin_unlock(&node.lock)
        return floor(utility * 1e9 + 0.5) / 1e9  # a mean of equal numbers need not be equal to them

    cdef dict _describe(self, uint32_t index, TurnScratchC* scratch):
        cdef GraphC* graph = &self.search.graph
        cdef action_t actions[MAX_TURN]
        cdef uint32_t node = index, parent
        cdef int n = 0, i
        cdef double prior = 1.0
        # The path by which the state was first reached, backwards.
        while graph.nodes[node].parent != NO_NODE and n < MAX_TURN:
            parent = graph.nodes[node].parent
            actions[n] = graph.nodes[node].from_action
            prior *= self._edge_prior(parent, actions[n])
            n += 1
            node = parent
        for i in range(n // 2):
            actions[i], actions[n - 1 - i] = actions[n - 1 - i], actions[i]
        with nogil:
            n = turn_canonical(self.search.ops, self.search.root_state, actions, n, scratch)
        return self._candidate(index, [actions[i] for i in range(n)], prior)

    cdef dict _candidate(self, uint32_t index, list actions, double prior):
        cdef NodeC* node = &self.search.graph.nodes[index]
        cdef double value_sum[MAX_SEATS]
        cdef double score_sum[MAX_SEATS]
        cdef uint32_t visits
        cdef int seat
        # Whoever holds the lock may be waiting for a processor: nobody else shall wait with it.
        with nogil:
            spin_lock(&node.lock)
            visits = node.finished
            for seat in range(MAX_SEATS):
                value_sum[seat] = node.value_sum[seat]
                score_sum[seat] = node.score_sum[seat]
            spin_unlock(&node.lock)
        value = [value_sum[seat] / visits if visits else 1.0 / self.search.num_players
                 for seat in range(self.search.num_players)]
        scores = [score_sum[seat] / visits if visits else 0.0 for seat in range(self.search.num_players)]
        return {"actions": actions, "visits": visits, "value": value, "expected_scores": scores, "prior": prior,
                "line": self._line(index)}

    cdef dict _describe_unfinished(self, TurnScratchC* scratch):
        """A whole turn when no end of the turn was reached: the most visited actions, then the policy's."""
        cdef action_t actions[MAX_TURN]
        cdef int n = 0, i
        cdef double prior = 1.0
        cdef uint32_t index = self.search.root, child
        while n < MAX_TURN:
            child = self._most_visited(index, &actions[n])
            if child == NO_NODE or child == SEVERAL_NODES:
                break
            prior *= self._edge_prior(index, actions[n])
            n += 1
            index = child
        with nogil:
            n = turn_finish(self.search.ops, self.search.weights, self.search.root_state, actions, n, scratch)
            n = turn_canonical(self.search.ops, self.search.root_state, actions, n, scratch)
        candidate = self._candidate(self.search.root, [actions[i] for i in range(n)], prior)
        candidate["line"] = []
        return candidate

    cdef double _edge_prior(self, uint32_t index, action_t action):
        cdef NodeC* node = &self.search.graph.nodes[index]
        cdef EdgeC* edges
        cdef int i
        cdef double prior = 0.0
        with nogil:
            spin_lock(&node.lock)
            edges = graph_edges(&self.search.graph, node)
            for i in range(node.num_edges):
                if edges[i].action == action:
                    prior = edges[i].prior
            spin_unlock(&node.lock)
        return prior

    cdef uint32_t _most_visited(self, uint32_t index, action_t* action):
        """The child that a node's most visited edge leads to, and the edge's action; NO_NODE if it has no visits."""
        cdef NodeC* node = &self.search.graph.nodes[index]
        cdef EdgeC* edges
        cdef uint32_t child = NO_NODE, visits = 0
        cdef int i
        with nogil:
            spin_lock(&node.lock)
            edges = graph_edges(&self.search.graph, node)
            for i in range(node.num_edges):
                if edges[i].visits > visits and edges[i].child != NO_NODE:
                    visits = edges[i].visits
                    child = edges[i].child
                    action[0] = edges[i].action
            spin_unlock(&node.lock)
        return child

    cdef list _line(self, uint32_t index):
        """The whole turns expected after a node, by most visits."""
        cdef NodeC* nodes = self.search.graph.nodes
        cdef action_t action = 0
        cdef uint32_t child
        turns = []
        turn = []
        while len(turns) < 2 * self.search.num_players:
            child = self._most_visited(index, &action)
            if child == NO_NODE or child == SEVERAL_NODES:
                break
            turn.append(action)
            if nodes[child].turn != nodes[index].turn:
                turns.append(turn)
                turn = []
            index = child
        return turns

    def check_visits(self):
        """Raise `SearchError` unless visits add up: every descent through a node ended in it or left by one edge.

        Only for a search that has ended. With one thread every node was ended in exactly once, except those that the
        first descent went on from (`whole_turns`).
        """
        cdef GraphC* graph = &self.search.graph
        cdef NodeC* node
        cdef EdgeC* edges
        cdef uint32_t index
        cdef uint64_t left
        cdef int i
        cdef bint was_passed, has_ended
        for index in range(1, graph.nodes_used):
            node = &graph.nodes[index]
            if node.visits != node.finished:
                raise SearchError(f"node {index}: {node.visits} visits, {node.finished} finished")
            edges = graph_edges(graph, node)
            left = 0
            if len({edges[i].action for i in range(node.num_edges)}) < node.num_edges:
                raise SearchError(f"node {index}: two edges of one action")
            for i in range(node.num_edges):
                left += edges[i].visits
                if edges[i].visits > edges[i].available > 0:
                    raise SearchError(f"node {index}: an edge taken more often than it was there")
            if node.player < 0:
                if left != 0:
                    raise SearchError(f"node {index}: edges where no seat is to move")
                continue
            was_passed = _goes_on(&self.search, index) and (
                node.parent == NO_NODE or graph.nodes[node.parent].turn == node.turn)
            has_ended = node.visits > 0 and not was_passed
            if left + has_ended > node.visits or ((self.threads == 1 or was_passed) and left + has_ended < node.visits):
                raise SearchError(f"node {index}: {node.visits} visits, {left} left by its edges")
        node = &graph.nodes[self.search.root]
        if node.visits != self._iterations():
            raise SearchError(f"root: {node.visits} visits, {self._iterations()} iterations")

"""The search: information-set Monte Carlo tree search over atomic actions, on a graph, by native threads.

It supports games of 2 to MAX_SEATS seats with deterministic actions, random events and hidden information, in which a
seat may play many actions in a row. The main loop is `_iterate`: select, expand, evaluate, back up.

Sources
* PUCT selection with priors: Rosin, "Multi-armed bandits with episode context" (2011); Silver et al. (2017).
* Back-up of a vector, max^n: Luckhardt and Irani (1986); in Monte Carlo trees: Nijssen and Winands (2012).
* Progressive widening: Coulom, "Computing Elo ratings of move patterns in the game of Go" (2007).
* Repeated random events: Couetoux et al., "Continuous upper confidence trees" (2011), double progressive widening.
* Information sets and availability counts: Cowling, Powley, Whitehouse, "Information Set MCTS" (2012).
* Statistics on a graph, value of the child and visits of the edge: Childs, Brodeur, Kocsis (2008), UCT2.
* History: Schaeffer, "The history heuristic" (1983); Nijssen and Winands, "Enhancements for multi-player Monte-Carlo
  tree search" (2010), progressive history.
* Sequential halving at the root (`halving`): see ``halving.pxd``.
* Virtual loss: Chaslot, Winands, van den Herik, "Parallel Monte-Carlo tree search" (2008).
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport pow, sqrt
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cext.core.search.atomics cimport (atomic_add_f64_locked, atomic_add_u32, atomic_add_u64, atomic_cas_u32,
                                       atomic_load_f64, atomic_load_u32, atomic_load_u64, atomic_store_u32,
                                       atomic_store_u64, monotonic_s, prefetch, semaphore_destroy, semaphore_init,
                                       semaphore_post, semaphore_wait, spin_lock, spin_unlock, thread_add_niceness)
from cext.core.search.evaluator cimport evaluator_search
from cext.core.contract.game cimport State, game_apply
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, graph_add_end, graph_edges, graph_find_or_add,
                                     graph_free, graph_init, graph_memory, graph_num_edges)
from cext.core.search.halving cimport halving_advance, halving_begin, halving_next
from cext.core.search.history cimport HISTORY_SLOTS, history_add, history_slot
from cext.core.search.leaf cimport leaf_evaluate, leaf_utilities
from cext.core.search.listings cimport ListingsC, listings_init
from cext.core.search.memory cimport memory_release, memory_reserve
from cext.core.search.options cimport options_read
from cext.core.search.ranking cimport ranking_append_edge, ranking_list, ranking_sort_best, ranking_widen, ranking_width
from cext.core.search.reading cimport reading_candidates, reading_check_visits, reading_decisions
from cext.core.contract.rng cimport Stream, mix_bits, rng_below, rng_splitmix
from cext.core.search.threads cimport pthread_join, pthread_t, thread_start
from cext.core.search.tree cimport tree_read, tree_visits
from cext.core.search.turn_search cimport (BY_ITERATIONS, BY_MEMORY, BY_STOP, BY_TIME, FORCED, NEVER_S, RUNNING,
                                           SETTLED, SIGNALS_S, UNLIMITED, TurnSearch)
from cext.core.contract.types cimport CHANCE, MAX_SEATS, TERMINAL, aligned_alloc

import threading

from cext.core.contract.errors import SearchError
from cext.core.learning.tensor import require_observations
from cext.core.search.turn_search import DEFAULT_MEMORY_MB, MAX_THREADS, MAX_TIME_S

cdef enum:
    SETTLED_EVERY = 64          # fewest iterations of a thread between checks whether the turn is settled
    MAX_EVENTS = 1000000000     # different draws at a node
    MAX_BATCH = 4096            # leaves that an evaluator gets at a time
    PREFETCH = 8                # selection prefetches the child of the edge this far ahead

# Seconds after which a calling thread other than the main one wakes. Python handles signals in the main thread, so
# other threads need not take the GIL to check for them.
cdef double LONG_S = 3600.0


# --- the main loop

cdef int _iterate(WorkerC* worker) noexcept nogil:
    """Run one iteration. Return 0, or -1 if the memory is used up; it is not counted then."""
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef bint is_over

    # Steps 1 and 2.
    if _descend(worker) < 0:
        return -1

    # Step 3. Evaluate.
    is_over = leaf_evaluate(worker, values, scores)

    # Step 4. Back up.
    _back_up(worker, values, scores, is_over)
    return 0


cdef int _descend(WorkerC* worker) noexcept nogil:
    """Go down to a leaf, to be evaluated and backed up. Return 0, or -1 if the memory is used up."""
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef void* state = worker.state
    cdef uint32_t index = search.root, child
    cdef action_t action
    cdef int edge
    cdef bint is_leaf

    # Step 1. Draw a world that agrees with what the searching seat knows.
    memcpy(state, search.root_state, ops.state_size)
    if search.several_worlds:
        ops.determinize(state, search.viewer, &worker.rng)
    worker.path_length = 0
    worker.path_nodes[0] = index
    is_leaf = _enter(search, index) and not search_goes_on(search, index)

    # Step 2. Select: descend by PUCT to a new node (and on to the end of its turn, see `whole_turns`), or to the end of
    # the game.
    while not is_leaf and ops.current_player(state) != TERMINAL and worker.path_length < MAX_PATH:
        if ops.current_player(state) == CHANCE:
            edge = NO_EDGE
            action = 0
            _draw_event(worker, index)
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
            search_goes_on(search, child) and search.graph.nodes[child].turn == search.graph.nodes[index].turn)
        index = child
    return 0


cdef bint _enter(SearchC* search, uint32_t index) noexcept nogil:
    """Count a descent to a node before it is backed up (its virtual loss); return whether it is the first."""
    return atomic_add_u32(&search.graph.nodes[index].visits, 1) == 0


cdef void _leave(WorkerC* worker) noexcept nogil:
    """Undo the counts of a descent that could not be finished."""
    cdef SearchC* search = worker.search
    cdef int i
    for i in range(worker.path_length + 1):
        atomic_add_u32(&search.graph.nodes[worker.path_nodes[i]].visits, <uint32_t>-1)
        if i < worker.path_length and worker.path_edges[i] != NO_EDGE:
            _leave_edge(search, worker.path_nodes[i], worker.path_edges[i])


cdef void _leave_edge(SearchC* search, uint32_t index, int edge) noexcept nogil:
    """Undo the count of a descent through an edge."""
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* c_edge
    spin_lock(&node.lock)
    c_edge = graph_edges(&search.graph, node) + edge
    atomic_store_u32(&c_edge.visits, c_edge.visits - 1)
    spin_unlock(&node.lock)


# --- select and expand

cdef void _draw_event(WorkerC* worker, uint32_t index) noexcept nogil:
    """Draw the random event of a node: one of the draws made there before, or a new one while there are few."""
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef double most
    cdef uint64_t numbers
    cdef bitgen_t rng
    if search.options.events_factor == 0.0:
        search.ops.chance(worker.state, &worker.rng)
        return
    most = 1 + search.options.events_factor * pow(atomic_load_u32(&node.visits), search.options.events_exponent)
    # A draw is identified by its random numbers. In another world the same numbers may give another outcome.
    numbers = mix_bits(search.seed_bits ^ search_key_from_root(search, node.key)
                       ^ mix_bits(rng_below(&worker.rng, <int>min(most, MAX_EVENTS))))
    rng_splitmix(&rng, &numbers)
    search.ops.chance(worker.state, &rng)


cdef inline uint64_t _key_of_mover(SearchC* search, const NodeC* node, const void* state) noexcept nogil:
    """Return the key of what the seat to move knows.

    If it is the node's own key, the seat knows the same as the searching seat. Then every world of the node has the
    same legal actions and priors (a rule of the contract): no need to list them at each visit. A search that begins
    with one world meets several, too, as soon as others draw or discard what the searching seat does not see.
    """
    if node.player == search.viewer or search.ops.determinize == NULL:
        return node.key
    return search_key(search.ops, state, node.player)


cdef int _select(WorkerC* worker, uint32_t index, action_t* action) noexcept nogil:
    """Choose an edge of a node and count a descent through it. Return its index, or -1 if there is no memory."""
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* edge
    cdef uint64_t key = _key_of_mover(search, node, worker.state)
    cdef int chosen, n, width
    if worker.path_length == 0 and halving_next(search, action):
        chosen = _find_edge(search, node, action[0])
        spin_lock(&node.lock)
    elif key != node.key:
        # Rank before taking the lock: other threads may wait for it. This happens at each visit, so without the
        # history: when priors change, actions would drop out of view.
        n = ranking_list(worker, key, False)
        width = ranking_width(search, node, n)
        ranking_sort_best(worker, n, width)
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


cdef int _find_edge(SearchC* search, NodeC* node, action_t action) noexcept nogil:
    """Return the index of an action's edge, which exists."""
    cdef EdgeC* edges = graph_edges(&search.graph, node)
    cdef int i = 0
    while edges[i].action != action:
        i += 1
    return i


cdef inline double _exploration(SearchC* search, NodeC* node) noexcept nogil:
    """Return the PUCT constant of a node."""
    # At the end of the budget visits go to the best turn found, not to turns that are almost equal.
    if node.turn == search.root_turn and atomic_load_u32(&search.is_confirming):
        return 0.0
    # The first decision of a turn chooses a plan; the later ones carry it out.
    if node.parent != NO_NODE and search.graph.nodes[node.parent].turn == node.turn:
        return search.options.exploration_in_turn
    return search.options.exploration


cdef inline double _edge_utility(SearchC* search, const EdgeC* edge, uint32_t edge_visits, int player) noexcept nogil:
    """Return the mean utility of an edge with visits.

    It is the mean of the child, over all paths to it. A descent that is not backed up counts as a loss.
    """
    cdef uint32_t index = atomic_load_u32(&edge.child), visits
    cdef NodeC* child
    if index != SEVERAL_NODES and index != NO_NODE:
        child = search.graph.nodes + index
        visits = atomic_load_u32(&child.visits)
        if visits > 0:
            return atomic_load_f64(&child.utility_sum[player]) / visits
    return atomic_load_f64(&edge.utility_sum) / edge_visits


cdef inline double _num_first_visits(SearchC* search, NodeC* node) noexcept nogil:
    """Return how many actions with the best priors are visited at least once, even if the priors are too low."""
    return search.options.first_visits * sqrt(<double>atomic_load_u32(&node.visits))


cdef int _select_known(WorkerC* worker, NodeC* node) noexcept nogil:
    """Choose an edge where every world has the same actions. Return its index, or -1 if there is no memory."""
    # Edges are in the order in which they came into view, visited ones first. They are read without the lock, because a
    # pass over hundreds of edges would make other threads wait.
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef double factor, utility, first_play, score, best_score = -1e300
    cdef uint32_t visits
    cdef int i, width, num_edges = graph_num_edges(node), player = node.player, best = 0
    # A node without edges has not been expanded, and its num_legal may not be known yet.
    width = ranking_width(search, node, <int>atomic_load_u32(<uint32_t*>&node.num_legal)) if num_edges > 0 else 1
    if width > num_edges:
        width = ranking_widen(worker, node)
        if width <= 0:
            return -1
    edges = graph_edges(&search.graph, node)
    factor = _exploration(search, node) * sqrt(<double>atomic_load_u32(&node.visits))
    first_play = search_node_utility(node, player) - search.options.first_play_reduction
    for i in range(width):
        if i + PREFETCH < width:
            prefetch(search.graph.nodes + atomic_load_u32(&edges[i + PREFETCH].child))
        visits = atomic_load_u32(&edges[i].visits)
        if visits == 0:
            # Nor do the edges after it: they were added with it and rank lower, or were added later.
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
    """Choose an edge where worlds differ in their actions. Return its index, or -1 if there is no memory."""
    # Only edges that are legal in this world count, and each is compared with the descents in which it was available.
    # The first `width` of this world's `n` actions are in view.
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
            if ranking_append_edge(search, node, worker.actions[i], worker.priors[i]) < 0:
                return -1
            edges = graph_edges(&search.graph, node)
        edges[j].available += 1
        if edges[j].visits == 0:
            if i < _num_first_visits(search, node):
                return j
            utility = search_node_utility(node, player) - search.options.first_play_reduction
        else:
            utility = _edge_utility(search, &edges[j], edges[j].visits, player)
        score = utility + exploration * edges[j].prior * sqrt(<double>edges[j].available) / (1 + edges[j].visits)
        if score > best_score:
            best_score = score
            best = j
    return best


cdef uint32_t _follow(WorkerC* worker, uint32_t index, int edge, action_t action) noexcept nogil:
    """Find or add the node of the worker's state, reached from a node by an edge or a random event (NO_EDGE).

    Return NO_NODE if there is no memory.
    """
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* c_edge
    cdef int turn = ops.turn(worker.state)
    cdef uint32_t child
    cdef bint is_new
    child = graph_find_or_add(&search.graph, search_key(ops, worker.state, search.viewer),
                              ops.current_player(worker.state), turn, index, action, &is_new)
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


# --- back up

cdef inline void _learn(SearchC* search, NodeC* node, int edge, double utility) noexcept nogil:
    """Add a descent's advantage to the history of an edge's action.

    Under the node's lock, before the node counts the descent.
    """
    history_add(history_slot(search.history, graph_edges(&search.graph, node)[edge].action, node.player,
                             node.turn - search.root_turn),
                utility - node.utility_sum[node.player] / node.finished)


cdef void _back_up(WorkerC* worker, const double* values, const double* scores, bint is_over) noexcept nogil:
    """Add the outcome of a descent to all nodes and edges of its path."""
    cdef SearchC* search = worker.search
    cdef double utilities[MAX_SEATS]
    cdef NodeC* node
    cdef int i, seat
    leaf_utilities(search, values, scores, is_over, utilities)
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
    """The body of a native thread: iterate until the search stops."""
    cdef WorkerC* worker = <WorkerC*>argument
    cdef SearchC* search = worker.search
    cdef uint64_t started
    cdef double now_s
    thread_add_niceness(search.niceness)
    while atomic_load_u32(&search.limits.stop) == RUNNING:
        if search.limits.max_iterations < UNLIMITED:
            started = atomic_add_u64(&search.started, 1)
            if started >= search.limits.max_iterations:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_ITERATIONS)
                break
            if started >= search.confirm_iterations:
                _confirm(search)
            halving_advance(search, <double>started / search.limits.max_iterations)
        if _iterate(worker) < 0:
            atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            break
        atomic_store_u64(&worker.iterations, worker.iterations + 1)
        if search.limits.deadline_s < NEVER_S:
            now_s = monotonic_s()
            if now_s >= search.confirm_s:
                _confirm(search)
            halving_advance(search, (now_s - search.limits.began_s)
                            / (search.limits.deadline_s - search.limits.began_s))
            if now_s >= search.limits.deadline_s:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_TIME)
            elif (worker.iterations % max(<uint32_t>SETTLED_EVERY, atomic_load_u32(&search.graph.num_ends) // 4) == 0
                  and search.limits.max_iterations == UNLIMITED
                  and search.options.early_stop > 0 and search.options.halving < 2
                  and atomic_load_u32(&search.is_confirming) and _is_settled(search, now_s)):
                atomic_cas_u32(&search.limits.stop, RUNNING, SETTLED)
    if atomic_add_u32(&search.workers_running, <uint32_t>-1) == 1:
        search.ended_s = monotonic_s()
        semaphore_post(&search.ended)
    return NULL


cdef bint _is_settled(SearchC* search, double now_s) noexcept nogil:
    """Return whether the best end of the turn leads by more visits than there is time for iterations."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end), visits, most = 0, second = 0
    while index != NO_NODE:
        visits = atomic_load_u32(&nodes[index].finished)
        if visits > most:
            second = most
            most = visits
        elif visits > second:
            second = visits
        index = atomic_load_u32(&nodes[index].next_end)
    return search_is_settled(most, second, atomic_load_u32(&nodes[search.root].finished),
                             now_s - search.limits.began_s, search.limits.deadline_s - now_s)


cpdef bint search_is_settled(double most, double second, double iterations, double spent_s,
                             double left_s) noexcept nogil:
    """Return whether the time left is too short for the second end of a turn to get as many visits as the first."""
    # 1.2: the search may become faster.
    return most > second + 1.2 * iterations * left_s / spent_s


cdef inline void _confirm(SearchC* search) noexcept nogil:
    """Stop exploring in the root's turn."""
    # Write it only once: every thread reads this cache line.
    if not atomic_load_u32(&search.is_confirming):
        atomic_store_u32(&search.is_confirming, 1)


cdef class Search(TurnSearch):
    """A search of one turn, by native threads on one shared graph; see `TurnSearch` for what it shares with others.

    Parameters
    ----------
    state : State
        Copied (see `TurnSearch`). A seat must be to move.
    weights : Weights, optional
        Of the state's game; required if the game has weights.
    threads : int
        Native threads, 1 to 256.
    memory_mb : float
        Memory for the graph in MiB. When it is used up, the search ends with stop reason ``memory``.
    seed : int
        0 <= seed < 2**63. With one thread and an iteration limit the same seed gives the same result.
    niceness : int
        Added to the niceness of the native threads, 0 to 19 (Linux only; no effect elsewhere, nor with an evaluator).
        The calling thread, which sometimes holds the GIL, keeps its priority.
    evaluator : callable, optional
        Evaluates leaves instead of the game's `evaluate` and playouts: called with the observations of `batch_size`
        leaves or fewer, float32 [N, S] (valid during the call), each as the seat to move sees it. Returns the shares of
        the win [N, P or more], seats counted from the seat to move, or a tuple of them and the final scores. The
        calling thread runs it, with the GIL. Without scores the margin does not count in the search, except where the
        game has ended in the first batch.
    batch_size : int
        Leaves that are evaluated together, 1 to 4096; only with an evaluator.
    options : float
        Options by name, see the comments of `cext.core.search.options.OPTIONS`. Defaults are those of the game
        (`Game.search_options`), else those of `OPTIONS`.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If an argument is unknown or out of range, or there is no memory for the graph.
    TypeError
        If the game has weights and none are given, or they are of another game.
    """

    cdef SearchC search
    cdef list _streams
    cdef WorkerC* _workers      # one a thread, or with an evaluator one a leaf of a batch
    cdef int _num_workers
    cdef object _evaluator
    cdef double _until_s        # when `wait` returns at the latest, on the monotonic clock
    cdef bint _has_one_turn     # that is legal
    cdef pthread_t* _ids        # threads not joined yet, NULL if none
    cdef int _created

    def __cinit__(self, State state not None, *, weights=None, int threads=1, double memory_mb=DEFAULT_MEMORY_MB,
                  seed=0, int niceness=0, evaluator=None, int batch_size=16, **options):
        cdef const GameOps* ops = state.game.ops
        memset(&self.search, 0, sizeof(SearchC))
        semaphore_init(&self.search.ended)
        self._prepare(state, threads, MAX_THREADS, memory_mb, seed)
        self._use_weights(weights)
        if not 0 <= niceness <= 19:
            raise SearchError(f"niceness: {niceness}, expected 0 to 19", reason="INVALID_OPTION")
        if not 1 <= batch_size <= MAX_BATCH:
            raise SearchError(f"batch_size: {batch_size}, expected 1 to {MAX_BATCH}", reason="INVALID_OPTION")
        if evaluator is not None:
            require_observations(state.game)
        self._evaluator = evaluator
        self._num_workers = threads if evaluator is None else max(threads, batch_size)
        self.search.options = options_read(state.game._search_options | options)
        if ops.policy == NULL:
            self.search.options.whole_turns = 0.0
            self.search.options.history = 0.0
        self._streams = [Stream(seed, i) for i in range(self._num_workers + 1)]
        self.search.ops = ops
        self.search.weights = self.weights_data
        self.search.limits = &self.limits
        self.search.niceness = niceness
        self.search.root_state = self.state.data
        self.search.num_players = ops.num_players(state.data)
        self.search.viewer = ops.current_player(state.data)
        self.search.root_turn = self.root_turn
        self.search.seed_bits = mix_bits(<uint64_t>seed)
        if graph_init(&self.search.graph, memory_mb) < 0:
            raise SearchError(f"no memory for a graph of {memory_mb} MiB", reason="OUT_OF_MEMORY")
        if self.search.options.history > 0:
            self.search.history = <history_t*>calloc(HISTORY_SLOTS, sizeof(history_t))
            if self.search.history == NULL:
                raise MemoryError
        self._make_workers()
        self._open_root()

    cdef int _make_workers(self) except -1:
        """Allocate what each worker owns; the workers of a thread share its cache and listings."""
        cdef const GameOps* ops = self.ops
        cdef WorkerC* worker
        cdef Stream stream
        cdef int i
        self._workers = <WorkerC*>calloc(self._num_workers, sizeof(WorkerC))
        if self._workers == NULL:
            raise MemoryError
        for i in range(self._num_workers):
            worker = &self._workers[i]
            stream = self._streams[i]
            worker.search = &self.search
            worker.rng = stream.bitgen[0]
            worker.state = aligned_alloc(64, ops.state_size)
            worker.actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
            worker.priors = <float*>malloc(ops.max_actions * sizeof(float))
            if i >= self.threads:
                worker.cache = self._workers[i % self.threads].cache
                worker.listings = self._workers[i % self.threads].listings
            else:
                worker.listings = <ListingsC*>malloc(sizeof(ListingsC))
                if worker.listings != NULL:
                    listings_init(worker.listings)
                if ops.cache_size > 0:
                    worker.cache = memory_reserve(ops.cache_size)
            if (worker.state == NULL or worker.actions == NULL or worker.priors == NULL or worker.listings == NULL
                    or (ops.cache_size > 0 and worker.cache == NULL)):
                raise MemoryError
        return 0

    cdef int _open_root(self) except -1:
        """Add the root to the graph. A first draw shows whether the searching seat must consider several worlds."""
        cdef const GameOps* ops = self.search.ops
        cdef Stream stream = self._streams[self._num_workers]
        cdef bint is_new
        if ops.determinize != NULL:
            self.search.several_worlds = ops.determinize(self.state.data, self.search.viewer, stream.bitgen)
        self.search.root = graph_find_or_add(&self.search.graph, search_key(ops, self.state.data, self.search.viewer),
                                             self.search.viewer, self.search.root_turn, NO_NODE, 0, &is_new)
        return 0

    def __dealloc__(self):
        cdef int i
        self._join()
        if self._workers != NULL:
            for i in range(self._num_workers):
                free(self._workers[i].state)
                free(self._workers[i].actions)
                free(self._workers[i].priors)
                if i < self.threads:
                    memory_release(self._workers[i].cache, self.search.ops.cache_size)
                    free(self._workers[i].listings)
            free(self._workers)
        free(self.search.history)
        graph_free(&self.search.graph)
        semaphore_destroy(&self.search.ended)

    def run(self, time_s=None, iterations=None, *, late_s=None):
        """Search until a limit is reached or `stop` is called; see `TurnSearch.run`.

        Without a limit only `stop` or the memory ends the search. Another thread may call `result` during the search.

        Parameters
        ----------
        late_s : float, optional
            Return at most this many seconds after the time limit, >= 0, even if threads without a processor still run.
            `result` is valid at once, and `join` waits for the threads. By default `run` waits for them. No effect
            with an evaluator: `run` ends with the batch that reaches the limit.
        """
        self.start(time_s, iterations, late_s=late_s)
        self.wait()

    def start(self, time_s=None, iterations=None, *, late_s=None):
        """Start the native threads of a search whose arguments are those of `run`, and return.

        With an evaluator none is started here: `wait` searches.
        """
        if late_s is not None and not 0 <= late_s <= MAX_TIME_S:
            raise SearchError(f"late_s: {late_s}, expected 0 to {MAX_TIME_S}", reason="INVALID_LIMITS")
        TurnSearch.start(self, time_s, iterations)
        try:
            self._begin(NEVER_S if late_s is None or self._evaluator is not None else late_s)
        except BaseException:
            self._end(BY_STOP, monotonic_s())
            raise

    cdef int _begin(self, double late_s) except -1:
        cdef LimitsC* limits = &self.limits
        cdef double share = 1.0 - self.search.options.confirming_share
        self._has_one_turn = self._is_forced()
        self._until_s = NEVER_S
        if limits.deadline_s < NEVER_S:
            self.search.confirm_s = limits.began_s + share * (limits.deadline_s - limits.began_s)
            self._until_s = min(NEVER_S, limits.deadline_s + late_s)
        if limits.max_iterations < UNLIMITED:
            self.search.confirm_iterations = <uint64_t>(share * limits.max_iterations)
        if limits.deadline_s == NEVER_S and limits.max_iterations == UNLIMITED:
            self.search.options.halving = 0.0
        elif not self._has_one_turn and halving_begin(&self._workers[0]) < 0:
            return self._end(BY_MEMORY, monotonic_s())
        if self._evaluator is not None:
            return 0
        if self._has_one_turn and atomic_cas_u32(&limits.stop, RUNNING, FORCED):
            # One iteration, for the values.
            _iterate(&self._workers[0])
            self._workers[0].iterations = 1
        return self._start_threads()

    def wait(self, timeout_s=None):
        """Return whether the search that was started has ended; wait for its end, at most `timeout_s` seconds.

        With an evaluator the search goes on only in here: by batches, until the first one that ends after that.
        """
        cdef double until_s = self._until_s
        cdef bint has_ended
        self._require_start()
        if self._has_ended:
            return True
        if timeout_s is not None:
            until_s = min(until_s, monotonic_s() + timeout_s)
        try:
            if self._evaluator is None:
                has_ended = self._wait(until_s)
            else:
                has_ended = self._search_in_batches(until_s)
                self.search.ended_s = monotonic_s()
        except BaseException:       # a signal's handler, or the evaluator, may raise anything
            self._join()
            self._end(BY_STOP, monotonic_s())
            raise
        if has_ended:
            self._join()
            self._end(BY_STOP, self.search.ended_s)     # unless a thread has set its own reason
        elif until_s == self._until_s:
            self._end(BY_TIME, monotonic_s())
        else:
            return False
        return True

    cdef bint _search_in_batches(self, double until_s) except -1:
        """Search with the evaluator, in this thread, which starts others to gather leaves; return whether it ended."""
        cdef StepsC steps = StepsC(_descend, _back_up, _leave)
        evaluator_search(&self.search, self._workers, self._num_workers, min(self.threads, self._num_workers), &steps,
                         self._evaluator, 1 if self._has_one_turn else UNLIMITED, until_s)
        if self._has_one_turn:
            atomic_cas_u32(&self.limits.stop, BY_ITERATIONS, FORCED)
        return atomic_load_u32(&self.limits.stop) != RUNNING

    cdef int _start_threads(self) except -1:
        """Start all native threads, or none and raise SearchError."""
        cdef int i, error = 0
        self._ids = <pthread_t*>malloc(self.threads * sizeof(pthread_t))
        if self._ids == NULL:
            raise MemoryError
        self.search.workers_running = self.threads
        with nogil:
            for i in range(self.threads):
                error = thread_start(&self._ids[i], _work, &self._workers[i])
                if error != 0:
                    break
                self._created += 1
        if error != 0:
            self._join()
            raise SearchError(f"the system refused thread {self._created + 1} of {self.threads} (error {error})",
                              reason="NO_THREADS")
        return 0

    cdef bint _wait(self, double until_s):
        """Sleep until the threads have ended, or until a time on the monotonic clock; return whether they have ended.

        The main thread also wakes to handle signals.
        """
        cdef bint has_ended = False
        cdef double now_s, wait_s, nap_s
        nap_s = SIGNALS_S if threading.get_ident() == threading.main_thread().ident else LONG_S
        while True:
            with nogil:
                now_s = monotonic_s()
                wait_s = min(nap_s, max(0.0, until_s - now_s))
                has_ended = semaphore_wait(&self.search.ended, wait_s)
            if has_ended:
                return True
            PyErr_CheckSignals()
            if monotonic_s() >= until_s:
                return False

    def join(self):
        """Stop what still runs after `run` or `wait` has returned (`late_s`), and wait for the end of the threads."""
        self._join()

    cdef int _join(self) except -1:
        """Stop the threads and wait until they have ended."""
        cdef pthread_t* ids = self._ids
        cdef int i
        if ids == NULL:
            return 0
        self._ids = NULL
        atomic_cas_u32(&self.limits.stop, RUNNING, BY_STOP)
        with nogil:
            for i in range(self._created):
                pthread_join(ids[i], NULL)
        free(ids)
        return 0

    # --- reading the result

    cdef list _candidates(self, int count):
        return reading_candidates(&self.search, count)

    cdef dict _counts(self):
        cdef GraphC* graph = &self.search.graph
        return {
            "iterations": self._iterations(),
            "nodes": atomic_load_u32(&graph.nodes_used) - 1 - atomic_load_u32(&graph.nodes_spare),
            "distinct_turns": atomic_load_u32(&graph.num_ends),
            "memory_bytes": graph_memory(graph),
        }

    cdef uint64_t _iterations(self):
        """Return the number of iterations that all threads have backed up."""
        cdef uint64_t iterations = 0
        cdef int i
        for i in range(self.threads):
            iterations += atomic_load_u64(&self._workers[i].iterations)
        return iterations

    def tree(self, least=1):
        """Return the nodes of the graph.

        Parameters
        ----------
        least : int
            Leave out nodes and edges with fewer visits.

        Returns
        -------
        list of dict
            The root first. `seat` to move (None: a random event, or the end), `turn` (turns after the root's),
            `visits`, `value`, `expected_scores`, and `edges`, the most visited first: each has `action` (None for the
            outcome of a random event), `visits`, `prior` and `node`, an index into this list; None if the node is left
            out, or if the action leads to different nodes in different worlds.
        """
        return tree_read(&self.search, least)

    def visits_at(self, State state not None):
        """Return the visits of each action that was tried in a state, by action; None if it was not reached.

        `state` must be the search's own or come from it by `apply`, since turns are counted from there. A mapping
        lacks the legal actions that the search did not try.
        """
        if state.game is not self.state.game:
            raise TypeError(f"expected a state of {self.state.game.name}, got one of {state.game.name}")
        return tree_visits(&self.search, state.data)

    def decisions(self, int least_visits):
        """Return what the search found about the decisions of its turn: data to learn a policy from.

        Only for a search that has ended.

        Parameters
        ----------
        least_visits : int
            Fewer visits of a node than that tell too little, >= 1.

        Returns
        -------
        list of dict
            For each node of the turn with so many visits and two or more visited actions, the root first: ``actions``
            (that lead there from the root), ``utility`` (mean of the mover's, in [0, 1]) and ``edges`` (list of tuple:
            action, visits, mean utility of the mover after it).

        Raises
        ------
        SearchError
            If the search has not ended, or `least_visits` is out of range.
        """
        self._require_end()
        if least_visits < 1:
            raise SearchError(f"least_visits: {least_visits}, expected at least 1", reason="INVALID_LIMITS")
        return reading_decisions(&self.search, least_visits)

    def check_visits(self):
        """Raise `SearchError` unless the visits add up: every descent through a node ends in it or leaves by one edge.

        Only for a search that has ended. With one thread exactly one descent ends in each node, or none if the first
        one continued from there (`whole_turns`).
        """
        reading_check_visits(&self.search, self.threads, self._iterations())

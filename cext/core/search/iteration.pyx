"""An iteration of the search: select, expand, evaluate, back up. Contracts in ``iteration.pxd``.

It descends a graph of information sets over atomic actions. Games have 2 to MAX_SEATS seats, deterministic actions,
random events and hidden information; a seat may play many actions in a row.

Sources
* PUCT selection with priors: Rosin, "Multi-armed bandits with episode context" (2011); Silver et al. (2017).
* Back-up of a vector, max^n: Luckhardt and Irani (1986); in Monte Carlo trees: Nijssen and Winands (2012).
* Best replies: Coulom, "Efficient selectivity and backup operators in Monte-Carlo tree search" (2006).
* Progressive widening: Coulom, "Computing Elo ratings of move patterns in the game of Go" (2007).
* Repeated random events: Couetoux et al., "Continuous upper confidence trees" (2011), double progressive widening.
* Information sets and availability counts: Cowling, Powley, Whitehouse, "Information Set MCTS" (2012).
* Statistics on a graph, value of the child and visits of the edge: Childs, Brodeur, Kocsis (2008), UCT2.
* History: Schaeffer, "The history heuristic" (1983); Nijssen and Winands, "Enhancements for multi-player Monte-Carlo
  tree search" (2010), progressive history.
* Sequential halving at the root (`halving`): see ``halving.pxd``.
* Proofs: see ``proof.pxd``.
* Virtual loss: Chaslot, Winands, van den Herik, "Parallel Monte-Carlo tree search" (2008).
"""

from libc.math cimport sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from numpy.random cimport bitgen_t

from cext.core.search.atomics cimport (atomic_add_f64_locked, atomic_add_u32, atomic_load_f64, atomic_load_u8,
                                       atomic_load_u16, atomic_load_u32, atomic_store_f64, atomic_store_u32, prefetch,
                                       spin_lock, spin_unlock)
from cext.core.contract.game cimport GameOps, game_apply
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, UNKNOWN, EdgeC, NodeC, graph_add_end, graph_edges,
                                     graph_find_or_add, graph_num_edges)
from cext.core.search.halving cimport halving_next
from cext.core.search.history cimport history_add, history_slot
from cext.core.search.leaf cimport leaf_evaluate, leaf_utilities
from cext.core.search.proof cimport (UNPROVED, WANTED, OutcomeC, proof_end, proof_end_search, proof_ends_descent,
                                     proof_has, proof_is_closed, proof_is_provable, proof_look,
                                     proof_look_at_actions, proof_read, proof_try)
from cext.core.search.ranking cimport (ranking_append_edge, ranking_list, ranking_power, ranking_sort_best,
                                       ranking_widen, ranking_width)
from cext.core.contract.rng cimport MIX_STEP, mix_bits, rng_below, rng_splitmix
from cext.core.search.worker cimport (MAX_PATH, NO_EDGE, SearchC, search_awaits_priors, search_continues_turn,
                                      search_key, search_node_utility)
from cext.core.contract.types cimport CHANCE, MAX_SEATS, TERMINAL, action_t

cdef enum:
    MAX_EVENTS = 1000000000     # different draws at a node
    PROVED = -2                 # of a selection: the node has turned out to be proved
    DOUBT = 4                   # visits without gain that are added to those of a reply
    PREFETCH = 8                # selection prefetches the child of the edge this far ahead

cdef uint32_t MOST_VISITS = 0xfff00000  # of the root; its counters have 32 bits, and threads count at a time


# --- the main loop

cdef int iteration_run(WorkerC* worker) noexcept nogil:
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef bint is_over

    # Steps 1 and 2.
    if iteration_descend(worker) < 0:
        return -1

    # Step 3. Evaluate.
    is_over = iteration_read_proof(worker, values, scores) or leaf_evaluate(worker, values, scores)

    # Step 4. Back up.
    iteration_back_up(worker, values, scores, is_over)
    return 0


cdef int iteration_descend(WorkerC* worker) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef const GameOps* ops = search.ops
    cdef void* state = worker.state
    cdef uint32_t index = search.root, child
    cdef action_t action
    cdef int edge
    cdef bint is_new, is_same_turn, is_leaf

    if atomic_load_u32(&search.graph.nodes[index].visits) >= MOST_VISITS:
        return -1

    # Step 1. Draw a world that agrees with what the searching seat knows.
    memcpy(state, search.root_state, ops.state_size)
    if search.several_worlds:
        ops.determinize(state, search.viewer, search.belief, &worker.rng)
    worker.path_length = 0
    worker.path_nodes[0] = index
    is_new = _add_virtual_loss(search, index)
    is_leaf = ((is_new and not search_continues_turn(search, index))
               or search_awaits_priors(search, index) or proof_ends_descent(search, index))

    # Step 2. Select and expand: descend by PUCT to a new node (and on to the end of its turn, see `whole_turns`), or to
    # the end of the game.
    while not is_leaf and ops.current_player(state) != TERMINAL and worker.path_length < MAX_PATH:
        worker.path_best[worker.path_length] = NO_NODE
        if ops.current_player(state) == CHANCE:
            edge = NO_EDGE
            action = 0
            _draw_event(worker, index)
        else:
            edge = _select(worker, index, &action)
            if edge == PROVED:
                break
            if edge < 0:
                iteration_cancel(worker)
                return -1
            game_apply(ops, state, action)
        child = _follow(worker, index, edge, action)
        if child == NO_NODE:
            if edge != NO_EDGE:
                _remove_edge_visit(search, index, edge)
            iteration_cancel(worker)
            return -1
        worker.path_edges[worker.path_length] = edge
        worker.path_length += 1
        worker.path_nodes[worker.path_length] = child
        is_new = _add_virtual_loss(search, child)
        is_same_turn = search.graph.nodes[child].turn == search.graph.nodes[index].turn
        is_leaf = ((is_new and not (is_same_turn and search_continues_turn(search, child)))
                   or search_awaits_priors(search, child) or proof_ends_descent(search, child))
        index = child
    return 0


cdef bint iteration_read_proof(WorkerC* worker, double* values, double* scores) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef uint32_t index = worker.path_nodes[worker.path_length]
    cdef OutcomeC known
    if not proof_has(search, index):
        return False
    proof_read(search, search.graph.nodes + index, &known)
    memcpy(values, known.values, sizeof(known.values))
    memcpy(scores, known.scores, sizeof(known.scores))
    return True


cdef bint _add_virtual_loss(SearchC* search, uint32_t index) noexcept nogil:
    """Count a descent to a node before it is backed up (its virtual loss); return whether it is the first."""
    return atomic_add_u32(&search.graph.nodes[index].visits, 1) == 0


cdef void iteration_cancel(WorkerC* worker) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef int i
    for i in range(worker.path_length + 1):
        atomic_add_u32(&search.graph.nodes[worker.path_nodes[i]].visits, <uint32_t>-1)
        if i < worker.path_length and worker.path_edges[i] != NO_EDGE:
            _remove_edge_visit(search, worker.path_nodes[i], worker.path_edges[i])


cdef void _remove_edge_visit(SearchC* search, uint32_t index, int edge) noexcept nogil:
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
    most = 1 + search.options.events_factor * ranking_power(
        atomic_load_u32(&node.visits), search.options.events_exponent)
    # A draw is identified by its random numbers. In another world the same numbers may give another outcome.
    numbers = mix_bits(search.events_bits ^ node.key - search.events_key
                       ^ mix_bits(rng_below(&worker.rng, <int>min(most, MAX_EVENTS))))
    rng_splitmix(&rng, &numbers)
    search.ops.chance(worker.state, &rng)


cdef inline uint64_t _key_of_mover(SearchC* search, const NodeC* node, const void* state) noexcept nogil:
    """Return the key of what the seat to move knows: `search_key_of_mover`, not hashed again if the node has it.

    If it is the node's own key, the seat knows the same as the searching seat. Then every world of the node has the
    same legal actions and priors (a rule of the contract): no need to list them at each visit. A search that begins
    with one world meets several, too, as soon as others draw or discard what the searching seat does not see.
    """
    if node.player == search.viewer or search.ops.determinize == NULL:
        return node.key
    return search_key(search.ops, state, node.player)


cdef int _select(WorkerC* worker, uint32_t index, action_t* action) noexcept nogil:
    """Choose an edge of a node and count a descent through it.

    Return its index, -1 if there is no memory, or PROVED if no descent needs to go on.
    """
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef EdgeC* edge
    cdef uint64_t key = _key_of_mover(search, node, worker.state)
    cdef int chosen, n, width, num_seen
    if key == node.key and atomic_load_u8(&node.worlds) == WANTED:
        proof_look(worker, node)
    if worker.path_length == 0 and halving_next(search, action):
        chosen = _find_edge(search, node, action[0])
        spin_lock(&node.lock)
    elif key != node.key:
        # Rank, and find the edges, before taking the lock: other threads may wait for it. This happens at each visit,
        # so without the history: when priors change, actions would drop out of view.
        n = ranking_list(worker, key, False)
        width = ranking_width(search, node, n)
        ranking_sort_best(worker, n, width)
        num_seen = _find_edges(worker, node, width)
        spin_lock(&node.lock)
        chosen = _select_available(worker, node, n, width, num_seen)
    else:
        chosen = _select_known(worker, node)
        if chosen >= 0 and _leads_to_proof(search, &graph_edges(&search.graph, node)[chosen]):
            chosen = _select_open(worker, index, chosen)
            if chosen == PROVED:
                return PROVED
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


# The best action found so far where a rival moves.
ctypedef struct ReplyC:
    double gain
    uint32_t child              # SEVERAL_NODES: one that leads to several nodes, so that its mean is not known


cdef inline void _compare_reply(NodeC* node, const EdgeC* edge, uint32_t visits, double utility,
                                ReplyC* reply) noexcept nogil:
    """Keep an edge if it is better than the reply; few visits count less."""
    cdef double gain = (utility - search_node_utility(node, node.player)) * visits / (visits + DOUBT)
    cdef uint32_t child = atomic_load_u32(&edge.child)
    if child != NO_NODE and (reply.child == NO_NODE or gain > reply.gain):
        reply.gain = gain
        reply.child = child


cdef int _select_known(WorkerC* worker, NodeC* node) noexcept nogil:
    """Choose an edge where every world has the same actions. Return its index, or -1 if there is no memory."""
    # Edges are in the order in which they came into view, visited ones first. They are read without the lock, because a
    # pass over hundreds of edges would make other threads wait.
    cdef SearchC* search = worker.search
    cdef EdgeC* edges
    cdef double factor, utility, first_play, score, best_score = -1e300
    cdef uint32_t visits
    cdef int i, width, num_edges = graph_num_edges(node), player = node.player, best = 0
    cdef bint replies = search.options.best_reply > 0 and player != search.viewer
    cdef ReplyC reply = ReplyC(0.0, NO_NODE)
    # A node without edges has not been expanded, and its num_legal may not be known yet.
    width = ranking_width(search, node, <int>atomic_load_u32(&node.num_legal)) if num_edges > 0 else 1
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
                best = i
                break
            score = first_play + factor * edges[i].prior
            if score > best_score:
                best = i
            break
        utility = _edge_utility(search, &edges[i], visits, player)
        if replies:
            _compare_reply(node, &edges[i], visits, utility, &reply)
        score = utility + factor * edges[i].prior / (1 + visits)
        if score > best_score:
            best_score = score
            best = i
    worker.path_best[worker.path_length] = reply.child if reply.child != SEVERAL_NODES else NO_NODE
    return best


cdef inline bint _leads_to_proof(SearchC* search, const EdgeC* edge) noexcept nogil:
    """Return whether an edge leads to a single node, which is proved."""
    cdef uint32_t child = atomic_load_u32(&edge.child)
    return child != NO_NODE and child != SEVERAL_NODES and proof_has(search, child)


cdef int _select_open(WorkerC* worker, uint32_t index, int chosen) noexcept nogil:
    """Choose an edge where the chosen one leads to a proved node: one at which something is left to find out.

    Return its index, -1 if there is no memory, or PROVED if the node is proved by that.
    """
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    cdef int i, best = -1, num_edges = graph_num_edges(node), player = node.player
    cdef EdgeC* edges = graph_edges(&search.graph, node)    # after their number, see graph.pxd
    cdef uint32_t visits, child = atomic_load_u32(&edges[chosen].child)
    cdef double factor, first_play, utility, score, best_score = -1e300
    proof_look_at_actions(worker, node)
    if proof_try(search, index, child):
        return PROVED
    if not proof_is_provable(search, node) or not proof_is_closed(search, node, child):
        return chosen
    factor = _exploration(search, node) * sqrt(<double>atomic_load_u32(&node.visits))
    first_play = search_node_utility(node, player) - search.options.first_play_reduction
    for i in range(num_edges):
        child = atomic_load_u32(&edges[i].child)
        if (child != NO_NODE and child != SEVERAL_NODES and proof_has(search, child)
                and proof_is_closed(search, node, child)):
            continue
        visits = atomic_load_u32(&edges[i].visits)
        utility = first_play if visits == 0 else _edge_utility(search, &edges[i], visits, player)
        score = utility + factor * edges[i].prior / (1 + visits)
        if score > best_score:
            best_score = score
            best = i
        if visits == 0:
            break       # the edges after it rank lower
    if best >= 0:
        return best
    if <uint32_t>num_edges == atomic_load_u32(&node.num_legal):
        return chosen
    # All in view is lost: look at others at once.
    if ranking_widen(worker, node) < 0:
        return -1
    return num_edges if graph_num_edges(node) > num_edges else chosen


cdef int _find_edges(WorkerC* worker, NodeC* node, int width) noexcept nogil:
    """Write the edges of the first `width` actions to the worker, NO_EDGE where there is none.

    Return how many edges it has looked at: others may be added meanwhile.
    """
    # In one pass over the edges, which finds their actions by a hash table: open addressing, linear probing.
    cdef uint32_t* table = worker.table
    cdef uint32_t slot, mask = 7
    cdef const EdgeC* edges
    cdef int i, j, num_edges = graph_num_edges(node), left = width
    while mask < 2 * <uint32_t>width:
        mask = 2 * mask + 1
    memset(table, 0, (mask + 1) * sizeof(uint32_t))
    for i in range(width):
        worker.edges[i] = NO_EDGE
        slot = worker.actions[i] * MIX_STEP >> 32 & mask
        while table[slot] != 0:
            slot = slot + 1 & mask
        table[slot] = i + 1
    edges = graph_edges(&worker.search.graph, node)
    for j in range(num_edges):
        if left == 0:
            break
        slot = edges[j].action * MIX_STEP >> 32 & mask
        while table[slot] != 0:
            i = table[slot] - 1
            if worker.actions[i] == edges[j].action:
                worker.edges[i] = j
                left -= 1
                break
            slot = slot + 1 & mask
    return num_edges


cdef int _edge_in_view(WorkerC* worker, NodeC* node, int i, int num_seen, int num_known) noexcept nogil:
    """Return the edge of action i, which is added if need be; or -1 if there is no memory. Under the node's lock.

    Of the edges that `_find_edges` has not seen, others have added those below `num_known`; the rest are of this visit.
    """
    cdef EdgeC* edges = graph_edges(&worker.search.graph, node)
    cdef int j
    if worker.edges[i] != NO_EDGE:
        return worker.edges[i]
    for j in range(num_seen, num_known):
        if edges[j].action == worker.actions[i]:
            return j
    if ranking_append_edge(worker.search, node, worker.actions[i], worker.priors[i]) < 0:
        return -1
    return node.num_edges - 1


cdef int _select_available(WorkerC* worker, NodeC* node, int n, int width, int num_seen) noexcept nogil:
    """Choose an edge where worlds differ in their actions. Return its index, or -1 if there is no memory.

    Under the node's lock, after `_find_edges`.
    """
    # Only edges that are legal in this world count, and each is compared with the descents in which it was available.
    # The first `width` of this world's `n` actions are in view.
    cdef SearchC* search = worker.search
    cdef EdgeC* edge
    cdef double exploration, utility, score, best_score = -1e300
    cdef int i, j, best = -1, player = node.player, num_known = node.num_edges
    cdef bint replies = search.options.best_reply > 0 and player != search.viewer
    cdef ReplyC reply = ReplyC(0.0, NO_NODE)
    if node.num_legal == UNKNOWN:
        atomic_store_u32(&node.num_legal, <uint32_t>n)
    exploration = _exploration(search, node)
    for i in range(width):
        j = _edge_in_view(worker, node, i, num_seen, num_known)
        if j < 0:
            return -1
        edge = graph_edges(&search.graph, node) + j
        edge.available += 1
        if edge.visits == 0:
            if i < _num_first_visits(search, node):
                best = j
                break
            utility = search_node_utility(node, player) - search.options.first_play_reduction
        else:
            utility = _edge_utility(search, edge, edge.visits, player)
            if replies:
                _compare_reply(node, edge, edge.visits, utility, &reply)
        score = utility + exploration * edge.prior * sqrt(<double>edge.available) / (1 + edge.visits)
        if score > best_score:
            best_score = score
            best = j
    worker.path_best[worker.path_length] = reply.child if reply.child != SEVERAL_NODES else NO_NODE
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
        if node.turn == search.root_turn and turn != search.root_turn:
            atomic_store_u32(&search.graph.ends_differ, 1)
    spin_unlock(&node.lock)
    return child


# --- back up

cdef inline void _learn(SearchC* search, NodeC* node, int edge, double utility) noexcept nogil:
    """Add a descent's advantage to the history of an edge's action.

    Under the node's lock, before the node counts the descent.
    """
    history_add(history_slot(search.history, graph_edges(&search.graph, node)[edge].action, node.player,
                             node.turn - search.history_turn),
                utility - node.utility_sum[node.player] / node.finished)


cdef inline void _count_best_reply(SearchC* search, uint32_t best, double* values, double* scores) noexcept nogil:
    """Move the outcome of a descent, in which a rival did not take its best action, to the mean of that one."""
    cdef NodeC* node = search.graph.nodes + best
    cdef double share = search.options.best_reply
    cdef int seat
    spin_lock(&node.lock)       # no other is held here
    if node.finished > 0:
        for seat in range(search.num_players):
            values[seat] += share * (node.value_sum[seat] / node.finished - values[seat])
            scores[seat] += share * (node.score_sum[seat] / node.finished - scores[seat])
    spin_unlock(&node.lock)


cdef inline void _add_spread(SearchC* search, NodeC* node, const double* values, const double* scores) noexcept nogil:
    """Add a descent to the sums of squared deviations (Welford 1962). Under the lock, before the node counts it."""
    cdef double n = node.finished, weight, value, score
    cdef int seat
    if n == 0:
        return
    weight = n / (n + 1)
    for seat in range(search.num_players):
        value = values[seat] - node.value_sum[seat] / n
        score = scores[seat] - node.score_sum[seat] / n
        node.value_spread[seat] += <float>(value * value * weight)
        node.score_spread[seat] += <float>(score * score * weight)


cdef inline int _end_of_turn(SearchC* search, const WorkerC* worker) noexcept nogil:
    """Return the place in the path of the node at the end of the root's turn; beyond the path if it has none."""
    cdef int i = 0
    while i <= worker.path_length and search.graph.nodes[worker.path_nodes[i]].turn == search.root_turn:
        i += 1
    return i


cdef inline void _count(SearchC* search, NodeC* node, const double* values, const double* scores,
                        const double* utilities) noexcept nogil:
    """Add the outcome of a descent to the sums of a node. Under its lock."""
    cdef int seat
    for seat in range(search.num_players):
        atomic_add_f64_locked(&node.utility_sum[seat], utilities[seat])
        atomic_add_f64_locked(&node.value_sum[seat], values[seat])
        atomic_add_f64_locked(&node.score_sum[seat], scores[seat])


cdef void _count_known(SearchC* search, NodeC* node, const OutcomeC* known) noexcept nogil:
    """Set the sums of a node to its outcome, for the descents so far and one more. Under its lock."""
    cdef double n = node.finished + 1
    cdef int seat
    for seat in range(search.num_players):
        atomic_store_f64(&node.utility_sum[seat], n * known.utilities[seat])
        atomic_store_f64(&node.value_sum[seat], n * known.values[seat])
        atomic_store_f64(&node.score_sum[seat], n * known.scores[seat])
        node.value_spread[seat] = 0
        node.score_spread[seat] = 0


cdef inline bint _has_other_outcome(const NodeC* node, uint32_t index) noexcept nogil:
    """Return whether a node is proved by another one, its outcome."""
    return atomic_load_u16(&node.proof) != UNPROVED and atomic_load_u32(&node.outcome) != index


cdef void iteration_back_up(WorkerC* worker, double* values, double* scores, bint is_over) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef double utilities[MAX_SEATS]
    cdef OutcomeC known
    cdef NodeC* node
    cdef EdgeC* edge
    cdef int i, end = _end_of_turn(search, worker)
    cdef uint32_t index
    cdef bint is_known, is_news = False     # whether a proof of the node below may be new to this one
    leaf_utilities(search, values, scores, is_over, utilities)
    for i in range(worker.path_length, -1, -1):
        index = worker.path_nodes[i]
        node = search.graph.nodes + index
        if is_news:
            is_news = proof_try(search, index, worker.path_nodes[i + 1])
        is_known = _has_other_outcome(node, index)
        if is_known:
            proof_read(search, node, &known)
        elif (i < worker.path_length and worker.path_best[i] != NO_NODE
                and worker.path_best[i] != worker.path_nodes[i + 1]):
            _count_best_reply(search, worker.path_best[i], values, scores)
        spin_lock(&node.lock)
        if not is_known and _has_other_outcome(node, index):     # another thread has just proved it
            is_known = True
            proof_read(search, node, &known)
        if i < worker.path_length and worker.path_edges[i] != NO_EDGE:
            if search.history != NULL and node.finished > 0:
                _learn(search, node, worker.path_edges[i], utilities[node.player])
            edge = graph_edges(&search.graph, node) + worker.path_edges[i]
            atomic_add_f64_locked(&edge.utility_sum, utilities[node.player])
        if is_known:
            memcpy(values, known.values, sizeof(known.values))
            memcpy(scores, known.scores, sizeof(known.scores))
            memcpy(utilities, known.utilities, sizeof(known.utilities))
            _count_known(search, node, &known)
        else:
            if i == end:
                _add_spread(search, node, values, scores)
            _count(search, node, values, scores, utilities)
        atomic_store_u32(&node.finished, node.finished + 1)
        spin_unlock(&node.lock)
        if i == worker.path_length:
            is_news = is_known or (node.player == TERMINAL and proof_end(worker, index))
    if search.halving.num_phases > 0 and worker.path_length > 0:
        atomic_add_u32(&search.halving.finished[worker.path_edges[0]], 1)
    if proof_has(search, search.root):
        proof_end_search(search)

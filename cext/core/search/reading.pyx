"""Reading a result from the graph; contracts in ``reading.pxd``.

Threads may still be searching, so all that they write is read under the nodes' locks or atomically.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memcpy, memset

from cext.core.search.atomics cimport atomic_load_u32, spin_lock, spin_unlock
from cext.core.contract.game cimport game_apply
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, GraphC, NodeC, graph_edges, graph_find,
                                     graph_num_edges, graph_shared_edge)
from cext.core.search.halving cimport halving_best
from cext.core.search.policies cimport policies_find
from cext.core.search.proof cimport proof_has, proof_is_lost, proof_next
from cext.core.search.worker cimport search_continues_turn, search_key, search_node_utility, search_own_visits
from cext.core.contract.turns cimport (MAX_TURN, TurnScratchC, turn_canonical, turn_finish, turn_may_begin,
                                       turn_scratch_free, turn_scratch_init)
from cext.core.contract.types cimport MAX_SEATS, TERMINAL, action_t

from cext.core.contract.errors import SearchError

# The descents through an end of the root's turn. It is one node, or several: an action that ends the turn and shows
# what was hidden leads to another node in each world.
ctypedef struct EndC:
    double visits
    double own_visits           # of this search
    bint is_kept                # whether an earlier search has made others
    double value_sum[MAX_SEATS]
    double score_sum[MAX_SEATS]
    double value_spread[MAX_SEATS]
    double score_spread[MAX_SEATS]


cdef list reading_candidates(SearchC* search, int count):
    cdef TurnScratchC scratch
    if turn_scratch_init(&scratch, search.ops) < 0:
        raise MemoryError
    scratch.first = search.first_actions
    scratch.num_first = search.num_first
    try:
        candidates = []
        for end in _proved_first(search, _halving_first(search, _best_ends(search, count))):
            candidate = _describe(search, end, &scratch)
            candidate["forecast"] = _forecast(search, candidate["actions"], end, &scratch)
            candidates.append(candidate)
        if not candidates:
            candidates.append(_describe_unfinished(search, &scratch))
            candidates[0]["forecast"] = _forecast(search, candidates[0]["actions"], [], &scratch)
        return candidates
    finally:
        turn_scratch_free(&scratch)


cdef list reading_first_actions(SearchC* search):
    cdef NodeC* root = &search.graph.nodes[search.root]
    cdef int i, num_edges = graph_num_edges(root)
    cdef EdgeC* edges = graph_edges(&search.graph, root)
    cdef uint32_t visits
    found = []
    for i in range(num_edges):
        visits = atomic_load_u32(&edges[i].visits)
        if visits > 0:
            found.append((edges[i].action, visits, edges[i].prior, atomic_load_u32(&edges[i].child)))
    return [{"action": action, "visits": visits, "prior": prior, "value": _value_after(search, action, child),
             "is_proved": _is_proved(search, child)}
            for action, visits, prior, child in sorted(found, key=_by_visits)]


def _by_visits(edge):
    return -edge[1], edge[0]


cdef list _value_after(SearchC* search, action_t action, uint32_t child):
    """Return the mean values after an action at the root; none if worlds lead to several nodes within the turn."""
    end = _ends_by(search, search.root, action) if child == SEVERAL_NODES else [] if child == NO_NODE else [child]
    return _statistics(search, end)["value"] if end else []


cdef bint _is_proved(SearchC* search, uint32_t child):
    """Return whether the node to which an edge leads is proved."""
    return child != NO_NODE and child != SEVERAL_NODES and proof_has(search, child)


cdef int reading_num_turns(SearchC* search) except -1:
    cdef GraphC* graph = &search.graph
    cdef uint32_t index = atomic_load_u32(&graph.first_end)
    cdef int count = <int>atomic_load_u32(&graph.num_ends)
    if not atomic_load_u32(&graph.ends_differ):
        return count
    count = 0
    shared = set()
    while index != NO_NODE:
        if graph_shared_edge(graph, index) != NULL:
            shared.add((graph.nodes[index].parent, graph.nodes[index].from_action))
        else:
            count += 1
        index = atomic_load_u32(&graph.nodes[index].next_end)
    return count + len(shared)


cdef bint _ends_are_exact(SearchC* search):
    """Return whether every end of the root's turn found so far is the end of the game, with a single outcome."""
    cdef GraphC* graph = &search.graph
    cdef uint32_t index = atomic_load_u32(&graph.first_end)
    while index != NO_NODE:
        if graph.nodes[index].player != TERMINAL:
            return False
        index = atomic_load_u32(&graph.nodes[index].next_end)
    return not search.several_worlds


cdef list _best_ends(SearchC* search, int count):
    """Return the best ends of the root's turn: by visits, then by value, then by order of discovery.

    Each is a list of its nodes, the most visited one first. If all of them end the game, one visit gives the exact
    value. Then the value comes before the visits. An end that is proved to be lost comes after all others, whatever its
    visits before.
    """
    cdef GraphC* graph = &search.graph
    cdef uint32_t index = atomic_load_u32(&graph.first_end), visits
    cdef uint32_t least = 0
    cdef bint is_exact = _ends_are_exact(search)
    cdef double utility, lowest = -1
    # 4 * count must not overflow.
    count = min(count, <int>atomic_load_u32(&graph.num_ends))
    best = []
    shared = set()
    if count == 0:
        return best
    while index != NO_NODE:
        visits = atomic_load_u32(&graph.nodes[index].finished)
        if visits > 0 and graph_shared_edge(graph, index) != NULL:
            shared.add((graph.nodes[index].parent, graph.nodes[index].from_action))
        elif visits > 0 and is_exact:
            utility = _settled_utility(search, index)
            if utility >= lowest:
                best.append((-utility, -<double>visits, [index]))
        elif visits > 0 and (len(best) < count or visits >= least):
            if search.solves and proof_is_lost(search, index):
                visits = 0
            utility = search_node_utility(&graph.nodes[index], search.viewer)
            best.append((-<double>visits, -utility, [index]))
        if len(best) >= 4 * count:
            best = sorted(best)[:count]
            if is_exact:
                lowest = -best[count - 1][0]
            else:
                least = <uint32_t>-best[count - 1][0]
        index = atomic_load_u32(&graph.nodes[index].next_end)
    if shared:
        together = [_ends_by(search, parent, action) for parent, action in shared]
        # Of the first nodes another world may not have been known when they were read.
        best = [entry for entry in best if not any([entry[2][0] in end for end in together])]
        best += [_rank_together(search, end) for end in together]
    return [entry[2] for entry in sorted(best)[:count]]


cdef list _ends_by(SearchC* search, uint32_t parent, action_t action):
    """Return the ends with visits that were first reached from a node by an action, the most visited one first."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end), visits
    found = []
    while index != NO_NODE:
        visits = atomic_load_u32(&nodes[index].finished)
        if visits > 0 and nodes[index].parent == parent and nodes[index].from_action == action:
            found.append((-<double>visits, index))
        index = atomic_load_u32(&nodes[index].next_end)
    return [node for _, node in sorted(found)]


cdef tuple _rank_together(SearchC* search, list end):
    """Return what an end of several nodes is sorted by, as one of a single node in `_best_ends`."""
    cdef double visits = 0, utility_sum = 0, finished
    cdef uint32_t index
    cdef bint is_lost = search.solves
    for index in end:
        finished = atomic_load_u32(&search.graph.nodes[index].finished)
        visits += finished
        utility_sum += finished * search_node_utility(&search.graph.nodes[index], search.viewer)
        is_lost = is_lost and proof_is_lost(search, index)
    return (0.0 if is_lost else -visits, -utility_sum / visits, end)


cdef list _proved_first(SearchC* search, list ends):
    """Return the ends with that of the proved turn first, if the root is proved."""
    cdef uint32_t index = search.root
    cdef int left = MAX_TURN    # a game that steps to and fro within a turn may go round
    if not proof_has(search, index):
        return ends
    while index != NO_NODE and search.graph.nodes[index].turn == search.root_turn and left > 0:
        index = proof_next(search, index)
        left -= 1
    if index == NO_NODE or search.graph.nodes[index].turn == search.root_turn:
        return ends
    return _with_first(ends, [index])


cdef list _with_first(list ends, list first):
    """Return the ends, as many as before but one at least, with one of them before the others."""
    return [first, *[end for end in ends if end[0] not in first]][:max(1, len(ends))]


cdef list _halving_first(SearchC* search, list ends):
    """Return the ends with that of the best candidate of the sequential halving first, if there is one.

    Exact values come before its scores, in which priors count, too; one that is proved to be lost stays where it is.
    """
    cdef uint32_t index
    if _ends_are_exact(search):
        return ends
    first = _end_of_halving(search)
    if not first:
        return ends     # none, or one whose first descent is not backed up yet
    index = first[0]
    if search.solves and proof_is_lost(search, index):
        return ends
    return _with_first(ends, first)


cdef list _end_of_halving(SearchC* search):
    """Return the nodes with visits of the end to which the best candidate of the sequential halving leads."""
    cdef uint32_t index, child
    cdef action_t action
    cdef int left = MAX_TURN    # as in `_proved_first`
    with nogil:
        index = halving_best(search)
    while index != NO_NODE and search.graph.nodes[index].turn == search.root_turn and left > 0:
        child = _most_visited(search, index, &action)
        if child == SEVERAL_NODES:
            return _ends_by(search, index, action)
        index = child
        left -= 1
    if index == NO_NODE or search.graph.nodes[index].turn == search.root_turn:
        return []
    if graph_shared_edge(&search.graph, index) != NULL:
        return _ends_by(search, search.graph.nodes[index].parent, search.graph.nodes[index].from_action)
    return [index] if atomic_load_u32(&search.graph.nodes[index].finished) > 0 else []


cdef double _settled_utility(SearchC* search, uint32_t index):
    """Return the mean utility of a node, rounded: nodes with equal outcomes have equal values.

    Under the lock, so that the sum and the number of back-ups agree.
    """
    cdef NodeC* node = &search.graph.nodes[index]
    cdef double utility
    with nogil:
        spin_lock(&node.lock)
        utility = search_node_utility(node, search.viewer)
        spin_unlock(&node.lock)
    return floor(utility * 1e9 + 0.5) / 1e9  # the mean of equal numbers may differ from them


cdef dict _describe(SearchC* search, list end, TurnScratchC* scratch):
    """Return the candidate for an end of the root's turn, with its actions in canonical form."""
    cdef GraphC* graph = &search.graph
    cdef action_t actions[MAX_TURN]     # both loops end there
    cdef uint32_t index = end[0], node = index, parent
    cdef int n = 0, i, _, depth = 0
    cdef double prior = 1.0
    # The path by which the state was first reached, backwards. No game has turns beyond MAX_TURN; of a longer one that
    # a position makes possible, the first actions are what is legal at the root.
    while graph.nodes[node].parent != NO_NODE:
        node = graph.nodes[node].parent
        depth += 1
    node = index
    for _ in range(depth - MAX_TURN):
        node = graph.nodes[node].parent
    while graph.nodes[node].parent != NO_NODE:
        parent = graph.nodes[node].parent
        actions[n] = graph.nodes[node].from_action
        prior *= _edge_prior(search, parent, actions[n])
        n += 1
        node = parent
    for i in range(n // 2):
        actions[i], actions[n - 1 - i] = actions[n - 1 - i], actions[i]
    with nogil:
        n = turn_canonical(search.ops, search.root_state, actions, n, scratch)
    return _candidate(search, end, [actions[i] for i in range(n)], prior)


cdef list _forecast(SearchC* search, list actions, list end, TurnScratchC* scratch):
    """Return the statistics before a turn and after each of its actions; `end` has the nodes after the last one.

    The search may have played them in another order: nodes are found by their states. Without a node, no visits.
    """
    cdef char* state = scratch.states
    cdef int last = len(actions) - 1, i
    found = [_statistics(search, [search.root])]
    memcpy(state, search.root_state, search.ops.state_size)
    for i in range(last):
        game_apply(search.ops, state, actions[i])
        found.append(_statistics(search, [graph_find(&search.graph, search_key(search.ops, state, search.viewer))]))
    if end:
        found.append(_statistics(search, end))
    return found


cdef dict _candidate(SearchC* search, list end, list actions, double prior):
    """Return a candidate with the statistics of an end, and their standard errors.

    What follows an end of several nodes depends on what it shows, so it has no line.
    """
    cdef bint is_single = graph_shared_edge(&search.graph, end[0]) == NULL
    return {"actions": actions, "prior": prior, "line": _expected_turns(search, end[0]) if is_single else [],
            "is_proved": is_single and proof_has(search, end[0])} | _statistics(search, end) | _errors(search, end)


cdef void _add_node(SearchC* search, uint32_t index, EndC* end) noexcept nogil:
    """Add the descents through a node to those of an end.

    Sums of squared deviations are joined as by Chan, Golub and LeVeque (1983).
    """
    cdef NodeC* node = &search.graph.nodes[index]
    cdef double visits, own_visits, weight, difference
    cdef int seat
    spin_lock(&node.lock)
    visits = node.finished
    own_visits = search_own_visits(search, index)
    weight = end.own_visits * own_visits / (end.own_visits + own_visits) if end.visits > 0 and own_visits > 0 else 0.0
    for seat in range(MAX_SEATS):
        end.value_spread[seat] += node.value_spread[seat]
        end.score_spread[seat] += node.score_spread[seat]
        if weight > 0:
            difference = node.value_sum[seat] / visits - end.value_sum[seat] / end.visits
            end.value_spread[seat] += weight * difference * difference
            difference = node.score_sum[seat] / visits - end.score_sum[seat] / end.visits
            end.score_spread[seat] += weight * difference * difference
        end.value_sum[seat] += node.value_sum[seat]
        end.score_sum[seat] += node.score_sum[seat]
    end.visits += visits
    end.own_visits += own_visits
    end.is_kept = end.is_kept or index <= search.num_kept
    spin_unlock(&node.lock)


cdef void _add_nodes(SearchC* search, list nodes, EndC* end) except *:
    """Write the descents through the nodes of an end."""
    cdef uint32_t index
    memset(end, 0, sizeof(EndC))
    for index in nodes:
        # Without the GIL: the holder of the lock may wait for a processor, and other threads may need the GIL.
        with nogil:
            _add_node(search, index, end)


cdef dict _statistics(SearchC* search, list nodes):
    """Return visits, mean values and mean final scores of an end or a node; empty lists if it has no visits."""
    cdef EndC end
    cdef int seat
    _add_nodes(search, nodes, &end)
    seats = range(search.num_players if end.visits else 0)
    value = [end.value_sum[seat] / end.visits for seat in seats]
    scores = [end.score_sum[seat] / end.visits for seat in seats]
    return {"visits": int(end.visits), "value": value, "expected_scores": scores}


cdef dict _errors(SearchC* search, list nodes):
    """Return the standard errors of the means of an end of the root's turn; none with less than two visits.

    The descents of an earlier search count in the mean; how they deviate from it is not known, so it is taken to be as
    those of this search do.
    """
    cdef EndC end
    cdef double deviations
    cdef int seat
    _add_nodes(search, nodes, &end)
    deviations = end.own_visits - (0 if end.is_kept else 1)     # the first descent of all deviates from nothing
    seats = range(search.num_players if deviations > 0 and nodes[0] != search.root else 0)
    return {"value_error": [sqrt(end.value_spread[seat] / deviations / end.visits) for seat in seats],
            "expected_scores_error": [sqrt(end.score_spread[seat] / deviations / end.visits) for seat in seats]}


cdef dict _describe_unfinished(SearchC* search, TurnScratchC* scratch):
    """Return a candidate when no end of the turn was reached: the most visited actions, completed by the policy."""
    cdef action_t actions[MAX_TURN]     # both loops end there
    cdef int n = 0, i
    cdef double prior = 1.0
    cdef uint32_t index = search.root, child
    # An end may have been reached whose descents are not backed up yet: the turn stops there.
    while n < MAX_TURN and search.graph.nodes[index].turn == search.root_turn:
        child = _most_visited(search, index, &actions[n])
        if child == NO_NODE or child == SEVERAL_NODES:
            break
        prior *= _edge_prior(search, index, actions[n])
        n += 1
        index = child
    n = _append_given(search, index, actions, n, &prior, scratch)
    with nogil:
        n = turn_finish(search.ops, search.weights, search.root_state, actions, n, scratch)
        n = turn_canonical(search.ops, search.root_state, actions, n, scratch)
    candidate = _candidate(search, [search.root], [actions[i] for i in range(n)], prior)
    candidate["line"] = []
    return candidate


cdef int _append_given(SearchC* search, uint32_t index, action_t* actions, int n, double* prior,
                       TurnScratchC* scratch):
    """Append the best action by the priors that an evaluator has given for a node of the turn; return the length."""
    # With the GIL, like all that keeps priors.
    cdef NodeC* node = &search.graph.nodes[index]
    cdef const float* given
    cdef int i, num_legal, best = -1
    if search.policies == NULL or n == MAX_TURN or node.turn != search.root_turn or node.player != search.viewer:
        return n
    memcpy(scratch.states, search.root_state, search.ops.state_size)
    for i in range(n):
        game_apply(search.ops, scratch.states, actions[i])
    num_legal = search.ops.legal_actions(scratch.states, scratch.actions)
    given = policies_find(search.policies, node.key, num_legal)
    if given == NULL:
        return n
    for i in range(num_legal):
        if ((n > 0 or turn_may_begin(search.first_actions, search.num_first, scratch.actions[i]))
                and (best < 0 or given[i] > given[best])):
            best = i
    actions[n] = scratch.actions[best]
    prior[0] *= given[best]
    return n + 1


cdef double _edge_prior(SearchC* search, uint32_t index, action_t action):
    """Return the prior of an action in a node, 0 if it has no edge."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef EdgeC* edges
    cdef int i
    cdef double prior = 0.0
    with nogil:
        spin_lock(&node.lock)
        edges = graph_edges(&search.graph, node)
        for i in range(node.num_edges):
            if edges[i].action == action:
                prior = edges[i].prior
        spin_unlock(&node.lock)
    return prior


cdef uint32_t _most_visited(SearchC* search, uint32_t index, action_t* action):
    """Return the child of a node's most visited edge, NO_NODE if there is none, and write the edge's action."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef EdgeC* edges
    cdef uint32_t child = NO_NODE, visits = 0
    cdef int i
    with nogil:
        spin_lock(&node.lock)
        edges = graph_edges(&search.graph, node)
        for i in range(node.num_edges):
            if edges[i].visits > visits and edges[i].child != NO_NODE:
                visits = edges[i].visits
                child = edges[i].child
                action[0] = edges[i].action
        spin_unlock(&node.lock)
    return child


cdef list _expected_turns(SearchC* search, uint32_t index):
    """Return the whole turns expected after a node: the principal variation, by visits."""
    cdef NodeC* nodes = search.graph.nodes
    cdef action_t action = 0
    cdef uint32_t child
    turns = []
    turn = []
    # (The most visited edges of a game that steps to and fro within a turn may go round.)
    while len(turns) < 2 * search.num_players and len(turn) < MAX_TURN:
        child = _most_visited(search, index, &action)
        if child == NO_NODE or child == SEVERAL_NODES:
            break
        turn.append(action)
        if nodes[child].turn != nodes[index].turn:
            turns.append(turn)
            turn = []
        index = child
    return turns


cdef list reading_decisions(SearchC* search, uint32_t least_visits):
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t index
    decisions = []
    for index in range(1, min(atomic_load_u32(&search.graph.nodes_used), search.graph.node_capacity)):
        if (nodes[index].turn == search.root_turn and nodes[index].player == search.viewer
                and nodes[index].finished >= least_visits):
            edges = _visited_edges(search, index)
            if len(edges) > 1:
                decisions.append({"actions": _path(search, index), "edges": edges,
                                  "utility": search_node_utility(&nodes[index], search.viewer)})
    return decisions


cdef list _path(SearchC* search, uint32_t index):
    """Return the actions by which a node was first reached from the root."""
    cdef NodeC* nodes = search.graph.nodes
    actions = []
    while nodes[index].parent != NO_NODE:
        actions.append(nodes[index].from_action)
        index = nodes[index].parent
    return actions[::-1]


cdef list _visited_edges(SearchC* search, uint32_t index):
    """Return (action, visits, mean utility) of each edge of a node that has visits."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef EdgeC* edges = graph_edges(&search.graph, node)
    cdef int i
    found = []
    for i in range(graph_num_edges(node)):
        if edges[i].visits == 0 or edges[i].child == NO_NODE:
            continue
        utility = (edges[i].utility_sum / edges[i].visits if edges[i].child == SEVERAL_NODES else
                   search_node_utility(&search.graph.nodes[edges[i].child], node.player))
        found.append((edges[i].action, edges[i].visits, utility))
    return found


cdef int reading_check_visits(SearchC* search, int threads, uint64_t iterations) except -1:
    cdef GraphC* graph = &search.graph
    cdef NodeC* node
    cdef EdgeC* edges
    cdef uint32_t index
    cdef uint64_t left
    cdef int i
    cdef bint was_passed, has_ended, is_undone, is_single = threads == 1 and search.policies == NULL
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
                raise SearchError(f"node {index}: an edge taken more often than it was available")
        if node.player < 0:
            if left != 0:
                raise SearchError(f"node {index}: edges where no seat is to move")
            continue
        was_passed = search_continues_turn(search, index) and (
            node.parent == NO_NODE or graph.nodes[node.parent].turn == node.turn)
        has_ended = node.visits > 0 and not was_passed
        if index <= search.num_kept and node.visits == left + 1 - has_ended:
            continue    # an earlier search passed it where this one would have ended, or the other way
        # Any number of descents may end at a proved node. The first one is undone if a proof ends the search before an
        # evaluator has valued its leaf.
        is_undone = atomic_load_u32(&search.proved_at) > 0 and search.gives_scores != 0
        if left + (has_ended and not is_undone) > node.visits or (
                (is_single or was_passed) and left + has_ended < node.visits and not proof_has(search, index)):
            raise SearchError(f"node {index}: {node.visits} visits, {left} left by its edges")
    node = &graph.nodes[search.root]
    if search_own_visits(search, search.root) != iterations:
        raise SearchError(f"root: {node.visits} visits, {iterations} iterations")

"""Reading a result from the graph; contracts in ``reading.pxd``.

Threads may still be searching, so all that they write is read under the nodes' locks or atomically.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from cext.core.search.atomics cimport atomic_load_f64, atomic_load_u32, spin_lock, spin_unlock
from cext.core.contract.game cimport game_apply
from cext.core.search.ends cimport EndC, _Ends, ends_of, ends_path, ends_read_node
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, GraphC, NodeC, graph_edges, graph_find,
                                     graph_num_edges, graph_shared_edge)
from cext.core.search.halving cimport halving_best
from cext.core.search.policies cimport policies_find
from cext.core.search.proof cimport proof_has, proof_is_lost, proof_next
from cext.core.search.worker cimport search_continues_turn, search_key, search_node_utility, search_own_visits
from cext.core.contract.turns cimport MAX_TURN, TurnScratchC, turn_canonical, turn_finish, turn_may_begin
from cext.core.contract.types cimport TERMINAL, action_t

from cext.core.contract.errors import SearchError


cdef list reading_candidates(SearchC* search, int count):
    cdef _Ends ends = ends_of(search)
    best = _proved_first(search, _halving_first(ends, _best_ends(ends, count)))
    return [_describe(ends, index) for index in best] or [_describe_unfinished(search, &ends.scratch)]


cdef list reading_first_actions(SearchC* search):
    cdef NodeC* root = &search.graph.nodes[search.root]
    cdef int i, num_edges = graph_num_edges(root)
    cdef EdgeC* edges = graph_edges(&search.graph, root)
    cdef _Ends ends = ends_of(search)
    cdef uint32_t visits
    found = []
    for i in range(num_edges):
        visits = atomic_load_u32(&edges[i].visits)
        if visits > 0:
            found.append((edges[i].action, visits, edges[i].prior, atomic_load_u32(&edges[i].child)))
    ends.find()
    return [{"action": action, "visits": visits, "prior": prior, "value": _value_after(ends, action, child),
             "is_proved": _is_proved(search, child)}
            for action, visits, prior, child in sorted(found, key=_by_visits)]


def _by_visits(edge):
    return -edge[1], edge[0]


cdef list _value_after(_Ends ends, action_t action, uint32_t child):
    """Return the mean values after an action at the root; none if worlds lead to several nodes within the turn."""
    cdef EndC end
    cdef int i
    if child != SEVERAL_NODES:
        ends_read_node(ends.search, child, &end)
        return _statistics(ends.search, &end)["value"]
    i = ends.place_by(ends.search.root, action)
    return _statistics(ends.search, &ends.shared[i].end)["value"] if i >= 0 else []


cdef bint _is_proved(SearchC* search, uint32_t child):
    """Return whether the node to which an edge leads is proved."""
    return child != NO_NODE and child != SEVERAL_NODES and proof_has(search, child)


cdef int reading_num_turns(SearchC* search) except -1:
    cdef _Ends ends = ends_of(search)
    ends.find()
    return ends.num_turns()


cdef bint _ends_are_exact(SearchC* search):
    """Return whether every end of the root's turn found so far is the end of the game, with a single outcome."""
    cdef GraphC* graph = &search.graph
    cdef uint32_t index = atomic_load_u32(&graph.first_end)
    while index != NO_NODE:
        if graph.nodes[index].player != TERMINAL:
            return False
        index = atomic_load_u32(&graph.nodes[index].next_end)
    return not search.several_worlds


cdef list _best_ends(_Ends ends, int count):
    """Return the best ends of the root's turn: by visits, then by value, then by order of discovery.

    Each is its most visited node. If all of them end the game, one visit gives the exact value. Then the value comes
    before the visits. An end that is proved to be lost comes after all others, whatever its visits before.
    """
    cdef SearchC* search = ends.search
    cdef GraphC* graph = &search.graph
    cdef uint32_t index = atomic_load_u32(&graph.first_end), visits
    cdef uint32_t least = 0
    cdef bint is_exact = _ends_are_exact(search)
    cdef double utility, lowest = -1
    # 4 * count must not overflow.
    count = min(count, <int>atomic_load_u32(&graph.num_ends))
    best = []
    if count == 0:
        return best
    while index != NO_NODE:
        visits = atomic_load_u32(&graph.nodes[index].finished)
        if visits == 0 or graph_shared_edge(graph, index) != NULL:
            pass
        elif is_exact:
            utility = _settled_utility(search, index)
            if utility >= lowest:
                best.append((-utility, -<double>visits, index))
        elif len(best) < count or visits >= least:
            if search.solves and proof_is_lost(search, index):
                visits = 0
            utility = search_node_utility(&graph.nodes[index], search.viewer)
            best.append((-<double>visits, -utility, index))
        if len(best) >= 4 * count:
            best = sorted(best)[:count]
            if is_exact:
                lowest = -best[count - 1][0]
            else:
                least = <uint32_t>-best[count - 1][0]
        index = atomic_load_u32(&graph.nodes[index].next_end)
    # Only now: when the first node of an end was read, another one may not have been known.
    ends.find()
    best = [entry for entry in best if ends.place(entry[2]) < 0] + ends.ranked()
    return [entry[2] for entry in sorted(best)[:count]]


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
    return _with_first(ends, index)


cdef list _with_first(list ends, uint32_t first):
    """Return the ends, as many as before but one at least, with one of them before the others."""
    return [first, *[end for end in ends if end != first]][:max(1, len(ends))]


cdef list _halving_first(_Ends ends, list best):
    """Return the best ends with that of the best candidate of the sequential halving first, if there is one.

    Exact values come before its scores, in which priors count, too; one that is proved to be lost stays where it is.
    """
    cdef SearchC* search = ends.search
    cdef EndC end
    cdef uint32_t index
    if _ends_are_exact(search):
        return best
    index = _end_of_halving(search)
    if index == NO_NODE:
        return best     # none, or one whose first descent is not backed up yet
    ends.read(index, &end)
    if end.visits == 0 or (search.solves and not end.may_win):
        return best
    return _with_first(best, end.index)


cdef uint32_t _end_of_halving(SearchC* search):
    """Return the end, a node with visits, to which the best candidate of the sequential halving leads."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t parent = search.root, index
    cdef action_t action = 0
    cdef int left = MAX_TURN    # as in `_proved_first`
    with nogil:
        index = halving_best(search, &action)
    while index != NO_NODE and index != SEVERAL_NODES and nodes[index].turn == search.root_turn and left > 0:
        parent = index
        index = _most_visited(search, parent, &action)
        left -= 1
    if index == SEVERAL_NODES:
        with nogil:
            index = _most_visited_end(search, parent, action)
    if index == NO_NODE or nodes[index].turn == search.root_turn or atomic_load_u32(&nodes[index].finished) == 0:
        return NO_NODE
    return index


cdef uint32_t _most_visited_end(SearchC* search, uint32_t parent, action_t action) noexcept nogil:
    """Return the most visited end of the root's turn behind an action of a node, NO_NODE if none has visits."""
    cdef NodeC* nodes = search.graph.nodes
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end), node, visits, most = 0, found = NO_NODE
    while index != NO_NODE:
        visits = atomic_load_u32(&nodes[index].finished)
        if visits > most:
            node = index
            while node != NO_NODE and (nodes[node].parent != parent or nodes[node].from_action != action):
                node = nodes[node].parent
            if node != NO_NODE:
                most = visits
                found = index
        index = atomic_load_u32(&nodes[index].next_end)
    return found


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


cdef dict _describe(_Ends ends, uint32_t index):
    """Return the candidate for an end of the root's turn, with its actions in canonical form.

    What follows an end of several nodes depends on what it shows, so it has no line.
    """
    cdef SearchC* search = ends.search
    cdef GraphC* graph = &search.graph
    cdef action_t actions[MAX_TURN]     # both loops end there
    cdef uint32_t node = index, parent
    cdef int n = 0, i, _, depth = 0
    cdef double prior = 1.0
    cdef EndC end
    cdef bint is_shared = ends.read(index, &end)
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
        n = turn_canonical(search.ops, search.root_state, actions, n, &ends.scratch)
    turn = [actions[i] for i in range(n)]
    forecast = [*_forecast(search, turn, &ends.scratch), _statistics(search, &end)]
    return {"actions": turn, "prior": prior, "line": [] if is_shared else _expected_turns(search, index),
            "is_proved": not is_shared and proof_has(search, index),
            **_statistics(search, &end), **_errors(search, &end), "forecast": forecast}


cdef list _forecast(SearchC* search, list actions, TurnScratchC* scratch):
    """Return the statistics before a turn and after each of its actions but the last one.

    The search may have played them in another order: nodes are found by their states. Without a node, no visits.
    """
    cdef char* state = scratch.states
    cdef int last = len(actions) - 1, i
    cdef EndC end
    ends_read_node(search, search.root, &end)
    found = [_statistics(search, &end)]
    memcpy(state, search.root_state, search.ops.state_size)
    for i in range(last):
        game_apply(search.ops, state, actions[i])
        ends_read_node(search, graph_find(&search.graph, search_key(search.ops, state, search.viewer)), &end)
        found.append(_statistics(search, &end))
    return found


cdef dict _statistics(SearchC* search, const EndC* end):
    """Return visits, mean values and mean final scores of an end or a node; empty lists if it has no visits."""
    cdef int seat
    seats = range(search.num_players if end.visits else 0)
    value = [end.value_sum[seat] / end.visits for seat in seats]
    scores = [end.score_sum[seat] / end.visits for seat in seats]
    return {"visits": int(end.visits), "value": value, "expected_scores": scores}


cdef dict _errors(SearchC* search, const EndC* end):
    """Return the standard errors of the means of an end of the root's turn; none with less than two visits.

    The descents of an earlier search count in the mean; how they deviate from it is not known, so it is taken to be as
    those of this search do.
    """
    # The first descent of all deviates from nothing.
    cdef double deviations = end.own_visits - (0 if end.is_kept else 1)
    cdef int seat
    seats = range(search.num_players if deviations > 0 and end.index != search.root else 0)
    return {"value_error": [sqrt(end.value_spread[seat] / deviations / end.visits) for seat in seats],
            "expected_scores_error": [sqrt(end.score_spread[seat] / deviations / end.visits) for seat in seats]}


cdef dict _describe_unfinished(SearchC* search, TurnScratchC* scratch):
    """Return a candidate when no end of the turn was reached: the most visited actions, completed by the policy."""
    cdef action_t actions[MAX_TURN]     # both loops end there
    cdef int n = 0, i
    cdef double prior = 1.0
    cdef uint32_t index = search.root, child
    cdef EndC end
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
    turn = [actions[i] for i in range(n)]
    ends_read_node(search, search.root, &end)
    return {"actions": turn, "prior": prior, "line": [], "is_proved": proof_has(search, search.root),
            **_statistics(search, &end), **_errors(search, &end), "forecast": _forecast(search, turn, scratch)}


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
                decisions.append({"actions": ends_path(search, index), "edges": edges,
                                  "utility": search_node_utility(&nodes[index], search.viewer)})
    return decisions


cdef list _visited_edges(SearchC* search, uint32_t index):
    """Return (action, visits, mean utility) of each edge of a node that has visits."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef int i, num_edges = graph_num_edges(node)
    cdef EdgeC* edges = graph_edges(&search.graph, node)    # after their number, see graph.pxd
    cdef uint32_t visits, child
    found = []
    for i in range(num_edges):
        visits = atomic_load_u32(&edges[i].visits)
        child = atomic_load_u32(&edges[i].child)
        if visits == 0 or child == NO_NODE:
            continue
        utility = (atomic_load_f64(&edges[i].utility_sum) / visits if child == SEVERAL_NODES else
                   search_node_utility(&search.graph.nodes[child], node.player))
        found.append((edges[i].action, visits, utility))
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

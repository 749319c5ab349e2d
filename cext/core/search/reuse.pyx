"""Going on from an earlier search; contracts in ``reuse.pxd``."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from cext.core.contract.rng cimport MIX_STEP
from cext.core.contract.types cimport CHANCE, action_t
from cext.core.search.atomics cimport monotonic_s
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, GraphC, NodeC, graph_add_end, graph_edges,
                                     graph_expect, graph_find, graph_find_or_add, graph_grow_edges, graph_num_edges)
from cext.core.search.history cimport history_t
from cext.core.search.options cimport OptionsC
from cext.core.search.proof cimport UNPROVED
from cext.core.search.turn_search cimport NEVER_S
from cext.core.search.worker cimport SearchC, search_key

cdef enum:
    MOST_TURNS = 32             # between the two roots, at most; random events count as turns
    MOST_ROUNDS = 2             # between them, where only the history is taken over

cdef double COPY_S = 1e-6       # time that copying a node takes, twice what was measured
cdef double LOOK_S = 5e-8       # and looking at one: two reads that no cache holds


# The nodes of the earlier graph, by their indexes.
ctypedef struct PartC:
    uint32_t* place             # index in the new graph; NO_NODE: not kept
    uint32_t* first_child       # of the nodes that were first reached from this one
    uint32_t* next_child
    uint32_t* order             # the nodes that are kept, by their new indexes less 1
    uint32_t* parent            # of each of `order`: the new index of the node from which it is reached
    action_t* action            # and by which action
    uint32_t count


cdef bint reuse_is_possible(const SearchC* search, const SearchC* before) noexcept nogil:
    cdef OptionsC options = before.options
    options.confirming_share = search.options.confirming_share
    options.early_stop = search.options.early_stop
    return (search.ops == before.ops and search.num_players == before.num_players and search.viewer == before.viewer
            and search.weights == before.weights and search.policies == NULL and before.policies == NULL
            and search.num_first == 0 and before.num_first == 0
            and search.options.halving < 2 and search.options.prior_noise == 0
            and memcmp(&options, &search.options, sizeof(OptionsC)) == 0)


cdef inline bint _begins_turn(const GraphC* graph, uint32_t index) noexcept nogil:
    cdef uint32_t parent = graph.nodes[index].parent
    # A random event ends a turn, and is one itself only where no seat is to move before it.
    return parent != NO_NODE and (graph.nodes[parent].turn != graph.nodes[index].turn
                                  or graph.nodes[parent].player == CHANCE)


cdef uint32_t _find_root(const SearchC* search, const SearchC* before, int* turn) noexcept nogil:
    """Return the node of the new root in the earlier graph, NO_NODE without one, and write its turn there."""
    cdef uint64_t key = search_key(search.ops, search.root_state, search.viewer)
    cdef int player = search.ops.current_player(search.root_state), i
    cdef uint32_t index
    key -= <uint64_t>search.root_turn * MIX_STEP
    for i in range(MOST_TURNS + 1):
        turn[0] = before.root_turn + i
        index = graph_find(&before.graph, key + <uint64_t>turn[0] * MIX_STEP)
        if (index != NO_NODE and before.graph.nodes[index].turn == turn[0]
                and before.graph.nodes[index].player == player and before.graph.nodes[index].finished > 0):
            # Within a turn a policy leaves out what would have been played earlier in it, so its nodes depend on where
            # the turn began.
            return index if index == before.root or _begins_turn(&before.graph, index) else NO_NODE
    return NO_NODE


cdef int _next_turn(const SearchC* before) noexcept nogil:
    """Return the first turn after its root's in which the searching seat moves, as far as its graph shows."""
    cdef int turn = before.root_turn + before.num_players
    cdef uint32_t index
    for index in range(1, before.graph.nodes_used):
        if (before.graph.nodes[index].player == before.viewer and before.graph.nodes[index].finished > 0
                and before.root_turn < before.graph.nodes[index].turn < turn):
            turn = before.graph.nodes[index].turn
    return turn


cdef bint _may_be_later(const SearchC* search, const SearchC* before) noexcept nogil:
    """Return whether the new position can be the next one of the same game, as far as the rounds tell."""
    cdef int rounds = search.ops.round(search.root_state) - search.ops.round(before.root_state)
    return 0 <= rounds <= MOST_ROUNDS


cdef void _take_history(SearchC* search, SearchC* before, int shift) noexcept nogil:
    """Take over the history; turns of the new search are those of the earlier one plus `shift`."""
    cdef history_t* own = search.history
    if own == NULL or before.history == NULL:
        return
    search.history = before.history
    before.history = own        # freed with that search
    search.history_turn = before.history_turn + shift


cdef int _begin_part(PartC* part, uint32_t num_nodes) noexcept nogil:
    memset(part, 0, sizeof(PartC))
    part.place = <uint32_t*>calloc(num_nodes, sizeof(uint32_t))
    part.first_child = <uint32_t*>calloc(num_nodes, sizeof(uint32_t))
    part.next_child = <uint32_t*>calloc(num_nodes, sizeof(uint32_t))
    part.order = <uint32_t*>malloc(num_nodes * sizeof(uint32_t))
    part.parent = <uint32_t*>malloc(num_nodes * sizeof(uint32_t))
    part.action = <action_t*>malloc(num_nodes * sizeof(action_t))
    if (part.place == NULL or part.first_child == NULL or part.next_child == NULL or part.order == NULL
            or part.parent == NULL or part.action == NULL):
        _end_part(part)
        return -1
    return 0


cdef void _end_part(PartC* part) noexcept nogil:
    free(part.place)
    free(part.first_child)
    free(part.next_child)
    free(part.order)
    free(part.parent)
    free(part.action)


cdef inline void _reach(PartC* part, const GraphC* graph, uint32_t index, uint32_t parent,
                        action_t action) noexcept nogil:
    """Keep a node with visits, unless it is kept already."""
    if index == NO_NODE or index == SEVERAL_NODES or part.place[index] != NO_NODE or graph.nodes[index].finished == 0:
        return
    part.order[part.count] = index
    part.parent[part.count] = parent
    part.action[part.count] = action
    part.count += 1
    part.place[index] = part.count


cdef void _reach_all(PartC* part, GraphC* graph, uint32_t root) noexcept nogil:
    """Find all that can be reached from a node, nearest first: by edges, and what was first reached from there.

    The latter are the outcomes of random events, and nodes behind actions that lead to several.
    """
    cdef NodeC* node
    cdef EdgeC* edges
    cdef uint32_t index, child, next = 0
    cdef int i
    for index in range(graph.nodes_used - 1, 0, -1):
        child = graph.nodes[index].parent
        part.next_child[index] = part.first_child[child]
        part.first_child[child] = index
    _reach(part, graph, root, NO_NODE, 0)
    while next < part.count:
        index = part.order[next]
        next += 1
        node = graph.nodes + index
        edges = graph_edges(graph, node)
        for i in range(graph_num_edges(node)):
            if edges[i].visits > 0:
                _reach(part, graph, edges[i].child, next, edges[i].action)
        child = part.first_child[index]
        while child != NO_NODE:
            _reach(part, graph, child, next, graph.nodes[child].from_action)
            child = part.next_child[child]


cdef int _copy_node(SearchC* search, GraphC* graph, const PartC* part, uint32_t number, int shift) noexcept nogil:
    """Add a node that is kept to the new graph, with its statistics and edges."""
    cdef NodeC* old = graph.nodes + part.order[number]
    cdef EdgeC* edges = graph_edges(graph, old)
    cdef NodeC* node
    cdef EdgeC* copied
    cdef int i, num_edges = graph_num_edges(old)
    cdef uint32_t parent = part.parent[number]
    cdef uint64_t key = old.key + <uint64_t>shift * MIX_STEP
    cdef bint is_new
    cdef uint32_t index = graph_find_or_add(&search.graph, key, old.player, old.turn + shift, parent,
                                            part.action[number], &is_new)
    if index != number + 1:
        return -1
    node = search.graph.nodes + index
    node[0] = old[0]
    node.key = key
    node.turn = old.turn + shift
    node.parent = parent
    node.from_action = part.action[number]
    node.next_end = NO_NODE
    if node.proof != UNPROVED:
        node.outcome = part.place[old.outcome]
        if node.outcome == NO_NODE:
            node.proof = UNPROVED
    node.lock = node.first_edge = 0
    node.num_edges = node.max_edges = 0
    memset(node.value_spread, 0, sizeof(node.value_spread))
    memset(node.score_spread, 0, sizeof(node.score_spread))
    search.kept[index] = node.finished
    if num_edges > 0:
        if graph_grow_edges(&search.graph, node, num_edges) < 0:
            return -1
        copied = graph_edges(&search.graph, node)
        memcpy(copied, edges, num_edges * sizeof(EdgeC))
        for i in range(num_edges):
            if copied[i].child == SEVERAL_NODES:
                search.graph.ends_differ |= node.turn == search.root_turn
            elif copied[i].child != NO_NODE:
                copied[i].child = part.place[copied[i].child]
        node.num_edges = <uint16_t>num_edges
    if parent != NO_NODE and search.graph.nodes[parent].turn == search.root_turn and node.turn != search.root_turn:
        graph_add_end(&search.graph, index)
    return 0


cdef int _copy(SearchC* search, SearchC* before, const PartC* part, double num_nodes, int shift) noexcept nogil:
    cdef uint32_t number
    cdef uint32_t* unused = search.kept
    cdef uint32_t* kept = <uint32_t*>calloc(part.count + 1, sizeof(uint32_t))
    cdef int status = 0
    if kept == NULL:
        return -1
    search.kept = kept
    graph_expect(&search.graph, part.count + num_nodes)
    search.num_kept = part.count
    for number in range(part.count):
        status = _copy_node(search, &before.graph, part, number, shift)
        if status < 0:
            break
    free(unused)        # not before: another thread may have been about to read it
    if status < 0:
        return -1
    search.root = 1
    search.events_bits = before.events_bits
    search.events_key = before.events_key + <uint64_t>shift * MIX_STEP
    return 0


cdef uint64_t _num_edges(const GraphC* graph, const PartC* part) noexcept nogil:
    cdef uint64_t edges = 0
    cdef uint32_t number
    for number in range(part.count):
        edges += graph.nodes[part.order[number]].num_edges
    return edges


cdef bint _has_time(const SearchC* search, double seconds) noexcept nogil:
    """Return whether this is at most half of the time that is left."""
    return search.limits.deadline_s >= NEVER_S or seconds < 0.5 * (search.limits.deadline_s - monotonic_s())


cdef int reuse_take(SearchC* search, SearchC* before, double num_nodes) noexcept nogil:
    cdef PartC part
    cdef int turn, shift, status = 0
    cdef uint32_t root = _find_root(search, before, &turn)
    cdef bint may_look = _has_time(search, before.graph.nodes_used * LOOK_S)
    if root == NO_NODE:
        if may_look and _may_be_later(search, before):
            _take_history(search, before, search.root_turn - _next_turn(before))
        return 0
    shift = search.root_turn - turn
    _take_history(search, before, shift)
    if not may_look:
        return 0
    if _begin_part(&part, before.graph.nodes_used) < 0:
        return -1
    _reach_all(&part, &before.graph, root)
    if (part.count < search.graph.node_capacity // 2 and _has_time(search, part.count * COPY_S)
            and _num_edges(&before.graph, &part) < search.graph.edge_capacity // 2):
        status = _copy(search, before, &part, num_nodes, shift)
    _end_part(&part)
    return status

"""The search graph's memory. Contracts in ``graph.pxd``."""

from libc.string cimport memcpy

from cext.core.search.atomics cimport atomic_add_u32, atomic_cas_u32, atomic_load_u32, atomic_store_u32
from cext.core.search.memory cimport memory_expect, memory_release, memory_reserve

cdef enum:
    # Edges for which there is memory. With hundreds of legal actions a node uses 10 to 15 on average, including the
    # blocks that it has outgrown.
    EDGES_PER_NODE = 12
    LEAST_SLOTS = 1024          # of a level
    LEVEL_GROWTH = 8            # slots of a level to those of the one before, at least


cdef int graph_init(GraphC* graph, double memory_mb) noexcept nogil:
    # At least two slots for each node keep probing short; levels before the last one have a seventh more at most.
    cdef double bytes_per_node = sizeof(NodeC) + EDGES_PER_NODE * sizeof(EdgeC) + 5 * sizeof(uint32_t)
    cdef double capacity = memory_mb * 1024 * 1024 / bytes_per_node
    if capacity > 200e6:
        capacity = 200e6
    graph.node_capacity = <uint32_t>capacity if capacity > 64 else 64
    graph.edge_capacity = graph.node_capacity * EDGES_PER_NODE
    if graph.edge_capacity < 8192:
        graph.edge_capacity = 8192
    graph.num_levels = 0
    graph.nodes_used = 1
    graph.edges_used = 0
    graph.nodes_spare = 0
    graph.first_end = NO_NODE
    graph.num_ends = 0
    graph.ends_differ = 0
    graph.table_capacity = _slots_for(graph.node_capacity) // (LEVEL_GROWTH - 1) * LEVEL_GROWTH + LEAST_SLOTS
    graph.nodes = <NodeC*>memory_reserve(graph.node_capacity * sizeof(NodeC))
    graph.edges = <EdgeC*>memory_reserve(graph.edge_capacity * sizeof(EdgeC))
    graph.table = <uint32_t*>memory_reserve(graph.table_capacity * sizeof(uint32_t))
    if graph.nodes == NULL or graph.edges == NULL or graph.table == NULL:
        graph_free(graph)
        return -1
    return 0


cdef uint32_t _slots_for(uint32_t num_nodes) noexcept nogil:
    """Return the slots of a level for so many nodes: at least two for each."""
    cdef uint32_t slots = LEAST_SLOTS
    while slots < 2 * num_nodes:
        slots *= 2
    return slots


cdef void graph_expect(GraphC* graph, double num_nodes) noexcept nogil:
    cdef uint32_t nodes = <uint32_t>min(num_nodes, <double>graph.node_capacity)
    cdef uint32_t slots = _slots_for(nodes), most = _slots_for(graph.node_capacity), begin = 0
    cdef LevelC* level
    if slots > most // LEVEL_GROWTH:
        slots = most
    while True:
        level = &graph.levels[graph.num_levels]
        level.slots = graph.table + begin
        level.mask = slots - 1
        level.full = slots // 2
        graph.num_levels += 1
        begin += slots
        if slots == most:
            level.full = graph.node_capacity
            break
        slots = slots * LEVEL_GROWTH if slots <= most // (LEVEL_GROWTH * LEVEL_GROWTH) else most
    memory_expect(graph.nodes, graph.node_capacity * sizeof(NodeC), nodes * sizeof(NodeC))
    memory_expect(graph.edges, graph.edge_capacity * sizeof(EdgeC), nodes * EDGES_PER_NODE * sizeof(EdgeC))
    memory_expect(graph.table, graph.table_capacity * sizeof(uint32_t), (graph.levels[0].mask + 1) * sizeof(uint32_t))


cdef void graph_free(GraphC* graph) noexcept nogil:
    memory_release(graph.nodes, graph.node_capacity * sizeof(NodeC), graph.nodes_used * sizeof(NodeC))
    memory_release(graph.edges, graph.edge_capacity * sizeof(EdgeC), graph.edges_used * sizeof(EdgeC))
    memory_release(graph.table, graph.table_capacity * sizeof(uint32_t), _slots_used(graph) * sizeof(uint32_t))
    graph.nodes = NULL
    graph.edges = NULL
    graph.table = NULL


cdef size_t _slots_used(const GraphC* graph) noexcept nogil:
    """Return the slots of the levels that are in use."""
    cdef uint32_t used = atomic_load_u32(&graph.nodes_used)
    cdef size_t slots = 0
    cdef int i
    for i in range(graph.num_levels):
        slots += graph.levels[i].mask + 1
        if used < graph.levels[i].full:
            break
    return slots


cdef uint32_t graph_find_or_add(GraphC* graph, uint64_t key, int player, int turn, uint32_t parent,
                                action_t from_action, bint* is_new) noexcept nogil:
    cdef const LevelC* level = graph.levels
    cdef uint32_t start = <uint32_t>(key ^ (key >> 32)), slot = start & level.mask
    cdef uint32_t found, mine = NO_NODE
    cdef NodeC* node
    is_new[0] = False
    while True:
        found = atomic_load_u32(&level.slots[slot])
        if found == NEXT_LEVEL:
            level += 1
            slot = start & level.mask
            continue
        if found == NO_NODE:
            if mine == NO_NODE:
                if level.full < graph.node_capacity and atomic_load_u32(&graph.nodes_used) >= level.full:
                    # If another thread has taken the slot, the next look at it finds its node.
                    atomic_cas_u32(&level.slots[slot], NO_NODE, NEXT_LEVEL)
                    continue
                if atomic_load_u32(&graph.nodes_used) >= graph.node_capacity:
                    return NO_NODE
                mine = atomic_add_u32(&graph.nodes_used, 1)
                if mine >= graph.node_capacity:
                    atomic_add_u32(&graph.nodes_used, <uint32_t>-1)
                    return NO_NODE
                node = graph.nodes + mine
                node.key = key
                node.player = player
                node.turn = turn
                node.parent = parent
                node.from_action = from_action
                node.num_legal = UNKNOWN
            if atomic_cas_u32(&level.slots[slot], NO_NODE, mine):
                is_new[0] = True
                return mine
            continue        # another thread took the slot: look at its node
        if graph.nodes[found].key == key:
            if mine != NO_NODE:
                atomic_add_u32(&graph.nodes_spare, 1)
            return found
        slot = (slot + 1) & level.mask


cdef uint32_t graph_find(const GraphC* graph, uint64_t key) noexcept nogil:
    cdef const LevelC* level = graph.levels
    cdef uint32_t start = <uint32_t>(key ^ (key >> 32)), slot = start & level.mask
    cdef uint32_t found
    if graph.num_levels == 0:
        return NO_NODE
    found = atomic_load_u32(&level.slots[slot])
    while found != NO_NODE and (found == NEXT_LEVEL or graph.nodes[found].key != key):
        if found == NEXT_LEVEL:
            level += 1
            slot = start & level.mask
        else:
            slot = (slot + 1) & level.mask
        found = atomic_load_u32(&level.slots[slot])
    return found


cdef int graph_grow_edges(GraphC* graph, NodeC* node, int max_edges) noexcept nogil:
    cdef uint32_t first
    # Compare and swap: with an addition that is undone, another thread's block could begin within this one.
    while True:
        first = atomic_load_u32(&graph.edges_used)
        if <uint32_t>max_edges > graph.edge_capacity - first:
            return -1
        if atomic_cas_u32(&graph.edges_used, first, first + <uint32_t>max_edges):
            break
    memcpy(graph.edges + first, graph.edges + node.first_edge, node.num_edges * sizeof(EdgeC))
    atomic_store_u32(&node.first_edge, first)
    node.max_edges = <uint16_t>max_edges
    return 0


cdef void graph_add_end(GraphC* graph, uint32_t index) noexcept nogil:
    cdef uint32_t head
    while True:
        head = atomic_load_u32(&graph.first_end)
        atomic_store_u32(&graph.nodes[index].next_end, head)
        if atomic_cas_u32(&graph.first_end, head, index):
            atomic_add_u32(&graph.num_ends, 1)
            return


cdef const EdgeC* graph_shared_edge(GraphC* graph, uint32_t index) noexcept nogil:
    cdef const NodeC* end = graph.nodes + index
    cdef const NodeC* parent = graph.nodes + end.parent
    cdef const EdgeC* edges
    cdef int i, num_edges
    if not atomic_load_u32(&graph.ends_differ):
        return NULL
    num_edges = graph_num_edges(parent)
    edges = graph_edges(graph, parent)
    for i in range(num_edges):
        if edges[i].action == end.from_action:
            if atomic_load_u32(&edges[i].child) == SEVERAL_NODES:
                return &edges[i]
            break
    return NULL


cdef uint64_t graph_memory(const GraphC* graph) noexcept nogil:
    return (atomic_load_u32(&graph.nodes_used) * sizeof(NodeC) + atomic_load_u32(&graph.edges_used) * sizeof(EdgeC)
            + _slots_used(graph) * sizeof(uint32_t))

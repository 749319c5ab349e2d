"""The search graph's memory. Contracts in ``graph.pxd``."""

from libc.string cimport memcpy

from cext.core.search.atomics cimport atomic_add_u32, atomic_cas_u32, atomic_load_u32, atomic_store_u32
from cext.core.search.memory cimport memory_release, memory_reserve

cdef enum:
    # Edges for which there is memory. With hundreds of legal actions a node uses 10 to 15 on average, including the
    # blocks that it has outgrown.
    EDGES_PER_NODE = 12


cdef int graph_init(GraphC* graph, double memory_mb) noexcept nogil:
    # At least two slots for each node keep probing short.
    cdef double bytes_per_node = sizeof(NodeC) + EDGES_PER_NODE * sizeof(EdgeC) + 4 * sizeof(uint32_t)
    cdef double capacity = memory_mb * 1024 * 1024 / bytes_per_node
    cdef uint32_t slots = 1024
    if capacity > 200e6:
        capacity = 200e6
    graph.node_capacity = <uint32_t>capacity if capacity > 64 else 64
    graph.edge_capacity = graph.node_capacity * EDGES_PER_NODE
    if graph.edge_capacity < 8192:
        graph.edge_capacity = 8192
    while slots < 2 * graph.node_capacity:
        slots *= 2
    graph.table_mask = slots - 1
    graph.nodes_used = 1
    graph.edges_used = 0
    graph.nodes_spare = 0
    graph.first_end = NO_NODE
    graph.num_ends = 0
    graph.size = (graph.node_capacity * sizeof(NodeC) + graph.edge_capacity * sizeof(EdgeC)
                  + slots * sizeof(uint32_t))
    graph.nodes = <NodeC*>memory_reserve(graph.size)
    if graph.nodes == NULL:
        return -1
    graph.edges = <EdgeC*>(graph.nodes + graph.node_capacity)
    graph.table = <uint32_t*>(graph.edges + graph.edge_capacity)
    return 0


cdef void graph_free(GraphC* graph) noexcept nogil:
    memory_release(graph.nodes, graph.size)
    graph.nodes = NULL
    graph.edges = NULL
    graph.table = NULL


cdef uint32_t graph_find_or_add(GraphC* graph, uint64_t key, int player, int turn, uint32_t parent,
                                action_t from_action, bint* is_new) noexcept nogil:
    cdef uint32_t slot = <uint32_t>(key ^ (key >> 32)) & graph.table_mask
    cdef uint32_t found, mine = NO_NODE
    cdef NodeC* node
    is_new[0] = False
    while True:
        found = atomic_load_u32(&graph.table[slot])
        if found == NO_NODE:
            if mine == NO_NODE:
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
            if atomic_cas_u32(&graph.table[slot], NO_NODE, mine):
                is_new[0] = True
                return mine
            continue        # another thread took the slot: look at its node
        if graph.nodes[found].key == key:
            if mine != NO_NODE:
                atomic_add_u32(&graph.nodes_spare, 1)
            return found
        slot = (slot + 1) & graph.table_mask


cdef uint32_t graph_find(const GraphC* graph, uint64_t key) noexcept nogil:
    cdef uint32_t slot = <uint32_t>(key ^ (key >> 32)) & graph.table_mask
    cdef uint32_t found = atomic_load_u32(&graph.table[slot])
    while found != NO_NODE and graph.nodes[found].key != key:
        slot = (slot + 1) & graph.table_mask
        found = atomic_load_u32(&graph.table[slot])
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


cdef uint64_t graph_memory(const GraphC* graph) noexcept nogil:
    return (atomic_load_u32(&graph.nodes_used) * sizeof(NodeC) + atomic_load_u32(&graph.edges_used) * sizeof(EdgeC)
            + (<uint64_t>graph.table_mask + 1) * sizeof(uint32_t))

"""The search graph: nodes keyed by hash, so that permutations of commuting actions meet. Knows no game, no search.

Memory is one block with three arrays, for nodes, edges and the hash table, reserved at the start and committed by the
operating system as it is touched. Indexes are 32 bits; index 0 is no node.

Threads: statistics and edges of a node are written under its lock, but for `visits`, which is atomic. `visits`, the
sums and an edge's fields may be read without it; each value may then be a moment old. A node that outgrows its block of
edges gets a new one; the old block is never reused, so it stays readable, and an edge keeps its index. Code that reads
without the lock calls `graph_num_edges` first, then `graph_edges`.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from cext.core.atomics cimport CACHE_LINE, atomic_load_u16, atomic_load_u32
from cext.core.types cimport MAX_SEATS, action_t

cdef enum:
    NO_NODE = 0
    SEVERAL_NODES = 0xffffffff      # the edge has led to different nodes, in different worlds


# 32 bytes.
ctypedef struct EdgeC:
    action_t action
    double utility_sum          # of the seat to move, over the finished descents through this edge
    float prior                 # share of the policy's weight, (0, 1]
    uint32_t visits             # descents through this edge, those under way included
    uint32_t available          # descents that came by while the action was legal and in view
    uint32_t child              # node it leads to, NO_NODE before the first descent, or SEVERAL_NODES


# 192 bytes, three cache lines: selection reads a single one of each child.
ctypedef struct NodeC:
    # what selection needs of a child, and what changes in every descent
    uint64_t key                # hash of what the searching seat may know of the state
    double utility_sum[MAX_SEATS]   # what the search maximises, [0, 1] a descent
    uint32_t lock
    uint32_t visits             # descents to or through the node, those under way included
    uint32_t finished           # descents backed up: what the sums are divided by
    uint32_t first_edge         # index of its block of edges
    int32_t num_legal           # legal actions of its state; -1 while not expanded
    uint16_t num_edges          # edges in its block: by the rank they had when they came, see search
    uint16_t max_edges          # length of its block
    # what only the result reads
    double value_sum[MAX_SEATS]     # share of the win, [0, 1] a descent
    double score_sum[MAX_SEATS]     # final score in game points
    # what stays as it is, but for next_end
    uint32_t parent             # node from which it was first reached, NO_NODE for the root
    uint32_t next_end           # next in the list of ends of the root's turn, NO_NODE at its end
    action_t from_action        # action by which it was first reached
    int32_t turn                # GameOps.turn of its state
    int32_t player              # seat to move, or TERMINAL
    uint8_t unused[40]


cdef struct GraphC:
    NodeC* nodes                # also the start of the whole block
    EdgeC* edges
    uint32_t* table             # open addressing, linear probing; holds node indexes
    size_t size                 # of the whole block, bytes
    uint32_t node_capacity
    uint32_t edge_capacity
    uint32_t table_mask
    # What is above never changes and is read all the time; what is below changes.
    uint8_t padding_before[CACHE_LINE]
    uint32_t nodes_used         # next free index; index 0 is never used
    uint32_t edges_used
    uint32_t nodes_spare        # taken but lost in a race, not part of the graph
    uint32_t first_end          # list of the distinct ends of the root's turn
    uint32_t num_ends
    uint8_t padding_after[CACHE_LINE]


# Reserves a graph of about memory_mb MiB. Returns 0, or -1 without memory.
cdef int graph_init(GraphC* graph, double memory_mb) noexcept nogil

# Gives the memory back, in the background.
cdef void graph_free(GraphC* graph) noexcept nogil

# Finds the node of a key or adds it (is_new is set then; its statistics are zero). NO_NODE when memory is used up.
cdef uint32_t graph_find_or_add(GraphC* graph, uint64_t key, int player, int turn, uint32_t parent,
                                action_t from_action, bint* is_new) noexcept nogil

# Gives a node a block of max_edges edges, keeping those it has. Under its lock; the caller fills the new ones and then
# raises num_edges. Returns 0, or -1 without memory.
cdef int graph_grow_edges(GraphC* graph, NodeC* node, int max_edges) noexcept nogil

# Adds a node to the list of ends of the root's turn.
cdef void graph_add_end(GraphC* graph, uint32_t index) noexcept nogil

cdef inline EdgeC* graph_edges(GraphC* graph, const NodeC* node) noexcept nogil:
    return graph.edges + atomic_load_u32(&node.first_edge)

cdef inline int graph_num_edges(const NodeC* node) noexcept nogil:
    return atomic_load_u16(&node.num_edges)

# Bytes touched so far.
cdef uint64_t graph_memory(const GraphC* graph) noexcept nogil

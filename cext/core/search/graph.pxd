"""The search graph: nodes are found by hash, so different orders of the same actions lead to the same node. It does not
depend on the game or on the search.

Memory is three blocks: nodes, edges and the hash table. They are reserved at the start; the operating system commits
them as they are touched. Indexes have 32 bits; index 0 is no node.

The table is as large as the search needs it, for where its keys lie is random, so all of it is touched soon. It has
levels: one for as many nodes as are expected, and larger ones for the case that there are more. Nothing moves when a
level is full: a key whose probe ends in an empty slot of it marks the slot, and goes on in the next level. No key lies
behind the slot, and all later probes of the key find the mark, so every key has one place, whatever threads do.

Threads: statistics and edges of a node are written under its lock, except `visits`, which is atomic. `visits`, the sums
and the fields of an edge may be read without the lock; each value may be slightly out of date. A node that outgrows its
block of edges gets a new block. The old block is never reused, so it stays readable, and an edge keeps its index. Code
that reads without the lock calls `graph_num_edges` first, then `graph_edges`.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from cext.core.search.atomics cimport CACHE_LINE, atomic_load_u16, atomic_load_u32
from cext.core.contract.types cimport MAX_SEATS, action_t

cdef enum:
    NO_NODE = 0
    SEVERAL_NODES = 0xffffffff      # the edge has led to different nodes, in different worlds
    NEXT_LEVEL = 0xffffffff         # in the table: a probe that comes here goes on in the next level
    MAX_LEVELS = 8                  # of the table; more than from the least to the largest
    UNKNOWN = 0xffffffff            # number of legal actions


# 32 bytes.
ctypedef struct EdgeC:
    action_t action
    double utility_sum          # of the seat to move, over the descents through this edge that are backed up
    float prior                 # share of the policy's weight, (0, 1]
    uint32_t visits             # descents through this edge, including those not finished
    uint32_t available          # descents that reached the node while the action was legal and in view
    uint32_t child              # the node it leads to; NO_NODE before the first descent; or SEVERAL_NODES


# 192 bytes, three cache lines. Selection reads only the first one of each child.
ctypedef struct NodeC:
    # what selection reads of a child, and what every descent changes
    uint64_t key                # hash of what the searching seat may know about the state
    double utility_sum[MAX_SEATS]   # what the search maximises, [0, 1] for each descent
    uint32_t lock
    uint32_t visits             # descents to or through the node, including those not finished
    uint32_t finished           # descents backed up: what the sums are divided by
    uint32_t first_edge         # index of its block of edges
    uint32_t num_legal          # legal actions of its state; UNKNOWN while not expanded
    uint16_t num_edges          # edges in its block, in the order in which they were added, see `ranking_widen`
    uint16_t max_edges          # length of its block
    # what only the result reads
    double value_sum[MAX_SEATS]     # share of the win, [0, 1] for each descent
    double score_sum[MAX_SEATS]     # final score in game points
    # constant, except next_end and the spreads
    uint32_t parent             # node from which it was first reached, NO_NODE for the root
    uint32_t next_end           # next in the list of ends of the root's turn, NO_NODE at its end
    action_t from_action        # action by which it was first reached
    int32_t turn                # GameOps.turn of its state
    int32_t player              # seat to move, CHANCE or TERMINAL
    # of an end of the root's turn: sums of squared deviations from the mean, of the descents that are backed up
    float value_spread[MAX_SEATS]
    float score_spread[MAX_SEATS]
    # see proof.pxd
    uint32_t outcome            # the end of the game to which best play leads, once the node is proved
    uint16_t proof
    uint8_t worlds
    uint8_t actions


# A level of the hash table: open addressing, linear probing; holds node indexes.
ctypedef struct LevelC:
    uint32_t* slots
    uint32_t mask               # the number of slots, a power of 2, less 1
    uint32_t full               # nodes of the graph from which on no node is added to it


cdef struct GraphC:
    NodeC* nodes
    EdgeC* edges
    uint32_t* table             # the block of all levels
    uint32_t node_capacity
    uint32_t edge_capacity
    uint32_t table_capacity     # slots
    int num_levels
    LevelC levels[MAX_LEVELS]
    # The fields above never change and are read all the time; the fields below change.
    uint8_t padding_before[CACHE_LINE]
    uint32_t nodes_used         # next free index; index 0 is never used
    uint32_t edges_used
    uint32_t nodes_spare        # reserved by a thread that lost a race; not part of the graph
    uint32_t first_end          # list of the distinct ends of the root's turn
    uint32_t num_ends
    uint32_t ends_differ        # whether an action that ends the root's turn has led to several nodes
    uint8_t padding_after[CACHE_LINE]


# Reserves a graph of about memory_mb MiB, and touches none of it. Returns 0, or -1 if there is no memory.
cdef int graph_init(GraphC* graph, double memory_mb) noexcept nogil

# Before the first node: makes a table for as many nodes as are expected; there may be more.
cdef void graph_expect(GraphC* graph, double num_nodes) noexcept nogil

# Frees the memory, in the background.
cdef void graph_free(GraphC* graph) noexcept nogil

# Finds the node of a key, or adds it and sets is_new; its statistics are zero then. Returns NO_NODE if the memory is
# used up.
cdef uint32_t graph_find_or_add(GraphC* graph, uint64_t key, int player, int turn, uint32_t parent,
                                action_t from_action, bint* is_new) noexcept nogil

# Finds the node of a key; NO_NODE if it has none, or before `graph_expect`.
cdef uint32_t graph_find(const GraphC* graph, uint64_t key) noexcept nogil

# Gives a node a block of max_edges edges and copies those it has. The caller holds the lock, fills the new edges and
# then raises num_edges. Returns 0, or -1 if there is no memory.
cdef int graph_grow_edges(GraphC* graph, NodeC* node, int max_edges) noexcept nogil

# Adds a node to the list of ends of the root's turn.
cdef void graph_add_end(GraphC* graph, uint32_t index) noexcept nogil

# The edge by which an end of the root's turn was first reached, if it leads to other ends in other worlds; else NULL.
# Such an action shows what was hidden, and ends the turn.
cdef const EdgeC* graph_shared_edge(GraphC* graph, uint32_t index) noexcept nogil

# The block of edges of a node.
cdef inline EdgeC* graph_edges(GraphC* graph, const NodeC* node) noexcept nogil:
    return graph.edges + atomic_load_u32(&node.first_edge)

# The number of edges in the block.
cdef inline int graph_num_edges(const NodeC* node) noexcept nogil:
    return atomic_load_u16(&node.num_edges)

# Bytes touched so far.
cdef uint64_t graph_memory(const GraphC* graph) noexcept nogil

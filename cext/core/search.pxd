"""What the threads of a search share and what each owns, for ``search.pyx``, ``ranking.pyx`` and ``reading.pyx``."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t

from cext.core.atomics cimport CACHE_LINE, atomic_load_f64, atomic_load_u32, sem_t
from cext.core.game cimport GameOps
from cext.core.graph cimport GraphC, NodeC
from cext.core.history cimport history_t
from cext.core.options cimport OptionsC
from cext.core.rng cimport MIX_STEP
from cext.core.turn_search cimport LimitsC
from cext.core.types cimport action_t

cdef enum:
    MAX_PATH = 1024             # depth of a descent in actions; deeper ones are evaluated where they are
    NO_EDGE = -1                # in a path: a random event, no choice


# What all threads share.
ctypedef struct SearchC:
    const GameOps* ops
    const void* weights         # of `policy` and `evaluate`; these three are owned by the Python object
    const void* root_state
    LimitsC* limits
    GraphC graph
    OptionsC options
    history_t* history          # HISTORY_SLOTS of them; NULL if nothing is learnt of actions
    int num_players
    int viewer                  # the seat that asks: information sets are its
    int root_turn
    uint32_t root               # node of the root state
    bint several_worlds         # what the viewer may know leaves more than one state
    uint64_t seed_bits          # of the error on priors, and of random events
    int niceness                # added to that of each native thread
    double confirm_s            # when to stop exploring within the root's turn; and after how many iterations
    uint64_t confirm_iterations
    uint32_t is_confirming
    uint32_t workers_running
    sem_t ended                 # posted when the last worker ends
    # What is above hardly changes and is read all the time: `started` has a cache line of its own.
    uint8_t padding_before[CACHE_LINE]
    uint64_t started            # iterations that threads have taken on; counted only where they are limited
    uint8_t padding_after[CACHE_LINE]


# What each thread owns.
ctypedef struct WorkerC:
    SearchC* search
    bitgen_t rng                # a copy of the stream's
    void* state                 # scratch state of the descent
    action_t* actions           # legal actions of a node, max_actions
    float* priors               # their priors
    uint64_t iterations         # backed up by this thread
    int path_length             # edges
    uint32_t path_nodes[MAX_PATH + 1]
    int path_edges[MAX_PATH]    # index of the edge taken within its node's block, or NO_EDGE
    uint8_t padding[CACHE_LINE]


# The key of a state's node. Equal positions of different turns have different keys, so that a node belongs to one turn.
cdef inline uint64_t search_key(const GameOps* ops, const void* state, int viewer) noexcept nogil:
    return ops.hash(state, viewer) + <uint64_t>ops.turn(state) * MIX_STEP


# A key less the root's. Keys contain the turns before the root, and callers need not count those alike.
cdef inline uint64_t search_key_from_root(SearchC* search, uint64_t key) noexcept nogil:
    return key - search.graph.nodes[search.root].key


# Whether an iteration that reaches a node for the first time goes on through new nodes of its turn: half a turn tells
# little of what it is good for.
cdef inline bint search_goes_on(SearchC* search, uint32_t index) noexcept nogil:
    return search.options.whole_turns > (1 if search.graph.nodes[index].turn != search.root_turn else 0)


# Mean utility of a seat over the finished descents of a node; 0.5 without any.
cdef inline double search_node_utility(NodeC* node, int player) noexcept nogil:
    cdef uint32_t finished = atomic_load_u32(&node.finished)
    return atomic_load_f64(&node.utility_sum[player]) / finished if finished > 0 else 0.5

"""The data that the threads of a search share, and what each of them owns."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t

from cext.core.search.atomics cimport CACHE_LINE, atomic_load_f64, atomic_load_u32, semaphore_t
from cext.core.contract.game cimport GameOps
from cext.core.search.graph cimport GraphC, NodeC
from cext.core.search.history cimport history_t
from cext.core.search.listings cimport ListingsC
from cext.core.search.options cimport OptionsC
from cext.core.search.policies cimport PoliciesC
from cext.core.contract.rng cimport MIX_STEP
from cext.core.search.turn_search cimport LimitsC
from cext.core.contract.types cimport action_t

cdef enum:
    # Most actions of a descent; a deeper one ends there and is evaluated. `reading_check_visits` relies on
    # the fact that no descent of usual length ends at an old node.
    MAX_PATH = 1024
    NO_EDGE = -1                # in a path: a random event, not a choice
    MAX_HALVING = 256           # most candidates of a sequential halving


# A candidate of the sequential halving.
ctypedef struct CandidateC:
    uint32_t node               # after the action, in the root's state
    int edge                    # index of the root's edge
    uint32_t visits             # descents to it, including those not finished
    double log_prior            # with Gumbel noise
    double score                # by which candidates are compared


# The state of the sequential halving, see ``halving.pxd``; written under its lock.
ctypedef struct HalvingC:
    uint32_t lock
    uint32_t phase
    int num_phases              # 0 without candidates
    int num_left                # candidates that are left, the first ones
    CandidateC candidates[MAX_HALVING]  # the maximum of the option `halving`
    uint32_t finished[MAX_HALVING]  # descents through each edge of the root that are backed up; atomic


# The data that all threads share.
ctypedef struct SearchC:
    const GameOps* ops
    const void* weights         # of `policy` and `evaluate`; the Python object owns these three
    const void* root_state
    const action_t* first_actions   # with which the root's turn may begin; the Python object owns them
    int num_first               # 0: with any
    bint allows_first           # the caller has named them all, so they count whatever their priors
    LimitsC* limits
    GraphC graph
    OptionsC options
    history_t* history          # HISTORY_SLOTS of them; NULL without history
    int history_turn            # the turn from which the history counts: the root's, or that of an earlier search
    PoliciesC* policies         # priors from an evaluator; NULL without one that gives any
    uint64_t policies_most      # bytes that they and the graph may use
    void* belief                # of `determinize`; NULL: draws are uniform
    int num_players
    int viewer                  # the searching seat, whose information sets the nodes are
    int root_turn
    uint32_t root               # node of the root state
    bint several_worlds         # more than one state agrees with what the viewer knows
    uint64_t seed_bits          # for the noise on priors
    uint64_t events_bits        # for random events: those of this search, or of the one from which it goes on
    uint64_t events_key         # the key of the root from which those are counted
    uint32_t num_kept           # nodes from an earlier search, see ``reuse.pxd``: the first ones of the graph
    uint32_t* kept              # their descents there, by index, from 0
    int niceness                # added to the niceness of each native thread
    double confirm_s            # when to stop exploring in the root's turn, on the monotonic clock
    uint64_t confirm_iterations     # the same, as a number of iterations
    uint32_t is_confirming
    uint32_t workers_running
    HalvingC halving
    semaphore_t ended           # posted when the last worker ends
    double ended_s              # when it did, on the monotonic clock
    void* failure               # of a method of a game in Python, see failure.pxd; NULL: none
    bint solves                 # whether it proves outcomes
    uint32_t proved_at          # its own descents backed up when the root was first proved; 0 before
    int gives_scores            # whether the evaluator does: NOT_ASKED (0), or as evaluator.pyx says
    # The fields above hardly change and are read all the time, so `started` has its own cache line.
    uint8_t padding_before[CACHE_LINE]
    uint64_t started            # iterations begun; counted only if they are limited
    uint8_t padding_after[CACHE_LINE]


# The data that each thread owns.
ctypedef struct WorkerC:
    SearchC* search
    bitgen_t rng                # a copy of the stream's
    void* state                 # scratch state of the descent
    void* spare                 # another one; NULL in a game without hidden information
    action_t* actions           # legal actions of a node, max_actions
    float* priors               # their priors
    # The next four are of its thread.
    int* edges                  # of these actions, where worlds differ in them; see `_find_edges`
    uint32_t* table             # to find these, (8 + 4 * max_actions) slots
    void* cache                 # of `policy` and `evaluate`; NULL for a game without
    ListingsC* listings         # actions and priors that it keeps
    uint64_t iterations         # that this thread has backed up
    int path_length             # edges
    uint32_t path_nodes[MAX_PATH + 1]   # a descent ends at MAX_PATH
    int path_edges[MAX_PATH]    # index of the edge taken within its node's block, or NO_EDGE
    uint32_t path_best[MAX_PATH]    # where a rival moves: the node after its best action; NO_NODE without one
    uint8_t padding[CACHE_LINE]


# The key of a state's node. Equal positions of different turns have different keys, so that a node belongs to one turn.
cdef inline uint64_t search_key(const GameOps* ops, const void* state, int viewer) noexcept nogil:
    return ops.hash(state, viewer) + <uint64_t>ops.turn(state) * MIX_STEP


# The key of what the seat to move knows. If that seat knows the same as the searching one, it is the key of the node.
cdef inline uint64_t search_key_of_mover(const SearchC* search, const void* state, int player) noexcept nogil:
    if player == search.viewer or search.ops.determinize == NULL:
        return search_key(search.ops, state, search.viewer)
    return search_key(search.ops, state, player)


# The descents of a node that are backed up and that this search has made itself.
cdef inline uint32_t search_own_visits(const SearchC* search, uint32_t index) noexcept nogil:
    cdef uint32_t finished = atomic_load_u32(&search.graph.nodes[index].finished)
    return finished - search.kept[index] if index <= search.num_kept else finished


# A key less the root's. Keys count the turns before the root, and that count may differ between callers.
cdef inline uint64_t search_key_from_root(SearchC* search, uint64_t key) noexcept nogil:
    return key - search.graph.nodes[search.root].key


# Whether a descent must end at a node because an earlier one waits there for the priors of its actions.
cdef inline bint search_awaits_priors(SearchC* search, uint32_t index) noexcept nogil:
    return (search.policies != NULL and search.graph.nodes[index].player >= 0
            and atomic_load_u32(&search.graph.nodes[index].finished) == 0)


# Whether an iteration that reaches this node for the first time continues through new nodes of its turn
# (`whole_turns`). The evaluation of half a turn says little about its value.
cdef inline bint search_continues_turn(SearchC* search, uint32_t index) noexcept nogil:
    return search.options.whole_turns > (1 if search.graph.nodes[index].turn != search.root_turn else 0)


# The mean utility of a seat over the descents through a node that are backed up; 0.5 if there are none.
cdef inline double search_node_utility(NodeC* node, int player) noexcept nogil:
    cdef uint32_t finished = atomic_load_u32(&node.finished)
    return atomic_load_f64(&node.utility_sum[player]) / finished if finished > 0 else 0.5

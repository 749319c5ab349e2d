"""One search of one position by a team of threads on a shared graph."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t

from cext.core.atomics cimport CACHE_LINE, sem_t
from cext.core.game cimport GameOps
from cext.core.graph cimport GraphC
from cext.core.history cimport history_t
from cext.core.types cimport action_t

cdef enum:
    MAX_PATH = 1024             # depth of a descent in actions; deeper ones are evaluated where they are
    NO_EDGE = -1                # in a path: a random event, no choice


# What the search may be told; defaults and meaning of each number in OPTIONS of search.pyx.
ctypedef struct OptionsC:
    double exploration
    double exploration_in_turn
    double first_play_reduction
    double first_visits
    double widening_base
    double widening_factor
    double widening_exponent
    double events_factor
    double events_exponent
    double whole_turns
    double playout_weight
    double margin_weight
    double margin_scale
    double prior_noise
    double history
    double history_doubt
    double confirming_share
    double early_stop


ctypedef enum StopReason:
    RUNNING = 0
    BY_TIME = 1
    BY_ITERATIONS = 2
    BY_MEMORY = 3
    BY_STOP = 4
    BY_FORCE = 5
    BY_LEAD = 6


ctypedef struct SearchC:
    const GameOps* ops
    const void* weights         # of `policy` and `evaluate`; these two are owned by the Python object
    const void* root_state
    GraphC graph
    OptionsC options
    history_t* history          # HISTORY_SLOTS of them; NULL if nothing is to be learnt of actions
    int num_players
    int viewer                  # the seat that asks: information sets are its
    int root_turn
    uint32_t root               # node of the root state
    bint several_worlds         # what the viewer may know leaves more than one state
    double began_s
    double deadline_s           # on the monotonic clock; 0 none
    uint64_t seed_bits          # of the error on priors, and of random events
    int niceness                # added to that of each native thread
    uint64_t max_iterations     # 0 none
    double confirm_s            # when to stop exploring within the root's turn; and after how many iterations
    uint64_t confirm_iterations
    uint32_t is_confirming
    uint32_t stop               # StopReason; every worker reads it each iteration
    uint32_t workers_running
    sem_t ended                 # posted when the last worker ends
    uint8_t apart[CACHE_LINE]   # what is above hardly changes and is read all the time
    uint64_t started            # iterations begun; counted only where they are limited
    uint8_t apart_too[CACHE_LINE]


# What each thread owns.
ctypedef struct WorkerC:
    SearchC* search
    bitgen_t rng                # a copy of the stream's
    void* state                 # scratch state of the descent
    action_t* actions           # legal actions of a node, max_actions
    float* priors               # theirs
    uint64_t iterations         # backed up by this thread
    int path_length             # edges
    uint32_t path_nodes[MAX_PATH + 1]
    int path_edges[MAX_PATH]    # index of the edge taken within its node's block, or NO_EDGE
    uint8_t apart[CACHE_LINE]


"""Common to all searches of one turn: limits, stop reasons, the base class of `Search`, `UCT` and `Beam`."""

from libc.stdint cimport uint32_t, uint64_t

from cext.core.contract.game cimport GameOps, State
from cext.core.contract.types cimport action_t
from cext.core.learning.weights cimport Weights

cdef extern from *:
    """
    #define NEVER_S 1e300
    #define UNLIMITED UINT64_MAX
    #define SIGNALS_S 0.03
    """
    const double NEVER_S        # a deadline that is never reached
    const uint64_t UNLIMITED    # a number of iterations that is never reached
    const double SIGNALS_S      # seconds between checks for signals, such as Ctrl-C


# Why a search ended; results use the words of `stop_reason_word`.
ctypedef enum StopReason:
    RUNNING
    BY_TIME
    BY_ITERATIONS
    BY_MEMORY
    BY_STOP
    FORCED                      # only one turn is legal
    SETTLED                     # no other turn can overtake the best one in the time left, or nothing is left to search
    SOLVED                      # the outcome of the root is proved


# The word for a StopReason in a result; empty for RUNNING.
cdef inline str stop_reason_word(uint32_t reason):
    return ("", "time", "iterations", "memory", "stopped", "forced", "settled", "solved")[reason]


# The limits of a running search. Its threads read them at each iteration.
ctypedef struct LimitsC:
    double began_s              # on the monotonic clock
    double deadline_s           # on the monotonic clock; NEVER_S without a limit
    uint64_t max_iterations     # UNLIMITED without a limit
    uint32_t stop               # StopReason; any thread may set it once, by compare and swap


cdef class TurnSearch:
    """One search of one turn of one position; see ``turn_search.pyx``.

    A subclass defines `_candidates`, `_counts`, and `_search` or, as `Search`, `start` and `wait`.
    """
    cdef readonly State state
    cdef readonly Weights weights
    cdef readonly int threads
    cdef readonly object seed
    cdef const GameOps* ops
    cdef const void* weights_data   # of `weights`, for GameOps.policy and evaluate
    cdef int root_turn          # GameOps.turn before the turn that is searched
    cdef LimitsC limits
    cdef action_t* first_actions    # with which the turn may begin
    cdef int num_first          # 0: with any
    cdef double _seconds        # that the search took
    cdef bint _has_begun
    cdef bint _has_ended
    cdef bint _is_waited_for    # by a thread in `wait`

    # Checks and stores the arguments that all searches share; the first call in __cinit__ of a subclass. Raises what
    # the subclass documents. may_wait: a random event may be due.
    cdef int _prepare(self, State state, int threads, int max_threads, double memory_mb, object seed,
                      bint may_wait=*) except -1

    # Stores the weights, for a search that uses them. Raises TypeError if the game has weights and none are given, or
    # they are of another game.
    cdef int _use_weights(self, object weights) except -1

    # Restricts the first action of the turn to those in `allow` (None: any) that are not in `avoid`. Raises SearchError
    # if one is not legal (reason ILLEGAL_FIRST_ACTION) or none is left (NO_FIRST_ACTION).
    cdef int _restrict(self, object allow, object avoid) except -1

    # Whether every state of the turn has a single legal action; the first one, that is not excluded.
    cdef bint _is_forced(self) except *

    # Raises SearchError (reason SEARCH_NOT_STARTED) if the search has not been started.
    cdef int _require_start(self) except -1

    # Raises SearchError (reason SEARCH_RUNNING) if the search has not ended.
    cdef int _require_end(self) except -1

    # Raises SearchError (reason SEARCH_RUNNING) if another thread is in `wait`.
    cdef int _require_alone(self) except -1

    # Notes the end of the search, unless it has another reason already.
    cdef int _end(self, int reason, double ended_s) except -1

    # Searches until a limit is reached or `limits.stop` is set; returns the StopReason.
    cdef int _search(self) except -1

    # For `Pool`, of a search with an evaluator that has been started: the addresses of its SearchC and its slots
    # (WorkerC), and whether only one turn is legal.
    cdef bint _lend(self, void** search, void** slots) except *

    # The candidates of a result, best first, `count` at most and at least one: dicts as in `result`.
    cdef list _candidates(self, int count)

    # The first actions that were considered, as in `result`; none for a search that does not tell.
    cdef list _considered(self)

    # The counts of a result: iterations, nodes, distinct_turns, memory_bytes.
    cdef dict _counts(self)

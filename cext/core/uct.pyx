"""Textbook UCT over atomic actions, as a baseline: no priors, no widening, no graph, no evaluation.

Each iteration descends by UCB1, adds one node for an untried action chosen at random, plays the game's reference
random player to the end, and backs up each seat's share of the win (Kocsis and Szepesvari, 2006; max^n for more than
two seats). A turn is decided action by action: each gets a fixed share of the time that is left, and the tree below
the chosen action is kept. Hidden information: one world an iteration, as in information-set search.
"""

from libc.math cimport log, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from numpy.random cimport bitgen_t

from cext.core.atomics cimport atomic_cas_u32, atomic_load_u32, monotonic_s
from cext.core.game cimport GameOps, State, game_apply, game_settle_chance
from cext.core.playout cimport playout_random
from cext.core.rng cimport Stream, rng_below
from cext.core.types cimport MAX_SEATS, TERMINAL, action_t, aligned_alloc

from cext.core.errors import GameOverError, SearchError

cdef enum:
    MAX_DEPTH = 4096

cdef enum:
    RUNNING = 0
    BY_TIME = 1
    BY_ITERATIONS = 2
    BY_MEMORY = 3
    BY_STOP = 4

STOP_REASONS = ("", "time", "iterations", "memory", "stopped")

# Share of the remaining time or iterations that the next action of the turn gets.
cdef double SHARE_OF_REST = 1.0 / 3.0


ctypedef struct UctNodeC:
    action_t action             # that led here
    double value_sum[MAX_SEATS]
    double score_sum[MAX_SEATS]
    uint32_t visits
    uint32_t first_child        # 0 none
    uint32_t next_sibling       # 0 none


cdef class UCT:
    """A UCT search of one turn; the interface of `cext.core.search.Search`.

    Parameters
    ----------
    state : State
        Copied. A seat must be to move.
    threads : int
        Accepted for the common interface; only 1.
    memory_mb : float
        Memory for the tree in MiB; when it is full, iterations go on without adding nodes.
    seed : int
        0 <= seed < 2**63.
    exploration : float
        UCB1 constant.
    """

    cdef readonly State state
    cdef readonly object seed
    cdef State _now                 # the state after the actions decided so far
    cdef Stream _stream
    cdef UctNodeC* _nodes           # index 0 is no node
    cdef uint32_t _capacity
    cdef uint32_t _used
    cdef uint32_t _root
    cdef uint32_t _stop
    cdef uint64_t _iterations
    cdef double _exploration
    cdef double _seconds
    cdef double _began_s
    cdef action_t* _actions         # legal actions of a state
    cdef uint32_t* _children        # theirs, see _match_children
    cdef void* _scratch
    cdef list _turn
    cdef list _value
    cdef list _scores
    cdef uint32_t _root_visits

    def __cinit__(self, State state not None, *, int threads=1, double memory_mb=256, seed=0,
                  double exploration=1.4142135623730951):
        cdef const GameOps* ops = state.game.ops
        if ops.current_player(state.data) < 0:
            raise GameOverError("the game is over: there is no turn to search", reason="GAME_OVER")
        if threads != 1:
            raise SearchError(f"threads: {threads}, the uct baseline uses 1", reason="INVALID_LIMITS")
        if not 1 <= memory_mb <= 1e5:
            raise SearchError(f"memory_mb: {memory_mb}, expected 1 to 100000", reason="INVALID_LIMITS")
        self.state = state.copy()
        self.seed = seed
        self._exploration = exploration
        self._stream = Stream(seed)
        self._capacity = <uint32_t>(memory_mb * 1024 * 1024 / sizeof(UctNodeC))
        self._nodes = <UctNodeC*>calloc(self._capacity, sizeof(UctNodeC))
        self._actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
        self._children = <uint32_t*>malloc(ops.max_actions * sizeof(uint32_t))
        self._scratch = aligned_alloc(64, ops.state_size)
        if self._nodes == NULL or self._actions == NULL or self._children == NULL or self._scratch == NULL:
            raise MemoryError
        self._used = 1
        self._root = self._add(0)
        self._turn = []

    def __dealloc__(self):
        free(self._nodes)
        free(self._actions)
        free(self._children)
        free(self._scratch)

    cdef uint32_t _add(self, action_t action) noexcept nogil:
        if self._used >= self._capacity:
            return 0
        self._used += 1
        self._nodes[self._used - 1].action = action
        return self._used - 1

    cdef void _match_children(self, uint32_t node, int n) noexcept nogil:
        """Set _children[i] to the child for the i-th of the n actions in the buffer, 0 if it is untried."""
        cdef uint32_t child = self._nodes[node].first_child
        cdef int low, high, middle
        memset(self._children, 0, n * sizeof(uint32_t))
        while child != 0:
            low = 0
            high = n
            while low < high:
                middle = (low + high) >> 1
                if self._actions[middle] < self._nodes[child].action:
                    low = middle + 1
                else:
                    high = middle
            if low < n and self._actions[low] == self._nodes[child].action:
                self._children[low] = child
            child = self._nodes[child].next_sibling

    cdef uint32_t _descend(self, uint32_t node, void* state, bint* added) noexcept nogil:
        """Choose a child by UCB1, or add one for an untried action; plays it. 0 if the tree is full."""
        cdef const GameOps* ops = self.state.game.ops
        cdef int n = ops.legal_actions(state, self._actions), i, num_untried = 0, seat = ops.current_player(state)
        cdef uint32_t child, best = 0
        cdef double score, best_score = -1e300, log_visits = log(<double>self._nodes[node].visits + 1)
        added[0] = False
        self._match_children(node, n)
        for i in range(n):
            child = self._children[i]
            if child == 0:
                self._actions[num_untried] = self._actions[i]
                num_untried += 1
            elif num_untried == 0:
                score = (self._nodes[child].value_sum[seat] / self._nodes[child].visits
                         + self._exploration * sqrt(log_visits / self._nodes[child].visits))
                if score > best_score:
                    best_score = score
                    best = child
        if num_untried > 0:
            best = self._add(self._actions[rng_below(self._stream.bitgen, num_untried)])
            if best == 0:
                return 0
            self._nodes[best].next_sibling = self._nodes[node].first_child
            self._nodes[node].first_child = best
            added[0] = True
        game_apply(ops, state, self._nodes[best].action)
        game_settle_chance(ops, state, self._stream.bitgen)
        return best

    cdef void _iterate(self) noexcept nogil:
        cdef const GameOps* ops = self.state.game.ops
        cdef void* state = self._scratch
        cdef uint32_t path[MAX_DEPTH]
        cdef uint32_t node = self._root
        cdef double values[MAX_SEATS]
        cdef double scores[MAX_SEATS]
        cdef int depth = 1, i, seat
        cdef bint added = False
        memcpy(state, self._now.data, ops.state_size)
        if ops.determinize != NULL:
            ops.determinize(state, ops.current_player(state), self._stream.bitgen)
        path[0] = node
        while not added and ops.current_player(state) != TERMINAL and depth < MAX_DEPTH:
            node = self._descend(node, state, &added)
            if node == 0:
                break
            path[depth] = node
            depth += 1
        playout_random(ops, state, self._stream.bitgen, self._actions)
        ops.returns(state, values)
        ops.scores(state, scores)
        for i in range(depth):
            self._nodes[path[i]].visits += 1
            for seat in range(ops.num_players(state)):
                self._nodes[path[i]].value_sum[seat] += values[seat]
                self._nodes[path[i]].score_sum[seat] += scores[seat]

    def run(self, time_s=None, iterations=None):
        """Decide a whole turn. Releases the GIL; see `Search.run`.

        Raises
        ------
        SearchError
            If neither limit is given (UCT decides action by action and must share something out).
        """
        cdef const GameOps* ops = self.state.game.ops
        cdef int start = ops.turn(self.state.data)
        cdef double deadline, until
        cdef uint64_t limit = 0, max_iterations
        if time_s is None and iterations is None:
            raise SearchError("uct needs a limit: time_s or iterations", reason="INVALID_LIMITS")
        self._began_s = monotonic_s()
        deadline = self._began_s + time_s if time_s is not None else 1e300
        max_iterations = iterations if iterations is not None else 0
        self._now = self.state.copy()
        while ops.turn(self._now.data) == start:
            until = monotonic_s() + SHARE_OF_REST * (deadline - monotonic_s()) if time_s is not None else 1e300
            if max_iterations > 0:
                limit = self._iterations + <uint64_t>(SHARE_OF_REST * (max_iterations - self._iterations)) + 1
            if ops.legal_actions(self._now.data, self._actions) > 1:
                with nogil:
                    while True:
                        self._iterate()
                        self._iterations += 1
                        if atomic_load_u32(&self._stop) != RUNNING:
                            break
                        if max_iterations > 0 and self._iterations >= limit:
                            break
                        if monotonic_s() >= until:
                            break
            self._commit()
        self._seconds = monotonic_s() - self._began_s
        atomic_cas_u32(&self._stop, RUNNING, BY_ITERATIONS if max_iterations > 0 and self._iterations >= max_iterations
                       else BY_TIME if time_s is not None else BY_ITERATIONS)

    cdef _commit(self):
        # Plays the most visited action for good; the first in canonical order among equals.
        cdef const GameOps* ops = self.state.game.ops
        cdef int n = ops.legal_actions(self._now.data, self._actions), i, seat
        cdef action_t best = self._actions[0]
        cdef uint32_t child, best_child = 0
        self._match_children(self._root, n)
        for i in range(n):
            child = self._children[i]
            if child != 0 and (best_child == 0 or self._nodes[child].visits > self._nodes[best_child].visits):
                best_child = child
                best = self._actions[i]
        if not self._turn or best_child != 0:
            node = self._nodes[best_child if best_child != 0 else self._root]
            self._root_visits = node.visits
            self._value = [node.value_sum[seat] / max(node.visits, 1) for seat in range(self.state.num_players)]
            self._scores = [node.score_sum[seat] / max(node.visits, 1) for seat in range(self.state.num_players)]
        game_apply(ops, self._now.data, best)
        self._turn.append(best)
        self._root = best_child if best_child != 0 else self._add(best)
        if self._root == 0:
            raise SearchError("no memory left for the tree", reason="OUT_OF_MEMORY")

    def stop(self):
        """Ask a running search to end, from any thread: the actions decided so far and one iteration for the rest."""
        atomic_cas_u32(&self._stop, RUNNING, BY_STOP)

    def result(self, int num_candidates=1):
        """Return the turn after `run`, in the form of `Search.result`; there is one candidate."""
        if self._now is None or self._now.turn == self.state.turn:
            raise SearchError("the search has not ended", reason="SEARCH_RUNNING")
        candidate = {"actions": list(self._turn), "visits": self._root_visits, "value": self._value,
                     "expected_scores": self._scores, "prior": 1.0, "line": []}
        return {"candidates": [candidate], "iterations": self._iterations, "nodes": self._used - 1,
                "seconds": self._seconds, "stop_reason": STOP_REASONS[atomic_load_u32(&self._stop)],
                "distinct_turns": 1, "memory_bytes": self._used * sizeof(UctNodeC), "threads": 1, "seed": self.seed}

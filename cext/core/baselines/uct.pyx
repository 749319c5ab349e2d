"""Textbook UCT over atomic actions, as a baseline: no priors, no widening, no graph, no evaluation.

Each iteration descends by UCB1, adds one node for an untried action chosen at random, plays the game's reference
random player to the end, and backs up each seat's share of the win (UCB1: Auer, Cesa-Bianchi and Fischer, 2002; UCT:
Kocsis and Szepesvari, 2006; max^n for more than two seats). A turn is decided action by action: each decision gets a
share of the limits that are left (see `UCT.run`), and the tree below the chosen action is kept. Hidden information:
each iteration draws a world, as in information-set search.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport ceil, fmin, isfinite, log, sqrt
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from cext.core.search.atomics cimport atomic_load_u32, monotonic_s
from cext.core.contract.game cimport GameOps, State, game_apply, game_settle_chance
from cext.core.search.memory cimport memory_expect, memory_release, memory_reserve
from cext.core.contract.playout cimport playout_random, playout_random_action
from cext.core.contract.rng cimport Stream, rng_below
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_STOP, BY_TIME, FORCED, RUNNING, SIGNALS_S, TurnSearch
from cext.core.contract.types cimport MAX_SEATS, TERMINAL, action_t, aligned_alloc

from cext.core.contract.errors import SearchError
from cext.core.search.turn_search import DEFAULT_MEMORY_MB

cdef enum:
    MAX_DEPTH = 4096

# Share of the remaining time or iterations for the next action of the turn.
cdef double SHARE_OF_REST = 1.0 / 3.0


ctypedef struct UctNodeC:
    action_t action             # the action that leads here
    double value_sum[MAX_SEATS]
    double score_sum[MAX_SEATS]
    uint32_t visits
    uint32_t first_child        # 0: none
    uint32_t next_sibling       # 0: none


cdef class UCT(TurnSearch):
    """A UCT search of one turn; see `TurnSearch` for what it shares with the other searches.

    Parameters
    ----------
    state : State
        Copied (see `TurnSearch`). A seat must be to move.
    weights : Weights, optional
        Accepted for the common interface; not used.
    threads : int
        Accepted for the common interface; only 1.
    memory_mb : float
        Memory for the tree in MiB. When it is full, iterations continue without adding nodes, and the next decision
        begins with an empty tree.
    seed : int
        0 <= seed < 2**63.
    exploration : float
        UCB1 constant c of mean + c * sqrt(ln N / n) for shares of the win in [0, 1]; finite, at least 0. The proof of
        UCB1 has sqrt(2), for the worst rewards; the default is half of it, that is sqrt(2) for rewards in [-1, 1].

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If an argument is out of range, or there is no memory for the tree.
    """

    # `state` is the state after the actions decided so far.
    cdef Stream _stream
    cdef UctNodeC* _nodes           # index 0 is no node
    cdef uint32_t _capacity
    cdef uint32_t _used             # nodes and index 0
    cdef uint32_t _used_before      # the most, in trees that were emptied
    cdef uint32_t _root
    cdef uint64_t _iterations
    cdef double _exploration
    cdef action_t* _actions         # legal actions of a state
    cdef uint32_t* _children        # their children, see _match_children
    cdef void* _scratch
    cdef list _turn
    cdef list _value
    cdef list _scores
    cdef uint32_t _root_visits

    def __cinit__(self, State state not None, *, weights=None, int threads=1, double memory_mb=DEFAULT_MEMORY_MB,
                  seed=0, double exploration=0.7071067811865476):
        cdef const GameOps* ops = state.game.ops
        self._prepare(state, threads, 1, memory_mb, seed)
        if not (isfinite(exploration) and exploration >= 0):
            raise SearchError(f"exploration: {exploration}, expected a finite number of at least 0",
                              reason="INVALID_OPTION")
        self._exploration = exploration
        self._stream = Stream(seed)
        self._capacity = <uint32_t>min(memory_mb * 1024 * 1024 / sizeof(UctNodeC), <double>UINT32_MAX)
        self._nodes = <UctNodeC*>memory_reserve(self._capacity * sizeof(UctNodeC))
        if self._nodes == NULL:
            raise SearchError(f"no memory for a tree of {memory_mb} MiB", reason="OUT_OF_MEMORY")
        self._actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
        self._children = <uint32_t*>malloc(ops.max_actions * sizeof(uint32_t))
        self._scratch = aligned_alloc(64, ops.state_size)
        if self._actions == NULL or self._children == NULL or self._scratch == NULL:
            raise MemoryError
        self._used = 1
        self._turn = []

    def __dealloc__(self):
        memory_release(self._nodes, self._capacity * sizeof(UctNodeC),
                       max(self._used, self._used_before) * sizeof(UctNodeC))
        free(self._actions)
        free(self._children)
        free(self._scratch)

    cdef void _reset(self) noexcept nogil:
        """Empty the tree: only a root for the state after the actions decided so far."""
        self._used_before = max(self._used, self._used_before)
        self._used = 1
        self._root = self._add(0)

    cdef uint32_t _add(self, action_t action) noexcept nogil:
        """Add a node and return its index. Precondition: the tree is not full."""
        memset(&self._nodes[self._used], 0, sizeof(UctNodeC))
        self._nodes[self._used].action = action
        self._used += 1
        return self._used - 1

    cdef void _match_children(self, uint32_t node, int n) noexcept nogil:
        """Set _children[i] to the child of the i-th of the n actions in the buffer, 0 if it is untried."""
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
        """Choose a child by UCB1, or add one for an untried action. Apply its action and return its index.

        A full tree ignores untried actions. If all are untried, it returns 0 and applies nothing.
        """
        cdef const GameOps* ops = self.ops
        cdef int n = ops.legal_actions(state, self._actions), i, num_untried = 0, seat = ops.current_player(state)
        cdef uint32_t child, best = 0
        cdef bint is_full = self._used >= self._capacity
        cdef double score, best_score = -1e300, log_visits = log(<double>self._nodes[node].visits + 1)
        added[0] = False
        self._match_children(node, n)
        for i in range(n):
            child = self._children[i]
            if child == 0:
                self._actions[num_untried] = self._actions[i]
                num_untried += 1
            elif num_untried == 0 or is_full:
                score = (self._nodes[child].value_sum[seat] / self._nodes[child].visits
                         + self._exploration * sqrt(log_visits / self._nodes[child].visits))
                if score > best_score:
                    best_score = score
                    best = child
        if num_untried > 0 and not is_full:
            best = self._add(self._actions[rng_below(self._stream.bitgen, num_untried)])
            self._nodes[best].next_sibling = self._nodes[node].first_child
            self._nodes[node].first_child = best
            added[0] = True
        if best == 0:
            return 0
        game_apply(ops, state, self._nodes[best].action)
        game_settle_chance(ops, state, self._stream.bitgen)
        return best

    cdef void _iterate(self) noexcept nogil:
        """One iteration: descend, add a node, play to the end of the game, back up."""
        cdef const GameOps* ops = self.ops
        cdef void* state = self._scratch
        cdef uint32_t path[MAX_DEPTH]   # a descent ends there
        cdef uint32_t node = self._root
        cdef double values[MAX_SEATS]
        cdef double scores[MAX_SEATS]
        cdef int depth = 1, i, seat
        cdef bint added = False
        memcpy(state, self.state.data, ops.state_size)
        if ops.determinize != NULL:
            ops.determinize(state, ops.current_player(state), NULL, self._stream.bitgen)
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
        self._iterations += 1

    def run(self, time_s=None, iterations=None):
        """Decide a whole turn; see `TurnSearch.run`.

        Each decision gets a third of what is left, so n decisions use 1 - (2/3) ** n of the limits, 94 % for n = 7. A
        decision whose actions all end the turn gets everything that is left. Decisions with a single action cost
        nothing. When nothing is left, or after `stop` or Ctrl-C, the turn is completed by the most visited actions, or
        by the game's random player where no action was visited.

        Raises
        ------
        SearchError
            Also if neither limit is given: UCT divides the limits between the actions of the turn.
        """
        if time_s is None and iterations is None:
            raise SearchError("uct needs a limit: time_s or iterations", reason="INVALID_LIMITS")
        TurnSearch.run(self, time_s, iterations)

    cdef int _search(self) except -1:
        cdef const GameOps* ops = self.ops
        cdef int n
        cdef uint32_t reason = FORCED if self._is_forced() else BY_STOP
        cdef double expected = min(<double>self._capacity, 2.0 + self.limits.max_iterations)
        memory_expect(self._nodes, self._capacity * sizeof(UctNodeC), <size_t>expected * sizeof(UctNodeC))
        self._reset()
        with nogil:
            # At least one iteration, for the values.
            self._iterate()
        try:
            while ops.turn(self.state.data) == self.root_turn:
                n = ops.legal_actions(self.state.data, self._actions)
                if n > 1:
                    reason = self._decide(1.0 if self._ends_turn(n) else SHARE_OF_REST)
                self._commit()
        except BaseException:       # a signal's handler may raise anything
            while ops.turn(self.state.data) == self.root_turn:
                self._commit()
            raise
        return reason

    cdef bint _ends_turn(self, int n):
        """Return whether each of the n legal actions in the buffer ends the turn."""
        cdef const GameOps* ops = self.ops
        cdef int i
        for i in range(n):
            memcpy(self._scratch, self.state.data, ops.state_size)
            game_apply(ops, self._scratch, self._actions[i])
            if ops.turn(self._scratch) == ops.turn(self.state.data):
                return False
        return True

    cdef uint32_t _decide(self, double share) except? BY_STOP:
        """Iterate for a share of what is left; return the limit that was reached."""
        cdef double now_s = monotonic_s()
        cdef uint32_t reason = RUNNING
        cdef double until_s = now_s + share * (self.limits.deadline_s - now_s)
        cdef uint64_t left = self.limits.max_iterations - self._iterations
        cdef uint64_t last = self._iterations + (left if share == 1.0 else <uint64_t>ceil(share * left))
        if self._used >= self._capacity and left > 0:
            # Give the next decision all the memory, at the cost of what the tree knows about it.
            self._reset()
        while True:
            with nogil:
                reason = self._iterate_until(fmin(until_s, monotonic_s() + SIGNALS_S), last)
            if reason != BY_TIME or monotonic_s() >= until_s:
                return reason
            PyErr_CheckSignals()

    cdef uint32_t _iterate_until(self, double until_s, uint64_t last) noexcept nogil:
        """Iterate until a time or a number of iterations; return the StopReason."""
        while atomic_load_u32(&self.limits.stop) == RUNNING:
            if self._iterations >= last:
                return BY_ITERATIONS
            if monotonic_s() >= until_s:
                return BY_TIME
            self._iterate()
        return BY_STOP

    cdef _commit(self):
        """Commit to the most visited action; the first in canonical order among equals."""
        cdef const GameOps* ops = self.ops
        cdef int n = ops.legal_actions(self.state.data, self._actions), i, seat
        cdef action_t best = self._actions[0]
        cdef uint32_t child, best_child = 0
        self._match_children(self._root, n)
        for i in range(n):
            child = self._children[i]
            if child != 0 and (best_child == 0 or self._nodes[child].visits > self._nodes[best_child].visits):
                best_child = child
                best = self._actions[i]
        if best_child != 0:
            node = self._nodes[best_child]
            self._root_visits = node.visits
            self._value = [node.value_sum[seat] / node.visits for seat in range(self.state.num_players)]
            self._scores = [node.score_sum[seat] / node.visits for seat in range(self.state.num_players)]
            self._root = best_child
        else:
            best = playout_random_action(ops, self.state.data, self._stream.bitgen, self._actions)
            self._reset()
        game_apply(ops, self.state.data, best)
        self._turn.append(best)

    cdef list _candidates(self, int count):
        self._require_end()
        return [{"actions": list(self._turn), "visits": self._root_visits, "value": self._value,
                 "expected_scores": self._scores, "prior": 1.0, "line": []}]

    cdef dict _counts(self):
        return {"iterations": self._iterations, "nodes": self._used - 1, "distinct_turns": 1,
                "memory_bytes": self._used * sizeof(UctNodeC)}

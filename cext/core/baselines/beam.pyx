"""Beam search over the actions of one turn by the game's own evaluation, as a baseline: no tree, no playouts.

At each depth it keeps the `width` states within the turn whose evaluation is best for the seat to move, tries the
likeliest actions (by the game's policy) of each, and stores the states that end the turn. Equal states, by hash, count
once. The result is the end of the turn with the best evaluation; what follows the turn is not searched. If the seat
does not know everything, the search draws one world and searches it.

The search is settled when no kept state can be continued, after `width` x (actions of a turn) expansions at most. A
limit that is reached before ends it with the best whole turn so far, or else with the best incomplete turn, completed
by the policy. Main function: `Beam._search_layers`.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy

from cext.core.search.atomics cimport atomic_load_u32, monotonic_s
from cext.core.baselines.simple cimport baseline_evaluate
from cext.core.contract.game cimport GameOps, State, game_apply
from cext.core.contract.heuristics cimport heuristics_policy
from cext.core.contract.rng cimport Stream, mix_bits, rng_next
from cext.core.search.turn_search cimport (BY_ITERATIONS, BY_MEMORY, BY_STOP, BY_TIME, FORCED, RUNNING, SETTLED,
                                           TurnSearch)
from cext.core.contract.turns cimport (MAX_TURN, TurnScratchC, turn_canonical, turn_finish, turn_scratch_free,
                                       turn_scratch_init)
from cext.core.contract.types cimport ALL_SEEING, MAX_SEATS, action_t, aligned_alloc

from cext.core.contract.errors import SearchError
from cext.core.search.turn_search import DEFAULT_MEMORY_MB

cdef enum:
    MAX_WIDTH = 100000
    BRANCHING = 64              # likeliest actions of a state to try; all if the game has no policy
    MAX_ENDS = 65536            # ends of the turn to store; when it is full, the worse half is dropped
    EVALUATIONS_A_CLOCK = 16    # evaluations between two readings of the clock


# The state after an action that was tried.
ctypedef struct ChildC:
    double value                # for the seat to move
    uint64_t hash
    uint64_t tie                # decides between equal values, from seed and hash
    action_t action
    uint32_t parent             # node


# How a state that was kept is reached.
ctypedef struct NodeC:
    action_t action
    uint32_t parent             # itself for the root


# A legal action and its prior, for sorting.
ctypedef struct ChoiceC:
    float prior
    int index


cdef int _better_child(const void* a, const void* b) noexcept nogil:
    """Compare for qsort: the best first. Equal states have equal values and ties, so they end up side by side."""
    cdef const ChildC* x = <const ChildC*>a
    cdef const ChildC* y = <const ChildC*>b
    if x.value != y.value:
        return -1 if x.value > y.value else 1
    if x.tie != y.tie:
        return -1 if x.tie < y.tie else 1
    if x.parent != y.parent:
        return -1 if x.parent < y.parent else 1
    return -1 if x.action < y.action else 1


cdef int _likelier(const void* a, const void* b) noexcept nogil:
    """Compare for qsort: by descending prior, then by ascending index."""
    cdef const ChoiceC* x = <const ChoiceC*>a
    cdef const ChoiceC* y = <const ChoiceC*>b
    if x.prior != y.prior:
        return -1 if x.prior > y.prior else 1
    return x.index - y.index


cdef class Beam(TurnSearch):
    """A beam search of one turn; see `TurnSearch` for what it shares with the other searches.

    Parameters
    ----------
    state : State
        Copied (see `TurnSearch`). A seat must be to move.
    weights : Weights, optional
        Of the state's game; required if the game has weights.
    threads : int
        Accepted for the common interface; only 1.
    memory_mb : float
        In MiB: the search ends when the states tried at one depth need more (40 bytes each). On top of it a search
        uses the size of two states and 1 KiB for each of `width`, and 2.5 MiB for the ends of the turn.
        `memory_bytes` of the result is the total.
    seed : int
        0 <= seed < 2**63. Decides between states of equal value; the same seed gives the same turn.
    width : int
        Number of states to keep at each depth, 1 to 100,000.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If an argument is out of range.
    TypeError
        If the game has weights and none are given, or they are of another game.
    """

    # `state` is what is searched: one world of the position.
    cdef uint64_t _salt
    cdef uint32_t _width
    cdef double _max_bytes
    cdef uint64_t _iterations       # states expanded
    cdef char* _layer               # the states of this depth
    cdef char* _next_layer
    cdef uint32_t* _layer_nodes
    cdef uint32_t* _next_nodes
    cdef ChildC* _children
    cdef uint32_t _num_children
    cdef uint32_t _max_children
    cdef ChildC* _ends
    cdef uint32_t _num_ends
    cdef NodeC* _nodes
    cdef uint32_t _num_nodes
    cdef action_t* _actions
    cdef float* _priors
    cdef ChoiceC* _choices
    cdef void* _after

    def __cinit__(self, State state not None, *, weights=None, int threads=1, double memory_mb=DEFAULT_MEMORY_MB,
                  seed=0, width=40):
        cdef const GameOps* ops = state.game.ops
        cdef Stream stream = Stream(seed)
        self._prepare(state, threads, 1, memory_mb, seed)
        self._use_weights(weights)
        if not 1 <= width <= MAX_WIDTH:
            raise SearchError(f"width: {width}, expected 1 to {MAX_WIDTH}", reason="INVALID_LIMITS")
        self._width = width
        self._max_bytes = memory_mb * 1024 * 1024
        self._salt = rng_next(stream.bitgen)
        if ops.determinize != NULL:
            ops.determinize(self.state.data, ops.current_player(state.data), NULL, stream.bitgen)
        self._layer = <char*>aligned_alloc(64, self._width * ops.state_size)
        self._next_layer = <char*>aligned_alloc(64, self._width * ops.state_size)
        self._layer_nodes = <uint32_t*>malloc(self._width * sizeof(uint32_t))
        self._next_nodes = <uint32_t*>malloc(self._width * sizeof(uint32_t))
        # At most `width` states at each of MAX_TURN depths, and the root.
        self._nodes = <NodeC*>malloc((<size_t>self._width * MAX_TURN + 1) * sizeof(NodeC))
        self._ends = <ChildC*>malloc(MAX_ENDS * sizeof(ChildC))
        self._actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
        self._priors = <float*>malloc(ops.max_actions * sizeof(float))
        self._choices = <ChoiceC*>malloc(ops.max_actions * sizeof(ChoiceC))
        self._after = aligned_alloc(64, ops.state_size)
        if (self._layer == NULL or self._next_layer == NULL or self._layer_nodes == NULL or self._next_nodes == NULL
                or self._nodes == NULL or self._ends == NULL or self._actions == NULL or self._priors == NULL
                or self._choices == NULL or self._after == NULL):
            raise MemoryError

    def __dealloc__(self):
        free(self._layer)
        free(self._next_layer)
        free(self._layer_nodes)
        free(self._next_nodes)
        free(self._nodes)
        free(self._ends)
        free(self._children)
        free(self._actions)
        free(self._priors)
        free(self._choices)
        free(self._after)

    cdef int _choose(self, const void* state, int n) noexcept nogil:
        """Write the indexes of the actions to try, of the n in the buffer, to _choices; return their number."""
        cdef const GameOps* ops = self.ops
        cdef int i
        if ops.policy == NULL or n <= BRANCHING:
            for i in range(n):
                self._choices[i].index = i
            return n
        heuristics_policy(ops, self.weights_data, NULL, state, self._actions, n, self._priors)
        for i in range(n):
            self._choices[i].index = i
            self._choices[i].prior = self._priors[i]
        qsort(self._choices, n, sizeof(ChoiceC), _likelier)
        return BRANCHING

    cdef bint _add_child(self, const ChildC* child) noexcept nogil:
        """Store a state within the turn; return False if there is no memory."""
        cdef ChildC* larger
        cdef uint32_t capacity
        if self._num_children == self._max_children:
            capacity = 4096 if self._max_children == 0 else 2 * self._max_children
            if capacity * <double>sizeof(ChildC) > self._max_bytes:
                return False
            larger = <ChildC*>realloc(self._children, capacity * sizeof(ChildC))
            if larger == NULL:
                return False
            self._children = larger
            self._max_children = capacity
        self._children[self._num_children] = child[0]
        self._num_children += 1
        return True

    cdef void _add_end(self, const ChildC* child) noexcept nogil:
        """Store a state after the turn; if there are too many, drop the worse half."""
        if self._num_ends == MAX_ENDS:
            self._num_ends = self._best_distinct(self._ends, MAX_ENDS, MAX_ENDS // 2)
        self._ends[self._num_ends] = child[0]
        self._num_ends += 1

    cdef uint32_t _best_distinct(self, ChildC* children, uint32_t n, uint32_t most) noexcept nogil:
        """Move the best of n children to the front, each state once, at most `most`; return their number."""
        cdef uint32_t i, kept = 0
        if n > 1:
            qsort(children, n, sizeof(ChildC), _better_child)
        for i in range(n):
            if kept == most:
                break
            if kept == 0 or children[i].hash != children[kept - 1].hash:
                children[kept] = children[i]
                kept += 1
        return kept

    cdef uint32_t _limit(self) noexcept nogil:
        """Return the StopReason if the search must end now, else RUNNING."""
        if atomic_load_u32(&self.limits.stop) != RUNNING:
            return BY_STOP
        if monotonic_s() >= self.limits.deadline_s:
            return BY_TIME
        return RUNNING

    cdef uint32_t _expand(self, const void* state, uint32_t node) noexcept nogil:
        """Try the actions of a state; return the StopReason if the search must end, else RUNNING."""
        cdef const GameOps* ops = self.ops
        cdef int n = ops.legal_actions(state, self._actions), i, seat = ops.current_player(state)
        cdef int start = ops.turn(state), num_choices = self._choose(state, n)
        cdef double values[MAX_SEATS]
        cdef double scores[MAX_SEATS]
        cdef ChildC child
        cdef uint32_t reason
        child.parent = node
        for i in range(num_choices):
            if i % EVALUATIONS_A_CLOCK == EVALUATIONS_A_CLOCK - 1:
                reason = self._limit()
                if reason != RUNNING:
                    return reason
            child.action = self._actions[self._choices[i].index]
            memcpy(self._after, state, ops.state_size)
            game_apply(ops, self._after, child.action)
            baseline_evaluate(ops, self.weights_data, self._after, values, scores)
            child.value = values[seat]
            child.hash = ops.hash(self._after, ALL_SEEING)
            child.tie = mix_bits(child.hash ^ self._salt)
            if ops.turn(self._after) != start:
                self._add_end(&child)
            elif not self._add_child(&child):
                return BY_MEMORY
        self._iterations += 1
        return RUNNING

    cdef void _keep(self, uint32_t i) noexcept nogil:
        """Make the i-th child a node, and put its state into the next layer. Its parent is a node of this layer."""
        cdef const GameOps* ops = self.ops
        cdef ChildC* child = &self._children[i]
        # The nodes of a layer are numbered in its order.
        cdef uint32_t parent = child.parent - self._layer_nodes[0]
        cdef char* state = self._next_layer + i * ops.state_size
        memcpy(state, self._layer + parent * ops.state_size, ops.state_size)
        game_apply(ops, state, child.action)
        self._nodes[self._num_nodes].action = child.action
        self._nodes[self._num_nodes].parent = child.parent
        self._next_nodes[i] = self._num_nodes
        self._num_nodes += 1

    cdef uint32_t _search_layers(self) noexcept nogil:
        """Search depth by depth; return the StopReason."""
        cdef const GameOps* ops = self.ops
        cdef uint32_t size = 1, i, reason, _
        memcpy(self._layer, self.state.data, ops.state_size)
        self._nodes[0].action = 0
        self._nodes[0].parent = 0
        self._layer_nodes[0] = 0
        self._num_nodes = 1
        for _ in range(MAX_TURN - 1):
            # 1. Expand the states of this depth.
            self._num_children = 0
            for i in range(size):
                if self._iterations >= self.limits.max_iterations:
                    return BY_ITERATIONS
                # At least one expansion, for the values.
                reason = self._limit() if self._iterations > 0 else RUNNING
                if reason == RUNNING:
                    reason = self._expand(self._layer + i * ops.state_size, self._layer_nodes[i])
                if reason != RUNNING:
                    return reason
            # 2. Keep the best of the next one.
            size = self._best_distinct(self._children, self._num_children, self._width)
            if size == 0:
                return SETTLED
            for i in range(size):
                self._keep(i)
            self._layer, self._next_layer = self._next_layer, self._layer
            self._layer_nodes, self._next_nodes = self._next_nodes, self._layer_nodes
        return SETTLED

    def run(self, time_s=None, iterations=None):
        """Search until no state is left to expand or a limit is reached; see `TurnSearch.run`.

        An iteration expands one state. Without a limit the search ends by itself.
        """
        TurnSearch.run(self, time_s, iterations)

    cdef int _search(self) except -1:
        cdef uint32_t reason
        with nogil:
            reason = self._search_layers()
            self._num_ends = self._best_distinct(self._ends, self._num_ends, self._num_ends)
        return FORCED if self._is_forced() else reason

    cdef list _candidates(self, int count):
        """Return the best ends of the turn, with one visit each.

        If no whole turn was found in time, the policy's likeliest actions complete the best incomplete one.
        """
        cdef TurnScratchC scratch
        cdef ChildC kept
        cdef uint32_t i
        self._require_end()
        if turn_scratch_init(&scratch, self.ops) != 0:
            raise MemoryError
        try:
            if self._num_ends > 0:
                return [self._candidate(&self._ends[i], &scratch) for i in range(min(self._num_ends, <uint32_t>count))]
            if self._num_children > 0:
                self._best_distinct(self._children, self._num_children, 1)
                return [self._candidate(&self._children[0], &scratch)]
            if self._layer_nodes[0] != 0:
                # The limit was reached between two depths: take the best state of the last layer.
                kept.action = self._nodes[self._layer_nodes[0]].action
                kept.parent = self._nodes[self._layer_nodes[0]].parent
                return [self._candidate(&kept, &scratch)]
            return [self._candidate(NULL, &scratch)]
        finally:
            turn_scratch_free(&scratch)

    cdef dict _counts(self):
        cdef size_t memory = (self._max_children + MAX_ENDS) * sizeof(ChildC)
        memory += 2 * self._width * (self.ops.state_size + sizeof(uint32_t))
        memory += (<size_t>self._width * MAX_TURN + 1) * sizeof(NodeC)
        return {"iterations": self._iterations, "nodes": self._num_nodes, "distinct_turns": max(1, self._num_ends),
                "memory_bytes": memory}

    cdef dict _candidate(self, const ChildC* child, TurnScratchC* scratch):
        """Return the candidate for the turn that leads to a child (NULL: to the root), completed if need be."""
        cdef const GameOps* ops = self.ops
        cdef action_t turn[MAX_TURN]
        cdef action_t backwards[MAX_TURN]
        cdef double values[MAX_SEATS]
        cdef double scores[MAX_SEATS]
        cdef int n = 0, i, seat
        cdef uint32_t node
        if child != NULL:
            backwards[0] = child.action
            n = 1
            node = child.parent
            while node != 0:
                backwards[n] = self._nodes[node].action
                n += 1
                node = self._nodes[node].parent
        for i in range(n):
            turn[i] = backwards[n - 1 - i]
        n = turn_finish(ops, self.weights_data, self.state.data, turn, n, scratch)
        n = turn_canonical(ops, self.state.data, turn, n, scratch)
        memcpy(self._after, self.state.data, ops.state_size)
        for i in range(n):
            game_apply(ops, self._after, turn[i])
        baseline_evaluate(ops, self.weights_data, self._after, values, scores)
        seats = range(self.state.num_players)
        return {"actions": [turn[i] for i in range(n)], "visits": 1, "value": [values[seat] for seat in seats],
                "expected_scores": [scores[seat] for seat in seats], "prior": 1.0, "line": []}

"""The search for Python: information-set Monte Carlo tree search over atomic actions, on a graph, by native threads.

An iteration is in ``iteration.pyx``, the threads that repeat it are in ``team.pyx``.
"""

from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from cext.core.search.atomics cimport (atomic_cas_u32, atomic_load_u32, atomic_load_u64, monotonic_s,
                                       semaphore_destroy, semaphore_init)
from cext.core.search.evaluator cimport evaluator_form, evaluator_search
from cext.core.contract.failure cimport failure_drop, failure_forget, failure_raise
from cext.core.contract.game cimport GameOps, State
from cext.core.search.graph cimport (NO_NODE, GraphC, graph_expect, graph_find_or_add, graph_free, graph_init,
                                     graph_memory)
from cext.core.search.halving cimport halving_begin
from cext.core.search.history cimport HISTORY_SLOTS, history_t
from cext.core.search.iteration cimport iteration_run
from cext.core.search.listings cimport ListingsC, listings_init
from cext.core.search.memory cimport memory_release, memory_reserve
from cext.core.search.options cimport options_read
from cext.core.search.policies cimport policies_find, policies_free, policies_memory, policies_new
from cext.core.search.reuse cimport reuse_is_possible, reuse_take
from cext.core.search.reading cimport (reading_candidates, reading_check_visits, reading_decisions,
                                       reading_first_actions, reading_num_turns)
from cext.core.contract.rng cimport Stream, mix_bits
from cext.core.search.team cimport TeamC, team_join, team_start, team_wait
from cext.core.search.tree cimport tree_read, tree_visits
from cext.core.search.turn_search cimport (BY_ITERATIONS, BY_MEMORY, BY_STOP, BY_TIME, FORCED, NEVER_S, RUNNING,
                                           UNLIMITED, LimitsC, TurnSearch)
from cext.core.search.worker cimport SearchC, WorkerC, search_key, search_key_of_mover
from cext.core.contract.types cimport action_t, aligned_alloc

import numpy as np

from cext.core.contract.errors import SearchError
from cext.core.learning.tensor import require_observations
from cext.core.search.turn_search import DEFAULT_MEMORY_MB, MAX_THREADS, MAX_TIME_S

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*function)(void*) noexcept, void* argument)

cdef enum:
    MAX_BATCH = 4096            # leaves that an evaluator gets at a time
    # Nodes for which there is a place in the table from the beginning: one an iteration as a rule, more while the first
    # turns are followed to their ends.
    NODES_AT_FIRST = 64
    NODES_PER_ITERATION = 2


cdef class Search(TurnSearch):
    """A search of one turn, by native threads on one shared graph; see `TurnSearch` for what it shares with others.

    Parameters
    ----------
    state : State
        Copied (see `TurnSearch`). A seat must be to move.
    weights : Weights, optional
        Of the state's game; required if the game has weights.
    threads : int
        Native threads, 1 to 256.
    memory_mb : float
        Memory for the graph in MiB. When it is used up, the search ends with stop reason ``memory``.
    seed : int
        0 <= seed < 2**63. With one thread and an iteration limit the same seed gives the same result.
    niceness : int
        Added to the niceness of the native threads, 0 to 19 (Linux only; no effect elsewhere, nor with an evaluator).
        The calling thread, which sometimes holds the GIL, keeps its priority.
    evaluator : callable, optional
        Evaluates leaves instead of the game's `evaluate` and playouts: called with the observations of `batch_size`
        leaves or fewer, float32 [N, S] (valid during the call), each as the seat to move sees it. Returns the shares of
        the win [N, P or more], seats counted from the seat to move, or a tuple of them and the final scores. The
        calling thread runs it, with the GIL. It gives scores always or never in a search; without them the margin does
        not count. If its attribute `policy` is "ids", it returns a tuple of values, scores or None, and a logit for
        each of the game's action ids, [N, ids]; if it is "features", it is also called with the features of the legal
        actions of all leaves, float32 [M, F], and the offsets of each leaf, int64 [N + 1], and the logits are [M].
        Their softmax over the legal actions of a leaf is its priors.
    batch_size : int
        Leaves that are evaluated together, 1 to 4096; only with an evaluator.
    batches : int
        Batches under way, 1 or 2. With 2 threads gather one while the evaluator works on the other one; with 1, or
        leaves one by one, they take turns.
    allow : collection of int, optional
        The only actions with which the turn may begin; any by default.
    avoid : collection of int, optional
        Actions with which it may not begin.
    viewer : int, optional
        The seat that searches; by default the seat to move. For another one, or before a random event, there is no
        turn to find: the graph is for a later search, that goes on `after` this one.
    after : Search, optional
        An ended search of an earlier position of the game: this one begins with what that has found below its own
        root, and with its history. It starts anew if that is another game, seat, choice of weights or options, or if
        one of both has noise on its priors, sequential halving, an evaluator or a choice of first actions.
    options : float
        Options by name, see the comments of `cext.core.search.options.OPTIONS`. Defaults are those of the game
        (`Game.search_options`), else those of `OPTIONS`.

    Raises
    ------
    GameOverError
        If the game is over.
    SearchError
        If an argument is unknown or out of range, or there is no memory for the graph.
    TypeError
        If the game has weights and none are given, or they are of another game.
    """

    cdef SearchC search
    cdef list _streams
    cdef WorkerC* _workers      # one a thread, or with an evaluator one a leaf of two batches
    cdef int _num_workers
    cdef int _num_native        # threads that descend
    cdef int _batch_size        # 0 without an evaluator
    cdef bint _overlaps         # threads gather a batch while another one is evaluated
    cdef object _evaluator
    cdef double _until_s        # when `wait` returns at the latest, on the monotonic clock
    cdef bint _has_one_turn     # that is legal
    cdef bint _is_waiting       # for others to move: there is no turn to find
    cdef Search _after          # from which it goes on; None once it has begun
    cdef bint _is_copied        # by one that goes on from it
    cdef TeamC _team

    def __cinit__(self, State state not None, *, weights=None, int threads=1, double memory_mb=DEFAULT_MEMORY_MB,
                  seed=0, int niceness=0, evaluator=None, int batch_size=16, int batches=2, allow=None, avoid=None,
                  viewer=None, Search after=None, **options):
        cdef const GameOps* ops = state.game.ops
        memset(&self.search, 0, sizeof(SearchC))
        semaphore_init(&self.search.ended)
        self._prepare(state, threads, MAX_THREADS, memory_mb, seed, viewer is not None)
        self._use_weights(weights)
        self._restrict(allow, avoid)
        if not 0 <= niceness <= 19:
            raise SearchError(f"niceness: {niceness}, expected 0 to 19", reason="INVALID_OPTION")
        if not 1 <= batch_size <= MAX_BATCH:
            raise SearchError(f"batch_size: {batch_size}, expected 1 to {MAX_BATCH}", reason="INVALID_OPTION")
        if not 1 <= batches <= 2:
            raise SearchError(f"batches: {batches}, expected 1 or 2", reason="INVALID_OPTION")
        if evaluator is not None:
            require_observations(state.game)
        self._evaluator = evaluator
        self._overlaps = batches == 2 and batch_size > 1
        self._batch_size = 0 if evaluator is None else batch_size
        self._num_native = threads if evaluator is None else min(threads, batch_size)
        self._num_workers = threads if evaluator is None else 2 * batch_size
        self.search.options = options_read(state.game._search_options | options)
        self._use_policy(evaluator, memory_mb, "history" in options)
        self._streams = [Stream(seed, i) for i in range(self._num_native + 1)]
        self.search.ops = ops
        self.search.weights = self.weights_data
        self.search.limits = &self.limits
        self.search.niceness = niceness
        self.search.root_state = self.state.data
        self.search.first_actions = self.first_actions
        self.search.num_first = self.num_first
        self.search.allows_first = allow is not None
        self.search.num_players = ops.num_players(state.data)
        self.search.viewer = ops.current_player(state.data)
        if viewer is not None:
            self._view_as(viewer, evaluator is not None)
        self.search.root_turn = self.root_turn
        # What is proved holds for seats that maximise their own shares.
        self.search.solves = self.search.options.solve > 0 and (self.search.options.paranoia == 0
                                                                or self.search.num_players == 2)
        self.search.history_turn = self.root_turn
        self.search.seed_bits = self.search.events_bits = mix_bits(<uint64_t>seed)
        if graph_init(&self.search.graph, memory_mb) < 0:
            raise SearchError(f"no memory for a graph of {memory_mb} MiB", reason="OUT_OF_MEMORY")
        if self.search.options.history > 0:
            self.search.history = <history_t*>memory_reserve(HISTORY_SLOTS * sizeof(history_t))
            if self.search.history == NULL:
                raise MemoryError
        self.search.kept = <uint32_t*>calloc(1, sizeof(uint32_t))
        if self.search.kept == NULL:
            raise MemoryError
        self._make_workers()
        self._look_at_worlds()
        if after is not None:
            after._require_end()
            after.join()
            if atomic_load_u32(&after.search.workers_running) != 0:
                raise SearchError("another thread waits for the end of the search to go on from",
                                  reason="SEARCH_RUNNING")
            if evaluator is None and after._evaluator is None and reuse_is_possible(&self.search, &after.search):
                self._after = after

    cdef int _view_as(self, int viewer, bint has_evaluator) except -1:
        """Search as a seat that need not be to move."""
        if not 0 <= viewer < self.search.num_players or self.num_first > 0 or has_evaluator:
            raise SearchError(f"viewer: {viewer}, expected 0 to {self.search.num_players - 1}, without an evaluator "
                              "and a choice of first actions", reason="INVALID_OPTION")
        self._is_waiting = viewer != self.search.viewer
        if self._is_waiting:
            self.search.options.halving = 0     # it chooses among the actions of the seat to move
        self.search.viewer = viewer
        return 0

    cdef int _use_policy(self, object evaluator, double memory_mb, bint keeps_history) except -1:
        """Prepare for where the priors come from: the game's policy, if it has one, or the evaluator."""
        cdef int form = 0 if evaluator is None else evaluator_form(evaluator, self.state.game)
        if form != 0:
            self.search.policies = policies_new(form)
            if self.search.policies == NULL:
                raise MemoryError
            self.search.policies_most = <uint64_t>(memory_mb * 1024 * 1024)
        # Only a leaf gets priors from the evaluator, so each new node is one; and nothing else changes them.
        if self.ops.policy == NULL or form != 0:
            self.search.options.whole_turns = 0.0
        if self.ops.policy == NULL or (form != 0 and not keeps_history):
            self.search.options.history = 0.0
        return 0

    cdef int _make_workers(self) except -1:
        """Allocate what each worker owns; the workers of a thread share what no descent keeps."""
        cdef const GameOps* ops = self.ops
        cdef WorkerC* worker
        cdef Stream stream
        cdef int i, owner
        self._workers = <WorkerC*>calloc(self._num_workers, sizeof(WorkerC))
        if self._workers == NULL:
            raise MemoryError
        for i in range(self._num_workers):
            worker = &self._workers[i]
            owner = (i % self._batch_size if self._batch_size > 0 else i) % self._num_native
            stream = self._streams[owner]
            worker.search = &self.search
            worker.rng = stream.bitgen[0]
            worker.state = aligned_alloc(64, ops.state_size)
            if ops.determinize != NULL:
                worker.spare = aligned_alloc(64, ops.state_size)
            worker.actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
            worker.priors = <float*>malloc(ops.max_actions * sizeof(float))
            if i >= self._num_native:
                worker.cache = self._workers[owner].cache
                worker.listings = self._workers[owner].listings
                worker.edges = self._workers[owner].edges
                worker.table = self._workers[owner].table
            else:
                worker.edges = <int*>malloc(ops.max_actions * sizeof(int))
                worker.table = <uint32_t*>malloc((8 + 4 * ops.max_actions) * sizeof(uint32_t))
                worker.listings = <ListingsC*>malloc(sizeof(ListingsC))
                if worker.listings != NULL:
                    listings_init(worker.listings)
                if ops.cache_size > 0:
                    worker.cache = memory_reserve(ops.cache_size)
            if (worker.state == NULL or (ops.determinize != NULL and worker.spare == NULL) or worker.actions == NULL
                    or worker.priors == NULL or worker.edges == NULL or worker.table == NULL
                    or worker.listings == NULL or (ops.cache_size > 0 and worker.cache == NULL)):
                raise MemoryError
        return 0

    cdef int _look_at_worlds(self) except -1:
        """A first draw shows whether the searching seat must consider several worlds."""
        cdef const GameOps* ops = self.search.ops
        cdef Stream stream = self._streams[self._num_native]
        if ops.determinize != NULL:
            self._believe()
            self.search.several_worlds = ops.determinize(self.state.data, self.search.viewer, self.search.belief,
                                                         stream.bitgen)
        return 0

    cdef int _open_root(self) except -1:
        """Lay out the graph for what the limits let expect, and add the root, and what an earlier search has found."""
        cdef bint is_new
        cdef double num_nodes = NODES_AT_FIRST + <double>NODES_PER_ITERATION * self.limits.max_iterations
        cdef uint64_t key = search_key(self.ops, self.state.data, self.search.viewer)
        cdef Search before = self._after
        cdef int status = 0
        self._after = None
        self.search.events_key = key
        if before is not None:
            if before._is_copied:
                raise SearchError("another search is about to go on from the same one", reason="SEARCH_RUNNING")
            before._is_copied = True
            with nogil:
                status = reuse_take(&self.search, &before.search, num_nodes)
            before._is_copied = False
        if status < 0:
            raise MemoryError
        if self.search.root == NO_NODE:
            graph_expect(&self.search.graph, num_nodes)
            self.search.root = graph_find_or_add(&self.search.graph, key, self.ops.current_player(self.state.data),
                                                 self.search.root_turn, NO_NODE, 0, &is_new)
        failure_raise()
        return 0

    cdef int _believe(self) except -1:
        """Fill in what the searching seat believes of the others; without a belief draws are uniform."""
        cdef const GameOps* ops = self.search.ops
        if ops.believe == NULL or self.search.options.belief == 0:
            return 0
        self.search.belief = aligned_alloc(64, (ops.belief_size + 63) // 64 * 64)
        if self.search.belief == NULL:
            raise MemoryError
        if not ops.believe(self.weights_data, self.state.data, self.search.viewer, self.search.options.belief,
                           self.search.belief):
            free(self.search.belief)
            self.search.belief = NULL
        return 0

    def __del__(self):
        # Before the garbage collector clears what the threads still use: the state, the weights, the streams. If it
        # runs in one of them, the search lives on until the main thread has joined them; for ever if it takes no call.
        if not team_join(&self._team):
            Py_INCREF(self)
            Py_AddPendingCall(_join_left, <void*>self)

    def __dealloc__(self):
        cdef int i
        team_join(&self._team)
        if self._workers != NULL:
            for i in range(self._num_workers):
                free(self._workers[i].state)
                free(self._workers[i].spare)
                free(self._workers[i].actions)
                free(self._workers[i].priors)
                if i < self._num_native:
                    memory_release(self._workers[i].cache, self.search.ops.cache_size, self.search.ops.cache_size)
                    free(self._workers[i].listings)
                    free(self._workers[i].edges)
                    free(self._workers[i].table)
            free(self._workers)
        memory_release(self.search.history, HISTORY_SLOTS * sizeof(history_t), 0)
        free(self.search.belief)
        free(self.search.kept)
        failure_forget(&self.search.failure)
        policies_free(self.search.policies)
        graph_free(&self.search.graph)
        semaphore_destroy(&self.search.ended)

    def run(self, time_s=None, iterations=None, *, late_s=None):
        """Search until a limit is reached or `stop` is called; see `TurnSearch.run`.

        Without a limit only `stop` or the memory ends the search. Another thread may call `result` during the search.

        Parameters
        ----------
        late_s : float, optional
            Return at most this many seconds after the time limit, >= 0, even if threads without a processor still run.
            `result` is valid at once, and `join` waits for the threads. By default `run` waits for them. No effect
            with an evaluator: `run` ends with the batch that reaches the limit.
        """
        self.start(time_s, iterations, late_s=late_s)
        self.wait()

    def start(self, time_s=None, iterations=None, *, late_s=None):
        """Start the native threads of a search whose arguments are those of `run`, and return.

        With an evaluator none is started here: `wait` searches.
        """
        if late_s is not None and not 0 <= late_s <= MAX_TIME_S:
            raise SearchError(f"late_s: {late_s}, expected 0 to {MAX_TIME_S}", reason="INVALID_LIMITS")
        TurnSearch.start(self, time_s, iterations)
        self._is_waited_for = True      # `_begin` may give up the GIL before there is anything to wait for
        try:
            self._begin(NEVER_S if late_s is None or self._evaluator is not None else late_s)
        except BaseException:
            self._end(BY_STOP, monotonic_s())
            raise
        finally:
            self._is_waited_for = False

    cdef int _begin(self, double late_s) except -1:
        cdef LimitsC* limits = &self.limits
        cdef double share = 1.0 - self.search.options.confirming_share
        self._open_root()
        self._has_one_turn = not self._is_waiting and self._is_forced()
        if self._has_one_turn:
            self.search.solves = False      # it is valued by a single iteration
        self._until_s = NEVER_S
        if limits.deadline_s < NEVER_S:
            self.search.confirm_s = limits.began_s + share * (limits.deadline_s - limits.began_s)
            self._until_s = min(NEVER_S, limits.deadline_s + late_s)
        if limits.max_iterations < UNLIMITED:
            self.search.confirm_iterations = <uint64_t>(share * limits.max_iterations)
        if limits.deadline_s == NEVER_S and limits.max_iterations == UNLIMITED:
            self.search.options.halving = 0.0
        elif not self._has_one_turn and self.search.policies == NULL and halving_begin(&self._workers[0]) < 0:
            return self._end(BY_MEMORY, monotonic_s())
        if self._evaluator is not None:
            return 0
        if self._has_one_turn and atomic_cas_u32(&limits.stop, RUNNING, FORCED):
            # One iteration, for the values.
            iteration_run(&self._workers[0])
            self._workers[0].iterations = 1
        failure_raise()
        return team_start(&self._team, self._workers, self.threads)

    def wait(self, timeout_s=None):
        """Return whether the search that was started has ended; wait for its end, at most `timeout_s` seconds.

        With an evaluator the search goes on only in here: by batches, until the first one that ends after that.
        """
        cdef double until_s = self._until_s
        cdef bint has_ended
        self._require_start()
        if self._has_ended:
            return True
        self._require_alone()
        if timeout_s is not None:
            until_s = min(until_s, monotonic_s() + timeout_s)
        self._is_waited_for = True
        try:
            if self._evaluator is None:
                has_ended = team_wait(&self._team, until_s)
            else:
                has_ended = self._search_in_batches(until_s)
                self.search.ended_s = monotonic_s()
        except BaseException:       # a signal's handler, or the evaluator, may raise anything
            team_join(&self._team)
            self._end(BY_STOP, monotonic_s())
            failure_drop()
            failure_forget(&self.search.failure)    # of another thread: `join` would raise it
            raise
        finally:
            self._is_waited_for = False
        if has_ended:
            team_join(&self._team)
            self._end(BY_STOP, self.search.ended_s)     # unless a thread has set its own reason
        elif until_s == self._until_s:
            self._end(BY_TIME, monotonic_s())
        else:
            return False
        failure_raise(&self.search.failure)
        return True

    cdef bint _search_in_batches(self, double until_s) except -1:
        """Search with the evaluator, in this thread, which starts others to gather leaves; return whether it ended."""
        evaluator_search(&self.search, self._workers, self._batch_size, self._num_native, self._overlaps,
                         self._evaluator, 1 if self._has_one_turn else UNLIMITED, until_s)
        if self._has_one_turn:
            atomic_cas_u32(&self.limits.stop, BY_ITERATIONS, FORCED)
        return atomic_load_u32(&self.limits.stop) != RUNNING

    cdef bint _lend(self, void** search, void** slots) except *:
        search[0], slots[0] = &self.search, self._workers
        return self._has_one_turn

    def join(self):
        """Stop what still runs after `run` or `wait` has returned (`late_s`), and wait for the end of the threads.

        In one of them, in a method of a game in Python, it does not wait.
        """
        team_join(&self._team)
        failure_raise(&self.search.failure)

    # --- reading the result

    cdef list _candidates(self, int count):
        if self._is_waiting:
            raise SearchError("the seat that searches is not to move: there is no turn to find", reason="NO_TURN")
        return reading_candidates(&self.search, count)

    cdef list _considered(self):
        return reading_first_actions(&self.search)

    cdef dict _counts(self):
        cdef GraphC* graph = &self.search.graph
        return {
            "iterations": self._iterations(),
            "nodes": atomic_load_u32(&graph.nodes_used) - 1 - atomic_load_u32(&graph.nodes_spare),
            "distinct_turns": reading_num_turns(&self.search),
            "memory_bytes": graph_memory(graph) + (0 if self.search.policies == NULL
                                                   else policies_memory(self.search.policies)),
        }

    @property
    def kept_visits(self):
        """Descents through the root that an earlier search has made, `after` which this one goes on."""
        return self.search.kept[self.search.root] if self.search.num_kept > 0 else 0

    cdef uint64_t _iterations(self):
        """Return the number of iterations that all threads have backed up."""
        cdef uint64_t iterations = 0
        cdef int i
        for i in range(self._num_native):
            iterations += atomic_load_u64(&self._workers[i].iterations)
        return iterations

    def tree(self, least=1):
        """Return the nodes of the graph.

        Parameters
        ----------
        least : int
            Leave out nodes and edges with fewer visits.

        Returns
        -------
        list of dict
            The root first. `seat` to move (None: a random event, or the end), `turn` (turns after the root's),
            `visits`, `value`, `expected_scores`, and `edges`, the most visited first: each has `action` (None for the
            outcome of a random event), `visits`, `prior` and `node`, an index into this list; None if the node is left
            out, or if the action leads to different nodes in different worlds.
        """
        return tree_read(&self.search, least)

    def visits_at(self, State state not None):
        """Return the visits of each action that was tried in a state, by action; None if it was not reached.

        `state` must be the search's own or come from it by `apply`, since turns are counted from there. A mapping
        lacks the legal actions that the search did not try.
        """
        if state.game is not self.state.game:
            raise TypeError(f"expected a state of {self.state.game.name}, got one of {state.game.name}")
        return tree_visits(&self.search, state.data)

    def priors_at(self, State state not None):
        """Return the priors that the evaluator has given for a state: float32, of its legal actions in their order.

        None without an evaluator that has a policy, or if it has not been asked for the state, which must come from the
        search's own as in `visits_at`.
        """
        cdef const float* found = NULL
        cdef float[::1] out
        cdef int i, n
        if state.game is not self.state.game:
            raise TypeError(f"expected a state of {self.state.game.name}, got one of {state.game.name}")
        n = len(state.legal_actions())
        if self.search.policies != NULL and n > 0:
            found = policies_find(self.search.policies,
                                  search_key_of_mover(&self.search, state.data, self.ops.current_player(state.data)), n)
        if found == NULL:
            return None
        priors = np.empty(n, np.float32)
        out = priors
        for i in range(n):
            out[i] = found[i]
        return priors

    def decisions(self, int least_visits):
        """Return the visits and utilities of the decisions of its turn: data to learn a policy from.

        Only for a search that has ended.

        Parameters
        ----------
        least_visits : int
            Least number of visits of a node, >= 1.

        Returns
        -------
        list of dict
            For each node of the turn with these visits and at least two visited actions, the root first: ``actions``
            (that lead there from the root), ``utility`` (mean of the mover's, in [0, 1]) and ``edges`` (list of tuple:
            action, visits, mean utility of the mover after it).

        Raises
        ------
        SearchError
            If the search has not ended, or `least_visits` is out of range.
        """
        self._require_end()
        if least_visits < 1:
            raise SearchError(f"least_visits: {least_visits}, expected at least 1", reason="INVALID_LIMITS")
        return reading_decisions(&self.search, least_visits)

    def check_visits(self):
        """Raise `SearchError` unless the visits add up: every descent through a node ends in it or leaves by one edge.

        Only for a search that has ended. With one thread exactly one descent ends in each node, or none if the first
        one continued from there (`whole_turns`).
        """
        reading_check_visits(&self.search, self.threads, self._iterations())


cdef int _join_left(void* search) noexcept:
    """Wait for the threads of a search that was found to be garbage in one of them, and forget it."""
    cdef Search left = <Search>search
    team_join(&left._team)
    Py_DECREF(left)
    return 0

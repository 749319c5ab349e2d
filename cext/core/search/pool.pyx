"""Searches of many positions with one evaluator in Python: a batch has leaves of all of them.

Descents of one search that wait for values know nothing of each other, so a large batch of one search is worth less an
iteration. Here each search adds a few leaves to a batch. Contracts of a leaf are in ``evaluator.pxd``.
"""

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from cext.core.search.atomics cimport (atomic_cas_u32, atomic_load_u32, atomic_store_u64, monotonic_s)
from cext.core.search.budget cimport budget_use_iterations
from cext.core.contract.errors import SearchError
from cext.core.contract.failure cimport failure_hand_over, failure_raise
from cext.core.contract.game cimport Game, GameOps, State
from cext.core.learning.tensor import require_observations
from cext.core.search.evaluator cimport (ENDED, NO_LEAF, NO_MEMORY, WAITING, LeafC, evaluator_ask, evaluator_back_up,
                                         evaluator_back_up_end, evaluator_cancel, evaluator_descend,
                                         evaluator_free_leaf, evaluator_form, evaluator_shape_text,
                                         evaluator_take_logits)
from cext.core.search.halving cimport halving_begin
from cext.core.search.policies cimport POLICY_FEATURES, POLICY_IDS
from cext.core.search.search import Search
from cext.core.search.threads cimport pthread_join, pthread_t, thread_start
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_MEMORY, FORCED, RUNNING, TurnSearch
from cext.core.search.turn_search import MAX_THREADS as _MAX_THREADS
from cext.core.search.worker cimport SearchC, WorkerC

MAX_PLACES = 65536
MAX_LEAVES = 4096            # of a search in a batch

cdef enum:
    MOST_TRIES = 8          # descents of a slot in a batch: those that end the game leave room for others


# One of the searches; without one its `search` is NULL.
ctypedef struct PlaceC:
    SearchC* search
    WorkerC* slots              # a descent each
    LeafC* leaves               # theirs
    int64_t first               # row of its first leaf that waits
    int64_t first_action        # row of the features of that leaf's first action
    uint64_t begun              # iterations that are backed up or wait
    uint64_t most               # of them
    bint has_one_turn           # that is legal
    bint knows_root             # the evaluator has answered for the root
    bint has_memory
    bint is_finite              # all logits that count are
    const float* noise          # for the priors of the root's actions, which it is mixed with; NULL: none
    double noise_share


# What the threads of a pool share.
ctypedef struct PoolC:
    PlaceC* places
    int num_places
    int num_leaves              # of a search in a batch
    int gives_scores            # whether the evaluator does, see `SearchC.gives_scores`
    float* rows                 # observations of the leaves that wait
    float* features             # of their actions; NULL if they are not asked for
    # The answer:
    const double* values        # [rows, seats], seats from the viewer on
    const double* scores        # NULL for the points on the table
    const float* logits         # NULL without


# One thread's part: every `stride`-th place, beginning with `first`.
ctypedef void (*step_t)(PoolC* pool, PlaceC* place) noexcept nogil
ctypedef struct PartC:
    PoolC* pool
    step_t step
    int first
    int stride


cdef void* _run_part(void* argument) noexcept nogil:
    cdef PartC* part = <PartC*>argument
    cdef int p = part.first
    while p < part.pool.num_places:
        if part.pool.places[p].search != NULL:
            part.step(part.pool, &part.pool.places[p])
            failure_hand_over(&part.pool.places[p].search.failure)
        p += part.stride
    return NULL


# --- the steps of a batch

cdef void _descend(PoolC* pool, PlaceC* place) noexcept nogil:
    """Descend in the slots of a search, as often as it may still do."""
    cdef SearchC* search = place.search
    cdef bint is_first = search.gives_scores == 0       # until its answer nothing is backed up
    cdef int s, tries, num_slots = pool.num_leaves
    if search.policies != NULL and not place.knows_root:
        num_slots = 1       # nothing can be selected without the priors of the root's actions
    budget_use_iterations(search, place.begun)
    for s in range(pool.num_leaves):
        place.leaves[s].outcome = NO_LEAF
        tries = 0 if s >= num_slots else (1 if is_first else MOST_TRIES)
        while (tries > 0 and place.has_memory and place.begun < place.most
               and atomic_load_u32(&search.limits.stop) == RUNNING):
            tries -= 1
            place.begun += 1
            if evaluator_descend(&place.slots[s], &place.leaves[s], NULL) == NO_MEMORY:
                place.begun -= 1
                place.has_memory = False
            elif place.leaves[s].outcome == ENDED and not is_first:
                evaluator_back_up_end(&place.slots[s], &place.leaves[s])
                place.slots[0].iterations += 1
                continue
            break


cdef void _observe(PoolC* pool, PlaceC* place) noexcept nogil:
    """Write what the evaluator needs of the leaves that wait to their rows."""
    cdef const GameOps* ops = place.search.ops
    cdef int64_t row = place.first, action = place.first_action
    cdef LeafC* leaf
    cdef int s
    for s in range(pool.num_leaves):
        leaf = &place.leaves[s]
        if leaf.outcome != WAITING:
            continue
        ops.observe(place.slots[s].state, leaf.viewer, pool.rows + row * ops.observation_size)
        row += 1
        if pool.features != NULL:
            memcpy(pool.features + action * ops.action_size, leaf.features,
                   <size_t>leaf.num_legal * ops.action_size * sizeof(float))
            action += leaf.num_legal


cdef void _take_logits(PoolC* pool, PlaceC* place) noexcept nogil:
    """Take the logits of the leaves that wait."""
    cdef SearchC* search = place.search
    cdef const float* logits
    cdef int64_t row = place.first, action = place.first_action
    cdef int s
    place.is_finite = True
    for s in range(pool.num_leaves):
        if place.leaves[s].outcome != WAITING:
            continue
        logits = pool.logits + (row * search.ops.num_action_ids if search.policies.form == POLICY_IDS else action)
        if not evaluator_take_logits(&place.slots[s], &place.leaves[s], logits):
            place.is_finite = False
            return
        row += 1
        action += place.leaves[s].num_legal
    if not place.knows_root and place.noise != NULL and place.leaves[0].outcome == WAITING:
        _mix_noise(place)


cdef void _mix_noise(PlaceC* place) noexcept nogil:
    """Mix noise into the priors of the root's actions, of which the slot has the logits."""
    cdef WorkerC* slot = &place.slots[0]
    cdef int i, n = place.leaves[0].num_legal
    cdef double highest = slot.priors[0], total = 0, prior
    for i in range(n):
        highest = max(highest, slot.priors[i])
    for i in range(n):
        total += exp(slot.priors[i] - highest)
    for i in range(n):
        prior = exp(slot.priors[i] - highest) / total
        prior += place.noise_share * (place.noise[i] - prior)
        slot.priors[i] = <float>log(max(prior, 1e-30))


cdef void _back_up(PoolC* pool, PlaceC* place) noexcept nogil:
    """Back up the descents of a search with the answer."""
    cdef SearchC* search = place.search
    cdef int64_t row = place.first
    cdef int s, seats = search.num_players, done = 0
    for s in range(pool.num_leaves):
        if place.leaves[s].outcome == ENDED:
            evaluator_back_up_end(&place.slots[s], &place.leaves[s])
            done += 1
        elif place.leaves[s].outcome == WAITING:
            if evaluator_back_up(&place.slots[s], &place.leaves[s], pool.values + row * seats,
                                 NULL if pool.scores == NULL else pool.scores + row * seats) < 0:
                place.has_memory = False
            row += 1
            done += 1
    atomic_store_u64(&place.slots[0].iterations, place.slots[0].iterations + done)
    if search.policies != NULL and not place.knows_root and done > 0:
        place.knows_root = True
        if place.most > 1 and halving_begin(place.slots) < 0:
            place.has_memory = False


cdef void _cancel(PoolC* pool, PlaceC* place) noexcept nogil:
    """Undo the descents of a search that are not backed up."""
    cdef int s
    for s in range(pool.num_leaves):
        if place.leaves[s].outcome >= ENDED:
            evaluator_cancel(&place.slots[s], &place.leaves[s])
            place.begun -= 1


cdef class Pool:
    """Searches of positions of one game, advanced together with one evaluator.

    `begin` puts a search in a place. Then, again and again: `gather` returns what the evaluator is to be called with,
    for leaves of all searches that run, and `back_up` takes its answer and returns the searches that have ended. What
    happens in a search depends on the answers for its leaves alone, not on the other searches or the threads. One
    thread at a time may call the functions of a pool.

    Parameters
    ----------
    game : Game
        It has observations.
    places : int
        Searches at a time, 1 to 65,536.
    players : int
        Seats of each position.
    evaluator : object
        As for `Search`; only its attribute `policy` is used.
    leaves : int
        Leaves of each search in a batch, 1 to 4,096, of all together at most 2**24.
    threads : int
        Native threads, 1 to 256, which share the searches.

    Raises
    ------
    SearchError
        An argument is out of range (reason INVALID_OPTION), or the game lacks what the evaluator needs
        (NO_OBSERVATIONS, NO_ACTION_IDS, NO_ACTION_FEATURES).
    """

    cdef readonly Game game
    cdef readonly int num_places, players, leaves, threads
    cdef readonly bint is_waiting   # for the answer to a batch
    cdef PoolC pool
    cdef int form               # of the evaluator's policy, 0 without
    cdef LeafC* _leaves
    cdef PartC* _parts
    cdef pthread_t* _ids
    cdef object _evaluator
    cdef list _searches, _noises
    cdef object _rows, _features, _offsets

    def __cinit__(self, Game game not None, int places, evaluator, *, int players, int leaves=8, int threads=1):
        require_observations(game)
        for name, value, most in (("places", places, MAX_PLACES), ("players", players, game.ops.max_players),
                                  ("leaves", leaves, MAX_LEAVES), ("threads", threads, _MAX_THREADS)):
            if not 1 <= value <= most:
                raise SearchError(f"{name}: {value}, expected 1 to {most}", reason="INVALID_OPTION")
        if places * leaves > 1 << 24:
            raise SearchError(f"leaves: {leaves} of each of {places} searches, expected at most 2**24 together",
                              reason="INVALID_OPTION")
        self.form = evaluator_form(evaluator, game)
        self.game, self.num_places, self.players = game, places, players
        self.leaves, self.threads = leaves, min(threads, places)
        self._evaluator = evaluator
        self._searches, self._noises = [None] * places, [None] * places
        self._rows = np.empty((places * leaves, game.ops.observation_size), np.float32)
        self.pool.places = <PlaceC*>calloc(places, sizeof(PlaceC))
        self._leaves = <LeafC*>calloc(places * leaves, sizeof(LeafC))
        self._parts = <PartC*>calloc(self.threads, sizeof(PartC))
        self._ids = <pthread_t*>calloc(self.threads, sizeof(pthread_t))
        if self.pool.places == NULL or self._leaves == NULL or self._parts == NULL or self._ids == NULL:
            raise MemoryError
        cdef float[:, ::1] rows = self._rows
        self.pool.num_places, self.pool.num_leaves, self.pool.rows = places, leaves, &rows[0, 0]

    def __dealloc__(self):
        cdef int i
        if self._leaves != NULL:
            for i in range(self.num_places * self.leaves):
                evaluator_free_leaf(&self._leaves[i])
        free(self._leaves)
        free(self.pool.places)
        free(self._parts)
        free(self._ids)

    def __reduce__(self):
        raise TypeError("a Pool cannot be copied or pickled: it owns the memory of searches; make one in each process")

    def begin(self, int place, State state not None, int iterations, *, noise=None, double noise_share=0.25,
              **arguments):
        """Begin a search of a position, in a place where none runs.

        Parameters
        ----------
        place : int
            From 0.
        state : State
            Copied. A seat must be to move.
        iterations : int
            At least 1.
        noise : array, optional
            Only with an evaluator that has a policy: priors of the legal actions, in their canonical order, with which
            those of the evaluator are mixed at the root.
        noise_share : float
            Their share, 0 to 1.
        **arguments
            Others of `Search`: `weights`, `memory_mb`, `seed`, `allow`, `avoid`, options.

        Raises
        ------
        SearchError, GameOverError, TypeError
            As `Search` and its `run`; or a search runs there, a batch waits for its answer, the state is of other
            seats, the noise does not fit, or the pool's evaluator is None (reason INVALID_OPTION).
        """
        cdef TurnSearch search
        cdef void* data
        cdef void* slots
        cdef bint has_one_turn
        cdef PlaceC* c_place
        cdef const float[::1] numbers
        if not 0 <= place < self.num_places or self.pool.places[place].search != NULL or self.is_waiting:
            raise SearchError(f"place {place}: a search runs there, or a batch waits for its answer; expected one of "
                              f"0 to {self.num_places - 1} that is free", reason="INVALID_OPTION")
        if state.game is not self.game or state.num_players != self.players:
            raise SearchError(f"state: of {state.game.name} with {state.num_players} seats; expected {self.game.name} "
                              f"with {self.players}", reason="INVALID_OPTION")
        if self._evaluator is None:     # such a search has no slots for leaves that wait
            raise SearchError("evaluator: given None; expected a callable", reason="INVALID_OPTION")
        noise = self._checked_noise(noise, noise_share, state)
        # A search has slots for two batches.
        search = Search(state, evaluator=self._evaluator, batch_size=(self.leaves + 1) // 2, **arguments)
        search.start(iterations=iterations)
        self._searches[place], self._noises[place] = search, noise
        c_place = &self.pool.places[place]
        has_one_turn = search._lend(&data, &slots)
        c_place[0] = PlaceC(<SearchC*>data, <WorkerC*>slots, self._leaves + place * self.leaves, 0, 0, 0,
                            1 if has_one_turn else search.limits.max_iterations, has_one_turn, False,
                            atomic_load_u32(&search.limits.stop) == RUNNING, True, NULL, noise_share)
        if noise is not None:
            numbers = noise
            c_place.noise = &numbers[0]
        self._set_form(c_place.search)

    def _checked_noise(self, noise, double share, State state):
        """Return noise as an array, or None."""
        if noise is None:
            return None
        try:
            numbers = np.ascontiguousarray(noise, np.float32)
        except (TypeError, ValueError, OverflowError):
            numbers = np.empty(0, np.float32)
        n = len(state.legal_actions())
        are_good = numbers.shape == (n,) and ((numbers >= 0) & np.isfinite(numbers)).all()
        if self.form == 0 or not are_good or not 0 <= share <= 1:
            raise SearchError(f"noise: {evaluator_shape_text(noise)} with share {share}; expected {n} finite numbers "
                              "of at least 0, a share from 0 to 1, and an evaluator with a policy",
                              reason="INVALID_OPTION")
        return numbers

    cdef int _set_form(self, SearchC* search) except -1:
        """Tell a search whether the evaluator gives scores, once that is known."""
        if search.gives_scores != self.pool.gives_scores:
            search.gives_scores = self.pool.gives_scores
            if self.pool.gives_scores == 1:         # without scores
                search.options.margin_weight = 0.0      # nothing is known of the margin
        return 0

    cdef int _each(self, step_t step) except -1:
        """Do a step for all searches, with all threads; the calling one takes what others cannot be started for."""
        cdef int t, started = 0
        for t in range(self.threads):
            self._parts[t] = PartC(&self.pool, step, t, self.threads)
        with nogil:
            for t in range(1, self.threads):
                if thread_start(&self._ids[t], _run_part, &self._parts[t]) != 0:
                    break
                started = t
            _run_part(&self._parts[0])
            for t in range(started + 1, self.threads):
                _run_part(&self._parts[t])
            for t in range(1, started + 1):
                pthread_join(self._ids[t], NULL)
        return 0

    cdef int _raise_failure(self) except -1:
        """Raise what a method of a game in Python has raised: one of them, if there are several."""
        cdef int p
        found = None
        for p in range(self.num_places):
            if self.pool.places[p].search != NULL and self.pool.places[p].search.failure != NULL:
                try:
                    failure_raise(&self.pool.places[p].search.failure)
                except BaseException as error:
                    found = error
        if found is not None:
            raise found
        return 0

    def gather(self):
        """Descend in all searches, and return what the evaluator is to be called with.

        Returns
        -------
        tuple
            The observations of the leaves that wait, float32 [N, S], overwritten by the next call. For an evaluator
            that asks for features, also those of their actions, [M, F], and their offsets [N + 1]. Empty if nothing is
            to be asked: `back_up` takes any answer then.

        Raises
        ------
        SearchError
            The last batch has no answer yet (reason SEARCH_RUNNING), or a method of a game in Python has failed
            (GAME_FAULT).
        """
        if self.is_waiting:
            raise SearchError("the last batch has no answer yet; expected back_up or cancel", reason="SEARCH_RUNNING")
        self._each(_descend)
        self.is_waiting = True
        try:
            self._raise_failure()
            return self._questions()
        except BaseException:
            self.cancel()
            raise

    cdef tuple _questions(self):
        """Return what `gather` returns for the leaves that wait."""
        cdef int64_t rows, actions
        cdef float[:, ::1] features
        rows, actions = self._lay_out()
        self._features = None
        self.pool.features = NULL
        if self.form == POLICY_FEATURES:
            self._features = np.empty((actions, self.game.ops.action_size), np.float32)
            if actions > 0:
                features = self._features
                self.pool.features = &features[0, 0]
        self._each(_observe)
        if rows == 0 and self.pool.gives_scores == 0 and self.form == 0:
            rows = self._observe_a_root()   # whether the margin counts must be known all the same
        self._offsets = self._offsets[:rows + 1]
        if rows == 0:
            return ()
        if self._features is None:
            return (self._rows[:rows],)
        return self._rows[:rows], self._features, self._offsets

    cdef tuple _lay_out(self):
        """Give each leaf that waits a row, and its actions rows of features; return the numbers of both."""
        cdef PlaceC* place
        cdef int p, s
        cdef int64_t rows = 0, actions = 0
        cdef int64_t[::1] offsets
        self._offsets = np.zeros(self.num_places * self.leaves + 1, np.int64)
        offsets = self._offsets
        for p in range(self.num_places):
            place = &self.pool.places[p]
            if place.search == NULL:
                continue
            place.first, place.first_action = rows, actions
            for s in range(self.leaves):
                if place.leaves[s].outcome == WAITING:
                    rows += 1
                    actions += place.leaves[s].num_legal
                    offsets[rows] = actions
        return rows, actions

    cdef int _observe_a_root(self):
        """Write the observation of a position that is searched to the first row; return 0 if there is no search."""
        cdef SearchC* search
        cdef int p
        for p in range(self.num_places):
            search = self.pool.places[p].search
            if search != NULL:
                search.ops.observe(search.root_state, search.viewer, self.pool.rows)
                return 1
        return 0

    def back_up(self, answer):
        """Take the evaluator's answer to what `gather` returned; return the searches that have ended.

        Parameters
        ----------
        answer : array or tuple
            As an evaluator of `Search` returns it.

        Returns
        -------
        list of tuple
            (place, Search), in the order of the places, which are free again.

        Raises
        ------
        SearchError
            No batch waits (reason SEARCH_NOT_STARTED), or the answer has another form (BAD_EVALUATION); the descents
            that wait are undone then, and the searches may go on. Or a method of a game in Python has failed
            (GAME_FAULT).
        """
        if not self.is_waiting:
            raise SearchError("no batch waits for an answer; expected gather first", reason="SEARCH_NOT_STARTED")
        try:
            _keeps_answer = self._read(answer) if len(self._offsets) > 1 else None
        except BaseException:
            self.cancel()
            raise
        self._each(_back_up)
        self.is_waiting = False
        self._raise_failure()
        return self._ended()

    cdef object _read(self, object answer):
        """Check an answer and note where its numbers are; return the arrays that own them."""
        cdef SearchC* search = NULL
        cdef const double[:, ::1] values
        cdef const double[:, ::1] scores
        cdef const float[::1] logits
        cdef int p
        for p in range(self.num_places):
            if self.pool.places[p].search != NULL:
                search = self.pool.places[p].search
                break
        rows = self._rows[:len(self._offsets) - 1]
        found = evaluator_ask(search, lambda *_: answer, rows, self._features, self._offsets)
        values, scores = found[0], found[1]
        self.pool.values = &values[0, 0]
        self.pool.scores = NULL if found[1] is None else &scores[0, 0]
        if self.form != 0:
            logits = found[2].reshape(-1)
            self.pool.logits = &logits[0]
            self._each(_take_logits)
            for p in range(self.num_places):
                if self.pool.places[p].search != NULL and not self.pool.places[p].is_finite:
                    raise SearchError("evaluator: a logit of a legal action is not finite; expected finite numbers",
                                      reason="BAD_EVALUATION")
        self.pool.gives_scores = search.gives_scores
        for p in range(self.num_places):
            if self.pool.places[p].search != NULL:
                self._set_form(self.pool.places[p].search)
        return found

    cdef list _ended(self):
        """Return the searches that have ended, and free their places."""
        cdef TurnSearch search
        cdef PlaceC* place
        cdef int p
        ended = []
        for p in range(self.num_places):
            place = &self.pool.places[p]
            if place.search == NULL:
                continue
            search = self._searches[p]
            if not place.has_memory:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            elif place.begun >= place.most:
                atomic_cas_u32(&search.limits.stop, RUNNING, FORCED if place.has_one_turn else BY_ITERATIONS)
            if atomic_load_u32(&search.limits.stop) != RUNNING:
                search._end(BY_ITERATIONS, monotonic_s())
                ended.append((p, search))
                place.search = NULL
                self._searches[p] = self._noises[p] = None
        return ended

    def cancel(self):
        """Undo the descents that wait for an answer, if any do."""
        if self.is_waiting:
            self._each(_cancel)
            self.is_waiting = False

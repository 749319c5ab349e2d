"""Searching with an evaluator in Python; contracts in ``evaluator.pxd``. The main loop is `evaluator_search`."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport exp, isfinite
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

import numpy as np

from cext.core.search.atomics cimport (atomic_add_u64, atomic_cas_u32, atomic_load_u32, atomic_store_u64,
                                       monotonic_s)
from cext.core.search.budget cimport budget_use_iterations, budget_use_time
from cext.core.contract.errors import SearchError
from cext.core.contract.failure cimport failure_hand_over
from cext.core.contract.game cimport Game, GameOps, game_settle_chance
from cext.core.contract.heuristics cimport MOST_POINTS
from cext.core.search.graph cimport graph_memory
from cext.core.search.halving cimport halving_begin
from cext.core.search.iteration cimport (iteration_back_up, iteration_cancel, iteration_descend,
                                         iteration_read_proof)
from cext.core.search.policies cimport POLICY_FEATURES, POLICY_IDS, policies_keep
from cext.core.search.proof cimport proof_has
from cext.core.search.threads cimport pthread_join, pthread_t, thread_start
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_MEMORY, BY_STOP, NEVER_S, RUNNING, UNLIMITED
from cext.core.search.worker cimport search_key_of_mover
from cext.core.contract.types cimport MAX_SEATS, TERMINAL

cdef enum:
    MOST_TRIES = 8          # descents of a slot in a batch: those that end the game leave room for others

# Whether the evaluator gives scores (`SearchC.gives_scores`).
cdef enum:
    NOT_ASKED = 0
    WITHOUT_SCORES = 1
    WITH_SCORES = 2

# Of the best logit's prior, the smallest that another one gets: no legal action is out of the question.
cdef float LEAST_SHARE = 1e-20


# --- a leaf

cdef int evaluator_descend(WorkerC* slot, LeafC* leaf, float* observation) noexcept nogil:
    cdef const GameOps* ops = slot.search.ops
    leaf.outcome = NO_LEAF
    if iteration_descend(slot) < 0:
        leaf.outcome = NO_MEMORY
        return NO_MEMORY
    if proof_has(slot.search, slot.path_nodes[slot.path_length]):
        leaf.outcome = ENDED
        return ENDED
    game_settle_chance(ops, slot.state, &slot.rng)
    if failure_hand_over(&slot.search.failure):
        return _drop(slot, leaf)
    leaf.viewer = ops.current_player(slot.state)
    if leaf.viewer == TERMINAL:
        leaf.outcome = ENDED
        return ENDED
    if observation != NULL:
        ops.observe(slot.state, leaf.viewer, observation)
    if slot.search.policies != NULL and _list_actions(slot, leaf) < 0:
        return _drop(slot, leaf)
    if failure_hand_over(&slot.search.failure):
        return _drop(slot, leaf)
    leaf.outcome = WAITING
    return WAITING


cdef int _drop(WorkerC* slot, LeafC* leaf) noexcept nogil:
    """Undo a descent after which the search ends: for lack of memory, or since a method of the game has failed."""
    iteration_cancel(slot)
    leaf.outcome = NO_MEMORY
    return NO_MEMORY


cdef int _list_actions(WorkerC* slot, LeafC* leaf) noexcept nogil:
    """List the legal actions of a leaf, and their features if need be; return 0, or -1 if there is no memory."""
    cdef SearchC* search = slot.search
    cdef const GameOps* ops = search.ops
    cdef float* features
    cdef size_t room
    leaf.key = search_key_of_mover(search, slot.state, leaf.viewer)
    leaf.num_legal = ops.legal_actions(slot.state, slot.actions)
    if search.policies.form == POLICY_IDS:
        return 0
    room = <size_t>leaf.num_legal * ops.action_size
    if room > leaf.room:
        room *= 2
        features = <float*>realloc(leaf.features, room * sizeof(float))
        if features == NULL:
            return -1
        leaf.features = features
        leaf.room = room
    ops.observe_actions(slot.cache, slot.state, slot.actions, leaf.num_legal, leaf.features)
    return 0


cdef void evaluator_back_up_end(WorkerC* slot, LeafC* leaf) noexcept nogil:
    cdef const GameOps* ops = slot.search.ops
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    if not iteration_read_proof(slot, values, scores):
        ops.returns(slot.state, values)
        ops.scores(slot.state, scores)
    if failure_hand_over(&slot.search.failure):
        atomic_cas_u32(&slot.search.limits.stop, RUNNING, BY_STOP)
    iteration_back_up(slot, values, scores, True)
    leaf.outcome = NO_LEAF


cdef bint evaluator_take_logits(WorkerC* slot, const LeafC* leaf, const float* logits) noexcept nogil:
    cdef const GameOps* ops = slot.search.ops
    cdef int i
    for i in range(leaf.num_legal):
        slot.priors[i] = (logits[ops.action_id(slot.state, slot.actions[i])]
                          if slot.search.policies.form == POLICY_IDS else logits[i])
        if not isfinite(slot.priors[i]):
            return False
    return True


cdef int _keep_priors(WorkerC* slot, const LeafC* leaf) noexcept nogil:
    """Keep the priors of the logits that were taken: their softmax; return 0, or -1 if there is no memory."""
    cdef SearchC* search = slot.search
    cdef float highest = -3.4e38
    cdef double total = 0
    cdef uint64_t used = graph_memory(&search.graph)
    cdef int i
    for i in range(leaf.num_legal):
        highest = max(highest, slot.priors[i])
    for i in range(leaf.num_legal):
        slot.priors[i] = max(LEAST_SHARE, <float>exp(<double>slot.priors[i] - highest))
        total += slot.priors[i]
    for i in range(leaf.num_legal):
        slot.priors[i] = <float>(slot.priors[i] / total)
    return policies_keep(search.policies, leaf.key, slot.priors, leaf.num_legal,
                         search.policies_most - min(used, search.policies_most))


cdef int evaluator_back_up(WorkerC* slot, LeafC* leaf, const double* values, const double* scores) noexcept nogil:
    cdef SearchC* search = slot.search
    cdef double seat_values[MAX_SEATS]
    cdef double seat_scores[MAX_SEATS]
    cdef int k, seat, kept = 0
    if search.policies != NULL:
        kept = _keep_priors(slot, leaf)     # before the node counts as evaluated
    if scores == NULL:
        search.ops.scores(slot.state, seat_scores)
    for k in range(search.num_players):
        seat = (leaf.viewer + k) % search.num_players
        seat_values[seat] = values[k]
        if scores != NULL:
            seat_scores[seat] = scores[k]
    iteration_back_up(slot, seat_values, seat_scores, False)
    leaf.outcome = NO_LEAF
    return kept


cdef void evaluator_cancel(WorkerC* slot, LeafC* leaf) noexcept nogil:
    iteration_cancel(slot)
    leaf.outcome = NO_LEAF


cdef void evaluator_free_leaf(LeafC* leaf) noexcept nogil:
    free(leaf.features)
    leaf.features = NULL
    leaf.room = 0


# --- the evaluator

cdef int evaluator_form(object evaluator, object game) except -1:
    form = getattr(evaluator, "policy", None)
    cdef const GameOps* ops = (<Game?>game).ops
    if not isinstance(form, str):       # perhaps a part of a network
        return 0
    if form == "ids":
        if ops.num_action_ids == 0:
            raise SearchError(f"evaluator: its policy is by ids of actions, which {game.name} does not have; expected "
                              "'features', or no policy", reason="NO_ACTION_IDS")
        return POLICY_IDS
    if form == "features":
        if ops.action_size == 0:
            raise SearchError(f"evaluator: its policy is by features of actions, which {game.name} does not have; "
                              "expected 'ids', or no policy", reason="NO_ACTION_FEATURES")
        return POLICY_FEATURES
    raise SearchError(f"evaluator: its attribute policy is {form!r}; expected 'ids' or 'features'",
                      reason="INVALID_OPTION")


def _numbers(given, name, shape, dtype):
    """Return numbers as an array, whose shape must be the expected one; the last number of `shape` may be a least."""
    try:
        array = np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        array = None
    *lead, width = shape
    is_least = name != "logits"
    if array is not None and array.ndim == len(shape):
        *found, columns = array.shape
        if found == lead and (columns >= width if is_least else columns == width):
            return array
    raise _bad_numbers(given, name, ", ".join([*map(str, lead), f"{'at least ' if is_least else ''}{width}"]))


def _bad_numbers(given, name, expected):
    return SearchError(f"evaluator: given {name} {evaluator_shape_text(given)}; expected finite numbers of shape "
                       f"[{expected}]", reason="BAD_EVALUATION")


cdef str evaluator_shape_text(object given):
    try:
        return f"of shape {np.shape(given)}"
    except ValueError:
        return "in rows of different lengths"


def _seats(given, name, count, seats):
    """Return the columns of the seats, float64 [count, seats], all finite."""
    array = _numbers(given, name, (count, seats), np.float64)[:, :seats]
    if not np.isfinite(array).all():
        raise _bad_numbers(given, name, f"{count}, at least {seats}")
    return array


def _parts(answer, has_policy):
    """Return the values, scores and logits of an answer; None for what it does not give."""
    if has_policy:
        if not isinstance(answer, tuple) or len(answer) != 3:
            raise SearchError(f"evaluator: with a policy it answered {_form(answer)}; expected a tuple of values, "
                              "scores or None, and logits", reason="BAD_EVALUATION")
        return answer
    if not isinstance(answer, tuple):
        return answer, None, None
    if len(answer) != 2:
        raise SearchError(f"evaluator: without a policy it answered {_form(answer)}; expected values, or a tuple of "
                          "them and scores; logits need the attribute policy, 'ids' or 'features'",
                          reason="BAD_EVALUATION")
    return *answer, None


def _form(answer):
    return f"a tuple of {len(answer)}" if isinstance(answer, tuple) else f"{type(answer).__name__!r}"


cdef tuple evaluator_ask(SearchC* search, object evaluator, object rows, object features, object offsets):
    cdef int seats = search.num_players, count = len(rows)
    answer = evaluator(rows) if features is None else evaluator(rows, features, offsets)
    values, scores, logits = _parts(answer, search.policies != NULL)
    cdef bint with_scores = scores is not None
    values = np.clip(_seats(values, "values", count, seats), 0.0, 1.0)
    total = values.sum(axis=1, keepdims=True)
    values = np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), 1.0 / seats)
    if with_scores:
        scores = np.ascontiguousarray(np.clip(_seats(scores, "scores", count, seats), -MOST_POINTS, MOST_POINTS))
    if search.policies != NULL:
        shape = (count, search.ops.num_action_ids)
        if features is not None:
            shape = (len(features),)
        logits = np.ascontiguousarray(_numbers(logits, "logits", shape, np.float32))
    if search.gives_scores == NOT_ASKED:
        search.gives_scores = WITH_SCORES if with_scores else WITHOUT_SCORES
        if not with_scores:
            search.options.margin_weight = 0.0      # nothing is known of the margin
    if with_scores != (search.gives_scores == WITH_SCORES):
        raise SearchError(f"evaluator: answered with{'' if with_scores else 'out'} scores, and "
                          f"with{'out' if with_scores else ''} them before; expected one form in a search",
                          reason="BAD_EVALUATION")
    return np.ascontiguousarray(values), scores, logits


# --- batches

# A batch that is gathered.
ctypedef struct BatchC:
    SearchC* search
    WorkerC* slots
    LeafC* leaves
    float* rows             # an observation a slot
    int num_slots
    bint is_first           # until its end nothing is backed up: the form of the answers is not known
    uint64_t most           # descents that may begin
    uint64_t begun          # counted atomically, like the next one
    uint64_t num_ended      # descents at whose end the game is over, already backed up


# One thread's part of a batch.
ctypedef struct PartC:
    BatchC* batch
    int first
    int stride              # number of threads


cdef void _fill(BatchC* batch, int s) noexcept nogil:
    """Descend to a leaf that waits for its value, in a slot of a batch."""
    cdef SearchC* search = batch.search
    cdef int outcome, tries = 1 if batch.is_first else MOST_TRIES
    batch.leaves[s].outcome = NO_LEAF
    while tries > 0:
        if (atomic_load_u32(&search.limits.stop) != RUNNING or atomic_add_u64(&batch.begun, 1) >= batch.most
                or (not batch.is_first and monotonic_s() >= search.limits.deadline_s)):
            return
        outcome = evaluator_descend(&batch.slots[s], &batch.leaves[s],
                                    batch.rows + <size_t>s * search.ops.observation_size)
        if outcome != ENDED or batch.is_first:
            return
        evaluator_back_up_end(&batch.slots[s], &batch.leaves[s])
        atomic_add_u64(&batch.num_ended, 1)
        tries -= 1


cdef void* _gather(void* argument) noexcept nogil:
    """Fill the slots of a part."""
    cdef PartC* part = <PartC*>argument
    cdef int s = part.first
    while s < part.batch.num_slots:
        _fill(part.batch, s)
        s += part.stride
    return NULL


cdef class _Batches:
    """The two batches of a search, and the threads that gather them."""
    cdef SearchC* search
    cdef int threads
    cdef int batch_size
    cdef int started            # threads that gather a batch now
    cdef uint64_t begun         # iterations that are backed up or wait
    cdef BatchC batches[2]
    cdef LeafC* leaves
    cdef PartC* parts
    cdef pthread_t* ids
    cdef list rows              # float32 [batch_size, size of an observation], of each batch

    def __dealloc__(self):
        cdef int s
        if self.leaves != NULL:
            for s in range(2 * self.batch_size):
                evaluator_free_leaf(&self.leaves[s])
        free(self.leaves)
        free(self.parts)
        free(self.ids)

    cdef int prepare(self, SearchC* search, WorkerC* slots, int batch_size, int threads) except -1:
        cdef BatchC* batch
        cdef float[:, ::1] c_rows
        cdef int k
        self.search = search
        self.threads = threads
        self.batch_size = batch_size
        self.begun = slots[0].iterations
        self.leaves = <LeafC*>calloc(2 * batch_size, sizeof(LeafC))
        self.parts = <PartC*>calloc(threads, sizeof(PartC))
        self.ids = <pthread_t*>calloc(threads, sizeof(pthread_t))
        if self.leaves == NULL or self.parts == NULL or self.ids == NULL:
            raise MemoryError
        self.rows = [np.empty((batch_size, search.ops.observation_size), np.float32) for _ in range(2)]
        for k in range(2):
            c_rows = self.rows[k]
            batch = &self.batches[k]
            batch.search = search
            batch.slots = slots + k * batch_size
            batch.leaves = self.leaves + k * batch_size
            batch.rows = &c_rows[0, 0]
        return 0

    cdef bint begin(self, int k, uint64_t limit) noexcept:
        """Make a batch ready to be gathered; return whether there are iterations left for it."""
        cdef BatchC* batch = &self.batches[k]
        cdef int t
        if self.begun >= limit:
            return False
        batch.is_first = self.search.gives_scores == NOT_ASKED
        # Without the priors of the root's actions nothing else can be gathered.
        batch.num_slots = 1 if batch.is_first and self.search.policies != NULL else self.batch_size
        batch.most = limit - self.begun
        batch.begun = 0
        batch.num_ended = 0
        for t in range(self.threads):
            self.parts[t] = PartC(batch, t, self.threads)
        if self.search.limits.max_iterations < UNLIMITED:
            budget_use_iterations(self.search, self.begun)
        return True

    cdef void gather(self) noexcept nogil:
        """Gather with all threads; the calling one takes the first part, and those of threads that cannot be started.
        """
        cdef int t
        self.start(1)
        _gather(&self.parts[0])
        for t in range(self.started + 1, self.threads):
            _gather(&self.parts[t])
        self.join(1)

    cdef void start(self, int first) noexcept nogil:
        """Start the threads of the parts from `first` on; `started` is the last one that the system has started."""
        self.started = first - 1
        while self.started + 1 < self.threads:
            if thread_start(&self.ids[self.started + 1], _gather, &self.parts[self.started + 1]) != 0:
                break
            self.started += 1

    cdef void join(self, int first) noexcept nogil:
        """Wait for the threads of the parts from `first` on."""
        cdef int t
        for t in range(first, self.started + 1):
            pthread_join(self.ids[t], NULL)

    cdef void gather_rest(self) noexcept nogil:
        """Wait for threads that gather from the first part on, and gather the parts of those that were not started."""
        cdef int t
        self.join(0)
        for t in range(self.started + 1, self.threads):
            _gather(&self.parts[t])

    cdef int count(self, int k) except -1:
        """Count what a batch has begun: it is gathered."""
        cdef BatchC* batch = &self.batches[k]
        cdef int s
        self.begun += batch.num_ended
        atomic_store_u64(&self.batches[0].slots[0].iterations,
                         self.batches[0].slots[0].iterations + batch.num_ended)
        for s in range(batch.num_slots):
            self.begun += batch.leaves[s].outcome >= ENDED
        return 0

    cdef bint has_memory(self, int k) noexcept:
        cdef int s
        for s in range(self.batches[k].num_slots):
            if self.batches[k].leaves[s].outcome == NO_MEMORY:
                return False
        return True

    cdef int evaluate(self, int k, object evaluator, bint gathers) except -1:
        """Evaluate the leaves of a batch and back them up, while threads gather the other one if it `gathers`.

        An error of the evaluator undoes the descents that wait for it, and no others.
        """
        cdef BatchC* batch = &self.batches[k]
        cdef int s
        answer = None
        waiting = [s for s in range(batch.num_slots) if batch.leaves[s].outcome == WAITING]
        if gathers:
            with nogil:
                self.start(0)
        try:
            if waiting or (batch.is_first and self.search.policies == NULL):
                answer = self.ask(k, waiting, evaluator)
        finally:
            if gathers:
                with nogil:
                    self.gather_rest()
                self.count(1 - k)
            if answer is None:
                self.cancel(k)
            self.back_up_ends(k)
        if answer is not None:
            self.back_up(k, waiting, answer)
        return 0

    cdef tuple ask(self, int k, list waiting, object evaluator):
        """Return the checked answer of the evaluator for the leaves that wait; their logits are taken."""
        cdef BatchC* batch = &self.batches[k]
        cdef const float[::1] logits
        cdef const int64_t[::1] c_offsets
        cdef int s, row, width
        rows = self.rows[k]
        if not waiting:
            # The game is over at every leaf. Whether the margin counts there must be known all the same.
            self.search.ops.observe(self.search.root_state, self.search.viewer, batch.rows)
            return evaluator_ask(self.search, evaluator, rows[:1], None, None)
        features, offsets = self.features_of(batch, waiting)
        # The waiting ones are mostly the first ones, and then need no copy.
        rows = rows[:len(waiting)] if waiting[len(waiting) - 1] == len(waiting) - 1 else rows[waiting]
        answer = evaluator_ask(self.search, evaluator, rows, features, offsets)
        if self.search.policies != NULL:
            logits = answer[2].reshape(-1)
            width = self.search.ops.num_action_ids
            c_offsets = np.arange(0, width * (len(waiting) + 1), width, np.int64) if features is None else offsets
            for row, s in enumerate(waiting):
                if not evaluator_take_logits(&batch.slots[s], &batch.leaves[s], &logits[c_offsets[row]]):
                    raise SearchError(f"evaluator: a logit of a legal action is not finite (leaf {row} of "
                                      f"{len(waiting)}); expected finite numbers", reason="BAD_EVALUATION")
        return answer

    cdef tuple features_of(self, BatchC* batch, list waiting):
        """Return the features of the actions of the leaves that wait, [M, F], and the offsets of each leaf [N + 1].

        None if the evaluator does not ask for them.
        """
        cdef int s, row, size = self.search.ops.action_size
        cdef float[:, ::1] c_features
        cdef int64_t[::1] c_offsets
        if self.search.policies == NULL or self.search.policies.form != POLICY_FEATURES:
            return None, None
        offsets = np.zeros(len(waiting) + 1, np.int64)
        c_offsets = offsets
        for row, s in enumerate(waiting):
            c_offsets[row + 1] = c_offsets[row] + batch.leaves[s].num_legal
        features = np.empty((c_offsets[len(waiting)], size), np.float32)
        c_features = features
        for row, s in enumerate(waiting):
            memcpy(&c_features[c_offsets[row], 0], batch.leaves[s].features,
                   <size_t>batch.leaves[s].num_legal * size * sizeof(float))
        return features, offsets

    cdef int back_up_ends(self, int k) except -1:
        """Back up the descents of a first batch at whose leaves the game is over."""
        cdef BatchC* batch = &self.batches[k]
        cdef int s, num_ended = 0
        for s in range(batch.num_slots):
            if batch.leaves[s].outcome == ENDED:
                evaluator_back_up_end(&batch.slots[s], &batch.leaves[s])
                num_ended += 1
        atomic_store_u64(&self.batches[0].slots[0].iterations, self.batches[0].slots[0].iterations + num_ended)
        return 0

    cdef int back_up(self, int k, list waiting, tuple answer) except -1:
        """Back up the descents that wait with the evaluator's answer."""
        cdef BatchC* batch = &self.batches[k]
        cdef const double[:, ::1] values = answer[0]
        cdef const double[:, ::1] scores = answer[1]
        cdef int s, row, kept = 0
        for row, s in enumerate(waiting):
            kept = min(kept, evaluator_back_up(&batch.slots[s], &batch.leaves[s], &values[row, 0],
                                               NULL if scores is None else &scores[row, 0]))
        atomic_store_u64(&self.batches[0].slots[0].iterations,
                         self.batches[0].slots[0].iterations + len(waiting))
        if kept < 0:
            atomic_cas_u32(&self.search.limits.stop, RUNNING, BY_MEMORY)
        return 0

    cdef int cancel(self, int k) except -1:
        """Undo the descents of a batch that still wait."""
        cdef BatchC* batch = &self.batches[k]
        cdef int s
        for s in range(batch.num_slots):
            if batch.leaves[s].outcome == WAITING:
                evaluator_cancel(&batch.slots[s], &batch.leaves[s])
                self.begun -= 1
        return 0


cdef int evaluator_search(SearchC* search, WorkerC* slots, int batch_size, int threads, bint overlaps, object evaluator,
                          unsigned long long most, double until_s) except -1:
    cdef uint64_t limit = min(<uint64_t>most, search.limits.max_iterations)
    cdef _Batches work = _Batches.__new__(_Batches)
    cdef int k = 0
    cdef bint is_gathered = False, gathers, was_first
    work.prepare(search, slots, batch_size, threads)
    try:
        while atomic_load_u32(&search.limits.stop) == RUNNING:
            PyErr_CheckSignals()
            # Step 1. Gather a batch, unless threads have done so while the last one was evaluated.
            if not is_gathered:
                if not work.begin(k, limit):
                    atomic_cas_u32(&search.limits.stop, RUNNING, BY_ITERATIONS)
                    break
                with nogil:
                    work.gather()
                work.count(k)
            # Step 2. Evaluate it, while threads gather the next one, unless there is nothing to select by yet.
            was_first = search.gives_scores == NOT_ASKED
            gathers = (overlaps and not was_first and work.has_memory(k) and monotonic_s() < until_s
                       and work.begin(1 - k, limit))
            work.evaluate(k, evaluator, gathers)
            # Step 3. See what is left of the budget.
            if not work.has_memory(k):
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            if was_first and search.policies != NULL and most > 1 and halving_begin(slots) < 0:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            if search.limits.deadline_s < NEVER_S:
                budget_use_time(search, monotonic_s())
            is_gathered = gathers
            k = 1 - k if gathers else k
            if not is_gathered and monotonic_s() >= until_s:
                break
    finally:
        work.cancel(0)
        work.cancel(1)
    return 0

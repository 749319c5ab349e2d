"""Searching with an evaluator in Python; contracts in ``evaluator.pxd``. The main loop is `evaluator_search`."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from cext.core.search.atomics cimport atomic_cas_u32, atomic_load_u32, atomic_store_u64, monotonic_s
from cext.core.search.budget cimport budget_use_iterations, budget_use_time
from cext.core.contract.errors import SearchError
from cext.core.contract.game cimport GameOps, game_settle_chance
from cext.core.contract.heuristics cimport MOST_POINTS
from cext.core.search.iteration cimport iteration_back_up, iteration_cancel, iteration_descend
from cext.core.search.threads cimport pthread_join, pthread_t, thread_start
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_MEMORY, NEVER_S, RUNNING, UNLIMITED
from cext.core.contract.types cimport MAX_SEATS, TERMINAL

cdef enum:              # of a descent
    NO_MEMORY = 0
    ENDED = 1               # the game is over at its leaf
    WAITING = 2             # for the value of its leaf

# Whether the evaluator gives scores (`SearchC.gives_scores`).
cdef enum:
    NOT_ASKED = 0
    WITHOUT_SCORES = 1
    WITH_SCORES = 2


# One thread's part of a batch.
ctypedef struct PartC:
    SearchC* search
    WorkerC* slots
    int first
    int num_slots               # of the batch
    int stride                  # number of threads
    bint is_first               # batch; until its end nothing is backed up, see `_ask`
    float* rows                 # an observation a slot
    int* outcomes               # one a slot
    int* viewers                # the seat whose observation it is


cdef void _back_up_end(WorkerC* slot) noexcept nogil:
    """Back up a descent at whose leaf the game is over."""
    cdef const GameOps* ops = slot.search.ops
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    ops.returns(slot.state, values)
    ops.scores(slot.state, scores)
    iteration_back_up(slot, values, scores, True)


cdef void* _gather(void* argument) noexcept nogil:
    """Descend to a leaf in every slot of a part, and observe it."""
    cdef PartC* part = <PartC*>argument
    cdef const GameOps* ops = part.search.ops
    cdef WorkerC* slot
    cdef int s = part.first
    while s < part.num_slots:
        slot = part.slots + s
        if iteration_descend(slot) < 0:
            part.outcomes[s] = NO_MEMORY
        else:
            game_settle_chance(ops, slot.state, &slot.rng)
            part.viewers[s] = ops.current_player(slot.state)
            if part.viewers[s] == TERMINAL:
                part.outcomes[s] = ENDED
                if not part.is_first:
                    _back_up_end(slot)
            else:
                ops.observe(slot.state, part.viewers[s], part.rows + <size_t>s * ops.observation_size)
                part.outcomes[s] = WAITING
        s += part.stride
    return NULL


cdef void _gather_all(PartC* parts, pthread_t* ids, int threads) noexcept nogil:
    """Gather with all threads; the calling one takes the first part, and those of threads that cannot be started."""
    cdef int t, started = 0
    for t in range(1, threads):
        if thread_start(&ids[t], _gather, &parts[t]) != 0:
            break
        started = t
    _gather(&parts[0])
    for t in range(started + 1, threads):
        _gather(&parts[t])
    for t in range(1, started + 1):
        pthread_join(ids[t], NULL)


def _checked(answer, int count, int seats):
    """Return the values and scores of an evaluator as float64 [count, seats]; None for scores that it does not give."""
    values, scores = answer if isinstance(answer, tuple) else (answer, None)
    values = _array(values, "values", count, seats)
    values = np.clip(values, 0.0, 1.0)
    total = values.sum(axis=1, keepdims=True)
    values = np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), 1.0 / seats)
    if scores is not None:
        scores = np.ascontiguousarray(np.clip(_array(scores, "scores", count, seats), -MOST_POINTS, MOST_POINTS))
    return np.ascontiguousarray(values), scores


def _array(numbers, name, count, seats):
    try:
        array = np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[0] != count or array.shape[1] < seats or not np.isfinite(array[:, :seats]).all():
        raise SearchError(f"evaluator: given {name} of shape {np.shape(numbers)}; expected finite numbers of shape "
                          f"[{count}, at least {seats}]", reason="BAD_EVALUATION")
    return array[:, :seats]


cdef int evaluator_search(SearchC* search, WorkerC* slots, int num_slots, int threads, object evaluator,
                          unsigned long long most, double until_s) except -1:
    cdef const GameOps* ops = search.ops
    cdef uint64_t started = slots[0].iterations, limit = min(<uint64_t>most, search.limits.max_iterations)
    cdef int t, n
    cdef PartC* parts = <PartC*>calloc(threads, sizeof(PartC))
    cdef pthread_t* ids = <pthread_t*>calloc(threads, sizeof(pthread_t))
    cdef int* outcomes = <int*>calloc(2 * num_slots, sizeof(int))
    rows = np.empty((num_slots, ops.observation_size), np.float32)
    cdef float[:, ::1] c_rows = rows
    try:
        if parts == NULL or ids == NULL or outcomes == NULL:
            raise MemoryError
        while atomic_load_u32(&search.limits.stop) == RUNNING:
            PyErr_CheckSignals()
            n = <int>min(<uint64_t>num_slots, limit - started)
            if n == 0:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_ITERATIONS)
                break
            if search.limits.max_iterations < UNLIMITED:
                budget_use_iterations(search, started)
            for t in range(threads):
                parts[t] = PartC(search, slots, t, n, threads, search.gives_scores == NOT_ASKED, &c_rows[0, 0],
                                 outcomes, outcomes + num_slots)
            with nogil:
                _gather_all(parts, ids, threads)
            started += n
            _finish(search, slots, n, outcomes, outcomes + num_slots, evaluator, c_rows, rows)
            if slots[0].iterations < started:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            if search.limits.deadline_s < NEVER_S:
                budget_use_time(search, monotonic_s())
            if monotonic_s() >= until_s:
                break
    finally:
        free(parts)
        free(ids)
        free(outcomes)
    return 0


cdef tuple _ask(SearchC* search, object evaluator, object rows):
    """Return the values and scores of the evaluator for some observations; see `_checked`.

    Its first answer decides, before anything is backed up, whether the margin counts in the search.
    """
    answer = _checked(evaluator(rows), len(rows), search.num_players)
    cdef bint with_scores = answer[1] is not None
    if search.gives_scores == NOT_ASKED:
        search.gives_scores = WITH_SCORES if with_scores else WITHOUT_SCORES
        if not with_scores:
            search.options.margin_weight = 0.0      # nothing is known of the margin
    if with_scores != (search.gives_scores == WITH_SCORES):
        raise SearchError(f"evaluator: answered with{'' if with_scores else 'out'} scores, and "
                          f"with{'out' if with_scores else ''} them before; expected one form in a search",
                          reason="BAD_EVALUATION")
    return answer


cdef int _finish(SearchC* search, WorkerC* slots, int n, const int* outcomes, const int* viewers, object evaluator,
                 float[:, ::1] c_rows, object rows) except -1:
    """Evaluate the leaves of a batch and back them up; count the descents that are backed up.

    An error of the evaluator undoes the descents that wait for it, and no others.
    """
    cdef bint is_first = search.gives_scores == NOT_ASKED
    cdef int s, num_ended = 0
    waiting = [s for s in range(n) if outcomes[s] == WAITING]
    answer = None
    try:
        if waiting:
            answer = _ask(search, evaluator, rows[:n] if len(waiting) == n else rows[waiting])
        elif is_first:
            # The game is over at every leaf. Whether the margin counts there must be known all the same.
            search.ops.observe(search.root_state, search.viewer, &c_rows[0, 0])
            _ask(search, evaluator, rows[:1])
    finally:
        for s in range(n):
            if outcomes[s] == ENDED:
                num_ended += 1
                if is_first:
                    _back_up_end(&slots[s])
            elif outcomes[s] == WAITING and answer is None:
                iteration_cancel(&slots[s])
        atomic_store_u64(&slots[0].iterations, slots[0].iterations + num_ended)
    if answer is not None:
        _back_up_waiting(search, slots, waiting, viewers, answer)
    return 0


cdef int _back_up_waiting(SearchC* search, WorkerC* slots, list waiting, const int* viewers, tuple answer) except -1:
    """Back up the other descents with the evaluator's answer."""
    cdef int s, k, seat, row
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef const double[:, ::1] c_values = answer[0]
    cdef const double[:, ::1] c_scores = answer[1]
    for row, s in enumerate(waiting):
        if c_scores is None:
            search.ops.scores(slots[s].state, scores)
        for k in range(search.num_players):
            seat = (viewers[s] + k) % search.num_players
            values[seat] = c_values[row, k]
            if c_scores is not None:
                scores[seat] = c_scores[row, k]
        iteration_back_up(&slots[s], values, scores, False)
    atomic_store_u64(&slots[0].iterations, slots[0].iterations + len(waiting))
    return 0

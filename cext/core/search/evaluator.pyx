"""Searching with an evaluator in Python; contracts in ``evaluator.pxd``. The main loop is `evaluator_search`."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from cext.core.search.atomics cimport (atomic_cas_u32, atomic_load_u32, atomic_store_u32, atomic_store_u64, monotonic_s)
from cext.core.contract.errors import SearchError
from cext.core.contract.game cimport GameOps, game_settle_chance
from cext.core.search.halving cimport halving_advance
from cext.core.contract.heuristics cimport MOST_POINTS
from cext.core.search.threads cimport pthread_join, pthread_t, thread_start
from cext.core.search.turn_search cimport BY_ITERATIONS, BY_MEMORY, BY_TIME, NEVER_S, RUNNING, UNLIMITED
from cext.core.contract.types cimport MAX_SEATS, TERMINAL

cdef enum:              # of a descent
    NO_MEMORY = 0
    BACKED_UP = 1           # the game is over at its leaf
    WAITING = 2             # for the value of its leaf


# What one thread does for a batch.
ctypedef struct PartC:
    SearchC* search
    WorkerC* slots
    int first
    int num_slots               # of the batch
    int stride                  # number of threads
    const StepsC* steps
    float* rows                 # an observation a slot
    int* outcomes               # one a slot
    int* viewers                # the seat whose observation it is


cdef void* _gather(void* argument) noexcept nogil:
    """Descend to a leaf in every slot of a part, and observe it."""
    cdef PartC* part = <PartC*>argument
    cdef const GameOps* ops = part.search.ops
    cdef WorkerC* slot
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef int s = part.first
    while s < part.num_slots:
        slot = part.slots + s
        if part.steps.descend(slot) < 0:
            part.outcomes[s] = NO_MEMORY
        else:
            game_settle_chance(ops, slot.state, &slot.rng)
            part.viewers[s] = ops.current_player(slot.state)
            if part.viewers[s] == TERMINAL:
                ops.returns(slot.state, values)
                ops.scores(slot.state, scores)
                part.steps.back_up(slot, values, scores, True)
                part.outcomes[s] = BACKED_UP
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


def _checked(found, int count, int seats):
    """Return the values and scores of an evaluator as float64 [count, seats]; None for scores that it does not give."""
    values, scores = found if isinstance(found, tuple) else (found, None)
    values = _array(values, "values", count, seats)
    values = np.clip(values, 0.0, 1.0)
    total = values.sum(axis=1, keepdims=True)
    values = np.where(total > 0.0, values / np.where(total > 0.0, total, 1.0), 1.0 / seats)
    if scores is not None:
        scores = np.ascontiguousarray(np.clip(_array(scores, "scores", count, seats), -MOST_POINTS, MOST_POINTS))
    return np.ascontiguousarray(values), scores


def _array(given, name, count, seats):
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[0] != count or array.shape[1] < seats or not np.isfinite(array[:, :seats]).all():
        raise SearchError(f"evaluator: given {name} of shape {np.shape(given)}; expected finite numbers of shape "
                          f"[{count}, at least {seats}]", reason="BAD_EVALUATION")
    return array[:, :seats]


cdef int evaluator_search(SearchC* search, WorkerC* slots, int num_slots, int threads, const StepsC* steps,
                          object evaluator, unsigned long long most, double until_s) except -1:
    cdef const GameOps* ops = search.ops
    cdef uint64_t started = slots[0].iterations, limit = min(<uint64_t>most, search.limits.max_iterations)
    cdef double now_s
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
                if started >= search.confirm_iterations:
                    atomic_store_u32(&search.is_confirming, 1)
                halving_advance(search, <double>started / search.limits.max_iterations)
            for t in range(threads):
                parts[t] = PartC(search, slots, t, n, threads, steps, &c_rows[0, 0], outcomes, outcomes + num_slots)
            with nogil:
                _gather_all(parts, ids, threads)
            started += n
            _finish(search, slots, n, steps, outcomes, outcomes + num_slots, evaluator, rows)
            if slots[0].iterations < started:
                atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            if search.limits.deadline_s < NEVER_S:
                now_s = monotonic_s()
                if now_s >= search.confirm_s:
                    atomic_store_u32(&search.is_confirming, 1)
                halving_advance(search, (now_s - search.limits.began_s)
                                / (search.limits.deadline_s - search.limits.began_s))
                if now_s >= search.limits.deadline_s:
                    atomic_cas_u32(&search.limits.stop, RUNNING, BY_TIME)
            if monotonic_s() >= until_s:
                break
    finally:
        free(parts)
        free(ids)
        free(outcomes)
    return 0


cdef int _finish(SearchC* search, WorkerC* slots, int n, const StepsC* steps, const int* outcomes, const int* viewers,
                 object evaluator, object rows) except -1:
    """Evaluate the leaves of a batch and back them up; count the descents that are backed up."""
    cdef int s, k, seat, row, seats = search.num_players, backed_up = 0
    cdef double values[MAX_SEATS]
    cdef double scores[MAX_SEATS]
    cdef const double[:, ::1] c_values
    cdef const double[:, ::1] c_scores
    waiting = [s for s in range(n) if outcomes[s] == WAITING]
    for s in range(n):
        backed_up += outcomes[s] == BACKED_UP
    atomic_store_u64(&slots[0].iterations, slots[0].iterations + backed_up)
    if not waiting:
        return 0
    try:
        found, points = _checked(evaluator(rows[:n] if len(waiting) == n else rows[waiting]), len(waiting), seats)
    except BaseException:
        for s in waiting:
            steps.leave(&slots[s])
        raise
    c_values = found
    if points is None:
        search.options.margin_weight = 0.0      # nothing is known of the margin
    else:
        c_scores = points
    for row, s in enumerate(waiting):
        if points is None:
            search.ops.scores(slots[s].state, scores)
        for k in range(seats):
            seat = (viewers[s] + k) % seats
            values[seat] = c_values[row, k]
            if points is not None:
                scores[seat] = c_scores[row, k]
        steps.back_up(&slots[s], values, scores, False)
    atomic_store_u64(&slots[0].iterations, slots[0].iterations + len(waiting))
    return 0

"""The native threads of a search; contracts in ``team.pxd``."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from cext.core.search.atomics cimport (atomic_add_u32, atomic_add_u64, atomic_cas_u32, atomic_load_u32,
                                       atomic_store_u64, monotonic_s, semaphore_post, semaphore_wait,
                                       thread_add_niceness)
from cext.core.contract.failure cimport failure_hand_over
from cext.core.search.budget cimport budget_use_iterations, budget_use_time
from cext.core.search.graph cimport NO_NODE, EdgeC, NodeC, graph_shared_edge
from cext.core.search.iteration cimport iteration_run
from cext.core.search.proof cimport proof_is_lost
from cext.core.search.threads cimport pthread_join, thread_is_self, thread_start
from cext.core.search.turn_search cimport BY_MEMORY, BY_STOP, NEVER_S, RUNNING, SETTLED, SIGNALS_S, UNLIMITED
from cext.core.search.worker cimport SearchC, search_own_visits

import threading

from cext.core.contract.errors import SearchError

cdef enum:
    SETTLED_EVERY = 64          # fewest iterations of a thread between checks whether the turn is settled

# Seconds after which a calling thread other than the main one wakes. Python handles signals in the main thread, so
# other threads need not take the GIL to check for them.
cdef double LONG_S = 3600.0


cdef void* _work(void* argument) noexcept nogil:
    """The body of a native thread: iterate until the search stops."""
    cdef WorkerC* worker = <WorkerC*>argument
    cdef SearchC* search = worker.search
    cdef double now_s
    cdef int kept
    thread_add_niceness(search.niceness)
    while atomic_load_u32(&search.limits.stop) == RUNNING:
        if (search.limits.max_iterations < UNLIMITED
                and not budget_use_iterations(search, atomic_add_u64(&search.started, 1))):
            break
        kept = iteration_run(worker)
        if failure_hand_over(&search.failure):
            atomic_cas_u32(&search.limits.stop, RUNNING, BY_STOP)
            break
        if kept < 0:
            atomic_cas_u32(&search.limits.stop, RUNNING, BY_MEMORY)
            break
        atomic_store_u64(&worker.iterations, worker.iterations + 1)
        if search.limits.deadline_s < NEVER_S:
            now_s = monotonic_s()
            if (budget_use_time(search, now_s)
                    and worker.iterations % max(<uint32_t>SETTLED_EVERY,
                                                atomic_load_u32(&search.graph.num_ends) // 4) == 0
                    and search.limits.max_iterations == UNLIMITED
                    and search.options.early_stop > 0 and search.options.halving < 2
                    and atomic_load_u32(&search.is_confirming) and _is_settled(search, now_s)):
                atomic_cas_u32(&search.limits.stop, RUNNING, SETTLED)
    if atomic_add_u32(&search.workers_running, <uint32_t>-1) == 1:
        search.ended_s = monotonic_s()
        semaphore_post(&search.ended)
    return NULL


cdef bint _is_settled(SearchC* search, double now_s) noexcept nogil:
    """Return whether the best end of the turn leads by more visits than there is time for iterations."""
    cdef NodeC* nodes = search.graph.nodes
    cdef const EdgeC* shared
    cdef bint is_same           # whether an end is of the turn that leads
    cdef uint32_t index = atomic_load_u32(&search.graph.first_end), visits, most = 0, second = 0, best = NO_NODE
    cdef uint32_t parent = NO_NODE      # of ends of several nodes
    while index != NO_NODE:
        shared = graph_shared_edge(&search.graph, index)
        is_same = False
        if shared != NULL:
            # The same actions in another order may lead to such ends, too. Then no edge has all visits of the turn.
            if parent != NO_NODE and parent != nodes[index].parent:
                return False
            parent = nodes[index].parent
            is_same = nodes[best].parent == parent and nodes[best].from_action == nodes[index].from_action
        if proof_is_lost(search, index):
            visits = 0
        elif shared != NULL:
            visits = atomic_load_u32(&shared.visits)
        else:
            visits = atomic_load_u32(&nodes[index].finished)
        if visits > most and not is_same:
            second = most
            most = visits
            best = index
        elif visits > second and not is_same:
            second = visits
        index = atomic_load_u32(&nodes[index].next_end)
    return team_is_settled(most, second, search_own_visits(search, search.root),
                           now_s - search.limits.began_s, search.limits.deadline_s - now_s)


cdef bint team_is_settled(double most, double second, double iterations, double spent_s,
                          double left_s) noexcept nogil:
    # 1.2: the search may become faster.
    return most > second + 1.2 * iterations * left_s / spent_s


# --- for the thread that calls

cdef int team_start(TeamC* team, WorkerC* workers, int threads) except -1:
    cdef pthread_t* ids = <pthread_t*>malloc(threads * sizeof(pthread_t))
    cdef int created = 0, error = 0
    if ids == NULL:
        raise MemoryError
    team.search = workers.search
    team.search.workers_running = threads
    with nogil:
        while created < threads:
            error = thread_start(&ids[created], _work, &workers[created])
            if error != 0:
                break
            created += 1
    # Only now, with the GIL: another thread may be about to join them.
    team.created = created
    team.ids = ids
    if error != 0:
        team_join(team)
        team.search.workers_running = 0
        raise SearchError(f"the system refused thread {created + 1} of {threads} (error {error})",
                          reason="NO_THREADS")
    return 0


cdef bint team_wait(TeamC* team, double until_s) except? False:
    cdef bint has_ended = False
    cdef double now_s, wait_s, nap_s
    nap_s = SIGNALS_S if threading.get_ident() == threading.main_thread().ident else LONG_S
    while True:
        with nogil:
            now_s = monotonic_s()
            wait_s = min(nap_s, max(0.0, until_s - now_s))
            has_ended = semaphore_wait(&team.search.ended, wait_s)
        if has_ended:
            return True
        PyErr_CheckSignals()
        if monotonic_s() >= until_s:
            return False


cdef bint team_join(TeamC* team) noexcept:
    cdef pthread_t* ids = team.ids
    cdef int i
    if ids == NULL:
        return True
    atomic_cas_u32(&team.search.limits.stop, RUNNING, BY_STOP)
    for i in range(team.created):
        if thread_is_self(ids[i]):
            return False
    team.ids = NULL
    with nogil:
        for i in range(team.created):
            pthread_join(ids[i], NULL)
    free(ids)
    return True

"""The base of all searches of one turn: `Search`, `UCT` and `Beam`.

It checks the arguments, copies the position, holds the limits and the stop reason, and builds the result. A subclass
adds the search itself; ``turn_search.pxd`` declares the methods that it defines.
"""

from libc.stdlib cimport free, malloc

from cext.core.search.atomics cimport atomic_cas_u32, atomic_load_u32, monotonic_s
from cext.core.contract.failure cimport failure_drop, failure_raise
from cext.core.contract.game cimport game_apply, game_require_seat
from cext.core.contract.types cimport action_t
from cext.core.learning.weights cimport weights_data

from cext.core.contract.errors import SearchError

# `mexica_ai.analysis.limits` and `mexica_ai.io.numbers` take these from here.
DEFAULT_MEMORY_MB = 1024
MAX_MEMORY_MB = 1_000_000
MAX_THREADS = 256           # of the searches that take more than one
MAX_TIME_S = 100_000_000    # three years


cdef class TurnSearch:
    """One search of one turn of one position.

    The search copies the state when it is created, so callers need not copy it and may change it afterwards.

    Attributes
    ----------
    state : State
        The search's copy.
    weights : Weights or None
        None for a search that does not use them.
    threads : int
        Native threads.
    seed : int
    """

    cdef int _prepare(self, State state, int threads, int max_threads, double memory_mb, object seed,
                      bint may_wait=False) except -1:
        if not may_wait or state.is_terminal:
            game_require_seat(state)
        if not 1 <= threads <= max_threads:
            expected = f"1 to {max_threads}" if max_threads > 1 else "1"
            raise SearchError(f"threads: {threads}, expected {expected}", reason="INVALID_LIMITS")
        if not 1 <= memory_mb <= MAX_MEMORY_MB:
            raise SearchError(f"memory_mb: {memory_mb}, expected 1 to {MAX_MEMORY_MB}", reason="INVALID_LIMITS")
        self.state = state.copy()
        self.threads = threads
        self.seed = seed
        self.ops = state.game.ops
        self.root_turn = self.ops.turn(state.data)
        self.limits.stop = RUNNING
        if self.ops.begin_search != NULL:
            self.ops.begin_search(self.state.data)
        return 0

    cdef int _use_weights(self, object weights) except -1:
        self.weights_data = weights_data(self.ops, weights)
        self.weights = weights
        return 0

    cdef int _restrict(self, object allow, object avoid) except -1:
        cdef int i
        avoid = avoid or ()
        if allow is None and not avoid:
            return 0
        legal = self.state.legal_actions()
        for action in (*(allow or ()), *avoid):
            if action not in legal:
                raise SearchError(f"first action {action}: not legal", reason="ILLEGAL_FIRST_ACTION")
        kept = [action for action in legal if (allow is None or action in allow) and action not in avoid]
        if not kept:
            raise SearchError("first actions: none is left; expected at least one", reason="NO_FIRST_ACTION")
        if len(kept) < len(legal):
            self.first_actions = <action_t*>malloc(len(kept) * sizeof(action_t))
            if self.first_actions == NULL:
                raise MemoryError
            for i in range(len(kept)):
                self.first_actions[i] = kept[i]
            self.num_first = len(kept)
        return 0

    def __dealloc__(self):
        free(self.first_actions)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: it owns the memory of one search; "
                        "make one from its state, or take its result()")

    def run(self, time_s=None, iterations=None):
        """Search until a limit is reached or `stop` is called. Releases the GIL; may be called once.

        Parameters
        ----------
        time_s : float, optional
            Seconds for the whole turn, > 0, at most 100,000,000.
        iterations : int, optional
            Iterations of all threads together, >= 1.

        Raises
        ------
        SearchError
            If the search has run before or a limit is out of range.
        KeyboardInterrupt
            On Ctrl-C, after the search has ended; `result` is valid then.
        """
        self.start(time_s, iterations)
        self.wait()

    def start(self, time_s=None, iterations=None):
        """Begin a search whose limits are those of `run`; `wait` goes on with it."""
        if self._has_begun:
            raise SearchError("a search runs once", reason="SEARCH_REUSED")
        if time_s is not None and not 0 < time_s <= MAX_TIME_S:
            raise SearchError(f"time_s: {time_s}, expected more than 0, at most {MAX_TIME_S}", reason="INVALID_LIMITS")
        if iterations is not None and not 1 <= iterations < 2**63:
            raise SearchError(f"iterations: {iterations}, expected at least 1", reason="INVALID_LIMITS")
        self.limits.began_s = monotonic_s()
        self.limits.deadline_s = self.limits.began_s + time_s if time_s is not None else NEVER_S
        self.limits.max_iterations = iterations if iterations is not None else UNLIMITED
        self._has_begun = True

    def wait(self, timeout_s=None):
        """Return whether the search that was started has ended; wait for its end, at most `timeout_s` seconds.

        Only `Search` heeds `timeout_s`: other searches run here, to their end.
        """
        cdef int reason = BY_STOP
        self._require_start()
        if not self._has_ended:
            self._require_alone()
            self._is_waited_for = True
            try:
                reason = self._search()
            except BaseException:
                failure_drop()
                raise
            finally:
                self._is_waited_for = False
                self._end(reason, monotonic_s())
            failure_raise()
        return True

    cdef int _end(self, int reason, double ended_s) except -1:
        atomic_cas_u32(&self.limits.stop, RUNNING, reason)
        self._seconds = ended_s - self.limits.began_s
        self._has_ended = True
        return 0

    def stop(self):
        """Ask the search to end with what it has found. Any thread may call it; before `run`, `run` ends at once."""
        atomic_cas_u32(&self.limits.stop, RUNNING, BY_STOP)

    def join(self):
        """Wait for the threads of a search that still run after `run` or `wait` has returned; only `Search` has any."""

    def result(self, int num_candidates=1):
        """Return what the search has found.

        Parameters
        ----------
        num_candidates : int
            Maximum number of candidate turns, >= 1. There may be fewer, but there is always one.

        Returns
        -------
        dict
            ``candidates`` (list of dict: ``actions``, ``visits``, ``value``, ``expected_scores``, ``prior``,
            ``line``; of `Search` also ``forecast``, the standard errors ``value_error`` and ``expected_scores_error``,
            and ``is_proved``: whether the outcome of best play after it is known), ``iterations``, ``nodes``,
            ``seconds``, ``stop_reason`` (empty while running), ``distinct_turns`` (distinct ends of the turn that were
            reached), ``memory_bytes``, ``threads``, ``seed``, ``first_actions`` (list of dict: ``action``, ``visits``,
            ``prior``, ``value``, ``is_proved``; those with visits, most visited first; empty if the search does not
            tell).

        Raises
        ------
        SearchError
            If `num_candidates` is out of range, or the search has no result before its end (reason SEARCH_RUNNING).
        """
        cdef bint is_running = self._has_begun and not self._has_ended
        cdef uint32_t stop = atomic_load_u32(&self.limits.stop)
        if num_candidates < 1:
            raise SearchError(f"candidates: {num_candidates}, expected at least 1", reason="INVALID_LIMITS")
        # Counted before the candidates are read: whatever is counted has its value in them, also while threads search.
        counts, candidates, considered = self._counts(), self._candidates(num_candidates), self._considered()
        failure_raise()
        return {
            "candidates": candidates,
            "first_actions": considered,
            **counts,
            "seconds": monotonic_s() - self.limits.began_s if is_running else self._seconds,
            "stop_reason": stop_reason_word(RUNNING if is_running else stop),
            "threads": self.threads,
            "seed": self.seed,
        }

    cdef bint _is_forced(self) except *:
        cdef State state = self.state.copy()
        cdef action_t* actions = <action_t*>malloc(self.ops.max_actions * sizeof(action_t))
        cdef bint is_forced = True, is_first = True
        cdef int num_legal
        if actions == NULL:
            raise MemoryError
        while is_forced and self.ops.turn(state.data) == self.root_turn and self.ops.current_player(state.data) >= 0:
            num_legal = self.ops.legal_actions(state.data, actions)
            if is_first and self.num_first > 0:
                num_legal = self.num_first
                actions[0] = self.first_actions[0]
            is_first = False
            is_forced = num_legal == 1
            if is_forced:
                game_apply(self.ops, state.data, actions[0])
        free(actions)
        failure_raise()
        return is_forced

    cdef int _require_start(self) except -1:
        if not self._has_begun:
            raise SearchError("the search has not been started", reason="SEARCH_NOT_STARTED")
        return 0

    cdef int _require_end(self) except -1:
        if not self._has_ended:
            raise SearchError("the search has not ended", reason="SEARCH_RUNNING")
        return 0

    cdef int _require_alone(self) except -1:
        if self._is_waited_for:
            raise SearchError("another thread waits for this search", reason="SEARCH_RUNNING")
        return 0

    cdef int _search(self) except -1:
        raise NotImplementedError

    cdef bint _lend(self, void** search, void** slots) except *:
        raise NotImplementedError

    cdef list _candidates(self, int count):
        raise NotImplementedError

    cdef list _considered(self):
        return []

    cdef dict _counts(self):
        raise NotImplementedError

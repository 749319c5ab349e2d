"""The native threads of a search, as the thread that calls it sees them."""

from cext.core.search.threads cimport pthread_t
from cext.core.search.worker cimport SearchC, WorkerC

# All zero: no threads.
ctypedef struct TeamC:
    SearchC* search
    pthread_t* ids              # threads not joined yet, NULL if none
    int created

# Starts a thread a worker, or none and raises SearchError. They iterate until the search stops.
cdef int team_start(TeamC* team, WorkerC* workers, int threads) except -1

# Sleeps until the threads have ended, or until a time on the monotonic clock; returns whether they have ended. The main
# thread also wakes to handle signals, and raises what a handler raises.
cdef bint team_wait(TeamC* team, double until_s) except? False

# Whether the time left is too short for the second end of a turn to get as many visits as the first.
cdef bint team_is_settled(double most, double second, double iterations, double spent_s, double left_s) noexcept nogil

# Stops the threads and waits until they have ended. In one of them, which cannot wait for itself, it only stops them
# and returns False: the garbage collector may run there, in a method of a game in Python.
cdef bint team_join(TeamC* team) noexcept

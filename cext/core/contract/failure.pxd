"""Failures of games in Python (``pyops.pyx``), by thread: the functions of a table cannot raise.

A method that raises an exception leaves it to its thread. Until it is raised, the other functions of such games return
at once, with what ends every loop: TERMINAL, one action, another turn at each call. So whoever calls a table from
Python calls `failure_raise` at the end.
"""

# Whether a failure is left to this thread.
cdef bint failure_is_left() noexcept nogil

# Leaves an exception to this thread, unless it has one.
cdef int failure_leave(error) except -1

# A turn that no state has, another one at each call.
cdef int failure_turn() noexcept nogil

# Moves the failure of this thread, if it has one, to `place`, unless that has one. Returns whether there was one.
cdef bint failure_hand_over(void** place) noexcept nogil

# Releases what was handed over to `place`, if anything was.
cdef void failure_forget(void** place) noexcept

# Releases what is left to this thread, if anything is: after another error, or it would be raised by the next call.
cdef void failure_drop() noexcept

# Raises what was handed over to `place`, or else what is left to this thread; both are forgotten.
cdef int failure_raise(void** place=?) except -1

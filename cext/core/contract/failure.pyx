"""Failures of games in Python, by thread; contracts in ``failure.pxd``."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

cdef extern from *:
    """
    static __thread void *left = 0;     /* an exception, owned */
    static __thread int turns = 0;
    static inline void failure_set(void *value) { left = value; }
    static inline int failure_next_turn(void) {     /* more than a game has, and far from overflow */
        turns = (turns + 1) & 0xfffff;
        return (1 << 30) + turns;
    }
    static inline int failure_put_once(void **place, void *value) {
        void *nothing = 0;
        return __atomic_compare_exchange_n(place, &nothing, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    static inline void *failure_take(void **place) { return __atomic_exchange_n(place, 0, __ATOMIC_ACQ_REL); }
    """
    void* left
    void failure_set(void* value) noexcept nogil
    int failure_next_turn() noexcept nogil
    bint failure_put_once(void** place, void* value) noexcept nogil
    void* failure_take(void** place) noexcept nogil


cdef bint failure_is_left() noexcept nogil:
    return left != NULL


cdef int failure_leave(error) except -1:
    if left == NULL:
        Py_INCREF(error)
        failure_set(<void*><PyObject*>error)
    return 0


cdef int failure_turn() noexcept nogil:
    return failure_next_turn()


cdef bint failure_hand_over(void** place) noexcept nogil:
    cdef void* failure = left
    if failure == NULL:
        return False
    failure_set(NULL)
    if not failure_put_once(place, failure):
        with gil:
            Py_DECREF(<object><PyObject*>failure)
    return True


cdef void failure_forget(void** place) noexcept:
    cdef void* failure = failure_take(place)
    if failure != NULL:
        Py_DECREF(<object><PyObject*>failure)


cdef void failure_drop() noexcept:
    cdef void* failure = left
    failure_set(NULL)
    if failure != NULL:
        Py_DECREF(<object><PyObject*>failure)


cdef int failure_raise(void** place=NULL) except -1:
    cdef void* failure = NULL
    if place != NULL:
        failure = failure_take(place)
    if failure == NULL:
        failure = left
        failure_set(NULL)
    failure_drop()
    if failure != NULL:
        error = <object><PyObject*>failure
        Py_DECREF(error)
        raise error
    return 0

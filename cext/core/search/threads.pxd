"""Declarations of ``threads.h``."""

cdef extern from "threads.h" nogil:
    ctypedef unsigned long pthread_t
    int thread_start(pthread_t* thread, void* (*start)(void*) noexcept nogil, void* argument)
    bint thread_is_self(pthread_t thread)
    int pthread_join(pthread_t thread, void** result)

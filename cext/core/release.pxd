"""Declarations of ``release.h``."""

cdef extern from "release.h" nogil:
    void release(void* block)

"""Declarations of ``memory.h``."""

cdef extern from "memory.h" nogil:
    void* memory_reserve(size_t size)
    void memory_release(void* block, size_t size)

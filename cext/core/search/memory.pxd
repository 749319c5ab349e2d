"""Declarations of ``memory.h``."""

cdef extern from "memory.h" nogil:
    void* memory_reserve(size_t size)
    void memory_expect(void* block, size_t size, size_t expected)
    void memory_release(void* block, size_t size, size_t touched)

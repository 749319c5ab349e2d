"""Declarations of ``atomics.h``."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "atomics.h" nogil:
    enum:
        CACHE_LINE
    uint8_t atomic_load_u8(const uint8_t* p)
    void atomic_store_u8(uint8_t* p, uint8_t v)
    uint16_t atomic_load_u16(const uint16_t* p)
    void atomic_store_u16(uint16_t* p, uint16_t v)
    uint32_t atomic_load_u32(const uint32_t* p)
    void atomic_store_u32(uint32_t* p, uint32_t v)
    uint32_t atomic_add_u32(uint32_t* p, uint32_t v)          # returns the value before
    uint64_t atomic_load_u64(const uint64_t* p)
    void atomic_store_u64(uint64_t* p, uint64_t v)
    uint64_t atomic_add_u64(uint64_t* p, uint64_t v)
    bint atomic_cas_u32(uint32_t* p, uint32_t expected, uint32_t desired)
    double atomic_load_f64(const double* p)
    void atomic_store_f64(double* p, double v)
    void atomic_add_f64_locked(double* p, double v)
    void prefetch(const void* p)
    void spin_lock(uint32_t* lock)
    void spin_unlock(uint32_t* lock)
    double monotonic_s()
    ctypedef struct semaphore_t:
        pass
    int semaphore_init(semaphore_t* semaphore)
    void semaphore_post(semaphore_t* semaphore)
    void semaphore_destroy(semaphore_t* semaphore)
    bint semaphore_wait(semaphore_t* semaphore, double seconds)
    void thread_add_niceness(int more)

/* Atomics, locks, clock, waiting and priority: names for GCC builtins and POSIX calls that Cython cannot express. */
#ifndef CEXT_ATOMICS_H
#define CEXT_ATOMICS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE                     /* sem_clockwait */
#endif
#include <sched.h>
#include <stdint.h>
#include <time.h>
#ifdef __linux__
#include <sys/resource.h>
#endif
#ifdef __APPLE__
#include <dispatch/dispatch.h>          /* its POSIX semaphores have no sem_init */
#else
#include <semaphore.h>
#endif

/* Bytes between data that different threads write. Closer together, the threads would compete for one cache line. */
#define CACHE_LINE 64

static inline uint32_t atomic_load_u32(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void atomic_store_u32(uint32_t *p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline uint32_t atomic_add_u32(uint32_t *p, uint32_t v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static inline uint8_t atomic_load_u8(const uint8_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void atomic_store_u8(uint8_t *p, uint8_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline uint16_t atomic_load_u16(const uint16_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void atomic_store_u16(uint16_t *p, uint16_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline uint64_t atomic_load_u64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline uint64_t atomic_add_u64(uint64_t *p, uint64_t v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static inline void atomic_store_u64(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline int atomic_cas_u32(uint32_t *p, uint32_t expected, uint32_t desired) {
    return __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* A double that one thread at a time adds to (under a lock) while others read it. */
static inline double atomic_load_f64(const double *p) {
    double v;
    __atomic_load(p, &v, __ATOMIC_RELAXED);
    return v;
}
static inline void atomic_store_f64(double *p, double v) { __atomic_store(p, &v, __ATOMIC_RELAXED); }
static inline void atomic_add_f64_locked(double *p, double v) {
    double sum = *p + v;
    __atomic_store(p, &sum, __ATOMIC_RELAXED);
}

/* Prefetches the cache line at `p`, which will be read soon. Any address is allowed. */
static inline void prefetch(const void *p) { __builtin_prefetch(p); }

/* Spin lock for short sections: adding to sums, or adding edges to a node. No function of a game is called under it.
 * A waiting thread yields now and then, in case the holder is not running. */
static inline void spin_lock(uint32_t *lock) {
    int spins = 0;
    while (__atomic_exchange_n(lock, 1u, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(lock, __ATOMIC_RELAXED)) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
            if (++spins > 200) {
                sched_yield();
                spins = 0;
            }
        }
    }
}
static inline void spin_unlock(uint32_t *lock) { __atomic_store_n(lock, 0u, __ATOMIC_RELEASE); }

/* Seconds on a clock that never jumps. */
static inline double monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A semaphore. semaphore_wait sleeps until it is posted, a signal arrives, or the time is over, and returns 1 if it was
 * posted. (macOS does not wake for signals. A C library without sem_clockwait, which glibc has from 2.30 on, waits on
 * the clock of the day: if that is set back, the sleep is longer.) */
#ifdef __APPLE__
typedef dispatch_semaphore_t semaphore_t;
static inline int semaphore_init(semaphore_t *semaphore) {
    *semaphore = dispatch_semaphore_create(0);
    return *semaphore == NULL ? -1 : 0;
}
static inline void semaphore_post(semaphore_t *semaphore) { dispatch_semaphore_signal(*semaphore); }
static inline void semaphore_destroy(semaphore_t *semaphore) {
    if (*semaphore != NULL) {
        dispatch_release(*semaphore);
    }
}
static inline int semaphore_wait(semaphore_t *semaphore, double seconds) {
    return dispatch_semaphore_wait(*semaphore, dispatch_time(DISPATCH_TIME_NOW, (int64_t)(1e9 * seconds))) == 0;
}
#else
typedef sem_t semaphore_t;
static inline int semaphore_init(semaphore_t *semaphore) { return sem_init(semaphore, 0, 0); }
static inline void semaphore_post(semaphore_t *semaphore) { sem_post(semaphore); }
static inline void semaphore_destroy(semaphore_t *semaphore) { sem_destroy(semaphore); }
static inline int semaphore_wait(semaphore_t *semaphore, double seconds) {
    struct timespec until;
    double until_s;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
    until_s = monotonic_s() + seconds;
#else
    clock_gettime(CLOCK_REALTIME, &until);
    until_s = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + seconds;
#endif
    until.tv_sec = (time_t)until_s;
    until.tv_nsec = (long)(1e9 * (until_s - (double)until.tv_sec));
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &until) == 0;
#else
    return sem_timedwait(semaphore, &until) == 0;
#endif
}
#endif

/* Raises the niceness of the calling thread by `more`, to 19 at most. Linux only: niceness belongs to a thread there.
 * It cannot be undone. If the system refuses, nothing changes. */
static inline void thread_add_niceness(int more) {
#ifdef __linux__
    if (more > 0) {
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + more);
    }
#else
    (void)more;
#endif
}

#endif

/* Large blocks of zeroed memory: committed as they are touched, given back without waiting for it. */
#ifndef CEXT_MEMORY_H
#define CEXT_MEMORY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MEMORY_PIECE ((uintptr_t)2 << 20) /* a huge page */

/* Reserves a block, aligned to a page; NULL without memory. A search reads all over it: with huge pages, where the
 * system has them, the processor rarely has to look an address up. */
static inline void *memory_reserve(size_t size) {
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
    madvise(block, size, MADV_HUGEPAGE);
    return block;
}

/* Unmapping hundreds of MiB takes tens of milliseconds, in which other threads can neither map memory nor start
 * threads: so it goes piece by piece. */
static inline void memory_unmap(void *block, size_t size) {
    uintptr_t begin = (uintptr_t)block, end = begin + size, next;
    for (; begin < end; begin = next) {
        next = (begin / MEMORY_PIECE + 1) * MEMORY_PIECE;
        next = next < end ? next : end;
        munmap((void *)begin, next - begin);
    }
}
static void *memory_unmap_noted(void *block) {
    memory_unmap(block, *(size_t *)block);
    return NULL;
}

/* Gives a block of memory_reserve back in a thread of its own; at once if there is none to be had. NULL is nothing. */
static inline void memory_release(void *block, size_t size) {
    pthread_t thread;
    if (block == NULL) {
        return;
    }
    *(size_t *)block = size; /* nobody reads the block any more: it takes the note for the thread */
    if (pthread_create(&thread, NULL, memory_unmap_noted, block) == 0) {
        pthread_detach(thread);
    } else {
        memory_unmap(block, size);
    }
}

#endif

/* Blocks of zeroed memory: committed when first touched; large ones are freed in the background. */
#ifndef CEXT_MEMORY_H
#define CEXT_MEMORY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MEMORY_PIECE ((uintptr_t)2 << 20) /* a huge page */

/* Reserves a block, aligned to a page. Returns NULL if there is no memory. A search reads it at random addresses; huge
 * pages, where available, avoid most misses of the address cache (TLB). */
static inline void *memory_reserve(size_t size) {
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    madvise(block, size, MADV_HUGEPAGE);
#endif
    return block;
}

/* Unmapping hundreds of MiB takes tens of milliseconds. Meanwhile other threads can neither map memory nor start
 * threads, so the block is unmapped in pieces. */
static inline void memory_unmap(void *block, size_t size) {
    uintptr_t begin = (uintptr_t)block, end = begin + size, next;
    for (; begin < end; begin = next) {
        next = (begin / MEMORY_PIECE + 1) * MEMORY_PIECE;
        next = next < end ? next : end;
        munmap((void *)begin, next - begin);
    }
}
static void *memory_unmap_thread(void *block) {
    memory_unmap(block, *(size_t *)block);
    return NULL;
}

/* Frees a block from memory_reserve, a large one in a separate thread if one can be started. NULL is allowed. */
static inline void memory_release(void *block, size_t size) {
    pthread_t thread;
    if (block == NULL) {
        return;
    }
    *(size_t *)block = size; /* the block is no longer in use, so it can hold its size for the thread */
    if (size > MEMORY_PIECE && pthread_create(&thread, NULL, memory_unmap_thread, block) == 0) {
        pthread_detach(thread);
    } else {
        memory_unmap(block, size);
    }
}

#endif

/* Blocks of zeroed memory: committed when first touched; large ones are freed in the background. What a block costs is
 * what of it was touched, however large it is. */
#ifndef CEXT_MEMORY_H
#define CEXT_MEMORY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MEMORY_PIECE ((uintptr_t)2 << 20) /* a huge page */
#define MEMORY_SMALL ((size_t)1 << 20)    /* so much is touched page by page */

/* Reserves a block, aligned to a page, of which nothing has been touched. Returns NULL if there is no memory. */
static inline void *memory_reserve(size_t size) {
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

/* Before a block is touched: how many of its bytes will be, from its beginning. A search reads it at random addresses,
 * and huge pages, where available, avoid most misses of the address cache (TLB). But each of them is zeroed as a whole,
 * so the beginning of a block has none if little of it will be used. */
static inline void memory_expect(void *block, size_t size, size_t expected) {
    size_t small = expected < MEMORY_SMALL ? (expected + MEMORY_PIECE - 1) / MEMORY_PIECE * MEMORY_PIECE : 0;
#ifdef MADV_HUGEPAGE
    if (small < size) {
        madvise((char *)block + small, size - small, MADV_HUGEPAGE);
    }
#endif
}

/* Unmapping hundreds of MiB takes tens of milliseconds. Meanwhile other threads can neither map memory nor start
 * threads, so what was touched is unmapped in pieces. */
struct memory_sizes {
    size_t size, touched;
};
static inline void memory_unmap(void *block, size_t size, size_t touched) {
    uintptr_t begin = (uintptr_t)block, end = begin + size, last = begin + (touched < size ? touched : size), next;
    for (; begin < last; begin = next) {
        next = (begin / MEMORY_PIECE + 1) * MEMORY_PIECE;
        next = next < end ? next : end;
        munmap((void *)begin, next - begin);
    }
    if (begin < end) {
        munmap((void *)begin, end - begin);
    }
}
static void *memory_unmap_thread(void *block) {
    struct memory_sizes *sizes = (struct memory_sizes *)block;
    memory_unmap(block, sizes->size, sizes->touched);
    return NULL;
}

/* Frees a block from memory_reserve of which the first `touched` bytes were used; if they are many, in a separate thread
 * if one can be started. NULL is allowed. */
static inline void memory_release(void *block, size_t size, size_t touched) {
    pthread_t thread;
    if (block == NULL) {
        return;
    }
    if (touched > MEMORY_PIECE) {
        /* the block is no longer in use, so it can hold its sizes for the thread */
        *(struct memory_sizes *)block = (struct memory_sizes){size, touched};
        if (pthread_create(&thread, NULL, memory_unmap_thread, block) == 0) {
            pthread_detach(thread);
            return;
        }
    }
    memory_unmap(block, size, touched);
}

#endif

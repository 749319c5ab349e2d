/* Giving large memory back without waiting for it: unmapping hundreds of MiB takes tens of milliseconds. */
#ifndef CEXT_RELEASE_H
#define CEXT_RELEASE_H

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *release_now(void *block) {
    /* Piece by piece: meanwhile other threads cannot map memory, nor start threads. */
    const uintptr_t piece = (uintptr_t)2 << 20;
    uintptr_t end = (uintptr_t)block + malloc_usable_size(block);
    uintptr_t begin = ((uintptr_t)block + piece - 1) / piece * piece;
    for (; begin + piece <= end; begin += piece) {
        madvise((void *)begin, piece, MADV_DONTNEED);
    }
    free(block);
    return NULL;
}

/* Frees a block of malloc's in a thread of its own; at once if there is none to be had. NULL is nothing. */
static inline void release(void *block) {
    pthread_t thread;
    if (block == NULL) {
        return;
    }
    if (pthread_create(&thread, NULL, release_now, block) == 0) {
        pthread_detach(thread);
    } else {
        free(block);
    }
}

#endif

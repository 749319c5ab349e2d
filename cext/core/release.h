/* Giving large memory back without waiting for it: unmapping hundreds of MiB takes tens of milliseconds. */
#ifndef CEXT_RELEASE_H
#define CEXT_RELEASE_H

#include <pthread.h>
#include <stdlib.h>

static void *release_now(void *block) {
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
        release_now(block);
    }
}

#endif

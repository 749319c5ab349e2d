/* Native threads with a stack that suffices for the functions of games. */
#ifndef CEXT_THREADS_H
#define CEXT_THREADS_H

#include <pthread.h>
#include <stddef.h>

/* Bytes of stack that a thread has at least. A game's priors keep lists of actions on the stack, up to some 130 KB;
 * the default of some C libraries is less. */
#define THREAD_STACK ((size_t)1 << 20)

/* Starts a thread; returns 0, or the number of an error. */
static inline int thread_start(pthread_t *thread, void *(*start)(void *), void *argument) {
    pthread_attr_t attributes;
    size_t size;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return error;
    }
    if (pthread_attr_getstacksize(&attributes, &size) != 0 || size < THREAD_STACK) {
        error = pthread_attr_setstacksize(&attributes, THREAD_STACK);
    }
    if (error == 0) {
        error = pthread_create(thread, &attributes, start, argument);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

/* Returns whether a thread that is not joined yet is the calling one. */
static inline int thread_is_self(pthread_t thread) { return pthread_equal(thread, pthread_self()); }

#endif

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
#ifndef CEXT_MIX_H
#define CEXT_MIX_H

#include <stdint.h>
#include <string.h>

#define MIX_STEP 0x9e3779b97f4a7c15ull  /* what a generator adds to its state for each number */

/* The finalizer of SplitMix64: a bijection on 64 bits, used as a hash. */
static inline uint64_t mix_bits(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* A hash of several words: that of the words before (0: none) and one more. Finish with mix_bits. */
static inline uint64_t mix_step(uint64_t hash, uint64_t word) {
    hash = ((hash ^ word) + MIX_STEP) * 0x9fb21c651e98df25ull;
    return hash ^ (hash >> 35);
}

/* What a hash takes for granted of the layout of a struct whose fields it reads together. Checked by the C compiler. */
#define mix_require(condition) _Static_assert(condition, #condition)

static inline uint64_t mix_word(const void *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

#endif

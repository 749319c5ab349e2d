/* Sets of spaces as 16 rows of 32 bits: 64 bytes, one AVX-512 register.
 *
 * Bit c of row r is the space in column c (1 = A .. 21 = U) of row r (1..14). Rows 0 and 15 and columns 0 and 22
 * are a rim of lake around the printed grid, so neighbours need no bounds check. A *cell* is r * 32 + c.
 *
 * It uses vector extensions of gcc and clang: & | ^ ~ work on rows_t. Versions for processors are gcc's.
 */
#ifndef MEXICA_ROWS_H
#define MEXICA_ROWS_H

#include <stdint.h>
#include <string.h>

#include "mix.h"

typedef uint32_t rows_t __attribute__((vector_size(64)));

#define ROWS_INLINE static inline __attribute__((always_inline))

ROWS_INLINE rows_t rows_none(void) { return (rows_t){0}; }

/* The set of one cell. */
ROWS_INLINE rows_t rows_of(int cell) {
    const rows_t row_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    rows_t here = (rows_t)(row_numbers == (uint32_t)(cell >> 5));
    return here & (1u << (cell & 31));
}

/* Single cells are read and written through memory: cheaper than whole vectors. */
ROWS_INLINE int rows_has(const rows_t *set, int cell) {
    return (((const uint32_t *)set)[cell >> 5] >> (cell & 31)) & 1;
}
ROWS_INLINE void rows_add(rows_t *set, int cell) { ((uint32_t *)set)[cell >> 5] |= 1u << (cell & 31); }
ROWS_INLINE void rows_remove(rows_t *set, int cell) { ((uint32_t *)set)[cell >> 5] &= ~(1u << (cell & 31)); }

ROWS_INLINE int rows_any(rows_t set) {
#if defined(__AVX512F__) && !defined(__clang__)
    typedef long long v8 __attribute__((vector_size(64)));
    return __builtin_ia32_ptestmq512((v8)set, (v8)set, 0xff) != 0;
#else
    typedef uint64_t half __attribute__((vector_size(16)));
    half q[4], all;
    memcpy(q, &set, 64);
    all = (q[0] | q[1]) | (q[2] | q[3]);
    return (all[0] | all[1]) != 0;
#endif
}

/* Number of cells. Without a vector popcount: the bit-parallel count in each lane, then the sum of the lanes. */
ROWS_INLINE int rows_count(rows_t set) {
#if defined(__AVX512VPOPCNTDQ__) && !defined(__clang__)
    rows_t n = (rows_t)__builtin_ia32_vpopcountd_v16si((__attribute__((vector_size(64))) int)set);
#else
    rows_t n = set - ((set >> 1) & 0x55555555u);
    n = (n & 0x33333333u) + ((n >> 2) & 0x33333333u);
    n = (n + (n >> 4)) & 0x0f0f0f0fu;
    n = (n + (n >> 8));
    n = (n + (n >> 16)) & 0x3fu;
#endif
    {
        typedef uint32_t quarter __attribute__((vector_size(16)));
        quarter q[4], s;
        memcpy(q, &n, 64);
        s = (q[0] + q[1]) + (q[2] + q[3]);
        return (int)((s[0] + s[1]) + (s[2] + s[3]));
    }
}

/* Moves every cell by one; cells that leave the grid are lost. */
ROWS_INLINE rows_t rows_east(rows_t set) { return set << 1; }
ROWS_INLINE rows_t rows_west(rows_t set) { return set >> 1; }
/* Macros, as the body of the flood is one. */
#ifdef __clang__
#define ROWS_SOUTH(set, none) \
    __builtin_shufflevector(set, none, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
#define ROWS_NORTH(set, none) \
    __builtin_shufflevector(set, none, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
#else
#define ROWS_SOUTH(set, none) \
    __builtin_shuffle(set, none, (rows_t){16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
#define ROWS_NORTH(set, none) \
    __builtin_shuffle(set, none, (rows_t){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
#endif
ROWS_INLINE rows_t rows_south(rows_t set) { return ROWS_SOUTH(set, rows_none()); }
ROWS_INLINE rows_t rows_north(rows_t set) { return ROWS_NORTH(set, rows_none()); }

/* The cells next to a cell of the set, which may be in the set themselves. */
ROWS_INLINE rows_t rows_beside(rows_t set) {
    return rows_east(set) | rows_west(set) | rows_north(set) | rows_south(set);
}

/* All cells of `mask` that are joined to `seed` edge to edge within it.
 *
 * This loop gains most from wide registers. A build for a processor with AVX-512 inlines it; others by gcc choose among
 * three versions when the program starts. (The body is a macro: the compiler splits vectors for the target of the
 * function that has the operators, so an inline helper would lose the target.)
 */
#define ROWS_STEP(set, mask)                                                                              \
    set |= ((set << 1) | (set >> 1)) & mask;                                                              \
    set |= (ROWS_SOUTH(set, none) | ROWS_NORTH(set, none)) & mask
#define ROWS_FLOOD_BODY(seed, mask, changed)                                                              \
    const rows_t none = {0};                                                                              \
    rows_t set = (seed) & (mask), before;                                                                 \
    do {                                                                                                  \
        before = set;                                                                                     \
        ROWS_STEP(set, mask);                                                                             \
        ROWS_STEP(set, mask);                                                                             \
        before ^= set;                                                                                    \
    } while (changed)

#if defined(__AVX512F__) || !defined(__x86_64__) || defined(__clang__)
ROWS_INLINE rows_t rows_flood(rows_t seed, rows_t mask) {
    ROWS_FLOOD_BODY(seed, mask, rows_any(before));
    return set;
}
#else
typedef void (*rows_flood_fn)(const rows_t *seed, const rows_t *mask, rows_t *out);

__attribute__((target("avx512f"))) static void rows_flood_avx512(const rows_t *seed, const rows_t *mask,
                                                                 rows_t *out) {
    typedef long long v8 __attribute__((vector_size(64)));
    const rows_t within = *mask;
    ROWS_FLOOD_BODY(*seed, within, __builtin_ia32_ptestmq512((v8)before, (v8)before, 0xff) != 0);
    *out = set;
}
__attribute__((target("avx2"))) static void rows_flood_avx2(const rows_t *seed, const rows_t *mask, rows_t *out) {
    typedef long long v4 __attribute__((vector_size(32)));
    const rows_t within = *mask;
    v4 half[2];
    ROWS_FLOOD_BODY(*seed, within,
                    (memcpy(half, &before, 64), half[0] |= half[1], !__builtin_ia32_ptestz256(half[0], half[0])));
    *out = set;
}
static void rows_flood_sse2(const rows_t *seed, const rows_t *mask, rows_t *out) {
    const rows_t within = *mask;
    ROWS_FLOOD_BODY(*seed, within, rows_any(before));
    *out = set;
}

static rows_flood_fn rows_flood_best = rows_flood_sse2;
__attribute__((constructor, used)) static void rows_choose_flood(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        rows_flood_best = rows_flood_avx512;
    else if (__builtin_cpu_supports("avx2"))
        rows_flood_best = rows_flood_avx2;
}
ROWS_INLINE rows_t rows_flood(rows_t seed, rows_t mask) {
    rows_t out;
    rows_flood_best(&seed, &mask, &out);
    return out;
}
#endif

/* First cell in reading order, or -1. */
ROWS_INLINE int rows_first(const rows_t *set) {
    const uint32_t *row = (const uint32_t *)set;
    for (int r = 0; r < 16; r++)
        if (row[r])
            return r * 32 + __builtin_ctz(row[r]);
    return -1;
}

/* The k-th cell (from 0) in reading order. Precondition: k < rows_count. */
ROWS_INLINE int rows_select(const rows_t *set, int k) {
    const uint32_t *row = (const uint32_t *)set;
    for (int r = 0;; r++) {
        uint32_t bits = row[r];
        int n = __builtin_popcount(bits);
        if (k < n) {
            while (k--)
                bits &= bits - 1;
            return r * 32 + __builtin_ctz(bits);
        }
        k -= n;
    }
}

/* Writes `base + scale * cell` for every cell in reading order. Returns the number of cells. */
ROWS_INLINE int rows_list(const rows_t *set, uint64_t base, uint64_t scale, uint64_t *out) {
    const uint32_t *row = (const uint32_t *)set;
    int n = 0;
    for (int r = 0; r < 16; r++)
        for (uint32_t bits = row[r]; bits; bits &= bits - 1)
            out[n++] = base + scale * (uint64_t)(r * 32 + __builtin_ctz(bits));
    return n;
}

/* Zobrist key of a fact, computed instead of read from a table. */
ROWS_INLINE uint64_t zobrist(uint64_t kind, uint64_t fact) {
    return mix_bits((kind << 56) ^ (fact + MIX_STEP));
}

#endif

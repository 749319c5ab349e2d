/* Sets of spaces as 16 rows of 32 bits: 64 bytes, one vector register where the processor has them.
 *
 * Bit c of row r is the space in column c (1 = A .. 21 = U) of row r (1..14). Rows 0 and 15 and columns 0 and 22
 * are a rim of lake around the printed grid, so that neighbours need no bounds check. A *cell* is r * 32 + c.
 *
 * GCC's vector extensions; & | ^ ~ of two rows_t are the language's own operators.
 */
#ifndef MEXICA_ROWS_H
#define MEXICA_ROWS_H

#include <stdint.h>
#include <string.h>

typedef uint32_t rows_t __attribute__((vector_size(64)));

#define ROWS_INLINE static inline __attribute__((always_inline))

ROWS_INLINE rows_t rows_none(void) { return (rows_t){0}; }

/* The set of one cell. */
ROWS_INLINE rows_t rows_of(int cell) {
    const rows_t row_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    rows_t here = (rows_t)(row_numbers == (uint32_t)(cell >> 5));
    return here & (1u << (cell & 31));
}

/* Single cells, through memory: cheaper than whole vectors. */
ROWS_INLINE int rows_has(const rows_t *set, int cell) {
    return (((const uint32_t *)set)[cell >> 5] >> (cell & 31)) & 1;
}
ROWS_INLINE void rows_add(rows_t *set, int cell) { ((uint32_t *)set)[cell >> 5] |= 1u << (cell & 31); }
ROWS_INLINE void rows_remove(rows_t *set, int cell) { ((uint32_t *)set)[cell >> 5] &= ~(1u << (cell & 31)); }

ROWS_INLINE int rows_any(rows_t set) {
#ifdef __AVX512F__
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

/* Number of cells. Lane sums of the bit-parallel count, so that it stays in vectors without a popcount unit. */
ROWS_INLINE int rows_count(rows_t set) {
#ifdef __AVX512VPOPCNTDQ__
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

/* Every cell moved by one; what falls off a rim is lost. */
ROWS_INLINE rows_t rows_east(rows_t set) { return set << 1; }
ROWS_INLINE rows_t rows_west(rows_t set) { return set >> 1; }
ROWS_INLINE rows_t rows_south(rows_t set) {
    return __builtin_shuffle(set, rows_none(),
                             (rows_t){16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
}
ROWS_INLINE rows_t rows_north(rows_t set) {
    return __builtin_shuffle(set, rows_none(),
                             (rows_t){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}

/* The cells next to a set (and whatever of the set is next to itself). */
ROWS_INLINE rows_t rows_beside(rows_t set) {
    return rows_east(set) | rows_west(set) | rows_north(set) | rows_south(set);
}

/* All cells of `mask` that are joined to `seed` edge to edge within it. */
ROWS_INLINE rows_t rows_flood(rows_t seed, rows_t mask) {
    rows_t set = seed & mask, before;
    do {
        before = set;
        set |= (rows_east(set) | rows_west(set)) & mask;
        set |= (rows_north(set) | rows_south(set)) & mask;
        set |= (rows_east(set) | rows_west(set)) & mask;
        set |= (rows_north(set) | rows_south(set)) & mask;
    } while (rows_any(set ^ before));
    return set;
}

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

/* Writes `base + scale * cell` for every cell in reading order; returns how many. */
ROWS_INLINE int rows_list(const rows_t *set, uint64_t base, uint64_t scale, uint64_t *out) {
    const uint32_t *row = (const uint32_t *)set;
    int n = 0;
    for (int r = 0; r < 16; r++)
        for (uint32_t bits = row[r]; bits; bits &= bits - 1)
            out[n++] = base + scale * (uint64_t)(r * 32 + __builtin_ctz(bits));
    return n;
}

/* Hash key of a fact: the finalizer of SplitMix64 (Steele, Lea, Flood 2014) as a table without memory. */
ROWS_INLINE uint64_t zobrist(uint64_t kind, uint64_t fact) {
    uint64_t x = (kind << 56) ^ (fact + 0x9e3779b97f4a7c15ull);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

#endif

/* The arithmetic of the network, by vectors of 16 floats (one AVX-512 register).
 *
 * Several rows of inputs go through a layer together: they share each load of a weight, and their sums do not wait for
 * one another. Every row's sums are added in the same order however many rows there are, so the outputs do not depend
 * on it, nor on the processor.
 */
#ifndef CEXT_NETWORK_H
#define CEXT_NETWORK_H

#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define NETWORK_INLINE static inline __attribute__((always_inline))

typedef float network_lanes_t __attribute__((vector_size(64)));

enum { NETWORK_LANES = 16, NETWORK_ROWS = 4 };     /* floats of a vector; rows that go together */
enum { NETWORK_BLOCK = 256 };                      /* inputs whose zeros are looked for together */

NETWORK_INLINE network_lanes_t network_load(const float *from) {
    network_lanes_t lanes;
    memcpy(&lanes, from, sizeof(lanes));
    return lanes;
}

/* The sums of `rows` (a constant of at most NETWORK_ROWS) rows of n inputs with `vectors` (1 or 2, a constant) vectors
 * of weights each. `sums` has vectors * NETWORK_LANES floats a row. With `rectify`, inputs below 0 count as 0. */
NETWORK_INLINE void network_layer(const float *weights, const float *bias, int n, const float *inputs, int rows,
                                  int vectors, int rectify, float *sums) {
    network_lanes_t a[NETWORK_ROWS][2], w;
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            a[r][v] = network_load(bias + v * NETWORK_LANES);
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors; v++) {
            w = network_load(weights + (i * vectors + v) * NETWORK_LANES);
            for (int r = 0; r < rows; r++) {
                float x = inputs[r * n + i];
                a[r][v] += (rectify && x < 0 ? 0.0f : x) * w;
            }
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            memcpy(sums + (r * vectors + v) * NETWORK_LANES, &a[r][v], sizeof(network_lanes_t));
}

/* Writes which of the inputs `first` to `last` - 1 are not 0 in some row; returns how many. -0 is not 0 here. */
NETWORK_INLINE int network_used(const float *inputs, int n, int first, int last, int rows, int *used) {
    int count = 0, i = first;
#ifdef __AVX512F__
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32(first), lanes);
    for (; i + NETWORK_LANES <= last; i += NETWORK_LANES) {
        __m512i any = _mm512_loadu_si512(inputs + i);
        for (int r = 1; r < rows; r++)
            any = _mm512_or_si512(any, _mm512_loadu_si512(inputs + r * n + i));
        __mmask16 mask = _mm512_test_epi32_mask(any, any);
        _mm512_storeu_si512(used + count, _mm512_maskz_compress_epi32(mask, numbers));
        count += __builtin_popcount(mask);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(NETWORK_LANES));
    }
#endif
    for (; i < last; i++) {
        unsigned any = 0, bits;
        for (int r = 0; r < rows; r++) {
            memcpy(&bits, inputs + r * n + i, sizeof(bits));
            any |= bits;
        }
        used[count] = i;
        count += any != 0;
    }
    return count;
}

/* The same sums of two vectors, for the first layer: many inputs are 0, and those that are 0 in all rows are left out,
 * since they add nothing. `start`: the sums over the inputs before `first`, the same for all rows. */
NETWORK_INLINE void network_sparse_layer(const float *weights, const float *start, int n, int first,
                                         const float *inputs, int rows, float *sums) {
    network_lanes_t a[NETWORK_ROWS][2];
    int used[NETWORK_BLOCK + NETWORK_LANES];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++)
            a[r][v] = network_load(start + v * NETWORK_LANES);
    for (int i = first; i < n; i += NETWORK_BLOCK) {
        int count = network_used(inputs, n, i, i + NETWORK_BLOCK < n ? i + NETWORK_BLOCK : n, rows, used);
        for (int k = 0; k < count; k++) {
            const float *column = inputs + used[k], *row = weights + 2 * NETWORK_LANES * (long)used[k];
            network_lanes_t w_0 = network_load(row), w_1 = network_load(row + NETWORK_LANES);
            for (int r = 0; r < rows; r++) {
                a[r][0] += column[r * n] * w_0;
                a[r][1] += column[r * n] * w_1;
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++)
            memcpy(sums + (2 * r + v) * NETWORK_LANES, &a[r][v], sizeof(network_lanes_t));
}

/* The same for any number of rows. */
NETWORK_INLINE void network_sparse_layers(const float *weights, const float *start, int n, int first,
                                          const float *inputs, int rows, float *sums) {
    int width = 2 * NETWORK_LANES;
    for (; rows >= 4; rows -= 4, inputs += 4 * n, sums += 4 * width)
        network_sparse_layer(weights, start, n, first, inputs, 4, sums);
    if (rows >= 2) {
        network_sparse_layer(weights, start, n, first, inputs, 2, sums);
        rows -= 2, inputs += 2 * n, sums += 2 * width;
    }
    if (rows == 1)
        network_sparse_layer(weights, start, n, first, inputs, 1, sums);
}

/* `network_layer` for any number of rows. */
NETWORK_INLINE void network_layers(const float *weights, const float *bias, int n, const float *inputs, int rows,
                                   int vectors, int rectify, float *sums) {
    int width = vectors * NETWORK_LANES;
    for (; rows >= 4; rows -= 4, inputs += 4 * n, sums += 4 * width)
        network_layer(weights, bias, n, inputs, 4, vectors, rectify, sums);
    if (rows >= 2) {
        network_layer(weights, bias, n, inputs, 2, vectors, rectify, sums);
        rows -= 2, inputs += 2 * n, sums += 2 * width;
    }
    if (rows == 1)
        network_layer(weights, bias, n, inputs, 1, vectors, rectify, sums);
}

/* The dot product of two vectors of length n: a sum for each lane, then the rest, then the lanes. */
NETWORK_INLINE float network_dot(const float *a, const float *b, int n) {
    network_lanes_t sums = {0};
    float total = 0;
    int i = 0;
    for (; i + NETWORK_LANES <= n; i += NETWORK_LANES)
        sums += network_load(a + i) * network_load(b + i);
    for (; i < n; i++)
        total += a[i] * b[i];
    for (int lane = 0; lane < NETWORK_LANES; lane++)
        total += sums[lane];
    return total;
}

#endif

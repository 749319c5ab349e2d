/* The arithmetic of the network, by vectors of 16 floats (one AVX-512 register).
 *
 * Several rows of inputs go through a layer together: they share each load of a weight, and their sums do not wait for
 * one another. Every row's sums are added in the same order however many rows there are, so the outputs do not depend
 * on it, nor on the processor.
 */
#ifndef CEXT_NETWORK_H
#define CEXT_NETWORK_H

#include <string.h>

#define NETWORK_INLINE static inline __attribute__((always_inline))

typedef float network_lanes_t __attribute__((vector_size(64)));

enum { NETWORK_LANES = 16, NETWORK_ROWS = 4 };     /* floats of a vector; rows that go together */

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

/* The same for any number of rows. */
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

/* The arithmetic of a learnt policy (scorer.pxd), for the processor at hand. All processors compute the same numbers:
 * nothing is contracted, and every sum is added in the same order. */
#ifndef CEXT_SCORER_H
#define CEXT_SCORER_H

#include "network.h"

enum { SCORER_WIDTH = 2 * NETWORK_LANES };   /* units of a layer: two vectors */
enum { SCORER_MOST_FEATURES = 16 };          /* of an action: SCORER_FEATURES of scorer.pxd */

typedef int scorer_mask_t __attribute__((vector_size(64)));

NETWORK_INLINE network_lanes_t scorer_rectified(network_lanes_t lanes) {
    return (network_lanes_t)((scorer_mask_t)lanes & (lanes > 0));
}

/* The scores of `count` actions. `weights`: layer after layer. `summary` has n_summary numbers, `features` n_features
 * for each action. */
NETWORK_INLINE void scorer_body(const float *weights, int n_summary, int num_categories, int n_features,
                                const float *summary, const int *categories, const float *features, int count,
                                float *scores) {
    const float *state_bias = weights + n_summary * SCORER_WIDTH;
    const float *node = state_bias + SCORER_WIDTH;
    const float *category = node + SCORER_WIDTH * SCORER_WIDTH;
    const float *action = category + num_categories * SCORER_WIDTH;
    const float *out = action + n_features * SCORER_WIDTH;
    const network_lanes_t out_0 = network_load(out), out_1 = network_load(out + NETWORK_LANES);
    float state[SCORER_WIDTH], bias[SCORER_WIDTH], none[SCORER_WIDTH] = {0};
    network_layer(weights, state_bias, n_summary, summary, 1, 2, 0, state);
    network_layer(node, none, SCORER_WIDTH, state, 1, 2, 1, bias);
    for (int first = 0; first < count; first += NETWORK_ROWS) {
        /* A group that is not full computes its last action more than once. */
        network_lanes_t a[NETWORK_ROWS][2];
        const float *x[NETWORK_ROWS];
        int used[SCORER_MOST_FEATURES], num_used = 0;   /* features that are not 0 for all: those add nothing */
        for (int r = 0; r < NETWORK_ROWS; r++) {
            int i = first + r < count ? first + r : count - 1;
            const float *row = category + categories[i] * SCORER_WIDTH;
            x[r] = features + i * n_features;
            a[r][0] = network_load(bias) + network_load(row);
            a[r][1] = network_load(bias + NETWORK_LANES) + network_load(row + NETWORK_LANES);
        }
        for (int f = 0; f < n_features; f++) {
            unsigned any = 0, bits;
            for (int r = 0; r < NETWORK_ROWS; r++) {
                memcpy(&bits, x[r] + f, sizeof(bits));
                any |= bits;
            }
            used[num_used] = f;
            num_used += any != 0;
        }
        for (int k = 0; k < num_used; k++) {
            int f = used[k];
            network_lanes_t w_0 = network_load(action + f * SCORER_WIDTH);
            network_lanes_t w_1 = network_load(action + f * SCORER_WIDTH + NETWORK_LANES);
            for (int r = 0; r < NETWORK_ROWS; r++) {
                a[r][0] += x[r][f] * w_0;
                a[r][1] += x[r][f] * w_1;
            }
        }
        for (int r = 0; r < NETWORK_ROWS && first + r < count; r++) {
            float lanes[NETWORK_LANES], total = 0;
            network_lanes_t sums = scorer_rectified(a[r][0]) * out_0 + scorer_rectified(a[r][1]) * out_1;
            memcpy(lanes, &sums, sizeof(sums));
            for (int lane = 0; lane < NETWORK_LANES; lane++)
                total += lanes[lane];
            scores[first + r] = total;
        }
    }
}

#define SCORER_PARAMETERS const float *weights, int n_summary, int num_categories, int n_features, \
    const float *summary, const int *categories, const float *features, int count, float *scores
#define SCORER_ARGUMENTS weights, n_summary, num_categories, n_features, summary, categories, features, count, scores

#if defined(__AVX512F__) || !defined(__x86_64__)
static void scorer_scores(SCORER_PARAMETERS) {
    scorer_body(SCORER_ARGUMENTS);
}
#else
typedef void (*scorer_fn)(SCORER_PARAMETERS);

__attribute__((target("avx512f"))) static void scorer_avx512(SCORER_PARAMETERS) {
    scorer_body(SCORER_ARGUMENTS);
}
__attribute__((target("avx2"))) static void scorer_avx2(SCORER_PARAMETERS) {
    scorer_body(SCORER_ARGUMENTS);
}
static void scorer_sse2(SCORER_PARAMETERS) {
    scorer_body(SCORER_ARGUMENTS);
}

static scorer_fn scorer_scores = scorer_sse2;
__attribute__((constructor, used)) static void scorer_choose_best(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        scorer_scores = scorer_avx512;
    else if (__builtin_cpu_supports("avx2"))
        scorer_scores = scorer_avx2;
}
#endif

#endif

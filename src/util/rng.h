/* SPDX-License-Identifier: MIT */
/* splitmix64: a machine's only source of randomness. The same seed gives the same sequence on every
 * host. */
#ifndef DXGK_UTIL_RNG_H
#define DXGK_UTIL_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A number in [0, bound), bound > 0. The bias is below 2^-32 for bounds that fit 32 bits. */
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}

#endif

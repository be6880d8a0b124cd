/* SPDX-License-Identifier: MIT */
/*
 * Which code of the drivers of a machine runs, for fuzzers: counters of places, and pairs of values
 * that the driver compared.
 *
 * A place gets its number when its image is loaded, or from where it is in the image: equal images
 * have equal numbers in each run. Sources: what compilers put into instrumented drivers (sancov.c,
 * and the counters of Windows images), and breakpoints where there is nothing of the kind
 * (breakpoints.c).
 */
#ifndef DXGK_LOADER_COVERAGE_H
#define DXGK_LOADER_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COVERAGE_PLACES    65536u /* places beyond share a counter */
#define COVERAGE_REGIONS   64u
#define COVERAGE_CONSTANTS 512u
#define COVERAGE_PAIRS     8u
#define COVERAGE_COMPARES  2048u /* two of a comparison in the code: its first and its last */

/* Counters of a byte each, in the driver's own data. */
struct coverage_region {
    uint8_t *counter;
    uint32_t places, first; /* the number of the first place */
};

/* Values that were different. */
struct coverage_compare {
    uint64_t a, b;
    uint8_t bytes; /* of each; 0: this entry is not used */
};

/* Pairs that the driver itself has put down, in its data. */
struct coverage_pairs {
    struct coverage_compare *pair;
    uint32_t count;
};

/* breakpoints.h */
struct coverage_breakpoint {
    uintptr_t address;
    uint64_t offset; /* in its image */
    uint8_t byte;    /* of the code, in the place of which it stands */
    bool hit;        /* it is gone */
};

struct coverage {
    struct coverage_region region[COVERAGE_REGIONS];
    uint32_t regions;
    uint32_t places;                /* that have a number, from 0 */
    bool by_address;                /* places were counted that have no number but their address */
    uint8_t count[COVERAGE_PLACES]; /* of places without counters of their own */
    bool compared;
    struct coverage_compare compare[COVERAGE_COMPARES]; /* by where they were compared */
    struct coverage_pairs pairs[COVERAGE_PAIRS];
    uint32_t images;                        /* that have pairs */
    struct coverage_breakpoint *breakpoint; /* in the order of their addresses */
    uint32_t breakpoints;
    struct coverage_compare constant[COVERAGE_CONSTANTS]; /* a: in code with breakpoints */
    uint32_t constants;
};

/* New places with counters of their own. */
void coverage_add_region(struct coverage *coverage, uint8_t *counter, size_t places);
/* Pairs of an image; those of images beyond COVERAGE_PAIRS are not looked at. */
void coverage_add_pairs(struct coverage *coverage, struct coverage_compare *pair, size_t count);
/* The counters and pairs in these bytes are gone. */
void coverage_forget(struct coverage *coverage, uintptr_t low, uintptr_t high);
static inline void coverage_hit(struct coverage *coverage, uint32_t place)
{
    uint8_t *count = &coverage->count[place % COVERAGE_PLACES];

    *count = (uint8_t)(*count + (*count != UINT8_MAX));
}
/* A place that has no number but its offset in its image. */
void coverage_hit_at(struct coverage *coverage, uint64_t offset);
/* `where`: a number of the comparison in the code. */
void coverage_compare(struct coverage *coverage, uint64_t where, uint64_t a, uint64_t b,
                      uint8_t bytes);

/* Forget all that was counted and compared. */
void coverage_clear(struct coverage *coverage);
/* Copies pairs that there are; returns how many. */
uint32_t coverage_pairs(const struct coverage *coverage, struct coverage_compare *to, uint32_t most);
/* Puts the counters into `count`, which has COVERAGE_PLACES zeroes. */
void coverage_collect(const struct coverage *coverage, uint8_t *count);

#endif

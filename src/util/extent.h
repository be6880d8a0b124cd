/* SPDX-License-Identifier: MIT */
/*
 * Extent tree: the free ranges of one address space (a segment, logical addresses, GPU virtual
 * addresses). The caller chooses the unit (usually pages). Addresses and sizes are below 2^63.
 * Every operation costs O(log extents); see extent.c for the exact claim.
 */
#ifndef DXGK_UTIL_EXTENT_H
#define DXGK_UTIL_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/slab.h"

struct extent_node;

enum { EXTENT_GRADES = 3 };

/* The longest runs below some point of the tree, by grade of alignment; private. */
struct extent_summary {
    int32_t best[EXTENT_GRADES];
};

struct extent_tree {
    struct extent_node *root; /* NULL: no free range */
    unsigned height;          /* levels */
    struct extent_summary says;
    struct slab nodes;
    uint64_t free_units;
    uint64_t extents;   /* number of free ranges */
    uint64_t taken;     /* takes that were not given back yet */
    bool out_of_memory; /* why the last extent_take* failed */
};

/* What a placement must satisfy. Zero-initialize, then set what is wanted. */
struct extent_request {
    uint64_t size;  /* units, > 0 */
    uint64_t align; /* units, power of two; 0 means 1. Applies to the absolute address */
    uint64_t low;   /* lowest start allowed */
    uint64_t high;  /* one past the last unit allowed; 0: no bound */
    bool from_end;  /* highest fitting place instead of the lowest */
};

void extent_tree_init(struct extent_tree *tree);
void extent_tree_finish(struct extent_tree *tree);

/* Add the free range [start, start + size): at setup, and to give back what was taken. It merges
 * with its neighbors. False, and nothing changed, when out of memory; also if the range overlaps a
 * free one. Giving back exactly what one extent_take* took never fails, since nodes for it are
 * reserved. A caller that gives a take back in parts (which is allowed) must handle failure of any
 * later give to that tree. */
bool extent_give(struct extent_tree *tree, uint64_t start, uint64_t size);

/* Take a range that satisfies the request. False: no room, or out of memory if tree->out_of_memory
 * is set. */
bool extent_take(struct extent_tree *tree, const struct extent_request *request, uint64_t *start);

/* Take exactly [start, start + size); false unless all of it is free. */
bool extent_take_fixed(struct extent_tree *tree, uint64_t start, uint64_t size);

bool extent_is_free(const struct extent_tree *tree, uint64_t start, uint64_t size);
/* The size of the largest free range. O(1); if that is 2^32 units or more, O(number of such
 * ranges). */
uint64_t extent_largest(const struct extent_tree *tree);
/* The lowest free range that ends above `from`; false at the end. To walk all, continue with from =
 * start + size. */
bool extent_next(const struct extent_tree *tree, uint64_t from, uint64_t *start, uint64_t *size);
/* Check every invariant; for tests and debug builds. */
bool extent_tree_validate(const struct extent_tree *tree);

#endif

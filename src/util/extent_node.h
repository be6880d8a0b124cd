/* SPDX-License-Identifier: MIT */
/* Nodes of the extent tree, as extent.c walks and changes them; nobody else opens this. The theory
 * of operation is in extent.c. */
#ifndef DXGK_UTIL_EXTENT_NODE_H
#define DXGK_UTIL_EXTENT_NODE_H

#include "util/extent.h"

enum {
    GRADES = EXTENT_GRADES,
    WIDTH = 15,      /* entries of a node */
    MIN = 7,         /* of any node but the root */
    MERGE_MAX = 13,  /* two nodes with at most this many entries together are merged */
    MAX_HEIGHT = 24, /* MIN ^ 24 ranges */
};

#define LIMIT     ((uint64_t)1 << 63)
#define SATURATED INT32_MAX  /* a best run of this many units or more */
#define NO_LOW    UINT64_MAX /* in unused entries; their bests are 0 */

/* What an entry of a node describes. */
union extent_thing {
    uint64_t size;             /* level 0: a range */
    struct extent_node *child; /* else */
};

struct extent_node {
    _Alignas(64) uint64_t count;
    uint64_t low[WIDTH]; /* level 0: start of the range; else of the first range below */
    union extent_thing of[WIDTH];
    /* longest runs in the range, or below; one spare for vectors */
    int32_t best[GRADES][WIDTH + 1];
};

_Static_assert(sizeof(struct extent_node) == 7 * 64, "whole cache lines, without waste");

/* A place in the tree: on each level, the node and the entry taken. */
struct extent_cursor {
    struct extent_node *node[MAX_HEIGHT];
    uint8_t at[MAX_HEIGHT];
};

static inline int32_t saturate(uint64_t units)
{
    return units < SATURATED ? (int32_t)units : SATURATED;
}

/* Of a range in a leaf. */
static inline uint64_t end_of(const struct extent_node *leaf, unsigned at)
{
    return leaf->low[at] + leaf->of[at].size;
}

/* Allocate nodes until there are enough for this many ranges. False when out of memory. */
bool extent_node_provide(struct extent_tree *tree, uint64_t extents);
/* Insert a range before the cursor (any cursor, if the tree is empty). Its nodes must have been
 * provided. */
void extent_node_insert(struct extent_tree *tree, const struct extent_cursor *cursor,
                        uint64_t start, uint64_t size);
/* Remove the range at the cursor. No cursor is valid after this or an insertion. */
void extent_node_remove(struct extent_tree *tree, const struct extent_cursor *cursor);
/* Change the bounds of the range at the cursor; it must not touch a neighbor. */
void extent_node_resize(struct extent_tree *tree, const struct extent_cursor *cursor,
                        uint64_t start, uint64_t end);

#endif

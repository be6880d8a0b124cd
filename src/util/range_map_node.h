/* SPDX-License-Identifier: MIT */
/* Nodes of the range map, as range_map.c walks and changes them; nobody else opens this. The theory
 * of operation is in range_map.c. */
#ifndef DXGK_UTIL_RANGE_MAP_NODE_H
#define DXGK_UTIL_RANGE_MAP_NODE_H

#include <emmintrin.h>
#include <stddef.h>
#include <string.h>

#include "util/range_map.h"

enum {
    GRADES = 3,
    LEAF = 40,        /* pieces of a leaf */
    BRANCH = 64,      /* children of a branch */
    BLOCK = 8,        /* children of a branch whose lows share a cache line */
    LEAF_JOIN = 30,   /* two neighbours with at most this many pieces together are joined */
    BRANCH_JOIN = 48, /* the same of branches */
    MAX_HEIGHT = 16,
};

#define LIMIT      ((uint64_t)1 << 63)
#define SATURATED  INT32_MAX       /* a run of this many units or more */
#define FARTHEST   (INT32_MAX - 1) /* the largest offset in a leaf */
#define NO_OFFSET  INT32_MAX       /* in unused pieces */
#define NO_LOW     UINT64_MAX      /* in unused children; their bests are 0 */
#define LEAF_GRAIN 512u            /* a leaf's base is a multiple of this */

/* Consecutive pieces of the space: each begins where the one before ends. */
struct range_leaf {
    _Alignas(64) uint64_t base; /* offsets count from here */
    uint64_t end;               /* of the last piece */
    uint64_t free;              /* bit i: piece i is free, and its owner NULL */
    uint64_t count;
    int32_t offset[LEAF]; /* where the piece begins */
    void *owner[LEAF];
};

/* The classes of the longest free runs, by grade; the fourth is 0. */
typedef int32_t range_runs __attribute__((vector_size(16), may_alias));

/* Two cache lines that are read together. */
struct range_block {
    uint64_t low[BLOCK]; /* where the first piece below the child begins */
    void *child[BLOCK];
};

struct range_branch {
    _Alignas(64) uint64_t count;
    uint64_t fence[BRANCH / BLOCK - 1]; /* the first low of each block but the first */
    struct range_block block[BRANCH / BLOCK];
    /* The longest free run below each child, by grade. Exact for leaves; of a branch, it may be
     * longer than what there is. */
    int16_t best[GRADES][BRANCH];
};

_Static_assert(sizeof(struct range_leaf) == 8 * 64, "whole cache lines, without waste");
_Static_assert(sizeof(struct range_branch) == 23 * 64, "whole cache lines, without waste");
_Static_assert(LEAF <= 64 && BRANCH <= 64, "a bit for each entry");

/* A place in the map: on each level, the node and the entry taken. */
struct range_cursor {
    void *node[MAX_HEIGHT + 1];
    uint8_t at[MAX_HEIGHT + 1];
};

static inline struct range_leaf *leaf_of(const struct range_cursor *cursor)
{
    return cursor->node[0];
}

static inline struct range_branch *branch_of(const struct range_cursor *cursor, unsigned level)
{
    return cursor->node[level];
}

static inline uint64_t piece_first(const struct range_leaf *leaf, unsigned at)
{
    return leaf->base + (uint64_t)leaf->offset[at];
}

static inline uint64_t piece_end(const struct range_leaf *leaf, unsigned at)
{
    return at + 1 < leaf->count ? piece_first(leaf, at + 1) : leaf->end;
}

static inline bool piece_free(const struct range_leaf *leaf, unsigned at)
{
    return (leaf->free >> at & 1) != 0;
}

static inline uint64_t *low_at(struct range_branch *branch, unsigned at)
{
    return &branch->block[at / BLOCK].low[at % BLOCK];
}

static inline void **child_at(struct range_branch *branch, unsigned at)
{
    return &branch->block[at / BLOCK].child[at % BLOCK];
}

static inline int32_t saturate(uint64_t units)
{
    return units < SATURATED ? (int32_t)units : SATURATED;
}

/* Lengths of runs as 15 bits: what is longer is never of a lower class, and up to 2047 units each
 * length has its own. */
static inline int32_t class_of(int32_t units)
{
    unsigned shift = 21 - (unsigned)__builtin_clz((unsigned)units | 1024);

    return (int32_t)(shift << 10) + (units >> shift);
}

/* Of the free units [first, end). */
static inline range_runs runs_in(uint64_t first, uint64_t end)
{
    uint64_t middle = (first + 15) & ~(uint64_t)15, high = (first + 511) & ~(uint64_t)511;

    return (range_runs){class_of(saturate(end - first)),
                        middle < end ? class_of(saturate(end - middle)) : 0,
                        high < end ? class_of(saturate(end - high)) : 0, 0};
}

static inline range_runs runs_max(range_runs a, range_runs b)
{
    range_runs more = a > b;

    return (a & more) | (b & ~more);
}

static inline bool runs_equal(range_runs a, range_runs b)
{
    return _mm_movemask_epi8((__m128i)(a == b)) == 0xffff;
}

static inline bool runs_none(range_runs a)
{
    return runs_equal(a, (range_runs){0});
}

/* The longest runs in all free pieces of a leaf. */
range_runs range_leaf_runs(const struct range_leaf *leaf);
/* What a branch records of all its children. */
range_runs range_branch_runs(const struct range_branch *branch);

static inline range_runs entry_runs(const struct range_branch *branch, unsigned at)
{
    return (range_runs){branch->best[0][at], branch->best[1][at], branch->best[2][at], 0};
}

/* What is recorded of the node at a level of the cursor. */
static inline range_runs recorded_runs(const struct range_map *map,
                                       const struct range_cursor *cursor, unsigned level)
{
    range_runs says;

    if (level + 1 < map->height)
        return entry_runs(branch_of(cursor, level + 1), cursor->at[level + 1]);
    memcpy(&says, map->longest, sizeof(says));
    return says;
}

/* A search for runs of this grade is about to read the node: fetch its lines all at once. */
static inline void range_fetch(const void *node, unsigned level, unsigned grade)
{
    if (level == 0) {
        for (size_t at = 0; at < sizeof(struct range_leaf); at += 64)
            __builtin_prefetch((const char *)node + at);
    } else {
        const struct range_branch *branch = node;

        for (unsigned at = 0; at < BRANCH; at += 32)
            __builtin_prefetch(&branch->best[grade][at]);
    }
}

/* An empty leaf for pieces in [first, end). */
void range_leaf_init(struct range_leaf *leaf, uint64_t first, uint64_t end);
/* Make room for pieces before the one at `at`, which the caller describes then; or remove some. */
void range_leaf_make_room(struct range_leaf *leaf, unsigned at, unsigned pieces);
void range_leaf_drop(struct range_leaf *leaf, unsigned at, unsigned pieces);

/* Set the cursor to the piece that contains the unit, which is inside the space. */
void range_seek(const struct range_map *map, uint64_t unit, struct range_cursor *cursor);
/* Move the cursor to the first piece of the next leaf, or the last one of the leaf before; false,
 * and the cursor is not changed: there is none. */
bool range_next_leaf(const struct range_map *map, struct range_cursor *cursor);
bool range_previous_leaf(const struct range_map *map, struct range_cursor *cursor);

/* The longest runs of the leaf at the cursor are these now. */
void range_tell(struct range_map *map, const struct range_cursor *cursor, range_runs runs);
/* What is recorded of the branch at this level of the cursor is too long for a grade: correct
 * it. */
void range_mend(struct range_map *map, const struct range_cursor *cursor, unsigned level,
                unsigned grade);
/* Ensure that range_divide can divide twice. False when out of memory. */
bool range_provide(struct range_map *map);
/* Divide the piece at the cursor in two at `unit`, which is inside it; both have its owner. The
 * cursor moves to the upper one. Memory must have been provided. */
void range_divide(struct range_map *map, struct range_cursor *cursor, uint64_t unit);
/* Remove the first piece of the leaf at the cursor, which is free: the piece before it, the last
 * one of another leaf, grows instead. No cursor is valid afterwards. */
void range_hand_down(struct range_map *map, struct range_cursor *cursor);
/* The leaf at the cursor lost pieces: join it to a neighbour if they are few. No cursor is valid
 * afterwards. */
void range_thin(struct range_map *map, struct range_cursor *cursor);

#endif

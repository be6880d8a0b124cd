/* SPDX-License-Identifier: MIT */
/* Inside the frame pool: frame_pool.c and frame_find.c only. The theory of operation is in
 * frame_pool.c. */
#ifndef DXGK_RAM_FRAME_POOL_PRIVATE_H
#define DXGK_RAM_FRAME_POOL_PRIVATE_H

#include "ram/frame_pool.h"

#include "util/address.h"

static const uint64_t grade_frames[HOLE_GRADES] = {1, 16, 512};

struct hole {
    uint64_t first, end;
};

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The holes whose start, rounded up to the grade, stands in a chunk, in the order of their
 * addresses.
 */
struct chunk_walk {
    const struct frame_map *map;
    uint64_t end;         /* of the chunk */
    uint64_t grade;       /* frames */
    uint64_t word, words; /* at hand, and one past the last of the chunk */
    uint64_t starts;      /* of holes in the word at hand, not visited yet */
    uint64_t last;        /* 1 if the last frame of the word before is free */
    uint64_t entering;    /* a frame of a hole that begins before the chunk; 0: none */
};

static inline void walk_word(struct chunk_walk *walk)
{
    uint64_t free_frames = ~walk->map->used[0][walk->word];

    walk->starts = free_frames & ~(free_frames << 1 | walk->last);
    walk->last = free_frames >> 63;
}

static inline struct chunk_walk walk_chunk(const struct frame_pool *pool, unsigned grade,
                                           uint64_t chunk)
{
    uint64_t first = chunk * CHUNK_FRAMES, end = smaller(first + CHUNK_FRAMES, pool->frames);
    struct chunk_walk walk = {.map = &pool->map,
                              .end = end,
                              .grade = grade_frames[grade],
                              .word = first / 64,
                              .words = (end + 63) / 64};

    if (first > 0 && !frame_map_used(&pool->map, first - 1)) {
        walk.last = 1;
        if (grade > 0 && !frame_map_used(&pool->map, first))
            walk.entering = first;
    }
    walk_word(&walk);
    return walk;
}

static inline bool next_hole(struct chunk_walk *walk, struct hole *hole, uint64_t *start)
{
    if (walk->entering) {
        uint64_t first = walk->entering;

        walk->entering = 0;
        hole->first = frame_map_prev_used(walk->map, first) + 1;
        hole->end = frame_map_next_used(walk->map, first);
        *start = align_up(hole->first, walk->grade);
        if (*start == first) /* a multiple of every grade; else it is before, or behind the hole */
            return true;
    }
    for (;;) {
        while (walk->starts == 0) {
            if (++walk->word >= walk->words)
                return false;
            walk_word(walk);
        }
        hole->first = walk->word * 64 + (uint64_t)__builtin_ctzll(walk->starts);
        walk->starts &= walk->starts - 1;
        if (hole->first >= walk->end)
            return false; /* RAM ends within the word */
        hole->end = frame_map_next_used(walk->map, hole->first);
        *start = align_up(hole->first, walk->grade);
        if (*start < smaller(walk->end, hole->end))
            return true;
    }
}

#endif

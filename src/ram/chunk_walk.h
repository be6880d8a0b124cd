/* SPDX-License-Identifier: MIT */
/* A walk over the holes of a chunk, straight from the map of frames: inline, for the frame pool
 * looks so at every chunk that the index names. */
#ifndef DXGK_RAM_CHUNK_WALK_H
#define DXGK_RAM_CHUNK_WALK_H

#include "ram/frame_map.h"
#include "ram/frame_pool.h"
#include "ram/hole_index.h"
#include "util/address.h"
#include "util/min_max.h"

struct frame_pool;

static const uint64_t hole_grade_frames[HOLE_GRADES] = {1, 16, 512};

struct hole {
    uint64_t first, end;
};

/* The holes whose start, rounded up to the grade, stands in a chunk, in the order of their
 * addresses.
 */
struct chunk_walk {
    const struct frame_map *map;
    uint64_t end;         /* of the chunk */
    uint64_t grade;       /* frames */
    uint64_t word, words; /* the current word, and one past the last word of the chunk */
    uint64_t starts;      /* starts of holes in the current word that were not visited yet */
    uint64_t last;        /* 1 if the last frame of the previous word is free */
    uint64_t entering;    /* a frame of a hole that begins before the chunk; 0: none */
};

static inline void chunk_walk_word(struct chunk_walk *walk)
{
    uint64_t free_frames = ~walk->map->used[0][walk->word];

    walk->starts = free_frames & ~(free_frames << 1 | walk->last);
    walk->last = free_frames >> 63;
}

static inline struct chunk_walk chunk_walk_begin(const struct frame_pool *pool, unsigned grade,
                                                 uint64_t chunk)
{
    uint64_t first = chunk * CHUNK_FRAMES, end = min_of(first + CHUNK_FRAMES, pool->frames);
    struct chunk_walk walk = {.map = &pool->map,
                              .end = end,
                              .grade = hole_grade_frames[grade],
                              .word = first / 64,
                              .words = (end + 63) / 64};

    if (first > 0 && !frame_map_used(&pool->map, first - 1)) {
        walk.last = 1;
        if (grade > 0 && !frame_map_used(&pool->map, first))
            walk.entering = first;
    }
    chunk_walk_word(&walk);
    return walk;
}

static inline bool chunk_walk_next(struct chunk_walk *walk, struct hole *hole, uint64_t *start)
{
    if (walk->entering) {
        uint64_t first = walk->entering;

        walk->entering = 0;
        hole->first = frame_map_prev_used(walk->map, first) + 1;
        hole->end = frame_map_next_used(walk->map, first);
        *start = align_up(hole->first, walk->grade);
        /* a multiple of every grade; otherwise it is before or after the hole */
        if (*start == first)
            return true;
    }
    for (;;) {
        while (walk->starts == 0) {
            if (++walk->word >= walk->words)
                return false;
            chunk_walk_word(walk);
        }
        hole->first = walk->word * 64 + (uint64_t)__builtin_ctzll(walk->starts);
        walk->starts &= walk->starts - 1;
        if (hole->first >= walk->end)
            return false; /* RAM ends within the word */
        hole->end = frame_map_next_used(walk->map, hole->first);
        *start = align_up(hole->first, walk->grade);
        if (*start < min_of(walk->end, hole->end))
            return true;
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The free frames of the machine: best fit under constraints. Frames are numbers here; who owns
 * them and what stands in them is ram.c's. See frame_pool.c for the structure, what it costs and
 * why.
 *
 * Nothing here allocates: books are address space of the host that is paid for page by page as it
 * is touched, so giving back never fails, whole or in pieces.
 */
#ifndef DXGK_RAM_FRAME_POOL_H
#define DXGK_RAM_FRAME_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/frame_map.h"
#include "ram/hole_index.h"

struct frame_pool {
    uint64_t frames, free_frames;
    struct frame_map map;
    struct hole_index index;
};

/* What a run must satisfy, in frames. */
struct frame_want {
    uint64_t count;
    uint64_t low, high; /* frames [low, high) */
    uint64_t align;     /* power of two */
    uint64_t boundary;  /* power of two that the run must not cross a multiple of; 0: none */
};

/* Memory for the books of so many frames (at most 2^28), zeroed, of the caller. */
size_t frame_pool_bytes(uint64_t frames);
/* All frames but frame 0 are free then. */
void frame_pool_init(struct frame_pool *pool, void *memory, uint64_t frames);

/* A run of free frames, found and not taken yet, in the hole it is a part of. Good until the next
 * change. */
struct frame_place {
    uint64_t first, count;
    uint64_t hole_first, hole_end;
};

/* The run that the policy prefers; false if there is none, or the request is malformed. */
bool frame_pool_find(const struct frame_pool *pool, const struct frame_want *want,
                     struct frame_place *place);
/* About the longest run inside [low, high), whole; false if nothing is free there. */
bool frame_pool_find_longest(const struct frame_pool *pool, uint64_t low, uint64_t high,
                             struct frame_place *place);
void frame_pool_take(struct frame_pool *pool, const struct frame_place *place);
/* Have the books of a frame fetched into the cache, where they will be needed soon. */
static inline void frame_pool_prefetch(const struct frame_pool *pool, uint64_t frame)
{
    __builtin_prefetch(&pool->map.used[0][frame / 64], 1);
}

/* Frames that are all in use; any part of what was taken. */
void frame_pool_give(struct frame_pool *pool, uint64_t first, uint64_t count);

static inline bool frame_pool_is_free(const struct frame_pool *pool, uint64_t frame)
{
    return !frame_map_used(&pool->map, frame);
}

/* O(frames); for tests and debug builds. */
bool frame_pool_validate(const struct frame_pool *pool);

#endif

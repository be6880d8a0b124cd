/* SPDX-License-Identifier: MIT */
/*
 * The free frames of the machine: best fit under constraints. Here frames are only numbers; ram.c
 * knows their owners and their content. See frame_pool.c for the structure, its cost and its
 * reasons.
 *
 * Nothing here allocates: the bookkeeping is host address space that takes memory only where it is
 * touched. So giving frames back never fails, whether whole or in parts.
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

/* Bytes of zeroed memory that the caller must provide for this many frames (at most 2^28). */
size_t frame_pool_bytes(uint64_t frames);
/* All frames but frame 0 are then free. */
void frame_pool_init(struct frame_pool *pool, void *memory, uint64_t frames);

/* A free run that was found but not taken yet, and the hole that contains it. Valid until the next
 * change. */
struct frame_place {
    uint64_t first, count;
    uint64_t hole_first, hole_end;
};

/* The run that the placement policy prefers. False: there is none, or the request is malformed. */
bool frame_pool_find(const struct frame_pool *pool, const struct frame_want *want,
                     struct frame_place *place);
/* Approximately the longest free run inside [low, high). False: nothing is free there. */
bool frame_pool_find_longest(const struct frame_pool *pool, uint64_t low, uint64_t high,
                             struct frame_place *place);
void frame_pool_take(struct frame_pool *pool, const struct frame_place *place);
/* Prefetch the bookkeeping of a frame that will be needed soon. */
static inline void frame_pool_prefetch(const struct frame_pool *pool, uint64_t frame)
{
    __builtin_prefetch(&pool->map.used[0][frame / 64], 1);
}

/* Give back frames that are all in use; they may be any part of what was taken. */
void frame_pool_give(struct frame_pool *pool, uint64_t first, uint64_t count);

static inline bool frame_pool_is_free(const struct frame_pool *pool, uint64_t frame)
{
    return !frame_map_used(&pool->map, frame);
}

/* O(frames); for tests and debug builds. */
bool frame_pool_validate(const struct frame_pool *pool);

#endif

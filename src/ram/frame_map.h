/* SPDX-License-Identifier: MIT */
/*
 * Which frames are in use: one bit for each, and above the bits two summary trees with 64 children
 * per node. A bit of the first tree says that the word below it has a used frame; a bit of the
 * second, that the word has no free one. So the next used or free frame is found by reading a few
 * words, and a run of any length is marked in time proportional to its words.
 *
 * Zero means free, so bits cost no memory where no frame was ever used. Frame 0 must be in use: it
 * ends every downward search.
 */
#ifndef DXGK_RAM_FRAME_MAP_H
#define DXGK_RAM_FRAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_MAP_LEVELS = 4 };

struct frame_map {
    uint64_t frames;
    uint64_t words[FRAME_MAP_LEVELS];
    uint64_t *used[FRAME_MAP_LEVELS]; /* [0]: the frames; above: some frame below is used */
    uint64_t *full[FRAME_MAP_LEVELS]; /* [0]: as used[0]; above: all frames below are used */
};

/* Bytes of memory that the map of this many frames (at most 2^28) needs. */
size_t frame_map_bytes(uint64_t frames);
/* `memory`: zeroed, aligned to 8, owned by the caller. All frames are then free. */
void frame_map_init(struct frame_map *map, void *memory, uint64_t frames);

/* Mark a run as used, or as free; before the call it must be wholly free, or wholly used. count >
 * 0. */
void frame_map_use(struct frame_map *map, uint64_t first, uint64_t count);
void frame_map_free(struct frame_map *map, uint64_t first, uint64_t count);

static inline bool frame_map_used(const struct frame_map *map, uint64_t frame)
{
    return map->used[0][frame / 64] >> frame % 64 & 1;
}

uint64_t frame_map_next_used_far(const struct frame_map *map, uint64_t from);
uint64_t frame_map_prev_used_far(const struct frame_map *map, uint64_t below);

/* The first used frame at or above `from` (a frame of RAM); the number of frames if there is none.
 */
static inline uint64_t frame_map_next_used(const struct frame_map *map, uint64_t from)
{
    uint64_t bits = map->used[0][from / 64] >> from % 64;

    return bits ? from + (uint64_t)__builtin_ctzll(bits) : frame_map_next_used_far(map, from);
}

/* The last used frame below `below`, which is at least 1. */
static inline uint64_t frame_map_prev_used(const struct frame_map *map, uint64_t below)
{
    uint64_t last = below - 1, bits = map->used[0][last / 64] << (63 - last % 64);

    return bits ? last - (uint64_t)__builtin_clzll(bits) : frame_map_prev_used_far(map, last);
}

/* The first free frame at or above `from`; the number of frames if there is none. */
uint64_t frame_map_next_free(const struct frame_map *map, uint64_t from);

/* Check the summaries against the bits, O(frames); for tests and debug builds. */
bool frame_map_validate(const struct frame_map *map);

#endif

/* SPDX-License-Identifier: MIT */
/* The record of physical memory: the file, the records of frames, the pool of free ones, and the
 * arena of views; for the files that implement it. Others see it as ram.h has it. */
#ifndef DXGK_RAM_RAM_RECORD_H
#define DXGK_RAM_RAM_RECORD_H

#include <stdint.h>

#include "ram/file.h"
#include "ram/frame_pool.h"
#include "ram/ram.h"
#include "util/extent.h"

/* The record of a frame, one byte. */
enum {
    FRAME_OWNER = 0x0F,
    FRAME_CACHE = 0x30,
    FRAME_CACHE_SHIFT = 4,
    FRAME_DIRTY = 0x40, /* was handed out since a hole was last punched at its place in the file */
    FRAME_HELD = 0x80,  /* its lock or IOMMU count is not zero */
};

/* A count for each frame, in two digits, so that the usual small counts take one byte: few + 128 *
 * many. `few` is 0 only if the count is 0. */
struct ram_counts {
    uint8_t *few;
    uint32_t *many; /* touched for counts above 255 */
};

struct ram {
    uint64_t pages;
    struct ram_depot *depot;
    struct ram_file memory;
    int file;     /* the memory file */
    char *direct; /* the bytes of the file */

    char *books; /* one mapping that holds the members below, up to the arena */
    uint64_t books_bytes;
    uint8_t *frames;
    struct ram_counts locks, iommu_maps;
    struct frame_pool pool;

    uint64_t arena_pages;
    char *arena;
    uint32_t *arena_frames; /* frame + 1 behind each page; 0: none, or another file's */
    struct extent_tree arena_free;
    uint64_t arena_cursor;
};

static inline enum ram_owner frame_owner(uint8_t frame)
{
    return (enum ram_owner)(frame & FRAME_OWNER);
}

/* In ram.c: frames that nobody holds become free. */
void ram_release_run(struct ram *ram, uint64_t first, uint64_t pages);

#endif

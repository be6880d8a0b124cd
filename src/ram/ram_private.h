/* SPDX-License-Identifier: MIT */
/* Inside physical memory: ram*.c only. The theory of operation is in ram.c. */
#ifndef DXGK_RAM_PRIVATE_H
#define DXGK_RAM_PRIVATE_H

#include "ram/ram.h"

#include "ram/frame_pool.h"
#include "util/extent.h"

/* The record of a frame, one byte. */
enum {
    FRAME_OWNER = 0x0F,
    FRAME_CACHE = 0x30,
    FRAME_CACHE_SHIFT = 4,
    FRAME_DIRTY = 0x40, /* was handed out since its place in the file was last a hole */
    FRAME_HELD = 0x80,  /* its lock or IOMMU count is not zero */
};

/* A count for each frame, in two digits, so that the common small ones take a byte: few + 128 *
 * many. `few` is 0 only if the count is. */
struct ram_counts {
    uint8_t *few;
    uint32_t *many; /* touched for counts above 255 */
};

struct ram {
    uint64_t pages;
    struct ram_depot *depot;
    struct ram_file memory;
    int file;     /* of the memory */
    char *direct; /* its bytes */

    char *books; /* what follows, up to the arena, stands in it */
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

/* Frames that nobody holds become free. */
void ram_release_run(struct ram *ram, uint64_t first, uint64_t pages);
/* A frame that is held, and was given back. */
void ram_quarantine(struct ram *ram, uint64_t page);
/* Zeroed memory for the counts of so many frames, and its use. */
uint64_t ram_counts_bytes(uint64_t pages);
void ram_counts_init(struct ram *ram, char *memory);

#endif

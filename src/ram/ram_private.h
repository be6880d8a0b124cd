/* SPDX-License-Identifier: MIT */
/* Inside physical memory: ram.c and ram_view.c only. The theory of operation is in ram.c. */
#ifndef DXGK_RAM_PRIVATE_H
#define DXGK_RAM_PRIVATE_H

#include "ram/ram.h"

#include "util/extent.h"

struct ram_frame {
    uint32_t locks;
    uint32_t iommu_maps;
    uint8_t owner;
    uint8_t cache;
    bool dirty; /* was handed out since its place in the file was last a hole */
    bool late;  /* free, but not in the tree yet */
    uint32_t next_late;
};

_Static_assert(sizeof(struct ram_frame) == 16, "as documented");

struct ram {
    uint64_t pages;
    struct ram_depot *depot;
    struct ram_file memory;
    int file;     /* of the memory */
    char *direct; /* its bytes */
    struct ram_frame *frames;
    struct extent_tree free;
    uint32_t late_first;
    uint64_t late_pages;

    uint64_t arena_pages;
    char *arena;
    uint32_t *arena_frames; /* frame + 1 behind each page; 0: none, or another file's */
    struct extent_tree arena_free;
    uint64_t arena_cursor;
};

#endif

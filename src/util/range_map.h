/* SPDX-License-Identifier: MIT */
/*
 * Range map: all addresses of one space, mapped and free together, in the order of their addresses.
 * A mapped range belongs to an owner; what no range covers is free, and can be searched by size,
 * alignment and bounds. The caller chooses the unit (usually pages). Addresses and sizes are below
 * 2^63. Every operation costs O(log ranges); see range_map.c for the structure.
 */
#ifndef DXGK_UTIL_RANGE_MAP_H
#define DXGK_UTIL_RANGE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/extent.h"
#include "util/slab.h"

struct range_map {
    void *root;         /* a leaf, if the height is 1 */
    unsigned height;    /* levels */
    int32_t longest[4]; /* classes of free runs, by grade of alignment; private */
    struct slab leaves, branches;
    uint64_t first, end; /* the space */
    uint64_t ranges;     /* mapped ones */
    uint64_t free_units;
    bool out_of_memory; /* why the last range_map_take* failed */
};

/* A mapped range. */
struct range_map_entry {
    uint64_t first, size;
    void *owner;
};

/* The space [first, end), not empty and all free. False: out of memory; then there is nothing to
 * finish. */
bool range_map_init(struct range_map *map, uint64_t first, uint64_t end);
void range_map_finish(struct range_map *map);

/* Map the lowest (or highest, if from_end) free range that satisfies the request; `owner` is not
 * NULL. False: no room, or out of memory if map->out_of_memory is set. */
bool range_map_take(struct range_map *map, const struct extent_request *request, void *owner,
                    uint64_t *start);
/* Map exactly [start, start + size); false unless all of it is free. */
bool range_map_take_fixed(struct range_map *map, uint64_t start, uint64_t size, void *owner);
/* Free the mapped range that begins at `start`, and return its owner; NULL: none begins there.
 * Needs no memory. */
void *range_map_give(struct range_map *map, uint64_t start);

/* The owner of the unit; NULL: it is free, or outside the space. */
void *range_map_at(const struct range_map *map, uint64_t unit);
/* The lowest mapped range that ends above the unit: the one that contains it, else the next one;
 * false: none. To walk all, continue with its end. */
bool range_map_from(const struct range_map *map, uint64_t unit, struct range_map_entry *entry);
/* The same of free ranges; its owner is NULL. */
bool range_map_free_from(struct range_map *map, uint64_t unit, struct range_map_entry *entry);
/* Check every invariant; for tests and debug builds. */
bool range_map_validate(const struct range_map *map);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Cache of objects of one size over util_alloc: chunks are bought as needed, objects are recycled
 * through a free list, and chunks go back only when the cache ends. Taking is O(1); giving never
 * fails; slab_reserve buys objects ahead, so that a later slab_take cannot fail.
 */
#ifndef DXGK_UTIL_SLAB_H
#define DXGK_UTIL_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slab_chunk;
struct slab_object;

struct slab {
    struct slab_chunk *chunks;
    struct slab_object *spare;
    size_t object_bytes;
    uint64_t objects;       /* in all chunks */
    uint64_t spare_objects; /* of them free */
};

/* object_bytes > 0; objects are aligned for any type if it is a multiple of 16, else for
 * pointers. */
void slab_init(struct slab *slab, size_t object_bytes);
/* Frees all chunks, also those with objects still taken. */
void slab_finish(struct slab *slab);
/* Uninitialised object; NULL when out of memory. */
void *slab_take(struct slab *slab);
void slab_give(struct slab *slab, void *object);
/* Have at least `count` objects spare. False when out of memory; what was bought stays. */
bool slab_reserve(struct slab *slab, uint64_t count);
/* Count the free list and the chunks; for tests and debug builds. */
bool slab_validate(const struct slab *slab);

#endif

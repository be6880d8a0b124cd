/* SPDX-License-Identifier: MIT */
/*
 * Cache of objects of one size on top of util_alloc. Memory is allocated in chunks as needed,
 * objects are recycled through a free list, and chunks are freed only with the whole cache. Taking
 * is O(1); giving never fails; slab_reserve allocates objects ahead, so that a later slab_take
 * cannot fail.
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
    uint64_t spare_objects; /* how many of them are free */
};

/* object_bytes > 0. Objects are aligned for any type if it is a multiple of 16, else for
 * pointers. */
void slab_init(struct slab *slab, size_t object_bytes);
/* Frees all chunks, including those with objects still in use. */
void slab_finish(struct slab *slab);
/* An uninitialized object; NULL when out of memory. */
void *slab_take(struct slab *slab);
void slab_give(struct slab *slab, void *object);
/* Ensure that at least `count` objects are spare. False when out of memory; what was allocated
 * stays. */
bool slab_reserve(struct slab *slab, uint64_t count);
/* Count the free list and the chunks; for tests and debug builds. */
bool slab_validate(const struct slab *slab);

#endif

/* SPDX-License-Identifier: MIT */
#include "util/slab.h"

#include "util/alloc.h"
#include "util/checked.h"

enum {
    FIRST_CHUNK_BYTES = 512,
    LARGEST_CHUNK_BYTES = 16384,
    CACHE_LINE = 64,
};

struct slab_chunk {
    struct slab_chunk *next;
    uint64_t objects;
};

struct slab_object {
    struct slab_object *next;
};

_Static_assert(sizeof(struct slab_chunk) % 16 == 0, "objects start aligned");
_Static_assert(sizeof(struct slab_object) <= 8, "fits an object of any size, which are rounded up");

void slab_init(struct slab *slab, size_t object_bytes)
{
    *slab = (struct slab){.object_bytes = (object_bytes + 7) & ~(size_t)7};
}

void slab_finish(struct slab *slab)
{
    while (slab->chunks) {
        struct slab_chunk *chunk = slab->chunks;

        slab->chunks = chunk->next;
        util_free(chunk);
    }
    slab_init(slab, slab->object_bytes);
}

/* Objects whose size is a multiple of a cache line start on one. */
static char *first_object(const struct slab *slab, struct slab_chunk *chunk)
{
    uintptr_t first = (uintptr_t)(chunk + 1);

    if (slab->object_bytes % CACHE_LINE == 0)
        first = (first + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1);
    return (char *)first;
}

/* Chunks double with the cache: a small cache stays small, and a large one allocates rarely. */
static bool buy_chunk(struct slab *slab)
{
    uint64_t count = slab->objects;
    struct slab_chunk *chunk;
    char *object;
    size_t bytes;

    if (count < FIRST_CHUNK_BYTES / slab->object_bytes)
        count = FIRST_CHUNK_BYTES / slab->object_bytes;
    if (count > LARGEST_CHUNK_BYTES / slab->object_bytes)
        count = LARGEST_CHUNK_BYTES / slab->object_bytes;
    if (count == 0)
        count = 1;
    if (ckd_mul(&bytes, (size_t)count, slab->object_bytes) ||
        ckd_add(&bytes, bytes, sizeof(*chunk) + CACHE_LINE))
        return false;
    chunk = util_alloc(bytes);
    if (!chunk)
        return false;
    chunk->next = slab->chunks;
    chunk->objects = count;
    slab->chunks = chunk;
    /* Linked from the end, so that objects are taken in address order. */
    object = first_object(slab, chunk) + (size_t)count * slab->object_bytes;
    for (uint64_t i = 0; i < count; i++) {
        object -= slab->object_bytes;
        ((struct slab_object *)(void *)object)->next = slab->spare;
        slab->spare = (struct slab_object *)(void *)object;
    }
    slab->objects += count;
    slab->spare_objects += count;
    return true;
}

void *slab_take(struct slab *slab)
{
    struct slab_object *object;

    if (!slab->spare && !buy_chunk(slab))
        return NULL;
    object = slab->spare;
    slab->spare = object->next;
    slab->spare_objects--;
    return object;
}

void slab_give(struct slab *slab, void *memory)
{
    struct slab_object *object = memory;

    object->next = slab->spare;
    slab->spare = object;
    slab->spare_objects++;
}

bool slab_reserve(struct slab *slab, uint64_t count)
{
    while (slab->spare_objects < count)
        if (!buy_chunk(slab))
            return false;
    return true;
}

static bool inside_a_chunk(const struct slab *slab, const void *object)
{
    for (struct slab_chunk *chunk = slab->chunks; chunk; chunk = chunk->next) {
        uintptr_t first = (uintptr_t)first_object(slab, chunk);
        uintptr_t offset = (uintptr_t)object - first;

        if ((uintptr_t)object >= first && offset < chunk->objects * slab->object_bytes)
            return offset % slab->object_bytes == 0;
    }
    return false;
}

bool slab_validate(const struct slab *slab)
{
    uint64_t objects = 0, spare = 0;

    for (const struct slab_chunk *chunk = slab->chunks; chunk; chunk = chunk->next)
        objects += chunk->objects;
    for (const struct slab_object *object = slab->spare; object; object = object->next) {
        if (spare++ > objects || !inside_a_chunk(slab, object))
            return false;
    }
    return objects == slab->objects && spare == slab->spare_objects;
}

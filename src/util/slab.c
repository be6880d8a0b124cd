/* SPDX-License-Identifier: MIT */
#include "util/slab.h"

#include "util/alloc.h"
#include "util/checked.h"
#include "util/map.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    FIRST_CHUNK_BYTES = 512,
    DOUBLED_CHUNK_BYTES = 16384,
    LARGEST_CHUNK_BYTES = 32 << 20,
    HUGE_PAGE_BYTES = 2 << 20,
    HUGE_CHUNK_BYTES = HUGE_PAGE_BYTES / 2, /* where chunks are of whole huge pages */
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

/* Objects of a large chunk start on a huge page; else, if their size is a multiple of a cache line,
 * on one. */
static char *first_object(const struct slab *slab, struct slab_chunk *chunk)
{
    uintptr_t first = (uintptr_t)(chunk + 1), align = 1;

    if (chunk->objects * slab->object_bytes >= HUGE_CHUNK_BYTES)
        align = HUGE_PAGE_BYTES;
    else if (slab->object_bytes % CACHE_LINE == 0)
        align = CACHE_LINE;
    return (char *)((first + align - 1) & ~(align - 1));
}

/* Chunks grow with the cache, so that a small cache stays small and a large one allocates rarely:
 * they double at first, and are a quarter of what there is later. */
static uint64_t chunk_objects(const struct slab *slab)
{
    uint64_t bytes = slab->objects * slab->object_bytes;

    if (bytes > DOUBLED_CHUNK_BYTES)
        bytes = bytes / 4 < DOUBLED_CHUNK_BYTES ? DOUBLED_CHUNK_BYTES : bytes / 4;
    if (bytes < FIRST_CHUNK_BYTES)
        bytes = FIRST_CHUNK_BYTES;
    if (bytes >= HUGE_CHUNK_BYTES) /* whole huge pages */
        bytes = (bytes + HUGE_PAGE_BYTES - 1) & ~(uint64_t)(HUGE_PAGE_BYTES - 1);
    if (bytes > LARGEST_CHUNK_BYTES)
        bytes = LARGEST_CHUNK_BYTES;
    return bytes < slab->object_bytes ? 1 : bytes / slab->object_bytes;
}

static struct slab_chunk *allocate_chunk(const struct slab *slab, uint64_t objects)
{
    struct slab_chunk *chunk;
    size_t bytes, room;

    if (ckd_mul(&bytes, (size_t)objects, slab->object_bytes))
        return NULL;
    room = bytes >= HUGE_CHUNK_BYTES ? HUGE_PAGE_BYTES : CACHE_LINE;
    if (ckd_add(&room, room, sizeof(*chunk)) || ckd_add(&room, room, bytes))
        return NULL;
    chunk = util_alloc(room);
    if (!chunk)
        return NULL;
    chunk->objects = objects;
    /* Objects of a large cache are taken in no order, so that nearly each would need an entry of
     * the TLB of its own. Where the system has no huge page, nothing is lost. */
    if (bytes >= HUGE_CHUNK_BYTES)
        (void)util_advise(first_object(slab, chunk), bytes, MADV_HUGEPAGE);
    return chunk;
}

static bool buy_chunk(struct slab *slab)
{
    uint64_t count = chunk_objects(slab);
    struct slab_chunk *chunk = allocate_chunk(slab, count);
    char *object;

    if (!chunk)
        return false;
    chunk->next = slab->chunks;
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

static int by_address(const void *a, const void *b)
{
    const struct slab_chunk *const *left = a, *const *right = b;

    return *left < *right ? -1 : *left > *right;
}

/* Where the objects of a chunk lie. */
struct place {
    uintptr_t first, bytes;
};

/* Of the chunk in which the object at the address would be; empty: there is none. They are in
 * order. */
static struct place place_below(const struct slab *slab, struct slab_chunk **chunks, size_t count,
                                const void *object)
{
    size_t low = 0, high = count;

    while (low < high) { /* the number of chunks that begin below */
        size_t middle = low + (high - low) / 2;

        if ((uintptr_t)chunks[middle] < (uintptr_t)object)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (struct place){0};
    return (struct place){(uintptr_t)first_object(slab, chunks[low - 1]),
                          chunks[low - 1]->objects * slab->object_bytes};
}

bool slab_validate(const struct slab *slab)
{
    uint64_t objects = 0, spare = 0;
    const size_t step = slab->object_bytes;
    struct slab_chunk **chunks;
    struct place place = {0};
    uintptr_t offset = 0;
    size_t count = 0;
    bool valid = true;

    for (const struct slab_chunk *chunk = slab->chunks; chunk; chunk = chunk->next, count++)
        objects += chunk->objects;
    /* not of util_alloc: looking must not change which allocation an injected failure meets */
    chunks = malloc((count + 1) * sizeof(struct slab_chunk *));
    if (!chunks)
        return objects == slab->objects;
    count = 0;
    for (struct slab_chunk *chunk = slab->chunks; chunk; chunk = chunk->next)
        chunks[count++] = chunk;
    qsort(chunks, count, sizeof(*chunks), by_address);
    for (const struct slab_object *object = slab->spare; object && valid; object = object->next) {
        const uintptr_t before = offset;

        offset = (uintptr_t)object - place.first;
        if (offset >= place.bytes) {
            place = place_below(slab, chunks, count, object);
            offset = (uintptr_t)object - place.first;
        }
        /* most follow each other, which needs no division */
        valid = spare++ <= objects && offset < place.bytes &&
                (offset == before + step || offset % step == 0);
    }
    free(chunks);
    return valid && objects == slab->objects && spare == slab->spare_objects;
}

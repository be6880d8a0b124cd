/* SPDX-License-Identifier: MIT */
/*
 * The arena's own record lies at its start, so that every process sees how far it is filled.
 *
 *     record | block | block | block |  free, was used before |  never touched
 *            ^ start                 ^ used                   ^ dirty           ^ bytes
 */
#include "util/arena.h"
#include "util/map.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST_BYTES ((size_t)64 << 20)
/* Above this, a reset gives pages back instead of clearing them again when they are taken. */
#define KEPT_BYTES ((size_t)16 << 20)
#define PAGE       ((size_t)4096)

struct util_arena {
    alignas(max_align_t) size_t bytes;
    size_t used, dirty;
};

struct util_arena *util_arena_create(size_t bytes)
{
    void *memory = MAP_FAILED;
    struct util_arena *arena;

    for (; memory == MAP_FAILED && bytes >= LEAST_BYTES; bytes /= 2) {
        memory = util_map(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED)
            break;
    }
    if (memory == MAP_FAILED)
        return NULL;
    arena = memory;
    arena->bytes = bytes;
    arena->used = arena->dirty = sizeof(*arena);
    return arena;
}

void util_arena_destroy(struct util_arena *arena)
{
    if (arena)
        util_unmap(arena, arena->bytes);
}

void *util_arena_alloc(struct util_arena *arena, size_t bytes)
{
    size_t whole = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    size_t at = arena->used;

    if (whole < bytes || whole > arena->bytes - at)
        return NULL;
    arena->used = at + whole;
    if (at < arena->dirty)
        memset((char *)arena + at, 0, (arena->dirty < at + whole ? arena->dirty : at + whole) - at);
    if (arena->used > arena->dirty)
        arena->dirty = arena->used;
    return (char *)arena + at;
}

size_t util_arena_mark(const struct util_arena *arena)
{
    return arena->used;
}

void util_arena_reset(struct util_arena *arena, size_t mark)
{
    size_t page = (mark + PAGE - 1) & ~(PAGE - 1);

    arena->used = mark;
    if (arena->dirty <= page || arena->dirty - page < KEPT_BYTES)
        return;
    if (util_advise((char *)arena + page, arena->bytes - page, MADV_REMOVE) == 0)
        arena->dirty = page;
}

bool util_arena_has(const struct util_arena *arena, const void *start, size_t bytes)
{
    size_t at = (size_t)((const char *)start - (const char *)arena);

    return at >= sizeof(*arena) && at <= arena->used && bytes <= arena->used - at;
}

void *util_arena_or_malloc(struct util_arena *arena, size_t bytes)
{
    return arena ? util_arena_alloc(arena, bytes) : calloc(1, bytes);
}

void util_arena_or_free(struct util_arena *arena, void *block)
{
    if (!arena)
        free(block);
}

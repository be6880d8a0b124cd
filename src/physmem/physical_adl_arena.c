/* SPDX-License-Identifier: MIT */
#include "physmem/physical_adl_arena.h"

#include <sys/mman.h>

#include "util/address.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/map.h"

#define ARENA_BYTES ((uint64_t)1 << 38)
#define CHUNK_BYTES ((uint64_t)1 << 16)
#define STEP_BYTES  ((uint64_t)1 << 24) /* by which it becomes accessible */

static void *map_sparse(uint64_t bytes, int protection)
{
    void *memory = util_map(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                            -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

bool physical_adl_arena_create(struct physical_adl_arena *arena)
{
    *arena = (struct physical_adl_arena){0};
    if (util_fault_point())
        return false;
    arena->base = map_sparse(ARENA_BYTES, PROT_NONE);
    arena->live = map_sparse(ARENA_BYTES / CHUNK_BYTES * sizeof(*arena->live),
                             PROT_READ | PROT_WRITE);
    if (arena->base && arena->live)
        return true;
    physical_adl_arena_destroy(arena);
    return false;
}

void physical_adl_arena_destroy(struct physical_adl_arena *arena)
{
    if (arena->base)
        util_unmap(arena->base, ARENA_BYTES);
    if (arena->live)
        util_unmap(arena->live, ARENA_BYTES / CHUNK_BYTES * sizeof(*arena->live));
}

static bool open_up_to(struct physical_adl_arena *arena, uint64_t end)
{
    const uint64_t wanted = align_up(end, STEP_BYTES);

    if (end <= arena->open)
        return true;
    if (util_protect(arena->base + arena->open, wanted - arena->open, PROT_READ | PROT_WRITE) != 0)
        return false;
    arena->open = wanted;
    return true;
}

void *physical_adl_arena_take(struct physical_adl_arena *arena, uint64_t bytes, bool apart)
{
    uint64_t start = apart ? align_up(arena->used, PAGE_BYTES) : arena->used;

    if (util_fault_point() || bytes > ARENA_BYTES - start || !open_up_to(arena, start + bytes))
        return NULL;
    arena->used = align_up(start + bytes, apart ? PAGE_BYTES : 16);
    for (uint64_t chunk = start / CHUNK_BYTES; chunk <= (start + bytes - 1) / CHUNK_BYTES; chunk++)
        arena->live[chunk]++;
    return arena->base + start;
}

void physical_adl_arena_give(struct physical_adl_arena *arena, void *memory, uint64_t bytes,
                             bool apart)
{
    uint64_t start = (uint64_t)((char *)memory - arena->base);

    if (apart) /* if it fails, a late use reads zeros or what was there */
        (void)util_protect(memory, align_up(bytes, PAGE_BYTES), PROT_NONE);

    for (uint64_t chunk = start / CHUNK_BYTES; chunk <= (start + bytes - 1) / CHUNK_BYTES; chunk++) {
        util_assert(arena->live[chunk] > 0);
        if (--arena->live[chunk] == 0 && (chunk + 1) * CHUNK_BYTES <= arena->used)
            util_advise(arena->base + chunk * CHUNK_BYTES, CHUNK_BYTES, MADV_DONTNEED);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * An arena is a mapping of its own. Its record is in the first page, away from the driver's reach:
 *
 *      | record | inaccessible page | bytes |
 */
#include "ddi/arena.h"

#include <sys/mman.h>

#include "ddi/state.h"
#include "ddi/zone.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"

#define SMALL_BYTES 81920u /* a debug report fits (TDR-069) */
#define HEAD_BYTES  ((size_t)(2 * PAGE_BYTES))

struct ddi_arena {
    struct list link; /* of the machine: free ones first */
    size_t whole;     /* of the mapping */
    bool free;
};

static struct ddi_arena *create(struct ddi_state *state, size_t bytes)
{
    const size_t whole = HEAD_BYTES + align_up(bytes, PAGE_BYTES);
    struct ddi_arena *arena;
    void *memory;

    if (bytes > SMALL_BYTES && util_fault_point())
        return NULL;
    memory = util_map(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (util_protect((uint8_t *)memory + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0) {
        util_unmap(memory, whole);
        return NULL;
    }
    ddi_zone_begin();
    arena = memory;
    arena->whole = whole;
    arena->free = false;
    list_push_back(&state->arenas, &arena->link);
    return arena;
}

static void destroy(struct ddi_arena *arena)
{
    list_remove(&arena->link);
    util_unmap(arena, arena->whole);
}

struct ddi_arena *ddi_arena_take(size_t bytes)
{
    struct ddi_state *state = ddi_state();
    struct ddi_arena *first = CONTAINER(state->arenas.next, struct ddi_arena, link);

    if (bytes > SMALL_BYTES || list_empty(&state->arenas) || !first->free)
        return create(state, bytes > SMALL_BYTES ? bytes : SMALL_BYTES);
    list_remove(&first->link);
    list_push_back(&state->arenas, &first->link);
    first->free = false;
    return first;
}

uint8_t *ddi_arena_bytes(const struct ddi_arena *arena)
{
    return (uint8_t *)(uintptr_t)arena + HEAD_BYTES;
}

void ddi_arena_give(struct ddi_arena *arena)
{
    if (arena->whole != HEAD_BYTES + SMALL_BYTES) {
        destroy(arena);
        return;
    }
    list_remove(&arena->link);
    arena->free = true;
    list_push_front(&ddi_state()->arenas, &arena->link);
}

void ddi_arena_finish(struct ddi_state *state)
{
    while (!list_empty(&state->arenas))
        destroy(CONTAINER(state->arenas.next, struct ddi_arena, link));
}

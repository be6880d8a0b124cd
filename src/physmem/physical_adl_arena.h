/* SPDX-License-Identifier: MIT */
/*
 * The address space for ADLs. It is handed out upwards and never reused: the address of a freed ADL
 * stays invalid for the rest of the run (PHYS-016). The memory of a chunk of the arena is freed
 * once all its ADLs are freed.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_ADL_ARENA_H
#define DXGK_PHYSMEM_PHYSICAL_ADL_ARENA_H

#include <stdbool.h>
#include <stdint.h>

struct physical_adl_arena {
    char *base;
    uint64_t used;
    uint64_t open;  /* bytes that are accessible */
    uint32_t *live; /* number of ADLs in each chunk */
};

/* False: out of memory. */
bool physical_adl_arena_create(struct physical_adl_arena *arena);
void physical_adl_arena_destroy(struct physical_adl_arena *arena);
/* Zeroed memory, aligned for an ADL; NULL: out of memory. `apart`: in pages of its own, which are
 * inaccessible once it is given back, so that a late use is found where it is done. */
void *physical_adl_arena_take(struct physical_adl_arena *arena, uint64_t bytes, bool apart);
void physical_adl_arena_give(struct physical_adl_arena *arena, void *memory, uint64_t bytes,
                             bool apart);

#endif

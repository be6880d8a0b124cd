/* SPDX-License-Identifier: MIT */
/*
 * The address space in which ADLs stand. It is handed out upwards and never again: the address of a
 * freed ADL names nothing for the rest of the run (PHYS-016). A chunk of the arena whose ADLs are
 * all gone gives its memory back.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_ADL_ARENA_H
#define DXGK_PHYSMEM_PHYSICAL_ADL_ARENA_H

#include <stdbool.h>
#include <stdint.h>

struct physical_adl_arena {
    char *base;
    uint64_t used;
    uint32_t *live; /* ADLs in each chunk */
};

/* False: out of memory. */
bool physical_adl_arena_create(struct physical_adl_arena *arena);
void physical_adl_arena_destroy(struct physical_adl_arena *arena);
/* Zeroed memory, aligned for an ADL; NULL: out of memory. */
void *physical_adl_arena_take(struct physical_adl_arena *arena, uint64_t bytes);
void physical_adl_arena_give(struct physical_adl_arena *arena, void *memory, uint64_t bytes);

#endif

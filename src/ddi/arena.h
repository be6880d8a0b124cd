/* SPDX-License-Identifier: MIT */
/* Memory for the copies that one call of the driver gets, apart from all memory of the host. */
#ifndef DXGK_DDI_ARENA_H
#define DXGK_DDI_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ddi_arena;
struct ddi_state;

/* At least so many bytes, not cleared. Small arenas are used again. NULL: out of memory. */
struct ddi_arena *ddi_arena_take(size_t bytes);
uint8_t *ddi_arena_bytes(const struct ddi_arena *arena);
void ddi_arena_give(struct ddi_arena *arena);
/* Free what the machine of `state` has left: also of calls that never returned. */
void ddi_arena_finish(struct ddi_state *state);

#endif

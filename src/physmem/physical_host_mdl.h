/* SPDX-License-Identifier: MIT */
/* MDLs that the host makes and a driver must leave alone: over pages allocated for it, and over the
 * pages of a frame buffer pin. */
#ifndef DXGK_PHYSMEM_PHYSICAL_HOST_MDL_H
#define DXGK_PHYSMEM_PHYSICAL_HOST_MDL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct physical_backing;
struct physical_memory;

/* Over all pages of the backing, which is a list. NULL: out of memory. */
MDL *physical_host_mdl_create(struct physical_memory *memory,
                              const struct physical_backing *backing);
/* Whether it still says what it said at first. */
bool physical_host_mdl_unchanged(const MDL *mdl, const struct physical_backing *backing);
/* Mappings of it end. */
void physical_host_mdl_destroy(struct physical_memory *memory, MDL *mdl);

#endif

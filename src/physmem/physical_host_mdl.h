/* SPDX-License-Identifier: MIT */
/* MDLs that the host makes and a driver must not change: over pages allocated for it, and over the
 * pages of a frame buffer pin. */
#ifndef DXGK_PHYSMEM_PHYSICAL_HOST_MDL_H
#define DXGK_PHYSMEM_PHYSICAL_HOST_MDL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct physical_backing;
struct physical_memory;

/* Covers all pages of the backing, which must be a list. NULL: out of memory. */
MDL *physical_host_mdl_create(struct physical_memory *memory,
                              const struct physical_backing *backing);
/* Whether its content is unchanged since its creation. */
bool physical_host_mdl_unchanged(const MDL *mdl, const struct physical_backing *backing);
/* Also removes mappings of it. */
void physical_host_mdl_destroy(struct physical_memory *memory, MDL *mdl);

#endif

/* SPDX-License-Identifier: MIT */
/* The page tables that a driver describes: checks, and the numbers that follow from them. */
#ifndef DXGK_VIDMM_TABLE_DESCRIPTION_H
#define DXGK_VIDMM_TABLE_DESCRIPTION_H

#include <ntddk.h>

struct table_geometry;
struct vidmm;

/* Are the descriptions the driver gave consistent (GPUVA-010 to GPUVA-024, GPUVA-223)? Reports what
 * is not; STATUS_DEVICE_CONFIGURATION_ERROR. */
NTSTATUS table_description_check(const struct vidmm *vidmm);
/* The numbers of every space of the adapter. */
void table_geometry_init(struct table_geometry *geometry, const struct vidmm *vidmm);

#endif

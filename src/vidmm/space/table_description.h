/* SPDX-License-Identifier: MIT */
/* Checks the page-table format that a driver describes, and computes the geometry from it. */
#ifndef DXGK_VIDMM_TABLE_DESCRIPTION_H
#define DXGK_VIDMM_TABLE_DESCRIPTION_H

#include <ntddk.h>

struct table_geometry;
struct vidmm;

/* Is the driver's description consistent (GPUVA-010 to GPUVA-024, GPUVA-223)? Violations are
 * reported; STATUS_DEVICE_CONFIGURATION_ERROR. */
NTSTATUS table_description_check(struct vidmm *vidmm);
/* Compute the geometry, which is the same for all spaces of the adapter. */
void table_geometry_init(struct table_geometry *geometry, const struct vidmm *vidmm);

#endif

/* SPDX-License-Identifier: MIT */
/* What the driver says of a picture in memory (DxgkDdiDescribeAllocation). */
#ifndef DXGK_VIDMM_DESCRIBE_H
#define DXGK_VIDMM_DESCRIBE_H

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_device;

/* The driver is asked once for each allocation (PRES-085). STATUS_NOT_SUPPORTED: it has no such
 * entry; else what it returned. PASSIVE_LEVEL. */
NTSTATUS vidmm_describe(struct vidmm_device *device, D3DKMT_HANDLE handle,
                        DXGKARG_DESCRIBEALLOCATION *described);

#endif

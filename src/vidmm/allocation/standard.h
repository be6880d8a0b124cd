/* SPDX-License-Identifier: MIT */
/* Standard allocations: those that the host describes itself, so that the driver's kernel part
 * makes the private data that its user-mode part makes otherwise. */
#ifndef DXGK_VIDMM_STANDARD_H
#define DXGK_VIDMM_STANDARD_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_device;

/* What the driver wrote: private data for DxgkDdiCreateAllocation. */
struct vidmm_standard_data {
    void *allocation, *resource;
    UINT allocation_bytes, resource_bytes;
};

/* The description of an existing heap of `bytes` bytes (ALLOC-021 to ALLOC-024). Fails with
 * STATUS_NOT_SUPPORTED (the driver has no entry for it), STATUS_NO_MEMORY, the driver's status, or
 * STATUS_INVALID_PARAMETER after a breach, which is reported. PASSIVE_LEVEL. */
NTSTATUS vidmm_standard_heap(struct vidmm_device *device, UINT bytes,
                             struct vidmm_standard_data *data);
/* The description of the shared primary of a source (PRES-055 to PRES-059), with the same
 * failures. */
NTSTATUS vidmm_standard_primary(struct vidmm_device *device,
                                const D3DKMDT_SHAREDPRIMARYSURFACEDATA *wanted,
                                struct vidmm_standard_data *data);
/* Of another surface: a shadow, a staging surface, or one of GDI. */
struct vidmm_standard_surface {
    D3DKMDT_STANDARDALLOCATION_TYPE type;
    D3DKMDT_GDISURFACETYPE gdi; /* of one of GDI */
    UINT width, height;
    D3DDDIFORMAT format;
};
/* Its description, with the same failures; *pitch: as the driver returned it. */
NTSTATUS vidmm_standard_surface(struct vidmm_device *device,
                                const struct vidmm_standard_surface *wanted,
                                struct vidmm_standard_data *data, UINT *pitch);
void vidmm_standard_finish(struct vidmm_standard_data *data);

#endif

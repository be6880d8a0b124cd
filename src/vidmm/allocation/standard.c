/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "vidmm/allocation/standard.h"
#include "ddi/ddi.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"

#define CROSS_ADAPTER_PITCH 128u
#define MAX_DATA            (16u << 20) /* as of a client (KMT-012) */

/* `surface`: the structure of the type. */
static NTSTATUS ask(struct vidmm_device *device, D3DKMDT_STANDARDALLOCATION_TYPE type,
                    void *surface, struct vidmm_standard_data *data)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA args = {
        .StandardAllocationType = type,
        .pCreateGdiSurfaceData = surface, /* a union */
        .pAllocationPrivateDriverData = data->allocation,
        .AllocationPrivateDriverDataSize = data->allocation_bytes,
        .pResourcePrivateDriverData = data->resource,
        .ResourcePrivateDriverDataSize = data->resource_bytes,
    };
    NTSTATUS status = ddi_standard_data(device->process->vidmm->ddi, &args);

    if (NT_SUCCESS(status) && !data->allocation && !data->resource) {
        data->allocation_bytes = args.AllocationPrivateDriverDataSize;
        data->resource_bytes = args.ResourcePrivateDriverDataSize;
    }
    return status;
}

static NTSTATUS make_room(struct vidmm_standard_data *data)
{
    if (data->allocation_bytes > MAX_DATA || data->resource_bytes > MAX_DATA) {
        verify_refusal("ALLOC-023",
                       "a standard allocation has %u bytes of private data, and %u for its "
                       "resource; the most is %u",
                       data->allocation_bytes, data->resource_bytes, MAX_DATA);
        return STATUS_INVALID_PARAMETER;
    }
    if (data->allocation_bytes == 0 && data->resource_bytes == 0 &&
        verify_expected("ALLOC-023", "a standard allocation has no private data, nor its resource"))
        return STATUS_INVALID_PARAMETER;
    if (data->allocation_bytes)
        data->allocation = util_zalloc(1, data->allocation_bytes);
    if (data->resource_bytes)
        data->resource = util_zalloc(1, data->resource_bytes);
    return (data->allocation_bytes && !data->allocation) || (data->resource_bytes && !data->resource)
               ? STATUS_NO_MEMORY
               : STATUS_SUCCESS;
}

/* The host has no use for it: what the memory holds is the client's. */
static NTSTATUS check_pitch(const D3DKMDT_GDISURFACEDATA *surface)
{
    if ((surface->Pitch == 0 || surface->Pitch % CROSS_ADAPTER_PITCH) &&
        verify_finding("ALLOC-024", "Pitch of a cross-adapter texture is %u, no multiple of %u",
                       surface->Pitch, CROSS_ADAPTER_PITCH))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

/* The two calls (ALLOC-022): the first asks for sizes alone, so `surface` (`bytes` bytes) is
 * `wanted` again before the second. */
static NTSTATUS describe(struct vidmm_device *device, D3DKMDT_STANDARDALLOCATION_TYPE type,
                         const void *wanted, void *surface, size_t bytes,
                         struct vidmm_standard_data *data)
{
    NTSTATUS status;

    *data = (struct vidmm_standard_data){0};
    if (!ddi_has(device->process->vidmm->ddi, DxgkDdiGetStandardAllocationDriverData))
        return refuse(STATUS_NOT_SUPPORTED, NULL,
                      "the driver has no DxgkDdiGetStandardAllocationDriverData");
    memcpy(surface, wanted, bytes);
    status = ask(device, type, surface, data);
    if (NT_SUCCESS(status))
        status = make_room(data);
    if (NT_SUCCESS(status) && (data->allocation || data->resource)) {
        memcpy(surface, wanted, bytes);
        status = ask(device, type, surface, data);
    }
    return status;
}

NTSTATUS vidmm_standard_heap(struct vidmm_device *device, UINT bytes,
                             struct vidmm_standard_data *data)
{
    const D3DKMDT_GDISURFACEDATA wanted = {
        .Width = bytes,
        .Height = 1,
        .Format = D3DDDIFMT_UNKNOWN,
        .Type = D3DKMDT_GDISURFACE_TEXTURE_CROSSADAPTER,
    };
    D3DKMDT_GDISURFACEDATA surface;
    NTSTATUS status = describe(device, D3DKMDT_STANDARDALLOCATION_GDISURFACE, &wanted, &surface,
                               sizeof(surface), data);

    if (NT_SUCCESS(status) && (data->allocation || data->resource))
        status = check_pitch(&surface);
    if (!NT_SUCCESS(status))
        vidmm_standard_finish(data);
    return status;
}

NTSTATUS vidmm_standard_primary(struct vidmm_device *device,
                                const D3DKMDT_SHAREDPRIMARYSURFACEDATA *wanted,
                                struct vidmm_standard_data *data)
{
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;
    NTSTATUS status = describe(device, D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE, wanted,
                               &surface, sizeof(surface), data);

    if (!NT_SUCCESS(status)) {
        vidmm_standard_finish(data);
        return status;
    }
    if (surface.Width != wanted->Width || surface.Height != wanted->Height ||
        surface.Format != wanted->Format)
        VIOLATION("PRES-059",
                  "the driver made the shared primary of source %u %u x %u in format %d, of the "
                  "%u x %u in format %d that was asked for",
                  wanted->VidPnSourceId, surface.Width, surface.Height, (int)surface.Format,
                  wanted->Width, wanted->Height, (int)wanted->Format);
    return status;
}

NTSTATUS vidmm_standard_surface(struct vidmm_device *device,
                                const struct vidmm_standard_surface *wanted,
                                struct vidmm_standard_data *data, UINT *pitch)
{
    const D3DKMDT_SHADOWSURFACEDATA shadow = {
        .Width = wanted->width, .Height = wanted->height, .Format = wanted->format};
    const D3DKMDT_STAGINGSURFACEDATA staging = {.Width = wanted->width, .Height = wanted->height};
    const D3DKMDT_GDISURFACEDATA gdi = {.Width = wanted->width,
                                        .Height = wanted->height,
                                        .Format = wanted->format,
                                        .Type = wanted->gdi};
    union {
        D3DKMDT_SHADOWSURFACEDATA shadow;
        D3DKMDT_STAGINGSURFACEDATA staging;
        D3DKMDT_GDISURFACEDATA gdi;
    } surface = {.gdi = {.Width = 0}};
    NTSTATUS status;

    if (wanted->type == D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE) {
        status = describe(device, wanted->type, &shadow, &surface, sizeof(shadow), data);
        *pitch = surface.shadow.Pitch;
    } else if (wanted->type == D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE) {
        status = describe(device, wanted->type, &staging, &surface, sizeof(staging), data);
        *pitch = surface.staging.Pitch;
    } else {
        status = describe(device, wanted->type, &gdi, &surface, sizeof(gdi), data);
        *pitch = surface.gdi.Pitch;
    }
    if (!NT_SUCCESS(status))
        vidmm_standard_finish(data);
    return status;
}

void vidmm_standard_finish(struct vidmm_standard_data *data)
{
    util_free(data->allocation);
    util_free(data->resource);
    *data = (struct vidmm_standard_data){0};
}

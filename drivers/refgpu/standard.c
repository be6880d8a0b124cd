/* SPDX-License-Identifier: MIT */
/* Standard allocations: what a system-memory heap is wrapped in; and of a board with outputs the
 * primaries of modes, and what the CPU draws for them. */
#include "driver.h"

static BOOLEAN pixel_of(D3DDDIFORMAT format, struct refgpu_allocation_data *data)
{
    if (format == D3DDDIFMT_R5G6B5)
        data->flags |= REFGPU_ALLOCATION_R5G6B5;
    return format == D3DDDIFMT_R5G6B5 || format == D3DDDIFMT_A8R8G8B8 ||
           format == D3DDDIFMT_X8R8G8B8;
}

static BOOLEAN surface_of(UINT width, UINT height, D3DDDIFORMAT format,
                          struct refgpu_allocation_data *data)
{
    if (!pixel_of(format, data) || !width || !height || width > REFGPU_OUT_MOST_SIDE ||
        height > REFGPU_OUT_MOST_SIDE)
        return FALSE;
    data->width = width;
    data->height = height;
    data->pitch = refgpu_pitch(width, refgpu_pixel_bytes(data));
    data->bytes = (ULONGLONG)data->pitch * height;
    data->flags |= REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL;
    return TRUE;
}

static NTSTATUS describe_primary(const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface,
                                 struct refgpu_allocation_data *data)
{
    if (!surface_of(surface->Width, surface->Height, surface->Format, data))
        return STATUS_INVALID_PARAMETER;
    data->segments = REFGPU_IN_VRAM;
    data->flags |= REFGPU_ALLOCATION_PRIMARY | REFGPU_ALLOCATION_SHARED;
    return STATUS_SUCCESS;
}

static NTSTATUS describe_shadow(D3DKMDT_SHADOWSURFACEDATA *surface,
                                struct refgpu_allocation_data *data)
{
    if (!surface_of(surface->Width, surface->Height, surface->Format, data))
        return STATUS_INVALID_PARAMETER;
    data->segments = REFGPU_IN_APERTURE;
    surface->Pitch = data->pitch;
    return STATUS_SUCCESS;
}

static NTSTATUS describe_staging(D3DKMDT_STAGINGSURFACEDATA *surface,
                                 struct refgpu_allocation_data *data)
{
    if (!surface_of(surface->Width, surface->Height, D3DDDIFMT_X8R8G8B8, data))
        return STATUS_INVALID_PARAMETER;
    data->segments = REFGPU_IN_APERTURE;
    surface->Pitch = data->pitch;
    return STATUS_SUCCESS;
}

static NTSTATUS describe_gdi(D3DKMDT_GDISURFACEDATA *surface, struct refgpu_allocation_data *data)
{
    const UINT pixel = surface->Format == D3DDDIFMT_UNKNOWN ? 1u : 4u;

    if (!surface->Width || !surface->Height || surface->Width > 0x7FFFFF80u / pixel)
        return STATUS_INVALID_PARAMETER;
    data->width = surface->Width;
    data->height = surface->Height;
    data->pitch = (surface->Width * pixel + 127u) & ~127u;
    data->bytes = (ULONGLONG)data->pitch * ((surface->Height + 3u) & ~3u);
    data->segments = REFGPU_IN_APERTURE;
    data->flags = REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_SHARED;
    if (surface->Height == 1u) { /* a wrapped heap keeps its exact size */
        data->pitch = surface->Width * pixel;
        data->bytes = data->pitch;
    }
    surface->Pitch = data->pitch;
    return STATUS_SUCCESS;
}

static BOOLEAN is_known(const struct refgpu_adapter *adapter, D3DKMDT_STANDARDALLOCATION_TYPE type)
{
    return type == D3DKMDT_STANDARDALLOCATION_GDISURFACE ||
           (adapter->display.outputs && (type == D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE ||
                                         type == D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE ||
                                         type == D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE));
}

NTSTATUS NTAPI RefGpuGetStandardAllocationDriverData(
    IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSTANDARDALLOCATIONDRIVERDATA pArgs)
{
    const BOOLEAN sizes_only = !pArgs->pAllocationPrivateDriverData &&
                               !pArgs->pResourcePrivateDriverData;
    struct refgpu_allocation_data data;
    NTSTATUS status;

    if (!is_known(hAdapter, pArgs->StandardAllocationType))
        return STATUS_NOT_SUPPORTED;
    if (sizes_only) {
        pArgs->AllocationPrivateDriverDataSize = sizeof data;
        pArgs->ResourcePrivateDriverDataSize = 0;
        return STATUS_SUCCESS;
    }
    if (!pArgs->pAllocationPrivateDriverData || pArgs->AllocationPrivateDriverDataSize < sizeof data)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(&data, sizeof data);
    data.magic = REFGPU_UMD_MAGIC;
    switch (pArgs->StandardAllocationType) {
    case D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE:
        status = describe_primary(pArgs->pCreateSharedPrimarySurfaceData, &data);
        break;
    case D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE:
        status = describe_shadow(pArgs->pCreateShadowSurfaceData, &data);
        break;
    case D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE:
        status = describe_staging(pArgs->pCreateStagingSurfaceData, &data);
        break;
    default:
        status = describe_gdi(pArgs->pCreateGdiSurfaceData, &data);
        break;
    }
    if (NT_SUCCESS(status))
        RtlCopyMemory(pArgs->pAllocationPrivateDriverData, &data, sizeof data);
    return status;
}

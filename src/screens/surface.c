/* SPDX-License-Identifier: MIT */
#include "screens/surface.h"
#include "modes/mode_check.h"
#include "screens/scanouts_record.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"

static const D3DDDICB_DESTROYALLOCATION2FLAGS at_once = {.AssumeNotInUse = 1,
                                                         .SynchronousDestroy = 1};

/* PRES-065, PRES-069: what may be asked for, completed. */
static NTSTATUS complete(const struct scanout *s, struct vidmm_standard_surface *surface)
{
    switch (surface->type) {
    case D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE:
        if (!s->shared)
            return refuse(STATUS_INVALID_PARAMETER, "PRES-065",
                          "source %u has no primary that a shadow could be of", s->source);
        surface->width = s->shared->surface.Width;
        surface->height = s->shared->surface.Height;
        surface->format = s->shared->surface.Format;
        return STATUS_SUCCESS;
    case D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE:
        surface->format = D3DDDIFMT_X8R8G8B8; /* PRES-066 */
        return STATUS_SUCCESS;
    case D3DKMDT_STANDARDALLOCATION_GDISURFACE:
        if (surface->gdi >= D3DKMDT_GDISURFACE_TEXTURE &&
            surface->gdi <= D3DKMDT_GDISURFACE_EXISTINGSYSMEM)
            return STATUS_SUCCESS;
        return refuse(STATUS_INVALID_PARAMETER, "PRES-069", "type %d of GDI surface",
                      (int)surface->gdi);
    default:
        return refuse(STATUS_INVALID_PARAMETER, "PRES-056", "type %d of standard allocation",
                      (int)surface->type);
    }
}

/* Does the CPU write to it line by line (PRES-067, PRES-068)? */
static bool is_lockable(const struct vidmm_standard_surface *surface)
{
    return surface->type != D3DKMDT_STANDARDALLOCATION_GDISURFACE ||
           surface->gdi == D3DKMDT_GDISURFACE_STAGING_CPUVISIBLE ||
           surface->gdi == D3DKMDT_GDISURFACE_EXISTINGSYSMEM;
}

static NTSTATUS check(const struct vidmm_standard_surface *surface,
                      const struct vidmm_allocation *allocation, UINT pitch)
{
    const UINT line = surface->width * mode_pixel_bytes(surface->format);
    const uint64_t bytes = vidmm_scanout_bytes(allocation);

    if (!is_lockable(surface))
        return STATUS_SUCCESS;
    if (pitch < line || !pitch || (uint64_t)pitch * surface->height > bytes) {
        VIOLATION("PRES-067", "a surface of type %d, %u x %u pixels, has Pitch %u and 0x%llx bytes",
                  (int)surface->type, surface->width, surface->height, pitch,
                  (unsigned long long)bytes);
        return STATUS_INVALID_PARAMETER;
    }
    if (!vidmm_scanout_cpu_visible(allocation)) {
        VIOLATION("PRES-068", "a surface of type %d is not CpuVisible", (int)surface->type);
        return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS make(struct vidmm_device *device, const struct vidmm_standard_surface *surface,
                     const struct vidmm_standard_data *data, UINT pitch,
                     struct surface_answer *answer)
{
    D3DDDI_ALLOCATIONINFO2 info = {.VidPnSourceId = 0};
    struct vidmm_create_item item = {
        .private_data = data->allocation, .private_bytes = data->allocation_bytes, .info = &info};
    struct vidmm_create_request request = {.flags = {.CreateResource = 1},
                                           .resource_private = data->resource,
                                           .resource_private_bytes = data->resource_bytes,
                                           .count = 1,
                                           .item = &item};
    struct vidmm_allocation *allocation;
    D3DKMT_HANDLE resource;
    NTSTATUS status = vidmm_allocation_create(device, &request, &resource);

    if (!NT_SUCCESS(status))
        return status;
    allocation = vidmm_scanout_get(device, info.hAllocation);
    status = allocation ? check(surface, allocation, pitch) : STATUS_NO_MEMORY;
    answer->pitch = pitch;
    answer->bytes = allocation ? vidmm_scanout_bytes(allocation) : 0;
    if (allocation)
        vidmm_scanout_release(allocation);
    (void)vidmm_allocation_destroy(device, resource, NULL, 0, at_once);
    return status;
}

NTSTATUS surface_try(struct scanouts *scanouts, UINT source,
                     const struct vidmm_standard_surface *wanted, struct surface_answer *answer)
{
    struct vidmm_standard_surface surface = *wanted;
    struct vidmm_standard_data data;
    NTSTATUS status;
    UINT pitch;

    *answer = (struct surface_answer){.pitch = 0};
    if (source >= scanouts->config.modes->sources)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    status = complete(&scanouts->source[source], &surface);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_standard_surface(scanouts->config.device, &surface, &data, &pitch);
    if (!NT_SUCCESS(status))
        return status;
    status = make(scanouts->config.device, &surface, &data, pitch, answer);
    vidmm_standard_finish(&data);
    return status;
}

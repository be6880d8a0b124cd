/* SPDX-License-Identifier: MIT */
/*
 * Presents from an adapter that only renders to one that only shows pictures: the CPU reads the
 * source, when the work of the device is done, and writes the image of the other adapter's source
 * (PRES-284, PRES-285).
 */
#include <string.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/copy.h"
#include "kmt/copy_rects.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "modes/modes.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "screens/screens.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/allocation/describe.h"
#include "vidmm/allocation/scanout.h"
#include "vidsch/client.h"

#define PIXEL 4u

struct across {
    struct kmt_device *device;
    const D3DKMT_PRESENT *args;
    struct screens *screens;
    UINT source;
    struct screens_image image;
    struct copy_rects rects;
    RECT *subs;
    UINT sub_count;
    uint8_t *pixels; /* of the source, a copy */
    UINT pitch;
};

/* ---- the source ---- */

/* As its driver describes it, else as far as SrcRect reaches. */
static NTSTATUS measure(struct across *a)
{
    DXGKARG_DESCRIBEALLOCATION described;
    NTSTATUS status = vidmm_describe(a->device->mm, a->args->hSource, &described);

    if (NT_SUCCESS(status) && described.Width && described.Height) {
        a->rects.source = (D3DKMDT_2DREGION){described.Width, described.Height};
        return status;
    }
    if (!NT_SUCCESS(status) && status != STATUS_NOT_SUPPORTED)
        return status;
    if (!a->args->Flags.SrcRectValid || a->args->SrcRect.right <= 0 || a->args->SrcRect.bottom <= 0)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-284",
                      "the driver does not say how large hSource is, nor does SrcRect");
    a->rects.source = (D3DKMDT_2DREGION){(UINT)a->args->SrcRect.right,
                                         (UINT)a->args->SrcRect.bottom};
    return STATUS_SUCCESS;
}

static NTSTATUS read_pixels(struct across *a, struct vidmm_allocation *allocation)
{
    const uint64_t line = (uint64_t)a->rects.source.cx * PIXEL;
    const uint64_t bytes = vidmm_scanout_bytes(allocation);

    if (line * a->rects.source.cy > bytes)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-284",
                      "hSource has 0x%llx bytes, not %u x %u pixels of 32 bits",
                      (unsigned long long)bytes, a->rects.source.cx, a->rects.source.cy);
    a->pitch = scanout_pitch((UINT)line, a->rects.source.cy, bytes);
    a->pixels = util_alloc((uint64_t)a->pitch * a->rects.source.cy);
    if (!a->pixels)
        return STATUS_NO_MEMORY;
    if (!vidmm_scanout_read(allocation, a->pixels, (uint64_t)a->pitch * a->rects.source.cy))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-284", "the CPU does not reach hSource");
    return STATUS_SUCCESS;
}

static NTSTATUS read_source(struct across *a)
{
    struct vidmm_allocation *allocation;
    NTSTATUS status;

    if (!a->args->Flags.Blt)
        return STATUS_SUCCESS;
    status = measure(a);
    if (NT_SUCCESS(status))
        status = vidsch_device_wait_idle(a->device->sch);
    if (!NT_SUCCESS(status))
        return status;
    allocation = vidmm_scanout_get(a->device->mm, a->args->hSource);
    if (!allocation)
        return STATUS_INVALID_HANDLE;
    status = read_pixels(a, allocation);
    vidmm_scanout_release(allocation);
    return status;
}

/* ---- what is to be copied ---- */

/* The client's sub-rectangles; or those of pPresentRegions: what is dirty, and where something was
 * moved to, as the source has the result of it. */
static NTSTATUS take_subs(struct across *a)
{
    D3DKMT_PRESENT_RGNS regions;
    D3DKMT_MOVE_RECT *moves = NULL;
    RECT *dirty = NULL;
    NTSTATUS status;

    if (!a->args->Flags.PresentRegionsValid) {
        a->sub_count = a->args->SubRectCnt;
        return kmt_client_copy_array(a->args->pSrcSubRects, a->sub_count, sizeof(RECT),
                                     (void **)&a->subs);
    }
    if (!kmt_client_get(&regions, a->args->pPresentRegions, sizeof(regions)))
        return STATUS_INVALID_PARAMETER;
    status = kmt_client_copy_array(regions.pDirtyRects, regions.DirtyRectCount, sizeof(*dirty),
                                   (void **)&dirty);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_array(regions.pMoveRects, regions.MoveRectCount, sizeof(*moves),
                                       (void **)&moves);
    if (NT_SUCCESS(status)) {
        a->sub_count = regions.DirtyRectCount + regions.MoveRectCount;
        a->subs = util_alloc((a->sub_count ? a->sub_count : 1) * sizeof(*a->subs));
        status = a->subs ? STATUS_SUCCESS : STATUS_NO_MEMORY;
    }
    for (UINT i = 0; NT_SUCCESS(status) && i < a->sub_count; i++)
        a->subs[i] = i < regions.MoveRectCount ? moves[i].DestRect
                                               : dirty[i - regions.MoveRectCount];
    util_free(dirty);
    util_free(moves);
    return status;
}

/* ---- the copy ---- */

static uint32_t pixel_for(const struct across *a, LONG x, LONG y, bool *outside)
{
    const RECT *from = &a->rects.from, *to = &a->rects.to;
    const int64_t sx = from->left + ((int64_t)x - to->left) * (from->right - from->left) /
                                        (to->right - to->left);
    const int64_t sy = from->top +
                       ((int64_t)y - to->top) * (from->bottom - from->top) / (to->bottom - to->top);
    uint32_t pixel = a->args->Color;

    *outside = a->args->Flags.Blt &&
               (sx < 0 || sy < 0 || sx >= a->rects.source.cx || sy >= a->rects.source.cy);
    if (a->args->Flags.Blt && !*outside)
        memcpy(&pixel, a->pixels + (size_t)sy * a->pitch + (size_t)sx * PIXEL, PIXEL);
    return pixel;
}

static void draw(const struct across *a, const RECT *r)
{
    for (LONG y = r->top; y < r->bottom; y++)
        for (LONG x = r->left; x < r->right; x++) {
            bool outside;
            const uint32_t pixel = pixel_for(a, x, y, &outside);

            if (!outside)
                memcpy(a->image.pixels + (size_t)y * a->image.pitch + (size_t)x * PIXEL, &pixel,
                       PIXEL);
        }
    screens_drawn(a->screens, a->source, r);
}

static NTSTATUS copy(struct across *a)
{
    NTSTATUS status;

    if (!screens_draw(a->screens, a->source, &a->image))
        return refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-284", "source %u shows nothing",
                      a->source);
    a->rects.args = a->args;
    a->rects.clip = true;
    a->rects.screen = (D3DKMDT_2DREGION){a->image.width, a->image.height};
    status = copy_rects_take(&a->rects, a->subs, a->sub_count);
    for (UINT i = 0; NT_SUCCESS(status) && i < a->rects.count; i++)
        draw(a, &a->rects.rect[i]);
    return status;
}

/* ---- the call ---- */

static NTSTATUS check(const struct across *a, const struct kmt_adapter *shown)
{
    D3DKMT_PRESENT plain = *a->args;

    if (!a->screens)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-284",
                      "neither adapter has a display to which this host could copy");
    if (!a->device->sch && a->args->Flags.Blt)
        return refuse(STATUS_INVALID_PARAMETER, "DISP-012",
                      "the device is of a display-only adapter, and has no allocations to copy");
    if (a->args->Flags.Flip)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-284",
                      "a display-only adapter shows copies, it has no flips");
    if (a->source >= port_display_modes(shown->port)->sources)
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-283",
                      "the adapter has no source %u", a->source);
    plain.Flags.PresentIndirect = plain.Flags.CrossAdapter = 0;
    return kmt_copy_check(&plain);
}

NTSTATUS kmt_present_across(struct kmt_call *call, struct kmt_device *device,
                            const D3DKMT_PRESENT *args)
{
    const struct kmt_adapter *shown = !device->sch && !args->hAdapter
                                          ? device->adapter
                                          : kmt_handle_adapter(call, args->hAdapter);
    struct across a = {.device = device,
                       .args = args,
                       .source = args->Flags.RestrictVidPnSource ? args->VidPnSourceId : 0};
    NTSTATUS status;

    if (!shown)
        return STATUS_INVALID_PARAMETER;
    a.screens = port_display_screens(shown->port);
    status = check(&a, shown);
    if (NT_SUCCESS(status))
        status = take_subs(&a);
    if (NT_SUCCESS(status))
        status = read_source(&a);
    if (NT_SUCCESS(status))
        status = copy(&a);
    util_free(a.subs);
    util_free(a.pixels);
    util_free(a.rects.rect);
    return status;
}

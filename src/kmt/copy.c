/* SPDX-License-Identifier: MIT */
/*
 * Presents that copy to, or fill, what a source shows. The client's rectangles become those of the
 * driver here:
 *
 *   SrcRect, pSrcSubRects   pixels of the source    --- stretched --->   DstRect, pDstSubRects
 *                                                                        pixels of the screen
 *
 * Those of a fill have no source: they are pixels of the screen themselves.
 */
#include <string.h>

#include "ddi/ddi.h"
#include "kmt/adapter.h"
#include "kmt/client_memory.h"
#include "kmt/copy.h"
#include "kmt/device.h"
#include "kmt/present_state.h"
#include "kmt/source_owner.h"
#include "port/record/adapter_info.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/allocation/describe.h"
#include "vidsch/client.h"
#include "vidsch/present.h"

#define MOST_PRIVATE_BYTES (64u << 10) /* PRES-117 */
#define DESKTOP            ((HWND)1)   /* PRES-283 */

struct copying {
    struct kmt_device *device;
    struct vidsch_context *context;
    const D3DKMT_PRESENT *args;
    struct scanouts_target target;
    RECT source; /* all of it */
    RECT *rects;
    struct vidsch_present present;
};

/* ---- what it may say ---- */

static NTSTATUS refuse_flags(NTSTATUS status, const char *rule, D3DKMT_PRESENTFLAGS flags,
                             const char *why)
{
    return refuse(status, rule, "Flags 0x%x: %s", flags.Value, why);
}

/* PRES-286 */
static NTSTATUS check_kind(D3DKMT_PRESENTFLAGS f)
{
    if (f.PresentToBitmap || f.RedirectedFlip || f.RedirectedBlt || f.PresentHistoryTokenOnly ||
        f.FlipStereo || f.FlipStereoTemporaryMono || f.FlipStereoPreferRight ||
        f.BltStereoUseRight || f.RemoteSession || f.CrossAdapter || f.PresentHMD ||
        f.PresentIndirect)
        return refuse_flags(STATUS_NOT_SUPPORTED, "PRES-286", f,
                            "this host presents to screens of the adapter alone, in mono");
    if (f.PresentDDA || f.ProtectedContentBlankedOut || f.Reserved)
        return refuse_flags(STATUS_INVALID_PARAMETER, "PRES-286", f,
                            "PresentDDA, ProtectedContentBlankedOut or reserved bits");
    return STATUS_SUCCESS;
}

static NTSTATUS check_flags(const D3DKMT_PRESENT *args)
{
    const D3DKMT_PRESENTFLAGS f = args->Flags;
    const NTSTATUS status = check_kind(f);

    if (!NT_SUCCESS(status))
        return status;
    if (f.Blt == f.ColorFill)
        return refuse_flags(STATUS_INVALID_PARAMETER, "PRES-282", f,
                            "one of Blt, ColorFill and Flip is needed");
    if (f.ColorFill + f.SrcColorKey + f.DstColorKey > 1)
        return refuse_flags(STATUS_INVALID_PARAMETER, "PRES-097", f,
                            "ColorFill, SrcColorKey and DstColorKey exclude one another");
    return STATUS_SUCCESS;
}

static NTSTATUS check(const struct copying *c)
{
    const D3DKMT_PRESENT *args = c->args;
    NTSTATUS status = check_flags(args);

    if (!NT_SUCCESS(status))
        return status;
    if (args->hWindow && args->hWindow != DESKTOP)
        return refuse(STATUS_GRAPHICS_PRESENT_INVALID_WINDOW, "PRES-283",
                      "hWindow %p: the only window is the desktop, NULL or 1",
                      (const void *)args->hWindow);
    if (args->BroadcastContextCount)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-287",
                      "%u broadcast contexts of a copy: only flips are broadcast",
                      (unsigned)args->BroadcastContextCount);
    if (args->Flags.RestrictVidPnSource && args->VidPnSourceId >= kmt_sources(c->device->adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-283",
                      "the adapter has no source %u", args->VidPnSourceId);
    if (args->PrivateDriverDataSize > MOST_PRIVATE_BYTES)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-117",
                      "private data of %u bytes, at most %u are possible",
                      args->PrivateDriverDataSize, MOST_PRIVATE_BYTES);
    if (!ddi_has(port_adapter_ddi(c->device->adapter->port), DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    return STATUS_SUCCESS;
}

/* ---- rectangles ---- */

static bool is_empty(const RECT *r)
{
    return r->left >= r->right || r->top >= r->bottom;
}

static RECT common(const RECT *a, const RECT *b)
{
    return (RECT){.left = a->left > b->left ? a->left : b->left,
                  .top = a->top > b->top ? a->top : b->top,
                  .right = a->right < b->right ? a->right : b->right,
                  .bottom = a->bottom < b->bottom ? a->bottom : b->bottom};
}

/* As the client sees the screen (PRES-099). */
static RECT screen(const struct copying *c)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation = c->target.rotation;
    const bool turned = c->args->Flags.Rotate &&
                        (rotation == D3DKMDT_VPPR_ROTATE90 || rotation == D3DKMDT_VPPR_ROTATE270);

    return (RECT){.right = (LONG)(turned ? c->target.height : c->target.width),
                  .bottom = (LONG)(turned ? c->target.width : c->target.height)};
}

/* One end of a span of the source, in the destination; `up`: all that it touches counts. */
static LONG stretched(LONG at, LONG from, LONG from_end, LONG to, LONG to_end, bool up)
{
    const int64_t length = (int64_t)from_end - from, other = (int64_t)to_end - to;
    const int64_t scaled = ((int64_t)at - from) * other;

    return (LONG)(to + (scaled + (up ? length - 1 : 0)) / length);
}

static RECT to_screen(const struct copying *c, const RECT *sub)
{
    const RECT *from = &c->present.from, *to = &c->present.to;
    const RECT r = common(sub, from);

    if (is_empty(&r))
        return (RECT){0};
    return (RECT){.left = stretched(r.left, from->left, from->right, to->left, to->right, false),
                  .top = stretched(r.top, from->top, from->bottom, to->top, to->bottom, false),
                  .right = stretched(r.right, from->left, from->right, to->left, to->right, true),
                  .bottom = stretched(r.bottom, from->top, from->bottom, to->top, to->bottom, true)};
}

/* PRES-103, PRES-104 */
static void add(struct copying *c, const RECT *destination)
{
    const RECT whole = screen(c);
    RECT r = common(destination, &c->present.to);

    if (c->present.shown)
        r = common(&r, &whole);

    if (!is_empty(&r))
        c->rects[c->present.rect_count++] = r;
}

static NTSTATUS take_rects(struct copying *c)
{
    const D3DKMT_PRESENT *args = c->args;
    RECT *subs = NULL;
    NTSTATUS status = kmt_client_copy_array(args->pSrcSubRects, args->SubRectCnt, sizeof(*subs),
                                            (void **)&subs);

    if (!NT_SUCCESS(status))
        return status;
    c->rects = util_alloc((args->SubRectCnt ? args->SubRectCnt : 1) * sizeof(*c->rects));
    c->present.rects = c->rects;
    if (c->rects && !args->SubRectCnt && !is_empty(&c->present.to))
        add(c, &c->present.to);
    for (UINT i = 0; c->rects && i < args->SubRectCnt; i++) {
        const RECT r = args->Flags.Blt ? to_screen(c, &subs[i]) : subs[i];

        if (!is_empty(&r))
            add(c, &r);
    }
    util_free(subs);
    return c->rects ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* The driver describes the source, if it can (PRES-084). */
static NTSTATUS measure_source(struct copying *c)
{
    DXGKARG_DESCRIBEALLOCATION described;
    NTSTATUS status;

    if (!c->args->Flags.Blt)
        return STATUS_SUCCESS;
    c->source = screen(c);
    if (c->args->Flags.SrcRectValid)
        return STATUS_SUCCESS;
    status = vidmm_describe(c->device->mm, c->args->hSource, &described);
    if (status == STATUS_NOT_SUPPORTED)
        return STATUS_SUCCESS;
    if (NT_SUCCESS(status))
        c->source = (RECT){.right = (LONG)described.Width, .bottom = (LONG)described.Height};
    return status;
}

/* PRES-283 */
static NTSTATUS measure(struct copying *c)
{
    const D3DKMT_PRESENT *args = c->args;
    NTSTATUS status = measure_source(c);

    if (!NT_SUCCESS(status))
        return status;
    c->present.to = args->Flags.DstRectValid ? args->DstRect : screen(c);
    c->present.from = args->Flags.Blt ? args->Flags.SrcRectValid ? args->SrcRect : c->source
                                      : (RECT){0};
    if (is_empty(&c->present.to) || (args->Flags.Blt && is_empty(&c->present.from)))
        c->present.to = c->present.from = (RECT){0};
    return take_rects(c);
}

/* ---- screen to screen ---- */

/* PRES-118 */
static NTSTATUS check_overlap(const struct copying *c)
{
    const DXGK_PRESENTATIONCAPS caps = port_adapter_caps(c->device->adapter->port)->PresentationCaps;
    const RECT both = common(&c->present.from, &c->present.to);

    if (!c->args->Flags.Blt || c->present.source != c->present.destination)
        return STATUS_SUCCESS;
    if (caps.NoScreenToScreenBlt)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-118",
                      "hSource is what the screen shows, and the driver copies nothing from it to "
                      "itself (NoScreenToScreenBlt)");
    if (caps.NoOverlapScreenBlt && !is_empty(&both))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-118",
                      "the rectangles overlap, which the driver does not copy (NoOverlapScreenBlt)");
    return STATUS_SUCCESS;
}

/* ---- the call ---- */

static DXGK_PRESENTFLAGS flags_for(D3DKMT_PRESENTFLAGS f)
{
    DXGK_PRESENTFLAGS flags = {.Value = 0};

    flags.Blt = f.Blt;
    flags.ColorFill = f.ColorFill;
    flags.SrcColorKey = f.SrcColorKey;
    flags.DstColorKey = f.DstColorKey;
    flags.LinearToSrgb = f.LinearToSrgb;
    flags.Rotate = f.Rotate;
    return flags;
}

static NTSTATUS present(struct copying *c)
{
    NTSTATUS status;

    c->present.flags = flags_for(c->args->Flags);
    c->present.color = c->args->Color;
    c->present.source = c->args->Flags.Blt ? c->args->hSource : 0;
    c->present.destination = c->args->Flags.Blt && c->args->hDestination ? c->args->hDestination
                                                                         : c->target.handle;
    c->present.shown = c->present.destination == c->target.handle;
    status = measure(c);
    if (NT_SUCCESS(status))
        status = check_overlap(c);
    if (!NT_SUCCESS(status) || !c->present.rect_count)
        return status;
    status = kmt_client_copy_array(c->args->pPrivateDriverData, c->args->PrivateDriverDataSize, 1,
                                   &c->present.private_data);
    if (!NT_SUCCESS(status))
        return status;
    c->present.private_bytes = c->args->PrivateDriverDataSize;
    return vidsch_present(c->context, &c->present);
}

NTSTATUS kmt_present_copy(struct kmt_device *device, struct vidsch_context *context,
                          const D3DKMT_PRESENT *args)
{
    struct copying c = {.device = device, .context = context, .args = args};
    const struct scanouts_copy_request request = {
        .source = args->Flags.RestrictVidPnSource ? args->VidPnSourceId : 0,
        .device = device->mm,
        .limit = kmt_queued_limit(device),
        .do_not_wait = args->Flags.FlipDoNotWait};
    struct scanouts_copy copy;
    NTSTATUS status = check(&c);

    if (NT_SUCCESS(status) && args->Flags.Blt && (!args->hSource || !args->SubRectCnt))
        status = refuse(STATUS_INVALID_PARAMETER, args->hSource ? "PRES-282" : "PRES-092",
                        "Blt without %s", args->hSource ? "sub-rectangles" : "hSource");
    if (NT_SUCCESS(status))
        status = scanouts_copy_begin(kmt_scanouts(device->adapter), &request, &copy);
    if (!NT_SUCCESS(status))
        return status;
    c.target = copy.target;
    status = present(&c);
    scanouts_copy_end(&copy);
    util_free(c.rects);
    util_free(c.present.private_data);
    return status;
}

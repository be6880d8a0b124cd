/* SPDX-License-Identifier: MIT */
/* Presents that copy to, or fill, what a source of a full driver shows. */
#include <string.h>

#include "ddi/ddi.h"
#include "kmt/adapter.h"
#include "kmt/client_memory.h"
#include "kmt/copy.h"
#include "kmt/copy_rects.h"
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
    struct copy_rects rects;
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

NTSTATUS kmt_copy_check(const D3DKMT_PRESENT *args)
{
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
    if (args->PrivateDriverDataSize > MOST_PRIVATE_BYTES)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-117",
                      "private data of %u bytes, at most %u are possible",
                      args->PrivateDriverDataSize, MOST_PRIVATE_BYTES);
    if (args->Flags.Blt && (!args->hSource || !args->SubRectCnt))
        return refuse(STATUS_INVALID_PARAMETER, args->hSource ? "PRES-282" : "PRES-092",
                      "Blt without %s", args->hSource ? "sub-rectangles" : "hSource");
    return STATUS_SUCCESS;
}

static NTSTATUS check(const struct copying *c)
{
    const D3DKMT_PRESENT *args = c->args;
    const NTSTATUS status = kmt_copy_check(args);

    if (!NT_SUCCESS(status))
        return status;
    if (args->Flags.RestrictVidPnSource && args->VidPnSourceId >= kmt_sources(c->device->adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-283",
                      "the adapter has no source %u", args->VidPnSourceId);
    if (!ddi_has(port_adapter_ddi(c->device->adapter->port), DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    return STATUS_SUCCESS;
}

/* ---- rectangles ---- */

/* PRES-283; the driver describes the source, if it can (PRES-084). */
static NTSTATUS measure(struct copying *c)
{
    const D3DKMT_PRESENTFLAGS f = c->args->Flags;
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation = c->target.rotation;
    DXGKARG_DESCRIBEALLOCATION described;
    RECT *subs = NULL;
    NTSTATUS status;

    c->rects.args = c->args;
    c->rects.screen = (D3DKMDT_2DREGION){c->target.width, c->target.height};
    c->rects.clip = c->present.shown;
    if (f.Rotate && (rotation == D3DKMDT_VPPR_ROTATE90 || rotation == D3DKMDT_VPPR_ROTATE270))
        c->rects.screen = (D3DKMDT_2DREGION){c->target.height, c->target.width}; /* PRES-099 */
    c->rects.source = c->rects.screen;
    if (f.Blt && !f.SrcRectValid &&
        ddi_has(port_adapter_ddi(c->device->adapter->port), DxgkDdiDescribeAllocation)) {
        status = vidmm_describe(c->device->mm, c->args->hSource, &described);
        if (!NT_SUCCESS(status))
            return status;
        c->rects.source = (D3DKMDT_2DREGION){described.Width, described.Height};
    }
    status = kmt_client_copy_array(c->args->pSrcSubRects, c->args->SubRectCnt, sizeof(*subs),
                                   (void **)&subs);
    if (NT_SUCCESS(status))
        status = copy_rects_take(&c->rects, subs, c->args->SubRectCnt);
    util_free(subs);
    c->present.from = c->rects.from;
    c->present.to = c->rects.to;
    c->present.rects = c->rects.rect;
    c->present.rect_count = c->rects.count;
    return status;
}

/* ---- screen to screen ---- */

/* PRES-118 */
static NTSTATUS check_overlap(const struct copying *c)
{
    const DXGK_PRESENTATIONCAPS caps = port_adapter_caps(c->device->adapter->port)->PresentationCaps;
    if (!c->args->Flags.Blt || c->present.source != c->present.destination)
        return STATUS_SUCCESS;
    if (caps.NoScreenToScreenBlt)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-118",
                      "hSource is what the screen shows, and the driver copies nothing from it to "
                      "itself (NoScreenToScreenBlt)");
    if (caps.NoOverlapScreenBlt && copy_rects_overlap(&c->present.from, &c->present.to))
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

    if (NT_SUCCESS(status))
        status = scanouts_copy_begin(kmt_scanouts(device->adapter), &request, &copy);
    if (!NT_SUCCESS(status))
        return status;
    c.target = copy.target;
    status = present(&c);
    scanouts_copy_end(&copy);
    util_free(c.rects.rect);
    util_free(c.present.private_data);
    return status;
}

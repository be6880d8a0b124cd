/* SPDX-License-Identifier: MIT */
/* Showing primaries: D3DKMTSetDisplayMode, D3DKMTPresent, and waits for the vertical blank
 * (PRES-275 to PRES-295). */
#include <string.h>

#include "ddi/ddi.h"
#include "ddi/entries_display.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/source_owner.h"
#include "modes/choose.h"
#include "modes/display_worker.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "screens/source_mode.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/scanout.h"
#include "vidsch/client.h"

#define QUEUED_LIMIT 3u /* PRES-288 */

/* ---- a client's primary ---- */

/* Of which source it is; false: no primary of the device, with the reason. */
static bool find_source(const struct kmt_device *device, D3DKMT_HANDLE handle, UINT *source)
{
    struct vidmm_allocation *allocation = vidmm_scanout_get(device->mm, handle);
    bool found = false;

    for (UINT i = 0; allocation && !found && i < kmt_sources(device->adapter); i++) {
        found = vidmm_scanout_fits(allocation, i);
        *source = i;
    }
    if (allocation)
        vidmm_scanout_release(allocation);
    if (!found)
        (void)refuse(STATUS_INVALID_PARAMETER, "PRES-280",
                     "handle 0x%x is no primary of the device", handle);
    return found;
}

/* PRES-085, PRES-086 */
static NTSTATUS describe(const struct kmt_device *device, D3DKMT_HANDLE handle,
                         DXGKARG_DESCRIBEALLOCATION *described)
{
    struct ddi_adapter *ddi = port_adapter_ddi(device->adapter->port);
    struct vidmm_allocation *allocation = vidmm_scanout_get(device->mm, handle);
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    memset(described, 0, sizeof(*described));
    if (!allocation)
        return status;
    described->hAllocation = vidmm_scanout_handle(allocation);
    status = ddi_has(ddi, DxgkDdiDescribeAllocation) ? ddi_describe_allocation(ddi, described)
                                                     : STATUS_NOT_SUPPORTED;
    vidmm_scanout_release(allocation);
    return status;
}

static D3DDDIFORMAT without_alpha(D3DDDIFORMAT format)
{
    return format == D3DDDIFMT_A8R8G8B8   ? D3DDDIFMT_X8R8G8B8
           : format == D3DDDIFMT_A8B8G8R8 ? D3DDDIFMT_X8B8G8R8
                                          : format;
}

/* PRES-088: in the mode that is committed. */
static bool fits(const struct modes *modes, UINT source, const DXGKARG_DESCRIBEALLOCATION *d)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = source_mode(modes->active, source);

    return mode && mode->Format.Graphics.PrimSurfSize.cx == d->Width &&
           mode->Format.Graphics.PrimSurfSize.cy == d->Height &&
           without_alpha(mode->Format.Graphics.PixelFormat) == without_alpha(d->Format);
}

/* ---- D3DKMTSetDisplayMode ---- */

struct showing {
    struct kmt_device *device;
    struct scanouts *scanouts;
    UINT source;
    D3DKMT_HANDLE primary;
};

static NTSTATUS show(struct modes *modes, void *arg)
{
    const struct showing *showing = arg;

    (void)modes;
    return scanouts_show(showing->scanouts, showing->source, showing->device->mm, showing->primary);
}

/* PRES-277: first the mode that it was made for. */
static NTSTATUS go_to_mode(struct modes *modes, const struct showing *showing,
                           const DXGKARG_DESCRIBEALLOCATION *described)
{
    struct modes_wish wish = {.given = true,
                              .source = showing->source,
                              .size = {described->Width, described->Height},
                              .rotation = D3DKMDT_VPPR_IDENTITY};
    NTSTATUS status;

    if (described->RefreshRate.Numerator && described->RefreshRate.Denominator)
        wish.frequency = described->RefreshRate;
    status = display_set_mode(modes, &wish);
    if (status == STATUS_INVALID_PARAMETER ||
        (NT_SUCCESS(status) && !fits(modes, showing->source, described)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-277",
                      "no mode of source %u has %u x %u pixels of format %d", showing->source,
                      described->Width, described->Height, (int)described->Format);
    return status;
}

static NTSTATUS set_display_mode(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SETDISPLAYMODE *args = arguments;
    struct showing showing = {.device = kmt_handle_device(call, args->hDevice),
                              .primary = args->hPrimaryAllocation};
    DXGKARG_DESCRIBEALLOCATION described;
    struct modes *modes;
    NTSTATUS status;

    if (!showing.device)
        return STATUS_INVALID_PARAMETER;
    showing.scanouts = kmt_scanouts(showing.device->adapter);
    if (!showing.scanouts)
        return STATUS_NOT_SUPPORTED;
    if (!find_source(showing.device, showing.primary, &showing.source))
        return STATUS_INVALID_PARAMETER;
    status = kmt_source_owned(showing.device, showing.source);
    if (NT_SUCCESS(status))
        status = describe(showing.device, showing.primary, &described);
    if (!NT_SUCCESS(status))
        return status;
    modes = port_display_modes(showing.device->adapter->port);
    if (!fits(modes, showing.source, &described))
        status = go_to_mode(modes, &showing, &described);
    return NT_SUCCESS(status) ? display_do(modes, show, &showing) : status;
}

/* ---- D3DKMTPresent ---- */

/* PRES-133, PRES-134: the driver looks at the source, and writes nothing. */
static NTSTATUS ask_driver(const struct kmt_device *device, HANDLE context,
                           const D3DKMT_PRESENT *args)
{
    struct ddi_adapter *ddi = port_adapter_ddi(device->adapter->port);
    DXGK_ALLOCATIONLIST list[3];
    DXGKARG_PRESENT present;
    NTSTATUS status;

    if (!ddi_has(ddi, DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    memset(list, 0, sizeof(list));
    memset(&present, 0, sizeof(present));
    list[1].hDeviceSpecificAllocation = vidmm_scanout_open_handle(device->mm, args->hSource);
    present.pAllocationList = list;
    present.FlipInterval = args->FlipInterval;
    present.Flags.Flip = 1;
    status = ddi_present(ddi, context, &present);
    if (NT_SUCCESS(status) &&
        (present.pDmaBuffer || present.pDmaBufferPrivateData || present.pPatchLocationListOut))
        VIOLATION("PRES-134",
                  "DxgkDdiPresent advanced a pointer for a flip, which has no DMA buffer");
    return status;
}

/* PRES-147, PRES-280, PRES-286: what a flip may say. */
static NTSTATUS check_flip(const struct kmt_device *device, const D3DKMT_PRESENT *args)
{
    const D3DKMT_PRESENTFLAGS f = args->Flags;
    const D3DDDI_FLIPINTERVAL_TYPE interval = args->FlipInterval;

    if (!f.Flip)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-282",
                      "Flags 0x%x: this host presents by flips; copies are not there yet", f.Value);
    if (f.Blt || f.ColorFill || f.DstRectValid || f.SrcRectValid || f.Rotate ||
        f.RestrictVidPnSource || args->SubRectCnt)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-280",
                      "Flags 0x%x of a flip, with %u rectangles", f.Value, args->SubRectCnt);
    if (interval < D3DDDI_FLIPINTERVAL_IMMEDIATE ||
        interval > D3DDDI_FLIPINTERVAL_IMMEDIATE_ALLOW_TEARING ||
        (interval >= D3DDDI_FLIPINTERVAL_TWO && interval <= D3DDDI_FLIPINTERVAL_FOUR &&
         !port_adapter_flips_at_intervals(device->adapter->port)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-147", "flip interval %d", (int)interval);
    return STATUS_SUCCESS;
}

static NTSTATUS present(struct kmt_call *call, void *arguments)
{
    const D3DKMT_PRESENT *args = arguments;
    struct vidsch_context *context = kmt_handle_context(call, args->hContext);
    struct kmt_device *device;
    struct scanouts_flip flip = {.limit = QUEUED_LIMIT};
    struct scanouts *scanouts;
    NTSTATUS status;

    if (!context)
        return STATUS_INVALID_PARAMETER;
    device = kmt_device_of(call, vidsch_context_device(context));
    scanouts = device ? kmt_scanouts(device->adapter) : NULL;
    if (!scanouts)
        return STATUS_NOT_SUPPORTED;
    status = vidsch_device_check(device->sch, true);
    if (NT_SUCCESS(status))
        status = check_flip(device, args);
    if (!NT_SUCCESS(status))
        return status;
    if (!args->Flags.FlipDoNotFlip && !find_source(device, args->hSource, &flip.source))
        return STATUS_INVALID_PARAMETER;
    if (args->Flags.FlipDoNotFlip)
        flip.source = args->VidPnSourceId;
    status = kmt_source_owned(device, flip.source);
    flip.device = device->mm;
    flip.allocation = args->Flags.FlipDoNotFlip ? 0 : args->hSource;
    flip.context = vidsch_context_driver_handle(context);
    flip.interval = args->FlipInterval == D3DDDI_FLIPINTERVAL_IMMEDIATE_ALLOW_TEARING
                        ? 0
                        : (UINT)args->FlipInterval;
    flip.duration = args->Flags.DurationValid ? args->Duration : 0;
    flip.do_not_wait = args->Flags.FlipDoNotWait;
    if (NT_SUCCESS(status) && flip.allocation)
        status = ask_driver(device, flip.context, args);
    return NT_SUCCESS(status) ? scanouts_flip(scanouts, &flip) : status;
}

/* ---- the vertical blank ---- */

static NTSTATUS wait_for_blank(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct scanouts *scanouts;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    scanouts = kmt_scanouts(adapter);
    if (!scanouts)
        return STATUS_NOT_SUPPORTED;
    if (args->VidPnSourceId >= kmt_sources(adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-291",
                      "the adapter has no source %u", args->VidPnSourceId);
    return scanouts_await_blank(scanouts, args->VidPnSourceId);
}

static NTSTATUS get_scan_line(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETSCANLINE *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    DXGKARG_GETSCANLINE line;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    if (!kmt_scanouts(adapter))
        return STATUS_NOT_SUPPORTED;
    path = args->VidPnSourceId < kmt_sources(adapter)
               ? vidpn_path_from(port_display_modes(adapter->port)->active, args->VidPnSourceId, 0)
               : NULL;
    if (!path)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-295", "source %u has no path",
                      args->VidPnSourceId);
    if (!ddi_has(port_adapter_ddi(adapter->port), DxgkDdiGetScanLine))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-295", "the driver has no DxgkDdiGetScanLine");
    memset(&line, 0, sizeof(line)); /* PRES-178 */
    line.VidPnTargetId = path->VidPnTargetId;
    status = ddi_get_scan_line(port_adapter_ddi(adapter->port), &line);
    args->InVerticalBlank = line.InVerticalBlank;
    args->ScanLine = line.ScanLine;
    return status;
}

KMT_IN(D3DKMTSetDisplayMode, D3DKMT_SETDISPLAYMODE, set_display_mode)
KMT_IN_OUT(D3DKMTPresent, D3DKMT_PRESENT, present)
KMT_IN(D3DKMTWaitForVerticalBlankEvent, D3DKMT_WAITFORVERTICALBLANKEVENT, wait_for_blank)
KMT_IN_OUT(D3DKMTGetScanLine, D3DKMT_GETSCANLINE, get_scan_line)

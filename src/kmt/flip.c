/* SPDX-License-Identifier: MIT */
/* Showing primaries: D3DKMTSetDisplayMode and D3DKMTPresent (PRES-275 to PRES-289). */
#include <string.h>

#include "ddi/client_handle.h"
#include "ddi/ddi.h"
#include "ddi/entries_display.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/copy.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/mode_list.h"
#include "kmt/present_state.h"
#include "kmt/source_owner.h"
#include "modes/choose.h"
#include "modes/display_worker.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/describe.h"
#include "vidmm/allocation/scanout.h"
#include "vidsch/client.h"
#include "vidsch/present.h"

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

/* ---- D3DKMTSetDisplayMode ---- */

struct showing {
    struct kmt_device *device;
    struct scanouts *scanouts;
    UINT source;
    D3DKMT_HANDLE primary;
    const DXGKARG_DESCRIBEALLOCATION *described;
    D3DDDI_ROTATION orientation;
};

static bool fits(const struct modes *modes, UINT source, const DXGKARG_DESCRIBEALLOCATION *d,
                 D3DDDI_ROTATION orientation);

/* Other requests came before: all may have changed since it was looked at. */
static NTSTATUS show(struct modes *modes, void *arg)
{
    const struct showing *showing = arg;
    const NTSTATUS status = kmt_source_owned(showing->device, showing->source);

    if (!NT_SUCCESS(status))
        return status;
    if (!fits(modes, showing->source, showing->described, showing->orientation))
        return refuse(STATUS_GRAPHICS_PRESENT_MODE_CHANGED, "PRES-277",
                      "the mode of source %u has changed during the call", showing->source);
    return scanouts_show(showing->scanouts, showing->source, showing->device->mm, showing->primary);
}

static D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation_of(D3DDDI_ROTATION orientation)
{
    switch ((int)orientation) {
    case D3DDDI_ROTATION_90:
        return D3DKMDT_VPPR_ROTATE90;
    case D3DDDI_ROTATION_180:
        return D3DKMDT_VPPR_ROTATE180;
    case D3DDDI_ROTATION_270:
        return D3DKMDT_VPPR_ROTATE270;
    default:
        return D3DKMDT_VPPR_IDENTITY;
    }
}

static bool same_rate(const D3DDDI_RATIONAL *mode, const D3DDDI_RATIONAL *wanted)
{
    return !wanted->Numerator || !wanted->Denominator || !mode_frequency_given(wanted) ||
           mode_rates_equal(mode, wanted);
}

/* PRES-088, PRES-277: is it for the mode that is committed? */
static bool fits(const struct modes *modes, UINT source, const DXGKARG_DESCRIBEALLOCATION *d,
                 D3DDDI_ROTATION orientation)
{
    D3DKMT_DISPLAYMODE mode;

    return kmt_current_mode(modes, source, &mode) && mode.Width == d->Width &&
           mode.Height == d->Height &&
           mode_without_alpha(mode.Format) == mode_without_alpha(d->Format) &&
           same_rate(&mode.RefreshRate, &d->RefreshRate) &&
           (!orientation || orientation == mode.DisplayOrientation);
}

/* PRES-277: first the mode that it was made for. */
static NTSTATUS go_to_mode(struct modes *modes, const struct showing *showing,
                           const DXGKARG_DESCRIBEALLOCATION *described, D3DDDI_ROTATION orientation)
{
    struct modes_wish wish = {.given = true,
                              .source = showing->source,
                              .size = {described->Width, described->Height},
                              .format = described->Format,
                              .exact = true,
                              .rotation = rotation_of(orientation)};
    NTSTATUS status;

    if (described->RefreshRate.Numerator && described->RefreshRate.Denominator &&
        mode_frequency_given(&described->RefreshRate))
        wish.frequency = described->RefreshRate;
    status = display_set_mode(modes, &wish);
    if (status == STATUS_INVALID_PARAMETER ||
        (NT_SUCCESS(status) && !fits(modes, showing->source, described, orientation)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-277",
                      "no mode of source %u has %u x %u pixels of format %d at %u/%u Hz",
                      showing->source, described->Width, described->Height, (int)described->Format,
                      described->RefreshRate.Numerator, described->RefreshRate.Denominator);
    return status;
}

/* PRES-276: of what the source shows in this mode. */
static NTSTATUS check_attribute(struct kmt_call *call, D3DKMT_SETDISPLAYMODE *args,
                                const struct showing *showing,
                                const DXGKARG_DESCRIBEALLOCATION *described)
{
    UINT wanted;

    if (!scanouts_attribute(showing->scanouts, showing->source, &wanted) ||
        wanted == described->PrivateDriverFormatAttribute)
        return STATUS_SUCCESS;
    args->PrivateDriverFormatAttribute = wanted;
    call->write_on_failure = true;
    return refuse(STATUS_GRAPHICS_INCOMPATIBLE_PRIVATE_FORMAT, "PRES-276",
                  "the primary has the private format 0x%x, and what source %u shows has 0x%x",
                  described->PrivateDriverFormatAttribute, showing->source, wanted);
}

static NTSTATUS begin_showing(struct kmt_call *call, const D3DKMT_SETDISPLAYMODE *args,
                              struct showing *showing)
{
    *showing = (struct showing){.device = kmt_handle_device(call, args->hDevice),
                                .primary = args->hPrimaryAllocation};
    if (!showing->device)
        return STATUS_INVALID_PARAMETER;
    showing->scanouts = kmt_scanouts(showing->device->adapter);
    if (!showing->scanouts)
        return STATUS_NOT_SUPPORTED;
    if ((UINT)args->DisplayOrientation > D3DDDI_ROTATION_270)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-277", "DisplayOrientation %d",
                      (int)args->DisplayOrientation);
    if (!find_source(showing->device, showing->primary, &showing->source))
        return STATUS_INVALID_PARAMETER;
    return kmt_source_owned(showing->device, showing->source);
}

static NTSTATUS set_display_mode(struct kmt_call *call, void *arguments)
{
    D3DKMT_SETDISPLAYMODE *args = arguments;
    DXGKARG_DESCRIBEALLOCATION described;
    struct showing showing;
    struct modes *modes;
    NTSTATUS status = begin_showing(call, args, &showing);

    if (NT_SUCCESS(status))
        status = vidmm_describe(showing.device->mm, showing.primary, &described);
    if (!NT_SUCCESS(status))
        return status;
    showing.described = &described;
    showing.orientation = args->DisplayOrientation;
    modes = port_display_modes(showing.device->adapter->port);
    status = fits(modes, showing.source, &described, args->DisplayOrientation)
                 ? check_attribute(call, args, &showing, &described)
                 : go_to_mode(modes, &showing, &described, args->DisplayOrientation);
    if (NT_SUCCESS(status))
        status = display_do(modes, show, &showing);
    if (NT_SUCCESS(status))
        scanouts_set_attribute(showing.scanouts, showing.source,
                               described.PrivateDriverFormatAttribute);
    return status;
}

/* ---- D3DKMTPresent ---- */

/* PRES-133, PRES-134: the driver looks at the source, and writes nothing. */
static NTSTATUS ask_driver(const struct kmt_device *device, HANDLE context, D3DKMT_HANDLE primary,
                           D3DDDI_FLIPINTERVAL_TYPE interval)
{
    struct ddi_adapter *ddi = port_adapter_ddi(device->adapter->port);
    DXGK_ALLOCATIONLIST list[3];
    DXGKARG_PRESENT present;
    NTSTATUS status;

    if (!ddi_has(ddi, DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    memset(list, 0, sizeof(list));
    memset(&present, 0, sizeof(present));
    list[1].hDeviceSpecificAllocation = vidmm_scanout_open_handle(device->mm, primary);
    if (!list[1].hDeviceSpecificAllocation)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-280",
                      "the primary 0x%x was destroyed during the present", primary);
    present.pAllocationList = list;
    present.FlipInterval = interval;
    present.Flags.Flip = 1;
    status = ddi_present(ddi, context, &present);
    if (NT_SUCCESS(status) &&
        (present.pDmaBuffer || present.pDmaBufferPrivateData || present.pPatchLocationListOut))
        VIOLATION("PRES-134",
                  "DxgkDdiPresent advanced a pointer for a flip, which has no DMA buffer");
    return status;
}

/* ---- a flip that the GPU makes ---- */

struct writing {
    struct vidsch_context *context;
    struct vidsch_present present;
};

static NTSTATUS write_flip(void *context)
{
    const struct writing *writing = context;

    return vidsch_present(writing->context, &writing->present);
}

/* PRES-135, PRES-136 */
static NTSTATUS flip_by_gpu(const struct kmt_device *device, struct writing *writing,
                            const D3DKMT_PRESENT *args, struct scanouts_flip *flip,
                            D3DKMT_HANDLE primary)
{
    struct vidsch_present *present = &writing->present;

    if (!ddi_has(port_adapter_ddi(device->adapter->port), DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    flip->no_wait = port_adapter_caps(device->adapter->port)->FlipCaps.FlipOnVSyncWithNoWait;
    present->source = primary;
    present->flags.Flip = 1;
    present->flags.FlipWithNoWait = flip->no_wait;
    present->flip = (struct vidsch_flip){.is = true,
                                         .no_wait = flip->no_wait,
                                         .source = flip->source,
                                         .interval = args->FlipInterval};
    flip->write = write_flip;
    flip->write_context = writing;
    return STATUS_SUCCESS;
}

/* PRES-147, PRES-280, PRES-286: what a flip may say. */
static NTSTATUS check_flip(const struct kmt_device *device, const D3DKMT_PRESENT *args)
{
    const D3DKMT_PRESENTFLAGS f = args->Flags;
    const D3DDDI_FLIPINTERVAL_TYPE interval = args->FlipInterval;

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

/* PRES-086 to PRES-089: does the primary fit the mode, and what is shown in it? */
static NTSTATUS check_fit(const struct kmt_device *device, struct scanouts *scanouts, UINT source,
                          D3DKMT_HANDLE handle)
{
    struct port_adapter *port = device->adapter->port;
    DXGKARG_DESCRIBEALLOCATION described;
    D3DKMT_DISPLAYMODE mode;
    NTSTATUS status;
    UINT wanted;

    if (!ddi_has(port_adapter_ddi(port), DxgkDdiDescribeAllocation))
        return STATUS_SUCCESS;
    status = vidmm_describe(device->mm, handle, &described);
    if (!NT_SUCCESS(status))
        return status;
    if (kmt_current_mode(port_display_modes(port), source, &mode) &&
        (mode.Width != described.Width || mode.Height != described.Height ||
         mode_without_alpha(mode.Format) != mode_without_alpha(described.Format)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-088",
                      "a primary of %u x %u pixels of format %d, and source %u has %u x %u of format "
                      "%d",
                      described.Width, described.Height, (int)described.Format, source, mode.Width,
                      mode.Height, (int)mode.Format);
    if (scanouts_attribute(scanouts, source, &wanted) &&
        wanted != described.PrivateDriverFormatAttribute)
        return refuse(STATUS_GRAPHICS_INCOMPATIBLE_PRIVATE_FORMAT, "PRES-088",
                      "a primary of the private format 0x%x, and what source %u shows has 0x%x",
                      described.PrivateDriverFormatAttribute, source, wanted);
    scanouts_set_attribute(scanouts, source, described.PrivateDriverFormatAttribute);
    return STATUS_SUCCESS;
}

struct broadcast {
    struct vidsch_context *context[D3DDDI_MAX_BROADCAST_CONTEXT];
    HANDLE handle[D3DDDI_MAX_BROADCAST_CONTEXT]; /* the driver's */
};

/* PRES-287 */
static NTSTATUS find_others(struct kmt_call *call, const struct kmt_device *device,
                            const D3DKMT_PRESENT *args, struct broadcast *others)
{
    const DXGK_DRIVERCAPS *caps = port_adapter_caps(device->adapter->port);

    if (!args->BroadcastContextCount)
        return STATUS_SUCCESS;
    if (args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT ||
        !caps->FlipCaps.FlipOnVSyncMmIo)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-287",
                      "%u broadcast contexts of a flip: at most %u, and none without "
                      "FlipOnVSyncMmIo",
                      (unsigned)args->BroadcastContextCount, D3DDDI_MAX_BROADCAST_CONTEXT);
    for (ULONG i = 0; i < args->BroadcastContextCount; i++) {
        struct vidsch_context *context = kmt_handle_lookup(call, args->BroadcastContext[i],
                                                           DDI_CLIENT_CONTEXT);

        if (!context || vidsch_context_device(context) != device->sch)
            return refuse(STATUS_INVALID_PARAMETER, "PRES-287",
                          "broadcast context %u, handle 0x%x, is no context of the device",
                          (unsigned)i, args->BroadcastContext[i]);
        others->context[i] = context;
        others->handle[i] = vidsch_context_driver_handle(context);
    }
    call->pin_list = (const void *const *)others->context;
    call->pin_list_count = args->BroadcastContextCount;
    return STATUS_SUCCESS;
}

/* A device handle means its own buffers, which only a driver without contexts has (PRES-090).
 * `showing`: that of a display-only adapter (DISP-012); else NULL. */
static struct vidsch_context *context_to_present(struct kmt_call *call, D3DKMT_HANDLE handle,
                                                 struct kmt_device **showing)
{
    struct vidsch_context *context = kmt_handle_context(call, handle);
    struct kmt_device *device = context ? NULL : kmt_handle_any_device(call, handle);

    *showing = device && !device->sch ? device : NULL;
    if (!device || !device->own)
        return context;
    kmt_call_pin(call, device->own);
    return device->own;
}

/* PRES-281, PRES-339: the source, and the primary; if it is the shared one, as the device has it
 * open. */
static NTSTATUS find_primary(const struct kmt_device *device, struct scanouts *scanouts,
                             const D3DKMT_PRESENT *args, struct scanouts_flip *flip,
                             struct scanouts_same *primary)
{
    struct scanouts_copy_request request = {.device = device->mm,
                                            .limit = kmt_queued_limit(device),
                                            .do_not_wait = args->Flags.FlipDoNotWait};
    NTSTATUS status;

    *primary = (struct scanouts_same){.handle = args->hSource};
    flip->source = args->VidPnSourceId;
    if (!args->Flags.FlipDoNotFlip && !find_source(device, args->hSource, &flip->source))
        return STATUS_INVALID_PARAMETER;
    status = kmt_source_owned(device, flip->source);
    if (!NT_SUCCESS(status))
        return status;
    flip->modes = scanouts_modes(scanouts, flip->source);
    request.source = flip->source;
    if (args->Flags.FlipDoNotFlip) /* PRES-095 */
        status = scanouts_same(scanouts, &request, primary);
    if (NT_SUCCESS(status) && !primary->shared)
        status = check_fit(device, scanouts, flip->source, primary->handle);
    flip->allocation = primary->shared ? 0 : primary->handle;
    return status;
}

static NTSTATUS flip_to(const struct kmt_device *device, struct scanouts *scanouts,
                        struct vidsch_context *context, const struct broadcast *others,
                        const D3DKMT_PRESENT *args)
{
    struct scanouts_flip flip = {.device = device->mm,
                                 .sch = device->sch,
                                 .limit = kmt_queued_limit(device),
                                 .others = others->handle,
                                 .other_count = args->BroadcastContextCount,
                                 .context = vidsch_context_driver_handle(context),
                                 .interval = args->FlipInterval ==
                                                     D3DDDI_FLIPINTERVAL_IMMEDIATE_ALLOW_TEARING
                                                 ? 0
                                                 : (UINT)args->FlipInterval,
                                 .duration = args->Flags.DurationValid ? args->Duration : 0,
                                 .do_not_wait = args->Flags.FlipDoNotWait,
                                 .restart = args->Flags.FlipRestart};
    struct writing writing = {.context = context};
    struct scanouts_same primary;
    NTSTATUS status = find_primary(device, scanouts, args, &flip, &primary);

    if (NT_SUCCESS(status))
        status = port_adapter_caps(device->adapter->port)->FlipCaps.FlipOnVSyncMmIo
                     ? ask_driver(device, flip.context, primary.handle, args->FlipInterval)
                     : flip_by_gpu(device, &writing, args, &flip, primary.handle);
    return NT_SUCCESS(status) ? scanouts_flip(scanouts, &flip) : status;
}

static NTSTATUS present(struct kmt_call *call, void *arguments)
{
    const D3DKMT_PRESENT *args = arguments;
    struct kmt_device *device;
    struct vidsch_context *context = context_to_present(call, args->hContext, &device);
    struct broadcast others;
    struct scanouts *scanouts;
    NTSTATUS status;

    if (device)
        return kmt_present_across(call, device, args);
    if (!context)
        return STATUS_INVALID_PARAMETER;
    device = kmt_device_of(call, vidsch_context_device(context));
    if (device && args->hAdapter && !port_display_scanouts(device->adapter->port))
        return kmt_present_across(call, device, args);
    scanouts = device ? kmt_scanouts(device->adapter) : NULL;
    if (!scanouts)
        return STATUS_NOT_SUPPORTED;
    status = vidsch_device_check(device->sch, true);
    if (NT_SUCCESS(status) && !args->Flags.Flip)
        return kmt_present_copy(device, context, args);
    if (NT_SUCCESS(status))
        status = check_flip(device, args);
    if (NT_SUCCESS(status))
        status = find_others(call, device, args, &others);
    return NT_SUCCESS(status) ? flip_to(device, scanouts, context, &others, args) : status;
}

KMT_IN_OUT_CONST(D3DKMTSetDisplayMode, D3DKMT_SETDISPLAYMODE, set_display_mode)
KMT_IN_OUT(D3DKMTPresent, D3DKMT_PRESENT, present)

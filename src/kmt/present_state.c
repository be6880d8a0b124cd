/* SPDX-License-Identifier: MIT */
#include "kmt/present_state.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/source_owner.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "screens/vertical.h"
#include "verify/refusal.h"

#define DEFAULT_LIMIT 3u /* PRES-288 */
#define MOST_LIMIT    64u

UINT kmt_queued_limit(const struct kmt_device *device)
{
    return device->queued_limit ? device->queued_limit : DEFAULT_LIMIT;
}

/* PRES-290 */
static NTSTATUS set_queued_limit(struct kmt_call *call, void *arguments)
{
    D3DKMT_SETQUEUEDLIMIT *args = arguments;
    struct kmt_device *device = kmt_handle_device(call, args->hDevice);

    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (args->Type == D3DKMT_GET_QUEUEDLIMIT_PRESENT) {
        args->QueuedPresentLimit = kmt_queued_limit(device);
        return STATUS_SUCCESS;
    }
    if (args->Type != D3DKMT_SET_QUEUEDLIMIT_PRESENT || args->QueuedPresentLimit > MOST_LIMIT)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-290", "type %d of limit, %u presents",
                      (int)args->Type, args->QueuedPresentLimit);
    device->queued_limit = args->QueuedPresentLimit;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_present_state(const struct kmt_device *device, D3DKMT_GETDEVICESTATE *args)
{
    const UINT source = args->PresentState.VidPnSourceId; /* the first member of all of them */
    const struct scanouts *scanouts = port_display_scanouts(device->adapter->port);
    NTSTATUS status = kmt_adapter_check(device->adapter);

    if (!NT_SUCCESS(status))
        return status;
    if (!scanouts || args->StateType == D3DKMT_DEVICESTATE_PRESENT_DWM)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-297", "state type %d %s", (int)args->StateType,
                      scanouts ? "is of the window manager" : "needs a display");
    if (source >= kmt_sources(device->adapter))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-297", "the adapter has no source %u", source);
    if (args->StateType == D3DKMT_DEVICESTATE_PRESENT)
        args->PresentState.PresentStats = scanouts_statistics(scanouts, source, device->mm);
    else
        args->PresentQueueState.bQueuedPresentLimitReached = scanouts_queued(scanouts, device->mm) >=
                                                             kmt_queued_limit(device);
    return STATUS_SUCCESS;
}

KMT_IN_OUT_CONST(D3DKMTSetQueuedLimit, D3DKMT_SETQUEUEDLIMIT, set_queued_limit)

/* SPDX-License-Identifier: MIT */
/* What clients ask about displays, and need not be told more of (PRES-300, PRES-301). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "kmt/source_owner.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#define DESKTOP 1u /* the one window (PRES-283) */

/* ---- can it be seen? ---- */

static bool is_lit(const struct port_adapter *port, UINT source)
{
    const struct modes *modes = port_display_modes(port);

    return modes && !modes->asleep && vidpn_paths_from(modes->active, source) > 0;
}

static NTSTATUS check_monitor_power(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CHECKMONITORPOWERSTATE *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    if (args->VidPnSourceId >= port_adapter_sources(adapter->port))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-300", "the adapter has no source %u",
                      args->VidPnSourceId);
    return is_lit(adapter->port, args->VidPnSourceId)
               ? STATUS_SUCCESS
               : refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-300",
                        "the monitor of source %u is off", args->VidPnSourceId);
}

static bool is_exclusive(const struct port_adapter *port)
{
    const struct scanouts *scanouts = port_display_scanouts(port);
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;

    return scanouts && scanouts_owner(scanouts, 0, &type) &&
           type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
}

static NTSTATUS check_occlusion(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CHECKOCCLUSION *args = arguments;
    const struct port_adapter *only = NULL;
    ULONG displays = 0;

    for (struct port_adapter *p = port_adapter_first(call->process->kmt->port); p;
         p = port_adapter_next(p)) {
        if (!kmt_adapter_is_listed(p) || !port_adapter_sources(p))
            continue;
        displays += port_adapter_sources(p);
        only = p;
    }
    if (!displays || (uintptr_t)args->hWindow != DESKTOP)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-300", "%p is no window",
                      (const void *)args->hWindow);
    return displays == 1 && is_exclusive(only)
               ? refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-300",
                        "a device owns the only display exclusively")
               : STATUS_SUCCESS;
}

/* ---- what has no effect ---- */

/* One method: no multisampling. */
static NTSTATUS get_multisample_methods(struct kmt_call *call, void *arguments)
{
    static const D3DKMT_MULTISAMPLEMETHOD only = {.NumSamples = 1, .NumQualityLevels = 1};
    D3DKMT_GETMULTISAMPLEMETHODLIST *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    const UINT room = args->MethodCount;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    if (!kmt_scanouts(adapter))
        return STATUS_NOT_SUPPORTED;
    if (args->VidPnSourceId >= kmt_sources(adapter))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-301", "the adapter has no source %u",
                      args->VidPnSourceId);
    args->MethodCount = 1;
    if (!args->pMethodList)
        return STATUS_SUCCESS;
    if (!room) {
        call->write_on_failure = true;
        return refuse(STATUS_BUFFER_TOO_SMALL, "PRES-301", "room for no method, there is one");
    }
    return kmt_client_put(args->pMethodList, &only, sizeof(only)) ? STATUS_SUCCESS
                                                                  : STATUS_INVALID_PARAMETER;
}

static NTSTATUS check_display(const struct kmt_call *call, LUID luid, UINT source)
{
    const struct port_adapter *port = port_adapter_by_luid(call->process->kmt->port, luid);

    if (!port || !kmt_adapter_is_listed(port))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-301", "no adapter has the LUID %08x:%08x",
                      (UINT)luid.HighPart, (UINT)luid.LowPart);
    if (!port_adapter_sources(port))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
    return source < port_adapter_sources(port) ? STATUS_SUCCESS
                                               : refuse(STATUS_INVALID_PARAMETER, "PRES-301",
                                                        "the adapter has no source %u", source);
}

static NTSTATUS note_lock(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SHAREDPRIMARYLOCKNOTIFICATION *args = arguments;

    return check_display(call, args->AdapterLuid, args->VidPnSourceId);
}

static NTSTATUS note_unlock(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SHAREDPRIMARYUNLOCKNOTIFICATION *args = arguments;

    return check_display(call, args->AdapterLuid, args->VidPnSourceId);
}

KMT_IN(D3DKMTCheckMonitorPowerState, D3DKMT_CHECKMONITORPOWERSTATE, check_monitor_power)
KMT_IN(D3DKMTCheckOcclusion, D3DKMT_CHECKOCCLUSION, check_occlusion)
KMT_IN_OUT(D3DKMTGetMultisampleMethodList, D3DKMT_GETMULTISAMPLEMETHODLIST, get_multisample_methods)
KMT_IN(D3DKMTSharedPrimaryLockNotification, D3DKMT_SHAREDPRIMARYLOCKNOTIFICATION, note_lock)
KMT_IN(D3DKMTSharedPrimaryUnLockNotification, D3DKMT_SHAREDPRIMARYUNLOCKNOTIFICATION, note_unlock)

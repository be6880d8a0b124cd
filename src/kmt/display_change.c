/* SPDX-License-Identifier: MIT */
/* Calls by which a client has the driver look at its outputs again: D3DKMTPollDisplayChildren
 * (DISP-043, DISP-044) and D3DKMTInvalidateActiveVidPn (VIDPN-164). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "modes/display_worker.h"
#include "modes/modes.h"
#include "port/running/display.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#define MOST_ADAPTERS 64u

/* NULL: it has no outputs, which is refused with the status. */
static struct modes *outputs_of(const struct kmt_adapter *adapter, NTSTATUS *status)
{
    struct modes *modes;

    *status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(*status))
        return NULL;
    modes = port_display_modes(adapter->port);
    if (!modes)
        *status = refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
    return modes;
}

/* An adapter that stops meanwhile has nothing to be polled. */
static void poll_all(const struct modes_poll *request)
{
    HANDLE adapter[MOST_ADAPTERS];
    const UINT count = modes_adapters(adapter, MOST_ADAPTERS);

    for (UINT i = 0; i < count; i++) {
        struct modes *modes = modes_find(adapter[i]);

        if (modes)
            (void)display_poll(modes, request);
    }
}

static NTSTATUS poll_children(struct kmt_call *call, void *arguments)
{
    const D3DKMT_POLLDISPLAYCHILDREN *args = arguments;
    const struct modes_poll request = {.careful = args->NonDestructiveOnly,
                                       .all = args->PollInterruptible,
                                       .keep_modes = args->DisableModeReset};
    struct kmt_adapter *adapter;
    struct modes *modes;
    NTSTATUS status;

    if (args->Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "DISP-044", "reserved bits are set: 0x%x",
                      args->Reserved);
    adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    modes = outputs_of(adapter, &status);
    if (status == STATUS_DEVICE_REMOVED || (!modes && !args->PollAllAdapters))
        return status;
    if (!args->PollAllAdapters)
        return display_poll(modes, &request);
    poll_all(&request);
    return STATUS_SUCCESS;
}

static NTSTATUS invalidate(struct kmt_call *call, void *arguments)
{
    const D3DKMT_INVALIDATEACTIVEVIDPN *args = arguments;
    struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct modes *modes;
    void *data = NULL;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    modes = outputs_of(adapter, &status);
    if (!modes)
        return status;
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WIN7)
        return refuse(STATUS_NOT_SUPPORTED, "VIDPN-164",
                      "the driver is of WDDM 1.1 or later, which proposes no VidPN for clients");
    status = kmt_client_copy_private(args->pPrivateDriverData, args->PrivateDriverDataSize, &data);
    if (NT_SUCCESS(status))
        status = display_recommend(modes, data, args->PrivateDriverDataSize);
    util_free(data);
    return status;
}

KMT_IN(D3DKMTPollDisplayChildren, D3DKMT_POLLDISPLAYCHILDREN, poll_children)
KMT_IN(D3DKMTInvalidateActiveVidPn, D3DKMT_INVALIDATEACTIVEVIDPN, invalidate)

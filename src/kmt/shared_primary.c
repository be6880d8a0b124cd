/* SPDX-License-Identifier: MIT */
/* The shared primary of a source, as a resource that clients open (PRES-278, PRES-279). */
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/handle.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "modes/modes.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"

static struct kmt_shared *find(const struct kmt *kmt, const struct vidmm_resource *resource)
{
    LIST_FOR(node, &kmt->shared) {
        struct kmt_shared *shared = CONTAINER(node, struct kmt_shared, link);

        if (shared->type == DDI_CLIENT_RESOURCE && shared->resource == resource)
            return shared;
    }
    return NULL;
}

/* The record is made when somebody asks first; it ends with the resource. */
static struct kmt_shared *record(struct kmt *kmt, struct port_adapter *port,
                                 struct vidmm_resource *resource)
{
    struct kmt_shared *shared = find(kmt, resource);

    if (shared)
        return shared;
    shared = kmt_shared_create(kmt, DDI_CLIENT_RESOURCE, port, false);
    if (shared)
        kmt_shared_set_resource(shared, resource);
    return shared;
}

static NTSTATUS get_handle(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETSHAREDPRIMARYHANDLE *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct vidmm_resource *resource;
    const struct kmt_shared *shared;
    struct vidmm_device *device;
    const struct modes *modes;
    D3DKMT_HANDLE handle;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    modes = port_display_modes(adapter->port);
    if (!modes)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
    if (args->VidPnSourceId >= modes->sources)
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-278",
                      "the adapter has no source %u", args->VidPnSourceId);
    args->hSharedPrimary = 0;
    if (!port_display_scanouts(adapter->port) ||
        !scanouts_shared(port_display_scanouts(adapter->port), args->VidPnSourceId, &device,
                         &handle))
        return STATUS_SUCCESS;
    resource = vidmm_resource_get(device, handle);
    if (!resource) /* it ends */
        return STATUS_SUCCESS;
    shared = record(call->process->kmt, adapter->port, resource);
    vidmm_resource_put(resource);
    if (!shared)
        return STATUS_NO_MEMORY;
    args->hSharedPrimary = shared->global;
    return STATUS_SUCCESS;
}

KMT_IN_OUT(D3DKMTGetSharedPrimaryHandle, D3DKMT_GETSHAREDPRIMARYHANDLE, get_handle)

/* SPDX-License-Identifier: MIT */
/* Handle lookups, carried out by the memory manager. They name no adapter, so they act for the one
 * whose DDI is in progress. */
#include "port/callbacks/handle_callbacks.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/refusal.h"
#include "vidmm/allocation/handle_callbacks.h"
#include "vidmm/record/of_adapter.h"

/* NULL: the call has no effect. */
static struct ddi_frame *begin_lookup(const char *name, uintptr_t caller, uint8_t max_irql,
                                      const char *rule)
{
    struct ddi_frame *frame;

    if (!sim_current || sim_current->stopped)
        return NULL;
    frame = ddi_callback_enter(ddi_current_adapter(), name, caller);
    if (sim_irql() > max_irql) {
        VIOLATION(rule, "%s was called at %s", name, nt_irql_name(sim_irql()));
        if (sim_irql() >= SIM_IRQL_DISPATCH) {
            ddi_callback_leave(frame);
            return NULL;
        }
    }
    return frame;
}

/* Outside any DDI it is unknown whose handles are meant; before the start has finished there are
 * none. */
static bool can_look_up(const struct ddi_frame *frame)
{
    return frame->adapter && vidmm_of_adapter(frame->adapter);
}

static void *NTAPI get_handle_data(IN_CONST_PDXGKARGCB_GETHANDLEDATA args)
{
    struct ddi_frame *frame;
    DXGKARGCB_GETHANDLEDATA copy;
    void *data = NULL;

    frame = begin_lookup("DxgkCbGetHandleData", PORT_CALLER, SIM_IRQL_APC, "THREAD-048");
    if (!frame)
        return NULL;
    if (can_look_up(frame) && PORT_TAKE(DXGKARGCB_GETHANDLEDATA, &copy, args))
        data = vidmm_cb_get_handle_data(frame->adapter, &copy);
    ddi_callback_leave(frame);
    return data;
}

/* ALLOC-099, ALLOC-100. */
static void *acquire(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                     PDXGKARG_RELEASE_HANDLE release)
{
    DXGKARGCB_RELEASEHANDLEDATA undo = {.Type = args->Type};
    void *data = vidmm_cb_acquire_handle_data(adapter, args, &undo.ReleaseHandle);

    if (PORT_GIVE(HANDLE, release, &undo.ReleaseHandle))
        return data;
    VIOLATION("ALLOC-099", "the release handle cannot be written to %p", (void *)release);
    if (undo.ReleaseHandle)
        vidmm_cb_release_handle_data(adapter, &undo);
    return NULL;
}

static void *NTAPI acquire_handle_data(IN_CONST_PDXGKARGCB_GETHANDLEDATA args,
                                       PDXGKARG_RELEASE_HANDLE release)
{
    static const HANDLE none = NULL;
    struct ddi_frame *frame;
    DXGKARGCB_GETHANDLEDATA copy;
    void *data = NULL;

    frame = begin_lookup("DxgkCbAcquireHandleData", PORT_CALLER, SIM_IRQL_APC, "THREAD-048");
    if (!frame)
        return NULL;
    if (can_look_up(frame) && PORT_TAKE(DXGKARGCB_GETHANDLEDATA, &copy, args))
        data = acquire(frame->adapter, &copy, release);
    else
        (void)PORT_GIVE(HANDLE, release, &none);
    ddi_callback_leave(frame);
    return data;
}

/* The adapter that issued this release handle; NULL: none did. */
static struct ddi_adapter *adapter_of_release(HANDLE handle)
{
    struct port *port = port_current();

    LIST_FOR(node, &port->adapter_list) {
        struct ddi_adapter *adapter = &CONTAINER(node, struct port_adapter, link)->ddi;

        if (ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_ACQUIRED_ALLOCATION) ||
            ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_ACQUIRED_RESOURCE))
            return adapter;
    }
    return NULL;
}

static void NTAPI release_handle_data(IN_CONST_DXGKARGCB_RELEASEHANDLEDATA args)
{
    struct ddi_frame *frame;
    struct ddi_adapter *adapter;

    frame = begin_lookup("DxgkCbReleaseHandleData", PORT_CALLER, SIM_IRQL_APC, "THREAD-048");
    if (!frame)
        return;
    adapter = adapter_of_release(args.ReleaseHandle);
    if (adapter) {
        vidmm_cb_release_handle_data(adapter, &args);
    } else {
        const struct port *port = port_current();

        VIOLATION("ALLOC-102", "ReleaseHandle is %s, and nothing is held by it",
                  ddi_handle_describe(frame->adapter ? &frame->adapter->handles : &port->handles,
                                      args.ReleaseHandle)
                      .text);
    }
    ddi_callback_leave(frame);
}

/* ALLOC-140, ALLOC-141. */
static NTSTATUS NTAPI get_capture_address(INOUT_PDXGKARGCB_GETCAPTUREADDRESS args)
{
    struct ddi_frame *frame;
    DXGKARGCB_GETCAPTUREADDRESS copy;
    struct refusal refusal;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    frame = begin_lookup("DxgkCbGetCaptureAddress", PORT_CALLER, SIM_IRQL_PASSIVE, "THREAD-047");
    if (!frame)
        return STATUS_INVALID_DEVICE_REQUEST;
    refusal_begin(&refusal);
    if (!can_look_up(frame))
        (void)refuse(status, "ALLOC-098", "no DDI is in progress whose process has the handle");
    else if (!PORT_TAKE(DXGKARGCB_GETCAPTUREADDRESS, &copy, args))
        (void)refuse(status, NULL, "the structure at %p cannot be read", (void *)args);
    else
        status = vidmm_cb_get_capture_address(frame->adapter, &copy);
    if (NT_SUCCESS(status) && !PORT_GIVE(DXGKARGCB_GETCAPTUREADDRESS, args, &copy))
        status = refuse(STATUS_INVALID_PARAMETER, NULL, "the structure at %p cannot be written",
                        (void *)args);
    ddi_callback_leave(frame);
    refusal_end(&refusal, "DxgkCbGetCaptureAddress", status);
    return status;
}

static D3DKMT_HANDLE NTAPI get_handle_parent(IN_D3DKMT_HANDLE allocation)
{
    struct ddi_frame *frame;
    D3DKMT_HANDLE parent;

    frame = begin_lookup("DxgkCbGetHandleParent", PORT_CALLER, SIM_IRQL_APC, "THREAD-048");
    if (!frame)
        return 0;
    parent = can_look_up(frame) ? vidmm_cb_get_handle_parent(frame->adapter, allocation) : 0;
    ddi_callback_leave(frame);
    return parent;
}

static D3DKMT_HANDLE NTAPI enum_handle_children(IN_CONST_PDXGKARGCB_ENUMHANDLECHILDREN args)
{
    struct ddi_frame *frame;
    DXGKARGCB_ENUMHANDLECHILDREN copy;
    D3DKMT_HANDLE child = 0;

    frame = begin_lookup("DxgkCbEnumHandleChildren", PORT_CALLER, SIM_IRQL_PASSIVE, "THREAD-047");
    if (!frame)
        return 0;
    if (can_look_up(frame) && PORT_TAKE(DXGKARGCB_ENUMHANDLECHILDREN, &copy, args))
        child = vidmm_cb_enum_handle_children(frame->adapter, &copy);
    ddi_callback_leave(frame);
    return child;
}

void port_handle_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbGetHandleData = get_handle_data;
    interface->DxgkCbGetHandleParent = get_handle_parent;
    interface->DxgkCbEnumHandleChildren = enum_handle_children;
    interface->DxgkCbAcquireHandleData = acquire_handle_data;
    interface->DxgkCbReleaseHandleData = release_handle_data;
    interface->DxgkCbGetCaptureAddress = get_capture_address;
}

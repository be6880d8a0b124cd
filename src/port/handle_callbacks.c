/* SPDX-License-Identifier: MIT */
/* Handle lookups, context allocations and GPU virtual address ranges: checked here, carried out by the memory manager. */
#include "port/port_private.h"

#include <string.h>

#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "vidmm/of_adapter.h"

/* ---- handle lookups name no adapter; the one whose DDI is in progress is meant ---- */

static bool begin_lookup(struct ddi_frame *frame, const char *name, uintptr_t caller,
                         uint8_t max_irql, const char *rule)
{
    struct ddi_adapter *adapter;

    if (!sim_current || sim_current->stopped)
        return false;
    adapter = ddi_current_adapter();
    ddi_callback_enter(frame, adapter, name, caller);
    if (sim_irql() > max_irql) {
        VIOLATION(rule, "%s was called at %s", name, nt_irql_name(sim_irql()));
        if (sim_irql() >= SIM_IRQL_DISPATCH) {
            ddi_callback_leave(frame);
            return false;
        }
    }
    return true;
}

/* Outside any DDI nothing says whose handles are meant, and before the start has finished there are none. */
static bool can_look_up(const struct ddi_frame *frame)
{
    return frame->adapter && vidmm_of_adapter(frame->adapter);
}

static void *NTAPI get_handle_data(IN_CONST_PDXGKARGCB_GETHANDLEDATA args)
{
    struct ddi_frame frame;
    DXGKARGCB_GETHANDLEDATA copy;
    void *data = NULL;

    if (!begin_lookup(&frame, "DxgkCbGetHandleData", CALLER, SIM_IRQL_APC, "THREAD-048"))
        return NULL;
    if (can_look_up(&frame) && args && sim_copy_checked(&copy, args, sizeof(copy)))
        data = vidmm_cb_get_handle_data(frame.adapter, &copy);
    ddi_callback_leave(&frame);
    return data;
}

/* ALLOC-099, ALLOC-100. */
static void *acquire(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                     PDXGKARG_RELEASE_HANDLE release)
{
    DXGKARGCB_RELEASEHANDLEDATA undo = {.Type = args->Type};
    void *data = vidmm_cb_acquire_handle_data(adapter, args, &undo.ReleaseHandle);

    if (sim_copy_checked(release, &undo.ReleaseHandle, sizeof(undo.ReleaseHandle)))
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
    struct ddi_frame frame;
    DXGKARGCB_GETHANDLEDATA copy;
    void *data = NULL;

    if (!begin_lookup(&frame, "DxgkCbAcquireHandleData", CALLER, SIM_IRQL_APC, "THREAD-048"))
        return NULL;
    if (can_look_up(&frame) && args && sim_copy_checked(&copy, args, sizeof(copy)))
        data = acquire(frame.adapter, &copy, release);
    else
        (void)sim_copy_checked(release, &none, sizeof(none));
    ddi_callback_leave(&frame);
    return data;
}

/* The adapter that a release handle says it is of; NULL: none that is there. */
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
    struct ddi_frame frame;
    struct ddi_adapter *adapter;

    if (!begin_lookup(&frame, "DxgkCbReleaseHandleData", CALLER, SIM_IRQL_APC, "THREAD-048"))
        return;
    adapter = adapter_of_release(args.ReleaseHandle);
    if (adapter) {
        vidmm_cb_release_handle_data(adapter, &args);
    } else {
        const struct port *port = port_current();

        VIOLATION("ALLOC-102", "ReleaseHandle is %s, and nothing is held by it",
                  ddi_handle_describe(frame.adapter ? &frame.adapter->handles : &port->handles,
                                      args.ReleaseHandle)
                      .text);
    }
    ddi_callback_leave(&frame);
}

static D3DKMT_HANDLE NTAPI get_handle_parent(IN_D3DKMT_HANDLE allocation)
{
    struct ddi_frame frame;
    D3DKMT_HANDLE parent;

    if (!begin_lookup(&frame, "DxgkCbGetHandleParent", CALLER, SIM_IRQL_APC, "THREAD-048"))
        return 0;
    parent = can_look_up(&frame) ? vidmm_cb_get_handle_parent(frame.adapter, allocation) : 0;
    ddi_callback_leave(&frame);
    return parent;
}

static D3DKMT_HANDLE NTAPI enum_handle_children(IN_CONST_PDXGKARGCB_ENUMHANDLECHILDREN args)
{
    struct ddi_frame frame;
    DXGKARGCB_ENUMHANDLECHILDREN copy;
    D3DKMT_HANDLE child = 0;

    if (!begin_lookup(&frame, "DxgkCbEnumHandleChildren", CALLER, SIM_IRQL_PASSIVE, "THREAD-047"))
        return 0;
    if (can_look_up(&frame) && args && sim_copy_checked(&copy, args, sizeof(copy)))
        child = vidmm_cb_enum_handle_children(frame.adapter, &copy);
    ddi_callback_leave(&frame);
    return child;
}

/* ---- context allocations and GPU virtual addresses: at PASSIVE_LEVEL, on an adapter that has a memory manager ---- */

/* `rule`: broken by a call outside the time in which the objects exist that it is about. */
static NTSTATUS begin(struct callback *cb, HANDLE adapter, const char *name, uintptr_t caller,
                      unsigned flags, const char *rule)
{
    NTSTATUS status = callback_begin(cb, adapter, name, caller, SIM_IRQL_PASSIVE, "THREAD-047",
                                     flags);

    if (NT_SUCCESS(status) && !cb->adapter->vidmm) {
        VIOLATION(rule, "%s before the adapter has finished its start, or after its end began",
                  name);
        callback_end(cb);
        return STATUS_INVALID_DEVICE_STATE;
    }
    return status;
}

/* An argument structure, by value. False: told as a breach of the rule. */
static bool take(void *copy, const void *args, size_t bytes, const char *rule)
{
    if (args && sim_copy_checked(copy, args, bytes))
        return true;
    if (args)
        VIOLATION(rule, "the argument structure at %p cannot be read", args);
    else
        VIOLATION(rule, "the pointer to the argument structure is NULL");
    return false;
}

/* Of a callback that finds its adapter in the structure, which is not there. */
static NTSTATUS no_arguments(const char *name, uintptr_t caller, const void *args)
{
    struct ddi_frame frame;
    HANDLE none;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    ddi_callback_enter(&frame, ddi_current_adapter(), name, caller);
    (void)take(&none, args, sizeof(none), "CTXA-005");
    ddi_callback_leave(&frame);
    return STATUS_INVALID_PARAMETER;
}

/* With the driver's version of the structure. */
static NTSTATUS create_and_return(const struct callback *cb, DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    struct ddi_adapter *adapter = &cb->adapter->ddi;
    DXGKARGCB_CREATECONTEXTALLOCATION copy;
    size_t bytes = adapter->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0
                       ? sizeof(copy)
                       : offsetof(DXGKARGCB_CREATECONTEXTALLOCATION, PhysicalAdapterIndex);
    NTSTATUS status;

    memset(&copy, 0, sizeof(copy));
    if (!take(&copy, args, bytes, "CTXA-005"))
        return STATUS_INVALID_PARAMETER;
    status = vidmm_cb_create_context_allocation(adapter, &copy);
    if (!NT_SUCCESS(status) ||
        sim_copy_checked(&args->hAllocation, &copy.hAllocation, sizeof(copy.hAllocation)))
        return status;
    VIOLATION("CTXA-005", "hAllocation at %p cannot be written", (void *)&args->hAllocation);
    (void)vidmm_cb_destroy_context_allocation(adapter, copy.hAllocation);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI create_context_allocation(INOUT_PDXGKARGCB_CREATECONTEXTALLOCATION args)
{
    static const HANDLE none = NULL;
    struct callback cb;
    HANDLE handle = NULL;
    NTSTATUS status;

    if (!args || !sim_copy_checked(&handle, &args->hAdapter, sizeof(handle)))
        return no_arguments("DxgkCbCreateContextAllocation", CALLER, args);
    status = begin(&cb, handle, "DxgkCbCreateContextAllocation", CALLER, 0, "CTXA-012");
    if (NT_SUCCESS(status)) {
        status = create_and_return(&cb, args);
        callback_end(&cb);
    }
    if (!NT_SUCCESS(status)) /* CTXA-028; what cannot be written was told */
        (void)sim_copy_checked(&args->hAllocation, &none, sizeof(none));
    return status;
}

static NTSTATUS NTAPI destroy_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_HANDLE allocation)
{
    struct callback cb;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbDestroyContextAllocation", CALLER,
                            CALLBACK_FREEING, "CTXA-063");

    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_cb_destroy_context_allocation(&cb.adapter->ddi, allocation);
    callback_end(&cb);
    return status;
}

static D3DGPU_VIRTUAL_ADDRESS NTAPI
map_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_MAPCONTEXTALLOCATION args)
{
    struct callback cb;
    DXGKARGCB_MAPCONTEXTALLOCATION copy;
    D3DGPU_VIRTUAL_ADDRESS va = 0;

    if (!NT_SUCCESS(begin(&cb, adapter, "DxgkCbMapContextAllocation", CALLER, 0, "CTXA-045")))
        return 0;
    if (take(&copy, args, sizeof(copy), "CTXA-005"))
        va = vidmm_cb_map_context_allocation(&cb.adapter->ddi, &copy);
    callback_end(&cb);
    return va;
}

static NTSTATUS NTAPI update_context_allocation(IN_CONST_HANDLE adapter,
                                                IN_CONST_PDXGKARGCB_UPDATECONTEXTALLOCATION args)
{
    struct callback cb;
    DXGKARGCB_UPDATECONTEXTALLOCATION copy;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbUpdateContextAllocation", CALLER, 0, "CTXA-058");

    if (!NT_SUCCESS(status))
        return status;
    if (take(&copy, args, sizeof(copy), "CTXA-005"))
        status = vidmm_cb_update_context_allocation(&cb.adapter->ddi, &copy);
    else
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

/* GPUVA-046: StartVirtualAddress is written on success alone. */
static NTSTATUS reserve_and_return(const struct callback *cb,
                                   DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE copy;
    NTSTATUS status;

    if (!take(&copy, args, sizeof(copy), "GPUVA-046"))
        return STATUS_INVALID_PARAMETER;
    status = vidmm_cb_reserve_gpu_va(&cb->adapter->ddi, &copy);
    if (!NT_SUCCESS(status) ||
        sim_copy_checked(&args->StartVirtualAddress, &copy.StartVirtualAddress,
                         sizeof(copy.StartVirtualAddress)))
        return status;
    /* the reservation lasts as long as the process, as each does (GPUVA-056) */
    VIOLATION("GPUVA-046", "StartVirtualAddress at %p cannot be written",
              (void *)&args->StartVirtualAddress);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI reserve_gpu_va(IN_CONST_HANDLE adapter,
                                     INOUT_PDXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args)
{
    struct callback cb;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbReserveGpuVirtualAddressRange", CALLER, 0,
                            "GPUVA-045");

    if (!NT_SUCCESS(status))
        return status;
    status = reserve_and_return(&cb, args);
    callback_end(&cb);
    return status;
}

void port_fill_handle_callbacks(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbGetHandleData = get_handle_data;
    interface->DxgkCbGetHandleParent = get_handle_parent;
    interface->DxgkCbEnumHandleChildren = enum_handle_children;
    interface->DxgkCbAcquireHandleData = acquire_handle_data;
    interface->DxgkCbReleaseHandleData = release_handle_data;
    interface->DxgkCbCreateContextAllocation = create_context_allocation;
    interface->DxgkCbDestroyContextAllocation = destroy_context_allocation;
    interface->DxgkCbMapContextAllocation = map_context_allocation;
    interface->DxgkCbUpdateContextAllocation = update_context_allocation;
    interface->DxgkCbReserveGpuVirtualAddressRange = reserve_gpu_va;
}

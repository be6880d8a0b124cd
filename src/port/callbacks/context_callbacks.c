/* SPDX-License-Identifier: MIT */
/* The callbacks for context allocations and GPU virtual address ranges: valid at PASSIVE_LEVEL, on
 * an adapter that has a memory manager. */
#include "port/callbacks/context_callbacks.h"
#include "ddi/ddi.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/space/gpu_va.h"

/* `rule`: broken by a call at a time when the objects of the callback do not exist. */
static NTSTATUS begin(struct port_callback *cb, HANDLE adapter, const char *name, uintptr_t caller,
                      unsigned flags, const char *rule)
{
    NTSTATUS status = port_callback_begin(cb, adapter, name, caller, SIM_IRQL_PASSIVE, "THREAD-047",
                                          flags);

    if (NT_SUCCESS(status) && !port_adapter_vidmm(cb->adapter)) {
        VIOLATION(rule, "%s before the adapter has finished its start, or after its end began",
                  name);
        return port_callback_return(cb, STATUS_INVALID_DEVICE_STATE);
    }
    return status;
}

/* Report an argument structure that cannot be read as a breach of the rule. */
static void report_bad_arguments(const void *args, const char *rule)
{
    if (args)
        VIOLATION(rule, "the argument structure at %p cannot be read", args);
    else
        VIOLATION(rule, "the pointer to the argument structure is NULL");
}

/* For a callback that names its adapter in a structure, when that cannot be read. */
static NTSTATUS no_arguments(const char *name, uintptr_t caller, const void *args)
{
    struct ddi_frame *frame;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    frame = ddi_callback_enter(ddi_current_adapter(), name, caller);
    report_bad_arguments(args, "CTXA-005");
    ddi_callback_leave(frame);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS create_and_return(const struct port_callback *cb,
                                  DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    struct ddi_adapter *adapter = &cb->adapter->ddi;
    DXGKARGCB_CREATECONTEXTALLOCATION copy;
    NTSTATUS status;

    if (!PORT_TAKE_VERSION(DXGKARGCB_CREATECONTEXTALLOCATION, adapter->table.Version, &copy, args)) {
        report_bad_arguments(args, "CTXA-005");
        return STATUS_INVALID_PARAMETER;
    }
    status = vidmm_cb_create_context_allocation(adapter, &copy);
    if (!NT_SUCCESS(status) ||
        PORT_GIVE_MEMBER(DXGKARGCB_CREATECONTEXTALLOCATION, args, hAllocation, &copy.hAllocation))
        return status;
    VIOLATION("CTXA-005", "hAllocation at %p cannot be written", (void *)&args->hAllocation);
    (void)vidmm_cb_destroy_context_allocation(adapter, copy.hAllocation);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI create_context_allocation(INOUT_PDXGKARGCB_CREATECONTEXTALLOCATION args)
{
    static const HANDLE none = NULL;
    struct port_callback cb;
    HANDLE handle = NULL;
    NTSTATUS status;

    if (!PORT_TAKE_MEMBER(DXGKARGCB_CREATECONTEXTALLOCATION, &handle, args, hAdapter))
        return no_arguments("DxgkCbCreateContextAllocation", PORT_CALLER, args);
    status = begin(&cb, handle, "DxgkCbCreateContextAllocation", PORT_CALLER, 0, "CTXA-012");
    if (NT_SUCCESS(status)) {
        status = port_callback_return(&cb, create_and_return(&cb, args));
    }
    if (!NT_SUCCESS(status)) /* CTXA-028; if it cannot be written, that was reported */
        (void)PORT_GIVE_MEMBER(DXGKARGCB_CREATECONTEXTALLOCATION, args, hAllocation, &none);
    return status;
}

static NTSTATUS NTAPI destroy_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_HANDLE allocation)
{
    struct port_callback cb;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbDestroyContextAllocation", PORT_CALLER,
                            PORT_CALLBACK_FREEING, "CTXA-063");

    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_cb_destroy_context_allocation(&cb.adapter->ddi, allocation);
    return port_callback_return(&cb, status);
}

static D3DGPU_VIRTUAL_ADDRESS NTAPI
map_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_MAPCONTEXTALLOCATION args)
{
    struct port_callback cb;
    DXGKARGCB_MAPCONTEXTALLOCATION copy;
    D3DGPU_VIRTUAL_ADDRESS va = 0;

    if (!NT_SUCCESS(begin(&cb, adapter, "DxgkCbMapContextAllocation", PORT_CALLER, 0, "CTXA-045")))
        return 0;
    if (PORT_TAKE(DXGKARGCB_MAPCONTEXTALLOCATION, &copy, args))
        va = vidmm_cb_map_context_allocation(&cb.adapter->ddi, &copy);
    else
        report_bad_arguments(args, "CTXA-005");
    port_callback_end(&cb);
    return va;
}

static NTSTATUS NTAPI update_context_allocation(IN_CONST_HANDLE adapter,
                                                IN_CONST_PDXGKARGCB_UPDATECONTEXTALLOCATION args)
{
    struct port_callback cb;
    DXGKARGCB_UPDATECONTEXTALLOCATION copy;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbUpdateContextAllocation", PORT_CALLER, 0,
                            "CTXA-058");

    if (!NT_SUCCESS(status))
        return status;
    if (PORT_TAKE(DXGKARGCB_UPDATECONTEXTALLOCATION, &copy, args)) {
        status = vidmm_cb_update_context_allocation(&cb.adapter->ddi, &copy);
    } else {
        report_bad_arguments(args, "CTXA-005");
        status = STATUS_INVALID_PARAMETER;
    }
    return port_callback_return(&cb, status);
}

/* GPUVA-046: StartVirtualAddress is written only on success. */
static NTSTATUS reserve_and_return(const struct port_callback *cb,
                                   DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE copy;
    NTSTATUS status;

    if (!PORT_TAKE(DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE, &copy, args)) {
        report_bad_arguments(args, "GPUVA-046");
        return STATUS_INVALID_PARAMETER;
    }
    status = vidmm_cb_reserve_gpu_va(&cb->adapter->ddi, &copy);
    if (!NT_SUCCESS(status) || PORT_GIVE_MEMBER(DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE, args,
                                                StartVirtualAddress, &copy.StartVirtualAddress))
        return status;
    /* like every reservation, this one lasts as long as the process (GPUVA-056) */
    VIOLATION("GPUVA-046", "StartVirtualAddress at %p cannot be written",
              (void *)&args->StartVirtualAddress);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI reserve_gpu_va(IN_CONST_HANDLE adapter,
                                     INOUT_PDXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args)
{
    struct port_callback cb;
    NTSTATUS status = begin(&cb, adapter, "DxgkCbReserveGpuVirtualAddressRange", PORT_CALLER, 0,
                            "GPUVA-045");

    if (!NT_SUCCESS(status))
        return status;
    status = reserve_and_return(&cb, args);
    return port_callback_return(&cb, status);
}

void port_context_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbCreateContextAllocation = create_context_allocation;
    interface->DxgkCbDestroyContextAllocation = destroy_context_allocation;
    interface->DxgkCbMapContextAllocation = map_context_allocation;
    interface->DxgkCbUpdateContextAllocation = update_context_allocation;
    interface->DxgkCbReserveGpuVirtualAddressRange = reserve_gpu_va;
}

/* SPDX-License-Identifier: MIT */
/*
 * The typed DDI calls for client work: each names its entry and calls it as the table says, or at
 * the level that it gives. Those of the adapter's life are in entries_life.c. Levels: THREAD-014 to
 * THREAD-030; IRQLs: THREAD-038 to THREAD-044.
 */
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* ---- processes, devices, contexts ---- */

NTSTATUS ddi_create_process(struct ddi_adapter *a, DXGKARG_CREATEPROCESS *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateProcess, args, ddi_parts_create_process, a->context);
}

NTSTATUS ddi_destroy_process(struct ddi_adapter *a, HANDLE process)
{
    CALL_STATUS(a, DxgkDdiDestroyProcess, a->context, process);
}

NTSTATUS ddi_create_device(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args)
{
    CALL_BOTH(a, DxgkDdiCreateDevice, args, a->context);
}

NTSTATUS ddi_create_device_with_info(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateDevice, args, ddi_parts_create_device_info, a->context);
}

NTSTATUS ddi_destroy_device(struct ddi_adapter *a, HANDLE device)
{
    CALL_STATUS(a, DxgkDdiDestroyDevice, device);
}

NTSTATUS ddi_create_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATECONTEXT *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateContext, args, ddi_parts_create_context, device);
}

NTSTATUS ddi_destroy_context(struct ddi_adapter *a, HANDLE context)
{
    CALL_STATUS(a, DxgkDdiDestroyContext, context);
}

NTSTATUS ddi_create_cpu_event(struct ddi_adapter *a, DXGKARG_CREATECPUEVENT *args)
{
    CALL_BOTH(a, DxgkDdiCreateCpuEvent, args, a->context);
}

NTSTATUS ddi_destroy_cpu_event(struct ddi_adapter *a, HANDLE event)
{
    CALL_STATUS(a, DxgkDdiDestroyCpuEvent, a->context, event);
}

/* ---- allocations ---- */

NTSTATUS ddi_create_allocation(struct ddi_adapter *a, DXGKARG_CREATEALLOCATION *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateAllocation, args, ddi_parts_create_allocation, a->context);
}

NTSTATUS ddi_destroy_allocation(struct ddi_adapter *a, const DXGKARG_DESTROYALLOCATION *args)
{
    CALL_PARTS_IN(a, DxgkDdiDestroyAllocation, args, ddi_parts_destroy_allocation, a->context);
}

NTSTATUS ddi_open_allocation(struct ddi_adapter *a, HANDLE device,
                             const DXGKARG_OPENALLOCATION *args)
{
    CALL_PARTS_IN(a, DxgkDdiOpenAllocation, args, ddi_parts_open_allocation, device);
}

NTSTATUS ddi_close_allocation(struct ddi_adapter *a, HANDLE device,
                              const DXGKARG_CLOSEALLOCATION *args)
{
    CALL_PARTS_IN(a, DxgkDdiCloseAllocation, args, ddi_parts_close_allocation, device);
}

NTSTATUS ddi_describe_allocation(struct ddi_adapter *a, DXGKARG_DESCRIBEALLOCATION *args)
{
    CALL_BOTH(a, DxgkDdiDescribeAllocation, args, a->context);
}

NTSTATUS
ddi_validate_update_allocation_property(struct ddi_adapter *a,
                                        const DXGKARG_VALIDATEUPDATEALLOCPROPERTY *args)
{
    CALL_IN(a, DxgkDdiValidateUpdateAllocationProperty, args, a->context);
}

NTSTATUS ddi_standard_data(struct ddi_adapter *a, DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiGetStandardAllocationDriverData, args, ddi_parts_standard_data,
                    a->context);
}

NTSTATUS ddi_set_allocation_backing_store(struct ddi_adapter *a,
                                          const DXGKARG_SETALLOCATIONBACKINGSTORE *args)
{
    CALL_IN(a, DxgkDdiSetAllocationBackingStore, args, a->context);
}

NTSTATUS ddi_acquire_swizzling_range(struct ddi_adapter *a, DXGKARG_ACQUIRESWIZZLINGRANGE *args)
{
    CALL_BOTH(a, DxgkDdiAcquireSwizzlingRange, args, a->context);
}

NTSTATUS ddi_release_swizzling_range(struct ddi_adapter *a,
                                     const DXGKARG_RELEASESWIZZLINGRANGE *args)
{
    CALL_IN(a, DxgkDdiReleaseSwizzlingRange, args, a->context);
}

NTSTATUS ddi_map_cpu_host_aperture(struct ddi_adapter *a, const DXGKARG_MAPCPUHOSTAPERTURE *args)
{
    CALL_PARTS_IN(a, DxgkDdiMapCpuHostAperture, args, ddi_parts_map_cpu_host_aperture, a->context);
}

NTSTATUS ddi_unmap_cpu_host_aperture(struct ddi_adapter *a, const DXGKARG_UNMAPCPUHOSTAPERTURE *args)
{
    CALL_PARTS_IN(a, DxgkDdiUnmapCpuHostAperture, args, ddi_parts_unmap_cpu_host_aperture,
                  a->context);
}

/* ---- paging and page tables ---- */

SIZE_T ddi_get_root_page_table_size(struct ddi_adapter *a, DXGKARG_GETROOTPAGETABLESIZE *args)
{
    struct ddi_lent passed;
    struct ddi_call call;
    SIZE_T bytes;

    if (!ddi_lend(&passed, args, sizeof(*args), "DXGKARG_GETROOTPAGETABLESIZE"))
        return 0;
    if (!NT_SUCCESS(ddi_enter(&call, a, DDI_DxgkDdiGetRootPageTableSize))) {
        ddi_lent_end(&passed, NULL);
        return 0;
    }
    bytes = a->table.DxgkDdiGetRootPageTableSize(a->context, passed.data);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiGetRootPageTableSize);
    ddi_lent_end(&passed, args);
    ddi_leave(&call);
    return bytes;
}

void ddi_set_root_page_table(struct ddi_adapter *a, const DXGKARG_SETROOTPAGETABLE *args)
{
    struct ddi_lent passed;
    struct ddi_call call;

    if (!ddi_lend(&passed, args, sizeof(*args), "DXGKARG_SETROOTPAGETABLE"))
        return;
    if (NT_SUCCESS(ddi_enter(&call, a, DDI_DxgkDdiSetRootPageTable))) {
        a->table.DxgkDdiSetRootPageTable(a->context, passed.data);
        ddi_returned(&call);
        ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiSetRootPageTable);
        ddi_leave(&call);
    }
    ddi_lent_end(&passed, NULL);
}

NTSTATUS ddi_build_paging_buffer(struct ddi_adapter *a, DXGKARG_BUILDPAGINGBUFFER *args)
{
    CALL_BOTH(a, DxgkDdiBuildPagingBuffer, args, a->context);
}

NTSTATUS ddi_signal_monitored_fence(struct ddi_adapter *a, HANDLE context,
                                    DXGKARG_SIGNALMONITOREDFENCE *args)
{
    CALL_BOTH(a, DxgkDdiSignalMonitoredFence, args, context);
}

/* ---- submission ---- */

NTSTATUS ddi_render(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args)
{
    CALL_BOTH(a, DxgkDdiRender, args, context);
}

NTSTATUS ddi_render_km(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args)
{
    CALL_BOTH(a, DxgkDdiRenderKm, args, context);
}

NTSTATUS ddi_render_gdi(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDERGDI *args)
{
    CALL_BOTH(a, DxgkDdiRenderGdi, args, context);
}

NTSTATUS ddi_patch(struct ddi_adapter *a, const DXGKARG_PATCH *args)
{
    CALL_IN(a, DxgkDdiPatch, args, a->context);
}

NTSTATUS ddi_submit_command(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMAND *args)
{
    CALL_IN(a, DxgkDdiSubmitCommand, args, a->context);
}

NTSTATUS ddi_validate_submit_command(struct ddi_adapter *a, HANDLE context,
                                     const DXGKARG_VALIDATESUBMITCOMMAND *args)
{
    CALL_IN(a, DxgkDdiValidateSubmitCommand, args, context);
}

NTSTATUS ddi_submit_command_virtual(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    CALL_LENT(a, DxgkDdiSubmitCommandVirtual, LEVEL_SCHEDULER,
              a->raised_submit ? SIM_IRQL_DISPATCH : SIM_IRQL_PASSIVE, args, NULL, a->context);
}

NTSTATUS ddi_preempt_command(struct ddi_adapter *a, const DXGKARG_PREEMPTCOMMAND *args)
{
    CALL_LENT(a, DxgkDdiPreemptCommand, LEVEL_SCHEDULER,
              a->low_irql_preempt ? SIM_IRQL_PASSIVE : SIM_IRQL_DISPATCH, args, NULL, a->context);
}

NTSTATUS ddi_cancel_command(struct ddi_adapter *a, const DXGKARG_CANCELCOMMAND *args)
{
    CALL_IN(a, DxgkDdiCancelCommand, args, a->context);
}

NTSTATUS ddi_query_current_fence(struct ddi_adapter *a, DXGKARG_QUERYCURRENTFENCE *args)
{
    CALL_BOTH(a, DxgkDdiQueryCurrentFence, args, a->context);
}

NTSTATUS ddi_query_dependent_engine_group(struct ddi_adapter *a,
                                          DXGKARG_QUERYDEPENDENTENGINEGROUP *args)
{
    CALL_BOTH(a, DxgkDdiQueryDependentEngineGroup, args, a->context);
}

NTSTATUS ddi_query_engine_status(struct ddi_adapter *a, DXGKARG_QUERYENGINESTATUS *args)
{
    CALL_BOTH(a, DxgkDdiQueryEngineStatus, args, a->context);
}

NTSTATUS ddi_reset_engine(struct ddi_adapter *a, DXGKARG_RESETENGINE *args)
{
    CALL_BOTH(a, DxgkDdiResetEngine, args, a->context);
}

NTSTATUS ddi_reset_from_timeout(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiResetFromTimeout, a->context);
}

NTSTATUS ddi_restart_from_timeout(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiRestartFromTimeout, a->context);
}

NTSTATUS ddi_collect_dbg_info(struct ddi_adapter *a, const DXGKARG_COLLECTDBGINFO *args)
{
    CALL_PARTS_IN(a, DxgkDdiCollectDbgInfo, args, ddi_parts_collect_dbg_info,
                  a->context); /* TDR-070 */
}

NTSTATUS ddi_begin_exclusive_access(struct ddi_adapter *a, DXGKARG_BEGINEXCLUSIVEACCESS *args)
{
    CALL_BOTH(a, DxgkDdiBeginExclusiveAccess, args, a->context);
}

NTSTATUS ddi_end_exclusive_access(struct ddi_adapter *a, DXGKARG_ENDEXCLUSIVEACCESS *args)
{
    CALL_BOTH(a, DxgkDdiEndExclusiveAccess, args, a->context);
}

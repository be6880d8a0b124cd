/* SPDX-License-Identifier: MIT */
/*
 * The typed entries of the client's work: each names its level, class, IRQL and limit of virtual
 * time, and calls through the door. Those of the adapter's life are in entries_life.c. Levels:
 * THREAD-014 to THREAD-030; IRQLs: THREAD-038 to THREAD-044.
 */
#include "ddi/door.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* ---- processes, devices, contexts ---- */

NTSTATUS ddi_create_process(struct ddi_adapter *a, DXGKARG_CREATEPROCESS *args)
{
    CALL_STATUS(a, DxgkDdiCreateProcess, a->context, args);
}

NTSTATUS ddi_destroy_process(struct ddi_adapter *a, HANDLE process)
{
    CALL_STATUS(a, DxgkDdiDestroyProcess, a->context, process);
}

NTSTATUS ddi_create_device(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args)
{
    CALL_STATUS(a, DxgkDdiCreateDevice, a->context, args);
}

NTSTATUS ddi_destroy_device(struct ddi_adapter *a, HANDLE device)
{
    CALL_STATUS(a, DxgkDdiDestroyDevice, device);
}

NTSTATUS ddi_create_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATECONTEXT *args)
{
    CALL_STATUS(a, DxgkDdiCreateContext, device, args);
}

NTSTATUS ddi_destroy_context(struct ddi_adapter *a, HANDLE context)
{
    CALL_STATUS(a, DxgkDdiDestroyContext, context);
}

NTSTATUS ddi_create_cpu_event(struct ddi_adapter *a, DXGKARG_CREATECPUEVENT *args)
{
    CALL_STATUS(a, DxgkDdiCreateCpuEvent, a->context, args);
}

NTSTATUS ddi_destroy_cpu_event(struct ddi_adapter *a, HANDLE event)
{
    CALL_STATUS(a, DxgkDdiDestroyCpuEvent, a->context, event);
}

/* ---- allocations ---- */

NTSTATUS ddi_create_allocation(struct ddi_adapter *a, DXGKARG_CREATEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiCreateAllocation, a->context, args);
}

NTSTATUS ddi_destroy_allocation(struct ddi_adapter *a, const DXGKARG_DESTROYALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiDestroyAllocation, a->context, args);
}

NTSTATUS ddi_open_allocation(struct ddi_adapter *a, HANDLE device,
                             const DXGKARG_OPENALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiOpenAllocation, device, args);
}

NTSTATUS ddi_close_allocation(struct ddi_adapter *a, HANDLE device,
                              const DXGKARG_CLOSEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiCloseAllocation, device, args);
}

NTSTATUS ddi_describe_allocation(struct ddi_adapter *a, DXGKARG_DESCRIBEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiDescribeAllocation, a->context, args);
}

NTSTATUS ddi_set_allocation_backing_store(struct ddi_adapter *a,
                                          const DXGKARG_SETALLOCATIONBACKINGSTORE *args)
{
    CALL_STATUS(a, DxgkDdiSetAllocationBackingStore, a->context, args);
}

/* ---- paging and page tables ---- */

SIZE_T ddi_get_root_page_table_size(struct ddi_adapter *a, DXGKARG_GETROOTPAGETABLESIZE *args)
{
    struct ddi_call call;
    SIZE_T bytes;

    if (!NT_SUCCESS(ddi_enter(&call, a, DDI_DxgkDdiGetRootPageTableSize)))
        return 0;
    bytes = a->table.DxgkDdiGetRootPageTableSize(a->context, args);
    ddi_leave(&call);
    return bytes;
}

void ddi_set_root_page_table(struct ddi_adapter *a, const DXGKARG_SETROOTPAGETABLE *args)
{
    CALL_VOID(a, DxgkDdiSetRootPageTable, a->context, args);
}

NTSTATUS ddi_build_paging_buffer(struct ddi_adapter *a, DXGKARG_BUILDPAGINGBUFFER *args)
{
    CALL_STATUS(a, DxgkDdiBuildPagingBuffer, a->context, args);
}

/* ---- submission ---- */

NTSTATUS ddi_render(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args)
{
    CALL_STATUS(a, DxgkDdiRender, context, args);
}

NTSTATUS ddi_patch(struct ddi_adapter *a, const DXGKARG_PATCH *args)
{
    CALL_STATUS(a, DxgkDdiPatch, a->context, args);
}

NTSTATUS ddi_submit_command(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMAND *args)
{
    CALL_STATUS(a, DxgkDdiSubmitCommand, a->context, args);
}

NTSTATUS ddi_submit_command_virtual(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    CALL_STATUS(a, DxgkDdiSubmitCommandVirtual, a->context, args);
}

NTSTATUS ddi_preempt_command(struct ddi_adapter *a, const DXGKARG_PREEMPTCOMMAND *args)
{
    CALL_STATUS_AT(a, DxgkDdiPreemptCommand, LEVEL_SCHEDULER,
                   a->low_irql_preempt ? SIM_IRQL_PASSIVE : SIM_IRQL_DISPATCH, a->context, args);
}

NTSTATUS ddi_cancel_command(struct ddi_adapter *a, const DXGKARG_CANCELCOMMAND *args)
{
    CALL_STATUS(a, DxgkDdiCancelCommand, a->context, args);
}

NTSTATUS ddi_query_current_fence(struct ddi_adapter *a, DXGKARG_QUERYCURRENTFENCE *args)
{
    CALL_STATUS(a, DxgkDdiQueryCurrentFence, a->context, args);
}

NTSTATUS ddi_query_dependent_engine_group(struct ddi_adapter *a,
                                          DXGKARG_QUERYDEPENDENTENGINEGROUP *args)
{
    CALL_STATUS(a, DxgkDdiQueryDependentEngineGroup, a->context, args);
}

NTSTATUS ddi_query_engine_status(struct ddi_adapter *a, DXGKARG_QUERYENGINESTATUS *args)
{
    CALL_STATUS(a, DxgkDdiQueryEngineStatus, a->context, args);
}

NTSTATUS ddi_reset_engine(struct ddi_adapter *a, DXGKARG_RESETENGINE *args)
{
    CALL_STATUS(a, DxgkDdiResetEngine, a->context, args);
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
    CALL_STATUS(a, DxgkDdiCollectDbgInfo, a->context, args); /* TDR-070 */
}

NTSTATUS ddi_begin_exclusive_access(struct ddi_adapter *a, DXGKARG_BEGINEXCLUSIVEACCESS *args)
{
    CALL_STATUS(a, DxgkDdiBeginExclusiveAccess, a->context, args);
}

NTSTATUS ddi_end_exclusive_access(struct ddi_adapter *a, DXGKARG_ENDEXCLUSIVEACCESS *args)
{
    CALL_STATUS(a, DxgkDdiEndExclusiveAccess, a->context, args);
}

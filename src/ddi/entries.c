/* SPDX-License-Identifier: MIT */
/*
 * The typed entries of the client's work: each names its level, class, IRQL and limit of virtual time, and calls through
 * the door. Those of the adapter's life are in entries_life.c.
 * Levels: THREAD-014 to THREAD-030; IRQLs: THREAD-038 to THREAD-044.
 */
#include "ddi/ddi_private.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* ---- processes, devices, contexts ---- */

NTSTATUS ddi_create_process(struct ddi_adapter *a, DXGKARG_CREATEPROCESS *args)
{
    CALL_STATUS(a, DxgkDdiCreateProcess, LEVEL_ZERO, PASSIVE, LIMIT_LONG, a->context, args);
}

NTSTATUS ddi_destroy_process(struct ddi_adapter *a, HANDLE process)
{
    CALL_STATUS(a, DxgkDdiDestroyProcess, LEVEL_ZERO, PASSIVE, LIMIT_LONG, a->context, process);
}

NTSTATUS ddi_create_device(struct ddi_adapter *a, DXGKARG_CREATEDEVICE *args)
{
    CALL_STATUS(a, DxgkDdiCreateDevice, LEVEL_ZERO, PASSIVE, LIMIT_LONG, a->context, args);
}

NTSTATUS ddi_destroy_device(struct ddi_adapter *a, HANDLE device)
{
    CALL_STATUS(a, DxgkDdiDestroyDevice, LEVEL_ZERO, PASSIVE, LIMIT_LONG, device);
}

NTSTATUS ddi_create_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATECONTEXT *args)
{
    CALL_STATUS(a, DxgkDdiCreateContext, LEVEL_ZERO, PASSIVE, LIMIT_LONG, device, args);
}

NTSTATUS ddi_destroy_context(struct ddi_adapter *a, HANDLE context)
{
    CALL_STATUS(a, DxgkDdiDestroyContext, LEVEL_ZERO, PASSIVE, LIMIT_LONG, context);
}

NTSTATUS ddi_create_cpu_event(struct ddi_adapter *a, DXGKARG_CREATECPUEVENT *args)
{
    CALL_STATUS(a, DxgkDdiCreateCpuEvent, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_destroy_cpu_event(struct ddi_adapter *a, HANDLE event)
{
    CALL_STATUS(a, DxgkDdiDestroyCpuEvent, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, event);
}

/* ---- allocations ---- */

NTSTATUS ddi_create_allocation(struct ddi_adapter *a, DXGKARG_CREATEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiCreateAllocation, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_destroy_allocation(struct ddi_adapter *a, const DXGKARG_DESTROYALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiDestroyAllocation, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_open_allocation(struct ddi_adapter *a, HANDLE device,
                             const DXGKARG_OPENALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiOpenAllocation, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, device, args);
}

NTSTATUS ddi_close_allocation(struct ddi_adapter *a, HANDLE device,
                              const DXGKARG_CLOSEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiCloseAllocation, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, device, args);
}

NTSTATUS ddi_describe_allocation(struct ddi_adapter *a, DXGKARG_DESCRIBEALLOCATION *args)
{
    CALL_STATUS(a, DxgkDdiDescribeAllocation, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_set_allocation_backing_store(struct ddi_adapter *a,
                                          const DXGKARG_SETALLOCATIONBACKINGSTORE *args)
{
    CALL_STATUS(a, DxgkDdiSetAllocationBackingStore, LEVEL_VIDMM, PASSIVE, LIMIT_SHORT, a->context,
                args);
}

/* ---- paging and page tables ---- */

SIZE_T ddi_get_root_page_table_size(struct ddi_adapter *a, DXGKARG_GETROOTPAGETABLESIZE *args)
{
    struct ddi_call call;
    SIZE_T bytes;

    if (!NT_SUCCESS(
            ddi_enter(&call, a, "DxgkDdiGetRootPageTableSize", LEVEL_VIDMM, PASSIVE, LIMIT_SHORT)))
        return 0;
    bytes = a->table.DxgkDdiGetRootPageTableSize(a->context, args);
    ddi_leave(&call);
    return bytes;
}

void ddi_set_root_page_table(struct ddi_adapter *a, const DXGKARG_SETROOTPAGETABLE *args)
{
    CALL_VOID(a, DxgkDdiSetRootPageTable, LEVEL_ROOT, PASSIVE, LIMIT_LONG, a->context, args);
}

NTSTATUS ddi_build_paging_buffer(struct ddi_adapter *a, DXGKARG_BUILDPAGINGBUFFER *args)
{
    CALL_STATUS(a, DxgkDdiBuildPagingBuffer, LEVEL_SCHEDULER, PASSIVE, LIMIT_SHORT, a->context,
                args);
}

/* ---- submission ---- */

NTSTATUS ddi_render(struct ddi_adapter *a, HANDLE context, DXGKARG_RENDER *args)
{
    CALL_STATUS(a, DxgkDdiRender, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, context, args);
}

NTSTATUS ddi_patch(struct ddi_adapter *a, const DXGKARG_PATCH *args)
{
    CALL_STATUS(a, DxgkDdiPatch, LEVEL_SCHEDULER, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_submit_command(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMAND *args)
{
    CALL_STATUS(a, DxgkDdiSubmitCommand, LEVEL_SCHEDULER, DISPATCH, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_submit_command_virtual(struct ddi_adapter *a, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    CALL_STATUS(a, DxgkDdiSubmitCommandVirtual, LEVEL_SCHEDULER, DISPATCH, LIMIT_SHORT, a->context,
                args);
}

NTSTATUS ddi_preempt_command(struct ddi_adapter *a, const DXGKARG_PREEMPTCOMMAND *args)
{
    CALL_STATUS(a, DxgkDdiPreemptCommand, LEVEL_SCHEDULER, a->low_irql_preempt ? PASSIVE : DISPATCH,
                LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_cancel_command(struct ddi_adapter *a, const DXGKARG_CANCELCOMMAND *args)
{
    CALL_STATUS(a, DxgkDdiCancelCommand, LEVEL_SCHEDULER, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_query_current_fence(struct ddi_adapter *a, DXGKARG_QUERYCURRENTFENCE *args)
{
    CALL_STATUS(a, DxgkDdiQueryCurrentFence, LEVEL_ZERO, PASSIVE, LIMIT_SHORT, a->context, args);
}

NTSTATUS ddi_query_dependent_engine_group(struct ddi_adapter *a,
                                          DXGKARG_QUERYDEPENDENTENGINEGROUP *args)
{
    CALL_STATUS(a, DxgkDdiQueryDependentEngineGroup, LEVEL_SCHEDULER, PASSIVE, LIMIT_SHORT,
                a->context, args);
}

NTSTATUS ddi_query_engine_status(struct ddi_adapter *a, DXGKARG_QUERYENGINESTATUS *args)
{
    CALL_STATUS(a, DxgkDdiQueryEngineStatus, LEVEL_SCHEDULER, PASSIVE, LIMIT_SHORT, a->context,
                args);
}

NTSTATUS ddi_reset_engine(struct ddi_adapter *a, DXGKARG_RESETENGINE *args)
{
    CALL_STATUS(a, DxgkDdiResetEngine, LEVEL_SCHEDULER, PASSIVE, LIMIT_LONG, a->context, args);
}

NTSTATUS ddi_reset_from_timeout(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiResetFromTimeout, LEVEL_ALONE, PASSIVE, LIMIT_LONG, a->context);
}

NTSTATUS ddi_restart_from_timeout(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiRestartFromTimeout, LEVEL_ALONE, PASSIVE, LIMIT_LONG, a->context);
}

NTSTATUS ddi_collect_dbg_info(struct ddi_adapter *a, const DXGKARG_COLLECTDBGINFO *args)
{
    CALL_STATUS(a, DxgkDdiCollectDbgInfo, LEVEL_NONE, sim_irql(), SIM_FOREVER, a->context,
                args); /* TDR-070 */
}

NTSTATUS ddi_begin_exclusive_access(struct ddi_adapter *a, DXGKARG_BEGINEXCLUSIVEACCESS *args)
{
    CALL_STATUS(a, DxgkDdiBeginExclusiveAccess, LEVEL_ALONE, PASSIVE, LIMIT_LONG, a->context, args);
}

NTSTATUS ddi_end_exclusive_access(struct ddi_adapter *a, DXGKARG_ENDEXCLUSIVEACCESS *args)
{
    CALL_STATUS(a, DxgkDdiEndExclusiveAccess, LEVEL_ALONE, PASSIVE, LIMIT_LONG, a->context, args);
}

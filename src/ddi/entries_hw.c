/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of hardware scheduling, as those of entries.c. Of levels and IRQLs only those
 * of the submission are documented (THREAD-015, THREAD-020, THREAD-022, THREAD-041). */
#include "ddi/entries_hw.h"
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/irql.h"
#include "sim/machine.h"

NTSTATUS ddi_create_hw_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATEHWCONTEXT *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateHwContext, args, ddi_parts_create_hw_context, device);
}

NTSTATUS ddi_destroy_hw_context(struct ddi_adapter *a, HANDLE context)
{
    CALL_STATUS(a, DxgkDdiDestroyHwContext, context);
}

NTSTATUS ddi_create_hw_queue(struct ddi_adapter *a, HANDLE context, DXGKARG_CREATEHWQUEUE *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateHwQueue, args, ddi_parts_create_hw_queue, context);
}

NTSTATUS ddi_destroy_hw_queue(struct ddi_adapter *a, HANDLE queue)
{
    CALL_STATUS(a, DxgkDdiDestroyHwQueue, queue);
}

NTSTATUS ddi_submit_command_to_hw_queue(struct ddi_adapter *a,
                                        const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args, bool raised)
{
    CALL_PARTS_AT(a, DxgkDdiSubmitCommandToHwQueue, LEVEL_ZERO,
                  raised ? SIM_IRQL_DISPATCH : SIM_IRQL_PASSIVE, args, NULL,
                  ddi_parts_submit_to_hw_queue, a->context);
}

NTSTATUS ddi_set_scheduling_log_buffer(struct ddi_adapter *a,
                                       const DXGKARG_SETSCHEDULINGLOGBUFFER *args)
{
    CALL_IN(a, DxgkDdiSetSchedulingLogBuffer, args, a->context);
}

NTSTATUS ddi_setup_priority_bands(struct ddi_adapter *a, const DXGKARG_SETUPPRIORITYBANDS *args)
{
    CALL_IN(a, DxgkDdiSetupPriorityBands, args, a->context);
}

NTSTATUS
ddi_set_context_scheduling_properties(struct ddi_adapter *a,
                                      const DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES *args)
{
    CALL_IN(a, DxgkDdiSetContextSchedulingProperties, args, a->context);
}

NTSTATUS ddi_suspend_context(struct ddi_adapter *a, const DXGKARG_SUSPENDCONTEXT *args)
{
    CALL_IN(a, DxgkDdiSuspendContext, args, a->context);
}

NTSTATUS ddi_resume_context(struct ddi_adapter *a, const DXGKARG_RESUMECONTEXT *args)
{
    CALL_IN(a, DxgkDdiResumeContext, args, a->context);
}

NTSTATUS ddi_reset_hw_engine(struct ddi_adapter *a, DXGKARG_RESETHWENGINE *args)
{
    CALL_BOTH(a, DxgkDdiResetHwEngine, args, a->context);
}

NTSTATUS ddi_resume_hw_engine(struct ddi_adapter *a, DXGKARG_RESUMEHWENGINE *args)
{
    CALL_BOTH(a, DxgkDdiResumeHwEngine, args, a->context);
}

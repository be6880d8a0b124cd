/* SPDX-License-Identifier: MIT */
/* The entries of hardware scheduling; as those in ddi.h. */
#ifndef DXGK_DDI_ENTRIES_HW_H
#define DXGK_DDI_ENTRIES_HW_H

#include "ddi/ddi.h"

NTSTATUS ddi_create_hw_context(struct ddi_adapter *a, HANDLE device, DXGKARG_CREATEHWCONTEXT *args);
NTSTATUS ddi_destroy_hw_context(struct ddi_adapter *a, HANDLE context);
NTSTATUS ddi_create_hw_queue(struct ddi_adapter *a, HANDLE context, DXGKARG_CREATEHWQUEUE *args);
NTSTATUS ddi_destroy_hw_queue(struct ddi_adapter *a, HANDLE queue);
/* `raised`: at DISPATCH_LEVEL (THREAD-041). */
NTSTATUS ddi_submit_command_to_hw_queue(struct ddi_adapter *a,
                                        const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args, bool raised);
NTSTATUS ddi_setup_priority_bands(struct ddi_adapter *a, const DXGKARG_SETUPPRIORITYBANDS *args);
NTSTATUS
ddi_set_context_scheduling_properties(struct ddi_adapter *a,
                                      const DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES *args);
NTSTATUS ddi_set_scheduling_log_buffer(struct ddi_adapter *a,
                                       const DXGKARG_SETSCHEDULINGLOGBUFFER *args);
NTSTATUS ddi_suspend_context(struct ddi_adapter *a, const DXGKARG_SUSPENDCONTEXT *args);
NTSTATUS ddi_resume_context(struct ddi_adapter *a, const DXGKARG_RESUMECONTEXT *args);
NTSTATUS ddi_reset_hw_engine(struct ddi_adapter *a, DXGKARG_RESETHWENGINE *args);
NTSTATUS ddi_resume_hw_engine(struct ddi_adapter *a, DXGKARG_RESUMEHWENGINE *args);

#endif

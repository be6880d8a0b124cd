/* SPDX-License-Identifier: MIT */
/* The entries of native fences; as those in ddi.h. */
#ifndef DXGK_DDI_ENTRIES_FENCE_H
#define DXGK_DDI_ENTRIES_FENCE_H

#include "ddi/ddi.h"

NTSTATUS ddi_create_native_fence(struct ddi_adapter *a, DXGKARG_CREATENATIVEFENCE *args);
NTSTATUS ddi_destroy_native_fence(struct ddi_adapter *a, HANDLE fence);
/* At the level of the interrupt and under its lock (SUBMIT-150). */
NTSTATUS ddi_update_monitored_values(struct ddi_adapter *a,
                                     const DXGKARG_UPDATEMONITOREDVALUES *args);
NTSTATUS ddi_notify_current_value_updates(struct ddi_adapter *a,
                                          const DXGKARG_NOTIFYCURRENTVALUEUPDATES *args);

#endif

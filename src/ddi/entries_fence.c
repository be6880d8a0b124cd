/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of native fences. Those that update values get no adapter: the driver knows
 * it by the handles. */
#include "ddi/entries_fence.h"
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/irql.h"
#include "sim/machine.h"

NTSTATUS ddi_create_native_fence(struct ddi_adapter *a, DXGKARG_CREATENATIVEFENCE *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCreateNativeFence, args, ddi_parts_create_native_fence, a->context);
}

NTSTATUS ddi_destroy_native_fence(struct ddi_adapter *a, HANDLE fence)
{
    CALL_STATUS(a, DxgkDdiDestroyNativeFence, fence);
}

/* ---- values ---- */

struct update {
    struct ddi_adapter *adapter;
    struct ddi_parts passed;
    NTSTATUS status;
};

static bool update(void *arg)
{
    struct update *update = arg;
    struct ddi_adapter *a = update->adapter;
    struct ddi_call call;

    update->status = ddi_enter_at(&call, a, DDI_DxgkDdiUpdateMonitoredValues, LEVEL_NONE,
                                  sim_current->irql);
    if (!NT_SUCCESS(update->status)) {
        (void)ddi_parts_refuse(&update->passed, update->status);
        return false;
    }
    update->status = a->table.DxgkDdiUpdateMonitoredValues(update->passed.structure.data);
    ddi_returned(&call);
    ddi_parts_check(&update->passed, (uintptr_t)a->table.DxgkDdiUpdateMonitoredValues);
    ddi_parts_end(&update->passed, NULL);
    update->status = ddi_leave_with(&call, update->status);
    return true;
}

NTSTATUS ddi_update_monitored_values(struct ddi_adapter *a,
                                     const DXGKARG_UPDATEMONITOREDVALUES *args)
{
    struct update call = {.adapter = a};

    if (!ddi_parts_lend(&call.passed, ddi_parts_monitored_values, args, sizeof(*args),
                        ddi_structure_DxgkDdiUpdateMonitoredValues))
        return ddi_parts_refuse(&call.passed, STATUS_NO_MEMORY);
    if (a->synchronize)
        a->synchronize(a, update, &call);
    else
        (void)update(&call);
    return call.status;
}

NTSTATUS ddi_notify_current_value_updates(struct ddi_adapter *a,
                                          const DXGKARG_NOTIFYCURRENTVALUEUPDATES *args)
{
    struct ddi_parts passed;
    struct ddi_call call;
    NTSTATUS status = ddi_parts_lend(&passed, ddi_parts_current_values, args, sizeof(*args),
                                     ddi_structure_DxgkDdiNotifyCurrentValueUpdates)
                          ? ddi_enter(&call, a, DDI_DxgkDdiNotifyCurrentValueUpdates)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_parts_refuse(&passed, status);
    status = a->table.DxgkDdiNotifyCurrentValueUpdates(passed.structure.data);
    ddi_returned(&call);
    ddi_parts_check(&passed, (uintptr_t)a->table.DxgkDdiNotifyCurrentValueUpdates);
    ddi_parts_end(&passed, NULL);
    return ddi_leave_with(&call, status);
}

/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of submission from user mode. They get no adapter: the driver knows it by the
 * handles. */
#include "ddi/entries_doorbell.h"
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/machine.h"

NTSTATUS ddi_create_doorbell(struct ddi_adapter *a, DXGKARG_CREATEDOORBELL *args)
{
    struct ddi_parts passed;
    struct ddi_call call;
    NTSTATUS status = ddi_parts_lend(&passed, ddi_parts_create_doorbell, args, sizeof(*args),
                                     ddi_structure_DxgkDdiCreateDoorbell)
                          ? ddi_enter(&call, a, DDI_DxgkDdiCreateDoorbell)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_parts_refuse(&passed, status);
    status = a->table.DxgkDdiCreateDoorbell(passed.structure.data);
    ddi_returned(&call);
    ddi_parts_check(&passed, (uintptr_t)a->table.DxgkDdiCreateDoorbell);
    ddi_parts_end(&passed, args);
    return ddi_leave_with(&call, status);
}

/* As CALL_BOTH, for an entry with one argument. */
#define CALL_ALONE(adapter, entry_, args)                                                    \
    struct ddi_lent passed;                                                                  \
    struct ddi_call call;                                                                    \
    NTSTATUS status = ddi_structure_lend(&passed, DDI_##entry_, args, sizeof(*(args)),       \
                                         ddi_structure_##entry_)                             \
                          ? ddi_enter(&call, adapter, DDI_##entry_)                          \
                          : STATUS_NO_MEMORY;                                                \
                                                                                             \
    if (!NT_SUCCESS(status))                                                                 \
        return ddi_lent_refuse(&passed, status);                                             \
    status = (adapter)->table.entry_(passed.data);                                           \
    ddi_returned(&call);                                                                     \
    ddi_structure_check(&passed, sizeof(*(args)), true, (uintptr_t)(adapter)->table.entry_); \
    ddi_structure_end(&passed, DDI_##entry_, sizeof(*(args)), args);                         \
    return ddi_leave_with(&call, status)

NTSTATUS ddi_connect_doorbell(struct ddi_adapter *a, DXGKARG_CONNECTDOORBELL *args)
{
    CALL_ALONE(a, DxgkDdiConnectDoorbell, args);
}

NTSTATUS ddi_disconnect_doorbell(struct ddi_adapter *a, DXGKARG_DISCONNECTDOORBELL *args)
{
    CALL_ALONE(a, DxgkDdiDisconnectDoorbell, args);
}

NTSTATUS ddi_destroy_doorbell(struct ddi_adapter *a, DXGKARG_DESTROYDOORBELL *args)
{
    CALL_ALONE(a, DxgkDdiDestroyDoorbell, args);
}

NTSTATUS ddi_notify_work_submission(struct ddi_adapter *a, DXGKARG_NOTIFYWORKSUBMISSION *args)
{
    CALL_ALONE(a, DxgkDdiNotifyWorkSubmission, args);
}

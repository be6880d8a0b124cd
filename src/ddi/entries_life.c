/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of the adapter's life: start, stop, power, children, interrupts; otherwise
 * like entries.c. */
#include "ddi/door.h"

#include "sim/irql.h"

/* ---- the adapter's life ---- */

NTSTATUS ddi_add_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PVOID *context)
{
    CALL_STATUS(a, DxgkDdiAddDevice, pdo, context);
}

NTSTATUS ddi_link_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PLINKED_DEVICE linked)
{
    CALL_BOTH(a, DxgkDdiLinkDevice, linked, pdo, a->context);
}

NTSTATUS ddi_exchange_pre_start_info(struct ddi_adapter *a, PDXGK_PRE_START_INFO info)
{
    CALL_BOTH(a, DxgkDdiExchangePreStartInfo, info, a->context);
}

NTSTATUS ddi_start_device(struct ddi_adapter *a, PDXGK_START_INFO info, PDXGKRNL_INTERFACE services,
                          PULONG sources, PULONG children)
{
    CALL_STATUS(a, DxgkDdiStartDevice, a->context, info, services, sources, children);
}

NTSTATUS ddi_stop_device(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiStopDevice, a->context);
}

NTSTATUS ddi_remove_device(struct ddi_adapter *a)
{
    CALL_STATUS(a, DxgkDdiRemoveDevice, a->context);
}

void ddi_unload(struct ddi_adapter *a)
{
    CALL_VOID(a, DxgkDdiUnload);
}

NTSTATUS ddi_query_adapter_info(struct ddi_adapter *a, const DXGKARG_QUERYADAPTERINFO *args)
{
    CALL_IN(a, DxgkDdiQueryAdapterInfo, args, a->context);
}

NTSTATUS ddi_get_node_metadata(struct ddi_adapter *a, UINT node, DXGKARG_GETNODEMETADATA *args)
{
    CALL_BOTH(a, DxgkDdiGetNodeMetadata, args, a->context, node);
}

NTSTATUS ddi_query_child_relations(struct ddi_adapter *a, PDXGK_CHILD_DESCRIPTOR children,
                                   ULONG bytes)
{
    CALL_STATUS(a, DxgkDdiQueryChildRelations, a->context, children, bytes);
}

NTSTATUS ddi_query_child_status(struct ddi_adapter *a, PDXGK_CHILD_STATUS child)
{
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, child, sizeof(*child), "DXGK_CHILD_STATUS")
                          ? ddi_enter_child(&call, a, DDI_DxgkDdiQueryChildStatus, child->ChildUid)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = a->table.DxgkDdiQueryChildStatus(a->context, passed.data, FALSE);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiQueryChildStatus);
    ddi_lent_end(&passed, child);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_query_device_descriptor(struct ddi_adapter *a, ULONG child,
                                     PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, descriptor, sizeof(*descriptor), "DXGK_DEVICE_DESCRIPTOR")
                          ? ddi_enter_child(&call, a, DDI_DxgkDdiQueryDeviceDescriptor, child)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = a->table.DxgkDdiQueryDeviceDescriptor(a->context, child, passed.data);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiQueryDeviceDescriptor);
    ddi_lent_end(&passed, descriptor);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_notify_acpi_event(struct ddi_adapter *a, DXGK_EVENT_TYPE type, ULONG event,
                               PVOID argument, PULONG flags)
{
    CALL_STATUS(a, DxgkDdiNotifyAcpiEvent, a->context, type, event, argument, flags);
}

NTSTATUS ddi_notify_surprise_removal(struct ddi_adapter *a, DXGK_SURPRISE_REMOVAL_TYPE type)
{
    CALL_STATUS(a, DxgkDdiNotifySurpriseRemoval, a->context, type);
}

void ddi_reset_device(struct ddi_adapter *a)
{
    CALL_VOID(a, DxgkDdiResetDevice, a->context);
}

void ddi_set_stable_power_state(struct ddi_adapter *a, BOOLEAN enable)
{
    const DXGKARG_SETSTABLEPOWERSTATE args = {.Enabled = enable};

    CALL_VOID(a, DxgkDdiSetStablePowerState, a->context, &args);
}

NTSTATUS ddi_set_power_component_f_state(struct ddi_adapter *a, UINT component, UINT state,
                                         uint8_t irql)
{
    CALL_STATUS_AT(a, DxgkDdiSetPowerComponentFState, LEVEL_POWER, irql, a->context, component,
                   state);
}

NTSTATUS ddi_power_runtime_control_request(struct ddi_adapter *a, const GUID *code, uint8_t irql)
{
    SIZE_T returned = 0;

    CALL_STATUS_AT(a, DxgkDdiPowerRuntimeControlRequest, LEVEL_POWER, irql, a->context, code, NULL,
                   0, NULL, 0, &returned);
}

NTSTATUS ddi_set_power_state(struct ddi_adapter *a, ULONG uid, DEVICE_POWER_STATE state,
                             POWER_ACTION action)
{
    CALL_STATUS(a, DxgkDdiSetPowerState, a->context, uid, state, action);
}

void ddi_control_etw_logging(struct ddi_adapter *a, BOOLEAN enable, ULONG flags, UCHAR level)
{
    CALL_VOID(a, DxgkDdiControlEtwLogging, enable, flags, level);
}

BOOLEAN ddi_interrupt_routine(struct ddi_adapter *a, ULONG message)
{
    struct ddi_call call;
    BOOLEAN claimed;

    if (!NT_SUCCESS(ddi_enter(&call, a, DDI_DxgkDdiInterruptRoutine)))
        return FALSE;
    claimed = a->table.DxgkDdiInterruptRoutine(a->context, message);
    ddi_leave(&call);
    return claimed;
}

void ddi_dpc_routine(struct ddi_adapter *a)
{
    CALL_VOID(a, DxgkDdiDpcRoutine, a->context);
}

static NTSTATUS call_escape(struct ddi_adapter *a, const DXGKARG_ESCAPE *args, struct ddi_lent *data)
{
    struct ddi_lent passed;
    struct ddi_call call;
    /* LIFE-137: with HardwareAccess, the thread is alone in the driver. */
    enum ddi_level level = args->Flags.HardwareAccess ? LEVEL_ALONE : LEVEL_ZERO;
    uintptr_t routine = (uintptr_t)a->table.DxgkDdiEscape;
    NTSTATUS status = ddi_lend(&passed, args, sizeof(*args), "DXGKARG_ESCAPE")
                          ? ddi_enter_at(&call, a, DDI_DxgkDdiEscape, level, SIM_IRQL_PASSIVE)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = a->table.DxgkDdiEscape(a->context, passed.data);
    ddi_returned(&call);
    ddi_lent_check(data, true, routine);
    ddi_lent_check(&passed, true, routine);
    ddi_lent_end(&passed, NULL);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_escape(struct ddi_adapter *a, const DXGKARG_ESCAPE *args)
{
    struct ddi_lent data;
    DXGKARG_ESCAPE with_copy = *args;
    NTSTATUS status;

    if (!ddi_lend(&data, args->pPrivateDriverData, args->PrivateDriverDataSize,
                  "the private data of DXGKARG_ESCAPE"))
        return STATUS_NO_MEMORY;
    with_copy.pPrivateDriverData = data.data;
    status = call_escape(a, &with_copy, &data);
    ddi_lent_end(&data, args->pPrivateDriverData);
    return status;
}

/* ---- interfaces and requests of others: level two ---- */

NTSTATUS ddi_query_interface(struct ddi_adapter *a, PQUERY_INTERFACE query)
{
    CALL_BOTH(a, DxgkDdiQueryInterface, query, a->context);
}

NTSTATUS ddi_dispatch_io_request(struct ddi_adapter *a, ULONG source, PVIDEO_REQUEST_PACKET packet)
{
    CALL_STATUS(a, DxgkDdiDispatchIoRequest, a->context, source, packet);
}

void ddi_dereference_interface(struct ddi_adapter *a, PINTERFACE_DEREFERENCE routine, PVOID context)
{
    struct ddi_call call;

    if (!NT_SUCCESS(ddi_enter(&call, a, DDI_InterfaceDereference)))
        return;
    routine(context);
    ddi_leave(&call);
}

/* THREAD-022: has no documented level. */
NTSTATUS ddi_query_feature_support(struct ddi_adapter *a, PDXGKDDI_QUERYFEATURESUPPORT routine,
                                   DXGKARG_QUERYFEATURESUPPORT *args)
{
    DXGKARG_QUERYFEATURESUPPORT passed = *args;
    struct ddi_call call;
    NTSTATUS status = ddi_enter(&call, a, DDI_DxgkDdiQueryFeatureSupport);

    if (!NT_SUCCESS(status))
        return status;
    status = routine(a->context, &passed);
    ddi_returned(&call);
    *args = passed;
    return ddi_leave_with(&call, status);
}

/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of the adapter's life: start, stop, power, children, interrupts; otherwise
 * like entries.c. */
#include "ddi/door.h"
#include "ddi/told.h"
#include "ddi/parts.h"
#include "ddi/state.h"

#include "sim/irql.h"

/* Call an entry that gets the address of a value or an array, which is lent and comes back. */
#define CALL_LENT_BYTES(adapter, entry_, value, bytes_, what, ...)     \
    struct ddi_lent passed;                                            \
    struct ddi_call call;                                              \
    NTSTATUS status = ddi_lend(&passed, value, bytes_, what)           \
                          ? ddi_enter(&call, adapter, DDI_##entry_)    \
                          : STATUS_NO_MEMORY;                          \
                                                                       \
    if (!NT_SUCCESS(status))                                           \
        return ddi_lent_refuse(&passed, status);                       \
    status = (adapter)->table.entry_(__VA_ARGS__);                     \
    ddi_returned(&call);                                               \
    ddi_lent_check(&passed, true, (uintptr_t)(adapter)->table.entry_); \
    ddi_lent_end(&passed, value);                                      \
    return ddi_leave_with(&call, status)
#define CALL_LENT_ALONE(adapter, entry_, value, what, ...) \
    CALL_LENT_BYTES(adapter, entry_, value, sizeof(*(value)), what, __VA_ARGS__)

/* ---- the adapter's life ---- */

NTSTATUS ddi_add_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PVOID *context)
{
    CALL_LENT_ALONE(a, DxgkDdiAddDevice, context, "the MiniportDeviceContext of DxgkDdiAddDevice",
                    pdo, passed.data);
}

NTSTATUS ddi_link_device(struct ddi_adapter *a, PDEVICE_OBJECT pdo, PLINKED_DEVICE linked)
{
    CALL_BOTH(a, DxgkDdiLinkDevice, linked, pdo, a->context);
}

NTSTATUS ddi_exchange_pre_start_info(struct ddi_adapter *a, PDXGK_PRE_START_INFO info)
{
    CALL_BOTH(a, DxgkDdiExchangePreStartInfo, info, a->context);
}

/* What the caller has on loan. */
static void check_loan(const void *memory, uintptr_t routine)
{
    const struct ddi_loan *loan = ddi_loan_at((uintptr_t)memory);

    if (loan)
        ddi_loan_check(loan, routine);
}

NTSTATUS ddi_start_device(struct ddi_adapter *a, PDXGK_START_INFO info, PDXGKRNL_INTERFACE services,
                          PULONG sources, PULONG children)
{
    const uintptr_t routine = (uintptr_t)a->table.DxgkDdiStartDevice;
    struct ddi_lent of_sources, of_children;
    struct ddi_call call;
    NTSTATUS status;

    if (!ddi_lend(&of_sources, sources, sizeof(*sources),
                  "NumberOfVideoPresentSources of DxgkDdiStartDevice"))
        return STATUS_NO_MEMORY;
    if (!ddi_lend(&of_children, children, sizeof(*children),
                  "NumberOfChildren of DxgkDdiStartDevice"))
        return ddi_lent_refuse(&of_sources, STATUS_NO_MEMORY);
    status = ddi_enter(&call, a, DDI_DxgkDdiStartDevice);
    if (!NT_SUCCESS(status)) {
        ddi_lent_end(&of_children, NULL);
        return ddi_lent_refuse(&of_sources, status);
    }
    status = a->table.DxgkDdiStartDevice(a->context, info, services, of_sources.data,
                                         of_children.data);
    ddi_returned(&call);
    ddi_lent_check(&of_sources, true, routine);
    ddi_lent_check(&of_children, true, routine);
    check_loan(info, routine);
    check_loan(services, routine);
    ddi_lent_end(&of_children, children);
    ddi_lent_end(&of_sources, sources);
    return ddi_leave_with(&call, status);
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
    CALL_PARTS_IN(a, DxgkDdiQueryAdapterInfo, args, ddi_parts_query_adapter_info, a->context);
}

NTSTATUS ddi_get_node_metadata(struct ddi_adapter *a, UINT node, DXGKARG_GETNODEMETADATA *args)
{
    CALL_BOTH(a, DxgkDdiGetNodeMetadata, args, a->context, node);
}

NTSTATUS ddi_query_child_relations(struct ddi_adapter *a, PDXGK_CHILD_DESCRIPTOR children,
                                   ULONG bytes)
{
    CALL_LENT_BYTES(a, DxgkDdiQueryChildRelations, children, bytes,
                    "the array of DXGK_CHILD_DESCRIPTOR", a->context, passed.data, bytes);
}

NTSTATUS ddi_query_child_status(struct ddi_adapter *a, PDXGK_CHILD_STATUS child,
                                BOOLEAN non_destructive_only)
{
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, child, sizeof(*child), "DXGK_CHILD_STATUS")
                          ? ddi_enter_child(&call, a, DDI_DxgkDdiQueryChildStatus, child->ChildUid)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = a->table.DxgkDdiQueryChildStatus(a->context, passed.data, non_destructive_only);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiQueryChildStatus);
    ddi_lent_end(&passed, child);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_query_device_descriptor(struct ddi_adapter *a, ULONG child,
                                     PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    struct ddi_parts passed;
    struct ddi_call call;
    NTSTATUS status = ddi_parts_lend(&passed, ddi_parts_query_device_descriptor, descriptor,
                                     sizeof(*descriptor), "DXGK_DEVICE_DESCRIPTOR")
                          ? ddi_enter_child(&call, a, DDI_DxgkDdiQueryDeviceDescriptor, child)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_parts_refuse(&passed, status);
    status = a->table.DxgkDdiQueryDeviceDescriptor(a->context, child, passed.structure.data);
    ddi_returned(&call);
    ddi_parts_check(&passed, (uintptr_t)a->table.DxgkDdiQueryDeviceDescriptor);
    ddi_parts_end(&passed, descriptor);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_notify_acpi_event(struct ddi_adapter *a, DXGK_EVENT_TYPE type, ULONG event,
                               PVOID argument, PULONG flags)
{
    CALL_LENT_ALONE(a, DxgkDdiNotifyAcpiEvent, flags, "AcpiFlags of DxgkDdiNotifyAcpiEvent",
                    a->context, type, event, argument, passed.data);
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

    struct ddi_lent passed;
    struct ddi_call call;

    if (!ddi_lend(&passed, &args, sizeof(args), "DXGKARG_SETSTABLEPOWERSTATE"))
        return;
    if (NT_SUCCESS(ddi_enter(&call, a, DDI_DxgkDdiSetStablePowerState))) {
        a->table.DxgkDdiSetStablePowerState(a->context, passed.data);
        ddi_returned(&call);
        ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiSetStablePowerState);
        ddi_leave(&call);
    }
    ddi_lent_end(&passed, NULL);
}

NTSTATUS ddi_set_power_component_f_state(struct ddi_adapter *a, UINT component, UINT state,
                                         uint8_t irql)
{
    CALL_STATUS_AT(a, DxgkDdiSetPowerComponentFState, LEVEL_POWER, irql, a->context, component,
                   state);
}

NTSTATUS ddi_power_runtime_control_request(struct ddi_adapter *a, const GUID *code, uint8_t irql)
{
    const uintptr_t routine = (uintptr_t)a->table.DxgkDdiPowerRuntimeControlRequest;
    SIZE_T returned = 0;
    struct ddi_lent of_code, of_returned;
    struct ddi_call call;
    NTSTATUS status;

    if (!ddi_lend(&of_code, code, sizeof(*code),
                  "PowerControlCode of DxgkDdiPowerRuntimeControlRequest"))
        return STATUS_NO_MEMORY;
    if (!ddi_lend(&of_returned, &returned, sizeof(returned),
                  "BytesReturned of DxgkDdiPowerRuntimeControlRequest"))
        return ddi_lent_refuse(&of_code, STATUS_NO_MEMORY);
    status = ddi_enter_at(&call, a, DDI_DxgkDdiPowerRuntimeControlRequest, LEVEL_POWER, irql);
    if (!NT_SUCCESS(status)) {
        ddi_lent_end(&of_returned, NULL);
        return ddi_lent_refuse(&of_code, status);
    }
    status = a->table.DxgkDdiPowerRuntimeControlRequest(a->context, of_code.data, NULL, 0, NULL, 0,
                                                        of_returned.data);
    ddi_returned(&call);
    ddi_lent_check(&of_code, true, routine);
    ddi_lent_check(&of_returned, true, routine);
    ddi_lent_end(&of_returned, NULL);
    ddi_lent_end(&of_code, NULL);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_set_power_state(struct ddi_adapter *a, ULONG uid, DEVICE_POWER_STATE state,
                             POWER_ACTION action)
{
    CALL_STATUS(a, DxgkDdiSetPowerState, a->context, uid, state, action);
}

NTSTATUS ddi_control_interrupt(struct ddi_adapter *a, DXGK_INTERRUPT_TYPE type, BOOLEAN enable)
{
    const struct ddi_told_control told = {(UINT)type, enable};
    struct ddi_call call;
    NTSTATUS status = ddi_enter_with(&call, a, DDI_DxgkDdiControlInterrupt, &told);

    if (!NT_SUCCESS(status))
        return status;
    return ddi_leave_with(&call, a->table.DxgkDdiControlInterrupt(a->context, type, enable));
}

NTSTATUS ddi_control_interrupt2(struct ddi_adapter *a, DXGKARG_CONTROLINTERRUPT2 args)
{
    const struct ddi_told_control told = {(UINT)args.InterruptType, (UINT)args.CrtcVsyncState};
    struct ddi_call call;
    NTSTATUS status = ddi_enter_with(&call, a, DDI_DxgkDdiControlInterrupt2, &told);

    if (!NT_SUCCESS(status))
        return status;
    return ddi_leave_with(&call, a->table.DxgkDdiControlInterrupt2(a->context, args));
}

NTSTATUS ddi_control_interrupt3(struct ddi_adapter *a, const DXGKARG_CONTROLINTERRUPT3 *args)
{
    CALL_IN(a, DxgkDdiControlInterrupt3, args, a->context);
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

/* LIFE-137: with HardwareAccess, the thread is alone in the driver. */
NTSTATUS ddi_escape(struct ddi_adapter *a, const DXGKARG_ESCAPE *args)
{
    CALL_PARTS_AT(a, DxgkDdiEscape, args->Flags.HardwareAccess ? LEVEL_ALONE : LEVEL_ZERO,
                  SIM_IRQL_PASSIVE, args, NULL, ddi_parts_escape, a->context);
}

/* ---- interfaces and requests of others: level two ---- */

NTSTATUS ddi_query_interface(struct ddi_adapter *a, PQUERY_INTERFACE query)
{
    CALL_PARTS_BOTH(a, DxgkDdiQueryInterface, query, ddi_parts_query_interface, a->context);
}

NTSTATUS ddi_dispatch_io_request(struct ddi_adapter *a, ULONG source, PVIDEO_REQUEST_PACKET packet)
{
    CALL_PARTS_BOTH(a, DxgkDdiDispatchIoRequest, packet, ddi_parts_dispatch_io_request, a->context,
                    source);
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
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, args, sizeof(*args), "DXGKARG_QUERYFEATURESUPPORT")
                          ? ddi_enter(&call, a, DDI_DxgkDdiQueryFeatureSupport)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = routine(a->context, passed.data);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)routine);
    ddi_lent_end(&passed, args);
    return ddi_leave_with(&call, status);
}

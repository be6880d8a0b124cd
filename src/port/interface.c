/* SPDX-License-Identifier: MIT */
/*
 * DXGKRNL_INTERFACE: which callbacks a driver is given, and the ones that are short. Callbacks of displays and of services that
 * this host does not have are stubs that say so (LIFE-059).
 */
#include <string.h>

#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"

/* ---- events ---- */

/* LIFE-106: what it tells is kept as a report. */
static void log_triage_event(USHORT bytes, const void *buffer)
{
    DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION event;
    char text[DXGKDDI_PARTITION_EVENT_DESCRIPTION_MAX + 1];
    size_t length = 0;

    if (bytes < sizeof(event) || !sim_copy_checked(&event, buffer, sizeof(event))) {
        WARNING("LIFE-106", "a triage event has no DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION");
        return;
    }
    while (length < DXGKDDI_PARTITION_EVENT_DESCRIPTION_MAX && event.EventDescription[length]) {
        text[length] = event.EventDescription[length] < 127 ? (char)event.EventDescription[length]
                                                            : '?';
        length++;
    }
    text[length] = '\0';
    NOTE("LIFE-106", "triage event %d of partition %u: %s", (int)event.EventType, event.PartitionId,
         text);
}

static void NTAPI log_etw_event(const LPCGUID guid, UCHAR type, USHORT bytes, PVOID buffer)
{
    struct port *port = port_current();
    struct ddi_frame frame;
    GUID copy = {0};

    if (!port || sim_current->stopped)
        return;
    ddi_callback_enter(&frame, ddi_current_adapter(), "DxgkCbLogEtwEvent", CALLER);
    if (bytes > 256 && sim_irql() != SIM_IRQL_PASSIVE) {
        VIOLATION("LIFE-105", "DxgkCbLogEtwEvent was called with %u bytes at %s", bytes,
                  nt_irql_name(sim_irql()));
    } else if (port->etw) {
        if (guid && sim_copy_checked(&copy, guid, sizeof(copy)) &&
            memcmp(&copy, &GUID_DXGKDDI_AZURE_TRIAGE_EVENT, sizeof(copy)) == 0)
            log_triage_event(bytes, buffer);
        else
            trace_instant(frame.track, "driver event", "type", type, "bytes", bytes);
    }
    ddi_callback_leave(&frame);
}

/* Has an adapter before this one the same driver? The call carries no adapter. */
static bool told_already(const struct port *port, const struct port_adapter *adapter)
{
    LIST_FOR(node, &port->adapter_list) {
        const struct port_adapter *other = CONTAINER(node, struct port_adapter, link);

        if (other == adapter)
            return false;
        if (other->state == PORT_STARTED && other->driver == adapter->driver)
            return true;
    }
    return false;
}

void port_set_etw(struct port *port, bool enable, UCHAR level)
{
    port->etw = enable;
    port->etw_level = level;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        if (adapter->state == PORT_STARTED && ddi_has(&adapter->ddi, DxgkDdiControlEtwLogging) &&
            !told_already(port, adapter))
            ddi_control_etw_logging(&adapter->ddi, enable, 0, level); /* LIFE-107 */
    }
}

/* ---- firmware ---- */

/* LIFE-103, LIFE-104: no ACPI namespace belongs to the adapter. */
static NTSTATUS NTAPI eval_acpi_method(HANDLE handle, ULONG uid,
                                       PACPI_EVAL_INPUT_BUFFER_COMPLEX input, ULONG input_bytes,
                                       PACPI_EVAL_OUTPUT_BUFFER output, ULONG output_bytes)
{
    const ULONG signature = ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE;
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, handle, "DxgkCbEvalAcpiMethod", CALLER, SIM_IRQL_PASSIVE,
                                     "THREAD-047", 0);

    (void)uid;
    (void)output;
    (void)output_bytes;
    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_OBJECT_NAME_NOT_FOUND;
    if (!input || input_bytes < sizeof(*input) ||
        !sim_copy_checked(&input->Signature, &signature, sizeof(signature)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

/* LIFE-073: an adapter without outputs did not show the firmware's picture. */
static NTSTATUS acquire_post(HANDLE handle, const char *name, uintptr_t caller,
                             PDXGK_DISPLAY_INFORMATION info, void *flags, size_t flag_bytes)
{
    static const DXGK_DISPLAY_INFORMATION zero;
    static const DXGK_DISPLAY_OWNERSHIP_FLAGS zero_flags;
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, handle, name, caller, SIM_IRQL_PASSIVE, "THREAD-043", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_UNSUCCESSFUL;
    if (!info || !sim_copy_checked(info, &zero, sizeof(zero)))
        status = STATUS_INVALID_PARAMETER;
    else if (flags)
        (void)sim_copy_checked(flags, &zero_flags, flag_bytes);
    callback_end(&cb);
    return status;
}

static NTSTATUS NTAPI acquire_post_display_ownership(HANDLE handle, PDXGK_DISPLAY_INFORMATION info)
{
    return acquire_post(handle, "DxgkCbAcquirePostDisplayOwnership", CALLER, info, NULL, 0);
}

static NTSTATUS NTAPI acquire_post_display_ownership2(HANDLE handle, PDXGK_DISPLAY_INFORMATION info,
                                                      PDXGK_DISPLAY_OWNERSHIP_FLAGS flags)
{
    return acquire_post(handle, "DxgkCbAcquirePostDisplayOwnership2", CALLER, info, flags,
                        sizeof(*flags));
}

/* ---- stubs ---- */

static NTSTATUS absent(const char *name, uintptr_t caller, uint8_t max_irql, const char *rule)
{
    struct ddi_frame frame;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    ddi_callback_enter(&frame, ddi_current_adapter(), name, caller);
    if (sim_irql() > max_irql)
        VIOLATION(rule, "%s was called at %s; its limit is %s", name, nt_irql_name(sim_irql()),
                  nt_irql_name(max_irql));
    VIOLATION("LIFE-059", "%s is not offered by this host", name);
    ddi_callback_leave(&frame);
    return STATUS_NOT_SUPPORTED;
}

/* Name, level, and the rule that gives the level. */
#define STUBS(X)                                                          \
    X(DxgkCbQueryVidPnInterface, SIM_IRQL_HIGH, "LIFE-059")               \
    X(DxgkCbQueryMonitorInterface, SIM_IRQL_HIGH, "LIFE-059")             \
    X(DxgkCbGetCaptureAddress, SIM_IRQL_PASSIVE, "THREAD-047")            \
    X(DxgkCbCompletePStateTransition, SIM_IRQL_HIGH, "LIFE-059")          \
    X(DxgkCbHardwareContentProtectionTeardown, SIM_IRQL_HIGH, "LIFE-059") \
    X(DxgkCbMultiPlaneOverlayDisabled, SIM_IRQL_HIGH, "LIFE-059")         \
    X(DxgkCbMitigatedRangeUpdate, SIM_IRQL_HIGH, "LIFE-059")              \
    X(DxgkCbInvalidateHwContext, SIM_IRQL_HIGH, "LIFE-059")               \
    X(DxgkCbIndicateConnectorChange, SIM_IRQL_HIGH, "LIFE-059")           \
    X(DxgkCbUnblockUEFIFrameBufferRanges, SIM_IRQL_HIGH, "LIFE-059")      \
    X(DxgkCbSetProtectedSessionStatus, SIM_IRQL_HIGH, "LIFE-059")         \
    X(DxgkCbReportDiagnostic, SIM_IRQL_HIGH, "LIFE-059")                  \
    X(DxgkCbNotifyCursorSupportChange, SIM_IRQL_HIGH, "LIFE-059")         \
    X(DxgkCbDisconnectDoorbell, SIM_IRQL_HIGH, "LIFE-059")

/* One register holds any result; the x64 convention makes the caller clean up, so the parameters do not matter. */
#define STUB(name, max_irql, rule)                                      \
    static ULONG_PTR NTAPI stub_##name(void)                            \
    {                                                                   \
        return (ULONG_PTR)(ULONG)absent(#name, CALLER, max_irql, rule); \
    }
STUBS(STUB)

static void set_slot(DXGKRNL_INTERFACE *interface, size_t offset, ULONG_PTR(NTAPI *stub)(void))
{
    memcpy((char *)interface + offset, &stub, sizeof(stub));
}

void port_fill_interface(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version)
{
    ULONG bytes = port_interface_bytes(version);

    memset(interface, 0, sizeof(*interface));
#define SET_STUB(name, max_irql, rule) \
    set_slot(interface, offsetof(DXGKRNL_INTERFACE, name), stub_##name);
    STUBS(SET_STUB)
    interface->Size = bytes; /* LIFE-057, LIFE-058 */
    interface->Version = version;
    interface->DeviceHandle = adapter->handle;
    interface->DxgkCbEvalAcpiMethod = eval_acpi_method;
    interface->DxgkCbGetDeviceInformation = port_cb_get_device_information;
    interface->DxgkCbIndicateChildStatus = port_cb_indicate_child_status;
    interface->DxgkCbMapMemory = port_cb_map_memory;
    interface->DxgkCbUnmapMemory = port_cb_unmap_memory;
    interface->DxgkCbQueueDpc = port_cb_queue_dpc;
    interface->DxgkCbQueryServices = port_cb_query_services;
    interface->DxgkCbReadDeviceSpace = port_cb_read_device_space;
    interface->DxgkCbWriteDeviceSpace = port_cb_write_device_space;
    interface->DxgkCbSynchronizeExecution = port_cb_synchronize_execution;
    interface->DxgkCbIsDevicePresent = port_cb_is_device_present;
    interface->DxgkCbNotifyInterrupt = port_cb_notify_interrupt;
    interface->DxgkCbNotifyDpc = port_cb_notify_dpc;
    interface->DxgkCbLogEtwEvent = log_etw_event;
    interface->DxgkCbSignalEvent = port_cb_signal_event;
    interface->DxgkCbExcludeAdapterAccess = port_cb_exclude_adapter_access;
    interface->DxgkCbAcquirePostDisplayOwnership = acquire_post_display_ownership;
    interface->DxgkCbAcquirePostDisplayOwnership2 = acquire_post_display_ownership2;
    port_fill_handle_callbacks(interface);
    port_fill_feature_callbacks(interface);
    port_fill_power_callbacks(interface);
    port_fill_memory_callbacks(interface);
    interface->DxgkCbSaveMemoryForHotUpdate = port_cb_save_memory_for_hot_update;
    /* What came after the host's version is not there. */
    if (bytes < sizeof(*interface))
        memset((char *)interface + bytes, 0, sizeof(*interface) - bytes);
}

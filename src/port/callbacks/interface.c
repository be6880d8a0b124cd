/* SPDX-License-Identifier: MIT */
/*
 * DXGKRNL_INTERFACE: the callbacks that a driver is given; the short ones are implemented here.
 * Callbacks for displays and for services that this host does not have are stubs that report this
 * (LIFE-059).
 */
#include <string.h>

#include "port/callbacks/interface.h"
#include "ddi/ddi.h"
#include "modes/monitor.h"
#include "modes/vidpn_interfaces.h"
#include "nt/ke/level.h"
#include "port/callbacks/acpi_method.h"
#include "port/callbacks/callback.h"
#include "port/callbacks/child_callbacks.h"
#include "port/callbacks/context_callbacks.h"
#include "port/callbacks/cpu_event.h"
#include "port/callbacks/device_callbacks.h"
#include "port/callbacks/etw.h"
#include "port/callbacks/exclude.h"
#include "port/callbacks/features.h"
#include "port/callbacks/handle_callbacks.h"
#include "port/callbacks/hardware_callbacks.h"
#include "port/callbacks/hot_update.h"
#include "port/callbacks/interrupt_callbacks.h"
#include "port/callbacks/maps.h"
#include "port/callbacks/memory_callbacks.h"
#include "port/callbacks/object_callbacks.h"
#include "port/callbacks/power_callbacks.h"
#include "port/callbacks/services.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/record/versions.h"
#include "port/running/post.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/refusal.h"

/* ---- firmware ---- */

/* PRES-007 to PRES-014: written on success alone, and zeroed where displays are off (LIFE-073). */
static NTSTATUS acquire_post(HANDLE handle, const char *name, uintptr_t caller,
                             PDXGK_DISPLAY_INFORMATION info, PDXGK_DISPLAY_OWNERSHIP_FLAGS flags)
{
    DXGK_DISPLAY_INFORMATION found;
    DXGK_DISPLAY_OWNERSHIP_FLAGS found_flags;
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, handle, name, caller, SIM_IRQL_APC, "THREAD-043", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!info)
        return port_callback_return(
            &cb, refuse(STATUS_INVALID_PARAMETER, NULL, "no place for the description"));
    status = port_post_acquire(cb.adapter, &found, &found_flags);
    if ((NT_SUCCESS(status) || cb.adapter->port->config.no_displays) &&
        (!PORT_GIVE(DXGK_DISPLAY_INFORMATION, info, &found) ||
         (flags && !PORT_GIVE(DXGK_DISPLAY_OWNERSHIP_FLAGS, flags, &found_flags))))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

static NTSTATUS NTAPI acquire_post_display_ownership(HANDLE handle, PDXGK_DISPLAY_INFORMATION info)
{
    return acquire_post(handle, "DxgkCbAcquirePostDisplayOwnership", PORT_CALLER, info, NULL);
}

static NTSTATUS NTAPI acquire_post_display_ownership2(HANDLE handle, PDXGK_DISPLAY_INFORMATION info,
                                                      PDXGK_DISPLAY_OWNERSHIP_FLAGS flags)
{
    return acquire_post(handle, "DxgkCbAcquirePostDisplayOwnership2", PORT_CALLER, info, flags);
}

/* PRES-041: no range is ever blocked. */
static NTSTATUS NTAPI unblock_frame_buffer_ranges(HANDLE handle,
                                                  const DXGK_SEGMENTMEMORYSTATE *ranges)
{
    const struct ddi_frame *ddi = ddi_current_ddi();
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, handle, "DxgkCbUnblockUEFIFrameBufferRanges",
                                          PORT_CALLER, SIM_IRQL_PASSIVE, "PRES-041", 0);

    (void)ranges;
    if (!NT_SUCCESS(status))
        return status;
    if (!ddi || ddi->adapter != &cb.adapter->ddi || ddi->entry != DDI_DxgkDdiStartDevice)
        status = refuse(STATUS_INVALID_PARAMETER, "PRES-041", "it is not DxgkDdiStartDevice");
    return port_callback_return(&cb, status);
}

/* ---- stubs ---- */

static NTSTATUS absent(const char *name, uintptr_t caller, uint8_t max_irql, const char *rule)
{
    struct ddi_frame *frame;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    frame = ddi_callback_enter(ddi_current_adapter(), name, caller);
    if (sim_irql() > max_irql)
        VIOLATION(rule, "%s was called at %s; its limit is %s", name, nt_irql_name(sim_irql()),
                  nt_irql_name(max_irql));
    VIOLATION("LIFE-059", "%s is not offered by this host", name);
    ddi_callback_leave(frame);
    return STATUS_NOT_SUPPORTED;
}

/* Name, highest IRQL, and the rule that gives it. */
#define STUBS(X)                                                          \
    X(DxgkCbCompletePStateTransition, SIM_IRQL_HIGH, "LIFE-059")          \
    X(DxgkCbHardwareContentProtectionTeardown, SIM_IRQL_HIGH, "LIFE-059") \
    X(DxgkCbMultiPlaneOverlayDisabled, SIM_IRQL_HIGH, "LIFE-059")         \
    X(DxgkCbMitigatedRangeUpdate, SIM_IRQL_HIGH, "LIFE-059")              \
    X(DxgkCbSetProtectedSessionStatus, SIM_IRQL_HIGH, "LIFE-059")         \
    X(DxgkCbReportDiagnostic, SIM_IRQL_HIGH, "LIFE-059")                  \
    X(DxgkCbNotifyCursorSupportChange, SIM_IRQL_HIGH, "LIFE-059")

/* One function serves for all types: one register holds any result, and in the x64 convention the
 * caller cleans up, so the parameters do not matter. */
#define STUB(name, max_irql, rule)                                           \
    static ULONG_PTR NTAPI stub_##name(void)                                 \
    {                                                                        \
        return (ULONG_PTR)(ULONG)absent(#name, PORT_CALLER, max_irql, rule); \
    }
STUBS(STUB)

static void set_slot(DXGKRNL_INTERFACE *interface, size_t offset, ULONG_PTR(NTAPI *stub)(void))
{
    memcpy((char *)interface + offset, &stub, sizeof(stub));
}

void port_interface_fill(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version)
{
    static void (*const parts[])(DXGKRNL_INTERFACE *) = {
        port_device_callbacks_fill, port_maps_fill,
        port_child_callbacks_fill,  port_interrupt_callbacks_fill,
        port_services_fill,         port_etw_fill,
        port_cpu_event_fill,        port_exclude_fill,
        port_handle_callbacks_fill, port_context_callbacks_fill,
        port_features_fill,         port_power_callbacks_fill,
        port_memory_callbacks_fill, port_object_callbacks_fill,
        port_hot_update_fill,       port_hardware_callbacks_fill,
    };
    ULONG bytes = port_version_interface_bytes(version);

    memset(interface, 0, sizeof(*interface));
#define SET_STUB(name, max_irql, rule) \
    set_slot(interface, offsetof(DXGKRNL_INTERFACE, name), stub_##name);
    STUBS(SET_STUB)
    interface->Size = bytes; /* LIFE-057, LIFE-058 */
    if (!adapter->port->config.sizes_of_host && port_driver_version(adapter) < version)
        interface->Size = port_version_interface_bytes(port_driver_version(adapter));
    interface->Version = version;
    interface->DeviceHandle = adapter->handle;
    interface->DxgkCbEvalAcpiMethod = port_eval_acpi_method;
    interface->DxgkCbAcquirePostDisplayOwnership = acquire_post_display_ownership;
    interface->DxgkCbAcquirePostDisplayOwnership2 = acquire_post_display_ownership2;
    interface->DxgkCbUnblockUEFIFrameBufferRanges = unblock_frame_buffer_ranges;
    interface->DxgkCbQueryVidPnInterface = modes_query_vidpn_interface;
    interface->DxgkCbQueryMonitorInterface = modes_query_monitor_interface;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        parts[i](interface);
    /* Members that were added after the host's version do not exist. */
    if (bytes < sizeof(*interface))
        memset((char *)interface + bytes, 0, sizeof(*interface) - bytes);
}

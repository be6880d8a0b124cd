/* SPDX-License-Identifier: MIT */
#include "port/running/acpi.h"
#include "ddi/ddi.h"
#include "modes/display_worker.h"
#include "modes/modes.h"
#include "port/record/adapter_record.h"
#include "port/running/display.h"
#include "port/running/managers.h"
#include "port/running/restarting.h"
#include "verify/verify.h"

#define KNOWN                                                          \
    (DXGK_ACPI_POLL_DISPLAY_CHILDREN | DXGK_ACPI_CHANGE_DISPLAY_MODE | \
     DXGK_ACPI_CHANGE_DISPLAY_TOPOLOGY | DXGK_ACPI_CHAIN_NOT_HANDLED)

/* LIFE-134: a DDI of level two. */
static NTSTATUS tell(struct port_adapter *adapter, DXGK_EVENT_TYPE type, ULONG event,
                     ULONG argument, ULONG *flags)
{
    NTSTATUS status;

    *flags = 0;
    if (!ddi_has(&adapter->ddi, DxgkDdiNotifyAcpiEvent))
        return STATUS_NOT_SUPPORTED;
    port_restarting_await(adapter);
    status = port_stand_still(adapter, "DxgkDdiNotifyAcpiEvent");
    if (!NT_SUCCESS(status))
        return status;
    status = ddi_notify_acpi_event(&adapter->ddi, type, event, (PVOID)(uintptr_t)argument, flags);
    port_go_on(adapter);
    return status;
}

/* DISP-156 */
static void check_flags(ULONG flags, DXGK_EVENT_TYPE type)
{
    if (flags & ~(ULONG)KNOWN)
        WARNING("DISP-156", "AcpiFlags came back as 0x%x, with unknown bits", (unsigned)flags);
    if (flags & DXGK_ACPI_CHAIN_NOT_HANDLED && type != DxgkChainedAcpiEvent)
        WARNING("DISP-156", "AcpiFlags has DXGK_ACPI_CHAIN_NOT_HANDLED after an event of type %d",
                (int)type);
}

NTSTATUS port_adapter_notify_acpi(struct port_adapter *adapter, DXGK_EVENT_TYPE type, ULONG event,
                                  ULONG argument)
{
    struct modes *modes = adapter->display.modes;
    ULONG flags;
    NTSTATUS status;

    if (!modes)
        return STATUS_NOT_SUPPORTED;
    status = tell(adapter, type, event, argument, &flags);
    if (!NT_SUCCESS(status))
        return status;
    check_flags(flags, type);
    if (type == DxgkDockingEvent || (type == DxgkAcpiEvent && event == ACPI_NOTIFY_DOCK_EVENT))
        flags |= DXGK_ACPI_POLL_DISPLAY_CHILDREN; /* DISP-042 */
    if (adapter->display.modes == modes && !modes->asleep && flags & KNOWN)
        (void)display_acpi(modes, flags);
    return status;
}

NTSTATUS port_adapter_notify_mains(struct port_adapter *adapter, bool mains)
{
    ULONG flags;

    if (adapter->display.modes)
        return port_adapter_notify_acpi(adapter, DxgkPowerStateEvent, PO_CB_AC_STATUS, mains);
    return tell(adapter, DxgkPowerStateEvent, PO_CB_AC_STATUS, mains, &flags);
}

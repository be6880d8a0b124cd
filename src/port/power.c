/* SPDX-License-Identifier: MIT */
/* Device power and what else befalls a started adapter from outside: removal, profiling, mains (LIFE-135, LIFE-146 to LIFE-156). */
#include "port/port_private.h"

/* ---- device power ---- */

static void set_state(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    NTSTATUS status = ddi_set_power_state(&adapter->ddi, DISPLAY_ADAPTER_HW_ID, state, action);

    if (!NT_SUCCESS(status) && !adapter->ddi.gone)
        VIOLATION("LIFE-153", "SetPowerState to D%d returned 0x%08x", (int)state - PowerDeviceD0,
                  (unsigned)status);
    adapter->power = state;
}

/* Nothing of the memory manager and the scheduler outlives a loss of power: no client holds anything (LIFE-154). */
static void leave_d0(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    port_managers_destroy(adapter);
    port_components_hold(adapter); /* LIFE-166 */
    port_children_power(adapter, state, action);
    set_state(adapter, state, action);
}

static NTSTATUS enter_d0(struct port_adapter *adapter)
{
    set_state(adapter, PowerDeviceD0, PowerActionNone);
    port_children_power(adapter, PowerDeviceD0, PowerActionNone);
    port_components_release(adapter);
    port_domain_power_up(adapter);
    return port_managers_create(adapter);
}

NTSTATUS port_adapter_set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                                POWER_ACTION action)
{
    if (state < PowerDeviceD0 || state > PowerDeviceD3)
        return STATUS_INVALID_PARAMETER;
    if (adapter->client_references)
        return STATUS_DEVICE_BUSY;
    if (adapter->state != PORT_STARTED || adapter->unplugged)
        return STATUS_INVALID_DEVICE_STATE;
    if (adapter->power == state)
        return STATUS_SUCCESS; /* LIFE-155 */
    if (state == PowerDeviceD0)
        return enter_d0(adapter);
    if (adapter->power == PowerDeviceD0)
        leave_d0(adapter, state, action);
    else
        set_state(adapter, state, action);
    return STATUS_SUCCESS;
}

DEVICE_POWER_STATE port_adapter_power(const struct port_adapter *adapter)
{
    return adapter->power;
}

/* ---- surprise removal ---- */

static bool supports_removal(const struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type)
{
    return adapter->caps.SupportSurpriseRemoval ||
           (type == DxgkRemovalHibernation && adapter->caps.SupportSurpriseRemovalInHibernation);
}

/* No DDI of the adapter any more (LIFE-148, LIFE-151). */
static void abandon(struct port_adapter *adapter)
{
    adapter->ddi.gone = true;
}

NTSTATUS port_adapter_unplug(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type,
                             bool force)
{
    bool supported = supports_removal(adapter, type);
    NTSTATUS status;

    if (adapter->state != PORT_STARTED || adapter->unplugged)
        return STATUS_INVALID_DEVICE_STATE;
    if (!supported && !force)
        return STATUS_NOT_SUPPORTED;
    bus_device_unplug(adapter->device); /* LIFE-150 */
    adapter->unplugged = true;
    adapter->lost = true;
    if (adapter->vidmm)
        vidmm_set_lost(adapter->vidmm);
    if (!supported) {
        abandon(adapter);
        return STATUS_SUCCESS;
    }
    status = ddi_notify_surprise_removal(&adapter->ddi, type);
    if (NT_SUCCESS(status))
        return STATUS_SUCCESS;
    if (type == DxgkRemovalPnPNotify) {
        /* LIFE-149: nothing that is still mapped to the device may be touched again. */
        verify_fatal("LIFE-149", VIDEO_DXGKRNL_FATAL_ERROR, (uint32_t)status, 0, 0, 0,
                     "DxgkDdiNotifySurpriseRemoval returned 0x%08x while the machine runs",
                     (unsigned)status);
    } else if (!adapter->caps.SupportSurpriseRemoval) {
        abandon(adapter);
    }
    return status;
}

/* ---- profiling, mains ---- */

NTSTATUS port_adapter_set_stable_power(struct port_adapter *adapter, bool enable)
{
    if (!ddi_has(&adapter->ddi, DxgkDdiSetStablePowerState))
        return STATUS_NOT_SUPPORTED;
    if (adapter->stable_power != enable)
        ddi_set_stable_power_state(&adapter->ddi, enable);
    adapter->stable_power = enable;
    return STATUS_SUCCESS;
}

NTSTATUS port_adapter_notify_mains(struct port_adapter *adapter, bool mains)
{
    ULONG flags = 0;

    if (!ddi_has(&adapter->ddi, DxgkDdiNotifyAcpiEvent))
        return STATUS_NOT_SUPPORTED;
    return ddi_notify_acpi_event(&adapter->ddi, DxgkPowerStateEvent, PO_CB_AC_STATUS,
                                 (PVOID)(uintptr_t)(mains ? 1 : 0), &flags);
}

/* SPDX-License-Identifier: MIT */
/* Device power, and other outside events of a started adapter: removal and profiling (LIFE-146 to
 * LIFE-156). */
#include "port/running/power.h"
#include "nt/base/status_name.h"
#include "bus/reset.h"
#include "ddi/ddi.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/port_assert.h"
#include "port/running/display.h"
#include "port/running/isolate.h"
#include "port/running/managers.h"
#include "port/running/post.h"
#include "port/running/power_components.h"
#include "port/running/restarting.h"
#include "port/running/stale.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/min_max.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#define DRIVER_LIMIT_NS 60000000000u /* THREAD-037 */

/* ---- life ---- */

static NTSTATUS hold(struct ddi_adapter *ddi)
{
    return port_adapter_power_hold(port_adapter_of_ddi(ddi));
}

static void release(struct ddi_adapter *ddi)
{
    port_adapter_power_release(port_adapter_of_ddi(ddi));
}

void port_power_init(struct port_adapter *adapter)
{
    adapter->display.hold = hold;
    adapter->display.release = release;
    sim_waitq_init(&adapter->display.restarted);
    adapter->power.state = PowerDeviceUnspecified;
    sim_mutex_init(&adapter->power.lock);
    sim_waitq_init(&adapter->power.idle);
}

void port_power_started(struct port_adapter *adapter)
{
    adapter->power.state = PowerDeviceD0;
}

void port_power_stopping(struct port_adapter *adapter)
{
    if (adapter->power.stable)
        port_adapter_set_stable_power(adapter, false);
}

/* ---- device power ---- */

/* A driver without the entry has nothing to do (LIFE-021). */
static NTSTATUS tell_state(struct port_adapter *adapter, ULONG uid, DEVICE_POWER_STATE state,
                           POWER_ACTION action)
{
    return ddi_has(&adapter->ddi, DxgkDdiSetPowerState)
               ? ddi_set_power_state(&adapter->ddi, uid, state, action)
               : STATUS_SUCCESS;
}

/* Set the power of each child (LIFE-155); failures are reported as those of the adapter. */
static void set_children(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    for (ULONG i = 0; i < adapter->children.count; i++) {
        const ULONG uid = adapter->children.child[i].ChildUid;
        NTSTATUS status;

        if (adapter->display.modes) /* display.c: those that are lit (DISP-151) */
            continue;
        status = tell_state(adapter, uid, state, action);

        if (!NT_SUCCESS(status))
            VIOLATION("LIFE-153", "SetPowerState of child 0x%x returned %s", uid,
                      nt_status_text(status).text);
    }
}

static void set_state(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    NTSTATUS status = tell_state(adapter, DISPLAY_ADAPTER_HW_ID, state, action);

    if (!NT_SUCCESS(status) && !adapter->ddi.gone)
        VIOLATION("LIFE-153", "SetPowerState to D%d returned %s", (int)state - PowerDeviceD0,
                  nt_status_text(status).text);
    adapter->power.state = state;
}

/* How many bytes from the start of a segment survive the loss of power (SEG-040, SEG-050, SEG-051,
 * SEG-083). */
static uint64_t preserved_bytes(const struct port_adapter *adapter, UINT index, POWER_ACTION action)
{
    const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, index);
    const bool standby = segment->Flags.PreservedDuringStandby;
    const bool hibernate = segment->Flags.PreservedDuringHibernate;
    const bool partial = segment->Flags.PartiallyPreservedDuringHibernate;

    if (!standby || (hibernate && partial))
        return 0; /* nothing is preserved, or the flags contradict each other */
    if (action == PowerActionSleep)
        return adapter->caps.driver.MemoryManagementCaps.DisableSelfRefreshVRAMInS3 ? 0 : UINT64_MAX;
    if (action != PowerActionHibernate)
        return 0;
    if (partial)
        return (uint64_t)segment->SystemMemoryEndAddress + 1;
    return hibernate ? UINT64_MAX : 0;
}

/* In hybrid sleep the machine sleeps, and hibernates if the power then fails: what is preserved in
 * both cases. */
static uint64_t kept_in(const struct port_adapter *adapter, UINT index, POWER_ACTION action)
{
    uint64_t bytes = preserved_bytes(adapter, index, action);

    return adapter->power.hybrid
               ? min_of(bytes, preserved_bytes(adapter, index, PowerActionHibernate))
               : bytes;
}

static void wake(struct ddi_adapter *ddi)
{
    (void)port_adapter_set_power(port_adapter_of_ddi(ddi), PowerDeviceD0, PowerActionNone);
}

/* LIFE-154: SetPowerState is a DDI of level three; the GPU stays suspended until the power is
 * back. */
static NTSTATUS leave_d0(struct port_adapter *adapter, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    uint64_t kept_bytes[PORT_MAX_SEGMENTS] = {0};
    struct port_evacuation evacuation = {.kept_bytes = kept_bytes,
                                         .losing_power = true,
                                         .limit_ns = DRIVER_LIMIT_NS,
                                         .name = "DxgkDdiSetPowerState"};
    NTSTATUS status;

    port_assert_power_locked(adapter);
    for (UINT i = 0; i < adapter->segments.count; i++)
        kept_bytes[i] = kept_in(adapter, i, action);
    port_power_components_hold(adapter); /* LIFE-166; another thread calls the driver for it */
    status = port_display_suspend(adapter);
    if (status != STATUS_NO_MEMORY) /* else it is the driver that failed */
        status = port_evacuate(adapter, &evacuation);
    if (!NT_SUCCESS(status)) {
        port_power_components_release(adapter);
        port_display_resume(adapter);
        return status;
    }
    adapter->power.evacuated = true;
    adapter->power.left_for = action;
    if (adapter->managers.vidsch)
        vidsch_doorbells_disconnect(adapter->managers.vidsch); /* KMT-186 */
    set_children(adapter, state, action);
    set_state(adapter, state, action);
    adapter->ddi.wake = wake;
    adapter->ddi.asleep = true;
    ddi_admit_others(&adapter->ddi);
    return STATUS_SUCCESS;
}

static NTSTATUS end_evacuation(struct port_adapter *adapter)
{
    if (!adapter->power.evacuated)
        return STATUS_SUCCESS;
    adapter->power.evacuated = false;
    return port_return(adapter);
}

static NTSTATUS enter_d0(struct port_adapter *adapter)
{
    NTSTATUS status;

    adapter->ddi.asleep = false;
    adapter->power.entering_d0 = true;
    port_post_woke(adapter, adapter->power.left_for == PowerActionHibernate);
    set_state(adapter, PowerDeviceD0, PowerActionNone);
    adapter->power.entering_d0 = false;
    set_children(adapter, PowerDeviceD0, PowerActionNone);
    port_power_components_release(adapter);
    port_isolate_power_up(adapter);
    status = end_evacuation(adapter);
    port_display_resume(adapter);
    return status;
}

static NTSTATUS change_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                             POWER_ACTION action)
{
    if (!port_runs(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (adapter->power.state == state)
        return STATUS_SUCCESS; /* LIFE-155 */
    if (state == PowerDeviceD0)
        return enter_d0(adapter);
    if (adapter->power.state == PowerDeviceD0)
        return leave_d0(adapter, state, action);
    set_state(adapter, state, action);
    return STATUS_SUCCESS;
}

static NTSTATUS set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                          POWER_ACTION action, bool hybrid)
{
    NTSTATUS status;

    if (state < PowerDeviceD0 || state > PowerDeviceD3)
        return STATUS_INVALID_PARAMETER;
    sim_mutex_lock(&adapter->power.lock);
    while (adapter->power.users && state != PowerDeviceD0 && !sim_current->stopped)
        sim_waitq_wait(&adapter->power.idle, SIM_FOREVER);
    port_restarting_await(adapter);
    adapter->power.hybrid = hybrid;
    status = change_power(adapter, state, action);
    adapter->power.hybrid = false;
    sim_mutex_unlock(&adapter->power.lock);
    return status;
}

NTSTATUS port_adapter_set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                                POWER_ACTION action)
{
    return set_power(adapter, state, action, false);
}

NTSTATUS port_adapter_hybrid_sleep(struct port_adapter *adapter, DEVICE_POWER_STATE state)
{
    return set_power(adapter, state, PowerActionSleep, true);
}

NTSTATUS port_adapter_power_hold(struct port_adapter *adapter)
{
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&adapter->power.lock);
    port_restarting_await(adapter);
    if (port_runs(adapter))
        status = change_power(adapter, PowerDeviceD0, PowerActionNone);
    if (NT_SUCCESS(status))
        adapter->power.users++;
    sim_mutex_unlock(&adapter->power.lock);
    return status;
}

void port_adapter_power_release(struct port_adapter *adapter)
{
    if (--adapter->power.users == 0)
        sim_waitq_wake(&adapter->power.idle, UINT32_MAX);
}

void port_power_up(struct port_adapter *adapter)
{
    if (adapter->power.state == PowerDeviceD0 || sim_current->stopped)
        return;
    adapter->ddi.asleep = false;
    if (adapter->power.unplugged)
        (void)end_evacuation(adapter); /* adapter lost: lets waiting threads run to their end */
    else
        (void)change_power(adapter, PowerDeviceD0, PowerActionNone);
}

/* ---- surprise removal ---- */

static bool supports_removal(const struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type)
{
    return adapter->caps.driver.SupportSurpriseRemoval ||
           (type == DxgkRemovalHibernation &&
            adapter->caps.driver.SupportSurpriseRemovalInHibernation);
}

/* Call no DDI of the adapter any more (LIFE-148, LIFE-151). */
static void abandon(struct port_adapter *adapter)
{
    adapter->ddi.gone = true;
}

static void tell_touch(unsigned bar, uint64_t offset, bool write)
{
    WARNING("LIFE-150", "the register at 0x%llx of BAR %u was %s after the device was removed",
            (unsigned long long)offset, bar, write ? "written" : "read");
}

static NTSTATUS tell_removal(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type)
{
    NTSTATUS status = ddi_notify_surprise_removal(&adapter->ddi, type);

    if (type == DxgkRemovalHibernation && adapter->post.bytes) { /* whatever it returns */
        NOTE("PRES-053", "the machine wakes without its POST device, and restarts; the driver is "
                         "not called any more");
        abandon(adapter);
        return status;
    }
    if (NT_SUCCESS(status))
        return STATUS_SUCCESS;
    if (type == DxgkRemovalPnPNotify) {
        /* LIFE-149: nothing that is still mapped to the device may be touched again. */
        verify_fatal("LIFE-149", VIDEO_DXGKRNL_FATAL_ERROR, (uint32_t)status, 0, 0, 0,
                     "DxgkDdiNotifySurpriseRemoval returned %s while the machine runs",
                     nt_status_text(status).text);
    } else if (!adapter->caps.driver.SupportSurpriseRemoval) {
        abandon(adapter);
    }
    return status;
}

NTSTATUS port_adapter_unplug(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type,
                             bool force)
{
    struct vidsch *vidsch = port_adapter_vidsch(adapter);
    bool supported = supports_removal(adapter, type);
    NTSTATUS status = STATUS_SUCCESS;

    port_restarting_await(adapter);
    if (!port_runs(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!supported && !force)
        return STATUS_NOT_SUPPORTED;
    port_display_keep(adapter);
    bus_device_unplug(adapter->device, tell_touch);
    adapter->power.unplugged = true;
    adapter->lost = true;
    if (port_adapter_vidmm(adapter))
        vidmm_set_lost(port_adapter_vidmm(adapter));
    if (vidsch)
        vidsch_set_removed(vidsch);
    if (supported)
        status = tell_removal(adapter, type);
    else
        abandon(adapter);
    vidsch = port_adapter_vidsch(adapter); /* it may have been stopped meanwhile */
    if (vidsch && !sim_current->stopped)
        vidsch_lose_removed(vidsch); /* the driver has been told before it sees work canceled */
    port_display_removed(adapter);
    return status;
}

/* ---- profiling ---- */

NTSTATUS port_adapter_set_stable_power(struct port_adapter *adapter, bool enable)
{
    if (!ddi_has(&adapter->ddi, DxgkDdiSetStablePowerState))
        return STATUS_NOT_SUPPORTED;
    if (adapter->power.stable != enable)
        ddi_set_stable_power_state(&adapter->ddi, enable);
    adapter->power.stable = enable;
    return STATUS_SUCCESS;
}

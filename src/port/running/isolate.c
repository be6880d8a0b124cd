/* SPDX-License-Identifier: MIT */
/*
 * The switch from physical to isolated DMA: who asks for it, and how a running adapter makes it.
 *
 *   scheduler suspended, engines drained                     vidsch_suspend
 *   no other thread inside the driver                        ddi_exclude_others
 *     DxgkDdiBeginExclusiveAccess
 *       accesses of the device are reported, its interrupts and DPCs held
 *       detach, attach: everything that is mapped stays as it is (IOMMU-004)
 *     DxgkDdiEndExclusiveAccess
 *   held interrupts are delivered, all threads continue
 *
 * Before the switch the device is attached to a domain that translates nothing and only records
 * what is mapped; the same domain isolates it afterwards. If the attach fails, the device is
 * attached as before; if that fails too, the machine stops (IOMMU-049).
 */
#include <string.h>

#include "port/running/isolate.h"
#include "nt/base/status_name.h"
#include "bus/dma.h"
#include "ddi/ddi.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/port_assert.h"
#include "port/running/domain.h"
#include "port/running/interrupts.h"
#include "sim/machine.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "vidsch/vidsch.h"

#define EXCLUSIVE_LIMIT 60000000000u
#define ATTACHMENT_LOST 0xAu /* first parameter of the bug check */

/* The bits of IOMMUFlags that have an effect for this driver (IOMMU-034 to IOMMU-037): each bit
 * needs the one before it. */
static UINT effective_flags(const struct port_adapter *adapter)
{
    const struct port_config *config = &adapter->port->config;
    UINT flags = config->iommu_present ? config->iommu_flags : 0;

    if (!(flags & PORT_IOMMU_BYPASS_CAP) &&
        !adapter->caps.driver.MemoryManagementCaps.IoMmuSecureModeSupported)
        return 0;
    if (!(flags & PORT_IOMMU_DOMAIN))
        return 0;
    if (!(flags & PORT_IOMMU_MAPPINGS))
        return PORT_IOMMU_DOMAIN;
    return flags & (PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED);
}

static bool required(const struct port_adapter *adapter)
{
    return adapter->caps.driver.MemoryManagementCaps.IoMmuSecureModeRequired ||
           adapter->caps.iommu.IommuIsolationRequired;
}

/* ---- the switch ---- */

/* Detach, and attach with isolation. Only a bug check leaves the device unattached. */
static NTSTATUS change_attachment(struct port_adapter *adapter)
{
    struct iommu_device *device = bus_device_iommu(adapter->device);
    enum iommu_result result = iommu_detach(adapter->domain.domain, device), back;

    if (result != IOMMU_DONE)
        return port_iommu_status(result);
    iommu_domain_isolate(adapter->domain.domain);
    result = iommu_attach(adapter->domain.domain, device);
    trace_instant(TRACE_PROCESSOR(sim_current->processor), "IOMMU attach", "mode", IOMMU_ISOLATION,
                  "result", (uint64_t)result);
    if (result == IOMMU_DONE) {
        adapter->domain.mode = IOMMU_ISOLATION;
        adapter->domain.isolation = PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED;
        return STATUS_SUCCESS;
    }
    iommu_domain_relax(adapter->domain.domain);
    back = iommu_attach(adapter->domain.domain, device);
    if (back != IOMMU_DONE)
        verify_fatal("IOMMU-049", VIDEO_DXGKRNL_SYSMM_FATAL_ERROR, ATTACHMENT_LOST,
                     (uint32_t)port_iommu_status(back), 0, 0,
                     "the device could not be attached again after a failed switch of its domain");
    return port_iommu_status(result);
}

/* IOMMU-063: called also when the switch failed. */
static void end_exclusive_access(struct port_adapter *adapter)
{
    DXGKARG_ENDEXCLUSIVEACCESS end;
    NTSTATUS status = STATUS_SUCCESS;

    memset(&end, 0, sizeof(end));
    bus_device_set_quiet(adapter->device, IOMMU_CAUSE_NONE);
    if (ddi_has(&adapter->ddi, DxgkDdiEndExclusiveAccess))
        status = ddi_end_exclusive_access(&adapter->ddi, &end);
    if (!NT_SUCCESS(status))
        VIOLATION("IOMMU-063", "DxgkDdiEndExclusiveAccess returned %s", nt_status_text(status).text);
    port_interrupts_hold(adapter, false); /* IOMMU-061 */
}

static NTSTATUS switch_alone(struct port_adapter *adapter)
{
    DXGKARG_BEGINEXCLUSIVEACCESS begin;
    NTSTATUS status = STATUS_SUCCESS;

    port_assert_alone(adapter);
    memset(&begin, 0, sizeof(begin));
    if (ddi_has(&adapter->ddi, DxgkDdiBeginExclusiveAccess)) /* needs the cap (IOMMU-037) */
        status = ddi_begin_exclusive_access(&adapter->ddi, &begin);
    if (!NT_SUCCESS(status))
        return status; /* IOMMU-062 */
    port_interrupts_hold(adapter, true);
    bus_device_set_quiet(adapter->device, IOMMU_CAUSE_EXCLUSIVE); /* IOMMU-059 */
    status = change_attachment(adapter);
    end_exclusive_access(adapter);
    return status;
}

static NTSTATUS isolate_at_rest(struct port_adapter *adapter)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (port_adapter_vidsch(adapter))
        status = vidsch_suspend(port_adapter_vidsch(adapter), EXCLUSIVE_LIMIT); /* IOMMU-057 */
    if (!NT_SUCCESS(status))
        return status;
    status = ddi_exclude_others(&adapter->ddi, EXCLUSIVE_LIMIT); /* THREAD-036 */
    if (NT_SUCCESS(status)) {
        if (adapter->domain.mode == IOMMU_OFF)
            status = switch_alone(adapter);
        ddi_admit_others(&adapter->ddi);
    }
    if (port_adapter_vidsch(adapter))
        vidsch_resume(port_adapter_vidsch(adapter));
    return status;
}

static NTSTATUS isolate(struct port_adapter *adapter)
{
    NTSTATUS status;

    adapter->domain.switches++;
    status = isolate_at_rest(adapter);
    adapter->domain.switches--;
    return status;
}

/* ---- requests ---- */

NTSTATUS port_isolate_at_start(struct port_adapter *adapter)
{
    UINT flags = effective_flags(adapter);
    NTSTATUS status;

    if (adapter->domain.mode != IOMMU_OFF)
        return STATUS_SUCCESS; /* IOMMU-039 */
    if (required(adapter))
        flags = PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED; /* IOMMU-015 */
    else if (adapter->port->config.iommu_flags & PORT_IOMMU_DOMAIN && !flags)
        NOTE("IOMMU-037", "IOMMUFlags 0x%x have no effect: no IOMMU, or no IoMmuSecureModeSupported",
             adapter->port->config.iommu_flags);
    adapter->domain.isolation = flags;
    if (!(flags & PORT_IOMMU_ATTACHED))
        return STATUS_SUCCESS;
    adapter->domain.isolation &= ~(UINT)PORT_IOMMU_ATTACHED;
    status = isolate(adapter);
    if (NT_SUCCESS(status) || required(adapter) || /* IOMMU-040 */
        !(adapter->port->config.iommu_flags & PORT_IOMMU_ALLOW_FAILURE) || sim_current->stopped)
        return status;
    NOTE("IOMMU-038", "isolation failed with %s; the adapter goes on in physical mode",
         nt_status_text(status).text);
    port_machine_log(adapter->port, "%s: isolation failed with %s, physical mode", adapter->name,
                     nt_status_text(status).text);
    adapter->domain.isolation = 0;
    return STATUS_SUCCESS;
}

NTSTATUS port_adapter_set_dma_mode(struct port_adapter *adapter, enum iommu_mode mode)
{
    if (!port_runs(adapter) || adapter->domain.settled)
        return STATUS_INVALID_DEVICE_STATE;
    if (mode == adapter->domain.mode)
        return STATUS_SUCCESS;
    if (mode != IOMMU_ISOLATION || adapter->domain.mode != IOMMU_OFF) {
        NOTE("IOMMU-005", "a change of the DMA mode from %d to %d was refused",
             (int)adapter->domain.mode, (int)mode);
        return STATUS_NOT_SUPPORTED; /* IOMMU-003 */
    }
    if (!adapter->port->config.iommu_present)
        return STATUS_NOT_SUPPORTED;
    if (port_adapter_power(adapter) != PowerDeviceD0) {
        adapter->domain.isolation_due = true; /* IOMMU-064 */
        return STATUS_PENDING;
    }
    return isolate(adapter);
}

NTSTATUS port_adapter_create_secure_vm(struct port_adapter *adapter)
{
    if (adapter->domain.mode != IOMMU_OFF)
        return STATUS_SUCCESS;
    if (!adapter->caps.driver.MemoryManagementCaps.IoMmuSecureModeSupported &&
        !(adapter->port->config.iommu_flags & PORT_IOMMU_BYPASS_CAP))
        return STATUS_NOT_SUPPORTED;
    return port_adapter_set_dma_mode(adapter, IOMMU_ISOLATION);
}

void port_isolate_power_up(struct port_adapter *adapter)
{
    NTSTATUS status;

    if (!adapter->domain.isolation_due)
        return;
    adapter->domain.isolation_due = false;
    status = isolate(adapter);
    if (!NT_SUCCESS(status))
        WARNING("IOMMU-064", "the switch to isolation, put off until D0, failed with %s",
                nt_status_text(status).text);
}

void port_isolate_stopping(struct port_adapter *adapter)
{
    adapter->domain.settled = true;
    while (adapter->domain.switches && !sim_current->stopped)
        sim_block(sim_now() + 1000000, NULL);
}

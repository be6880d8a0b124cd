/* SPDX-License-Identifier: MIT */
/* The memory manager and the scheduler of an adapter: made once the driver has answered everything, gone before it stops. */
#include <string.h>

#include "port/port_private.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"

static void adapter_lost(struct ddi_adapter *ddi, uint32_t code)
{
    struct port_adapter *adapter = port_adapter_of(ddi);

    (void)code;
    adapter->lost = true;
}

static NTSTATUS create_vidmm(struct port_adapter *adapter)
{
    struct vidmm_config mm;

    if (adapter->mode == IOMMU_REMAP) /* CAPS-020 */
        iommu_domain_set_highest(
            adapter->domain,
            (struct logical_addr){(uint64_t)adapter->caps.HighestAcceptableAddress.QuadPart});

    memset(&mm, 0, sizeof(mm));
    mm.ddi = &adapter->ddi;
    mm.ram = adapter->port->config.ram;
    mm.device = adapter->device;
    mm.domain = adapter->domain;
    mm.scheduler = &vidsch_for_vidmm;
    if (adapter->shared_address_space)
        mm.pasids = bus_pasids(adapter->port->config.bus);
    mm.caps = adapter->caps.MemoryManagementCaps;
    mm.wddm_version = port_model_version(adapter);
    mm.aperture_commit_limit = adapter->caps.ApertureSegmentCommitLimit;
    mm.internal_va_start = adapter->caps.InternalGpuVirtualAddressRangeStart;
    mm.internal_va_end = adapter->caps.InternalGpuVirtualAddressRangeEnd;
    mm.paging_node = adapter->physical_caps.PagingNodeIndex;
    mm.segments = adapter->segments;
    mm.segment_count = adapter->segment_count;
    mm.bad_range = adapter->bad_range;
    mm.bad_range_count = adapter->bad_range_count;
    mm.move_paging = adapter->physical_caps.Flags.MovePagingSupported;
    mm.gpu_mmu = adapter->gpu_mmu;
    mm.mmu = adapter->mmu;
    memcpy(mm.level, adapter->level, sizeof(mm.level));
    return vidmm_create(&mm, &adapter->vidmm);
}

static NTSTATUS create_vidsch(struct port_adapter *adapter)
{
    struct vidsch_config sch;

    memset(&sch, 0, sizeof(sch));
    sch.ddi = &adapter->ddi;
    sch.device = adapter->device;
    sch.ram = adapter->port->config.ram;
    sch.domain = adapter->domain;
    sch.wddm_version = port_model_version(adapter);
    sch.nodes = adapter->nodes;
    sch.node = adapter->node;
    sch.paging_node = adapter->physical_caps.PagingNodeIndex;
    sch.caps = adapter->caps.SchedulingCaps;
    sch.max_allocation_list_slot = adapter->caps.MaxAllocationListSlotId;
    sch.split_dma_buffers = adapter->port->config.split_dma_buffers;
    sch.required_dma_queue_entry = adapter->port->config.required_dma_queue_entry;
    sch.paging_buffer_bytes = (UINT)align_up(adapter->segments.PagingBufferSize,
                                             PAGE_BYTES); /* CAPS-077 */
    sch.paging_segment = adapter->segments.PagingBufferSegmentId;
    sch.paging_buffer_private_bytes = adapter->segments.PagingBufferPrivateDataSize;
    sch.per_engine_tdr = adapter->caps.SupportPerEngineTDR;
    for (UINT i = 0; i < adapter->segment_count; i++)
        if (port_segment(adapter, i)->Flags.Aperture)
            sch.aperture_segment_set |= 1u << i;
    if (adapter->mode != IOMMU_REMAP) /* CAPS-020: else the limit is that of logical addresses */
        sch.highest_address = (uint64_t)adapter->caps.HighestAcceptableAddress.QuadPart;
    if (adapter->gpu_mmu)
        sch.virtual_address_end = 1ull << adapter->mmu.VirtualAddressBitCount;
    sch.tdr = port_tdr_settings(&adapter->port->config.tdr);
    sch.adapter_lost = adapter_lost;
    return vidsch_create(&sch, &adapter->vidsch);
}

NTSTATUS port_managers_create(struct port_adapter *adapter)
{
    NTSTATUS status = create_vidmm(adapter);

    if (NT_SUCCESS(status))
        status = create_vidsch(adapter);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_start_process(adapter->vidmm);
    adapter->process_started = NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidsch_start(adapter->vidsch);
    adapter->vidsch_started = adapter->process_started && NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidmm_start(adapter->vidmm);
    adapter->vidmm_started = adapter->vidsch_started && NT_SUCCESS(status);
    return status;
}

void port_managers_destroy(struct port_adapter *adapter)
{
    if (adapter->vidsch && adapter->vidsch_started)
        vidsch_quiesce(adapter->vidsch);
    if (adapter->vidmm && (adapter->vidmm_started || adapter->process_started))
        vidmm_stop(adapter->vidmm);
    if (adapter->vidsch && adapter->vidsch_started)
        vidsch_stop(adapter->vidsch);
    if (adapter->vidmm)
        vidmm_destroy(adapter->vidmm);
    if (adapter->vidsch)
        vidsch_destroy(adapter->vidsch);
    adapter->vidsch_started = adapter->vidmm_started = adapter->process_started = false;
    adapter->vidmm = NULL;
    adapter->vidsch = NULL;
}

/* ---- standstill with empty video memory ---- */

#define STANDSTILL_LIMIT 60000000000u
#define FIRST_PATIENCE   1000000u /* ns */

/* Once more if the GPU hung over it: the reset that followed set paging free again. Resets are counted, so that comes to an end. */
static NTSTATUS empty_and_suspend(struct port_adapter *adapter, const uint64_t *kept_bytes,
                                  bool losing_power)
{
    NTSTATUS status;

    for (;;) {
        status = vidmm_evacuate(adapter->vidmm, kept_bytes, losing_power);
        if (!NT_SUCCESS(status))
            return status;
        status = vidsch_suspend(adapter->vidsch, STANDSTILL_LIMIT);
        if (!NT_SUCCESS(status) && !sim_current->stopped)
            (void)vidmm_return(adapter->vidmm);
        if (!NT_SUCCESS(status) || vidmm_is_evacuated(adapter->vidmm))
            return status;
        vidsch_resume(adapter->vidsch);
    }
}

static NTSTATUS evacuate_once(struct port_adapter *adapter, const uint64_t *kept_bytes,
                              bool losing_power)
{
    NTSTATUS status = vidsch_hold_clients(adapter->vidsch, STANDSTILL_LIMIT);

    if (!NT_SUCCESS(status))
        return status;
    status = empty_and_suspend(adapter, kept_bytes, losing_power);
    if (!NT_SUCCESS(status))
        vidsch_release_clients(adapter->vidsch);
    return status;
}

/* A power-down and exclusions may overlap: the first empties video memory, the last lets it be used
 * again. */
static NTSTATUS join_evacuation(struct port_adapter *adapter, const struct port_evacuation *how)
{
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&adapter->evacuation_lock);
    if (adapter->evacuations == 0)
        status = evacuate_once(adapter, how->kept_bytes, how->losing_power);
    adapter->evacuations += NT_SUCCESS(status);
    sim_mutex_unlock(&adapter->evacuation_lock);
    return status;
}

static uint64_t at_most(uint64_t patience, uint64_t deadline)
{
    uint64_t rest = deadline > sim_now() ? deadline - sim_now() : 0;

    return patience < rest ? patience : rest;
}

/* A thread inside the driver may wait for paging, which there is none of until port_return: so that comes in between, and then
 * the same again. */
NTSTATUS port_evacuate(struct port_adapter *adapter, const struct port_evacuation *how)
{
    const uint64_t deadline = sim_now() + how->limit_ns;

    if (!adapter->vidsch)
        return ddi_exclude_others(&adapter->ddi, how->limit_ns);
    for (uint64_t patience = FIRST_PATIENCE;; patience *= 2) {
        NTSTATUS status = join_evacuation(adapter, how);

        if (status == STATUS_IO_TIMEOUT && how->name)
            ddi_report_inside(&adapter->ddi, how->name);
        if (!NT_SUCCESS(status))
            return status;
        patience = at_most(patience, deadline);
        if (NT_SUCCESS(ddi_exclude_others(&adapter->ddi, patience)))
            return STATUS_SUCCESS;
        (void)port_return(adapter);
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        if (sim_now() >= deadline) {
            if (how->name)
                ddi_report_inside(&adapter->ddi, how->name);
            return STATUS_IO_TIMEOUT;
        }
        sim_block(sim_now() + at_most(patience, deadline), NULL);
    }
}

NTSTATUS port_return(struct port_adapter *adapter)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (!adapter->vidsch)
        return status;
    sim_mutex_lock(&adapter->evacuation_lock);
    if (--adapter->evacuations == 0) {
        vidsch_resume(adapter->vidsch);
        status = vidmm_return(adapter->vidmm);
        vidsch_release_clients(adapter->vidsch);
    }
    sim_mutex_unlock(&adapter->evacuation_lock);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The memory manager and the scheduler of an adapter: created when the driver has answered all
 * queries, destroyed before it stops. */
#include <stdio.h>
#include <string.h>

#include "port/running/managers.h"
#include "bus/bus.h"
#include "bus/patches.h"
#include "ddi/ddi.h"
#include "modes/display_worker.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/running/tdr_settings.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "util/checked.h"
#include "verify/verify.h"
#include "vidmm/record/vidmm_config.h"
#include "vidmm/reset.h"
#include "vidmm/vidmm.h"
#include "vidsch/patch_format.h"

static void loss(struct ddi_adapter *ddi, const char *text)
{
    const struct port_adapter *adapter = port_adapter_of_ddi(ddi);
    const struct port_config *config = &adapter->port->config;
    char line[1664];

    if (!config->loss)
        return;
    snprintf(line, sizeof(line), "%s: %s", adapter->name, text);
    config->loss(config->log_context, line);
}

/* PRES-253 */
static void restarted(struct ddi_adapter *ddi)
{
    const struct port_adapter *adapter = port_adapter_of_ddi(ddi);

    if (adapter->display.modes)
        display_worker_reset(adapter->display.modes);
}

/* NULL: the index is that of none. */
static const struct vidsch_node_info *paging_node(const struct port_adapter *adapter)
{
    const UINT node = adapter->caps.physical.PagingNodeIndex;

    return node < adapter->nodes.count ? &adapter->nodes.node[node] : NULL;
}

static bool pages_in_hardware(const struct port_adapter *adapter)
{
    return adapter->caps.gpu_mmu && paging_node(adapter) &&
           paging_node(adapter)->hardware_scheduled &&
           adapter->caps.driver.SchedulingCaps.MultiEngineAware;
}

static NTSTATUS create_vidmm(struct port_adapter *adapter)
{
    struct vidmm_config mm;

    if (port_adapter_dma_mode(adapter) == IOMMU_REMAP) /* CAPS-020; otherwise CAPS-021 holds */
        iommu_domain_set_highest(
            port_adapter_domain(adapter),
            (struct logical_addr){(uint64_t)adapter->caps.driver.HighestAcceptableAddress.QuadPart});

    memset(&mm, 0, sizeof(mm));
    mm.ddi = &adapter->ddi;
    mm.ram = adapter->port->config.ram;
    mm.device = adapter->device;
    mm.domain = port_adapter_domain(adapter);
    mm.scheduler = &vidsch_for_vidmm;
    if (adapter->caps.shared_address_space)
        mm.pasids = bus_pasids(adapter->port->config.bus);
    mm.caps = adapter->caps.driver.MemoryManagementCaps;
    mm.wddm_version = port_model_version(adapter);
    mm.aperture_commit_limit = adapter->caps.driver.ApertureSegmentCommitLimit;
    mm.internal_va_start = adapter->caps.driver.InternalGpuVirtualAddressRangeStart;
    mm.internal_va_end = adapter->caps.driver.InternalGpuVirtualAddressRangeEnd;
    mm.segments = adapter->segments.out;
    mm.segment_count = adapter->segments.count;
    mm.bad_range = adapter->segments.bad_range;
    mm.bad_range_count = adapter->segments.bad_range_count;
    mm.bank = adapter->segments.bank;
    mm.bank_count = adapter->segments.bank_count;
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0) /* ALLOC-134 */
        mm.swizzling_ranges = adapter->caps.driver.NumberOfSwizzlingRanges;
    mm.move_paging = adapter->caps.physical.Flags.MovePagingSupported;
    mm.gpu_mmu = adapter->caps.gpu_mmu;
    mm.paging_space_mb = adapter->caps.paging_space_mb;
    mm.driver_fences = adapter->port->config.driver_fences;
    mm.hw_paging = pages_in_hardware(adapter);
    mm.hw_paging_signals = mm.hw_paging &&
                           !paging_node(adapter)->metadata.Flags.RingBufferFenceRelease;
    mm.chronicle = adapter->port->config.chronicle;
    mm.sparse_addresses = adapter->port->config.sparse_addresses;
    mm.check_tables = adapter->port->config.check_tables;
    mm.table_format = adapter->port->config.table_format;
    mm.mmu = adapter->mmu.caps;
    memcpy(mm.level, adapter->mmu.level, sizeof(mm.level));
    return vidmm_create(&mm, &adapter->managers.vidmm);
}

/* How the driver writes addresses into DMA buffers; NULL: it is not known. */
static const struct dxgk_patch_format *patch_format(const struct port_adapter *adapter)
{
    const struct dxgk_patch_format *told = bus_device_patch_format(adapter->device);
    const char *why;

    if (adapter->port->config.patch_format)
        return adapter->port->config.patch_format;
    if (!told || patch_format_check(told, &why))
        return told;
    NOTE("PATCH-164", "what the device model tells of patch locations is not used: %s", why);
    return NULL;
}

static NTSTATUS create_vidsch(struct port_adapter *adapter)
{
    struct vidsch_config sch;

    memset(&sch, 0, sizeof(sch));
    sch.ddi = &adapter->ddi;
    sch.ram = adapter->port->config.ram;
    sch.domain = port_adapter_domain(adapter);
    sch.wddm_version = port_model_version(adapter);
    sch.nodes = adapter->nodes.count;
    sch.node = adapter->nodes.node;
    sch.paging_node = adapter->caps.physical.PagingNodeIndex;
    sch.hw_paging = pages_in_hardware(adapter);
    sch.caps = adapter->caps.driver.SchedulingCaps;
    sch.max_allocation_list_slot = adapter->caps.driver.MaxAllocationListSlotId;
    sch.split_dma_buffers = adapter->port->config.split_dma_buffers;
    sch.test_prepatching = adapter->port->config.test_prepatching;
    sch.required_dma_queue_entry = adapter->port->config.required_dma_queue_entry;
    sch.paging_buffer_bytes = (UINT)align_up(adapter->segments.out.PagingBufferSize,
                                             PAGE_BYTES); /* CAPS-077 */
    sch.paging_segment = adapter->segments.out.PagingBufferSegmentId;
    sch.paging_buffer_private_bytes = adapter->segments.out.PagingBufferPrivateDataSize;
    sch.per_engine_tdr = adapter->caps.driver.SupportPerEngineTDR;
    sch.native_to_cmp = adapter->caps.native_fence.MapToCmpAddressSpace;
    sch.doorbell_bytes = adapter->caps.user_mode.DoorbellSizeInBytes;
    if (adapter->caps.user_mode.Flags.SecondaryDoorbellSupported)
        sch.secondary_doorbell_bytes = adapter->caps.user_mode.SecondaryDoorbellSizeInBytes;
    sch.displays = adapter->displays;
    for (UINT i = 0; i < adapter->segments.count; i++)
        if (port_segment(adapter, i)->Flags.Aperture)
            sch.aperture_segment_set |= 1u << i;
    if (adapter->caps.gpu_mmu)
        sch.virtual_address_end = 1ull << adapter->mmu.caps.VirtualAddressBitCount;
    sch.tdr = port_tdr_settings(&adapter->port->config.tdr);
    sch.policy = adapter->port->config.policy;
    sch.loss = loss;
    sch.restarted = restarted;
    sch.device = adapter->device;
    sch.checked = adapter->port->config.check_tables && adapter->caps.gpu_mmu ? adapter->device
                                                                              : NULL;
    sch.journal = adapter->port->config.journal;
    sch.check_patches = adapter->port->config.check_patches;
    sch.patch_format = patch_format(adapter);
    return vidsch_create(&sch, &adapter->managers.vidsch);
}

void port_managers_init(struct port_adapter *adapter)
{
    sim_mutex_init(&adapter->managers.evacuation_lock);
}

void port_managers_check(struct port_adapter *adapter)
{
    (void)create_vidmm(adapter);
}

NTSTATUS port_managers_create(struct port_adapter *adapter)
{
    NTSTATUS status = create_vidmm(adapter);

    sim_assert_passive();
    if (NT_SUCCESS(status))
        status = create_vidsch(adapter);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_start_process(adapter->managers.vidmm);
    adapter->managers.process_started = NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidsch_start(adapter->managers.vidsch);
    adapter->managers.vidsch_started = adapter->managers.process_started && NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidmm_start(adapter->managers.vidmm);
    adapter->managers.vidmm_started = adapter->managers.vidsch_started && NT_SUCCESS(status);
    return status;
}

void port_managers_destroy(struct port_adapter *adapter)
{
    if (adapter->managers.vidsch && adapter->managers.vidsch_started)
        vidsch_quiesce(adapter->managers.vidsch);
    if (adapter->managers.vidmm &&
        (adapter->managers.vidmm_started || adapter->managers.process_started))
        vidmm_stop(adapter->managers.vidmm);
    if (adapter->managers.vidsch && adapter->managers.vidsch_started)
        vidsch_stop(adapter->managers.vidsch);
    if (adapter->managers.vidmm)
        vidmm_destroy(adapter->managers.vidmm);
    if (adapter->managers.vidsch)
        vidsch_destroy(adapter->managers.vidsch);
    adapter->managers.vidsch_started = adapter->managers.vidmm_started =
        adapter->managers.process_started = false;
    adapter->managers.vidmm = NULL;
    adapter->managers.vidsch = NULL;
}

/* ---- level two ---- */

#define IDLE_LIMIT_NS 60000000000u /* THREAD-037 */

NTSTATUS port_stand_still(struct port_adapter *adapter, const char *name)
{
    return adapter->managers.vidsch
               ? vidsch_stand_still(adapter->managers.vidsch, IDLE_LIMIT_NS, name)
               : STATUS_SUCCESS;
}

void port_go_on(struct port_adapter *adapter)
{
    if (adapter->managers.vidsch)
        vidsch_go_on(adapter->managers.vidsch);
}

/* ---- evacuation ---- */

#define STANDSTILL_LIMIT 60000000000u
#define FIRST_PATIENCE   1000000u /* ns */

/* Try again if the GPU hung meanwhile, since the reset let paging run again. The number of resets
 * is limited, so this ends. */
static NTSTATUS empty_and_suspend(struct port_adapter *adapter, const uint64_t *kept_bytes,
                                  bool losing_power)
{
    NTSTATUS status;

    for (;;) {
        status = vidmm_evacuate(adapter->managers.vidmm, kept_bytes, losing_power);
        if (!NT_SUCCESS(status))
            return status;
        status = vidsch_suspend(adapter->managers.vidsch, STANDSTILL_LIMIT);
        if (!NT_SUCCESS(status) && !sim_current->stopped)
            (void)vidmm_return(adapter->managers.vidmm);
        if (!NT_SUCCESS(status) || vidmm_is_evacuated(adapter->managers.vidmm))
            return status;
        vidsch_resume(adapter->managers.vidsch);
    }
}

static NTSTATUS evacuate_once(struct port_adapter *adapter, const uint64_t *kept_bytes,
                              bool losing_power)
{
    NTSTATUS status = vidsch_hold_clients(adapter->managers.vidsch, STANDSTILL_LIMIT);

    if (!NT_SUCCESS(status))
        return status;
    if (losing_power) /* KMT-186: the contexts are suspended, and their memory is still there */
        vidsch_doorbells_disconnect(adapter->managers.vidsch);
    status = empty_and_suspend(adapter, kept_bytes, losing_power);
    if (!NT_SUCCESS(status))
        vidsch_release_clients(adapter->managers.vidsch);
    return status;
}

/* A power-down and exclusions may overlap: the first one empties video memory, and when the last
 * one has ended it is used again. */
static NTSTATUS join_evacuation(struct port_adapter *adapter, const struct port_evacuation *how)
{
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&adapter->managers.evacuation_lock);
    if (adapter->managers.evacuations == 0)
        status = evacuate_once(adapter, how->kept_bytes, how->losing_power);
    adapter->managers.evacuations += NT_SUCCESS(status);
    sim_mutex_unlock(&adapter->managers.evacuation_lock);
    return status;
}

static uint64_t at_most(uint64_t patience, uint64_t deadline)
{
    uint64_t rest = deadline > sim_now() ? deadline - sim_now() : 0;

    return patience < rest ? patience : rest;
}

/* A thread inside the driver may be waiting for paging, which stops until port_return. So, if
 * threads do not leave the driver soon, let paging run for a while and try again, each time for
 * longer. */
NTSTATUS port_evacuate(struct port_adapter *adapter, const struct port_evacuation *how)
{
    const uint64_t deadline = sim_now() + how->limit_ns;

    sim_assert_passive();
    if (!adapter->managers.vidsch)
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

    sim_assert_passive();
    if (!adapter->managers.vidsch)
        return status;
    sim_mutex_lock(&adapter->managers.evacuation_lock);
    if (--adapter->managers.evacuations == 0) {
        vidsch_resume(adapter->managers.vidsch);
        status = vidmm_return(adapter->managers.vidmm);
        vidsch_release_clients(adapter->managers.vidsch);
    }
    sim_mutex_unlock(&adapter->managers.evacuation_lock);
    return status;
}

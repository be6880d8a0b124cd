/* SPDX-License-Identifier: MIT */
/* A machine with a device that does nothing but DMA, for tests and benchmarks. */
#include "bus/bus.h"
#include "bus/dma.h"
#include "bus/support/dma_rig.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "support/inert_device.h"

#include <string.h>

static bool build(struct dma_rig *rig, enum iommu_mode mode, uint64_t ram_bytes, uint64_t highest)
{
    rig->ram = ram_create(&(struct ram_config){.bytes = ram_bytes});
    if (!rig->ram)
        return false;
    rig->bus = bus_create(rig->ram);
    rig->domain = iommu_domain_create(rig->ram, mode, (struct logical_addr){highest});
    if (!rig->bus || !rig->domain)
        return false;
    rig->device = inert_device_add(rig->bus, 0);
    if (!rig->device)
        return false;
    rig->services = inert_device->services;
    rig->host = inert_device->host;
    return bus_device_attach(rig->device, rig->domain) == IOMMU_DONE;
}

bool dma_rig_create(struct dma_rig *rig, enum iommu_mode mode, uint64_t ram_bytes, uint64_t highest)
{
    const struct sim_config config = {.seed = 5, .processors = 1};

    memset(rig, 0, sizeof(*rig));
    rig->machine = sim_machine_create(&config);
    if (!rig->machine)
        return false;
    sim_enter(rig->machine);
    if (build(rig, mode, ram_bytes, highest))
        return true;
    dma_rig_destroy(rig);
    return false;
}

bool dma_rig_destroy(struct dma_rig *rig)
{
    bool deleted = true;

    if (rig->device)
        bus_device_attach(rig->device, NULL);
    if (rig->domain) {
        iommu_domain_clear(rig->domain);
        deleted = iommu_domain_delete(rig->domain) == IOMMU_DONE;
    }
    if (rig->bus)
        bus_destroy(rig->bus);
    if (rig->ram)
        ram_destroy(rig->ram);
    sim_leave();
    sim_machine_destroy(rig->machine);
    return deleted;
}

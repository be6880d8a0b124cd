/* SPDX-License-Identifier: MIT */
/* A machine with a device that does nothing but DMA, for tests and benchmarks. */
#include "bus/support/dma_rig.h"

#include <stdlib.h>
#include <string.h>

/* ---- a device that does nothing by itself ---- */

struct master {
    const struct dxgk_device_services *services;
    void *host;
};

static struct master *made; /* last, until its rig has it */

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *out,
                      const char **error)
{
    (void)config;
    (void)error;
    *out = (struct dxgk_device_description){.vendor = 0x1AF4,
                                            .device = 0x666,
                                            .class_code = 0x038000,
                                            .bar = {{DXGK_BAR_REGISTERS, 4096}},
                                            .messages = 1,
                                            .dma_bits = DMA_RIG_BITS};
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    made = malloc(sizeof(*made));
    if (made)
        *made = (struct master){services, host};
    return made;
}

static void ignore(void *device)
{
    (void)device;
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    (void)device;
    (void)bar;
    (void)offset;
    (void)width;
    return 0;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    (void)device;
    (void)bar;
    (void)offset;
    (void)width;
    (void)value;
}

static void timer(void *device, unsigned index)
{
    (void)device;
    (void)index;
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "bus master",
    .configure = configure,
    .create = create,
    .destroy = free,
    .reset = ignore,
    .read = read_register,
    .write = write_register,
    .timer = timer,
};

/* ---- the machine around it ---- */

static bool build(struct dma_rig *rig, enum iommu_mode mode, uint64_t ram_bytes, uint64_t highest)
{
    char error[128];

    rig->ram = ram_create(&(struct ram_config){.bytes = ram_bytes});
    if (!rig->ram)
        return false;
    rig->bus = bus_create(rig->ram);
    rig->domain = iommu_domain_create(rig->ram, mode, (struct logical_addr){highest});
    if (!rig->bus || !rig->domain)
        return false;
    rig->device = bus_device_add(rig->bus, &model, NULL, error, sizeof(error));
    if (!rig->device)
        return false;
    rig->services = made->services;
    rig->host = made->host;
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

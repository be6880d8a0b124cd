/* SPDX-License-Identifier: MIT */
/* The rig of the tests of the bus. */
#include "bus/bus.h"
#include "bus/device.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"
#include "util/address.h"

#include <stdlib.h>
#include <string.h>

struct probe_rig rig;

/* ---- the device ---- */

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *out,
                      const char **error)
{
    rig.options = config->count;
    *out = rig.description;
    *error = rig.refusal;
    return !rig.refusal;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    if (rig.refuse_create)
        return NULL;
    rig.probe = calloc(1, sizeof(*rig.probe));
    rig.probe->services = services;
    rig.probe->host = host;
    return rig.probe;
}

static void reset(void *device)
{
    ((struct probe *)device)->resets++;
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct probe *p = device;
    uint64_t value = 0;

    (void)bar;
    p->reads++;
    memcpy(&value, (uint8_t *)p->reg + offset % sizeof(p->reg), width);
    return value;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct probe *p = device;

    (void)bar;
    p->writes++;
    memcpy((uint8_t *)p->reg + offset % sizeof(p->reg), &value, width);
}

static void timer(void *device, unsigned index)
{
    struct probe *p = device;

    p->timers++;
    p->last_timer = index;
    p->last_time = p->services->now(p->host);
}

const struct dxgk_device_model rig_model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "probe",
    .configure = configure,
    .create = create,
    .destroy = free,
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .timer = timer,
};

/* ---- the machine ---- */

void rig_default_description(void)
{
    rig.description = (struct dxgk_device_description){
        .vendor = 0x1AF4,
        .device = 0x1050,
        .subsystem_vendor = 1,
        .subsystem = 2,
        .revision = 7,
        .class_code = 0x038000,
        .bar = {{DXGK_BAR_REGISTERS, 8192},
                {DXGK_BAR_NONE, 0},
                {DXGK_BAR_MEMORY, 1 << 20},
                {DXGK_BAR_NONE, 0},
                {DXGK_BAR_MEMORY, 65536}},
        .messages = 3,
        .device_memory = 4 << 20,
        .dma_bits = 36,
    };
    rig.refusal = NULL;
    rig.refuse_create = false;
}

int rig_setup(void)
{
    const struct sim_config config = {.seed = 5, .processors = 1};
    const struct ram_config ram_config = {.bytes = 32u << 20};

    rig.machine = sim_machine_create(&config);
    sim_enter(rig.machine);
    rig.ram = ram_create(&ram_config);
    rig.bus = bus_create(rig.ram);
    rig.domain = iommu_domain_create(rig.ram, IOMMU_REMAP, (struct logical_addr){0xFFFFFFFFF});
    rig_default_description();
    return rig.bus && rig.domain ? 0 : -1;
}

int rig_teardown(void)
{
    bus_destroy(rig.bus);
    iommu_domain_destroy(rig.domain);
    ram_destroy(rig.ram);
    assert_true(rig.machine->heap.live_blocks <= 1); /* the simulator's event heap */
    sim_leave();
    sim_machine_destroy(rig.machine);
    return 0;
}

struct bus_device *rig_add(void)
{
    struct bus_device *device = bus_device_add(rig.bus, &rig_model, NULL, &rig.error);

    assert_non_null(device);
    return device;
}

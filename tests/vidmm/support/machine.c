/* SPDX-License-Identifier: MIT */
/* The machine below the rigs of this room, and its device that only has memory. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the device: memory of the size that its one option says ---- */

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)error;
    description->vendor = 0x1234;
    description->device = 1;
    description->class_code = 0x120000;
    description->bar[0] = (struct dxgk_device_bar){.kind = DXGK_BAR_MEMORY,
                                                   .bytes = strtoull(config->option[0], NULL, 10)};
    description->messages = 1;
    description->dma_bits = 48;
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    static int something;

    (void)config;
    (void)services;
    (void)host;
    return &something;
}

static void nothing(void *device)
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
    .name = "memory",
    .configure = configure,
    .create = create,
    .destroy = nothing,
    .reset = nothing,
    .read = read_register,
    .write = write_register,
    .timer = timer,
};

/* ---- the machine ---- */

void rig_machine_begin(struct rig_machine *machine, const struct rig_machine_config *config)
{
    const struct sim_config sim = {.seed = config->seed, .processors = 2};
    const struct ram_config ram = {.bytes = config->ram_bytes};
    struct nt_config nt = {0};
    char bytes[32];
    char error[256];

    machine->sim = sim_machine_create(&sim);
    CHECK(machine->sim);
    sim_enter(machine->sim);
    machine->log = verify_log_create();
    verify_log_install(machine->log);
    machine->ram = ram_create(&ram);
    CHECK(machine->ram);
    machine->bus = bus_create(machine->ram);
    CHECK(machine->bus);
    machine->sim->room[SIM_ROOM_BUS] = machine->bus;
    snprintf(bytes, sizeof(bytes), "%" PRIu64, config->vram_bytes);
    machine->device = bus_device_add(
        machine->bus, &model,
        &(struct dxgk_device_config){.count = 1, .option = (const char *const[]){bytes}}, error,
        sizeof(error));
    CHECK(machine->device);
    machine->domain = iommu_domain_create(machine->ram, config->iommu,
                                          (struct logical_addr){((uint64_t)1 << 40) - 1});
    CHECK(machine->domain);
    nt.ram = machine->ram;
    nt.bus = machine->bus;
    machine->nt = nt_create(&nt);
    CHECK(machine->nt);
}

void rig_machine_end(struct rig_machine *machine)
{
    nt_destroy(machine->nt);
    bus_device_remove(machine->device);
    iommu_domain_destroy(machine->domain);
    bus_destroy(machine->bus);
    ram_destroy(machine->ram);
    verify_log_install(NULL);
    verify_log_destroy(machine->log);
    sim_leave();
    sim_machine_destroy(machine->sim);
}

struct run {
    void (*body)(void *arg);
    void *arg;
    bool done;
};

static void run_thread(void *arg)
{
    struct run *run = arg;

    run->body(run->arg);
    run->done = true;
}

static bool run_done(void *arg)
{
    return ((struct run *)arg)->done;
}

void rig_machine_run(struct nt_process *process, void (*body)(void *arg), void *arg)
{
    struct run run = {.body = body, .arg = arg};
    struct sim_thread *thread = nt_client_thread_create(process, "test", run_thread, &run);

    CHECK(thread);
    CHECK(sim_run(run_done, &run, SIM_FOREVER) == SIM_DONE);
    sim_thread_release(thread);
}

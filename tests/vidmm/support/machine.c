/* SPDX-License-Identifier: MIT */
/* The machine below the rigs of this room. */
#include "bus/bus.h"
#include "bus/device.h"
#include "machine.h"
#include "nt/base/nt_config.h"
#include "nt/nt.h"
#include "nt/ps/thread.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/inert_device.h"

void rig_machine_begin(struct rig_machine *machine, const struct rig_machine_config *config)
{
    const struct sim_config sim = {.seed = config->seed, .processors = 2};
    const struct ram_config ram = {.bytes = config->ram_bytes};
    struct nt_config nt = {0};

    machine->sim = sim_machine_create(&sim);
    CHECK(machine->sim);
    sim_enter(machine->sim);
    machine->log = verify_log_create();
    verify_log_install(machine->log);
    machine->ram = ram_create(&ram);
    CHECK(machine->ram);
    machine->bus = bus_create(machine->ram);
    CHECK(machine->bus);
    machine->device = inert_device_add(machine->bus, config->vram_bytes);
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

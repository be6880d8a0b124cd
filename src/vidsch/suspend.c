/* SPDX-License-Identifier: MIT */
/* Suspension: nothing more is submitted, and all that was submitted has ended (IOMMU-057,
 * THREAD-036); or the same for the packets of all clients (LIFE-154), or of one process. */
#include "vidsch/suspend.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/ready.h"
#include "vidsch/recovery.h"
#include "vidsch/ringing_hold.h"
#include "vidsch/scheduler.h"

#define FIRST_TRY_NS 1000000u

/* Packets end first: they may wait for what a client submits itself. False: not by the deadline. */
static bool come_to_rest(struct vidsch *vidsch, bool (*works)(const struct vidsch *),
                         uint64_t deadline)
{
    do {
        while (works(vidsch) && !sim_current->stopped)
            if (!vidsch_change_wait(vidsch, deadline) && works(vidsch))
                return false;
        if (!vidsch_ringing_hold(vidsch, NULL, deadline))
            return false;
    } while (works(vidsch) && !sim_current->stopped);
    return true;
}

/* ---- all ---- */

static bool at_work(const struct vidsch *vidsch)
{
    if (vidsch->worker.busy_node || vidsch_recovery_of_adapter(vidsch))
        return true;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].count > 0 || vidsch->node[i].hw.count > 0 || vidsch->node[i].preempting)
            return true;
    return false;
}

NTSTATUS vidsch_suspend(struct vidsch *vidsch, uint64_t limit_ns)
{
    const uint64_t deadline = sim_now() + limit_ns;

    sim_assert_passive();
    vidsch->suspension.all++;
    if (!come_to_rest(vidsch, at_work, deadline)) {
        vidsch_resume(vidsch);
        return refuse(STATUS_IO_TIMEOUT, NULL, "the work of clients did not end in time");
    }
    if (!sim_current->stopped)
        return STATUS_SUCCESS;
    vidsch_resume(vidsch);
    return STATUS_DEVICE_REMOVED;
}

void vidsch_resume(struct vidsch *vidsch)
{
    vidsch->suspension.all--;
    vidsch_kick_all(vidsch);
    vidsch_change_announce(&vidsch->change);
}

static uint64_t at_most(uint64_t try_ns, uint64_t deadline)
{
    uint64_t rest = deadline > sim_now() ? deadline - sim_now() : 0;

    return try_ns < rest ? try_ns : rest;
}

NTSTATUS vidsch_stand_still(struct vidsch *vidsch, uint64_t limit_ns, const char *name)
{
    const uint64_t deadline = sim_now() + limit_ns;

    sim_assert_passive();
    for (uint64_t try_ns = FIRST_TRY_NS;; try_ns *= 2) {
        NTSTATUS status = vidsch_suspend(vidsch, limit_ns);

        if (status == STATUS_IO_TIMEOUT && name)
            ddi_report_inside(vidsch->ddi, name);
        if (!NT_SUCCESS(status))
            return status;
        try_ns = at_most(try_ns, deadline);
        if (NT_SUCCESS(ddi_exclude_others(vidsch->ddi, try_ns)))
            return STATUS_SUCCESS;
        vidsch_resume(vidsch);
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        if (sim_now() >= deadline) {
            if (name)
                ddi_report_inside(vidsch->ddi, name);
            return refuse(STATUS_IO_TIMEOUT, NULL, "the work of clients did not end in time");
        }
        sim_block(sim_now() + at_most(try_ns, deadline), NULL);
    }
}

void vidsch_go_on(struct vidsch *vidsch)
{
    ddi_admit_others(vidsch->ddi);
    vidsch_resume(vidsch);
}

/* ---- clients ---- */

static bool clients_at_work(const struct vidsch *vidsch)
{
    if (vidsch_recovery_of_adapter(vidsch) || vidsch->keeper.portions)
        return true;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system && device->in_flight)
            return true;
    }
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (!list_empty(&vidsch->node[i].resubmit) || vidsch->node[i].preempting)
            return true; /* preempted packets return to the driver without being asked for */
    return false;
}

NTSTATUS vidsch_hold_clients(struct vidsch *vidsch, uint64_t limit_ns)
{
    const uint64_t deadline = sim_now() + limit_ns;

    sim_assert_passive();
    vidsch->suspension.clients++;
    if (!come_to_rest(vidsch, clients_at_work, deadline)) {
        vidsch_release_clients(vidsch);
        return refuse(STATUS_IO_TIMEOUT, NULL, "the work of clients did not end in time");
    }
    if (!sim_current->stopped)
        return STATUS_SUCCESS;
    vidsch_release_clients(vidsch);
    return STATUS_DEVICE_REMOVED;
}

void vidsch_release_clients(struct vidsch *vidsch)
{
    vidsch->suspension.clients--;
    vidsch_kick_all(vidsch);
    vidsch_change_announce(&vidsch->change);
}

/* ---- a process ---- */

static bool process_runs(const struct vidsch *vidsch, const struct vidsch_process *process)
{
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process && device->in_flight)
            return true;
    }
    return false;
}

static void park(struct vidsch_device *device)
{
    LIST_FOR(link, &device->contexts) {
        struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->state != CONTEXT_READY)
            continue;
        vidsch_ready_remove(context);
        vidsch_ready_add(context); /* which parks it now */
    }
}

NTSTATUS vidsch_suspend_process(struct vidmm_process *mm)
{
    struct vidsch *vidsch;
    struct vidsch_process *process = vidsch_process_find(mm, &vidsch);

    sim_assert_passive();
    if (!process)
        return STATUS_SUCCESS; /* it has no device */
    process->references++;
    process->suspended++;
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process)
            park(device);
    }
    do
        while (process_runs(vidsch, process) && !sim_current->stopped)
            vidsch_change_wait(vidsch, SIM_FOREVER);
    while (vidsch_ringing_hold(vidsch, process, SIM_FOREVER) && process_runs(vidsch, process) &&
           !sim_current->stopped);
    return STATUS_SUCCESS;
}

void vidsch_resume_process(struct vidmm_process *mm)
{
    struct vidsch *vidsch;
    struct vidsch_process *process = vidsch_process_find(mm, &vidsch);

    if (!process || !process->suspended)
        return;
    process->suspended--;
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process != process)
            continue;
        vidsch_ready_unpark(device);
        vidsch_ringing_go_on(device);
    }
    vidsch_process_put(process);
}

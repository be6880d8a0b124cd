/* SPDX-License-Identifier: MIT */
/* Standstill: nothing is given to the driver, and what it was given is over (IOMMU-057, THREAD-036); or nothing of clients
 * (LIFE-154). */
#include "vidsch/vidsch_private.h"

#define FIRST_PATIENCE 1000000u /* ns */

static bool at_work(const struct vidsch *vidsch)
{
    if (vidsch->busy_node || vidsch->resetting || vidsch->restoring || vidsch->adapter_reset_wanted)
        return true;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].count > 0 || vidsch->node[i].preempting)
            return true;
    return false;
}

NTSTATUS vidsch_suspend(struct vidsch *vidsch, uint64_t limit_ns)
{
    const uint64_t deadline = sim_now() + limit_ns;

    vidsch->suspended++;
    while (at_work(vidsch) && !sim_current->stopped)
        if (!vidsch_wait_changed(vidsch, deadline) && at_work(vidsch)) {
            vidsch_resume(vidsch);
            return STATUS_IO_TIMEOUT;
        }
    if (!sim_current->stopped)
        return STATUS_SUCCESS;
    vidsch_resume(vidsch);
    return STATUS_DEVICE_REMOVED;
}

static void kick_all(struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch_kick(&vidsch->node[i]);
}

void vidsch_resume(struct vidsch *vidsch)
{
    vidsch->suspended--;
    kick_all(vidsch);
}

static uint64_t at_most(uint64_t patience, uint64_t deadline)
{
    uint64_t rest = deadline > sim_now() ? deadline - sim_now() : 0;

    return patience < rest ? patience : rest;
}

NTSTATUS vidsch_stand_still(struct vidsch *vidsch, uint64_t limit_ns, const char *name)
{
    const uint64_t deadline = sim_now() + limit_ns;

    for (uint64_t patience = FIRST_PATIENCE;; patience *= 2) {
        NTSTATUS status = vidsch_suspend(vidsch, limit_ns);

        if (status == STATUS_IO_TIMEOUT && name)
            ddi_report_inside(vidsch->ddi, name);
        if (!NT_SUCCESS(status))
            return status;
        patience = at_most(patience, deadline);
        if (NT_SUCCESS(ddi_exclude_others(vidsch->ddi, patience)))
            return STATUS_SUCCESS;
        vidsch_resume(vidsch);
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        if (sim_now() >= deadline) {
            if (name)
                ddi_report_inside(vidsch->ddi, name);
            return STATUS_IO_TIMEOUT;
        }
        sim_block(sim_now() + at_most(patience, deadline), NULL);
    }
}

void vidsch_go_on(struct vidsch *vidsch)
{
    ddi_admit_others(vidsch->ddi);
    vidsch_resume(vidsch);
}

static bool clients_at_work(const struct vidsch *vidsch)
{
    if (vidsch->resetting || vidsch->restoring || vidsch->adapter_reset_wanted || vidsch->keeping)
        return true;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system && device->in_flight)
            return true;
    }
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (!list_empty(&vidsch->node[i].resubmit) || vidsch->node[i].preempting)
            return true; /* what was preempted is with the driver as good as */
    return false;
}

NTSTATUS vidsch_hold_clients(struct vidsch *vidsch, uint64_t limit_ns)
{
    const uint64_t deadline = sim_now() + limit_ns;

    vidsch->clients_held++;
    while (clients_at_work(vidsch) && !sim_current->stopped)
        if (!vidsch_wait_changed(vidsch, deadline) && clients_at_work(vidsch)) {
            vidsch_release_clients(vidsch);
            return STATUS_IO_TIMEOUT;
        }
    if (!sim_current->stopped)
        return STATUS_SUCCESS;
    vidsch_release_clients(vidsch);
    return STATUS_DEVICE_REMOVED;
}

void vidsch_release_clients(struct vidsch *vidsch)
{
    vidsch->clients_held--;
    kick_all(vidsch);
}

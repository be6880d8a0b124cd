/* SPDX-License-Identifier: MIT */
/* Standstill: nothing is given to the driver, and what it was given is over (IOMMU-057, THREAD-036). */
#include "vidsch/vidsch_private.h"

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

void vidsch_resume(struct vidsch *vidsch)
{
    vidsch->suspended--;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch_kick(&vidsch->node[i]);
}

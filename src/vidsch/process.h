/* SPDX-License-Identifier: MIT */
/*
 * A process as the scheduler knows it: timeouts are counted per process, and a process is suspended
 * as a whole. The record outlives its last device if the process had timeouts (TDR-042).
 */
#ifndef DXGK_VIDSCH_PROCESS_H
#define DXGK_VIDSCH_PROCESS_H

#include "vidsch/vidsch.h"

struct vidsch_process {
    struct list link;         /* vidsch->processes */
    struct vidmm_process *mm; /* NULL while it has no device */
    uint32_t id;              /* nt_process.id */
    uint32_t devices;
    uint32_t references; /* devices, synchronization objects, suspensions */
    uint32_t suspended;
    struct list watched; /* monitored fences with waiters (SUBMIT-136) */
    D3DKMT_SCHEDULINGPRIORITYCLASS priority_class;
    uint32_t ahead; /* contexts that are ahead of the others (priority.h) */
    bool blocked;
    uint32_t timeouts;        /* of engines, so far (TDR-041) */
    uint64_t timeout_times[]; /* of the last ones, a ring of tdr.limit_count */
};

/* NULL: out of memory. */
struct vidsch_process *vidsch_process_get(struct vidsch *vidsch, struct vidmm_process *mm);
void vidsch_process_put(struct vidsch_process *process);
/* Find the process on any adapter of the machine, and that adapter's scheduler. NULL: it has no
 * device. */
struct vidsch_process *vidsch_process_find(const struct vidmm_process *mm, struct vidsch **vidsch);

#endif

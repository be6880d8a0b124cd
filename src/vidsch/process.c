/* SPDX-License-Identifier: MIT */
#include "vidsch/process.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "vidmm/process.h"
#include "vidsch/scheduler.h"

static struct vidsch_process *process_find(struct vidsch *vidsch, const struct vidmm_process *mm)
{
    LIST_FOR(link, &vidsch->processes) {
        struct vidsch_process *process = CONTAINER(link, struct vidsch_process, link);

        if (process->mm == mm)
            return process;
    }
    return NULL;
}

struct vidsch_process *vidsch_process_find(const struct vidmm_process *mm, struct vidsch **vidsch)
{
    for (*vidsch = vidsch_first(); *vidsch; *vidsch = (*vidsch)->next) {
        struct vidsch_process *process = process_find(*vidsch, mm);

        if (process)
            return process;
    }
    return NULL;
}

struct vidsch_process *vidsch_process_get(struct vidsch *vidsch, struct vidmm_process *mm)
{
    struct vidsch_process *process = process_find(vidsch, mm);
    uint32_t id = vidmm_process_nt(mm)->id;

    if (!process) {
        /* A process with a record of timeouts may open the adapter again. */
        LIST_FOR(link, &vidsch->processes) {
            struct vidsch_process *old = CONTAINER(link, struct vidsch_process, link);

            if (!old->mm && old->id == id)
                process = old;
        }
    }
    if (!process) {
        process = util_zalloc(1, sizeof(*process) + vidsch->config.tdr.limit_count *
                                                        sizeof(process->timeout_times[0]));
        if (!process)
            return NULL;
        process->id = id;
        process->priority_class = D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL;
        list_init(&process->watched);
        list_push_back(&vidsch->processes, &process->link);
    }
    process->mm = mm;
    process->references++;
    return process;
}

void vidsch_process_put(struct vidsch_process *process)
{
    if (--process->references)
        return;
    process->mm = NULL;
    if (process->blocked || process->timeouts)
        return; /* remembered (TDR-042) */
    list_remove(&process->link);
    util_free(process);
}

/* SPDX-License-Identifier: MIT */
#include "vidmm/record/chronicle.h"

#include "nt/ps/process.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"

/* The memory is not the machine's: keeping a chronicle must not change which of its allocations an
 * injected failure meets. */
static void add(struct chronicle *chronicle, const struct chronicle_event *event)
{
    if (chronicle->count == chronicle->capacity) {
        size_t capacity = chronicle->capacity ? 2 * chronicle->capacity : 256;
        void *events = realloc(chronicle->events, capacity * sizeof(*event));

        if (!events) {
            chronicle->lost++;
            return;
        }
        chronicle->events = events;
        chronicle->capacity = capacity;
    }
    chronicle->events[chronicle->count] = *event;
    chronicle->events[chronicle->count++].time = sim_now();
}

static void placed(const struct vidmm_allocation *allocation, uint64_t first, uint64_t pages)
{
    add(&allocation->vidmm->chronicle,
        &(struct chronicle_event){.kind = CHRONICLE_PLACED,
                                  .allocation = allocation->number.of_all,
                                  .segment = allocation->segment,
                                  .first = first,
                                  .pages = pages});
}

void chronicle_placed(const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;
    bool memory = allocation->segment != 0 && !vidmm->segment[allocation->segment].flags.Aperture;

    if (!vidmm->chronicle.on)
        return;
    /* in system memory the runs are frames; in an aperture they are reached in one piece */
    for (uint32_t i = 0; memory && i < allocation->run_count; i++)
        placed(allocation, allocation->runs[i].first, allocation->runs[i].pages);
    if (!memory)
        placed(allocation, allocation->segment ? allocation->aperture.first : 0, allocation->pages);
}

void chronicle_left(const struct vidmm_allocation *allocation, uint32_t why)
{
    struct chronicle *chronicle = &allocation->vidmm->chronicle;

    if (chronicle->on && allocation->runs)
        add(chronicle, &(struct chronicle_event){.kind = CHRONICLE_LEFT,
                                                 .allocation = allocation->number.of_all,
                                                 .why = why,
                                                 .room_for = chronicle->room_for});
}

void chronicle_space(struct vidmm *vidmm, const struct chronicle_event *event)
{
    if (vidmm->chronicle.on)
        add(&vidmm->chronicle, event);
}

uint32_t chronicle_process(const struct vidmm_process *process)
{
    return process->nt ? (uint32_t)(uintptr_t)nt_process_id(process->nt) : 0;
}

void chronicle_finish(struct chronicle *chronicle)
{
    free(chronicle->events);
    *chronicle = (struct chronicle){0};
}

/* SPDX-License-Identifier: MIT */
/*
 * vidmm's part of a context: which root page table it uses, and its context allocations. Before a
 * context is destroyed, vidmm waits until no root is being announced (root_table.c), so that the
 * handle passed to the driver is valid.
 */
#include "vidmm/context/context.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/root_table.h"

void vidmm_context_init(struct vidmm_context *context, struct vidmm_device *device,
                        bool virtual_addressing, bool system)
{
    *context = (struct vidmm_context){.device = device,
                                      .virtual_addressing = virtual_addressing,
                                      .system = system,
                                      .adapter = device->process->vidmm->ddi};
    list_init(&context->allocations);
    list_push_back(&device->process->contexts, &context->link);
}

static NTSTATUS start_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_space *space = arg;

    (void)turn;
    (void)vidmm;
    tables_start(space);
    return tables_settle(space);
}

NTSTATUS vidmm_context_attach(struct vidmm_context *context)
{
    struct vidmm_space *space = space_of_context(context);
    struct vidmm *vidmm = context->device->process->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    /* The tables of the paging process come behind its context, and their root with them (as
     * GPUVA-222 has it). */
    if (space && (space->root->ready || !space->paging)) {
        if (!space->root->ready)
            /* GPUVA-149: the GPU must not read uninitialized entries */
            status = paging_run(vidmm, start_job, space);
        if (!NT_SUCCESS(status))
            return vidmm_status(status);
        sim_mutex_lock(&vidmm->lock);
        root_announce_to(space, context);
        sim_mutex_unlock(&vidmm->lock);
    }
    return vidmm_context_prepare(context);
}

void vidmm_context_detach(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;
    struct vidmm_space *space = space_of_context(context);

    context_allocation_close(context);
    if (!space)
        return;
    sim_mutex_lock(&vidmm->lock);
    root_wait_announced(space);
    context->virtual_addressing = false; /* root_announce skips it from now on */
    sim_mutex_unlock(&vidmm->lock);
}

void vidmm_context_finish(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;

    context_allocation_finish_all(context);
    sim_mutex_lock(&vidmm->lock);
    list_remove(&context->link);
    sim_mutex_unlock(&vidmm->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * The part of a context that vidmm owns: which root page table it runs with, and its context
 * allocations.
 *
 * DxgkDdiSetRootPageTable is called without the lock, since the driver may update a context
 * allocation from inside it (GPUVA-162). Contexts that are about to be destroyed wait until no
 * announcement is under way (vidmm_context_detach), so a handle that is passed to the driver is
 * alive.
 */
#include "vidmm/address_space.h"
#include "vidmm/context_allocation.h"

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

/* The context runs in the space of its process (GPUVA-158). */
static bool uses_space(const struct vidmm_context *context)
{
    return context->virtual_addressing && context->device->process->space != NULL;
}

/* Lock held; dropped meanwhile. */
static void set_root(struct vidmm_context *context)
{
    const struct page_table *root = context->device->process->space->root;
    struct vidmm *vidmm = context->device->process->vidmm;
    const DXGKARG_SETROOTPAGETABLE args = {.hContext = context->driver_handle,
                                           .Address = table_address(root),
                                           .NumEntries = root->entries};

    sim_mutex_unlock(&vidmm->lock);
    ddi_set_root_page_table(vidmm->ddi, &args);
    sim_mutex_lock(&vidmm->lock);
}

static void announcing(struct vidmm_space *space)
{
    space->announcing++;
}

static void announced(struct vidmm_space *space)
{
    if (--space->announcing == 0)
        sim_waitq_wake(&space->announced, UINT32_MAX);
}

void context_announce_root(struct vidmm_space *space)
{
    struct list *contexts = &space->process->contexts;

    announcing(space);
    /* none leaves meanwhile; new ones are announced by their own attach */
    LIST_FOR(node, contexts) {
        struct vidmm_context *context = CONTAINER(node, struct vidmm_context, link);

        if (uses_space(context) && context->driver_handle)
            set_root(context);
    }
    announced(space);
}

void space_announce_all(struct vidmm *vidmm)
{
    struct paging_process *shared = vidmm->scratch;

    if (!shared)
        return;
    LIST_FOR(node, &shared->spaces)
        context_announce_root(CONTAINER(node, struct vidmm_space, link));
}

static NTSTATUS start_job(struct vidmm *vidmm, void *arg)
{
    struct vidmm_space *space = arg;

    (void)vidmm;
    tables_start(space);
    return tables_settle(space);
}

NTSTATUS vidmm_context_attach(struct vidmm_context *context)
{
    struct vidmm_space *space = context->device->process->space;
    struct vidmm *vidmm = context->device->process->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    if (uses_space(context)) {
        if (!space->root->ready)
            /* GPUVA-149: no garbage within reach of the GPU */
            status = paging_run(vidmm, start_job, space);
        if (!NT_SUCCESS(status))
            return vidmm_status(status);
        sim_mutex_lock(&vidmm->lock);
        announcing(space);
        set_root(context);
        announced(space);
        sim_mutex_unlock(&vidmm->lock);
    }
    return vidmm_context_prepare(context);
}

void vidmm_context_detach(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;
    struct vidmm_space *space = context->device->process->space;

    context_allocation_close(context);
    if (!uses_space(context))
        return;
    sim_mutex_lock(&vidmm->lock);
    while (space->announcing > 0) {
        sim_mutex_unlock(&vidmm->lock);
        if (space->announcing > 0)
            sim_waitq_wait(&space->announced, SIM_FOREVER);
        sim_mutex_lock(&vidmm->lock);
    }
    context->virtual_addressing = false; /* no announcement finds it any more */
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

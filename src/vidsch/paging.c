/* SPDX-License-Identifier: MIT */
/*
 * Submissions fill a buffer one behind the other; the next buffer is used when the driver finds no
 * room in the rest (PAGE-016). A submission, its packet and its part of a buffer are one object
 * (struct paging_slot), so that submitting allocates nothing.
 */
#include "vidsch/paging.h"
#include "ram/ram.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/space/paging_process.h"
#include "vidsch/context.h"
#include "vidsch/dma_memory.h"
#include "vidsch/scheduler.h"

/* ---- creation ---- */

/* The sizes are the driver's PagingBufferSize and PagingBufferPrivateDataSize (PAGE-003, PAGE-005),
 * not those in its answer for the context. */
bool vidsch_paging_memory_take(struct vidsch *vidsch, struct paging_memory *memory)
{
    uint32_t private_bytes = vidsch->config.paging_buffer_private_bytes;

    memory->pages = align_up(vidsch->config.paging_buffer_bytes, PAGE_BYTES) >> PAGE_BITS;
    if (!vidsch_dma_memory_take(vidsch, memory->pages, 1, &memory->first, &memory->first_logical)) {
        memory->pages = 0;
        return false;
    }
    if (!vidsch_dma_view_create(vidsch, &memory->view, memory->first, memory->pages,
                                "the paging buffer"))
        return false;
    return ddi_guarded_init(&memory->private, private_bytes,
                            "the private data of the paging buffer");
}

void vidsch_paging_memory_give(struct vidsch *vidsch, struct paging_memory *memory)
{
    vidsch_dma_view_destroy(vidsch, &memory->view);
    if (memory->pages)
        vidsch_dma_memory_give(vidsch, memory->first, memory->pages, 1, memory->first_logical);
    ddi_guarded_finish(&memory->private);
}

static NTSTATUS memory_map(struct vidsch *vidsch, struct paging_memory *memory)
{
    struct logical_page *logical = util_alloc(memory->pages * sizeof(*logical));
    NTSTATUS status;

    if (!logical)
        return STATUS_NO_MEMORY;
    for (uint64_t i = 0; i < memory->pages; i++)
        logical[i].value = memory->first_logical.value + i;
    status = vidmm_map_paging_buffer(vidsch->vidmm, logical, memory->pages, &memory->va);
    util_free(logical);
    return status;
}

/* Map the buffers into the segment that the driver wants (PAGE-002). The paging operations for that
 * are built in the same buffers, while these are still addressed as system memory. */
static NTSTATUS place_memory(struct vidsch *vidsch)
{
    if (!vidsch->config.paging_segment)
        return STATUS_SUCCESS;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        struct paging_memory *memory = &vidsch->paging.memory[i];
        NTSTATUS status;

        memory->aperture.frame = memory->first;
        memory->aperture.logical = memory->first_logical;
        memory->aperture.pages = memory->pages;
        status = vidmm_aperture_map(vidsch->vidmm, 1u << (vidsch->config.paging_segment - 1),
                                    &memory->aperture);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_paging_create(struct vidsch *vidsch)
{
    const struct vidsch_context *context = vidsch->system_context;

    if (vidsch->config.paging_buffer_bytes == 0)
        return STATUS_SUCCESS; /* PAGE-004: an adapter that never pages */
    vidsch->paging.memory = util_zalloc(VIDSCH_PAGING_BUFFERS, sizeof(*vidsch->paging.memory));
    if (!vidsch->paging.memory)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        NTSTATUS status = STATUS_SUCCESS;

        vidsch->paging.memory[i].number = i + 1;
        if (!vidsch_paging_memory_take(vidsch, &vidsch->paging.memory[i])) {
            NOTE("PAGE-003",
                 "no memory for paging buffer %u of %u, each of %u bytes in one piece: none is free "
                 "at addresses that the device reaches",
                 i + 1, VIDSCH_PAGING_BUFFERS, vidsch->config.paging_buffer_bytes);
            return STATUS_NO_MEMORY;
        }
        if (context->mm.virtual_addressing)
            status = memory_map(vidsch, &vidsch->paging.memory[i]);
        if (!NT_SUCCESS(status))
            return status;
    }
    vidsch->paging.slots = util_zalloc(VIDSCH_PAGING_SLOTS, sizeof(*vidsch->paging.slots));
    if (!vidsch->paging.slots)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < VIDSCH_PAGING_SLOTS; i++)
        list_push_back(&vidsch->paging.free, &vidsch->paging.slots[i].link);
    return place_memory(vidsch);
}

void vidsch_paging_destroy(struct vidsch *vidsch)
{
    struct paging_memory *memory = vidsch->paging.memory;

    if (!memory)
        return;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++)
        vidmm_aperture_unmap(vidsch->vidmm, &memory[i].aperture);
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++)
        vidsch_paging_memory_give(vidsch, &memory[i]);
    list_init(&vidsch->paging.free);
    util_free(vidsch->paging.slots);
    util_free(memory);
    vidsch->paging.slots = NULL;
    vidsch->paging.memory = NULL;
}

/* ---- submissions ---- */

static bool has_room(const struct vidsch *vidsch, const struct paging_memory *memory)
{
    uint32_t private_bytes = vidsch->config.paging_buffer_private_bytes;

    return !memory->full && memory->used < memory->pages << PAGE_BITS &&
           (private_bytes == 0 || memory->private_used < private_bytes);
}

/* The buffer that is being filled if it has room, else the next one in turn, reset to empty. NULL:
 * that one is still in use. */
static struct paging_memory *memory_with_room(struct vidsch *vidsch)
{
    struct paging_memory *memory = &vidsch->paging.memory[vidsch->paging.turn];

    if (has_room(vidsch, memory))
        return memory;
    memory = &vidsch->paging.memory[(vidsch->paging.turn + 1) % VIDSCH_PAGING_BUFFERS];
    if (memory->users)
        return NULL;
    vidsch->paging.turn = (vidsch->paging.turn + 1) % VIDSCH_PAGING_BUFFERS;
    memory->used = memory->private_used = 0;
    memory->full = false;
    return memory;
}

struct vidmm_paging_buffer vidsch_paging_submission_in(const struct vidsch *vidsch,
                                                       struct paging_memory *memory,
                                                       struct paging_slot *slot)
{
    struct vidmm_paging_buffer buffer = {
        .data = memory->view.data,
        .capacity = (uint32_t)(memory->pages << PAGE_BITS),
        .start = memory->used,
        .used = memory->used,
        .number = memory->number,
        .private_start = memory->private_used,
        .private_used = memory->private_used,
        .logical = {memory->first_logical.value << PAGE_BITS},
        .va = memory->va,
        .scheduler_private = slot,
    };

    if (memory->private.data) {
        buffer.private_data = memory->private.data;
        buffer.private_capacity = vidsch->config.paging_buffer_private_bytes;
    }
    return buffer;
}

NTSTATUS vidsch_paging_get(struct vidsch *vidsch, struct paging_slot **out)
{
    struct paging_memory *memory;
    struct paging_slot *slot;

    sim_assert_passive();
    if (!vidsch->paging.slots)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "the driver has no paging buffers");
    while (list_empty(&vidsch->paging.free) || (memory = memory_with_room(vidsch)) == NULL) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&vidsch->paging.wait, SIM_FOREVER);
    }
    slot = CONTAINER(list_pop_front(&vidsch->paging.free), struct paging_slot, link);
    slot->memory = memory;
    memory->users++;
    slot->public = vidsch_paging_submission_in(vidsch, memory, slot);
    *out = slot;
    return STATUS_SUCCESS;
}

void vidsch_paging_put(struct vidsch *vidsch, struct paging_slot *slot)
{
    slot->memory->users--;
    list_push_back(&vidsch->paging.free, &slot->link);
    sim_waitq_wake(&vidsch->paging.wait, UINT32_MAX);
}

void vidsch_paging_complete(struct vidsch *vidsch, uint64_t ticket)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    vidsch->paging.completed = ticket;
    sim_waitq_wake(&vidsch->paging.wait, UINT32_MAX);
}

void vidsch_paging_retired(struct vidsch *vidsch, struct paging_slot *slot)
{
    if (slot->done) {
        slot->done(slot->argument);
        return;
    }
    if (vidsch->paging.youngest == slot)
        vidsch->paging.youngest = NULL;
    vidsch_paging_complete(vidsch, slot->last_ticket);
    vidsch_paging_put(vidsch, slot);
}

/* SPDX-License-Identifier: MIT */
/*
 * Tickets complete in order. An empty submission is not queued, but its ticket completes with the
 * last packet queued before it (GPUVA-187).
 */
#include "vidsch/paging_submit.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidsch/context.h"
#include "vidsch/life.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/queue.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

bool vidsch_paging_check(const struct vidsch *vidsch, struct paging_slot *slot)
{
    struct paging_memory *memory = slot->memory;
    bool intact = true;

    (void)vidsch;
    if (!vidsch_dma_view_intact(&memory->view)) {
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_DMA_BUFFER_OVERFLOW,
                     slot->public.capacity, 0, 0,
                     "DxgkDdiBuildPagingBuffer wrote outside its DMA buffer of %u bytes",
                     slot->public.capacity);
        intact = false;
    }
    if (!ddi_guarded_intact(&memory->private)) {
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                     slot->public.private_capacity, 0, 0,
                     "DxgkDdiBuildPagingBuffer wrote outside the private data of its DMA buffer");
        intact = false;
    }
    return intact;
}

/* The packet becomes one of the hardware queue. */
static void take_to_queue(struct vidsch *vidsch, struct paging_slot *slot)
{
    const struct vidmm_paging_buffer *buffer = &slot->public;

    slot->hw = (struct hw_submission){.id = buffer->fence_value,
                                      .va = buffer->va.value + buffer->start,
                                      .bytes = buffer->used - buffer->start};
    if (buffer->private_data) {
        slot->hw.private_data = (uint8_t *)buffer->private_data + buffer->private_start;
        slot->hw.private_bytes = buffer->private_capacity - buffer->private_start;
    }
    slot->packet.context = vidsch->paging.queue;
    slot->packet.hw = &slot->hw;
}

NTSTATUS vidsch_paging_submit(struct vidsch *vidsch, struct vidmm_paging_buffer *buffer,
                              uint64_t *ticket)
{
    struct paging_slot *slot = buffer->scheduler_private;
    struct paging_memory *memory = slot->memory;
    bool empty = buffer->used == buffer->start && buffer->private_used == buffer->private_start;

    sim_assert_passive();
    memory->used = buffer->used;
    memory->private_used = buffer->private_used;
    memory->full = buffer->full;
    if (!vidsch_paging_check(vidsch, slot))
        empty = true;
    *ticket = ++vidsch->paging.last;
    if (empty || vidsch->paging.discard) {
        if (vidsch->paging.youngest)
            vidsch->paging.youngest->last_ticket = *ticket;
        else
            vidsch_paging_complete(vidsch, *ticket);
        vidsch_paging_put(vidsch, slot);
        return STATUS_SUCCESS;
    }
    slot->last_ticket = *ticket;
    slot->packet = (struct packet){
        .context = vidsch->system_context, .kind = PACKET_PAGING, .paging = slot};
    if (vidsch->paging.queue)
        take_to_queue(vidsch, slot);
    list_init(&slot->packet.link);
    list_init(&slot->packet.after);
    list_init(&slot->packet.device_link);
    vidsch->paging.youngest = slot;
    vidsch_queue_push(&slot->packet);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_paging_wait(struct vidsch *vidsch, uint64_t ticket)
{
    sim_assert_passive();
    while (vidsch->paging.completed < ticket) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&vidsch->paging.wait, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

static void abandon(struct packet *packet)
{
    vidsch_life_fails(packet, JOURNAL_CANCELED);
    vidsch_packet_finish(packet);
}

void vidsch_paging_abandon(struct vidsch *vidsch)
{
    struct vidsch_context *context = vidsch->paging.queue ? vidsch->paging.queue
                                                          : vidsch->system_context;
    struct list *link;

    vidsch_assert_recovery(vidsch);
    vidsch->paging.epoch++;
    if (context->state == CONTEXT_READY)
        vidsch_ready_remove(context);
    while ((link = list_pop_front(&context->queue)) != NULL)
        abandon(CONTAINER(link, struct packet, link));
    context->state = CONTEXT_IDLE;
    vidsch_paging_complete(vidsch, vidsch->paging.last);
}

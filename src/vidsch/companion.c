/* SPDX-License-Identifier: MIT */
#include "vidsch/companion.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "util/alloc.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/node.h"
#include "vidsch/queue.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"

struct vidsch_node *vidsch_companion_node(const struct vidsch_context *owner)
{
    struct vidsch *vidsch = owner->device->vidsch;
    struct vidsch_node *named = &vidsch->node[owner->info.PagingCompanionNodeId],
                       *paging = &vidsch->node[vidsch->config.paging_node];

    if (named->info.virtual_addressing)
        return named;
    return paging->info.virtual_addressing ? paging : owner->node;
}

struct vidsch_companion *vidsch_companion_create(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct vidsch_companion *companion = util_zalloc(1, sizeof(*companion));

    if (!companion)
        return NULL;
    companion->slot.memory = &companion->memory;
    if (vidsch_paging_memory_take(vidsch, &companion->memory))
        return companion;
    vidsch_companion_destroy(vidsch, companion);
    return NULL;
}

void vidsch_companion_destroy(struct vidsch *vidsch, struct vidsch_companion *companion)
{
    if (!companion)
        return;
    vidsch_paging_memory_give(vidsch, &companion->memory);
    util_free(companion);
}

struct vidmm_paging_buffer *vidsch_companion_buffer(struct vidmm_context *mm)
{
    struct vidsch_context *context = CONTAINER(mm, struct vidsch_context, mm);
    struct vidsch_companion *companion = context->paging;

    companion->slot.public = vidsch_paging_submission_in(context->device->vidsch,
                                                         &companion->memory, &companion->slot);
    return &companion->slot.public;
}

void vidsch_companion_submit(struct vidmm_context *mm, void (*done)(void *context), void *argument)
{
    struct vidsch_context *context = CONTAINER(mm, struct vidsch_context, mm);
    struct paging_slot *slot = &context->paging->slot;

    sim_assert_passive();
    vidsch_paging_check(context->device->vidsch, slot);
    slot->done = done;
    slot->argument = argument;
    slot->packet = (struct packet){.context = context, .kind = PACKET_PAGING, .paging = slot};
    list_init(&slot->packet.link);
    list_init(&slot->packet.after);
    list_init(&slot->packet.device_link);
    if (context->state == CONTEXT_LOST) {
        done(argument);
        return;
    }
    vidsch_queue_push_first(&slot->packet);
}

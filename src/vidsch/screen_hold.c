/* SPDX-License-Identifier: MIT */
#include "vidsch/screen_hold.h"
#include "util/alloc.h"
#include "verify/verify.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/flip_loss.h"
#include "vidsch/packet.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"

struct hold {
    struct list link; /* vidsch->screens.holds */
    const struct packet *packet;
    D3DKMT_HANDLE allocation;
    uint32_t departure; /* that it waits for: there may be others later */
};

static struct vidsch_screen_holds *holds_of(const struct packet *packet)
{
    return &packet->context->device->vidsch->screens;
}

bool vidsch_screen_note(struct packet *packet, D3DKMT_HANDLE allocation)
{
    const struct vidmm_open *open = allocation ? vidmm_open_find_queued(packet->context->device->mm,
                                                                        allocation)
                                               : NULL;
    struct hold *hold;
    uint32_t departure;

    if (!open || !vidmm_open_leaves_screen(open, &departure))
        return true;
    hold = util_zalloc(1, sizeof(*hold));
    if (!hold)
        return false;
    hold->packet = packet;
    hold->allocation = allocation;
    hold->departure = departure;
    list_push_back(&holds_of(packet)->holds, &hold->link);
    packet->awaits_screen = true;
    return true;
}

void vidsch_screen_forget(struct packet *packet)
{
    if (!packet->awaits_screen)
        return;
    packet->awaits_screen = false;
    LIST_FOR_SAFE(node, following, &holds_of(packet)->holds) {
        struct hold *hold = CONTAINER(node, struct hold, link);

        if (hold->packet != packet)
            continue;
        list_remove(node);
        util_free(hold);
    }
}

static bool is_held(const struct packet *packet)
{
    LIST_FOR(node, &holds_of(packet)->holds) {
        const struct hold *hold = CONTAINER(node, struct hold, link);
        const struct vidmm_open *open;
        uint32_t departure;

        if (hold->packet != packet)
            continue;
        open = vidmm_open_find_queued(packet->context->device->mm, hold->allocation);
        if (open && vidmm_open_leaves_screen(open, &departure) && departure == hold->departure)
            return true;
    }
    return false;
}

bool vidsch_screen_holds(struct vidsch_context *context)
{
    struct packet *packet = CONTAINER(context->queue.next, struct packet, link);

    if (!packet->awaits_screen)
        return false;
    if (!is_held(packet)) {
        vidsch_screen_forget(packet);
        return false;
    }
    vidsch_ready_remove(context);
    context->state = CONTEXT_PARKED;
    vidsch_tell_status(context, STATUS_CONTEXT_HELD);
    list_push_back(&context->device->vidsch->screens.contexts, &context->run_link);
    return true;
}

bool vidsch_screen_flip_is_over(const struct packet *packet)
{
    const struct vidsch_flip *flip = packet->present ? &packet->buffer->flip : NULL;

    if (!flip || !flip->is || flip->over == holds_of(packet)->flips_over[flip->source])
        return false;
    NOTE("PRES-338",
         "the turn of a flip of source %u has come after its mode: it is not submitted, and the "
         "device is in error",
         flip->source);
    return true;
}

void vidsch_flips_over(struct vidsch *vidsch, UINT source)
{
    vidsch->screens.flips_over[source]++;
}

void vidsch_screen_left(struct vidsch *vidsch)
{
    struct list held;

    list_take_all(&vidsch->screens.contexts, &held);
    while (!list_empty(&held))
        vidsch_ready_add(CONTAINER(list_pop_front(&held), struct vidsch_context, run_link));
}

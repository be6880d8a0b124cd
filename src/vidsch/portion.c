/* SPDX-License-Identifier: MIT */
/*
 * Portions: the parts in which a DMA buffer of a WDDM 1.x driver goes to the GPU (PATCH-120 to
 * PATCH-127). Normally one portion is all of it. When its allocations do not fit in memory
 * together, or the test switch (split_dma_buffers) asks for it, it is cut at split points:
 *
 *   packet          [0, used), elements 0 ..         queued by Render
 *   at its turn     vidmm says how many elements fit: the packet ends at the
 *                   SplitOffset of the first that does not, and the rest becomes a
 *                   packet of its own, next in the queue
 *   and so on, until the rest fits
 *
 * Each portion has a fence of its own, but the portions of a buffer share a ticket: waiters see one
 * piece of work. Between the portions of a driver that is not PreemptionAware, only paging goes to
 * the node (PATCH-126).
 *
 * If a slot is bound before a split point and not bound anew there, the next portion has the
 * address of an allocation that may have moved. Drivers that leave the choice to the host
 * (NoDmaPatching 0, PreemptionAware) must not do that: the portion is rejected (PATCH-133 to
 * PATCH-135). For other drivers the allocation stays where it is until that portion, too, has run
 * (PATCH-122). Only one context of an adapter at a time, the keeper, may keep memory in place: two
 * of them could wait for each other's memory forever. For the same reason the other contexts of its
 * device do not ask for memory meanwhile. Contexts that have to wait for this to end are on
 * vidsch->keeper.waiting.
 */
#include "vidsch/portion.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"
#include "vidsch/slots.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

static const struct vidsch *vidsch_of(const struct packet *packet)
{
    return packet->context->device->vidsch;
}

/* ---- how far it may go ---- */

/* How many elements the portion may have: all that follow, or with the test switch those before the
 * next split point. */
static uint32_t elements_wanted(const struct packet *packet)
{
    const struct dma_buffer *buffer = packet->buffer;
    uint32_t count = buffer->patch_count - packet->first_patch;

    if (!vidsch_of(packet)->config.split_dma_buffers)
        return count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t split = buffer->needs[packet->first_patch + i].split;

        if (split > packet->start && split < buffer->used)
            return i;
    }
    return count;
}

static void begin(struct packet *packet)
{
    struct vidmm_portion *mm = &packet->portion->mm;

    mm->device = packet->context->device->mm;
    mm->need = packet->buffer->needs + packet->first_patch;
    mm->start = packet->start;
    mm->wanted = elements_wanted(packet);
}

bool vidsch_portion_create(struct packet *packet)
{
    packet->portion = util_zalloc(1, sizeof(*packet->portion));
    if (!packet->portion)
        return false;
    begin(packet);
    return true;
}

static void keeping_ends(struct vidsch *vidsch)
{
    struct list waiting;

    if (--vidsch->keeper.portions)
        return;
    vidsch->keeper.context = NULL;
    list_take_all(&vidsch->keeper.waiting, &waiting);
    while (!list_empty(&waiting))
        vidsch_ready_add(CONTAINER(list_pop_front(&waiting), struct vidsch_context, run_link));
}

static void await_keeper(struct vidsch_context *context)
{
    vidsch_ready_remove(context);
    context->state = CONTEXT_PARKED;
    list_push_back(&context->device->vidsch->keeper.waiting, &context->run_link);
    context->device->awaiting_residency = false; /* the device's other contexts may continue */
}

bool vidsch_portion_is_kept_for(const struct packet *packet)
{
    return packet->portion && (packet->portion->mm.fixed || packet->portion->mm.kept_count > 0);
}

void vidsch_portion_free(struct packet *packet)
{
    bool kept;

    if (!packet->portion)
        return;
    kept = packet->portion->mm.kept_count > 0;
    vidmm_portion_release(&packet->portion->mm);
    util_free(packet->portion);
    packet->portion = NULL;
    if (kept)
        keeping_ends(packet->context->device->vidsch);
}

void vidsch_portion_in_flight(const struct packet *packet)
{
    if (packet->portion)
        vidmm_portion_submitted(&packet->portion->mm);
}

/* ---- bindings across a split point ---- */

/* CAPS-049: must each slot be bound anew, or emptied, at a split point? */
static bool must_rebind(const struct vidsch *vidsch)
{
    return vidsch->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WIN8 &&
           vidsch->config.caps.PreemptionAware && !vidsch->config.caps.NoDmaPatching;
}

/* PATCH-133, PATCH-135. False, reported: a slot still holds an allocation at the start of the
 * portion. */
static bool binds_anew(struct packet *packet)
{
    const struct dma_buffer *buffer = packet->buffer;

    for (uint32_t i = 0; i < packet->first_patch; i++) {
        if (!vidsch_slot_stays_bound(buffer, i, packet->start))
            continue;
        verify_report_code(
            "PATCH-135", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_BINDING_LEAK,
            buffer->patches[i].SlotId, buffer->needs[i].allocation, packet->start,
            "slot %u still holds allocation 0x%x (patch location %u) at the split point 0x%x, where "
            "it is neither bound anew nor emptied; the device is in error",
            buffer->patches[i].SlotId, buffer->needs[i].allocation, i, packet->start);
        return false;
    }
    return true;
}

/* The number of elements whose binding lasts beyond the end of the portion. */
static uint32_t bindings_over_end(const struct packet *packet)
{
    uint32_t end = packet->first_patch + packet->patch_count, count = 0;

    if (end == packet->buffer->patch_count || must_rebind(vidsch_of(packet)))
        return 0;
    for (uint32_t i = 0; i < end; i++)
        count += vidsch_slot_stays_bound(packet->buffer, i, packet->end);
    return count;
}

/* Keep the allocations that they bind in place for the next portion. False: out of memory. */
static bool keep_bindings(const struct packet *packet, struct vidmm_portion *next)
{
    const struct dma_buffer *buffer = packet->buffer;
    struct vidsch *vidsch = packet->context->device->vidsch;
    uint32_t end = packet->first_patch + packet->patch_count;
    uint32_t count = bindings_over_end(packet);
    D3DKMT_HANDLE *kept;

    if (count == 0)
        return true;
    kept = util_alloc(count * sizeof(*kept));
    if (!kept)
        return false;
    count = 0;
    for (uint32_t i = 0; i < end; i++)
        if (vidsch_slot_stays_bound(buffer, i, packet->end))
            kept[count++] = buffer->needs[i].allocation;
    vidmm_portion_keep(next, kept, count);
    vidsch->keeper.context = packet->context;
    vidsch->keeper.portions++;
    return true;
}

/* ---- cutting ---- */

/* Queue the rest of the buffer right behind the packet. False: out of memory. */
static bool queue_rest(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;
    struct packet *rest = vidsch_packet_create(context, PACKET_RENDER);

    if (!rest)
        return false;
    rest->buffer = packet->buffer;
    rest->buffer->references++;
    rest->start = packet->end;
    rest->end = packet->buffer->used;
    rest->first_patch = packet->first_patch + packet->patch_count;
    rest->patch_count = packet->buffer->patch_count - rest->first_patch;
    rest->null_rendering = packet->null_rendering;
    rest->present = packet->present;
    if (!vidsch_portion_create(rest) || !keep_bindings(packet, &rest->portion->mm)) {
        vidsch_packet_free(device->vidsch, rest);
        return false;
    }
    rest->ticket = packet->ticket;
    rest->flow = ++device->vidsch->next_flow;
    trace_flow_start(context->track, "packet", rest->flow);
    vidsch_tell_queued(rest);
    vidsch_life_queued(rest);
    list_push_front(&packet->device_link, &rest->device_link);
    list_push_front(&packet->link, &rest->link); /* behind the packet, which is still the head */
    context->work++;
    context->pending++;
    device->pending++;
    return true;
}

/* Make the packet cover the next `count` elements of the buffer. */
static void set_length(struct packet *packet, uint32_t count)
{
    const struct dma_buffer *buffer = packet->buffer;
    uint32_t next = packet->first_patch + count;

    packet->patch_count = count;
    packet->end = next < buffer->patch_count ? buffer->needs[next].split : buffer->used;
}

static void set_whole(struct packet *packet)
{
    set_length(packet, packet->buffer->patch_count - packet->first_patch);
}

/* Cut the packet where its allocations no longer fit. False: the cut would keep memory in place,
 * and another context does that already. */
static bool take_length(struct packet *packet)
{
    const struct vidsch *vidsch = vidsch_of(packet);

    set_length(packet, packet->portion->mm.count);
    if (!vidsch->keeper.context || vidsch->keeper.context == packet->context ||
        bindings_over_end(packet) == 0)
        return true;
    set_whole(packet);
    return false;
}

static bool has_rest(const struct packet *packet)
{
    return packet->first_patch + packet->patch_count < packet->buffer->patch_count;
}

/* The driver sees the portion next, so its length is final now. False, reported: out of memory for
 * the rest. */
static bool fix(struct packet *packet)
{
    if (has_rest(packet) && !queue_rest(packet)) {
        NOTE("PATCH-124",
             "no host memory for the records of the rest of a DMA buffer, 0x%x of its 0x%x bytes and "
             "%u of its %u patch locations; the device is in error",
             packet->buffer->used - packet->end, packet->buffer->used,
             packet->buffer->patch_count - packet->first_patch - packet->patch_count,
             packet->buffer->patch_count);
        set_whole(packet);
        return false;
    }
    packet->portion->mm.fixed = true;
    packet->portion->mm.wanted = packet->patch_count;
    return true;
}

static void bind_node(const struct packet *packet, bool bound)
{
    if (!vidsch_of(packet)->config.caps.PreemptionAware)
        packet->context->node->unbroken = bound ? packet->context : NULL;
}

void vidsch_portion_taken(const struct packet *packet)
{
    if (packet->portion)
        bind_node(packet, has_rest(packet));
}

/* A buffer that was cut keeps the node even if it is its first portion that returns: memory may be
 * kept in place for the next one, and another context on the node could wait for that memory. */
void vidsch_portion_put_back(const struct packet *packet)
{
    if (!packet->portion)
        return;
    bind_node(packet,
              (packet->start > 0 || has_rest(packet)) && packet->context->state != CONTEXT_LOST);
    vidmm_portion_returned(&packet->portion->mm);
}

static void lose(const struct packet *packet, D3DKMT_DEVICEEXECUTION_STATE state)
{
    vidsch_device_lose(packet->context->device, state, false,
                       "what its DMA buffer names could not be brought into memory");
}

/* Does another context keep memory of this device in place? */
static bool must_await_keeper(const struct vidsch_context *context)
{
    const struct vidsch_context *keeper = context->device->vidsch->keeper.context;

    return keeper && keeper != context && keeper->device == context->device;
}

bool vidsch_portion_ready(struct packet *packet)
{
    struct dma_portion *portion = packet->portion;

    vidsch_assert_worker(vidsch_of(packet));
    if (!portion->checked && packet->start > 0 && must_rebind(vidsch_of(packet)) &&
        !binds_anew(packet)) {
        lose(packet, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
        return false;
    }
    portion->checked = true;
    if (must_await_keeper(packet->context)) {
        await_keeper(packet->context);
        return false;
    }
    if (!vidmm_portion_prepare(&portion->mm))
        return false;
    if (!portion->mm.fixed && !take_length(packet)) {
        await_keeper(packet->context);
        return false;
    }
    if (portion->mm.fixed || fix(packet))
        return true;
    lose(packet, D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    return false;
}

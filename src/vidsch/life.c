/* SPDX-License-Identifier: MIT */
#include "vidsch/life.h"
#include "sim/machine.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"

/* packet->stage */
enum { STAGE_UNTOLD, STAGE_QUEUED, STAGE_ON_NODE, STAGE_REPORTED };

static const char *const stage_names[] = {
    [STAGE_QUEUED] = "queued", [STAGE_ON_NODE] = "on the node", [STAGE_REPORTED] = "until the DPC"};

static const char *const kind_names[] = {
    [PACKET_RENDER] = "render",     [PACKET_VIRTUAL] = "submit",
    [PACKET_HW] = "hardware queue", [PACKET_LEAVE] = "context switch",
    [PACKET_PAGING] = "paging",     [PACKET_WAIT] = "wait",
    [PACKET_SIGNAL] = "signal",     [PACKET_UPDATE] = "page table update"};

static const char *const end_names[] = {
    [JOURNAL_COMPLETED] = "completed", [JOURNAL_FAULTED] = "faulted",
    [JOURNAL_REFUSED] = "refused",     [JOURNAL_ABORTED] = "aborted",
    [JOURNAL_CANCELED] = "canceled",   [JOURNAL_DROPPED] = "dropped"};

bool vidsch_life_begin(struct vidsch *vidsch)
{
    if (!vidsch->config.journal)
        return true;
    vidsch->journal = journal_create(vidsch->config.nodes);
    for (uint32_t i = 0; vidsch->journal && i < vidsch->config.nodes; i++)
        vidsch_node_name(&vidsch->node[i], vidsch->journal->node_name[i],
                         sizeof(vidsch->journal->node_name[i]));
    return vidsch->journal != NULL;
}

void vidsch_life_finish(struct vidsch *vidsch)
{
    journal_destroy(vidsch->journal);
    vidsch->journal = NULL;
}

/* ---- one packet ---- */

static struct vidsch *vidsch_of(const struct packet *packet)
{
    return packet->context->device->vidsch;
}

/* NULL: it has none. */
static struct journal_packet *entry_of(const struct packet *packet)
{
    const struct vidsch *vidsch = vidsch_of(packet);

    return vidsch->journal && packet->stage != STAGE_UNTOLD
               ? journal_packet(vidsch->journal, packet->flow)
               : NULL;
}

/* Of all packets of the machine. */
static uint64_t trace_id(const struct packet *packet)
{
    return (uint64_t)vidsch_of(packet)->ddi->handles.adapter << 32 | packet->flow;
}

static void begin_stage(struct packet *packet, unsigned stage, const char *key, uint64_t value)
{
    packet->stage = stage & 7u;
    trace_async_begin(packet->context->track, stage_names[stage], trace_id(packet), key, value,
                      NULL, 0);
}

static void end_stage(struct packet *packet, const char *key0, uint64_t value0, const char *key1,
                      uint64_t value1)
{
    trace_async_end(packet->context->track, stage_names[packet->stage], trace_id(packet), key0,
                    value0, key1, value1);
}

static uint64_t fence_of(const struct packet *packet)
{
    return packet->kind == PACKET_HW ? packet->hw->id : packet->fence;
}

/* What it is, as far as is known when it is queued. */
static void describe(const struct packet *packet, struct journal_packet *entry)
{
    const struct vidsch_context *context = packet->context;
    const struct vidsch_process *process = context->device->process;

    entry->kind = packet->kind;
    entry->node = (uint16_t)context->node->ordinal;
    entry->context = ddi_handle_number(context->mm.host_handle);
    entry->process = process ? process->id : 0;
    entry->queued = sim_now();
    if (packet->kind == PACKET_RENDER) {
        entry->rendered = packet->buffer->rendered_at;
        entry->place = packet->start;
        entry->bytes = packet->end - packet->start;
        entry->allocations = packet->buffer->allocation_count;
        entry->patches = packet->patch_count;
        entry->private_bytes = packet->buffer->private_used;
    } else if (packet->kind == PACKET_VIRTUAL) {
        entry->place = packet->va;
        entry->bytes = packet->bytes;
        entry->private_bytes = packet->umd_private_bytes;
    } else if (packet->kind == PACKET_HW) {
        entry->place = packet->hw->va;
        entry->bytes = packet->hw->bytes;
        entry->private_bytes = packet->hw->private_bytes;
    } else if (packet->kind == PACKET_PAGING) {
        entry->place = packet->paging->public.start;
        entry->bytes = packet->paging->public.used - packet->paging->public.start;
    }
}

static void trace_queued(struct packet *packet, const struct journal_packet *entry)
{
    trace_async_begin(packet->context->track, kind_names[packet->kind], trace_id(packet), "context",
                      entry->context, "node", entry->node);
    if (packet_is_work(packet)) {
        trace_more("bytes", entry->bytes, "at", entry->place);
        trace_more("private bytes", entry->private_bytes, "process", entry->process);
    }
    if (packet->kind == PACKET_RENDER)
        trace_more("allocations", entry->allocations, "patch locations", entry->patches);
    begin_stage(packet, STAGE_QUEUED, NULL, 0);
}

void vidsch_life_queued(struct packet *packet)
{
    struct vidsch *vidsch = vidsch_of(packet);
    struct journal_packet entry = {0}, *kept = NULL;

    if (!trace_current && !vidsch->journal)
        return;
    if (!packet->flow) /* no work of the GPU's */
        packet->flow = ++vidsch->next_flow;
    if (vidsch->journal)
        kept = journal_begin(vidsch->journal, packet->flow);
    entry.number = packet->flow;
    describe(packet, &entry);
    if (kept)
        *kept = entry;
    packet->ending = JOURNAL_COMPLETED;
    trace_queued(packet, &entry);
}

void vidsch_life_patched(const struct packet *packet)
{
    struct journal_packet *entry = entry_of(packet);

    if (entry) {
        entry->fence = packet->fence;
        entry->patched = sim_now();
    }
    if (packet->stage != STAGE_UNTOLD)
        trace_async_instant(packet->context->track, "patch", trace_id(packet), "fence",
                            packet->fence);
}

/* Has everything on the node been reported? Then the hardware starts what comes next at once. */
static bool is_free(const struct vidsch_node *node)
{
    return node->count == 0 ||
           !fence_after(node_in_flight(node, node->count - 1)->fence, node->reported);
}

void vidsch_life_submitted(struct packet *packet)
{
    const struct vidsch_node *node = packet->context->node;
    struct journal_packet *entry = entry_of(packet);
    const bool hardware = packet->kind == PACKET_HW;

    if (packet->stage == STAGE_UNTOLD)
        return;
    if (entry) {
        const bool at_once = hardware ? list_empty(&packet->context->hw_queue->in_flight)
                                      : is_free(node);

        entry->fence = fence_of(packet);
        entry->bytes = packet->kind == PACKET_RENDER ? packet->end - packet->start : entry->bytes;
        entry->patches = packet->kind == PACKET_RENDER ? packet->patch_count : entry->patches;
        entry->submissions++;
        entry->submitted = sim_now();
        entry->started = at_once ? sim_now() : 0;
        entry->interrupted = 0;
    }
    end_stage(packet, NULL, 0, NULL, 0);
    begin_stage(packet, STAGE_ON_NODE, "fence", fence_of(packet));
    if (packet->kind == PACKET_RENDER)
        trace_more("bytes", packet->end - packet->start, "at", packet->start);
    trace_more("attempt", packet->returns + UINT64_C(1), NULL, 0);
}

static void started(const struct packet *packet)
{
    struct journal_packet *entry = entry_of(packet);

    if (entry && !entry->started)
        entry->started = sim_now();
}

static void reported(struct packet *packet, DXGK_INTERRUPT_TYPE type, NTSTATUS status)
{
    struct journal_packet *entry = entry_of(packet);

    if (packet->stage != STAGE_ON_NODE)
        return;
    if (entry) {
        entry->started = entry->started ? entry->started : sim_now();
        entry->interrupted = sim_now();
        entry->interrupt = (int32_t)type;
        entry->status = status;
    }
    if (type == DXGK_INTERRUPT_DMA_FAULTED || type == DXGK_INTERRUPT_DMA_PAGE_FAULTED)
        packet->ending = JOURNAL_FAULTED;
    end_stage(packet, "interrupt", (uint64_t)type, status ? "status" : NULL, (uint32_t)status);
    begin_stage(packet, STAGE_REPORTED, NULL, 0);
}

void vidsch_life_reported(const struct vidsch_node *node, uint32_t before, uint32_t fence,
                          DXGK_INTERRUPT_TYPE type, NTSTATUS status)
{
    if (!trace_current && !node->vidsch->journal)
        return;
    for (uint32_t i = 0; i < node->count; i++) {
        struct packet *packet = node_in_flight(node, i);

        if (fence_after(packet->fence, fence)) {
            started(packet);
            return;
        }
        if (packet->fence == fence)
            reported(packet, type, status);
        else if (fence_after(packet->fence, before))
            reported(packet, DXGK_INTERRUPT_DMA_COMPLETED, STATUS_SUCCESS);
    }
}

static void hw_reported(const struct vidsch_hw_queue *queue)
{
    const uint64_t reached = vidsch_sync_current(queue->progress);

    LIST_FOR(link, &queue->in_flight) {
        struct packet *packet = CONTAINER(link, struct packet, link);

        if (packet->hw->id > reached) {
            started(packet);
            return;
        }
        reported(packet, DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED, STATUS_SUCCESS);
    }
}

void vidsch_life_hw_reported(const struct vidsch_node *node)
{
    if (!trace_current && !node->vidsch->journal)
        return;
    LIST_FOR(link, &node->hw.contexts) {
        const struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        LIST_FOR(q, &hw->queues)
            hw_reported(CONTAINER(q, struct vidsch_hw_queue, link));
    }
}

void vidsch_life_dpc(struct vidsch *vidsch, bool begins)
{
    if (vidsch->journal)
        vidsch->journal->dpc = begins ? sim_now() : 0;
}

void vidsch_life_returned(struct packet *packet, bool by_reset)
{
    struct journal_packet *entry = entry_of(packet);

    if (packet->stage == STAGE_UNTOLD)
        return;
    if (entry) {
        entry->preemptions += !by_reset;
        entry->resets += by_reset;
        entry->started = entry->interrupted = 0;
    }
    end_stage(packet, by_reset ? "reset" : "preempted", 1, NULL, 0);
    begin_stage(packet, STAGE_QUEUED, NULL, 0);
    packet->ending = JOURNAL_COMPLETED;
    if (packet->returns < UINT8_MAX)
        packet->returns++;
    vidsch_life_event(vidsch_of(packet), packet->context->node, JOURNAL_RETURNED, packet->flow,
                      fence_of(packet), by_reset);
}

void vidsch_life_fails(struct packet *packet, enum journal_end end)
{
    if (packet->ending == JOURNAL_COMPLETED)
        packet->ending = end & 7u;
}

void vidsch_life_ended(struct packet *packet)
{
    const struct vidsch *vidsch = vidsch_of(packet);
    struct journal_packet *entry = entry_of(packet);

    if (packet->stage == STAGE_UNTOLD)
        return;
    if (entry) {
        entry->end = packet->ending;
        entry->dpc = entry->submissions ? vidsch->journal->dpc : 0;
        entry->ended = sim_now();
    }
    end_stage(packet, NULL, 0, NULL, 0);
    trace_async_instant(packet->context->track, end_names[packet->ending], trace_id(packet), NULL,
                        0);
    trace_async_end(packet->context->track, kind_names[packet->kind], trace_id(packet), "returns",
                    packet->returns, NULL, 0);
    packet->stage = STAGE_UNTOLD;
}

/* ---- nodes ---- */

void vidsch_life_event(struct vidsch *vidsch, const struct vidsch_node *node,
                       enum journal_event_kind kind, uint64_t value0, uint64_t value1,
                       uint64_t value2)
{
    if (vidsch->journal)
        journal_event(vidsch->journal,
                      &(struct journal_event){.time = sim_now(),
                                              .kind = (uint8_t)kind,
                                              .node = node ? (uint16_t)node->ordinal : 0,
                                              .value = {value0, value1, value2}});
}

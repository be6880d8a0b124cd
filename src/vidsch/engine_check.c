/* SPDX-License-Identifier: MIT */
#include "vidsch/engine_check.h"
#include "bus/dma.h"
#include "bus/mmu.h"
#include "sim/machine.h"
#include "vidsch/context.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/scheduler.h"

#define MS 1000000ull

/* ---- what it executes ---- */

struct commands {
    uint64_t address;
    uint32_t bytes;
};

/* Where the driver was told that the commands of the packet are. False: in a segment, whose place
 * on the bus is the driver's affair; or it was given none, and its own may make the GPU leave a
 * context (PREEMPT-034). */
static bool commands_of(const struct packet *packet, struct commands *commands)
{
    const struct paging_slot *slot = packet->paging;

    *commands = (struct commands){0};
    switch (packet->kind) {
    case PACKET_RENDER:
        commands->bytes = packet->end - packet->start;
        commands->address = logical_page_addr(packet->buffer->first_logical).value + packet->start;
        return packet->buffer->aperture.segment == 0;
    case PACKET_VIRTUAL:
        *commands = (struct commands){packet->va, packet->bytes};
        return true;
    case PACKET_PAGING:
        commands->bytes = slot->public.used - slot->public.start;
        if (packet->context->mm.virtual_addressing)
            commands->address = slot->public.va.value + slot->public.start;
        else
            commands->address = logical_page_addr(slot->memory->first_logical).value +
                                slot->public.start;
        return packet->context->mm.virtual_addressing || slot->memory->aperture.segment == 0;
    default:
        return false;
    }
}

static void check_commands(const struct vidsch_node *node, const struct packet *packet,
                           const struct dxgk_device_work *work)
{
    struct commands given;

    if (packet->null_rendering && work->bytes) {
        VIOLATION(
            "SUBMIT-036",
            "the engine of node %u executes %u bytes at 0x%llx for fence %u, which is submitted "
            "with NullRendering",
            node->ordinal, work->bytes, (unsigned long long)work->address, work->fence);
        return;
    }
    if (packet->null_rendering || !commands_of(packet, &given) ||
        (given.bytes == work->bytes && (given.address == work->address || !given.bytes)))
        return;
    VIOLATION(
        "SUBMIT-030",
        "the engine of node %u executes %u bytes at 0x%llx for fence %u, for which the driver was "
        "given %u bytes at 0x%llx",
        node->ordinal, work->bytes, (unsigned long long)work->address, work->fence, given.bytes,
        (unsigned long long)given.address);
}

/* From inside the model. */
static void work(void *context, const struct dxgk_device_work *work)
{
    const struct vidsch *vidsch = context;
    struct vidsch_node *node;

    if (work->node >= vidsch->config.nodes)
        return;
    node = &vidsch->node[work->node];
    node->tells_work = true;
    node->executing = work->begins ? work->fence : 0;
    if (!work->begins) {
        node->executed = work->fence;
        node->executed_at = sim_now();
        return;
    }
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->fence == work->fence)
            check_commands(node, node_in_flight(node, i), work);
}

void vidsch_engine_check_begin(struct vidsch *vidsch)
{
    if (vidsch->config.device)
        bus_device_on_work(vidsch->config.device, work, vidsch);
}

void vidsch_engine_check_end(struct vidsch *vidsch)
{
    if (vidsch->config.device)
        bus_device_on_work(vidsch->config.device, NULL, NULL);
}

/* ---- what is said of it ---- */

void vidsch_engine_check_completed(const struct vidsch_node *node, uint32_t fence, const char *what)
{
    const uint32_t executing = node->executing;

    if (executing && fence_after(executing, node->reported) && !fence_after(executing, fence))
        VIOLATION(
            "SUBMIT-046",
            "%s says that fence %u of node %u is completed, but the engine still executes fence "
            "%u",
            what, fence, node->ordinal, executing);
}

/* The hardware may have lost an interrupt, or a request: these are warnings. */

void vidsch_engine_check_overdue(const struct vidsch_node *node)
{
    const uint32_t oldest = node->count ? node_in_flight(node, 0)->fence : 0;

    if (node->tells_work && oldest && node->executed == oldest && node->executing != oldest &&
        fence_after(oldest, node->reported))
        WARNING("SUBMIT-090",
                "the engine of node %u is done with fence %u since %llu ms, and the driver has not "
                "notified that",
                node->ordinal, oldest, (unsigned long long)((sim_now() - node->executed_at) / MS));
}

void vidsch_engine_check_unanswered(const struct vidsch_node *node)
{
    if (node->tells_work && !node->executing)
        WARNING("PREEMPT-016",
                "the engine of node %u executes nothing, and neither it nor the driver has answered "
                "the request %u for preemption since %llu ms",
                node->ordinal, node->preempt_id,
                (unsigned long long)((sim_now() - node->preempt_past.asked_at) / MS));
}

void vidsch_engine_check_reset(const struct vidsch_node *node)
{
    if (node->executing)
        VIOLATION(
            "TDR-031",
            "DxgkDdiResetEngine has returned, but the engine of node %u still executes fence %u",
            node->ordinal, node->executing);
}

void vidsch_engine_check_stopped(struct vidsch *vidsch, bool stopped)
{
    vidsch->recovery.silent = stopped;
    if (!vidsch->config.device)
        return;
    for (uint32_t i = 0; stopped && i < vidsch->config.nodes; i++)
        if (vidsch->node[i].executing)
            VIOLATION(
                "TDR-046",
                "DxgkDdiResetFromTimeout has returned, but the engine of node %u still executes "
                "fence %u",
                i, vidsch->node[i].executing);
    bus_device_set_quiet(vidsch->config.device, stopped ? IOMMU_CAUSE_RESET : IOMMU_CAUSE_NONE);
}

/* SPDX-License-Identifier: MIT */
#include "vidsch/loss_report.h"
#include "ddi/handle.h"
#include "nt/base/kprocess.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "vidmm/check/table_check.h"
#include "vidmm/process.h"
#include "vidmm/space/address_text.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(struct vidsch_loss *loss, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct vidsch_loss *loss, const char *format, ...)
{
    size_t used = strlen(loss->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(loss->text + used, sizeof(loss->text) - used, format, arguments);
    va_end(arguments);
}

static void publish(const struct vidsch_loss *loss, const struct vidsch *vidsch)
{
    if (vidsch->config.loss)
        vidsch->config.loss(vidsch->ddi, loss->text);
}

static void begin(struct vidsch_loss *loss, const char *what, const struct vidsch_node *node)
{
    loss->text[0] = '\0';
    add(loss, "%s: node %u, engine 0", what, node->ordinal);
}

/* The oldest packet that the hardware queues of a node have been given; NULL: none. */
static const struct packet *hw_in_flight(const struct vidsch_node *node)
{
    const struct packet *oldest = NULL;

    LIST_FOR(link, &node->hw.contexts)
        LIST_FOR(q, &CONTAINER(link, struct vidsch_hw_context, node_link)->queues) {
            const struct vidsch_hw_queue *queue = CONTAINER(q, struct vidsch_hw_queue, link);
            const struct packet *first = list_empty(&queue->in_flight)
                                             ? NULL
                                             : CONTAINER(queue->in_flight.next, struct packet, link);

            if (first && (!oldest || first->hw->submitted_at < oldest->hw->submitted_at))
                oldest = first;
        }
    return oldest;
}

static const struct packet *in_flight(const struct vidsch_node *node)
{
    return node->count ? node_in_flight(node, 0) : hw_in_flight(node);
}

static void add_packet(struct vidsch_loss *loss, const struct packet *packet)
{
    const struct vidsch_device *device = packet->context->device;
    const struct nt_process *process = device->process->mm ? vidmm_process_nt(device->process->mm)
                                                           : NULL;

    if (packet->kind == PACKET_HW)
        add(loss, ", fence %llu of a hardware queue, context %u", (unsigned long long)packet->hw->id,
            ddi_handle_number(packet->context->hw_queue->parent->mm.host_handle));
    else
        add(loss, ", fence %u, context %u", packet->fence,
            ddi_handle_number(packet->context->mm.host_handle));
    if (device->system)
        add(loss, " of the system device (paging)");
    else
        add(loss, ", process %u (%s)", device->process->id, process ? process->name : "ended");
}

static double milliseconds(uint64_t since)
{
    return (double)(sim_now() - since) / 1e6;
}

/* Why preemption was asked for, if it was since the last reset, and what came of it. */
static void add_preemption(struct vidsch_loss *loss, const struct vidsch_node *node)
{
    static const char *const reasons[] = {
        [PREEMPT_NONE] = "",
        [PREEMPT_PRIORITY] = "for other work",
        [PREEMPT_PAGING] = "for paging",
        [PREEMPT_TIMEOUT] = "after a timeout",
        [PREEMPT_DEPENDENT] = "since another node is reset",
    };
    const struct preempt_past *past = &node->preempt_past;

    if (past->reason == PREEMPT_NONE) {
        add(loss, "; preemption was not asked for");
        return;
    }
    add(loss, "; preemption (id %u, %s) was asked for %.3f ms before and ", past->id,
        reasons[past->reason], milliseconds(past->asked_at));
    if (past->answered)
        add(loss, "answered %.3f ms before", milliseconds(past->answered_at));
    else if (node->preempt_answered)
        add(loss, "answered just now");
    else
        add(loss, "not answered");
}

static void add_address(struct vidsch_loss *loss, const struct packet *packet, uint64_t address,
                        struct vidmm_address_text *text)
{
    text->owner[0] = text->walk[0] = '\0';
    if (packet && packet->context->device->process->mm)
        vidmm_address_text(packet->context->device->process->mm, address, text);
    if (text->owner[0])
        add(loss, "; %s", text->owner);
}

static void add_walk(struct vidsch_loss *loss, const struct vidmm_address_text *text)
{
    if (text->walk[0])
        add(loss, VIDSCH_LOSS_WALK "%s", text->walk);
}

void vidsch_loss_dma_fault(struct vidsch_loss *loss, const struct vidsch_node *node,
                           const struct packet *packet, NTSTATUS status)
{
    begin(loss, "DMA fault", node);
    if (packet)
        add_packet(loss, packet);
    add(loss, ": the driver reported %s", nt_status_text(status).text);
    add_preemption(loss, node);
    publish(loss, node->vidsch);
}

static void add_bus_fault(struct vidsch_loss *loss, const struct vidsch *vidsch)
{
    if (vidsch->interrupts.bus_fault_noted)
        add(loss, "; the bus refused a %s of the device at 0x%llx",
            vidsch->interrupts.bus_fault.access == IOMMU_READ ? "read" : "write",
            (unsigned long long)vidsch->interrupts.bus_fault.address.value);
}

void vidsch_loss_page_fault(struct vidsch_loss *loss, const struct vidsch_node *node,
                            const struct packet *packet, const struct irq_record *r)
{
    const DXGK_FAULT_ERROR_CODE code = r->fault.FaultErrorCode;
    struct vidmm_address_text text;

    begin(loss, "page fault", node);
    if (packet)
        add_packet(loss, packet);
    if ((unsigned)r->page_fault_flags & DXGK_PAGE_FAULT_FENCE_INVALID)
        add(loss, "%s", packet ? " (the oldest packet; the driver named none)" : ", no packet");
    add(loss, ", address 0x%llx, flags 0x%x, %serror 0x%x",
        (unsigned long long)r->fault.FaultedVirtualAddress, (unsigned)r->page_fault_flags,
        code.IsDeviceSpecificCodeReservedBit ? "device-specific " : "",
        code.IsDeviceSpecificCodeReservedBit ? code.DeviceSpecificCode : code.GeneralErrorCode);
    add_bus_fault(loss, node->vidsch);
    add_address(loss, packet, r->fault.FaultedVirtualAddress, &text);
    add_preemption(loss, node);
    add_walk(loss, &text);
    publish(loss, node->vidsch);
    if (packet && packet->context->device->process->mm)
        vidmm_check_address(packet->context->device->process->mm, r->fault.FaultedVirtualAddress);
}

static void add_cause(struct vidsch_loss *loss, const struct vidsch *vidsch,
                      enum recover_cause cause)
{
    switch (cause) {
    case RECOVER_TIMEOUT:
        add(loss, "; cause: no progress in TdrDelay (%u s)", vidsch->config.tdr.delay);
        break;
    case RECOVER_PAGE_FAULT:
        add(loss, "; cause: a page fault");
        break;
    case RECOVER_DRIVER:
        add(loss, "; cause: the driver reported a hang");
        break;
    case RECOVER_FORCED:
        add(loss, "; cause: a client asked for it");
        break;
    case RECOVER_FLIP:
        add(loss, "; cause: no vertical sync completed a flip of source %u in TdrDelay (%u s)",
            vidsch->recovery.source, vidsch->config.tdr.delay);
        break;
    default:
        add(loss, "; cause: it depends on a node that is reset");
        break;
    }
}

/* How often it gave way to others, and for how long, if that is what it is reset for. */
static void add_barren(struct vidsch_loss *loss, const struct vidsch_node *node)
{
    if (node_is_barren(node))
        add(loss, "; %u preemptions in a row, and no packet was completed in %.3f ms",
            node->barren_preemptions, milliseconds(node->barren_since));
}

/* The hung packet, where its commands are, and whether they can still be reached. */
static void add_hung(struct vidsch_loss *loss, const struct packet *packet,
                     struct vidmm_address_text *text)
{
    uint64_t va;

    text->owner[0] = text->walk[0] = '\0';
    if (!packet || (packet->kind != PACKET_VIRTUAL && packet->kind != PACKET_HW))
        return;
    va = packet->kind == PACKET_HW ? packet->hw->va : packet->va;
    add(loss, "; commands at address 0x%llx", (unsigned long long)va);
    add_address(loss, packet, va, text);
}

void vidsch_loss_engine_reset(struct vidsch_loss *loss, const struct vidsch_node *node,
                              const struct packet *aborted, bool responsive)
{
    struct vidmm_address_text text;

    begin(loss, "engine reset (0x141)", node);
    if (aborted)
        add_packet(loss, aborted);
    else
        add(loss, ", no packet was aborted");
    add_cause(loss, node->vidsch, node->recover);
    add_barren(loss, node);
    add_preemption(loss, node);
    add(loss, "; the driver called the engine %s", responsive ? "responsive" : "unresponsive");
    add_hung(loss, aborted, &text);
    add_walk(loss, &text);
    publish(loss, node->vidsch);
}

void vidsch_loss_hw_reset(struct vidsch_loss *loss, const struct vidsch_node *node,
                          const struct vidsch_context *invalidated)
{
    begin(loss, "engine reset (0x141)", node);
    if (invalidated)
        add(loss, ", the driver invalidated hardware context %u of process %u%s",
            ddi_handle_number(invalidated->mm.host_handle), invalidated->device->process->id,
            invalidated->hw->collateral ? ", which did not cause it" : "");
    else
        add(loss, ", the driver invalidated no hardware context");
    add_cause(loss, node->vidsch, node->recover);
    publish(loss, node->vidsch);
}

/* The node that hung; or the first with work; or the first. */
static const struct vidsch_node *guilty_node(const struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].recover != RECOVER_NONE)
            return &vidsch->node[i];
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (in_flight(&vidsch->node[i]))
            return &vidsch->node[i];
    return &vidsch->node[0];
}

void vidsch_loss_adapter_reset(struct vidsch_loss *loss, const struct vidsch *vidsch,
                               enum recover_cause cause)
{
    const struct vidsch_node *node = guilty_node(vidsch);
    const struct packet *packet = in_flight(node);
    struct vidmm_address_text text;

    begin(loss, "adapter reset (0x117)", node);
    if (packet)
        add_packet(loss, packet);
    else
        add(loss, ", no packet in flight");
    add_cause(loss, vidsch, cause);
    add_barren(loss, node);
    if (vidsch->recovery.promoted[0])
        add(loss, "; no engine reset: %s", vidsch->recovery.promoted);
    add_preemption(loss, node);
    add_hung(loss, packet, &text);
    add_walk(loss, &text);
    publish(loss, vidsch);
}

/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's part of a report of a machine that stands still:
 *
 *   thread main waits for monitored fence 1 to reach 5, it is 2
 *       a signal to 5 follows fence 7 on node 0
 *   context 3 of process 1 (app) waits for monitored fence 2 to reach 1, it is 0
 *       no signal of it is queued: a client must signal it
 *   node 0: fence 7 of context 2 of process 1 (app), submitted 4000.000 ms ago
 *
 * Objects are numbered in order of appearance, as those of drivers are.
 */
#include "vidsch/wait_report.h"
#include "ddi/handle.h"
#include "nt/base/kprocess.h"
#include "nt/ke/wait_report.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "util/list.h"
#include "vidmm/process.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/hw_record.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"

#include <stdio.h>

#define SIGNALS_SHOWN 4u /* of one object */

static const char *type_of(const struct vidsch_sync *sync)
{
    switch (sync->type) {
    case D3DDDI_MONITORED_FENCE:
        return "monitored fence";
    case D3DDDI_FENCE:
        return "fence";
    case D3DDDI_SEMAPHORE:
        return "semaphore";
    default: /* nobody waits for a CPU notification (KMT-352) */
        return "mutex";
    }
}

static bool has_value(const struct vidsch_sync *sync)
{
    return sync->type == D3DDDI_MONITORED_FENCE || sync->type == D3DDDI_FENCE;
}

static void name_context(const struct vidsch_context *context, char *text, size_t bytes)
{
    const struct vidsch_device *device = context->device;
    const struct nt_process *process = device->process->mm ? vidmm_process_nt(device->process->mm)
                                                           : NULL;
    unsigned number = ddi_handle_number(context->mm.host_handle);

    if (device->system)
        snprintf(text, bytes, "context %u of the system device (paging)", number);
    else
        snprintf(text, bytes, "context %u of process %u (%s)", number, device->process->id,
                 process ? process->name : "ended");
}

/* ---- who could signal ---- */

/* The entry of the signal that is about this object; NULL: it is about others. */
static const struct sync_entry *entry_of(const struct sync_op *op, const struct vidsch_sync *sync)
{
    for (uint32_t i = 0; i < op->count; i++)
        if (op->entries[i].sync == sync)
            return &op->entries[i];
    return NULL;
}

static void signal_text(const struct sync_entry *entry, char *text, size_t bytes)
{
    if (has_value(entry->sync))
        snprintf(text, bytes, "a signal to %llu", (unsigned long long)entry->value);
    else
        snprintf(text, bytes, "a signal");
}

/* Signals that are carried out when a packet on a node ends. */
static unsigned tell_signals_in_flight(const struct vidsch *vidsch, const struct vidsch_sync *sync)
{
    unsigned found = 0;
    char text[48];

    for (uint32_t n = 0; n < vidsch->config.nodes; n++)
        for (uint32_t i = 0; i < vidsch->node[n].count; i++) {
            const struct packet *packet = node_in_flight(&vidsch->node[n], i);

            LIST_FOR(link, &packet->after) {
                const struct sync_entry *entry = entry_of(CONTAINER(link, struct packet, link)->op,
                                                          sync);

                if (!entry || found++ >= SIGNALS_SHOWN)
                    continue;
                signal_text(entry, text, sizeof(text));
                nt_wait_report_line("    %s follows fence %u on node %u", text, packet->fence, n);
            }
        }
    return found;
}

static unsigned tell_signals_of(const struct vidsch_context *context,
                                const struct vidsch_sync *sync, unsigned found)
{
    unsigned before = 0;
    char text[48], name[96];

    LIST_FOR(link, &context->queue) {
        const struct packet *packet = CONTAINER(link, struct packet, link);
        const struct sync_entry *entry = packet->kind == PACKET_SIGNAL ? entry_of(packet->op, sync)
                                                                       : NULL;

        if (entry && found++ < SIGNALS_SHOWN) {
            signal_text(entry, text, sizeof(text));
            name_context(context, name, sizeof(name));
            nt_wait_report_line("    %s is queued in %s, behind %u packet(s)%s", text, name, before,
                                context->state == CONTEXT_BLOCKED ? " and its own wait" : "");
        }
        before += packet->kind != PACKET_SIGNAL;
    }
    return found;
}

static void tell_signals(const struct vidsch *vidsch, const struct vidsch_sync *sync)
{
    unsigned found = tell_signals_in_flight(vidsch, sync);
    char name[96];

    if (sync->owner) {
        name_context(sync->owner, name, sizeof(name));
        nt_wait_report_line("    %s owns it", name);
    }
    LIST_FOR(node, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(node, struct vidsch_device, link);

        LIST_FOR(link, &device->contexts)
            found = tell_signals_of(CONTAINER(link, struct vidsch_context, link), sync, found);
    }
    if (found > SIGNALS_SHOWN)
        nt_wait_report_line("    and %u signals more", found - SIGNALS_SHOWN);
    if (!found && sync->type == D3DDDI_MONITORED_FENCE && sync->flags.NoSignal)
        nt_wait_report_line("    only the host signals it, when paging work ends");
    else if (!found)
        nt_wait_report_line(
            "    no signal of it is queued: a client must signal it%s",
            sync->type == D3DDDI_MONITORED_FENCE ? ", or commands of the GPU write it" : "");
}

/* ---- who waits ---- */

static void tell_wait(struct nt_wait_report *report, const struct vidsch *vidsch,
                      const struct sync_op *op, const char *who)
{
    for (uint32_t i = 0; i < op->count; i++) {
        const struct vidsch_sync *sync = op->entries[i].sync;
        const char *also = i == 0 ? "" : op->any ? " (or)" : " (and)";
        unsigned number = nt_wait_report_number(report, sync);

        if (has_value(sync))
            nt_wait_report_line("%s waits%s for %s %u to reach %llu, it is %llu", who, also,
                                type_of(sync), number, (unsigned long long)op->entries[i].value,
                                (unsigned long long)vidsch_sync_current(sync));
        else
            nt_wait_report_line("%s waits%s for %s %u, whose count is %u", who, also, type_of(sync),
                                number, sync->count);
        tell_signals(vidsch, sync);
    }
}

static void tell_cpu_waits(struct nt_wait_report *report, const struct vidsch *vidsch)
{
    char who[64];

    LIST_FOR(link, &vidsch->syncs.cpu_waits) {
        const struct sync_op *op = CONTAINER(link, struct sync_op, link);

        if (op->thread)
            snprintf(who, sizeof(who), "thread %s", sim_thread_name(op->thread));
        else
            snprintf(who, sizeof(who), "an event of a client");
        tell_wait(report, vidsch, op, who);
    }
}

static unsigned queued_in(const struct vidsch_context *context)
{
    unsigned count = 0;

    LIST_FOR(link, &context->queue)
        count++;
    return count;
}

static void tell_context(struct nt_wait_report *report, const struct vidsch *vidsch,
                         const struct vidsch_context *context)
{
    const struct packet *head;
    char name[96];

    if (list_empty(&context->queue))
        return;
    head = CONTAINER(context->queue.next, struct packet, link);
    name_context(context, name, sizeof(name));
    if (head->kind == PACKET_WAIT)
        tell_wait(report, vidsch, head->op, name);
    else
        nt_wait_report_line("%s has %u packet(s) in its queue for node %u%s", name,
                            queued_in(context), context->node->ordinal,
                            context->state == CONTEXT_PARKED ? ", held back" : "");
}

/* ---- nodes ---- */

static void tell_hardware(const struct vidsch_hw_context *hw)
{
    char name[96];

    LIST_FOR(q, &hw->queues) {
        const struct vidsch_hw_queue *queue = CONTAINER(q, struct vidsch_hw_queue, link);
        const struct packet *oldest;

        if (list_empty(&queue->in_flight))
            continue;
        oldest = CONTAINER(queue->in_flight.next, struct packet, link);
        name_context(queue->queue, name, sizeof(name));
        nt_wait_report_line("node %u: command %llu of %s, a hardware queue whose progress fence is "
                            "at %llu, submitted %.3f ms ago%s",
                            hw->context->node->ordinal, (unsigned long long)oldest->hw->id, name,
                            (unsigned long long)vidsch_sync_current(queue->progress),
                            (double)(sim_now() - oldest->hw->submitted_at) / 1e6,
                            hw->state == HW_RUNS ? "" : "; its context is suspended");
    }
}

static void tell_node(const struct vidsch_node *node)
{
    char name[96];

    for (uint32_t i = 0; i < node->count; i++) {
        const struct packet *packet = node_in_flight(node, i);

        name_context(packet->context, name, sizeof(name));
        nt_wait_report_line("node %u: fence %u of %s, submitted %.3f ms ago%s", node->ordinal,
                            packet->fence, name,
                            (double)(sim_now() - node_submitted_at(node, i)) / 1e6,
                            packet->resubmission ? ", after it was preempted or reset" : "");
    }
    LIST_FOR(link, &node->hw.contexts)
        tell_hardware(CONTAINER(link, struct vidsch_hw_context, node_link));
    if (node->preempting)
        nt_wait_report_line("node %u: preemption (id %u) was asked for %.3f ms ago and is not "
                            "answered",
                            node->ordinal, node->preempt_id,
                            (double)(sim_now() - node->preempt_past.asked_at) / 1e6);
    if (node->stopped)
        nt_wait_report_line("node %u: closed for recovery", node->ordinal);
}

void vidsch_wait_report(void)
{
    struct nt_wait_report report = {.objects = 0};

    for (const struct vidsch *vidsch = vidsch_first(); vidsch; vidsch = vidsch->next) {
        tell_cpu_waits(&report, vidsch);
        LIST_FOR(node, &vidsch->devices) {
            const struct vidsch_device *device = CONTAINER(node, struct vidsch_device, link);

            LIST_FOR(link, &device->contexts)
                tell_context(&report, vidsch, CONTAINER(link, struct vidsch_context, link));
        }
        for (uint32_t i = 0; i < vidsch->config.nodes; i++)
            tell_node(&vidsch->node[i]);
    }
}

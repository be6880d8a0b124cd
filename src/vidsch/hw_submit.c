/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_submit.h"
#include "ddi/entries_hw.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "vidmm/residency/residency.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/doorbell.h"
#include "vidsch/hw_retire.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/marks.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/ready.h"
#include "vidsch/recovery.h"
#include "vidsch/ringing.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

#include <stdio.h>

struct vidsch_context *vidsch_hw_first_ready(const struct vidsch_node *node)
{
    const struct vidsch *vidsch = node->vidsch;
    const bool paging_only = vidsch->recovery.restoring || vidsch->suspension.clients;
    struct vidsch_context *first = NULL;

    if (vidsch->recovery.resetting || vidsch_submits_nothing(vidsch) || node->stopped ||
        (node->hw.limit && node->hw.count >= node->hw.limit)) /* SUBMIT-118 */
        return NULL;
    LIST_FOR(link, &node->hw.ready) {
        struct vidsch_context *queue = CONTAINER(link, struct vidsch_context, run_link);

        if (queue->hw_queue->parent->hw->state == HW_SUSPENDING)
            continue;
        if (queue->device->system)
            return queue;
        first = first || paging_only ? first : queue;
    }
    return first;
}

/* ---- the watch ---- */

static void watch_fires(struct sim_event *event)
{
    struct vidsch_node *node = CONTAINER(event, struct vidsch_node, hw.watch);

    node->hw.watch_due = true;
    vidsch_kick_node(node);
}

void vidsch_hw_watch_init(struct vidsch_node *node)
{
    node->hw.watch = (struct sim_event){.fire = watch_fires};
}

static void watch(struct vidsch_node *node, uint64_t since)
{
    if (node->vidsch->config.tdr.level != TDR_LEVEL_OFF && !sim_event_pending(&node->hw.watch))
        sim_event_arm(&node->hw.watch, since + vidsch_tdr_delay(node->vidsch));
}

static bool is_exempt(const struct vidsch_hw_queue *hw)
{
    return hw->flags.DisableGpuTimeout || hw->parent->flags.DisableGpuTimeout ||
           hw->parent->device->flags.DisableGpuTimeout ||
           hw->queue->device->vidsch->config.tdr.debug_mode == TDR_DEBUG_IGNORE_TIMEOUTS;
}

/* Has a queue of the context made no progress for TdrDelay? */
static bool is_overdue(const struct vidsch_hw_context *hw)
{
    const uint64_t delay = vidsch_tdr_delay(hw->context->node->vidsch);

    LIST_FOR(link, &hw->queues) {
        const struct vidsch_hw_queue *queue = CONTAINER(link, struct vidsch_hw_queue, link);

        if ((!list_empty(&queue->in_flight) || vidsch_doorbell_pending(queue)) &&
            !is_exempt(queue) && sim_now() >= queue->oldest_since + delay)
            return true;
    }
    return false;
}

/* An interrupt may have been lost, or is on its way: the next look tells which. */
static void find_unannounced(struct vidsch_node *node)
{
    const uint32_t before = node->hw.count;

    vidsch_hw_retire_node(node);
    node->hw.unannounced = node->hw.count < before && !node->monitored_noted;
    if (node->hw.unannounced)
        sim_event_arm(&node->hw.watch, sim_now() + vidsch_tdr_delay(node->vidsch) / 4);
}

/* What clients submit themselves, the watch alone sees: since when it has not gone on. False: there
 * is nothing. */
static bool look_at_doorbells(struct vidsch_node *node)
{
    bool any = false;

    LIST_FOR(link, &node->hw.contexts) {
        LIST_FOR(q, &CONTAINER(link, struct vidsch_hw_context, node_link)->queues) {
            struct vidsch_hw_queue *queue = CONTAINER(q, struct vidsch_hw_queue, link);
            const bool pending = vidsch_doorbell_pending(queue);
            const uint64_t now = pending ? vidsch_sync_current(queue->progress) : UINT64_MAX;

            if (pending && now != queue->looked_at)
                queue->oldest_since = sim_now();
            if (vidsch_ringing_held(queue->parent->hw))
                queue->moved_at = sim_now();
            queue->looked_at = now;
            any |= pending;
        }
    }
    return any;
}

void vidsch_hw_watch_begin(struct vidsch_node *node)
{
    watch(node, sim_now());
}

void vidsch_hw_watch_check(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    struct vidsch_hw_context *overdue = NULL;

    vidsch_assert_worker(vidsch);
    node->hw.watch_due = false;
    if (node->hw.unannounced)
        WARNING("SUBMIT-117",
                "a command of a hardware queue on node %u has ended, as its progress fence says, and "
                "the driver has not notified DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED since",
                node->ordinal);
    find_unannounced(node);
    if ((!look_at_doorbells(node) && node->hw.count == 0) || node->stopped ||
        vidsch->recovery.resetting)
        return;
    LIST_FOR(link, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (!overdue && hw->state == HW_RUNS && is_overdue(hw))
            overdue = hw;
    }
    /* Again after a part of TdrDelay: the queues have times of their own. */
    sim_event_arm(&node->hw.watch, sim_now() + vidsch_tdr_delay(vidsch) / 4);
    if (!overdue)
        return;
    vidsch->worker.busy_node = node;
    vidsch->worker.busy_context = overdue->context;
    if (!vidsch_hw_suspend(overdue))
        vidsch_recovery_want_engine(node, RECOVER_TIMEOUT);
    vidsch->worker.busy_node = NULL;
    vidsch->worker.busy_context = NULL;
    vidsch_change_announce(&vidsch->change);
}

static bool has_packets(const struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues)
        if (!list_empty(&CONTAINER(link, struct vidsch_hw_queue, link)->in_flight))
            return true;
    return false;
}

/* What clients submit themselves needs all that a packet waits for before it is submitted (RES-010,
 * SUBMIT-024). */
static bool may_ring(struct vidsch_hw_context *hw)
{
    struct vidsch_device *device = hw->context->device;

    if (!vidsch_ringing_wants(hw) || vidsch_ringing_held(hw) || device->awaiting_residency)
        return false;
    device->awaiting_residency = true; /* a report that comes while we ask clears it */
    if (!vidmm_device_prepare(device->mm, &hw->context->mm, vidsch_marks_oldest(hw)))
        return false;
    device->awaiting_residency = false;
    vidsch_ready_unpark(device);
    return hw->state == HW_SUSPENDED && vidsch_ringing_wants(hw) && !vidsch_ringing_held(hw);
}

/* A suspended context must run. */
static bool must_go_on(struct vidsch_hw_context *hw)
{
    return hw->state == HW_SUSPENDED && !hw->context->node->stopped &&
           (has_packets(hw) || may_ring(hw));
}

void vidsch_hw_go_on(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;

    LIST_FOR(link, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (!must_go_on(hw))
            continue;
        LIST_FOR(q, &hw->queues)
            CONTAINER(q, struct vidsch_hw_queue, link)->oldest_since = sim_now();
        vidsch->worker.busy_node = node;
        vidsch->worker.busy_context = hw->context;
        hw->active = true;
        vidsch_hw_resume(hw);
        vidsch->worker.busy_node = NULL;
        vidsch->worker.busy_context = NULL;
        vidsch_kick_node(node); /* for the others: the list may have changed */
        vidsch_change_announce(&vidsch->change);
        return;
    }
}

/* ---- submission ---- */

/* A paging buffer must not be refused (SUBMIT-037). */
static void refused_paging(const struct vidsch_node *node, uint64_t id, NTSTATUS status)
{
    verify_fatal("SUBMIT-037", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_SUBMIT_FAILED,
                 (uint32_t)status, id, node->ordinal,
                 "DxgkDdiSubmitCommandToHwQueue answered %s for paging with progress fence id "
                 "%llu on node %u",
                 nt_status_text(status).text, (unsigned long long)id, node->ordinal);
}

/* The driver did not take the command with this id (no documented status): the device is lost. */
static void refused(struct vidsch_context *queue, uint64_t id, NTSTATUS status)
{
    char why[160];

    snprintf(why, sizeof(why), "DxgkDdiSubmitCommandToHwQueue answered %s",
             nt_status_text(status).text);
    VIOLATION("SUBMIT-115", "%s for progress fence id %llu on node %u", why, (unsigned long long)id,
              queue->node->ordinal);
    vidsch_device_lose(queue->device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT, false, why);
}

void vidsch_hw_submit(struct packet *packet)
{
    struct vidsch_context *queue = packet->context;
    struct vidsch_hw_queue *hw = queue->hw_queue;
    struct vidsch_node *node = queue->node;
    struct vidsch *vidsch = node->vidsch;
    const bool paging = packet->kind == PACKET_PAGING;
    DXGKARG_SUBMITCOMMANDTOHWQUEUE args = {
        .hHwQueue = hw->driver_handle,
        .HwQueueProgressFenceId = packet->hw->id,
        .DmaBufferVirtualAddress = packet->hw->va,
        .DmaBufferSize = packet->hw->bytes,
        .DmaBufferPrivateDataSize = packet->hw->private_bytes,
        .pDmaBufferPrivateData = packet->hw->private_bytes ? packet->hw->private_data : NULL,
        .HwQueueProgressFenceGpuVa = hw->progress->slot.va.value,
        .HwQueueProgressFenceCpuVa = (void *)(uintptr_t)hw->progress->fence,
    };
    NTSTATUS status;

    vidsch_assert_worker(vidsch);
    vidsch_hw_resume(hw->parent->hw); /* PREEMPT-044 */
    hw->parent->hw->active = true;
    args.Flags.Paging = paging;
    if (paging) {
        vidsch->statistics.paging_submissions++;
    } else {
        vidsch->statistics.submissions++;
        sim_current->submissions++;
    }
    vidsch_life_submitted(packet);
    if (list_empty(&hw->in_flight))
        hw->oldest_since = sim_now();
    packet->hw->submitted_at = sim_now();
    list_push_back(&hw->in_flight, &packet->link);
    hw->given_id = packet->hw->id;
    node->hw.count++;
    queue->last_in_flight = packet;
    watch(node, hw->oldest_since);
    /* The packet may end inside the call: the driver has a copy of its private data. Both levels
     * occur (THREAD-041). */
    status = ddi_submit_command_to_hw_queue(vidsch->ddi, &args, node->hw.submissions++ % 2);
    if (!ddi_driver_failed(vidsch->ddi, status))
        return;
    if (paging)
        refused_paging(node, args.HwQueueProgressFenceId, status);
    else
        refused(queue, args.HwQueueProgressFenceId, status);
}

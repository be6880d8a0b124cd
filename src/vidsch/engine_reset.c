/* SPDX-License-Identifier: MIT */
/*
 * Reset of one engine (TDR-020), on the recovery thread:
 *
 *   close the node -> snapshot, notifications of the node ignored -> empty? call it off
 *   -> flush DPCs -> CollectDbgInfo(0x141) -> QueryDependentEngineGroup
 *   -> preempt the dependent nodes, 500 ms
 *   -> QueryEngineStatus, ResetEngine for each node that is left, in ascending order
 *   -> check of the aborted id
 *   -> culprit's device lost, packets before it completed, packets behind it submitted again
 *
 * If anything goes wrong on the way, or a paging packet is aborted, an adapter reset follows.
 */
#include "vidsch/engine_reset.h"
#include "nt/base/status_name.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/engine_check.h"
#include "vidsch/hw_reset.h"
#include "vidsch/hw_retire.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/loss_report.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/null_context.h"
#include "vidsch/packet.h"
#include "vidsch/preempt.h"
#include "vidsch/process.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/retire.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

#define DEPENDENT_NS 500000000ull /* TDR-028 */

#include "sim/dpc.h"
#include "sim/machine.h"

#include <stdarg.h>
#include <stdio.h>

/* From now on the driver's notifications for the node are dropped; what it notified before counts
 * (TDR-034). */
static void close_node(struct vidsch_node *node)
{
    node->stopped = true;
    node->ignoring = true;
}

static void open_node(struct vidsch_node *node)
{
    node->recover = RECOVER_NONE;
    node->stopped = false;
    node->ignoring = false;
    node->monitored_noted = node->timeout_noted = false;
    node->preempt_past.reason = PREEMPT_NONE;
    vidsch_native_missed(node->vidsch);
    vidsch_kick_node(node);
    vidsch_change_announce(&node->vidsch->change);
}

/* Keep the time of a timeout of the process; whether it is one too many within TdrLimitTime. */
static bool is_over_limit(const struct vidsch *vidsch, struct vidsch_process *process)
{
    uint64_t window = vidsch->config.tdr.limit_time * VIDSCH_SECOND_NS;
    uint32_t limit = vidsch->config.tdr.limit_count, last = process->timeouts++;

    process->timeout_times[last % limit] = sim_now();
    return last >= limit - 1 &&
           sim_now() - process->timeout_times[(last - (limit - 1)) % limit] <= window;
}

/* Count a timeout of the process. With one too many it loses the GPU (TDR-041). */
static void count_timeout(struct vidsch *vidsch, struct vidsch_process *process)
{
    char why[96];

    if (!is_over_limit(vidsch, process) || process->blocked)
        return;
    process->blocked = true;
    WARNING("TDR-041", "record 0x142: process %u is blocked after %u engine timeouts", process->id,
            vidsch->config.tdr.limit_count);
    snprintf(why, sizeof(why), "its process %u is blocked after %u engine timeouts", process->id,
             vidsch->config.tdr.limit_count);
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process)
            vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_HUNG, true, why); /* TDR-042 */
    }
}

/* An adapter reset takes the place of this one; its report says why (TDR-083). */
static void promote(struct vidsch *vidsch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void promote(struct vidsch *vidsch, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(vidsch->recovery.promoted, sizeof(vidsch->recovery.promoted), format, arguments);
    va_end(arguments);
}

static bool is_legal_aborted(const struct vidsch_node *node, uint32_t aborted)
{
    if (aborted == node->last_completed)
        return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->fence == aborted)
            return true;
    return false;
}

/* Decide what becomes of the packets on the node, after the driver named the one that it aborted.
 * False: a reset of the adapter must follow. */
static bool settle(struct vidsch_node *node, uint32_t aborted, bool responsive)
{
    struct vidsch_loss loss;
    struct packet *packets[VIDSCH_MAX_DEPTH];
    bool paging = false;
    uint32_t count;

    if (!is_legal_aborted(node, aborted)) { /* TDR-032 */
        verify_fatal("TDR-032", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_BAD_ABORTED_FENCE,
                     aborted, node->last_completed, node->last_submitted,
                     "DxgkDdiResetEngine aborted fence %u; completed %u, submitted %u", aborted,
                     node->last_completed, node->last_submitted);
        return false;
    }
    node->generation++;
    vidsch_life_event(node->vidsch, node, JOURNAL_ENGINE_RESET, aborted, node->last_completed,
                      responsive);
    if (aborted != node->last_completed) {
        vidsch_tell_reported(node, node->reported, aborted - 1, DXGK_INTERRUPT_DMA_COMPLETED, NULL);
        vidsch_life_reported(node, node->reported, aborted - 1, DXGK_INTERRUPT_DMA_COMPLETED,
                             STATUS_SUCCESS);
        vidsch_retire_through(node, aborted - 1); /* TDR-034 */
    }
    vidsch_loss_engine_reset(
        &loss, node, aborted != node->last_completed ? node_in_flight(node, 0) : NULL, responsive);
    vidsch_preempt_close(node);
    if (aborted != node->last_completed) {
        struct vidsch_device *device;

        device = node_in_flight(node, 0)->context->device;
        paging = device->system;
        if (!paging) {
            struct vidsch_process *process = device->process;
            bool fault = node->recover == RECOVER_PAGE_FAULT;

            vidsch_device_lose(device,
                               fault ? D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT
                                     : D3DKMT_DEVICEEXECUTION_HUNG,
                               !fault, loss.text); /* TDR-033, TDR-056 */
            if (!fault)
                count_timeout(node->vidsch, process);
            vidsch_retire_failed(node);
        }
    }
    if (aborted == node->last_completed && node->count &&
        ++node->barren_resets >= node->vidsch->config.tdr.limit_count) { /* TDR-084 */
        promote(node->vidsch, "%u resets of node %u aborted no packet, and none was completed",
                node->barren_resets, node->ordinal);
        return false;
    }
    if (paging) { /* TDR-038 */
        promote(node->vidsch, "that of node %u aborted paging", node->ordinal);
        return false;
    }
    node->reported = node->last_completed;
    node->after_reset = true;
    vidsch_null_context_forget(node, NULL);
    count = vidsch_node_take_all(node, packets);
    vidsch_queue_return(node, packets, count); /* TDR-036 */
    return true;
}

/* Of a hardware-scheduled node. Packets that are not in hardware queues have no id that tells which
 * of them was aborted. */
static bool reset_hardware(struct vidsch_node *node)
{
    struct vidsch_device *hung = NULL;
    struct vidsch *vidsch = node->vidsch;

    if (!vidsch_hw_reset(node, &hung, vidsch->recovery.promoted, sizeof(vidsch->recovery.promoted)))
        return false;
    if (hung)
        count_timeout(vidsch, hung->process);
    if (!vidsch_hw_reopen(node, vidsch->recovery.promoted, sizeof(vidsch->recovery.promoted)))
        return false;
    if (node->count) {
        promote(vidsch, "packets outside of hardware queues were on node %u", node->ordinal);
        return false;
    }
    return true;
}

static bool reset_one(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    DXGKARG_QUERYENGINESTATUS engine = {.NodeOrdinal = node->ordinal};
    DXGKARG_RESETENGINE reset = {.NodeOrdinal = node->ordinal};
    NTSTATUS status = ddi_query_engine_status(vidsch->ddi, &engine); /* TDR-030 */
    bool responsive = NT_SUCCESS(status) && engine.EngineStatus.Responsive;

    trace_instant(node->track, "engine status", "responsive", responsive, NULL, 0);
    status = ddi_reset_engine(vidsch->ddi, &reset);
    if (!NT_SUCCESS(status)) {
        if (ddi_driver_failed(vidsch->ddi, status))
            WARNING(
                "TDR-039",
                "DxgkDdiResetEngine returned %s for node %u: promoted to adapter reset (reason 9)",
                nt_status_text(status).text, node->ordinal);
        promote(vidsch, "DxgkDdiResetEngine returned %s for node %u", nt_status_text(status).text,
                node->ordinal);
        return false;
    }
    vidsch->statistics.engine_resets++;
    vidsch_engine_check_reset(node);
    return settle(node, reset.LastAbortedFenceId, responsive);
}

/* The nodes that a reset of this one affects, bit n for node n; 0: the driver cannot tell. */
static uint64_t dependent_nodes(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    uint64_t all = vidsch->config.nodes == 64 ? ~0ull : (1ull << vidsch->config.nodes) - 1;
    DXGKARG_QUERYDEPENDENTENGINEGROUP args = {
        .NodeOrdinal = node->ordinal,
        .DependentNodeOrdinalMask = 1ull << node->ordinal,
    };
    NTSTATUS status = ddi_query_dependent_engine_group(vidsch->ddi, &args);

    if (!NT_SUCCESS(status)) { /* TDR-027 */
        promote(vidsch, "DxgkDdiQueryDependentEngineGroup returned %s for node %u",
                nt_status_text(status).text, node->ordinal);
        return 0;
    }
    if (args.DependentNodeOrdinalMask & ~all)
        VIOLATION("TDR-027", "dependent nodes 0x%llx, but there are %u",
                  (unsigned long long)args.DependentNodeOrdinalMask, vidsch->config.nodes);
    if (!(args.DependentNodeOrdinalMask & 1ull << node->ordinal)) {
        verify_fatal("TDR-026", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_BAD_DEPENDENT_MASK,
                     node->ordinal, args.DependentNodeOrdinalMask, 0,
                     "dependent nodes 0x%llx of node %u lack the node itself",
                     (unsigned long long)args.DependentNodeOrdinalMask, node->ordinal);
        return 0;
    }
    return args.DependentNodeOrdinalMask & all;
}

static bool any_preempting(const struct vidsch *vidsch, uint64_t mask)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if ((mask & 1ull << i) && vidsch->node[i].preempting)
            return true;
    return false;
}

/* Preempt the dependent nodes. Returns those that did not answer in time (TDR-028). */
static uint64_t preempt_dependents(struct vidsch *vidsch, uint64_t mask)
{
    uint64_t deadline, late = 0;

    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        struct vidsch_node *node = &vidsch->node[i];

        if (!(mask & 1ull << i))
            continue;
        node->stopped = true;
        if (!vidsch_recovery_wait_worker(vidsch, node))
            return mask;
        if (node->count && !node->preempting)
            vidsch_preempt_request(node, PREEMPT_DEPENDENT);
    }
    deadline = sim_now() + DEPENDENT_NS;
    while (any_preempting(vidsch, mask))
        if (!vidsch_change_wait(vidsch, deadline))
            break;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if ((mask & 1ull << i) && vidsch->node[i].preempting)
            late |= 1ull << i;
    return late;
}

static bool level_is_fatal(const struct vidsch *vidsch)
{
    return vidsch->config.tdr.level == TDR_LEVEL_FATAL;
}

/* Close all nodes of the mask, run their DPCs, and reset them. False: an adapter reset must
 * follow. */
static bool reset_group(struct vidsch *vidsch, uint64_t mask)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (mask & 1ull << i)
            close_node(&vidsch->node[i]);
    sim_dpc_flush();
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (mask & 1ull << i)
            vidsch_retire_through(&vidsch->node[i], vidsch->node[i].reported);
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if ((mask & 1ull << i) && !(vidsch->node[i].hw.on ? reset_hardware(&vidsch->node[i])
                                                          : reset_one(&vidsch->node[i])))
            return false;
    return true;
}

/* Is there something to reset on a hardware-scheduled node? Clients may have told less than they
 * submitted, so of a hang that it reports the driver knows more. */
static bool hardware_works(const struct vidsch_node *node)
{
    if (!node->hw.on)
        return false;
    if (node->hw.count || vidsch_hw_culprit(node) || node->recover == RECOVER_DRIVER)
        return true;
    LIST_FOR(link, &node->hw.contexts)
        if (vidsch_hw_in_flight(CONTAINER(link, struct vidsch_hw_context, node_link)))
            return true;
    return false;
}

void vidsch_engine_reset(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    uint64_t group, late;
    bool good = false;

    vidsch_assert_recovery(vidsch);
    node->stopped = true;
    if (node->recover == RECOVER_TIMEOUT && level_is_fatal(vidsch)) {
        verify_fatal("TDR-008", VIDEO_TDR_FAILURE, 0, 0, 0, 0, "timeout with TdrLevel 1");
        return;
    }
    if (!vidsch->config.per_engine_tdr)
        promote(vidsch, "SupportPerEngineTDR is FALSE");
    else if (!vidsch_recovery_wait_worker(vidsch, node))
        promote(vidsch, "a call of the driver for node %u did not return in TdrDdiDelay (%u s)",
                node->ordinal, vidsch->config.tdr.ddi_delay);
    if (vidsch->recovery.promoted[0]) {
        vidsch_recovery_want_adapter(vidsch, node->recover);
        return;
    }
    node->ignoring = true; /* the snapshot: `reported` does not change from here on */
    if (!hardware_works(node) &&
        (node->count == 0 || node_in_flight(node, node->count - 1)->fence == node->reported)) {
        if (node->recover != RECOVER_PAGE_FAULT) { /* TDR-021 */
            sim_dpc_flush();
            vidsch_retire_through(node, node->reported);
            vidsch_preempt_unanswered(node);
            vidsch_preempt_close(node);
            open_node(node);
            return;
        }
    }
    sim_dpc_flush();
    vidsch_retire_through(node, node->reported);
    vidsch_recovery_collect(vidsch, VIDEO_ENGINE_TIMEOUT_DETECTED);
    group = dependent_nodes(node);
    if (group) {
        late = preempt_dependents(vidsch, group & ~(1ull << node->ordinal));
        good = reset_group(vidsch, late | 1ull << node->ordinal);
    }
    if (!good) {
        vidsch_recovery_want_adapter(vidsch, node->recover);
        return;
    }
    NOTE("TDR-040", "record 0x141: engine reset of node %u", node->ordinal);
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (group & 1ull << i)
            open_node(&vidsch->node[i]);
}

/* SPDX-License-Identifier: MIT */
/*
 * Reset of the whole adapter, on the recovery thread:
 *
 *   stop all nodes -> no thread in the driver (within TdrDdiDelay, else 0x116)
 *   -> CollectDbgInfo(0x117) -> ResetFromTimeout
 *   -> everything in flight and all paging work is abandoned, all devices are lost
 *   -> vidmm tells the driver what left video memory; the paging buffers for that are dropped
 *   -> RestartFromTimeout
 *   -> vidmm rebuilds page tables through the paging node, which works again
 */
#include "vidsch/adapter_reset.h"
#include "vidmm/vidmm.h"
#include "sim/machine.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/reset.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/doorbell.h"
#include "vidsch/engine_check.h"
#include "vidsch/hw_reset.h"
#include "vidsch/hw_retire.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/loss_report.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/null_context.h"
#include "vidsch/packet.h"
#include "vidsch/paging_submit.h"
#include "vidsch/preempt.h"
#include "vidsch/recovery.h"
#include "vidsch/retire.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

#include <string.h>

#define BARREN 4u /* times TdrLimitCount: resets in a row without anything completed between them */

static void stop_machine(const char *rule, uint64_t parameter, const char *why)
{
    verify_fatal(rule, VIDEO_TDR_FAILURE, parameter, 0, 0, 0, "recovery failed: %s", why);
}

/* Count this adapter reset. The rule by which it is one too many: within TdrLimitTime, or without
 * progress at whatever intervals. NULL: it is not. */
static const char *over_limit(struct vidsch *vidsch, enum recover_cause cause)
{
    uint64_t window = vidsch->config.tdr.limit_time * VIDSCH_SECOND_NS;
    uint32_t limit = vidsch->config.tdr.limit_count;
    uint64_t *oldest = &vidsch->recovery.reset_times[vidsch->recovery.reset_count % limit];
    const char *rule = vidsch->recovery.barren >= BARREN * limit ? "TDR-085" : NULL;

    if (vidsch->recovery.reset_count >= limit && sim_now() - *oldest <= window)
        rule = "TDR-012";
    *oldest = sim_now();
    vidsch->recovery.reset_count++;
    vidsch->recovery.barren += cause != RECOVER_FORCED;
    if (vidsch->config.tdr.debug_mode == TDR_DEBUG_RECOVER_ALWAYS || cause == RECOVER_FORCED)
        return NULL;
    return rule;
}

/* From now on nothing is submitted, and what the driver notifies is dropped. */
static void close_adapter(struct vidsch *vidsch)
{
    vidsch->recovery.resetting = true;
    vidmm_let_driver_out(vidsch->vidmm, true);
}

/* Check that this is not one reset too many, and that no other thread is in the driver. False: the
 * machine is stopped. */
static bool prepare(struct vidsch *vidsch, enum recover_cause cause)
{
    const char *rule = over_limit(vidsch, cause);

    if (rule) {
        stop_machine(rule, vidsch->recovery.reset_count,
                     strcmp(rule, "TDR-012") == 0 ? "too many resets"
                                                  : "resets lead nowhere: no packet was completed "
                                                    "since many resets");
        return false;
    }
    if (!vidsch_recovery_wait_worker(vidsch, NULL)) {
        stop_machine("TDR-011", 0, "the scheduler's thread did not leave the driver");
        return false;
    }
    if (ddi_exclude_others(vidsch->ddi, vidsch->config.tdr.ddi_delay * VIDSCH_SECOND_NS) !=
        STATUS_SUCCESS) { /* NT_SUCCESS holds for STATUS_TIMEOUT */
        stop_machine("TDR-011", 0, "a thread did not leave the driver");
        return false;
    }
    return true;
}

/* The device to blame: that of the oldest packet on the node that hung. */
static const struct vidsch_device *culprit(struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        const struct vidsch_node *node = &vidsch->node[i];

        if (node->recover != RECOVER_NONE && node->count)
            return node_in_flight(node, 0)->context->device;
        if (node->recover != RECOVER_NONE && vidsch_hw_culprit(node))
            return vidsch_hw_culprit(node);
    }
    return NULL;
}

static void abandon_packet(struct packet *packet)
{
    vidsch_life_fails(packet, JOURNAL_ABORTED);
    vidsch_packet_finish(packet);
}

/* End everything in flight as failed; all ids up to the last submitted one count as completed
 * (TDR-049). */
static void abandon(struct vidsch *vidsch)
{
    vidmm_tables_lost(vidsch->vidmm);
    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        struct vidsch_node *node = &vidsch->node[i];
        struct list *link;

        node->generation++;
        vidsch_preempt_close(node);
        while (node->count)
            vidsch_retire_failed(node);
        vidsch_hw_fail_node(node);
        vidsch_hw_after_reset(node);
        node->hw.closed = false;
        while ((link = list_pop_front(&node->resubmit)) != NULL)
            abandon_packet(CONTAINER(link, struct packet, link));
        node->last_completed = node->reported = node->last_submitted;
        node->after_reset = true;
        vidsch_null_context_forget(node, NULL);
    }
    vidsch_paging_abandon(vidsch);
}

static void lose_all(struct vidsch *vidsch, const struct vidsch_device *guilty, const char *why)
{
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system) /* TDR-055, TDR-058 */
            vidsch_device_lose(device,
                               device == guilty ? D3DKMT_DEVICEEXECUTION_HUNG
                                                : D3DKMT_DEVICEEXECUTION_RESET,
                               true, why);
    }
}

static void reopen(struct vidsch *vidsch)
{
    vidsch->recovery.restoring = true;
    vidsch->recovery.resetting = false;
    vidsch->recovery.adapter_wanted = false;
    vidsch->recovery.promoted[0] = '\0';
    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        struct vidsch_node *node = &vidsch->node[i];

        node->recover = RECOVER_NONE;
        node->stopped = node->ignoring = node->monitored_noted = node->timeout_noted = false;
        node->preempt_past.reason = PREEMPT_NONE;
        vidsch_kick_node(node);
    }
    vidsch_native_missed(vidsch);
    vidsch_kick_worker(vidsch);
    vidsch_change_announce(&vidsch->change);
}

/* From DxgkDdiResetFromTimeout to DxgkDdiRestartFromTimeout. False: the machine is stopped. */
static bool reset(struct vidsch *vidsch, enum recover_cause cause)
{
    const struct vidsch_device *guilty = cause == RECOVER_TIMEOUT ? culprit(vidsch) : NULL;
    struct vidsch_loss loss;
    NTSTATUS status;

    vidsch_loss_adapter_reset(&loss, vidsch, cause);
    vidsch_life_event(vidsch, NULL, JOURNAL_ADAPTER_RESET, cause, 0, 0);
    vidmm_reset_begin(vidsch->vidmm);
    vidsch_doorbells_blank(vidsch);
    status = ddi_reset_from_timeout(vidsch->ddi);
    ddi_admit_others(vidsch->ddi);
    if (!NT_SUCCESS(status) && !vidsch->ddi->gone) {
        stop_machine("TDR-047", (uint32_t)status, "DxgkDdiResetFromTimeout failed");
        return false;
    }
    vidsch_engine_check_stopped(vidsch, true);
    lose_all(vidsch, guilty, loss.text);
    abandon(vidsch);
    vidsch->paging.discard = true;
    vidmm_reset_cleanup(vidsch->vidmm);
    sim_block(sim_now() + 1, NULL); /* others may destroy what they have (TDR-052) */
    vidsch->paging.discard = false;
    vidsch_engine_check_stopped(vidsch, false);
    status = ddi_restart_from_timeout(vidsch->ddi);
    if (!NT_SUCCESS(status) && !vidsch->ddi->gone) {
        stop_machine("TDR-053", (uint32_t)status, "DxgkDdiRestartFromTimeout failed");
        return false;
    }
    vidsch->statistics.adapter_resets++;
    return true;
}

void vidsch_adapter_reset_failed(struct vidsch *vidsch)
{
    vidsch_assert_worker(vidsch);
    vidsch->recovery.restore_hangs = false;
    stop_machine("TDR-086", 0, "the GPU hung again while page tables were rebuilt after the reset");
}

void vidsch_adapter_reset(struct vidsch *vidsch, enum recover_cause cause)
{
    NTSTATUS status;

    vidsch_assert_recovery(vidsch);
    close_adapter(vidsch);
    if (!prepare(vidsch, cause))
        return;
    vidsch_recovery_collect(vidsch, VIDEO_TDR_TIMEOUT_DETECTED);
    if (!vidsch->ddi->gone)
        WARNING("TDR-066", "record 0x117: adapter reset");
    if (!reset(vidsch, cause))
        return;
    reopen(vidsch);
    status = vidmm_reset_restore(vidsch->vidmm);
    if (!NT_SUCCESS(status) &&
        !vidmm_is_lost(vidsch->vidmm)) { /* a device that is gone has no tables */
        stop_machine("TDR-058", (uint32_t)status, "page tables could not be rebuilt");
        return;
    }
    vidmm_let_driver_out(vidsch->vidmm, false);
    vidsch_life_event(vidsch, NULL, JOURNAL_ADAPTER_AGAIN, 0, 0, 0);
    vidsch->recovery.restoring = false; /* GPUVA-259: only now may clients submit */
    vidsch_kick_all(vidsch);
    vidsch_change_announce(&vidsch->change);
    if (vidsch->config.restarted)
        vidsch->config.restarted(vidsch->ddi);
}

/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_suspend.h"
#include "ddi/entries_hw.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_retire.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/recovery.h"
#include "vidsch/ringing.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_bugcheck.h"

static void is_late(struct sim_event *event)
{
    struct vidsch_hw_context *hw = CONTAINER(event, struct vidsch_hw_context, deadline);
    struct vidsch_node *node = hw->context->node;
    struct vidsch *vidsch = node->vidsch;

    if (hw->state != HW_SUSPENDING || node->stopped || vidsch->recovery.resetting)
        return;
    if ((hw->acknowledged && !hw->unnotified) ||
        vidsch->config.tdr.debug_mode == TDR_DEBUG_IGNORE_TIMEOUTS) {
        hw->unnotified = hw->acknowledged;
        sim_event_arm(event, sim_now() + vidsch_tdr_delay(vidsch));
        return;
    }
    vidsch_recovery_want_engine(node, RECOVER_TIMEOUT); /* TDR-074 */
}

void vidsch_hw_suspend_init(struct vidsch_hw_context *hw)
{
    hw->deadline = (struct sim_event){.fire = is_late};
}

static void suspended(struct vidsch_hw_context *hw)
{
    sim_event_cancel(&hw->deadline);
    hw->acknowledged = hw->unnotified = hw->active = false;
    vidsch_hw_retire_context(hw); /* the GPU may have finished before it let go */
    hw->state = HW_SUSPENDED;
    if (hw->abandoning)
        vidsch_hw_fail_context(hw);
    hw->abandoning = false;
    vidsch_kick_node(hw->context->node);
    vidsch_change_announce(&hw->context->node->vidsch->change);
}

bool vidsch_hw_suspend(struct vidsch_hw_context *hw)
{
    struct vidsch *vidsch = hw->context->node->vidsch;
    DXGKARG_SUSPENDCONTEXT args = {.hContext = hw->context->mm.driver_handle};
    NTSTATUS status;

    sim_assert_passive();
    if (hw->state != HW_RUNS)
        return true;
    if (hw->leaving) {
        suspended(hw);
        return true;
    }
    if (!ddi_has(vidsch->ddi, DxgkDdiSuspendContext))
        return false;
    args.contextSuspendFence = ++hw->suspend_fence;
    hw->state = HW_SUSPENDING;
    hw->acknowledged = hw->unnotified = false;
    if (vidsch->config.tdr.level != TDR_LEVEL_OFF)
        sim_event_arm(&hw->deadline, sim_now() + vidsch_tdr_delay(vidsch));
    vidsch_life_event(vidsch, hw->context->node, JOURNAL_SUSPEND,
                      ddi_handle_number(hw->context->mm.host_handle), hw->suspend_fence, 0);
    trace_instant(hw->context->track, "suspend", "fence", hw->suspend_fence, NULL, 0);
    status = ddi_suspend_context(vidsch->ddi, &args);
    if (status == STATUS_PENDING || sim_current->stopped || hw->state != HW_SUSPENDING ||
        hw->acknowledged || args.contextSuspendFence != hw->suspend_fence)
        return true;
    if (!ddi_driver_failed(vidsch->ddi, status)) { /* nothing runs on an adapter that is gone */
        suspended(hw);
        return true;
    }
    VIOLATION("PREEMPT-042", "DxgkDdiSuspendContext answered %s", nt_status_text(status).text);
    vidsch_recovery_want_engine(hw->context->node, RECOVER_DRIVER);
    return true;
}

void vidsch_hw_resume(struct vidsch_hw_context *hw)
{
    struct vidsch *vidsch = hw->context->node->vidsch;
    DXGKARG_RESUMECONTEXT args = {.hContext = hw->context->mm.driver_handle};
    NTSTATUS status;

    if (hw->state != HW_SUSPENDED)
        return;
    vidsch_hw_check_progress(hw);
    hw->state = HW_RUNS;
    if (!ddi_has(vidsch->ddi, DxgkDdiResumeContext))
        return;
    status = ddi_resume_context(vidsch->ddi, &args);
    if (ddi_driver_failed(vidsch->ddi, status))
        VIOLATION("PREEMPT-044", "DxgkDdiResumeContext answered %s", nt_status_text(status).text);
}

struct vidsch_node *vidsch_hw_suspend_notified(struct vidsch *vidsch, HANDLE context, uint64_t fence)
{
    struct vidsch_hw_context *hw = vidsch_hw_context_find(vidsch, context);

    if (hw && vidsch_hw_is_closed(hw->context->node, "SUSPEND_CONTEXT_COMPLETED"))
        return NULL;
    if (!hw || fence == 0 || fence > hw->suspend_fence) {
        verify_fatal("PREEMPT-043", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_BAD_SUSPEND_FENCE,
                     fence, hw ? hw->suspend_fence : 0, 0, "suspend fence %llu was not issued%s",
                     (unsigned long long)fence,
                     hw ? "" : ": the handle is not that of a hardware context");
        return NULL;
    }
    if (hw->state != HW_SUSPENDING || fence != hw->suspend_fence)
        return NULL; /* of an earlier request */
    hw->acknowledged = true;
    return hw->context->node;
}

void vidsch_hw_suspend_dpc(struct vidsch_node *node)
{
    LIST_FOR_SAFE(link, next, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (hw->state == HW_SUSPENDING && hw->acknowledged)
            suspended(hw);
    }
}

void vidsch_hw_abandon(struct vidsch_hw_context *hw)
{
    const struct vidsch *vidsch = hw->context->node->vidsch;

    vidsch_hw_retire_context(hw);
    if (!vidsch_hw_in_flight(hw) && !vidsch_ringing_wants(hw))
        return;
    if (hw->invalidated || vidsch->recovery.resetting || sim_current->stopped ||
        hw->state == HW_SUSPENDED) {
        vidsch_hw_fail_context(hw);
        return;
    }
    hw->abandoning = true;           /* else, without DxgkDdiSuspendContext, it ends by itself */
    if (!hw->context->node->stopped) /* else the reset ends it, and may have no answer (TDR-023) */
        (void)vidsch_hw_suspend(hw);
}

void vidsch_hw_after_reset(struct vidsch_node *node)
{
    const struct vidsch *vidsch = node->vidsch;

    LIST_FOR_SAFE(link, next, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        sim_event_cancel(&hw->deadline);
        if (hw->state != HW_SUSPENDED || vidsch->recovery.resetting)
            hw->state = HW_RUNS; /* else it may be held, or its memory be away (ringing.h) */
        hw->acknowledged = hw->unnotified = false;
        if (hw->abandoning || hw->invalidated)
            vidsch_hw_fail_context(hw);
        hw->abandoning = false;
        if (hw->context->device->system) /* it lives on, after a reset of the adapter */
            hw->invalidated = hw->collateral = false;
    }
}

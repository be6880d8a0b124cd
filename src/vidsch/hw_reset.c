/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_reset.h"
#include "ddi/entries_hw.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_retire.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/life.h"
#include "vidsch/loss_report.h"
#include "vidsch/node.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

#include <stdio.h>

#define RESUME_NS 100000u /* from the end of DxgkDdiResetHwEngine to DxgkDdiResumeHwEngine */

NTSTATUS vidsch_hw_invalidate(struct vidsch *vidsch, HANDLE handle,
                              DXGK_INVALIDATEHWCONTEXTFLAGS flags)
{
    struct vidsch_hw_context *hw = vidsch_hw_context_find(vidsch, handle);

    if (!hw) {
        VIOLATION("TDR-075", "DxgkCbInvalidateHwContext with hHwContext %s",
                  ddi_handle_describe(&vidsch->ddi->handles, handle).text);
        return STATUS_INVALID_PARAMETER;
    }
    if (!hw->context->node->hw.resetting) {
        VIOLATION("TDR-075",
                  "DxgkCbInvalidateHwContext for a context of node %u outside of "
                  "DxgkDdiResetHwEngine",
                  hw->context->node->ordinal);
        return STATUS_INVALID_DEVICE_STATE;
    }
    hw->invalidated = hw->hit = true;
    hw->collateral = flags.CollateralDamage;
    return STATUS_SUCCESS;
}

static void forget_hits(struct vidsch_node *node)
{
    LIST_FOR(link, &node->hw.contexts)
        CONTAINER(link, struct vidsch_hw_context, node_link)->hit = false;
}

/* The context that hung, or else the first of those that were hit; NULL: none was. */
static struct vidsch_hw_context *blamed(const struct vidsch_node *node)
{
    struct vidsch_hw_context *first = NULL;

    LIST_FOR(link, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (!hw->hit)
            continue;
        if (!hw->collateral)
            return hw;
        first = first ? first : hw;
    }
    return first;
}

/* As the cause, or as collateral damage. */
static bool hit_paging(const struct vidsch_node *node)
{
    LIST_FOR(link, &node->hw.contexts) {
        const struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (hw->invalidated && hw->context->device->system)
            return true;
    }
    return false;
}

static void lose_invalidated(struct vidsch_node *node, const char *text)
{
    LIST_FOR(link, &node->hw.contexts) {
        struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (hw->invalidated) /* TDR-076 */
            vidsch_device_lose(hw->context->device,
                               hw->collateral ? D3DKMT_DEVICEEXECUTION_RESET
                                              : D3DKMT_DEVICEEXECUTION_HUNG,
                               true, text);
    }
}

/* An engine that was not quieted notifies in the meantime (TDR-023). */
static void leave_time(struct vidsch_node *node)
{
    const uint64_t end = sim_now() + RESUME_NS;

    while (sim_now() < end && !sim_current->stopped)
        (void)vidsch_change_wait(node->vidsch, end);
    node->hw.closed = false;
}

bool vidsch_hw_reset(struct vidsch_node *node, struct vidsch_device **hung, char *why,
                     size_t why_bytes)
{
    struct vidsch *vidsch = node->vidsch;
    DXGKARG_RESETHWENGINE args = {.NodeOrdinal = node->ordinal};
    struct vidsch_hw_context *guilty;
    struct vidsch_loss loss;
    NTSTATUS status;

    vidsch_assert_recovery(vidsch);
    forget_hits(node);
    node->hw.resetting = true;
    status = ddi_reset_hw_engine(vidsch->ddi, &args);
    node->hw.resetting = false;
    if (!NT_SUCCESS(status)) {
        snprintf(why, why_bytes, "DxgkDdiResetHwEngine returned %s for node %u",
                 nt_status_text(status).text, node->ordinal);
        return false;
    }
    node->hw.closed = true;
    node->generation++;
    vidsch->statistics.engine_resets++;
    vidsch_hw_retire_node(node);
    guilty = blamed(node);
    vidsch_life_event(vidsch, node, JOURNAL_HW_RESET,
                      guilty ? ddi_handle_number(guilty->context->mm.host_handle) : 0, 0, 0);
    vidsch_loss_hw_reset(&loss, node, guilty ? guilty->context : NULL);
    *hung = guilty && !guilty->collateral && !device_is_lost(guilty->context->device)
                ? guilty->context->device
                : NULL; /* else it has a reason already */
    lose_invalidated(node, loss.text);
    if (hit_paging(node)) { /* TDR-038 */
        node->hw.closed = false;
        snprintf(why, why_bytes, "that of node %u invalidated the context of paging", node->ordinal);
        return false;
    }
    vidsch_hw_after_reset(node);
    if (!guilty && ++node->barren_resets >= vidsch->config.tdr.limit_count) { /* TDR-084 */
        node->hw.closed = false;
        snprintf(why, why_bytes, "%u resets of node %u invalidated no context", node->barren_resets,
                 node->ordinal);
        return false;
    }
    return true;
}

bool vidsch_hw_reopen(struct vidsch_node *node, char *why, size_t why_bytes)
{
    DXGKARG_RESUMEHWENGINE args = {.NodeOrdinal = node->ordinal};
    NTSTATUS status;

    leave_time(node);
    if (!ddi_has(node->vidsch->ddi, DxgkDdiResumeHwEngine))
        return true;
    status = ddi_resume_hw_engine(node->vidsch->ddi, &args);
    if (NT_SUCCESS(status))
        return true;
    snprintf(why, why_bytes, "DxgkDdiResumeHwEngine returned %s for node %u",
             nt_status_text(status).text, node->ordinal);
    return false;
}

const struct vidsch_device *vidsch_hw_culprit(const struct vidsch_node *node)
{
    LIST_FOR(link, &node->hw.contexts) {
        const struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (hw->state == HW_SUSPENDING)
            return hw->context->device;
    }
    return NULL;
}

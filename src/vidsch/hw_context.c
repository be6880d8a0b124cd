/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_context.h"
#include "ddi/entries_hw.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/vidsch_bugcheck.h"

/* In units of 100 ns. No page gives values; these are of the order of the scheduler's own
 * (SUBMIT-019). */
#define QUANTUM      50000u
#define GRACE        5000u
#define BAND_PERCENT 10u /* the documented default */

void vidsch_hw_node_init(struct vidsch_node *node)
{
    node->hw.on = node->info.hardware_scheduled;
    node->hw.limit = node->info.metadata.Flags.MaxInFlightHwQueueBuffers;
    list_init(&node->hw.contexts);
    list_init(&node->hw.ready);
}

static bool any_on(const struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].hw.on)
            return true;
    return false;
}

void vidsch_hw_setup_bands(struct vidsch *vidsch)
{
    DXGKARG_SETUPPRIORITYBANDS bands = {.targetNormalBandPercentage = BAND_PERCENT};
    NTSTATUS status;

    sim_assert_passive();
    if (!any_on(vidsch) || !ddi_has(vidsch->ddi, DxgkDdiSetupPriorityBands))
        return;
    for (unsigned i = 0; i < DXGK_SCHEDULING_PRIORITY_BAND_COUNT; i++) {
        bands.processQuantumForBand[i] = QUANTUM;
        bands.processGracePeriodForBand[i] = GRACE;
        bands.gracePeriodForBand[i] = GRACE;
    }
    bands.gracePeriodForBand[DXGK_SCHEDULING_PRIORITY_BAND_IDLE] = 0;
    bands.gracePeriodForBand[DXGK_SCHEDULING_PRIORITY_BAND_REALTIME] = 0;
    status = ddi_setup_priority_bands(vidsch->ddi, &bands);
    if (ddi_driver_failed(vidsch->ddi, status))
        VIOLATION("SUBMIT-119", "DxgkDdiSetupPriorityBands answered %s",
                  nt_status_text(status).text);
}

/* ---- contexts ---- */

bool vidsch_hw_context_begin(struct vidsch_context *context, bool own_entries)
{
    struct vidsch_hw_context *hw = util_zalloc(1, sizeof(*hw));

    if (!hw)
        return false;
    hw->context = context;
    hw->own_entries = own_entries;
    list_init(&hw->queues);
    list_push_back(&context->node->hw.contexts, &hw->node_link);
    context->hw = hw;
    return true;
}

void vidsch_hw_context_free(struct vidsch_context *context)
{
    if (!context->hw)
        return;
    sim_event_cancel(&context->hw->deadline);
    list_remove(&context->hw->node_link);
    util_free(context->hw);
    context->hw = NULL;
}

NTSTATUS vidsch_hw_context_create(struct vidsch_context *context, DXGKARG_CREATECONTEXT *args)
{
    struct vidsch *vidsch = context->device->vidsch;
    DXGKARG_CREATEHWCONTEXT own = {.hHwContext = context->mm.host_handle,
                                   .NodeOrdinal = args->NodeOrdinal,
                                   .EngineAffinity = 1,
                                   .PrivateDriverDataSize = args->PrivateDriverDataSize,
                                   .pPrivateDriverData = args->pPrivateDriverData};
    NTSTATUS status = ddi_create_hw_context(vidsch->ddi, context->device->driver_handle, &own);

    if (NT_SUCCESS(status))
        context->mm.driver_handle = own.hHwContext;
    return status;
}

void vidsch_hw_context_destroy(struct vidsch_context *context)
{
    NTSTATUS status;

    if (sim_current->stopped)
        return;
    status = ddi_destroy_hw_context(context->device->vidsch->ddi, context->mm.driver_handle);
    if (ddi_driver_failed(context->device->vidsch->ddi, status))
        VIOLATION("KMT-171", "DxgkDdiDestroyHwContext answered %s", nt_status_text(status).text);
}

/* The pages ask for the same privilege of a process that uses the bands for focus and real time as
 * KMT-167 names for the two highest classes. */
static DXGK_SCHEDULING_PRIORITY_BAND band_of(const struct vidsch_context *context)
{
    switch (context->device->process->priority_class) {
    case D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE:
        return DXGK_SCHEDULING_PRIORITY_BAND_IDLE;
    case D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH:
        return DXGK_SCHEDULING_PRIORITY_BAND_FOCUS;
    case D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME:
        return DXGK_SCHEDULING_PRIORITY_BAND_REALTIME;
    default:
        return DXGK_SCHEDULING_PRIORITY_BAND_NORMAL;
    }
}

void vidsch_hw_context_tell(const struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES args = {
        .hContext = context->mm.driver_handle,
        .priorityBand = band_of(context),
        .inProcessPriority = context->priority +
                             (context->ahead && context->priority < VIDSCH_PRIORITY_LIMIT),
        .quantum = QUANTUM,
        .gracePeriodSamePriority = GRACE,
        .gracePeriodLowerPriority = GRACE / 2,
    };
    NTSTATUS status;

    if (!context->node->hw.on || sim_current->stopped ||
        !ddi_has(vidsch->ddi, DxgkDdiSetContextSchedulingProperties))
        return;
    status = ddi_set_context_scheduling_properties(vidsch->ddi, &args);
    if (ddi_driver_failed(vidsch->ddi, status))
        VIOLATION("SUBMIT-119", "DxgkDdiSetContextSchedulingProperties answered %s",
                  nt_status_text(status).text);
}

struct vidsch_hw_context *vidsch_hw_context_find(const struct vidsch *vidsch, HANDLE handle)
{
    struct vidmm_context *mm = ddi_handle_lookup(&vidsch->ddi->handles, handle, DDI_HANDLE_CONTEXT);

    return mm ? CONTAINER(mm, struct vidsch_context, mm)->hw : NULL;
}

bool vidsch_hw_is_closed(const struct vidsch_node *node, const char *what)
{
    if (!node->hw.closed)
        return false;
    verify_fatal("TDR-023", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_NOTIFIED_BEFORE_RESUME,
                 node->ordinal, 0, 0,
                 "%s for node %u between DxgkDdiResetHwEngine and DxgkDdiResumeHwEngine", what,
                 node->ordinal);
    return true;
}

/* ---- queues ---- */

NTSTATUS vidsch_hw_queue_create(struct vidsch_context *queue, DXGKARG_CREATEHWQUEUE *args)
{
    struct vidsch_hw_queue *hw = queue->hw_queue;
    NTSTATUS status;

    args->hHwQueue = queue->mm.host_handle;
    status = ddi_create_hw_queue(queue->device->vidsch->ddi, hw->parent->mm.driver_handle, args);
    if (NT_SUCCESS(status))
        hw->driver_handle = args->hHwQueue;
    return status;
}

void vidsch_hw_queue_destroy(struct vidsch_context *queue)
{
    NTSTATUS status;

    if (sim_current->stopped)
        return;
    status = ddi_destroy_hw_queue(queue->device->vidsch->ddi, queue->hw_queue->driver_handle);
    if (ddi_driver_failed(queue->device->vidsch->ddi, status))
        VIOLATION("KMT-178", "DxgkDdiDestroyHwQueue answered %s", nt_status_text(status).text);
}

void vidsch_hw_queue_free(struct vidsch_context *queue)
{
    if (!queue->hw_queue)
        return;
    list_remove(&queue->hw_queue->link);
    queue->device->user_queues -= queue->hw_queue->flags.UserModeSubmission;
    if (queue->device->system) /* hw_paging.c made it */
        util_free(queue->hw_queue->progress);
    util_free(queue->hw_queue);
    queue->hw_queue = NULL;
}

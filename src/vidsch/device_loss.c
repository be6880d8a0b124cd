/* SPDX-License-Identifier: MIT */
/*
 * A device is the unit of error: once lost, it stays lost until it is destroyed (KMT-122). It can
 * be lost at any level up to DISPATCH_LEVEL, so what needs PASSIVE_LEVEL is left to the worker
 * (cancel.c), which finds the device on its list `lost`.
 */
#include "vidsch/device_loss.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "util/alloc.h"
#include "util/array.h"
#include "verify/refusal.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/kick.h"
#include "vidsch/loss_report.h"
#include "vidsch/node.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"

#include <string.h>

/* NULL: memory is short. */
static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *kept = util_alloc(bytes);

    return kept ? memcpy(kept, text, bytes) : NULL;
}

void vidsch_device_lose(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state,
                        bool reset, const char *why)
{
    struct vidsch *vidsch = device->vidsch;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (device_is_lost(device) || device->system)
        return; /* KMT-129: the first cause stays */
    device->state = state;
    device->reset_loss = reset;
    device->loss = copy(why);
    device->cleaning = true;
    LIST_FOR(link, &device->contexts) {
        struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->state == CONTEXT_READY || context->state == CONTEXT_PARKED)
            vidsch_ready_remove(context);
        context->state = CONTEXT_LOST;
        if (context->node->unbroken == context)
            context->node->unbroken = NULL;
    }
    list_push_back(&vidsch->worker.lost, &device->lost_link);
    vidsch_kick_worker(vidsch);
    trace_instant(0, "device lost", "state", (uint64_t)state, NULL, 0);
}

NTSTATUS vidsch_device_mark_error(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    vidsch_device_lose(device, state, false,
                       "D3DKMTMarkDeviceAsError, or the end of its process"); /* TDR-080 */
    return STATUS_SUCCESS;
}

static bool is_stopped(const struct vidsch *vidsch)
{
    return vidsch->quiescing || vidsch->removed || sim_current->stopped;
}

D3DKMT_DEVICEEXECUTION_STATE vidsch_device_state(const struct vidsch_device *device)
{
    if (is_stopped(device->vidsch))
        return D3DKMT_DEVICEEXECUTION_STOPPED;
    return device->state;
}

static const char *state_name(D3DKMT_DEVICEEXECUTION_STATE state)
{
    static const char *const names[] = {
        [D3DKMT_DEVICEEXECUTION_RESET] = "D3DKMT_DEVICEEXECUTION_RESET",
        [D3DKMT_DEVICEEXECUTION_HUNG] = "D3DKMT_DEVICEEXECUTION_HUNG",
        [D3DKMT_DEVICEEXECUTION_STOPPED] = "D3DKMT_DEVICEEXECUTION_STOPPED",
        [D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY] = "D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY",
        [D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT] = "D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT",
        [D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT] = "D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT",
    };

    return (size_t)state < ARRAY_COUNT(names) && names[state] ? names[state] : "lost";
}

const char *vidsch_device_loss_text(const struct vidsch_device *device)
{
    if (!device_is_lost(device))
        return "";
    return device->loss ? device->loss : "no memory was left to keep the reason";
}

NTSTATUS vidsch_device_check(const struct vidsch_device *device, bool submission)
{
    const char *why = vidsch_device_loss_text(device);
    const char *walk = strstr(why, VIDSCH_LOSS_WALK); /* it would not fit */
    NTSTATUS status;

    if (is_stopped(device->vidsch))
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter was stopped");
    if (!device_is_lost(device))
        return STATUS_SUCCESS;
    status = submission && !device->reset_loss ? STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE
                                               : STATUS_DEVICE_REMOVED;
    return refuse(status, NULL, "the device was lost before: %s%s; %.*s", state_name(device->state),
                  device->reset_loss ? ", by a reset" : "",
                  (int)(walk ? (size_t)(walk - why) : strlen(why)), why);
}

NTSTATUS vidsch_device_fault_state(struct vidsch_device *device, D3DKMT_DEVICEPAGEFAULT_STATE *state)
{
    if (is_stopped(device->vidsch))
        return refuse(STATUS_DEVICE_REMOVED, "KMT-128", "the adapter was stopped");
    *state = device->fault;
    return STATUS_SUCCESS;
}

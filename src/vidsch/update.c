/* SPDX-License-Identifier: MIT */
#include "vidsch/update.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/va_update.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/packet.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"

#define MOST_OPERATIONS 128u /* GPUVA-136 */

/* ---- in the queue ---- */

/* From the memory manager: the changes are made. */
static void done(void *argument)
{
    struct vidsch_update *update = argument;
    struct vidsch_context *context = update->context;
    struct packet *packet = update->packet;

    update->running = false;
    if (!packet) {
        util_free(update);
        return;
    }
    list_remove(&packet->link);
    vidsch_packet_finish(packet);
    if (context->state != CONTEXT_BLOCKED)
        return;
    context->state = CONTEXT_IDLE;
    vidsch_queue_advance(context);
}

static void reached(struct packet *packet)
{
    struct vidsch_update *update = packet->update;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (update->running)
        return;
    update->running = true;
    vidmm_batch_run(update->batch, &update->context->updates, done, update);
    update->batch = NULL;
}

static void end(struct packet *packet)
{
    struct vidsch_update *update = packet->update;

    packet->context->operations -= packet->operations;
    if (update->running) {
        update->packet = NULL;
        return;
    }
    if (update->batch)
        vidmm_batch_drop(update->batch, &update->context->updates);
    util_free(update);
}

/* ---- the client's call ---- */

static NTSTATUS companion_of(struct vidsch_context *owner, struct vidsch_context **out)
{
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&owner->render_lock);
    if (!owner->companion)
        status = vidsch_context_create_companion(owner, &owner->companion);
    *out = owner->companion;
    sim_mutex_unlock(&owner->render_lock);
    return status;
}

static bool is_full(const struct vidsch_context *companion, UINT count)
{
    return companion->operations && companion->operations + count > MOST_OPERATIONS;
}

static NTSTATUS wait_for_room(struct vidsch_context *companion, UINT count)
{
    NTSTATUS status = vidsch_device_check(companion->device, true);

    while (NT_SUCCESS(status) && is_full(companion, count)) {
        vidsch_change_wait(companion->device->vidsch, SIM_FOREVER);
        status = sim_current->stopped ? STATUS_DEVICE_REMOVED
                                      : vidsch_device_check(companion->device, true);
    }
    return status;
}

static struct packet *packet_of(struct vidsch_context *companion, struct va_batch *batch, UINT count)
{
    struct packet *packet = vidsch_packet_create(companion, PACKET_UPDATE);
    struct vidsch_update *update = packet ? util_zalloc(1, sizeof(*update)) : NULL;

    if (!update) {
        if (packet)
            slab_give(&companion->device->vidsch->packets, packet);
        return NULL;
    }
    *update = (struct vidsch_update){
        .reached = reached, .end = end, .packet = packet, .context = companion, .batch = batch};
    packet->update = update;
    packet->operations = count;
    companion->operations += count;
    return packet;
}

static NTSTATUS queue(struct vidsch_context *companion, const struct vidsch_update_request *request,
                      struct va_batch *batch)
{
    struct packet *packet = packet_of(companion, batch, request->count);
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!packet) {
        vidmm_batch_discard(batch);
        return status;
    }
    status = vidsch_sync_bracket(companion, request->fence, request->value, !request->do_not_wait,
                                 packet);
    if (!NT_SUCCESS(status))
        vidsch_packet_free(companion->device->vidsch, packet); /* drops the batch */
    return status;
}

static NTSTATUS check(const struct vidsch_context *owner,
                      const struct vidsch_update_request *request)
{
    if (!owner->mm.virtual_addressing)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-135",
                      "hContext is a context of physical addresses");
    if (request->fence->type != D3DDDI_MONITORED_FENCE)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-135", "hFenceObject is no monitored fence");
    if (request->count == 0)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-132", "NumOperations is 0");
    return vidsch_sync_bracket_check(owner, request->fence, request->value, !request->do_not_wait);
}

NTSTATUS vidsch_update_addresses(struct vidsch_context *owner,
                                 const struct vidsch_update_request *request)
{
    struct vidsch_context *companion;
    struct va_batch *batch;
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(owner->device->vidsch);
    status = vidsch_device_check(owner->device, true);
    if (NT_SUCCESS(status))
        status = check(owner, request);
    if (NT_SUCCESS(status))
        status = vidmm_batch_create(owner->device->mm, request->operations, request->count, &batch);
    if (!NT_SUCCESS(status))
        return status;
    status = companion_of(owner, &companion);
    if (NT_SUCCESS(status))
        status = wait_for_room(companion, request->count);
    if (NT_SUCCESS(status))
        return queue(companion, request, batch);
    vidmm_batch_discard(batch);
    return status;
}

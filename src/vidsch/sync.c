/* SPDX-License-Identifier: MIT */
/* The calls of clients that wait for synchronization objects, signal them and destroy them. What
 * happens when a queued operation is reached is in signal.c. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/hw_submit.h"
#include "vidsch/native_fence.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/queue.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"

void vidsch_sync_destroy(struct vidsch_sync *sync)
{
    struct vidsch *vidsch = sync->vidsch;
    struct list waiters, *link;

    sim_assert_passive();
    vidsch_native_end(sync);
    list_remove(&sync->link);
    sync->device = NULL;
    sync->notify = NULL;
    list_take_all(&sync->waiters, &waiters);
    while ((link = list_pop_front(&waiters)) != NULL) {
        struct sync_op *op = CONTAINER(link, struct sync_entry, link)->op;

        list_push_back(&sync->waiters, link);
        if (op->kind == OP_WAIT_CPU)
            vidsch_signal_end_wait(vidsch, op, STATUS_INVALID_HANDLE); /* SUBMIT-145 */
    }
    if (sync->type == D3DDDI_MONITORED_FENCE && !list_empty(&sync->waiters) &&
        list_empty(&sync->watch_link))
        list_push_back(sync->watched, &sync->watch_link);
    if (sync->owner) { /* KMT-366 */
        sync->owner = NULL;
        list_remove(&sync->owner_link);
        sync->count = 1;
        vidsch_signal_changed(sync);
    }
    vidsch_sync_release(sync);
    vidsch_sync_reap(vidsch);
}

void vidsch_sync_progress(void *object, uint64_t value)
{
    struct vidsch_sync *sync = object;

    if (value <= *sync->fence)
        return;
    *sync->fence = value;
    if (value > sync->queued)
        sync->queued = value;
    vidsch_signal_changed(sync);
}

static bool has_duplicates(const void *const *list, UINT count)
{
    for (UINT i = 1; i < count; i++)
        for (UINT j = 0; j < i; j++)
            if (list[i] == list[j])
                return true;
    return false;
}

static NTSTATUS check_count(const void *const *list, UINT count, UINT most, const char *what)
{
    if (count == 0 || count > most)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "a list of %u %s, 1 to %u are possible",
                      count, what, most);
    if (has_duplicates(list, count))
        return refuse(STATUS_INVALID_PARAMETER, NULL, "the list of %u %s has one twice", count,
                      what);
    return STATUS_SUCCESS;
}

/* SUBMIT-141: a 32-bit fence value more than half the range ahead cannot be told from one in the
 * past. */
static bool out_of_range(const struct vidsch_sync *sync, uint64_t value)
{
    uint64_t now;

    if (!sync->vidsch->config.caps.No64BitAtomics || sync->type != D3DDDI_MONITORED_FENCE ||
        sync->flags.NoGPUAccess)
        return false;
    now = vidsch_sync_current(sync);
    return (value > now ? value - now : now - value) > UINT32_MAX / 2;
}

static NTSTATUS refuse_range(const struct vidsch_sync *sync, UINT i, uint64_t value)
{
    return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-141",
                  "value %llu for fence %u of the list, which is at %llu: too far for 32 bits",
                  (unsigned long long)value, i, (unsigned long long)vidsch_sync_current(sync));
}

static NTSTATUS check_wait(const struct vidsch *vidsch, struct vidsch_sync *const *list,
                           const UINT64 *values, UINT count)
{
    NTSTATUS status = check_count((const void *const *)list, count, D3DDDI_MAX_OBJECT_WAITED_ON,
                                  "objects");

    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        if (list[i]->vidsch != vidsch)
            status = refuse(STATUS_INVALID_PARAMETER, "KMT-370",
                            "object %u of the list is of another adapter", i);
        else if (list[i]->type == D3DDDI_CPU_NOTIFICATION)
            status = refuse(STATUS_INVALID_PARAMETER, "KMT-352",
                            "object %u of the list is a CPU notification", i);
        else if (values && out_of_range(list[i], values[i]))
            status = refuse_range(list[i], i, values[i]);
        else if (list[i]->flags.NoWait)
            status = refuse(STATUS_ACCESS_DENIED, "SUBMIT-140",
                            "object %u of the list was created with NoWait", i);
    }
    return status;
}

static NTSTATUS check_signal_one(const struct vidsch *vidsch, const struct vidsch_sync *sync,
                                 const UINT64 *values, UINT i, D3DDDICB_SIGNALFLAGS flags)
{
    bool fence = sync->type == D3DDDI_MONITORED_FENCE;
    uint64_t now;

    if (sync->vidsch != vidsch)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-370",
                      "object %u of the list is of another adapter", i);
    if (sync->flags.SignalByKmd)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-353",
                      "object %u of the list is signaled by the driver alone", i);
    if ((fence || sync->type == D3DDDI_FENCE) && !values)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "object %u of the list is a fence, but there are no values", i);
    if (sync->flags.NoSignal)
        return refuse(STATUS_ACCESS_DENIED, "SUBMIT-140",
                      "object %u of the list was created with NoSignal", i);
    if (!fence)
        return STATUS_SUCCESS;
    now = vidsch_sync_current(sync);
    if (now < sync->queued)
        now = sync->queued;
    if (out_of_range(sync, values[i]))
        return refuse_range(sync, i, values[i]);
    if (values[i] < now && !flags.AllowFenceRewind)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-139",
                      "fence %u of the list to %llu, it is or will be at %llu", i,
                      (unsigned long long)values[i], (unsigned long long)now);
    return STATUS_SUCCESS;
}

static NTSTATUS check_signal(const struct vidsch *vidsch, struct vidsch_sync *const *list,
                             const UINT64 *values, UINT count, D3DDDICB_SIGNALFLAGS flags)
{
    NTSTATUS status = check_count((const void *const *)list, count, D3DDDI_MAX_OBJECT_SIGNALED,
                                  "objects");

    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        if (list[i]->type == D3DDDI_FENCE && count != 1)
            return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-132",
                          "a fence (not monitored) in a list of %u objects, it has to be alone",
                          count);
        status = check_signal_one(vidsch, list[i], values, i, flags);
    }
    return status;
}

static void note_queued(struct vidsch_sync *const *list, const UINT64 *values, UINT count)
{
    for (UINT i = 0; i < count; i++)
        if (list[i]->type == D3DDDI_MONITORED_FENCE)
            list[i]->queued = values[i];
}

/* KMT-374 */
static NTSTATUS check_has_queue(const struct vidsch_context *context, UINT i)
{
    return context->hw ? refuse(STATUS_INVALID_PARAMETER, "KMT-374",
                                "context %u of the list has waits and signals in its hardware "
                                "queues alone",
                                i)
                       : STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_wait_gpu(struct vidsch_context *context, struct vidsch_sync *const *list,
                              const UINT64 *values, UINT count)
{
    struct vidsch *vidsch = context->device->vidsch;
    NTSTATUS status = vidsch_device_check(context->device, true);
    struct packet *packet;

    if (NT_SUCCESS(status))
        status = check_has_queue(context, 0);
    if (NT_SUCCESS(status))
        status = check_wait(vidsch, list, values, count);
    if (!NT_SUCCESS(status))
        return status;
    packet = vidsch_packet_create(context, PACKET_WAIT);
    if (!packet)
        return STATUS_NO_MEMORY;
    packet->op = vidsch_sync_op_create(vidsch, OP_WAIT_QUEUED, list, values, count);
    if (!packet->op) {
        vidsch_packet_free(vidsch, packet);
        return STATUS_NO_MEMORY;
    }
    packet->op->context = context;
    vidsch_queue_push(packet);
    return STATUS_SUCCESS;
}

static NTSTATUS check_contexts(struct vidsch_context *const *contexts, UINT count)
{
    NTSTATUS status = check_count((const void *const *)contexts, count,
                                  D3DDDI_MAX_BROADCAST_CONTEXT + 1u, "contexts");

    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        status = check_has_queue(contexts[i], i);
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 1; i < count; i++)
        if (contexts[i]->device != contexts[0]->device)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-370",
                          "context %u of the list is of another device than the first", i);
    return vidsch_device_check(contexts[0]->device, true);
}

/* Queue a packet for the same operation in each context, or in none. Consumes the reference to
 * `op`. */
static NTSTATUS queue_signal(struct vidsch_context *const *contexts, UINT count, struct sync_op *op)
{
    struct vidsch *vidsch = contexts[0]->device->vidsch;
    struct packet *packets[D3DDDI_MAX_BROADCAST_CONTEXT + 1];

    for (UINT i = 0; i < count; i++) {
        packets[i] = vidsch_packet_create(contexts[i], PACKET_SIGNAL);
        if (!packets[i]) {
            while (i-- > 0)
                vidsch_packet_free(vidsch, packets[i]);
            op->notify = NULL;
            vidsch_sync_op_release(vidsch, op);
            return STATUS_NO_MEMORY;
        }
    }
    op->references = op->remaining = count;
    for (UINT i = 0; i < count; i++) {
        packets[i]->op = op;
        vidsch_queue_push(packets[i]);
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_signal_gpu(struct vidsch_context *const *contexts, UINT contexts_count,
                                struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags)
{
    NTSTATUS status = check_contexts(contexts, contexts_count);
    struct vidsch *vidsch;
    struct sync_op *op;

    if (!NT_SUCCESS(status))
        return status;
    vidsch = contexts[0]->device->vidsch;
    if (flags.EnqueueCpuEvent || flags.Reserved || flags.DXGK_SIGNAL_FLAG_INTERNAL0)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "Flags 0x%x with a list of objects",
                      flags.Value);
    status = check_signal(vidsch, list, values, count, flags);
    if (!NT_SUCCESS(status))
        return status;
    op = vidsch_sync_op_create(vidsch, OP_SIGNAL, list, values, count);
    if (!op)
        return STATUS_NO_MEMORY;
    op->rewind = flags.AllowFenceRewind;
    op->at_submission = op->at_submission || flags.SignalAtSubmission;
    status = queue_signal(contexts, contexts_count, op);
    if (NT_SUCCESS(status) && values)
        note_queued(list, values, count);
    return status;
}

NTSTATUS vidsch_sync_bracket_check(const struct vidsch_context *context, struct vidsch_sync *fence,
                                   UINT64 value, bool waits)
{
    const D3DDDICB_SIGNALFLAGS none = {0};
    const UINT64 next = value + 1;
    NTSTATUS status = waits ? check_wait(context->device->vidsch, &fence, &value, 1)
                            : STATUS_SUCCESS;

    if (next == 0)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "no fence value follows 0x%llx",
                      (unsigned long long)value);
    return NT_SUCCESS(status) ? check_signal(context->device->vidsch, &fence, &next, 1, none)
                              : status;
}

static struct packet *packet_of(struct vidsch_context *context, enum packet_kind kind,
                                struct vidsch_sync *fence, UINT64 value)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct packet *packet = vidsch_packet_create(context, kind);

    if (!packet)
        return NULL;
    packet->op = vidsch_sync_op_create(vidsch, kind == PACKET_WAIT ? OP_WAIT_QUEUED : OP_SIGNAL,
                                       &fence, &value, 1);
    if (!packet->op) {
        vidsch_packet_free(vidsch, packet);
        return NULL;
    }
    packet->op->context = context;
    return packet;
}

NTSTATUS vidsch_sync_bracket(struct vidsch_context *context, struct vidsch_sync *fence,
                             UINT64 value, bool waits, struct packet *middle)
{
    const UINT64 next = value + 1;
    NTSTATUS status = vidsch_sync_bracket_check(context, fence, value, waits);
    struct packet *before = NULL, *after;

    if (!NT_SUCCESS(status))
        return status;
    if (waits)
        before = packet_of(context, PACKET_WAIT, fence, value);
    after = before || !waits ? packet_of(context, PACKET_SIGNAL, fence, next) : NULL;
    if (!after) {
        if (before)
            vidsch_packet_free(context->device->vidsch, before);
        return STATUS_NO_MEMORY;
    }
    if (before)
        vidsch_queue_push(before);
    vidsch_queue_push(middle);
    vidsch_queue_push(after);
    /* Not noted as queued (SUBMIT-139): a signal of `value`, for which it waits, is to come. */
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_enqueue_event(struct vidsch_context *const *contexts, UINT count,
                                   void (*notify)(void *context, NTSTATUS status), void *context)
{
    NTSTATUS status = check_contexts(contexts, count);
    struct sync_op *op;

    if (!NT_SUCCESS(status))
        return status;
    op = vidsch_sync_op_create(contexts[0]->device->vidsch, OP_SIGNAL, NULL, NULL, 0);
    if (!op)
        return STATUS_NO_MEMORY;
    op->notify = notify;
    op->notify_context = context;
    return queue_signal(contexts, count, op);
}

NTSTATUS vidsch_sync_signal_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags)
{
    D3DDDICB_SIGNALFLAGS others = flags;
    NTSTATUS status;

    others.AllowFenceRewind = 0;
    if (count == 0 || others.Value)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-385",
                      "%u objects, Flags 0x%x: at least one, and AllowFenceRewind alone", count,
                      flags.Value);
    for (UINT i = 0; i < count; i++)
        if (list[i]->type != D3DDDI_MONITORED_FENCE)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-385",
                          "object %u of the list is no monitored fence", i);
    status = check_signal(list[0]->vidsch, list, values, count, flags);
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < count; i++) {
        list[i]->queued = values[i];
        *list[i]->fence = values[i];
        vidsch_native_written(list[i]);
    }
    for (UINT i = 0; i < count; i++)
        vidsch_signal_changed(list[i]);
    return STATUS_SUCCESS;
}

static NTSTATUS cpu_wait_prepare(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                 bool wait_any, struct sync_op **out)
{
    struct sync_op *op;
    NTSTATUS status;

    if (count == 0 || !values)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "%u objects%s", count,
                      values ? "" : " without fence values");
    status = check_wait(list[0]->vidsch, list, values, count);
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < count; i++) {
        if (list[i]->type != D3DDDI_MONITORED_FENCE)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-392",
                          "object %u of the list is no monitored fence", i);
        if (list[i]->device && !NT_SUCCESS(vidsch_device_check(list[i]->device, false)))
            return refuse(STATUS_DEVICE_REMOVED, NULL,
                          "the device of object %u of the list is lost", i);
    }
    op = vidsch_sync_op_create(list[0]->vidsch, OP_WAIT_CPU, list, values, count);
    if (!op)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < count; i++)
        if (list[i]->of_doorbell)
            vidsch_hw_watch_begin(list[i]->of_doorbell);
    op->any = wait_any;
    *out = op;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_wait_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                              bool wait_any, uint64_t deadline)
{
    struct vidsch *vidsch;
    struct sync_op *op;
    NTSTATUS status = cpu_wait_prepare(list, values, count, wait_any, &op);

    sim_assert_passive();
    if (!NT_SUCCESS(status))
        return status;
    vidsch = list[0]->vidsch;
    if (!vidsch_sync_op_try(op)) {
        op->thread = sim_current->thread;
        op->status = STATUS_TIMEOUT;
        list_push_back(&vidsch->syncs.cpu_waits, &op->link);
        vidsch_sync_op_register(op);
        while (!op->done && deadline > sim_now())
            if (sim_block(deadline, NULL) == SIM_TIMED_OUT)
                break;
    }
    status = op->done ? op->status : STATUS_TIMEOUT;
    vidsch_sync_op_release(vidsch, op);
    if (NT_SUCCESS(status))
        return status;
    return refuse(status, NULL, "the wait for %u objects ended: %s", count,
                  status == STATUS_INVALID_HANDLE ? "one of them was destroyed"
                                                  : "a device was lost, or the adapter stopped");
}

NTSTATUS vidsch_sync_wait_async(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                bool wait_any, void (*notify)(void *context, NTSTATUS status),
                                void *context)
{
    struct vidsch *vidsch;
    struct sync_op *op;
    NTSTATUS status = cpu_wait_prepare(list, values, count, wait_any, &op);

    if (!NT_SUCCESS(status))
        return status;
    vidsch = list[0]->vidsch;
    if (vidsch_sync_op_try(op)) {
        vidsch_sync_op_release(vidsch, op);
        notify(context, STATUS_SUCCESS);
        return STATUS_SUCCESS;
    }
    op->notify = notify;
    op->notify_context = context;
    list_push_back(&vidsch->syncs.cpu_waits, &op->link);
    vidsch_sync_op_register(op);
    return STATUS_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
#include "vidsch/doorbell.h"
#include "nt/base/status_name.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "util/address.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/hw_submit.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/node.h"
#include "vidsch/recovery.h"
#include "vidsch/ringing.h"
#include "vidsch/ringing_hold.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/vidsch_assert.h"

#include "ddi/entries_doorbell.h"

/* ---- state ---- */

static void set_status(struct vidsch_doorbell *bell, UINT64 status)
{
    *bell->status.kernel = status;
}

/* From now on the client rings nothing. */
static void turn_off(struct vidsch_doorbell *bell, UINT64 status)
{
    struct vidmm *vidmm = bell->queue->device->vidsch->vidmm;

    vidmm_client_pages_own(vidmm, &bell->bell);
    vidmm_client_pages_own(vidmm, &bell->secondary);
    if (*bell->status.kernel != D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT)
        set_status(bell, status);
}

/* Wait until no other thread is in the driver with the queue's doorbell; NULL: it has none (any
 * more). */
static struct vidsch_doorbell *enter(const struct vidsch_hw_queue *hw)
{
    while (hw->doorbell && hw->doorbell->busy && !sim_current->stopped)
        vidsch_change_wait(hw->queue->device->vidsch, SIM_FOREVER);
    if (hw->doorbell)
        hw->doorbell->busy = true;
    return hw->doorbell;
}

static void leave(struct vidsch_doorbell *bell)
{
    bell->busy = false;
    vidsch_change_announce(&bell->queue->device->vidsch->change);
}

/* With the driver; the caller has entered. */
static void disconnect(struct vidsch_doorbell *bell, UINT64 status)
{
    struct vidsch *vidsch = bell->queue->device->vidsch;
    DXGKARG_DISCONNECTDOORBELL args = {.hDoorbell = bell->driver_handle};
    NTSTATUS answer;

    turn_off(bell, status);
    if (!bell->connected)
        return;
    bell->connected = false;
    answer = ddi_disconnect_doorbell(vidsch->ddi, &args);
    if (ddi_driver_failed(vidsch->ddi, answer))
        VIOLATION("SUBMIT-123", "DxgkDdiDisconnectDoorbell answered %s",
                  nt_status_text(answer).text);
}

/* ---- creation ---- */

static uint32_t pages_of(UINT bytes)
{
    return (uint32_t)(align_up(bytes, PAGE_BYTES) / PAGE_BYTES);
}

static NTSTATUS make_pages(struct vidsch_doorbell *bell, bool secondary)
{
    const struct vidsch *vidsch = bell->queue->device->vidsch;
    struct vidmm *vidmm = vidsch->vidmm;
    NTSTATUS status = vidmm_client_pages_create(vidmm, pages_of(vidsch->config.doorbell_bytes),
                                                true, &bell->bell);

    if (NT_SUCCESS(status) && secondary)
        status = vidmm_client_pages_create(vidmm, pages_of(vidsch->config.secondary_doorbell_bytes),
                                           true, &bell->secondary);
    if (NT_SUCCESS(status))
        status = vidmm_client_pages_create(vidmm, 1, false, &bell->status);
    return NT_SUCCESS(status) ? vidmm_client_pages_create(vidmm, 1, true, &bell->queued) : status;
}

static void bell_free(struct vidsch_doorbell *bell)
{
    struct vidsch *vidsch = bell->queue->device->vidsch;

    (void)ddi_handle_remove(&vidsch->ddi->handles, bell->host_handle, DDI_HANDLE_DOORBELL);
    vidmm_client_pages_destroy(vidsch->vidmm, &bell->bell);
    vidmm_client_pages_destroy(vidsch->vidmm, &bell->secondary);
    vidmm_client_pages_destroy(vidsch->vidmm, &bell->status);
    vidmm_client_pages_destroy(vidsch->vidmm, &bell->queued);
    vidmm_hold_end(bell->ring);
    vidmm_hold_end(bell->control);
    util_free(bell);
}

NTSTATUS vidsch_doorbell_support(const struct vidsch_context *queue)
{
    return queue->device->vidsch->config.doorbell_bytes
               ? STATUS_SUCCESS
               : refuse(STATUS_NOT_SUPPORTED, "KMT-183",
                        "the driver was not granted submission from user mode, or names no size "
                        "of doorbells");
}

/* KMT-183 */
static NTSTATUS check(const struct vidsch_context *queue,
                      const struct vidsch_doorbell_request *request)
{
    const struct vidsch_hw_queue *hw = queue->hw_queue;

    if (!hw->flags.UserModeSubmission)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-183",
                      "the queue was created without UserModeSubmission");
    if (hw->doorbell || hw->doorbell_begins)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-183", "the queue has a doorbell");
    if (request->flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "reserved bits in Flags 0x%x",
                      request->flags.Value);
    if (request->flags.RequireSecondaryCpuVA &&
        !queue->device->vidsch->config.secondary_doorbell_bytes)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-184",
                      "RequireSecondaryCpuVA: the driver has no secondary doorbells");
    return STATUS_SUCCESS;
}

static NTSTATUS create_with_driver(struct vidsch_doorbell *bell,
                                   const struct vidsch_doorbell_request *request)
{
    struct vidsch *vidsch = bell->queue->device->vidsch;
    DXGKARG_CREATEDOORBELL args = {
        .hHwQueue = bell->queue->hw_queue->driver_handle,
        .hDoorbell = bell->host_handle,
        .PrivateDriverDataSize = request->private_bytes,
        .PrivateDriverData = request->private_bytes ? request->private_data : NULL,
        .hRingBuffer = vidmm_open_driver_handle(request->ring),
        .hRingBufferControl = request->control ? vidmm_open_driver_handle(request->control) : NULL,
        .Flags.ResizeRingBufferOperation = request->flags.ResizeRingBufferOperation,
    };
    NTSTATUS status = ddi_create_doorbell(vidsch->ddi, &args);

    bell->driver_handle = args.hDoorbell;
    return status;
}

NTSTATUS vidsch_doorbell_create(struct vidsch_context *queue,
                                const struct vidsch_doorbell_request *request)
{
    struct vidsch *vidsch = queue->device->vidsch;
    struct vidsch_doorbell *bell;
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(vidsch);
    status = vidsch_device_check(queue->device, false);
    if (NT_SUCCESS(status))
        status = check(queue, request);
    if (!NT_SUCCESS(status))
        return status;
    bell = util_zalloc(1, sizeof(*bell));
    if (!bell)
        return STATUS_NO_MEMORY;
    bell->queue = queue;
    bell->busy = true;
    queue->hw_queue->doorbell_begins = true;
    bell->host_handle = ddi_handle_create(&vidsch->ddi->handles, DDI_HANDLE_DOORBELL, bell);
    status = bell->host_handle ? make_pages(bell, request->flags.RequireSecondaryCpuVA)
                               : STATUS_NO_MEMORY;
    if (NT_SUCCESS(status)) {
        bell->ring = vidmm_open_hold(request->ring);
        bell->control = request->control ? vidmm_open_hold(request->control) : NULL;
        *bell->queued.kernel = queue->hw_queue->last_id;
        set_status(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
        status = create_with_driver(bell, request);
    }
    queue->hw_queue->doorbell_begins = false;
    if (!NT_SUCCESS(status)) {
        bell_free(bell);
        return status;
    }
    queue->hw_queue->doorbell = bell;
    if (device_is_lost(queue->device))
        turn_off(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    leave(bell);
    return STATUS_SUCCESS;
}

void vidsch_doorbell_addresses(const struct vidsch_context *queue,
                               struct vidsch_doorbell_addresses *out)
{
    const struct vidsch_doorbell *bell = queue->hw_queue->doorbell;

    *out = (struct vidsch_doorbell_addresses){bell->bell.client, bell->secondary.client,
                                              bell->status.client, bell->queued.client};
}

/* ---- connecting ---- */

static NTSTATUS refuse_none(void)
{
    return refuse(STATUS_INVALID_PARAMETER, "KMT-188", "the queue has no doorbell");
}

static NTSTATUS show_page(struct vidsch_doorbell *bell, struct vidmm_client_pages *pages,
                          const void *address)
{
    struct vidmm *vidmm = bell->queue->device->vidsch->vidmm;

    if (vidmm_client_pages_point(vidmm, pages, address))
        return STATUS_SUCCESS;
    if (vidmm_client_pages_are_registers(vidmm, address)) {
        NOTE("SUBMIT-122",
             "DxgkDdiConnectDoorbell gave %p, registers of the device: this host maps none for a "
             "process, and the doorbell is not connected. A model may have doorbells in a memory BAR",
             address);
        return refuse(STATUS_NOT_SUPPORTED, "SUBMIT-122",
                      "the doorbell is in registers, of which this host maps none for a process");
    }
    VIOLATION("SUBMIT-122",
              "DxgkDdiConnectDoorbell gave %p: no beginning of %u pages of RAM or of a BAR",
              address, pages->pages);
    return STATUS_UNSUCCESSFUL;
}

/* What the driver gave is shown to the client, unless it was taken away, or the device lost,
 * meanwhile. */
static NTSTATUS show(struct vidsch_doorbell *bell, const DXGKARG_CONNECTDOORBELL *args)
{
    NTSTATUS status;

    if (args->Status != D3DDDI_DOORBELLSTATUS_CONNECTED &&
        args->Status != D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD) {
        VIOLATION("SUBMIT-122", "DxgkDdiConnectDoorbell succeeded with status %d",
                  (int)args->Status);
        return STATUS_UNSUCCESSFUL;
    }
    status = show_page(bell, &bell->bell, args->KernelCpuVirtualAddress);
    if (NT_SUCCESS(status) && bell->secondary.client)
        status = show_page(bell, &bell->secondary, args->SecondaryKernelCpuVirtualAddress);
    if (!NT_SUCCESS(status))
        return status;
    set_status(bell, (UINT64)args->Status);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_doorbell_connect(struct vidsch_context *queue)
{
    struct vidsch *vidsch = queue->device->vidsch;
    DXGKARG_CONNECTDOORBELL args = {.hDoorbell = NULL};
    struct vidsch_doorbell *bell;
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(vidsch);
    status = vidsch_device_check(queue->device, false);
    if (!NT_SUCCESS(status))
        return status;
    bell = enter(queue->hw_queue);
    if (!bell)
        return refuse_none();
    if (bell->connected || device_is_lost(queue->device)) {
        leave(bell);
        return vidsch_device_check(queue->device, false);
    }
    vidsch_ringing_connects(queue->hw_queue->parent->hw);
    args.hDoorbell = bell->driver_handle;
    args.Flags.RequireSecondaryAddress = bell->secondary.client != NULL;
    bell->connected = true; /* it may be taken away before the entry returns */
    status = ddi_connect_doorbell(vidsch->ddi, &args);
    if (!NT_SUCCESS(status))
        bell->connected = false;
    else if (device_is_lost(queue->device))
        disconnect(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    else if (bell->connected) {
        status = show(bell, &args);
        if (!NT_SUCCESS(status))
            disconnect(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    }
    leave(bell);
    vidsch_hw_watch_begin(queue->node);
    vidsch_ringing_go_on(queue->device);
    return NT_SUCCESS(status) ? vidsch_device_check(queue->device, false) : status;
}

NTSTATUS vidsch_doorbell_notify(struct vidsch_context *queue)
{
    struct vidsch *vidsch = queue->device->vidsch;
    DXGKARG_NOTIFYWORKSUBMISSION args = {.hHwQueue = queue->hw_queue->driver_handle};
    NTSTATUS status = vidsch_device_check(queue->device, true);

    if (!NT_SUCCESS(status))
        return status;
    if (!queue->hw_queue->flags.UserModeSubmission)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-187",
                      "the queue was created without UserModeSubmission");
    if (!ddi_has(vidsch->ddi, DxgkDdiNotifyWorkSubmission))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-187",
                      "the driver has no DxgkDdiNotifyWorkSubmission");
    return ddi_notify_work_submission(vidsch->ddi, &args);
}

/* ---- the end ---- */

/* The caller has entered. */
static void destroy(struct vidsch_doorbell *bell)
{
    struct vidsch_hw_queue *hw = bell->queue->hw_queue;
    struct vidsch *vidsch = bell->queue->device->vidsch;
    DXGKARG_DESTROYDOORBELL args = {.hDoorbell = bell->driver_handle};
    NTSTATUS status;

    disconnect(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    if (*bell->queued.kernel > hw->last_id)
        hw->last_id = *bell->queued.kernel;
    hw->doorbell = NULL;
    status = ddi_destroy_doorbell(vidsch->ddi, &args);
    if (ddi_driver_failed(vidsch->ddi, status))
        VIOLATION("KMT-188", "DxgkDdiDestroyDoorbell answered %s", nt_status_text(status).text);
    vidsch_change_announce(&vidsch->change);
    bell_free(bell);
}

NTSTATUS vidsch_doorbell_destroy(struct vidsch_context *queue)
{
    struct vidsch_doorbell *bell = enter(queue->hw_queue);

    if (!bell)
        return refuse_none();
    destroy(bell);
    return STATUS_SUCCESS;
}

/* The client may have told a value, and written no commands. When the GPU has let go of the context
 * (PREEMPT-044), what it has is of no use to anybody. */
static void give_up(struct vidsch_hw_queue *hw)
{
    struct vidsch_hw_context *context = hw->parent->hw;

    hw->given_up = true;
    verify_client_error(
        "SUBMIT-125",
        "hardware queue %u on node %u ends with its progress fence at %llu, although "
        "the client has told %llu as the last value queued: for %llu s the fence has "
        "not risen",
        ddi_handle_number(hw->queue->mm.host_handle), hw->queue->node->ordinal,
        (unsigned long long)vidsch_sync_current(hw->progress),
        (unsigned long long)vidsch_doorbell_queued(hw),
        (unsigned long long)(VIDSCH_PATIENCE_NS / VIDSCH_SECOND_NS));
    if (!hw->queue->node->stopped)
        (void)vidsch_hw_suspend(context);
    while (context->state == HW_SUSPENDING && !sim_current->stopped)
        vidsch_change_wait(hw->queue->device->vidsch, SIM_FOREVER);
    vidsch_ringing_go_on(hw->queue->device); /* for its other queues */
    vidsch_device_wake(hw->queue->device);
}

/* Until the GPU has come to what was queued, or there is no hope that it does. A context that lets
 * itself be suspended is no timeout, so the watch alone would not tell. */
static void await_queued(struct vidsch_hw_queue *hw)
{
    const struct vidsch_device *device = hw->queue->device;
    struct ddi_adapter *ddi = device->vidsch->ddi;
    uint64_t at = vidsch_sync_current(hw->progress), since = sim_now();

    vidsch_hw_watch_begin(hw->queue->node);
    while (vidsch_doorbell_pending(hw) && !device_is_lost(device) && !sim_current->stopped) {
        if (ddi->asleep)
            ddi->wake(ddi);
        vidsch_change_wait(device->vidsch, since + VIDSCH_PATIENCE_NS);
        if (vidsch_sync_current(hw->progress) != at || vidsch_ringing_held(hw->parent->hw))
            since = sim_now();
        at = vidsch_sync_current(hw->progress);
        if (sim_now() >= since + VIDSCH_PATIENCE_NS && vidsch_doorbell_pending(hw))
            give_up(hw);
    }
}

void vidsch_doorbell_finish(struct vidsch_hw_queue *hw)
{
    struct vidsch_doorbell *bell = enter(hw);

    if (bell) {
        disconnect(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
        leave(bell);
    }
    await_queued(hw);
    bell = enter(hw);
    if (bell)
        destroy(bell);
}

/* ---- by the host and by the driver ---- */

static struct vidsch_doorbell *find_connected(const struct vidsch_device *device)
{
    LIST_FOR(link, &device->contexts) {
        const struct vidsch_hw_queue *hw = CONTAINER(link, struct vidsch_context, link)->hw_queue;

        if (hw && hw->doorbell && hw->doorbell->connected && !hw->doorbell->busy)
            return hw->doorbell;
    }
    return NULL;
}

/* No thread is in the driver with it. */
static void disconnect_one(struct vidsch_doorbell *bell, UINT64 status)
{
    bell->busy = true;
    disconnect(bell, status);
    leave(bell);
}

/* One after the other: while the driver is called, queues may come and go. A thread that is in the
 * driver with a doorbell sees itself that the device is lost. */
static void disconnect_all(struct vidsch_device *device, UINT64 status)
{
    struct vidsch_doorbell *bell;

    while ((bell = find_connected(device)) != NULL && !sim_current->stopped)
        disconnect_one(bell, status);
}

void vidsch_doorbells_abort(struct vidsch_device *device)
{
    vidsch_assert_worker(device->vidsch);
    LIST_FOR(link, &device->contexts) {
        const struct vidsch_hw_queue *hw = CONTAINER(link, struct vidsch_context, link)->hw_queue;

        if (hw && hw->doorbell)
            turn_off(hw->doorbell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    }
    disconnect_all(device, D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
}

void vidsch_doorbells_blank(struct vidsch *vidsch)
{
    LIST_FOR(d, &vidsch->devices) {
        LIST_FOR(c, &CONTAINER(d, struct vidsch_device, link)->contexts) {
            const struct vidsch_hw_queue *hw = CONTAINER(c, struct vidsch_context, link)->hw_queue;

            if (hw && hw->doorbell)
                turn_off(hw->doorbell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
        }
    }
}

static struct vidsch_doorbell *find_awake(const struct vidsch_node *node)
{
    LIST_FOR(d, &node->vidsch->devices) {
        LIST_FOR(c, &CONTAINER(d, struct vidsch_device, link)->contexts) {
            const struct vidsch_context *context = CONTAINER(c, struct vidsch_context, link);
            struct vidsch_doorbell *bell = context->hw_queue ? context->hw_queue->doorbell : NULL;

            if (bell && context->node == node && bell->rests != node->hw.rests && bell->connected &&
                !bell->busy)
                return bell;
        }
    }
    return NULL;
}

void vidsch_doorbells_rest(struct vidsch_node *node)
{
    struct vidsch_doorbell *bell;

    vidsch_assert_worker(node->vidsch);
    node->hw.rest_due = false;
    while ((bell = find_awake(node)) != NULL && !sim_current->stopped) {
        bell->rests = node->hw.rests; /* a client that connects it again has woken the engine */
        disconnect_one(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    }
}

bool vidsch_doorbells_disconnect_context(struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues) {
        struct vidsch_doorbell *bell = CONTAINER(link, struct vidsch_hw_queue, link)->doorbell;

        if (!bell || !bell->connected || bell->busy)
            continue;
        disconnect_one(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
        return true;
    }
    return false;
}

/* One that is connected, and was not disconnected in this round. */
static struct vidsch_doorbell *find_any(const struct vidsch *vidsch)
{
    LIST_FOR(d, &vidsch->devices) {
        LIST_FOR(c, &CONTAINER(d, struct vidsch_device, link)->contexts) {
            const struct vidsch_hw_queue *hw = CONTAINER(c, struct vidsch_context, link)->hw_queue;

            if (hw && hw->doorbell && hw->doorbell->connected && !hw->doorbell->busy &&
                hw->doorbell->round != vidsch->doorbell_rounds)
                return hw->doorbell;
        }
    }
    return NULL;
}

void vidsch_doorbells_disconnect(struct vidsch *vidsch)
{
    struct vidsch_doorbell *bell;

    sim_assert_passive();
    vidsch->doorbell_rounds++;
    while ((bell = find_any(vidsch)) != NULL && !sim_current->stopped) {
        bell->round = vidsch->doorbell_rounds; /* its client may connect it again at once */
        disconnect_one(bell, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    }
}

static struct vidsch_hw_queue *queue_of(HANDLE handle)
{
    for (struct vidsch *vidsch = vidsch_first(); vidsch; vidsch = vidsch->next) {
        struct vidmm_context *mm = ddi_handle_lookup(&vidsch->ddi->handles, handle,
                                                     DDI_HANDLE_HW_QUEUE);

        if (mm)
            return CONTAINER(mm, struct vidsch_context, mm)->hw_queue;
    }
    return NULL;
}

NTSTATUS vidsch_doorbell_taken(const DXGKARGCB_DISCONNECTDOORBELL *args)
{
    const struct vidsch_hw_queue *hw = queue_of(args->hHwQueue);

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (!hw)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-123",
                      "hHwQueue %p is not that of a hardware queue", args->hHwQueue);
    if (args->DisconnectReason != D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
        args->DisconnectReason != D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT) {
        VIOLATION("SUBMIT-123",
                  "DxgkCbDisconnectDoorbell with DisconnectReason %d: the doorbell stays connected",
                  (int)args->DisconnectReason);
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-123", "DisconnectReason %d",
                      (int)args->DisconnectReason);
    }
    if (!hw->doorbell)
        return STATUS_SUCCESS;
    turn_off(hw->doorbell, (UINT64)args->DisconnectReason);
    hw->doorbell->connected = false;
    return STATUS_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/*
 * What every call has around it: who may call, the argument structure in and out (once each,
 * KMT-005), the mark to which a bug check throws the thread, the span in the trace, and the pins.
 */
#include <stdio.h>

#include "ddi/client_handle.h"
#include "kmt/kmt_private.h"
#include "nt/base/current.h"
#include "nt/ob/user_handle.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "sim/wait.h"

/* ---- entry and exit ---- */

static trace_track thread_track(struct kmt_process *process)
{
    const struct sim_thread *thread = sim_current->thread;
    uint64_t id = sim_thread_id(thread);
    uint64_t track = (uint64_t)(uintptr_t)hash_get(&process->tracks, id);
    char name[72];

    if (track)
        return (trace_track)track;
    snprintf(name, sizeof(name), "%s: %s", process->nt->name, sim_thread_name(thread));
    track = trace_track_create("clients", name);
    (void)hash_put(&process->tracks, id, (void *)(uintptr_t)track);
    return (trace_track)track;
}

/* Only client threads, and only from outside the driver (KMT-003). */
static NTSTATUS check_caller(const char *name)
{
    const struct sim_machine *m = sim_current;

    if (!m)
        return STATUS_INVALID_DEVICE_STATE;
    if (m->frame || m->inside) {
        VIOLATION("KMT-003", "%s was called from inside the driver", name);
        return STATUS_INVALID_DEVICE_STATE;
    }
    if (!m->thread || sim_thread_kind(m->thread) != SIM_THREAD_CLIENT || m->irql != SIM_IRQL_PASSIVE)
        return STATUS_INVALID_DEVICE_STATE;
    if (!nt_process_current()->client)
        return STATUS_INVALID_DEVICE_STATE;
    return m->stopped ? STATUS_DEVICE_REMOVED : STATUS_SUCCESS;
}

static void begin(struct kmt_call *call, const char *name)
{
    struct kmt_process *process = nt_process_current()->client;

    call->process = process;
    call->name = name;
    call->pins = 0;
    call->pin_list_count = 0;
    call->write_on_failure = false;
    list_push_back(&process->calls, &call->link);
    if (trace_current) {
        call->track = thread_track(process);
        trace_begin(call->track, name, NULL, 0);
    }
    sim_point();
}

static void end(struct kmt_call *call)
{
    struct kmt_process *process = call->process;

    list_remove(&call->link);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): begin has set both */
    trace_end(call->track, call->name);
    if (process->waiters)
        sim_waitq_wake(&process->changed, UINT32_MAX);
}

NTSTATUS kmt_run(const char *name, kmt_body *body, void *user, void *arguments, size_t bytes,
                 unsigned flags)
{
    struct kmt_call call;
    struct sim_mark mark;
    bool removed = false;
    NTSTATUS status;

    if (!user)
        return STATUS_INVALID_PARAMETER; /* KMT-004 */
    status = check_caller(name);
    if (!NT_SUCCESS(status))
        return status;
    list_init(&call.link);
    if (SIM_RECOVER(&mark)) {
        /* A bug check, in this call or while it waited. */
        list_remove(&call.link);
        return STATUS_DEVICE_REMOVED;
    }
    begin(&call, name);
    call.removed = &removed;
    status = sim_copy_checked(arguments, user, bytes) ? body(&call, arguments)
                                                      : STATUS_INVALID_PARAMETER;
    if (removed && !NT_SUCCESS(status))
        status = flags & KMT_ENDS ? STATUS_SUCCESS : STATUS_DEVICE_REMOVED; /* LIFE-168 */
    if (flags & KMT_WRITES && (NT_SUCCESS(status) || call.write_on_failure) &&
        !sim_copy_checked(user, arguments, bytes) && NT_SUCCESS(status))
        status = STATUS_INVALID_PARAMETER;
    end(&call);
    sim_unmark(&mark);
    return status;
}

/* ---- pins ---- */

static bool has_pinned(const struct kmt_call *call, const void *object)
{
    for (unsigned i = 0; i < call->pins; i++)
        if (call->pin[i] == object)
            return true;
    for (UINT i = 0; i < call->pin_list_count; i++)
        if (call->pin_list[i] == object)
            return true;
    return false;
}

static bool pinned(const struct kmt_process *process, const struct kmt_call *own, const void *object)
{
    LIST_FOR(node, &process->calls) {
        const struct kmt_call *call = CONTAINER(node, struct kmt_call, link);

        if (call != own && has_pinned(call, object))
            return true;
    }
    return false;
}

void kmt_wait_unpinned(struct kmt_process *process, const struct kmt_call *own, const void *object)
{
    while (pinned(process, own, object)) {
        process->waiters++;
        sim_waitq_wait(&process->changed, SIM_FOREVER);
        process->waiters--;
    }
}

/* ---- handles ---- */

void kmt_note_gone(const struct kmt_call *call, D3DKMT_HANDLE handle)
{
    if (hash_get(&call->process->gone, handle))
        *call->removed = true;
}

struct kmt_adapter *kmt_adapter_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_adapter *adapter = kmt_lookup(call, handle, DDI_CLIENT_ADAPTER);

    if (adapter && adapter->stopped) {
        *call->removed = true;
        return NULL;
    }
    if (adapter)
        kmt_pin(call, adapter);
    return adapter;
}

struct kmt_device *kmt_device_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_device *device = kmt_lookup(call, handle, DDI_CLIENT_DEVICE);

    if (device)
        kmt_pin(call, device);
    return device;
}

struct vidsch_context *kmt_context_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *context = kmt_lookup(call, handle, DDI_CLIENT_CONTEXT);

    if (context)
        kmt_pin(call, context);
    return context;
}

struct kmt_paging_queue *kmt_queue_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_paging_queue *queue = kmt_lookup(call, handle, DDI_CLIENT_PAGING_QUEUE);

    if (queue)
        kmt_pin(call, queue);
    return queue;
}

NTSTATUS kmt_process_handle(struct kmt_call *call, HANDLE handle, struct nt_process **process)
{
    void *object = NULL;
    NTSTATUS status;

    if (!handle || handle == (HANDLE)(intptr_t)-1) {
        *process = call->process->nt;
        return STATUS_SUCCESS;
    }
    status = nt_user_handle_open(handle, NT_USER_PROCESS, 0, &object);
    if (!NT_SUCCESS(status))
        return status;
    *process = object;
    nt_user_handle_close(object);
    return STATUS_SUCCESS;
}

/* ---- client memory ---- */

NTSTATUS kmt_copy_array(const void *user, UINT count, size_t size, void **copy)
{
    size_t bytes;
    void *block;

    *copy = NULL;
    if (count == 0)
        return STATUS_SUCCESS;
    if (!user || count > KMT_MAX_ELEMENTS || ckd_mul(&bytes, (size_t)count, size))
        return STATUS_INVALID_PARAMETER;
    block = util_alloc(bytes);
    if (!block)
        return STATUS_NO_MEMORY;
    if (!sim_copy_checked(block, user, bytes)) {
        util_free(block);
        return STATUS_INVALID_PARAMETER;
    }
    *copy = block;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_copy_private(const void *user, UINT bytes, void **copy)
{
    *copy = NULL;
    if (bytes > KMT_MAX_PRIVATE_BYTES)
        return STATUS_INVALID_PARAMETER;
    if (bytes == 0)
        return STATUS_SUCCESS;
    if (!user)
        return STATUS_INVALID_PARAMETER;
    *copy = util_alloc(bytes);
    if (!*copy)
        return STATUS_NO_MEMORY;
    if (sim_copy_checked(*copy, user, bytes))
        return STATUS_SUCCESS;
    util_free(*copy);
    *copy = NULL;
    return STATUS_INVALID_PARAMETER;
}

bool kmt_probe_write(void *user, size_t bytes)
{
    uint8_t *at = user;

    if (bytes == 0)
        return true;
    if (!user)
        return false;
    for (size_t offset = 0; offset < bytes;
         offset += PAGE_BYTES - (((uintptr_t)at + offset) & (PAGE_BYTES - 1))) {
        uint8_t byte;

        if (!sim_copy_checked(&byte, at + offset, 1) || !sim_copy_checked(at + offset, &byte, 1))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * What every call has around it: who may call, the argument structure in and out (once each,
 * KMT-005), the mark to which a bug check throws the thread, the span in the trace, and the pins.
 */
#include <stdio.h>

#include <ntddk.h>

#include "kmt/call.h"
#include "kmt/process.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "nt/ps/attach.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"

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
        return refuse(STATUS_INVALID_DEVICE_STATE, "KMT-003", "it was called inside the driver");
    }
    if (!m->thread || sim_thread_kind(m->thread) != SIM_THREAD_CLIENT ||
        m->irql != SIM_IRQL_PASSIVE || !nt_process_current()->client)
        return refuse(STATUS_INVALID_DEVICE_STATE, "KMT-003",
                      "the thread is not of a client process, or not at PASSIVE_LEVEL");
    return m->stopped ? refuse(STATUS_DEVICE_REMOVED, NULL, "the machine was stopped")
                      : STATUS_SUCCESS;
}

static void begin(struct kmt_call *call, const char *name, unsigned flags)
{
    struct kmt_process *process = nt_process_current()->client;

    call->process = process;
    call->name = name;
    call->pins = 0;
    call->ends = flags & KMT_ENDS;
    call->pin_list_count = 0;
    call->write_on_failure = call->only_shows = false;
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

static NTSTATUS unreadable(const void *user, size_t bytes, const char *verb)
{
    return refuse(STATUS_INVALID_PARAMETER, "KMT-007",
                  "the argument, %zu bytes at %p, cannot be %s", bytes, user, verb);
}

static NTSTATUS run(const char *name, kmt_call_body *body, void *user, void *arguments,
                    size_t bytes, unsigned flags)
{
    struct {
        struct sim_mark mark;
        struct kmt_call call; /* behind the mark, which guards it (mark.h) */
        struct nt_process *process;
    } kept;
    struct kmt_call *call = &kept.call;
    bool removed = false;
    NTSTATUS status = check_caller(name);

    if (!NT_SUCCESS(status))
        return status;
    list_init(&kept.call.link);
    kept.process = nt_process_current();
    if (SIM_RECOVER(&kept.mark)) {
        /* A bug check, in this call or while it waited; whoever was inside may have changed the
         * process. */
        nt_attach_end_to(0);
        (void)nt_process_switch(kept.process);
        list_remove(&kept.call.link);
        return STATUS_DEVICE_REMOVED;
    }
    begin(call, name, flags);
    call->removed = &removed;
    status = sim_copy_checked(arguments, user, bytes) ? body(call, arguments)
                                                      : unreadable(user, bytes, "read");
    if (removed && !NT_SUCCESS(status))
        status = flags & KMT_ENDS ? STATUS_SUCCESS
                                  : refuse(STATUS_DEVICE_REMOVED, "LIFE-168",
                                           "a handle is of an adapter that was stopped");
    else if (call->only_shows && !NT_SUCCESS(status))
        status = refuse(STATUS_NOT_SUPPORTED, "DISP-012",
                        "the device is of an adapter that only shows pictures: it does no work");
    if (flags & KMT_WRITES && (NT_SUCCESS(status) || call->write_on_failure) &&
        !sim_copy_checked(user, arguments, bytes) && NT_SUCCESS(status))
        status = unreadable(user, bytes, "written");
    end(call);
    sim_unmark(&kept.mark);
    return status;
}

NTSTATUS kmt_call_run(const char *name, kmt_call_body *body, void *user, void *arguments,
                      size_t bytes, unsigned flags)
{
    struct refusal refusal;
    NTSTATUS status;

    refusal_begin(&refusal);
    refusal.call = name;
    status = user ? run(name, body, user, arguments, bytes, flags)
                  : refuse(STATUS_INVALID_PARAMETER, "KMT-004", "the argument is NULL");
    refusal_current = &refusal; /* a throw to the mark lost it */
    if (status == STATUS_DEVICE_REMOVED && sim_current && sim_current->stopped)
        (void)refuse(STATUS_DEVICE_REMOVED, NULL, "the machine was stopped by a bug check");
    refusal_end(&refusal, name, status);
    return status;
}

NTSTATUS kmt_call_unsupported(const char *name, bool argument)
{
    struct refusal refusal;
    NTSTATUS status;

    refusal_begin(&refusal);
    status = argument
                 ? refuse(STATUS_NOT_SUPPORTED, "KMT-001", "this host does not carry out this call")
                 : refuse(STATUS_INVALID_PARAMETER, "KMT-004", "the argument is NULL");
    refusal_end(&refusal, name, status);
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

void kmt_call_wait_unpinned(struct kmt_process *process, const struct kmt_call *own,
                            const void *object)
{
    while (pinned(process, own, object)) {
        process->waiters++;
        sim_waitq_wait(&process->changed, SIM_FOREVER);
        process->waiters--;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Trim callbacks: a client is told that it exceeds its budget, or that it is time to look for what
 * it does not use any more (RES-046 to RES-049, KMT-292 to KMT-295).
 *
 * Each device with a registration has a thread of its process, the trimmer, which calls them in
 * their order, with no lock of the host held:
 *
 *   TrimToBudget   when the process exceeds its budget by more than it was told last
 *   PeriodicTrim   each PERIOD in which the device has submitted work. After one without, what was
 *                  last used before would all count as old: RestartPeriodicTrim comes instead
 *
 * The period begins with a change of residency lists, and ends with a period without work: nobody
 * is told anything about a device that does nothing.
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/trim.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "nt/base/kprocess.h"
#include "nt/ps/thread.h"
#include "port/record/adapter_info.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/residency/budget.h"
#include "vidsch/client.h"

#define PERIOD 10000000000ull /* of virtual time, in ns */

/* One registration. */
struct kmt_trim {
    struct list link;
    PFND3DKMT_TRIMNOTIFICATIONCALLBACK callback;
    void *context;
    uint64_t number; /* what the client has as its handle */
    bool removed;    /* from inside of the callback */
};

struct kmt_trimmer {
    struct vidmm_budget_watch watch;
    struct kmt_device *device;
    struct kmt_process *process;
    struct list trims; /* in order of registration */
    struct kmt_trim *running;
    struct sim_thread *thread;
    struct sim_waitq work, returned;
    bool changed, stop, ended;
    bool orphan;   /* the device was destroyed from inside of a callback */
    bool idle;     /* the last period was without work */
    uint64_t told; /* bytes above the budget */
    uint64_t done; /* work of the device at the end of the last period */
    uint64_t period_end;
};

/* ---- the thread ---- */

static void changed(struct vidmm_budget_watch *watch)
{
    struct kmt_trimmer *t = CONTAINER(watch, struct kmt_trimmer, watch);

    t->changed = true;
    sim_waitq_wake(&t->work, 1);
}

static void call_all(struct kmt_trimmer *t, D3DDDI_TRIMRESIDENCYSET_FLAGS flags, uint64_t bytes)
{
    struct list *node = t->trims.next;

    while (node != &t->trims && !t->stop && !t->process->ending) {
        struct kmt_trim *trim = CONTAINER(node, struct kmt_trim, link);
        D3DKMT_TRIMNOTIFICATION notification = {
            .Context = trim->context, .Flags = flags, .NumBytesToTrim = bytes};

        t->running = trim;
        trim->callback(&notification);
        t->running = NULL;
        node = node->next;
        if (trim->removed) {
            list_remove(&trim->link);
            util_free(trim);
        }
        sim_waitq_wake(&t->returned, UINT32_MAX);
    }
}

static void budget(struct kmt_trimmer *t)
{
    const D3DDDI_TRIMRESIDENCYSET_FLAGS flags = {.TrimToBudget = 1};
    uint64_t over = vidmm_over_budget(t->device->adapter->mm), before = t->told;

    t->told = over;
    if (over > before)
        call_all(t, flags, over);
}

static void period(struct kmt_trimmer *t)
{
    D3DDDI_TRIMRESIDENCYSET_FLAGS flags = {.Value = 0};
    uint64_t done = vidmm_device_work(t->device->mm);

    if (done == t->done) {
        t->idle = true;
        t->period_end = SIM_FOREVER;
        return;
    }
    flags.PeriodicTrim = !t->idle;
    flags.RestartPeriodicTrim = t->idle;
    t->done = done;
    t->idle = false;
    t->period_end += PERIOD;
    call_all(t, flags, 0);
}

/* False: the machine was stopped. */
static bool wait(struct kmt_trimmer *t)
{
    struct sim_mark mark;

    if (SIM_RECOVER(&mark))
        return false;
    while (!t->stop && !t->changed && sim_now() < t->period_end)
        (void)sim_waitq_wait(&t->work, t->period_end);
    sim_unmark(&mark);
    return true;
}

static void trimmer_main(void *arg)
{
    struct kmt_trimmer *t = arg;
    struct nt_process *nt = t->process->nt;

    while (wait(t) && !t->stop) {
        if (t->changed && t->period_end == SIM_FOREVER)
            t->period_end = sim_now() + PERIOD;
        if (sim_now() >= t->period_end)
            period(t);
        t->changed = false;
        if (!t->stop)
            budget(t);
    }
    nt->helpers--;
    t->ended = true;
    if (sim_current->stopped)
        return;
    if (t->orphan)
        util_free(t);
    else
        sim_waitq_wake(&t->returned, UINT32_MAX);
}

/* ---- its life ---- */

static NTSTATUS make(struct kmt_call *call, struct kmt_device *device)
{
    struct kmt_trimmer *t = util_zalloc(1, sizeof(*t));

    if (!t)
        return STATUS_NO_MEMORY;
    t->device = device;
    t->process = call->process;
    t->watch.changed = changed;
    t->changed = true; /* it may exceed its budget already */
    t->period_end = SIM_FOREVER;
    t->done = vidmm_device_work(device->mm);
    list_init(&t->trims);
    sim_waitq_init(&t->work);
    sim_waitq_init(&t->returned);
    t->thread = nt_client_thread_create(call->process->nt, "trim callbacks", trimmer_main, t);
    if (!t->thread) {
        util_free(t);
        return STATUS_NO_MEMORY;
    }
    sim_thread_release(t->thread);
    call->process->nt->helpers++;
    vidmm_budget_watch(port_adapter_vidmm(device->adapter->port), &t->watch);
    device->trimmer = t;
    return STATUS_SUCCESS;
}

void kmt_trim_end(struct kmt_device *device)
{
    struct kmt_trimmer *t = device->trimmer;
    struct list *node;

    if (!t)
        return;
    device->trimmer = NULL;
    vidmm_budget_unwatch(&t->watch);
    t->stop = true;
    sim_waitq_wake(&t->work, 1);
    t->orphan = sim_current->thread == t->thread;
    while (!t->ended && !t->orphan && !sim_current->stopped)
        sim_waitq_wait(&t->returned, SIM_FOREVER);
    while ((node = list_pop_front(&t->trims)) != NULL) {
        struct kmt_trim *trim = CONTAINER(node, struct kmt_trim, link);

        trim->removed = true;
        list_init(&trim->link);
        if (trim != t->running)
            util_free(trim); /* the other one goes when its callback returns */
    }
    if (!t->orphan && !sim_current->stopped)
        util_free(t);
}

/* ---- calls ---- */

static NTSTATUS add(struct kmt_call *call, struct kmt_device *device,
                    D3DKMT_REGISTERTRIMNOTIFICATION *args)
{
    struct kmt_trim *trim = util_zalloc(1, sizeof(*trim));
    NTSTATUS status = trim ? STATUS_SUCCESS : STATUS_NO_MEMORY;

    if (trim && !device->trimmer)
        status = make(call, device);
    if (!NT_SUCCESS(status)) {
        util_free(trim);
        return status;
    }
    trim->callback = args->Callback;
    trim->context = args->Context;
    trim->number = ++call->process->kmt->trims;
    list_push_back(&device->trimmer->trims, &trim->link);
    device->trimmer->told = 0; /* the new one has been told nothing */
    changed(&device->trimmer->watch);
    args->Handle = (void *)(uintptr_t)trim->number;
    return STATUS_SUCCESS;
}

static NTSTATUS register_trim(struct kmt_call *call, void *arguments)
{
    D3DKMT_REGISTERTRIMNOTIFICATION *args = arguments;
    struct kmt_device *device = kmt_handle_device(call, args->hDevice);
    NTSTATUS status;
    LUID luid;

    if (!device)
        return STATUS_INVALID_PARAMETER;
    luid = port_adapter_luid(device->adapter->port);
    if (!args->Callback || luid.LowPart != args->AdapterLuid.LowPart ||
        luid.HighPart != args->AdapterLuid.HighPart)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-293",
                      "Callback %s; AdapterLuid %x:%x, the device is on the adapter %x:%x",
                      args->Callback ? "given" : "NULL", (unsigned)args->AdapterLuid.HighPart,
                      (unsigned)args->AdapterLuid.LowPart, (unsigned)luid.HighPart,
                      (unsigned)luid.LowPart);
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    status = vidsch_device_check(device->sch, false);
    return NT_SUCCESS(status) ? add(call, device, args) : status;
}

static struct kmt_trim *find(const struct kmt_process *process, uint64_t number,
                             struct kmt_trimmer **trimmer)
{
    LIST_FOR(a, &process->adapters)
        LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices) {
            *trimmer = CONTAINER(d, struct kmt_device, link)->trimmer;
            if (!*trimmer)
                continue;
            LIST_FOR(n, &(*trimmer)->trims) {
                struct kmt_trim *trim = CONTAINER(n, struct kmt_trim, link);

                if (trim->number == number && !trim->removed)
                    return trim;
            }
        }
    return NULL;
}

/* KMT-294, KMT-295. */
static NTSTATUS unregister_trim(struct kmt_call *call, void *arguments)
{
    const D3DKMT_UNREGISTERTRIMNOTIFICATION *args = arguments;
    const uint64_t number = (uint64_t)(uintptr_t)args->Handle;
    struct kmt_trimmer *t;
    struct kmt_trim *trim = find(call->process, number, &t);

    if (!trim || trim->callback != args->Callback)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-295", "handle %llu is %s",
                      (unsigned long long)number,
                      trim ? "of another callback" : "of no registered callback");
    if (t->running == trim && sim_current->thread == t->thread) {
        trim->removed = true;
        return STATUS_SUCCESS;
    }
    while ((trim = find(call->process, number, &t)) != NULL && t->running == trim)
        sim_waitq_wait(&t->returned, SIM_FOREVER);
    if (trim) {
        list_remove(&trim->link);
        util_free(trim);
    }
    return STATUS_SUCCESS;
}

KMT_IN_OUT(D3DKMTRegisterTrimNotification, D3DKMT_REGISTERTRIMNOTIFICATION, register_trim)
KMT_END_OUT(D3DKMTUnregisterTrimNotification, D3DKMT_UNREGISTERTRIMNOTIFICATION, unregister_trim)

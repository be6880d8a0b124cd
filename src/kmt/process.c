/* SPDX-License-Identifier: MIT */
/* The interface's own life, processes, and the end of a process (KMT-469 to KMT-483). */
#include <string.h>

#include "kmt/kmt_private.h"
#include "nt/base/kprocess.h"
#include "port/port.h"
#include "port/running/power.h"
#include "sim/machine.h"
#include "sim/slot.h"
#include "sim/wait.h"

/* ---- an adapter stops under its clients (LIFE-168) ---- */

/* Calls in progress end first; later ones are told that the adapter is gone. Work that is queued is
 * cancelled. */
static void end_use(struct kmt_process *process, struct kmt_adapter *adapter)
{
    adapter->stopped = true;
    LIST_FOR(d, &adapter->devices)
        vidsch_device_mark_error(CONTAINER(d, struct kmt_device, link)->sch,
                                 D3DKMT_DEVICEEXECUTION_STOPPED);
    kmt_wait_unpinned(process, NULL, adapter);
    adapter->handles++; /* it stays while its devices go */
    while (!list_empty(&adapter->devices)) {
        struct kmt_device *device = CONTAINER(adapter->devices.next, struct kmt_device, link);

        handle_remove(&process->nt->handles, device->handle, DDI_CLIENT_DEVICE);
        kmt_device_destroy(process, device, NULL);
    }
    kmt_adapter_end_process(adapter);
    adapter->handles--;
    kmt_adapter_put(adapter, NULL);
}

static struct kmt_adapter *used_by(const struct kmt *kmt, const struct port_adapter *port)
{
    LIST_FOR(p, &kmt->processes)
        LIST_FOR(a, &CONTAINER(p, struct kmt_process, link)->adapters) {
            struct kmt_adapter *adapter = CONTAINER(a, struct kmt_adapter, link);

            if (adapter->port == port && !adapter->stopped)
                return adapter;
        }
    return NULL;
}

static void adapter_stops(void *context, struct port_adapter *port)
{
    struct kmt_adapter *adapter;

    while ((adapter = used_by(context, port)) != NULL && !sim_current->stopped) {
        if (adapter->process->ending)
            sim_block(sim_now() + 1000000, NULL); /* does the same itself */
        else
            end_use(adapter->process, adapter);
    }
}

/* ---- the interface ---- */

static struct sim_slot kmt_slot;
SIM_SLOT_CLAIM(kmt_slot)

struct kmt *kmt_create(struct port *port)
{
    struct kmt *kmt = util_zalloc(1, sizeof(*kmt));

    if (!kmt)
        return NULL;
    kmt->port = port;
    list_init(&kmt->processes);
    port_on_stop(port, adapter_stops, kmt);
    sim_slot_set(&kmt_slot, kmt);
    return kmt;
}

void kmt_destroy(struct kmt *kmt)
{
    if (!kmt)
        return;
    port_on_stop(kmt->port, NULL, NULL);
    sim_slot_set(&kmt_slot, NULL);
    util_free(kmt);
}

bool kmt_process_begin(struct nt_process *nt)
{
    struct kmt *kmt = sim_slot_get(&kmt_slot);
    struct kmt_process *process = util_zalloc(1, sizeof(*process));

    if (!process)
        return false;
    process->kmt = kmt;
    process->nt = nt;
    list_init(&process->adapters);
    list_init(&process->calls);
    sim_waitq_init(&process->changed);
    hash_init(&process->tracks);
    hash_init(&process->gone);
    list_push_back(&kmt->processes, &process->link);
    nt->client = process;
    return true;
}

/* ---- the end ---- */

static uint64_t count_left(const struct kmt_process *process)
{
    uint64_t left = 0;

    LIST_FOR(a, &process->adapters) {
        const struct kmt_adapter *adapter = CONTAINER(a, struct kmt_adapter, link);

        left += adapter->handles + adapter->device_count;
    }
    return left;
}

static void end_objects(struct kmt_process *process, struct kmt_adapter *adapter)
{
    struct handle_table *handles = &process->nt->handles;

    while (!list_empty(&adapter->devices)) {
        struct kmt_device *device = CONTAINER(adapter->devices.next, struct kmt_device, link);
        bool last = adapter->device_count == 1 && adapter->handles == 0;

        handle_remove(handles, device->handle, DDI_CLIENT_DEVICE);
        kmt_device_destroy(process, device, NULL);
        if (last)
            return; /* the adapter went with it */
    }
    adapter->handles = 0;
    kmt_adapter_put(adapter, NULL);
}

static void end_adapter(struct kmt_process *process, struct kmt_adapter *adapter)
{
    struct port_adapter *port = adapter->port;
    bool awake;

    port_adapter_retain(port);
    awake = NT_SUCCESS(port_adapter_power_hold(port)); /* what is left takes paging to clear */
    end_objects(process, adapter);
    if (awake)
        port_adapter_power_release(port);
    port_adapter_release(port);
}

/* KMT-472: queued work is cancelled, and calls that wait for it return. */
static void lose_devices(struct kmt_process *process)
{
    LIST_FOR(a, &process->adapters)
        LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices)
            vidsch_device_mark_error(CONTAINER(d, struct kmt_device, link)->sch,
                                     D3DKMT_DEVICEEXECUTION_STOPPED);
}

static void drop_adapter_handles(struct kmt_process *process)
{
    uint32_t cursor = 0, handle;
    uint8_t type;

    while (handle_next(&process->nt->handles, &cursor, &handle, &type))
        if (type == DDI_CLIENT_ADAPTER)
            handle_remove(&process->nt->handles, handle, type);
}

void kmt_process_end(struct nt_process *nt, bool kill, uint64_t *left)
{
    struct kmt_process *process = nt->client;

    if (!process)
        return;
    process->ending = true;
    if (left)
        *left = count_left(process);
    nt->client = NULL; /* no new call is let in (KMT-474) */
    drop_adapter_handles(process);
    if (kill && !sim_current->stopped)
        lose_devices(process);
    while (!sim_current->stopped && !list_empty(&process->adapters))
        end_adapter(process, CONTAINER(process->adapters.next, struct kmt_adapter, link));
    while (!sim_current->stopped &&
           !list_empty(&process->calls)) { /* of threads that were killed in them */
        process->waiters++;
        sim_waitq_wait(&process->changed, SIM_FOREVER);
        process->waiters--;
    }
    if (!sim_current->stopped)
        port_process_ended(process->kmt->port, nt);
    list_remove(&process->link);
    hash_finish(&process->tracks);
    hash_finish(&process->gone);
    /* Else calls thrown back from the stop may still refer to it; it goes with the heap. */
    if (!sim_current->stopped)
        util_free(process);
}

/* ---- deadlock ---- */

static bool break_device(struct kmt_device *device)
{
    if (!device->draining || !NT_SUCCESS(vidsch_device_check(device->sch, false)))
        return false;
    WARNING(
        "KMT-162",
        "a call waits for device 0x%x to become idle, but nothing can run any more: the device is put in error",
        device->handle);
    vidsch_device_mark_error(device->sch, D3DKMT_DEVICEEXECUTION_HUNG);
    return true;
}

bool kmt_break_deadlock(struct kmt *kmt)
{
    bool broken = false;

    LIST_FOR(p, &kmt->processes)
        LIST_FOR(a, &CONTAINER(p, struct kmt_process, link)->adapters)
            LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices)
                broken |= break_device(CONTAINER(d, struct kmt_device, link));
    return broken;
}

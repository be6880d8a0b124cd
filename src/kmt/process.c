/* SPDX-License-Identifier: MIT */
/* Processes: their beginning, and their end (KMT-469 to KMT-483). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/process.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/keyed_mutex.h"
#include "kmt/kmt.h"
#include "kmt/sync.h"
#include "nt/base/kprocess.h"
#include "nt/ob/handle.h"
#include "port/port.h"
#include "port/record/adapter_info.h"
#include "port/running/power.h"
#include "sim/machine.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidsch/client.h"

bool kmt_process_begin(struct nt_process *nt)
{
    struct kmt *kmt = kmt_current();
    struct kmt_process *process = util_zalloc(1, sizeof(*process));

    if (!process)
        return false;
    process->kmt = kmt;
    process->nt = nt;
    process->priority_class = D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL;
    list_init(&process->adapters);
    list_init(&process->mutexes);
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
        LIST_FOR(s, &adapter->syncs)
            left++;
    }
    LIST_FOR(m, &process->mutexes)
        left++;
    return left;
}

/* Devices and what they hold, and synchronization objects. The adapter stays, as if by one more
 * handle: calls in progress may still hold what lies in its memory. */
static void end_objects(struct kmt_process *process, struct kmt_adapter *adapter)
{
    struct handle_table *handles = &process->nt->handles;

    adapter->handles++;
    while (!list_empty(&adapter->devices)) {
        struct kmt_device *device = CONTAINER(adapter->devices.next, struct kmt_device, link);

        handle_remove(handles, device->handle, DDI_CLIENT_DEVICE);
        kmt_device_destroy(process, device, NULL);
    }
    while (!list_empty(&adapter->syncs))
        kmt_sync_remove(CONTAINER(adapter->syncs.next, struct kmt_sync, link));
}

static void drop_adapter(struct kmt_process *process, struct kmt_adapter *adapter)
{
    (void)process;
    adapter->handles = 0;
    kmt_adapter_put(adapter, NULL);
}

/* In D0 if possible: what is left takes paging to clear. */
static void while_awake(struct kmt_process *process, struct kmt_adapter *adapter,
                        void (*step)(struct kmt_process *process, struct kmt_adapter *adapter))
{
    struct port_adapter *port = adapter->port;
    bool awake;

    port_adapter_retain(port);
    awake = NT_SUCCESS(port_adapter_power_hold(port));
    step(process, adapter);
    if (awake)
        port_adapter_power_release(port);
    port_adapter_release(port);
}

/* KMT-472: queued work is cancelled, and calls that wait for it return. */
static void lose_devices(struct kmt_process *process)
{
    LIST_FOR(a, &process->adapters)
        LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices)
            kmt_device_lose(CONTAINER(d, struct kmt_device, link), D3DKMT_DEVICEEXECUTION_STOPPED);
}

static bool is_ending_something(const struct kmt_process *process)
{
    LIST_FOR(node, &process->calls)
        if (CONTAINER(node, struct kmt_call, link)->ends)
            return true;
    return false;
}

static void wait_for_change(struct kmt_process *process)
{
    process->waiters++;
    sim_waitq_wait(&process->changed, SIM_FOREVER);
    process->waiters--;
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
    /* Threads that were killed while they ended something come to the end of that first: it is in
     * no table any more, but still in the lists below. */
    while (!sim_current->stopped && is_ending_something(process))
        wait_for_change(process);
    while (!sim_current->stopped && !list_empty(&process->mutexes))
        kmt_keyed_close(CONTAINER(process->mutexes.next, struct kmt_keyed, link));
    LIST_FOR(node, &process->adapters)
        if (!sim_current->stopped)
            while_awake(process, CONTAINER(node, struct kmt_adapter, link), end_objects);
    while (!sim_current->stopped && !list_empty(&process->calls))
        wait_for_change(process); /* threads that were killed in other calls */
    while (!sim_current->stopped && !list_empty(&process->adapters))
        while_awake(process, CONTAINER(process->adapters.next, struct kmt_adapter, link),
                    drop_adapter);
    if (!sim_current->stopped) {
        nt_handle_close_process(nt); /* what they keep may be the driver's to destroy */
        port_process_ended(process->kmt->port, nt);
    }
    list_remove(&process->link);
    hash_finish(&process->tracks);
    hash_finish(&process->gone);
    /* Else calls thrown back from the stop may still refer to it; it goes with the heap. */
    if (!sim_current->stopped)
        util_free(process);
}

/* SPDX-License-Identifier: MIT */
/* The interface of a machine, and what befalls all its clients at once: an adapter that stops under
 * them (LIFE-168), and a deadlock (KMT-162, KMT-473). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/kmt.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "kmt/sync.h"
#include "nt/base/kprocess.h"
#include "port/port.h"
#include "sim/machine.h"
#include "sim/slot.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/residency/lock_wait.h"
#include "vidsch/client.h"

/* ---- an adapter stops under its clients (LIFE-168) ---- */

/* Calls in progress end first; later ones are told that the adapter is gone. Work that is queued is
 * cancelled. */
static void end_use(struct kmt_process *process, struct kmt_adapter *adapter)
{
    adapter->stopped = true;
    LIST_FOR(d, &adapter->devices)
        kmt_device_lose(CONTAINER(d, struct kmt_device, link), D3DKMT_DEVICEEXECUTION_STOPPED);
    kmt_call_wait_unpinned(process, NULL, adapter);
    adapter->handles++; /* it stays while its devices go */
    while (!list_empty(&adapter->devices)) {
        struct kmt_device *device = CONTAINER(adapter->devices.next, struct kmt_device, link);

        handle_remove(&process->nt->handles, device->handle, DDI_CLIENT_DEVICE);
        kmt_device_destroy(process, device, NULL);
    }
    while (!list_empty(&adapter->syncs)) {
        struct kmt_sync *sync = CONTAINER(adapter->syncs.next, struct kmt_sync, link);

        (void)hash_put(&process->gone, sync->handle, process);
        kmt_sync_remove(sync);
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
    kmt_shared_adapter_stops(context, port);
}

/* ---- the interface itself ---- */

static struct sim_slot kmt_slot;
SIM_SLOT_CLAIM(kmt_slot)

struct kmt *kmt_current(void)
{
    return sim_slot_get(&kmt_slot);
}

struct kmt *kmt_create(struct port *port)
{
    struct kmt *kmt = util_zalloc(1, sizeof(*kmt));

    if (!kmt)
        return NULL;
    kmt->port = port;
    list_init(&kmt->processes);
    list_init(&kmt->shared);
    list_init(&kmt->nt_shares);
    handle_table_init(&kmt->globals, &handle_layout_global);
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
    kmt_shared_forget(kmt);
    handle_table_finish(&kmt->globals);
    util_free(kmt);
}

/* ---- deadlock ---- */

static bool break_device(struct kmt_device *device)
{
    if (!device->sch || (!device->draining && !vidmm_device_lock_waits(device->mm)) ||
        !NT_SUCCESS(vidsch_device_check(device->sch, false)))
        return false;
    WARNING(
        "KMT-162",
        "a call waits for work of device 0x%x, but nothing can run any more: the device is put in error",
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

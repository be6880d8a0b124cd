/* SPDX-License-Identifier: MIT */
/* Enumerating, opening and closing adapters (KMT-033 to KMT-054). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "nt/base/kprocess.h"
#include "port/record/adapter_info.h"
#include "sim/mutex.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/process.h"

#define MAX_ENUM_ADAPTERS_1 16u /* KMT-033 */
#define MAX_SUPPORTED       34u /* KMT-036 */

/* ---- an adapter in a process ---- */

static struct kmt_adapter *find(const struct kmt_process *process, const struct port_adapter *port)
{
    LIST_FOR(node, &process->adapters) {
        struct kmt_adapter *adapter = CONTAINER(node, struct kmt_adapter, link);

        if (adapter->port == port)
            return adapter;
    }
    return NULL;
}

NTSTATUS kmt_adapter_of(struct kmt_call *call, struct port_adapter *port, struct kmt_adapter **out)
{
    struct kmt_process *process = call->process;
    struct kmt_adapter *adapter = find(process, port);

    if (!adapter) {
        adapter = util_zalloc(1, sizeof(*adapter));
        if (!adapter)
            return STATUS_NO_MEMORY;
        adapter->process = process;
        adapter->port = port;
        list_init(&adapter->devices);
        list_init(&adapter->syncs);
        sim_mutex_init(&adapter->mm_lock);
        list_push_back(&process->adapters, &adapter->link);
        port_adapter_retain(port);
    }
    *out = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_adapter_open(struct kmt_call *call, struct port_adapter *port, D3DKMT_HANDLE *handle)
{
    struct kmt_adapter *adapter;
    NTSTATUS status = kmt_adapter_of(call, port, &adapter);

    if (!NT_SUCCESS(status))
        return status;
    *handle = handle_create(&call->process->nt->handles, DDI_CLIENT_ADAPTER, adapter);
    if (!*handle) {
        kmt_adapter_put(adapter, call);
        return STATUS_NO_MEMORY;
    }
    adapter->handles++;
    return STATUS_SUCCESS;
}

static bool is_used(const struct kmt_adapter *adapter)
{
    return adapter->device_count || !list_empty(&adapter->syncs);
}

void kmt_adapter_put(struct kmt_adapter *adapter, const struct kmt_call *own)
{
    struct kmt_process *process = adapter->process;

    if (adapter->handles || is_used(adapter))
        return;
    list_remove(&adapter->link); /* who opens it meanwhile gets another one */
    kmt_call_wait_unpinned(process, own, adapter);
    if (is_used(adapter)) {
        list_push_back(&process->adapters, &adapter->link);
        return;
    }
    kmt_adapter_end_process(adapter);
    port_adapter_release(adapter->port);
    util_free(adapter);
}

NTSTATUS kmt_adapter_begin_process(struct kmt_adapter *adapter, bool *opened)
{
    NTSTATUS status = STATUS_SUCCESS;

    *opened = false;
    sim_mutex_lock(&adapter->mm_lock);
    if (!adapter->mm) {
        status = vidmm_process_open(port_adapter_vidmm(adapter->port), adapter->process->nt,
                                    &adapter->mm);
        *opened = NT_SUCCESS(status);
    }
    sim_mutex_unlock(&adapter->mm_lock);
    return status;
}

void kmt_adapter_end_process(struct kmt_adapter *adapter)
{
    sim_mutex_lock(&adapter->mm_lock);
    if (adapter->mm && !adapter->device_count) {
        vidmm_process_close(adapter->mm);
        adapter->mm = NULL;
    }
    sim_mutex_unlock(&adapter->mm_lock);
}

NTSTATUS kmt_adapter_check(const struct kmt_adapter *adapter)
{
    return port_adapter_lost(adapter->port)
               ? refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter was stopped, or is lost")
               : STATUS_SUCCESS;
}

NTSTATUS kmt_adapter_refuse_1x(void)
{
    return refuse(STATUS_NOT_SUPPORTED, "KMT-022",
                  "the call is one of WDDM 2.0, and the driver of the adapter is of 1.x");
}

NTSTATUS kmt_adapter_refuse_display_only(const char *why)
{
    return refuse(STATUS_NOT_SUPPORTED, "DISP-012",
                  "the adapter only shows pictures, which are drawn elsewhere: %s", why);
}

bool kmt_adapter_is_2x(const struct kmt_adapter *adapter)
{
    return port_adapter_is_2x(adapter->port);
}

/* ---- enumeration ---- */

/* KMT-044: started, not stopped. The list of the port driver is in order of AddDevice (KMT-034). */
bool kmt_adapter_is_listed(const struct port_adapter *port)
{
    return port_adapter_is_open(port) && !port_adapter_caps(port)->MiscCaps.VirtualGpuOnly;
}

static bool passes(const struct port_adapter *port, const D3DKMT_ENUMADAPTERS_FILTER *filter)
{
    return kmt_adapter_is_listed(port) &&
           (filter->IncludeComputeOnly || !port_adapter_caps(port)->MiscCaps.ComputeOnly) &&
           (filter->IncludeDisplayOnly || !port_adapter_display_only(port));
}

static ULONG count_adapters(const struct kmt_call *call, const D3DKMT_ENUMADAPTERS_FILTER *filter)
{
    ULONG count = 0;

    for (struct port_adapter *p = port_adapter_first(call->process->kmt->port); p;
         p = port_adapter_next(p))
        count += passes(p, filter);
    return count;
}

static void close_handles(struct kmt_call *call, const D3DKMT_ADAPTERINFO *list, ULONG count)
{
    for (ULONG i = 0; i < count; i++) {
        struct kmt_adapter *adapter = handle_remove(&call->process->nt->handles, list[i].hAdapter,
                                                    DDI_CLIENT_ADAPTER);

        adapter->handles--;
        kmt_adapter_put(adapter, call);
    }
}

/* Open each and describe it; all or nothing (KMT-038). */
static NTSTATUS fill(struct kmt_call *call, const D3DKMT_ENUMADAPTERS_FILTER *filter,
                     D3DKMT_ADAPTERINFO *list, ULONG capacity, ULONG *count)
{
    NTSTATUS status = STATUS_SUCCESS;

    *count = 0;
    for (struct port_adapter *p = port_adapter_first(call->process->kmt->port);
         p && *count < capacity; p = port_adapter_next(p)) {
        D3DKMT_ADAPTERINFO *info = &list[*count];

        if (!passes(p, filter))
            continue;
        memset(info, 0, sizeof(*info));
        status = kmt_adapter_open(call, p, &info->hAdapter);
        if (!NT_SUCCESS(status))
            break;
        info->AdapterLuid = port_adapter_luid(p);
        info->NumOfSources = port_adapter_sources(p); /* KMT-040, PRES-262 */
        info->bPrecisePresentRegionsPreferred = port_adapter_display_only(p);
        ++*count;
    }
    if (!NT_SUCCESS(status)) {
        close_handles(call, list, *count);
        *count = 0;
    }
    return status;
}

static const D3DKMT_ENUMADAPTERS_FILTER everything = {.Value = 3}; /* KMT-042 */

static NTSTATUS enum_adapters(struct kmt_call *call, void *arguments)
{
    D3DKMT_ENUMADAPTERS *args = arguments;

    memset(args, 0, sizeof(*args));
    return fill(call, &everything, args->Adapters, MAX_ENUM_ADAPTERS_1, &args->NumAdapters);
}

static NTSTATUS enumerate(struct kmt_call *call, const D3DKMT_ENUMADAPTERS_FILTER *filter,
                          D3DKMT_ADAPTERINFO *user, ULONG *number)
{
    ULONG present = count_adapters(call, filter), count = 0;
    D3DKMT_ADAPTERINFO *list;
    NTSTATUS status;

    if (!user) {
        ULONG all = count_adapters(call, &everything);

        *number = all > MAX_SUPPORTED ? all : MAX_SUPPORTED; /* KMT-035, KMT-036 */
        return STATUS_SUCCESS;
    }
    if (*number < present)
        return refuse(STATUS_BUFFER_TOO_SMALL, "KMT-037", "room for %u adapters, there are %u",
                      (UINT)*number, (UINT)present);
    if (!kmt_client_probe_write(user, present * sizeof(*list)))
        return STATUS_INVALID_PARAMETER; /* KMT-007 */
    list = util_alloc((present ? present : 1) * sizeof(*list));
    if (!list)
        return STATUS_NO_MEMORY;
    status = fill(call, filter, list, present, &count);
    if (NT_SUCCESS(status) && !kmt_client_put(user, list, count * sizeof(*list))) {
        close_handles(call, list, count);
        status = STATUS_INVALID_PARAMETER;
    }
    util_free(list);
    if (NT_SUCCESS(status))
        *number = count;
    return status;
}

static NTSTATUS enum_adapters2(struct kmt_call *call, void *arguments)
{
    D3DKMT_ENUMADAPTERS2 *args = arguments;

    return enumerate(call, &everything, args->pAdapters, &args->NumAdapters);
}

static NTSTATUS enum_adapters3(struct kmt_call *call, void *arguments)
{
    D3DKMT_ENUMADAPTERS3 *args = arguments;

    if (args->Filter.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-043", "reserved bits in Filter 0x%llx",
                      (unsigned long long)args->Filter.Value);
    return enumerate(call, &args->Filter, args->pAdapters, &args->NumAdapters);
}

/* ---- open and close ---- */

static NTSTATUS open_from_luid(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENADAPTERFROMLUID *args = arguments;
    struct port_adapter *port = port_adapter_by_luid(call->process->kmt->port, args->AdapterLuid);

    if (!port || !kmt_adapter_is_listed(port))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-045", "no adapter has the LUID %08x:%08x",
                      (UINT)args->AdapterLuid.HighPart, (UINT)args->AdapterLuid.LowPart);
    return kmt_adapter_open(call, port, &args->hAdapter);
}

static NTSTATUS close_adapter(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CLOSEADAPTER *args = arguments;
    struct kmt_adapter *adapter = handle_remove(&call->process->nt->handles, args->hAdapter,
                                                DDI_CLIENT_ADAPTER);

    if (!adapter)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-050", "handle 0x%x is not that of an adapter",
                      args->hAdapter);
    adapter->handles--;
    kmt_adapter_put(adapter, call);
    return STATUS_SUCCESS;
}

KMT_IN_OUT_CONST(D3DKMTEnumAdapters, D3DKMT_ENUMADAPTERS, enum_adapters)
KMT_IN_OUT_CONST(D3DKMTEnumAdapters2, D3DKMT_ENUMADAPTERS2, enum_adapters2)
KMT_IN_OUT(D3DKMTEnumAdapters3, D3DKMT_ENUMADAPTERS3, enum_adapters3)
KMT_IN_OUT_CONST(D3DKMTOpenAdapterFromLuid, D3DKMT_OPENADAPTERFROMLUID, open_from_luid)
KMT_IN(D3DKMTCloseAdapter, D3DKMT_CLOSEADAPTER, close_adapter)

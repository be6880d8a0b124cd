/* SPDX-License-Identifier: MIT */
/*
 * Event tracing (ETW): registrations, and events as marks in the host's trace, on one track per
 * provider. A provider is enabled when tracing is on.
 */
#include <stdio.h>

#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/rtl/rtl_string.h"
#include "sim/irql.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define CONTROL_ENABLE 1u
#define ALL_LEVELS     0xFFu

struct provider {
    struct nt_resource resource;
    REGHANDLE handle;
    trace_track track;
};

struct nt_etw {
    struct hash_map providers; /* REGHANDLE -> struct provider */
    uint64_t handles;          /* number of handles given so far */
};

static bool init(struct nt *nt)
{
    hash_init(&nt->etw->providers);
    return true;
}

static void finish(struct nt *nt)
{
    hash_finish(&nt->etw->providers);
}

const struct nt_component nt_etw_component = {
    .slot = offsetof(struct nt, etw),
    .bytes = sizeof(struct nt_etw),
    .init = init,
    .finish = finish,
};

static void reclaim(struct nt_resource *resource)
{
    struct provider *provider = CONTAINER(resource, struct provider, resource);

    nt_resource_untrack(resource);
    hash_remove(&nt_state()->etw->providers, provider->handle);
    util_free(provider);
}

static const struct nt_resource_class provider_class = {
    .rule = "NT-168",
    .noun = "ETW registration",
    .code = DRIVER_VERIFIER,
    .subcode = 0xDD,
    .reclaim = reclaim,
};

static struct provider *find(REGHANDLE handle)
{
    return handle ? hash_get(&nt_state()->etw->providers, handle) : NULL;
}

static trace_track create_track(const GUID *id)
{
    char name[48];

    snprintf(name, sizeof(name), "{%08X-%04X-%04X}", (unsigned)id->Data1, id->Data2, id->Data3);
    return trace_track_create("ETW providers", trace_intern(name));
}

NT_EXPORT NTSTATUS NTAPI EtwRegister(const GUID *ProviderId, PETWENABLECALLBACK EnableCallback,
                                     PVOID CallbackContext, PREGHANDLE RegHandle)
{
    struct nt *nt;
    struct provider *provider;

    NT_ENTER();
    nt = nt_state();
    if (!nt_level(NT_PASSIVE, "NT-168", NT_NO_CODE, __func__) || !ProviderId || !RegHandle)
        return STATUS_INVALID_PARAMETER;
    provider = util_zalloc(1, sizeof(*provider));
    if (!provider)
        return STATUS_NO_MEMORY;
    provider->handle = ++nt->etw->handles;
    if (!hash_put(&nt->etw->providers, provider->handle, provider)) {
        util_free(provider);
        return STATUS_NO_MEMORY;
    }
    nt_resource_track(&provider->resource, &provider_class, NT_CALLER());
    *RegHandle = provider->handle;
    if (trace_current) {
        provider->track = create_track(ProviderId);
        if (EnableCallback)
            EnableCallback(ProviderId, CONTROL_ENABLE, ALL_LEVELS, ~0ull, 0, NULL, CallbackContext);
    }
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI EtwUnregister(REGHANDLE RegHandle)
{
    struct provider *provider;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-168", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    provider = find(RegHandle);
    if (!provider) {
        NT_VERIFIER("NT-168", 0xDC, RegHandle, 0, 0, "%s of a handle that is not registered",
                    __func__);
        return STATUS_INVALID_HANDLE;
    }
    reclaim(&provider->resource);
    return STATUS_SUCCESS;
}

NT_EXPORT BOOLEAN NTAPI EtwEventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
    NT_ENTER();
    (void)EventDescriptor;
    return find(RegHandle) && trace_current;
}

NT_EXPORT BOOLEAN NTAPI EtwProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
    NT_ENTER();
    (void)Level;
    (void)Keyword;
    return find(RegHandle) && trace_current;
}

NT_EXPORT NTSTATUS NTAPI EtwWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
                                  const GUID *ActivityId, ULONG UserDataCount,
                                  PEVENT_DATA_DESCRIPTOR UserData)
{
    const struct provider *provider;
    uint64_t bytes = 0;

    NT_ENTER();
    (void)ActivityId;
    provider = find(RegHandle);
    if (!provider)
        return STATUS_INVALID_HANDLE;
    if (!EventDescriptor || UserDataCount > MAX_EVENT_DATA_DESCRIPTORS ||
        (UserDataCount && !UserData))
        return STATUS_INVALID_PARAMETER;
    for (ULONG i = 0; i < UserDataCount; i++) {
        const void *data = (const void *)(uintptr_t)UserData[i].Ptr;

        if (sim_irql() > SIM_IRQL_APC && nt_memory_of(data) == NT_MEMORY_PAGED)
            VIOLATION("NT-169", "%s of pageable data at %s", __func__, nt_irql_name(sim_irql()));
        bytes += UserData[i].Size;
    }
    trace_instant(provider->track, "event", "id", EventDescriptor->Id, "bytes", bytes);
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI EtwWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword,
                                        const GUID *ActivityId, PCWSTR String)
{
    const struct provider *provider;

    NT_ENTER();
    (void)Keyword;
    (void)ActivityId;
    provider = find(RegHandle);
    if (!provider)
        return STATUS_INVALID_HANDLE;
    trace_instant(provider->track, "text", "level", Level, "characters",
                  String ? nt_string_length(String) : 0);
    return STATUS_SUCCESS;
}

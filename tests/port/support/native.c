/* SPDX-License-Identifier: MIT */
#include <initguid.h>

#include "port/support/native.h"

#include "ram/ram.h"

#include <string.h>

struct native_state native;

/* ---- the driver ---- */

static NTSTATUS NTAPI query_support(HANDLE adapter, INOUT_PDXGKARG_QUERYFEATURESUPPORT args)
{
    (void)adapter;
    args->SupportedByDriver = args->SupportedOnCurrentConfig = native.features >> args->FeatureId &
                                                               1;
    args->MinSupportedVersion = args->MaxSupportedVersion = 1;
    return STATUS_SUCCESS;
}

static VOID NTAPI nothing(PVOID context)
{
    (void)context;
}

static void offer(struct probe *p, struct probe_call *call)
{
    const QUERY_INTERFACE *query = (const QUERY_INTERFACE *)(uintptr_t)call->arg[1];
    const DXGKDDI_FEATURE_INTERFACE interface = {.Size = sizeof(interface),
                                                 .Version = DXGK_FEATURE_INTERFACE_VERSION_1,
                                                 .InterfaceReference = nothing,
                                                 .InterfaceDereference = nothing,
                                                 .QueryFeatureSupport = query_support};

    (void)p;
    memcpy(query->Interface, &interface, sizeof(interface));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void create(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATENATIVEFENCE *args = (DXGKARG_CREATENATIVEFENCE *)(uintptr_t)call->arg[1];
    struct native_fence *f = &native.fence[native.fences];

    (void)p;
    if (native.fences == NATIVE_MOST)
        fail_msg("too many native fences");
    f->host = args->hNativeFence;
    f->driver = (HANDLE)(uintptr_t)(0xA00000 + 16 * native.fences++);
    f->args = *args;
    for (UINT i = 0; i < args->PrivateDriverDataSize && i < 16; i++) {
        f->private_data[i] = ((uint8_t *)args->pPrivateDriverData)[i];
        ((uint8_t *)args->pPrivateDriverData)[i] ^= 0x55;
    }
    args->hNativeFence = f->driver;
}

static void destroy(struct probe *p, struct probe_call *call)
{
    (void)p;
    for (unsigned i = 0; i < native.fences; i++)
        if (native.fence[i].driver == (HANDLE)(uintptr_t)call->arg[0]) {
            CHECK(!native.fence[i].destroyed);
            native.fence[i].destroyed = true;
            native.destroyed++;
            return;
        }
    fail_msg("a native fence was destroyed that is none");
}

static void note(HANDLE fence, uint64_t value, bool current, const struct probe_call *call)
{
    if (native.count == NATIVE_MOST)
        fail_msg("too many values of native fences");
    native.told[native.count++] = (struct native_told){fence, value, current, call->irql,
                                                       call->order};
}

static void update(struct probe *p, struct probe_call *call)
{
    const DXGKARG_UPDATEMONITOREDVALUES *args = (const DXGKARG_UPDATEMONITOREDVALUES *)(uintptr_t)
                                                    call->arg[0];

    (void)p;
    for (UINT i = 0; i < args->UpdatedValueCount; i++)
        note(args->NativeFenceArray[i], args->UpdatedValueArray[i], false, call);
    if (native.during)
        native.during();
}

static void notify(struct probe *p, struct probe_call *call)
{
    const DXGKARG_NOTIFYCURRENTVALUEUPDATES *args =
        (const DXGKARG_NOTIFYCURRENTVALUEUPDATES *)(uintptr_t)call->arg[0];

    (void)p;
    for (UINT i = 0; i < args->UpdatedValueCount; i++)
        note(args->NativeFenceArray[i], 0, true, call);
}

struct probe *native_create(const struct probe_options *options)
{
    static const enum probe_ddi entries[] = {PROBE_CreateNativeFence, PROBE_DestroyNativeFence,
                                             PROBE_UpdateMonitoredValues,
                                             PROBE_NotifyCurrentValueUpdates, PROBE_QueryInterface};
    struct probe_options own = options ? *options : (struct probe_options){0};
    struct probe *p;

    memset(&native, 0, sizeof(native));
    native.features = 1ull << DXGK_FEATURE_HWSCH | 1ull << DXGK_FEATURE_NATIVE_FENCE;
    own.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1;
    own.port.wddm_3_2 = true;
    own.port.features |= 1ull << DXGK_FEATURE_NATIVE_FENCE;
    p = hardware_create(&own);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    p->caps.SchedulingCaps.NativeGpuFence = 1;
    p->before[PROBE_QueryInterface] = offer;
    p->after[PROBE_CreateNativeFence] = create;
    p->after[PROBE_DestroyNativeFence] = destroy;
    p->after[PROBE_UpdateMonitoredValues] = update;
    p->after[PROBE_NotifyCurrentValueUpdates] = notify;
    return p;
}

void native_give_cmp(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *q = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];

    (void)p;
    if (q->Type != DXGKQAITYPE_NATIVE_FENCE_CAPS)
        return;
    ((DXGK_NATIVE_FENCE_CAPS *)q->pOutputData)->MapToCmpAddressSpace = TRUE;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

uint64_t native_monitored(HANDLE fence)
{
    for (unsigned i = native.count; i-- > 0;)
        if (native.told[i].fence == fence && !native.told[i].current)
            return native.told[i].value;
    return UINT64_MAX;
}

void native_interrupt(const HANDLE *handles, UINT count, UINT flags)
{
    memset(&hardware.extra, 0, sizeof(hardware.extra));
    hardware.extra.InterruptType = DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED;
    hardware.extra.NativeFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    hardware.extra.NativeFenceSignaled.SignaledNativeFenceCount = count;
    hardware.extra.NativeFenceSignaled.pSignaledNativeFenceArray = (HANDLE *)(uintptr_t)handles;
    hardware.extra.Flags.Value = flags;
    hardware_notify();
}

/* ---- clients ---- */

NTSTATUS native_make(D3DKMT_HANDLE device, UINT64 initial, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags,
                     D3DKMT_CREATENATIVEFENCE *made)
{
    memset(made, 0, sizeof(*made));
    made->hDevice = device;
    made->Info.InitialFenceValue = initial;
    made->Info.Flags = flags;
    return D3DKMTCreateNativeFence(made);
}

NTSTATUS native_destroy(D3DKMT_HANDLE fence)
{
    return D3DKMTDestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){fence});
}

void native_gpu_write(const struct probe *p, const void *client_address, uint64_t value)
{
    struct phys_addr place;

    CHECK(ram_physical(p->ram, client_address, &place));
    *(volatile uint64_t *)ram_direct(p->ram, place) = value;
}

NTSTATUS native_wait(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, UINT64 value)
{
    return D3DKMTWaitForSynchronizationObjectFromCpu(&(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU){
        .hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value});
}

NTSTATUS native_signal(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, UINT64 value)
{
    return D3DKMTSignalSynchronizationObjectFromCpu(&(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU){
        .hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value});
}

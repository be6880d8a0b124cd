/* SPDX-License-Identifier: MIT */
/* Monitored fences that processes share: one value, addresses and flags for each that has it open. */
#include "host/support/refgpu_client.h"
#include "support/recorded.h"

#define SHARED (1u | 2u) /* Shared, NtSecuritySharing */

static const WCHAR fence_name[] = L"\\BaseNamedObjects\\SharedFence";

static D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags_of(bool no_signal, bool no_wait)
{
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags = {.Value = 0};

    flags.NoSignal = no_signal;
    flags.NoWait = no_wait;
    return flags;
}

static NTSTATUS create(const struct gpu *g, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT64 value,
                       D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hDevice = g->device;
    args->Info.Type = D3DDDI_MONITORED_FENCE;
    args->Info.Flags = flags;
    args->Info.Flags.Shared = args->Info.Flags.NtSecuritySharing = 1;
    args->Info.MonitoredFence.InitialFenceValue = value;
    return D3DKMTCreateSynchronizationObject2(args);
}

static NTSTATUS destroy(D3DKMT_HANDLE sync)
{
    return D3DKMTDestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){sync});
}

static NTSTATUS share(D3DKMT_HANDLE fence, DWORD access, const WCHAR *text, HANDLE *nt)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;

    RtlInitUnicodeString(&name, text);
    InitializeObjectAttributes(&attributes, text ? &name : NULL, 0, NULL, NULL);
    return D3DKMTShareObjects(1, &fence, &attributes, access, nt);
}

static NTSTATUS open_name(HANDLE *nt)
{
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME args = {.dwDesiredAccess = GENERIC_ALL};
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    RtlInitUnicodeString(&name, fence_name);
    InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
    args.pObjAttrib = &attributes;
    status = D3DKMTOpenSyncObjectNtHandleFromName(&args);
    *nt = args.hNtHandle;
    return status;
}

static NTSTATUS open_fence(const struct gpu *g, HANDLE nt, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags,
                           UINT affinity, D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hNtHandle = nt;
    args->hDevice = g->device;
    args->Flags = flags;
    args->MonitoredFence.EngineAffinity = affinity;
    return D3DKMTOpenSyncObjectFromNtHandle2(args);
}

static NTSTATUS signal_cpu(const struct gpu *g, D3DKMT_HANDLE fence, UINT64 value)
{
    return D3DKMTSignalSynchronizationObjectFromCpu(
        &(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = g->device,
                                                     .ObjectCount = 1,
                                                     .ObjectHandleArray = &fence,
                                                     .FenceValueArray = &value});
}

static UINT64 value_at(const void *address)
{
    return *(const volatile UINT64 *)address;
}

/* A command of the GPU, in the address space of the process. */
static NTSTATUS gpu_write(const struct gpu *g, UINT64 address, UINT64 value)
{
    struct refgpu_builder b;
    struct memory commands;
    NTSTATUS status = gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM, &commands);

    if (!NT_SUCCESS(status))
        return status;
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_write(&b, address, value, REFGPU_WRITE_64);
    return gpu_submit(g->copy, commands.va, refgpu_builder_bytes(&b));
}

/* For a while: a test that fails has an end. */
static void await(const volatile bool *flag)
{
    for (unsigned i = 0; i < 100000 && !*flag; i++)
        dxgk_client_sleep(100000);
}

/* ---- two processes ---- */

struct other {
    NTSTATUS status;
    UINT64 first, last;     /* values that it saw */
    const void *cpu;        /* its addresses */
    UINT64 va, read_by_gpu; /* what its GPU copied from there */
    volatile bool open, go, done;
};

/* Opens the fence by name, lets its GPU write 9, waits for 12, and ends with all open. */
static void other_process(void *argument)
{
    struct other *o = argument;
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 fence;
    struct gpu g;
    HANDLE nt;

    o->status = gpu_begin(&g);
    if (NT_SUCCESS(o->status))
        o->status = open_name(&nt);
    if (NT_SUCCESS(o->status))
        o->status = open_fence(&g, nt, flags_of(false, false), 0, &fence);
    if (NT_SUCCESS(o->status)) {
        o->cpu = fence.MonitoredFence.FenceValueCPUVirtualAddress;
        o->va = fence.MonitoredFence.FenceValueGPUVirtualAddress;
        o->first = value_at(o->cpu);
        o->status = gpu_write(&g, o->va, 9);
    }
    o->open = true;
    if (NT_SUCCESS(o->status))
        await(&o->go);
    if (NT_SUCCESS(o->status) && o->go)
        o->status = gpu_wait_cpu(&g, fence.hSyncObject, 12);
    if (NT_SUCCESS(o->status))
        o->last = value_at(o->cpu);
    o->done = true;
}

TEST_WITH(client, a_monitored_fence_has_addresses_in_each_process)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct other o = {0};
    const void *cpu;
    struct gpu g;
    HANDLE nt;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-338", create(&g, flags_of(false, false), 7, &fence) == STATUS_SUCCESS);
    SHOW(c, "KMT-336", fence.Info.SharedHandle == 0);
    cpu = fence.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    SHOW(c, "KMT-345", value_at(cpu) == 7);
    TRY(c, share(fence.hSyncObject, GENERIC_ALL, fence_name, &nt) == STATUS_SUCCESS);
    TRY(c, dxgk_client_process("other", other_process, &o));
    /* the other process' GPU ends the wait of this one */
    SHOW(c, "KMT-360", gpu_wait_cpu(&g, fence.hSyncObject, 9) == STATUS_SUCCESS);
    TRY(c, o.open && o.status == STATUS_SUCCESS);
    SHOW(c, "KMT-360", o.first == 7 && value_at(cpu) == 9 && o.va != 0);
    SHOW(c, "KMT-360", o.cpu != cpu);
    o.go = true;
    dxgk_client_sleep(100000);
    TRY(c, !o.done);
    /* and this one's the wait of the other */
    SHOW(c, "KMT-360",
         gpu_write(&g, fence.Info.MonitoredFence.FenceValueGPUVirtualAddress, 12) == STATUS_SUCCESS);
    await(&o.done);
    SHOW(c, "KMT-360", o.status == STATUS_SUCCESS && o.last == 12);
    dxgk_client_sleep(10000000); /* the other process has ended */
    SHOW(c, "KMT-365",
         signal_cpu(&g, fence.hSyncObject, 13) == STATUS_SUCCESS && value_at(cpu) == 13);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

static void creator_process(void *argument)
{
    struct other *o = argument;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct gpu g;
    HANDLE nt;

    o->status = gpu_begin(&g);
    if (NT_SUCCESS(o->status))
        o->status = create(&g, flags_of(false, false), 3, &fence);
    if (NT_SUCCESS(o->status))
        o->status = share(fence.hSyncObject, GENERIC_ALL, fence_name, &nt);
    o->open = true;
    if (NT_SUCCESS(o->status))
        await(&o->go);
    o->done = true;
}

TEST_WITH(client, a_monitored_fence_outlives_its_creator)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 fence;
    struct other o = {0};
    struct gpu g;
    HANDLE nt;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, dxgk_client_process("creator", creator_process, &o));
    await(&o.open);
    TRY(c, o.status == STATUS_SUCCESS && open_name(&nt) == STATUS_SUCCESS);
    o.go = true;
    dxgk_client_sleep(10000000); /* now only the NT handle keeps it */
    TRY(c, o.done);
    SHOW(c, "KMT-476", open_fence(&g, nt, flags_of(false, false), 0, &fence) == STATUS_SUCCESS);
    TRY(c, value_at(fence.MonitoredFence.FenceValueCPUVirtualAddress) == 3);
    SHOW(c, "KMT-363",
         gpu_write(&g, fence.MonitoredFence.FenceValueGPUVirtualAddress, 4) == STATUS_SUCCESS &&
             gpu_wait_cpu(&g, fence.hSyncObject, 4) == STATUS_SUCCESS);
    TRY(c, destroy(fence.hSyncObject) == STATUS_SUCCESS && ZwClose(nt) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- flags of an open ---- */

TEST_WITH(client, flags_of_an_open_count_for_it_alone)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open;
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags;
    struct gpu g;
    HANDLE nt;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, flags_of(false, true), 1, &fence) == STATUS_SUCCESS);
    TRY(c, share(fence.hSyncObject, GENERIC_ALL, NULL, &nt) == STATUS_SUCCESS);
    SHOW(c, "KMT-361", gpu_wait_cpu(&g, fence.hSyncObject, 1) == STATUS_ACCESS_DENIED);
    SHOW(c, "KMT-361", signal_cpu(&g, fence.hSyncObject, 2) == STATUS_SUCCESS);
    TRY(c, open_fence(&g, nt, flags_of(true, false), 0, &open) == STATUS_SUCCESS);
    SHOW(c, "KMT-361", signal_cpu(&g, open.hSyncObject, 3) == STATUS_ACCESS_DENIED);
    SHOW(c, "KMT-361", gpu_wait_cpu(&g, open.hSyncObject, 2) == STATUS_SUCCESS);
    SHOW(c, "KMT-361", signal_cpu(&g, fence.hSyncObject, 3) == STATUS_SUCCESS);
    TRY(c, destroy(open.hSyncObject) == STATUS_SUCCESS);

    SHOW(c, "KMT-361",
         open_fence(&g, nt, flags_of(true, true), 0, &open) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-350",
         open_fence(&g, nt, flags_of(false, false), 2, &open) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-349",
         open_fence(&g, nt, flags_of(false, false), 1, &open) == STATUS_SUCCESS &&
             open.MonitoredFence.FenceValueGPUVirtualAddress != 0);
    TRY(c, destroy(open.hSyncObject) == STATUS_SUCCESS);
    flags.Value = 0;
    flags.NoGPUAccess = 1;
    SHOW(c, "KMT-362",
         open_fence(&g, nt, flags, 0, &open) == STATUS_SUCCESS &&
             open.MonitoredFence.FenceValueGPUVirtualAddress == 0 &&
             value_at(open.MonitoredFence.FenceValueCPUVirtualAddress) == 3);
    TRY(c, destroy(open.hSyncObject) == STATUS_SUCCESS);
    flags.Value = SHARED; /* properties of the object: ignored */
    flags.TopOfPipeline = flags.CrossAdapter = 1;
    SHOW(c, "KMT-362", open_fence(&g, nt, flags, 0, &open) == STATUS_SUCCESS);
    flags.Value = 0;
    flags.SignalByKmd = 1;
    SHOW(c, "KMT-362", open_fence(&g, nt, flags, 0, &open) == STATUS_INVALID_PARAMETER);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_monitored_fence_is_opened_for_a_device)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE first = {0};
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open;
    struct gpu g;
    HANDLE nt;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, flags_of(false, false), 1, &fence) == STATUS_SUCCESS);
    TRY(c, share(fence.hSyncObject, STANDARD_RIGHTS_READ | D3DDDI_SYNC_OBJECT_WAIT, NULL, &nt) ==
               STATUS_SUCCESS);
    first.hNtHandle = nt;
    SHOW(c, "KMT-359", D3DKMTOpenSyncObjectFromNtHandle(&first) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-359", open_fence(&g, nt, flags_of(false, false), 0, &open) == STATUS_SUCCESS);
    SHOW(c, "KMT-247", signal_cpu(&g, open.hSyncObject, 2) == STATUS_ACCESS_DENIED);
    SHOW(c, "KMT-365", destroy(fence.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-365", gpu_wait_cpu(&g, open.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- a device that is lost ---- */

static NTSTATUS hang(const struct gpu *g)
{
    struct refgpu_builder b;
    struct memory commands;
    NTSTATUS status = gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM, &commands);

    if (!NT_SUCCESS(status))
        return status;
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_hang(&b, 0);
    status = gpu_submit(g->copy, commands.va, refgpu_builder_bytes(&b));
    dxgk_client_sleep(5000000000);
    return status;
}

struct loser {
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags; /* of its open */
    NTSTATUS status;
    volatile bool done;
};

static void losing_process(void *argument)
{
    struct loser *l = argument;
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open;
    struct gpu g;
    HANDLE nt;

    l->status = gpu_begin(&g);
    if (NT_SUCCESS(l->status))
        l->status = open_name(&nt);
    if (NT_SUCCESS(l->status))
        l->status = open_fence(&g, nt, l->flags, 0, &open);
    if (NT_SUCCESS(l->status))
        l->status = hang(&g);
    l->done = true;
}

TEST_WITH(client, a_lost_opener_wakes_those_who_wait)
{
    struct loser losers[3] = {0};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct gpu g;
    HANDLE nt;

    losers[0].flags.NoSignal = 1;
    losers[1].flags.NoSignalMaxValueOnTdr = 1;
    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, flags_of(false, false), 1, &fence) == STATUS_SUCCESS);
    TRY(c, share(fence.hSyncObject, GENERIC_ALL, fence_name, &nt) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        TRY(c, dxgk_client_process("loser", losing_process, &losers[i]));
        await(&losers[i].done);
        TRY(c, losers[i].done && losers[i].status == STATUS_SUCCESS);
        SHOW(c, "KMT-395",
             value_at(fence.Info.MonitoredFence.FenceValueCPUVirtualAddress) ==
                 (i < 2 ? 1 : UINT64_MAX));
    }
    SHOW(c, "TDR-059", gpu_wait_cpu(&g, fence.hSyncObject, 100) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

/* SPDX-License-Identifier: MIT */
/* Synchronization objects: creation, waits and signals from CPU and contexts, old and new forms. */
#include "host/support/refgpu_client.h"

static NTSTATUS create(const struct gpu *g, D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type, UINT flags,
                       UINT64 value, D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hDevice = g->device;
    args->Info.Type = type;
    args->Info.Flags.Value = flags;
    if (type == D3DDDI_FENCE)
        args->Info.Fence.FenceValue = value;
    if (type == D3DDDI_MONITORED_FENCE)
        args->Info.MonitoredFence.InitialFenceValue = value;
    if (type == D3DDDI_SEMAPHORE) {
        args->Info.Semaphore.MaxCount = 4;
        args->Info.Semaphore.InitialCount = (UINT)value;
    }
    return D3DKMTCreateSynchronizationObject2(args);
}

static NTSTATUS destroy(D3DKMT_HANDLE sync)
{
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT args = {sync};

    return D3DKMTDestroySynchronizationObject(&args);
}

static NTSTATUS signal_cpu(const struct gpu *g, const D3DKMT_HANDLE *handles, const UINT64 *values,
                           UINT count, UINT flags)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.ObjectCount = count;
    args.ObjectHandleArray = handles;
    args.FenceValueArray = values;
    args.Flags.Value = flags;
    return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static UINT64 read_fence(const D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *fence)
{
    return *(volatile const UINT64 *)fence->Info.MonitoredFence.FenceValueCPUVirtualAddress;
}

/* ---- creation ---- */

TEST_WITH(client, objects_are_created)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT old;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&old, 0, sizeof(old));
    old.hDevice = g.device;
    old.Info.Type = D3DDDI_FENCE;
    SHOW(c, "KMT-332", D3DKMTCreateSynchronizationObject(&old) == STATUS_INVALID_PARAMETER);
    old.Info.Type = D3DDDI_SEMAPHORE;
    old.Info.Semaphore.MaxCount = 0;
    SHOW(c, "KMT-343", D3DKMTCreateSynchronizationObject(&old) == STATUS_INVALID_PARAMETER);
    old.Info.Semaphore.MaxCount = 2;
    old.Info.Semaphore.InitialCount = 3;
    SHOW(c, "KMT-343", D3DKMTCreateSynchronizationObject(&old) == STATUS_INVALID_PARAMETER);
    old.Info.Semaphore.InitialCount = 2;
    SHOW(c, "KMT-331",
         D3DKMTCreateSynchronizationObject(&old) == STATUS_SUCCESS &&
             destroy(old.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-365", destroy(old.hSyncObject) == STATUS_INVALID_PARAMETER);

    SHOW(c, "KMT-345",
         create(&g, D3DDDI_MONITORED_FENCE, 0, 5, &args) == STATUS_SUCCESS &&
             read_fence(&args) == 5 && args.Info.MonitoredFence.FenceValueGPUVirtualAddress != 0);
    SHOW(c, "KMT-337", args.Info.SharedHandle == 0);
    TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-348",
         create(&g, D3DDDI_MONITORED_FENCE, 0x80, 0, &args) == STATUS_SUCCESS &&
             args.Info.MonitoredFence.FenceValueGPUVirtualAddress == 0);
    SHOW(c, "KMT-333",
         create(&g, D3DDDI_FENCE, 0, 1, &args) == STATUS_SUCCESS && args.hSyncObject != 0);
    SHOW(c, "KMT-338", create(&g, D3DDDI_MONITORED_FENCE, 1, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-340", create(&g, D3DDDI_FENCE, 4, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-341", create(&g, D3DDDI_FENCE, 0x80, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-341",
         create(&g, D3DDDI_MONITORED_FENCE, 1u << 20, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-352", create(&g, D3DDDI_CPU_NOTIFICATION, 0, 0, &args) == STATUS_INVALID_HANDLE);
    memset(&args, 0, sizeof(args));
    args.Info.Type = D3DDDI_MONITORED_FENCE;
    SHOW(c, "KMT-335", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = g.device;
    args.Info.MonitoredFence.EngineAffinity = 2;
    SHOW(c, "KMT-350", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- CPU ---- */

TEST_WITH(client, fences_from_the_cpu)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 a, b, old, no_signal;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;
    D3DKMT_HANDLE handles[2], many[33];
    UINT64 values[33] = {3, 4};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_MONITORED_FENCE, 0, 0, &a) == STATUS_SUCCESS &&
               create(&g, D3DDDI_MONITORED_FENCE, 0, 0, &b) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_FENCE, 0, 0, &old) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_MONITORED_FENCE, 0x10, 0, &no_signal) == STATUS_SUCCESS);
    handles[0] = a.hSyncObject;
    handles[1] = b.hSyncObject;
    SHOW(c, "KMT-384",
         signal_cpu(&g, handles, values, 2, 0) == STATUS_SUCCESS && read_fence(&a) == 3 &&
             read_fence(&b) == 4);
    SHOW(c, "KMT-385", signal_cpu(&g, handles, values, 2, 0) == STATUS_SUCCESS); /* equal values */
    values[1] = 1;
    SHOW(c, "KMT-011",
         !NT_SUCCESS(signal_cpu(&g, handles, values, 2, 0)) && read_fence(&a) == 3 &&
             read_fence(&b) == 4);
    SHOW(c, "KMT-385",
         signal_cpu(&g, handles, values, 2, 4) == STATUS_SUCCESS &&
             read_fence(&b) == 1); /* AllowFenceRewind */
    SHOW(c, "KMT-385", signal_cpu(&g, handles, values, 2, 1) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-385", signal_cpu(&g, &old.hSyncObject, values, 1, 0) == STATUS_INVALID_PARAMETER);
    TRY(c, signal_cpu(&g, &no_signal.hSyncObject, values, 1, 0) == STATUS_ACCESS_DENIED);
    SHOW(c, "GPUVA-070",
         signal_cpu(&g, &g.queue_fence, values, 1, 0) == STATUS_ACCESS_DENIED &&
             destroy(g.queue_fence) == STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < 33; i++)
        many[i] = a.hSyncObject;
    SHOW(c, "KMT-371", signal_cpu(&g, many, values, 33, 0) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371",
         signal_cpu(&g, many, values, 2, 0) == STATUS_INVALID_PARAMETER); /* a duplicate */
    SHOW(c, "KMT-371", signal_cpu(&g, many, values, 0, 0) == STATUS_INVALID_PARAMETER);

    SHOW(c, "KMT-391", gpu_wait_cpu(&g, a.hSyncObject, 3) == STATUS_SUCCESS);
    memset(&wait, 0, sizeof(wait));
    wait.hDevice = g.device;
    wait.ObjectCount = 2;
    wait.ObjectHandleArray = handles;
    values[0] = 3;
    values[1] = 1000;
    wait.FenceValueArray = values;
    wait.Flags.WaitAny = 1;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_SUCCESS);
    wait.Flags.Value = 2;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_PARAMETER);
    wait.Flags.Value = 0;
    wait.ObjectHandleArray = &old.hSyncObject;
    wait.ObjectCount = 1;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_PARAMETER);
    wait.ObjectHandleArray = handles;
    wait.hAsyncEvent = (HANDLE)(uintptr_t)0x4444;
    SHOW(c, "KMT-393", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_HANDLE);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- two threads ---- */

struct waiter {
    struct gpu *g;
    D3DKMT_HANDLE fence;
    NTSTATUS status;
    UINT64 until;
    bool done;
};

static void wait_for_seven(void *argument)
{
    struct waiter *w = argument;

    w->status = gpu_wait_cpu(w->g, w->fence, 7);
    w->until = dxgk_client_time();
    w->done = true;
}

TEST_WITH(client, a_wait_ends_by_signal_or_destruction)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct waiter w = {0};
    UINT64 seven = 7;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    w.g = &g;
    w.fence = fence.hSyncObject;
    TRY(c, dxgk_client_thread("waiter", wait_for_seven, &w));
    dxgk_client_sleep(50000);
    TRY(c, !w.done);
    SHOW(c, "KMT-019", signal_cpu(&g, &fence.hSyncObject, &seven, 1, 0) == STATUS_SUCCESS);
    dxgk_client_sleep(1000);
    SHOW(c, "KMT-019", w.done && w.status == STATUS_SUCCESS);

    /* the object goes while somebody waits for it */
    memset(&w, 0, sizeof(w));
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    w.g = &g;
    w.fence = fence.hSyncObject;
    TRY(c, dxgk_client_thread("waiter", wait_for_seven, &w));
    dxgk_client_sleep(50000);
    SHOW(c, "SUBMIT-145", !w.done && destroy(fence.hSyncObject) == STATUS_SUCCESS);
    dxgk_client_sleep(1000);
    SHOW(c, "SUBMIT-145", w.done && w.status == STATUS_INVALID_HANDLE);

    /* and so does the whole device */
    memset(&w, 0, sizeof(w));
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    w.g = &g;
    w.fence = fence.hSyncObject;
    TRY(c, dxgk_client_thread("waiter", wait_for_seven, &w));
    dxgk_client_sleep(50000);
    TRY(c, !w.done && gpu_end(&g) == STATUS_SUCCESS);
    dxgk_client_sleep(1000);
    TRY(c, w.done && !NT_SUCCESS(w.status));
}

/* ---- contexts ---- */

TEST_WITH(client, queued_waits_hold_back_later_work)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 gate, done, other;
    struct memory commands, target;
    struct refgpu_builder b;
    UINT64 one = 1;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &target) ==
               STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &gate) == STATUS_SUCCESS &&
               gpu_create_fence(&g, &done) == STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_write(&b, target.va, 0x66, REFGPU_WRITE_64);
    TRY(c, gpu_wait(g.copy, gate.hSyncObject, 1) == STATUS_SUCCESS);
    SHOW(c, "KMT-324", gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_signal(g.copy, done.hSyncObject, 9) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-312", *(volatile uint64_t *)target.cpu == 0 && read_fence(&done) == 0);
    TRY(c, signal_cpu(&g, &gate.hSyncObject, &one, 1, 0) == STATUS_SUCCESS);
    TRY(c, gpu_wait_cpu(&g, done.hSyncObject, 9) == STATUS_SUCCESS);
    SHOW(c, "KMT-312", *(volatile uint64_t *)target.cpu == 0x66 && read_fence(&done) == 9);

    /* one context waits for the other */
    TRY(c, gpu_wait(g.render, done.hSyncObject, 20) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_MONITORED_FENCE, 0, 0, &other) == STATUS_SUCCESS);
    TRY(c, gpu_signal(g.render, other.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, gpu_signal(g.copy, done.hSyncObject, 20) == STATUS_SUCCESS);
    SHOW(c, "KMT-390", gpu_wait_cpu(&g, other.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, old_forms_take_old_objects)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore, fence, monitored;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal_one;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 signal_two;
    D3DKMT_HANDLE pair[2];
    UINT64 value = 5;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_SEMAPHORE, 0, 0, &semaphore) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_FENCE, 0, 0, &fence) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_MONITORED_FENCE, 0, 0, &monitored) == STATUS_SUCCESS);

    memset(&wait, 0, sizeof(wait));
    wait.hContext = g.copy;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = monitored.hSyncObject;
    SHOW(c, "KMT-372", D3DKMTWaitForSynchronizationObject2(&wait) == STATUS_INVALID_PARAMETER);
    wait.ObjectHandleArray[0] = semaphore.hSyncObject;
    TRY(c, D3DKMTWaitForSynchronizationObject2(&wait) == STATUS_SUCCESS);
    wait.ObjectHandleArray[0] = fence.hSyncObject;
    wait.Fence.FenceValue = 5;
    SHOW(c, "KMT-386", D3DKMTWaitForSynchronizationObject2(&wait) == STATUS_SUCCESS);
    wait.ObjectHandleArray[1] = semaphore.hSyncObject;
    wait.ObjectCount = 2;
    SHOW(c, "KMT-386", D3DKMTWaitForSynchronizationObject2(&wait) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_signal(g.copy, monitored.hSyncObject, 5) == STATUS_SUCCESS);

    memset(&signal_one, 0, sizeof(signal_one));
    signal_one.hContext = g.render;
    signal_one.ObjectCount = 1;
    signal_one.ObjectHandleArray[0] = fence.hSyncObject;
    SHOW(c, "KMT-368", D3DKMTSignalSynchronizationObject(&signal_one) == STATUS_INVALID_PARAMETER);
    signal_one.ObjectHandleArray[0] = semaphore.hSyncObject;
    signal_one.Flags.AllowFenceRewind = 1;
    SHOW(c, "KMT-368", D3DKMTSignalSynchronizationObject(&signal_one) == STATUS_INVALID_PARAMETER);
    signal_one.Flags.Value = 0;
    SHOW(c, "KMT-367", D3DKMTSignalSynchronizationObject(&signal_one) == STATUS_SUCCESS);

    memset(&signal, 0, sizeof(signal));
    signal.hContext = g.render;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray[0] = fence.hSyncObject;
    signal.Fence.FenceValue = 5;
    signal.BroadcastContextCount = 1;
    signal.BroadcastContext[0] = g.render;
    SHOW(c, "KMT-371",
         D3DKMTSignalSynchronizationObject2(&signal) ==
             STATUS_INVALID_PARAMETER); /* a context twice */
    signal.BroadcastContextCount = 65;
    SHOW(c, "KMT-371", D3DKMTSignalSynchronizationObject2(&signal) == STATUS_INVALID_PARAMETER);
    signal.BroadcastContextCount = 0;
    SHOW(c, "KMT-369", D3DKMTSignalSynchronizationObject2(&signal) == STATUS_SUCCESS);
    SHOW(c, "KMT-391", gpu_wait_cpu(&g, monitored.hSyncObject, 5) == STATUS_SUCCESS);

    /* two kinds in one list; a value array for a lone old fence */
    pair[0] = monitored.hSyncObject;
    pair[1] = semaphore.hSyncObject;
    memset(&signal_two, 0, sizeof(signal_two));
    signal_two.ObjectCount = 2;
    signal_two.ObjectHandleArray = pair;
    signal_two.BroadcastContextArray = &g.copy;
    SHOW(c, "KMT-380",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal_two) == STATUS_INVALID_PARAMETER);
    signal_two.BroadcastContextCount = 1;
    signal_two.MonitoredFenceValueArray = &value;
    SHOW(c, "KMT-381",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal_two) == STATUS_INVALID_PARAMETER);
    signal_two.ObjectCount = 1;
    signal_two.Reserved[3] = 1;
    SHOW(c, "KMT-382",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal_two) == STATUS_INVALID_PARAMETER);
    signal_two.Reserved[3] = 0;
    value = 6;
    SHOW(c, "KMT-379",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal_two) == STATUS_SUCCESS &&
             gpu_wait_cpu(&g, monitored.hSyncObject, 6) == STATUS_SUCCESS);
    TRY(c, gpu_signal(g.copy, fence.hSyncObject, 11) ==
               STATUS_SUCCESS); /* KMT-378: value from the array */
    TRY(c, D3DKMTWaitForSynchronizationObject2(
               (wait.ObjectCount = 1, wait.Fence.FenceValue = 11, &wait)) == STATUS_SUCCESS);
    SHOW(c, "KMT-378", gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* A mutex that a context owns keeps it alive. */
TEST_WITH(client, an_owner_cannot_be_destroyed)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 mutex;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_SYNCHRONIZATION_MUTEX, 0, 0, &mutex) == STATUS_SUCCESS);
    memset(&wait, 0, sizeof(wait));
    wait.hContext = g.copy;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = mutex.hSyncObject;
    TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_SUCCESS);
    SHOW(c, "KMT-159", gpu_destroy_context(g.copy) == STATUS_INVALID_PARAMETER);
    memset(&signal, 0, sizeof(signal));
    signal.hContext = g.copy;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray[0] = mutex.hSyncObject;
    SHOW(c, "KMT-160",
         D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS); /* it still works */
    SHOW(c, "KMT-159", gpu_destroy_context(g.copy) == STATUS_SUCCESS);
    wait.hContext = g.render;
    TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_SUCCESS);
    SHOW(c, "KMT-160", gpu_end(&g) == STATUS_SUCCESS); /* the device takes the owner along */
}

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

TEST_WITH(client, the_old_form_creates_mutexes_and_semaphores)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT old;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&old, 0, sizeof(old));
    old.hDevice = g.device;
    old.Info.Type = D3DDDI_FENCE;
    SHOW(c, "KMT-332", D3DKMTCreateSynchronizationObject(&old) == STATUS_INVALID_PARAMETER);
    old.Info.Type = D3DDDI_SEMAPHORE;
    old.Info.Semaphore.MaxCount = 0;
    SHOW(c, "KMT-343",
         D3DKMTCreateSynchronizationObject(&old) == STATUS_SUCCESS &&
             destroy(old.hSyncObject) == STATUS_SUCCESS);
    old.Info.Semaphore.MaxCount = 2;
    old.Info.Semaphore.InitialCount = 3;
    SHOW(c, "KMT-343", D3DKMTCreateSynchronizationObject(&old) == STATUS_INVALID_PARAMETER);
    old.Info.Semaphore.InitialCount = 2;
    SHOW(c, "KMT-331",
         D3DKMTCreateSynchronizationObject(&old) == STATUS_SUCCESS &&
             destroy(old.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-365", destroy(old.hSyncObject) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_monitored_fence_has_addresses)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-345",
         create(&g, D3DDDI_MONITORED_FENCE, 0, 5, &args) == STATUS_SUCCESS &&
             read_fence(&args) == 5 && args.Info.MonitoredFence.FenceValueGPUVirtualAddress != 0);
    SHOW(c, "KMT-337", args.Info.SharedHandle == 0);
    TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    SHOW(c, "KMT-348",
         create(&g, D3DDDI_MONITORED_FENCE, 0x80, 0, &args) == STATUS_SUCCESS &&
             args.Info.MonitoredFence.FenceValueGPUVirtualAddress == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_must_suit_the_type)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-333",
         create(&g, D3DDDI_FENCE, 0, 1, &args) == STATUS_SUCCESS && args.hSyncObject != 0);
    SHOW(c, "KMT-338", create(&g, D3DDDI_MONITORED_FENCE, 1, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-340", create(&g, D3DDDI_FENCE, 4, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-341", create(&g, D3DDDI_FENCE, 0x80, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-341",
         create(&g, D3DDDI_MONITORED_FENCE, 1u << 20, 0, &args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, an_object_needs_a_device_an_engine_and_an_event)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
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

/* A client with two monitored fences. */
struct two_fences {
    struct gpu g;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 a, b;
    D3DKMT_HANDLE handles[2];
};

static NTSTATUS two_fences_begin(struct two_fences *two)
{
    NTSTATUS status = gpu_begin(&two->g);

    if (NT_SUCCESS(status))
        status = create(&two->g, D3DDDI_MONITORED_FENCE, 0, 0, &two->a);
    if (NT_SUCCESS(status))
        status = create(&two->g, D3DDDI_MONITORED_FENCE, 0, 0, &two->b);
    two->handles[0] = two->a.hSyncObject;
    two->handles[1] = two->b.hSyncObject;
    return status;
}

TEST_WITH(client, a_signal_from_the_cpu_sets_all_fences_or_none)
{
    UINT64 values[2] = {3, 4};
    struct two_fences two;

    TRY(c, two_fences_begin(&two) == STATUS_SUCCESS);
    SHOW(c, "KMT-384",
         signal_cpu(&two.g, two.handles, values, 2, 0) == STATUS_SUCCESS &&
             read_fence(&two.a) == 3 && read_fence(&two.b) == 4);
    SHOW(c, "KMT-385",
         signal_cpu(&two.g, two.handles, values, 2, 0) == STATUS_SUCCESS); /* equal values */
    values[1] = 1;
    SHOW(c, "KMT-011",
         !NT_SUCCESS(signal_cpu(&two.g, two.handles, values, 2, 0)) && read_fence(&two.a) == 3 &&
             read_fence(&two.b) == 4);
    SHOW(c, "KMT-385",
         signal_cpu(&two.g, two.handles, values, 2, 4) == STATUS_SUCCESS &&
             read_fence(&two.b) == 1); /* AllowFenceRewind */
    SHOW(c, "KMT-385", signal_cpu(&two.g, two.handles, values, 2, 1) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&two.g) == STATUS_SUCCESS);
}

TEST_WITH(client, some_objects_are_not_for_the_cpu_to_signal)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 old, no_signal;
    UINT64 value = 3;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_FENCE, 0, 0, &old) == STATUS_SUCCESS);
    TRY(c, create(&g, D3DDDI_MONITORED_FENCE, 0x10, 0, &no_signal) == STATUS_SUCCESS);
    SHOW(c, "KMT-385", signal_cpu(&g, &old.hSyncObject, &value, 1, 0) == STATUS_INVALID_PARAMETER);
    TRY(c, signal_cpu(&g, &no_signal.hSyncObject, &value, 1, 0) == STATUS_ACCESS_DENIED);
    SHOW(c, "GPUVA-070",
         signal_cpu(&g, &g.queue_fence, &value, 1, 0) == STATUS_ACCESS_DENIED &&
             destroy(g.queue_fence) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_signal_names_one_to_thirty_two_different_objects)
{
    D3DKMT_HANDLE many[33];
    UINT64 values[33] = {3, 4};
    struct two_fences two;

    TRY(c, two_fences_begin(&two) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 33; i++)
        many[i] = two.handles[0];
    SHOW(c, "KMT-371", signal_cpu(&two.g, many, values, 33, 0) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371",
         signal_cpu(&two.g, many, values, 2, 0) == STATUS_INVALID_PARAMETER); /* a duplicate */
    SHOW(c, "KMT-371", signal_cpu(&two.g, many, values, 0, 0) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&two.g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_cpu_waits_for_one_fence_or_any)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 old;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;
    UINT64 values[2] = {3, 1000};
    struct two_fences two;

    TRY(c, two_fences_begin(&two) == STATUS_SUCCESS);
    TRY(c, create(&two.g, D3DDDI_FENCE, 0, 0, &old) == STATUS_SUCCESS);
    TRY(c, signal_cpu(&two.g, two.handles, values, 1, 0) == STATUS_SUCCESS);
    SHOW(c, "KMT-391", gpu_wait_cpu(&two.g, two.handles[0], 3) == STATUS_SUCCESS);
    memset(&wait, 0, sizeof(wait));
    wait.hDevice = two.g.device;
    wait.ObjectCount = 2;
    wait.ObjectHandleArray = two.handles;
    wait.FenceValueArray = values;
    wait.Flags.WaitAny = 1;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_SUCCESS);
    wait.Flags.Value = 2;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_PARAMETER);
    wait.Flags.Value = 0;
    wait.ObjectHandleArray = &old.hSyncObject;
    wait.ObjectCount = 1;
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_PARAMETER);
    wait.ObjectHandleArray = two.handles;
    wait.hDevice = two.handles[0];
    SHOW(c, "KMT-392", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_PARAMETER);
    wait.hDevice = two.g.device;
    wait.hAsyncEvent = (HANDLE)(uintptr_t)0x4444;
    SHOW(c, "KMT-393", D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_INVALID_HANDLE);
    TRY(c, gpu_end(&two.g) == STATUS_SUCCESS);
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

/* A thread waits for a new fence to be 7. */
static NTSTATUS waiter_begin(struct waiter *w, struct gpu *g)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    NTSTATUS status = gpu_create_fence(g, &fence);

    memset(w, 0, sizeof(*w));
    w->g = g;
    w->fence = fence.hSyncObject;
    if (NT_SUCCESS(status) && !dxgk_client_thread("waiter", wait_for_seven, w))
        status = STATUS_NO_MEMORY;
    dxgk_client_sleep(50000);
    return status;
}

TEST_WITH(client, a_wait_ends_by_a_signal)
{
    UINT64 seven = 7;
    struct waiter w;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, waiter_begin(&w, &g) == STATUS_SUCCESS);
    TRY(c, !w.done);
    SHOW(c, "KMT-019", signal_cpu(&g, &w.fence, &seven, 1, 0) == STATUS_SUCCESS);
    dxgk_client_sleep(1000);
    SHOW(c, "KMT-019", w.done && w.status == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_wait_ends_when_its_object_goes)
{
    struct waiter w;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, waiter_begin(&w, &g) == STATUS_SUCCESS);
    SHOW(c, "SUBMIT-145", !w.done && destroy(w.fence) == STATUS_SUCCESS);
    dxgk_client_sleep(1000);
    SHOW(c, "SUBMIT-145", w.done && w.status == STATUS_INVALID_HANDLE);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_wait_ends_when_its_device_goes)
{
    struct waiter w;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, waiter_begin(&w, &g) == STATUS_SUCCESS);
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

/* A client with an object of each kind, and arguments of the old calls for one object: the copy
 * context waits, the render context signals. */
struct old_forms {
    struct gpu g;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore, fence, monitored;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal_one;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal;
};

static NTSTATUS old_forms_begin(struct old_forms *o)
{
    NTSTATUS status;

    memset(o, 0, sizeof(*o));
    status = gpu_begin(&o->g);
    if (NT_SUCCESS(status))
        status = create(&o->g, D3DDDI_SEMAPHORE, 0, 0, &o->semaphore);
    if (NT_SUCCESS(status))
        status = create(&o->g, D3DDDI_FENCE, 0, 0, &o->fence);
    if (NT_SUCCESS(status))
        status = create(&o->g, D3DDDI_MONITORED_FENCE, 0, 0, &o->monitored);
    o->wait.hContext = o->g.copy;
    o->signal_one.hContext = o->signal.hContext = o->g.render;
    o->wait.ObjectCount = o->signal_one.ObjectCount = o->signal.ObjectCount = 1;
    o->wait.ObjectHandleArray[0] = o->signal_one.ObjectHandleArray[0] =
        o->signal.ObjectHandleArray[0] = o->fence.hSyncObject;
    o->wait.Fence.FenceValue = o->signal.Fence.FenceValue = 5;
    return status;
}

TEST_WITH(client, an_old_wait_takes_old_objects_of_one_kind)
{
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    o.wait.ObjectHandleArray[0] = o.monitored.hSyncObject;
    SHOW(c, "KMT-372", D3DKMTWaitForSynchronizationObject2(&o.wait) == STATUS_INVALID_PARAMETER);
    o.wait.ObjectHandleArray[0] = o.fence.hSyncObject;
    o.wait.ObjectHandleArray[1] = o.semaphore.hSyncObject;
    o.wait.ObjectCount = 2;
    SHOW(c, "KMT-386", D3DKMTWaitForSynchronizationObject2(&o.wait) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_oldest_signal_takes_no_fence_and_no_flag)
{
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    SHOW(c, "KMT-368", D3DKMTSignalSynchronizationObject(&o.signal_one) == STATUS_INVALID_PARAMETER);
    o.signal_one.ObjectHandleArray[0] = o.semaphore.hSyncObject;
    o.signal_one.Flags.AllowFenceRewind = 1;
    SHOW(c, "KMT-368", D3DKMTSignalSynchronizationObject(&o.signal_one) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_broadcast_names_different_contexts)
{
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    o.signal.BroadcastContextCount = 1;
    o.signal.BroadcastContext[0] = o.g.render;
    SHOW(c, "KMT-371",
         D3DKMTSignalSynchronizationObject2(&o.signal) ==
             STATUS_INVALID_PARAMETER); /* a context twice */
    o.signal.BroadcastContextCount = 65;
    SHOW(c, "KMT-371", D3DKMTSignalSynchronizationObject2(&o.signal) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
}

/* The copy context waits for both old objects, then signals the monitored fence. */
TEST_WITH(client, old_signals_end_old_waits)
{
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    o.wait.ObjectHandleArray[0] = o.semaphore.hSyncObject;
    TRY(c, D3DKMTWaitForSynchronizationObject2(&o.wait) == STATUS_SUCCESS);
    o.wait.ObjectHandleArray[0] = o.fence.hSyncObject;
    SHOW(c, "KMT-386", D3DKMTWaitForSynchronizationObject2(&o.wait) == STATUS_SUCCESS);
    TRY(c, gpu_signal(o.g.copy, o.monitored.hSyncObject, 5) == STATUS_SUCCESS);
    o.signal_one.ObjectHandleArray[0] = o.semaphore.hSyncObject;
    SHOW(c, "KMT-367", D3DKMTSignalSynchronizationObject(&o.signal_one) == STATUS_SUCCESS);
    SHOW(c, "KMT-369", D3DKMTSignalSynchronizationObject2(&o.signal) == STATUS_SUCCESS);
    SHOW(c, "KMT-391", gpu_wait_cpu(&o.g, o.monitored.hSyncObject, 5) == STATUS_SUCCESS);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_newest_signal_checks_its_arrays)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 signal;
    D3DKMT_HANDLE pair[2], same[D3DDDI_MAX_BROADCAST_CONTEXT + 1] = {0};
    struct dxgk_refusal refusal;
    UINT64 value = 5;
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    pair[0] = o.monitored.hSyncObject;
    pair[1] = o.semaphore.hSyncObject;
    memset(&signal, 0, sizeof(signal));
    signal.ObjectCount = 2;
    signal.ObjectHandleArray = pair;
    signal.BroadcastContextArray = &o.g.copy;
    SHOW(c, "KMT-380",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < D3DDDI_MAX_BROADCAST_CONTEXT; i++)
        same[i] = o.g.copy;
    signal.ObjectCount = 1;
    signal.MonitoredFenceValueArray = &value;
    signal.BroadcastContextArray = same;
    signal.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT + 1;
    SHOW(c, "KMT-380",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_INVALID_PARAMETER);
    signal.BroadcastContextCount = D3DDDI_MAX_BROADCAST_CONTEXT;
    SHOW(c, "KMT-380", /* so many may be: it is one of them that comes twice */
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_INVALID_PARAMETER &&
             dxgk_client_last_refusal(&refusal) && strstr(refusal.reason, "twice"));
    signal.ObjectCount = 2;
    signal.BroadcastContextArray = &o.g.copy;
    signal.BroadcastContextCount = 1;
    SHOW(c, "KMT-381",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_INVALID_PARAMETER);
    signal.ObjectCount = 1;
    signal.Reserved[3] = 1;
    SHOW(c, "KMT-382",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_INVALID_PARAMETER);
    signal.Reserved[3] = 0;
    value = 6;
    SHOW(c, "KMT-379",
         D3DKMTSignalSynchronizationObjectFromGpu2(&signal) == STATUS_SUCCESS &&
             gpu_wait_cpu(&o.g, o.monitored.hSyncObject, 6) == STATUS_SUCCESS);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_lone_old_fence_takes_its_value_from_the_array)
{
    struct old_forms o;

    TRY(c, old_forms_begin(&o) == STATUS_SUCCESS);
    TRY(c, gpu_signal(o.g.copy, o.fence.hSyncObject, 11) == STATUS_SUCCESS);
    o.wait.Fence.FenceValue = 11;
    TRY(c, D3DKMTWaitForSynchronizationObject2(&o.wait) == STATUS_SUCCESS);
    SHOW(c, "KMT-378", gpu_wait_idle(&o.g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&o.g) == STATUS_SUCCESS);
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

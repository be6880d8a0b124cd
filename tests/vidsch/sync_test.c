/* SPDX-License-Identifier: MIT */
/* Synchronization objects: what may be created, and who waits how long for what. */
#include "support/fixture.h"

#include <string.h>

static void idle(struct vidsch_device *device)
{
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
}

static NTSTATUS try_create(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info)
{
    struct vidsch_sync *sync = NULL;
    NTSTATUS status = vidsch_sync_create(device, &info, &sync);

    if (NT_SUCCESS(status)) {
        CHECK(vidsch_sync_type(sync) == info.Type && vidsch_sync_device(sync) == device);
        vidsch_sync_destroy(sync);
    }
    return status;
}

static NTSTATUS try_flags(struct vidsch_device *device, int type, UINT flags)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = (D3DDDI_SYNCHRONIZATIONOBJECT_TYPE)type,
                                              .Flags.Value = flags};

    if (type == D3DDDI_SEMAPHORE)
        info.Semaphore.MaxCount = 1;
    return try_create(device, info);
}

static struct vidsch_sync *make(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info)
{
    struct vidsch_sync *sync = NULL;

    CHECK(vidsch_sync_create(device, &info, &sync) == STATUS_SUCCESS);
    return sync;
}

/* ---- creation ---- */

enum {
    SHARED = 1,
    NT_SHARING = 2,
    CROSS = 4,
    TOP = 8,
    NO_SIGNAL = 16,
    NO_WAIT = 32,
    NO_MAX = 64,
    NO_GPU = 128,
    BY_KMD = 256
};

static void types_and_flags_are_checked(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);

    for (int type = 1; type <= 5; type++)
        CHECK_RULE("SUBMIT-126", try_flags(device, type, 0) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-126", try_flags(device, 0, 0) == STATUS_INVALID_PARAMETER &&
                                 try_flags(device, 7, 0) == STATUS_INVALID_PARAMETER &&
                                 try_flags(device, D3DDDI_PERIODIC_MONITORED_FENCE, 0) ==
                                     STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-127",
               try_flags(device, D3DDDI_FENCE, NT_SHARING) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_FENCE, SHARED | NT_SHARING) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-127",
               try_flags(device, D3DDDI_FENCE, TOP) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_SEMAPHORE, NO_SIGNAL) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_FENCE, NO_WAIT) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_MONITORED_FENCE, TOP) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-127", try_flags(device, D3DDDI_MONITORED_FENCE, NO_SIGNAL | NO_WAIT) ==
                                 STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-127",
               try_flags(device, D3DDDI_MONITORED_FENCE, BY_KMD) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-355",
               try_flags(device, D3DDDI_CPU_NOTIFICATION, BY_KMD) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("KMT-338",
               try_flags(device, D3DDDI_MONITORED_FENCE, SHARED) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_MONITORED_FENCE, SHARED | NT_SHARING) == STATUS_SUCCESS);
    CHECK_RULE("KMT-341",
               try_flags(device, D3DDDI_FENCE, NO_MAX) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_FENCE, NO_GPU) == STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_MONITORED_FENCE, 0x80000000u) ==
                       STATUS_INVALID_PARAMETER &&
                   try_flags(device, D3DDDI_MONITORED_FENCE, 0x400) == STATUS_INVALID_PARAMETER);
    CHECK(try_flags(device, D3DDDI_FENCE, CROSS | SHARED) == STATUS_INVALID_PARAMETER &&
          try_flags(device, D3DDDI_SEMAPHORE, CROSS | SHARED | NT_SHARING) ==
              STATUS_INVALID_PARAMETER &&
          try_flags(device, D3DDDI_FENCE, CROSS | SHARED | NT_SHARING) == STATUS_SUCCESS);
    CHECK_RULE("KMT-343",
               try_create(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE}) ==
                       STATUS_INVALID_PARAMETER &&
                   try_create(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE,
                                                                          .Semaphore = {1, 2}}) ==
                       STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-350",
               try_create(device,
                          (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE,
                                                              .MonitoredFence.EngineAffinity = 2}) ==
                   STATUS_INVALID_PARAMETER);
    vidsch_device_destroy(device);
}

static void monitored_fence_addresses(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE,
                                              .MonitoredFence.InitialFenceValue = 41};
    struct vidsch_sync *fence;

    CHECK(vidsch_sync_create(device, &info, &fence) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-135", (uintptr_t)info.MonitoredFence.FenceValueCPUVirtualAddress % 8 == 0 &&
                                 *(uint64_t *)info.MonitoredFence.FenceValueCPUVirtualAddress == 41);
    CHECK_RULE("KMT-345", info.MonitoredFence.FenceValueGPUVirtualAddress == fence->slot.va.value);
    CHECK_RULE("SUBMIT-138",
               signal_cpu(fence, 42) == STATUS_SUCCESS &&
                   *(uint64_t *)info.MonitoredFence.FenceValueCPUVirtualAddress == 42 &&
                   vidsch_sync_value(fence) == 42);
    vidsch_sync_destroy(fence);
    info.Flags.NoGPUAccess = 1;
    CHECK(vidsch_sync_create(device, &info, &fence) == STATUS_SUCCESS);
    CHECK_RULE("KMT-348", info.MonitoredFence.FenceValueGPUVirtualAddress == 0);
    vidsch_sync_destroy(fence);
    vidsch_device_destroy(device);
}

/* ---- queued waits and signals ---- */

static void a_wait_holds_its_context_only(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    CHECK_RULE("SUBMIT-128",
               wait_gpu(a, fence, 5) == STATUS_SUCCESS && submit(a, 0x1000, 16) == STATUS_SUCCESS);
    submit(b, 0x2000, 16);
    pass(10 * SECOND);
    CHECK_RULE("SUBMIT-144",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 &&
                   call_at(f, CALL_SUBMIT_VIRTUAL, 0)->submit_virtual.args.DmaBufferVirtualAddress ==
                       0x2000 &&
                   calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET_ENGINE) == 0 &&
                   f->vidsch->node[1].count == 0);
    CHECK(vidsch_validate(f->vidsch));
    signal_cpu(fence, 4);
    pass(MS);
    CHECK_RULE("SUBMIT-128", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    signal_cpu(fence, 6);
    idle(device);
    CHECK_RULE("SUBMIT-135", calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    vidsch_device_destroy(device);
}

static void a_signal_waits_for_what_is_before_it(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    signal_gpu(context, fence, 1);
    submit(context, 0x2000, 16);
    signal_gpu(context, fence, 2);
    pass(MS);
    CHECK_RULE("KMT-383", vidsch_sync_value(fence) == 0);
    CHECK(f->vidsch->node[1].count == 2 &&
          vidsch_validate(f->vidsch)); /* signals do not hold up packets */
    f->driver.engine[1].count = 0;
    driver_complete(f, 1, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-017", vidsch_sync_value(fence) == 1);
    driver_complete(f, 1, 2);
    idle(device);
    CHECK_RULE("KMT-383", vidsch_sync_value(fence) == 2);
    vidsch_device_destroy(device);
}

static void signals_at_submission(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    struct vidsch_sync *top = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE,
                                                    .Flags.TopOfPipeline = 1});
    UINT64 value = 1;

    f->driver.engine[1].hang = true;
    for (int i = 0; i < 2; i++)
        submit(context, 0x1000, 16);
    submit(context, 0x2000, 16); /* does not fit on the node yet */
    CHECK(vidsch_sync_signal_gpu(&context, 1, &fence, &value, 1,
                                 (D3DDDICB_SIGNALFLAGS){.SignalAtSubmission = 1}) == STATUS_SUCCESS);
    signal_gpu(context, top, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-130", vidsch_sync_value(fence) == 0);
    f->driver.engine[1].count = 0;
    driver_complete(f, 1, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-130",
               vidsch_sync_value(fence) == 1 && f->vidsch->node[1].last_completed == 1);
    CHECK_RULE("SUBMIT-143", vidsch_sync_value(top) == 1 && f->vidsch->node[1].last_completed == 1);
    driver_complete(f, 1, 3);
    idle(device);
    vidsch_device_destroy(device);
}

static void broadcast_signals_wait_for_all(struct fixture *f)
{
    struct vidsch_device *device = make_device(f), *other = make_device(f);
    struct vidsch_context *c[2] = {make_context(device, 1), make_context(device, 2)};
    struct vidsch_context *mixed[2] = {c[0], make_context(other, 1)}, *same[2] = {c[0], c[0]};
    struct vidsch_sync *fence = make_fence(device, 0);
    D3DDDICB_SIGNALFLAGS none = {.Value = 0};
    UINT64 value = 7;

    f->driver.engine[1].hang = true;
    submit(c[0], 0x1000, 16);
    submit(c[1], 0x1000, 16);
    CHECK_RULE("SUBMIT-129",
               vidsch_sync_signal_gpu(c, 2, &fence, &value, 1, none) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("SUBMIT-129",
               f->vidsch->node[2].last_completed == 1 && vidsch_sync_value(fence) == 0);
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("SUBMIT-129", vidsch_sync_value(fence) == 7);
    CHECK_RULE("KMT-370", vidsch_sync_signal_gpu(mixed, 2, &fence, &value, 1, none) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-371", vidsch_sync_signal_gpu(same, 2, &fence, &value, 1, none) ==
                                  STATUS_INVALID_PARAMETER &&
                              vidsch_sync_signal_gpu(c, 66, &fence, &value, 1, none) ==
                                  STATUS_INVALID_PARAMETER);
    vidsch_device_destroy(other);
    vidsch_device_destroy(device);
}

static void counts_are_limited(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *list[33];
    UINT64 values[33];

    for (int i = 0; i < 33; i++) {
        list[i] = make_fence(device, 0);
        values[i] = 1;
    }
    CHECK_RULE(
        "KMT-371",
        vidsch_sync_signal_gpu(&context, 1, list, values, 33, (D3DDDICB_SIGNALFLAGS){.Value = 0}) ==
                STATUS_INVALID_PARAMETER &&
            vidsch_sync_signal_gpu(&context, 1, list, values, 0,
                                   (D3DDDICB_SIGNALFLAGS){.Value = 0}) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-128",
               vidsch_sync_wait_gpu(context, list, values, 33) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-128", vidsch_sync_wait_gpu(context, list, values, 32) == STATUS_SUCCESS);
    submit(context, 0x1000, 16);
    for (int i = 0; i < 32; i++) {
        CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
        CHECK(signal_cpu(list[i], 1) == STATUS_SUCCESS);
        pass(MS);
    }
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    CHECK_RULE("SUBMIT-129",
               vidsch_sync_signal_gpu(&context, 1, list, values, 32,
                                      (D3DDDICB_SIGNALFLAGS){.Value = 0}) == STATUS_SUCCESS);
    list[1] = list[0];
    CHECK_RULE("KMT-371", vidsch_sync_signal_gpu(&context, 1, list, values, 2,
                                                 (D3DDDICB_SIGNALFLAGS){.Value = 0}) ==
                              STATUS_INVALID_PARAMETER);
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- values ---- */

static void values_do_not_fall_by_accident(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 5);
    D3DDDICB_SIGNALFLAGS rewind = {.AllowFenceRewind = 1};
    UINT64 value = 3;

    CHECK_RULE("SUBMIT-139", signal_cpu(fence, 4) == STATUS_INVALID_PARAMETER &&
                                 signal_gpu(context, fence, 4) == STATUS_INVALID_PARAMETER &&
                                 vidsch_sync_value(fence) == 5);
    CHECK_RULE("KMT-385", signal_cpu(fence, 5) == STATUS_SUCCESS);
    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    CHECK(signal_gpu(context, fence, 10) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-139", signal_gpu(context, fence, 9) == STATUS_INVALID_PARAMETER &&
                                 signal_cpu(fence, 9) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-139", vidsch_sync_signal_cpu(&fence, &value, 1, rewind) == STATUS_SUCCESS &&
                                 vidsch_sync_value(fence) == 3);
    driver_run(f, 1);
    idle(device);
    CHECK(vidsch_sync_value(fence) == 10);
    value = 2;
    CHECK_RULE("SUBMIT-139",
               vidsch_sync_signal_gpu(&context, 1, &fence, &value, 1, rewind) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("SUBMIT-139", vidsch_sync_value(fence) == 2);
    vidsch_device_destroy(device);
}

static void a_smaller_queued_value_is_not_written(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    signal_gpu(context, fence, 5);
    pass(MS);
    *fence->slot.kernel = 50; /* the GPU wrote it meanwhile */
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("KMT-383", vidsch_sync_value(fence) == 50);
    vidsch_device_destroy(device);
}

static void rights_of_the_handle(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *no_signal = make(
        device,
        (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE, .Flags.NoSignal = 1});
    struct vidsch_sync *no_wait = make(
        device,
        (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE, .Flags.NoWait = 1});

    CHECK_RULE("SUBMIT-140", signal_cpu(no_signal, 1) == STATUS_ACCESS_DENIED &&
                                 signal_gpu(context, no_signal, 1) == STATUS_ACCESS_DENIED);
    CHECK_RULE("SUBMIT-140", wait_gpu(context, no_wait, 1) == STATUS_ACCESS_DENIED &&
                                 wait_cpu(no_wait, 1) == STATUS_ACCESS_DENIED);
    CHECK(wait_cpu(no_signal, 0) == STATUS_SUCCESS && signal_cpu(no_wait, 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

static void narrow_fences(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 10);
    struct vidsch_sync *wide = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE,
                                                    .Flags.NoGPUAccess = 1});

    CHECK_RULE("SUBMIT-141",
               signal_cpu(fence, 11ull + UINT32_MAX / 2) == STATUS_INVALID_PARAMETER &&
                   wait_gpu(context, fence, 11ull + UINT32_MAX / 2) == STATUS_INVALID_PARAMETER &&
                   signal_cpu(fence, 10ull + UINT32_MAX / 2) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-142", signal_cpu(wide, UINT64_MAX - 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

/* ---- fences that the GPU writes ---- */

static void fences_are_read_again(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {
        .InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED};

    wait_gpu(a, fence, 5);
    submit(a, 0x1000, 16);
    *fence->slot.kernel = 5; /* by the GPU, behind our back */
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    submit(b, 0x2000, 16);
    idle(device);
    CHECK_RULE("SUBMIT-136",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 &&
                   call_at(f, CALL_SUBMIT_VIRTUAL, 1)->submit_virtual.args.DmaBufferVirtualAddress ==
                       0x1000);
    wait_gpu(a, fence, 9);
    submit(a, 0x3000, 16);
    *fence->slot.kernel = 9;
    data.MonitoredFenceSignaled.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    idle(device);
    CHECK_RULE("SUBMIT-083", calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    vidsch_device_destroy(device);
}

static void progress_of_a_paging_queue(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    wait_gpu(context, fence, 3);
    submit(context, 0x1000, 16);
    vidsch_sync_progress(fence, 2);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 0 && vidsch_sync_value(fence) == 2);
    vidsch_sync_progress(fence, 3);
    idle(device);
    CHECK_RULE("SUBMIT-103", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 && vidsch_sync_value(fence) == 3);
    vidsch_sync_progress(fence, 1);
    CHECK_RULE("GPUVA-067", vidsch_sync_value(fence) == 3);
    vidsch_device_destroy(device);
}

/* ---- CPU waits ---- */

struct waiter {
    struct vidsch_sync *list[2];
    UINT64 values[2];
    bool any;
    NTSTATUS status;
    bool done;
};

static void wait_thread(void *arg)
{
    struct waiter *w = arg;

    w->status = vidsch_sync_wait_cpu(w->list, w->values, 2, w->any, SIM_FOREVER);
    w->done = true;
}

static void cpu_waits(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_sync *a = make_fence(device, 0), *b = make_fence(device, 0);
    struct waiter all = {.list = {a, b}, .values = {1, 1}},
                  any = {.list = {a, b}, .values = {2, 2}, .any = true};
    struct sim_thread *threads[2] = {spawn(f, wait_thread, &all), spawn(f, wait_thread, &any)};
    UINT64 value = 9;

    pass(MS);
    signal_cpu(a, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-137", !all.done && !any.done);
    signal_cpu(b, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-137", all.done && all.status == STATUS_SUCCESS && !any.done);
    signal_cpu(b, 2);
    join(threads[0]);
    join(threads[1]);
    CHECK_RULE("SUBMIT-137", any.done && any.status == STATUS_SUCCESS);
    CHECK_RULE("KMT-392", wait_cpu(a, 1) == STATUS_SUCCESS);
    CHECK(vidsch_sync_wait_cpu(&a, &value, 1, false, sim_now() + MS) == STATUS_TIMEOUT);
    CHECK(list_empty(&a->waiters) && list_empty(&f->vidsch->cpu_waits));
    vidsch_device_destroy(device);
}

static void cpu_waits_for_what_the_gpu_signals(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    for (UINT64 i = 1; i <= 20; i++) {
        submit(context, 0x1000, 16);
        signal_gpu(context, fence, i);
    }
    CHECK(wait_cpu(fence, 20) == STATUS_SUCCESS && f->vidsch->node[1].last_completed == 20);
    vidsch_device_destroy(device);
}

static void destroy_soon(void *arg)
{
    pass(MS);
    vidsch_sync_destroy(arg);
}

static void destruction_ends_cpu_waits_and_keeps_queued_ones(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0), *other = make_fence(device, 0);
    struct sim_thread *thread = spawn(f, destroy_soon, fence);

    CHECK_RULE("SUBMIT-145", wait_cpu(fence, 1) == STATUS_INVALID_HANDLE);
    join(thread);
    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    signal_gpu(context, other, 1);
    wait_gpu(context, other, 1);
    submit(context, 0x2000, 16);
    vidsch_sync_destroy(other);
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("SUBMIT-145", calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    vidsch_device_destroy(device);
}

static NTSTATUS notified_status;
static int notified;

static void on_notify(void *context, NTSTATUS status)
{
    (void)context;
    notified_status = status;
    notified++;
}

static void on_signal(void *context)
{
    (*(int *)context)++;
}

static void notifications(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *c[2] = {make_context(device, 1), make_context(device, 1)};
    struct vidsch_sync *fence = make_fence(device, 0),
                       *event = make(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){
                                                 .Type = D3DDDI_CPU_NOTIFICATION});
    UINT64 value = 3;
    int signals = 0;

    notified = 0;
    CHECK(vidsch_sync_wait_async(&fence, &value, 1, false, on_notify, NULL) == STATUS_SUCCESS &&
          notified == 0);
    signal_cpu(fence, 3);
    CHECK_RULE("SUBMIT-137", notified == 1 && notified_status == STATUS_SUCCESS);
    CHECK_RULE("KMT-392", vidsch_sync_wait_async(&fence, &value, 1, false, on_notify, NULL) ==
                                  STATUS_SUCCESS &&
                              notified == 2);
    f->driver.engine[1].hang = true;
    submit(c[0], 0x1000, 16);
    CHECK(vidsch_sync_enqueue_event(c, 2, on_notify, NULL) == STATUS_SUCCESS);
    pass(MS);
    CHECK(notified == 2);
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("SUBMIT-131", notified == 3 && notified_status == STATUS_SUCCESS);
    vidsch_sync_on_signal(event, on_signal, &signals);
    CHECK(signal_gpu(c[0], event, 0) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("KMT-351", signals == 1);
    CHECK_RULE("KMT-352", wait_gpu(c[0], event, 0) == STATUS_INVALID_PARAMETER);
    wait_gpu(c[0], fence, 100);
    vidsch_sync_enqueue_event(c, 2, on_notify, NULL);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    idle(device);
    CHECK_RULE("KMT-376", notified == 4 && notified_status == STATUS_DEVICE_REMOVED);
    vidsch_device_destroy(device);
}

/* ---- older types ---- */

static void d3dddi_fence(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_FENCE, .Fence.FenceValue = 4});
    struct vidsch_sync *two[2] = {fence, make_fence(device, 0)};
    UINT64 values[2] = {5, 5};

    CHECK_RULE("KMT-344", vidsch_sync_value(fence) == 4);
    CHECK_RULE("SUBMIT-132",
               vidsch_sync_signal_gpu(&a, 1, two, values, 2, (D3DDDICB_SIGNALFLAGS){.Value = 0}) ==
                   STATUS_INVALID_PARAMETER);
    wait_gpu(a, fence, 5);
    submit(a, 0x1000, 16);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    signal_gpu(b, fence, 6);
    idle(device);
    CHECK_RULE("SUBMIT-133", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    signal_gpu(b, fence, 2);
    idle(device);
    CHECK_RULE("SUBMIT-133", vidsch_sync_value(fence) == 6);
    CHECK_RULE("KMT-385", signal_cpu(fence, 7) == STATUS_INVALID_PARAMETER);
    vidsch_device_destroy(device);
}

static void semaphores_count(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1),
                          *c = make_context(device, 1);
    struct vidsch_sync *semaphore = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE, .Semaphore = {2, 1}});

    wait_gpu(a, semaphore, 0);
    submit(a, 0x1, 16);
    wait_gpu(b, semaphore, 0);
    submit(b, 0x2, 16);
    wait_gpu(c, semaphore, 0);
    submit(c, 0x3, 16);
    pass(MS);
    CHECK_RULE("SUBMIT-134", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    signal_gpu(a, semaphore, 0);
    pass(MS);
    CHECK_RULE(
        "KMT-389",
        calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 &&
            call_at(f, CALL_SUBMIT_VIRTUAL, 1)->submit_virtual.args.DmaBufferVirtualAddress == 0x2);
    for (int i = 0; i < 4; i++)
        signal_gpu(a, semaphore, 0);
    idle(device);
    CHECK_RULE("SUBMIT-134", calls_of(f, CALL_SUBMIT_VIRTUAL) == 3 && semaphore->count == 2 &&
                                 violations(f, "SUBMIT-134") == 1);
    vidsch_device_destroy(device);
}

static void mutexes_have_owners(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *mutex = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX,
                                                    .SynchronizationMutex.InitialState = 1});

    wait_gpu(a, mutex, 0);
    submit(a, 0x1, 16);
    pass(MS);
    CHECK_RULE("SUBMIT-134", calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    signal_gpu(b, mutex, 0); /* owned at start: once by anybody */
    idle(device);
    CHECK_RULE("KMT-388", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 && vidsch_context_owns_mutex(a));
    signal_gpu(b, mutex, 0);
    idle(device);
    CHECK_RULE("KMT-388", violations(f, "KMT-388") == 1 && vidsch_context_owns_mutex(a));
    wait_gpu(b, mutex, 0);
    submit(b, 0x2, 16);
    wait_gpu(a, mutex, 0); /* by the owner: blocks, too */
    submit(a, 0x3, 16);
    pass(MS);
    CHECK_RULE("KMT-388", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 && a->state == CONTEXT_BLOCKED);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    idle(device);
    vidsch_device_destroy(device);
}

static void a_destroyed_mutex_is_free(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *mutex = make(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX});

    wait_gpu(a, mutex, 0);
    wait_gpu(b, mutex, 0);
    submit(b, 0x1, 16);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    vidsch_sync_destroy(mutex);
    idle(device);
    CHECK_RULE("KMT-366", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    CHECK(!vidsch_context_owns_mutex(a));
    vidsch_device_destroy(device);
}

static void a_wait_takes_all_or_nothing(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *both[2] = {
        make(device,
             (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE, .Semaphore = {1, 1}}),
        make(device,
             (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE, .Semaphore = {1, 0}})};

    CHECK(vidsch_sync_wait_gpu(a, both, NULL, 2) == STATUS_SUCCESS);
    submit(a, 0x1, 16);
    pass(MS);
    CHECK_RULE("KMT-387", both[0]->count == 1 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    wait_gpu(b, both[0], 0); /* passes the earlier one, which needs more */
    submit(b, 0x2, 16);
    pass(MS);
    CHECK_RULE("KMT-389", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1);
    signal_gpu(b, both[1], 0);
    signal_gpu(b, both[0], 0);
    idle(device);
    CHECK_RULE("KMT-387",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 && both[0]->count == 0 && both[1]->count == 0);
    vidsch_device_destroy(device);
}

/* A chain of contexts, each of which waits for the one before and signals the next. */
static void long_chains_do_not_recurse(struct fixture *f)
{
    enum { LENGTH = 2000 };
    struct vidsch_device *device = make_device(f);
    struct vidsch_sync *fence = make_fence(device, 0);
    static struct vidsch_context *contexts[64];

    for (int i = 0; i < 64; i++)
        contexts[i] = make_context(device, 1);
    for (UINT64 i = LENGTH; i > 0; i--)
        CHECK(wait_gpu(contexts[i % 64], fence, 1) == STATUS_SUCCESS);
    for (UINT64 i = 0; i < 64; i++)
        CHECK(signal_gpu(contexts[i], fence, 2 + i) == STATUS_SUCCESS);
    signal_cpu(fence, 65);
    idle(device);
    CHECK(vidsch_sync_value(fence) == 65 && vidsch_validate(f->vidsch));
    vidsch_device_destroy(device);
}

static void waits_and_signals_of_a_lost_device_are_dropped(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    struct waiter w = {.list = {fence, make_fence(device, 0)}, .values = {1, 1}};
    struct sim_thread *thread = spawn(f, wait_thread, &w);

    wait_gpu(context, fence, 5);
    submit(context, 0x1000, 16);
    signal_gpu(context, fence, 9);
    pass(MS);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    join(thread);
    CHECK_RULE("TDR-060", w.status == STATUS_DEVICE_REMOVED);
    idle(device);
    CHECK_RULE("TDR-060", calls_of(f, CALL_SUBMIT_VIRTUAL) == 0 && vidsch_sync_value(fence) == 0 &&
                              list_empty(&fence->waiters));
    CHECK(wait_gpu(context, fence, 1) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE &&
          wait_cpu(fence, 1) == STATUS_DEVICE_REMOVED);
    vidsch_device_destroy(device);
}

#define TEST(name, ...)                                              \
    static void test_##name(void **state)                            \
    {                                                                \
        (void)state;                                                 \
        fixture_check(&(struct fixture_options){__VA_ARGS__}, name); \
    }

TEST(types_and_flags_are_checked, 0)
TEST(monitored_fence_addresses, 0)
TEST(a_wait_holds_its_context_only, 0)
TEST(a_signal_waits_for_what_is_before_it, 0)
TEST(signals_at_submission, 0)
TEST(broadcast_signals_wait_for_all, .nodes = 3, .virtual_mask = 6)
TEST(counts_are_limited, 0)
TEST(values_do_not_fall_by_accident, 0)
TEST(a_smaller_queued_value_is_not_written, 0)
TEST(rights_of_the_handle, 0)
TEST(narrow_fences, .no_64bit_atomics = true)
TEST(fences_are_read_again, 0)
TEST(progress_of_a_paging_queue, 0)
TEST(cpu_waits, 0)
TEST(cpu_waits_for_what_the_gpu_signals, 0)
TEST(destruction_ends_cpu_waits_and_keeps_queued_ones, 0)
TEST(notifications, 0)
TEST(d3dddi_fence, 0)
TEST(semaphores_count, 0)
TEST(mutexes_have_owners, 0)
TEST(a_destroyed_mutex_is_free, 0)
TEST(a_wait_takes_all_or_nothing, 0)
TEST(long_chains_do_not_recurse, 0)
TEST(waits_and_signals_of_a_lost_device_are_dropped, 0)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_and_flags_are_checked),
        cmocka_unit_test(test_monitored_fence_addresses),
        cmocka_unit_test(test_a_wait_holds_its_context_only),
        cmocka_unit_test(test_a_signal_waits_for_what_is_before_it),
        cmocka_unit_test(test_signals_at_submission),
        cmocka_unit_test(test_broadcast_signals_wait_for_all),
        cmocka_unit_test(test_counts_are_limited),
        cmocka_unit_test(test_values_do_not_fall_by_accident),
        cmocka_unit_test(test_a_smaller_queued_value_is_not_written),
        cmocka_unit_test(test_rights_of_the_handle),
        cmocka_unit_test(test_narrow_fences),
        cmocka_unit_test(test_fences_are_read_again),
        cmocka_unit_test(test_progress_of_a_paging_queue),
        cmocka_unit_test(test_cpu_waits),
        cmocka_unit_test(test_cpu_waits_for_what_the_gpu_signals),
        cmocka_unit_test(test_destruction_ends_cpu_waits_and_keeps_queued_ones),
        cmocka_unit_test(test_notifications),
        cmocka_unit_test(test_d3dddi_fence),
        cmocka_unit_test(test_semaphores_count),
        cmocka_unit_test(test_mutexes_have_owners),
        cmocka_unit_test(test_a_destroyed_mutex_is_free),
        cmocka_unit_test(test_a_wait_takes_all_or_nothing),
        cmocka_unit_test(test_long_chains_do_not_recurse),
        cmocka_unit_test(test_waits_and_signals_of_a_lost_device_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Synchronization objects: what may be created, and who waits how long for what. */
#include "vidsch/support/fixture.h"

#include <string.h>

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

TEST_WITH(fixture, types_and_flags_are_checked)
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
                       STATUS_SUCCESS &&
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

TEST_WITH(fixture, monitored_fence_addresses)
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

TEST_WITH(fixture, a_wait_holds_its_context_only)
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

TEST_WITH(fixture, a_signal_waits_for_what_is_before_it)
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

TEST_WITH(fixture, signals_at_submission)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    struct vidsch_sync *top = make_sync(
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

TEST_WITH(fixture, broadcast_signals_wait_for_all, .nodes = 3, .virtual_mask = 6)
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

TEST_WITH(fixture, counts_are_limited)
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

TEST_WITH(fixture, values_do_not_fall_by_accident)
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

TEST_WITH(fixture, a_smaller_queued_value_is_not_written)
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

TEST_WITH(fixture, rights_of_the_handle)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *no_signal = make_sync(
        device,
        (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE, .Flags.NoSignal = 1});
    struct vidsch_sync *no_wait = make_sync(
        device,
        (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE, .Flags.NoWait = 1});

    CHECK_RULE("SUBMIT-140", signal_cpu(no_signal, 1) == STATUS_ACCESS_DENIED &&
                                 signal_gpu(context, no_signal, 1) == STATUS_ACCESS_DENIED);
    CHECK_RULE("SUBMIT-140", wait_gpu(context, no_wait, 1) == STATUS_ACCESS_DENIED &&
                                 wait_cpu(no_wait, 1) == STATUS_ACCESS_DENIED);
    CHECK(wait_cpu(no_signal, 0) == STATUS_SUCCESS && signal_cpu(no_wait, 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, narrow_fences, .no_64bit_atomics = true)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 10);
    struct vidsch_sync *wide = make_sync(
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

TEST_WITH(fixture, fences_are_read_again)
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

TEST_WITH(fixture, progress_of_a_paging_queue)
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

/* SPDX-License-Identifier: MIT */
/* What waits and signals refuse, and why; limits of values; objects that are lost or destroyed in use. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "vidsch/scheduler.h"
#include "vidsch/support/hang.h"

#define NONE     ((D3DDDICB_SIGNALFLAGS){.Value = 0})
#define OF(kind) ((D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_##kind})

static NTSTATUS wait_list(struct vidsch_context *context, struct vidsch_sync *const *list,
                          UINT count)
{
    static const UINT64 values[40];

    return vidsch_sync_wait_gpu(context, list, values, count);
}

static NTSTATUS signal_list(struct vidsch_context *context, struct vidsch_sync *const *list,
                            UINT count)
{
    static const UINT64 values[40];

    return vidsch_sync_signal_gpu(&context, 1, list, values, count, NONE);
}

TEST_WITH(fixture, lists_are_refused_with_what_is_wrong)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0),
                       *event = make_sync(device, OF(CPU_NOTIFICATION)),
                       *old = make_sync(device, OF(FENCE)), *twice[2] = {fence, fence},
                       *third[3] = {fence, event, fence}, *pair[2] = {fence, event},
                       *olds[2] = {fence, old};
    struct vidsch_context *contexts[2] = {context, context};
    UINT64 value = 0;

    CHECK_REFUSED(wait_list(context, twice, 0), STATUS_INVALID_PARAMETER, NULL,
                  "a list of 0 objects, 1 to 32 are possible");
    CHECK_REFUSED(signal_list(context, twice, 33), STATUS_INVALID_PARAMETER, NULL,
                  "a list of 33 objects, 1 to 32 are possible");
    CHECK_REFUSED(wait_list(context, twice, 2), STATUS_INVALID_PARAMETER, NULL,
                  "the list of 2 objects has one twice");
    CHECK_REFUSED(signal_list(context, third, 3), STATUS_INVALID_PARAMETER, NULL,
                  "the list of 3 objects has one twice");
    CHECK_REFUSED(wait_list(context, pair, 2), STATUS_INVALID_PARAMETER, "KMT-352",
                  "object 1 of the list is a CPU notification");
    CHECK_REFUSED(signal_list(context, olds, 2), STATUS_INVALID_PARAMETER, "SUBMIT-132",
                  "a fence (not monitored) in a list of 2 objects, it has to be alone");
    CHECK_REFUSED(vidsch_sync_signal_gpu(contexts, 0, &fence, &value, 1, NONE),
                  STATUS_INVALID_PARAMETER, NULL, "a list of 0 contexts, 1 to 65 are possible");
    CHECK_REFUSED(vidsch_sync_signal_gpu(contexts, 66, &fence, &value, 1, NONE),
                  STATUS_INVALID_PARAMETER, NULL, "a list of 66 contexts, 1 to 65 are possible");
    CHECK_REFUSED(vidsch_sync_signal_gpu(contexts, 2, &fence, &value, 1, NONE),
                  STATUS_INVALID_PARAMETER, NULL, "the list of 2 contexts has one twice");
    CHECK_REFUSED(vidsch_sync_signal_gpu(&context, 1, &fence, NULL, 1, NONE),
                  STATUS_INVALID_PARAMETER, NULL,
                  "object 0 of the list is a fence, but there are no values");
    CHECK_REFUSED(vidsch_sync_signal_gpu(&context, 1, &old, NULL, 1, NONE), STATUS_INVALID_PARAMETER,
                  NULL, "object 0 of the list is a fence, but there are no values");
    CHECK(context->pending == 0 && list_empty(&fence->waiters));
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, contexts_of_a_list_are_of_one_device)
{
    struct vidsch_device *one = make_device(f), *two = make_device(f);
    struct vidsch_context *contexts[2] = {make_context(one, 1), make_context(two, 1)};
    struct vidsch_sync *fence = make_fence(one, 0);
    UINT64 value = 1;

    CHECK_REFUSED(vidsch_sync_signal_gpu(contexts, 2, &fence, &value, 1, NONE),
                  STATUS_INVALID_PARAMETER, "KMT-370",
                  "context 1 of the list is of another device than the first");
    CHECK_REFUSED(vidsch_sync_enqueue_event(contexts, 2, NULL, NULL), STATUS_INVALID_PARAMETER,
                  "KMT-370", "context 1 of the list is of another device than the first");
    vidsch_device_destroy(one);
    vidsch_device_destroy(two);
}

TEST_WITH(fixture, flags_of_signals)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0),
                       *event = make_sync(device, OF(CPU_NOTIFICATION));
    const D3DDDICB_SIGNALFLAGS bad[3] = {
        {.EnqueueCpuEvent = 1}, {.Reserved = 1}, {.DXGK_SIGNAL_FLAG_INTERNAL0 = 1}};
    UINT64 value = 1;

    for (int i = 0; i < 3; i++) {
        CHECK(vidsch_sync_signal_gpu(&context, 1, &fence, &value, 1, bad[i]) ==
              STATUS_INVALID_PARAMETER);
        CHECK(vidsch_sync_signal_cpu(&fence, &value, 1, bad[i]) == STATUS_INVALID_PARAMETER);
    }
    CHECK(vidsch_sync_signal_cpu(&fence, &value, 1,
                                 (D3DDDICB_SIGNALFLAGS){.SignalAtSubmission = 1}) ==
          STATUS_INVALID_PARAMETER);
    CHECK_REFUSED(vidsch_sync_signal_gpu(&context, 1, &fence, &value, 1, bad[0]),
                  STATUS_INVALID_PARAMETER, NULL, "Flags 0x2 with a list of objects");
    CHECK_REFUSED(vidsch_sync_signal_cpu(&fence, &value, 1, bad[0]), STATUS_INVALID_PARAMETER,
                  "KMT-385", "1 objects, Flags 0x2: at least one, and AllowFenceRewind alone");
    CHECK_REFUSED(vidsch_sync_signal_cpu(&fence, &value, 0, NONE), STATUS_INVALID_PARAMETER,
                  "KMT-385", "0 objects, Flags 0x0: at least one, and AllowFenceRewind alone");
    CHECK_REFUSED(vidsch_sync_signal_cpu(&event, &value, 1, NONE), STATUS_INVALID_PARAMETER,
                  "KMT-385", "object 0 of the list is no monitored fence");
    idle(device);
    CHECK(vidsch_sync_value(fence) == 0 && fence->queued == 0);
    vidsch_device_destroy(device);
}

/* With a second scheduler, whose objects these are for a moment. */
TEST_WITH(fixture, objects_are_of_this_adapter)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *list[2] = {make_fence(device, 0), make_fence(device, 0)};
    struct vidsch_config config = f->config;
    struct vidsch *other;
    UINT64 values[2] = {1, 1};

    config.node = f->info;
    CHECK(vidsch_create(&config, &other) == STATUS_SUCCESS);
    vidsch_set_of_adapter(&f->ddi, f->vidsch);
    list[1]->vidsch = other;
    CHECK_REFUSED(wait_list(context, list, 2), STATUS_INVALID_PARAMETER, "KMT-370",
                  "object 1 of the list is of another adapter");
    CHECK_REFUSED(signal_list(context, list, 2), STATUS_INVALID_PARAMETER, "KMT-370",
                  "object 1 of the list is of another adapter");
    CHECK_REFUSED(vidsch_sync_signal_cpu(list, values, 2, NONE), STATUS_INVALID_PARAMETER,
                  "KMT-370", "object 1 of the list is of another adapter");
    CHECK(vidsch_sync_value(list[0]) == 0);
    list[1]->vidsch = f->vidsch;
    vidsch_destroy(other);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, what_the_driver_signals_no_client_does)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *event = make_sync(device, OF(CPU_NOTIFICATION));

    CHECK(signal_gpu(context, event, 0) == STATUS_SUCCESS); /* nobody is to be told */
    idle(device);
    event->flags.SignalByKmd = 1; /* as with DxgkDdiCreateCpuEvent */
    CHECK_REFUSED(signal_gpu(context, event, 0), STATUS_INVALID_PARAMETER, "KMT-353",
                  "object 0 of the list is signaled by the driver alone");
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, flags_that_only_monitored_fences_have)
{
    struct vidsch_device *device = make_device(f);
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = OF(FENCE);
    struct vidsch_sync *sync;

    info.Flags.LocalMemoryPreferred = 1;
    CHECK(vidsch_sync_create(device, &info, &sync) == STATUS_INVALID_PARAMETER);
    info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(vidsch_sync_create(device, &info, &sync) == STATUS_SUCCESS);
    info = OF(SEMAPHORE);
    info.Flags.NoGPUAccess = 1;
    CHECK_REFUSED(vidsch_sync_create(device, &info, &sync), STATUS_INVALID_PARAMETER, NULL,
                  "Flags 0x80 do not go with type 2");
    info = OF(SEMAPHORE);
    info.Semaphore.InitialCount = 3;
    info.Semaphore.MaxCount = 2;
    CHECK_REFUSED(vidsch_sync_create(device, &info, &sync), STATUS_INVALID_PARAMETER, "KMT-343",
                  "a semaphore with InitialCount 3 and MaxCount 2");
    vidsch_device_destroy(device);
}

/* ---- values ---- */

TEST_WITH(fixture, a_fence_stays_within_half_the_range, .no_64bit_atomics = true)
{
    const uint64_t half = UINT32_MAX / 2, now = 0xF0000000;
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, now);
    D3DDDICB_SIGNALFLAGS rewind = {.AllowFenceRewind = 1};
    UINT64 value = now - half - 1;

    CHECK_REFUSED(vidsch_sync_signal_cpu(&fence, &value, 1, rewind), STATUS_INVALID_PARAMETER,
                  "SUBMIT-141",
                  "value 1879048192 for fence 0 of the list, which is at 4026531840: too far for 32 "
                  "bits");
    CHECK_REFUSED(vidsch_sync_wait_gpu(context, &fence, &value, 1), STATUS_INVALID_PARAMETER,
                  "SUBMIT-141",
                  "value 1879048192 for fence 0 of the list, which is at 4026531840: too far for 32 "
                  "bits");
    value = now - half;
    CHECK(vidsch_sync_wait_gpu(context, &fence, &value, 1) == STATUS_SUCCESS);
    CHECK(vidsch_sync_signal_cpu(&fence, &value, 1, rewind) == STATUS_SUCCESS &&
          vidsch_sync_value(fence) == now - half);
    idle(device);
    vidsch_device_destroy(device);
}

/* After a reset, fences have the largest value that their waiters may wait for. */
TEST_WITH(fixture, fences_jump_to_their_end, .no_64bit_atomics = true)
{
    struct vidsch_device *device = make_device(f);
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = OF(MONITORED_FENCE);
    struct vidsch_sync *narrow = make_fence(device, 5), *wide, *old = make_sync(device, OF(FENCE)),
                       *semaphore = make_sync(device, OF(SEMAPHORE));

    info.Flags.NoGPUAccess = 1;
    wide = make_sync(device, info);
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("KMT-394", vidsch_sync_value(narrow) == UINT32_MAX && narrow->queued == UINT32_MAX &&
                              vidsch_sync_value(wide) == UINT64_MAX && wide->queued == UINT64_MAX);
    CHECK(vidsch_sync_value(old) == 0 && semaphore->count == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, progress_keeps_what_is_queued)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    CHECK(signal_gpu(context, fence, 10) == STATUS_SUCCESS);
    vidsch_sync_progress(fence, 5);
    CHECK(vidsch_sync_value(fence) == 5);
    CHECK_REFUSED(signal_gpu(context, fence, 9), STATUS_INVALID_PARAMETER, "SUBMIT-139",
                  "fence 0 of the list to 9, it is or will be at 10");
    vidsch_sync_progress(fence, 11);
    CHECK_REFUSED(signal_cpu(fence, 10), STATUS_INVALID_PARAMETER, "SUBMIT-139",
                  "fence 0 of the list to 10, it is or will be at 11");
    CHECK(fence->queued == 11);
    driver_run(f, 1);
    idle(device);
    CHECK(vidsch_sync_value(fence) == 11);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_free_mutex_is_not_released)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);
    struct vidsch_sync *mutex = make_sync(device, OF(SYNCHRONIZATION_MUTEX));

    signal_gpu(a, mutex, 0);
    idle(device);
    CHECK_RULE("KMT-388", violations(f, "KMT-388") == 1 && mutex->count == 1);
    wait_gpu(a, mutex, 0);
    signal_gpu(a, mutex, 0);
    idle(device);
    CHECK_RULE("KMT-388", violations(f, "KMT-388") == 1 && mutex->count == 1 && !mutex->owner);
    vidsch_device_destroy(device);
}

/* ---- waits of the CPU ---- */

static unsigned notified;

static void on_notify(void *context, NTSTATUS status)
{
    (void)status;
    (void)context;
    notified++;
}

TEST_WITH(fixture, waits_of_the_cpu_that_cannot_be)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_sync *fence = make_fence(device, 0), *old = make_sync(device, OF(FENCE));
    UINT64 value = 1;

    notified = 0;
    CHECK_REFUSED(vidsch_sync_wait_cpu(&fence, &value, 0, false, 0), STATUS_INVALID_PARAMETER, NULL,
                  "0 objects");
    CHECK_REFUSED(vidsch_sync_wait_cpu(&fence, NULL, 1, false, 0), STATUS_INVALID_PARAMETER, NULL,
                  "1 objects without fence values");
    CHECK_REFUSED(vidsch_sync_wait_cpu(&old, &value, 1, false, 0), STATUS_INVALID_PARAMETER,
                  "KMT-392", "object 0 of the list is no monitored fence");
    CHECK_REFUSED(vidsch_sync_wait_async(&old, &value, 1, false, on_notify, NULL),
                  STATUS_INVALID_PARAMETER, "KMT-392", "object 0 of the list is no monitored fence");
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    CHECK_REFUSED(vidsch_sync_wait_async(&fence, &value, 1, false, on_notify, NULL),
                  STATUS_DEVICE_REMOVED, NULL, "the device of object 0 of the list is lost");
    CHECK(notified == 0 && list_empty(&f->vidsch->syncs.cpu_waits));
    idle(device);
    vidsch_device_destroy(device);
}

static void lose_soon(void *arg)
{
    pass(MS);
    vidsch_device_mark_error(arg, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
}

static void destroy_soon(void *arg)
{
    pass(MS);
    vidsch_sync_destroy(arg);
}

TEST_WITH(fixture, waits_of_the_cpu_say_how_they_ended)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_sync *fence = make_fence(device, 0), *other = make_fence(device, 0);
    struct sim_thread *thread = spawn(f, destroy_soon, other);
    UINT64 value = 1;
    uint64_t begun;

    CHECK_REFUSED(wait_cpu(other, 1), STATUS_INVALID_HANDLE, NULL,
                  "the wait for 1 objects ended: one of them was destroyed");
    join(thread);
    begun = sim_now();
    CHECK(vidsch_sync_wait_cpu(&fence, &value, 1, false, begun + MS) == STATUS_TIMEOUT &&
          sim_now() - begun >= MS && sim_now() - begun < 2 * MS);
    CHECK(vidsch_sync_wait_cpu(&fence, &value, 1, false, 0) == STATUS_TIMEOUT); /* only looks */
    thread = spawn(f, lose_soon, device);
    CHECK_REFUSED(wait_cpu(fence, 1), STATUS_DEVICE_REMOVED, NULL,
                  "the wait for 1 objects ended: a device was lost, or the adapter stopped");
    join(thread);
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- destroyed in use ---- */

/* A thread waited first, and a context after it: the fence is still read for that. */
TEST_WITH(fixture, a_destroyed_fence_is_still_read_for_its_queue)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *waits = make_context(device, 1), *works = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    volatile uint64_t *memory = fence->fence;
    UINT64 value = 5;

    notified = 0;
    CHECK(vidsch_sync_wait_async(&fence, &value, 1, false, on_notify, NULL) == STATUS_SUCCESS);
    wait_gpu(waits, fence, 5);
    submit(waits, 0x1000, 16);
    vidsch_sync_destroy(fence);
    CHECK(notified == 1 && waits->state == CONTEXT_BLOCKED);
    *memory = 5; /* by the GPU */
    submit(works, 0x2000, 16);
    idle(device);
    CHECK_RULE("SUBMIT-145", calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 &&
                                 sent_virtual(f, 1)->DmaBufferVirtualAddress == 0x1000);
    vidsch_device_destroy(device);
}

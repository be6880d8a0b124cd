/* SPDX-License-Identifier: MIT */
/* Synchronization objects: waits of the CPU, notifications, and the types of WDDM 1.x. */
#include "sim/machine.h"
#include "vidsch/support/fixture.h"

#include <string.h>

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

TEST_WITH(fixture, cpu_waits)
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
    CHECK(list_empty(&a->waiters) && list_empty(&f->vidsch->syncs.cpu_waits));
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, cpu_waits_for_what_the_gpu_signals)
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

TEST_WITH(fixture, destruction_ends_cpu_waits_and_keeps_queued_ones)
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

TEST_WITH(fixture, notifications)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *c[2] = {make_context(device, 1), make_context(device, 1)};
    struct vidsch_sync *fence = make_fence(device, 0),
                       *event = make_sync(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){
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

TEST_WITH(fixture, d3dddi_fence)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make_sync(
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

TEST_WITH(fixture, semaphores_count)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1),
                          *c = make_context(device, 1);
    struct vidsch_sync *semaphore = make_sync(
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
    CHECK_RULE("KMT-493", verify_client_errors(verify_current) == 1 &&
                              verify_count(verify_current, VERIFY_WARNING) == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, mutexes_have_owners)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *mutex = make_sync(
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
    CHECK_RULE("KMT-493", verify_client_errors(verify_current) == 1 &&
                              verify_count(verify_current, VERIFY_WARNING) == 0);
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

TEST_WITH(fixture, a_destroyed_mutex_is_free)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *mutex = make_sync(
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

TEST_WITH(fixture, a_wait_takes_all_or_nothing)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *both[2] = {
        make_sync(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE,
                                                              .Semaphore = {1, 1}}),
        make_sync(device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE,
                                                              .Semaphore = {1, 0}})};

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
TEST_WITH(fixture, long_chains_do_not_recurse)
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

TEST_WITH(fixture, waits_and_signals_of_a_lost_device_are_dropped)
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

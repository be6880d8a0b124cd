/* SPDX-License-Identifier: MIT */
/* Waits for native fences: what the driver is told of them, the interrupts that end them, and signals by the CPU. */
#include "port/support/native.h"

#include "nt/base/current.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct hardware_client client;
static D3DKMT_CREATENATIVEFENCE fence[2];
static HANDLE driver[2], host[2]; /* handles of them */

static void run_on(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    CHECK(p->sim->stopped || native.destroyed == native.fences);
    probe_destroy(p);
}

static void run(void (*body)(struct probe *p))
{
    run_on(native_create(NULL), body);
}

static void begin(void)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(NT_SUCCESS(native_make(client.gpu.device, 40, plain, &fence[i])));
        driver[i] = native.fence[native.fences - 1].driver;
        host[i] = native.fence[native.fences - 1].host;
    }
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void gpu_signal(const struct probe *p, unsigned i, uint64_t value)
{
    native_gpu_write(p, fence[i].Info.NativeFenceMapping.CurrentValueCpuVa, value);
}

/* ---- threads that wait ---- */

struct waiter {
    unsigned fence;
    UINT64 value;
    bool done;
    NTSTATUS status;
};
static struct waiter waiter[4];
static unsigned waiters;

static void wait_body(struct probe *p)
{
    struct waiter *w = &waiter[waiters++];

    (void)p;
    w->status = native_wait(client.gpu.device, fence[w->fence].Info.hSyncObject, w->value);
    w->done = true;
}

static struct waiter *start_waiter(struct probe *p, unsigned i, UINT64 value)
{
    struct waiter *w = &waiter[waiters];

    *w = (struct waiter){.fence = i, .value = value};
    sim_thread_release(probe_thread(p, nt_process_current(), "waiter", wait_body));
    probe_sleep(1000000);
    return w;
}

/* ---- MonitoredValue ---- */

static void monitored_body(struct probe *p)
{
    struct waiter *late, *soon;

    begin();
    CHECK_RULE("SUBMIT-150/b", native.count == 0);
    late = start_waiter(p, 0, 50);
    CHECK_RULE("SUBMIT-150/b", native.count == 1 && native_monitored(driver[0]) == 49 &&
                                   native_monitored(driver[1]) == UINT64_MAX);
    soon = start_waiter(p, 0, 42);
    CHECK_RULE("SUBMIT-150/b", native.count == 2 && native_monitored(driver[0]) == 41);
    CHECK_RULE("SUBMIT-150/e", native.told[0].irql > DISPATCH_LEVEL && !soon->done && !late->done);
    gpu_signal(p, 0, 42);
    native_interrupt(&host[0], 1, 0);
    CHECK_RULE("SUBMIT-150/c", soon->done && NT_SUCCESS(soon->status) && !late->done &&
                                   native_monitored(driver[0]) == 49);
    gpu_signal(p, 0, 50);
    native_interrupt(&host[0], 1, 0);
    CHECK_RULE("SUBMIT-150/c",
               late->done && native.count == 4 && native_monitored(driver[0]) == UINT64_MAX);
    CHECK(NT_SUCCESS(native_wait(client.gpu.device, fence[0].Info.hSyncObject, 50)));
    CHECK_RULE("SUBMIT-150/c", native.count == 4); /* nobody had to wait */
    end();
}

TEST(the_driver_is_told_the_least_value_that_is_waited_for)
{
    waiters = 0;
    run(monitored_body);
}

static const struct probe *signaling;

static void signal_meanwhile(void)
{
    native.during = NULL;
    gpu_signal(signaling, 0, 42);
}

static void race_body(struct probe *p)
{
    struct waiter *w;

    begin();
    signaling = p;
    native.during = signal_meanwhile;
    w = start_waiter(p, 0, 42);
    CHECK_RULE("SUBMIT-150/d", w->done && NT_SUCCESS(w->status));
    CHECK_RULE("SUBMIT-150/d",
               native.told[0].value == 41 && native_monitored(driver[0]) == UINT64_MAX);
    end();
}

/* The GPU signals before it has seen MonitoredValue, and raises no interrupt. */
TEST(CurrentValue_is_read_again_when_MonitoredValue_was_updated)
{
    waiters = 0;
    run(race_body);
}

static void all_body(struct probe *p)
{
    const D3DKMT_HANDLE both[] = {fence[0].Info.hSyncObject, fence[1].Info.hSyncObject};
    static const UINT64 values[] = {45, 46};
    D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE wait = {.hHwQueue = client.queue,
                                                     .ObjectCount = 2,
                                                     .ObjectHandleArray = both,
                                                     .FenceValueArray = values};

    CHECK(NT_SUCCESS(D3DKMTSubmitWaitForSyncObjectsToHwQueue(&wait)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_sleep(1000000);
    CHECK_RULE("KMT-420", hardware.submissions == 0 && native_monitored(driver[0]) == 44 &&
                              native_monitored(driver[1]) == 45);
    gpu_signal(p, 0, 45);
    native_interrupt(&host[0], 1, 0);
    CHECK_RULE("SUBMIT-150/c", hardware.submissions == 0 &&
                                   native_monitored(driver[0]) == UINT64_MAX &&
                                   native_monitored(driver[1]) == 45);
    gpu_signal(p, 1, 47);
    native_interrupt(&host[1], 1, 0);
    CHECK_RULE("KMT-420", hardware.submissions == 1 && NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK_RULE("SUBMIT-150/c", native_monitored(driver[1]) == UINT64_MAX);
}

static void queued_body(struct probe *p)
{
    begin();
    all_body(p);
    end();
}

/* For what the host holds back it needs interrupts, too. */
TEST(waits_of_queues_count_as_the_hosts)
{
    run(queued_body);
}

/* ---- interrupts ---- */

static void interrupts_body(struct probe *p)
{
    struct waiter *a, *b;

    begin();
    a = start_waiter(p, 0, 41);
    b = start_waiter(p, 1, 41);
    gpu_signal(p, 0, 41);
    gpu_signal(p, 1, 41);
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK_RULE("SUBMIT-151/a", !a->done && !b->done); /* other interrupts do not count */
    native_interrupt(&host[0], 1, 0);
    CHECK_RULE("SUBMIT-151/a", a->done && !b->done);
    native_interrupt(NULL, 0, 0);
    CHECK_RULE("SUBMIT-151/b", b->done && NT_SUCCESS(b->status));
    a = start_waiter(p, 0, 42);
    b = start_waiter(p, 1, 42);
    gpu_signal(p, 0, 42);
    gpu_signal(p, 1, 42);
    native_interrupt(host, 2, 0);
    CHECK_RULE("SUBMIT-151/a", a->done && b->done);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    end();
}

TEST(an_interrupt_names_fences_or_all)
{
    waiters = 0;
    run(interrupts_body);
}

static void legacy_body(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    struct waiter *w;

    begin();
    memset(&create, 0, sizeof(create));
    create.hDevice = client.gpu.device;
    create.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    fence[1].Info.hSyncObject = create.hSyncObject;
    w = start_waiter(p, 1, 1);
    native_gpu_write(p, create.Info.MonitoredFence.FenceValueCPUVirtualAddress, 1);
    native_interrupt(NULL, 0, 0);
    CHECK_RULE("SUBMIT-151/c", !w->done);
    native_interrupt(&host[0], 1, DXGK_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES);
    CHECK_RULE("SUBMIT-151/c", !w->done); /* only of all */
    native_interrupt(NULL, 0, DXGK_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES);
    CHECK_RULE("SUBMIT-151/c", w->done && probe_reports(p, VERIFY_WARNING) == 0);
    end();
}

TEST(legacy_fences_are_read_again_only_if_the_flag_says_so)
{
    waiters = 0;
    run(legacy_body);
}

static void stale_body(struct probe *p)
{
    begin();
    CHECK(NT_SUCCESS(native_destroy(fence[0].Info.hSyncObject)));
    native_interrupt(&host[1], 1, 0);
    CHECK(!p->sim->stopped);
    native_interrupt(host, 2, 0);
}

static void drivers_own_body(struct probe *p)
{
    (void)p;
    begin();
    native_interrupt(&driver[0], 1, 0);
}

/* A destroyed one behind a live one; the driver's own handle. */
TEST(a_stale_handle_is_fatal)
{
    static void (*const bodies[])(struct probe *) = {stale_body, drivers_own_body};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = native_create(NULL);
        struct probe_client *process;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        process = probe_client_run(p, bodies[i]);
        CHECK_RULE("SUBMIT-151/d", p->sim->stopped && probe_rule(p, "SUBMIT-151") == 1 &&
                                       probe_record(p, "SUBMIT-151")->severity == VERIFY_FATAL);
        probe_client_end(p, process);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

static void none_body(struct probe *p)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    native_interrupt(NULL, 0, 0);
    CHECK_RULE("SUBMIT-073", probe_rule(p, "SUBMIT-073") == 1);
    end();
}

TEST(an_adapter_without_native_fences_has_no_such_interrupt)
{
    struct probe *p = native_create(NULL);

    p->caps.SchedulingCaps.NativeGpuFence = 0;
    run_on(p, none_body);
}

/* ---- while the engine is reset ---- */

static D3DKMT_CREATESYNCHRONIZATIONOBJECT2 monitored;

/* The GPU signals in the last moment, and the host hears nothing. */
static void signal_in_reset(struct probe *p, struct probe_call *call)
{
    (void)call;
    gpu_signal(p, 0, 41);
    native_gpu_write(p, monitored.Info.MonitoredFence.FenceValueCPUVirtualAddress, 1);
    native_interrupt(&host[0], 1, 0);
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    CHECK(!waiter[0].done && !waiter[1].done);
}

static D3DKMT_HANDLE make_monitored(D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags)
{
    memset(&monitored, 0, sizeof(monitored));
    monitored.hDevice = client.gpu.device;
    monitored.Info.Type = D3DDDI_MONITORED_FENCE;
    monitored.Info.Flags = flags;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&monitored)));
    return monitored.hSyncObject;
}

static void begin_reset(struct probe *p)
{
    start_waiter(p, 0, 41);
    start_waiter(p, 1, 1);
    hardware.held = true;
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT;
    hardware.extra.GpuEngineTimeout.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    probe_sleep(PROBE_SECOND / 10);
}

static void deaf_body(struct probe *p)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;

    begin();
    fence[1].Info.hSyncObject = make_monitored(plain);
    p->before[PROBE_ResetHwEngine] = signal_in_reset;
    begin_reset(p);
    CHECK(probe_count(p, PROBE_ResetHwEngine) == 1 && probe_count(p, PROBE_ResetFromTimeout) == 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("SUBMIT-151/e", waiter[i].done && NT_SUCCESS(waiter[i].status));
    hardware_finish(1);
    end();
}

/* All devices are lost, but waits for shared fences go on, which may keep their values. */
static void deaf_adapter_body(struct probe *p)
{
    const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags = {
        .Shared = 1, .NtSecuritySharing = 1, .NoSignalMaxValueOnTdr = 1};

    begin();
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 40, flags, &fence[0])));
    host[0] = native.fence[native.fences - 1].host;
    fence[1].Info.hSyncObject = make_monitored(flags);
    p->before[PROBE_ResetHwEngine] = probe_fail_call;
    p->before[PROBE_ResetFromTimeout] = signal_in_reset;
    begin_reset(p);
    CHECK(probe_count(p, PROBE_ResetFromTimeout) == 1);
    CHECK_RULE("TDR-059",
               *(volatile UINT64 *)fence[0].Info.NativeFenceMapping.CurrentValueCpuVa == 41);
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("SUBMIT-151/e", waiter[i].done && NT_SUCCESS(waiter[i].status));
    end();
}

TEST(what_is_signaled_during_a_reset_is_seen_after_it)
{
    static void (*const bodies[])(struct probe *) = {deaf_body, deaf_adapter_body};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = native_create(NULL);

        waiters = 0;
        p->caps.SupportPerEngineTDR = TRUE;
        run_on(p, bodies[i]);
    }
}

/* ---- signals by the CPU ---- */

static void cpu_body(struct probe *p)
{
    struct waiter *w;
    unsigned before;

    begin();
    w = start_waiter(p, 0, 45);
    before = native.count;
    CHECK(NT_SUCCESS(native_signal(client.gpu.device, fence[0].Info.hSyncObject, 44)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-150/f", !w->done && native.count == before + 1 &&
                                   native.told[before].current &&
                                   native.told[before].fence == driver[0]);
    CHECK_RULE("SUBMIT-150/g", native.told[before].irql == DISPATCH_LEVEL);
    CHECK(NT_SUCCESS(native_signal(client.gpu.device, fence[0].Info.hSyncObject, 45)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-150/f",
               w->done &&
                   *(volatile UINT64 *)fence[0].Info.NativeFenceMapping.CurrentValueCpuVa == 45 &&
                   native.count == before + 3 && native_monitored(driver[0]) == UINT64_MAX);
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    before = native.count;
    CHECK(NT_SUCCESS(D3DKMTSubmitSignalSyncObjectsToHwQueue(
        &(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE){.BroadcastHwQueueCount = 1,
                                                   .BroadcastHwQueueArray = &client.queue,
                                                   .ObjectCount = 1,
                                                   .ObjectHandleArray = &fence[1].Info.hSyncObject,
                                                   .FenceValueArray = (const UINT64[]){60}})));
    probe_sleep(10000000);
    CHECK_RULE("SUBMIT-150/f", native.count == before + 1 && native.told[before].current &&
                                   native.told[before].fence == driver[1]);
    (void)p;
    end();
}

TEST(the_driver_is_told_of_signals_by_the_cpu)
{
    waiters = 0;
    run(cpu_body);
}

static void end_of_wait_body(struct probe *p)
{
    struct waiter *w;

    begin();
    w = start_waiter(p, 0, 45);
    CHECK(native_monitored(driver[0]) == 44);
    CHECK(NT_SUCCESS(native_destroy(fence[0].Info.hSyncObject)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-145", w->done && IS(w->status, STATUS_INVALID_HANDLE));
    CHECK(native.destroyed == 1);
    end();
}

TEST(the_end_of_a_fence_ends_its_waits)
{
    waiters = 0;
    run(end_of_wait_body);
}

static void outlive_body(struct probe *p)
{
    D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE wait = {.ObjectCount = 1,
                                                     .FenceValueArray = (const UINT64[]){45}};
    struct hardware_client second;
    struct phys_addr place;

    begin();
    second = client;
    CHECK(NT_SUCCESS(hardware_queue(&second, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0})));
    wait.hHwQueue = client.queue;
    wait.ObjectHandleArray = &fence[0].Info.hSyncObject;
    CHECK(NT_SUCCESS(D3DKMTSubmitWaitForSyncObjectsToHwQueue(&wait)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_sleep(1000000);
    CHECK(ram_physical(p->ram, fence[0].Info.NativeFenceMapping.CurrentValueCpuVa, &place));
    CHECK(NT_SUCCESS(native_destroy(fence[0].Info.hSyncObject)) && native.destroyed == 1);
    *(volatile uint64_t *)ram_direct(p->ram, place) = 45;
    CHECK(NT_SUCCESS(hardware_submit(&second, 1)) && NT_SUCCESS(hardware_wait(&second, 1)));
    CHECK_RULE("SUBMIT-145", NT_SUCCESS(hardware_wait(&client, 1)) && hardware.submissions == 2);
    end();
}

/* The driver no longer knows the fence: the end of other work shows what the GPU wrote. */
TEST(a_queued_wait_outlives_the_fence)
{
    run(outlive_body);
}

static void asleep_body(struct probe *p)
{
    struct waiter *w;

    begin();
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionNone)));
    w = start_waiter(p, 0, 45);
    CHECK_RULE("SUBMIT-150/b", native.count == 0 && !w->done);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-150/b", native.count == 1 && native_monitored(driver[0]) == 44);
    gpu_signal(p, 0, 45);
    native_interrupt(&host[0], 1, 0);
    CHECK(w->done);
    end();
}

TEST(an_adapter_that_sleeps_is_told_when_it_wakes)
{
    waiters = 0;
    run(asleep_body);
}

/* ---- a device that is lost ---- */

static void lost_body(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
    struct waiter *w;

    begin();
    w = start_waiter(p, 0, 45);
    mark.hDevice = client.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&mark)));
    probe_sleep(10000000);
    CHECK_RULE("TDR-060", w->done && IS(w->status, STATUS_DEVICE_REMOVED));
    CHECK_RULE("TDR-059", *(volatile UINT64 *)fence[0].Info.NativeFenceMapping.CurrentValueCpuVa ==
                              UINT64_MAX);
    CHECK_RULE("SUBMIT-150/f",
               native.told[native.count - 1].current || native.told[native.count - 2].current);
    end();
}

TEST(the_fences_of_a_lost_device_jump_and_the_driver_is_told)
{
    waiters = 0;
    run(lost_body);
}

static void keep_body(struct probe *p)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags[] = {
        {.NoSignal = 1}, {.NoSignalMaxValueOnTdr = 1}, {.NoWait = 1}};
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
    D3DKMT_CREATENATIVEFENCE made[3];

    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(native_make(client.gpu.device, 40, flags[i], &made[i])));
    mark.hDevice = client.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&mark)));
    probe_sleep(10000000);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("TDR-059",
                   *(volatile UINT64 *)made[i].Info.NativeFenceMapping.CurrentValueCpuVa ==
                       (i == 2 ? UINT64_MAX : 40));
    end();
}

TEST(a_fence_that_the_device_cannot_signal_or_that_has_the_flag_keeps_its_value)
{
    run(keep_body);
}

/* ---- without memory ---- */

static uint64_t shortage_at;
static NTSTATUS shortage_status;

static void shortage_body(struct probe *p)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain,
        shared = {.Shared = 1, .NtSecuritySharing = 1};
    D3DKMT_CREATENATIVEFENCE made;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    p->sim->heap.fail_at = p->sim->heap.requests + shortage_at;
    shortage_status = native_make(client.gpu.device, 1, shortage_at % 2 ? plain : shared, &made);
    p->sim->heap.fail_at = 0;
    CHECK(NT_SUCCESS(shortage_status) || IS(shortage_status, STATUS_NO_MEMORY) ||
          IS(shortage_status, STATUS_INSUFFICIENT_RESOURCES));
    CHECK(NT_SUCCESS(shortage_status) == (native.fences > native.destroyed));
    if (!NT_SUCCESS(shortage_status))
        CHECK(NT_SUCCESS(native_make(client.gpu.device, 1, plain, &made)));
    end();
}

TEST(nothing_is_left_of_a_fence_for_which_memory_was_short)
{
    unsigned failed = 0;
    bool more = true;

    for (shortage_at = 1; more; shortage_at++) {
        struct probe *p = native_create(NULL);
        struct probe_client *process;
        uint64_t pages = ram_free_pages(p->ram);

        p->before[PROBE_QueryAdapterInfo] = native_give_cmp;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        process = probe_client_run(p, shortage_body);
        probe_client_end(p, process);
        CHECK(native.destroyed == native.fences && probe_reports(p, VERIFY_WARNING) == 0);
        more = p->sim->heap.failures != 0;
        failed += !NT_SUCCESS(shortage_status);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0 && ram_free_pages(p->ram) == pages);
        probe_destroy(p);
    }
    CHECK(failed > 15);
}

/* SPDX-License-Identifier: MIT */
/* DPCs, timers, clocks, work items. */
#include "nt/base/current.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/ke/system_time.h"
#include "support/harness.h"

#include "sim/machine.h"
#include "sim/point.h"

/* ---- DPCs ---- */

struct seen {
    unsigned runs, processor, order;
    KIRQL irql;
    PVOID a, b;
};

static struct seen seen[3];
static unsigned order;

static VOID NTAPI note(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    struct seen *s = context;

    (void)dpc;
    s->runs++;
    s->order = ++order;
    s->irql = KeGetCurrentIrql();
    s->processor = KeGetCurrentProcessorNumber();
    s->a = a;
    s->b = b;
}

static KDPC dpc[3];

static void init_dpcs(void)
{
    memset(seen, 0, sizeof(seen));
    order = 0;
    for (unsigned i = 0; i < 3; i++)
        KeInitializeDpc(&dpc[i], note, &seen[i]);
}

static void check_insert(void)
{
    KIRQL old;

    init_dpcs();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-083/a", KeInsertQueueDpc(&dpc[0], &old, &dpc) == TRUE);
    CHECK_RULE("NT-083/a", KeInsertQueueDpc(&dpc[0], NULL, NULL) == FALSE);
    KeInsertQueueDpc(&dpc[1], NULL, NULL);
    CHECK_RULE("NT-086/a", KeRemoveQueueDpc(&dpc[1]) == TRUE);
    KeLowerIrql(old);
    CHECK_RULE("NT-083/a", seen[0].runs == 1);
    CHECK_RULE("NT-083/b", seen[0].irql == DISPATCH_LEVEL);
    CHECK_RULE("NT-083/c", seen[0].a == &old && seen[0].b == &dpc);
    CHECK_RULE("NT-086/a", seen[1].runs == 0);
    CHECK_RULE("NT-086/b", KeRemoveQueueDpc(&dpc[0]) == FALSE);
}

TEST_WITH(machine, a_dpc_is_queued_once)
{
    run(check_insert);
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, importance_decides_the_place)
{
    KIRQL old;

    init_dpcs();
    KeSetImportanceDpc(&dpc[2], HighImportance);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    for (unsigned i = 0; i < 3; i++)
        KeInsertQueueDpc(&dpc[i], NULL, NULL);
    KeLowerIrql(old);
    CHECK_RULE("NT-084/a", seen[2].order == 1 && seen[0].order == 2 && seen[1].order == 3);
}

TEST_WITH(driver_smp, a_target_processor_is_kept)
{
    for (unsigned i = 0; i < 4; i++) {
        init_dpcs();
        KeSetTargetProcessorDpc(&dpc[0], (CCHAR)i);
        KeInsertQueueDpc(&dpc[0], NULL, NULL);
        KeFlushQueuedDpcs();
        CHECK_RULE("NT-084/b", seen[0].runs == 1 && seen[0].processor == i);
    }
    KeSetTargetProcessorDpc(&dpc[0], 9);
    CHECK_RULE("NT-084/c", broken("NT-084"));
}

static volatile bool inside;
static volatile unsigned overlap, slow_runs;

static VOID NTAPI slow(PKDPC self, PVOID context, PVOID a, PVOID b)
{
    (void)context;
    (void)b;
    if (inside)
        overlap++;
    inside = true;
    if (a) {
        KeSetTargetProcessorDpc(self, 1);
        KeInsertQueueDpc(self, NULL, NULL);
    }
    sim_stall(50000);
    inside = false;
    slow_runs++;
}

TEST_WITH(driver_smp, flush_waits_and_dpcs_may_overlap)
{
    inside = false;
    overlap = slow_runs = 0;
    KeInitializeDpc(&dpc[0], slow, NULL);
    KeSetTargetProcessorDpc(&dpc[0], 2);
    KeInsertQueueDpc(&dpc[0], &dpc, NULL);
    while (!inside)
        sim_spin();
    KeFlushQueuedDpcs();
    CHECK_RULE("NT-086/c", slow_runs == 2 && !inside);
    CHECK_RULE("NT-085", overlap == 1);
}

/* ---- timers ---- */

static KTIMER timer;

TEST_WITH(driver, timers_fire_once)
{
    LARGE_INTEGER ms = relative_ms(1), ten = relative_ms(10);

    init_dpcs();
    KeInitializeTimer(&timer);
    CHECK_RULE("NT-080/a", KeSetTimer(&timer, ms, &dpc[0]) == FALSE);
    CHECK_RULE("NT-080/a", KeSetTimer(&timer, ten, &dpc[0]) == TRUE);
    CHECK_RULE("NT-080/c", !KeReadStateTimer(&timer));
    CHECK_RULE("NT-081/b", (KeInsertQueueDpc(&dpc[0], NULL, NULL), broken("NT-081")));
    KeFlushQueuedDpcs();
    init_dpcs();
    pause_ns(5000000);
    CHECK_RULE("NT-080/b", seen[0].runs == 0);
    pause_ns(6000000);
    CHECK_RULE("NT-080/b", seen[0].runs == 1);
    CHECK_RULE("NT-080/c", KeReadStateTimer(&timer));
    CHECK_RULE("NT-081/a", seen[0].irql == DISPATCH_LEVEL);
    CHECK_RULE("NT-082/b", KeCancelTimer(&timer) == FALSE);
    KeSetTimer(&timer, ms, &dpc[1]);
    CHECK_RULE("NT-082/a", KeCancelTimer(&timer) == TRUE);
    pause_ns(3000000);
    CHECK_RULE("NT-082/a", seen[1].runs == 0);
}

TEST_WITH(driver, periodic_timers_go_on)
{
    LARGE_INTEGER ms = relative_ms(1);
    KIRQL old;

    init_dpcs();
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    KeSetTimerEx(&timer, ms, 2, &dpc[0]);
    pause_ns(10500000);
    CHECK_RULE("NT-080/d", seen[0].runs == 5);
    CHECK_RULE("NT-082/d", KeCancelTimer(&timer) == TRUE);
    pause_ns(10000000);
    CHECK_RULE("NT-080/d", seen[0].runs == 5);

    /* A DPC queued by expiry is not recalled. */
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeSetTimer(&timer, ms, &dpc[1]);
    sim_stall(2000000);
    CHECK_RULE("NT-082/b", KeCancelTimer(&timer) == FALSE && seen[1].runs == 0);
    KeLowerIrql(old);
    CHECK_RULE("NT-082/c", seen[1].runs == 1);
}

static unsigned released;

static void wait_timer(void *arg)
{
    (void)arg;
    KeWaitForSingleObject(&timer, Executive, KernelMode, FALSE, NULL);
    released++;
}

TEST_WITH(driver, timers_release_all_or_one)
{
    LARGE_INTEGER ms = relative_ms(1);

    for (int type = NotificationTimer; type <= SynchronizationTimer; type++) {
        released = 0;
        KeInitializeTimerEx(&timer, (TIMER_TYPE)type);
        KeSetTimer(&timer, ms, NULL);
        start("a", wait_timer, NULL);
        start("b", wait_timer, NULL);
        pause_ns(5000000);
        if (type == NotificationTimer)
            CHECK_RULE("NT-079/a", released == 2);
        else
            CHECK_RULE("NT-079/b", released == 1);
        if (type == SynchronizationTimer) {
            KeSetTimer(&timer, ms, NULL);
            pause_ns(5000000);
        }
    }
}

/* ---- timers of the system ---- */

static PEX_TIMER ex_timer;
static unsigned ex_runs;
static KIRQL ex_irql;
static bool delete_inside;

static VOID NTAPI ex_callback(PEX_TIMER t, PVOID context)
{
    (void)context;
    ex_runs++;
    ex_irql = KeGetCurrentIrql();
    if (delete_inside)
        ExDeleteTimer(t, TRUE, TRUE, NULL);
}

TEST_WITH(driver, system_timers_call_back)
{
    ex_runs = 0;
    delete_inside = false;
    ex_timer = ExAllocateTimer(ex_callback, NULL, 0);
    CHECK_RULE("NT-087/a", !ExSetTimer(ex_timer, -10000, 0, NULL));
    CHECK_RULE("NT-087/a", ExSetTimer(ex_timer, -20000, 20000, NULL));
    pause_ns(7000000);
    CHECK_RULE("NT-087/c", ex_runs == 3);
    CHECK_RULE("NT-087/b", ex_irql == DISPATCH_LEVEL);
    CHECK_RULE("NT-087/c", ExCancelTimer(ex_timer, NULL));
    pause_ns(7000000);
    CHECK_RULE("NT-087/c", ex_runs == 3 && errors() == 0);
    delete_inside = true;
    ExSetTimer(ex_timer, -10000, 0, NULL);
    pause_ns(3000000);
    CHECK_RULE("NT-087/d", broken("NT-087") && verify_bugcheck_state(h.log)->happened);
    ExDeleteTimer(ex_timer, TRUE, TRUE, NULL);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static VOID NTAPI raising_callback(PEX_TIMER t, PVOID context)
{
    KIRQL old;

    (void)t;
    (void)context;
    ex_runs++;
    KeRaiseIrql(DISPATCH_LEVEL + 2, &old);
}

/* What a callback of theirs leaves behind is told, and put right. */
TEST_WITH(driver, system_timers_are_checked_when_they_return)
{
    ex_runs = 0;
    ex_timer = ExAllocateTimer(raising_callback, NULL, 0);
    CHECK(!ExSetTimer(ex_timer, -10000, 0, NULL));
    pause_ns(3000000);
    CHECK(ex_runs == 1 && broken("THREAD-006") && KeGetCurrentIrql() == PASSIVE_LEVEL);
    CHECK(strstr(verify_record_at(h.log, 0)->seen, "a timer callback was called at DISPATCH_LEVEL"));
    ExDeleteTimer(ex_timer, TRUE, TRUE, NULL);
}

/* ---- clocks ---- */

static LARGE_INTEGER last_counter;
static unsigned samples;

static void sample_counter(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 500; i++) {
        LARGE_INTEGER frequency;
        LARGE_INTEGER counter = KeQueryPerformanceCounter(&frequency);

        CHECK_RULE("NT-088/a", counter.QuadPart >= last_counter.QuadPart);
        CHECK_RULE("NT-088/b", frequency.QuadPart == 10000000);
        last_counter = counter;
        sim_stall(300);
    }
    samples++;
}

TEST_WITH(driver_smp, counters_never_go_back)
{
    last_counter.QuadPart = 0;
    samples = 0;
    for (unsigned i = 0; i < 4; i++)
        start("sampler", sample_counter, NULL);
    while (samples < 4)
        pause_ns(100000);
    CHECK_RULE("NT-163/a", KeQueryActiveProcessorCountEx(0) == 4);
    CHECK_RULE("NT-163/b", KeQueryActiveProcessorCountEx(1) == 0);
    CHECK_RULE("NT-163/c", KeGetCurrentProcessorNumberEx(NULL) < 4);
}

static void check_times(void)
{
    LARGE_INTEGER plain, precise, ticks, date;
    TIME_FIELDS fields;
    ULONGLONG interrupt;

    pause_ns(123456789);
    KeQuerySystemTime(&plain);
    KeQuerySystemTimePrecise(&precise);
    CHECK_RULE("NT-089/a", precise.QuadPart >= plain.QuadPart &&
                               precise.QuadPart - plain.QuadPart <= KeQueryTimeIncrement());
    RtlTimeToTimeFields(&precise, &fields);
    CHECK_RULE("NT-089/b", fields.Year == 2024 && fields.Month == 1 && fields.Day == 1);
    assert_true(RtlTimeFieldsToTime(&fields, &date));
    assert_int_equal(date.QuadPart / 10000, precise.QuadPart / 10000);
    KeQueryTickCount(&ticks);
    interrupt = KeQueryInterruptTime();
    CHECK_RULE("NT-090/a", (ULONGLONG)ticks.QuadPart * KeQueryTimeIncrement() == interrupt);
    nt_system_time_set(0x01DB000000000000);
    CHECK_RULE("NT-090/b", KeQueryInterruptTime() == interrupt);
    KeQuerySystemTimePrecise(&precise);
    CHECK_RULE("NT-089/c", precise.QuadPart - 0x01DB000000000000 < 1000);
    KeStallExecutionProcessor(60);
    CHECK_RULE("NT-047/b", broken("NT-047") && errors() == 0);
}

static void stall_long(void)
{
    KeStallExecutionProcessor(200);
}

static void check_stall(void)
{
    uint64_t before = sim_now();

    KeStallExecutionProcessor(20);
    CHECK_RULE("NT-047/a", sim_now() - before >= 20000 && !broken("NT-047"));
    in_dpc(stall_long);
    CHECK_RULE("NT-047/c", broken("NT-047") && errors() == 1);
}

TEST_WITH(machine, clocks_agree)
{
    run(check_times);
    forget_reports();
    run(check_stall);
}

/* ---- work items ---- */

static DEVICE_OBJECT device;
static PIO_WORKITEM item, second;
static unsigned worked;
static KIRQL work_irql;
static PEPROCESS work_process;
static KPROCESSOR_MODE work_mode;
static PVOID work_context;

static VOID NTAPI work(PDEVICE_OBJECT object, PVOID context)
{
    assert_ptr_equal(object, &device);
    worked++;
    work_irql = KeGetCurrentIrql();
    work_process = IoGetCurrentProcess();
    work_mode = ExGetPreviousMode();
    work_context = context;
}

static void queue_item(void)
{
    IoQueueWorkItem(item, work, DelayedWorkQueue, &worked);
}

static void check_work_item(void)
{
    KIRQL old;

    worked = 0;
    nt_device_object_register(&device);
    item = IoAllocateWorkItem(&device);
    CHECK_RULE("NT-100/a", item != NULL);
    in_dpc(queue_item);
    pause_ns(1000000);
    CHECK_RULE("NT-098/a", worked == 1);
    CHECK_RULE("NT-098/b", work_irql == PASSIVE_LEVEL);
    CHECK_RULE("NT-098/c", work_context == &worked);
    CHECK_RULE("NT-107/a", work_mode == KernelMode && work_process == (void *)nt_process_system());
    CHECK(work_process == (void *)nt_process_system());
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    queue_item();
    assert_int_equal(errors(), 0);
    queue_item();
    CHECK_RULE("NT-099/a", broken("NT-099"));
    forget_reports();
    IoFreeWorkItem(item);
    CHECK_RULE("NT-099/b", broken("NT-099"));
    KeLowerIrql(old);
    pause_ns(1000000);
    CHECK_RULE("NT-099/c", worked == 2);
    forget_reports();
    IoFreeWorkItem(item);
    assert_int_equal(errors(), 0);
    CHECK_RULE("NT-100/b", IoAllocateWorkItem((PDEVICE_OBJECT)&worked) == NULL && broken("NT-100"));
    nt_device_object_unregister(&device);
}

TEST_WITH(machine, work_items_run_at_passive_level)
{
    run(check_work_item);
    h.threads_left = 4;
}

static KEVENT item_done;

static VOID NTAPI set_done(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    (void)context;
    KeSetEvent(&item_done, 0, FALSE);
    worked++;
}

static VOID NTAPI wait_for_second(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    (void)context;
    IoQueueWorkItem(second, set_done, DelayedWorkQueue, NULL);
    KeWaitForSingleObject(&item_done, Executive, KernelMode, FALSE, NULL);
    IoFreeWorkItem(item);
    worked++;
}

static void check_dependence(void)
{
    worked = 0;
    KeInitializeEvent(&item_done, NotificationEvent, FALSE);
    item = IoAllocateWorkItem(&device);
    second = IoAllocateWorkItem(&device);
    IoQueueWorkItem(item, wait_for_second, DelayedWorkQueue, NULL);
    pause_ns(10000000);
    CHECK_RULE("NT-102/a", worked == 2);
    CHECK_RULE("NT-102/b", broken("NT-102") && errors() == 0);
    CHECK_RULE("NT-098/d", (IoFreeWorkItem(second), errors() == 0));
}

TEST_WITH(machine, dependent_items_do_not_deadlock)
{
    run(check_dependence);
    h.threads_left = 4;
}

static WORK_QUEUE_ITEM *ex_item;

static VOID NTAPI ex_work(PVOID context)
{
    work_irql = KeGetCurrentIrql();
    ExFreePool(context);
    worked++;
}

static void check_ex_work_item(void)
{
    WORK_QUEUE_ITEM *paged = ExAllocatePoolWithTag(PagedPool, sizeof(*paged), TAG);
    KIRQL old;

    worked = 0;
    ex_item = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*ex_item), TAG);
    ExInitializeWorkItem(ex_item, ex_work, ex_item);
    ExQueueWorkItem(ex_item, DelayedWorkQueue);
    pause_ns(1000000);
    CHECK_RULE("NT-101/a", worked == 1 && work_irql == PASSIVE_LEVEL && errors() == 0);
    ExInitializeWorkItem(paged, ex_work, paged);
    ExQueueWorkItem(paged, DelayedWorkQueue);
    CHECK_RULE("NT-101/b", reported("NT-101", 0xC4, 0x131));
    pause_ns(1000000);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ex_item = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*ex_item), TAG);
    ExInitializeWorkItem(ex_item, ex_work, ex_item);
    ExQueueWorkItem(ex_item, HyperCriticalWorkQueue);
    CHECK_RULE("NT-101/c", broken("NT-101"));
    nt_image_leak_check(h.image);
    CHECK_RULE("NT-101/d", reported("NT-101", 0xCE, 0));
    KeLowerIrql(old);
}

TEST_WITH(machine, executive_items_are_the_drivers)
{
    run(check_ex_work_item);
    h.threads_left = 4;
}

/* ---- routines that run while their driver is unloaded ---- */

static bool work_may_end;

static void wait_until_it_may_end(void)
{
    while (!work_may_end)
        pause_ns(1000000);
    worked++;
}

static VOID NTAPI slow_work(PVOID context)
{
    (void)context;
    wait_until_it_may_end();
}

static VOID NTAPI slow_io_work(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    (void)context;
    wait_until_it_may_end();
}

static void check_running(void (*queue)(void))
{
    work_may_end = false;
    worked = 0;
    queue();
    pause_ns(1000000); /* the routine has begun */
    CHECK_RULE("LIFE-178/a", !nt_image_drain(h.image, 5000000));
    nt_image_leak_check(h.image);
    CHECK_RULE("NT-101/d", reported("NT-101", 0xCE, 0));
    work_may_end = true;
    pause_ns(5000000);
    forget_reports();
    CHECK_RULE("LIFE-178/a", worked == 1 && nt_image_drain(h.image, 5000000));
    CHECK_RULE("NT-101/e", nt_image_leak_check(h.image) == 0 && errors() == 0);
}

static WORK_QUEUE_ITEM again;

static VOID NTAPI queue_again(PVOID context)
{
    (void)context;
    if (++worked < 100000 && !work_may_end)
        ExQueueWorkItem(&again, DelayedWorkQueue);
}

static void check_again(void)
{
    worked = 0;
    work_may_end = false;
    ExInitializeWorkItem(&again, queue_again, NULL);
    ExQueueWorkItem(&again, DelayedWorkQueue);
    pause_ns(1000000);
    CHECK_RULE("NT-202", worked >= 900 && worked <= 1000);
    work_may_end = true;
    pause_ns(1000000);
}

TEST_WITH(machine, items_that_queue_themselves_take_time)
{
    run(check_again);
    h.threads_left = 4;
}

static void queue_slow_work(void)
{
    static WORK_QUEUE_ITEM slow;

    ExInitializeWorkItem(&slow, slow_work, NULL);
    ExQueueWorkItem(&slow, DelayedWorkQueue);
}

static void queue_slow_io_work(void)
{
    item = IoAllocateWorkItem(&device);
    IoQueueWorkItem(item, slow_io_work, DelayedWorkQueue, NULL);
    pause_ns(1000000);
    IoFreeWorkItem(item);
}

static void check_running_work(void)
{
    nt_device_object_register(&device);
    check_running(queue_slow_work);
    check_running(queue_slow_io_work);
    nt_device_object_unregister(&device);
}

TEST_WITH(machine, work_that_runs_keeps_its_driver)
{
    run(check_running_work);
    h.threads_left = 4;
}

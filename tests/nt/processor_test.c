/* SPDX-License-Identifier: MIT */
/* Processors: how many there are, threads and DPCs that keep to some, and their clocks. */
#include "support/harness.h"

TEST_WITH(driver_smp, processors_are_counted)
{
    KAFFINITY mask = 0;

    assert_int_equal(KeQueryActiveProcessorCount(&mask), 4);
    assert_true(mask == 0xF && KeQueryActiveProcessors() == 0xF);
    assert_int_equal(KeQueryActiveProcessorCount(NULL), 4);
    assert_int_equal(KeQueryMaximumProcessorCount(), 4);
    assert_int_equal(KeQueryMaximumProcessorCountEx(0), 4);
    assert_int_equal(KeQueryMaximumProcessorCountEx(ALL_PROCESSOR_GROUPS), 4);
    assert_int_equal(KeQueryMaximumProcessorCountEx(1), 0);
    assert_int_equal(KeQueryActiveProcessorCountEx(0), 4);
    assert_int_equal(KeQueryActiveProcessorCountEx(1), 0);
    assert_true(KeInvalidateAllCaches());
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, one_processor_is_one)
{
    KAFFINITY mask = 0;

    assert_true(KeQueryActiveProcessorCount(&mask) == 1 && mask == 1);
    assert_true(KeQueryActiveProcessors() == 1 && KeQueryMaximumProcessorCount() == 1);
}

/* It is kept, as far as there are such processors; threads are not bound to them. */
TEST_WITH(driver_smp, affinities_are_kept)
{
    KAFFINITY before = KeSetSystemAffinityThreadEx(1u << 2);
    KIRQL old;

    assert_int_equal(KeSetSystemAffinityThreadEx(0xF1), 1u << 2);
    assert_int_equal(KeSetSystemAffinityThreadEx(1u << 1), 1u << 0);
    KeRevertToUserAffinityThreadEx(1u << 3 | 1u << 4);
    assert_int_equal(KeSetSystemAffinityThreadEx(before), 1u << 3);
    assert_int_equal(errors(), 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    (void)KeSetSystemAffinityThreadEx(1);
    CHECK_RULE("THREAD-009", errors() == 1);
    KeRevertToUserAffinityThreadEx(1);
    CHECK_RULE("THREAD-009", errors() == 2);
    KeLowerIrql(old);
}

/* ---- DPCs ---- */

static struct {
    unsigned runs, processor;
    KIRQL irql;
} seen;

static VOID NTAPI note(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    seen.runs++;
    seen.processor = KeGetCurrentProcessorNumberEx(NULL);
    seen.irql = KeGetCurrentIrql();
}

TEST_WITH(driver_smp, dpcs_keep_to_their_processor)
{
    PROCESSOR_NUMBER number = {0};
    KDPC dpc;

    for (unsigned i = 0; i < 4; i++) {
        seen.runs = 0;
        KeInitializeDpc(&dpc, note, NULL);
        number.Number = (UCHAR)i;
        CHECK_RULE("NT-084/b", KeSetTargetProcessorDpcEx(&dpc, &number) == STATUS_SUCCESS);
        KeInsertQueueDpc(&dpc, NULL, NULL);
        KeFlushQueuedDpcs();
        CHECK_RULE("NT-084/b", seen.runs == 1 && seen.processor == i && errors() == 0);
    }
    number.Number = 4;
    CHECK_RULE("NT-084/c", KeSetTargetProcessorDpcEx(&dpc, &number) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-084/c", errors() == 1);
    number.Number = 0;
    number.Group = 1;
    CHECK_RULE("NT-084/c", KeSetTargetProcessorDpcEx(&dpc, &number) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-084/c", errors() == 2);
}

TEST_WITH(driver, threaded_dpcs_run)
{
    KDPC dpc;

    seen.runs = 0;
    KeInitializeThreadedDpc(&dpc, note, NULL);
    assert_true(KeInsertQueueDpc(&dpc, NULL, NULL));
    KeFlushQueuedDpcs();
    pause_ns(10000);
    assert_int_equal(seen.runs, 1);
    assert_true(seen.irql == DISPATCH_LEVEL && errors() == 0);
}

/* ---- timers ---- */

TEST_WITH(driver, coalescable_timers_fire)
{
    const LARGE_INTEGER due = relative_ms(2);
    KTIMER timer;
    KDPC dpc;

    seen.runs = 0;
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, note, NULL);
    assert_false(KeSetCoalescableTimer(&timer, due, 0, 10, &dpc));
    assert_true(KeSetCoalescableTimer(&timer, due, 3, 10, &dpc)); /* it was set */
    pause_ns(2600000);
    assert_int_equal(seen.runs, 1);
    pause_ns(6000000); /* 3 ms each */
    assert_int_equal(seen.runs, 3);
    assert_true(KeCancelTimer(&timer));
    pause_ns(9000000);
    assert_true(seen.runs == 3 && errors() == 0);
}

TEST_WITH(driver, the_unbiased_clock_goes_on)
{
    ULONGLONG first = KeQueryUnbiasedInterruptTime();

    pause_ns(40000000);
    assert_true(KeQueryUnbiasedInterruptTime() - first >= 400000 - 160000);
    assert_true(KeQueryUnbiasedInterruptTime() - first <= 400000 + 160000);
    assert_true(KeQueryUnbiasedInterruptTime() == KeQueryInterruptTime());
}

/* ---- pulses ---- */

static KEVENT pulsed;
static unsigned woken;

static void wait_for_pulse(void *arg)
{
    (void)arg;
    KeWaitForSingleObject(&pulsed, Executive, KernelMode, FALSE, NULL);
    woken++;
}

/* Who waits at that moment, all of them or one; the event stays as if nothing had been. */
static void pulse(EVENT_TYPE type, unsigned expected)
{
    woken = 0;
    KeInitializeEvent(&pulsed, type, FALSE);
    for (unsigned i = 0; i < 3; i++)
        start("waiter", wait_for_pulse, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-036/e", KePulseEvent(&pulsed, 0, FALSE) == 0);
    CHECK_RULE("NT-036/e", KeReadStateEvent(&pulsed) == 0);
    pause_ns(100000);
    CHECK_RULE("NT-036/e", woken == expected);
    while (woken < 3) {
        KePulseEvent(&pulsed, 0, FALSE);
        pause_ns(100000);
    }
    KeSetEvent(&pulsed, 0, FALSE);
    CHECK_RULE("NT-036/e", KePulseEvent(&pulsed, 0, FALSE) == 1 && KeReadStateEvent(&pulsed) == 0);
    CHECK_RULE("NT-036/e", errors() == 0);
}

TEST_WITH(driver, pulses_wake_who_waits)
{
    pulse(NotificationEvent, 3);
    pulse(SynchronizationEvent, 1);
}

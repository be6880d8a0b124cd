/* SPDX-License-Identifier: MIT */
/* Waits and events at the borders of what they take: levels, time-outs, arrays, modes. */
#include "nt/ke/system_time.h"
#include "sim/machine.h"
#include "support/harness.h"

static LARGE_INTEGER zero, one_ms = {.QuadPart = -10000};
static KEVENT event;

static NTSTATUS wait_for(void *object, LARGE_INTEGER *timeout)
{
    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, timeout);
}

/* One violation of the rule since the last call. */
static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

/* ---- events ---- */

static void init_event(void)
{
    KeInitializeEvent(&event, NotificationEvent, TRUE);
}

static void clear_event(void)
{
    KeClearEvent(&event);
}

static void reset_event(void)
{
    KeResetEvent(&event);
}

static void read_event(void)
{
    (void)KeReadStateEvent(&event);
}

TEST_WITH(driver, types_and_levels_of_events)
{
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    wait_for(&event, &zero);
    CHECK_RULE("NT-034/b", KeReadStateEvent(&event) != 0);
    CHECK_RULE("NT-037/c", KeReadStateEvent(&event) != 0);
    KeInitializeEvent(&event, SynchronizationEvent, TRUE);
    wait_for(&event, &zero);
    CHECK_RULE("NT-034/b", KeReadStateEvent(&event) == 0);
    in_interrupt(init_event);
    CHECK_RULE("NT-034/c", errors() == 0 && KeReadStateEvent(&event) != 0);
    in_dpc(clear_event);
    in_dpc(reset_event);
    in_dpc(read_event);
    CHECK_RULE("NT-037/d", errors() == 0);
    in_interrupt(clear_event);
    CHECK_RULE("NT-037/d", one_told("NT-037"));
    in_interrupt(reset_event);
    CHECK_RULE("NT-037/d", one_told("NT-037"));
    in_interrupt(read_event);
    CHECK_RULE("NT-037/d", one_told("NT-037"));
}

TEST_WITH(driver, announced_waits_need_apc_level)
{
    KIRQL old;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeRaiseIrql(APC_LEVEL, &old);
    KeSetEvent(&event, 0, TRUE);
    wait_for(&event, &zero);
    KeLowerIrql(old);
    CHECK_RULE("NT-036/d", errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeSetEvent(&event, 0, TRUE);
    CHECK_RULE("NT-036/d", one_told("NT-036"));
    KeLowerIrql(old);
}

/* ---- what can be waited for ---- */

TEST_WITH(driver, each_object_satisfies_a_wait)
{
    KSEMAPHORE semaphore;
    KTIMER timer;
    KMUTEX mutex;

    KeInitializeSemaphore(&semaphore, 0, 1);
    KeInitializeTimer(&timer);
    KeInitializeMutex(&mutex, 0);
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    CHECK_RULE("NT-038/a", wait_for(&semaphore, &zero) == STATUS_TIMEOUT);
    CHECK_RULE("NT-038/a", wait_for(&timer, &zero) == STATUS_TIMEOUT);
    KeReleaseSemaphore(&semaphore, 0, 1, FALSE);
    KeSetTimer(&timer, one_ms, NULL);
    KeSetEvent(&event, 0, FALSE);
    CHECK_RULE("NT-038/c", wait_for(&event, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-038/c", wait_for(&semaphore, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-038/c", wait_for(&timer, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-038/c", wait_for(&mutex, NULL) == STATUS_SUCCESS);
    KeReleaseMutex(&mutex, FALSE);
    assert_int_equal(errors(), 0);
}

static bool over;

static void wait_for_ever(void *arg)
{
    (void)arg;
    wait_for(&event, NULL);
    over = true;
}

TEST_WITH(driver, no_timeout_is_for_ever)
{
    over = false;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    start("waiter", wait_for_ever, NULL);
    pause_ns(100ull * 3600 * 1000000000);
    CHECK_RULE("NT-039/e", !over);
    KeSetEvent(&event, 0, FALSE);
    pause_ns(100000);
    CHECK_RULE("NT-039/e", over);
}

TEST_WITH(driver, delays_have_two_kinds_of_time)
{
    LARGE_INTEGER now, until, after;
    KIRQL old;

    KeQuerySystemTimePrecise(&now);
    until.QuadPart = now.QuadPart + 70000;
    CHECK_RULE("NT-046/b", KeDelayExecutionThread(KernelMode, FALSE, &until) == STATUS_SUCCESS);
    KeQuerySystemTimePrecise(&after);
    CHECK_RULE("NT-046/b",
               after.QuadPart >= until.QuadPart && after.QuadPart < until.QuadPart + 10000);
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK_RULE("NT-046/c", KeDelayExecutionThread(KernelMode, FALSE, &one_ms) == STATUS_SUCCESS);
    CHECK_RULE("NT-046/c", errors() == 0);
    KeLowerIrql(old);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-046/c", !NT_SUCCESS(KeDelayExecutionThread(KernelMode, FALSE, &one_ms)));
    CHECK_RULE("NT-046/c", one_told("NT-046"));
    KeLowerIrql(old);
}

TEST_WITH(driver, waits_of_user_mode)
{
    KEVENT on_stack;
    KMUTEX mutex;

    KeInitializeEvent(&on_stack, NotificationEvent, TRUE);
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    KeInitializeMutex(&mutex, 0);
    KeWaitForSingleObject(&on_stack, UserRequest, KernelMode, FALSE, NULL);
    KeWaitForSingleObject(&event, UserRequest, UserMode, FALSE, NULL);
    CHECK_RULE("NT-041/b", errors() == 0);
    {
        static KMUTEX elsewhere;

        KeInitializeMutex(&elsewhere, 0);
        KeWaitForSingleObject(&elsewhere, UserRequest, UserMode, FALSE, NULL);
        CHECK_RULE("NT-041/c", one_told("NT-041"));
        KeReleaseMutex(&elsewhere, FALSE);
    }
}

/* ---- several objects ---- */

static NTSTATUS wait_any(ULONG count, KPROCESSOR_MODE mode, KWAIT_BLOCK *blocks)
{
    static KEVENT events[65];
    void *objects[65];

    for (unsigned i = 0; i < 65; i++) {
        KeInitializeEvent(&events[i], SynchronizationEvent, i >= 2);
        objects[i] = &events[i];
    }
    return KeWaitForMultipleObjects(count, objects, WaitAny, Executive, mode, FALSE, &zero, blocks);
}

TEST_WITH(driver, arrays_of_waits)
{
    static KWAIT_BLOCK blocks[65];
    KWAIT_BLOCK on_stack[65];
    KWAIT_BLOCK *paged = ExAllocatePoolWithTag(PagedPool, sizeof(blocks), TAG);

    CHECK_RULE("NT-042/a", wait_any(3, KernelMode, NULL) == STATUS_WAIT_2);
    CHECK_RULE("NT-043/a", errors() == 0);
    CHECK_RULE("NT-043/b", wait_any(64, KernelMode, blocks) == STATUS_WAIT_2 && errors() == 0);
    CHECK_RULE("NT-043/b", wait_any(65, KernelMode, blocks) != STATUS_WAIT_2);
    CHECK_RULE("NT-043/b", reported("NT-043", 0xC, 0));
    forget_reports();
    wait_any(64, KernelMode, paged);
    CHECK_RULE("NT-043/c", one_told("NT-043"));
    wait_any(64, KernelMode, on_stack);
    CHECK_RULE("NT-043/d", errors() == 0);
    wait_any(64, UserMode, on_stack);
    CHECK_RULE("NT-043/d", one_told("NT-043"));
    ExFreePool(paged);
}

/* ---- stalls ---- */

static ULONG stall_us;

static void stall(void)
{
    KeStallExecutionProcessor(stall_us);
}

TEST_WITH(driver, stalls_have_a_limit)
{
    KeStallExecutionProcessor(50);
    CHECK_RULE("NT-047/b", !broken("NT-047"));
    KeStallExecutionProcessor(51);
    CHECK_RULE("NT-047/b", broken("NT-047") && errors() == 0);
    KeStallExecutionProcessor(200);
    CHECK_RULE("NT-047/c", errors() == 0); /* in a thread, only a warning */
    stall_us = 100;
    in_dpc(stall);
    CHECK_RULE("NT-047/c", errors() == 0);
    stall_us = 101;
    in_dpc(stall);
    CHECK_RULE("NT-047/c", errors() == 1);
    forget_reports();
    stall_us = 30;
    in_interrupt(stall);
    CHECK_RULE("NT-047/d", !broken("NT-047"));
}

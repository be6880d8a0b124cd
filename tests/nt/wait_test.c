/* SPDX-License-Identifier: MIT */
/* Waiting, and what is waited for: events, semaphores, mutexes, threads. */
#include "nt/ke/system_time.h"
#include "support/harness.h"

#include "sim/machine.h"

static LARGE_INTEGER zero;

static NTSTATUS wait_for(void *object, const LARGE_INTEGER *timeout)
{
    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE,
                                 (PLARGE_INTEGER)(uintptr_t)timeout);
}

/* ---- events ---- */

static void check_initial_states(void)
{
    KEVENT event;

    for (int type = NotificationEvent; type <= SynchronizationEvent; type++) {
        for (int state = 0; state <= 1; state++) {
            KeInitializeEvent(&event, (EVENT_TYPE)type, (BOOLEAN)state);
            CHECK_RULE("NT-034/a", (KeReadStateEvent(&event) != 0) == (state != 0));
        }
    }
    CHECK_RULE("NT-037/a", KeResetEvent(&event) == 1);
    CHECK_RULE("NT-037/a", KeResetEvent(&event) == 0);
    CHECK_RULE("NT-035/a", KeSetEvent(&event, 0, FALSE) == 0);
    CHECK_RULE("NT-035/a", KeSetEvent(&event, 0, FALSE) == 1);
    KeClearEvent(&event);
    CHECK_RULE("NT-037/b", KeReadStateEvent(&event) == 0);
}

TEST_WITH(machine, events_keep_their_state)
{
    run(check_initial_states);
    assert_int_equal(errors(), 0);
}

static KEVENT shared_event;
static unsigned released;

static void wait_shared(void *arg)
{
    (void)arg;
    assert_int_equal(wait_for(&shared_event, NULL), STATUS_SUCCESS);
    released++;
}

TEST_WITH(driver, set_event_releases_all_or_one)
{
    released = 0;
    KeInitializeEvent(&shared_event, NotificationEvent, FALSE);
    start("a", wait_shared, NULL);
    start("b", wait_shared, NULL);
    pause_ns(100000);
    KeSetEvent(&shared_event, 0, FALSE);
    pause_ns(100000);
    CHECK_RULE("NT-035/b", released == 2 && KeReadStateEvent(&shared_event) != 0);

    released = 0;
    KeInitializeEvent(&shared_event, SynchronizationEvent, FALSE);
    start("a", wait_shared, NULL);
    start("b", wait_shared, NULL);
    pause_ns(100000);
    KeSetEvent(&shared_event, 0, FALSE);
    pause_ns(100000);
    CHECK_RULE("NT-035/c", released == 1 && KeReadStateEvent(&shared_event) == 0);
    KeSetEvent(&shared_event, 0, FALSE);
    pause_ns(100000);
    assert_int_equal(released, 2);
}

static void set_in_interrupt(void)
{
    KeSetEvent(&shared_event, 0, FALSE);
}

TEST_WITH(driver, set_event_is_checked)
{
    KeInitializeEvent(&shared_event, NotificationEvent, FALSE);
    in_dpc(set_in_interrupt);
    CHECK_RULE("NT-036/a", errors() == 0 && KeReadStateEvent(&shared_event) != 0);
    in_interrupt(set_in_interrupt);
    CHECK_RULE("NT-036/b", reported("NT-036", 0xC4, 0x80));
    forget_reports();
    KeSetEvent(&shared_event, 0, TRUE);
    wait_for(&shared_event, NULL);
    CHECK_RULE("NT-036/c", errors() == 0);
    KeSetEvent(&shared_event, 0, TRUE);
    KeClearEvent(&shared_event);
    CHECK_RULE("NT-036/c", broken("NT-036"));
}

TEST_WITH(driver, objects_are_recognised)
{
    static KEVENT zeroed;
    KEVENT *paged = ExAllocatePoolWithTag(PagedPool, sizeof(*paged), TAG);
    KEVENT *freed = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*freed), TAG);
    KEVENT copy;

    KeInitializeEvent(paged, NotificationEvent, FALSE);
    CHECK_RULE("NT-004/a", reported("NT-004", 0xC4, 0xE1));
    forget_reports();
    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_RULE("NT-005/a", KeSetEvent(&zeroed, 0, FALSE) == 0 && broken("NT-005"));
    CHECK_RULE("NT-005/a", zeroed.Header.SignalState == 0);
    forget_reports();
    KeInitializeEvent(freed, NotificationEvent, FALSE);
    copy = *freed;
    ExFreePool(freed);
    KeSetEvent(freed, 0, FALSE);
    CHECK_RULE("NT-005/b", broken("NT-005"));
    forget_reports();
    CHECK_RULE("NT-005/a", wait_for(&copy, &zero) == STATUS_UNSUCCESSFUL && broken("NT-005"));
    ExFreePool(paged);
}

/* ---- time-outs ---- */

static void check_timeouts(void)
{
    KEVENT event;
    LARGE_INTEGER timeout = relative_ms(1), past = {.QuadPart = 10000};
    uint64_t before;
    NTSTATUS status;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    before = sim_now();
    status = wait_for(&event, &timeout);
    CHECK_RULE("NT-038/d", status == STATUS_TIMEOUT && NT_SUCCESS(status));
    CHECK_RULE("NT-039/a", sim_now() - before >= 1000000 && sim_now() - before < 1100000);
    before = sim_now();
    CHECK_RULE("NT-039/b", wait_for(&event, &past) == STATUS_TIMEOUT && sim_now() - before < 10000);
    before = sim_now();
    CHECK_RULE("NT-039/c", wait_for(&event, &zero) == STATUS_TIMEOUT && sim_now() - before < 1000);
    before = sim_now();
    timeout = relative_ms(5);
    CHECK_RULE("NT-046/a", KeDelayExecutionThread(KernelMode, FALSE, &timeout) == STATUS_SUCCESS);
    CHECK_RULE("NT-046/a", sim_now() - before >= 5000000);
}

TEST_WITH(machine, timeouts_are_relative_absolute_or_zero)
{
    run(check_timeouts);
    assert_int_equal(errors(), 0);
}

static uint64_t woken_at;

static void wait_absolute(void *arg)
{
    wait_for(&shared_event, arg);
    woken_at = sim_now();
}

TEST_WITH(driver, absolute_timeouts_follow_the_clock)
{
    LARGE_INTEGER now, due;

    KeInitializeEvent(&shared_event, NotificationEvent, FALSE);
    KeQuerySystemTimePrecise(&now);
    due.QuadPart = now.QuadPart + 3600LL * 10000000; /* in an hour */
    woken_at = 0;
    start("waiter", wait_absolute, &due);
    pause_ns(1000000);
    nt_system_time_set((uint64_t)due.QuadPart - 10000); /* 1 ms before */
    pause_ns(10000000);
    CHECK_RULE("NT-039/d", woken_at != 0 && woken_at < 3000000);
}

TEST_WITH(driver, an_hour_passes_at_once)
{
    KEVENT event;
    LARGE_INTEGER hour = relative_ms(3600 * 1000);
    LARGE_INTEGER before, after, counter, later;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeQuerySystemTimePrecise(&before);
    counter = KeQueryPerformanceCounter(NULL);
    wait_for(&event, &hour);
    KeQuerySystemTimePrecise(&after);
    later = KeQueryPerformanceCounter(NULL);
    CHECK_RULE("NT-091/a", after.QuadPart - before.QuadPart >= 36000000000LL &&
                               after.QuadPart - before.QuadPart < 36000100000LL);
    CHECK_RULE("NT-091/b", later.QuadPart - counter.QuadPart >= 36000000000LL);
}

/* ---- levels ---- */

static LARGE_INTEGER one_ms = {.QuadPart = -10000};

static void wait_with_timeout(void)
{
    wait_for(&shared_event, &one_ms);
}

static void wait_zero(void)
{
    wait_for(&shared_event, &zero);
}

TEST_WITH(driver, waits_need_a_low_level)
{
    KIRQL old;

    KeInitializeEvent(&shared_event, NotificationEvent, FALSE);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-040/a", wait_for(&shared_event, &zero) == STATUS_TIMEOUT && errors() == 0);
    CHECK_RULE("THREAD-009", wait_for(&shared_event, NULL) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-040/b", reported("NT-040", 0xC4, 0x121));
    wait_for(&shared_event, &one_ms);
    CHECK_RULE("NT-040/c", reported("NT-040", 0xC4, 0x122));
    KeLowerIrql(old);
    in_interrupt(wait_zero);
    CHECK_RULE("NT-040/d", reported("NT-040", 0xC4, 0x120));
    in_dpc(wait_with_timeout);
    CHECK_RULE("NT-040/e", reported("NT-040", 0xB8, (uintptr_t)KeGetCurrentThread()));
}

/* Others run at their own level meanwhile. */
TEST_WITH(driver, a_wait_keeps_the_level)
{
    KIRQL old;

    KeInitializeEvent(&shared_event, NotificationEvent, FALSE);
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK_RULE("NT-040/f", wait_for(&shared_event, &one_ms) == STATUS_TIMEOUT);
    CHECK_RULE("NT-040/f", KeGetCurrentIrql() == APC_LEVEL);
    KeLowerIrql(old);
    CHECK_RULE("NT-040/f", wait_for(&shared_event, &one_ms) == STATUS_TIMEOUT);
    CHECK_RULE("NT-040/f", KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);
}

TEST_WITH(driver, user_mode_waits_keep_off_the_stack)
{
    KEVENT event;

    KeInitializeEvent(&event, NotificationEvent, TRUE);
    KeWaitForSingleObject(&event, UserRequest, UserMode, FALSE, NULL);
    CHECK_RULE("NT-041/a", reported("NT-041", 0xC4, 0x123));
}

/* ---- several objects ---- */

static void check_wait_all(void)
{
    KEVENT a, b;
    void *objects[2] = {&a, &b};
    NTSTATUS status;

    KeInitializeEvent(&a, SynchronizationEvent, TRUE);
    KeInitializeEvent(&b, SynchronizationEvent, FALSE);
    status = KeWaitForMultipleObjects(2, objects, WaitAll, Executive, KernelMode, FALSE, &one_ms,
                                      NULL);
    CHECK_RULE("NT-042/b", status == STATUS_TIMEOUT && KeReadStateEvent(&a) != 0);
    KeSetEvent(&b, 0, FALSE);
    status = KeWaitForMultipleObjects(2, objects, WaitAll, Executive, KernelMode, FALSE, &one_ms,
                                      NULL);
    CHECK_RULE("NT-042/c",
               status == STATUS_SUCCESS && !KeReadStateEvent(&a) && !KeReadStateEvent(&b));
}

static void check_wait_any(void)
{
    KEVENT event[3];
    void *objects[4] = {&event[0], &event[1], &event[2], &event[2]};
    NTSTATUS status;

    for (unsigned i = 0; i < 3; i++)
        KeInitializeEvent(&event[i], SynchronizationEvent, i > 0);
    status = KeWaitForMultipleObjects(3, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL);
    CHECK_RULE("NT-044", status == STATUS_WAIT_1);
    CHECK_RULE("NT-042/a", !KeReadStateEvent(&event[1]) && KeReadStateEvent(&event[2]));
    KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL);
    CHECK_RULE("NT-043/a", verify_bugcheck_state(h.log)->code == 0xC);
}

TEST_WITH(machine, waits_on_several_objects)
{
    run(check_wait_all);
    run(check_wait_any);
}

static KEVENT many[64];
static NTSTATUS many_status;

static void wait_many(void *arg)
{
    static KWAIT_BLOCK blocks[64];
    void *objects[64];

    (void)arg;
    for (unsigned i = 0; i < 64; i++)
        objects[i] = &many[i];
    many_status = KeWaitForMultipleObjects(64, objects, WaitAll, Executive, KernelMode, FALSE, NULL,
                                           blocks);
}

static void check_many(void)
{
    many_status = -1;
    for (unsigned i = 0; i < 64; i++)
        KeInitializeEvent(&many[i], SynchronizationEvent, FALSE);
    start("waiter", wait_many, NULL);
    pause_ns(100000);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(many_status, -1);
        KeSetEvent(&many[(i * 37) % 64], 0, FALSE);
        pause_ns(10000);
    }
    CHECK_RULE("NT-042/d", many_status == STATUS_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        CHECK_RULE("NT-042/d", !KeReadStateEvent(&many[i]));
}

TEST_WITH(machine_smp, all_of_sixty_four)
{
    run(check_many);
    assert_int_equal(errors(), 0);
}

/* ---- semaphores ---- */

static KSEMAPHORE semaphore;

static void wait_semaphore(void *arg)
{
    (void)arg;
    wait_for(&semaphore, NULL);
    released++;
}

TEST_WITH(driver, semaphores_count)
{
    released = 0;
    KeInitializeSemaphore(&semaphore, 0, 2);
    for (unsigned i = 0; i < 3; i++)
        start("waiter", wait_semaphore, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-070/a", released == 0);
    CHECK_RULE("NT-069/a", KeReleaseSemaphore(&semaphore, 0, 2, FALSE) == 0);
    pause_ns(100000);
    assert_int_equal(released, 2);
    KeReleaseSemaphore(&semaphore, 0, 1, FALSE);
    pause_ns(100000);
    assert_int_equal(released, 3);
    KeReleaseSemaphore(&semaphore, 0, 3, FALSE);
    CHECK_RULE("NT-069/b", h.raises == 1 && h.raised == STATUS_SEMAPHORE_LIMIT_EXCEEDED);
    CHECK_RULE("NT-069/b", KeReadStateSemaphore(&semaphore) == 0);
    CHECK_RULE("NT-069/a", KeReleaseSemaphore(&semaphore, 0, 1, FALSE) == 0);
    CHECK_RULE("NT-069/a", KeReleaseSemaphore(&semaphore, 0, 1, FALSE) == 1);
    CHECK_RULE("NT-069/c", h.raises == 1 && KeReadStateSemaphore(&semaphore) == 2);
    for (LONG wrong = -1; wrong <= 0; wrong++) {
        forget_reports();
        KeReleaseSemaphore(&semaphore, 0, wrong, FALSE);
        CHECK_RULE("NT-069/d", broken("NT-069") && KeReadStateSemaphore(&semaphore) == 2);
    }
    forget_reports();
    KeInitializeSemaphore(&semaphore, 3, 2);
    CHECK_RULE("NT-070/b", broken("NT-070"));
    forget_reports();
    KeInitializeSemaphore(&semaphore, -1, 2);
    CHECK_RULE("NT-070/c", broken("NT-070"));
}

/* ---- mutexes ---- */

static KMUTEX mutex;
static bool other_has_it;

static void take_mutex(void *arg)
{
    (void)arg;
    wait_for(&mutex, NULL);
    other_has_it = true;
    KeReleaseMutex(&mutex, FALSE);
}

static void release_foreign(void *arg)
{
    (void)arg;
    KeReleaseMutex(&mutex, FALSE);
}

TEST_WITH(driver_smp, mutexes_have_an_owner)
{
    KeInitializeMutex(&mutex, 0);
    CHECK_RULE("NT-067/a", KeReadStateMutex(&mutex) == 1);
    wait_for(&mutex, NULL);
    CHECK_RULE("NT-067/b", wait_for(&mutex, &zero) == STATUS_SUCCESS);
    CHECK_RULE("NT-067/c", KeAreApcsDisabled());
    other_has_it = false;
    start("other", take_mutex, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-067/d", KeReleaseMutex(&mutex, FALSE) != 0);
    pause_ns(100000);
    CHECK_RULE("NT-067/d", !other_has_it);
    CHECK_RULE("NT-067/d", KeReleaseMutex(&mutex, FALSE) == 0);
    pause_ns(100000);
    CHECK_RULE("NT-067/d", other_has_it);
    CHECK_RULE("NT-067/c", !KeAreApcsDisabled());

    wait_for(&mutex, NULL);
    start("thief", release_foreign, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-068/a", h.raises == 1 && h.raised == STATUS_MUTANT_NOT_OWNED);
    CHECK_RULE("NT-002", reported("NT-068", 0x1E, (uint32_t)STATUS_MUTANT_NOT_OWNED));
    CHECK_RULE("NT-068/b", KeReadStateMutex(&mutex) == 0);
    CHECK_RULE("NT-068/b", KeReleaseMutex(&mutex, FALSE) == 0 && h.raises == 1);
}

static VOID NTAPI end_owning(PVOID context)
{
    (void)context;
    wait_for(&mutex, NULL);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

TEST_WITH(driver, abandoned_mutexes_say_so)
{
    KEVENT event;
    void *objects[2] = {&event, &mutex};
    HANDLE handle;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeInitializeMutex(&mutex, 0);
    PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, end_owning, NULL);
    pause_ns(1000000);
    CHECK_RULE("NT-096/b", reported("NT-096", 0xC4, 0x100A));
    CHECK_RULE("NT-045/a",
               KeWaitForMultipleObjects(2, objects, WaitAny, Executive, KernelMode, FALSE, NULL,
                                        NULL) == STATUS_ABANDONED_WAIT_0 + 1);
    CHECK_RULE("NT-096/b", KeReadStateMutex(&mutex) == 0);
    CHECK_RULE("NT-045/b", KeReleaseMutex(&mutex, FALSE) == 0 && h.raises == 0);
    ZwClose(handle);
}

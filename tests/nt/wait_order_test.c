/* SPDX-License-Identifier: MIT */
/* Who is served when several wait, what is used up, and mutexes whose owner has ended. */
#include "nt/ke/system_time.h"
#include "sim/machine.h"
#include "support/harness.h"

static LARGE_INTEGER zero;
static KEVENT event[3];
static KMUTEX mutex[3];

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static NTSTATUS poll(void *object)
{
    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero);
}

static void init_all(EVENT_TYPE type)
{
    for (unsigned i = 0; i < 3; i++) {
        KeInitializeEvent(&event[i], type, FALSE);
        KeInitializeMutex(&mutex[i], 0);
    }
}

/* ---- waiters ---- */

struct waiter {
    void *object[3];
    ULONG count;
    WAIT_TYPE type;
    LONGLONG ms; /* 0: for ever */
    NTSTATUS status;
    unsigned turn; /* 0: it still waits */
};

static unsigned turns;

static void wait_as_told(void *arg)
{
    struct waiter *waiter = arg;
    LARGE_INTEGER timeout = relative_ms(waiter->ms);

    waiter->status = KeWaitForMultipleObjects(waiter->count, waiter->object, waiter->type,
                                              Executive, KernelMode, FALSE,
                                              waiter->ms ? &timeout : NULL, NULL);
    waiter->turn = ++turns;
}

static void let_wait(struct waiter *waiters, unsigned count)
{
    turns = 0;
    for (unsigned i = 0; i < count; i++) {
        start("waiter", wait_as_told, &waiters[i]);
        pause_ns(1000);
    }
}

static void set(unsigned index)
{
    KeSetEvent(&event[index], 0, FALSE);
    pause_ns(1000);
}

TEST_WITH(driver, who_came_first_is_served_first)
{
    struct waiter waiters[4] = {{.object = {&event[0]}, .count = 1, .type = WaitAny},
                                {.object = {&event[0]}, .count = 1, .type = WaitAny, .ms = 1},
                                {.object = {&event[0]}, .count = 1, .type = WaitAny},
                                {.object = {&event[0]}, .count = 1, .type = WaitAny, .ms = 1}};

    init_all(SynchronizationEvent);
    let_wait(waiters, 4);
    set(0);
    CHECK(waiters[0].turn == 1 && waiters[0].status == STATUS_SUCCESS && turns == 1);
    pause_ns(2000000); /* the first and the last in the queue give up */
    CHECK(turns == 3 && waiters[1].status == STATUS_TIMEOUT && waiters[3].status == STATUS_TIMEOUT);
    CHECK(KeReadStateEvent(&event[0]) == 0);
    set(0);
    CHECK(waiters[2].turn == 4 && waiters[2].status == STATUS_SUCCESS);
    set(0);
    CHECK(KeReadStateEvent(&event[0]) == 1);
}

TEST_WITH(driver, who_cannot_go_on_yet_lets_others_pass)
{
    struct waiter waiters[4] = {
        {.object = {&event[0], &event[1]}, .count = 2, .type = WaitAll},
        {.object = {&event[0], &event[2]}, .count = 2, .type = WaitAny},
        {.object = {&event[2], &event[0], &event[1]}, .count = 3, .type = WaitAll},
        {.object = {&event[1], &event[0]}, .count = 2, .type = WaitAny}};

    init_all(SynchronizationEvent);
    let_wait(waiters, 4);
    set(0);
    CHECK_RULE("NT-044", turns == 1 && waiters[1].turn == 1 && waiters[1].status == STATUS_WAIT_0);
    set(0);
    CHECK_RULE("NT-044", turns == 2 && waiters[3].turn == 2 && waiters[3].status == STATUS_WAIT_1);
    set(0); /* nobody but those who wait for all */
    CHECK(turns == 2 && KeReadStateEvent(&event[0]) == 1);
    set(2);
    CHECK(turns == 2 && KeReadStateEvent(&event[2]) == 1);
    set(1);
    CHECK_RULE("NT-042/c",
               turns == 3 && waiters[0].turn == 3 && waiters[0].status == STATUS_WAIT_0 &&
                   KeReadStateEvent(&event[0]) == 0 && KeReadStateEvent(&event[1]) == 0);
    CHECK_RULE("NT-042/b", KeReadStateEvent(&event[2]) == 1);
    set(0);
    set(1);
    CHECK_RULE("NT-042/c", waiters[2].turn == 4 && waiters[2].status == STATUS_WAIT_0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("NT-042/c", KeReadStateEvent(&event[i]) == 0);
}

TEST_WITH(driver, an_object_may_be_named_twice)
{
    struct waiter waiters[2] = {
        {.object = {&event[0], &event[0]}, .count = 2, .type = WaitAny},
        {.object = {&event[0], &event[1], &event[0]}, .count = 3, .type = WaitAny}};

    init_all(SynchronizationEvent);
    let_wait(waiters, 2);
    set(0);
    CHECK(turns == 1 && waiters[0].turn == 1 && waiters[0].status == STATUS_WAIT_0);
    set(1);
    CHECK(turns == 2 && waiters[1].status == STATUS_WAIT_1);
    set(0);
    CHECK(KeReadStateEvent(&event[0]) == 1);

    init_all(NotificationEvent);
    let_wait(waiters, 2);
    set(0);
    CHECK(turns == 2 && waiters[0].status == STATUS_WAIT_0 && waiters[1].status == STATUS_WAIT_0);
}

TEST_WITH(driver, semaphores_serve_as_many_as_they_count)
{
    struct waiter waiters[3] = {0};
    KSEMAPHORE semaphore;

    KeInitializeSemaphore(&semaphore, 0, 5);
    for (unsigned i = 0; i < 3; i++)
        waiters[i] = (struct waiter){.object = {&semaphore, &event[0]}, .count = 2, .type = WaitAny};
    init_all(SynchronizationEvent);
    let_wait(waiters, 3);
    KeReleaseSemaphore(&semaphore, 0, 2, FALSE);
    pause_ns(1000);
    CHECK(turns == 2 && waiters[0].turn && waiters[1].turn && KeReadStateSemaphore(&semaphore) == 0);
    KeReleaseSemaphore(&semaphore, 0, 2, FALSE);
    pause_ns(1000);
    CHECK(turns == 3 && KeReadStateSemaphore(&semaphore) == 1);
}

/* Nothing is used up where it is not all there. */
TEST_WITH(driver, polling_for_all_takes_all_or_nothing)
{
    void *objects[3] = {&event[0], &mutex[0], &event[1]};

    init_all(SynchronizationEvent);
    KeSetEvent(&event[0], 0, FALSE);
    CHECK_RULE("NT-042/b", KeWaitForMultipleObjects(3, objects, WaitAll, Executive, KernelMode,
                                                    FALSE, &zero, NULL) == STATUS_TIMEOUT);
    CHECK_RULE("NT-042/b", KeReadStateEvent(&event[0]) == 1 && KeReadStateMutex(&mutex[0]) == 1);
    KeSetEvent(&event[1], 0, FALSE);
    CHECK_RULE("NT-042/c", KeWaitForMultipleObjects(3, objects, WaitAll, Executive, KernelMode,
                                                    FALSE, &zero, NULL) == STATUS_WAIT_0);
    CHECK_RULE("NT-042/c", KeReadStateEvent(&event[0]) == 0 && KeReadStateMutex(&mutex[0]) == 0 &&
                               KeReadStateEvent(&event[1]) == 0);
    KeReleaseMutex(&mutex[0], FALSE);
    CHECK(errors() == 0);
}

TEST_WITH(driver, waits_on_several_are_checked)
{
    static KWAIT_BLOCK blocks[64];
    KWAIT_BLOCK *paged = ExAllocatePoolWithTag(PagedPool, 4 * sizeof(*paged), TAG);
    KWAIT_BLOCK on_stack[4];
    void *objects[65];

    init_all(NotificationEvent);
    for (unsigned i = 0; i < 65; i++)
        objects[i] = &event[0];
    KeSetEvent(&event[0], 0, FALSE);
    CHECK(KeWaitForMultipleObjects(1, objects, (WAIT_TYPE)2, Executive, KernelMode, FALSE, &zero,
                                   NULL) == STATUS_INVALID_PARAMETER);
    CHECK(one_told("NT-042"));
    CHECK(KeWaitForMultipleObjects(0, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   blocks) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-043/a", reported("NT-043", 0xC, 0) && one_told("NT-043"));
    CHECK(KeWaitForMultipleObjects(65, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   blocks) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-043/a", one_told("NT-043"));
    CHECK(KeWaitForMultipleObjects(64, objects, WaitAll, Executive, KernelMode, FALSE, &zero,
                                   blocks) == STATUS_SUCCESS &&
          errors() == 0);
    CHECK(KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   NULL) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("NT-043/a", one_told("NT-043"));
    CHECK(KeWaitForMultipleObjects(3, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   NULL) == STATUS_SUCCESS &&
          errors() == 0);
    CHECK(KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   paged) == STATUS_SUCCESS);
    CHECK(one_told("NT-043"));
    CHECK(KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   on_stack) == STATUS_SUCCESS &&
          errors() == 0);
    CHECK(KeWaitForMultipleObjects(4, objects, WaitAny, Executive, UserMode, FALSE, &zero,
                                   on_stack) == STATUS_SUCCESS);
    CHECK(one_told("NT-043"));
    objects[1] = NULL;
    CHECK(KeWaitForMultipleObjects(2, objects, WaitAny, Executive, KernelMode, FALSE, &zero,
                                   NULL) == STATUS_UNSUCCESSFUL);
    CHECK(one_told("NT-005"));
    objects[1] = &mutex[0];
    CHECK(KeWaitForMultipleObjects(2, objects, WaitAny, Executive, UserMode, FALSE, &zero, NULL) ==
          STATUS_WAIT_0);
    CHECK_RULE("NT-041/b", one_told("NT-041"));
    ExFreePool(paged);
}

/* ---- the clock ---- */

TEST_WITH(driver, waits_for_a_while_do_not_follow_the_clock)
{
    struct waiter waiters[1] = {{.object = {&event[0]}, .count = 1, .type = WaitAny, .ms = 10}};
    LARGE_INTEGER now;

    init_all(NotificationEvent);
    let_wait(waiters, 1);
    pause_ns(5000000);
    KeQuerySystemTimePrecise(&now);
    nt_system_time_set((uint64_t)now.QuadPart + 36000000000u);
    pause_ns(4000000);
    CHECK(turns == 0);
    pause_ns(2000000);
    CHECK(turns == 1 && waiters[0].status == STATUS_TIMEOUT);
}

/* ---- mutexes ---- */

static VOID NTAPI end_owning(PVOID context)
{
    unsigned released = *(unsigned *)context;

    for (unsigned i = 0; i < 3; i++)
        CHECK(poll(&mutex[i]) == STATUS_SUCCESS);
    CHECK(poll(&mutex[1]) == STATUS_SUCCESS); /* twice */
    KeReleaseMutex(&mutex[released], FALSE);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static void let_end(unsigned released)
{
    HANDLE thread;

    init_all(SynchronizationEvent);
    PsCreateSystemThread(&thread, 0, NULL, NULL, NULL, end_owning, &released);
    pause_ns(1000000);
    ZwClose(thread);
    forget_reports();
}

TEST_WITH(driver, all_that_a_thread_owned_is_abandoned)
{
    void *objects[3] = {&event[0], &mutex[2], &mutex[1]};

    let_end(0);
    CHECK(poll(&mutex[0]) == STATUS_SUCCESS);
    CHECK(KeReadStateMutex(&mutex[1]) == 1 && KeReadStateMutex(&mutex[2]) == 1);
    CHECK(KeReleaseMutex(&mutex[1], FALSE) == 1 && h.raises == 1 && h.raised == STATUS_ABANDONED);
    KeSetEvent(&event[0], 0, FALSE);
    CHECK_RULE("NT-045/a",
               KeWaitForMultipleObjects(3, objects, WaitAll, Executive, KernelMode, FALSE, &zero,
                                        NULL) == STATUS_ABANDONED_WAIT_0 + 2);
    CHECK(KeReleaseMutex(&mutex[1], FALSE) == 0 && poll(&mutex[1]) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("NT-045/b", KeReleaseMutex(&mutex[i], FALSE) == 0);
    CHECK(h.raises == 1 && !KeAreApcsDisabled());
    let_end(2);
    CHECK(poll(&mutex[0]) == STATUS_ABANDONED_WAIT_0 && poll(&mutex[1]) == STATUS_ABANDONED_WAIT_0);
    CHECK(poll(&mutex[2]) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        KeReleaseMutex(&mutex[i], FALSE);
    let_end(1); /* once; it had it twice */
    CHECK(poll(&mutex[1]) == STATUS_ABANDONED_WAIT_0);
    KeReleaseMutex(&mutex[1], FALSE);
}

TEST_WITH(driver, mutexes_that_nobody_owns_are_not_released)
{
    init_all(SynchronizationEvent);
    CHECK(mutex[0].ApcDisable == 1 && mutex[0].MutantFlags == 0);
    CHECK_RULE("NT-068/b", KeReleaseMutex(&mutex[0], FALSE) == 1 && h.raises == 1 &&
                               h.raised == STATUS_MUTANT_NOT_OWNED);
    CHECK(KeReadStateMutex(&mutex[0]) == 1 && !KeAreApcsDisabled());
    CHECK(poll(&mutex[0]) == STATUS_SUCCESS && poll(&mutex[1]) == STATUS_SUCCESS);
    CHECK(poll(&mutex[0]) == STATUS_SUCCESS && KeReadStateMutex(&mutex[0]) == -1);
    CHECK(KeReleaseMutex(&mutex[0], FALSE) == -1 && KeReadStateMutex(&mutex[0]) == 0);
    CHECK(KeReleaseMutex(&mutex[0], FALSE) == 0 && KeReadStateMutex(&mutex[0]) == 1);
    CHECK_RULE("NT-067/c", KeAreApcsDisabled());
    CHECK(KeReleaseMutex(&mutex[1], FALSE) == 0 && h.raises == 1);
    CHECK_RULE("NT-067/c", !KeAreApcsDisabled());
}

static PKMUTEX pool_mutex;

static VOID NTAPI end_with_freed(PVOID context)
{
    (void)context;
    pool_mutex = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*pool_mutex), TAG);
    KeInitializeMutex(pool_mutex, 0);
    CHECK(poll(pool_mutex) == STATUS_SUCCESS && poll(&mutex[0]) == STATUS_SUCCESS &&
          poll(&mutex[1]) == STATUS_SUCCESS && poll(&mutex[2]) == STATUS_SUCCESS);
    KeInitializeMutex(&mutex[0], 0); /* no longer theirs */
    KeInitializeMutex(&mutex[2], 0);
    ExFreePool(pool_mutex);
    pause_ns(500000);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

TEST_WITH(driver, what_is_gone_is_not_abandoned)
{
    HANDLE thread;

    init_all(SynchronizationEvent);
    PsCreateSystemThread(&thread, 0, NULL, NULL, NULL, end_with_freed, NULL);
    pause_ns(100000);
    CHECK(poll(&mutex[2]) == STATUS_SUCCESS); /* before that thread ends */
    pause_ns(1000000);
    ZwClose(thread);
    CHECK(KeReadStateMutex(&mutex[2]) == 0 && KeReleaseMutex(&mutex[2], FALSE) == 0);
    CHECK(h.raises == 0 && poll(&mutex[0]) == STATUS_SUCCESS);
    CHECK(poll(&mutex[1]) == STATUS_ABANDONED_WAIT_0);
    KeReleaseMutex(&mutex[0], FALSE);
    KeReleaseMutex(&mutex[1], FALSE);
}

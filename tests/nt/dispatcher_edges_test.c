/* SPDX-License-Identifier: MIT */
/* Dispatcher objects that are none, are of another kind, or are used too high. */
#include "sim/machine.h"
#include "support/harness.h"

static LARGE_INTEGER zero;
static KEVENT event;
static KSEMAPHORE semaphore;
static KMUTEX mutex;
static KTIMER timer;
static KDPC dpc;

static NTSTATUS poll(void *object)
{
    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero);
}

/* One violation of the rule since the last call. */
static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static unsigned runs;

static VOID NTAPI note(PKDPC self, PVOID context, PVOID a, PVOID b)
{
    (void)self;
    (void)context;
    (void)a;
    (void)b;
    runs++;
}

static void init_all(void)
{
    runs = 0;
    KeInitializeEvent(&event, SynchronizationEvent, FALSE);
    KeInitializeSemaphore(&semaphore, 1, 2);
    KeInitializeMutex(&mutex, 0);
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, note, &runs);
}

/* ---- what is no object, or one of another type ---- */

TEST_WITH(driver, objects_of_another_type_are_refused)
{
    const LARGE_INTEGER due = relative_ms(1);
    PKEVENT no_event = (PKEVENT)(void *)&semaphore;
    PKSEMAPHORE no_semaphore = (PKSEMAPHORE)(void *)&mutex;
    PKMUTEX no_mutex = (PKMUTEX)(void *)&semaphore;
    PKTIMER no_timer = (PKTIMER)(void *)&event;

    init_all();
    KeSetEvent(&event, 0, FALSE);
    CHECK_RULE("NT-005/a", KeSetEvent(no_event, 0, FALSE) == 0 && one_told("NT-005"));
    CHECK_RULE("NT-005/a", KePulseEvent(no_event, 0, FALSE) == 0 && one_told("NT-005"));
    CHECK_RULE("NT-005/a", KeResetEvent(no_event) == 0 && one_told("NT-005"));
    CHECK_RULE("NT-005/a", KeReadStateEvent(no_event) == 0 && one_told("NT-005"));
    KeClearEvent(no_event);
    CHECK_RULE("NT-005/a", one_told("NT-005") && KeReadStateSemaphore(&semaphore) == 1);
    CHECK(KeReleaseSemaphore(no_semaphore, 0, 1, FALSE) == 0 && one_told("NT-005"));
    CHECK(KeReadStateSemaphore(no_semaphore) == 0 && one_told("NT-005"));
    CHECK(KeReadStateMutex(&mutex) == 1);
    CHECK(KeReleaseMutex(no_mutex, FALSE) == 0 && one_told("NT-005") && h.raises == 0);
    CHECK(KeReadStateMutex(no_mutex) == 0 && one_told("NT-005"));
    CHECK(!KeSetTimer(no_timer, due, NULL) && one_told("NT-005"));
    CHECK(!KeSetTimerEx(no_timer, due, 1, NULL) && one_told("NT-005"));
    CHECK(!KeCancelTimer(no_timer) && one_told("NT-005"));
    CHECK(!KeReadStateTimer(no_timer) && one_told("NT-005"));
    CHECK(KeReadStateEvent(&event) == 1 && errors() == 0);

    /* Types that nobody waits for; the last that there is, and beyond. */
    event.Header.Type = 4;
    CHECK(poll(&event) == STATUS_UNSUCCESSFUL && one_told("NT-005"));
    event.Header.Type = 31;
    CHECK(poll(&event) == STATUS_UNSUCCESSFUL && one_told("NT-005"));
    event.Header.Type = 32;
    CHECK(poll(&event) == STATUS_UNSUCCESSFUL && one_told("NT-005"));
    event.Header.Type = 33;
    CHECK(poll(&event) == STATUS_UNSUCCESSFUL && one_told("NT-005"));
}

TEST_WITH(driver, there_is_no_object_at_zero)
{
    const LARGE_INTEGER due = relative_ms(1);

    init_all();
    KeInitializeEvent(NULL, NotificationEvent, FALSE);
    CHECK(one_told("NT-005"));
    KeInitializeSemaphore(NULL, 0, 1);
    CHECK(one_told("NT-005"));
    KeInitializeMutex(NULL, 0);
    CHECK(one_told("NT-005"));
    KeInitializeTimer(NULL);
    CHECK(one_told("NT-005"));
    KeInitializeDpc(NULL, note, NULL);
    CHECK(one_told("NT-005"));
    KeInitializeGuardedMutex(NULL);
    CHECK(one_told("NT-005"));
    CHECK(KeSetEvent(NULL, 0, FALSE) == 0 && one_told("NT-005"));
    CHECK(poll(NULL) == STATUS_UNSUCCESSFUL && one_told("NT-005"));
    CHECK(!KeSetTimer(NULL, due, &dpc) && one_told("NT-005"));
    CHECK(!KeInsertQueueDpc(NULL, NULL, NULL) && one_told("NT-005"));
    CHECK(!KeRemoveQueueDpc(NULL) && one_told("NT-005"));
    KeSetImportanceDpc(NULL, HighImportance);
    CHECK(one_told("NT-005"));
    KeSetTargetProcessorDpc(NULL, 0);
    CHECK(one_told("NT-005"));
}

/* ---- levels ---- */

static void pulse_event(void)
{
    CHECK(KePulseEvent(&event, 0, FALSE) == 0);
}

static void release_semaphore(void)
{
    CHECK(KeReleaseSemaphore(&semaphore, 0, 1, FALSE) == 1);
}

static void set_timer(void)
{
    CHECK(!KeSetTimer(&timer, relative_ms(1), NULL));
}

static void set_timer_ex(void)
{
    CHECK(KeSetTimerEx(&timer, relative_ms(1), 0, NULL));
}

static void set_coalescable_timer(void)
{
    CHECK(KeSetCoalescableTimer(&timer, relative_ms(1), 0, 0, NULL));
}

static void cancel_timer(void)
{
    CHECK(KeCancelTimer(&timer));
}

static void release_mutex(void)
{
    CHECK(KeReleaseMutex(&mutex, FALSE) == 0);
}

static void save_floating(void)
{
    KFLOATING_SAVE save;

    KeSaveFloatingPointState(&save);
    KeRestoreFloatingPointState(&save);
}

/* They work nevertheless. */
TEST_WITH(driver, changes_above_dispatch_level_are_told)
{
    init_all();
    in_dpc(pulse_event);
    in_dpc(release_semaphore);
    KeInitializeSemaphore(&semaphore, 1, 2);
    in_dpc(set_timer);
    in_dpc(cancel_timer);
    in_dpc(save_floating);
    CHECK(errors() == 0);
    in_interrupt(pulse_event);
    CHECK_RULE("NT-036/b", reported("NT-036", 0xC4, 0x80) && one_told("NT-036"));
    in_interrupt(release_semaphore);
    CHECK(one_told("NT-069") && KeReadStateSemaphore(&semaphore) == 2);
    in_interrupt(set_timer);
    CHECK(one_told("NT-080"));
    in_interrupt(set_timer_ex);
    CHECK(one_told("NT-080"));
    in_interrupt(set_coalescable_timer);
    CHECK(one_told("NT-080"));
    in_interrupt(cancel_timer);
    CHECK(one_told("NT-082"));
    CHECK(poll(&mutex) == STATUS_SUCCESS);
    in_interrupt(release_mutex);
    CHECK(one_told("NT-067") && KeReadStateMutex(&mutex) == 1);
    in_interrupt(save_floating);
    CHECK(errors() == 2 && broken("NT-160"));
}

TEST_WITH(driver, queues_are_flushed_and_threads_delayed_at_low_levels)
{
    LARGE_INTEGER interval = relative_ms(1);
    uint64_t before;
    KIRQL old;

    init_all();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeFlushQueuedDpcs();
    CHECK_RULE("NT-086/c", one_told("NT-086") && runs == 0);
    before = sim_now();
    CHECK(KeDelayExecutionThread(KernelMode, FALSE, &interval) == STATUS_UNSUCCESSFUL);
    CHECK(one_told("NT-046") && sim_now() - before < 1000000);
    KeLowerIrql(old);
    CHECK(runs == 1);
    KeRaiseIrql(APC_LEVEL, &old);
    before = sim_now();
    CHECK(KeDelayExecutionThread(KernelMode, FALSE, &interval) == STATUS_SUCCESS);
    CHECK(errors() == 0 && sim_now() - before >= 1000000);
    KeLowerIrql(old);
    CHECK(KeDelayExecutionThread(KernelMode, FALSE, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(one_told("NT-046"));
}

TEST_WITH(driver, floating_point_states_are_paired)
{
    KFLOATING_SAVE save;

    CHECK(KeSaveFloatingPointState(&save) == STATUS_SUCCESS);
    CHECK(KeSaveFloatingPointState(&save) == STATUS_SUCCESS);
    CHECK(KeRestoreFloatingPointState(&save) == STATUS_SUCCESS);
    CHECK(KeRestoreFloatingPointState(&save) == STATUS_SUCCESS && errors() == 0);
    KeRestoreFloatingPointState(&save);
    CHECK(one_told("NT-160"));
}

/* ---- events, semaphores ---- */

TEST_WITH(driver, events_have_two_types)
{
    init_all();
    KeInitializeEvent(&event, (EVENT_TYPE)2, TRUE);
    CHECK(one_told("NT-034"));
    CHECK(poll(&event) == STATUS_SUCCESS && KeReadStateEvent(&event) == 1);
    KeInitializeEvent(&event, SynchronizationEvent, 7);
    CHECK(KeReadStateEvent(&event) == 1 && KeResetEvent(&event) == 1 && errors() == 0);
}

TEST_WITH(driver, semaphores_have_a_limit)
{
    init_all();
    KeInitializeSemaphore(&semaphore, 0, 0);
    CHECK(one_told("NT-070") && KeReadStateSemaphore(&semaphore) == 1);
    KeInitializeSemaphore(&semaphore, 0, -1);
    CHECK(one_told("NT-070") && KeReadStateSemaphore(&semaphore) == 1);
    KeInitializeSemaphore(&semaphore, -1, 1);
    CHECK_RULE("NT-070/c", one_told("NT-070") && KeReadStateSemaphore(&semaphore) == 1);
    KeInitializeSemaphore(&semaphore, 1, 1);
    CHECK(errors() == 0 && KeReadStateSemaphore(&semaphore) == 1 && semaphore.Limit == 1);
    CHECK(poll(&semaphore) == STATUS_SUCCESS && poll(&semaphore) == STATUS_TIMEOUT);
    KeInitializeSemaphore(&semaphore, 1, MAXLONG);
    CHECK(KeReleaseSemaphore(&semaphore, 0, MAXLONG - 1, FALSE) == 1 && h.raises == 0);
    CHECK(KeReadStateSemaphore(&semaphore) == MAXLONG);
    CHECK_RULE("NT-069/b", KeReleaseSemaphore(&semaphore, 0, MAXLONG, FALSE) == MAXLONG &&
                               h.raises == 1 && h.raised == STATUS_SEMAPHORE_LIMIT_EXCEEDED);
    CHECK(KeReadStateSemaphore(&semaphore) == MAXLONG);
}

/* ---- the next call waits ---- */

TEST_WITH(driver, each_release_may_announce_a_wait)
{
    void *objects[1] = {&event};

    init_all();
    KeReleaseSemaphore(&semaphore, 0, 1, TRUE);
    CHECK(poll(&event) == STATUS_TIMEOUT);
    poll(&mutex);
    KeReleaseMutex(&mutex, TRUE);
    CHECK(poll(&event) == STATUS_TIMEOUT);
    KePulseEvent(&event, 0, TRUE);
    KeWaitForMultipleObjects(1, objects, WaitAny, Executive, KernelMode, FALSE, &zero, NULL);
    KeReadStateEvent(&event);
    CHECK_RULE("NT-036/c", errors() == 0);
    poll(&semaphore);
    KeReleaseSemaphore(&semaphore, 0, 1, TRUE);
    KeReadStateEvent(&event);
    CHECK_RULE("NT-036/c", one_told("NT-036"));
    KeReadStateEvent(&event);
    CHECK(errors() == 0);
    poll(&mutex);
    KeReleaseMutex(&mutex, TRUE);
    KeReadStateEvent(&event);
    CHECK_RULE("NT-036/c", one_told("NT-036"));
    KePulseEvent(&event, 0, TRUE);
    KePulseEvent(&event, 0, TRUE); /* the first announced a wait, and so does this one */
    CHECK_RULE("NT-036/c", one_told("NT-036"));
    CHECK(poll(&event) == STATUS_TIMEOUT);
    KeReadStateEvent(&event);
    CHECK(errors() == 0);
}

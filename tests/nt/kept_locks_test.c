/* SPDX-License-Identifier: MIT */
/* Locks that threads sleep for, of each kind: kept by a routine that returns, or given back before. */
#include "support/harness.h"

static LARGE_INTEGER zero;
static ERESOURCE resource;
static EX_PUSH_LOCK push;
static FAST_MUTEX fast;
static KMUTEX mutex;

static void take_shared(void)
{
    CHECK(ExAcquireResourceSharedLite(&resource, FALSE));
}

static void take_exclusive(void)
{
    CHECK(ExAcquireResourceExclusiveLite(&resource, FALSE));
}

static void give_resource(void)
{
    ExReleaseResourceLite(&resource);
}

static void push_exclusive(void)
{
    ExAcquirePushLockExclusiveEx(&push, 0);
}

static void give_push_exclusive(void)
{
    ExReleasePushLockExclusiveEx(&push, 0);
}

static void push_shared(void)
{
    ExAcquirePushLockSharedEx(&push, 0);
}

static void give_push_shared(void)
{
    ExReleasePushLockSharedEx(&push, 0);
}

static void take_unsafe(void)
{
    ExAcquireFastMutexUnsafe(&fast);
}

static void give_unsafe(void)
{
    ExReleaseFastMutexUnsafe(&fast);
}

static void take_mutex(void)
{
    CHECK(KeWaitForSingleObject(&mutex, Executive, KernelMode, FALSE, &zero) == STATUS_SUCCESS);
}

static void give_mutex(void)
{
    KeReleaseMutex(&mutex, FALSE);
}

static const struct {
    void (*take)(void), (*give)(void);
} kinds[] = {
    {take_shared, give_resource},
    {take_exclusive, give_resource},
    {push_exclusive, give_push_exclusive},
    {push_shared, give_push_shared},
    {take_unsafe, give_unsafe},
    {take_mutex, give_mutex},
};

static unsigned kind;
static bool take, give;

static VOID NTAPI work(PVOID context)
{
    (void)context;
    KeEnterCriticalRegion();
    if (take)
        kinds[kind].take();
    if (give)
        kinds[kind].give();
    KeLeaveCriticalRegion();
}

/* There is one worker: what it keeps it gives back with the next item. */
static bool kept(bool taking, bool giving)
{
    static WORK_QUEUE_ITEM item;

    take = taking;
    give = giving;
    forget_reports();
    ExInitializeWorkItem(&item, work, NULL);
    ExQueueWorkItem(&item, DelayedWorkQueue);
    pause_ns(1000000);
    return broken("THREAD-008");
}

static void check_kinds(void)
{
    ExInitializeResourceLite(&resource);
    ExInitializePushLock(&push);
    ExInitializeFastMutex(&fast);
    KeInitializeMutex(&mutex, 0);
    for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        CHECK_RULE("THREAD-008/a", !kept(true, true) && errors() == 0);
        CHECK(kept(true, false));
        CHECK(!kept(false, true));
        CHECK_RULE("THREAD-008/a", !kept(true, true) && errors() == 0);
    }
    ExDeleteResourceLite(&resource);
    CHECK(errors() == 0);
}

TEST_WITH(machine, locks_that_a_routine_keeps_are_told)
{
    run(check_kinds);
    h.threads_left = 4;
}

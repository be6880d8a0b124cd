/* SPDX-License-Identifier: MIT */
/* Locks of the executive that threads sleep for: who gets them, and what is refused. */
#include "support/harness.h"

static LARGE_INTEGER zero;

/* One violation of the rule since the last call. */
static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static bool one_checked(const char *rule, uint64_t code)
{
    return reported(rule, 0xC4, code) && one_told(rule);
}

static unsigned got;
static unsigned order[4];

/* ---- executive resources ---- */

static ERESOURCE resource;
static bool acquired;

static void share(void *arg)
{
    KeEnterCriticalRegion();
    acquired = ExAcquireResourceSharedLite(&resource, arg == NULL);
    order[got++] = 1;
    if (acquired) {
        pause_ns(20000);
        ExReleaseResourceLite(&resource);
    }
    KeLeaveCriticalRegion();
}

static void own(void *arg)
{
    KeEnterCriticalRegion();
    acquired = ExAcquireResourceExclusiveLite(&resource, arg == NULL);
    order[got++] = 2;
    if (acquired) {
        pause_ns(20000);
        ExReleaseResourceLite(&resource);
    }
    KeLeaveCriticalRegion();
}

static void try_share(void)
{
    acquired = ExAcquireResourceSharedLite(&resource, FALSE);
}

static void release_resource(void)
{
    ExReleaseResourceLite(&resource);
}

static void init_resource(void)
{
    got = 0;
    acquired = false;
    CHECK(ExInitializeResourceLite(&resource) == STATUS_SUCCESS);
}

TEST_WITH(driver, resources_are_shared_while_no_owner_waits)
{
    init_resource();
    KeEnterCriticalRegion();
    CHECK_RULE("NT-071/d", ExAcquireResourceSharedLite(&resource, FALSE));
    CHECK_RULE("NT-071/d", ExAcquireResourceSharedLite(&resource, FALSE)); /* recursive */
    CHECK(ExIsResourceAcquiredSharedLite(&resource) == 2);
    CHECK(!ExIsResourceAcquiredExclusiveLite(&resource));
    start("reader", share, &zero);
    pause_ns(1000);
    CHECK_RULE("NT-071/d", got == 1 && acquired);
    pause_ns(100000);
    start("tries", own, &zero);
    pause_ns(1000);
    CHECK_RULE("NT-071/d", got == 2 && !acquired);
    start("writer", own, NULL);
    pause_ns(1000);
    /* A reader that comes now waits behind the writer; who has it already does not. */
    start("late", share, &zero);
    pause_ns(1000);
    CHECK(got == 3 && !acquired);
    CHECK(ExAcquireResourceSharedLite(&resource, FALSE));
    ExReleaseResourceLite(&resource);
    start("late", share, NULL);
    pause_ns(1000);
    ExReleaseResourceLite(&resource);
    pause_ns(100000);
    CHECK(got == 3);
    got = 0;
    ExReleaseResourceLite(&resource);
    pause_ns(200000);
    CHECK_RULE("NT-071/d", got == 2 && order[0] == 2 && order[1] == 1);
    /* Nobody waits any more. */
    CHECK(ExAcquireResourceSharedLite(&resource, FALSE));
    start("reader", share, &zero);
    pause_ns(1000);
    CHECK(got == 3 && acquired);
    pause_ns(100000);
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    CHECK(errors() == 0 && ExDeleteResourceLite(&resource) == STATUS_SUCCESS);
}

TEST_WITH(driver, resources_exclude_readers)
{
    init_resource();
    KeEnterCriticalRegion();
    CHECK(ExAcquireResourceExclusiveLite(&resource, FALSE));
    CHECK(ExIsResourceAcquiredExclusiveLite(&resource));
    start("reader", share, &zero);
    pause_ns(1000);
    CHECK_RULE("NT-071/c", got == 1 && !acquired);
    start("reader", share, NULL);
    start("reader", share, NULL);
    pause_ns(1000);
    CHECK_RULE("NT-071/c", got == 1);
    ExReleaseResourceLite(&resource);
    CHECK(!ExIsResourceAcquiredExclusiveLite(&resource));
    pause_ns(1000);
    CHECK_RULE("NT-071/d", got == 3); /* both at once */
    pause_ns(100000);
    KeLeaveCriticalRegion();
    CHECK(errors() == 0 && ExDeleteResourceLite(&resource) == STATUS_SUCCESS);
}

static void release_foreign(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    CHECK(ExIsResourceAcquiredSharedLite(&resource) == 0 &&
          !ExIsResourceAcquiredExclusiveLite(&resource));
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, resources_are_checked)
{
    ERESOURCE none = {0};
    KIRQL old;

    CHECK(ExInitializeResourceLite(NULL) == STATUS_INVALID_PARAMETER && one_told("NT-005"));
    init_resource();
    KeEnterCriticalRegion();
    CHECK(ExAcquireResourceExclusiveLite(&resource, TRUE));
    CHECK(ExInitializeResourceLite(&resource) == STATUS_SUCCESS && one_told("NT-071"));
    CHECK(ExIsResourceAcquiredExclusiveLite(&resource)); /* it was left alone */
    start("thief", release_foreign, NULL);
    pause_ns(100000);
    CHECK(one_told("NT-071") && ExIsResourceAcquiredExclusiveLite(&resource));
    ExReleaseResourceLite(&resource);
    ExReleaseResourceLite(&resource);
    CHECK(one_told("NT-071"));
    CHECK(!ExAcquireResourceSharedLite(&none, TRUE) && one_told("NT-005"));
    CHECK(!ExAcquireResourceExclusiveLite(NULL, TRUE) && one_told("NT-005"));
    ExReleaseResourceLite(&none);
    CHECK(one_told("NT-005"));
    CHECK(ExIsResourceAcquiredSharedLite(&none) == 0 && one_told("NT-005"));
    CHECK(!ExIsResourceAcquiredExclusiveLite(&none) && one_told("NT-005"));
    CHECK(ExDeleteResourceLite(&none) == STATUS_INVALID_PARAMETER && one_told("NT-005"));
    in_dpc(try_share);
    CHECK_RULE("NT-071/a", !acquired && one_checked("NT-071", 0x37));
    ExAcquireResourceSharedLite(&resource, TRUE);
    in_dpc(release_resource);
    CHECK_RULE("NT-071/b",
               one_checked("NT-071", 0x38) && ExIsResourceAcquiredSharedLite(&resource) == 1);
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    /* In a guarded region, or at APC_LEVEL, no APC comes either. */
    KeEnterGuardedRegion();
    ExAcquireResourceSharedLite(&resource, TRUE);
    ExReleaseResourceLite(&resource);
    KeLeaveGuardedRegion();
    KeRaiseIrql(APC_LEVEL, &old);
    ExAcquireResourceSharedLite(&resource, TRUE);
    ExReleaseResourceLite(&resource);
    KeLowerIrql(old);
    CHECK_RULE("NT-071/a", errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL + 1, &old);
    CHECK(ExDeleteResourceLite(&resource) == STATUS_SUCCESS && one_told("NT-071"));
    KeLowerIrql(old);
    CHECK(ExDeleteResourceLite(&resource) == STATUS_INVALID_PARAMETER && one_told("NT-005"));
}

TEST_WITH(driver, resources_are_deleted_when_nobody_has_them)
{
    init_resource();
    KeEnterCriticalRegion();
    ExAcquireResourceExclusiveLite(&resource, TRUE);
    CHECK(ExDeleteResourceLite(&resource) == STATUS_SUCCESS && one_told("NT-071"));
    KeLeaveCriticalRegion();

    /* Deleted between its release and the turn of who waits for it. */
    init_resource();
    KeEnterCriticalRegion();
    ExAcquireResourceExclusiveLite(&resource, TRUE);
    acquired = true;
    start("waiter", share, NULL);
    pause_ns(1000);
    ExReleaseResourceLite(&resource);
    CHECK(ExDeleteResourceLite(&resource) == STATUS_SUCCESS && errors() == 0);
    pause_ns(100000);
    CHECK(got == 1 && !acquired);
    KeLeaveCriticalRegion();
}

/* ---- push locks ---- */

static EX_PUSH_LOCK push;

static void push_shared(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExAcquirePushLockSharedEx(&push, 0);
    order[got++] = 1;
    pause_ns(20000);
    ExReleasePushLockSharedEx(&push, 0);
    KeLeaveCriticalRegion();
}

static void acquire_push(void)
{
    ExAcquirePushLockExclusiveEx(&push, 0);
}

static void release_push_foreign(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, push_locks_let_readers_in_together)
{
    got = 0;
    push = 0x1234;
    ExInitializePushLock(&push);
    CHECK(push == 0);
    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx(&push, 0);
    CHECK(push == ((ULONG_PTR)KeGetCurrentThread() | 1));
    start("reader", push_shared, NULL);
    start("reader", push_shared, NULL);
    pause_ns(100000);
    CHECK(got == 0);
    ExReleasePushLockExclusiveEx(&push, 0);
    pause_ns(1000);
    CHECK(got == 2 && push == (2 * 16 | 2));
    ExAcquirePushLockSharedEx(&push, 0);
    CHECK(push == (3 * 16 | 2));
    pause_ns(100000);
    CHECK(push == (16 | 2));
    ExReleasePushLockSharedEx(&push, 0);
    CHECK(push == 0 && errors() == 0);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, push_locks_are_released_as_they_were_acquired)
{
    KIRQL old;

    ExInitializePushLock(NULL);
    CHECK(one_told("NT-005"));
    ExInitializePushLock(&push);
    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx(NULL, 0);
    CHECK(one_told("NT-005"));
    ExReleasePushLockSharedEx(&push, 0);
    CHECK(one_told("NT-072") && push == 0);
    ExReleasePushLockExclusiveEx(&push, 0);
    CHECK(one_told("NT-072") && push == 0);
    ExAcquirePushLockExclusiveEx(&push, 0);
    ExAcquirePushLockSharedEx(&push, 0);
    CHECK_RULE("NT-072/c", one_told("NT-072") && push == ((ULONG_PTR)KeGetCurrentThread() | 1));
    ExReleasePushLockSharedEx(&push, 0);
    CHECK(one_told("NT-072") && push == ((ULONG_PTR)KeGetCurrentThread() | 1));
    start("thief", release_push_foreign, NULL);
    pause_ns(100000);
    CHECK(one_told("NT-072") && push == ((ULONG_PTR)KeGetCurrentThread() | 1));
    ExReleasePushLockExclusiveEx(&push, 0);
    CHECK(push == 0 && errors() == 0);
    in_dpc(acquire_push);
    CHECK_RULE("NT-072/a", one_checked("NT-072", 0xEA) && push == 0);
    KeLeaveCriticalRegion();
    ExAcquirePushLockExclusiveEx(&push, 0);
    CHECK_RULE("NT-072/a", one_checked("NT-072", 0xEA));
    ExReleasePushLockExclusiveEx(&push, 0);
    CHECK_RULE("NT-072/b", one_checked("NT-072", 0xEB) && push == 0);
    KeEnterGuardedRegion();
    ExAcquirePushLockExclusiveEx(&push, 0);
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveGuardedRegion();
    KeRaiseIrql(APC_LEVEL, &old);
    ExAcquirePushLockSharedEx(&push, 0);
    ExReleasePushLockSharedEx(&push, 0);
    KeLowerIrql(old);
    CHECK(errors() == 0 && push == 0);
}

/* ---- rundown protection ---- */

static EX_RUNDOWN_REF rundown;

static void wait_for_rundown(void)
{
    ExWaitForRundownProtectionRelease(&rundown);
}

TEST_WITH(driver, rundown_references_are_checked)
{
    ExInitializeRundownProtection(NULL);
    CHECK(one_told("NT-005"));
    ExReInitializeRundownProtection(NULL);
    CHECK(one_told("NT-005"));
    CHECK(!ExAcquireRundownProtection(NULL) && one_told("NT-005"));
    ExReleaseRundownProtection(NULL);
    CHECK(one_told("NT-005"));
    ExWaitForRundownProtectionRelease(NULL);
    CHECK(one_told("NT-005"));
    ExRundownCompleted(NULL);
    CHECK(one_told("NT-005"));
    rundown.Count = 0x77;
    ExInitializeRundownProtection(&rundown);
    CHECK(rundown.Count == 0 && ExAcquireRundownProtection(&rundown) && rundown.Count == 2);
    in_dpc(wait_for_rundown);
    CHECK_RULE("NT-072/e", one_told("NT-072") && rundown.Count == 2);
    ExReleaseRundownProtection(&rundown);
    CHECK(rundown.Count == 0 && errors() == 0);
    ExReleaseRundownProtection(&rundown);
    CHECK(one_told("NT-072") && rundown.Count == 0);
    ExWaitForRundownProtectionRelease(&rundown);
    CHECK(rundown.Count == 1);
    ExReleaseRundownProtection(&rundown);
    CHECK(one_told("NT-072") && rundown.Count == 1);
}

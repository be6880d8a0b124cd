/* SPDX-License-Identifier: MIT */
/* Fast mutexes and regions: levels, memory, and words that no initialization wrote. */
#include "support/harness.h"

static FAST_MUTEX fast;
static bool got;

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

static void try_fast(void)
{
    got = ExTryToAcquireFastMutex(&fast);
}

static void acquire_unsafe(void)
{
    ExAcquireFastMutexUnsafe(&fast);
}

static void release_unsafe(void)
{
    ExReleaseFastMutexUnsafe(&fast);
}

static void acquire_guarded(void)
{
    KeAcquireGuardedMutex(&fast);
}

static void enter_guarded(void)
{
    KeEnterGuardedRegion();
}

static void leave_guarded(void)
{
    KeLeaveGuardedRegion();
}

TEST_WITH(driver, sleeping_needs_a_low_level)
{
    ExInitializeFastMutex(&fast);
    got = true;
    in_dpc(try_fast);
    CHECK(!got && one_checked("NT-063", 0x33) && fast.Count == FM_LOCK_BIT);
    in_dpc(acquire_unsafe);
    CHECK(one_checked("NT-065", 0x39) && fast.Count == FM_LOCK_BIT);
    in_dpc(acquire_guarded);
    CHECK(one_checked("NT-061", 0x33) && fast.Count == FM_LOCK_BIT);
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&fast);
    CHECK(fast.Count == 0 && fast.Owner == KeGetCurrentThread());
    in_dpc(release_unsafe);
    CHECK(one_checked("NT-065", 0x3A) && fast.Count == 0);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK(fast.Count == FM_LOCK_BIT && !fast.Owner && errors() == 0);
    KeLeaveCriticalRegion();
    in_dpc(enter_guarded);
    CHECK_RULE("NT-073/d", one_checked("NT-073", 0x11A));
    in_dpc(leave_guarded);
    CHECK_RULE("NT-073/e", one_checked("NT-073", 0x11B));
    CHECK(!KeAreAllApcsDisabled());
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-073/c", one_checked("NT-073", 0x3E) && !KeAreAllApcsDisabled());
}

TEST_WITH(driver, unsafe_forms_are_content_with_any_region)
{
    ExInitializeFastMutex(&fast);
    KeEnterGuardedRegion();
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutexUnsafe(&fast);
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-065/d", errors() == 0);
}

TEST_WITH(driver, mutexes_that_are_none_are_left_alone)
{
    FAST_MUTEX copy;
    KIRQL old;

    ExAcquireFastMutex(NULL);
    CHECK(one_told("NT-005") && KeGetCurrentIrql() == PASSIVE_LEVEL);
    CHECK(!ExTryToAcquireFastMutex(NULL) && one_told("NT-005"));
    ExInitializeFastMutex(&fast);
    copy = fast;
    ExAcquireFastMutex(&copy);
    CHECK(one_told("NT-005") && copy.Count == FM_LOCK_BIT && KeGetCurrentIrql() == PASSIVE_LEVEL);
    CHECK(!ExTryToAcquireFastMutex(&copy) && one_told("NT-005"));
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&copy);
    CHECK(one_told("NT-005") && copy.Count == FM_LOCK_BIT);
    KeLeaveCriticalRegion();
    /* Taken by nobody; free and owned. */
    fast.Count = 0;
    ExAcquireFastMutex(&fast);
    CHECK(one_told("NT-005") && !fast.Owner);
    fast.Count = FM_LOCK_BIT;
    fast.Owner = KeGetCurrentThread();
    ExAcquireFastMutex(&fast);
    CHECK(one_told("NT-005") && fast.Count == FM_LOCK_BIT);
    KeRaiseIrql(APC_LEVEL, &old);
    ExReleaseFastMutex(&fast);
    CHECK(one_told("NT-005") && fast.Owner == KeGetCurrentThread());
    fast.Owner = NULL;
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062/c", one_checked("NT-062", 0x1007));
    KeLowerIrql(old);
}

static void hold_for_a_while(void *arg)
{
    (void)arg;
    ExAcquireFastMutex(&fast);
    pause_ns(50000);
    ExReleaseFastMutex(&fast);
}

TEST_WITH(driver, waiting_is_counted)
{
    KIRQL old;

    ExInitializeFastMutex(&fast);
    start("holder", hold_for_a_while, NULL);
    pause_ns(1000);
    CHECK(fast.Count == 0 && fast.Contention == 0);
    ExAcquireFastMutex(&fast);
    CHECK(fast.Contention == 1 && fast.OldIrql == PASSIVE_LEVEL && KeGetCurrentIrql() == APC_LEVEL);
    ExReleaseFastMutex(&fast);
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(ExTryToAcquireFastMutex(&fast) && fast.OldIrql == APC_LEVEL);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062/a", KeGetCurrentIrql() == APC_LEVEL);
    CHECK(errors() == 0);
    ExAcquireFastMutex(&fast);
    KeLowerIrql(old);
    forget_reports();
    ExReleaseFastMutex(&fast); /* below the level of its acquisition */
    CHECK_RULE("NT-062/b", one_checked("NT-062", 0x34) && KeGetCurrentIrql() == PASSIVE_LEVEL);
    memset(&fast, 0x5A, sizeof(fast));
    KeInitializeGuardedMutex(&fast);
    CHECK(fast.Count == FM_LOCK_BIT && !fast.Owner && fast.Contention == 0);
    KeAcquireGuardedMutex(&fast);
    KeReleaseGuardedMutex(&fast);
    CHECK(errors() == 0);
}

TEST_WITH(driver, regions_say_which_apcs_are_off)
{
    KIRQL old;

    CHECK(!KeAreApcsDisabled() && !KeAreAllApcsDisabled());
    KeEnterCriticalRegion();
    CHECK_RULE("NT-073/a", KeAreApcsDisabled() && !KeAreAllApcsDisabled());
    KeLeaveCriticalRegion();
    KeEnterGuardedRegion();
    KeEnterGuardedRegion();
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-073/b", KeAreApcsDisabled() && KeAreAllApcsDisabled());
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-073/b", !KeAreApcsDisabled() && !KeAreAllApcsDisabled());
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(!KeAreApcsDisabled() && KeAreAllApcsDisabled());
    KeLowerIrql(old);
    CHECK(errors() == 0);
}

/* SPDX-License-Identifier: MIT */
/* Fast mutexes, guarded mutexes, critical and guarded regions. */
#include "support/harness.h"

static unsigned counter;

/* ---- fast mutexes ---- */

static FAST_MUTEX fast;

static void acquire_fast(void)
{
    ExAcquireFastMutex(&fast);
}

static void hold_fast(void *arg)
{
    (void)arg;
    ExAcquireFastMutex(&fast);
    counter++;
    ExReleaseFastMutex(&fast);
}

static void release_fast(void *arg)
{
    KIRQL old;

    (void)arg;
    KeRaiseIrql(APC_LEVEL, &old);
    ExReleaseFastMutex(&fast);
    KeLowerIrql(old);
}

TEST_WITH(driver, fast_mutexes_are_checked)
{
    static uint64_t storage[16];
    FAST_MUTEX *unaligned = (FAST_MUTEX *)(void *)((uint8_t *)storage + 4);

    ExInitializeFastMutex(&fast);
    ExAcquireFastMutex(&fast);
    CHECK_RULE("NT-061/b", KeGetCurrentIrql() == APC_LEVEL);
    counter = 0;
    start("other", hold_fast, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-061/a", counter == 0);
    CHECK_RULE("NT-063/b", !ExTryToAcquireFastMutex(&fast));
    forget_reports();
    ExAcquireFastMutex(&fast);
    CHECK_RULE("NT-064/a", broken("NT-064"));
    start("thief", release_fast, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-062/c", reported("NT-062", 0xC4, 0x1004) && counter == 0);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062/a", KeGetCurrentIrql() == PASSIVE_LEVEL);
    pause_ns(100000);
    CHECK_RULE("NT-061/a", counter == 1);

    CHECK_RULE("NT-063/a", ExTryToAcquireFastMutex(&fast) && KeGetCurrentIrql() == APC_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062/b", reported("NT-062", 0xC4, 0x34));
    in_dpc(acquire_fast);
    CHECK_RULE("NT-061/c", reported("NT-061", 0xC4, 0x33) && fast.Count == FM_LOCK_BIT);
    forget_reports();
    ExAcquireFastMutex(unaligned);
    CHECK_RULE("NT-060", broken("NT-060"));
}

static void try_fast(void *arg)
{
    bool *got = arg;

    *got = ExTryToAcquireFastMutex(&fast) || KeGetCurrentIrql() != PASSIVE_LEVEL;
}

TEST_WITH(driver, fast_mutexes_return_to_the_level_before)
{
    bool got = true;
    KIRQL old;

    ExInitializeFastMutex(&fast);
    KeRaiseIrql(APC_LEVEL, &old);
    ExAcquireFastMutex(&fast);
    start("other", try_fast, &got);
    pause_ns(100000);
    CHECK_RULE("NT-063/b", !got);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-061/d", KeGetCurrentIrql() == APC_LEVEL && errors() == 0);
    KeLowerIrql(old);
    CHECK_RULE("NT-063/c", ExTryToAcquireFastMutex(&fast) && fast.OldIrql == PASSIVE_LEVEL);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-063/c", KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);
}

TEST_WITH(driver, unsafe_forms_leave_the_level)
{
    KIRQL old;

    ExInitializeFastMutex(&fast);
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/a", KeGetCurrentIrql() == PASSIVE_LEVEL);
    ExAcquireFastMutexUnsafe(&fast);
    CHECK_RULE("NT-064/c", broken("NT-064"));
    ExReleaseFastMutexUnsafe(&fast);
    KeLeaveCriticalRegion();
    forget_reports();
    KeRaiseIrql(APC_LEVEL, &old);
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/d", errors() == 0);
    CHECK_RULE("NT-065/a", KeGetCurrentIrql() == APC_LEVEL);
    ExAcquireFastMutex(&fast);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/e", broken("NT-065"));
    KeLowerIrql(old);
}

TEST_WITH(driver, unsafe_forms_need_a_region)
{
    ExInitializeFastMutex(&fast);
    ExAcquireFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/b", reported("NT-065", 0xC4, 0x39) && KeGetCurrentIrql() == 0);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/c", reported("NT-065", 0xC4, 0x3A));
    forget_reports();
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065/d", errors() == 0);
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-065/e", broken("NT-065"));
    KeLeaveCriticalRegion();
}

static KGUARDED_MUTEX guarded;

static void hold_guarded(void *arg)
{
    (void)arg;
    KeAcquireGuardedMutex(&guarded);
    counter++;
    KeReleaseGuardedMutex(&guarded);
}

TEST_WITH(driver, guarded_mutexes_exclude)
{
    counter = 0;
    KeInitializeGuardedMutex(&guarded);
    KeAcquireGuardedMutex(&guarded);
    start("other", hold_guarded, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-066/a", counter == 0);
    KeReleaseGuardedMutex(&guarded);
    pause_ns(100000);
    CHECK_RULE("NT-066/a", counter == 1 && errors() == 0);
}

TEST_WITH(driver, guarded_mutexes_count_as_apc_level)
{
    HANDLE handle;

    KeInitializeGuardedMutex(&guarded);
    KeAcquireGuardedMutex(&guarded);
    ObReferenceObjectByHandle(ZwCurrentThread(), 0, NULL, KernelMode, (PVOID *)&handle, NULL);
    CHECK_RULE("NT-066/b", errors() == 1);
    forget_reports();
    KeAcquireGuardedMutex(&guarded);
    CHECK_RULE("NT-064/b", broken("NT-064"));
    KeReleaseGuardedMutex(&guarded);
    CHECK_RULE("NT-066/c", KeGetCurrentIrql() == PASSIVE_LEVEL);
    ObDereferenceObject(handle);
}

/* ---- regions ---- */

static void enter_region(void)
{
    KeEnterCriticalRegion();
}

static void leave_region(void)
{
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, regions_nest_and_balance)
{
    KeEnterCriticalRegion();
    KeEnterCriticalRegion();
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-073/a", KeAreApcsDisabled() && errors() == 0);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-073/a", !KeAreApcsDisabled());
    KeEnterGuardedRegion();
    CHECK_RULE("NT-073/b", KeAreAllApcsDisabled());
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-073/b", !KeAreAllApcsDisabled() && errors() == 0);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-073/c", reported("NT-073", 0xC4, 0x3E));
    in_dpc(enter_region);
    CHECK_RULE("NT-073/d", reported("NT-073", 0xC4, 0x11A));
    in_dpc(leave_region);
    CHECK_RULE("NT-073/e", reported("NT-073", 0xC4, 0x11B));
}

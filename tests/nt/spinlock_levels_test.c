/* SPDX-License-Identifier: MIT */
/* Spin locks: the levels before and after, and releases that do not match. */
#include "nt/base/nt_config.h"
#include "sim/point.h"
#include "support/harness.h"

static KSPIN_LOCK lock;

static void init_lock(void)
{
    KeInitializeSpinLock(&lock);
}

TEST_WITH(driver, levels_of_plain_locks)
{
    KIRQL old, outer;

    lock = 0x1234;
    in_interrupt(init_lock);
    CHECK_RULE("NT-048/b", errors() == 0);
    CHECK_RULE("NT-048/c", KeTestSpinLock(&lock));
    KeRaiseIrql(APC_LEVEL, &outer);
    KeAcquireSpinLock(&lock, &old);
    CHECK_RULE("NT-049/c", old == APC_LEVEL && !KeTestSpinLock(&lock));
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050/c", KeTestSpinLock(&lock));
    CHECK_RULE("NT-050/a", KeGetCurrentIrql() == APC_LEVEL);
    KeLowerIrql(outer);
    KeRaiseIrql(DISPATCH_LEVEL, &outer);
    KeAcquireSpinLock(&lock, &old);
    CHECK_RULE("NT-049/c", old == DISPATCH_LEVEL);
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050/a", KeGetCurrentIrql() == DISPATCH_LEVEL && errors() == 0);
    KeLowerIrql(outer);
}

TEST_WITH(driver, releases_match_acquisitions)
{
    KLOCK_QUEUE_HANDLE handle;
    KIRQL outer, old;

    KeInitializeSpinLock(&lock);
    KeRaiseIrql(DISPATCH_LEVEL, &outer);
    KeAcquireSpinLockAtDpcLevel(&lock);
    KeReleaseSpinLock(&lock, DISPATCH_LEVEL);
    CHECK_RULE("NT-054/c", reported("NT-054", 0xC4, 0x1009));
    forget_reports();
    KeLowerIrql(outer);
    KeAcquireSpinLock(&lock, &old);
    handle.LockQueue.Lock = &lock;
    handle.OldIrql = old;
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-054/d", reported("NT-054", 0xC4, 0x1009));
    forget_reports();
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-056/d", reported("NT-056", 0xC4, 0x32));
    forget_reports();
    KeTryToAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-057/c", reported("NT-053", 0xC4, 0x40));
}

static volatile bool go_on, holding;

static void hold_lock(void *arg)
{
    KIRQL old;

    (void)arg;
    KeAcquireSpinLock(&lock, &old);
    holding = true;
    while (!go_on)
        sim_spin();
    KeReleaseSpinLock(&lock, old);
}

static void release_foreign(void)
{
    KIRQL old;

    KeInitializeSpinLock(&lock);
    holding = go_on = false;
    start("holder", hold_lock, NULL);
    while (!holding)
        pause_ns(1000);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeReleaseSpinLockFromDpcLevel(&lock);
    CHECK_RULE("NT-059/e", reported("NT-059", 0xC4, 0x1004) && !KeTestSpinLock(&lock));
    KeLowerIrql(old);
    go_on = true;
}

TEST_WITH(machine_smp, locks_are_released_by_who_holds_them)
{
    const struct nt_config config = {.deadlock_detection = true};

    harness_teardown();
    harness_boot(4, 7, &config);
    run(release_foreign);
}

/* SPDX-License-Identifier: MIT */
/* Spin locks of all kinds. */
#include "sim/point.h"
#include "support/harness.h"

static KSPIN_LOCK lock;

static void acquire_lock(void)
{
    KIRQL old;

    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLock(&lock, old);
}

TEST_WITH(driver, spin_locks_are_checked)
{
    KIRQL old = 77;

    KeInitializeSpinLock(&lock);
    KeAcquireSpinLock(&lock, &old);
    CHECK_RULE("NT-049/a", KeGetCurrentIrql() == DISPATCH_LEVEL && old == PASSIVE_LEVEL);
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050/a", KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);

    KeAcquireSpinLock(&lock, &old);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050/b", reported("NT-050", 0xC4, 0x32));

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLock(&lock, APC_LEVEL);
    CHECK_RULE("NT-051/a", broken("NT-051"));
    CHECK_RULE("NT-051/b", KeGetCurrentIrql() == PASSIVE_LEVEL);

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-052/a", reported("NT-052", 0xF, (uintptr_t)&lock));
    forget_reports();
    KeInitializeSpinLock(&lock);
    CHECK_RULE("NT-048/a", broken("NT-048"));
    KeReleaseSpinLock(&lock, old);
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-052/b", reported("NT-052", 0x10, (uintptr_t)&lock));
}

TEST_WITH(driver, dpc_level_forms_are_checked)
{
    KIRQL old;

    KeInitializeSpinLock(&lock);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-053/a", KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeReleaseSpinLockFromDpcLevel(&lock);
    CHECK_RULE("NT-053/b", KeGetCurrentIrql() == DISPATCH_LEVEL && KeTestSpinLock(&lock));
    CHECK_RULE("NT-057/a", KeTryToAcquireSpinLockAtDpcLevel(&lock) && !KeTestSpinLock(&lock));
    KeReleaseSpinLockFromDpcLevel(&lock);
    KeLowerIrql(old);
    CHECK_RULE("NT-053/c", errors() == 0);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-053/c", reported("NT-053", 0xC4, 0x40));
    KeReleaseSpinLockFromDpcLevel(&lock);

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLockFromDpcLevel(&lock);
    CHECK_RULE("NT-054/a", reported("NT-054", 0xC4, 0x1009));
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    in_interrupt(acquire_lock);
    CHECK_RULE("NT-055", broken("NT-055"));
}

static volatile bool holding, go_on;

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

TEST_WITH(driver_smp, locks_exclude_other_processors)
{
    KLOCK_QUEUE_HANDLE queued;
    KIRQL old;

    KeInitializeSpinLock(&lock);
    holding = go_on = false;
    start("holder", hold_lock, NULL);
    while (!holding)
        pause_ns(1000);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-057/b", !KeTryToAcquireSpinLockAtDpcLevel(&lock));
    go_on = true;
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&lock, &queued);
    CHECK_RULE("NT-054/b", reported("NT-054", 0xC4, 0x1008));
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&queued);
    KeLowerIrql(old);
}

static unsigned counter, arrivals;

static void count_under_lock(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 2000; i++) {
        KIRQL old;
        unsigned before;

        KeAcquireSpinLock(&lock, &old);
        before = counter;
        sim_point();
        counter = before + 1;
        KeReleaseSpinLock(&lock, old);
    }
    arrivals++;
}

static void check_exclusion(void)
{
    KeInitializeSpinLock(&lock);
    counter = arrivals = 0;
    for (unsigned i = 0; i < 4; i++)
        start("counter", count_under_lock, NULL);
    while (arrivals < 4)
        pause_ns(100000);
    CHECK_RULE("NT-049/b", counter == 8000);
}

TEST_WITH(machine_smp, spin_locks_exclude)
{
    run(check_exclusion);
    assert_int_equal(errors(), 0);
}

static unsigned arrived, granted;
static unsigned arrival_order[3], grant_order[3];

static void queue_for_lock(void *arg)
{
    unsigned index = *(unsigned *)arg;
    KLOCK_QUEUE_HANDLE handle;

    arrival_order[arrived++] = index;
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    grant_order[granted++] = index;
    KeReleaseInStackQueuedSpinLock(&handle);
}

static void check_queued_order(void)
{
    static unsigned index[3] = {0, 1, 2};
    KLOCK_QUEUE_HANDLE handle;

    KeInitializeSpinLock(&lock);
    arrived = granted = 0;
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    CHECK_RULE("NT-056/a", KeGetCurrentIrql() == DISPATCH_LEVEL);
    for (unsigned i = 0; i < 3; i++) {
        start("waiter", queue_for_lock, &index[i]);
        while (arrived <= i)
            sim_spin();
        sim_stall(20000);
    }
    CHECK_RULE("NT-056/b", granted == 0);
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-056/c", KeGetCurrentIrql() == PASSIVE_LEVEL);
    while (granted < 3)
        pause_ns(1000);
    CHECK_RULE("NT-056/b", memcmp(arrival_order, grant_order, sizeof(grant_order)) == 0);
}

TEST_WITH(machine_smp, queued_locks_are_fair)
{
    run(check_queued_order);
    assert_int_equal(errors(), 0);
}

static EX_SPIN_LOCK rw_lock;
static unsigned readers, most_readers;
static volatile bool writer_inside;

static void read_locked(void *arg)
{
    KIRQL old = ExAcquireSpinLockShared(&rw_lock);

    (void)arg;
    readers++;
    if (readers > most_readers)
        most_readers = readers;
    assert_false(writer_inside);
    sim_stall(20000);
    readers--;
    ExReleaseSpinLockShared(&rw_lock, old);
    arrivals++;
}

static void write_locked(void *arg)
{
    KIRQL old = ExAcquireSpinLockExclusive(&rw_lock);

    (void)arg;
    CHECK_RULE("NT-058/b", readers == 0);
    CHECK_RULE("NT-058/c", old == PASSIVE_LEVEL && KeGetCurrentIrql() == 2);
    writer_inside = true;
    sim_stall(20000);
    writer_inside = false;
    ExReleaseSpinLockExclusive(&rw_lock, old);
    arrivals++;
}

TEST_WITH(driver_smp, readers_share_writers_do_not)
{
    KIRQL old;

    rw_lock = 0;
    readers = most_readers = arrivals = 0;
    for (unsigned i = 0; i < 3; i++)
        start("reader", read_locked, NULL);
    start("writer", write_locked, NULL);
    while (arrivals < 4)
        pause_ns(10000);
    CHECK_RULE("NT-058/a", most_readers > 1 && errors() == 0);
    old = ExAcquireSpinLockExclusive(&rw_lock);
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw_lock);
    CHECK_RULE("NT-058/d", broken("NT-058"));
    ExReleaseSpinLockExclusive(&rw_lock, old);
}

static volatile bool reader_tried;

static void try_to_read(void *arg)
{
    KIRQL old;

    (void)arg;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExAcquireSpinLockSharedAtDpcLevel(&rw_lock);
    reader_tried = true;
    ExReleaseSpinLockSharedFromDpcLevel(&rw_lock);
    KeLowerIrql(old);
    arrivals++;
}

/* The forms for DISPATCH_LEVEL leave the level as it is. */
TEST_WITH(driver_smp, readers_and_writers_at_dispatch_level)
{
    KIRQL old;

    rw_lock = 0;
    arrivals = 0;
    reader_tried = false;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw_lock);
    start("reader", try_to_read, NULL);
    sim_stall(500000);
    CHECK_RULE("NT-058/e", !reader_tried && KeGetCurrentIrql() == DISPATCH_LEVEL);
    ExReleaseSpinLockExclusiveFromDpcLevel(&rw_lock);
    KeLowerIrql(old);
    while (arrivals < 1)
        pause_ns(10000);
    CHECK_RULE("NT-058/e", reader_tried && rw_lock == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExAcquireSpinLockSharedAtDpcLevel(&rw_lock);
    arrivals = 0;
    start("reader", try_to_read, NULL);
    for (unsigned i = 0; i < 1000 && arrivals < 1; i++)
        sim_stall(1000);
    CHECK_RULE("NT-058/e", arrivals == 1 && KeGetCurrentIrql() == DISPATCH_LEVEL);
    ExReleaseSpinLockSharedFromDpcLevel(&rw_lock);
    CHECK_RULE("NT-058/e", rw_lock == 0 && errors() == 0);
    ExReleaseSpinLockSharedFromDpcLevel(&rw_lock);
    CHECK_RULE("NT-058/e", errors() == 1 && rw_lock == 0);
    ExReleaseSpinLockExclusiveFromDpcLevel(&rw_lock);
    CHECK_RULE("NT-058/e", errors() == 2 && rw_lock == 0);
    KeLowerIrql(old);
}

TEST_WITH(driver, locks_need_good_memory)
{
    KSPIN_LOCK *fresh = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*fresh), TAG);
    KSPIN_LOCK *paged = ExAllocatePoolWithTag(PagedPool, sizeof(*paged), TAG);
    KIRQL old;

    KeAcquireSpinLock(fresh, &old);
    KeReleaseSpinLock(fresh, old);
    CHECK_RULE("NT-005/c", broken("NT-005"));
    KeInitializeSpinLock(paged);
    CHECK_RULE("NT-004/b", reported("NT-004", 0xC4, 0xE1));
    ExFreePool(fresh);
    ExFreePool(paged);
}

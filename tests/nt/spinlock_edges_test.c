/* SPDX-License-Identifier: MIT */
/* Spin locks that are released in another order, forgotten, or none. */
#include "sim/machine.h"
#include "sim/point.h"
#include "support/harness.h"

static KSPIN_LOCK lock[3];
static EX_SPIN_LOCK rw[2];

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

static void init_locks(void)
{
    for (unsigned i = 0; i < 3; i++)
        KeInitializeSpinLock(&lock[i]);
    rw[0] = rw[1] = 0;
}

TEST_WITH(driver, locks_are_released_in_any_order)
{
    KIRQL old[3], outer;

    init_locks();
    for (unsigned i = 0; i < 3; i++)
        KeAcquireSpinLock(&lock[i], &old[i]);
    CHECK(old[0] == PASSIVE_LEVEL && old[1] == DISPATCH_LEVEL && old[2] == DISPATCH_LEVEL);
    KeReleaseSpinLock(&lock[0], old[0]);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL && KeTestSpinLock(&lock[0]) &&
          !KeTestSpinLock(&lock[1]) && !KeTestSpinLock(&lock[2]));
    KeRaiseIrql(DISPATCH_LEVEL, &outer);
    KeReleaseSpinLock(&lock[1], old[1]);
    CHECK(KeTestSpinLock(&lock[1]) && !KeTestSpinLock(&lock[2]));
    KeReleaseSpinLock(&lock[2], old[2]);
    CHECK(KeTestSpinLock(&lock[2]) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(outer);
    CHECK(errors() == 0);
}

TEST_WITH(driver, locks_that_are_none_are_refused)
{
    PKSPIN_LOCK freed = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*freed), TAG);
    KLOCK_QUEUE_HANDLE handle;
    KIRQL old;

    KeInitializeSpinLock(NULL);
    CHECK(one_told("NT-005"));
    CHECK(!KeTestSpinLock(NULL) && one_told("NT-005"));
    KeInitializeSpinLock(freed);
    ExFreePool(freed);
    KeAcquireSpinLock(freed, &old);
    CHECK(one_told("NT-005") && old == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    CHECK(!KeTryToAcquireSpinLockAtDpcLevel(freed) && one_told("NT-005"));
    KeAcquireSpinLockAtDpcLevel(freed);
    CHECK(one_told("NT-005"));
    KeAcquireInStackQueuedSpinLockAtDpcLevel(freed, &handle);
    CHECK(one_told("NT-005"));
    CHECK(ExAcquireSpinLockShared(NULL) == DISPATCH_LEVEL && one_told("NT-005"));
    KeReleaseSpinLockFromDpcLevel(NULL);
    CHECK_RULE("NT-052/b", reported("NT-052", 0x10, 0) && one_told("NT-052"));
    KeLowerIrql(PASSIVE_LEVEL);
    KeAcquireInStackQueuedSpinLock(freed, &handle);
    CHECK(one_told("NT-005") && handle.OldIrql == PASSIVE_LEVEL && handle.LockQueue.Lock == freed &&
          KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
}

TEST_WITH(driver, words_that_no_initialization_wrote_are_put_right)
{
    KIRQL old;

    init_locks();
    lock[0] = 0x1234;
    KeAcquireSpinLock(&lock[0], &old);
    CHECK_RULE("NT-005/c", one_told("NT-005") && !KeTestSpinLock(&lock[0]));
    KeReleaseSpinLock(&lock[0], old);
    CHECK(KeTestSpinLock(&lock[0]) && lock[0] == 0 && errors() == 0);
    /* A lock that the same processor holds is not tried. */
    KeAcquireSpinLock(&lock[0], &old);
    CHECK(!KeTryToAcquireSpinLockAtDpcLevel(&lock[0]));
    CHECK_RULE("NT-052/a", reported("NT-052", 0xF, (uintptr_t)&lock[0]) && one_told("NT-052"));
    KeReleaseSpinLock(&lock[0], old);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);
}

TEST_WITH(driver, queued_locks_know_their_level)
{
    KLOCK_QUEUE_HANDLE handle;
    KIRQL old;

    init_locks();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeAcquireInStackQueuedSpinLock(&lock[0], &handle);
    CHECK(handle.OldIrql == DISPATCH_LEVEL && !KeTestSpinLock(&lock[0]));
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-056/c", KeGetCurrentIrql() == DISPATCH_LEVEL && KeTestSpinLock(&lock[0]));
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&lock[0], &handle);
    CHECK(!KeTestSpinLock(&lock[0]));
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&handle);
    CHECK(KeTestSpinLock(&lock[0]) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&handle);
    CHECK_RULE("NT-052/b", reported("NT-052", 0x10, (uintptr_t)&lock[0]) && one_told("NT-052"));
    KeLowerIrql(old);
    KeRaiseIrql(APC_LEVEL, &old);
    KeAcquireInStackQueuedSpinLock(&lock[0], &handle);
    CHECK(handle.OldIrql == APC_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-056/c", KeGetCurrentIrql() == APC_LEVEL && errors() == 0);
    KeLowerIrql(old);
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&lock[0], &handle);
    CHECK(one_checked("NT-053", 0x40));
    KeReleaseInStackQueuedSpinLockFromDpcLevel(&handle);
    CHECK(KeTestSpinLock(&lock[0]) && errors() == 0);
}

/* ---- many locks ---- */

TEST_WITH(driver, a_processor_holds_so_many_locks)
{
    static KSPIN_LOCK many[33];
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    for (unsigned i = 0; i < 33; i++) {
        KeInitializeSpinLock(&many[i]);
        CHECK(errors() == 0);
        KeAcquireSpinLockAtDpcLevel(&many[i]);
    }
    CHECK(one_told("NT-054"));
    for (unsigned i = 0; i < 32; i++) {
        KeReleaseSpinLockFromDpcLevel(&many[i]);
        CHECK(KeTestSpinLock(&many[i]) && errors() == 0);
    }
    KeLowerIrql(old);
}

/* ---- readers and writers ---- */

TEST_WITH(driver, readers_and_writers_return_to_a_level)
{
    KIRQL old, outer;

    init_locks();
    old = ExAcquireSpinLockShared(&rw[0]);
    CHECK_RULE("NT-058/c", old == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    CHECK(rw[0] == 1);
    ExReleaseSpinLockShared(&rw[0], old);
    CHECK_RULE("NT-058/c", KeGetCurrentIrql() == PASSIVE_LEVEL && rw[0] == 0);
    old = ExAcquireSpinLockExclusive(&rw[0]);
    CHECK(rw[0] == (LONG)0x80000000);
    ExReleaseSpinLockExclusive(&rw[0], old);
    CHECK_RULE("NT-058/c", KeGetCurrentIrql() == PASSIVE_LEVEL && rw[0] == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &outer);
    CHECK(ExAcquireSpinLockExclusive(&rw[0]) == DISPATCH_LEVEL);
    ExReleaseSpinLockExclusive(&rw[0], DISPATCH_LEVEL);
    CHECK(ExAcquireSpinLockShared(&rw[0]) == DISPATCH_LEVEL);
    ExReleaseSpinLockShared(&rw[0], DISPATCH_LEVEL);
    CHECK(KeGetCurrentIrql() == DISPATCH_LEVEL && errors() == 0);
    /* Not theirs: the level stays. */
    ExReleaseSpinLockShared(&rw[0], PASSIVE_LEVEL);
    CHECK(KeGetCurrentIrql() == DISPATCH_LEVEL && one_told("NT-052"));
    ExReleaseSpinLockExclusive(&rw[0], PASSIVE_LEVEL);
    CHECK(KeGetCurrentIrql() == DISPATCH_LEVEL && one_told("NT-052"));
    ExAcquireSpinLockSharedAtDpcLevel(&rw[0]);
    ExAcquireSpinLockSharedAtDpcLevel(&rw[0]);
    CHECK_RULE("NT-058/d", reported("NT-058", 0xF, (uintptr_t)&rw[0]) && one_told("NT-058"));
    ExReleaseSpinLockExclusiveFromDpcLevel(&rw[0]);
    CHECK(one_checked("NT-054", 0x1009));
    KeLowerIrql(outer);
    rw[0] = 0;
    ExAcquireSpinLockSharedAtDpcLevel(&rw[0]);
    CHECK(one_checked("NT-053", 0x40));
    ExReleaseSpinLockSharedFromDpcLevel(&rw[0]);
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw[0]);
    CHECK(one_checked("NT-053", 0x40));
    ExReleaseSpinLockExclusiveFromDpcLevel(&rw[0]);
    CHECK(rw[0] == 0 && errors() == 0);
}

/* ---- locks that a routine forgets ---- */

static void (*forgetful)(void);

static VOID NTAPI run_forgetful(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    forgetful();
}

static void in_routine(void (*fn)(void))
{
    KDPC dpc;

    forgetful = fn;
    KeInitializeDpc(&dpc, run_forgetful, NULL);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeFlushQueuedDpcs();
}

static void forget_locks(void)
{
    KeAcquireSpinLockAtDpcLevel(&lock[0]);
    KeAcquireSpinLockAtDpcLevel(&lock[1]);
    KeReleaseSpinLockFromDpcLevel(&lock[0]);
    KeAcquireSpinLockAtDpcLevel(&lock[2]);
}

static void forget_writer(void)
{
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw[0]);
}

static void forget_reader(void)
{
    ExAcquireSpinLockSharedAtDpcLevel(&rw[0]);
}

TEST_WITH(driver, forgotten_locks_are_released)
{
    init_locks();
    rw[1] = 0x5A5A;
    in_routine(forget_locks);
    CHECK(one_told("THREAD-007"));
    forget_reports();
    CHECK(KeTestSpinLock(&lock[0]) && KeTestSpinLock(&lock[1]) && KeTestSpinLock(&lock[2]));
    in_routine(forget_writer);
    CHECK(one_told("THREAD-007") && rw[0] == 0 && rw[1] == 0x5A5A);
    in_routine(forget_reader);
    CHECK(one_told("THREAD-007") && rw[0] == 0 && rw[1] == 0x5A5A);
}

static volatile bool go_on, reading;

static void read_for_a_while(void *arg)
{
    KIRQL old = ExAcquireSpinLockShared(&rw[0]);

    (void)arg;
    reading = true;
    while (!go_on)
        sim_spin();
    ExReleaseSpinLockShared(&rw[0], old);
}

TEST_WITH(driver_smp, readers_that_stay_are_counted)
{
    init_locks();
    go_on = reading = false;
    start("reader", read_for_a_while, NULL);
    while (!reading)
        pause_ns(1000);
    in_routine(forget_reader);
    CHECK(one_told("THREAD-007") && rw[0] == 1);
    go_on = true;
    pause_ns(100000);
    CHECK(rw[0] == 0 && errors() == 0);
}

static volatile bool holding, waiting;

static void wait_and_hold(void *arg)
{
    KIRQL old;

    (void)arg;
    KeAcquireSpinLock(&lock[0], &old);
    KeReleaseSpinLock(&lock[0], old);
    KeAcquireSpinLock(&lock[1], &old);
    holding = true;
    while (!waiting)
        sim_spin();
    sim_stall(50000);
    KeReleaseSpinLock(&lock[1], old);
}

/* What a processor waited for is no part of a ring when it has got it. */
TEST_WITH(driver_smp, waits_that_are_over_make_no_ring)
{
    KIRQL old, inner;

    init_locks();
    holding = waiting = false;
    KeAcquireSpinLock(&lock[0], &old);
    start("other", wait_and_hold, NULL);
    sim_stall(100000);
    KeReleaseSpinLock(&lock[0], old);
    while (!holding)
        sim_spin();
    KeAcquireSpinLock(&lock[0], &old);
    waiting = true;
    KeAcquireSpinLock(&lock[1], &inner);
    CHECK(errors() == 0);
    KeReleaseSpinLock(&lock[1], inner);
    KeReleaseSpinLock(&lock[0], old);
    CHECK(errors() == 0 && KeGetCurrentIrql() == PASSIVE_LEVEL);
}

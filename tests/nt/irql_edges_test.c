/* SPDX-License-Identifier: MIT */
/* Levels that nest deeply, and processors as many as there can be. */
#include "nt/ke/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/harness.h"

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

TEST_WITH(driver, raises_nest)
{
    KIRQL old[20];

    for (unsigned i = 0; i < 20; i++) {
        KeRaiseIrql((KIRQL)(i < 10 ? i / 2 : 5), &old[i]);
        CHECK(errors() == 0);
    }
    CHECK(KeGetCurrentIrql() == 5);
    for (unsigned i = 20; i-- > 0;) {
        KeLowerIrql(old[i]);
        CHECK(KeGetCurrentIrql() == old[i] && errors() == 0);
    }
    KeLowerIrql(PASSIVE_LEVEL); /* nothing was raised */
    CHECK(errors() == 0);
}

TEST_WITH(driver, levels_have_an_end)
{
    KIRQL old;

    KeRaiseIrql(HIGH_LEVEL, &old);
    CHECK(KeGetCurrentIrql() == HIGH_LEVEL && old == PASSIVE_LEVEL && errors() == 0);
    KeLowerIrql(old);
    CHECK(KfRaiseIrql(HIGH_LEVEL + 1) == PASSIVE_LEVEL && KeGetCurrentIrql() == PASSIVE_LEVEL);
    CHECK(reported("NT-075", 0xC4, 0x30) && one_told("NT-075"));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(KfRaiseIrql(APC_LEVEL) == DISPATCH_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    CHECK(reported("NT-075", 0xC4, 0x30) && one_told("NT-075"));
    CHECK(KeRaiseIrqlToDpcLevel() == DISPATCH_LEVEL && errors() == 0);
    KeLowerIrql(DISPATCH_LEVEL);
    KeLowerIrql(DISPATCH_LEVEL + 1);
    CHECK(reported("NT-076", 0xC4, 0x31) && one_told("NT-076"));
    CHECK(KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(APC_LEVEL); /* it was raised from another one */
    CHECK(one_told("NT-076") && KeGetCurrentIrql() == APC_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    CHECK(errors() == 0 && KeRaiseIrqlToDpcLevel() == PASSIVE_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    CHECK(errors() == 0);
}

TEST_WITH(driver, the_level_is_written_like_raised)
{
    nt_irql_write(APC_LEVEL);
    nt_irql_write(APC_LEVEL);
    nt_irql_write(DISPATCH_LEVEL);
    CHECK(KeGetCurrentIrql() == DISPATCH_LEVEL);
    nt_irql_write(APC_LEVEL);
    nt_irql_write(APC_LEVEL); /* undoes the second */
    CHECK(KeGetCurrentIrql() == APC_LEVEL && errors() == 0);
    nt_irql_write(PASSIVE_LEVEL);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);
    nt_irql_write(DISPATCH_LEVEL);
    nt_irql_write(APC_LEVEL);
    CHECK(one_told("NT-076") && KeGetCurrentIrql() == APC_LEVEL);
    nt_irql_write(PASSIVE_LEVEL);
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL);
}

/* ---- processors ---- */

static void count_processors(void)
{
    KAFFINITY mask = 0;
    PROCESSOR_NUMBER number = {7, 99, 9};

    CHECK(KeQueryActiveProcessorCount(&mask) == h.machine->processors);
    CHECK(mask == (h.machine->processors == 64 ? ~0ull : (1ull << h.machine->processors) - 1));
    CHECK(KeQueryActiveProcessors() == mask);
    CHECK(KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS) == h.machine->processors);
    CHECK(KeGetCurrentProcessorNumberEx(&number) == number.Number && number.Group == 0 &&
          number.Reserved == 0 && number.Number < h.machine->processors);
}

TEST_WITH(machine, there_are_up_to_64_processors)
{
    static const unsigned counts[] = {1, 2, 63, 64};

    for (unsigned i = 0; i < 4; i++) {
        harness_teardown();
        harness_boot(counts[i], 1, NULL);
        run(count_processors);
        CHECK(errors() == 0);
    }
}

/* ---- queued locks under any order of events ---- */

static KSPIN_LOCK lock;
static unsigned arrived, granted, arrival[3], grant[3];

static void queue_for_lock(void *arg)
{
    unsigned index = *(unsigned *)arg;
    KLOCK_QUEUE_HANDLE handle;

    arrival[arrived++] = index;
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    grant[granted++] = index;
    sim_stall(1000);
    KeReleaseInStackQueuedSpinLock(&handle);
}

static void contend(void)
{
    static unsigned index[3] = {0, 1, 2};
    KLOCK_QUEUE_HANDLE handle;

    KeInitializeSpinLock(&lock);
    arrived = granted = 0;
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    for (unsigned i = 0; i < 3; i++) {
        start("waiter", queue_for_lock, &index[i]);
        while (arrived <= i)
            sim_spin();
        sim_stall(20000);
    }
    KeReleaseInStackQueuedSpinLock(&handle);
    while (granted < 3)
        pause_ns(1000);
    CHECK_RULE("NT-056/b", memcmp(arrival, grant, sizeof(grant)) == 0);
}

TEST_WITH(machine, queued_locks_are_fair_whoever_looks_first)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        harness_teardown();
        harness_boot(4, seed, NULL);
        run(contend);
        CHECK(errors() == 0);
    }
}

/* ---- rings of spin locks ---- */

static KSPIN_LOCK ring[3];
static volatile unsigned holding;

static void take_two(void *arg)
{
    unsigned first = *(unsigned *)arg;
    KIRQL before;

    KeAcquireSpinLock(&ring[first], &before);
    holding++;
    while (holding < 3)
        sim_spin();
    KeAcquireSpinLockAtDpcLevel(&ring[(first + 1) % 3]);
}

static void wait_for_first(void *arg)
{
    KIRQL before;

    (void)arg;
    while (holding < 3)
        sim_spin();
    KeAcquireSpinLock(&ring[0], &before);
}

static void take_in_a_ring(void)
{
    static unsigned index[3] = {0, 1, 2};

    holding = 0;
    for (unsigned i = 0; i < 3; i++) {
        KeInitializeSpinLock(&ring[i]);
        start("ring", take_two, &index[i]);
    }
    start("outside", wait_for_first, NULL);
}

TEST_WITH(machine, rings_of_three_processors_are_found)
{
    harness_teardown();
    harness_boot(5, 1, NULL);
    run_within(take_in_a_ring, 10000000);
    CHECK_RULE("THREAD-073", reported("THREAD-073", 0xC4, 0x1001));
    h.threads_left = 16;
}

static EX_SPIN_LOCK rw[2];
static bool queued;

/* Who was let go on without the second lock must not release it. */
static void take_queued(unsigned first)
{
    KLOCK_QUEUE_HANDLE handle[2];

    KeAcquireInStackQueuedSpinLock(&ring[first], &handle[0]);
    holding++;
    while (holding < 2)
        sim_spin();
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&ring[1 - first], &handle[1]);
    if (++holding == 4)
        KeReleaseInStackQueuedSpinLockFromDpcLevel(&handle[1]);
    KeReleaseInStackQueuedSpinLock(&handle[0]);
}

static void take_to_write(unsigned first)
{
    KIRQL old = ExAcquireSpinLockExclusive(&rw[first]);

    holding++;
    while (holding < 2)
        sim_spin();
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw[1 - first]);
    if (++holding == 4)
        ExReleaseSpinLockExclusiveFromDpcLevel(&rw[1 - first]);
    ExReleaseSpinLockExclusive(&rw[first], old);
}

static void take_crosswise(void *arg)
{
    (queued ? take_queued : take_to_write)(*(unsigned *)arg);
}

static void take_each(void *arg)
{
    KLOCK_QUEUE_HANDLE handle;

    (void)arg;
    for (unsigned i = 0; i < 2; i++) {
        KeAcquireInStackQueuedSpinLock(&ring[i], &handle);
        sim_stall(1000);
        KeReleaseInStackQueuedSpinLock(&handle);
    }
    holding++;
}

static void take_later(void)
{
    holding = 0;
    start("later", take_each, NULL); /* on whichever processor */
}

static void take_two_crosswise(void)
{
    static unsigned index[2] = {0, 1};

    holding = 0;
    rw[0] = rw[1] = 0;
    for (unsigned i = 0; i < 2; i++) {
        KeInitializeSpinLock(&ring[i]);
        start("cross", take_crosswise, &index[i]);
    }
}

TEST_WITH(machine, other_kinds_of_spin_locks_are_waited_for_likewise)
{
    for (unsigned i = 0; i < 10; i++) {
        queued = i % 2 == 0;
        harness_teardown();
        harness_boot(3, i, NULL);
        CHECK_RULE("THREAD-073", run_within(take_two_crosswise, 10000000));
        CHECK_RULE("THREAD-073", reported("THREAD-073", 0xC4, 0x1001));
        /* Once; and both are free in the end. */
        CHECK(errors() == 1 && holding == 4);
        CHECK(run_within(take_later, 10000000) && holding == 1);
        CHECK(KeTestSpinLock(&ring[0]) && KeTestSpinLock(&ring[1]) && rw[0] == 0 && rw[1] == 0);
    }
}

/* SPDX-License-Identifier: MIT */
/* IRQLs, spin locks, fast mutexes, regions, push locks, rundown protection, resources. */
#include "nt/config.h"
#include "support/harness.h"

/* ---- IRQL ---- */

static KIRQL seen_irql;

static void note_irql(void)
{
    seen_irql = KeGetCurrentIrql();
}

static void raise_to_dpc_level(void)
{
    KeRaiseIrqlToDpcLevel();
}

TEST_WITH(driver, levels_go_up_and_down)
{
    FAST_MUTEX mutex;
    KIRQL old, inner;

    CHECK_RULE("NT-074", KeGetCurrentIrql() == PASSIVE_LEVEL);
    in_dpc(note_irql);
    CHECK_RULE("NT-074", seen_irql == 2);
    CHECK_RULE("THREAD-001", seen_irql == 2 && PASSIVE_LEVEL == 0 && APC_LEVEL == 1);
    in_interrupt(note_irql);
    CHECK_RULE("NT-074", seen_irql == 5);
    ExInitializeFastMutex(&mutex);
    ExAcquireFastMutex(&mutex);
    CHECK_RULE("NT-074", KeGetCurrentIrql() == APC_LEVEL);
    ExReleaseFastMutex(&mutex);

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-075", old == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeRaiseIrql(HIGH_LEVEL, &inner);
    CHECK_RULE("NT-075", inner == DISPATCH_LEVEL && errors() == 0);
    KeLowerIrql(inner);
    KeRaiseIrql(APC_LEVEL, &inner);
    CHECK_RULE("NT-075", reported("NT-075", 0xC4, 0x30) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(HIGH_LEVEL);
    CHECK_RULE("NT-076", reported("NT-076", 0xC4, 0x31) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    forget_reports();
    KeLowerIrql(APC_LEVEL);
    CHECK_RULE("NT-076", broken("NT-076"));
    KeLowerIrql(PASSIVE_LEVEL);

    CHECK_RULE("NT-078", KeRaiseIrqlToDpcLevel() == PASSIVE_LEVEL);
    CHECK_RULE("NT-078", KeRaiseIrqlToDpcLevel() == DISPATCH_LEVEL);
    KeLowerIrql(DISPATCH_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    in_interrupt(raise_to_dpc_level);
    CHECK_RULE("NT-078", broken("NT-078") && verify_bugcheck_state(h.log)->happened);
}

static unsigned dpc_runs;

static VOID NTAPI count_dpc(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    dpc_runs++;
}

TEST_WITH(driver, dpcs_wait_for_a_low_level)
{
    static KDPC dpc;
    KIRQL old;

    dpc_runs = 0;
    KeInitializeDpc(&dpc, count_dpc, NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    sim_stall(100000);
    CHECK_RULE("THREAD-003", dpc_runs == 0);
    KeLowerIrql(old);
    CHECK_RULE("NT-076", dpc_runs == 1);
    CHECK_RULE("THREAD-003", dpc_runs == 1);
}

static unsigned serviced;

static bool count_interrupt(void *context, uint32_t message)
{
    (void)context;
    (void)message;
    serviced++;
    return true;
}

TEST_WITH(driver, interrupts_wait_for_a_low_level)
{
    struct sim_interrupt interrupt;
    KIRQL old;

    serviced = 0;
    sim_interrupt_connect(&interrupt, count_interrupt, NULL, 0, SIM_IRQL_DEVICE);
    KeRaiseIrql(5, &old);
    sim_interrupt_raise(&interrupt);
    sim_stall(100000);
    CHECK_RULE("THREAD-003", serviced == 0);
    KeLowerIrql(old);
    sim_stall(100000);
    CHECK_RULE("THREAD-003", serviced == 1);
    sim_interrupt_disconnect(&interrupt);
}

static bool other_ran;

static void raise_shortly(void *arg)
{
    KIRQL old;

    (void)arg;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    other_ran = true;
    KeLowerIrql(old);
}

TEST_WITH(driver, dispatch_level_owns_the_processor)
{
    KIRQL old;

    other_ran = false;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    start("other", raise_shortly, NULL);
    sim_stall(1000000);
    CHECK_RULE("THREAD-002", !other_ran);
    KeLowerIrql(old);
    pause_ns(1000000);
    CHECK_RULE("THREAD-002", other_ran);
}

/* ---- spin locks ---- */

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
    CHECK_RULE("NT-049", KeGetCurrentIrql() == DISPATCH_LEVEL && old == PASSIVE_LEVEL);
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050", KeGetCurrentIrql() == PASSIVE_LEVEL && errors() == 0);

    KeAcquireSpinLock(&lock, &old);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-050", reported("NT-050", 0xC4, 0x32));

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLock(&lock, APC_LEVEL);
    CHECK_RULE("NT-051", broken("NT-051") && KeGetCurrentIrql() == PASSIVE_LEVEL);

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-052", reported("NT-052", 0xF, (uintptr_t)&lock));
    forget_reports();
    KeInitializeSpinLock(&lock);
    CHECK_RULE("NT-048", broken("NT-048"));
    KeReleaseSpinLock(&lock, old);
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-052", reported("NT-052", 0x10, (uintptr_t)&lock));
}

TEST_WITH(driver, dpc_level_forms_are_checked)
{
    KIRQL old;

    KeInitializeSpinLock(&lock);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-053", KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeReleaseSpinLockFromDpcLevel(&lock);
    CHECK_RULE("NT-053", KeGetCurrentIrql() == DISPATCH_LEVEL && KeTestSpinLock(&lock));
    CHECK_RULE("NT-057", KeTryToAcquireSpinLockAtDpcLevel(&lock) && !KeTestSpinLock(&lock));
    KeReleaseSpinLockFromDpcLevel(&lock);
    KeLowerIrql(old);
    CHECK_RULE("NT-053", errors() == 0);
    KeAcquireSpinLockAtDpcLevel(&lock);
    CHECK_RULE("NT-053", reported("NT-053", 0xC4, 0x40));
    KeReleaseSpinLockFromDpcLevel(&lock);

    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLockFromDpcLevel(&lock);
    CHECK_RULE("NT-054", reported("NT-054", 0xC4, 0x1009));
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
    CHECK_RULE("NT-057", !KeTryToAcquireSpinLockAtDpcLevel(&lock));
    go_on = true;
    KeAcquireInStackQueuedSpinLockAtDpcLevel(&lock, &queued);
    CHECK_RULE("NT-054", reported("NT-054", 0xC4, 0x1008));
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
    CHECK_RULE("NT-049", counter == 8000);
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
    CHECK_RULE("NT-056", KeGetCurrentIrql() == DISPATCH_LEVEL);
    for (unsigned i = 0; i < 3; i++) {
        start("waiter", queue_for_lock, &index[i]);
        while (arrived <= i)
            sim_spin();
        sim_stall(20000);
    }
    CHECK_RULE("NT-056", granted == 0);
    KeReleaseInStackQueuedSpinLock(&handle);
    CHECK_RULE("NT-056", KeGetCurrentIrql() == PASSIVE_LEVEL);
    while (granted < 3)
        pause_ns(1000);
    CHECK_RULE("NT-056", memcmp(arrival_order, grant_order, sizeof(grant_order)) == 0);
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
    CHECK_RULE("NT-058", readers == 0 && old == PASSIVE_LEVEL && KeGetCurrentIrql() == 2);
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
    CHECK_RULE("NT-058", most_readers > 1 && errors() == 0);
    old = ExAcquireSpinLockExclusive(&rw_lock);
    ExAcquireSpinLockExclusiveAtDpcLevel(&rw_lock);
    CHECK_RULE("NT-058", broken("NT-058"));
    ExReleaseSpinLockExclusive(&rw_lock, old);
}

TEST_WITH(driver, locks_need_good_memory)
{
    KSPIN_LOCK *fresh = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*fresh), TAG);
    KSPIN_LOCK *paged = ExAllocatePoolWithTag(PagedPool, sizeof(*paged), TAG);
    KIRQL old;

    KeAcquireSpinLock(fresh, &old);
    KeReleaseSpinLock(fresh, old);
    CHECK_RULE("NT-005", broken("NT-005"));
    KeInitializeSpinLock(paged);
    CHECK_RULE("NT-004", reported("NT-004", 0xC4, 0xE1));
    ExFreePool(fresh);
    ExFreePool(paged);
}

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
    CHECK_RULE("NT-061", KeGetCurrentIrql() == APC_LEVEL);
    counter = 0;
    start("other", hold_fast, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-061", counter == 0);
    CHECK_RULE("NT-063", !ExTryToAcquireFastMutex(&fast));
    forget_reports();
    ExAcquireFastMutex(&fast);
    CHECK_RULE("NT-064", broken("NT-064"));
    start("thief", release_fast, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-062", reported("NT-062", 0xC4, 0x1004) && counter == 0);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062", KeGetCurrentIrql() == PASSIVE_LEVEL);
    pause_ns(100000);
    CHECK_RULE("NT-061", counter == 1);

    CHECK_RULE("NT-063", ExTryToAcquireFastMutex(&fast) && KeGetCurrentIrql() == APC_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-062", reported("NT-062", 0xC4, 0x34));
    in_dpc(acquire_fast);
    CHECK_RULE("NT-061", reported("NT-061", 0xC4, 0x33) && fast.Count == FM_LOCK_BIT);
    forget_reports();
    ExAcquireFastMutex(unaligned);
    CHECK_RULE("NT-060", broken("NT-060"));
}

TEST_WITH(driver, unsafe_forms_need_a_region)
{
    ExInitializeFastMutex(&fast);
    ExAcquireFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065", reported("NT-065", 0xC4, 0x39) && KeGetCurrentIrql() == 0);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065", reported("NT-065", 0xC4, 0x3A));
    forget_reports();
    KeEnterCriticalRegion();
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutexUnsafe(&fast);
    CHECK_RULE("NT-065", errors() == 0);
    ExAcquireFastMutexUnsafe(&fast);
    ExReleaseFastMutex(&fast);
    CHECK_RULE("NT-065", broken("NT-065"));
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, guarded_mutexes_count_as_apc_level)
{
    static KGUARDED_MUTEX guarded;
    HANDLE handle;

    KeInitializeGuardedMutex(&guarded);
    KeAcquireGuardedMutex(&guarded);
    ObReferenceObjectByHandle(ZwCurrentThread(), 0, NULL, KernelMode, (PVOID *)&handle, NULL);
    CHECK_RULE("NT-066", errors() == 1);
    forget_reports();
    KeAcquireGuardedMutex(&guarded);
    CHECK_RULE("NT-064", broken("NT-064"));
    KeReleaseGuardedMutex(&guarded);
    CHECK_RULE("NT-066", KeGetCurrentIrql() == PASSIVE_LEVEL);
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
    CHECK_RULE("NT-073", KeAreApcsDisabled() && errors() == 0);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-073", !KeAreApcsDisabled());
    KeEnterGuardedRegion();
    CHECK_RULE("NT-073", KeAreAllApcsDisabled());
    KeLeaveGuardedRegion();
    CHECK_RULE("NT-073", !KeAreAllApcsDisabled() && errors() == 0);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-073", reported("NT-073", 0xC4, 0x3E));
    in_dpc(enter_region);
    CHECK_RULE("NT-073", reported("NT-073", 0xC4, 0x11A));
    in_dpc(leave_region);
    CHECK_RULE("NT-073", reported("NT-073", 0xC4, 0x11B));
}

/* ---- push locks, rundown protection ---- */

static EX_PUSH_LOCK push;

static void take_push(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx(&push, 0);
    counter++;
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, push_locks_are_checked)
{
    ExInitializePushLock(&push);
    ExAcquirePushLockSharedEx(&push, 0);
    CHECK_RULE("NT-072", reported("NT-072", 0xC4, 0xEA));
    ExReleasePushLockSharedEx(&push, 0);
    CHECK_RULE("NT-072", reported("NT-072", 0xC4, 0xEB));
    forget_reports();
    KeEnterCriticalRegion();
    ExAcquirePushLockSharedEx(&push, 0);
    ExAcquirePushLockSharedEx(&push, 0);
    counter = 0;
    start("writer", take_push, NULL);
    pause_ns(100000);
    ExReleasePushLockSharedEx(&push, 0);
    pause_ns(100000);
    assert_int_equal(counter, 0);
    ExReleasePushLockSharedEx(&push, 0);
    pause_ns(100000);
    assert_int_equal(counter, 1);
    assert_int_equal(errors(), 0);
    ExAcquirePushLockExclusiveEx(&push, 0);
    ExAcquirePushLockExclusiveEx(&push, 0);
    CHECK_RULE("NT-072", broken("NT-072"));
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveCriticalRegion();
}

static EX_RUNDOWN_REF rundown;
static bool rundown_over;

static void wait_rundown(void *arg)
{
    (void)arg;
    ExWaitForRundownProtectionRelease(&rundown);
    rundown_over = true;
}

TEST_WITH(driver, rundown_waits_for_holders)
{
    rundown_over = false;
    ExInitializeRundownProtection(&rundown);
    CHECK_RULE("NT-072", ExAcquireRundownProtection(&rundown));
    CHECK_RULE("NT-072", ExAcquireRundownProtection(&rundown));
    start("waiter", wait_rundown, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-072", !ExAcquireRundownProtection(&rundown) && !rundown_over);
    ExReleaseRundownProtection(&rundown);
    pause_ns(100000);
    CHECK_RULE("NT-072", !rundown_over);
    ExReleaseRundownProtection(&rundown);
    pause_ns(100000);
    CHECK_RULE("NT-072", rundown_over && errors() == 0);
}

/* ---- resources ---- */

static ERESOURCE *resource;

static void take_resource(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExAcquireResourceExclusiveLite(resource, TRUE);
    counter++;
    ExReleaseResourceLite(resource);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, resources_are_recursive_and_shared)
{
    resource = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*resource), TAG);
    ExInitializeResourceLite(resource);
    ExAcquireResourceExclusiveLite(resource, TRUE);
    CHECK_RULE("NT-071", reported("NT-071", 0xC4, 0x37));
    ExReleaseResourceLite(resource);
    CHECK_RULE("NT-071", reported("NT-071", 0xC4, 0x38));
    forget_reports();
    KeEnterCriticalRegion();
    CHECK_RULE("NT-071", ExAcquireResourceExclusiveLite(resource, TRUE));
    CHECK_RULE("NT-071", ExAcquireResourceExclusiveLite(resource, FALSE));
    CHECK_RULE("NT-071", ExAcquireResourceSharedLite(resource, FALSE));
    counter = 0;
    start("other", take_resource, NULL);
    pause_ns(100000);
    ExReleaseResourceLite(resource);
    ExReleaseResourceLite(resource);
    pause_ns(100000);
    CHECK_RULE("NT-071", counter == 0 && ExIsResourceAcquiredExclusiveLite(resource));
    ExReleaseResourceLite(resource);
    pause_ns(100000);
    CHECK_RULE("NT-071", counter == 1);
    ExAcquireResourceSharedLite(resource, TRUE);
    CHECK_RULE("NT-071", !ExAcquireResourceExclusiveLite(resource, FALSE));
    ExReleaseResourceLite(resource);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-071", errors() == 0);
    ExFreePool(resource);
    CHECK_RULE("NT-006", reported("NT-006", 0xC4, 0xD2));
}

/* ---- what a call leaves behind ---- */

static VOID NTAPI leave_raised(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    KeAcquireSpinLockAtDpcLevel(&lock);
    KfRaiseIrql(HIGH_LEVEL);
    KeEnterCriticalRegion();
}

TEST_WITH(driver, routines_return_as_they_were_called)
{
    static KDPC dpc;
    KIRQL old;

    KeInitializeSpinLock(&lock);
    KeInitializeDpc(&dpc, leave_raised, NULL);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeFlushQueuedDpcs();
    CHECK(broken("THREAD-006") && KeGetCurrentIrql() == PASSIVE_LEVEL);
    CHECK_RULE("THREAD-007", reported("THREAD-007", 0xC4, 0x00040009));
    CHECK_RULE("THREAD-007", verify_bugcheck_state(h.log)->code == 0xC7 &&
                                 verify_bugcheck_state(h.log)->parameter[3] == 4);
    forget_reports();
    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLock(&lock, old);
    assert_int_equal(errors(), 0);
}

static DEVICE_OBJECT some_device;

static VOID NTAPI keep_fast_mutex(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    (void)context;
    ExAcquireFastMutex(&fast);
}

static void check_kept_mutex(void)
{
    PIO_WORKITEM item = IoAllocateWorkItem(&some_device);

    ExInitializeFastMutex(&fast);
    IoQueueWorkItem(item, keep_fast_mutex, DelayedWorkQueue, NULL);
    pause_ns(1000000);
    CHECK(broken("THREAD-008") && broken("THREAD-006") && errors() == 1);
    IoFreeWorkItem(item);
}

TEST_WITH(machine, kept_mutexes_are_noted)
{
    run(check_kept_mutex);
    h.threads_left = 4;
}

/* ---- deadlock detection ---- */

static void check_lock_order(void)
{
    KSPIN_LOCK *a = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*a), TAG);
    KSPIN_LOCK b, c;
    FAST_MUTEX mutex;
    KMUTEX other;
    KIRQL old, inner;

    KeInitializeSpinLock(a);
    KeInitializeSpinLock(&b);
    KeAcquireSpinLock(a, &old);
    KeAcquireSpinLock(&b, &inner);
    KeReleaseSpinLock(&b, inner);
    KeReleaseSpinLock(a, old);
    CHECK_RULE("NT-059", errors() == 0);
    KeAcquireSpinLock(&b, &old);
    KeAcquireSpinLock(a, &inner);
    KeReleaseSpinLock(a, inner);
    KeReleaseSpinLock(&b, old);
    CHECK_RULE("NT-059", reported("NT-059", 0xC4, 0x1001));

    /* The same memory is another lock when it was freed. */
    forget_reports();
    ExFreePool(a);
    ExInitializeFastMutex(&mutex);
    KeInitializeMutex(&other, 0);
    ExAcquireFastMutex(&mutex);
    KeWaitForSingleObject(&other, Executive, KernelMode, FALSE, NULL);
    KeReleaseMutex(&other, FALSE);
    ExReleaseFastMutex(&mutex);
    CHECK_RULE("NT-059", errors() == 0);
    KeWaitForSingleObject(&other, Executive, KernelMode, FALSE, NULL);
    ExAcquireFastMutex(&mutex);
    CHECK_RULE("NT-059", reported("NT-059", 0xC4, 0x1001));
    ExReleaseFastMutex(&mutex);
    KeReleaseMutex(&other, FALSE);

    c = 0x1234;
    KeAcquireSpinLock(&c, &old);
    CHECK_RULE("NT-059", reported("NT-059", 0xC4, 0x1002));
    KeReleaseSpinLock(&c, old);
    KeReleaseSpinLock(&c, old);
    CHECK_RULE("NT-059", reported("NT-059", 0xC4, 0x1007));
}

TEST_WITH(machine, order_inversions_are_found)
{
    const struct nt_config config = {.deadlock_detection = true};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(check_lock_order);
}

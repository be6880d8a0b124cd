/* SPDX-License-Identifier: MIT */
/* Deadlock detection: inversions of the order of locks. */
#include "nt/base/nt_config.h"
#include "support/harness.h"

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
    CHECK_RULE("NT-059/a", errors() == 0);
    KeAcquireSpinLock(&b, &old);
    KeAcquireSpinLock(a, &inner);
    KeReleaseSpinLock(a, inner);
    KeReleaseSpinLock(&b, old);
    CHECK_RULE("NT-059/a", reported("NT-059", 0xC4, 0x1001));

    /* The same memory is another lock when it was freed. */
    forget_reports();
    ExFreePool(a);
    ExInitializeFastMutex(&mutex);
    KeInitializeMutex(&other, 0);
    ExAcquireFastMutex(&mutex);
    KeWaitForSingleObject(&other, Executive, KernelMode, FALSE, NULL);
    KeReleaseMutex(&other, FALSE);
    ExReleaseFastMutex(&mutex);
    CHECK_RULE("NT-059/b", errors() == 0);
    KeWaitForSingleObject(&other, Executive, KernelMode, FALSE, NULL);
    ExAcquireFastMutex(&mutex);
    CHECK_RULE("NT-059/b", reported("NT-059", 0xC4, 0x1001));
    ExReleaseFastMutex(&mutex);
    KeReleaseMutex(&other, FALSE);

    c = 0x1234;
    KeAcquireSpinLock(&c, &old);
    CHECK_RULE("NT-059/c", reported("NT-059", 0xC4, 0x1002));
    KeReleaseSpinLock(&c, old);
    KeReleaseSpinLock(&c, old);
    CHECK_RULE("NT-059/d", reported("NT-059", 0xC4, 0x1007));
}

TEST_WITH(machine, order_inversions_are_found)
{
    const struct nt_config config = {.deadlock_detection = true};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(check_lock_order);
}

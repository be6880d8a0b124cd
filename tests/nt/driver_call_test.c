/* SPDX-License-Identifier: MIT */
/* What a routine of a driver must leave as it found it. */
#include "support/harness.h"

static KSPIN_LOCK lock;
static FAST_MUTEX fast;

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
    CHECK_RULE("THREAD-007/a", reported("THREAD-007", 0xC4, 0x00040009));
    CHECK_RULE("THREAD-007/b", verify_bugcheck_state(h.log)->code == 0xC7 &&
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

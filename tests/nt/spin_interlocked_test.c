/* SPDX-License-Identifier: MIT */
/* Locks that ExInterlockedXxx routines use, alone or beside the spin lock routines. */
#include "sim/point.h"
#include "support/harness.h"

static KSPIN_LOCK lock;
static LIST_ENTRY head, entries[4];

static void prepare(void)
{
    forget_reports();
    KeInitializeSpinLock(&lock);
    InitializeListHead(&head);
}

static void insert(void)
{
    ExInterlockedInsertTailList(&head, &entries[0], &lock);
}

static void acquire_and_release(void)
{
    KIRQL old;

    KeAcquireSpinLock(&lock, &old);
    KeReleaseSpinLock(&lock, old);
}

TEST_WITH(driver, a_lock_of_interlocked_routines_alone_is_silent)
{
    prepare();
    insert();
    ExInterlockedRemoveHeadList(&head, &lock);
    in_dpc(insert);
    in_interrupt(insert);
    CHECK_RULE("NT-112/a", !broken("NT-112") && errors() == 0);
    CHECK_RULE("NT-112/a", KeTestSpinLock(&lock)); /* free in between */
}

/* Published samples do it, and nothing goes wrong up to DISPATCH_LEVEL. */
TEST_WITH(driver, mixed_use_up_to_dispatch_level_is_a_warning)
{
    KIRQL old;

    prepare();
    insert();
    KeAcquireSpinLock(&lock, &old);
    CHECK_RULE("NT-112/b", broken("NT-112") && errors() == 0 && !KeTestSpinLock(&lock));
    KeReleaseSpinLock(&lock, old);
    CHECK_RULE("NT-112/b", KeTestSpinLock(&lock));

    forget_reports(); /* once for each lock */
    in_dpc(insert);
    acquire_and_release();
    CHECK_RULE("NT-112/b", !broken("NT-112"));

    prepare(); /* the other order: only its next use by the spin lock routines shows it */
    acquire_and_release();
    insert();
    CHECK_RULE("NT-112/b", !broken("NT-112"));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-112/b", KeTryToAcquireSpinLockAtDpcLevel(&lock) && broken("NT-112"));
    KeReleaseSpinLockFromDpcLevel(&lock);
    KeLowerIrql(old);
    CHECK_RULE("NT-112/b", errors() == 0);
}

TEST_WITH(driver, mixed_use_above_dispatch_level_is_a_violation)
{
    prepare();
    in_interrupt(insert);
    CHECK_RULE("NT-112/c", errors() == 0);
    acquire_and_release();
    CHECK_RULE("NT-112/c", broken("NT-112") && errors() == 1);
    acquire_and_release();
    CHECK_RULE("NT-112/c", errors() == 1);

    prepare();
    insert();
    acquire_and_release();
    CHECK_RULE("NT-112/c", broken("NT-112") && errors() == 0);
    in_interrupt(insert);
    CHECK_RULE("NT-112/c", errors() == 1);
    in_interrupt(insert);
    CHECK_RULE("NT-112/c", errors() == 1);
}

TEST_WITH(driver, the_holder_would_wait_for_itself)
{
    KIRQL old;

    prepare();
    KeAcquireSpinLock(&lock, &old);
    insert();
    CHECK_RULE("NT-112/d", broken("NT-112") && errors() == 1);
    KeReleaseSpinLock(&lock, old);

    prepare();
    lock = 0x1234;
    insert();
    CHECK_RULE("NT-005/c", broken("NT-005") && !broken("NT-112") && !IsListEmpty(&head));
}

/* ---- exclusion ---- */

static bool held, went_on, seen;

static void insert_meanwhile(void *arg)
{
    (void)arg;
    while (!held)
        pause_ns(100);
    ExInterlockedInsertTailList(&head, &entries[1], &lock);
    seen = held; /* while the other one holds it? */
    went_on = true;
}

TEST_WITH(driver_smp, mixed_use_excludes)
{
    KIRQL old;

    prepare();
    held = went_on = seen = false;
    start("inserter", insert_meanwhile, NULL);
    KeAcquireSpinLock(&lock, &old);
    held = true;
    KeStallExecutionProcessor(50);
    for (unsigned i = 0; i < 100; i++)
        sim_point();
    CHECK_RULE("NT-112/e", IsListEmpty(&head) && !went_on);
    held = false;
    KeReleaseSpinLock(&lock, old);
    while (!went_on)
        pause_ns(1000);
    CHECK_RULE("NT-112/e", !seen && head.Flink == &entries[1]);
    CHECK_RULE("NT-112/e", broken("NT-112") && errors() == 0);
    forget_reports(); /* what was said while it was held is not said again */
    acquire_and_release();
    CHECK_RULE("NT-112/e", !broken("NT-112"));
}

/* SPDX-License-Identifier: MIT */
/* Objects of drivers: where they may lie, what was never initialised, what is freed too early. */
#include "support/harness.h"

static void *pool(POOL_TYPE type, SIZE_T bytes)
{
    void *block = ExAllocatePoolWithTag(type, bytes, TAG);

    assert_non_null(block);
    memset(block, 0, bytes);
    return block;
}

/* ---- paged memory ---- */

static void initialize(unsigned kind, void *at)
{
    switch (kind) {
    case 0:
        KeInitializeMutex(at, 0);
        break;
    case 1:
        KeInitializeSemaphore(at, 0, 1);
        break;
    case 2:
        KeInitializeTimer(at);
        break;
    case 3:
        KeInitializeSpinLock(at);
        break;
    case 4:
        ExInitializeFastMutex(at);
        break;
    default:
        ExInitializeResourceLite(at);
        ExDeleteResourceLite(at);
    }
}

TEST_WITH(driver, objects_lie_in_nonpaged_memory)
{
    void *paged = pool(PagedPool, 256), *nonpaged = pool(NonPagedPoolNx, 256);
    KSPIN_LOCK *lock = paged;
    KIRQL old;

    for (unsigned kind = 0; kind < 6; kind++) {
        forget_reports();
        initialize(kind, nonpaged);
        CHECK_RULE("NT-004/b", errors() == 0);
        initialize(kind, paged);
        CHECK_RULE("NT-004/b", reported("NT-004", 0xC4, 0xE1));
    }
    memset(paged, 0, 256);
    forget_reports();
    KeAcquireSpinLock(lock, &old);
    CHECK_RULE("NT-004/c", reported("NT-004", 0xC4, 0xE1));
    KeReleaseSpinLock(lock, old);
    KeInitializeEvent(paged, NotificationEvent, FALSE);
    forget_reports();
    KeSetEvent(paged, 0, FALSE);
    CHECK_RULE("NT-004/c", reported("NT-004", 0xC4, 0xE1));
    ExFreePool(paged);
    ExFreePool(nonpaged);
}

/* ---- what was never initialised ---- */

static unsigned ran;

static VOID NTAPI deferred(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    ran++;
}

static VOID NTAPI work(PVOID context)
{
    (void)context;
    ran++;
}

/* True: one violation of NT-005 since the last call. */
static bool one_told(void)
{
    bool told = errors() == 1 && broken("NT-005");

    forget_reports();
    return told;
}

TEST_WITH(driver, what_was_never_initialised_does_nothing)
{
    KDPC *dpc = pool(NonPagedPoolNx, sizeof(*dpc)), good;
    KTIMER *timer = pool(NonPagedPoolNx, sizeof(*timer));
    WORK_QUEUE_ITEM *item = pool(NonPagedPoolNx, sizeof(*item));

    CHECK_RULE("NT-005/d", !KeInsertQueueDpc(dpc, NULL, NULL) && one_told());
    CHECK_RULE("NT-005/d", !KeRemoveQueueDpc(dpc) && one_told());
    KeInitializeDpc(&good, deferred, NULL);
    ran = 0;
    CHECK_RULE("NT-005/d", !KeSetTimer(timer, relative_ms(1), &good) && one_told());
    CHECK_RULE("NT-005/d", !KeCancelTimer(timer) && one_told());
    ExQueueWorkItem(item, DelayedWorkQueue);
    CHECK_RULE("NT-005/e", one_told());
    ExInitializeWorkItem(item, work, NULL);
    ExFreePool(item);
    ExQueueWorkItem(item, DelayedWorkQueue);
    CHECK_RULE("NT-005/b", one_told());
    KeInitializeDpc(dpc, deferred, NULL);
    ExFreePool(dpc);
    CHECK_RULE("NT-005/b", !KeInsertQueueDpc(dpc, NULL, NULL) && one_told());
    pause_ns(5000000);
    CHECK_RULE("NT-005/d", ran == 0);
    ExFreePool(timer);
}

/* ---- freed while in use ---- */

TEST_WITH(driver, queued_objects_in_freed_memory_are_dropped)
{
    KDPC *dpc = pool(NonPagedPoolNx, sizeof(*dpc));
    WORK_QUEUE_ITEM *item = pool(NonPagedPoolNx, sizeof(*item));
    KTIMER *timer = pool(NonPagedPoolNx, sizeof(*timer));
    KDPC expiry;
    KIRQL old;

    ran = 0;
    h.threads_left = 4; /* workers */
    KeInitializeDpc(dpc, deferred, NULL);
    ExInitializeWorkItem(item, work, NULL);
    KeInitializeDpc(&expiry, deferred, NULL);
    KeInitializeTimer(timer);
    KeSetTimer(timer, relative_ms(1), &expiry);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInsertQueueDpc(dpc, NULL, NULL);
    ExQueueWorkItem(item, DelayedWorkQueue);
    assert_int_equal(errors(), 0);
    ExFreePool(dpc);
    CHECK_RULE("NT-006/b", reported("NT-006", 0xC7, 0) && errors() == 1);
    forget_reports();
    ExFreePool(item);
    CHECK_RULE("NT-006/c", reported("NT-006", 0xC7, 0) && errors() == 1);
    ExFreePool(timer);
    KeLowerIrql(old);
    pause_ns(5000000);
    CHECK(ran == 0);
}

TEST_WITH(driver, lookaside_lists_in_freed_memory_are_found)
{
    NPAGED_LOOKASIDE_LIST *list = pool(NonPagedPoolNx, sizeof(*list));

    ExInitializeNPagedLookasideList(list, NULL, NULL, 0, 32, TAG, 0);
    ExDeleteNPagedLookasideList(list);
    ExInitializeNPagedLookasideList(list, NULL, NULL, 0, 32, TAG, 0);
    assert_int_equal(errors(), 0);
    ExFreePool(list);
    CHECK_RULE("NT-006/d", reported("NT-006", 0xC4, 0xCC) && errors() == 1);
}

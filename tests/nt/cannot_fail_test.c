/* SPDX-License-Identifier: MIT */
/* What cannot fail on Windows does not, while every request for memory does. */
#include "nt/io/image_life.h"
#include "sim/machine.h"
#include "support/harness.h"

static LARGE_INTEGER zero;

static VOID NTAPI count(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)a;
    (void)b;
    ++*(unsigned *)context;
}

static VOID NTAPI count_work(PVOID context)
{
    ++*(unsigned *)context;
}

TEST_WITH(driver, what_cannot_fail_does_not)
{
    NPAGED_LOOKASIDE_LIST cache;
    WORK_QUEUE_ITEM item;
    KMUTEX mutex[5];
    KWAIT_BLOCK blocks[5];
    void *objects[5];
    ERESOURCE resource;
    unsigned runs = 0;
    PEX_TIMER ex;
    KTIMER timer;
    KDPC dpc;

    ex = ExAllocateTimer(NULL, NULL, EX_TIMER_NOTIFICATION);
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    h.machine->heap.fail_onward = true;
    CHECK(!ExAllocateTimer(NULL, NULL, 0)); /* this can */
    KeInitializeDpc(&dpc, count, &runs);
    CHECK(KeInsertQueueDpc(&dpc, NULL, NULL));
    KeFlushQueuedDpcs();
    CHECK(runs == 1);
    KeInitializeTimer(&timer);
    KeSetTimerEx(&timer, relative_ms(1), 1, &dpc);
    pause_ns(2500000);
    CHECK(KeCancelTimer(&timer) && runs == 3);
    ExSetTimer(ex, -10000, 10000, NULL);
    pause_ns(2500000);
    CHECK(KeWaitForSingleObject(ex, Executive, KernelMode, FALSE, &zero) == STATUS_SUCCESS);
    CHECK(ExCancelTimer(ex, NULL));
    CHECK(ExInitializeResourceLite(&resource) == STATUS_SUCCESS);
    KeEnterCriticalRegion();
    CHECK(ExAcquireResourceExclusiveLite(&resource, FALSE));
    CHECK(ExIsResourceAcquiredExclusiveLite(&resource));
    ExReleaseResourceLite(&resource);
    KeLeaveCriticalRegion();
    ExDeleteResourceLite(&resource);
    for (unsigned i = 0; i < 5; i++) {
        KeInitializeMutex(&mutex[i], 0);
        objects[i] = &mutex[i];
    }
    CHECK(KeWaitForMultipleObjects(5, objects, WaitAll, Executive, KernelMode, FALSE, &zero,
                                   blocks) == STATUS_WAIT_0);
    for (unsigned i = 0; i < 5; i++)
        CHECK(KeReleaseMutex(&mutex[i], FALSE) == 0);
    ExInitializeNPagedLookasideList(&cache, NULL, NULL, 0, 48, TAG, 0);
    ExDeleteNPagedLookasideList(&cache);
    ExInitializeWorkItem(&item, count_work, &runs);
    ExQueueWorkItem(&item, DelayedWorkQueue);
    pause_ns(1000000);
    CHECK(runs == 4);
    h.machine->heap.fail_at = 0;
    h.machine->heap.fail_onward = false;
    ExDeleteTimer(ex, TRUE, TRUE, NULL);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    h.threads_left = 4;
}

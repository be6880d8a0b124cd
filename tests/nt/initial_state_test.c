/* SPDX-License-Identifier: MIT */
/* What drivers may read of objects that were initialized, and ticks in numbers. */
#include "sim/machine.h"
#include "support/harness.h"

static VOID NTAPI nothing(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
}

static bool is_object(const DISPATCHER_HEADER *header, UCHAR type, size_t bytes, LONG state)
{
    return header->Type == type && header->Size == bytes / 4 && header->SignalState == state &&
           header->WaitListHead.Flink == &header->WaitListHead &&
           header->WaitListHead.Blink == &header->WaitListHead;
}

TEST_WITH(driver, headers_have_type_size_and_state)
{
    KSEMAPHORE semaphore;
    KEVENT event;
    KMUTEX mutex;
    KTIMER timer;

    memset(&event, 0x5A, sizeof(event));
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    CHECK(is_object(&event.Header, 0, sizeof(event), 0) && event.Header.LockNV != 0x5A5A5A5A);
    KeInitializeEvent(&event, SynchronizationEvent, TRUE);
    CHECK(is_object(&event.Header, 1, sizeof(event), 1));
    memset(&mutex, 0x5A, sizeof(mutex));
    KeInitializeMutex(&mutex, 0);
    CHECK(is_object(&mutex.Header, 2, sizeof(mutex), 1) && !mutex.OwnerThread &&
          mutex.MutantFlags == 0 && mutex.ApcDisable == 1 &&
          mutex.MutantListEntry.Flink == &mutex.MutantListEntry &&
          mutex.MutantListEntry.Blink == &mutex.MutantListEntry);
    memset(&semaphore, 0x5A, sizeof(semaphore));
    KeInitializeSemaphore(&semaphore, 2, 3);
    CHECK(is_object(&semaphore.Header, 5, sizeof(semaphore), 2) && semaphore.Limit == 3);
    memset(&timer, 0x5A, sizeof(timer));
    KeInitializeTimer(&timer);
    CHECK(is_object(&timer.Header, 8, sizeof(timer), 0) && timer.DueTime.QuadPart == 0 &&
          !timer.Dpc && timer.Period == 0);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    CHECK(is_object(&timer.Header, 9, sizeof(timer), 0));
    CHECK(is_object((const DISPATCHER_HEADER *)(const void *)KeGetCurrentThread(), 6,
                    4u * ((const DISPATCHER_HEADER *)(const void *)KeGetCurrentThread())->Size, 0));
    CHECK(errors() == 0);
}

TEST_WITH(driver, dpcs_begin_without_a_past)
{
    KDPC dpc;

    memset(&dpc, 0x5A, sizeof(dpc));
    KeInitializeDpc(&dpc, nothing, &dpc);
    CHECK(dpc.Type == 19 && dpc.Importance == MediumImportance && dpc.Number == 0);
    CHECK(!dpc.DpcListEntry.Next && dpc.ProcessorHistory == 0 && dpc.DeferredRoutine == nothing &&
          dpc.DeferredContext == &dpc && !dpc.SystemArgument1 && !dpc.SystemArgument2 &&
          !dpc.DpcData);
    memset(&dpc, 0x5A, sizeof(dpc));
    KeInitializeThreadedDpc(&dpc, nothing, NULL);
    CHECK(dpc.Type == 24 && dpc.Importance == MediumImportance && dpc.Number == 0 &&
          !dpc.DeferredContext);
    KeSetTargetProcessorDpc(&dpc, 0);
    CHECK(dpc.Number == 64 && errors() == 0);
}

static PVOID NTAPI own_allocate(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
    return ExAllocatePoolWithTag(type, bytes, tag);
}

static VOID NTAPI own_free(PVOID entry)
{
    ExFreePool(entry);
}

TEST_WITH(driver, locks_and_lists_begin_empty)
{
    NPAGED_LOOKASIDE_LIST list;
    PAGED_LOOKASIDE_LIST paged;
    KLOCK_QUEUE_HANDLE handle;
    ERESOURCE resource, empty = {0};
    KSPIN_LOCK lock;

    memset(&resource, 0x5A, sizeof(resource));
    ExInitializeResourceLite(&resource);
    CHECK(resource.SystemResourcesList.Flink == &resource.SystemResourcesList);
    InitializeListHead(&empty.SystemResourcesList);
    CHECK(memcmp(&resource.OwnerTable, &empty.OwnerTable,
                 sizeof(empty) - offsetof(ERESOURCE, OwnerTable)) == 0);
    ExDeleteResourceLite(&resource);
    memset(&handle, 0x5A, sizeof(handle));
    KeInitializeSpinLock(&lock);
    KeAcquireInStackQueuedSpinLock(&lock, &handle);
    CHECK(!handle.LockQueue.Next && handle.LockQueue.Lock == &lock &&
          handle.OldIrql == PASSIVE_LEVEL);
    KeReleaseInStackQueuedSpinLock(&handle);
    memset(&list, 0x5A, sizeof(list));
    ExInitializeNPagedLookasideList(&list, own_allocate, own_free, 0, 48, TAG, 0);
    CHECK(list.L.Depth == 4 && list.L.MaximumDepth == 256 && list.L.Type == NonPagedPool &&
          list.L.Tag == TAG && list.L.Size == 48 && list.L.TotalAllocates == 0 &&
          list.L.Allocate == own_allocate && list.L.Free == own_free &&
          ExQueryDepthSList(&list.L.ListHead) == 0);
    ExDeleteNPagedLookasideList(&list);
    ExInitializePagedLookasideList(&paged, NULL, NULL, POOL_RAISE_IF_ALLOCATION_FAILURE, 32, TAG, 0);
    CHECK(paged.L.Type == (POOL_TYPE)(PagedPool | POOL_RAISE_IF_ALLOCATION_FAILURE) &&
          paged.L.Size == 32 && paged.L.Depth == 4);
    ExDeletePagedLookasideList(&paged);
    CHECK(errors() == 0);
}

TEST_WITH(driver, sequences_of_lists_go_up)
{
    SLIST_HEADER head;
    SLIST_ENTRY entry[2];

    memset(&head, 0x5A, sizeof(head));
    InitializeSListHead(&head);
    CHECK(head.Alignment == 0 && head.Region == 0);
    ExInterlockedPushEntrySList(&head, &entry[0], NULL);
    ExInterlockedPushEntrySList(&head, &entry[1], NULL);
    CHECK(head.HeaderX64.Sequence == 2 && head.HeaderX64.Depth == 2 && entry[1].Next == &entry[0] &&
          !entry[0].Next);
    ExInterlockedPopEntrySList(&head, NULL);
    CHECK(head.HeaderX64.Sequence == 3 && head.HeaderX64.Depth == 1);
    ExInterlockedFlushSList(&head);
    CHECK(head.HeaderX64.Sequence == 4 && head.HeaderX64.Depth == 0);
    ExInterlockedPopEntrySList(&head, NULL);
    CHECK(head.HeaderX64.Sequence == 4);
}

/* ---- ticks ---- */

TEST_WITH(driver, ticks_are_of_15625_microseconds)
{
    LARGE_INTEGER ticks, system, precise, frequency;

    CHECK(KeQueryTimeIncrement() == 156250);
    pause_ns(15624000 - sim_now() % 15625000);
    KeQueryTickCount(&ticks);
    CHECK(ticks.QuadPart == 0 && KeQueryInterruptTime() == 0);
    pause_ns(2000);
    KeQueryTickCount(&ticks);
    CHECK(ticks.QuadPart == 1 && KeQueryInterruptTime() == 156250 &&
          KeQueryUnbiasedInterruptTime() == 156250);
    KeQuerySystemTime(&system);
    KeQuerySystemTimePrecise(&precise);
    CHECK(precise.QuadPart > system.QuadPart && precise.QuadPart - system.QuadPart < 1000);
    pause_ns(15625000);
    KeQuerySystemTime(&precise);
    CHECK(precise.QuadPart == system.QuadPart + 156250);
    KeQueryPerformanceCounter(&frequency);
    CHECK(frequency.QuadPart == 10000000);
    CHECK(ExSetTimerResolution(1, TRUE) == 5000 && ExSetTimerResolution(0, FALSE) == 156250);
}

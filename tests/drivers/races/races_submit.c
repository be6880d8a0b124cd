/* SPDX-License-Identifier: MIT */
/* What submissions, the ISR and the DPC share, and a line for each mistake in that. */
#include "races.h"

#define ITEMS 4u

static struct item item[ITEMS];

/* ---- submissions and the ISR ---- */

static BOOLEAN NTAPI begin_flight(PVOID context)
{
    (void)context;
    shared->in_flight++;
    return TRUE;
}

static void fly(void)
{
    BOOLEAN result;

    if (race == UNLOCKED_SUBMIT)
        begin_flight(NULL);
    else
        (void)dxgk.DxgkCbSynchronizeExecution(dxgk.DeviceHandle, begin_flight, NULL, 0, &result);
}

void races_interrupt(void)
{
    if (shared->in_flight)
        shared->in_flight--;
}

/* ---- submissions and the DPC ---- */

static void retire(BOOLEAN dpc)
{
    PKSPIN_LOCK lock = dpc && race == WRONG_LOCK ? &shared->other_lock : &shared->lock;
    KIRQL level;

    if (race == RAISED_LEVEL) {
        level = KeRaiseIrqlToDpcLevel();
        shared->retired++;
        KeLowerIrql(level);
        return;
    }
    if (dpc && race == DPC_WITHOUT_LOCK) {
        shared->retired++;
        return;
    }
    KeAcquireSpinLock(lock, &level);
    shared->retired++;
    KeReleaseSpinLock(lock, level);
}

static void count_packet(BOOLEAN dpc)
{
    if (dpc && race == ONE_SIDED)
        *(LONG *)&shared->packets += 1;
    else
        (void)InterlockedIncrement(&shared->packets);
}

/* What is made when it is needed. */
void races_use_made(void)
{
    KIRQL level;

    if (race == CHECKED_TWICE && shared->made)
        return;
    KeAcquireSpinLock(&shared->other_lock, &level);
    if (!shared->made)
        shared->made = refgpu_allocate(sizeof(ULONG));
    KeReleaseSpinLock(&shared->other_lock, level);
}

/* The oldest item becomes the newest. */
static void turn_list(void)
{
    LIST_ENTRY *oldest;
    KIRQL level;

    KeAcquireSpinLock(&shared->lock, &level);
    oldest = RemoveHeadList(&shared->items);
    InsertTailList(&shared->items, oldest);
    KeReleaseSpinLock(&shared->lock, level);
}

static ULONG sum_of(void)
{
    ULONG sum = 0;

    for (LIST_ENTRY *link = shared->items.Flink; link != &shared->items; link = link->Flink)
        sum += CONTAINING_RECORD(link, struct item, link)->value;
    return sum;
}

static void walk_list(void)
{
    ULONG sum;
    KIRQL level;

    if (race == OPEN_LIST) {
        (void)sum_of();
        return;
    }
    KeAcquireSpinLock(&shared->lock, &level);
    sum = sum_of();
    shared->sum = sum;
    KeReleaseSpinLock(&shared->lock, level);
}

static void advance(BOOLEAN dpc)
{
    KIRQL level;

    if (dpc || race == SHARED_FOR_WRITING) {
        level = ExAcquireSpinLockShared(&shared->readers);
        if (race == SHARED_FOR_WRITING)
            shared->generation++;
        else
            (void)*(const volatile ULONG *)&shared->generation;
        ExReleaseSpinLockShared(&shared->readers, level);
    } else {
        level = ExAcquireSpinLockExclusive(&shared->readers);
        shared->generation++;
        ExReleaseSpinLockExclusive(&shared->readers, level);
    }
}

static void queue_work(void)
{
    if (InterlockedCompareExchange(&shared->work_is_queued, 1, 0) == 0) {
        KeClearEvent(&shared->work_done);
        ExQueueWorkItem(&shared->work, DelayedWorkQueue);
    }
}

void races_submit(void)
{
    if (IsListEmpty(&shared->items) && !shared->items.Flink)
        return;
    fly();
    retire(FALSE);
    count_packet(FALSE);
    races_use_made();
    turn_list();
    advance(FALSE);
    queue_work();
}

void races_dpc(void)
{
    retire(TRUE);
    count_packet(TRUE);
    walk_list();
    advance(TRUE);
}

void races_items(void)
{
    InitializeListHead(&shared->items);
    for (ULONG i = 0; i < ITEMS; i++) {
        item[i].value = i;
        InsertTailList(&shared->items, &item[i].link);
    }
}

/* SPDX-License-Identifier: MIT */
/* What runs at PASSIVE_LEVEL beside DDIs, timers, and the order in which all of it ends. */
#include "races.h"

#define PERIOD_MS 1
#define WORK_NS   20000

/* ---- a work item ---- */

static VOID NTAPI work(PVOID context)
{
    (void)context;
    (*shared->work_data)++;
    KeStallExecutionProcessor(WORK_NS / 1000);
    (*shared->work_data)++;
    InterlockedExchange(&shared->work_is_queued, 0);
    (void)KeSetEvent(&shared->work_done, IO_NO_INCREMENT, FALSE);
}

/* ---- a timer ---- */

static void tick(ULONG by)
{
    KIRQL level;

    KeAcquireSpinLock(&shared->tick_lock, &level);
    shared->ticks += by;
    KeReleaseSpinLock(&shared->tick_lock, level);
}

static VOID NTAPI on_timer(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    (void)context;
    (void)argument1;
    (void)argument2;
    tick(1);
}

/* ---- a thread ---- */

static VOID NTAPI thread_main(PVOID context)
{
    LARGE_INTEGER wait = {.QuadPart = -20}; /* 2 us */

    (void)context;
    (void)KeDelayExecutionThread(KernelMode, FALSE, &wait);
    shared->ready = 1;
    (void)KeSetEvent(&shared->thread_ready, IO_NO_INCREMENT, FALSE);
    (void)KeDelayExecutionThread(KernelMode, FALSE, &wait);
    races_use_made();
    shared->result = 1;
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

static NTSTATUS start_thread(void)
{
    HANDLE handle;
    NTSTATUS status = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL,
                                           thread_main, NULL);

    if (NT_SUCCESS(status)) {
        status = ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode,
                                           &shared->thread, NULL);
        ZwClose(handle);
    }
    return status;
}

/* Until the thread has begun. */
static void wait_for_thread(void)
{
    LARGE_INTEGER wait = {.QuadPart = -10};

    if (race == POLLED_FLAG)
        while (!*(ULONG *)&shared->ready)
            (void)KeDelayExecutionThread(KernelMode, FALSE, &wait);
    else
        (void)KeWaitForSingleObject(&shared->thread_ready, Executive, KernelMode, FALSE, NULL);
}

static void end_thread(void)
{
    ULONG result = 0;

    if (race == UNJOINED_THREAD)
        result = shared->result;
    (void)KeWaitForSingleObject(shared->thread, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(shared->thread);
    shared->sum = result + shared->result;
}

/* ---- DDIs ---- */

NTSTATUS races_start(void)
{
    LARGE_INTEGER due = {.QuadPart = -1000}; /* 100 us */

    shared = refgpu_allocate(sizeof(*shared));
    if (!shared)
        return STATUS_NO_MEMORY;
    shared->work_data = refgpu_allocate(sizeof(ULONG));
    if (!shared->work_data)
        return STATUS_NO_MEMORY;
    KeInitializeSpinLock(&shared->lock);
    KeInitializeSpinLock(&shared->other_lock);
    KeInitializeSpinLock(&shared->tick_lock);
    races_items();
    KeInitializeEvent(&shared->work_done, NotificationEvent, TRUE);
    KeInitializeEvent(&shared->thread_ready, NotificationEvent, FALSE);
    ExInitializeWorkItem(&shared->work, work, NULL);
    KeInitializeTimer(&shared->timer);
    KeInitializeDpc(&shared->timer_dpc, on_timer, NULL);
    (void)KeSetTimerEx(&shared->timer, due, PERIOD_MS, &shared->timer_dpc);
    return start_thread();
}

void races_device(void)
{
    wait_for_thread();
    if (race == TIMER_AND_THREAD)
        shared->ticks = 0;
    else
        tick(0);
}

void races_stop(void)
{
    (void)KeCancelTimer(&shared->timer);
    KeFlushQueuedDpcs();
    end_thread();
    if (race != WORK_AT_TEARDOWN)
        (void)KeWaitForSingleObject(&shared->work_done, Executive, KernelMode, FALSE, NULL);
    *shared->work_data = 0;
    if (race == WORK_AT_TEARDOWN) /* or the work item would use what is not there */
        (void)KeWaitForSingleObject(&shared->work_done, Executive, KernelMode, FALSE, NULL);
    refgpu_free(shared->work_data);
    refgpu_free(shared->made);
    refgpu_free(shared);
    shared = NULL;
}

/* SPDX-License-Identifier: MIT */
/* StopDevice frees the statistics that a timer's DPC updates, and only then cancels the timer. */
#include "plant.h"

#define TAG    0x74617453u /* "Stat" */
#define PERIOD 100         /* of 100 ns */

struct statistics {
    ULONGLONG ticks, busy;
    ULONG history[32];
};

static struct statistics *statistics;
static KTIMER timer;
static KDPC timer_dpc;

static void set_timer(void)
{
    LARGE_INTEGER due;

    due.QuadPart = -PERIOD;
    (void)KeSetTimer(&timer, due, &timer_dpc);
}

static VOID NTAPI tick(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    (void)context;
    (void)argument1;
    (void)argument2;
    statistics->history[statistics->ticks % 32u] = (ULONG)KeQueryInterruptTime();
    statistics->ticks++;
    set_timer();
}

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE interface, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    statistics = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof *statistics, TAG);
    if (!statistics)
        return STATUS_NO_MEMORY;
    RtlZeroMemory(statistics, sizeof *statistics);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    KeInitializeDpc(&timer_dpc, tick, NULL);
    set_timer();
    return reference.DxgkDdiStartDevice(context, info, interface, sources, children);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    NTSTATUS status;

    ExFreePoolWithTag(statistics, TAG);
    status = reference.DxgkDdiStopDevice(context);
    do {
        (void)KeCancelTimer(&timer);
        KeFlushQueuedDpcs(); /* the DPC may have set it once more */
    } while (KeCancelTimer(&timer));
    return status;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
}

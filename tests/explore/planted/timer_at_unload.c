/* SPDX-License-Identifier: MIT */
/* A timer's DPC sets the timer again. StopDevice cancels the timer, but the DPC may be running just then. */
#include "plant.h"

static KTIMER timer;
static KDPC timer_dpc;
static volatile ULONGLONG polls;

static void set_timer(void)
{
    LARGE_INTEGER due;

    due.QuadPart = -100; /* 10 us */
    (void)KeSetTimer(&timer, due, &timer_dpc);
}

static VOID NTAPI poll(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    (void)context;
    (void)argument1;
    (void)argument2;
    polls = KeQueryInterruptTime();
    set_timer();
}

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE interface, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    KeInitializeTimer(&timer);
    KeInitializeDpc(&timer_dpc, poll, NULL);
    set_timer();
    return reference.DxgkDdiStartDevice(context, info, interface, sources, children);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    (void)KeCancelTimer(&timer);
    return reference.DxgkDdiStopDevice(context);
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
}

/* SPDX-License-Identifier: MIT */
/* A thread counts completions. It clears its event after it has looked for work, not before: a completion in between does not
 * wake it again, and who waits for the count waits in vain. */
#include "plant.h"

static KEVENT wake, progress;
static volatile LONG queued, handled, stopping;
static PVOID thread_object;

static LONG look_for_work(void)
{
    const LONG now = queued;

    handled = now;
    (void)KeSetEvent(&progress, IO_NO_INCREMENT, FALSE);
    return now;
}

/* Not more often than need be. */
static void rest(void)
{
    LARGE_INTEGER interval;

    interval.QuadPart = -50; /* 5 us */
    (void)KeDelayExecutionThread(KernelMode, FALSE, &interval);
}

static VOID NTAPI counter(PVOID context)
{
    (void)context;
    while (!stopping) {
        (void)KeWaitForSingleObject(&wake, Executive, KernelMode, FALSE, NULL);
        (void)look_for_work();
        rest();
        KeClearEvent(&wake);
    }
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    reference.DxgkDdiDpcRoutine(context);
    InterlockedIncrement(&queued);
    (void)KeSetEvent(&wake, IO_NO_INCREMENT, FALSE);
}

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE interface, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    HANDLE handle = NULL;
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    KeInitializeEvent(&wake, NotificationEvent, FALSE);
    KeInitializeEvent(&progress, SynchronizationEvent, FALSE);
    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, &attributes, NULL, NULL, counter,
                                  NULL);
    if (!NT_SUCCESS(status))
        return status;
    (void)ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, NULL, KernelMode, &thread_object,
                                    NULL);
    (void)ZwClose(handle);
    return reference.DxgkDdiStartDevice(context, info, interface, sources, children);
}

static void wait_for_counter(void)
{
    while (handled != queued)
        (void)KeWaitForSingleObject(&progress, Executive, KernelMode, FALSE, NULL);
}

static NTSTATUS NTAPI destroy_allocation(IN_CONST_HANDLE adapter,
                                         IN_CONST_PDXGKARG_DESTROYALLOCATION arguments)
{
    wait_for_counter();
    return reference.DxgkDdiDestroyAllocation(adapter, arguments);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    wait_for_counter();
    stopping = 1;
    (void)KeSetEvent(&wake, IO_NO_INCREMENT, FALSE);
    (void)KeWaitForSingleObject(thread_object, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(thread_object);
    return reference.DxgkDdiStopDevice(context);
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiDestroyAllocation = destroy_allocation;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

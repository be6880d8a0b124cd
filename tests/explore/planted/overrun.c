/* SPDX-License-Identifier: MIT */
/* A byte for each packet that the DPC has not seen yet; there is room for so many, and the check lets one more in. */
#include "plant.h"

#define TAG  0x6B72614Du /* "Mark" */
#define ROOM 3u

static PUCHAR marks;
static volatile ULONG marked;

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE interface, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    marks = ExAllocatePoolWithTag(NonPagedPoolNx, ROOM, TAG);
    if (!marks)
        return STATUS_NO_MEMORY;
    return reference.DxgkDdiStartDevice(context, info, interface, sources, children);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    const NTSTATUS status = reference.DxgkDdiStopDevice(context);

    ExFreePoolWithTag(marks, TAG);
    return status;
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND arguments)
{
    if (marked <= ROOM)
        marks[marked++] = (UCHAR)arguments->NodeOrdinal;
    return reference.DxgkDdiSubmitCommand(adapter, arguments);
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    reference.DxgkDdiDpcRoutine(context);
    marked = 0;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

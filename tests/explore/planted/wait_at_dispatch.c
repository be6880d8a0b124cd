/* SPDX-License-Identifier: MIT */
/* Submission waits for its turn when too much is under way. It is called at DISPATCH_LEVEL. */
#include "plant.h"

#define MOST 2

static KEVENT turn;
static volatile LONG under_way;

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND arguments)
{
    if (InterlockedIncrement(&under_way) > MOST)
        (void)KeWaitForSingleObject(&turn, Executive, KernelMode, FALSE, NULL);
    return reference.DxgkDdiSubmitCommand(adapter, arguments);
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    reference.DxgkDdiDpcRoutine(context);
    under_way = 0;
    (void)KeSetEvent(&turn, IO_NO_INCREMENT, FALSE);
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    KeInitializeEvent(&turn, SynchronizationEvent, FALSE);
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

/* SPDX-License-Identifier: MIT */
/* Submission takes the ring's lock and then that of the counters, the DPC the other way round. */
#include "plant.h"

static KSPIN_LOCK ring_lock, count_lock;
static ULONG submitted, completed;

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND arguments)
{
    NTSTATUS status;

    KeAcquireSpinLockAtDpcLevel(&ring_lock);
    status = reference.DxgkDdiSubmitCommand(adapter, arguments);
    KeAcquireSpinLockAtDpcLevel(&count_lock);
    submitted++;
    KeReleaseSpinLockFromDpcLevel(&count_lock);
    KeReleaseSpinLockFromDpcLevel(&ring_lock);
    return status;
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    reference.DxgkDdiDpcRoutine(context);
    KeAcquireSpinLockAtDpcLevel(&count_lock);
    completed++;
    KeAcquireSpinLockAtDpcLevel(&ring_lock);
    KeReleaseSpinLockFromDpcLevel(&ring_lock);
    KeReleaseSpinLockFromDpcLevel(&count_lock);
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    KeInitializeSpinLock(&ring_lock);
    KeInitializeSpinLock(&count_lock);
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

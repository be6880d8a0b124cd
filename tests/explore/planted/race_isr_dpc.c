/* SPDX-License-Identifier: MIT */
/* The DPC takes back the ISR's word that there is work after it has done the work, not before: what the ISR says in between is
 * lost, and so is a completion. */
#include "plant.h"

static volatile LONG work_is_there;
static volatile ULONGLONG last_time;

static BOOLEAN NTAPI interrupt_routine(IN_CONST_PVOID context, IN_ULONG message)
{
    const BOOLEAN mine = reference.DxgkDdiInterruptRoutine(context, message);

    if (mine)
        work_is_there = 1;
    return mine;
}

static void note_time(void)
{
    last_time = KeQueryInterruptTime();
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    if (!work_is_there)
        return;
    reference.DxgkDdiDpcRoutine(context);
    note_time();
    work_is_there = 0;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiInterruptRoutine = interrupt_routine;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

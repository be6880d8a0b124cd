/* SPDX-License-Identifier: MIT */
/* Render counts, and keeps out of the DPC's way; when the DPC is at work on another processor, it returns too early. */
#include "plant.h"

static volatile LONG dpc_at_work;
static ULONG renders;

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    InterlockedIncrement(&dpc_at_work);
    reference.DxgkDdiDpcRoutine(context);
    InterlockedDecrement(&dpc_at_work);
}

static BOOLEAN is_dpc_at_work(void)
{
    return dpc_at_work != 0;
}

static NTSTATUS NTAPI render(IN_CONST_HANDLE context, INOUT_PDXGKARG_RENDER arguments)
{
    const NTSTATUS status = reference.DxgkDdiRender(context, arguments);
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    if (is_dpc_at_work())
        return status; /* it is not worth waiting */
    renders++;
    KeLowerIrql(before);
    return status;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiRender = render;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

/* SPDX-License-Identifier: MIT */
/*
 * The reference miniport, and around it counters that submissions and the ISR share. The value Lost of the service key chooses
 * how submissions count: 0, synchronized with the ISR; 1, not, by instructions that load, add and store; 2, not, by one that does
 * all three. No function that counts calls another one. StopDevice stops the machine if a count was lost.
 */
#include "driver.h"
#include "service_value.h"

enum lost { SOUND, BETWEEN_INSTRUCTIONS, WITHIN_AN_INSTRUCTION };

/* What the ISR and submissions write to; `limit` is never reached, but makes the sum more than one instruction. */
static struct counters {
    ULONG several, limit, one;
} shared = {.limit = ~0u};
/* What each of them knows alone. */
static ULONG of_isr;
static volatile LONG of_submissions;

static enum lost lost;
static DRIVER_INITIALIZATION_DATA reference;
static DXGKRNL_INTERFACE dxgk;

static __attribute__((noinline)) BOOLEAN NTAPI count(PVOID context)
{
    struct counters *counters = context;
    ULONG several = counters->several;

    if (several < counters->limit)
        counters->several = several + 1;
    return TRUE;
}

static __attribute__((noinline)) BOOLEAN NTAPI count_at_once(PVOID context)
{
    struct counters *counters = context;

    counters->one++;
    return TRUE;
}

static void submit(void)
{
    BOOLEAN result;

    (void)InterlockedIncrement(&of_submissions);
    if (lost == BETWEEN_INSTRUCTIONS)
        count(&shared);
    else
        (void)dxgk.DxgkCbSynchronizeExecution(dxgk.DeviceHandle, count, &shared, 0, &result);
    if (lost == WITHIN_AN_INSTRUCTION)
        count_at_once(&shared);
    else
        (void)dxgk.DxgkCbSynchronizeExecution(dxgk.DeviceHandle, count_at_once, &shared, 0, &result);
}

static BOOLEAN NTAPI interrupt_routine(IN_CONST_PVOID context, IN_ULONG message)
{
    const BOOLEAN mine = reference.DxgkDdiInterruptRoutine(context, message);

    if (mine) {
        of_isr++;
        count(&shared);
        count_at_once(&shared);
    }
    return mine;
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND command)
{
    submit();
    return reference.DxgkDdiSubmitCommand(adapter, command);
}

static NTSTATUS NTAPI submit_virtual(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL command)
{
    submit();
    return reference.DxgkDdiSubmitCommandVirtual(adapter, command);
}

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE callbacks, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    dxgk = *callbacks;
    return reference.DxgkDdiStartDevice(context, info, callbacks, sources, children);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    const NTSTATUS status = reference.DxgkDdiStopDevice(context);
    const ULONG all = of_isr + (ULONG)of_submissions;

    if (shared.several != all || shared.one != all)
        KeBugCheckEx(0xE2, 0xC0 + lost, all, shared.several, shared.one);
    return status;
}

/* The miniport's DriverEntry calls PreemptedInitialize instead. */
#undef DxgkInitialize
NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              PDRIVER_INITIALIZATION_DATA DriverInitializationData);

NTSTATUS NTAPI PreemptedInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                   PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    DRIVER_INITIALIZATION_DATA *table = DriverInitializationData;

    lost = (enum lost)ServiceValue(RegistryPath, L"Lost");
    reference = *table;
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiSubmitCommandVirtual = submit_virtual;
    table->DxgkDdiInterruptRoutine = interrupt_routine;
    return DxgkInitialize(DriverObject, RegistryPath, table);
}

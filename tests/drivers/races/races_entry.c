/* SPDX-License-Identifier: MIT */
/* The miniport's table, with what races put before its entries. */
#include "races.h"
#include "service_value.h"

enum race race;
struct shared *shared;
DRIVER_INITIALIZATION_DATA reference;
DXGKRNL_INTERFACE dxgk;

/* The miniport's DriverEntry calls RacesInitialize instead. */
#undef DxgkInitialize
NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              PDRIVER_INITIALIZATION_DATA DriverInitializationData);

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE callbacks, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    NTSTATUS status = races_start();

    dxgk = *callbacks;
    return NT_SUCCESS(status)
               ? reference.DxgkDdiStartDevice(context, info, callbacks, sources, children)
               : status;
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    const NTSTATUS status = reference.DxgkDdiStopDevice(context);

    races_stop();
    return status;
}

static NTSTATUS NTAPI create_device(IN_CONST_HANDLE adapter, INOUT_PDXGKARG_CREATEDEVICE create)
{
    races_device();
    return reference.DxgkDdiCreateDevice(adapter, create);
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND command)
{
    races_submit();
    return reference.DxgkDdiSubmitCommand(adapter, command);
}

static NTSTATUS NTAPI submit_virtual(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL command)
{
    races_submit();
    return reference.DxgkDdiSubmitCommandVirtual(adapter, command);
}

static BOOLEAN NTAPI interrupt_routine(IN_CONST_PVOID context, IN_ULONG message)
{
    const BOOLEAN mine = reference.DxgkDdiInterruptRoutine(context, message);

    if (mine)
        races_interrupt();
    return mine;
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    races_dpc();
    reference.DxgkDdiDpcRoutine(context);
}

NTSTATUS NTAPI RacesInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                               PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    DRIVER_INITIALIZATION_DATA *table = DriverInitializationData;

    race = (enum race)ServiceValue(RegistryPath, L"Race");
    reference = *table;
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiCreateDevice = create_device;
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiSubmitCommandVirtual = submit_virtual;
    table->DxgkDdiInterruptRoutine = interrupt_routine;
    table->DxgkDdiDpcRoutine = dpc_routine;
    return DxgkInitialize(DriverObject, RegistryPath, table);
}

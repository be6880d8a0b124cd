/* SPDX-License-Identifier: MIT */
/* A note for each packet. A DPC throws one away, so that completions which arrive together leave some over; those are thrown
 * away at the end, by code that was copied from somewhere else. */
#include "plant.h"

#define TAG       0x65746F4Eu /* "Note" */
#define OTHER_TAG 0x65746144u /* "Date" */

struct note {
    SLIST_ENTRY link;
    ULONG fence;
};

static SLIST_HEADER notes;

static void take_note(ULONG fence)
{
    struct note *note = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof *note, TAG);

    if (!note)
        return;
    note->fence = fence;
    (void)InterlockedPushEntrySList(&notes, &note->link);
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND arguments)
{
    take_note(arguments->SubmissionFenceId);
    return reference.DxgkDdiSubmitCommand(adapter, arguments);
}

static NTSTATUS NTAPI submit_command_virtual(IN_CONST_HANDLE adapter,
                                             IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL arguments)
{
    take_note(arguments->SubmissionFenceId);
    return reference.DxgkDdiSubmitCommandVirtual(adapter, arguments);
}

static void NTAPI dpc_routine(IN_CONST_PVOID context)
{
    PSLIST_ENTRY note;

    reference.DxgkDdiDpcRoutine(context);
    note = InterlockedPopEntrySList(&notes);
    if (note)
        ExFreePoolWithTag(note, TAG);
}

static NTSTATUS NTAPI stop_device(IN_CONST_PVOID context)
{
    const NTSTATUS status = reference.DxgkDdiStopDevice(context);
    PSLIST_ENTRY note;

    while ((note = InterlockedPopEntrySList(&notes)) != NULL)
        ExFreePoolWithTag(note, OTHER_TAG);
    return status;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    InitializeSListHead(&notes);
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiSubmitCommand = submit_command;
    table->DxgkDdiSubmitCommandVirtual = submit_command_virtual;
    table->DxgkDdiDpcRoutine = dpc_routine;
}

/* SPDX-License-Identifier: MIT */
/*
 * I/O request packets (IRPs). A request goes to the dispatch routine of the driver object of the
 * device object, if the host knows that; there is no other driver in the machine, so any other
 * request is completed with STATUS_INVALID_DEVICE_REQUEST at once.
 */
#include <string.h>

#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/io/device_object.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "nt/mm/pool.h"
#include "sim/irql.h"
#include "verify/verify.h"

#define IRP_TAG                        0x20707249u /* "Irp " */
#define NO_MORE_IRP_STACK_LOCATIONS    0x35u
#define MULTIPLE_IRP_COMPLETE_REQUESTS 0x44u
#define OWNED_BY_IO                    0x80u /* AllocationFlags: freed on completion */

static void init(PIRP irp, USHORT bytes, CCHAR stack_size)
{
    memset(irp, 0, bytes);
    irp->Type = IO_TYPE_IRP;
    irp->Size = bytes;
    irp->StackCount = stack_size;
    irp->CurrentLocation = (CHAR)(stack_size + 1);
    InitializeListHead(&irp->ThreadListEntry);
    irp->Tail.Overlay.CurrentStackLocation = (PIO_STACK_LOCATION)(void *)(irp + 1) + stack_size;
}

static PIRP allocate(CCHAR stack_size, const void *caller)
{
    struct nt_block *block;

    if (stack_size <= 0)
        return NULL;
    block = nt_pool_take(IoSizeOfIrp((USHORT)stack_size), IRP_TAG, NT_POOL_NONPAGED, true, caller);
    if (!block)
        return NULL;
    init((PIRP)(void *)block->address, IoSizeOfIrp((USHORT)stack_size), stack_size);
    return (PIRP)(void *)block->address;
}

static void release(PIRP irp, const char *routine)
{
    struct nt_block *block = nt_pool_find(irp);

    if (block && !block->freed && (void *)block->address == irp && block->tag == IRP_TAG)
        nt_pool_give(block);
    else
        VIOLATION("NT-005", "%s of something that is no request packet", routine);
}

NT_EXPORT PIRP NTAPI IoAllocateIrp(CCHAR StackSize, BOOLEAN ChargeQuota)
{
    NT_ENTER();
    (void)ChargeQuota;
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    return allocate(StackSize, NT_CALLER());
}

NT_EXPORT VOID NTAPI IoFreeIrp(PIRP Irp)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    release(Irp, __func__);
}

NT_EXPORT VOID NTAPI IoInitializeIrp(PIRP Irp, USHORT PacketSize, CCHAR StackSize)
{
    NT_ENTER();
    if (!nt_memory_check(Irp, "IRP", __func__))
        return;
    if (StackSize < 0 || PacketSize < IoSizeOfIrp((USHORT)StackSize))
        VIOLATION("NT-005", "%s with %u bytes for %d stack locations", __func__, PacketSize,
                  StackSize);
    else
        init(Irp, PacketSize, StackSize);
}

NT_EXPORT VOID NTAPI IoReuseIrp(PIRP Irp, NTSTATUS Iostatus)
{
    UCHAR flags;

    NT_ENTER();
    if (!nt_memory_check(Irp, "IRP", __func__))
        return;
    flags = Irp->AllocationFlags;
    init(Irp, Irp->Size, Irp->StackCount);
    Irp->AllocationFlags = flags;
    Irp->IoStatus.Status = Iostatus;
}

NT_EXPORT BOOLEAN NTAPI IoCancelIrp(PIRP Irp)
{
    PDRIVER_CANCEL cancel;

    NT_ENTER();
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    if (!nt_memory_check(Irp, "IRP", __func__))
        return FALSE;
    Irp->Cancel = TRUE;
    cancel = Irp->CancelRoutine;
    Irp->CancelRoutine = NULL;
    if (!cancel)
        return FALSE;
    Irp->CancelIrql = sim_irql();
    cancel(IoGetCurrentIrpStackLocation(Irp)->DeviceObject, Irp);
    return TRUE;
}

/* ---- completion ---- */

static bool wants_completion(const IO_STACK_LOCATION *stack, const IRP *irp)
{
    if (!stack->CompletionRoutine)
        return false;
    if (irp->Cancel && stack->Control & SL_INVOKE_ON_CANCEL)
        return true;
    return stack->Control &
           (NT_SUCCESS(irp->IoStatus.Status) ? SL_INVOKE_ON_SUCCESS : SL_INVOKE_ON_ERROR);
}

/* Complete an IRP made by IoBuild...: free it, and set the event that it names. */
static void finish(PIRP irp)
{
    PKEVENT event = irp->UserEvent;

    if (irp->UserIosb)
        *irp->UserIosb = irp->IoStatus;
    if (irp->AllocationFlags & OWNED_BY_IO)
        release(irp, "IoCompleteRequest");
    if (event)
        KeSetEvent(event, IO_NO_INCREMENT, FALSE);
}

static void complete(PIRP irp)
{
    while (irp->CurrentLocation <= irp->StackCount) {
        PIO_STACK_LOCATION stack = IoGetCurrentIrpStackLocation(irp);
        PDEVICE_OBJECT device = NULL;

        irp->PendingReturned = (stack->Control & SL_PENDING_RETURNED) != 0;
        IoSkipCurrentIrpStackLocation(irp);
        if (irp->CurrentLocation <= irp->StackCount)
            device = IoGetCurrentIrpStackLocation(irp)->DeviceObject;
        if (wants_completion(stack, irp) && stack->CompletionRoutine(device, irp, stack->Context) ==
                                                STATUS_MORE_PROCESSING_REQUIRED)
            return; /* the IRP belongs to the owner of the completion routine again */
    }
    finish(irp);
}

NT_EXPORT VOID NTAPI IofCompleteRequest(PIRP Irp, CCHAR PriorityBoost)
{
    NT_ENTER();
    (void)PriorityBoost;
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    if (!nt_memory_check(Irp, "IRP", __func__))
        return;
    if (Irp->CurrentLocation > Irp->StackCount) {
        verify_fatal("NT-005", MULTIPLE_IRP_COMPLETE_REQUESTS, (uintptr_t)Irp, 0, 0, 0,
                     "%s of a request that is complete", __func__);
        return;
    }
    complete(Irp);
}

/* ---- sending ---- */

static PDRIVER_DISPATCH dispatch_routine(PDEVICE_OBJECT device, UCHAR function)
{
    PDRIVER_OBJECT driver;

    if (!nt_device_object_registered(device))
        return NULL;
    driver = device->DriverObject;
    if (!driver || !nt_device_object_known(driver) || function > IRP_MJ_MAXIMUM_FUNCTION)
        return NULL;
    return driver->MajorFunction[function];
}

static NTSTATUS call_driver(PDEVICE_OBJECT device, PIRP irp, const char *routine)
{
    PIO_STACK_LOCATION stack;
    PDRIVER_DISPATCH dispatch;

    if (!nt_memory_check(irp, "IRP", routine))
        return STATUS_INVALID_PARAMETER;
    if (irp->CurrentLocation <= 1 || irp->CurrentLocation > irp->StackCount + 1) {
        verify_fatal("NT-005", NO_MORE_IRP_STACK_LOCATIONS, (uintptr_t)irp, 0, 0, 0,
                     "%s of a request without a stack location left", routine);
        return STATUS_INVALID_PARAMETER;
    }
    IoSetNextIrpStackLocation(irp);
    stack = IoGetCurrentIrpStackLocation(irp);
    stack->DeviceObject = device;
    dispatch = dispatch_routine(device, stack->MajorFunction);
    if (dispatch)
        return dispatch(device, irp);
    irp->IoStatus.Status = STATUS_INVALID_DEVICE_REQUEST;
    irp->IoStatus.Information = 0;
    complete(irp);
    return STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT NTSTATUS NTAPI IofCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
    NT_ENTER();
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    return call_driver(DeviceObject, Irp, __func__);
}

static NTSTATUS NTAPI set_event(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
    (void)device;
    (void)irp;
    KeSetEvent(context, IO_NO_INCREMENT, FALSE);
    return STATUS_MORE_PROCESSING_REQUIRED;
}

NT_EXPORT NTSTATUS NTAPI IoSynchronousCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
    DISPATCHER_HEADER *header;
    NTSTATUS status;
    KEVENT event;

    NT_ENTER();
    if (!nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__) || !nt_thread()->sim)
        return STATUS_INVALID_DEVICE_REQUEST;
    nt_dispatcher_init(&event.Header, NT_EVENT_NOTIFICATION, sizeof(event), 0);
    IoSetCompletionRoutine(Irp, set_event, &event, TRUE, TRUE, TRUE);
    status = call_driver(DeviceObject, Irp, __func__);
    header = &event.Header;
    if (status == STATUS_PENDING)
        nt_wait_objects(&header, 1, false, NULL);
    return status == STATUS_PENDING ? Irp->IoStatus.Status : status;
}

/* ---- building ---- */

/* Build a request that the I/O manager frees on completion. NULL: out of memory. */
static PIRP build_owned(PDEVICE_OBJECT device, PVOID buffer, PKEVENT event, PIO_STATUS_BLOCK result,
                        void *caller)
{
    PIRP irp = allocate((CCHAR)(device && device->StackSize > 0 ? device->StackSize : 1), caller);

    if (!irp)
        return NULL;
    irp->AllocationFlags |= OWNED_BY_IO;
    irp->UserEvent = event;
    irp->UserIosb = result;
    irp->UserBuffer = buffer;
    irp->Tail.Overlay.Thread = (PETHREAD)(void *)nt_thread();
    return irp;
}

NT_EXPORT PIRP NTAPI IoBuildDeviceIoControlRequest(ULONG IoControlCode, PDEVICE_OBJECT DeviceObject,
                                                   PVOID InputBuffer, ULONG InputBufferLength,
                                                   PVOID OutputBuffer, ULONG OutputBufferLength,
                                                   BOOLEAN InternalDeviceIoControl, PKEVENT Event,
                                                   PIO_STATUS_BLOCK IoStatusBlock)
{
    PIO_STACK_LOCATION stack;
    PIRP irp;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return NULL;
    irp = build_owned(DeviceObject, OutputBuffer, Event, IoStatusBlock, NT_CALLER());
    if (!irp)
        return NULL;
    irp->AssociatedIrp.SystemBuffer = InputBuffer;
    stack = IoGetNextIrpStackLocation(irp);
    stack->MajorFunction = InternalDeviceIoControl ? IRP_MJ_INTERNAL_DEVICE_CONTROL
                                                   : IRP_MJ_DEVICE_CONTROL;
    stack->Parameters.DeviceIoControl.IoControlCode = IoControlCode;
    stack->Parameters.DeviceIoControl.InputBufferLength = InputBufferLength;
    stack->Parameters.DeviceIoControl.OutputBufferLength = OutputBufferLength;
    stack->Parameters.DeviceIoControl.Type3InputBuffer = InputBuffer;
    return irp;
}

NT_EXPORT PIRP NTAPI IoBuildSynchronousFsdRequest(ULONG MajorFunction, PDEVICE_OBJECT DeviceObject,
                                                  PVOID Buffer, ULONG Length,
                                                  PLARGE_INTEGER StartingOffset, PKEVENT Event,
                                                  PIO_STATUS_BLOCK IoStatusBlock)
{
    PIO_STACK_LOCATION stack;
    PIRP irp;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return NULL;
    irp = build_owned(DeviceObject, Buffer, Event, IoStatusBlock, NT_CALLER());
    if (!irp)
        return NULL;
    stack = IoGetNextIrpStackLocation(irp);
    stack->MajorFunction = (UCHAR)MajorFunction;
    stack->Parameters.Read.Length = Length;
    if (StartingOffset)
        stack->Parameters.Read.ByteOffset = *StartingOffset;
    return irp;
}

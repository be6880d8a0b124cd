/* SPDX-License-Identifier: MIT */
/* Request packets, and services that find nobody on the other side. */
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "support/harness.h"

static DRIVER_OBJECT driver;
static DEVICE_OBJECT device, unknown;
static unsigned dispatched, completed;

static NTSTATUS NTAPI dispatch(PDEVICE_OBJECT object, PIRP irp)
{
    assert_ptr_equal(object, &device);
    assert_int_equal(IoGetCurrentIrpStackLocation(irp)->Parameters.DeviceIoControl.IoControlCode,
                     0x1234);
    dispatched++;
    irp->IoStatus.Status = STATUS_SUCCESS;
    irp->IoStatus.Information = 7;
    IoCompleteRequest(irp, IO_NO_INCREMENT);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI on_complete(PDEVICE_OBJECT object, PIRP irp, PVOID context)
{
    (void)object;
    assert_ptr_equal(context, &completed);
    assert_int_equal(irp->IoStatus.Status, STATUS_INVALID_DEVICE_REQUEST);
    completed++;
    return STATUS_MORE_PROCESSING_REQUIRED;
}

static void check_requests(void)
{
    IO_STATUS_BLOCK status;
    KEVENT event;
    PIRP irp;

    nt_device_object_register(&driver);
    nt_device_object_register(&device);
    driver.MajorFunction[IRP_MJ_DEVICE_CONTROL] = dispatch;
    device.DriverObject = &driver;
    device.StackSize = 2;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    irp = IoBuildDeviceIoControlRequest(0x1234, &device, NULL, 0, NULL, 0, FALSE, &event, &status);
    assert_int_equal(IoCallDriver(&device, irp), STATUS_SUCCESS);
    assert_int_equal(dispatched, 1);
    assert_int_equal(KeReadStateEvent(&event), 1);
    assert_int_equal(status.Information, 7);

    irp = IoAllocateIrp(1, FALSE);
    IoGetNextIrpStackLocation(irp)->MajorFunction = IRP_MJ_READ;
    IoSetCompletionRoutine(irp, on_complete, &completed, TRUE, TRUE, TRUE);
    assert_int_equal(IoCallDriver(&unknown, irp), STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(completed, 1);
    IoReuseIrp(irp, STATUS_SUCCESS);
    assert_int_equal(IoSynchronousCallDriver(&unknown, irp), STATUS_INVALID_DEVICE_REQUEST);
    IoFreeIrp(irp);
    assert_int_equal(errors(), 0);
    IoFreeIrp(irp);
    assert_int_equal(errors(), 1);
    nt_device_object_unregister(&device);
    nt_device_object_unregister(&driver);
}

/* What a request for a device says: the request of each kind, and where its data are. */
static void check_control_request(void)
{
    static char input[12], output[24];
    PIO_STACK_LOCATION stack;
    IO_STATUS_BLOCK status;
    KEVENT event;
    PIRP irp;

    nt_device_object_register(&device);
    device.StackSize = 2;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    for (unsigned internal = 0; internal < 2; internal++) {
        irp = IoBuildDeviceIoControlRequest(0x5678, &device, input, sizeof(input), output,
                                            sizeof(output), (BOOLEAN)internal, &event, &status);
        assert_non_null(irp);
        assert_ptr_equal(irp->AssociatedIrp.SystemBuffer, input);
        assert_ptr_equal(irp->UserBuffer, output);
        assert_ptr_equal(irp->UserEvent, &event);
        assert_ptr_equal(irp->UserIosb, &status);
        assert_int_equal(irp->StackCount, 2);
        stack = IoGetNextIrpStackLocation(irp);
        assert_int_equal(stack->MajorFunction,
                         internal ? IRP_MJ_INTERNAL_DEVICE_CONTROL : IRP_MJ_DEVICE_CONTROL);
        assert_int_equal(stack->Parameters.DeviceIoControl.IoControlCode, 0x5678);
        assert_int_equal(stack->Parameters.DeviceIoControl.InputBufferLength, sizeof(input));
        assert_int_equal(stack->Parameters.DeviceIoControl.OutputBufferLength, sizeof(output));
        assert_ptr_equal(stack->Parameters.DeviceIoControl.Type3InputBuffer, input);
        IoFreeIrp(irp);
    }
    assert_int_equal(errors(), 0);
    nt_device_object_unregister(&device);
}

TEST_WITH(machine, requests_name_their_data)
{
    run(check_control_request);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

/* ---- cancelling, using again ---- */

static PIRP cancelled;

static VOID NTAPI on_cancel(PDEVICE_OBJECT object, PIRP irp)
{
    assert_ptr_equal(object, &device);
    assert_true(irp->Cancel && !irp->CancelRoutine && irp->CancelIrql == PASSIVE_LEVEL);
    cancelled = irp;
}

static void check_cancel(void)
{
    PIRP irp = IoAllocateIrp(1, FALSE);

    IoSetNextIrpStackLocation(irp);
    IoGetCurrentIrpStackLocation(irp)->DeviceObject = &device;
    cancelled = NULL;
    assert_false(IoCancelIrp(irp));
    assert_true(irp->Cancel && !cancelled);
    irp->Cancel = FALSE;
    assert_true(IoSetCancelRoutine(irp, NULL) == NULL);
    assert_true(IoSetCancelRoutine(irp, on_cancel) == NULL);
    assert_true(IoSetCancelRoutine(irp, on_cancel) == on_cancel);
    assert_true(IoCancelIrp(irp));
    assert_ptr_equal(cancelled, irp);
    IoFreeIrp(irp);
    assert_int_equal(errors(), 0);
}

static void check_reuse(void)
{
    USHORT size = IoSizeOfIrp(3);
    PIRP own = ExAllocatePoolWithTag(NonPagedPoolNx, size, TAG), irp = IoAllocateIrp(3, FALSE);
    UCHAR flags;

    memset(own, 0x5A, size);
    IoInitializeIrp(own, size, 3);
    assert_true(own->StackCount == 3 && own->CurrentLocation == 4 && own->Size == size);
    assert_true(!own->Cancel && !own->UserEvent && own->IoStatus.Information == 0);
    assert_int_equal(errors(), 0);
    IoInitializeIrp(own, (USHORT)(size - 1), 3);
    CHECK_RULE("NT-005/e", errors() == 1);
    IoInitializeIrp(own, size, -1);
    CHECK_RULE("NT-005/e", errors() == 2);
    ExFreePool(own);
    forget_reports();
    IoSetNextIrpStackLocation(irp);
    flags = irp->AllocationFlags = 0x41;
    irp->Cancel = TRUE;
    irp->IoStatus.Information = 9;
    irp->UserBuffer = irp;
    IoReuseIrp(irp, STATUS_NOT_SUPPORTED);
    assert_true(irp->StackCount == 3 && irp->CurrentLocation == 4 && irp->Size == size);
    assert_true(!irp->Cancel && !irp->UserBuffer && irp->IoStatus.Information == 0);
    assert_true(irp->IoStatus.Status == STATUS_NOT_SUPPORTED && irp->AllocationFlags == flags);
    irp->AllocationFlags = 0;
    IoFreeIrp(irp);
    assert_int_equal(errors(), 0);
}

static void check_synchronous_request(void)
{
    static char buffer[16];
    LARGE_INTEGER offset = {.QuadPart = 0x123456789};
    IO_STATUS_BLOCK status;
    PIO_STACK_LOCATION stack;
    KEVENT event;
    PIRP irp;

    nt_device_object_register(&device);
    device.StackSize = 1;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    irp = IoBuildSynchronousFsdRequest(IRP_MJ_PNP, &device, buffer, 16, &offset, &event, &status);
    stack = IoGetNextIrpStackLocation(irp);
    assert_true(stack->MajorFunction == IRP_MJ_PNP && stack->Parameters.Read.Length == 16 &&
                stack->Parameters.Read.ByteOffset.QuadPart == offset.QuadPart);
    assert_true(irp->UserEvent == &event && irp->UserIosb == &status && irp->UserBuffer == buffer);
    IoFreeIrp(irp);
    irp = IoBuildSynchronousFsdRequest(IRP_MJ_READ, &device, NULL, 0, NULL, &event, &status);
    stack = IoGetNextIrpStackLocation(irp);
    assert_true(stack->MajorFunction == IRP_MJ_READ && stack->Parameters.Read.Length == 0 &&
                stack->Parameters.Read.ByteOffset.QuadPart == 0);
    IoFreeIrp(irp);
    assert_int_equal(errors(), 0);
    nt_device_object_unregister(&device);
}

TEST_WITH(machine, requests_are_cancelled_and_used_again)
{
    run(check_cancel);
    run(check_reuse);
    run(check_synchronous_request);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

TEST_WITH(machine, requests_are_sent_and_completed)
{
    run(check_requests);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

TEST_WITH(driver, what_is_absent_is_not_found)
{
    OBJECT_ATTRIBUTES attributes;
    UNICODE_STRING name;
    IO_STATUS_BLOCK status;
    PFILE_OBJECT file;
    PDEVICE_OBJECT object;
    HANDLE handle;

    RtlInitUnicodeString(&name, L"\\Device\\Nobody");
    InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(
        ZwCreateFile(&handle, GENERIC_READ, &attributes, &status, NULL, 0, 0, 0, 0, NULL, 0),
        STATUS_OBJECT_PATH_NOT_FOUND);
    assert_int_equal(IoGetDeviceObjectPointer(&name, GENERIC_READ, &file, &object),
                     STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(
        ZwWriteFile((HANDLE)(uintptr_t)8, NULL, NULL, NULL, &status, NULL, 0, NULL, NULL),
        STATUS_INVALID_HANDLE);
    assert_int_equal(errors(), 0);
}

/* SPDX-License-Identifier: MIT */
/* The way of a request down and up: whose stack location it is, which completion routines hear of it, and when it ends. */
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "support/harness.h"

static DRIVER_OBJECT driver;
static DEVICE_OBJECT upper, lower, orphan, unknown;
static struct {
    unsigned calls;
    PDEVICE_OBJECT device;
    PVOID context;
    BOOLEAN pending;
    CHAR location;
} heard[4];
static unsigned hears;
static PIRP held;
static NTSTATUS result;

static NTSTATUS NTAPI hear(PDEVICE_OBJECT object, PIRP irp, PVOID context)
{
    heard[hears].device = object;
    heard[hears].context = context;
    heard[hears].pending = irp->PendingReturned;
    heard[hears++].location = irp->CurrentLocation;
    return STATUS_SUCCESS;
}

/* The upper device passes it on; the lower one completes it. */
static NTSTATUS NTAPI dispatch(PDEVICE_OBJECT object, PIRP irp)
{
    if (object == &upper) {
        IoCopyCurrentIrpStackLocationToNext(irp);
        IoSetCompletionRoutine(irp, hear, &upper, TRUE, TRUE, TRUE);
        return IofCallDriver(&lower, irp);
    }
    irp->IoStatus.Status = result;
    irp->IoStatus.Information = 11;
    IofCompleteRequest(irp, IO_NO_INCREMENT);
    return result;
}

static NTSTATUS NTAPI hold(PDEVICE_OBJECT object, PIRP irp)
{
    (void)object;
    IoMarkIrpPending(irp);
    held = irp;
    return STATUS_PENDING;
}

static void register_devices(void)
{
    memset(&driver, 0, sizeof(driver));
    nt_device_object_register(&driver);
    nt_device_object_register(&upper);
    nt_device_object_register(&lower);
    nt_device_object_register(&orphan);
    driver.MajorFunction[IRP_MJ_READ] = dispatch;
    driver.MajorFunction[IRP_MJ_WRITE] = hold;
    driver.MajorFunction[IRP_MJ_MAXIMUM_FUNCTION] = dispatch;
    upper.DriverObject = lower.DriverObject = &driver;
    upper.StackSize = 2;
    lower.StackSize = 1;
    orphan.DriverObject = NULL;
    hears = 0;
    held = NULL;
    result = STATUS_SUCCESS;
}

static void unregister_devices(void)
{
    nt_device_object_unregister(&driver);
    nt_device_object_unregister(&upper);
    nt_device_object_unregister(&lower);
    nt_device_object_unregister(&orphan);
}

static PIRP request(CCHAR locations, UCHAR function)
{
    PIRP irp = IoAllocateIrp(locations, FALSE);

    IoGetNextIrpStackLocation(irp)->MajorFunction = function;
    return irp;
}

TEST_WITH(driver, a_request_goes_down_and_up)
{
    IO_STATUS_BLOCK status = {0};
    PIRP irp;

    register_devices();
    irp = request(3, IRP_MJ_READ);
    CHECK(irp->Type == IO_TYPE_IRP && irp->StackCount == 3 && irp->CurrentLocation == 4);
    CHECK(IsListEmpty(&irp->ThreadListEntry));
    irp->UserIosb = &status;
    CHECK(IofCallDriver(&upper, irp) == STATUS_SUCCESS);
    CHECK(hears == 1 && heard[0].device == &upper && heard[0].context == &upper);
    CHECK(!heard[0].pending && heard[0].location == 3);
    CHECK(status.Status == STATUS_SUCCESS && status.Information == 11);
    CHECK(irp->CurrentLocation == 4 && errors() == 0);
    /* complete already */
    IofCompleteRequest(irp, IO_NO_INCREMENT);
    CHECK(reported("NT-005", 0x44, (uintptr_t)irp) && hears == 1);
    forget_reports();
    IoFreeIrp(irp);
    /* no device belongs to the location of who sends it */
    irp = request(2, IRP_MJ_READ);
    IoSetCompletionRoutine(irp, hear, &irp, TRUE, TRUE, TRUE);
    hears = 0;
    CHECK(IofCallDriver(&lower, irp) == STATUS_SUCCESS);
    CHECK(hears == 1 && heard[0].device == NULL && heard[0].context == &irp);
    IoFreeIrp(irp);
    unregister_devices();
    CHECK(errors() == 0);
}

/* Each routine says what it wants to hear of. */
static bool hears_of(NTSTATUS status, bool cancelled, BOOLEAN success, BOOLEAN error, BOOLEAN cancel)
{
    PIRP irp = request(1, IRP_MJ_READ);

    hears = 0;
    result = status;
    irp->Cancel = cancelled;
    IoSetCompletionRoutine(irp, hear, NULL, success, error, cancel);
    CHECK(IofCallDriver(&lower, irp) == status);
    IoFreeIrp(irp);
    return hears == 1;
}

TEST_WITH(driver, routines_hear_of_what_they_want)
{
    const NTSTATUS bad = STATUS_UNSUCCESSFUL, good = STATUS_SUCCESS;

    register_devices();
    CHECK(hears_of(good, false, TRUE, FALSE, FALSE) && !hears_of(bad, false, TRUE, FALSE, FALSE));
    CHECK(hears_of(bad, false, FALSE, TRUE, FALSE) && !hears_of(good, false, FALSE, TRUE, FALSE));
    CHECK(!hears_of(good, false, FALSE, FALSE, TRUE) && !hears_of(bad, false, FALSE, FALSE, TRUE));
    CHECK(hears_of(good, true, FALSE, FALSE, TRUE) && hears_of(bad, true, FALSE, FALSE, TRUE));
    CHECK(hears_of(good, true, TRUE, FALSE, FALSE) && !hears_of(bad, true, TRUE, FALSE, FALSE));
    CHECK(!hears_of(good, true, FALSE, FALSE, FALSE));
    unregister_devices();
    CHECK(errors() == 0);
}

/* Nobody, or nothing of a device, answers. */
static bool nobody_serves(PDEVICE_OBJECT device, UCHAR function)
{
    PIRP irp = request(1, function);
    NTSTATUS status;

    irp->IoStatus.Information = 5;
    status = IofCallDriver(device, irp);
    CHECK(status != STATUS_INVALID_DEVICE_REQUEST ||
          (irp->IoStatus.Status == status && irp->IoStatus.Information == 0));
    IoFreeIrp(irp);
    return status == STATUS_INVALID_DEVICE_REQUEST;
}

TEST_WITH(driver, some_requests_have_no_receiver)
{
    DRIVER_OBJECT other = {.MajorFunction = {[IRP_MJ_READ] = dispatch}};

    register_devices();
    CHECK(!nobody_serves(&lower, IRP_MJ_READ) && nobody_serves(&lower, IRP_MJ_CREATE));
    CHECK(!nobody_serves(&lower, IRP_MJ_MAXIMUM_FUNCTION));
    CHECK(nobody_serves(&lower, IRP_MJ_MAXIMUM_FUNCTION + 1));
    CHECK(nobody_serves(&orphan, IRP_MJ_READ) && nobody_serves(&unknown, IRP_MJ_READ));
    CHECK(nobody_serves(NULL, IRP_MJ_READ));
    orphan.DriverObject = &other; /* not registered */
    CHECK(nobody_serves(&orphan, IRP_MJ_READ));
    unregister_devices();
    CHECK(errors() == 0);
}

TEST_WITH(driver, a_request_has_as_many_locations_as_devices)
{
    PIRP irp;

    register_devices();
    irp = request(1, IRP_MJ_READ);
    IoSetNextIrpStackLocation(irp);
    CHECK(IofCallDriver(&lower, irp) == STATUS_INVALID_PARAMETER);
    CHECK(reported("NT-005", 0x35, (uintptr_t)irp) && hears == 0);
    forget_reports();
    IoReuseIrp(irp, STATUS_SUCCESS);
    irp->CurrentLocation = 3; /* above the first */
    CHECK(IofCallDriver(&lower, irp) == STATUS_INVALID_PARAMETER);
    CHECK(reported("NT-005", 0x35, (uintptr_t)irp));
    forget_reports();
    IoReuseIrp(irp, STATUS_SUCCESS);
    IoFreeIrp(irp);
    CHECK(IoAllocateIrp(0, FALSE) == NULL && IoAllocateIrp(-1, FALSE) == NULL && errors() == 0);
    unregister_devices();
}

/* ---- requests that take time ---- */

static NTSTATUS outcome;
static bool returned;
static PIRP waiting;

static void send_and_wait(void *unused)
{
    (void)unused;
    outcome = IoSynchronousCallDriver(&lower, waiting);
    returned = true;
}

TEST_WITH(driver, a_pending_request_is_waited_for)
{
    register_devices();
    returned = false;
    waiting = request(1, IRP_MJ_WRITE);
    start("sender", send_and_wait, NULL);
    pause_ns(1000000);
    CHECK(held == waiting && !returned);
    held->IoStatus.Status = STATUS_DEVICE_NOT_READY;
    IofCompleteRequest(held, IO_NO_INCREMENT);
    pause_ns(1000000);
    CHECK(returned && outcome == STATUS_DEVICE_NOT_READY && waiting->PendingReturned);
    IoReuseIrp(waiting, STATUS_SUCCESS);
    IoGetNextIrpStackLocation(waiting)->MajorFunction = IRP_MJ_READ;
    result = STATUS_NOT_SUPPORTED;
    CHECK(IoSynchronousCallDriver(&lower, waiting) == STATUS_NOT_SUPPORTED);
    IoFreeIrp(waiting);
    unregister_devices();
    CHECK(errors() == 0);
}

/* What the builders return is freed at the end, and tells it by status and event, if asked. */
TEST_WITH(driver, built_requests_free_themselves)
{
    IO_STATUS_BLOCK status;
    KEVENT event;
    PIRP irp;

    register_devices();
    KeInitializeEvent(&event, NotificationEvent, FALSE);
    irp = IoBuildSynchronousFsdRequest(IRP_MJ_READ, &upper, NULL, 0, NULL, &event, &status);
    CHECK(irp->StackCount == 2 &&
          irp->Tail.Overlay.Thread == (PETHREAD)(void *)KeGetCurrentThread());
    CHECK(IofCallDriver(&upper, irp) == STATUS_SUCCESS && KeReadStateEvent(&event) != 0);
    CHECK(status.Information == 11);
    irp = IoBuildSynchronousFsdRequest(IRP_MJ_READ, &lower, NULL, 0, NULL, NULL, NULL);
    CHECK(irp->StackCount == 1 && IofCallDriver(&lower, irp) == STATUS_SUCCESS);
    lower.StackSize = 0;
    irp = IoBuildDeviceIoControlRequest(5, &lower, NULL, 0, NULL, 0, FALSE, &event, &status);
    CHECK(irp->StackCount == 1);
    IoFreeIrp(irp);
    irp = IoBuildDeviceIoControlRequest(5, NULL, NULL, 0, NULL, 0, FALSE, &event, &status);
    CHECK(irp->StackCount == 1);
    IoFreeIrp(irp);
    unregister_devices();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, what_is_no_request_is_not_freed)
{
    char *block = ExAllocatePoolWithTag(NonPagedPoolNx, 512, TAG);
    PIRP irp = IoAllocateIrp(1, FALSE);

    IoFreeIrp((PIRP)(void *)block);
    CHECK(errors() == 1 && broken("NT-005"));
    IoFreeIrp((PIRP)(void *)((char *)irp + 16));
    CHECK(errors() == 2);
    IoFreeIrp(NULL);
    CHECK(errors() == 3);
    ExFreePool(block);
    IoFreeIrp(irp);
    CHECK(errors() == 3 && nt_image_leak_check(h.image) == 0);
}

static unsigned cancels;

static VOID NTAPI on_cancel(PDEVICE_OBJECT object, PIRP irp)
{
    CHECK(object == &upper && irp->CancelIrql == DISPATCH_LEVEL);
    cancels++;
}

/* In freed memory there is no request any more. */
TEST_WITH(driver, requests_in_freed_memory_are_refused)
{
    PIRP irp = IoAllocateIrp(1, FALSE);
    KIRQL old;

    IoSetNextIrpStackLocation(irp);
    IoGetCurrentIrpStackLocation(irp)->DeviceObject = &upper;
    IoSetCancelRoutine(irp, on_cancel);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(IoCancelIrp(irp) && cancels == 1);
    KeLowerIrql(old);
    IoFreeIrp(irp);
    CHECK(errors() == 0);
    CHECK(!IoCancelIrp(irp) && errors() == 1);
    IoReuseIrp(irp, STATUS_SUCCESS);
    CHECK(errors() == 2);
    IoInitializeIrp(irp, IoSizeOfIrp(1), 1);
    CHECK(errors() == 3);
    IofCompleteRequest(irp, 0);
    CHECK(errors() == 4);
    CHECK(IofCallDriver(&unknown, irp) == STATUS_INVALID_PARAMETER && errors() == 5);
}

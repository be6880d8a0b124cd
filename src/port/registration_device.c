/* SPDX-License-Identifier: MIT */
/*
 * \\Device\\DxgKrnl: through it a Windows image finds the routines that register it. The image does
 * not import DxgkInitialize; the library that is linked into it opens this device object by name
 * and asks it, by an internal device control request, for the address to call (LIFE-179 to
 * LIFE-181). The codes and the form are those that the MIT-licensed display driver headers of
 * ReactOS publish.
 */
#include "port/registration_device.h"
#include "nt/io/device_object.h"
#include "port/record/boundary.h"
#include "port/record/machine.h"

#define REQUEST_REGISTER CTL_CODE(FILE_DEVICE_VIDEO, 0xF, METHOD_NEITHER, FILE_ANY_ACCESS)
#define REQUEST_REGISTER_DISPLAY_ONLY \
    CTL_CODE(FILE_DEVICE_VIDEO, 0x11, METHOD_NEITHER, FILE_ANY_ACCESS)

static PVOID routine_for(ULONG code)
{
    switch (code) {
    case REQUEST_REGISTER:
        return (PVOID)(uintptr_t)DxgkInitialize;
    case REQUEST_REGISTER_DISPLAY_ONLY:
        return (PVOID)(uintptr_t)DxgkInitializeDisplayOnlyDriver;
    default:
        return NULL;
    }
}

/* Write the answer to the address in the request, unbuffered. The driver made the request, so the
 * address may be bad. */
static NTSTATUS answer(PIRP irp)
{
    const IO_STACK_LOCATION *stack = IoGetCurrentIrpStackLocation(irp);
    PVOID routine = routine_for(stack->Parameters.DeviceIoControl.IoControlCode);

    if (!routine)
        return STATUS_INVALID_DEVICE_REQUEST;
    if (stack->Parameters.DeviceIoControl.OutputBufferLength < sizeof(routine))
        return STATUS_BUFFER_TOO_SMALL;
    if (!PORT_GIVE(PVOID, irp->UserBuffer, &routine))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI internal_device_control(PDEVICE_OBJECT device, PIRP irp)
{
    NTSTATUS status = answer(irp);

    (void)device;
    irp->IoStatus.Status = status;
    irp->IoStatus.Information = 0;
    IoCompleteRequest(irp, IO_NO_INCREMENT);
    return status;
}

bool port_registration_device_init(struct port *port)
{
    port->dxgkrnl_driver.Type = IO_TYPE_DRIVER;
    port->dxgkrnl_driver.Size = sizeof(DRIVER_OBJECT);
    port->dxgkrnl_driver.DeviceObject = &port->dxgkrnl_device;
    port->dxgkrnl_driver.MajorFunction[IRP_MJ_INTERNAL_DEVICE_CONTROL] = internal_device_control;
    port->dxgkrnl_device.Type = IO_TYPE_DEVICE;
    port->dxgkrnl_device.Size = sizeof(DEVICE_OBJECT);
    port->dxgkrnl_device.DriverObject = &port->dxgkrnl_driver;
    port->dxgkrnl_device.DeviceType = FILE_DEVICE_VIDEO;
    port->dxgkrnl_device.StackSize = 1;
    if (nt_device_object_register(&port->dxgkrnl_driver) &&
        nt_device_object_name(&port->dxgkrnl_device, "\\Device\\DxgKrnl"))
        return true;
    port_registration_device_finish(port);
    return false;
}

void port_registration_device_finish(struct port *port)
{
    nt_device_object_unregister(&port->dxgkrnl_device);
    nt_device_object_unregister(&port->dxgkrnl_driver);
}

/* SPDX-License-Identifier: MIT */
/*
 * libdisplib.a: what a miniport that is built as a Windows image (.sys) links, to register itself.
 *
 * DxgkInitialize is no import: which routine of the port driver takes the registration is asked at
 * run time.
 *
 *   \Device\DxgKrnl opened by name -> internal device control request, which answers with the
 *   address of a routine -> that routine called with the driver's own arguments
 *
 * Name, codes and the routine's form are those that the MIT-licensed display driver headers of
 * ReactOS publish. That source alone gives the code for display-only drivers; it was not tried on
 * Windows.
 *
 * Every routine runs at PASSIVE_LEVEL and returns what the port driver returned, or the status with
 * which it could not be reached. An ELF driver needs none of this: the host that loads it offers
 * the three routines themselves.
 */
#include <ntddk.h>
#include <dispmprt.h>

#define REQUEST_REGISTER CTL_CODE(FILE_DEVICE_VIDEO, 0xF, METHOD_NEITHER, FILE_ANY_ACCESS)
#define REQUEST_REGISTER_DISPLAY_ONLY \
    CTL_CODE(FILE_DEVICE_VIDEO, 0x11, METHOD_NEITHER, FILE_ANY_ACCESS)

/* The third argument is the driver's table, of the kind that was asked for. */
typedef NTSTATUS(NTAPI *REGISTER_ROUTINE)(PDRIVER_OBJECT, PUNICODE_STRING, PVOID);

/* What the port driver left in the driver object. Kept, since a driver may replace it by a routine
 * of its own that calls DxgkUnInitialize. A driver has one driver object. */
static PDRIVER_OBJECT registered_object;
static PDRIVER_UNLOAD registered_unload;

static NTSTATUS open_port_driver(PFILE_OBJECT *file, PDEVICE_OBJECT *device)
{
    UNICODE_STRING name, service;
    NTSTATUS status;

    RtlInitUnicodeString(&name, L"\\Device\\DxgKrnl");
    status = IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, file, device);
    if (status != STATUS_OBJECT_NAME_NOT_FOUND) {
        return status;
    }
    /* Nothing has started the port driver yet: it is a service that starts on demand. */
    RtlInitUnicodeString(&service,
                         L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\DXGKrnl");
    status = ZwLoadDriver(&service);
    if (!NT_SUCCESS(status) && status != STATUS_IMAGE_ALREADY_LOADED) {
        return status;
    }
    return IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, file, device);
}

static NTSTATUS ask(PDEVICE_OBJECT device, ULONG code, REGISTER_ROUTINE *routine)
{
    PVOID address = NULL;
    IO_STATUS_BLOCK result;
    KEVENT done;
    NTSTATUS status;
    PIRP irp;

    KeInitializeEvent(&done, NotificationEvent, FALSE);
    irp = IoBuildDeviceIoControlRequest(code, device, NULL, 0, &address, sizeof(address), TRUE,
                                        &done, &result);
    if (!irp) {
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    status = IoCallDriver(device, irp);
    if (status == STATUS_PENDING) {
        KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
        status = result.Status;
    }
    if (NT_SUCCESS(status) && !address) {
        return STATUS_NOT_SUPPORTED;
    }
    *routine = (REGISTER_ROUTINE)(ULONG_PTR)address;
    return status;
}

static NTSTATUS register_driver(ULONG code, PDRIVER_OBJECT object, PUNICODE_STRING path, PVOID table)
{
    REGISTER_ROUTINE routine;
    PDEVICE_OBJECT device;
    PDRIVER_UNLOAD before;
    PFILE_OBJECT file;
    NTSTATUS status;

    if (!object || !path || !table) {
        return STATUS_INVALID_PARAMETER;
    }
    status = open_port_driver(&file, &device);
    if (!NT_SUCCESS(status)) {
        return status;
    }
    status = ask(device, code, &routine);
    if (NT_SUCCESS(status)) {
        before = object->DriverUnload;
        status = routine(object, path, table);
        if (NT_SUCCESS(status) && object->DriverUnload != before) {
            registered_object = object;
            registered_unload = object->DriverUnload;
        }
    }
    ObDereferenceObject(file); /* the registration itself keeps the port driver from here on */
    return status;
}

NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    return register_driver(REQUEST_REGISTER, DriverObject, RegistryPath, DriverInitializationData);
}

NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject,
                                               PUNICODE_STRING RegistryPath,
                                               PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData)
{
    return register_driver(REQUEST_REGISTER_DISPLAY_ONLY, DriverObject, RegistryPath,
                           KmdDodInitializationData);
}

/* No request withdraws a registration; the routine that the port driver left for unloading does. */
NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT DriverObject)
{
    PDRIVER_UNLOAD unload = registered_unload;

    if (!DriverObject || DriverObject != registered_object) {
        return STATUS_INVALID_PARAMETER;
    }
    if (DriverObject->DeviceObject) {
        return STATUS_DEVICE_BUSY;
    }
    registered_object = NULL;
    registered_unload = NULL;
    unload(DriverObject);
    return STATUS_SUCCESS;
}

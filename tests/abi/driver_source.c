/* SPDX-License-Identifier: MIT */
/*
 * A miniport's source in small: what a driver includes, the names it uses, and nothing of ours.
 * It is compiled, never run: as C and C++ for ELF, and as C for Windows with mingw-w64.
 */
#include <initguid.h>
#include <ntddk.h>
#include <ntintsafe.h>
#include <ntstrsafe.h>
#include <dispmprt.h>
#include <d3dkmthk.h>

#define SAMPLE_TAG 0x6C706D53

typedef struct _SAMPLE_DEVICE {
    DXGKRNL_INTERFACE Interface;
    LIST_ENTRY Allocations;
    KSPIN_LOCK Lock;
    FAST_MUTEX Mutex;
    KEVENT Idle;
    KDPC Dpc;
    LONG References;
    volatile ULONG *Registers;
    PETHREAD Worker;
} SAMPLE_DEVICE;

typedef struct _SAMPLE_ALLOCATION {
    LIST_ENTRY Entry;
    SIZE_T Size;
} SAMPLE_ALLOCATION;

#ifdef __cplusplus
extern "C" {
#endif

DRIVER_INITIALIZE DriverEntry;
DRIVER_UNLOAD SampleUnload;
DXGKDDI_ADD_DEVICE SampleAddDevice;
DXGKDDI_REMOVE_DEVICE SampleRemoveDevice;
DXGKDDI_INTERRUPT_ROUTINE SampleInterruptRoutine;
KDEFERRED_ROUTINE SampleDpc;
KSTART_ROUTINE SampleThread;

VOID NTAPI SampleDpc(struct _KDPC *Dpc, PVOID Context, PVOID Argument1, PVOID Argument2)
{
    UNREFERENCED_PARAMETER(Dpc);
    UNREFERENCED_PARAMETER(Argument1);
    UNREFERENCED_PARAMETER(Argument2);
    KeSetEvent(&((SAMPLE_DEVICE *)Context)->Idle, IO_NO_INCREMENT, FALSE);
}

VOID NTAPI SampleThread(PVOID Context)
{
    SAMPLE_DEVICE *device = (SAMPLE_DEVICE *)Context;
    LARGE_INTEGER interval;

    interval.QuadPart = -10000;
    KeDelayExecutionThread(KernelMode, FALSE, &interval);
    KeWaitForSingleObject(&device->Idle, Executive, KernelMode, FALSE, NULL);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

NTSTATUS NTAPI SampleAddDevice(const PDEVICE_OBJECT PhysicalDeviceObject, PVOID *Context)
{
    SAMPLE_DEVICE *device;
    HANDLE thread;
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    PAGED_CODE();
    (void)PhysicalDeviceObject;
    device = (SAMPLE_DEVICE *)ExAllocatePoolWithTag(NonPagedPool, sizeof(*device), SAMPLE_TAG);
    if (!device) {
        return STATUS_NO_MEMORY;
    }
    RtlZeroMemory(device, sizeof(*device));
    InitializeListHead(&device->Allocations);
    KeInitializeSpinLock(&device->Lock);
    ExInitializeFastMutex(&device->Mutex);
    KeInitializeEvent(&device->Idle, NotificationEvent, FALSE);
    KeInitializeDpc(&device->Dpc, SampleDpc, device);
    InterlockedIncrement(&device->References);

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, &attributes, NULL, NULL, SampleThread,
                                  device);
    if (!NT_SUCCESS(status)) {
        ExFreePoolWithTag(device, SAMPLE_TAG);
        return status;
    }
    ObReferenceObjectByHandle(thread, THREAD_ALL_ACCESS, NULL, KernelMode, (PVOID *)&device->Worker,
                              NULL);
    ZwClose(thread);
    *Context = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SampleRemoveDevice(const PVOID Context)
{
    SAMPLE_DEVICE *device = (SAMPLE_DEVICE *)Context;
    KIRQL irql;

    KeAcquireSpinLock(&device->Lock, &irql);
    while (!IsListEmpty(&device->Allocations)) {
        PLIST_ENTRY entry = RemoveHeadList(&device->Allocations);

        ExFreePoolWithTag(CONTAINING_RECORD(entry, SAMPLE_ALLOCATION, Entry), SAMPLE_TAG);
    }
    KeReleaseSpinLock(&device->Lock, irql);
    ObDereferenceObject(device->Worker);
    ExFreePoolWithTag(device, SAMPLE_TAG);
    return STATUS_SUCCESS;
}

BOOLEAN NTAPI SampleInterruptRoutine(const PVOID Context, ULONG MessageNumber)
{
    SAMPLE_DEVICE *device = (SAMPLE_DEVICE *)Context;
    ULONG pending = READ_REGISTER_ULONG((PULONG)device->Registers);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    UNREFERENCED_PARAMETER(MessageNumber);
    if (pending == 0) {
        return FALSE;
    }
    WRITE_REGISTER_ULONG((PULONG)device->Registers, pending);
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = pending;
    device->Interface.DxgkCbNotifyInterrupt(device->Interface.DeviceHandle, &data);
    device->Interface.DxgkCbQueueDpc(device->Interface.DeviceHandle);
    return TRUE;
}

VOID NTAPI SampleUnload(struct _DRIVER_OBJECT *DriverObject)
{
    DxgkUnInitialize(DriverObject);
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;
    UNICODE_STRING name;
    WCHAR text[32];
    ULONG total;

    RtlInitUnicodeString(&name, L"\\Registry\\Machine");
    if (RegistryPath->Length < name.Length || wcslen(name.Buffer) > 64) {
        return STATUS_INVALID_PARAMETER;
    }
    if (!NT_SUCCESS(RtlULongAdd(1, 2, &total)) ||
        !NT_SUCCESS(RtlStringCbCopyW(text, sizeof(text), L"sample")) ||
        !NT_SUCCESS(RtlStringCbPrintfW(text, sizeof(text), L"%u", total))) {
        return STATUS_UNSUCCESSFUL;
    }
    DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL, "%u\n", total);

    RtlZeroMemory(&data, sizeof(data));
    data.Version = DXGKDDI_INTERFACE_VERSION;
    data.DxgkDdiAddDevice = SampleAddDevice;
    data.DxgkDdiRemoveDevice = SampleRemoveDevice;
    data.DxgkDdiInterruptRoutine = SampleInterruptRoutine;
    DriverObject->DriverUnload = SampleUnload;
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}

#ifdef __cplusplus
}
#endif

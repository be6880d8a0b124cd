/* SPDX-License-Identifier: MIT */
/*
 * Services about things that do not exist in the machine: files, other drivers, a miniport's own
 * device objects, interrupt objects that the port driver does not handle. They check their level
 * and fail, or do nothing, as documented for that case.
 */
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/status_name.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/address_query.h"
#include "nt/mm/pool.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "sim/irql.h"
#include "verify/verify.h"

#define ERROR_LOG_TAG 0x676F4C45u /* "ELog" */

/* ---- files and sections: none can be opened, so no handle of one is ever valid ---- */

NT_EXPORT NTSTATUS NTAPI ZwCreateFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess,
                                      POBJECT_ATTRIBUTES ObjectAttributes,
                                      PIO_STATUS_BLOCK IoStatusBlock, PLARGE_INTEGER AllocationSize,
                                      ULONG FileAttributes, ULONG ShareAccess,
                                      ULONG CreateDisposition, ULONG CreateOptions, PVOID EaBuffer,
                                      ULONG EaLength)
{
    NT_ENTER();
    (void)FileHandle;
    (void)DesiredAccess;
    (void)ObjectAttributes;
    (void)IoStatusBlock;
    (void)AllocationSize;
    (void)FileAttributes;
    (void)ShareAccess;
    (void)CreateDisposition;
    (void)CreateOptions;
    (void)EaBuffer;
    (void)EaLength;
    return nt_level_zw(__func__) ? STATUS_OBJECT_PATH_NOT_FOUND : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT NTSTATUS NTAPI ZwOpenFile(PHANDLE FileHandle, ACCESS_MASK DesiredAccess,
                                    POBJECT_ATTRIBUTES ObjectAttributes,
                                    PIO_STATUS_BLOCK IoStatusBlock, ULONG ShareAccess,
                                    ULONG OpenOptions)
{
    NT_ENTER();
    (void)FileHandle;
    (void)DesiredAccess;
    (void)ObjectAttributes;
    (void)IoStatusBlock;
    (void)ShareAccess;
    (void)OpenOptions;
    return nt_level_zw(__func__) ? STATUS_OBJECT_PATH_NOT_FOUND : STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS no_file(HANDLE handle, const char *routine)
{
    if (!nt_level_zw(routine))
        return STATUS_INVALID_DEVICE_REQUEST;
    return nt_handle_object(handle, NT_OBJECT_ANY, NULL) ? STATUS_OBJECT_TYPE_MISMATCH
                                                         : STATUS_INVALID_HANDLE;
}

NT_EXPORT NTSTATUS NTAPI ZwReadFile(HANDLE FileHandle, HANDLE Event, PIO_APC_ROUTINE ApcRoutine,
                                    PVOID ApcContext, PIO_STATUS_BLOCK IoStatusBlock, PVOID Buffer,
                                    ULONG Length, PLARGE_INTEGER ByteOffset, PULONG Key)
{
    NT_ENTER();
    (void)Event;
    (void)ApcRoutine;
    (void)ApcContext;
    (void)IoStatusBlock;
    (void)Buffer;
    (void)Length;
    (void)ByteOffset;
    (void)Key;
    return no_file(FileHandle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ZwWriteFile(HANDLE FileHandle, HANDLE Event, PIO_APC_ROUTINE ApcRoutine,
                                     PVOID ApcContext, PIO_STATUS_BLOCK IoStatusBlock, PVOID Buffer,
                                     ULONG Length, PLARGE_INTEGER ByteOffset, PULONG Key)
{
    NT_ENTER();
    (void)Event;
    (void)ApcRoutine;
    (void)ApcContext;
    (void)IoStatusBlock;
    (void)Buffer;
    (void)Length;
    (void)ByteOffset;
    (void)Key;
    return no_file(FileHandle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ZwQueryInformationFile(HANDLE FileHandle, PIO_STATUS_BLOCK IoStatusBlock,
                                                PVOID FileInformation, ULONG Length,
                                                FILE_INFORMATION_CLASS FileInformationClass)
{
    NT_ENTER();
    (void)IoStatusBlock;
    (void)FileInformation;
    (void)Length;
    (void)FileInformationClass;
    return no_file(FileHandle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ZwSetInformationFile(HANDLE FileHandle, PIO_STATUS_BLOCK IoStatusBlock,
                                              PVOID FileInformation, ULONG Length,
                                              FILE_INFORMATION_CLASS FileInformationClass)
{
    NT_ENTER();
    (void)IoStatusBlock;
    (void)FileInformation;
    (void)Length;
    (void)FileInformationClass;
    return no_file(FileHandle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ZwCreateSection(PHANDLE SectionHandle, ACCESS_MASK DesiredAccess,
                                         POBJECT_ATTRIBUTES ObjectAttributes,
                                         PLARGE_INTEGER MaximumSize, ULONG SectionPageProtection,
                                         ULONG AllocationAttributes, HANDLE FileHandle)
{
    NT_ENTER();
    (void)SectionHandle;
    (void)DesiredAccess;
    (void)ObjectAttributes;
    (void)MaximumSize;
    (void)SectionPageProtection;
    (void)AllocationAttributes;
    (void)FileHandle;
    return nt_level_zw(__func__) ? STATUS_INSUFFICIENT_RESOURCES : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT NTSTATUS NTAPI ZwMapViewOfSection(HANDLE SectionHandle, HANDLE ProcessHandle,
                                            PVOID *BaseAddress, ULONG_PTR ZeroBits,
                                            SIZE_T CommitSize, PLARGE_INTEGER SectionOffset,
                                            PSIZE_T ViewSize, SECTION_INHERIT InheritDisposition,
                                            ULONG AllocationType, ULONG Win32Protect)
{
    NT_ENTER();
    (void)ProcessHandle;
    (void)BaseAddress;
    (void)ZeroBits;
    (void)CommitSize;
    (void)SectionOffset;
    (void)ViewSize;
    (void)InheritDisposition;
    (void)AllocationType;
    (void)Win32Protect;
    return no_file(SectionHandle, __func__);
}

NT_EXPORT NTSTATUS NTAPI ZwUnmapViewOfSection(HANDLE ProcessHandle, PVOID BaseAddress)
{
    NT_ENTER();
    (void)ProcessHandle;
    (void)BaseAddress;
    return nt_level_zw(__func__) ? STATUS_NOT_MAPPED_VIEW : STATUS_INVALID_DEVICE_REQUEST;
}

/* ---- device objects: a display miniport has none of its own ---- */

NT_EXPORT NTSTATUS NTAPI IoCreateDevice(PDRIVER_OBJECT DriverObject, ULONG DeviceExtensionSize,
                                        PUNICODE_STRING DeviceName, DEVICE_TYPE DeviceType,
                                        ULONG DeviceCharacteristics, BOOLEAN Exclusive,
                                        PDEVICE_OBJECT *DeviceObject)
{
    NT_ENTER();
    (void)DriverObject;
    (void)DeviceExtensionSize;
    (void)DeviceName;
    (void)DeviceType;
    (void)DeviceCharacteristics;
    (void)Exclusive;
    (void)DeviceObject;
    return nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) ? STATUS_NOT_SUPPORTED
                                                                    : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT VOID NTAPI IoDeleteDevice(PDEVICE_OBJECT DeviceObject)
{
    NT_ENTER();
    (void)DeviceObject;
    VIOLATION("NT-005", "%s of something that IoCreateDevice did not return", __func__);
}

NT_EXPORT NTSTATUS NTAPI IoCreateSymbolicLink(PUNICODE_STRING SymbolicLinkName,
                                              PUNICODE_STRING DeviceName)
{
    NT_ENTER();
    (void)SymbolicLinkName;
    (void)DeviceName;
    return nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) ? STATUS_SUCCESS
                                                                    : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT NTSTATUS NTAPI IoDeleteSymbolicLink(PUNICODE_STRING SymbolicLinkName)
{
    NT_ENTER();
    (void)SymbolicLinkName;
    return nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) ? STATUS_SUCCESS
                                                                    : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT PDEVICE_OBJECT NTAPI IoAttachDeviceToDeviceStack(PDEVICE_OBJECT SourceDevice,
                                                           PDEVICE_OBJECT TargetDevice)
{
    NT_ENTER();
    (void)SourceDevice;
    (void)TargetDevice;
    return NULL;
}

NT_EXPORT VOID NTAPI IoDetachDevice(PDEVICE_OBJECT TargetDevice)
{
    NT_ENTER();
    (void)TargetDevice;
}

/* There is no other driver to load. */
NT_EXPORT NTSTATUS NTAPI ZwLoadDriver(PUNICODE_STRING DriverServiceName)
{
    NT_ENTER();
    (void)DriverServiceName;
    return nt_level_zw(__func__) ? STATUS_OBJECT_NAME_NOT_FOUND : STATUS_INVALID_DEVICE_REQUEST;
}

/* No device is attached above, and a device object needs no reference to stay alive. */
NT_EXPORT PDEVICE_OBJECT NTAPI IoGetAttachedDeviceReference(PDEVICE_OBJECT DeviceObject)
{
    NT_ENTER();
    return DeviceObject;
}

/* ---- device interfaces: nobody looks for them ---- */

NT_EXPORT NTSTATUS NTAPI IoRegisterDeviceInterface(PDEVICE_OBJECT PhysicalDeviceObject,
                                                   const GUID *InterfaceClassGuid,
                                                   PUNICODE_STRING ReferenceString,
                                                   PUNICODE_STRING SymbolicLinkName)
{
    static const WCHAR prefix[] = L"\\??\\PCI#";
    UNICODE_STRING guid;
    struct nt_block *block;
    NTSTATUS status;

    NT_ENTER();
    (void)ReferenceString;
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) || !SymbolicLinkName ||
        !InterfaceClassGuid || !nt_device_object_known(PhysicalDeviceObject))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = RtlStringFromGUID(InterfaceClassGuid, &guid);
    if (!NT_SUCCESS(status))
        return status;
    block = nt_pool_take(sizeof(prefix) + guid.Length, 0x66746E49u /* "Intf" */, NT_POOL_PAGED,
                         true, NT_CALLER());
    if (block) {
        SymbolicLinkName->Buffer = (PWCH)(void *)block->address;
        SymbolicLinkName->MaximumLength = (USHORT)(sizeof(prefix) + guid.Length);
        SymbolicLinkName->Length = (USHORT)(SymbolicLinkName->MaximumLength - sizeof(WCHAR));
        memcpy(block->address, prefix, sizeof(prefix) - sizeof(WCHAR));
        memcpy(block->address + sizeof(prefix) - sizeof(WCHAR), guid.Buffer, guid.Length);
    }
    RtlFreeUnicodeString(&guid);
    return block ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

NT_EXPORT NTSTATUS NTAPI IoSetDeviceInterfaceState(PUNICODE_STRING SymbolicLinkName, BOOLEAN Enable)
{
    NT_ENTER();
    (void)Enable;
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    return SymbolicLinkName && SymbolicLinkName->Length ? STATUS_SUCCESS
                                                        : STATUS_OBJECT_NAME_NOT_FOUND;
}

/* Return an empty list: one terminator, which the caller frees. */
NT_EXPORT NTSTATUS NTAPI IoGetDeviceInterfaces(const GUID *InterfaceClassGuid,
                                               PDEVICE_OBJECT PhysicalDeviceObject, ULONG Flags,
                                               PZPWSTR *SymbolicLinkList)
{
    struct nt_block *block;

    NT_ENTER();
    (void)InterfaceClassGuid;
    (void)PhysicalDeviceObject;
    (void)Flags;
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) || !SymbolicLinkList)
        return STATUS_INVALID_DEVICE_REQUEST;
    block = nt_pool_take(2 * sizeof(WCHAR), 0x66746E49u, NT_POOL_PAGED, true, NT_CALLER());
    if (!block)
        return STATUS_INSUFFICIENT_RESOURCES;
    *SymbolicLinkList = (PZPWSTR)(void *)block->address;
    return STATUS_SUCCESS;
}

NT_EXPORT VOID NTAPI IoInvalidateDeviceRelations(PDEVICE_OBJECT DeviceObject,
                                                 DEVICE_RELATION_TYPE Type)
{
    NT_ENTER();
    (void)DeviceObject;
    (void)Type;
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
}

NT_EXPORT NTSTATUS NTAPI IoRegisterShutdownNotification(PDEVICE_OBJECT DeviceObject)
{
    NT_ENTER();
    (void)DeviceObject;
    return nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) ? STATUS_SUCCESS
                                                                    : STATUS_INVALID_DEVICE_REQUEST;
}

NT_EXPORT VOID NTAPI IoUnregisterShutdownNotification(PDEVICE_OBJECT DeviceObject)
{
    NT_ENTER();
    (void)DeviceObject;
    nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__);
}

/* ---- interrupts: the port driver connects them ---- */

NT_EXPORT NTSTATUS NTAPI IoConnectInterruptEx(PIO_CONNECT_INTERRUPT_PARAMETERS Parameters)
{
    NT_ENTER();
    (void)Parameters;
    nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__);
    return STATUS_NOT_SUPPORTED;
}

NT_EXPORT VOID NTAPI IoDisconnectInterruptEx(PIO_DISCONNECT_INTERRUPT_PARAMETERS Parameters)
{
    NT_ENTER();
    (void)Parameters;
    VIOLATION("NT-005", "%s without a connected interrupt", __func__);
}

NT_EXPORT BOOLEAN NTAPI KeSynchronizeExecution(PKINTERRUPT Interrupt,
                                               PKSYNCHRONIZE_ROUTINE SynchronizeRoutine,
                                               PVOID SynchronizeContext)
{
    NT_ENTER();
    (void)Interrupt;
    (void)SynchronizeRoutine;
    (void)SynchronizeContext;
    VIOLATION("NT-005", "%s without a connected interrupt", __func__);
    return FALSE;
}

NT_EXPORT KIRQL NTAPI KeAcquireInterruptSpinLock(PKINTERRUPT Interrupt)
{
    NT_ENTER();
    (void)Interrupt;
    VIOLATION("NT-005", "%s without a connected interrupt", __func__);
    return sim_irql();
}

NT_EXPORT VOID NTAPI KeReleaseInterruptSpinLock(PKINTERRUPT Interrupt, KIRQL OldIrql)
{
    NT_ENTER();
    (void)Interrupt;
    (void)OldIrql;
    VIOLATION("NT-005", "%s without a connected interrupt", __func__);
}

/* ---- paging of driver code: everything is resident ---- */

NT_EXPORT PVOID NTAPI MmLockPagableDataSection(PVOID AddressWithinSection)
{
    NT_ENTER();
    return nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__) ? AddressWithinSection : NULL;
}

NT_EXPORT VOID NTAPI MmUnlockPagableImageSection(PVOID ImageSectionHandle)
{
    NT_ENTER();
    (void)ImageSectionHandle;
    nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__);
}

NT_EXPORT PVOID NTAPI MmPageEntireDriver(PVOID AddressWithinSection)
{
    NT_ENTER();
    return nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__) ? AddressWithinSection : NULL;
}

/* ---- securing a client's memory: it can only go when the client frees it ---- */

NT_EXPORT PVOID NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode)
{
    NT_ENTER();
    (void)ProbeMode;
    if (!nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__) || Size == 0 ||
        nt_address_is_kernel(Address))
        return NULL;
    return Address;
}

NT_EXPORT VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle)
{
    NT_ENTER();
    nt_level(NT_APC, "THREAD-009", NT_NO_CODE, __func__);
    if (!SecureHandle)
        VIOLATION("NT-005", "%s of a NULL handle", __func__);
}

/* ---- the error log ---- */

NT_EXPORT PVOID NTAPI IoAllocateErrorLogEntry(PVOID IoObject, UCHAR EntrySize)
{
    struct nt_block *block;

    NT_ENTER();
    (void)IoObject;
    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, __func__);
    if (EntrySize < sizeof(IO_ERROR_LOG_PACKET))
        return NULL;
    block = nt_pool_take(EntrySize, ERROR_LOG_TAG, NT_POOL_NONPAGED, true, NT_CALLER());
    return block ? block->address : NULL;
}

static struct nt_block *log_entry(const void *entry, const char *routine)
{
    struct nt_block *block = nt_pool_find(entry);

    nt_level(NT_DISPATCH, "THREAD-009", NT_NO_CODE, routine);
    if (block && !block->freed && block->address == entry && block->tag == ERROR_LOG_TAG)
        return block;
    VIOLATION("NT-005", "%s of something that IoAllocateErrorLogEntry did not return", routine);
    return NULL;
}

NT_EXPORT VOID NTAPI IoWriteErrorLogEntry(PVOID ElEntry)
{
    struct nt_block *block;
    const IO_ERROR_LOG_PACKET *packet = ElEntry;

    NT_ENTER();
    block = log_entry(ElEntry, __func__);
    if (!block)
        return;
    NOTE("NT-164", "error log entry with code %#x and final status %s", (unsigned)packet->ErrorCode,
         nt_status_text(packet->FinalStatus).text);
    nt_pool_give(block);
}

NT_EXPORT VOID NTAPI IoFreeErrorLogEntry(PVOID ElEntry)
{
    struct nt_block *block;

    NT_ENTER();
    block = log_entry(ElEntry, __func__);
    if (block)
        nt_pool_give(block);
}

/* SPDX-License-Identifier: MIT */
/* A driver's source with names that Microsoft's samples use and other kernel headers lack. Compiled with every compiler. */
#include <ntddk.h>
#include <ntverp.h>
#include <dxgiformat.h>
#include <WppRecorder.h>
#include <dispmprt.h>

#ifdef __cplusplus
extern "C" {
#endif

__pragma(code_seg(push))

    C_ASSERT(sizeof(CM_PARTIAL_RESOURCE_DESCRIPTOR) == 20);
C_ASSERT(FIELD_OFFSET(CM_PARTIAL_RESOURCE_DESCRIPTOR, u.Connection.IdLowPart) == 8);
C_ASSERT(FIELD_OFFSET(CM_PARTIAL_RESOURCE_DESCRIPTOR, u.Connection.IdHighPart) == 12);
C_ASSERT(sizeof(DXGI_FORMAT) == 4 && DXGI_FORMAT_B8G8R8A8_UNORM == 87);
C_ASSERT(STATUS_DEVICE_HARDWARE_ERROR == (NTSTATUS)0xC0000483);
C_ASSERT(VIDEO_TDR_TIMEOUT_DETECTED == 0x117 && VIDEO_ENGINE_TIMEOUT_DETECTED == 0x141);
C_ASSERT(POOL_FLAG_NON_PAGED == 0x40 && POOL_FLAG_PAGED == 0x100);
C_ASSERT(sizeof(POOL_EXTENDED_PARAMETER) == 16);

ULONG NTAPI SampleConnections(const CM_RESOURCE_LIST *List, PULONGLONG Id);
NTSTATUS NTAPI SampleObjects(HANDLE Thread, PVOID *Object);
VOID NTAPI SampleRegisters(volatile ULONG *Registers, PULONG Buffer, ULONG Count);
PVOID NTAPI SampleMemory(PHYSICAL_ADDRESS Address, EX_SPIN_LOCK *Lock);
ULONGLONG NTAPI SampleTime(PVOID Lock);
VOID NTAPI SampleRecorder(VOID);

ULONG NTAPI SampleConnections(const CM_RESOURCE_LIST *List, PULONGLONG Id)
{
    const CM_PARTIAL_RESOURCE_LIST *parts = &List->List[0].PartialResourceList;
    ULONG found = 0;

    for (ULONG i = 0; i < min(parts->Count, 16u); i++) {
        const CM_PARTIAL_RESOURCE_DESCRIPTOR *part = &parts->PartialDescriptors[i];

        if (part->Type != CmResourceTypeConnection ||
            part->u.Connection.Class != CM_RESOURCE_CONNECTION_CLASS_SERIAL ||
            part->u.Connection.Type != CM_RESOURCE_CONNECTION_TYPE_SERIAL_I2C)
            continue;
        *Id = (ULONGLONG)part->u.Connection.IdHighPart << 32 | part->u.Connection.IdLowPart;
        found = max(found, i + 1);
    }
    return found;
}

NTSTATUS NTAPI SampleObjects(HANDLE Thread, PVOID *Object)
{
    return ObReferenceObjectByHandle(Thread, THREAD_ALL_ACCESS, *PsThreadType, KernelMode, Object,
                                     NULL);
}

VOID NTAPI SampleRegisters(volatile ULONG *Registers, PULONG Buffer, ULONG Count)
{
    READ_REGISTER_BUFFER_ULONG((PULONG)Registers, Buffer, Count);
    KeMemoryBarrier();
    WRITE_REGISTER_BUFFER_ULONG((PULONG)Registers, Buffer, Count);
}

PVOID NTAPI SampleMemory(PHYSICAL_ADDRESS Address, EX_SPIN_LOCK *Lock)
{
    KIRQL level = ExAcquireSpinLockShared(Lock);
    PVOID block = ExAllocatePool2(POOL_FLAG_NON_PAGED, PAGE_SIZE, 0x6C706D53);

    ExReleaseSpinLockShared(Lock, level);
    if (block)
        return block;
    return MmMapIoSpaceEx(Address, PAGE_SIZE, PAGE_READWRITE | PAGE_NOCACHE);
}

ULONGLONG NTAPI SampleTime(PVOID Lock)
{
    ULONG64 counter;

    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx((ULONG_PTR *)Lock, EX_DEFAULT_PUSH_LOCK_FLAGS);
    ExReleasePushLockExclusiveEx((ULONG_PTR *)Lock, EX_DEFAULT_PUSH_LOCK_FLAGS);
    KeLeaveCriticalRegion();
    return KeQueryInterruptTimePrecise(&counter) + VER_PRODUCTMAJORVERSION;
}

VOID NTAPI SampleRecorder(VOID)
{
    RECORDER_CONFIGURE_PARAMS parameters;

    RECORDER_CONFIGURE_PARAMS_INIT(&parameters);
    parameters.CreateDefaultLog = FALSE;
    WppRecorderConfigure(&parameters);
    WPP_RECORDER_LEVEL_FILTER(SAMPLE_FLAG) = FALSE;
}

__pragma(code_seg(pop))

#ifdef __cplusplus
}

/* As interfaces are written in drivers. */
struct SampleInterface {
    virtual NTSTATUS Start(PVOID Resources) = NULL;
};
#endif

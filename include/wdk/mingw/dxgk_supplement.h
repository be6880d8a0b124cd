/* SPDX-License-Identifier: MIT */
/*
 * Names that mingw-w64's <wdm.h> lacks for x64, or has wrong, and that sources of display drivers use. Included by the
 * <wdm.h> of this folder, behind the other one. Values and layouts are those of the tables in tests/abi.
 */
#ifndef DXGK_WDK_MINGW_SUPPLEMENT_H
#define DXGK_WDK_MINGW_SUPPLEMENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- processes: mingw-w64 has KAPC_STATE and the routines that attach in <ntifs.h> ---- */

#ifndef DXGK_HAS_PRKPROCESS
#define DXGK_HAS_PRKPROCESS
typedef struct _KPROCESS *PRKPROCESS;
#endif

/* ---- memory order ---- */

#ifndef KeMemoryBarrier
#define KeMemoryBarrier()             __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define KeMemoryBarrierWithoutFence() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif
#ifndef MemoryBarrier
#define MemoryBarrier() KeMemoryBarrier()
#endif

/* ---- registers ----
 * The block transfers of mingw-w64 take the register for the destination when they read, too: these replace them. */

#ifdef _AMD64_
#define DXGK_REGISTER_BLOCKS(Suffix, Type)                                                                         \
    FORCEINLINE VOID READ_REGISTER_BUFFER_##Suffix(volatile Type *Register, Type *Buffer, ULONG Count)             \
    {                                                                                                              \
        while (Count-- > 0)                                                                                        \
            *Buffer++ = *Register++;                                                                               \
    }                                                                                                              \
    FORCEINLINE VOID WRITE_REGISTER_BUFFER_##Suffix(volatile Type *Register, const Type *Buffer, ULONG Count)      \
    {                                                                                                              \
        while (Count-- > 0)                                                                                        \
            *Register++ = *Buffer++;                                                                               \
        KeMemoryBarrier();                                                                                         \
    }
DXGK_REGISTER_BLOCKS(UCHAR, UCHAR)
DXGK_REGISTER_BLOCKS(USHORT, USHORT)
DXGK_REGISTER_BLOCKS(ULONG, ULONG)
DXGK_REGISTER_BLOCKS(ULONG64, ULONG64)
#undef DXGK_REGISTER_BLOCKS

#ifndef READ_REGISTER_ULONG64
FORCEINLINE ULONG64 READ_REGISTER_ULONG64(volatile ULONG64 *Register)
{
    return *Register;
}
FORCEINLINE VOID WRITE_REGISTER_ULONG64(volatile ULONG64 *Register, ULONG64 Value)
{
    *Register = Value;
    KeMemoryBarrier();
}
#endif
#endif

/* ---- object types ----
 * What the kernel exports is a variable of type POBJECT_TYPE, and what a source names is a pointer to it. mingw-w64 declares the
 * pointer itself as imported: *PsThreadType would be the first member of the object type. */

extern DECLSPEC_IMPORT POBJECT_TYPE CmKeyObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE ExEventObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE ExSemaphoreObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE IoFileObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE PsProcessType;
extern DECLSPEC_IMPORT POBJECT_TYPE PsThreadType;
extern DECLSPEC_IMPORT POBJECT_TYPE SeTokenObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE TmEnlistmentObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE TmResourceManagerObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE TmTransactionManagerObjectType;
extern DECLSPEC_IMPORT POBJECT_TYPE TmTransactionObjectType;

#define CmKeyObjectType                (&CmKeyObjectType)
#define ExEventObjectType              (&ExEventObjectType)
#define ExSemaphoreObjectType          (&ExSemaphoreObjectType)
#define IoFileObjectType               (&IoFileObjectType)
#define PsProcessType                  (&PsProcessType)
#define PsThreadType                   (&PsThreadType)
#define SeTokenObjectType              (&SeTokenObjectType)
#define TmEnlistmentObjectType         (&TmEnlistmentObjectType)
#define TmResourceManagerObjectType    (&TmResourceManagerObjectType)
#define TmTransactionManagerObjectType (&TmTransactionManagerObjectType)
#define TmTransactionObjectType        (&TmTransactionObjectType)
#ifndef MmSectionObjectType
extern DECLSPEC_IMPORT POBJECT_TYPE MmSectionObjectType;
#define MmSectionObjectType (&MmSectionObjectType)
#endif

/* ---- pool ---- */

#ifndef POOL_FLAG_NON_PAGED
typedef ULONG64 POOL_FLAGS;

#define POOL_FLAG_USE_QUOTA         0x1ULL
#define POOL_FLAG_UNINITIALIZED     0x2ULL
#define POOL_FLAG_SESSION           0x4ULL
#define POOL_FLAG_CACHE_ALIGNED     0x8ULL
#define POOL_FLAG_RAISE_ON_FAILURE  0x20ULL
#define POOL_FLAG_NON_PAGED         0x40ULL
#define POOL_FLAG_NON_PAGED_EXECUTE 0x80ULL
#define POOL_FLAG_PAGED             0x100ULL
#define POOL_FLAG_REQUIRED_START    0x1ULL
#define POOL_FLAG_REQUIRED_END      0x80000000ULL
#define POOL_FLAG_OPTIONAL_START    0x100000000ULL
#define POOL_FLAG_SPECIAL_POOL      0x100000000ULL
#define POOL_FLAG_OPTIONAL_END      0x8000000000000000ULL

typedef enum _POOL_EXTENDED_PARAMETER_TYPE {
    PoolExtendedParameterInvalidType = 0,
    PoolExtendedParameterPriority = 1,
    PoolExtendedParameterSecurePool = 2,
    PoolExtendedParameterNumaNode = 3,
    PoolExtendedParameterMax = 4
} POOL_EXTENDED_PARAMETER_TYPE, *PPOOL_EXTENDED_PARAMETER_TYPE;

typedef ULONG POOL_NODE_REQUIREMENT;

typedef struct _POOL_EXTENDED_PARAMS_SECURE_POOL {
    HANDLE SecurePoolHandle;
    PVOID Buffer;
    ULONG_PTR Cookie;
    ULONG SecurePoolFlags;
} POOL_EXTENDED_PARAMS_SECURE_POOL, *PPOOL_EXTENDED_PARAMS_SECURE_POOL;

typedef struct _POOL_EXTENDED_PARAMETER {
    ULONG64 Type : 8;
    ULONG64 Optional : 1;
    ULONG64 Reserved : 55;
    union {
        ULONG64 Reserved2;
        PVOID Reserved3;
        EX_POOL_PRIORITY Priority;
        POOL_EXTENDED_PARAMS_SECURE_POOL *SecurePoolParams;
        POOL_NODE_REQUIREMENT PreferredNode;
    };
} POOL_EXTENDED_PARAMETER, *PPOOL_EXTENDED_PARAMETER;
typedef const POOL_EXTENDED_PARAMETER *PCPOOL_EXTENDED_PARAMETER;

NTKERNELAPI PVOID NTAPI ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag);
NTKERNELAPI PVOID NTAPI ExAllocatePool3(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag,
                                        PCPOOL_EXTENDED_PARAMETER ExtendedParameters,
                                        ULONG ExtendedParametersCount);
NTKERNELAPI VOID NTAPI ExFreePool2(PVOID P, ULONG Tag, PCPOOL_EXTENDED_PARAMETER ExtendedParameters,
                                   ULONG ExtendedParametersCount);
#endif

/* The older names of what ExAllocatePool2 does: memory as it was, and zeroed memory. */
FORCEINLINE PVOID ExAllocatePoolUninitialized(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    return ExAllocatePoolWithTag(PoolType, NumberOfBytes, Tag);
}
FORCEINLINE PVOID ExAllocatePoolZero(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
{
    PVOID memory = ExAllocatePoolWithTag(PoolType, NumberOfBytes, Tag);

    if (memory)
        RtlZeroMemory(memory, NumberOfBytes);
    return memory;
}

/* ---- locks ---- */

#ifndef EX_DEFAULT_PUSH_LOCK_FLAGS
#define EX_DEFAULT_PUSH_LOCK_FLAGS 0
NTKERNELAPI VOID NTAPI ExAcquirePushLockExclusiveEx(ULONG_PTR *PushLock, ULONG Flags);
NTKERNELAPI VOID NTAPI ExAcquirePushLockSharedEx(ULONG_PTR *PushLock, ULONG Flags);
NTKERNELAPI VOID NTAPI ExReleasePushLockExclusiveEx(ULONG_PTR *PushLock, ULONG Flags);
NTKERNELAPI VOID NTAPI ExReleasePushLockSharedEx(ULONG_PTR *PushLock, ULONG Flags);
#define ExAcquirePushLockExclusive(Lock) ExAcquirePushLockExclusiveEx(Lock, EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExAcquirePushLockShared(Lock)    ExAcquirePushLockSharedEx(Lock, EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExReleasePushLockExclusive(Lock) ExReleasePushLockExclusiveEx(Lock, EX_DEFAULT_PUSH_LOCK_FLAGS)
#define ExReleasePushLockShared(Lock)    ExReleasePushLockSharedEx(Lock, EX_DEFAULT_PUSH_LOCK_FLAGS)
#endif

typedef volatile LONG EX_SPIN_LOCK, *PEX_SPIN_LOCK;

NTKERNELAPI KIRQL NTAPI ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI KIRQL NTAPI ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock);

/* ---- memory, time, requests ---- */

NTKERNELAPI PVOID NTAPI MmMapIoSpaceEx(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                                       ULONG Protect);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousNodeMemory(
    SIZE_T NumberOfBytes, PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress, PHYSICAL_ADDRESS BoundaryAddressMultiple,
    ULONG Protect, ULONG PreferredNode);
/* There with an enumeration for Priority, which takes flags as well: C++ refuses a sum of both. */
NTKERNELAPI PVOID NTAPI MmMapLockedPagesSpecifyCache(PMDL MemoryDescriptorList,
                                                     KPROCESSOR_MODE AccessMode,
                                                     MEMORY_CACHING_TYPE CacheType,
                                                     PVOID RequestedAddress, ULONG BugCheckOnFailure,
                                                     ULONG Priority);
#ifndef MdlMappingNoWrite
#define MdlMappingNoWrite   0x80000000
#define MdlMappingNoExecute 0x40000000
#endif
NTKERNELAPI ULONGLONG NTAPI KeQueryInterruptTimePrecise(PULONG64 QpcTimeStamp);
NTKERNELAPI VOID NTAPI KeQuerySystemTimePrecise(PLARGE_INTEGER CurrentTime);
NTKERNELAPI NTSTATUS NTAPI IoSynchronousCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp);
NTKERNELAPI NTSTATUS NTAPI ObCloseHandle(HANDLE Handle, KPROCESSOR_MODE PreviousMode);

#ifndef _NTOSP_
NTSYSAPI NTSTATUS NTAPI ZwQuerySystemInformation(ULONG SystemInformationClass,
                                                 PVOID SystemInformation,
                                                 ULONG SystemInformationLength,
                                                 PULONG ReturnLength);
#endif

/* ---- the power management framework: mingw-w64 describes components, and no devices ---- */

#ifndef PO_FX_FLAG_BLOCKING
#define PO_FX_FLAG_BLOCKING   0x1
#define PO_FX_FLAG_ASYNC_ONLY 0x2
#define PO_FX_UNKNOWN_POWER   0xFFFFFFFFU
#define PO_FX_UNKNOWN_TIME    0xFFFFFFFFFFFFFFFFULL

typedef VOID NTAPI PO_FX_DEVICE_POWER_REQUIRED_CALLBACK(PVOID Context);
typedef PO_FX_DEVICE_POWER_REQUIRED_CALLBACK *PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK;
typedef VOID NTAPI PO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK(PVOID Context);
typedef PO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK *PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK;

typedef struct _PO_FX_DEVICE_V1 {
    ULONG Version;
    ULONG ComponentCount;
    PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK ComponentActiveConditionCallback;
    PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK ComponentIdleConditionCallback;
    PPO_FX_COMPONENT_IDLE_STATE_CALLBACK ComponentIdleStateCallback;
    PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK DevicePowerRequiredCallback;
    PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK DevicePowerNotRequiredCallback;
    PPO_FX_POWER_CONTROL_CALLBACK PowerControlCallback;
    PVOID DeviceContext;
    PO_FX_COMPONENT_V1 Components[1];
} PO_FX_DEVICE_V1, *PPO_FX_DEVICE_V1;

typedef struct _PO_FX_DEVICE_V2 {
    ULONG Version;
    ULONGLONG Flags;
    PPO_FX_COMPONENT_ACTIVE_CONDITION_CALLBACK ComponentActiveConditionCallback;
    PPO_FX_COMPONENT_IDLE_CONDITION_CALLBACK ComponentIdleConditionCallback;
    PPO_FX_COMPONENT_IDLE_STATE_CALLBACK ComponentIdleStateCallback;
    PPO_FX_DEVICE_POWER_REQUIRED_CALLBACK DevicePowerRequiredCallback;
    PPO_FX_DEVICE_POWER_NOT_REQUIRED_CALLBACK DevicePowerNotRequiredCallback;
    PPO_FX_POWER_CONTROL_CALLBACK PowerControlCallback;
    PVOID DeviceContext;
    ULONG ComponentCount;
    PO_FX_COMPONENT_V2 Components[1];
} PO_FX_DEVICE_V2, *PPO_FX_DEVICE_V2;

#if PO_FX_VERSION == PO_FX_VERSION_V1
typedef PO_FX_DEVICE_V1 PO_FX_DEVICE, *PPO_FX_DEVICE;
#else
typedef PO_FX_DEVICE_V2 PO_FX_DEVICE, *PPO_FX_DEVICE;
#endif

NTKERNELAPI NTSTATUS NTAPI PoFxRegisterDevice(
    PDEVICE_OBJECT Pdo, PPO_FX_DEVICE Device, POHANDLE *Handle);
NTKERNELAPI VOID NTAPI PoFxUnregisterDevice(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxStartDevicePowerManagement(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxActivateComponent(POHANDLE Handle, ULONG Component, ULONG Flags);
NTKERNELAPI VOID NTAPI PoFxIdleComponent(POHANDLE Handle, ULONG Component, ULONG Flags);
NTKERNELAPI VOID NTAPI PoFxCompleteIdleCondition(POHANDLE Handle, ULONG Component);
NTKERNELAPI VOID NTAPI PoFxCompleteIdleState(POHANDLE Handle, ULONG Component);
NTKERNELAPI VOID NTAPI PoFxCompleteDevicePowerNotRequired(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxReportDevicePoweredOn(POHANDLE Handle);
NTKERNELAPI VOID NTAPI PoFxSetComponentLatency(POHANDLE Handle, ULONG Component, ULONGLONG Latency);
NTKERNELAPI VOID NTAPI PoFxSetComponentResidency(
    POHANDLE Handle, ULONG Component, ULONGLONG Residency);
NTKERNELAPI VOID NTAPI PoFxSetDeviceIdleTimeout(POHANDLE Handle, ULONGLONG IdleTimeout);

#endif

/* ---- codes of bug checks and reports ---- */

#ifndef VIDEO_TDR_TIMEOUT_DETECTED
#define VIDEO_MEMORY_MANAGEMENT_INTERNAL ((ULONG)0x10E)
#define VIDEO_DXGKRNL_FATAL_ERROR        ((ULONG)0x113)
#define VIDEO_SHADOW_DRIVER_FATAL_ERROR  ((ULONG)0x114)
#define VIDEO_TDR_FAILURE                ((ULONG)0x116)
#define VIDEO_TDR_TIMEOUT_DETECTED       ((ULONG)0x117)
#define VIDEO_SCHEDULER_INTERNAL_ERROR   ((ULONG)0x119)
#define VIDEO_ENGINE_TIMEOUT_DETECTED    ((ULONG)0x141)
#define VIDEO_TDR_APPLICATION_BLOCKED    ((ULONG)0x142)
#endif

/* ---- floating point: x64 keeps its state for whoever uses it ---- */

#ifdef _AMD64_
FORCEINLINE NTSTATUS KeSaveFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    (void)FloatSave;
    return STATUS_SUCCESS;
}
FORCEINLINE NTSTATUS KeRestoreFloatingPointState(PKFLOATING_SAVE FloatSave)
{
    (void)FloatSave;
    return STATUS_SUCCESS;
}
#endif

/* ---- status codes ---- */

#ifndef STATUS_ALREADY_COMPLETE
#define STATUS_ALREADY_COMPLETE ((NTSTATUS)0x000000FF)
#endif
#ifndef STATUS_INVALID_TOKEN
#define STATUS_INVALID_TOKEN ((NTSTATUS)0xC0000465)
#endif
#ifndef STATUS_DEVICE_INSUFFICIENT_RESOURCES
#define STATUS_DEVICE_INSUFFICIENT_RESOURCES ((NTSTATUS)0xC0000468)
#endif
#ifndef STATUS_DEVICE_HARDWARE_ERROR
#define STATUS_DEVICE_HARDWARE_ERROR ((NTSTATUS)0xC0000483)
#endif
#ifndef STATUS_JOB_NO_CONTAINER
#define STATUS_JOB_NO_CONTAINER ((NTSTATUS)0xC0000509)
#endif
#ifndef STATUS_GRAPHICS_SKIP_ALLOCATION_PREPARATION
#define STATUS_GRAPHICS_SKIP_ALLOCATION_PREPARATION     ((NTSTATUS)0x401E0201)
#define STATUS_GRAPHICS_DEPENDABLE_CHILD_STATUS         ((NTSTATUS)0x401E043C)
#define STATUS_GRAPHICS_LINK_CONFIGURATION_IN_PROGRESS  ((NTSTATUS)0x801E0000)
#define STATUS_GRAPHICS_WINDOWDC_NOT_AVAILABLE          ((NTSTATUS)0xC01E000D)
#define STATUS_GRAPHICS_WINDOWLESS_PRESENT_DISABLED     ((NTSTATUS)0xC01E000E)
#define STATUS_GRAPHICS_PRESENT_INVALID_WINDOW          ((NTSTATUS)0xC01E000F)
#define STATUS_GRAPHICS_PRESENT_BUFFER_NOT_BOUND        ((NTSTATUS)0xC01E0010)
#define STATUS_GRAPHICS_VAIL_STATE_CHANGED              ((NTSTATUS)0xC01E0011)
#define STATUS_GRAPHICS_INDIRECT_DISPLAY_ABANDON_SWAPCHAIN ((NTSTATUS)0xC01E0012)
#define STATUS_GRAPHICS_INDIRECT_DISPLAY_DEVICE_STOPPED ((NTSTATUS)0xC01E0013)
#define STATUS_GRAPHICS_MPO_ALLOCATION_UNPINNED         ((NTSTATUS)0xC01E0018)
#endif

/* ---- resources: connections to serial buses and pins; the member u.Connection is put in by the <wdm.h> of this folder ---- */

#ifndef CmResourceTypeConnection
#define CmResourceTypeConnection                     132
#define CM_RESOURCE_CONNECTION_CLASS_GPIO            0x1
#define CM_RESOURCE_CONNECTION_CLASS_SERIAL          0x2
#define CM_RESOURCE_CONNECTION_CLASS_FUNCTION_CONFIG 0x3
#define CM_RESOURCE_CONNECTION_TYPE_GPIO_IO          0x2
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_I2C       0x1
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_SPI       0x2
#define CM_RESOURCE_CONNECTION_TYPE_SERIAL_UART      0x3
#define CM_RESOURCE_CONNECTION_TYPE_FUNCTION_CONFIG  0x1
#endif

/* ---- what Microsoft's compiler has, and gcc has not ---- */

#ifndef __clang__
#ifndef __pragma
#define __pragma(...)
#endif
#ifndef _ReturnAddress
#define _ReturnAddress() __builtin_return_address(0)
#endif
#endif

#ifdef __cplusplus
}
#endif

/* Zero also where a compiler's own is no constant 0: drivers write virtual functions "= NULL". */
#ifdef __cplusplus
#undef NULL
#define NULL 0
#endif

#endif /* DXGK_WDK_MINGW_SUPPLEMENT_H */

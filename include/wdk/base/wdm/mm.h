/* SPDX-License-Identifier: MIT */
/* Memory: MDLs, physical and contiguous memory, mappings of device memory, page protections. */
#ifndef DXGK_WDK_WDM_MM_H
#define DXGK_WDK_WDM_MM_H

#include "ex.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PAGE_SHIFT 12
#define PAGE_SIZE  0x1000
typedef ULONG64 PFN_NUMBER, *PPFN_NUMBER;
typedef LONG64 SPFN_NUMBER, *PSPFN_NUMBER;

#define BYTE_OFFSET(Va) ((ULONG)((ULONG_PTR)(Va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(Va) ((PVOID)((ULONG_PTR)(Va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
#define ROUND_TO_PAGES(Size) (((ULONG_PTR)(Size) + PAGE_SIZE - 1) & ~(ULONG_PTR)(PAGE_SIZE - 1))
#define BYTES_TO_PAGES(Size)                                                                       \
    (((Size) >> PAGE_SHIFT) + (((Size) & (PAGE_SIZE - 1)) != 0))
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(Va, Size)                                                   \
    ((ULONG)((BYTE_OFFSET(Va) + ((SIZE_T)(Size)) + (PAGE_SIZE - 1)) >> PAGE_SHIFT))
#define COMPUTE_PAGES_SPANNED(Va, Size) ADDRESS_AND_SIZE_TO_SPAN_PAGES(Va, Size)

typedef enum _LOCK_OPERATION {
    IoReadAccess = 0,
    IoWriteAccess = 1,
    IoModifyAccess = 2,
} LOCK_OPERATION, *PLOCK_OPERATION;

typedef enum _MEMORY_CACHING_TYPE_ORIG {
    MmFrameBufferCached = 2,
} MEMORY_CACHING_TYPE_ORIG, *PMEMORY_CACHING_TYPE_ORIG;

typedef enum _MEMORY_CACHING_TYPE {
    MmNonCached = 0,
    MmCached = 1,
    MmWriteCombined = 2,
    MmHardwareCoherentCached = 3,
    MmNonCachedUnordered = 4,
    MmUSWCCached = 5,
    MmMaximumCacheType = 6,
    MmNotMapped = -1,
} MEMORY_CACHING_TYPE, *PMEMORY_CACHING_TYPE;

typedef enum _MM_PAGE_PRIORITY {
    LowPagePriority = 0,
    NormalPagePriority = 16,
    HighPagePriority = 32,
} MM_PAGE_PRIORITY, *PMM_PAGE_PRIORITY;

typedef enum _MM_SYSTEMSIZE {
    MmSmallSystem = 0,
    MmMediumSystem = 1,
    MmLargeSystem = 2,
} MM_SYSTEMSIZE, *PMM_SYSTEMSIZE;

typedef enum _SECTION_INHERIT {
    ViewShare = 1,
    ViewUnmap = 2,
} SECTION_INHERIT, *PSECTION_INHERIT;

#define PAGE_ENCLAVE_DECOMMIT           0x10000000
#define PAGE_ENCLAVE_MASK               0x10000000
#define PAGE_ENCLAVE_NO_CHANGE          0x20000000
#define PAGE_ENCLAVE_SS_FIRST           0x10000001
#define PAGE_ENCLAVE_SS_REST            0x10000002
#define PAGE_ENCLAVE_THREAD_CONTROL     0x80000000U
#define PAGE_ENCLAVE_UNVALIDATED        0x20000000
#define PAGE_EXECUTE                    0x10
#define PAGE_EXECUTE_READ               0x20
#define PAGE_EXECUTE_READWRITE          0x40
#define PAGE_EXECUTE_WRITECOPY          0x80
#define PAGE_GRAPHICS_COHERENT          0x20000
#define PAGE_GRAPHICS_EXECUTE           0x4000
#define PAGE_GRAPHICS_EXECUTE_READ      0x8000
#define PAGE_GRAPHICS_EXECUTE_READWRITE 0x10000
#define PAGE_GRAPHICS_NOACCESS          0x800
#define PAGE_GRAPHICS_NOCACHE           0x40000
#define PAGE_GRAPHICS_READONLY          0x1000
#define PAGE_GRAPHICS_READWRITE         0x2000
#define PAGE_GUARD                      0x100
#define PAGE_NOACCESS                   0x1
#define PAGE_NOCACHE                    0x200
#define PAGE_READONLY                   0x2
#define PAGE_READWRITE                  0x4
#define PAGE_REVERT_TO_FILE_MAP         0x80000000U
#define PAGE_TARGETS_INVALID            0x40000000
#define PAGE_TARGETS_NO_UPDATE          0x40000000
#define PAGE_WRITECOMBINE               0x400
#define PAGE_WRITECOPY                  0x8

#define MEM_4MB_PAGES                              0x80000000U
#define MEM_COMMIT                                 0x1000
#define MEM_DECOMMIT                               0x4000
#define MEM_DEDICATED_ATTRIBUTE_NOT_SPECIFIED      0xFFFFFFFFFFFFFFFFULL
#define MEM_EXTENDED_PARAMETER_EC_CODE             0x40
#define MEM_EXTENDED_PARAMETER_GRAPHICS            0x1
#define MEM_EXTENDED_PARAMETER_IMAGE_NO_HPAT       0x80
#define MEM_EXTENDED_PARAMETER_NONPAGED            0x2
#define MEM_EXTENDED_PARAMETER_NONPAGED_HUGE       0x10
#define MEM_EXTENDED_PARAMETER_NONPAGED_LARGE      0x8
#define MEM_EXTENDED_PARAMETER_NUMA_NODE_MANDATORY ((long long)0x8000000000000000ULL)
#define MEM_EXTENDED_PARAMETER_SOFT_FAULT_PAGES    0x20
#define MEM_EXTENDED_PARAMETER_TYPE_BITS           8
#define MEM_EXTENDED_PARAMETER_ZERO_PAGES_OPTIONAL 0x4
#define MEM_FREE                                   0x10000
#define MEM_LARGE_PAGES                            0x20000000
#define MEM_MAPPED                                 0x40000
#define MEM_PRIVATE                                0x20000
#define MEM_RELEASE                                0x8000
#define MEM_RESERVE                                0x2000
#define MEM_RESET                                  0x80000
#define MEM_RESET_UNDO                             0x1000000
#define MEM_TOP_DOWN                               0x100000

#define SEC_64K_PAGES        0x80000
#define SEC_COMMIT           0x8000000
#define SEC_FILE             0x800000
#define SEC_HUGE_PAGES       0x20000
#define SEC_IMAGE            0x1000000
#define SEC_IMAGE_NO_EXECUTE 0x11000000
#define SEC_LARGE_PAGES      0x80000000U
#define SEC_NOCACHE          0x10000000
#define SEC_RESERVE          0x4000000

#define SECTION_ALL_ACCESS           0xF001F
#define SECTION_EXTEND_SIZE          0x10
#define SECTION_MAP_EXECUTE          0x8
#define SECTION_MAP_EXECUTE_EXPLICIT 0x20
#define SECTION_MAP_READ             0x4
#define SECTION_MAP_WRITE            0x2
#define SECTION_QUERY                0x1

#define MM_ALLOCATE_AND_HOT_REMOVE             0x100
#define MM_ALLOCATE_FAST_LARGE_PAGES           0x40
#define MM_ALLOCATE_FROM_LOCAL_NODE_ONLY       0x2
#define MM_ALLOCATE_FULLY_REQUIRED             0x4
#define MM_ALLOCATE_NO_WAIT                    0x8
#define MM_ALLOCATE_PREFER_CONTIGUOUS          0x10
#define MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS  0x20
#define MM_ALLOCATE_TRIM_IF_NECESSARY          0x80
#define MM_DONT_ZERO_ALLOCATION                0x1
#define MM_DUMP_MAP_CACHED                     0x1
#define MM_DUMP_MAP_INVALIDATE                 0x2
#define MM_FREE_MDL_PAGES_ZERO                 0x1
#define MM_MAPPING_ADDRESS_DIVISIBLE           0x1
#define MM_MAXIMUM_DISK_IO_SIZE                0x10000
#define MM_PERMANENT_ADDRESS_IS_IO_SPACE       0x1
#define MM_PROTECT_DRIVER_SECTION_ALLOW_UNLOAD 0x1
#define MM_PROTECT_DRIVER_SECTION_VALID_FLAGS  1

#define MM_ADD_PHYSICAL_MEMORY_ALREADY_ZEROED                0x1
#define MM_ADD_PHYSICAL_MEMORY_HUGE_PAGES_ONLY               0x4
#define MM_ADD_PHYSICAL_MEMORY_LARGE_PAGES_ONLY              0x2
#define MM_ALLOCATE_CONTIGUOUS_MEMORY_FAST_ONLY              0x1
#define MM_ANY_NODE_OK                                       0x80000000U
#define MM_COPY_MEMORY_PHYSICAL                              0x1
#define MM_COPY_MEMORY_VIRTUAL                               0x2
#define MM_GET_CACHE_ATTRIBUTE_IO_SPACE                      0x1
#define MM_GET_PHYSICAL_MEMORY_RANGES_INCLUDE_ALL_PARTITIONS 0x2
#define MM_GET_PHYSICAL_MEMORY_RANGES_INCLUDE_FILE_ONLY      0x1
#define MM_REMOVE_PHYSICAL_MEMORY_BAD_ONLY                   0x1
#define MM_SECURE_EXCLUSIVE                                  0x1
#define MM_SECURE_NO_CHANGE                                  0x2
#define MM_SECURE_NO_INHERIT                                 0x8
#define MM_SECURE_USER_MODE_ONLY                             0x4
#define MM_SYSTEM_VIEW_EXCEPTIONS_FOR_INPAGE_ERRORS          0x1

/* --- MDLs --------------------------------------------------------------------------------- */

/* The page frame numbers of the described pages follow the MDL in memory. */
typedef struct _MDL {
    struct _MDL *Next;
    CSHORT Size;
    CSHORT MdlFlags;
    struct _EPROCESS *Process;
    PVOID MappedSystemVa;
    PVOID StartVa;
    ULONG ByteCount;
    ULONG ByteOffset;
} MDL, *PMDL, *PMDLX;

#define MDL_MAPPED_TO_SYSTEM_VA     0x1
#define MDL_PAGES_LOCKED            0x2
#define MDL_SOURCE_IS_NONPAGED_POOL 0x4
#define MDL_ALLOCATED_FIXED_SIZE    0x8
#define MDL_PARTIAL                 0x10
#define MDL_PARTIAL_HAS_BEEN_MAPPED 0x20
#define MDL_IO_PAGE_READ            0x40
#define MDL_WRITE_OPERATION         0x80
#define MDL_LOCKED_PAGE_TABLES      0x100
#define MDL_PARENT_MAPPED_SYSTEM_VA 256
#define MDL_FREE_EXTRA_PTES         0x200
#define MDL_DESCRIBES_AWE           0x400
#define MDL_IO_SPACE                0x800
#define MDL_NETWORK_HEADER          0x1000
#define MDL_MAPPING_CAN_FAIL        0x2000
#define MDL_ALLOCATED_MUST_SUCCEED  16384
#define MDL_PAGE_CONTENTS_INVARIANT 0x4000
#define MDL_INTERNAL                0x8000

#define MmGetMdlByteCount(Mdl) ((Mdl)->ByteCount)
#define MmGetMdlByteOffset(Mdl) ((Mdl)->ByteOffset)
#define MmGetMdlVirtualAddress(Mdl) ((PVOID)((PCHAR)((Mdl)->StartVa) + (Mdl)->ByteOffset))
#define MmGetMdlBaseVa(Mdl) ((Mdl)->StartVa)
#define MmGetMdlPfnArray(Mdl) ((PPFN_NUMBER)((Mdl) + 1))
#define MmInitializeMdl(MemoryDescriptorList, BaseVa, Length)                                      \
    do {                                                                                           \
        (MemoryDescriptorList)->Next = NULL;                                                       \
        (MemoryDescriptorList)->Size =                                                             \
            (CSHORT)(sizeof(MDL) + sizeof(PFN_NUMBER) *                                            \
                                       ADDRESS_AND_SIZE_TO_SPAN_PAGES(BaseVa, Length));            \
        (MemoryDescriptorList)->MdlFlags = 0;                                                      \
        (MemoryDescriptorList)->StartVa = PAGE_ALIGN(BaseVa);                                      \
        (MemoryDescriptorList)->ByteOffset = BYTE_OFFSET(BaseVa);                                  \
        (MemoryDescriptorList)->ByteCount = (ULONG)(Length);                                       \
    } while (0)

NTKERNELAPI VOID NTAPI MmBuildMdlForNonPagedPool(PMDLX MemoryDescriptorList);
NTKERNELAPI VOID NTAPI MmProbeAndLockPages(
    PMDLX MemoryDescriptorList, KPROCESSOR_MODE AccessMode, LOCK_OPERATION Operation);
NTKERNELAPI VOID NTAPI MmUnlockPages(PMDLX MemoryDescriptorList);
NTKERNELAPI PVOID NTAPI MmMapLockedPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode);
/* Flags beside the Priority of a mapping. */
#define MdlMappingNoWrite         0x80000000
#define MdlMappingNoExecute       0x40000000
#define MdlMappingWithGuardPtes   0x20000000

NTKERNELAPI PVOID NTAPI MmMapLockedPagesSpecifyCache(
    PMDLX MemoryDescriptorList,
    KPROCESSOR_MODE AccessMode,
    MEMORY_CACHING_TYPE CacheType,
    PVOID RequestedAddress,
    ULONG BugCheckOnFailure,
    ULONG Priority);
NTKERNELAPI VOID NTAPI MmUnmapLockedPages(PVOID BaseAddress, PMDLX MemoryDescriptorList);
NTKERNELAPI NTSTATUS NTAPI MmProtectMdlSystemAddress(PMDLX MemoryDescriptorList, ULONG NewProtect);
NTKERNELAPI SIZE_T NTAPI MmSizeOfMdl(PVOID Base, SIZE_T Length);
NTKERNELAPI PMDL NTAPI MmAllocatePagesForMdl(
    PHYSICAL_ADDRESS LowAddress,
    PHYSICAL_ADDRESS HighAddress,
    PHYSICAL_ADDRESS SkipBytes,
    SIZE_T TotalBytes);
NTKERNELAPI PMDL NTAPI MmAllocatePagesForMdlEx(
    PHYSICAL_ADDRESS LowAddress,
    PHYSICAL_ADDRESS HighAddress,
    PHYSICAL_ADDRESS SkipBytes,
    SIZE_T TotalBytes,
    MEMORY_CACHING_TYPE CacheType,
    ULONG Flags);
NTKERNELAPI VOID NTAPI MmFreePagesFromMdl(PMDLX MemoryDescriptorList);

DXGK_INLINE PVOID MmGetSystemAddressForMdlSafe(PMDL Mdl, ULONG Priority)
{
    if (Mdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL)) {
        return Mdl->MappedSystemVa;
    }
    return MmMapLockedPagesSpecifyCache(Mdl, KernelMode, MmCached, NULL, FALSE, Priority);
}

/* --- Physical memory ---------------------------------------------------------------------- */

typedef struct _PHYSICAL_MEMORY_RANGE {
    PHYSICAL_ADDRESS BaseAddress;
    LARGE_INTEGER NumberOfBytes;
} PHYSICAL_MEMORY_RANGE, *PPHYSICAL_MEMORY_RANGE;

typedef struct _MM_PHYSICAL_ADDRESS_LIST {
    PHYSICAL_ADDRESS PhysicalAddress;
    SIZE_T NumberOfBytes;
} MM_PHYSICAL_ADDRESS_LIST, *PMM_PHYSICAL_ADDRESS_LIST;

typedef struct _MEMORY_PARTITION_DEDICATED_MEMORY_OPEN_INFORMATION {
    ULONG64 DedicatedMemoryTypeId;
    ULONG HandleAttributes;
    ACCESS_MASK DesiredAccess;
    HANDLE DedicatedMemoryPartitionHandle;
} MEMORY_PARTITION_DEDICATED_MEMORY_OPEN_INFORMATION;
typedef MEMORY_PARTITION_DEDICATED_MEMORY_OPEN_INFORMATION
    *PMEMORY_PARTITION_DEDICATED_MEMORY_OPEN_INFORMATION;

NTKERNELAPI PHYSICAL_ADDRESS NTAPI MmGetPhysicalAddress(PVOID BaseAddress);
NTKERNELAPI PVOID NTAPI MmGetVirtualForPhysical(PHYSICAL_ADDRESS PhysicalAddress);
NTKERNELAPI PPHYSICAL_MEMORY_RANGE NTAPI MmGetPhysicalMemoryRanges(void);
NTKERNELAPI BOOLEAN NTAPI MmIsAddressValid(PVOID VirtualAddress);

NTKERNELAPI PVOID NTAPI MmMapIoSpace(
    PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes, MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI PVOID NTAPI MmMapIoSpaceEx(
    PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes, ULONG Protect);
NTKERNELAPI VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes);

NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemory(
    SIZE_T NumberOfBytes, PHYSICAL_ADDRESS HighestAcceptableAddress);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(
    SIZE_T NumberOfBytes,
    PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress,
    PHYSICAL_ADDRESS BoundaryAddressMultiple,
    MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousMemorySpecifyCacheNode(
    SIZE_T NumberOfBytes,
    PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress,
    PHYSICAL_ADDRESS BoundaryAddressMultiple,
    MEMORY_CACHING_TYPE CacheType,
    ULONG PreferredNode);
NTKERNELAPI PVOID NTAPI MmAllocateContiguousNodeMemory(
    SIZE_T NumberOfBytes,
    PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress,
    PHYSICAL_ADDRESS BoundaryAddressMultiple,
    ULONG Protect,
    ULONG PreferredNode);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress);
NTKERNELAPI VOID NTAPI MmFreeContiguousMemorySpecifyCache(
    PVOID BaseAddress, SIZE_T NumberOfBytes, MEMORY_CACHING_TYPE CacheType);
NTKERNELAPI PVOID NTAPI MmAllocateNonCachedMemory(SIZE_T NumberOfBytes);
NTKERNELAPI VOID NTAPI MmFreeNonCachedMemory(PVOID BaseAddress, SIZE_T NumberOfBytes);

NTKERNELAPI PVOID NTAPI MmSecureVirtualMemory(PVOID Address, SIZE_T Size, ULONG ProbeMode);
NTKERNELAPI VOID NTAPI MmUnsecureVirtualMemory(HANDLE SecureHandle);
NTKERNELAPI PVOID NTAPI MmGetSystemRoutineAddress(PUNICODE_STRING SystemRoutineName);
NTKERNELAPI PVOID NTAPI MmLockPagableDataSection(PVOID AddressWithinSection);
NTKERNELAPI VOID NTAPI MmUnlockPagableImageSection(PVOID ImageSectionHandle);
NTKERNELAPI PVOID NTAPI MmPageEntireDriver(PVOID AddressWithinSection);
#define MmLockPagableCodeSection(Address) MmLockPagableDataSection((PVOID)(Address))

extern NTKERNELAPI ULONG_PTR MmUserProbeAddress;
extern NTKERNELAPI PVOID MmHighestUserAddress;
extern NTKERNELAPI PVOID MmSystemRangeStart;
#define MM_USER_PROBE_ADDRESS MmUserProbeAddress

#define KeFlushIoBuffers(Mdl, ReadOperation, DmaOperation) ((void)0)

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_MM_H */

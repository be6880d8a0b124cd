/* SPDX-License-Identifier: MIT */
/* What the reference driver does not import: routines that go around the IOMMU, and one that does not. Nothing calls them. */
#include <ntddk.h>

typedef void routine(void);

#ifdef _WIN32
#define KEPT __declspec(dllexport)
#else
#define KEPT DECLSPEC_EXPORT
#endif
#define ROUTINE(name) (routine *)(void *)(name)

KEPT routine *const isolated_imports[] = {
    ROUTINE(MmProbeAndLockPages),        ROUTINE(MmMapLockedPagesSpecifyCache), /* may be */
#ifdef ALL_IMPORTS
    ROUTINE(MmAllocateContiguousMemory), ROUTINE(MmAllocateContiguousMemorySpecifyCache),
    ROUTINE(MmFreeContiguousMemory),     ROUTINE(MmAllocatePagesForMdl),
    ROUTINE(MmAllocatePagesForMdlEx),    ROUTINE(MmFreePagesFromMdl),
#endif
};

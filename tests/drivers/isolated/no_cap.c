/* SPDX-License-Identifier: MIT */
/* Stands before the reference driver's answers, and takes back that it can be isolated. */
#include "driver.h"

NTSTATUS NTAPI __real_RefGpuQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                             IN_CONST_PDXGKARG_QUERYADAPTERINFO query);
NTSTATUS NTAPI __wrap_RefGpuQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                             IN_CONST_PDXGKARG_QUERYADAPTERINFO query);

NTSTATUS NTAPI __wrap_RefGpuQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                             IN_CONST_PDXGKARG_QUERYADAPTERINFO query)
{
    NTSTATUS status = __real_RefGpuQueryAdapterInfo(hAdapter, query);

    if (!NT_SUCCESS(status))
        return status;
    if (query->Type == DXGKQAITYPE_DRIVERCAPS)
        ((DXGK_DRIVERCAPS *)query->pOutputData)->MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    if (query->Type == DXGKQAITYPE_IOMMU_CAPS)
        ((DXGK_IOMMU_CAPS *)query->pOutputData)->Value = 0;
    return status;
}

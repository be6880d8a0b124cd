/* SPDX-License-Identifier: MIT */
/*
 * Members of DMA_OPERATIONS that this machine does not offer (NT-193): those of a system DMA
 * controller, of domains that a driver makes itself, and of vectors of buffers. Each says so.
 */
#include "nt/base/export.h"
#include "nt/dma/dma_members.h"
#include "nt/ke/enter.h"
#include "verify/verify.h"

static NTSTATUS not_offered(const char *member, const char *why)
{
    WARNING("NT-193", "%s is not offered: %s", member, why);
    return STATUS_NOT_SUPPORTED;
}

#define NO_CONTROLLER "the device is a bus master, and there is no system DMA controller"
#define NO_DOMAINS    "the device has one domain, which the host chooses"
#define NO_VECTORS    "allocate the buffers one by one"

ULONG NTAPI nt_dma_read_counter(PDMA_ADAPTER DmaAdapter)
{
    NT_ENTER();
    (void)DmaAdapter;
    not_offered("ReadDmaCounter", NO_CONTROLLER);
    return 0;
}

NTSTATUS NTAPI nt_dma_build_mdl(PDMA_ADAPTER DmaAdapter, PSCATTER_GATHER_LIST ScatterGather,
                                PMDL OriginalMdl, PMDL *TargetMdl)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)ScatterGather;
    (void)OriginalMdl;
    (void)TargetMdl;
    return not_offered("BuildMdlFromScatterGatherList", "the list has logical addresses");
}

NTSTATUS NTAPI nt_dma_configure_channel(PDMA_ADAPTER DmaAdapter, ULONG FunctionNumber, PVOID Context)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)FunctionNumber;
    (void)Context;
    return not_offered("ConfigureAdapterChannel", NO_CONTROLLER);
}

NTSTATUS NTAPI nt_dma_cancel_transfer(PDMA_ADAPTER DmaAdapter, PVOID DmaTransferContext)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)DmaTransferContext;
    return not_offered("CancelMappedTransfer", NO_CONTROLLER);
}

NTSTATUS NTAPI nt_dma_allocate_domain_buffer(PDMA_ADAPTER DmaAdapter, HANDLE DomainHandle,
                                             PPHYSICAL_ADDRESS MaximumAddress, ULONG Length,
                                             ULONG Flags, MEMORY_CACHING_TYPE *CacheType,
                                             NODE_REQUIREMENT PreferredNode,
                                             PPHYSICAL_ADDRESS LogicalAddress, PVOID *VirtualAddress)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)DomainHandle;
    (void)MaximumAddress;
    (void)Length;
    (void)Flags;
    (void)CacheType;
    (void)PreferredNode;
    (void)LogicalAddress;
    (void)VirtualAddress;
    return not_offered("AllocateDomainCommonBuffer", NO_DOMAINS);
}

NTSTATUS NTAPI nt_dma_join_domain(PDMA_ADAPTER DmaAdapter, HANDLE DomainHandle)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)DomainHandle;
    return not_offered("JoinDmaDomain", NO_DOMAINS);
}

NTSTATUS NTAPI nt_dma_leave_domain(PDMA_ADAPTER DmaAdapter)
{
    NT_ENTER();
    (void)DmaAdapter;
    return not_offered("LeaveDmaDomain", NO_DOMAINS);
}

HANDLE NTAPI nt_dma_get_domain(PDMA_ADAPTER DmaAdapter)
{
    NT_ENTER();
    (void)DmaAdapter;
    not_offered("GetDmaDomain", NO_DOMAINS);
    return NULL;
}

NTSTATUS NTAPI nt_dma_allocate_vector(PDMA_ADAPTER DmaAdapter, PHYSICAL_ADDRESS LowAddress,
                                      PHYSICAL_ADDRESS HighAddress, MEMORY_CACHING_TYPE CacheType,
                                      NODE_REQUIREMENT PreferredNode, ULONG Flags,
                                      ULONG NumberOfElements, ULONGLONG SizeOfElements,
                                      PDMA_COMMON_BUFFER_VECTOR *VectorOut)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)LowAddress;
    (void)HighAddress;
    (void)CacheType;
    (void)PreferredNode;
    (void)Flags;
    (void)NumberOfElements;
    (void)SizeOfElements;
    (void)VectorOut;
    return not_offered("AllocateCommonBufferVector", NO_VECTORS);
}

void NTAPI nt_dma_vector_buffer(PDMA_ADAPTER DmaAdapter, PDMA_COMMON_BUFFER_VECTOR Vector,
                                ULONG Index, PVOID *VirtualAddress, PPHYSICAL_ADDRESS LogicalAddress)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)Vector;
    (void)Index;
    if (VirtualAddress)
        *VirtualAddress = NULL;
    if (LogicalAddress)
        LogicalAddress->QuadPart = 0;
    not_offered("GetCommonBufferFromVectorByIndex", NO_VECTORS);
}

void NTAPI nt_dma_free_from_vector(PDMA_ADAPTER DmaAdapter, PDMA_COMMON_BUFFER_VECTOR Vector,
                                   ULONG Index)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)Vector;
    (void)Index;
    not_offered("FreeCommonBufferFromVector", NO_VECTORS);
}

void NTAPI nt_dma_free_vector(PDMA_ADAPTER DmaAdapter, PDMA_COMMON_BUFFER_VECTOR Vector)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)Vector;
    not_offered("FreeCommonBufferVector", NO_VECTORS);
}

NTSTATUS NTAPI nt_dma_buffer_from_mdl(PDMA_ADAPTER DmaAdapter, PMDL Mdl,
                                      PDMA_COMMON_BUFFER_EXTENDED_CONFIGURATION ExtendedConfigs,
                                      ULONG ExtendedConfigsCount, PPHYSICAL_ADDRESS LogicalAddress)
{
    NT_ENTER();
    (void)DmaAdapter;
    (void)Mdl;
    (void)ExtendedConfigs;
    (void)ExtendedConfigsCount;
    (void)LogicalAddress;
    return not_offered("CreateCommonBufferFromMdl", "map its pages with GetScatterGatherList");
}

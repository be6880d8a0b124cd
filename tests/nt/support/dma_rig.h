/* SPDX-License-Identifier: MIT */
/*
 * DMA adapters for tests: a device whose IOMMU is in each of its modes, an adapter object for it, pages whose frames are not in
 * order, and scatter/gather lists of them.
 */
#ifndef DXGK_TESTS_NT_DMA_RIG_H
#define DXGK_TESTS_NT_DMA_RIG_H

#include "bus/dma.h"
#include "bus/device.h"
#include "iommu/iommu.h"
#include "nt/base/image.h"
#include "nt/dma/dma_mapping.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "ram/ram.h"
#include "support/harness.h"
#include "support/test_device.h"

#define HALF ((uint64_t)32 << 20) /* of RAM */

static DEVICE_OBJECT pdo;
static struct bus_device *device;
static struct iommu_domain *domain;
static enum iommu_mode mode;
static DMA_ADAPTER *adapter;
static DMA_OPERATIONS *ops;
static ULONG registers;

/* ---- the device ---- */

static inline void begin_domain(void)
{
    domain = iommu_domain_create(h.ram, mode, (struct logical_addr){UINT32_MAX});
    CHECK(domain && bus_device_attach(device, domain) == IOMMU_DONE);
    nt_dma_domain_begins(device, domain);
}

static inline void end_domain(void)
{
    nt_dma_domain_ends(domain);
    CHECK(iommu_domain_mapped_pages(domain) == 0);
    bus_device_attach(device, NULL);
    CHECK(iommu_domain_delete(domain) == IOMMU_DONE);
    domain = NULL;
}

static inline void count_fault(void *context, const struct iommu_fault *fault)
{
    (void)fault;
    ++*(unsigned *)context;
}

static unsigned faults;

/* A test of one device in each mode; `attached`: its domain is there from the start. */
static inline void in_each_mode(void (*body)(void), bool attached)
{
    struct nt_device_info info = {0};

    for (mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++) {
        harness_setup();
        info.device = device = test_device_add(h.bus);
        faults = 0;
        bus_device_on_fault(device, count_fault, &faults);
        CHECK(nt_device_object_register_physical(&pdo, &info));
        if (attached)
            begin_domain();
        run(body);
        if (domain)
            end_domain();
        nt_device_object_unregister(&pdo);
        harness_teardown();
    }
}

static inline bool device_reads(PHYSICAL_ADDRESS logical, void *to, size_t bytes)
{
    return test_device->services->dma_read(test_device->host, (uint64_t)logical.QuadPart, to, bytes);
}

static inline bool device_writes(PHYSICAL_ADDRESS logical, const void *from, size_t bytes)
{
    return test_device->services->dma_write(test_device->host, (uint64_t)logical.QuadPart, from,
                                            bytes);
}

/* ---- the driver ---- */

static inline DEVICE_DESCRIPTION description_of(ULONG version)
{
    DEVICE_DESCRIPTION description = {
        .Version = version,
        .Master = TRUE,
        .ScatterGather = TRUE,
        .Dma64BitAddresses = version < 3,
        .DmaAddressWidth = version < 3 ? 0 : 64,
        .InterfaceType = PCIBus,
        .MaximumLength = 16 * PAGE_SIZE,
    };

    return description;
}

static inline DMA_ADAPTER *get(DEVICE_DESCRIPTION description)
{
    adapter = IoGetDmaAdapter(&pdo, &description, &registers);
    ops = adapter ? adapter->DmaOperations : NULL;
    return adapter;
}

static inline DMA_ADAPTER *get_narrow(void)
{
    DEVICE_DESCRIPTION description = description_of(3);

    description.DmaAddressWidth = 25; /* half of RAM */
    return get(description);
}

static inline void put(void)
{
    ops->PutDmaAdapter(adapter);
}

/* ---- scatter/gather lists ---- */

static SCATTER_GATHER_LIST *list;
static unsigned called;
static uint8_t level;

static inline VOID NTAPI keep_list(PDEVICE_OBJECT object, PIRP irp, PSCATTER_GATHER_LIST given,
                                   PVOID context)
{
    CHECK(object == &pdo && context == &called && !irp);
    list = given;
    level = (uint8_t)KeGetCurrentIrql();
    called++;
}

static inline void exchange_ends(PMDL mdl)
{
    PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl), *last = pfn + mdl->ByteCount / PAGE_SIZE - 1,
               first = *pfn;

    *pfn = *last;
    *last = first;
}

/* Pages whose frames are not in order. */
static inline PMDL scattered(ULONG pages)
{
    PMDL mdl = MmAllocatePagesForMdl(physical(0), physical(-1ull), physical(0), pages * PAGE_SIZE);

    exchange_ends(mdl);
    return mdl;
}

static inline void free_pages(PMDL mdl)
{
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
}

static inline void free_scattered(PMDL mdl)
{
    exchange_ends(mdl);
    free_pages(mdl);
}

static inline uint8_t *byte_of(PMDL mdl, ULONG offset)
{
    struct phys_addr at = {MmGetMdlPfnArray(mdl)[offset / PAGE_SIZE] * PAGE_SIZE +
                           offset % PAGE_SIZE};

    return ram_direct(h.ram, at);
}

static inline NTSTATUS get_list(PMDL mdl, ULONG offset, ULONG bytes, BOOLEAN write)
{
    NTSTATUS status;
    KIRQL old;

    list = NULL;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    status = ops->GetScatterGatherList(adapter, &pdo, mdl,
                                       (PUCHAR)MmGetMdlVirtualAddress(mdl) + offset, bytes,
                                       keep_list, &called, write);
    KeLowerIrql(old);
    return status;
}

static inline void put_list(BOOLEAN write)
{
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ops->PutScatterGatherList(adapter, list, write);
    KeLowerIrql(old);
}

static inline ULONG bytes_of(const SCATTER_GATHER_LIST *of)
{
    ULONG bytes = 0;

    for (ULONG i = 0; i < of->NumberOfElements; i++)
        bytes += of->Elements[i].Length;
    return bytes;
}

#endif

/* SPDX-License-Identifier: MIT */
/* DMA adapters: common buffers, scatter/gather lists and adapter channels, for a device whose IOMMU is in each of its modes. */
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

static void begin_domain(void)
{
    domain = iommu_domain_create(h.ram, mode, (struct logical_addr){UINT32_MAX});
    CHECK(domain && bus_device_attach(device, domain) == IOMMU_DONE);
    nt_dma_domain_begins(device, domain);
}

static void end_domain(void)
{
    nt_dma_domain_ends(domain);
    CHECK(iommu_domain_mapped_pages(domain) == 0);
    bus_device_attach(device, NULL);
    CHECK(iommu_domain_delete(domain) == IOMMU_DONE);
    domain = NULL;
}

static void count_fault(void *context, const struct iommu_fault *fault)
{
    (void)fault;
    ++*(unsigned *)context;
}

static unsigned faults;

/* A test of one device in each mode; `attached`: its domain is there from the start. */
static void in_each_mode(void (*body)(void), bool attached)
{
    struct nt_device_info info = {.service = "probe"};

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

static bool device_reads(PHYSICAL_ADDRESS logical, void *to, size_t bytes)
{
    return test_device->services->dma_read(test_device->host, (uint64_t)logical.QuadPart, to, bytes);
}

static bool device_writes(PHYSICAL_ADDRESS logical, const void *from, size_t bytes)
{
    return test_device->services->dma_write(test_device->host, (uint64_t)logical.QuadPart, from,
                                            bytes);
}

/* ---- the driver ---- */

static DEVICE_DESCRIPTION description_of(ULONG version)
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

static DMA_ADAPTER *get(DEVICE_DESCRIPTION description)
{
    adapter = IoGetDmaAdapter(&pdo, &description, &registers);
    ops = adapter ? adapter->DmaOperations : NULL;
    return adapter;
}

static DMA_ADAPTER *get_narrow(void)
{
    DEVICE_DESCRIPTION description = description_of(3);

    description.DmaAddressWidth = 25; /* half of RAM */
    return get(description);
}

static void put(void)
{
    ops->PutDmaAdapter(adapter);
}

/* ---- adapters ---- */

static ULONG bits_of(DEVICE_DESCRIPTION description)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    PHYSICAL_ADDRESS logical;
    ULONG bits = 0;
    PVOID memory;

    if (!get(description))
        return 0;
    if (description.Version == 3 && ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS)
        bits = info.V1.DmaAddressWidth;
    memory = ops->AllocateCommonBuffer(adapter, PAGE_SIZE, &logical, TRUE);
    if (!bits && memory)
        bits = logical.QuadPart < 1 << 24 ? 24 : 32;
    if (memory)
        ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    put();
    return bits;
}

static void check_versions(void)
{
    DEVICE_DESCRIPTION d = description_of(2), bad;
    PPUT_DMA_ADAPTER again;
    ULONG size = 0;

    for (ULONG version = 0; version <= 3; version++) {
        CHECK_RULE("NT-187", get(description_of(version)) && registers == 17);
        CHECK_RULE("NT-187", adapter->Version == 1 && adapter->Size == sizeof(DMA_ADAPTER));
        CHECK_RULE("NT-187", version == 1 ? ops->Size == size : ops->Size > size);
        size = ops->Size;
        CHECK_RULE("NT-187", ops->GetDmaAlignment(adapter) == 1);
        put();
    }
    CHECK_RULE("NT-187", size == sizeof(DMA_OPERATIONS));
    CHECK_RULE("NT-187", nt_image_leak_check(h.image) == 0 && errors() == 0);

    bad = d;
    bad.Version = 4;
    CHECK_RULE("NT-187", !get(bad) && broken("NT-187"));
    forget_reports();
    bad = d;
    bad.Master = FALSE;
    CHECK_RULE("NT-187", !get(bad) && broken("NT-187"));
    forget_reports();
    bad = description_of(3);
    bad.DmaAddressWidth = 0;
    CHECK_RULE("NT-187", !get(bad) && broken("NT-187"));
    forget_reports();
    bad.DmaAddressWidth = 65;
    CHECK_RULE("NT-187", !get(bad) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187", !IoGetDmaAdapter(&pdo, NULL, &registers) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187", !IoGetDmaAdapter(&pdo, &d, NULL) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187",
               !IoGetDmaAdapter((PDEVICE_OBJECT)(void *)&d, &d, &registers) && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187", get(d) && nt_image_leak_check(h.image) == 1 && broken("NT-187"));
    forget_reports();
    CHECK_RULE("NT-187", IoGetDmaAdapter(NULL, &d, &registers) != NULL && errors() == 0);
    CHECK(nt_image_leak_check(h.image) == 1);
    forget_reports();
    get(d);
    again = ops->PutDmaAdapter;
    put();
    again(adapter);
    CHECK_RULE("NT-187", broken("NT-187"));
    forget_reports();
}

TEST(adapters_have_the_table_of_their_version)
{
    in_each_mode(check_versions, true);
}

static void check_widths(void)
{
    DEVICE_DESCRIPTION d = description_of(3);

    d.DmaAddressWidth = 40;
    CHECK_RULE("NT-187", bits_of(d) == 40);
    d.DmaAddressWidth = 64;
    CHECK_RULE("NT-192", bits_of(d) == 64);
    d = description_of(0);
    d.Dma64BitAddresses = FALSE;
    CHECK_RULE("NT-187", bits_of(d) == (mode == IOMMU_REMAP ? 24 : 32)); /* scatter/gather on PCI */
    d.ScatterGather = FALSE;
    CHECK_RULE("NT-187", bits_of(d) == 24);
    d.Dma32BitAddresses = TRUE;
    CHECK_RULE("NT-187", bits_of(d) == (mode == IOMMU_REMAP ? 24 : 32));
    d.Dma32BitAddresses = FALSE;
    d.ScatterGather = TRUE;
    d.InterfaceType = Isa;
    CHECK_RULE("NT-187", bits_of(d) == 24);
    CHECK(errors() == 0);
}

TEST(addresses_are_as_wide_as_the_device)
{
    in_each_mode(check_widths, true);
}

/* ---- common buffers ---- */

static uint8_t *allocate(ULONG bytes, PHYSICAL_ADDRESS *logical)
{
    return ops->AllocateCommonBuffer(adapter, bytes, logical, TRUE);
}

static void check_shared(void)
{
    const uint64_t free_before = ram_free_pages(h.ram);
    PHYSICAL_ADDRESS logical, other;
    uint8_t *memory, *second, seen[8] = {0};

    get(description_of(2));
    memory = allocate(3 * PAGE_SIZE + 1, &logical);
    second = allocate(10, &other);
    CHECK_RULE("NT-188", memory && second && ram_free_pages(h.ram) == free_before - 5);
    CHECK_RULE("NT-188", memory[0] != 0 && (uintptr_t)memory % PAGE_SIZE == 0 &&
                             logical.QuadPart % PAGE_SIZE == 0);
    CHECK_RULE("NT-188", (logical.QuadPart == MmGetPhysicalAddress(memory).QuadPart) ==
                             (mode != IOMMU_REMAP));
    memcpy(memory + 3 * PAGE_SIZE - 4, "common!", 8);
    other.QuadPart = logical.QuadPart + 3 * PAGE_SIZE - 4;
    CHECK_RULE("NT-188", device_reads(other, seen, 8) && memcmp(seen, "common!", 8) == 0);
    CHECK_RULE("NT-188", device_writes(other, "written", 8) &&
                             memcmp(memory + 3 * PAGE_SIZE - 4, "written", 8) == 0);
    CHECK_RULE("IOMMU-075", faults == 0);
    ops->FreeCommonBuffer(adapter, 3 * PAGE_SIZE + 1, logical, memory, FALSE);
    device_reads(logical, seen, 8);
    CHECK_RULE("NT-189", faults == 1);
    other.QuadPart = 0;
    ops->FreeCommonBuffer(adapter, 10, other, second, TRUE);
    CHECK_RULE("NT-189", broken("NT-189")); /* another logical address */
    CHECK_RULE("NT-189", ram_free_pages(h.ram) == free_before);
    forget_reports();
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(the_device_and_its_driver_share_a_common_buffer)
{
    in_each_mode(check_shared, true);
}

static void check_bounds(void)
{
    PHYSICAL_ADDRESS logical, low = physical(HALF), high = physical(HALF - 1);
    MEMORY_CACHING_TYPE cache = MmNonCached;
    struct page_number first;
    PVOID memory;

    get(description_of(3));
    memory = ops->AllocateCommonBufferEx(adapter, &high, 2 * PAGE_SIZE, &logical, FALSE, 0);
    CHECK_RULE("NT-188", memory && logical.QuadPart + 2 * PAGE_SIZE <= (LONGLONG)HALF);
    first.value = (uint64_t)MmGetPhysicalAddress(memory).QuadPart / PAGE_SIZE;
    CHECK_RULE("NT-188", ram_page_cache(h.ram, first) == RAM_NON_CACHED);
    ops->FreeCommonBuffer(adapter, 2 * PAGE_SIZE, logical, memory, FALSE);
    high.QuadPart = 2 * PAGE_SIZE - 1; /* page 0 is nobody's */
    CHECK_RULE("NT-188",
               !ops->AllocateCommonBufferEx(adapter, &high, 2 * PAGE_SIZE, &logical, TRUE, 0));
    CHECK_RULE("NT-188",
               ops->AllocateCommonBufferEx(adapter, &high, PAGE_SIZE, &logical, TRUE, 0) != NULL);
    CHECK_RULE("NT-188", logical.QuadPart == PAGE_SIZE && nt_image_leak_check(h.image) == 2);
    forget_reports();
    get(description_of(3));
    if (mode != IOMMU_REMAP) {
        memory = ops->AllocateCommonBufferWithBounds(adapter, &low, NULL, PAGE_SIZE, 0, NULL, 0,
                                                     &logical);
        CHECK_RULE("NT-188", memory && logical.QuadPart >= (LONGLONG)HALF);
        ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    }
    memory = ops->AllocateCommonBufferWithBounds(adapter, NULL, &low, PAGE_SIZE, 1, &cache, 0,
                                                 &logical);
    CHECK_RULE("NT-188", memory && MmGetPhysicalAddress(memory).QuadPart % (2 << 20) == 0);
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    CHECK(errors() == 0);
    low = physical(HALF);
    high = physical(HALF - 1);
    CHECK_RULE("NT-188", !ops->AllocateCommonBufferWithBounds(adapter, &low, &high, PAGE_SIZE, 0,
                                                              NULL, 0, &logical) &&
                             errors() == 0);
    CHECK_RULE("NT-188", !ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 2,
                                                              NULL, 0, &logical));
    CHECK_RULE("NT-188", broken("NT-188"));
    forget_reports();
    cache = MmWriteCombined;
    CHECK_RULE("NT-188", !ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 0,
                                                              &cache, 0, &logical));
    CHECK_RULE("NT-188", broken("NT-188"));
    forget_reports();
    put();
}

TEST(common_buffers_lie_within_their_bounds)
{
    in_each_mode(check_bounds, true);
}

static void allocate_high(void)
{
    PHYSICAL_ADDRESS logical = {.QuadPart = 0};

    CHECK_RULE("NT-188", !allocate(PAGE_SIZE, &logical) && broken("NT-188"));
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, &logical, TRUE);
    CHECK_RULE("NT-189", broken("NT-189"));
    forget_reports();
}

static void check_misuse(void)
{
    DMA_ADAPTER *first, *second;
    PHYSICAL_ADDRESS logical, another;
    uint8_t *memory;

    first = get(description_of(2));
    CHECK_RULE("NT-188", !allocate(0, &logical) && broken("NT-188"));
    forget_reports();
    CHECK_RULE("NT-188", !allocate(PAGE_SIZE, NULL) && broken("NT-188"));
    forget_reports();
    CHECK_RULE("NT-188", !allocate(128u << 20, &logical) && errors() == 0);
    in_dpc(allocate_high);
    CHECK_RULE("NT-192", !ops->AllocateCommonBufferEx(adapter, NULL, PAGE_SIZE, &logical, TRUE, 0) &&
                             broken("NT-192"));
    forget_reports();
    memory = allocate(PAGE_SIZE, &logical);
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory + 8, TRUE);
    CHECK_RULE("NT-189", broken("NT-189"));
    forget_reports();
    ops->PutDmaAdapter(adapter);
    CHECK_RULE("NT-187", broken("NT-187"));
    forget_reports();
    second = get(description_of(2));
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE);
    CHECK_RULE("NT-189", broken("NT-189"));
    forget_reports();
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE);
    CHECK_RULE("NT-189", broken("NT-189"));
    forget_reports();
    ops->PutDmaAdapter(first);
    memory = allocate(2 * PAGE_SIZE, &logical);
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE); /* part of it: all the same */
    CHECK_RULE("NT-189", broken("NT-189"));
    forget_reports();
    memory = allocate(2 * PAGE_SIZE, &another);
    CHECK_RULE("NT-189", nt_image_leak_check(h.image) == 2 && broken("NT-189") && broken("NT-187"));
    forget_reports();
}

TEST(misuse_of_common_buffers_is_told)
{
    in_each_mode(check_misuse, true);
}

/* Made in AddDevice, before the device has a domain, and freed after that has ended. */
static void check_early(void)
{
    PHYSICAL_ADDRESS logical;
    uint8_t *memory, seen = 0;

    get(description_of(2));
    memory = allocate(2 * PAGE_SIZE, &logical);
    CHECK_RULE("NT-188", logical.QuadPart == MmGetPhysicalAddress(memory).QuadPart);
    begin_domain();
    memory[PAGE_SIZE] = 0x5A;
    logical.QuadPart += PAGE_SIZE;
    CHECK_RULE("NT-188", device_reads(logical, &seen, 1) && seen == 0x5A && faults == 0);
    logical.QuadPart -= PAGE_SIZE;
    end_domain();
    ops->FreeCommonBuffer(adapter, 2 * PAGE_SIZE, logical, memory, TRUE);
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(buffers_may_be_older_and_younger_than_the_domain)
{
    in_each_mode(check_early, false);
}

static void check_blocked(void)
{
    PHYSICAL_ADDRESS logical;
    uint8_t *memory;

    get(description_of(2));
    memory = allocate(PAGE_SIZE, &logical);
    domain = iommu_domain_create(h.ram, IOMMU_REMAP, (struct logical_addr){2 * PAGE_SIZE - 1});
    CHECK(domain && bus_device_attach(device, domain) == IOMMU_DONE);
    nt_dma_domain_begins(device, domain);
    CHECK_RULE("NT-188", logical.QuadPart < 2 * PAGE_SIZE || broken("NT-188"));
    forget_reports();
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    put();
    CHECK(errors() == 0);
}

TEST(a_buffer_that_a_domain_cannot_have_is_told)
{
    in_each_mode(check_blocked, false);
}

/* ---- scatter/gather lists ---- */

static SCATTER_GATHER_LIST *list;
static unsigned called;
static uint8_t level;

static VOID NTAPI keep_list(PDEVICE_OBJECT object, PIRP irp, PSCATTER_GATHER_LIST given,
                            PVOID context)
{
    CHECK(object == &pdo && context == &called && !irp);
    list = given;
    level = (uint8_t)KeGetCurrentIrql();
    called++;
}

static void exchange_ends(PMDL mdl)
{
    PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl), *last = pfn + mdl->ByteCount / PAGE_SIZE - 1,
               first = *pfn;

    *pfn = *last;
    *last = first;
}

/* Pages whose frames are not in order. */
static PMDL scattered(ULONG pages)
{
    PMDL mdl = MmAllocatePagesForMdl(physical(0), physical(-1ull), physical(0), pages * PAGE_SIZE);

    exchange_ends(mdl);
    return mdl;
}

static void free_pages(PMDL mdl)
{
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
}

static void free_scattered(PMDL mdl)
{
    exchange_ends(mdl);
    free_pages(mdl);
}

static uint8_t *byte_of(PMDL mdl, ULONG offset)
{
    struct phys_addr at = {MmGetMdlPfnArray(mdl)[offset / PAGE_SIZE] * PAGE_SIZE +
                           offset % PAGE_SIZE};

    return ram_direct(h.ram, at);
}

static NTSTATUS get_list(PMDL mdl, ULONG offset, ULONG bytes, BOOLEAN write)
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

static void put_list(BOOLEAN write)
{
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ops->PutScatterGatherList(adapter, list, write);
    KeLowerIrql(old);
}

static ULONG bytes_of(const SCATTER_GATHER_LIST *of)
{
    ULONG bytes = 0;

    for (ULONG i = 0; i < of->NumberOfElements; i++)
        bytes += of->Elements[i].Length;
    return bytes;
}

static void check_lists(void)
{
    PMDL mdl;
    uint8_t seen[2] = {0};
    PHYSICAL_ADDRESS last;

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190", get_list(mdl, 100, 3 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && called == 1);
    CHECK_RULE("NT-190", level == DISPATCH_LEVEL && bytes_of(list) == 3 * PAGE_SIZE);
    CHECK_RULE("NT-190", list->NumberOfElements >= (mode == IOMMU_REMAP ? 1 : 2) &&
                             list->NumberOfElements <= 4);
    CHECK_RULE("NT-190", mode != IOMMU_REMAP || list->NumberOfElements == 1);
    CHECK_RULE("NT-190", list->Elements[0].Address.QuadPart % PAGE_SIZE == 100);
    *byte_of(mdl, 100) = 0x11;
    *byte_of(mdl, 100 + 3 * PAGE_SIZE - 1) = 0x22;
    last = list->Elements[list->NumberOfElements - 1].Address;
    last.QuadPart += list->Elements[list->NumberOfElements - 1].Length - 1;
    CHECK_RULE("NT-190", device_reads(list->Elements[0].Address, &seen[0], 1) && seen[0] == 0x11);
    CHECK_RULE("NT-190", device_reads(last, &seen[1], 1) && seen[1] == 0x22 && faults == 0);
    put_list(TRUE);
    device_reads(last, seen, 1);
    CHECK_RULE("NT-190", faults == (mode != IOMMU_OFF) && errors() == 0); /* pages of an MDL pass */

    CHECK_RULE("NT-190", get_list(mdl, 0, 16, TRUE) == STATUS_SUCCESS);
    put_list(FALSE);
    CHECK_RULE("NT-190", broken("NT-190")); /* the other direction */
    forget_reports();
    put_list(TRUE);
    CHECK_RULE("NT-190", broken("NT-190")); /* gone */
    forget_reports();
    ops->GetScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, keep_list,
                              &called, TRUE);
    CHECK_RULE("NT-190", level == DISPATCH_LEVEL && errors() == 0 && broken("NT-190"));
    ops->PutScatterGatherList(adapter, list, TRUE);
    CHECK_RULE("NT-190", get_list(mdl, 0, 16, TRUE) == STATUS_SUCCESS);
    ops->PutDmaAdapter(adapter);
    CHECK_RULE("NT-187", broken("NT-187"));
    forget_reports();
    free_scattered(mdl);
    CHECK_RULE("NT-190", nt_image_leak_check(h.image) == 2 && broken("NT-190"));
    forget_reports();
}

TEST(lists_have_the_runs_that_the_device_sees)
{
    in_each_mode(check_lists, true);
}

static void check_refused_lists(void)
{
    PMDL mdl, chain;
    PVOID buffer = ExAllocatePoolWithTag(NonPagedPool, 4 * PAGE_SIZE, TAG);

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190", get_list(mdl, 0, 4 * PAGE_SIZE + 1, TRUE) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190", broken("NT-190"));
    forget_reports();
    CHECK_RULE("NT-190", get_list(mdl, 4 * PAGE_SIZE, 1, TRUE) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190", get_list(mdl, 0, 0, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190", get_list(mdl, 0, 4 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && called == 1);
    put_list(TRUE);
    forget_reports();
    chain = IoAllocateMdl(buffer, 4 * PAGE_SIZE, FALSE, FALSE, NULL);
    CHECK_RULE("NT-190", get_list(chain, 0, 16, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190", broken("NT-190") && called == 1); /* not locked */
    forget_reports();
    MmProbeAndLockPages(chain, KernelMode, IoModifyAccess);
    mdl->Next = chain;
    CHECK_RULE("NT-190", get_list(mdl, 4 * PAGE_SIZE - 8, 16, TRUE) == STATUS_SUCCESS &&
                             bytes_of(list) == 16);
    put_list(TRUE);
    CHECK_RULE("NT-190", get_list(mdl, 8 * PAGE_SIZE - 8, 16, TRUE) == STATUS_BUFFER_TOO_SMALL);
    forget_reports();
    mdl->Next = NULL;
    MmUnlockPages(chain);
    IoFreeMdl(chain);
    ExFreePool(buffer);
    free_scattered(mdl);
    mdl = scattered(18);
    CHECK_RULE("NT-190", get_list(mdl, 0, 18 * PAGE_SIZE, TRUE) == STATUS_INSUFFICIENT_RESOURCES);
    CHECK_RULE("NT-190", get_list(mdl, 0, 17 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && errors() == 0);
    put_list(TRUE);
    CHECK_RULE("NT-190",
               ops->GetScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, NULL,
                                         NULL, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190", broken("NT-190"));
    forget_reports();
    free_scattered(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(lists_of_what_is_not_there_are_refused)
{
    in_each_mode(check_refused_lists, true);
}

/* A buffer of the driver's own for the list, of the size that it is told. */
static void check_own_buffer(void)
{
    uint8_t buffer[512];
    ULONG bytes = 0, count = 0;
    PMDL mdl;
    KIRQL old;

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190",
               ops->CalculateScatterGatherList(adapter, mdl, MmGetMdlVirtualAddress(mdl),
                                               4 * PAGE_SIZE, &bytes, &count) == STATUS_SUCCESS);
    CHECK_RULE("NT-190", count == 4 && bytes == 16 + 4 * 24);
    CHECK_RULE("NT-190", ops->CalculateScatterGatherList(adapter, NULL, (PVOID)100, PAGE_SIZE,
                                                         &bytes, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-190", bytes == 16 + 2 * 24);
    CHECK_RULE("NT-190", ops->CalculateScatterGatherList(adapter, NULL, NULL, 18 * PAGE_SIZE, &bytes,
                                                         NULL) == STATUS_INSUFFICIENT_RESOURCES);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-190", ops->BuildScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl),
                                                     16, keep_list, &called, TRUE, buffer,
                                                     16 + 24 - 1) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190", called == 0);
    CHECK_RULE("NT-190", ops->BuildScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl),
                                                     16, keep_list, &called, TRUE, buffer,
                                                     16 + 24) == STATUS_SUCCESS);
    CHECK_RULE("NT-190", called == 1 && (PVOID)list == (PVOID)buffer && bytes_of(list) == 16);
    CHECK_RULE("NT-190", errors() == 0);
    CHECK_RULE("NT-190",
               ops->BuildScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16,
                                           keep_list, &called, TRUE, buffer, sizeof(buffer)) ==
                   STATUS_INVALID_PARAMETER); /* in use */
    CHECK_RULE("NT-190", broken("NT-190"));
    CHECK_RULE("NT-190", ops->BuildScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl),
                                                     16, keep_list, &called, TRUE, NULL,
                                                     0) == STATUS_INVALID_PARAMETER);
    KeLowerIrql(old);
    forget_reports();
    put_list(TRUE);
    free_scattered(mdl);
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(a_list_may_lie_in_the_buffer_of_the_driver)
{
    in_each_mode(check_own_buffer, true);
}

/* Frames above the reach of the device are copied through others. */
static void check_out_of_reach(void)
{
    uint8_t seen[PAGE_SIZE];
    uint64_t free_before;
    PMDL mdl;

    mdl = MmAllocatePagesForMdl(physical(HALF), physical(-1ull), physical(0), 2 * PAGE_SIZE);
    get_narrow();
    free_before = ram_free_pages(h.ram);
    *byte_of(mdl, 10) = 0x33;
    CHECK_RULE("NT-190", get_list(mdl, 10, PAGE_SIZE, TRUE) == STATUS_SUCCESS && list);
    CHECK_RULE("NT-190", list->NumberOfElements == 1 &&
                             list->Elements[0].Address.QuadPart + PAGE_SIZE <= (LONGLONG)HALF);
    CHECK_RULE("NT-190", device_reads(list->Elements[0].Address, seen, 1) && seen[0] == 0x33);
    *byte_of(mdl, 10) = 0x44;
    device_writes(list->Elements[0].Address, "x", 1);
    put_list(TRUE);
    CHECK_RULE("NT-190", mode == IOMMU_REMAP || *byte_of(mdl, 10) == 0x44);
    CHECK_RULE("NT-190", get_list(mdl, 0, 2 * PAGE_SIZE, FALSE) == STATUS_SUCCESS);
    *byte_of(mdl, 0) = 0x55;
    memset(seen, 0x66, sizeof(seen));
    device_writes(list->Elements[0].Address, seen, PAGE_SIZE);
    put_list(FALSE);
    CHECK_RULE("NT-190", *byte_of(mdl, 0) == 0x66 && *byte_of(mdl, PAGE_SIZE - 1) == 0x66);
    CHECK_RULE("NT-190", ram_free_pages(h.ram) == free_before && faults == 0);
    free_pages(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(pages_out_of_reach_are_copied)
{
    in_each_mode(check_out_of_reach, true);
}

static void check_no_gather(void)
{
    DEVICE_DESCRIPTION d = description_of(2);
    PMDL mdl;

    d.ScatterGather = FALSE;
    get(d);
    mdl = scattered(4);
    CHECK_RULE("NT-190", get_list(mdl, 0, 4 * PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
                             list->NumberOfElements == 1 && bytes_of(list) == 4 * PAGE_SIZE);
    put_list(TRUE);
    free_scattered(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(a_device_without_scatter_gather_gets_one_run)
{
    in_each_mode(check_no_gather, true);
}

/* ---- channels ---- */

static PVOID base;
static IO_ALLOCATION_ACTION answer;
static char order[8];

static IO_ALLOCATION_ACTION NTAPI take_channel(PDEVICE_OBJECT object, PIRP irp, PVOID given,
                                               PVOID context)
{
    CHECK(object == &pdo && !irp && KeGetCurrentIrql() == DISPATCH_LEVEL);
    base = given;
    strcat(order, context);
    return answer;
}

static NTSTATUS channel(ULONG count, const char *name)
{
    return ops->AllocateAdapterChannel(adapter, &pdo, count, take_channel, (PVOID)(uintptr_t)name);
}

static void transfer_by_channel(PMDL mdl)
{
    PHYSICAL_ADDRESS logical;
    ULONG mapped = 0, length;
    uint8_t seen = 0;

    while (mapped < 4 * PAGE_SIZE) {
        PUCHAR va = (PUCHAR)MmGetMdlVirtualAddress(mdl) + mapped;

        length = 4 * PAGE_SIZE - mapped;
        logical = ops->MapTransfer(adapter, mdl, base, va, &length, TRUE);
        CHECK_RULE("NT-191", length > 0 && length % PAGE_SIZE == 0);
        CHECK_RULE("NT-191", mode == IOMMU_REMAP ? length == 4 * PAGE_SIZE : length < 4 * PAGE_SIZE);
        *byte_of(mdl, mapped + length - 1) = 0x77;
        logical.QuadPart += length - 1;
        CHECK_RULE("NT-191", device_reads(logical, &seen, 1) && seen == 0x77);
        mapped += length;
    }
    CHECK_RULE("NT-191", mapped == 4 * PAGE_SIZE && faults == 0);
    CHECK_RULE("NT-191", ops->FlushAdapterBuffers(adapter, mdl, base, MmGetMdlVirtualAddress(mdl),
                                                  4 * PAGE_SIZE, TRUE));
    device_reads(logical, &seen, 1);
    CHECK_RULE("NT-191", faults == (mode != IOMMU_OFF) && errors() == 0);
}

static void misuse_channel(PMDL mdl)
{
    ULONG length = 16;

    CHECK_RULE("NT-191", !ops->FlushAdapterBuffers(adapter, mdl, base, MmGetMdlVirtualAddress(mdl),
                                                   16, TRUE));
    CHECK_RULE("NT-191", broken("NT-191"));
    forget_reports();
    CHECK_RULE("NT-191",
               ops->MapTransfer(adapter, mdl, &length, MmGetMdlVirtualAddress(mdl), &length, TRUE)
                       .QuadPart == 0);
    CHECK_RULE("NT-191", broken("NT-191"));
    forget_reports();
    ops->MapTransfer(adapter, mdl, base, MmGetMdlVirtualAddress(mdl), &length, TRUE);
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-191", broken("NT-191")); /* not flushed */
    forget_reports();
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-191", broken("NT-191")); /* gone */
    forget_reports();
    CHECK_RULE("NT-191", channel(18, "") == STATUS_INSUFFICIENT_RESOURCES && errors() == 0);
    CHECK_RULE("NT-191", channel(17, "") == STATUS_SUCCESS);
    ops->FreeMapRegisters(adapter, base, 16);
    CHECK_RULE("NT-191", broken("NT-191")); /* another number */
    forget_reports();
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191", broken("NT-191")); /* nobody owns it */
    forget_reports();
    answer = (IO_ALLOCATION_ACTION)9;
    CHECK_RULE("NT-191", channel(1, "") == STATUS_SUCCESS && broken("NT-191"));
    forget_reports();
    CHECK_RULE("NT-191", ops->AllocateAdapterChannel(adapter, &pdo, 1, NULL, NULL) ==
                             STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-191", broken("NT-191"));
    forget_reports();
}

static void check_channels(void)
{
    PMDL mdl;
    KIRQL old;

    get(description_of(3));
    mdl = scattered(4);
    order[0] = '\0';
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    answer = DeallocateObjectKeepRegisters;
    CHECK_RULE("NT-191", channel(4, "a") == STATUS_SUCCESS && strcmp(order, "a") == 0);
    transfer_by_channel(mdl);
    misuse_channel(mdl);
    order[0] = '\0';
    answer = KeepObject;
    CHECK_RULE("NT-191", channel(1, "b") == STATUS_SUCCESS && channel(1, "c") == STATUS_SUCCESS);
    CHECK_RULE("NT-191", strcmp(order, "b") == 0);
    ops->FreeAdapterChannel(adapter);
    CHECK_RULE("NT-191", strcmp(order, "bc") == 0);
    answer = DeallocateObject;
    CHECK_RULE("NT-191", channel(1, "d") == STATUS_SUCCESS && strcmp(order, "bc") == 0);
    ops->FreeAdapterObject(adapter, KeepObject);
    CHECK_RULE("NT-191", strcmp(order, "bc") == 0);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    CHECK_RULE("NT-191", strcmp(order, "bcd") == 0 && errors() == 0);
    answer = KeepObject;
    channel(1, "e");
    KeLowerIrql(old);
    free_scattered(mdl);
    CHECK_RULE("NT-191", nt_image_leak_check(h.image) == 2 && broken("NT-191"));
    forget_reports();
}

TEST(channels_own_the_adapter_in_turn)
{
    in_each_mode(check_channels, true);
}

/* ---- extended members ---- */

static uint8_t context[DMA_TRANSFER_CONTEXT_SIZE_V1];

static void extended_lists(PMDL mdl)
{
    DMA_TRANSFER_INFO info = {.Version = DMA_TRANSFER_INFO_VERSION2};
    SCATTER_GATHER_LIST *made = NULL;
    uint8_t buffer[512];

    CHECK_RULE("NT-192", ops->GetDmaTransferInfo(adapter, mdl, 8, 4 * PAGE_SIZE - 8, TRUE, &info) ==
                             STATUS_SUCCESS);
    CHECK_RULE("NT-192", info.V2.MapRegisterCount == 4 && info.V2.ScatterGatherElementCount == 4 &&
                             info.V2.ScatterGatherListSize == 16 + 4 * 24 &&
                             info.V2.LogicalPageCount == 4);
    info.Version = 3;
    CHECK_RULE("NT-192",
               ops->GetDmaTransferInfo(adapter, mdl, 0, 8, TRUE, &info) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("NT-192", ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16,
                                                     DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE,
                                                     NULL, NULL, &made) == STATUS_SUCCESS);
    CHECK_RULE("NT-192", made && bytes_of(made) == 16);
    CHECK_RULE("NT-192",
               ops->BuildScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16,
                                             DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE, buffer,
                                             sizeof(buffer), NULL, NULL, &made) == STATUS_SUCCESS);
    CHECK_RULE("NT-192", (PVOID)made == (PVOID)buffer);
    called = 0;
    CHECK_RULE("NT-192",
               ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16, 0, keep_list,
                                           &called, TRUE, NULL, NULL, NULL) == STATUS_SUCCESS &&
                   called == 1);
    ops->FreeAdapterObject(adapter, DeallocateObject);
    ops->PutScatterGatherList(adapter, list, TRUE); /* not ended by that */
    CHECK_RULE("NT-192", errors() == 0);
    CHECK_RULE("NT-192",
               ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16, 0, NULL, NULL, TRUE,
                                           NULL, NULL, &made) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192", broken("NT-192"));
    forget_reports();
    memset(context, 0, sizeof(context));
    CHECK_RULE("NT-192", ops->GetScatterGatherListEx(adapter, &pdo, context, mdl, 8, 16,
                                                     DMA_SYNCHRONOUS_CALLBACK, NULL, NULL, TRUE,
                                                     NULL, NULL, &made) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192", broken("NT-192"));
    forget_reports();
}

static void extended_channel(PMDL mdl)
{
    uint8_t small[16 + 24], other[DMA_TRANSFER_CONTEXT_SIZE_V1];
    SCATTER_GATHER_LIST *in_small = (PVOID)small;
    ULONG length = 4 * PAGE_SIZE;
    PVOID second = NULL;

    CHECK_RULE("NT-192", ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    CHECK_RULE("NT-192", ops->InitializeDmaTransferContext(adapter, other) == STATUS_SUCCESS);
    CHECK_RULE("NT-192",
               ops->AllocateAdapterChannelEx(adapter, &pdo, context, 4, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &base) == STATUS_SUCCESS);
    CHECK_RULE("NT-192",
               ops->AllocateAdapterChannelEx(adapter, &pdo, other, 4, DMA_SYNCHRONOUS_CALLBACK,
                                             NULL, NULL, &second) == STATUS_INSUFFICIENT_RESOURCES);
    order[0] = '\0';
    CHECK_RULE("NT-192", ops->AllocateAdapterChannelEx(adapter, &pdo, other, 4, 0, take_channel,
                                                       "x", NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-192", ops->CancelAdapterChannel(adapter, &pdo, other) &&
                             !ops->CancelAdapterChannel(adapter, &pdo, other));
    CHECK_RULE("NT-192", ops->MapTransferEx(adapter, mdl, base, 0, 0, &length, FALSE, in_small,
                                            sizeof(small), NULL, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-192", in_small->NumberOfElements == 1 && bytes_of(in_small) == length);
    CHECK_RULE("NT-192", mode == IOMMU_REMAP ? length == 4 * PAGE_SIZE : length < 4 * PAGE_SIZE);
    CHECK_RULE("NT-192",
               ops->FlushAdapterBuffersEx(adapter, mdl, base, 0, length, FALSE) == STATUS_SUCCESS);
    ops->FreeAdapterObject(adapter, DeallocateObjectKeepRegisters);
    ops->FreeMapRegisters(adapter, base, 4);
    CHECK_RULE("NT-192", order[0] == '\0' && errors() == 0);
    CHECK_RULE("NT-192", ops->FlushDmaBuffer(adapter, mdl, TRUE) == STATUS_SUCCESS);
}

static void check_extended(void)
{
    DMA_ADAPTER_INFO info = {.Version = DMA_ADAPTER_INFO_VERSION1};
    PMDL mdl;
    KIRQL old;

    get(description_of(3));
    mdl = scattered(4);
    CHECK_RULE("NT-192", ops->GetDmaAdapterInfo(adapter, &info) == STATUS_SUCCESS &&
                             info.V1.ScatterGatherLimit == 17 && info.V1.DmaAddressWidth == 64);
    info.Version = 2;
    CHECK_RULE("NT-192", ops->GetDmaAdapterInfo(adapter, &info) == STATUS_NOT_SUPPORTED);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-192", ops->InitializeDmaTransferContext(adapter, context) == STATUS_SUCCESS);
    extended_lists(mdl);
    extended_channel(mdl);
    KeLowerIrql(old);
    free_scattered(mdl);
    put();
    CHECK_RULE("NT-192", errors() == 0 && nt_image_leak_check(h.image) == 0);
    get(description_of(2));
    CHECK_RULE("NT-192",
               ops->InitializeDmaTransferContext(adapter, context) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-192", broken("NT-192"));
    forget_reports();
    put();
}

TEST(version_3_has_the_extended_members)
{
    in_each_mode(check_extended, true);
}

/* ---- what is not offered ---- */

static bool said(const char *member)
{
    size_t count = 0;
    const struct verify_record *record;

    for (; (record = verify_record_at(h.log, count)); count++)
        if (strcmp(record->rule, "NT-193") == 0 && strstr(record->seen, member))
            return true;
    return false;
}

static void check_not_offered(void)
{
    PVOID *member;

    get(description_of(3));
    member = (PVOID *)(PVOID)&ops->PutDmaAdapter;
    for (size_t i = 0; i < (sizeof(*ops) - 8) / sizeof(PVOID); i++)
        CHECK_RULE("NT-193", member[i] != NULL);
    CHECK_RULE("NT-193", ops->ReadDmaCounter(adapter) == 0 && said("ReadDmaCounter"));
    CHECK_RULE("NT-193", ops->BuildMdlFromScatterGatherList(adapter, NULL, NULL, NULL) ==
                                 STATUS_NOT_SUPPORTED &&
                             said("BuildMdlFromScatterGatherList"));
    CHECK_RULE("NT-193", ops->ConfigureAdapterChannel(adapter, 0, NULL) == STATUS_NOT_SUPPORTED &&
                             said("ConfigureAdapterChannel"));
    CHECK_RULE("NT-193", ops->CancelMappedTransfer(adapter, NULL) == STATUS_NOT_SUPPORTED &&
                             said("CancelMappedTransfer"));
    CHECK_RULE("NT-193",
               ops->JoinDmaDomain(adapter, NULL) == STATUS_NOT_SUPPORTED && said("JoinDmaDomain"));
    CHECK_RULE("NT-193",
               ops->LeaveDmaDomain(adapter) == STATUS_NOT_SUPPORTED && said("LeaveDmaDomain"));
    CHECK_RULE("NT-193", ops->GetDmaDomain(adapter) == NULL && said("GetDmaDomain"));
    CHECK_RULE("NT-193", ops->AllocateDomainCommonBuffer(adapter, NULL, NULL, 1, 0, NULL, 0, NULL,
                                                         NULL) == STATUS_NOT_SUPPORTED &&
                             said("AllocateDomainCommonBuffer"));
    CHECK_RULE("NT-193",
               ops->AllocateCommonBufferVector(adapter, physical(0), physical(0), MmCached, 0, 0, 1,
                                               1, NULL) == STATUS_NOT_SUPPORTED &&
                   said("AllocateCommonBufferVector"));
    ops->GetCommonBufferFromVectorByIndex(adapter, NULL, 0, NULL, NULL);
    ops->FreeCommonBufferFromVector(adapter, NULL, 0);
    ops->FreeCommonBufferVector(adapter, NULL);
    CHECK_RULE("NT-193", said("GetCommonBufferFromVectorByIndex") &&
                             said("FreeCommonBufferFromVector") && said("FreeCommonBufferVector"));
    CHECK_RULE("NT-193", ops->CreateCommonBufferFromMdl(adapter, NULL, NULL, 0, NULL) ==
                                 STATUS_NOT_SUPPORTED &&
                             said("CreateCommonBufferFromMdl"));
    put();
    CHECK_RULE("NT-193", errors() == 0);
}

TEST(members_that_are_not_offered_say_so)
{
    in_each_mode(check_not_offered, true);
}

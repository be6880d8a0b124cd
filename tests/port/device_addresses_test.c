/* SPDX-License-Identifier: MIT */
/* The addresses of system memory that a driver is told, by paging operations and submissions: what its device finds there, and
 * for how long. */
#include "port/support/client.h"
#include "port/support/scattered.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define APERTURE           2u
#define MS                 1000000ull
#define MANY               4096u

static const struct probe_options modes[] = {
    [IOMMU_OFF] = {0},
    [IOMMU_ISOLATION] = {.port = {.iommu = IOMMU_ISOLATION}},
    [IOMMU_REMAP] = {.port = {.iommu = IOMMU_REMAP}},
};

/* ---- the driver ---- */

struct told {
    uint64_t va;
    DXGK_PTE entry;
};

static struct {
    UINT flags, flags2, set; /* of allocations from now on */
    unsigned operations[64];
    DXGKARG_BUILDPAGINGBUFFER map, unmap; /* the latest */
    DXGK_PAGE_NUMBER pages[64];           /* of it */
    uint64_t aperture[MANY];              /* the page behind each of the segment's; 0: none yet */
    struct told told[MANY];               /* each entry of a leaf, the latest of an address */
    unsigned entries;
    unsigned system, beyond; /* addresses of system memory; those from `bound` on, in pages */
    unsigned out_of_reach;   /* and those that the device did not reach when they were told */
    uint64_t bound;
    uint64_t leaf[MANY]; /* pages of system memory in leaf entries */
    unsigned leaves;
    const DXGK_PAGE_NUMBER *list; /* the array of the latest list */
    bool list_lasts;              /* it had its content in a later call */
    unsigned written;             /* through the view of the driver */
} driver;

static bool reads(uint64_t at)
{
    uint8_t byte;

    return probe_device_dma(0, at, &byte, 1, false);
}

static uint8_t byte_at(uint64_t at)
{
    uint8_t byte = 0;

    CHECK(probe_device_dma(0, at, &byte, 1, false));
    return byte;
}

/* For both directions; what is there stays. */
static bool in_reach(uint64_t at)
{
    uint8_t byte;

    return probe_device_dma(0, at, &byte, 1, false) && probe_device_dma(0, at, &byte, 1, true);
}

/* The driver is told a page of system memory. */
static void hear(uint64_t page)
{
    driver.system++;
    driver.beyond += page >= driver.bound;
    driver.out_of_reach += !in_reach(page * PAGE_SIZE) ||
                           !in_reach(page * PAGE_SIZE + PAGE_SIZE - 1);
}

static uint64_t list_page(const DXGK_ADL *adl, uint64_t k)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + k : adl->Pages[k];
}

static void note_map(const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const DXGK_ADL *adl = &op->MapApertureSegment2.Adl;

    driver.map = *op;
    driver.list = adl->Flags.Contiguous ? NULL : adl->Pages;
    CHECK_RULE("IOMMU-087/c",
               op->MapApertureSegment2.AdlOffset + op->MapApertureSegment2.NumberOfPages <=
                   adl->PageCount);
    for (uint64_t k = 0; k < op->MapApertureSegment2.NumberOfPages; k++) {
        const uint64_t page = list_page(adl, op->MapApertureSegment2.AdlOffset + k);

        CHECK(op->MapApertureSegment2.OffsetInPages + k < MANY);
        driver.aperture[op->MapApertureSegment2.OffsetInPages + k] = page;
        if (k < 64)
            driver.pages[k] = page;
        hear(page);
    }
    if (op->MapApertureSegment2.CpuVisibleAddress) {
        ((uint8_t *)op->MapApertureSegment2.CpuVisibleAddress)[PAGE_SIZE + 7] = 0x5A;
        driver.written++;
    }
}

static void note_unmap(const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const uint64_t dummy = (uint64_t)op->UnmapApertureSegment.DummyPage.QuadPart;

    driver.unmap = *op;
    hear(dummy / PAGE_SIZE);
    for (uint64_t k = 0; k < op->UnmapApertureSegment.NumberOfPages; k++)
        driver.aperture[op->UnmapApertureSegment.OffsetInPages + k] = dummy / PAGE_SIZE;
}

static void note_entry(uint64_t va, const DXGK_PTE *entry)
{
    unsigned i = 0;

    while (i < driver.entries && driver.told[i].va != va)
        i++;
    if (i == driver.entries && !entry->Valid)
        return;
    CHECK(i < MANY);
    driver.entries += i == driver.entries;
    driver.told[i] = (struct told){va, *entry};
}

static void note_table(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *op)
{
    for (UINT k = 0; k < op->NumPageTableEntries; k++) {
        const DXGK_PTE *entry = &op->pPageTableEntries[op->Flags.Repeat ? 0 : k];

        if (entry->Valid && entry->Segment == 0) {
            hear(entry->PageAddress);
            if (op->PageTableLevel == 0 && driver.leaves < MANY)
                driver.leaf[driver.leaves++] = entry->PageAddress;
        }
        if (op->PageTableLevel == 0)
            note_entry(op->FirstPteVirtualAddress + k * PAGE_SIZE, entry);
    }
    if (op->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL &&
        op->PageTableAddress.GpuPhysical.SegmentId == 0)
        hear(op->PageTableAddress.GpuPhysical.SegmentOffset / PAGE_SIZE);
}

/* The array of a list is on loan for the call. */
static void look_at_list(void)
{
    DXGK_PAGE_NUMBER pages[2];

    if (driver.list && sim_copy_checked(pages, driver.list, sizeof(pages)) &&
        pages[0] == driver.pages[0] && pages[1] == driver.pages[1])
        driver.list_lasts = true;
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK((unsigned)op->Operation < 64);
    look_at_list();
    driver.operations[op->Operation]++;
    if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2)
        note_map(op);
    else if (op->Operation == DXGK_OPERATION_UNMAP_APERTURE_SEGMENT)
        note_unmap(op);
    else if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        note_table(&op->UpdatePageTable);
}

/* DMA buffers with a system address. */
static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->DmaBufferSegmentId == 0 && args->DmaBufferSize)
        hear((uint64_t)args->DmaBufferPhysicalAddress.QuadPart / PAGE_SIZE);
}

static void choose_flags(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; driver.set && i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = driver.set;
        info->PreferredSegment.SegmentId0 = driver.set & 1u ? 1 : APERTURE;
        info->PreferredSegment.SegmentId1 = 0;
        info->FlagsWddm2.Value = driver.flags;
    }
}

static UINT flags_of(bool physical, bool visible)
{
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags = {.Value = 0};

    flags.CpuVisible = flags.Cached = 1;
    flags.AccessedPhysically = physical;
    flags.MapApertureCpuVisible = visible;
    return flags.Value;
}

static struct probe *make(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    memset(&driver, 0, sizeof(driver));
    driver.bound = UINT64_MAX;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    p->before[PROBE_SubmitCommand] = note_submission;
    p->after[PROBE_CreateAllocation] = choose_flags;
    return p;
}

/* body on the thread of a client. */
static void live(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
}

static void in_mode(enum iommu_mode mode, void (*body)(struct probe *p))
{
    live(make(&modes[mode]), body);
}

#define RIG_ARGUMENT_mode       struct probe *p
#define RIG_RUN_mode(body, ...) in_mode(__VA_ARGS__, body)

/* ---- the client ---- */

static struct probe_gpu gpu;

static D3DKMT_HANDLE make_allocation(UINT set, UINT flags, uint64_t pages)
{
    D3DKMT_HANDLE allocation = 0;

    driver.set = set;
    driver.flags = flags;
    CHECK(IS(probe_gpu_allocate(&gpu, pages * PAGE_SIZE, &allocation), STATUS_SUCCESS));
    return allocation;
}

static uint8_t *lock(D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = allocation;
    CHECK(IS(D3DKMTLock2(&args), STATUS_SUCCESS));
    return args.pData;
}

static void unlock(D3DKMT_HANDLE allocation)
{
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_SUCCESS));
}

static void settle(void)
{
    probe_sleep(50 * MS);
}

/* Until the pages have gone where they go; `settled` false: what is under way holds them. */
static void evict(D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&args)));
}

static void destroy(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.AllocationCount = 1;
    args.phAllocationList = &allocation;
    CHECK(IS(D3DKMTDestroyAllocation2(&args), STATUS_SUCCESS));
    settle();
}

static void make_resident(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&args)));
    settle();
}

static uint64_t map_va(D3DKMT_HANDLE allocation, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.hAllocation = allocation;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    settle();
    return args.VirtualAddress;
}

static DXGK_PTE entry_of(uint64_t va)
{
    const uint64_t page = va & ~(uint64_t)(PAGE_SIZE - 1);

    for (unsigned i = 0; i < driver.entries; i++)
        if (driver.told[i].va == page)
            return driver.told[i].entry;
    return (DXGK_PTE){0};
}

static void begin_client(void)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end_client(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

/* ---- which operation ---- */

static void operations_body(struct probe *p)
{
    const bool second = p->caps.MemoryManagementCaps.MapAperture2Supported;
    D3DKMT_HANDLE h;

    begin_client();
    h = make_allocation(2, flags_of(true, false), 2);
    CHECK_RULE("IOMMU-086/a", (driver.operations[17] > 0) == second);
    CHECK_RULE("IOMMU-086/b", (driver.operations[5] > 0) == !second);
    CHECK(driver.operations[6] == 0);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-086/c",
               driver.operations[6] == 1 && driver.unmap.UnmapApertureSegment.NumberOfPages == 2);
    end_client();
}

TEST(the_cap_decides_the_operation)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = make(&modes[IOMMU_ISOLATION]);

        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1u;
        p->iommu.DmaRemappingSupported = second & 1u;
        live(p, operations_body);
    }
}

TEST_WITH(mode, only_what_is_accessed_physically_is_mapped, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t va;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(false, true), 2);
    va = map_va(h, 2);
    CHECK_RULE("IOMMU-092/b", driver.operations[17] == 0 && entry_of(va).Valid &&
                                  entry_of(va).Segment == 0 && driver.written == 0);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-092/b", driver.operations[6] == 0);
    h = make_allocation(2, flags_of(true, true), 2);
    CHECK_RULE("IOMMU-092/a", driver.operations[17] == 1 && driver.written == 1);
    va = map_va(h, 2);
    CHECK_RULE("IOMMU-092/a", entry_of(va).Valid && entry_of(va).PageAddress == driver.pages[0]);
    end_client();
}

/* ---- which pages ---- */

#define COUNT 6u

/* Page k of the allocation is where the driver was told, in the list and at the GPU's address. */
static void pages_body(struct probe *p)
{
    const bool remap = port_adapter_dma_mode(p->adapter[0]) == IOMMU_REMAP;
    D3DKMT_HANDLE first, h;
    uint8_t *bytes;
    uint64_t va;

    begin_client();
    first = make_allocation(2, flags_of(true, false), 3); /* so that the other is not at the start */
    scattered_begin(p, 500, 2);
    h = make_allocation(2, flags_of(true, false), COUNT);
    scattered_end(p, 500, 2);
    CHECK_RULE("IOMMU-088/a", !remap || driver.map.MapApertureSegment2.Adl.Flags.Contiguous);
    CHECK_RULE("IOMMU-088/b", remap || !driver.map.MapApertureSegment2.Adl.Flags.Contiguous);
    CHECK(driver.map.MapApertureSegment2.SegmentId == APERTURE &&
          driver.map.MapApertureSegment2.NumberOfPages == COUNT);
    CHECK_RULE("IOMMU-087/b", driver.map.MapApertureSegment2.OffsetInPages >= 3);
    va = map_va(h, COUNT);
    bytes = lock(first);
    bytes[2 * PAGE_SIZE] = 0x19;
    unlock(first);
    bytes = lock(h);
    for (unsigned k = 0; k < COUNT; k++)
        bytes[k * PAGE_SIZE + 1] = (uint8_t)(0x60 + k);
    for (unsigned k = 0; k < COUNT; k++) {
        const DXGK_PTE entry = entry_of(va + k * PAGE_SIZE);
        struct phys_addr frame;

        CHECK_RULE("IOMMU-087/a", byte_at(driver.pages[k] * PAGE_SIZE + 1) == 0x60 + k);
        CHECK_RULE(
            "IOMMU-087/b",
            byte_at(driver.aperture[driver.map.MapApertureSegment2.OffsetInPages + k] * PAGE_SIZE +
                    1) == 0x60 + k);
        /* the same page for accesses that go through page tables */
        CHECK(entry.Valid && entry.Segment == 0 && entry.PageAddress == driver.pages[k]);
        CHECK(ram_physical(p->ram, bytes + k * PAGE_SIZE, &frame));
        CHECK_RULE("IOMMU-084/b", (driver.pages[k] == frame.value / PAGE_SIZE) == !remap);
    }
    unlock(h);
    CHECK_RULE("IOMMU-089/b", byte_at(driver.pages[COUNT - 1] * PAGE_SIZE + 1) == 0x60 + COUNT - 1);
    CHECK_RULE("IOMMU-087/b", byte_at(driver.aperture[2] * PAGE_SIZE) == 0x19);
    destroy(h);
    CHECK(driver.unmap.UnmapApertureSegment.OffsetInPages ==
          driver.map.MapApertureSegment2.OffsetInPages);
    destroy(first);
    end_client();
}

TEST(lists_carry_the_pages_of_the_allocation)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++)
        in_mode(mode, pages_body);
}

/* ---- the view of the driver ---- */

static void view_body(struct probe *p)
{
    D3DKMT_HANDLE h;
    uint8_t *bytes, byte;
    const void *view;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(true, false), 2);
    CHECK_RULE("IOMMU-090/c", driver.operations[17] == 1 && driver.written == 0);
    destroy(h);
    h = make_allocation(2, flags_of(true, true), 2);
    CHECK_RULE("IOMMU-090/a", driver.operations[17] == 2 && driver.written == 1);
    view = driver.map.MapApertureSegment2.CpuVisibleAddress;
    bytes = lock(h);
    CHECK_RULE("IOMMU-090/a",
               bytes[PAGE_SIZE + 7] == 0x5A && byte_at(driver.pages[1] * PAGE_SIZE + 7) == 0x5A);
    unlock(h);
    CHECK_RULE("IOMMU-090/b", sim_copy_checked(&byte, (const uint8_t *)view + 2 * PAGE_SIZE - 1, 1));
    evict(h);
    settle();
    CHECK_RULE("IOMMU-090/b", driver.operations[6] == 2 && !sim_copy_checked(&byte, view, 1) &&
                                  !sim_copy_checked(&byte, (const uint8_t *)view + PAGE_SIZE, 1));
    make_resident(h);
    CHECK_RULE("IOMMU-090/a", driver.operations[17] == 3 && driver.written == 2);
    end_client();
}

TEST(a_driver_sees_what_it_asked_to_see)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++)
        in_mode(mode, view_body);
}

static void refused_body(struct probe *p)
{
    const bool second = p->caps.MemoryManagementCaps.MapAperture2Supported;
    D3DKMT_HANDLE h = 0;
    NTSTATUS status;

    begin_client();
    driver.set = 2;
    driver.flags = flags_of(true, true);
    status = probe_gpu_allocate(&gpu, 2 * PAGE_SIZE, &h);
    CHECK_RULE("IOMMU-091", IS(status, second ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER) &&
                                probe_reports(p, VERIFY_ERROR) == !second &&
                                probe_rule(p, "ALLOC-061") == !second);
    CHECK_RULE("SEG-080", IS(status, second ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
    end_client();
}

TEST(a_view_needs_the_cap)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = make(NULL);

        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1u;
        p->iommu.DmaRemappingSupported = second & 1u;
        live(p, refused_body);
    }
}

/* ---- no frame number is told in logical mode ---- */

/* Pages of RAM that are taken, so that frames lie above, and logical pages below. */
#define LOW 8192u

static struct page_number low[LOW];

static void every_kind_body(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_HANDLE h[4];

    (void)p;
    begin_client();
    for (unsigned i = 0; i < 4; i++) {
        h[i] = make_allocation(i & 1 ? 2 : 3, flags_of(i & 2, false), 5);
        (void)map_va(h[i], 5);
    }
    memset(&fence, 0, sizeof(fence));
    fence.hDevice = gpu.device;
    fence.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&fence), STATUS_SUCCESS));
    for (unsigned i = 0; i < 4; i++) {
        evict(h[i]);
        settle();
    }
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(driver.operations[17] && driver.operations[6] && driver.operations[11]);
    end_client();
}

/* Page tables in system memory, too, whose addresses stand in operations and in the entries above them. */
TEST(no_frame_number_is_told_in_logical_mode)
{
    const struct ram_request request = {
        .pages = LOW, .high = {LOW * PAGE_SIZE - 1}, .owner = RAM_HOST, .cache = RAM_CACHED};
    uint64_t count;

    for (unsigned tables = 0; tables < 2; tables++) {
        struct probe *p = make(&modes[IOMMU_REMAP]);
        struct probe_client *client;

        count = ram_take_some_pages(p->ram, &request, low);
        for (unsigned i = 0; tables && i < 4; i++)
            p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
        driver.bound = LOW;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, every_kind_body);
        CHECK_RULE("IOMMU-084/a", driver.system > 50 && driver.beyond == 0);
        CHECK_RULE("IOMMU-084/c", driver.out_of_reach == 0);
        probe_client_end(p, client);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0);
        ram_give_pages(p->ram, low, count);
        probe_destroy(p);
    }
}

/* ---- for how long ---- */

static bool none_answers(void)
{
    for (unsigned i = 0; i < driver.leaves; i++)
        if (reads(driver.leaf[i] * PAGE_SIZE))
            return false;
    return driver.leaves > 0;
}

static void fill(D3DKMT_HANDLE allocation, uint64_t pages, uint8_t value)
{
    memset(lock(allocation), value, pages * PAGE_SIZE);
    unlock(allocation);
}

#define EVICTED 8u

/* Since the last time. */
static bool transferred(void)
{
    const bool any = driver.operations[DXGK_OPERATION_VIRTUAL_TRANSFER] > 0;

    driver.operations[DXGK_OPERATION_VIRTUAL_TRANSFER] = 0;
    return any && driver.leaves >= EVICTED && driver.out_of_reach == 0;
}

/* To and from a memory segment: while the transfer runs, and no longer. */
TEST_WITH(mode, pages_of_a_transfer_are_mapped_for_it, IOMMU_ISOLATION)
{
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 visible = {.Value = 0};
    D3DKMT_HANDLE h;

    (void)p;
    visible.CpuVisible = 1; /* and not cached, so that it stays where it is for the processor */
    begin_client();
    h = make_allocation(1, visible.Value, EVICTED);
    fill(h, EVICTED, 0x21);
    CHECK(!transferred());
    driver.leaves = 0;
    evict(h);
    settle();
    CHECK_RULE("IOMMU-066/a", transferred());
    CHECK_RULE("IOMMU-066/b", none_answers());
    driver.leaves = 0;
    make_resident(h);
    CHECK_RULE("IOMMU-066/a", transferred());
    CHECK_RULE("IOMMU-066/b", none_answers());
    end_client();
}
TEST_ALSO(mode, pages_of_a_transfer_are_mapped_for_it, remapped, IOMMU_REMAP)

/* In an aperture, and in the implicit system memory segment. */
TEST_WITH(mode, pages_are_mapped_while_resident, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t va;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(true, false), 3);
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/c", reads(driver.pages[k] * PAGE_SIZE));
    evict(h);
    settle();
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/c", !reads(driver.pages[k] * PAGE_SIZE));
    h = make_allocation(2, flags_of(false, false), 3);
    driver.leaves = 0;
    va = map_va(h, 3);
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/d", reads(entry_of(va + k * PAGE_SIZE).PageAddress * PAGE_SIZE));
    CHECK(driver.leaves == 3);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-066/d", none_answers());
    end_client();
}
TEST_ALSO(mode, pages_are_mapped_while_resident, remapped, IOMMU_REMAP)

/* An eviction waits for the work that may use the pages. */
TEST_WITH(mode, pages_stay_until_the_device_is_done, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t at;

    begin_client();
    h = make_allocation(2, flags_of(false, false), 3);
    at = entry_of(map_va(h, 3)).PageAddress * PAGE_SIZE;
    CHECK_RULE("IOMMU-069/a", driver.system > 0 && driver.out_of_reach == 0 && reads(at));
    probe_device_packet_ns = 20 * MS;
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(MS);
    evict(h);
    probe_sleep(10 * MS);
    CHECK_RULE("IOMMU-069/b", p->state[0].submitted[1] != p->state[0].reported[1] && reads(at));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    probe_device_packet_ns = 1000;
    probe_sleep(500 * MS);
    CHECK_RULE("IOMMU-069/b", !reads(at));
    destroy(h);
    CHECK_RULE("IOMMU-069/c", probe_rule(p, "PHYS-003") == 0 && probe_rule(p, "IOMMU-075") == 0);
    end_client();
}
TEST_ALSO(mode, pages_stay_until_the_device_is_done, remapped, IOMMU_REMAP)

static void hold_pages(struct probe *p)
{
    (void)p;
    begin_client();
    (void)make_allocation(2, flags_of(true, false), 3);
    CHECK(reads(driver.pages[0] * PAGE_SIZE) && reads(driver.pages[2] * PAGE_SIZE));
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true) == STATUS_SUCCESS);
}

/* What the aperture had is lost with it, and so is the way there. */
TEST(a_reset_leaves_no_page_in_reach)
{
    for (enum iommu_mode mode = IOMMU_ISOLATION; mode <= IOMMU_REMAP; mode++) {
        struct probe *p = make(&modes[mode]);
        struct probe_client *client;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, hold_pages);
        CHECK(probe_run(p, reset) == SIM_DONE);
        for (unsigned k = 0; k < 3; k++)
            CHECK_RULE("IOMMU-066/c", !reads(driver.pages[k] * PAGE_SIZE));
        probe_client_end(p, client);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0);
        probe_destroy(p);
    }
}

static unsigned last_looks;

/* The paging process goes last. */
static void at_the_last(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    last_looks++;
    CHECK_RULE("IOMMU-085", reads((uint64_t)driver.unmap.UnmapApertureSegment.DummyPage.QuadPart));
}

static void dummy_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    for (unsigned i = 0; i < 3; i++) {
        h = make_allocation(2, flags_of(true, false), 4);
        destroy(h);
        /* through each page of the range that was unmapped */
        for (unsigned k = 0; k < 4; k++)
            CHECK_RULE("IOMMU-085",
                       reads(driver.aperture[driver.unmap.UnmapApertureSegment.OffsetInPages + k] *
                             PAGE_SIZE) &&
                           driver.aperture[driver.unmap.UnmapApertureSegment.OffsetInPages + k] !=
                               driver.pages[k]);
    }
    CHECK(probe_rule(p, "IOMMU-072") == 0);
    end_client();
}

TEST(what_is_unmapped_leads_to_the_dummy_page)
{
    for (enum iommu_mode mode = IOMMU_ISOLATION; mode <= IOMMU_REMAP; mode++) {
        struct probe *p = make(&modes[mode]);

        last_looks = 0;
        p->before[PROBE_DestroyProcess] = at_the_last;
        live(p, dummy_body);
        CHECK_RULE("IOMMU-085", last_looks == 2); /* the client's and the system's */
    }
}

static void loan_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    scattered_begin(p, 500, 2);
    h = make_allocation(2, flags_of(true, false), COUNT);
    scattered_end(p, 500, 2);
    CHECK(driver.list);
    (void)map_va(h, COUNT); /* calls that follow */
    CHECK_RULE("IOMMU-089/a", !driver.list_lasts);
    CHECK_RULE("IOMMU-089/b", reads(driver.pages[0] * PAGE_SIZE));
    end_client();
}

TEST_WITH(mode, the_array_of_a_list_is_on_loan, IOMMU_ISOLATION)
{
    loan_body(p);
}

/* ---- fences ---- */

enum { FENCES = 600 };

static struct {
    D3DKMT_HANDLE handle;
    volatile uint64_t *value;
    uint64_t va;
} fences[FENCES];

static void make_fence_with(unsigned i, bool gpu_access)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.Info.Type = D3DDDI_MONITORED_FENCE;
    args.Info.Flags.NoGPUAccess = !gpu_access;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&args), STATUS_SUCCESS));
    fences[i].handle = args.hSyncObject;
    fences[i].value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    fences[i].va = args.Info.MonitoredFence.FenceValueGPUVirtualAddress;
}

static void make_fence(unsigned i)
{
    make_fence_with(i, true);
}

static void drop_fence(unsigned i)
{
    CHECK(IS(D3DKMTDestroySynchronizationObject(
                 &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){fences[i].handle}),
             STATUS_SUCCESS));
}

/* Where the device finds the value: the page of the entry, and the byte in it. */
static uint64_t fence_at(unsigned i)
{
    const DXGK_PTE entry = entry_of(fences[i].va);

    CHECK(entry.Valid && entry.Segment == 0);
    return entry.PageAddress * PAGE_SIZE + fences[i].va % PAGE_SIZE;
}

TEST_WITH(mode, a_fence_is_in_reach_for_its_life, IOMMU_ISOLATION)
{
    unsigned count = 0;
    uint64_t value = 5, at;

    begin_client();
    do {
        CHECK(count < FENCES);
        make_fence(count);
    } while (fence_at(count++) / PAGE_SIZE == fence_at(0) / PAGE_SIZE);
    /* the last one has a page of its own */
    at = fence_at(count - 1);
    CHECK_RULE("IOMMU-067/a", probe_device_dma(0, at, &value, sizeof(value), true) &&
                                  *fences[count - 1].value == 5);
    value = 6;
    CHECK_RULE("IOMMU-067/a", probe_device_dma(0, fence_at(0), &value, sizeof(value), true) &&
                                  *fences[0].value == 6 && probe_rule(p, "IOMMU-072") == 0);
    drop_fence(0);
    settle();
    CHECK_RULE("IOMMU-067/a", reads(at) && reads(fence_at(1)));
    drop_fence(count - 1);
    settle();
    CHECK_RULE("IOMMU-067/b", !reads(at) && !probe_device_dma(0, at, &value, sizeof(value), true));
    end_client();
}
TEST_ALSO(mode, a_fence_is_in_reach_for_its_life, remapped, IOMMU_REMAP)

TEST_WITH(mode, a_fence_without_gpu_access_is_not_mapped, IOMMU_ISOLATION)
{
    size_t mappings;

    begin_client();
    make_fence(0);
    mappings = probe_count(p, PROBE_BuildPagingBuffer);
    for (unsigned i = 1; i < FENCES; i++) {
        make_fence_with(i, false);
        CHECK_RULE("SUBMIT-142", fences[i].va == 0);
    }
    CHECK_RULE("SUBMIT-142", probe_count(p, PROBE_BuildPagingBuffer) == mappings);
    for (unsigned i = 1; i < FENCES; i++)
        drop_fence(i);
    for (unsigned i = 1; i < FENCES; i++) /* more than a page has room for */
        make_fence(i);
    CHECK(probe_count(p, PROBE_BuildPagingBuffer) > mappings);
    for (unsigned i = 0; i < FENCES; i++)
        drop_fence(i);
    end_client();
}

/* ---- what is not announced ---- */

static void quiet_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    for (unsigned i = 0; i < 2; i++) {
        h = make_allocation(2, flags_of(i & 1u, false), 3);
        fill(h, 3, 0x31);
        evict(h);
        settle();
        make_resident(h);
        CHECK_RULE("IOMMU-097", lock(h)[2 * PAGE_SIZE] == 0x31);
        unlock(h);
    }
    for (unsigned i = DXGK_OPERATION_MAP_APERTURE_SEGMENT2 + 1; i < 64; i++) {
        CHECK_RULE("IOMMU-097", driver.operations[i] == 0);
        CHECK_RULE("PAGE-080", driver.operations[i] == 0);
    }
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    end_client();
}

static void ask_to_be_told(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    choose_flags(p, call);
    for (UINT i = 0; i < args->NumAllocations; i++)
        args->pAllocationInfo[i].Flags2.Reserved = 0x7FFFFFFF; /* NotifyIoMmuUnmap is one of them */
}

TEST(no_unmapping_is_announced)
{
    const struct probe_options newer = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0,
                                        .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = make(&newer);

    p->after[PROBE_CreateAllocation] = ask_to_be_told;
    live(p, quiet_body);
}

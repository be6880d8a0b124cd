/* SPDX-License-Identifier: MIT */
/*
 * Tests of the addresses of system memory that a driver is told: a driver that notes them, by paging operations and submissions,
 * looks at once what its device finds there, and a client.
 *
 *     live(make(&modes[IOMMU_REMAP]), body);          body on the thread of a client; TEST_WITH(mode, name, IOMMU_REMAP)
 */
#ifndef DXGK_TESTS_PORT_TOLD_ADDRESSES_H
#define DXGK_TESTS_PORT_TOLD_ADDRESSES_H

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

static inline bool reads(uint64_t at)
{
    uint8_t byte;

    return probe_device_dma(0, at, &byte, 1, false);
}

static inline uint8_t byte_at(uint64_t at)
{
    uint8_t byte = 0;

    CHECK(probe_device_dma(0, at, &byte, 1, false));
    return byte;
}

/* For both directions; what is there stays. */
static inline bool in_reach(uint64_t at)
{
    uint8_t byte;

    return probe_device_dma(0, at, &byte, 1, false) && probe_device_dma(0, at, &byte, 1, true);
}

/* The driver is told a page of system memory. */
static inline void hear(uint64_t page)
{
    driver.system++;
    driver.beyond += page >= driver.bound;
    driver.out_of_reach += !in_reach(page * PAGE_SIZE) ||
                           !in_reach(page * PAGE_SIZE + PAGE_SIZE - 1);
}

static inline uint64_t list_page(const DXGK_ADL *adl, uint64_t k)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + k : adl->Pages[k];
}

static inline void note_map(const DXGKARG_BUILDPAGINGBUFFER *op)
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

static inline void note_unmap(const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const uint64_t dummy = (uint64_t)op->UnmapApertureSegment.DummyPage.QuadPart;

    driver.unmap = *op;
    hear(dummy / PAGE_SIZE);
    for (uint64_t k = 0; k < op->UnmapApertureSegment.NumberOfPages; k++)
        driver.aperture[op->UnmapApertureSegment.OffsetInPages + k] = dummy / PAGE_SIZE;
}

static inline void note_entry(uint64_t va, const DXGK_PTE *entry)
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

static inline void note_table(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *op)
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
static inline void look_at_list(void)
{
    DXGK_PAGE_NUMBER pages[2];

    if (driver.list && sim_copy_checked(pages, driver.list, sizeof(pages)) &&
        pages[0] == driver.pages[0] && pages[1] == driver.pages[1])
        driver.list_lasts = true;
}

static inline void note_operation(struct probe *p, struct probe_call *call)
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
static inline void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->DmaBufferSegmentId == 0 && args->DmaBufferSize)
        hear((uint64_t)args->DmaBufferPhysicalAddress.QuadPart / PAGE_SIZE);
}

static inline void choose_flags(struct probe *p, struct probe_call *call)
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

static inline UINT flags_of(bool physical, bool visible)
{
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags = {.Value = 0};

    flags.CpuVisible = flags.Cached = 1;
    flags.AccessedPhysically = physical;
    flags.MapApertureCpuVisible = visible;
    return flags.Value;
}

static inline struct probe *make(const struct probe_options *options)
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
static inline void live(struct probe *p, void (*body)(struct probe *p))
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

static inline void in_mode(enum iommu_mode mode, void (*body)(struct probe *p))
{
    live(make(&modes[mode]), body);
}

#define RIG_ARGUMENT_mode       struct probe *p
#define RIG_RUN_mode(body, ...) in_mode(__VA_ARGS__, body)

/* ---- the client ---- */

static struct probe_gpu gpu;

static inline D3DKMT_HANDLE make_allocation(UINT set, UINT flags, uint64_t pages)
{
    D3DKMT_HANDLE allocation = 0;

    driver.set = set;
    driver.flags = flags;
    CHECK(IS(probe_gpu_allocate(&gpu, pages * PAGE_SIZE, &allocation), STATUS_SUCCESS));
    return allocation;
}

static inline uint8_t *lock(D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = allocation;
    CHECK(IS(D3DKMTLock2(&args), STATUS_SUCCESS));
    return args.pData;
}

static inline void unlock(D3DKMT_HANDLE allocation)
{
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_SUCCESS));
}

static inline void settle(void)
{
    probe_sleep(50 * MS);
}

/* Until the pages have gone where they go; `settled` false: what is under way holds them. */
static inline void evict(D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&args)));
}

static inline void destroy(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.AllocationCount = 1;
    args.phAllocationList = &allocation;
    CHECK(IS(D3DKMTDestroyAllocation2(&args), STATUS_SUCCESS));
    settle();
}

static inline void make_resident(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&args)));
    settle();
}

static inline uint64_t map_va(D3DKMT_HANDLE allocation, uint64_t pages)
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

static inline DXGK_PTE entry_of(uint64_t va)
{
    const uint64_t page = va & ~(uint64_t)(PAGE_SIZE - 1);

    for (unsigned i = 0; i < driver.entries; i++)
        if (driver.told[i].va == page)
            return driver.told[i].entry;
    return (DXGK_PTE){0};
}

static inline void begin_client(void)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static inline void end_client(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

#endif

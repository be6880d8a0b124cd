/* SPDX-License-Identifier: MIT */
/* Calls of the memory callbacks whose outcome is looked at, and what the device and the processor then find. */
#ifndef DXGK_TESTS_PORT_MEMORY_SCENE_H
#define DXGK_TESTS_PORT_MEMORY_SCENE_H

#include "iommu/iommu.h"
#include "port/support/memory_calls.h"
#include "sim/fault.h"
#include "sim/sim.h"

#define PAGE 4096ull
#define MIB  (1ull << 20)
#define NONE ((PVOID)(uintptr_t)0x5A5A5A5A)

/* Options of the probe: without an IOMMU, isolated, with logical addresses. */
static const struct probe_options memory_physical = {.port = {.iommu = IOMMU_OFF}};
static const struct probe_options memory_isolated = {.port = {.iommu = IOMMU_ISOLATION}};
static const struct probe_options memory_logical = {.port = {.iommu = IOMMU_REMAP}};

#define RIG_ARGUMENT_memory          struct probe *p
#define RIG_RUN_memory(body, option) probe_end(probe_started(option), body)

/* ---- what there is ---- */

static inline PHYSICAL_ADDRESS at_byte(uint64_t value)
{
    return (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)value};
}

static inline enum iommu_mode memory_mode(struct probe *p)
{
    return iommu_domain_mode(port_adapter_domain(p->adapter[0]));
}

static inline uint64_t page_of(const void *pointer)
{
    return (uint64_t)MmGetPhysicalAddress((PVOID)(uintptr_t)pointer).QuadPart / PAGE;
}

/* The first of so many free frames side by side, at a multiple of `align` frames plus `offset`. */
static inline uint64_t free_frames(struct probe *p, uint64_t count, uint64_t align, uint64_t offset)
{
    for (uint64_t first = align; first < ram_bytes(p->ram) / PAGE; first += align)
        if (ram_free_run(p->ram, (struct page_number){first - offset}) >= count)
            return first - offset;
    fail_msg("RAM is too full");
    return 0;
}

static inline bool readable(const volatile void *at)
{
    char byte;

    return sim_copy_checked(&byte, (const void *)(uintptr_t)at, 1);
}

static inline bool writable(volatile void *at)
{
    char byte;

    return sim_copy_checked(&byte, (void *)(uintptr_t)at, 1) &&
           sim_copy_checked((void *)(uintptr_t)at, &byte, 1);
}

/* Pages of the frames in use, commit charge, and what a driver has: all of it is back after an undone call. */
struct memory_state {
    uint64_t pages, commit, mapped;
    size_t held;
};

static inline struct memory_state memory_now(struct probe *p)
{
    return (struct memory_state){
        ram_free_pages(p->ram), physical_memory_commit(port_physical_memory(p->port)),
        iommu_domain_mapped_pages(port_adapter_domain(p->adapter[0])), held(p)};
}

static inline bool memory_same(struct probe *p, struct memory_state before)
{
    struct memory_state now = memory_now(p);

    return now.pages == before.pages && now.commit == before.commit &&
           now.mapped == before.mapped && now.held == before.held &&
           physical_memory_validate(port_physical_memory(p->port));
}

/* ---- the device ---- */

/* Byte `offset` of a device page. Without an IOMMU an access to memory not held for it is carried out and reported. */
static inline bool device_reads(struct probe *p, uint64_t page, uint64_t offset, char *byte)
{
    uint64_t before = probe_rule(p, "IOMMU-075");

    *byte = 0;
    return probe_device_dma(0, page * PAGE + offset, byte, 1, false) &&
           probe_rule(p, "IOMMU-075") == before;
}

static inline bool device_writes(struct probe *p, uint64_t page, uint64_t offset, char byte)
{
    uint64_t before = probe_rule(p, "IOMMU-075");

    return probe_device_dma(0, page * PAGE + offset, &byte, 1, true) &&
           probe_rule(p, "IOMMU-075") == before;
}

static inline bool device_reaches(struct probe *p, uint64_t page)
{
    char byte;

    return device_reads(p, page, 0, &byte);
}

static inline char device_byte(struct probe *p, uint64_t page, uint64_t offset)
{
    char byte;

    CHECK(device_reads(p, page, offset, &byte));
    return byte;
}

/* ---- blocks and pages ---- */

static inline DXGKARGCB_ALLOCATECONTIGUOUSMEMORY ask_block(SIZE_T bytes)
{
    return (DXGKARGCB_ALLOCATECONTIGUOUSMEMORY){.NumberOfBytes = bytes,
                                                .HighestAcceptableAddress.QuadPart = -1,
                                                .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
                                                .hMemoryHandle = NONE,
                                                .pMemory = NONE};
}

static inline NTSTATUS take_block(struct probe *p, DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args)
{
    return DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, args);
}

static inline DXGKARGCB_ALLOCATEPAGESFORMDL ask_pages(SIZE_T bytes)
{
    return (DXGKARGCB_ALLOCATEPAGESFORMDL){.TotalBytes = bytes,
                                           .HighAddress.QuadPart = -1,
                                           .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
                                           .hMemoryHandle = NONE,
                                           .pMdl = NONE};
}

static inline NTSTATUS take_pages(struct probe *p, DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    return DXGK.DxgkCbAllocatePagesForMdl(DXGK.DeviceHandle, args);
}

static inline uint64_t pfn(const DXGKARGCB_ALLOCATEPAGESFORMDL *args, uint64_t i)
{
    return MmGetMdlPfnArray(args->pMdl)[i];
}

/* The outcome of one call, undone if it succeeded. */
static inline NTSTATUS try_block(struct probe *p, const DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY copy = *args;
    NTSTATUS status = take_block(p, &copy);

    if (NT_SUCCESS(status))
        CHECK(IS(free_block(p, copy.hMemoryHandle), STATUS_SUCCESS));
    return status;
}

static inline NTSTATUS try_pages(struct probe *p, const DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL copy = *args;
    NTSTATUS status = take_pages(p, &copy);

    if (NT_SUCCESS(status))
        CHECK(IS(free_pages(p, copy.hMemoryHandle), STATUS_SUCCESS));
    return status;
}

#endif

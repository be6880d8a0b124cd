/* SPDX-License-Identifier: MIT */
/*
 * Memory descriptor lists: building, locking, page allocation. Mapping is in mdl_map.c.
 *
 * An MDL and its page numbers are the driver's memory, and drivers do read and even build them. The
 * host has a record of each MDL that it allocated or that holds something (locked pages, allocated
 * pages, a mapping), with a copy of the page numbers: exactly what was locked, allocated or mapped
 * is later unlocked, freed or unmapped, whatever the MDL then contains.
 */
#include <string.h>

#include "nt/mm/mdl.h"
#include "bus/window.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/raise.h"
#include "nt/mm/address_query.h"
#include "nt/mm/mdl_record.h"
#include "nt/mm/pool.h"
#include "nt/mm/user_range.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define MDL_TAG     0x206C644Du /* "Mdl " */
#define LARGEST_MDL (0x100000000u - PAGE_SIZE)

const struct nt_component nt_mdl_component = NT_MAP_COMPONENT(mdls);

/* ---- records ---- */

struct nt_mdl *nt_mdl_find(const MDL *mdl)
{
    return mdl ? hash_get(nt_state()->mdls, (uintptr_t)mdl) : NULL;
}

struct nt_mdl *nt_mdl_record(PMDL mdl)
{
    struct nt_mdl *record = nt_mdl_find(mdl);

    if (record)
        return record;
    record = util_zalloc(1, sizeof(*record));
    if (!record)
        return NULL;
    record->mdl = mdl;
    list_init(&record->resource.link);
    list_init(&record->held.link);
    if (hash_put(nt_state()->mdls, (uintptr_t)mdl, record))
        return record;
    util_free(record);
    return NULL;
}

void nt_mdl_drop_if_idle(struct nt_mdl *record)
{
    if (record->block || record->page || record->mapping)
        return;
    hash_remove(nt_state()->mdls, (uintptr_t)record->mdl);
    nt_resource_untrack(&record->resource);
    util_free(record);
}

uint32_t nt_mdl_span(const MDL *mdl)
{
    return ADDRESS_AND_SIZE_TO_SPAN_PAGES((uintptr_t)mdl->ByteOffset, mdl->ByteCount);
}

/* Whether the page array of the MDL has room for its length. For an MDL that the host allocated the
 * size is known; for others it is taken from the header. */
bool nt_mdl_check(PMDL mdl, const char *rule, const char *routine)
{
    const struct nt_mdl *record;
    uint64_t room;

    if (!nt_memory_check(mdl, "MDL", routine))
        return false;
    record = nt_mdl_find(mdl);
    room = record && (record->block || record->lent) ? record->capacity
           : mdl->Size < (CSHORT)sizeof(MDL)
               ? 0
               : ((uint64_t)mdl->Size - sizeof(MDL)) / sizeof(PFN_NUMBER);
    if (mdl->ByteOffset >= PAGE_SIZE || nt_mdl_span(mdl) > room) {
        VIOLATION(rule, "%s of an MDL that describes %u page(s) and has room for %llu", routine,
                  nt_mdl_span(mdl), (unsigned long long)room);
        return false;
    }
    return true;
}

/* The MDL may be in memory that was freed. */
void nt_mdl_clear(PMDL mdl, CSHORT flags)
{
    CSHORT now;

    if (nt_memory_of(mdl) == NT_MEMORY_FREED || !sim_copy_checked(&now, &mdl->MdlFlags, sizeof(now)))
        return;
    now &= (CSHORT)~flags;
    sim_copy_checked(&mdl->MdlFlags, &now, sizeof(now));
}

/* ---- allocation ---- */

static void init_header(PMDL mdl, const void *address, uint64_t bytes)
{
    uint64_t pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(address, bytes);
    uint64_t size = sizeof(MDL) + pages * sizeof(PFN_NUMBER);

    memset(mdl, 0, sizeof(*mdl));
    mdl->Size = (CSHORT)(size < 0x7FF8 ? size : 0x7FF8);
    mdl->StartVa = PAGE_ALIGN(address);
    mdl->ByteOffset = BYTE_OFFSET(address);
    mdl->ByteCount = (ULONG)bytes;
}

static void reclaim_mdl(struct nt_resource *resource);

static const struct nt_resource_class mdl_class = {
    .rule = "NT-114",
    .noun = "MDL",
    .reclaim = reclaim_mdl,
};

/* Allocate an MDL in its own pool block, tracked as an MDL and not as a block. */
static struct nt_mdl *allocate(const void *address, uint64_t bytes, const void *caller)
{
    uint64_t pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(address, bytes);
    struct nt_block *block = nt_pool_take(sizeof(MDL) + pages * sizeof(PFN_NUMBER), MDL_TAG,
                                          NT_POOL_NONPAGED, false, caller);
    struct nt_mdl *record;

    if (!block)
        return NULL;
    init_header((PMDL)(void *)block->address, address, bytes);
    record = nt_mdl_record((PMDL)(void *)block->address);
    if (!record) {
        nt_pool_give(block);
        return NULL;
    }
    record->block = block;
    record->capacity = pages;
    nt_resource_untrack(&block->resource);
    nt_resource_track(&record->resource, &mdl_class, caller);
    return record;
}

NT_EXPORT PMDL NTAPI IoAllocateMdl(PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer,
                                   BOOLEAN ChargeQuota, PIRP Irp)
{
    struct nt_mdl *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-114", NT_NO_CODE, __func__);
    if (Length > LARGEST_MDL)
        return NULL;
    if (!Irp && (SecondaryBuffer || ChargeQuota))
        VIOLATION("NT-114", "%s with SecondaryBuffer or ChargeQuota and without an IRP", __func__);
    record = allocate(VirtualAddress, Length, NT_CALLER());
    if (!record)
        return NULL;
    if (Irp && !SecondaryBuffer)
        Irp->MdlAddress = record->mdl;
    return record->mdl;
}

static void free_allocated(struct nt_mdl *record)
{
    struct nt_block *block = record->block;

    record->block = NULL;
    nt_mdl_drop_if_idle(record);
    nt_pool_give(block);
}

NT_EXPORT VOID NTAPI IoFreeMdl(PMDL Mdl)
{
    struct nt_mdl *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-114", NT_NO_CODE, __func__);
    if (nt_mdl_is_lent(Mdl, __func__))
        return;
    record = nt_mdl_find(Mdl);
    if (!record || !record->block || record->owns_pages) {
        VIOLATION("NT-115", "%s of something that IoAllocateMdl did not return", __func__);
        return;
    }
    if (record->page || (record->mapping && !(Mdl->MdlFlags & MDL_PARTIAL)))
        NT_VERIFIER("NT-115", 0xB8, (uintptr_t)Mdl, 0, 0, "%s of an MDL with pages still %s",
                    __func__, record->page ? "locked" : "mapped");
    if (record->mapping)
        nt_mdl_unmap_by(record, __func__, NT_CALLER());
    if (record->page)
        nt_mdl_unlock(record);
    free_allocated(record);
}

/* ---- MDLs of the host's services ---- */

bool nt_mdl_lend(PMDL mdl, const struct page_number *pages, uint32_t count)
{
    struct nt_mdl *record = nt_mdl_record(mdl);
    struct page_number *copy = record ? util_alloc(count * sizeof(*copy)) : NULL;

    if (!copy) {
        if (record)
            nt_mdl_drop_if_idle(record);
        return false;
    }
    memcpy(copy, pages, count * sizeof(*copy));
    record->page = copy;
    record->pages = count;
    record->capacity = count;
    record->lent = true;
    return true;
}

bool nt_mdl_take_back(PMDL mdl)
{
    struct nt_mdl *record = nt_mdl_find(mdl);
    bool by_a_process = record && record->mapping && record->mapping->process;

    if (!record || !record->lent)
        return false;
    if (record->mapping)
        nt_mdl_unmap(record);
    util_free(record->page);
    record->page = NULL;
    record->pages = 0;
    nt_mdl_drop_if_idle(record);
    return by_a_process;
}

bool nt_mdl_is_lent(const void *address, const char *routine)
{
    const struct nt_mdl *record = nt_mdl_find(address);

    if (!record || !record->lent)
        return false;
    VIOLATION("PHYS-075", "%s of an MDL that belongs to the host", routine);
    return true;
}

/* ExFreePool of a block that is an MDL is correct after MmFreePagesFromMdl. */
void nt_mdl_forget(const void *address, const char *routine, const void *caller)
{
    struct nt_mdl *record = nt_mdl_find(address);

    if (!record)
        return;
    if (record->page || record->mapping || (record->block && !record->page_list))
        VIOLATION("NT-115", "ExFreePool of an MDL %s",
                  record->page      ? "that holds pages"
                  : record->mapping ? "that is mapped"
                                    : "that IoAllocateMdl made");
    if (record->mapping)
        nt_mdl_unmap_by(record, routine, caller);
    if (record->page)
        nt_mdl_unlock(record);
    record->block = NULL;
    nt_mdl_drop_if_idle(record);
}

static void reclaim_mdl(struct nt_resource *resource)
{
    struct nt_mdl *record = CONTAINER(resource, struct nt_mdl, resource);

    if (record->mapping)
        nt_mdl_unmap(record);
    if (record->page)
        nt_mdl_unlock(record);
    free_allocated(record);
}

NT_EXPORT SIZE_T NTAPI MmSizeOfMdl(PVOID Base, SIZE_T Length)
{
    NT_ENTER();
    return sizeof(MDL) + ADDRESS_AND_SIZE_TO_SPAN_PAGES(Base, Length) * sizeof(PFN_NUMBER);
}

/* ---- nonpaged pool ---- */

/* The page number of nonpageable kernel memory; false: reported. */
static bool nonpaged_page(const uint8_t *address, PFN_NUMBER *pfn, const char *routine)
{
    struct phys_addr physical;

    if (nt_memory_of(address) == NT_MEMORY_PAGED) {
        NT_VERIFIER("NT-116", 0x7F, (uintptr_t)address, 0, 0,
                    "%s of an MDL that describes paged pool", routine);
        return false;
    }
    if (!ram_physical(nt_state()->ram, address, &physical)) {
        VIOLATION("NT-116", "%s of an MDL that describes %s", routine,
                  nt_memory_on_stack(address) ? "the kernel stack"
                                              : "memory that is no pool and no contiguous memory");
        return false;
    }
    *pfn = phys_page(physical).value;
    return true;
}

NT_EXPORT VOID NTAPI MmBuildMdlForNonPagedPool(PMDLX MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    PPFN_NUMBER pfn;
    uint32_t pages;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-116", NT_NO_CODE, __func__);
    if (!nt_mdl_check(mdl, "NT-116", __func__))
        return;
    if (mdl->MdlFlags & (MDL_PAGES_LOCKED | MDL_MAPPED_TO_SYSTEM_VA | MDL_PARTIAL)) {
        VIOLATION("NT-116", "%s of an MDL that is locked, mapped or partial (flags %#x)", __func__,
                  (unsigned)mdl->MdlFlags & 0xFFFF);
        return;
    }
    pfn = MmGetMdlPfnArray(mdl);
    pages = nt_mdl_span(mdl);
    for (uint32_t i = 0; i < pages; i++) {
        if (!nonpaged_page((uint8_t *)mdl->StartVa + (size_t)i * PAGE_SIZE +
                               (i == 0 ? mdl->ByteOffset : 0),
                           &pfn[i], __func__))
            return;
    }
    mdl->MdlFlags |= MDL_SOURCE_IS_NONPAGED_POOL;
    mdl->MappedSystemVa = MmGetMdlVirtualAddress(mdl);
}

/* ---- locking ---- */

static bool is_writable(uint8_t *address)
{
    return sim_copy_checked(address, address, 1);
}

/* Check and lock one page of a range. False: misuse was reported; or, with *raise, the caller must
 * raise an exception, which may not return. */
static bool probe_page(uint8_t *address, KPROCESSOR_MODE mode, LOCK_OPERATION operation,
                       struct page_number *page, bool *raise, const char *routine)
{
    struct nt *nt = nt_state();
    struct phys_addr physical;

    if (bus_register_space(nt->bus, address) || bus_physical(nt->bus, address, &physical)) {
        NT_VERIFIER("NT-119", 0x6F, (uintptr_t)address, 0, 0, "%s of device memory", routine);
        return false;
    }
    if (!ram_physical(nt->ram, address, &physical) || nt_user_range_denies(address) ||
        (mode == UserMode && nt_address_is_kernel(address)) ||
        (operation != IoReadAccess && !is_writable(address))) {
        *raise = true;
        return false;
    }
    if (ram_page_owner(nt->ram, phys_page(physical)) == RAM_DRIVER_BLOCK) {
        VIOLATION("PHYS-055", "%s of memory of DxgkCbAllocateContiguousMemory", routine);
        return false;
    }
    *page = phys_page(physical);
    return true;
}

static bool may_lock(PMDL mdl, const char *routine)
{
    uint8_t irql = sim_irql();
    const struct nt_mdl *record;

    if (irql > SIM_IRQL_DISPATCH)
        NT_VERIFIER("NT-119", 0x70, irql, (uintptr_t)mdl, 0, "%s at %s", routine,
                    nt_irql_name(irql));
    if (!nt_mdl_check(mdl, "NT-118", routine))
        return false;
    if (mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL) {
        NT_VERIFIER("NT-117", 0xB0, (uintptr_t)mdl, 0, 0,
                    "%s of an MDL made by MmBuildMdlForNonPagedPool", routine);
        return false;
    }
    record = nt_mdl_find(mdl);
    if ((record && record->page) || mdl->MdlFlags & (MDL_PAGES_LOCKED | MDL_PARTIAL)) {
        VIOLATION("NT-119", "%s of an MDL whose pages are locked already", routine);
        return false;
    }
    if (irql == SIM_IRQL_DISPATCH && nt_memory_of(mdl->StartVa) == NT_MEMORY_PAGED)
        NT_VERIFIER("NT-118", 0x70, irql, (uintptr_t)mdl, 0, "%s of pageable memory at %s", routine,
                    nt_irql_name(irql));
    return true;
}

static void lock_pages(struct nt_mdl *record)
{
    struct nt *nt = nt_state();
    PPFN_NUMBER pfn = MmGetMdlPfnArray(record->mdl);

    for (uint32_t i = 0; i < record->pages; i++) {
        ram_lock_page(nt->ram, record->page[i]);
        pfn[i] = record->page[i].value;
    }
}

static void reclaim_locked(struct nt_resource *resource);

static const struct nt_resource_class locked_class = {
    .rule = "NT-115",
    .noun = "MDL with locked pages",
    .code = DRIVER_VERIFIER,
    .subcode = 0xB8,
    .reclaim = reclaim_locked,
};

NT_EXPORT VOID NTAPI MmProbeAndLockPages(PMDLX MemoryDescriptorList, KPROCESSOR_MODE AccessMode,
                                         LOCK_OPERATION Operation)
{
    PMDL mdl = MemoryDescriptorList;
    struct page_number *page;
    struct nt_faults faults;
    struct nt_mdl *record;
    bool raise = false;
    uint32_t pages;

    NT_ENTER();
    if (!may_lock(mdl, __func__))
        return;
    pages = nt_mdl_span(mdl);
    /* Failure is an exception, which an ELF driver cannot catch, so no failure is injected here. */
    faults = nt_faults_off();
    page = util_zalloc(pages ? pages : 1, sizeof(*page));
    record = page ? nt_mdl_record(mdl) : NULL;
    nt_faults_on(faults);
    if (!record) {
        util_free(page);
        nt_raise(STATUS_INSUFFICIENT_RESOURCES, "NT-118", __func__);
        return;
    }
    for (uint32_t i = 0; i < pages; i++) {
        uint8_t *address = (uint8_t *)mdl->StartVa + (size_t)i * PAGE_SIZE;

        if (!probe_page(i == 0 ? address + mdl->ByteOffset : address, AccessMode, Operation,
                        &page[i], &raise, __func__)) {
            util_free(page);
            nt_mdl_drop_if_idle(record);
            if (raise)
                nt_raise(STATUS_ACCESS_VIOLATION, "NT-118", __func__);
            return;
        }
    }
    record->page = page;
    record->pages = pages;
    record->process = AccessMode == UserMode ? nt_process_current() : NULL;
    lock_pages(record);
    nt_resource_track(&record->held, &locked_class, NT_CALLER());
    mdl->MdlFlags |= MDL_PAGES_LOCKED;
    if (Operation != IoReadAccess)
        mdl->MdlFlags |= MDL_WRITE_OPERATION;
    mdl->Process = (PEPROCESS)(void *)record->process;
}

/* Release what the record holds: locks, or pages. */
void nt_mdl_unlock(struct nt_mdl *record)
{
    struct nt *nt = nt_state();

    nt_resource_untrack(&record->held);
    if (record->owns_pages) {
        ram_give_pages(nt->ram, record->page, record->pages);
    } else {
        for (uint32_t i = 0; i < record->pages; i++)
            ram_unlock_page(nt->ram, record->page[i]);
    }
    util_free(record->page);
    record->page = NULL;
    record->pages = 0;
    record->owns_pages = false;
}

static void reclaim_locked(struct nt_resource *resource)
{
    struct nt_mdl *record = CONTAINER(resource, struct nt_mdl, held);

    if (record->mapping)
        nt_mdl_unmap(record);
    nt_mdl_unlock(record);
    nt_mdl_drop_if_idle(record);
}

uint64_t nt_mdl_locked_pages(const struct nt_process *process)
{
    uint64_t pages = 0, key;
    uint32_t cursor = 0;
    void *value;

    while (hash_next(nt_state()->mdls, &cursor, &key, &value)) {
        const struct nt_mdl *record = value;

        if (record->process == process)
            pages += record->pages;
    }
    return pages;
}

static void check_page_array(const struct nt_mdl *record, const char *routine)
{
    const PFN_NUMBER *pfn = MmGetMdlPfnArray(record->mdl);

    for (uint32_t i = 0; i < record->pages; i++) {
        if (pfn[i] == record->page[i].value)
            continue;
        VIOLATION("NT-127", "%s of an MDL whose page number %u was changed from %#llx to %#llx",
                  routine, i, (unsigned long long)record->page[i].value, (unsigned long long)pfn[i]);
        return;
    }
}

NT_EXPORT VOID NTAPI MmUnlockPages(PMDLX MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    struct nt_mdl *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-120", NT_NO_CODE, __func__);
    if (!nt_memory_check(mdl, "MDL", __func__) || nt_mdl_is_lent(mdl, __func__))
        return;
    record = nt_mdl_find(mdl);
    if (!record || !record->page || record->owns_pages) {
        bool partial = mdl->MdlFlags & MDL_PARTIAL;
        bool nonpaged = mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL;

        NT_VERIFIER(nonpaged ? "NT-117" : "NT-120",
                    partial    ? 0xB4
                    : nonpaged ? 0x7D
                               : 0x7C,
                    (uintptr_t)mdl, 0, 0, "%s of an MDL that %s", __func__,
                    partial    ? "is partial"
                    : nonpaged ? "describes nonpaged pool"
                               : "was not locked");
        return;
    }
    check_page_array(record, __func__);
    if (record->mapping)
        nt_mdl_unmap_by(record, __func__, NT_CALLER());
    nt_mdl_unlock(record);
    nt_mdl_clear(mdl, MDL_PAGES_LOCKED | MDL_WRITE_OPERATION);
    nt_mdl_drop_if_idle(record);
}

/* ---- pages for an MDL ---- */

struct page_request {
    PHYSICAL_ADDRESS low, high, skip;
    SIZE_T bytes;
    MEMORY_CACHING_TYPE cache;
    ULONG flags;
};

static bool take_pages(const struct page_request *wanted, uint64_t pages, struct page_number *page)
{
    struct ram *ram = nt_state()->ram;
    struct ram_request request = {
        .pages = pages,
        .low = {(uint64_t)wanted->low.QuadPart},
        .high = {(uint64_t)wanted->high.QuadPart},
        .owner = RAM_MDL_PAGES,
        .cache = nt_address_cache_type(wanted->cache),
        .zero = !(wanted->flags & MM_DONT_ZERO_ALLOCATION),
    };
    struct page_number first;

    if (!(wanted->flags & MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS))
        return ram_take_pages(ram, &request, page);
    if (!ram_take_contiguous(ram, &request, &first))
        return false;
    for (uint64_t i = 0; i < pages; i++)
        page[i].value = first.value + i;
    return true;
}

/* Take fewer pages if necessary, unless all are required. */
static uint64_t take_what_there_is(const struct page_request *wanted, struct page_number *page)
{
    uint64_t pages = BYTES_TO_PAGES(wanted->bytes);
    uint64_t available = ram_free_pages(nt_state()->ram);

    if (take_pages(wanted, pages, page))
        return pages;
    if (wanted->flags & MM_ALLOCATE_FULLY_REQUIRED)
        return 0;
    if (pages > available)
        pages = available;
    while (pages > 0 && !take_pages(wanted, pages, page))
        pages /= 2;
    return pages;
}

static PMDL allocate_pages(const struct page_request *wanted, const char *routine,
                           const void *caller)
{
    struct page_number *page;
    struct nt_mdl *record;
    uint64_t pages;

    nt_level(NT_DISPATCH, "NT-131", 0x7E, routine);
    if (wanted->bytes == 0 || wanted->bytes > LARGEST_MDL)
        return NULL;
    page = util_zalloc(BYTES_TO_PAGES(wanted->bytes), sizeof(*page));
    if (!page)
        return NULL;
    pages = take_what_there_is(wanted, page);
    record = pages ? allocate(NULL,
                              pages * PAGE_SIZE < wanted->bytes ? pages * PAGE_SIZE : wanted->bytes,
                              caller)
                   : NULL;
    if (!record) {
        if (pages)
            ram_give_pages(nt_state()->ram, page, pages);
        util_free(page);
        return NULL;
    }
    record->page = page;
    record->pages = (uint32_t)pages;
    record->owns_pages = true;
    record->page_list = true;
    for (uint64_t i = 0; i < pages; i++)
        MmGetMdlPfnArray(record->mdl)[i] = page[i].value;
    nt_resource_track(&record->held, &locked_class, caller);
    record->mdl->MdlFlags |= MDL_PAGES_LOCKED;
    return record->mdl;
}

NT_EXPORT PMDL NTAPI MmAllocatePagesForMdlEx(PHYSICAL_ADDRESS LowAddress,
                                             PHYSICAL_ADDRESS HighAddress,
                                             PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes,
                                             MEMORY_CACHING_TYPE CacheType, ULONG Flags)
{
    struct page_request wanted = {LowAddress, HighAddress, SkipBytes, TotalBytes, CacheType, Flags};

    NT_ENTER();
    return allocate_pages(&wanted, __func__, NT_CALLER());
}

NT_EXPORT PMDL NTAPI MmAllocatePagesForMdl(PHYSICAL_ADDRESS LowAddress, PHYSICAL_ADDRESS HighAddress,
                                           PHYSICAL_ADDRESS SkipBytes, SIZE_T TotalBytes)
{
    struct page_request wanted = {LowAddress, HighAddress, SkipBytes, TotalBytes, MmCached, 0};

    NT_ENTER();
    return allocate_pages(&wanted, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI MmFreePagesFromMdl(PMDLX MemoryDescriptorList)
{
    struct nt_mdl *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-131", 0x7E, __func__);
    if (nt_mdl_is_lent(MemoryDescriptorList, __func__))
        return;
    record = nt_mdl_find(MemoryDescriptorList);
    if (!record || !record->owns_pages) {
        VIOLATION("NT-130", "%s of an MDL without pages of MmAllocatePagesForMdl", __func__);
        return;
    }
    check_page_array(record, __func__);
    if (record->mapping)
        nt_mdl_unmap_by(record, __func__, NT_CALLER());
    nt_mdl_unlock(record);
    nt_mdl_clear(record->mdl, MDL_PAGES_LOCKED);
}

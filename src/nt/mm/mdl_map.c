/* SPDX-License-Identifier: MIT */
/* Mapping the pages of an MDL: each mapping has its own view, so that a use after unmapping
 * faults. */
#include <string.h>

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
#include "nt/mm/mdl.h"
#include "nt/mm/mdl_record.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

const struct nt_component nt_mdl_map_component = NT_MAP_COMPONENT(mappings);

/* ---- mappings ---- */

static void destroy_mapping(struct nt_mapping *mapping)
{
    struct nt *nt = nt_state();

    hash_remove(nt->mappings, (uintptr_t)mapping->address);
    nt_resource_untrack(&mapping->resource);
    nt_user_range_remove(mapping->view);
    ram_view_release(nt->ram, mapping->view, mapping->pages);
    util_free(mapping);
}

static void reclaim(struct nt_resource *resource);

static const struct nt_resource_class mapping_class = {
    .rule = "NT-123",
    .noun = "system mapping of an MDL",
    .reclaim = reclaim,
};

/* `process`: for a user mapping; NULL: a system mapping. */
static struct nt_mapping *create_mapping(PMDL mdl, const struct page_number *page, uint64_t pages,
                                         struct nt_process *process, const void *caller)
{
    struct nt *nt = nt_state();
    struct nt_mapping *mapping;

    if (nt_faults_due())
        return NULL;
    mapping = util_zalloc(1, sizeof(*mapping));
    if (!mapping)
        return NULL;
    mapping->mdl = mdl;
    mapping->pages = pages;
    mapping->view = ram_view_reserve(nt->ram, pages);
    if (!mapping->view || !ram_view_point(nt->ram, mapping->view, 0, page, pages, true))
        goto fail;
    mapping->address = (uint8_t *)mapping->view + mdl->ByteOffset;
    mapping->process = process;
    if (process && !nt_user_range_add(process, mapping->view, pages * PAGE_BYTES, NT_USER_WRITE,
                                      "PHYS-195", "a view of the pages of an MDL"))
        goto fail;
    if (!hash_put(nt->mappings, (uintptr_t)mapping->address, mapping))
        goto fail;
    nt_resource_track(&mapping->resource, &mapping_class, caller);
    return mapping;

fail:
    if (mapping->view)
        nt_user_range_remove(mapping->view);
    if (mapping->view)
        ram_view_release(nt->ram, mapping->view, pages);
    util_free(mapping);
    return NULL;
}

void nt_mdl_unmap_by(struct nt_mdl *record, const char *routine, const void *caller)
{
    nt_retired_view_add(record->mapping->view, record->mapping->pages * PAGE_BYTES,
                        "the pages of an MDL", routine, caller);
    destroy_mapping(record->mapping);
    record->mapping = NULL;
    nt_mdl_clear(record->mdl, MDL_MAPPED_TO_SYSTEM_VA);
}

void nt_mdl_unmap(struct nt_mdl *record)
{
    nt_mdl_unmap_by(record, NULL, NULL);
}

static void reclaim(struct nt_resource *resource)
{
    struct nt_mapping *mapping = CONTAINER(resource, struct nt_mapping, resource);
    struct nt_mdl *record = nt_mdl_find(mapping->mdl);

    if (record && record->mapping == mapping) {
        record->mapping = NULL;
        nt_mdl_drop_if_idle(record);
    }
    destroy_mapping(mapping);
}

/* ---- routines ---- */

/* The pages of a partial MDL are those of its source; an MDL that the host hands out (for paging
 * operations) has its own. Each page must be in use. */
static struct page_number *copy_listed_pages(PMDL mdl, uint32_t pages)
{
    struct ram *ram = nt_state()->ram;
    struct page_number *page = util_zalloc(pages ? pages : 1, sizeof(*page));
    const PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl);

    for (uint32_t i = 0; page && i < pages; i++) {
        page[i].value = pfn[i];
        if (pfn[i] >= ram_bytes(ram) / PAGE_BYTES || ram_page_owner(ram, page[i]) == RAM_FREE) {
            VIOLATION("PHYS-155", "page %u of an MDL to be mapped, %#llx, is no RAM that is held",
                      i, (unsigned long long)pfn[i]);
            util_free(page);
            page = NULL;
        }
    }
    return page;
}

static bool level_allows(KPROCESSOR_MODE mode, const char *routine)
{
    if (mode == KernelMode)
        return nt_level(NT_DISPATCH, "NT-124", 0x76, routine);
    return nt_level(NT_APC, "NT-124", 0x77, routine);
}

/* Check that the MDL can be mapped. False: it was reported, and *address is what to return
 * anyway. */
static bool may_map(PMDL mdl, const struct nt_mdl *record, PVOID *address, const char *routine)
{
    *address = NULL;
    if (mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL) {
        VIOLATION("NT-117", "%s of an MDL made by MmBuildMdlForNonPagedPool", routine);
        *address = MmGetMdlVirtualAddress(mdl);
        return false;
    }
    if (record && record->mapping) {
        NT_VERIFIER("NT-125", 0xB2, (uintptr_t)mdl, 0, 0, "%s of an MDL that is mapped already",
                    routine);
        *address = record->mapping->address;
        return false;
    }
    if ((!record || record->pages == 0) && !(mdl->MdlFlags & (MDL_PARTIAL | MDL_INTERNAL))) {
        NT_VERIFIER("NT-125", 0xB3, (uintptr_t)mdl, 0, 0, "%s of an MDL whose pages are not locked",
                    routine);
        return false;
    }
    return true;
}

static struct nt_mapping *map(PMDL mdl, struct nt_process *process, const void *caller)
{
    struct nt_mdl *record = nt_mdl_record(mdl);
    struct page_number *partial = NULL;
    struct nt_mapping *mapping = NULL;

    if (!record)
        return NULL;
    if (record->pages) {
        mapping = create_mapping(mdl, record->page, record->pages, process, caller);
    } else {
        partial = copy_listed_pages(mdl, nt_mdl_span(mdl));
        if (partial)
            mapping = create_mapping(mdl, partial, nt_mdl_span(mdl), process, caller);
        util_free(partial);
    }
    record->mapping = mapping;
    nt_mdl_drop_if_idle(record);
    return mapping;
}

static PVOID map_locked(PMDL mdl, KPROCESSOR_MODE mode, bool bug_check, const char *routine,
                        const void *caller)
{
    struct nt_mapping *mapping;
    PVOID address;

    if (bug_check)
        NT_VERIFIER("NT-124", 0x82, (uintptr_t)mdl, 0, 0, "%s with BugCheckOnFailure TRUE", routine);
    if (!level_allows(mode, routine) || !nt_mdl_check(mdl, "NT-125", routine))
        return NULL;
    if (mdl->MdlFlags & MDL_PARTIAL && mdl->MdlFlags & MDL_PARENT_MAPPED_SYSTEM_VA)
        return mdl->MappedSystemVa;
    if (!may_map(mdl, nt_mdl_find(mdl), &address, routine))
        return address;
    mapping = map(mdl, mode == UserMode ? nt_process_current() : NULL, caller);
    if (!mapping) {
        if (mode == UserMode)
            nt_raise(STATUS_INSUFFICIENT_RESOURCES, "NT-124", routine);
        return NULL;
    }
    if (mode == UserMode)
        return mapping->address;
    mdl->MappedSystemVa = mapping->address;
    mdl->MdlFlags |= MDL_MAPPED_TO_SYSTEM_VA;
    if (mdl->MdlFlags & MDL_PARTIAL)
        mdl->MdlFlags |= MDL_PARTIAL_HAS_BEEN_MAPPED;
    return mapping->address;
}

NT_EXPORT PVOID NTAPI MmMapLockedPagesSpecifyCache(PMDLX MemoryDescriptorList,
                                                   KPROCESSOR_MODE AccessMode,
                                                   MEMORY_CACHING_TYPE CacheType,
                                                   PVOID RequestedAddress, ULONG BugCheckOnFailure,
                                                   ULONG Priority)
{
    NT_ENTER();
    (void)CacheType; /* the pages have had a cache type since their allocation */
    (void)RequestedAddress;
    (void)Priority;
    return map_locked(MemoryDescriptorList, AccessMode,
                      AccessMode == KernelMode && BugCheckOnFailure, __func__, NT_CALLER());
}

NT_EXPORT PVOID NTAPI MmMapLockedPages(PMDL MemoryDescriptorList, KPROCESSOR_MODE AccessMode)
{
    NT_ENTER();
    NT_VERIFIER("NT-125", 0x81, (uintptr_t)MemoryDescriptorList, 0, 0,
                "%s, which is obsolete: MmMapLockedPagesSpecifyCache can fail", __func__);
    return map_locked(MemoryDescriptorList, AccessMode, false, __func__, NT_CALLER());
}

static void bad_unmap(const MDL *mdl, uint32_t code, const char *what, const char *routine)
{
    NT_VERIFIER("NT-126", code, (uintptr_t)mdl, 0, 0, "%s of an MDL that %s", routine, what);
}

NT_EXPORT VOID NTAPI MmUnmapLockedPages(PVOID BaseAddress, PMDLX MemoryDescriptorList)
{
    PMDL mdl = MemoryDescriptorList;
    struct nt_mdl *record;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-126", NT_NO_CODE, __func__);
    if (!nt_memory_check(mdl, "MDL", __func__))
        return;
    record = nt_mdl_find(mdl);
    if (mdl->MdlFlags & MDL_PARTIAL) {
        bad_unmap(mdl, 0xB5, "is partial", __func__);
        return;
    }
    if (mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL) {
        VIOLATION("NT-117", "%s of an MDL made by MmBuildMdlForNonPagedPool", __func__);
        return;
    }
    if (!record || !record->mapping) {
        bad_unmap(mdl, 0xB6, "is not mapped", __func__);
        return;
    }
    if (record->mapping->process && !nt_level(NT_APC, "NT-126", NT_NO_CODE, __func__))
        return;
    if (record->mapping->address != BaseAddress ||
        (record->mapping->process && record->mapping->process != nt_process_current())) {
        bad_unmap(mdl, record->mapping->process ? 0xB9 : 0xB6,
                  "is mapped at another address or in another process", __func__);
        return;
    }
    nt_mdl_unmap_by(record, __func__, NT_CALLER());
    nt_mdl_drop_if_idle(record);
}

NT_EXPORT VOID NTAPI IoBuildPartialMdl(PMDL SourceMdl, PMDL TargetMdl, PVOID VirtualAddress,
                                       ULONG Length)
{
    uint64_t offset, skip, pages;
    const CSHORT inherited = MDL_SOURCE_IS_NONPAGED_POOL | MDL_WRITE_OPERATION | MDL_IO_SPACE;

    NT_ENTER();
    if (!nt_memory_check(TargetMdl, "MDL", __func__) || !nt_mdl_check(SourceMdl, "NT-128", __func__))
        return;
    offset = (uintptr_t)VirtualAddress - (uintptr_t)MmGetMdlVirtualAddress(SourceMdl);
    if (Length == 0 && offset <= SourceMdl->ByteCount)
        Length = SourceMdl->ByteCount - (ULONG)offset;
    if (!range_inside(offset, Length, SourceMdl->ByteCount)) {
        VIOLATION("NT-128", "%s of a range outside of the source", __func__);
        return;
    }
    pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(VirtualAddress, Length);
    skip = (SourceMdl->ByteOffset + offset) / PAGE_SIZE;
    TargetMdl->StartVa = PAGE_ALIGN(VirtualAddress);
    TargetMdl->ByteOffset = BYTE_OFFSET(VirtualAddress);
    TargetMdl->ByteCount = Length;
    if (!nt_mdl_check(TargetMdl, "NT-128", __func__)) {
        TargetMdl->ByteCount = 0;
        return;
    }
    TargetMdl->MdlFlags |= MDL_PARTIAL | (SourceMdl->MdlFlags & inherited);
    TargetMdl->Process = SourceMdl->Process;
    if (SourceMdl->MdlFlags & (MDL_MAPPED_TO_SYSTEM_VA | MDL_SOURCE_IS_NONPAGED_POOL)) {
        TargetMdl->MdlFlags |= MDL_PARENT_MAPPED_SYSTEM_VA;
        TargetMdl->MappedSystemVa = (uint8_t *)SourceMdl->MappedSystemVa + offset;
    }
    memcpy(MmGetMdlPfnArray(TargetMdl), MmGetMdlPfnArray(SourceMdl) + skip,
           pages * sizeof(PFN_NUMBER));
}

NT_EXPORT NTSTATUS NTAPI MmProtectMdlSystemAddress(PMDLX MemoryDescriptorList, ULONG NewProtect)
{
    const struct nt_mdl *record;
    bool writable;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-126", NT_NO_CODE, __func__);
    record = nt_mdl_find(MemoryDescriptorList);
    if (!record || !record->mapping || record->mapping->process || record->pages == 0)
        return STATUS_NOT_MAPPED_VIEW;
    writable = NewProtect & (PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE);
    return ram_view_point(nt_state()->ram, record->mapping->view, 0, record->page, record->pages,
                          writable)
               ? STATUS_SUCCESS
               : STATUS_INSUFFICIENT_RESOURCES;
}

void nt_mdl_gone(PMDL mdl)
{
    struct nt_mdl *record = nt_mdl_find(mdl);

    if (!record)
        return;
    if (record->mapping) {
        bad_unmap(mdl, NT_NO_CODE, "is mapped by the driver while the host takes it back", "(host)");
        nt_mdl_unmap(record);
    }
    nt_mdl_drop_if_idle(record);
}

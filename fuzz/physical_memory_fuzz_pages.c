/* SPDX-License-Identifier: MIT */
/* The callbacks of 2.4: contiguous memory, pages, MDLs. */
#include "physical_memory_fuzz.h"

void fuzz_allocate_contiguous(unsigned adapter)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {
        .NumberOfBytes = fuzz_quantity(), .CacheType = (DXGK_MEMORY_CACHING_TYPE)fuzz_below(4)};
    struct fuzz_books before = fuzz_books();

    args.LowestAcceptableAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
    args.HighestAcceptableAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : -1;
    args.BoundaryAddressMultiple.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
    if (physical_contiguous_allocate(fuzz_run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle && !args.pMemory);
        fuzz_must_be_unchanged(&before);
        return;
    }
    fuzz_stamp(fuzz_note(PHYSICAL_CONTIGUOUS, adapter, args.hMemoryHandle), args.pMemory,
               args.NumberOfBytes);
}

void fuzz_free_contiguous(unsigned adapter)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {
        .hMemoryHandle = fuzz_handle_of(fuzz_some(PHYSICAL_CONTIGUOUS))};
    const struct fuzz_thing *thing = fuzz_find(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    struct fuzz_books before = fuzz_books();

    fuzz_check_stamp(thing);
    if (physical_contiguous_free(fuzz_run->adapter[adapter], &args) == STATUS_SUCCESS) {
        fuzz_gone(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    } else {
        MUST(!thing || thing->adapter != adapter);
        fuzz_must_be_unchanged(&before);
    }
}

void fuzz_allocate_pages(unsigned adapter)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {.TotalBytes = fuzz_quantity(),
                                          .CacheType = (DXGK_MEMORY_CACHING_TYPE)fuzz_below(4),
                                          .Flags = fuzz_byte() & 1 ? (ULONG)fuzz_number(2) : 0};
    struct fuzz_books before = fuzz_books();
    struct fuzz_thing *thing;

    args.LowAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
    args.HighAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : -1;
    args.SkipBytes.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
    if (physical_mdl_allocate(fuzz_run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle && !args.pMdl);
        fuzz_must_be_unchanged(&before);
        return;
    }
    MUST(MmGetMdlByteCount(args.pMdl) >= args.TotalBytes);
    thing = fuzz_note(PHYSICAL_MDL_PAGES, adapter, args.hMemoryHandle);
    thing->bytes = (char *)args.pMdl;
    thing->size = sizeof(MDL) + args.pMdl->ByteCount / PAGE_BYTES * sizeof(PFN_NUMBER);
    for (uint64_t i = 0; i < args.pMdl->ByteCount / PAGE_BYTES; i++)
        MUST(fuzz_device_reaches(adapter, MmGetMdlPfnArray(args.pMdl)[i]));
}

void fuzz_free_pages(unsigned adapter)
{
    struct fuzz_thing *thing = fuzz_some(PHYSICAL_MDL_PAGES);
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = fuzz_handle_of(thing)};

    if (physical_mdl_free(fuzz_run->adapter[adapter], &args) == STATUS_SUCCESS)
        fuzz_gone(PHYSICAL_MDL_PAGES, args.hMemoryHandle);
}

/* The driver writes into an MDL, its own or one it was given. */
void fuzz_scribble_mdl(void)
{
    struct driver_mdl *own = &fuzz_run->mdls[fuzz_below(DRIVER_MDLS)];
    struct fuzz_thing *given = fuzz_some(PHYSICAL_MDL_PAGES);
    PFN_NUMBER pfn = fuzz_number(2);

    if (fuzz_byte() & 1 && given && given->live && given->kind == PHYSICAL_MDL_PAGES) {
        MmGetMdlPfnArray((PMDL)given->bytes)[0] = pfn;
        return;
    }
    own->header.MdlFlags = (CSHORT)(fuzz_byte() & 1 ? MDL_PAGES_LOCKED : (int)fuzz_number(2));
    own->header.ByteOffset = fuzz_byte() & 1 ? (ULONG)fuzz_number(2) : 0;
    own->header.ByteCount = fuzz_byte() & 1 ? (ULONG)fuzz_number(4) : (ULONG)(fuzz_byte() * 512);
    for (unsigned i = 0; i < DRIVER_MDL_PAGES; i++)
        own->pages[i] = pfn + i * fuzz_below(3);
    /* Often pages that are really held. */
    if (fuzz_byte() & 1 && given && given->live && given->kind == PHYSICAL_MDL_PAGES)
        own->pages[0] = MmGetMdlPfnArray((PMDL)given->bytes)[0];
}

void fuzz_map_mdl(unsigned adapter)
{
    struct fuzz_thing *given = fuzz_some(PHYSICAL_MDL_PAGES);
    unsigned how = fuzz_byte();
    DXGKARGCB_MAPMDLTOIOMMU args = {.pMdl = &fuzz_run->mdls[how % DRIVER_MDLS].header};
    struct fuzz_books before = fuzz_books();

    if (how > 200 && given && given->live && given->kind == PHYSICAL_MDL_PAGES)
        args.pMdl = (PMDL)given->bytes;
    else if (how > 190)
        args.pMdl = (PMDL)(uintptr_t)fuzz_quantity();
    if (physical_iommu_mdl_map(fuzz_run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle);
        fuzz_must_be_unchanged(&before);
        return;
    }
    fuzz_note(PHYSICAL_IOMMU_MDL, adapter, args.hMemoryHandle);
}

void fuzz_unmap_mdl(unsigned adapter)
{
    struct fuzz_thing *thing = fuzz_some(PHYSICAL_IOMMU_MDL);
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = fuzz_handle_of(thing)};
    const struct fuzz_thing *live = fuzz_find(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);

    physical_iommu_mdl_unmap(fuzz_run->adapter[adapter], &args);
    if (live && live->adapter == adapter)
        fuzz_gone(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);
}

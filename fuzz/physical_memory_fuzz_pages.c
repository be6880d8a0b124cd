/* SPDX-License-Identifier: MIT */
/* The callbacks of 2.4: contiguous memory, pages, MDLs. */
#include "physical_memory_fuzz.h"

void allocate_contiguous(unsigned adapter)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = quantity(),
                                               .CacheType = (DXGK_MEMORY_CACHING_TYPE)below(4)};
    struct books before = books();

    args.LowestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    args.HighestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : -1;
    args.BoundaryAddressMultiple.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    if (physical_contiguous_allocate(run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle && !args.pMemory);
        must_be_unchanged(&before);
        return;
    }
    stamp(note(PHYSICAL_CONTIGUOUS, adapter, args.hMemoryHandle), args.pMemory, args.NumberOfBytes);
}

void free_contiguous(unsigned adapter)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle_of(some(PHYSICAL_CONTIGUOUS))};
    const struct thing *thing = find(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    struct books before = books();

    check_stamp(thing);
    if (physical_contiguous_free(run->adapter[adapter], &args) == STATUS_SUCCESS) {
        gone(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    } else {
        MUST(!thing || thing->adapter != adapter);
        must_be_unchanged(&before);
    }
}

void allocate_pages(unsigned adapter)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {.TotalBytes = quantity(),
                                          .CacheType = (DXGK_MEMORY_CACHING_TYPE)below(4),
                                          .Flags = byte() & 1 ? (ULONG)number(2) : 0};
    struct books before = books();
    struct thing *thing;

    args.LowAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    args.HighAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : -1;
    args.SkipBytes.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    if (physical_mdl_allocate(run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle && !args.pMdl);
        must_be_unchanged(&before);
        return;
    }
    MUST(MmGetMdlByteCount(args.pMdl) >= args.TotalBytes);
    thing = note(PHYSICAL_MDL_PAGES, adapter, args.hMemoryHandle);
    thing->bytes = (char *)args.pMdl;
    thing->size = sizeof(MDL) + args.pMdl->ByteCount / PAGE_BYTES * sizeof(PFN_NUMBER);
    for (uint64_t i = 0; i < args.pMdl->ByteCount / PAGE_BYTES; i++)
        MUST(device_reaches(adapter, MmGetMdlPfnArray(args.pMdl)[i]));
}

void free_pages(unsigned adapter)
{
    struct thing *thing = some(PHYSICAL_MDL_PAGES);
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle_of(thing)};

    if (physical_mdl_free(run->adapter[adapter], &args) == STATUS_SUCCESS)
        gone(PHYSICAL_MDL_PAGES, args.hMemoryHandle);
}

/* The driver writes into an MDL, its own or one it was given. */
void scribble_mdl(void)
{
    struct driver_mdl *own = &run->mdls[below(DRIVER_MDLS)];
    struct thing *given = some(PHYSICAL_MDL_PAGES);
    PFN_NUMBER pfn = number(2);

    if (byte() & 1 && given && given->live && given->kind == PHYSICAL_MDL_PAGES) {
        MmGetMdlPfnArray((PMDL)given->bytes)[0] = pfn;
        return;
    }
    own->header.MdlFlags = (CSHORT)(byte() & 1 ? MDL_PAGES_LOCKED : (int)number(2));
    own->header.ByteOffset = byte() & 1 ? (ULONG)number(2) : 0;
    own->header.ByteCount = byte() & 1 ? (ULONG)number(4) : (ULONG)(byte() * 512);
    for (unsigned i = 0; i < DRIVER_MDL_PAGES; i++)
        own->pages[i] = pfn + i * below(3);
    /* Often pages that are really held. */
    if (byte() & 1 && given && given->live && given->kind == PHYSICAL_MDL_PAGES)
        own->pages[0] = MmGetMdlPfnArray((PMDL)given->bytes)[0];
}

void map_mdl(unsigned adapter)
{
    struct thing *given = some(PHYSICAL_MDL_PAGES);
    unsigned how = byte();
    DXGKARGCB_MAPMDLTOIOMMU args = {.pMdl = &run->mdls[how % DRIVER_MDLS].header};
    struct books before = books();

    if (how > 200 && given && given->live && given->kind == PHYSICAL_MDL_PAGES)
        args.pMdl = (PMDL)given->bytes;
    else if (how > 190)
        args.pMdl = (PMDL)(uintptr_t)quantity();
    if (physical_iommu_mdl_map(run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle);
        must_be_unchanged(&before);
        return;
    }
    note(PHYSICAL_IOMMU_MDL, adapter, args.hMemoryHandle);
}

void unmap_mdl(unsigned adapter)
{
    struct thing *thing = some(PHYSICAL_IOMMU_MDL);
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = handle_of(thing)};
    const struct thing *live = find(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);

    physical_iommu_mdl_unmap(run->adapter[adapter], &args);
    if (live && live->adapter == adapter)
        gone(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);
}

/* SPDX-License-Identifier: MIT */
/* CPU mappings of objects, and address descriptor lists. */
#include "physical_memory_fuzz.h"

void fuzz_map_object(void)
{
    unsigned who = fuzz_below(3);
    DXGKARGCB_MAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = fuzz_handle_of(fuzz_some(PHYSICAL_OBJECT)),
        .AccessMode = (DXGK_ACCESS_MODE)(fuzz_byte() % 16 == 15 ? 2 : who > 0),
        .Offset = fuzz_byte() & 1 ? fuzz_quantity() : 0,
        .Size = fuzz_quantity(),
        .pMappedAddress = fuzz_run,
    };
    struct fuzz_books before = fuzz_books();
    uint64_t asked = args.Size;
    uint64_t wanted = args.Offset;
    struct fuzz_thing *thing;
    volatile char *at;

    if (physical_object_map(fuzz_run->memory, fuzz_process(who), &args) != STATUS_SUCCESS) {
        MUST(!args.pMappedAddress);
        fuzz_must_be_unchanged(&before);
        return;
    }
    MUST(args.Size >= asked && args.Offset + asked <= args.Size && args.Size % PAGE_BYTES == 0);
    at = args.pMappedAddress;
    (void)at[args.Offset];
    (void)at[args.Offset + asked - 1];
    if (args.pMappedAddress == fuzz_run->io_memory) {
        /* The hook gives one address; the table keeps one mapping of it. */
        DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = args.hPhysicalMemoryObject,
                                                .pBaseAddress = args.pMappedAddress,
                                                .Size = args.Size};

        physical_object_unmap(fuzz_run->memory, fuzz_process(who), &undo);
        return;
    }
    thing = fuzz_note(PHYSICAL_MAPPING, ADAPTERS, args.pMappedAddress);
    thing->of = args.hPhysicalMemoryObject;
    thing->size = args.Size;
    thing->offset = wanted - args.Offset;
    thing->owner = who;
}

void fuzz_unmap_object(void)
{
    struct fuzz_thing *thing = fuzz_some(PHYSICAL_MAPPING);
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = fuzz_byte() & 7 && thing
                                     ? thing->of
                                     : fuzz_handle_of(fuzz_some(PHYSICAL_OBJECT)),
        .pBaseAddress = fuzz_handle_of(thing),
        .Size = fuzz_byte() & 7 && thing ? thing->size : fuzz_quantity(),
    };
    struct fuzz_books before = fuzz_books(), after;

    physical_object_unmap(
        fuzz_run->memory,
        fuzz_byte() & 7 && thing && thing->owner <= 2 ? fuzz_process(thing->owner) : NULL, &args);
    after = fuzz_books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        fuzz_gone(PHYSICAL_MAPPING, args.pBaseAddress);
}

void fuzz_allocate_adl(void)
{
    const struct fuzz_thing *opened = fuzz_some(PHYSICAL_ADAPTER_OBJECT);
    DXGKARGCB_ALLOCATE_ADL args = {.hAdapterMemoryObject = fuzz_handle_of(opened),
                                   .Offset = fuzz_byte() & 1 ? fuzz_quantity() : 0,
                                   .Size = fuzz_quantity(),
                                   .Flags.Value = fuzz_byte() > 240 ? (UINT32)fuzz_number(4)
                                                                    : fuzz_below(4),
                                   .pAdl = (void *)fuzz_run};
    struct fuzz_books before = fuzz_books();
    struct fuzz_thing *thing;
    UINT step;

    opened = fuzz_find(PHYSICAL_ADAPTER_OBJECT, args.hAdapterMemoryObject);
    if (physical_adl_allocate(fuzz_run->memory, &args) != STATUS_SUCCESS) {
        MUST(!args.pAdl);
        fuzz_must_be_unchanged(&before);
        return;
    }
    MUST(args.pAdl->PageCount == args.Size / PAGE_BYTES);
    thing = fuzz_note(PHYSICAL_ADL, opened ? opened->adapter : ADAPTERS, args.pAdl);
    thing->of = args.hAdapterMemoryObject;
    thing->offset = args.Offset;
    thing->size = args.Size;
    step = args.pAdl->PageCount / 64 + 1; /* device ranges can be huge */
    for (UINT i = 0; opened && i < args.pAdl->PageCount; i += step)
        MUST(fuzz_device_reaches(opened->adapter, args.pAdl->Flags.Contiguous
                                                      ? args.pAdl->BasePageNumber + i
                                                      : args.pAdl->Pages[i]));
}

void fuzz_free_adl(void)
{
    const struct fuzz_thing *thing = fuzz_some(PHYSICAL_ADL);
    DXGKARGCB_FREE_ADL args = {
        .hAdapterMemoryObject = fuzz_byte() & 7 && thing
                                    ? thing->of
                                    : fuzz_handle_of(fuzz_some(PHYSICAL_ADAPTER_OBJECT)),
        .pAdl = fuzz_handle_of(thing)};
    struct fuzz_books before = fuzz_books(), after;

    physical_adl_free(fuzz_run->memory, &args);
    after = fuzz_books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        fuzz_gone(PHYSICAL_ADL, args.pAdl);
}

void fuzz_scribble_adl(void)
{
    struct fuzz_thing *thing = fuzz_some(PHYSICAL_ADL);

    if (!thing || !thing->live || thing->kind != PHYSICAL_ADL)
        return;
    thing->stamp = 1;
    if (!((DXGK_ADL *)thing->handle)->Flags.Contiguous)
        *(DXGK_PAGE_NUMBER *)(uintptr_t)((DXGK_ADL *)thing->handle)->Pages = fuzz_number(2);
    else
        ((DXGK_ADL *)thing->handle)->BasePageNumber = fuzz_number(2);
}

/* ---- what they show ---- */

/* The byte at `offset` of the object, in another view than `written`; NULL: none has it. */
static const char *other_view(const struct fuzz_thing *written, uint64_t offset)
{
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct fuzz_thing *view = &fuzz_run->things[i];

        if (view != written && view->live && view->kind == PHYSICAL_MAPPING &&
            view->of == written->of && offset - view->offset < view->size)
            return (const char *)view->handle + (offset - view->offset);
    }
    return NULL;
}

/* What the device finds at `offset` of the object through an ADL; NULL: no ADL has it, or it was
 * scribbled on. */
static const char *by_device(HANDLE object, uint64_t offset)
{
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct fuzz_thing *adl = &fuzz_run->things[i];
        const struct fuzz_thing *opened = adl->live && adl->kind == PHYSICAL_ADL &&
                                                  offset - adl->offset < adl->size
                                              ? fuzz_find(PHYSICAL_ADAPTER_OBJECT, adl->of)
                                              : NULL;
        struct logical_addr address;
        struct phys_addr physical;
        const DXGK_ADL *list;
        uint64_t page;

        if (!opened || opened->of != object || adl->stamp)
            continue;
        list = adl->handle;
        page = (offset - adl->offset) / PAGE_BYTES;
        address.value = (list->Flags.Contiguous ? list->BasePageNumber + page : list->Pages[page]) *
                            PAGE_BYTES +
                        offset % PAGE_BYTES;
        MUST(iommu_translate(fuzz_run->domain[opened->adapter], address, IOMMU_WRITE, &physical));
        return ram_direct(fuzz_run->ram, physical);
    }
    return NULL;
}

void fuzz_touch_views(void)
{
    const struct fuzz_thing *view = fuzz_some(PHYSICAL_MAPPING);
    const struct fuzz_thing *object = view && view->live && view->kind == PHYSICAL_MAPPING
                                          ? fuzz_find(PHYSICAL_OBJECT, view->of)
                                          : NULL;
    uint64_t offset = fuzz_quantity();
    char value = (char)fuzz_byte();
    const char *seen;

    if (!object || !object->shared)
        return;
    offset = view->offset + offset % view->size;
    ((char *)view->handle)[offset - view->offset] = value;
    seen = other_view(view, offset);
    MUST(!seen || *seen == value);
    seen = by_device(view->of, offset);
    MUST(!seen || *seen == value);
}

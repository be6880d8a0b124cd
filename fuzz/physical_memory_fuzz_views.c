/* SPDX-License-Identifier: MIT */
/* CPU mappings of objects, and address descriptor lists. */
#include "physical_memory_fuzz.h"

void map_object(void)
{
    unsigned who = below(3);
    DXGKARGCB_MAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = handle_of(some(PHYSICAL_OBJECT)),
        .AccessMode = (DXGK_ACCESS_MODE)(byte() % 16 == 15 ? 2 : who > 0),
        .Offset = byte() & 1 ? quantity() : 0,
        .Size = quantity(),
        .pMappedAddress = run,
    };
    struct books before = books();
    uint64_t asked = args.Size;
    uint64_t wanted = args.Offset;
    struct thing *thing;
    volatile char *at;

    if (physical_object_map(run->memory, process(who), &args) != STATUS_SUCCESS) {
        MUST(!args.pMappedAddress);
        must_be_unchanged(&before);
        return;
    }
    MUST(args.Size >= asked && args.Offset + asked <= args.Size && args.Size % PAGE_BYTES == 0);
    at = args.pMappedAddress;
    (void)at[args.Offset];
    (void)at[args.Offset + asked - 1];
    if (args.pMappedAddress == run->io_memory) {
        /* The hook gives one address; the table keeps one mapping of it. */
        DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = args.hPhysicalMemoryObject,
                                                .pBaseAddress = args.pMappedAddress,
                                                .Size = args.Size};

        physical_object_unmap(run->memory, process(who), &undo);
        return;
    }
    thing = note(PHYSICAL_MAPPING, ADAPTERS, args.pMappedAddress);
    thing->of = args.hPhysicalMemoryObject;
    thing->size = args.Size;
    thing->offset = wanted - args.Offset;
    thing->owner = who;
}

void unmap_object(void)
{
    struct thing *thing = some(PHYSICAL_MAPPING);
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = byte() & 7 && thing ? thing->of : handle_of(some(PHYSICAL_OBJECT)),
        .pBaseAddress = handle_of(thing),
        .Size = byte() & 7 && thing ? thing->size : quantity(),
    };
    struct books before = books(), after;

    physical_object_unmap(run->memory,
                          byte() & 7 && thing && thing->owner <= 2 ? process(thing->owner) : NULL,
                          &args);
    after = books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        gone(PHYSICAL_MAPPING, args.pBaseAddress);
}

void allocate_adl(void)
{
    const struct thing *opened = some(PHYSICAL_ADAPTER_OBJECT);
    DXGKARGCB_ALLOCATE_ADL args = {.hAdapterMemoryObject = handle_of(opened),
                                   .Offset = byte() & 1 ? quantity() : 0,
                                   .Size = quantity(),
                                   .Flags.Value = byte() > 240 ? (UINT32)number(4) : below(4),
                                   .pAdl = (void *)run};
    struct books before = books();
    struct thing *thing;
    UINT step;

    opened = find(PHYSICAL_ADAPTER_OBJECT, args.hAdapterMemoryObject);
    if (physical_adl_allocate(run->memory, &args) != STATUS_SUCCESS) {
        MUST(!args.pAdl);
        must_be_unchanged(&before);
        return;
    }
    MUST(args.pAdl->PageCount == args.Size / PAGE_BYTES);
    thing = note(PHYSICAL_ADL, opened ? opened->adapter : ADAPTERS, args.pAdl);
    thing->of = args.hAdapterMemoryObject;
    thing->offset = args.Offset;
    thing->size = args.Size;
    step = args.pAdl->PageCount / 64 + 1; /* device ranges can be huge */
    for (UINT i = 0; opened && i < args.pAdl->PageCount; i += step)
        MUST(device_reaches(opened->adapter, args.pAdl->Flags.Contiguous
                                                 ? args.pAdl->BasePageNumber + i
                                                 : args.pAdl->Pages[i]));
}

void free_adl(void)
{
    const struct thing *thing = some(PHYSICAL_ADL);
    DXGKARGCB_FREE_ADL args = {
        .hAdapterMemoryObject = byte() & 7 && thing ? thing->of
                                                    : handle_of(some(PHYSICAL_ADAPTER_OBJECT)),
        .pAdl = handle_of(thing)};
    struct books before = books(), after;

    physical_adl_free(run->memory, &args);
    after = books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        gone(PHYSICAL_ADL, args.pAdl);
}

void scribble_adl(void)
{
    struct thing *thing = some(PHYSICAL_ADL);

    if (!thing || !thing->live || thing->kind != PHYSICAL_ADL)
        return;
    thing->stamp = 1;
    if (!((DXGK_ADL *)thing->handle)->Flags.Contiguous)
        *(DXGK_PAGE_NUMBER *)(uintptr_t)((DXGK_ADL *)thing->handle)->Pages = number(2);
    else
        ((DXGK_ADL *)thing->handle)->BasePageNumber = number(2);
}

/* ---- what they show ---- */

/* The byte at `offset` of the object, in another view than `written`; NULL: none has it. */
static const char *other_view(const struct thing *written, uint64_t offset)
{
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct thing *view = &run->things[i];

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
        const struct thing *adl = &run->things[i];
        const struct thing *opened = adl->live && adl->kind == PHYSICAL_ADL &&
                                             offset - adl->offset < adl->size
                                         ? find(PHYSICAL_ADAPTER_OBJECT, adl->of)
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
        MUST(iommu_translate(run->domain[opened->adapter], address, IOMMU_WRITE, &physical));
        return ram_direct(run->ram, physical);
    }
    return NULL;
}

void touch_views(void)
{
    const struct thing *view = some(PHYSICAL_MAPPING);
    const struct thing *object = view && view->live && view->kind == PHYSICAL_MAPPING
                                     ? find(PHYSICAL_OBJECT, view->of)
                                     : NULL;
    uint64_t offset = quantity();
    char value = (char)byte();
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

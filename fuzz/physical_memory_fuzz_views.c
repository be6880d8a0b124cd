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
    const struct thing *thing = some(PHYSICAL_ADL);

    if (!thing || !thing->live || thing->kind != PHYSICAL_ADL)
        return;
    if (!((DXGK_ADL *)thing->handle)->Flags.Contiguous)
        *(DXGK_PAGE_NUMBER *)(uintptr_t)((DXGK_ADL *)thing->handle)->Pages = number(2);
    else
        ((DXGK_ADL *)thing->handle)->BasePageNumber = number(2);
}

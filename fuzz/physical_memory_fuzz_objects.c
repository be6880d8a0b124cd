/* SPDX-License-Identifier: MIT */
/* Physical memory objects: create, open, close, destroy. */
#include "physical_memory_fuzz.h"

static void fill_by_type(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    static const ULONG protections[] = {PAGE_READWRITE, PAGE_READONLY, PAGE_WRITECOPY, PAGE_EXECUTE,
                                        PAGE_READWRITE | PAGE_READONLY};

    switch ((unsigned)args->Type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_MDL:
        args->Mdl.HighAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : -1;
        args->Mdl.LowAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
        args->Mdl.SkipBytes.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
        args->Mdl.Flags = byte() & 1 ? (UINT)number(2) : 0;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY:
        args->ContiguousMemory.HighestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity()
                                                                              : -1;
        args->ContiguousMemory.LowestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity()
                                                                             : 0;
        args->ContiguousMemory.BoundaryAddressMultiple.QuadPart = byte() & 1 ? (LONGLONG)quantity()
                                                                             : 0;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        args->Section.PageProtection = protections[below(5)];
        args->Section.AllocationAttributes = byte() & 1 ? (ULONG)number(4) : SEC_COMMIT;
        args->Section.ObjectAttributes = byte() > 240 ? (POBJECT_ATTRIBUTES)&run->mdls : NULL;
        break;
    default:
        args->IOSpace.BaseAddress.QuadPart = (LONGLONG)(byte() & 1 ? quantity()
                                                                   : IO_BASE + byte() * PAGE_BYTES);
    }
}

void create_object(unsigned adapter)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;
    bool open = byte() & 1;
    struct books before = books();

    memset(&args, 0x5A, sizeof(args));
    args.hAdapter = open ? (HANDLE)1 : NULL;
    args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)below(5);
    args.Size = quantity();
    args.CacheType = (DXGK_MEMORY_CACHING_TYPE)below(4);
    fill_by_type(&args);
    if (physical_object_create(run->memory, open ? run->adapter[adapter] : NULL, run, NULL,
                               &args) != STATUS_SUCCESS) {
        MUST(!args.hPhysicalMemoryObject && !args.hAdapterMemoryObject);
        must_be_unchanged(&before);
        return;
    }
    note(PHYSICAL_OBJECT, open ? adapter : ADAPTERS, args.hPhysicalMemoryObject)->shared =
        args.Type != DXGK_PHYSICAL_MEMORY_TYPE_SECTION ||
        args.Section.PageProtection == PAGE_READWRITE;
    MUST(open == (args.hAdapterMemoryObject != NULL));
    if (open)
        note(PHYSICAL_ADAPTER_OBJECT, adapter, args.hAdapterMemoryObject)->of =
            args.hPhysicalMemoryObject;
}

/* After a call that may have taken other things with it: what is live is what the host says. */
void open_object(unsigned adapter)
{
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = handle_of(some(PHYSICAL_OBJECT)), .hAdapterMemoryObject = run};
    struct books before = books();

    if (physical_object_open(run->memory, run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hAdapterMemoryObject);
        must_be_unchanged(&before);
        return;
    }
    note(PHYSICAL_ADAPTER_OBJECT, adapter, args.hAdapterMemoryObject)->of =
        args.hPhysicalMemoryObject;
}

void close_object(void)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args = {
        .hAdapterMemoryObject = handle_of(some(PHYSICAL_ADAPTER_OBJECT))};
    struct books before = books(), after;

    physical_object_close(run->memory, &args);
    after = books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        gone(PHYSICAL_ADAPTER_OBJECT, args.hAdapterMemoryObject);
}

static void drop_dependants(HANDLE object)
{
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        struct thing *thing = &run->things[i];

        if (thing->of == object &&
            (thing->kind == PHYSICAL_ADAPTER_OBJECT || thing->kind == PHYSICAL_MAPPING))
            forget(thing);
    }
}

void destroy_object(void)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = handle_of(some(PHYSICAL_OBJECT)),
        .hAdapterMemoryObject = byte() & 1 ? handle_of(some(PHYSICAL_ADAPTER_OBJECT)) : NULL};
    struct books before = books(), after;

    physical_object_destroy(run->memory, &args);
    after = books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0) {
        gone(PHYSICAL_OBJECT, args.hPhysicalMemoryObject);
        drop_dependants(args.hPhysicalMemoryObject);
    }
}

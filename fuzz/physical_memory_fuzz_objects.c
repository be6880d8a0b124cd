/* SPDX-License-Identifier: MIT */
/* Physical memory objects: create, open, close, destroy. */
#include "physical_memory_fuzz.h"

static void fill_by_type(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    static const ULONG protections[] = {PAGE_READWRITE, PAGE_READONLY, PAGE_WRITECOPY, PAGE_EXECUTE,
                                        PAGE_READWRITE | PAGE_READONLY};

    switch ((unsigned)args->Type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_MDL:
        args->Mdl.HighAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : -1;
        args->Mdl.LowAddress.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
        args->Mdl.SkipBytes.QuadPart = fuzz_byte() & 1 ? (LONGLONG)fuzz_quantity() : 0;
        args->Mdl.Flags = fuzz_byte() & 1 ? (UINT)fuzz_number(2) : 0;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY:
        args->ContiguousMemory.HighestAcceptableAddress.QuadPart = fuzz_byte() & 1
                                                                       ? (LONGLONG)fuzz_quantity()
                                                                       : -1;
        args->ContiguousMemory.LowestAcceptableAddress.QuadPart = fuzz_byte() & 1
                                                                      ? (LONGLONG)fuzz_quantity()
                                                                      : 0;
        args->ContiguousMemory.BoundaryAddressMultiple.QuadPart = fuzz_byte() & 1
                                                                      ? (LONGLONG)fuzz_quantity()
                                                                      : 0;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        args->Section.PageProtection = protections[fuzz_below(5)];
        args->Section.AllocationAttributes = fuzz_byte() & 1 ? (ULONG)fuzz_number(4) : SEC_COMMIT;
        args->Section.ObjectAttributes = fuzz_byte() > 240 ? (POBJECT_ATTRIBUTES)&fuzz_run->mdls
                                                           : NULL;
        break;
    default:
        args->IOSpace.BaseAddress.QuadPart = (LONGLONG)(fuzz_byte() & 1
                                                            ? fuzz_quantity()
                                                            : IO_BASE + fuzz_byte() * PAGE_BYTES);
    }
}

void fuzz_create_object(unsigned adapter)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;
    bool open = fuzz_byte() & 1;
    struct fuzz_books before = fuzz_books();

    memset(&args, 0x5A, sizeof(args));
    args.hAdapter = open ? (HANDLE)1 : NULL;
    args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)fuzz_below(5);
    args.Size = fuzz_quantity();
    args.CacheType = (DXGK_MEMORY_CACHING_TYPE)fuzz_below(4);
    fill_by_type(&args);
    if (physical_object_create(fuzz_run->memory, open ? fuzz_run->adapter[adapter] : NULL, fuzz_run,
                               NULL, &args) != STATUS_SUCCESS) {
        MUST(!args.hPhysicalMemoryObject && !args.hAdapterMemoryObject);
        fuzz_must_be_unchanged(&before);
        return;
    }
    fuzz_note(PHYSICAL_OBJECT, open ? adapter : ADAPTERS, args.hPhysicalMemoryObject)->shared =
        args.Type != DXGK_PHYSICAL_MEMORY_TYPE_SECTION ||
        args.Section.PageProtection == PAGE_READWRITE;
    MUST(open == (args.hAdapterMemoryObject != NULL));
    if (open)
        fuzz_note(PHYSICAL_ADAPTER_OBJECT, adapter, args.hAdapterMemoryObject)->of =
            args.hPhysicalMemoryObject;
}

/* After a call that may have taken other things with it: what is live is what the host says. */
void fuzz_open_object(unsigned adapter)
{
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = fuzz_handle_of(fuzz_some(PHYSICAL_OBJECT)),
        .hAdapterMemoryObject = fuzz_run};
    struct fuzz_books before = fuzz_books();

    if (physical_object_open(fuzz_run->memory, fuzz_run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hAdapterMemoryObject);
        fuzz_must_be_unchanged(&before);
        return;
    }
    fuzz_note(PHYSICAL_ADAPTER_OBJECT, adapter, args.hAdapterMemoryObject)->of =
        args.hPhysicalMemoryObject;
}

void fuzz_close_object(void)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args = {
        .hAdapterMemoryObject = fuzz_handle_of(fuzz_some(PHYSICAL_ADAPTER_OBJECT))};
    struct fuzz_books before = fuzz_books(), after;

    physical_object_close(fuzz_run->memory, &args);
    after = fuzz_books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0)
        fuzz_gone(PHYSICAL_ADAPTER_OBJECT, args.hAdapterMemoryObject);
}

static void drop_dependants(HANDLE object)
{
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        struct fuzz_thing *thing = &fuzz_run->things[i];

        if (thing->of == object &&
            (thing->kind == PHYSICAL_ADAPTER_OBJECT || thing->kind == PHYSICAL_MAPPING))
            fuzz_forget(thing);
    }
}

void fuzz_destroy_object(void)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = fuzz_handle_of(fuzz_some(PHYSICAL_OBJECT)),
        .hAdapterMemoryObject = fuzz_byte() & 1 ? fuzz_handle_of(fuzz_some(PHYSICAL_ADAPTER_OBJECT))
                                                : NULL};
    struct fuzz_books before = fuzz_books(), after;

    physical_object_destroy(fuzz_run->memory, &args);
    after = fuzz_books();
    if (memcmp(before.held, after.held, sizeof(before.held)) != 0) {
        fuzz_gone(PHYSICAL_OBJECT, args.hPhysicalMemoryObject);
        drop_dependants(args.hPhysicalMemoryObject);
    }
}

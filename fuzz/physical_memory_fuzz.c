/* SPDX-License-Identifier: MIT */
/*
 * A driver that does anything: every callback of the physical memory services, in any order, with
 * any argument.
 *
 * The input is a program. Its first byte picks the mode of the domain; then each operation is a
 * byte, followed by its arguments. Handles and pointers are mostly taken from those handed out so
 * far, live or retired; numbers are mostly near what matters (pages, the size of RAM, all ones).
 *
 * What must hold, whatever the driver does:
 *   - a call that fails hands out nothing, and leaves frames, commit and device mappings as they
 *     were (PHYS-018);
 *   - memory handed out can be touched, is nobody else's, and keeps what was written;
 *   - the device reaches exactly pages that are mapped for it;
 *   - all structures validate; at the end everything comes back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "verify/verify.h"
#include "vidmm/physical_memory.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

#define RAM_SIZE ((uint64_t)4 << 20)
#define IO_BASE  ((uint64_t)0xE0000000)

enum {
    ADAPTERS = 2,
    MOST_THINGS = 64,
    MOST_OPERATIONS = 200,
    VALIDATE_EVERY = 16,
    DRIVER_MDLS = 3,
    DRIVER_MDL_PAGES = 16,
    IO_PAGES = 8,
};

/* What the driver was given. */
struct thing {
    enum physical_kind kind;
    bool live;
    unsigned adapter;
    HANDLE handle;  /* or the address of an ADL or mapping */
    HANDLE of;      /* object of a mapping, adapter object of an ADL */
    char *bytes;    /* contiguous: stamped at both ends */
    uint64_t size;  /* of bytes */
    unsigned owner; /* process + 1 of a user mapping, or index of a save area */
    uint64_t stamp;
};

struct driver_mdl {
    MDL header;
    PFN_NUMBER pages[DRIVER_MDL_PAGES];
};

struct run {
    const uint8_t *at, *end;
    struct util_heap heap;
    struct verify_log *verify;
    struct ram *ram;
    struct iommu_domain *domain[ADAPTERS];
    struct physical_memory *memory;
    struct physical_adapter *adapter[ADAPTERS];
    struct thing things[MOST_THINGS];
    unsigned count; /* things ever noted; the oldest are forgotten */
    uint64_t stamps;
    struct driver_mdl mdls[DRIVER_MDLS];
    char io_memory[IO_PAGES * PAGE_BYTES];
    char processes[2]; /* only their addresses count */
    PMDL pinned[ADAPTERS][2];
};

static struct run *run; /* one at a time: the target is called by one thread */

/* ---- input ---- */

static uint64_t number(unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes && run->at < run->end; i++)
        value |= (uint64_t)*run->at++ << (8 * i);
    return value;
}

static unsigned byte(void)
{
    return (unsigned)number(1);
}

static unsigned below(unsigned bound)
{
    return byte() % bound;
}

/* A count of bytes or an address. */
static uint64_t quantity(void)
{
    unsigned how = byte();

    switch (how % 8) {
    case 0:
        return 0;
    case 1:
        return number(8);
    case 2:
        return UINT64_MAX - number(2);
    case 3:
        return RAM_SIZE - 2 * PAGE_BYTES + number(2);
    case 4:
        return number(3);
    case 5:
        return (uint64_t)1 << (how / 8 + 10);
    default:
        return (uint64_t)(how / 8) * PAGE_BYTES;
    }
}

static struct thing *some_thing(void)
{
    unsigned known = run->count < MOST_THINGS ? run->count : MOST_THINGS;

    return known ? &run->things[below(known)] : NULL;
}

/* Mostly of the kind wanted, and live. */
static struct thing *some(enum physical_kind kind)
{
    struct thing *first = some_thing();

    for (unsigned i = 0; first && i < MOST_THINGS; i++) {
        struct thing *thing = &run->things[((unsigned)(first - run->things) + i) % MOST_THINGS];

        if (thing->kind == kind && thing->live)
            return thing;
    }
    return first;
}

static HANDLE handle_of(const struct thing *thing)
{
    unsigned how = byte();

    if (how < 8)
        return (HANDLE)(uintptr_t)number(8);
    return thing ? thing->handle : NULL;
}

/* ---- what was handed out ---- */

static void forget(struct thing *thing)
{
    thing->live = false;
}

static struct thing *note(enum physical_kind kind, unsigned adapter, HANDLE handle)
{
    struct thing *thing;

    MUST(handle != NULL);
    for (unsigned i = 0; i < MOST_THINGS; i++)
        MUST(!run->things[i].live || run->things[i].handle != handle);
    thing = &run->things[run->count++ % MOST_THINGS];
    *thing = (struct thing){.kind = kind, .live = true, .adapter = adapter, .handle = handle};
    return thing;
}

/* No longer the driver's, whoever said so. */
static void gone(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == kind && run->things[i].handle == handle)
            forget(&run->things[i]);
}

static struct thing *find(enum physical_kind kind, HANDLE handle)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == kind && run->things[i].live && run->things[i].handle == handle)
            return &run->things[i];
    return NULL;
}

static void stamp(struct thing *thing, char *bytes, uint64_t size)
{
    thing->bytes = bytes;
    thing->size = size;
    thing->stamp = ++run->stamps;
    memset(bytes, (int)(thing->stamp & 0xFF), size < 16 ? size : 16);
    bytes[size - 1] = (char)thing->stamp;
}

static void check_stamp(const struct thing *thing)
{
    if (!thing || !thing->bytes)
        return;
    MUST(thing->bytes[0] == (char)thing->stamp &&
         thing->bytes[thing->size - 1] == (char)thing->stamp);
}

/* ---- state that a failed call must leave ---- */

struct books {
    uint64_t free_pages, commit, mapped[ADAPTERS];
    size_t held[ADAPTERS + 1];
};

static struct books books(void)
{
    struct books now = {ram_free_pages(run->ram), physical_memory_commit(run->memory), {0}, {0}};

    for (unsigned i = 0; i < ADAPTERS; i++) {
        now.mapped[i] = iommu_domain_mapped_pages(run->domain[i]);
        now.held[i] = physical_holdings(run->memory, run->adapter[i], NULL, 0);
    }
    now.held[ADAPTERS] = physical_holdings(run->memory, NULL, NULL, 0);
    return now;
}

static void must_be_unchanged(const struct books *before)
{
    struct books now = books();

    MUST(now.free_pages == before->free_pages && now.commit == before->commit);
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(now.mapped[i] == before->mapped[i] && now.held[i] == before->held[i]);
    MUST(now.held[ADAPTERS] == before->held[ADAPTERS]);
}

static bool device_reaches(unsigned adapter, uint64_t page)
{
    struct phys_addr physical;

    return iommu_translate(run->domain[adapter], (struct logical_addr){page * PAGE_BYTES},
                           IOMMU_WRITE, &physical);
}

/* ---- hooks ---- */

static void *io_map(void *context, struct phys_addr address, uint64_t bytes)
{
    (void)context;
    return address.value >= IO_BASE && bytes <= sizeof(run->io_memory) ? run->io_memory : NULL;
}

static void io_unmap(void *context, void *mapping)
{
    (void)context;
    MUST(mapping == run->io_memory);
}

static bool mdl_unmap(void *context, PMDL mdl)
{
    (void)context;
    (void)mdl;
    return false;
}

static bool inside(const void *from, size_t bytes, const void *memory, size_t size)
{
    uintptr_t at = (uintptr_t)from - (uintptr_t)memory;

    return at < size && bytes <= size - at;
}

/* The driver's own memory, and MDLs of the services. */
static bool read_driver(void *context, void *to, const void *from, size_t bytes)
{
    bool there = inside(from, bytes, run->mdls, sizeof(run->mdls));

    (void)context;
    for (unsigned i = 0; i < MOST_THINGS; i++) {
        const struct thing *thing = &run->things[i];

        if (thing->live && thing->kind == PHYSICAL_MDL_PAGES)
            there |= inside(from, bytes, thing->bytes, thing->size);
    }
    if (there)
        memcpy(to, from, bytes);
    return there;
}

/* ---- 2.4 ---- */

static void allocate_contiguous(unsigned adapter)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = quantity(),
                                               .CacheType = (DXGK_MEMORY_CACHING_TYPE)below(4)};
    struct books before = books();

    args.LowestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    args.HighestAcceptableAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : -1;
    args.BoundaryAddressMultiple.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    if (physical_allocate_contiguous(run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle && !args.pMemory);
        must_be_unchanged(&before);
        return;
    }
    stamp(note(PHYSICAL_CONTIGUOUS, adapter, args.hMemoryHandle), args.pMemory, args.NumberOfBytes);
}

static void free_contiguous(unsigned adapter)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle_of(some(PHYSICAL_CONTIGUOUS))};
    const struct thing *thing = find(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    struct books before = books();

    check_stamp(thing);
    if (physical_free_contiguous(run->adapter[adapter], &args) == STATUS_SUCCESS) {
        gone(PHYSICAL_CONTIGUOUS, args.hMemoryHandle);
    } else {
        MUST(!thing || thing->adapter != adapter);
        must_be_unchanged(&before);
    }
}

static void allocate_pages(unsigned adapter)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {.TotalBytes = quantity(),
                                          .CacheType = (DXGK_MEMORY_CACHING_TYPE)below(4),
                                          .Flags = byte() & 1 ? (ULONG)number(2) : 0};
    struct books before = books();
    struct thing *thing;

    args.LowAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    args.HighAddress.QuadPart = byte() & 1 ? (LONGLONG)quantity() : -1;
    args.SkipBytes.QuadPart = byte() & 1 ? (LONGLONG)quantity() : 0;
    if (physical_allocate_pages_for_mdl(run->adapter[adapter], &args) != STATUS_SUCCESS) {
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

static void free_pages(unsigned adapter)
{
    struct thing *thing = some(PHYSICAL_MDL_PAGES);
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle_of(thing)};

    if (physical_free_pages_from_mdl(run->adapter[adapter], &args) == STATUS_SUCCESS)
        gone(PHYSICAL_MDL_PAGES, args.hMemoryHandle);
}

/* The driver writes into an MDL, its own or one it was given. */
static void scribble_mdl(void)
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

static void map_mdl(unsigned adapter)
{
    struct thing *given = some(PHYSICAL_MDL_PAGES);
    unsigned how = byte();
    DXGKARGCB_MAPMDLTOIOMMU args = {.pMdl = &run->mdls[how % DRIVER_MDLS].header};
    struct books before = books();

    if (how > 200 && given && given->live && given->kind == PHYSICAL_MDL_PAGES)
        args.pMdl = (PMDL)given->bytes;
    else if (how > 190)
        args.pMdl = (PMDL)(uintptr_t)quantity();
    if (physical_map_mdl_to_iommu(run->adapter[adapter], &args) != STATUS_SUCCESS) {
        MUST(!args.hMemoryHandle);
        must_be_unchanged(&before);
        return;
    }
    note(PHYSICAL_IOMMU_MDL, adapter, args.hMemoryHandle);
}

static void unmap_mdl(unsigned adapter)
{
    struct thing *thing = some(PHYSICAL_IOMMU_MDL);
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = handle_of(thing)};
    const struct thing *live = find(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);

    physical_unmap_mdl_from_iommu(run->adapter[adapter], &args);
    if (live && live->adapter == adapter)
        gone(PHYSICAL_IOMMU_MDL, args.hMemoryHandle);
}

/* ---- objects ---- */

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

static void create_object(unsigned adapter)
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
    note(PHYSICAL_OBJECT, open ? adapter : ADAPTERS, args.hPhysicalMemoryObject);
    MUST(open == (args.hAdapterMemoryObject != NULL));
    if (open)
        note(PHYSICAL_ADAPTER_OBJECT, adapter, args.hAdapterMemoryObject)->of =
            args.hPhysicalMemoryObject;
}

/* After a call that may have taken other things with it: what is live is what the host says. */
static void open_object(unsigned adapter)
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

static void close_object(void)
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

static void destroy_object(void)
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

/* ---- views and lists ---- */

static struct nt_process *process(unsigned number)
{
    return number ? (struct nt_process *)(void *)&run->processes[number - 1] : NULL;
}

static void map_object(void)
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

static void unmap_object(void)
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

static void allocate_adl(void)
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

static void free_adl(void)
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

static void scribble_adl(void)
{
    const struct thing *thing = some(PHYSICAL_ADL);

    if (!thing || !thing->live || thing->kind != PHYSICAL_ADL)
        return;
    if (!((DXGK_ADL *)thing->handle)->Flags.Contiguous)
        *(DXGK_PAGE_NUMBER *)(uintptr_t)((DXGK_ADL *)thing->handle)->Pages = number(2);
    else
        ((DXGK_ADL *)thing->handle)->BasePageNumber = number(2);
}

/* ---- frame buffer save ---- */

static void save(unsigned adapter)
{
    unsigned what = below(8);
    UINT index = below(3);
    struct books before = books();
    NTSTATUS status = STATUS_SUCCESS;

    switch (what) {
    case 0: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index,
                                                .CommitSize = quantity()};

        status = physical_save_pin(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pMdl != NULL));
        break;
    }
    case 1: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE2 args = {.PhysicalAdapterIndex = index,
                                                 .CommitSize = quantity(),
                                                 .Flags.Value = byte() > 240 ? (UINT)number(4)
                                                                             : below(2)};

        status = physical_save_pin2(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pAdl != NULL));
        break;
    }
    case 2:
    case 3: {
        DXGKARGCB_UNPINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index};

        status = physical_save_unpin(run->adapter[adapter], &args);
        break;
    }
    case 4: {
        DXGKARGCB_MAPFRAMEBUFFERPOINTER args = {.PhysicalAdapterIndex = index,
                                                .Size = quantity(),
                                                .Offset = byte() & 1 ? quantity() : 0};
        uint64_t size = args.Size;

        status = physical_save_map(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pBaseAddress != NULL));
        if (status == STATUS_SUCCESS) {
            ((char *)args.pBaseAddress)[args.Offset] = 1;
            ((char *)args.pBaseAddress)[args.Offset + size - 1] = 1;
            note(PHYSICAL_SAVE_MAPPING, adapter, args.pBaseAddress)->owner = index;
        }
        break;
    }
    case 5:
    case 6: {
        const struct thing *thing = some(PHYSICAL_SAVE_MAPPING);
        DXGKARGCB_UNMAPFRAMEBUFFERPOINTER args = {
            .PhysicalAdapterIndex = byte() & 7 && thing ? thing->owner : index,
            .pBaseAddress = handle_of(thing)};

        status = physical_save_unmap(run->adapter[adapter], &args);
        if (status == STATUS_SUCCESS)
            gone(PHYSICAL_SAVE_MAPPING, args.pBaseAddress);
        break;
    }
    default:
        return;
    }
    if (status != STATUS_SUCCESS)
        must_be_unchanged(&before);
}

/* ---- the host's side ---- */

static void nothing_passed(void)
{
    struct books before = books();
    struct physical_adapter *adapter = run->adapter[0];

    MUST(physical_allocate_contiguous(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_free_contiguous(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_allocate_pages_for_mdl(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_free_pages_from_mdl(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_map_mdl_to_iommu(adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_unmap_mdl_from_iommu(adapter, NULL);
    MUST(physical_object_create(run->memory, adapter, run, NULL, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_object_open(run->memory, adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_close(run->memory, NULL);
    physical_object_destroy(run->memory, NULL);
    MUST(physical_object_map(run->memory, NULL, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_unmap(run->memory, NULL, NULL);
    MUST(physical_adl_allocate(run->memory, NULL) == STATUS_INVALID_PARAMETER);
    physical_adl_free(run->memory, NULL);
    must_be_unchanged(&before);
}

static void drop_mappings_of(unsigned who)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == PHYSICAL_MAPPING && run->things[i].owner == who)
            forget(&run->things[i]);
}

/* A device on the bus asks for any page. */
static void device_access(unsigned adapter)
{
    uint64_t page = byte() & 1 ? number(2) : quantity() / PAGE_BYTES;
    struct phys_addr physical;

    if (!iommu_translate(run->domain[adapter], (struct logical_addr){page * PAGE_BYTES}, IOMMU_READ,
                         &physical) ||
        iommu_domain_mode(run->domain[adapter]) == IOMMU_OFF)
        return;
    MUST(iommu_page_mapped(run->domain[adapter], (struct page_number){page}));
    if (physical.value < RAM_SIZE)
        MUST(ram_page_iommu_maps(run->ram, (struct page_number){physical.value / PAGE_BYTES}) > 0 &&
             ram_page_owner(run->ram, (struct page_number){physical.value / PAGE_BYTES}) !=
                 RAM_FREE);
}

static void host_does(void)
{
    unsigned adapter = below(ADAPTERS);

    switch (below(8)) {
    case 0:
        physical_adapter_set_started(run->adapter[adapter], byte() & 1);
        break;
    case 1:
        run->heap.fail_at = run->heap.requests + byte();
        break;
    case 2:
        physical_memory_process_ended(run->memory, process(1));
        drop_mappings_of(1);
        break;
    case 3:
        physical_adapter_report_leaks(run->adapter[adapter]);
        break;
    case 4:
        physical_memory_set_commit_limit(run->memory, physical_memory_commit(run->memory) +
                                                          quantity() % RAM_SIZE);
        break;
    case 5:
        iommu_domain_isolate(run->domain[adapter]);
        break;
    case 6:
        physical_memory_set_guard(run->memory, byte() & 1);
        physical_memory_set_scatter(run->memory, byte() & 1);
        break;
    default:
        nothing_passed();
    }
}

static void validate(void)
{
    MUST(physical_memory_validate(run->memory) && ram_validate(run->ram));
    for (unsigned i = 0; i < ADAPTERS; i++)
        MUST(iommu_validate(run->domain[i]));
}

static void operate(void)
{
    unsigned what = below(19), adapter = byte() & 1;

    switch (what) {
    case 0:
    case 1:
        allocate_contiguous(adapter);
        break;
    case 2:
        free_contiguous(adapter);
        break;
    case 3:
        allocate_pages(adapter);
        break;
    case 4:
        free_pages(adapter);
        break;
    case 5:
        scribble_mdl();
        break;
    case 6:
        map_mdl(adapter);
        break;
    case 7:
        unmap_mdl(adapter);
        break;
    case 8:
        create_object(adapter);
        break;
    case 9:
        open_object(adapter);
        break;
    case 10:
        close_object();
        break;
    case 11:
        destroy_object();
        break;
    case 12:
        map_object();
        break;
    case 13:
        unmap_object();
        break;
    case 14:
        allocate_adl();
        break;
    case 15:
        free_adl();
        break;
    case 16:
        if (byte() & 1)
            scribble_adl();
        else
            device_access(adapter);
        break;
    case 17:
        save(adapter);
        break;
    default:
        host_does();
    }
}

/* ---- one run ---- */

static void set_up(void)
{
    static const enum iommu_mode modes[] = {IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP};
    struct physical_hooks hooks = {
        .io_map = io_map, .io_unmap = io_unmap, .mdl_unmap = mdl_unmap, .read_driver = read_driver};
    unsigned how = byte();

    util_heap_current = &run->heap;
    run->verify = verify_log_create();
    verify_log_install(run->verify);
    verify_log_limit(run->verify, 16);
    run->ram = ram_create(&(struct ram_config){.bytes = RAM_SIZE});
    MUST(run->ram);
    run->memory = physical_memory_create(run->ram, &hooks);
    MUST(run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        struct physical_adapter_config config = {
            .memory = run->memory, .name = i ? "B" : "A", .driver = run};

        config.domain = run->domain[i] = iommu_domain_create(run->ram, modes[(how >> (2 * i)) % 3],
                                                             (struct logical_addr){0xFFFFFFF});
        MUST(config.domain);
        run->adapter[i] = physical_adapter_create(&config);
        MUST(run->adapter[i]);
        MUST(physical_save_create(run->adapter[i], 0, 24 * PAGE_BYTES) == STATUS_SUCCESS);
        MUST(physical_save_create(run->adapter[i], 1, i * 4 * PAGE_BYTES) == STATUS_SUCCESS);
    }
}

static void tear_down(uint64_t free_pages)
{
    run->heap.fail_at = 0;
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].live && run->things[i].kind == PHYSICAL_CONTIGUOUS)
            check_stamp(&run->things[i]);
    validate();
    for (unsigned i = 0; i < ADAPTERS; i++)
        physical_adapter_destroy(run->adapter[i]);
    physical_memory_driver_unloaded(run->memory, run);
    MUST(physical_memory_commit(run->memory) == 0 && physical_memory_validate(run->memory));
    physical_memory_destroy(run->memory);
    for (unsigned i = 0; i < ADAPTERS; i++) {
        MUST(iommu_domain_mapped_pages(run->domain[i]) == 0 && iommu_validate(run->domain[i]));
        iommu_domain_destroy(run->domain[i]);
    }
    MUST(ram_free_pages(run->ram) == free_pages && ram_validate(run->ram));
    ram_destroy(run->ram);
    verify_log_install(NULL);
    verify_log_destroy(run->verify);
    util_heap_current = NULL;
    MUST(run->heap.live_blocks == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run the_run;
    uint64_t free_pages;

    memset(&the_run, 0, sizeof(the_run));
    run = &the_run;
    run->at = data;
    run->end = data + size;
    set_up();
    free_pages = ram_free_pages(run->ram);
    for (unsigned i = 0; i < MOST_OPERATIONS && run->at < run->end; i++) {
        operate();
        if (i % VALIDATE_EVERY == VALIDATE_EVERY - 1)
            validate();
    }
    tear_down(free_pages);
    return 0;
}

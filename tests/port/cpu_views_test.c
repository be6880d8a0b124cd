/* SPDX-License-Identifier: MIT */
/* Views for the CPU through a started adapter: several of one place, and the use of one that has ended. */
#include "nt/mm/address_query.h"
#include "nt/mm/retired_view.h"
#include "port/support/memory_calls.h"
#include "sim/fault.h"
#include "sim/sim.h"

#include <dxgk_seh.h>

#define VIEW_BYTES 8192u

/* ---- objects ---- */

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_cached(struct probe *p,
                                                           DXGK_PHYSICAL_MEMORY_TYPE type,
                                                           DXGK_MEMORY_CACHING_TYPE cache)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = {
        .Type = type,
        .Size = VIEW_BYTES,
        .Context = 0x77,
        .CacheType = cache,
    };

    switch (type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_MDL:
        args.Mdl.HighAddress.QuadPart = ALL_RAM;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY:
        args.ContiguousMemory.HighestAcceptableAddress.QuadPart = ALL_RAM;
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        args.Section.PageProtection = PAGE_READWRITE;
        args.Section.AllocationAttributes = SEC_COMMIT;
        break;
    default:
        args.IOSpace.BaseAddress = probe_bar(p, 1);
    }
    CHECK(IS(DXGK.DxgkCbCreatePhysicalMemoryObject(&args), STATUS_SUCCESS));
    return args;
}

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_typed(struct probe *p,
                                                          DXGK_PHYSICAL_MEMORY_TYPE type)
{
    return make_cached(p, type, DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED);
}

static DXGKARGCB_MAP_PHYSICAL_MEMORY view_of(struct probe *p,
                                             const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *object,
                                             DXGK_ACCESS_MODE mode)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = {.hPhysicalMemoryObject = object->hPhysicalMemoryObject,
                                          .Size = VIEW_BYTES,
                                          .AccessMode = mode};

    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&view), STATUS_SUCCESS));
    return view;
}

static void unmap_view(struct probe *p, const DXGKARGCB_MAP_PHYSICAL_MEMORY *view)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = view->hPhysicalMemoryObject,
                                            .pBaseAddress = view->pMappedAddress,
                                            .Size = view->Size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
}

static bool there(const void *address)
{
    char byte;

    return sim_copy_checked(&byte, address, 1);
}

/* Views that begin at the same place, of each type of object: the same memory, independent in lifetime. */
static void two_views_of_each_type(struct probe *p)
{
    for (int type = 0; type < 4; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_typed(
            p, (DXGK_PHYSICAL_MEMORY_TYPE)type);
        DXGKARGCB_MAP_PHYSICAL_MEMORY view[3];
        char *bytes[3];

        for (unsigned i = 0; i < 3; i++) {
            view[i] = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
            bytes[i] = view[i].pMappedAddress;
            bytes[i][5000] = (char)(0x10 + i);
            for (unsigned k = 0; k < i; k++)
                CHECK_RULE("PHYS-153", bytes[k] != bytes[i] && bytes[k][5000] == (char)(0x10 + i));
        }
        unmap_view(p, &view[0]);
        CHECK_RULE("PHYS-153", !there(bytes[0]) && bytes[1][5000] == 0x12 && there(bytes[2] + 8191));
        unmap_view(p, &view[2]);
        CHECK_RULE("PHYS-153", !there(bytes[2] + 5000) && bytes[1][5000] == 0x12);
        unmap_view(p, &view[1]);
        CHECK_RULE("PHYS-157/b", probe_rule(p, "PHYS-157") == (uint64_t)type);
        unmap_view(p, &view[1]); /* once too often */
        CHECK_RULE("PHYS-157/b", probe_rule(p, "PHYS-157") == (uint64_t)type + 1);
        destroy_object(p, &object);
        CHECK_RULE("PHYS-142/a", probe_rule(p, "PHYS-142") == 0);
    }
}

/* Each view left at the destruction is one violation, and goes. */
static void views_left_at_destroy(struct probe *p)
{
    for (int type = 0; type < 4; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_typed(
            p, (DXGK_PHYSICAL_MEMORY_TYPE)type);
        DXGKARGCB_MAP_PHYSICAL_MEMORY first = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
        DXGKARGCB_MAP_PHYSICAL_MEMORY second = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
        uint64_t before = probe_rule(p, "PHYS-142");

        destroy_object(p, &object);
        CHECK_RULE("PHYS-142/a", probe_rule(p, "PHYS-142") == before + 2 &&
                                     !there(first.pMappedAddress) && !there(second.pMappedAddress));
    }
}

TEST(views_of_an_object_are_independent)
{
    probe_end(probe_started(NULL), two_views_of_each_type);
    probe_end(probe_started(NULL), views_left_at_destroy);
}

/* ---- caching ---- */

static bool cached_as(const void *address, enum ram_cache wanted)
{
    enum ram_cache cache;

    return nt_address_cache(address, &cache) && cache == wanted;
}

static const enum ram_cache every_cache[] = {RAM_NON_CACHED, RAM_CACHED, RAM_WRITE_COMBINED};

/* The mapping has the type of the object, whatever the object is of. */
static void views_of_each_cache(struct probe *p)
{
    for (int type = 0; type < 4; type++)
        for (unsigned i = 0; i < 3; i++) {
            DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
            DXGKARGCB_MAP_PHYSICAL_MEMORY view;

            if (type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION && i == 0)
                continue; /* PHYS-117 */
            object = make_cached(p, (DXGK_PHYSICAL_MEMORY_TYPE)type, (DXGK_MEMORY_CACHING_TYPE)i);
            view = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
            if (type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION) {
                DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT open = {
                    .hAdapter = DXGK.DeviceHandle,
                    .hPhysicalMemoryObject = object.hPhysicalMemoryObject};

                CHECK(IS(DXGK.DxgkCbOpenPhysicalMemoryObject(&open), STATUS_SUCCESS));
                object.hAdapterMemoryObject = open.hAdapterMemoryObject;
                /* in RAM, as long as an ADL holds it */
                DXGK_ADL *adl = make_adl(p, open.hAdapterMemoryObject, VIEW_BYTES);

                CHECK_RULE("PHYS-151", cached_as(view.pMappedAddress, every_cache[i]));
                free_adl(p, open.hAdapterMemoryObject, adl);
            } else {
                CHECK_RULE("PHYS-151",
                           cached_as(view.pMappedAddress, every_cache[i]) &&
                               cached_as((char *)view.pMappedAddress + 8191, every_cache[i]));
            }
            unmap_view(p, &view);
            CHECK_RULE("PHYS-151", !cached_as(view.pMappedAddress, every_cache[i]));
            destroy_object(p, &object);
        }
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
}

/* An MDL mapping that names another type gets that of the pages, from the kernel and for a client, without a word. */
static void mdl_mappings_of_each_cache(struct probe *p)
{
    for (unsigned i = 0; i < 3; i++)
        for (unsigned named = 0; named < 3; named++) {
            DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192, (DXGK_MEMORY_CACHING_TYPE)i);

            for (int mode = KernelMode; mode <= UserMode; mode++) {
                char *bytes = MmMapLockedPagesSpecifyCache(pages.pMdl, (KPROCESSOR_MODE)mode,
                                                           (MEMORY_CACHING_TYPE)named, NULL, FALSE,
                                                           NormalPagePriority);

                CHECK_RULE("PHYS-025", bytes && cached_as(bytes, every_cache[i]) &&
                                           cached_as(bytes + 8191, every_cache[i]));
                MmUnmapLockedPages(bytes, pages.pMdl);
            }
            CHECK_RULE("PHYS-024/a", ram_page_cache(p->ram, (struct page_number){MmGetMdlPfnArray(
                                                                pages.pMdl)[1]}) == every_cache[i]);
            CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
        }
    CHECK_RULE("PHYS-025", probe_reports(p, VERIFY_WARNING) == 0);
}

static void device_mappings_of_each_cache(struct probe *p)
{
    for (unsigned i = 0; i < 3; i++) {
        PVOID mapped = NULL;
        char *io;

        CHECK(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 1), VIEW_BYTES, FALSE, FALSE,
                                      (MEMORY_CACHING_TYPE)i, &mapped),
                 STATUS_SUCCESS));
        CHECK_RULE("PHYS-034/a", cached_as((char *)mapped + 8191, every_cache[i]));
        CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped), STATUS_SUCCESS));
        io = MmMapIoSpace(probe_bar(p, 1), 4096, (MEMORY_CACHING_TYPE)i);
        CHECK_RULE("NT-134/e", cached_as(io, every_cache[i]));
        MmUnmapIoSpace(io, 4096);
        CHECK_RULE("NT-134/e", !cached_as(io, every_cache[i]));
    }
}

static void contiguous_blocks_of_each_cache(struct probe *p)
{
    for (unsigned i = 0; i < 3; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = 5000,
                                                   .HighestAcceptableAddress.QuadPart = ALL_RAM,
                                                   .CacheType = (DXGK_MEMORY_CACHING_TYPE)i};

        CHECK(IS(DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &args), STATUS_SUCCESS));
        CHECK_RULE("PHYS-024/a", cached_as((char *)args.pMemory + 4999, every_cache[i]));
        CHECK(IS(free_block(p, args.hMemoryHandle), STATUS_SUCCESS));
    }
}

TEST(the_type_of_the_pages_counts)
{
    probe_end(probe_started(NULL), views_of_each_cache);
    probe_end(probe_started(NULL), mdl_mappings_of_each_cache);
    probe_end(probe_started(NULL), device_mappings_of_each_cache);
    probe_end(probe_started(NULL), contiguous_blocks_of_each_cache);
}

/* ---- device ranges ---- */

static char *map_bar(struct probe *p, uint64_t offset)
{
    PHYSICAL_ADDRESS at = probe_bar(p, 1);
    PVOID mapped = NULL;

    at.QuadPart += (LONGLONG)offset;
    CHECK(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, at, VIEW_BYTES, FALSE, FALSE, MmWriteCombined,
                                  &mapped),
             STATUS_SUCCESS));
    return mapped;
}

TEST_WITH(probe, views_of_the_device_are_independent)
{
    char *first = map_bar(p, 0x100), *second = map_bar(p, 0x100);
    char *third = MmMapIoSpace(probe_bar(p, 1), 4096, MmWriteCombined);
    char *fourth = MmMapIoSpace(probe_bar(p, 1), 4096, MmWriteCombined);

    CHECK_RULE("PHYS-035/b", first != second && ((uintptr_t)second & 0xFFF) == 0x100);
    CHECK_RULE("PHYS-194", third != fourth && third + 0x100 != first);
    first[3] = 0x61;
    CHECK_RULE("PHYS-035/b", second[3] == 0x61 && third[0x103] == 0x61);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_SUCCESS));
    CHECK_RULE("PHYS-035/b", !there(first) && second[3] == 0x61);
    CHECK_RULE("PHYS-038/b",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 1 && second[3] == 0x61);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, second), STATUS_SUCCESS));
    MmUnmapIoSpace(fourth, 4096);
    CHECK_RULE("PHYS-194", !there(fourth) && third[0x103] == 0x61);
    MmUnmapIoSpace(third, 4096);
    CHECK_RULE("NT-135/a", !there(third) && probe_rule(p, "NT-135") == 0);
    MmUnmapIoSpace(third, 4096);
    CHECK_RULE("NT-135/a", probe_rule(p, "NT-135") == 1);
    for (unsigned i = 0; i < 200; i++) { /* the addresses do not come back soon */
        char *later = map_bar(p, 0x100);

        CHECK_RULE("PHYS-194", later != first && later != second);
        CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, later), STATUS_SUCCESS));
    }
}

/* ---- use after the end ---- */

static void (*within)(struct probe *p);

/* A DDI of the adapter, so that the driver runs as it does. */
static void in_set_power(struct probe *p, struct probe_call *call)
{
    (void)call;
    within(p);
}

static void sleep_body(struct probe *p)
{
    (void)port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

/* The driver does this inside DxgkDdiSetPowerState. */
static struct probe *run_inside(void (*body)(struct probe *p), enum sim_outcome wanted)
{
    struct probe *p = probe_started(NULL);

    within = body;
    p->before[PROBE_SetPowerState] = in_set_power;
    CHECK(probe_run(p, sleep_body) == wanted);
    return p;
}

static void read_after_unmap(struct probe *p)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_typed(p,
                                                                DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
    volatile char *bytes = view.pMappedAddress;

    bytes[4096] = 1;
    unmap_view(p, &view);
    (void)bytes[4096];
    fail_msg("the read went through");
}

static void write_after_unmap(struct probe *p)
{
    volatile char *bytes = map_bar(p, 0x1100);

    bytes[1] = 1;
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, (PVOID)(uintptr_t)bytes), STATUS_SUCCESS));
    bytes[1] = 2;
    fail_msg("the write went through");
}

static void write_after_kernel_unmap(struct probe *p)
{
    volatile char *bytes = MmMapIoSpace(probe_bar(p, 1), 4096, MmNonCached);

    MmUnmapIoSpace((PVOID)(uintptr_t)bytes, 4096);
    bytes[1] = 2;
    fail_msg("the write went through");
}

static void write_after_mdl_unmap(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192, DXGK_MEMORY_CACHING_TYPE_CACHED);
    volatile char *bytes = MmMapLockedPagesSpecifyCache(pages.pMdl, KernelMode, MmCached, NULL,
                                                        FALSE, NormalPagePriority);

    bytes[8191] = 1;
    MmUnmapLockedPages((PVOID)(uintptr_t)bytes, pages.pMdl);
    bytes[8191] = 2;
    fail_msg("the write went through");
}

static void write_pages_after_unmap(struct probe *p)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_typed(p,
                                                                DXGK_PHYSICAL_MEMORY_TYPE_SECTION);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = view_of(p, &object, DXGK_ACCESS_MODE_KERNEL_MODE);
    volatile char *bytes = view.pMappedAddress;

    bytes[1] = 1;
    unmap_view(p, &view);
    bytes[1] = 2;
    fail_msg("the write went through");
}

/* What is the kernel's is no exception, also where there is a handler. */
static void read_under_a_handler(struct probe *p)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 8192, DXGK_MEMORY_CACHING_TYPE_CACHED);
    volatile char *bytes = MmMapLockedPagesSpecifyCache(pages.pMdl, KernelMode, MmCached, NULL,
                                                        FALSE, NormalPagePriority);

    MmUnmapLockedPages((PVOID)(uintptr_t)bytes, pages.pMdl);
    DXGK_TRY
    {
        (void)bytes[0];
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
    }
    fail_msg("the handler took it");
}

static void read_list_after_free(struct probe *p)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object = make_object(p, 8192);
    volatile DXGK_ADL *list = make_adl(p, object.hAdapterMemoryObject, 8192);
    const volatile DXGK_ADL *other = make_adl(p, object.hAdapterMemoryObject, 4096);
    const volatile UINT pages = other->PageCount;

    free_adl(p, object.hAdapterMemoryObject, (DXGK_ADL *)(uintptr_t)list);
    if (other->PageCount == pages) /* that of another one goes on */
        (void)list->PageCount;
    fail_msg("the read went through");
}

TEST(a_late_access_is_told_as_what_it_is)
{
    static const struct {
        void (*body)(struct probe *p);
        const char *verb, *what, *by;
        uint32_t code;
    } cases[] = {
        {read_after_unmap, "read from", "(IO space, Context 0x77) over BAR 2 of ",
         "DxgkCbUnmapPhysicalMemory had ended", 0x50},
        {write_after_unmap, "wrote to", "a view of BAR 2 of ", "DxgkCbUnmapMemory had ended", 0x50},
        {write_after_kernel_unmap, "wrote to", "a view of BAR 2 of ", "MmUnmapIoSpace had ended",
         0x50},
        {write_after_mdl_unmap, "wrote to", "the pages of an MDL", "MmUnmapLockedPages had ended",
         0x50},
        {write_pages_after_unmap, "wrote to", "a view of ", "DxgkCbUnmapPhysicalMemory had ended",
         0x50},
        {read_list_after_free, "read from", "an ADL", "DxgkCbFreeAdl had ended", 0x50},
        {read_under_a_handler, "read from", "the pages of an MDL", "MmUnmapLockedPages had ended",
         0x50},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = run_inside(cases[i].body, SIM_STOPPED);

        CHECK_RULE("PHYS-194", verify_bugcheck_state(p->log)->happened &&
                                   probe_rule(p, "PHYS-194") == 1 &&
                                   probe_said(p, "PHYS-194", cases[i].verb) &&
                                   probe_said(p, "PHYS-194", cases[i].what) &&
                                   probe_said(p, "PHYS-194", cases[i].by) &&
                                   probe_said(p, "PHYS-194", "in DxgkDdiSetPowerState"));
        CHECK_RULE("PHYS-194", verify_bugcheck_state(p->log)->code == cases[i].code);
        probe_destroy(p);
    }
}

/* The last ones are known, each by the newest that stood at its address, with the rest of its pages. */
TEST_WITH(probe, views_that_ended_are_remembered)
{
    char text[192];

    (void)p;
    nt_retired_view_add((char *)0x7000010, 0x1000, "the first", "MmUnmapIoSpace", NULL);
    nt_retired_view_add((char *)0x7000010, 0x10, "the second", NULL, NULL);
    CHECK_RULE("PHYS-194", nt_retired_view_at((char *)0x7000000, text, sizeof(text)) &&
                               strcmp(text, "a view of the second that the host had ended") == 0);
    CHECK_RULE("PHYS-194",
               nt_retired_view_at((char *)0x7001FFF, text, sizeof(text)) &&
                   strcmp(text, "a view of the first that MmUnmapIoSpace had ended") == 0);
    CHECK_RULE("PHYS-194", !nt_retired_view_at((char *)0x7002000, text, sizeof(text)) &&
                               !nt_retired_view_at((char *)0x6FFFFFF, text, sizeof(text)));
    for (unsigned i = 0; i < NT_RETIRED_VIEWS - 2; i++)
        nt_retired_view_add((char *)0x8000000 + i * 0x1000ull, 1, "another", NULL, NULL);
    CHECK_RULE("PHYS-194", nt_retired_view_at((char *)0x7001000, text, sizeof(text)));
    nt_retired_view_add((char *)0x9000000, 1, "one more", NULL, NULL);
    CHECK_RULE("PHYS-194", !nt_retired_view_at((char *)0x7001000, text, sizeof(text)) &&
                               nt_retired_view_at((char *)0x7000000, text, sizeof(text)) &&
                               nt_retired_view_at((char *)0x8000000, text, sizeof(text)));
}

static bool ended_by(const void *view, const char *routine)
{
    char text[192], wanted[64];

    (void)snprintf(wanted, sizeof(wanted), "of the pages of an MDL that %s had ended", routine);
    return nt_retired_view_at(view, text, sizeof(text)) && strstr(text, wanted);
}

static PMDL pages_for_mdl(void)
{
    PHYSICAL_ADDRESS low = {.QuadPart = 0}, high = {.QuadPart = -1};

    return MmAllocatePagesForMdl(low, high, low, 4096);
}

static void *view_of_mdl(PMDL mdl)
{
    void *view = MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE,
                                              NormalPagePriority);

    CHECK(view);
    return view;
}

/* What takes the pages away takes the view with it, and is named for it. */
TEST_WITH(probe, views_end_with_their_pages)
{
    PVOID block = ExAllocatePool2(POOL_FLAG_NON_PAGED, 4096, 0x77656976);
    PMDL locked = IoAllocateMdl(block, 4096, FALSE, FALSE, NULL), freed = pages_for_mdl();
    PMDL forgotten = pages_for_mdl();
    const void *view;

    (void)p;
    CHECK(block && locked && freed && forgotten);
    MmProbeAndLockPages(locked, KernelMode, IoWriteAccess);
    view = view_of_mdl(locked);
    MmUnlockPages(locked);
    CHECK_RULE("PHYS-194", ended_by(view, "MmUnlockPages"));
    view = view_of_mdl(freed);
    MmFreePagesFromMdl(freed);
    CHECK_RULE("PHYS-194", ended_by(view, "MmFreePagesFromMdl"));
    view = view_of_mdl(forgotten);
    ExFreePool(forgotten); /* NT-115 */
    CHECK_RULE("PHYS-194", ended_by(view, "ExFreePool"));
    ExFreePool(freed);
    IoFreeMdl(locked);
    ExFreePool(block);
}

/* Through the routines for registers it is a report, and ones. The first report at a place keeps its words. */
static void routines_after_unmap(struct probe *p)
{
    PULONG memory = (PULONG)(void *)map_bar(p, 0);

    WRITE_REGISTER_ULONG(memory, 0x1234);
    CHECK(READ_REGISTER_ULONG(memory) == 0x1234 && probe_rule(p, "NT-139") == 0);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, memory), STATUS_SUCCESS));
    CHECK_RULE("PHYS-194",
               READ_REGISTER_ULONG(memory) == 0xFFFFFFFF && probe_rule(p, "NT-139") == 1 &&
                   probe_said(p, "NT-139", "in a view of BAR 2 of ") &&
                   probe_said(p, "NT-139", "READ_REGISTER_ULONG outside") &&
                   probe_said(p, "NT-139", " that DxgkCbUnmapMemory had ended, called at "));
    WRITE_REGISTER_ULONG(memory, 7);
    CHECK_RULE("PHYS-194", probe_rule(p, "NT-139") == 2);
}

static void register_window_after_unmap(struct probe *p)
{
    PVOID registers = NULL;

    CHECK(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 0), 4096, FALSE, FALSE,
                                  MmNonCached, &registers),
             STATUS_SUCCESS));
    CHECK(READ_REGISTER_ULONG(registers) == PROBE_ID);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, registers), STATUS_SUCCESS));
    CHECK_RULE("PHYS-194", READ_REGISTER_ULONG(registers) == 0xFFFFFFFF &&
                               probe_rule(p, "NT-139") == 1 &&
                               probe_said(p, "NT-139", "in a view of BAR 0 of "));
}

TEST(register_accesses_read_ones)
{
    probe_end(probe_started(NULL), routines_after_unmap);
    probe_end(probe_started(NULL), register_window_after_unmap);
}

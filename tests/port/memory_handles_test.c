/* SPDX-License-Identifier: MIT */
/* Handles of the memory callbacks: of adapters and of what was given out, and the status of each class of mistake. */
#include "port/support/object_calls.h"

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;

static const struct probe_options two = {.adapters = 2, .port = {.iommu = IOMMU_ISOLATION}};

/* The other adapter's driver has the same code; only its handle differs. */
#define OTHER p->state[1].dxgk.DeviceHandle

/* ---- no argument ---- */

/* Each callback with no structure, by adapter or without; void ones return what never fails. */
#define BY_ADAPTER(name)                                   \
    static NTSTATUS null_##name(struct probe *p)           \
    {                                                      \
        return DXGK.DxgkCb##name(DXGK.DeviceHandle, NULL); \
    }
#define BY_ADAPTER_VOID(name)                       \
    static NTSTATUS null_##name(struct probe *p)    \
    {                                               \
        DXGK.DxgkCb##name(DXGK.DeviceHandle, NULL); \
        return STATUS_SUCCESS;                      \
    }
#define BY_OBJECT(name)                          \
    static NTSTATUS null_##name(struct probe *p) \
    {                                            \
        return DXGK.DxgkCb##name(NULL);          \
    }
#define BY_OBJECT_VOID(name)                     \
    static NTSTATUS null_##name(struct probe *p) \
    {                                            \
        DXGK.DxgkCb##name(NULL);                 \
        return STATUS_SUCCESS;                   \
    }

BY_ADAPTER(AllocateContiguousMemory)
BY_ADAPTER(FreeContiguousMemory)
BY_ADAPTER(AllocatePagesForMdl)
BY_ADAPTER(FreePagesFromMdl)
BY_ADAPTER(PinFrameBufferForSave)
BY_ADAPTER(PinFrameBufferForSave2)
BY_ADAPTER(UnpinFrameBufferForSave)
BY_ADAPTER(MapFrameBufferPointer)
BY_ADAPTER(UnmapFrameBufferPointer)
BY_ADAPTER(MapMdlToIoMmu)
BY_ADAPTER_VOID(UnmapMdlFromIoMmu)
BY_OBJECT(CreatePhysicalMemoryObject)
BY_OBJECT(OpenPhysicalMemoryObject)
BY_OBJECT(MapPhysicalMemory)
BY_OBJECT(AllocateAdl)
BY_OBJECT_VOID(DestroyPhysicalMemoryObject)
BY_OBJECT_VOID(ClosePhysicalMemoryObject)
BY_OBJECT_VOID(UnmapPhysicalMemory)
BY_OBJECT_VOID(FreeAdl)

static const struct null_case {
    const char *name;
    NTSTATUS (*call)(struct probe *p);
    bool is_void;
} null_cases[] = {
#define CASE(name, is_void)                  \
    {                                        \
        "DxgkCb" #name, null_##name, is_void \
    }
    CASE(AllocateContiguousMemory, false),
    CASE(FreeContiguousMemory, false),
    CASE(AllocatePagesForMdl, false),
    CASE(FreePagesFromMdl, false),
    CASE(PinFrameBufferForSave, false),
    CASE(PinFrameBufferForSave2, false),
    CASE(UnpinFrameBufferForSave, false),
    CASE(MapFrameBufferPointer, false),
    CASE(UnmapFrameBufferPointer, false),
    CASE(MapMdlToIoMmu, false),
    CASE(UnmapMdlFromIoMmu, true),
    CASE(CreatePhysicalMemoryObject, false),
    CASE(OpenPhysicalMemoryObject, false),
    CASE(MapPhysicalMemory, false),
    CASE(AllocateAdl, false),
    CASE(DestroyPhysicalMemoryObject, true),
    CASE(ClosePhysicalMemoryObject, true),
    CASE(UnmapPhysicalMemory, true),
    CASE(FreeAdl, true),
};

TEST_WITH(memory, no_argument, &memory_isolated)
{
    for (unsigned i = 0; i < sizeof(null_cases) / sizeof(null_cases[0]); i++) {
        const struct null_case *row = &null_cases[i];
        NTSTATUS wanted = row->is_void ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;

        CHECK_RULE(row->is_void ? "PHYS-015/b" : "PHYS-015/a",
                   IS(row->call(p), wanted) && probe_rule(p, "PHYS-015") == i + 1 &&
                       probe_reports(p, VERIFY_ERROR) == i + 1 &&
                       probe_said(p, "PHYS-015", row->name));
    }
}

/* ---- what is given back, with which handle ---- */

enum kind { BLOCK, PAGES, MAPPED, OPENED, OBJECT, KINDS };

/* Calls that give back one kind, with any handle. */
static NTSTATUS give_block(struct probe *p, HANDLE adapter, HANDLE handle)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreeContiguousMemory(adapter, &args);
}

static NTSTATUS give_pages(struct probe *p, HANDLE adapter, HANDLE handle)
{
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreePagesFromMdl(adapter, &args);
}

static NTSTATUS give_mapped(struct probe *p, HANDLE adapter, HANDLE handle)
{
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = handle};

    DXGK.DxgkCbUnmapMdlFromIoMmu(adapter, &args);
    return STATUS_SUCCESS;
}

static NTSTATUS give_opened(struct probe *p, HANDLE adapter, HANDLE handle)
{
    (void)adapter;
    close_object(p, handle);
    return STATUS_SUCCESS;
}

static NTSTATUS give_object(struct probe *p, HANDLE adapter, HANDLE handle)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {.hPhysicalMemoryObject = handle};

    (void)adapter;
    DXGK.DxgkCbDestroyPhysicalMemoryObject(&args);
    return STATUS_SUCCESS;
}

static const struct give {
    NTSTATUS (*call)(struct probe *p, HANDLE adapter, HANDLE handle);
    const char *rule; /* of a wrong handle */
    bool has_status, of_adapter;
} gives[KINDS] = {
    {give_block, "PHYS-017", true, true},    {give_pages, "PHYS-017", true, true},
    {give_mapped, "PHYS-017", false, true},  {give_opened, "PHYS-130", false, false},
    {give_object, "PHYS-130", false, false},
};

/* One of each kind. */
static void take_each(struct probe *p, HANDLE handle[KINDS])
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    DXGKARGCB_MAPMDLTOIOMMU mapped = {.pMdl = pages.pMdl};
    creation object = make_object(p, PAGE);

    CHECK(IS(DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, &mapped), STATUS_SUCCESS));
    handle[BLOCK] = make_block(p, PAGE).hMemoryHandle;
    handle[PAGES] = pages.hMemoryHandle;
    handle[MAPPED] = mapped.hMemoryHandle;
    handle[OPENED] = object.hAdapterMemoryObject;
    handle[OBJECT] = object.hPhysicalMemoryObject;
}

/* Those that depend on others first. */
static void give_each(struct probe *p, const HANDLE handle[KINDS])
{
    static const enum kind order[] = {MAPPED, PAGES, BLOCK, OPENED, OBJECT};

    for (unsigned i = 0; i < KINDS; i++)
        CHECK(IS(gives[order[i]].call(p, DXGK.DeviceHandle, handle[order[i]]), STATUS_SUCCESS));
}

static void refused(struct probe *p, const char *clause, const struct give *give, HANDLE adapter,
                    HANDLE handle)
{
    uint64_t reports = probe_rule(p, give->rule);
    struct memory_state before = memory_now(p);
    NTSTATUS status = give->call(p, adapter, handle);

    CHECK_RULE(clause, IS(status, give->has_status ? STATUS_INVALID_HANDLE : STATUS_SUCCESS) &&
                           probe_rule(p, give->rule) == reports + 1 && memory_same(p, before));
}

TEST_WITH(memory, wrong_handles_change_nothing, &two)
{
    HANDLE handle[KINDS], gone[KINDS];

    take_each(p, gone);
    give_each(p, gone);
    take_each(p, handle);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        refused(p, "PHYS-017/b", &gives[kind], DXGK.DeviceHandle, gone[kind]);
        CHECK_RULE("PHYS-016/b", probe_said(p, gives[kind].rule, "retired"));
        refused(p, "PHYS-017/a", &gives[kind], DXGK.DeviceHandle, NULL);
        refused(p, "PHYS-017/a", &gives[kind], DXGK.DeviceHandle, (HANDLE)(uintptr_t)0x77770000);
        refused(p, "PHYS-017/a", &gives[kind], DXGK.DeviceHandle, p);
        for (unsigned other = 0; other < KINDS; other++)
            if (other != kind)
                refused(p, "PHYS-017/c", &gives[kind], DXGK.DeviceHandle, handle[other]);
        if (gives[kind].of_adapter)
            refused(p, "PHYS-017/d", &gives[kind], OTHER, handle[kind]);
    }
    give_each(p, handle);
}

/* ---- values ---- */

static void distinct(HANDLE handle, uint64_t *last)
{
    CHECK_RULE("PHYS-016/a", handle != NULL && (uintptr_t)handle > *last); /* rising: no two alike */
    *last = (uintptr_t)handle;
}

/* Of two adapters and all kinds, with their order the order in which they were given out. */
TEST_WITH(memory, no_handle_comes_twice, &two)
{
    uint64_t last = 0;
    DXGK_ADL *newest = NULL;

    for (unsigned i = 0; i < 2000; i++) {
        HANDLE adapter = i % 2 ? OTHER : DXGK.DeviceHandle;
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(1);
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(1);
        DXGKARGCB_MAPMDLTOIOMMU mapped;
        creation object = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
        DXGK_ADL *adl;

        CHECK(IS(DXGK.DxgkCbAllocateContiguousMemory(adapter, &block), STATUS_SUCCESS));
        distinct(block.hMemoryHandle, &last);
        CHECK(IS(DXGK.DxgkCbAllocatePagesForMdl(adapter, &pages), STATUS_SUCCESS));
        distinct(pages.hMemoryHandle, &last);
        mapped.pMdl = pages.pMdl;
        CHECK(IS(DXGK.DxgkCbMapMdlToIoMmu(adapter, &mapped), STATUS_SUCCESS));
        distinct(mapped.hMemoryHandle, &last);
        object.hAdapter = adapter;
        CHECK(IS(take_object(p, &object), STATUS_SUCCESS));
        distinct(object.hPhysicalMemoryObject, &last);
        distinct(object.hAdapterMemoryObject, &last);
        adl = make_adl(p, object.hAdapterMemoryObject, PAGE);
        CHECK_RULE("PHYS-016/c", adl > newest);
        newest = adl;
        free_adl(p, object.hAdapterMemoryObject, adl);
        destroy_object(p, &object);
        CHECK(IS(give_mapped(p, adapter, mapped.hMemoryHandle), STATUS_SUCCESS) &&
              IS(give_pages(p, adapter, pages.hMemoryHandle), STATUS_SUCCESS) &&
              IS(give_block(p, adapter, block.hMemoryHandle), STATUS_SUCCESS));
    }
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
}

/* ---- adapters ---- */

/* Each callback that begins something, with good arguments and any adapter. */
static NTSTATUS begin_each(struct probe *p, unsigned i, HANDLE adapter)
{
    static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block;
    static DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    static DXGKARGCB_PINFRAMEBUFFERFORSAVE pin;
    static DXGKARGCB_PINFRAMEBUFFERFORSAVE2 pin2;
    static DXGKARGCB_MAPFRAMEBUFFERPOINTER pointer;
    static DXGKARGCB_MAPMDLTOIOMMU mapped;
    static DXGKARGCB_UNPINFRAMEBUFFERFORSAVE unpin;
    static DXGKARGCB_UNMAPFRAMEBUFFERPOINTER unmap;
    creation object = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
    HANDLE opened;

    switch (i) {
    case 0:
        block = ask_block(1);
        return DXGK.DxgkCbAllocateContiguousMemory(adapter, &block);
    case 1:
        pages = ask_pages(1);
        return DXGK.DxgkCbAllocatePagesForMdl(adapter, &pages);
    case 2:
        return DXGK.DxgkCbPinFrameBufferForSave(adapter, &pin);
    case 3:
        return DXGK.DxgkCbPinFrameBufferForSave2(adapter, &pin2);
    case 4:
        return DXGK.DxgkCbMapFrameBufferPointer(adapter, &pointer);
    case 5:
        return DXGK.DxgkCbMapMdlToIoMmu(adapter, &mapped);
    case 6:
        object.hAdapter = adapter;
        return take_object(p, &object);
    case 7:
        return open_object(p, adapter, NONE, &opened);
    case 8:
        return DXGK.DxgkCbUnpinFrameBufferForSave(adapter, &unpin);
    case 9:
        return DXGK.DxgkCbUnmapFrameBufferPointer(adapter, &unmap);
    case 10:
        return give_block(p, adapter, NONE);
    default:
        return give_pages(p, adapter, NONE);
    }
}

TEST_WITH(memory, adapters_are_device_handles, &memory_isolated)
{
    struct memory_state before = memory_now(p);

    for (unsigned i = 0; i < 12; i++) {
        CHECK_RULE("PHYS-009/a", IS(begin_each(p, i, A->context), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "LIFE-063") == 2 * i + 1 &&
                                     IS(begin_each(p, i, NONE), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "LIFE-063") == 2 * i + 2 &&
                                     memory_same(p, before));
    }
    (void)give_mapped(p, A->context, NONE);
    CHECK_RULE("PHYS-009/a", probe_rule(p, "LIFE-063") == 25);
}

static HANDLE left[KINDS];
static unsigned calls_made;

static void leave_each(struct probe *p, struct probe_call *call)
{
    (void)call;
    take_each(p, left);
    close_object(p, left[OPENED]);
}

static void use_stopped(struct probe *p, struct probe_call *call)
{
    (void)call;
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("PHYS-009/b",
                   IS(begin_each(p, i, DXGK.DeviceHandle), STATUS_INVALID_DEVICE_STATE));
    CHECK_RULE("PHYS-009/b", probe_rule(p, "LIFE-064") == 8);
    CHECK_RULE("PHYS-009/c",
               IS(give_mapped(p, DXGK.DeviceHandle, left[MAPPED]), STATUS_SUCCESS) &&
                   IS(give_pages(p, DXGK.DeviceHandle, left[PAGES]), STATUS_SUCCESS) &&
                   IS(give_block(p, DXGK.DeviceHandle, left[BLOCK]), STATUS_SUCCESS) &&
                   IS(give_object(p, NULL, left[OBJECT]), STATUS_SUCCESS) && held(p) == 0);
    calls_made++;
}

TEST(a_stopped_adapter_only_takes_back)
{
    struct probe *p = probe_started(&memory_isolated);

    calls_made = 0;
    p->before[PROBE_StopDevice] = leave_each;
    p->before[PROBE_RemoveDevice] = use_stopped;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-009/c", calls_made == 1 && probe_rule(p, "PHYS-017") == 0);
    probe_destroy(p);
}

/* ---- classes of statuses ---- */

TEST_WITH(memory, statuses_by_class, &memory_isolated)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(1);
    unsigned books = 0;

    block.CacheType = (DXGK_MEMORY_CACHING_TYPE)3;
    CHECK_RULE("PHYS-006/a", IS(try_block(p, &block), STATUS_INVALID_PARAMETER) &&
                                 probe_reports(p, VERIFY_ERROR) == 1);
    CHECK_RULE("PHYS-006/b", IS(give_block(p, DXGK.DeviceHandle, NONE), STATUS_INVALID_HANDLE) &&
                                 probe_reports(p, VERIFY_ERROR) == 2);
    block = ask_block(ram_bytes(p->ram));
    CHECK_RULE("PHYS-006/c",
               IS(try_block(p, &block), STATUS_NO_MEMORY) && probe_reports(p, VERIFY_WARNING) == 2);
    for (unsigned n = 1; n < 20; n++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(600 * PAGE);
        NTSTATUS status;

        p->sim->heap.fail_at = p->sim->heap.requests + n;
        status = take_pages(p, &pages);
        p->sim->heap.fail_at = 0;
        CHECK_RULE("PHYS-006/d", NT_SUCCESS(status) || IS(status, STATUS_NO_MEMORY) ||
                                     IS(status, STATUS_INSUFFICIENT_RESOURCES));
        books += IS(status, STATUS_INSUFFICIENT_RESOURCES);
        if (NT_SUCCESS(status))
            CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    }
    /* Record, list, order, MDL, what lends it, what the IOMMU wants; frames are RAM. */
    CHECK_RULE("PHYS-006/d", books >= 6 && probe_reports(p, VERIFY_WARNING) == 2);
}

TEST_WITH(memory, what_logical_mode_forbids, &memory_logical)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(1);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(1);

    CHECK_RULE("PHYS-006/e", IS(try_block(p, &block), STATUS_NOT_SUPPORTED) &&
                                 IS(try_pages(p, &pages), STATUS_NOT_SUPPORTED) &&
                                 probe_reports(p, VERIFY_WARNING) == 0);
}

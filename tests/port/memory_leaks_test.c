/* SPDX-License-Identifier: MIT */
/* What a driver has of memory is known, reported when it should be gone, usable until the adapter is, and taken back. */
#include "port/support/object_calls.h"

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;

#define SYSMM_FATAL 0x1E4u
#define NUMBER      0xDEADBEEFull /* a Context: no address of anything */

/* ---- one of each kind ---- */

static struct {
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    DXGKARGCB_MAPMDLTOIOMMU mapped;
    creation object;
    DXGK_ADL *adl;
    DXGKARGCB_MAP_PHYSICAL_MEMORY view;
    DXGKARGCB_MAPFRAMEBUFFERPOINTER pointer;
} each;

static void take_each(struct probe *p)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 pin = {.CommitSize = 2 * PAGE};

    each.block = make_block(p, 100);
    each.pages = make_pages(p, 2 * PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    each.mapped = (DXGKARGCB_MAPMDLTOIOMMU){.pMdl = each.pages.pMdl};
    CHECK(IS(DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, &each.mapped), STATUS_SUCCESS));
    each.object = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, 3 * PAGE);
    each.object.Context = NUMBER;
    CHECK(IS(take_object(p, &each.object), STATUS_SUCCESS));
    each.adl = make_adl(p, each.object.hAdapterMemoryObject, PAGE);
    each.view = make_view(p, each.object.hPhysicalMemoryObject, 0, 3 * PAGE);
    CHECK(IS(DXGK.DxgkCbPinFrameBufferForSave2(DXGK.DeviceHandle, &pin), STATUS_SUCCESS));
    each.pointer = (DXGKARGCB_MAPFRAMEBUFFERPOINTER){.Size = PAGE, .Offset = PAGE};
    CHECK(IS(DXGK.DxgkCbMapFrameBufferPointer(DXGK.DeviceHandle, &each.pointer), STATUS_SUCCESS));
}

static void give_plain(struct probe *p)
{
    DXGKARGCB_UNPINFRAMEBUFFERFORSAVE unpin = {0};
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER unmap = {.pBaseAddress = each.pointer.pBaseAddress};
    DXGKARGCB_UNMAPMDLFROMIOMMU undo = {.hMemoryHandle = each.mapped.hMemoryHandle};

    CHECK(IS(DXGK.DxgkCbUnmapFrameBufferPointer(DXGK.DeviceHandle, &unmap), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbUnpinFrameBufferForSave(DXGK.DeviceHandle, &unpin), STATUS_SUCCESS));
    end_view(p, &each.view);
    DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &undo);
    CHECK(IS(free_pages(p, each.pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK(IS(free_block(p, each.block.hMemoryHandle), STATUS_SUCCESS));
}

static void give_each(struct probe *p)
{
    give_plain(p);
    free_adl(p, each.object.hAdapterMemoryObject, each.adl);
    destroy_object(p, &each.object);
}

static struct probe *saving(void)
{
    struct probe *p = probe_create(&memory_isolated);

    p->save_bytes = 4 * PAGE;
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void list_each(struct probe *p)
{
    static const struct {
        enum physical_kind kind;
        uint64_t bytes, context;
    } wanted[] = {
        {PHYSICAL_CONTIGUOUS, 100, 0},          {PHYSICAL_MDL_PAGES, 2 * PAGE, 0},
        {PHYSICAL_IOMMU_MDL, 2 * PAGE, 0},      {PHYSICAL_OBJECT, 3 * PAGE, NUMBER},
        {PHYSICAL_ADAPTER_OBJECT, 3 * PAGE, 0}, {PHYSICAL_ADL, PAGE, 0},
        {PHYSICAL_MAPPING, 3 * PAGE, 0},        {PHYSICAL_PIN, 2 * PAGE, 0},
        {PHYSICAL_SAVE_MAPPING, 2 * PAGE, 0},
    };
    struct physical_holding list[16];
    uint64_t order = 0;

    take_each(p);
    CHECK_RULE("PHYS-021/a", physical_holdings(port_physical_memory(p->port),
                                               port_adapter_physical(p->adapter[0]), list, 16) == 9);
    for (unsigned i = 0; i < 9; i++) {
        CHECK_RULE("PHYS-021/a", list[i].kind == wanted[i].kind);
        CHECK_RULE("PHYS-021/b", list[i].bytes == wanted[i].bytes);
        CHECK_RULE("PHYS-021/c",
                   list[i].caller != 0 && (i == 0 || list[i].caller != list[i - 1].caller ||
                                           list[i].kind == PHYSICAL_ADAPTER_OBJECT));
        CHECK_RULE("PHYS-021/d", list[i].order > order);
        CHECK_RULE("PHYS-116/a", list[i].context == wanted[i].context);
        order = list[i].order;
    }
    give_each(p);
    CHECK_RULE("PHYS-021/e", held(p) == 0 && probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(holdings_are_listed)
{
    probe_end(saving(), list_each);
}

/* ---- plain leaks ---- */

static unsigned looked;
static uint64_t told;

static void leave_plain(struct probe *p, struct probe_call *call)
{
    (void)call;
    take_each(p);
    free_adl(p, each.object.hAdapterMemoryObject, each.adl);
    close_object(p, each.object.hAdapterMemoryObject);
}

/* The device may still be at work: everything stays until RemoveDevice has returned. */
static void look_at_leaks(struct probe *p, struct probe_call *call)
{
    (void)call;
    told = probe_rule(p, "PHYS-022");
    CHECK_RULE("PHYS-022/b",
               device_reaches(p, page_of(each.block.pMemory)) && writable(each.block.pMemory) &&
                   device_reaches(p, pfn(&each.pages, 1)) && writable(each.view.pMappedAddress) &&
                   writable((char *)each.pointer.pBaseAddress + PAGE));
    looked++;
}

static void fail_stop(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

static void leave_one(struct probe *p, struct probe_call *call)
{
    (void)call;
    each.block = make_block(p, 123);
}

TEST(plain_leaks)
{
    static const char *const parts[] = {
        "contiguous block of 100 bytes",
        "pages for an MDL of 8192 bytes",
        "physical memory object of 12288 bytes, Context 0xdeadbeef",
    };

    for (unsigned failing = 0; failing < 2; failing++) {
        struct probe *p = saving();
        uint64_t pages;

        looked = 0;
        p->before[PROBE_StopDevice] = leave_plain;
        p->after[PROBE_StopDevice] = failing ? fail_stop : NULL;
        p->before[PROBE_RemoveDevice] = look_at_leaks;
        pages = ram_free_pages(p->ram);
        (void)probe_stop(p);
        /* Block, pages, mapped MDL, object, view, pin and pointer. */
        CHECK_RULE("PHYS-022/a", told == 7 && probe_rule(p, "PHYS-022") == 7 &&
                                     probe_record(p, "PHYS-022")->severity == VERIFY_ERROR &&
                                     !verify_bugcheck_state(p->log)->happened);
        CHECK_RULE("PHYS-022/b", looked == 1);
        CHECK_RULE("PHYS-022/c", ram_free_pages(p->ram) >= pages &&
                                     physical_memory_commit(port_physical_memory(p->port)) == 0 &&
                                     !readable(each.view.pMappedAddress) &&
                                     !readable(each.block.pMemory));
        CHECK_RULE("PHYS-022/a", probe_said(p, "PHYS-022", parts[0]));
        probe_destroy(p);
    }
}

/* Each alone, since like reports are merged with the first. */
static void leave_object(struct probe *p, struct probe_call *call)
{
    (void)call;
    each.object = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
    each.object.Context = NUMBER;
    CHECK(IS(take_object(p, &each.object), STATUS_SUCCESS));
    close_object(p, each.object.hAdapterMemoryObject);
}

TEST(one_leak_is_one_report)
{
    struct probe *p = saving();

    p->before[PROBE_StopDevice] = leave_one;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-022/a", probe_rule(p, "PHYS-022") == 1 &&
                                 probe_said(p, "PHYS-022", "contiguous block of 123 bytes"));
    probe_destroy(p);
    p = saving();
    p->before[PROBE_StopDevice] = leave_object;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-116/b",
               probe_rule(p, "PHYS-022") == 1 && probe_said(p, "PHYS-022", "Context 0xdeadbeef"));
    probe_destroy(p);
    p = saving();
    (void)probe_stop(p);
    CHECK_RULE("PHYS-022/a", probe_rule(p, "PHYS-022") == 0);
    probe_destroy(p);
}

/* ---- fatal ones ---- */

static void leave_opened(struct probe *p, struct probe_call *call)
{
    (void)call;
    each.object = make_object(p, PAGE);
}

static void leave_list(struct probe *p, struct probe_call *call)
{
    (void)call;
    each.object = make_object(p, PAGE);
    each.adl = make_adl(p, each.object.hAdapterMemoryObject, PAGE);
    each.pages = make_pages(p, 2 * PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
}

static void stop_body(struct probe *p)
{
    (void)probe_stop(p);
}

TEST(fatal_leaks)
{
    static const struct {
        probe_hook *leave;
        uint64_t subcode, plain;
        const char *clause;
    } cases[] = {{leave_list, 7, 2, "PHYS-143/a"}, {leave_opened, 6, 1, "PHYS-143/b"}};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = saving();
        const struct verify_bugcheck *bugcheck = verify_bugcheck_state(p->log);

        p->before[PROBE_StopDevice] = cases[i].leave;
        stop_body(p);
        CHECK_RULE(cases[i].clause, bugcheck->happened && bugcheck->code == SYSMM_FATAL &&
                                        bugcheck->parameter[0] == cases[i].subcode &&
                                        strcmp(bugcheck->rule, "PHYS-143") == 0);
        /* The object and the pages are plain leaks, told before. */
        CHECK_RULE("PHYS-143/c",
                   probe_rule(p, "PHYS-022") == cases[i].plain &&
                       strcmp(verify_record_at(p->log, verify_records(p->log) - 1)->rule,
                              "PHYS-143") == 0);
        CHECK_RULE("PHYS-143/d", probe_said(p, "PHYS-143", "adapter memory object of 4096 bytes") &&
                                     probe_said(p, "PHYS-143", "ADL of 4096 bytes") == (i == 0));
        probe_destroy(p);
    }
}

/* ---- objects of no adapter ---- */

static void make_unopened(struct probe *p)
{
    each.object = ask_object(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
    each.object.hAdapter = NULL;
    CHECK(IS(take_object(p, &each.object), STATUS_SUCCESS));
}

/* Made by a thread of a driver that has several adapters. */
TEST(objects_of_a_driver_with_several_adapters)
{
    const struct probe_options two = {.adapters = 2, .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = probe_started(&two);

    CHECK(probe_run(p, make_unopened) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("PHYS-144/b", probe_rule(p, "PHYS-144") == 1);
    probe_destroy(p);
}

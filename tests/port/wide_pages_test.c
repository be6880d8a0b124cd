/* SPDX-License-Identifier: MIT */
/* Pages of 64 KB on a started adapter in dual PTE mode: which entries the driver is told to write, and where. */
#include "port/record/adapter_record.h"
#include "port/support/client.h"
#include "util/list.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/table_residency.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MB                 (1ull << 20)
#define KB                 1024ull
#define PAGE               4096ull
#define WIDE               3u /* the segment of 64 KB pages */
#define BASE               (1024 * MB)

/* ---- the entries of the client's process, of both kinds, in 4 MB from BASE on ---- */

#define SMALL_ENTRIES 1024u
#define WIDE_ENTRIES  64u

static struct {
    HANDLE process; /* the driver's handle of the client's */
    DXGK_PTE small[SMALL_ENTRIES], wide[WIDE_ENTRIES];
    HANDLE allocation[WIDE_ENTRIES];
    uint64_t offset[WIDE_ENTRIES], protection[WIDE_ENTRIES];
    bool both; /* an address had two valid entries at a time */
    bool out;  /* an operation reached beyond its table */
    unsigned links, wide_links;
    UINT64 leaf_size;          /* PageTablePageSize of the link to the table of BASE */
    bool wide_transfer;        /* flags of a transfer say 64 KB */
    uint64_t twin_at, leaf_at; /* pages of the latest pair of tables */
    unsigned wide_ops, small_ops, flushes;
    unsigned wide_tables; /* operations on the 64 KB table of BASE, of all kinds */
    bool initial_first;   /* each table began with InitialUpdate */
    uint64_t begun[64];
    unsigned begun_count;
    unsigned leaving[2]; /* notices of eviction about the tables of BASE: of 4 KB entries, of 64 KB */
} seen;

static bool is_both(unsigned group)
{
    for (unsigned i = 0; i < 16; i++)
        if (seen.small[group * 16 + i].Valid && seen.wide[group].Valid)
            return true;
    return false;
}

static void note_begun(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    const uint64_t at = update->PageTableAddress.GpuPhysical.SegmentOffset;

    if (update->UpdateMode != DXGK_PAGETABLEUPDATE_GPU_PHYSICAL)
        return;
    for (unsigned i = 0; i < seen.begun_count; i++)
        if (seen.begun[i] == at)
            return;
    seen.initial_first &= update->Flags.InitialUpdate;
    if (seen.begun_count < 64)
        seen.begun[seen.begun_count++] = at;
}

static void note_entries(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    const bool wide = update->Flags.Use64KBPages;
    const uint64_t step = wide ? 64 * KB : PAGE;

    note_begun(update);
    if (update->Flags.NotifyEviction && update->FirstPteVirtualAddress == BASE) {
        seen.leaving[wide]++;
        CHECK_RULE("GPUVA-168", update->Flags.Repeat && !update->Flags.InitialUpdate &&
                                    update->NumPageTableEntries == (wide ? 32u : 512u));
    }
    seen.out |= update->StartIndex + update->NumPageTableEntries > (wide ? 32u : 512u);
    seen.wide_tables += wide && update->FirstPteVirtualAddress == BASE;
    seen.wide_ops += wide && !update->Flags.InitialUpdate;
    seen.small_ops += !wide && !update->Flags.InitialUpdate;
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const uint64_t va = update->FirstPteVirtualAddress + i * step;
        const DXGK_PTE entry = update->pPageTableEntries[update->Flags.Repeat ? 0 : i];
        const uint64_t group = (va - BASE) / (64 * KB);

        if (va < BASE || va >= BASE + 4 * MB)
            continue;
        if (wide) {
            seen.wide[group] = entry;
            seen.allocation[group] = update->hAllocation;
            seen.offset[group] = update->AllocationOffsetInBytes + i * step;
            seen.protection[group] = update->DriverProtection;
        } else {
            seen.small[(va - BASE) / PAGE] = entry;
        }
        seen.both |= is_both((unsigned)group);
    }
}

static void note_links(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const UINT at = update->Flags.Repeat ? 0 : i;
        const DXGK_PTE leaf = update->pPageTableEntries[at],
                       twin = update->pPageTableEntries64KB ? update->pPageTableEntries64KB[at]
                                                            : (DXGK_PTE){.Flags = 0};

        seen.links += leaf.Valid;
        seen.wide_links += twin.Valid;
        if (leaf.Valid && update->FirstPteVirtualAddress + i * 2 * MB == BASE)
            seen.leaf_size = leaf.PageTablePageSize;
        if (leaf.Valid && twin.Valid) {
            seen.leaf_at = leaf.PageTableAddress;
            seen.twin_at = twin.PageTableAddress;
        }
    }
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER)
        seen.wide_transfer |= op->TransferVirtual.Flags.Flags != 0;
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE && update->hProcess != seen.process)
        CHECK_RULE("GPUVA-236", !update->Flags.Use64KBPages); /* nor does the scratch area use any */
    if (op->Operation == DXGK_OPERATION_FLUSH_TLB)
        seen.flushes += op->FlushTlb.hProcess == seen.process;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || update->hProcess != seen.process)
        return;
    if (update->PageTableLevel == 0)
        note_entries(update);
    else if (update->PageTableLevel == 1)
        note_links(update);
}

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemProcess)
        seen.process = args->hKmdProcess;
}

/* ---- allocations ---- */

#define VIDEO_WIDE  (1u << (WIDE - 1))
#define VIDEO_SMALL 1u
#define SYSTEM      2u

static UINT segment_set, alignment;
static HANDLE driver_allocation;

static void place(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    driver_allocation = info->hAllocation;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = segment_set;
    info->PreferredSegment.Value = 0;
    info->FlagsWddm2.CpuVisible = 0;
    info->Alignment = segment_set == VIDEO_SMALL ? alignment : 0;
}

static struct probe_gpu gpu;

static D3DKMT_HANDLE make(UINT set, uint64_t bytes)
{
    D3DKMT_HANDLE allocation;

    segment_set = set;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, bytes, &allocation)));
    return allocation;
}

static void map(D3DKMT_HANDLE allocation, uint64_t va, uint64_t page, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.BaseAddress = va;
    args.hAllocation = allocation;
    args.OffsetInPages = page;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    args.DriverProtection = 0x33;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    probe_sleep(PROBE_SECOND / 100);
}

static void release(uint64_t va, uint64_t bytes)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    args.BaseAddress = va;
    args.Size = bytes;
    CHECK(NT_SUCCESS(D3DKMTFreeGpuVirtualAddress(&args)));
    probe_sleep(PROBE_SECOND / 100);
}

/* How many valid entries there are of each kind in a range of addresses from BASE + `from` on. */
static unsigned wide_in(uint64_t from, uint64_t bytes)
{
    unsigned count = 0;

    for (uint64_t at = from; at < from + bytes; at += 64 * KB)
        count += seen.wide[at / (64 * KB)].Valid;
    return count;
}

static unsigned small_in(uint64_t from, uint64_t bytes)
{
    unsigned count = 0;

    for (uint64_t at = from; at < from + bytes; at += PAGE)
        count += seen.small[at / PAGE].Valid;
    return count;
}

static void begin(void)
{
    alignment = 0;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end(void)
{
    CHECK_RULE("GPUVA-210", !seen.both);
    CHECK_RULE("GPUVA-205", !seen.out);
    CHECK_RULE("GPUVA-236", !seen.wide_transfer);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static void run(void (*body)(struct probe *p), DXGK_PAGETABLEUPDATEMODE mode, bool dual,
                bool wide_segment)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(&seen, 0, sizeof(seen));
    seen.initial_first = true;
    p->mmu.PageTableUpdateMode = mode;
    p->mmu.DualPteSupported = dual;
    p->segment[2] = p->segment[0];
    p->segment[2].BaseAddress.QuadPart = 1ll << 40;
    p->segment[2].Flags.CpuVisible = 0;
    p->segment[2].Flags.Use64KBPages = wide_segment;
    p->segments = 3;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateAllocation] = place;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void run_all(void (*body)(struct probe *p))
{
    run(body, DXGK_PAGETABLEUPDATE_CPU_VIRTUAL, true, true);
    run(body, DXGK_PAGETABLEUPDATE_GPU_VIRTUAL, true, true);
    run(body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, true, true);
}

#define RIG_ARGUMENT_wide  struct probe *p
#define RIG_RUN_wide(body) run_all(body)

/* ---- what is mapped by which ---- */

TEST_WITH(wide, whole_pages_of_64_kb_have_one_entry)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(VIDEO_WIDE, MB);
    map(allocation, BASE, 0, 256);
    CHECK_RULE("GPUVA-204", wide_in(0, MB) == 16 && small_in(0, MB) == 0);
    CHECK_RULE("PAGE-068/c", wide_in(0, MB) == 16 && small_in(0, MB) == 0);
    CHECK_RULE("GPUVA-211", seen.wide[0].Segment == WIDE);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_RULE("GPUVA-204", seen.wide[i].PageAddress == seen.wide[0].PageAddress + 16 * i);
        CHECK_RULE("GPUVA-205", seen.allocation[i] == driver_allocation &&
                                    seen.offset[i] == i * 64 * KB && seen.protection[i] == 0x33);
    }
    CHECK_RULE("GPUVA-203", seen.wide[0].PageAddress % 16 == 0);
    CHECK_RULE("GPUVA-210", seen.links >= 1 && seen.wide_links >= 1 && seen.leaf_at != seen.twin_at);
    CHECK(seen.initial_first);
    end();
}

TEST_WITH(wide, pages_elsewhere_have_entries_of_4_kb)
{
    (void)p;
    begin();
    alignment = 65536;
    map(make(VIDEO_SMALL, 256 * KB), BASE, 0, 64);
    CHECK(seen.small[0].PageAddress % 16 == 0);
    map(make(SYSTEM, 256 * KB), BASE + 256 * KB, 0, 64);
    CHECK_RULE("GPUVA-211", wide_in(0, 512 * KB) == 0 && small_in(0, 256 * KB) == 64);
    CHECK_RULE("GPUVA-212", small_in(256 * KB, 256 * KB) == 64);
    end();
}

/* Where an address and its page differ in their low 16 bits, and at the ends that are no whole 64 KB. */
TEST_WITH(wide, a_mapping_that_does_not_fit_falls_back)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(VIDEO_WIDE, MB);
    map(allocation, BASE, 1, 128);
    CHECK_RULE("GPUVA-203", wide_in(0, MB) == 0 && small_in(0, MB) == 128);
    map(allocation, BASE + MB + PAGE, 0, 128);
    CHECK_RULE("GPUVA-203", wide_in(MB, MB) == 0 && small_in(MB, MB) == 128);
    map(allocation, BASE + 2 * MB + 4 * PAGE, 4, 40); /* 12 pages, a whole 64 KB, 12 pages */
    CHECK_RULE("GPUVA-204",
               wide_in(2 * MB, MB) == 1 && seen.wide[33].Valid && small_in(2 * MB, 64 * KB) == 12);
    CHECK_RULE("GPUVA-204", small_in(2 * MB + 64 * KB, 64 * KB) == 0 &&
                                small_in(2 * MB + 128 * KB, 64 * KB) == 12);
    end();
}

/* ---- changes ---- */

TEST_WITH(wide, the_losing_kind_is_invalidated_first)
{
    D3DKMT_HANDLE wide, small;

    (void)p;
    begin();
    wide = make(VIDEO_WIDE, MB);
    small = make(VIDEO_SMALL, MB);
    map(wide, BASE, 0, 64);
    CHECK(wide_in(0, 256 * KB) == 4);
    seen.flushes = 0;
    map(small, BASE + 64 * KB, 0, 16); /* over one of them */
    CHECK_RULE("GPUVA-210", !seen.both && wide_in(0, 256 * KB) == 3 &&
                                small_in(64 * KB, 64 * KB) == 16 && seen.flushes >= 1);
    CHECK_RULE("GPUVA-211", seen.small[16].Segment == 1 && small_in(0, 256 * KB) == 16);
    map(wide, BASE + 64 * KB, 16, 16); /* and back */
    CHECK_RULE("GPUVA-210", !seen.both && wide_in(0, 256 * KB) == 4 && small_in(0, 256 * KB) == 0);
    end();
}

/* One page in the middle of 64 KB: the others are mapped by 4 KB entries, to where they were. */
TEST_WITH(wide, a_part_of_64_kb_may_change)
{
    D3DKMT_HANDLE wide, small;
    uint64_t page;

    (void)p;
    begin();
    wide = make(VIDEO_WIDE, MB);
    small = make(VIDEO_SMALL, 64 * KB);
    map(wide, BASE, 0, 48);
    page = seen.wide[1].PageAddress;
    map(small, BASE + 64 * KB + 5 * PAGE, 0, 2);
    CHECK_RULE("GPUVA-210", !seen.both && wide_in(0, 192 * KB) == 2 && !seen.wide[1].Valid);
    for (unsigned i = 0; i < 16; i++) {
        const DXGK_PTE entry = seen.small[16 + i];

        if (i == 5 || i == 6)
            CHECK_RULE("GPUVA-211", entry.Valid && entry.Segment == 1);
        else
            CHECK_RULE("GPUVA-210",
                       entry.Valid && entry.Segment == WIDE && entry.PageAddress == page + i);
    }
    end();
}

/* From the middle of one 64 KB to the middle of another. */
TEST_WITH(wide, parts_of_two_may_change)
{
    (void)p;
    begin();
    map(make(VIDEO_WIDE, MB), BASE, 0, 64);
    map(make(VIDEO_SMALL, 64 * KB), BASE + 64 * KB + 8 * PAGE, 0, 12);
    CHECK_RULE("GPUVA-210", !seen.both && wide_in(0, 256 * KB) == 2 && seen.wide[0].Valid &&
                                seen.wide[3].Valid && small_in(64 * KB, 128 * KB) == 32);
    CHECK_RULE("GPUVA-210", seen.small[23].Segment == WIDE && seen.small[24].Segment == 1 &&
                                seen.small[35].Segment == 1 && seen.small[36].Segment == WIDE);
    end();
}

static NTSTATUS evict(D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    return D3DKMTEvict(&args);
}

/* To system memory and back: the kind follows the place. */
TEST_WITH(wide, the_kind_follows_the_place)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(VIDEO_WIDE, 256 * KB);
    map(allocation, BASE, 0, 64);
    CHECK(wide_in(0, 256 * KB) == 4);
    CHECK(NT_SUCCESS(evict(allocation)));
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-211", wide_in(0, 256 * KB) == 0 && small_in(0, 256 * KB) == 0);
    release(BASE, 256 * KB);
    CHECK_RULE("GPUVA-211", wide_in(0, 256 * KB) == 0 && small_in(0, 256 * KB) == 0);
    end();
}

TEST_WITH(wide, a_freed_range_has_no_entry_of_either_kind)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(VIDEO_WIDE, 256 * KB);
    map(allocation, BASE, 0, 64);
    map(allocation, BASE + 256 * KB + PAGE, 0, 40);
    CHECK(wide_in(0, 256 * KB) == 4 && small_in(256 * KB, 256 * KB) == 40);
    release(BASE + 256 * KB + PAGE, 40 * PAGE);
    CHECK(wide_in(0, 256 * KB) == 4 && small_in(256 * KB, 256 * KB) == 0);
    release(BASE, 256 * KB);
    map(allocation, BASE + PAGE, 0, 16);
    CHECK_RULE("GPUVA-210", wide_in(0, MB) == 0 && small_in(0, MB) == 16);
    end();
}

/* ---- where there is nothing of 64 KB ---- */

static void none_body(struct probe *p)
{
    (void)p;
    begin();
    map(make(VIDEO_WIDE, 256 * KB), BASE, 0, 64);
    CHECK_RULE("GPUVA-204",
               seen.wide_ops == 0 && seen.wide_links == 0 && small_in(0, 256 * KB) == 64);
    end();
}

TEST(without_such_a_segment_all_entries_are_of_4_kb)
{
    run(none_body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, true, false);
}

/* ---- one table or the other: single PTE mode ---- */

static UINT client_fence; /* of the latest packet that the client submitted */

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        client_fence = args->SubmissionFenceId;
}

static struct {
    unsigned switches; /* of links from 64 KB to 4 KB */
    unsigned entries;  /* of 4 KB that were valid then */
    bool idle;         /* when the first of them was written */
    bool begun;
} converted;

static void note_conversion(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;
    const bool own = op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
                     update->hProcess == seen.process;
    UINT64 was;

    if (own && update->PageTableLevel == 0 && !update->Flags.Use64KBPages && !converted.begun &&
        update->FirstPteVirtualAddress >= BASE && update->FirstPteVirtualAddress < BASE + 2 * MB) {
        converted.begun = true;
        converted.idle = p->state[0].reported[1] >= client_fence;
    }
    was = seen.leaf_size;
    note_operation(p, call);
    if (was == DXGK_PTE_PAGE_TABLE_PAGE_64KB && seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_4KB) {
        converted.switches++;
        converted.entries = small_in(0, 2 * MB);
        memset(seen.wide, 0, sizeof(seen.wide)); /* nothing leads there any more */
    }
    seen.both = false; /* the two tables are never linked at a time */
}

static void single_body(struct probe *p)
{
    D3DKMT_HANDLE wide, system;
    uint64_t page;

    memset(&converted, 0, sizeof(converted));
    client_fence = 0;
    p->before[PROBE_BuildPagingBuffer] = note_conversion;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    begin();
    wide = make(VIDEO_WIDE, MB);
    map(wide, BASE, 0, 256);
    CHECK_RULE("GPUVA-206", seen.links >= 1 && seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_64KB &&
                                seen.wide_links == 0);
    CHECK_RULE("GPUVA-204", wide_in(0, MB) == 16 && small_in(0, MB) == 0 && !converted.begun);
    CHECK(seen.initial_first);
    page = seen.wide[0].PageAddress;
    system = make(SYSTEM, 64 * KB);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK(client_fence && p->state[0].reported[1] < client_fence);
    map(system, BASE + MB + 2 * PAGE, 0, 4);
    probe_sleep(PROBE_SECOND);
    probe_device_packet_ns = 1000;
    CHECK_RULE("GPUVA-207", converted.switches == 1 && converted.begun && converted.idle);
    CHECK_RULE("GPUVA-207", converted.entries == 260 && small_in(0, MB) == 256 &&
                                wide_in(0, 2 * MB) == 0 && small_in(MB, MB) == 4);
    for (unsigned i = 0; i < 256; i++)
        CHECK_RULE("GPUVA-207",
                   seen.small[i].Segment == WIDE && seen.small[i].PageAddress == page + i);
    CHECK_RULE("GPUVA-206", seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_4KB);
    CHECK_RULE("GPUVA-207", NT_SUCCESS(probe_gpu_submit(&gpu)) &&
                                NT_SUCCESS(probe_gpu_wait_idle(&gpu))); /* contexts go on */
    /* for good, though only 64 KB pages are left */
    release(BASE + MB + 2 * PAGE, 4 * PAGE);
    seen.wide_ops = 0;
    map(wide, BASE + MB, 0, 64);
    CHECK_RULE("GPUVA-208", seen.wide_ops == 0 && small_in(MB, MB) == 64 &&
                                seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_4KB);
    end();
}

TEST(a_leaf_table_has_entries_of_one_size_in_single_pte_mode)
{
    run(single_body, DXGK_PAGETABLEUPDATE_CPU_VIRTUAL, false, true);
    run(single_body, DXGK_PAGETABLEUPDATE_GPU_VIRTUAL, false, true);
    run(single_body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false, true);
}

/* Where a page of 4 KB is the first, there is no 64 KB table at all. */
static void small_first_body(struct probe *p)
{
    (void)p;
    begin();
    map(make(SYSTEM, 64 * KB), BASE, 0, 16);
    map(make(VIDEO_WIDE, MB), BASE + MB, 0, 256);
    CHECK_RULE("GPUVA-206", seen.wide_ops == 0 && small_in(0, 2 * MB) == 272 &&
                                seen.wide_tables == 0 &&
                                seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_4KB);
    end();
}

/* Nor where 64 KB are mapped in part; behind whole ones that makes a table of 4 KB entries. */
static void in_part_body(struct probe *p)
{
    D3DKMT_HANDLE wide;

    memset(&converted, 0, sizeof(converted));
    p->before[PROBE_BuildPagingBuffer] = note_conversion;
    begin();
    wide = make(VIDEO_WIDE, MB);
    map(wide, BASE, 0, 64);
    CHECK(seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_64KB);
    map(wide, BASE + MB, 0, 20);
    CHECK_RULE("GPUVA-207", converted.switches == 1 && wide_in(0, 2 * MB) == 0 &&
                                small_in(0, MB) == 64 && small_in(MB, MB) == 20);
    end();
}

static void free_and_sleep_body(struct probe *p)
{
    D3DKMT_HANDLE wide;

    p->before[PROBE_BuildPagingBuffer] = note_conversion;
    begin();
    wide = make(VIDEO_WIDE, 256 * KB);
    map(wide, BASE, 0, 64);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    memset(seen.wide, 0xFF, sizeof(seen.wide));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("GPUVA-206",
               wide_in(0, 2 * MB) == 4 && seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_64KB);
    map(wide, BASE + MB, 0, 16); /* which keeps the table */
    release(BASE, 256 * KB);
    CHECK_RULE("GPUVA-206", wide_in(0, MB) == 0 && wide_in(MB, MB) == 1 &&
                                seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_64KB);
    end();
}

TEST(the_first_pages_choose_the_table)
{
    run(small_first_body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false, true);
    run(in_part_body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false, true);
    run(free_and_sleep_body, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false, true);
}

/* ---- the segment itself ---- */

TEST_WITH(wide, a_segment_of_64_kb_pages_gives_whole_ones)
{
    D3DKMT_HANDLE allocation[4];

    (void)p;
    begin();
    for (unsigned i = 0; i < 4; i++) {
        allocation[i] = make(i < 2 ? VIDEO_WIDE : VIDEO_SMALL, 20 * KB);
        map(allocation[i], BASE + i * 64 * KB, 0, 5);
    }
    CHECK_RULE("GPUVA-201", seen.small[0].Segment == WIDE && seen.small[0].PageAddress % 16 == 0 &&
                                seen.small[16].PageAddress % 16 == 0 &&
                                seen.small[0].PageAddress != seen.small[16].PageAddress);
    CHECK_RULE("GPUVA-201", seen.small[32].Segment == 1 && seen.small[48].Segment == 1 &&
                                seen.small[48].PageAddress == seen.small[32].PageAddress + 5);
    CHECK_RULE("GPUVA-201", small_in(0, 256 * KB) == 20); /* counts are of 4 KB */
    end();
}

/* ---- tables that lose their content ---- */

TEST_WITH(wide, both_kinds_come_back_after_a_sleep)
{
    D3DKMT_HANDLE allocation;

    begin();
    allocation = make(VIDEO_WIDE, 256 * KB);
    map(allocation, BASE, 0, 60);
    CHECK(wide_in(0, 256 * KB) == 3 && small_in(0, 256 * KB) == 12);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    memset(seen.wide, 0xFF, sizeof(seen.wide)); /* what video memory may be now */
    memset(seen.small, 0xFF, sizeof(seen.small));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    seen.both = false; /* those of the poison */
    CHECK_RULE("GPUVA-211",
               wide_in(0, MB) == 3 && small_in(0, MB) == 12 && seen.wide[0].Segment == WIDE);
    end();
}

/* ---- tables that leave ---- */

static NTSTATUS evict_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)arg;
    LIST_FOR(node, &vidmm->processes) {
        struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        if (process->driver_handle == seen.process)
            CHECK(tables_evict(process->space, 1, UINT64_MAX) > 0);
    }
    return STATUS_SUCCESS;
}

static void leave_and_return(struct probe *p, unsigned wide, unsigned small)
{
    begin();
    map(make(VIDEO_WIDE, 256 * KB), BASE, 0, small ? 60 : 64);
    CHECK(wide_in(0, MB) == wide && small_in(0, MB) == small);
    CHECK(NT_SUCCESS(paging_run(p->adapter[0]->managers.vidmm, evict_job, NULL)));
    CHECK(wide_in(0, MB) == 0 && small_in(0, MB) == 0);
    seen.begun_count = 0;
    seen.initial_first = true;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("GPUVA-168", wide_in(0, MB) == wide && small_in(0, MB) == small &&
                                seen.wide[0].Segment == WIDE && seen.initial_first);
    end();
}

static void both_leave(struct probe *p)
{
    leave_and_return(p, 3, 12);
    CHECK_RULE("GPUVA-167", seen.leaving[0] == 1 && seen.leaving[1] == 1);
}

static void one_leaves(struct probe *p)
{
    leave_and_return(p, 4, 0);
    CHECK_RULE("GPUVA-167", seen.leaving[0] == 0 && seen.leaving[1] == 1);
    CHECK_RULE("GPUVA-206", seen.leaf_size == DXGK_PTE_PAGE_TABLE_PAGE_64KB);
}

TEST(tables_of_both_kinds_leave_and_come_back)
{
    run_all(both_leave);
    run(one_leaves, DXGK_PAGETABLEUPDATE_CPU_VIRTUAL, false, true);
    run(one_leaves, DXGK_PAGETABLEUPDATE_GPU_VIRTUAL, false, true);
    run(one_leaves, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false, true);
}

/* SPDX-License-Identifier: MIT */
/* Memory of a device that the CPU sees through a window only. */
#include "port/support/host_window.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define PAGE               4096u
#define LARGE              65536u

static struct probe_gpu gpu;
static struct probe_client *other[3]; /* that a body has started */

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(host_window_mapped() == 0);
    host_window.calls = 0;
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    for (unsigned i = 0; i < 3; i++) {
        if (other[i])
            probe_client_end(p, other[i]);
        other[i] = NULL;
    }
    CHECK_RULE("ALLOC-137", host_window_mapped() == 0);
    probe_clients_end(p);
    host_window_end(p);
}

/* ---- the client ---- */

static HANDLE driver_handle[16]; /* of what was created, in order */
static unsigned created;
static UINT own_set;
static DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 more_flags;

static void into_the_segment(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = own_set;
        info->PreferredSegment.Value = 0;
        info->PreferredSegment.SegmentId0 = 3;
        info->Alignment = host_window.page_bytes;
        info->FlagsWddm2.Value |= more_flags.Value;
        driver_handle[created++ % 16] = info->hAllocation;
    }
}

static void begin(struct probe *p)
{
    own_set = 2 | 4; /* the aperture, and the segment */
    more_flags.Value = 0;
    created = 0;
    p->after[PROBE_CreateAllocation] = into_the_segment;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static D3DKMT_HANDLE make(uint64_t bytes)
{
    D3DKMT_HANDLE allocation = 0;

    CHECK(IS(probe_gpu_allocate(&gpu, bytes, &allocation), STATUS_SUCCESS));
    return allocation;
}

static uint8_t *lock(D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = allocation;
    CHECK(IS(D3DKMTLock2(&args), STATUS_SUCCESS) && args.pData);
    return args.pData;
}

static void unlock(D3DKMT_HANDLE allocation)
{
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_SUCCESS));
}

static void destroy(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.AllocationCount = 1;
    args.phAllocationList = &allocation;
    CHECK(IS(D3DKMTDestroyAllocation2(&args), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND);
}

static void evict(D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&args)));
    probe_sleep(PROBE_SECOND);
}

static const struct host_window_call *nth(unsigned n)
{
    CHECK(n < host_window.calls);
    return &host_window.call[n];
}

/* ---- what the driver is told ---- */

static bool pages_are(const struct host_window_call *call, const UINT64 *page)
{
    return memcmp(call->page, page, call->count * sizeof(*page)) == 0;
}

static void scattered_body(struct probe *p)
{
    static const UINT64 even[] = {0, 1, 2, 3, 8, 9, 10, 11};
    D3DKMT_HANDLE piece[4], both;
    uint8_t *bytes;

    begin(p);
    for (unsigned i = 0; i < 4; i++)
        piece[i] = make(4 * PAGE);
    destroy(piece[0]);
    destroy(piece[2]);
    both = make(8 * PAGE);
    CHECK(host_window.calls == 0); /* nothing is mapped before somebody looks */
    bytes = lock(both);
    CHECK_RULE("ALLOC-135", host_window.calls == 1 && nth(0)->map && nth(0)->count == 8 &&
                                nth(0)->allocation == driver_handle[4]);
    CHECK_RULE("ALLOC-136", pages_are(nth(0), even));
    for (unsigned i = 0; i < 8; i++)
        memset(bytes + i * PAGE, 0x40 + (int)i, PAGE);
    CHECK(lock(both) == bytes); /* once more: it is mapped */
    unlock(both);
    CHECK_RULE("ALLOC-137", host_window.calls == 1 && host_window_mapped() == 8);
    unlock(both);
    CHECK_RULE("ALLOC-137", host_window.calls == 2 && !nth(1)->map && nth(1)->count == 8 &&
                                memcmp(nth(0)->window, nth(1)->window, 8 * sizeof(UINT32)) == 0);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("ALLOC-135", host_window.memory[even[i] * PAGE] == 0x40 + i &&
                                    host_window.memory[even[i] * PAGE + PAGE - 1] == 0x40 + i);
    CHECK_RULE("ALLOC-135", host_window.memory[4 * PAGE] == 0 &&
                                host_window.memory[7 * PAGE + PAGE - 1] == 0 &&
                                host_window.memory[12 * PAGE] == 0);
    CHECK(lock(piece[3])[0] == 0);
    CHECK_RULE("ALLOC-135", nth(2)->allocation == driver_handle[3] && nth(2)->count == 4 &&
                                nth(2)->page[0] == 12);
    unlock(piece[3]);
    end();
}

TEST(pages_of_the_window_show_pages_of_the_segment)
{
    run(host_window_create(NULL, 16 * PAGE, 16, false, false), scattered_body);
}

/* The free pages of the window, too, need not follow each other. */
static void scattered_window_body(struct probe *p)
{
    D3DKMT_HANDLE piece[3], large;
    uint8_t *bytes;

    begin(p);
    for (unsigned i = 0; i < 3; i++) {
        piece[i] = make(4 * PAGE);
        (void)lock(piece[i]);
    }
    unlock(piece[0]);
    unlock(piece[2]);
    large = make(8 * PAGE);
    bytes = lock(large);
    CHECK_RULE("ALLOC-135", nth(5)->map && nth(5)->count == 8 && host_window_mapped() == 12);
    for (unsigned i = 0; i < 8; i++)
        bytes[i * PAGE + 5] = (uint8_t)(0x80 + i);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("ALLOC-135",
                   host_window_cpu(p)[nth(5)->window[i] * PAGE + 5] == (uint8_t)(0x80 + i));
    unlock(large);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("ALLOC-135",
                   host_window.memory[nth(5)->page[i] * PAGE + 5] == (uint8_t)(0x80 + i));
    CHECK_RULE("ALLOC-137", host_window_mapped() == 4);
    unlock(piece[1]);
    end();
}

TEST(pages_of_the_window_lie_apart)
{
    run(host_window_create(NULL, 64 * PAGE, 12, false, false), scattered_window_body);
}

static void large_pages_body(struct probe *p)
{
    D3DKMT_HANDLE piece[3];
    uint8_t *bytes;

    begin(p);
    for (unsigned i = 0; i < 3; i++)
        piece[i] = make(i == 2 ? LARGE + 1 : LARGE);
    bytes = lock(piece[2]);
    CHECK_RULE("ALLOC-136", nth(0)->count == 2 && nth(0)->page[0] == 2 && nth(0)->page[1] == 3);
    bytes[LARGE - 1] = 1;
    bytes[LARGE] = 2;
    unlock(piece[2]);
    CHECK_RULE("ALLOC-136",
               host_window.memory[3 * LARGE - 1] == 1 && host_window.memory[3 * LARGE] == 2);
    end();
}

TEST(both_count_pages_of_the_segment)
{
    run(host_window_create(NULL, 8 * LARGE, 4, true, false), large_pages_body);
}

/* ---- a full window ---- */

static void full_body(struct probe *p)
{
    D3DKMT_HANDLE first, second, third;
    uint8_t *bytes;

    begin(p);
    first = make(12 * PAGE);
    second = make(4 * PAGE);
    third = make(PAGE);
    (void)lock(first);
    (void)lock(second); /* the last four */
    CHECK_RULE("ALLOC-126", host_window_mapped() == 16 && host_window.calls == 2);
    bytes = lock(third);
    bytes[PAGE - 1] = 3;
    CHECK_RULE("ALLOC-126", host_window.calls == 2 && probe_reports(p, VERIFY_ERROR) == 0);
    unlock(second);
    CHECK_RULE("ALLOC-126", host_window_mapped() == 12 && bytes[PAGE - 1] == 3);
    unlock(third);
    unlock(first);
    end();
}

TEST(what_finds_no_room_in_the_window_moves_out)
{
    run(host_window_create(NULL, 64 * PAGE, 16, false, false), full_body);
}

static void cached_body(struct probe *p)
{
    const bool coherent = p->segment[2].Flags.SupportsCachedCpuHostAperture;
    D3DKMT_HANDLE cached;

    begin(p);
    more_flags.Cached = 1;
    cached = make(PAGE);
    (void)lock(cached);
    CHECK_RULE("ALLOC-127", host_window.calls == coherent);
    unlock(cached);
    end();
}

TEST(a_cached_mapping_needs_a_cached_window)
{
    for (unsigned coherent = 0; coherent < 2; coherent++) {
        struct probe *p = host_window_create(NULL, 64 * PAGE, 16, false, false);

        p->segment[2].Flags.SupportsCachedCpuHostAperture = coherent & 1;
        run(p, cached_body);
    }
}

/* ---- a lock that fails ---- */

/* Each request of the host fails in turn: whether it was before or after the window was opened, no page of it stays. */
static void short_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    unsigned opened = 0;
    bool met = true;

    begin(p);
    for (unsigned nth = 1; met; nth++) {
        const D3DKMT_HANDLE allocation = make(4 * PAGE);
        D3DKMT_LOCK2 args = {.hDevice = gpu.device, .hAllocation = allocation};
        const unsigned calls = host_window.calls;
        const uint64_t at = heap->requests + nth;
        NTSTATUS status;

        CHECK(nth < 64);
        heap->fail_at = at;
        status = D3DKMTLock2(&args);
        heap->fail_at = 0;
        met = heap->requests >= at;
        if (NT_SUCCESS(status))
            unlock(allocation); /* perhaps from system memory: there was no window for it */
        opened += host_window.calls != calls && !NT_SUCCESS(status);
        CHECK_RULE("ALLOC-137", host_window_mapped() == 0);
        destroy(allocation);
    }
    CHECK_RULE("ALLOC-137", opened > 0);
    end();
}

TEST(a_lock_that_fails_leaves_no_window)
{
    run(host_window_create(NULL, 64 * PAGE, 16, false, false), short_body);
}

/* ---- before the memory is another's ---- */

static uint64_t first_write; /* order of the first call that names the memory for the newcomer */

static void note_write(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (created == 2 && !first_write && op->Operation == DXGK_OPERATION_VIRTUAL_FILL)
        first_write = call->order;
}

static void evicted_body(struct probe *p)
{
    D3DKMT_HANDLE locked, next;
    uint8_t *bytes;

    begin(p);
    first_write = 0;
    p->before[PROBE_BuildPagingBuffer] = note_write;
    locked = make(16 * PAGE); /* all there is */
    bytes = lock(locked);
    bytes[0] = 7;
    evict(locked);
    own_set = 4;
    next = make(16 * PAGE);
    CHECK_RULE("ALLOC-137", host_window.calls == 2 && !nth(1)->map && nth(1)->count == 16 &&
                                first_write && nth(1)->order < first_write);
    bytes[15 * PAGE] = 8; /* the pointer is good, and no memory of the newcomer */
    CHECK_RULE("ALLOC-137", host_window.memory[15 * PAGE] == 0);
    unlock(locked);
    CHECK_RULE("ALLOC-137", host_window.calls == 2);
    destroy(next);
    end();
}

TEST(an_evicted_allocation_leaves_the_window_first)
{
    run(host_window_create(NULL, 16 * PAGE, 16, false, false), evicted_body);
}

static void destroyed_body(struct probe *p)
{
    D3DKMT_HANDLE locked, next;

    begin(p);
    first_write = 0;
    p->before[PROBE_BuildPagingBuffer] = note_write;
    own_set = 4 | 2;
    locked = make(16 * PAGE);
    (void)lock(locked);
    destroy(locked);
    CHECK_RULE("ALLOC-137", host_window.calls == 2 && !nth(1)->map);
    next = make(16 * PAGE);
    CHECK_RULE("ALLOC-137", first_write && nth(1)->order < first_write);
    (void)lock(next); /* its whole window is free again */
    CHECK_RULE("ALLOC-137", host_window.calls == 3 && nth(2)->count == 16);
    unlock(next);
    end();
}

TEST(a_destroyed_allocation_leaves_the_window_first)
{
    run(host_window_create(NULL, 16 * PAGE, 16, false, false), destroyed_body);
}

static D3DKMT_HANDLE kept;
static uint8_t *kept_bytes;

static void lock_and_stay(struct probe *p)
{
    begin(p);
    kept = make(4 * PAGE);
    kept_bytes = lock(kept);
    kept_bytes[0] = 9;
}

static void unlock_after(struct probe *p)
{
    (void)p;
    kept_bytes[4 * PAGE - 1] = 10;
    unlock(kept);
    end();
}

static void sleep_and_wake(struct probe *p)
{
    CHECK_RULE("RES-084", host_window_mapped() == 4);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("RES-084", host_window_mapped() == 0 &&
                              nth(1)->order < probe_nth(p, PROBE_SetPowerState, 0)->order);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

/* Also in a segment that keeps its content. */
TEST(no_page_is_mapped_without_power)
{
    for (unsigned preserved = 0; preserved < 2; preserved++) {
        struct probe *p = host_window_create(NULL, 16 * PAGE, 16, false, false);
        struct probe_client *client;

        p->segment[2].Flags.PreservedDuringStandby = preserved & 1;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        host_window.calls = 0;
        client = probe_client_run(p, lock_and_stay);
        CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
        probe_client_go_on(p, client, unlock_after);
        probe_client_end(p, client);
        probe_clients_end(p);
        host_window_end(p);
    }
}

/* ---- a driver that fails ---- */

static void failing_body(struct probe *p)
{
    D3DKMT_HANDLE first, second;
    uint8_t *bytes;

    begin(p);
    first = make(16 * PAGE);
    host_window.fail_map_count = 1;
    bytes = lock(first);
    bytes[16 * PAGE - 1] = 4;
    CHECK_RULE("ALLOC-138", nth(0)->failed && host_window.calls == 1 &&
                                probe_rule(p, "ALLOC-138") == 1 &&
                                probe_said(p, "ALLOC-138",
                                           "DxgkDdiMapCpuHostAperture of 16 pages "
                                           "of segment 3"));
    unlock(first);
    CHECK_RULE("ALLOC-138", host_window.calls == 1); /* it was not mapped */
    second = make(16 * PAGE);
    (void)lock(second);
    CHECK_RULE("ALLOC-138", host_window.calls == 2 && host_window_mapped() == 16);
    unlock(second);
    end();
}

TEST(a_failing_map_is_a_full_window)
{
    run(host_window_create(NULL, 64 * PAGE, 16, false, false), failing_body);
}

static void failing_unmap_body(struct probe *p)
{
    D3DKMT_HANDLE first, second, all;

    begin(p);
    first = make(4 * PAGE);
    second = make(12 * PAGE);
    all = make(13 * PAGE);
    (void)lock(first);
    host_window.fail_unmap_count = 1;
    unlock(first);
    CHECK_RULE("ALLOC-138", host_window.calls == 2 && nth(1)->failed &&
                                probe_rule(p, "ALLOC-138") == 1 &&
                                probe_said(p, "ALLOC-138", "DxgkDdiUnmapCpuHostAperture of 4"));
    (void)lock(second); /* what is left */
    CHECK_RULE("ALLOC-138", host_window.calls == 3 && nth(2)->count == 12);
    for (unsigned i = 0; i < 12; i++)
        for (unsigned k = 0; k < 4; k++)
            CHECK_RULE("ALLOC-138", nth(2)->window[i] != nth(1)->window[k]);
    unlock(second);
    (void)lock(all); /* one more than that: in system memory */
    CHECK_RULE("ALLOC-138", host_window.calls == 4);
    unlock(all);
    memset(host_window.mapped, 0, sizeof(host_window.mapped));
    end();
}

TEST(pages_that_were_not_unmapped_are_retired)
{
    run(host_window_create(NULL, 64 * PAGE, 16, false, false), failing_unmap_body);
}

/* ---- several clients ---- */

static unsigned rounds_done;

static void lock_often(struct probe *p)
{
    struct probe_gpu own;
    D3DKMT_HANDLE allocation;
    D3DKMT_LOCK2 args;

    (void)p;
    CHECK(IS(probe_gpu_begin(&own), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&own, 4 * PAGE, &allocation), STATUS_SUCCESS));
    for (unsigned i = 0; i < 10; i++) {
        memset(&args, 0, sizeof(args));
        args.hDevice = own.device;
        args.hAllocation = allocation;
        CHECK(IS(D3DKMTLock2(&args), STATUS_SUCCESS));
        *(volatile uint8_t *)args.pData = (uint8_t)i;
        probe_sleep(1000 + 100 * i);
        CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){own.device, allocation}), STATUS_SUCCESS));
        rounds_done++;
    }
    CHECK(IS(probe_gpu_end(&own), STATUS_SUCCESS));
}

static void beside_each_other(struct probe *p)
{
    own_set = 2 | 4;
    more_flags.Value = 0;
    p->after[PROBE_CreateAllocation] = into_the_segment;
    host_window.delay_ns = 2000;
    for (unsigned i = 0; i < 3; i++)
        other[i] = probe_client_start(p, lock_often);
    for (unsigned i = 0; i < 3; i++)
        while (!other[i]->done)
            probe_sleep(1000000);
}

TEST(one_call_at_a_time)
{
    const struct probe_options options = {.processors = 4};
    struct probe *p = host_window_create(&options, 64 * PAGE, 16, false, false);

    rounds_done = 0;
    run(p, beside_each_other);
    CHECK_RULE("ALLOC-138",
               rounds_done == 30 && host_window.calls == 60 && host_window.most_inside == 1);
}

/* ---- page tables ---- */

static unsigned through_window;
static uint64_t client_device; /* order of the first CreateDevice */
static D3DGPU_PHYSICAL_ADDRESS root;

static void look_at_update(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];
    const uint8_t *table = op->UpdatePageTable.PageTableAddress.CpuVirtual;
    uint64_t offset;

    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE ||
        op->UpdatePageTable.UpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return;
    if (table < host_window_cpu(p) || table >= host_window_cpu(p) + (8u << 20)) {
        CHECK(op->UpdatePageTable.PageTableLevel > 0); /* of a client, in system memory */
        return;
    }
    offset = (uint64_t)(table - host_window_cpu(p));
    CHECK_RULE("SEG-058", offset < (uint64_t)host_window.pages * host_window.page_bytes &&
                              offset % host_window.page_bytes == 0 &&
                              host_window.mapped[offset / host_window.page_bytes]);
    CHECK_RULE("GPUVA-223",
               nth(host_window.calls - 1)->map && !nth(host_window.calls - 1)->allocation);
    through_window++;
}

static void note_device(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (!client_device)
        client_device = call->order;
}

static void note_root(struct probe *p, struct probe_call *call)
{
    (void)p;
    root = ((const DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1])->Address;
}

static void use_tables(struct probe *p)
{
    const unsigned before = through_window;
    D3DDDI_MAPGPUVIRTUALADDRESS map;

    begin(p);
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = gpu.queue;
    map.hAllocation = make(PAGE);
    map.SizeInPages = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&map)));
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("GPUVA-024", (through_window > before) ==
                                (p->mmu.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL));
    end();
}

static void tables_in_the_segment(bool large, DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = host_window_create(NULL, large ? 1024 * LARGE : 1024 * PAGE, 2, large, true);
    bool root_mapped = false;

    through_window = 0;
    client_device = 0;
    memset(&root, 0, sizeof(root));
    p->mmu.PageTableUpdateMode = mode;
    if (mode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        for (unsigned i = 1; i < 8; i++)
            p->level[i].PageTableSegmentId = 0;
    p->before[PROBE_BuildPagingBuffer] = look_at_update;
    p->before[PROBE_SetRootPageTable] = note_root;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-058", host_window.calls > 0 && nth(0)->map && !nth(0)->allocation &&
                              through_window > 0 && host_window_mapped() == 0);
    CHECK_RULE("ALLOC-137", host_window.calls == 2 * through_window);
    CHECK_RULE("ALLOC-136", root.SegmentId == 3);
    for (unsigned i = 0; i < host_window.calls; i++)
        root_mapped |= nth(i)->map && nth(i)->page[0] == root.SegmentOffset / host_window.page_bytes;
    CHECK_RULE("ALLOC-136", root_mapped && root.SegmentOffset % host_window.page_bytes == 0);
    p->before[PROBE_CreateDevice] = note_device;
    probe_client_end(p, probe_client_run(p, use_tables));
    CHECK_RULE("SEG-058", client_device > nth(0)->order);
    probe_clients_end(p);
    host_window_end(p);
}

TEST(page_tables_are_written_through_the_window)
{
    tables_in_the_segment(false, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
    tables_in_the_segment(true, DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
    tables_in_the_segment(false, DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
}

/* A probe whose leaf tables are in the segment, and written by the CPU. */
static struct probe *written_by_cpu(UINT32 pages)
{
    struct probe *p = host_window_create(NULL, 4096 * PAGE, pages, false, true);

    through_window = 0;
    p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    p->before[PROBE_BuildPagingBuffer] = look_at_update;
    return p;
}

static NTSTATUS map_page(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = gpu.queue;
    map.hAllocation = allocation;
    map.SizeInPages = 1;
    return D3DKMTMapGpuVirtualAddress(&map);
}

/* Calls from `first` on that show an allocation. */
static unsigned seen(unsigned first, HANDLE allocation)
{
    unsigned count = 0;

    for (unsigned i = first; i < host_window.calls; i++)
        count += nth(i)->map && nth(i)->allocation == allocation;
    return count;
}

static void beside_locks_body(struct probe *p)
{
    D3DKMT_HANDLE most, more, target;
    unsigned before, calls;

    begin(p);
    target = make(PAGE);
    most = make(7 * PAGE);
    more = make(PAGE);
    calls = host_window.calls;
    (void)lock(most); /* all but the page for tables */
    CHECK_RULE("ALLOC-126", host_window.calls == calls + 1 && nth(calls)->count == 7);
    (void)lock(more); /* in system memory */
    CHECK_RULE("ALLOC-126", seen(calls + 1, driver_handle[2]) == 0);
    before = through_window;
    CHECK(NT_SUCCESS(map_page(target)));
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("GPUVA-183", through_window > before && probe_rule(p, "GPUVA-183") == 0);
    unlock(more);
    unlock(most);
    end();
}

TEST(page_tables_are_written_while_the_window_is_full_of_locks)
{
    run(written_by_cpu(8), beside_locks_body);
}

TEST(a_window_without_room_for_a_page_table_fails_the_start)
{
    for (UINT32 pages = 1; pages <= 2; pages++) {
        struct probe *p = written_by_cpu(pages);

        p->level[0].PageTableSizeInBytes = 2 * PAGE;
        CHECK_RULE("GPUVA-183", NT_SUCCESS(probe_start(p)) == (pages == 2));
        CHECK_RULE("GPUVA-183", probe_said(p, "GPUVA-183",
                                           "has no room for a page table of 8192") == (pages == 1));
        host_window_end(p);
    }
}

static void refused_body(struct probe *p)
{
    D3DKMT_HANDLE target;

    begin(p);
    target = make(PAGE);
    host_window.fail_map_count = UINT32_MAX;
    (void)map_page(target);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("GPUVA-183",
               probe_rule(p, "GPUVA-183") == 1 && probe_said(p, "GPUVA-183", "cannot be written"));
    CHECK_RULE("GPUVA-183", IS(map_page(target), STATUS_DEVICE_REMOVED));
}

TEST(page_tables_that_cannot_be_written_lose_the_adapter)
{
    run(written_by_cpu(8), refused_body);
}

/* SPDX-License-Identifier: MIT */
/* The contrary driver's answers about memory and addresses, each followed to what a client or the driver sees of it. */
#include "port/support/contrary.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MB                 (1u << 20)
#define END                (1ull << CONTRARY_BITS)

static struct probe_gpu gpu;

static void begin(void)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static D3DKMT_HANDLE make(UINT set, uint64_t bytes, bool physical)
{
    D3DKMT_HANDLE allocation = 0;

    contrary_next.set = set;
    contrary_next.physical = physical;
    CHECK(IS(probe_gpu_allocate(&gpu, bytes, &allocation), STATUS_SUCCESS));
    return allocation;
}

static uint64_t map(D3DKMT_HANDLE allocation, uint64_t bytes)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = {
        .hPagingQueue = gpu.queue, .hAllocation = allocation, .SizeInPages = bytes / 4096};
    NTSTATUS status = D3DKMTMapGpuVirtualAddress(&args);

    CHECK(IS(status, STATUS_PENDING) || IS(status, STATUS_SUCCESS));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    probe_sleep(1000000); /* the entries are written on the paging queue */
    return args.VirtualAddress;
}

/* ---- segments ---- */

TEST_WITH(contrary, sizes_are_the_sums)
{
    D3DKMT_SEGMENTSIZEINFO info;

    (void)p;
    begin();
    CHECK(IS(contrary_query(&gpu, KMTQAITYPE_GETSEGMENTSIZE, &info, sizeof(info)), STATUS_SUCCESS));
    CHECK_RULE("SEG-070",
               info.DedicatedVideoMemorySize == 11 * MB && info.DedicatedSystemMemorySize == 0);
    CHECK_RULE("SEG-071", info.SharedSystemMemorySize == CONTRARY_LIMIT);
    end();
}

/* Its CommitLimit is 8 MiB, and its size 9. */
TEST_WITH(contrary, the_aperture_has_a_limit)
{
    D3DKMT_HANDLE held[64];
    unsigned count = 0;

    (void)p;
    begin();
    contrary_next.physical = true;
    contrary_next.set = CONTRARY_SET(CONTRARY_APERTURE);
    while (count < 64 && IS(probe_gpu_allocate(&gpu, MB / 4, &held[count]), STATUS_SUCCESS))
        count++;
    CHECK_RULE("CAPS-023", contrary_seen.aperture_most == CONTRARY_LIMIT);
    CHECK_RULE("SEG-035", contrary_seen.aperture_most == CONTRARY_LIMIT);
    end();
}

/* With a second one, the limit is that of both together. */
static void fill_both(struct probe *p)
{
    D3DKMT_HANDLE held;
    unsigned count[2] = {0, 0};

    begin();
    contrary_next.physical = true;
    for (unsigned i = 0; i < 2; i++) {
        contrary_next.set = i == 0 ? CONTRARY_SET(p->segments) : CONTRARY_SET(CONTRARY_APERTURE);
        while (IS(probe_gpu_allocate(&gpu, MB / 4, &held), STATUS_SUCCESS))
            count[i]++;
    }
    CHECK_RULE("SEG-033", count[0] == 4 * 4);
    CHECK_RULE("CAPS-023", count[1] > 0 && contrary_seen.aperture_most == CONTRARY_LIMIT);
    CHECK_RULE("SEG-035", count[1] > 0 && contrary_seen.aperture_most == CONTRARY_LIMIT);
    end();
}

TEST(two_apertures_share_a_limit)
{
    struct probe *p = contrary_create(NULL);
    DXGK_SEGMENTDESCRIPTOR4 *second = &p->segment[p->segments++];

    second->BaseAddress.QuadPart = 0x340000000;
    second->Size = 5 * MB;
    second->CommitLimit = 4 * MB;
    second->Flags.Aperture = 1;
    contrary_run(p, fill_both);
}

/* ---- invalid ranges ---- */

static bool is_bad(const struct probe *p, UINT segment, uint64_t page)
{
    for (UINT i = 0; i < p->segment[segment - 1].NumInvalidMemoryRanges; i++)
        if (page * 4096 >= p->bad_range[i].SegmentOffset &&
            page * 4096 < p->bad_range[i].SegmentOffset + p->bad_range[i].SizeInBytes)
            return true;
    return false;
}

/* Fill the segment, and look where every page of it went. */
static void fill(struct probe *p, UINT segment)
{
    static bool used[6 * MB / 4096];
    const uint64_t bytes = p->segment[segment - 1].Size;
    uint64_t bad = 0, beside = 0, pages = 8;
    D3DKMT_HANDLE allocation;

    begin();
    memset(used, 0, sizeof(used));
    contrary_next.set = CONTRARY_SET(segment);
    contrary_next.alignment = 0;
    for (unsigned n = 0; n < 400; n++) {
        uint64_t va;

        if (!IS(probe_gpu_allocate(&gpu, pages * 4096, &allocation), STATUS_SUCCESS)) {
            if (pages == 1)
                break;
            pages = 1; /* what is left between others */
            continue;
        }
        va = map(allocation, pages * 4096);
        for (unsigned i = 0; i < pages; i++) {
            const DXGK_PTE *pte = contrary_entry(va + 4096 * i);

            CHECK(pte && pte->Valid && pte->Segment == segment && pte->PageAddress < bytes / 4096);
            bad += is_bad(p, segment, pte->PageAddress);
            used[pte->PageAddress] = true;
        }
    }
    for (UINT i = 0; i < p->segment[segment - 1].NumInvalidMemoryRanges; i++) {
        uint64_t first = p->bad_range[i].SegmentOffset / 4096;

        beside += used[first - 1] && used[first + p->bad_range[i].SizeInBytes / 4096];
    }
    CHECK_RULE("CAPS-082", bad == 0);
    CHECK_RULE("SEG-060", bad == 0 && beside == p->segment[segment - 1].NumInvalidMemoryRanges);
    end();
}

TEST_WITH(contrary, nothing_lies_in_invalid_ranges)
{
    fill(p, CONTRARY_VRAM);
}

TEST_WITH(contrary, nothing_lies_in_those_of_another_segment)
{
    fill(p, CONTRARY_FAR);
}

/* ---- moves ---- */

static UINT transfers_inside(void)
{
    return contrary_seen.transfers[DXGK_MEMORY_TRANSFER_LOCAL_TO_LOCAL];
}

/* Holes of 256 KiB between what stays, and something that needs a larger one. */
static void fragment(struct probe *p)
{
    D3DKMT_HANDLE small[18], held;
    unsigned count = 0;

    (void)p;
    begin();
    contrary_next.alignment = 4096;
    while (count < 18) {
        small[count] = make(CONTRARY_SET(CONTRARY_VRAM), MB / 4, true);
        count++;
    }
    for (unsigned i = 0; i < count; i += 2) {
        D3DKMT_EVICT evict = {
            .hDevice = gpu.device, .NumAllocations = 1, .AllocationList = &small[i]};

        CHECK(IS(D3DKMTEvict(&evict), STATUS_SUCCESS));
    }
    CHECK(transfers_inside() == 0);
    held = make(CONTRARY_SET(CONTRARY_VRAM), MB, true);
    CHECK(held != 0);
    end();
}

TEST_WITH(contrary, content_moves_inside_a_segment)
{
    fragment(p);
    CHECK_RULE("SEG-088", transfers_inside() > 0);
    CHECK_RULE("GPUVA-234", transfers_inside() > 0);
}

static void fragment_without(struct probe *p)
{
    fragment(p);
    CHECK_RULE("SEG-088", transfers_inside() == 0);
}

TEST(content_moves_only_where_the_driver_can)
{
    struct probe *p = contrary_create(NULL);

    p->physical.Flags.MovePagingSupported = 0;
    contrary_run(p, fragment_without);
}

/* ---- page tables ---- */

TEST_WITH(contrary, tables_lie_in_their_segments)
{
    static const UINT level_segment[] = {CONTRARY_VRAM, CONTRARY_FAR, CONTRARY_VRAM};
    static const UINT paging_segment[] = {CONTRARY_FAR, CONTRARY_VRAM, CONTRARY_FAR};
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(CONTRARY_SET(CONTRARY_FAR), 0x9000, false);
    (void)map(allocation, 0x9000);
    for (UINT level = 0; level < CONTRARY_LEVELS; level++) {
        CHECK_RULE("GPUVA-016", contrary_seen.table_segments[level] == 1u << level_segment[level]);
        CHECK_RULE("GPUVA-018",
                   contrary_seen.paging_table_segments[level] == 1u << paging_segment[level]);
    }
    CHECK_RULE("GPUVA-020", contrary_seen.tables_misaligned == 0);
    end();
}

/* Those of the paging process, 256 of 16 KiB apart, need 4 MiB. */
TEST(tables_without_room_are_told)
{
    struct probe *p = contrary_create(NULL);

    p->segment[CONTRARY_FAR - 1].Size = p->segment[CONTRARY_FAR - 1].CommitLimit = 3 * MB;
    CHECK_RULE("GPUVA-227", IS(probe_start(p), STATUS_NO_MEMORY) &&
                                probe_said(p, "GPUVA-227", "256 of level 0") &&
                                probe_said(p, "GPUVA-227", "in segment 3"));
    probe_destroy(p);
}

/* ---- the width of addresses ---- */

static NTSTATUS reserve(uint64_t base, uint64_t bytes)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
        .hPagingQueue = gpu.queue, .BaseAddress = base, .Size = bytes};

    return D3DKMTReserveGpuVirtualAddress(&args);
}

static NTSTATUS submit(uint64_t address, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND args = {.Commands = address,
                                 .CommandLength = bytes,
                                 .BroadcastContextCount = 1,
                                 .BroadcastContext = {gpu.context}};

    return D3DKMTSubmitCommand(&args);
}

TEST_WITH(contrary, addresses_have_as_many_bits)
{
    D3DKMT_QUERY_GPUMMU_CAPS caps = {0};

    (void)p;
    begin();
    CHECK(IS(contrary_query(&gpu, KMTQAITYPE_QUERY_GPUMMU_CAPS, &caps, sizeof(caps)),
             STATUS_SUCCESS));
    CHECK_RULE("KMT-098", caps.Caps.VirtualAddressBitCount == CONTRARY_BITS);
    CHECK_RULE("GPUVA-061", IS(reserve(END - 65536, 65536), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-061", IS(reserve(END - 131072, 196608), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-317", IS(submit(END - 64, 64), STATUS_SUCCESS));
    CHECK_RULE("KMT-317", IS(submit(END - 64, 65), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-317", IS(submit(END, 0), STATUS_SUCCESS));
    CHECK_RULE("KMT-317", IS(submit(END + 1, 0), STATUS_INVALID_PARAMETER));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    end();
}

/* ---- the range for the host's own addresses ---- */

static NTSTATUS make_fence(uint64_t *va)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args = {.hDevice = gpu.device};
    NTSTATUS status;

    args.Info.Type = D3DDDI_MONITORED_FENCE;
    status = D3DKMTCreateSynchronizationObject2(&args);
    *va = args.Info.MonitoredFence.FenceValueGPUVirtualAddress;
    return status;
}

TEST_WITH(contrary, fences_lie_in_the_range_for_the_host)
{
    D3DKMT_HANDLE allocation;
    uint64_t va;

    (void)p;
    begin();
    for (unsigned i = 0; i < 20; i++) {
        CHECK(IS(make_fence(&va), STATUS_SUCCESS));
        CHECK_RULE("GPUVA-059", va >= CONTRARY_INTERNAL && va < CONTRARY_INTERNAL_END);
        CHECK_RULE("CAPS-039", va >= CONTRARY_INTERNAL && va < CONTRARY_INTERNAL_END);
    }
    allocation = make(CONTRARY_SET(CONTRARY_VRAM), 65536, false);
    va = map(allocation, 65536);
    CHECK_RULE("GPUVA-060", va + 65536 <= CONTRARY_INTERNAL || va >= CONTRARY_INTERNAL_END);
    end();
}

/* Where 16 pages go that may lie in [low, high); 0: nowhere. */
static uint64_t place(D3DKMT_HANDLE allocation, uint64_t low, uint64_t high)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = {.hPagingQueue = gpu.queue,
                                        .hAllocation = allocation,
                                        .MinimumAddress = low,
                                        .MaximumAddress = high,
                                        .SizeInPages = 16};
    NTSTATUS status = D3DKMTMapGpuVirtualAddress(&args);

    CHECK(NT_SUCCESS(status) || IS(status, STATUS_NO_MEMORY));
    return NT_SUCCESS(status) ? args.VirtualAddress : 0;
}

TEST_WITH(contrary, clients_get_what_is_beside_the_range_for_the_host)
{
    const uint64_t step = 65536;
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    allocation = make(CONTRARY_SET(CONTRARY_VRAM), step, false);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL, CONTRARY_INTERNAL_END) == 0);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL - step + 4096,
                                  CONTRARY_INTERNAL_END + step - 4096) == 0);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL - step, CONTRARY_INTERNAL) ==
                                CONTRARY_INTERNAL - step);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL - step,
                                  CONTRARY_INTERNAL_END + step) == CONTRARY_INTERNAL_END);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL - 2 * step,
                                  CONTRARY_INTERNAL + 4096) == CONTRARY_INTERNAL - 2 * step);
    CHECK_RULE("GPUVA-060", place(allocation, CONTRARY_INTERNAL_END - 4096,
                                  CONTRARY_INTERNAL_END + 2 * step) == CONTRARY_INTERNAL_END + step);
    end();
}

/* A client has taken all that was free of it: then there is no place for a fence, above or below. */
TEST_WITH(contrary, fences_lie_nowhere_else)
{
    unsigned taken = 0, made = 0;
    uint64_t va;

    (void)p;
    begin();
    for (uint64_t page = CONTRARY_INTERNAL; page < CONTRARY_INTERNAL_END; page += 4096) {
        D3DDDI_MAPGPUVIRTUALADDRESS args = {.hPagingQueue = gpu.queue,
                                            .BaseAddress = page,
                                            .SizeInPages = 1,
                                            .Protection.NoAccess = 1};
        NTSTATUS status = D3DKMTMapGpuVirtualAddress(&args);

        taken += IS(status, STATUS_SUCCESS) || IS(status, STATUS_PENDING);
    }
    CHECK_RULE("GPUVA-060", taken > 0);
    while (made < 2000 && IS(make_fence(&va), STATUS_SUCCESS)) {
        CHECK_RULE("GPUVA-059", va >= CONTRARY_INTERNAL && va < CONTRARY_INTERNAL_END);
        made++;
    }
    CHECK_RULE("GPUVA-059", made < 2000);
    end();
}

/* ---- what the CPU sees ---- */

TEST_WITH(contrary, a_lock_shows_video_memory_where_it_is)
{
    D3DKMT_HANDLE allocation;
    D3DKMT_LOCK2 lock;
    D3DKMT_UNLOCK2 unlock;
    uint64_t va;
    const DXGK_PTE *pte;
    uint8_t bytes[64], *mapped;
    PVOID bar;
    struct probe_adapter *a = &p->state[0];

    begin();
    allocation = make(CONTRARY_SET(CONTRARY_VRAM), 0x5000, false);
    va = map(allocation, 0x5000);
    pte = contrary_entry(va + 0x4000);
    CHECK(pte && pte->Valid);
    lock = (D3DKMT_LOCK2){.hDevice = gpu.device, .hAllocation = allocation};
    unlock = (D3DKMT_UNLOCK2){gpu.device, allocation};
    CHECK(IS(D3DKMTLock2(&lock), STATUS_SUCCESS));
    memset((uint8_t *)lock.pData + 0x4000, 0x5C, sizeof(bytes));
    CHECK(IS(D3DKMTUnlock2(&unlock), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(a->dxgk.DxgkCbMapMemory(a->dxgk.DeviceHandle, probe_bar(p, 1), 16 * MB, FALSE,
                                             FALSE, MmWriteCombined, &bar)));
    mapped = (uint8_t *)bar + CONTRARY_VRAM_IN_BAR + 4096 * pte->PageAddress;
    memset(bytes, 0x5C, sizeof(bytes));
    CHECK_RULE("SEG-026", memcmp(mapped, bytes, sizeof(bytes)) == 0);
    CHECK(NT_SUCCESS(a->dxgk.DxgkCbUnmapMemory(a->dxgk.DeviceHandle, bar)));
    end();
}

/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: what a client's lists do to residency on a started adapter, and where the driver finds it. */
#include "port/support/paged.h"
#include "port/support/portions.h"
#include "report/residency.h"
#include "sim/sim.h"
#include "vidmm/record/vidmm_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB           PORTIONS_MIB
#define IS(status, s) ((NTSTATUS)(status) == (s))

/* ---- lists as the driver sees them ---- */

static DXGK_ALLOCATIONLIST rendered[PORTIONS_MANY + 1]; /* at the latest Render */
static UINT word;                                       /* bits of its element 1 */
static struct portions_gpu gpu;

static void take_all(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    for (UINT i = 0; i < args->PatchLocationListInSize; i++)
        *args->pPatchLocationListOut++ = args->pPatchLocationListIn[i];
    for (UINT i = 0; i < args->AllocationListSize && i <= PORTIONS_MANY; i++)
        rendered[i] = args->pAllocationList[i];
    memcpy(&word,
           (const uint8_t *)&rendered[1] +
               offsetof(DXGK_ALLOCATIONLIST, hDeviceSpecificAllocation) + sizeof(HANDLE),
           sizeof(word));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static struct probe *created(UINT version)
{
    struct probe *p = portions_create(version, false);

    paged_watch(p);
    p->before[PROBE_Render] = take_all;
    paged.segments = 1;
    memset(rendered, 0, sizeof(rendered));
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, body);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    portions_end(p, client);
}

/* Render, with element i + 1 of the allocation list alone in the patch-location list. */
static NTSTATUS render(unsigned i)
{
    portions_element(&gpu, 0, 0, i + 1, 0);
    return portions_render(&gpu, 64, 1);
}

static unsigned moves_in(unsigned from)
{
    unsigned count = paged_count(DXGK_OPERATION_FILL, from);

    for (unsigned n = 0; paged_nth(DXGK_OPERATION_TRANSFER, from, n); n++)
        count += paged_nth(DXGK_OPERATION_TRANSFER, from, n)->args.Transfer.Destination.SegmentId !=
                 0;
    return count;
}

static const DXGK_ALLOCATIONLIST *patched(unsigned i)
{
    CHECK(portions.patch_count > 0);
    return &portions.patched[portions.patch_count - 1].list[i + 1];
}

/* ---- which model ---- */

static void page_by_submission(struct probe *p)
{
    struct probe_gpu g = {0};
    D3DDDI_MAKERESIDENT resident;
    unsigned mark = paged.count;

    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, MIB);
    g.device = gpu.device;
    memset(&resident, 0, sizeof(resident));
    resident.NumAllocations = 1;
    resident.AllocationList = &gpu.allocation[0];
    CHECK_RULE("RES-001", IS(D3DKMTMakeResident(&resident), STATUS_INVALID_PARAMETER) &&
                              IS(paged_evict(&g, gpu.allocation[0]), STATUS_NOT_SUPPORTED) &&
                              moves_in(mark) == 0);
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("RES-001", moves_in(mark) == 1);
    portions_close(&gpu);
}

static void page_by_list(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    struct probe_gpu g;
    uint64_t fence;
    unsigned mark;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&g)));
    CHECK(NT_SUCCESS(paged_create(&g, MIB, &allocation)));
    mark = paged.count;
    CHECK(IS(paged_make_resident(&g, allocation, &fence), STATUS_PENDING));
    CHECK(NT_SUCCESS(paged_wait(&g, fence)));
    CHECK_RULE("RES-001", paged_count(DXGK_OPERATION_VIRTUAL_FILL, mark) == 1);
    mark = paged.count;
    CHECK(NT_SUCCESS(probe_gpu_submit(&g)) && NT_SUCCESS(probe_gpu_wait_idle(&g)));
    CHECK_RULE("RES-001", paged.count == mark);
    CHECK(NT_SUCCESS(probe_gpu_end(&g)));
}

TEST(the_version_says_what_pages)
{
    struct probe *p = created(DXGKDDI_INTERFACE_VERSION_WDDM1_3);

    run(p, page_by_submission);
    p = probe_create(NULL);
    paged_watch(p);
    paged.segments = 1;
    run(p, page_by_list);
}

/* ---- what Render is told ---- */

static void trade_places(struct probe *p)
{
    uint64_t where;

    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, 9 * MIB);
    portions_allocate(&gpu, 1, 9 * MIB);
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-006", rendered[1].SegmentId == 0 && rendered[1].PhysicalAddress.QuadPart == 0);
    portions_finish(&gpu);
    CHECK_RULE("RES-006",
               patched(0)->SegmentId == 1 && patched(0)->PhysicalAddress.QuadPart >= 4 * MIB);
    where = (uint64_t)patched(0)->PhysicalAddress.QuadPart;
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-006", rendered[1].SegmentId == 1 &&
                              (uint64_t)rendered[1].PhysicalAddress.QuadPart == where &&
                              rendered[2].SegmentId == 0);
    portions_finish(&gpu);
    /* it is told where it was, and given the place that it has when its turn comes */
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(render(1), STATUS_SUCCESS));
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-006", rendered[1].SegmentId == 1 &&
                              (uint64_t)rendered[1].PhysicalAddress.QuadPart == where);
    portions_finish(&gpu);
    CHECK_RULE("RES-006", patched(0)->SegmentId == 1 && patched(1)->SegmentId == 0 &&
                              patched(1)->PhysicalAddress.QuadPart == 0);
    portions_close(&gpu);
}

static void reserve_start(struct probe *p)
{
    p->segment[0].BaseAddress.QuadPart = 4 * MIB; /* no place has the address 0 */
}

TEST(render_sees_the_last_places)
{
    struct probe *p = created(DXGKDDI_INTERFACE_VERSION_WDDM1_3);

    reserve_start(p);
    run(p, trade_places);
}

static void in_third_segment(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    paged.segments = 4;
    portions_allocate(&gpu, 0, MIB);
    gpu.context.pAllocationList[1].WriteOperation = 1;
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-007", word == 1);
    portions_finish(&gpu);
    gpu.context.pAllocationList[1].WriteOperation = 1;
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-007", word == 7);
    portions_finish(&gpu);
    gpu.context.pAllocationList[1].WriteOperation = 0;
    CHECK(IS(render(0), STATUS_SUCCESS));
    CHECK_RULE("RES-007", word == 6);
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(an_element_holds_segment_and_direction)
{
    struct probe *p = created(DXGKDDI_INTERFACE_VERSION_WDDM1_3);

    p->segments = 3;
    p->segment[2].BaseAddress.QuadPart = 3ll << 32;
    p->segment[2].Size = p->segment[2].CommitLimit = 4 * MIB;
    run(p, in_third_segment);
}

/* ---- locked ones ---- */

static void *lock(unsigned i, bool wait)
{
    D3DKMT_LOCK args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[i];
    args.Flags.LockEntire = 1;
    args.Flags.DonotWait = !wait;
    args.Flags.IgnoreSync = !wait;
    return NT_SUCCESS(D3DKMTLock(&args)) ? args.pData : NULL;
}

static NTSTATUS unlock(unsigned i)
{
    D3DKMT_UNLOCK args = {
        .hDevice = gpu.device, .NumAllocations = 1, .phAllocations = &gpu.allocation[i]};

    return D3DKMTUnlock(&args);
}

static void render_locked(struct probe *p)
{
    volatile UINT *data;
    unsigned before;

    portions_open(&gpu);
    paged.flags = 1;    /* CpuVisible */
    paged.segments = 3; /* memory and the aperture */
    paged.preferred = 1;
    portions_allocate(&gpu, 0, MIB);
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(patched(0)->SegmentId == 1);
    data = lock(0, true);
    CHECK(data != NULL);
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("RES-008",
               patched(0)->SegmentId == 2 &&
                   paged_nth(DXGK_OPERATION_TRANSFER, 0, 0)->args.Transfer.Source.SegmentId == 1);
    data[3] = 0x10CCEE; /* the same address */
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("RES-008", patched(0)->SegmentId == 2 && data[3] == 0x10CCEE);
    CHECK(IS(unlock(0), STATUS_SUCCESS));
    /* nothing but memory is in its set */
    paged.segments = 1;
    portions_allocate(&gpu, 1, MIB);
    CHECK(IS(render(1), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(lock(1, true) != NULL);
    before = (unsigned)probe_count(p, PROBE_Render);
    CHECK_RULE("RES-008", !NT_SUCCESS(render(1)));
    CHECK_RULE("RES-009", IS(render(1), STATUS_GRAPHICS_CANT_RENDER_LOCKED_ALLOCATION));
    CHECK_RULE("PATCH-079", IS(render(1), STATUS_GRAPHICS_CANT_RENDER_LOCKED_ALLOCATION) &&
                                probe_count(p, PROBE_Render) == before &&
                                strcmp(probe_refused_rule, "PATCH-079") == 0);
    CHECK_RULE("PATCH-078", portions_state(&gpu) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(IS(unlock(1), STATUS_SUCCESS));
    CHECK_RULE("RES-008", IS(render(1), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(patched(1)->SegmentId == 1);
    portions_close(&gpu);
}

/* It is locked while the GPU uses it, and the next buffer waits for that. */
static void lock_in_use(struct probe *p)
{
    uint64_t now;

    (void)p;
    portions_open(&gpu);
    paged.flags = 1;
    paged.segments = 3;
    paged.preferred = 1;
    portions_allocate(&gpu, 0, MIB);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(render(0), STATUS_SUCCESS));
    while (portions.patch_count == 0)
        probe_sleep(PROBE_SECOND / 1000);
    now = sim_now();
    CHECK(lock(0, false) != NULL);
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("RES-008",
               portions.patched[0].list[1].SegmentId == 1 && patched(0)->SegmentId == 2 &&
                   paged_nth(DXGK_OPERATION_TRANSFER, 0, 0)->time >= now + PROBE_SECOND / 100 * 9);
    CHECK(IS(unlock(0), STATUS_SUCCESS));
    portions_close(&gpu);
}

TEST(a_locked_allocation_is_rendered_from_system_memory)
{
    run(created(DXGKDDI_INTERFACE_VERSION_WDDM1_3), render_locked);
    run(created(DXGKDDI_INTERFACE_VERSION_WDDM1_3), lock_in_use);
}

/* ---- offers of a list ---- */

static bool offers_count; /* the version has them */

static NTSTATUS reclaim(unsigned i, BOOL *discarded)
{
    D3DKMT_RECLAIMALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.HandleList = &gpu.allocation[i];
    args.pDiscarded = discarded;
    args.NumAllocations = 1;
    return D3DKMTReclaimAllocations(&args);
}

static void offer_by_list(struct probe *p)
{
    BOOL discarded = 7;

    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, 9 * MIB);
    portions_allocate(&gpu, 1, 9 * MIB);
    probe_device_packet_ns = PROBE_SECOND / 10;
    gpu.context.pAllocationList[1].OfferPriority = D3DDDI_OFFER_PRIORITY_LOW;
    CHECK(IS(render(0), STATUS_SUCCESS));
    gpu.context.pAllocationList[1].OfferPriority = D3DDDI_OFFER_PRIORITY_NONE;
    CHECK_RULE("RES-064", IS(render(0), STATUS_SUCCESS)); /* the first is not done */
    portions_finish(&gpu);
    if (!offers_count) {
        CHECK_RULE("RES-064", IS(render(0), STATUS_SUCCESS));
        portions_finish(&gpu);
        portions_close(&gpu);
        return;
    }
    CHECK_RULE("RES-064", IS(render(0), STATUS_GRAPHICS_ALLOCATION_INVALID));
    CHECK_RULE("PATCH-100", IS(render(0), STATUS_GRAPHICS_ALLOCATION_INVALID));
    gpu.context.pAllocationList[1].hAllocation = 0;
    CHECK_RULE("RES-064", IS(render(1), STATUS_SUCCESS)); /* which was not offered */
    portions_finish(&gpu);
    CHECK_RULE("RES-068", IS(reclaim(0, &discarded), STATUS_SUCCESS) && discarded == TRUE);
    CHECK_RULE("RES-068", IS(reclaim(0, &discarded), STATUS_SUCCESS) && discarded == FALSE);
    gpu.context.pAllocationList[1].hAllocation = gpu.allocation[0];
    CHECK_RULE("RES-064", IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(a_list_may_offer)
{
    offers_count = true;
    run(created(DXGKDDI_INTERFACE_VERSION_WDDM1_3), offer_by_list);
    run(created(DXGKDDI_INTERFACE_VERSION_WIN8), offer_by_list);
    offers_count = false;
    run(created(DXGKDDI_INTERFACE_VERSION_WIN7), offer_by_list);
}

/* ---- holes ---- */

/* Of 2 MiB, out of segment 1 and into it. */
static unsigned moves_of_two(unsigned from, bool in)
{
    unsigned count = 0;

    for (unsigned n = 0; paged_nth(DXGK_OPERATION_TRANSFER, from, n); n++) {
        const DXGKARG_BUILDPAGINGBUFFER *op = &paged_nth(DXGK_OPERATION_TRANSFER, from, n)->args;

        count += op->Transfer.TransferSize == 2 * MIB &&
                 (in ? op->Transfer.Destination.SegmentId : op->Transfer.Source.SegmentId) == 1;
    }
    return count;
}

static char *report;
static size_t report_size;

static void make_a_hole(struct probe *p)
{
    static const unsigned sizes[] = {5, 2, 5};
    struct vidmm *vidmm = port_adapter_vidmm(p->adapter[0]);
    unsigned mark;
    FILE *out;

    vidmm->chronicle.on = true;
    portions_open(&gpu);
    for (unsigned i = 0; i < 3; i++) {
        portions_allocate(&gpu, i, sizes[i] * MIB);
        CHECK(IS(render(i), STATUS_SUCCESS));
        portions_finish(&gpu);
    }
    CHECK(IS(
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){
            .hDevice = gpu.device, .phAllocationList = &gpu.allocation[0], .AllocationCount = 1}),
        STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 10);
    mark = paged.count;
    /* 5 and 4 MiB are free, and 2 between them */
    portions_allocate(&gpu, 0, 7 * MIB);
    CHECK(IS(render(0), STATUS_SUCCESS));
    portions_finish(&gpu);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("RES-057", moves_of_two(mark, false) == 1 && moves_of_two(mark, true) == 1 &&
                              moves_in(mark) == 2 && PORTIONS_THERE(*patched(0)));
    mark = paged.count;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(render(i), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("RES-057", moves_in(mark) == 0); /* all of them are there */
    out = open_memstream(&report, &report_size);
    CHECK(report_residency_text(vidmm, "it", sim_now(), out));
    fclose(out);
    portions_close(&gpu);
}

TEST(what_makes_way_for_a_hole_comes_back)
{
    run(created(DXGKDDI_INTERFACE_VERSION_WDDM1_3), make_a_hole);
    CHECK_RULE("RES-057", strstr(report, "who was evicted for whom\n    allocation 2      for 4 "));
    free(report);
}

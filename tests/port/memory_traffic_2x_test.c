/* SPDX-License-Identifier: MIT */
/* Paging operations by GPU virtual address on a started adapter: what each says of an allocation that comes, goes and comes back. */
#include "port/record/adapter_record.h"
#include "port/support/paged.h"

#include <string.h>

#define MIB      PAGED_MIB
#define BIG      (5 * MIB)
#define FILL     DXGK_OPERATION_VIRTUAL_FILL
#define TRANSFER DXGK_OPERATION_VIRTUAL_TRANSFER
#define NOTIFY   DXGK_OPERATION_NOTIFY_RESIDENCY
#define MAP2     DXGK_OPERATION_MAP_APERTURE_SEGMENT2

static struct probe_gpu gpu;
static D3DKMT_HANDLE item;
static HANDLE driver;

static void run(void (*body)(struct probe *p))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    paged_watch(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void settle(void)
{
    probe_sleep(PROBE_SECOND / 10);
}

static void come(void)
{
    uint64_t fence;

    CHECK(paged_make_resident(&gpu, item, &fence) == STATUS_PENDING);
    CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
}

static void go(void)
{
    CHECK(NT_SUCCESS(paged_evict(&gpu, item)));
    settle();
}

/* Pages that the paging process has mapped from the address on, when the operation is built, in the segment; 0: none, or others. */
static uint64_t mapped_at(const struct paged_op *op, D3DGPU_VIRTUAL_ADDRESS at, UINT segment)
{
    uint64_t pages = 0;

    for (const struct paged_op *before = paged.op; before < op; before++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &before->args.UpdatePageTable;
        const uint64_t first = u->FirstPteVirtualAddress;

        if (before->args.Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE ||
            u->hProcess != paged.system_process || u->PageTableLevel != 0 || first < at ||
            first >= at + BIG || !before->args.pDmaBuffer)
            continue;
        if (first == at)
            pages = 0; /* mapped anew */
        if (before->entry.Valid && before->entry.Segment == segment)
            pages += u->NumPageTableEntries;
    }
    return pages;
}

static void come_and_go(struct probe *p)
{
    const DXGK_BUILDPAGINGBUFFER_TRANSFERVIRTUAL *out, *in;
    const struct paged_op *fill, *first, *second;
    unsigned mark = paged.count;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 1;
    CHECK(NT_SUCCESS(paged_create(&gpu, BIG, &item)));
    driver = paged.allocation;
    come();
    fill = paged_nth(FILL, mark, 0);
    CHECK_RULE("PAGE-061", paged_count(FILL, mark) == 1 &&
                               fill->args.FillVirtual.hAllocation == driver &&
                               fill->args.FillVirtual.AllocationOffsetInBytes == 0 &&
                               fill->args.FillVirtual.FillSizeInBytes == BIG &&
                               fill->args.FillVirtual.FillPattern == 0);
    CHECK_RULE("PAGE-061",
               mapped_at(fill, fill->args.FillVirtual.DestinationVirtualAddress, 1) == BIG / 4096);
    go();
    come();
    CHECK_RULE("PAGE-058", paged_count(TRANSFER, mark) == 2);
    first = paged_nth(TRANSFER, mark, 0);
    second = paged_nth(TRANSFER, mark, 1);
    out = &first->args.TransferVirtual;
    in = &second->args.TransferVirtual;
    CHECK_RULE("PAGE-058", out->TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM &&
                               in->TransferDirection == DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL);
    CHECK_RULE("PAGE-057", out->hAllocation == driver && out->AllocationOffsetInBytes == 0 &&
                               out->TransferSizeInBytes == BIG && in->TransferSizeInBytes == BIG &&
                               out->SourceVirtualAddress != out->DestinationVirtualAddress);
    CHECK_RULE("PAGE-057", mapped_at(first, out->SourceVirtualAddress, 1) == BIG / 4096 &&
                               mapped_at(second, in->DestinationVirtualAddress, 1) == BIG / 4096);
    CHECK_RULE("PAGE-060", out->SourcePageTable == 0 && out->DestinationPageTable == 0 &&
                               in->SourcePageTable == 0 && in->DestinationPageTable == 0);
    CHECK_RULE("PAGE-061", paged_count(FILL, mark) == 1); /* what has content is not filled */
}

TEST(content_moves_between_addresses_of_the_paging_process)
{
    run(come_and_go);
}

static bool between(const struct paged_op *a, const struct paged_op *b)
{
    return a && b && a->order < b->order;
}

static void be_notified(struct probe *p)
{
    unsigned mark = paged.count;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 1;
    paged.flags = 0x18001; /* CpuVisible, AccessedPhysically, ExplicitResidencyNotification */
    CHECK(NT_SUCCESS(paged_create(&gpu, BIG, &item)));
    driver = paged.allocation;
    come();
    CHECK_RULE("PAGE-072",
               paged_count(NOTIFY, mark) == 1 &&
                   between(paged_nth(FILL, mark, 0), paged_nth(NOTIFY, mark, 0)) &&
                   paged_nth(NOTIFY, mark, 0)->args.NotifyResidency.Resident &&
                   paged_nth(NOTIFY, mark, 0)->args.NotifyResidency.hAllocation == driver);
    CHECK_RULE("PAGE-072",
               paged_nth(NOTIFY, mark, 0)->args.NotifyResidency.PhysicalAddress.SegmentId == 1);
    mark = paged.count;
    go();
    CHECK_RULE("PAGE-072", paged_count(NOTIFY, mark) == 1 &&
                               between(paged_nth(NOTIFY, mark, 0), paged_nth(TRANSFER, mark, 0)) &&
                               !paged_nth(NOTIFY, mark, 0)->args.NotifyResidency.Resident);
    /* in system memory nobody asks */
    mark = paged.count;
    paged.segments = 2;
    CHECK(NT_SUCCESS(paged_create(&gpu, BIG, &item)));
    come();
    CHECK_RULE("PAGE-072", paged_count(NOTIFY, mark) == 0);
    CHECK_RULE("PAGE-055", paged_count(MAP2, mark) == 1);
    mark = paged.count;
    paged.flags = 1;
    CHECK(NT_SUCCESS(paged_create(&gpu, BIG, &item)));
    come();
    CHECK_RULE("PAGE-055", paged_count(MAP2, mark) == 0 &&
                               paged_residency(&gpu, item) ==
                                   D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY);
}

TEST(notices_stand_around_the_content)
{
    run(be_notified);
}

/* ---- a reset ---- */

static HANDLE told, mapped;

static void use_three(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 1;
    paged.flags = 1;
    CHECK(NT_SUCCESS(paged_create(&gpu, MIB, &item)));
    come();
    paged.flags = 0x18001;
    CHECK(NT_SUCCESS(paged_create(&gpu, MIB, &item)));
    told = paged.allocation;
    come();
    paged.segments = 2;
    CHECK(NT_SUCCESS(paged_create(&gpu, MIB, &item)));
    mapped = paged.allocation;
    come();
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(p->adapter[0]->managers.vidsch, true) == STATUS_SUCCESS);
}

TEST(a_reset_tells_who_asked)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;
    const struct paged_op *notice, *unmap;
    uint64_t restart;
    unsigned mark, tables = 0;

    paged_watch(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_three);
    mark = paged.count;
    CHECK(probe_run(p, reset) == SIM_DONE);
    restart = probe_nth(p, PROBE_RestartFromTimeout, 0)->order;
    CHECK_RULE("RES-086", paged_count(TRANSFER, mark) == 0 && paged_count(FILL, mark) == 0 &&
                              paged_count(NOTIFY, mark) == 1);
    notice = paged_nth(NOTIFY, mark, 0);
    CHECK_RULE("RES-086", notice->args.NotifyResidency.hAllocation == told &&
                              !notice->args.NotifyResidency.Resident && notice->order < restart);
    unmap = paged_nth(DXGK_OPERATION_UNMAP_APERTURE_SEGMENT, mark, 0);
    CHECK_RULE("RES-086", unmap && unmap->args.UnmapApertureSegment.hAllocation == mapped &&
                              unmap->order < restart);
    for (unsigned i = mark; i < paged.count; i++)
        if (paged.op[i].args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE) {
            tables++;
            CHECK_RULE("RES-086", paged.op[i].order > restart);
        }
    CHECK_RULE("RES-086", tables > 512);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

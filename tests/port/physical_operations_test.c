/* SPDX-License-Identifier: MIT */
/* Paging operations of a WDDM 1.x driver on a started adapter: what each says of an allocation that comes, goes and comes back. */
#include "port/record/adapter_record.h"
#include "port/support/paged.h"
#include "port/support/portions.h"

#include <string.h>

#define MIB           PORTIONS_MIB
#define MEMORY_BASE   (4ll << 20)
#define APERTURE_BASE (1ll << 32)
#define BIG           (9 * MIB)
#define FILL          DXGK_OPERATION_FILL
#define TRANSFER      DXGK_OPERATION_TRANSFER
#define MAP           DXGK_OPERATION_MAP_APERTURE_SEGMENT
#define UNMAP         DXGK_OPERATION_UNMAP_APERTURE_SEGMENT

static struct portions_gpu gpu;
static HANDLE big, device; /* the driver's */

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemDevice)
        device = args->hDevice;
}

static struct probe *created(void)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    paged_watch(p);
    p->segment[0].BaseAddress.QuadPart = MEMORY_BASE;
    p->after[PROBE_CreateDevice] = note_device;
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

static void render(unsigned i)
{
    portions_element(&gpu, 0, 0, i + 1, 0);
    CHECK(portions_render(&gpu, 64, 1) == STATUS_SUCCESS);
    portions_finish(&gpu);
}

static uint64_t patched(unsigned i)
{
    return (uint64_t)portions.patched[portions.patch_count - 1].list[i + 1].PhysicalAddress.QuadPart;
}

/* ---- memory ---- */

static void allocate_two(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    paged.segments = 1;
    portions_allocate(&gpu, 0, BIG);
    big = paged.allocation;
    portions_allocate(&gpu, 1, BIG);
}

/* The first transfer of it that goes out, or comes in. */
static const struct paged_op *moved(bool out)
{
    const struct paged_op *op;

    for (unsigned n = 0; (op = paged_nth(TRANSFER, 0, n)) != NULL; n++)
        if (op->args.Transfer.hAllocation == big && (op->args.Transfer.Source.SegmentId != 0) == out)
            return op;
    fail_msg("it was not moved");
    return NULL;
}

static void come_and_go(struct probe *p)
{
    const struct paged_op *fill, *out, *in;
    uint64_t place;

    allocate_two(p);
    render(0);
    place = patched(0);
    fill = paged_nth(FILL, 0, 0);
    CHECK_RULE("PAGE-040", paged_count(FILL, 0) == 1 && fill->args.Fill.hAllocation == big &&
                               fill->args.Fill.FillSize == BIG &&
                               fill->args.Fill.Destination.SegmentId == 1);
    CHECK_RULE("PAGE-041", fill->args.Fill.FillPattern == 0);
    CHECK_RULE("PAGE-029", fill->args.Fill.Destination.SegmentAddress.QuadPart == (LONGLONG)place &&
                               place >= MEMORY_BASE && place + BIG <= MEMORY_BASE + 16 * MIB);
    render(1); /* in its place */
    render(0);
    out = moved(true);
    in = moved(false);
    CHECK_RULE("PAGE-028", out->order < in->order && out->args.Transfer.Source.SegmentId == 1 &&
                               out->args.Transfer.Destination.SegmentId == 0 &&
                               in->args.Transfer.Source.SegmentId == 0 &&
                               in->args.Transfer.Destination.SegmentId == 1);
    CHECK_RULE("PAGE-029",
               out->args.Transfer.Source.SegmentAddress.QuadPart == (LONGLONG)place &&
                   in->args.Transfer.Destination.SegmentAddress.QuadPart == (LONGLONG)patched(0));
    CHECK_RULE("PAGE-029", out->mdl_bytes == BIG && in->mdl_bytes == BIG && out->page == in->page);
    CHECK_RULE("PAGE-030",
               out->args.Transfer.TransferOffset == 0 && out->args.Transfer.MdlOffset == 0);
    CHECK_RULE("PAGE-032",
               out->args.Transfer.Flags.TransferStart && out->args.Transfer.Flags.TransferEnd &&
                   in->args.Transfer.Flags.TransferStart && in->args.Transfer.Flags.TransferEnd);
    CHECK_RULE("SUBMIT-102", (out->args.Transfer.Flags.Value & 0x18) == 0x18 &&
                                 (in->args.Transfer.Flags.Value & 0x18) == 0x18);
    CHECK_RULE("PAGE-034",
               out->args.Transfer.TransferSize == BIG && in->args.Transfer.TransferSize == BIG);
    CHECK_RULE("PAGE-035",
               out->args.Transfer.hAllocation == big && in->args.Transfer.hAllocation == big);
    CHECK_RULE("PAGE-036", !out->args.Transfer.Flags.Swizzle &&
                               !out->args.Transfer.Flags.Unswizzle &&
                               !in->args.Transfer.Flags.Swizzle);
    CHECK_RULE("PAGE-040",
               paged_count(FILL, 0) == 2); /* of the other one; content is not filled over */
    portions_close(&gpu);
}

TEST(content_is_filled_once_and_moved_whole)
{
    run(created(), come_and_go);
}

/* ---- in several passes ---- */

static struct {
    DXGKARG_BUILDPAGINGBUFFER call[8];
    unsigned calls;
} pass;

static void take_three_passes(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Operation != TRANSFER || args->Transfer.Source.SegmentId == 0 || pass.calls == 8)
        return;
    pass.call[pass.calls++] = *args;
    memset(args->pDmaBuffer, 0, args->DmaSize);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize;
    args->MultipassOffset += 100;
    call->answered = true;
    call->result = args->MultipassOffset < 300
                       ? (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER
                       : STATUS_SUCCESS;
}

static void go_in_passes(struct probe *p)
{
    allocate_two(p);
    render(0);
    render(1);
    CHECK_RULE("PAGE-012", pass.calls == 3 && pass.call[0].MultipassOffset == 0 &&
                               pass.call[1].MultipassOffset == 100 &&
                               pass.call[2].MultipassOffset == 200);
    CHECK_RULE("SUBMIT-096",
               pass.calls == 3 && pass.call[1].MultipassOffset == 100 &&
                   pass.call[2].MultipassOffset == 200 &&
                   pass.call[1].Transfer.TransferOffset == pass.call[0].Transfer.TransferOffset &&
                   pass.call[1].DmaSize == p->paging_bytes &&
                   pass.call[2].DmaSize == p->paging_bytes);
    for (unsigned i = 1; i < 3; i++) {
        CHECK_RULE("PAGE-031", memcmp(&pass.call[i].Transfer, &pass.call[0].Transfer,
                                      sizeof(pass.call[0].Transfer)) == 0 &&
                                   pass.call[i].Transfer.TransferSize == BIG);
        CHECK_RULE("PAGE-032", pass.call[i].Transfer.Flags.TransferStart &&
                                   pass.call[i].Transfer.Flags.TransferEnd);
        CHECK_RULE("SUBMIT-102", pass.call[i].Transfer.Flags.TransferStart);
    }
    portions_close(&gpu);
}

TEST(a_pass_repeats_what_the_first_said)
{
    struct probe *p = created();

    memset(&pass, 0, sizeof(pass));
    p->before[PROBE_BuildPagingBuffer] = take_three_passes;
    run(p, go_in_passes);
}

/* ---- the aperture ---- */

static void map_and_unmap(struct probe *p)
{
    D3DKMT_DESTROYALLOCATION destroy;
    const DXGKARG_BUILDPAGINGBUFFER *map, *unmap;
    HANDLE small;
    unsigned mark;

    (void)p;
    portions_open(&gpu);
    mark = paged.count;
    paged.segments = 2;
    portions_allocate(&gpu, 0, MIB);
    small = paged.allocation;
    render(0);
    CHECK_RULE("PAGE-040", paged_count(FILL, mark) == 0);
    CHECK_RULE("PAGE-044", paged_count(MAP, mark) == 1);
    map = &paged_nth(MAP, mark, 0)->args;
    CHECK_RULE("PAGE-044", map->MapApertureSegment.SegmentId == 2 &&
                               map->MapApertureSegment.NumberOfPages == MIB / 4096 &&
                               map->MapApertureSegment.MdlOffset == 0 &&
                               paged_nth(MAP, mark, 0)->mdl_bytes == MIB);
    CHECK_RULE("PAGE-044", patched(0) == (uint64_t)APERTURE_BASE +
                                             4096 * (uint64_t)map->MapApertureSegment.OffsetInPages);
    CHECK_RULE("PAGE-045", map->MapApertureSegment.hDevice == device && device &&
                               map->MapApertureSegment.hAllocation == small);
    CHECK_RULE("PAGE-046", !map->MapApertureSegment.Flags.CacheCoherent); /* not Cached */
    paged.flags = 5;                                                      /* CpuVisible, Cached */
    portions_allocate(&gpu, 1, MIB);
    render(1);
    CHECK_RULE("PAGE-046", paged_nth(MAP, mark, 1)->args.MapApertureSegment.Flags.CacheCoherent);
    CHECK_RULE("PAGE-051", paged_nth(MAP, mark, 1)->args.MapApertureSegment.OffsetInPages >=
                               map->MapApertureSegment.OffsetInPages + MIB / 4096);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = gpu.device;
    destroy.phAllocationList = &gpu.allocation[0];
    destroy.AllocationCount = 1;
    CHECK(D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("PAGE-048", paged_count(UNMAP, mark) == 1);
    unmap = &paged_nth(UNMAP, mark, 0)->args;
    CHECK_RULE("PAGE-048", unmap->UnmapApertureSegment.SegmentId == 2 &&
                               unmap->UnmapApertureSegment.OffsetInPages ==
                                   map->MapApertureSegment.OffsetInPages &&
                               unmap->UnmapApertureSegment.NumberOfPages == MIB / 4096 &&
                               unmap->UnmapApertureSegment.hDevice == device &&
                               unmap->UnmapApertureSegment.hAllocation == small);
    CHECK_RULE("PAGE-048", unmap->UnmapApertureSegment.DummyPage.QuadPart != 0 &&
                               unmap->UnmapApertureSegment.DummyPage.QuadPart % 4096 == 0 &&
                               unmap->UnmapApertureSegment.DummyPage.QuadPart / 4096 !=
                                   (LONGLONG)paged_nth(MAP, mark, 0)->page);
    portions_close(&gpu);
}

TEST(a_range_of_an_aperture_is_mapped_and_unmapped)
{
    struct probe *p = created();

    run(p, map_and_unmap);
    CHECK_RULE("PAGE-051", paged_count(MAP, 0) == paged_count(UNMAP, 0));
}

/* ---- a reset ---- */

static HANDLE small;

static void use_both(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    paged.segments = 1;
    portions_allocate(&gpu, 0, BIG);
    big = paged.allocation;
    paged.segments = 2;
    portions_allocate(&gpu, 1, MIB);
    small = paged.allocation;
    render(0);
    render(1);
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(p->adapter[0]->managers.vidsch, true) == STATUS_SUCCESS);
}

TEST(a_reset_tells_what_is_gone)
{
    struct probe *p = created();
    struct probe_client *client;
    const struct paged_op *gone, *unmap;
    uint64_t place, restart;
    size_t packets;
    unsigned mark;

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, use_both);
    place = (uint64_t)paged_nth(FILL, 0, 0)->args.Fill.Destination.SegmentAddress.QuadPart;
    mark = paged.count;
    packets = probe_count(p, PROBE_SubmitCommand);
    CHECK(probe_run(p, reset) == SIM_DONE);
    restart = probe_nth(p, PROBE_RestartFromTimeout, 0)->order;
    CHECK_RULE("PAGE-037", paged_count(TRANSFER, mark) == 1);
    gone = paged_nth(TRANSFER, mark, 0);
    CHECK_RULE("PAGE-037", gone->args.Transfer.TransferSize == 0 &&
                               gone->args.Transfer.hAllocation == big && gone->order < restart);
    CHECK_RULE("RES-085",
               gone->args.Transfer.Source.SegmentId == 1 &&
                   gone->args.Transfer.Source.SegmentAddress.QuadPart == (LONGLONG)place &&
                   gone->order > probe_nth(p, PROBE_ResetFromTimeout, 0)->order);
    unmap = paged_nth(UNMAP, mark, 0);
    CHECK_RULE("RES-085", unmap && unmap->args.UnmapApertureSegment.hAllocation == small &&
                              unmap->order < restart && paged_count(UNMAP, mark) == 1);
    CHECK_RULE("RES-085", probe_count(p, PROBE_SubmitCommand) == packets); /* nothing is submitted */
    portions_end(p, client);
}

static bool in_reset;

/* What the device does after DxgkDdiResetFromTimeout, and after DxgkDdiRestartFromTimeout. */
static void touch(struct probe *p, struct probe_call *call)
{
    uint8_t byte;

    (void)call;
    if (in_reset && probe_count(p, PROBE_ResetFromTimeout) == 1)
        (void)probe_device_dma(0, 0x100000, &byte, 1, false);
}

static BOOLEAN NTAPI notify_one(PVOID context)
{
    struct probe *p = probe;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = p->state[0].submitted[0];
    p->state[0].dxgk.DxgkCbNotifyInterrupt(p->state[0].dxgk.DeviceHandle, &data);
    return TRUE;
}

/* Before the reset has ended, when nothing is said of it, and after. */
static void notify(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    (void)call;
    if (!in_reset || probe_count(p, PROBE_ResetFromTimeout) != 1)
        return;
    CHECK(NT_SUCCESS(
        dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, notify_one, NULL, 0, &result)));
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
}

TEST(nothing_is_notified_until_the_device_is_restarted)
{
    struct probe *p = created();
    struct probe_client *client;

    in_reset = false;
    p->after[PROBE_ResetFromTimeout] = notify;
    p->after[PROBE_BuildPagingBuffer] = notify;
    p->after[PROBE_RestartFromTimeout] = notify;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, use_both);
    in_reset = true;
    CHECK(probe_run(p, reset) == SIM_DONE);
    in_reset = false;
    CHECK_RULE("TDR-046", probe_rule(p, "TDR-046") == 2 && /* for each of two operations */
                              probe_said(p, "TDR-046", "DMA_COMPLETED for node 0 between "));
    portions_end(p, client);
}

TEST(the_device_leaves_memory_alone_until_it_is_restarted)
{
    struct probe *p = created();
    struct probe_client *client;

    in_reset = false;
    p->after[PROBE_BuildPagingBuffer] = touch;
    p->after[PROBE_RestartFromTimeout] = touch;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, use_both);
    in_reset = true;
    CHECK(probe_run(p, reset) == SIM_DONE);
    in_reset = false;
    CHECK_RULE("TDR-046", probe_rule(p, "TDR-046") == 2 && /* for each operation, not afterwards */
                              probe_said(p, "TDR-046",
                                         "between DxgkDdiResetFromTimeout and "
                                         "DxgkDdiRestartFromTimeout"));
    portions_end(p, client);
}

/* SPDX-License-Identifier: MIT */
/* D3DKMTRender with RenderKm: commands of GDI, with physical and with GPU virtual addresses. */
#include "port/support/paged.h"
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (NTSTATUS)(wanted))
#define ROOM               1024u
#define HEAD               ((UINT)offsetof(DXGK_RENDERKM_COMMAND, Command))
#define FILL               ((UINT)(HEAD + sizeof(DXGK_GDIARG_COLORFILL)))

/* ---- the driver ---- */

static struct {
    uint8_t commands[ROOM];
    const uint8_t *at; /* where the driver had them */
    UINT bytes;
    RECT rects[4]; /* of the first record, a fill */
    RECT *rects_at;
    DXGK_ALLOCATIONLIST list[4];
    DXGKARG_RENDERGDI gdi;
    DXGKARG_SUBMITCOMMANDVIRTUAL sent;
    UINT takes; /* bytes of the DMA buffer */
    NTSTATUS status;
} driver;

static void note_commands(const void *commands, UINT bytes)
{
    const DXGK_RENDERKM_COMMAND *record = commands;

    driver.at = commands;
    driver.bytes = bytes;
    driver.rects_at = NULL;
    if (bytes)
        memcpy(driver.commands, commands, bytes < ROOM ? bytes : ROOM);
    if (bytes < FILL || record->OpCode != DXGK_GDIOP_COLORFILL)
        return;
    driver.rects_at = record->Command.ColorFill.pSubRects;
    for (UINT i = 0; i < record->Command.ColorFill.NumSubRects && i < 4; i++)
        driver.rects[i] = driver.rects_at[i];
}

static void render_km(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    note_commands(args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + driver.takes;
    for (UINT i = 0; i < args->PatchLocationListInSize; i++)
        *args->pPatchLocationListOut++ = args->pPatchLocationListIn[i];
    call->answered = true;
    call->result = (uint64_t)(uint32_t)driver.status;
}

static void render_gdi(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDERGDI *args = (DXGKARG_RENDERGDI *)(uintptr_t)call->arg[1];

    (void)p;
    driver.gdi = *args;
    note_commands(args->pCommand, args->CommandLength);
    for (UINT i = 0; i < args->AllocationListSize && i < 4; i++)
        driver.list[i] = args->pAllocationList[i];
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + driver.takes;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)driver.status;
}

static void note_submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        driver.sent = *args;
}

/* ---- commands ---- */

static uint8_t *buffer; /* of the context */

/* A fill with rectangles behind it: its CommandSize. */
static UINT put_fill(uint8_t *at, UINT rects)
{
    DXGK_RENDERKM_COMMAND record;

    memset(&record, 0, sizeof(record));
    record.OpCode = DXGK_GDIOP_COLORFILL;
    record.CommandSize = FILL + rects * (UINT)sizeof(RECT);
    record.Command.ColorFill.NumSubRects = rects;
    record.Command.ColorFill.pSubRects = (RECT *)(void *)(at + FILL);
    record.Command.ColorFill.Color = 0x445566;
    memcpy(at, &record, FILL);
    for (UINT i = 0; i < rects; i++) {
        const RECT rect = {(LONG)i, 2, 30 + (LONG)i, 40};

        memcpy(at + FILL + i * sizeof(rect), &rect, sizeof(rect));
    }
    return record.CommandSize;
}

static UINT put_plain(uint8_t *at, UINT operation, UINT bytes)
{
    const UINT head[2] = {operation, bytes};

    memcpy(at, head, sizeof(head));
    return bytes;
}

static D3DKMT_RENDER args;

static NTSTATUS render(D3DKMT_HANDLE context, UINT bytes, UINT allocations)
{
    memset(&args, 0, sizeof(args));
    args.hContext = context;
    args.CommandLength = bytes;
    args.AllocationCount = allocations;
    args.Flags.RenderKm = 1;
    return D3DKMTRender(&args);
}

/* ---- physical addresses ---- */

static struct portions_gpu gpu;

static struct probe *begin_km(bool there)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);

    memset(&driver, 0, sizeof(driver));
    driver.takes = 64;
    probe_set_entry(p, PROBE_RenderKm, there);
    probe_set_entry(p, PROBE_RenderGdi, false);
    p->before[PROBE_RenderKm] = render_km;
    return p;
}

static void end_km(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    portions_end(p, probe_client_run(p, body));
}

static NTSTATUS km(UINT bytes)
{
    return render(gpu.context.hContext, bytes, 0);
}

static void open_km(void)
{
    portions_open(&gpu);
    buffer = gpu.context.pCommandBuffer;
}

static void through_render_km(struct probe *p)
{
    const struct probe_call *call;
    UINT bytes;

    open_km();
    bytes = put_fill(buffer, 2);
    CHECK_RULE("PATCH-097/b", IS(km(bytes), STATUS_SUCCESS) && probe_count(p, PROBE_RenderKm) == 1 &&
                                  probe_count(p, PROBE_Render) == 0);
    call = probe_nth(p, PROBE_RenderKm, 0);
    CHECK_RULE("PATCH-097/b", call->irql == PASSIVE_LEVEL);
    CHECK_RULE("PATCH-097/c", driver.at && (driver.at < buffer || driver.at >= buffer + 0x10000) &&
                                  driver.bytes == bytes &&
                                  ((const DXGK_RENDERKM_COMMAND *)(const void *)driver.commands)
                                          ->Command.ColorFill.Color == 0x445566);
    portions_finish(&gpu);
    CHECK_RULE("PATCH-097/b", probe_count(p, PROBE_SubmitCommand) == 1 && portions.patch_count == 1);
    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context.hContext;
    args.CommandLength = bytes;
    CHECK_RULE("PATCH-097/b", IS(D3DKMTRender(&args), STATUS_SUCCESS) &&
                                  probe_count(p, PROBE_RenderKm) == 1 &&
                                  probe_count(p, PROBE_Render) == 1);
    CHECK(IS(km(0), STATUS_SUCCESS) && driver.bytes == 0);
    driver.status = STATUS_INVALID_HANDLE;
    CHECK(IS(km(bytes), STATUS_INVALID_HANDLE));
    driver.status = STATUS_ACCESS_DENIED;
    CHECK(IS(km(bytes), STATUS_ACCESS_DENIED) && probe_said(p, "PATCH-093", "DxgkDdiRenderKm"));
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(commands_of_gdi_go_to_their_own_entry)
{
    end_km(begin_km(true), through_render_km);
}

static void without_render_km(struct probe *p)
{
    open_km();
    CHECK_RULE("PATCH-097/a", IS(km(put_fill(buffer, 1)), STATUS_NOT_SUPPORTED) &&
                                  probe_count(p, PROBE_Render) == 0);
    CHECK(probe_refused_text && strstr(probe_refused_text, "DxgkDdiRenderKm"));
    portions_close(&gpu);
}

TEST(a_driver_without_gdi_refuses_its_commands)
{
    end_km(begin_km(false), without_render_km);
}

/* A record of which the rectangles begin at `offset`. */
static NTSTATUS km_rects(UINT rects, UINT count, int64_t offset)
{
    const UINT bytes = put_fill(buffer + 256, rects);
    const uint64_t at = (uint64_t)(uintptr_t)(buffer + 256) + (uint64_t)offset;

    (void)put_plain(buffer, DXGK_GDIOP_ESCAPE, 256); /* so that there is something before it */
    (void)put_plain(buffer + 256 + bytes, DXGK_GDIOP_ESCAPE, 256);
    memcpy(buffer + 256 + offsetof(DXGK_RENDERKM_COMMAND, Command.ColorFill.NumSubRects), &count,
           sizeof(count));
    memcpy(buffer + 256 + offsetof(DXGK_RENDERKM_COMMAND, Command.ColorFill.pSubRects), &at,
           sizeof(at));
    return km(512 + bytes);
}

static RECT *moved_to(void)
{
    RECT *rects;

    memcpy(&rects,
           driver.commands + 256 + offsetof(DXGK_RENDERKM_COMMAND, Command.ColorFill.pSubRects),
           sizeof(rects));
    return rects;
}

static void rectangles(struct probe *p)
{
    open_km();
    CHECK_RULE("PATCH-165/b", IS(km(put_fill(buffer, 3)), STATUS_SUCCESS) &&
                                  (const uint8_t *)driver.rects_at == driver.at + FILL &&
                                  driver.rects[2].left == 2 && driver.rects[2].bottom == 40);
    CHECK_RULE("PATCH-165/b", IS(km_rects(2, 2, FILL), STATUS_SUCCESS) &&
                                  (const uint8_t *)moved_to() == driver.at + 256 + FILL);
    CHECK_RULE("PATCH-165/b", IS(km_rects(2, 2, 0), STATUS_SUCCESS) &&
                                  (const uint8_t *)moved_to() == driver.at + 256);
    CHECK_RULE("PATCH-165/b", IS(km_rects(2, 0, 12345678), STATUS_SUCCESS) && !moved_to());
    probe_forget(p);
    CHECK_RULE("PATCH-165/c", IS(km_rects(2, 2, FILL + 1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-165/c", IS(km_rects(2, 2, -1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-165/c", IS(km_rects(2, 3, FILL), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-165/c", IS(km_rects(2, UINT32_MAX, FILL), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-165/c", probe_count(p, PROBE_RenderKm) == 0);
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(rectangles_of_gdi_lie_in_their_records)
{
    end_km(begin_km(true), rectangles);
}

static void sizes(struct probe *p)
{
    static const struct {
        UINT operation, bytes;
    } least[] = {
        {DXGK_GDIOP_BITBLT, (UINT)(HEAD + sizeof(DXGK_GDIARG_BITBLT))},
        {DXGK_GDIOP_COLORFILL, FILL},
        {DXGK_GDIOP_ALPHABLEND, (UINT)(HEAD + sizeof(DXGK_GDIARG_ALPHABLEND))},
        {DXGK_GDIOP_STRETCHBLT, (UINT)(HEAD + sizeof(DXGK_GDIARG_STRETCHBLT))},
        {DXGK_GDIOP_TRANSPARENTBLT, (UINT)(HEAD + sizeof(DXGK_GDIARG_TRANSPARENTBLT))},
        {DXGK_GDIOP_CLEARTYPEBLEND, (UINT)(HEAD + sizeof(DXGK_GDIARG_CLEARTYPEBLEND))},
        {DXGK_GDIOP_ESCAPE, HEAD},
        {99, HEAD},
    };

    open_km();
    memset(buffer, 0, 512);
    for (unsigned i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
        CHECK_RULE("PATCH-165/a",
                   IS(km(put_plain(buffer, least[i].operation, least[i].bytes)), STATUS_SUCCESS));
        probe_forget(p);
        (void)put_plain(buffer, least[i].operation, least[i].bytes - 1);
        CHECK_RULE("PATCH-165/a", IS(km(least[i].bytes - 1), STATUS_INVALID_PARAMETER) &&
                                      probe_count(p, PROBE_RenderKm) == 0);
        (void)put_plain(buffer, least[i].operation, least[i].bytes + 1);
        CHECK_RULE("PATCH-165/a", IS(km(least[i].bytes), STATUS_INVALID_PARAMETER) &&
                                      probe_count(p, PROBE_RenderKm) == 0);
    }
    (void)put_plain(buffer, DXGK_GDIOP_ESCAPE, 16);
    CHECK_RULE("PATCH-165/a", IS(km(20), STATUS_INVALID_PARAMETER));
    (void)put_plain(buffer, DXGK_GDIOP_ESCAPE, 0);
    CHECK_RULE("PATCH-165/a", IS(km(16), STATUS_INVALID_PARAMETER));
    CHECK(probe_count(p, PROBE_RenderKm) == 0);
    (void)put_plain(buffer, 99, 16);
    (void)put_plain(buffer + 16, DXGK_GDIOP_ESCAPE, 24);
    CHECK_RULE("PATCH-165/d", IS(km(40), STATUS_SUCCESS) && driver.bytes == 40 &&
                                  memcmp(driver.commands, buffer, 40) == 0);
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(records_of_gdi_are_whole)
{
    end_km(begin_km(true), sizes);
}

/* ---- GPU virtual addresses ---- */

static struct probe_gpu vgpu;

static struct probe *begin_gdi(bool there)
{
    struct probe *p = probe_create(NULL);

    memset(&driver, 0, sizeof(driver));
    driver.takes = 48;
    probe_set_entry(p, PROBE_RenderGdi, there);
    probe_set_entry(p, PROBE_RenderKm, true);
    p->before[PROBE_RenderGdi] = render_gdi;
    p->before[PROBE_SubmitCommandVirtual] = note_submit;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

static void end_gdi(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client = probe_client_run(p, body);

    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static NTSTATUS gdi(UINT bytes, UINT allocations)
{
    return render(vgpu.context, bytes, allocations);
}

static void open_gdi(void)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&vgpu)));
    CHECK(IS(gdi(0, 0), STATUS_SUCCESS));
    buffer = args.pNewCommandBuffer;
    CHECK(buffer != NULL);
}

static void first_call(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&vgpu)));
    CHECK_RULE("PATCH-166/c", IS(gdi(1, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/c", IS(gdi(0, 1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/a",
               IS(gdi(0, 0), STATUS_SUCCESS) && args.pNewCommandBuffer &&
                   args.NewCommandBufferSize == 0x10000 && args.pNewAllocationList &&
                   args.NewAllocationListSize == 4096 / sizeof(D3DDDI_ALLOCATIONLIST) &&
                   !args.pNewPatchLocationList && !args.NewPatchLocationListSize);
    CHECK_RULE("PATCH-166/a", probe_count(p, PROBE_RenderGdi) == 0);
    memset(args.pNewCommandBuffer, 0, args.NewCommandBufferSize);
    memset(args.pNewAllocationList, 0, 4096);
    CHECK(IS(probe_gpu_submit(&vgpu), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&vgpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(a_virtual_context_gets_a_buffer_for_gdi)
{
    end_gdi(begin_gdi(true), first_call);
}

static void through_render_gdi(struct probe *p)
{
    D3DKMT_HANDLE allocation = 0;
    UINT bytes;

    open_gdi();
    CHECK(NT_SUCCESS(probe_gpu_allocate(&vgpu, 4096, &allocation)));
    args.pNewAllocationList[0].Value = 0;
    args.pNewAllocationList[0].hAllocation = 0;
    args.pNewAllocationList[1].hAllocation = allocation;
    args.pNewAllocationList[1].Value = 0;
    args.pNewAllocationList[1].WriteOperation = 1;
    bytes = put_fill(buffer, 2);
    probe_forget(p);
    CHECK_RULE("PATCH-099/a",
               IS(gdi(bytes, 2), STATUS_SUCCESS) && probe_count(p, PROBE_RenderGdi) == 1 &&
                   probe_count(p, PROBE_RenderKm) == 0 && probe_count(p, PROBE_Render) == 0);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&vgpu)));
    CHECK_RULE("PATCH-166/b", driver.bytes == bytes && driver.at != buffer &&
                                  (const uint8_t *)driver.rects_at == driver.at + FILL &&
                                  driver.rects[1].left == 1);
    CHECK_RULE("PATCH-166/b",
               driver.gdi.AllocationListSize == 2 && !driver.list[0].hDeviceSpecificAllocation &&
                   !driver.list[0].VirtualAddress && driver.list[1].hDeviceSpecificAllocation &&
                   driver.list[1].VirtualAddress && driver.list[1].WriteOperation &&
                   !driver.list[1].SegmentId);
    CHECK_RULE("PATCH-166/b", driver.gdi.DmaBufferGpuVirtualAddress &&
                                  driver.gdi.DmaSize == 0x10000 && driver.gdi.pDmaBuffer &&
                                  driver.gdi.MultipassOffset == 0);
    CHECK_RULE("PATCH-166/b",
               probe_count(p, PROBE_SubmitCommandVirtual) >= 1 &&
                   driver.sent.DmaBufferVirtualAddress == driver.gdi.DmaBufferGpuVirtualAddress &&
                   driver.sent.DmaBufferSize == 48 && probe_count(p, PROBE_Patch) == 0);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(commands_of_gdi_on_a_virtual_context)
{
    end_gdi(begin_gdi(true), through_render_gdi);
}

static D3DGPU_VIRTUAL_ADDRESS map_read_only(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    NTSTATUS status;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = vgpu.queue;
    map.hAllocation = allocation;
    map.SizeInPages = 1;
    status = D3DKMTMapGpuVirtualAddress(&map);
    CHECK(NT_SUCCESS(status));
    if (status == STATUS_PENDING)
        CHECK(NT_SUCCESS(paged_wait(&vgpu, map.PagingFenceValue)));
    return map.VirtualAddress;
}

/* What is to be written needs an address where it may be. */
static void where_it_is_mapped(struct probe *p)
{
    D3DGPU_VIRTUAL_ADDRESS read_only;
    D3DDDI_ALLOCATIONLIST *list;
    D3DKMT_HANDLE allocation = 0;

    (void)p;
    open_gdi();
    list = args.pNewAllocationList;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&vgpu, 4096, &allocation)));
    read_only = map_read_only(allocation);
    list[0].Value = 0;
    list[0].hAllocation = allocation;
    CHECK_RULE("PATCH-166/b", IS(gdi(put_fill(buffer, 1), 1), STATUS_SUCCESS) &&
                                  driver.list[0].VirtualAddress == read_only &&
                                  !driver.list[0].WriteOperation);
    list[0].WriteOperation = 1;
    CHECK_RULE("PATCH-166/b", IS(gdi(put_fill(buffer, 1), 1), STATUS_SUCCESS) &&
                                  driver.list[0].VirtualAddress &&
                                  driver.list[0].VirtualAddress != read_only);
    list[0].hAllocation = vgpu.context;
    CHECK(IS(gdi(put_fill(buffer, 1), 1), STATUS_INVALID_HANDLE));
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&vgpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(allocations_of_gdi_have_addresses)
{
    end_gdi(begin_gdi(true), where_it_is_mapped);
}

static void on_a_physical_node(struct probe *p)
{
    D3DKMT_DESTROYCONTEXT destroy;
    D3DKMT_CREATECONTEXT context;

    CHECK(NT_SUCCESS(probe_gpu_begin(&vgpu)));
    memset(&context, 0, sizeof(context));
    context.hDevice = vgpu.device;
    CHECK(IS(D3DKMTCreateContext(&context), STATUS_SUCCESS));
    buffer = context.pCommandBuffer;
    CHECK_RULE("PATCH-099/a",
               IS(render(context.hContext, put_fill(buffer, 1), 0), STATUS_SUCCESS) &&
                   probe_count(p, PROBE_RenderKm) == 1 && probe_count(p, PROBE_RenderGdi) == 0);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&vgpu)));
    destroy.hContext = context.hContext;
    CHECK(IS(D3DKMTDestroyContext(&destroy), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(a_physical_context_has_the_other_entry)
{
    struct probe *p = begin_gdi(true);

    p->before[PROBE_RenderKm] = render_km;
    end_gdi(p, on_a_physical_node);
}

static NTSTATUS with(UINT patches, UINT contexts)
{
    memset(&args, 0, sizeof(args));
    args.hContext = vgpu.context;
    args.CommandLength = put_fill(buffer, 1);
    args.PatchLocationCount = patches;
    args.BroadcastContextCount = contexts;
    args.BroadcastContext[0] = vgpu.context;
    args.Flags.RenderKm = 1;
    return D3DKMTRender(&args);
}

static void refusals(struct probe *p)
{
    const UINT most = 4096 / sizeof(D3DDDI_ALLOCATIONLIST);

    open_gdi();
    memset(args.pNewAllocationList, 0, 4096);
    memset(buffer, 0, 0x10000);
    CHECK_RULE("PATCH-166/c", IS(with(1, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/c", IS(with(0, 1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/c", IS(gdi(0x10001, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/c", IS(gdi(0, most + 1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PATCH-166/c", probe_count(p, PROBE_RenderGdi) == 0);
    (void)put_plain(buffer, DXGK_GDIOP_ESCAPE, 0x10000);
    CHECK_RULE("PATCH-166/c", IS(gdi(0x10000, most), STATUS_SUCCESS) &&
                                  driver.gdi.AllocationListSize == most && driver.bytes == 0x10000);
    memset(&args, 0, sizeof(args));
    args.hContext = vgpu.context;
    CHECK_RULE("KMT-301", IS(D3DKMTRender(&args), STATUS_INVALID_PARAMETER));
    args.Flags.RenderKm = args.Flags.PresentRedirected = 1;
    CHECK(IS(D3DKMTRender(&args), STATUS_NOT_SUPPORTED));
    args.Flags.PresentRedirected = 0;
    args.Flags.RenderKmReadback = 1;
    CHECK(IS(D3DKMTRender(&args), STATUS_NOT_SUPPORTED));
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&vgpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(what_commands_of_gdi_may_not_have)
{
    end_gdi(begin_gdi(true), refusals);
}

static void without_gdi(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&vgpu)));
    CHECK_RULE("PATCH-099/a",
               IS(gdi(0, 0), STATUS_NOT_SUPPORTED) && probe_count(p, PROBE_RenderKm) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&vgpu)));
}

TEST(a_virtual_context_needs_an_entry_of_its_own)
{
    end_gdi(begin_gdi(false), without_gdi);
}

static NTSTATUS failing;

static void fails(struct probe *p)
{
    (void)p;
    open_gdi();
    driver.status = failing;
    (void)gdi(put_fill(buffer, 1), 0);
}

TEST(a_driver_must_take_commands_of_gdi)
{
    static const NTSTATUS statuses[] = {STATUS_INVALID_PARAMETER, STATUS_NO_MEMORY,
                                        STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER, STATUS_PENDING};

    for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct probe *p = begin_gdi(true);

        struct probe_client *client;

        failing = statuses[i];
        client = probe_client_run(p, fails);
        CHECK_RULE("PATCH-099/b", verify_bugcheck_state(p->log)->happened &&
                                      probe_said(p, "PATCH-099", "DxgkDdiRenderGdi answered"));
        CHECK_RULE("PATCH-099/b", probe_count(p, PROBE_RenderGdi) == 1);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

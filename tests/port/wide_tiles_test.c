/* SPDX-License-Identifier: MIT */
/* Tiles of a pool in a segment of 64 KB pages on a started adapter, in dual and in single PTE mode. */
#include "port/support/update_client.h"

#define WIDE 3u /* the segment of 64 KB pages */
#define POOL (256 * KB)

static void place(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1u << (WIDE - 1);
    info->PreferredSegment.Value = 0;
    info->FlagsWddm2.CpuVisible = 0;
    info->Alignment = 0;
}

/* ---- the two kinds of tables of one leaf span, by their place ---- */

static unsigned copies;
static uint64_t neighbour; /* of the tiles: where the pool is mapped as a whole */
static DXGK_PTE link, twin, whole[4];

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    copies += op->Operation == DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE)
        return;
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const UINT at = update->Flags.Repeat ? 0 : i;

        if (update->PageTableLevel == 1 &&
            update->FirstPteVirtualAddress + i * 2 * MB == (neighbour & ~(2 * MB - 1))) {
            link = update->pPageTableEntries[at];
            if (update->pPageTableEntries64KB)
                twin = update->pPageTableEntries64KB[at];
        }
        if (update->PageTableLevel == 0 && update->Flags.Use64KBPages)
            for (unsigned k = 0; k < 4; k++)
                if (update->FirstPteVirtualAddress + i * 64 * KB == neighbour + k * 64 * KB)
                    whole[k] = update->pPageTableEntries[at];
    }
}

static uint64_t reserve_at(uint64_t base)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.BaseAddress = base;
    args.Size = 64 * KB;
    args.ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS;
    CHECK(NT_SUCCESS(D3DKMTReserveGpuVirtualAddress(&args)));
    return args.VirtualAddress;
}

static void map_at(uint64_t base)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.BaseAddress = base;
    args.hAllocation = U->pool;
    args.SizeInPages = POOL / PAGE;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    probe_sleep(PROBE_SECOND / 100);
}

static bool dual;

static void tiles_body(struct probe *p)
{
    const uint64_t tiles = 1024 * MB + MB;
    update_operation op;
    DXGK_PTE first;

    (void)p;
    copies = 0;
    neighbour = 1024 * MB;
    memset(whole, 0, sizeof(whole));
    link = twin = (DXGK_PTE){.Flags = 0};
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    U->context = &va_shadow.context[va_shadow.contexts - 1];
    U->pool = update_pool(POOL);
    U->fence = update_fence(0, &U->value);
    map_at(neighbour);
    CHECK(whole[0].Valid && whole[3].Valid && whole[0].Segment == WIDE);
    CHECK(dual ? twin.Valid : link.PageTablePageSize == DXGK_PTE_PAGE_TABLE_PAGE_64KB);
    (void)reserve_at(tiles);
    op = update_map(tiles, 4 * PAGE, 6 * PAGE);
    update_do(&op, 1);
    CHECK_RULE("GPUVA-142", copies == 1);
    for (unsigned i = 0; i < 4; i++)
        CHECK_RULE("GPUVA-144",
                   va_shadow_is(U->context, tiles + i * PAGE, WIDE, whole[0].PageAddress + 6 + i));
    first = va_shadow_walk(U->context, neighbour);
    if (dual)
        CHECK_RULE("GPUVA-210", !first.Valid && twin.Valid); /* its entries are in the other table */
    else
        CHECK_RULE("GPUVA-207", link.PageTablePageSize == DXGK_PTE_PAGE_TABLE_PAGE_4KB &&
                                    first.Valid && first.PageAddress == whole[0].PageAddress);
    update_end();
}

TEST(tiles_are_copied_by_4_kb_beside_64_kb_pages)
{
    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = update_create(i & 1 ? DXGK_PAGETABLEUPDATE_GPU_VIRTUAL
                                              : DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);

        dual = i & 2;
        p->mmu.DualPteSupported = dual;
        p->segment[2] = p->segment[0];
        p->segment[2].BaseAddress.QuadPart = 1ll << 40;
        p->segment[2].Flags.CpuVisible = 0;
        p->segment[2].Flags.Use64KBPages = 1;
        p->segments = 3;
        p->after[PROBE_CreateAllocation] = place;
        va_shadow.operation = note_operation;
        update_finish(p, tiles_body);
    }
}

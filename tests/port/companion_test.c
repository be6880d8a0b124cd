/* SPDX-License-Identifier: MIT */
/* Paging companion contexts on a started adapter: their lives, and the entries that they copy. */
#include "port/support/update_client.h"

#define POOL (256 * KB)
#define B    (U->base)
#define NODE 2u /* that the driver names for companions */

/* ---- what the driver sees ---- */

static struct copied {
    uint64_t order;
    HANDLE context;
    UINT ranges;
    DXGK_BUILDPAGINGBUFFER_COPY_RANGE first, last;
    bool aligned, inside, mapped, buffer_mapped;
} copied[64];
static unsigned copies, tile_updates, flushes;
static HANDLE first_root_of;
static struct {
    uint64_t order;
    DXGKARG_SUBMITCOMMANDVIRTUAL args;
} sent[256];
static unsigned sent_count;

static bool is_mapped(const struct va_shadow_context *context, uint64_t va)
{
    return context && va_shadow_walk(context, va).Valid;
}

static void note_copy(struct probe_call *call, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const DXGK_BUILDPAGINGBUFFER_COPYPAGETABLEENTRIES *copy = &op->CopyPageTableEntries;
    const struct va_shadow_context *context = va_shadow_find(op->hSystemContext);
    struct copied *c = &copied[copies % 64];

    copies++;
    *c = (struct copied){.order = call->order,
                         .context = op->hSystemContext,
                         .ranges = copy->NumRanges,
                         .aligned = true,
                         .inside = true,
                         .mapped = true};
    c->buffer_mapped = is_mapped(context, op->DmaBufferGpuVirtualAddress);
    for (UINT i = 0; i < copy->NumRanges; i++) {
        const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range = &copy->pRanges[i];

        c->aligned &= (range->SrcPageTableAddress | range->DstPageTableAddress) % 65536 == 0;
        c->inside &= range->NumPageTableEntries >= 1 &&
                     range->SrcStartPteIndex + range->NumPageTableEntries <= 512 &&
                     range->DstStartPteIndex + range->NumPageTableEntries <= 512;
        c->mapped &= is_mapped(context, range->SrcPageTableAddress) &&
                     is_mapped(context, range->DstPageTableAddress);
    }
    if (copy->NumRanges) {
        c->first = copy->pRanges[0];
        c->last = copy->pRanges[copy->NumRanges - 1];
    }
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation == DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES)
        note_copy(call, op);
    else if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        tile_updates += update->PageTableLevel == 0 && !update->pPageTableEntries[0].Zero &&
                        update->pPageTableEntries[0].Valid && B != 0 &&
                        update->FirstPteVirtualAddress >= B &&
                        update->FirstPteVirtualAddress < B + 2 * MB;
    else if (op->Operation == DXGK_OPERATION_FLUSH_TLB && copies)
        flushes += op->hSystemContext == copied[(copies - 1) % 64].context;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (sent_count == 256)
        return;
    sent[sent_count].order = call->order;
    sent[sent_count++].args = *(const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)call->arg[1];
}

static void name_companion_node(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->ContextInfo.PagingCompanionNodeId = NODE;
}

static struct probe *create(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = update_create(mode);

    copies = tile_updates = flushes = sent_count = 0;
    first_root_of = NULL;
    va_shadow.operation = note_operation;
    va_shadow.created = name_companion_node;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 3;
    p->physical.NumExecutionNodes = 3;
    p->mmu.NoExecuteMemorySupported = 1;
    return p;
}

static void run_gpu(void (*body)(struct probe *p))
{
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_VIRTUAL), body);
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL), body);
}

#define RIG_ARGUMENT_gpu  struct probe *p
#define RIG_RUN_gpu(body) run_gpu(body)

static void map_one(uint64_t va, uint64_t offset)
{
    update_operation op = update_map(va, PAGE, offset);

    update_do(&op, 1);
}

/* ---- its life ---- */

static const struct va_shadow_context *latest(void)
{
    return &va_shadow.context[va_shadow.contexts - 1];
}

static const void *first_submission_of(HANDLE context, uint64_t *order)
{
    for (unsigned i = 0; i < sent_count; i++)
        if (sent[i].args.hContext == context) {
            *order = sent[i].order;
            return &sent[i].args;
        }
    return NULL;
}

TEST_WITH(gpu, a_context_has_a_companion_from_its_first_update_on)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args;
    const struct va_shadow_context *companion, *owner;
    unsigned contexts;
    uint64_t order = 0;

    (void)p;
    update_begin(POOL);
    contexts = va_shadow.contexts;
    owner = latest();
    map_one(B, 0);
    CHECK_RULE("GPUVA-137", va_shadow.contexts == contexts + 1 && latest()->node == NODE);
    companion = latest();
    CHECK_RULE("GPUVA-137", companion->root != owner->root); /* the privileged one */
    CHECK_RULE("GPUVA-139", companion->flags.Value == 4 && !companion->private_data &&
                                companion->device == owner->device);
    args = first_submission_of(companion->handle, &order);
    CHECK_RULE("GPUVA-139",
               args && companion->created < companion->announced && companion->announced < order);
    CHECK_RULE("GPUVA-137", args->NodeOrdinal == NODE && args->Flags.Value == 1);
    CHECK_RULE("PATCH-050", companion->node == NODE && args->NodeOrdinal == NODE);
    map_one(B + PAGE, 0);
    CHECK_RULE("GPUVA-137", va_shadow.contexts == contexts + 1);
    update_end();
    CHECK_RULE("GPUVA-139", companion->gone < owner->gone);
}

/* Another context of the process has one of its own, in the same privileged space. */
TEST_WITH(gpu, each_context_has_its_own)
{
    D3DKMT_CREATECONTEXTVIRTUAL args;
    D3DKMT_DESTROYCONTEXT destroy;
    const struct va_shadow_context *first, *second;

    (void)p;
    update_begin(POOL);
    map_one(B, 0);
    first = latest();
    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&args)));
    U->gpu.context = args.hContext;
    map_one(B + PAGE, PAGE);
    second = latest();
    CHECK_RULE("GPUVA-137", second != first && second->handle != first->handle);
    CHECK_RULE("GPUVA-042", second->root == first->root && update_all(B, 2, 0));
    destroy.hContext = args.hContext;
    CHECK(NT_SUCCESS(D3DKMTDestroyContext(&destroy)));
    CHECK_RULE("GPUVA-139", second->gone != UINT64_MAX && first->gone == UINT64_MAX);
    update_end();
}

static void by_cpu_body(struct probe *p)
{
    unsigned contexts;
    update_operation op;

    (void)p;
    update_begin(POOL);
    contexts = va_shadow.contexts;
    op = update_map(B, PAGE, 0);
    CHECK(IS(update_queue(&op, 1, 3), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-143", tile_updates == 0);
    CHECK(IS(update_signal(U->fence, 3), STATUS_SUCCESS));
    update_await(4);
    CHECK_RULE("GPUVA-143", tile_updates == 1 && copies == 0 && va_shadow.contexts == contexts);
    CHECK_RULE("PAGE-071", tile_updates == 1 && copies == 0);
    update_end();
}

TEST(the_host_waits_itself_where_the_cpu_writes_tables)
{
    update_finish(create(DXGK_PAGETABLEUPDATE_CPU_VIRTUAL), by_cpu_body);
}

/* A driver that names a node without virtual addresses gets the companion on the paging node. */
static void name_physical_node(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->ContextInfo.PagingCompanionNodeId = 0;
}

TEST_WITH(gpu, companions_are_on_nodes_with_virtual_addresses)
{
    (void)p;
    va_shadow.created = name_physical_node;
    update_begin(POOL);
    map_one(B, 0);
    CHECK_RULE("GPUVA-138", latest()->node == 1 && update_shows(B) == 0);
    update_end();
}

/* ---- copies ---- */

TEST_WITH(gpu, tiles_are_copied_from_the_pool)
{
    update_operation op[3];

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, 4 * PAGE, 8 * PAGE);
    op[1] = update_unmap(B + PAGE, PAGE, false);
    op[2] = update_copy(B + 64 * KB, B, 4 * PAGE);
    update_do(op, 3);
    CHECK_RULE("GPUVA-142", copies == 1 && tile_updates == 0 && update_shows(B) == 8);
    CHECK_RULE("PAGE-071", copies == 1 && copied[0].context == latest()->handle);
    CHECK_RULE("GPUVA-144", copied[0].ranges >= 1 && update_shows(B + 64 * KB) == 8 &&
                                update_shows(B + 64 * KB + PAGE) == UPDATE_INVALID &&
                                update_shows(B + 64 * KB + 3 * PAGE) == 11);
    CHECK_RULE("GPUVA-145", copied[0].aligned && copied[0].inside && copied[0].mapped);
    CHECK_RULE("GPUVA-231",
               copied[0].context == latest()->handle && copied[0].buffer_mapped && flushes == 1);
    op[0] = update_unmap(B, 4 * PAGE, true);
    update_do(op, 1);
    CHECK_RULE("GPUVA-146", copies == 1 && update_all(B, 4, UPDATE_ZERO));
    update_end();
}

/* Over the ends of leaf tables on both sides, in any number of calls of the driver. */
static void many_body(struct probe *p)
{
    const uint64_t tiles = 5 * MB;
    update_operation op[2];
    uint64_t base, inside = 0;

    (void)p;
    update_begin(4 * MB);
    base = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, tiles, 0);
    op[0] = update_map(base + 64 * KB, 4 * MB, 0);
    op[1] = update_map(base + 64 * KB + 4 * MB, 512 * KB, MB + PAGE);
    update_do(op, 2);
    CHECK_RULE("GPUVA-145", copied[0].aligned && copied[0].inside && copied[0].mapped);
    CHECK_RULE("GPUVA-144", copied[0].ranges >= 4);
    for (uint64_t i = 0; i < 1024; i++)
        inside += va_shadow_walk(U->context, base + 64 * KB + i * PAGE).PageAddress ==
                  va_shadow_walk(U->context, U->pool_va + i * PAGE).PageAddress;
    CHECK_RULE("GPUVA-144", inside == 1024);
    CHECK_RULE("GPUVA-144", update_all(base + 64 * KB + 4 * MB, 128, 257) &&
                                update_shows(base + 60 * KB) == UPDATE_INVALID);
    CHECK_RULE("GPUVA-188", copies == (va_shadow.ranges_per_call ? copied[0].ranges : 1));
    update_end();
}

TEST(a_copy_may_need_several_buffers)
{
    for (UINT i = 0; i < 2; i++) {
        struct probe *p = create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);

        va_shadow.ranges_per_call = i;
        update_finish(p, many_body);
    }
}

TEST_WITH(gpu, each_protection_has_a_mapping_of_the_pool)
{
    update_operation op[2];
    struct copied c;

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, PAGE, 5 * PAGE);
    op[1] = update_protect(B + PAGE, PAGE, 5 * PAGE, false, 0);
    update_do(op, 2);
    c = copied[0];
    CHECK_RULE("GPUVA-146",
               c.ranges == 2 && (c.first.SrcPageTableAddress != c.last.SrcPageTableAddress ||
                                 c.first.SrcStartPteIndex != c.last.SrcStartPteIndex));
    CHECK_RULE("GPUVA-146", !va_shadow_walk(U->context, B).ReadOnly &&
                                va_shadow_walk(U->context, B + PAGE).ReadOnly);
    update_do(op, 2); /* both are there already */
    CHECK_RULE("GPUVA-146", copied[1].first.SrcStartPteIndex == c.first.SrcStartPteIndex &&
                                copied[1].last.SrcStartPteIndex == c.last.SrcStartPteIndex);
    update_end();
}

/* The mappings of the pool as a whole are none of the client's: their protections exclude nothing. */
TEST_WITH(gpu, mappings_of_the_pool_exclude_no_protection)
{
    const uint64_t unique = D3DGPU_UNIQUE_DRIVER_PROTECTION;
    update_operation op[2];

    (void)p;
    update_begin(POOL);
    B = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, 2 * MB, 0);
    U->pool = update_pool(POOL);
    op[0] = update_protect(B, PAGE, 0, true, unique | 1);
    update_do(op, 1);
    op[0] = update_protect(B + PAGE, PAGE, PAGE, true, unique | 2);
    CHECK_RULE("GPUVA-146", IS(update_queue(op, 1, *U->value), STATUS_SUCCESS));
    op[1] = update_protect(B + 2 * PAGE, PAGE, 0, true, unique | 2);
    CHECK_RULE("GPUVA-101", IS(update_queue(op + 1, 1, *U->value), STATUS_INVALID_PARAMETER));
    update_end();
}

/* ---- a reservation ends while its entries are copied ---- */

static unsigned writes;

static void note_write(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    note_operation(p, call);
    writes += op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE && update->PageTableLevel == 0 &&
              update->FirstPteVirtualAddress <= B &&
              update->FirstPteVirtualAddress + update->NumPageTableEntries * PAGE > B;
}

/* A tile at B is on its way: its copy is on the GPU, and is not over. */
static void begin_copy(void)
{
    update_operation op;

    update_begin(POOL);
    map_one(B, 0);
    op = update_map(B, PAGE, 3 * PAGE);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(update_queue(&op, 1, *U->value), STATUS_SUCCESS));
    for (unsigned i = 0; i < 1000 && sent[sent_count - 1].args.hContext != latest()->handle; i++)
        probe_sleep(PROBE_SECOND / 1000);
    CHECK(copies == 2 && *U->value == 1);
    probe_device_packet_ns = 1000;
    va_shadow.operation = note_write;
    writes = 0;
}

TEST_WITH(gpu, a_range_that_ends_meanwhile_is_written_again)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    (void)p;
    begin_copy();
    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.BaseAddress = B;
    args.Size = 2 * MB;
    CHECK(IS(D3DKMTFreeGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK(*U->value == 1); /* the copy is not over */
    CHECK_RULE("GPUVA-121", writes == 1);
    update_await(2);
    CHECK_RULE("GPUVA-121", writes == 2 && update_shows(B) == UPDATE_INVALID);
    update_end();
}

/* What the copied entry maps is destroyed: the copy must not bring it back. */
TEST_WITH(gpu, a_pool_that_ends_meanwhile_is_written_again)
{
    D3DKMT_DESTROYALLOCATION2 args;

    (void)p;
    begin_copy();
    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.phAllocationList = &U->pool;
    args.AllocationCount = 1;
    args.Flags.AssumeNotInUse = 1;
    CHECK(IS(D3DKMTDestroyAllocation2(&args), STATUS_SUCCESS)); /* once the copy is over */
    update_await(2);
    CHECK_RULE("GPUVA-098", writes == 1 && update_shows(B) == UPDATE_ZERO);
    update_end();
}

/* A client maps something else there, through its paging queue. */
TEST_WITH(gpu, a_map_that_comes_between_is_written_again)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    (void)p;
    begin_copy();
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.BaseAddress = B;
    args.SizeInPages = 1;
    args.hAllocation = U->pool;
    args.OffsetInPages = 7;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK(*U->value == 1 && writes == 1);
    update_await(2);
    CHECK_RULE("GPUVA-079", writes == 2 && update_shows(B) == 7);
    update_end();
}

/* ---- two pools of one batch that have no room together ---- */

static void only_in_video_memory(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 1;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 1;
    args->pAllocationInfo[0].PreferredSegment.Value = 0;
}

static D3DKMT_HANDLE big_pool(void)
{
    uint64_t bytes = 8 * MB;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    args.hDevice = U->gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    CHECK(NT_SUCCESS(D3DKMTCreateAllocation2(&args)));
    return info.hAllocation;
}

TEST_WITH(gpu, pools_without_room_together_do_not_wait_for_each_other)
{
    update_operation op[2];

    update_begin(POOL);
    p->after[PROBE_CreateAllocation] = only_in_video_memory;
    op[0] = update_map(B, PAGE, 0);
    op[1] = update_map(B + PAGE, PAGE, 0);
    op[0].Map.hAllocation = big_pool();
    op[1].Map.hAllocation = big_pool();
    update_do(op, 2);
    CHECK_RULE("GPUVA-142",
               va_shadow_walk(U->context, B).Valid != va_shadow_walk(U->context, B + PAGE).Valid);
    update_end();
}

/* ---- the pool moves while the update waits ---- */

TEST_WITH(gpu, tiles_show_the_place_of_the_pool_when_they_are_copied)
{
    update_operation op;
    D3DKMT_HANDLE filler;

    update_begin(POOL);
    map_one(B, 0); /* the pool has its mapping in the privileged space before it moves */
    op = update_map(B + PAGE, 4 * PAGE, 8 * PAGE);
    CHECK(IS(update_queue(&op, 1, 5), STATUS_SUCCESS));
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&U->gpu, MB, &filler)));
    CHECK(NT_SUCCESS(probe_gpu_submit(&U->gpu)));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(6);
    CHECK_RULE("GPUVA-142", update_all(B + PAGE, 4, 8) && update_shows(B) == 0);
    CHECK_RULE("GPUVA-043", update_all(B + PAGE, 4, 8) && copies == 2);
    update_end();
}

/* ---- the privileged space ---- */

static unsigned roots;

static void note_root(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    roots++;
}

static DXGK_PAGETABLEUPDATEMODE two_levels_mode;

static void two_levels_body(struct probe *p)
{
    const bool by_cpu = two_levels_mode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    unsigned before;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    before = roots;
    (void)update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, 64 * KB, 0);
    CHECK_RULE("GPUVA-042", roots == before + !by_cpu);
    (void)update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    CHECK_RULE("GPUVA-042", roots == before + !by_cpu);
    update_end();
}

TEST(the_first_reservation_makes_the_privileged_space)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = probe_create(NULL);

        two_levels_mode = p->mmu.PageTableUpdateMode = update_modes[i];
        p->mmu.PageTableLevelCount = 2;
        p->mmu.VirtualAddressBitCount = 40;
        p->before[PROBE_GetRootPageTableSize] = note_root;
        roots = 0;
        update_finish(p, two_levels_body);
    }
}

/* Its root has two entries at first, of which pages have one: no room for the pool. It grows while no
 * context of the process runs, and the entries are copied all the same. */
static void growing_body(struct probe *p)
{
    update_operation op[2];

    (void)p;
    update_begin(4 * MB);
    op[0] = update_unmap(B + PAGE, PAGE, false);
    op[1] = update_map(B + 64 * KB, 4 * PAGE, 8 * PAGE);
    update_do(op, 2);
    CHECK_RULE("GPUVA-142", copies == 1 && update_shows(B + 64 * KB) == 8 &&
                                update_shows(B + 64 * KB + 3 * PAGE) == 11 &&
                                update_shows(B + PAGE) == UPDATE_INVALID);
    op[1] = update_map(B + 128 * KB, 4 * PAGE, 12 * PAGE);
    update_do(&op[1], 1);
    CHECK_RULE("GPUVA-142", copies == 2 && update_shows(B + 128 * KB) == 12);
    update_end();
}

TEST(the_privileged_space_grows_for_a_pool)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create(i ? DXGK_PAGETABLEUPDATE_GPU_VIRTUAL
                                   : DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);

        p->mmu.PageTableLevelCount = 2;
        p->mmu.VirtualAddressBitCount = 40;
        p->level[1].PageTableIndexBitCount = 1;
        update_finish(p, growing_body);
    }
}

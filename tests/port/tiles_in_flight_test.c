/* SPDX-License-Identifier: MIT */
/* Entries that a companion context copies while what they map, or the place where they are, becomes something else: in the end
 * the tables are what the host's records say. */
#include "port/support/update_client.h"

#define POOL (256 * KB)
#define B    (U->base)

/* ---- a copy that the GPU has not made yet ---- */

static void name_companion_node(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->ContextInfo.PagingCompanionNodeId = 2;
}

/* Companions have a node of their own. */
static struct probe *create(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = update_create(mode);

    va_shadow.created = name_companion_node;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 3;
    p->physical.NumExecutionNodes = 3;
    return p;
}

static void run_gpu(void (*body)(struct probe *p))
{
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_VIRTUAL), body);
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL), body);
}

#define RIG_ARGUMENT_gpu  struct probe *p
#define RIG_RUN_gpu(body) run_gpu(body)

/* The copy of one update is with the GPU, for a tenth of a second. */
static void fly(update_operation *op, UINT count)
{
    va_shadow.late = true;
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(update_queue(op, count, *U->value), STATUS_SUCCESS));
    for (unsigned i = 0; i < 1000 && !va_shadow.waiting; i++)
        probe_sleep(PROBE_SECOND / 1000);
    CHECK(va_shadow.waiting > 0);
    probe_sleep(PROBE_SECOND / 1000);
    va_shadow.late = false;
    probe_device_packet_ns = 1000;
}

/* The GPU makes it at the very end. */
static void land(uint64_t value)
{
    probe_sleep(PROBE_SECOND / 100);
    CHECK(*U->value == value - 1);
    va_shadow_copy_late();
    update_await(value);
    probe_sleep(PROBE_SECOND / 100);
}

static D3DDDI_MAPGPUVIRTUALADDRESS map_request(D3DKMT_HANDLE allocation, uint64_t base)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.hAllocation = allocation;
    args.BaseAddress = base;
    args.SizeInPages = 1;
    return args;
}

static NTSTATUS destroy_allocation(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    args.Flags.AssumeNotInUse = 1;
    return D3DKMTDestroyAllocation2(&args);
}

static const struct probe_call *destroyed(const struct probe *p)
{
    const size_t count = probe_count(p, PROBE_DestroyAllocation);

    return count ? probe_nth(p, PROBE_DestroyAllocation, (unsigned)count - 1) : NULL;
}

/* ---- what it maps ends ---- */

TEST_WITH(gpu, a_pool_that_is_destroyed_meanwhile_leaves_no_entry)
{
    update_operation op;
    const struct probe_call *before;

    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 3 * PAGE);
    fly(&op, 1);
    before = destroyed(p);
    CHECK(IS(destroy_allocation(U->pool), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-094", destroyed(p) == before); /* its memory is not given to others yet */
    land(1);
    CHECK_RULE("GPUVA-098", update_all(B, 4, UPDATE_ZERO));
    CHECK_RULE("GPUVA-094", destroyed(p) != before);
    update_end();
}

/* ---- its place becomes something else ---- */

TEST_WITH(gpu, what_is_mapped_over_meanwhile_stays)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 3 * PAGE);
    fly(&op, 1);
    args = map_request(U->pool, B + PAGE);
    args.OffsetInPages = 40;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    args = map_request(0, B + 2 * PAGE);
    args.Protection.NoAccess = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    land(1);
    CHECK_RULE("GPUVA-091", update_shows(B) == 3 && update_shows(B + 3 * PAGE) == 6);
    CHECK_RULE("GPUVA-091", update_shows(B + PAGE) == 40);
    CHECK_RULE("GPUVA-091", update_shows(B + 2 * PAGE) == UPDATE_INVALID);
    update_end();
}

/* The same page of the pool, but with another protection. */
TEST_WITH(gpu, what_is_protected_otherwise_meanwhile_stays_so)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 3 * PAGE);
    fly(&op, 1);
    args = map_request(U->pool, B);
    args.OffsetInPages = 3;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    land(1);
    CHECK_RULE("GPUVA-091", update_shows(B) == 3 && va_shadow_walk(U->context, B).ReadOnly);
    update_end();
}

static D3DKMT_HANDLE another_context(void)
{
    D3DKMT_CREATECONTEXTVIRTUAL args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&args)));
    return args.hContext;
}

static unsigned copies;

static void count_copies(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    copies += op->Operation == DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES;
}

/* The second companion waits for the first only where both change the same pages. */
TEST_WITH(gpu, two_companions_do_not_copy_to_the_same_place)
{
    const volatile uint64_t *value, *apart;
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 3 * PAGE);
    fly(&op, 1);
    va_shadow.operation = count_copies;
    copies = 0;
    op = update_map(B + 3 * PAGE, 4 * PAGE, 30 * PAGE);
    args = update_request(&op, 1);
    args.hContext = another_context();
    args.hFenceObject = update_fence(0, &value);
    args.FenceValue = 0;
    CHECK(IS(D3DKMTUpdateGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-123", *value == 0 && copies == 0);
    op = update_map(B + 4 * PAGE, 4 * PAGE, 20 * PAGE);
    args.hContext = another_context();
    args.hFenceObject = update_fence(0, &apart);
    CHECK(IS(D3DKMTUpdateGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-140", *value == 0 && copies == 1);
    land(1);
    CHECK_RULE("GPUVA-123", *value == 1 && *apart == 1 && copies == 2);
    CHECK_RULE("GPUVA-142", update_all(B, 3, 3) && update_all(B + 3 * PAGE, 4, 30) &&
                                update_shows(B + 7 * PAGE) == 23);
    update_end();
}

/* ---- its reservation ends ---- */

static unsigned leaf_writes, links;

static void note_tables(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || B == 0)
        return;
    leaf_writes += update->PageTableLevel == 0 && update->FirstPteVirtualAddress >= B &&
                   update->FirstPteVirtualAddress < B + 2 * MB;
    links += update->PageTableLevel == 1 && update->FirstPteVirtualAddress <= B &&
             !update->pPageTableEntries[0].Valid;
}

/* Its leaf table, which only the copy holds in the end, goes with it. */
TEST_WITH(gpu, the_table_of_a_range_that_ends_meanwhile_goes_last)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;
    update_operation op;
    uint64_t whole;

    (void)p;
    update_begin(POOL);
    whole = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 4 * MB, 0);
    B = (whole + 2 * MB - 1) & ~(2 * MB - 1);
    op = update_map(B, PAGE, 3 * PAGE);
    fly(&op, 1);
    va_shadow.operation = note_tables;
    leaf_writes = links = 0;
    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.BaseAddress = whole;
    args.Size = 4 * MB;
    CHECK(IS(D3DKMTFreeGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-153", leaf_writes == 1 && links == 0);
    land(1);
    CHECK_RULE("GPUVA-121", leaf_writes == 2 && update_shows(B) == UPDATE_INVALID);
    CHECK_RULE("GPUVA-153", links == 1);
    update_end();
}

/* ---- it is never made ---- */

static void lose_device(void)
{
    D3DKMT_MARKDEVICEASERROR args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    CHECK(IS(D3DKMTMarkDeviceAsError(&args), STATUS_SUCCESS));
}

/* The addresses belong to the process, whose other devices go on. */
TEST_WITH(gpu, a_copy_that_is_lost_with_its_device_is_made_up_for)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 3 * PAGE);
    fly(&op, 1);
    lose_device();
    probe_sleep(PROBE_SECOND / 2);
    CHECK_RULE("GPUVA-116", update_all(B, 4, 3));
    update_end();
}

/* SPDX-License-Identifier: MIT */
/* Updates of GPU virtual addresses that map more memory than there is, or than others leave. */
#include "port/support/paged.h"
#include "port/support/update_client.h"

#define B (U->base)

static void note_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet = 1; /* nowhere but in video memory */
        args->pAllocationInfo[i].SupportedWriteSegmentSet = 1;
        args->pAllocationInfo[i].PreferredSegment.Value = 0;
    }
}

static void name_companion_node(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->ContextInfo.PagingCompanionNodeId = 2;
}

static struct probe *create(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = update_create(mode);

    va_shadow.created = name_companion_node;
    p->after[PROBE_CreateAllocation] = note_allocation;
    p->physical.PagingNodeIndex = 2; /* beside the commands of clients */
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 3;
    p->physical.NumExecutionNodes = 3;
    p->segment[0].Flags.ApplicationTarget = 1;
    return p;
}

static void run_gpu(void (*body)(struct probe *p))
{
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_VIRTUAL), body);
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL), body);
}

#define RIG_ARGUMENT_gpu  struct probe *p
#define RIG_RUN_gpu(body) run_gpu(body)

static bool is_there(D3DKMT_HANDLE allocation)
{
    return paged_residency(&U->gpu, allocation) ==
           D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY;
}

static D3DKMT_HANDLE allocate(uint64_t bytes)
{
    D3DKMT_HANDLE allocation;

    CHECK(NT_SUCCESS(paged_create(&U->gpu, bytes, &allocation)));
    return allocation;
}

static NTSTATUS make_resident(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    uint64_t fence;
    NTSTATUS status = paged_make_resident(g, allocation, &fence);

    return status == STATUS_PENDING ? paged_wait(g, fence) : status;
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

/* Commands that take so long, on a node of their own. */
static void run_for(uint64_t ns)
{
    probe_device_packet_ns = ns;
    CHECK(NT_SUCCESS(probe_gpu_submit(&U->gpu)));
    probe_sleep(PROBE_SECOND / 1000);
    probe_device_packet_ns = 1000;
}

static update_operation map_of(D3DKMT_HANDLE allocation, uint64_t va)
{
    update_operation op = update_map(va, PAGE, 0);

    op.Map.hAllocation = allocation;
    return op;
}

static uint64_t reports(const struct probe *p, const char *rule)
{
    uint64_t count = 0;

    for (size_t i = 0; i < verify_records(p->log); i++)
        if (strcmp(verify_record_at(p->log, i)->rule, rule) == 0)
            count += verify_record_at(p->log, i)->count;
    return count;
}

/* ---- two pools of one batch ---- */

TEST_WITH(gpu, pools_that_do_not_fit_together_do_not_wait_for_each_other)
{
    D3DKMT_HANDLE one, two;
    update_operation op[3];

    update_begin(64 * KB);
    one = allocate(8 * MB);
    two = allocate(8 * MB);
    op[0] = map_of(one, B);
    op[1] = map_of(two, B + PAGE);
    op[2] = map_of(two, B + 2 * PAGE);
    update_do(op, 3);
    CHECK_RULE("RES-058", is_there(one) && va_shadow_walk(U->context, B).Valid);
    CHECK_RULE("GPUVA-128", !is_there(two) && update_all(B + PAGE, 2, UPDATE_INVALID));
    CHECK_RULE("GPUVA-141", reports(p, "GPUVA-141") == 1); /* which one, once */
    /* alone it fits, and its entries follow as ever */
    op[0] = map_of(two, B + 3 * PAGE);
    update_do(op, 1);
    CHECK_RULE("GPUVA-141", is_there(two) && va_shadow_walk(U->context, B + 3 * PAGE).Valid);
    CHECK_RULE("GPUVA-092", va_shadow_walk(U->context, B + PAGE).Valid &&
                                va_shadow_walk(U->context, B + 2 * PAGE).Valid &&
                                update_shows(B) == UPDATE_INVALID);
    CHECK(NT_SUCCESS(make_resident(&U->gpu, one)) && is_there(one)); /* and the device goes on */
    update_end();
}

/* ---- the records do not run ahead of the entries ---- */

/* An update waits for memory; what its place mapped until now ends meanwhile. */
TEST_WITH(gpu, an_update_that_waits_for_memory_has_changed_nothing)
{
    D3DKMT_HANDLE old, filler, large;
    update_operation op;

    (void)p;
    update_begin(64 * KB);
    old = allocate(MB);
    filler = allocate(8 * MB);
    large = allocate(8 * MB);
    CHECK(NT_SUCCESS(make_resident(&U->gpu, old)) && NT_SUCCESS(make_resident(&U->gpu, filler)));
    op = map_of(old, B);
    update_do(&op, 1);
    CHECK(va_shadow_walk(U->context, B).Valid && update_shows(B) != UPDATE_ZERO);
    run_for(PROBE_SECOND / 4);
    op = map_of(large, B);
    CHECK(IS(update_queue(&op, 1, 1), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 1000);
    CHECK(*U->value == 1 && is_there(old));
    CHECK(IS(destroy_allocation(old), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 500);
    CHECK_RULE("GPUVA-098", *U->value == 1 && update_shows(B) == UPDATE_ZERO);
    probe_sleep(PROBE_SECOND / 2);
    update_await(2);
    CHECK_RULE("RES-058", !is_there(large) && update_shows(B) == UPDATE_INVALID);
    update_end();
}

/* Video memory to the last page, on the list of the device. */
static void fill_memory(void)
{
    for (uint64_t bytes = MB; bytes >= PAGE; bytes /= 16)
        while (NT_SUCCESS(make_resident(&U->gpu, allocate(bytes))))
            ;
}

static D3DKMT_DEVICEEXECUTION_STATE device_state(void)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&args)));
    return args.ExecutionState;
}

/* The second operation needs a page table for which there is no room: what the first has changed shows meanwhile. */
static void half_body(struct probe *p)
{
    update_operation op[2];

    (void)p;
    update_begin(64 * KB);
    B = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 8 * MB, 0);
    op[0] = update_map(B, PAGE, 3 * PAGE);
    update_do(op, 1);
    fill_memory();
    run_for(PROBE_SECOND / 4);
    op[0] = update_map(B, PAGE, 5 * PAGE);
    op[1] = update_copy(B + 4 * MB, B, PAGE);
    CHECK(IS(update_queue(op, 2, 1), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 500);
    CHECK_RULE("GPUVA-122", *U->value == 1 && update_shows(B) == 5);
    CHECK_RULE("GPUVA-151", device_state() == D3DKMT_DEVICEEXECUTION_ACTIVE);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("GPUVA-151", device_state() == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("GPUVA-151", update_shows(B) == 5 && update_shows(B + 4 * MB) == UPDATE_INVALID);
    update_end();
}

TEST(what_an_update_has_changed_shows_while_it_waits)
{
    for (unsigned i = 0; i < 3; i++)
        update_finish(create(update_modes[i]), half_body);
}

/* ---- other clients ---- */

static struct probe_client *other;
static struct probe_gpu rival;
static D3DKMT_HANDLE rival_memory;
static uint64_t rival_work; /* ns; 0: none */

static void rival_body(struct probe *p)
{
    D3DKMT_HANDLE memory;

    (void)p;
    CHECK(IS(probe_gpu_begin(&rival), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(paged_create(&rival, 10 * MB, &memory)));
    CHECK(NT_SUCCESS(make_resident(&rival, memory)));
    if (rival_work) {
        probe_device_packet_ns = rival_work;
        CHECK(NT_SUCCESS(probe_gpu_submit(&rival)));
        probe_sleep(PROBE_SECOND / 1000);
        probe_device_packet_ns = 1000;
    }
    rival_memory = memory;
}

/* They come, and get their memory. */
static bool rival_comes(struct probe *p, uint64_t work)
{
    rival_memory = 0;
    rival_work = work;
    other = probe_client_start(p, rival_body);
    for (unsigned i = 0; i < 1000 && !rival_memory; i++)
        probe_sleep(PROBE_SECOND / 1000);
    return rival_memory != 0;
}

static void run_with_rival(DXGK_PAGETABLEUPDATEMODE mode, void (*body)(struct probe *p))
{
    struct probe *p = create(mode);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_client_end(p, other);
    probe_clients_end(p);
    probe_destroy(p);
}

static bool evicts;
static unsigned copies;

static void count_copies(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    copies += op->Operation == DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES;
}

static void waiting_body(struct probe *p)
{
    D3DKMT_HANDLE pool;
    update_operation op;

    update_begin(64 * KB);
    pool = allocate(8 * MB);
    CHECK(NT_SUCCESS(make_resident(&U->gpu, pool)));
    va_shadow.operation = count_copies;
    copies = 0;
    op = map_of(pool, B);
    CHECK(IS(update_queue(&op, 1, 5), STATUS_SUCCESS));
    if (evicts)
        CHECK(NT_SUCCESS(paged_evict(&U->gpu, pool)));
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-141", is_there(pool));
    CHECK_RULE("GPUVA-140", rival_comes(p, 0) && !is_there(pool));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(6);
    if (U->mode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL) {
        CHECK_RULE("GPUVA-142", copies == 1); /* so it came back for that */
        probe_sleep(PROBE_SECOND / 10);
        CHECK_RULE("GPUVA-141",
                   is_there(pool) == !evicts && va_shadow_walk(U->context, B).Valid == !evicts);
    }
    update_end();
}

TEST(a_pool_does_not_keep_memory_from_others_while_updates_wait)
{
    for (unsigned i = 0; i < 6; i++) {
        evicts = i % 2;
        run_with_rival(update_modes[i / 2], waiting_body);
    }
}

/* What the device lists is not there, and cannot be yet; the tiles do not need it. */
static void list_body(struct probe *p)
{
    D3DDDI_MAKERESIDENT args;
    D3DKMT_HANDLE large;
    update_operation op;

    update_begin(64 * KB);
    large = allocate(8 * MB);
    CHECK(rival_comes(p, PROBE_SECOND / 4));
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &large;
    args.Flags.CantTrimFurther = 1;
    CHECK(IS(D3DKMTMakeResident(&args), STATUS_PENDING));
    op = update_map(B, 4 * PAGE, 3 * PAGE);
    CHECK(IS(update_queue(&op, 1, 0), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 200);
    CHECK(!is_there(large));
    CHECK_RULE("GPUVA-140", *U->value == 1 && update_all(B, 4, 3));
    CHECK(NT_SUCCESS(paged_wait(&U->gpu, args.PagingFenceValue)) && is_there(large));
    update_end();
}

TEST(tiles_do_not_wait_for_the_list_of_their_device)
{
    run_with_rival(DXGK_PAGETABLEUPDATE_GPU_VIRTUAL, list_body);
    run_with_rival(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, list_body);
}

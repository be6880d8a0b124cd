/* SPDX-License-Identifier: MIT */
/* D3DKMTUpdateGpuVirtualAddress on a started adapter: what waits, for how long, and beside whom. */
#include "nt/base/current.h"
#include "nt/ps/thread.h"
#include "port/support/update_client.h"
#include "sim/thread.h"

#define POOL (256 * KB)
#define B    (U->base)
#define MOST 128u

/* ---- the limit ---- */

static uint64_t signal_after, signal_value;

static void signal_main(void *arg)
{
    (void)arg;
    probe_sleep(signal_after);
    CHECK(IS(update_signal(U->fence, signal_value), STATUS_SUCCESS));
}

static void lose_main(void *arg)
{
    D3DKMT_MARKDEVICEASERROR args;

    (void)arg;
    probe_sleep(signal_after);
    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    CHECK(IS(D3DKMTMarkDeviceAsError(&args), STATUS_SUCCESS));
}

/* Beside this thread, in the same process. */
static void beside(void (*body)(void *arg))
{
    struct sim_thread *thread = nt_client_thread_create(nt_process_current(), "beside", body, NULL);

    CHECK(thread != NULL);
    sim_thread_release(thread);
}

/* Queued behind a fence, a call each; no thread waits for more than the call takes. */
static void queue_most(void)
{
    const uint64_t before = sim_now();
    update_operation op;

    for (unsigned i = 0; i < MOST; i++) {
        op = update_map(B + i * PAGE, PAGE, i % 64 * PAGE);
        CHECK(IS(update_queue(&op, 1, 10), STATUS_SUCCESS));
    }
    CHECK_RULE("GPUVA-136", sim_now() - before < PROBE_SECOND / 100);
}

TEST_WITH(update, the_129th_operation_waits_for_earlier_ones)
{
    update_operation op;
    uint64_t before;

    (void)p;
    update_begin(POOL);
    queue_most();
    signal_after = PROBE_SECOND;
    signal_value = 10;
    beside(signal_main);
    before = sim_now();
    op = update_map(B + MB, PAGE, 0);
    CHECK_RULE("GPUVA-136",
               IS(update_queue(&op, 1, 11), STATUS_SUCCESS) && sim_now() - before >= PROBE_SECOND);
    update_await(12);
    for (unsigned i = 0; i < MOST; i++)
        CHECK(update_shows(B + i * PAGE) == (int)(i % 64));
    update_end();
}

/* Operations count, not calls; what is alone has nobody to wait for. */
TEST_WITH(update, operations_count_and_not_calls)
{
    update_operation op[MOST + 1];
    uint64_t before;

    (void)p;
    update_begin(POOL);
    for (unsigned i = 0; i <= MOST; i++)
        op[i] = update_map(B + i * PAGE, PAGE, i % 64 * PAGE);
    CHECK_RULE("GPUVA-136", IS(update_queue(op, MOST + 1, 0), STATUS_SUCCESS));
    update_await(1);
    CHECK(IS(update_queue(op, MOST - 1, 10), STATUS_SUCCESS));
    signal_after = PROBE_SECOND;
    signal_value = 10;
    beside(signal_main);
    before = sim_now();
    CHECK_RULE("GPUVA-136",
               IS(update_queue(op, 2, 10), STATUS_SUCCESS) && sim_now() - before >= PROBE_SECOND);
    update_await(11);
    update_end();
}

TEST_WITH(update, a_thread_that_waits_ends_with_its_device)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    queue_most();
    signal_after = PROBE_SECOND;
    beside(lose_main);
    op = update_map(B + MB, PAGE, 0);
    CHECK_RULE("GPUVA-136", !NT_SUCCESS(update_queue(&op, 1, 11)) && sim_now() >= PROBE_SECOND);
    update_end();
}

/* ---- others ---- */

static struct probe_client *other;
static bool other_mapped;

static void other_body(struct probe *p)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, POOL, &allocation), STATUS_SUCCESS));
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.hAllocation = allocation;
    args.SizeInPages = POOL / PAGE;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    other_mapped =
        va_shadow_walk(&va_shadow.context[va_shadow.contexts - 1], args.VirtualAddress).Valid;
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static void blocked_body(struct probe *p)
{
    update_operation op;
    uint64_t again;

    update_begin(POOL);
    op = update_map(B, PAGE, 0);
    CHECK(IS(update_queue(&op, 1, 1000), STATUS_SUCCESS)); /* nobody signals 1000 */
    other_mapped = false;
    other = probe_client_start(p, other_body);
    for (unsigned i = 0; i < 1000 && !other->done; i++)
        probe_sleep(1000000);
    CHECK_RULE("GPUVA-140", other->done && other_mapped);
    /* nor other paging of its own process, nor its commands */
    again = update_map_whole(U->pool, 8);
    CHECK(NT_SUCCESS(probe_gpu_submit(&U->gpu)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-140", update_shows(again) == 0 && update_shows(B) == UPDATE_ZERO);
    CHECK_RULE("GPUVA-140", p->state[0].reported[1] == p->state[0].submitted[1]);
    CHECK(IS(update_signal(U->fence, 1000), STATUS_SUCCESS));
    update_await(1001);
    update_end();
}

TEST(an_update_that_waits_delays_nobody)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = update_create(update_modes[i]);
        struct probe_client *client;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, blocked_body);
        probe_client_end(p, client);
        probe_client_end(p, other);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- the pool ---- */

static void evict_pool(void)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &U->pool;
    CHECK(NT_SUCCESS(D3DKMTEvict(&args)));
    probe_sleep(PROBE_SECOND / 10);
}

TEST_WITH(update, a_pool_stays_while_updates_wait_for_it)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 8 * PAGE);
    CHECK(IS(update_queue(&op, 1, 5), STATUS_SUCCESS));
    evict_pool();
    CHECK_RULE("GPUVA-141", update_shows(U->pool_va) == 0); /* it has not left its place */
    CHECK_RULE("RES-089", update_shows(U->pool_va) == 0);
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(6);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-141", update_shows(U->pool_va) == UPDATE_INVALID);
    CHECK_RULE("RES-089", update_shows(U->pool_va) == UPDATE_INVALID);
    CHECK_RULE("GPUVA-128", update_all(B, 4, UPDATE_INVALID)); /* nor in its tiles any more */
    /* evicted when it is queued, and when it is carried out */
    op = update_map(B + 64 * KB, 4 * PAGE, 0);
    CHECK_RULE("GPUVA-128", IS(update_queue(&op, 1, 6), STATUS_SUCCESS));
    update_await(7);
    update_end();
}

static D3DDDI_MAKERESIDENT make_resident(void)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &U->pool;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&args)));
    probe_sleep(PROBE_SECOND / 10);
    return args;
}

/* Tiles follow their pool wherever it goes. */
TEST_WITH(update, tiles_follow_their_pool)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 8 * PAGE);
    update_do(&op, 1);
    CHECK_RULE("GPUVA-092", update_all(B, 4, 8));
    evict_pool();
    CHECK_RULE("GPUVA-092", update_all(B, 4, UPDATE_INVALID) && update_shows(B + 4 * PAGE) == -1);
    (void)make_resident();
    CHECK_RULE("GPUVA-092", update_all(B, 4, 8));
    update_end();
}

/* ---- driver protection ---- */

static uint64_t protections[64];
static unsigned protection_count, fills;
static bool foreign;

static void note_protection(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || update->PageTableLevel != 0)
        return;
    if (update->pPageTableEntries[0].Zero && update->FirstPteVirtualAddress >= B &&
        update->FirstPteVirtualAddress < B + 64 * KB) {
        fills++;
        foreign |= update->DriverProtection != 0x55;
    }
    if (update->hAllocation && protection_count < 64)
        protections[protection_count++] = update->DriverProtection;
}

static bool saw(uint64_t protection)
{
    for (unsigned i = 0; i < protection_count; i++)
        if (protections[i] == protection)
            return true;
    return false;
}

TEST_WITH(update, tiles_have_the_driver_protection_of_the_reservation)
{
    update_operation op[2];

    (void)p;
    update_begin(POOL);
    B = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, 64 * KB, 0x55);
    va_shadow.operation = note_protection;
    protection_count = fills = 0;
    foreign = false;
    op[0] = update_map(B, PAGE, 0);
    update_do(op, 1);
    CHECK_RULE("GPUVA-115", saw(0x55) && !saw(0) && !saw(7));
    CHECK_RULE("GPUVA-129", saw(0x55));
    CHECK_RULE("GPUVA-115", !foreign);
    op[0] = update_protect(B + PAGE, PAGE, 0, true, 7);
    update_do(op, 1);
    CHECK_RULE("GPUVA-130", saw(7) && !saw(0));
    op[0] = update_unmap(B, PAGE, true);
    update_do(op, 1);
    CHECK_RULE("GPUVA-115", fills >= 1 && !foreign);
    update_end();
}

/* With which protection each page was invalidated last. */
static uint64_t wiped[16];
static unsigned wipes;

static void note_wipe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || update->PageTableLevel != 0 ||
        update->FirstPteVirtualAddress < B || update->FirstPteVirtualAddress >= B + 64 * KB)
        return;
    wipes += !update->pPageTableEntries[0].Valid;
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const uint64_t page = (update->FirstPteVirtualAddress - B) / PAGE + i;

        if (page < 16)
            wiped[page] = update->DriverProtection;
    }
}

static void free_range(uint64_t va, uint64_t bytes)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.BaseAddress = va;
    args.Size = bytes;
    CHECK(IS(D3DKMTFreeGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
}

TEST_WITH(update, freed_pages_have_the_protection_of_their_mapping)
{
    const uint64_t unique = D3DGPU_UNIQUE_DRIVER_PROTECTION | 9;
    update_operation op[4];

    (void)p;
    update_begin(POOL);
    B = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, 64 * KB, 0x55);
    op[0] = update_protect(B, 2 * PAGE, 0, true, 7);
    op[1] = update_map(B + 2 * PAGE, PAGE, 2 * PAGE);
    op[2] = update_protect(B + 4 * PAGE, PAGE, 4 * PAGE, true, unique);
    op[3] = update_protect(B + 15 * PAGE, PAGE, 5 * PAGE, true, 8);
    update_do(op, 4);
    va_shadow.operation = note_wipe;
    memset(wiped, 0xFF, sizeof(wiped));
    wipes = 0;
    free_range(B, 64 * KB);
    CHECK(update_all(B, 16, UPDATE_INVALID));
    CHECK_RULE("GPUVA-099", wiped[0] == 7 && wiped[1] == 7 && wiped[4] == unique);
    CHECK_RULE("GPUVA-099", wiped[15] == 8);
    CHECK_RULE("GPUVA-115", wiped[2] == 0x55 && wiped[3] == 0x55 && wiped[5] == 0x55);
    CHECK_RULE("GPUVA-115", wipes == 5); /* one for what lies together and has the same */
    update_end();
}

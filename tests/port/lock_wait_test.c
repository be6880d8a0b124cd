/* SPDX-License-Identifier: MIT */
/* Locks of a WDDM 1.x client that wait for the GPU: for whose work, in which order, and what ends a wait that the GPU never
 * would. */
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "nt/ps/process.h"
#include "port/support/portions.h"
#include "sim/thread.h"

#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define PACKET             (PROBE_SECOND / 10)
#define BYTES              65536u

/* A device that made the allocation, and one beside it that has opened it and uses it. */
static struct portions_gpu gpu, user;
static NTSTATUS lock_status;
static bool locked;

static void visible(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 3;
    info->PreferredSegment.Value = 1;
    info->Flags.Value = 0;
    info->Flags.CpuVisible = 1;
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = visible;
}

static struct probe *started(void)
{
    portions_prepare = prepare;
    locked = false;
    lock_status = STATUS_PENDING;
    return portions_begin(false, false);
}

/* ---- the clients ---- */

static void use(struct portions_gpu *g, unsigned index)
{
    memset(g->context.pAllocationList, 0, (PORTIONS_MANY + 1) * sizeof(*g->context.pAllocationList));
    g->context.pAllocationList[1].hAllocation = g->allocation[index];
    portions_element(g, 0, 0, 1, 0);
    CHECK(IS(portions_render(g, 64, 1), STATUS_SUCCESS));
}

static NTSTATUS lock(unsigned index)
{
    D3DKMT_LOCK args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[index];
    args.Flags.LockEntire = 1;
    return D3DKMTLock(&args);
}

static void lock_it(struct probe *p)
{
    (void)p;
    lock_status = lock(0);
    locked = true;
}

static D3DKMT_HANDLE share(void)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info;
    uint64_t bytes = BYTES;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = gpu.device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    create.Flags.CreateResource = create.Flags.CreateShared = 1;
    CHECK(IS(D3DKMTCreateAllocation2(&create), STATUS_SUCCESS));
    gpu.allocation[0] = info.hAllocation;
    return create.hGlobalShare;
}

static void open_shared(D3DKMT_HANDLE global)
{
    D3DDDI_OPENALLOCATIONINFO info;
    D3DKMT_OPENRESOURCE open;
    uint8_t total[64];

    memset(&open, 0, sizeof(open));
    memset(&info, 0, sizeof(info));
    open.hDevice = user.device;
    open.hGlobalShare = global;
    open.NumAllocations = 1;
    open.pOpenAllocationInfo = &info;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = sizeof(uint64_t);
    CHECK(IS(D3DKMTOpenResource(&open), STATUS_SUCCESS));
    user.allocation[0] = info.hAllocation;
}

/* Its context waits for a semaphore that nobody signals, and then uses the allocation. */
static void block(struct portions_gpu *g)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {0};

    semaphore.hDevice = g->device;
    semaphore.Info.Type = D3DDDI_SEMAPHORE;
    semaphore.Info.Semaphore.MaxCount = 1;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&semaphore), STATUS_SUCCESS));
    wait.hContext = g->context.hContext;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = semaphore.hSyncObject;
    CHECK(IS(D3DKMTWaitForSynchronizationObject(&wait), STATUS_SUCCESS));
    use(g, 0);
}

static D3DKMT_HANDLE global;

static void make_shared(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    global = share();
}

static void use_shared(struct probe *p)
{
    (void)p;
    portions_open(&user);
    open_shared(global);
    block(&user);
}

/* Both in one process. */
static void lock_beside(struct probe *p)
{
    make_shared(p);
    use_shared(p);
    lock_it(p);
}

/* Whose device is in error. */
static bool lost[2];

static void close_both(struct probe *p)
{
    (void)p;
    lost[0] = portions_state(&gpu) != D3DKMT_DEVICEEXECUTION_ACTIVE;
    lost[1] = portions_state(&user) != D3DKMT_DEVICEEXECUTION_ACTIVE;
    portions_close(&user);
    portions_close(&gpu);
}

static void wait_a_little(struct probe *p)
{
    (void)p;
    probe_sleep(PROBE_SECOND);
}

/* On one more thread of the process. */
static void begin_lock(struct probe *p, const struct probe_client *client)
{
    sim_thread_release(probe_thread(p, client->nt, "locker", lock_it));
    CHECK(probe_run(p, wait_a_little) == SIM_DONE);
    CHECK(!locked);
}

/* ---- order ---- */

static void order_body(struct probe *p)
{
    uint64_t before;

    (void)p;
    portions_open(&gpu);
    for (unsigned i = 0; i < 2; i++)
        portions_allocate(&gpu, i, BYTES);
    use(&gpu, 0);
    use(&gpu, 1);
    portions_finish(&gpu);
    probe_device_packet_ns = PACKET;
    use(&gpu, 0);
    use(&gpu, 1);
    use(&gpu, 1);
    before = sim_now();
    /* its end waits for the last packet, which uses it */
    CHECK(IS(
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){
            .hDevice = gpu.device, .phAllocationList = &gpu.allocation[1], .AllocationCount = 1}),
        STATUS_SUCCESS));
    probe_sleep(PACKET / 4);
    CHECK_RULE("ALLOC-116", IS(lock(0), STATUS_SUCCESS) && sim_now() - before > PACKET / 2 &&
                                sim_now() - before < PACKET * 3 / 2);
    portions_finish(&gpu);
    probe_device_packet_ns = 1000;
    portions_close(&gpu);
}

TEST(a_lock_does_not_wait_for_what_others_wait_for)
{
    struct probe *p = started();

    portions_end(p, probe_client_run(p, order_body));
}

/* ---- what the GPU never does ---- */

static bool is_over(void *arg)
{
    (void)arg;
    return locked;
}

TEST(a_lock_that_can_never_be_is_given_up)
{
    struct probe *p = started();
    struct probe_client *client = probe_client_start(p, lock_beside);

    CHECK_RULE("KMT-162", sim_run(is_over, NULL, SIM_FOREVER) == SIM_DEADLOCK && !locked);
    CHECK_RULE("KMT-162", kmt_break_deadlock(kmt_current()));
    probe_client_wait(p, client);
    CHECK_RULE("KMT-162", locked && IS(lock_status, STATUS_SUCCESS));
    CHECK_RULE("KMT-162", probe_said(p, "KMT-162",
                                     "but nothing can run any more: the device is put in error"));
    probe_client_go_on(p, client, close_both);
    CHECK_RULE("KMT-162", lost[1] && !lost[0]); /* the one whose work it was */
    portions_end(p, client);
}

static void make_and_use(struct probe *p)
{
    make_shared(p);
    use_shared(p);
}

static void mark(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR error = {gpu.device, D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    (void)p;
    CHECK(IS(D3DKMTMarkDeviceAsError(&error), STATUS_SUCCESS));
    probe_sleep(1000000);
}

static void unblock(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR error = {user.device, D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    CHECK(IS(D3DKMTMarkDeviceAsError(&error), STATUS_SUCCESS));
    close_both(p);
}

TEST(a_lost_device_waits_no_longer)
{
    struct probe *p = started();
    struct probe_client *client = probe_client_run(p, make_and_use);

    begin_lock(p, client);
    probe_client_go_on(p, client, mark);
    CHECK_RULE("KMT-123", locked && IS(lock_status, STATUS_DEVICE_REMOVED));
    probe_client_go_on(p, client, unblock);
    portions_end(p, client);
}

static struct probe_client *maker;

static void end_maker(struct probe *p)
{
    (void)p;
    kmt_process_end(maker->nt, true, NULL);
}

/* The work is another process's. */
static struct probe_client *begin_between_two(struct probe *p)
{
    struct probe_client *other;

    maker = probe_client_run(p, make_shared);
    other = probe_client_run(p, use_shared);
    begin_lock(p, maker);
    return other;
}

static void close_user(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR error = {user.device, D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    (void)p;
    CHECK(portions_state(&user) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(IS(D3DKMTMarkDeviceAsError(&error), STATUS_SUCCESS));
    portions_close(&user);
}

TEST(a_process_ends_although_its_lock_waits)
{
    struct probe *p = started();
    struct probe_client *other = begin_between_two(p);

    CHECK_RULE("KMT-472", probe_run(p, end_maker) == SIM_DONE && locked &&
                              IS(lock_status, STATUS_DEVICE_REMOVED));
    nt_process_destroy(maker->nt);
    free(maker);
    probe_client_go_on(p, other, close_user);
    portions_end(p, other);
}

static void remove_adapter(struct probe *p)
{
    probe_remove(p, 0);
}

TEST(an_adapter_is_removed_although_a_lock_waits)
{
    struct probe *p = started();
    struct probe_client *other = begin_between_two(p);

    CHECK_RULE("LIFE-168/b", probe_run(p, remove_adapter) == SIM_DONE && locked &&
                                 IS(lock_status, STATUS_DEVICE_REMOVED));
    probe_client_end(p, maker);
    portions_end(p, other);
}

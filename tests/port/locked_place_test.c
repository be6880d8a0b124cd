/* SPDX-License-Identifier: MIT */
/* Where an allocation of a WDDM 1.x client lies while it is locked: what leads there, and what must stay. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MIB                PORTIONS_MIB
#define PACKET             (PROBE_SECOND / 10)

static struct portions_gpu gpu;

/* Of the next allocation; and the transfers of those of 1 MiB. */
static struct driver {
    UINT set;
    DXGK_ALLOCATIONINFOFLAGS flags;
    DXGK_TRANSFERFLAGS in[8], out[8];
    unsigned ins, outs;
} driver;

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = driver.set;
    info->PreferredSegment.Value = 1;
    info->Flags = driver.flags;
    info->Flags.CpuVisible = 1;
}

static void note(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation != DXGK_OPERATION_TRANSFER || op->Transfer.TransferSize != MIB)
        return;
    if (op->Transfer.Source.SegmentId == 1)
        driver.out[driver.outs++ % 8] = op->Transfer.Flags;
    else
        driver.in[driver.ins++ % 8] = op->Transfer.Flags;
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = describe;
    p->before[PROBE_BuildPagingBuffer] = note;
}

static void run(bool no_dma_patching, void (*body)(struct probe *p))
{
    struct probe *p;

    memset(&driver, 0, sizeof(driver));
    portions_prepare = prepare;
    p = portions_begin(false, no_dma_patching);
    portions_end(p, probe_client_run(p, body));
}

static NTSTATUS use(unsigned index)
{
    portions_element(&gpu, 0, 0, index + 1, 0);
    return portions_render(&gpu, 64, 1);
}

static void use_now(unsigned index)
{
    CHECK(IS(use(index), STATUS_SUCCESS));
    portions_finish(&gpu);
}

static NTSTATUS lock(unsigned index, D3DDDICB_LOCKFLAGS flags, uint8_t **bytes)
{
    D3DKMT_LOCK args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[index];
    args.Flags = flags;
    status = D3DKMTLock(&args);
    *bytes = args.pData;
    return status;
}

static void unlock(unsigned index)
{
    CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &gpu.allocation[index]}), STATUS_SUCCESS));
}

/* ---- in the order of the GPU ---- */

static void swizzled_body(struct probe *p)
{
    uint8_t *bytes;

    (void)p;
    driver.set = 3; /* it may be in the aperture, too, but to be put in order it must be in memory */
    driver.flags.Swizzled = 1;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, MIB);
    driver.set = 1;
    driver.flags.Swizzled = 0;
    portions_allocate(&gpu, 1, 15 * MIB + 4096); /* room for one of them */
    CHECK(IS(lock(0, (D3DDDICB_LOCKFLAGS){.LockEntire = 1}, &bytes), STATUS_SUCCESS));
    unlock(0); /* in linear order */
    use_now(0);
    CHECK(driver.ins == 1 && driver.in[0].Swizzle);
    use_now(1); /* evicted as it is */
    CHECK(driver.outs == 1 && !driver.out[0].Unswizzle);
    CHECK_RULE("ALLOC-052",
               IS(lock(0, (D3DDDICB_LOCKFLAGS){.LockEntire = 1}, &bytes), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-052", driver.ins == 2 && !driver.in[1].Swizzle && driver.outs == 2 &&
                                driver.out[1].Unswizzle);
    unlock(0);
    portions_close(&gpu);
}

TEST(a_lock_puts_in_order_what_may_be_in_an_aperture)
{
    run(false, swizzled_body);
}

/* ---- pinned ---- */

static D3DKMT_HANDLE blocked_on;

static void block(void)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {0};

    semaphore.hDevice = gpu.device;
    semaphore.Info.Type = D3DDDI_SEMAPHORE;
    semaphore.Info.Semaphore.MaxCount = 1;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&semaphore), STATUS_SUCCESS));
    blocked_on = semaphore.hSyncObject;
    wait.hContext = gpu.context.hContext;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = blocked_on;
    CHECK(IS(D3DKMTWaitForSynchronizationObject(&wait), STATUS_SUCCESS));
}

/* By another context. */
static void unblock(void)
{
    D3DKMT_CREATECONTEXT context = {.hDevice = gpu.device, .EngineAffinity = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {0};

    CHECK(IS(D3DKMTCreateContext(&context), STATUS_SUCCESS));
    signal.hContext = context.hContext;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray[0] = blocked_on;
    CHECK(IS(D3DKMTSignalSynchronizationObject(&signal), STATUS_SUCCESS));
}

static void captured_body(struct probe *p)
{
    const D3DDDICB_LOCKFLAGS at_once = {.IgnoreSync = 1, .DonotWait = 1};
    uint8_t *bytes;

    driver.set = 3;
    driver.flags.Capture = 1;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, MIB);
    use_now(0); /* pinned in memory from now on */
    CHECK(IS(lock(0, (D3DDDICB_LOCKFLAGS){.LockEntire = 1}, &bytes), STATUS_SUCCESS));
    probe_forget(p);
    CHECK_RULE("RES-008", IS(use(0), STATUS_GRAPHICS_CANT_RENDER_LOCKED_ALLOCATION) &&
                              strstr(probe_refused_text, "it is pinned") &&
                              probe_count(p, PROBE_Render) == 0);
    unlock(0);
    /* locked when it was queued already */
    block();
    CHECK(IS(use(0), STATUS_SUCCESS));
    CHECK(IS(lock(0, at_once, &bytes), STATUS_SUCCESS));
    portions.patch_count = 0;
    unblock();
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-054", portions.patch_count == 1 && driver.outs == 0 &&
                                portions.patched[0].list[1].SegmentId == 1);
    unlock(0);
    portions_close(&gpu);
}

TEST(what_is_pinned_is_not_moved_for_its_lock)
{
    run(false, captured_body);
}

static void kept_body(struct probe *p)
{
    const D3DDDICB_LOCKFLAGS at_once = {.IgnoreSync = 1, .DonotWait = 1};
    uint8_t *bytes;

    (void)p;
    driver.set = 3;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, MIB);
    driver.set = 1;
    portions_allocate(&gpu, 1, 10 * MIB);
    portions_allocate(&gpu, 2, 12 * MIB);
    portions_element(&gpu, 0, 0, 1, 0);
    portions_element(&gpu, 1, 1, 2, 0);
    portions_element(&gpu, 2, 1, 3, 32); /* takes the place of the second; the first stays bound */
    probe_device_packet_ns = PACKET;
    CHECK(IS(portions_render(&gpu, 64, 3), STATUS_SUCCESS));
    while (portions.patch_count == 0)
        probe_sleep(PACKET / 4);
    CHECK(IS(lock(0, at_once, &bytes), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("PATCH-122", portions.patch_count == 2 && driver.outs == 0 &&
                                portions_address(0, 1) == portions_address(1, 1));
    unlock(0);
    probe_device_packet_ns = 1000;
    portions_close(&gpu);
}

TEST(what_a_portion_keeps_is_not_moved_for_its_lock)
{
    run(true, kept_body);
}

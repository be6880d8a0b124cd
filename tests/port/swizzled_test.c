/* SPDX-License-Identifier: MIT */
/* Allocations whose content has an order of the GPU's in memory segments: which transfers change it. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MIB                PORTIONS_MIB

static struct portions_gpu gpu;
static UINT swizzled;
static DXGK_TRANSFERFLAGS in[16], out[16];
static unsigned ins, outs;

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
    info->PreferredSegment.Value = 1;
    info->Flags.Value = 0;
    info->Flags.CpuVisible = 1;
    info->Flags.Swizzled = swizzled & 1;
}

/* Those of the first allocation, which alone is of 1 MiB. */
static void note(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation != DXGK_OPERATION_TRANSFER || op->Transfer.TransferSize != MIB)
        return;
    CHECK_RULE("PAGE-036", !(op->Transfer.Flags.Swizzle && op->Transfer.Flags.Unswizzle));
    if (op->Transfer.Source.SegmentId == 1)
        out[outs++] = op->Transfer.Flags;
    else
        in[ins++] = op->Transfer.Flags;
    CHECK(ins < 16 && outs < 16);
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = describe;
    p->before[PROBE_BuildPagingBuffer] = note;
}

static void use(unsigned index)
{
    portions_element(&gpu, 0, 0, index + 1, 0);
    CHECK(IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS));
    portions_finish(&gpu);
}

static void touch(void)
{
    D3DKMT_LOCK lock;

    memset(&lock, 0, sizeof(lock));
    lock.hDevice = gpu.device;
    lock.hAllocation = gpu.allocation[0];
    lock.Flags.LockEntire = 1;
    CHECK(IS(D3DKMTLock(&lock), STATUS_SUCCESS));
    *(uint8_t *)lock.pData = 1;
    CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &gpu.allocation[0]}), STATUS_SUCCESS));
}

static bool last_in(bool swizzle)
{
    return ins && in[ins - 1].Swizzle == swizzle && !in[ins - 1].Unswizzle;
}

static bool last_out(bool unswizzle)
{
    return outs && out[outs - 1].Unswizzle == unswizzle && !out[outs - 1].Swizzle;
}

static void body(struct probe *p)
{
    (void)p;
    ins = outs = 0;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, MIB);
    portions_allocate(&gpu, 1, 15 * MIB + 4096); /* room for one of them */
    touch();                                     /* in linear order, before anything else */
    use(0);
    CHECK_RULE("ALLOC-052", ins == 1 && last_in(swizzled));
    touch(); /* evicted for the CPU */
    CHECK_RULE("ALLOC-052", swizzled ? outs == 1 && last_out(true) : outs == 0);
    use(0);
    CHECK_RULE("ALLOC-052", swizzled ? ins == 2 && last_in(true) : ins == 1);
    ins = outs = 0;
    use(1); /* evicted for lack of room: as it is */
    CHECK_RULE("ALLOC-052", outs == 1 && last_out(false));
    use(0);
    CHECK_RULE("ALLOC-052", ins == 1 && last_in(false));
    use(1);
    CHECK_RULE("ALLOC-052", outs == 2 && last_out(false));
    ins = outs = 0;
    touch(); /* outside, and in the order of the GPU: in and out once more */
    CHECK_RULE("ALLOC-052", swizzled ? ins == 1 && last_in(false) && outs == 1 && last_out(true)
                                     : !ins && !outs);
    touch();
    CHECK_RULE("ALLOC-052", outs == swizzled);
    use(0);
    CHECK_RULE("ALLOC-052", last_in(swizzled));
    portions_close(&gpu);
}

TEST(the_order_changes_only_for_the_cpu)
{
    for (swizzled = 0; swizzled < 2; swizzled++) {
        struct probe *p;

        portions_prepare = prepare;
        p = portions_begin(false, false);
        portions_end(p, probe_client_run(p, body));
    }
}

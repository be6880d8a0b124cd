/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: an allocation whose paging has the GPU to itself. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define BYTES              (9u * PORTIONS_MIB)

static struct portions_gpu gpu, other;
static bool synchronous, watched, pinned;
static UINT set = 1;
static HANDLE handle;            /* of the one that is watched */
static ULONG paging[2], work[2]; /* the latest fences, by node */
static bool concerned;           /* the paging that was built last is about it */
static unsigned seen, beside_work, before_done;

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = set;
    info->PreferredSegment.Value = 1;
    info->Flags.Value = 0;
    info->Flags.Capture = pinned;
    if (!watched)
        return;
    info->Flags.SynchronousPaging = synchronous;
    handle = info->hAllocation;
}

static void note_built(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    concerned |= (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.hAllocation == handle) ||
                 (op->Operation == DXGK_OPERATION_FILL && op->Fill.hAllocation == handle);
}

static bool outstanding(const struct probe *p, const ULONG *fence)
{
    return A->reported[0] < fence[0] || A->reported[1] < fence[1];
}

static void note_submitted(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const void *)(uintptr_t)call->arg[1];

    CHECK(args->NodeOrdinal < 2);
    if (args->Flags.Paging) {
        if (concerned && handle) {
            seen++;
            beside_work += outstanding(p, work);
            paging[args->NodeOrdinal] = args->SubmissionFenceId;
        }
        concerned = false;
    } else {
        before_done += outstanding(p, paging);
        work[args->NodeOrdinal] = args->SubmissionFenceId;
    }
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = describe;
    p->before[PROBE_BuildPagingBuffer] = note_built;
    p->before[PROBE_SubmitCommand] = note_submitted;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 2;
}

static void use(struct portions_gpu *g, unsigned index)
{
    portions_element(g, 0, 0, index + 1, 0);
    CHECK(IS(portions_render(g, 64, 1), STATUS_SUCCESS));
}

/* It and another one do not fit together, and both are used by turns; a second device works without a pause. */
static void body(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    portions_open(&other);
    watched = false;
    portions_allocate(&other, 0, 4096);
    portions_allocate(&gpu, 1, BYTES);
    use(&other, 0);
    portions_finish(&other);
    watched = true;
    portions_allocate(&gpu, 0, BYTES);
    watched = false;
    probe_device_packet_ns = 1000000;
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 3; k++)
            use(&other, 0);
        use(&gpu, i % 2);
    }
    portions_finish(&gpu);
    portions_finish(&other);
    probe_device_packet_ns = 1000;
    portions_close(&other);
    portions_close(&gpu);
}

static void run(bool alone)
{
    struct probe *p;

    synchronous = alone;
    handle = NULL;
    concerned = false;
    seen = beside_work = before_done = 0;
    memset(paging, 0, sizeof(paging));
    memset(work, 0, sizeof(work));
    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, body));
}

TEST(its_paging_has_the_gpu_to_itself)
{
    run(true);
    CHECK_RULE("ALLOC-055", seen >= 4 && beside_work == 0);
    CHECK_RULE("ALLOC-055", before_done == 0);
    run(false); /* that of others has not */
    CHECK_RULE("ALLOC-055", seen >= 4 && beside_work + before_done > 0);
}

/* ---- in the background ---- */

/* Whoever moves allocations when there is nothing else to do suspends nobody, so it leaves this one where it is. */
static void idle_body(struct probe *p)
{
    unsigned moved;

    (void)p;
    portions_open(&gpu);
    pinned = true;
    portions_allocate(&gpu, 1, BYTES);
    pinned = false;
    use(&gpu, 1);
    portions_finish(&gpu);
    watched = true;
    set = 3;
    portions_allocate(&gpu, 0, BYTES);
    watched = false;
    set = 1;
    use(&gpu, 0); /* it prefers memory, where there is no room */
    portions_finish(&gpu);
    CHECK(portions.patched[portions.patch_count - 1].list[1].SegmentId == 2);
    moved = seen;
    CHECK(IS(
        D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){
            .hDevice = gpu.device, .phAllocationList = &gpu.allocation[1], .AllocationCount = 1}),
        STATUS_SUCCESS));
    gpu.context.pAllocationList[2].hAllocation = 0;
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("ALLOC-055", seen == moved);
    use(&gpu, 0);
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-055", portions.patched[portions.patch_count - 1].list[1].SegmentId == 2);
    portions_close(&gpu);
}

TEST(it_is_not_moved_in_the_background)
{
    struct probe *p;

    synchronous = true;
    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, idle_body));
}

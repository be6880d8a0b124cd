/* SPDX-License-Identifier: MIT */
/* Paging queues of a client on a started adapter: in which order their operations are done, and their fences. */
#include "port/support/update_client.h"

static struct probe_gpu gpu;

struct queue {
    D3DKMT_HANDLE handle, fence;
    const volatile uint64_t *value;
};

static struct queue make_queue(D3DDDI_PAGINGQUEUE_PRIORITY priority)
{
    D3DKMT_CREATEPAGINGQUEUE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.Priority = priority;
    CHECK(NT_SUCCESS(D3DKMTCreatePagingQueue(&args)));
    return (struct queue){args.hPagingQueue, args.hSyncObject, args.FenceValueCPUVirtualAddress};
}

static D3DKMT_HANDLE allocation;

/* The fence value of the operation. */
static uint64_t map(const struct queue *queue, uint64_t base)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = queue->handle;
    args.BaseAddress = base;
    args.hAllocation = allocation;
    args.SizeInPages = 4;
    CHECK(IS(D3DKMTMapGpuVirtualAddress(&args), STATUS_PENDING));
    return args.PagingFenceValue;
}

/* ---- the order in which operations are built ---- */

static uint64_t seen[64];
static unsigned seen_count;

static void note_update(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE && op->UpdatePageTable.hAllocation &&
        seen_count < 64)
        seen[seen_count++] = op->UpdatePageTable.FirstPteVirtualAddress;
}

static bool stall;

/* The worker is inside the driver while the client queues. */
static void stall_first(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (!stall)
        return;
    stall = false;
    probe_sleep(PROBE_SECOND / 10);
    (void)p;
}

static void note_and_stall(struct probe *p, struct probe_call *call)
{
    note_update(p, call);
    stall_first(p, call);
}

static bool came_before(uint64_t a, uint64_t b)
{
    unsigned at[2] = {64, 64};

    for (unsigned i = 0; i < seen_count; i++) {
        if (seen[i] == a && at[0] == 64)
            at[0] = i;
        if (seen[i] == b && at[1] == 64)
            at[1] = i;
    }
    return at[0] < at[1] && at[1] < 64;
}

static void begin(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 64 * KB, &allocation)));
    p->before[PROBE_BuildPagingBuffer] = note_and_stall;
    seen_count = 0;
    stall = true;
}

static void await(const struct queue *queue, uint64_t value)
{
    for (unsigned i = 0; i < 1000 && *queue->value < value; i++)
        probe_sleep(PROBE_SECOND / 1000);
    CHECK(*queue->value >= value);
}

#define AT(i) ((i)*64 * MB)

static void priority_body(struct probe *p)
{
    struct queue low, normal, high;
    uint64_t last[3];

    begin(p);
    low = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_BELOW_NORMAL);
    normal = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    high = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL);
    (void)map(&low, AT(1)); /* during which the others are queued */
    probe_sleep(PROBE_SECOND / 100);
    last[0] = map(&low, AT(2));
    last[1] = map(&normal, AT(3));
    (void)map(&high, AT(4));
    last[2] = map(&high, AT(5));
    await(&high, last[2]);
    await(&normal, last[1]);
    await(&low, last[0]);
    CHECK_RULE("GPUVA-066", came_before(AT(1), AT(4)) && came_before(AT(5), AT(3)));
    CHECK_RULE("GPUVA-066", came_before(AT(3), AT(2)));
    CHECK_RULE("GPUVA-068", came_before(AT(4), AT(5)));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_queue_of_higher_priority_is_served_first)
{
    update_finish(probe_create(NULL), priority_body);
}

static void order_body(struct probe *p)
{
    struct queue queue;
    uint64_t value[8];

    begin(p);
    queue = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    for (unsigned i = 0; i < 8; i++)
        value[i] = map(&queue, AT(8 - i));
    for (unsigned i = 0; i < 8; i++) {
        CHECK_RULE("GPUVA-068", i == 0 || value[i] == value[i - 1] + 1);
        CHECK_RULE("GPUVA-068", *queue.value < value[i] || i == 0 || *queue.value >= value[i - 1]);
    }
    await(&queue, value[7]);
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("GPUVA-068", came_before(AT(9 - i), AT(8 - i)));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(operations_of_a_queue_complete_in_order)
{
    update_finish(probe_create(NULL), order_body);
}

/* ---- waiting for the fence ---- */

static NTSTATUS wait_on_gpu(D3DKMT_HANDLE fence, uint64_t value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU args;
    UINT64 values[] = {value};

    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.ObjectCount = 1;
    args.ObjectHandleArray = &fence;
    args.MonitoredFenceValueArray = values;
    return D3DKMTWaitForSynchronizationObjectFromGpu(&args);
}

static NTSTATUS wait_on_cpu(D3DKMT_HANDLE fence, uint64_t value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU args;
    UINT64 values[] = {value};

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.ObjectCount = 1;
    args.ObjectHandleArray = &fence;
    args.FenceValueArray = values;
    return D3DKMTWaitForSynchronizationObjectFromCpu(&args);
}

static uint64_t value_at_submission;
static struct queue waited;

static void look_at_fence(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        value_at_submission = *waited.value;
}

static void fence_body(struct probe *p)
{
    uint64_t value;

    begin(p);
    waited = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    p->before[PROBE_SubmitCommandVirtual] = look_at_fence;
    value = map(&waited, AT(1));
    value_at_submission = UINT64_MAX;
    CHECK_RULE("GPUVA-069", IS(wait_on_gpu(waited.fence, value), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    CHECK_RULE("GPUVA-069", *waited.value < value && value_at_submission == UINT64_MAX);
    CHECK_RULE("GPUVA-069",
               IS(wait_on_cpu(waited.fence, value), STATUS_SUCCESS) && *waited.value >= value);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("GPUVA-069", value_at_submission >= value && value_at_submission != UINT64_MAX);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_context_waits_for_the_fence_of_a_paging_queue)
{
    update_finish(probe_create(NULL), fence_body);
}

/* The value is not seen before the GPU has done what it stands for. */
static ULONG completed_with_value;

static void completed_body(struct probe *p)
{
    struct queue queue;
    uint64_t value;

    begin(p);
    stall = false;
    queue = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    probe_device_packet_ns = PROBE_SECOND / 10;
    value = map(&queue, AT(1));
    for (unsigned i = 0; i < 1000 && p->state[0].submitted[1] == p->state[0].reported[1]; i++)
        probe_sleep(PROBE_SECOND / 1000);
    completed_with_value = p->state[0].submitted[1];
    CHECK_RULE("GPUVA-244", *queue.value < value);
    await(&queue, value);
    CHECK_RULE("GPUVA-244", p->state[0].reported[1] >= completed_with_value);
    probe_device_packet_ns = 1000;
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_fence_value_follows_the_work_of_the_gpu)
{
    update_finish(probe_create(NULL), completed_body);
}

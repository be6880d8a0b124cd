/* SPDX-License-Identifier: MIT */
/* System memory in page tables of a started adapter whose accesses go through an IOMMU, and what a submission finds there. */
#include "port/support/update_client.h"

#define BYTES (64 * KB)
#define BASE  (1024 * MB)

/* ---- reach ---- */

static struct {
    uint64_t address[16]; /* as the entries said; of the device */
    unsigned valid, invalid;
    unsigned unreachable; /* while an entry led there, or it was about to go */
    bool submitted;
} seen;

static bool reaches(uint64_t address)
{
    uint8_t byte;

    return probe_device_dma(0, address, &byte, 1, false);
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;

    (void)p;
    if (op->Operation == DXGK_OPERATION_FLUSH_TLB && seen.invalid)
        for (unsigned i = 0; i < 16; i++)
            seen.unreachable += !reaches(seen.address[i]);
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || update->PageTableLevel != 0 ||
        update->FirstPteVirtualAddress > BASE + 15 * PAGE ||
        update->FirstPteVirtualAddress + update->NumPageTableEntries * PAGE <= BASE)
        return;
    for (unsigned i = 0; i < 16; i++) {
        const uint64_t at = (BASE + i * PAGE - update->FirstPteVirtualAddress) / PAGE;
        DXGK_PTE entry;

        if (BASE + i * PAGE < update->FirstPteVirtualAddress || at >= update->NumPageTableEntries)
            continue;
        entry = update->pPageTableEntries[update->Flags.Repeat ? 0 : at];
        if (entry.Valid && entry.Segment == 0) {
            seen.valid++;
            seen.address[i] = entry.PageAddress << 12;
        } else if (seen.address[i]) {
            seen.invalid++;
        }
        if (seen.address[i])
            seen.unreachable += !reaches(seen.address[i]);
    }
}

/* The first submission behind the invalidation has it, and its flush. */
static void note_submission(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (seen.invalid < 16 || seen.submitted)
        return;
    seen.submitted = true;
    for (unsigned i = 0; i < 16; i++)
        seen.unreachable += !reaches(seen.address[i]);
}

static void in_system_memory(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 2;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 2;
    args->pAllocationInfo[0].PreferredSegment.Value = 0;
}

static void map_at(D3DKMT_HANDLE allocation, uint64_t base, UINT64 *fence)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.BaseAddress = base;
    args.hAllocation = allocation;
    args.SizeInPages = BYTES / PAGE;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    *fence = args.PagingFenceValue;
}

static void reach_body(struct probe *p)
{
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE allocation;
    UINT64 fence;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    allocation = update_pool(BYTES);
    map_at(allocation, BASE, &fence);
    map_at(update_pool(BYTES), BASE + MB, &fence); /* which keeps the table */
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-200", seen.valid == 16 && seen.unreachable == 0);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = U->gpu.device;
    destroy.phAllocationList = &allocation;
    destroy.AllocationCount = 1;
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)));
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-200", seen.invalid == 16 && seen.submitted && seen.unreachable == 0);
    for (unsigned i = 0; i < 16; i++)
        CHECK_RULE("GPUVA-200", !reaches(seen.address[i]));
    update_end();
}

TEST(the_device_reaches_a_page_as_long_as_an_entry_leads_there)
{
    static const struct probe_options options[] = {{.port = {.iommu = IOMMU_ISOLATION}},
                                                   {.port = {.iommu = IOMMU_REMAP}}};

    for (size_t i = 0; i < 2; i++) {
        struct probe *p = probe_create(&options[i]);

        memset(&seen, 0, sizeof(seen));
        p->after[PROBE_CreateAllocation] = in_system_memory;
        p->before[PROBE_BuildPagingBuffer] = note_operation;
        p->before[PROBE_SubmitCommandVirtual] = note_submission;
        update_finish(p, reach_body);
        probe_device_forget();
    }
}

/* ---- what a submission finds ---- */

static unsigned submissions, unmapped, unfinished, unannounced;
static ULONG paging_fence;

/* Commands lie at addresses of their own process, whose entries the GPU has; its root was announced. */
static void look_at_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];
    const struct va_shadow_context *context = va_shadow_find(args->hContext);

    if (args->Flags.Paging) {
        paging_fence = args->SubmissionFenceId;
        return;
    }
    submissions++;
    unmapped += !va_shadow_walk(context, args->DmaBufferVirtualAddress).Valid;
    unannounced += context->announced >= call->order;
    unfinished += p->state[0].reported[1] < paging_fence;
}

static void submit_body(struct probe *p)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait;
    D3DKMT_SUBMITCOMMAND submit;
    D3DKMT_HANDLE allocation;
    UINT64 fence[1];

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    allocation = update_pool(BYTES);
    for (unsigned i = 0; i < 4; i++) {
        map_at(allocation, BASE + i * 2 * MB, fence);
        memset(&wait, 0, sizeof(wait));
        wait.hContext = U->gpu.context;
        wait.ObjectCount = 1;
        wait.ObjectHandleArray = &U->gpu.queue_fence;
        wait.MonitoredFenceValueArray = fence;
        CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait)));
        memset(&submit, 0, sizeof(submit));
        submit.Commands = BASE + i * 2 * MB + PAGE;
        submit.CommandLength = 64;
        submit.BroadcastContextCount = 1;
        submit.BroadcastContext[0] = U->gpu.context;
        CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&submit)));
    }
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&U->gpu)));
    update_end();
}

/* Two processes in turn, each at the same addresses. */
TEST(commands_are_mapped_in_their_process_when_they_are_submitted)
{
    struct probe *p = update_create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
    struct probe_client *client[2];

    submissions = unmapped = unfinished = unannounced = 0;
    p->before[PROBE_SubmitCommandVirtual] = look_at_submission;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_device_packet_ns = PROBE_SECOND / 1000;
    for (unsigned i = 0; i < 2; i++)
        client[i] = probe_client_run(p, submit_body);
    CHECK_RULE("GPUVA-245", submissions == 8 && unmapped == 0);
    CHECK_RULE("GPUVA-245", unannounced == 0 && unfinished == 0);
    probe_device_packet_ns = 1000;
    for (unsigned i = 0; i < 2; i++)
        probe_client_end(p, client[i]);
    probe_clients_end(p);
    probe_destroy(p);
}

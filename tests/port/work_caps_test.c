/* SPDX-License-Identifier: MIT */
/* Caps of page tables, nodes and fences: what the driver and its clients see of the host's work when they are set, and when not. */
#include "port/support/contrary.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define PAGES              16u

static struct probe_gpu gpu;
static struct {
    unsigned updates, busy, suspended, invalidated, flushed, patched, submitted[CONTRARY_NODES];
} seen;

static void note_paging(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;
    const struct probe_adapter *a = &p->state[0];

    if (op->Operation == DXGK_OPERATION_FLUSH_TLB &&
        op->FlushTlb.hProcess != contrary_seen.system_process)
        seen.flushed++;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE ||
        update->hProcess == contrary_seen.system_process)
        return;
    seen.updates++;
    seen.busy += a->reported[CONTRARY_WORK] != a->submitted[CONTRARY_WORK];
    if (update->PageTableLevel == 0 && !update->Flags.InitialUpdate &&
        !update->pPageTableEntries[0].Valid)
        seen.invalidated += update->NumPageTableEntries;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->NodeOrdinal < CONTRARY_NODES)
        seen.submitted[args->NodeOrdinal]++;
}

static void begin(struct probe *p)
{
    memset(&seen, 0, sizeof(seen));
    p->after[PROBE_BuildPagingBuffer] = note_paging;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static D3DKMT_HANDLE make(void)
{
    D3DKMT_HANDLE allocation = 0;

    contrary_next.set = CONTRARY_SET(CONTRARY_VRAM);
    contrary_next.physical = false;
    CHECK(IS(probe_gpu_allocate(&gpu, PAGES * 4096, &allocation), STATUS_SUCCESS));
    return allocation;
}

static uint64_t map(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = {
        .hPagingQueue = gpu.queue, .hAllocation = allocation, .SizeInPages = PAGES};
    NTSTATUS status = D3DKMTMapGpuVirtualAddress(&args);

    CHECK(IS(status, STATUS_PENDING) || IS(status, STATUS_SUCCESS));
    probe_sleep(20000000); /* the entries are written on the paging queue */
    return args.VirtualAddress;
}

static void unmap(uint64_t va)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args = {
        .hAdapter = gpu.adapter, .BaseAddress = va, .Size = PAGES * 4096};

    CHECK(IS(D3DKMTFreeGpuVirtualAddress(&args), STATUS_SUCCESS));
    probe_sleep(20000000);
}

/* ---- updates while the process works ---- */

/* Packets of a millisecond, and a mapping in the middle of the first of them. */
static void map_while_busy(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    begin(p);
    allocation = make();
    probe_device_packet_ns = 1000000;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(100000);
    CHECK(p->state[0].reported[CONTRARY_WORK] != p->state[0].submitted[CONTRARY_WORK]);
    memset(&seen, 0, sizeof(seen));
    (void)map(allocation);
    probe_device_packet_ns = 1000;
    CHECK(seen.updates > 0);
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
}

static void map_when_idle(struct probe *p)
{
    map_while_busy(p);
    CHECK_RULE("CAPS-089/a", seen.busy == 0);
    CHECK_RULE("CAPS-089/b", IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
                                 IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    end();
}

static void map_at_once(struct probe *p)
{
    map_while_busy(p);
    CHECK_RULE("CAPS-089/c", seen.busy > 0);
    end();
}

TEST(updates_wait_for_an_idle_address_space_if_the_driver_says_so)
{
    struct probe *p = contrary_create(NULL);

    p->mmu.PageTableUpdateRequireAddressSpaceIdle = 1;
    contrary_run(p, map_when_idle);
    p = contrary_create(NULL);
    p->mmu.PageTableUpdateRequireAddressSpaceIdle = 0;
    contrary_run(p, map_at_once);
}

/* ---- what a mapping and its end write ---- */

static void map_and_unmap(struct probe *p)
{
    uint64_t va;

    begin(p);
    va = map(make());
    CHECK_RULE("CAPS-090/a", (seen.flushed == 0) == p->mmu.InvalidTlbEntriesNotCached);
    memset(&seen, 0, sizeof(seen));
    unmap(va);
    CHECK_RULE("CAPS-090/b", seen.flushed == 1);
    CHECK_RULE("CAPS-089/d", seen.invalidated == (p->mmu.ExplicitPageTableInvalidation
                                                      ? 1u << p->level[0].PageTableIndexBitCount
                                                      : 0));
    end();
}

TEST(tables_are_invalidated_and_flushed_as_the_driver_says)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = contrary_create(NULL);

        p->mmu.ExplicitPageTableInvalidation = i == 1;
        p->mmu.InvalidTlbEntriesNotCached = i == 0;
        contrary_run(p, map_and_unmap);
    }
}

/* ---- nodes ---- */

static NTSTATUS make_context(UINT node, bool virtual)
{
    D3DKMT_CREATECONTEXTVIRTUAL args = {.hDevice = gpu.device, .NodeOrdinal = node};
    D3DKMT_CREATECONTEXT physical = {
        .hDevice = gpu.device, .NodeOrdinal = node, .EngineAffinity = 1};

    return virtual ? D3DKMTCreateContextVirtual(&args) : D3DKMTCreateContext(&physical);
}

TEST_WITH(contrary, a_node_takes_contexts_of_its_kind)
{
    begin(p);
    for (UINT i = 0; i < CONTRARY_NODES; i++) {
        bool virtual = p->node[i].GpuMmuSupported;

        CHECK_RULE("CAPS-102/a", IS(make_context(i, virtual), STATUS_SUCCESS));
        CHECK_RULE("CAPS-102/b", IS(make_context(i, !virtual), STATUS_INVALID_PARAMETER));
        CHECK_RULE("KMT-145", IS(make_context(i, !virtual), STATUS_INVALID_PARAMETER));
    }
    end();
}

/* ---- fences of a GPU that updates 32 bits at once ---- */

static D3DKMT_HANDLE make_fence(UINT64 initial, const volatile UINT64 **value)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args = {.hDevice = gpu.device};

    args.Info.Type = D3DDDI_MONITORED_FENCE;
    args.Info.MonitoredFence.InitialFenceValue = initial;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&args), STATUS_SUCCESS));
    *value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    return args.hSyncObject;
}

static NTSTATUS signal_gpu(D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU args = {.hContext = gpu.context,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &fence,
                                                      .MonitoredFenceValueArray = &value};

    return D3DKMTSignalSynchronizationObjectFromGpu(&args);
}

static NTSTATUS wait_gpu(D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU args = {.hContext = gpu.context,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &fence,
                                                       .MonitoredFenceValueArray = &value};

    return D3DKMTWaitForSynchronizationObjectFromGpu(&args);
}

static NTSTATUS signal_cpu(D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args = {.hDevice = gpu.device,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &fence,
                                                      .FenceValueArray = &value};

    return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static NTSTATUS wait_cpu(D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU args = {.hDevice = gpu.device,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &fence,
                                                       .FenceValueArray = &value};

    return D3DKMTWaitForSynchronizationObjectFromCpu(&args);
}

static void cross_32_bits(struct probe *p)
{
    static const UINT64 steps[] = {0x7FFFFFFF,  0xC0000000,  0xFFFFFFFF,  0x100000000,
                                   0x100000001, 0x17FFFFFFF, 0x1FFFFFFF0, 0x200000010};
    const volatile UINT64 *value;
    D3DKMT_HANDLE fence;

    begin(p);
    fence = make_fence(0x7FFFFFF0, &value);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
        CHECK(IS(signal_gpu(fence, steps[i]), STATUS_SUCCESS));
        CHECK_RULE("CAPS-051/a", IS(wait_cpu(fence, steps[i]), STATUS_SUCCESS));
        CHECK_RULE("CAPS-051/a", *value == steps[i]);
    }
    end();
}

/* What lies further away than half the range cannot be told from the past. */
static void stay_within_half(struct probe *p)
{
    const bool narrow = p->caps.SchedulingCaps.No64BitAtomics;
    const UINT64 near = 0x10 + UINT32_MAX / 2, far = near + 1;
    const NTSTATUS refused = narrow ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
    const volatile UINT64 *value;
    D3DKMT_HANDLE fence;

    begin(p);
    fence = make_fence(0x10, &value);
    CHECK_RULE("CAPS-051/b", IS(wait_gpu(fence, far), refused));
    CHECK_RULE("CAPS-051/c", IS(signal_cpu(fence, far), refused));
    CHECK_RULE("CAPS-051/c", *value == (narrow ? 0x10 : far));
    if (narrow) {
        CHECK_RULE("CAPS-051/d", IS(signal_gpu(fence, far), refused) && *value == 0x10);
        CHECK_RULE("CAPS-051/b", IS(wait_gpu(fence, near), STATUS_SUCCESS));
        CHECK_RULE("CAPS-051/c", IS(signal_cpu(fence, near), STATUS_SUCCESS) && *value == near);
    }
    end();
}

TEST(fences_of_32_bits_are_widened)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = contrary_create(NULL);

        p->caps.SchedulingCaps.No64BitAtomics = i == 1;
        contrary_run(p, cross_32_bits);
        p = contrary_create(NULL);
        p->caps.SchedulingCaps.No64BitAtomics = i == 1;
        contrary_run(p, stay_within_half);
    }
}

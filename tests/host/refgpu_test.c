/* SPDX-License-Identifier: MIT */
/* The whole way: the reference driver on the reference device, from the client's first call to the shutdown, in each IOMMU mode. */
#include "host/support/refgpu_client.h"

#define BYTES 65536u

static void on_each_iommu(void (*program)(struct client *c))
{
    static const enum dxgk_iommu modes[] = {DXGK_IOMMU_OFF, DXGK_IOMMU_ISOLATION, DXGK_IOMMU_REMAP};

    for (unsigned i = 0; i < 3; i++) {
        struct machine m;

        machine_begin(&m, modes[i]);
        machine_run(&m, program);
        machine_end(&m);
    }
}

#define RIG_ARGUMENT_each_iommu     struct client *c
#define RIG_RUN_each_iommu(program) on_each_iommu(program)

TEST_WITH(each_iommu, adapter_starts_and_stops)
{
    (void)c;
}

TEST_WITH(each_iommu, device_and_contexts_come_and_go)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* Node 1: copy through GPU virtual addresses, from system memory to video memory and back. */
TEST_WITH(each_iommu, copy_engine_moves_bytes)
{
    struct gpu g;
    struct memory commands, from, middle, to;
    struct refgpu_builder b;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    uint32_t *words;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &from) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &middle) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &to) ==
               STATUS_SUCCESS);
    words = from.cpu;
    for (uint32_t i = 0; i < BYTES / 4; i++)
        words[i] = i * 2654435761u;
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_copy(&b, middle.va, from.va, BYTES);
    refgpu_copy(&b, to.va, middle.va, BYTES);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_signal(g.copy, fence.hSyncObject, 7) == STATUS_SUCCESS);
    TRY(c, gpu_wait_cpu(&g, fence.hSyncObject, 7) == STATUS_SUCCESS);
    TRY(c, *(volatile UINT64 *)fence.Info.MonitoredFence.FenceValueCPUVirtualAddress == 7);
    TRY(c, memcmp(to.cpu, from.cpu, BYTES) == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* Node 0: commands with references, translated and patched by the driver. */
TEST_WITH(each_iommu, render_engine_fills)
{
    struct gpu g;
    struct memory target;
    struct refgpu_builder b;
    const volatile uint32_t *words;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &target) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, target.handle) == STATUS_SUCCESS);
    refgpu_builder_init(&b, g.lists.pCommandBuffer, g.lists.CommandBufferSize);
    refgpu_fill(&b, REFGPU_REF(0, 4096), 8192, 0xABCD1234u);
    g.lists.pAllocationList[0].hAllocation = target.handle;
    g.lists.pAllocationList[0].Value = 0;
    g.lists.pAllocationList[0].WriteOperation = 1;
    TRY(c, gpu_render(&g, refgpu_builder_bytes(&b), 1) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &target) == STATUS_SUCCESS);
    words = target.cpu;
    TRY(c, words[1023] == 0 && words[1024] == 0xABCD1234u && words[3071] == 0xABCD1234u &&
               words[3072] == 0);
    TRY(c, gpu_unlock(&g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(&g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* What a client leaves is taken down at the end of its process. */
TEST_WITH(each_iommu, process_end_cleans_up)
{
    struct gpu g;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
}

/* ---- many fences ---- */

#define FENCES 1200u /* more than two pages of them */

static NTSTATUS destroy_fence(D3DKMT_HANDLE fence)
{
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT destroy = {fence};

    return D3DKMTDestroySynchronizationObject(&destroy);
}

static NTSTATUS open_gate(const struct gpu *g, D3DKMT_HANDLE gate, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal;

    memset(&signal, 0, sizeof(signal));
    signal.hDevice = g->device;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &gate;
    signal.FenceValueArray = &value;
    return D3DKMTSignalSynchronizationObjectFromCpu(&signal);
}

/* Fences are destroyed while signals to them wait in a queue. So each goes when the scheduler has carried out its signal, and
 * the last of a page takes the page with it, which needs a paging operation, which the scheduler has to submit. */
TEST_WITH(each_iommu, fences_may_go_before_the_work_that_signals_them)
{
    static const unsigned rounds = 3;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 gate, last, fence[2];
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &gate) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &last) == STATUS_SUCCESS);
    for (unsigned round = 1; round <= rounds; round++) {
        D3DKMT_HANDLE handle[FENCES];

        TRY(c, gpu_wait(g.copy, gate.hSyncObject, round) == STATUS_SUCCESS);
        for (unsigned i = 0; i < FENCES; i++) {
            TRY(c, gpu_create_fence(&g, &fence[0]) == STATUS_SUCCESS);
            handle[i] = fence[0].hSyncObject;
            TRY(c, gpu_signal(g.copy, handle[i], 1) == STATUS_SUCCESS);
        }
        TRY(c, gpu_signal(g.copy, last.hSyncObject, round) == STATUS_SUCCESS);
        for (unsigned i = 0; i < FENCES; i++)
            TRY(c, destroy_fence(handle[i]) == STATUS_SUCCESS);
        TRY(c, open_gate(&g, gate.hSyncObject, round) == STATUS_SUCCESS);
        TRY(c, gpu_wait_cpu(&g, last.hSyncObject, round) == STATUS_SUCCESS);
        /* what is made now may stand where those stood */
        TRY(c, gpu_create_fence(&g, &fence[1]) == STATUS_SUCCESS);
        TRY(c, *(volatile UINT64 *)fence[1].Info.MonitoredFence.FenceValueCPUVirtualAddress == 0);
        TRY(c, gpu_signal(g.copy, fence[1].hSyncObject, 7) == STATUS_SUCCESS);
        TRY(c, gpu_wait_cpu(&g, fence[1].hSyncObject, 7) == STATUS_SUCCESS);
        TRY(c, destroy_fence(fence[1].hSyncObject) == STATUS_SUCCESS);
    }
    /* and once with the device going away under it all */
    TRY(c, gpu_wait(g.copy, gate.hSyncObject, rounds + 1) == STATUS_SUCCESS);
    for (unsigned i = 0; i < FENCES; i++) {
        TRY(c, gpu_create_fence(&g, &fence[0]) == STATUS_SUCCESS);
        TRY(c, gpu_signal(g.copy, fence[0].hSyncObject, 1) == STATUS_SUCCESS);
        TRY(c, destroy_fence(fence[0].hSyncObject) == STATUS_SUCCESS);
    }
    TRY(c, open_gate(&g, gate.hSyncObject, rounds + 1) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

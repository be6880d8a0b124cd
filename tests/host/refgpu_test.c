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

static void nothing(struct client *c)
{
    (void)c;
}

static void adapter_starts_and_stops(void **state)
{
    (void)state;
    on_each_iommu(nothing);
}

static void make_device(struct client *c)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static void device_and_contexts_come_and_go(void **state)
{
    (void)state;
    on_each_iommu(make_device);
}

/* Node 1: copy through GPU virtual addresses, from system memory to video memory and back. */
static void copy_there_and_back(struct client *c)
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

static void copy_engine_moves_bytes(void **state)
{
    (void)state;
    on_each_iommu(copy_there_and_back);
}

/* Node 0: commands with references, translated and patched by the driver. */
static void fill_by_render(struct client *c)
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

static void render_engine_fills(void **state)
{
    (void)state;
    on_each_iommu(fill_by_render);
}

/* What a client leaves is taken down at the end of its process. */
static void leave_everything(struct client *c)
{
    struct gpu g;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
}

static void process_end_cleans_up(void **state)
{
    (void)state;
    on_each_iommu(leave_everything);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapter_starts_and_stops),
        cmocka_unit_test(device_and_contexts_come_and_go),
        cmocka_unit_test(copy_engine_moves_bytes),
        cmocka_unit_test(render_engine_fills),
        cmocka_unit_test(process_end_cleans_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

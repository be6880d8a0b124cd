/* SPDX-License-Identifier: MIT */
/* NullRendering: the reference driver does not execute the buffer, and its fence completes. */
#include "host/support/refgpu_client.h"

#define BYTES 65536u

static NTSTATUS fill(struct gpu *g, const struct memory *target, uint32_t value, bool null)
{
    struct refgpu_builder b;
    D3DKMT_RENDER render;
    NTSTATUS status;

    refgpu_builder_init(&b, g->lists.pCommandBuffer, g->lists.CommandBufferSize);
    refgpu_fill(&b, REFGPU_REF(0, 0), BYTES, value);
    g->lists.pAllocationList[0].hAllocation = target->handle;
    g->lists.pAllocationList[0].Value = 0;
    g->lists.pAllocationList[0].WriteOperation = 1;
    memset(&render, 0, sizeof(render));
    render.hContext = g->render;
    render.CommandLength = refgpu_builder_bytes(&b);
    render.AllocationCount = 1;
    render.Flags.NullRendering = null;
    status = D3DKMTRender(&render);
    if (!NT_SUCCESS(status))
        return status;
    g->lists.pCommandBuffer = render.pNewCommandBuffer;
    g->lists.CommandBufferSize = render.NewCommandBufferSize;
    g->lists.pAllocationList = render.pNewAllocationList;
    return gpu_wait_idle(g);
}

static uint32_t word(struct gpu *g, struct memory *m)
{
    uint32_t value;

    if (gpu_lock(g, m) != STATUS_SUCCESS)
        return 0;
    value = ((const volatile uint32_t *)m->cpu)[BYTES / 4 - 1];
    return gpu_unlock(g, m) == STATUS_SUCCESS ? value : 0;
}

static void render_nothing(struct client *c)
{
    struct gpu g;
    struct memory target;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &target) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, target.handle) == STATUS_SUCCESS);
    TRY(c, fill(&g, &target, 0x11111111, false) == STATUS_SUCCESS);
    TRY(c, word(&g, &target) == 0x11111111);
    SHOW(c, "SUBMIT-036", fill(&g, &target, 0x22222222, true) == STATUS_SUCCESS);
    SHOW(c, "SUBMIT-036", word(&g, &target) == 0x11111111);
    TRY(c, fill(&g, &target, 0x33333333, false) == STATUS_SUCCESS);
    SHOW(c, "SUBMIT-036", word(&g, &target) == 0x33333333);
    TRY(c, gpu_destroy_memory(&g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_buffer_that_renders_nothing_ends_all_the_same)
{
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run(&m, render_nothing);
    machine_end(&m);
}

/* SPDX-License-Identifier: MIT */
/* The test of pre-patched buffers with the reference driver, which writes each address that DxgkDdiRender is told. */
#include "host/support/refgpu_client.h"

#define BYTES 65536u

static bool fill(struct gpu *g, const struct memory *target, uint64_t offset, uint32_t value)
{
    struct refgpu_builder b;

    refgpu_builder_init(&b, g->lists.pCommandBuffer, g->lists.CommandBufferSize);
    refgpu_fill(&b, REFGPU_REF(0, offset), 4096, value);
    g->lists.pAllocationList[0].hAllocation = target->handle;
    g->lists.pAllocationList[0].Value = 0;
    g->lists.pAllocationList[0].WriteOperation = 1;
    return gpu_render(g, refgpu_builder_bytes(&b), 1) == STATUS_SUCCESS &&
           gpu_wait_idle(g) == STATUS_SUCCESS;
}

static void fill_twice(struct client *c)
{
    struct gpu g;
    struct memory target;
    const volatile uint32_t *words;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &target) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, target.handle) == STATUS_SUCCESS);
    TRY(c, fill(&g, &target, 4096, 0xABCD1234u) && fill(&g, &target, 12288, 0x55AA55AAu));
    TRY(c, gpu_lock(&g, &target) == STATUS_SUCCESS);
    words = target.cpu;
    SHOW(c, "PATCH-142",
         words[1023] == 0 && words[1024] == 0xABCD1234u && words[2047] == 0xABCD1234u &&
             words[2048] == 0 && words[3072] == 0x55AA55AAu && words[4095] == 0x55AA55AAu &&
             words[4096] == 0);
    TRY(c, gpu_unlock(&g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(&g, &target) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(the_reference_driver_prepatches)
{
    for (unsigned i = 0; i < 2; i++) {
        struct dxgk_machine_config config;
        struct dxgk_statistics statistics = {.size = sizeof(statistics)};
        struct machine m;

        machine_config(&m, &config);
        config.test_prepatching = i != 0;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        machine_run(&m, fill_twice);
        dxgk_machine_statistics(m.dxgk, &statistics);
        CHECK_RULE("PATCH-141", statistics.patches == (i ? 0 : 4)); /* two halves of an address */
        machine_end(&m);
    }
}

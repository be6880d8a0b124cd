/* SPDX-License-Identifier: MIT */
/* The reference driver signals the paging fence, in both ways, on each IOMMU: each value is there when its buffer is done. */
#include "host/support/refgpu_client.h"

#include <unistd.h>

#define BYTES ((UINT64)3 << 20)

static void move(struct client *c)
{
    struct gpu g;
    struct memory one, two;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, 0, REFGPU_IN_VRAM, &one) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &two) ==
               STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

static void choose(struct machine *m, bool entry)
{
    char path[] = "/tmp/dxgkhost-fence-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\refgpu]\n");
    fprintf(file, "\"SignalMonitoredFence\"=4:%02x000000\n", entry);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

static struct dxgk_statistics run(enum dxgk_iommu iommu, bool wanted, bool entry)
{
    struct dxgk_machine_config config;
    struct dxgk_statistics statistics = {.size = sizeof(statistics)};
    struct dxgk_violation v;
    struct machine m;

    machine_config(&m, &config);
    config.iommu = iommu;
    config.driver_fences = wanted;
    config.check_page_tables = true;
    machine_create(&m, &config);
    choose(&m, entry);
    machine_add_refgpu(&m);
    machine_run(&m, move);
    dxgk_machine_statistics(m.dxgk, &statistics);
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++)
        CHECK(strncmp(v.rule, "GPUVA", 5) != 0);
    machine_end(&m);
    return statistics;
}

TEST(the_reference_driver_signals_the_paging_fence)
{
    static const enum dxgk_iommu modes[] = {DXGK_IOMMU_OFF, DXGK_IOMMU_ISOLATION, DXGK_IOMMU_REMAP};

    for (unsigned i = 0; i < 3; i++) {
        const struct dxgk_statistics without = run(modes[i], false, false),
                                     operation = run(modes[i], true, false),
                                     entry = run(modes[i], true, true);

        CHECK_RULE("GPUVA-242/a", operation.ddi_calls > without.ddi_calls + 3);
        CHECK_RULE("PAGE-078", entry.ddi_calls == operation.ddi_calls);
    }
}

/* SPDX-License-Identifier: MIT */
/* dxgk_machine_config.windows: as Windows was seen to choose, or as this host decided before. */
#include "host/support/refgpu_client.h"
#include "port/record/adapter_record.h"
#include "port/record/adapter_info.h"
#include "port/port.h"
#include "vidsch/scheduler.h"

static bool documented;

static void look(struct client *c)
{
    const struct vidsch_policy *policy;
    struct memory a = {0}, b = {0};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &a) == STATUS_SUCCESS &&
               gpu_make_resident(&g, a.handle) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &b) == STATUS_SUCCESS &&
               gpu_make_resident(&g, b.handle) == STATUS_SUCCESS);
    TRY(c, gpu_map(&g, &a) == STATUS_SUCCESS && gpu_map(&g, &b) == STATUS_SUCCESS);
    if (documented)
        SHOW(c, "GPUVA-062/d", b.va - a.va == 65536);
    else
        SHOW(c, "GPUVA-062/a", b.va - a.va == 4096);
    policy = &port_adapter_first(port_current())->managers.vidsch->config.policy;
    TRY(c, policy->shared_ids == documented && policy->patient == documented &&
               policy->round_robin == documented);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(two_readings)
{
    for (int i = 0; i < 2; i++) {
        struct dxgk_machine_config config;
        struct machine m;

        documented = i == 1;
        machine_config(&m, &config);
        CHECK(config.windows == DXGK_WINDOWS_OBSERVED);
        if (documented)
            config.windows = DXGK_WINDOWS_DOCUMENTED;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        machine_run(&m, look);
        machine_end(&m);
    }
}

TEST(there_is_no_third)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.windows = (enum dxgk_windows)2;
    CHECK(!dxgk_machine_create(&config, m.error, sizeof(m.error)));
    CHECK(strstr(m.error, "dxgk_windows"));
}

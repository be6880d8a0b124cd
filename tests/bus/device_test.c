/* SPDX-License-Identifier: MIT */
/* Devices come and go: what the bus refuses, and what it leaves behind. */
#include "bus/device.h"
#include "bus/reset.h"
#include "sim/machine.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"
#include "util/address.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refused_with(const char *part)
{
    assert_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    if (!strstr(rig.error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", rig.error.text, part);
    assert_null(strchr(rig.error.text, '\n'));
    rig_default_description();
}

TEST_WITH(bus, bad_models_are_refused_with_a_reason)
{
    static const char *const option[] = {"vram=1"};
    const struct dxgk_device_config config = {1, option};
    struct dxgk_device_model broken = rig_model;

    rig.refusal = "vram is too small";
    refused_with("vram is too small");
    rig.description.bar[0].bytes = 5000;
    refused_with("power of two");
    rig.description.bar[0].bytes = 2048;
    refused_with("power of two");
    for (uint64_t ports = 2; ports <= 512; ports = ports == 2 ? 12 : ports == 12 ? 512 : 1024) {
        rig.description.bar[5] = (struct dxgk_device_bar){.kind = DXGK_BAR_PORTS, .bytes = ports};
        refused_with("from 4 to 256");
    }
    rig.description.messages = 0;
    refused_with("messages");
    rig.description.messages = 33;
    refused_with("messages");
    rig.description.dma_bits = 31;
    refused_with("DMA");
    rig.refuse_create = true;
    refused_with("out of memory");
    broken.api_version = 2;
    assert_null(bus_device_add(rig.bus, &broken, NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "version"));
    broken = rig_model;
    broken.timer = NULL;
    assert_null(bus_device_add(rig.bus, &broken, NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "timer"));
    assert_non_null(bus_device_add(rig.bus, &rig_model, &config, &rig.error));
    assert_int_equal(rig.options, 1);
}

TEST_WITH(bus, bad_files_are_refused_with_a_reason)
{
    assert_null(bus_device_load(rig.bus, "/nowhere/gpu.so", NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "/nowhere/gpu.so"));
    assert_null(strchr(rig.error.text, '\n'));
    assert_null(bus_device_load(rig.bus, "gpu.so", NULL, &rig.error));
    assert_true(rig.error.text[0] != '\0');
    assert_null(bus_device_load(rig.bus, "/proc/self/cmdline", NULL, &rig.error));
    assert_true(rig.error.text[0] != '\0');
}

/* The reference GPU, if it has been built. */
TEST_WITH(bus, a_file_can_be_loaded_twice)
{
    const char *build = getenv("DXGK_BUILD");
    char path[1024];
    struct bus_device *a, *b;
    FILE *file;

    snprintf(path, sizeof(path), "%s/devices/refgpu.so", build ? build : ".");
    file = fopen(path, "rb");
    if (!file)
        skip();
    fclose(file);
    a = bus_device_load(rig.bus, path, NULL, &rig.error);
    b = bus_device_load(rig.bus, path, NULL, &rig.error);
    assert_true(a && b && a != b);
    assert_true(bus_device_bar(a, 0).value != bus_device_bar(b, 0).value);
    bus_device_remove(a);
    bus_device_reset(b);
}

TEST_WITH(bus, each_internal_failure_is_survived)
{
    uint64_t live = rig.machine->heap.live_blocks;

    for (uint64_t n = 1;; n++) {
        struct bus_device *device;

        rig.machine->heap.fail_at = rig.machine->heap.requests + n;
        device = bus_device_add(rig.bus, &rig_model, NULL, &rig.error);
        rig.machine->heap.fail_at = 0;
        if (device) {
            assert_true(n > 2);
            return;
        }
        assert_int_equal(rig.machine->heap.live_blocks, live);
    }
}

/* SPDX-License-Identifier: MIT */
/* What the bus refuses of a model and of its description, both sides of each limit; and models that are not called any more. */
#include "bus/bus.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/device_record.h"
#include "bus/memory.h"
#include "bus/null_device.h"
#include "bus/ports.h"
#include "bus/reset.h"
#include "bus/window.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void says(const char *text)
{
    if (strcmp(rig.error.text, text) != 0)
        fail_msg("\"%s\" is not \"%s\"", rig.error.text, text);
}

static void refused(const char *text)
{
    assert_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    says(text);
    rig_default_description();
}

static void accepted(void)
{
    bus_device_remove(rig_add());
    rig_default_description();
}

/* ---- the model ---- */

TEST_WITH(bus, a_model_has_all_its_functions)
{
    struct dxgk_device_model model = rig_model;

    rig.error.no_memory = false;
    model.name = NULL;
    assert_null(bus_device_add(rig.bus, &model, NULL, &rig.error));
    says("device model has no name");
#define WITHOUT(function)                                           \
    model = rig_model;                                              \
    model.function = NULL;                                          \
    assert_null(bus_device_add(rig.bus, &model, NULL, &rig.error)); \
    says("device model probe has no function " #function)
    WITHOUT(configure);
    WITHOUT(create);
    WITHOUT(destroy);
    WITHOUT(reset);
    WITHOUT(read);
    WITHOUT(write);
    WITHOUT(timer);
    model = rig_model;
    model.api_version++;
    assert_null(bus_device_add(rig.bus, &model, NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "device model probe has interface version "));
    assert_false(rig.error.no_memory);
}

static bool refuse_silently(const struct dxgk_device_config *config,
                            struct dxgk_device_description *out, const char **error)
{
    (void)config;
    (void)out;
    (void)error;
    return false;
}

TEST_WITH(bus, a_refusal_needs_no_reason)
{
    struct dxgk_device_model model = rig_model;

    model.configure = refuse_silently;
    assert_null(bus_device_add(rig.bus, &model, NULL, &rig.error));
    says("probe: the options are refused");
    rig.refuse_create = true;
    refused("probe: out of memory in the device model");
    assert_true(rig.error.no_memory);
}

/* ---- the description ---- */

TEST_WITH(bus, limits_of_bars)
{
    rig.description.bar[1].kind = (enum dxgk_bar_kind)77;
    rig.description.bar[1].bytes = 4096;
    refused("probe: BAR 1 is of unknown kind 77");
    rig.description.bar[0].bytes = 2048;
    refused("probe: BAR 0 has 0x800 bytes, not a power of two of at least 4096");
    rig.description.bar[0].bytes = 4096;
    accepted();
    rig.description.bar[2].bytes = 3 * 4096;
    refused("probe: BAR 2 has 0x3000 bytes, not a power of two of at least 4096");
    rig.description.bar[0].bytes = (uint64_t)1 << 52;
    refused("probe: BAR 0 has 0x10000000000000 bytes, not a power of two of at least 4096");
    for (uint64_t ports = 4; ports <= 256; ports *= 2) {
        rig.description.bar[5] = (struct dxgk_device_bar){DXGK_BAR_PORTS, ports};
        accepted();
    }
    rig.description.bar[5] = (struct dxgk_device_bar){DXGK_BAR_PORTS, 2};
    refused("probe: BAR 5 has 0x2 ports, not a power of two from 4 to 256");
    rig.description.bar[0].bytes = (uint64_t)1 << 51; /* all that is left */
    rig.description.bar[2].kind = rig.description.bar[4].kind = DXGK_BAR_NONE;
    accepted();
}

TEST_WITH(bus, limits_of_messages_and_widths)
{
    rig.description.messages = 1;
    accepted();
    rig.description.messages = 32;
    accepted();
    rig.description.messages = 33;
    refused("probe: 33 interrupt messages, 1 to 32 are possible");
    rig.description.dma_bits = 32;
    accepted();
    rig.description.dma_bits = 52;
    accepted();
    rig.description.dma_bits = 53;
    refused("probe: 53 DMA address bits, 32 to 52 are possible");
    rig.description.dma_bits = 31;
    refused("probe: 31 DMA address bits, 32 to 52 are possible");
}

/* Two halves of the address space are too much, with RAM below them; what was refused takes no addresses. */
TEST_WITH(bus, bus_addresses_come_to_an_end)
{
    struct bus_device *device;
    uint64_t next;

    rig.description.bar[2].bytes = rig.description.bar[4].bytes = 65536;
    device = rig_add();
    next = bus_device_bar(device, 4).value + 65536;
    rig.description.bar[0].bytes = (uint64_t)1 << 51;
    rig.description.bar[2].bytes = (uint64_t)1 << 51;
    assert_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    says("probe: no bus address left for BAR 2");
    rig.description.bar[0].bytes = 65536;
    rig.description.bar[2].bytes = 65536;
    device = rig_add();
    assert_int_equal(bus_device_bar(device, 0).value, next);
    rig_default_description();
}

/* ---- files ---- */

TEST_WITH(bus, files_that_are_no_models)
{
    char path[5000], here[64];
    Dl_info libc;

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    assert_null(bus_device_load(rig.bus, path, NULL, &rig.error)); /* no room for "./" */
    assert_non_null(strstr(rig.error.text, "cannot load device model "));
    assert_true(dladdr((void *)(uintptr_t)strtoul, &libc) != 0);
    assert_null(bus_device_load(rig.bus, libc.dli_fname, NULL, &rig.error));
    assert_non_null(
        strstr(rig.error.text, " is no device model: it exports no dxgk_device_get_model"));
    snprintf(here, sizeof(here), "no-such-model.so");
    assert_null(bus_device_load(rig.bus, here, NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "./no-such-model.so"));
}

TEST_WITH(bus, nothing_is_removed_twice)
{
    bus_device_remove(NULL);
    bus_destroy(NULL);
    assert_ptr_equal(bus_current(), rig.bus);
}

/* ---- a model that hangs is left alone ---- */

TEST_WITH(bus, a_model_that_hangs_is_not_called)
{
    struct bus_device *device;
    uint8_t *r;
    uint64_t value = 0;
    uint32_t word = 0;

    rig.description.bar[5] = (struct dxgk_device_bar){DXGK_BAR_PORTS, 16};
    device = rig_add();
    r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    rig.probe->reg[0] = 0x1234;
    assert_true(bus_register_read(rig.bus, r, 4, &value));
    assert_int_equal(value, 0x1234);
    rig.probe->services->timer_arm(rig.probe->host, 1, 10);
    device->callout.hangs = true;
    assert_true(bus_register_read(rig.bus, r, 4, &value));
    assert_int_equal(value, 0xFFFFFFFF);
    assert_true(bus_register_write(rig.bus, r, 4, 5));
    assert_true(bus_port_read(rig.bus, bus_device_port(device, 5), 2, &word));
    assert_int_equal(word, 0xFFFF);
    assert_true(bus_port_write(rig.bus, bus_device_port(device, 5), 4, 5));
    sim_run(NULL, NULL, SIM_FOREVER);
    bus_device_reset(device);
    assert_int_equal(rig.probe->reads, 1);
    assert_int_equal(rig.probe->writes + rig.probe->timers + rig.probe->resets, 0);
    assert_int_equal(rig.probe->reg[0], 0x1234);
    device->callout.hangs = false;
    bus_device_reset(device);
    assert_int_equal(rig.probe->resets, 1);
    rig_default_description();
}

TEST_WITH(bus, an_unplugged_device_is_not_reset)
{
    struct bus_device *device = rig_add();
    const uint16_t command = 0;
    uint8_t byte = 0;

    bus_device_unplug(device, NULL);
    bus_device_reset(device);
    assert_int_equal(rig.probe->resets, 0);
    assert_int_equal(bus_config_write(device, 0x3C, "\x42", 1), 1);
    assert_int_equal(bus_config_read(device, 0x3C, &byte, 1), 1);
    assert_int_equal(byte, 0xFF);
    assert_int_equal(bus_config_write(device, 4, &command, 2), 2);
    assert_true(bus_config_decodes_memory(device)); /* the write did not reach it */
}

TEST_WITH(bus, a_timer_that_there_is_not)
{
    (void)rig_add();
    rig.probe->services->timer_arm(rig.probe->host, DXGK_DEVICE_TIMERS - 1, 1000);
    rig.probe->services->timer_disarm(rig.probe->host, DXGK_DEVICE_TIMERS);
    rig.probe->services->timer_arm(rig.probe->host, DXGK_DEVICE_TIMERS, 500);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, 1);
    assert_int_equal(rig.probe->last_timer, DXGK_DEVICE_TIMERS - 1);
}

/* Of several that found no memory, those that were disarmed meanwhile are not armed again. */
TEST_WITH(bus, a_timer_that_got_lost_can_be_disarmed)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    uint64_t value;

    rig.machine->heap.fail_at = rig.machine->heap.requests + 1;
    rig.machine->heap.fail_onward = true;
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
        rig.probe->services->timer_arm(rig.probe->host, i, 1000 + i);
    rig.machine->heap.fail_at = 0;
    rig.machine->heap.fail_onward = false;
    if (!device->timers_lost)
        skip(); /* there was room for all */
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
        if (i != 2)
            rig.probe->services->timer_disarm(rig.probe->host, i);
    bus_register_read(rig.bus, r, 4, &value);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, 1);
    assert_int_equal(rig.probe->last_timer, 2);
}

/* ---- the built-in device ---- */

TEST_WITH(bus, numbers_of_the_null_device)
{
    static const char *const bad[] = {
        "vendor=65536", "vendor=x",     "vendor=",   "vendor",
        "vendor=1x",    "revision=256", "vendor=-1", "vram=99999999999999999999999"};
    static const char *const good[] = {"vendor=65535", "revision=255", "other=77", "vendors=99999",
                                       "vendo=99999"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct dxgk_device_config config = {1, &bad[i]};

        assert_null(bus_device_add(rig.bus, &bus_null_device, &config, &rig.error));
        assert_non_null(strstr(rig.error.text, " is a number"));
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const struct dxgk_device_config config = {1, &good[i]};
        struct bus_device *device = bus_device_add(rig.bus, &bus_null_device, &config, &rig.error);

        assert_non_null(device);
        bus_device_remove(device);
    }
}

/* SPDX-License-Identifier: MIT */
/* The built-in device: what it is without options, and with each of them. */
#include "bus/null_device.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/memory.h"
#include "bus/outputs.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <string.h>

static const struct dxgk_device_description *describe(const char *option, uint32_t *identity,
                                                      uint32_t *class_code, uint32_t *subsystem)
{
    const struct dxgk_device_config config = {option ? 1 : 0, &option};
    struct bus_device *device = bus_device_add(rig.bus, &bus_null_device, &config, &rig.error);

    assert_non_null(device);
    bus_config_read(device, 0, identity, 4);
    bus_config_read(device, 8, class_code, 4);
    bus_config_read(device, 0x2C, subsystem, 4);
    return bus_device_description(device);
}

TEST_WITH(bus, each_option_of_the_null_device_changes_one_thing)
{
    static const struct {
        const char *option;
        uint32_t identity, class_code, subsystem;
        uint64_t vram, registers;
        uint32_t messages, dma_bits;
    } is[] = {
        {NULL, 0x00011234, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"vendor=0x1AF4", 0x00011AF4, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"device=0xFFFF", 0xFFFF1234, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"subsystem-vendor=5", 0x00011234, 0x03800000, 0x00010005, 64 << 20, 64 << 10, 1, 52},
        {"subsystem=6", 0x00011234, 0x03800000, 0x00061234, 64 << 20, 64 << 10, 1, 52},
        {"revision=255", 0x00011234, 0x038000FF, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"class=0x120000", 0x00011234, 0x12000000, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"vram=4096", 0x00011234, 0x03800000, 0x00011234, 4096, 64 << 10, 1, 52},
        {"vram=0", 0x00011234, 0x03800000, 0x00011234, 0, 64 << 10, 1, 52},
        {"registers=8192", 0x00011234, 0x03800000, 0x00011234, 64 << 20, 8192, 1, 52},
        {"registers=0", 0x00011234, 0x03800000, 0x00011234, 64 << 20, 0, 1, 52},
        {"messages=4", 0x00011234, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 4, 52},
        {"outputs=16", 0x00011234, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 1, 52},
        {"dma-bits=32", 0x00011234, 0x03800000, 0x00011234, 64 << 20, 64 << 10, 1, 32},
    };

    for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
        uint32_t identity = 0, class_code = 0, subsystem = 0;
        const struct dxgk_device_description *d = describe(is[i].option, &identity, &class_code,
                                                           &subsystem);

        assert_int_equal(identity, is[i].identity);
        assert_int_equal(class_code, is[i].class_code);
        assert_int_equal(subsystem, is[i].subsystem);
        assert_int_equal(d->bar[0].bytes, is[i].vram);
        assert_int_equal(d->bar[0].kind, is[i].vram ? DXGK_BAR_MEMORY : DXGK_BAR_NONE);
        assert_int_equal(d->bar[2].bytes, is[i].registers);
        assert_int_equal(d->bar[2].kind, is[i].registers ? DXGK_BAR_MEMORY : DXGK_BAR_NONE);
        assert_int_equal(d->messages, is[i].messages);
        assert_int_equal(d->dma_bits, is[i].dma_bits);
    }
}

static struct bus_device *with_outputs(const char *outputs)
{
    const char *option[] = {outputs, "registers=4096"};
    const struct dxgk_device_config config = {2, option};

    return bus_device_add(rig.bus, &bus_null_device, &config, &rig.error);
}

TEST_WITH(bus, monitors_of_the_null_device_are_in_its_second_bar)
{
    struct bus_device *device = with_outputs("outputs=3"), *none = with_outputs("outputs=0");
    const uint8_t *memory = bus_device_memory(device, 2);
    uint8_t edid[1152], zeros[4096] = {0};

    memset(edid, 0x5A, sizeof(edid));
    assert_int_equal(bus_device_outputs(none), 0);
    assert_false(bus_device_monitor(none, 0, edid, 128));
    assert_int_equal(bus_device_outputs(device), 3);
    assert_false(bus_device_monitor(device, 3, edid, 128));
    assert_memory_equal(memory, zeros, 4096);
    assert_true(bus_device_monitor(device, 2, edid, 1024));
    assert_memory_equal(memory + 2048, edid, 1024);
    assert_memory_equal(memory, zeros, 2048);
    assert_memory_equal(memory + 3072, zeros, 1024);
    assert_false(bus_device_monitor(device, 2, edid, 1152)); /* no room, and nothing changes */
    assert_memory_equal(memory + 2048, edid, 1024);
    assert_true(bus_device_monitor(device, 2, edid, 128)); /* what was longer is gone */
    assert_memory_equal(memory + 2176, zeros, 896);
    assert_true(bus_device_monitor(device, 2, NULL, 0));
    assert_memory_equal(memory, zeros, 4096);
    assert_null(with_outputs("outputs=5"));
    assert_non_null(strstr(rig.error.text, "outputs need 1024 bytes of registers each"));
    assert_null(with_outputs("outputs=17"));
}

/* SPDX-License-Identifier: MIT */
/* Configuration space. */
#include "bus/config.h"
#include "bus/device.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"
#include "util/address.h"

static uint32_t config(struct bus_device *device, uint32_t offset, unsigned bytes)
{
    uint32_t value = 0;

    assert_int_equal(bus_config_read(device, offset, &value, bytes), bytes);
    return value;
}

TEST_WITH(bus, configuration_space_describes_the_function)
{
    struct bus_device *device = rig_add();
    uint32_t ones = 0xFFFFFFFF;
    uint8_t beyond[8];
    uint16_t reset_bit = 0x8000;
    uint32_t capability = 0;

    assert_int_equal(config(device, 0, 4), 0x10501AF4);
    assert_int_equal(config(device, 8, 4), 0x03800007);
    assert_int_equal(config(device, 0x2C, 4), 0x00020001);
    assert_int_equal(config(device, 0x10, 4) & ~0xFu, bus_device_bar(device, 0).value & 0xFFFFFFFF);
    assert_int_equal(config(device, 0x10, 4) & 6, 4); /* 64 bits */
    assert_int_equal(bus_config_write(device, 0x10, &ones, 4), 4);
    assert_int_equal(config(device, 0x10, 4) & ~0xFu, 0xFFFFE000);
    assert_int_equal(bus_config_write(device, 0, &ones, 4), 4);
    assert_int_equal(config(device, 0, 4), 0x10501AF4);
    assert_false(bus_config_writable(device, 0, 4));
    assert_true(bus_config_writable(device, 4, 1));
    assert_int_equal(bus_config_read(device, 252, beyond, 8), 4);
    assert_int_equal(beyond[7], 0xFF);
    assert_int_equal(bus_config_read(device, 256, beyond, 8), 0);
    assert_int_equal(bus_config_write(device, 256, beyond, 8), 0);
    for (uint32_t at = config(device, 0x34, 1); at; at = config(device, at + 1, 1)) {
        if (config(device, at, 1) == 0x10)
            capability = at;
    }
    assert_int_not_equal(capability, 0);
    bus_config_write(device, capability + 8, &reset_bit, 2);
    assert_int_equal(rig.probe->resets, 1);
}

/* SPDX-License-Identifier: MIT */
/* Addresses and ports that the bus gives to devices. */
#include "bus/bus.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/ports.h"
#include "bus/reset.h"
#include "bus/window.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <string.h>

TEST_WITH(bus, bars_stand_above_ram_and_apart)
{
    struct bus_device *a = rig_add(), *b = rig_add();
    struct bus_device *const device[] = {a, b};

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
            uint64_t bytes = bus_device_description(device[i])->bar[bar].bytes;
            uint64_t address = bus_device_bar(device[i], bar).value;

            if (bytes == 0)
                continue;
            assert_true(address > ram_highest(rig.ram).value);
            assert_int_equal(address % bytes, 0);
            assert_true(bus_claims(rig.bus, (struct phys_addr){address}, bytes));
            assert_false(bus_claims(rig.bus, (struct phys_addr){address + 1}, bytes));
        }
    }
    assert_false(bus_claims(rig.bus, (struct phys_addr){0x1000}, 16));
}

TEST_WITH(bus, ports_have_a_space_of_their_own)
{
    struct bus_device *device = NULL;
    uint32_t before = 0;
    uint32_t value;

    rig.description.bar[5] = (struct dxgk_device_bar){.kind = DXGK_BAR_PORTS, .bytes = 256};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t port;
        uint32_t config;

        device = rig_add();
        port = bus_device_port(device, 5);
        assert_true(port >= 0x1000 && port > before && port % 256 == 0);
        before = port;
        assert_int_equal(bus_config_read(device, 0x10 + 4 * 5, &config, 4), 4);
        assert_int_equal(config, port | 1); /* of ports */
        assert_int_equal(bus_config_read(device, 4, &config, 2), 2);
        assert_true(config & 1); /* and decoded */
        assert_true(bus_port_write(rig.bus, port + 8, 4, 0x11223344));
        assert_int_equal(rig.probe->reg[1] & 0xFFFFFFFF, 0x11223344);
        assert_true(bus_port_read(rig.bus, port + 9, 1, &value));
        assert_true(bus_port_read(rig.bus, port + 9, 2, &value)); /* unaligned */
        assert_int_equal(value, 0xFFFF);
        assert_false(bus_port_read(rig.bus, port + 254, 4, &value)); /* not all its own */
        assert_int_equal(value, 0xFFFFFFFF);
        assert_false(bus_claims(rig.bus, (struct phys_addr){port}, 4)); /* no memory */
        assert_null(bus_map(rig.bus, (struct phys_addr){port}, 4));
    }
    bus_device_unplug(device, NULL);
    assert_true(bus_port_read(rig.bus, before, 4, &value));
    assert_int_equal(value, 0xFFFFFFFF);
    while ((device = bus_device_add(rig.bus, &rig_model, NULL, &rig.error)) != NULL)
        assert_true(bus_device_port(device, 5) <= 0xFF00);
    assert_non_null(strstr(rig.error.text, "no ports left"));
    rig_default_description();
}

TEST_WITH(bus, fixed_ports_are_where_the_device_wants_them)
{
    struct bus_device *device;
    uint32_t value;
    uint32_t config;

    rig.description.fixed_port = 0x1CE;
    rig.description.fixed_ports = 4;
    device = rig_add();
    assert_int_equal(bus_config_read(device, 4, &config, 2), 2);
    assert_true(config & 1); /* ports are decoded */
    assert_true(bus_port_write(rig.bus, 0x1CF, 2, 0x11223344));
    assert_int_equal(rig.probe->reg[0], 0x334400); /* at offset 1, unaligned as it is */
    assert_true(bus_port_read(rig.bus, 0x1D0, 2, &value));
    assert_int_equal(value, 0x33);
    assert_false(bus_port_read(rig.bus, 0x1D1, 2, &value)); /* not all its own */
    assert_false(bus_port_read(rig.bus, 0x1CD, 2, &value));
    assert_int_equal(value, 0xFFFF);
    rig_add(); /* the one before has them */
    assert_true(bus_port_write(rig.bus, 0x1CE, 1, 0x55));
    assert_int_equal(rig.probe->writes, 0);
    bus_device_unplug(device, NULL);
    assert_true(bus_port_read(rig.bus, 0x1CE, 1, &value));
    assert_int_equal(value, 0xFF);
    rig.description.fixed_port = 0xFFD;
    assert_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    assert_non_null(strstr(rig.error.text, "fixed ports"));
    rig.description.fixed_port = 0xFFC;
    assert_non_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    rig_default_description();
}

/* SPDX-License-Identifier: MIT */
/* Configuration space. */
#include "bus/config.h"
#include "bus/device.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"
#include "util/address.h"

#include <string.h>

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
    assert_int_equal(config(device, capability + 2, 2), 0x0002);    /* an endpoint */
    assert_int_equal(config(device, capability + 0xC, 4), 0x0104);  /* 16 GT/s, 16 lanes, */
    assert_int_equal(config(device, capability + 0x12, 2), 0x0104); /* and so it is linked */
    bus_config_write(device, capability + 8, &reset_bit, 2);
    assert_int_equal(rig.probe->resets, 1);
}

/* ---- capabilities ---- */

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* What a function of virtio has beside the usual: MSI-X, and a place in a BAR for each structure. */
static const uint8_t msix[10] = {0x03, 0x00, 0x04}, msix_writable[10] = {0, 0xC0};
static const uint8_t place[4][14] = {
    {16, 1, 4}, {16, 2, 4, 0, 0, 0, 0, 0x10}, {16, 3, 4, 0, 0, 0, 0, 0x20}, {16, 4, 4}};
static const struct dxgk_device_capability virtio[] = {
    {0x11, sizeof(msix), msix, msix_writable}, {0x09, sizeof(place[0]), place[0], NULL},
    {0x09, sizeof(place[1]), place[1], NULL},  {0x09, sizeof(place[2]), place[2], NULL},
    {0x09, sizeof(place[3]), place[3], NULL},
};

/* The capabilities in the order of the list; each lies behind the one before, aligned. */
static size_t walk(struct bus_device *device, uint32_t *at, size_t most)
{
    size_t count = 0;

    assert_int_equal(config(device, 0x06, 2) & 0x10, 0x10);
    for (uint32_t next = config(device, 0x34, 1); next && count < most;) {
        assert_int_equal(next % 4, 0);
        assert_true(next >= (count ? at[count - 1] + 4 : 0x40));
        at[count++] = next;
        next = config(device, next + 1, 1);
    }
    return count;
}

TEST_WITH(bus, capabilities_of_the_model_come_behind_the_usual_ones)
{
    static const uint8_t id[] = {0x01, 0x05, 0x10, 0x11, 0x09, 0x09, 0x09, 0x09};
    uint32_t at[10];
    struct bus_device *device;
    uint16_t ones = 0xFFFF;

    assert_int_equal(walk(rig_add(), at, 10), 3);
    rig.description.capability = virtio;
    rig.description.capabilities = LENGTH(virtio);
    device = rig_add();
    assert_int_equal(walk(device, at, 10), LENGTH(id));
    for (size_t i = 0; i < LENGTH(id); i++)
        assert_int_equal(config(device, at[i], 1), id[i]);
    assert_int_equal(config(device, at[3] + 2, 4), 0x00040003);
    bus_config_write(device, at[3] + 2, &ones, 2);
    assert_int_equal(config(device, at[3] + 2, 4), 0x0004C003); /* enable, mask; not the size */
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(config(device, at[4 + i] + 2, 1), 16);
        assert_int_equal(config(device, at[4 + i] + 3, 1), i + 1);
        bus_config_write(device, at[4 + i] + 2, &ones, 2);
        assert_int_equal(config(device, at[4 + i] + 2, 1), 16);
    }
    assert_int_equal(config(device, at[6] + 8, 4), 0x2000);
}

TEST_WITH(bus, capability_of_the_model_takes_the_place_of_a_usual_one)
{
    uint8_t express[18] = {0x02, 0, 0x22, 0x80, 0, 0}, writable[18] = {[6] = 0xFF, [7] = 0x7F};
    const struct dxgk_device_capability own = {0x10, sizeof(express), express, writable};
    uint16_t reset = 0x8000;
    uint32_t at[10];
    struct bus_device *device;

    rig.description.capability = &own;
    rig.description.capabilities = 1;
    device = rig_add();
    assert_int_equal(walk(device, at, 10), 3);
    assert_int_equal(config(device, at[2], 1), 0x10);
    bus_config_write(device, at[2] + 8, &reset, 2);
    assert_int_equal(rig.probe->resets, 0); /* not capable of a function-level reset */
    express[5] = 0x10;
    device = rig_add();
    bus_config_write(device, at[2] + 8, &reset, 2);
    assert_int_equal(rig.probe->resets, 1);
}

static void refused_with(const struct dxgk_device_capability *list, uint32_t count, const char *part)
{
    rig.description.capability = list;
    rig.description.capabilities = count;
    assert_null(bus_device_add(rig.bus, &rig_model, NULL, &rig.error));
    if (!strstr(rig.error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", rig.error.text, part);
}

TEST_WITH(bus, bad_capabilities_are_refused_with_a_reason)
{
    /* 84 bytes of the usual ones stand before: 108 are left */
    static const uint8_t bytes[254];
    struct dxgk_device_capability list[] = {{0x09, 50, bytes, NULL}, {0x09, 54, bytes, NULL}};

    rig.description.capability = list;
    rig.description.capabilities = 2;
    (void)rig_add();
    list[1].count = 55;
    refused_with(list, 2, "0x09 of 55 bytes: no room");
    list[0].count = 254;
    refused_with(list, 1, "0x09 of 254 bytes: no room");
    list[0] = (struct dxgk_device_capability){0, 4, bytes, NULL};
    refused_with(list, 1, "no such id");
    list[0] = (struct dxgk_device_capability){0xFF, 4, bytes, NULL};
    refused_with(list, 1, "no such id");
    list[0] = (struct dxgk_device_capability){0x09, 4, NULL, NULL};
    refused_with(list, 1, "bytes are missing");
    refused_with(NULL, 1, "1 PCI capabilities, but no list");
}
